import { sql } from '../../platform/database/database.ts'
import type { Db } from '../../platform/database/database.ts'

export interface ReservationSums {
  /** Reserved for turns other than the one that asks. */
  othersMicrocents: bigint
  othersOfAgentMicrocents: bigint
  /** Charged but not posted yet. */
  pendingMicrocents: bigint
}

/** What reduces an org's available balance besides its ledger. The account must be locked. */
export const findReservations = async (
  db: Db,
  orgId: string,
  turnId: string,
  agentId: string,
): Promise<ReservationSums> => {
  const row = await db.row<ReservationSums>(sql`
    select coalesce(sum(microcents), 0)::bigint as others_microcents,
      coalesce(sum(microcents) filter (where agent_id = ${agentId}), 0)::bigint as others_of_agent_microcents,
      coalesce((select sum(charged_microcents) from usage_inbox where org_id = ${orgId}), 0)::bigint as pending_microcents
    from usage_holds where org_id = ${orgId} and turn_id <> ${turnId} and (expires_at is null or expires_at > now())`)
  return row ?? { othersMicrocents: 0n, othersOfAgentMicrocents: 0n, pendingMicrocents: 0n }
}

export interface Reservation {
  orgId: string
  turnId: string
  agentId: string
  microcents: bigint
}

/** A turn has one reservation: that of its next call replaces the one before. */
export const upsertReservation = (db: Db, { orgId, turnId, agentId, microcents }: Reservation) =>
  db.execute(sql`
    insert into usage_holds (org_id, turn_id, agent_id, microcents)
    values (${orgId}, ${turnId}, ${agentId}, ${microcents})
    on conflict (org_id, turn_id) do update set microcents = excluded.microcents`)

/** For a call outside of a turn. */
export const insertExpiringReservation = (
  db: Db,
  { orgId, turnId, agentId, microcents, seconds }: Reservation & { seconds: number },
) =>
  db.execute(sql`
    insert into usage_holds (org_id, turn_id, agent_id, microcents, expires_at)
    values (${orgId}, ${turnId}, ${agentId}, ${microcents}, now() + make_interval(secs => ${seconds}))`)

export const deleteReservation = (db: Db, orgId: string, turnId: string) =>
  db.execute(sql`delete from usage_holds where org_id = ${orgId} and turn_id = ${turnId}`)

/** Of calls whose process was killed. */
export const deleteExpiredReservations = (db: Db) =>
  db.execute(sql`
    -- all orgs: the sweep deletes the reservations that no process will release
    delete from usage_holds where expires_at < now()`)

export const findReservedTotal = async (db: Db, orgId: string): Promise<bigint> => {
  const row = await db.row<{ microcents: bigint }>(sql`
    select coalesce(sum(microcents), 0)::bigint as microcents from usage_holds
    where org_id = ${orgId} and (expires_at is null or expires_at > now())`)
  return row?.microcents ?? 0n
}
