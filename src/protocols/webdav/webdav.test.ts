import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createSignInLink } from '../../identity/sign-in/links.ts'
import { sql } from '../../platform/database/database.ts'
import { expireDav } from './expiry.ts'
import { startTestApp } from '../../../test/harness.ts'
import type { CallOptions, TestActor } from '../../../test/harness.ts'
import { recordedEvents } from '../../../test/support/database/recorded-events.ts'
import { countsAreExact, create, createFolder, upload } from '../../../test/support/files.ts'
import { openSocket } from '../../../test/support/raw-http.ts'

const app = await startTestApp()
const api = '/api/v1'

const dav = (method: string, path: string, as: TestActor, options: CallOptions = {}) =>
  app.call(method, `/dav/${path}`, { as, ...options })

const basic = (password: string): Record<string, string> => ({
  authorization: `Basic ${Buffer.from(`anyone:${password}`).toString('base64')}`,
})

const put = async (as: TestActor, path: string, body: string, headers: Record<string, string> = {}) => {
  const answer = await dav('PUT', path, as, { body, headers })
  assert.ok([201, 204].includes(answer.status), `${answer.status} ${answer.text}`)
  return answer
}

const list = async (as: TestActor, path = ''): Promise<string[]> => {
  const { status, text } = await dav('PROPFIND', path, as, { headers: { depth: '1' } })
  assert.equal(status, 207, text)
  const hrefs = [...text.matchAll(/<D:response><D:href>([^<]*)</g)].map(([, href = '']) => href)
  return hrefs.slice(1).map((href) => decodeURIComponent(href.replace(/\/$/, '').split('/').at(-1) ?? ''))
}

const textOf = async (as: TestActor, path: string): Promise<string> => {
  const { status, text } = await dav('GET', path, as)
  assert.equal(status, 200, text)
  return text
}

const idOf = async (as: TestActor, name: string): Promise<string> => {
  const { body } = await app.call('GET', `${api}/files?search=${encodeURIComponent(name)}&recursive=true`, { as })
  return body.data.items.find((item: { name: string }) => item.name === name)?.id ?? ''
}

const destination = (path: string, more: Record<string, string> = {}) => ({
  headers: { destination: `${app.url}/dav/${path}`, ...more },
})

describe('credentials', () => {
  test('an API key is the password of HTTP Basic, with any user name, or a Bearer token', async () => {
    const owner = await app.createOrg()
    for (const headers of [basic(owner.key), { authorization: `Bearer ${owner.key}` }]) {
      const { status, headers: sent } = await app.call('OPTIONS', '/dav/', { headers })
      assert.equal(status, 200)
      assert.equal(sent.get('dav'), '1, 2')
      assert.equal(sent.get('ms-author-via'), 'DAV')
      assert.match(sent.get('allow') ?? '', /PROPFIND.*LOCK/)
    }
    const without = await app.call('PROPFIND', '/dav/')
    assert.equal(without.status, 401)
    assert.match(without.headers.get('www-authenticate') ?? '', /^Basic realm=/)
    assert.match(without.headers.get('content-type') ?? '', /^application\/xml/)
  })

  test('the session of the console has no authority, with and without its origin', async () => {
    const owner = await app.createOrg()
    const { path } = await app.db.transaction('all orgs', (db) => createSignInLink(db, owner.userId, null))
    const signedIn = await app.call('POST', `${api}/auth/sign-in/link`, { json: { token: path.split('=')[1] } })
    const cookie = signedIn.headers.getSetCookie()[0]?.split(';')[0] ?? ''
    assert.equal((await app.call('GET', `${api}/files`, { headers: { cookie } })).status, 200)
    for (const headers of [{ cookie }, { cookie, origin: app.url }]) {
      assert.equal((await app.call('PROPFIND', '/dav/', { headers: { ...headers, depth: '0' } })).status, 401)
      assert.equal((await app.call('PUT', '/dav/a.txt', { headers, body: 'a' })).status, 401)
    }
    assert.deepEqual(await list(owner), [])
  })

  test('Basic is accepted nowhere else', async () => {
    const owner = await app.createOrg()
    assert.equal((await app.call('GET', `${api}/files`, { headers: basic(owner.key) })).status, 401)
  })

  test('a key that may only read cannot write, and one without files can do nothing', async () => {
    const owner = await app.createOrg()
    await put(owner, 'kept.txt', 'kept')
    const reader = await app.createUser(owner, 'member', { scopes: ['files:read'] })
    assert.deepEqual(await list(reader), ['kept.txt'])
    const writes: [string, CallOptions][] = [
      ['PUT', { body: 'changed' }],
      ['DELETE', {}],
      ['MKCOL', {}],
      ['PROPPATCH', {}],
      ['LOCK', {}],
      ['UNLOCK', {}],
      ['MOVE', destination('moved.txt')],
      ['COPY', destination('copied.txt')],
    ]
    for (const [method, options] of writes) {
      assert.equal((await dav(method, 'kept.txt', reader, options)).status, 403, method)
    }
    assert.equal(await textOf(owner, 'kept.txt'), 'kept')
    assert.deepEqual(await list(owner), ['kept.txt'])
    const other = await app.createUser(owner, 'member', { scopes: ['agents:read'] })
    assert.equal((await dav('PROPFIND', '', other, { headers: { depth: '0' } })).status, 403)
  })

  test('wrong passwords are limited by address as sign-ins are, and a valid key still works', async () => {
    const limited = await app.secondServer({ RATE_LIMIT_SIGN_IN: '3' })
    const owner = await app.createOrg()
    const statuses: number[] = []
    for (let attempt = 0; attempt < 5; attempt++) {
      const { status } = await limited.call('PROPFIND', '/dav/', { headers: basic(`guess-${attempt}`) })
      statuses.push(status)
    }
    assert.deepEqual(statuses, [401, 401, 401, 429, 429])
    const valid = await limited.call('PROPFIND', '/dav/', { headers: { ...basic(owner.key), depth: '0' } })
    assert.equal(valid.status, 207)
    const json = { email: owner.email, password: 'a wrong password' }
    const signIn = await limited.call('POST', `${api}/auth/sign-in`, { json, headers: { origin: limited.url } })
    assert.equal(signIn.status, 401, 'people at the address can still sign in')
  })

  test('another org sees and changes nothing', async () => {
    const owner = await app.createOrg()
    const stranger = await app.createOrg()
    await put(owner, 'secret.txt', 'secret')
    assert.deepEqual(await list(stranger), [])
    assert.equal((await dav('GET', 'secret.txt', stranger)).status, 404)
    assert.equal((await dav('DELETE', 'secret.txt', stranger)).status, 404)
    assert.equal((await dav('MOVE', 'secret.txt', stranger, destination('mine.txt'))).status, 404)
  })
})

