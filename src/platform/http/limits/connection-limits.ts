import type { RequestListener, Server } from 'node:http'
import type { Socket } from 'node:net'
import { addressGroup, isLoopback } from './network.ts'

export interface ConnectionLimits {
  /** Open connections in total; 0 for no limit. */
  max: number
  /** Open connections of one address (of one /64 in IPv6); 0 for no limit. */
  maxPerAddress: number
  /** Addresses without a limit. Default: this machine, which may run a proxy. */
  isExempt?: (address: string | undefined) => boolean
}

export interface Connections {
  open(): number
  /** Connections that were closed because of a limit. */
  rejected(): number
}

/**
 * Closes connections beyond the limits before they are read. Behind a proxy, every connection has the proxy's address, so
 * `maxPerAddress` must be 0.
 */
export const limitConnections = (
  server: Server,
  { max, maxPerAddress, isExempt = isLoopback }: ConnectionLimits,
): Connections => {
  const byAddress = new Map<string, number>()
  let open = 0
  let rejected = 0

  const countAddress = (socket: Socket): boolean => {
    if (maxPerAddress === 0 || isExempt(socket.remoteAddress)) return true
    const group = addressGroup(socket.remoteAddress ?? '')
    const count = (byAddress.get(group) ?? 0) + 1
    if (count > maxPerAddress) return false
    byAddress.set(group, count)
    socket.once('close', () => {
      const left = (byAddress.get(group) ?? 1) - 1
      if (left === 0) byAddress.delete(group)
      else byAddress.set(group, left)
    })
    return true
  }
  // The server's own listener has already started to read, so an error written here would look like a response.
  server.on('connection', (socket) => {
    if ((max > 0 && open >= max) || !countAddress(socket)) {
      rejected += 1
      socket.destroy()
      return
    }
    open += 1
    socket.once('close', () => (open -= 1))
  })
  return { open: () => open, rejected: () => rejected }
}

/** Clients wait for a response before they send the next request; HTTP/1.1 allows them not to. */
const maxOutstanding = 32

/**
 * Closes a connection with more requests than this that are not answered. The parser passes on all requests of one read,
 * which can be two thousand, and they would all be handled at once, before those of other connections.
 */
export const limitOutstanding = (server: Server): void => {
  const outstanding = new WeakMap<Socket, number>()
  const listeners = server.listeners('request') as RequestListener[]
  server.removeAllListeners('request')
  server.on('request', (request, response) => {
    const { socket } = request
    // The rest of the read in which the limit was exceeded.
    if (socket.destroyed) return
    const before = outstanding.get(socket) ?? 0
    if (before >= maxOutstanding) {
      socket.destroy()
      return
    }
    outstanding.set(socket, before + 1)
    response.once('close', () => outstanding.set(socket, (outstanding.get(socket) ?? 1) - 1))
    for (const listener of listeners) listener.call(server, request, response)
  })
}
