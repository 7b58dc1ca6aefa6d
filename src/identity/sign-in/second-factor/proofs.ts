import type { Transaction } from '../../../platform/database/database.ts'
import { badRequest } from '../../../platform/http/errors.ts'
import type { Actor } from '../../actor.ts'
import { audit, auditPerson } from '../../audit/audit.ts'
import { lockPerson } from '../../members/person-queries.ts'
import type { BetterAuth } from '../better-auth.ts'
import { cookiesOf, headersOf, wrongProof } from '../context.ts'
import type { BrowserRequest, SignInContext } from '../context.ts'
import { joinScopes } from '../org-scope.ts'
import type { OrgScope } from '../org-scope.ts'
import { hashPassword, isPassword, personOf, rightPasswords, saltOf } from '../passwords.ts'
import { deleteChallenges, deleteNarrowerProofs, findPasswords, widenPassword } from '../queries.ts'
import type { PasswordRow } from '../queries.ts'
import { findPasswordsOfSession, passwordOf, scopeOfSession } from '../session-scope.ts'
import { sessionCookie } from '../session-cookie.ts'
import { limitProof } from '../throttle.ts'
import * as queries from './queries.ts'
import { issueStepUpToken } from './step-up.ts'
import { isTotpCode } from './two-factor.ts'

export interface Proof {
  password?: string | undefined
  totpCode?: string | undefined
}

const isRight = async (
  context: SignInContext,
  actor: Actor,
  { password, totpCode }: Proof,
  proofs: queries.ProofsRow,
): Promise<boolean> => {
  if (password !== undefined) return isPassword(password, proofs.passwordHash, personOf(actor.userId))
  const { factorId } = proofs
  return factorId !== null && totpCode !== undefined && isTotpCode(context, factorId, totpCode)
}

/** A step-up token for the caller. Throws FORBIDDEN unless the password or the code is the caller's one in this org. */
export const stepUp = async (
  context: SignInContext,
  actor: Actor,
  proof: Proof,
): Promise<{ token: string; expiresAt: string }> => {
  const { db } = context
  if ((proof.password === undefined) === (proof.totpCode === undefined)) {
    throw badRequest('Send either password or totpCode.')
  }
  const proofs = await queries.findProofs(db, actor.userId, actor.orgId)
  if (!proofs) throw wrongProof
  if (!(await limitProof(context, actor, () => isRight(context, actor, proof, proofs)))) {
    const by = proof.password === undefined ? 'code' : 'password'
    const resource = { type: 'user', id: actor.userId, details: { by } }
    await db.transaction(actor, (db) => audit(db, actor, 'user.step-up-failed', resource))
    throw wrongProof
  }
  return db.transaction(actor, async (db) => {
    // A proof that was changed while it was compared no longer counts, because the change ended all its tokens.
    await lockPerson(db, actor.userId)
    const current = await queries.findProofs(db, actor.userId, actor.orgId)
    if (current?.passwordHash !== proofs.passwordHash || current.factorId !== proofs.factorId) throw wrongProof
    await audit(db, actor, 'user.stepped-up', { type: 'user', id: actor.userId })
    return issueStepUpToken(db, actor.userId, proof.password === undefined ? current.totpScope : current.passwordScope)
  })
}

export interface Passwords {
  current: string | undefined
  next: string
  /** Needed with the current password of another org when that org has a second factor. */
  totpCode: string | undefined
}

/** The password of another org that the caller proves to know, together with its second factor. */
const proveOther = async (
  context: SignInContext,
  actor: Actor,
  rows: readonly PasswordRow[],
  { current = '', totpCode }: Passwords,
): Promise<PasswordRow> => {
  let proven: PasswordRow | undefined
  await limitProof(context, actor, async () => {
    const [right] = await rightPasswords(current, rows, personOf(actor.userId))
    const factor = right && (await queries.findFactorOfPassword(context.db, right))
    if (right && (!factor || (totpCode !== undefined && (await isTotpCode(context, factor.id, totpCode)))))
      proven = right
    return proven !== undefined
  })
  if (!proven) throw wrongProof
  return proven
}

