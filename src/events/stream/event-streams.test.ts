import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { startTestApp } from '../../../test/harness.ts'
import type { TestActor, TestApp } from '../../../test/harness.ts'
import { createAgent } from '../../../test/support/chat.ts'
import { until } from '../../../test/support/until.ts'
import { sql } from '../../platform/database/database.ts'
import { newId } from '../../platform/ids.ts'
import { noWakeups } from '../../platform/wake/wakeups.ts'
import { createEventStreams } from './event-streams.ts'

const env = { RATE_LIMIT_READS: '0', RATE_LIMIT_WRITES: '0' }
const app = await startTestApp(env)
const other = await app.secondServer(env)

interface Received {
  id: string
  name: string
  retry: string | undefined
  // oxlint-disable-next-line typescript/no-explicit-any -- fields of events of any type
  data: any
}

interface Stream {
  status: number
  received: Received[]
  /** The ids of the events, without `open` and `error`. */
  ids(): string[]
  isEnded(): boolean
  close(): void
}

const closing: (() => void)[] = []
after(() => closing.forEach((close) => close()))

const parse = (frame: string): Received | undefined => {
  const fields = new Map(
    frame.split('\n').map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]),
  )
  const data = fields.get('data')
  return data === undefined
    ? undefined
    : {
        id: fields.get('id') ?? '',
        name: fields.get('event') ?? 'message',
        retry: fields.get('retry'),
        data: JSON.parse(data),
      }
}

const open = async (
  server: TestApp,
  as: TestActor,
  query = '',
  headers: Record<string, string> = {},
): Promise<Stream> => {
  const abort = new AbortController()
  closing.push(() => abort.abort())
  const response = await fetch(`${server.url}/api/v1/events/stream${query}`, {
    headers: { authorization: `Bearer ${as.key}`, ...headers },
    signal: abort.signal,
  })
  const received: Received[] = []
  let isEnded = false
  const read = async (): Promise<void> => {
    const decoder = new TextDecoder()
    let text = ''
    try {
      for await (const chunk of response.body ?? []) {
        text += decoder.decode(chunk as Uint8Array, { stream: true })
        const frames = text.split('\n\n')
        text = frames.pop() ?? ''
        received.push(...frames.map(parse).filter((frame) => frame !== undefined))
      }
    } catch {
      // The test closed the stream.
    }
    isEnded = true
  }
  void read()
  const stream: Stream = {
    status: response.status,
    received,
    ids: () => received.filter(({ name }) => name === 'message').map(({ data }) => data.id),
    isEnded: () => isEnded,
    close: () => abort.abort(),
  }
  if (response.status === 200) await seen(stream, () => received.length > 0)
  return stream
}

const seen = (stream: Stream, isThere: () => boolean): Promise<unknown> =>
  until(
    () => Promise.resolve(isThere()),
    (found) => found,
  ).catch((error: unknown) => assert.fail(`${String(error)}: ${JSON.stringify(stream.received)}`))

const subjectsOf = (stream: Stream): string[] =>
  stream.received.filter(({ name }) => name === 'message').map(({ data }) => data.subject.id)

let made = 0
const makeAgent = async (as: TestActor): Promise<string> => {
  made += 1
  return (await createAgent(app, as, { name: `Agent ${made}` })).id
}

const logOf = async (as: TestActor): Promise<string[]> =>
  (await app.call('GET', '/api/v1/events?limit=100&types=agent.*', { as })).body.data.items.map(
    ({ id }: { id: string }) => id,
  )

/** Adds copies of the only event about an agent to the log. */
const repeatEvent = async (
  owner: TestActor,
  { times, nameLength }: { times: number; nameLength: number },
): Promise<void> => {
  const readPosition = async (): Promise<number> => {
    const { body } = await app.call('GET', '/api/v1/events?types=agent.*', { as: owner })
    return Number(body.data.items[0]?.position ?? 0)
  }
  // Events are published after the response to the request that caused them.
  const position = await until(readPosition, (value) => value > 0)
  await app.db.execute(sql`
    insert into events (org_id, id, position, type, version, workspace_id, actor, subject_type, subject_id, sequence,
      data, chain_id, depth, occurred_at)
    select org_id, uuid_at(now() + n * interval '1 ms'), position + n, type, version, workspace_id, actor, subject_type, subject_id,
      sequence + n, data || jsonb_build_object('name', repeat('x', ${nameLength}::integer)), chain_id, depth, occurred_at
    from events, generate_series(1, ${times}::integer) n where org_id = ${owner.orgId} and position = ${position}`)
  await app.db.execute(sql`
    update event_heads set position = ${position + times} where org_id = ${owner.orgId}`)
}

