import { rejectTags } from '../../platform/http/etag.ts'
import { apiPrefix } from '../../platform/http/http.ts'
import type { App } from '../../platform/http/http.ts'
import { CursorList, Deleted, IdParams, ok, Success } from '../../platform/http/schemas.ts'
import { LinearBinding, LinearBindingCreate } from './schemas.ts'
import { listBindings } from './linear-binding-queries.ts'
import { bindLinear, unbindLinear } from './linear-bindings.ts'
import type { AccessDeps } from '../deps.ts'

const tags = ['Webhooks']
const what = 'Binding'
const path = `${apiPrefix}/webhooks/linear/bindings`

/** The Linear organizations whose events the org receives with its built-in webhook. */
export const registerLinearBindingRoutes = (app: App, deps: AccessDeps): void => {
  const { db } = deps

  app.get(
    path,
    {
      config: { access: 'webhooks:read' },
      schema: {
        tags,
        summary: 'List Linear bindings',
        description: 'Returns the Linear organizations whose events this org receives, newest first.',
        response: { 200: Success(CursorList(LinearBinding)) },
      },
    },
    async ({ actor }) => ok({ items: await listBindings(db, actor.orgId), nextCursor: null }),
  )

  app.post(
    path,
    {
      config: {
        access: 'webhooks:write',
        what: 'Connection',
        malformedId: 'BAD_REQUEST',
        errors: ['BAD_REQUEST', 'NOT_FOUND', 'CONFLICT', 'SERVICE_UNAVAILABLE'],
      },
      schema: {
        tags,
        summary: 'Bind a Linear organization',
        description:
          'Receives the events of a Linear organization in this org. Only for owners and admins. The server asks Linear, with the token of the connection, whether its user is an administrator of the organization: FORBIDDEN when not. CONFLICT while another org has bound the organization. The binding ends when it or the connection is deleted.',
        body: LinearBindingCreate,
        response: { 201: Success(LinearBinding) },
      },
    },
    async (request, reply) => {
      const row = await bindLinear(deps, request.actor, request.body.connectionId)
      reply.code(201)
      return ok(row)
    },
  )

  app.delete(
    `${path}/:id`,
    {
      config: { access: 'webhooks:write', what },
      schema: {
        tags,
        summary: 'Delete a Linear binding',
        description:
          'Stops receiving the events of a Linear organization. Only for owners and admins. Another org can bind the organization after that.',
        params: IdParams,
        response: { 200: Success(Deleted) },
      },
      preHandler: rejectTags,
    },
    async ({ actor, params }) => {
      await unbindLinear(db, actor, params.id)
      return ok({ deleted: true as const })
    },
  )
}
