import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { assertExact, deposit, getBilling, listLedger, openPaid, spend } from '../../test/support/billing.ts'
import { startTestApp } from '../../test/harness.ts'
import type { TestActor } from '../../test/harness.ts'
import { sql } from '../platform/database/database.ts'
import { adjust } from './ledger/ledger.ts'
import { createPromotion } from './promotions.ts'

const app = await startTestApp()
const { db } = app

const base = '/api/v1/billing'

// oxlint-disable-next-line typescript/no-explicit-any -- tests read fields of responses of any shape
type Json = any

const codeOf = async (method: string, path: string, as: TestActor, json?: object): Promise<string> => {
  const { status, body } = await app.call(method, base + path, { as, ...(json ? { json } : {}) })
  return status < 300 ? 'OK' : body.error.code
}

describe('permissions of billing routes', () => {
  const reads = [
    '',
    '/transactions',
    '/pricing',
    '/spending',
    '/spending/by-model',
    '/spending/by-agent',
    '/spending/by-project',
    '/byok-keys',
  ]
  for (const role of ['member', 'billing_manager', 'admin', 'owner'] as const) {
    test(`lets the role ${role} read billing ${role === 'member' ? 'but not change it' : 'and change it'}`, async () => {
      const owner = await app.createOrg()
      const as = role === 'owner' ? owner : await app.createUser(owner, role)
      for (const path of reads) assert.equal(await codeOf('GET', path, as), 'OK', path)
      await createPromotion(db, { code: `ROLE-${role}`, amountCents: 1, description: null, expiresAt: null })
      const changes = [
        await codeOf('PATCH', '', as, { autoTopupEnabled: false }),
        await codeOf('POST', '/deposit', as, { amountCents: 100 }),
        await codeOf('POST', '/promotions/redeem', as, { code: `role-${role}` }),
        await codeOf('POST', '/subscriptions/checkout', as, { planId: 'pro' }),
        await codeOf('POST', '/byok-keys', as, { provider: 'openai', key: 'k'.repeat(16) }),
        await codeOf('DELETE', `/byok-keys/${owner.orgId}`, as),
      ]
      const allowed = ['OK', 'OK', 'OK', 'SERVICE_UNAVAILABLE', 'BAD_REQUEST', 'NOT_FOUND']
      assert.deepEqual(changes, role === 'member' ? allowed.map(() => 'FORBIDDEN') : allowed)
    })
  }

  test('rejects changes by a key with read scopes, even of an owner', async () => {
    const owner = await app.createOrg()
    const narrow = await app.createUser(owner, 'admin', { scopes: ['billing:read'] })
    assert.equal(await codeOf('GET', '', narrow), 'OK')
    assert.equal(await codeOf('POST', '/deposit', narrow, { amountCents: 100 }), 'FORBIDDEN')
  })
})

describe('GET /billing', () => {
  test('returns every section of the snapshot for a new org', async () => {
    const owner = await app.createOrg()
    const snapshot = await getBilling(app, owner)
    assert.deepEqual(snapshot.balance, {
      balanceCents: 0,
      cumulativeDepositsCents: 0,
      autoTopupEnabled: false,
      autoTopupThresholdCents: 500,
      autoTopupAmountCents: 2_500,
      remainderMicrocents: 0,
      reservedMicrocents: 0,
    })
    assert.deepEqual(snapshot.waiver, { active: true, remainingCents: 10_000 })
    assert.deepEqual(snapshot.payment, {
      paymentProviderConfigured: false,
      webhookConfigured: false,
      publishableKeyConfigured: false,
      directDepositAvailable: true,
      billingEnforced: false,
    })
    const { monthStart, operationBreakdown, ...counters } = snapshot.usage.currentMonth
    assert.equal(monthStart, `${new Date().toISOString().slice(0, 7)}-01T00:00:00.000Z`)
    assert.deepEqual(operationBreakdown, [])
    assert.ok(Object.values(counters).every((value) => value === 0))
    assert.equal(Object.keys(counters).length, 11)
    assert.deepEqual([snapshot.transactions, snapshot.promotions, snapshot.subscription], [[], [], null])
  })
})

