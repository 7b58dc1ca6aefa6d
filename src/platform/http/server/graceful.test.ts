import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { PassThrough } from 'node:stream'
import { after, describe, test } from 'node:test'
import { openSocket, parseAnswers } from '../../../../test/support/raw-http.ts'
import { stopGracefully } from './graceful.ts'
import { createHttp } from '../http.ts'
import { createLog } from '../../process/log.ts'

const startServer = async () => {
  const lines: string[] = []
  const log = createLog('info', { write: (line) => void lines.push(line) })
  const app = createHttp({ log, production: true, trustProxy: false })
  const held = Promise.withResolvers<void>()
  const arrived = Promise.withResolvers<void>()
  app.get('/quick', () => ({ success: true }))
  app.get('/held', async () => {
    arrived.resolve()
    await held.promise
    return { success: true, data: 'finished' }
  })
  app.get('/stream', (_request, reply) => {
    const stream = new PassThrough()
    stream.write('data: 1\n\n')
    app.stopping.addEventListener('abort', () => stream.end('data: bye\n\n'))
    return reply.type('text/event-stream').send(stream)
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  const address = app.server.address()
  if (address === null || typeof address === 'string') throw new Error('the server does not listen')
  const url = `http://127.0.0.1:${address.port}`
  const events: string[] = []
  const stop = (deadlineMs: number, stopJobs: () => Promise<void> = async () => undefined) =>
    stopGracefully({
      app,
      log,
      deadlineMs,
      stopJobs,
      close: async () => void events.push('closed'),
    })
  after(() => app.close())
  return { app, url, held, arrived, lines, events, stop }
}

/** What arrives on a socket until the server closes it. */
const collect = (socket: Socket): Promise<string> =>
  new Promise((resolve) => {
    const chunks: Buffer[] = []
    socket.on('data', (chunk: Buffer) => void chunks.push(chunk))
    socket.on('error', () => undefined)
    socket.once('close', () => resolve(Buffer.concat(chunks).toString('latin1')))
  })

const get = (path: string): string => `GET ${path} HTTP/1.1\r\nhost: a\r\n\r\n`

describe('stopping', () => {
  test('a running response is completed and its connection is closed', { timeout: 60_000 }, async () => {
    const { app, url, held, arrived, events, stop } = await startServer()
    const socket = await openSocket(url)
    const received = collect(socket)
    socket.write(get('/held'))
    await arrived.promise
    const stopped = stop(60_000)
    await once(app.stopping, 'abort')
    assert.deepEqual(events, [], 'the database stays open while a request runs')
    held.resolve()
    const [answer] = parseAnswers(await received)
    assert.equal(answer?.status, 200)
    assert.equal(answer?.headers['connection'], 'close')
    assert.deepEqual(JSON.parse(answer?.body ?? ''), { success: true, data: 'finished' })
    await stopped
    assert.deepEqual(events, ['closed'])
  })

  test('idle connections are closed and new ones are rejected immediately', { timeout: 60_000 }, async () => {
    const { url, held, arrived, stop } = await startServer()
    const busy = await openSocket(url)
    const busyEnd = collect(busy)
    busy.write(get('/held'))
    const idle = await openSocket(url)
    idle.write(get('/quick'))
    await once(idle, 'data')
    await arrived.promise
    const idleEnd = collect(idle)
    const stopped = stop(60_000)
    await idleEnd
    assert.equal(busy.closed, false)
    await assert.rejects(openSocket(url), { code: 'ECONNREFUSED' })
    held.resolve()
    await Promise.all([busyEnd, stopped])
  })

  test(
    'a request that comes in on an open connection meanwhile is answered, and not kept alive',
    { timeout: 60_000 },
    async () => {
      const { url, held, arrived, stop } = await startServer()
      const socket = await openSocket(url)
      const received = collect(socket)
      // Pipelined behind the one that runs.
      socket.write(get('/held'))
      await arrived.promise
      const stopped = stop(60_000)
      socket.write(get('/quick'))
      held.resolve()
      const statuses = parseAnswers(await received).map(({ status }) => status)
      assert.equal(statuses[0], 200)
      await stopped
    },
  )

  test('streams are notified and end completely', { timeout: 60_000 }, async () => {
    const { url, stop } = await startServer()
    const socket = await openSocket(url)
    const received = collect(socket)
    socket.write(get('/stream'))
    await once(socket, 'data')
    await stop(60_000)
    assert.match(await received, /data: 1\n\n[^]*data: bye\n\n\r\n0\r\n\r\n$/)
  })

  test(
    'at the deadline what still runs is cut off, said so, and the rest is closed all the same',
    { timeout: 60_000 },
    async () => {
      const { url, arrived, events, lines, stop } = await startServer()
      const socket = await openSocket(url)
      const received = collect(socket)
      socket.write(get('/held'))
      await arrived.promise
      await stop(50)
      assert.equal(await received, '')
      assert.deepEqual(events, ['closed'])
      assert.ok(lines.some((line) => line.includes('cut off')))
    },
  )

  test(
    'jobs finish while requests do, with the same deadline, and before anything is closed',
    { timeout: 60_000 },
    async () => {
      const { events, stop } = await startServer()
      const job = Promise.withResolvers<void>()
      const stopped = stop(60_000, async () => {
        await job.promise
        events.push('job finished')
      })
      job.resolve()
      await stopped
      assert.deepEqual(events, ['job finished', 'closed'])
    },
  )

  test(
    'a part that fails to stop does not prevent others from stopping, and its error is thrown',
    { timeout: 60_000 },
    async () => {
      const { app, events, stop } = await startServer()
      await assert.rejects(
        stop(1_000, () => Promise.reject(new Error('jobs'))),
        /jobs/,
      )
      assert.deepEqual(events, ['closed'])
      assert.equal(app.server.listening, false)
    },
  )
})
