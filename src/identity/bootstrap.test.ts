import assert from 'node:assert/strict'
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { raw, sql } from '../platform/database/database.ts'
import { sqlState } from '../platform/database/errors.ts'
import type { Config } from '../config/config.ts'
import { generateKey, isWellFormedKey } from '../platform/key-format.ts'
import { startTestApp } from '../../test/harness.ts'
import { bootstrap } from './bootstrap.ts'

const app = await startTestApp()
const second = await app.secondServer()
const dataDir = await mkdtemp(join(tmpdir(), 'atrium-bootstrap-'))
const keyFile = join(dataDir, 'owner-api-key')
after(() => rm(dataDir, { recursive: true, force: true }))

const emptyTables = async (): Promise<void> => {
  // Transactions cannot be deleted, so these tests need a new database.
  await app.db.transaction('all orgs', async (db) => {
    for (const table of ['transactions', 'usage_records']) {
      await db.execute(sql`alter table ${raw(table)} disable trigger ${raw(`${table}_keep`)}`)
    }
    await db.execute(sql`truncate orgs, users cascade`)
    for (const table of ['transactions', 'usage_records']) {
      await db.execute(sql`alter table ${raw(table)} enable trigger ${raw(`${table}_keep`)}`)
    }
  })
}

const emptyDatabase = async (): Promise<void> => {
  for (;;) {
    try {
      await emptyTables()
      break
    } catch (error) {
      // It locks every table, while work of both servers in the background locks some of them in another order.
      if (sqlState(error) !== '40P01') throw error
    }
  }
  await rm(keyFile, { force: true })
}

const withBootstrap = (values: Partial<Config['bootstrap']>): Config => ({
  ...app.config,
  bootstrap: { ...app.config.bootstrap, ...values },
})

describe('the first start', () => {
  test('creates one org, workspace and owner, and writes a working API key to a private file', async () => {
    await emptyDatabase()
    const { created, apiKey, apiKeyFile, signInPath } = await bootstrap(app.db, app.config, dataDir)
    assert.equal(created, true)
    assert.ok(apiKey && isWellFormedKey(apiKey, 'test'))
    assert.equal(apiKeyFile, keyFile)
    assert.equal(await readFile(keyFile, 'utf8'), `${apiKey}\n`)
    assert.equal((await stat(keyFile)).mode & 0o777, 0o600)
    assert.deepEqual(await readdir(dataDir), ['owner-api-key'])
    const me = await app.call('GET', '/api/v1/me', { as: apiKey })
    assert.equal(me.body.data.user.email, 'owner@localhost')
    assert.equal(me.body.data.role, 'owner')
    assert.equal(me.body.data.workspace.name, 'Main')
    const token = signInPath?.replace('/sign-in#link=', '')
    assert.equal((await app.call('POST', '/api/v1/auth/sign-in/link', { json: { token } })).status, 200)
  })

  test('changes nothing and shows no API key at later starts', async () => {
    await emptyDatabase()
    const { apiKey } = await bootstrap(app.db, app.config, dataDir)
    assert.deepEqual(await bootstrap(app.db, app.config, dataDir), { created: false })
    assert.equal((await app.call('GET', '/api/v1/me', { as: apiKey as string })).status, 200)
    assert.equal(await readFile(keyFile, 'utf8'), `${apiKey}\n`)
  })

  test('creates the first org in exactly one of several processes that start at the same time', async () => {
    for (let round = 0; round < 5; round++) {
      await emptyDatabase()
      const outcomes = await Promise.all([app, second, app, second].map(({ db }) => bootstrap(db, app.config, dataDir)))
      const winners = outcomes.filter(({ created }) => created)
      assert.equal(winners.length, 1)
      const row = await app.db.row<{ orgs: number; users: number; keys: number }>(sql`
        -- all orgs: there must be one
        select (select count(*)::int from orgs) as orgs, (select count(*)::int from users) as users,
          (select count(*)::int from api_keys) as keys`)
      assert.deepEqual(row, { orgs: 1, users: 1, keys: 1 })
      const kept = (await readFile(keyFile, 'utf8')).trim()
      assert.equal(kept, winners[0]?.apiKey)
      assert.equal((await app.call('GET', '/api/v1/me', { as: kept })).status, 200)
    }
  })

  test('uses BOOTSTRAP_API_KEY, _EMAIL and _PASSWORD for the owner and writes or prints no secret', async () => {
    await emptyDatabase()
    await writeFile(keyFile, 'of an attempt that failed')
    const apiKey = generateKey('test')
    const config = withBootstrap({ apiKey, email: 'ada@example.com', password: 'a good password' })
    assert.deepEqual(await bootstrap(app.db, config, dataDir), { created: true })
    assert.deepEqual(await readdir(dataDir), [])
    assert.equal((await app.call('GET', '/api/v1/me', { as: apiKey })).body.data.user.email, 'ada@example.com')
    const json = { email: 'ada@example.com', password: 'a good password' }
    assert.equal((await app.call('POST', '/api/v1/auth/sign-in', { json })).status, 200)
    assert.equal(
      (await app.call('POST', '/api/v1/auth/step-up', { as: apiKey, json: { password: json.password } })).status,
      200,
    )
  })

  test('creates no owner when the key file cannot be written, and creates one at the next start', async () => {
    await emptyDatabase()
    await assert.rejects(bootstrap(app.db, app.config, join(dataDir, 'missing')), { code: 'ENOENT' })
    const row = await app.db.row<{ count: number }>(sql`select count(*)::int as count from users`)
    assert.equal(row?.count, 0)
    await writeFile(keyFile, 'of an attempt that failed')
    const { apiKey } = await bootstrap(app.db, app.config, dataDir)
    assert.equal(await readFile(keyFile, 'utf8'), `${apiKey}\n`)
  })

  test('lets the owner sign in with the default address owner@localhost', async () => {
    await emptyDatabase()
    await bootstrap(app.db, withBootstrap({ password: 'a good password' }), dataDir)
    const json = { email: 'owner@localhost', password: 'a good password' }
    assert.equal((await app.call('POST', '/api/v1/auth/sign-in', { json })).status, 200)
  })
})
