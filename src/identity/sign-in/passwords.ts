import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto'
import type { Transaction } from '../../platform/database/database.ts'
import { newId } from '../../platform/ids.ts'
import * as queries from '../members/person-queries.ts'

// The format and the parameters of Better Auth: `<salt>:<key>` in hexadecimal, scrypt with N=16384, r=16, p=1, 64 bytes.
const parameters = { N: 16_384, r: 16, p: 1, maxmem: 64 * 1024 * 1024 }

const keyOf = (password: string, salt: string): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    scrypt(password.normalize('NFKC'), salt, 64, parameters, (error, key) => (error ? reject(error) : resolve(key)))
  })

const newSalt = (): string => randomBytes(16).toString('hex')

/** The salt of a stored password. All passwords of one person share it; see `rightPasswords`. */
export const saltOf = (hash: string | null | undefined): string | undefined => hash?.split(':')[0]

export const hashPassword = async (password: string, salt = newSalt()): Promise<string> =>
  `${salt}:${(await keyOf(password, salt)).toString('hex')}`

const matches = (hash: string, key: Buffer): boolean => {
  const stored = Buffer.from(hash.split(':')[1] ?? '', 'hex')
  return stored.length === key.length && timingSafeEqual(stored, key)
}

/**
 * Those of a person's stored passwords that this is. A person has one for each org scope, all with the same salt, so
 * that one hash (60 ms) is compared with all of them: an attempt costs the same time for nobody, for a person without a
 * password and for one with ten, and tells none of them apart.
 */
export const rightPasswords = async <Row extends { passwordHash: string }>(
  password: string,
  rows: readonly Row[],
): Promise<Row[]> => {
  const salts = new Set(rows.map(({ passwordHash }) => saltOf(passwordHash) ?? ''))
  const keys = await Promise.all(
    (salts.size === 0 ? [newSalt()] : [...salts]).map(async (salt) => [salt, await keyOf(password, salt)] as const),
  )
  const keyOfSalt = new Map(keys)
  return rows.filter(({ passwordHash }) => {
    const key = keyOfSalt.get(saltOf(passwordHash) ?? '')
    return key !== undefined && matches(passwordHash, key)
  })
}

/** Takes as long for a person without a password, or for nobody, as for a wrong password. */
export const isPassword = async (password: string, hash: string | null | undefined): Promise<boolean> =>
  (await rightPasswords(password, hash ? [{ passwordHash: hash }] : [])).length > 0

/**
 * Sets the password by its hash, for all orgs of the person. It replaces the passwords and second factors that were set
 * up for some orgs only, and ends whatever the old ones had opened: all sessions and step-up tokens.
 */
export const setPassword = async (db: Transaction, userId: string, hash: string): Promise<void> => {
  await queries.lockPerson(db, userId)
  await queries.deleteNarrowerProofs(db, userId, null)
  await queries.upsertPassword(db, newId(), userId, hash)
  await queries.deleteSessions(db, userId)
  await queries.deleteStepUpTokens(db, userId, null)
}
