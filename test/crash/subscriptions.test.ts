// Kills a worker while it handles an event of a subscription.
import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { on } from 'node:events'
import { after, test } from 'node:test'
import { systemActor } from '../../src/identity/actor.ts'
import { recordEvent } from '../../src/outbox/record.ts'
import { sql } from '../../src/platform/database/database.ts'
import { newId } from '../../src/platform/ids.ts'
import { startTestApp } from '../harness.ts'
import { until } from '../support/until.ts'
import { crashAgents } from './subscriptions-process.ts'
import type { Options } from './subscriptions-process.ts'

const app = await startTestApp({}, { work: false, subscriptions: [crashAgents(false)] })
const { db, config, connection } = app
await db.execute(sql`
  create table handled (subject_id uuid not null, sequence bigint not null, attempt integer not null,
    number bigint generated always as identity)`)

const children: ChildProcess[] = []
after(() => {
  for (const child of children) child.kill('SIGKILL')
})

/** Starts a worker, and returns a function that resolves when it has sent a message. */
const start = async (blocks: boolean): Promise<ChildProcess & { said(word: string): Promise<void> }> => {
  const options = { connection, dataDir: config.dataDir, blocks } as Options
  const child = fork(new URL('subscriptions-process.ts', import.meta.url), [JSON.stringify(options)])
  children.push(child)
  const words = new Set<string>()
  child.on('message', (word) => words.add(word as string))
  const said = async (word: string): Promise<void> => {
    if (words.has(word)) return
    for await (const [one] of on(child, 'message')) if (one === word) return
  }
  await said('ready')
  return Object.assign(child, { said })
}

test('an event whose worker is killed while it handles it is handled again by another one, before the next of its subject', async () => {
  const { orgId } = await app.createOrg()
  const [subjectId, free] = [newId(), newId()]
  const record = (id: string): Promise<void> =>
    db.transaction({ orgId }, (db) =>
      recordEvent(db, systemActor(orgId, 'Test'), 'agent.deleted', {
        subjectId: id,
        workspaceId: null,
        data: { agentId: id, name: 'N', slug: 'n' },
      }),
    )
  const first = await start(true)
  await record(subjectId)
  await first.said('blocked')
  for (let n = 0; n < 4; n += 1) await record(subjectId)
  first.kill('SIGKILL')
  await start(false)
  await record(free)
  const rowsOf = (id: string) =>
    db.rows<{ sequence: bigint; attempt: number }>(sql`
      select sequence, attempt from handled where subject_id = ${id} order by number`)
  // The job of the killed worker is released after 20 s, and the next event waits for it.
  await until('all were handled', async () => (await rowsOf(subjectId)).length >= 6, 90_000)
  assert.deepEqual(
    (await rowsOf(subjectId)).map(({ sequence, attempt }) => [Number(sequence), attempt]),
    [
      [1, 1],
      [1, 2],
      [2, 1],
      [3, 1],
      [4, 1],
      [5, 1],
    ],
  )
  await until('the other subject was handled', async () => (await rowsOf(free)).length === 1)
  await until('nothing is queued', async () => {
    const rows = await db.rows(sql`select from subscription_queue where org_id = ${orgId}`)
    return rows.length === 0
  })
})
