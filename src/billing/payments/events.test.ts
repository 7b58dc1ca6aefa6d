import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { getBilling, listLedger } from '../../../test/support/billing.ts'
import { secretKey, signedBody, signedEvent, startFakeStripe, webhookSecret } from '../../../test/fakes/stripe.ts'
import { startTestApp } from '../../../test/harness.ts'
import type { Answer, TestActor } from '../../../test/harness.ts'
import { sql } from '../../platform/database/database.ts'

const stripe = await startFakeStripe()
const app = await startTestApp({
  STRIPE_SECRET_KEY: secretKey,
  STRIPE_WEBHOOK_SECRET: webhookSecret,
  STRIPE_PUBLISHABLE_KEY: 'pk_test_atrium',
  STRIPE_API_BASE: stripe.origin,
})

// oxlint-disable-next-line typescript/no-explicit-any -- tests build events of every shape
type Json = any

const path = '/api/v1/billing/webhooks/stripe'

const post = (signed: { body: string; headers: Record<string, string> }): Promise<Answer> =>
  app.call('POST', path, signed)

/** How many rows the events left in the database. */
const countRecorded = async (): Promise<Json> =>
  app.db.row(sql`
    -- all orgs: a test counts everything
    select (select count(*)::int from payment_events) as events, (select count(*)::int from payment_facts) as facts,
      (select count(*)::int from payments) as payments, (select count(*)::int from transactions) as transactions`)

/** A paid deposit that events can refer to. */
const payDeposit = async (as: TestActor, amountCents = 1_000): Promise<Json> => {
  const { body } = await app.call('POST', '/api/v1/billing/deposit', { as, json: { amountCents } })
  return stripe.pay(body.data.sessionId)
}

const event = (overrides: object = {}): Json => ({
  id: 'evt_1',
  object: 'event',
  created: Math.floor(Date.now() / 1_000),
  type: 'payment_intent.succeeded',
  data: { object: { id: 'pi_1', customer: 'cus_1', payment_method: 'pm_1' } },
  ...overrides,
})

const rejectedEvents: [string, unknown][] = [
  ['{}', {}],
  ['[]', []],
  ['null', null],
  ['a number', 7],
  ['a text', 'event'],
  ['an event without created', event({ created: undefined })],
  ['created: null', event({ created: null })],
  ['created as text', event({ created: '2026-11-22' })],
  ['a negative created', event({ created: -1 })],
  ['a created beyond any date', event({ created: 1e300 })],
  ['an event without id', event({ id: undefined })],
  ['an empty id', event({ id: '' })],
  ['an id with NUL', event({ id: 'evt_\0' })],
  ['an id longer than an index entry', event({ id: 'e'.repeat(10_000) })],
  ['an event without type', event({ type: undefined })],
  ['a type that is an object', event({ type: {} })],
  ['an event without data', event({ data: undefined })],
  ['data: []', event({ data: [] })],
  ['an event without data.object', event({ data: {} })],
  ['data.object: []', event({ data: { object: [] } })],
  ['data.object: null', event({ data: { object: null } })],
  [
    'a lone surrogate in an id',
    event({ data: { object: { id: 'pi_\ud800', customer: 'cus', payment_method: 'pm' } } }),
  ],
  ['an id that is a number', event({ data: { object: { id: 5 } } })],
  [
    'a fraction of a cent',
    event({ type: 'refund.created', data: { object: { id: 're_1', payment_intent: 'pi_1', amount: 1.5 } } }),
  ],
  [
    'an amount larger than a bigint',
    event({ type: 'charge.dispute.created', data: { object: { id: 'dp_1', payment_intent: 'pi_1', amount: 1e300 } } }),
  ],
  [
    'an amount as text',
    event({ type: 'charge.refunded', data: { object: { id: 'ch_1', payment_intent: 'pi_1', amount_refunded: '5' } } }),
  ],
  [
    'a period that ends beyond any date',
    event({ type: 'customer.subscription.updated', data: { object: { id: 'sub_1', current_period_end: 1e20 } } }),
  ],
  ['a thin event', event({ object: 'v2.core.event' })],
]

