import type { Actor } from '../../identity/actor.ts'
import { addressGroup } from '../../platform/http/limits/network.ts'
import type { Db } from '../../platform/database/database.ts'
import { tooManyRequests } from '../../platform/http/errors.ts'
import { hashPassword, isPassword, shares } from '../../identity/sign-in/passwords.ts'
import { limitGuesses } from '../../identity/sign-in/throttle.ts'
import { createFairQueue } from '../../platform/process/fair-queue.ts'
import { busy, createQueue } from '../preview/queue.ts'
import * as queries from './queries.ts'
import type { OpenShare } from './queries.ts'
import { Rejection, texts } from './texts.ts'

export const maxPasswordLength = 128

/** Hashes the password of a new or changed share. */
export type HashPassword = (password: string) => Promise<string>

/** The hashes of passwords of shares in this process. */
export interface ShareHashes {
  /** Throws SERVICE_UNAVAILABLE when too many are waiting. */
  hash(actor: Pick<Actor, 'orgId' | 'userId'>, password: string): Promise<string>
  /** Whether a visitor's password is right. Throws SERVICE_UNAVAILABLE as well, and TOO_MANY_REQUESTS after many wrong ones. */
  isRight(
    db: Db,
    share: OpenShare & { passwordHash: string },
    guess: { password: string; ip: string },
  ): Promise<boolean>
}

/** Wrong passwords from one address before it must wait, and from all addresses together in an hour. */
const guessesOfAddress = 10
const guessesOfShare = 1_000

/** How many hashes may wait for the people of an org, and as many for its visitors. At most three are of one of them. */
const waitingOfOrg = 5
/** How many visitors of all shares may wait in this process. */
const maxVisitors = 1_000

const countGuess = async (db: Db, share: OpenShare): Promise<void> => {
  await queries.forgetAttempts(db, share)
  if ((await queries.takeAttempt(db, share, guessesOfShare)) > 0) return
  const { seconds } = (await queries.attemptsEnd(db, share)) ?? { seconds: 3_600 }
  throw tooManyRequests(texts.en.rejections.attempts, {
    cause: new Rejection('attempts'),
    headers: { 'retry-after': String(seconds) },
  })
}

const guess = async (
  db: Db,
  share: OpenShare & { passwordHash: string },
  { password, ip }: { password: string; ip: string },
): Promise<boolean> => {
  await countGuess(db, share)
  // Neither a right password nor an address that must wait brings the share closer to its limit.
  let isWrong = false
  try {
    const attempt = { subject: `share ${share.id}`, source: `address ${addressGroup(ip)}` }
    return await limitGuesses(db, attempt, guessesOfAddress, async () => {
      isWrong = [...password].length > maxPasswordLength || !(await isPassword(password, share.passwordHash, shares))
      return !isWrong
    })
  } finally {
    if (!isWrong) await queries.returnAttempt(db, share)
  }
}

/**
 * A hash occupies one of the four threads of a process for 60 ms, which all its requests need for files and host names. So
 * one is calculated at a time, in turns between orgs, between the people and the visitors of an org, and among each by
 * person or share. A share has one place there, for which its visitors wait in turns by address: guesses from many
 * addresses do not keep the visitors of other shares out.
 */
export const createShareHashes = (): ShareHashes => {
  const what = 'passwords of shares are being checked'
  const queue = createQueue({ running: 1, maxWaitingPerOrg: waitingOfOrg, what })
  const visitors = createFairQueue({
    running: Number.MAX_SAFE_INTEGER,
    runningPerGroup: 1,
    waiting: maxVisitors,
    waitingPerGroup: waitingOfOrg,
    waitingPerMember: Math.ceil(waitingOfOrg / 2),
    busy: () => busy(what),
  })
  return {
    hash: ({ orgId, userId }, password) =>
      queue.run(() => hashPassword(password, shares), { group: `people of ${orgId}`, member: userId }),
    isRight: (db, share, given) =>
      visitors.run(
        () => queue.run(() => guess(db, share, given), { group: `visitors of ${share.orgId}`, member: share.id }),
        { group: share.id, member: addressGroup(given.ip) },
      ),
  }
}
