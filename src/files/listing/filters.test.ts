import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { create, createFolder, grantTo, restrict, upload } from '../../../test/support/files.ts'
import { startTestApp } from '../../../test/harness.ts'
import type { TestActor } from '../../../test/harness.ts'
import { sql } from '../../platform/database/database.ts'
import { storedTypes } from '../uploads/mime-types.ts'
import { filterCondition } from './filter-queries.ts'
import type { Filter } from './filter-queries.ts'
import { typesOf } from './filters.ts'
import { typeGroups } from './schemas.ts'
import { deletePurged } from '../favorites/queries.ts'
import { maxFavorites } from '../favorites/favorites.ts'
import * as recentQueries from '../recent/queries.ts'

const app = await startTestApp()

const list = async (as: TestActor, query: string) => {
  const { status, body, text } = await app.call('GET', `/api/v1/files?${query}`, { as })
  assert.equal(status, 200, text)
  return body.data
}
const names = async (as: TestActor, query: string): Promise<string[]> =>
  (await list(as, query)).items.map(({ name }: { name: string }) => name)
const tag = async (as: TestActor, id: string, tags: string[]): Promise<void> => {
  const { status, text } = await app.call('PATCH', `/api/v1/files/${id}`, { as, json: { tags } })
  assert.equal(status, 200, text)
}

test('every type that can be stored is in exactly one group', () => {
  const grouped = typeGroups.filter((group) => group !== 'folder').flatMap(typesOf)
  assert.deepEqual(grouped.toSorted(), [...storedTypes.keys()].toSorted())
  const members: [type: string, group: (typeof typeGroups)[number]][] = [
    ['application/pdf', 'document'],
    ['text/csv', 'spreadsheet'],
    ['application/vnd.ms-excel', 'spreadsheet'],
    ['application/vnd.openxmlformats-officedocument.presentationml.presentation', 'document'],
    ['application/vnd.oasis.opendocument.spreadsheet', 'spreadsheet'],
    ['application/epub+zip', 'document'],
    ['image/svg+xml', 'image'],
    ['application/json', 'text'],
    ['application/sql', 'text'],
    ['application/x-sqlite3', 'other'],
    ['application/gzip', 'archive'],
    ['application/octet-stream', 'other'],
  ]
  for (const [type, group] of members) assert.ok(typesOf(group).includes(type), type)
})

