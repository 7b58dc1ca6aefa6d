import { sql } from '../../platform/database/database.ts'
import type { Db, Sql } from '../../platform/database/database.ts'

/** The columns that a statement that records usage must select, in this order. */
const usageColumns = sql`org_id, turn_id, step, attempt, agent_id, project_id, model, operation, input_tokens, output_tokens,
  cache_read_tokens, cache_write_tokens, is_estimate, is_byok, provider_cost_microcents`

/**
 * A CTE named `recorded` that charges model calls: it writes them to the inbox, from which `postInbox` posts them.
 * `calls` selects `usageColumns` and also fee_bps and fee_waiver_cents. Whether the fee applies depends on the deposits
 * at the time of the insert. A call that was recorded before is not recorded again. All calls belong to one turn of
 * `orgId`, which each table is compared with, because a distributed schema does not derive it from `calls`.
 *
 * `turnId` is the id of the turn as a value that does not come from `calls`. With `calls.turn_id`, PostgreSQL 18 chooses the
 * partition for each row, and in a statement that waits for a locked row that can use freed memory: the lock is followed
 * by a second initialization of the whole plan, which shares the state of this choice and frees it. The process crashes,
 * and all connections with it.
 */
export const recordUsage = (calls: Sql, { orgId, turnId }: { orgId: string; turnId: Sql }): Sql => sql`recorded as (
  insert into usage_inbox (${usageColumns}, platform_fee_microcents)
  select ${usageColumns},
    case
      when coalesce((select a.cumulative_deposits_cents from billing_accounts a where a.org_id = ${orgId}), 0)
        <= fee_waiver_cents then 0
      else ceil(provider_cost_microcents::numeric * fee_bps / 10000)::bigint
    end
  from (${calls}) as calls
  where not exists (
    select from usage_records r where r.org_id = ${orgId} and r.turn_id = ${turnId} and r.step = calls.step
      and r.attempt = calls.attempt)
  on conflict do nothing
  returning org_id, turn_id, charged_microcents)`

export interface StandaloneCharge {
  orgId: string
  id: string
  agentId: string
  model: string
  operation: string
  inputTokens: number
  isEstimate: boolean
  isByok: boolean
  providerCostMicrocents: bigint
  fee: { bps: number; waiverCents: number }
}

/** Charges a call outside of a turn and returns what was charged with the fee, in microcents. */
export const insertStandaloneCharge = async (db: Db, call: StandaloneCharge): Promise<bigint> => {
  const { orgId, id, fee } = call
  const row = await db.row<{ chargedMicrocents: bigint }>(sql`
    with ${recordUsage(
      sql`
      select ${orgId}::uuid as org_id, ${id}::uuid as turn_id, 1 as step, 1 as attempt, ${call.agentId}::uuid as agent_id,
        null::uuid as project_id, ${call.model}::text as model, ${call.operation}::text as operation,
        ${call.inputTokens}::bigint as input_tokens, 0 as output_tokens, 0 as cache_read_tokens,
        0 as cache_write_tokens, ${call.isEstimate}::boolean as is_estimate, ${call.isByok}::boolean as is_byok,
        ${call.providerCostMicrocents}::bigint as provider_cost_microcents, ${fee.bps}::integer as fee_bps,
        ${fee.waiverCents}::bigint as fee_waiver_cents`,
      { orgId, turnId: sql`${id}::uuid` },
    )}
    select charged_microcents from recorded`)
  if (!row) throw new Error('the call was charged before')
  return row.chargedMicrocents
}

/** A CTE for a new turn: stores the reservation of its first call. */
export const addReservation = (key: { orgId: string; turnId: string; agentId: string }, microcents: bigint): Sql => sql`
  reserved as (
    insert into usage_holds (org_id, turn_id, agent_id, microcents)
    values (${key.orgId}, ${key.turnId}, ${key.agentId}, ${microcents}))`

/** A CTE beside `recorded` that reduces the reservation of each turn of an org by what it was charged. */
export const shrinkReservation = (orgId: string): Sql => sql`shrunk as (
  update usage_holds h set microcents = greatest(0, h.microcents - c.microcents)
  from (select turn_id, sum(charged_microcents) as microcents from recorded group by turn_id) as c
  where h.org_id = ${orgId} and h.turn_id = c.turn_id and c.microcents > 0)`

/** A CTE for a turn that pauses for a decision: sets its reservation to 0. The row is kept until the turn ends. */
export const emptyReservation = (orgId: string, turn: Sql): Sql => sql`emptied as (
  update usage_holds h set microcents = 0 from ${turn} as t where h.org_id = ${orgId} and h.turn_id = t.id)`

/** A CTE for the end of a turn: deletes its reservation. `turn` names a relation with the id. */
export const releaseReservation = (orgId: string, turn: Sql): Sql => sql`released as (
  delete from usage_holds h using ${turn} as t where h.org_id = ${orgId} and h.turn_id = t.id)`

export interface PostedCharges {
  calls: number
  /** The time of the transaction. */
  at: string
  chargedMicrocents: bigint
  feeMicrocents: bigint
}

