import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { countsAreExact, createFolder, upload } from '../../test/support/files.ts'
import { startTestApp } from '../../test/harness.ts'
import type { TestActor, TestApp } from '../../test/harness.ts'
import { until } from '../../test/support/until.ts'
import { accept, createWebhook } from '../../test/support/webhooks.ts'
import { readArguments } from '../cli/command.ts'
import type { Output } from '../cli/command.ts'
import { quotaCommands } from '../cli/quotas.ts'
import { parseConfig } from '../config/config.ts'
import type { QuotaName } from '../config/quotas.ts'
import { sql } from '../platform/database/database.ts'
import { defineJob } from '../platform/jobs/jobs.ts'
import { lockUsage } from './queries.ts'
import { reconcileUsage } from './verify.ts'

const directory = await mkdtemp(join(tmpdir(), 'atrium-plans-'))
after(() => rm(directory, { recursive: true, force: true }))
const plansFile = join(directory, 'plans.json')
await writeFile(
  plansFile,
  JSON.stringify([
    { id: 'free', name: 'Free', priceCents: 0, quotas: { agents: 1 } },
    { id: 'solo', name: 'Solo', priceCents: 900, quotas: { agents: 3, webhooks: null } },
    { id: 'custom', name: 'Custom', priceCents: null, quotas: { agents: null } },
  ]),
)

const api = '/api/v1'
const selling = { PLANS_FILE: plansFile, QUOTA_WEBHOOKS: '7', STRIPE_SECRET_KEY: 'sk_test_x' }
const app = await startTestApp(selling)
const { db } = app

const quotaOf = async (as: TestActor, name: QuotaName, at: TestApp = app) => {
  const { body } = await at.call('GET', `${api}/quotas`, { as })
  return body.data.items.find((quota: { name: string }) => quota.name === name)
}
const makeAgent = (as: TestActor, at: TestApp = app) =>
  at.call('POST', `${api}/agents`, { as, json: { name: 'Helper' } })
const subscribe = (orgId: string, planId: string, status = 'active') =>
  db.execute(sql`
    insert into subscriptions (org_id, provider_id, plan_id, status, included_credit_cents)
    values (${orgId}, ${`sub_${orgId}`}, ${planId}, ${status}, 0)
    on conflict (org_id, provider_id) do update set plan_id = excluded.plan_id, status = excluded.status`)

/** Runs an `atrium` command on the database of the running server. */
const atrium = (...words: string[]): Promise<Output> => {
  const command = quotaCommands.find((one) => words.join(' ').startsWith(`${one.words} `))
  assert.ok(command?.needs === 'database')
  const args = readArguments(command, words.slice(2))
  return command.run({ config: app.config, db, serverUrl: app.url, readPassword: () => Promise.resolve('') }, args)
}

describe('a quota of a plan', () => {
  test('rejects with PAYMENT_REQUIRED when a larger plan can be bought, and with FORBIDDEN on the largest', async () => {
    const owner = await app.createOrg()
    assert.equal((await makeAgent(owner)).status, 201)
    const rejected = await makeAgent(owner)
    assert.equal(rejected.status, 402)
    assert.equal(rejected.body.error.code, 'PAYMENT_REQUIRED')
    assert.equal(
      rejected.body.error.message,
      "The org's quota of 1 agent would be exceeded: 1 used, 1 more requested. Delete some, or choose a larger plan.",
    )
    await subscribe(owner.orgId, 'solo')
    assert.equal((await makeAgent(owner)).status, 201, 'a plan that was paid for counts at once')
    assert.equal((await makeAgent(owner)).status, 201)
    const most = await makeAgent(owner)
    assert.equal(most.body.error.code, 'FORBIDDEN')
    await subscribe(owner.orgId, 'solo', 'canceled')
    assert.equal((await makeAgent(owner)).body.error.code, 'PAYMENT_REQUIRED')
    assert.equal((await quotaOf(owner, 'agents')).used, 3, 'existing agents are kept')
  })

  test('rejects with FORBIDDEN on a server without a payment provider', async () => {
    const free = await app.secondServer({ PLANS_FILE: plansFile }, { work: false })
    const owner = await app.createOrg()
    assert.equal((await makeAgent(owner, free)).status, 201)
    assert.equal((await makeAgent(owner, free)).body.error.code, 'FORBIDDEN')
  })

  test('lists quotas for every member with the usage, the plan and the source of the limit', async () => {
    const owner = await app.createOrg()
    const reader = await app.createUser(owner, 'member', { scopes: ['files:read'] })
    await upload(app, owner, 'hello')
    const { status, body } = await app.call('GET', `${api}/quotas`, { as: reader })
    assert.equal(status, 200)
    const of = { plan: 'free', source: 'plan', lastRefusedAt: null }
    assert.deepEqual(body.data.items, [
      { name: 'storedBytes', limit: 107_374_182_400, used: 5, trashed: 0, unit: 'bytes', ...of },
      { name: 'files', limit: 2_000_000, used: 1, trashed: 0, unit: 'count', ...of },
      { name: 'eventsKept', limit: 10_000_000, used: 0, trashed: null, unit: 'count', ...of },
      { name: 'webhooks', limit: 7, used: 0, trashed: null, unit: 'count', ...of },
      { name: 'agents', limit: 1, used: 0, trashed: null, unit: 'count', ...of },
      { name: 'connections', limit: 10_000, used: 0, trashed: null, unit: 'count', ...of },
    ])
    const pricing = await app.call('GET', `${api}/billing/pricing`, { as: owner })
    assert.deepEqual(
      pricing.body.data.plans.map(({ id, quotas }: { id: string; quotas: object }) => [id, quotas]),
      [
        ['free', 1, 7],
        ['solo', 3, null],
        ['custom', null, 7],
      ].map(([id, agents, webhooks]) => [
        id,
        {
          storedBytes: 107_374_182_400,
          files: 2_000_000,
          eventsKept: 10_000_000,
          webhooks,
          agents,
          connections: 10_000,
        },
      ]),
    )
  })
})

