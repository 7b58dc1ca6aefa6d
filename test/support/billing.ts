// Money in tests: what an org has, what turns on the paid demo model cost, and the proof that the ledger adds up.
import assert from 'node:assert/strict'
import { verifyOrg } from '../../src/billing/ledger/verify.ts'
import { createAgent, openSession, say } from './chat.ts'
import type { Answer, TestActor, TestApp } from '../harness.ts'

// oxlint-disable-next-line typescript/no-explicit-any -- tests read into records of every shape
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

/** A session with an agent on the model that has a price. */
export const openPaid = async (app: TestApp, as: TestActor, json: object = {}, session: object = {}): Promise<Json> => {
  const agent = await createAgent(app, as, { name: 'Paid', model: 'atrium/demo-paid', ...json })
  return openSession(app, as, { agentId: agent.id, ...session })
}

/** One turn of one call that costs so many tokens: 1 microcent each of input, 4 of output. */
export const spend = (
  app: TestApp,
  as: TestActor,
  sessionId: string,
  input: number,
  output = 0,
  cacheRead = 0,
  cacheWrite = 0,
): Promise<Answer> => say(app, as, sessionId, { text: `/tokens ${input} ${output} ${cacheRead} ${cacheWrite}` })

/** Every transaction of an org, oldest first, read page by page. */
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

/** The org's ledger, its records, its rollups and what the API says of them all add up. */
export const assertExact = async (app: TestApp, as: TestActor): Promise<Json> => {
  const snapshot = await getBilling(app, as)
  const { balance } = snapshot
  const ledger = await listLedger(app, as)
  assert.equal(sumOf(ledger), balance.balanceCents, 'the balance is the sum of the ledger')
  const deposits = ledger.filter(({ type }) => type === 'deposit')
  assert.equal(sumOf(deposits), balance.cumulativeDepositsCents)
  const { body } = await app.call('GET', `${billing}/spending?period=all`, { as })
  const moved = -sumOf(ledger.filter(({ type }) => type === 'usage' || type === 'platform_fee'))
  assert.equal(
    body.data.summary.totalChargedMicrocents,
    moved * 10_000 + balance.remainderMicrocents,
    'charged is what moved and the remainder',
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
