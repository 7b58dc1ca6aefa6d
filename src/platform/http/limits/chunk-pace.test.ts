import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import type { Socket } from 'node:net'
import type { Readable } from 'node:stream'
import { after, describe, test } from 'node:test'
import { openSocket, sendRaw } from '../../../../test/support/raw-http.ts'
import { until } from '../../../../test/support/until.ts'
import { createLog } from '../../process/log.ts'
import { createHttp } from '../http.ts'
import type { App } from '../http.ts'

const app = createHttp({ log: createLog('silent'), production: true, trustProxy: false })
let reading = 0
app.get('/answer', () => ({ success: true }))
app.register(async (scope: App) => {
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser('*', (_request, payload, done) => done(null, payload))
  scope.put('/upload', { config: { upload: 'bytes' } }, async ({ body }) => {
    const hash = createHash('sha256')
    reading += 1
    try {
      for await (const chunk of body as Readable) hash.update(chunk as Buffer)
    } finally {
      reading -= 1
    }
    return { success: true, sha256: hash.digest('hex') }
  })
})
await app.listen({ host: '127.0.0.1', port: 0 })
after(() => app.close())
const address = app.server.address()
const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`

const head = (line: string, ...fields: string[]): string =>
  [line, 'Host: atrium.test', 'Content-Type: application/json', 'Transfer-Encoding: chunked', ...fields, '', ''].join(
    '\r\n',
  )
const upload = 'PUT /upload HTTP/1.1'
const chunkOf = (bytes: Buffer): Buffer =>
  Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')])

describe('a body in tiny chunks', () => {
  test('arrives unchanged, also when sizes of chunks are mixed', async () => {
    const pieces = Array.from({ length: 20_000 }, (_, place) => randomBytes(place % 97 === 0 ? 2_000 : 1 + (place % 5)))
    const body = Buffer.concat([...pieces.map(chunkOf), Buffer.from('0\r\n\r\n')])
    const [answer] = await sendRaw(url, Buffer.concat([Buffer.from(head(upload, 'Connection: close')), body]))
    assert.equal(answer?.status, 200)
    const expected = createHash('sha256').update(Buffer.concat(pieces)).digest('hex')
    assert.equal(JSON.parse(answer.body).sha256, expected)
  })

  /** Sends a chunk again and again until the connection is closed. */
  const flood = async (chunk: Buffer): Promise<Socket> => {
    const socket = await openSocket(url)
    const block = Buffer.concat(Array.from({ length: 10_000 }, () => chunk))
    const send = (): void => {
      while (!socket.destroyed && socket.write(block));
    }
    socket.on('error', () => undefined)
    socket.on('drain', send)
    socket.write(head(upload))
    send()
    return socket
  }

  test('is read at a bounded rate, together with those of all other connections', async () => {
    const received = new Set<Socket>()
    app.server.on('connection', (socket) => received.add(socket))
    const chunk = chunkOf(Buffer.alloc(16, 'x'))
    const sockets: Socket[] = []
    for (let n = 0; n < 5; n += 1) sockets.push(await flood(chunk))
    await until('all are being read', () => reading === sockets.length)
    const bytes = (): number => [...received].reduce((sum, { bytesRead }) => sum + bytesRead, 0)
    const [bytesBefore, began] = [bytes(), performance.now()]
    while (performance.now() - began < 3_000) assert.equal((await fetch(`${url}/answer`)).status, 200)
    const seconds = (performance.now() - began) / 1_000
    const chunks = (bytes() - bytesBefore) / chunk.length
    // Each connection may be read a few times, 64 KB each, before it counts.
    assert.ok(chunks < 25_000 * seconds + sockets.length * 12_000, `${chunks} chunks in ${seconds} s`)
    for (const socket of received) socket.destroy()
    for (const socket of sockets) socket.destroy()
  })

  test('is cut off when its chunks have only a few bytes', async () => {
    const socket = await flood(chunkOf(Buffer.from('x')))
    await until('the server has closed the connection', () => socket.destroyed)
  })
})
