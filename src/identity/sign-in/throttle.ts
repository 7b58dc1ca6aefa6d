import { createHash } from 'node:crypto'
import type { Db } from '../../platform/database/database.ts'
import { tooManyRequests } from '../../platform/http/errors.ts'
import type { ApiError } from '../../platform/http/errors.ts'
import type { Actor } from '../actor.ts'
import { knownBrowser } from './known-browser.ts'
import type { PasswordRow } from '../members/person-queries.ts'
import type { SignInLibrary, Visit } from './sign-in-library.ts'
import * as queries from './throttle-queries.ts'
import type { Attempt } from './throttle-queries.ts'

// Attempts are counted where they are made against, not only where they come from: an attacker has as many addresses as
// they pay for. Each attempt counts before it is checked, so that many at once are no more than one after the other.

const elsewhere = 'unknown'

const tooMany = (untilMs: number, nowMs: number) => {
  const seconds = Math.max(1, Math.ceil((untilMs - nowMs) / 1000))
  const minutes = Math.ceil(seconds / 60)
  return tooManyRequests(
    `Too many failed attempts. Try again in ${minutes} ${minutes === 1 ? 'minute' : 'minutes'}, use a browser that signed in before, or ask for a sign-in link.`,
    { headers: { 'retry-after': String(seconds) } },
  )
}

interface Counted {
  allowed: Attempt[]
  /** TOO_MANY_REQUESTS for the attempts that are blocked. Undefined when none is. */
  rejection?: ApiError
}

/** Counts the attempts that are not blocked. Throws TOO_MANY_REQUESTS when all are. */
const countAttempts = async (
  { db, now, attemptBudget }: SignInLibrary,
  attempts: readonly Attempt[],
): Promise<Counted> => {
  if (attemptBudget === 0) return { allowed: [...attempts] }
  const at = new Date(now())
  const allowed = await queries.countAttempts(db, attempts, attemptBudget, at)
  const subjects = new Set(allowed.map(({ subject }) => subject))
  const blocked = attempts.filter(({ subject }) => !subjects.has(subject))
  if (blocked.length === 0) return { allowed }
  const first = await queries.findFirstUnblocked(db, blocked)
  const rejection = tooMany(Date.parse(first?.at ?? at.toISOString()), at.getTime())
  if (allowed.length === 0) throw rejection
  return { allowed, rejection }
}

const attemptsAt = (passwordIds: readonly string[], visit: Visit, secret: string): Attempt[] =>
  passwordIds.map((id) => {
    const browser = knownBrowser(visit, secret, id)
    return { subject: `password ${id}`, source: browser === undefined ? elsewhere : `browser ${browser}` }
  })

export interface TriedPasswords {
  /** Those that may be compared now. */
  rows: PasswordRow[]
  /** The answer when none of them matches: TOO_MANY_REQUESTS when another one is blocked and so was not compared. */
  rejection: ApiError | undefined
}

/**
 * Counts an attempt at each of a person's passwords. An address that nobody has is counted too, so that its answers do
 * not tell it from one that somebody has.
 */
export const tryPasswords = async (
  library: SignInLibrary,
  email: string,
  rows: readonly PasswordRow[],
  visit: Visit,
): Promise<TriedPasswords> => {
  const nobody = { subject: `address ${createHash('sha256').update(email).digest('hex')}`, source: elsewhere }
  const attempts = rows.map(({ id }) => id)
  const { allowed, rejection } = await countAttempts(
    library,
    attempts.length === 0 ? [nobody] : attemptsAt(attempts, visit, await library.secret()),
  )
  const subjects = new Set(allowed.map(({ subject }) => subject))
  return { rows: rows.filter(({ id }) => subjects.has(`password ${id}`)), rejection }
}

/** After a success: the browser starts anew, and others go on as they were. */
export const clearPasswords = async (
  library: SignInLibrary,
  db: Db,
  passwordIds: readonly string[],
  visit: Visit,
): Promise<void> => {
  if (library.attemptBudget === 0 || passwordIds.length === 0) return
  await queries.clearAttempts(db, attemptsAt(passwordIds, visit, await library.secret()))
}

/**
 * Runs a check of somebody who is signed in or has a key. It answers whether the proof was right. Each credential of a
 * person has a budget of its own in each org: a stolen key uses up its own, and one org none of another.
 */
export const guardProof = async (
  library: SignInLibrary,
  { userId, orgId, apiKey }: Actor,
  check: () => Promise<boolean>,
): Promise<boolean> => {
  const attempt = { subject: `proof ${userId} ${orgId}`, source: apiKey === null ? 'session' : `key ${apiKey.id}` }
  await countAttempts(library, [attempt])
  const isRight = await check()
  if (isRight && library.attemptBudget > 0) await queries.clearAttempts(library.db, [attempt])
  return isRight
}
