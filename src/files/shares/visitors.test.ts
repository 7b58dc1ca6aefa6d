import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { describe, test } from 'node:test'
import { startTestApp } from '../../../test/harness.ts'
import type { Answer } from '../../../test/harness.ts'
import { countsAreExact, createFolder, traces, upload } from '../../../test/support/files.ts'
import { openConnections, shareCalls } from '../../../test/support/shares.ts'
import { until } from '../../../test/support/until.ts'
import { sql } from '../../platform/database/database.ts'
import { newId } from '../../platform/ids.ts'
import { visitorsName } from './drop-box.ts'
import { createVisitContext } from './running.ts'

const app = await startTestApp()
const { db } = app
const { call, download, drop, enter, share, visit } = shareCalls(app)
const { beginUpload, stallDownload } = openConnections(app)

const statusesOf = (answers: Answer[]): number[] => answers.map(({ status }) => status).toSorted((a, b) => a - b)
const isPage = ({ headers, text }: Answer): void => {
  assert.match(headers.get('content-type') ?? '', /^text\/html/)
  assert.match(text, /^<!doctype html>/)
}

test('running downloads are checked two at a time, so that a visitor with many of them leaves connections to others', async () => {
  const { running } = createVisitContext(app.deps)
  const ended: number[] = []
  let checking = 0
  let most = 0
  const unwatch = Array.from({ length: 50 }, (_, index) =>
    running.add(
      `${index}`,
      async () => {
        checking += 1
        most = Math.max(most, checking)
        await db.rows(sql`select 1`)
        checking -= 1
        if (index === 10) throw new Error('the database does not respond')
        return index % 20 !== 0
      },
      () => ended.push(index),
    ),
  )
  await until('all ended shares are found', () => ended.length === 3)
  assert.deepEqual(ended, [0, 20, 40])
  assert.equal(most, 2)
  for (const end of unwatch) end()
})

describe('HEIC photos', () => {
  test('are shown on the page as an image, in the same share and with the same password only', async () => {
    const owner = await app.createOrg()
    const photo = await readFile(new URL('../../../test/fixtures/pictures/turned.heic', import.meta.url))
    const folder = await createFolder(app, owner, 'f')
    const place = { parentId: folder.id, type: 'image/heic' }
    const file = await upload(app, owner, photo, { ...place, name: 'photo.heic' })
    const other = await upload(app, owner, Buffer.concat([photo, Buffer.alloc(1)]), {
      name: 'b.heic',
      type: 'image/heic',
    })
    const text = await upload(app, owner, 'x', { parentId: folder.id })
    const { path } = await share(owner, folder.id, { permission: 'view' })
    const imageOf = (id: string, of = path, query = ''): Promise<Answer> => visit(`${of}/files/${id}/image${query}`)
    const page = await visit(`${path}?item=${file.id}`)
    assert.match(page.text, new RegExp(`<img class="shown" src="${path}/files/${file.id}/image" alt="photo.heic">`))
    const { status, headers } = await imageOf(file.id)
    assert.deepEqual([status, headers.get('content-type')], [200, 'image/jpeg'])
    assert.match(headers.get('content-security-policy') ?? '', /sandbox/)
    const again = await visit(`${path}/files/${file.id}/image`, { 'if-none-match': headers.get('etag') ?? '' })
    assert.equal(again.status, 304)
    assert.deepEqual(statusesOf([await imageOf(other.id), await imageOf(text.id)]), [404, 404])
    const closed = await share(owner, file.id, { password: 'open sesame' })
    assert.equal((await imageOf(file.id, closed.path)).status, 302)
    const admitted = (await enter(closed.path, 'open sesame')).headers.get('location') ?? ''
    assert.equal((await imageOf(file.id, closed.path, admitted.slice(closed.path.length))).status, 200)
    const counted = await share(owner, file.id, { maxDownloads: 1 })
    assert.equal((await imageOf(file.id, counted.path)).status, 404, 'every byte counts as a download')
    assert.doesNotMatch((await visit(counted.path)).text, /<img class="shown"/)
  })
})

