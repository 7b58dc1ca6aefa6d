import type { FastifyReply } from 'fastify'
import type { ServerResponse } from 'node:http'

/** Server-sent events; the last one keeps nginx from collecting them. */
const headers = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
}

/** So often something is sent, or what stands in between takes the connection for dead. */
const pingMs = 15_000

/** Begins an answer of server-sent events, with pings until its connection closes. */
export const openEvents = (reply: FastifyReply, more: Record<string, string> = {}): ServerResponse => {
  reply.hijack()
  const { raw, server } = reply
  const { socket } = raw
  raw.writeHead(200, { ...(reply.getHeaders() as Record<string, string>), ...headers, ...more })
  raw.flushHeaders()
  const ping = setInterval(() => {
    if (!raw.writableNeedDrain && !raw.writableEnded) raw.write(': ping\n\n')
  }, pingMs)
  raw.on('error', () => undefined)
  raw.once('close', () => clearInterval(ping))
  // A server that stops cannot wait until the client lets go of a connection that it might use again.
  raw.once('finish', () => {
    if (server.stopping.aborted) socket?.destroySoon()
  })
  return raw
}

/** How long a client may take to read what was written before its connection is closed. */
const lastWordsMs = 500

/** Ends events for a caller who has lost the right to them: the last words are written, and the connection is closed. */
export const cutOff = (raw: ServerResponse, lastWords: string): void => {
  if (!raw.writableEnded) raw.end(lastWords)
  const timer = setTimeout(() => raw.destroy(), lastWordsMs)
  raw.once('close', () => clearTimeout(timer))
}