describe('a list with filters', () => {
  test('has the files of a folder that match all of them, and with `recursive` those below with their paths', async () => {
    const owner = await app.createOrg()
    const member = await app.createUser(owner, 'member')
    const folder = await createFolder(app, owner, 'outer')
    const inner = await createFolder(app, owner, 'inner', folder.id)
    const put = (as: TestActor, name: string, type: string, parentId: string) =>
      upload(app, as, name, { name, type, parentId })
    const notes = await put(owner, 'notes.txt', 'text/plain', folder.id)
    await put(member, 'table.csv', 'text/csv', folder.id)
    const deep = await put(member, 'deep.txt', 'text/plain', inner.id)
    await create(app, owner, { source: 'link', targetFileId: deep.id, name: 'link', parentId: folder.id })
    await tag(owner, notes.id, ['q3', 'Finance'])
    await tag(owner, deep.id, ['q3'])
    const inFolder = `parentId=${folder.id}`
    const cases: [query: string, found: string[]][] = [
      ['type=text', ['notes.txt']],
      ['type=folder', ['inner']],
      ['type=spreadsheet', ['table.csv']],
      ['type=image', []],
      ['type=text&recursive=true', ['deep.txt', 'notes.txt']],
      ['tag=q3', ['notes.txt']],
      ['tag=q3&recursive=true', ['deep.txt', 'notes.txt']],
      ['tag=finance&recursive=true', []],
      [`createdBy=${member.userId}&recursive=true`, ['deep.txt', 'table.csv']],
      [`createdBy=${member.userId}&tag=q3&recursive=true`, ['deep.txt']],
      ['search=e&type=text&recursive=true', ['deep.txt', 'notes.txt']],
      ['search=note&tag=q3&recursive=true', ['notes.txt']],
      [`updatedSince=${encodeURIComponent(deep.createdAt)}&type=spreadsheet`, []],
      [`updatedUntil=${encodeURIComponent(deep.createdAt)}&type=spreadsheet`, ['table.csv']],
      [`createdSince=${encodeURIComponent(deep.createdAt)}&recursive=true`, ['deep.txt', 'link']],
      [`createdUntil=${encodeURIComponent(notes.createdAt)}&recursive=true`, ['inner']],
    ]
    for (const [query, found] of cases) assert.deepEqual(await names(owner, `${inFolder}&${query}`), found, query)
    const everywhere = await list(owner, 'tag=q3&recursive=true')
    assert.deepEqual(
      everywhere.items.map(({ path }: { path: string[] }) => path),
      [['outer', 'inner'], ['outer']],
    )
    assert.deepEqual(await names(await app.createOrg(), 'tag=q3&recursive=true'), [])
  })

  test('is sorted, counted and paged by cursors like every list', async () => {
    const owner = await app.createOrg()
    const folder = await createFolder(app, owner, 'f')
    for (let number = 0; number < 7; number += 1) {
      const name = `${number}.${number % 2 === 0 ? 'txt' : 'csv'}`
      const type = number % 2 === 0 ? 'text/plain' : 'text/csv'
      await upload(app, owner, 'x'.repeat(10 - number), { name, type, parentId: folder.id })
    }
    for (const [sort, expected] of [
      ['sort=name&order=desc', ['6.txt', '4.txt', '2.txt', '0.txt']],
      ['sort=size', ['6.txt', '4.txt', '2.txt', '0.txt']],
      ['sort=updatedAt', ['0.txt', '2.txt', '4.txt', '6.txt']],
      ['sort=mimeType', ['0.txt', '2.txt', '4.txt', '6.txt']],
    ] as const) {
      for (const where of [`parentId=${folder.id}`, 'recursive=true']) {
        const found: string[] = []
        let cursor = ''
        do {
          const page = await list(owner, `type=text&${where}&${sort}&limit=3${cursor && `&cursor=${cursor}`}`)
          assert.equal(page.total, 4)
          found.push(...page.items.map(({ name }: { name: string }) => name))
          cursor = page.nextCursor ?? ''
        } while (cursor !== '')
        assert.deepEqual(found, expected, `${sort} ${where}`)
      }
    }
  })

  test('rejects periods that end before they begin, and unknown groups', async () => {
    const owner = await app.createOrg()
    const bad = [
      'type=nonsense',
      'tag=',
      'createdBy=me',
      'updatedSince=yesterday',
      'createdSince=2026-02-01T00:00:00.000Z&createdUntil=2026-01-01T00:00:00.000Z',
    ]
    for (const query of bad) {
      assert.equal((await app.call('GET', `/api/v1/files?${query}`, { as: owner })).status, 400, query)
    }
  })

  test('reads few files of a large folder from an index', async () => {
    const owner = await app.createOrg()
    const folder = await createFolder(app, owner, 'large')
    await app.db.execute(sql`
      insert into files (org_id, id, source, name, name_key, parent_id, mime_type, tags, created_by, status, updated_at)
      select ${owner.orgId}, gen_random_uuid(), 'upload', n::text, n::text, ${folder.id},
        case when n % 1000 = 0 then 'image/png' else 'text/plain' end, case when n % 1000 = 1 then '{q3}'::text[] else '{}' end,
        case when n % 1000 = 2 then ${owner.userId}::uuid else gen_random_uuid() end, 'pending',
        now() - n * interval '1 hour'
      from generate_series(1, 5000) n`)
    await app.db.execute(sql`analyze files`)
    const none = { since: undefined, until: undefined }
    const empty: Filter = {
      isFolder: false,
      isFavorite: false,
      types: undefined,
      tag: undefined,
      createdBy: undefined,
      created: none,
      updated: none,
    }
    const yesterday = new Date(Date.now() - 86_400_000).toISOString()
    for (const [filter, index] of [
      [{ types: typesOf('image') }, 'files_by_type'],
      [{ tag: 'q3' }, 'files_by_tag'],
      [{ createdBy: owner.userId }, 'files_by_creator'],
      [{ updated: { since: yesterday, until: undefined } }, 'files_by_change'],
    ] as const) {
      const plan = await app.db.rows<Record<string, string>>(sql`
        explain select id from files
        where org_id = ${owner.orgId} and deleted_at is null ${filterCondition(owner, { ...empty, ...filter })}
          and container_id = ${folder.id}
        limit 20001`)
      const text = plan.map((row) => Object.values(row)[0]).join('\n')
      assert.match(text, new RegExp(`Scan (?:using|on) ${index}`), text)
      assert.doesNotMatch(text, /Seq Scan/)
    }
  })
})

const call = async (as: TestActor, method: string, path: string, status = 200) => {
  const answer = await app.call(method, `/api/v1/files${path}`, { as })
  assert.equal(answer.status, status, answer.text)
  return answer
}
const favorites = (as: TestActor): Promise<string[]> => names(as, 'favorite=true&recursive=true')
const recent = (as: TestActor): Promise<string[]> => names(as, 'recent=true')

