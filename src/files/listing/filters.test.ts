import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { create, createFolder, upload } from '../../../test/support/files.ts'
import { startTestApp } from '../../../test/harness.ts'
import type { TestActor } from '../../../test/harness.ts'
import { sql } from '../../platform/database/database.ts'
import { storedTypes } from '../uploads/mime-types.ts'
import { filterCondition } from './filter-queries.ts'
import type { Filter } from './filter-queries.ts'
import { typesOf } from './filters.ts'
import { typeGroups } from './schemas.ts'

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
