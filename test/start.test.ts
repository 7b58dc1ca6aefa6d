import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, readdir, rm, stat } from 'node:fs/promises'
import { request } from 'node:http'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { promisify } from 'node:util'
import pg from 'pg'
import { cloneDatabase, createEmptyDatabase, sharedServer, urlOf } from './database.ts'
import { childEnv } from './support/child-processes.ts'
import { startOldPostgres } from './support/database/old-postgres.ts'
import { failToStart, startServerProcess } from './support/processes/server-process.ts'
import { until } from './support/until.ts'

const folder = await mkdtemp(join(tmpdir(), 'atrium-start-'))
const server = await sharedServer()
after(async () => {
  await server.stop()
  await rm(folder, { recursive: true, force: true })
})

const keys = `test:${Buffer.alloc(32, 7).toString('base64')}`

test('a first start prints a valid key, and a second start on the same directory is rejected without effects', async () => {
  const dataDir = join(folder, 'first')
  const atrium = await startServerProcess({ DATA_DIR: dataDir })
  const [, key] = /API key:\s+(atr_dev_\w+)/.exec(atrium.output()) ?? []
  const me = () => fetch(`${atrium.url}/api/v1/me`, { headers: { authorization: `Bearer ${key}` } })
  assert.equal((await me()).status, 200)
  assert.equal((await stat(join(dataDir, 'owner-api-key'))).mode & 0o777, 0o600)

  const second = await failToStart({ DATA_DIR: dataDir })
  assert.equal(second.code, 1)
  assert.match(second.output, /already running on .*first \(process \d+, since .*, at http:\/\/127\.0\.0\.1:\d+\)/)
  assert.equal((await me()).status, 200)

  assert.equal(await atrium.stop(), 0)
  const again = await startServerProcess({ DATA_DIR: dataDir })
  assert.ok(!again.output().includes('atr_dev_'), 'the key is shown once')
  const answer = await fetch(`${again.url}/api/v1/me`, { headers: { authorization: `Bearer ${key}` } })
  assert.equal(answer.status, 200)
  assert.equal(await again.stop(), 0)
})

test('in production the first key and sign-in link are in private files, and the output has their paths only', async () => {
  const dataDir = join(folder, 'production')
  const atrium = await startServerProcess({ DATA_DIR: dataDir, NODE_ENV: 'production' })
  const output = atrium.output()
  assert.doesNotMatch(output, /atr_live_|#link=/)
  for (const name of ['owner-api-key', 'owner-sign-in-link']) {
    assert.ok(output.includes(join(dataDir, name)), name)
    assert.equal((await stat(join(dataDir, name))).mode & 0o777, 0o600, name)
  }
  const key = (await readFile(join(dataDir, 'owner-api-key'), 'utf8')).trim()
  const headers = { authorization: `Bearer ${key}` }
  assert.equal((await fetch(`${atrium.url}/api/v1/me`, { headers })).status, 200)
  const link = (await readFile(join(dataDir, 'owner-sign-in-link'), 'utf8')).trim()
  const [origin, token] = link.split('/sign-in#link=')
  assert.equal(origin, atrium.url)
  const signIn = await fetch(`${atrium.url}/api/v1/auth/sign-in/link`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ token }),
  })
  assert.equal(signIn.status, 200)
  assert.equal(await atrium.stop(), 0)
  assert.doesNotMatch(atrium.output(), /atr_live_|#link=/)
})

test('all invalid environment variables are reported together, and nothing is changed', async () => {
  const dataDir = join(folder, 'untouched')
  const { code, output } = await failToStart({
    DATA_DIR: dataDir,
    PORT: 'eighty',
    NODE_ENV: 'prod',
    RATE_LIMIT_READ: '1',
    BOOTSTRAP_API_KEY: 'secret-of-mine',
  })
  assert.equal(code, 1)
  for (const name of ['PORT', 'NODE_ENV', 'RATE_LIMIT_READ']) assert.match(output, new RegExp(`✗ ${name} `))
  assert.equal(output.trim().split('\n').length, 1 + (output.match(/✗/g)?.length ?? 0), 'one line a mistake')
  assert.ok(!output.includes('secret-of-mine'))
  await assert.rejects(stat(dataDir))
})

test('a port in use is reported in one line, and the database is stopped gracefully', async () => {
  const other = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => void other.once('listening', resolve))
  const { port } = other.address() as { port: number }
  const dataDir = join(folder, 'port')
  const { code, output } = await failToStart({ DATA_DIR: dataDir, PORT: String(port) })
  other.close()
  assert.equal(code, 1)
  assert.match(output, new RegExp(`✗ Port ${port} on 127.0.0.1 is in use`))
  assert.ok(!(await readdir(join(dataDir, 'postgres', 'data'))).includes('postmaster.pid'))
})

test('an unreachable database is reported in one line without its password', async () => {
  const { code, output } = await failToStart({
    DATA_DIR: join(folder, 'away'),
    DATABASE_URL: 'postgres://atrium:hunter2@127.0.0.1:1/atrium',
  })
  assert.equal(code, 1)
  assert.match(output, /✗ The database of DATABASE_URL cannot be reached/)
  assert.ok(!output.includes('hunter2'))
})

