import { createPublicKey, verify } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { accepted, fromHex, headerOf, malformed, missing, parseSeconds, rejected, staleness } from './signed-request.ts'
import type { SignedRequest, Verdict } from './signed-request.ts'

const signatureHeader = 'X-Signature-Ed25519'
const timestampHeader = 'X-Signature-Timestamp'
const toleranceSeconds = 300

/** The key of an application's public key, 64 hexadecimal digits; undefined when it is not one. */
export const discordKey = (publicKey: string): KeyObject | undefined => {
  const bytes = fromHex(publicKey, 32)
  if (!bytes) return undefined
  return createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: bytes.toString('base64url') }, format: 'jwk' })
}

/** https://docs.discord.com/developers/interactions/overview#setting-up-an-endpoint-validating-security-request-headers */
export const verifyDiscord = (request: SignedRequest, key: KeyObject): Verdict => {
  const timestamp = headerOf(request, timestampHeader)
  const signature = headerOf(request, signatureHeader)
  if (timestamp === undefined) return missing(timestampHeader)
  if (signature === undefined) return missing(signatureHeader)
  const stamp = parseSeconds(timestamp)
  if (stamp === undefined) return malformed(timestampHeader, '<seconds since 1970>')
  const given = fromHex(signature, 64)
  if (!given) return malformed(signatureHeader, '<128 hexadecimal digits>')
  if (!verify(null, Buffer.concat([Buffer.from(timestamp), request.body]), key, given)) {
    return rejected(
      'The signature does not match: the public key is that of another application, or the body was altered.',
    )
  }
  return staleness(timestampHeader, stamp, { nowMs: request.nowMs, toleranceSeconds }) ?? accepted
}
