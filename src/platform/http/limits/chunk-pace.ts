import { IncomingMessage } from 'node:http'
import type { Server } from 'node:http'
import { cutOff } from '../closed.ts'
import { startLingeringClose } from '../server/linger.ts'

/** Shorter chunks of a chunked body cost more to parse than to store. */
const tinyBytes = 512
/** What a tiny chunk counts, ten times the time that it takes, so that all of them use a tenth of the event loop. */
const msPerTinyChunk = 0.04
/** Reading pauses when the tiny chunks of all requests count this much more than the time that has passed. */
const burstMs = 50
/** The parser stops reading after so many, until they are counted. */
const chunksBeforeStop = 256

/** An upload of so many chunks with fewer bytes on average is cut off; other bodies are rejected earlier. */
const maxUselessChunks = 32_768
const usefulBytes = 16

/** When the time that all tiny chunks count has passed. */
let paidUntilMs = 0

const chunks = new WeakMap<IncomingMessage, number>()

/** The chunks of a chunked body that have arrived so far; 0 for other bodies. */
export const chunksOf = (request: IncomingMessage): number => chunks.get(request) ?? 0

// oxlint-disable-next-line typescript/unbound-method -- is called with a request
const startReading = IncomingMessage.prototype._read

/**
 * A body in chunks of one byte makes the parser call `push` ten thousand times for each read of the socket. Tiny chunks
 * that arrive together are passed on as one, and the next read waits until they are paid for.
 */
const paceChunks = (request: IncomingMessage): void => {
  // oxlint-disable-next-line typescript/unbound-method -- is called with the request
  const { push } = request
  let together: Buffer[] = []
  let tiny = 0
  let bytes = 0
  let isStopped = false
  let timer: NodeJS.Timeout | undefined

  const pass = (): void => {
    if (together.length > 0) push.call(request, Buffer.concat(together))
    together = []
  }
  const count = (chunk: Buffer): void => {
    chunks.set(request, chunksOf(request) + 1)
    bytes += chunk.length
  }
  const start = (): void => {
    isStopped = false
    timer = undefined
    if (!request.destroyed) startReading.call(request, 0)
  }
  const settle = (): void => {
    pass()
    const arrived = chunksOf(request)
    if (arrived > maxUselessChunks && bytes < arrived * usefulBytes) {
      cutOff(request, 'the body arrives in too many small chunks')
      return
    }
    const nowMs = performance.now()
    paidUntilMs = Math.max(paidUntilMs, nowMs) + tiny * msPerTinyChunk
    tiny = 0
    if (!isStopped || timer !== undefined) return
    const waitMs = paidUntilMs - nowMs
    if (waitMs <= burstMs) start()
    else timer = setTimeout(start, waitMs).unref()
  }

  request.push = (chunk: unknown, encoding?: BufferEncoding): boolean => {
    if (!Buffer.isBuffer(chunk) || (chunk.length >= tinyBytes && together.length === 0)) {
      if (Buffer.isBuffer(chunk)) count(chunk)
      else pass()
      return push.call(request, chunk, encoding)
    }
    if (request.destroyed) return false
    count(chunk)
    together.push(chunk)
    tiny += 1
    // After everything that the parser finds in this read: ticks run after each chunk.
    if (together.length === 1) setImmediate(settle)
    if (isStopped || tiny < chunksBeforeStop) return true
    isStopped = true
    return false
  }
  request._read = (size) => {
    if (!isStopped) startReading.call(request, size)
  }
}

/** Bounds the work that chunked bodies cause, also those that no route reads. */
export const registerChunkPace = (server: Server): void => {
  server.prependListener('request', (request, response) => {
    if (request.headers['transfer-encoding'] === undefined) return
    // Nothing reads the body of these, and the connection would be read until it ends.
    const isIgnored = request.method === 'GET' || request.method === 'HEAD'
    if (isIgnored && startLingeringClose(request)) response.setHeader('connection', 'close')
    paceChunks(request)
  })
}
