import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sql } from '../../../platform/database/database.ts'
import { startTestApp } from '../../../../test/harness.ts'
import type { Answer, TestActor } from '../../../../test/harness.ts'
import { rememberKeys } from '../../../../test/support/processes/remembered-keys.ts'
import { hashPassword, setPassword } from '../passwords.ts'

rememberKeys()
const app = await startTestApp({ RATE_LIMIT_KEY_MINTING: '0', RATE_LIMIT_SIGN_IN: '0' })
const password = 'correct horse battery'
const passwordHash = await hashPassword(password)

const newOwner = async (): Promise<TestActor> => {
  const owner = await app.createOrg()
  await app.db.transaction('all orgs', (db) => setPassword(db, owner.userId, passwordHash))
  return owner
}
const stepUp = (as: TestActor, json: object): Promise<Answer> => app.call('POST', '/api/v1/auth/step-up', { as, json })
const mintWith = async (as: TestActor, token: string): Promise<number> => {
  const headers = { 'x-step-up-token': token }
  return (await app.call('POST', '/api/v1/api-keys', { as, json: { name: 'N' }, headers })).status
}

describe('POST /auth/step-up', () => {
  test('returns a token for ten minutes for the right password', async () => {
    const owner = await newOwner()
    const answer = await stepUp(owner, { password })
    assert.equal(answer.status, 200, answer.text)
    const { token, expiresAt } = answer.body.data
    const minutes = (Date.parse(expiresAt) - Date.now()) / 60_000
    assert.ok(minutes > 9 && minutes < 10.1)
    assert.equal(await mintWith(owner, token), 201)
    assert.equal(await mintWith(owner, token), 201, 'good for more than one call')
    const row = await app.db.row<{ text: string }>(sql`
      select t::text as text from step_up_tokens t where user_id = ${owner.userId}`)
    assert.ok(row && !row.text.includes(token))
  })

  test('responds with FORBIDDEN to a wrong password, a person without a password, and a code without a second factor', async () => {
    const owner = await newOwner()
    const without = await app.createOrg()
    const answers = [
      await stepUp(owner, { password: 'wrong password' }),
      await stepUp(without, { password }),
      await stepUp(owner, { totpCode: '123456' }),
    ]
    assert.deepEqual(
      answers.map(({ status }) => status),
      [403, 403, 403],
    )
    assert.equal(new Set(answers.map(({ text }) => text)).size, 1)
  })

  test('responds with BAD_REQUEST to neither or both of password and code', async () => {
    const owner = await newOwner()
    for (const json of [{}, { password, totpCode: '123456' }, { password: 1 }, { totpCode: '12345' }]) {
      assert.equal((await stepUp(owner, json)).status, 400)
    }
    assert.equal((await app.call('POST', '/api/v1/auth/step-up', { json: { password } })).status, 401)
  })

  test('limits step-up attempts per person over all their keys', async () => {
    const limited = await app.secondServer({ RATE_LIMIT_SIGN_IN: '10' })
    const owner = await newOwner()
    const other = await newOwner()
    const minted = await app.call('POST', '/api/v1/api-keys', {
      as: owner,
      json: { name: 'N' },
      headers: await app.stepUp(owner),
    })
    const keys = [owner.key, minted.body.data.key]
    // Concurrent, because the limit admits another attempt every six seconds.
    const json = { password: 'wrong password' }
    const answers = await Promise.all(
      Array.from({ length: 11 }, (_, i) =>
        limited.call('POST', '/api/v1/auth/step-up', { as: keys[i % 2] ?? '', json }),
      ),
    )
    const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b)
    assert.deepEqual(statuses, [...Array.from({ length: 10 }, () => 403), 429])
    assert.equal((await limited.call('POST', '/api/v1/auth/step-up', { as: other, json: { password } })).status, 200)
    app.limitClock.ms += 6_000
    assert.equal((await limited.call('POST', '/api/v1/auth/step-up', { as: owner, json: { password } })).status, 200)
  })
})

describe('step-up tokens', () => {
  test("responds with FORBIDDEN to a missing, forged, truncated or expired token and to another person's token", async () => {
    const owner = await newOwner()
    const colleague = await app.createUser(owner, 'owner')
    const { token } = (await stepUp(owner, { password })).body.data
    const without = await app.call('POST', '/api/v1/api-keys', { as: owner, json: { name: 'N' } })
    assert.equal(without.status, 403)
    assert.equal(without.body.error.code, 'FORBIDDEN')
    for (const garbage of ['', 'x', token.slice(0, -1), `${token}x`, token.toUpperCase()]) {
      assert.equal(await mintWith(owner, garbage), 403, garbage)
    }
    assert.equal(await mintWith(colleague, token), 403)
    assert.equal(await mintWith(owner, token), 201)
    await app.db.execute(sql`update step_up_tokens set expires_at = now() where user_id = ${owner.userId}`)
    assert.equal(await mintWith(owner, token), 403)
  })

  test('ends step-up tokens when the password changes', async () => {
    const owner = await newOwner()
    const { token } = (await stepUp(owner, { password })).body.data
    await app.db.transaction('all orgs', (db) => setPassword(db, owner.userId, passwordHash))
    assert.equal(await mintWith(owner, token), 403)
  })

  test('requires step-up for every request that would let a stolen key extend its access', async () => {
    const owner = await app.createOrg()
    const member = await app.createUser(owner, 'member')
    const { body } = await app.call('GET', '/api/v1/members', { as: owner })
    const { id } = body.data.items.find((item: { userId: string }) => item.userId === member.userId)
    const created = await app.call('POST', '/api/v1/workspaces', { as: owner, json: { name: 'W' } })
    for (const [method, path, json] of [
      ['POST', '/api-keys', { name: 'N' }],
      ['PATCH', `/members/${id}`, { role: 'owner' }],
      ['POST', '/members', { email: 'accomplice@example.com', role: 'owner' }],
      ['DELETE', `/workspaces/${created.body.data.id}`, undefined],
    ] as const) {
      const answer = await app.call(method, `/api/v1${path}`, { as: owner, ...(json && { json }) })
      assert.equal(answer.status, 403, `${method} ${path}`)
      assert.match(answer.body.error.message, /step-up/)
    }
  })
})

test('logs no step-up token and no password', () => {
  const lines = app.logLines.join('\n')
  assert.ok(!lines.includes(password) && !lines.includes('sut_'))
})
