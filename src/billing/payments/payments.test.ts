import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { assertExact, getBilling, listLedger, openPaid, spend } from '../../../test/support/billing.ts'
import { secretKey, signedEvent, startFakeStripe, webhookSecret } from '../../../test/fakes/stripe.ts'
import { startTestApp } from '../../../test/harness.ts'
import type { Answer, TestActor } from '../../../test/harness.ts'

const stripe = await startFakeStripe()
const env = {
  STRIPE_SECRET_KEY: secretKey,
  STRIPE_WEBHOOK_SECRET: webhookSecret,
  STRIPE_PUBLISHABLE_KEY: 'pk_test_atrium',
  STRIPE_API_BASE: stripe.origin,
  ALLOW_DIRECT_DEPOSITS: '1',
}
const app = await startTestApp(env)

// oxlint-disable-next-line typescript/no-explicit-any -- tests read fields of responses of any shape
type Json = any

const base = '/api/v1/billing'

const post = ({ body, headers }: { body: string; headers: Record<string, string> }): Promise<Answer> =>
  app.call('POST', `${base}/webhooks/stripe`, { body, headers })

const sendEvent = async (type: string, object: object, options: object = {}): Promise<void> => {
  const answer = await post(signedEvent(type, object, options))
  assert.deepEqual([answer.status, answer.body], [200, { success: true, data: { received: true } }])
}

const open = async (as: TestActor, amountCents: number): Promise<{ checkoutUrl: string; sessionId: string }> =>
  (await app.call('POST', `${base}/deposit`, { as, json: { amountCents } })).body.data

/** A completed deposit by card. Returns Stripe's checkout session. */
const depositByCard = async (as: TestActor, amountCents: number): Promise<Json> => {
  const { sessionId } = await open(as, amountCents)
  const session = stripe.pay(sessionId)
  await sendEvent('checkout.session.completed', session)
  return session
}

const ledgerOf = async (as: TestActor): Promise<[string, number][]> =>
  (await listLedger(app, as)).map(({ type, amountCents }) => [type, amountCents])

