import { once } from 'node:events'
import { connect } from 'node:net'
import type { Socket } from 'node:net'

/** A parsed response. */
export interface RawAnswer {
  status: number
  headers: Record<string, string>
  body: string
}

/** Splits everything that was received on a closed connection into responses. */
export const parseAnswers = (text: string): RawAnswer[] => {
  const answers: RawAnswer[] = []
  let rest = text
  while (rest !== '') {
    const end = rest.indexOf('\r\n\r\n')
    if (end === -1) throw new Error(`not an HTTP response: ${JSON.stringify(rest.slice(0, 200))}`)
    const [first = '', ...lines] = rest.slice(0, end).split('\r\n')
    const headers = Object.fromEntries(
      lines.map((line) => {
        const colon = line.indexOf(':')
        return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
      }),
    )
    const length = Number(headers['content-length'] ?? 0)
    answers.push({ status: Number(first.split(' ')[1]), headers, body: rest.slice(end + 4, end + 4 + length) })
    rest = rest.slice(end + 4 + length)
  }
  return answers
}

export const openSocket = async (url: string): Promise<Socket> => {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  await once(socket, 'connect')
  return socket
}

/** Sends these bytes and returns all responses until the server closes the connection. */
export const sendRaw = async (url: string, bytes: string | Buffer): Promise<RawAnswer[]> => {
  const socket = await openSocket(url)
  const chunks: Buffer[] = []
  socket.on('data', (chunk: Buffer) => void chunks.push(chunk))
  socket.on('error', () => undefined) // a reset after the response counts as an end
  socket.write(bytes)
  await new Promise((resolve) => socket.once('close', resolve))
  return parseAnswers(Buffer.concat(chunks).toString('latin1'))
}
