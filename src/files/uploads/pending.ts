import type { Actor } from '../../identity/actor.ts'
import type { Transaction } from '../../platform/database/database.ts'
import { badRequest } from '../../platform/http/errors.ts'
import { newId } from '../../platform/ids.ts'
import type { Quotas } from '../../quotas/quotas.ts'
import { insertFile } from '../events.ts'
import type { FileRow } from '../queries.ts'
import type { FileCreate } from '../schemas.ts'
import { checkName } from '../tree/names.ts'
import { resolvePlace } from '../tree/tree.ts'
import type { Place } from '../tree/tree.ts'
import { checkMimeType } from './mime-types.ts'

/** A file whose bytes are uploaded later. */
export interface PendingUpload extends Place {
  id?: string
  name: string
  mimeType: string
  sizeBytes: number
}

export const required = <T>(value: T | undefined, name: string): T => {
  if (value === undefined) throw badRequest(`${name} is required`)
  return value
}

/** What the body of a request declares. Throws BAD_REQUEST, also for more than `mostBytes`. */
export const pendingOf = (body: FileCreate, mostBytes: number): PendingUpload => {
  const { parentId, projectId } = body
  const name = checkName(required(body.name, 'name'))
  const mimeType = checkMimeType(required(body.mimeType, 'mimeType'))
  const sizeBytes = required(body.size, 'size')
  if (sizeBytes > mostBytes) throw badRequest(`size must be at most ${mostBytes}`)
  return {
    name,
    mimeType,
    sizeBytes,
    ...(parentId === undefined ? {} : { parentId }),
    ...(projectId === undefined ? {} : { projectId }),
  }
}

/** Inserts a pending file. Its size counts towards the quota now, so that the upload cannot exceed it later. */
export const insertPending = async (
  db: Transaction,
  quotas: Quotas,
  actor: Actor,
  { id = newId(), name, mimeType, sizeBytes, ...given }: PendingUpload,
): Promise<FileRow> => {
  const place = await resolvePlace(db, actor, given)
  await quotas.checkInsert(db, actor.orgId, { files: 1, storedBytes: sizeBytes })
  return insertFile(db, actor, { id, source: 'upload', status: 'pending', name, mimeType, sizeBytes, ...place })
}
