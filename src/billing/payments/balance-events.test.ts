import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { secretKey, signedEvent, startFakeStripe, webhookSecret } from '../../../test/fakes/stripe.ts'
import { startTestApp } from '../../../test/harness.ts'
import type { TestActor } from '../../../test/harness.ts'
import { assertBalanceEvents, assertExact, getBilling, openPaid, spend } from '../../../test/support/billing.ts'
import { recordedEvents } from '../../../test/support/database/recorded-events.ts'
import type { RecordedEvent } from '../../../test/support/database/recorded-events.ts'
import { until } from '../../../test/support/until.ts'
import { sql } from '../../platform/database/database.ts'
import { inChain } from '../../outbox/chain.ts'
import { newId } from '../../platform/ids.ts'
import { postCharges } from '../ledger/ledger.ts'

const stripe = await startFakeStripe()
const env = { STRIPE_SECRET_KEY: secretKey, STRIPE_WEBHOOK_SECRET: webhookSecret, STRIPE_API_BASE: stripe.origin }
const app = await startTestApp(env)
const other = await app.secondServer(env)

const base = '/api/v1/billing'

const sendEvent = async (type: string, object: object): Promise<void> => {
  const { body, headers } = signedEvent(type, object)
  assert.equal((await app.call('POST', `${base}/webhooks/stripe`, { body, headers })).status, 200)
}

const payDeposit = async (as: TestActor, amountCents: number) => {
  const { body } = await app.call('POST', `${base}/deposit`, { as, json: { amountCents } })
  const session = stripe.pay(body.data.sessionId)
  await Promise.all(Array.from({ length: 4 }, () => sendEvent('checkout.session.completed', session)))
  return session
}

const set = async (as: TestActor, json: object): Promise<void> => {
  const { status, text } = await app.call('PATCH', base, { as, json })
  assert.equal(status, 200, text)
}

const balanceEvents = async ({ orgId }: TestActor): Promise<RecordedEvent[]> =>
  (await recordedEvents(app.db, orgId)).filter(({ type }) => type.startsWith('balance.'))

const typesOf = async (as: TestActor): Promise<string[]> => (await balanceEvents(as)).map(({ type }) => type)

