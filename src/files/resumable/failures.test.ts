import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { countsAreExact } from '../../../test/support/files.ts'
import { append, ask, begin, begun } from '../../../test/support/uploads/tus.ts'
import { startTestApp } from '../../../test/harness.ts'
import { openDiskStore } from '../../platform/object-store/disk.ts'
import { storeUnavailable } from '../../platform/object-store/object-store.ts'
import type { ObjectStore } from '../../platform/object-store/object-store.ts'
import { diskFull } from '../../platform/process/disk-space.ts'

const root = await mkdtemp(join(tmpdir(), 'atrium-failing-store-'))
after(() => rm(root, { recursive: true, force: true }))
const disk = await openDiskStore(root)

/** The error of the next operations of the store. */
let failure: (() => Error) | undefined
const broken = async function* (body: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  for await (const chunk of body) {
    yield chunk
    if (failure) throw failure()
  }
}
const objects: ObjectStore = {
  ...disk,
  put: (key, body, options) => disk.put(key, broken(body), options),
  get: (key, range) => (failure ? Promise.reject(failure()) : disk.get(key, range)),
  delete: (key) => (failure ? Promise.reject(failure()) : disk.delete(key)),
}
const app = await startTestApp({}, { replace: { objects } })

const failing = async <T>(error: () => Error, work: () => Promise<T>): Promise<T> => {
  failure = error
  try {
    return await work()
  } finally {
    failure = undefined
  }
}

for (const [what, error, message] of [
  ['a full disk', () => diskFull('ENOSPC'), /disk is full/],
  ['an unreachable bucket', () => storeUnavailable('ECONNREFUSED'), /store cannot be reached/],
] as const) {
  test(`${what} at any step is a clear error, makes nothing visible, and the upload is continued afterwards`, async () => {
    const owner = await app.createOrg()
    const bytes = randomBytes(12_000_000)
    const metadata = { name: 'a.bin', type: 'application/octet-stream' }
    const isFailure = ({ status, body }: { status: number; body: { error: { code: string; message: string } } }) => {
      assert.equal(status, 503)
      assert.equal(body.error.code, 'SERVICE_UNAVAILABLE')
      assert.match(body.error.message, message)
    }
    const names = async (): Promise<string[]> => {
      const { body } = await app.call('GET', '/api/v1/files', { as: owner })
      return body.data.items.map(({ name }: { name: string }) => name)
    }
    const offset = async (): Promise<string | null> => (await ask(app, owner, path)).headers.get('upload-offset')

    isFailure(await failing(error, () => begin(app, owner, { size: 3, body: Buffer.from('abc'), metadata })))
    const path = await failing(error, () => begun(app, owner, { size: bytes.length, metadata }))
    const send = (from: number, to: number) =>
      append(app, owner, path, { offset: from, body: bytes.subarray(from, to) })
    isFailure(await failing(error, () => send(0, 1_000_000)))
    assert.equal(await offset(), '0')
    assert.equal((await send(0, 1_000_000)).status, 204)
    // The short first part is stored again with these bytes.
    isFailure(await failing(error, () => send(1_000_000, 6_000_000)))
    assert.equal(await offset(), '1000000')
    assert.equal((await send(1_000_000, 6_000_000)).status, 204)
    isFailure(await failing(error, () => send(6_000_000, bytes.length)))
    assert.equal((await send(6_000_000, 11_000_000)).status, 204)
    assert.deepEqual(await names(), [])

    // The last bytes are stored, and the parts cannot be put together.
    const last = await send(11_000_000, 11_999_999)
    assert.equal(last.status, 204)
    const { get } = objects
    objects.get = (key, range) => (key.includes(path) ? get(key, range) : Promise.reject(error()))
    isFailure(await send(11_999_999, bytes.length))
    assert.equal((await ask(app, owner, path)).status, 503, 'the file cannot be made yet')
    assert.deepEqual(await names(), [])
    objects.get = get
    if ((await ask(app, owner, path)).headers.get('upload-offset') === '11999999') {
      assert.equal((await send(11_999_999, bytes.length)).status, 204)
    }
    const done = await ask(app, owner, path)
    const file = await app.call('GET', `/api/v1/files/${done.headers.get('atrium-file-id')}`, { as: owner })
    assert.equal(file.body.data.contentHash, createHash('sha256').update(bytes).digest('hex'))
    assert.deepEqual(await names(), ['a.bin'])
    await countsAreExact(app, owner.orgId)
    await app.settled()
    const left: string[] = []
    for await (const { key } of disk.list(`${owner.orgId}/`)) left.push(key)
    assert.deepEqual(left, [file.body.data.storageKey], 'nothing but the bytes of the file is left')
  })
}