describe('PATCH /billing', () => {
  test('changes the named billing settings and keeps the others', async () => {
    const owner = await app.createOrg()
    assert.equal(await codeOf('PATCH', '', owner, { autoTopupEnabled: true, autoTopupAmountCents: 100 }), 'OK')
    assert.equal(await codeOf('PATCH', '', owner, { autoTopupThresholdCents: 100, monthlyCapCents: 0 }), 'OK')
    const { balance, limits } = await getBilling(app, owner)
    assert.deepEqual(
      [
        balance.autoTopupEnabled,
        balance.autoTopupAmountCents,
        balance.autoTopupThresholdCents,
        limits.org.monthlyCapCents,
      ],
      [true, 100, 100, 0],
    )
  })

  for (const json of [
    {},
    { autoTopupThresholdCents: 99 },
    { autoTopupAmountCents: 99 },
    { autoTopupAmountCents: 100.5 },
    { autoTopupAmountCents: '500' },
    { autoTopupAmountCents: -500 },
    { autoTopupAmountCents: 2 ** 53 },
    { autoTopupAmountCents: null },
    { autoTopupEnabled: 'yes' },
    { monthlyCapCents: -1 },
    { autoTopupMonthlyCapCents: 99 },
  ]) {
    test(`rejects the billing settings ${JSON.stringify(json)}`, async () => {
      const owner = await app.createOrg()
      assert.equal(await codeOf('PATCH', '', owner, json), 'BAD_REQUEST')
    })
  }
})

describe('GET /billing/transactions', () => {
  test('lists the same transactions by page and by cursor, filters by type, and ignores an unknown type', async () => {
    const owner = await app.createOrg()
    for (let i = 1; i <= 7; i++) await adjust(db, owner.orgId, BigInt(i), `Note ${i}`)
    await deposit(app, owner, 100)
    await deposit(app, owner, 200)
    const read = async (query: string): Promise<Json> =>
      (await app.call('GET', `${base}/transactions?${query}`, { as: owner })).body.data
    const amounts = (page: Json): number[] => page.items.map((item: Json) => item.amountCents)
    const first = await read('limit=4')
    assert.deepEqual(amounts(first), [200, 100, 7, 6])
    assert.deepEqual([first.page, first.limit, first.total, first.hasMore], [1, 4, 9, true])
    assert.deepEqual(amounts(await read('limit=4&page=2')), [5, 4, 3, 2])
    assert.deepEqual(amounts(await read(`limit=4&cursor=${first.nextCursor}`)), [5, 4, 3, 2])
    const last = await read('limit=4&page=3')
    assert.deepEqual([amounts(last), last.hasMore, last.nextCursor], [[1], false, null])
    assert.deepEqual(amounts(await read('limit=4&page=4')), [])
    const deposits = await read('type=deposit&limit=1')
    assert.deepEqual([amounts(deposits), deposits.total, deposits.hasMore], [[200], 2, true])
    assert.deepEqual(amounts(await read('type=deposit&limit=1&page=2')), [100])
    assert.deepEqual(amounts(await read(`type=deposit&limit=1&cursor=${deposits.nextCursor}`)), [100])
    assert.equal((await read('type=everything')).total, 9)
    assert.deepEqual((await read('type=refund')).items, [])
    const [item] = (await read('type=adjustment&limit=1')).items
    assert.deepEqual(Object.keys(item).toSorted(), [
      'amountCents',
      'balanceAfterCents',
      'createdAt',
      'id',
      'notes',
      'type',
    ])
    for (const query of ['limit=0', 'limit=101', 'page=0', 'limit=x', 'cursor=x']) {
      const answer = await app.call('GET', `${base}/transactions?${query}`, { as: owner })
      assert.equal(answer.body.error?.code, 'BAD_REQUEST', query)
    }
  })
})

