import assert from 'node:assert/strict'
import { connect } from 'node:net'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Type } from 'typebox'
import { until } from '../../../../test/support/until.ts'
import { createLog } from '../../process/log.ts'
import { createHttp } from '../http.ts'
import { registerLargeLists } from './large-lists.ts'

interface Reading {
  org: string
  person: string
  finish(characters: number): void
}

/** A server with a list whose requests are answered by the test. `x-reader` is `<org> <person>`. */
const startList = async (stallMs = 60_000) => {
  const app = createHttp({ log: createLog('silent'), production: false, trustProxy: false })
  const readerOf = ({ headers }: { headers: Record<string, unknown> }) => {
    const [orgId = '', userId = ''] = String(headers['x-reader']).split(' ')
    return { orgId, userId }
  }
  registerLargeLists(app, { readerOf, stallMs })
  const readings: Reading[] = []
  const handler = (request: { headers: Record<string, unknown> }): Promise<string> => {
    const { promise, resolve } = Promise.withResolvers<string>()
    const { orgId: org, userId: person } = readerOf(request)
    readings.push({ org, person, finish: (characters) => resolve('x'.repeat(characters)) })
    return promise
  }
  app.get('/list', { schema: { querystring: Type.Object({ limit: Type.Optional(Type.Integer()) }) } }, handler)
  app.get('/thing', handler)
  await app.ready()
  after(() => app.close())
  /** Waits until the requests that may start have started. */
  const started = async (): Promise<Reading[]> => {
    for (let turn = 0; turn < 20; turn += 1) await nextTurn()
    return readings
  }
  // `inject` sends the request only when somebody waits for the response.
  const get = (reader: string, url = '/list') =>
    app.inject({ url, headers: { 'x-reader': reader } }).then((response) => response)
  return { app, get, started }
}

const large = 300_000

const sendLarge = async ({ get, started }: Awaited<ReturnType<typeof startList>>, reader: string): Promise<void> => {
  const response = get(reader)
  ;(await started()).pop()?.finish(large)
  assert.equal((await response).statusCode, 200)
}

test('lists of an org that were large are read one at a time, its people take turns, and other orgs do not wait', async () => {
  const list = await startList()
  await sendLarge(list, 'one ann')
  const responses = ['one ann', 'one ann', 'one ann', 'one bob', 'two eve', 'two eve'].map((reader) => list.get(reader))
  const readings = await list.started()
  assert.deepEqual(
    readings.map(({ org, person }) => `${org} ${person}`),
    ['one ann', 'two eve', 'two eve'],
  )
  readings[0]?.finish(large)
  for (const [place, person] of [
    [3, 'ann'],
    [4, 'bob'],
    [5, 'ann'],
  ] as const) {
    // oxlint-disable-next-line no-await-in-loop -- one after another is what is tested
    const last = (await list.started()).at(-1)
    assert.deepEqual([readings.length, last?.person], [place + 1, person])
    last?.finish(large)
  }
  for (const reading of readings) reading.finish(1)
  for (const response of await Promise.all(responses)) assert.equal(response.statusCode, 200)
})

test('a list that has become small is read by any number of requests again', async () => {
  const list = await startList()
  await sendLarge(list, 'one ann')
  const small = list.get('one ann')
  ;(await list.started()).pop()?.finish(1)
  await small
  const responses = [list.get('one ann'), list.get('one ann')]
  const readings = await list.started()
  assert.equal(readings.length, 2)
  for (const reading of readings) reading.finish(1)
  await Promise.all(responses)
})

test('a request for a large list is SERVICE_UNAVAILABLE when its person has too many, and for others it is not', async () => {
  const list = await startList()
  await sendLarge(list, 'one ann')
  const responses = Array.from({ length: 21 }, () => list.get('one ann'))
  const { statusCode, headers } = await list.get('one ann')
  assert.deepEqual([statusCode, headers['retry-after']], [503, '5'])
  responses.push(list.get('one bob'), list.get('one ann', '/thing'))
  const answered = Promise.all(responses)
  for (let ended = 0; ended < responses.length; ended += 1) (await list.started())[ended]?.finish(1)
  for (const response of await answered) assert.equal(response.statusCode, 200)
})

/** Clients that send a request and read nothing of the response. */
const startSilent = async ({ app, started }: Awaited<ReturnType<typeof startList>>, count: number) => {
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as AddressInfo
  const sockets = Array.from({ length: count }, () => connect(port, '127.0.0.1').pause())
  after(() => {
    for (const socket of sockets) socket.destroy()
  })
  for (const socket of sockets) {
    socket.on('error', () => undefined)
    socket.write('GET /list HTTP/1.1\r\nHost: a\r\nX-Reader: one ann\r\n\r\n')
  }
  await until('all are read', async () => (await started()).length === count)
  for (const reading of await started()) reading.finish(12_000_000)
  return sockets
}

test('clients that do not receive their lists keep further ones of their org from being read, and not those of others', async () => {
  const list = await startList()
  const sockets = await startSilent(list, 2)
  await until('a request is rejected', async () => {
    const response = list.get('one ann')
    for (const reading of (await list.started()).slice(2)) reading.finish(large)
    return (await response).statusCode === 503
  })
  await sendLarge(list, 'two eve')
  for (const socket of sockets) socket.destroy()
  await until('they are read again', async () => {
    const response = list.get('one ann')
    for (const reading of await list.started()) reading.finish(1)
    return (await response).statusCode === 200
  })
})

test('a client that receives nothing of a large list is disconnected', async () => {
  const list = await startList(200)
  await startSilent(list, 1)
  await until(
    'the server closes the connection',
    () =>
      new Promise<boolean>((resolve) => {
        list.app.server.getConnections((_, count) => resolve(count === 0))
      }),
  )
})
