import { apiPrefix } from '../../platform/http/http.ts'
import type { App } from '../../platform/http/http.ts'
import { IdParams, ok, Success } from '../../platform/http/schemas.ts'
import type { ConnectorRouteDeps } from '../deps.ts'
import { ConnectionTools, ToolAgreement } from '../schemas.ts'
import { acceptTools, toolsOfConnection } from './tools.ts'

const tags = ['Connections']
const what = 'Connection'
const onOne = { what, malformedId: 'BAD_REQUEST' } as const

export const registerConnectionToolRoutes = (app: App, { db }: Pick<ConnectorRouteDeps, 'db'>): void => {
  app.get(
    `${apiPrefix}/connections/:id/tools`,
    {
      config: { access: 'connections:read', ...onOne },
      schema: {
        tags,
        summary: 'List tools of a connection',
        description:
          'Returns the tools that agents can use with the connection. `offered` has the tools of an MCP server when they differ from the accepted ones; until you accept them, calls of its tools fail.',
        params: IdParams,
        response: { 200: Success(ConnectionTools) },
      },
    },
    async ({ actor, params }) => ok(await toolsOfConnection(db, actor, params.id)),
  )

  app.post(
    `${apiPrefix}/connections/:id/tools`,
    {
      config: { events: ['connection.connected'], access: 'connections:write', ...onOne, errors: ['CONFLICT'] },
      schema: {
        tags,
        summary: 'Accept the tools of an MCP server',
        description:
          'Accepts the tools that the MCP server offers now, by their hash. CONFLICT when the hash is not that of the offered tools.',
        params: IdParams,
        body: ToolAgreement,
        response: { 200: Success(ConnectionTools) },
      },
    },
    async (request) => ok(await acceptTools(request.db, request.actor, request.params.id, request.body.hash)),
  )
}
