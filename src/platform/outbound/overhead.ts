import { subscribe } from 'node:diagnostics_channel'
import type { Socket } from 'node:net'
import { OutboundError } from './failure.ts'

/** For the head of a response, and then for each byte of its body: servers that send single bytes need six. */
const freeBytes = 262_144
const bytesPerBodyByte = 8
const everyMs = 50

interface Exchange {
  bytesBefore: number
  bodyBytes: number
}

// What the channels of undici publish: https://undici.nodejs.org/#/docs/api/DiagnosticsChannel
interface SentHeaders {
  request: object
  socket: Socket
}
interface ReceivedChunk {
  request: object
  chunk: Uint8Array
}

/** The connections of all clients, with the request that was sent last. */
const exchanges = new Map<Socket, Exchange | undefined>()
const byRequest = new WeakMap<object, Exchange>()
let timer: NodeJS.Timeout | undefined

const check = (): void => {
  for (const [socket, exchange] of exchanges) {
    if (!exchange) continue
    const received = socket.bytesRead - exchange.bytesBefore
    if (received <= freeBytes + bytesPerBodyByte * exchange.bodyBytes) continue
    exchanges.delete(socket)
    socket.destroy(new OutboundError('network_error', 'The response has too many bytes besides its body.'))
  }
}

let isSubscribed = false
const subscribeOnce = (): void => {
  if (isSubscribed) return
  isSubscribed = true
  subscribe('undici:client:sendHeaders', (message) => {
    const { request, socket } = message as SentHeaders
    // Other clients publish to this channel, too.
    if (!exchanges.has(socket)) return
    const exchange = { bytesBefore: socket.bytesRead, bodyBytes: 0 }
    exchanges.set(socket, exchange)
    byRequest.set(request, exchange)
  })
  subscribe('undici:request:bodyChunkReceived', (message) => {
    const { request, chunk } = message as ReceivedChunk
    const exchange = byRequest.get(request)
    if (exchange) exchange.bodyBytes += chunk.length
  })
}

/**
 * Closes the connection when a server sends much that is not the body of a response: interim responses, a status line or
 * chunk extensions without an end. The parser limits none of these, and a dozen of them keep a process busy.
 */
export const limitOverhead = (socket: Socket): void => {
  subscribeOnce()
  exchanges.set(socket, undefined)
  timer ??= setInterval(check, everyMs).unref()
  socket.once('close', () => {
    exchanges.delete(socket)
    if (exchanges.size > 0) return
    clearInterval(timer)
    timer = undefined
  })
}