interface Replacement {
  /** The password that the caller has proved. */
  proven: PasswordRow
  sessionScope: OrgScope
  passwords: Passwords
  /** Of the new password. */
  newHash: string
}

/** Replaces the proven password by one for the scopes of the password and of the session. Returns that scope. */
const replacePassword = async (
  db: Transaction,
  auth: BetterAuth,
  request: BrowserRequest,
  { proven, sessionScope, passwords, newHash }: Replacement,
): Promise<{ cookies: string[]; orgScope: OrgScope }> => {
  const orgScope = joinScopes(sessionScope, proven.orgScope)
  await widenPassword(db, proven, orgScope)
  auth.setScope(orgScope)
  auth.setHashes({ provenHash: proven.passwordHash, newHash })
  const { headers } = await auth.api.changePassword({
    body: { newPassword: passwords.next, currentPassword: passwords.current ?? '', revokeOtherSessions: true },
    headers: headersOf(request, sessionCookie),
    returnHeaders: true,
  })
  return { cookies: cookiesOf(headers, request), orgScope }
}

/**
 * Changes the password and ends the other sessions, the sign-ins that wait for a code, and the step-up tokens within its
 * scope. The first password of the session's orgs needs no `current` and has the scope of the session. With the current
 * password of another org, which proves that both are the same person, the new one has both scopes. Returns the cookies
 * of the continued session.
 */
export const changePassword = async (
  context: SignInContext,
  actor: Actor,
  passwords: Passwords,
  request: BrowserRequest,
): Promise<string[]> => {
  const { userId } = actor
  const before = await findPasswordsOfSession(context, userId, request)
  // Proofs are compared outside of the transaction, so that wrong attempts count even when it rolls back.
  const other =
    before.own === undefined && passwords.current !== undefined
      ? await proveOther(context, actor, before.rows, passwords)
      : undefined
  if (before.own) {
    const { passwordHash } = before.own
    const isOwn = await limitProof(context, actor, () =>
      isPassword(passwords.current ?? '', passwordHash, personOf(userId)),
    )
    if (!isOwn) throw wrongProof
  }
  const salt = saltOf((before.own ?? other ?? before.rows[0])?.passwordHash)
  const newHash = await hashPassword(passwords.next, personOf(userId), salt)
  return context.transaction(async (db, auth) => {
    await lockPerson(db, userId)
    const sessionScope = await scopeOfSession(auth, request)
    const rows = await findPasswords(db, userId)
    const own = passwordOf(rows, sessionScope)
    const proven = own ?? rows.find(({ id, passwordHash }) => id === other?.id && passwordHash === other.passwordHash)
    // A concurrent request has changed the password that was proved.
    if (own?.passwordHash !== before.own?.passwordHash || (other && !proven)) throw wrongProof
    let result: { cookies: string[]; orgScope: OrgScope } = { cookies: [], orgScope: sessionScope }
    if (proven) result = await replacePassword(db, auth, request, { proven, sessionScope, passwords, newHash })
    else {
      // The passwords of a person share a salt, and a concurrent request has set the first one with another salt.
      if (rows[0] && saltOf(rows[0].passwordHash) !== saltOf(newHash)) throw wrongProof
      auth.setHashes({ newHash })
      await auth.api.setPassword({ body: { newPassword: passwords.next }, headers: headersOf(request, sessionCookie) })
    }
    const { orgScope } = result
    await deleteNarrowerProofs(db, userId, orgScope)
    await deleteChallenges(db, userId, orgScope)
    await queries.deleteStepUpTokens(db, userId, orgScope)
    await auditPerson(db, userId, 'user.password-changed', { origin: request.origin, orgScope })
    return result.cookies
  })
}
