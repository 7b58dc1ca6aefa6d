import type { Transaction } from '../platform/database.ts'
import { unauthorized } from '../platform/errors.ts'
import { auditPerson } from './audit.ts'
import type { AuthLibrary } from './auth-library.ts'
import { isPassword } from './passwords.ts'
import * as queries from './person-queries.ts'
import type { Reach } from './reach.ts'
import { rawCookie, sessionCookie, twoFactorCookie } from './session-cookie.ts'
import { cookiesOf, headersOf } from './sign-in-library.ts'
import type { SignInLibrary, Visit } from './sign-in-library.ts'
import { consumeSignInLink } from './sign-in-links.ts'
import { useTotpCode } from './two-factor.ts'

export interface SignedIn {
  /** Set-Cookie headers. */
  cookies: string[]
  /** The password or link was right, and a code is wanted as well: no session yet. */
  twoFactorRequired: boolean
}

const wrongSignIn = unauthorized('The e-mail address or the password is not right.')
const wrongLink = unauthorized('The sign-in link is not valid: it is unknown, used or expired.')

const begin = async (
  db: Transaction,
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
  if (!twoFactorRequired) await auditPerson(db, userId, 'user.signed-in', visit.origin, {}, reach)
  return { cookies: cookiesOf(headers, visit), twoFactorRequired }
}

/** UNAUTHORIZED, in the same words and time, for an unknown address and for a wrong password. */
export const signIn = async (
  library: SignInLibrary,
  email: string,
  password: string,
  visit: Visit,
): Promise<SignedIn> => {
  const person = await queries.findPasswordByEmail(library.db, email.trim().toLowerCase())
  if (!(await isPassword(password, person?.passwordHash)) || !person) throw wrongSignIn
  return library.transaction(async (db, library) => {
    // It may have been changed while it was compared, and with that every session ends.
    const held = await queries.holdPassword(db, person.userId)
    if (held?.passwordHash !== person.passwordHash) throw wrongSignIn
    return begin(db, library, { userId: person.userId, reach: held.reach }, visit)
  })
}

export const signInByLink = (library: SignInLibrary, token: string, visit: Visit): Promise<SignedIn> =>
  library.transaction(async (db, library) => {
    const person = await consumeSignInLink(db, token)
    if (!person) throw wrongLink
    return begin(db, library, person, visit)
  })

/** The second step of a sign-in: a code of the authenticator, or one of the backup codes. Each works once. */
export const confirmSignIn = (
  library: SignInLibrary,
  proof: { code: string } | { backupCode: string },
  visit: Visit,
): Promise<SignedIn> =>
  library.transaction(async (db, library) => {
    const call = { headers: headersOf(visit, twoFactorCookie), returnHeaders: true as const }
    const { headers, response } =
      'code' in proof
        ? await library.api.verifyTOTP({ ...call, body: { code: proof.code } })
        : await library.api.verifyBackupCode({ ...call, body: { code: proof.backupCode } })
    const userId = response.user.id
    if ('code' in proof) await useTotpCode(db, library, userId, proof.code)
    const details = { by: 'code' in proof ? 'code' : 'backup code' }
    await auditPerson(db, userId, 'user.signed-in', visit.origin, details, library.reachNow())
    return { cookies: cookiesOf(headers, visit), twoFactorRequired: false }
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
  if (rawCookie(visit.cookies, sessionCookie) === undefined) return { cookies: [], session: null }
  const { api } = await library.open()
  const { headers, response } = await api.getSession({
    headers: headersOf(visit, sessionCookie),
    returnHeaders: true,
  })
  const session = response && { id: response.session.id, expiresAt: response.session.expiresAt.toISOString() }
  return { cookies: cookiesOf(headers, visit), session }
}