test('a person has at most 100 streams of older events at a time, and any number of new ones', async () => {
  const owner = await app.createOrg()
  const member = await app.createUser(owner)
  await makeAgent(owner)
  // Far more than the connections of the streams can hold, so that streams that are not read stay behind.
  await repeatEvent(owner, { times: 400, nameLength: 50_000 })
  const abort = new AbortController()
  closing.push(() => abort.abort())
  const ask = async (as: TestActor, query: string): Promise<Response> =>
    fetch(`${app.url}/api/v1/events/stream${query}`, {
      headers: { authorization: `Bearer ${as.key}` },
      signal: abort.signal,
    })
  const responses = await Promise.all(Array.from({ length: 110 }, () => ask(owner, '?after=0')))
  const statuses = responses.map(({ status }) => status)
  assert.deepEqual([statuses.filter((one) => one === 200).length, new Set(statuses)], [100, new Set([200, 429])])
  const rejected = responses.find(({ status }) => status === 429)
  assert.equal(rejected?.headers.get('retry-after'), '5')
  assert.equal((await ask(owner, '')).status, 200)
  assert.equal((await ask(member, '?after=0')).status, 200)
  abort.abort()
})

test('a new event does not wait for a stream that still sends older ones', async () => {
  const owner = await app.createOrg()
  await makeAgent(owner)
  const older = 20_000
  await repeatEvent(owner, { times: older, nameLength: 1 })
  const stream = await open(app, owner, '?types=agent.*')
  const behind = await open(app, owner, '?types=agent.*&after=0')
  const agent = await makeAgent(owner)
  await until('the new event arrives', () => stream.ids().length > 0)
  assert.deepEqual(subjectsOf(stream), [agent])
  assert.ok(behind.ids().length < older, `${behind.ids().length} older events were sent before`)
  await until('the older events and the new one arrive', () => behind.ids().length === older + 2)
  const positions = behind.received.filter(({ name }) => name === 'message').map(({ id }) => Number(id))
  assert.deepEqual(
    positions,
    positions.toSorted((a, b) => a - b),
  )
  assert.equal(new Set(positions).size, positions.length)
})

test('a stream that begins while the log is read does not make another one skip the newest event', async () => {
  const [orgId, id] = [newId(), newId()]
  const event = {
    orgId,
    id,
    position: 11n,
    type: 'agent.created',
    version: 1,
    workspaceId: null,
    ownerId: null,
    actor: { type: 'system', id: null, name: 'Test', apiKeyId: null },
    subjectType: 'agent',
    subjectId: id,
    sequence: 1n,
    data: {},
    chainId: id,
    depth: 0,
    occurredAt: '2026-11-27T00:00:00.000Z',
  }
  const first = Promise.withResolvers<object[]>()
  let reads = 0
  const rows = (): Promise<object[]> => {
    reads += 1
    return reads === 1 ? first.promise : Promise.resolve([event])
  }
  const streams = createEventStreams({
    db: { hot: { rows }, onSignal: () => undefined } as never,
    log: app.deps.log,
    wakeups: noWakeups,
  })
  const sent: string[] = []
  const reader = {
    userId: id,
    accepts: () => true,
    reader: () => ({ orgId, userId: id, role: 'owner' as const, workspaceIds: [] }),
    write: (text: string) => sent.push(text) > 0,
  }
  streams.subscribe(orgId, { after: 10n, head: 10n }, reader)
  await until('the log is read', () => reads === 1)
  streams.subscribe(orgId, { after: 11n, head: 11n }, { ...reader, write: () => true })
  first.resolve([])
  await until('the event arrives', () => sent.length === 1, 5_000)
  assert.match(sent[0] ?? '', /^id: 11\n/)
  await streams.close()
})

const disconnects = 30
const timers = (): number => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length

