import type { FastifyContextConfig, FastifyReply, FastifyRequest } from 'fastify'
import type { Config } from '../../config/config.ts'
import type { Database } from '../../platform/database/database.ts'
import { badRequest, forbidden } from '../../platform/http/errors.ts'
import { apiPrefix } from '../../platform/http/http.ts'
import type { App } from '../../platform/http/http.ts'
import { Deleted, Nullable, ok, Success } from '../../platform/http/schemas.ts'
import type { Actor } from '../actor.ts'
import { isSecure, requireOwnOrigin } from '../authentication.ts'
import * as queries from '../members/person-queries.ts'
import { changePassword, stepUp } from './second-factor/proofs.ts'
import {
  PasswordChange,
  PasswordChanged,
  Session,
  SignedIn,
  SignedOut,
  SignIn,
  SignInCode,
  SignInLink,
  StepUp,
  StepUpToken,
  TwoFactorBegin,
  TwoFactorConfirm,
  TwoFactorEnabled,
  TwoFactorSecret,
} from './schemas.ts'
import type { SignInLibrary, Visit } from './sign-in-library.ts'
import { confirmSignIn, lookAtSession, signIn, signInByLink, signOut } from './sign-in.ts'
import { requireStepUp, stepUpTokenOf } from './second-factor/step-up.ts'
import { beginTwoFactor, confirmTwoFactor, removeTwoFactor } from './second-factor/two-factor.ts'

const tags = ['Sign-in']

export interface AuthRouteDeps {
  config: Config
  db: Database
  library: SignInLibrary
}

const visitOf = (request: FastifyRequest, baseUrl: string | undefined): Visit => ({
  cookies: request.headers.cookie,
  userAgent: request.headers['user-agent'],
  secure: isSecure(request, baseUrl),
  origin: { ip: request.ip, requestId: request.id },
})

const setCookies = (reply: FastifyReply, cookies: string[]): void => {
  reply.header('cache-control', 'no-store')
  if (cookies.length > 0) reply.header('set-cookie', cookies)
}

/** Somebody who has a key only must not set up a way to sign in, and with that to step up. */
const requireSession = (actor: Actor): void => {
  if (actor.apiKey !== null) throw forbidden('This is for people who signed in, not for API keys.')
}

/** Guessing a person's password or code is slow, whichever way it is tried. By org: none may use up another one's. */
const limitProofs = (request: FastifyRequest): Promise<void> =>
  request.takeRateLimit('signIn', `user:${request.actor.userId}:${request.actor.orgId}`)

const registerSignIn = (app: App, { config, db, library }: AuthRouteDeps): void => {
  const { baseUrl } = config
  const routeConfig: FastifyContextConfig = {
    access: 'public',
    rateLimit: 'signIn',
    errors: ['UNAUTHORIZED', 'FORBIDDEN'],
  }
  // A page elsewhere could otherwise sign its visitor in as somebody else.
  const onRequest = async (request: FastifyRequest): Promise<void> => {
    if (request.headers.origin !== undefined) requireOwnOrigin(request, baseUrl)
  }

  app.post(
    `${apiPrefix}/auth/sign-in`,
    {
      config: routeConfig,
      onRequest,
      schema: { tags, summary: 'Sign in by password', body: SignIn, response: { 200: Success(SignedIn) } },
    },
    async (request, reply) => {
      const { email, password } = request.body
      const { cookies, twoFactorRequired } = await signIn(library, email, password, visitOf(request, baseUrl))
      setCookies(reply, cookies)
      return ok({ twoFactorRequired })
    },
  )

  app.post(
    `${apiPrefix}/auth/sign-in/link`,
    {
      config: routeConfig,
      onRequest,
      schema: {
        tags,
        summary: 'Sign in by a one-time link',
        description: '`token` is what follows `#link=` in the link.',
        body: SignInLink,
        response: { 200: Success(SignedIn) },
      },
    },
    async (request, reply) => {
      const { cookies, twoFactorRequired } = await signInByLink(library, request.body.token, visitOf(request, baseUrl))
      setCookies(reply, cookies)
      return ok({ twoFactorRequired })
    },
  )

  app.post(
    `${apiPrefix}/auth/sign-in/totp`,
    {
      config: routeConfig,
      onRequest,
      schema: {
        tags,
        summary: 'Confirm a sign-in by a code',
        description: 'Of the authenticator (`code`) or one of the backup codes (`backupCode`); each works once.',
        body: SignInCode,
        response: { 200: Success(SignedIn) },
      },
    },
    async (request, reply) => {
      const { code, backupCode } = request.body
      if ((code === undefined) === (backupCode === undefined)) throw badRequest('Send either code or backupCode.')
      const proof = code === undefined ? { backupCode: backupCode as string } : { code }
      const { cookies, twoFactorRequired } = await confirmSignIn(library, proof, visitOf(request, baseUrl))
      setCookies(reply, cookies)
      return ok({ twoFactorRequired })
    },
  )

  app.post(
    `${apiPrefix}/auth/sign-out`,
    {
      config: { access: 'public', errors: ['FORBIDDEN'] },
      schema: { tags, summary: 'End the session of this browser', response: { 200: Success(SignedOut) } },
    },
    async (request, reply) => {
      requireOwnOrigin(request, baseUrl)
      setCookies(reply, await signOut(library, visitOf(request, baseUrl)))
      return ok({ signedOut: true as const })
    },
  )

  app.get(
    `${apiPrefix}/auth/session`,
    {
      config: { access: 'public' },
      schema: {
        tags,
        summary: 'Who this browser is signed in as',
        description:
          '`data` is null when nobody is. Asking keeps the session alive: it ends 7 days after the last time.',
        response: { 200: Success(Nullable(Session)) },
      },
    },
    async (request, reply) => {
      const { cookies, session } = await lookAtSession(library, visitOf(request, baseUrl))
      setCookies(reply, cookies)
      const account = session && (await queries.findAccount(db, session.id))
      if (!session || !account) return ok(null)
      const { orgs, failedSignIns, ...user } = account
      return ok({ user, orgs, expiresAt: session.expiresAt, failedSignIns })
    },
  )
}

