import type { ConnectorSettings } from '../../config/connectors.ts'
import type { Connector } from '../catalog/definition.ts'
import type { ProviderDeps } from '../deps.ts'
import type { Secrets } from './secrets.ts'

/** Identifies a connection in background work. */
export interface ConnectionRef {
  orgId: string
  id: string
}

/** What a request to a provider is authenticated with. */
export interface Access {
  /** The org whose DNS look-ups are counted. */
  orgId: string
  connector: Connector
  secrets: Secrets
  accountId: string | null
}

/** The access of a stored connection with a current token. */
export interface FreshAccess extends Access {
  ref: ConnectionRef
  /** Changes with the secrets, so that a stale reader does not mark new ones as broken. */
  secretsVersion: number
}

export const settingsOf = ({ config }: Pick<ProviderDeps, 'config'>, { slug }: Connector): ConnectorSettings =>
  config.connectors.get(slug) ?? {}

/** Applies the operator's base URL to a provider URL. `trusted`: the operator chose the host, so it may be private. */
export const providerUrl = (
  deps: Pick<ProviderDeps, 'config'>,
  connector: Connector,
  url: string,
): { url: URL; trusted: boolean } => {
  const { baseUrl } = settingsOf(deps, connector)
  const parsed = new URL(url)
  if (baseUrl === undefined) return { url: parsed, trusted: false }
  return { url: new URL(baseUrl + parsed.pathname + parsed.search), trusted: true }
}
