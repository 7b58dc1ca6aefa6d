import type { Database, Transaction } from '../../platform/database/database.ts'
import { unauthorized } from '../../platform/http/errors.ts'
import { auditFailedSignIn, auditPerson } from '../audit/audit.ts'
import { lockPerson } from '../members/person-queries.ts'
import type { BetterAuth } from './better-auth.ts'
import { cookiesOf, headersOf } from './context.ts'
import type { BrowserRequest, SignInContext } from './context.ts'
import { rememberBrowser } from './known-browser.ts'
import { consumeSignInLink } from './links.ts'
import { isWithin, joinScopes } from './org-scope.ts'
import type { OrgScope } from './org-scope.ts'
import { personOf, rightPasswords, strangerAt } from './passwords.ts'
import * as queries from './queries.ts'
import type { PasswordRow } from './queries.ts'
import { useTotpCode } from './second-factor/two-factor.ts'
import { rawCookie, sessionCookie, twoFactorCookie } from './session-cookie.ts'
import { recordFailures } from './throttle-queries.ts'
import { clearPasswords, tryPasswords } from './throttle.ts'

export interface SignedIn {
  /** Set-Cookie headers. */
  cookies: string[]
  /** The password or link was right and a code is still needed: there is no session yet. */
  twoFactorRequired: boolean
}

/** A sign-in in progress. */
interface SignInAttempt {
  context: SignInContext
  request: BrowserRequest
}

const wrongSignIn = unauthorized('The email address or the password is wrong.')
const wrongLink = unauthorized('The sign-in link is invalid: it is unknown, used or expired.')

interface NewSession {
  userId: string
  token: string
  orgScope: OrgScope
  /** For the audit log. */
  details?: Record<string, unknown>
}

/** Records a successful sign-in. Returns the cookie by which the browser is known from now on. */
const recordSuccess = async (
  db: Transaction,
  { context, request }: SignInAttempt,
  { userId, token, orgScope, details = {} }: NewSession,
): Promise<string[]> => {
  await queries.recordSignIn(db, userId, token, orgScope)
  await auditPerson(db, userId, 'user.signed-in', { origin: request.origin, details, orgScope })
  const passwords = await queries.findPasswords(db, userId)
  const ids = passwords.filter((password) => isWithin(password.orgScope, orgScope)).map(({ id }) => id)
  if (ids.length === 0) return []
  await clearPasswords(context, db, ids, request)
  return [rememberBrowser(request, await context.secret(), ids)]
}

/** Begins a session for a person who has proved who they are, or the second step of the sign-in. */
const beginSession = async (
  db: Transaction,
  auth: BetterAuth,
  attempt: SignInAttempt,
  { userId, orgScope }: { userId: string; orgScope: OrgScope },
): Promise<SignedIn> => {
  const { request } = attempt
  auth.setScope(orgScope)
  const { headers, response } = await auth.api.signInProven({
    body: { userId },
    headers: headersOf(request, sessionCookie),
    returnHeaders: true,
  })
  const twoFactorRequired = response.twoFactorRedirect
  const more = twoFactorRequired ? [] : await recordSuccess(db, attempt, { userId, token: response.token, orgScope })
  return { cookies: cookiesOf(headers, request, more), twoFactorRequired }
}

/** Shown to the person at their next sign-in, and in the audit log of the orgs in the passwords' scopes. */
const recordFailure = async (
  db: Database | Transaction,
  { context, request }: SignInAttempt,
  rows: readonly PasswordRow[],
  by: string,
): Promise<void> => {
  const [first] = rows
  if (!first) return
  const ids = rows.map(({ id }) => id)
  await recordFailures(db, ids, request.origin.ip, new Date(context.now()))
  const orgScope = rows.map((row) => row.orgScope).reduce(joinScopes)
  await auditFailedSignIn(db, first.userId, { origin: request.origin, details: { by }, orgScope })
}

/**
 * The scope of a sign-in. A person who has the same password in several scopes has proved all of them, so the scopes
 * become one, except those with a second factor, which was not proved.
 */
const chooseScope = async (db: Transaction, right: readonly PasswordRow[]): Promise<OrgScope> => {
  const [first, ...more] = right.some(({ hasFactor }) => !hasFactor)
    ? right.filter(({ hasFactor }) => !hasFactor)
    : right.slice(0, 1)
  if (!first) throw wrongSignIn
  const orgScope = more.map((row) => row.orgScope).reduce(joinScopes, first.orgScope)
  if (more.length > 0) {
    await queries.widenPassword(db, first, orgScope)
    await queries.deleteNarrowerProofs(db, first.userId, orgScope)
  }
  return orgScope
}

