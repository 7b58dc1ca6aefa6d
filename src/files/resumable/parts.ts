import { createHash } from 'node:crypto'
import type { Lease } from '../../platform/database/lease.ts'
import type { ApiError } from '../../platform/http/errors.ts'
import { badRequest } from '../../platform/http/errors.ts'
import { newId } from '../../platform/ids.ts'
import { untilAborted } from '../../platform/object-store/object-store.ts'
import { storageKeyOf } from '../blobs/blobs.ts'
import * as blobQueries from '../blobs/queries.ts'
import type { StoreDeps } from '../deps.ts'
import { checkHead, createHeadCheck } from '../uploads/magic-bytes.ts'
import { discard } from '../uploads/uploads.ts'
import { wrongChecksum } from './protocol.ts'
import type { Checksum } from './protocol.ts'
import * as queries from './queries.ts'
import type { PartRow, UploadRow } from './queries.ts'

/** The bytes of a longer request are stored in parts of this size, so that a crash loses no more than one of them. */
export const partBytes = 268_435_456
/** A shorter part is stored again together with the bytes that follow it, so that small chunks do not become many objects. */
const minPartBytes = 5_242_880

/** How long an upload is kept after its last bytes, and in total. */
export const keptHours = { idle: 24, total: 168 }

type Deps = Omit<StoreDeps, 'quotas'>

/**
 * The body of a request, part by part. It ends when the connection breaks or another request wants the upload; what has
 * arrived until then is kept.
 */
export const createSource = (body: AsyncIterable<Buffer>, stop: AbortSignal) => {
  const iterator = untilAborted(body, stop)
  let next: Buffer | undefined
  let hasEnded = false
  let failure: unknown

  const fill = async (): Promise<boolean> => {
    while (next === undefined && !hasEnded) {
      try {
        const result = await iterator.next()
        if (result.done) hasEnded = true
        else if (result.value.length > 0) next = result.value
      } catch (error) {
        hasEnded = true
        failure = error
      }
    }
    return next !== undefined
  }

  return {
    hasMore: fill,
    /** The next bytes, at most `most` of them. */
    take: async function* (most: number): AsyncGenerator<Buffer> {
      let left = most
      while (left > 0 && (await fill()) && next !== undefined) {
        const chunk = next.subarray(0, left)
        next = chunk.length < next.length ? next.subarray(left) : undefined
        left -= chunk.length
        yield chunk
      }
    },
    /** Why the body ended early; undefined when it is complete. */
    failure: (): unknown => failure,
    close: async (): Promise<void> => void (await iterator.return(undefined)),
  }
}
export type Source = ReturnType<typeof createSource>

/** The bytes of stored parts, one after the other. */
export const readParts = async function* ({ objects }: Deps, orgId: string, parts: PartRow[]): AsyncGenerator<Buffer> {
  for (const { blobId } of parts) yield* (await objects.get(storageKeyOf(orgId, blobId))) as AsyncIterable<Buffer>
}

/** The bytes do not have the declared type, so that the upload can never be completed. */
export class UnfitContent extends Error {
  readonly answer: ApiError

  constructor(answer: ApiError) {
    super(answer.message)
    this.answer = answer
  }
}

const requireType = (mimeType: string, head: Buffer): void => {
  try {
    checkHead(mimeType, head)
  } catch (error) {
    throw new UnfitContent(error as ApiError)
  }
}

interface Measuring {
  sizeBytes: number
  sha256: ReturnType<typeof createHash>
}

/** Yields the bytes of a part unchanged. Counts and hashes them, and checks the first ones of a file. */
const measured = async function* (
  bytes: AsyncIterable<Buffer>,
  upload: UploadRow,
  startByte: number,
  seen: Measuring,
): AsyncGenerator<Buffer> {
  const { mimeType } = upload
  const first =
    startByte === 0 && mimeType !== null ? createHeadCheck((head) => requireType(mimeType, head)) : undefined
  for await (const chunk of bytes) {
    seen.sizeBytes += chunk.length
    seen.sha256.update(chunk)
    first?.add(chunk)
    yield chunk
  }
  // The start of a longer file is checked again together with the bytes that follow it.
  if (seen.sizeBytes === upload.sizeBytes) first?.end()
}

