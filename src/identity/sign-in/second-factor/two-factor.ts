import type { Transaction } from '../../../platform/database/database.ts'
import { conflict } from '../../../platform/http/errors.ts'
import type { Actor } from '../../actor.ts'
import { auditPerson } from '../../audit/audit.ts'
import type { AuthLibrary } from '../auth-library.ts'
import * as queries from '../../members/person-queries.ts'
import { sessionCookie } from '../session-cookie.ts'
import { passwordOf, reachOfSession } from '../session-scope.ts'
import { cookiesOf, headersOf, tooManyCodes, wrongCode, wrongProof } from '../sign-in-library.ts'
import type { SignInLibrary, Visit } from '../sign-in-library.ts'
import { guardProof } from '../throttle.ts'
import { totpStepOf } from './totp.ts'

/** Takes a right code out of circulation. Throws, and so undoes what it opened, when it was used before. */
export const useTotpCode = async (
  db: Transaction,
  library: AuthLibrary,
  userId: string,
  code: string,
): Promise<void> => {
  const factor = await queries.findTwoFactor(db, userId, library.reachNow())
  const step = factor && totpStepOf(await library.decrypt(factor.secret), code)
  if (!factor || step === undefined || (await queries.useTotpStep(db, factor.id, step)) === 0) throw wrongCode
}

/** Whether it is a code of the second factor, not used before; it is used up with that. Wrong codes are counted. */
export const isTotpCode = async (
  library: SignInLibrary,
  factor: queries.LockableFactorRow,
  code: string,
): Promise<boolean> => {
  if (factor.lockedUntil !== null) throw tooManyCodes
  const opened = await library.open()
  const step = totpStepOf(await opened.decrypt(factor.secret), code)
  if (step !== undefined) return (await queries.useTotpStep(library.db, factor.id, step)) > 0
  await queries.countWrongTotp(library.db, factor.id)
  return false
}

export interface TwoFactorSecret {
  /** base32 */
  secret: string
  otpauthUri: string
  backupCodes: string[]
}

/**
 * What the person's authenticator needs, and codes for the day it is lost. Nothing is on until it is confirmed. It is
 * asked for wherever the password is good that it goes with, and nowhere else.
 */
export const beginTwoFactor = async (
  library: SignInLibrary,
  actor: Actor,
  password: string,
  visit: Visit,
): Promise<TwoFactorSecret> => {
  let begun: TwoFactorSecret | undefined
  await guardProof(library, actor, async () => {
    begun = await library.transaction(async (db, auth) => {
      const own = passwordOf(await queries.findPasswords(db, actor.userId), await reachOfSession(auth, visit))
      if (!own) throw wrongProof
      auth.opening(own.reach)
      const answer = await auth.api.enableTwoFactor({
        body: { password, method: 'totp' },
        headers: headersOf(visit, sessionCookie),
      })
      if (answer.method !== 'totp') throw new Error('the library began another second factor than TOTP')
      const secret = new URL(answer.totpURI).searchParams.get('secret')
      if (secret === null) throw new Error('the library answered a TOTP address without a secret')
      return { secret, otpauthUri: answer.totpURI, backupCodes: answer.backupCodes }
    })
    return true
  })
  if (!begun) throw wrongProof
  return begun
}

/** Turns it on by a first code. The session is replaced: answers the cookies of the new one. */
export const confirmTwoFactor = (library: SignInLibrary, actor: Actor, code: string, visit: Visit): Promise<string[]> =>
  library.transaction(async (db, library) => {
    const { headers } = await library.api.verifyTOTP({
      body: { code },
      headers: headersOf(visit, sessionCookie),
      returnHeaders: true,
    })
    await useTotpCode(db, library, actor.userId, code)
    await auditPerson(db, actor.userId, 'user.two-factor-enabled', visit.origin, {}, library.reachNow())
    return cookiesOf(headers, visit)
  })

/** Turns off the one that this org asks for. The caller has stepped up. */
export const removeTwoFactor = ({ db }: SignInLibrary, actor: Actor): Promise<void> =>
  // Every org that it opened is told.
  db.transaction('all orgs', async (db) => {
    const removed = await queries.deleteTwoFactor(db, actor.userId, actor.orgId)
    if (!removed) throw conflict('Two-factor authentication is not on.')
    await auditPerson(db, actor.userId, 'user.two-factor-removed', actor.origin, {}, removed.reach)
  })
