import { empty, sql } from '../../platform/database/database.ts'
import type { Db, Sql } from '../../platform/database/database.ts'
import type { LeasedRow } from '../../platform/database/lease.ts'
import { outboxColumns } from '../../outbox/queries.ts'
import type { OutboxTemplate } from '../../outbox/queries.ts'
import { earlierUntrusted, memberColumn, turnColumns } from './queries.ts'
import type { TurnRow, TurnStatus } from './queries.ts'

export const leasedTurn = (orgId: string, id: string): LeasedRow => ({
  table: sql`turns`,
  row: sql`org_id = ${orgId} and id = ${id}`,
})

export interface ClaimedTurn extends TurnRow {
  workspaceId: string
  projectId: string | null
  relationship: 'user' | 'peer' | 'connector'
  /** The remaining time of its chain of messages between agents; null outside of a chain. */
  chainLeftMs: number | null
  keyExpiresAt: string | null
  /** The `untrustedFrom` of the earlier turns of its session, also of those that it skips. */
  earlierUntrustedFrom: string | null
}

/** Records the start of a turn, in its chain, when it is claimed for the first time. */
const recordStart = (started: OutboxTemplate): Sql => sql`reported as (
  insert into event_outbox (${outboxColumns})
  select ${started.orgId}::uuid, ${started.id}::uuid, ${started.type}, ${started.version}::smallint, workspace_id,
    jsonb_set(${started.actor}::jsonb, '{name}', author -> 'name'), ${started.subjectType}, session_id,
    jsonb_build_object('turnId', id, 'sessionId', session_id, 'agentId', agent_id), event_chain_id,
    coalesce(event_depth, 0::smallint), null::uuid
  from claimed where attempts = 1)`

/** The condition, changes and result (a ClaimedTurn) of claiming a turn's lease. */
export const turnClaim = (leaseMs: number, started: OutboxTemplate) => ({
  also: recordStart(started),
  // Only the active turn of a session can be claimed, so that two turns of a session never run at the same time.
  when: sql`status in ('queued', 'running') and exists (
    select from sessions s where s.org_id = ${started.orgId} and s.id = turns.session_id and s.active_turn_id = turns.id)`,
  // A lease token that is still set belongs to a worker that died. It worked until it last renewed the lease.
  set: sql`status = 'running', attempts = attempts + 1, started_at = least(started_at, now()),
    worked_ms = worked_ms + case when lease_token is null then 0 else
      greatest(0, extract(epoch from lease_until - claimed_at) * 1000 - ${leaseMs})::bigint end,
    worker_deaths = worker_deaths + case when lease_token is null then 0 else 1 end,
    claimed_at = statement_timestamp()`,
  returning: sql`${turnColumns},
    (select s.workspace_id from sessions s where s.org_id = ${started.orgId} and s.id = turns.session_id) as workspace_id,
    (select s.project_id from sessions s where s.org_id = ${started.orgId} and s.id = turns.session_id) as project_id,
    (select s.relationship from sessions s where s.org_id = ${started.orgId} and s.id = turns.session_id) as relationship,
    ${earlierUntrusted(sql`${started.orgId}`, sql`turns.session_id`, sql`turns.number`)},
    (
      select (extract(epoch from c.deadline - turns.claimed_at) * 1000)::float8 from peer_chains c
      where c.org_id = ${started.orgId} and c.id = turns.chain_id
    ) as chain_left_ms,
    null as key_expires_at`,
})

export const setLeftOutExchanges = (
  db: Db,
  lease: { orgId: string; turnId: string; token: string },
  exchanges: number,
) =>
  db.execute(sql`
    update turns set left_out_exchanges = ${exchanges}
    where org_id = ${lease.orgId} and id = ${lease.turnId} and lease_token = ${lease.token}`)

export const findTurnState = (db: Db, orgId: string, id: string) =>
  db.row<{ status: TurnStatus; leaseLeftMs: number | null }>(sql`
    select status, (extract(epoch from lease_until - statement_timestamp()) * 1000)::float8 as lease_left_ms from turns
    where org_id = ${orgId} and id = ${id}`)

export interface OrphanedTurn {
  orgId: string
  id: string
  hop: number
  member: string
}

/** Active turns that have had no lease for two minutes, ordered by id, after `after`. */
export const listOrphaned = (db: Db, limit: number, after?: OrphanedTurn) =>
  db.rows<OrphanedTurn>(sql`
    -- all orgs: a worker works for every org
    select turns.org_id, turns.id, turns.hop, ${memberColumn} as member
    from active_turns a join turns on turns.org_id = a.org_id and turns.id = a.turn_id
    where turns.status in ('queued', 'running') and coalesce(turns.lease_until, '-infinity') < now() - interval '2 minutes'
      and coalesce(turns.claimed_at, turns.created_at) < now() - interval '2 minutes'
      ${after ? sql`and (turns.org_id, turns.id) > (${after.orgId}, ${after.id})` : empty}
    order by turns.org_id, turns.id
    limit ${limit}`)

/** Active turns whose lease has expired, the longest expired first. */
export const listAbandoned = (db: Db, limit: number) =>
  db.rows<OrphanedTurn>(sql`
    -- all orgs: a worker works for every org
    select turns.org_id, turns.id, turns.hop, ${memberColumn} as member
    from active_turns a join turns on turns.org_id = a.org_id and turns.id = a.turn_id
    where turns.status = 'running' and turns.lease_until < now()
    order by turns.lease_until
    limit ${limit}`)
