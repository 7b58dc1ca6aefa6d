import type { Database } from '../../platform/database/database.ts'
import { rejectTags } from '../../platform/http/etag.ts'
import { apiPrefix } from '../../platform/http/http.ts'
import type { App } from '../../platform/http/http.ts'
import { CursorList, CursorQuery, Deleted, IdParams, ok, Success } from '../../platform/http/schemas.ts'
import { afterId, idList } from '../id-list.ts'
import { WorkspaceMember, WorkspaceMemberAdd, WorkspaceMemberParams } from '../schemas.ts'
import * as queries from './workspace-queries.ts'
import * as workspaces from './workspaces.ts'

const tags = ['Workspaces']
const what = 'Workspace'

export const registerWorkspaceMemberRoutes = (app: App, db: Database): void => {
  app.get(
    `${apiPrefix}/workspaces/:id/members`,
    {
      config: { access: 'workspaces:read', what },
      schema: {
        tags,
        summary: 'List members of a workspace',
        description:
          'Returns the members who were added to a workspace. Owners and admins have access to every workspace without being listed here.',
        params: IdParams,
        querystring: CursorQuery,
        response: { 200: Success(CursorList(WorkspaceMember)) },
      },
    },
    async ({ actor, params, query }) => {
      await workspaces.getWorkspace(db, actor, params.id)
      const rows = await queries.listWorkspaceMembers(db, actor, params.id, {
        limit: query.limit + 1,
        after: afterId(query.cursor),
      })
      return idList(rows, query.limit, (row) => row.userId)
    },
  )

  app.post(
    `${apiPrefix}/workspaces/:id/members`,
    {
      config: { access: 'workspaces:write', what, events: ['workspace.member_added'] },
      schema: {
        tags,
        summary: 'Add a member to a workspace',
        description:
          'Gives a member of the org access to a workspace. Returns 200 instead of 201 when they had access already.',
        params: IdParams,
        body: WorkspaceMemberAdd,
        response: { 200: Success(WorkspaceMember), 201: Success(WorkspaceMember) },
      },
    },
    async ({ db, actor, params, body }, reply) => {
      const { added, member } = await workspaces.addWorkspaceMember(db, actor, params.id, body.userId)
      return reply.code(added ? 201 : 200).send(ok(member))
    },
  )

  app.delete(
    `${apiPrefix}/workspaces/:id/members/:userId`,
    {
      preHandler: rejectTags,
      config: { access: 'workspaces:write', what, events: ['workspace.member_removed'] },
      schema: {
        tags,
        summary: 'Remove a member from a workspace',
        description: "Removes a member's access to a workspace. They stay a member of the org.",
        params: WorkspaceMemberParams,
        response: { 200: Success(Deleted) },
      },
    },
    async ({ actor, params }) => {
      await workspaces.removeWorkspaceMember(db, actor, params.id, params.userId)
      return ok({ deleted: true as const })
    },
  )
}
