import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { maxStoredBytes } from './embeddings.ts'

/**
 * Sends a JSON text of which parts are written already: writing 60 MB of numbers would block the server for half a second.
 * A response that is small enough to be stored for its Idempotency-Key is sent as a whole.
 */
export const sendWritten = (reply: FastifyReply, texts: (string | Uint8Array)[]): FastifyReply => {
  const parts = texts.map((text) => (typeof text === 'string' ? Buffer.from(text) : text))
  const size = parts.reduce((sum, part) => sum + part.length, 0)
  reply.type('application/json; charset=utf-8').header('content-length', size)
  return reply.send(size <= maxStoredBytes ? Buffer.concat(parts) : Readable.from(parts, { objectMode: false }))
}
