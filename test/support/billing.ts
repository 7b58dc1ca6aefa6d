// Helpers for tests of billing: deposits, turns on the paid demo model, and the check that the ledger adds up.
import assert from 'node:assert/strict'
import { verifyOrg } from '../../src/billing/ledger/verify.ts'
import { sql } from '../../src/platform/database/database.ts'
import type { Database } from '../../src/platform/database/database.ts'
import { createAgent, openSession, say } from './chat.ts'
import { recordedEvents } from './database/recorded-events.ts'
import type { Answer, TestActor, TestApp } from '../harness.ts'

// oxlint-disable-next-line typescript/no-explicit-any -- tests read fields of responses of any shape
type Json = any

export const billing = '/api/v1/billing'

export const getBilling = async (app: TestApp, as: TestActor): Promise<Json> => {
  const { status, body } = await app.call('GET', billing, { as })
  assert.equal(status, 200, JSON.stringify(body))
  return body.data
}

export const deposit = async (app: TestApp, as: TestActor, amountCents: number): Promise<Json> => {
  const { status, body } = await app.call('POST', `${billing}/deposit`, { as, json: { amountCents } })
  assert.equal(status, 200, JSON.stringify(body))
  return body.data
}

/** A session with an agent on the paid demo model. */
export const openPaid = async (app: TestApp, as: TestActor, json: object = {}, session: object = {}): Promise<Json> => {
  const agent = await createAgent(app, as, { name: 'Paid', model: 'atrium/demo-paid', ...json })
  return openSession(app, as, { agentId: agent.id, ...session })
}

export interface CallTokens {
  input: number
  output?: number
  cacheRead?: number
  cacheWrite?: number
}

/** A turn of one call that uses these tokens; a number is input. An input token costs 1 microcent, an output token 4. */
export const spend = (app: TestApp, as: TestActor, sessionId: string, tokens: number | CallTokens): Promise<Answer> => {
  const { input, output = 0, cacheRead = 0, cacheWrite = 0 } = typeof tokens === 'number' ? { input: tokens } : tokens
  return say(app, as, sessionId, { text: `/tokens ${input} ${output} ${cacheRead} ${cacheWrite}` })
}

/** Every transaction of an org, oldest first. */
export const listLedger = async (app: TestApp, as: TestActor): Promise<Json[]> => {
  const items: Json[] = []
  let cursor: string | null = ''
  while (cursor !== null) {
    const query = `limit=100${cursor === '' ? '' : `&cursor=${cursor}`}`
    const { body } = await app.call('GET', `${billing}/transactions?${query}`, { as })
    items.push(...body.data.items)
    cursor = body.data.nextCursor
  }
  return items.toReversed()
}

export const sumOf = (items: Json[]): number => items.reduce((sum, { amountCents }) => sum + amountCents, 0)

/**
 * Asserts that the org has one event for each deposit in its ledger, and one for each time that a transaction brought the
 * balance to zero or below. With a threshold that never changed, also one for each time that it fell below it.
 */
export const assertBalanceEvents = async (db: Database, orgId: string, thresholdCents?: number): Promise<void> => {
  const ledger = await db.rows<{ id: string; type: string; amountCents: bigint; after: bigint }>(sql`
    select id, type, amount_cents, balance_after_cents as after from transactions where org_id = ${orgId} order by number`)
  const events = await recordedEvents(db, orgId)
  const deposits = ledger.filter(({ type }) => type === 'deposit').map(({ id }) => id)
  const countOf = (type: string): number => events.filter((event) => event.type === type).length
  /** The number of transactions that brought the balance from `least` or more below it. */
  const falls = (least: bigint): number =>
    ledger.filter(({ amountCents, after }) => after < least && after - amountCents >= least).length
  assert.deepEqual(
    events.filter(({ type }) => type === 'balance.deposited').map(({ data }) => data['transactionId']),
    deposits,
    'one event for each deposit',
  )
  assert.equal(countOf('balance.exhausted'), falls(1n), 'one event for each time the balance was exhausted')
  if (thresholdCents !== undefined) {
    assert.equal(countOf('balance.low'), falls(BigInt(thresholdCents)), 'one event for each time the balance was low')
  }
}

/** Asserts that the org's ledger, records, rollups and API reports add up. Returns the billing snapshot. */
export const assertExact = async (app: TestApp, as: TestActor): Promise<Json> => {
  const snapshot = await getBilling(app, as)
  const { balance } = snapshot
  const ledger = await listLedger(app, as)
  assert.equal(sumOf(ledger), balance.balanceCents, 'the balance is the sum of the ledger')
  const deposits = ledger.filter(({ type }) => type === 'deposit')
  assert.equal(sumOf(deposits), balance.cumulativeDepositsCents)
  const { body } = await app.call('GET', `${billing}/spending?period=all`, { as })
  const postedCents = -sumOf(ledger.filter(({ type }) => type === 'usage' || type === 'platform_fee'))
  assert.equal(
    body.data.summary.totalChargedMicrocents,
    postedCents * 10_000 + balance.remainderMicrocents,
    'charges are the posted cents and the remainder',
  )
  assert.ok(balance.remainderMicrocents >= 0 && balance.remainderMicrocents < 10_000)
  for (const axis of ['model', 'agent', 'project']) {
    const answer = await app.call('GET', `${billing}/spending/by-${axis}?period=all`, { as })
    const total = answer.body.data.items.reduce((sum: number, item: Json) => sum + item.totalChargedMicrocents, 0)
    assert.equal(total, body.data.summary.totalChargedMicrocents, `by ${axis}`)
  }
  assert.deepEqual(await verifyOrg(app.db, as.orgId), [])
  await assertBalanceEvents(app.db, as.orgId)
  return snapshot
}