describe('atrium org quota', () => {
  test('sets, lists and removes quotas of an org that override those of its plan', async () => {
    const owner = await app.createOrg()
    const other = await app.createOrg()
    const set = await atrium('org', 'quota', '--org', owner.orgId, '--agents', '2', '--webhooks', 'unlimited')
    assert.ok(set.lines.includes('agents        0 of 2, set for this org'), set.lines.join('\n'))
    assert.ok(set.lines.includes('webhooks      0 of unlimited, set for this org'), set.lines.join('\n'))
    assert.deepEqual(
      (set.json['quotas'] as { name: string; limit: number | null }[]).map(({ limit }) => limit),
      [107_374_182_400, 2_000_000, 10_000_000, null, 2, 10_000],
    )
    assert.equal((await makeAgent(owner)).status, 201)
    assert.equal((await makeAgent(owner)).status, 201)
    assert.equal((await makeAgent(owner)).body.error.code, 'FORBIDDEN', 'no plan that can be bought changes it')
    assert.equal((await quotaOf(other, 'agents')).limit, 1)
    await atrium('org', 'quota', '--org', owner.orgId, '--agents', 'default')
    assert.deepEqual((({ limit, source }) => ({ limit, source }))(await quotaOf(owner, 'agents')), {
      limit: 1,
      source: 'plan',
    })
    const log = await app.call('GET', `${api}/audit-log?action=quota.changed`, { as: owner })
    assert.deepEqual(
      log.body.data.items.map(({ details }: { details: object }) => details),
      [{ agents: 'default' }, { agents: 2, webhooks: 'unlimited' }],
    )
  })

  test('applies a changed quota on running servers within seconds', async () => {
    const owner = await app.createOrg()
    await createFolder(app, owner, 'First')
    await atrium('org', 'quota', '--org', owner.orgId, '--files', '1')
    let n = 0
    await until('the new limit applies', async () => {
      const json = { source: 'folder', name: `Folder ${(n += 1)}` }
      return (await app.call('POST', `${api}/files`, { as: owner, json })).status === 403
    })
  })

  test('rejects a quota that is not a number, and an unknown org', async () => {
    const owner = await app.createOrg()
    for (const text of ['-1', '1.5', 'many', '99999999999999999']) {
      await assert.rejects(
        (async () => atrium('org', 'quota', '--org', owner.orgId, `--files=${text}`))(),
        /--files must be a whole number, unlimited or default/,
      )
    }
    await assert.rejects((async () => atrium('org', 'quota', '--org', 'x'))(), /Org not found/)
    assert.equal((await quotaOf(owner, 'files')).source, 'plan')
  })
})

describe('the configuration', () => {
  test('rejects quotas in the configuration that are not whole numbers or have unknown names', async () => {
    const parse = (env: Record<string, string>) => () => parseConfig({ NODE_ENV: 'test', ...env })
    assert.throws(parse({ QUOTA_FILES: '-1' }), /QUOTA_FILES must be a whole number, or unlimited, not "-1"/)
    assert.throws(parse({ QUOTA_FILE: '1' }), /QUOTA_FILE is not a variable of Atrium/)
    assert.equal(parse({ QUOTA_FILES: 'unlimited' })().quotas.files, null)
    for (const quotas of [{ files: -1 }, { files: '1' }, { folders: 1 }, [], 'none']) {
      const file = join(directory, 'wrong.json')
      await writeFile(file, JSON.stringify([{ id: 'a', name: 'A', priceCents: 0, quotas }]))
      assert.throws(parse({ PLANS_FILE: file }), /plan 1: quotas must be an object of storedBytes, files/)
    }
  })
})

