import { createHash, createHmac, timingSafeEqual } from 'node:crypto'

/** A request that claims to be signed. */
export interface SignedRequest {
  /** By lower-case names, as Node provides them. */
  headers: Readonly<Record<string, string | string[] | undefined>>
  /** The raw bytes: a body that was parsed and serialized again has another signature. */
  body: Buffer
  /** The time that timestamps are compared with, in milliseconds since 1970. */
  nowMs: number
}

/** The reason is for the owner of the secret and must not be sent to the caller. */
export type SignatureVerdict =
  | {
      valid: true
      /** The signature covers the event's id, so a replayed request cannot carry another id. */
      signsId?: true
    }
  | { valid: false; reason: string }

export const accepted: SignatureVerdict = { valid: true }
export const rejected = (reason: string): SignatureVerdict => ({ valid: false, reason })

/** The signature is well formed but does not match. */
export const mismatch = rejected(
  'The signature does not match: it was made with another secret, or the body was altered after it was signed.',
)

export const missing = (header: string): SignatureVerdict => rejected(`The header ${header} is missing.`)
export const malformed = (header: string, form: string): SignatureVerdict =>
  rejected(`The header ${header} is not of the form ${form}.`)

/** A header by name; repeated headers are joined with a comma, as Node does. Undefined if it is missing or empty. */
export const headerOf = (request: SignedRequest, name: string): string | undefined => {
  const value = request.headers[name.toLowerCase()]
  const text = Array.isArray(value) ? value.join(', ') : value
  return text === '' ? undefined : text
}

export const sha256 = (bytes: string | Uint8Array): Buffer => createHash('sha256').update(bytes).digest()

export const hmac = (algorithm: 'sha1' | 'sha256', key: string | Buffer, ...parts: (string | Buffer)[]): Buffer => {
  const mac = createHmac(algorithm, key)
  for (const part of parts) mac.update(part)
  return mac.digest()
}

/** Compares in constant time for equal lengths. */
export const isSame = (a: Uint8Array, b: Uint8Array): boolean => a.length === b.length && timingSafeEqual(a, b)

/** Undefined unless `text` is exactly `bytes` bytes in hexadecimal digits. */
export const fromHex = (text: string, bytes: number): Buffer | undefined =>
  text.length === bytes * 2 && /^[0-9a-f]*$/i.test(text) ? Buffer.from(text, 'hex') : undefined

/** Undefined unless `text` is exactly `bytes` bytes in canonical base64. */
export const fromBase64 = (text: string, bytes: number): Buffer | undefined => {
  const decoded = Buffer.from(text, 'base64')
  return decoded.length === bytes && decoded.toString('base64') === text ? decoded : undefined
}

/** The bytes of a header value. Node decodes headers as Latin-1; a value from a JSON body can be any text. */
export const bytesOfHeader = (value: string): Buffer =>
  // oxlint-disable-next-line no-control-regex -- the range is that of all single bytes
  Buffer.from(value, /^[\u0000-\u00ff]*$/.test(value) ? 'latin1' : 'utf8')

/** A verdict if the timestamp (seconds since 1970) is too far from now; undefined if it is fresh. */
export const staleness = (
  name: string,
  timestamp: number,
  { nowMs, toleranceSeconds }: { nowMs: number; toleranceSeconds: number },
): SignatureVerdict | undefined => {
  const ageSeconds = Math.round(nowMs / 1_000 - timestamp)
  if (ageSeconds > toleranceSeconds) {
    return rejected(`The request is stale: ${name} is ${ageSeconds} s old, more than ${toleranceSeconds} s.`)
  }
  if (-ageSeconds > toleranceSeconds) {
    return rejected(`${name} is ${-ageSeconds} s in the future, more than ${toleranceSeconds} s. Check the clocks.`)
  }
  return undefined
}

/** Seconds since 1970; undefined unless they are 1 to 11 digits. */
export const parseSeconds = (text: string): number | undefined => (/^\d{1,11}$/.test(text) ? Number(text) : undefined)
