import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { request as httpRequest } from 'node:http'
import { describe, test } from 'node:test'
import { countsAreExact, createFolder, traces } from '../../../test/support/files.ts'
import { eventsOf, typesOf } from '../../../test/support/events.ts'
import {
  append,
  ask,
  begin,
  begun,
  metadataOf,
  runClient,
  runUntil,
  uploads,
} from '../../../test/support/uploads/tus.ts'
import { until } from '../../../test/support/until.ts'
import { startTestApp } from '../../../test/harness.ts'
import type { TestActor, TestApp } from '../../../test/harness.ts'
import { sql } from '../../platform/database/database.ts'
import { newId } from '../../platform/ids.ts'
import { removeExpired } from './resumable.ts'

const app = await startTestApp()
const other = await app.secondServer({ UPLOAD_MAX_BYTES: '5497558138880' })
const owner = await app.createOrg()
const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')
const offsetOf = ({ headers }: { headers: Headers }): number => Number(headers.get('upload-offset'))
const metadata = { name: 'film.bin', type: 'application/octet-stream' }

const fileOf = async (as: TestActor, id: string | null) => {
  const { body, status, text } = await app.call('GET', `/api/v1/files/${id ?? ''}`, { as })
  assert.equal(status, 200, text)
  return body.data
}

const usageOf = async (as: TestActor) => {
  const { body } = await app.call('GET', '/api/v1/quotas', { as })
  const of = (name: string): number => body.data.items.find((one: { name: string }) => one.name === name).used
  return { bytes: of('storedBytes'), files: of('files') }
}

const downloaded = async (as: TestActor, id: string): Promise<string> => {
  const { headers } = await app.call('GET', `/api/v1/files/${id}?download=true`, { as })
  const response = await fetch(headers.get('location') ?? '')
  return sha256(Buffer.from(await response.arrayBuffer()))
}

describe('discovery', () => {
  test('OPTIONS returns the version, extensions and limits of the protocol without a key', async () => {
    const { status, headers, text } = await app.call('OPTIONS', uploads)
    assert.equal(status, 204)
    assert.equal(text, '')
    assert.equal(headers.get('tus-version'), '1.0.0')
    assert.equal(
      headers.get('tus-extension'),
      'creation,creation-with-upload,expiration,checksum,termination,concatenation',
    )
    assert.equal(headers.get('tus-max-size'), '104857600')
    assert.equal(headers.get('tus-checksum-algorithm'), 'sha1,sha256')
    assert.equal((await other.call('OPTIONS', uploads)).headers.get('tus-max-size'), '5497558138880')
  })
})

