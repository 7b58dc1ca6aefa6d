import type { Db as BossDb, Job, PgBoss } from 'pg-boss'
import { claimFairly, firstPair } from './claim-queries.ts'
import type { JobKind } from './kind.ts'
import { countsOf, shareOf } from './shares.ts'
import type { Attempts, Running, Share } from './shares.ts'

export interface JobStore {
  boss: PgBoss
  db: BossDb
}

interface Fetched {
  jobs: Job[]
  mayHaveMore: boolean
}

/** Fetches jobs for the places that are free. `heldBack`: it leaves out groups that have their share. */
export const createFetch = (
  { boss, db }: JobStore,
  { kind, concurrency }: { kind: JobKind<object>; concurrency: number },
) => {
  /** Groups with jobs that wait because the group has its share. */
  const crowded = new Set<string>()
  /** The member after which the next claim begins, and whether the claims since the first member have skipped none. */
  let after = firstPair
  let isWhole = true

  const fetchInOrder = async (room: number): Promise<Fetched> => {
    const jobs = await boss.fetch<object>(kind.name, { batchSize: room })
    return { jobs, mayHaveMore: jobs.length === room }
  }

  const fetchFairly = async ({ limit, held }: Share, running: Running): Promise<Fetched> => {
    const isFirst = after === firstPair
    if (isFirst) isWhole = true
    const claimed = await claimFairly(db, { kind: kind.name, limit, running: running.members, held, after })
    const { jobs, last, waiting, isCut } = claimed
    after = last ?? firstPair
    if (jobs.length < limit && isFirst && last === undefined) crowded.clear()
    for (const group of waiting) crowded.add(group)
    // A full batch may have left members out.
    if (jobs.length > 0 && last !== undefined) isWhole = false
    const isLimited = jobs.length === limit || (jobs.length > 0 && isCut)
    return { jobs, mayHaveMore: isLimited || last !== undefined || !isWhole }
  }

  return {
    crowded,
    fetch: (attempts: Attempts): { heldBack: boolean; fetched: Promise<Fetched> } => {
      if (kind.fairBy === null) return { heldBack: false, fetched: fetchInOrder(concurrency - attempts.size) }
      const running = countsOf(attempts)
      const share = shareOf(concurrency, running)
      return { heldBack: share.held.length > 0, fetched: fetchFairly(share, running) }
    },
  }
}
