import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { assertBalanceEvents, getBilling } from '../../../test/support/billing.ts'
import { signedEvent, webhookSecret } from '../../../test/fakes/stripe.ts'
import { startTestApp } from '../../../test/harness.ts'
import { sql } from '../../platform/database/database.ts'
import { claimKey } from '../../platform/database/directory.ts'
import { newId } from '../../platform/ids.ts'
import { refundedOf } from '../payments/credit.ts'
import { admitTurn } from './reservations.ts'
import { adjust, centsToPost, postCharges } from './ledger.ts'
import { completeTopup, failTopup } from '../payments/topups.ts'
import { insertTopup } from '../payments/topup-queries.ts'
import { recordUsage, releaseReservation, shrinkReservation } from './usage-queries.ts'
import { verifyOrg } from './verify.ts'

const app = await startTestApp({ STRIPE_SECRET_KEY: 'sk_test', STRIPE_WEBHOOK_SECRET: webhookSecret })
const { db } = app
const { jobs } = app.deps
const seed = process.env['ATRIUM_TEST_SEED'] ? { seed: Number(process.env['ATRIUM_TEST_SEED']) } : {}

test('posts whole cents as soon as there are any, carries less than a cent, and never a negative part', () => {
  fc.assert(
    fc.property(
      fc.array(fc.record({ cost: fc.bigInt(0n, 30_000n), fee: fc.bigInt(0n, 30_000n) }), { maxLength: 60 }),
      (charges) => {
        const account = { chargedMicrocents: 0n, feeMicrocents: 0n, movedCents: 0n, movedFeeCents: 0n }
        for (const { cost, fee } of charges) {
          const added = { chargedMicrocents: cost + fee, feeMicrocents: fee }
          const { usageCents, feeCents } = centsToPost(account, added)
          assert.ok(usageCents >= 0n && feeCents >= 0n)
          account.chargedMicrocents += added.chargedMicrocents
          account.feeMicrocents += fee
          account.movedCents += usageCents + feeCents
          account.movedFeeCents += feeCents
          const remainder = account.chargedMicrocents - 10_000n * account.movedCents
          assert.ok(remainder >= 0n && remainder < 10_000n, `${remainder}`)
          assert.ok(account.movedFeeCents * 10_000n <= account.feeMicrocents, 'no more fee is posted than was charged')
        }
      },
    ),
    seed,
  )
})

test('computes the same refunded amount for every order of the same facts', () => {
  const fact = fc.oneof(
    fc.record({
      kind: fc.constant('charge' as const),
      id: fc.uuid(),
      data: fc.record({ refunded: fc.integer({ min: 0, max: 2_000 }) }),
    }),
    fc.record({
      kind: fc.constant('refund' as const),
      id: fc.uuid(),
      data: fc.record({ amount: fc.integer({ min: 1, max: 900 }), failed: fc.boolean() }),
    }),
  )
  fc.assert(
    fc.property(fc.array(fact, { maxLength: 8 }), fc.integer(), (facts, turn) => {
      const shuffled = facts.toSorted((a, b) => (a.id + turn < b.id + turn ? -1 : 1)).toReversed()
      const refunded = refundedOf(facts, 1_000n)
      assert.equal(refundedOf(shuffled, 1_000n), refunded)
      assert.ok(refunded >= 0n && refunded <= 1_000n)
    }),
    seed,
  )
})

interface Org {
  orgId: string
  agents: string[]
  /** Turns with a reservation. */
  open: string[]
  /** Payments that may be refunded. */
  paid: { intent: string; amount: number; refunded: number }[]
  calls: { turnId: string; cost: number }[]
  sums: { deposits: number; provider: number; calls: number }
}

type Step = (org: Org) => Promise<void>

const rates = { input: 1_000_000, output: 4_000_000, cacheRead: 0, cacheWrite: 0 }
const fee = { bps: 500, waiverCents: 3_000 }

