import { systemActor } from '../../identity/actor.ts'
import type { Database } from '../../platform/database/database.ts'
import { recordDeletedFiles } from '../events.ts'
import { isUuid } from '../../platform/ids.ts'
import { defineJob } from '../../platform/jobs/jobs.ts'
import type { Jobs } from '../../platform/jobs/jobs.ts'
import type { Log } from '../../platform/process/log.ts'
import type { ObjectStore } from '../../platform/object-store/object-store.ts'
import * as queries from './queries.ts'
import { hasSearchIndex } from '../listing/queries.ts'
import { keepDirect } from '../direct/direct.ts'
import { registerEnding, removeExpired as removeExpiredDirect, resumeEnding } from '../direct/ending.ts'
import { registerVerification, resumeVerification } from '../direct/verify.ts'
import type { VerifyJobs } from '../direct/verify.ts'
import { removeExpired } from '../resumable/resumable.ts'
import { deleteForgottenVersions } from '../versions/queries.ts'
import { markOrphans, forEachConcurrently, releaseBytes, releaseUnused, storageKeyOf } from './blobs.ts'

const batch = 500
const concurrentChecks = 8

// Younger objects may belong to a running request: an upload may take an hour, and clocks may differ.
const minAgeHours = 24

export interface ReconciliationDeps {
  db: Database
  objects: ObjectStore
  log: Log
}

export interface Findings {
  /** Objects without a row; deleted. */
  unknownObjects: number
  /** Blobs that no file used; deleted. */
  unusedBlobs: number
  /** Blobs of files that are missing in the store or have another size. They cannot be recovered; each is logged. */
  missingObjects: number
}

/** Deletes objects without a row: their upload was interrupted, or the database was restored from an older backup. */
const removeUnknown = async ({ db, objects }: ReconciliationDeps, olderThan: Date): Promise<number> => {
  let removed = 0
  let candidates: { orgId: string; id: string }[] = []
  const settle = async (): Promise<void> => {
    const orgIds = candidates.map(({ orgId }) => orgId)
    const ids = candidates.map(({ id }) => id)
    // Orgs first: the rows of an org that is created between the two statements are then seen by the second.
    const orgs = new Set((await queries.listExistingOrgs(db, [...new Set(orgIds)])).map(({ orgId }) => orgId))
    const known = new Set((await queries.listKnown(db, orgIds, ids)).map(({ orgId, id }) => storageKeyOf(orgId, id)))
    const unknown = candidates.filter(({ orgId, id }) => orgs.has(orgId) && !known.has(storageKeyOf(orgId, id)))
    await forEachConcurrently(concurrentChecks, unknown, ({ orgId, id }) => objects.delete(storageKeyOf(orgId, id)))
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

/** Counts and logs rows without an object, and marks rows that no file uses as unused. */
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
    for (const { orgId, id } of orphans) await markOrphans(db, orgId, [id])
    const used = blobs.filter(({ isUsed }) => isUsed)
    await forEachConcurrently(concurrentChecks, used, async ({ orgId, id, sizeBytes }) => {
      const found = await objects.head(storageKeyOf(orgId, id))
      if (found?.sizeBytes === sizeBytes) return
      // Its last file may have been deleted since the list was read.
      if (!(await queries.isLive(db, orgId, id))) return
      missing += 1
      log.error({ orgId, blobId: id, sizeBytes, found: found?.sizeBytes }, 'the bytes of a stored file are missing')
    })
  }
}

/**
 * Compares the object store with the database, in both directions, and cleans up after crashes and failures. Ignores
 * everything younger than `ageHours`.
 */
export const reconcile = async (
  deps: ReconciliationDeps,
  options: { ageHours?: number; signal?: AbortSignal } = {},
): Promise<Findings> => {
  const { db, objects, log } = deps
  const { ageHours = minAgeHours, signal } = options
  await objects.removeUnfinished({ soleProcess: false, keep: (keys) => keepDirect(db, keys) })
  await deleteForgottenVersions(db)
  const { missing, unused } = await checkLive(deps, ageHours, signal)
  for (const { orgId } of await queries.listUnsettledOrgs(db)) {
    signal?.throwIfAborted()
    await queries.markAbandoned(db, orgId, ageHours)
    await releaseUnused(db, objects, orgId)
  }
  const unknown = await removeUnknown(deps, new Date(Date.now() - ageHours * 3_600_000))
  const findings = { unknownObjects: unknown, unusedBlobs: unused, missingObjects: missing }
  if (unknown + unused + missing > 0)
    log.warn(findings, 'file reconciliation found differences between the object store and the database')
  return findings
}

/** Deletes pending files whose bytes were never uploaded. */
export const removeUnfinished = async (db: Database, ageHours = minAgeHours): Promise<number> => {
  let removed = 0
  for (;;) {
    const listed = await queries.listUnfinished(db, ageHours, batch)
    let removedNow = 0
    for (const [orgId, files] of Map.groupBy(listed, (file) => file.orgId)) {
      const ids = files.map(({ id }) => id)
      removedNow += await db.transaction({ orgId }, async (db) => {
        const deleted = await queries.deleteUnfinished(db, orgId, ids)
        await recordDeletedFiles(db, systemActor(orgId, 'Upload expiry'), deleted)
        return deleted.length
      })
    }
    removed += removedNow
    // The rest is locked by uploads that are being completed.
    if (listed.length < batch || removedNow === 0) return removed
  }
}

const nightly = defineJob<Record<string, never>>('files.reconcile', { retryLimit: 2, timeoutSeconds: 6 * 3_600 })
const hourly = defineJob<Record<string, never>>('files.remove-unfinished', { retryLimit: 2 })

export const registerFileJobs = (jobs: VerifyJobs & Pick<Jobs, 'schedule'>, deps: ReconciliationDeps): void => {
  const { db, objects, log } = deps
  registerVerification(jobs, { ...deps, jobs })
  registerEnding(jobs, { ...deps, jobs })
  jobs.work(releaseBytes, ({ orgId }) => releaseUnused(db, objects, orgId))
  jobs.work(nightly, async (_payload, { signal }) => {
    await reconcile(deps, { signal })
    if (!(await hasSearchIndex(db))) {
      log.warn(
        'file name search is slow in large orgs: the database lacks the index files_search, which needs pg_trgm and btree_gin (docs/decisions/0008-file-tree.md)',
      )
    }
  })
  jobs.schedule(nightly, '23 3 * * *')
  jobs.work(hourly, async () => {
    await removeExpiredDirect({ ...deps, jobs })
    await removeUnfinished(db)
    await removeExpired(deps)
    await resumeVerification(db, jobs)
    await resumeEnding({ db, jobs })
  })
  jobs.schedule(hourly, '17 * * * *')
}