const both = async function* (...all: AsyncIterable<Buffer>[]): AsyncGenerator<Buffer> {
  for (const one of all) yield* one
}

const summed = async function* (bytes: AsyncIterable<Buffer>, { hash }: Checksum): AsyncGenerator<Buffer> {
  for await (const chunk of bytes) {
    hash.update(chunk)
    yield chunk
  }
}

interface Chunk {
  source: Source
  checksum: Checksum | undefined
}

/** Stores the next part of an upload and moves its offset. Returns the upload as it is then. */
const storePart = async (
  deps: Deps,
  upload: UploadRow,
  lease: Lease,
  { source, checksum }: Chunk,
): Promise<UploadRow> => {
  const { db, objects } = deps
  const { orgId, id, receivedBytes: from } = upload
  const last = from === 0 ? undefined : await queries.findLastPart(db, orgId, id)
  const tail = last && last.sizeBytes < minPartBytes ? last : undefined
  const startByte = from - (tail?.sizeBytes ?? 0)
  const position = queries.isLarge(upload.sizeBytes) ? (tail?.position ?? (last ? last.position + 1 : 0)) : startByte
  const blobId = newId()
  const seen: Measuring = { sizeBytes: 0, sha256: createHash('sha256') }
  const fresh = source.take(Math.min(partBytes, upload.sizeBytes - from))
  const counted = checksum === undefined ? fresh : summed(fresh, checksum)
  const bytes = tail === undefined ? counted : both(readParts(deps, orgId, [tail]), counted)
  await blobQueries.insertWritingBlob(db, orgId, blobId)
  try {
    await objects.put(storageKeyOf(orgId, blobId), measured(bytes, upload, startByte, seen), {
      contentType: upload.mimeType ?? 'application/octet-stream',
      signal: lease.signal,
    })
    if (checksum !== undefined) {
      if (source.failure() !== undefined) throw source.failure()
      if (!checksum.hash.digest().equals(checksum.expected)) throw wrongChecksum()
    }
    const to = startByte + seen.sizeBytes
    const part: PartRow = { position, sizeBytes: seen.sizeBytes, blobId, sha256: seen.sha256.digest() }
    await db.transaction({ orgId }, async (db) => {
      const move = { from, to, hours: keptHours.idle }
      const isMoved = (await queries.setReceived(db, upload, lease.token, move)) > 0
      const isKept = (await queries.setBlobState(db, orgId, [blobId], { from: 'writing', to: 'part' })) > 0
      if (!isMoved || !isKept) throw badRequest('The upload was continued by another request. Ask for its offset.')
      await queries.upsertPart(db, orgId, id, part)
      if (tail) await queries.setBlobState(db, orgId, [tail.blobId], { from: 'part', to: 'writing' })
    })
    if (tail) await discard(deps, orgId, tail.blobId)
    return { ...upload, receivedBytes: to }
  } catch (error) {
    await discard(deps, orgId, blobId)
    throw error
  }
}

/**
 * Stores the body of a request in parts. What has arrived before the connection breaks is kept, unless it has a checksum,
 * which can only be compared with a whole body. Returns the upload as it is then, and why the body ended early.
 */
export const storeBody = async (
  deps: Deps,
  given: UploadRow,
  lease: Lease,
  chunk: Chunk,
): Promise<{ upload: UploadRow; failure: unknown }> => {
  const { source } = chunk
  let upload = given
  try {
    while (upload.receivedBytes < upload.sizeBytes && (await source.hasMore())) {
      upload = await storePart(deps, upload, lease, chunk)
    }
    if (source.failure() === undefined && (await source.hasMore())) {
      throw badRequest(`The body exceeds the Upload-Length of ${upload.sizeBytes} bytes.`)
    }
  } finally {
    await source.close()
  }
  return { upload, failure: source.failure() }
}
