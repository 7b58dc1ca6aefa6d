import { refuseTags } from '../../platform/http/etag.ts'
import { apiPrefix } from '../../platform/http/http.ts'
import type { App } from '../../platform/http/http.ts'
import { CursorList, Deleted, IdParams, ok, Success } from '../../platform/http/schemas.ts'
import { LinearBinding, LinearBindingCreate } from './schemas.ts'
import { listBindings } from './linear-binding-queries.ts'
import { bindLinear, unbindLinear } from './linear-bindings.ts'
import type { AccessDeps } from '../oauth/refresh.ts'

const tags = ['Webhooks']
const what = 'Binding'
const path = `${apiPrefix}/webhooks/linear/bindings`

/** Which Linear organizations' events the org receives at the built-in receiver. */
export const registerLinearBindingRoutes = (app: App, deps: AccessDeps): void => {
  const { db } = deps

  app.get(
    path,
    {
      config: { access: 'webhooks:read' },
      schema: {
        tags,
        summary: 'List the Linear organizations whose events this org receives',
        description: 'Newest first.',
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
        summary: 'Receive the events of a Linear organization in this org',
        description:
          'For owners and admins. The server asks Linear, with the token of the connection, whether its user is an administrator of the Linear organization; FORBIDDEN when not. A Linear organization is bound to one org at a time: CONFLICT while another one has it. The binding ends when it is deleted or the connection is revoked.',
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
        summary: 'Stop receiving the events of a Linear organization',
        description: 'For owners and admins. Another org can bind the Linear organization afterwards.',
        params: IdParams,
        response: { 200: Success(Deleted) },
      },
      preHandler: refuseTags,
    },
    async ({ actor, params }) => {
      await unbindLinear(db, actor, params.id)
      return ok({ deleted: true as const })
    },
  )
}
