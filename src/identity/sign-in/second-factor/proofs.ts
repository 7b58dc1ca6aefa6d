import type { Transaction } from '../../../platform/database/database.ts'
import { badRequest } from '../../../platform/http/errors.ts'
import type { Actor } from '../../actor.ts'
import { audit, auditPerson } from '../../audit/audit.ts'
import type { AuthLibrary } from '../auth-library.ts'
import { isPassword, rightPasswords, saltOf } from '../passwords.ts'
import * as queries from '../../members/person-queries.ts'
import type { PasswordRow } from '../../members/person-queries.ts'
import { joinReach } from '../reach.ts'
import type { Reach } from '../reach.ts'
import { sessionCookie } from '../session-cookie.ts'
import { passwordOf, reachOfSession } from '../session-scope.ts'
import { cookiesOf, headersOf, wrongProof } from '../sign-in-library.ts'
import type { SignInLibrary, Visit } from '../sign-in-library.ts'
import { guardProof } from '../throttle.ts'
import { issueStepUpToken } from './step-up.ts'
import { isTotpCode } from './two-factor.ts'

export interface Proof {
  password?: string | undefined
  totpCode?: string | undefined
}

const isRight = async (
  library: SignInLibrary,
  { password, totpCode }: Proof,
  proofs: queries.ProofsRow,
): Promise<boolean> => {
  if (password !== undefined) return isPassword(password, proofs.passwordHash)
  const { factorId, totpSecret, lockedUntil } = proofs
  if (factorId === null || totpSecret === null || totpCode === undefined) return false
  return isTotpCode(library, { id: factorId, secret: totpSecret, lockedUntil }, totpCode)
}

/** A step-up token for the caller. FORBIDDEN unless the password or the code is theirs, and good in this org. */
export const stepUp = async (
  library: SignInLibrary,
  actor: Actor,
  proof: Proof,
): Promise<{ token: string; expiresAt: string }> => {
  const { db } = library
  if ((proof.password === undefined) === (proof.totpCode === undefined)) {
    throw badRequest('Send either password or totpCode.')
  }
  const proofs = await queries.findProofs(db, actor.userId, actor.orgId)
  if (!proofs) throw wrongProof
  if (!(await guardProof(library, actor, () => isRight(library, proof, proofs)))) {
    const by = proof.password === undefined ? 'code' : 'password'
    await db.transaction(actor, (db) =>
      audit(db, actor, 'user.step-up-failed', { type: 'user', id: actor.userId }, { by }),
    )
    throw wrongProof
  }
  return db.transaction(actor, async (db) => {
    // It may have been changed while it was compared, and with that every token ends.
    await queries.lockPerson(db, actor.userId)
    const held = await queries.findProofs(db, actor.userId, actor.orgId)
    if (held?.passwordHash !== proofs.passwordHash || held.factorId !== proofs.factorId) throw wrongProof
    await audit(db, actor, 'user.stepped-up', { type: 'user', id: actor.userId })
    return issueStepUpToken(db, actor.userId, proof.password === undefined ? held.totpReach : held.passwordReach)
  })
}

export interface Passwords {
  current: string | undefined
  next: string
  /** With the current password of another org, when that has a second factor. */
  totpCode: string | undefined
}

/** The password of another org that somebody proves to know, whose second factor they prove as well. */
const proveOther = async (
  library: SignInLibrary,
  actor: Actor,
  rows: readonly PasswordRow[],
  { current = '', totpCode }: Passwords,
): Promise<PasswordRow> => {
  let proven: PasswordRow | undefined
  await guardProof(library, actor, async () => {
    const [right] = await rightPasswords(current, rows)
    const factor = right && (await queries.findFactorOfPassword(library.db, right))
    if (right && (!factor || (totpCode !== undefined && (await isTotpCode(library, factor, totpCode))))) proven = right
    return proven !== undefined
  })
  if (!proven) throw wrongProof
  return proven
}

/** The person has proved `proven`, in a session of `reach`: the new password is good for both. Answers the cookies. */
const replacePassword = async (
  db: Transaction,
  library: AuthLibrary,
  proven: PasswordRow,
  reach: Reach,
  { current = '', next }: Passwords,
  visit: Visit,
): Promise<{ cookies: string[]; reach: Reach }> => {
  const joined = joinReach(reach, proven.reach)
  await queries.widenPassword(db, proven, joined)
  library.opening(joined)
  library.salting(saltOf(proven.passwordHash))
  const { headers } = await library.api.changePassword({
    body: { newPassword: next, currentPassword: current, revokeOtherSessions: true },
    headers: headersOf(visit, sessionCookie),
    returnHeaders: true,
  })
  return { cookies: cookiesOf(headers, visit), reach: joined }
}

/**
 * Ends the person's other sessions within what the password opens, and its step-up tokens. `current` is not needed for
 * the first password of the session's orgs, which opens what the session does; who knows one that opens other orgs has
 * proved both, and the new one opens the orgs of both. Answers the cookies of the session that goes on.
 */
export const changePassword = async (
  library: SignInLibrary,
  actor: Actor,
  passwords: Passwords,
  visit: Visit,
): Promise<string[]> => {
  const { userId } = actor
  const seen = await library.transaction(async (db, auth) => {
    const reach = await reachOfSession(auth, visit)
    const rows = await queries.findPasswords(db, userId)
    return { rows, own: passwordOf(rows, reach) }
  })
  // Outside the transaction: wrong attempts count, whatever becomes of the rest.
  const other =
    seen.own === undefined && passwords.current !== undefined
      ? await proveOther(library, actor, seen.rows, passwords)
      : undefined
  if (seen.own) {
    const { passwordHash } = seen.own
    const isOwn = await guardProof(library, actor, () => isPassword(passwords.current ?? '', passwordHash))
    if (!isOwn) throw wrongProof
  }
  return library.transaction(async (db, auth) => {
    await queries.lockPerson(db, userId)
    const reach = await reachOfSession(auth, visit)
    const rows = await queries.findPasswords(db, userId)
    const own = passwordOf(rows, reach)
    const proven = own ?? rows.find(({ id, passwordHash }) => id === other?.id && passwordHash === other.passwordHash)
    // Another request was faster: what was proved is not what there is now.
    if (own?.passwordHash !== seen.own?.passwordHash || (other && !proven)) throw wrongProof
    let result: { cookies: string[]; reach: Reach } = { cookies: [], reach }
    if (proven) result = await replacePassword(db, auth, proven, reach, passwords, visit)
    else {
      auth.salting(saltOf(rows[0]?.passwordHash))
      await auth.api.setPassword({ body: { newPassword: passwords.next }, headers: headersOf(visit, sessionCookie) })
    }
    await queries.deleteNarrowerProofs(db, userId, result.reach)
    await queries.deleteStepUpTokens(db, userId, result.reach)
    await auditPerson(db, userId, 'user.password-changed', visit.origin, {}, result.reach)
    return result.cookies
  })
}