describe('favorites', () => {
  test('are marks of one person on files, folders and links, which lists and records show to that person only', async () => {
    const owner = await app.createOrg()
    const member = await app.createUser(owner, 'member', { scopes: ['files:read'] })
    const folder = await createFolder(app, owner, 'folder')
    const file = await upload(app, owner, 'x', { name: 'file.txt', parentId: folder.id })
    const link = (await create(app, owner, { source: 'link', targetFileId: file.id, name: 'link' })).file
    await upload(app, owner, 'y', { name: 'other.txt', parentId: folder.id })
    const before = await call(member, 'GET', `/${file.id}`)
    assert.equal(before.body.data.favorite, undefined)
    for (const { id } of [file, folder, link, file]) {
      assert.equal((await call(member, 'PUT', `/${id}/favorite`)).body.data.favorite, true)
    }
    assert.deepEqual(await favorites(member), ['folder', 'file.txt', 'link'])
    assert.deepEqual(await names(member, 'favorite=true'), ['folder', 'link'])
    assert.deepEqual(await names(member, `favorite=true&parentId=${folder.id}`), ['file.txt'])
    assert.deepEqual(await names(member, 'favorite=true&recursive=true&type=text'), ['file.txt'])
    assert.deepEqual(await favorites(owner), [])
    const marked = async (as: TestActor) =>
      (await list(as, `parentId=${folder.id}`)).items.map(({ favorite }: { favorite?: true }) => favorite)
    assert.deepEqual(await marked(member), [true, undefined])
    assert.deepEqual(await marked(owner), [undefined, undefined])

    const etag = before.headers.get('etag') ?? ''
    const again = await app.call('GET', `/api/v1/files/${file.id}`, { as: member, headers: { 'if-none-match': etag } })
    assert.equal(again.status, 200, 'the record has changed for this person')
    assert.equal(again.body.data.favorite, true)
    const json = { tags: ['q3'] }
    const headers = { 'if-match': again.headers.get('etag') ?? '' }
    assert.equal((await app.call('PATCH', `/api/v1/files/${file.id}`, { as: owner, json, headers })).status, 200)

    await call(member, 'DELETE', `/${file.id}/favorite`)
    await call(member, 'DELETE', `/${file.id}/favorite`)
    assert.deepEqual(await favorites(member), ['folder', 'link'])
    assert.equal((await call(member, 'GET', `/${file.id}`)).body.data.favorite, undefined)
    assert.equal((await app.call('GET', '/api/v1/files?trashed=true&favorite=true', { as: owner })).status, 400)
  })

  test('are not shown while their files are restricted or in the trash, and end with the file and the membership', async () => {
    const owner = await app.createOrg()
    const member = await app.createUser(owner, 'member')
    const folder = await createFolder(app, owner, 'folder')
    const inside = await upload(app, owner, 'x', { name: 'inside.txt', parentId: folder.id })
    const file = await upload(app, owner, 'x', { name: 'file.txt' })
    for (const { id } of [folder, inside, file]) await call(member, 'PUT', `/${id}/favorite`)
    await restrict(app, owner, folder.id)
    assert.deepEqual(await favorites(member), ['file.txt'])
    await call(member, 'PUT', `/${inside.id}/favorite`, 404)
    await call(member, 'DELETE', `/${inside.id}/favorite`, 404)
    await restrict(app, owner, folder.id, [grantTo(member, 'read')])
    assert.deepEqual(await favorites(member), ['folder', 'file.txt', 'inside.txt'])

    await call(owner, 'DELETE', `/${file.id}`)
    assert.deepEqual(await favorites(member), ['folder', 'inside.txt'])
    await deletePurged(app.db)
    await call(owner, 'POST', `/${file.id}/restore`)
    assert.deepEqual(await favorites(member), ['folder', 'file.txt', 'inside.txt'])
    await call(owner, 'DELETE', `/${file.id}?permanent=true`)
    const kept = () =>
      app.db.rows<{ id: string }>(sql`select file_id as id from file_favorites where org_id = ${owner.orgId}`)
    assert.equal((await kept()).length, 3)
    await deletePurged(app.db)
    assert.equal((await kept()).length, 2)
    const found = await app.db.row<{ id: string }>(sql`
      select id from members where org_id = ${owner.orgId} and user_id = ${member.userId}`)
    const headers = await app.stepUp(owner)
    const removed = await app.call('DELETE', `/api/v1/members/${found?.id}`, { as: owner, headers })
    assert.equal(removed.status, 200, removed.text)
    assert.deepEqual(await kept(), [])
  })

  test(`are at most ${maxFavorites} of each person, without those that are deleted for good`, async () => {
    const owner = await app.createOrg()
    const other = await app.createUser(owner, 'owner')
    await app.db.execute(sql`
      with made as (
        insert into files (org_id, id, source, name, name_key, created_by)
        select ${owner.orgId}, gen_random_uuid(), 'folder', n::text, n::text, ${owner.userId}
        from generate_series(1, ${maxFavorites}) n returning org_id, id
      ) select count(*) from made`)
    await app.db.execute(sql`
      insert into file_favorites (org_id, user_id, file_id)
      select org_id, ${owner.userId}, id from files where org_id = ${owner.orgId}`)
    const file = await upload(app, owner, 'x')
    const { body } = await call(owner, 'PUT', `/${file.id}/favorite`, 400)
    assert.match(body.error.message, /at most 1,000 favorites/)
    const { items, total } = await list(owner, 'favorite=true&recursive=true&limit=1')
    assert.equal(total, maxFavorites)
    await call(owner, 'PUT', `/${items[0].id}/favorite`)
    await call(other, 'PUT', `/${file.id}/favorite`)
    await app.db.execute(sql`update files set deleted_at = now() where org_id = ${owner.orgId} and id = ${items[0].id}`)
    await call(owner, 'PUT', `/${file.id}/favorite`)
  })
})

