import type { Database } from '../../platform/database/database.ts'
import type { Jobs } from '../../platform/jobs/jobs.ts'
import type { Log } from '../../platform/process/log.ts'
import * as claimQueries from '../turns/claim-queries.ts'
import type { OrphanedTurn } from '../turns/claim-queries.ts'
import { turnJob } from './jobs.ts'

const pageSize = 1_000

interface RequeueDeps {
  db: Database
  jobs: Jobs
  log: Log
}

/** Enqueues a job for each of these turns that has none. Returns their number. */
export const requeueTurns = async ({ db, jobs, log }: RequeueDeps, turns: OrphanedTurn[]): Promise<number> => {
  let requeued = 0
  for (const [hop, ofHop] of Map.groupBy(turns, (turn) => turn.hop)) {
    const job = turnJob(hop)
    const candidates = ofHop.map(({ orgId, id }) => ({ orgId, turnId: id }))
    const orphaned = await jobs.unattended(job, candidates)
    if (orphaned.length === 0) continue
    log.warn({ turns: orphaned.length, first: orphaned[0]?.turnId }, 'turns without a job get a new one')
    const members = new Map(ofHop.map(({ id, member }) => [id, member]))
    const memberOf = ({ turnId }: { turnId: string }) => members.get(turnId)
    await db.transaction('all orgs', (db) => jobs.enqueueAll(db, job, orphaned, { memberOf }))
    requeued += orphaned.length
  }
  return requeued
}

/**
 * Enqueues a new job for each orphaned turn: an active turn whose job was lost or has used up its retries. The worker of
 * the new job continues the turn, or ends it after too many attempts. Returns the number of turns.
 */
export const requeueOrphanedTurns = async (deps: RequeueDeps): Promise<number> => {
  let requeued = 0
  let page: OrphanedTurn[] = []
  do {
    page = await claimQueries.listOrphaned(deps.db, pageSize, page.at(-1))
    requeued += await requeueTurns(deps, page)
  } while (page.length === pageSize)
  return requeued
}
