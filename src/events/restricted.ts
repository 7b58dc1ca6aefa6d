// Events about files in restricted folders reach only those to whom the folders are open now.
import { listClosed, readGuards } from '../files/files.ts'
import type { Guards, Reader } from '../files/files.ts'
import type { Db } from '../platform/database/database.ts'

interface Subject {
  subjectType: string
  subjectId: string
  data: Record<string, unknown>
}

const idFields = ['fileId', 'folderId', 'parentId', 'previousParentId', 'targetFileId']

/** The files and folders that an event names. One that is not open to a reader hides the whole event. */
const fileIdsOf = ({ subjectType, subjectId, data }: Subject): string[] => {
  if (subjectType !== 'file' && subjectType !== 'project') return []
  const named = idFields.map((field) => data[field]).filter((id) => typeof id === 'string')
  return subjectType === 'file' ? [subjectId, ...named] : named
}

/** The guards of all files that events name. */
export const guardsOfEvents = (db: Db, orgId: string, events: readonly Subject[]): Promise<Guards> =>
  readGuards(
    db,
    orgId,
    events.flatMap((event) => fileIdsOf(event)),
  )

/** Whether an event names a file that is not open to the reader. */
export const closedEvents = async (db: Db, reader: Reader, guards: Guards): Promise<(event: Subject) => boolean> => {
  if (guards.size === 0) return () => false
  const closed = await listClosed(db, reader, guards)
  return (event) => closed.size > 0 && fileIdsOf(event).some((id) => closed.has(id))
}

/** Those of these events that the reader may see, as far as files are concerned. */
export const openEvents = async <E extends Subject>(db: Db, reader: Reader, events: readonly E[]): Promise<E[]> => {
  const isClosed = await closedEvents(db, reader, await guardsOfEvents(db, reader.orgId, events))
  return events.filter((event) => !isClosed(event))
}
