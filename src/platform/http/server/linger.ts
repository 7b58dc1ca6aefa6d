import type { IncomingMessage } from 'node:http'

const drainedBytes = 65_536
const lingerMs = 2_000
const lingerBytes = 16_777_216
const lookMs = 25

/**
 * A body that was refused half-way is still coming in. A small one is read and forgotten, and the connection stays; for
 * a large one the client is told to stop by hanging up.
 */
const isPushing = ({ complete, headers }: IncomingMessage): boolean =>
  !complete && (headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > drainedBytes)

/**
 * Before the answer to a request whose body nobody wants: whether to hang up after it. Whoever closes a connection on
 * which bytes wait makes the system reset it, and the reset may overtake the answer. So our side is closed first, and
 * what still comes is read and dropped until the client has seen that, for a while (RFC 9112, 9.6).
 */
export const hangsUpOn = (request: IncomingMessage): boolean => {
  if (!isPushing(request)) return false
  const { socket } = request
  const enough = socket.bytesRead + lingerBytes
  // What Node calls on a connection whose last answer is out.
  socket.destroySoon = () => {
    const over = performance.now() + lingerMs
    // What is dropped makes no event that could be counted.
    const timer = setInterval(() => {
      if (socket.bytesRead > enough || performance.now() > over) socket.destroy()
    }, lookMs)
    socket.once('close', () => clearInterval(timer))
    request.once('close', () => socket.destroy())
    socket.end()
    request.unpipe()
    request.resume()
  }
  return true
}
