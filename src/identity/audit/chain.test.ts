import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { describe, test } from 'node:test'
import { until } from '../../../test/support/chat.ts'
import { commandUrlOf, runHere } from '../../../test/support/processes/command.ts'
import { startTestApp } from '../../../test/harness.ts'
import type { TestActor } from '../../../test/harness.ts'
import { sql } from '../../platform/database/database.ts'
import { newId } from '../../platform/ids.ts'
import { systemActor } from '../actor.ts'
import { audit } from './audit.ts'
import { hashOfEntry, sealOrg, verifyChain } from './chain.ts'
import { listSealed } from './chain-queries.ts'

const app = await startTestApp()
const { db } = app

// oxlint-disable-next-line typescript/no-explicit-any -- tests read fields of responses of any shape
type Json = any

const createWorkspaces = async (as: TestActor, count: number): Promise<void> => {
  for (let i = 0; i < count; i++) {
    const answer = await app.call('POST', '/api/v1/workspaces', { as, json: { name: `W${i}` } })
    assert.equal(answer.status, 201, answer.text)
  }
}

const entriesOf = async (as: TestActor): Promise<Json[]> =>
  (await app.call('GET', '/api/v1/audit-log?limit=100', { as })).body.data.items

/** Waits until the worker has sealed all entries. */
const sealed = (as: TestActor, count: number): Promise<Json[]> =>
  until(
    () => entriesOf(as),
    (entries) => entries.length === count && entries.every(({ seq }) => seq !== null),
  )

/** An org with five sealed entries. */
const withFive = async (): Promise<TestActor> => {
  const owner = await app.createOrg()
  await createWorkspaces(owner, 5)
  await sealed(owner, 5)
  return owner
}

const idAt = async ({ orgId }: TestActor, seq: number): Promise<string> =>
  (await db.row<{ id: string }>(sql`select id from audit_log where org_id = ${orgId} and seq = ${seq}`))?.id ?? ''

const brokenIn = async ({ orgId }: TestActor, known?: { seq: bigint; hash: string }) =>
  (await verifyChain(db, orgId, known, 2)).broken

describe('sealing the audit log', () => {
  test('seals entries within seconds, each with a hash over the previous one that can be recomputed', async () => {
    const owner = await withFive()
    const entries = (await entriesOf(owner)).toReversed()
    assert.deepEqual(
      entries.map(({ seq }) => seq),
      [1, 2, 3, 4, 5],
    )
    const stored = await db.rows<{ at: string; details: string }>(sql`
      select to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as at, details::text as details
      from audit_log where org_id = ${owner.orgId} order by seq`)
    let before = '0'.repeat(64)
    for (const [i, { id, actor, action, resource, ip, requestId, seq, hash }] of entries.entries()) {
      const { at, details } = stored[i]!
      const who = [id, at, actor.id, actor.apiKeyId, actor.name, action]
      const what = [resource.type, resource.id, details, ip, requestId]
      const form = JSON.stringify([1, owner.orgId, String(seq), before, ...who, ...what])
      assert.equal(hash, createHash('sha256').update(form).digest('hex'))
      before = hash
    }
    const report = await verifyChain(db, owner.orgId)
    assert.deepEqual([report.entries, report.seq, report.hash, report.broken], [5, 5, before, null])
  })

  test('seals entries of ten concurrent writers once and without gaps while several workers seal', async () => {
    const owner = await app.createOrg()
    const second = await app.secondServer()
    const actor = systemActor(owner.orgId, 'test')
    const write = (n: number) =>
      app.db.transaction('all orgs', (db) =>
        audit(db, actor, 'test.happened', { type: 'test', id: `${n}`, details: { n } }),
      )
    await Promise.all([
      ...Array.from({ length: 10 }, async (_, writer) => {
        for (let i = 0; i < 20; i++) await write(writer * 100 + i)
      }),
      ...[app, second].map(async (server) => {
        for (let i = 0; i < 20; i++) await sealOrg(server.db, owner.orgId, 7)
      }),
    ])
    const report = await until(
      () => verifyChain(db, owner.orgId),
      ({ unsealed }) => unsealed === 0,
    )
    assert.deepEqual([report.entries, report.seq, report.broken], [200, 200, null])
    assert.ok(![...app.logLines, ...second.logLines].some((line) => line.includes('deadlock')))
  })

  test('seals entries of an open transaction after its commit, and others before', async () => {
    const owner = await app.createOrg()
    const written = Promise.withResolvers<void>()
    const released = Promise.withResolvers<void>()
    const waiting = app.db.transaction('all orgs', async (db) => {
      await audit(db, systemActor(owner.orgId, 'test'), 'test.slow', { type: 'test', id: null })
      written.resolve()
      await released.promise
    })
    await written.promise
    await createWorkspaces(owner, 2)
    await sealed(owner, 2)
    released.resolve()
    await waiting
    const entries = await sealed(owner, 3)
    assert.equal(entries.find(({ seq }) => seq === 3).action, 'test.slow')
    assert.equal(await brokenIn(owner), null)
  })

  test('seals all or no entries of a batch when the sealer dies, and the next sealer seals them', async () => {
    // A separate database, in which no worker seals.
    const idle = await startTestApp({}, { work: false })
    const owner = await idle.createOrg()
    const { orgId } = owner
    for (let i = 0; i < 5; i++) await idle.call('POST', '/api/v1/workspaces', { as: owner, json: { name: `W${i}` } })
    await idle.db.execute(sql`alter table audit_heads add constraint dies check (seq = 0)`)
    await assert.rejects(sealOrg(idle.db, orgId, 10), /dies/)
    await idle.db.execute(sql`alter table audit_heads drop constraint dies`)
    const between = await verifyChain(idle.db, orgId)
    assert.deepEqual([between.seq, between.unsealed, between.broken], [0, 5, null])
    assert.equal(await sealOrg(idle.db, orgId, 3), 3)
    assert.equal(await sealOrg(idle.db, orgId, 3), 2)
    assert.equal(await sealOrg(idle.db, orgId, 3), 0)
    const after = await verifyChain(idle.db, orgId)
    assert.deepEqual([after.entries, after.unsealed, after.broken], [5, 0, null])
  })
})

