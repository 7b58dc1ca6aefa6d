import { verifyHubSignature } from './hub-signature.ts'
import type { SignedRequest, Verdict } from './signed-request.ts'

/** https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries */
export const verifyGithub = (request: SignedRequest, secret: string): Verdict =>
  verifyHubSignature('X-Hub-Signature-256', request, secret)
