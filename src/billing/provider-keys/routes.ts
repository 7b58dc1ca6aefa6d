import { rejectTags } from '../../platform/http/etag.ts'
import type { Config } from '../../config/config.ts'
import type { Database } from '../../platform/database/database.ts'
import { apiPrefix } from '../../platform/http/http.ts'
import type { App } from '../../platform/http/http.ts'
import { CursorList, CursorQuery, Deleted, IdParams, ok, Success } from '../../platform/http/schemas.ts'
import type { Sealer } from '../../platform/encryption/secrets.ts'
import { addProviderKey, listProviderKeys, removeProviderKey, requireProviderKeysEnabled } from './provider-keys.ts'
import { ProviderKey, ProviderKeyCreate } from './schemas.ts'

const tags = ['Billing']
const path = `${apiPrefix}/billing/byok-keys`

export const registerProviderKeyRoutes = (
  app: App,
  { config, db, secrets }: { config: Config; db: Database; secrets: Sealer },
): void => {
  app.get(
    path,
    {
      config: { access: 'billing:read' },
      schema: {
        tags,
        summary: 'List provider keys',
        description:
          "Returns the org's own keys for model providers, newest first. The keys themselves are never returned.",
        querystring: CursorQuery,
        response: { 200: Success(CursorList(ProviderKey)) },
      },
    },
    async ({ actor, query }) => ok(await listProviderKeys(db, actor, query.limit, query.cursor)),
  )

  app.post(
    path,
    {
      config: { access: 'billing:manage', rateLimitCode: 'BAD_REQUEST' },
      // Before validation, because the response must not depend on the body.
      preValidation: async () => requireProviderKeysEnabled(config.billing),
      schema: {
        tags,
        summary: 'Add a provider key',
        description:
          'Stores a key for a model provider, encrypted. Turns on models of that provider then use the newest key, and only the platform fee is charged. BAD_REQUEST when the server does not allow provider keys, and when the rate limit `writes` is exceeded.',
        body: ProviderKeyCreate,
        response: { 201: Success(ProviderKey) },
      },
    },
    async (request, reply) => {
      reply.code(201)
      return ok(await addProviderKey(request.db, secrets, request.actor, request.body))
    },
  )

  app.delete(
    `${path}/:id`,
    {
      preHandler: rejectTags,
      config: { access: 'billing:manage', what: 'Provider key' },
      schema: {
        tags,
        summary: 'Delete a provider key',
        description:
          'Deletes a provider key. Queued turns that were created with it fail; they are not charged to the balance instead.',
        params: IdParams,
        response: { 200: Success(Deleted) },
      },
    },
    async ({ actor, params }) => {
      await removeProviderKey(db, actor, params.id)
      return ok({ deleted: true as const })
    },
  )
}
