import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { get as httpGet } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import { after, describe, test } from 'node:test'
import pg from 'pg'
import { create, createFolder, pathOf, upload } from '../../../test/support/files.ts'
import { startTestApp } from '../../../test/harness.ts'
import type { Answer, TestActor } from '../../../test/harness.ts'
import { available } from '../../../test/support/require.ts'
import { startStopwatch } from '../../../test/support/stopwatch.ts'
import { until } from '../../../test/support/until.ts'
import { hasPython, readZip } from '../../../test/support/zip-reader.ts'
import type { ReadEntry } from '../../../test/support/zip-reader.ts'
import { sql } from '../../platform/database/database.ts'
import { openDiskStore } from '../../platform/object-store/disk.ts'
import { measureTrees } from './queries.ts'
import { createNames, safeNameOf } from './entry-names.ts'
import { zip } from './zip.ts'

const root = await mkdtemp(join(tmpdir(), 'atrium-archive-'))
after(() => rm(root, { recursive: true, force: true }))
const store = await openDiskStore(root)

/** While `gate` is pending, the bytes of opened objects do not arrive. */
let gate = Promise.resolve()
let opened = 0
let closed = 0
const objects: typeof store = {
  ...store,
  get: async (key, range) => {
    const source = await store.get(key, range)
    const stream = new PassThrough()
    opened += 1
    stream.once('close', () => {
      closed += 1
      source.destroy()
    })
    void gate.then(() => source.pipe(stream))
    return stream
  },
}
const app = await startTestApp({ TRUST_PROXY: 'true' }, { replace: { objects } })
const canRead = await available('python3', hasPython, 'apt-get install python3')

const archivePath = (id: string): string => `/api/v1/files/${id}/archive`

const fetchBytes = async (path: string, as?: TestActor): Promise<{ response: Response; bytes: Buffer }> => {
  const response = await fetch(app.url + path, { headers: as ? { authorization: `Bearer ${as.key}` } : {} })
  return { response, bytes: Buffer.from(await response.arrayBuffer()) }
}
const entriesOf = async (path: string, as?: TestActor): Promise<ReadEntry[]> => {
  const { response, bytes } = await fetchBytes(path, as)
  assert.equal(response.status, 200, bytes.toString())
  return canRead ? readZip(bytes) : []
}
const sha = (bytes: Buffer | string): string => createHash('sha256').update(bytes).digest('hex')

/** A response whose body is not read. */
const begin = async (path: string, as?: TestActor): Promise<IncomingMessage> => {
  const request = httpGet(app.url + path, { headers: as ? { authorization: `Bearer ${as.key}` } : {}, agent: false })
  request.on('error', () => undefined)
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  response.on('error', () => undefined)
  return response
}
/** Resolves when the server reads no object any more. A client that reads nothing does not notice the end of a response. */
const readsHaveEnded = (): Promise<void> => until('all reads have ended', () => closed === opened)
/** Reads the rest of a response. Whether it was complete. */
const isComplete = async (response: IncomingMessage): Promise<boolean> => {
  response.resume()
  if (!response.closed) {
    const { promise, resolve } = Promise.withResolvers<void>()
    response.once('close', resolve)
    await promise
  }
  return response.complete
}
const holding = (): (() => void) => {
  const { promise, resolve } = Promise.withResolvers<void>()
  gate = promise
  return resolve
}
const remove = async (as: TestActor, id: string): Promise<void> => {
  const { status, text } = await app.call('DELETE', `/api/v1/files/${id}?permanent=true`, { as })
  assert.equal(status, 200, text)
}
const share = async (as: TestActor, id: string, json: object = {}): Promise<{ id: string; path: string }> => {
  const { body, text } = await app.call('POST', `/api/v1/files/${id}/shares`, { as, json })
  assert.ok(body.data, text)
  return { id: body.data.id, path: pathOf(app, body.data.url) }
}
const visit = (path: string): Promise<Answer> => app.call('GET', path)

