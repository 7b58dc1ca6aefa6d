import { rejected } from '../platform/signatures/signed-request.ts'
import { standardIdOf, standardKey, verifyStandardWebhook } from '../platform/signatures/standard-webhooks.ts'
import type { ProviderAdapter } from './provider.ts'

/** Standard Webhooks, which signs the id: https://www.standardwebhooks.com. Also with the header names of Svix. */
export const standardWebhooks: ProviderAdapter = {
  verify: (request, { secret }) => {
    const key = standardKey(secret)
    if (key) return verifyStandardWebhook(request, key)
    return rejected(
      'The secret must be whsec_ followed by the base64 of 24–64 bytes. Rotate the secret to generate one.',
    )
  },
  eventId: (_payload, request) => standardIdOf(request),
}
