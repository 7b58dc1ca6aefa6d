import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { startTestApp } from '../../../../test/harness.ts'
import type { TestActor } from '../../../../test/harness.ts'
import { serveThings, thingsTable } from '../../../../test/support/things.ts'
import { until } from '../../../../test/support/until.ts'
import { sql } from '../../database/database.ts'
import { expireKeys } from './idempotency.ts'

const { deps, db, createOrg, createUser, call, stepUp } = await startTestApp()
await db.execute(thingsTable)

const gates = new Map<string, Promise<void>>()
const { app, url } = await serveThings(deps, { beforeWork: async (name) => gates.get(name) })
after(() => app.close())

const owner = await createOrg()

let names = 0
const newName = (): string => `thing ${(names += 1)}`
const newKey = (): string => `key ${(names += 1)}`

interface Sent {
  status: number
  headers: Headers
  text: string
  replayed: boolean
}

const post = async (
  path: string,
  key: string | undefined,
  body?: object | Uint8Array<ArrayBuffer>,
  { as = owner, more = {} }: { as?: TestActor; more?: Record<string, string> } = {},
): Promise<Sent> => {
  const headers = new Headers({ authorization: `Bearer ${as.key}`, ...more })
  if (key !== undefined) headers.set('idempotency-key', key)
  if (body) headers.set('content-type', body instanceof Uint8Array ? 'application/octet-stream' : 'application/json')
  const answer = await fetch(url + path, {
    method: 'POST',
    headers,
    body: body instanceof Uint8Array ? body : body ? JSON.stringify(body) : null,
  })
  return {
    status: answer.status,
    headers: answer.headers,
    text: await answer.text(),
    replayed: answer.headers.get('idempotency-replayed') === 'true',
  }
}
const create = (key: string | undefined, name: string, more: object = {}, as: TestActor = owner) =>
  post('/things', key, { name, ...more }, { as })

const countOf = async (name: string): Promise<number> =>
  (await db.row<{ count: number }>(sql`select count(*)::int as count from things where name = ${name}`))!.count
const rowOf = (key: string) =>
  db.row<{ state: string; body: string | null }>(sql`select state, body from idempotency_keys where key = ${key}`)
const messageOf = (sent: Sent): string => (JSON.parse(sent.text) as { error: { message: string } }).error.message
const codeOf = (sent: Sent): string => (JSON.parse(sent.text) as { error: { code: string } }).error.code

