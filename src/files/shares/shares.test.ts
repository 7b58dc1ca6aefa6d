import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { countsAreExact, create, createFolder, pathOf, upload } from '../../../test/support/files.ts'
import { rejects, shareCalls } from '../../../test/support/shares.ts'
import type { Shared } from '../../../test/support/shares.ts'
import { recordedEvents } from '../../../test/support/database/recorded-events.ts'
import { startTestApp } from '../../../test/harness.ts'
import sharp from 'sharp'
import { sql } from '../../platform/database/database.ts'
import { isOwnContent, isOwnName } from '../files.ts'

const app = await startTestApp()
const { db } = app

const { call, download, drop, enter, isGone, share, visit } = shareCalls(app)

describe('shares of a file', () => {
  test('are created, listed, changed and revoked, with events, and the URL is returned only once', async () => {
    const owner = await app.createOrg()
    const file = await upload(app, owner, 'hello', { name: 'plan.txt' })
    const created = await call(owner, 'POST', `/${file.id}/shares`, { password: 'a password', maxDownloads: 3 })
    const { url, ...rest } = created.body.data
    assert.equal(created.status, 201, created.text)
    assert.deepEqual([rest.permission, rest.hasPassword, rest.maxDownloads], ['download', true, 3])
    const listed = await call(owner, 'GET', `/${file.id}/shares`)
    assert.deepEqual(listed.body.data.items, [rest])
    const token = url.split('/').at(-1) as string
    for (const secret of [token, 'a password']) {
      const rows = await db.rows<{ text: string }>(sql`select s::text as text from file_shares s`)
      assert.ok(!rows.some(({ text }) => text.includes(secret)), 'only hashes are stored')
    }
    const path = `/${file.id}/shares/${rest.id}`
    const changed = await call(owner, 'PATCH', path, { maxDownloads: null, password: null })
    assert.deepEqual([changed.body.data.maxDownloads, changed.body.data.hasPassword], [null, false], changed.text)
    assert.equal((await visit(pathOf(app, url))).status, 200)
    assert.equal((await call(owner, 'DELETE', path)).status, 200)
    await isGone(pathOf(app, url))
    await rejects('NOT_FOUND', call(owner, 'DELETE', path))
    const types = (await recordedEvents(db, owner.orgId)).map(({ type }) => type)
    assert.deepEqual(types, ['file.created', 'file.share_created', 'file.share_updated', 'file.share_revoked'])
  })

  test('of all files of the org are listed by pages with their names, without those of the trash and of other orgs', async () => {
    const [owner, other] = [await app.createOrg(), await app.createOrg()]
    const file = await upload(app, owner, 'hello', { name: 'plan.txt' })
    const folder = await createFolder(app, owner, 'Pictures')
    const trashed = await upload(app, owner, 'gone', { name: 'gone.txt' })
    const [first, second, hidden, third] = [
      await share(owner, file.id),
      await share(owner, folder.id, { permission: 'upload' }),
      await share(owner, trashed.id),
      await share(owner, file.id, { permission: 'view' }),
    ]
    await share(other, (await upload(app, other, 'theirs')).id)
    await call(owner, 'DELETE', `/${trashed.id}`)
    const pages = []
    let cursor = ''
    do {
      const { body } = await call(owner, 'GET', `/shares?limit=2${cursor}`)
      pages.push(body.data.items)
      cursor = body.data.nextCursor === null ? '' : `&cursor=${body.data.nextCursor}`
    } while (cursor !== '')
    assert.deepEqual(
      pages.map((items) => items.map(({ id }: Shared) => id)),
      [[third.id, second.id], [first.id]],
    )
    const { fileName, fileSource, url } = pages[0][1]
    assert.deepEqual([fileName, fileSource, url], ['Pictures', 'folder', undefined])
    await call(owner, 'POST', `/${trashed.id}/restore`)
    assert.ok((await call(owner, 'GET', '/shares')).body.data.items.some(({ id }: Shared) => id === hidden.id))
  })

  test('are rejected with settings that do not apply, for links to files, and by members of other orgs', async () => {
    const owner = await app.createOrg()
    const file = await upload(app, owner, 'hello')
    const { file: link } = await create(app, owner, { source: 'link', targetFileId: file.id })
    const post = (id: string, json: object, as = owner) => call(as, 'POST', `/${id}/shares`, json)
    await rejects('BAD_REQUEST', post(link.id, {}), /link cannot be shared/)
    await rejects('BAD_REQUEST', post(file.id, { permission: 'upload' }), /Only a folder/)
    await rejects('BAD_REQUEST', post(file.id, { permission: 'view', maxDownloads: 1 }), /maxDownloads/)
    await rejects('BAD_REQUEST', post(file.id, { maxFileBytes: 1 }), /permission upload/)
    await rejects('BAD_REQUEST', post(file.id, { expiresAt: '2020-01-01T00:00:00.000Z' }), /future/)
    await rejects('BAD_REQUEST', post(file.id, { password: 'short' }))
    const folder = await createFolder(app, owner, 'f')
    const box = { permission: 'upload', allowedTypes: ['x/*'] }
    await rejects('BAD_REQUEST', post(folder.id, box), /allowedTypes/)
    await rejects('NOT_FOUND', post(file.id, {}, await app.createOrg()))
    const reader = await app.createUser(owner, 'owner', { scopes: ['files:read'] })
    await rejects('FORBIDDEN', post(file.id, {}, reader))
  })
})

