import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { ErrorFormat } from '../../platform/http/error-formats.ts'
import { parseFormFields } from '../../platform/http/form-fields.ts'
import { notFound } from '../../platform/http/errors.ts'
import type { App } from '../../platform/http/http.ts'
import { addressGroup } from '../../platform/http/limits/network.ts'
import { registerClient } from './clients.ts'
import type { AppDeps } from './deps.ts'
import { accessSeconds, exchangeCode, refreshTokens, revokeToken } from './grants.ts'
import type { OAuthError, Tokens } from './grants.ts'
import {
  issuerOf,
  mcpPath,
  registrationPath,
  resourceMetadata,
  resourceMetadataPath,
  revocationPath,
  serverMetadata,
  serverMetadataPath,
  tokenPath,
} from './metadata.ts'
import { fieldsOf, isOwnResource } from './request.ts'

type Fields = Partial<Record<string, string>>

const maxBody = 16_384

/** Errors of RFC 6749, 5.2. */
const oauthErrors: ErrorFormat = {
  prefix: '/oauth',
  failure: ({ code, message }) => ({
    body: {
      error:
        code === 'TOO_MANY_REQUESTS'
          ? 'temporarily_unavailable'
          : code === 'INTERNAL_ERROR'
            ? 'server_error'
            : 'invalid_request',
      error_description: message,
    },
  }),
}

const hidden = (summary: string) => ({
  hide: true,
  summary,
  response: { 200: Type.Unknown(), 201: Type.Unknown(), 400: Type.Unknown() },
})

const fail = (reply: FastifyReply, error: string, description: string): FastifyReply =>
  reply.code(400).send({ error, error_description: description })

const sendTokens = (reply: FastifyReply, result: Tokens | OAuthError): FastifyReply => {
  if ('error' in result) return fail(reply, result.error, result.description)
  const { accessToken, refreshToken, scopes } = result
  return reply.send({
    access_token: accessToken,
    token_type: 'Bearer',
    expires_in: accessSeconds,
    refresh_token: refreshToken,
    scope: scopes.join(' '),
  })
}

const exchange = async (
  { db, config }: AppDeps,
  { request, reply, fields }: { request: FastifyRequest; reply: FastifyReply; fields: Fields },
): Promise<FastifyReply> => {
  const issuer = issuerOf(request, config.baseUrl)
  if (issuer === undefined || !isOwnResource(fields['resource'], issuer)) {
    return fail(reply, 'invalid_target', 'resource must be the URL of the MCP server.')
  }
  const { client_id: clientId = '', grant_type: grantType, scope } = fields
  const environment = config.keyEnvironment
  if (grantType === 'authorization_code') {
    const { code = '', redirect_uri: redirectUri = '', code_verifier: verifier = '' } = fields
    return sendTokens(reply, await exchangeCode(db, { code, clientId, redirectUri, verifier, environment }))
  }
  if (grantType === 'refresh_token') {
    const { refresh_token: refreshToken = '' } = fields
    const scopes = scope?.split(' ')
    return sendTokens(reply, await refreshTokens(db, { refreshToken, clientId, scopes, environment }))
  }
  return fail(reply, 'unsupported_grant_type', 'grant_type must be "authorization_code" or "refresh_token".')
}

const registerMetadata = (app: App, { config }: AppDeps): void => {
  const serve = (path: string, summary: string, document: (issuer: string) => object): void => {
    app.get(path, { config: { access: 'public' }, schema: hidden(summary) }, async (request, reply) => {
      const issuer = issuerOf(request, config.baseUrl)
      if (issuer === undefined) throw notFound('Metadata')
      return reply.headers({ 'access-control-allow-origin': '*', 'cache-control': 'no-store' }).send(document(issuer))
    })
  }
  serve(resourceMetadataPath, 'Protected resource metadata', resourceMetadata)
  serve(resourceMetadataPath + mcpPath, 'Protected resource metadata of the MCP server', resourceMetadata)
  serve(serverMetadataPath, 'Authorization server metadata', serverMetadata)
}

/** Bodies of application/x-www-form-urlencoded, as URLSearchParams. */
const acceptForms = (scope: FastifyInstance): void => {
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'buffer' }, (_request, body, done) =>
    done(null, parseFormFields(body as Buffer)),
  )
}

/** The authorization server of MCP clients: metadata, registration, tokens. The person's part is `apps/routes.ts`. */
export const registerOAuthRoutes = (app: App, deps: AppDeps): void => {
  app.errorFormats.push(oauthErrors)
  registerMetadata(app, deps)

  app.post(
    registrationPath,
    { config: { access: 'public' }, bodyLimit: maxBody, schema: hidden('Register an OAuth client (RFC 7591)') },
    async (request, reply) => {
      await request.takeRateLimit('signIn', `register ${addressGroup(request.ip)}`)
      const { body } = request
      const metadata = typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {}
      const client = registerClient(deps, metadata)
      if (!client) {
        return fail(
          reply,
          'invalid_redirect_uri',
          'redirect_uris must be 1–16 URIs, 1,400 characters in total, each with https, http on loopback, or the scheme of an installed program.',
        )
      }
      return reply
        .code(201)
        .header('cache-control', 'no-store')
        .send({
          client_id: client.id,
          client_name: client.name,
          redirect_uris: client.redirectUris,
          token_endpoint_auth_method: 'none',
          grant_types: ['authorization_code', 'refresh_token'],
          response_types: ['code'],
        })
    },
  )

  app.register(async (scope) => {
    acceptForms(scope)
    const config = { access: 'public', rateLimit: 'writes' } as const
    scope.post(tokenPath, { config, bodyLimit: maxBody, schema: hidden('Get tokens') }, async (request, reply) => {
      reply.headers({ 'cache-control': 'no-store', pragma: 'no-cache' })
      const fields = request.body instanceof URLSearchParams ? fieldsOf(request.body) : undefined
      if (!fields) return fail(reply, 'invalid_request', 'The body must be a form in which each field occurs once.')
      return exchange(deps, { request, reply, fields })
    })
    scope.post(
      revocationPath,
      { config, bodyLimit: maxBody, schema: hidden('Revoke a token') },
      async (request, reply) => {
        const fields = request.body instanceof URLSearchParams ? fieldsOf(request.body) : undefined
        const { token, client_id: clientId } = fields ?? {}
        if (token === undefined) return fail(reply, 'invalid_request', 'token is missing.')
        await revokeToken(deps.db, token, clientId)
        return reply.send({})
      },
    )
  })
}
