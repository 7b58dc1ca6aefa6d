import assert from 'node:assert/strict'
import { reconcile } from '../../../src/files/blobs/reconciliation.ts'
import { removeExpired } from '../../../src/files/resumable/resumable.ts'
import { purgeDue } from '../../../src/files/trash/purge.ts'
import { sql } from '../../../src/platform/database/database.ts'
import { callerOf } from '../../harness.ts'
import type { Answer } from '../../harness.ts'
import { countsAreExact, guardsAreExact, storesOnlyWhatIsUsed } from '../files.ts'
import type { ServerProcess } from '../processes/server-process.ts'
import { until } from '../until.ts'
import type { History, Step } from './history.ts'
import { actorOf, contentsAreWhole, createBoxes, listKnown, requests } from './storm.ts'

/** The steps of clients that send their requests at the same time to one server, which is killed after some responses. */
export interface KilledRound {
  clients: Step[][]
  responses: number
}

/** Sends the requests of a round, and kills the server. Returns the responses that have arrived. */
const sendAndKill = async (
  history: History,
  { clients, responses }: KilledRound,
  { server, boxes }: { server: ServerProcess; boxes: string[] },
): Promise<Answer[]> => {
  const app = { ...history.app, url: server.url, call: callerOf(server.url) }
  const known = await listKnown(history, boxes)
  const arrived: Answer[] = []
  let killed: Promise<void> | undefined
  const send = async (steps: Step[]): Promise<void> => {
    for (const step of steps) {
      const request = requests[step.n % requests.length]
      const answer = await request?.({ ...history, app }, known, step, actorOf(history.model, step))
      if (answer) arrived.push(answer)
      if (arrived.length >= responses) killed ??= server.kill()
    }
  }
  const results = await Promise.allSettled(clients.map(send))
  await (killed ?? server.kill())
  for (const result of results) {
    // fetch rejects with this error when the connection of a request ends.
    if (result.status === 'rejected') assert.match(String(result.reason), /TypeError: (?:fetch failed|terminated)/)
  }
  return arrived
}

/** PostgreSQL ends the transactions of a killed server when it finds their connections closed. */
const transactionsHaveEnded = ({ app }: History): Promise<void> =>
  until('the transactions of the killed server have ended', async () => {
    const running = await app.db.row(sql`
      select 1 from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'
        and state <> 'idle'`)
    return running === undefined
  })

/** Whether the files of successful requests exist. */
const acknowledgedFilesExist = async ({ app, orgId }: History, arrived: readonly Answer[]): Promise<void> => {
  const ids = arrived.flatMap(({ status, body }) => (status === 201 ? (body?.data?.file?.id ?? []) : []) as string[])
  const rows = await app.db.rows<{ id: string }>(sql`
    select id from files where org_id = ${orgId} and id = any(${ids}::uuid[])`)
  assert.deepEqual(rows.map(({ id }) => id).toSorted(), ids.toSorted())
}

/** Deletes everything, after which nothing is counted or stored. */
const nothingRemains = async (history: History): Promise<void> => {
  const { app, model, orgId } = history
  const as = model.people[0]?.actor ?? ''
  await app.call('DELETE', '/api/v1/files/trash', { as })
  for (const id of (await listKnown(history, [])).files) {
    await app.call('DELETE', `/api/v1/files/${id}?permanent=true`, { as })
  }
  const { folders } = await listKnown(history, [])
  for (const id of folders) await app.call('DELETE', `/api/v1/files/${id}?permanent=true`, { as })
  await purgeDue({ db: app.db, jobs: app.deps.jobs }, orgId)
  const usage = await app.db.row(sql`
    select coalesce(sum(files), 0)::int as files, coalesce(sum(stored_bytes), 0)::int as bytes
    from org_file_usage where org_id = ${orgId}`)
  assert.deepEqual(usage, { files: 0, bytes: 0 })
  await storesOnlyWhatIsUsed(app, orgId)
}

/**
 * A server process is killed in each round, and another one continues. Counts, quotas, guards and references to stored bytes
 * must be exact after each.
 */
export const stormWithKills = async (
  history: History,
  rounds: readonly KilledRound[],
  start: () => Promise<ServerProcess>,
): Promise<void> => {
  const { app, orgId } = history
  const { db, deps } = app
  // It looks at all orgs, and nobody runs the jobs that delete the bytes of those of other histories.
  await reconcile({ db, objects: deps.objects, log: deps.log }, { ageHours: 0 })
  const boxes = await createBoxes(history)
  for (const round of rounds) {
    const arrived = await sendAndKill(history, round, { server: await start(), boxes })
    for (const answer of arrived) assert.ok(answer.status < 500, answer.text)
    await transactionsHaveEnded(history)
    await countsAreExact(app, orgId)
    await guardsAreExact(app, orgId)
    await acknowledgedFilesExist(history, arrived)
    await contentsAreWhole(history, (await listKnown(history, boxes)).files)
    // Unfinished uploads of the killed server expire.
    await app.db.execute(sql`
      update uploads set expires_at = now(), lease_until = now() - interval '1 second'
      where org_id = ${orgId} and state = 'open'`)
    await removeExpired(app.deps)
    await storesOnlyWhatIsUsed(app, orgId)
  }
  await nothingRemains(history)
}