describe('the rights of a share', () => {
  test('to view and download need the permission to read, also to change it, and to upload does not', async () => {
    const owner = await app.createOrg()
    const writer = await app.createUser(owner, 'owner', { scopes: ['files:write'] })
    const folder = await createFolder(app, owner, 'private')
    for (const permission of ['view', 'download']) {
      await rejects('FORBIDDEN', call(writer, 'POST', `/${folder.id}/shares`, { permission }), /files:read/)
    }
    const { id } = await share(owner, folder.id, { password: 'open sesame' })
    await rejects('FORBIDDEN', call(writer, 'PATCH', `/${folder.id}/shares/${id}`, { password: null }), /files:read/)
    const box = await share(writer, folder.id, { permission: 'upload' })
    assert.equal((await drop(box.path)).status, 303)
    const changed = await call(writer, 'PATCH', `/${folder.id}/shares/${box.id}`, { maxUploads: 5 })
    assert.equal(changed.status, 200, changed.text)
  })

  test('end when the API key is revoked or expires by which it was created', async () => {
    const owner = await app.createOrg()
    const file = await upload(app, owner, 'hello')
    const key = await app.createUser(owner, 'member', { scopes: ['files:read', 'files:write'] })
    const shared = await share(key, file.id)
    const setKey = (column: 'expires_at' | 'revoked_at', at: string | null) =>
      db.execute(
        column === 'expires_at'
          ? sql`update api_keys set expires_at = ${at} where org_id = ${owner.orgId} and id = ${key.apiKeyId}`
          : sql`update api_keys set revoked_at = ${at} where org_id = ${owner.orgId} and id = ${key.apiKeyId}`,
      )
    assert.equal((await visit(shared.path)).status, 200)
    await setKey('expires_at', '2020-01-01T00:00:00.000Z')
    await isGone(shared.path)
    await setKey('expires_at', null)
    assert.equal((await visit(shared.path)).status, 200)
    await setKey('revoked_at', '2020-01-01T00:00:00.000Z')
    await isGone(shared.path)
    await share(owner, file.id)
    const { items } = (await call(owner, 'GET', `/${file.id}/shares`)).body.data
    assert.deepEqual(
      items.map(({ ended }: { ended: boolean }) => ended),
      [false, true],
    )
  })

  test('of a removed member do not return with the member', async () => {
    const owner = await app.createOrg()
    const member = await app.createUser(owner, 'member')
    const file = await upload(app, owner, 'hello')
    const { path } = await share(member, file.id)
    const { body } = await app.call('GET', '/api/v1/members', { as: owner })
    const { id } = body.data.items.find(({ userId }: { userId: string }) => userId === member.userId)
    const headers = await app.stepUp(owner)
    assert.equal((await app.call('DELETE', `/api/v1/members/${id}`, { as: owner, headers })).status, 200)
    const json = { email: member.email, role: 'member' }
    const added = await app.call('POST', '/api/v1/members', { as: owner, json, headers })
    assert.equal(added.status, 201, added.text)
    assert.equal(added.body.data.status, 'active', added.text)
    await isGone(path)
    const { items } = (await call(owner, 'GET', '/shares')).body.data
    assert.deepEqual(
      items.map(({ ended }: { ended: boolean }) => ended),
      [true],
      'it is listed as ended',
    )
  })

  test('of a file in the trash are listed and can be revoked', async () => {
    const owner = await app.createOrg()
    const file = await upload(app, owner, 'hello')
    const { id, path } = await share(owner, file.id)
    await call(owner, 'DELETE', `/${file.id}`)
    const { items } = (await call(owner, 'GET', `/${file.id}/shares`)).body.data
    assert.deepEqual(
      items.map((item: { id: string }) => item.id),
      [id],
    )
    assert.equal((await call(owner, 'DELETE', `/${file.id}/shares/${id}`)).status, 200)
    await call(owner, 'POST', `/${file.id}/restore`)
    await isGone(path)
  })
})