describe('a stream of events', () => {
  test('leaves nothing behind for clients that disconnect before the stream opens', async () => {
    const owner = await app.createOrg()
    const before = timers()
    const abort = new AbortController()
    await app.db.transaction('all orgs', async (db) => {
      // The position at which the stream begins cannot be read until the transaction ends.
      await db.execute(sql`lock table event_heads in access exclusive mode`)
      const requests = Array.from({ length: disconnects }, () =>
        fetch(`${app.url}/api/v1/events/stream`, {
          headers: { authorization: `Bearer ${owner.key}` },
          signal: abort.signal,
        }),
      )
      await until('the server waits for the position', async () => {
        const row = await db.row<{ n: number }>(sql`
          select count(*)::int as n from pg_locks where relation = 'event_heads'::regclass and not granted`)
        return (row?.n ?? 0) > 0
      })
      abort.abort()
      await Promise.allSettled(requests)
    })
    const stream = await open(app, owner)
    stream.close()
    await until('no stream has a timer', () => timers() < before + disconnects / 2)
  })

  for (const [where, server] of [
    ['the process of the change', app],
    ['another process', other],
  ] as const) {
    test(`sends new events of the org from ${where}, and none of other orgs`, async () => {
      const [owner, stranger] = [await app.createOrg(), await app.createOrg()]
      await makeAgent(owner)
      await until(
        () => logOf(owner),
        (ids) => ids.length === 1,
      )
      const stream = await open(server, owner, '?types=agent.*')
      await makeAgent(stranger)
      const ids = [await makeAgent(owner), await makeAgent(owner)]
      await seen(stream, () => stream.ids().length >= 2)
      assert.deepEqual(subjectsOf(stream), ids)
      const [, first] = stream.received
      assert.equal(first?.id, String(first?.data.position))
      assert.deepEqual(
        first?.data,
        (await app.call('GET', `/api/v1/events/${first?.data.id}`, { as: owner })).body.data,
      )
    })
  }

  test('continues after Last-Event-ID without a gap and without a repetition', async () => {
    const owner = await app.createOrg()
    const stream = await open(app, owner, '?types=agent.*')
    for (let n = 0; n < 3; n += 1) await makeAgent(owner)
    await seen(stream, () => stream.ids().length >= 3)
    const second = stream.received.filter(({ name }) => name === 'message')[1]!
    stream.close()
    for (let n = 0; n < 3; n += 1) await makeAgent(owner)
    const resumed = await open(other, owner, '?types=agent.*', { 'last-event-id': second.id })
    await makeAgent(owner)
    await seen(resumed, () => resumed.ids().length >= 5)
    assert.deepEqual(resumed.ids(), (await logOf(owner)).slice(2))
  })

  test('begins with the oldest event after 0, although there are more than one read returns', async () => {
    const owner = await app.createOrg()
    await app.db.execute(sql`
      insert into event_outbox (org_id, id, type, actor, subject_type, subject_id, data)
      select ${owner.orgId}, uuid_at(now() + n * interval '1 ms'), 'agent.deleted',
        '{"type":"system","id":null,"name":"T","apiKeyId":null}', 'agent', gen_random_uuid(),
        '{"agentId":"01a1fc7d-9fd0-79dc-a335-45f9cc19b81e","name":"n","slug":"s"}'
      from generate_series(1, 1234) n`)
    const stream = await open(other, owner, '?after=0&types=agent.deleted')
    await seen(stream, () => stream.ids().length >= 1234)
    const positions = stream.received.slice(1).map(({ data }) => data.position)
    assert.deepEqual(
      positions,
      positions.toSorted((a, b) => a - b),
    )
    assert.equal(new Set(positions).size, 1234)
  })

  test('leaves out events of workspaces that the reader is not in, and of areas that the key may not read', async () => {
    const owner = await app.createOrg()
    const outside = await app.createUser(owner, 'member', { inWorkspace: false })
    const narrow = await app.createUser(owner, 'owner', { scopes: ['files:read'] })
    const streams = [await open(app, outside), await open(app, narrow), await open(app, owner)] as const
    const id = await makeAgent(owner)
    await seen(streams[2], () => subjectsOf(streams[2]).includes(id))
    for (const as of [outside, narrow]) {
      const { items } = (await app.call('GET', '/api/v1/events', { as })).body.data
      assert.ok(!items.some(({ subject }: { subject: { id: string } }) => subject.id === id))
    }
    assert.ok(![...subjectsOf(streams[0]), ...subjectsOf(streams[1])].includes(id))
  })

  test('ends when its reader is removed from the workspace of the request', async () => {
    const owner = await app.createOrg()
    const member = await app.createUser(owner)
    const stream = await open(app, member, '?types=agent.*')
    const kept = await makeAgent(owner)
    await seen(stream, () => stream.ids().length === 1)
    const path = `/api/v1/workspaces/${owner.workspaceId}/members/${member.userId}`
    assert.equal((await app.call('DELETE', path, { as: owner })).status, 200)
    await seen(stream, () => stream.isEnded())
    await makeAgent(owner)
    assert.deepEqual(subjectsOf(stream), [kept])
  })

  test('sends events of all workspaces as soon as its reader is an admin, and the others without a gap', async () => {
    const owner = await app.createOrg()
    const member = await app.createUser(owner)
    const stream = await open(other, member, '?types=agent.*')
    const workspace = (await app.call('POST', '/api/v1/workspaces', { as: owner, json: { name: 'Second' } })).body.data
    const makeThere = async (): Promise<string> => {
      const headers = { 'x-workspace-id': workspace.id }
      made += 1
      const json = { name: `Agent ${made}` }
      return (await app.call('POST', '/api/v1/agents', { as: owner, json, headers })).body.data.id
    }
    const hidden = await makeThere()
    const own = await makeAgent(owner)
    await seen(stream, () => stream.ids().length === 1)
    const row = await app.db.row<{ id: string }>(
      sql`select id from members where org_id = ${owner.orgId} and user_id = ${member.userId}`,
    )
    const { status, text } = await app.call('PATCH', `/api/v1/members/${row?.id}`, {
      as: owner,
      headers: await app.stepUp(owner),
      json: { role: 'admin' },
    })
    assert.equal(status, 200, text)
    const visible = [own]
    await until(
      async () => {
        visible.push(await makeAgent(owner))
        const id = await makeThere()
        await seen(stream, () => subjectsOf(stream).includes(visible.at(-1) as string))
        return subjectsOf(stream).includes(id)
      },
      (found) => found,
    )
    assert.ok(!subjectsOf(stream).includes(hidden))
    const own1 = subjectsOf(stream).filter((id) => visible.includes(id))
    assert.deepEqual(own1, visible)
  })

  test('ends with an error when the API key of its reader is revoked', async () => {
    const owner = await app.createOrg()
    const reader = await app.createUser(owner)
    const stream = await open(other, reader)
    await app.call('DELETE', `/api/v1/api-keys/${reader.apiKeyId}`, { as: owner, headers: await app.stepUp(owner) })
    await seen(stream, () => stream.isEnded())
    assert.equal(stream.received.at(-1)?.name, 'error')
    const before = stream.ids().length
    await makeAgent(owner)
    assert.equal(stream.ids().length, before)
  })

  test('ends with `end` and a time to reconnect when its server stops, and continues at another without a gap', async () => {
    const owner = await app.createOrg()
    const stopping = await app.secondServer(env, { work: false })
    const stream = await open(stopping, owner, '?types=agent.*')
    await makeAgent(owner)
    await seen(stream, () => stream.ids().length === 1)
    await stopping.app.close()
    await seen(stream, () => stream.isEnded())
    const names = stream.received.map(({ name }) => name)
    assert.deepEqual(names, ['open', 'message', 'end'])
    const last = stream.received.at(-1)
    assert.deepEqual([last?.id, last?.data], ['', {}])
    assert.ok(Number(last?.retry) >= 1_000 && Number(last?.retry) <= 3_000, String(last?.retry))
    await makeAgent(owner)
    const resumed = await open(app, owner, '?types=agent.*', { 'last-event-id': String(stream.received[1]?.id) })
    await seen(resumed, () => resumed.ids().length === 1)
    assert.deepEqual([...stream.ids(), ...resumed.ids()], await logOf(owner))
  })

  test('rejects a type that does not exist', async () => {
    const owner = await app.createOrg()
    for (const types of ['agent.exploded', 'nonsense.*', 'agent', '']) {
      const { status } = await app.call('GET', `/api/v1/events/stream?types=${types}`, { as: owner })
      assert.equal(status, 400, types)
    }
  })
})
