import assert from 'node:assert/strict'
import { createHash, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { createServer, connect } from 'node:net'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer, text } from 'node:stream/consumers'
import { after, before, describe, test } from 'node:test'
import { available } from '../../../test/support/require.ts'
import { cephInstallHint, isCephInstalled, startBucket } from '../../../test/fakes/ceph.ts'
import type { Ceph } from '../../../test/fakes/ceph.ts'
import { ApiError } from '../http/errors.ts'
import { openDiskStore } from './disk.ts'
import { assertKey } from './object-store.ts'
import type { ObjectStore } from './object-store.ts'
import { openS3Store } from './s3.ts'

const keep = async (): Promise<ReadonlySet<string>> => new Set()

const mib = 1_048_576

/** A body no part of which can be taken for another; the same size gives the same body again. */
const chunksOf = function* (sizeBytes: number, chunkBytes = 65_536): Generator<Buffer> {
  for (let at = 0; at < sizeBytes; at += chunkBytes) {
    const chunk = Buffer.allocUnsafe(Math.min(chunkBytes, sizeBytes - at))
    for (let i = 0; i < chunk.length; i += 1) chunk[i] = Math.imul(at + i + sizeBytes, 0x9e3779b1) >>> 24
    yield chunk
  }
}

const bodyOf = async function* (sizeBytes: number, chunkBytes?: number): AsyncGenerator<Buffer> {
  yield* chunksOf(sizeBytes, chunkBytes)
}

const hashOf = async (chunks: Iterable<Buffer> | AsyncIterable<Buffer>): Promise<string> => {
  const hash = createHash('sha256')
  for await (const chunk of chunks) hash.update(chunk)
  return hash.digest('hex')
}

const newKey = (folder: string = randomUUID()): string => `${folder}/${randomUUID()}`

const keysOf = async (store: ObjectStore, prefix: string): Promise<string[]> => {
  const keys = []
  for await (const { key } of store.list(prefix)) keys.push(key)
  return keys.toSorted()
}

const isCode = (code: string) => (error: unknown) => error instanceof ApiError && error.code === code

