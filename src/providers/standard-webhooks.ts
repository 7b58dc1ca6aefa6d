import { rejected } from '../platform/signatures/signed-request.ts'
import { standardKey, verifyStandardWebhook } from '../platform/signatures/standard-webhooks.ts'
import { idHeader } from './provider.ts'
import type { ProviderAdapter } from './provider.ts'

/** Standard Webhooks, which signs the id: https://www.standardwebhooks.com. */
export const standardWebhooks: ProviderAdapter = {
  verify: (request, { secret }) => {
    const key = standardKey(secret)
    if (key) return verifyStandardWebhook(request, key)
    return rejected(
      'The secret must be whsec_ followed by the base64 of 24–64 bytes. Rotate the secret to generate one.',
    )
  },
  eventId: idHeader('webhook-id'),
}
