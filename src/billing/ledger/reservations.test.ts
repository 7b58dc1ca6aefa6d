import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { assertExact, deposit, getBilling, openPaid, spend } from '../../../test/support/billing.ts'
import {
  ask,
  createAgent,
  getTurn,
  openSession,
  say,
  sayWithHeaders,
  until,
  untilStatus,
} from '../../../test/support/chat.ts'
import { callTools, held, rejectWith, reply, startFakeModel } from '../../../test/fakes/model.ts'
import type { ModelRequest } from '../../../test/fakes/model.ts'
import { startTestApp } from '../../../test/harness.ts'
import { waitingForLocks } from '../../../test/support/database/distributed.ts'
import { sql } from '../../platform/database/database.ts'
import { reserveCall } from './reservations.ts'
import { adjust } from './ledger.ts'

const fake = await startFakeModel()
const app = await startTestApp({
  BILLING_ENFORCED: '1',
  SERVICE_BYOK_ENABLED: '1',
  PLATFORM_FEE_WAIVER_CENTS: '0',
  MODEL_PROVIDERS: 'openai',
  MODEL_OPENAI_BASE_URL: fake.baseUrl,
  MODEL_OPENAI_API_KEY: 'sk-of-the-operator',
  MODEL_OPENAI_MODELS: 'large',
  // 1,000 output tokens cost 2 cents.
  MODEL_OPENAI_PRICES: 'large=1000000:20000000',
})
const { db } = app
/** A server that admits paid turns on an empty balance. */
const lenient = await startTestApp({ BILLING_ENFORCED: '0' })

/** The output limit of a request; OpenAI's own models have `max_completion_tokens` instead of `max_tokens`. */
const limitOf = (request: ModelRequest): number =>
  (request as unknown as { max_completion_tokens: number }).max_completion_tokens

const countTurns = async (orgId: string): Promise<number> =>
  (await db.row<{ n: number }>(sql`select count(*)::int as n from turns where org_id = ${orgId}`))?.n ?? 0

