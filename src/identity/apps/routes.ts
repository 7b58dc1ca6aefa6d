import type { FastifyRequest } from 'fastify'
import { badRequest } from '../../platform/http/errors.ts'
import { rejectTags } from '../../platform/http/etag.ts'
import { apiPrefix } from '../../platform/http/http.ts'
import type { App } from '../../platform/http/http.ts'
import { CursorList, CursorQuery, Deleted, IdParams, ok, Success } from '../../platform/http/schemas.ts'
import { workspaceOf } from '../actor.ts'
import { afterId, idList } from '../id-list.ts'
import { requireStepUp, stepUpTokenOf } from '../sign-in/second-factor/step-up.ts'
import type { AppDeps } from './deps.ts'
import { authorizeApp, requirePerson, revokeApp } from './grants.ts'
import { issuerOf } from './metadata.ts'
import * as queries from './queries.ts'
import { readRequest, redirectTo } from './request.ts'
import type { AppScope } from './request.ts'
import {
  Authorization,
  AuthorizationDecision,
  AuthorizationQuery,
  AuthorizationResult,
  AuthorizedApp,
} from './schemas.ts'

const tags = ['Authorized apps']
const path = `${apiPrefix}/apps`

/** The host, or the scheme of a program, by which a person recognizes where they are sent. */
const hostOf = (redirectUri: string): string => {
  const url = new URL(redirectUri)
  return url.protocol === 'https:' || url.protocol === 'http:' ? url.host : url.protocol
}

export const registerAppRoutes = (app: App, deps: AppDeps): void => {
  const { db, config } = deps
  const issuerFor = (request: FastifyRequest): string => {
    const issuer = issuerOf(request, config.baseUrl)
    if (issuer === undefined) throw badRequest('The server needs BASE_URL to authorize apps on other machines.')
    return issuer
  }

  app.get(
    path,
    {
      config: { access: 'keys:read' },
      schema: {
        tags,
        summary: 'List authorized apps',
        description:
          'Returns the apps that the caller has authorized to use the MCP server, newest first. Owners and admins get those of all members of the org. Apps whose authorization was revoked or has expired are left out.',
        querystring: CursorQuery,
        response: { 200: Success(CursorList(AuthorizedApp)) },
      },
    },
    async ({ actor, query }) => {
      const rows = await queries.listApps(db, actor, query.limit + 1, afterId(query.cursor))
      const items = rows.map((row) => ({ ...row, redirectHost: hostOf(row.redirectUri) }))
      return idList(items, query.limit, (row) => row.id)
    },
  )

  app.delete(
    `${path}/:id`,
    {
      preHandler: rejectTags,
      config: { access: 'keys:write', what: 'App', events: ['api_key.revoked'] },
      schema: {
        tags,
        summary: 'Revoke an authorized app',
        description:
          'Ends the authorization of an app at once, on every server process. Running streams of the app end within a second. Members may revoke their own apps, owners and admins any app of the org. Revoking an app again changes nothing.',
        params: IdParams,
        response: { 200: Success(Deleted) },
      },
    },
    async ({ actor, params }) => {
      await revokeApp(db, actor, params.id)
      return ok({ deleted: true as const })
    },
  )

  app.get(
    `${path}/authorization`,
    {
      config: { access: 'keys:read' },
      schema: {
        tags,
        summary: 'Retrieve an authorization request',
        description:
          'Validates the authorization request of an app and returns what a person needs to know to decide. For the console: requires the session of a signed-in person. BAD_REQUEST for an invalid request, of which the app is not told.',
        querystring: AuthorizationQuery,
        response: { 200: Success(Authorization) },
      },
    },
    async (request) => {
      const { actor, query } = request
      requirePerson(actor)
      const { client, redirectUri, scopes } = await readRequest(deps, actor, issuerFor(request), query.request)
      const isLocal = !redirectUri.startsWith('https:')
      return ok({ name: client.name, publisher: client.publisher, redirectHost: hostOf(redirectUri), isLocal, scopes })
    },
  )

  app.post(
    `${path}/authorization`,
    {
      config: { access: 'keys:write', idempotency: false, events: ['api_key.created'] },
      schema: {
        tags,
        summary: 'Decide an authorization request',
        description:
          'Authorizes an app, which requires step-up, or rejects its request, and returns the URL with the result. For the console: requires the session of a signed-in person. The app gets the permissions in `scopes` as far as the person has them at the time of each request.',
        body: AuthorizationDecision,
        response: { 200: Success(AuthorizationResult) },
      },
    },
    async (request, reply) => {
      const { actor, body } = request
      requirePerson(actor)
      const issuer = issuerFor(request)
      const asked = await readRequest(deps, actor, issuer, body.request)
      reply.header('cache-control', 'no-store')
      if (!body.approved) return ok({ redirectTo: redirectTo(asked, issuer, { error: 'access_denied' }) })
      // The app stays authorized when the session ends, so a stolen session must not be enough.
      await requireStepUp(db, actor, stepUpTokenOf(request))
      const code = await authorizeApp(db, actor, asked, {
        workspaceId: body.workspaceId ?? workspaceOf(actor),
        scopes: (body.scopes ?? asked.scopes) as AppScope[],
        environment: config.keyEnvironment,
      })
      return ok({ redirectTo: redirectTo(asked, issuer, { code }) })
    },
  )
}