describe('uploads by tus-js-client', () => {
  const bytes = randomBytes(1_000_000)
  const chunkSize = 300_000

  test('an upload makes a ready file with its name, type, folder, hash and one event', async () => {
    const folder = await createFolder(app, owner, 'films')
    const named = { ...metadata, name: 'Größe 🎬.bin', parentId: folder.id, relativePath: 'a/b.bin' }
    const id = await runClient(app, owner, bytes, { metadata: named })
    const file = await fileOf(owner, id)
    assert.deepEqual(
      [file.name, file.mimeType, file.size, file.parentId, file.status, file.contentHash],
      [named.name, named.type, bytes.length, folder.id, 'ready', sha256(bytes)],
    )
    assert.equal(await downloaded(owner, id), sha256(bytes))
    assert.deepEqual(typesOf(await eventsOf(app, owner, id, 'file.created')), ['file.created'])
    await countsAreExact(app, owner.orgId)
  })

  test('an upload that is cut after each of its chunks and continued at another process has the same bytes', async () => {
    for (const cut of [chunkSize, 2 * chunkSize, 3 * chunkSize]) {
      const own = randomBytes(1_000_000)
      const url = await runUntil(app, owner, own, { metadata, chunkSize, stops: (accepted) => accepted >= cut })
      const { pathname } = new URL(url)
      assert.equal(offsetOf(await ask(app, owner, pathname)), cut)
      const id = await runClient(other, owner, own, { chunkSize, uploadUrl: other.url + pathname })
      assert.equal((await fileOf(owner, id)).contentHash, sha256(own))
      assert.equal(await downloaded(owner, id), sha256(own))
    }
    await countsAreExact(app, owner.orgId)
  })

  test('an upload that is cut within a chunk keeps what has arrived and is continued at another process', async () => {
    const own = randomBytes(1_000_000)
    const path = await begun(app, owner, { size: own.length, metadata })
    const half = httpRequest(app.url + path, {
      method: 'PATCH',
      headers: {
        authorization: `Bearer ${owner.key}`,
        'content-type': 'application/offset+octet-stream',
        'upload-offset': '0',
        'content-length': String(own.length),
      },
    })
    half.on('error', () => undefined)
    await new Promise<void>((resolve) => half.write(own.subarray(0, 400_000), () => resolve()))
    const id = path.split('/').at(-1) ?? ''
    await until('the server receives it', async () => {
      const row = await app.db.row(sql`
        select 1 from uploads where org_id = ${owner.orgId} and id = ${id} and lease_token is not null`)
      return row !== undefined
    })
    // The connection stays open, as that of a client that has changed its network.
    const asked = await ask(other, owner, path)
    assert.equal(asked.status, 200)
    const offset = offsetOf(asked)
    assert.ok(offset > 0 && offset <= 400_000, `${offset}`)
    half.destroy()
    const fileId = await runClient(other, owner, own, { chunkSize, uploadUrl: other.url + path })
    assert.equal((await fileOf(owner, fileId)).contentHash, sha256(own))
    assert.equal(await downloaded(owner, fileId), sha256(own))
  })

  test('parallel uploads are put together to one file in their order', async () => {
    const own = randomBytes(900_001)
    const id = await runClient(app, owner, own, { metadata, parallelUploads: 3, chunkSize: 200_000 })
    const file = await fileOf(owner, id)
    assert.equal(file.contentHash, sha256(own))
    assert.equal(file.name, metadata.name)
    await countsAreExact(app, owner.orgId)
    const left = await app.db.row<{ count: number }>(sql`
      select count(*)::int as count from uploads where org_id = ${owner.orgId} and kind = 'partial'`)
    assert.equal(left?.count, 0)
  })
})

