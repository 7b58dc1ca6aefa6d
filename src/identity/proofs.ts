import { badRequest } from '../platform/errors.ts'
import type { Actor } from './actor.ts'
import { audit, auditPerson } from './audit.ts'
import { isPassword } from './passwords.ts'
import * as queries from './person-queries.ts'
import { joinReach, reaches } from './reach.ts'
import { sessionCookie } from './session-cookie.ts'
import { cookiesOf, headersOf, wrongProof } from './sign-in-library.ts'
import type { SignInLibrary, Visit } from './sign-in-library.ts'
import { issueStepUpToken } from './step-up.ts'
import { isTotpCode } from './two-factor.ts'

export interface Proof {
  password?: string | undefined
  totpCode?: string | undefined
}

/** A step-up token for the caller. FORBIDDEN unless the password or the code is theirs. */
export const stepUp = async (
  library: SignInLibrary,
  actor: Actor,
  { password, totpCode }: Proof,
): Promise<{ token: string; expiresAt: string }> => {
  const { db } = library
  const proofs = await queries.findProofs(db, actor.userId)
  if (!proofs) throw wrongProof
  if (totpCode !== undefined && password === undefined) {
    if (!reaches(proofs.totpReach, actor.orgId)) throw wrongProof
    if (!(await isTotpCode(library, actor.userId, proofs, totpCode))) throw wrongProof
  } else if (password !== undefined && totpCode === undefined) {
    if (!(await isPassword(password, proofs.passwordHash))) throw wrongProof
    if (!reaches(proofs.passwordReach, actor.orgId)) throw wrongProof
  } else throw badRequest('Send either password or totpCode.')
  return db.transaction(actor, async (db) => {
    // It may have been changed while it was compared, and with that every token ends.
    const held = await queries.holdPassword(db, actor.userId)
    if ((held?.passwordHash ?? null) !== proofs.passwordHash) throw wrongProof
    await audit(db, actor, 'user.stepped-up', { type: 'user', id: actor.userId })
    return issueStepUpToken(db, actor.userId, totpCode === undefined ? proofs.passwordReach : proofs.totpReach)
  })
}

/**
 * Ends the person's other sessions and all step-up tokens. `current` is not needed for a first password, which opens what
 * the session does; who knows the current one has proved both, and the new one opens the orgs of both. Answers the
 * cookies of the session that goes on.
 */
export const changePassword = (
  library: SignInLibrary,
  actor: Actor,
  passwords: { current: string | undefined; next: string },
  visit: Visit,
): Promise<string[]> =>
  library.transaction(async (db, { api, reachNow }) => {
    const headers = headersOf(visit, sessionCookie)
    const proofs = await queries.findProofs(db, actor.userId)
    let cookies: string[] = []
    if (proofs?.passwordHash) {
      const answer = await api.changePassword({
        body: { newPassword: passwords.next, currentPassword: passwords.current ?? '', revokeOtherSessions: true },
        headers,
        returnHeaders: true,
      })
      cookies = cookiesOf(answer.headers, visit)
      await queries.setReach(db, actor.userId, joinReach(reachNow(), proofs.passwordReach))
    } else await api.setPassword({ body: { newPassword: passwords.next }, headers })
    await queries.deleteStepUpTokens(db, actor.userId)
    await auditPerson(db, actor.userId, 'user.password-changed', visit.origin)
    return cookies
  })
