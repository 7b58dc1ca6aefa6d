import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { held, rejectWith, startFakeModel } from '../../../test/fakes/model.ts'
import type { ModelRequest, Script } from '../../../test/fakes/model.ts'
import { startTestApp } from '../../../test/harness.ts'
import type { TestActor } from '../../../test/harness.ts'
import { assertExact, deposit, getBilling } from '../../../test/support/billing.ts'
import { createAgent } from '../../../test/support/chat.ts'
import { deleteExpiredReservations } from '../../billing/ledger/reservation-queries.ts'
import { parseConfig } from '../../config/config.ts'
import { readConfig } from '../../read-config.ts'
import { sql } from '../../platform/database/database.ts'
import { demoEmbedding } from './demo-embedding.ts'

interface EmbeddingRequest {
  input: string[]
  encoding_format: string
  dimensions?: number
}

const requestOf = (body: ModelRequest): EmbeddingRequest => body as unknown as EmbeddingRequest

/** Responds with one vector for each text, whose first number is the length of the text. */
const vectors =
  (tokens: number | null = 1_000_000, { count, length = 3 }: { count?: number; length?: number } = {}): Script =>
  (response, body) => {
    const { input, dimensions = length } = requestOf(body)
    const data = Array.from({ length: count ?? input.length }, (_, index) => ({
      object: 'embedding',
      index,
      embedding: Array.from({ length: dimensions }, (_, place) => (place === 0 ? (input[index]?.length ?? 0) : 0.5)),
    }))
    const usage = tokens === null ? {} : { usage: { prompt_tokens: tokens, total_tokens: tokens } }
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ object: 'list', data, model: 'small', ...usage }))
  }

const fake = await startFakeModel()
const app = await startTestApp({
  BILLING_ENFORCED: '1',
  SERVICE_BYOK_ENABLED: '1',
  PLATFORM_FEE_WAIVER_CENTS: '0',
  PLATFORM_FEE_BPS: '1000',
  MODEL_PROVIDERS: 'openai',
  MODEL_OPENAI_BASE_URL: fake.baseUrl,
  MODEL_OPENAI_API_KEY: 'sk-of-the-operator',
  MODEL_OPENAI_MODELS: 'small,chat,unpriced',
  MODEL_OPENAI_EMBEDDINGS: 'small,unpriced',
  // A token costs 20 microcents, so 1,000 tokens cost 2 cents.
  MODEL_OPENAI_PRICES: 'small=20000000:0,chat=1000000:1000000',
})
const { db } = app
const path = '/api/v1/embeddings'

const embed = (as: TestActor, json: object, headers: Record<string, string> = {}) =>
  app.call('POST', path, { as, json: { model: 'openai/small', ...json }, headers })

const openOrg = async (cents = 100_000): Promise<TestActor> => {
  const owner = await app.createOrg()
  if (cents > 0) await deposit(app, owner, cents)
  return owner
}

const limitTo = async (as: TestActor, monthlyCapCents: number): Promise<void> => {
  const { status, text } = await app.call('PATCH', '/api/v1/billing', { as, json: { monthlyCapCents } })
  assert.equal(status, 200, text)
}

const reservedOf = async ({ orgId }: TestActor): Promise<number> =>
  (await db.row<{ n: number }>(sql`select count(*)::int as n from usage_holds where org_id = ${orgId}`))?.n ?? 0

/** 4,000 bytes, so that a provider may report up to 4,016 tokens. */
const long = 'word'.repeat(1_000)