describe('requests of the protocol', () => {
  test('a request that begins an upload can send its first bytes, or all', async () => {
    const bytes = randomBytes(1_000)
    const first = await begin(app, owner, { size: 1_000, body: bytes.subarray(0, 400) })
    assert.equal(first.status, 201, first.text)
    assert.equal(first.body.data.offset, 400)
    assert.equal(first.body.data.fileId, null)
    const path = new URL(first.headers.get('location') ?? '').pathname
    assert.equal(first.body.data.id, path.split('/').at(-1))
    const last = await append(app, owner, path, { offset: 400, body: bytes.subarray(400) })
    assert.equal(last.status, 204)
    assert.equal(last.headers.get('upload-expires'), null)
    const file = await fileOf(owner, last.headers.get('atrium-file-id'))
    assert.equal(file.contentHash, sha256(bytes))
    const whole = await begin(app, owner, { size: 1_000, body: bytes })
    assert.equal(whole.headers.get('atrium-file-id'), whole.body.data.fileId)
    assert.equal((await fileOf(owner, whole.body.data.fileId)).storageKey, file.storageKey, 'the bytes are stored once')
    const empty = await begin(app, owner, { size: 0, metadata: { filename: 'empty.txt', filetype: '' } })
    const { mimeType, size } = await fileOf(owner, empty.body.data.fileId)
    assert.deepEqual([mimeType, size], ['text/plain', 0])
    await countsAreExact(app, owner.orgId)
  })

  test('HEAD returns the offset, length, metadata and expiry, and the file of a complete upload', async () => {
    const path = await begun(app, owner, { size: 3, metadata })
    const { status, headers } = await ask(app, owner, path)
    assert.equal(status, 200)
    assert.equal(headers.get('upload-offset'), '0')
    assert.equal(headers.get('upload-length'), '3')
    assert.equal(headers.get('upload-metadata'), metadataOf(metadata))
    assert.equal(headers.get('tus-resumable'), '1.0.0')
    assert.equal(headers.get('cache-control'), 'no-store')
    const hours = (Date.parse(headers.get('upload-expires') ?? '') - Date.now()) / 3_600_000
    assert.ok(hours > 23 && hours <= 24, `${hours}`)
    const done = await append(app, owner, path, { offset: 0, body: Buffer.from('abc') })
    const after = await ask(other, owner, path)
    assert.equal(after.headers.get('atrium-file-id'), done.headers.get('atrium-file-id'))
    assert.equal(after.headers.get('upload-offset'), '3')
    assert.equal((await append(app, owner, path, { offset: 3, body: Buffer.from('d') })).status, 409)
  })

  test('POST with X-HTTP-Method-Override runs PATCH and DELETE', async () => {
    const path = await begun(app, owner, { size: 4, metadata })
    const post = (method: string, headers: Record<string, string> = {}, body?: string) =>
      app.call('POST', path, {
        as: owner,
        ...(body === undefined ? {} : { body }),
        headers: { 'x-http-method-override': method, 'content-type': 'application/offset+octet-stream', ...headers },
      })
    assert.equal((await post('PATCH', { 'upload-offset': '0' }, 'ab')).status, 204)
    assert.equal((await post('PUT')).status, 400)
    assert.equal((await post('DELETE')).status, 204)
    assert.equal((await ask(app, owner, path)).status, 404)
  })

  test('wrong requests have the statuses of the protocol and leave the upload as it is', async () => {
    const path = await begun(app, owner, { size: 10, metadata })
    const body = Buffer.from('abc')
    const sent = async (offset: number, headers: Record<string, string>, more = body) =>
      append(app, owner, path, { offset, body: more, headers })
    assert.equal((await sent(1, {})).status, 409)
    assert.equal((await sent(0, { 'content-type': 'application/octet-stream' })).status, 415)
    assert.equal((await sent(0, { 'upload-offset': '-1' })).status, 400)
    assert.equal((await sent(0, {}, Buffer.alloc(11))).status, 413)
    const old = await sent(0, { 'tus-resumable': '0.2.2' })
    assert.equal(old.status, 412)
    assert.equal(old.headers.get('tus-version'), '1.0.0')
    assert.deepEqual(Object.keys(old.body), ['success', 'error'])
    for (const value of ['crc9 AAAA', 'sha1', 'sha1 ?']) {
      assert.equal((await sent(0, { 'upload-checksum': value })).status, 400, value)
    }
    const digest = (bytes: Buffer) => `sha1 ${createHash('sha1').update(bytes).digest('base64')}`
    const wrong = await sent(0, { 'upload-checksum': digest(Buffer.from('abd')) })
    assert.equal(wrong.status, 460, wrong.text)
    assert.equal(offsetOf(await ask(app, owner, path)), 0)
    assert.equal((await sent(0, { 'upload-checksum': digest(body) })).status, 204)
    assert.equal(offsetOf(await ask(app, owner, path)), 3)
  })

  test('metadata, types and sizes are validated like those of other uploads', async () => {
    const rejected = async (given: Parameters<typeof begin>[2], status: number, pattern: RegExp) => {
      const answer = await begin(app, owner, given)
      assert.equal(answer.status, status, answer.text)
      assert.match(answer.body.error.message, pattern)
      assert.equal(answer.headers.get('tus-resumable'), '1.0.0')
    }
    const before = await traces(app)
    const usage = await usageOf(owner)
    const named = (values: Record<string, string>) => ({ size: 1, metadata: { name: 'a', ...values } })
    await rejected({ size: 1, metadata: { type: 'text/plain' } }, 400, /must have a name/)
    await rejected(named({ name: 'x'.repeat(256) }), 400, /name must be 1–255/)
    await rejected(named({ type: 'application/x-sh' }), 400, /mimeType must be one of/)
    await rejected(named({ parentId: 'x' }), 400, /parentId must be a UUID/)
    await rejected(named({ parentId: owner.orgId }), 400, /parentId must be the id of a folder/)
    await rejected(named({ projectId: owner.orgId }), 404, /Project not found/)
    await rejected(named({ source: 'folder' }), 400, /source/)
    for (const value of ['name', 'name !', 'name YQ== x', 'name YQ==,name YQ==', 'name //8=', ',']) {
      await rejected({ size: 1, headers: { 'upload-metadata': value } }, 400, /./)
    }
    await rejected({ size: 104_857_601 }, 413, /at most 104857600 bytes/)
    await rejected({ size: 1, headers: { 'upload-length': '1e3' } }, 400, /Upload-Length/)
    await rejected({ size: 1, headers: { 'upload-defer-length': '1' } }, 400, /Upload-Defer-Length/)
    await rejected({ size: 4, body: Buffer.from('text'), metadata: { name: 'a', type: 'image/png' } }, 400, /image.png/)
    assert.deepEqual(await traces(app), before)
    assert.deepEqual(await usageOf(owner), usage)
    const large = await begin(other, owner, { size: 104_857_601 })
    assert.equal(large.status, 201, large.text)
    const plain = { name: 'a', mimeType: 'text/plain', size: 104_857_601 }
    assert.equal((await other.call('POST', '/api/v1/files', { as: owner, json: plain })).status, 400)
  })

  test('an upload of 5 TB counts its bytes beyond 2^32, and the parts that arrive there', async () => {
    const org = await app.createOrg()
    await app.db.execute(sql`insert into org_quotas (org_id, name, value) values (${org.orgId}, 'storedBytes', null)`)
    const size = 5_497_558_138_880
    assert.equal((await begin(other, org, { size: size + 1 })).status, 413)
    const path = await begun(other, org, { size })
    assert.deepEqual(await usageOf(org), { bytes: size, files: 1 })
    await countsAreExact(app, org.orgId)
    const from = 2 ** 32 - 1_000
    await app.db.execute(sql`update uploads set large_received = ${from} where org_id = ${org.orgId}`)
    const chunks = [Buffer.alloc(2_000), Buffer.alloc(5_300_000), Buffer.alloc(7), Buffer.alloc(8)]
    let offset = from
    for (const body of chunks) {
      assert.equal((await append(other, org, path, { offset: 0, body })).status, 409)
      const { status, headers, text } = await append(other, org, path, { offset, body })
      assert.equal(status, 204, text)
      offset += body.length
      assert.equal(headers.get('upload-offset'), String(offset))
    }
    const asked = await ask(other, org, path)
    assert.deepEqual([offsetOf(asked), asked.headers.get('upload-length')], [offset, String(size)])
    const parts = await app.db.rows(sql`
      select start_byte as place, size_bytes from upload_parts where org_id = ${org.orgId} order by start_byte`)
    assert.deepEqual(parts, [
      { place: 0, sizeBytes: 5_302_000 },
      { place: 1, sizeBytes: 15 },
    ])
    assert.equal((await other.call('DELETE', path, { as: org })).status, 204)
    assert.deepEqual(await usageOf(org), { bytes: 0, files: 0 })
    await countsAreExact(app, org.orgId)
  })

  test('bytes of another type end the upload, also when the type is known after the second chunk', async () => {
    const usage = await usageOf(owner)
    const path = await begun(app, owner, { size: 5_000, metadata: { name: 'a.png', type: 'image/png' } })
    assert.equal((await append(app, owner, path, { offset: 0, body: Buffer.alloc(3) })).status, 204)
    const wrong = await append(app, owner, path, { offset: 3, body: Buffer.alloc(4_997) })
    assert.equal(wrong.status, 400, wrong.text)
    assert.match(wrong.body.error.message, /does not match the type image\/png/)
    assert.equal((await ask(app, owner, path)).status, 404)
    assert.deepEqual(await usageOf(owner), usage)
  })
})