const registerProofs = (app: App, { config, db, library }: AuthRouteDeps): void => {
  const { baseUrl } = config
  // Proofs, secrets and cookies are not to be remembered, let alone answered again.
  const routeConfig = { access: 'member' as const, idempotency: false as const }

  app.post(
    `${apiPrefix}/auth/step-up`,
    {
      config: routeConfig,
      schema: {
        tags,
        summary: 'Prove that it is you',
        description:
          'By password or by a code of the authenticator. The token goes into `X-Step-Up-Token` of the calls that ask for it; it is good for 10 minutes and until the password changes.',
        body: StepUp,
        response: { 200: Success(StepUpToken) },
      },
    },
    async (request, reply) => {
      await limitProofs(request)
      reply.header('cache-control', 'no-store')
      return ok(await stepUp(library, request.actor, request.body))
    },
  )

  app.post(
    `${apiPrefix}/auth/password`,
    {
      config: routeConfig,
      schema: {
        tags,
        summary: 'Change the password',
        description:
          'For people who signed in. The other sessions that the old password opened end, and its step-up tokens. The new one opens the orgs that the old one did and those of this session. A session that no password opens yet sets a first one without `currentPassword`; with that of another org, both orgs get the new one.',
        body: PasswordChange,
        response: { 200: Success(PasswordChanged) },
      },
    },
    async (request, reply) => {
      requireSession(request.actor)
      await limitProofs(request)
      const { currentPassword, newPassword, totpCode } = request.body
      const passwords = { current: currentPassword, next: newPassword, totpCode }
      setCookies(reply, await changePassword(library, request.actor, passwords, visitOf(request, baseUrl)))
      return ok({ changed: true as const })
    },
  )

  app.post(
    `${apiPrefix}/auth/two-factor`,
    {
      config: { ...routeConfig, errors: ['CONFLICT'] },
      schema: {
        tags,
        summary: 'Begin two-factor authentication',
        description: 'For people who signed in. It is on once a first code was confirmed.',
        body: TwoFactorBegin,
        response: { 201: Success(TwoFactorSecret) },
      },
    },
    async (request, reply) => {
      requireSession(request.actor)
      await limitProofs(request)
      const begun = await beginTwoFactor(library, request.actor, request.body.password, visitOf(request, baseUrl))
      return reply.code(201).header('cache-control', 'no-store').send(ok(begun))
    },
  )

  app.post(
    `${apiPrefix}/auth/two-factor/confirm`,
    {
      config: { ...routeConfig, errors: ['CONFLICT'] },
      schema: {
        tags,
        summary: 'Confirm two-factor authentication by a first code',
        body: TwoFactorConfirm,
        response: { 200: Success(TwoFactorEnabled) },
      },
    },
    async (request, reply) => {
      requireSession(request.actor)
      await limitProofs(request)
      setCookies(reply, await confirmTwoFactor(library, request.actor, request.body.code, visitOf(request, baseUrl)))
      return ok({ enabled: true as const })
    },
  )

  app.delete(
    `${apiPrefix}/auth/two-factor`,
    {
      config: routeConfig,
      schema: {
        tags,
        summary: 'Remove two-factor authentication',
        description: 'Needs step-up.',
        response: { 200: Success(Deleted) },
      },
    },
    async (request) => {
      await requireStepUp(db, request.actor, stepUpTokenOf(request))
      await removeTwoFactor(library, request.actor)
      return ok({ deleted: true as const })
    },
  )
}

export const registerAuthRoutes = (app: App, deps: AuthRouteDeps): void => {
  registerSignIn(app, deps)
  registerProofs(app, deps)
}