test('a database that a newer version of Atrium migrated is rejected and not changed', async () => {
  const database = await cloneDatabase(server.connection)
  const client = new pg.Client(database.connection)
  await client.connect()
  await client.query(`insert into schema_migrations (name, checksum) values ('9999-from-the-future.sql', 'x')`)
  const { code, output } = await failToStart({
    DATA_DIR: join(folder, 'newer'),
    DATABASE_URL: urlOf(database.connection),
    ENCRYPTION_KEYS: keys,
  })
  assert.equal(code, 1)
  assert.match(output, /✗ The database is newer than this Atrium: it has the migration 9999-from-the-future\.sql/)
  assert.deepEqual((await client.query('select id from orgs')).rows, [])
  await client.end()
  await database.drop()
})

test('a worker with another data directory does not start, and one with the same or an adopted directory does', async () => {
  const database = await cloneDatabase(server.connection)
  const env = (name: string): Record<string, string> => ({
    DATA_DIR: join(folder, name),
    DATABASE_URL: urlOf(database.connection),
    ENCRYPTION_KEYS: keys,
  })
  const api = await startServerProcess(env('store'), 'api')
  const { code, output } = await failToStart(env('other-store'), 'worker')
  assert.equal(code, 1)
  assert.match(output, /✗ The files of this database are in another object store \(disk \S+store\/objects\)/)
  const worker = await startServerProcess(env('store'), 'worker')
  const cli = new URL('../src/cli/cli.ts', import.meta.url).pathname
  const options = { env: { ...childEnv, ...env('other-store') } }
  const adopt = (...more: string[]) =>
    promisify(execFile)(process.execPath, [cli, 'storage', 'adopt', '--json', ...more], options)
  await assert.rejects(adopt(), ({ stdout }: { stdout: string }) =>
    stdout.includes('Atrium is running on this database'),
  )
  assert.deepEqual([await worker.stop(), await api.stop()], [0, 0])
  const adopted = await adopt()
  assert.match(JSON.parse(adopted.stdout).previous, /\/store\/objects$/)
  assert.equal((await failToStart(env('store'), 'worker')).code, 1)
  const moved = await startServerProcess(env('other-store'), 'worker')
  assert.equal(await moved.stop(), 0)
  await database.drop()
})

test('a server does not start, and migrates nothing, when DATABASE_DIRECT_URL names another database', async () => {
  const [one, other] = [await cloneDatabase(server.connection), await createEmptyDatabase(server.connection)]
  const { code, output } = await failToStart({
    DATA_DIR: join(folder, 'direct'),
    DATABASE_URL: urlOf(one.connection),
    DATABASE_DIRECT_URL: urlOf(other.connection),
    ENCRYPTION_KEYS: keys,
  })
  assert.equal(code, 1)
  assert.match(output, /✗ DATABASE_DIRECT_URL leads to another database \(\S+\) than DATABASE_URL/)
  const client = new pg.Client(other.connection)
  await client.connect()
  assert.deepEqual((await client.query(`select from pg_class where relname = 'orgs'`)).rowCount, 0)
  await client.end()
  await Promise.all([one.drop(), other.drop()])
})

test('a PostgreSQL server that is too old is reported in one line, and nothing is written to it', async (t) => {
  const old = await startOldPostgres()
  t.after(old.stop)
  const { code, output } = await failToStart({
    DATA_DIR: join(folder, 'older'),
    DATABASE_URL: `postgres://atrium@127.0.0.1:${old.port}/atrium`,
    ENCRYPTION_KEYS: keys,
  })
  assert.equal(code, 1)
  assert.match(output, /✗ The database is PostgreSQL 14\.9; Atrium needs 15 or newer\./)
  assert.ok(old.asked.length > 0 && old.asked.every((statement) => statement.trim().startsWith('select ')))
})

test('a production server with an external database does not start without encryption keys', async () => {
  const { code, output } = await failToStart({
    NODE_ENV: 'production',
    DATA_DIR: join(folder, 'keys'),
    DATABASE_URL: 'postgres://atrium@127.0.0.1:1/atrium',
  })
  assert.equal(code, 1)
  assert.match(output, /✗ ENCRYPTION_KEYS is required in production with DATABASE_URL/)
})

test('a request that is running at SIGTERM gets its response before the process ends', async () => {
  const atrium = await startServerProcess({ DATA_DIR: join(folder, 'first') })
  const gone = new Promise<number | null>((resolve) => void atrium.child.once('exit', resolve))
  const body = JSON.stringify({ email: 'nobody@example.com', password: 'wrong password' })
  const status = await new Promise<number | undefined>((resolve, reject) => {
    const sent = request(`${atrium.url}/api/v1/auth/sign-in`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
        // The server confirms the head of the request before it receives the body.
        expect: '100-continue',
      },
    })
    sent.once('continue', () => {
      atrium.child.kill('SIGTERM')
      until('the server says that it stops', () => atrium.output().includes('stopping')).then(
        () => sent.end(body),
        reject,
      )
    })
    sent.once('response', (response) => resolve(response.statusCode))
    sent.once('error', reject)
  })
  assert.equal(status, 401)
  assert.equal(await gone, 0)
})

test('a worker serves only health checks and metrics', async () => {
  const worker = await startServerProcess({ DATA_DIR: join(folder, 'worker'), WORKER_PORT: '0' }, 'worker')
  const [, url] = /health: (http:\S+)\/healthz/.exec(worker.output()) ?? []
  for (const path of ['/healthz', '/readyz', '/metrics']) assert.equal((await fetch(url + path)).status, 200, path)
  assert.match(await (await fetch(`${url}/metrics`)).text(), /^jobs_oldest_waiting_seconds 0$/m)
  for (const path of ['/api/v1/me', '/openapi.json', '/']) assert.equal((await fetch(url + path)).status, 404, path)
  assert.equal(await worker.stop(), 0)
})