describe('isolation and limits', () => {
  test('an upload of another org or person is NOT_FOUND, and its bytes cannot be put together', async () => {
    const stranger = await app.createOrg()
    const colleague = await app.createUser(owner, 'admin')
    const partial = { size: 3, headers: { 'upload-concat': 'partial' } }
    const path = await begun(app, owner, partial)
    for (const as of [stranger, colleague]) {
      assert.equal((await ask(app, as, path)).status, 404)
      assert.equal((await append(app, as, path, { offset: 0, body: Buffer.from('abc') })).status, 404)
      assert.equal((await app.call('DELETE', path, { as })).status, 404)
      const final = { size: 0, headers: { 'upload-concat': `final;${path}` } }
      assert.equal((await begin(app, as, final)).status, 404)
    }
    assert.equal((await append(app, owner, path, { offset: 0, body: Buffer.from('abc') })).status, 204)
  })

  test('the size counts towards the quotas when the upload begins, and is free again when it is deleted', async () => {
    const org = await app.createOrg()
    await app.db.execute(sql`
      insert into org_quotas (org_id, name, value) values (${org.orgId}, 'storedBytes', 1000)`)
    const path = await begun(app, org, { size: 900 })
    assert.deepEqual(await usageOf(org), { bytes: 900, files: 1 })
    await countsAreExact(app, org.orgId)
    const rejected = await begin(app, org, { size: 101 })
    assert.equal(rejected.status, 403, rejected.text)
    assert.equal((await append(app, org, path, { offset: 0, body: Buffer.alloc(500) })).status, 204)
    const { objects } = await traces(app)
    const isOwn = (key: string): boolean => key.startsWith(org.orgId)
    assert.equal(objects.filter(isOwn).length, 1)
    assert.equal((await app.call('DELETE', path, { as: org })).status, 204)
    assert.equal((await ask(app, org, path)).status, 404)
    assert.deepEqual(await usageOf(org), { bytes: 0, files: 0 })
    assert.deepEqual((await traces(app)).objects.filter(isOwn), [])
    assert.equal((await begin(app, org, { size: 1_000 })).status, 201)
    await countsAreExact(app, org.orgId)
  })

  test('an org has at most 1,000 open uploads, and one person 500 of them', async () => {
    const org = await app.createOrg()
    const member = await app.createUser(org, 'member')
    const open = async (as: TestActor) => {
      const path = await begun(app, as, { size: 0, headers: { 'upload-concat': 'partial' } })
      await app.db.execute(sql`
        insert into uploads (org_id, id, created_by, kind, size_bytes, expires_at, ends_at)
        select org_id, gen_random_uuid(), created_by, kind, 0, expires_at, ends_at from uploads, generate_series(1, 499)
        where org_id = ${as.orgId} and created_by = ${as.userId}`)
      return path
    }
    await open(member)
    const tooMany = await begin(app, member, { size: 1 })
    assert.deepEqual([tooMany.status, tooMany.text.includes('A person has at most 500')], [409, true], tooMany.text)
    const path = await open(org)
    const rejected = await begin(app, org, { size: 1 })
    assert.deepEqual([rejected.status, rejected.text.includes('An org has at most 1000')], [409, true], rejected.text)
    assert.equal((await app.call('DELETE', path, { as: org })).status, 204)
    assert.equal((await begin(app, org, { size: 1 })).status, 201)
  })

  test('an expired upload is 410, and the hourly job deletes its bytes and frees its quota', async () => {
    const org = await app.createOrg()
    const path = await begun(app, org, { size: 900 })
    assert.equal((await append(app, org, path, { offset: 0, body: Buffer.alloc(500) })).status, 204)
    await app.db.execute(sql`update uploads set expires_at = now() where org_id = ${org.orgId}`)
    const isGone = async () => {
      assert.equal((await ask(app, org, path)).status, 410)
      assert.equal((await append(app, org, path, { offset: 500, body: Buffer.alloc(1) })).status, 410)
    }
    await isGone()
    assert.equal(await removeExpired(app.deps), 1)
    await isGone()
    assert.deepEqual(await usageOf(org), { bytes: 0, files: 0 })
    assert.deepEqual(
      (await traces(app)).objects.filter((key) => key.startsWith(org.orgId)),
      [],
    )
    await countsAreExact(app, org.orgId)
  })

  test('an upload that expires while bytes arrive, because its member is removed, stays expired', async () => {
    const org = await app.createOrg()
    const path = await begun(app, org, { size: 900 })
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
    const writer = writable.getWriter()
    const sending = fetch(app.url + path, {
      method: 'PATCH',
      body: readable,
      duplex: 'half',
      headers: {
        authorization: `Bearer ${org.key}`,
        'tus-resumable': '1.0.0',
        'content-type': 'application/offset+octet-stream',
        'upload-offset': '0',
      },
    })
    await writer.write(Buffer.alloc(100))
    await until('a part is being stored', async () => {
      const row = await app.db.row(sql`select 1 from blobs where org_id = ${org.orgId} and state = 'writing'`)
      return row !== undefined
    })
    await app.db.execute(sql`update uploads set expires_at = now() where org_id = ${org.orgId}`)
    await writer.write(Buffer.alloc(100))
    await writer.close()
    await (await sending).body?.cancel()
    const row = await app.db.row<{ isExpired: boolean; received: number }>(sql`
      select expires_at <= now() as is_expired, received_bytes as received from uploads where org_id = ${org.orgId}`)
    assert.deepEqual(row, { isExpired: true, received: 200 })
    assert.equal((await ask(app, org, path)).status, 410)
  })

  test('parts of an open upload survive the nightly reconciliation at any age', async () => {
    const org = await app.createOrg()
    const path = await begun(app, org, { size: 4 })
    assert.equal((await append(app, org, path, { offset: 0, body: Buffer.from('ab') })).status, 204)
    const { reconcile } = await import('../blobs/reconciliation.ts')
    await reconcile(app.deps, { ageHours: 0 })
    const done = await append(app, org, path, { offset: 2, body: Buffer.from('cd') })
    assert.equal(done.status, 204, done.text)
    assert.equal((await fileOf(org, done.headers.get('atrium-file-id'))).contentHash, sha256(Buffer.from('abcd')))
  })
})

