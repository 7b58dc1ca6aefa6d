import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { assertExact, getBilling, listLedger, openPaid, spend } from '../../../test/support/billing.ts'
import { until } from '../../../test/support/chat.ts'
import { secretKey, signedEvent, startFakeStripe, webhookSecret } from '../../../test/fakes/stripe.ts'
import { startTestApp } from '../../../test/harness.ts'
import type { TestActor } from '../../../test/harness.ts'
import { sql } from '../../platform/database/database.ts'
import { sweep as sweepBilling } from '../jobs.ts'
import { workOnSaveMethod } from './jobs.ts'
import { createLog } from '../../platform/process/log.ts'
import { openPayments } from './stripe.ts'
import { workOnTopup } from './topups.ts'

const stripe = await startFakeStripe()
const env = { STRIPE_SECRET_KEY: secretKey, STRIPE_WEBHOOK_SECRET: webhookSecret, STRIPE_API_BASE: stripe.origin }
const app = await startTestApp(env)
const keyless = await startTestApp()

// oxlint-disable-next-line typescript/no-explicit-any -- tests read fields of responses of any shape
type Json = any

const base = '/api/v1/billing'

const payments = openPayments({ stripe: { secretKey, apiBase: stripe.origin } })

type TopupPayload = Parameters<typeof workOnTopup>[1]

const sendEvent = async (type: string, object: object, options: object = {}): Promise<void> => {
  const { body, headers } = signedEvent(type, object, options)
  assert.equal((await app.call('POST', `${base}/webhooks/stripe`, { body, headers })).status, 200)
}

const set = async (as: TestActor, json: object): Promise<void> => {
  const { status, body } = await app.call('PATCH', base, { as, json })
  assert.deepEqual([status, body.data], [200, { updated: true }])
}

/** An org that deposited 10 dollars with a card that was saved, and tops up by 25 dollars below 5. */
const prepare = async (settings: object = {}): Promise<{ owner: TestActor; sessionId: string; customer: string }> => {
  const owner = await app.createOrg()
  const { body } = await app.call('POST', `${base}/deposit`, { as: owner, json: { amountCents: 1_000 } })
  const session = stripe.pay(body.data.sessionId)
  await sendEvent('checkout.session.completed', session)
  await until(
    () => app.db.row<Json>(sql`select payment_method_id from billing_accounts where org_id = ${owner.orgId}`),
    (row) => row.paymentMethodId !== null,
  )
  await set(owner, { autoTopupEnabled: true, ...settings })
  return { owner, sessionId: (await openPaid(app, owner)).id, customer: session.customer }
}

const chargesOf = (customer: string) =>
  stripe.requests.filter(
    ({ method, path, params }) => method === 'POST' && path === '/v1/payment_intents' && params.customer === customer,
  )

const untilTopup = (as: TestActor, ...states: string[]): Promise<Json> =>
  until(
    () => getBilling(app, as),
    ({ autoTopup }) => states.includes(autoTopup.recent[0]?.state),
  )

const ledgerOf = async (as: TestActor): Promise<[string, number][]> =>
  (await listLedger(app, as)).map(({ type, amountCents }) => [type, amountCents])

/** The second at which the payments of a test begin. */
const at = Math.floor(Date.now() / 1_000) - 3_600

/** A deposit of 10 dollars with a new card. Returns its payment. */
const depositWithNewCard = async (as: TestActor, createdAt: number): Promise<Json> => {
  const { body } = await app.call('POST', `${base}/deposit`, { as, json: { amountCents: 1_000 } })
  const session = stripe.pay(body.data.sessionId)
  await sendEvent('checkout.session.completed', session, { createdAt })
  await app.settled()
  return stripe.paymentIntents.get(session.payment_intent)
}

const cardOf = async (as: TestActor): Promise<string | null | undefined> =>
  (
    await app.db.row<{ paymentMethodId: string | null }>(sql`
      select payment_method_id from billing_accounts where org_id = ${as.orgId}`)
  )?.paymentMethodId

