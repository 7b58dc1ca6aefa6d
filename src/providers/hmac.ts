import { verifyHubSignature } from '../platform/signatures/hub-signature.ts'
import type { SignedRequest, SignatureVerdict } from '../platform/signatures/signed-request.ts'
import { bySecret, idHeader } from './provider.ts'
import type { ProviderAdapter } from './provider.ts'

export const verifyHmac = (request: SignedRequest, secret: string): SignatureVerdict =>
  verifyHubSignature('X-Signature-256', request, secret)

/** For custom senders: the HMAC-SHA256 of the body. */
export const hmac: ProviderAdapter = {
  verify: bySecret(verifyHmac),
  eventId: idHeader('webhook-id'),
  sameBody: 'with-id',
}