describe('changes by somebody with write access to the database', () => {
  const changes: Record<string, (owner: TestActor) => Promise<unknown>> = {
    'changes the details of an entry': async (owner) =>
      db.execute(sql`
        update audit_log set details = details || '{"name":"X"}'
        where org_id = ${owner.orgId} and id = ${await idAt(owner, 3)}`),
    'changes the actor of an entry': async (owner) =>
      db.execute(sql`
        update audit_log set actor_name = 'Nobody' where org_id = ${owner.orgId} and id = ${await idAt(owner, 3)}`),
    'moves the time of an entry by a microsecond': async (owner) =>
      db.execute(sql`
        update audit_log set at = (at at time zone 'UTC' + interval '1 microsecond') at time zone 'UTC'
        where org_id = ${owner.orgId} and id = ${await idAt(owner, 3)}`),
    'replaces the hash of an entry': async (owner) =>
      db.execute(sql`
        update audit_log set hash = sha256('x') where org_id = ${owner.orgId} and id = ${await idAt(owner, 3)}`),
    'deletes an entry': async (owner) =>
      db.execute(sql`delete from audit_log where org_id = ${owner.orgId} and id = ${await idAt(owner, 3)}`),
    'deletes an entry and moves the later ones up': async (owner) => {
      await db.execute(sql`delete from audit_log where org_id = ${owner.orgId} and id = ${await idAt(owner, 3)}`)
      for (const seq of [4, 5]) {
        await db.execute(sql`update audit_log set seq = seq - 1 where org_id = ${owner.orgId} and seq = ${seq}`)
      }
    },
    'removes the position of an entry': async (owner) =>
      db.execute(sql`
        update audit_log set seq = null, hash = null
        where org_id = ${owner.orgId} and id = ${await idAt(owner, 3)}`),
    'exchanges two entries': async (owner) => {
      const [third, fifth] = [await idAt(owner, 3), await idAt(owner, 5)]
      for (const [id, seq] of [
        [third, 100],
        [fifth, 3],
        [third, 5],
      ] as const) {
        await db.execute(sql`update audit_log set seq = ${seq} where org_id = ${owner.orgId} and id = ${id}`)
      }
    },
    'inserts an entry between others': async (owner) => {
      for (const seq of [5, 4, 3]) {
        await db.execute(sql`update audit_log set seq = seq + 1 where org_id = ${owner.orgId} and seq = ${seq}`)
      }
      await db.execute(sql`
        insert into audit_log (org_id, id, actor_name, action, resource_type, seq, hash)
        values (${owner.orgId}, ${newId()}, 'Nobody', 'org.forged', 'org', 3, sha256('x'))`)
    },
  }
  for (const [what, change] of Object.entries(changes)) {
    test(`reports the first broken entry after somebody ${what}`, async () => {
      const owner = await withFive()
      assert.equal(await brokenIn(owner), null)
      await change(owner)
      const broken = await brokenIn(owner)
      assert.equal(broken?.seq, 3, JSON.stringify(broken))
    })
  }

  test('reports the next entry after somebody changes an entry together with its hash', async () => {
    const owner = await withFive()
    const { orgId } = owner
    const hash = await db.row<{ hash: Buffer }>(sql`select hash from audit_log where org_id = ${orgId} and seq = 2`)
    const id = await idAt(owner, 3)
    await db.execute(sql`update audit_log set action = 'org.forged' where org_id = ${orgId} and id = ${id}`)
    const [entry] = await listSealed(db, orgId, { after: 2n, upTo: 3n, limit: 1 })
    const forged = hashOfEntry(orgId, 3n, hash!.hash, entry!)
    await db.execute(sql`update audit_log set hash = ${forged} where org_id = ${orgId} and id = ${id}`)
    assert.equal((await brokenIn(owner))?.seq, 4)
  })

  test('reports a removed newest entry, and an entry beyond the head', async () => {
    const owner = await withFive()
    await db.execute(sql`delete from audit_log where org_id = ${owner.orgId} and seq = 5`)
    assert.equal((await brokenIn(owner))?.seq, 5)
    const other = await withFive()
    await db.execute(sql`
      insert into audit_log (org_id, id, actor_name, action, resource_type, seq, hash)
      values (${other.orgId}, ${newId()}, 'Nobody', 'org.forged', 'org', 6, sha256('x'))`)
    assert.equal((await brokenIn(other))?.seq, 6)
  })

  test('reports a completely rewritten chain when a head that was stored elsewhere is given', async () => {
    const owner = await withFive()
    const { orgId } = owner
    const { seq, hash } = await verifyChain(db, orgId)
    const head = { seq: BigInt(seq), hash }
    await createWorkspaces(owner, 1)
    await sealed(owner, 6)
    assert.equal(await brokenIn(owner, head), null)
    await db.transaction('all orgs', async (db) => {
      await db.execute(sql`update audit_log set action = 'org.forged' where org_id = ${orgId} and seq = 2`)
      await db.execute(sql`update audit_log set seq = null, hash = null where org_id = ${orgId}`)
      await db.execute(sql`delete from audit_heads where org_id = ${orgId}`)
    })
    await sealed(owner, 6)
    assert.equal(await brokenIn(owner), null)
    assert.equal((await brokenIn(owner, head))?.seq, 5)
    assert.equal((await brokenIn(owner, { ...head, seq: 9n }))?.seq, 7)
  })
})

