// The baseline for uploads: a bare Node.js server that streams a body to disk and hashes it, without fsync.
import { createHash, randomUUID } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { Transform } from 'node:stream'
import type { TransformCallback } from 'node:stream'
import { pipeline } from 'node:stream/promises'

const folder = process.env['BASELINE_FOLDER'] ?? '.'

const take = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
  const path = join(folder, randomUUID())
  const hash = createHash('sha256')
  const hashing = new Transform({
    transform: (chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback) => {
      hash.update(chunk)
      done(null, chunk)
    },
  })
  await pipeline(request, hashing, createWriteStream(path))
  response.end(hash.digest('hex'))
}

const server = createServer((request, response) => void take(request, response))

server.listen(0, '127.0.0.1', () => {
  console.log(`listening on http://127.0.0.1:${(server.address() as AddressInfo).port}`)
})
process.on('SIGTERM', () => process.exit(0))
