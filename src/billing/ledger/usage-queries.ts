import { sql } from '../../platform/database/database.ts'
import type { Db, Sql } from '../../platform/database/database.ts'

/** The columns that a statement which records usage has to provide, in this order. */
const given = sql`org_id, turn_id, step, attempt, agent_id, project_id, model, operation, input_tokens, output_tokens,
  cache_read_tokens, cache_write_tokens, is_estimate, is_byok, provider_cost_microcents`

/**
 * A part of a `with` that records calls of models: `recorded`. `calls` selects, under these names, org_id, turn_id,
 * step, attempt, agent_id, project_id, model, operation, input_tokens, output_tokens, cache_read_tokens,
 * cache_write_tokens, is_estimate, is_byok, provider_cost_microcents, fee_bps and fee_waiver_cents. The fee is decided
 * here: by the deposits that are there when the call is written down. A call that is recorded already is left as it is.
 */
export const recordUsage = (calls: Sql): Sql => sql`recorded as (
  insert into usage_inbox (${given}, platform_fee_microcents)
  select ${given},
    case
      when coalesce((select a.cumulative_deposits_cents from billing_accounts a where a.org_id = calls.org_id), 0)
        <= fee_waiver_cents then 0
      else ceil(provider_cost_microcents::numeric * fee_bps / 10000)::bigint
    end
  from (${calls}) as calls
  where not exists (
    select from usage_records r where r.org_id = calls.org_id and r.turn_id = calls.turn_id and r.step = calls.step
      and r.attempt = calls.attempt)
  on conflict do nothing
  returning org_id, turn_id, charged_microcents)`

/** Beside `recorded`: what was charged is not held any more. */
export const shrinkHold: Sql = sql`shrunk as (
  update usage_holds h set microcents = greatest(0, h.microcents - c.microcents)
  from (select org_id, turn_id, sum(charged_microcents) as microcents from recorded group by org_id, turn_id) as c
  where h.org_id = c.org_id and h.turn_id = c.turn_id and c.microcents > 0)`

/** For a turn that waits for a person. Its row stays, so that whoever ends the turn finds it. */
export const restHold = (turn: Sql): Sql => sql`rested as (
  update usage_holds h set microcents = 0 from ${turn} as t where h.org_id = t.org_id and h.turn_id = t.id)`

/** For the end of a turn: nothing is held for it any more. `turn` names a row of org_id and id. */
export const releaseHold = (turn: Sql): Sql => sql`released as (
  delete from usage_holds h using ${turn} as t where h.org_id = t.org_id and h.turn_id = t.id)`

export interface Absorbed {
  calls: number
  chargedMicrocents: bigint
  feeMicrocents: bigint
}

const counters = sql`request_count, byok_request_count, input_tokens, output_tokens, cache_read_tokens,
  cache_write_tokens, provider_cost_microcents, platform_fee_microcents, charged_microcents`

/**
 * Moves what waits in an org's inbox into the records and the rollups, `limit` calls at most, and answers what it comes
 * to. The account must be locked.
 */
export const absorbInbox = async (db: Db, orgId: string, limit: number): Promise<Absorbed> => {
  const row = await db.row<Absorbed>(sql`
    with waiting as materialized (
      select turn_id, step, attempt from usage_inbox where org_id = ${orgId} limit ${limit}
    ), taken as (
      delete from usage_inbox i using waiting w
      where i.org_id = ${orgId} and i.turn_id = w.turn_id and i.step = w.step and i.attempt = w.attempt
      returning i.*
    ), kept as (
      insert into usage_records (${given}, at, platform_fee_microcents, charged_microcents)
      select ${given}, at, platform_fee_microcents, charged_microcents from taken
      on conflict do nothing
      returning *
    ), summed as (
      select (at at time zone 'utc')::date as day, model, agent_id, project_id, operation, count(*) as request_count,
        count(*) filter (where is_byok) as byok_request_count, sum(input_tokens) as input_tokens,
        sum(output_tokens) as output_tokens, sum(cache_read_tokens) as cache_read_tokens,
        sum(cache_write_tokens) as cache_write_tokens, sum(provider_cost_microcents) as provider_cost_microcents,
        sum(platform_fee_microcents) as platform_fee_microcents, sum(charged_microcents) as charged_microcents
      from kept group by 1, 2, 3, 4, 5
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
    select (select count(*) from waiting)::int as calls, coalesce(sum(charged_microcents), 0)::bigint as charged_microcents,
      coalesce(sum(platform_fee_microcents), 0)::bigint as fee_microcents
    from kept`)
  return row ?? { calls: 0, chargedMicrocents: 0n, feeMicrocents: 0n }
}

export const hasWaiting = async (db: Db, orgId: string): Promise<boolean> =>
  (await db.row(sql`select 1 as found from usage_inbox where org_id = ${orgId} limit 1`)) !== undefined

export const listOrgsWaiting = (db: Db) =>
  db.rows<{ orgId: string }>(sql`
    -- all orgs: the sweep looks after every org whose charges nobody folded
    with recursive waiting as (
      (select org_id from usage_inbox order by org_id limit 1)
      union all
      select (select i.org_id from usage_inbox i where i.org_id > w.org_id order by i.org_id limit 1)
      from waiting w where w.org_id is not null
    )
    select org_id from waiting where org_id is not null`)

/** What the calls of a turn were charged, call by call, whether folded or not. */
export const listTurnCharges = (db: Db, orgId: string, turnId: string) =>
  db.rows<{ step: number; attempt: number; platformFeeMicrocents: bigint; chargedMicrocents: bigint }>(sql`
    select step, attempt, platform_fee_microcents, charged_microcents from usage_records
    where org_id = ${orgId} and turn_id = ${turnId}
    union
    select step, attempt, platform_fee_microcents, charged_microcents from usage_inbox
    where org_id = ${orgId} and turn_id = ${turnId}`)