describe('the same key with the same request', () => {
  test('a repeated request is executed once and gets the same response without the secret', async () => {
    const [key, name] = [newKey(), newName()]
    const first = await create(key, name)
    const second = await create(key, name)
    const third = await create(key, name)
    assert.equal(first.status, 201)
    assert.deepEqual([first.replayed, second.replayed, third.replayed], [false, true, true])
    assert.equal(second.status, 201)
    assert.deepEqual(
      [second.headers.get('location'), second.headers.get('etag')],
      [first.headers.get('location'), '"1"'],
    )
    assert.match(first.text, /only once/)
    assert.equal(second.text, first.text.replace(',"secret":"only once"', ''))
    assert.equal(third.text, second.text)
    assert.doesNotMatch((await rowOf(key))!.body!, /only once/)
    assert.equal(await countOf(name), 1)
  })

  test('a request that is sent 20 times at once is executed once, and the others get CONFLICT or its response', async () => {
    const [key, name] = [newKey(), newName()]
    const answers = await Promise.all(Array.from({ length: 20 }, () => create(key, name)))
    assert.equal(await countOf(name), 1)
    assert.equal(answers.filter((answer) => answer.status === 201 && !answer.replayed).length, 1)
    for (const answer of answers) assert.ok(answer.status === 201 || codeOf(answer) === 'CONFLICT', answer.text)
  })

  test('a repeated request is CONFLICT with Retry-After while the first is running and a replay afterwards', async () => {
    const [key, name] = [newKey(), newName()]
    const gate = Promise.withResolvers<void>()
    gates.set(name, gate.promise)
    const first = create(key, name)
    await until('the key is claimed', async () => (await rowOf(key)) !== undefined)
    const early = await create(key, name)
    assert.equal(early.status, 409)
    assert.equal(early.headers.get('retry-after'), '1')
    gate.resolve()
    await first
    assert.equal((await create(key, name)).replayed, true)
    assert.equal(await countOf(name), 1)
  })

  test('an empty response is replayed as an empty response', async () => {
    const key = newKey()
    assert.deepEqual([(await post('/nothing', key)).status, (await post('/nothing', key)).status], [204, 204])
    assert.equal((await post('/nothing', key)).replayed, true)
  })

  test('the responses 402, 409 and 422 are replayed', async () => {
    for (const [failWith, status] of [
      ['paymentRequired', 402],
      ['conflict', 409],
      ['validation', 422],
    ] as const) {
      const [key, name] = [newKey(), newName()]
      const first = await create(key, name, { failWith })
      const second = await create(key, name, { failWith })
      assert.deepEqual([first.status, second.status, second.replayed], [status, status, true])
      assert.equal(second.text, first.text)
    }
  })

  test('a request is executed again after an early rejection, a failure or a serialization conflict', async () => {
    for (const [body, status] of [
      [{ failWith: 'badRequest' }, 400],
      [{ failWith: 'notFound' }, 404],
      [{ failWith: 'broken' }, 500],
      [{ serialization: true }, 409],
    ] as const) {
      const [key, name] = [newKey(), newName()]
      assert.equal((await create(key, name, body)).status, status)
      assert.equal(await rowOf(key), undefined)
      assert.equal((await create(key, name)).status, 201)
    }
  })

  test('a request that its schema rejects does not use the key', async () => {
    const key = newKey()
    assert.equal((await post('/things', key, { name: 5 })).status, 400)
    assert.equal((await post('/things', key, { name: newName() })).status, 201)
  })

  test('a request that failed after its commit is not executed again', async () => {
    const [key, name] = [newKey(), newName()]
    assert.equal((await create(key, name, { breakAfter: true })).status, 500)
    const again = await create(key, name, { breakAfter: true })
    assert.equal(again.status, 409)
    assert.match(messageOf(again), /was executed/)
    assert.equal(await countOf(name), 1)
  })
})