describe('paid turns', () => {
  test('rejects a paid turn on an empty balance with PAYMENT_REQUIRED and runs nothing, until a deposit; free models work', async () => {
    const owner = await app.createOrg()
    const paid = await openPaid(app, owner)
    const answer = await spend(app, owner, paid.id, 100)
    assert.deepEqual([answer.status, answer.body.error.code], [402, 'PAYMENT_REQUIRED'])
    assert.equal(await countTurns(owner.orgId), 0)
    const messages = await app.call('GET', `/api/v1/sessions/${paid.id}/messages`, { as: owner })
    assert.deepEqual(messages.body.data.items, [])
    assert.equal((await app.call('GET', `/api/v1/sessions/${paid.id}`, { as: owner })).body.data.status, 'idle')

    const free = await openSession(app, owner)
    assert.equal((await ask(app, owner, free.id, { text: 'Hello' })).turn.status, 'completed')
    await deposit(app, owner, 100)
    assert.equal((await spend(app, owner, paid.id, 100)).status, 200)
    await assertExact(app, owner)
  })

  test('repeats PAYMENT_REQUIRED for the same Idempotency-Key after a deposit', async () => {
    const owner = await app.createOrg()
    const paid = await openPaid(app, owner)
    const headers = { 'idempotency-key': 'k1' }
    const first = await sayWithHeaders(app, owner, paid.id, { json: { text: 'Hello' }, headers })
    await deposit(app, owner, 100)
    const second = await sayWithHeaders(app, owner, paid.id, { json: { text: 'Hello' }, headers })
    assert.deepEqual([first.status, second.status], [402, 402])
  })

  test('lets a turn overspend the balance when the provider uses more than estimated, and rejects the next turn', async () => {
    const owner = await app.createOrg()
    await deposit(app, owner, 100)
    const paid = await openPaid(app, owner)
    // The demo model reports the usage that the message names: more than any estimate.
    assert.equal((await spend(app, owner, paid.id, 1_500_000)).status, 200)
    assert.ok((await assertExact(app, owner)).balance.balanceCents < 0)
    assert.equal((await spend(app, owner, paid.id, 1)).status, 402)
  })

  test('overspends by at most the underestimated prompts when 50 turns start at once on the balance for one', async () => {
    const owner = await app.createOrg()
    await deposit(app, owner, 100)
    await createAgent(app, owner, { name: 'Large', model: 'openai/large' })
    // Enough for one answer of the maximum length.
    const leftCents = 4
    await adjust(db, owner.orgId, BigInt(leftCents - 100), 'Most of it')
    let asked = 0
    // Each answer has the maximum length, and the provider reports exactly the estimated prompt.
    fake.play((response, body) => {
      asked += 1
      const usage = { prompt_tokens: 50, completion_tokens: limitOf(body), total_tokens: 50 + limitOf(body) }
      return reply(['word'], { usage })(response, body)
    })
    const sessions = await Promise.all(Array.from({ length: 50 }, () => openSession(app, owner, { agentId: 'large' })))
    const answers = await Promise.all(sessions.map(({ id }) => say(app, owner, id, { text: 'Hello' })))
    const begun = answers.filter(({ status }) => status === 200)
    assert.ok(begun.length >= 1 && begun.length <= 2, `${begun.length} began`)
    assert.equal(answers.filter(({ status }) => status === 402).length, 50 - begun.length)
    assert.equal(asked, begun.filter(({ body }) => body.data.turn.steps.length > 0).length)
    const { balance } = await assertExact(app, owner)
    assert.ok(balance.balanceCents >= -1, `${balance.balanceCents}`)
    assert.equal(balance.reservedMicrocents, 0)
  })

  test('leaves no debt when 50 turns start at once on a model that respects its output limit', async () => {
    const owner = await app.createOrg()
    await adjust(db, owner.orgId, 4n, 'Enough for one long answer')
    const sessions = await Promise.all(
      Array.from({ length: 50 }, (_, i) => openPaid(app, owner, { name: `Demo ${i}` })),
    )
    const answers = await Promise.all(sessions.map(({ id }) => spend(app, owner, id, { input: 40, output: 8_000 })))
    const begun = answers.filter(({ status }) => status === 200)
    assert.ok(begun.length >= 1 && begun.length <= 3, `${begun.length} began`)
    assert.ok(answers.every(({ status }) => status === 200 || status === 402))
    const { balance } = await assertExact(app, owner)
    assert.ok(balance.balanceCents >= 0, `${balance.balanceCents}`)
  })

  test('ends a turn as incomplete with max_cost, without the call, when the balance does not cover its next call', async () => {
    const owner = await app.createOrg()
    await deposit(app, owner, 100)
    await createAgent(app, owner, { name: 'Large', model: 'openai/large', allowedTools: ['files.search'] })
    const session = await openSession(app, owner, { agentId: 'large' })
    fake.play(
      async (response, body) => {
        await adjust(db, owner.orgId, -100n, 'Gone meanwhile')
        return callTools({ id: 'c1', name: 'files.search', args: '{"query":"x"}' })(response, body)
      },
      reply(['never said']),
    )
    const { turn } = await ask(app, owner, session.id, { text: 'Look' })
    assert.deepEqual([turn.status, turn.stopReason, turn.steps.length], ['incomplete', 'max_cost', 1])
    assert.equal(turn.toolCalls[0].status, 'done')
    assert.equal(fake.requests.length, 1)
    assert.equal((await assertExact(app, owner)).balance.reservedMicrocents, 0)
  })

  test('limits the length of the answer to what the balance covers', async () => {
    const owner = await app.createOrg()
    await deposit(app, owner, 100)
    await adjust(db, owner.orgId, -98n, 'Most of it')
    await createAgent(app, owner, { name: 'Large', model: 'openai/large' })
    const session = await openSession(app, owner, { agentId: 'large' })
    fake.play(reply(['short']))
    await ask(app, owner, session.id, { text: 'Hello' })
    const limit = limitOf(fake.requests.at(-1)!)
    // 2 cents pay for 1,000 output tokens at most.
    assert.ok(limit >= 256 && limit < 1_000, `${limit}`)
  })
})

