import type { AtriumEvent } from './types.ts'

/** A request that claims to come from Atrium. */
export interface SignedRequest {
  /** The body as it was received. JSON that was parsed and serialized again has another signature. */
  body: string | Uint8Array
  headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>
}

export interface VerifyOptions {
  /** How far `webhook-timestamp` may be from now, in seconds. Default 300. */
  toleranceSeconds?: number | undefined
  /** Replaces the clock, in milliseconds since 1970. */
  nowMs?: number | undefined
}

export interface VerifiedWebhook {
  /** ID of the event, the same on every attempt. Store it to ignore repetitions. */
  id: string
  /** When the request was signed, in seconds since 1970. */
  timestamp: number
}

/** The signature is missing, malformed, stale or wrong. Respond with 400 or 401, and do not process the request. */
export class WebhookVerificationError extends Error {
  override readonly name = 'WebhookVerificationError'
}

const prefix = 'whsec_'
/** Beyond any sender's number of secrets; without a limit, a long header would cost time. */
const maxSignatures = 16

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)

const fromBase64 = (text: string): Uint8Array | undefined => {
  try {
    return Uint8Array.from(atob(text), (char) => char.charCodeAt(0))
  } catch {
    return undefined
  }
}

/** The key of a secret: the bytes behind `whsec_` if they are 24–64, otherwise the bytes of the text. */
const keyOf = (secret: string): Uint8Array => {
  const key = secret.startsWith(prefix) ? fromBase64(secret.slice(prefix.length)) : undefined
  return key && key.length >= 24 && key.length <= 64 ? key : bytesOf(secret)
}

const headerOf = ({ headers }: SignedRequest, name: string): string => {
  const value =
    headers instanceof Headers
      ? headers.get(name)
      : Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1]
  const text = typeof value === 'string' ? value : value?.join(' ')
  if (text === undefined || text === '') throw new WebhookVerificationError(`The header ${name} is missing.`)
  return text
}

const joined = (first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> => {
  const all = new Uint8Array(first.length + second.length)
  all.set(first)
  all.set(second, first.length)
  return all
}

const signatureOf = async (secret: string, content: Uint8Array<ArrayBuffer>): Promise<Uint8Array> => {
  const key = joined(keyOf(secret), new Uint8Array())
  const imported = await crypto.subtle.importKey('raw', key, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])
  return new Uint8Array(await crypto.subtle.sign('HMAC', imported, content))
}

/** Compares every byte, so that the time does not tell how many bytes are right. */
const isSame = (a: Uint8Array, b: Uint8Array): boolean => {
  if (a.length !== b.length) return false
  let difference = 0
  for (const [i, byte] of a.entries()) difference |= byte ^ (b[i] ?? 0)
  return difference === 0
}

/** The `v1` signatures of a header. Others, such as those of public keys (`v1a`), are ignored. */
const signaturesIn = (header: string): Uint8Array[] =>
  header
    .split(' ', maxSignatures)
    .filter((one) => one.startsWith('v1,'))
    .map((one) => fromBase64(one.slice(3)))
    .filter((one) => one?.length === 32) as Uint8Array[]

/**
 * Verifies the signature of a request by Standard Webhooks (https://www.standardwebhooks.com): of a delivery to an event
 * endpoint, or of an event that a webhook forwards. Pass the old and the new secret while you rotate it; one signature
 * of one secret is enough. Rejects with a WebhookVerificationError. Uses WebCrypto, which browsers have on https pages.
 */
export const verifyWebhook = async (
  request: SignedRequest,
  secrets: string | readonly string[],
  { toleranceSeconds = 300, nowMs = Date.now() }: VerifyOptions = {},
): Promise<VerifiedWebhook> => {
  const id = headerOf(request, 'webhook-id')
  const stamp = headerOf(request, 'webhook-timestamp')
  const given = signaturesIn(headerOf(request, 'webhook-signature'))
  if (!/^\d{1,11}$/.test(stamp)) {
    throw new WebhookVerificationError('The header webhook-timestamp is not in seconds since 1970.')
  }
  const accepted = [secrets].flat().filter((secret) => secret !== '')
  if (accepted.length === 0) throw new TypeError('secrets is empty')
  const timestamp = Number(stamp)
  const ageSeconds = Math.round(nowMs / 1_000 - timestamp)
  if (Math.abs(ageSeconds) > toleranceSeconds) {
    throw new WebhookVerificationError(`The request is ${ageSeconds} s old; the limit is ${toleranceSeconds} s.`)
  }
  const body = typeof request.body === 'string' ? bytesOf(request.body) : request.body
  const content = joined(bytesOf(`${id}.${stamp}.`), body)
  const expected = await Promise.all(accepted.map((secret) => signatureOf(secret, content)))
  if (!expected.some((one) => given.some((other) => isSame(one, other)))) {
    throw new WebhookVerificationError(
      'The signature does not match: the secret is another one, or the body was changed.',
    )
  }
  return { id, timestamp }
}

/**
 * Verifies a delivery to an event endpoint and resolves with its event; `type` tells the fields of `data`. Not for
 * endpoints with a transform, whose body is its result: use `verifyWebhook`.
 */
export const verifyEvent = async (
  request: SignedRequest,
  secrets: string | readonly string[],
  options?: VerifyOptions,
): Promise<AtriumEvent> => {
  await verifyWebhook(request, secrets, options)
  const { body } = request
  return JSON.parse(typeof body === 'string' ? body : new TextDecoder().decode(body)) as AtriumEvent
}
