import type { Database } from '../../platform/database/database.ts'
import { dropExpired } from '../../platform/database/partitions.ts'
import { addRemoved } from './retention-queries.ts'

/**
 * Drops the records of model calls of turns that began in months older than `days` days. Rollups and transactions stay;
 * the sums of the dropped records are kept, so that the ledger can still be verified.
 */
export const dropOldRecords = (db: Database, days: number): Promise<number> =>
  dropExpired(db, 'usage_records', {
    days,
    beforeDrop: async (db, partition) => {
      await addRemoved(db, partition)
    },
    coversPast: true,
  })
