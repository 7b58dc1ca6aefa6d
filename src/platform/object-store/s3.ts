import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
  S3ServiceException,
  UploadPartCommand,
} from '@aws-sdk/client-s3'
import type {
  CompletedPart,
  ListMultipartUploadsCommandOutput,
  ListObjectsV2CommandOutput,
  S3ClientConfig,
} from '@aws-sdk/client-s3'
import { getSignedUrl } from '@aws-sdk/s3-request-presigner'
import { notFound } from '../http/errors.ts'
import { assertKey, storeUnavailable, unfinishedAgeMs, untilAborted } from './object-store.ts'
import type { ObjectStore, PutOptions, StoredObject } from './object-store.ts'
import { createDirectUploads } from './s3-direct.ts'

// The minimum size of an S3 part; smaller objects are one request. An upload holds one part that is filled and two that
// are sent, and all uploads together send eight: 32 concurrent uploads use less than 240 MiB.
const partBytes = 5 * 1_048_576
const partsOfOneUpload = 2
const partsOfAllUploads = 8
/** An object has at most 10,000 parts, so those of an object of more than 50 GB are larger. They are sent one at a time. */
const maxParts = 10_000
const partBytesOf = (sizeBytes = 0): number => Math.max(partBytes, Math.ceil(sizeBytes / maxParts))

export interface S3Settings {
  bucket: string
  /** Undefined: AWS. */
  endpoint: string | undefined
  /** The URL of the store for clients, when it differs from `endpoint`. */
  publicEndpoint: string | undefined
  region: string
  forcePathStyle: boolean
}

const clientConfig = (s3: S3Settings, endpoint: string | undefined): S3ClientConfig => ({
  region: s3.region,
  forcePathStyle: s3.forcePathStyle,
  ...(endpoint === undefined ? {} : { endpoint }),
  // Most stores other than AWS reject the trailing checksums that the SDK sends by default.
  requestChecksumCalculation: 'WHEN_REQUIRED',
  responseChecksumValidation: 'WHEN_REQUIRED',
  maxAttempts: 3,
  requestHandler: {
    connectionTimeout: 5_000,
    requestTimeout: 60_000,
    throwOnRequestTimeout: true,
    // How long a download with a stalled client keeps its socket.
    socketTimeout: 300_000,
    httpAgent: { keepAlive: true, maxSockets: 256 },
    httpsAgent: { keepAlive: true, maxSockets: 256 },
  },
})

const isMissing = (error: unknown): boolean =>
  error instanceof S3ServiceException && error.$metadata.httpStatusCode === 404 && error.name !== 'NoSuchBucket'

/** Runs up to `limit` functions concurrently, in the order of their calls. */
const createGate = (limit: number): (<T>(work: () => Promise<T>) => Promise<T>) => {
  let free = limit
  const waiting: (() => void)[] = []
  return async (work) => {
    if (free > 0) free -= 1
    else await new Promise<void>((resolve) => waiting.push(resolve))
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      if (next) next()
      else free += 1
    }
  }
}

/** Splits a body into parts of `partBytes`. The last part is smaller and can be empty. */
const partsOf = async function* (body: AsyncIterable<Buffer>, partBytes: number): AsyncGenerator<Buffer> {
  let chunks: Buffer[] = []
  let size = 0
  for await (const chunk of body) {
    let rest = chunk
    while (size + rest.length > partBytes) {
      const head = rest.subarray(0, partBytes - size)
      rest = rest.subarray(head.length)
      yield Buffer.concat([...chunks, head], partBytes)
      chunks = []
      size = 0
    }
    chunks.push(rest)
    size += rest.length
  }
  yield Buffer.concat(chunks, size)
}

const chain = async function* (first: Buffer, rest: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  yield first
  yield* rest
}

interface Target {
  client: S3Client
  Bucket: string
  Key: string
}

const cleanUpMs = 5_000

const onStore = async <T>(work: Promise<T>, signal?: AbortSignal): Promise<T> => {
  try {
    return await work
  } catch (error) {
    signal?.throwIfAborted()
    throw storeUnavailable(error)
  }
}

// The store may have executed a request that timed out or was interrupted.
const removeDoubtful = async ({ client, Bucket, Key }: Target): Promise<void> => {
  const abortSignal = AbortSignal.timeout(cleanUpMs)
  await client.send(new DeleteObjectCommand({ Bucket, Key }), { abortSignal }).catch(() => undefined)
}

