import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { countsAreExact, create, createFolder, upload } from '../../../test/support/files.ts'
import { startTestApp } from '../../../test/harness.ts'
import { waitingForLocks } from '../../../test/support/database/distributed.ts'
import { until } from '../../../test/support/until.ts'
import type { Answer, TestActor } from '../../../test/harness.ts'
import { sql } from '../../platform/database/database.ts'
import { newId } from '../../platform/ids.ts'

const app = await startTestApp()
const owner = await app.createOrg()
const stranger = await app.createOrg()

const get = (id: string) => app.call('GET', `/api/v1/files/${id}`, { as: owner })
const patch = (id: string, json: unknown, headers: Record<string, string> = {}, as: TestActor = owner) =>
  app.call('PATCH', `/api/v1/files/${id}`, { as, json, headers })
const remove = (id: string, headers: Record<string, string> = {}) =>
  app.call('DELETE', `/api/v1/files/${id}`, { as: owner, headers })
const folder = (name: string, parentId?: string) => createFolder(app, owner, name, parentId)
const childrenOf = async (parentId: string): Promise<string[]> => {
  const { body } = await app.call('GET', `/api/v1/files?parentId=${parentId}&limit=100`, { as: owner })
  return body.data.items.map(({ id }: { id: string }) => id)
}
const codeOf = ({ status, body }: Answer): string => body.error?.code ?? String(status)

/** Live rows whose parent is not a live folder, and folders that lie below themselves. */
const brokenRows = (orgId: string) =>
  app.db.rows(sql`
    with recursive reachable (id) as (
      select id from files where org_id = ${orgId} and parent_id is null and deleted_at is null
      union all
      select f.id from reachable r join files f on f.org_id = ${orgId} and f.parent_id = r.id and f.deleted_at is null
    )
    select id from files where org_id = ${orgId} and deleted_at is null and id not in (select id from reachable)`)

/** A chain of folders, each inside the one before, written straight into the table. */
const chain = async (length: number): Promise<string[]> => {
  const ids = Array.from({ length }, newId)
  let parent: string | null = null
  for (const id of ids) {
    await app.db.execute(sql`
      insert into files (org_id, id, source, parent_id, name, name_key, created_by)
      values (${owner.orgId}, ${id}, 'folder', ${parent}, 'f', 'f', ${owner.userId})`)
    await app.db.execute(sql`
      insert into folder_counts (org_id, folder_id, slot, children)
      values (${owner.orgId}, ${parent ?? owner.orgId}, 0, 1)
      on conflict (org_id, folder_id, slot) do update set children = folder_counts.children + 1`)
    await app.db.execute(sql`
      insert into org_file_usage (org_id, slot, files, stored_bytes) values (${owner.orgId}, 0, 1, 0)
      on conflict (org_id, slot) do update set files = org_file_usage.files + 1`)
    parent = id
  }
  return ids
}

