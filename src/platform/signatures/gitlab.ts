import { headerOf, sha256 } from './signed-request.ts'
import type { SignedRequest, Verdict } from './signed-request.ts'
import { verifySharedToken } from './shared-token.ts'
import { standardKey, verifyStandardWebhook } from './standard-webhooks.ts'

/**
 * The secret token, or the signature of a signing token `whsec_…`
 * (https://docs.gitlab.com/user/project/integrations/webhooks/). One of the two has to fit.
 */
export const verifyGitlab = (request: SignedRequest, secret: string): Verdict => {
  const token = verifySharedToken('X-Gitlab-Token', request, sha256(secret))
  const key = standardKey(secret)
  if (key === undefined || headerOf(request, 'webhook-signature') === undefined) return token
  const signature = verifyStandardWebhook(request, key)
  if (signature.valid) return { valid: true, signsId: true }
  return token.valid ? token : signature
}
