import { verifyHubSignature } from './hub-signature.ts'
import type { SignedRequest, Verdict } from './signed-request.ts'

/** The plain scheme for senders of one's own: the HMAC-SHA256 of the body. */
export const verifyHmac = (request: SignedRequest, secret: string): Verdict =>
  verifyHubSignature('X-Signature-256', request, secret)