test('turns behind a turn that waits for a person reserve nothing until they start', async () => {
  const owner = await app.createOrg()
  await deposit(app, owner, 1_000)
  const agent = await createAgent(app, owner, {
    name: 'Writer',
    model: 'openai/large',
    allowedTools: ['files.write'],
    settings: { approvals: ['files.write'] },
  })
  const session = await openSession(app, owner, { agentId: agent.id })
  const asking = held(callTools({ id: 'c1', name: 'files.write', args: '{"name":"a.txt","text":"x"}' }))
  const last = held(reply(['Last.']))
  fake.play(asking.script, reply(['Written.']), reply(['Second.']), last.script)
  const send = async (text: string): Promise<string> =>
    (await say(app, owner, session.id, { text, background: true })).body.data.turn.id
  const first = await send('Write')
  await asking.asked
  const second = await send('Queued before')
  const reservedOf = async (turnId: string): Promise<bigint> =>
    (
      await db.row<{ microcents: bigint }>(sql`
      select microcents from usage_holds where org_id = ${owner.orgId} and turn_id = ${turnId}`)
    )?.microcents ?? 0n
  assert.ok((await reservedOf(second)) > 0n)
  asking.release()
  const waiting = await untilStatus(app, owner, first, 'requires_action')
  const third = await send('Queued while it waits')
  assert.equal((await getBilling(app, owner)).balance.reservedMicrocents, 0)
  const json = { approvalId: waiting.approvals[0].approvalId, approved: true }
  assert.equal((await app.call('POST', `/api/v1/turns/${first}/approvals`, { as: owner, json })).status, 200)
  await last.asked
  assert.ok((await reservedOf(third)) > 0n, 'a turn that has started')
  last.release()
  for (const id of [first, second, third]) await untilStatus(app, owner, id, 'completed')
  assert.equal((await assertExact(app, owner)).balance.reservedMicrocents, 0)
})

test('leaves no reservation when a turn is cancelled while its next call is being reserved', async () => {
  const owner = await app.createOrg()
  await deposit(app, owner, 1_000)
  const session = await openPaid(app, owner)
  const { body } = await say(app, owner, session.id, { text: '/slow 20000', background: true })
  const { id: turnId } = body.data.turn
  await untilStatus(app, owner, turnId, 'running')
  const [turn] = await db.rows<{ agentId: string }>(
    sql`select agent_id from turns where org_id = ${owner.orgId} and id = ${turnId}`,
  )
  const rates = { input: 1_000_000, output: 4_000_000, cacheRead: 0, cacheWrite: 0 }
  const fee = { bps: 500, waiverCents: 0 }
  const call = { orgId: owner.orgId, turnId, agentId: turn!.agentId, agentCapCents: null, rates, fee, isByok: false }
  let cancelling: Promise<unknown> = Promise.resolve()
  await db.transaction('all orgs', async (db) => {
    await db.row(sql`select id from turns where org_id = ${owner.orgId} and id = ${turnId} for share`)
    cancelling = app.call('POST', `/api/v1/turns/${turnId}/cancel`, { as: owner })
    // Wait until the cancellation blocks on the lock of this transaction.
    await until(
      () => waitingForLocks(app.db, db),
      (count) => count > 0,
    )
    await reserveCall(db, true, { ...call, inputTokens: 5_000, maxOutputTokens: 5_000 })
  })
  await cancelling
  assert.equal((await getTurn(app, owner, turnId)).status, 'cancelled')
  assert.equal((await assertExact(app, owner)).balance.reservedMicrocents, 0)
})

describe('usage that a provider reports', () => {
  test('charges nothing for calls that the provider rejected', async () => {
    const owner = await app.createOrg()
    await deposit(app, owner, 100)
    await createAgent(app, owner, { name: 'Large', model: 'openai/large' })
    const session = await openSession(app, owner, { agentId: 'large' })
    fake.play(rejectWith(429), rejectWith(500), reply(['At last']))
    const { turn } = await ask(app, owner, session.id, { text: 'Hello' })
    assert.deepEqual(
      turn.steps.map(({ status, costMicrocents }: Record<string, unknown>) => [status, costMicrocents]),
      [
        ['failed', 0],
        ['failed', 0],
        // 100 tokens in and 20 out.
        ['completed', 500],
      ],
    )
    const { usage } = await assertExact(app, owner)
    assert.deepEqual([usage.currentMonth.requestCount, usage.currentMonth.providerCostMicrocents], [3, 500])
  })

  test('never charges a negative amount when a provider reports negative usage', async () => {
    const owner = await app.createOrg()
    await deposit(app, owner, 100)
    await createAgent(app, owner, { name: 'Large', model: 'openai/large' })
    const session = await openSession(app, owner, { agentId: 'large' })
    const usage = { prompt_tokens: -1_000_000, completion_tokens: 10, total_tokens: -999_990 }
    fake.play(reply(['Take this'], { usage }))
    const { turn } = await ask(app, owner, session.id, { text: 'Hello' })
    assert.ok(turn.chargedMicrocents >= 200, `${turn.chargedMicrocents}`)
    assert.ok((await assertExact(app, owner)).balance.balanceCents <= 100)
  })
})

