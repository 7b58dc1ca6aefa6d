import type { Account, BuiltRequest, ApiResponse, RequestTemplate, Values } from '../catalog/definition.ts'
import type { AccessDeps } from '../deps.ts'
import { touchLastUsed } from '../oauth/refresh-queries.ts'
import { freshAccess, markBroken, refreshedAccess } from '../oauth/refresh.ts'
import type { ConnectionRef, FreshAccess } from './access.ts'
import { ProviderError } from './provider-error.ts'
import { callProvider } from './provider.ts'

const hasInvalidCredentials = (error: unknown): boolean =>
  error instanceof ProviderError && error.failure === 'invalid_credentials'

const accountCheckOf = ({ connector: { auth } }: FreshAccess): Account | undefined => {
  if (auth.type === 'oauth') return auth.account
  return auth.type === 'api_key' ? auth.check : undefined
}

/**
 * Marks the connection as broken if the provider also rejects the credentials in the account check. A single 401 is not
 * enough, because some providers also respond with 401 to requests that lack a permission.
 */
const checkCredentials = async (deps: AccessDeps, access: FreshAccess): Promise<void> => {
  const { connector, secrets } = access
  const check = accountCheckOf(access)
  // MCP servers have no request for the account, and respond with 403 to requests that lack a permission.
  const hasEnded = connector.isMcp === true && secrets['accessToken'] !== undefined
  if (hasEnded) return markBroken(deps, access, `${connector.name} no longer accepts the sign-in. Sign in again.`)
  if (!check || (check.when !== undefined && !access.secrets[check.when])) return
  if (check.from !== 'token') {
    try {
      await callProvider(deps, access, check.from, { input: access.secrets })
      return
    } catch (error) {
      if (!hasInvalidCredentials(error)) return
    }
  }
  await markBroken(deps, access, `${access.connector.name} no longer accepts the credentials. Connect again.`)
}

/**
 * Runs `work` with the current credentials of a connection. If the provider does not accept an OAuth token, it is
 * refreshed and `work` runs once more. Credentials that are still not accepted mark the connection as broken.
 */
export const withConnection = async <T>(
  deps: AccessDeps,
  ref: ConnectionRef,
  work: (access: FreshAccess) => Promise<T>,
): Promise<T> => {
  let access = await freshAccess(deps, ref)
  const attempt = async (): Promise<T> => {
    const result = await work(access)
    // The provider has done it: an error here would let the caller do it again.
    await touchLastUsed(deps.db, ref).catch((error: unknown) => {
      deps.log.warn({ err: error, connectionId: ref.id }, 'the use of a connection could not be recorded')
    })
    return result
  }
  try {
    return await attempt()
  } catch (error) {
    if (!hasInvalidCredentials(error)) throw error
    if (access.secrets['refreshToken'] === undefined) {
      await checkCredentials(deps, access)
      throw error
    }
  }
  access = await refreshedAccess(deps, access)
  try {
    return await attempt()
  } catch (error) {
    if (hasInvalidCredentials(error)) await checkCredentials(deps, access)
    throw error
  }
}

/**
 * Sends one request to the provider with the current credentials of a connection. Throws CONFLICT for a connection that
 * cannot be used and a ProviderError for a failed request. Users and models may see both messages.
 */
export const callConnection = (
  deps: AccessDeps,
  ref: ConnectionRef,
  request: RequestTemplate | BuiltRequest,
  options: { input?: Values; signal?: AbortSignal } = {},
): Promise<ApiResponse> => withConnection(deps, ref, (access) => callProvider(deps, access, request, options))
