import { afterId, idList } from '../../identity/id-list.ts'
import { sendResource } from '../../platform/http/etag.ts'
import { apiPrefix } from '../../platform/http/http.ts'
import type { App } from '../../platform/http/http.ts'
import { CursorList, CursorQuery, Deleted, IdParams, Success, ok } from '../../platform/http/schemas.ts'
import * as queries from './queries.ts'
import { createProject, deleteProject, getProject, updateProject } from './projects.ts'
import type { FilesDeps } from '../deps.ts'
import { Project, ProjectCreate, ProjectPatch } from '../schemas.ts'

const tags = ['Projects']
const what = 'Project'

export const registerProjectRoutes = (app: App, deps: FilesDeps): void => {
  const { db, quotas } = deps
  app.get(
    `${apiPrefix}/projects`,
    {
      config: { access: 'projects:read', what },
      schema: {
        tags,
        summary: 'List projects',
        description: 'Returns the projects of the org, oldest first.',
        querystring: CursorQuery,
        response: { 200: Success(CursorList(Project)) },
      },
    },
    async ({ actor, query }) => {
      const rows = await queries.listProjects(db.replica, actor, query.limit + 1, afterId(query.cursor))
      return idList(rows, query.limit, (row) => row.id)
    },
  )

  app.post(
    `${apiPrefix}/projects`,
    {
      config: {
        access: 'projects:write',
        what,
        errors: ['PAYMENT_REQUIRED'],
        events: ['project.created', 'folder.created'],
      },
      schema: {
        tags,
        summary: 'Create a project',
        description:
          'Creates a project with a protected folder of the same name in the root of the org. PAYMENT_REQUIRED or FORBIDDEN when the quota `files` of the org is used up.',
        body: ProjectCreate,
        response: { 201: Success(Project) },
      },
    },
    async (request, reply) => {
      reply.code(201)
      return sendResource(request, reply, await createProject(request.db, quotas, request.actor, request.body))
    },
  )

  app.get(
    `${apiPrefix}/projects/:id`,
    {
      config: { access: 'projects:read', what },
      schema: {
        tags,
        summary: 'Retrieve a project',
        description: 'Returns a project with the ID of its folder.',
        params: IdParams,
        response: { 200: Success(Project) },
      },
    },
    async (request, reply) => sendResource(request, reply, await getProject(db, request.actor, request.params.id)),
  )

  app.patch(
    `${apiPrefix}/projects/:id`,
    {
      config: { access: 'projects:write', what, events: ['project.updated', 'folder.updated'] },
      schema: {
        tags,
        summary: 'Update a project',
        description:
          'Changes the fields that are sent, at least one. A new name also renames the folder; the slug stays.',
        params: IdParams,
        body: ProjectPatch,
        response: { 200: Success(Project) },
      },
    },
    async (request, reply) => {
      const { actor, params, body, headers } = request
      return sendResource(
        request,
        reply,
        await updateProject(db, actor, params.id, { patch: body, ifMatch: headers['if-match'] }),
      )
    },
  )

  app.delete(
    `${apiPrefix}/projects/:id`,
    {
      config: { access: 'projects:write', what, events: ['project.deleted', 'folder.deleted'] },
      schema: {
        tags,
        summary: 'Delete a project',
        description: 'Deletes a project, its folder and all files in it.',
        params: IdParams,
        response: { 200: Success(Deleted) },
      },
    },
    async ({ actor, params, headers }) => {
      await deleteProject(deps, actor, params.id, headers['if-match'])
      return ok({ deleted: true as const })
    },
  )
}
