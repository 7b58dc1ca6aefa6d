import { once } from 'node:events'
import { createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'

const message = (type: string, body: Buffer): Buffer => {
  const head = Buffer.alloc(5)
  head.write(type)
  head.writeUInt32BE(body.length + 4, 1)
  return Buffer.concat([head, body])
}

const text = (value: string): Buffer => Buffer.from(`${value}\0`)
const int16 = (value: number): Buffer => Buffer.from([value >> 8, value & 255])
const int32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32BE(value)
  return bytes
}

const ready = message('Z', Buffer.from('I'))

const typeOf = { string: 25, number: 23, boolean: 16 } as Record<string, number>

/** One row of columns of types text, integer and boolean, as the simple query protocol sends it. */
const oneRow = (row: Record<string, string | number | boolean>): Buffer => {
  const columns = Object.entries(row).map(([name, value]) => {
    const type = typeOf[typeof value] as number
    return Buffer.concat([text(name), int32(0), int16(0), int32(type), int16(-1), int32(-1), int16(0)])
  })
  const values = Object.values(row).map((value) => {
    const bytes = Buffer.from(typeof value === 'boolean' ? String(value)[0]! : String(value))
    return Buffer.concat([int32(bytes.length), bytes])
  })
  return Buffer.concat([
    message('T', Buffer.concat([int16(columns.length), ...columns])),
    message('D', Buffer.concat([int16(values.length), ...values])),
    message('C', text('SELECT 1')),
    ready,
  ])
}

/**
 * A fake that reports itself as PostgreSQL 14.9 in the frontend/backend protocol 3.0, because such an old server is not
 * available to the tests. It responds to queries for its version and state; `asked` contains all queries.
 */
export const startOldPostgres = async (): Promise<{ port: number; asked: string[]; stop(): void }> => {
  const asked: string[] = []
  const serve = (socket: Socket): void => {
    let pending: Buffer = Buffer.alloc(0)
    let started = false
    const take = (): boolean => {
      const at = started ? 1 : 0
      if (pending.length < at + 4) return false
      const end = at + pending.readUInt32BE(at)
      if (pending.length < end) return false
      const type = started ? String.fromCodePoint(pending[0] as number) : 'startup'
      const body = pending.subarray(at + 4, end)
      pending = pending.subarray(end)
      if (type === 'startup') {
        started = true
        socket.write(Buffer.concat([message('R', int32(0)), message('K', Buffer.concat([int32(1), int32(0)])), ready]))
      } else if (type === 'Q') {
        asked.push(body.subarray(0, -1).toString())
        socket.write(oneRow({ number: 140_009, text: '14.9', standby: false, readonly: false, pid: 1, timeline: 1 }))
      } else socket.end()
      return true
    }
    socket.on('data', (chunk: Buffer) => {
      pending = Buffer.concat([pending, chunk])
      while (take());
    })
    socket.on('error', () => undefined)
  }
  const server = createServer(serve).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { port: (server.address() as AddressInfo).port, asked, stop: () => void server.close() }
}