describe('several requests', () => {
  test('an upload whose process was killed can be used again within seconds', async () => {
    const path = await begun(app, owner, { size: 3 })
    const id = path.split('/').at(-1) ?? ''
    await app.db.execute(sql`
      update uploads set lease_token = ${newId()}, lease_until = now() + interval '2 seconds'
      where org_id = ${owner.orgId} and id = ${id}`)
    assert.equal((await ask(app, owner, path)).status, 200)
  })

  test('of two requests with the same offset one stores its bytes', async () => {
    const path = await begun(app, owner, { size: 2_000 })
    const send = (on: TestApp) => append(on, owner, path, { offset: 0, body: Buffer.alloc(1_000, 1) })
    const answers = await Promise.all([send(app), send(other)])
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([204, 409]))
    assert.equal(offsetOf(await ask(app, owner, path)), 1_000)
  })

  test('an upload whose folder is deleted before its end is rejected and leaves nothing', async () => {
    const org = await app.createOrg()
    const folder = await createFolder(app, org, 'short-lived')
    const path = await begun(app, org, { size: 3, metadata: { name: 'a.txt', parentId: folder.id } })
    await app.call('DELETE', `/api/v1/files/${folder.id}?permanent=true`, { as: org })
    const { status, body } = await append(app, org, path, { offset: 0, body: Buffer.from('abc') })
    assert.equal(status, 400)
    assert.match(body.error.message, /parentId/)
    assert.equal((await ask(app, org, path)).status, 404)
    assert.deepEqual(await usageOf(org), { bytes: 0, files: 0 })
    await countsAreExact(app, org.orgId)
  })
})
