import type { FastifyRequest } from 'fastify'
import type { Config } from '../../config/config.ts'
import type { Database } from '../../platform/database/database.ts'
import { apiPrefix } from '../../platform/http/http.ts'
import type { App } from '../../platform/http/http.ts'
import { IdParams, ok, Success } from '../../platform/http/schemas.ts'
import { isSecure, requireOwnOrigin } from '../authentication.ts'
import type { SessionOwnerRow } from './invitation-queries.ts'
import * as invitations from './invitations.ts'
import { InvitationAccepted, InvitationDeclined, InvitationList } from '../schemas.ts'
import { rawCookie, sessionCookie } from '../sign-in/session-cookie.ts'
import type { SignInContext } from '../sign-in/context.ts'

const tags = ['Members']

export interface InvitationRouteDeps {
  config: Config
  db: Database
  signIn: SignInContext
}

/**
 * Authenticated by the session cookie only. The routes are `public` because an invited person may not be a member of any
 * org; each handler checks the session.
 */
export const registerInvitationRoutes = (app: App, { config, db, signIn }: InvitationRouteDeps): void => {
  const ownerOf = (request: FastifyRequest): Promise<SessionOwnerRow> => {
    const secure = isSecure(request, config.baseUrl)
    return invitations.sessionOwner(db, signIn.secret, rawCookie(request.headers.cookie, sessionCookie, secure))
  }
  const originOfCall = (request: FastifyRequest) => ({ ip: request.ip, requestId: request.id })

  app.get(
    `${apiPrefix}/me/invitations`,
    {
      config: { access: 'public', errors: ['UNAUTHORIZED'] },
      schema: {
        tags,
        summary: 'List your invitations',
        description:
          'Returns the open invitations of a person who is signed in, oldest first, at most 100. Accepts a session only, not an API key. A session that started with the sign-in link of one org sees only the invitation of that org.',
        response: { 200: Success(InvitationList) },
      },
    },
    async (request, reply) => {
      reply.header('cache-control', 'no-store')
      return ok({ items: await invitations.listOwnInvitations(db, await ownerOf(request)) })
    },
  )

  app.post(
    `${apiPrefix}/me/invitations/:id/accept`,
    {
      config: {
        access: 'public',
        rateLimit: 'signIn',
        what: 'Invitation',
        errors: ['UNAUTHORIZED', 'FORBIDDEN', 'NOT_FOUND'],
        events: ['member.accepted'],
      },
      schema: {
        tags,
        summary: 'Accept an invitation',
        description:
          'Makes the person who is signed in a member of the org. Accepts a session only, not an API key. NOT_FOUND for invitations of other people.',
        params: IdParams,
        response: { 200: Success(InvitationAccepted) },
      },
    },
    async (request) => {
      requireOwnOrigin(request, config.baseUrl)
      const owner = await ownerOf(request)
      return ok(await invitations.acceptInvitation(db, owner, request.params.id, originOfCall(request)))
    },
  )

  app.post(
    `${apiPrefix}/me/invitations/:id/decline`,
    {
      config: {
        access: 'public',
        rateLimit: 'signIn',
        what: 'Invitation',
        errors: ['UNAUTHORIZED', 'FORBIDDEN', 'NOT_FOUND'],
        events: ['member.declined'],
      },
      schema: {
        tags,
        summary: 'Decline an invitation',
        description:
          'Ends the invitation. Accepts a session only, not an API key. A session that started with the sign-in link of that org ends, too.',
        params: IdParams,
        response: { 200: Success(InvitationDeclined) },
      },
    },
    async (request) => {
      requireOwnOrigin(request, config.baseUrl)
      const owner = await ownerOf(request)
      await invitations.declineInvitation(db, owner, request.params.id, originOfCall(request))
      return ok({ declined: true as const })
    },
  )
}
