import type { Actor } from '../../identity/actor.ts'
import type { Database } from '../../platform/database/database.ts'
import { ApiError, badRequest } from '../../platform/http/errors.ts'
import type { FileRow } from '../queries.ts'
import { checkName } from '../tree/names.ts'
import { checkHead, headBytes } from '../uploads/magic-bytes.ts'
import { bareTypeOf, storedTypes, typeByExtension } from '../uploads/mime-types.ts'
import { maxFileBytes } from '../uploads/limits.ts'
import { createUploadedFile, receive, tooLarge } from '../uploads/uploads.ts'
import { getOverwritable, overwriteFile } from '../versions/versions.ts'
import type { VersionDeps } from '../versions/versions.ts'

const anyType = 'application/octet-stream'

const guessedTypeOf = (name: string): string | undefined => {
  const extension = name.slice(name.lastIndexOf('.') + 1).toLowerCase()
  return Object.hasOwn(typeByExtension, extension) ? typeByExtension[extension] : undefined
}

const hasType = (type: string, head: Buffer): boolean => {
  try {
    checkHead(type, head)
    return true
  } catch (error) {
    if (error instanceof ApiError) return false
    throw error
  }
}

/** The first bytes of a body, and the whole body. */
const peek = async (body: AsyncIterable<Buffer>): Promise<{ head: Buffer; whole: AsyncIterable<Buffer> }> => {
  const iterator = body[Symbol.asyncIterator]()
  const chunks: Buffer[] = []
  let bytes = 0
  while (bytes < headBytes) {
    const { done, value } = await iterator.next()
    if (done === true) break
    chunks.push(value)
    bytes += value.length
  }
  const whole = async function* (): AsyncGenerator<Buffer> {
    yield* chunks
    for (;;) {
      const { done, value } = await iterator.next()
      if (done === true) return
      yield value
    }
  }
  return { head: Buffer.concat(chunks).subarray(0, headBytes), whole: whole() }
}

export interface PutFile {
  parentId: string | null
  name: string
  /** The file whose content is replaced; undefined for a new file. */
  replaced: { id: string; mimeType: string | null; ifMatch: string } | undefined
  /** The Content-Type of the request. */
  declaredType: string | undefined
  sizeBytes: number | undefined
  body: AsyncIterable<Buffer>
  /** Opens the transaction. */
  transactions: Database
}

/**
 * Stores a body as a new file or as the content of a file, whose old content becomes a version. Programs that save files
 * do not choose media types, so a body whose declared type is not in the list, or does not match its first bytes, gets the
 * type of the file or of its extension, else `application/octet-stream`. Throws like an upload.
 */
export const putFile = async (deps: VersionDeps, actor: Actor, put: PutFile): Promise<FileRow> => {
  const { parentId, name, replaced, sizeBytes, transactions } = put
  if (sizeBytes !== undefined && sizeBytes > maxFileBytes) throw tooLarge()
  if (replaced) await getOverwritable(deps.db, actor, replaced.id, replaced.ifMatch)
  else checkName(name)
  // Rejects what certainly exceeds the quota before reading it.
  await deps.quotas.check(actor.orgId, { ...(replaced ? {} : { files: 1 }), storedBytes: sizeBytes ?? 0 })
  const { head, whole } = await peek(put.body)
  const declared = bareTypeOf(put.declaredType ?? '')
  const candidates = [declared, replaced?.mimeType, guessedTypeOf(name)]
  const mimeType =
    candidates.find((type) => type != null && type !== anyType && storedTypes.has(type) && hasType(type, head)) ??
    anyType
  const expected = { mimeType, ...(sizeBytes === undefined ? {} : { sizeBytes }) }
  const received = await receive(deps, actor.orgId, whole, expected)
  if (!replaced) return createUploadedFile(deps, actor, received, { name, mimeType, parentId, transactions })
  return overwriteFile(deps, actor, received, {
    fileId: replaced.id,
    mimeType,
    ifMatch: replaced.ifMatch,
    transactions,
  })
}

/** Throws BAD_REQUEST for a declared length that is no number of bytes. */
export const declaredLength = (header: string | undefined): number | undefined => {
  if (header === undefined) return undefined
  const bytes = Number(header)
  if (!Number.isSafeInteger(bytes) || bytes < 0) throw badRequest('Content-Length must be a number of bytes.')
  return bytes
}
