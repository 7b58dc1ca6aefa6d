import { createHash, createHmac, timingSafeEqual } from 'node:crypto'

/** A request that claims to come from a provider. */
export interface SignedRequest {
  /** By names in lower case, as Node hands them over. */
  headers: Readonly<Record<string, string | string[] | undefined>>
  /** The bytes as they came: a body that was parsed and written again is another one. */
  body: Buffer
  /** The clock that stamps are compared with, in milliseconds. */
  nowMs: number
}

/** The reason is for the owner of the secret, never for the caller: it tells what to correct. */
export type Verdict =
  | {
      valid: true
      /** The event's id is part of what was signed: nobody who repeats the request can give it another one. */
      signsId?: true
    }
  | { valid: false; reason: string }

export const accepted: Verdict = { valid: true }
export const rejected = (reason: string): Verdict => ({ valid: false, reason })

/** The signature is well-formed and does not fit. */
export const mismatch = rejected(
  'The signature does not match: it was made with another secret, or the body was altered after it was signed.',
)

export const missing = (header: string): Verdict => rejected(`The header ${header} is missing.`)
export const malformed = (header: string, form: string): Verdict =>
  rejected(`The header ${header} is not of the form ${form}.`)

/** One header; a list of several is joined like Node joins those that it does not know. */
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

/** Compares in a time that depends on the lengths alone. */
export const isSame = (a: Uint8Array, b: Uint8Array): boolean => a.length === b.length && timingSafeEqual(a, b)

/** Undefined unless it is exactly that many bytes in hexadecimal digits. */
export const fromHex = (text: string, bytes: number): Buffer | undefined =>
  text.length === bytes * 2 && /^[0-9a-f]*$/i.test(text) ? Buffer.from(text, 'hex') : undefined

/** Undefined unless it is exactly that many bytes in base64, written the one right way. */
export const fromBase64 = (text: string, bytes: number): Buffer | undefined => {
  const decoded = Buffer.from(text, 'base64')
  return decoded.length === bytes && decoded.toString('base64') === text ? decoded : undefined
}

/** Header values are bytes that Node shows as one character each; what came from elsewhere is UTF-8. */
export const bytesOfHeader = (value: string): Buffer =>
  // oxlint-disable-next-line no-control-regex -- the range is that of all single bytes
  Buffer.from(value, /^[\u0000-\u00ff]*$/.test(value) ? 'latin1' : 'utf8')

/** A verdict when the stamp is not one, or too far from now; undefined when it is fresh. */
export const staleness = (
  name: string,
  stamp: number,
  { nowMs, toleranceSeconds }: { nowMs: number; toleranceSeconds: number },
): Verdict | undefined => {
  const ageSeconds = Math.round(nowMs / 1_000 - stamp)
  if (ageSeconds > toleranceSeconds) {
    return rejected(`The request is stale: ${name} is ${ageSeconds} s old, more than ${toleranceSeconds} s.`)
  }
  if (-ageSeconds > toleranceSeconds) {
    return rejected(`${name} is ${-ageSeconds} s in the future, more than ${toleranceSeconds} s. Check the clocks.`)
  }
  return undefined
}

/** Seconds since 1970; undefined for anything but plain digits. */
export const parseSeconds = (text: string): number | undefined => (/^\d{1,11}$/.test(text) ? Number(text) : undefined)