/** What holds for every kind of store. `open` is called once, when the tests run. */
const conform = (name: string, open: () => Promise<ObjectStore>): void => {
  describe(name, () => {
    let store: ObjectStore
    before(async () => {
      store = await open()
    })

    const assertNothingLeft = async (key: string): Promise<void> => {
      assert.equal(await store.head(key), undefined)
      await assert.rejects(store.get(key), isCode('NOT_FOUND'))
      assert.deepEqual(await keysOf(store, key), [])
      assert.equal(await store.unfinished(), 0)
    }

    test('a stored object is returned byte for byte for all sizes and chunk sizes', async () => {
      for (const [sizeBytes, chunkBytes] of [
        [0, 1],
        [1, 1],
        [1_000, 7],
        [524_288, 65_536],
        [5 * mib - 1, 1_000_003],
        [5 * mib, 65_536],
        [5 * mib + 1, 65_536],
        [10 * mib, 3 * mib],
        [17 * mib + 12_345, 17 * mib + 12_345],
      ] as const) {
        const key = newKey()
        await store.put(key, bodyOf(sizeBytes, chunkBytes))
        assert.equal((await store.head(key))?.sizeBytes, sizeBytes)
        assert.equal(await hashOf(await store.get(key)), await hashOf(chunksOf(sizeBytes, chunkBytes)), `${sizeBytes}`)
      }
    })

    test('an object has the time when it was stored', async () => {
      const key = newKey()
      await store.put(key, bodyOf(1))
      const found = await store.head(key)
      assert.ok(Math.abs((found?.modifiedAt.getTime() ?? 0) - Date.now()) < 60_000)
    })

    test('a range includes its first and last byte', async () => {
      const key = newKey()
      await store.put(key, Readable.from([Buffer.from('0123'), Buffer.from('456789')]))
      for (const [start, end, expected] of [
        [0, 0, '0'],
        [0, 9, '0123456789'],
        [3, 4, '34'],
        [9, 9, '9'],
      ] as const) {
        assert.equal(await text(await store.get(key, { start, end })), expected)
      }
    })

    test('a missing object is NOT_FOUND for get, undefined for head, and ignored by delete', async () => {
      const key = newKey()
      await assert.rejects(store.get(key), isCode('NOT_FOUND'))
      await assert.rejects(store.get(key, { start: 0, end: 1 }), isCode('NOT_FOUND'))
      assert.equal(await store.head(key), undefined)
      await store.delete(key)
    })

    test('deleting an object removes it and no other', async () => {
      const folder = randomUUID()
      const [one, two] = [newKey(folder), newKey(folder)]
      await store.put(one, bodyOf(10))
      await store.put(two, bodyOf(20))
      await store.delete(one)
      assert.equal(await store.head(one), undefined)
      assert.deepEqual(await keysOf(store, `${folder}/`), [two])
      await store.delete(one)
    })

    test('a listing returns all objects with its prefix, also more than a thousand, and no others', async () => {
      const folder = randomUUID()
      const keys = Array.from({ length: 1_010 }, () => newKey(folder))
      const other = newKey()
      await store.put(other, bodyOf(3))
      const left = keys.values()
      await Promise.all(
        Array.from({ length: 32 }, async () => {
          for (const key of left) await store.put(key, bodyOf(2))
        }),
      )
      assert.deepEqual(await keysOf(store, `${folder}/`), keys.toSorted())
      const prefix = keys[0]!.slice(0, folder.length + 9)
      assert.deepEqual(await keysOf(store, prefix), keys.filter((key) => key.startsWith(prefix)).toSorted())
      assert.ok((await keysOf(store, '')).includes(other))
      for await (const { sizeBytes, modifiedAt } of store.list(`${folder}/`)) {
        assert.equal(sizeBytes, 2)
        assert.ok(modifiedAt instanceof Date)
      }
    })

    test('a failing body fails the put with its own error and leaves no object', async () => {
      for (const sizeBytes of [0, 1, 600_000, 6 * mib, 16 * mib]) {
        const key = newKey()
        const failure = new Error('the client went away')
        const body = async function* (): AsyncGenerator<Buffer> {
          yield* chunksOf(sizeBytes)
          throw failure
        }
        await assert.rejects(store.put(key, body()), failure)
        await assertNothingLeft(key)
      }
    })

    test('an aborted put of a stalled body ends immediately, releases the body and leaves no object', async () => {
      for (const sizeBytes of [0, 100_000, 11 * mib]) {
        const key = newKey()
        const stop = new AbortController()
        let released = false
        const body: AsyncIterable<Buffer> = {
          [Symbol.asyncIterator]: () => {
            const chunks = chunksOf(sizeBytes)
            return {
              next: async () => {
                const next = chunks.next()
                if (!next.done) return next
                stop.abort(new Error('no longer wanted'))
                return new Promise(() => undefined)
              },
              return: async () => {
                released = true
                return { done: true, value: undefined }
              },
            }
          },
        }
        await assert.rejects(store.put(key, body, { signal: stop.signal }), /no longer wanted/)
        assert.equal(released, true)
        await assertNothingLeft(key)
        await assert.rejects(store.put(key, bodyOf(5), { signal: stop.signal }), /no longer wanted/)
        await assertNothingLeft(key)
      }
    })

    test('an unfinished object is not visible', async () => {
      const key = newKey()
      const body = async function* (): AsyncGenerator<Buffer> {
        for (const chunk of chunksOf(12 * mib, mib)) {
          assert.equal(await store.head(key), undefined)
          yield chunk
        }
      }
      await store.put(key, body())
      assert.equal((await store.head(key))?.sizeBytes, 12 * mib)
    })

    test('32 concurrent puts store their own bytes', async () => {
      const keys = Array.from({ length: 32 }, () => newKey())
      await Promise.all(keys.map((key, index) => store.put(key, bodyOf(mib + index))))
      for (const [index, key] of keys.entries()) {
        assert.equal(await hashOf(await store.get(key)), await hashOf(chunksOf(mib + index)))
      }
      assert.equal(await store.unfinished(), 0)
    })

    test('an aborted download does not affect others', async () => {
      const key = newKey()
      await store.put(key, bodyOf(8 * mib))
      for (let turn = 0; turn < 20; turn += 1) {
        const stream = await store.get(key)
        await once(stream, 'readable')
        stream.destroy()
      }
      assert.equal((await buffer(await store.get(key))).length, 8 * mib)
    })

    test('every function rejects a key that is not <folder>/<name>', async () => {
      const good = randomUUID()
      for (const key of [
        '',
        'one',
        '/',
        `${good}/`,
        `/${good}`,
        `${good}/..`,
        `../${good}`,
        `${good}/../${good}`,
        `.incoming/${good}`,
        `${good}/${good}/${good}`,
        `${good}//${good}`,
        `${good}\\${good}`,
        `${good}/${good.toUpperCase()}X`,
        `${good}/a b`,
        `${good}/a\0b`,
        `${good}/a\n`,
        `${good}/ä-ö`,
        `${good}/${'a'.repeat(65)}`,
      ]) {
        assert.throws(() => assertKey(key), TypeError, JSON.stringify(key))
        await assert.rejects(store.put(key, bodyOf(1)), TypeError, JSON.stringify(key))
        await assert.rejects(store.get(key), TypeError)
        await assert.rejects(store.head(key), TypeError)
        await assert.rejects(store.delete(key), TypeError)
      }
      assert.equal(await store.unfinished(), 0)
    })

    test('the readiness check succeeds and leaves no object', async () => {
      const before = await keysOf(store, '')
      await store.check()
      assert.deepEqual(await keysOf(store, ''), before)
      assert.equal(await store.unfinished(), 0)
    })

    test('running and recent puts are not removed as unfinished', async () => {
      const body = async function* (): AsyncGenerator<Buffer> {
        yield* chunksOf(11 * mib)
        assert.equal(await store.unfinished(), 1)
        assert.equal(await store.removeUnfinished({ soleProcess: false, keep }), 0)
        assert.equal(await store.unfinished(), 1)
      }
      const key = newKey()
      await store.put(key, body())
      assert.equal((await store.head(key))?.sizeBytes, 11 * mib)
    })
  })
}