describe('the saved payment method', () => {
  test('is that of the latest deposit after a refund, a dispute and a late event of an older deposit', async () => {
    stripe.charges = ['succeed']
    const owner = await app.createOrg()
    const first = await depositWithNewCard(owner, at)
    await sendEvent('payment_intent.succeeded', first, { createdAt: at })
    const second = await depositWithNewCard(owner, at + 60)
    await sendEvent('charge.refunded', { id: 'ch_old', payment_intent: first.id, amount_refunded: 100 })
    await sendEvent('charge.dispute.created', { id: 'dp_old', payment_intent: first.id, amount: 100, status: 'lost' })
    assert.equal(await cardOf(owner), second.payment_method)
    await sendEvent('payment_intent.succeeded', { ...first, payment_method: 'pm_late' }, { createdAt: at })
    assert.equal(await cardOf(owner), second.payment_method)
    await set(owner, { autoTopupEnabled: true })
    await spend(app, owner, (await openPaid(app, owner)).id, 16_000_000)
    await untilTopup(owner, 'succeeded')
    assert.deepEqual(
      chargesOf(second.customer).map(({ params }) => params.payment_method),
      [second.payment_method],
    )
  })

  test('is that of the latest deposit when the job or the checkout of an older one comes late', async () => {
    const owner = await app.createOrg()
    const { body } = await app.call('POST', `${base}/deposit`, { as: owner, json: { amountCents: 1_000 } })
    const lateSession = stripe.pay(body.data.sessionId)
    const first = await depositWithNewCard(owner, at)
    const second = await depositWithNewCard(owner, at + 60)
    const asked = { orgId: owner.orgId, paymentIntentId: first.id }
    await workOnSaveMethod({ db: app.db, payments }, { ...asked, paidAt: new Date(at * 1_000).toISOString() })
    assert.equal(await cardOf(owner), second.payment_method)
    await sendEvent('checkout.session.completed', lateSession, { createdAt: at + 30 })
    await app.settled()
    assert.equal(await cardOf(owner), second.payment_method)
    assert.equal((await getBilling(app, owner)).balance.balanceCents, 3_000, 'all three are credited')
  })
})

test('a job that saves a payment method is retried by a process that has the key of Stripe', async () => {
  const owner = await app.createOrg()
  const paid = await depositWithNewCard(owner, Math.floor(Date.now() / 1_000) - 60)
  await app.db.execute(sql`
    update billing_accounts set payment_method_id = null, method_paid_at = null where org_id = ${owner.orgId}`)
  const asked = { orgId: owner.orgId, paymentIntentId: paid.id }
  await assert.rejects(workOnSaveMethod({ db: app.db, payments: undefined }, asked), /not configured/)
  assert.equal(await cardOf(owner), null)
  await workOnSaveMethod({ db: app.db, payments }, asked)
  assert.equal(await cardOf(owner), paid.payment_method)
})

