import {
  accepted,
  fromBase64,
  headerOf,
  hmac,
  isSame,
  malformed,
  mismatch,
  missing,
} from '../platform/signatures/signed-request.ts'
import type { SignedRequest, SignatureVerdict } from '../platform/signatures/signed-request.ts'
import { bySecret, idHeader } from './provider.ts'
import type { ProviderAdapter } from './provider.ts'

const signatureHeader = 'X-Shopify-Hmac-Sha256'

/** https://shopify.dev/docs/apps/build/webhooks/subscribe/https; the signature has no timestamp. */
export const verifyShopify = (request: SignedRequest, secret: string): SignatureVerdict => {
  const value = headerOf(request, signatureHeader)
  if (value === undefined) return missing(signatureHeader)
  const given = fromBase64(value, 32)
  if (!given) return malformed(signatureHeader, '<base64 of 32 bytes>')
  return isSame(given, hmac('sha256', secret, request.body)) ? accepted : mismatch
}

/** Shopify shops. */
export const shopify: ProviderAdapter = {
  verify: bySecret(verifyShopify),
  eventId: idHeader('X-Shopify-Webhook-Id'),
  sameBody: 'always',
  typeHeader: 'X-Shopify-Topic',
}
