import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { create, createFolder, upload } from '../../../test/support/files.ts'
import { startTestApp } from '../../../test/harness.ts'
import type { TestActor } from '../../../test/harness.ts'
import { sql } from '../../platform/database/database.ts'
import { newId } from '../../platform/ids.ts'
import { nameKeyOf } from '../tree/names.ts'
import { inSegment, orderInSegment, orderOf } from './order-queries.ts'

const app = await startTestApp()
const stranger = await app.createOrg()

const list = async (as: TestActor, query = '') => {
  const { status, body, text } = await app.call('GET', `/api/v1/files${query}`, { as })
  assert.equal(status, 200, text)
  return body.data
}
const namesOf = (page: { items: { name: string }[] }): string[] => page.items.map(({ name }) => name)
const search = async (as: TestActor, text: string, more = '') =>
  namesOf(await list(as, `?search=${encodeURIComponent(text)}${more}`)).toSorted()

/** Rows without bytes, many at a time. */
const addRows = async (org: TestActor, names: string[], parentId: string | null = null): Promise<void> => {
  await app.db.transaction('all orgs', async (db) => {
    await db.execute(sql`
      insert into files (org_id, id, source, parent_id, name, name_key, mime_type, status, created_by)
      select ${org.orgId}, id, 'upload', ${parentId}::uuid, name, key, 'text/plain', 'pending', ${org.userId}
      from unnest(${names.map(newId)}::uuid[], ${names}::text[], ${names.map(nameKeyOf)}::text[]) as row (id, name, key)`)
    await db.execute(sql`
      insert into folder_counts (org_id, folder_id, slot, children)
      values (${org.orgId}, ${parentId ?? org.orgId}, 0, ${names.length})
      on conflict (org_id, folder_id, slot) do update set children = folder_counts.children + excluded.children`)
  })
}

