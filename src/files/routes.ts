import { registerArchiveRoutes } from './archive/routes.ts'
import { createArchiveSender } from './archive/send-archive.ts'
import { readFile } from './access/access.ts'
import { registerAccessRoutes } from './access/routes.ts'
import { onceClosed } from '../platform/http/closed.ts'
import { badRequest, notFound } from '../platform/http/errors.ts'
import { apiPrefix, originOf } from '../platform/http/http.ts'
import type { App } from '../platform/http/http.ts'
import { sendResource } from '../platform/http/etag.ts'
import { Bytes, Deleted, Empty, IdParams, Page, Success, ok } from '../platform/http/schemas.ts'
import { contentOriginHeaders, downloadHeaders, inlineHeaders } from './downloads/content-headers.ts'
import { isOnContentOrigin } from './downloads/content-origin.ts'
import { getContent, previewFile } from './content.ts'
import type { FilesDeps } from './deps.ts'
import { registerDirectRoutes } from './direct/routes.ts'
import { deleteFile, updateFile } from './files.ts'
import { listFiles } from './listing/listing.ts'
import { fileRecord, trashedRecord } from './record.ts'
import { registerFavoriteRoutes } from './favorites/routes.ts'
import { registerImageRoutes } from './preview/pictures/routes.ts'
import { registerProjectRoutes } from './projects/routes.ts'
import { ContentQuery, File, FileDeleteQuery, FileListQuery, FilePatch, FileQuery, Preview } from './schemas.ts'
import { sendContent } from './downloads/send-content.ts'
import { contentOriginUrl, downloadUrlOf, inlineUrlOf, requireToken } from './signed-urls/signed-urls.ts'
import { listRecent } from './recent/recent.ts'
import { registerResumableRoutes } from './resumable/routes.ts'
import { registerShareRoutes } from './shares/routes.ts'
import { registerTrashRoutes } from './trash/routes.ts'
import { listTrash } from './trash/trash.ts'
import { registerUploadRoutes } from './uploads/routes.ts'
import { registerUsageRoutes } from './usage/routes.ts'
import { registerVersionRoutes } from './versions/routes.ts'

const rangeOfBytes = Bytes('The requested range of bytes.')
const outsideOfBytes = Empty('The requested range is outside of the file.')

