import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newId } from '../ids.ts'
import { raw, sql } from './database.ts'
import { startTestApp } from '../../../test/harness.ts'

const app = await startTestApp()

test('concurrent look-ups each return their own record of their own org', async () => {
  const orgs = await Promise.all(['One', 'Two', 'Three'].map((name) => app.createOrg(name)))
  const agents = await Promise.all(
    orgs.flatMap((owner) =>
      Array.from({ length: 5 }, async (_, n) => {
        const { body } = await app.call('POST', '/api/v1/agents', { as: owner, json: { name: `Agent ${n}` } })
        return { owner, id: body.data.id as string, name: `Agent ${n}` }
      }),
    ),
  )
  const asked = orgs.flatMap((caller) => [
    ...agents.map((agent) => ({ caller, id: agent.id, name: agent.owner === caller ? agent.name : undefined })),
    { caller, id: newId(), name: undefined },
  ])
  for (let round = 0; round < 3; round++) {
    const answers = await Promise.all(
      asked.map(({ caller, id }) => app.call('GET', `/api/v1/agents/${id}`, { as: caller })),
    )
    for (const [place, { caller, id, name }] of asked.entries()) {
      const { status, body } = answers[place] as (typeof answers)[number]
      assert.equal(status, name === undefined ? 404 : 200)
      if (name === undefined) continue
      assert.deepEqual([body.data.id, body.data.orgId, body.data.name], [id, caller.orgId, name])
    }
  }
})

test('a rejected look-up statement fails its callers and no later look-ups', async () => {
  const broken = { text: 'select 1::bigint as place, (1 / 0)::text as record from unnest($1::uuid[])' }
  const failures = await Promise.allSettled(Array.from({ length: 3 }, () => app.db.hot.lookUp(broken, [newId()])))
  assert.deepEqual(new Set(failures.map(({ status }) => status)), new Set(['rejected']))
  const right = { text: "select place, 'found' as record from unnest($1::uuid[]) with ordinality as asked (id, place)" }
  assert.deepEqual(
    await Promise.all(Array.from({ length: 3 }, () => app.db.hot.lookUp(right, [newId()]))),
    Array.from({ length: 3 }, () => 'found'),
  )
})

test('an invalid key fails its own look-up and no other of the same batch', async () => {
  const found = { text: "select place, 'found' as record from unnest($1::uuid[]) with ordinality as asked (id, place)" }
  const answers = await Promise.allSettled([newId(), 'no uuid', newId()].map((id) => app.db.hot.lookUp(found, [id])))
  assert.deepEqual(
    answers.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled'],
  )
})

test('the forms of one statement do not take the prepared statements of others', async () => {
  const countOf = async (form: string): Promise<number> =>
    app.db.transaction('all orgs', async (db) => {
      for (let n = 0; n < 100; n++) await db.row(sql`select ${n}::integer as n, ${raw(`'${form} ${n}'`)} as form`)
      await db.row(sql`select 'other' as other, ${form}::text as form`)
      const counted = await db.row<{ forms: number; others: number }>(sql`
        select count(*) filter (where statement like ${`%'${form} %`})::integer as forms,
          count(*) filter (where statement like '%''other'' as other%')::integer as others
        from pg_prepared_statements`)
      assert.equal(counted?.others, 1)
      return counted.forms
    })
  assert.equal(await countOf('first'), 64)
  // The names are the same on all connections.
  assert.equal(await countOf('second'), 0)
})