const counters = sql`request_count, byok_request_count, input_tokens, output_tokens, cache_read_tokens,
  cache_write_tokens, provider_cost_microcents, platform_fee_microcents, charged_microcents`

/**
 * Moves up to `limit` calls from an org's inbox into the records and rollups; returns their sums. Of calls that were made
 * after `until` only those of the next second, by which the clocks of two database servers may differ. The account must be
 * locked.
 */
export const postInbox = async (
  db: Db,
  orgId: string,
  { limit, until }: { limit: number; until: string | undefined },
): Promise<PostedCharges> => {
  const isDue = until === undefined ? sql`` : sql`and at <= ${until}::timestamptz + interval '1 second'`
  const row = await db.row<PostedCharges>(sql`
    with pending as materialized (
      select turn_id, step, attempt from usage_inbox where org_id = ${orgId} ${isDue} limit ${limit}
    ), deleted as (
      delete from usage_inbox i using pending p
      where i.org_id = ${orgId} and i.turn_id = p.turn_id and i.step = p.step and i.attempt = p.attempt
      returning i.*
    ), inserted as (
      insert into usage_records (${usageColumns}, at, platform_fee_microcents, charged_microcents)
      select ${usageColumns}, at, platform_fee_microcents, charged_microcents from deleted
      on conflict do nothing
      returning *
    ), summed as (
      select (at at time zone 'utc')::date as day, model, agent_id, project_id, operation, count(*) as request_count,
        count(*) filter (where is_byok) as byok_request_count, sum(input_tokens) as input_tokens,
        sum(output_tokens) as output_tokens, sum(cache_read_tokens) as cache_read_tokens,
        sum(cache_write_tokens) as cache_write_tokens, sum(provider_cost_microcents) as provider_cost_microcents,
        sum(platform_fee_microcents) as platform_fee_microcents, sum(charged_microcents) as charged_microcents
      from inserted group by 1, 2, 3, 4, 5
    ), rolled as (
      insert into usage_rollups as u (org_id, axis, grain, period, key, ${counters})
      select ${orgId}, axis.name, grain.name, grain.period, axis.key, sum(request_count), sum(byok_request_count),
        sum(input_tokens), sum(output_tokens), sum(cache_read_tokens), sum(cache_write_tokens),
        sum(provider_cost_microcents), sum(platform_fee_microcents), sum(charged_microcents)
      from summed
        cross join lateral (values ('total', ''), ('model', model), ('agent', agent_id::text),
          ('project', coalesce(project_id::text, '')), ('operation', operation)) as axis (name, key)
        cross join lateral (values ('day', day), ('month', date_trunc('month', day)::date)) as grain (name, period)
      group by axis.name, axis.key, grain.name, grain.period
      on conflict (org_id, axis, grain, period, key) do update
      set request_count = u.request_count + excluded.request_count,
        byok_request_count = u.byok_request_count + excluded.byok_request_count,
        input_tokens = u.input_tokens + excluded.input_tokens,
        output_tokens = u.output_tokens + excluded.output_tokens,
        cache_read_tokens = u.cache_read_tokens + excluded.cache_read_tokens,
        cache_write_tokens = u.cache_write_tokens + excluded.cache_write_tokens,
        provider_cost_microcents = u.provider_cost_microcents + excluded.provider_cost_microcents,
        platform_fee_microcents = u.platform_fee_microcents + excluded.platform_fee_microcents,
        charged_microcents = u.charged_microcents + excluded.charged_microcents
    )
    select (select count(*) from pending)::int as calls, (select now()) as at, coalesce(sum(charged_microcents), 0)::bigint as charged_microcents,
      coalesce(sum(platform_fee_microcents), 0)::bigint as fee_microcents
    from inserted`)
  if (!row) throw new Error('the statement returned no sums')
  return row
}

export const hasPendingCharges = async (db: Db, orgId: string): Promise<boolean> =>
  (await db.row(sql`select 1 as found from usage_inbox where org_id = ${orgId} limit 1`)) !== undefined

/**
 * The orgs of the next `rows` pending charges of orgs with ids above `after`, in order. At least one org, unless there is
 * none left: an org with many charges costs one page, not one row for each.
 */
export const listOrgsWithPendingCharges = (db: Db, after: string, rows: number) =>
  db.rows<{ orgId: string }>(sql`
    -- all orgs: the sweep posts the charges of every org that no process posted
    select distinct org_id from (
      select org_id from usage_inbox where org_id > ${after} order by org_id limit ${rows}
    ) page order by org_id`)

export interface TurnCharge {
  step: number
  attempt: number
  platformFeeMicrocents: bigint
  chargedMicrocents: bigint
}

/** Selects the charge of each call of a turn, posted or pending. The parameters are SQL: columns of the statement. */
export const chargesOfTurn = (orgId: string, turnId: string): string => `
  select step, attempt, platform_fee_microcents, charged_microcents from usage_records
  where usage_records.org_id = ${orgId} and usage_records.turn_id = ${turnId}
  union
  select step, attempt, platform_fee_microcents, charged_microcents from usage_inbox
  where usage_inbox.org_id = ${orgId} and usage_inbox.turn_id = ${turnId}`
