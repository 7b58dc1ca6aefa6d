import type { FastifyContextConfig, FastifyRequest } from 'fastify'
import type { Config } from '../../../config/config.ts'
import type { Database } from '../../../platform/database/database.ts'
import { apiPrefix } from '../../../platform/http/http.ts'
import type { App } from '../../../platform/http/http.ts'
import { Deleted, IdParams, ok, Success } from '../../../platform/http/schemas.ts'
import type { Origin } from '../../actor.ts'
import { isSecure, requireOwnOrigin } from '../../authentication.ts'
import type { SignInContext } from '../context.ts'
import { rawCookie, sessionCookie } from '../session-cookie.ts'
import { currentSession, endOtherSessions, endSession, listOwnSessions } from './own-sessions.ts'
import type { CurrentSession } from './queries.ts'
import { OwnSessionList, SessionsEnded } from './schemas.ts'

const tags = ['Sign-in']
const path = `${apiPrefix}/auth/sessions`

export interface OwnSessionDeps {
  config: Config
  db: Database
  signIn: SignInContext
}

/** `public`, because a session may belong to a person who is a member of no org; each handler checks the session. */
export const registerOwnSessionRoutes = (app: App, { config, db, signIn }: OwnSessionDeps): void => {
  const routeConfig: FastifyContextConfig = {
    access: 'public',
    rateLimit: 'signIn',
    errors: ['UNAUTHORIZED', 'FORBIDDEN'],
  }
  const sessionOf = (request: FastifyRequest): Promise<CurrentSession> => {
    const cookie = rawCookie(request.headers.cookie, sessionCookie, isSecure(request, config.baseUrl))
    return currentSession(db, signIn.secret, cookie)
  }
  const originOfCall = ({ ip, id }: FastifyRequest): Origin => ({ ip, requestId: id })

  app.get(
    path,
    {
      config: { access: 'public', errors: ['UNAUTHORIZED'] },
      schema: {
        tags,
        summary: 'List your sessions',
        description:
          'Returns the browsers in which the person is signed in. Accepts a session only, not an API key. A session that started with the sign-in link of one org sees only sessions of that org.',
        response: { 200: Success(OwnSessionList) },
      },
    },
    async (request, reply) => {
      reply.header('cache-control', 'no-store')
      return ok({ items: await listOwnSessions(db, await sessionOf(request)) })
    },
  )

  app.delete(
    path,
    {
      config: routeConfig,
      schema: {
        tags,
        summary: 'Sign out of other sessions',
        description:
          'Ends all sessions of the person except the current one, at once. Accepts a session only, not an API key. A session that started with the sign-in link of one org ends only sessions of that org.',
        response: { 200: Success(SessionsEnded) },
      },
    },
    async (request) => {
      requireOwnOrigin(request, config.baseUrl)
      return ok({ ended: await endOtherSessions(db, await sessionOf(request), originOfCall(request)) })
    },
  )

  app.delete(
    `${path}/:id`,
    {
      config: { ...routeConfig, what: 'Session' },
      schema: {
        tags,
        summary: 'Sign out of a session',
        description:
          'Ends one session of the person, at once. Accepts a session only, not an API key. NOT_FOUND for sessions of other people.',
        params: IdParams,
        response: { 200: Success(Deleted) },
      },
    },
    async (request) => {
      requireOwnOrigin(request, config.baseUrl)
      await endSession(db, await sessionOf(request), request.params.id, originOfCall(request))
      return ok({ deleted: true as const })
    },
  )
}
