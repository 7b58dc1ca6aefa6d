import { raw, sql } from '../../platform/database/database.ts'
import type { Db } from '../../platform/database/database.ts'

/** Adds the records of a detached partition to the sums of removed records. Must run in the transaction that drops it. */
export const addRemoved = (db: Db, partition: string) =>
  db.execute(sql`
    -- all orgs: retention applies to the whole server
    insert into usage_records_removed as r (org_id, calls, charged_microcents, fee_microcents)
    select org_id, count(*), sum(charged_microcents), sum(platform_fee_microcents) from ${raw(partition)} group by org_id
    on conflict (org_id) do update
    set calls = r.calls + excluded.calls, charged_microcents = r.charged_microcents + excluded.charged_microcents,
      fee_microcents = r.fee_microcents + excluded.fee_microcents`)
