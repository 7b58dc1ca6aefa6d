// An object store that accepts parts of direct uploads over HTTP, as a bucket does for the pages of one origin. What S3
// itself accepts is tested with Ceph in src/files/blobs/s3.test.ts.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { Readable } from 'node:stream'
import type { DirectUploads, ObjectStore } from '../../src/platform/object-store/object-store.ts'

export interface DirectStore {
  direct: DirectUploads
  /** Sizes of the parts that have arrived, in the order of their arrival. */
  received: number[]
  /** Until the returned function is called, the bodies of requests are not read. */
  hold(): () => void
  /** How many requests are held. */
  held(): number
  stop(): Promise<void>
}

export const startDirectStore = async (objects: ObjectStore): Promise<DirectStore> => {
  const uploads = new Map<string, Map<number, Buffer>>()
  const received: number[] = []
  let isHolding = false
  let held = 0
  const server = createServer((request, response) => {
    const { origin = '' } = request.headers
    response.setHeader('access-control-allow-origin', origin)
    response.setHeader('access-control-allow-methods', 'PUT')
    response.setHeader('access-control-allow-headers', 'content-type')
    if (request.method !== 'PUT') return response.end()
    if (isHolding) {
      held += 1
      return request.pause()
    }
    const [, id = '', number = ''] = (request.url ?? '').split('/')
    return void buffer(request).then((bytes) => {
      received.push(bytes.length)
      uploads.get(id)?.set(Number(number), bytes)
      response.end()
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    received,
    hold: () => {
      isHolding = true
      return () => {
        isHolding = false
      }
    },
    held: () => held,
    direct: {
      origin: async () => origin,
      begin: async () => {
        const id = crypto.randomUUID()
        uploads.set(id, new Map())
        return id
      },
      signPart: async (_key, id, { number }) => `${origin}/${id}/${number}`,
      parts: async (_key, id) =>
        uploads.has(id)
          ? [...(uploads.get(id) ?? [])]
              .map(([number, { length }]) => ({ number, sizeBytes: length, etag: `${number}` }))
              .toSorted((a, b) => a.number - b.number)
          : undefined,
      complete: async (key, id, parts) => {
        const bytes = Buffer.concat(parts.map(({ number }) => uploads.get(id)?.get(number) ?? Buffer.alloc(0)))
        await objects.put(key, Readable.from([bytes]))
        uploads.delete(id)
      },
      abort: async (_key, id) => void uploads.delete(id),
    },
    stop: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