describe('an org that is far from its quotas', () => {
  test('stores files and events of an org far from its quotas without the lock of orgs near a quota', async () => {
    const owner = await app.createOrg()
    const webhook = await createWebhook(app, owner)
    const { promise: isOver, resolve: end } = Promise.withResolvers<void>()
    const { promise: isLocked, resolve: locked } = Promise.withResolvers<void>()
    const holder = db.transaction('all orgs', async (db) => {
      await lockUsage(db, owner.orgId)
      locked()
      await isOver
    })
    await isLocked
    try {
      await Promise.all([
        ...Array.from({ length: 4 }, (_, n) => upload(app, owner, `text ${n}`)),
        ...Array.from({ length: 4 }, (_, n) => accept(app, webhook, { type: 'a', n })),
      ])
    } finally {
      end()
    }
    await holder
    await countsAreExact(app, owner.orgId)
  })
})

describe('usage counters', () => {
  test('finds and corrects wrong usage counters with `atrium usage verify` and keeps counting concurrent uploads', async () => {
    const owner = await app.createOrg()
    const webhook = await createWebhook(app, owner)
    await upload(app, owner, 'hello')
    await accept(app, webhook, { type: 'a' })
    const verify = (...more: string[]) => atrium('usage', 'verify', '--org', owner.orgId, ...more)
    assert.equal((await verify()).ok, true)
    await db.execute(sql`update org_file_usage set files = files + 7, stored_bytes = 0 where org_id = ${owner.orgId}`)
    await db.execute(sql`delete from org_event_usage where org_id = ${owner.orgId}`)
    const found = await verify()
    assert.equal(found.ok, false)
    const day = new Date().toISOString().slice(0, 10)
    assert.deepEqual(found.json['drifts'], [
      { orgId: owner.orgId, quota: 'files', counted: 8, found: 1 },
      { orgId: owner.orgId, quota: 'storedBytes', counted: 0, found: 5 },
      { orgId: owner.orgId, quota: 'eventsKept', counted: 0, found: 1, day },
    ])
    assert.equal((await quotaOf(owner, 'files')).used, 8, 'looking changes nothing')
    const uploads = Array.from({ length: 5 }, () => upload(app, owner, 'more'))
    const repaired = await verify('--repair')
    await Promise.all(uploads)
    assert.equal(repaired.ok, true)
    assert.equal((await verify()).ok, true)
    assert.equal((await quotaOf(owner, 'storedBytes')).used, 25)
    assert.equal((await quotaOf(owner, 'eventsKept')).used, 1)
    await countsAreExact(app, owner.orgId)
  })

  test('corrects wrong usage counters in the daily job and logs it', async () => {
    const owner = await app.createOrg()
    await upload(app, owner, 'hello')
    await db.execute(sql`update org_file_usage set files = -100 where org_id = ${owner.orgId}`)
    assert.equal((await quotaOf(owner, 'files')).used, 0, 'a count below zero is shown as 0')
    await db.transaction('all orgs', (db) => app.deps.jobs.enqueue(db, reconcileUsage, {}))
    await until('it is corrected', async () => (await quotaOf(owner, 'files')).used === 1)
    await until('the correction is logged', () => app.logLines.some((line) => line.includes('usage counter was wrong')))
  })

  test('reduces the counter of events by exactly the events that retention deletes', async () => {
    const owner = await app.createOrg()
    const webhook = await createWebhook(app, owner)
    await accept(app, webhook, { type: 'new' })
    await db.execute(sql`select ensure_webhook_partitions(current_date - 40, current_date - 29)`)
    await db.execute(sql`
      insert into webhook_events (org_id, id, webhook_id, type, status, headers, body, received_at)
      select ${owner.orgId}, uuid_at(now() - n * interval '1 day'), ${webhook.id}, 'old', 'recorded', '{}', '', now()
      from unnest(array[29, 35, 36]) n`)
    await db.execute(sql`
      insert into org_event_usage (org_id, day, slot, events)
      select ${owner.orgId}, current_date - n, 0, 1 from unnest(array[29, 35, 36]) n`)
    await countsAreExact(app, owner.orgId)
    assert.equal((await quotaOf(owner, 'eventsKept')).used, 4)
    await db.transaction('all orgs', (db) => app.deps.jobs.enqueue(db, defineJob<object>('webhooks.retention'), {}))
    await until('old days are dropped', async () => (await quotaOf(owner, 'eventsKept')).used === 2)
    await countsAreExact(app, owner.orgId)
  })

  test('keeps usage counters exact under concurrent uploads, moves and deletions', async () => {
    const owner = await app.createOrg()
    const folder = await createFolder(app, owner, 'Folder')
    const other = await createFolder(app, owner, 'Other')
    const files = await Promise.all(
      Array.from({ length: 8 }, (_, n) => upload(app, owner, `text ${n}`, { parentId: folder.id })),
    )
    await Promise.all([
      ...files.slice(0, 3).map(({ id }) => app.call('DELETE', `${api}/files/${id}?permanent=true`, { as: owner })),
      ...files
        .slice(3, 6)
        .map(({ id }) => app.call('PATCH', `${api}/files/${id}`, { as: owner, json: { parentId: other.id } })),
      ...Array.from({ length: 4 }, () => upload(app, owner, 'more', { parentId: other.id })),
      app.call('DELETE', `${api}/files/${folder.id}?permanent=true`, { as: owner }),
    ])
    await countsAreExact(app, owner.orgId)
  })
})
