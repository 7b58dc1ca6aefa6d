import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { addressGroup, isLoopback } from './network.ts'

export interface ConnectionLimits {
  /** Open connections in all; 0 for no limit. */
  max: number
  /** Open connections of one address (of one /64 in IPv6); 0 for no limit. */
  maxPerAddress: number
  /** Programs on this machine are not limited by address: a proxy may be one of them. */
  isExempt?: (address: string | undefined) => boolean
}

export interface Connections {
  open(): number
  /** Connections that were closed at once because of a limit. */
  rejected(): number
}

/**
 * Closes connections beyond the limits as they come, before a byte of them is read. Behind a proxy every connection has
 * the proxy's address, so there `maxPerAddress` has to be 0.
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
  // The server's own listener comes first and has begun to read, so nothing is written here: it would look like an answer.
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