describe('names in an archive', () => {
  test('have no separators, no `..`, no device of Windows, and at most 255 bytes', () => {
    const cases: [string, string][] = [
      ['../../etc/passwd', '.._.._etc_passwd'],
      ['..', '__'],
      ['.', '_'],
      [String.raw`C:\a.txt`, 'C__a.txt'],
      ['con', '_con'],
      ['NUL.tar.gz', '_NUL.tar.gz'],
      ['COM1 .txt', '_COM1 .txt'],
      ['console.log', 'console.log'],
      ['a?b*c|d"e<f>g\u0007.txt', 'a_b_c_d_e_f_g_.txt'],
      ['ends. ', 'ends__'],
      ['Müller 見積書.txt', 'Müller 見積書.txt'],
      ['.hidden', '.hidden'],
      ['\u202Egpj.exe', '_gpj.exe'],
      ['\u2066a\u2069.txt', '_a_.txt'],
      ['a\u0085b\u200F\u2028\u2029c.txt', 'a_b___c.txt'],
    ]
    for (const [name, expected] of cases) assert.equal(safeNameOf(name), expected, name)
    const long = safeNameOf(`${'𝄞'.repeat(250)}.docx`)
    assert.ok(Buffer.byteLength(long) <= 240 && long.endsWith('𝄞.docx'), long)
  })

  test('are unique in a folder whatever their letter case, in time that is linear', () => {
    const names = createNames()
    const given = ['a.txt', 'A.TXT', 'a (2).txt', 'a.txt', 'a', 'a', '..', '__', 'e\u0301', '\u00E9'].map(names)
    assert.deepEqual(given, [
      'a.txt',
      'A (2).TXT',
      'a (2) (2).txt',
      'a (3).txt',
      'a',
      'a (2)',
      '__',
      '__ (2)',
      'e\u0301',
      '\u00E9 (2)',
    ])
    const many = new Set(Array.from({ length: 20_000 }, () => names('same')))
    assert.equal(many.size, 20_000)
  })
})

