import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { assertExact, getBilling, listLedger } from '../../../test/support/billing.ts'
import { until } from '../../../test/support/chat.ts'
import {
  invoicePaymentAgeSeconds,
  secretKey,
  signedEvent,
  startFakeStripe,
  webhookSecret,
} from '../../../test/fakes/stripe.ts'
import { startTestApp } from '../../../test/harness.ts'
import type { TestActor } from '../../../test/harness.ts'
import { recordedEvents } from '../../../test/support/database/recorded-events.ts'
import { sql } from '../../platform/database/database.ts'
import { sweep } from '../jobs.ts'
import { workOnReplacedSubscription } from './subscription-jobs.ts'

const stripe = await startFakeStripe()
const env = { STRIPE_SECRET_KEY: secretKey, STRIPE_WEBHOOK_SECRET: webhookSecret, STRIPE_API_BASE: stripe.origin }
const app = await startTestApp(env)

// oxlint-disable-next-line typescript/no-explicit-any -- tests read fields of responses of any shape
type Json = any

const base = '/api/v1/billing'

const sendEvent = async (type: string, object: object, options: object = {}): Promise<void> => {
  const answer = await app.call('POST', `${base}/webhooks/stripe`, signedEvent(type, object, options))
  assert.deepEqual([answer.status, answer.body], [200, { success: true, data: { received: true } }])
}

const ledgerOf = async (as: TestActor): Promise<[string, number][]> =>
  (await listLedger(app, as)).map(({ type, amountCents }) => [type, amountCents])

