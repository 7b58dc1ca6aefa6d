// Kills API processes and workers with SIGKILL during uploads whose bytes clients send to the object store.
import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { after, mock, test } from 'node:test'
import { reconcile, removeUnfinished } from '../../src/files/blobs/reconciliation.ts'
import { removeExpired } from '../../src/files/direct/ending.ts'
import { registerVerification, resumeVerification } from '../../src/files/direct/verify.ts'
import { sql } from '../../src/platform/database/database.ts'
import { createJobs } from '../../src/platform/jobs/jobs.ts'
import { openObjectStore } from '../../src/platform/object-store/open.ts'
import { cephInstallHint, isCephInstalled, startBucket } from '../fakes/ceph.ts'
import { startTestApp } from '../harness.ts'
import type { TestActor } from '../harness.ts'
import { eventsOf, typesOf } from '../support/events.ts'
import { countsAreExact, create } from '../support/files.ts'
import { available } from '../support/require.ts'
import { until } from '../support/until.ts'
import type { FaultPoint, Options } from './direct-uploads-process.ts'

if (await available('s3', isCephInstalled, cephInstallHint)) {
  const { ceph, env: s3 } = await startBucket()
  after(() => ceph.stop())
  const env = { ...s3, S3_DIRECT_UPLOADS: '1' }
  // Without a worker, so that only the processes of a test verify uploads.
  const app = await startTestApp(env, { work: false })
  const { db, deps, config } = app
  const { objects, log } = deps

  const children = new Set<ChildProcess>()
  after(() => {
    for (const child of children) child.kill('SIGKILL')
  })

  interface Victim {
    url: string
    killed: Promise<void>
  }

  const startVictim = async ({ orgId }: TestActor, role: Options['role'], dieAt: FaultPoint): Promise<Victim> => {
    const options = {
      connection: app.connection,
      env: { NODE_ENV: 'test', PORT: '0', DATA_DIR: config.dataDir, ...env },
      orgId,
      dieAt,
      role,
    }
    const child = fork(new URL('direct-uploads-process.ts', import.meta.url), [JSON.stringify(options)])
    children.add(child)
    const killed = once(child, 'exit').then(([, signal]) => {
      children.delete(child)
      assert.equal(signal, 'SIGKILL')
    })
    const [url] = await Promise.race([once(child, 'message') as Promise<[string]>, killed.then(() => [''] as const)])
    return { url, killed }
  }

  /** Sends a request to the API of a process that dies before it responds. */
  const sendAndDie = async (as: TestActor, dieAt: FaultPoint, [method, path, json]: [string, string, object?]) => {
    const { url, killed } = await startVictim(as, 'api', dieAt)
    const headers = { authorization: `Bearer ${as.key}`, ...(json && { 'content-type': 'application/json' }) }
    await assert.rejects(fetch(url + path, { method, headers, ...(json && { body: JSON.stringify(json) }) }))
    await killed
  }

  const uploadOf = (id: string, rest = ''): string => `/api/v1/files/${id}/upload${rest}`
  const stateOf = async (as: TestActor, id: string): Promise<string> =>
    (await app.call('GET', uploadOf(id), { as })).body.data.state
  const complete = async (as: TestActor, id: string): Promise<string> => {
    const { status, body, text } = await app.call('POST', uploadOf(id, '/complete'), { as })
    assert.equal(status, 202, text)
    return body.data.state
  }
  const filesOf = async (as: TestActor): Promise<{ id: string; status: string; contentHash: string | null }[]> =>
    (await app.call('GET', '/api/v1/files', { as })).body.data.items
  const quotaOf = async (as: TestActor): Promise<{ files: number; storedBytes: number }> => {
    const { items } = (await app.call('GET', '/api/v1/quotas', { as })).body.data
    const used = (wanted: string): number => items.find(({ name }: { name: string }) => name === wanted).used
    return { files: used('files'), storedBytes: used('storedBytes') }
  }
  const keysOf = async ({ orgId }: TestActor): Promise<string[]> => {
    const keys: string[] = []
    for await (const { key } of objects.list(`${orgId}/`)) keys.push(key)
    return keys
  }

  const content = randomBytes(100_000)
  const sha256 = createHash('sha256').update(content).digest('hex')
  const described = { name: 'a.bin', mimeType: 'application/octet-stream', size: content.length }

  /** A pending file whose bytes have all arrived at the store. */
  const sent = async (
    as: TestActor,
    bytes: Buffer<ArrayBuffer> = content,
    mimeType = described.mimeType,
  ): Promise<string> => {
    const { file, uploadUrl } = await create(app, as, { ...described, mimeType, size: bytes.length })
    const { status } = await fetch(uploadUrl, { method: 'PUT', body: bytes })
    assert.equal(status, 200)
    return file.id
  }

  /** Runs jobs until `isDone`, with intervals of seconds, so that the jobs of a killed worker are soon started again. */
  const whileWorking = async (isDone: () => Promise<boolean>): Promise<void> => {
    const timing = { heartbeatMs: 300, silentMs: 1_500, reapMs: 300, pollMs: 100 }
    const jobs = createJobs({ connection: app.connection, log, timing })
    registerVerification(jobs, { ...deps, jobs })
    await jobs.start({ work: true })
    try {
      await resumeVerification(db, jobs)
      await until('the work is done', isDone)
      await until('no job is left', async () => {
        const job = await db.row(sql`
          select 1 from pgboss.job where name = 'files.verify-upload' and state in ('created', 'retry', 'active')`)
        return job === undefined
      })
    } finally {
      await jobs.stop({ deadlineMs: 20_000 })
    }
  }

  // The clock of cleanUp differs from that of the store, and the client of S3 remembers the difference.
  const storeOfCleanup = await openObjectStore(config)
  /** The hourly and the nightly jobs, three hours later: the store keeps unfinished uploads for two. */
  const cleanUp = async (): Promise<void> => {
    const now = Date.now.bind(Date)
    const clock = mock.method(Date, 'now', () => now() + 3 * 3_600_000)
    try {
      await removeExpired({ ...deps, objects: storeOfCleanup })
      await removeUnfinished(db)
      await reconcile({ db, objects: storeOfCleanup, log }, { ageHours: 0 })
    } finally {
      clock.mock.restore()
    }
  }

  /** Asserts that the file is there once with its bytes, and that nothing else is stored, counted or unfinished. */
  const isThereOnce = async (as: TestActor, id: string): Promise<void> => {
    const files = await filesOf(as)
    assert.deepEqual(
      files.map(({ id, status, contentHash }) => ({ id, status, contentHash })),
      [{ id, status: 'ready', contentHash: sha256 }],
    )
    // A worker does so at intervals, because a process can die between a commit and the publication.
    await deps.publisher.sweep()
    assert.deepEqual(typesOf(await eventsOf(app, as, id, 'file.updated')), ['file.created', 'file.updated'])
    await cleanUp()
    const answer = await fetch(`${app.url}/api/v1/files/${id}?download=true&inline=true`, {
      headers: { authorization: `Bearer ${as.key}` },
    })
    assert.ok(Buffer.from(await answer.arrayBuffer()).equals(content))
    assert.equal((await keysOf(as)).length, 1)
    assert.equal(await objects.unfinished(), 0)
    assert.deepEqual(await quotaOf(as), { files: 1, storedBytes: content.length })
    await countsAreExact(app, as.orgId)
  }

  /** Asserts that the org has no file, and that nothing is stored, counted or unfinished. */
  const nothingIsThere = async (as: TestActor): Promise<void> => {
    await cleanUp()
    assert.deepEqual(await filesOf(as), [])
    assert.deepEqual(await keysOf(as), [])
    assert.equal(await objects.unfinished(), 0)
    assert.deepEqual(await quotaOf(as), { files: 0, storedBytes: 0 })
    await countsAreExact(app, as.orgId)
  }

  test('an API that is killed after the store began an upload makes no file, and the upload in the store is aborted', async () => {
    const owner = await app.createOrg()
    await sendAndDie(owner, 'after begin', ['POST', '/api/v1/files', described])
    assert.equal(await objects.unfinished(), 1)
    assert.deepEqual(await filesOf(owner), [])
    assert.deepEqual(await quotaOf(owner), { files: 0, storedBytes: 0 })
    await nothingIsThere(owner)
  })

  test('an API that is killed after it made a pending file leaves one that is deleted when its time is over', async () => {
    const owner = await app.createOrg()
    await sendAndDie(owner, 'after commit', ['POST', '/api/v1/files', described])
    assert.deepEqual(
      (await filesOf(owner)).map(({ status }) => status),
      ['pending'],
    )
    await countsAreExact(app, owner.orgId)
    await db.execute(sql`update direct_uploads set expires_at = now() where org_id = ${owner.orgId}`)
    await nothingIsThere(owner)
  })

  test('an API that is killed after it deleted an upload leaves nothing when the cleanup has run', async () => {
    const owner = await app.createOrg()
    const id = await sent(owner)
    await sendAndDie(owner, 'before abort', ['DELETE', uploadOf(id)])
    assert.equal(await objects.unfinished(), 1)
    assert.deepEqual(await quotaOf(owner), { files: 0, storedBytes: 0 })
    await nothingIsThere(owner)
  })

  for (const [when, dieAt, state] of [
    ['before the commit', 'before commit', 'open'],
    ['after the commit', 'after commit', 'verifying'],
  ] as const) {
    test(`an API that is killed ${when} of a completion leaves the upload ${state}, and a repeated completion makes one file`, async () => {
      const owner = await app.createOrg()
      const id = await sent(owner)
      await sendAndDie(owner, dieAt, ['POST', uploadOf(id, '/complete')])
      assert.equal(await stateOf(owner, id), state)
      assert.deepEqual(
        (await filesOf(owner)).map(({ status }) => status),
        ['pending'],
      )
      assert.deepEqual(await keysOf(owner), [], 'the object does not exist before a worker completes the upload')
      await countsAreExact(app, owner.orgId)
      assert.equal(await complete(owner, id), 'verifying')
      await whileWorking(async () => (await stateOf(owner, id)) === 'ready')
      assert.equal(await complete(owner, id), 'ready')
      await isThereOnce(owner, id)
    })
  }

  for (const [when, dieAt, objectCount, state] of [
    ['before it completes an upload at the store', 'before complete', 0, 'verifying'],
    ['after it has completed an upload at the store', 'after complete', 1, 'verifying'],
    ['after it has read the bytes of an upload', 'after read', 1, 'verifying'],
    ['before the commit of a verification', 'before commit', 1, 'verifying'],
    ['after the commit of a verification', 'after commit', 1, 'ready'],
  ] as const) {
    test(`a worker that is killed ${when} shows all or nothing, and another one makes one file`, async () => {
      const owner = await app.createOrg()
      const id = await sent(owner)
      await complete(owner, id)
      const { killed } = await startVictim(owner, 'worker', dieAt)
      await killed
      assert.equal(await stateOf(owner, id), state)
      assert.deepEqual(
        (await filesOf(owner)).map(({ status, contentHash }) => [status, contentHash]),
        [state === 'ready' ? ['ready', sha256] : ['pending', null]],
      )
      assert.equal((await keysOf(owner)).length, objectCount)
      assert.deepEqual(await quotaOf(owner), { files: 1, storedBytes: content.length })
      await countsAreExact(app, owner.orgId)
      // The nightly job keeps what is being verified.
      await cleanUp()
      assert.equal((await keysOf(owner)).length, objectCount)
      assert.equal(await complete(owner, id), state)
      await whileWorking(async () => (await stateOf(owner, id)) === 'ready')
      await isThereOnce(owner, id)
    })
  }

  test('a worker that is killed after it rejected bytes of another type leaves nothing when the cleanup has run', async () => {
    const owner = await app.createOrg()
    const id = await sent(owner, Buffer.from('not a PNG'), 'image/png')
    await complete(owner, id)
    const { killed } = await startVictim(owner, 'worker', 'before abort')
    await killed
    assert.equal(await stateOf(owner, id), 'failed')
    await whileWorking(async () => (await stateOf(owner, id)) === 'failed')
    await nothingIsThere(owner)
  })

  test('a worker that is killed after it found the bytes in another file keeps one object for both', async () => {
    const owner = await app.createOrg()
    const first = await sent(owner)
    await complete(owner, first)
    await whileWorking(async () => (await stateOf(owner, first)) === 'ready')
    const second = await sent(owner)
    await complete(owner, second)
    const { killed } = await startVictim(owner, 'worker', 'after commit')
    await killed
    assert.equal(await stateOf(owner, second), 'ready')
    await whileWorking(async () => (await stateOf(owner, second)) === 'ready')
    await cleanUp()
    assert.deepEqual(new Set((await filesOf(owner)).map(({ contentHash }) => contentHash)), new Set([sha256]))
    assert.equal((await keysOf(owner)).length, 1)
    assert.equal(await objects.unfinished(), 0)
    assert.deepEqual(await quotaOf(owner), { files: 2, storedBytes: 2 * content.length })
    await countsAreExact(app, owner.orgId)
  })
}