describe('malformed signed events of Stripe', () => {
  for (const [name, body] of rejectedEvents) {
    test(`responds with BAD_REQUEST and records nothing for an event that is ${name}`, async () => {
      const before = await countRecorded()
      const answer = await post(signedBody(JSON.stringify(body)))
      assert.deepEqual([answer.status, answer.body?.error.code], [400, 'BAD_REQUEST'], answer.text)
      assert.deepEqual(await countRecorded(), before)
    })
  }

  test('responds with BAD_REQUEST and records nothing for a body that is empty, not JSON or nested too deeply', async () => {
    const before = await countRecorded()
    for (const body of ['', '{', 'created=1', '['.repeat(200_000)]) {
      const answer = await post(signedBody(body))
      assert.deepEqual([answer.status, answer.body?.error.code], [400, 'BAD_REQUEST'], body.slice(0, 20))
    }
    assert.deepEqual(await countRecorded(), before)
  })

  test('responds with UNAUTHORIZED before it reads the body when the signature is wrong', async () => {
    for (const body of ['{}', '[]', '{', JSON.stringify(event({ created: undefined }))]) {
      const answer = await post(signedBody(body, 'whsec_of_somebody_else'))
      assert.deepEqual([answer.status, answer.body?.error.code], [401, 'UNAUTHORIZED'])
    }
  })

  test('ignores event types that are names of properties of Object.prototype', async () => {
    const owner = await app.createOrg()
    const session = await payDeposit(owner)
    for (const type of ['constructor', 'toString', '__proto__', 'hasOwnProperty']) {
      const answer = await post(signedEvent(type, session))
      assert.equal(answer.status, 200, answer.text)
    }
    assert.deepEqual(await listLedger(app, owner), [])
    assert.equal((await post(signedEvent('checkout.session.completed', session))).status, 200)
    assert.equal((await getBilling(app, owner)).balance.balanceCents, 1_000)
  })

  test('applies a well-formed event after a malformed one with the same id', async () => {
    const owner = await app.createOrg()
    const session = await payDeposit(owner)
    const id = 'evt_corrected'
    const type = 'checkout.session.completed'
    const wrong = JSON.stringify(event({ id, type, created: undefined, data: { object: session } }))
    assert.equal((await post(signedBody(wrong))).status, 400)
    assert.deepEqual(await listLedger(app, owner), [])
    assert.equal((await post(signedEvent(type, session, { id }))).status, 200)
    assert.equal((await getBilling(app, owner)).balance.balanceCents, 1_000)
  })
})

const types = [
  'checkout.session.completed',
  'checkout.session.async_payment_failed',
  'payment_intent.succeeded',
  'payment_intent.payment_failed',
  'charge.refunded',
  'refund.updated',
  'charge.dispute.created',
  'charge.dispute.funds_reinstated',
  'invoice.paid',
  'invoice.payment_failed',
  'customer.subscription.updated',
  'customer.subscription.deleted',
]

/** An object with every field that is read for any event type. */
const wholeObject = (session: Json): Json => ({
  ...session,
  subscription: 'sub_fuzz',
  amount: 100,
  amount_refunded: 100,
  amount_paid: 100,
  billing_reason: 'subscription_cycle',
  status: 'active',
  cancel_at_period_end: false,
  current_period_end: 1_800_000_000,
  setup_future_usage: 'off_session',
  payment_method: 'pm_fuzz',
  parent: { subscription_details: { subscription: 'sub_fuzz' } },
  payments: { data: [{ status: 'paid', payment: { payment_intent: session.payment_intent } }] },
  lines: { data: [{ period: { end: 1_800_000_000 } }] },
  items: { data: [{ current_period_end: 1_800_000_000 }] },
  last_payment_error: { code: 'card_declined', decline_code: 'insufficient_funds', message: 'No.' },
  metadata: { topupId: '01890000-0000-7000-8000-000000000000' },
})

/** The path of every field, objects and lists included. */
const pathsOf = (value: unknown, prefix: string[] = []): string[][] =>
  typeof value !== 'object' || value === null
    ? []
    : Object.entries(value).flatMap(([key, inner]) => [[...prefix, key], ...pathsOf(inner, [...prefix, key])])

const replaceAt = (value: Json, [key, ...rest]: string[], replacement: unknown): void => {
  if (key === undefined || typeof value !== 'object' || value === null) return
  if (rest.length === 0) value[key] = replacement
  else replaceAt(value[key], rest, replacement)
}

const odd = fc.oneof(
  fc.constantFrom<unknown>(undefined, null, '', '\0', '\ud800', 'x'.repeat(5_000), '__proto__', true, [], {}, [[]]),
  fc.constantFrom<unknown>(0, -1, 0.5, 1e12, 2 ** 53, 2 ** 63, 1e300, -1e300, 253_402_300_800),
  fc.string(),
  fc.double(),
  fc.integer(),
  fc.jsonValue({ maxDepth: 3 }),
)

describe('fields of signed events of Stripe', () => {
  test('never responds with 5xx or changes the ledger by more than was paid, whatever type and size a field has', async () => {
    const owner = await app.createOrg()
    const session = await payDeposit(owner, 500)
    await post(signedEvent('checkout.session.completed', session))
    const whole = event({ data: { object: wholeObject(session) } })
    const paths = pathsOf(whole)
    let count = 0
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...types),
        fc.array(fc.tuple(fc.constantFrom(...paths), odd), { minLength: 1, maxLength: 3 }),
        async (type, changes) => {
          const changed = { ...structuredClone(whole), id: `evt_fuzz_${(count += 1)}`, type }
          for (const [at, replacement] of changes) replaceAt(changed, at, replacement)
          const answer = await post(signedBody(JSON.stringify(changed)))
          assert.ok(answer.status === 200 || answer.status === 400, `${answer.status} ${answer.text}`)
        },
      ),
      { numRuns: 400 },
    )
    const { balance } = await getBilling(app, owner)
    assert.equal(balance.cumulativeDepositsCents, 500)
    // The server still applies well-formed events.
    const next = await payDeposit(owner, 700)
    assert.equal((await post(signedEvent('checkout.session.completed', next))).status, 200)
    assert.equal((await getBilling(app, owner)).balance.cumulativeDepositsCents, 1_200)
  })
})
