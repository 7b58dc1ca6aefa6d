import type { Transaction } from '../../../platform/database/database.ts'
import { conflict } from '../../../platform/http/errors.ts'
import type { Actor } from '../../actor.ts'
import { auditPerson } from '../../audit/audit.ts'
import { lockPerson } from '../../members/person-queries.ts'
import type { BetterAuth } from '../better-auth.ts'
import { isPassword, personOf } from '../passwords.ts'
import { findPasswords } from '../queries.ts'
import { sessionCookie } from '../session-cookie.ts'
import { findPasswordsOfSession, passwordOf, scopeOfSession } from '../session-scope.ts'
import { cookiesOf, headersOf, tooManyCodes, wrongCode, wrongProof } from '../context.ts'
import type { SignInContext, BrowserRequest } from '../context.ts'
import { limitProof } from '../throttle.ts'
import * as queries from './queries.ts'
import { totpStepOf } from './totp.ts'

/** Marks a correct code as used. Throws when it was used before, which rolls back the session that it began. */
export const useTotpCode = async (db: Transaction, auth: BetterAuth, userId: string, code: string): Promise<void> => {
  const factor = await queries.findTwoFactor(db, userId, auth.currentScope())
  const step = factor && totpStepOf(await auth.decrypt(factor.secret), code)
  if (!factor || step === undefined || (await queries.useTotpStep(db, factor.id, step)) === 0) throw wrongCode
}

/**
 * Whether the code is correct and unused; then it is marked as used. Wrong codes are counted. Codes that arrive at the
 * same time are compared one after another, so that no more than ten of them are.
 */
export const isTotpCode = async (context: SignInContext, factorId: string, code: string): Promise<boolean> => {
  const auth = await context.open()
  return context.db.transaction('all orgs', async (db) => {
    const factor = await queries.lockTwoFactor(db, factorId)
    if (!factor) return false
    if (factor.isLocked) throw tooManyCodes
    const step = totpStepOf(await auth.decrypt(factor.secret), code)
    if (step !== undefined) return (await queries.useTotpStep(db, factorId, step)) > 0
    await queries.countWrongTotp(db, factorId)
    return false
  })
}

export interface TwoFactorSecret {
  /** base32 */
  secret: string
  otpauthUri: string
  backupCodes: string[]
}

/**
 * Creates a TOTP secret and backup codes. The second factor is off until its first code is confirmed, and has the scope of
 * the session's password.
 */
export const beginTwoFactor = async (
  context: SignInContext,
  actor: Actor,
  password: string,
  request: BrowserRequest,
): Promise<TwoFactorSecret> => {
  const { own: before } = await findPasswordsOfSession(context, actor.userId, request)
  const isOwn = await limitProof(context, actor, () =>
    isPassword(password, before?.passwordHash, personOf(actor.userId)),
  )
  if (!before || !isOwn) throw wrongProof
  return context.transaction(async (db, auth) => {
    const own = passwordOf(await findPasswords(db, actor.userId), await scopeOfSession(auth, request))
    if (!own) throw wrongProof
    auth.setScope(own.orgScope)
    // Better Auth rejects a password that was changed while it was compared.
    auth.setHashes({ provenHash: before.passwordHash })
    const answer = await auth.api.enableTwoFactor({
      body: { password, method: 'totp' },
      headers: headersOf(request, sessionCookie),
    })
    if (answer.method !== 'totp') throw new Error('Better Auth began a second factor other than TOTP')
    const secret = new URL(answer.totpURI).searchParams.get('secret')
    if (secret === null) throw new Error('Better Auth returned a TOTP URI without a secret')
    return { secret, otpauthUri: answer.totpURI, backupCodes: answer.backupCodes }
  })
}

/**
 * Turns the second factor on with its first code. Returns the cookies of the session, which is replaced. CONFLICT when it
 * is on already: Better Auth would accept any further code, and the audit log would say that it was turned on again.
 */
export const confirmTwoFactor = (
  context: SignInContext,
  actor: Actor,
  code: string,
  request: BrowserRequest,
): Promise<string[]> =>
  context.transaction(async (db, auth) => {
    // Of several requests at the same time, only the first turns it on.
    await lockPerson(db, actor.userId)
    const factor = await queries.findTwoFactor(db, actor.userId, await scopeOfSession(auth, request))
    if (factor?.isVerified) throw conflict('Two-factor authentication is already on.')
    const { headers } = await auth.api.verifyTOTP({
      body: { code },
      headers: headersOf(request, sessionCookie),
      returnHeaders: true,
    })
    await useTotpCode(db, auth, actor.userId, code)
    const orgScope = auth.currentScope()
    await auditPerson(db, actor.userId, 'user.two-factor-enabled', { origin: request.origin, orgScope })
    return cookiesOf(headers, request)
  })

/** Turns off the second factor of this org. The caller has stepped up. */
export const removeTwoFactor = ({ db }: SignInContext, actor: Actor): Promise<void> =>
  // The audit log of every org in its scope gets an entry.
  db.transaction('all orgs', async (db) => {
    const removed = await queries.deleteTwoFactor(db, actor.userId, actor.orgId)
    if (!removed) throw conflict('Two-factor authentication is not on.')
    const { orgScope } = removed
    await auditPerson(db, actor.userId, 'user.two-factor-removed', { origin: actor.origin, orgScope })
  })
