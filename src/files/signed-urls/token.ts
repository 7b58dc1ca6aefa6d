import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'

/** A configured encryption key. The first of a list signs; all verify. */
export interface SigningKey {
  id: string
  key: Buffer
}

export type TokenOperation = 'put' | 'get'

/** The claims of a signed URL. Anyone with the URL can read them but not change them. */
export interface TokenClaims {
  op: TokenOperation
  orgId: string
  fileId: string
  contentType: string
  sizeBytes: number
  /** The value of `Content-Disposition`; empty for a put. */
  disposition: string
  /** Whole seconds. The token is valid before this time. */
  expiresAt: Date
}

// A payload has a few hundred bytes, and at most 4 KB with a disposition of a name of 255 characters.
const longestToken = 8_192

// One key per operation: even a bug in the check of `op` could not turn a download token into an upload token.
const derived = new WeakMap<Buffer, Record<TokenOperation, Buffer>>()
const deriveKey = (key: Buffer, op: TokenOperation): Buffer => {
  let keys = derived.get(key)
  if (!keys) {
    const derive = (op: TokenOperation): Buffer =>
      Buffer.from(hkdfSync('sha256', key, '', `atrium file token v1 ${op}`, 32))
    keys = { put: derive('put'), get: derive('get') }
    derived.set(key, keys)
  }
  return keys[op]
}

const macOf = (key: Buffer, op: TokenOperation, signed: string): Buffer =>
  // Compared as text, because two bits of base64url's last character are unused and could be changed otherwise.
  Buffer.from(createHmac('sha256', deriveKey(key, op)).update(signed).digest('base64url'), 'latin1')

/** `v1.<payload>.<HMAC-SHA256>`, payload and MAC in base64url, signed with the first key. */
export const signToken = (keys: readonly SigningKey[], claims: TokenClaims): string => {
  const [current] = keys
  if (!current) throw new TypeError('no signing key is configured')
  const { op, orgId, fileId, contentType, sizeBytes, disposition, expiresAt } = claims
  const expires = Math.floor(expiresAt.getTime() / 1000)
  const payload = JSON.stringify([op, orgId, fileId, contentType, sizeBytes, disposition, expires])
  const signed = `v1.${Buffer.from(payload).toString('base64url')}`
  return `${signed}.${macOf(current.key, op, signed).toString('latin1')}`
}

const parsePayload = (encoded: string): TokenClaims => {
  const [op, orgId, fileId, contentType, sizeBytes, disposition, expires] = JSON.parse(
    Buffer.from(encoded, 'base64url').toString(),
  ) as [TokenOperation, string, string, string, number, string, number]
  return { op, orgId, fileId, contentType, sizeBytes, disposition, expiresAt: new Date(expires * 1000) }
}

/**
 * The claims of a token that one of the keys signed for this operation and that has not expired at `now`; undefined
 * for any other token, without the reason.
 */
export const verifyToken = (
  keys: readonly SigningKey[],
  token: string,
  op: TokenOperation,
  now: Date,
): TokenClaims | undefined => {
  if (token.length > longestToken) return undefined
  const [version, encoded, given, ...rest] = token.split('.')
  if (version !== 'v1' || encoded === undefined || given === undefined || rest.length > 0) return undefined
  const mac = Buffer.from(given, 'utf8')
  const isRight = keys.some(({ key }) => {
    const expected = macOf(key, op, `v1.${encoded}`)
    return expected.length === mac.length && timingSafeEqual(expected, mac)
  })
  if (!isRight) return undefined
  const claims = parsePayload(encoded)
  return claims.op === op && now < claims.expiresAt ? claims : undefined
}
