import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import { after, describe, test } from 'node:test'
import { startDirectStore } from '../../../test/fakes/direct-store.ts'
import { countsAreExact, create, createFolder, grantTo, restrict } from '../../../test/support/files.ts'
import { append, begun } from '../../../test/support/uploads/tus.ts'
import { startTestApp } from '../../../test/harness.ts'
import type { TestActor } from '../../../test/harness.ts'
import { until } from '../../../test/support/until.ts'
import { sql } from '../../platform/database/database.ts'
import { storeUnavailable } from '../../platform/object-store/object-store.ts'
import { noWakeups } from '../../platform/wake/wakeups.ts'
import { createUploadEnds } from './ended.ts'
import type { UploadEnds } from './ended.ts'
import { resumeEnding } from './ending.ts'

const app = await startTestApp()
const store = await startDirectStore(app.deps.objects)
after(() => store.stop())
// The worker of the first server verifies and ends uploads.
const objects = Object.assign(app.deps.objects, { direct: store.direct })
// It shares a database handle with the worker, so that it hears of ended verifications as in one process.
const ends = createUploadEnds(app.db, noWakeups)
let waits = 0
const uploadEnds: UploadEnds = {
  subscribe: (...given) => {
    const unsubscribe = ends.subscribe(...given)
    waits += 1
    return () => {
      waits -= 1
      unsubscribe?.()
    }
  },
}
const bucket = { S3_BUCKET: 'bucket', S3_DIRECT_UPLOADS: '1' }
const api = await app.secondServer(bucket, { replace: { objects, uploadEnds } })

const filesPath = '/api/v1/files'
const uploadOf = (id: string, rest = ''): string => `${filesPath}/${id}/upload${rest}`
const put = async (url: string, body: Buffer): Promise<number> =>
  (await fetch(url, { method: 'PUT', body: body as Uint8Array<ArrayBuffer> })).status

interface Sent {
  id: string
  uploadUrl: string
  content: Buffer
}

/** A pending file whose bytes have all arrived at the store. */
const sent = async (
  as: TestActor,
  more: { parentId?: string; projectId?: string; mimeType?: string } = {},
): Promise<Sent> => {
  const content = randomBytes(1_000)
  const json = { name: 'a.bin', mimeType: 'application/octet-stream', size: content.length, ...more }
  const { file, uploadUrl } = await create(api, as, json)
  assert.equal(await put(uploadUrl, content), 200)
  return { id: file.id, uploadUrl, content }
}
const succeeds = async (as: TestActor, method: string, path: string): Promise<void> => {
  const { status, text } = await api.call(method, path, { as })
  assert.ok(status >= 200 && status < 300, `${status} ${text}`)
}
const rowsOf = async ({ orgId }: TestActor) => {
  const uploads = await app.db.rows(sql`select state from direct_uploads where org_id = ${orgId}`)
  const blobs = await app.db.rows(sql`select state from blobs where org_id = ${orgId}`)
  return [...uploads, ...blobs]
}
const openOf = ({ orgId }: TestActor): string[] => store.open().filter((key) => key.startsWith(orgId))
const keysOf = async ({ orgId }: TestActor): Promise<string[]> => {
  const keys: string[] = []
  for await (const { key } of objects.list(`${orgId}/`)) keys.push(key)
  return keys
}
/** Asserts that nothing of the uploads of an org is left: no part, object or row. */
const hasEnded = async (as: TestActor, uploads: Sent[]): Promise<void> => {
  await app.settled()
  assert.deepEqual([openOf(as), await rowsOf(as), await keysOf(as)], [[], [], []])
  for (const { id, uploadUrl, content } of uploads) {
    assert.equal(await put(uploadUrl, content), 404)
    for (const [method, rest] of [
      ['GET', ''],
      ['POST', '/complete'],
    ] as const) {
      assert.equal((await api.call(method, uploadOf(id, rest), { as })).status, 404)
    }
  }
  await countsAreExact(app, as.orgId)
}

