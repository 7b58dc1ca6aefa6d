import { badRequest } from '../../platform/http/errors.ts'
import type { Actor } from '../actor.ts'
import { getClient, isRegistered } from './clients.ts'
import type { AppClient } from './clients.ts'
import type { AppDeps } from './deps.ts'
import { appScopes, resourceOf } from './metadata.ts'

export type AppScope = (typeof appScopes)[number]

/** A valid authorization request. */
export interface AuthorizationRequest {
  client: AppClient
  redirectUri: string
  state: string | undefined
  scopes: AppScope[]
  codeChallenge: string
}

/** Undefined when a parameter occurs twice (RFC 6749, 3.1). */
export const fieldsOf = (form: URLSearchParams): Partial<Record<string, string>> | undefined => {
  const fields = Object.fromEntries(form)
  return Object.keys(fields).length === [...form].length ? fields : undefined
}

export const isOwnResource = (resource: string | undefined, issuer: string): boolean =>
  resource === undefined || resource === resourceOf(issuer)

/**
 * Validates the query of the authorization endpoint. Every error is shown to the person instead of being sent to the
 * client, so that an invalid request redirects nobody.
 */
export const readRequest = async (
  deps: AppDeps,
  { orgId }: Actor,
  issuer: string,
  query: string,
): Promise<AuthorizationRequest> => {
  const fields = fieldsOf(new URLSearchParams(query))
  if (!fields) throw badRequest('A parameter of the authorization request occurs twice.')
  const { client_id: clientId, redirect_uri: redirectUri, code_challenge: codeChallenge = '', state } = fields
  if (clientId === undefined) throw badRequest('client_id is missing.')
  const client = await getClient(deps, clientId, orgId)
  if (redirectUri === undefined || !isRegistered(client, redirectUri)) {
    throw badRequest('redirect_uri is not one that the app has registered.')
  }
  if (fields['response_type'] !== 'code') throw badRequest('response_type must be "code".')
  if (fields['code_challenge_method'] !== 'S256' || !/^[\w-]{43}$/.test(codeChallenge)) {
    throw badRequest('The app must use PKCE: code_challenge with code_challenge_method "S256".')
  }
  if (!isOwnResource(fields['resource'], issuer)) throw badRequest(`resource must be ${resourceOf(issuer)}.`)
  const asked = fields['scope']?.split(' ')
  const scopes = appScopes.filter((scope) => asked === undefined || asked.includes(scope))
  if (scopes.length === 0) throw badRequest(`scope must include one of: ${appScopes.join(', ')}.`)
  return { client, redirectUri, state, scopes, codeChallenge }
}

/** The URL that the person's browser opens with the result. `iss` is RFC 9207. */
export const redirectTo = (
  { redirectUri, state }: AuthorizationRequest,
  issuer: string,
  result: Readonly<Record<string, string>>,
): string => {
  const url = new URL(redirectUri)
  for (const [name, value] of Object.entries({ ...result, iss: issuer })) url.searchParams.set(name, value)
  if (state !== undefined) url.searchParams.set('state', state)
  return url.href
}