describe('PATCH /files/:id', () => {
  test('PATCH renames, retags and moves a file and returns the record', async () => {
    const target = await folder('target')
    const file = await upload(app, owner, 'x')
    const renamed = await patch(file.id, { name: '../new name.txt' })
    assert.equal(renamed.status, 200)
    assert.equal(renamed.body.data.name, '../new name.txt')
    assert.ok(renamed.body.data.updatedAt >= file.updatedAt)
    const tagged = await patch(file.id, { tags: [' b ', 'a', 'b', '日本'] })
    assert.deepEqual(tagged.body.data.tags, ['b', 'a', '日本'])
    const moved = await patch(file.id, { parentId: target.id, name: 'again' })
    assert.deepEqual([moved.body.data.parentId, moved.body.data.name], [target.id, 'again'])
    assert.deepEqual(moved.body.data.tags, ['b', 'a', '日本'])
    assert.deepEqual(await childrenOf(target.id), [file.id])
    const back = await patch(file.id, { parentId: null })
    assert.equal(back.body.data.parentId, null)
    assert.deepEqual(await childrenOf(target.id), [])
    assert.deepEqual((await get(file.id)).body.data, back.body.data)
    await countsAreExact(app, owner.orgId)
  })

  test('every change has its own ETag, and a change with another If-Match is CONFLICT and changes nothing', async () => {
    const file = await upload(app, owner, 'x')
    const first = (await get(file.id)).headers.get('etag') ?? ''
    const changed = await patch(file.id, { name: 'b' }, { 'if-match': first })
    assert.equal(changed.status, 200)
    assert.notEqual(changed.headers.get('etag'), first)
    for (const tag of [first, `W/${changed.headers.get('etag')}`, '"x"']) {
      assert.equal(codeOf(await patch(file.id, { name: 'c' }, { 'if-match': tag })), 'CONFLICT')
      assert.equal(codeOf(await remove(file.id, { 'if-match': tag })), 'CONFLICT')
    }
    assert.equal((await get(file.id)).body.data.name, 'b')
    assert.equal((await patch(file.id, { name: 'c' }, { 'if-match': '*' })).status, 200)
  })

  test('of two changes with the same If-Match one wins', async () => {
    const file = await upload(app, owner, 'x')
    const etag = (await get(file.id)).headers.get('etag') ?? ''
    const responses = await Promise.all(
      Array.from({ length: 8 }, (_, index) => patch(file.id, { name: `n${index}` }, { 'if-match': etag })),
    )
    assert.equal(responses.filter(({ status }) => status === 200).length, 1)
    assert.equal(responses.filter((response) => codeOf(response) === 'CONFLICT').length, 7)
  })

  const rejected: [string, unknown][] = [
    ['nothing', {}],
    ['only unknown fields', { size: 1, mimeType: 'text/html' }],
    ['a list', []],
    ['an empty name', { name: '' }],
    ['a name of 256 characters', { name: '𝒳'.repeat(256) }],
    ['LF in a name', { name: 'a\nb' }],
    ['a name that is null', { name: null }],
    ['a malformed parentId', { parentId: 'x' }],
    ['an empty parentId', { parentId: '' }],
    ['a missing parent', { parentId: newId() }],
    ['tags that are not a list', { tags: 'a' }],
    ['a tag that is a number', { tags: [1] }],
    ['an empty tag', { tags: ['a', ' '] }],
    ['a tag of 65 characters', { tags: ['𝒳'.repeat(65)] }],
    ['51 tags', { tags: Array.from({ length: 51 }, (_, index) => `t${index}`) }],
  ]
  for (const [what, json] of rejected) {
    test(`PATCH rejects ${what} and changes nothing`, async () => {
      const file = await upload(app, owner, 'x')
      assert.equal(codeOf(await patch(file.id, json)), 'BAD_REQUEST')
      assert.deepEqual((await get(file.id)).body.data, file)
    })
  }

  test('a file can have 50 tags of 64 characters, and duplicates do not count', async () => {
    const file = await upload(app, owner, 'x')
    const tags = Array.from({ length: 50 }, (_, index) => String(index).padStart(2, '0') + '𝒳'.repeat(62))
    assert.deepEqual((await patch(file.id, { tags })).body.data.tags, tags)
    assert.deepEqual((await patch(file.id, { tags: [...tags, ` ${tags[0]} `] })).body.data.tags, tags)
    assert.deepEqual((await patch(file.id, { tags: [] })).body.data.tags, [])
  })

  test('PATCH rejects a parent that is a file, a link, deleted, foreign or missing with the same message', async () => {
    const file = await upload(app, owner, 'x')
    const other = await upload(app, owner, 'y')
    const link = (await create(app, owner, { source: 'link', targetFileId: other.id })).file
    const deleted = await folder('deleted')
    await remove(deleted.id)
    const foreign = await createFolder(app, stranger, 'foreign')
    const texts = new Set<string>()
    for (const parentId of [other.id, link.id, deleted.id, foreign.id, newId()]) {
      const response = await patch(file.id, { parentId })
      assert.equal(codeOf(response), 'BAD_REQUEST')
      texts.add(response.text)
    }
    assert.equal(texts.size, 1)
  })

  test('changing a file requires files:write', async () => {
    const file = await upload(app, owner, 'x')
    const reader = await app.createUser(owner, 'member', { scopes: ['files:read'] })
    assert.equal(codeOf(await patch(file.id, { name: 'b' }, {}, reader)), 'FORBIDDEN')
    assert.equal(codeOf(await app.call('DELETE', `/api/v1/files/${file.id}`, { as: reader })), 'FORBIDDEN')
  })
})

