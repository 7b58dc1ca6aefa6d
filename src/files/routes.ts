import type { Config } from '../config/config.ts'
import { badRequest, notFound } from '../platform/http/errors.ts'
import { apiPrefix, originOf } from '../platform/http/http.ts'
import type { App } from '../platform/http/http.ts'
import type { Jobs } from '../platform/jobs/jobs.ts'
import { sendResource } from '../platform/http/etag.ts'
import { Bytes, Deleted, Empty, IdParams, Page, Success, ok } from '../platform/http/schemas.ts'
import { downloadHeaders, inlineHeaders, inlineHeadersElsewhere } from './downloads/content-headers.ts'
import { isOnContentOrigin } from './downloads/content-origin.ts'
import { deleteFile, getContent, previewFile, updateFile } from './files.ts'
import { listFiles } from './tree/listing.ts'
import type { Previewer } from './preview/previewer.ts'
import * as queries from './queries.ts'
import { fileRecord } from './record.ts'
import { registerProjectRoutes } from './projects/routes.ts'
import { ContentQuery, File, FileListQuery, FilePatch, FileQuery, Preview } from './schemas.ts'
import { sendContent } from './downloads/send-content.ts'
import { contentUrlElsewhere, downloadUrlOf, inlineUrlOf, requireToken } from './uploads/signed-urls.ts'
import type { SigningDeps } from './uploads/signed-urls.ts'
import { registerUploadRoutes } from './uploads/routes.ts'
import type { StoreDeps } from './uploads/uploads.ts'

export interface FilesDeps extends StoreDeps, SigningDeps {
  config: Config
  jobs: Pick<Jobs, 'enqueue'>
  previewer: Previewer
}

const rangeOfBytes = Bytes('The range that was asked for')
const outsideOfBytes = Empty('The range lies outside the file')

export const registerFileRoutes = (app: App, deps: FilesDeps): void => {
  const { config, db, objects } = deps
  registerUploadRoutes(app, deps)
  registerProjectRoutes(app, deps)

  app.get(
    `${apiPrefix}/files`,
    {
      config: { access: 'files:read', what: 'File', errors: ['NOT_FOUND'] },
      schema: {
        tags: ['Files'],
        summary: 'List or search a folder',
        querystring: FileListQuery,
        response: { 200: Success(Page(File)) },
      },
    },
    async (request) => {
      const { actor } = request
      const origin = originOf(request, config.baseUrl)
      const page = await listFiles(db, actor, request.query)
      return ok({ ...page, items: page.items.map((row) => fileRecord(row, actor.orgId, origin)) })
    },
  )

  app.route({
    method: ['GET', 'HEAD'],
    url: `${apiPrefix}/files/:id`,
    config: { access: 'files:read', what: 'File', errors: ['CONFLICT'] },
    schema: {
      tags: ['Files'],
      summary: 'The metadata of a file, a redirect to its bytes, or its bytes for display',
      params: IdParams,
      querystring: FileQuery,
      response: {
        200: Success(File),
        206: rangeOfBytes,
        302: Empty('Where the bytes are'),
        416: outsideOfBytes,
      },
    },
    handler: async (request, reply) => {
      const { actor, query } = request
      const { id } = request.params
      if (!query.download) {
        const row = await queries.readFile(db.hot, actor, id)
        if (row === undefined) throw notFound('File')
        return sendResource(request, reply, fileRecord(row, actor.orgId, originOf(request, config.baseUrl)))
      }
      const content = await getContent(db.hot, actor.orgId, id)
      // A browser that is signed in shows files of users from their own origin; programs get the bytes here.
      if (query.inline && config.contentBaseUrl !== undefined && actor.apiKey === null) {
        reply.header('cache-control', 'no-store')
        return reply.redirect(inlineUrlOf(deps, actor.orgId, content, config.contentBaseUrl), 302)
      }
      if (query.inline) {
        return sendContent(request, reply, objects, content, inlineHeaders(content.name, content.mimeType))
      }
      reply.header('cache-control', 'no-store')
      return reply.redirect(await downloadUrlOf(deps, actor.orgId, content, originOf(request, config.baseUrl)), 302)
    },
  })

  app.get(
    `${apiPrefix}/files/:id/preview`,
    {
      config: { access: 'files:read', what: 'File', errors: ['BAD_REQUEST'] },
      schema: {
        tags: ['Files'],
        summary: 'What a person sees of a text, document or spreadsheet',
        params: IdParams,
        response: { 200: Success(Preview) },
      },
    },
    async (request, reply) => {
      const gone = new AbortController()
      reply.raw.once('close', () => gone.abort(badRequest('The request was cut off.')))
      return ok(await previewFile(deps, request.actor, request.params.id, gone.signal))
    },
  )

  app.route({
    method: ['GET', 'HEAD'],
    url: `${apiPrefix}/files/:id/content`,
    config: { access: 'public', what: 'File', rateLimit: 'none', errors: ['FORBIDDEN'], onContentOrigin: true },
    schema: {
      tags: ['Files'],
      summary: 'The bytes of a file, by a signed URL',
      params: IdParams,
      querystring: ContentQuery,
      response: {
        200: Bytes('The bytes, with the type of the file'),
        206: rangeOfBytes,
        302: Empty('The same on the origin of user content'),
        416: outsideOfBytes,
      },
    },
    handler: async (request, reply) => {
      const { id } = request.params
      const { token } = request.query
      const claims = requireToken(deps, token, 'get', id)
      const { baseUrl, contentBaseUrl } = config
      const isElsewhere = isOnContentOrigin(request, contentBaseUrl)
      if (contentBaseUrl !== undefined && !isElsewhere) {
        reply.header('cache-control', 'no-store')
        return reply.redirect(contentUrlElsewhere(contentBaseUrl, claims.fileId, token), 302)
      }
      const content = await getContent(db.hot, claims.orgId, id)
      const headers =
        isElsewhere && claims.disposition.startsWith('inline;')
          ? inlineHeadersElsewhere(claims.disposition, claims.contentType, new URL(originOf(request, baseUrl)).origin)
          : downloadHeaders(claims.contentType, claims.disposition)
      return sendContent(request, reply, objects, content, headers)
    },
  })

  app.patch(
    `${apiPrefix}/files/:id`,
    {
      config: { access: 'files:write', what: 'File' },
      schema: {
        tags: ['Files'],
        summary: 'Rename, move or retag',
        params: IdParams,
        body: FilePatch,
        response: { 200: Success(File) },
      },
    },
    async (request, reply) => {
      const { actor } = request
      const row = await updateFile(db, actor, request.params.id, request.body, request.headers['if-match'])
      return sendResource(request, reply, fileRecord(row, actor.orgId, originOf(request, config.baseUrl)))
    },
  )

  app.delete(
    `${apiPrefix}/files/:id`,
    {
      config: { access: 'files:write', what: 'File' },
      schema: {
        tags: ['Files'],
        summary: 'Delete a file, or a folder with all that is in it',
        params: IdParams,
        response: { 200: Success(Deleted) },
      },
    },
    async (request) => {
      await deleteFile(db, deps.jobs, request.actor, request.params.id, request.headers['if-match'])
      return ok({ deleted: true as const })
    },
  )
}
