import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { getBilling } from '../../../test/support/billing.ts'
import { secretKey, signedEvent, startFakeStripe, webhookSecret } from '../../../test/fakes/stripe.ts'
import { startTestApp } from '../../../test/harness.ts'
import type { TestActor } from '../../../test/harness.ts'
import { sql } from '../../platform/database/database.ts'

const stripe = await startFakeStripe()
const env = { STRIPE_SECRET_KEY: secretKey, STRIPE_WEBHOOK_SECRET: webhookSecret, STRIPE_API_BASE: stripe.origin }
const app = await startTestApp(env)

// oxlint-disable-next-line typescript/no-explicit-any -- tests read fields of responses of any shape
type Json = any

const base = '/api/v1/billing'

const sendEvent = async (type: string, object: object): Promise<void> => {
  assert.equal((await app.call('POST', `${base}/webhooks/stripe`, signedEvent(type, object))).status, 200)
}

const start = async (as: TestActor, planId: string): Promise<Json> =>
  (await app.call('POST', `${base}/subscriptions/checkout`, { as, json: { planId } })).body

describe('the checkout page of a plan', () => {
  const pagesOf = (as: TestActor): Json[] =>
    stripe.requests.filter(({ path, params }) => path === '/v1/checkout/sessions' && params.metadata.orgId === as.orgId)
  const checkoutOf = (as: TestActor, sessionId: string): Promise<Json> =>
    app.db.row(sql`select state from checkouts where org_id = ${as.orgId} and session_id = ${sessionId}`)

  test('is returned again while it is open, so that a plan is not paid twice', async () => {
    const owner = await app.createOrg()
    const first = await start(owner, 'pro')
    assert.deepEqual(await start(owner, 'pro'), first)
    assert.equal(pagesOf(owner).length, 1)
    const stranger = await start(await app.createOrg(), 'pro')
    assert.notEqual(stranger.data.sessionId, first.data.sessionId)
  })

  test('is the same for requests at the same moment', async () => {
    const owner = await app.createOrg()
    const started = await Promise.all([1, 2, 3, 4].map(() => start(owner, 'pro')))
    const ids = new Set(started.map(({ data }) => data.sessionId))
    assert.equal(ids.size, 1)
    const stored = await app.db.rows(sql`select 1 from checkouts where org_id = ${owner.orgId}`)
    assert.equal(stored.length, 1)
  })

  test('cannot be paid any more when that of another plan is opened', async () => {
    const owner = await app.createOrg()
    const pro = (await start(owner, 'pro')).data.sessionId
    const team = (await start(owner, 'team')).data.sessionId
    assert.throws(() => stripe.pay(pro), /is expired/)
    assert.deepEqual(await checkoutOf(owner, pro), { state: 'expired' })
    const again = (await start(owner, 'pro')).data.sessionId
    assert.notEqual(again, pro)
    assert.throws(() => stripe.pay(team), /is expired/)
    await sendEvent('checkout.session.completed', stripe.pay(again))
    assert.equal((await getBilling(app, owner)).subscription.planId, 'pro')
  })

  test('is another one when it has expired', async () => {
    const owner = await app.createOrg()
    const { sessionId } = (await start(owner, 'pro')).data
    stripe.expire(sessionId)
    const again = (await start(owner, 'pro')).data.sessionId
    assert.notEqual(again, sessionId)
    assert.deepEqual(await checkoutOf(owner, sessionId), { state: 'expired' })
  })

  test('is not opened while a payment for the plan is processed', async () => {
    const owner = await app.createOrg()
    const session = stripe.pay((await start(owner, 'pro')).data.sessionId)
    const { error } = await start(owner, 'pro')
    assert.deepEqual([error.code, /being processed/.test(error.message)], ['CONFLICT', true])
    assert.ok((await start(owner, 'team')).data.checkoutUrl, 'another plan can be bought')
    await sendEvent('checkout.session.completed', session)
    assert.equal((await getBilling(app, owner)).subscription.planId, 'pro')
  })

  test('is not opened for unknown, individual and free plans, nor without a payment provider', async () => {
    const owner = await app.createOrg()
    const codes = []
    for (const planId of ['gold', 'enterprise', 'free', '', 7]) {
      codes.push(
        (await app.call('POST', `${base}/subscriptions/checkout`, { as: owner, json: { planId } })).body.error.code,
      )
    }
    assert.deepEqual(codes, ['BAD_REQUEST', 'VALIDATION_ERROR', 'VALIDATION_ERROR', 'BAD_REQUEST', 'BAD_REQUEST'])
    const bare = await app.secondServer()
    const answer = await bare.call('POST', `${base}/subscriptions/checkout`, { as: owner, json: { planId: 'pro' } })
    assert.equal(answer.body.error.code, 'SERVICE_UNAVAILABLE')
  })
})