describe('folders', () => {
  test('a folder cannot be moved into itself or a folder below it', async () => {
    const top = await folder('top')
    const middle = await folder('middle', top.id)
    const bottom = await folder('bottom', middle.id)
    for (const parentId of [top.id, middle.id, bottom.id]) {
      assert.equal(codeOf(await patch(top.id, { parentId })), 'BAD_REQUEST')
    }
    assert.equal((await get(top.id)).body.data.parentId, null)
    assert.equal((await patch(bottom.id, { parentId: null })).status, 200)
    assert.equal((await patch(top.id, { parentId: bottom.id })).status, 200)
    assert.deepEqual(await brokenRows(owner.orgId), [])
  })

  test('a folder moves with its contents', async () => {
    const from = await folder('from')
    const to = await folder('to')
    const moved = await folder('moved', from.id)
    const file = await upload(app, owner, 'x', { parentId: moved.id })
    await patch(moved.id, { parentId: to.id })
    assert.deepEqual(await childrenOf(from.id), [])
    assert.deepEqual(await childrenOf(to.id), [moved.id])
    assert.deepEqual(await childrenOf(moved.id), [file.id])
  })

  test('folders nest at most 100 levels deep, by creation and by moving', async () => {
    const ids = await chain(99)
    const last = ids.at(-1) as string
    const hundredth = await folder('hundredth', last)
    const create = (parentId: string) =>
      app.call('POST', '/api/v1/files', { as: owner, json: { source: 'folder', name: 'x', parentId } })
    assert.equal(codeOf(await create(hundredth.id)), 'BAD_REQUEST')
    await upload(app, owner, 'files may lie in it', { parentId: hundredth.id })
    const pair = await folder('outer')
    await folder('inner', pair.id)
    assert.equal(codeOf(await patch(pair.id, { parentId: last })), 'BAD_REQUEST')
    assert.equal((await patch(pair.id, { parentId: ids.at(-2) as string })).status, 200)
  })

  test('deleting a folder deletes its contents from every list, search and download', async () => {
    const top = await folder('doomed')
    const inner = await folder('doomed inner', top.id)
    const files = [
      await upload(app, owner, 'a', { name: 'doomed a', parentId: top.id }),
      await upload(app, owner, 'b', { name: 'doomed b', parentId: inner.id }),
      (await create(app, owner, { name: 'doomed c', mimeType: 'text/plain', size: 1, parentId: inner.id })).file,
    ]
    const outside = await upload(app, owner, 'c', { name: 'doomed but outside' })
    const { status, body } = await remove(top.id)
    assert.deepEqual([status, body], [200, { success: true, data: { deleted: true } }])
    for (const { id } of [top, inner, ...files]) assert.equal(codeOf(await get(id)), 'NOT_FOUND')
    const found = await app.call('GET', '/api/v1/files?search=doomed&recursive=true', { as: owner })
    assert.deepEqual(
      found.body.data.items.map(({ id }: { id: string }) => id),
      [outside.id],
    )
    assert.equal(codeOf(await app.call('GET', `/api/v1/files?parentId=${inner.id}`, { as: owner })), 'BAD_REQUEST')
    assert.equal(codeOf(await remove(top.id)), 'NOT_FOUND')
    await countsAreExact(app, owner.orgId)
  })
})