const putWhole = async (target: Target, body: Buffer, { contentType, signal }: PutOptions): Promise<void> => {
  const { client, Bucket, Key } = target
  const command = new PutObjectCommand({ Bucket, Key, Body: body, ContentType: contentType })
  try {
    await onStore(client.send(command, signal ? { abortSignal: signal } : {}), signal)
  } catch (error) {
    await removeDoubtful(target)
    throw error
  }
}

type Gate = ReturnType<typeof createGate>

/** Sends the parts, two at a time. After an error, the other requests are aborted and the upload is deleted. */
const putParts = async (
  target: Target,
  parts: AsyncIterable<Buffer>,
  { contentType, signal, sizeBytes }: PutOptions,
  gate: Gate,
): Promise<void> => {
  const { client, Bucket, Key } = target
  const atOnce = partBytesOf(sizeBytes) > partBytes ? 1 : partsOfOneUpload
  const create = new CreateMultipartUploadCommand({ Bucket, Key, ContentType: contentType })
  const { UploadId } = await onStore(client.send(create))
  const stop = new AbortController()
  const abortSignal = signal ? AbortSignal.any([signal, stop.signal]) : stop.signal
  const done: CompletedPart[] = []
  const sending = new Set<Promise<void>>()
  let failure: { error: unknown } | undefined
  const send = async (Body: Buffer, PartNumber: number): Promise<void> => {
    try {
      const part = new UploadPartCommand({ Bucket, Key, UploadId, PartNumber, Body })
      const { ETag } = await gate(() => onStore(client.send(part, { abortSignal }), signal))
      done[PartNumber - 1] = { ETag, PartNumber }
    } catch (error) {
      failure ??= { error }
    }
  }
  try {
    let number = 0
    for await (const body of parts) {
      number += 1
      const sent = send(body, number).finally(() => sending.delete(sent))
      sending.add(sent)
      if (sending.size >= atOnce) await Promise.race(sending)
      if (failure) throw failure.error
    }
    await Promise.all(sending)
    if (failure) throw failure.error
  } catch (error) {
    stop.abort()
    // A part that arrives after the abort would stay and cost money.
    await Promise.all(sending)
    await abortUpload(target, UploadId)
    throw error
  }
  try {
    const complete = { Bucket, Key, UploadId, MultipartUpload: { Parts: done } }
    await onStore(
      client.send(new CompleteMultipartUploadCommand(complete), signal ? { abortSignal: signal } : {}),
      signal,
    )
  } catch (error) {
    await abortUpload(target, UploadId)
    await removeDoubtful(target)
    throw error
  }
}

const abortUpload = async ({ client, Bucket, Key }: Target, UploadId: string | undefined): Promise<void> => {
  const abortSignal = AbortSignal.timeout(cleanUpMs)
  await client.send(new AbortMultipartUploadCommand({ Bucket, Key, UploadId }), { abortSignal }).catch(() => undefined)
}

interface Upload {
  Key: string
  UploadId: string
  startedAt: Date
}

const listUploads = async function* (client: S3Client, Bucket: string): AsyncGenerator<Upload> {
  let markers: { KeyMarker?: string; UploadIdMarker?: string } | undefined = {}
  while (markers) {
    const page: ListMultipartUploadsCommandOutput = await onStore(
      client.send(new ListMultipartUploadsCommand({ Bucket, ...markers })),
    )
    for (const { Key = '', UploadId = '', Initiated = new Date() } of page.Uploads ?? []) {
      yield { Key, UploadId, startedAt: Initiated }
    }
    const { NextKeyMarker: KeyMarker, NextUploadIdMarker: UploadIdMarker } = page
    markers = page.IsTruncated && KeyMarker && UploadIdMarker ? { KeyMarker, UploadIdMarker } : undefined
  }
}

const listObjects = async function* (
  client: S3Client,
  Bucket: string,
  Prefix: string,
): AsyncGenerator<StoredObject & { key: string }> {
  let token: string | undefined
  do {
    const command = new ListObjectsV2Command({ Bucket, Prefix, ContinuationToken: token })
    const page: ListObjectsV2CommandOutput = await onStore(client.send(command))
    for (const { Key = '', Size = 0, LastModified = new Date() } of page.Contents ?? []) {
      yield { key: Key, sizeBytes: Size, modifiedAt: LastModified }
    }
    token = page.IsTruncated ? page.NextContinuationToken : undefined
  } while (token !== undefined)
}

