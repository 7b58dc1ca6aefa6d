import type { Actor } from '../../identity/actor.ts'
import { LeaseLostError } from '../../platform/database/lease.ts'
import type { Database } from '../../platform/database/database.ts'
import { badRequest, conflict, forbidden, notFound } from '../../platform/http/errors.ts'
import { isUuid, newId } from '../../platform/ids.ts'
import type { Log } from '../../platform/process/log.ts'
import type { ObjectStore } from '../../platform/object-store/object-store.ts'
import { releaseUnused } from '../blobs/blobs.ts'
import type { FileRow } from '../queries.ts'
import { checkName } from '../tree/names.ts'
import { resolvePlace } from '../tree/tree.ts'
import { countUploads } from '../uploads/count-queries.ts'
import { checkMimeType, typeOfName } from '../uploads/mime-types.ts'
import { completeUpload, concatenate, endUpload, release, reservedBy } from './finish.ts'
import type { FileOfUpload, ResumableDeps } from './finish.ts'
import type { HeldUpload, UploadLeases } from './leases.ts'
import { createSource, keptHours, partBytes, storeBody, UnfitContent } from './parts.ts'
import { expired, locked, TusError, tooLarge } from './protocol.ts'
import type { Checksum } from './protocol.ts'
import * as queries from './queries.ts'
import type { UploadRow } from './queries.ts'

/** Open uploads of one org. */
const maxOpen = 1_000
/** Open uploads of one person, whom nobody else can delete: one person must not use up those of the org. */
const maxOpenOfPerson = 500
/** How long the server remembers that an upload was completed or has expired, to say so. */
const rememberedDays = 7
const batch = 500

type Values = ReadonlyMap<string, string>

const idOf = (values: Values, key: string): string | null => {
  const value = values.get(key)
  if (value === undefined || value === '') return null
  if (!isUuid(value)) throw badRequest(`${key} must be a UUID`)
  return value.toLowerCase()
}

/** The first of several names that clients use for the same. An empty value is one that the client does not know. */
const firstOf = (values: Values, ...keys: string[]): string | undefined =>
  keys.map((key) => values.get(key)).find((value) => value !== undefined && value !== '')

/** What the metadata of an upload says about its file. Throws BAD_REQUEST like the creation of a file by JSON. */
const describedBy = (values: Values) => {
  const source = firstOf(values, 'source') ?? 'upload'
  if (source !== 'upload') throw badRequest('source in Upload-Metadata must be upload')
  const given = firstOf(values, 'name', 'filename')
  if (given === undefined) throw badRequest('Upload-Metadata must have a name')
  const name = checkName(given)
  const mimeType = checkMimeType(firstOf(values, 'mimeType', 'type', 'filetype') ?? typeOfName(name))
  return { name, mimeType, parentId: idOf(values, 'parentId'), projectId: idOf(values, 'projectId') }
}

export interface NewUpload {
  kind: 'whole' | 'partial'
  sizeBytes: number
  metadata: { text: string | null; values: Values }
}

/** Creates an upload. Its size counts towards the quotas from now on, so that it cannot exceed them later. */
export const createUpload = async (
  { db, quotas, config }: ResumableDeps,
  actor: Actor,
  { kind, sizeBytes, metadata }: NewUpload,
): Promise<UploadRow> => {
  const most = config.uploadMaxBytes
  if (sizeBytes > most) throw tooLarge(most)
  const { name, mimeType, ...given } =
    kind === 'whole' ? describedBy(metadata.values) : { name: null, mimeType: null, parentId: null, projectId: null }
  return db.transaction(actor, async (db) => {
    const { parentId } = await resolvePlace(db, actor, given)
    const { found, own } = await countUploads(db, actor, queries.open, maxOpen)
    if (found >= maxOpen) throw conflict(`An org has at most ${maxOpen} open uploads. Complete or delete some.`)
    if (own >= maxOpenOfPerson) {
      throw conflict(`A person has at most ${maxOpenOfPerson} open uploads. Complete or delete some.`)
    }
    const reserved = reservedBy([{ kind, sizeBytes }])
    await quotas.checkInsert(db, actor.orgId, { files: reserved.files, storedBytes: reserved.bytes })
    const upload = { id: newId(), kind, metadata: metadata.text, name, mimeType, parentId, sizeBytes }
    const row = await queries.insertUpload(db, actor, upload, keptHours)
    if (!row) throw new Error('the statement returned no upload')
    await queries.addReserved(db, actor.orgId, reserved)
    return row
  })
}

