import assert from 'node:assert/strict'
import { execFile, fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import {
  assertBalanceEvents,
  assertExact,
  deposit,
  getBilling,
  listLedger,
  openPaid,
  sumOf,
} from '../support/billing.ts'
import { getTurn, say, until } from '../support/chat.ts'
import { childEnv } from '../support/child-processes.ts'
import { startTestApp } from '../harness.ts'
import { sql } from '../../src/platform/database/database.ts'

const children = new Set<ChildProcess>()
after(() => {
  for (const child of children) child.kill('SIGKILL')
})

// Every call has a fee, and every turn a reservation.
const app = await startTestApp(
  { BILLING_ENFORCED: '1', PLATFORM_FEE_WAIVER_CENTS: '0', PLATFORM_FEE_BPS: '777' },
  { work: false },
)
const { db, connection, config } = app

const startWorker = async (): Promise<ChildProcess> => {
  const options = { connection, dataDir: config.dataDir, callsFile: join(config.dataDir, 'model-calls') }
  const child = fork(new URL('turns-process.ts', import.meta.url), [JSON.stringify(options)])
  children.add(child)
  child.once('exit', () => children.delete(child))
  await once(child, 'message')
  return child
}

const kill = async (child: ChildProcess): Promise<void> => {
  child.kill('SIGKILL')
  if (child.signalCode === null) await once(child, 'exit')
}

/** Runs `atrium ledger verify` on the same database. */
const verify = async () => {
  const { host, port, user, database } = connection
  const url = `postgres://${user}@localhost:${port}/${database}?host=${encodeURIComponent(host ?? '')}`
  const cli = new URL('../../src/cli/cli.ts', import.meta.url).pathname
  const env = { ...childEnv, NODE_ENV: 'test', DATABASE_URL: url, DATA_DIR: config.dataDir }
  // The command exits with 1 when a ledger does not add up, after it has printed the differences.
  const ended = await promisify(execFile)(process.execPath, [cli, 'ledger', 'verify', '--json'], { env }).catch(
    (error: { stdout: string }) => error,
  )
  return JSON.parse(ended.stdout) as { orgs: number; faults: object[] }
}

const turnsAtOnce = 24
const kills = 5

test('charges every call once and leaves no reservation when workers are killed under load', async (t) => {
  const owner = await app.createOrg()
  await deposit(app, owner, 100_000)
  // The charges cross it halfway.
  const thresholdCents = 99_700
  const changed = await app.call('PATCH', '/api/v1/billing', {
    as: owner,
    json: { autoTopupThresholdCents: thresholdCents },
  })
  assert.equal(changed.status, 200, changed.text)
  const sessions = await Promise.all(
    Array.from({ length: turnsAtOnce }, (_, i) => openPaid(app, owner, { name: `Agent ${i}` })),
  )
  let workers = await Promise.all([startWorker(), startWorker()])
  const turnIds: string[] = []
  const ask = async (sessionId: string, n: number): Promise<void> => {
    const text =
      n % 3 === 0 ? '/slow 800\nA longer answer, cut in the middle now and then.' : `/tokens ${1_000 * n + 7} 13 0 0`
    const { status, body } = await say(app, owner, sessionId, { text, background: true })
    assert.equal(status, 202, JSON.stringify(body))
    turnIds.push(body.data.turn.id)
  }
  for (let round = 0; round < kills; round++) {
    await Promise.all(sessions.map(({ id }, i) => ask(id, round * turnsAtOnce + i)))
    await delay(100 + Math.random() * 400)
    const [first, second] = workers
    await kill(first)
    // The ledger adds up at any moment, whichever process died.
    const { balance, usage } = await getBilling(app, owner)
    assert.equal(
      usage.currentMonth.totalChargedMicrocents,
      (100_000 - balance.balanceCents) * 10_000 + balance.remainderMicrocents,
    )
    workers = [second, await startWorker()]
  }
  await until(
    () =>
      db.row<{ n: number }>(sql`
        select count(*)::int as n from turns where org_id = ${owner.orgId} and ended_at is null`),
    (row) => row?.n === 0,
    300_000,
  )
  const turns = await Promise.all(turnIds.map((id) => getTurn(app, owner, id)))
  const lost = turns.flatMap(({ steps }) => steps).filter(({ status }) => status === 'lost').length
  t.diagnostic(`${turns.length} turns, ${lost} calls lost to ${kills} kills`)
  // On a busy machine, one turn can see two of the kills.
  const isEnded = ({ status, error }: { status: string; error: { code: string } | null }): boolean =>
    status === 'completed' || (status === 'failed' && error?.code === 'worker_died')
  assert.ok(turns.every(isEnded), JSON.stringify(turns.map(({ status, error }) => [status, error])))

  const { balance, usage } = await assertExact(app, owner)
  const calls = turns.flatMap(({ steps }) => steps)
  const sum = (of: (turn: Record<string, number>) => number): number =>
    turns.reduce((total, turn) => total + of(turn), 0)
  assert.equal(usage.currentMonth.requestCount, calls.length, 'each call is a request, those that were lost, too')
  assert.equal(
    usage.currentMonth.totalChargedMicrocents,
    sum((turn) => turn['chargedMicrocents']!),
  )
  assert.equal(
    usage.currentMonth.providerCostMicrocents,
    sum((turn) => turn['costMicrocents']!),
  )
  const expected = calls.reduce((fees, { costMicrocents }) => fees + Math.ceil((costMicrocents * 777) / 10_000), 0)
  assert.equal(usage.currentMonth.platformFeeMicrocents, expected)
  assert.equal(balance.reservedMicrocents, 0)
  assert.equal(sumOf(await listLedger(app, owner)), balance.balanceCents)
  assert.ok(balance.balanceCents < thresholdCents, `${balance.balanceCents}`)
  await assertBalanceEvents(db, owner.orgId, thresholdCents)
  assert.deepEqual(await verify(), { orgs: 1, faults: [] })
})
