import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { createAgent, ask, openSession } from '../../../test/support/chat.ts'
import { create, sendForm, upload } from '../../../test/support/files.ts'
import { startTestApp } from '../../../test/harness.ts'
import { sql } from '../../platform/database/database.ts'
import { createDiskSpace } from '../../platform/process/disk-space.ts'
import { openDiskStore } from '../../platform/object-store/disk.ts'

const megabyte = 1_048_576
// A disk of 10 GB, of which the reserve of 200 MB is 2 %.
let freeMegabytes = 5_000
const blocks = () => ({ bavail: freeMegabytes, blocks: 10_000, bsize: megabyte })
const disk = createDiskSpace({
  path: '/nowhere',
  reserveBytes: 256 * megabyte,
  freshMs: 0,
  look: { later: async () => blocks(), now: blocks },
})
const root = await mkdtemp(join(tmpdir(), 'atrium-full-disk-'))
after(() => rm(root, { recursive: true, force: true }))
const app = await startTestApp({}, { replace: { disk, objects: await openDiskStore(root, disk) } })
const owner = await app.createOrg()

const whileFree = async (megabytes: number, work: () => Promise<void>): Promise<void> => {
  freeMegabytes = megabytes
  try {
    await work()
  } finally {
    freeMegabytes = 5_000
  }
}

// oxlint-disable-next-line typescript/no-explicit-any -- a response of any route
const assertFull = ({ status, body, headers }: { status: number; body: any; headers: Headers }): void => {
  assert.equal(status, 503)
  assert.equal(body.error.code, 'SERVICE_UNAVAILABLE')
  assert.match(body.error.message, /^The server's disk is full\./)
  assert.doesNotMatch(body.error.message, /database/)
  assert.ok(Number(headers.get('retry-after')) > 0)
}

const part = { name: 'file', filename: 'a.txt', type: 'text/plain', value: 'x' }
const bytesOf = (url: string) => new URL(url).pathname + new URL(url).search

describe('with less free disk space than the reserve', () => {
  test('with less free disk space than the reserve every upload is rejected, and reading, changing and deleting still work', async () => {
    const kept = await upload(app, owner, 'kept')
    const deletable = await upload(app, owner, 'deletable')
    const { file: pending, uploadUrl } = await create(app, owner, { name: 'b.txt', mimeType: 'text/plain', size: 1 })
    await createAgent(app, owner, { name: 'Writer', allowedTools: ['files.write'] })
    const session = await openSession(app, owner, { agentId: 'writer' })
    const put = () => app.call('PUT', bytesOf(uploadUrl), { body: 'x', headers: { 'content-type': 'text/plain' } })

    await whileFree(199, async () => {
      assertFull(await sendForm(app, owner, [part]))
      assertFull(await put())
      const { turn } = await ask(app, owner, session.id, { text: '/tool files.write {"name":"c.txt","text":"x"}' })
      assert.equal(turn.toolCalls[0].status, 'failed')
      assert.match(turn.toolCalls[0].output.error, /disk is full/)

      const read = await app.call('GET', `/api/v1/files/${kept.id}/preview`, { as: owner })
      assert.equal(read.body.data.text, 'kept')
      const renamed = await app.call('PATCH', `/api/v1/files/${kept.id}`, { as: owner, json: { name: 'renamed.txt' } })
      assert.equal(renamed.status, 200, renamed.text)
      assert.equal(
        (await app.call('DELETE', `/api/v1/files/${deletable.id}?permanent=true`, { as: owner })).status,
        200,
      )
    })

    const { body } = await app.call('GET', '/api/v1/files', { as: owner })
    const names = (body.data.items as { name: string }[]).map(({ name }) => name)
    assert.ok(!names.includes('a.txt') && !names.includes('c.txt'), names.join())
    assert.equal((await put()).status, 200, 'the pending upload can be completed when there is space again')
    assert.equal((await app.call('GET', `/api/v1/files/${pending.id}`, { as: owner })).body.data.status, 'ready')
  })

  test('an upload whose declared size would use the reserve is rejected before it is read', async () => {
    const size = 50 * megabyte
    const { uploadUrl } = await create(app, owner, { name: 'large.bin', mimeType: 'application/octet-stream', size })
    await whileFree(249, async () => {
      assertFull(await app.call('PUT', bytesOf(uploadUrl), { body: Buffer.alloc(size) }))
      assert.equal((await sendForm(app, owner, [part])).status, 201, 'a small one fits')
    })
  })

  test('with less free disk space than the reserve the server stays ready and reports a warning and a metric', async () => {
    const readiness = () => app.call('GET', '/readyz')
    const metric = async (name: string): Promise<number> => {
      const { text } = await app.call('GET', '/metrics')
      return Number(new RegExp(`^${name} (.+)$`, 'm').exec(text)?.[1])
    }
    assert.equal(await metric('disk_reserve_reached'), 0)
    const before = await readiness()
    assert.deepEqual(before.body.data, { status: 'ok' })
    const low = await app.secondServer({}, { work: false, replace: { disk, objects: await openDiskStore(root, disk) } })
    await whileFree(100, async () => {
      const { status, body } = await low.call('GET', '/readyz')
      assert.equal(status, 200)
      assert.deepEqual(body.data, {
        status: 'ok',
        warnings: ['disk: 100 MB free, uploads are rejected below 200 MB'],
      })
      assert.equal(await metric('disk_reserve_reached'), 1)
      assert.equal(await metric('disk_free_bytes'), 100 * megabyte)
      assert.equal(await metric('disk_reserve_bytes'), 200 * megabyte)
    })
  })
})

test('a database error for lack of space is reported as a full disk, not as an unreachable database', async () => {
  await app.db.execute(sql`
    create function no_space() returns trigger language plpgsql as $$
    begin
      raise exception 'could not extend file "base/1/2": No space left on device' using errcode = '53100';
    end $$`)
  await app.db.execute(sql`create trigger no_space before insert on webhooks execute function no_space()`)
  const make = () => app.call('POST', '/api/v1/webhooks', { as: owner, json: { name: 'Orders' } })
  assertFull(await make())
  assert.equal((await app.call('GET', '/api/v1/webhooks', { as: owner })).status, 200)
  await app.db.execute(sql`drop trigger no_space on webhooks`)
  assert.equal((await make()).status, 201)
})
