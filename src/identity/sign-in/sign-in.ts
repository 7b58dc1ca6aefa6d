import type { Database, Transaction } from '../../platform/database/database.ts'
import { unauthorized } from '../../platform/http/errors.ts'
import { auditPerson, auditFailure } from '../audit/audit.ts'
import type { AuthLibrary } from './auth-library.ts'
import { rememberBrowser } from './known-browser.ts'
import { rightPasswords } from './passwords.ts'
import * as queries from '../members/person-queries.ts'
import type { PasswordRow } from '../members/person-queries.ts'
import { isWithin, joinReach } from './reach.ts'
import type { Reach } from './reach.ts'
import { rawCookie, sessionCookie, twoFactorCookie } from './session-cookie.ts'
import { cookiesOf, headersOf } from './sign-in-library.ts'
import type { SignInLibrary, Visit } from './sign-in-library.ts'
import { consumeSignInLink } from './links.ts'
import { clearPasswords, tryPasswords } from './throttle.ts'
import { noteFailures } from './throttle-queries.ts'
import { useTotpCode } from './second-factor/two-factor.ts'

export interface SignedIn {
  /** Set-Cookie headers. */
  cookies: string[]
  /** The password or link was right, and a code is wanted as well: no session yet. */
  twoFactorRequired: boolean
}

const wrongSignIn = unauthorized('The e-mail address or the password is not right.')
const wrongLink = unauthorized('The sign-in link is not valid: it is unknown, used or expired.')

interface Entry {
  userId: string
  /** The new session's. */
  token: string
  reach: Reach
}

/** What a sign-in that succeeded leaves behind. Answers the cookie by which the browser is known from now on. */
const enter = async (
  db: Transaction,
  signIns: SignInLibrary,
  { userId, token, reach }: Entry,
  visit: Visit,
  details: Record<string, unknown> = {},
): Promise<string[]> => {
  await queries.noteSignIn(db, userId, token, reach)
  await auditPerson(db, userId, 'user.signed-in', visit.origin, details, reach)
  const passwords = await queries.findPasswords(db, userId)
  const ids = passwords.filter((password) => isWithin(password.reach, reach)).map(({ id }) => id)
  if (ids.length === 0) return []
  await clearPasswords(signIns, db, ids, visit)
  return [rememberBrowser(visit, await signIns.secret(), ids)]
}

const begin = async (
  db: Transaction,
  signIns: SignInLibrary,
  library: AuthLibrary,
  { userId, reach }: { userId: string; reach: Reach },
  visit: Visit,
): Promise<SignedIn> => {
  library.opening(reach)
  const { headers, response } = await library.api.signInProven({
    body: { userId },
    headers: headersOf(visit, sessionCookie),
    returnHeaders: true,
  })
  const twoFactorRequired = response.twoFactorRedirect
  const known = twoFactorRequired ? [] : await enter(db, signIns, { userId, token: response.token, reach }, visit)
  return { cookies: cookiesOf(headers, visit, known), twoFactorRequired }
}

/** The person hears of it at their next sign-in, the orgs that the passwords open in their audit log. */
const recordFailure = async (
  db: Database | Transaction,
  { now }: SignInLibrary,
  rows: readonly PasswordRow[],
  visit: Visit,
  by: string,
): Promise<void> => {
  const [first] = rows
  if (!first) return
  const ids = rows.map(({ id }) => id)
  await noteFailures(db, ids, visit.origin.ip, new Date(now()))
  const reach = rows.map((row) => row.reach).reduce(joinReach)
  await auditFailure(db, first.userId, 'user.sign-in-failed', visit.origin, { by }, reach)
}

/**
 * Which of the right passwords the sign-in is by. Whoever knows several, because they are the same, has proved all of
 * their scopes: they become one. Not those with a second factor, which was not proved.
 */
const chooseScope = async (db: Transaction, right: readonly PasswordRow[]): Promise<Reach> => {
  const [first, ...more] = right.some(({ hasFactor }) => !hasFactor)
    ? right.filter(({ hasFactor }) => !hasFactor)
    : right.slice(0, 1)
  if (!first) throw wrongSignIn
  const reach = more.map((row) => row.reach).reduce(joinReach, first.reach)
  if (more.length > 0) {
    await queries.widenPassword(db, first, reach)
    await queries.deleteNarrowerProofs(db, first.userId, reach)
  }
  return reach
}