export const registerFileRoutes = (app: App, deps: FilesDeps): void => {
  const { config, db, objects } = deps
  registerUploadRoutes(app, deps)
  registerResumableRoutes(app, deps)
  registerDirectRoutes(app, deps)
  registerProjectRoutes(app, deps)
  registerFileChanges(app, deps)
  registerTrashRoutes(app, deps)
  registerVersionRoutes(app, deps)
  const archives = createArchiveSender(deps)
  registerArchiveRoutes(app, deps, archives)
  registerImageRoutes(app, deps)
  registerShareRoutes(app, deps, archives)
  registerAccessRoutes(app, deps)
  registerFavoriteRoutes(app, deps)
  registerUsageRoutes(app, deps)

  app.get(
    `${apiPrefix}/files`,
    {
      config: { access: 'files:read', what: 'File', errors: ['NOT_FOUND'] },
      schema: {
        tags: ['Files'],
        summary: 'List files',
        description:
          'Returns the files in a folder, in the folder of a project or in the root of the org: folders first, then by name or as `sort` and `order` say. With `search`, only those whose name contains the text, and with filters such as `type` and `tag`, only those that match all of them, each with its `path`. With `recent`, the files that the caller uploaded, changed or opened last. With `trashed`, what is in the trash, the latest deletion first. NOT_FOUND for a project that does not exist, BAD_REQUEST for a folder that does not.',
        querystring: FileListQuery,
        response: { 200: Success(Page(File)) },
      },
    },
    async (request) => {
      const { actor } = request
      const origin = originOf(request, config.baseUrl)
      const { recent, trashed, ...query } = request.query
      if (trashed && recent) throw badRequest('trashed cannot be combined with recent')
      if (trashed) {
        const page = await listTrash(db.replica, actor, query)
        return ok({ ...page, items: page.items.map((row) => trashedRecord(row, actor.orgId, origin)) })
      }
      const page = await (recent ? listRecent : listFiles)(db.replica, actor, query)
      return ok({ ...page, items: page.items.map((row) => fileRecord(row, actor.orgId, origin)) })
    },
  )

  app.route({
    method: ['GET', 'HEAD'],
    url: `${apiPrefix}/files/:id`,
    config: { access: 'files:read', what: 'File', errors: ['CONFLICT'] },
    schema: {
      tags: ['Files'],
      summary: 'Retrieve or download a file',
      description:
        'Returns the record of a file. With `download`, redirects to a signed URL; with `download` and `inline`, returns the bytes for display, with a content security policy that allows no scripts. Bytes support `Range` and `If-None-Match`. BAD_REQUEST when a folder is downloaded, CONFLICT while the file is pending.',
      params: IdParams,
      querystring: FileQuery,
      response: {
        200: Success(File),
        206: rangeOfBytes,
        302: Empty('Redirect to a signed URL of the bytes.'),
        416: outsideOfBytes,
      },
    },
    handler: async (request, reply) => {
      const { actor, query } = request
      const { id } = request.params
      if (!query.download) {
        const row = await readFile(db.hot, actor, id)
        if (row === undefined) throw notFound('File')
        const record = fileRecord(row, actor.orgId, originOf(request, config.baseUrl))
        // Marking a file changes the response and not its revision.
        return sendResource(request, reply, record, row.favorite ? ['favorite'] : [])
      }
      const content = await getContent(db.hot, actor, id)
      // A signed-in browser shows user content from its own origin; API clients get the bytes here.
      if (query.inline && config.contentBaseUrl !== undefined && actor.apiKey === null) {
        reply.header('cache-control', 'no-store')
        return reply.redirect(inlineUrlOf(deps, actor.orgId, content, config.contentBaseUrl), 302)
      }
      if (query.inline) {
        const headers = inlineHeaders(content.name, content.mimeType)
        return sendContent(request, reply, { objects, content, headers })
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
        summary: 'Retrieve a preview of a file',
        description:
          'Returns the content of a text, document or spreadsheet of up to 25 MB. BAD_REQUEST with the reason for a file that is larger, damaged, encrypted or of another type. CONFLICT while the file is pending. SERVICE_UNAVAILABLE with `Retry-After` when too many previews are requested at once.',
        params: IdParams,
        response: { 200: Success(Preview) },
      },
    },
    async (request, reply) => {
      const disconnect = new AbortController()
      onceClosed(reply.raw, () => disconnect.abort(badRequest('The request was aborted.')))
      return ok(await previewFile(deps, request.actor, request.params.id, { signal: disconnect.signal }))
    },
  )

  app.route({
    method: ['GET', 'HEAD'],
    url: `${apiPrefix}/files/:id/content`,
    config: {
      access: 'public',
      crossOrigin: true,
      what: 'File',
      rateLimit: 'none',
      errors: ['FORBIDDEN'],
      onContentOrigin: true,
    },
    schema: {
      tags: ['Files'],
      summary: 'Download bytes with a signed URL',
      description:
        'Returns the bytes of a file as an attachment. The token in the URL is the only credential and is valid for 5 minutes: FORBIDDEN after that. Supports `Range` and `If-None-Match`.',
      params: IdParams,
      querystring: ContentQuery,
      response: {
        200: Bytes('The bytes of the file.'),
        206: rangeOfBytes,
        302: Empty('Redirect to the same path on the origin for user content.'),
        416: outsideOfBytes,
      },
    },
    handler: async (request, reply) => {
      const { id } = request.params
      const { token } = request.query
      const claims = requireToken(deps, token, 'get', id)
      const { baseUrl, contentBaseUrl } = config
      const isContentOrigin = isOnContentOrigin(request, contentBaseUrl)
      if (contentBaseUrl !== undefined && !isContentOrigin) {
        reply.header('cache-control', 'no-store')
        return reply.redirect(contentOriginUrl(contentBaseUrl, claims.fileId, token), 302)
      }
      const content = await getContent(db.hot, { orgId: claims.orgId, unrestrictedBy: 'signed URL' }, id)
      const headers =
        isContentOrigin && claims.disposition.startsWith('inline;')
          ? contentOriginHeaders(claims.disposition, claims.contentType, new URL(originOf(request, baseUrl)).origin)
          : downloadHeaders(claims.contentType, claims.disposition)
      return sendContent(request, reply, { objects, content, headers })
    },
  })
}

const registerFileChanges = (app: App, deps: FilesDeps): void => {
  const { config, db } = deps
  app.patch(
    `${apiPrefix}/files/:id`,
    {
      config: {
        access: 'files:write',
        what: 'File',
        events: ['file.updated', 'file.moved', 'folder.updated', 'folder.moved'],
      },
      schema: {
        tags: ['Files'],
        summary: 'Update a file',
        description:
          'Renames, moves or tags a file, folder or link. At least one field is required. A folder takes its content along and cannot be moved into itself. FORBIDDEN for the folder of a project.',
        params: IdParams,
        body: FilePatch,
        response: { 200: Success(File) },
      },
    },
    async (request, reply) => {
      const { actor } = request
      const row = await updateFile(db, actor, request.params.id, {
        patch: request.body,
        ifMatch: request.headers['if-match'],
      })
      return sendResource(request, reply, fileRecord(row, actor.orgId, originOf(request, config.baseUrl)))
    },
  )

  app.delete(
    `${apiPrefix}/files/:id`,
    {
      config: { access: 'files:write', what: 'File', events: ['file.deleted', 'folder.deleted'] },
      schema: {
        tags: ['Files'],
        summary: 'Delete a file',
        description:
          'Moves a file or link, or a folder with everything in it, to the trash, from which it is deleted after 30 days or as the server is configured. With `permanent`, deletes it at once, also when it is in the trash; bytes that no other file uses are then removed within a minute. FORBIDDEN for the folder of a project.',
        params: IdParams,
        querystring: FileDeleteQuery,
        response: { 200: Success(Deleted) },
      },
    },
    async (request) => {
      const { actor, headers, params, query } = request
      await deleteFile(deps, actor, params.id, {
        ifMatch: headers['if-match'],
        isPermanent: query.permanent,
        isTrashed: query.trashed,
      })
      return ok({ deleted: true as const })
    },
  )
}