/**
 * UNAUTHORIZED, in the same words and time, for an unknown address and for a wrong password. TOO_MANY_REQUESTS when one
 * of the person's passwords is blocked and no other one matches: it may be the one that was sent.
 */
export const signIn = async (
  context: SignInContext,
  address: string,
  password: string,
  request: BrowserRequest,
): Promise<SignedIn> => {
  const attempt = { context, request }
  const email = address.trim().toLowerCase()
  const rows = await queries.findPasswordsByEmail(context.db, email)
  const tried = await tryPasswords(context, email, rows, request)
  const [person] = tried.rows
  const caller = tried.isKnownBrowser && person ? personOf(person.userId) : strangerAt(request.origin.ip)
  const right = await rightPasswords(password, tried.rows, caller)
  const [first] = right
  if (!first) {
    await recordFailure(context.db, attempt, tried.rows, 'password')
    throw tried.rejection ?? wrongSignIn
  }
  const { userId } = first
  return context.transaction(async (db, auth) => {
    // A password that was changed while it was compared no longer counts, because the change ended all its sessions.
    await lockPerson(db, userId)
    const current = await queries.findPasswords(db, userId)
    const unchanged = current.filter((now) =>
      right.some(({ id, passwordHash }) => id === now.id && passwordHash === now.passwordHash),
    )
    return beginSession(db, auth, attempt, { userId, orgScope: await chooseScope(db, unchanged) })
  })
}

export const signInByLink = (context: SignInContext, token: string, request: BrowserRequest): Promise<SignedIn> =>
  context.transaction(async (db, auth) => {
    const person = await consumeSignInLink(db, token)
    if (!person) throw wrongLink
    return beginSession(db, auth, { context, request }, person)
  })

type Code = { code: string } | { backupCode: string }

const verify = async (auth: BetterAuth, proof: Code, request: BrowserRequest) => {
  const call = { headers: headersOf(request, twoFactorCookie), returnHeaders: true as const }
  return 'code' in proof
    ? auth.api.verifyTOTP({ ...call, body: { code: proof.code } })
    : auth.api.verifyBackupCode({ ...call, body: { code: proof.backupCode } })
}

/** The second step of a sign-in: a code of the authenticator, or one of the backup codes. Each works once. */
export const confirmSignIn = (context: SignInContext, proof: Code, request: BrowserRequest): Promise<SignedIn> =>
  context.transaction(async (db, auth) => {
    const attempt = { context, request }
    const by = 'code' in proof ? 'code' : 'backup code'
    try {
      const { headers, response } = await verify(auth, proof, request)
      const userId = response.user.id
      const orgScope = auth.currentScope()
      if ('code' in proof) await useTotpCode(db, auth, userId, proof.code)
      const { token } = response
      if (token === null || token === undefined) throw new Error('Better Auth began no session')
      const more = await recordSuccess(db, attempt, { userId, token, orgScope, details: { by } })
      return { cookies: cookiesOf(headers, request, more), twoFactorRequired: false }
    } catch (error) {
      // A rejection by Better Auth is a wrong code. A code that was used before is our own error and no guess.
      const userId = auth.currentUser()
      if (userId !== undefined && context.isRejection(error)) {
        const passwords = await queries.findPasswords(db, userId)
        const orgScope = auth.currentScope()
        const inScope = passwords.filter((password) => isWithin(password.orgScope, orgScope))
        await recordFailure(db, attempt, inScope, by)
      }
      throw error
    }
  })

/** Ends the session of the browser, if it has one. Returns the Set-Cookie headers that remove its cookie. */
export const signOut = async (context: SignInContext, request: BrowserRequest): Promise<string[]> => {
  const { api } = await context.open()
  const { headers } = await api.signOut({ headers: headersOf(request, sessionCookie), returnHeaders: true })
  return cookiesOf(headers, request)
}

/** The session of the browser; null without one. At most once a day, the call extends the session and its cookie. */
export const findSession = async (
  context: SignInContext,
  request: BrowserRequest,
): Promise<{ cookies: string[]; session: { id: string; expiresAt: string } | null }> => {
  if (rawCookie(request.cookies, sessionCookie, request.secure) === undefined) return { cookies: [], session: null }
  const { api } = await context.open()
  const { headers, response } = await api.getSession({
    headers: headersOf(request, sessionCookie),
    returnHeaders: true,
  })
  const session = response && { id: response.session.id, expiresAt: response.session.expiresAt.toISOString() }
  return { cookies: cookiesOf(headers, request), session }
}
