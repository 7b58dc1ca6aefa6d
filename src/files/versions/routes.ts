import { sendResource } from '../../platform/http/etag.ts'
import { apiPrefix, originOf } from '../../platform/http/http.ts'
import type { App } from '../../platform/http/http.ts'
import { Bytes, CursorList, CursorQuery, Deleted, Empty, IdParams, Success, ok } from '../../platform/http/schemas.ts'
import type { FilesDeps } from '../deps.ts'
import { dispositionOf, downloadHeaders } from '../downloads/content-headers.ts'
import { sendContent } from '../downloads/send-content.ts'
import { fileRecord } from '../record.ts'
import { File } from '../schemas.ts'
import { Retention, RetentionPatch, Version, VersionParams, VersionPatch } from './schemas.ts'
import { getRetention, setRetention } from './retention.ts'
import { deleteVersion, getVersionContent, labelVersion, listVersions, restoreVersion } from './versions.ts'

export const registerVersionRoutes = (app: App, deps: FilesDeps): void => {
  const { config, db, objects } = deps
  registerRetentionRoutes(app, deps)

  app.get(
    `${apiPrefix}/files/:id/versions`,
    {
      config: { access: 'files:read', what: 'File', errors: ['CONFLICT'] },
      schema: {
        tags: ['Files'],
        summary: 'List the versions of a file',
        description:
          'Returns the versions of the content of a file, the newest first, beginning with the current one. BAD_REQUEST for a folder or link, CONFLICT while the file is pending.',
        params: IdParams,
        querystring: CursorQuery,
        response: { 200: Success(CursorList(Version)) },
      },
    },
    async ({ actor, params, query }) => ok(await listVersions(db, actor, params.id, query)),
  )

  app.get(
    `${apiPrefix}/files/:id/versions/:version/content`,
    {
      config: { access: 'files:read', what: 'File', errors: ['CONFLICT'] },
      schema: {
        tags: ['Files'],
        summary: 'Download a version of a file',
        description:
          'Returns the bytes of a version as an attachment with the name of the file. Supports `Range` and `If-None-Match`.',
        params: VersionParams,
        response: {
          200: Bytes('The bytes of the version.'),
          206: Bytes('The requested range of bytes.'),
          416: Empty('The requested range is outside of the version.'),
        },
      },
    },
    async (request, reply) => {
      const { id, version } = request.params
      const content = await getVersionContent(db, request.actor, id, version)
      const headers = downloadHeaders(content.mimeType, dispositionOf('attachment', content.name))
      return sendContent(request, reply, { objects, content, headers })
    },
  )

  app.post(
    `${apiPrefix}/files/:id/versions/:version/restore`,
    {
      config: {
        access: 'files:write',
        what: 'File',
        errors: ['CONFLICT', 'PAYMENT_REQUIRED'],
        events: ['file.updated', 'file.version_created'],
      },
      schema: {
        tags: ['Files'],
        summary: 'Restore a version of a file',
        description:
          'Makes the bytes of a version the content of the file again, as a new version. The content that the file had becomes a version too. PAYMENT_REQUIRED or FORBIDDEN when a quota of the org is used up, CONFLICT when `If-Match` names another version of the file.',
        params: VersionParams,
        response: { 200: Success(File) },
      },
    },
    async (request, reply) => {
      const { actor, headers, params } = request
      const row = await restoreVersion(deps, request.db, actor, {
        fileId: params.id,
        version: params.version,
        ifMatch: headers['if-match'],
      })
      return sendResource(request, reply, fileRecord(row, actor.orgId, originOf(request, config.baseUrl)))
    },
  )

  app.patch(
    `${apiPrefix}/files/:id/versions/:version`,
    {
      config: { access: 'files:write', what: 'File', errors: ['CONFLICT'], events: ['file.version_updated'] },
      schema: {
        tags: ['Files'],
        summary: 'Label a version of a file',
        description:
          'Sets or removes the label of a version. A version with a label is kept until somebody deletes it; a file has at most 100 of them. `If-Match` is compared with the ETag of the file.',
        params: VersionParams,
        body: VersionPatch,
        response: { 200: Success(Version) },
      },
    },
    async ({ actor, body, headers, params }) => {
      const asked = { fileId: params.id, version: params.version, ifMatch: headers['if-match'] }
      return ok(await labelVersion(db, actor, asked, body.label))
    },
  )

  app.delete(
    `${apiPrefix}/files/:id/versions/:version`,
    {
      config: {
        access: 'files:write',
        what: 'File',
        errors: ['BAD_REQUEST', 'CONFLICT'],
        events: ['file.version_deleted'],
      },
      schema: {
        tags: ['Files'],
        summary: 'Delete a version of a file',
        description:
          'Deletes a former version permanently. Its bytes are removed within a minute when nothing else uses them. BAD_REQUEST for the current version. `If-Match` is compared with the ETag of the file.',
        params: VersionParams,
        response: { 200: Success(Deleted) },
      },
    },
    async ({ actor, headers, params }) => {
      await deleteVersion(deps, actor, { fileId: params.id, version: params.version, ifMatch: headers['if-match'] })
      return ok({ deleted: true as const })
    },
  )
}

const registerRetentionRoutes = (app: App, { config, db }: FilesDeps): void => {
  app.get(
    `${apiPrefix}/files/retention`,
    {
      config: { access: 'files:read' },
      schema: {
        tags: ['Files'],
        summary: 'Retrieve how long versions are kept',
        description: 'Returns how many versions of each file of the org are kept, and for how long.',
        response: { 200: Success(Retention) },
      },
    },
    async ({ actor }) => ok(await getRetention(db, actor.orgId, config.retention)),
  )

  app.patch(
    `${apiPrefix}/files/retention`,
    {
      config: { access: 'org:write' },
      schema: {
        tags: ['Files'],
        summary: 'Update how long versions are kept',
        description:
          'Sets how many versions of each file of the org are kept, and for how long. Versions that are older than that are deleted within an hour; those beyond the number, when their file is overwritten the next time.',
        body: RetentionPatch,
        response: { 200: Success(Retention) },
      },
    },
    async ({ actor, body }) => {
      await setRetention(db, actor, body)
      return ok(await getRetention(db, actor.orgId, config.retention))
    },
  )
}
