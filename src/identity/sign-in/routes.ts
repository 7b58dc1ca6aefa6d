import type { FastifyContextConfig, FastifyReply, FastifyRequest } from 'fastify'
import type { Config } from '../../config/config.ts'
import type { Database } from '../../platform/database/database.ts'
import { badRequest, unauthorized } from '../../platform/http/errors.ts'
import type { ErrorCode } from '../../platform/http/errors.ts'
import { apiPrefix } from '../../platform/http/http.ts'
import type { App } from '../../platform/http/http.ts'
import { Deleted, Nullable, ok, Success } from '../../platform/http/schemas.ts'
import { isSecure, requireOwnOrigin } from '../authentication.ts'
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
  SignInLinkOrg,
  StepUp,
  StepUpToken,
  TwoFactorBegin,
  TwoFactorConfirm,
  TwoFactorEnabled,
  TwoFactorSecret,
} from './schemas.ts'
import type { BrowserRequest, SignInContext } from './context.ts'
import { logoUrlOf } from '../members/logo-routes.ts'
import { findLinkOrg } from './links.ts'
import { findAccount } from './queries.ts'
import { confirmSignIn, findSession, signIn, signInByLink, signOut } from './sign-in.ts'
import { requireSession } from './session-authority.ts'
import { registerOwnSessionRoutes } from './own-sessions/routes.ts'
import { requireStepUp, stepUpTokenOf } from './second-factor/step-up.ts'
import { beginTwoFactor, confirmTwoFactor, removeTwoFactor } from './second-factor/two-factor.ts'

const tags = ['Sign-in']

/** Of routes that hash a password: its queue is full. */
const tooManyHashes: ErrorCode[] = ['SERVICE_UNAVAILABLE']

export interface AuthRouteDeps {
  config: Config
  db: Database
  signIn: SignInContext
}

const browserRequestOf = (request: FastifyRequest, baseUrl: string | undefined): BrowserRequest => ({
  cookies: request.headers.cookie,
  userAgent: request.headers['user-agent'],
  secure: isSecure(request, baseUrl),
  origin: { ip: request.ip, requestId: request.id },
})

const setCookies = (reply: FastifyReply, cookies: string[]): void => {
  reply.header('cache-control', 'no-store')
  if (cookies.length > 0) reply.header('set-cookie', cookies)
}

/** All routes that check a password or code share one limit per person and org, so no org uses up that of another. */
const limitProofs = (request: FastifyRequest): Promise<void> =>
  request.takeRateLimit('signIn', `user:${request.actor.userId}:${request.actor.orgId}`)

