import type pg from 'pg'
import { sqlState } from '../errors.ts'
import { assertNoTransaction } from '../transactions/inside.ts'

/**
 * A point read of several keys: `$1`, `$2` … are arrays of UUIDs, one for each part of the key. It returns a row for each
 * existing key: `place` (the index of the key, from 1) and `record` (JSON as text).
 */
export interface LookUp {
  readonly text: string
  /**
   * For tables that a distributed schema divides by org: the same for keys of one org. Their first part is the org,
   * which is also the last parameter, behind the arrays.
   */
  readonly ofOrg?: string
}

type Key = readonly string[]

/** Returns the record of each key as JSON text, or undefined, in the order of the keys. */
export type LookUpAll = (statement: LookUp, keys: Key[]) => Promise<(string | undefined)[]>

export type LookUpOne = (statement: LookUp, key: Key) => Promise<string | undefined>

const uuidsOf = (keys: readonly Key[], part: number): string => `{${keys.map((key) => key[part]).join(',')}}`

type Send = (statement: { text: string; values: unknown[] }) => Promise<pg.QueryArrayResult>

/** Look-ups of any number of keys, as one statement, or one for each org when tables are distributed by org. */
export const lookUpsOver = (send: Send, isDistributed: () => Promise<boolean>): LookUpAll => {
  const lookUpTogether = async (text: string, keys: Key[], more: string[]): Promise<(string | undefined)[]> => {
    const parts = keys[0]?.length ?? 0
    const values = [...Array.from({ length: parts }, (_, part) => uuidsOf(keys, part)), ...more]
    const { rows } = await send({ text, values })
    const found: (string | undefined)[] = Array.from({ length: keys.length })
    for (const [place, record] of rows as unknown as [bigint, string][]) {
      found[Number(place) - 1] = record
    }
    return found
  }
  return async ({ text, ofOrg }, keys) => {
    if (ofOrg === undefined || !(await isDistributed())) return lookUpTogether(text, keys, [])
    const orgs = Map.groupBy(keys.entries(), ([, key]) => key[0] as string)
    const found: (string | undefined)[] = Array.from({ length: keys.length })
    const lookUpOrg = async (orgId: string, entries: [number, Key][]): Promise<void> => {
      const records = await lookUpTogether(
        ofOrg,
        entries.map(([, key]) => key),
        [orgId],
      )
      for (const [index, [place]] of entries.entries()) found[place] = records[index]
    }
    await Promise.all(Array.from(orgs, ([orgId, entries]) => lookUpOrg(orgId, entries)))
    return found
  }
}

const maxKeysOfLookUp = 500

/**
 * A condition of look-ups, true for all keys, for `unnest(…) with ordinality as asked (…, place)`. With it, the planner
 * expects one key, not ten, so it keeps one plan. Without it, it plans every look-up of a single key anew, which takes
 * several times as long as the look-up.
 */
export const keysAsked = `asked.place between 1 and ${maxKeysOfLookUp}`

interface Waiting {
  key: Key
  resolve(record: string | undefined): void
  reject(error: unknown): void
}

/**
 * Sends look-ups of the same turn of the event loop as one statement. Requests that waited for the same check of their
 * callers' authority continue together, so under load one statement replaces dozens.
 */
export const batchLookUps = (lookUpAll: LookUpAll): LookUpOne => {
  const waiting = new Map<LookUp, Waiting[]>()
  const answer = async (statement: LookUp, batch: Waiting[]): Promise<void> => {
    try {
      const records = await lookUpAll(
        statement,
        batch.map(({ key }) => key),
      )
      for (const [place, { resolve }] of batch.entries()) resolve(records[place])
    } catch (error) {
      // A key that PostgreSQL rejects must not fail the other look-ups.
      if (batch.length > 1 && sqlState(error) !== undefined) for (const one of batch) void answer(statement, [one])
      else for (const { reject } of batch) reject(error)
    }
  }
  const send = (statement: LookUp): void => {
    const batch = waiting.get(statement) ?? []
    waiting.delete(statement)
    while (batch.length > 0) void answer(statement, batch.splice(0, maxKeysOfLookUp))
  }
  return (statement, key) =>
    new Promise((resolve, reject) => {
      assertNoTransaction()
      const batch = waiting.get(statement)
      if (batch) {
        batch.push({ key, resolve, reject })
        return
      }
      waiting.set(statement, [{ key, resolve, reject }])
      // Runs after the callbacks of the last response, when all of them have reached their next await.
      process.nextTick(send, statement)
    })
}
