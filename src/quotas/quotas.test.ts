import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { create, createFolder, leavesNothing, pathOf, sendForm, traces, upload } from '../../test/support/files.ts'
import { startTestApp } from '../../test/harness.ts'
import type { Answer, TestActor } from '../../test/harness.ts'
import { until } from '../../test/support/until.ts'
import { accept, createWebhook, deliver, eventsOf, freshId } from '../../test/support/webhooks.ts'
import type { MadeWebhook } from '../../test/support/webhooks.ts'
import type { QuotaName } from '../config/quotas.ts'
import { sql } from '../platform/database/database.ts'
import { defineJob } from '../platform/jobs/jobs.ts'

const app = await startTestApp({
  QUOTA_STORED_BYTES: '1000',
  QUOTA_FILES: '4',
  QUOTA_EVENTS_KEPT: '3',
  QUOTA_WEBHOOKS: '2',
  QUOTA_AGENTS: '2',
  QUOTA_CONNECTIONS: '2',
  CONNECTOR_GITHUB_CLIENT_ID: 'client',
  CONNECTOR_GITHUB_CLIENT_SECRET: 'secret',
})
const api = '/api/v1'
const { db } = app

const post = (as: TestActor, path: string, json: object) => app.call('POST', api + path, { as, json })
const quotaOf = async (as: TestActor, name: QuotaName) => {
  const { body } = await app.call('GET', `${api}/quotas`, { as })
  return body.data.items.find((quota: { name: string }) => quota.name === name)
}
const usedOf = async (as: TestActor, name: QuotaName): Promise<number> => (await quotaOf(as, name)).used
const bytes = (size: number) => [{ name: 'file', filename: 'a.txt', type: 'text/plain', value: 'x'.repeat(size) }]

const assertRejected = (answer: Answer, figures: RegExp): void => {
  assert.equal(answer.status, 403, answer.text)
  assert.equal(answer.body.error.code, 'FORBIDDEN')
  assert.match(answer.body.error.message, figures)
}