describe('the deletion of a pending file ends its direct upload', () => {
  for (const [title, query] of [
    ['when the file is deleted', ''],
    ['when the file is deleted without the trash', '?permanent=true'],
  ] as const) {
    test(`the store has no part of an upload ${title}`, async () => {
      const org = await app.createOrg()
      const upload = await sent(org)
      await succeeds(org, 'DELETE', `${filesPath}/${upload.id}${query}`)
      await hasEnded(org, [upload])
    })
  }

  test('the store has no part of an upload when a colleague deletes the file, or its folder over WebDAV', async () => {
    const org = await app.createOrg()
    const colleague = await app.createUser(org, 'member')
    const folder = await createFolder(app, org, 'folder')
    const [first, second] = [await sent(org), await sent(org, { parentId: folder.id })]
    await succeeds(colleague, 'DELETE', `${filesPath}/${first.id}`)
    await succeeds(colleague, 'DELETE', '/dav/folder')
    await hasEnded(org, [first, second])
  })

  for (const [title, query] of [
    ['into the trash', ''],
    ['for good', '?permanent=true'],
  ] as const) {
    test(`the store has no part of uploads whose folder above is deleted ${title}`, async () => {
      const org = await app.createOrg()
      const outer = await createFolder(app, org, 'outer')
      const inner = await createFolder(app, org, 'inner', outer.id)
      const uploads = [await sent(org, { parentId: outer.id }), await sent(org, { parentId: inner.id })]
      await succeeds(org, 'DELETE', `${filesPath}/${outer.id}${query}`)
      await hasEnded(org, uploads)
    })
  }

  test('the store has no part of an upload whose project is deleted', async () => {
    const org = await app.createOrg()
    const { status, body, text } = await app.call('POST', '/api/v1/projects', { as: org, json: { name: 'Project' } })
    assert.equal(status, 201, text)
    const { id } = body.data.project ?? body.data
    const upload = await sent(org, { projectId: id })
    await succeeds(org, 'DELETE', `/api/v1/projects/${id}`)
    await hasEnded(org, [upload])
  })

  test('uploads of other files and of other orgs stay open', async () => {
    const [org, other] = [await app.createOrg(), await app.createOrg()]
    const [deleted, kept, foreign] = [await sent(org), await sent(org), await sent(other)]
    await succeeds(org, 'DELETE', `${filesPath}/${deleted.id}`)
    await app.settled()
    assert.deepEqual([openOf(org).length, openOf(other).length], [1, 1])
    for (const [as, { id, uploadUrl, content }] of [
      [org, kept],
      [other, foreign],
    ] as const) {
      assert.equal(await put(uploadUrl, content), 200)
      await succeeds(as, 'DELETE', uploadOf(id))
    }
  })

  test('an upload that the store could not end is ended later, and counts as unfinished until then', async () => {
    const org = await app.createOrg()
    const upload = await sent(org)
    const { abort } = store.direct
    let attempts = 0
    store.direct.abort = () => {
      attempts += 1
      return Promise.reject(storeUnavailable('ECONNREFUSED'))
    }
    await succeeds(org, 'DELETE', `${filesPath}/${upload.id}`)
    await until('the store is asked', () => attempts > 0)
    assert.deepEqual(await rowsOf(org), [{ state: 'open' }, { state: 'part' }])
    store.direct.abort = abort
    // The job that failed for good is lost, too.
    await until('the attempt has ended', async () => {
      const removed = await app.db.execute(
        sql`delete from pgboss.job where name = 'files.end-uploads' and state = 'retry'`,
      )
      return removed > 0
    })
    await resumeEnding({ db: app.db, jobs: app.deps.jobs })
    await hasEnded(org, [upload])
  })
})

test('an upload from before S3_DIRECT_UPLOADS was switched off is ended by the hourly job', async () => {
  const org = await app.createOrg()
  const upload = await sent(org)
  const { status, text } = await app.call('DELETE', `${filesPath}/${upload.id}`, { as: org })
  assert.equal(status, 200, text)
  await app.settled()
  assert.deepEqual(await rowsOf(org), [{ state: 'open' }, { state: 'part' }])
  await resumeEnding({ db: app.db, jobs: app.deps.jobs })
  await hasEnded(org, [upload])
})

describe('a file that is deleted while its bytes are verified', () => {
  test('is not read again, and its object is deleted', async () => {
    const org = await app.createOrg()
    const upload = await sent(org)
    const { get } = objects
    let reads = 0
    objects.get = async (...given) => {
      reads += 1
      await succeeds(org, 'DELETE', `${filesPath}/${upload.id}`)
      return get.apply(objects, given)
    }
    await succeeds(org, 'POST', uploadOf(upload.id, '/complete'))
    await hasEnded(org, [upload])
    objects.get = get
    assert.equal(reads, 1)
    assert.deepEqual(
      app.logLines.filter((line) => line.includes('will be retried') && line.includes(upload.id)),
      [],
    )
  })

  test('leaves no object when the store makes it after the upload has ended', async () => {
    const org = await app.createOrg()
    const upload = await sent(org)
    const { complete } = store.direct
    store.direct.complete = async (key) => {
      await succeeds(org, 'DELETE', `${filesPath}/${upload.id}`)
      await until('the upload has ended', async () => (await rowsOf(org)).length === 0)
      await objects.put(key, Readable.from([upload.content]))
    }
    await succeeds(org, 'POST', uploadOf(upload.id, '/complete'))
    await hasEnded(org, [upload])
    store.direct.complete = complete
  })
})

