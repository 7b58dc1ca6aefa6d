import { randomUUID } from 'node:crypto'
import { setMaxListeners } from 'node:events'
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { failureBody } from '../errors.ts'

/** The unfinished responses of a connection: several when requests are pipelined. */
const responses = new WeakMap<Socket, ServerResponse[]>()

const unfinishedOn = (socket: Socket): ServerResponse[] =>
  (responses.get(socket) ?? []).filter(({ writableFinished }) => !writableFinished)

export const trackResponse = (socket: Socket, response: ServerResponse): void => {
  const tracked = responses.get(socket)
  // Without pipelining, the only earlier response has ended, and no further array is needed.
  if (tracked?.length === 1 && tracked[0]?.writableFinished === true) tracked[0] = response
  else responses.set(socket, tracked ? [...unfinishedOn(socket), response] : [response])
}

// Input that is not HTTP gets the error envelope too. If a response is already being sent, the connection is closed
// without an envelope, which would become part of that response.
export const sendRawError = (socket: Socket, status: string, message: string): void => {
  if (!socket.writable || unfinishedOn(socket).some(({ headersSent }) => headersSent)) {
    socket.destroy()
    return
  }
  const body = JSON.stringify(failureBody('BAD_REQUEST', message))
  socket.end(
    `HTTP/1.1 ${status}\r\nContent-Type: application/json; charset=utf-8\r\nX-Content-Type-Options: nosniff\r\nX-Request-Id: ${randomUUID()}\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  )
}

/** Decorates the server with `stopping`, and ends kept-alive connections with their next response once it stops. */
export const announceStop = (app: FastifyInstance): void => {
  const stop = new AbortController()
  // Every open stream adds a listener.
  setMaxListeners(0, stop.signal)
  const sockets = new Set<Socket>()
  app.server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  app.decorate('stopping', stop.signal)
  app.addHook('preClose', (done) => {
    // Fastify adds `Connection: close` to the responses of later requests only.
    for (const response of [...sockets].flatMap(unfinishedOn)) {
      if (!response.headersSent) response.setHeader('connection', 'close')
    }
    stop.abort()
    done()
  })
}