describe('the archive of a folder', () => {
  test('has everything in it with its bytes, and is read by another program', async () => {
    const owner = await app.createOrg()
    const folder = await createFolder(app, owner, 'Überblick/2026')
    const inner = await createFolder(app, owner, 'con', folder.id)
    await createFolder(app, owner, 'empty', inner.id)
    const text = 'compressible text\n'.repeat(20_000)
    const medium = 'a text of some length, '.repeat(500)
    const noise = randomBytes(300_000)
    const put = (bytes: string | Buffer, name: string, type = 'text/plain') =>
      upload(app, owner, bytes, { name, type, parentId: inner.id })
    await put(text, '見積書.txt')
    await put('small', '../a.txt')
    await put(medium, '..\\A.txt')
    await put(noise, 'data.mp4', 'video/mp4')
    await put('', 'nothing.txt')
    const outside = await upload(app, owner, 'the target', { name: 'target.txt' })
    await create(app, owner, { source: 'link', targetFileId: outside.id, name: 'link.txt', parentId: folder.id })
    const lost = await upload(app, owner, 'deleted', { name: 'lost.txt' })
    await create(app, owner, { source: 'link', targetFileId: lost.id, name: 'broken.txt', parentId: folder.id })
    await remove(owner, lost.id)
    await create(app, owner, { name: 'pending.txt', mimeType: 'text/plain', size: 3, parentId: folder.id })
    const trashed = await upload(app, owner, 'trashed', { name: 'trashed.txt', parentId: folder.id })
    await app.call('DELETE', `/api/v1/files/${trashed.id}`, { as: owner })

    const { response, bytes } = await fetchBytes(archivePath(folder.id), owner)
    assert.equal(response.headers.get('content-type'), 'application/zip')
    assert.match(response.headers.get('content-disposition') ?? '', /^attachment; .*%C3%9Cberblick_2026\.zip$/)
    assert.equal(bytes.readUInt32LE(0), 0x0403_4b50)
    if (!canRead) return
    const entries = await readZip(bytes)
    const prefix = 'Überblick_2026/'
    const named = entries.map(({ name, isDeflated, sha256 }) => [name, isDeflated, sha256])
    const none = sha('')
    assert.deepEqual(named, [
      [prefix, false, none],
      [`${prefix}_con/`, false, none],
      [`${prefix}_con/empty/`, false, none],
      [`${prefix}_con/.._a.txt`, false, sha('small')],
      [`${prefix}_con/.._A (2).txt`, true, sha(medium)],
      [`${prefix}_con/data.mp4`, false, sha(noise)],
      [`${prefix}_con/nothing.txt`, false, none],
      [`${prefix}_con/見積書.txt`, true, sha(text)],
      [`${prefix}link.txt`, false, sha('the target')],
    ])
    assert.ok(entries.every(({ isUtf8 }) => isUtf8))
    assert.equal(entries[3]?.time, new Date().toISOString().slice(0, 16).replace('T', ' '))
  })

  test('can be one of a single file or of a selection, and needs files that exist in the org', async () => {
    const owner = await app.createOrg()
    const file = await upload(app, owner, 'one', { name: 'one.txt' })
    const folder = await createFolder(app, owner, 'f')
    await upload(app, owner, 'two', { name: 'one.txt', parentId: folder.id })
    const single = await entriesOf(archivePath(file.id), owner)
    const both = await entriesOf(`/api/v1/files/archive?ids=${file.id},${folder.id}`, owner)
    if (canRead) {
      assert.deepEqual(
        single.map(({ name }) => name),
        ['one.txt'],
      )
      assert.deepEqual(
        both.map(({ name }) => name),
        ['f/', 'f/one.txt', 'one.txt'],
      )
    }
    const stranger = await app.createOrg()
    for (const path of [archivePath(folder.id), `/api/v1/files/archive?ids=${folder.id}`]) {
      assert.equal((await app.call('GET', path, { as: stranger })).status, 404)
    }
    const gone = await upload(app, owner, 'gone', { name: 'gone' })
    await app.call('DELETE', `/api/v1/files/${gone.id}`, { as: owner })
    const withGone = `/api/v1/files/archive?ids=${gone.id},${folder.id}`
    assert.equal((await app.call('GET', withGone, { as: owner })).status, 404)
    const mixed = `/api/v1/files/archive?ids=${(await createFolder(app, stranger, 'x')).id},${folder.id}`
    assert.equal((await app.call('GET', mixed, { as: stranger })).status, 404)
    assert.equal((await app.call('GET', `/api/v1/files/archive?ids=${'x'.repeat(36)}`, { as: owner })).status, 400)
    const head = await app.call('HEAD', archivePath(folder.id), { as: owner })
    assert.deepEqual([head.status, head.text], [200, ''])
  })

  test('leaves out a file that is deleted before its bytes are read', async () => {
    const owner = await app.createOrg()
    const folder = await createFolder(app, owner, 'f')
    const files = []
    for (const name of ['a', 'b', 'c'])
      files.push(await upload(app, owner, `${name} ${crypto.randomUUID()}`, { name, parentId: folder.id }))
    const release = holding()
    const before = opened
    const asked = fetchBytes(archivePath(folder.id), owner)
    await until('the first file is opened', () => opened > before)
    await remove(owner, files[1].id)
    await app.settled()
    release()
    const { bytes } = await asked
    if (!canRead) return
    const names = (await readZip(bytes)).map(({ name }) => name)
    assert.deepEqual(names, ['f/', 'f/a', 'f/c'])
  })

  test('breaks off instead of ending without the bytes of a file that exists', async () => {
    const owner = await app.createOrg()
    const folder = await createFolder(app, owner, 'f')
    await upload(app, owner, randomBytes(200_000), { name: 'a', parentId: folder.id })
    const damaged = await upload(app, owner, 'to be lost', { name: 'b', parentId: folder.id })
    await store.delete(damaged.storageKey)
    await assert.rejects(fetchBytes(archivePath(folder.id), owner))
  })

  test('stops reading when the client leaves, also while the store is slow', async () => {
    const owner = await app.createOrg()
    const folder = await createFolder(app, owner, 'f')
    await upload(app, owner, randomBytes(200_000), { name: 'a', parentId: folder.id })
    const file = await upload(app, owner, 'held', { name: 'b', parentId: folder.id })
    const response = await begin(archivePath(folder.id), owner)
    assert.equal(await isComplete(response), true)
    const release = holding()
    const before = opened
    const leaving = new AbortController()
    const asked = fetch(app.url + archivePath(file.id), {
      headers: { authorization: `Bearer ${owner.key}` },
      signal: leaving.signal,
    })
    await until('the file is opened', () => opened > before)
    leaving.abort()
    await assert.rejects(asked)
    await readsHaveEnded()
    release()
  })

  test('is sent to at most two clients of a person and four of an org at the same time, and to other orgs as well', async () => {
    const owner = await app.createOrg()
    const member = await app.createUser(owner, 'member')
    const third = await app.createUser(owner, 'member')
    const other = await app.createOrg()
    const file = await upload(app, owner, 'held', { name: 'a' })
    const theirs = await upload(app, other, 'held', { name: 'a' })
    const release = holding()
    const before = opened
    const running = Array.from({ length: 2 }, () => fetchBytes(archivePath(file.id), owner))
    await until('two are running', () => opened === before + 2)
    const rejected = await app.call('GET', archivePath(file.id), { as: owner })
    assert.deepEqual(
      [rejected.status, /At most 2 archives of one person/.test(rejected.text)],
      [429, true],
      rejected.text,
    )
    running.push(...Array.from({ length: 2 }, () => fetchBytes(archivePath(file.id), member)))
    await until('four are running', () => opened === before + 4)
    const full = await app.call('GET', archivePath(file.id), { as: third })
    assert.deepEqual([full.status, /At most 4 archives of an org/.test(full.text)], [429, true], full.text)
    const another = fetchBytes(archivePath(theirs.id), other)
    release()
    for (const { response } of await Promise.all([...running, another])) assert.equal(response.status, 200)
    assert.equal((await app.call('GET', archivePath(file.id), { as: owner })).status, 200)
  })

  test('is refused when it would be too large, after reading no more than the limit', async () => {
    const owner = await app.createOrg()
    const folder = await createFolder(app, owner, 'f')
    const file = await upload(app, owner, 'x', { name: 'a', parentId: folder.id })
    await app.db.execute(sql`
      insert into files (org_id, id, source, name, name_key, parent_id, mime_type, size_bytes, blob_id, sha256, created_by)
      select f.org_id, gen_random_uuid(), 'upload', n::text, n::text, f.parent_id, f.mime_type, 104857600, f.blob_id, f.sha256,
        f.created_by
      from files f, generate_series(1, 1100) n where f.org_id = ${owner.orgId} and f.id = ${file.id}`)
    const { status, body } = await app.call('GET', archivePath(folder.id), { as: owner })
    assert.deepEqual([status, body.error.code], [400, 'BAD_REQUEST'])
    assert.equal(
      (await measureTrees(app.db, { reader: { ...owner, role: 'owner', workspaceIds: [] } }, [folder.id], 500))
        ?.entries,
      500,
    )
  })

  test('is measured for one person of an org at a time, so that large folders leave connections to other requests', async () => {
    const owner = await app.createOrg()
    const people = [owner, await app.createUser(owner, 'member')]
    const folder = await createFolder(app, owner, 'f')
    const file = await upload(app, owner, 'x', { name: 'a', parentId: folder.id })
    await app.db.execute(sql`
      insert into files (org_id, id, source, name, name_key, parent_id, mime_type, size_bytes, blob_id, sha256, created_by)
      select f.org_id, gen_random_uuid(), 'upload', n::text, n::text, f.parent_id, f.mime_type, 1, f.blob_id, f.sha256,
        f.created_by
      from files f, generate_series(1, 20000) n where f.org_id = ${owner.orgId} and f.id = ${file.id}`)
    const observer = new pg.Client(app.connection)
    await observer.connect()
    let hasEnded = false
    const asking = Promise.all(
      [...people, ...people].map(async (as) => {
        for (let n = 0; n < 3; n += 1)
          assert.equal((await app.call('HEAD', archivePath(folder.id), { as })).status, 200)
      }),
    ).finally(() => (hasEnded = true))
    const seen = new Set<number>()
    while (!hasEnded) {
      const { rows } = await observer.query<{ running: number }>(`
        select count(*)::int as running from pg_stat_activity
        where datname = current_database() and state = 'active' and query like '%path_bytes%' and pid <> pg_backend_pid()`)
      seen.add(rows[0]?.running ?? 0)
    }
    await observer.end()
    await asking
    assert.ok(seen.has(1), [...seen].join())
    assert.ok(Math.max(...seen) === 1, [...seen].join())
  })

  test('ends when its caller loses access', async () => {
    const owner = await app.createOrg()
    const reader = await app.createUser(owner, 'member')
    const folder = await createFolder(app, owner, 'f')
    await upload(app, owner, randomBytes(24_000_000), { name: 'a', type: 'video/mp4', parentId: folder.id })
    const response = await begin(archivePath(folder.id), reader)
    const revoked = await app.call('DELETE', `/api/v1/api-keys/${reader.apiKeyId}`, {
      as: owner,
      headers: await app.stepUp(owner),
    })
    assert.equal(revoked.status, 200, revoked.text)
    await readsHaveEnded()
    assert.equal(await isComplete(response), false)
  })
})

