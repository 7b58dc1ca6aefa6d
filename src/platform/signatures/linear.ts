import {
  accepted,
  fromHex,
  headerOf,
  hmac,
  isSame,
  malformed,
  mismatch,
  missing,
  rejected,
  staleness,
} from './signed-request.ts'
import type { SignedRequest, Verdict } from './signed-request.ts'

const header = 'Linear-Signature'
/** What Linear advises. */
const vendorToleranceSeconds = 60

/** Milliseconds since 1970, from inside the signed body. */
const stampOf = (body: Buffer): number | undefined => {
  try {
    const value: unknown = JSON.parse(body.toString('utf8'))
    const stamp = (value as { webhookTimestamp?: unknown } | null)?.webhookTimestamp
    return typeof stamp === 'number' && Number.isFinite(stamp) ? stamp : undefined
  } catch {
    return undefined
  }
}

/** https://linear.app/developers/webhooks#securing-webhooks */
export const verifyLinear = (
  request: SignedRequest,
  secret: string,
  toleranceSeconds = vendorToleranceSeconds,
): Verdict => {
  const value = headerOf(request, header)
  if (value === undefined) return missing(header)
  const given = fromHex(value, 32)
  if (!given) return malformed(header, '<64 hexadecimal digits>')
  if (!isSame(given, hmac('sha256', secret, request.body))) return mismatch
  const stamp = stampOf(request.body)
  if (stamp === undefined) return rejected('The body carries no webhookTimestamp in milliseconds.')
  return staleness('webhookTimestamp', stamp / 1_000, { nowMs: request.nowMs, toleranceSeconds }) ?? accepted
}