describe('without the key of Stripe', () => {
  /** An org whose customer has a card, and whose balance is below the threshold. Its top-up is due. */
  const prepareDue = async (customer: string): Promise<TestActor> => {
    const owner = await keyless.createOrg()
    stripe.methods.set(customer, [`pm_${customer}`])
    await keyless.db.execute(sql`update billing_accounts set customer_id = ${customer} where org_id = ${owner.orgId}`)
    await keyless.call('PATCH', base, { as: owner, json: { autoTopupEnabled: true } })
    return owner
  }
  const runSweep = async ({ orgId }: TestActor): Promise<void> => {
    await keyless.db.transaction({ orgId }, (db) => keyless.deps.jobs.enqueue(db, sweepBilling, {}))
    await until(
      () => keyless.db.rows(sql`select 1 from pgboss.job where name = 'billing.sweep' and state < 'completed'`),
      (rest) => rest.length === 0,
    )
  }
  const lastOf = async (owner: TestActor): Promise<Json> => (await getBilling(keyless, owner)).autoTopup.recent[0]

  test('a worker fails the top-ups that no process has attempted for a day', async () => {
    const owner = await prepareDue('cus_unattempted')
    await keyless.db.execute(sql`
      update topups set created_at = now() - interval '23 hours' where org_id = ${owner.orgId}`)
    await runSweep(owner)
    assert.equal((await lastOf(owner)).state, 'due')
    await keyless.db.execute(sql`
      update topups set created_at = now() - interval '25 hours' where org_id = ${owner.orgId}`)
    await runSweep(owner)
    const { state, failureCode } = await lastOf(owner)
    assert.deepEqual([state, failureCode], ['failed', 'no_provider'])
  })

  test('a worker leaves a top-up to a process that has the key', async () => {
    stripe.charges = ['succeed']
    const owner = await prepareDue('cus_waits')
    await runSweep(owner)
    assert.equal((await lastOf(owner)).state, 'due')
    const job = await keyless.db.row<{ org: string }>(sql`
      select group_id as org from pgboss.job where name = 'billing.topup' and data ->> 'orgId' = ${owner.orgId}`)
    assert.deepEqual(job, { org: owner.orgId }, 'the workers are shared between orgs')
    await keyless.secondServer(env, { work: true })
    await until(
      () => lastOf(owner),
      ({ endedAt }) => endedAt !== null,
    )
    assert.equal((await lastOf(owner)).state, 'succeeded')
    assert.equal(chargesOf('cus_waits').length, 1)
    assert.equal((await getBilling(keyless, owner)).balance.balanceCents, 2_500)
  })
})