/** The number of successes among ten concurrent requests. */
const tenAtOnce = async (send: (n: number) => Promise<Answer>): Promise<number> => {
  const answers = await Promise.all(Array.from({ length: 10 }, (_, n) => send(n)))
  const through = answers.filter(({ status }) => status < 300)
  for (const answer of answers.filter(({ status }) => status >= 300)) assertRejected(answer, /The org's quota of/)
  return through.length
}

interface Kind {
  name: QuotaName
  limit: number
  figures: RegExp
  make: (as: TestActor, n: number) => Promise<Answer>
  remove: (as: TestActor, made: Answer) => Promise<Answer>
}

const remove = (path: string, idOf: (answer: Answer) => string) => (as: TestActor, made: Answer) =>
  app.call('DELETE', `${api}${path}/${idOf(made)}${path === '/files' ? '?permanent=true' : ''}`, { as })

const kinds: Kind[] = [
  {
    name: 'files',
    limit: 4,
    figures:
      /^The org's quota of 4 files would be exceeded: 4 used, 1 more requested\. Delete some, or ask the operator/,
    make: (as) => sendForm(app, as, bytes(1)),
    remove: remove('/files', ({ body }) => body.data.file.id),
  },
  {
    name: 'storedBytes',
    limit: 1_000,
    figures:
      /^The org's quota of 1,000 bytes of stored files would be exceeded: 1,000 bytes used, 500 bytes more requested\./,
    make: (as) => sendForm(app, as, bytes(500)),
    remove: remove('/files', ({ body }) => body.data.file.id),
  },
  {
    name: 'webhooks',
    limit: 2,
    figures: /^The org's quota of 2 webhooks would be exceeded: 2 used, 1 more requested\./,
    make: (as) => post(as, '/webhooks', { name: 'Orders' }),
    remove: remove('/webhooks', ({ body }) => body.data.id),
  },
  {
    name: 'agents',
    limit: 2,
    figures: /^The org's quota of 2 agents would be exceeded: 2 used, 1 more requested\./,
    make: (as) => post(as, '/agents', { name: 'Helper' }),
    remove: remove('/agents', ({ body }) => body.data.id),
  },
  {
    name: 'connections',
    limit: 2,
    figures: /^The org's quota of 2 connections would be exceeded: 2 used, 1 more requested\./,
    make: (as, n) => post(as, '/connections', { connectorSlug: 'github', label: `label ${n}` }),
    remove: remove('/connections', ({ body }) => body.data.connection.id),
  },
]

for (const { name, limit, figures, make, remove } of kinds) {
  describe(`the quota of ${name}`, () => {
    test(`lets an org use its quota of ${name}, rejects more with the figures, and accepts more after a deletion`, async () => {
      const owner = await app.createOrg()
      const other = await app.createOrg()
      const made: Answer[] = []
      while ((await usedOf(owner, name)) < limit) {
        const answer = await make(owner, made.length)
        assert.equal(answer.status, 201, answer.text)
        made.push(answer)
      }
      const before = await traces(app)
      assertRejected(await make(owner, 100), figures)
      assert.deepEqual(await traces(app), before, 'nothing of it is left')
      assert.equal((await quotaOf(owner, name)).used, limit)
      assert.notEqual((await quotaOf(owner, name)).lastRefusedAt, null)
      assert.equal((await make(other, 0)).status, 201, 'another org is not affected')
      assert.equal((await quotaOf(other, name)).lastRefusedAt, null)
      const first = made[0]
      assert.ok(first)
      assert.equal((await remove(owner, first)).status, 200)
      assert.equal((await make(owner, 101)).status, 201)
      assertRejected(await make(owner, 102), figures)
    })

    test(`accepts no more than the quota of ${name} when ten requests arrive at once`, async () => {
      const owner = await app.createOrg()
      const most = name === 'storedBytes' ? 2 : limit
      assert.equal(await tenAtOnce((n) => make(owner, n)), most)
      assert.equal(await usedOf(owner, name), limit)
    })
  })
}

describe('the quota of files', () => {
  test('counts folders, links and the folders of projects as files', async () => {
    const owner = await app.createOrg()
    const folder = await createFolder(app, owner, 'Folder')
    const file = await upload(app, owner, 'x', { parentId: folder.id })
    await create(app, owner, { source: 'link', targetFileId: file.id })
    assert.equal((await post(owner, '/projects', { name: 'Project' })).status, 201)
    for (const [path, json] of [
      ['/files', { source: 'folder', name: 'Another' }],
      ['/files', { source: 'link', targetFileId: file.id }],
      ['/files', { source: 'upload', name: 'a.txt', mimeType: 'text/plain', size: 1 }],
      ['/projects', { name: 'Another' }],
    ] as const) {
      await leavesNothing(app, 'FORBIDDEN', () => post(owner, path, json))
    }
    const projects = await app.call('GET', `${api}/projects`, { as: owner })
    assert.equal(projects.body.data.items.length, 1)
    assert.equal((await app.call('DELETE', `${api}/files/${folder.id}?permanent=true`, { as: owner })).status, 200)
    assert.equal(await usedOf(owner, 'files'), 2, 'the folder went with the file in it')
  })

  test('applies the quota of files to files that agents and MCP clients write', async () => {
    const owner = await app.createOrg()
    const write = (text: string) =>
      app.call('POST', '/mcp', {
        as: owner,
        headers: { accept: 'application/json, text/event-stream' },
        json: {
          jsonrpc: '2.0',
          id: 1,
          method: 'tools/call',
          params: { name: 'files_write', arguments: { name: 'a.txt', text } },
        },
      })
    const good = await write('x'.repeat(600))
    assert.equal(good.body.result.isError ?? false, false, good.text)
    const before = await traces(app)
    const rejected = await write('x'.repeat(600))
    assert.equal(rejected.body.result.isError, true)
    assert.match(rejected.text, /The org's quota of 1,000 bytes of stored files would be exceeded: 600 bytes used/)
    assert.deepEqual(await traces(app), before)
    assert.notEqual((await quotaOf(owner, 'storedBytes')).lastRefusedAt, null)
  })
})

describe('the quota of stored bytes', () => {
  const pending = (as: TestActor, size: number) =>
    post(as, '/files', { source: 'upload', name: 'a.txt', mimeType: 'text/plain', size })

  test('reserves the size of a pending upload, so that its bytes are accepted even when the quota is used up by then', async () => {
    const owner = await app.createOrg()
    const { file, uploadUrl } = (await pending(owner, 400)).body.data
    await upload(app, owner, 'x'.repeat(600))
    assertRejected(await pending(owner, 1), /1,000 bytes used, 1 byte more requested/)
    const put = await app.call('PUT', pathOf(app, uploadUrl), { body: 'y'.repeat(400) })
    assert.equal(put.status, 200, put.text)
    assert.equal(await usedOf(owner, 'storedBytes'), 1_000)
    assert.equal((await app.call('DELETE', `${api}/files/${file.id}?permanent=true`, { as: owner })).status, 200)
    assert.equal(await usedOf(owner, 'storedBytes'), 600)
  })

  test('releases the reserved bytes of an upload that expired', async () => {
    const owner = await app.createOrg()
    const { file } = (await pending(owner, 1_000)).body.data
    assert.equal(await usedOf(owner, 'storedBytes'), 1_000)
    await db.execute(sql`
      update files set created_at = now() - interval '25 hours' where org_id = ${owner.orgId} and id = ${file.id}`)
    await db.transaction('all orgs', (db) =>
      app.deps.jobs.enqueue(db, defineJob<object>('files.remove-unfinished'), {}),
    )
    await until('the reservation is gone', async () => (await usedOf(owner, 'storedBytes')) === 0)
    assert.equal(await usedOf(owner, 'files'), 0)
  })

  test('counts the size of every file, also of files with equal bytes', async () => {
    const owner = await app.createOrg()
    await upload(app, owner, 'x'.repeat(400))
    await upload(app, owner, 'x'.repeat(400))
    assert.equal(await usedOf(owner, 'storedBytes'), 800)
    await leavesNothing(app, 'FORBIDDEN', () => sendForm(app, owner, bytes(400)))
  })

  test('rejects a stream of unknown length that exceeds the quota, and stores nothing of it', async () => {
    const owner = await app.createOrg()
    const parts = `--b\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\nContent-Type: text/plain\r\n\r\n`
    const stream = () =>
      new ReadableStream({
        start: (controller) => {
          const encoder = new TextEncoder()
          controller.enqueue(encoder.encode(parts))
          controller.enqueue(encoder.encode('x'.repeat(1_001)))
          controller.enqueue(encoder.encode('\r\n--b--\r\n'))
          controller.close()
        },
      })
    await leavesNothing(app, 'FORBIDDEN', () =>
      app.call('POST', `${api}/files`, {
        as: owner,
        body: stream(),
        headers: { 'content-type': 'multipart/form-data; boundary=b' },
      }),
    )
  })
})

describe('the quota of events kept', () => {
  const fill = async (owner: TestActor): Promise<MadeWebhook> => {
    const webhook = await createWebhook(app, owner)
    for (let n = 0; n < 3; n++) await accept(app, webhook, { type: 'a', n })
    return webhook
  }

  test('rejects an event that exceeds the quota of events with the figures, stores nothing, and records it in the audit log', async () => {
    const owner = await app.createOrg()
    const other = await app.createOrg()
    const webhook = await fill(owner)
    const id = freshId()
    const rejected = await deliver(app, webhook, { type: 'late' }, { id })
    assertRejected(rejected, /^The org's quota of 3 webhook events would be exceeded: 3 used, 1 more requested\./)
    assertRejected(await deliver(app, webhook, { type: 'late' }, { id }), /quota of 3 webhook events/)
    assertRejected(await post(owner, '/webhooks/test', { webhookId: webhook.id }), /quota of 3 webhook events/)
    assert.equal((await eventsOf(app, owner, webhook)).length, 3)
    const keys = await db.row<{ keys: number }>(sql`
      select count(*)::int as keys from webhook_event_keys where org_id = ${owner.orgId} and event_id not in (
        select id from webhook_events where org_id = ${owner.orgId})`)
    assert.equal(keys?.keys, 0, 'the event can be sent again')
    assert.notEqual((await quotaOf(owner, 'eventsKept')).lastRefusedAt, null)
    const log = await app.call('GET', `${api}/audit-log?action=quota.exceeded`, { as: owner })
    assert.deepEqual(
      log.body.data.items.map(({ details }: { details: object }) => details),
      [{ quota: 'eventsKept' }],
      'the audit log has one entry',
    )
    await fill(other)
  })

  test('accepts events again after a webhook is deleted and its events are removed', async () => {
    const owner = await app.createOrg()
    const webhook = await fill(owner)
    assert.equal((await app.call('DELETE', `${api}/webhooks/${webhook.id}`, { as: owner })).status, 200)
    await until('its events are removed', async () => (await usedOf(owner, 'eventsKept')) === 0)
    await fill(owner)
  })

  test('accepts no more than the quota of events when ten events arrive at several webhooks at once', async () => {
    const owner = await app.createOrg()
    const webhooks = [await createWebhook(app, owner), await createWebhook(app, owner)]
    const through = await tenAtOnce((n) => deliver(app, webhooks[n % 2]!, { type: 'a', n }))
    assert.equal(through, 3)
    assert.equal(await usedOf(owner, 'eventsKept'), 3)
    const kept = await Promise.all(webhooks.map((webhook) => eventsOf(app, owner, webhook)))
    assert.equal(kept.flat().length, 3)
  })

  test('acknowledges duplicates when the quota is used up', async () => {
    const owner = await app.createOrg()
    const webhook = await createWebhook(app, owner)
    const id = freshId()
    const first = await accept(app, webhook, { type: 'a' }, id)
    for (const n of [2, 3]) await accept(app, webhook, { type: 'a', n })
    const again = await deliver(app, webhook, { type: 'a' }, { id })
    assert.equal(again.status, 200, again.text)
    assert.deepEqual(again.body.data, { received: true, eventId: first, duplicate: true })
    assertRejected(await deliver(app, webhook, { type: 'a', n: 4 }), /eventsKept|events/)
    assert.equal(await usedOf(owner, 'eventsKept'), 3)
  })

  test('counts a repeated event once', async () => {
    const owner = await app.createOrg()
    const webhook = await createWebhook(app, owner)
    const id = freshId()
    await accept(app, webhook, { type: 'a' }, id)
    const again = await deliver(app, webhook, { type: 'a' }, { id })
    assert.equal(again.body.data.duplicate, true)
    assert.equal(await usedOf(owner, 'eventsKept'), 1)
  })
})

describe('the quota of connections', () => {
  test('rejects the OAuth redirect for a new connection beyond the quota, but not for an existing one', async () => {
    const owner = await app.createOrg()
    const start = (label: string) =>
      app.call('GET', `${api}/connections/oauth/start?connector=github&label=${label}`, { as: owner })
    assert.equal((await start('one')).status, 302)
    assert.equal((await start('two')).status, 302)
    assertRejected(
      await start('three'),
      /^The org's quota of 2 connections would be exceeded: 2 used, 1 more requested\./,
    )
    assert.equal((await start('one')).status, 302, 'it needs no room')
    assert.equal(await usedOf(owner, 'connections'), 2)
  })
})

describe('resources that the server creates', () => {
  test('does not count or reject the default agent of an org with a quota of 0 agents', async () => {
    const none = await app.secondServer({ QUOTA_AGENTS: '0' }, { work: false })
    const owner = await app.createOrg()
    const agents = await none.call('GET', `${api}/agents`, { as: owner })
    assert.deepEqual(
      agents.body.data.items.map(({ slug }: { slug: string }) => slug),
      ['assistant'],
    )
    const { body } = await none.call('GET', `${api}/quotas`, { as: owner })
    assert.equal(body.data.items.find(({ name }: { name: string }) => name === 'agents').used, 0)
    const rejected = await none.call('POST', `${api}/agents`, { as: owner, json: { name: 'Helper' } })
    assert.match(
      rejected.body.error.message,
      /^The org's quota of 0 agents would be exceeded: 0 used, 1 more requested\./,
    )
  })
})

describe('two servers on one database', () => {
  test('accept no more than the quota together when two servers share a database', async () => {
    const second = await app.secondServer(
      { QUOTA_FILES: '4', QUOTA_EVENTS_KEPT: '3', QUOTA_AGENTS: '2' },
      { work: false },
    )
    const owner = await app.createOrg()
    const servers = [app, second]
    const folders = await tenAtOnce((n) =>
      servers[n % 2]!.call('POST', `${api}/files`, { as: owner, json: { source: 'folder', name: `Folder ${n}` } }),
    )
    const webhook = await createWebhook(app, owner)
    const events = await tenAtOnce((n) => deliver(servers[n % 2]!, webhook, { type: 'a', n }))
    const agents = await tenAtOnce((n) =>
      servers[n % 2]!.call('POST', `${api}/agents`, { as: owner, json: { name: `Helper ${n}` } }),
    )
    assert.deepEqual({ folders, events, agents }, { folders: 4, events: 3, agents: 2 })
  })
})
