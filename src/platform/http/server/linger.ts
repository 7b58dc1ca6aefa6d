import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'

const drainedBytes = 65_536
const lingerMs = 2_000
const lingerBytes = 16_777_216
const lookMs = 25

/** Whether the client is still sending a large body that was rejected. A small body is read and dropped instead. */
const isStillSending = ({ complete, headers }: IncomingMessage): boolean =>
  !complete && (headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > drainedBytes)

/**
 * Drops bytes before the parser, which would look at each chunk of a chunked body. Node.js ends its own reading of the
 * socket when another listener is added, which replaces that of the parser.
 */
const dropUnparsed = (socket: Socket): void => {
  socket.removeAllListeners('data')
  socket.on('data', () => undefined)
  socket.once('end', () => socket.destroy())
}

/**
 * Prepares a lingering close (RFC 9112, 9.6) for a request whose body is rejected; false when none is needed. Closing a
 * socket with unread bytes makes the kernel send a reset, which can discard the response. So only the write side is
 * closed, and the body is read and dropped for up to 2 s or 16 MB. linger.test.ts fails without it.
 */
export const startLingeringClose = (request: IncomingMessage): boolean => {
  if (!isStillSending(request)) return false
  const { socket } = request
  const enough = socket.bytesRead + lingerBytes
  // Node.js calls destroySoon on a connection after its last response.
  socket.destroySoon = () => {
    const over = performance.now() + lingerMs
    // Dropped bytes emit no events, so they are checked by a timer.
    const timer = setInterval(() => {
      if (!socket.destroyed && socket.bytesRead <= enough && performance.now() <= over) return
      clearInterval(timer)
      socket.destroy()
    }, lookMs)
    request.once('close', () => socket.destroy())
    socket.end()
    request.unpipe()
    request.resume()
    if (request.headers['transfer-encoding'] !== undefined) setImmediate(dropUnparsed, socket)
  }
  return true
}
