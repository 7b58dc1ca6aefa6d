import type { Database } from '../../platform/database/database.ts'
import { isUuid } from '../../platform/ids.ts'
import { defineJob } from '../../platform/jobs/jobs.ts'
import type { Jobs } from '../../platform/jobs/jobs.ts'
import type { Log } from '../../platform/process/log.ts'
import type { ObjectStore } from '../../platform/object-store/object-store.ts'
import * as queries from './blob-queries.ts'
import { hasSearchIndex } from '../tree/list-queries.ts'
import { condemnOrphans, eachAtOnce, releaseBytes, releaseUnused } from './blobs.ts'
import { storageKeyOf } from './uploads.ts'

const batch = 500
const looksAtOnce = 8

// What is younger may belong to a request that is still running: an upload may take an hour, a clock may be off.
const minAgeHours = 24

export interface ReconciliationDeps {
  db: Database
  objects: ObjectStore
  log: Log
}

export interface Findings {
  /** Objects that no row knew of; removed. */
  unknownObjects: number
  /** Stored bytes that no file used; removed. */
  unusedBlobs: number
  /** Files' bytes that are not in the store, or not whole. Nothing can bring them back; each is logged. */
  missingObjects: number
}

/** Objects without a row: their uploads ended between the object and the row, or the database is older than they are. */
const removeUnknown = async ({ db, objects }: ReconciliationDeps, olderThan: Date): Promise<number> => {
  let removed = 0
  let candidates: { orgId: string; id: string }[] = []
  const settle = async (): Promise<void> => {
    const unknown = await queries.listUnknown(
      db,
      candidates.map(({ orgId }) => orgId),
      candidates.map(({ id }) => id),
    )
    await eachAtOnce(looksAtOnce, unknown, ({ orgId, id }) => objects.delete(storageKeyOf(orgId, id)))
    removed += unknown.length
    candidates = []
  }
  for await (const { key, modifiedAt } of objects.list('')) {
    const [orgId = '', id = ''] = key.split('/')
    if (modifiedAt >= olderThan || !isUuid(orgId) || !isUuid(id)) continue
    candidates.push({ orgId, id })
    if (candidates.length >= batch) await settle()
  }
  if (candidates.length > 0) await settle()
  return removed
}

/** Rows without an object, and rows that nothing uses. */
const checkLive = async (
  { db, objects, log }: ReconciliationDeps,
  ageHours: number,
  signal: AbortSignal | undefined,
): Promise<{ missing: number; unused: number }> => {
  let missing = 0
  let unused = 0
  let after = { orgId: '00000000-0000-0000-0000-000000000000', id: '00000000-0000-0000-0000-000000000000' }
  for (;;) {
    signal?.throwIfAborted()
    const blobs = await queries.listLive(db, ageHours, after, batch)
    const last = blobs.at(-1)
    if (!last) return { missing, unused }
    after = last
    const orphans = blobs.filter(({ isUsed }) => !isUsed)
    unused += orphans.length
    for (const { orgId, id } of orphans) await condemnOrphans(db, orgId, [id])
    const used = blobs.filter(({ isUsed }) => isUsed)
    await eachAtOnce(looksAtOnce, used, async ({ orgId, id, sizeBytes }) => {
      const found = await objects.head(storageKeyOf(orgId, id))
      if (found?.sizeBytes === sizeBytes) return
      // Its last file may have been deleted since it was listed.
      if (!(await queries.isLive(db, orgId, id))) return
      missing += 1
      log.error({ orgId, blobId: id, sizeBytes, found: found?.sizeBytes }, 'the bytes of a stored file are missing')
    })
  }
}

/**
 * Holds the store against the database, in both directions, and settles what crashes and failures left behind. Touches
 * nothing that is younger than `ageHours`.
 */
export const reconcile = async (
  deps: ReconciliationDeps,
  options: { ageHours?: number; signal?: AbortSignal } = {},
): Promise<Findings> => {
  const { db, objects, log } = deps
  const { ageHours = minAgeHours, signal } = options
  await objects.removeUnfinished({ soleProcess: false })
  const { missing, unused } = await checkLive(deps, ageHours, signal)
  for (const { orgId } of await queries.listUnsettledOrgs(db)) {
    signal?.throwIfAborted()
    await queries.condemnAbandoned(db, orgId, ageHours)
    await releaseUnused(db, objects, orgId)
  }
  const unknown = await removeUnknown(deps, new Date(Date.now() - ageHours * 3_600_000))
  const findings = { unknownObjects: unknown, unusedBlobs: unused, missingObjects: missing }
  if (unknown + unused + missing > 0) log.warn(findings, 'files reconciled with the store')
  return findings
}

/** Removes files whose bytes never came. */
export const removeUnfinished = async (db: Database, ageHours = minAgeHours): Promise<number> => {
  let removed = 0
  for (;;) {
    const { deleted = 0 } = (await queries.deleteUnfinished(db, ageHours, batch)) ?? {}
    removed += deleted
    if (deleted < batch) return removed
  }
}

const nightly = defineJob<Record<string, never>>('files.reconcile', { retryLimit: 2, timeoutSeconds: 6 * 3_600 })
const hourly = defineJob<Record<string, never>>('files.remove-unfinished', { retryLimit: 2 })

export const registerFileJobs = (jobs: Pick<Jobs, 'work' | 'schedule'>, deps: ReconciliationDeps): void => {
  const { db, objects, log } = deps
  jobs.work(releaseBytes, ({ orgId }) => releaseUnused(db, objects, orgId))
  jobs.work(nightly, async (_payload, { signal }) => {
    await reconcile(deps, { signal })
    if (!(await hasSearchIndex(db))) {
      log.warn(
        'searching file names reads all of them: the database lacks the index files_search, which needs pg_trgm and btree_gin (docs/decisions/0008-file-tree.md)',
      )
    }
  })
  jobs.schedule(nightly, '23 3 * * *')
  jobs.work(hourly, async () => {
    await removeUnfinished(db)
  })
  jobs.schedule(hourly, '17 * * * *')
}