describe('the audit log', () => {
  test('the audit log records moved and deleted folders, deleted files, and created and deleted projects', async () => {
    const org = await app.createOrg()
    const call = (method: string, path: string, json?: unknown) =>
      app.call(method, `/api/v1${path}`, { as: org, ...(json === undefined ? {} : { json }) })
    const [a, b] = [await createFolder(app, org, 'a'), await createFolder(app, org, 'b')]
    const file = await upload(app, org, 'x', { name: 'f', parentId: b.id })
    await upload(app, org, 'y', { parentId: b.id })
    const project = (await call('POST', '/projects', { name: 'p' })).body.data
    await call('PATCH', `/files/${b.id}`, { parentId: a.id })
    await call('PATCH', `/files/${b.id}`, { name: 'renamed' })
    await call('DELETE', `/files/${file.id}`)
    await call('DELETE', `/files/${a.id}`)
    await call('DELETE', `/projects/${project.id}`)
    const { body } = await call('GET', '/audit-log')
    const entries = body.data.items.map(({ action, resource, details }: Record<string, unknown>) => [
      action,
      (resource as { id: string }).id,
      details,
    ])
    assert.deepEqual(entries.toReversed(), [
      ['project.created', project.id, { name: 'p', slug: 'p' }],
      ['folder.moved', b.id, { name: 'b', from: null, to: a.id }],
      ['file.deleted', file.id, { name: 'f', deleted: 1 }],
      ['folder.deleted', a.id, { name: 'a', deleted: 3 }],
      ['project.deleted', project.id, { name: 'p', files: 1 }],
    ])
  })
})