describe('the demo embedding model', () => {
  test('returns vectors of length 1 that are closer for texts with the same words', async () => {
    const owner = await app.createOrg()
    const json = {
      model: 'atrium/demo-embedding',
      input: ['The red bicycle is fast', 'A fast red bicycle', 'Invoices are due in May'],
    }
    const { status, body } = await app.call('POST', path, { as: owner, json })
    assert.equal(status, 200)
    const { embeddings, dimensions, model, usage } = body.data
    assert.deepEqual([model, dimensions, embeddings.length], ['atrium/demo-embedding', 256, 3])
    assert.deepEqual([usage.isEstimate, usage.chargedMicrocents], [false, 0])
    assert.ok(usage.inputTokens > 0)
    const product = (a: number[], b: number[]): number =>
      a.reduce((sum, value, place) => sum + value * (b[place] ?? 0), 0)
    for (const vector of embeddings) assert.ok(Math.abs(product(vector, vector) - 1) < 1e-9)
    assert.ok(product(embeddings[0], embeddings[1]) > product(embeddings[0], embeddings[2]) + 0.2)
  })

  test('lets other work of the process run while it reads long texts, and ends with its request', async () => {
    const aborted = new AbortController()
    const values = ['word '.repeat(200_000)]
    let turns = 0
    let isDone = false
    const others = (async () => {
      for (; !isDone; turns += 1) await setImmediate()
    })()
    await demoEmbedding.doEmbed({ values, abortSignal: aborted.signal })
    isDone = true
    await others
    assert.ok(turns >= 3, `${turns} turns of the event loop`)
    const ended = demoEmbedding.doEmbed({ values, abortSignal: aborted.signal })
    aborted.abort(new Error('gone'))
    await assert.rejects(Promise.resolve(ended), /gone/)
  })

  test('returns vectors of the requested length, for a single text too', async () => {
    const owner = await app.createOrg()
    const json = { model: 'atrium/demo-embedding', input: '—', dimensions: 7 }
    const { body } = await app.call('POST', path, { as: owner, json })
    assert.deepEqual([body.data.dimensions, body.data.embeddings.length, body.data.embeddings[0].length], [7, 1, 7])
  })
})

