import { catalog } from '../connectors/catalog/catalog.ts'

/** What is asked of each connector; `<SLUG>` is its slug in capitals, dashes as underscores. */
export const connectorVariables = {
  'CONNECTOR_<SLUG>_CLIENT_ID': {
    description:
      'The OAuth client that is registered with the provider (`CONNECTOR_GITHUB_CLIENT_ID`); a connector that signs in by OAuth can be used when it has one.',
    fallback: '',
  },
  'CONNECTOR_<SLUG>_CLIENT_SECRET': { description: 'Its secret.', fallback: '', secret: true },
  'CONNECTOR_<SLUG>_BASE_URL': {
    description:
      "Replaces scheme, host and port of every URL of that connector: for a provider's self-hosted edition, a proxy, tests. It may be a private address.",
    fallback: '',
  },
  'CONNECTOR_<SLUG>_AUTHORIZE_URL': {
    description: 'Replaces the whole URL that people are sent to for their consent.',
    fallback: '',
  },
  'CONNECTOR_<SLUG>_TOKEN_URL': { description: 'Replaces the whole URL of the token endpoint.', fallback: '' },
} as const satisfies Record<string, { description: string; fallback: string; secret?: boolean }>

/** What the operator says about one connector. */
export interface ConnectorSettings {
  clientId?: string
  clientSecret?: string
  /** An origin. */
  baseUrl?: string
  authorizeUrl?: string
  tokenUrl?: string
}

const suffixes = ['_CLIENT_ID', '_CLIENT_SECRET', '_BASE_URL', '_AUTHORIZE_URL', '_TOKEN_URL'] as const

const prefixOf = (slug: string): string => `CONNECTOR_${slug.toUpperCase().replaceAll('-', '_')}`

const isHttpUrl = (value: string): boolean => {
  const url = /^https?:\/\//.test(value) ? URL.parse(value) : null
  return url !== null && url.username === '' && url.hash === ''
}

const parseSettings = (env: NodeJS.ProcessEnv, slug: string, mistakes: string[]): ConnectorSettings => {
  const prefix = prefixOf(slug)
  const read = (suffix: (typeof suffixes)[number]): string | undefined => env[prefix + suffix]?.trim() || undefined
  const readUrl = (suffix: (typeof suffixes)[number]): string | undefined => {
    const value = read(suffix)
    if (value === undefined || isHttpUrl(value)) return value
    mistakes.push(`${prefix}${suffix} must be a URL such as https://example.com, not ${JSON.stringify(value)}`)
    return undefined
  }
  const clientId = read('_CLIENT_ID')
  const clientSecret = read('_CLIENT_SECRET')
  if ((clientId === undefined) !== (clientSecret === undefined)) {
    const [set, missing] = clientId === undefined ? ['_CLIENT_SECRET', '_CLIENT_ID'] : ['_CLIENT_ID', '_CLIENT_SECRET']
    mistakes.push(`${prefix}${set} is set but ${prefix}${missing} is not`)
  }
  const baseUrl = readUrl('_BASE_URL')
  const settings = {
    clientId,
    clientSecret,
    baseUrl: baseUrl && new URL(baseUrl).origin,
    authorizeUrl: readUrl('_AUTHORIZE_URL'),
    tokenUrl: readUrl('_TOKEN_URL'),
  }
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined))
}

/** Variables that look like a connector's, but there is no such connector: a typing mistake. */
const strayNames = (env: NodeJS.ProcessEnv, isOther: (name: string) => boolean): string[] => {
  const known = new Set([...catalog.keys()].flatMap((slug) => suffixes.map((suffix) => prefixOf(slug) + suffix)))
  return Object.keys(env)
    .filter((name) => name.startsWith('CONNECTOR_') && !known.has(name) && !isOther(name))
    .map((name) => `${name} is not a variable of Atrium; connectors are ${[...catalog.keys()].join(', ')}`)
}

/** What the environment says about connectors, by slug, with every mistake in it. `isOther`: read elsewhere. */
export const parseConnectors = (
  env: NodeJS.ProcessEnv,
  isOther: (name: string) => boolean,
): { connectors: ReadonlyMap<string, ConnectorSettings>; mistakes: string[] } => {
  const mistakes = strayNames(env, isOther)
  const connectors = new Map([...catalog.keys()].map((slug) => [slug, parseSettings(env, slug, mistakes)]))
  return { connectors, mistakes }
}
