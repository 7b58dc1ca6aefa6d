import { headerOf, sha256 } from '../platform/signatures/signed-request.ts'
import type { SignedRequest, SignatureVerdict } from '../platform/signatures/signed-request.ts'
import { verifySharedToken } from '../platform/signatures/shared-token.ts'
import { standardKey, verifyStandardWebhook } from '../platform/signatures/standard-webhooks.ts'
import { bySecret } from './provider.ts'
import type { ProviderAdapter } from './provider.ts'

/**
 * Accepts the secret token, or the signature of a signing token `whsec_…`
 * (https://docs.gitlab.com/user/project/integrations/webhooks/).
 */
export const verifyGitlab = (request: SignedRequest, secret: string): SignatureVerdict => {
  const token = verifySharedToken('X-Gitlab-Token', request, sha256(secret))
  const key = standardKey(secret)
  if (key === undefined || headerOf(request, 'webhook-signature') === undefined) return token
  const signature = verifyStandardWebhook(request, key)
  if (signature.valid) return { valid: true, signsId: true }
  return token.valid ? token : signature
}

/** GitLab projects and groups. */
export const gitlab: ProviderAdapter = {
  verify: bySecret(verifyGitlab),
  eventId: (_payload, request) => headerOf(request, 'webhook-id') ?? headerOf(request, 'X-Gitlab-Event-UUID'),
  sameBody: 'always',
  typeHeader: 'X-Gitlab-Event',
}