describe('embeddings of a provider', () => {
  test('are requested once and charged by the reported tokens with the fee, as the operation embedding', async () => {
    const owner = await openOrg()
    fake.play(vectors(1_001))
    const { status, body } = await embed(owner, { input: [long, 'b'], dimensions: 4 })
    assert.equal(status, 200, JSON.stringify(body))
    assert.deepEqual(body.data.embeddings, [
      [4_000, 0.5, 0.5, 0.5],
      [1, 0.5, 0.5, 0.5],
    ])
    // 1,001 tokens cost 20,020 microcents, and the fee is a tenth.
    assert.deepEqual(body.data.usage, { inputTokens: 1_001, isEstimate: false, chargedMicrocents: 22_022 })
    assert.deepEqual(
      fake.requests.map((one) => [requestOf(one).input.length, requestOf(one).dimensions]),
      [[2, 4]],
    )
    assert.deepEqual(fake.authorizations, ['Bearer sk-of-the-operator'])
    await assertExact(app, owner)
    const { usage } = await getBilling(app, owner)
    assert.deepEqual(
      usage.currentMonth.operationBreakdown.map((one: { operation: string; requestCount: number }) => [
        one.operation,
        one.requestCount,
      ]),
      [['embedding', 1]],
    )
    const agents = await app.call('GET', '/api/v1/billing/spending/by-agent', { as: owner })
    assert.deepEqual(
      agents.body.data.items.map(({ id, name }: { id: null; name: string }) => [id, name]),
      [[null, 'No agent']],
    )
    assert.equal(await reservedOf(owner), 0)
  })

  for (const [what, tokens] of [
    ['none', null],
    ['more than the texts have bytes', 4_017],
    ['a negative number', -1],
  ] as const) {
    test(`are charged by the size of the texts when the provider reports ${what}`, async () => {
      const owner = await openOrg()
      fake.play(vectors(tokens))
      const { body } = await embed(owner, { input: long })
      const { inputTokens, isEstimate } = body.data.usage
      assert.equal(isEstimate, true)
      assert.ok(inputTokens > 1_000 && inputTokens < 1_300, `${inputTokens}`)
      await assertExact(app, owner)
    })
  }

  test('charge only the fee and use the key of the org when it has one', async () => {
    const owner = await openOrg()
    const key = 'sk-of-the-org-0123456789'
    const added = await app.call('POST', '/api/v1/billing/byok-keys', {
      as: owner,
      json: { provider: 'openai', key },
    })
    assert.equal(added.status, 201, added.text)
    fake.play(vectors(1_000))
    const { body } = await embed(owner, { input: long })
    assert.equal(body.data.usage.chargedMicrocents, 2_000)
    assert.deepEqual(fake.authorizations, [`Bearer ${key}`])
    await assertExact(app, owner)
  })

  test('are rejected with PAYMENT_REQUIRED before any request when the balance does not cover the texts', async () => {
    const owner = await openOrg(0)
    fake.play(vectors())
    const { status, body } = await embed(owner, { input: long })
    assert.deepEqual([status, body.error.code], [402, 'PAYMENT_REQUIRED'])
    assert.equal(fake.requests.length, 0)
    assert.equal(await reservedOf(owner), 0)
  })

  test('reserve their cost, so that two requests at the same time cannot spend the same money', async () => {
    // The texts are estimated at 1,144 tokens, with the fee and a tenth more about 2.8 cents.
    const owner = await openOrg(100)
    await limitTo(owner, 5)
    const first = held(vectors(1_000))
    fake.play(first.script, vectors(1_000))
    const running = embed(owner, { input: long })
    await first.asked
    const second = await embed(owner, { input: long })
    assert.deepEqual([second.status, fake.requests.length], [402, 1], second.text)
    first.release()
    assert.equal((await running).status, 200)
    assert.equal((await embed(owner, { input: 'short' })).status, 200)
    await assertExact(app, owner)
  })

  test('reserve nothing any more when the process was killed and the reservation has expired', async () => {
    const owner = await openOrg(100)
    await limitTo(owner, 5)
    const first = held(rejectWith(500))
    fake.play(first.script, vectors(1_000))
    const running = embed(owner, { input: long })
    await first.asked
    assert.equal((await embed(owner, { input: long })).status, 402)
    await db.execute(sql`update usage_holds set expires_at = now() - interval '1 second' where org_id = ${owner.orgId}`)
    assert.equal((await embed(owner, { input: long })).status, 200)
    first.release()
    await running
    await db.execute(sql`
      insert into usage_holds (org_id, turn_id, agent_id, microcents, expires_at)
      values (${owner.orgId}, gen_random_uuid(), gen_random_uuid(), 1, now() - interval '1 second')`)
    await deleteExpiredReservations(db)
    assert.equal(await reservedOf(owner), 0)
  })

  for (const [what, script, expected] of [
    ['with its Retry-After when the provider limits the rate', rejectWith(429, { 'retry-after': '7' }), [429, '7']],
    ['as unavailable when the provider fails', rejectWith(500), [503, '1']],
    ['as invalid when the provider rejects the texts', rejectWith(400), [422, null]],
    ['as unavailable when a vector is missing', vectors(10, { count: 1 }), [503, '1']],
    ['as unavailable when vectors have another length than requested', vectors(10, { length: 0 }), [503, '1']],
  ] as const) {
    test(`fail ${what}, without a charge, a reservation or the provider's own message`, async () => {
      const owner = await openOrg()
      fake.play(script)
      const { status, headers, text } = await embed(owner, { input: ['a', 'b'] })
      assert.deepEqual([status, headers.get('retry-after')], expected, text)
      assert.equal(fake.requests.length, 1)
      assert.ok(!text.includes('planted'))
      assert.equal(await reservedOf(owner), 0)
      assert.equal((await assertExact(app, owner)).balance.remainderMicrocents, 0)
    })
  }

  test('of one org are at most two at a time, and those of other orgs do not wait for them', async () => {
    const [busy, other] = [await openOrg(), await openOrg()]
    const running = [held(vectors(10)), held(vectors(10))]
    fake.play(...running.map(({ script }) => script), vectors(10))
    const answers = ['a', 'b', 'c'].map((input) => embed(busy, { input }))
    await Promise.all(running.map(({ asked }) => asked))
    assert.equal((await embed(other, { input: 'd' })).status, 200)
    assert.equal(fake.requests.length, 3, 'the third request of the busy org waits')
    assert.ok(fake.requests.some((one) => requestOf(one).input[0] === 'd'))
    for (const { release } of running) release()
    for (const answer of await Promise.all(answers)) assert.equal(answer.status, 200)
  })
})

