import { hash, randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'

/** The environment segment of an API key: a key of one environment is rejected in another. */
export type KeyEnvironment = 'live' | 'dev' | 'test'

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const randomBytesLength = 32
const randomLength = 43 // 62^43 > 2^256
const checksumLength = 6 // 62^6 > 2^32

const base62 = (value: bigint, length: number): string => {
  let digits = ''
  for (let rest = value; rest > 0n; rest /= 62n) digits = alphabet.charAt(Number(rest % 62n)) + digits
  return digits.padStart(length, '0')
}

/** The last six characters of a key. Runs at every request, so it avoids bigint: 32 bits fit into a double. */
export const checksum = (text: string): string => {
  let digits = ''
  for (let rest = crc32(text); digits.length < checksumLength; rest = Math.floor(rest / 62)) {
    digits = alphabet.charAt(rest % 62) + digits
  }
  return digits
}

const keyPrefix = 'atr_'
const tokenPrefix = 'ata_'

const generate = (prefix: string, random: Buffer): string => {
  const body = prefix + base62(BigInt(`0x${random.toString('hex')}`), randomLength)
  return body + checksum(body)
}

/**
 * A new API key: `atr_<env>_`, 32 random bytes as one big-endian number in base62 (0-9, A-Z, a-z) padded to 43
 * characters, then the CRC-32 of everything before it in base62 padded to 6.
 */
export const generateKey = (environment: KeyEnvironment, random: Buffer = randomBytes(randomBytesLength)): string =>
  generate(`${keyPrefix}${environment}_`, random)

/** A new access token of an authorized app: an API key with another prefix. */
export const generateAccessToken = (environment: KeyEnvironment): string =>
  generate(`${tokenPrefix}${environment}_`, randomBytes(randomBytesLength))

/** Whether the text has the prefix of access tokens, which are valid for fewer routes than API keys. */
export const isAccessToken = (text: string): boolean => text.startsWith(tokenPrefix)

/** Whether the text is a key or access token of this environment with a valid checksum. It need not exist. */
export const isWellFormedKey = (text: string, environment: KeyEnvironment): boolean => {
  const prefix = `${isAccessToken(text) ? tokenPrefix : keyPrefix}${environment}_`
  if (text.length !== prefix.length + randomLength + checksumLength || !text.startsWith(prefix)) return false
  const body = text.slice(0, -checksumLength)
  for (let i = prefix.length; i < text.length; i++) {
    const code = text.charCodeAt(i)
    const isAlphanumeric = (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || (code >= 97 && code <= 122)
    if (!isAlphanumeric) return false
  }
  return checksum(body) === text.slice(-checksumLength)
}

/** The stored hash of a key. A fast hash is enough, because a key with 256 random bits cannot be guessed. */
export const hashKey = (key: string): Buffer => hash('sha256', key, 'buffer')

/** The same hash in hexadecimal. */
export const hexHashOfKey = (key: string): string => hash('sha256', key)
