import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'

/** The response for a name. `silent`: no response. `truncated`: the client must repeat the query over TCP. */
export interface NameAnswer {
  addresses?: readonly string[]
  /** The target of a CNAME record, which can form a loop. */
  cname?: string
  code?: 'NXDOMAIN' | 'SERVFAIL'
  silent?: boolean
  truncated?: boolean
  garbage?: boolean
}

export interface NameServer {
  /** `127.0.0.1:<port>` */
  address: string
  /** The name of each query. */
  asked: string[]
  close(): Promise<void>
}

const codes = { NXDOMAIN: 3, SERVFAIL: 2 }
const typeA = 1
const typeCname = 5

const nameBytes = (name: string): Buffer =>
  Buffer.concat([...name.split('.').flatMap((label) => [Buffer.of(label.length), Buffer.from(label)]), Buffer.of(0)])

const record = (type: number, data: Buffer): Buffer => {
  const head = Buffer.alloc(12)
  // The queried name.
  head.writeUInt16BE(0xc00c, 0)
  head.writeUInt16BE(type, 2)
  head.writeUInt16BE(1, 4)
  head.writeUInt32BE(60, 6)
  head.writeUInt16BE(data.length, 10)
  return Buffer.concat([head, data])
}

interface Question {
  id: number
  name: string
  type: number
  bytes: Buffer
}

const questionOf = (message: Buffer): Question => {
  const labels: string[] = []
  let at = 12
  for (let length = message.readUInt8(at); length > 0; length = message.readUInt8(at)) {
    labels.push(message.toString('latin1', at + 1, at + 1 + length))
    at += length + 1
  }
  return {
    id: message.readUInt16BE(0),
    name: labels.join('.').toLowerCase(),
    type: message.readUInt16BE(at + 1),
    bytes: message.subarray(12, at + 5),
  }
}

const messageOf = ({ id, type, bytes }: Question, answer: NameAnswer, isTcp: boolean): Buffer => {
  const isCut = answer.truncated === true && !isTcp
  const records = isCut
    ? []
    : [
        ...(answer.cname === undefined ? [] : [record(typeCname, nameBytes(answer.cname))]),
        ...(type === typeA ? (answer.addresses ?? []) : []).map((address) =>
          record(typeA, Buffer.from(address.split('.').map(Number))),
        ),
      ]
  const head = Buffer.alloc(12)
  head.writeUInt16BE(id, 0)
  head.writeUInt16BE(0x8180 | (isCut ? 0x0200 : 0) | (answer.code ? codes[answer.code] : 0), 2)
  head.writeUInt16BE(1, 4)
  head.writeUInt16BE(records.length, 6)
  return answer.garbage ? Buffer.concat([head, Buffer.alloc(40, 0xff)]) : Buffer.concat([head, bytes, ...records])
}

const listenTcp = async (port: number, answerTo: (message: Buffer) => Buffer | undefined) => {
  const server = createServer((socket) => {
    let pending: Buffer = Buffer.alloc(0)
    socket.on('error', () => undefined)
    socket.on('data', (chunk: Buffer) => {
      pending = Buffer.concat([pending, chunk])
      while (pending.length >= 2 && pending.length >= 2 + pending.readUInt16BE(0)) {
        const end = 2 + pending.readUInt16BE(0)
        const answer = answerTo(pending.subarray(2, end))
        pending = pending.subarray(end)
        if (!answer) continue
        const length = Buffer.alloc(2)
        length.writeUInt16BE(answer.length, 0)
        socket.write(Buffer.concat([length, answer]))
      }
    })
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  return server
}

/** A name server on loopback, for UDP and TCP, with configured responses. Other names do not exist. */
export const startNameServer = async (answers: (name: string) => NameAnswer | undefined): Promise<NameServer> => {
  const asked: string[] = []
  const answerTo = (message: Buffer, isTcp: boolean): Buffer | undefined => {
    const question = questionOf(message)
    asked.push(question.name)
    const answer = answers(question.name) ?? { code: 'NXDOMAIN' }
    return answer.silent ? undefined : messageOf(question, answer, isTcp)
  }
  const tcp = await listenTcp(0, (message) => answerTo(message, true))
  const { port } = tcp.address() as AddressInfo
  const udp = createSocket('udp4')
  udp.on('message', (message, from) => {
    const answer = answerTo(message, false)
    if (answer) udp.send(answer, from.port, from.address)
  })
  udp.bind(port, '127.0.0.1')
  await once(udp, 'listening')
  return {
    address: `127.0.0.1:${port}`,
    asked,
    close: async () => {
      udp.close()
      tcp.close()
    },
  }
}