describe('the recent files of a person', () => {
  test('are those that they uploaded, changed or opened, the latest first, and not those that they downloaded', async () => {
    const owner = await app.createOrg()
    const member = await app.createUser(owner, 'member')
    const folder = await createFolder(app, owner, 'folder')
    const file = (name: string) => upload(app, owner, name, { name, parentId: folder.id })
    const [one, two, three, four] = [await file('one'), await file('two'), await file('three'), await file('four')]
    await create(app, owner, { name: 'pending', mimeType: 'text/plain', size: 4 })
    assert.deepEqual(await recent(owner), ['four', 'three', 'two', 'one'])
    assert.deepEqual(await recent(member), [])
    await call(member, 'GET', `/${one.id}?download=true`, 302)
    await call(member, 'PUT', `/${two.id}/recent`)
    await tag(member, three.id, ['q3'])
    const body = 'new words'
    assert.equal((await app.call('PUT', `/api/v1/files/${four.id}/content`, { as: member, body })).status, 200)
    await call(member, 'PUT', `/${folder.id}/recent`, 400)
    const page = await list(member, 'recent=true')
    assert.deepEqual(
      page.items.map(({ name }: { name: string }) => name),
      ['four', 'three', 'two'],
    )
    const [{ path, favorite, recentAt }] = page.items
    assert.deepEqual([path, favorite], [['folder'], undefined])
    assert.ok(Date.parse(recentAt) > Date.parse(four.createdAt))
    assert.deepEqual(await recent(owner), ['four', 'three', 'two', 'one'], 'the changes of others are theirs')

    await call(member, 'PUT', `/${two.id}/recent`)
    assert.deepEqual(await recent(member), ['four', 'three', 'two'], 'within 5 minutes it is one use')
    await app.db.execute(sql`
      update recent_files set used_at = ${new Date(Date.now() - 360_000)}
      where org_id = ${owner.orgId} and file_id = ${two.id}`)
    await call(member, 'PUT', `/${two.id}/recent`)
    assert.deepEqual(await recent(member), ['two', 'four', 'three'])
    const first = await list(member, 'recent=true&limit=2')
    assert.deepEqual([first.total, first.hasMore], [3, true])
    assert.deepEqual(await names(member, `recent=true&limit=2&cursor=${first.nextCursor}`), ['three'])
    assert.deepEqual(await names(member, 'recent=true&limit=2&page=2'), ['three'])

    await restrict(app, owner, folder.id)
    assert.deepEqual(await recent(member), [])
    await call(member, 'PUT', `/${two.id}/recent`, 404)
    for (const query of ['sort=name', 'order=asc', `parentId=${folder.id}`, 'search=o', 'tag=q3', 'recursive=true']) {
      assert.equal((await app.call('GET', `/api/v1/files?recent=true&${query}`, { as: owner })).status, 400, query)
    }
  })

  test('are bounded: the latest 200 uses are kept, and none of a file that is deleted for good', async () => {
    const owner = await app.createOrg()
    await app.db.execute(sql`
      insert into files (org_id, id, source, name, name_key, created_by)
      select ${owner.orgId}, gen_random_uuid(), 'folder', n::text, n::text, ${owner.userId} from generate_series(1, 300) n`)
    await app.db.execute(sql`
      insert into recent_files (org_id, user_id, file_id, used_at)
      select org_id, ${owner.userId}, id, now() - name::int * interval '1 hour' from files where org_id = ${owner.orgId}`)
    const file = await upload(app, owner, 'x')
    const count = async () =>
      (
        await app.db.rows(sql`
          select 1 from recent_files where org_id = ${owner.orgId} and used_at > now() - interval '1 year'`)
      ).length
    await call(owner, 'PUT', `/${file.id}/recent`)
    assert.equal(await count(), 200)
    await app.db.execute(sql`update files set deleted_at = now() where org_id = ${owner.orgId} and name in ('1', '2')`)
    await recentQueries.deletePurged(app.db)
    assert.equal(await count(), 198)
  })
})