describe('names', () => {
  test('files with the same name, a slash or a control character get an address with their id', async () => {
    const owner = await app.createOrg()
    const first = await upload(app, owner, 'first', { name: 'report.txt' })
    const second = await upload(app, owner, 'second', { name: 'report.txt' })
    const slash = await upload(app, owner, 'slash', { name: 'a/b.txt' })
    const dots = await upload(app, owner, 'dots', { name: '..' })
    const folder = await createFolder(app, owner, 'same')
    const file = await upload(app, owner, 'file', { name: 'same' })
    const names = await list(owner)
    assert.deepEqual(
      names.toSorted(),
      [
        'report.txt',
        `report [${second.id}].txt`,
        `a_b [${slash.id}].txt`,
        `. [${dots.id}].`,
        'same',
        `same [${file.id}]`,
      ].toSorted(),
    )
    assert.ok(first.id !== second.id && folder.id !== file.id)
    assert.equal(await textOf(owner, 'report.txt'), 'first')
    assert.equal(await textOf(owner, encodeURIComponent(`report [${second.id}].txt`)), 'second')
    assert.equal(await textOf(owner, encodeURIComponent(`a_b [${slash.id}].txt`)), 'slash')
    assert.equal((await dav('GET', 'a%2Fb.txt', owner)).status, 400)
    assert.equal((await dav('GET', `report%20%5B${folder.id}%5D.txt/x`, owner)).status, 404)
    await put(owner, encodeURIComponent(`a_b [${slash.id}].txt`), 'changed')
    const { body } = await app.call('GET', `${api}/files/${slash.id}`, { as: owner })
    assert.equal(body.data.name, 'a/b.txt', 'a file keeps its name')
    assert.equal(body.data.version, 2)
  })

  test('a name in NFD, as macOS sends it, is that of the same name in NFC', async () => {
    const owner = await app.createOrg()
    await put(owner, encodeURIComponent('Größe é.txt'.normalize('NFC')), 'one')
    const again = await put(owner, encodeURIComponent('Größe é.txt'.normalize('NFD')), 'two')
    assert.equal(again.status, 204)
    assert.deepEqual(await list(owner), ['Größe é.txt'.normalize('NFC')])
    await put(owner, 'Case.txt', 'upper')
    await put(owner, 'case.txt', 'lower')
    assert.equal(await textOf(owner, 'Case.txt'), 'upper')
    assert.equal(await textOf(owner, 'case.txt'), 'lower')
  })

  test('a link shows the bytes of its target, and one to a deleted file or a pending upload does not show', async () => {
    const owner = await app.createOrg()
    const target = await upload(app, owner, 'the target', { name: 'target.txt' })
    await create(app, owner, { source: 'link', targetFileId: target.id, name: 'link.txt' })
    await create(app, owner, { source: 'upload', name: 'pending.txt', mimeType: 'text/plain', size: 3 })
    assert.equal(await textOf(owner, 'link.txt'), 'the target')
    assert.equal((await dav('PUT', 'link.txt', owner, { body: 'x' })).status, 403)
    const copied = await dav('COPY', 'link.txt', owner, destination('copy.txt'))
    assert.equal(copied.status, 201, copied.text)
    await dav('DELETE', 'target.txt', owner)
    assert.deepEqual(await list(owner), ['copy.txt'])
    assert.equal((await dav('GET', 'link.txt', owner)).status, 404)
    assert.equal(await textOf(owner, 'copy.txt'), 'the target')
    assert.equal((await put(owner, 'link.txt', 'new')).status, 201)
    assert.equal(await textOf(owner, 'link.txt'), 'new')
  })

  test('the folder of a project is listed and writable, and cannot be renamed or deleted', async () => {
    const owner = await app.createOrg()
    const { body } = await app.call('POST', `${api}/projects`, { as: owner, json: { name: 'Launch' } })
    await put(owner, 'Launch/plan.txt', 'plan')
    const plan = await app.call('GET', `${api}/files/${await idOf(owner, 'plan.txt')}`, { as: owner })
    assert.equal(plan.body.data.projectId, body.data.id)
    assert.equal((await dav('DELETE', 'Launch/', owner)).status, 403)
    assert.equal((await dav('MOVE', 'Launch', owner, destination('Other'))).status, 403)
    assert.deepEqual(await list(owner), ['Launch'])
  })

  test('a folder of several pages is listed completely, each file once', async () => {
    const owner = await app.createOrg()
    await app.db.execute(sql`
      insert into files (org_id, id, source, name, name_key, created_by)
      select ${owner.orgId}, gen_random_uuid(), 'folder', 'n' || (i % 600), 'n' || (i % 600), ${owner.userId}
      from generate_series(1, 1200) i`)
    const names = await list(owner)
    assert.equal(names.length, 1_200)
    assert.equal(new Set(names).size, 1_200)
    assert.equal(names.filter((name) => /^n\d+$/.test(name)).length, 600)
  })
})