describe('passwords of shares', () => {
  test('are hashed one at a time in a short queue per org, and only for requests that are valid', async () => {
    const owner = await app.createOrg()
    const file = await upload(app, owner, 'hello')
    const json = { password: 'open sesame' }
    const asked = Array.from({ length: 30 }, () => call(owner, 'POST', `/${file.id}/shares`, json))
    const missing = Array.from({ length: 5 }, () => call(owner, 'POST', `/${newId()}/shares`, json))
    const answers = await Promise.all(asked)
    assert.deepEqual(new Set(statusesOf(await Promise.all(missing))), new Set([404]), 'nothing is hashed')
    assert.deepEqual(new Set(statusesOf(answers)), new Set([201, 503]))
    for (const { status, headers } of answers) if (status === 503) assert.equal(headers.get('retry-after'), '5')
    const { path } = await share(owner, file.id, json)
    const guesses = await Promise.all(Array.from({ length: 9 }, () => enter(path, 'open sesame')))
    assert.deepEqual(new Set(statusesOf(guesses)), new Set([303, 503]))
    for (const guess of guesses) if (guess.status === 503) isPage(guess)
  })

  test('are hashed in turns by person and address, so that one of them leaves places to others', async () => {
    const owner = await app.createOrg()
    const member = await app.createUser(owner, 'member')
    const file = await upload(app, owner, 'hello')
    const json = { password: 'open sesame' }
    const many = Array.from({ length: 10 }, () => call(owner, 'POST', `/${file.id}/shares`, json))
    const theirs = call(member, 'POST', `/${file.id}/shares`, json)
    assert.equal((await theirs).status, 201)
    assert.deepEqual(new Set(statusesOf(await Promise.all(many))), new Set([201, 503]))
    const visitor = shareCalls(await app.secondServer({ TRUST_PROXY: 'true' }))
    const { path } = await share(owner, file.id, json)
    const from = (host: number): Promise<Answer> =>
      visitor.enter(path, 'open sesame', { 'x-forwarded-for': `203.0.113.${host}` })
    const guesses = Array.from({ length: 9 }, () => from(1))
    assert.equal((await from(2)).status, 303)
    assert.deepEqual(new Set(statusesOf(await Promise.all(guesses))), new Set([303, 503]))
  })

  test('are hashed in turns by share: guesses at one from many addresses leave places to the visitors of others', async () => {
    const owner = await app.createOrg()
    const file = await upload(app, owner, 'hello')
    const json = { password: 'open sesame' }
    const [attacked, quiet] = [await share(owner, file.id, json), await share(owner, file.id, json)]
    const visitor = shareCalls(await app.secondServer({ TRUST_PROXY: 'true' }))
    const guessFrom = (host: number) =>
      visitor.enter(attacked.path, 'wrong', { 'x-forwarded-for': `203.0.113.${host}` })
    const guesses = Array.from({ length: 40 }, (_, host) => guessFrom(host))
    const address = { 'x-forwarded-for': '198.51.100.1' }
    assert.equal((await visitor.enter(quiet.path, 'open sesame', address)).status, 303)
    assert.ok(statusesOf(await Promise.all(guesses)).includes(503), 'more guesses than may wait')
  })

  test('have limits of their own per org and per address, which leave the limit of sign-in untouched', async () => {
    const limited = await app.secondServer({ RATE_LIMIT_SIGN_IN: '2' })
    const owner = await app.createOrg()
    const file = await upload(app, owner, 'hello')
    const post = (json: object): Promise<Answer> =>
      limited.call('POST', `/api/v1/files/${file.id}/shares`, { as: owner, json })
    const json = { password: 'open sesame' }
    assert.deepEqual(statusesOf([await post(json), await post(json), await post({})]), [201, 201, 201])
    const rejected = await post(json)
    assert.deepEqual([rejected.status, rejected.headers.get('retry-after')], [429, '30'])
    const { path } = await share(owner, file.id, json)
    const visitor = shareCalls(limited)
    assert.deepEqual(statusesOf([await visitor.enter(path, 'a'), await visitor.enter(path, 'b')]), [200, 200])
    const late = await visitor.enter(path, 'open sesame')
    assert.deepEqual([late.status, late.headers.get('retry-after')], [429, '30'])
    isPage(late)
    const credentials = { email: owner.email, password: 'wrong' }
    const signIn = await limited.call('POST', '/api/v1/auth/sign-in', { json: credentials })
    assert.notEqual(signIn.status, 429, signIn.text)
  })

  test('are locked for the address that guessed, and not for others', async () => {
    const proxied = await app.secondServer({ TRUST_PROXY: 'true' })
    const visitor = shareCalls(proxied)
    const owner = await app.createOrg()
    const file = await upload(app, owner, 'hello')
    const { id, path } = await share(owner, file.id, { password: 'open sesame' })
    const [guesser, other] = [{ 'x-forwarded-for': '203.0.113.1' }, { 'x-forwarded-for': '203.0.113.2' }]
    assert.equal((await visitor.enter(path, 'wrong', guesser)).status, 200)
    await db.execute(sql`update sign_in_throttles set attempts = 9 where subject = ${`share ${id}`}`)
    assert.equal((await visitor.enter(path, 'wrong', guesser)).status, 200)
    const locked = await visitor.enter(path, 'open sesame', guesser)
    assert.equal(locked.status, 429)
    assert.ok(Number(locked.headers.get('retry-after')) <= 60)
    assert.equal((await visitor.enter(path, 'open sesame', other)).status, 303)
    const counted = await db.row(sql`select attempts from file_shares where org_id = ${owner.orgId} and id = ${id}`)
    assert.deepEqual(counted, { attempts: 2 }, 'guesses of a locked address do not count')
  })

  test('are measured in characters, not in UTF-16 units', async () => {
    const owner = await app.createOrg()
    const file = await upload(app, owner, 'hello')
    const password = '🔑'.repeat(100)
    const { path } = await share(owner, file.id, { password })
    assert.equal((await enter(path, password)).status, 303)
    assert.doesNotMatch((await visit(path)).text, /maxlength/)
  })
})

