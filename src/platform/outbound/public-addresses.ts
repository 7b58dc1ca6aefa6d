import { BlockList, isIPv4, isIPv6 } from 'node:net'

/** The parts of `10.0.0.0/8` or `fd00::/8`. */
export interface Cidr {
  address: string
  prefix: number
  family: 'ipv4' | 'ipv6'
}

/** Undefined unless the text is an address, a slash and a prefix length. */
export const parseCidr = (text: string): Cidr | undefined => {
  const [, address = '', digits = ''] = /^([^/%]+)\/(\d{1,3})$/.exec(text) ?? []
  const family = isIPv4(address) ? 'ipv4' : isIPv6(address) ? 'ipv6' : undefined
  const prefix = Number(digits)
  if (family === undefined || prefix > (family === 'ipv4' ? 32 : 128)) return undefined
  return { address, prefix, family }
}

const listOf = (cidrs: readonly Cidr[]): BlockList => {
  const list = new BlockList()
  for (const { address, prefix, family } of cidrs) list.addSubnet(address, prefix, family)
  return list
}

const fixedList = (...texts: string[]): BlockList =>
  listOf(
    texts.map((text) => {
      const cidr = parseCidr(text)
      if (!cidr) throw new Error(`${text} is not an address range`)
      return cidr
    }),
  )

// The IANA special-purpose registry, and addresses on which clouds serve their own machines.
const notPublicV4 = fixedList(
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '168.63.129.16/32', // Azure's platform address: in a public range, but reachable from every machine in Azure
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
)

// IANA assigns global addresses from 2000::/3 only, so everything outside of it is rejected without being listed.
const globalV6 = fixedList('2000::/3')
const notPublicV6 = fixedList(
  '2001::/23', // Teredo, benchmarking, ORCHID
  '2001:db8::/32',
  '2002::/16', // 6to4: contains an IPv4 address
  '3fff::/20',
)

// Prefixes of addresses whose last 32 bits are the IPv4 destination: IPv4-mapped, and NAT64 (RFC 6052). ipaddr.js also
// maps ::/96 and 64:ff9b:1::/48, of which the second is for private networks (RFC 8215); both are rejected here.
const embedsV4 = fixedList('::ffff:0:0/96', '64:ff9b::/96')

/** The last 32 bits of an IPv6 address as an IPv4 address. */
const lastFourBytes = (address: string): string => {
  // The URL parser writes an embedded `1.2.3.4` as two groups.
  const groups = new URL(`http://[${address}]/`).hostname.slice(1, -1).split(':')
  const [high = '0', low = '0'] = groups.slice(-2).map((group) => group || '0')
  const bits = Number.parseInt(high, 16) * 65_536 + Number.parseInt(low, 16)
  return [24, 16, 8, 0].map((shift) => (bits >>> shift) & 255).join('.')
}

/** Whether the address can belong to a server on the Internet. False for text that is not an address. */
export const isPublicAddress = (address: string): boolean => {
  if (isIPv4(address)) return !notPublicV4.check(address, 'ipv4')
  if (!isIPv6(address) || address.includes('%')) return false
  if (embedsV4.check(address, 'ipv6')) return isPublicAddress(lastFourBytes(address))
  return globalV6.check(address, 'ipv6') && !notPublicV6.check(address, 'ipv6')
}

/** Tells whether an address is in one of the ranges, also when it is an IPv4 address embedded in an IPv6 address. */
export const createRange = (cidrs: readonly Cidr[]): ((address: string) => boolean) => {
  const list = listOf(cidrs)
  const has = (address: string): boolean => {
    if (isIPv4(address)) return list.check(address, 'ipv4')
    if (!isIPv6(address) || address.includes('%')) return false
    return list.check(address, 'ipv6') || (embedsV4.check(address, 'ipv6') && has(lastFourBytes(address)))
  }
  return has
}
