import { accepted, fromBase64, headerOf, hmac, isSame, malformed, mismatch, missing } from './signed-request.ts'
import type { SignedRequest, Verdict } from './signed-request.ts'

const header = 'X-Shopify-Hmac-Sha256'

/** https://shopify.dev/docs/apps/build/webhooks/subscribe/https; it carries no time. */
export const verifyShopify = (request: SignedRequest, secret: string): Verdict => {
  const value = headerOf(request, header)
  if (value === undefined) return missing(header)
  const given = fromBase64(value, 32)
  if (!given) return malformed(header, '<base64 of 32 bytes>')
  return isSame(given, hmac('sha256', secret, request.body)) ? accepted : mismatch
}
