import { ProviderError } from '../connections/provider-error.ts'
import { badRequest } from '../../platform/http/errors.ts'
import { cutName } from '../../platform/text/text.ts'

/** Revisions of the protocol, with other names for the same methods and fields. */
export type Revision = '1.0' | '0.3'

/** A remote agent as its card described it when the connection was made. */
export interface RemoteAgent {
  name: string
  /** The card's description and skills, for models. */
  description: string
  /** The URL of its JSON-RPC interface, of the same origin as the URL that the user entered. */
  endpoint: string
  revision: Revision
  /** Sent with each request of the revision 1.0, if the interface names one. */
  tenant?: string
}

const cardPath = '/.well-known/agent-card.json'
const maxNameLength = 100
const maxDescriptionLength = 1_024
const maxSkillLength = 256
const maxSkills = 20
const maxInterfaces = 20
const maxUrlLength = 2_048

type Json = Readonly<Record<string, unknown>>

const objectOf = (value: unknown): Json => (typeof value === 'object' && value !== null ? (value as Json) : {})

const objectsOf = (value: unknown, max: number): Json[] =>
  Array.isArray(value) ? value.slice(0, max).map(objectOf) : []

const textOf = (value: unknown, max: number): string => (typeof value === 'string' ? cutName(value, max) : '')

/** The URL of the card for the URL that a user entered: that of a JSON file, or one to which the known path is added. */
export const cardUrlOf = (entered: string): URL => {
  const url = new URL(entered)
  if (!url.pathname.endsWith('.json')) url.pathname = url.pathname.replace(/\/+$/, '') + cardPath
  return url
}

interface Interface {
  url: unknown
  transport: unknown
  version: unknown
  tenant?: unknown
}

/** The interfaces of a card: 1.0 lists all in one field, 0.3 has a preferred one and further ones. */
const interfacesOf = (card: Json): Interface[] => {
  const current = objectsOf(card['supportedInterfaces'], maxInterfaces)
  if (current.length > 0) {
    return current.map(({ url, protocolBinding, protocolVersion, tenant }) => ({
      url,
      transport: protocolBinding,
      version: protocolVersion,
      tenant,
    }))
  }
  const version = card['protocolVersion'] ?? '0.3.0'
  const preferred = { url: card['url'], transport: card['preferredTransport'] ?? 'JSONRPC', version }
  const further = objectsOf(card['additionalInterfaces'], maxInterfaces)
  return [preferred, ...further.map(({ url, transport }) => ({ url, transport, version }))]
}

const revisionOf = (version: unknown): Revision | undefined => {
  const [, revision] = /^(1\.0|0\.3)(?:\.\d{1,4})?$/.exec(typeof version === 'string' ? version : '') ?? []
  return revision as Revision | undefined
}

const rejected = (what: string): ProviderError => new ProviderError('rejected', `The agent card ${what}.`)

/** The JSON-RPC interface with the newest supported revision. */
const findInterface = (card: Json, cardUrl: URL): Pick<RemoteAgent, 'endpoint' | 'revision' | 'tenant'> => {
  const all = interfacesOf(card)
  const usable = all.flatMap(({ url, transport, version, tenant }) => {
    const revision = revisionOf(version)
    return transport === 'JSONRPC' && revision && typeof url === 'string' ? [{ url, revision, tenant }] : []
  })
  const [chosen] = usable.toSorted((a, b) => (a.revision > b.revision ? -1 : 1))
  if (!chosen) throw rejected('names no JSON-RPC interface of the A2A revisions 1.0 and 0.3')
  const endpoint = chosen.url.length > maxUrlLength ? null : URL.parse(chosen.url)
  // The credentials were entered for the host of the card. The card must not send them to another one.
  if (endpoint?.origin !== cardUrl.origin || endpoint.username !== '' || endpoint.hash !== '') {
    throw rejected(`names an interface at another origin than ${cardUrl.origin}`)
  }
  const tenant = textOf(chosen.tenant, maxSkillLength)
  return { endpoint: endpoint.href, revision: chosen.revision, ...(tenant === '' ? {} : { tenant }) }
}

const describe = (card: Json): string => {
  const skills = objectsOf(card['skills'], maxSkills).flatMap((skill) => {
    const [name, description] = [textOf(skill['name'], maxNameLength), textOf(skill['description'], maxSkillLength)]
    return name === '' ? [] : [description === '' ? name : `${name}: ${description}`]
  })
  const description = textOf(card['description'], maxDescriptionLength)
  return [description, ...(skills.length === 0 ? [] : [`Skills: ${skills.join('; ')}`])].filter(Boolean).join(' ')
}

/**
 * Reads a card of the revisions 1.0 and 0.3 (a2a-protocol.org, AgentCard). Texts are cut, and everything else is dropped.
 * Throws a ProviderError for a card without a usable interface.
 */
export const readAgentCard = (body: unknown, cardUrl: URL): RemoteAgent => {
  const card = objectOf(body)
  const name = textOf(card['name'], maxNameLength)
  if (name === '') throw badRequest('The URL has no agent card.')
  return { name, description: describe(card), ...findInterface(card, cardUrl) }
}