describe('the archive of a share', () => {
  test('is offered for a folder, has its files but no links, and counts as one download', async () => {
    const owner = await app.createOrg()
    const folder = await createFolder(app, owner, 'shared')
    const inner = await createFolder(app, owner, 'inner', folder.id)
    await upload(app, owner, 'deep', { name: 'deep.txt', parentId: inner.id })
    const outside = await upload(app, owner, 'outside', { name: 'outside.txt' })
    await create(app, owner, { source: 'link', targetFileId: outside.id, name: 'a link', parentId: folder.id })
    const { path } = await share(owner, folder.id, { maxDownloads: 2 })
    assert.match((await visit(path)).text, /Download all/)
    const names = (await entriesOf(`${path}/archive`)).map(({ name }) => name)
    if (canRead) assert.deepEqual(names, ['shared/', 'shared/inner/', 'shared/inner/deep.txt'])
    const innerNames = (await entriesOf(`${path}/archive?item=${inner.id}`)).map(({ name }) => name)
    if (canRead) assert.deepEqual(innerNames, ['inner/', 'inner/deep.txt'])
    const third = await visit(`${path}/archive`)
    assert.equal(third.status, 403)
    assert.match(third.text, /download limit/)
    assert.doesNotMatch((await visit(path)).text, /Download all/)
    assert.equal((await visit(`${path}/archive?item=${outside.id}`)).status, 404)
  })

  test('is sent to at most two clients of an address, four of a share, and eight of all shares of an org', async () => {
    const owner = await app.createOrg()
    const other = await app.createOrg()
    const shareOf = async (as: TestActor): Promise<string[]> => {
      const folder = await createFolder(app, as, 'shared')
      await upload(app, as, 'held', { name: 'a', parentId: folder.id })
      const shares = await Promise.all([1, 2, 3].map(() => share(as, folder.id)))
      return [...shares.map(({ path }) => `${path}/archive`), archivePath(folder.id)]
    }
    const [first = '', second = '', third = '', own = ''] = await shareOf(owner)
    const [theirs = ''] = await shareOf(other)
    const from = (host: number) => ({ headers: { 'x-forwarded-for': `203.0.113.${host}` } })
    const release = holding()
    const before = opened
    const running: Promise<Response>[] = []
    const begins = async (path: string, host: number): Promise<void> => {
      running.push(fetch(app.url + path, from(host)))
      await until(`${running.length} are running`, () => opened === before + running.length)
    }
    const isRejected = async (path: string, host: number, limit: RegExp): Promise<void> => {
      const { status, text, headers } = await app.call('GET', path, from(host))
      assert.deepEqual([status, headers.get('retry-after')], [429, '10'], text)
      assert.match(text, limit)
      assert.doesNotMatch(text, /person/)
    }
    const ofAddress = /At most 2 archives can be downloaded from one network address/
    await begins(first, 1)
    await begins(second, 1)
    await isRejected(first, 1, ofAddress)
    await isRejected(third, 1, ofAddress)
    for (const host of [2, 2, 3]) await begins(first, host)
    await isRejected(first, 4, /At most 4 archives can be downloaded by this link/)
    for (const host of [3, 4, 4]) await begins(second, host)
    await isRejected(third, 5, /At most 8 archives can be downloaded by links of this organization/)
    await begins(theirs, 1)
    running.push(fetch(app.url + own, { headers: { authorization: `Bearer ${owner.key}` } }))
    await until('the people of the org have places of their own', () => opened === before + 10)
    release()
    for (const response of await Promise.all(running)) {
      assert.equal(response.status, 200)
      await response.arrayBuffer()
    }
    const { status, text } = await app.call('GET', third, from(1))
    assert.equal(status, 200, text)
  })

  test('needs the password and the permission to download', async () => {
    const owner = await app.createOrg()
    const folder = await createFolder(app, owner, 'shared')
    await upload(app, owner, 'a', { name: 'a.txt', parentId: folder.id })
    const secret = await share(owner, folder.id, { password: 'open sesame' })
    const asked = await fetch(`${app.url}${secret.path}/archive`, { redirect: 'manual' })
    assert.equal(asked.status, 302)
    const seen = await share(owner, folder.id, { permission: 'view' })
    assert.doesNotMatch((await visit(seen.path)).text, /Download all/)
    assert.equal((await visit(`${seen.path}/archive`)).status, 403)
    const box = await share(owner, folder.id, { permission: 'upload' })
    assert.equal((await visit(`${box.path}/archive`)).status, 404)
  })

  test('ends within a second after the share is revoked, and so does the download of a file', async () => {
    const owner = await app.createOrg()
    const folder = await createFolder(app, owner, 'shared')
    const bytes = randomBytes(24_000_000)
    const file = await upload(app, owner, bytes, { name: 'a', type: 'video/mp4', parentId: folder.id })
    const { id, path } = await share(owner, folder.id)
    const running = [await begin(`${path}/archive`), await begin(`${path}/files/${file.id}?download=true`)]
    const stopwatch = startStopwatch(app.db)
    const revoked = await app.call('DELETE', `/api/v1/files/${folder.id}/shares/${id}`, { as: owner })
    assert.equal(revoked.status, 200, revoked.text)
    await readsHaveEnded()
    assert.ok(stopwatch.ms() < 1_000, `${stopwatch.ms()} ms`)
    stopwatch.stop()
    for (const response of running) assert.equal(await isComplete(response), false)
  })
})

