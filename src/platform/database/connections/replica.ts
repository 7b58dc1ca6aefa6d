import type pg from 'pg'
import type { QueryArrayConfig } from 'pg'
import { setTimeout as sleep } from 'node:timers/promises'
import type { DatabaseClient } from './client.ts'
import { coalesce } from '../batching/coalesce.ts'
import { isDatabaseUnavailable, sqlState } from '../errors.ts'
import * as queries from './replica-queries.ts'

export interface ReplicaOptions {
  /** Connections to a standby. */
  pool: pg.Pool
  /** How long a read may wait for the standby to catch up. */
  waitMs: number
  /** Runs a point read on the primary. */
  primary: queries.Runner
  runOnPrimary: queries.Runner
  onError: (error: unknown, where: string) => void
}

export interface Replica {
  run(config: QueryArrayConfig): Promise<pg.QueryArrayResult>
  close(): Promise<void>
}

type Reader = DatabaseClient & { release(error?: Error): void }

/** After a failure, or when the standby was too far behind, reads go to the primary this long; doubled each time. */
const firstPauseMs = 1_000
const maxPauseMs = 30_000

/** SQLSTATE of a statement that was canceled because the standby had to replay a change of its rows. */
const recoveryConflict = '40001'

type Progress = 'reached' | 'behind' | 'unusable'

/** Compares positions of the primary with those of connections to the standby. */
const createProgress = () => {
  /** The first position of the standby that was seen while the primary had this timeline. */
  let first: { timeline: number; lsn: string } | undefined
  const replayed = new WeakMap<DatabaseClient, string>()
  return async (client: DatabaseClient, { lsn, timeline, system }: queries.Position): Promise<Progress> => {
    const known = client.server?.isPooler === true ? undefined : replayed.get(client)
    if (known !== undefined && first?.timeline === timeline && queries.isAtLeast(known, lsn)) return 'reached'
    const standby = await queries.findReplayed((config) => client.query(config))
    // A server that was promoted, or that belongs to another cluster, has positions of its own.
    if (!standby.isStandby || standby.system !== system) return 'unusable'
    if (first?.timeline !== timeline) first = { timeline, lsn: standby.lsn }
    // After a failover, a standby that cannot follow the new primary stays at its position, which can be a later one.
    if (standby.lsn === first.lsn) return 'unusable'
    replayed.set(client, standby.lsn)
    return queries.isAtLeast(standby.lsn, lsn) ? 'reached' : 'behind'
  }
}

/**
 * Pauses after failures, and then lets one read try. Without this, each read would wait for a standby that is behind or
 * does not respond.
 */
const createBreaker = () => {
  let pauseMs = 0
  let until = 0
  let isTrying = false
  return {
    /** Whether a read may try the standby. The caller must report the outcome. */
    admits: (): boolean => {
      if (pauseMs === 0) return true
      if (isTrying || performance.now() < until) return false
      isTrying = true
      return true
    },
    /** Whether reads that were admitted before may go on. */
    isOpen: (): boolean => pauseMs === 0 || isTrying,
    report: (ok: boolean): void => {
      isTrying = false
      pauseMs = ok ? 0 : Math.min(maxPauseMs, Math.max(firstPauseMs, pauseMs * 2))
      until = performance.now() + pauseMs
    },
  }
}

/**
 * Runs reads on a standby. A read sees everything that was committed before it began, by any process: it compares the
 * position that the standby has replayed with the position of the primary at that moment, on the connection that it uses.
 * When the standby does not catch up in time or fails, the read runs on the primary.
 */
export const openReplica = ({ pool, waitMs, primary, runOnPrimary, onError }: ReplicaOptions): Replica => {
  const progressOf = createProgress()
  const breaker = createBreaker()
  let target: queries.Position | undefined
  const readTarget = coalesce(async () => {
    target = await queries.findPosition(primary)
  })

  const hasCaughtUp = async (client: DatabaseClient, position: queries.Position): Promise<boolean> => {
    const deadline = performance.now() + waitMs
    for (let pause = 1; ; pause *= 2) {
      const progress = await progressOf(client, position)
      if (progress !== 'behind' || performance.now() + pause > deadline) return progress === 'reached'
      await sleep(pause)
    }
  }

  /** A connection that has everything, or undefined. */
  const findReader = async (): Promise<Reader | undefined> => {
    await readTarget()
    const position = target
    const client = (await pool.connect()) as unknown as Reader
    let isReady = false
    let broken: Error | undefined
    try {
      // Through a pooler, only statements of the same transaction go to the same server.
      if (client.localSettings !== '') await client.query(`begin read only${client.localSettings}`)
      isReady = position !== undefined && breaker.isOpen() && (await hasCaughtUp(client, position))
      if (!isReady && client.localSettings !== '') await client.query('rollback')
    } catch (error) {
      client.isLost(error)
      broken = error as Error
      throw error
    } finally {
      if (!isReady) client.release(broken)
    }
    return isReady ? client : undefined
  }

  const read = async (client: Reader, config: QueryArrayConfig): Promise<pg.QueryArrayResult> => {
    let broken: Error | undefined
    try {
      const result = await client.query(config)
      if (client.localSettings !== '') await client.query('commit')
      return result
    } catch (error) {
      client.isLost(error)
      broken = error as Error
      throw error
    } finally {
      client.release(broken)
    }
  }

  const attempt = async (config: QueryArrayConfig): Promise<pg.QueryArrayResult | undefined> => {
    const client = await findReader().catch((error: unknown) => {
      onError(error, 'replica')
      return undefined
    })
    if (!client) return undefined
    try {
      return await read(client, config)
    } catch (error) {
      if (!isDatabaseUnavailable(error) && sqlState(error) !== recoveryConflict) throw error
      onError(error, 'replica')
      return undefined
    }
  }

  return {
    run: async (config) => {
      if (!breaker.admits()) return runOnPrimary(config)
      let result: pg.QueryArrayResult | undefined
      let isOk = true
      try {
        result = await attempt(config)
        isOk = result !== undefined
      } finally {
        breaker.report(isOk)
      }
      return result ?? runOnPrimary(config)
    },
    close: () => pool.end(),
  }
}
