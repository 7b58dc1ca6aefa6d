import type { FastifyRequest } from 'fastify'
import { sendResource } from '../../platform/http/etag.ts'
import { apiPrefix, originOf } from '../../platform/http/http.ts'
import type { App } from '../../platform/http/http.ts'
import { CursorList, CursorQuery, Deleted, IdParams, Success, ok } from '../../platform/http/schemas.ts'
import type { ArchiveSender } from '../archive/send-archive.ts'
import type { FilesDeps } from '../deps.ts'
import { withEnds } from './ends.ts'
import { createShareHashes } from './passwords.ts'
import type { HashPassword } from './passwords.ts'
import { createVisitContext } from './running.ts'
import { registerVisitArchive } from './visit-archive.ts'
import { registerVisitRoutes } from './visit-routes.ts'
import { ListedShare, Share, ShareCreate, ShareCreated, ShareParams, SharePatch } from './schemas.ts'
import { createShare, listOrgShares, listShares, revokeShare, updateShare } from './shares.ts'

export const registerShareRoutes = (app: App, deps: FilesDeps, archives: ArchiveSender): void => {
  const { config, db } = deps
  const hashes = createShareHashes()
  const visitDeps = { ...deps, hashes }
  const context = createVisitContext(deps)
  registerVisitRoutes(app, visitDeps, context)
  registerVisitArchive(app, visitDeps, { ...context, archives })

  /** Hashes a password within the limit of the org, which is lower than that of other writes. */
  const hashFor =
    (request: FastifyRequest): HashPassword =>
    async (password) => {
      const { actor } = request
      await request.takeRateLimit('signIn', `share passwords of ${actor.orgId}`)
      return hashes.hash(actor, password)
    }

  app.get(
    `${apiPrefix}/files/:id/shares`,
    {
      config: { access: 'files:read', what: 'File' },
      schema: {
        tags: ['Files'],
        summary: 'List the shares of a file',
        description:
          'Returns the links of a file or folder, also of one in the trash, the newest first, without their URLs, of which only hashes are stored.',
        params: IdParams,
        querystring: CursorQuery,
        response: { 200: Success(CursorList(Share)) },
      },
    },
    async ({ actor, params, query }) => ok(await listShares(db, actor, params.id, query)),
  )

  app.get(
    `${apiPrefix}/files/shares`,
    {
      config: { access: 'files:read' },
      schema: {
        tags: ['Files'],
        summary: 'List all shares',
        description:
          'Returns the links of all files and folders of the org, the newest first, also those that have `ended`; expired ones are kept for 30 days. Links of files in the trash are left out: they do not work.',
        querystring: CursorQuery,
        response: { 200: Success(CursorList(ListedShare)) },
      },
    },
    async ({ actor, query }) => ok(await listOrgShares(db, actor, query)),
  )

  app.post(
    `${apiPrefix}/files/:id/shares`,
    {
      config: {
        access: 'files:write',
        what: 'File',
        idempotency: { omit: ['data.url'] },
        events: ['file.share_created'],
        errors: ['SERVICE_UNAVAILABLE'],
      },
      schema: {
        tags: ['Files'],
        summary: 'Share a file',
        description:
          'Creates a link by which anyone can see or download a file or folder, or upload into a folder, without an account. The URL is returned only once. A file has at most 100 links, an org 1,000. A link ends when its creator leaves the org, and when the API key by which it was created is revoked or expires. FORBIDDEN without `files:read`, except with `upload`. Passwords count per org against the rate limit `signIn` as well; SERVICE_UNAVAILABLE while too many are being hashed. BAD_REQUEST for a link to a file, and for a setting that does not apply. CONFLICT while the file is pending.',
        params: IdParams,
        body: ShareCreate,
        response: { 201: Success(ShareCreated) },
      },
    },
    async (request, reply) => {
      const { actor, body, params } = request
      const input = { ...body, permission: body.permission ?? ('download' as const) }
      const { share, token } = await createShare({ db: request.db, hash: hashFor(request) }, actor, params.id, input)
      reply.code(201).header('cache-control', 'no-store')
      return ok({ ...share, ended: false, url: `${originOf(request, config.baseUrl)}/s/${token}` })
    },
  )

  app.patch(
    `${apiPrefix}/files/:id/shares/:shareId`,
    {
      config: {
        access: 'files:write',
        what: 'Share',
        events: ['file.share_updated'],
        errors: ['SERVICE_UNAVAILABLE'],
      },
      schema: {
        tags: ['Files'],
        summary: 'Update a share',
        description:
          'Changes the settings of a link. They apply to the next request of its visitors; running downloads and uploads that they no longer allow end within a second. FORBIDDEN without `files:read`, except for a link with `upload`. A password counts and is limited as in the request that creates a link.',
        params: ShareParams,
        body: SharePatch,
        response: { 200: Success(Share) },
      },
    },
    async (request, reply) => {
      const { actor, body, headers, params } = request
      const asked = { fileId: params.id, shareId: params.shareId, ifMatch: headers['if-match'] }
      const share = await updateShare({ db, hash: hashFor(request) }, actor, asked, body)
      const [withEnd] = await withEnds(db, actor.orgId, [share])
      return sendResource(request, reply, withEnd ?? { ...share, ended: false })
    },
  )

  app.delete(
    `${apiPrefix}/files/:id/shares/:shareId`,
    {
      config: { access: 'files:write', what: 'Share', events: ['file.share_revoked'] },
      schema: {
        tags: ['Files'],
        summary: 'Revoke a share',
        description:
          'Ends a link at once, also of a file in the trash. Running downloads and uploads end within a second.',
        params: ShareParams,
        response: { 200: Success(Deleted) },
      },
    },
    async ({ actor, headers, params }) => {
      await revokeShare(db, actor, { fileId: params.id, shareId: params.shareId, ifMatch: headers['if-match'] })
      return ok({ deleted: true as const })
    },
  )
}
