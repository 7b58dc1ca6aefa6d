// Helpers for tests of billing: deposits, turns on the paid demo model, and the check that the ledger adds up.
import assert from 'node:assert/strict'
import { verifyOrg } from '../../src/billing/ledger/verify.ts'
import { createAgent, openSession, say } from './chat.ts'
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
  return snapshot
}