const reserve = async (org: Org): Promise<void> => {
  const turnId = newId()
  const call = { orgId: org.orgId, turnId, agentId: org.agents[0]!, agentCapCents: null, rates, fee, isByok: false }
  await db.transaction('all orgs', (db) => admitTurn(db, false, { ...call, inputTokens: 100, maxOutputTokens: 500 }))
  org.open.push(turnId)
}

const record = (org: Org, call: { turnId: string; cost: number; step?: number }) =>
  db.row(sql`
    with ${recordUsage(
      sql`
      select ${org.orgId}::uuid as org_id, ${call.turnId}::uuid as turn_id, ${call.step ?? 1}::int as step, 1 as attempt,
        ${org.agents[call.cost % org.agents.length]}::uuid as agent_id, null::uuid as project_id,
        ${`m/${call.cost % 3}`} as model, 'chat' as operation, ${call.cost}::bigint as input_tokens, 0 as output_tokens,
        0 as cache_read_tokens, 0 as cache_write_tokens, false as is_estimate, ${call.cost % 5 === 0}::boolean as is_byok,
        ${call.cost}::bigint as provider_cost_microcents, ${fee.bps}::int as fee_bps,
        ${fee.waiverCents}::bigint as fee_waiver_cents`,
      { orgId: org.orgId, turnId: sql`${call.turnId}::uuid` },
    )}, ${shrinkReservation(org.orgId)}
    select count(*) from recorded`)

const sendEvent = async (type: string, object: object): Promise<void> => {
  const { body, headers } = signedEvent(type, object)
  assert.equal((await app.call('POST', '/api/v1/billing/webhooks/stripe', { body, headers })).status, 200)
}

const charge =
  (cost: number): Step =>
  async (org) => {
    const call = { turnId: org.open.at(-1) ?? newId(), cost, step: org.calls.length + 1 }
    org.calls.push(call)
    await record(org, call)
    org.sums.provider += cost
    org.sums.calls += 1
  }

/** Records a call again, as after a crash that lost the database's response. */
const chargeAgain =
  (which: number): Step =>
  async (org) => {
    const call = org.calls[which % Math.max(1, org.calls.length)]
    if (call) await record(org, { ...call, step: org.calls.indexOf(call) + 1 })
  }

/** The process dies before the commit: nothing is stored. */
const crash =
  (cost: number): Step =>
  async (org) => {
    const died = db.transaction('all orgs', async (db) => {
      await db.row(sql`
        insert into usage_inbox (org_id, turn_id, step, attempt, agent_id, model, operation, input_tokens, output_tokens,
          cache_read_tokens, cache_write_tokens, is_estimate, is_byok, provider_cost_microcents, platform_fee_microcents)
        values (${org.orgId}, ${newId()}, 1, 1, ${org.agents[0]}, 'm', 'chat', 1, 1, 0, 0, false, false, ${cost}, 0)`)
      throw new Error('killed')
    })
    await assert.rejects(died, /killed/)
  }

const release: Step = async (org) => {
  const turnId = org.open.pop()
  if (turnId === undefined) return
  const turn = sql`(select ${turnId}::uuid as id)`
  await db.row(sql`with ${releaseReservation(org.orgId, turn)} select 1`)
}

const deposit =
  (amount: number): Step =>
  async (org) => {
    const checkoutId = newId()
    const [intent, session] = [`pi_${checkoutId}`, `cs_${checkoutId}`]
    await db.execute(sql`
      insert into checkouts (org_id, id, kind, amount_cents, session_id, created_by)
      values (${org.orgId}, ${checkoutId}, 'deposit', ${amount}, ${session}, ${newId()})`)
    await claimKey(db, 'checkout', session, org.orgId)
    const object = { id: session, payment_status: 'paid', payment_intent: intent }
    await Promise.all([
      sendEvent('checkout.session.completed', object),
      sendEvent('checkout.session.completed', object),
    ])
    org.paid.push({ intent, amount, refunded: 0 })
    org.sums.deposits += amount
  }

const refund =
  (which: number, share: number): Step =>
  async (org) => {
    const payment = org.paid[which % Math.max(1, org.paid.length)]
    if (!payment) return
    payment.refunded = Math.min(payment.amount, payment.refunded + Math.ceil((payment.amount * share) / 100))
    const object = { id: `ch_${payment.intent}`, payment_intent: payment.intent, amount_refunded: payment.refunded }
    await Promise.all([sendEvent('charge.refunded', object), sendEvent('charge.refunded', object)])
  }