describe('the same key', () => {
  test('a key with another body, path, query or workspace is CONFLICT and executes nothing', async () => {
    const [key, name] = [newKey(), newName()]
    await create(key, name)
    const other = newName()
    assert.equal(codeOf(await create(key, other)), 'CONFLICT')
    assert.equal(codeOf(await post('/things?more=1', key, { name })), 'CONFLICT')
    assert.equal(
      codeOf(await post('/things', key, { name }, { more: { 'x-workspace-id': await otherWorkspace() } })),
      'CONFLICT',
    )
    assert.equal(await countOf(other), 0)
    const touch = newKey()
    assert.equal((await post('/things/a/touch', touch)).status, 200)
    assert.equal(codeOf(await post('/things/b/touch', touch)), 'CONFLICT')
    assert.equal(await countOf('touched b'), 0)
  })

  test('the same key of another org, member or route is independent', async () => {
    const [key, name] = [newKey(), newName()]
    const stranger = await createOrg()
    const colleague = await createUser(owner)
    for (const actor of [owner, stranger, colleague]) {
      const sent = await create(key, name, {}, actor)
      assert.deepEqual([sent.status, sent.replayed], [201, false])
    }
    assert.equal(await countOf(name), 3)
    assert.equal((await post('/things/c/touch', key)).replayed, false)
  })

  test('the same key with an API key of other scopes is CONFLICT, and with one of the same scopes a replay', async () => {
    const mint = async (scopes: string[]): Promise<TestActor> => {
      const json = { name: 'N', scopes }
      const { body } = await call('POST', '/api/v1/api-keys', { as: owner, json, headers: await stepUp(owner) })
      return { ...owner, key: body.data.key }
    }
    const [full, narrow, same] = [await mint([]), await mint(['files:read']), await mint(['files:read'])]
    const [key, name] = [newKey(), newName()]
    await create(key, name)
    assert.equal((await create(key, name, {}, full)).replayed, true)
    assert.equal(codeOf(await create(key, name, {}, narrow)), 'CONFLICT')
    const own = newKey()
    await create(own, name, {}, narrow)
    assert.equal((await create(own, name, {}, same)).replayed, true)
    assert.equal(codeOf(await create(own, name)), 'CONFLICT')
    assert.equal(await countOf(name), 2)
  })

  test('a key can be used again after 24 hours', async () => {
    for (const state of ['done', 'committed', 'running'] as const) {
      const [key, name] = [newKey(), newName()]
      await create(key, name)
      await db.execute(sql`
        update idempotency_keys set state = ${state}, created_at = now() - interval '24 hours 1 second',
          claimed_until = now() - interval '23 hours',
          status = case when ${state} = 'done' then status end, headers = case when ${state} = 'done' then headers end,
          body = case when ${state} = 'done' then body end
        where key = ${key}`)
      const again = await create(key, `${name} again`)
      assert.deepEqual([again.status, again.replayed], [201, false], state)
    }
  })

  test('an idempotency key must be 1–255 characters', async () => {
    const name = newName()
    assert.equal((await create('', name)).status, 400)
    assert.equal((await create('k'.repeat(256), name)).status, 400)
    assert.equal(await countOf(name), 0)
    assert.equal((await create('k'.repeat(255), name)).status, 201)
  })

  test('an idempotency key is ignored on public routes and on routes without support', async () => {
    const key = newKey()
    for (const path of ['/public', '/free']) {
      assert.equal((await post(path, key)).status, 200)
      assert.deepEqual([(await post(path, key)).status, (await post(path, key)).replayed], [200, false])
    }
    assert.equal(await rowOf(key), undefined)
  })

  test('a request without an idempotency key is executed every time', async () => {
    const name = newName()
    await create(undefined, name)
    await create(undefined, name)
    assert.equal(await countOf(name), 2)
  })
})

describe('a request that lost its claim', () => {
  test('a request that lost its claim changes nothing, and its successor is executed once', async () => {
    const [key, name] = [newKey(), newName()]
    const gate = Promise.withResolvers<void>()
    gates.set(name, gate.promise)
    const slow = create(key, name)
    await until('the key is claimed', async () => (await rowOf(key)) !== undefined)
    await db.execute(sql`update idempotency_keys set claimed_until = now() - interval '1 second' where key = ${key}`)
    gates.delete(name)
    const second = await create(key, name)
    assert.equal(second.status, 201)
    gate.resolve()
    const lost = await slow
    assert.equal(lost.status, 409)
    assert.match(messageOf(lost), /changed nothing/)
    assert.equal(await countOf(name), 1)
    const third = await create(key, name)
    assert.deepEqual([third.status, third.replayed], [201, true])
  })

  test('the claim of a crashed request is replaced only after it expires', async () => {
    const [key, name] = [newKey(), newName()]
    await create(key, name)
    await db.execute(sql`
      update idempotency_keys set state = 'running', status = null, headers = null, body = null,
        claimed_until = now() + interval '1 minute' where key = ${key}`)
    assert.equal((await create(key, name)).status, 409)
    await db.execute(sql`update idempotency_keys set claimed_until = now() - interval '1 second' where key = ${key}`)
    assert.equal(codeOf(await create(key, newName())), 'CONFLICT', 'another request does not take it over')
    assert.deepEqual((await create(key, name)).status, 201)
  })

  test('a repeated request waits while the response of committed work is being sent', async () => {
    const [key, name] = [newKey(), newName()]
    await create(key, name)
    await db.execute(sql`
      update idempotency_keys set state = 'committed', status = null, headers = null, body = null where key = ${key}`)
    const early = await create(key, name)
    assert.match(messageOf(early), /still running/)
    assert.equal(early.headers.get('retry-after'), '1')
    assert.equal(await countOf(name), 1)
  })

  test('a claim is never replaced after its commit', async () => {
    const [key, name] = [newKey(), newName()]
    await create(key, name)
    await db.execute(sql`
      update idempotency_keys set state = 'committed', status = null, headers = null, body = null,
        claimed_until = now() - interval '1 minute' where key = ${key}`)
    const again = await create(key, name)
    assert.equal(again.status, 409)
    assert.match(messageOf(again), /was executed/)
    assert.equal(await countOf(name), 1)
  })
})