describe('events of the balance', () => {
  test('reports a low and an exhausted balance once each when two servers charge at the same time, and again after a deposit', async () => {
    const owner = await app.createOrg()
    await payDeposit(owner, 1_000)
    assert.deepEqual(await typesOf(owner), ['balance.deposited'])
    const sessions = await Promise.all(
      Array.from({ length: 8 }, (_, i) => openPaid(app, owner, { name: `Agent ${i}` })),
    )
    /** Eight turns of 75 cents at once; both servers post each of them as soon as they can. */
    const spendOnBoth = () =>
      Promise.all(
        sessions.map(async ({ id }, i) => {
          const on = i % 2 === 0 ? app : other
          await spend(on, owner, id, 750_000)
          await Promise.all([app, other].map(({ db, deps }) => postCharges({ db, jobs: deps.jobs }, owner.orgId)))
        }),
      )
    await spendOnBoth()
    assert.equal((await getBilling(app, owner)).balance.balanceCents, 400)
    assert.deepEqual(await typesOf(owner), ['balance.deposited', 'balance.low'])
    await spendOnBoth()
    assert.equal((await getBilling(app, owner)).balance.balanceCents, -200)
    await spendOnBoth()
    assert.deepEqual(await typesOf(owner), ['balance.deposited', 'balance.low', 'balance.exhausted'])
    await payDeposit(owner, 1_500)
    await spendOnBoth()
    assert.deepEqual(await typesOf(owner), [
      'balance.deposited',
      'balance.low',
      'balance.exhausted',
      'balance.deposited',
      'balance.low',
    ])
    await assertBalanceEvents(app.db, owner.orgId, 500)
    await assertExact(app, owner)
    const [deposited, low] = await balanceEvents(owner)
    assert.deepEqual([deposited?.data['amountCents'], deposited?.data['balanceCents']], [1_000, 1_000])
    assert.equal(low?.data['thresholdCents'], 500)
    assert.ok((low?.data['balanceCents'] as number) < 500)
    assert.equal(low?.subjectId, owner.orgId)
  })

  test('reports a low balance outside of the chain of the request that posts the charges, which may be those of others', async () => {
    const owner = await app.createOrg()
    await payDeposit(owner, 1_000)
    const session = await openPaid(app, owner, { name: 'Agent' })
    await inChain({ id: newId(), depth: 7 }, async () => {
      await spend(app, owner, session.id, 6_000_000)
      await postCharges({ db: app.db, jobs: app.deps.jobs }, owner.orgId)
    })
    const list = async (): Promise<{ depth: number }[]> => {
      const { body } = await app.call('GET', '/api/v1/events?types=balance.low', { as: owner })
      return body.data.items.map((one: { chain: object }) => one.chain)
    }
    const [chain] = await until(list, (all) => all.length === 1)
    assert.equal(chain?.depth, 0)
  })

  test('reports a refund that takes the balance to zero by the Stripe event, once for repeated events', async () => {
    const owner = await app.createOrg()
    const { payment_intent: intent } = await payDeposit(owner, 1_000)
    const refund = { id: `ch_${intent}`, payment_intent: intent, amount_refunded: 1_000 }
    await Promise.all([sendEvent('charge.refunded', refund), sendEvent('charge.refunded', refund)])
    assert.deepEqual(await typesOf(owner), ['balance.deposited', 'balance.low', 'balance.exhausted'])
  })

  test('reports a low balance when the threshold is raised above it, and nothing for other settings', async () => {
    const owner = await app.createOrg()
    await payDeposit(owner, 700)
    await set(owner, { autoTopupAmountCents: 3_000, monthlyCapCents: 100_000 })
    await set(owner, { autoTopupThresholdCents: 700 })
    assert.deepEqual(await typesOf(owner), ['balance.deposited'])
    await set(owner, { autoTopupThresholdCents: 701 })
    await set(owner, { autoTopupThresholdCents: 800 })
    assert.deepEqual(await typesOf(owner), ['balance.deposited', 'balance.low'])
    const low = (await balanceEvents(owner)).at(-1)
    assert.deepEqual(low?.data, { balanceCents: 700, thresholdCents: 701 })
    assert.equal(low?.actor.id, owner.userId)
  })

  test('reports a declined top-up with its code once, although the response and the event both say so', async () => {
    stripe.charges = ['decline']
    const owner = await app.createOrg()
    await payDeposit(owner, 1_000)
    await until(
      () =>
        app.db.row<{ paymentMethodId: string | null }>(sql`
          select payment_method_id from billing_accounts where org_id = ${owner.orgId}`),
      (row) => row?.paymentMethodId != null,
    )
    await set(owner, { autoTopupEnabled: true })
    const { id } = await openPaid(app, owner)
    await spend(app, owner, id, 6_000_000)
    const { autoTopup } = await until(
      () => getBilling(app, owner),
      (snapshot) => snapshot.autoTopup.recent[0]?.state === 'declined',
    )
    await sendEvent('payment_intent.payment_failed', [...stripe.paymentIntents.values()].at(-1) ?? {})
    const failed = (await balanceEvents(owner)).filter(({ type }) => type === 'balance.topup.failed')
    assert.equal(failed.length, 1)
    const [topup] = autoTopup.recent
    assert.deepEqual(failed[0]?.data, {
      topupId: topup.id,
      amountCents: topup.amountCents,
      failureCode: topup.failureCode,
      failureMessage: topup.failureMessage,
    })
    assert.deepEqual(await typesOf(owner), ['balance.deposited', 'balance.low', 'balance.topup.failed'])
  })

  test('records no event when an org is charged that never had a deposit', async () => {
    const owner = await app.createOrg()
    const { id } = await openPaid(app, owner)
    await spend(app, owner, id, 1_000_000)
    assert.equal((await getBilling(app, owner)).balance.balanceCents, -100)
    assert.deepEqual(await typesOf(owner), [])
  })
})