describe('deposits by card', () => {
  test('opens a checkout page and credits the deposit when Stripe reports the payment', async () => {
    const owner = await app.createOrg()
    const { checkoutUrl, sessionId } = await open(owner, 2_500)
    assert.match(checkoutUrl, /^https:\/\/checkout\.stripe\.test\//)
    const asked = stripe.requests.find(({ params }) => params.metadata?.orgId === owner.orgId)!
    assert.equal(asked.params.line_items['0'].price_data.unit_amount, '2500')
    assert.equal(asked.params.metadata.orgId, owner.orgId)
    assert.equal(asked.idempotencyKey, asked.params.client_reference_id)
    assert.ok(asked.params.success_url.startsWith(app.url))
    assert.equal((await getBilling(app, owner)).balance.balanceCents, 0)

    const session = stripe.pay(sessionId)
    await sendEvent('checkout.session.completed', session)
    const { balance, transactions } = await assertExact(app, owner)
    assert.deepEqual([balance.balanceCents, balance.cumulativeDepositsCents], [2_500, 2_500])
    assert.deepEqual(
      [transactions[0].type, transactions[0].amountCents, transactions[0].paymentIntentId],
      ['deposit', 2_500, session.payment_intent],
    )
  })

  test('credits a deposit once for repeated, concurrent and different events of its payment', async () => {
    const owner = await app.createOrg()
    const other = await app.secondServer(env)
    const { sessionId } = await open(owner, 1_000)
    const session = stripe.pay(sessionId)
    const same = signedEvent('checkout.session.completed', session)
    const events = [
      ...Array.from({ length: 10 }, () => same),
      ...Array.from({ length: 5 }, () => signedEvent('checkout.session.completed', session)),
      ...Array.from({ length: 5 }, () => signedEvent('checkout.session.async_payment_succeeded', session)),
    ]
    const answers = await Promise.all(
      events.map((event, i) =>
        (i % 2 === 0 ? app : other).call('POST', `${base}/webhooks/stripe`, {
          body: event.body,
          headers: event.headers,
        }),
      ),
    )
    assert.ok(answers.every(({ status }) => status === 200))
    await sendEvent('checkout.session.expired', session)
    assert.deepEqual(await ledgerOf(owner), [['deposit', 1_000]])
    await assertExact(app, owner)
  })

  test('credits the amount and the org of the checkout, not those of the event', async () => {
    const owner = await app.createOrg()
    const thief = await app.createOrg()
    const { sessionId } = await open(owner, 500)
    const session = stripe.pay(sessionId)
    await sendEvent('checkout.session.completed', {
      ...session,
      amount_total: 99_999,
      metadata: { orgId: thief.orgId },
      client_reference_id: thief.orgId,
    })
    assert.deepEqual(await ledgerOf(owner), [['deposit', 500]])
    assert.deepEqual(await ledgerOf(thief), [])
  })

  test('ignores a paid checkout session that was not opened here', async () => {
    const owner = await app.createOrg()
    const session = {
      id: 'cs_test_of_somebody_else',
      object: 'checkout.session',
      mode: 'payment',
      payment_status: 'paid',
      amount_total: 5_000,
      payment_intent: 'pi_of_somebody_else',
      metadata: { orgId: owner.orgId },
    }
    await sendEvent('checkout.session.completed', session)
    await sendEvent('payment_intent.succeeded', {
      id: 'pi_of_somebody_else',
      amount: 5_000,
      metadata: { orgId: owner.orgId },
    })
    await sendEvent('payment_intent.succeeded', { id: 'pi_2_of_somebody_else', metadata: { topupId: owner.orgId } })
    await sendEvent('some.event.of.the.future', { id: 'x' })
    assert.deepEqual(await ledgerOf(owner), [])
  })

  test('credits a delayed payment when it succeeds, and not when it fails', async () => {
    const owner = await app.createOrg()
    const [late, never] = [await open(owner, 300), await open(owner, 400)]
    const lateSession = { ...stripe.pay(late.sessionId), payment_status: 'unpaid' }
    await sendEvent('checkout.session.completed', lateSession)
    await sendEvent('checkout.session.completed', { ...stripe.pay(never.sessionId), payment_status: 'unpaid' })
    assert.deepEqual(await ledgerOf(owner), [])
    await sendEvent('checkout.session.async_payment_failed', { id: never.sessionId })
    await sendEvent('checkout.session.async_payment_succeeded', { ...lateSession, payment_status: 'paid' })
    assert.deepEqual(await ledgerOf(owner), [['deposit', 300]])
  })

  test('rejects amounts that are out of range, fractional or not a number, without a call to Stripe', async () => {
    const owner = await app.createOrg()
    await app.settled()
    const before = stripe.requests.length
    for (const amountCents of [99, 100_001, 100.5, '100', '1e3', -100, 0, null, 2 ** 53, [100], true, undefined]) {
      const answer = await app.call('POST', `${base}/deposit`, { as: owner, json: { amountCents } })
      assert.deepEqual([answer.status, answer.body.error.code], [400, 'BAD_REQUEST'], String(amountCents))
    }
    await app.settled()
    assert.equal(stripe.requests.length, before)
    for (const amountCents of [100, 100_000]) assert.ok((await open(owner, amountCents)).checkoutUrl)
  })

  test('opens one checkout page for requests with the same Idempotency-Key', async () => {
    const owner = await app.createOrg()
    await app.settled()
    const before = stripe.requests.length
    const ask = () =>
      app.call('POST', `${base}/deposit`, {
        as: owner,
        json: { amountCents: 700 },
        headers: { 'idempotency-key': 'deposit-1' },
      })
    const [first, second] = [await ask(), await ask()]
    assert.deepEqual(second.body, first.body)
    await app.settled()
    assert.equal(stripe.requests.length, before + 1)
  })

  test('posts a direct deposit with ALLOW_DIRECT_DEPOSITS=1 and opens a checkout page without', async () => {
    const owner = await app.createOrg()
    const direct = await app.call('POST', `${base}/deposit`, {
      as: owner,
      json: { amountCents: 250, method: 'direct' },
    })
    assert.deepEqual([direct.body.data.deposited, direct.body.data.method], [250, 'direct'])
    const closed = await app.secondServer({
      STRIPE_SECRET_KEY: secretKey,
      STRIPE_API_BASE: stripe.origin,
      ALLOW_DIRECT_DEPOSITS: '0',
    })
    const asked = await closed.call('POST', `${base}/deposit`, {
      as: owner,
      json: { amountCents: 250, method: 'direct' },
    })
    assert.deepEqual(Object.keys(asked.body.data).toSorted(), ['checkoutUrl', 'sessionId'])
    assert.deepEqual(await ledgerOf(owner), [['deposit', 250]])
  })

  test('responds with SERVICE_UNAVAILABLE without the reason when Stripe rejects the secret key', async () => {
    const owner = await app.createOrg()
    const wrong = await app.secondServer({ STRIPE_SECRET_KEY: 'sk_test_wrong', STRIPE_API_BASE: stripe.origin })
    const answer = await wrong.call('POST', `${base}/deposit`, { as: owner, json: { amountCents: 500 } })
    assert.deepEqual([answer.status, answer.body.error.code], [503, 'SERVICE_UNAVAILABLE'])
    assert.doesNotMatch(answer.text, /key|sk_test/i)
  })
})

describe('the webhook of the payment provider', () => {
  const session = { id: 'cs_x', payment_status: 'paid' }

  test('rejects events that are unsigned, signed with another secret, too old or modified', async () => {
    const event = signedEvent('checkout.session.completed', session)
    const old = Math.floor(Date.now() / 1_000) - 301
    const cases = [
      { body: event.body, headers: { 'content-type': 'application/json' } },
      signedEvent('checkout.session.completed', session, { secret: 'whsec_other' }),
      signedEvent('checkout.session.completed', session, { signedAt: old }),
      { ...event, body: event.body.replace('cs_x', 'cs_y') },
      { body: 'not JSON', headers: { 'content-type': 'application/json' } },
      { body: 'not JSON', headers: { 'content-type': 'foo' } },
    ]
    for (const one of cases) {
      const answer = await post(one)
      assert.deepEqual([answer.status, answer.body.error.code], [401, 'UNAUTHORIZED'])
    }
  })

  test('responds with SERVICE_UNAVAILABLE to events when no webhook secret is configured', async () => {
    const bare = await app.secondServer()
    const { body, headers } = signedEvent('checkout.session.completed', session)
    const answer = await bare.call('POST', `${base}/webhooks/stripe`, { body, headers })
    assert.equal(answer.body.error.code, 'SERVICE_UNAVAILABLE')
  })
})

describe('refunds and disputes', () => {
  const charge = (session: Json, refunded: number) => ({
    id: `ch_${session.payment_intent}`,
    object: 'charge',
    amount: session.amount_total,
    amount_refunded: refunded,
    payment_intent: session.payment_intent,
  })
  const refund = (session: Json, id: string, amount: number, status = 'succeeded') => ({
    id,
    object: 'refund',
    amount,
    status,
    payment_intent: session.payment_intent,
  })

  test('posts one refund transaction per refund, whichever of its events arrive and in any order', async () => {
    const owner = await app.createOrg()
    const session = await depositByCard(owner, 2_000)
    await sendEvent('refund.created', refund(session, 're_1', 300))
    await sendEvent('charge.refunded', charge(session, 300))
    await sendEvent('charge.refunded', charge(session, 800))
    await sendEvent('refund.created', refund(session, 're_2', 500))
    await sendEvent('charge.refunded', charge(session, 300))
    await sendEvent('refund.updated', refund(session, 're_1', 300))
    assert.deepEqual(await ledgerOf(owner), [
      ['deposit', 2_000],
      ['refund', -300],
      ['refund', -500],
    ])
    const { balance } = await assertExact(app, owner)
    assert.deepEqual([balance.balanceCents, balance.cumulativeDepositsCents], [1_200, 2_000])
  })

  test('posts an adjustment when a refund fails', async () => {
    const owner = await app.createOrg()
    const session = await depositByCard(owner, 1_000)
    await sendEvent('refund.created', refund(session, 're_f', 400, 'pending'))
    await sendEvent('charge.refunded', charge(session, 400))
    await sendEvent('refund.failed', refund(session, 're_f', 400, 'failed'))
    await sendEvent('refund.updated', refund(session, 're_f', 400, 'failed'))
    assert.deepEqual(await ledgerOf(owner), [
      ['deposit', 1_000],
      ['refund', -400],
      ['adjustment', 400],
    ])
    await assertExact(app, owner)
  })

  test('posts a refund that arrives before its deposit together with the deposit', async () => {
    const owner = await app.createOrg()
    const { sessionId } = await open(owner, 900)
    const session = stripe.pay(sessionId)
    await Promise.all([
      sendEvent('charge.refunded', charge(session, 100)),
      sendEvent('charge.dispute.created', {
        id: 'dp_early',
        object: 'dispute',
        amount: 200,
        status: 'needs_response',
        payment_intent: session.payment_intent,
      }),
    ])
    assert.deepEqual(await ledgerOf(owner), [])
    await sendEvent('checkout.session.completed', session)
    assert.deepEqual(await ledgerOf(owner), [
      ['deposit', 900],
      ['refund', -100],
      ['refund', -200],
    ])
    await assertExact(app, owner)
  })

  test('posts one refund transaction per dispute, and an adjustment when the dispute is won', async () => {
    const owner = await app.createOrg()
    const session = await depositByCard(owner, 3_000)
    const dispute = (id: string, status: string) => ({
      id,
      object: 'dispute',
      amount: 1_000,
      status,
      charge: `ch_${session.payment_intent}`,
      payment_intent: session.payment_intent,
    })
    await sendEvent('charge.dispute.created', dispute('dp_asked', 'warning_needs_response'))
    await Promise.all(
      ['created', 'funds_withdrawn', 'updated', 'closed'].map((what) =>
        sendEvent(`charge.dispute.${what}`, dispute('dp_lost', what === 'closed' ? 'lost' : 'needs_response')),
      ),
    )
    assert.deepEqual(await ledgerOf(owner), [
      ['deposit', 3_000],
      ['refund', -1_000],
    ])
    await sendEvent('charge.dispute.closed', dispute('dp_won', 'won'))
    await sendEvent('charge.dispute.created', dispute('dp_won', 'needs_response'), { createdAt: 1_700_000_000 })
    await sendEvent('charge.dispute.funds_reinstated', dispute('dp_won', 'won'))
    const { balance } = await assertExact(app, owner)
    assert.deepEqual([balance.balanceCents, balance.cumulativeDepositsCents], [2_000, 3_000])
  })

  test('lets a refund make the balance negative, and the next deposit repays it', async () => {
    const owner = await app.createOrg()
    const session = await depositByCard(owner, 200)
    const paid = await openPaid(app, owner)
    await spend(app, owner, paid.id, 1_500_000)
    await sendEvent('charge.refunded', charge(session, 200))
    assert.equal((await assertExact(app, owner)).balance.balanceCents, -150)
    await app.call('POST', `${base}/deposit`, { as: owner, json: { amountCents: 400, method: 'direct' } })
    assert.equal((await assertExact(app, owner)).balance.balanceCents, 250)
  })
})
