import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { Redis } from 'ioredis'
import { startTestApp } from '../../test/harness.ts'
import { createRedis, hasRedis } from '../../test/fakes/redis.ts'
import { commandUrlOf, runHere } from '../../test/support/processes/command.ts'
import { openDatabase, raw, sql } from '../platform/database/database.ts'
import type { Database } from '../platform/database/database.ts'
import { openDiskStore } from '../platform/object-store/disk.ts'
import { adoptStore } from '../platform/object-store/registration.ts'
import { checkClock, checkConnections, checkRights } from './doctor-database.ts'

const app = await startTestApp({ ENCRYPTION_KEYS: `one:${randomBytes(32).toString('base64')}` })
const { host = '', port = 5432, user: owner = '', database = '' } = app.connection
const folder = await mkdtemp(join(tmpdir(), 'atrium-doctor-'))
after(() => rm(folder, { recursive: true, force: true }))

/** A role for this file, dropped after the last test, and its connection. */
const newRole = async (): Promise<{ role: string; url: string; db: Database }> => {
  const role = `doctor_${randomBytes(4).toString('hex')}`
  await app.db.execute(sql`create role ${raw(role)} login`)
  const connection = { ...app.connection, user: role }
  const db = openDatabase({ connection, poolSize: 1, hotConnections: 1, onError: () => undefined })
  after(async () => {
    await db.close()
    await app.db.execute(sql`drop owned by ${raw(role)}`)
    await app.db.execute(sql`drop role ${raw(role)}`)
  })
  const url = host.startsWith('/')
    ? `postgres://${role}@/${database}?host=${encodeURIComponent(host)}&port=${port}`
    : `postgres://${role}@${host}:${port}/${database}`
  return { role, url, db }
}

interface Check {
  name: string
  ok: boolean
  detail: string
}

const doctor = async (env: Record<string, string>): Promise<{ failed: Check[]; all: Check[] }> => {
  const { stdout, stderr } = await runHere(['doctor', '--json'], {
    env: {
      NODE_ENV: 'test',
      PORT: '0',
      DATA_DIR: app.config.dataDir,
      ENCRYPTION_KEYS: app.config.encryptionKeys?.map(({ id, key }) => `${id}:${key.toString('base64')}`).join() ?? '',
      DATABASE_URL: commandUrlOf(app.connection),
      ...env,
    },
  })
  assert.match(stdout, /^\{/, stderr)
  const { checks: all } = JSON.parse(stdout) as { checks: Check[] }
  return { all, failed: all.filter(({ ok }) => !ok) }
}

test('doctor fails for a role that can read and write all tables but does not own them', async () => {
  const { role, url, db } = await newRole()
  await app.db.execute(sql`grant all on all tables in schema public to ${raw(role)}`)
  await app.db.execute(sql`grant all on schema public to ${raw(role)}`)
  await assert.rejects(
    checkRights(db),
    /the role doctor_\w+ does not own \w+, \w+, \w+, and \d+ more; connect as the owner/,
  )
  const { failed, all } = await doctor({ DATABASE_URL: url })
  assert.deepEqual(
    failed.map(({ name }) => name),
    ['permissions'],
  )
  assert.ok(!all.some(({ name }) => name === 'encryption keys'), 'no check whose result would be misleading')
  assert.match(await checkRights(app.db), /owns the schema/)
})

test('doctor names the permissions when the role cannot even read the history of migrations', async () => {
  const { url } = await newRole()
  const { failed } = await doctor({ DATABASE_URL: url })
  assert.deepEqual(
    failed.map(({ name }) => name),
    ['database', 'permissions'],
  )
})

test('doctor fails when the limit of the role leaves no room for the connections of one more process', async () => {
  const { role, db } = await newRole()
  await app.db.execute(sql`alter role ${raw(role)} connection limit 12`)
  assert.match(await checkConnections(db, 11), /^1 of 12 in use, one process opens up to 11$/)
  await assert.rejects(checkConnections(db, 12), /1 of 12 in use, .* up to 12; raise max_connections/)
})

test('doctor fails when the clocks differ by more than five seconds, in either direction', async () => {
  assert.match(await checkClock(app.db), /^0\.\d s between/)
  assert.match(await checkClock(app.db, () => Date.now() + 4_000), /^[34]\.\d s between/)
  await assert.rejects(
    checkClock(app.db, () => Date.now() + 60_000),
    /database is (59|60)\.\d s behind this machine's/,
  )
  await assert.rejects(
    checkClock(app.db, () => Date.now() - 60_000),
    /database is (59|60)\.\d s ahead of this machine's/,
  )
})

test('doctor fails when the files of the database are in another object store, also before the directory exists', async () => {
  const objects = await openDiskStore(join(folder, 'elsewhere', 'objects'))
  await adoptStore(app.db, { objects, location: 'disk elsewhere' })
  for (const env of [{}, { DATA_DIR: join(folder, 'missing') }]) {
    const { failed } = await doctor(env)
    assert.deepEqual(
      failed.map(({ name }) => name),
      ['stored files'],
    )
    assert.match(failed[0]?.detail ?? '', /in another object store \(disk elsewhere\)/)
  }
  assert.deepEqual((await doctor({ DATA_DIR: join(folder, 'elsewhere') })).failed, [])
})

test('doctor fails when Redis cannot be reached or does not accept writes', async () => {
  const away = await doctor({ DATA_DIR: join(folder, 'elsewhere'), REDIS_URL: 'redis://127.0.0.1:1' })
  assert.deepEqual(
    away.failed.map(({ name }) => name),
    ['Redis'],
  )
  if (!(await hasRedis())) return
  const redis = await createRedis()
  await redis.start()
  after(() => redis.kill())
  const env = { DATA_DIR: join(folder, 'elsewhere'), REDIS_URL: redis.url }
  assert.deepEqual((await doctor(env)).failed, [])
  const client = new Redis(redis.url)
  await client.call('REPLICAOF', '127.0.0.1', '1')
  client.disconnect()
  assert.match((await doctor(env)).failed[0]?.detail ?? '', /READONLY/)
})

test('doctor fails when the server for reads is no standby, and names variables that are probably misspelled', async () => {
  const socket = `?host=${encodeURIComponent(host)}`
  const wrong = {
    DATABASE_REPLICA_URL: `postgres://${owner}@localhost:${port}/postgres${socket}`,
    DATABASE_DIRECT_ULR: 'postgres://localhost',
    RETENTION_MESAGES_DAYS: '1',
    S3_BUCKT: 'x',
  }
  const { failed } = await doctor({ DATA_DIR: join(folder, 'elsewhere'), ...wrong })
  assert.deepEqual(
    failed.map(({ name }) => name),
    ['environment', 'replica'],
  )
  assert.match(failed[0]?.detail ?? '', /DATABASE_DIRECT_ULR is not a variable of Atrium: DATABASE_DIRECT_URL\?/)
  assert.match(
    failed[0]?.detail ?? '',
    /RETENTION_MESAGES_DAYS .*: RETENTION_MESSAGES_DAYS\?.*S3_BUCKT .*: S3_BUCKET\?/,
  )
  assert.match(failed[1]?.detail ?? '', /none of the database servers is a standby/)
})
