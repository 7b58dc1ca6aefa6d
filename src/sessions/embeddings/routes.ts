import { apiPrefix } from '../../platform/http/http.ts'
import type { App } from '../../platform/http/http.ts'
import { Success } from '../../platform/http/schemas.ts'
import { maxStoredBytes } from './embeddings.ts'
import type { Embedder } from './embeddings.ts'
import { sendWritten } from './response.ts'
import { EmbeddingCreate, EmbeddingList } from './schemas.ts'

export const registerEmbeddingRoutes = (app: App, embedder: Embedder): void => {
  app.post(
    `${apiPrefix}/embeddings`,
    {
      config: {
        access: 'sessions:write',
        rateLimit: 'turns',
        idempotency: { maxStoredBytes },
        errors: ['PAYMENT_REQUIRED', 'VALIDATION_ERROR', 'SERVICE_UNAVAILABLE'],
      },
      schema: {
        tags: ['Embeddings'],
        summary: 'Create embeddings',
        description:
          'Converts texts to vectors with an embedding model and charges their tokens. The vectors are not stored. One request to the provider is made, without retries: TOO_MANY_REQUESTS and SERVICE_UNAVAILABLE have `Retry-After`, and nothing is charged for them. An org has at most two requests in progress in a server process; further ones wait. With an `Idempotency-Key`, a response of more than 1 MB is not stored: a repeated request is CONFLICT and is not charged again. Counts against the rate limit `turns`.',
        body: EmbeddingCreate,
        response: { 200: Success(EmbeddingList) },
      },
    },
    async (request, reply) => {
      const { model, dimensions, json, ...usage } = await embedder.embed(request, request.body, 'lists')
      const rest = JSON.stringify({ model, dimensions, usage })
      return sendWritten(reply, [`{"success":true,"data":${rest.slice(0, -1)},"embeddings":`, json, '}}']) as never
    },
  )
}
