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

const header = 'Stripe-Signature'
const toleranceSeconds = 300

/** https://docs.stripe.com/webhooks#verify-manually; the whole secret, `whsec_` included, is the key. */
export const verifyStripe = (request: SignedRequest, secret: string): Verdict => {
  const value = headerOf(request, header)
  if (value === undefined) return missing(header)
  const fields = value.split(',').map((field) => field.trim())
  const valuesOf = (name: string): string[] =>
    fields.filter((field) => field.startsWith(`${name}=`)).map((field) => field.slice(name.length + 1))
  const [timestamp = '', ...others] = valuesOf('t')
  const stamp = parseSeconds(timestamp)
  const given = valuesOf('v1').map((text) => fromHex(text, 32))
  const isWellFormed = given.length > 0 && given.every((one) => one !== undefined)
  if (stamp === undefined || others.length > 0 || !isWellFormed) {
    return malformed(header, 't=<seconds since 1970>,v1=<64 hexadecimal digits>')
  }
  const expected = hmac('sha256', secret, `${timestamp}.`, request.body)
  if (!given.some((one) => isSame(one, expected))) return mismatch
  return staleness(`t of ${header}`, stamp, { nowMs: request.nowMs, toleranceSeconds }) ?? accepted
}
