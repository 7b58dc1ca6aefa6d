import type pg from 'pg'
import type { QueryArrayConfig } from 'pg'

export type Runner = (config: QueryArrayConfig) => Promise<pg.QueryArrayResult>

/** What the primary has committed. */
export interface Position {
  /** The end of the flushed WAL, `16/B374D848`: every acknowledged commit is before it. */
  lsn: string
  timeline: number
  /** Identifies the cluster: its standbys have the same. */
  system: string
}

const positionText = `
  -- all orgs: the state of the server
  select pg_current_wal_flush_lsn()::text,
    ('x' || left(pg_walfile_name(pg_current_wal_flush_lsn()), 8))::bit(32)::int,
    (select system_identifier from pg_control_system())::text`

/** The position of the primary. */
export const findPosition = async (run: Runner): Promise<Position> => {
  const { rows } = await run({ text: positionText, name: 'position', rowMode: 'array' })
  const [lsn, timeline, system] = rows[0] as [string, number, string]
  return { lsn, timeline, system }
}

const replayedText = `
  -- all orgs: the state of the server
  select pg_is_in_recovery(), coalesce(pg_last_wal_replay_lsn(), '0/0')::text,
    (select system_identifier from pg_control_system())::text`

/** The position that the standby has replayed. */
export const findReplayed = async (run: Runner): Promise<{ isStandby: boolean; lsn: string; system: string }> => {
  const { rows } = await run({ text: replayedText, name: 'replayed', rowMode: 'array' })
  const [isStandby, lsn, system] = rows[0] as [boolean, string, string]
  return { isStandby, lsn, system }
}

const numberOf = (lsn: string): bigint => {
  const [high = '0', low = '0'] = lsn.split('/')
  return (BigInt(`0x${high}`) << 32n) | BigInt(`0x${low}`)
}

/** Whether the position is the same or later. */
export const isAtLeast = (lsn: string, than: string): boolean => numberOf(lsn) >= numberOf(than)
