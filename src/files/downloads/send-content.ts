import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { onceClosed } from '../../platform/http/closed.ts'
import type { ObjectStore } from '../../platform/object-store/object-store.ts'
import type { ContentHeaders } from './content-headers.ts'
import type { Content } from '../content.ts'
import { selectBytes } from './range.ts'

/** A smaller response is in the client's or the socket's buffers before a lost permission could stop it. */
const watchedBytes = 1_048_576

/**
 * Sends the bytes of a file, or the range that the request asks for. The ETag is the hash of the bytes, so it is the same
 * for all files and links with these bytes. A long download is aborted when its caller loses access to files.
 */
export const sendContent = async (
  request: FastifyRequest,
  reply: FastifyReply,
  { objects, content, headers }: { objects: ObjectStore; content: Content; headers: ContentHeaders },
): Promise<FastifyReply> => {
  const { sizeBytes, storageKey, contentHash } = content
  const etag = `"${contentHash}"`
  const selection = selectBytes(request.headers, sizeBytes, etag)
  reply.headers({ etag, 'accept-ranges': 'bytes', 'cache-control': 'private, no-cache' })
  reply.headers(headers.protection)
  reply.code(selection.status)
  if (selection.status === 304) return reply.send()
  if (selection.status === 416)
    return reply.headers({ 'content-range': `bytes */${sizeBytes}`, 'content-length': '0' }).send()
  const { start, end } = selection
  reply.headers(headers.content)
  reply.header('content-length', end - start + 1)
  if (selection.status === 206) reply.header('content-range', `bytes ${start}-${end}/${sizeBytes}`)
  // Without a stream, Fastify would replace the length by 0.
  if (request.method === 'HEAD') return reply.send(Readable.from([]))
  if (sizeBytes === 0) return reply.send(Buffer.alloc(0))
  const bytes = await objects.get(storageKey, selection.status === 206 ? { start, end } : undefined)
  // A signed URL has no caller and is valid until it expires.
  if (end - start >= watchedBytes && request.routeOptions.config.access !== 'public') {
    const unwatch = request.watchAuthority(() => void reply.raw.destroy())
    onceClosed(reply.raw, unwatch)
  }
  return reply.send(bytes)
}