describe('concurrent changes', () => {
  test('two folders that are moved into each other at the same time never form a cycle', async () => {
    for (let round = 0; round < 15; round += 1) {
      const [a, b] = [await folder('a'), await folder('b')]
      const responses = await Promise.all([patch(a.id, { parentId: b.id }), patch(b.id, { parentId: a.id })])
      assert.deepEqual(new Set(responses.map(codeOf)), new Set(['200', 'BAD_REQUEST']))
    }
    assert.deepEqual(await brokenRows(owner.orgId), [])
  })

  test('a folder that is created inside a moving folder counts towards the depth limit of the move', async () => {
    const last = (await chain(99)).at(-1) as string
    const moved = await folder('moved')
    const stopped = Promise.withResolvers<void>()
    const release = Promise.withResolvers<void>()
    // Stops the creation after its depth check: the first child of a folder inserts the row that counts the children.
    const holding = app.db.transaction('all orgs', async (db) => {
      await db.execute(sql`
        insert into folder_counts (org_id, folder_id, slot, children)
        select ${owner.orgId}, ${moved.id}, slot, 0 from generate_series(0, 15) as slot`)
      stopped.resolve()
      await release.promise
    })
    await stopped.promise
    const waiting = async (count: number): Promise<boolean> => (await waitingForLocks(app.db)) === count
    const creating = app.call('POST', '/api/v1/files', {
      as: owner,
      json: { source: 'folder', name: 'inner', parentId: moved.id },
    })
    await until('the creation waits', () => waiting(1))
    let isMoveOver = false
    const moving = patch(moved.id, { parentId: last }).finally(() => {
      isMoveOver = true
    })
    await until('the move waits, or is over', async () => isMoveOver || (await waiting(2)))
    release.resolve()
    await holding
    assert.deepEqual([codeOf(await creating), codeOf(await moving)], ['201', 'BAD_REQUEST'])
  })

  test('three folders that are moved into one another at the same time never form a cycle', async () => {
    for (let round = 0; round < 8; round += 1) {
      const [a, b, c] = [await folder('a'), await folder('b'), await folder('c')]
      const responses = await Promise.all([
        patch(a.id, { parentId: b.id }),
        patch(b.id, { parentId: c.id }),
        patch(c.id, { parentId: a.id }),
      ])
      assert.equal(responses.filter((response) => codeOf(response) === 'BAD_REQUEST').length, 1)
    }
    assert.deepEqual(await brokenRows(owner.orgId), [])
  })

  test('nothing that is added to a folder while it is deleted survives as an orphan', async () => {
    for (let round = 0; round < 12; round += 1) {
      const top = await folder('top')
      const inner = await folder('inner', top.id)
      const loose = await upload(app, owner, 'loose')
      const responses = await Promise.all([
        upload(app, owner, `f${round}`, { parentId: inner.id }).then(
          () => '201',
          () => 'rejected',
        ),
        app
          .call('POST', '/api/v1/files', { as: owner, json: { source: 'folder', name: 'n', parentId: inner.id } })
          .then(codeOf),
        app
          .call('POST', '/api/v1/files', {
            as: owner,
            json: { name: 'n', mimeType: 'text/plain', size: 1, parentId: inner.id },
          })
          .then(codeOf),
        patch(loose.id, { parentId: inner.id }).then(codeOf),
        remove(top.id).then(codeOf),
      ])
      assert.equal(responses.at(-1), '200')
      const allowed = new Set(['201', '200', 'rejected', 'BAD_REQUEST'])
      assert.ok(
        responses.every((response) => allowed.has(response)),
        responses.join(' '),
      )
    }
    assert.deepEqual(await brokenRows(owner.orgId), [])
    await countsAreExact(app, owner.orgId)
  })

  test('a folder that moves while its parent or its target is deleted ends up complete or deleted', async () => {
    for (let round = 0; round < 12; round += 1) {
      const [from, to] = [await folder('from'), await folder('to')]
      const moving = await folder('moving', from.id)
      const inside = await upload(app, owner, 'inside', { parentId: moving.id })
      const [moved, deleted] = await Promise.all([
        patch(moving.id, { parentId: to.id }),
        remove(round % 2 === 0 ? from.id : to.id),
      ])
      assert.equal(codeOf(deleted), '200')
      assert.ok(['200', 'NOT_FOUND', 'BAD_REQUEST'].includes(codeOf(moved)), codeOf(moved))
      assert.equal((await get(inside.id)).status, (await get(moving.id)).status)
    }
    assert.deepEqual(await brokenRows(owner.orgId), [])
    await countsAreExact(app, owner.orgId)
  })

  test('a folder that moves inside a tree that is deleted is deleted with it or was moved out before', async () => {
    const { body } = await app.call('POST', '/api/v1/projects', { as: owner, json: { name: 'p' } })
    for (let round = 0; round < 12; round += 1) {
      const top = await folder('top', round % 2 === 0 ? undefined : body.data.folderId)
      const [a, b] = [await folder('a', top.id), await folder('b', top.id)]
      const moving = await folder('moving', a.id)
      const deep = await folder('deep', moving.id)
      const [, , , ...responses] = await Promise.all([
        patch(moving.id, { parentId: b.id }),
        patch(b.id, { parentId: a.id }),
        patch(deep.id, { parentId: null }),
        remove(top.id),
        remove(moving.id),
      ])
      assert.ok(responses.every((response) => ['200', 'NOT_FOUND'].includes(codeOf(response))))
      for (const { id } of [top, a, b, moving]) assert.equal((await get(id)).status, 404)
    }
    assert.deepEqual(await brokenRows(owner.orgId), [])
    await countsAreExact(app, owner.orgId)
  })

  test('a folder and its subfolders that are deleted at the same time are all deleted', async () => {
    for (let round = 0; round < 8; round += 1) {
      const top = await folder('top')
      const middle = await folder('middle', top.id)
      const bottom = await folder('bottom', middle.id)
      const file = await upload(app, owner, 'x', { parentId: bottom.id })
      const responses = await Promise.all([bottom, top, middle, top].map(({ id }) => remove(id)))
      assert.ok(responses.every((response) => ['200', 'NOT_FOUND'].includes(codeOf(response))))
      for (const { id } of [top, middle, bottom, file]) assert.equal((await get(id)).status, 404)
    }
    await countsAreExact(app, owner.orgId)
  })

  test('files that move back and forth between two folders never deadlock', async () => {
    const [a, b] = [await folder('a'), await folder('b')]
    const files = await Promise.all(
      Array.from({ length: 6 }, (_, i) => upload(app, owner, `m${i}`, { parentId: a.id })),
    )
    const responses = await Promise.all(
      Array.from({ length: 10 }, (_, round) =>
        files.map(({ id }, index) => patch(id, { parentId: (round + index) % 2 === 0 ? a.id : b.id })),
      ).flat(),
    )
    assert.ok(responses.every(({ status }) => status === 200))
    assert.equal((await childrenOf(a.id)).length + (await childrenOf(b.id)).length, 6)
    await countsAreExact(app, owner.orgId)
  })
})

