import { once } from 'node:events'
import { createServer } from 'node:http'
import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after } from 'node:test'

export interface Arrival {
  path: string
  headers: IncomingHttpHeaders
  body: Buffer
}

export interface Receiver {
  url: string
  arrivals: Arrival[]
  /** Events that have arrived and whose request is still open. */
  open: number
  /** Sends the response to each event. Default: 200. */
  answer: (response: ServerResponse, arrival: Arrival) => void
  close(): Promise<void>
}

/** An endpoint on loopback that accepts forwarded events. */
export const startReceiver = async (): Promise<Receiver> => {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const arrival = { path: request.url ?? '', headers: request.headers, body: Buffer.concat(chunks) }
      receiver.arrivals.push(arrival)
      receiver.open += 1
      response.once('close', () => (receiver.open -= 1))
      receiver.answer(response, arrival)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const receiver: Receiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    arrivals: [],
    open: 0,
    answer: (response) => response.end('ok'),
    close: async () => {
      server.closeAllConnections()
      server.close()
    },
  }
  after(() => receiver.close())
  return receiver
}
