import type { ClusterOptions, RedisOptions } from 'ioredis'

export interface RedisHost {
  host: string
  port: number
}

type Credentials = Pick<RedisOptions, 'username' | 'password' | 'tls'>

type SentinelOptions = Credentials &
  Pick<
    RedisOptions,
    'sentinels' | 'name' | 'db' | 'sentinelUsername' | 'sentinelPassword' | 'enableTLSForSentinelMode' | 'sentinelTLS'
  >

/** Where Redis is, as `REDIS_URL` says. */
export type RedisAddress =
  | { kind: 'single'; url: string }
  | { kind: 'cluster'; nodes: RedisHost[]; options: Credentials; dnsLookup: ClusterOptions['dnsLookup'] }
  | { kind: 'sentinel'; options: SentinelOptions }

const pattern = /^(rediss?)\+(cluster|sentinel):\/\/(?:([^@/]*)@)?([^/?#@]+)(?:\/([^?#]*))?(?:\?([^#]*))?$/

const hostOf = (text: string, defaultPort: number): RedisHost | undefined => {
  const [, host, port = `${defaultPort}`] = /^(\[[0-9a-fA-F:.]+\]|[^:\s]+)(?::(\d{1,5}))?$/.exec(text) ?? []
  if (host === undefined || Number(port) === 0 || Number(port) > 65_535) return undefined
  return { host: host.replace(/^\[|\]$/g, ''), port: Number(port) }
}

/** `user:password`, percent-encoded as in every URL. */
const credentialsOf = (text: string | undefined, isTls: boolean): Credentials => {
  const [, username = '', password = ''] = /^([^:]*):?(.*)$/.exec(text ?? '') ?? []
  return {
    ...(username === '' ? {} : { username: decodeURIComponent(username) }),
    ...(password === '' ? {} : { password: decodeURIComponent(password) }),
    ...(isTls ? { tls: {} } : {}),
  }
}

const sentinelOf = (
  { hosts, path, query, isTls }: { hosts: RedisHost[]; path: string; query: URLSearchParams; isTls: boolean },
  credentials: Credentials,
): RedisAddress | undefined => {
  const [, name, db = '0'] = /^([^/]+)(?:\/(\d{1,4}))?$/.exec(path) ?? []
  if (name === undefined) return undefined
  const sentinelUsername = query.get('sentinelUsername')
  const sentinelPassword = query.get('sentinelPassword')
  return {
    kind: 'sentinel',
    options: {
      ...credentials,
      sentinels: hosts,
      name: decodeURIComponent(name),
      db: Number(db),
      ...(sentinelUsername === null ? {} : { sentinelUsername }),
      ...(sentinelPassword === null ? {} : { sentinelPassword }),
      ...(isTls ? { enableTLSForSentinelMode: true, sentinelTLS: {} } : {}),
    },
  }
}

const severalOf = (text: string): RedisAddress | undefined => {
  const [, scheme, kind, login, list = '', path = '', search = ''] = pattern.exec(text) ?? []
  const isTls = scheme === 'rediss'
  const hosts = list.split(',').flatMap((one) => hostOf(one, kind === 'sentinel' ? 26_379 : 6_379) ?? [])
  if (kind === undefined || hosts.length !== list.split(',').length) return undefined
  const credentials = credentialsOf(login, isTls)
  const query = new URLSearchParams(search)
  if (kind === 'sentinel') return sentinelOf({ hosts, path, query, isTls }, credentials)
  if (path !== '' || search !== '') return undefined
  // With TLS the names are kept, because the certificates of managed clusters contain names and no addresses.
  const dnsLookup: ClusterOptions['dnsLookup'] = isTls ? (name, done) => done(null, name) : undefined
  return { kind: 'cluster', nodes: hosts, options: credentials, dnsLookup }
}

/**
 * Reads `redis://` or `rediss://` (one server), `redis+cluster://host:port,host:port` or
 * `redis+sentinel://host:port,host:port/NAME/DB?sentinelPassword=…`; `rediss+…` uses TLS. Undefined when it is none of them.
 */
export const parseRedisUrl = (text: string): RedisAddress | undefined => {
  if (URL.canParse(text) && ['redis:', 'rediss:'].includes(new URL(text).protocol)) return { kind: 'single', url: text }
  try {
    return severalOf(text)
  } catch {
    // A malformed percent-encoding.
    return undefined
  }
}