test('verifies a chain from its anchor when its oldest entries were removed because of their age', async () => {
  const owner = await withFive()
  const { orgId } = owner
  await db.transaction('all orgs', async (db) => {
    await db.execute(sql`
      update audit_heads h set anchor_seq = a.seq, anchor_hash = a.hash
      from audit_log a where h.org_id = ${orgId} and a.org_id = ${orgId} and a.seq = 2`)
    await db.execute(sql`delete from audit_log where org_id = ${orgId} and seq <= 2`)
  })
  const report = await verifyChain(db, orgId)
  assert.deepEqual([report.entries, report.seq, report.broken], [3, 5, null])
  await db.execute(sql`delete from audit_log where org_id = ${orgId} and seq = 3`)
  assert.equal((await brokenIn(owner))?.seq, 3)
})

describe('atrium audit', () => {
  const run = async (...words: string[]): Promise<{ code: number | null; json: Json }> => {
    const env = { NODE_ENV: 'test', DATABASE_URL: commandUrlOf(app.connection), DATA_DIR: app.config.dataDir }
    const { code, stdout } = await runHere(['audit', ...words, '--json'], { env })
    return { code, json: JSON.parse(stdout) }
  }

  test('verify exits with 0 for an intact chain, and with 1 and the first broken entry for a broken one', async () => {
    const owner = await withFive()
    const head = await run('head', '--org', owner.orgId)
    assert.deepEqual([head.code, head.json.seq, head.json.unsealed], [0, 5, 0])
    const known = `${head.json.seq}:${head.json.hash}`
    const good = await run('verify', '--org', owner.orgId, '--head', known)
    assert.deepEqual([good.code, good.json.isWhole, good.json.orgs[0].entries], [0, true, 5])
    const other = await run('verify', '--org', owner.orgId, '--head', `5:${'a'.repeat(64)}`)
    assert.deepEqual([other.code, other.json.orgs[0].broken.seq], [1, 5])
    await db.execute(sql`update audit_log set ip = '10.0.0.1' where org_id = ${owner.orgId} and seq = 4`)
    const bad = await run('verify')
    assert.deepEqual([bad.code, bad.json.isWhole], [1, false])
    const report = bad.json.orgs.find((one: Json) => one.orgId === owner.orgId)
    assert.deepEqual([report.broken.seq, report.broken.entryId], [4, await idAt(owner, 4)])
  })

  test('verify rejects a head without an org, and a malformed head', async () => {
    const owner = await withFive()
    assert.notEqual((await run('verify', '--head', `1:${'a'.repeat(64)}`)).code, 0)
    assert.notEqual((await run('verify', '--org', owner.orgId, '--head', 'x')).code, 0)
    assert.notEqual((await run('head', '--org', newId())).code, 0)
  })
})
