/** The variables of each connector. `<SLUG>` is its slug in capitals, with underscores for dashes. */
export const connectorVariables = {
  'CONNECTOR_<SLUG>_CLIENT_ID': {
    description:
      'Client ID of the OAuth client at the provider, such as `CONNECTOR_GITHUB_CLIENT_ID`. Connectors that use OAuth are available only with a client.',
    fallback: '',
  },
  'CONNECTOR_<SLUG>_CLIENT_SECRET': { description: 'Client secret of the OAuth client.', fallback: '', secret: true },
  'CONNECTOR_<SLUG>_BASE_URL': {
    description:
      'Replaces the origin of every URL of the connector, for a self-hosted edition of the provider, a proxy or tests. May be a private address.',
    fallback: '',
  },
  'CONNECTOR_<SLUG>_AUTHORIZE_URL': {
    description: 'Replaces the authorization URL.',
    fallback: '',
  },
  'CONNECTOR_<SLUG>_TOKEN_URL': { description: 'Replaces the URL of the token endpoint.', fallback: '' },
} as const satisfies Record<string, { description: string; fallback: string; secret?: boolean }>

/** The operator's settings of one connector. */
export interface ConnectorSettings {
  clientId?: string
  clientSecret?: string
  /** An origin. */
  baseUrl?: string
  authorizeUrl?: string
  tokenUrl?: string
}

const suffixes = ['_CLIENT_ID', '_CLIENT_SECRET', '_BASE_URL', '_AUTHORIZE_URL', '_TOKEN_URL'] as const

const isHttpUrl = (value: string): boolean => {
  const url = /^https?:\/\//.test(value) ? URL.parse(value) : null
  return url !== null && url.username === '' && url.hash === ''
}

/** The prefix of the variables of one connector: `CONNECTOR_GOOGLE_DRIVE` for `google-drive`. */
export const connectorPrefix = (slug: string): string => `CONNECTOR_${slug.toUpperCase().replaceAll('-', '_')}`

const parseSettings = (env: NodeJS.ProcessEnv, prefix: string, mistakes: string[]): ConnectorSettings => {
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

const prefixOf = (name: string): string | undefined => {
  const suffix = suffixes.find((one) => name.endsWith(one))
  const prefix = suffix && name.slice(0, -suffix.length)
  return prefix?.startsWith('CONNECTOR_') ? prefix : undefined
}

/**
 * The settings of connectors in the environment, by slug, and every error in them. Which slugs exist is known to the
 * connectors only, so `readConfig` checks that. `isOther` tells whether a name is read elsewhere.
 */
export const parseConnectors = (
  env: NodeJS.ProcessEnv,
  isOther: (name: string) => boolean,
): { connectors: ReadonlyMap<string, ConnectorSettings>; mistakes: string[] } => {
  const names = Object.keys(env).filter((name) => name.startsWith('CONNECTOR_') && !isOther(name))
  const mistakes = names
    .filter((name) => prefixOf(name) === undefined)
    .map((name) => `${name} is not a variable of Atrium; those of a connector end with ${suffixes.join(', ')}`)
  const prefixes = new Set(names.map(prefixOf).filter((prefix) => prefix !== undefined))
  const connectors = new Map<string, ConnectorSettings>()
  for (const prefix of prefixes) {
    const slug = prefix.slice('CONNECTOR_'.length).toLowerCase().replaceAll('_', '-')
    // Another spelling would replace the settings of the right one.
    if (connectorPrefix(slug) === prefix) connectors.set(slug, parseSettings(env, prefix, mistakes))
    else mistakes.push(`${prefix}_* must be written ${connectorPrefix(slug)}_*`)
  }
  return { connectors, mistakes }
}
