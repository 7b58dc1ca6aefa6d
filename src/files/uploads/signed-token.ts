import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'

/** One configured encryption key; the first of several is the current one. */
export interface SigningKey {
  id: string
  key: Buffer
}

export type TokenOperation = 'put' | 'get'

/** All that a signed URL says. Nothing in it is secret, none of it can be changed by who holds it. */
export interface TokenClaims {
  op: TokenOperation
  orgId: string
  fileId: string
  contentType: string
  sizeBytes: number
  /** What `Content-Disposition` will say; empty for a put. */
  disposition: string
  /** Exact to the second. The token is good until then, that second excluded. */
  expiresAt: Date
}

// A payload is a few hundred bytes; a name of 255 characters in a disposition makes it 4 KB at most.
const longestToken = 8_192

// A key for each operation: even a fault in the check of `op` could not turn a download into an upload.
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
  // As text: two of the bits of base64url's last character mean nothing, and must not be free to change.
  Buffer.from(createHmac('sha256', deriveKey(key, op)).update(signed).digest('base64url'), 'latin1')

/** `v1.<payload>.<HMAC-SHA256>`, both base64url, signed with the first key. */
export const signToken = (keys: readonly SigningKey[], claims: TokenClaims): string => {
  const [current] = keys
  if (!current) throw new TypeError('there is no key to sign with')
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
 * for anything else, without telling what is wrong with it.
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
