import { createHash, createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto'
import type { SigningKey } from '../signed-urls/token.ts'

const idBytes = 16
const secretBytes = 24
const tokenLength = Math.ceil(((idBytes + secretBytes) * 4) / 3)

const hashOf = (token: string): Buffer => createHash('sha256').update(token).digest()

export interface NewToken {
  token: string
  hash: Buffer
}

/**
 * A new token: the id of the org and 24 random bytes, in base64url. With the org in it, the share is found without asking
 * every org.
 */
export const newToken = (orgId: string): NewToken => {
  const org = Buffer.from(orgId.replaceAll('-', ''), 'hex')
  const token = Buffer.concat([org, randomBytes(secretBytes)]).toString('base64url')
  return { token, hash: hashOf(token) }
}

/** The org and the hash of a token; undefined when it cannot be one. */
export const readToken = (token: string): { orgId: string; hash: Buffer } | undefined => {
  if (token.length !== tokenLength || !/^[\w-]+$/.test(token)) return undefined
  const hex = Buffer.from(token, 'base64url').toString('hex', 0, idBytes)
  const orgId = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
  return { orgId, hash: hashOf(token) }
}

/** How long a visitor who has entered the password may use the share. */
const accessSeconds = 3_600

/** What the proof of a password depends on: another password makes it invalid. */
export interface Protected {
  id: string
  passwordHash: string
}

const macOf = ({ key }: SigningKey, { id, passwordHash }: Protected, expires: number): Buffer => {
  const derived = Buffer.from(hkdfSync('sha256', key, '', 'atrium share access v1', 32))
  return createHmac('sha256', derived).update(`${id} ${passwordHash} ${expires}`).digest()
}

/** The proof that a visitor has entered the password of a share, valid for an hour, signed with the first key. */
export const signAccess = (keys: readonly SigningKey[], share: Protected, now = Date.now()): string => {
  const [current] = keys
  if (!current) throw new TypeError('no signing key is configured')
  const expires = Math.floor(now / 1_000) + accessSeconds
  return `${expires}.${macOf(current, share, expires).toString('base64url')}`
}

export const isAccess = (
  keys: readonly SigningKey[],
  share: Protected,
  access: string | undefined,
  now = Date.now(),
): boolean => {
  const [, text = '', mac = ''] = /^(\d{1,12})\.([\w-]{43})$/.exec(access ?? '') ?? []
  const expires = Number(text)
  if (text === '' || expires <= now / 1_000) return false
  const given = Buffer.from(mac, 'base64url')
  return keys.some((key) => {
    const expected = macOf(key, share, expires)
    return expected.length === given.length && timingSafeEqual(expected, given)
  })
}