describe('random sequences of changes to a tree', () => {
  type Step = { kind: 'folder' | 'file' | 'move' | 'delete' | 'rename'; on: number; to: number }
  const step: fc.Arbitrary<Step> = fc.record({
    kind: fc.constantFrom('folder', 'folder', 'file', 'move', 'move', 'delete', 'rename'),
    on: fc.nat(9),
    to: fc.nat(9),
  })

  test('random sequences of changes have the results of an in-memory model, and every folder lists what the model has', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
        const org = await app.createOrg()
        const nodes: { id: string; parent: string | null; isFolder: boolean }[] = []
        const call = (method: string, path: string, json?: unknown) =>
          app.call(method, `/api/v1/files${path}`, { as: org, ...(json === undefined ? {} : { json }) })
        const isInside = (id: string | null, top: string): boolean => {
          for (let at = id; at !== null; at = nodes.find((node) => node.id === at)?.parent ?? null) {
            if (at === top) return true
          }
          return false
        }
        for (const { kind, on, to } of steps) {
          const node = nodes[on % Math.max(nodes.length, 1)]
          const target = [undefined, ...nodes][to % (nodes.length + 1)]
          if (kind === 'folder' || kind === 'file') {
            const json = kind === 'folder' ? { source: kind } : { mimeType: 'text/plain', size: 0 }
            const response = await call('POST', '', { ...json, name: `n${nodes.length}`, parentId: target?.id ?? null })
            assert.equal(response.status, target === undefined || target.isFolder ? 201 : 400)
            if (response.status === 201) {
              nodes.push({ id: response.body.data.file.id, parent: target?.id ?? null, isFolder: kind === 'folder' })
            }
          } else if (node && kind === 'move') {
            const may = (target === undefined || target.isFolder) && !isInside(target?.id ?? null, node.id)
            const response = await call('PATCH', `/${node.id}`, { parentId: target?.id ?? null })
            assert.equal(response.status, may ? 200 : 400)
            if (may) node.parent = target?.id ?? null
          } else if (node && kind === 'rename') {
            assert.equal((await call('PATCH', `/${node.id}`, { name: `r${to}` })).status, 200)
          } else if (node && kind === 'delete') {
            const deleted = new Set(nodes.filter(({ id }) => isInside(id, node.id)).map(({ id }) => id))
            assert.equal((await call('DELETE', `/${node.id}`)).status, 200)
            for (const id of deleted)
              nodes.splice(
                nodes.findIndex((one) => one.id === id),
                1,
              )
          }
        }
        for (const parent of [null, ...nodes.filter(({ isFolder }) => isFolder).map(({ id }) => id)]) {
          const { body } = await call('GET', parent === null ? '' : `?parentId=${parent}`)
          const expected = nodes.filter((node) => node.parent === parent).map(({ id }) => id)
          assert.equal(body.data.total, expected.length)
          assert.deepEqual(new Set(body.data.items.map(({ id }: { id: string }) => id)), new Set(expected))
        }
        await countsAreExact(app, org.orgId)
      }),
      { numRuns: 12 },
    )
  })
})
