import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { describe, test } from 'node:test'
import { startTestApp } from '../../../../test/harness.ts'

const app = await startTestApp()
const drained = (socket: Socket): Promise<unknown> => new Promise((resolve) => socket.once('drain', resolve))

/** Sends the head of a request and then `bytes` of body, without reading. Returns the response. */
const push = async (
  head: string[],
  bytes: number,
  framing = `Content-Length: ${bytes}`,
  piece = Buffer.alloc(65_536, 'x'),
): Promise<{ answer: string; sent: number }> => {
  const socket = connect(Number(new URL(app.url).port), '127.0.0.1')
  const gone = new Promise((resolve) => socket.once('close', resolve))
  const chunks: Buffer[] = []
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  socket.write([...head, 'Host: localhost', framing, '', ''].join('\r\n'))
  let sent = 0
  for (; sent < bytes && !socket.destroyed; sent += piece.length) {
    // The response is not read yet, so that a reset would discard it.
    if (!socket.write(piece.subarray(0, bytes - sent))) await Promise.race([drained(socket), gone])
  }
  socket.on('data', (chunk: Buffer) => chunks.push(chunk))
  await gone
  return { answer: Buffer.concat(chunks).toString(), sent }
}

describe('lingering close', () => {
  const megabytes = 5 * 1_048_576

  test('a client that sends its whole rejected body before it reads gets the error, with and without an API key', async () => {
    const owner = await app.createOrg()
    for (const [authorization, status] of [
      [`Authorization: Bearer ${owner.key}`, 400],
      ['Authorization: none', 401],
    ] as const) {
      const head = ['POST /api/v1/agents HTTP/1.1', authorization, 'Content-Type: application/json']
      const { answer, sent } = await push(head, megabytes)
      assert.ok(answer.startsWith(`HTTP/1.1 ${status} `), answer.slice(0, 100))
      assert.match(answer, /connection: close/i)
      assert.match(answer, /\{"success":false,"error":\{.+\}\}$/)
      assert.equal(sent, megabytes)
    }
  })

  test('the server closes the connection of a client that keeps sending a rejected body', async () => {
    const all = 200 * megabytes
    const head = ['POST /api/v1/agents HTTP/1.1', 'Content-Type: application/json']
    const { sent } = await push(head, all)
    assert.ok(sent < all, 'the server hung up')
  })

  const chunk = Buffer.from('1\r\nx\r\n'.repeat(10_000))
  const chunked = 'Transfer-Encoding: chunked'

  test('a body in small chunks that is rejected, or that no route reads, is dropped and its connection closed', async () => {
    const json = 'Content-Type: application/json'
    for (const line of ['POST /api/v1/agents HTTP/1.1', 'GET /api/v1/me HTTP/1.1', 'GET / HTTP/1.1']) {
      const { sent } = await push([line, json], 200 * megabytes, chunked, chunk)
      assert.ok(sent < 200 * megabytes, line)
    }
    const { answer, sent } = await push(['GET /healthz HTTP/1.1'], megabytes, chunked, chunk)
    assert.match(answer, /^HTTP\/1\.1 200 OK[\s\S]+connection: close/i)
    assert.equal(sent, Math.ceil(megabytes / chunk.length) * chunk.length)
  })
})