describe('automatic top-up', () => {
  test('charges the saved card once when the balance falls below the threshold, and posts a deposit', async () => {
    stripe.charges = ['succeed']
    const { owner, sessionId, customer } = await prepare()
    await spend(app, owner, sessionId, 5_000_000)
    assert.equal((await getBilling(app, owner)).autoTopup.state, 'balance_suffices')
    await app.settled()
    assert.equal(chargesOf(customer).length, 0, '500 is not below 500')
    await spend(app, owner, sessionId, 1_000_000)
    const { autoTopup, balance } = await untilTopup(owner, 'succeeded')
    assert.deepEqual([balance.balanceCents, balance.cumulativeDepositsCents], [2_900, 3_500])
    await app.settled()
    const [charge, ...others] = chargesOf(customer)
    assert.deepEqual(others, [])
    assert.deepEqual(
      [charge!.params.amount, charge!.params.currency, charge!.params.off_session, charge!.params.confirm],
      ['2500', 'usd', 'true', 'true'],
    )
    assert.equal(charge!.idempotencyKey, autoTopup.recent[0].id)
    // Stripe's event reports the same payment.
    const intent = [...stripe.paymentIntents.values()].at(-1)
    await sendEvent('payment_intent.succeeded', intent)
    await sendEvent('payment_intent.succeeded', intent)
    const ledger = await listLedger(app, owner)
    assert.deepEqual(
      ledger
        .filter(({ type }) => type === 'deposit')
        .map(({ amountCents, paymentIntentId }) => [amountCents, typeof paymentIntentId]),
      [
        [1_000, 'string'],
        [2_500, 'string'],
      ],
    )
    await assertExact(app, owner)
  })

  test('makes one top-up when many charges at once bring the balance below the threshold', async () => {
    stripe.charges = ['succeed']
    const { owner, customer } = await prepare()
    const sessions = await Promise.all(
      Array.from({ length: 6 }, (_, i) => openPaid(app, owner, { name: `Agent ${i}` })),
    )
    await Promise.all(sessions.map(({ id }) => spend(app, owner, id, 1_500_000)))
    await untilTopup(owner, 'succeeded')
    await app.settled()
    assert.equal(chargesOf(customer).length, 1)
    assert.equal((await assertExact(app, owner)).balance.balanceCents, 1_000 - 900 + 2_500)
  })

  test('reports a declined top-up, backs off, and retries when somebody changes the settings or pays', async () => {
    stripe.charges = ['decline']
    const { owner, sessionId, customer } = await prepare()
    await spend(app, owner, sessionId, 6_000_000)
    const { autoTopup } = await untilTopup(owner, 'declined')
    assert.equal(autoTopup.state, 'backing_off')
    assert.ok(Date.parse(autoTopup.retryAt) > Date.now() + 3_500_000)
    assert.deepEqual(
      [autoTopup.recent[0].failureCode, autoTopup.recent[0].failureMessage],
      ['insufficient_funds', 'Your card has insufficient funds.'],
    )
    await spend(app, owner, sessionId, 1_000_000)
    await app.settled()
    assert.equal(chargesOf(customer).length, 1, 'nothing is tried meanwhile')
    stripe.charges = ['succeed']
    await set(owner, { autoTopupEnabled: true })
    await untilTopup(owner, 'succeeded')
    const keys = chargesOf(customer).map(({ idempotencyKey }) => idempotencyKey)
    assert.equal(new Set(keys).size, 2, 'another attempt has another key')
    assert.deepEqual(
      (await ledgerOf(owner)).filter(([type]) => type === 'deposit'),
      [
        ['deposit', 1_000],
        ['deposit', 2_500],
      ],
    )
  })

  test('retries a top-up whose response was lost with the same idempotency key, and charges it once', async () => {
    stripe.charges = ['hang up', 'succeed']
    const { owner, sessionId, customer } = await prepare()
    await spend(app, owner, sessionId, 6_000_000)
    const { autoTopup, balance } = await untilTopup(owner, 'succeeded')
    await app.settled()
    assert.equal(chargesOf(customer).length, 1)
    assert.ok(stripe.attempts.get(autoTopup.recent[0].id)! > 1)
    assert.equal(balance.balanceCents, 2_900)
  })

  test('credits or fails a processing top-up by its event', async () => {
    stripe.charges = ['process']
    const { owner, sessionId } = await prepare()
    await spend(app, owner, sessionId, 6_000_000)
    assert.equal((await untilTopup(owner, 'processing')).autoTopup.state, 'under_way')
    const intent = [...stripe.paymentIntents.values()].at(-1)
    await sendEvent('payment_intent.succeeded', { ...intent, status: 'succeeded' })
    assert.equal((await getBilling(app, owner)).balance.balanceCents, 2_900)

    const second = await prepare()
    await spend(app, second.owner, second.sessionId, 6_000_000)
    await untilTopup(second.owner, 'processing')
    const failing = [...stripe.paymentIntents.values()].at(-1)
    const failure = { code: 'card_declined', decline_code: 'generic_decline', message: 'Your card was declined.' }
    await sendEvent('payment_intent.payment_failed', { ...failing, last_payment_error: failure })
    const { autoTopup, balance } = await getBilling(app, second.owner)
    assert.deepEqual([autoTopup.state, autoTopup.recent[0].failureCode], ['backing_off', 'generic_decline'])
    assert.equal(balance.balanceCents, 400)
  })

  test('keeps one job that looks up a processing payment again, and replaces it when it is lost', async () => {
    stripe.charges = ['process']
    const { owner, sessionId } = await prepare()
    await spend(app, owner, sessionId, 6_000_000)
    await untilTopup(owner, 'processing')
    await app.settled()
    await age(owner, 1)
    const jobsOfTopup = (): Promise<{ waits: boolean }[]> =>
      app.db.rows(sql`
        -- all orgs: jobs belong to the server
        select start_after > now() + interval '1 minute' as waits from pgboss.job
        where name = 'billing.topup' and state < 'active' and data ->> 'orgId' = ${owner.orgId}`)
    const sweep = async (): Promise<void> => {
      await app.db.transaction({ orgId: owner.orgId }, (db) => app.deps.jobs.enqueue(db, sweepBilling, {}))
      await app.settled()
    }
    for (let minute = 0; minute < 3; minute++) await sweep()
    assert.deepEqual(await jobsOfTopup(), [{ waits: true }])
    await app.db.execute(sql`
      -- all orgs: jobs belong to the server
      delete from pgboss.job where name = 'billing.topup' and data ->> 'orgId' = ${owner.orgId}`)
    await sweep()
    assert.deepEqual(await jobsOfTopup(), [{ waits: true }], 'the payment was looked up and is looked up again')
  })

  test('makes no top-up beyond its monthly cap and reports monthly_cap', async () => {
    stripe.charges = ['succeed']
    const { owner, sessionId, customer } = await prepare({
      autoTopupAmountCents: 1_000,
      autoTopupMonthlyCapCents: 1_500,
    })
    await spend(app, owner, sessionId, 6_000_000)
    await untilTopup(owner, 'succeeded')
    await spend(app, owner, sessionId, 10_000_000)
    const { autoTopup, balance } = await getBilling(app, owner)
    assert.deepEqual(
      [autoTopup.state, autoTopup.chargedThisMonthCents, autoTopup.monthlyCapCents, balance.balanceCents],
      ['monthly_cap', 1_000, 1_500, 400],
    )
    await app.settled()
    assert.equal(chargesOf(customer).length, 1)
  })

  test('backs off for an hour after a top-up that does not reach the threshold', async () => {
    stripe.charges = ['succeed']
    const { owner, customer } = await prepare({ autoTopupAmountCents: 100, autoTopupThresholdCents: 100_000 })
    const { autoTopup, balance } = await untilTopup(owner, 'succeeded')
    assert.deepEqual([autoTopup.state, balance.balanceCents], ['backing_off', 1_100])
    await app.settled()
    assert.equal(chargesOf(customer).length, 1)
  })

  test('reports no_payment_method after a deposit that saved no card, until one is saved', async () => {
    stripe.charges = ['succeed']
    const owner = await app.createOrg()
    const pay = async (save: boolean): Promise<Json> => {
      const { body } = await app.call('POST', `${base}/deposit`, { as: owner, json: { amountCents: 100 } })
      const session = stripe.pay(body.data.sessionId, { save })
      await sendEvent('checkout.session.completed', session)
      return session
    }
    await pay(false)
    await app.settled()
    assert.equal((await getBilling(app, owner)).autoTopup.hasPaymentMethod, false)
    await set(owner, { autoTopupEnabled: true })
    const { autoTopup } = await getBilling(app, owner)
    assert.deepEqual([autoTopup.state, autoTopup.recent], ['no_payment_method', []])
    const { customer } = await pay(true)
    await untilTopup(owner, 'succeeded')
    assert.equal((await getBilling(app, owner)).autoTopup.hasPaymentMethod, true)
    await app.settled()
    assert.equal(chargesOf(customer).length, 1)
  })

  test('reports no_payment_method, not backing_off, when the customer has no card', async () => {
    const { owner, sessionId, customer } = await prepare()
    stripe.methods.delete(customer)
    await app.db.execute(sql`update billing_accounts set payment_method_id = null where org_id = ${owner.orgId}`)
    await spend(app, owner, sessionId, 6_000_000)
    const { autoTopup } = await untilTopup(owner, 'failed')
    assert.deepEqual([autoTopup.state, autoTopup.hasPaymentMethod], ['no_payment_method', false])
    assert.equal(autoTopup.recent[0].failureCode, 'no_payment_method')
  })

  test('charges nothing without a saved card or when automatic top-up is off, and reports which', async () => {
    const owner = await app.createOrg()
    await set(owner, { autoTopupEnabled: true })
    assert.equal((await getBilling(app, owner)).autoTopup.state, 'no_payment_method')
    await set(owner, { autoTopupEnabled: false })
    const { autoTopup } = await getBilling(app, owner)
    assert.deepEqual([autoTopup.state, autoTopup.recent], ['off', []])
  })

  /** A succeeded top-up in the state in which a worker leaves it that is killed before it stores the response. */
  const prepareUnstored = async (): Promise<{ owner: TestActor; customer: string; asked: TopupPayload }> => {
    stripe.charges = ['succeed']
    const { owner, sessionId, customer } = await prepare()
    await spend(app, owner, sessionId, 6_000_000)
    const { autoTopup } = await untilTopup(owner, 'succeeded')
    await app.settled()
    const topupId = autoTopup.recent[0].id
    // The ledger is append-only, so the payment is one that it does not know.
    const [known] = [...stripe.paymentIntents.values()].filter(({ metadata }) => metadata.topupId === topupId)
    stripe.paymentIntents.delete(known.id)
    stripe.paymentIntents.set(`${known.id}x`, { ...known, id: `${known.id}x` })
    stripe.forgetKeys()
    await app.db.execute(sql`
      update topups set state = 'due', payment_intent_id = null, ended_at = null
      where org_id = ${owner.orgId} and id = ${topupId}`)
    return { owner, customer, asked: { orgId: owner.orgId, topupId } }
  }

  const age = (owner: TestActor, hours: number): Promise<number> =>
    app.db.execute(sql`
      update topups set created_at = now() - ${hours} * interval '1 hour' where org_id = ${owner.orgId}`)

  const work = (asked: TopupPayload): Promise<void> =>
    workOnTopup({ db: app.db, jobs: { enqueue: () => Promise.resolve() }, log: createLog('silent'), payments }, asked, {
      isLastAttempt: false,
    })

  test('credits the payment of an attempt that is a day old and does not charge the card again', async () => {
    const { owner, customer, asked } = await prepareUnstored()
    await age(owner, 25)
    const before = chargesOf(customer).length
    await work(asked)
    assert.equal(chargesOf(customer).length, before, 'the card is not charged again')
    assert.equal((await getBilling(app, owner)).autoTopup.recent[0].state, 'succeeded')
    assert.deepEqual(
      (await ledgerOf(owner)).filter(([type]) => type === 'deposit').map(([, cents]) => cents),
      [1_000, 2_500, 2_500],
    )
  })

  test('charges a top-up that is a day old when the provider has no payment of it', async () => {
    const { owner, customer, asked } = await prepareUnstored()
    await age(owner, 25)
    for (const [id, { metadata }] of stripe.paymentIntents) {
      if (metadata.topupId === asked.topupId) stripe.paymentIntents.delete(id)
    }
    const before = chargesOf(customer).length
    await work(asked)
    assert.equal(chargesOf(customer).length, before + 1)
    assert.equal((await getBilling(app, owner)).autoTopup.recent[0].state, 'succeeded')
  })

  test('fails a top-up that is a day old when the payments of its customer are too many to look through', async () => {
    const { owner, customer, asked } = await prepareUnstored()
    await age(owner, 25)
    const [first] = [...stripe.paymentIntents.values()].filter((intent) => intent.customer === customer)
    for (let i = 0; i <= 2_000; i++) {
      const id = `pi_many${asked.topupId.replaceAll('-', '')}n${i}`
      stripe.paymentIntents.set(id, { ...first, id, metadata: {} })
    }
    const before = chargesOf(customer).length
    await work(asked)
    assert.equal(chargesOf(customer).length, before)
    const { autoTopup } = await getBilling(app, owner)
    assert.deepEqual([autoTopup.recent[0].state, autoTopup.recent[0].failureCode], ['failed', 'outcome_unknown'])
  })

  test('credits a second payment of a top-up, once', async () => {
    stripe.charges = ['succeed']
    const { owner, sessionId } = await prepare()
    await spend(app, owner, sessionId, 6_000_000)
    const { autoTopup } = await untilTopup(owner, 'succeeded')
    const topupId = autoTopup.recent[0].id
    const [intent] = [...stripe.paymentIntents.values()].filter(({ metadata }) => metadata.topupId === topupId)
    const second = { ...intent, id: `${intent.id}2` }
    await sendEvent('payment_intent.succeeded', second)
    await sendEvent('payment_intent.succeeded', second)
    await sendEvent('payment_intent.succeeded', intent)
    assert.deepEqual(
      (await ledgerOf(owner)).filter(([type]) => type === 'deposit').map(([, cents]) => cents),
      [1_000, 2_500, 2_500],
    )
    await assertExact(app, owner)
  })
})