describe('the bytes of a share', () => {
  test('to view are sent of files that the page displays only, and HEAD tells no more than GET', async () => {
    const owner = await app.createOrg()
    const folder = await createFolder(app, owner, 'f')
    const put = (name: string, type: string, bytes: string) =>
      upload(app, owner, Buffer.from(bytes, 'latin1'), { name, type, parentId: folder.id })
    const picture = await put('a.png', 'image/png', '\x89PNG\r\n\x1A\nrest')
    const table = await put('a.csv', 'text/csv', 'secret,1')
    const archive = await put('a.zip', 'application/zip', 'PK\x03\x04rest')
    const { path } = await share(owner, folder.id, { permission: 'view' })
    const shown = await visit(`${path}/files/${picture.id}`)
    assert.deepEqual([shown.status, shown.headers.get('content-type')], [200, 'image/png'])
    assert.match((await visit(`${path}?item=${table.id}`)).text, /<td>secret<\/td>/)
    const head = (id: string, query = '', headers = {}): Promise<Answer> =>
      app.call('HEAD', `${path}/files/${id}${query}`, { headers })
    assert.equal((await head(picture.id)).headers.get('content-length'), '12')
    for (const { id } of [table, archive]) {
      const rejected = await visit(`${path}/files/${id}`)
      assert.equal(rejected.status, 403)
      isPage(rejected)
      assert.doesNotMatch(rejected.text, /secret|PK/)
      assert.equal((await head(id)).status, 403)
    }
    const known = { 'if-none-match': `"${picture.contentHash}"` }
    const asked = await head(picture.id, '?download=true', known)
    assert.deepEqual([asked.status, asked.headers.get('etag')], [403, null])
  })

  test('with a limit are confirmed by no ETag, and HEAD neither counts nor exceeds it', async () => {
    const owner = await app.createOrg()
    const file = await upload(app, owner, 'hello')
    const { path } = await share(owner, file.id, { maxDownloads: 1 })
    const head = (): Promise<Answer> =>
      app.call('HEAD', `${path}/files/${file.id}?download=true`, {
        headers: { 'if-none-match': `"${file.contentHash}"`, range: 'bytes=0-1' },
      })
    const before = await head()
    assert.deepEqual([before.status, before.headers.get('content-length')], [200, '5'])
    assert.equal((await download(path, file.id)).text, 'hello')
    assert.equal((await head()).status, 403)
  })

  test('stop when the visit would be rejected: creator removed, password added, file trashed or moved', async () => {
    const owner = await app.createOrg()
    const member = await app.createUser(owner, 'member')
    // More than fits into the buffers of a connection.
    const bytes = Buffer.alloc(24 * 1_048_576, 'x')
    const folder = await createFolder(app, owner, 'f')
    const inFolder = (name: string) => upload(app, owner, bytes, { name, parentId: folder.id })
    const [trashed, moved] = [await inFolder('trashed.txt'), await inFolder('moved.txt')]
    const [theirs, closed, open] = [
      await share(member, trashed.id),
      await share(owner, moved.id),
      await share(owner, folder.id),
    ]
    const urlOf = ({ path }: { path: string }, { id }: { id: string }): string => `${path}/files/${id}?download=true`
    const running = await Promise.all([
      stallDownload(urlOf(theirs, trashed)),
      stallDownload(urlOf(closed, moved)),
      stallDownload(urlOf(open, trashed)),
      stallDownload(urlOf(open, moved)),
    ])
    const [ofMember, withPassword, ofTrashed, ofMoved] = running
    await db.execute(sql`delete from members where org_id = ${owner.orgId} and user_id = ${member.userId}`)
    await until('the download of the removed member ends', () => ofMember.isEnded())
    await call(owner, 'PATCH', `/${moved.id}/shares/${closed.id}`, { password: 'open sesame' })
    await until('the download without the new password ends', () => withPassword.isEnded())
    await call(owner, 'PATCH', `/${moved.id}`, { parentId: null })
    await until('the download of the moved file ends', () => ofMoved.isEnded())
    assert.equal(ofTrashed.isEnded(), false)
    await call(owner, 'DELETE', `/${trashed.id}`)
    await until('the download of the trashed file ends', () => ofTrashed.isEnded())
    for (const { socket } of running) socket.destroy()
  })
})

