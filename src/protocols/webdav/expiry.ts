import type { Database } from '../../platform/database/database.ts'
import { defineJob } from '../../platform/jobs/jobs.ts'
import type { Jobs } from '../../platform/jobs/jobs.ts'
import { deleteExpired } from './locks/queries.ts'
import { deletePurged } from './properties/queries.ts'

export const expireDav = defineJob<Record<string, never>>('webdav.expire')
const batch = 5_000

/** Deletes locks that have expired, and the properties of files that have left the trash, every hour. */
export const registerDavExpiry = (jobs: Jobs, db: Database): void => {
  jobs.work(
    expireDav,
    async (_payload, { signal }) => {
      await deleteExpired(db)
      do signal.throwIfAborted()
      while ((await deletePurged(db, batch)) === batch)
    },
    { concurrency: 1 },
  )
  jobs.schedule(expireDav, '41 * * * *')
}