/**
 * UNAUTHORIZED, in the same words and time, for an unknown address and for a wrong password. TOO_MANY_REQUESTS when one
 * of the person's passwords is blocked and no other one matches: it may be the one that was sent.
 */
export const signIn = async (
  signIns: SignInLibrary,
  address: string,
  password: string,
  visit: Visit,
): Promise<SignedIn> => {
  const email = address.trim().toLowerCase()
  const rows = await queries.findPasswordsByEmail(signIns.db, email)
  const tried = await tryPasswords(signIns, email, rows, visit)
  const right = await rightPasswords(password, tried.rows)
  const [first] = right
  if (!first) {
    await recordFailure(signIns.db, signIns, tried.rows, visit, 'password')
    throw tried.rejection ?? wrongSignIn
  }
  const { userId } = first
  return signIns.transaction(async (db, library) => {
    // They may have been changed while they were compared, and with that every session ends.
    await queries.lockPerson(db, userId)
    const held = await queries.findPasswords(db, userId)
    const still = held.filter((now) =>
      right.some(({ id, passwordHash }) => id === now.id && passwordHash === now.passwordHash),
    )
    return begin(db, signIns, library, { userId, reach: await chooseScope(db, still) }, visit)
  })
}

export const signInByLink = (signIns: SignInLibrary, token: string, visit: Visit): Promise<SignedIn> =>
  signIns.transaction(async (db, library) => {
    const person = await consumeSignInLink(db, token)
    if (!person) throw wrongLink
    return begin(db, signIns, library, person, visit)
  })

type Code = { code: string } | { backupCode: string }

const verify = async (library: AuthLibrary, proof: Code, visit: Visit) => {
  const call = { headers: headersOf(visit, twoFactorCookie), returnHeaders: true as const }
  return 'code' in proof
    ? library.api.verifyTOTP({ ...call, body: { code: proof.code } })
    : library.api.verifyBackupCode({ ...call, body: { code: proof.backupCode } })
}

/** The second step of a sign-in: a code of the authenticator, or one of the backup codes. Each works once. */
export const confirmSignIn = (signIns: SignInLibrary, proof: Code, visit: Visit): Promise<SignedIn> =>
  signIns.transaction(async (db, library) => {
    const by = 'code' in proof ? 'code' : 'backup code'
    try {
      const { headers, response } = await verify(library, proof, visit)
      const userId = response.user.id
      const reach = library.reachNow()
      if ('code' in proof) await useTotpCode(db, library, userId, proof.code)
      const { token } = response
      if (token === null || token === undefined) throw new Error('the library began no session')
      const known = await enter(db, signIns, { userId, token, reach }, visit, { by })
      return { cookies: cookiesOf(headers, visit, known), twoFactorRequired: false }
    } catch (error) {
      // The library refuses by what commits; a code that was used before rolls back, and is nobody's guess.
      const userId = library.userNow()
      if (userId !== undefined && signIns.isRefusal(error)) {
        const passwords = await queries.findPasswords(db, userId)
        const reach = library.reachNow()
        await recordFailure(
          db,
          signIns,
          passwords.filter((password) => isWithin(password.reach, reach)),
          visit,
          by,
        )
      }
      throw error
    }
  })

/** Ends the session of the browser, if it has one. Answers the cookies that say so. */
export const signOut = async (library: SignInLibrary, visit: Visit): Promise<string[]> => {
  const { api } = await library.open()
  const { headers } = await api.signOut({ headers: headersOf(visit, sessionCookie), returnHeaders: true })
  return cookiesOf(headers, visit)
}

/** Whom the browser is signed in as, if anybody. Looking prolongs the session, once a day, and its cookie with it. */
export const lookAtSession = async (
  library: SignInLibrary,
  visit: Visit,
): Promise<{ cookies: string[]; session: { id: string; expiresAt: string } | null }> => {
  if (rawCookie(visit.cookies, sessionCookie, visit.secure) === undefined) return { cookies: [], session: null }
  const { api } = await library.open()
  const { headers, response } = await api.getSession({
    headers: headersOf(visit, sessionCookie),
    returnHeaders: true,
  })
  const session = response && { id: response.session.id, expiresAt: response.session.expiresAt.toISOString() }
  return { cookies: cookiesOf(headers, visit), session }
}