describe('files', () => {
  test('PUT creates a file, then versions of it, and If-Match guards against lost updates', async () => {
    const owner = await app.createOrg()
    const first = await put(owner, 'notes.txt', 'one')
    assert.equal(first.status, 201)
    const etag = first.headers.get('etag') ?? ''
    const { headers } = await dav('GET', 'notes.txt', owner)
    assert.equal(headers.get('etag'), etag)
    assert.match(headers.get('content-disposition') ?? '', /^attachment/)
    assert.equal((await put(owner, 'notes.txt', 'two', { 'if-match': etag })).status, 204)
    assert.equal((await dav('PUT', 'notes.txt', owner, { body: 'x', headers: { 'if-match': etag } })).status, 412)
    assert.equal((await dav('PUT', 'notes.txt', owner, { body: 'x', headers: { 'if-none-match': '*' } })).status, 412)
    const versions = await app.call('GET', `${api}/files/${await idOf(owner, 'notes.txt')}/versions`, { as: owner })
    assert.equal(versions.body.data.items.length, 2)
    assert.equal(await textOf(owner, 'notes.txt'), 'two')
    const events = (await recordedEvents(app.db, owner.orgId)).map(({ type }) => type)
    assert.deepEqual(events, ['file.created', 'file.updated', 'file.version_created'])
  })

  test('a file whose declared type is unknown or does not match its bytes gets the type that fits', async () => {
    const owner = await app.createOrg()
    const cases: [name: string, declared: string | undefined, body: string, stored: string][] = [
      ['script.sh', 'application/x-sh', '#!/bin/sh', 'application/octet-stream'],
      ['fake.png', 'image/png', 'not a picture', 'application/octet-stream'],
      ['table.csv', 'application/octet-stream', 'a,b', 'text/csv'],
      ['page.md', 'text/markdown', '# Title', 'text/markdown'],
    ]
    for (const [name, declared, body, stored] of cases) {
      await put(owner, name, body, declared === undefined ? {} : { 'content-type': declared })
      const { text } = await dav('PROPFIND', name, owner, { headers: { depth: '0' } })
      assert.match(text, new RegExp(`<D:getcontenttype>${stored}</D:getcontenttype>`), name)
    }
  })

  test('requests for paths that cannot be are rejected with the status of RFC 4918', async () => {
    const owner = await app.createOrg()
    await put(owner, 'file.txt', 'x')
    assert.equal((await dav('MKCOL', 'folder', owner)).status, 201)
    const cases: [method: string, path: string, status: number, options?: CallOptions][] = [
      ['PUT', 'none/file.txt', 409, { body: 'x' }],
      ['PUT', 'file.txt/inside.txt', 409, { body: 'x' }],
      ['PUT', 'folder', 405, { body: 'x' }],
      ['PUT', 'part.txt', 400, { body: 'x', headers: { 'content-range': 'bytes 0-0/2' } }],
      ['MKCOL', 'folder', 405],
      ['MKCOL', 'none/folder', 409],
      ['MKCOL', 'other', 415, { body: '<x/>' }],
      ['GET', 'folder/', 405],
      ['GET', 'none.txt', 404],
      ['PUT', '%2e%2e%2fescape.txt', 400, { body: 'x' }],
      ['PUT', 'bad%zz.txt', 400, { body: 'x' }],
      ['PUT', 'x'.repeat(256), 400, { body: 'x' }],
      ['DELETE', '', 403],
      ['MOVE', 'folder', 400],
      ['MOVE', 'folder', 502, { headers: { destination: 'http://169.254.169.254/dav/folder' } }],
      ['COPY', 'file.txt', 502, { headers: { destination: 'http://127.0.0.1:1/dav/x' } }],
      ['COPY', 'file.txt', 400, { headers: { destination: 'gopher://x/dav/x' } }],
      ['COPY', 'file.txt', 400, { headers: { destination: `${app.url}/api/v1/files` } }],
      ['COPY', 'file.txt', 409, destination('none/x')],
      ['COPY', 'file.txt', 403, destination('file.txt')],
      ['MOVE', 'folder', 403, destination('folder/inside')],
      ['COPY', 'folder', 403, destination('')],
      ['COPY', 'folder', 400, destination('x', { depth: '1' })],
      ['POST', 'file.txt', 404],
    ]
    for (const [method, path, status, options] of cases) {
      const answer = await dav(method, path, owner, options)
      assert.equal(answer.status, status, `${method} ${path}: ${answer.text}`)
      assert.match(answer.headers.get('content-type') ?? '', /^application\/xml/)
    }
    assert.deepEqual((await list(owner)).toSorted(), ['file.txt', 'folder'])
  })

  test('COPY shares the bytes and copies the tree, MOVE replaces, and what was replaced is in the trash', async () => {
    const owner = await app.createOrg()
    await dav('MKCOL', 'a', owner)
    await dav('MKCOL', 'a/b', owner)
    await put(owner, 'a/b/one.txt', 'one')
    await put(owner, 'a/two.txt', 'two')
    const copied = await dav('COPY', 'a/', owner, destination('c'))
    assert.equal(copied.status, 201, copied.text)
    assert.equal(await textOf(owner, 'c/b/one.txt'), 'one')
    await put(owner, 'c/b/one.txt', 'changed')
    assert.equal(await textOf(owner, 'a/b/one.txt'), 'one', 'a copy is independent')
    const refused = await dav('MOVE', 'a/two.txt', owner, destination('c/two.txt', { overwrite: 'F' }))
    assert.equal(refused.status, 412)
    assert.equal((await dav('MOVE', 'a', owner, destination('c', { overwrite: 'no' }))).status, 400)
    const moved = await dav('MOVE', 'a', owner, destination('c', { overwrite: 'T' }))
    assert.equal(moved.status, 204, moved.text)
    assert.deepEqual(await list(owner), ['c'])
    assert.equal(await textOf(owner, 'c/b/one.txt'), 'one')
    const trash = await app.call('GET', `${api}/files?trashed=true`, { as: owner })
    assert.deepEqual(
      trash.body.data.items.map(({ name }: { name: string }) => name),
      ['c'],
    )
    await countsAreExact(app, owner.orgId)
    const types = (await recordedEvents(app.db, owner.orgId)).map(({ type }) => type)
    assert.equal(types.filter((type) => type === 'folder.created').length, 4)
    assert.equal(types.filter((type) => type === 'file.created').length, 4)
    assert.ok(types.includes('folder.deleted') && types.includes('folder.updated'))
  })

  test('MOVE and COPY over a file make a version of it, which keeps its ID, and what they replace can be restored', async () => {
    const owner = await app.createOrg()
    await put(owner, 'doc.txt', 'old')
    await put(owner, 'doc.tmp', 'draft')
    await put(owner, 'doc.tmp', 'new')
    await put(owner, 'other.tmp', 'newer')
    const [id, draft, other] = [
      await idOf(owner, 'doc.txt'),
      await idOf(owner, 'doc.tmp'),
      await idOf(owner, 'other.tmp'),
    ]
    const link = await create(app, owner, { source: 'link', name: 'link', targetFileId: id })
    assert.equal((await dav('MOVE', 'doc.tmp', owner, destination('doc.txt'))).status, 204)
    assert.equal((await dav('MOVE', 'other.tmp', owner, destination('doc.txt'))).status, 204)
    await put(owner, 'last.txt', 'newest')
    assert.equal((await dav('COPY', 'last.txt', owner, destination('doc.txt'))).status, 204)
    assert.equal(await idOf(owner, 'doc.txt'), id)
    assert.equal(await textOf(owner, 'link'), 'newest')
    assert.equal(await textOf(owner, 'last.txt'), 'newest')
    const version = async (file: string, number: number): Promise<string> =>
      (await app.call('GET', `${api}/files/${file}/versions/${number}/content`, { as: owner })).text
    assert.deepEqual(await Promise.all([1, 2, 3, 4].map((number) => version(id, number))), [
      'old',
      'new',
      'newer',
      'newest',
    ])
    const trash = await app.call('GET', `${api}/files?trashed=true`, { as: owner })
    assert.deepEqual(
      trash.body.data.items.map((file: { id: string }) => file.id),
      [draft],
    )
    assert.equal((await app.call('POST', `${api}/files/${draft}/restore`, { as: owner })).status, 200)
    assert.equal(await version(draft, 1), 'draft')
    assert.equal((await app.call('GET', `${api}/files/${other}`, { as: owner })).status, 404)
    assert.equal((await app.call('GET', `${api}/files/${link.file.id}`, { as: owner })).body.data.targetFileId, id)
    await countsAreExact(app, owner.orgId)
    const types = (await recordedEvents(app.db, owner.orgId)).map(({ type }) => type)
    assert.equal(types.filter((type) => type === 'file.version_created').length, 4)
    assert.equal(types.filter((type) => type === 'file.deleted').length, 2)
  })

  test('a copy of bytes that another person uploaded stays theirs', async () => {
    const owner = await app.createOrg()
    const other = await app.createUser(owner, 'member')
    await put(other, 'theirs.txt', 'by another person')
    await dav('COPY', 'theirs.txt', owner, destination('mine.txt'))
    const rows = await app.db.rows<{ contentBy: string; namedBy: string; createdBy: string }>(sql`
      select content_by, named_by, created_by from files where org_id = ${owner.orgId} and name = 'mine.txt'`)
    assert.deepEqual(rows, [{ contentBy: other.userId, namedBy: owner.userId, createdBy: owner.userId }])
  })

  test('a quota that is used up is 507 Insufficient Storage', async () => {
    const owner = await app.createOrg()
    await put(owner, 'small.txt', 'small')
    await app.db.execute(sql`
      insert into org_quotas (org_id, name, value) values (${owner.orgId}, 'storedBytes', 100)`)
    const full = await (await app.secondServer()).call('PUT', '/dav/large.txt', { as: owner, body: 'x'.repeat(1_000) })
    assert.equal(full.status, 507, full.text)
    assert.match(full.text, /<D:quota-not-exceeded\/>/)
    assert.deepEqual(await list(owner), ['small.txt'])
  })

  test('two requests that create the same name at the same time leave one file', async () => {
    const owner = await app.createOrg()
    const answers = await Promise.all(['1', '2', '3'].map((body) => dav('PUT', 'once.txt', owner, { body })))
    const created = answers.filter(({ status }) => status === 201)
    assert.equal(created.length, 1)
    assert.ok(answers.every(({ status }) => [201, 204, 409].includes(status)))
    assert.deepEqual(await list(owner), ['once.txt'])
  })
})