describe('requests for embeddings of one person', () => {
  test('leave waiting places to others of the org', async () => {
    const owner = await openOrg()
    const member = await app.createUser(owner)
    const running = [held(vectors(10)), held(vectors(10))]
    fake.play(...running.map(({ script }) => script), ...Array.from({ length: 9 }, () => vectors(10)))
    const first = running.map((_, n) => embed(owner, { input: `running ${n}` }))
    await Promise.all(running.map(({ asked }) => asked))
    const waiting = Array.from({ length: 9 }, (_, n) => embed(owner, { input: `waiting ${n}` }))
    assert.equal((await Promise.race(waiting)).status, 429)
    const other = embed(member, { input: 'other' })
    for (const { release } of running) release()
    assert.equal((await other).status, 200)
    for (const answer of await Promise.all(first)) assert.equal(answer.status, 200)
    const rejected = (await Promise.all(waiting)).filter(({ status }) => status !== 200)
    assert.deepEqual(
      rejected.map(({ status }) => status),
      [429],
    )
  })
})

describe('embeddings of Gemini', () => {
  test('come from its native API, are charged by the size of the texts, and have its limit of 100 texts', async () => {
    const google = await startFakeModel()
    const gemini = await app.secondServer({
      MODEL_PROVIDERS: 'gemini',
      MODEL_GEMINI_PROTOCOL: 'google',
      MODEL_GEMINI_BASE_URL: google.baseUrl,
      MODEL_GEMINI_API_KEY: 'key-of-gemini',
      MODEL_GEMINI_MODELS: 'vectors',
      MODEL_GEMINI_EMBEDDINGS: 'vectors',
      MODEL_GEMINI_PRICES: 'vectors=1000000:0',
    })
    google.play((response, body) => {
      const { requests } = body as unknown as { requests: { outputDimensionality: number }[] }
      response.writeHead(200, { 'content-type': 'application/json' })
      const embeddings = requests.map(({ outputDimensionality: length }) => ({
        values: Array.from({ length }, () => 0.25),
      }))
      response.end(JSON.stringify({ embeddings }))
    })
    const owner = await openOrg()
    const ask = (input: string[]) =>
      gemini.call('POST', path, { as: owner, json: { model: 'gemini/vectors', input, dimensions: 2 } })
    const { status, body } = await ask(['a', 'b'])
    assert.deepEqual(
      [status, body.data?.embeddings],
      [
        200,
        [
          [0.25, 0.25],
          [0.25, 0.25],
        ],
      ],
      JSON.stringify(body),
    )
    assert.equal(body.data.usage.isEstimate, true)
    const tooMany = await ask(Array.from({ length: 101 }, () => 'a'))
    assert.deepEqual([tooMany.status, google.requests.length], [422, 1])
    assert.match(tooMany.body.error.message, /at most 100 texts/)
    await assertExact(app, owner)
  })
})

describe('a repeated request with an Idempotency-Key', () => {
  test('gets the same vectors and is charged once', async () => {
    const owner = await openOrg()
    fake.play(vectors(1_000))
    const headers = { 'idempotency-key': 'embed-once' }
    const [first, second] = [await embed(owner, { input: long }, headers), await embed(owner, { input: long }, headers)]
    assert.deepEqual([first.status, second.status], [200, 200])
    assert.deepEqual(second.body, first.body)
    assert.equal(fake.requests.length, 1)
    assert.equal((await assertExact(app, owner)).balance.remainderMicrocents, 2_000)
  })

  test('is CONFLICT, and not charged again, when the response was too large to be stored', async () => {
    const owner = await openOrg()
    fake.play(vectors(1_000))
    const headers = { 'idempotency-key': 'embed-large' }
    const json = { input: Array.from({ length: 64 }, () => 'a text of some length'), dimensions: 8_000 }
    const first = await embed(owner, json, headers)
    assert.equal(first.status, 200)
    assert.ok(first.text.length > 1_000_000)
    const second = await embed(owner, json, headers)
    assert.deepEqual([second.status, second.body.error.code], [409, 'CONFLICT'])
    assert.equal(fake.requests.length, 1)
  })
})

