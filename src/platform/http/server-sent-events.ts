import type { FastifyReply } from 'fastify'
import type { ServerResponse } from 'node:http'

// x-accel-buffering keeps nginx from buffering the events.
const headers = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
}

/** Proxies close connections that are idle, often after 30 to 60 s. */
const pingMs = 15_000

/** Starts a response of server-sent events, with pings until the connection closes. */
export const openEventStream = (reply: FastifyReply, more: Record<string, string> = {}): ServerResponse => {
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
  // A client that left before the stream began emits no `close` any more.
  if (raw.closed) clearInterval(ping)
  // A keep-alive connection that the client holds open would delay the shutdown of the server.
  raw.once('finish', () => {
    if (server.stopping.aborted) socket?.destroySoon()
  })
  return raw
}

/** The time limit for a client to read the last event. */
const lastEventMs = 500

/** Writes a last event and closes the connection, even when the client does not read: for callers that lost access. */
export const endWithLastEvent = (raw: ServerResponse, lastEvent: string): void => {
  if (!raw.writableEnded) raw.end(lastEvent)
  const timer = setTimeout(() => raw.destroy(), lastEventMs)
  raw.once('close', () => clearTimeout(timer))
}
