import assert from 'node:assert/strict'
import { once } from 'node:events'
import { describe, test } from 'node:test'
import { startTestApp } from '../../../test/harness.ts'
import { until } from '../../../test/support/until.ts'
import { newId } from '../ids.ts'
import { sql } from './database.ts'
import { claimLease, keepLease, LeaseLostError, leaseTiming, withLease } from './lease.ts'

const { db } = await startTestApp({}, { work: false })
await db.execute(sql`
  create table errands (
    org_id uuid, id uuid, state text not null default 'queued', attempt integer not null default 0, result text,
    lease_token uuid, lease_until timestamptz, primary key (org_id, id)
  )`)

const orgId = newId()
const newErrand = async () => {
  const id = newId()
  await db.execute(sql`insert into errands (org_id, id) values (${orgId}, ${id})`)
  return { table: sql`errands`, row: sql`org_id = ${orgId} and id = ${id}` }
}
type Target = Awaited<ReturnType<typeof newErrand>>
const read = (target: Target) =>
  db.row<{ state: string; attempt: number; result: string | null; leaseToken: string | null }>(
    sql`select state, attempt, result, lease_token from errands where ${target.row}`,
  )
const expire = (target: Target) =>
  db.execute(sql`update errands set lease_until = now() - interval '1 second' where ${target.row}`)
const write = (target: Target, held: ReturnType<typeof sql>, result: string) =>
  db.execute(sql`update errands set result = ${result}, state = 'done' where ${target.row} and ${held}`)

const quick = { leaseMs: 400, renewMs: 50 }
const aborted = (signal: AbortSignal) => (signal.aborted ? undefined : once(signal, 'abort'))

describe('a lease on a row', () => {
  test('only one of many concurrent workers gets the lease on a row', async () => {
    const target = await newErrand()
    const claims = await Promise.all(Array.from({ length: 10 }, () => claimLease(db, target)))
    assert.equal(claims.filter(Boolean).length, 1)
  })

  test('claiming a lease updates and returns the row only when its condition holds', async () => {
    const target = await newErrand()
    const options = {
      when: sql`state = 'queued'`,
      set: sql`state = 'running', attempt = attempt + 1`,
      returning: sql`attempt, state`,
    }
    const claim = await claimLease<{ attempt: number; state: string }>(db, target, options)
    assert.deepEqual(claim?.row, { attempt: 1, state: 'running' })
    await expire(target)
    assert.equal(await claimLease(db, target, options), undefined, 'it is not queued any more')
  })

  test('a lease that somebody has ended is noticed when its worker is told to check, before the next renewal', async () => {
    const target = await newErrand()
    const claim = await claimLease(db, target)
    assert.ok(claim)
    const lease = keepLease(db, target, claim, { leaseMs: 3_600_000, renewMs: 3_600_000 })
    lease.renewSoon()
    await db.execute(sql`update errands set lease_token = null where ${target.row}`)
    lease.renewSoon()
    await until('it is lost', () => {
      lease.renewSoon()
      return lease.signal.aborted
    })
    lease.stop()
  })

  test('a lease is renewed while it is kept and expires when its worker stops', async () => {
    const target = await newErrand()
    const claim = await claimLease(db, target)
    assert.ok(claim)
    const endsIn = async () =>
      (await db.row<{ seconds: number }>(
        sql`select extract(epoch from lease_until - now())::float8 as seconds from errands where ${target.row}`,
      ))!.seconds
    await db.execute(sql`update errands set lease_until = now() + interval '1 second' where ${target.row}`)
    const lease = keepLease(db, target, claim, { leaseMs: 60_000, renewMs: 20 })
    while ((await endsIn()) < 50);
    lease.check()
    assert.equal(await claimLease(db, target), undefined)
    lease.stop()
    // One renewal may still have been under way.
    do await expire(target)
    while (!(await claimLease(db, target)))
  })

  test('an expired lease goes to another worker, and later writes of the first change nothing', async () => {
    const target = await newErrand()
    const slow = await claimLease(db, target)
    assert.ok(slow)
    const zombie = keepLease(db, target, slow, { leaseMs: 60_000, renewMs: 60_000 })
    await expire(target)
    const next = await claimLease(db, target)
    assert.ok(next)
    const heir = keepLease(db, target, next)
    assert.equal(await write(target, heir.held, 'by the heir'), 1)
    assert.equal(await write(target, zombie.held, 'by the zombie'), 0)
    assert.equal((await read(target))?.result, 'by the heir')
    zombie.stop()
    heir.stop()
  })

  test('a lease aborts its signal when another worker has claimed it', async () => {
    const target = await newErrand()
    const claim = await claimLease(db, target)
    assert.ok(claim)
    const lease = keepLease(db, target, claim, { leaseMs: 60_000, renewMs: 20 })
    // Between two renewals, so that the loss is found by the next one.
    await db.execute(sql`update errands set lease_token = ${newId()} where ${target.row}`)
    await aborted(lease.signal)
    assert.ok(lease.signal.reason instanceof LeaseLostError)
    assert.throws(() => lease.check(), LeaseLostError)
  })

  test('a lease aborts its signal when two renewals in a row fail', async () => {
    const target = await newErrand()
    const claim = await claimLease(db, target)
    assert.ok(claim)
    const lease = keepLease(db, { ...target, table: sql`no_such_table` }, claim, { leaseMs: 60_000, renewMs: 20 })
    await aborted(lease.signal)
    assert.match(String(lease.signal.reason), /could not be renewed/)
    assert.equal((lease.signal.reason as Error).cause instanceof Error, true)
  })

  test('a worker detects a lost lease immediately after its event loop was blocked for longer than the lease', async () => {
    const target = await newErrand()
    const claim = await claimLease(db, target, { timing: quick })
    assert.ok(claim)
    const lease = keepLease(db, target, claim, quick)
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, quick.leaseMs + 50)
    // No timer could run yet.
    assert.equal(lease.signal.aborted, false)
    assert.throws(() => lease.check(), LeaseLostError)
    assert.equal(lease.signal.aborted, true)
  })

  test('a lease is released when the work ends, also with an error', async () => {
    const target = await newErrand()
    const answer = await withLease(db, target, { set: sql`attempt = attempt + 1` }, async (lease) => {
      assert.equal(await withLease(db, target, {}, async () => 'never'), undefined, 'it is taken')
      await write(target, lease.held, 'done')
      return 'answer'
    })
    assert.equal(answer, 'answer')
    assert.equal((await read(target))?.leaseToken, null)
    await assert.rejects(
      withLease(db, target, {}, async () => {
        throw new Error('the work failed')
      }),
      /the work failed/,
    )
    assert.equal((await read(target))?.leaseToken, null)
  })

  test('the lease of a killed worker ends within 30 s, after two missed renewals', () => {
    assert.ok(leaseTiming.leaseMs <= 30_000)
    assert.ok(leaseTiming.renewMs * 3 <= leaseTiming.leaseMs)
  })
})
