import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Type } from 'typebox'
import { createLog } from '../../process/log.ts'
import { createHttp } from '../http.ts'
import { registerLargeLists } from './large-lists.ts'

interface Reading {
  org: string
  person: string
  finish(characters: number): void
}

/** A server with a list whose requests are answered by the test. `x-reader` is `<org> <person>`. */
const startList = async () => {
  const app = createHttp({ log: createLog('silent'), production: false, trustProxy: false })
  const readerOf = ({ headers }: { headers: Record<string, unknown> }) => {
    const [orgId = '', userId = ''] = String(headers['x-reader']).split(' ')
    return { orgId, userId }
  }
  registerLargeLists(app, { readerOf })
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
  // `inject` sends the request only when it is awaited.
  const get = async (reader: string, url = '/list') => await app.inject({ url, headers: { 'x-reader': reader } })
  return { get, started }
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