describe('the page of a share', () => {
  test('shows a text and offers a download, runs no script, and reads no session', async () => {
    const owner = await app.createOrg()
    const file = await upload(app, owner, '<script>alert(1)</script>', { name: 'a<b>.txt' })
    const { path } = await share(owner, file.id)
    const page = await visit(path, { cookie: 'atrium.session_token=abc.def', authorization: 'Bearer nonsense' })
    assert.equal(page.status, 200)
    assert.match(page.text, /&lt;script&gt;alert\(1\)&lt;\/script&gt;/)
    assert.ok(!page.text.includes('<script'))
    assert.match(page.text, /<meta property="og:title" content="a&lt;b&gt;.txt">/)
    assert.match(page.headers.get('content-security-policy') ?? '', /^default-src 'none'; style-src 'sha256-/)
    assert.doesNotMatch(page.headers.get('content-security-policy') ?? '', /script-src|unsafe/)
    assert.equal(page.headers.get('x-robots-tag'), 'noindex, nofollow')
    assert.equal(page.headers.get('referrer-policy'), 'no-referrer')
    const bytes = await download(path, file.id)
    assert.equal(bytes.text, '<script>alert(1)</script>')
    assert.match(bytes.headers.get('content-disposition') ?? '', /^attachment/)
    assert.match(bytes.headers.get('content-security-policy') ?? '', /sandbox/)
    const { items } = (await call(owner, 'GET', `/${file.id}/shares`)).body.data
    assert.equal(items[0].downloads, 1)
  })

  test('is in the language that the browser prefers, with the name and the logo of the org after the password only', async () => {
    const owner = await app.createOrg('Nordwind <GmbH>')
    const png = await sharp({ create: { width: 8, height: 8, channels: 3, background: '#123456' } })
      .png()
      .toBuffer()
    const headers = { 'content-type': 'image/png' }
    const logo = await app.call('PUT', '/api/v1/org/logo', { as: owner, body: png, headers })
    const file = await upload(app, owner, 'Inhalt', { name: 'Angebot.txt' })
    const { path } = await share(owner, file.id, { password: 'open sesame' })
    const german = { 'accept-language': 'fr, de-AT;q=0.8, en;q=0.5' }
    const asked = await visit(path, german)
    assert.equal(asked.headers.get('content-language'), 'de')
    assert.match(asked.text, /<html lang="de">[\s\S]*Passwort erforderlich/)
    assert.doesNotMatch(asked.text, /Nordwind|logos/)
    const admitted = (await enter(path, 'open sesame')).headers.get('location') ?? ''
    const page = await visit(admitted, german)
    assert.match(page.text, /Nordwind &lt;GmbH&gt;[\s\S]*Herunterladen/)
    assert.ok(page.text.includes(`src="${new URL(logo.body.data.logoUrl).pathname}?size=64"`))
    assert.match((await visit(admitted, { 'accept-language': 'en;q=0.9, de;q=0.1' })).text, /Download/)
    const limited = await share(owner, file.id, { permission: 'view' })
    assert.match(
      (await visit(`${limited.path}/files/${file.id}?download=true`, german)).text,
      /erlaubt keine Downloads/,
    )
    assert.match((await visit('/s/nonsense', german)).text, /Dieser Link funktioniert nicht/)
    assert.match((await visit('/s/nonsense', { 'accept-language': 'x'.repeat(9_000) })).text, /lang="en"/)
  })

  test('with `view` shows the file but sends no attachment', async () => {
    const owner = await app.createOrg()
    const file = await upload(app, owner, 'seen', { name: 'a.txt' })
    const { path } = await share(owner, file.id, { permission: 'view' })
    const page = await visit(path)
    assert.match(page.text, /seen/)
    assert.doesNotMatch(page.text, /Download/)
    assert.equal((await download(path, file.id)).status, 403)
  })

  test('asks for the password and reveals nothing before it, and another password ends the access', async () => {
    const owner = await app.createOrg()
    const file = await upload(app, owner, 'hidden text', { name: 'secret-name.txt' })
    const { id, path } = await share(owner, file.id, { password: 'open sesame' })
    const other = await share(owner, file.id, { password: 'open sesame' })
    const asked = await visit(path)
    assert.match(asked.text, /Password required/)
    assert.doesNotMatch(asked.text, /secret-name|hidden text/)
    assert.equal((await download(path, file.id)).status, 302)
    const wrong = await enter(path, 'wrong')
    assert.match(wrong.text, /The password is wrong/)
    assert.doesNotMatch(wrong.text, /secret-name/)
    const right = await enter(path, 'open sesame')
    assert.equal(right.status, 303, right.text)
    const admitted = right.headers.get('location') ?? ''
    const page = await visit(admitted)
    assert.match(page.text, /hidden text/)
    assert.doesNotMatch(page.text, /og:title" content="secret-name/)
    const access = new URLSearchParams(admitted.split('?')[1]).get('access') ?? ''
    assert.equal((await download(path, file.id, `&access=${access}`)).text, 'hidden text')
    assert.match((await visit(`${other.path}?access=${access}`)).text, /Password required/)
    await call(owner, 'PATCH', `/${file.id}/shares/${id}`, { password: 'another one' })
    assert.match((await visit(admitted)).text, /Password required/)
    await db.execute(sql`update file_shares set attempts = 1000 where org_id = ${owner.orgId} and id = ${id}`)
    const locked = await enter(path, 'another one')
    assert.equal(locked.status, 429)
    assert.match(locked.headers.get('content-type') ?? '', /^text\/html/)
    const seconds = Number(locked.headers.get('retry-after'))
    assert.ok(seconds > 3_500 && seconds <= 3_600, `${seconds}`)
  })

  test('allows exactly as many downloads as its limit, also at the same time, and sends nothing otherwise', async () => {
    const owner = await app.createOrg()
    const file = await upload(app, owner, 'limited', { name: 'a.txt' })
    const { path } = await share(owner, file.id, { maxDownloads: 3 })
    assert.doesNotMatch((await visit(path)).text, /limited/, 'no preview')
    const answers = await Promise.all(Array.from({ length: 10 }, () => download(path, file.id)))
    assert.deepEqual(
      answers.map(({ status }) => status).toSorted((a, b) => a - b),
      [200, 200, 200, 403, 403, 403, 403, 403, 403, 403],
    )
    assert.equal((await visit(`${path}/files/${file.id}`)).status, 403, 'inline counts as well')
    const part = await visit(`${path}/files/${file.id}`, { range: 'bytes=1-' })
    assert.equal(part.status, 403)
    assert.match((await visit(path)).text, /The download limit of this link is reached/)
  })

  test('of a folder lists what is in it and below, but neither other files nor links', async () => {
    const owner = await app.createOrg()
    const folder = await createFolder(app, owner, 'shared')
    const inner = await createFolder(app, owner, 'inner', folder.id)
    const deep = await upload(app, owner, 'deep', { name: 'deep.txt', parentId: inner.id })
    const outside = await upload(app, owner, 'outside', { name: 'outside.txt' })
    const { file: link } = await create(app, owner, {
      source: 'link',
      targetFileId: outside.id,
      name: 'a link',
      parentId: folder.id,
    })
    const { path } = await share(owner, folder.id)
    const page = await visit(path)
    assert.match(page.text, /inner/)
    assert.doesNotMatch(page.text, /a link|outside/)
    assert.match((await visit(`${path}?item=${inner.id}`)).text, /deep.txt/)
    assert.match((await visit(`${path}?item=${deep.id}`)).text, /<pre tabindex="0">deep<\/pre>/)
    assert.equal((await download(path, deep.id)).text, 'deep')
    for (const { id } of [outside, link, { id: owner.userId }]) {
      assert.equal((await visit(`${path}?item=${id}`)).status, 404)
      assert.equal((await download(path, id)).status, 404)
    }
    const inside = await share(owner, inner.id)
    assert.equal((await visit(`${inside.path}?item=${folder.id}`)).status, 404, 'not the folder above')
  })

  test('stops working when it expires, when its file is in the trash, and when its creator leaves the org', async () => {
    const owner = await app.createOrg()
    const member = await app.createUser(owner, 'member')
    const file = await upload(app, owner, 'hello')
    const [expiring, lasting, theirs] = [
      await share(owner, file.id, { expiresAt: '2099-01-01T00:00:00.000Z' }),
      await share(owner, file.id),
      await share(member, file.id),
    ]
    await db.execute(sql`
      update file_shares set expires_at = now() where org_id = ${owner.orgId} and id = ${expiring.id}`)
    await isGone(expiring.path)
    assert.equal((await visit(theirs.path)).status, 200)
    const { body } = await app.call('GET', '/api/v1/members', { as: owner })
    const { id } = body.data.items.find(({ userId }: { userId: string }) => userId === member.userId)
    const removed = await app.call('DELETE', `/api/v1/members/${id}`, { as: owner, headers: await app.stepUp(owner) })
    assert.equal(removed.status, 200, removed.text)
    await isGone(theirs.path)
    await call(owner, 'DELETE', `/${file.id}`)
    await isGone(lasting.path)
    assert.equal((await download(lasting.path, file.id)).status, 404)
    await call(owner, 'POST', `/${file.id}/restore`)
    assert.equal((await visit(lasting.path)).status, 200)
    await isGone(`${lasting.path.slice(0, -1)}${lasting.path.endsWith('A') ? 'B' : 'A'}`)
    await isGone('/s/nonsense')
  })
})

describe('a drop box', () => {
  test('stores uploads in its folder within its limits, lists nothing, and marks files as untrusted', async () => {
    const owner = await app.createOrg()
    const folder = await createFolder(app, owner, 'private name')
    await upload(app, owner, 'existing', { name: 'existing.txt', parentId: folder.id })
    const limits = { permission: 'upload', maxUploads: 2, maxFileBytes: 10, allowedTypes: ['text/plain', 'image/*'] }
    const { path } = await share(owner, folder.id, limits)
    const page = await visit(path)
    assert.match(page.text, /Upload a file/)
    assert.doesNotMatch(page.text, /existing|private name/)
    assert.equal((await visit(`${path}/files/${folder.id}`)).status, 404)
    assert.equal((await drop(path, { value: 'more than ten bytes' })).status, 400)
    assert.equal((await drop(path, { type: 'application/json', filename: 'a.json', value: '{}' })).status, 400)
    const answers = await Promise.all([drop(path), drop(path, { filename: 'b.txt' }), drop(path), drop(path)])
    const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b)
    assert.deepEqual(statuses, [303, 303, 403, 403])
    const { items } = (await call(owner, 'GET', `?parentId=${folder.id}`)).body.data
    assert.equal(items.length, 3)
    const actor = { orgId: owner.orgId, userId: owner.userId } as Parameters<typeof isOwnContent>[1]
    for (const { id, name } of items) {
      const isMine = name === 'existing.txt'
      assert.deepEqual([await isOwnContent(db, actor, id), await isOwnName(db, actor, id)], [isMine, isMine], name)
    }
    const dropped = (await recordedEvents(db, owner.orgId)).filter(({ type }) => type === 'file.created').at(-1)
    assert.equal(dropped?.actor.type, 'system')
    for (const { id, name } of items) {
      const link = (await create(app, owner, { source: 'link', targetFileId: id })).file
      assert.equal(await isOwnName(db, actor, link.id), name === 'existing.txt', `a link that has the name of ${name}`)
      const named = (await create(app, owner, { source: 'link', targetFileId: id, name: 'mine' })).file
      assert.equal(await isOwnName(db, actor, named.id), true)
    }
    await countsAreExact(app, owner.orgId)
  })

  test('accepts no uploads through a link for downloads, and none without its password', async () => {
    const owner = await app.createOrg()
    const folder = await createFolder(app, owner, 'f')
    const readable = await share(owner, folder.id)
    assert.equal((await drop(readable.path)).status, 403)
    const closed = await share(owner, folder.id, { permission: 'upload', password: 'open sesame' })
    assert.equal((await drop(closed.path)).headers.get('location'), closed.path)
    assert.equal((await call(owner, 'GET', `?parentId=${folder.id}`)).body.data.total, 0)
  })
})
