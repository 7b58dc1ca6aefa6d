import { providerUrl } from '../../connections/access.ts'
import type { Connector } from '../../catalog/definition.ts'
import type { ProviderDeps } from '../../deps.ts'
import { createAuthorization } from './authorization.ts'
import type { McpAuthorization } from './authorization.ts'
import type { Challenge } from './challenge.ts'
import { createRequests, discoverAuthorizationServer } from './discovery.ts'
import { findClient } from './registration.ts'
import type { ClientPlace } from './registration.ts'

export interface SignIn {
  orgId: string
  connector: Connector
  /** The URL of the MCP server. */
  url: string
  challenge: Challenge
  client: {
    /** Of the user, registered by hand. */
    clientId: string | undefined
    clientSecret: string | undefined
    placeOf: (issuer: string) => ClientPlace
  }
}

/**
 * Finds the authorization server of an MCP server, and a client for it. BAD_REQUEST when the server describes no OAuth or
 * accepts no client, SERVICE_UNAVAILABLE when one of the servers does not respond.
 */
export const prepareSignIn = async (
  deps: ProviderDeps,
  { orgId, connector, url, challenge, client }: SignIn,
): Promise<McpAuthorization> => {
  const { url: server, trusted } = providerUrl(deps, connector, url)
  const requests = createRequests(deps, { orgId, server, trusted })
  const found = await discoverAuthorizationServer(server, challenge, requests)
  const { placeOf, ...ofUser } = client
  const place = placeOf(found.issuer)
  const used = await findClient(deps, found, { orgId, ...ofUser, place })
  return createAuthorization(url, found, { ...used, redirectPath: place.redirectPath })
}
