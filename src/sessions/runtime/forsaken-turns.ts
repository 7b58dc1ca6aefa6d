import type { Database } from '../../platform/database/database.ts'
import type { Jobs } from '../../platform/jobs/jobs.ts'
import type { Log } from '../../platform/process/log.ts'
import { runTurn } from './job.ts'
import * as turnQueries from '../turns/queries.ts'
import type { OrphanedTurn } from '../turns/queries.ts'

const atOnce = 1_000

/**
 * Finds turns that should be worked on and that nobody has or will take up: their job was lost, or given up. They get
 * another one, and whoever takes it up goes on with the turn, or ends it when that was tried too often. Answers how many.
 */
export const takeUpForsaken = async ({ db, jobs, log }: { db: Database; jobs: Jobs; log: Log }): Promise<number> => {
  let taken = 0
  let page: OrphanedTurn[] = []
  do {
    page = await turnQueries.listOrphaned(db, atOnce, page.at(-1))
    for (const [hop, turns] of Map.groupBy(page, (turn) => turn.hop)) {
      const kind = runTurn(hop)
      const found = turns.map(({ orgId, id }) => ({ orgId, turnId: id }))
      const missed = await jobs.unattended(kind, found)
      if (missed.length === 0) continue
      log.warn({ turns: missed.length, first: missed[0]?.turnId }, 'turns had no job any more and get another one')
      await db.transaction('all orgs', (db) => jobs.enqueueAll(db, kind, missed))
      taken += missed.length
    }
  } while (page.length === atOnce)
  return taken
}
