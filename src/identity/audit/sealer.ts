import { firstId } from '../../platform/ids.ts'
import type { Database } from '../../platform/database/database.ts'
import type { Jobs } from '../../platform/jobs/jobs.ts'
import type { Log } from '../../platform/process/log.ts'
import { sealOrg } from './chain.ts'
import * as queries from './chain-queries.ts'

const everyMs = 1_000
const entriesAtOnce = 500
const entriesPerPage = 500

/** Seals every committed entry of all orgs. */
export const sealAll = async (db: Database, isStopped: () => boolean = () => false): Promise<void> => {
  let after = firstId
  let sealed = 0
  let failure: unknown
  for (;;) {
    const orgs = await queries.listUnsealedOrgs(db.indexed, after, entriesPerPage)
    for (const { orgId } of orgs) {
      if (isStopped()) return
      try {
        sealed += await sealOrg(db, orgId, entriesAtOnce)
      } catch (error) {
        // One org must not keep those behind it from being sealed.
        failure ??= error
      }
    }
    const last = orgs.at(-1)
    if (last) after = last.orgId
    // Nothing is left, or other workers have the locks.
    else if (sealed === 0 || failure !== undefined) break
    else {
      after = firstId
      sealed = 0
    }
  }
  if (failure !== undefined) throw failure
}

/**
 * Seals the entries of the audit log every second, on every worker. The head of a chain is locked during a batch, so each
 * entry is sealed once; when a worker dies, the next one seals its batch.
 */
export const registerAuditSealer = (jobs: Jobs, { db, log }: { db: Database; log: Log }): void => {
  let isStopped = false
  let timer: NodeJS.Timeout | undefined
  let sealing: Promise<void> = Promise.resolve()

  const seal = async (): Promise<void> => {
    try {
      await sealAll(db, () => isStopped)
    } catch (error) {
      if (!isStopped) log.warn({ err: error }, 'entries of the audit log could not be sealed and are sealed later')
    }
    if (!isStopped) schedule()
  }
  const schedule = (): void => {
    timer = setTimeout(() => {
      sealing = seal()
    }, everyMs).unref()
  }

  jobs.alongside({
    start: schedule,
    stop: async () => {
      isStopped = true
      clearTimeout(timer)
      await sealing
    },
  })
}