describe('the pages of errors', () => {
  test('are HTML, also for limits, wrong parameters and unknown paths', async () => {
    const limited = await app.secondServer({ RATE_LIMIT_READS: '1' })
    const owner = await app.createOrg()
    const file = await upload(app, owner, 'hello')
    const { path } = await share(owner, file.id)
    const wrong = await visit(`${path}?page=0`)
    assert.equal(wrong.status, 400)
    const unknown = await visit(`${path}/nothing`)
    assert.equal(unknown.status, 404)
    await limited.call('GET', path)
    const late = await limited.call('GET', path)
    assert.deepEqual([late.status, late.headers.get('retry-after')], [429, '60'])
    for (const answer of [wrong, unknown, late]) {
      isPage(answer)
      assert.match(answer.headers.get('content-security-policy') ?? '', /^default-src 'none'/)
    }
  })
})

describe('uploads into a drop box', () => {
  test('are not stored when the share ends or its creator is removed, and running ones end', async () => {
    const owner = await app.createOrg()
    const member = await app.createUser(owner, 'member')
    const folder = await createFolder(app, owner, 'f')
    const before = await traces(app)
    const [revoked, expired, theirs, late] = [
      await share(owner, folder.id, { permission: 'upload' }),
      await share(owner, folder.id, { permission: 'upload' }),
      await share(member, folder.id, { permission: 'upload' }),
      await share(owner, folder.id, { permission: 'upload' }),
    ]
    const running = await Promise.all([revoked, expired, theirs, late].map(({ path }) => beginUpload(path)))
    await until('all uploads have begun', async () => {
      const row = await db.row<{ count: number }>(sql`select count(*)::int as count from blobs where state = 'writing'`)
      return row?.count === 4
    })
    await call(owner, 'DELETE', `/${folder.id}/shares/${late.id}`)
    assert.notEqual(await running[3]?.end(), 303, 'the upload was stored after the end of its share')
    await call(owner, 'DELETE', `/${folder.id}/shares/${revoked.id}`)
    await db.execute(sql`
      update file_shares set expires_at = now() where org_id = ${owner.orgId} and id = ${expired.id}`)
    await db.execute(sql`delete from members where org_id = ${owner.orgId} and user_id = ${member.userId}`)
    for (const upload of running) await until('the upload ends', upload.isEnded)
    for (const upload of running) upload.socket.destroy()
    await until('the bytes are deleted', async () => (await traces(app)).blobs === before.blobs)
    assert.deepEqual(await traces(app), before)
  })

  test('take a place when they are stored, so that slow ones keep none from others', async () => {
    const owner = await app.createOrg()
    const folder = await createFolder(app, owner, 'f')
    const { path } = await share(owner, folder.id, { permission: 'upload', maxUploads: 1 })
    const slow = await Promise.all(Array.from({ length: 5 }, () => beginUpload(path)))
    await until('all uploads have begun', async () => {
      const row = await db.row<{ count: number }>(sql`
        select count(*)::int as count from blobs where org_id = ${owner.orgId} and state = 'writing'`)
      return row?.count === 5
    })
    const rejected = await drop(path)
    assert.deepEqual([rejected.status, rejected.headers.get('retry-after')], [429, '10'], 'too many from one address')
    isPage(rejected)
    const statuses = await Promise.all(slow.map(({ end }) => end()))
    assert.deepEqual(
      statuses.toSorted((a, b) => Number(a) - Number(b)),
      [303, 403, 403, 403, 403],
    )
    assert.equal((await call(owner, 'GET', `?parentId=${folder.id}`)).body.data.total, 1)
    await countsAreExact(app, owner.orgId)
  })

  test('have no field of any length, and lose what makes a name look like another one', async () => {
    const owner = await app.createOrg()
    const folder = await createFolder(app, owner, 'f')
    const { path } = await share(owner, folder.id, { permission: 'upload', maxFileBytes: 10 })
    const long = await drop(path, {}, [{ name: 'note', value: 'x'.repeat(300_000) }])
    assert.equal(long.status, 400)
    assert.match(long.text, /A form must have at most 65546 bytes/)
    assert.equal((await drop(path, { filename: 'a\u202Etxt.exe\u0007.txt' })).status, 303)
    const { items } = (await call(owner, 'GET', `?parentId=${folder.id}`)).body.data
    assert.deepEqual(
      items.map(({ name }: { name: string }) => name),
      ['atxt.exe.txt'],
    )
    assert.deepEqual(['\u2066\u0000 ', ' ä👩‍💻.txt'].map(visitorsName), ['file', 'ä👩‍💻.txt'])
  })
})