/** An upload of the caller. Throws NOT_FOUND for those of others, and the 410 of the protocol for an expired one. */
export const getUpload = async (db: Database, actor: Actor, id: string): Promise<UploadRow> => {
  const row = await queries.findUpload(db, actor, id)
  if (!row) throw notFound('Upload')
  if (row.isExpired && row.state !== 'complete') throw expired()
  return row
}

const requireOpen = ({ state, kind, isExpired }: UploadRow): void => {
  if (kind === 'final') throw forbidden('An upload that was put together from others accepts no bytes.')
  if (state === 'complete') throw conflict('This upload is complete.')
  if (isExpired) throw expired()
}

/** Throws the errors of the protocol for a lost lease and for bytes of another type, which end the upload. */
const settle = async <T>(deps: ResumableDeps, held: HeldUpload, work: () => Promise<T>): Promise<T> => {
  try {
    return await work()
  } catch (error) {
    if (error instanceof LeaseLostError) throw locked()
    if (!(error instanceof UnfitContent)) throw error
    await endUpload(deps, held.row, held.lease)
    throw error.answer
  }
}

export interface UploadState {
  upload: UploadRow
  /** Of a complete upload. */
  fileId: string | null
}

const isReceived = ({ kind, receivedBytes, sizeBytes }: UploadRow): boolean =>
  kind === 'whole' && receivedBytes === sizeBytes

/** Makes the file of an upload whose bytes have all arrived. */
const complete = async (deps: ResumableDeps, actor: Actor, held: HeldUpload): Promise<UploadState> => {
  const { id: fileId } = await completeUpload(deps, actor, held)
  return { upload: { ...held.row, state: 'complete', fileId }, fileId }
}

export interface Chunk {
  offset: number
  body: AsyncIterable<Buffer>
  /** Undefined when the length of the body is not known in advance. */
  length: number | undefined
  checksum: Checksum | undefined
  /** Aborted when the server stops: what has arrived is stored. */
  stopping?: AbortSignal
}

const checkChunk = ({ receivedBytes, sizeBytes }: UploadRow, { offset, length, checksum }: Chunk): void => {
  if (offset !== receivedBytes) throw conflict(`Upload-Offset must be ${receivedBytes}, the number of received bytes`)
  if ((length ?? 0) > sizeBytes - receivedBytes) {
    throw new TusError(413, 'BAD_REQUEST', `The body exceeds the Upload-Length of ${sizeBytes} bytes.`)
  }
  if (checksum !== undefined && (length === undefined || length > partBytes)) {
    throw badRequest(`A body with Upload-Checksum must have a Content-Length of at most ${partBytes} bytes.`)
  }
}

/** Stores the body of a request, and makes the file of an upload that has all its bytes then. */
export const appendToUpload = async (
  deps: ResumableDeps,
  actor: Actor,
  held: HeldUpload,
  chunk: Chunk,
): Promise<UploadState> => {
  requireOpen(held.row)
  checkChunk(held.row, chunk)
  return settle(deps, held, async () => {
    const { body, checksum, stopping } = chunk
    const stop = stopping === undefined ? held.wanted : AbortSignal.any([held.wanted, stopping])
    const source = createSource(body, stop)
    const { upload, failure } = await storeBody(deps, held.row, held.lease, { source, checksum })
    if (isReceived(upload)) return complete(deps, actor, { ...held, row: upload })
    // The client has gone, or asks for the offset by another connection.
    if (failure !== undefined) throw locked()
    return { upload, fileId: null }
  })
}

