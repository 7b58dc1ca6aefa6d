import { verifySharedToken } from '../platform/signatures/shared-token.ts'
import { sha256 } from '../platform/signatures/signed-request.ts'
import type { SignedRequest, SignatureVerdict } from '../platform/signatures/signed-request.ts'
import { idHeader } from './provider.ts'
import type { ProviderAdapter } from './provider.ts'

/** `secretHash` is the SHA-256 of the secret. */
export const verifyToken = (request: SignedRequest, secretHash: Uint8Array): SignatureVerdict =>
  verifySharedToken('X-Webhook-Token', request, secretHash)

/** For custom senders that can only set a header: the secret itself. */
export const token: ProviderAdapter = {
  verify: (request, { secret, secretHash = sha256(secret) }) => verifyToken(request, secretHash),
  eventId: idHeader('webhook-id'),
  sameBody: 'with-id',
}
