import type { Actor } from '../identity/actor.ts'
import type { EventData } from '../outbox/catalog.ts'
import { outboxRow, recorded, recordEvents } from '../outbox/record.ts'
import type { AnyEvent, EventAuthor } from '../outbox/record.ts'
import type { Transaction } from '../platform/database/database.ts'
import * as queries from './queries.ts'
import type { FileRow, NewFile } from './queries.ts'
import type { ShareRow } from './shares/queries.ts'

type Described = Pick<FileRow, 'id' | 'name' | 'mimeType' | 'size' | 'parentId' | 'projectId'>

const fileData = ({ id, name, mimeType, size, parentId, projectId }: Described) => ({
  fileId: id,
  name,
  mimeType,
  sizeBytes: size,
  parentId,
  projectId,
})

const folderData = ({ id, name, parentId, projectId }: Pick<Described, 'id' | 'name' | 'parentId' | 'projectId'>) => ({
  folderId: id,
  name,
  parentId,
  projectId,
})

// Files belong to the org, not to a workspace.
const about = (subjectId: string) => ({ subjectId, workspaceId: null })

const createdEvent = (file: NewFile): AnyEvent => {
  const { id, source, status = 'ready', mimeType = null, sizeBytes: size = 0 } = file
  if (source === 'folder') return { type: 'folder.created', ...about(id), data: folderData(file) }
  return { type: 'file.created', ...about(id), data: { ...fileData({ ...file, mimeType, size }), source, status } }
}

/**
 * Inserts a file, folder or link and its event. They are one statement, because uploads are the most frequent writes and
 * a statement of its own costs a round trip. `author`: who made it, if not the actor.
 */
export const insertFile = async (
  db: Transaction,
  actor: Actor,
  file: NewFile,
  author: EventAuthor = actor,
): Promise<FileRow> => {
  const row = await queries.insertFile(db, actor, file, outboxRow(author, createdEvent(file)))
  if (!row) throw new Error('the statement returned no file')
  db.signal(recorded, actor.orgId)
  return row
}

/** Records that files and folders were created by a statement of several rows. */
export const recordCreated = (
  db: Transaction,
  author: EventAuthor,
  files: readonly Omit<FileRow, 'tags'>[],
): Promise<void> =>
  recordEvents(
    db,
    author,
    files.map((file) =>
      file.source === 'folder'
        ? { type: 'folder.created' as const, ...about(file.id), data: folderData(file) }
        : {
            type: 'file.created' as const,
            ...about(file.id),
            data: { ...fileData(file), source: file.source, status: file.status },
          },
    ),
  )

type ChangedField = EventData<'file.updated'>['changed'][number]

/** Records that a file was moved, when its folder is another one, and that these of its fields were changed. */
export const recordChange = async (
  db: Transaction,
  author: EventAuthor,
  { before, after }: { before: Pick<FileRow, 'parentId'>; after: FileRow },
  changed: ChangedField[],
): Promise<void> => {
  const isFolder = after.source === 'folder'
  const previousParentId = before.parentId
  const events: AnyEvent[] = []
  if (previousParentId !== after.parentId) {
    events.push(
      isFolder
        ? { type: 'folder.moved', ...about(after.id), data: { ...folderData(after), previousParentId } }
        : { type: 'file.moved', ...about(after.id), data: { ...fileData(after), previousParentId } },
    )
  }
  if (changed.length > 0) {
    events.push(
      isFolder
        ? { type: 'folder.updated', ...about(after.id), data: { ...folderData(after), changed } }
        : { type: 'file.updated', ...about(after.id), data: { ...fileData(after), changed } },
    )
  }
  await recordEvents(db, author, events)
}

type VersionChange =
  | { change: 'created'; version: number; restoredFrom: number | null }
  | { change: 'updated'; version: number; label: string | null }
  | { change: 'deleted'; version: number }

/** Records that a version of a file was created, got another label, or was deleted by a person. */
export const recordVersion = (
  db: Transaction,
  author: EventAuthor,
  file: FileRow,
  change: VersionChange,
): Promise<void> => {
  const data = { ...fileData(file), version: change.version }
  const event = (): AnyEvent => {
    if (change.change === 'created') {
      return { type: 'file.version_created', ...about(file.id), data: { ...data, restoredFrom: change.restoredFrom } }
    }
    if (change.change === 'updated') {
      return { type: 'file.version_updated', ...about(file.id), data: { ...data, label: change.label } }
    }
    return { type: 'file.version_deleted', ...about(file.id), data }
  }
  return recordEvents(db, author, [event()])
}

/** Records that a share of a file or folder was created, changed or revoked. */
export const recordShare = (
  db: Transaction,
  author: EventAuthor,
  change: 'created' | 'updated' | 'revoked',
  { file, share }: { file: FileRow; share: ShareRow },
): Promise<void> => {
  const { id: shareId, permission, hasPassword, expiresAt } = share
  const data = { fileId: file.id, name: file.name, shareId, permission, hasPassword, expiresAt }
  return recordEvents(db, author, [{ type: `file.share_${change}` as const, ...about(file.id), data }])
}

/** Records that a folder was restricted, opened, or opened to others than before. */
export const recordAccess = (
  db: Transaction,
  author: EventAuthor,
  folder: FileRow,
  restricted: boolean,
): Promise<void> =>
  recordEvents(db, author, [
    { type: 'folder.access_changed', ...about(folder.id), data: { ...folderData(folder), restricted } },
  ])

/** Records the deletion of files and links that were not in a deleted folder. */
export const recordDeletedFiles = (db: Transaction, author: EventAuthor, files: readonly Described[]): Promise<void> =>
  recordEvents(
    db,
    author,
    files.map((file) => ({ type: 'file.deleted', ...about(file.id), data: fileData(file) })),
  )

/** Records that a file, or a folder with `restored` files in total, was restored from the trash. */
export const recordRestored = (db: Transaction, author: EventAuthor, file: FileRow, restored: number): Promise<void> =>
  recordEvents(db, author, [
    file.source === 'folder'
      ? { type: 'folder.restored', ...about(file.id), data: { ...folderData(file), restored: restored - 1 } }
      : { type: 'file.restored', ...about(file.id), data: fileData(file) },
  ])

/** Records the deletion of a folder. `deleted` is the number of deleted files with the folder itself. */
export const recordDeletedFolder = (
  db: Transaction,
  author: EventAuthor,
  folder: Pick<FileRow, 'id' | 'name' | 'parentId' | 'projectId'>,
  deleted: number,
): Promise<void> => {
  const data = { ...folderData(folder), deleted: deleted - 1 }
  return recordEvents(db, author, [{ type: 'folder.deleted', ...about(folder.id), data }])
}