describe('a streamed response', () => {
  test('a replay of a streamed response is the response that its route stored', async () => {
    const key = newKey()
    const first = await post('/stream/told', key)
    assert.equal(first.text, 'data: 1\n\ndata: 2\n\n')
    const second = await post('/stream/told', key)
    assert.deepEqual([second.status, second.replayed], [202, true])
    assert.deepEqual(JSON.parse(second.text), { success: true, data: { follow: 'the stream' } })
    assert.equal(second.headers.get('content-type'), 'application/json; charset=utf-8')
    assert.equal(await countOf('told'), 1)
  })

  test('a streamed response that was not stored is not replayed, and its work is not repeated', async () => {
    const key = newKey()
    assert.equal((await post('/stream/untold', key)).status, 200)
    const second = await post('/stream/untold', key)
    assert.match(messageOf(second), /was executed/)
    assert.equal(await countOf('untold'), 1)
  })
})

describe('a streamed body', () => {
  const bytes = (text: string) => new TextEncoder().encode(text)
  const uploads = async () =>
    (await db.row<{ count: number }>(sql`select count(*)::int as count from things where name ~ '^[0-9a-f]{64}$'`))!
      .count

  test('a streamed body is compared after reading: the same is a replay, another is CONFLICT', async () => {
    const key = newKey()
    const before = await uploads()
    const first = await post('/upload', key, bytes('same'))
    const second = await post('/upload', key, bytes('same'))
    assert.deepEqual([first.status, second.status, second.replayed], [201, 201, true])
    assert.equal(second.text, first.text)
    assert.equal(codeOf(await post('/upload', key, bytes('other'))), 'CONFLICT')
    assert.equal(await uploads(), before + 1)
  })

  test('a streamed body whose first response was lost is not stored again', async () => {
    const key = newKey()
    await post('/upload', key, bytes('lost'))
    await db.execute(sql`
      update idempotency_keys set state = 'committed', status = null, headers = null, body = null,
        claimed_until = now() where key = ${key}`)
    const before = await uploads()
    assert.match(messageOf(await post('/upload', key, bytes('lost'))), /was executed/)
    assert.equal(await uploads(), before)
  })

  test('a streamed body that was rejected before it was read does not use the key', async () => {
    const key = newKey()
    assert.equal((await post('/upload?refuse=1', key, bytes('x'))).status, 409)
    assert.equal(await rowOf(key), undefined)
  })

  test('a streamed body with a key is rejected on routes without support', async () => {
    assert.equal((await post('/nothing', newKey(), bytes('x'))).status, 400)
    assert.equal((await post('/nothing', undefined, bytes('x'))).status, 204)
  })
})

test('keys are removed after 24 hours, and not before', async () => {
  const [old, young] = [newKey(), newKey()]
  await create(old, newName())
  await create(young, newName())
  await db.execute(
    sql`update idempotency_keys set created_at = now() - interval '24 hours 1 minute' where key = ${old}`,
  )
  const schedules = await db.rows<{ cron: string }>(
    sql`select cron from pgboss.schedule where name = 'idempotency.expire'`,
  )
  assert.deepEqual(schedules, [{ cron: '17 * * * *' }])
  await db.transaction('all orgs', (db) => deps.jobs.enqueue(db, expireKeys, {}))
  await until('the old one is gone', async () => (await rowOf(old)) === undefined)
  assert.ok(await rowOf(young))
})

const otherWorkspace = async (): Promise<string> => {
  const row = await db.row<{ id: string }>(sql`
    insert into workspaces (org_id, id, name, slug) values (${owner.orgId}, gen_random_uuid(), 'Other', gen_random_uuid()::text)
    returning id`)
  return row!.id
}
