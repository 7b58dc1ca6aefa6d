import { sql } from '../../platform/database/database.ts'
import type { Db, Sql } from '../../platform/database/database.ts'

export interface SpendingSums {
  requestCount: number
  byokRequestCount: number
  inputTokens: number
  outputTokens: number
  cacheReadTokens: number
  cacheWriteTokens: number
  providerCostMicrocents: bigint
  platformFeeMicrocents: bigint
  chargedMicrocents: bigint
}

const sums = sql`coalesce(sum(u.request_count), 0)::float8 as request_count,
  coalesce(sum(u.byok_request_count), 0)::float8 as byok_request_count,
  coalesce(sum(u.input_tokens), 0)::float8 as input_tokens, coalesce(sum(u.output_tokens), 0)::float8 as output_tokens,
  coalesce(sum(u.cache_read_tokens), 0)::float8 as cache_read_tokens,
  coalesce(sum(u.cache_write_tokens), 0)::float8 as cache_write_tokens,
  coalesce(sum(u.provider_cost_microcents), 0)::bigint as provider_cost_microcents,
  coalesce(sum(u.platform_fee_microcents), 0)::bigint as platform_fee_microcents,
  coalesce(sum(u.charged_microcents), 0)::bigint as charged_microcents`

/** Dates of days or of first days of months, both ends included. */
export interface Range {
  grain: 'day' | 'month'
  from: string
  to: string
}

const within = (orgId: string, axis: string, { grain, from, to }: Range): Sql =>
  sql`u.org_id = ${orgId} and u.axis = ${axis} and u.grain = ${grain} and u.period between ${from} and ${to}`

export const findSums = (db: Db, orgId: string, range: Range) =>
  db.row<SpendingSums>(sql`select ${sums} from usage_rollups u where ${within(orgId, 'total', range)}`)

export const findFirstDay = async (db: Db, orgId: string): Promise<string | undefined> => {
  const row = await db.row<{ day: string }>(sql`
    select period as day from usage_rollups where org_id = ${orgId} and axis = 'total' and grain = 'day'
    order by period limit 1`)
  return row?.day
}

export const listDays = (db: Db, orgId: string, range: Range) =>
  db.rows<SpendingSums & { date: string }>(sql`
    select u.period as date, ${sums} from usage_rollups u where ${within(orgId, 'total', range)}
    group by u.period order by u.period`)

export type Axis = 'model' | 'agent' | 'project' | 'operation'
export type Item = SpendingSums & { key: string }

const mostFirst = sql`order by sum(u.charged_microcents) desc, sum(u.request_count) desc, u.key`

export const listItems = (db: Db, orgId: string, axis: 'model' | 'operation', range: Range) =>
  db.rows<Item>(sql`
    select u.key, ${sums} from usage_rollups u where ${within(orgId, axis, range)} group by u.key ${mostFirst}`)

/** Agents with their names. Those that `userId` may not see are one item without a key; null sees all. */
export const listAgentItems = (db: Db, orgId: string, userId: string | null, range: Range) =>
  db.rows<Item & { name: string | null; isHidden: boolean }>(sql`
    with spent as (
      select u.key, ${sums} from usage_rollups u where ${within(orgId, 'agent', range)} group by u.key
    ), named as (
      select u.*, a.name,
        a.id is not null and ${userId}::uuid is not null and a.workspace_id is not null and not exists (
          select from workspace_members m
          where m.org_id = ${orgId} and m.workspace_id = a.workspace_id and m.user_id = ${userId}::uuid) as is_hidden
      from spent u left join agents a on a.org_id = ${orgId} and a.id = u.key::uuid
    )
    select case when is_hidden then '' else u.key end as key, max(case when is_hidden then null else name end) as name,
      is_hidden, ${sums}
    from named u group by 1, is_hidden
    order by sum(u.charged_microcents) desc, sum(u.request_count) desc, 1`)

/** The key of all projects together that a person may not see. */
export const closedProjects = 'closed'

/** Projects with their names. Those of `closedIds` are one item. */
export const listProjectItems = (db: Db, orgId: string, range: Range, closedIds: readonly string[]) =>
  db.rows<Item & { name: string | null }>(sql`
    with spent as (
      select case when u.key = any(${closedIds}::text[]) then ${closedProjects} else u.key end as key, ${sums}
      from usage_rollups u where ${within(orgId, 'project', range)} group by 1
    )
    select u.*, p.name
    from spent u
      left join projects p on p.org_id = ${orgId} and p.id = nullif(nullif(u.key, ${closedProjects}), '')::uuid
    order by u.charged_microcents desc, u.request_count desc, u.key`)

/** Charges by day or month, and by model. Models that are not in `shown` are together one item with an empty key. */
export const listModelCharges = (db: Db, orgId: string, range: Range, shown: readonly string[]) =>
  db.rows<{ date: string; key: string; chargedMicrocents: bigint }>(sql`
    select u.period as date, case when u.key = any(${shown}::text[]) then u.key else '' end as key,
      sum(u.charged_microcents)::bigint as charged_microcents
    from usage_rollups u where ${within(orgId, 'model', range)} group by 1, 2 order by 1, 2`)
