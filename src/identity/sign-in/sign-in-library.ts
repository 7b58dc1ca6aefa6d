import type { Database, Transaction } from '../../platform/database/database.ts'
import { conflict, forbidden, tooManyRequests, unauthorized } from '../../platform/http/errors.ts'
import type { ApiError } from '../../platform/http/errors.ts'
import type { Log } from '../../platform/process/log.ts'
import type { Origin } from '../actor.ts'
import type { AuthLibrary } from './auth-library.ts'
import { clientAddressHeader, rawCookie, sentCookie } from './session-cookie.ts'

/** One visit of a browser: what of its request signing in needs to know. */
export interface Visit {
  cookies: string | undefined
  userAgent: string | undefined
  /** Whether it came by https: then its cookies must, too. */
  secure: boolean
  origin: Origin
}

/** The sign-in library, loaded with the first call, which takes 0.3 s. */
export interface SignInLibrary {
  db: Database
  /** What signs cookies. */
  secret: () => Promise<string>
  /** Milliseconds since 1970, for budgets of attempts; tests have a clock of their own. */
  now: () => number
  /** Failed attempts at one password before they are slowed down; 0: never. */
  attemptBudget: number
  /** Whether the library says no by this error, as opposed to failing. */
  isRefusal(error: unknown): boolean
  open(): Promise<AuthLibrary>
  /**
   * Runs library calls inside a transaction. A refusal of the library leaves as a value and becomes an error after the
   * commit, because it counts wrong attempts by what it writes before it refuses. Our own errors roll back.
   */
  transaction<T>(work: (db: Transaction, library: AuthLibrary) => Promise<T>): Promise<T>
}

export interface SignInLibraryOptions {
  db: Database
  log: Log
  /** What signs sessions; see sign-in-secret.ts. */
  secret: () => Promise<string>
  attemptBudget: number
  now?: (() => number) | undefined
}

export const wrongCode = unauthorized('The code is not right, or it was used before.')
export const wrongProof = forbidden('The password or the code is not right.')
export const tooManyCodes = tooManyRequests('Too many wrong codes. Try again in 15 minutes.')
const noChallenge = unauthorized('The sign-in took too long or was given up. Sign in again.')

/** Refusals of the library by its codes. Whatever else it throws is a fault of ours. */
const refusals: Record<string, ApiError> = {
  INVALID_CODE: wrongCode,
  INVALID_BACKUP_CODE: wrongCode,
  INVALID_TWO_FACTOR_COOKIE: noChallenge,
  TOO_MANY_ATTEMPTS_REQUEST_NEW_CODE: noChallenge,
  ACCOUNT_TEMPORARILY_LOCKED: tooManyCodes,
  TOTP_NOT_ENABLED: conflict('Two-factor authentication has not been begun.'),
  TOTP_ALREADY_ENABLED: conflict('Two-factor authentication is on already. Remove it first.'),
  INVALID_PASSWORD: wrongProof,
  UNAUTHORIZED: unauthorized('The session is not valid: it has ended or expired. Sign in again.'),
}

const refusalOf = (error: unknown): ApiError | undefined => {
  const code = (error as { body?: { code?: unknown } }).body?.code
  return typeof code === 'string' ? refusals[code] : undefined
}

/** What of the request the library sees: one cookie, so that a session never answers for a sign-in under way. */
export const headersOf = (visit: Visit, cookie: string): Headers => {
  const value = rawCookie(visit.cookies, cookie, visit.secure)
  return new Headers({
    cookie: value === undefined ? '' : `${cookie}=${value}`,
    'user-agent': visit.userAgent?.slice(0, 500) ?? '',
    [clientAddressHeader]: visit.origin.ip,
  })
}

/** The library's Set-Cookie headers for this visit, and others by the names that session-cookie.ts has for them. */
export const cookiesOf = (headers: Headers | null | undefined, visit: Visit, more: string[] = []): string[] =>
  [...(headers?.getSetCookie() ?? []), ...more].map((cookie) => sentCookie(cookie, visit.secure))

export const createSignInLibrary = ({
  db,
  log,
  secret,
  attemptBudget,
  now = Date.now,
}: SignInLibraryOptions): SignInLibrary => {
  let opening: Promise<AuthLibrary> | undefined
  const load = async (): Promise<AuthLibrary> => {
    const [{ openAuthLibrary }, key] = await Promise.all([import('./auth-library.ts'), secret()])
    return openAuthLibrary({ db, log, secret: key })
  }
  const open = (): Promise<AuthLibrary> => {
    opening ??= load().catch((error: unknown) => {
      opening = undefined
      throw error
    })
    return opening
  }
  return {
    db,
    secret,
    now,
    attemptBudget,
    isRefusal: (error) => refusalOf(error) !== undefined,
    open,
    transaction: async (work) => {
      const library = await open()
      const outcome = await db.transaction('all orgs', (db) =>
        library.within(db, async () => {
          try {
            return { result: await work(db, library) }
          } catch (error) {
            const refusal = refusalOf(error)
            if (!refusal) throw error
            return { refusal }
          }
        }),
      )
      if ('refusal' in outcome) throw outcome.refusal
      return outcome.result
    },
  }
}