describe('properties', () => {
  test('Depth: infinity is refused with the precondition of the RFC', async () => {
    const owner = await app.createOrg()
    const { status, text } = await dav('PROPFIND', '', owner)
    assert.equal(status, 403)
    assert.match(text, /<D:error xmlns:D="DAV:"><D:propfind-finite-depth\/>/)
  })

  test('properties of clients follow a file to its new name and its copies, within their limits', async () => {
    const owner = await app.createOrg()
    await put(owner, 'a.txt', 'a')
    const set = (value: string, name = 'author') =>
      `<d:propertyupdate xmlns:d="DAV:"><d:set><d:prop><x:${name} xmlns:x="urn:x">${value}</x:${name}></d:prop></d:set></d:propertyupdate>`
    const patch = (body: string) => dav('PROPPATCH', 'a.txt', owner, { body })
    assert.equal((await patch(set('Ann &amp; &lt;Bob&gt;'))).status, 207)
    await dav('COPY', 'a.txt', owner, destination('b.txt'))
    await dav('MOVE', 'a.txt', owner, destination('c.txt'))
    for (const path of ['b.txt', 'c.txt']) {
      const { text } = await dav('PROPFIND', path, owner, { headers: { depth: '0' } })
      assert.match(text, /<n:author xmlns:n="urn:x">Ann &amp; &lt;Bob&gt;<\/n:author>/, path)
    }
    const large = await dav('PROPPATCH', 'b.txt', owner, { body: set('x'.repeat(20_000)) })
    assert.equal(large.status, 507)
    const fixed = `<d:propertyupdate xmlns:d="DAV:"><d:set><d:prop><d:getetag>"x"</d:getetag></d:prop></d:set></d:propertyupdate>`
    const refused = await dav('PROPPATCH', 'b.txt', owner, { body: fixed })
    assert.match(refused.text, /403 Forbidden.*cannot-modify-protected-property/)
  })

  test('the properties of a file are deleted after it has left the trash, with locks that have expired', async () => {
    const owner = await app.createOrg()
    const body = `<d:propertyupdate xmlns:d="DAV:"><d:set><d:prop><a xmlns="urn:x">1</a></d:prop></d:set></d:propertyupdate>`
    for (const path of ['kept.txt', 'purged.txt']) {
      await put(owner, path, path)
      assert.equal((await dav('PROPPATCH', path, owner, { body })).status, 207)
    }
    const [kept, purged] = [await idOf(owner, 'kept.txt'), await idOf(owner, 'purged.txt')]
    assert.equal((await dav('LOCK', 'kept.txt', owner, { body: lockBody() })).status, 200)
    await app.db.execute(sql`update webdav_locks set expires_at = now() where org_id = ${owner.orgId}`)
    await dav('DELETE', 'kept.txt', owner)
    await app.call('DELETE', `${api}/files/${purged}?permanent=true`, { as: owner })
    await app.db.transaction('all orgs', (db) => app.deps.jobs.enqueue(db, expireDav, {}))
    await app.settled()
    const left = await app.db.rows<{ fileId: string }>(sql`
      select file_id from webdav_properties where org_id = ${owner.orgId}`)
    assert.deepEqual(left, [{ fileId: kept }])
    assert.deepEqual(await app.db.rows(sql`select from webdav_locks where org_id = ${owner.orgId}`), [])
  })

  test('the space of the org is sent to those who ask for it', async () => {
    const owner = await app.createOrg()
    await put(owner, 'a.txt', '12345')
    const body =
      '<D:propfind xmlns:D="DAV:"><D:prop><D:quota-used-bytes/><D:quota-available-bytes/></D:prop></D:propfind>'
    const { text } = await dav('PROPFIND', '', owner, { headers: { depth: '0' }, body })
    assert.match(text, /<D:quota-used-bytes>5<\/D:quota-used-bytes>/)
    assert.doesNotMatch((await dav('PROPFIND', '', owner, { headers: { depth: '0' } })).text, /quota/)
  })

  test('XML with a document type, too many levels or elements, or of another encoding is rejected', async () => {
    const owner = await app.createOrg()
    const bodies = [
      '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><D:propfind xmlns:D="DAV:"><D:prop>&e;</D:prop></D:propfind>',
      '<!DOCTYPE l [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><D:propfind xmlns:D="DAV:"><D:allprop/></D:propfind>',
      `<D:propfind xmlns:D="DAV:"><D:prop>${'<x>'.repeat(100)}${'</x>'.repeat(100)}</D:prop></D:propfind>`,
      `<D:propfind xmlns:D="DAV:"><D:prop>${'<x/>'.repeat(2_000)}</D:prop></D:propfind>`,
      '<D:propfind xmlns:D="DAV:"><D:prop>&nbsp;</D:prop></D:propfind>',
      '<D:propfind xmlns:D="DAV:"><D:prop>',
      '<propfind/>',
    ]
    for (const body of bodies) {
      const { status, text } = await dav('PROPFIND', '', owner, { headers: { depth: '0' }, body })
      assert.equal(status, 400, body.slice(0, 80))
      assert.ok(!text.includes('root:'))
    }
    const latin = new Blob([Buffer.from('<D:propfind xmlns:D="DAV:"><D:prop><é/></D:prop></D:propfind>', 'latin1')])
    assert.equal((await dav('PROPFIND', '', owner, { headers: { depth: '0' }, body: latin })).status, 400)
    const large = `<D:propfind xmlns:D="DAV:"><D:allprop/>${' '.repeat(70_000)}</D:propfind>`
    assert.equal((await dav('PROPFIND', '', owner, { headers: { depth: '0' }, body: large })).status, 413)
  })

  test('names that XML cannot contain are escaped or replaced in lists', async () => {
    const owner = await app.createOrg()
    await upload(app, owner, 'x', { name: `<&>'\u0001\uFFFE.txt` })
    const { text } = await dav('PROPFIND', '', owner, { headers: { depth: '1' } })
    assert.match(text, /<D:displayname>&lt;&amp;&gt;'\u{FFFD}\u{FFFD}\.txt<\/D:displayname>/u)
  })

  test('a folder is sent in small parts, so that clients that read slowly hold little memory', async () => {
    const owner = await app.createOrg()
    for (let n = 0; n < 6; n++) await put(owner, `${n}.txt`, 'x')
    const names = Array.from({ length: 100 }, (_, n) => `<${'p'.repeat(500)}${n} xmlns="u:"/>`)
    const body = `<D:propfind xmlns:D="DAV:"><D:prop>${names.join('')}</D:prop></D:propfind>`
    const socket = await openSocket(app.url)
    socket.write(
      `PROPFIND /dav/ HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${owner.key}\r\nDepth: 1\r\nConnection: close\r\n` +
        `Content-Length: ${body.length}\r\n\r\n${body}`,
    )
    const text = Buffer.concat(await socket.toArray()).toString('latin1')
    const sizes: number[] = []
    for (let at = text.indexOf('\r\n\r\n') + 4; at < text.length;) {
      const end = text.indexOf('\r\n', at)
      const size = Number.parseInt(text.slice(at, end), 16)
      sizes.push(size)
      at = end + 2 + size + 2
    }
    assert.match(text, /^HTTP\/1\.1 207 /)
    assert.equal(text.match(/<D:response>/g)?.length, 7)
    assert.ok(sizes.reduce((sum, size) => sum + size, 0) > 300_000 && Math.max(...sizes) < 130_000, sizes.join(' '))
  })
})

const lockBody = (scope = 'exclusive', owner = 'Ann') =>
  `<D:lockinfo xmlns:D="DAV:"><D:lockscope><D:${scope}/></D:lockscope><D:locktype><D:write/></D:locktype><D:owner>${owner}</D:owner></D:lockinfo>`

describe('locks', () => {
  const lock = async (as: TestActor, path: string, headers: Record<string, string> = {}, scope = 'exclusive') => {
    const answer = await dav('LOCK', path, as, { body: lockBody(scope), headers: { depth: '0', ...headers } })
    assert.ok([200, 201].includes(answer.status), answer.text)
    return (answer.headers.get('lock-token') ?? '').slice(1, -1)
  }

  test('a lock keeps every process from writing without its token, and only its creator can use the token', async () => {
    const owner = await app.createOrg()
    const other = await app.createUser(owner, 'member')
    const second = await app.secondServer()
    await put(owner, 'file.txt', 'one')
    const token = await lock(owner, 'file.txt', { timeout: 'Second-100' })
    const writes: [string, CallOptions][] = [
      ['PUT', { body: 'x' }],
      ['DELETE', {}],
      ['MOVE', { headers: { destination: '/dav/other.txt' } }],
      ['PROPPATCH', { body: '<D:propertyupdate xmlns:D="DAV:"/>' }],
      ['LOCK', { body: lockBody('shared') }],
    ]
    for (const [method, options] of writes) {
      const { status, text } = await second.call(method, '/dav/file.txt', { as: owner, ...options })
      assert.equal(status, 423, `${method}: ${text}`)
    }
    const withToken = { if: `(<${token}>)` }
    assert.equal((await dav('PUT', 'file.txt', other, { body: 'x', headers: withToken })).status, 423)
    assert.equal((await dav('UNLOCK', 'file.txt', other, { headers: { 'lock-token': `<${token}>` } })).status, 403)
    const written = await second.call('PUT', '/dav/file.txt', { as: owner, body: 'two', headers: withToken })
    assert.equal(written.status, 204, written.text)
    const { text } = await dav('PROPFIND', 'file.txt', other, { headers: { depth: '0' } })
    assert.match(text, /<D:timeout>Second-(?:100|9\d)<\/D:timeout>/)
    assert.match(text, /<D:lockroot><D:href>\/dav\/file\.txt<\/D:href><\/D:lockroot>/)
    assert.equal((await dav('UNLOCK', 'file.txt', owner, { headers: { 'lock-token': `<${token}>` } })).status, 204)
    assert.equal((await put(other, 'file.txt', 'three')).status, 204)
  })

  test('a lock of a folder with its contents covers what is in it, and is refused when something in it is locked', async () => {
    const owner = await app.createOrg()
    await dav('MKCOL', 'f', owner)
    await dav('MKCOL', 'f/g', owner)
    await put(owner, 'f/g/deep.txt', 'x')
    const inner = await lock(owner, 'f/g/deep.txt')
    const conflict = await dav('LOCK', 'f/', owner, { body: lockBody(), headers: { depth: 'infinity' } })
    assert.equal(conflict.status, 423)
    assert.equal((await dav('DELETE', 'f', owner)).status, 423, 'something in it is locked')
    await dav('UNLOCK', 'f/g/deep.txt', owner, { headers: { 'lock-token': `<${inner}>` } })
    const token = await lock(owner, 'f/', { depth: 'infinity' })
    assert.equal((await dav('PUT', 'f/g/new.txt', owner, { body: 'x' })).status, 423)
    assert.equal((await dav('MKCOL', 'f/h', owner)).status, 423)
    const headers = { if: `<${app.url}/dav/f/> (<${token}>)` }
    assert.equal((await dav('PUT', 'f/g/new.txt', owner, { body: 'x', headers })).status, 201)
    const { text } = await dav('PROPFIND', 'f/g/new.txt', owner, { headers: { depth: '0' } })
    assert.match(text, /<D:lockroot><D:href>\/dav\/f\/<\/D:href>/)
    assert.equal((await dav('DELETE', 'f', owner, { headers })).status, 204)
    const left = await app.db.rows(sql`select from webdav_locks where org_id = ${owner.orgId}`)
    assert.deepEqual(left, [], 'the lock ended with the folder')
  })

  test('a lock of a free name creates an empty file, and an expired lock locks nothing', async () => {
    const owner = await app.createOrg()
    const token = await lock(owner, 'new.docx')
    assert.equal(await textOf(owner, 'new.docx'), '')
    assert.equal((await dav('PUT', 'new.docx', owner, { body: 'x' })).status, 423)
    await app.db.execute(sql`
      update webdav_locks set expires_at = now() - interval '1 second' where org_id = ${owner.orgId}`)
    assert.equal((await dav('PUT', 'new.docx', owner, { body: 'x', headers: { if: `(<${token}>)` } })).status, 412)
    assert.equal((await put(owner, 'new.docx', 'x')).status, 204)
    await lock(owner, 'new.docx')
    const left = await app.db.rows(sql`select from webdav_locks where org_id = ${owner.orgId}`)
    assert.equal(left.length, 1, 'the expired lock is deleted')
  })

  test('owners and admins can end the lock of another person, on the root folder as well', async () => {
    const owner = await app.createOrg()
    const [admin, member] = [await app.createUser(owner, 'admin'), await app.createUser(owner, 'member')]
    for (const as of [owner, admin]) {
      const token = await lock(member, '', { depth: 'infinity' })
      assert.equal((await dav('PUT', 'file.txt', as, { body: 'x' })).status, 423)
      const ended = await dav('UNLOCK', '', as, { headers: { 'lock-token': `<${token}>` } })
      assert.equal(ended.status, 204, ended.text)
      await put(as, 'file.txt', 'x')
    }
  })

  test('the locks of a person end when they leave the org', async () => {
    const owner = await app.createOrg()
    const member = await app.createUser(owner, 'member')
    await put(owner, 'file.txt', 'one')
    await lock(member, 'file.txt', { timeout: 'Infinite' })
    assert.equal((await dav('PUT', 'file.txt', owner, { body: 'two' })).status, 423)
    const row = await app.db.row<{ id: string }>(sql`
      select id from members where org_id = ${owner.orgId} and user_id = ${member.userId}`)
    assert.equal((await app.call('DELETE', `/api/v1/members/${row?.id}`, { as: owner })).status, 200)
    assert.equal((await put(owner, 'file.txt', 'two')).status, 204)
  })

  test('at most 10 shared locks apply to a file, and PROPFIND names no more for each file of a folder', async () => {
    const owner = await app.createOrg()
    await dav('MKCOL', 'f/', owner)
    for (const name of ['a.txt', 'b.txt']) await put(owner, `f/${name}`, name)
    for (let n = 0; n < 10; n++) await lock(owner, 'f/', { depth: 'infinity' }, 'shared')
    const more = await dav('LOCK', 'f/a.txt', owner, { body: lockBody('shared'), headers: { depth: '0' } })
    assert.deepEqual([more.status, more.text.includes('At most 10 locks')], [507, true], more.text)
    await app.db.execute(sql`
      insert into webdav_locks (org_id, id, file_id, is_shared, is_deep, owner, created_by, seconds, expires_at)
      select org_id, gen_random_uuid(), file_id, true, true, owner, created_by, 60, now() + interval '1 hour'
      from webdav_locks, generate_series(1, 10) where org_id = ${owner.orgId}`)
    const { status, text } = await dav('PROPFIND', 'f/', owner, { headers: { depth: '1' } })
    assert.deepEqual([status, text.match(/<D:activelock>/g)?.length], [207, 30])
  })

  test('the JSON API is not bound by locks: what it replaces is a version', async () => {
    const owner = await app.createOrg()
    await put(owner, 'shared.txt', 'one')
    await lock(owner, 'shared.txt')
    const id = await idOf(owner, 'shared.txt')
    const { status } = await app.call('PUT', `${api}/files/${id}/content`, { as: owner, body: 'two' })
    assert.equal(status, 200)
    assert.equal(await textOf(owner, 'shared.txt'), 'two')
  })

  test('an org has at most 1,000 locks, and one person 500 of them', async () => {
    const owner = await app.createOrg()
    const other = await app.createUser(owner, 'member')
    await put(owner, 'file.txt', 'x')
    const fill = (as: TestActor) =>
      app.db.execute(sql`
        insert into webdav_locks (org_id, id, file_id, is_shared, is_deep, owner, created_by, seconds, expires_at)
        select ${as.orgId}, gen_random_uuid(), gen_random_uuid(), true, false, '', ${as.userId}, 60, now() + interval '1 hour'
        from generate_series(1, 500)`)
    await fill(other)
    const tooMany = await dav('LOCK', 'file.txt', other, { body: lockBody() })
    assert.deepEqual([tooMany.status, tooMany.text.includes('at most 500 locks')], [507, true], tooMany.text)
    await lock(owner, 'file.txt')
    await fill(owner)
    const { status, text } = await dav('LOCK', 'new.txt', owner, { body: lockBody() })
    assert.deepEqual([status, text.includes('at most 1000 locks')], [507, true], text)
  })

  test('a lock of the replaced file stays at its address, as programs that save by renaming expect', async () => {
    const owner = await app.createOrg()
    await put(owner, 'doc.txt', 'old')
    const token = await lock(owner, 'doc.txt')
    await put(owner, 'doc.tmp', 'new')
    const headers = { ...destination('doc.txt').headers, if: `<${app.url}/dav/doc.txt> (<${token}>)` }
    assert.equal((await dav('MOVE', 'doc.tmp', owner, { headers })).status, 204)
    assert.equal(await textOf(owner, 'doc.txt'), 'new')
    assert.equal((await dav('PUT', 'doc.txt', owner, { body: 'x' })).status, 423)
    assert.equal((await dav('UNLOCK', 'doc.txt', owner, { headers: { 'lock-token': `<${token}>` } })).status, 204)
  })
})
