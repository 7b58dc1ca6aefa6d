import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import type { Readable } from 'node:stream'
import { after, describe, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { openSocket, parseAnswers, sendRaw } from '../../../../test/support/raw-http.ts'
import type { RawAnswer } from '../../../../test/support/raw-http.ts'
import { until } from '../../../../test/support/until.ts'
import { createHttp, rejectUnknownEarly } from '../http.ts'
import type { App, HttpOptions } from '../http.ts'
import { createLog } from '../../process/log.ts'

const kilobyte = 1_024
const megabyte = 1_048_576

/** A server with a public route, one for members, and one that reads its body as a stream. */
const startServer = async (options: Partial<HttpOptions> = {}) => {
  const app = createHttp({ log: createLog('silent'), production: true, trustProxy: false, ...options })
  rejectUnknownEarly(app)
  const length = (body: unknown) => ({ success: true, length: JSON.stringify(body).length })
  app.post('/public', { bodyLimit: megabyte, config: { access: 'public' } as object }, ({ body }) => length(body))
  app.post('/sign-in', { config: { access: 'public' } as object }, ({ body }) => length(body))
  app.post('/members', ({ body }) => length(body))
  app.register(async (scope: App) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', (_request, payload, done) => done(null, payload))
    scope.put('/upload', { config: { upload: 'bytes' } }, async ({ body }) => {
      let bytes = 0
      for await (const chunk of body as Readable) bytes += (chunk as Buffer).length
      return { success: true, bytes }
    })
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  after(() => app.close())
  const address = app.server.address()
  if (address === null || typeof address === 'string') throw new Error('the server does not listen')
  return { app, url: `http://127.0.0.1:${address.port}` }
}

const headOf = (path: string, fields: string[], method = 'POST'): string =>
  [`${method} ${path} HTTP/1.1`, 'Host: atrium.test', 'Content-Type: application/json', ...fields, '', ''].join('\r\n')

interface Held {
  socket: Socket
  /** What the server sent before it closed the connection. */
  answer: Promise<RawAnswer | undefined>
}

const sockets = new Set<Socket>()
after(() => sockets.forEach((socket) => socket.destroy()))

/** Sends the beginning of a request and holds the rest back. */
const hold = async (url: string, bytes: string): Promise<Held> => {
  const socket = await openSocket(url)
  sockets.add(socket)
  const chunks: Buffer[] = []
  socket.on('data', (chunk: Buffer) => void chunks.push(chunk))
  socket.on('error', () => undefined)
  const answer = new Promise<RawAnswer | undefined>((resolve) => {
    socket.once('close', () => resolve(parseAnswers(Buffer.concat(chunks).toString('latin1'))[0]))
  })
  socket.write(bytes)
  return { socket, answer }
}

const post = async (url: string, path: string, body: string): Promise<RawAnswer> => {
  const [answer] = await sendRaw(url, headOf(path, [`Content-Length: ${body.length}`, 'Connection: close']) + body)
  assert.ok(answer)
  return answer
}

const errorOf = (answer: RawAnswer | undefined): { code: string; message: string } => {
  assert.ok(answer, 'a response before the connection was closed')
  return (JSON.parse(answer.body) as { error: { code: string; message: string } }).error
}

describe('slow bodies', () => {
  test('a slow body gets an error after its deadline, on public and other routes', async () => {
    const { url } = await startServer({ bodyLimits: { bodyMs: 200, checkMs: 20 } })
    for (const path of ['/public', '/members']) {
      for (const field of ['Content-Length: 100', 'Content-Length: 900000', 'Transfer-Encoding: chunked']) {
        const { answer } = await hold(
          url,
          headOf(path, [field]) + (field.includes('chunked') ? '5\r\n{"a":\r\n' : '{"a":'),
        )
        const failed = await answer
        assert.equal(errorOf(failed).code, 'BAD_REQUEST', `${path} ${field}`)
        assert.match(errorOf(failed).message, /did not arrive within/)
        assert.equal(failed?.headers['connection'], 'close')
      }
    }
  })

  test('slow bodies of public routes never use more than their memory, and other requests are served', async () => {
    const publicBytes = 2 * megabyte
    const { app, url } = await startServer({
      bodyLimits: { publicBytes, publicBytesPerAddress: publicBytes, patienceMs: 50 },
    })
    const piece = '"'.padEnd(200 * kilobyte, 'x')
    const held: Held[] = []
    let most = 0
    for (let n = 0; n < 60; n++) {
      // oxlint-disable-next-line no-await-in-loop -- what arrives one after the other makes room, at once it is rejected
      held.push(await hold(url, headOf('/public', ['Content-Length: 900000']) + piece))
      // oxlint-disable-next-line no-await-in-loop
      await delay(10)
      most = Math.max(most, app.bodyIntake.publicBytes())
    }
    assert.ok(most > megabyte && most <= publicBytes, `${most} bytes`)
    const answer = await post(url, '/public', JSON.stringify('x'.repeat(100 * kilobyte)))
    assert.equal(answer.status, 200, answer.body)
    const first = await held[0]!.answer
    assert.equal(errorOf(first).code, 'SERVICE_UNAVAILABLE')
    assert.ok(Number(first?.headers['retry-after']) > 0)
    for (const { socket } of held) socket.destroy()
    await until('nothing is counted any more', () => app.bodyIntake.publicBytes() === 0)
  })

  test('slow bodies of one address do not block a small body of another address', async () => {
    const { app, url } = await startServer({
      trustProxy: true,
      bodyLimits: { publicBytes: megabyte, publicBytesPerAddress: 300 * kilobyte, patienceMs: 600_000 },
    })
    const from = (address: string) => ['Content-Length: 900000', `X-Forwarded-For: ${address}`]
    const piece = '"'.padEnd(250 * kilobyte, 'x')
    const first = await hold(url, headOf('/public', from('192.0.2.1')) + piece)
    await until('it is counted', () => app.bodyIntake.publicBytes() >= 250 * kilobyte)
    const second = await hold(url, headOf('/public', from('192.0.2.1')) + piece)
    assert.equal(errorOf(await second.answer).code, 'SERVICE_UNAVAILABLE')
    const other = await hold(url, headOf('/public', from('192.0.2.2')) + piece)
    await until('it is counted, too', () => app.bodyIntake.publicBytes() >= 500 * kilobyte)
    first.socket.destroy()
    other.socket.destroy()
  })

  test('the body of an authenticated request is not counted as memory of public routes', async () => {
    const { app, url } = await startServer()
    const { socket } = await hold(url, headOf('/members', ['Content-Length: 900000']) + '"'.padEnd(200 * kilobyte, 'x'))
    await until('it has arrived', () => socket.writableLength === 0)
    assert.equal((await post(url, '/members', '{}')).status, 200)
    assert.equal(app.bodyIntake.publicBytes(), 0)
    socket.destroy()
  })
})

test('a body in chunks of one byte, which uses forty times its size in memory, is rejected', async () => {
  const { url } = await startServer()
  for (const path of ['/public', '/members']) {
    const pieces = '1\r\n1\r\n'.repeat(100_000)
    const { answer } = await hold(url, headOf(path, ['Transfer-Encoding: chunked']) + pieces)
    assert.match(errorOf(await answer).message, /too many small chunks/)
  }
  const some = `${'1\r\n1\r\n'.repeat(1_000)}0\r\n\r\n`
  const [answer] = await sendRaw(url, headOf('/public', ['Transfer-Encoding: chunked', 'Connection: close']) + some)
  assert.equal(answer?.status, 200)
})

test('a public route without its own limit rejects bodies over 16 KB', async () => {
  const { url } = await startServer()
  assert.equal((await post(url, '/sign-in', JSON.stringify('x'.repeat(16_000)))).status, 200)
  // Nothing of the body is sent: the response does not wait for it.
  const { answer } = await hold(url, headOf('/sign-in', ['Content-Length: 16385', 'Connection: close']))
  assert.match(errorOf(await answer).message, /exceeds the size limit of this route/)
})

test('the body of a request for an unknown path is not awaited', async () => {
  const { url } = await startServer()
  const { answer } = await hold(url, headOf('/nowhere', ['Content-Length: 900000']) + 'x')
  assert.equal(errorOf(await answer).code, 'NOT_FOUND')
})

describe('an upload', () => {
  const bodyLimits = { uploadMs: 250, uploadBytes: kilobyte, bodyMs: 100, checkMs: 20 }

  test('a stalled upload is ended and its connection closed', async () => {
    const { url } = await startServer({ bodyLimits })
    const { answer } = await hold(url, headOf('/upload', ['Content-Length: 900000'], 'PUT') + 'x'.repeat(100))
    await answer
  })

  test('an upload that keeps sending may take longer than the body deadline', async () => {
    const { url } = await startServer({ bodyLimits: { ...bodyLimits, uploadMs: 1_500 } })
    const began = performance.now()
    const { socket, answer } = await hold(
      url,
      headOf('/upload', [`Content-Length: ${20 * 2 * kilobyte}`, 'Connection: close'], 'PUT'),
    )
    for (let n = 0; n < 20; n++) {
      socket.write('x'.repeat(2 * kilobyte))
      // oxlint-disable-next-line no-await-in-loop -- a slow client
      await delay(20)
    }
    assert.equal((await answer)?.body, '{"success":true,"bytes":40960}')
    assert.ok(performance.now() - began > bodyLimits.bodyMs)
  })
})

test('slow headers and silent connections are closed after their deadline', async () => {
  const { url } = await startServer({ headersTimeoutMs: 200 })
  const silent = await hold(url, '')
  const { socket, answer } = await hold(url, 'GET /nowhere HTTP/1.1\r\nHost: atrium.test\r\n')
  const trickle = setInterval(() => socket.writable && socket.write('X-Slow: 1\r\n'), 20)
  const failed = await answer
  clearInterval(trickle)
  assert.equal(failed?.status, 408)
  assert.equal(errorOf(failed).code, 'BAD_REQUEST')
  await silent.answer
})

describe('a connection', () => {
  const isOpen = ({ socket }: Held): boolean => !socket.destroyed

  test('a connection beyond the limit of its address is closed until another one ends', async () => {
    const { app, url } = await startServer({
      connectionLimits: { max: 0, maxPerAddress: 3, isExempt: () => false },
    })
    const held = [await hold(url, 'GET'), await hold(url, 'GET'), await hold(url, 'GET')]
    await until('they are counted', () => app.connections.open() === 3)
    const fourth = await hold(url, 'GET')
    assert.equal(await fourth.answer, undefined)
    assert.ok(held.every(isOpen))
    assert.equal(app.connections.rejected(), 1)
    held[0]!.socket.destroy()
    await until('there is room', () => app.connections.open() === 2)
    assert.equal((await post(url, '/members', '{}')).status, 200)
    for (const { socket } of held) socket.destroy()
  })

  test('a connection beyond the limit of the server is closed immediately', async () => {
    const { app, url } = await startServer({ connectionLimits: { max: 2, maxPerAddress: 0 } })
    const held = [await hold(url, 'GET'), await hold(url, 'GET')]
    await until('they are counted', () => app.connections.open() === 2)
    assert.equal(await (await hold(url, 'GET')).answer, undefined)
    assert.ok(held.every(isOpen))
    for (const { socket } of held) socket.destroy()
  })

  test('connections from this machine are not limited by address', async () => {
    const { app, url } = await startServer({ connectionLimits: { max: 0, maxPerAddress: 1 } })
    const held = [await hold(url, 'GET'), await hold(url, 'GET')]
    await until('both are open', () => app.connections.open() === 2)
    assert.ok(held.every(isOpen))
    for (const { socket } of held) socket.destroy()
  })

  test('a connection may have 32 requests that are not answered, and is closed with the next one', async () => {
    const { url } = await startServer()
    for (const field of ['Accept: */*', 'Expect: miracles']) {
      const requests = (count: number, last = ''): string =>
        `GET /none HTTP/1.1\r\nHost: a\r\n${field}\r\n\r\n`.repeat(count) + last
      const end = `GET /none HTTP/1.1\r\nHost: a\r\n${field}\r\nConnection: close\r\n\r\n`
      const answers = await sendRaw(url, requests(31, end))
      assert.deepEqual(
        answers.map(({ status }) => status),
        Array(32).fill(404),
      )
      assert.ok((await sendRaw(url, requests(2_000))).length <= 32)
    }
  })
})
