import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { onceClosed } from '../../platform/http/closed.ts'
import { badRequest } from '../../platform/http/errors.ts'
import { isNotModified, rejectTags } from '../../platform/http/etag.ts'
import { apiPrefix, originOf } from '../../platform/http/http.ts'
import type { App } from '../../platform/http/http.ts'
import { revalidated } from '../../platform/http/response-headers.ts'
import { Deleted, Empty, ok, Success } from '../../platform/http/schemas.ts'
import { LogoBody, LogoQuery, OrgSettings } from '../schemas.ts'
import type { OrgRecordOf, OrgRouteDeps } from './deps.ts'
import { getLogo, logoPath, removeLogo, setLogo } from './logo.ts'

const tags = ['Org']
const pictureTypes = ['image/png', 'image/jpeg', 'image/webp']
const maxPictureBytes = 1_048_576

/** The public URL of the logo of an org. Null without a logo. */
export const logoUrlOf = (
  request: FastifyRequest,
  baseUrl: string | undefined,
  { id, logoVersion }: { id: string; logoVersion: string | null },
): string | null => {
  const path = logoPath(id, logoVersion)
  return path === null ? null : originOf(request, baseUrl) + path
}

const registerSetLogo = (app: App, { db, makeLogo }: OrgRouteDeps, recordOf: OrgRecordOf): void => {
  app.register(async (scope: App) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser(
      pictureTypes,
      { parseAs: 'buffer', bodyLimit: maxPictureBytes },
      (_request, body, done) => done(null, body),
    )
    scope.put(
      `${apiPrefix}/org/logo`,
      {
        // Each one starts a process.
        config: { access: 'org:write', rateLimit: 'uploads', events: ['org.updated'], errors: ['SERVICE_UNAVAILABLE'] },
        bodyLimit: maxPictureBytes,
        schema: {
          tags,
          summary: 'Set the logo of the org',
          description:
            'Sets the logo to the picture in the body: PNG, JPEG or WebP with at most 1 MB and 60 million pixels. It is stored as a square of 64 and of 256 pixels, with the whole picture in its middle. Everybody who knows the URL of the logo can see it: it is on the pages of share links and sign-in links. BAD_REQUEST for a file that is damaged or of another type.',
          body: LogoBody,
          response: { 200: Success(OrgSettings) },
        },
      },
      async (request, reply) => {
        const { actor, body } = request
        if (!Buffer.isBuffer(body)) throw badRequest('The body must be a PNG, JPEG or WebP picture.')
        const disconnect = new AbortController()
        onceClosed(reply.raw, () => disconnect.abort(badRequest('The request was aborted.')))
        const logo = await makeLogo(body, actor.orgId, disconnect.signal)
        return ok(recordOf(request, await setLogo(db, actor, logo)))
      },
    )
  })
}

export const registerLogoRoutes = (app: App, deps: OrgRouteDeps, recordOf: OrgRecordOf): void => {
  const { db } = deps
  registerSetLogo(app, deps, recordOf)

  app.get(
    `${apiPrefix}/org/logo`,
    {
      config: { access: 'member', errors: ['NOT_FOUND'] },
      schema: {
        tags,
        summary: 'Retrieve the logo of the org',
        description:
          'Returns the logo as a WebP picture with an ETag. NOT_FOUND when the org has none. `logoUrl` of the org is its public URL.',
        querystring: LogoQuery,
        response: {
          200: { description: 'The picture.', content: { 'image/webp': { schema: Type.Unknown() } } },
          304: Empty('The client has this picture.'),
        },
      },
    },
    async (request, reply) => {
      const { actor, query } = request
      const { version, small, large } = await getLogo(db, actor.orgId)
      const etag = `"${version}.${query.size}"`
      reply.headers({ etag, 'cache-control': revalidated })
      if (isNotModified(request.headers['if-none-match'], etag)) return reply.code(304).send()
      return reply.type('image/webp').send(query.size === 64 ? small : large)
    },
  )

  app.delete(
    `${apiPrefix}/org/logo`,
    {
      config: { access: 'org:write', events: ['org.updated'], errors: ['NOT_FOUND'] },
      preHandler: rejectTags,
      schema: {
        tags,
        summary: 'Remove the logo of the org',
        description: 'Removes the logo of the org. NOT_FOUND when it has none.',
        response: { 200: Success(Deleted) },
      },
    },
    async ({ actor }) => {
      await removeLogo(db, actor)
      return ok({ deleted: true as const })
    },
  )

  app.get(
    '/logos/:orgId/:version',
    {
      // Pages without a session show it. Its version is as hard to guess as a token.
      config: { access: 'public', rateLimit: 'reads', what: 'Logo' },
      schema: {
        hide: true,
        summary: 'The logo of an org',
        params: Type.Object({ orgId: Type.String({ format: 'uuid' }), version: Type.String({ maxLength: 64 }) }),
        querystring: LogoQuery,
        response: { 200: Type.Unknown() },
      },
    },
    async ({ params, query }, reply) => {
      const { small, large } = await getLogo(db, params.orgId, params.version)
      reply.header('cache-control', 'public, max-age=31536000, immutable')
      return reply.type('image/webp').send(query.size === 64 ? small : large)
    },
  )
}
