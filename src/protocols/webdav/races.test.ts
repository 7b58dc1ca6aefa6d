import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sql } from '../../platform/database/database.ts'
import type { Transaction } from '../../platform/database/database.ts'
import { startTestApp } from '../../../test/harness.ts'
import type { CallOptions, TestActor } from '../../../test/harness.ts'
import { waitingForLocks } from '../../../test/support/database/distributed.ts'
import { createFolder, upload } from '../../../test/support/files.ts'
import { until } from '../../../test/support/until.ts'

// Without a worker, so that nothing else waits for locks.
const app = await startTestApp({}, { work: false })
const api = '/api/v1'

const dav = (method: string, path: string, as: TestActor, options: CallOptions = {}) =>
  app.call(method, `/dav/${path}`, { as, ...options })
const destination = (path: string) => ({ headers: { destination: `${app.url}/dav/${path}` } })
const textOf = async (as: TestActor, path: string): Promise<string> => {
  const { status, text } = await dav('GET', path, as)
  assert.equal(status, 200, text)
  return text
}

/** Keeps a transaction of another request open, whose locks `count` others wait for, and commits it, or rolls it back. */
const whileOpen = async <T>(
  change: (db: Transaction) => Promise<unknown>,
  { count, isCommitted, start }: { count: number; isCommitted: boolean; start: () => Promise<T> },
  meanwhile: () => Promise<void> = async () => undefined,
): Promise<T> => {
  const changed = Promise.withResolvers<void>()
  const gate = Promise.withResolvers<void>()
  const open = app.db.transaction('all orgs', async (db) => {
    await change(db)
    changed.resolve()
    await gate.promise
    if (!isCommitted) throw new Error('rolled back')
  })
  await changed.promise
  const started = start()
  await until('the requests wait', async () => (await waitingForLocks(app.db)) >= count)
  await meanwhile()
  gate.resolve()
  await open.catch((error: unknown) => assert.equal(isCommitted, false, String(error)))
  return started
}

describe('concurrent requests', () => {
  const etagOf = async (as: TestActor, path: string): Promise<string> => {
    const { text } = await dav('PROPFIND', path, as, { headers: { depth: '0' } })
    return /<D:getetag>(.*?)<\/D:getetag>/.exec(text)?.[1]?.replaceAll('&quot;', '"') ?? ''
  }

  test('the first two PROPPATCH of a file keep both properties', async () => {
    const owner = await app.createOrg()
    const file = await upload(app, owner, 'a', { name: 'a.txt' })
    const body = (name: string) =>
      `<d:propertyupdate xmlns:d="DAV:"><d:set><d:prop><x:${name} xmlns:x="urn:x">1</x:${name}></d:prop></d:set></d:propertyupdate>`
    const answers = await whileOpen(
      (db) =>
        db.execute(sql`
          insert into webdav_properties (org_id, file_id, properties) values (${owner.orgId}, ${file.id}, '[]')`),
      {
        count: 2,
        isCommitted: false,
        start: () => Promise.all(['one', 'two'].map((name) => dav('PROPPATCH', 'a.txt', owner, { body: body(name) }))),
      },
    )
    assert.deepEqual(
      answers.map(({ status }) => status),
      [207, 207],
    )
    const { text } = await dav('PROPFIND', 'a.txt', owner, { headers: { depth: '0' } })
    assert.match(text, /:one /)
    assert.match(text, /:two /)
  })

  for (const method of ['MOVE', 'COPY']) {
    test(`${method} onto a file that is being renamed does not overwrite it under its new name`, async () => {
      const owner = await app.createOrg()
      await upload(app, owner, 'source', { name: 'a.txt' })
      const b = await upload(app, owner, 'important', { name: 'b.txt' })
      const { status, text } = await whileOpen(
        (db) =>
          db.execute(sql`
            update files set name = 'c.txt', name_key = 'c.txt', revision = revision + 1
            where org_id = ${owner.orgId} and id = ${b.id}`),
        { count: 1, isCommitted: true, start: () => dav(method, 'a.txt', owner, destination('b.txt')) },
      )
      assert.equal(status, 409, text)
      assert.equal(await textOf(owner, 'c.txt'), 'important')
      assert.equal(await textOf(owner, 'a.txt'), 'source')
    })
  }

  test('MOVE of a file that gets other bytes meanwhile does not move them', async () => {
    const owner = await app.createOrg()
    const a = await upload(app, owner, 'old', { name: 'a.txt' })
    const { status, text } = await whileOpen(
      (db) => db.execute(sql`update files set revision = revision + 1 where org_id = ${owner.orgId} and id = ${a.id}`),
      { count: 1, isCommitted: true, start: () => dav('MOVE', 'a.txt', owner, destination('b.txt')) },
    )
    assert.equal(status, 409, text)
    assert.equal(await textOf(owner, 'a.txt'), 'old')
    assert.equal((await dav('GET', 'b.txt', owner)).status, 404)
  })

  test('DELETE with If-Match deletes neither bytes that it does not name nor a file that has moved', async () => {
    const owner = await app.createOrg()
    const folder = await createFolder(app, owner, 'F')
    const a = await upload(app, owner, 'old', { name: 'a.txt' })
    const tag = await etagOf(owner, 'a.txt')
    const { status, text } = await whileOpen(
      (db) => db.execute(sql`select pg_advisory_xact_lock(hashtextextended('webdav locks ' || ${owner.orgId}, 0))`),
      { count: 1, isCommitted: true, start: () => dav('DELETE', 'a.txt', owner, { headers: { 'if-match': tag } }) },
      async () => {
        const content = { as: owner, body: 'new', headers: { 'content-type': 'text/plain' } }
        assert.equal((await app.call('PUT', `${api}/files/${a.id}/content`, content)).status, 200)
        const json = { parentId: folder.id, name: 'kept.txt' }
        assert.equal((await app.call('PATCH', `${api}/files/${a.id}`, { as: owner, json })).status, 200)
      },
    )
    assert.equal(status, 409, text)
    assert.equal(await textOf(owner, 'F/kept.txt'), 'new')
  })
})