const diskRoot = await mkdtemp(join(tmpdir(), 'atrium-objects-'))
after(() => rm(diskRoot, { recursive: true, force: true }))

conform('disk', () => openDiskStore(join(diskRoot, 'objects')))

test('disk: a put reads at most two batches ahead of the disk', async () => {
  const store = await openDiskStore(join(diskRoot, 'slow'))
  const incoming = join(diskRoot, 'slow', '.incoming')
  let produced = 0
  const body = async function* (): AsyncGenerator<Buffer> {
    for (const chunk of chunksOf(16 * mib)) {
      produced += chunk.length
      const [name = ''] = await readdir(incoming)
      const written = (await stat(join(incoming, name))).size
      assert.ok(produced - written <= 2 * 524_288, `${produced - written} bytes ahead`)
      yield chunk
    }
  }
  await store.put(newKey(), body())
  assert.equal(produced, 16 * mib)
})

if (await available('s3', isCephInstalled, cephInstallHint)) {
  let ceph: Ceph
  let bucket: string
  const settings = (endpoint = ceph.endpoint) => ({
    bucket,
    endpoint,
    publicEndpoint: undefined,
    region: 'us-east-1',
    forcePathStyle: true,
  })
  before(async () => {
    ;({ ceph, bucket } = await startBucket())
  })
  after(() => ceph.stop())

  conform('s3', async () => openS3Store(settings()))

  test('s3: a put reads at most three parts ahead of the store', async () => {
    let arrived = 0
    const proxy = createServer((socket) => {
      const upstream = connect(Number(new URL(ceph.endpoint).port), '127.0.0.1')
      socket.on('data', (chunk) => {
        arrived += chunk.length
      })
      socket.pipe(upstream).pipe(socket)
      socket.on('error', () => upstream.destroy())
      upstream.on('error', () => socket.destroy())
    }).listen(0, '127.0.0.1')
    await once(proxy, 'listening')
    try {
      const { port } = proxy.address() as AddressInfo
      const store = openS3Store(settings(`http://127.0.0.1:${port}`))
      let produced = 0
      const body = async function* (): AsyncGenerator<Buffer> {
        for (const chunk of chunksOf(64 * mib)) {
          produced += chunk.length
          assert.ok(produced - arrived <= 3 * 5 * mib + chunk.length, `${produced - arrived} bytes ahead`)
          yield chunk
        }
      }
      await store.put(newKey(), body())
      assert.equal(produced, 64 * mib)
    } finally {
      proxy.close()
    }
  })

  test('s3: a signed URL serves the object with exactly the signed headers', async () => {
    const store = openS3Store(settings())
    const key = newKey()
    await store.put(key, Readable.from([Buffer.from('<script>alert(1)</script>')]), { contentType: 'text/html' })
    const contentDisposition = `attachment; filename="a b.txt"; filename*=UTF-8''%C3%A4%20b.txt`
    const url = await store.signedGetUrl!(key, { expiresSeconds: 300, contentType: 'text/plain', contentDisposition })
    const answer = await fetch(url)
    assert.equal(answer.status, 200)
    assert.equal(answer.headers.get('content-type'), 'text/plain')
    assert.equal(answer.headers.get('content-disposition'), contentDisposition)
    assert.equal(await answer.text(), '<script>alert(1)</script>')
    assert.ok(!url.includes(ceph.secretAccessKey))

    const changed = new URL(url)
    changed.searchParams.set('response-content-type', 'text/html')
    for (const forged of [changed.href, url.replace(key, newKey()), url.replace(/Expires=300/, 'Expires=3000')]) {
      const refused = await fetch(forged)
      assert.equal(refused.status, 403)
      await refused.body?.cancel()
    }
    const written = await fetch(url, { method: 'PUT', body: 'other' })
    assert.equal(written.status, 403)
    await written.body?.cancel()
  })

  test('s3: signed URLs go to the public endpoint when there is one', async () => {
    const store = openS3Store({ ...settings(), publicEndpoint: 'https://files.example.com' })
    const url = await store.signedGetUrl!(newKey(), { expiresSeconds: 60, contentType: 'a/b', contentDisposition: '' })
    assert.equal(new URL(url).origin, 'https://files.example.com')
  })

  test('s3: an unreachable store or a missing bucket is SERVICE_UNAVAILABLE for every function', async () => {
    for (const store of [
      openS3Store(settings('http://127.0.0.1:1')),
      openS3Store({ ...settings(), bucket: `${bucket}-gone` }),
    ]) {
      const unavailable = isCode('SERVICE_UNAVAILABLE')
      const key = newKey()
      await assert.rejects(store.put(key, bodyOf(10)), unavailable)
      await assert.rejects(store.put(key, bodyOf(6 * mib)), unavailable)
      await assert.rejects(store.get(key), unavailable)
      await assert.rejects(keysOf(store, ''), unavailable)
      await assert.rejects(store.check(), unavailable)
    }
  })
}