const registerSignIn = (app: App, { config, db, signIn: context }: AuthRouteDeps): void => {
  const { baseUrl } = config
  const routeConfig: FastifyContextConfig = {
    access: 'public',
    rateLimit: 'signIn',
    errors: ['UNAUTHORIZED', 'FORBIDDEN'],
  }
  // Otherwise a page of another origin could sign its visitor in as somebody else.
  const onRequest = async (request: FastifyRequest): Promise<void> => {
    if (request.headers.origin !== undefined) requireOwnOrigin(request, baseUrl)
  }

  app.post(
    `${apiPrefix}/auth/sign-in`,
    {
      config: { ...routeConfig, errors: ['UNAUTHORIZED', 'FORBIDDEN', ...tooManyHashes] },
      onRequest,
      schema: {
        tags,
        summary: 'Sign in with a password',
        description:
          'Starts a session and sets its cookie. With two-factor authentication, `twoFactorRequired` is true and the session starts after `POST /auth/sign-in/totp`. UNAUTHORIZED when the address or the password is wrong. Failed attempts slow down further ones. SERVICE_UNAVAILABLE with `Retry-After` when too many attempts from the same network (IPv4 /24, IPv6 /48) wait.',
        body: SignIn,
        response: { 200: Success(SignedIn) },
      },
    },
    async (request, reply) => {
      const { email, password } = request.body
      const { cookies, twoFactorRequired } = await signIn(context, email, password, browserRequestOf(request, baseUrl))
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
        summary: 'Sign in with a one-time link',
        description:
          'Starts a session with the token of a sign-in link and sets its cookie. With two-factor authentication, `twoFactorRequired` is true and the session starts after `POST /auth/sign-in/totp`. UNAUTHORIZED when the link is used or expired.',
        body: SignInLink,
        response: { 200: Success(SignedIn) },
      },
    },
    async (request, reply) => {
      const { cookies, twoFactorRequired } = await signInByLink(
        context,
        request.body.token,
        browserRequestOf(request, baseUrl),
      )
      setCookies(reply, cookies)
      return ok({ twoFactorRequired })
    },
  )

  app.post(
    `${apiPrefix}/auth/sign-in/link/check`,
    {
      config: { access: 'public', rateLimit: 'reads', errors: ['UNAUTHORIZED'] },
      schema: {
        tags,
        summary: 'Check a one-time link',
        description:
          'Returns the org that a sign-in link opens, without using the link. UNAUTHORIZED when it is used or expired.',
        body: SignInLink,
        response: { 200: Success(SignInLinkOrg) },
      },
    },
    async (request) => {
      const found = await findLinkOrg(db, request.body.token)
      if (!found) throw unauthorized('The sign-in link is used or has expired.')
      const { org } = found
      return ok({ org: org && { name: org.name, logoUrl: logoUrlOf(request, baseUrl, org) } })
    },
  )

  app.post(
    `${apiPrefix}/auth/sign-in/totp`,
    {
      config: routeConfig,
      onRequest,
      schema: {
        tags,
        summary: 'Confirm a sign-in with a code',
        description:
          'Completes a sign-in with a second factor: a code of the authenticator app (`code`) or a backup code (`backupCode`). Each works once. UNAUTHORIZED when the code is wrong.',
        body: SignInCode,
        response: { 200: Success(SignedIn) },
      },
    },
    async (request, reply) => {
      const { code, backupCode } = request.body
      if ((code === undefined) === (backupCode === undefined)) throw badRequest('Send either code or backupCode.')
      const proof = code === undefined ? { backupCode: backupCode as string } : { code }
      const { cookies, twoFactorRequired } = await confirmSignIn(context, proof, browserRequestOf(request, baseUrl))
      setCookies(reply, cookies)
      return ok({ twoFactorRequired })
    },
  )

  app.post(
    `${apiPrefix}/auth/sign-out`,
    {
      config: { access: 'public', errors: ['FORBIDDEN'] },
      schema: {
        tags,
        summary: 'Sign out',
        description:
          'Ends the session and clears its cookie. Succeeds without a session, too. FORBIDDEN without an `Origin` header of this server.',
        response: { 200: Success(SignedOut) },
      },
    },
    async (request, reply) => {
      requireOwnOrigin(request, baseUrl)
      setCookies(reply, await signOut(context, browserRequestOf(request, baseUrl)))
      return ok({ signedOut: true as const })
    },
  )

  app.get(
    `${apiPrefix}/auth/session`,
    {
      config: { access: 'public' },
      schema: {
        tags,
        summary: 'Retrieve the session',
        description:
          'Returns the person who is signed in, and the orgs that the session opens. `data` is null without a session. Each call extends the session to 7 days.',
        response: { 200: Success(Nullable(Session)) },
      },
    },
    async (request, reply) => {
      const { cookies, session } = await findSession(context, browserRequestOf(request, baseUrl))
      setCookies(reply, cookies)
      const account = session && (await findAccount(db, session.id))
      if (!session || !account) return ok(null)
      const { orgs: rows, failedSignIns, ...user } = account
      const orgs = rows.map((org) => ({ ...org, logoUrl: logoUrlOf(request, baseUrl, org) }))
      return ok({ user, orgs, expiresAt: session.expiresAt, failedSignIns })
    },
  )
}

