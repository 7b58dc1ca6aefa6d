import type { Database } from '../../platform/database/database.ts'
import { sendResource } from '../../platform/http/etag.ts'
import { apiPrefix } from '../../platform/http/http.ts'
import type { App } from '../../platform/http/http.ts'
import { CursorList, CursorQuery, Deleted, IdParams, ok, Patch, Success } from '../../platform/http/schemas.ts'
import { afterId, idList } from '../id-list.ts'
import { Workspace, WorkspaceCreate } from '../schemas.ts'
import { stepUpTokenOf } from '../sign-in/second-factor/step-up.ts'
import * as queries from './workspace-queries.ts'
import * as workspaces from './workspaces.ts'

const tags = ['Workspaces']
const what = 'Workspace'

export const registerWorkspaceRoutes = (app: App, db: Database): void => {
  app.get(
    `${apiPrefix}/workspaces`,
    {
      config: { access: 'workspaces:read' },
      schema: {
        tags,
        summary: 'List workspaces',
        description: 'Returns the workspaces that the caller has access to; for owners and admins, all of the org.',
        querystring: CursorQuery,
        response: { 200: Success(CursorList(Workspace)) },
      },
    },
    async ({ actor, query }) => {
      const rows = await queries.listWorkspaces(db, actor, query.limit + 1, afterId(query.cursor))
      return idList(rows, query.limit, (row) => row.id)
    },
  )

  app.post(
    `${apiPrefix}/workspaces`,
    {
      config: { access: 'workspaces:write', events: ['workspace.created'] },
      schema: {
        tags,
        summary: 'Create a workspace',
        description: 'Creates a workspace and adds the caller to it. The slug is made from the name.',
        body: WorkspaceCreate,
        response: { 201: Success(Workspace) },
      },
    },
    async (request, reply) => {
      const workspace = await workspaces.createWorkspace(request.db, request.actor, request.body.name)
      reply.code(201)
      return sendResource(request, reply, workspace)
    },
  )

  app.get(
    `${apiPrefix}/workspaces/:id`,
    {
      config: { access: 'workspaces:read', what },
      schema: {
        tags,
        summary: 'Retrieve a workspace',
        description: 'Returns a workspace. NOT_FOUND when the caller has no access to it.',
        params: IdParams,
        response: { 200: Success(Workspace) },
      },
    },
    async (request, reply) =>
      sendResource(request, reply, await workspaces.getWorkspace(db, request.actor, request.params.id)),
  )

  app.patch(
    `${apiPrefix}/workspaces/:id`,
    {
      config: { access: 'workspaces:write', what, events: ['workspace.updated'] },
      schema: {
        tags,
        summary: 'Rename a workspace',
        description: 'Changes the name of a workspace. The slug stays.',
        params: IdParams,
        body: Patch(WorkspaceCreate),
        response: { 200: Success(Workspace) },
      },
    },
    async (request, reply) => {
      const { actor, params, body, headers } = request
      const workspace =
        body.name === undefined
          ? await workspaces.getWorkspace(db, actor, params.id)
          : await workspaces.renameWorkspace(db, actor, params.id, { name: body.name, ifMatch: headers['if-match'] })
      return sendResource(request, reply, workspace)
    },
  )

  app.delete(
    `${apiPrefix}/workspaces/:id`,
    {
      config: { access: 'workspaces:write', what, events: ['workspace.deleted'] },
      schema: {
        tags,
        summary: 'Delete a workspace',
        description: 'Deletes a workspace. Requires step-up. FORBIDDEN for the default workspace.',
        params: IdParams,
        response: { 200: Success(Deleted) },
      },
    },
    async (request) => {
      const proof = { stepUpToken: stepUpTokenOf(request), ifMatch: request.headers['if-match'] }
      await workspaces.deleteWorkspace(db, request.actor, request.params.id, proof)
      return ok({ deleted: true as const })
    },
  )
}
