import { Resolver } from 'node:dns/promises'
import { readFile, stat } from 'node:fs/promises'
import { isIP } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'

export interface Resolved {
  address: string
  family: number
}
export type Resolve = (hostname: string) => Promise<Resolved[]>

export interface NameResolutionOptions {
  /** Name servers as `address:port`, in place of those of /etc/resolv.conf. */
  servers?: readonly string[]
  hostsPath?: string
  /** For the whole look-up: both address families, all servers and all tries. */
  timeoutMs?: number
}

const defaultTimeoutMs = 3_000
/** Two tries with one server, or one try with each of two servers, fit into the limit. */
const tryMs = 1_200
const tries = 2
/** How long to wait for the other address family after one has responded (RFC 8305: at least 50 ms). */
const otherFamilyMs = 300
/** A name server may send thousands of addresses, which a connection does not need. */
const maxAddresses = 32
const hostsFreshMs = 5_000

const normalised = (hostname: string): string => hostname.toLowerCase().replace(/\.$/, '')

const resolvedOf = (address: string): Resolved => ({ address, family: isIP(address) })

/** The entries of a hosts file by name: an address, then names, on each line (hosts(5)). */
export const parseHosts = (text: string): Map<string, Resolved[]> => {
  const hosts = new Map<string, Resolved[]>()
  for (const line of text.split('\n')) {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/)
    if (isIP(address) === 0) continue
    for (const name of names.map(normalised)) hosts.set(name, [...(hosts.get(name) ?? []), resolvedOf(address)])
  }
  return hosts
}

/** Reads the hosts file again when it has changed. Checks for changes at most every five seconds. */
const createHosts = (path: string): (() => Promise<Map<string, Resolved[]>>) => {
  let hosts = new Map<string, Resolved[]>()
  let readMtimeMs = Number.NaN
  let checkedAtMs = Number.NEGATIVE_INFINITY
  let checking: Promise<void> | undefined
  const check = async (): Promise<void> => {
    try {
      const { mtimeMs } = await stat(path)
      if (mtimeMs !== readMtimeMs) hosts = parseHosts(await readFile(path, 'utf8'))
      readMtimeMs = mtimeMs
    } catch {
      // Many containers have no hosts file.
      hosts = new Map()
      readMtimeMs = Number.NaN
    }
    checkedAtMs = performance.now()
    checking = undefined
  }
  return async () => {
    if (performance.now() - checkedAtMs > hostsFreshMs) await (checking ??= check())
    return hosts
  }
}

const localhost = [resolvedOf('127.0.0.1'), resolvedOf('::1')]
const isLocalhost = (name: string): boolean => name === 'localhost' || name.endsWith('.localhost')

/** Queries the addresses of both families. Throws only when neither has one. */
const ask = async (resolver: Resolver, name: string, timeoutMs: number): Promise<Resolved[]> => {
  const deadline = new AbortController()
  const after = (ms: number): Promise<undefined> => delay(ms, undefined, { ref: false, signal: deadline.signal })
  const found: Resolved[] = []
  const query = async (addresses: Promise<string[]>): Promise<void> => {
    found.push(...(await addresses).slice(0, maxAddresses).map(resolvedOf))
  }
  const queries = [query(resolver.resolve4(name)), query(resolver.resolve6(name))]
  const all = Promise.allSettled(queries)
  const one = Promise.any(queries).then(
    () => after(otherFamilyMs),
    () => undefined,
  )
  try {
    await Promise.race([all, one, after(timeoutMs)])
    if (found.length > 0) return found.toSorted((a, b) => a.family - b.family)
  } finally {
    deadline.abort()
    resolver.cancel()
  }
  await Promise.all(queries)
  throw new Error('the name has no address')
}

/**
 * Name resolution without threads: from the hosts file or the name servers, within 3 s. getaddrinfo blocks one of the
 * four threads of libuv until the name server responds, and file operations need the same threads. Search domains and
 * other sources of nsswitch.conf are not used.
 */
export const createNameResolution = (options: NameResolutionOptions = {}): Resolve => {
  const { servers, hostsPath = '/etc/hosts', timeoutMs = defaultTimeoutMs } = options
  const readHosts = createHosts(hostsPath)
  return async (hostname) => {
    const name = normalised(hostname)
    const known = (await readHosts()).get(name)
    if (known) return known
    // RFC 6761, 6.3: name servers must not be asked for localhost.
    if (isLocalhost(name)) return localhost
    // One resolver for each look-up, so that its queries can be cancelled. It takes 0.07 ms and reads /etc/resolv.conf.
    const resolver = new Resolver({ timeout: tryMs, tries, maxTimeout: tryMs })
    if (servers) resolver.setServers(servers)
    return ask(resolver, name, timeoutMs)
  }
}