/** Every page by cursor. */
const walk = async (as: TestActor, query: string): Promise<string[]> => {
  const names: string[] = []
  for (let cursor: string | null = null; ;) {
    const page = await list(as, `${query}${cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`}`)
    names.push(...namesOf(page))
    assert.equal(page.hasMore, page.nextCursor !== null)
    if (page.nextCursor === null) return names
    cursor = page.nextCursor
  }
}

describe('GET /files', () => {
  test('an org without files has an empty list', async () => {
    const org = await app.createOrg()
    assert.deepEqual(await list(org), { items: [], page: 1, limit: 50, total: 0, hasMore: false, nextCursor: null })
  })

  test('a folder lists only its direct children: folders first, then by case-insensitive name, then by id', async () => {
    const org = await app.createOrg()
    const inner = await createFolder(app, org, 'zeta')
    await createFolder(app, org, 'Alpha')
    for (const name of ['b.txt', 'A.txt', 'a.txt', 'C.txt', 'Émile', 'émile 2', '10', '9'])
      await upload(app, org, name, { name })
    await upload(app, org, 'x', { name: 'inside', parentId: inner.id })
    const page = await list(org)
    assert.deepEqual(namesOf(page), [
      'Alpha',
      'zeta',
      '10',
      '9',
      'A.txt',
      'a.txt',
      'b.txt',
      'C.txt',
      'Émile',
      'émile 2',
    ])
    assert.equal(page.total, 10)
    assert.deepEqual(namesOf(await list(org, `?parentId=${inner.id}`)), ['inside'])
    assert.deepEqual(namesOf(await list(stranger)), [])
  })

  test('two files in a folder may have the same name', async () => {
    const org = await app.createOrg()
    const same = [await upload(app, org, '1', { name: 'same' }), await upload(app, org, '2', { name: 'same' })]
    const { items } = await list(org)
    assert.deepEqual(
      items.map(({ id }: { id: string }) => id),
      same.map(({ id }): string => id).toSorted(),
    )
  })

  test('pages of every size, by number and by cursor, add up to the whole list', async () => {
    const org = await app.createOrg()
    const names = Array.from({ length: 23 }, (_, index) => `Name ${String(index).padStart(2, '0')}`)
    await addRows(org, names.toReversed())
    for (const limit of [1, 5, 23, 24]) {
      const paged: string[] = []
      for (let page = 1; page <= Math.ceil(23 / limit); page += 1) {
        const response = await list(org, `?limit=${limit}&page=${page}`)
        assert.deepEqual([response.page, response.limit, response.total], [page, limit, 23])
        assert.equal(response.hasMore, page * limit < 23)
        paged.push(...namesOf(response))
      }
      assert.deepEqual(paged, names)
      assert.deepEqual(await walk(org, `?limit=${limit}`), names)
    }
    assert.deepEqual(namesOf(await list(org, '?limit=10&page=4')), [])
    assert.deepEqual(namesOf(await list(org, '?page=1000000000&limit=100')), [])
  })

  test('paging by cursor returns every file that exists throughout, while others are created and deleted', async () => {
    const org = await app.createOrg()
    await addRows(
      org,
      Array.from({ length: 30 }, (_, index) => `n${String(index).padStart(2, '0')}`),
    )
    const first = await list(org, '?limit=10')
    await addRows(org, ['n00a', 'n25a', 'zz'])
    const last = first.items.at(-1)
    await app.call('DELETE', `/api/v1/files/${last.id}`, { as: org })
    const second = await list(org, `?limit=100&cursor=${first.nextCursor}`)
    assert.deepEqual(
      namesOf(second),
      [...Array.from({ length: 20 }, (_, index) => `n${index + 10}`), 'n25a', 'zz'].toSorted(),
    )
    assert.equal(second.total, 32)
  })

  test('a cursor works after the longest names', async () => {
    const org = await app.createOrg()
    const names = ['𝒳', '漢', '\u{1D160}'].map((character) => character.repeat(255)).toSorted()
    await addRows(org, names)
    assert.deepEqual((await walk(org, '?limit=1')).toSorted(), names)
  })

  for (const query of [
    '?limit=0',
    '?limit=101',
    '?limit=-1',
    '?limit=1.5',
    '?limit=x',
    '?limit=',
    '?page=0',
    '?page=-1',
    '?page=x',
    '?page=1000000001',
    '?cursor=nonsense',
    '?cursor=WzFd',
    `?cursor=${Buffer.from('[1,"a","nonsense"]').toString('base64url')}`,
    '?parentId=nonsense',
    '?parentId=',
    '?parentId=null',
    `?parentId=${newId()}`,
    '?projectId=nonsense',
    '?recursive=maybe',
    '?sort=contentHash',
    '?order=up',
    '?sort=size&cursor=WzEsImEiXQ',
    `?sort=updatedAt&cursor=${Buffer.from(JSON.stringify([1, 'yesterday', 'a', newId()])).toString('base64url')}`,
    `?search=${'x'.repeat(256)}`,
    '?search=%00',
  ]) {
    test(`the file list rejects the query ${query.slice(0, 40)}`, async () => {
      const org = await app.createOrg()
      const { body } = await app.call('GET', `/api/v1/files${query}`, { as: org })
      assert.equal(body.error?.code, 'BAD_REQUEST')
    })
  }

  test('the file list accepts limits of 1 and 100 and ignores unknown parameters', async () => {
    const org = await app.createOrg()
    for (const query of ['?limit=1', '?limit=100', '?unknown=size', '?search=']) await list(org, query)
  })

  test('listing rejects a folder of another org, a missing folder and a file with the same message', async () => {
    const org = await app.createOrg()
    const foreign = await createFolder(app, stranger, 'theirs')
    const file = await upload(app, org, 'x')
    const responses = await Promise.all(
      [foreign.id, file.id, newId()].map((id) => app.call('GET', `/api/v1/files?parentId=${id}`, { as: org })),
    )
    assert.deepEqual(new Set(responses.map(({ status }) => status)), new Set([400]))
    assert.equal(new Set(responses.map(({ text }) => text)).size, 1)
  })
})

describe('the order of a list', async () => {
  const org = await app.createOrg()
  const folder = await createFolder(app, org, 'sorted')
  const parentId = folder.id
  // In this order of their last changes.
  const made: string[] = []
  for (const name of ['inner b', 'inner a']) made.push((await createFolder(app, org, name, parentId)).id)
  for (const [name, text, type] of [
    ['beta.txt', 'four', 'text/plain'],
    ['data.csv', 'a,b', 'text/csv'],
    ['Alpha.txt', 'longest', 'text/plain'],
    ['empty.bin', '', 'application/octet-stream'],
  ] as const)
    made.push((await upload(app, org, text, { name, parentId, type })).id)
  await create(app, org, { source: 'link', name: 'a link', targetFileId: made.at(-1), parentId })
  const inner = ['inner a', 'inner b']

  const expected: Record<string, string[]> = {
    'sort=name': [...inner, 'a link', 'Alpha.txt', 'beta.txt', 'data.csv', 'empty.bin'],
    'sort=name&order=desc': ['inner b', 'inner a', 'empty.bin', 'data.csv', 'beta.txt', 'Alpha.txt', 'a link'],
    'order=desc': ['inner b', 'inner a', 'empty.bin', 'data.csv', 'beta.txt', 'Alpha.txt', 'a link'],
    'sort=size': [...inner, 'empty.bin', 'a link', 'data.csv', 'beta.txt', 'Alpha.txt'],
    'sort=size&order=desc': [...inner, 'Alpha.txt', 'beta.txt', 'data.csv', 'a link', 'empty.bin'],
    'sort=mimeType': [...inner, 'empty.bin', 'data.csv', 'Alpha.txt', 'beta.txt', 'a link'],
    'sort=mimeType&order=desc': [...inner, 'beta.txt', 'Alpha.txt', 'data.csv', 'empty.bin', 'a link'],
    'sort=updatedAt': ['inner b', 'inner a', 'beta.txt', 'data.csv', 'Alpha.txt', 'empty.bin', 'a link'],
    'sort=updatedAt&order=desc': ['inner a', 'inner b', 'a link', 'empty.bin', 'Alpha.txt', 'data.csv', 'beta.txt'],
  }
  for (const [query, names] of Object.entries(expected)) {
    test(`${query} sorts a folder with folders first, and pages by number and by cursor add up to it`, async () => {
      for (const limit of [1, 2, 3, 100]) {
        assert.deepEqual(await walk(org, `?parentId=${parentId}&${query}&limit=${limit}`), names)
        const paged: string[] = []
        for (let page = 1; page <= Math.ceil(names.length / limit); page += 1)
          paged.push(...namesOf(await list(org, `?parentId=${parentId}&${query}&limit=${limit}&page=${page}`)))
        assert.deepEqual(paged, names)
      }
    })

    test(`${query} sorts search results like the folder, with and without the search index`, async () => {
      const found = names.filter((name) => name.includes('t'))
      for (const search of ['.', 'a']) {
        const matching = names.filter((name) => name.toLowerCase().includes(search))
        assert.deepEqual(await walk(org, `?parentId=${parentId}&${query}&limit=2&search=${search}`), matching)
      }
      const byIndex = await walk(org, `?recursive=true&parentId=${parentId}&${query}&limit=1&search=.txt`)
      assert.deepEqual(
        byIndex,
        found.filter((name) => name.endsWith('.txt')),
      )
    })
  }

  test('a cursor of a list by time loses no file that was changed within the same millisecond', async () => {
    const other = await app.createOrg()
    const names = Array.from({ length: 9 }, (_, index) => `n${index}`)
    await addRows(other, names)
    for (const [index, name] of names.entries())
      await app.db.execute(sql`
        update files set updated_at = ${`2026-01-01T00:00:00.00100${index}Z`}
        where org_id = ${other.orgId} and name = ${name}`)
    assert.deepEqual(await walk(other, '?sort=updatedAt&limit=2'), names)
    assert.deepEqual(await walk(other, '?sort=updatedAt&order=desc&limit=2'), names.toReversed())
  })

  test('a cursor with numbers that no file has is a position in the list, not an error', async () => {
    const cursor = (values: unknown[]) => Buffer.from(JSON.stringify(values)).toString('base64url')
    for (const [query, values, names] of [
      ['sort=size', [7, Number.MAX_SAFE_INTEGER, 'a', newId()], []],
      ['sort=size', [-1, 0, 'inner a', newId()], expected['sort=size']?.slice(1)],
      ['sort=name', [Number.MAX_SAFE_INTEGER, 'empty', newId()], ['empty.bin']],
    ] as const)
      assert.deepEqual(namesOf(await list(org, `?parentId=${parentId}&${query}&cursor=${cursor([...values])}`)), names)
  })

  test('search results have the path of each file, lists of a folder and records have none', async () => {
    const deep = await createFolder(app, org, 'deep', made[0])
    await upload(app, org, 'x', { name: 'needle.txt', parentId: deep.id })
    await upload(app, org, 'x', { name: 'needle at the root.txt' })
    const { items } = await list(org, '?search=needle&recursive=true')
    assert.deepEqual(
      items.map(({ path }: { path: string[] }) => path),
      [[], ['sorted', 'inner b', 'deep']],
    )
    const [listed] = (await list(org, `?parentId=${deep.id}`)).items
    assert.ok(!('path' in listed))
    assert.ok(!('path' in (await app.call('GET', `/api/v1/files/${listed.id}`, { as: org })).body.data))
  })

  test('the path has the innermost 20 folders of a deeper one', async () => {
    const other = await app.createOrg()
    let id: string | undefined
    for (let level = 1; level <= 22; level += 1) id = (await createFolder(app, other, `level ${level}`, id)).id
    await upload(app, other, 'x', { name: 'needle.txt', parentId: id as string })
    const { items } = await list(other, '?search=needle&recursive=true')
    assert.deepEqual(
      items[0].path,
      Array.from({ length: 20 }, (_, index) => `level ${index + 3}`),
    )
  })
})

describe('search', async () => {
  const org = await app.createOrg()
  const outer = await createFolder(app, org, 'Reports')
  const inner = await createFolder(app, org, 'Quarterly reports', outer.id)
  await createFolder(app, org, 'Empty')
  await upload(app, org, '1', { name: 'Annual REPORT.txt' })
  await upload(app, org, '2', { name: 'report 100%.txt', parentId: outer.id })
  await upload(app, org, '3', { name: 'report_final\\v2.txt', parentId: inner.id })
  await upload(app, org, '4', { name: 'Übersicht cafe\u0301 ΟΔΟΣ.txt', parentId: inner.id })
  await upload(app, org, '5', { name: '設計図.txt', parentId: inner.id })
  await create(app, org, { source: 'link', name: 'reporter', targetFileId: (await list(org)).items.at(-1).id })

  test('search finds any part of a name in the listed folder, ignoring case', async () => {
    assert.deepEqual(await search(org, 'report'), ['Annual REPORT.txt', 'Reports', 'reporter'])
    assert.deepEqual(await search(org, 'REPORT', `&parentId=${outer.id}`), ['Quarterly reports', 'report 100%.txt'])
    assert.deepEqual(await search(org, 'al rep'), ['Annual REPORT.txt'])
  })

  test('search finds the end of names that have more characters or bytes in lower case', async () => {
    const other = await app.createOrg()
    const names = [`${'İ'.repeat(200)}report`, `${'\u{1D160}'.repeat(200)}report`]
    for (const name of names) await createFolder(app, other, name)
    assert.deepEqual(await search(other, 'report'), names.toSorted())
    assert.deepEqual(await search(other, names[0] as string), names.slice(0, 1))
  })

  test('a recursive search finds files in all subfolders', async () => {
    const below = ['Quarterly reports', 'report 100%.txt', 'report_final\\v2.txt']
    assert.deepEqual(await search(org, 'report', `&recursive=true&parentId=${outer.id}`), below)
    assert.deepEqual(
      await search(org, 'report', '&recursive=true'),
      ['Annual REPORT.txt', 'Quarterly reports', 'Reports', ...below.slice(1), 'reporter'].toSorted(),
    )
    assert.deepEqual(await search(org, 'report', `&recursive=true&parentId=${inner.id}`), ['report_final\\v2.txt'])
  })

  for (const [text, found] of [
    ['r', ['report 100%.txt', 'report_final\\v2.txt', 'Übersicht cafe\u0301 ΟΔΟΣ.txt', 'Quarterly reports']],
    ['re', ['Quarterly reports', 'report 100%.txt', 'report_final\\v2.txt']],
    ['%', ['report 100%.txt']],
    ['0%', ['report 100%.txt']],
    ['_', ['report_final\\v2.txt']],
    ['t_f', ['report_final\\v2.txt']],
    ['\\', ['report_final\\v2.txt']],
    ['l\\v', ['report_final\\v2.txt']],
    ['%%%', []],
    ['übersicht', ['Übersicht cafe\u0301 ΟΔΟΣ.txt']],
    ['CAFÉ', ['Übersicht cafe\u0301 ΟΔΟΣ.txt']],
    ['οδος', ['Übersicht cafe\u0301 ΟΔΟΣ.txt']],
    ['οδοσ.', ['Übersicht cafe\u0301 ΟΔΟΣ.txt']],
    ['計', ['設計図.txt']],
    ['設計図', ['設計図.txt']],
    ["'; drop table files; --", []],
    ['.txt', ['report 100%.txt', 'report_final\\v2.txt', 'Übersicht cafe\u0301 ΟΔΟΣ.txt', '設計図.txt']],
  ] as const) {
    test(`search treats ${text} as literal text`, async () => {
      assert.deepEqual(await search(org, text, `&recursive=true&parentId=${outer.id}`), [...found].toSorted())
    })
  }

  test('search results are ordered, counted and paged like a list', async () => {
    const many = await app.createOrg()
    const folder = await createFolder(app, many, 'common folder')
    const names = Array.from({ length: 40 }, (_, index) => `common ${String(index).padStart(2, '0')}`)
    await addRows(many, names, folder.id)
    await addRows(many, ['other'], folder.id)
    for (const [text, whole] of [
      ['common', ['common folder', ...names]],
      ['co', ['common folder', ...names]],
    ] as const) {
      const first = await list(many, `?search=${text}&recursive=true&limit=7`)
      assert.deepEqual([first.total, first.hasMore], [41, true])
      assert.deepEqual(await walk(many, `?search=${text}&recursive=true&limit=7`), whole)
      const third = await list(many, `?search=${text}&recursive=true&limit=7&page=3`)
      assert.deepEqual(namesOf(third), whole.slice(14, 21))
      const beyond = await list(many, `?search=${text}&recursive=true&page=9`)
      assert.deepEqual([beyond.items, beyond.total, beyond.hasMore], [[], 41, false])
    }
  })

  test('a search that matches most names is as exact as one that matches few, in the org, a folder and its subfolders', async () => {
    const org = await app.createOrg()
    const outer = await createFolder(app, org, 'outer')
    const inner = await createFolder(app, org, 'inner', outer.id)
    const names = Array.from({ length: 20_050 }, (_, index) => `number ${String(index).padStart(5, '0')}`)
    await addRows(org, names, inner.id)
    await addRows(org, ['number one', 'number two'], outer.id)
    await addRows(org, ['number outside'])
    for (const [query, total, first] of [
      ['&recursive=true', 20_053, 'number 00000'],
      [`&recursive=true&parentId=${outer.id}`, 20_052, 'number 00000'],
      [`&parentId=${outer.id}`, 2, 'number one'],
      [`&parentId=${inner.id}`, 20_050, 'number 00000'],
      ['', 1, 'number outside'],
    ] as const) {
      const page = await list(org, `?search=NUMBER&limit=1${query}`)
      assert.deepEqual([page.total, page.items[0].name], [total, first], query)
    }
    const last = await list(org, `?search=number&recursive=true&limit=100&page=201&parentId=${inner.id}`)
    assert.deepEqual(namesOf(last), names.slice(20_000))
    const selective = await list(org, `?search=20%2C049&recursive=true`)
    assert.equal(selective.total, 0)
    assert.deepEqual(namesOf(await list(org, `?search=20049&parentId=${inner.id}`)), ['number 20049'])
  })

  test('search never returns files of another org or deleted files', async () => {
    await upload(app, stranger, 'x', { name: 'report of a stranger' })
    const deleted = await upload(app, org, 'x', { name: 'report deleted' })
    await app.call('DELETE', `/api/v1/files/${deleted.id}`, { as: org })
    const found = await search(org, 'report', '&recursive=true&limit=100')
    assert.ok(!found.includes('report of a stranger') && !found.includes('report deleted'))
  })

  test('recursive has no effect without search', async () => {
    assert.deepEqual(await list(org, '?recursive=true'), await list(org))
  })
})

describe('large folders', () => {
  test('the first and last page of a large folder are read from the index without sorting', async () => {
    const org = await app.createOrg()
    const folder = await createFolder(app, org, 'large')
    await addRows(
      org,
      Array.from({ length: 3_000 }, (_, index) => `file ${index}`),
      folder.id,
    )
    await app.db.execute(sql`analyze files`)
    const plan = await app.db.rows<Record<string, string>>(sql`
      explain select id from files
      where org_id = ${org.orgId} and container_id = ${folder.id} and deleted_at is null
        and (listing_rank, name_key, id) > (1::smallint, 'file 2', ${newId()}::uuid)
      order by listing_rank, name_key, id limit 51`)
    const text = plan.map((row) => Object.values(row)[0]).join('\n')
    assert.match(text, /Index Only Scan using files_listing/)
    assert.doesNotMatch(text, /Sort|Seq Scan/)
    // Each order of files has its index, forwards and backwards.
    for (const [sort, index, value] of [
      ['name', 'files_listing', null],
      ['size', 'files_by_bytes', 5],
      ['mimeType', 'files_by_type', 'text/plain'],
      ['updatedAt', 'files_by_change', '2026-01-01 00:00:00Z'],
    ] as const)
      for (const order of ['asc', 'desc'] as const) {
        const segment = orderOf(sort, order).at(sort === 'mimeType' ? 1 : -1) as ReturnType<typeof orderOf>[0]
        const after = { segment: 1, value, nameKey: 'file 2', id: newId() }
        const sorted = await app.db.rows<Record<string, string>>(sql`
          explain select f.id from files f
          where f.org_id = ${org.orgId} and f.container_id = ${folder.id} and f.deleted_at is null ${inSegment(segment, after)}
          order by ${orderInSegment(segment)} limit 51`)
        const steps = sorted.map((row) => Object.values(row)[0]).join('\n')
        assert.match(steps, new RegExp(`Index Only Scan (Backward )?using ${index}`), `${sort} ${order}`)
        assert.doesNotMatch(steps, /Sort|Seq Scan/)
      }
  })
})