/** The state of an upload. One that has all its bytes and no file, because a process was killed, becomes a file now. */
export const continueUpload = async (deps: ResumableDeps, actor: Actor, held: HeldUpload): Promise<UploadState> => {
  const { row } = held
  if (row.state === 'open' && row.isExpired) throw expired()
  if (row.state !== 'open' || !isReceived(row)) return { upload: row, fileId: row.fileId }
  return settle(deps, held, () => complete(deps, actor, held))
}

/** Deletes an upload with its bytes. The file of a complete one stays. */
export const terminateUpload = async (deps: ResumableDeps, { row, lease }: HeldUpload): Promise<void> => {
  if (row.state === 'open') await endUpload(deps, row, lease)
  else await queries.deleteFinished(deps.db, row)
}

export interface Concatenation {
  ids: string[]
  metadata: { text: string | null; values: Values }
  closed: AbortSignal
}

const requirePart = ({ row }: HeldUpload): void => {
  if (row.kind !== 'partial') throw badRequest('Upload-Concat must have URLs of partial uploads')
  if (row.state !== 'open' || row.isExpired) throw expired()
  if (row.receivedBytes !== row.sizeBytes) throw conflict('A partial upload is not complete.')
}

/** Puts the bytes of partial uploads of the caller together to a file. */
export const concatenateUploads = async (
  deps: ResumableDeps,
  leases: UploadLeases,
  actor: Actor,
  { ids, metadata, closed }: Concatenation,
): Promise<{ upload: UploadRow; row: FileRow }> => {
  const { db, config } = deps
  const { name, mimeType, ...given } = describedBy(metadata.values)
  const rows = await Promise.all(ids.map((id) => getUpload(db, actor, id)))
  const sizeBytes = rows.reduce((sum, row) => sum + row.sizeBytes, 0)
  if (sizeBytes > config.uploadMaxBytes) throw tooLarge(config.uploadMaxBytes)
  const { parentId } = await db.transaction(actor, (db) => resolvePlace(db, actor, given))
  const file: Omit<FileOfUpload, 'id'> = { name, mimeType, parentId }

  const work = async (held: HeldUpload[]) => {
    for (const one of held) requirePart(one)
    const inOrder = ids.flatMap((id) => held.filter(({ row }) => row.id === id))
    return concatenate(deps, actor, inOrder, { id: newId(), metadata: metadata.text, file })
  }
  // In the order of their ids, so that two requests for the same uploads do not wait for each other.
  const holdAll = (left: string[], held: HeldUpload[]): ReturnType<typeof work> => {
    const [next, ...rest] = left
    if (next === undefined) return work(held)
    return leases.hold(actor.orgId, next, closed, (one) => holdAll(rest, [...held, one]))
  }
  try {
    return await holdAll(ids.toSorted(), [])
  } catch (error) {
    throw error instanceof LeaseLostError ? locked() : error
  }
}

/** Deletes the bytes of expired uploads, and what is remembered of those that ended long ago. Returns their number. */
export const removeExpired = async ({
  db,
  objects,
}: {
  db: Database
  objects: ObjectStore
  log: Log
}): Promise<number> => {
  let removed = 0
  for (;;) {
    const listed = await queries.listExpired(db, batch)
    let removedNow = 0
    for (const [orgId, uploads] of Map.groupBy(listed, (upload) => upload.orgId)) {
      const ids = uploads.map(({ id }) => id)
      removedNow += await db.transaction({ orgId }, async (db) => {
        const ended = await queries.endExpired(db, orgId, ids)
        const parts = await queries.deleteParts(
          db,
          orgId,
          ended.map(({ id }) => id),
        )
        const blobIds = parts.map(({ blobId }) => blobId)
        await queries.setBlobState(db, orgId, blobIds, { from: 'part', to: 'unused' })
        await release(db, orgId, ended)
        return ended.length
      })
      await releaseUnused(db, objects, orgId)
    }
    removed += removedNow
    // The rest is in use by requests.
    if (listed.length < batch || removedNow === 0) break
  }
  await queries.deleteForgotten(db, rememberedDays)
  return removed
}