const registerProofs = (app: App, { config, db, signIn: context }: AuthRouteDeps): void => {
  const { baseUrl } = config
  // Responses with secrets and cookies must not be stored for replay.
  const routeConfig = { access: 'member' as const, idempotency: false as const }

  app.post(
    `${apiPrefix}/auth/step-up`,
    {
      config: { ...routeConfig, errors: tooManyHashes },
      schema: {
        tags,
        summary: 'Create a step-up token',
        description:
          'Confirms the identity of the caller with a password or a code of the authenticator app, and returns a token for the header `X-Step-Up-Token`. The token is valid for 10 minutes and until the password changes. UNAUTHORIZED when the proof is wrong. Counts against the rate limit `signIn`.',
        body: StepUp,
        response: { 200: Success(StepUpToken) },
      },
    },
    async (request, reply) => {
      await limitProofs(request)
      reply.header('cache-control', 'no-store')
      return ok(await stepUp(context, request.actor, request.body))
    },
  )

  app.post(
    `${apiPrefix}/auth/password`,
    {
      config: { ...routeConfig, errors: tooManyHashes },
      schema: {
        tags,
        summary: 'Change the password',
        description:
          'Changes the password of a person who is signed in; API keys get FORBIDDEN. Ends the other sessions that the old password opened. The new password opens the orgs of the old one and those of this session. A session that no password opens yet sets a first one without `currentPassword`; with the password of another org, both orgs get the new one. Counts against the rate limit `signIn`.',
        body: PasswordChange,
        response: { 200: Success(PasswordChanged) },
      },
    },
    async (request, reply) => {
      requireSession(request.actor)
      await limitProofs(request)
      const { currentPassword, newPassword, totpCode } = request.body
      const passwords = { current: currentPassword, next: newPassword, totpCode }
      setCookies(reply, await changePassword(context, request.actor, passwords, browserRequestOf(request, baseUrl)))
      return ok({ changed: true as const })
    },
  )

  app.post(
    `${apiPrefix}/auth/two-factor`,
    {
      config: { ...routeConfig, errors: ['CONFLICT', ...tooManyHashes] },
      schema: {
        tags,
        summary: 'Set up two-factor authentication',
        description:
          'Returns a secret for an authenticator app to a person who is signed in; API keys get FORBIDDEN. Two-factor authentication is on after a first code is confirmed. CONFLICT when it is on already.',
        body: TwoFactorBegin,
        response: { 201: Success(TwoFactorSecret) },
      },
    },
    async (request, reply) => {
      requireSession(request.actor)
      await limitProofs(request)
      const begun = await beginTwoFactor(
        context,
        request.actor,
        request.body.password,
        browserRequestOf(request, baseUrl),
      )
      return reply.code(201).header('cache-control', 'no-store').send(ok(begun))
    },
  )

  app.post(
    `${apiPrefix}/auth/two-factor/confirm`,
    {
      config: { ...routeConfig, errors: ['CONFLICT'] },
      schema: {
        tags,
        summary: 'Confirm two-factor authentication',
        description:
          'Turns on two-factor authentication with a first code of the authenticator app. UNAUTHORIZED when the code is wrong. CONFLICT when it is on already.',
        body: TwoFactorConfirm,
        response: { 200: Success(TwoFactorEnabled) },
      },
    },
    async (request, reply) => {
      requireSession(request.actor)
      await limitProofs(request)
      setCookies(
        reply,
        await confirmTwoFactor(context, request.actor, request.body.code, browserRequestOf(request, baseUrl)),
      )
      return ok({ enabled: true as const })
    },
  )

  app.delete(
    `${apiPrefix}/auth/two-factor`,
    {
      config: routeConfig,
      schema: {
        tags,
        summary: 'Turn off two-factor authentication',
        description:
          'Removes the second factor of a person who is signed in; API keys get FORBIDDEN. Requires step-up. CONFLICT when two-factor authentication is off.',
        response: { 200: Success(Deleted) },
      },
    },
    async (request) => {
      // A key and the password, which is enough for step-up, must not turn off what protects a stolen password.
      requireSession(request.actor)
      await requireStepUp(db, request.actor, stepUpTokenOf(request))
      await removeTwoFactor(context, request.actor)
      return ok({ deleted: true as const })
    },
  )
}

export const registerAuthRoutes = (app: App, deps: AuthRouteDeps): void => {
  registerSignIn(app, deps)
  registerProofs(app, deps)
  registerOwnSessionRoutes(app, deps)
}
