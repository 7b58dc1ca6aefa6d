import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startReceiver } from '../../test/fakes/receiver.ts'
import { startTestApp } from '../../test/harness.ts'
import type { TestActor } from '../../test/harness.ts'
import { createEndpoint } from '../../test/support/event-endpoints.ts'
import { until } from '../../test/support/until.ts'

const app = await startTestApp({ OUTBOUND_ALLOW_CIDRS: '127.0.0.0/8', RATE_LIMIT_READS: '0' })
const types = ['api_key.*', 'connection.*', 'agent.*']

const call = async (as: TestActor, method: string, path: string, json?: object) => {
  const headers = await app.stepUp(as)
  const answer = await app.call(method, `/api/v1${path}`, { as, headers, ...(json ? { json } : {}) })
  assert.ok(answer.status < 300, answer.text)
  return answer.body.data
}

interface Seen {
  id: string
  type: string
}

const polled = async (as: TestActor): Promise<Seen[]> =>
  (await call(as, 'GET', '/events?limit=100')).items.map(({ id, type }: Seen) => ({ id, type }))

/** The text that a stream has received so far. */
const listen = async (as: TestActor): Promise<() => string> => {
  const abort = new AbortController()
  after(() => abort.abort())
  const response = await fetch(`${app.url}/api/v1/events/stream?after=0`, {
    headers: { authorization: `Bearer ${as.key}` },
    signal: abort.signal,
  })
  let text = ''
  const read = async (): Promise<void> => {
    const decoder = new TextDecoder()
    for await (const chunk of response.body ?? []) text += decoder.decode(chunk as Uint8Array, { stream: true })
  }
  void read().catch(() => undefined)
  return () => text
}

test('every reader gets the events of connections as their owner only, and those of API keys also as an admin', async () => {
  const admin = await app.createOrg()
  const [person, other] = [await app.createUser(admin, 'member'), await app.createUser(admin, 'member')]
  const { key } = await call(person, 'POST', '/api-keys', { name: 'Narrow', scopes: ['agents:read'] })
  const narrow = { ...person, key }
  const readers = { person, other, admin, narrow }
  const receivers = new Map<string, Awaited<ReturnType<typeof startReceiver>>>()
  for (const [name, as] of Object.entries({ person, other, admin })) {
    const receiver = await startReceiver()
    receivers.set(name, receiver)
    await createEndpoint(app, as, { name, url: receiver.url, types })
  }
  await call(person, 'POST', '/api-keys', { name: 'Second' })
  const { connection } = await call(person, 'POST', '/connections', { connectorSlug: 'telegram', label: 'private' })
  // Everybody reads it, and it comes last.
  await call(admin, 'POST', '/agents', { name: 'Last' })
  const expected: Record<string, string[]> = {
    person: ['api_key.created', 'api_key.created', 'connection.created', 'agent.created'],
    admin: ['api_key.created', 'api_key.created', 'agent.created'],
    other: ['agent.created'],
    narrow: ['agent.created'],
  }

  for (const [name, as] of Object.entries(readers)) {
    const events = await until(
      () => polled(as),
      (found) => found.some(({ type }) => type === 'agent.created'),
    )
    assert.deepEqual(
      events.map(({ type }) => type).filter((type) => !type.startsWith('event_endpoint.')),
      expected[name],
      `the log of ${name}`,
    )
    const text = await listen(as)
    await until(`the stream of ${name} has the last event`, () => text().includes('"agent.created"'))
    assert.deepEqual(
      [...text().matchAll(/"type":"((?:api_key|connection|agent)\.[a-z]+)"/g)].map(([, type]) => type),
      expected[name],
      `the stream of ${name}`,
    )
  }
  for (const [name, receiver] of receivers) {
    const arrived = (): string[] => receiver.arrivals.map(({ body }) => (JSON.parse(body.toString()) as Seen).type)
    // The first key was created before the endpoints.
    const wanted = expected[name]!.filter((type, at) => type !== 'api_key.created' || at > 0)
    await until(`${name} has all deliveries`, () => arrived().length >= wanted.length)
    assert.deepEqual(arrived().toSorted(), wanted.toSorted(), `the endpoint of ${name}`)
  }

  const ofPerson = await polled(person)
  const statusFor = async (as: TestActor, type: string): Promise<number> => {
    const event = ofPerson.find((one) => one.type === type)
    return (await app.call('GET', `/api/v1/events/${event?.id}`, { as })).status
  }
  assert.deepEqual(
    await Promise.all(
      Object.values(readers).map(async (as) => [
        await statusFor(as, 'connection.created'),
        await statusFor(as, 'api_key.created'),
      ]),
    ),
    [
      [200, 200],
      [404, 404],
      [404, 200],
      [404, 404],
    ],
  )
  const filtered = await app.call('GET', `/api/v1/events?subjectId=${connection.id}`, { as: admin })
  assert.deepEqual(filtered.body.data.items, [])
})
