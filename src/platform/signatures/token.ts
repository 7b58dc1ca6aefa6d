import { verifySharedToken } from './shared-token.ts'
import type { SignedRequest, Verdict } from './signed-request.ts'

/** The plainest scheme, for senders that can only set a header. `secretHash` is the SHA-256 of the secret. */
export const verifyToken = (request: SignedRequest, secretHash: Uint8Array): Verdict =>
  verifySharedToken('X-Webhook-Token', request, secretHash)
