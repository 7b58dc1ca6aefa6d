import type { Database, Transaction } from '../../platform/database/database.ts'
import { conflict, forbidden, tooManyRequests, unauthorized } from '../../platform/http/errors.ts'
import type { ApiError } from '../../platform/http/errors.ts'
import type { Log } from '../../platform/process/log.ts'
import type { Origin } from '../actor.ts'
import type { BetterAuth } from './better-auth.ts'
import { clientAddressHeader, noSession, rawCookie, sentCookie } from './session-cookie.ts'

/** The parts of a browser's request that sign-in uses. */
export interface BrowserRequest {
  cookies: string | undefined
  userAgent: string | undefined
  /** Whether the browser uses https, which decides the names of cookies. */
  secure: boolean
  origin: Origin
}

/** The services that sign-in uses. Better Auth is loaded by the first call, which takes 0.3 s. */
export interface SignInContext {
  db: Database
  /** The key that signs cookies. */
  secret: () => Promise<string>
  /** Milliseconds since 1970, for budgets of attempts; tests inject a clock. */
  now: () => number
  /** Failed attempts at one password before further ones are delayed; 0: no limit. */
  attemptBudget: number
  /** Whether the error is a rejection by Better Auth, such as a wrong code, and not a failure. */
  isRejection(error: unknown): boolean
  open(): Promise<BetterAuth>
  /**
   * Runs calls of Better Auth inside a transaction. A rejection by Better Auth is thrown after the commit, because the
   * rows that it writes before it rejects count the wrong attempts. Our own errors roll back.
   */
  transaction<T>(work: (db: Transaction, auth: BetterAuth) => Promise<T>): Promise<T>
}

export interface SignInContextOptions {
  db: Database
  log: Log
  /** The key that signs sessions; see secret.ts. */
  secret: () => Promise<string>
  attemptBudget: number
  now?: (() => number) | undefined
}

export const wrongCode = unauthorized('The code is wrong or was used before.')
export const wrongProof = forbidden('The password or the code is wrong.')
export const tooManyCodes = tooManyRequests('Too many wrong codes. Try again in 15 minutes.')
const noChallenge = unauthorized('The sign-in has expired. Sign in again.')

/** Rejections by Better Auth, by its codes. Any other error is a bug. */
const rejections: Record<string, ApiError> = {
  INVALID_CODE: wrongCode,
  INVALID_BACKUP_CODE: wrongCode,
  INVALID_TWO_FACTOR_COOKIE: noChallenge,
  TOO_MANY_ATTEMPTS_REQUEST_NEW_CODE: noChallenge,
  ACCOUNT_TEMPORARILY_LOCKED: tooManyCodes,
  TOTP_NOT_ENABLED: conflict('Two-factor authentication has not been set up.'),
  TOTP_ALREADY_ENABLED: conflict('Two-factor authentication is already on. Remove it first.'),
  INVALID_PASSWORD: wrongProof,
  UNAUTHORIZED: noSession,
}

const rejectionOf = (error: unknown): ApiError | undefined => {
  const code = (error as { body?: { code?: unknown } }).body?.code
  return typeof code === 'string' ? rejections[code] : undefined
}

/** Headers for Better Auth with one cookie only, so that an existing session never confirms a sign-in in progress. */
export const headersOf = (request: BrowserRequest, cookie: string): Headers => {
  const value = rawCookie(request.cookies, cookie, request.secure)
  return new Headers({
    cookie: value === undefined ? '' : `${cookie}=${value}`,
    'user-agent': request.userAgent?.slice(0, 500) ?? '',
    [clientAddressHeader]: request.origin.ip,
  })
}

/** Set-Cookie headers of Better Auth and `more`, under the cookie names of session-cookie.ts. */
export const cookiesOf = (
  headers: Headers | null | undefined,
  request: BrowserRequest,
  more: string[] = [],
): string[] => [...(headers?.getSetCookie() ?? []), ...more].map((cookie) => sentCookie(cookie, request.secure))

export const createSignInContext = ({
  db,
  log,
  secret,
  attemptBudget,
  now = Date.now,
}: SignInContextOptions): SignInContext => {
  let opening: Promise<BetterAuth> | undefined
  const load = async (): Promise<BetterAuth> => {
    const [{ openBetterAuth }, key] = await Promise.all([import('./better-auth.ts'), secret()])
    return openBetterAuth({ db, log, secret: key })
  }
  const open = (): Promise<BetterAuth> => {
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
    isRejection: (error) => rejectionOf(error) !== undefined,
    open,
    transaction: async (work) => {
      const auth = await open()
      const outcome = await db.transaction('all orgs', (db) =>
        auth.within(db, async () => {
          try {
            return { result: await work(db, auth) }
          } catch (error) {
            const rejection = rejectionOf(error)
            if (!rejection) throw error
            return { rejection }
          }
        }),
      )
      if ('rejection' in outcome) throw outcome.rejection
      return outcome.result
    },
  }
}
