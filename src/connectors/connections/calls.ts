import type { Account, BuiltRequest, ProviderAnswer, RequestTemplate, Values } from '../catalog/definition.ts'
import { callProvider, ProviderError } from './provider.ts'
import { breakConnection, freshAccess, renewedAccess } from '../oauth/refresh.ts'
import type { AccessDeps, ConnectionRef, FreshAccess } from '../oauth/refresh.ts'
import { touch } from '../oauth/refresh-queries.ts'

const isRejection = (error: unknown): boolean => error instanceof ProviderError && error.failure === 'rejected'

const checkOf = ({ connector: { auth } }: FreshAccess): Account | undefined => {
  if (auth.type === 'oauth') return auth.account
  return auth.type === 'api_key' ? auth.check : undefined
}

/**
 * The provider did not take the credentials for one request. Whether it takes them for anything is asked before the
 * connection is called broken: some answer 401 to what is only forbidden.
 */
const judge = async (deps: AccessDeps, access: FreshAccess): Promise<void> => {
  const check = checkOf(access)
  if (!check || (check.when !== undefined && !access.secrets[check.when])) return
  if (check.from !== 'token') {
    try {
      await callProvider(deps, access, check.from, { input: access.secrets })
      return
    } catch (error) {
      if (!isRejection(error)) return
    }
  }
  const { name } = access.connector
  await breakConnection(deps, access, `${name} does not accept the credentials any more. Connect again.`)
}

/**
 * Does something with a connection's access. When the provider rejects it, a grant is renewed and the work done once
 * more, as nothing came of the first time; one that is rejected for good becomes a broken connection.
 */
export const withConnection = async <T>(
  deps: AccessDeps,
  ref: ConnectionRef,
  work: (access: FreshAccess) => Promise<T>,
): Promise<T> => {
  let access = await freshAccess(deps, ref)
  const attempt = async (): Promise<T> => {
    const result = await work(access)
    await touch(deps.db, ref.orgId, ref.id)
    return result
  }
  try {
    return await attempt()
  } catch (error) {
    if (!isRejection(error)) throw error
    if (access.secrets['refreshToken'] === undefined) {
      await judge(deps, access)
      throw error
    }
  }
  access = await renewedAccess(deps, access)
  try {
    return await attempt()
  } catch (error) {
    if (isRejection(error)) await judge(deps, access)
    throw error
  }
}

/**
 * One request to the provider in a connection's name: with a fresh token, below the connector's API, through the outbound
 * guard. Throws an ApiError whose message may be shown: CONFLICT for a connection that cannot be used, a ProviderError
 * for what the provider did not do.
 */
export const callConnection = (
  deps: AccessDeps,
  ref: ConnectionRef,
  request: RequestTemplate | BuiltRequest,
  options: { input?: Values; signal?: AbortSignal } = {},
): Promise<ProviderAnswer> => withConnection(deps, ref, (access) => callProvider(deps, access, request, options))