describe('GET /files/usage', () => {
  const usage = async (as: TestActor, query = '') => (await call(as, 'GET', `/usage${query}`)).body.data

  test('sums what is below each subfolder, those with the most bytes first, with versions and the trash apart', async () => {
    const owner = await app.createOrg()
    const member = await app.createUser(owner, 'member')
    const large = await createFolder(app, owner, 'large')
    const deep = await createFolder(app, owner, 'deep', large.id)
    const small = await createFolder(app, owner, 'small')
    await createFolder(app, owner, 'empty')
    const put = (bytes: number, parentId?: string) =>
      upload(app, owner, 'x'.repeat(bytes), { name: `${bytes}`, ...(parentId === undefined ? {} : { parentId }) })
    await put(1)
    const changed = await put(1_000, deep.id)
    await put(500, large.id)
    await put(30, small.id)
    const trashed = await put(7, small.id)
    await create(app, owner, { source: 'link', targetFileId: changed.id, parentId: small.id })
    const body = 'x'.repeat(20)
    await app.call('PUT', `/api/v1/files/${changed.id}/content`, { as: owner, body })
    await call(owner, 'DELETE', `/${trashed.id}`)

    const root = await usage(owner)
    assert.deepEqual(
      root.items.map((item: Record<string, unknown>) => ({ ...item, id: undefined })),
      [
        { name: 'large', restricted: false, files: 2, folders: 1, bytes: 520, versionBytes: 1_000 },
        { name: 'small', restricted: false, files: 2, folders: 0, bytes: 30, versionBytes: 0 },
        { name: 'empty', restricted: false, files: 0, folders: 0, bytes: 0, versionBytes: 0 },
      ].map((item) => ({ ...item, id: undefined })),
    )
    assert.deepEqual(root.below, { files: 5, folders: 4, bytes: 551, versionBytes: 1_000 })
    assert.deepEqual(root.direct, { files: 1, bytes: 1, versionBytes: 0 })
    assert.deepEqual(root.trash, { files: 1, bytes: 7 })
    assert.deepEqual([root.folderId, root.total, root.isComplete], [null, 3, true])
    const quotas = (await app.call('GET', '/api/v1/quotas', { as: owner })).body.data.items
    const used = quotas.find(({ name }: { name: string }) => name === 'storedBytes').used
    assert.equal(root.below.bytes + root.below.versionBytes + root.trash.bytes, used, 'as the quota counts')

    const inside = await usage(owner, `?parentId=${large.id}`)
    assert.deepEqual(inside.below, { files: 2, folders: 1, bytes: 520, versionBytes: 1_000 })
    assert.deepEqual(inside.direct, { files: 1, bytes: 500, versionBytes: 0 })
    assert.deepEqual([inside.folderId, inside.trash, inside.items.length], [large.id, null, 1])
    const first = await usage(owner, '?limit=1')
    assert.deepEqual([first.items[0].name, first.total, first.hasMore], ['large', 3, true])
    for (const next of [`cursor=${first.nextCursor}`, 'page=2']) {
      const second = await usage(owner, `?limit=1&${next}`)
      assert.deepEqual([second.items[0].name, second.below.bytes], ['small', 551])
    }
    const past = await usage(owner, '?limit=1&page=9')
    assert.deepEqual([past.items, past.total, past.below.bytes], [[], 3, 551])

    await restrict(app, owner, deep.id)
    const seen = await usage(member)
    assert.deepEqual(seen.below, { files: 4, folders: 3, bytes: 531, versionBytes: 0 })
    await call(member, 'GET', `/usage?parentId=${deep.id}`, 400)
    const none = await usage(await app.createOrg())
    assert.deepEqual([none.items, none.total, none.below.bytes, none.trash], [[], 0, 0, { files: 0, bytes: 0 }])
  })
})