type Operations = Pick<ObjectStore, 'put' | 'get' | 'head' | 'delete'>

const checkBucket = async (store: Operations): Promise<void> => {
  const probe = randomUUID()
  const key = `readiness/${probe}`
  await store.put(key, Readable.from([Buffer.from(probe)]))
  try {
    if ((await text(await store.get(key))) !== probe)
      throw storeUnavailable('the bucket returned other data than was written')
  } finally {
    await store.delete(key)
  }
}

const createOperations = (client: S3Client, Bucket: string): Operations => {
  const gate = createGate(partsOfAllUploads)
  const targetOf = (key: string): Target => {
    assertKey(key)
    return { client, Bucket, Key: key }
  }

  return {
    put: async (key, body, options = {}) => {
      const target = targetOf(key)
      const parts = partsOf(untilAborted(body, options.signal), partBytesOf(options.sizeBytes))
      try {
        const first = await parts.next()
        if (first.done) return
        if (first.value.length < partBytes) await putWhole(target, first.value, options)
        else await putParts(target, chain(first.value, parts), options, gate)
      } finally {
        await parts.return(undefined)
      }
    },
    get: async (key, range) => {
      const { Key } = targetOf(key)
      const Range = range && `bytes=${range.start}-${range.end}`
      try {
        const { Body } = await client.send(new GetObjectCommand({ Bucket, Key, Range }))
        return Body as Readable
      } catch (error) {
        throw isMissing(error) ? notFound('File', { cause: error }) : storeUnavailable(error)
      }
    },
    delete: async (key) => {
      const { Key } = targetOf(key)
      try {
        await client.send(new DeleteObjectCommand({ Bucket, Key }))
      } catch (error) {
        if (!isMissing(error)) throw storeUnavailable(error)
      }
    },
    head: async (key) => {
      const { Key } = targetOf(key)
      try {
        const found = await client.send(new HeadObjectCommand({ Bucket, Key }))
        return { sizeBytes: found.ContentLength ?? 0, modifiedAt: found.LastModified ?? new Date() }
      } catch (error) {
        if (isMissing(error)) return undefined
        throw storeUnavailable(error)
      }
    },
  }
}

/** Objects in a bucket of an S3-compatible store. Credentials come from the standard `AWS_*` variables. */
export const openS3Store = (s3: S3Settings): ObjectStore => {
  const client = new S3Client(clientConfig(s3, s3.endpoint))
  // Only for signing URLs, because the host is part of the signature.
  const publicConfig = clientConfig(s3, s3.publicEndpoint ?? s3.endpoint)
  const publicClient = s3.publicEndpoint === undefined ? client : new S3Client(publicConfig)
  const Bucket = s3.bucket
  const operations = createOperations(client, Bucket)
  return {
    kind: 's3',
    ...operations,
    direct: createDirectUploads({ client, publicClient, publicConfig, Bucket }),
    list: (prefix) => listObjects(client, Bucket, prefix),
    signedGetUrl: async (key, { expiresSeconds, contentType, contentDisposition }) => {
      assertKey(key)
      return onStore(
        getSignedUrl(
          publicClient,
          new GetObjectCommand({
            Bucket,
            Key: key,
            ResponseContentType: contentType,
            ResponseContentDisposition: contentDisposition,
          }),
          { expiresIn: expiresSeconds },
        ),
      )
    },
    check: () => checkBucket(operations),
    unfinished: async () => {
      let count = 0
      for await (const _ of listUploads(client, Bucket)) count += 1
      return count
    },
    // Other processes may write to the bucket, even when this is the only process on the disk.
    removeUnfinished: async ({ keep }) => {
      const old: Upload[] = []
      for await (const upload of listUploads(client, Bucket)) {
        if (Date.now() - upload.startedAt.getTime() >= unfinishedAgeMs) old.push(upload)
      }
      const kept = old.length === 0 ? new Set() : await keep(old.map(({ Key }) => Key))
      const removed = old.filter(({ Key }) => !kept.has(Key))
      for (const { Key, UploadId } of removed) await abortUpload({ client, Bucket, Key }, UploadId)
      return removed.length
    },
  }
}
