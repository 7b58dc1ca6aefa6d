import assert from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { after, describe, test } from 'node:test'
import { queryObjects } from 'node:v8'
import { createOutbound, OutboundError } from './outbound.ts'

const outbound = createOutbound()
after(() => outbound.close())

/** A server that sends a text, and then another one until the client closes the connection. */
const flood = async (first: string, again: string): Promise<{ url: string; closed: Promise<unknown> }> => {
  const closed = Promise.withResolvers<void>()
  const server = createServer((socket: Socket) => {
    socket.on('error', () => undefined)
    socket.on('close', () => closed.resolve())
    socket.once('data', () => {
      const block = again.repeat(Math.ceil(65_536 / again.length))
      const send = (): void => {
        while (!socket.destroyed && socket.write(block));
      }
      socket.on('drain', send)
      socket.write(first)
      send()
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  after(() => server.close())
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, closed: closed.promise }
}

const head = 'HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ntransfer-encoding: chunked\r\n\r\n'

describe('a connection is closed when its server sends without an end', () => {
  for (const [what, first, again] of [
    ['interim responses', '', 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n'],
    ['a reason phrase', 'HTTP/1.1 200 ', 'O'],
    ['line breaks before the status line', '', '\r\n'],
    ['chunk extensions', `${head}1`, ';a=b'],
  ] as const) {
    test(what, async () => {
      for (const send of [
        (url: string) => outbound.request(url, { timeoutMs: 60_000, maxBytes: 1_000, trusted: true }),
        async (url: string) => (await outbound.fetch(url, { trusted: true })).text(),
      ]) {
        const { url, closed } = await flood(first, again)
        await assert.rejects(send(url), (error: Error) => {
          // The stream of a body has the error as its own or as its cause.
          const failure = [error, error.cause].find((one) => one instanceof OutboundError)
          assert.match(failure?.message ?? String(error), /too many bytes besides its body/)
          return true
        })
        await closed
      }
    })
  }
})

test('a body of single bytes is read to its end, also on a connection that was used before', async () => {
  const bytes = 100_000
  const server = createServer((socket: Socket) => {
    socket.on('data', () => socket.write(`${head}${'1\r\nx\r\n'.repeat(bytes)}0\r\n\r\n`))
    socket.on('error', () => undefined)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  after(() => server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  for (let round = 0; round < 3; round += 1) {
    const { body } = await outbound.request(url, { timeoutMs: 60_000, maxBytes: bytes + 1, trusted: true })
    assert.equal(body.length, bytes)
  }
})

test('a body of single bytes is not kept as one object for each byte while it arrives', async () => {
  const bytes = 100_000
  let received = 0
  const all = Promise.withResolvers<void>()
  const count = (): void => {
    received += 1
    if (received === bytes) all.resolve()
  }
  subscribe('undici:request:bodyChunkReceived', count)
  const ended = Promise.withResolvers<Socket>()
  const server = createServer((socket: Socket) => {
    socket.once('data', () => {
      socket.write(`${head}${'1\r\nx\r\n'.repeat(bytes)}`)
      void all.promise.then(() => setImmediate(() => ended.resolve(socket)))
    })
    socket.on('error', () => undefined)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  after(() => server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const response = outbound.request(url, { timeoutMs: 60_000, maxBytes: bytes + 1, trusted: true })
  const socket = await ended.promise
  unsubscribe('undici:request:bodyChunkReceived', count)
  const kept = queryObjects(Buffer, { format: 'count' })
  assert.ok(kept < bytes / 10, `${kept} buffers are kept`)
  socket.write('0\r\n\r\n')
  assert.equal((await response).body.toString(), 'x'.repeat(bytes))
})