const topUp =
  (amount: number, isPaid: boolean): Step =>
  async (org) => {
    const id = newId()
    const intent = `pi_${id}`
    // No top-up starts while another one is being made.
    if (!(await db.transaction('all orgs', (db) => insertTopup(db, org.orgId, id, BigInt(amount))))) return
    const topup = { orgId: org.orgId, id, amountCents: BigInt(amount) }
    const end = { state: 'declined', paymentIntentId: intent, code: 'x', message: 'x' } as const
    const finish = () =>
      db.transaction('all orgs', (db) =>
        isPaid ? completeTopup(db, app.deps, topup, intent) : failTopup(db, topup, end),
      )
    // The provider's response and its event arrive at the same time.
    await Promise.all([finish(), finish()])
    if (!isPaid) return
    org.paid.push({ intent, amount, refunded: 0 })
    org.sums.deposits += amount
  }

const step: fc.Arbitrary<Step> = fc.oneof(
  { arbitrary: fc.integer({ min: 0, max: 60_000 }).map(charge), weight: 6 },
  { arbitrary: fc.nat(50).map(chargeAgain), weight: 2 },
  fc.integer({ min: 1, max: 9_000 }).map(crash),
  fc.constant<Step>(reserve),
  fc.constant<Step>(release),
  fc.integer({ min: 100, max: 4_000 }).map(deposit),
  fc.tuple(fc.nat(9), fc.integer({ min: 1, max: 100 })).map(([which, share]) => refund(which, share)),
  fc.tuple(fc.integer({ min: 100, max: 3_000 }), fc.boolean()).map(([amount, isPaid]) => topUp(amount, isPaid)),
  fc
    .integer({ min: -500, max: 500 })
    .filter((cents) => cents !== 0)
    .map(
      (cents): Step =>
        async (org) =>
          void (await adjust(db, org.orgId, BigInt(cents), 'By hand')),
    ),
  fc.constant<Step>((org) => postCharges({ db, jobs }, org.orgId)),
)

describe('the ledger', () => {
  test('adds up after any history of concurrent deposits, charges, refunds, top-ups, releases and crashes', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(step, { minLength: 1, maxLength: 4 }), { maxLength: 8 }), async (rounds) => {
        const owner = await app.createOrg()
        const agents = [newId(), newId()]
        const org: Org = {
          orgId: owner.orgId,
          agents,
          open: [],
          paid: [],
          calls: [],
          sums: { deposits: 0, provider: 0, calls: 0 },
        }
        for (const round of rounds) await Promise.all(round.map((run) => run(org)))
        const { balance, usage } = await getBilling(app, owner)
        assert.deepEqual(await verifyOrg(db, owner.orgId), [])
        await assertBalanceEvents(db, owner.orgId, 500)
        assert.equal(balance.cumulativeDepositsCents, org.sums.deposits)
        assert.equal(usage.currentMonth.providerCostMicrocents, org.sums.provider)
        assert.equal(usage.currentMonth.requestCount, org.sums.calls)
        const reserved = await db.row<{ n: number }>(sql`
          select coalesce(sum(microcents), 0)::float8 as n from usage_holds where org_id = ${owner.orgId}`)
        assert.equal(balance.reservedMicrocents, reserved!.n)
        const refunds = await db.row<{ cents: number }>(sql`
          select coalesce(-sum(amount_cents), 0)::float8 as cents from transactions
          where org_id = ${owner.orgId} and type = 'refund'`)
        assert.equal(
          refunds!.cents,
          org.paid.reduce((sum, { refunded }) => sum + refunded, 0),
        )
        while (org.open.length > 0) await release(org)
        assert.equal((await getBilling(app, owner)).balance.reservedMicrocents, 0)
      }),
      { numRuns: Number(process.env['ATRIUM_TEST_RUNS'] ?? 15), ...seed },
    )
  })
})
