import { badRequest } from '../platform/http/errors.ts'
import { catalog } from './catalog/catalog.ts'
import type { Connector } from './catalog/definition.ts'
import { isConfigured } from './oauth/client.ts'
import type { ProviderDeps } from './connections/provider.ts'
import type { ConnectorEntry } from './schemas.ts'

export { findOrgOfLinear } from './endpoints/linear-binding-queries.ts'

type Settings = Pick<ProviderDeps, 'config'>

const variableOf = (slug: string, suffix: string): string =>
  `CONNECTOR_${slug.toUpperCase().replaceAll('-', '_')}_${suffix}`

const whyNot = (deps: Settings, { slug, name, comingSoon, ...connector }: Connector): Partial<ConnectorEntry> => {
  if (comingSoon !== undefined) return { availability: 'coming_soon', availabilityReason: comingSoon }
  if (isConfigured(deps, { slug, name, ...connector })) return { availability: 'available' }
  const names = `${variableOf(slug, 'CLIENT_ID')} and ${variableOf(slug, 'CLIENT_SECRET')}`
  return { availability: 'not_configured', availabilityReason: `${names} are not set on this server.` }
}

const toEntry = (deps: Settings, connector: Connector): ConnectorEntry => {
  const { slug, name, description, auth, tools } = connector
  return {
    slug,
    name,
    description,
    authType: auth.type,
    configured: isConfigured(deps, connector),
    availability: 'available',
    ...whyNot(deps, connector),
    tools: tools.map((tool) => ({ name: tool.name, description: tool.description })),
    ...(auth.type === 'api_key' ? { credentialFields: [...auth.fields] } : {}),
  }
}

/** The catalog as it is on this server. It does not change while the process runs. */
export const listConnectors = (deps: Settings): ConnectorEntry[] =>
  [...catalog.values()].map((connector) => toEntry(deps, connector))

/** A connector that can be connected to. BAD_REQUEST for one that is unknown, not configured or not there yet. */
export const getUsableConnector = (deps: Settings, slug: string): Connector => {
  const connector = catalog.get(slug)
  if (!connector) throw badRequest('connectorSlug must be the slug of a connector of GET /connectors')
  const { availability, availabilityReason } = toEntry(deps, connector)
  if (availability === 'available') return connector
  throw badRequest(
    availability === 'coming_soon'
      ? `${connector.name} cannot be connected yet: ${availabilityReason}`
      : `${connector.name} is not configured yet: ${availabilityReason}`,
  )
}
