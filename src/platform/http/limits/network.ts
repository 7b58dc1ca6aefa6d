import { BlockList, isIPv4, isIPv6 } from 'node:net'

const groupsOf = (text: string): string[] => (text === '' ? [] : text.split(':'))

const mappedAddress = (address: string): string | undefined => /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]

/** The network of an IPv6 address that has this many groups of 16 bits. */
const networkOf = (address: string, count: number): string => {
  const [head = '', tail] = address.split('%', 1)[0]?.toLowerCase().split('::') ?? []
  const left = groupsOf(head)
  const right = tail === undefined ? [] : groupsOf(tail)
  const zeros = tail === undefined ? [] : Array.from({ length: Math.max(0, 8 - left.length - right.length) }, () => '0')
  const groups = [...left, ...zeros, ...right].slice(0, count).map((group) => group.replace(/^0+(?=.)/, ''))
  return `${groups.join(':')}::/${count * 16}`
}

/**
 * The key under which an address is counted: an IPv4 address itself, an IPv6 address as its /64, because a subscriber
 * gets at least a whole /64.
 */
export const addressGroup = (address: string): string =>
  mappedAddress(address) ?? (isIPv6(address) ? networkOf(address, 4) : address)

/**
 * A coarser key, for places that all clients share: an IPv4 address as its /24, an IPv6 address as its /48, which is what
 * one customer of a hosting company gets.
 */
export const addressNetwork = (address: string): string => {
  const ipv4 = mappedAddress(address) ?? address
  if (isIPv4(ipv4)) return `${ipv4.slice(0, ipv4.lastIndexOf('.'))}.0/24`
  return isIPv6(address) ? networkOf(address, 3) : address
}

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8, 'ipv4')
loopback.addAddress('::1', 'ipv6')

/** Whether the peer is a program on this machine, also with an IPv4 address in IPv6 form (`::ffff:127.0.0.1`). */
export const isLoopback = (address: string | undefined): boolean =>
  address !== undefined && loopback.check(address, isIPv6(address) ? 'ipv6' : 'ipv4')
