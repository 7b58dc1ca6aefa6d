import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto'
import type { Transaction } from '../../platform/database/database.ts'
import { serviceUnavailable } from '../../platform/http/errors.ts'
import { addressNetwork } from '../../platform/http/limits/network.ts'
import { newId } from '../../platform/ids.ts'
import { createFairQueue } from '../../platform/process/fair-queue.ts'
import type { WorkOf } from '../../platform/process/fair-queue.ts'
import { lockPerson } from '../members/person-queries.ts'
import * as queries from './queries.ts'
import { deleteStepUpTokens } from './second-factor/queries.ts'

// The format and the parameters of Better Auth: `<salt>:<key>` in hexadecimal, scrypt with N=16384, r=16, p=1, 64 bytes.
const parameters = { N: 16_384, r: 16, p: 1, maxmem: 64 * 1024 * 1024 }

const groups = ['strangers', 'people', 'shares', 'server'] as const

/** For whom a hash is calculated. Groups take turns, and so do the members of a group. */
export interface HashCaller extends WorkOf {
  group: (typeof groups)[number]
}

/** Someone who has proved nothing. An attacker has any number of addresses, but few networks. */
export const strangerAt = (ip: string): HashCaller => ({ group: 'strangers', member: `network ${addressNetwork(ip)}` })

/** A person who is signed in, or whose browser has signed in before. */
export const personOf = (userId: string): HashCaller => ({ group: 'people', member: userId })

/** Passwords of shares, which wait in a queue of their own: one of them is here at a time. */
export const shares: HashCaller = { group: 'shares' }

/** The command line and the first start. */
export const server: HashCaller = { group: 'server' }

const waitingPerGroup = 1_000

// A hash occupies one of the four threads that also read and write files: many attempts from many addresses must leave
// some of them free. Each group has waiting places of its own, so that strangers cannot keep people out.
const hashing = createFairQueue({
  running: 2,
  waiting: groups.length * waitingPerGroup,
  waitingPerGroup,
  waitingPerMember: 20,
  busy: () =>
    serviceUnavailable('Too many sign-ins right now. Try again shortly.', { headers: { 'retry-after': '5' } }),
})

const computeKey = (password: string, salt: string): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    scrypt(password.normalize('NFKC'), salt, 64, parameters, (error, key) => (error ? reject(error) : resolve(key)))
  })

const keyOf = (password: string, salt: string, caller: HashCaller): Promise<Buffer> =>
  hashing.run(() => computeKey(password, salt), caller)

const newSalt = (): string => randomBytes(16).toString('hex')

/** The salt of a stored password, which all passwords of a person share; see `rightPasswords`. */
export const saltOf = (hash: string | null | undefined): string | undefined => hash?.split(':')[0]

export const hashPassword = async (password: string, caller = server, salt = newSalt()): Promise<string> =>
  `${salt}:${(await keyOf(password, salt, caller)).toString('hex')}`

const matches = (hash: string, key: Buffer): boolean => {
  const stored = Buffer.from(hash.split(':')[1] ?? '', 'hex')
  return stored.length === key.length && timingSafeEqual(stored, key)
}

/**
 * The stored passwords of a person that equal `password`. A person has one per org scope, all with the same salt, so that
 * one hash (60 ms) is compared with all of them. An attempt takes the same time for an unknown person and for any number
 * of passwords, so its duration reveals neither.
 */
export const rightPasswords = async <Row extends { passwordHash: string }>(
  password: string,
  rows: readonly Row[],
  caller: HashCaller,
): Promise<Row[]> => {
  const salts = new Set(rows.map(({ passwordHash }) => saltOf(passwordHash) ?? ''))
  const keys = await Promise.all(
    (salts.size === 0 ? [newSalt()] : [...salts]).map(
      async (salt) => [salt, await keyOf(password, salt, caller)] as const,
    ),
  )
  const keyOfSalt = new Map(keys)
  return rows.filter(({ passwordHash }) => {
    const key = keyOfSalt.get(saltOf(passwordHash) ?? '')
    return key !== undefined && matches(passwordHash, key)
  })
}

/** Takes the same time without a stored password as with one. */
export const isPassword = async (
  password: string,
  hash: string | null | undefined,
  caller: HashCaller,
): Promise<boolean> => (await rightPasswords(password, hash ? [{ passwordHash: hash }] : [], caller)).length > 0

/**
 * Sets the password for all orgs of the person. It replaces the passwords and second factors of narrower scopes and ends
 * all sessions, sign-ins that wait for a code and step-up tokens.
 */
export const setPassword = async (db: Transaction, userId: string, hash: string): Promise<void> => {
  await lockPerson(db, userId)
  await queries.deleteNarrowerProofs(db, userId, null)
  await queries.upsertPassword(db, newId(), userId, hash)
  await queries.deleteSessions(db, userId)
  await queries.deleteChallenges(db, userId, null)
  await deleteStepUpTokens(db, userId, null)
}
