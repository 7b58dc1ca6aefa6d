import { createHash } from 'node:crypto'
import type { Db } from '../../platform/database/database.ts'
import { tooManyRequests } from '../../platform/http/errors.ts'
import type { ApiError } from '../../platform/http/errors.ts'
import type { Actor } from '../actor.ts'
import type { BrowserRequest, SignInContext } from './context.ts'
import { knownBrowser } from './known-browser.ts'
import type { PasswordRow } from './queries.ts'
import * as queries from './throttle-queries.ts'
import type { Attempt } from './throttle-queries.ts'

// Attempts are counted by the password that is guessed, not only by the client address, because an attacker can use any
// number of addresses. An attempt is counted before it is checked, so that concurrent attempts have the same limit.

const unknownSource = 'unknown'

const tooMany = (untilMs: number, nowMs: number) => {
  const seconds = Math.max(1, Math.ceil((untilMs - nowMs) / 1000))
  const minutes = Math.ceil(seconds / 60)
  return tooManyRequests(
    `Too many failed attempts. Try again in ${minutes} ${minutes === 1 ? 'minute' : 'minutes'}, use a browser that has signed in before, or ask for a sign-in link.`,
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
  { db, now, attemptBudget }: SignInContext,
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

const attemptsAt = (passwordIds: readonly string[], request: BrowserRequest, secret: string): Attempt[] =>
  passwordIds.map((id) => {
    const browser = knownBrowser(request, secret, id)
    return { subject: `password ${id}`, source: browser === undefined ? unknownSource : `browser ${browser}` }
  })

export interface TriedPasswords {
  /** Those that may be compared now. */
  rows: PasswordRow[]
  /** Whether the browser has signed in with one of them before. */
  isKnownBrowser: boolean
  /** The answer when none of them matches: TOO_MANY_REQUESTS when another one is blocked and so was not compared. */
  rejection: ApiError | undefined
}

/**
 * Counts an attempt at each of a person's passwords. Attempts at an unknown address are counted too, so that the answers
 * do not reveal whether an address exists.
 */
export const tryPasswords = async (
  context: SignInContext,
  email: string,
  rows: readonly PasswordRow[],
  request: BrowserRequest,
): Promise<TriedPasswords> => {
  const nobody = { subject: `address ${createHash('sha256').update(email).digest('hex')}`, source: unknownSource }
  const attempts = rows.map(({ id }) => id)
  const { allowed, rejection } = await countAttempts(
    context,
    attempts.length === 0 ? [nobody] : attemptsAt(attempts, request, await context.secret()),
  )
  const subjects = new Set(allowed.map(({ subject }) => subject))
  return {
    rows: rows.filter(({ id }) => subjects.has(`password ${id}`)),
    isKnownBrowser: allowed.some(({ source }) => source !== unknownSource),
    rejection,
  }
}

/** Clears the counts of this browser after a successful sign-in, and of no other source. */
export const clearPasswords = async (
  context: SignInContext,
  db: Db,
  passwordIds: readonly string[],
  request: BrowserRequest,
): Promise<void> => {
  if (context.attemptBudget === 0 || passwordIds.length === 0) return
  await queries.clearAttempts(db, attemptsAt(passwordIds, request, await context.secret()))
}

/**
 * Runs `check` for an authenticated caller within the budget of attempts, and returns its result. Each API key, and all
 * sessions together, have a budget of their own per person and org, so a stolen key uses up only its own.
 */
export const limitProof = async (
  context: SignInContext,
  { userId, orgId, apiKey }: Actor,
  check: () => Promise<boolean>,
): Promise<boolean> => {
  const attempt = { subject: `proof ${userId} ${orgId}`, source: apiKey === null ? 'session' : `key ${apiKey.id}` }
  await countAttempts(context, [attempt])
  const isRight = await check()
  if (isRight && context.attemptBudget > 0) await queries.clearAttempts(context.db, [attempt])
  return isRight
}

/**
 * Runs `check` for a guess at a password that belongs to no person, such as that of a link. `subject` is what is guessed,
 * `source` where the guess comes from; each source has a budget of its own. Throws TOO_MANY_REQUESTS beyond it, for one
 * minute at first and at most 15.
 */
export const limitGuesses = async (
  db: Db,
  attempt: Attempt,
  budget: number,
  check: () => Promise<boolean>,
): Promise<boolean> => {
  const now = new Date()
  if ((await queries.countAttempts(db, [attempt], budget, now)).length === 0) {
    const first = await queries.findFirstUnblocked(db, [attempt])
    const seconds = Math.max(1, Math.ceil((Date.parse(first?.at ?? now.toISOString()) - now.getTime()) / 1_000))
    throw tooManyRequests(`Too many wrong passwords. Try again in ${seconds} s.`, {
      headers: { 'retry-after': String(seconds) },
    })
  }
  const isRight = await check()
  if (isRight) await queries.clearAttempts(db, [attempt])
  return isRight
}
