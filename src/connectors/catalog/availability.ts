import { badRequest } from '../../platform/http/errors.ts'
import type { ProviderDeps } from '../deps.ts'
import { isConfigured } from '../oauth/client.ts'
import type { ConnectorEntry } from '../schemas.ts'
import { catalog } from './catalog.ts'
import type { Connector } from './definition.ts'

type Settings = Pick<ProviderDeps, 'config'>

const variableOf = (slug: string, suffix: string): string =>
  `CONNECTOR_${slug.toUpperCase().replaceAll('-', '_')}_${suffix}`

const availabilityOf = (
  deps: Settings,
  connector: Connector,
): Pick<ConnectorEntry, 'availability' | 'availabilityReason' | 'setup'> => {
  const { slug, comingSoon, auth } = connector
  if (comingSoon !== undefined) return { availability: 'coming_soon', availabilityReason: comingSoon }
  if (isConfigured(deps, connector)) return { availability: 'available' }
  const variables = [variableOf(slug, 'CLIENT_ID'), variableOf(slug, 'CLIENT_SECRET')]
  return {
    availability: 'not_configured',
    availabilityReason: `${variables.join(' and ')} are not set on this server.`,
    ...(auth.type === 'oauth' && { setup: { variables, registrationUrl: auth.registrationUrl } }),
  }
}

const toEntry = (deps: Settings, connector: Connector): ConnectorEntry => {
  const { slug, name, category, description, auth, tools } = connector
  return {
    slug,
    name,
    category,
    description,
    authType: auth.type,
    configured: isConfigured(deps, connector),
    ...availabilityOf(deps, connector),
    tools: tools.map((tool) => ({ name: tool.name, description: tool.description })),
    ...(auth.type === 'api_key' ? { credentialFields: [...auth.fields] } : {}),
  }
}

/** The catalog with the availability of each connector. Constant while the process runs. */
export const listConnectors = (deps: Settings): ConnectorEntry[] =>
  [...catalog.values()].map((connector) => toEntry(deps, connector))

/** A connector that accepts connections. BAD_REQUEST when it is unknown, not configured or not available yet. */
export const getUsableConnector = (deps: Settings, slug: string): Connector => {
  const connector = catalog.get(slug)
  if (!connector) throw badRequest('connectorSlug must be the slug of a connector of GET /connectors')
  const { availability, availabilityReason } = availabilityOf(deps, connector)
  if (availability === 'available') return connector
  throw badRequest(
    availability === 'coming_soon'
      ? `${connector.name} cannot be connected yet: ${availabilityReason}`
      : `${connector.name} is not configured yet: ${availabilityReason}`,
  )
}
