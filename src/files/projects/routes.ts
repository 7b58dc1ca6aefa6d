import { afterId, idList } from '../../identity/id-list.ts'
import { sendResource } from '../../platform/http/etag.ts'
import { apiPrefix } from '../../platform/http/http.ts'
import type { App } from '../../platform/http/http.ts'
import { CursorList, CursorQuery, Deleted, IdParams, Success, ok } from '../../platform/http/schemas.ts'
import * as queries from './queries.ts'
import { createProject, deleteProject, getProject, updateProject } from './projects.ts'
import type { FilesDeps } from '../routes.ts'
import { Project, ProjectCreate, ProjectPatch } from '../schemas.ts'

const tags = ['Projects']
const what = 'Project'

export const registerProjectRoutes = (app: App, { db, jobs, quotas }: FilesDeps): void => {
  app.get(
    `${apiPrefix}/projects`,
    {
      config: { access: 'projects:read', what },
      schema: {
        tags,
        summary: 'The projects of the organisation, oldest first',
        querystring: CursorQuery,
        response: { 200: Success(CursorList(Project)) },
      },
    },
    async ({ actor, query }) => {
      const rows = await queries.listProjects(db, actor, query.limit + 1, afterId(query.cursor))
      return idList(rows, query.limit, (row) => row.id)
    },
  )

  app.post(
    `${apiPrefix}/projects`,
    {
      config: { access: 'projects:write', what, errors: ['PAYMENT_REQUIRED'] },
      schema: {
        tags,
        summary: 'Create a project with its protected folder',
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
      schema: { tags, summary: 'One project', params: IdParams, response: { 200: Success(Project) } },
    },
    async (request, reply) => sendResource(request, reply, await getProject(db, request.actor, request.params.id)),
  )

  app.patch(
    `${apiPrefix}/projects/:id`,
    {
      config: { access: 'projects:write', what },
      schema: {
        tags,
        summary: 'Rename a project, with its folder, or change what it says',
        params: IdParams,
        body: ProjectPatch,
        response: { 200: Success(Project) },
      },
    },
    async (request, reply) => {
      const { actor, params, body, headers } = request
      return sendResource(request, reply, await updateProject(db, actor, params.id, body, headers['if-match']))
    },
  )

  app.delete(
    `${apiPrefix}/projects/:id`,
    {
      config: { access: 'projects:write', what },
      schema: {
        tags,
        summary: 'Delete a project with all its files',
        params: IdParams,
        response: { 200: Success(Deleted) },
      },
    },
    async ({ actor, params, headers }) => {
      await deleteProject(db, jobs, actor, params.id, headers['if-match'])
      return ok({ deleted: true as const })
    },
  )
}