describe('GET /billing/pricing', () => {
  test('lists plans, the fee of the org, and model rates with and without the fee', async () => {
    const owner = await app.createOrg()
    const { body } = await app.call('GET', `${base}/pricing`, { as: owner })
    assert.deepEqual(
      body.data.plans.map(({ id, priceCents, custom }: Json) => [id, priceCents, custom]),
      [
        ['free', 0, false],
        ['pro', 2_000, false],
        ['team', 9_900, false],
        ['enterprise', null, true],
      ],
    )
    assert.deepEqual(body.data.platformFee, { bps: 500, waived: true })
    await adjust(db, owner.orgId, 5n, 'No deposit')
    await deposit(app, owner, 10_001)
    const charged = (await app.call('GET', `${base}/pricing`, { as: owner })).body.data
    assert.deepEqual(charged.platformFee, { bps: 500, waived: false })
    const paid = charged.models.find(({ id }: Json) => id === 'atrium/demo-paid')
    assert.deepEqual(
      [paid.inputMicrocents, paid.outputMicrocents, paid.withFee.inputMicrocents],
      [1_000_000, 4_000_000, 1_050_000],
    )
    assert.ok(charged.services.length > 0)
  })

  test('lists the plans of PLANS_FILE', async () => {
    const file = join(app.config.dataDir, 'plans.json')
    await writeFile(file, JSON.stringify([{ id: 'solo', name: 'Solo', priceCents: 900, includedCreditCents: 1_000 }]))
    const other = await app.secondServer({ PLANS_FILE: file })
    const owner = await app.createOrg()
    const { body } = await other.call('GET', `${base}/pricing`, { as: owner })
    assert.deepEqual(
      body.data.plans.map(({ id, includedCreditCents }: Json) => [id, includedCreditCents]),
      [['solo', 1_000]],
    )
    await writeFile(file, JSON.stringify([{ id: 'solo', name: 'Solo', priceCents: -1 }]))
    await assert.rejects(
      app.secondServer({ PLANS_FILE: file }),
      /PLANS_FILE must name a file of plans; plan 1: priceCents must be a whole number of cents/,
    )
  })
})

describe('promotions', () => {
  test('redeems a promotion once per org, in upper or lower case, and reduces it by spending', async () => {
    const owner = await app.createOrg()
    const other = await app.createOrg()
    await createPromotion(db, { code: 'welcome-50', amountCents: 50, description: 'Hello', expiresAt: null })
    const redeem = (as: TestActor, code: string) =>
      app.call('POST', `${base}/promotions/redeem`, { as, json: { code } })
    const answers = await Promise.all(Array.from({ length: 8 }, () => redeem(owner, ' Welcome-50 ')))
    assert.deepEqual(
      answers.map(({ status }) => status).toSorted((a, b) => a - b),
      [200, ...Array.from({ length: 7 }, () => 409)],
    )
    assert.equal((await redeem(other, 'WELCOME-50')).status, 200)
    const session = await openPaid(app, owner)
    await spend(app, owner, session.id, 123_456)
    const { promotions, balance } = await assertExact(app, owner)
    assert.deepEqual(
      [promotions[0].code, promotions[0].amountCents, promotions[0].remainingCents],
      ['WELCOME-50', 50, 38],
    )
    assert.deepEqual([balance.balanceCents, balance.cumulativeDepositsCents], [38, 0])
    await createPromotion(db, { code: 'SECOND', amountCents: 10, description: null, expiresAt: null })
    await redeem(owner, 'second')
    await spend(app, owner, session.id, 400_000)
    const after = (await assertExact(app, owner)).promotions
    assert.deepEqual(
      after.map((one: Json) => [one.code, one.remainingCents]),
      [
        ['SECOND', 8],
        ['WELCOME-50', 0],
      ],
    )
    assert.equal((await getBilling(app, other)).promotions[0].remainingCents, 50)
  })

  test('responds with NOT_FOUND for an unknown promotion and VALIDATION_ERROR for an expired one', async () => {
    const owner = await app.createOrg()
    await createPromotion(db, { code: 'OLD', amountCents: 5, description: null, expiresAt: '2020-01-01T00:00:00.000Z' })
    assert.equal(await codeOf('POST', '/promotions/redeem', owner, { code: 'OLD' }), 'VALIDATION_ERROR')
    assert.equal(await codeOf('POST', '/promotions/redeem', owner, { code: 'NONE' }), 'NOT_FOUND')
    assert.equal(await codeOf('POST', '/promotions/redeem', owner, { code: '' }), 'BAD_REQUEST')
    assert.deepEqual(await listLedger(app, owner), [])
  })
})

