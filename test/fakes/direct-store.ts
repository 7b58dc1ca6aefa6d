// An object store that accepts parts of direct uploads over HTTP, as a bucket does for the pages of one origin. What S3
// itself accepts is tested with Ceph in src/files/blobs/s3.test.ts.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { Readable } from 'node:stream'
import { storeUnavailable } from '../../src/platform/object-store/object-store.ts'
import type { DirectUploads, ObjectStore } from '../../src/platform/object-store/object-store.ts'

export interface DirectStore {
  direct: DirectUploads
  /** Sizes of the parts that have arrived, in the order of their arrival. */
  received: number[]
  /** Keys of the objects whose uploads are open. */
  open(): string[]
  /** Until the returned function is called, the bodies of requests are not read. */
  hold(): () => void
  /** How many requests are held. */
  held(): number
  stop(): Promise<void>
}

export const startDirectStore = async (objects: ObjectStore): Promise<DirectStore> => {
  const uploads = new Map<string, Map<number, Buffer>>()
  const keys = new Map<string, string>()
  const received: number[] = []
  const end = (id: string): void => {
    uploads.delete(id)
    keys.delete(id)
  }
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
      const upload = uploads.get(id)
      if (!upload) return response.writeHead(404).end()
      received.push(bytes.length)
      upload.set(Number(number), bytes)
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
    open: () => [...keys.values()],
    direct: {
      origin: async () => origin,
      begin: async (key) => {
        const id = crypto.randomUUID()
        keys.set(id, key)
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
        const upload = uploads.get(id)
        if (!upload) throw storeUnavailable(new Error('NoSuchUpload'))
        const bytes = Buffer.concat(parts.map(({ number }) => upload.get(number) ?? Buffer.alloc(0)))
        await objects.put(key, Readable.from([bytes]))
        end(id)
      },
      abort: async (_key, id) => end(id),
    },
    stop: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
