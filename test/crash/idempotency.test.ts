// A server that is killed in the middle of a POST, and the client that sends it again to another one.
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

/** A server that kills itself in the middle of POST /things. */
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
/** The 60 seconds of a claim, over. */
const endClaim = (key: string) =>
  db.execute(sql`update idempotency_keys set claimed_until = now() - interval '1 second' where key = ${key}`)

test('killed between the commit and the answer: the client is told that it was carried out, and it is not done again', async () => {
  const [key, name] = ['key after', 'after']
  await assert.rejects(post(await startVictim('after the commit'), key, name))
  assert.equal(await effects(name), 1)
  // For all that the other one knows, the answer is still on the way.
  const early = await post(survivor, key, name)
  assert.equal(early.status, 409)
  assert.match(early.body.error!.message, /still running/)
  await endClaim(key)
  const again = await post(survivor, key, name)
  assert.equal(again.status, 409)
  assert.match(again.body.error!.message, /was executed/)
  assert.equal(await effects(name), 1)
})

for (const moment of ['before the work', 'before the commit'] as const) {
  test(`killed ${moment}: nothing is done, and the client's retry does it once the claim is over`, async () => {
    const [key, name] = [`key ${moment}`, moment]
    await assert.rejects(post(await startVictim(moment), key, name))
    assert.equal(await effects(name), 0)
    const early = await post(survivor, key, name)
    assert.equal(early.status, 409)
    assert.match(early.body.error!.message, /still running/)
    await endClaim(key)
    assert.equal((await post(survivor, key, name)).status, 201)
    assert.equal(await effects(name), 1)
  })
}