describe('provider keys', () => {
  const key = 'sk-secret-of-the-org-0123456789'

  test('rejects provider keys with any body while they are not enabled', async () => {
    const owner = await app.createOrg()
    for (const json of [{ provider: 'openai', key }, {}]) {
      const { status, body } = await app.call('POST', `${base}/byok-keys`, { as: owner, json })
      assert.deepEqual([status, body.error.message], [400, 'Provider keys cannot be set up on this server.'])
    }
  })

  test('rejects a provider key that no HTTP header can carry', async () => {
    const open = await app.secondServer({ SERVICE_BYOK_ENABLED: 'yes' })
    const owner = await app.createOrg()
    for (const bad of [`${key}\n`, ` ${key}`, `${key} x`, `${key}é`, `${key}\u007f`, 'k'.repeat(15)]) {
      const json = { provider: 'openai', key: bad }
      const { body } = await open.call('POST', `${base}/byok-keys`, { as: owner, json })
      assert.equal(body.error?.code, 'BAD_REQUEST', JSON.stringify(bad))
    }
  })

  test('stores provider keys encrypted, lists them without the key, and removes them', async () => {
    const open = await app.secondServer({ SERVICE_BYOK_ENABLED: 'yes' })
    const owner = await app.createOrg()
    const stranger = await app.createOrg()
    const store = (json: object) => open.call('POST', `${base}/byok-keys`, { as: owner, json })
    const { status, body, text } = await store({ provider: 'anthropic', key, label: 'Ours' })
    assert.equal(status, 201)
    assert.deepEqual(Object.keys(body.data).toSorted(), ['createdAt', 'fingerprint', 'id', 'label', 'provider'])
    await store({ provider: 'openai', key: 'x'.repeat(16) })
    const list = await open.call('GET', `${base}/byok-keys?limit=1`, { as: owner })
    assert.deepEqual(
      list.body.data.items.map(({ provider }: Json) => provider),
      ['openai'],
    )
    const next = await open.call('GET', `${base}/byok-keys?limit=1&cursor=${list.body.data.nextCursor}`, { as: owner })
    assert.deepEqual([next.body.data.items, next.body.data.nextCursor], [[body.data], null])
    const row = await db.row<{ sealedKey: string }>(
      sql`select sealed_key from provider_keys where id = ${body.data.id}`,
    )
    for (const seen of [text, next.text, row!.sealedKey, ...open.logLines]) assert.ok(!seen.includes(key))

    assert.deepEqual((await open.call('GET', `${base}/byok-keys`, { as: stranger })).body.data.items, [])
    assert.equal((await open.call('DELETE', `${base}/byok-keys/${body.data.id}`, { as: stranger })).status, 404)
    // Keys can be removed on a server that accepts no new ones.
    const removed = await app.call('DELETE', `${base}/byok-keys/${body.data.id}`, { as: owner })
    assert.deepEqual(removed.body.data, { deleted: true })
    assert.equal((await app.call('DELETE', `${base}/byok-keys/${body.data.id}`, { as: owner })).status, 404)

    for (const wrong of [
      { provider: 'openai', key: 'x'.repeat(15) },
      { provider: 'openai', key: 'x'.repeat(501) },
      { provider: 'acme', key },
      { provider: 'openai' },
      { provider: 'openai', key, label: 'x'.repeat(201) },
    ]) {
      assert.equal((await store(wrong)).status, 400, JSON.stringify(wrong))
    }
    assert.equal((await store({ provider: 'deepseek', key: '~'.repeat(500), label: '' })).status, 201)
  })
})

test('responds with SERVICE_UNAVAILABLE to deposits in production without a payment provider, direct ones included', async () => {
  const { mayDepositDirectly } = await import('./payments/deposits.ts')
  const nothing = { stripe: undefined, allowsDirectDeposits: true }
  assert.equal(mayDepositDirectly({ ...nothing, isProduction: true }, 'direct'), false)
  assert.equal(mayDepositDirectly({ ...nothing, isProduction: false }, undefined), true)
})

test('responds with BAD_REQUEST "Too many requests" to POSTs of billing beyond their rate limit', async () => {
  const limited = await app.secondServer({ RATE_LIMIT_DEPOSITS: '2', RATE_LIMIT_WRITES: '2' })
  const owner = await app.createOrg()
  const deposits = []
  for (let i = 0; i < 3; i++) {
    deposits.push(await limited.call('POST', `${base}/deposit`, { as: owner, json: { amountCents: 100 } }))
  }
  const last = deposits.at(-1)!
  assert.deepEqual([last.status, last.body.error], [400, { code: 'BAD_REQUEST', message: 'Too many requests' }])
  assert.equal((await getBilling(app, owner)).balance.balanceCents, 200)
})
