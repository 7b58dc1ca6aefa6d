import { sql } from '../../platform/database/database.ts'
import type { Db } from '../../platform/database/database.ts'
import { smallestIdOf } from '../../platform/ids.ts'

export type DeliveryResult = 'succeeded' | 'failed'

/** With a bound in time, the statement reads the partitions of these days only. */
const recent = { days: 7, limit: 20 }

export interface RecentResults {
  /** Newest first. */
  recentResults: DeliveryResult[]
  /** When the newest of them ended. */
  lastResultAt: string | null
}

/** How the latest deliveries of each webhook or event endpoint ended: up to 20 of the last 7 days. */
export const recentResultsOf = async (
  db: Db,
  orgId: string,
  ids: readonly string[],
): Promise<(id: string) => RecentResults> => {
  const rows = await db.rows<{ webhookId: string; status: DeliveryResult; updatedAt: string }>(sql`
    select g.id as webhook_id, r.status, r.updated_at
    from unnest(${ids}::uuid[]) as g (id) cross join lateral (
      select d.id, d.status, d.updated_at from webhook_deliveries d
      where d.org_id = ${orgId} and d.webhook_id = g.id and d.id > ${smallestIdOf(Date.now() - recent.days * 86_400_000)}
      order by d.id desc limit ${recent.limit}) r
    order by g.id, r.id desc`)
  const byId = Map.groupBy(rows, ({ webhookId }) => webhookId)
  return (id) => {
    const ended = byId.get(id) ?? []
    return { recentResults: ended.map(({ status }) => status), lastResultAt: ended[0]?.updatedAt ?? null }
  }
}
