import {
  accepted,
  fromHex,
  headerOf,
  hmac,
  isSame,
  malformed,
  mismatch,
  missing,
  parseSeconds,
  staleness,
} from './signed-request.ts'
import type { SignedRequest, Verdict } from './signed-request.ts'

const signatureHeader = 'X-Slack-Signature'
const timestampHeader = 'X-Slack-Request-Timestamp'
const toleranceSeconds = 300

/** https://docs.slack.dev/authentication/verifying-requests-from-slack */
export const verifySlack = (request: SignedRequest, secret: string): Verdict => {
  const timestamp = headerOf(request, timestampHeader)
  const signature = headerOf(request, signatureHeader)
  if (timestamp === undefined) return missing(timestampHeader)
  if (signature === undefined) return missing(signatureHeader)
  const stamp = parseSeconds(timestamp)
  if (stamp === undefined) return malformed(timestampHeader, '<seconds since 1970>')
  const given = signature.startsWith('v0=') ? fromHex(signature.slice(3), 32) : undefined
  if (!given) return malformed(signatureHeader, 'v0=<64 hexadecimal digits>')
  if (!isSame(given, hmac('sha256', secret, `v0:${timestamp}:`, request.body))) return mismatch
  return staleness(timestampHeader, stamp, { nowMs: request.nowMs, toleranceSeconds }) ?? accepted
}
