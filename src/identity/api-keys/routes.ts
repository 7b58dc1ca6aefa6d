import { rejectTags } from '../../platform/http/etag.ts'
import type { Config } from '../../config/config.ts'
import type { Database } from '../../platform/database/database.ts'
import { apiPrefix } from '../../platform/http/http.ts'
import type { App } from '../../platform/http/http.ts'
import { CursorList, CursorQuery, Deleted, IdParams, ok, Success } from '../../platform/http/schemas.ts'
import * as queries from './queries.ts'
import * as apiKeys from './api-keys.ts'
import { afterId, idList } from '../id-list.ts'
import { ApiKey, ApiKeyCreate, ApiKeyCreated } from '../schemas.ts'
import { stepUpTokenOf } from '../sign-in/second-factor/step-up.ts'

const tags = ['API keys']

export const registerApiKeyRoutes = (app: App, { db, config }: { db: Database; config: Config }): void => {
  app.get(
    `${apiPrefix}/api-keys`,
    {
      config: { access: 'keys:read' },
      schema: {
        tags,
        summary: 'List API keys',
        description:
          "Returns the caller's API keys, newest first, including revoked ones. Owners and admins get all keys of the org. The keys themselves are never returned.",
        querystring: CursorQuery,
        response: { 200: Success(CursorList(ApiKey)) },
      },
    },
    async ({ actor, query }) => {
      const rows = await queries.listKeys(db, actor, query.limit + 1, afterId(query.cursor))
      return idList(rows, query.limit, (row) => row.id)
    },
  )

  app.post(
    `${apiPrefix}/api-keys`,
    {
      config: {
        access: 'keys:write',
        rateLimit: 'keyMinting',
        rateLimitCode: 'BAD_REQUEST',
        idempotency: { omit: ['data.key'] },
        errors: ['NOT_FOUND', 'VALIDATION_ERROR'],
        events: ['api_key.created'],
      },
      schema: {
        tags,
        summary: 'Create an API key',
        description:
          'Creates an API key for the caller. Requires step-up. The key is returned once and cannot be read again. A key with scopes can create only keys that may do no more than itself. VALIDATION_ERROR when `expiresAt` is in the past. Counts against the rate limit `keyMinting`, which is reported as BAD_REQUEST.',
        body: ApiKeyCreate,
        response: { 201: Success(ApiKeyCreated) },
      },
    },
    async (request, reply) => {
      const { db, actor, body } = request
      const minted = await apiKeys.mintKey(db, actor, body, {
        stepUpToken: stepUpTokenOf(request),
        environment: config.keyEnvironment,
      })
      return reply.code(201).header('cache-control', 'no-store').send(ok(minted))
    },
  )

  app.delete(
    `${apiPrefix}/api-keys/:id`,
    {
      preHandler: rejectTags,
      config: { access: 'keys:write', what: 'API key', events: ['api_key.revoked'] },
      schema: {
        tags,
        summary: 'Revoke an API key',
        description:
          'Revokes an API key at once, on every server process. Running streams of the key end within a second. Members may revoke their own keys, owners and admins any key of the org. Revoking a key again changes nothing.',
        params: IdParams,
        response: { 200: Success(Deleted) },
      },
    },
    async ({ actor, params }) => {
      await apiKeys.revokeKey(db, actor, params.id)
      return ok({ deleted: true as const })
    },
  )
}