describe('subscriptions', () => {
  const start = async (as: TestActor, planId: string): Promise<Json> =>
    (await app.call('POST', `${base}/subscriptions/checkout`, { as, json: { planId } })).body
  /** Another page beside the open one, which the server takes for closed. */
  const startAnother = async (as: TestActor, planId: string): Promise<Json> => {
    await app.db.execute(sql`
      update checkouts set created_at = now() - interval '25 hours' where org_id = ${as.orgId} and state = 'open'`)
    return start(as, planId)
  }
  const invoice = (subscription: string, id: string, more: object = {}) => ({
    id,
    object: 'invoice',
    amount_paid: 2_000,
    billing_reason: 'subscription_cycle',
    parent: { type: 'subscription_details', subscription_details: { subscription } },
    lines: { data: [{ period: { end: 1_800_000_000 } }] },
    ...more,
  })

  test('grants the credit of a plan once per paid month and reports the state of the subscription', async () => {
    const owner = await app.createOrg()
    const { data } = await start(owner, 'pro')
    assert.deepEqual(Object.keys(data).toSorted(), ['checkoutUrl', 'planId', 'sessionId'])
    const session = stripe.pay(data.sessionId)
    const first = invoice(session.subscription, 'in_1', { billing_reason: 'subscription_create' })
    // The event of the first invoice may arrive before that of the checkout.
    await sendEvent('invoice.paid', first)
    assert.deepEqual(await ledgerOf(owner), [])
    await sendEvent('checkout.session.completed', session)
    await sendEvent('invoice.payment_succeeded', first)
    assert.deepEqual(await ledgerOf(owner), [['adjustment', 2_000]])
    // The fields of API versions before 2025.
    const older = {
      id: 'in_2',
      amount_paid: 2_000,
      billing_reason: 'subscription_cycle',
      subscription: session.subscription,
    }
    await sendEvent('invoice.paid', older)
    await sendEvent('invoice.paid', invoice(session.subscription, 'in_3', { billing_reason: 'subscription_update' }))
    await sendEvent('invoice.paid', invoice(session.subscription, 'in_4', { amount_paid: 0 }))
    assert.deepEqual(await ledgerOf(owner), [
      ['adjustment', 2_000],
      ['adjustment', 2_000],
    ])
    const { subscription, balance } = await assertExact(app, owner)
    assert.deepEqual(
      [subscription.planId, subscription.status, subscription.currentPeriodEnd, balance.cumulativeDepositsCents],
      ['pro', 'active', '2027-01-15T08:00:00.000Z', 0],
    )
    assert.equal((await start(owner, 'pro')).error.code, 'CONFLICT')
  })

  describe('whose payment is refunded or disputed', () => {
    const subscribe = async (as: TestActor): Promise<string> => {
      const session = stripe.pay((await start(as, 'pro')).data.sessionId)
      await sendEvent('checkout.session.completed', session)
      return session.subscription
    }
    const charge = (intent: string, refunded: number) => ({
      id: `ch_${intent}`,
      amount_refunded: refunded,
      payment_intent: intent,
    })
    const refund = (intent: string, amount: number, status = 'succeeded') => ({
      id: `re_${intent}_${amount}`,
      amount,
      status,
      payment_intent: intent,
    })
    const dispute = (intent: string, amount: number, status = 'needs_response') => ({
      id: `dp_${intent}`,
      amount,
      status,
      payment_intent: intent,
    })

    test("withdraws a plan's credit once for repeated and different events of a refunded payment", async () => {
      const owner = await app.createOrg()
      const other = await app.secondServer(env)
      const subscription = await subscribe(owner)
      const paid = invoice(subscription, 'in_back', { payment_intent: 'pi_back' })
      await sendEvent('invoice.paid', paid)
      const events = Array.from({ length: 4 }, () => [
        signedEvent('charge.refunded', charge('pi_back', 500)),
        signedEvent('refund.created', refund('pi_back', 500)),
        signedEvent('charge.dispute.created', dispute('pi_back', 2_000)),
        signedEvent('invoice.payment_succeeded', paid),
        signedEvent('charge.refunded', charge('pi_back', 2_000)),
        signedEvent('charge.dispute.closed', dispute('pi_back', 2_000, 'lost')),
      ]).flat()
      const answers = await Promise.all(
        events.map((event, i) => (i % 2 === 0 ? app : other).call('POST', `${base}/webhooks/stripe`, event)),
      )
      assert.ok(answers.every(({ status }) => status === 200))
      const { balance } = await assertExact(app, owner)
      assert.deepEqual([balance.balanceCents, balance.cumulativeDepositsCents], [0, 0])
      const back = (await listLedger(app, owner)).filter(({ type }) => type === 'refund')
      assert.equal(
        back.reduce((sum, { amountCents }) => sum + amountCents, 0),
        -2_000,
      )
      assert.ok(back.every(({ paymentIntentId }) => paymentIntentId === 'pi_back'))
    })

    test("withdraws a plan's credit when the refund arrives before the invoice or the checkout", async () => {
      const owner = await app.createOrg()
      const session = stripe.pay((await start(owner, 'pro')).data.sessionId)
      const payment = { payment: { type: 'payment_intent', payment_intent: 'pi_first' }, status: 'paid' }
      await Promise.all([
        sendEvent('refund.created', refund('pi_first', 2_000)),
        sendEvent('invoice.paid', invoice(session.subscription, 'in_first', { payments: { data: [payment] } })),
      ])
      assert.deepEqual(await ledgerOf(owner), [])
      await sendEvent('checkout.session.completed', session)
      assert.deepEqual(await ledgerOf(owner), [
        ['adjustment', 2_000],
        ['refund', -2_000],
      ])
      await assertExact(app, owner)
    })

    test('looks up the payment of an invoice that does not name it, and applies its refund', async () => {
      const owner = await app.createOrg()
      stripe.invoicePayments.set('in_asked', 'pi_asked')
      const subscription = await subscribe(owner)
      await sendEvent('charge.refunded', charge('pi_asked', 2_000))
      await sendEvent('invoice.paid', invoice(subscription, 'in_asked'))
      await until(
        () => ledgerOf(owner),
        (ledger) => ledger.length === 2,
      )
      await sendEvent('charge.refunded', charge('pi_asked', 2_000))
      assert.deepEqual(await ledgerOf(owner), [
        ['adjustment', 2_000],
        ['refund', -2_000],
      ])
      await assertExact(app, owner)
    })

    test("withdraws a plan's credit in proportion to partial refunds, and restores it for failed refunds and won disputes", async () => {
      const owner = await app.createOrg()
      const subscription = await subscribe(owner)
      await sendEvent('invoice.paid', invoice(subscription, 'in_tax', { payment_intent: 'pi_tax', amount_paid: 2_380 }))
      await sendEvent('refund.created', refund('pi_tax', 595))
      await sendEvent('charge.dispute.created', dispute('pi_tax', 1_785))
      await sendEvent('charge.dispute.closed', dispute('pi_tax', 1_785, 'won'))
      await sendEvent('refund.failed', refund('pi_tax', 595, 'failed'))
      assert.deepEqual(await ledgerOf(owner), [
        ['adjustment', 2_000],
        ['refund', -500],
        ['refund', -1_500],
        ['adjustment', 1_500],
        ['adjustment', 500],
      ])
      await assertExact(app, owner)
    })
  })

  test('reports subscriptions that are past due, ending and ended, and never restarts an ended one', async () => {
    const owner = await app.createOrg()
    const { data } = await start(owner, 'team')
    const session = stripe.pay(data.sessionId)
    await sendEvent('checkout.session.completed', session)
    const id = session.subscription
    const stateOf = async () => {
      const { subscription } = await getBilling(app, owner)
      return [subscription.status, subscription.cancelAtPeriodEnd]
    }
    const at = (seconds: number) => ({ createdAt: 1_790_000_000 + seconds })
    await sendEvent('invoice.payment_failed', invoice(id, 'in_f'), at(10))
    assert.deepEqual(await stateOf(), ['past_due', false])
    await sendEvent('customer.subscription.updated', { id, status: 'active', cancel_at_period_end: true }, at(20))
    assert.deepEqual(await stateOf(), ['active', true])
    await sendEvent('customer.subscription.updated', { id, status: 'past_due', cancel_at_period_end: false }, at(15))
    assert.deepEqual(await stateOf(), ['active', true])
    await sendEvent('customer.subscription.deleted', { id, status: 'canceled' }, at(30))
    await sendEvent('customer.subscription.updated', { id, status: 'active' }, at(30))
    assert.equal((await stateOf())[0], 'canceled')
    const events = await recordedEvents(app.db, owner.orgId)
    assert.deepEqual(
      events
        .filter(({ type }) => type === 'subscription.updated')
        .map(({ data }) => [data['planId'], data['status'], data['cancelAtPeriodEnd']]),
      [
        ['team', 'active', false],
        ['team', 'past_due', false],
        ['team', 'active', true],
        ['team', 'canceled', true],
      ],
      'one event for each change',
    )
    assert.ok((await start(owner, 'team')).data.checkoutUrl)
  })

  test('keeps each field of the later event that reported it, in whatever order two events arrive', async () => {
    const at = 1_790_000_000
    const updated = (id: string, over: object) => ({ id, status: 'active', cancel_at_period_end: false, ...over })
    // The renewal begins at +100, and its payment fails at +101.
    const events = (id: string): [string, object, number][] => [
      ['customer.subscription.updated', updated(id, { current_period_end: at }), at],
      ['invoice.payment_failed', invoice(id, `in_${id}`), at + 101],
      [
        'customer.subscription.updated',
        updated(id, { cancel_at_period_end: true, current_period_end: at + 5_000 }),
        at + 100,
      ],
    ]
    for (const order of [
      [0, 1, 2],
      [0, 2, 1],
      [1, 2, 0],
      [2, 1, 0],
    ]) {
      const owner = await app.createOrg()
      const session = stripe.pay((await start(owner, 'pro')).data.sessionId)
      await sendEvent('checkout.session.completed', session)
      for (const place of order) {
        const [type, object, createdAt] = events(session.subscription)[place]!
        await sendEvent(type, object, { createdAt })
      }
      const { subscription } = await getBilling(app, owner)
      assert.deepEqual(
        [subscription.status, subscription.cancelAtPeriodEnd, subscription.currentPeriodEnd],
        ['past_due', true, new Date((at + 5_000) * 1_000).toISOString()],
        String(order),
      )
    }
  })

  test('merges later fields into a fact that the previous version stored with one time', async () => {
    const owner = await app.createOrg()
    const session = stripe.pay((await start(owner, 'pro')).data.sessionId)
    await sendEvent('checkout.session.completed', session)
    const { subscription: id } = session
    const at = 1_790_000_000
    const stored = { status: 'past_due', cancelAtPeriodEnd: true }
    await app.db.execute(sql`
      insert into payment_facts (subject, kind, id, data, told_at)
      values (${id}, 'subscription', 'subscription', ${JSON.stringify(stored)}, to_timestamp(${at}))`)
    const update = { id, status: 'active', cancel_at_period_end: false, current_period_end: at }
    const stateOf = async () => {
      const { subscription } = await getBilling(app, owner)
      return [subscription.status, subscription.cancelAtPeriodEnd, subscription.currentPeriodEnd]
    }
    await sendEvent('customer.subscription.updated', update, { createdAt: at - 1 })
    const periodEnd = new Date(at * 1_000).toISOString()
    assert.deepEqual(await stateOf(), ['past_due', true, periodEnd])
    await sendEvent('customer.subscription.updated', { ...update, current_period_end: null }, { createdAt: at + 1 })
    assert.deepEqual(await stateOf(), ['active', false, periodEnd])
  })

  test("dates a cancellation and a payment that it looked up by Stripe's clock", async () => {
    const owner = await app.createOrg()
    const session = stripe.pay((await start(owner, 'pro')).data.sessionId)
    const { subscription: id } = session
    const createdAt = 1_790_000_000
    await sendEvent('checkout.session.completed', session, { createdAt })
    stripe.invoicePayments.set('in_clock', 'pi_clock')
    await sendEvent('invoice.paid', invoice(id, 'in_clock'), { createdAt })
    await app.settled()
    await app.call('POST', `${base}/subscriptions/cancel`, { as: owner })
    const facts = await app.db.rows<{ kind: string; reportedAt: string }>(sql`
      select kind, told_at as reported_at from payment_facts where subject = ${id} order by kind`)
    const [paid, ended] = facts.map(({ reportedAt }) => Date.parse(reportedAt))
    assert.deepEqual(
      facts.map(({ kind }) => kind),
      ['invoice', 'subscription'],
    )
    // The fake reports whole seconds, and payments of invoices as made an hour ago.
    assert.equal(ended! % 1_000, 0)
    assert.equal(paid! % 1_000, 0)
    assert.ok(Date.now() - paid! >= (invoicePaymentAgeSeconds - 1) * 1_000)
  })

  test('keeps the end of the period when an invoice for a single item or a change within it is paid', async () => {
    const owner = await app.createOrg()
    const session = stripe.pay((await start(owner, 'pro')).data.sessionId)
    await sendEvent('checkout.session.completed', session)
    const at = 1_790_000_000
    const { subscription: id } = session
    const end = at + 2_592_000
    await sendEvent(
      'customer.subscription.updated',
      { id, status: 'active', current_period_end: end },
      { createdAt: at },
    )
    for (const billing_reason of ['manual', 'subscription_update', 'subscription_threshold']) {
      const lines = { data: [{ period: { start: at + 10, end: at + 10 } }] }
      const one = invoice(id, `in_${billing_reason}_${id}`, { billing_reason, amount_paid: 500, lines })
      await sendEvent('invoice.paid', one, { createdAt: at + 10 })
    }
    const { subscription } = await getBilling(app, owner)
    assert.equal(subscription.currentPeriodEnd, new Date(end * 1_000).toISOString())
    assert.deepEqual(await ledgerOf(owner), [], 'and they grant no credit')
  })

  test('keeps the state of the plan when an invoice for a single item or a change within the period fails or is paid', async () => {
    const owner = await app.createOrg()
    const session = stripe.pay((await start(owner, 'pro')).data.sessionId)
    await sendEvent('checkout.session.completed', session)
    const { subscription: id } = session
    const at = 1_790_000_000
    const reasons = ['manual', 'subscription_update', 'subscription_threshold']
    const sendAll = async (type: string, createdAt: number): Promise<void> => {
      for (const billing_reason of reasons) {
        await sendEvent(type, invoice(id, `in_${billing_reason}_${id}`, { billing_reason }), { createdAt })
      }
    }
    await sendEvent('customer.subscription.updated', { id, status: 'active' }, { createdAt: at })
    await sendAll('invoice.payment_failed', at + 10)
    assert.equal((await getBilling(app, owner)).subscription.status, 'active')
    await sendEvent('invoice.payment_failed', invoice(id, `in_cycle_${id}`), { createdAt: at + 20 })
    assert.equal((await getBilling(app, owner)).subscription.status, 'past_due')
    await sendAll('invoice.paid', at + 30)
    assert.equal((await getBilling(app, owner)).subscription.status, 'past_due')
    await sendEvent('invoice.paid', invoice(id, `in_cycle_${id}`), { createdAt: at + 40 })
    assert.equal((await getBilling(app, owner)).subscription.status, 'active')
  })

  test('leaves a paid plan active when its events of one second arrive in any order', async () => {
    const createdAt = 1_790_000_000
    const subscription = (id: string, status: string) => ({ id, status, current_period_end: createdAt + 2_592_000 })
    const events = (id: string): [string, object][] => [
      ['customer.subscription.updated', subscription(id, 'active')],
      ['invoice.paid', invoice(id, `in_${id}`, { billing_reason: 'subscription_create' })],
      ['customer.subscription.updated', subscription(id, 'incomplete')],
      ['customer.subscription.created', subscription(id, 'incomplete')],
    ]
    for (const order of [
      [0, 1, 2, 3],
      [3, 2, 1, 0],
      [2, 0, 3, 1],
      [1, 3, 0, 2],
    ]) {
      const owner = await app.createOrg()
      const session = stripe.pay((await start(owner, 'pro')).data.sessionId)
      await sendEvent('checkout.session.completed', session, { createdAt })
      for (const place of order) {
        const [type, object] = events(session.subscription)[place]!
        await sendEvent(type, object, { createdAt })
      }
      assert.equal((await getBilling(app, owner)).subscription.status, 'active', String(order))
    }
  })

  test('ends the plan with the paid month when a billing manager cancels it', async () => {
    const owner = await app.createOrg()
    const cancel = (as: TestActor) => app.call('POST', `${base}/subscriptions/cancel`, { as })
    assert.equal((await cancel(owner)).body.error.code, 'NOT_FOUND')
    const session = stripe.pay((await start(owner, 'pro')).data.sessionId)
    await sendEvent('checkout.session.completed', session)
    await sendEvent('invoice.paid', invoice(session.subscription, 'in_e'), { createdAt: 1_790_000_000 })
    assert.equal((await cancel(await app.createUser(owner))).status, 403)
    const { body } = await cancel(owner)
    assert.deepEqual(body.data, {
      planId: 'pro',
      cancelAtPeriodEnd: true,
      currentPeriodEnd: '2027-01-15T08:00:00.000Z',
    })
    const asked = stripe.requests.find(({ path }) => path === `/v1/subscriptions/${session.subscription}`)
    assert.equal(asked?.params.cancel_at_period_end, 'true')
    const { subscription } = await getBilling(app, owner)
    assert.deepEqual([subscription.status, subscription.cancelAtPeriodEnd], ['active', true])
    assert.ok((await start(owner, 'pro')).data.checkoutUrl, 'it can be taken up again')
  })

  test('cancels the previous subscription when another plan is paid', async () => {
    const owner = await app.createOrg()
    const pro = stripe.pay((await start(owner, 'pro')).data.sessionId)
    await sendEvent('checkout.session.completed', pro)
    const team = stripe.pay((await start(owner, 'team')).data.sessionId)
    await sendEvent('checkout.session.completed', team)
    assert.equal((await getBilling(app, owner)).subscription.planId, 'team')
    await until(
      () => Promise.resolve(stripe.requests.filter(({ method }) => method === 'DELETE').map(({ path }) => path)),
      (paths) => paths.includes(`/v1/subscriptions/${pro.subscription}`),
    )
  })

  const cancelled = (...ids: string[]): string[] =>
    stripe.requests
      .filter(({ method, path }) => method === 'DELETE' && ids.some((id) => path.endsWith(`/${id}`)))
      .map(({ path }) => path.split('/').at(-1)!)

  test('keeps the plan that was bought last when the event of an older checkout comes late', async () => {
    const owner = await app.createOrg()
    const at = Math.floor(Date.now() / 1_000)
    const pro = stripe.pay((await start(owner, 'pro')).data.sessionId)
    const team = stripe.pay((await start(owner, 'team')).data.sessionId)
    await sendEvent('checkout.session.completed', team, { createdAt: at - 3_000 })
    await sendEvent('checkout.session.completed', pro, { createdAt: at - 3_600 })
    await app.settled()
    assert.deepEqual(cancelled(pro.subscription, team.subscription), [pro.subscription])
    assert.equal((await getBilling(app, owner)).subscription.planId, 'team')
    const { body } = await app.call('GET', '/api/v1/quotas', { as: owner })
    assert.ok(body.data.items.every(({ plan }: Json) => plan === 'team'))
  })

  test('cancels a replaced plan again until Stripe confirms it', async () => {
    const owner = await app.createOrg()
    const pro = stripe.pay((await start(owner, 'pro')).data.sessionId)
    await sendEvent('checkout.session.completed', pro)
    await sendEvent('checkout.session.completed', stripe.pay((await start(owner, 'team')).data.sessionId))
    await app.settled()
    const stateOf = () =>
      app.db.row<{ status: string; isWanted: boolean }>(sql`
        select status, cancel_wanted_at is not null as is_wanted from subscriptions
        where org_id = ${owner.orgId} and provider_id = ${pro.subscription}`)
    assert.deepEqual(await stateOf(), { status: 'canceled', isWanted: false })
    // The state after a job that was given up.
    await app.db.execute(sql`delete from payment_facts where subject = ${pro.subscription}`)
    await app.db.execute(sql`
      update subscriptions set status = 'active', cancel_wanted_at = now()
      where org_id = ${owner.orgId} and provider_id = ${pro.subscription}`)
    const asked = { orgId: owner.orgId, subscriptionId: pro.subscription }
    const withoutKey = { ...app.deps, payments: undefined }
    await assert.rejects(workOnReplacedSubscription(withoutKey, asked, { isLastAttempt: false }), /not configured/)
    assert.deepEqual(await stateOf(), { status: 'active', isWanted: true })
    await app.db.transaction({ orgId: owner.orgId }, (db) => app.deps.jobs.enqueue(db, sweep, {}))
    await app.settled()
    assert.deepEqual(cancelled(pro.subscription), [pro.subscription, pro.subscription])
    assert.deepEqual(await stateOf(), { status: 'canceled', isWanted: false })
    assert.equal((await getBilling(app, owner)).subscription.planId, 'team')
  })

  test('looks for the payment of an invoice again after its job was given up, so that a refund withdraws the credit', async () => {
    const owner = await app.createOrg()
    const session = stripe.pay((await start(owner, 'pro')).data.sessionId)
    await sendEvent('checkout.session.completed', session)
    const { subscription } = session
    const invoice = { id: 'in_late', subscription, billing_reason: 'subscription_create', amount_paid: 2_000 }
    await sendEvent('invoice.paid', invoice)
    await app.settled()
    const { balanceCents: before } = (await getBilling(app, owner)).balance
    // The job found none, as one that was given up.
    stripe.invoicePayments.set('in_late', 'pi_late')
    await sendEvent('customer.subscription.updated', { id: subscription, status: 'active' })
    await app.settled()
    await sendEvent('charge.refunded', { id: 'ch_late', payment_intent: 'pi_late', amount_refunded: 2_000 })
    assert.equal((await getBilling(app, owner)).balance.balanceCents, before - 2_000)
  })

  test('keeps one of two subscriptions when two checkout pages of a plan are paid at once', async () => {
    const owner = await app.createOrg()
    const createdAt = Math.floor(Date.now() / 1_000)
    const opened = [await start(owner, 'pro'), await startAnother(owner, 'pro')]
    const pages = opened.map(({ data }) => stripe.pay(data.sessionId))
    await Promise.all(pages.map((page) => sendEvent('checkout.session.completed', page, { createdAt })))
    await app.settled()
    assert.equal(cancelled(...pages.map((page) => page.subscription)).length, 1)
  })

  describe('that were paid twice for one plan', () => {
    /** Two pages of a plan that were open at the same time, paid in this order. Their events arrive later. */
    const payTwice = async (as: TestActor): Promise<[Json, Json]> => {
      const [first, second] = [(await start(as, 'pro')).data, (await startAnother(as, 'pro')).data]
      return [stripe.pay(first.sessionId), stripe.pay(second.sessionId)]
    }
    const paid = (session: Json) => stripe.invoices.get(session.subscription)![0]
    const paymentOf = (session: Json): string => stripe.invoicePayments.get(session.invoice)!
    const refundsOf = (...sessions: Json[]): [string, number][] =>
      stripe.refunds
        .filter((one) => sessions.some((session) => paymentOf(session) === one.payment_intent))
        .map((one) => [one.payment_intent, one.amount])
    const auditOf = async (as: TestActor): Promise<Json[]> =>
      (await app.call('GET', '/api/v1/audit-log?action=billing.payment-refunded', { as })).body.data.items
    const isRefundWanted = async (session: Json): Promise<boolean> =>
      (await app.db.row<{ isWanted: boolean }>(sql`
        select refund_wanted_at is not null as is_wanted from subscriptions
        where provider_id = ${session.subscription}`))!.isWanted
    const runSweep = async (as: TestActor): Promise<void> => {
      await app.db.transaction({ orgId: as.orgId }, (db) => app.deps.jobs.enqueue(db, sweep, {}))
      await app.settled()
    }

    test('refunds the payment of the canceled subscription once and withdraws its credit, in whatever order the events arrive', async () => {
      const at = Math.floor(Date.now() / 1_000) - 100
      type Step = (first: Json, second: Json) => [string, object, number]
      const bought: Step[] = [
        (first) => ['checkout.session.completed', first, at],
        (_, second) => ['checkout.session.completed', second, at + 50],
      ]
      const invoices: Step[] = [
        (first) => ['invoice.paid', paid(first), at],
        (_, second) => ['invoice.paid', paid(second), at + 50],
      ]
      const orders: Step[][] = [
        [...bought, ...invoices],
        [...invoices, ...bought],
        [bought[1]!, invoices[1]!, invoices[0]!, bought[0]!],
        [bought[0]!, invoices[0]!, bought[1]!, invoices[1]!],
      ]
      for (const [n, order] of orders.entries()) {
        const owner = await app.createOrg()
        const [first, second] = await payTwice(owner)
        for (const step of order) {
          const [type, object, createdAt] = step(first, second)
          await sendEvent(type, object, { createdAt })
        }
        await app.settled()
        assert.deepEqual(cancelled(first.subscription, second.subscription), [first.subscription], `order ${n}`)
        assert.deepEqual(refundsOf(first, second), [[paymentOf(first), 2_000]], `order ${n}`)
        // Stripe's own events about the refund change nothing.
        const [refund] = stripe.refunds
        await sendEvent('refund.created', refund)
        await sendEvent('charge.refunded', {
          id: 'ch_twice',
          payment_intent: refund.payment_intent,
          amount_refunded: 2_000,
        })
        const { balance, subscription } = await assertExact(app, owner)
        assert.deepEqual([balance.balanceCents, subscription.planId, subscription.status], [2_000, 'pro', 'active'])
        const back = (await listLedger(app, owner)).filter(({ type }) => type === 'refund')
        assert.deepEqual(
          back.map(({ amountCents, paymentIntentId }) => [amountCents, paymentIntentId]),
          [[-2_000, paymentOf(first)]],
        )
        assert.deepEqual(
          (await auditOf(owner)).map(({ actor, resource, details }) => [actor.name, resource, details]),
          [
            [
              'Billing',
              { type: 'subscription', id: first.subscription },
              { planId: 'pro', paymentIntentId: paymentOf(first), amountCents: 2_000 },
            ],
          ],
        )
        const receipts = (await app.call('GET', `${base}/receipts`, { as: owner })).body.data.items
        assert.deepEqual(
          receipts.map(({ paymentIntentId }: Json) => paymentIntentId).toSorted(),
          [paymentOf(first), paymentOf(second)].toSorted(),
        )
      }
    })

    test('refunds once although Stripe has forgotten the idempotency key, and until it confirms', async () => {
      const owner = await app.createOrg()
      const [first, second] = await payTwice(owner)
      for (const session of [first, second]) {
        await sendEvent('checkout.session.completed', session)
        await sendEvent('invoice.paid', paid(session))
      }
      await app.settled()
      const [refunded] = refundsOf(first, second)
      const [session] = [first, second].filter((one) => paymentOf(one) === refunded![0])
      // The state after a worker that was killed when Stripe had made the refund.
      await app.db.execute(sql`
        update subscriptions set refund_wanted_at = now() where provider_id = ${session.subscription}`)
      const asked = { orgId: owner.orgId, subscriptionId: session.subscription }
      await assert.rejects(
        workOnReplacedSubscription({ ...app.deps, payments: undefined }, asked, { isLastAttempt: false }),
        /not configured/,
      )
      assert.equal(await isRefundWanted(session), true)
      stripe.forgetKeys()
      await runSweep(owner)
      assert.equal(await isRefundWanted(session), false)
      assert.equal(refundsOf(first, second).length, 1)
      assert.equal(cancelled(session.subscription).length, 1)
      assert.equal((await assertExact(app, owner)).balance.balanceCents, 2_000)
    })

    test('refunds that Stripe keeps rejecting are tried less often, reported after three days and given up after 30', async () => {
      const owner = await app.createOrg()
      const at = Math.floor(Date.now() / 1_000) - 100
      const [first, second] = await payTwice(owner)
      for (const [session, createdAt] of [
        [first, at],
        [second, at + 50],
      ]) {
        await sendEvent('checkout.session.completed', session, { createdAt })
        await sendEvent('invoice.paid', paid(session), { createdAt })
      }
      await app.settled()
      stripe.unrefundable.add(paymentOf(first))
      stripe.forgetKeys()
      /** The state so long after the plan was replaced, when the next attempt is due. */
      const wait = (hours: number): Promise<number> =>
        app.db.execute(sql`
          update subscriptions set refund_wanted_at = now() - ${hours} * interval '1 hour', provider_retry_at = null
          where org_id = ${owner.orgId} and provider_id = ${first.subscription}`)
      const attempt = (isLastAttempt: boolean): Promise<void> => {
        const asked = { orgId: owner.orgId, subscriptionId: first.subscription }
        const deps = { ...app.deps, payments: app.deps.billing.payments }
        return workOnReplacedSubscription(deps, asked, { isLastAttempt })
      }
      const attempts = (): number =>
        stripe.requests.filter(
          ({ path, method, params }) =>
            method === 'POST' && path === '/v1/refunds' && params.payment_intent === paymentOf(first),
        ).length
      const replaced = async (): Promise<Json> => (await getBilling(app, owner)).replacedPlans
      const reports = async (): Promise<Json[]> =>
        (await app.call('GET', '/api/v1/audit-log?action=billing.refund-failed', { as: owner })).body.data.items

      await wait(0)
      await assert.rejects(attempt(false), /unavailable/)
      await attempt(true)
      const [{ since, ...state }] = await replaced()
      assert.deepEqual(state, { planId: 'pro', planName: 'Pro', state: 'refunding' })
      assert.ok(Date.parse(since) <= Date.now())
      const before = attempts()
      await runSweep(owner)
      assert.equal(attempts(), before, 'the next attempt is ten minutes later')
      assert.deepEqual(await reports(), [])

      await wait(73)
      await attempt(true)
      await wait(97)
      await attempt(true)
      assert.equal((await replaced())[0].state, 'failed')
      assert.deepEqual(
        (await reports()).map(({ actor, resource, details }) => [actor.name, resource.id, details.planId]),
        [['Billing', first.subscription, 'pro']],
      )
      await wait(31 * 24)
      const last = attempts()
      await runSweep(owner)
      assert.equal(attempts(), last, 'it is given up')

      stripe.unrefundable.clear()
      stripe.forgetKeys()
      await wait(97)
      await runSweep(owner)
      assert.deepEqual(await replaced(), [])
      assert.equal((await assertExact(app, owner)).balance.balanceCents, 2_000)
    })

    test('does not refund a payment that the bank has withdrawn', async () => {
      const owner = await app.createOrg()
      const [first, second] = await payTwice(owner)
      stripe.disputed.add(paymentOf(first))
      const at = Math.floor(Date.now() / 1_000) - 100
      await sendEvent('checkout.session.completed', first, { createdAt: at })
      await sendEvent('invoice.paid', paid(first), { createdAt: at })
      const dispute = { id: 'dp_twice', amount: 2_000, payment_intent: paymentOf(first), status: 'needs_response' }
      await sendEvent('charge.dispute.created', dispute)
      await sendEvent('checkout.session.completed', second, { createdAt: at + 50 })
      await app.settled()
      assert.deepEqual(refundsOf(first, second), [])
      assert.equal(await isRefundWanted(first), false)
      assert.deepEqual(await auditOf(owner), [])
      assert.equal((await assertExact(app, owner)).balance.balanceCents, 0)
    })

    test('refunds neither the previous plan of an org nor a plan that it has ended and buys again', async () => {
      const owner = await app.createOrg()
      const at = Math.floor(Date.now() / 1_000) - 100
      const pro = stripe.pay((await start(owner, 'pro')).data.sessionId)
      await sendEvent('checkout.session.completed', pro, { createdAt: at })
      await app.call('POST', `${base}/subscriptions/cancel`, { as: owner })
      const again = stripe.pay((await start(owner, 'pro')).data.sessionId)
      await sendEvent('checkout.session.completed', again, { createdAt: at + 10 })
      await app.settled()
      const team = stripe.pay((await start(owner, 'team')).data.sessionId)
      await sendEvent('checkout.session.completed', team, { createdAt: at + 20 })
      await app.settled()
      assert.deepEqual(cancelled(pro.subscription, again.subscription, team.subscription), [
        pro.subscription,
        again.subscription,
      ])
      assert.deepEqual(refundsOf(pro, again, team), [])
    })
  })
})