describe('monthly caps', () => {
  test('warns once at 80 % of the monthly cap of the org, and rejects paid turns, but not free ones, beyond it', async () => {
    const owner = await app.createOrg()
    await deposit(app, owner, 1_000)
    const paid = await openPaid(app, owner)
    const patch = (json: object) => app.call('PATCH', '/api/v1/billing', { as: owner, json })
    assert.equal((await patch({ monthlyCapCents: 100 })).status, 200)
    await spend(app, owner, paid.id, 700_000)
    assert.equal((await getBilling(app, owner)).limits.org.state, 'free')
    await spend(app, owner, paid.id, 100_000)
    await spend(app, owner, paid.id, 10_000)
    const near = (await getBilling(app, owner)).limits.org
    assert.deepEqual([near.state, near.monthlyCapCents], ['near', 100])
    const log = await app.call('GET', '/api/v1/audit-log?limit=100', { as: owner })
    const warnings = log.body.data.items.filter(({ action }: { action: string }) => action === 'billing.cap-near')
    assert.equal(warnings.length, 1)

    await spend(app, owner, paid.id, 200_000)
    const rejected = await spend(app, owner, paid.id, 1)
    assert.equal(rejected.status, 402)
    assert.match(rejected.body.error.message, /limit for this month/)
    assert.equal((await getBilling(app, owner)).limits.org.state, 'reached')
    const free = await openSession(app, owner)
    assert.equal((await ask(app, owner, free.id, { text: 'Hello' })).turn.status, 'completed')
    await patch({ monthlyCapCents: null })
    assert.equal((await spend(app, owner, paid.id, 1)).status, 200)
  })

  test('rejects paid turns of an agent beyond its own monthly cap, and of no other agent', async () => {
    const owner = await app.createOrg()
    await deposit(app, owner, 1_000)
    const capped = await openPaid(app, owner, { name: 'Capped', settings: { monthlyCapCents: 10 } })
    const other = await openPaid(app, owner, { name: 'Other' })
    await spend(app, owner, capped.id, 95_000)
    const { limits } = await getBilling(app, owner)
    assert.deepEqual(
      limits.agents.map(({ name, state }: { name: string; state: string }) => [name, state]),
      [['Capped', 'near']],
    )
    await spend(app, owner, capped.id, 20_000)
    const rejected = await spend(app, owner, capped.id, 1)
    assert.deepEqual([rejected.status, /agent's spending limit/.test(rejected.body.error.message)], [402, true])
    assert.equal((await spend(app, owner, other.id, 1)).status, 200)
    for (const monthlyCapCents of [-1, 1.5, '10', 2 ** 53]) {
      const json = { name: 'Odd', settings: { monthlyCapCents } }
      assert.equal((await app.call('POST', '/api/v1/agents', { as: owner, json })).status, 400, String(monthlyCapCents))
    }
  })

  test('enforces the monthly cap on a server that does not enforce balances', async () => {
    const owner = await lenient.createOrg()
    const paid = await openPaid(lenient, owner)
    assert.equal((await spend(lenient, owner, paid.id, 500_000)).status, 200)
    assert.equal((await assertExact(lenient, owner)).balance.balanceCents, -50)
    await lenient.call('PATCH', '/api/v1/billing', { as: owner, json: { monthlyCapCents: 0 } })
    assert.equal((await spend(lenient, owner, paid.id, 1)).status, 402)
  })
})

describe("calls on the org's own provider key", () => {
  test("sends calls with the org's own provider key and charges only the fee", async () => {
    const owner = await app.createOrg()
    await deposit(app, owner, 100)
    const key = 'sk-of-the-org-itself-0123456789'
    const stored = await app.call('POST', '/api/v1/billing/byok-keys', { as: owner, json: { provider: 'openai', key } })
    assert.equal(stored.status, 201)
    await createAgent(app, owner, { name: 'Large', model: 'openai/large' })
    const session = await openSession(app, owner, { agentId: 'large' })
    fake.play(reply(['Hello'], { usage: { prompt_tokens: 100_000, completion_tokens: 1_000, total_tokens: 101_000 } }))
    const { turn } = await ask(app, owner, session.id, { text: 'Hello' })
    assert.equal(fake.authorizations.at(-1), `Bearer ${key}`)
    // 100,000 + 20,000 microcents of cost; 5 % of them are charged.
    assert.deepEqual([turn.costMicrocents, turn.platformFeeMicrocents, turn.chargedMicrocents], [120_000, 6_000, 6_000])
    const { usage } = await assertExact(app, owner)
    const { currentMonth } = usage
    assert.deepEqual(
      [currentMonth.requestCount, currentMonth.byokRequestCount, currentMonth.totalChargedMicrocents],
      [1, 1, 6_000],
    )
    const other = await app.createOrg()
    await deposit(app, other, 100)
    await createAgent(app, other, { name: 'Large', model: 'openai/large' })
    const theirs = await openSession(app, other, { agentId: 'large' })
    await ask(app, other, theirs.id, { text: 'Hello' })
    assert.equal(fake.authorizations.at(-1), 'Bearer sk-of-the-operator')

    const { id } = stored.body.data
    assert.equal((await app.call('DELETE', `/api/v1/billing/byok-keys/${id}`, { as: owner })).status, 200)
    await ask(app, owner, session.id, { text: 'Hello' })
    assert.equal(fake.authorizations.at(-1), 'Bearer sk-of-the-operator')
    assert.ok(!app.logLines.some((line) => line.includes(key)))
  })

  test('runs a call that costs nothing with a negative balance and beyond a spending limit, until it costs a fee', async () => {
    const owner = await app.createOrg()
    const key = 'sk-of-the-org-itself-1357924680'
    const json = { provider: 'openai', key }
    assert.equal((await app.call('POST', '/api/v1/billing/byok-keys', { as: owner, json })).status, 201)
    await app.call('PATCH', '/api/v1/billing', { as: owner, json: { monthlyCapCents: 0 } })
    await createAgent(app, owner, { name: 'Large', model: 'openai/large' })
    const session = await openSession(app, owner, { agentId: 'large' })
    // The fee is waived, because nothing was deposited.
    await adjust(db, owner.orgId, -5n, 'A debt')
    const { turn } = await ask(app, owner, session.id, { text: 'Hello' })
    assert.deepEqual([turn.status, turn.chargedMicrocents], ['completed', 0])
    const { balance } = await assertExact(app, owner)
    assert.deepEqual([balance.balanceCents, balance.reservedMicrocents], [-5, 0])
    await deposit(app, owner, 100)
    await adjust(db, owner.orgId, -200n, 'A larger debt')
    assert.equal((await say(app, owner, session.id, { text: 'Hello' })).status, 402)
  })

  test('fails a turn whose provider key was removed while it was queued, without a call on another key', async () => {
    const owner = await app.createOrg()
    await deposit(app, owner, 100)
    const key = 'sk-of-the-org-itself-9876543210'
    const stored = await app.call('POST', '/api/v1/billing/byok-keys', { as: owner, json: { provider: 'openai', key } })
    await createAgent(app, owner, { name: 'Large', model: 'openai/large' })
    await createAgent(app, owner, { name: 'Slow' })
    const session = await openSession(app, owner, { agentId: 'slow' })
    const slow = await say(app, owner, session.id, { text: '/slow 20000', background: true })
    const waiting = await say(app, owner, session.id, { text: 'Hello', agentId: 'large', background: true })
    await app.call('DELETE', `/api/v1/billing/byok-keys/${stored.body.data.id}`, { as: owner })
    const before = fake.requests.length
    await app.call('POST', `/api/v1/turns/${slow.body.data.turn.id}/cancel`, { as: owner })
    const turn = await untilStatus(app, owner, waiting.body.data.turn.id, 'failed')
    assert.equal(turn.error.code, 'model_rejected')
    assert.equal(fake.requests.length, before)
    assert.equal((await getTurn(app, owner, turn.id)).chargedMicrocents, 0)
    assert.equal((await assertExact(app, owner)).balance.reservedMicrocents, 0)
  })
})
