import assert from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import { after, test } from 'node:test'
import pg from 'pg'
import { startTestApp } from '../../../../test/harness.ts'
import { openDatabase, sql } from '../database.ts'

const app = await startTestApp({}, { work: false })
const db = openDatabase({
  connection: app.connection,
  poolSize: 3,
  hotConnections: 1,
  onError: () => undefined,
})
after(() => db.close())

/** As if called from somewhere that has no transaction open. */
const outside = AsyncLocalStorage.snapshot()
const cut = (pid: number) => outside(() => app.db.execute(sql`select pg_terminate_backend(${pid}::int)`))
const pidOf = async (on: { row: typeof db.row }) =>
  (await on.row<{ pid: number }>(sql`select pg_backend_pid() as pid`))!.pid

// Uncaught, the loss of a connection ends the process, and with it this file.
test('a connection that breaks between two statements fails its transaction only', async () => {
  await assert.rejects(
    db.transaction('all orgs', async (db) => {
      await cut(await pidOf(db))
      // The client hears of it as soon as its socket ends.
      for (;;) await db.row(sql`select 1`)
    }),
  )
  const { promise, resolve } = Promise.withResolvers<void>()
  const failed = assert.rejects(
    db.transaction('all orgs', async (db) => {
      const pid = await pidOf(db)
      const gone = watchBackend(pid)
      await cut(pid)
      await gone
      // Nothing is under way on the connection while its end arrives.
      await outside(() => app.db.row(sql`select pg_sleep(0.2)`))
      resolve()
      await db.row(sql`select 1`)
    }),
  )
  await promise
  await failed
  assert.equal((await db.row<{ one: number }>(sql`select 1 as one`))?.one, 1)
})

test('idle connections that break are replaced', async () => {
  const pid = await pidOf(db)
  const hotPid = await pidOf(db.hot)
  await cut(pid)
  await cut(hotPid)
  for (const on of [db, db.hot]) {
    let answer: number | undefined
    while (answer === undefined) answer = await pidOf(on).catch(() => undefined)
    assert.notEqual(answer, pid)
    assert.notEqual(answer, hotPid)
  }
})

const watchBackend = async (pid: number): Promise<void> => {
  const client = new pg.Client(app.connection)
  await client.connect()
  try {
    while ((await client.query('select from pg_stat_activity where pid = $1', [pid])).rowCount === 1);
  } finally {
    await client.end()
  }
}
