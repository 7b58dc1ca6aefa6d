// Kills a server during a POST, which the client then repeats on another server.
import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { after, test } from 'node:test'
import { sql } from '../../src/platform/database/database.ts'
import { startTestApp } from '../harness.ts'
import { serveThings, thingsTable } from '../support/things.ts'
import type { Moment } from '../support/things.ts'

const { deps, db, config, connection, createOrg } = await startTestApp({}, { work: false })
await db.execute(thingsTable)
const { app, url: survivor } = await serveThings(deps)
const owner = await createOrg()

const children: ChildProcess[] = []
after(async () => {
  for (const child of children) child.kill('SIGKILL')
  await app.close()
})

/** Starts a server that kills itself during POST /things. */
const startVictim = async (dieWhen: Moment): Promise<string> => {
  const program = new URL('things-process.ts', import.meta.url)
  const child = fork(program, [JSON.stringify(connection), config.dataDir, dieWhen])
  children.push(child)
  const [url] = (await once(child, 'message')) as [string]
  return url
}

const post = async (url: string, key: string, name: string) => {
  const answer = await fetch(`${url}/things`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${owner.key}`,
      'content-type': 'application/json',
      'idempotency-key': key,
    },
    body: JSON.stringify({ name }),
  })
  return { status: answer.status, body: (await answer.json()) as { error?: { code: string; message: string } } }
}

const effects = async (name: string): Promise<number> =>
  (await db.row<{ count: number }>(sql`select count(*)::int as count from things where name = ${name}`))!.count
/** Expires all claims, which otherwise last 60 seconds. */
const endClaim = (key: string) =>
  db.execute(sql`update idempotency_keys set claimed_until = now() - interval '1 second' where key = ${key}`)

test('a retry of a POST whose server was killed between commit and response is CONFLICT and does not execute it again', async () => {
  const [key, name] = ['key after', 'after']
  await assert.rejects(post(await startVictim('after the commit'), key, name))
  assert.equal(await effects(name), 1)
  // The other server must assume that the first one is still sending its response.
  const early = await post(survivor, key, name)
  assert.equal(early.status, 409)
  assert.match(early.body.error!.message, /still running/)
  await endClaim(key)
  const again = await post(survivor, key, name)
  assert.equal(again.status, 409)
  assert.match(again.body.error!.message, /was executed/)
  assert.equal(await effects(name), 1)
})

for (const faultPoint of ['before the work', 'before the commit'] as const) {
  test(`a POST whose server is killed ${faultPoint} changes nothing, and a retry executes it when the claim has expired`, async () => {
    const [key, name] = [`key ${faultPoint}`, faultPoint]
    await assert.rejects(post(await startVictim(faultPoint), key, name))
    assert.equal(await effects(name), 0)
    const early = await post(survivor, key, name)
    assert.equal(early.status, 409)
    assert.match(early.body.error!.message, /still running/)
    await endClaim(key)
    assert.equal((await post(survivor, key, name)).status, 201)
    assert.equal(await effects(name), 1)
  })
}
