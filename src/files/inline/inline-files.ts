import { createHash } from 'node:crypto'
import { may } from '../../identity/actor.ts'
import type { Actor } from '../../identity/actor.ts'
import { forbidden } from '../../platform/http/errors.ts'
import { newId } from '../../platform/ids.ts'
import type { StoreDeps } from '../deps.ts'
import { insertFile } from '../events.ts'
import { checkName, nameKeyOf } from '../tree/names.ts'
import { sniffType } from '../uploads/magic-bytes.ts'
import { checkMimeType } from '../uploads/mime-types.ts'
import { storeFile } from '../uploads/uploads.ts'
import * as queries from './queries.ts'

export const inlineFolderName = 'Chat attachments'

export interface InlineFile {
  bytes: Buffer
  /** As the sender declares it. The signature of a picture or PDF takes precedence. */
  mimeType: string
  name: string
}

/** A stored file as a part of a message. */
export interface StoredFilePart {
  type: 'file'
  fileId: string
  name: string
  mimeType: string
  sizeBytes: number
}

const folderFor = async ({ db, quotas }: StoreDeps, actor: Actor): Promise<string> => {
  const nameKey = nameKeyOf(inlineFolderName)
  const known = await queries.findRootFolder(db, actor, nameKey)
  if (known) return known.id
  return db.transaction(actor, async (db) => {
    await queries.lockInlineFolder(db, actor)
    const created = await queries.findRootFolder(db, actor, nameKey)
    if (created) return created.id
    await quotas.checkInsert(db, actor.orgId, { files: 1 })
    const folder = {
      id: newId(),
      source: 'folder',
      name: inlineFolderName,
      parentId: null,
      projectId: null,
      guards: null,
    } as const
    return (await insertFile(db, actor, folder)).id
  })
}

/**
 * Stores a file that a request of another protocol contains, as a `data:` URL, in the org's folder `Chat attachments`.
 * Clients without stored conversations send the same bytes with each request, so a file of the same user with the same
 * bytes, name and type is used again. Throws FORBIDDEN without the permission `files:write`, BAD_REQUEST for a name or
 * type that cannot be stored or bytes of another type, and like an upload when a quota is used up or the store is full.
 * A route that calls it declares the events `file.created` and `folder.created`.
 */
export const storeInlineFile = async (
  deps: StoreDeps,
  actor: Actor,
  { bytes, mimeType: declared, name: givenName }: InlineFile,
): Promise<StoredFilePart> => {
  if (!may(actor, 'files:write')) throw forbidden('Files in the request need the permission files:write.')
  const name = checkName(givenName)
  const mimeType = sniffType(bytes) ?? checkMimeType(declared)
  const folderId = await folderFor(deps, actor)
  const sha256 = createHash('sha256').update(bytes).digest()
  const known = await queries.findSameFile(deps.db, actor, { sha256, folderId, name, mimeType })
  const file = known ?? (await storeFile(deps, actor, bytes, { name, mimeType, parentId: folderId }))
  return { type: 'file', fileId: file.id, name, mimeType, sizeBytes: file.size }
}