describe('embedding models', () => {
  test('are listed with their capability and are rejected for agents and as fallbacks', async () => {
    const owner = await app.createOrg()
    const { body } = await app.call('GET', '/api/v1/models', { as: owner })
    const listed = body.data.items.filter(
      (one: { capabilities: { embeddings: boolean } }) => one.capabilities.embeddings,
    )
    assert.deepEqual(
      listed.map(({ id, capabilities }: { id: string; capabilities: { tools: boolean } }) => [id, capabilities.tools]),
      [
        ['atrium/demo-embedding', false],
        ['openai/small', false],
        ['openai/unpriced', false],
      ],
    )
    const settings = { fallbackModels: ['atrium/demo-embedding'] }
    for (const json of [{ model: 'openai/small' }, { settings }]) {
      const created = await app.call('POST', '/api/v1/agents', { as: owner, json: { name: 'x', ...json } })
      assert.deepEqual([created.status, created.body.error.code], [400, 'BAD_REQUEST'])
    }
    const agent = await createAgent(app, owner, { name: 'y' })
    const patched = await app.call('PATCH', `/api/v1/agents/${agent.id}`, {
      as: owner,
      json: { model: 'openai/small' },
    })
    assert.equal(patched.status, 400)
  })

  test('are the only models that embeddings accept, and need a price', async () => {
    const owner = await openOrg()
    for (const [model, status] of [
      ['openai/chat', 400],
      ['openai/nothing', 400],
      ['atrium/demo', 400],
      ['openai/unpriced', 422],
    ] as const) {
      assert.equal((await embed(owner, { model, input: 'a' })).status, status, model)
    }
  })

  test('reject empty, long, many and foreign inputs, and lengths that no vector has', async () => {
    const owner = await openOrg()
    fake.play(vectors())
    const many = Array.from({ length: 1_025 }, () => 'a')
    for (const json of [
      {},
      { input: '' },
      { input: [] },
      { input: ['a', ''] },
      { input: 'a'.repeat(100_001) },
      { input: many },
      { input: [1, 2] },
      { input: 'a', dimensions: 0 },
      { input: 'a', dimensions: 8_193 },
    ]) {
      assert.equal((await embed(owner, json)).status, 400, JSON.stringify(json).slice(0, 40))
    }
    assert.equal(fake.requests.length, 0)
  })

  test('need the permission sessions:write', async () => {
    const owner = await app.createOrg()
    const reader = await app.createUser(owner, 'member', { scopes: ['sessions:read', 'agents:read'] })
    const json = { model: 'atrium/demo-embedding', input: 'a' }
    assert.equal((await app.call('POST', path, { as: reader, json })).status, 403)
    assert.equal((await app.call('POST', path, { json })).status, 401)
  })

  test('cannot be configured for the API of Anthropic or be the default of agents', () => {
    const env = { MODEL_PROVIDERS: 'claude', MODEL_CLAUDE_PROTOCOL: 'anthropic', MODEL_CLAUDE_MODELS: 'm' }
    assert.throws(() => parseConfig({ ...env, MODEL_CLAUDE_EMBEDDINGS: 'm' }), /MODEL_CLAUDE_EMBEDDINGS must be empty/)
    assert.throws(() => readConfig({ DEFAULT_AGENT_MODEL: 'atrium/demo-embedding' }), /is an embedding model/)
  })
})