describe('a request that waits for the verification of an upload', () => {
  /** An upload whose verification does not end before `release` is called. */
  const held = async (as: TestActor, mimeType?: string): Promise<Sent & { release: () => void }> => {
    const upload = await sent(as, mimeType === undefined ? {} : { mimeType })
    const { get } = objects
    const released = Promise.withResolvers<void>()
    objects.get = async (...given) => {
      await released.promise
      return get.apply(objects, given)
    }
    await succeeds(as, 'POST', uploadOf(upload.id, '/complete'))
    const release = (): void => {
      objects.get = get
      released.resolve()
    }
    return { ...upload, release }
  }
  const waiting = (id: string, seconds: number): string => uploadOf(id, `?waitSeconds=${seconds}`)

  test('gets the state when the upload is ready or has failed', async () => {
    const org = await app.createOrg()
    for (const [state, mimeType] of [
      ['ready', 'application/octet-stream'],
      ['failed', 'image/png'],
    ]) {
      const upload = await held(org, mimeType)
      const response = api.call('GET', waiting(upload.id, 25), { as: org })
      await until('the request waits', () => waits === 1)
      upload.release()
      const { body, text } = await response
      assert.equal(body.data.state, state, text)
      assert.equal(waits, 0)
    }
  })

  test('gets the state after its time, and at once for an upload that is open', async () => {
    const org = await app.createOrg()
    const { id } = await sent(org)
    const open = await api.call('GET', waiting(id, 25), { as: org })
    assert.equal(open.body.data.state, 'open')
    const upload = await held(org)
    const late = await api.call('GET', waiting(upload.id, 1), { as: org })
    assert.equal(late.body.data.state, 'verifying')
    upload.release()
    for (const seconds of [-1, 26, 1.5]) {
      const { status } = await api.call('GET', waiting(upload.id, seconds), { as: org })
      assert.equal(status, 400)
    }
  })

  test('ends when its key is revoked, when its client disconnects, and when the server stops', async () => {
    const org = await app.createOrg()
    const person = await app.createUser(org, 'member')
    const upload = await held(person)
    const path = waiting(upload.id, 25)

    const gone = new AbortController()
    const headers = { authorization: `Bearer ${person.key}` }
    const abandoned = assert.rejects(fetch(api.url + path, { headers, signal: gone.signal }))
    await until('the request waits', () => waits === 1)
    gone.abort()
    await abandoned
    await until('nothing waits', () => waits === 0)

    const third = await app.secondServer(bucket, { replace: { objects, uploadEnds } })
    const stopped = third.call('GET', path, { as: person })
    await until('the request waits', () => waits === 1)
    await third.app.close()
    assert.equal((await stopped).body.data.state, 'verifying')

    const cut = assert.rejects(api.call('GET', path, { as: person }))
    await until('the request waits', () => waits === 1)
    await succeeds(org, 'DELETE', `/api/v1/api-keys/${person.apiKeyId}`)
    await cut
    await until('nothing waits', () => waits === 0)
    upload.release()
  })

  test('is one of at most 50 of a person, and further ones get the state at once', () => {
    const mine = Array.from({ length: 50 }, () => ends.subscribe('file', 'person', () => undefined))
    assert.ok(mine.every((one) => one !== undefined))
    assert.equal(
      ends.subscribe('file', 'person', () => undefined),
      undefined,
    )
    const other = ends.subscribe('file', 'other', () => undefined)
    assert.ok(other)
    for (const unsubscribe of [...mine, other]) {
      unsubscribe()
      // A second call changes nothing.
      unsubscribe()
    }
    const again = ends.subscribe('file', 'person', () => undefined)
    assert.ok(again)
    again()
  })
})

test('a person can delete an upload of their own in a folder that they cannot see any more', async () => {
  const org = await app.createOrg()
  const person = await app.createUser(org, 'member')
  const folder = await createFolder(app, org, 'folder')
  for (const grants of [[grantTo(person, 'read')], []]) {
    await api.call('PUT', `${filesPath}/${folder.id}/access`, { as: org, json: { restricted: false } })
    const upload = await sent(person, { parentId: folder.id })
    await restrict(app, org, folder.id, grants)
    const completed = await api.call('POST', uploadOf(upload.id, '/complete'), { as: person })
    assert.equal(completed.status, grants.length > 0 ? 403 : 404, completed.text)
    await succeeds(person, 'DELETE', uploadOf(upload.id))
    await hasEnded(person, [upload])
  }
})

test('a resumable upload whose folder is deleted counts until it is deleted, and leaves no bytes', async () => {
  const org = await app.createOrg()
  const folder = await createFolder(app, org, 'folder')
  const metadata = { name: 'a.bin', type: 'application/octet-stream', parentId: folder.id }
  const path = await begun(app, org, { size: 1_000, metadata })
  await append(app, org, path, { offset: 0, body: randomBytes(500) })
  await succeeds(org, 'DELETE', `${filesPath}/${folder.id}?permanent=true`)
  await app.settled()
  await countsAreExact(app, org.orgId)
  assert.equal((await keysOf(org)).length, 1)
  const { items } = (await app.call('GET', '/api/v1/quotas', { as: org })).body.data
  assert.equal(items.find(({ name }: { name: string }) => name === 'storedBytes').used, 1_000)
  const deleted = await app.call('DELETE', path, { as: org, headers: { 'tus-resumable': '1.0.0' } })
  assert.equal(deleted.status, 204, deleted.text)
  await hasEnded(org, [])
})
