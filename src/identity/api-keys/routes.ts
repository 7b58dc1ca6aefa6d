import { refuseTags } from '../../platform/http/etag.ts'
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
        summary: "The caller's API keys; for owners and admins, all of the org",
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
      },
      schema: {
        tags,
        summary: 'Mint an API key for the caller',
        description:
          'Needs step-up. The key is answered once and cannot be read again. A key narrowed by scopes can only make keys that may do no more than itself.',
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
      preHandler: refuseTags,
      config: { access: 'keys:write', what: 'API key' },
      schema: {
        tags,
        summary: 'Revoke an API key',
        description: 'It stops working at once, everywhere. Revoking it again changes nothing and answers the same.',
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
