import assert from 'node:assert/strict'
import { releaseUnused } from '../../../src/files/blobs/blobs.ts'
import { sql } from '../../../src/platform/database/database.ts'
import { countsAreExact, guardsAreExact } from '../files.ts'
import type { History } from './history.ts'
import { call } from './history.ts'
import { contentOf, contentsOf, found, itemOf, reads, usageOf } from './model.ts'
import type { Item, Person } from './model.ts'

/** Whether a person sees exactly what the model has: in the search over everything, and in the trash. */
export const viewIsExact = async (history: History, person: Person): Promise<void> => {
  const { model } = history
  const { role } = person
  const everything = '?recursive=true&limit=100&updatedSince=2020-01-01T00:00:00Z'
  const listed = await call(history, person, 'GET', { path: everything })
  assert.equal(listed.status, 200, listed.text)
  const expected = model.items.filter((item) => found(model, person, item))
  const shown = (item: Item) => {
    const target = itemOf(model, item.targetId)
    const seesTarget = target && (role === 'owner' || reads(model, person, target))
    const { id, name, parentId, version, source } = item
    const targetFileId = seesTarget ? target.id : null
    const favorite = person.favorites.has(id)
    return { id, name, parentId, version, source, size: item.bytes.length, targetFileId, favorite }
  }
  type Listed = Omit<ReturnType<typeof shown>, 'favorite'> & { favorite?: boolean }
  const byId = (a: { id: string }, b: { id: string }): number => (a.id < b.id ? -1 : 1)
  assert.deepEqual(
    listed.body.data.items
      .map(({ id, name, parentId, version, source, size, targetFileId, favorite = false }: Listed) => {
        return { id, name, parentId, version, source, size, targetFileId, favorite }
      })
      .toSorted(byId),
    expected.map(shown).toSorted(byId).slice(0, 100),
    `what ${role} sees`,
  )
  const trash = await call(history, person, 'GET', { path: '?trashed=true&limit=100' })
  const trashed = model.items.filter(
    (item) => item.state === 'trashed' && item.trashedWith === item.id && reads(model, person, item),
  )
  const ids = (items: { id: string }[]): string[] => items.map(({ id }) => id).toSorted()
  assert.deepEqual(ids(trash.body.data.items), ids(trashed), `what ${role} sees in the trash`)
  assert.equal(trash.body.data.total, trashed.length)
}

/** Whether files, links and former versions have their bytes for those who see them, and are missing for others. */
export const bytesAreExact = async (history: History, person: Person): Promise<void> => {
  const { model } = history
  for (const item of model.items) {
    if (item.source === 'folder') continue
    const content = found(model, person, item) ? contentOf(model, person, item) : undefined
    const answer = await call(history, person, 'GET', { path: `/${item.id}?download=true&inline=true` })
    assert.equal(answer.status, content ? 200 : 404, answer.text)
    if (!content) continue
    assert.equal(answer.text, content.bytes)
    for (const [version, bytes] of item.versions) {
      const former = await call(history, person, 'GET', { path: `/${item.id}/versions/${version}/content` })
      assert.equal(former.text, bytes)
    }
  }
}

/** Whether the counters and guards equal those of the rows, and the sums those of the model. */
export const countsAreRight = async ({ app, model, orgId }: History): Promise<void> => {
  await countsAreExact(app, orgId)
  await guardsAreExact(app, orgId)
  const usage = await app.db.row<{ files: number; bytes: number }>(sql`
    select coalesce(sum(files), 0)::int as files, coalesce(sum(stored_bytes), 0)::int as bytes
    from org_file_usage where org_id = ${orgId}`)
  assert.deepEqual(usage, usageOf(model))
}

/** Whether exactly the bytes are stored that a file, a version or an open upload uses. */
export const storeIsExact = async ({ app, model, orgId }: History): Promise<void> => {
  const { db } = app
  const { objects } = app.deps
  await releaseUnused(db, objects, orgId)
  const blobs = await db.rows<{ key: string; hash: string | null; state: string }>(sql`
    select org_id || '/' || id as key, encode(sha256, 'hex') as hash, state from blobs where org_id = ${orgId}`)
  const parts = await db.rows<{ key: string }>(sql`
    select org_id || '/' || blob_id as key from upload_parts where org_id = ${orgId}`)
  assert.equal(blobs.filter(({ state }) => state === 'live').length, contentsOf(model).size)
  assert.deepEqual(
    blobs.flatMap(({ key, state }) => (state === 'live' ? [] : [key])).toSorted(),
    parts.map(({ key }) => key).toSorted(),
  )
  const stored: string[] = []
  for await (const { key } of objects.list(`${orgId}/`)) stored.push(key)
  assert.deepEqual(stored.toSorted(), blobs.map(({ key }) => key).toSorted())
}