test('an archive with a file of more than 4 GB has its sizes and the place of the next file in ZIP64 fields', async () => {
  const size = 4_500_000_000
  const zeros = Buffer.alloc(4_500_000)
  const content = (sizeBytes: number, chunk: Buffer) => ({
    sizeBytes,
    isDeflated: false,
    open: async () => Readable.from(Array.from({ length: sizeBytes / chunk.length }, () => chunk)),
  })
  const entries = async function* () {
    yield { path: 'zeros', modifiedAt: new Date(0), content: content(size, zeros) }
    yield { path: 'after', modifiedAt: new Date(0), content: content(3, Buffer.from('abc')) }
  }
  let total = 0
  let start = Buffer.alloc(0)
  let end = Buffer.alloc(0)
  for await (const part of zip(entries())) {
    if (total === 0) start = Buffer.from(part.subarray(0, 100))
    total += part.length
    end = Buffer.from(Buffer.concat([end, part.subarray(-1_000)]).subarray(-1_000))
  }
  /** Reads at a place of the whole archive. */
  const at = (offset: number): Buffer => end.subarray(offset - (total - end.length))
  const endRecord = at(total - 22)
  assert.equal(endRecord.readUInt32LE(0), 0x0605_4b50)
  const locator = at(total - 42)
  assert.equal(locator.readUInt32LE(0), 0x0706_4b50)
  const large = at(Number(locator.readBigUInt64LE(8)))
  assert.equal(large.readUInt32LE(0), 0x0606_4b50)
  assert.equal(large.readBigUInt64LE(32), 2n)
  const directory = at(Number(large.readBigUInt64LE(48)))
  const found: { name: string; values: bigint[] }[] = []
  for (let place = 0; found.length < 2;) {
    const record = directory.subarray(place)
    assert.equal(record.readUInt32LE(0), 0x0201_4b50)
    const [nameBytes, extraBytes] = [record.readUInt16LE(28), record.readUInt16LE(30)]
    // After the timestamp of 9 bytes: the ZIP64 field.
    const field = record.subarray(46 + nameBytes + 9, 46 + nameBytes + extraBytes)
    assert.equal(field.readUInt16LE(0), 1)
    const values = Array.from({ length: field.readUInt16LE(2) / 8 }, (_, index) => field.readBigUInt64LE(4 + index * 8))
    found.push({ name: record.toString('utf8', 46, 46 + nameBytes), values })
    place += 46 + nameBytes + extraBytes
  }
  const second = BigInt(size + start.readUInt16LE(26) + start.readUInt16LE(28) + 30 + 24)
  assert.deepEqual(found, [
    { name: 'zeros', values: [BigInt(size), BigInt(size)] },
    { name: 'after', values: [second] },
  ])
  assert.equal(at(Number(second)).readUInt32LE(0), 0x0403_4b50)
  const descriptor = at(Number(second) - 24)
  assert.deepEqual([descriptor.readUInt32LE(0), descriptor.readBigUInt64LE(16)], [0x0807_4b50, BigInt(size)])
})
