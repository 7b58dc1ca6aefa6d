import {
  accepted,
  fromBase64,
  headerOf,
  hmac,
  isSame,
  malformed,
  mismatch,
  missing,
  parseSeconds,
  staleness,
} from './signed-request.ts'
import type { SignedRequest, SignatureVerdict } from './signed-request.ts'

// https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md

const prefix = 'whsec_'
const toleranceSeconds = 300

/** The key of a secret `whsec_<base64 of 24 to 64 bytes>`; undefined for any other text. */
export const standardKey = (secret: string): Buffer | undefined => {
  if (!secret.startsWith(prefix)) return undefined
  const encoded = secret.slice(prefix.length)
  const key = Buffer.from(encoded, 'base64')
  return key.length >= 24 && key.length <= 64 && key.toString('base64') === encoded ? key : undefined
}

export const standardSecret = (key: Buffer): string => prefix + key.toString('base64')

const signatureOf = (key: Buffer, id: string, timestamp: string, body: Buffer): Buffer =>
  hmac('sha256', key, `${id}.${timestamp}.`, body)

/** The three headers of a signed request. The id must be the same on every attempt. */
export const signStandardWebhook = (key: Buffer, id: string, body: Buffer, nowMs: number): Record<string, string> => {
  const timestamp = String(Math.floor(nowMs / 1_000))
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${signatureOf(key, id, timestamp, body).toString('base64')}`,
  }
}

/**
 * The spelling of the three headers in a request: that of its signature, if it has one. Svix sends `svix-id`, `svix-timestamp` and
 * `svix-signature` (https://docs.svix.com/receiving/verifying-payloads/how-manual). The other spelling is then ignored,
 * so that no header of one set counts for the signature of the other.
 */
const spellingOf = (request: SignedRequest): 'webhook' | 'svix' => {
  if (headerOf(request, 'webhook-signature') !== undefined) return 'webhook'
  const isSvix = ['svix-signature', 'svix-timestamp', 'svix-id'].some((name) => headerOf(request, name) !== undefined)
  return isSvix ? 'svix' : 'webhook'
}

/** The id that the signature of a request covers. */
export const standardIdOf = (request: SignedRequest): string | undefined =>
  headerOf(request, `${spellingOf(request)}-id`)

/** Accepts a request if any of its `v1` signatures matches: a sender that rotates its secret sends two. */
export const verifyStandardWebhook = (request: SignedRequest, key: Buffer): SignatureVerdict => {
  const spelling = spellingOf(request)
  const id = headerOf(request, `${spelling}-id`)
  const timestamp = headerOf(request, `${spelling}-timestamp`)
  const signatures = headerOf(request, `${spelling}-signature`)
  if (id === undefined) return missing(`${spelling}-id`)
  if (timestamp === undefined) return missing(`${spelling}-timestamp`)
  if (signatures === undefined) return missing(`${spelling}-signature`)
  const seconds = parseSeconds(timestamp)
  if (seconds === undefined) return malformed(`${spelling}-timestamp`, '<seconds since 1970>')
  const given = signatures
    .split(' ')
    .map((one) => (one.startsWith('v1,') ? fromBase64(one.slice(3), 32) : undefined))
    .filter((one) => one !== undefined)
  if (given.length === 0) return malformed(`${spelling}-signature`, 'v1,<base64 of 32 bytes>')
  const expected = signatureOf(key, id, timestamp, request.body)
  if (!given.some((one) => isSame(one, expected))) return mismatch
  return staleness(`${spelling}-timestamp`, seconds, { nowMs: request.nowMs, toleranceSeconds }) ?? accepted
}
