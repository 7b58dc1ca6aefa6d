import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { promisify } from 'node:util'
import { createEmptyDatabase, sharedServer } from '../../test/database.ts'
import { childEnv } from '../../test/support/child-processes.ts'
import { pendingMigrations } from '../platform/database/migrate.ts'

const server = await sharedServer()
const { connection, drop } = await createEmptyDatabase(server.connection)
const dataDir = await mkdtemp(join(tmpdir(), 'atrium-migrate-'))
after(async () => {
  await drop()
  await server.stop()
  await rm(dataDir, { recursive: true, force: true })
})

const { host = '', port = 5432, user = '', database = '' } = connection
const env = {
  ...childEnv,
  NODE_ENV: 'production',
  DATABASE_URL: `postgres://${user}@localhost:${port}/${database}?host=${encodeURIComponent(host)}`,
  ENCRYPTION_KEYS: `k1:${Buffer.alloc(32, 1).toString('base64')}`,
  DATA_DIR: dataDir,
}
const script = new URL('cli.ts', import.meta.url).pathname

test('atrium migrate applies all migrations to an empty database, and again does nothing', async () => {
  for (let time = 0; time < 2; time++) {
    const { stdout } = await promisify(execFile)(process.execPath, [script, 'migrate', '--json'], { env })
    assert.deepEqual(JSON.parse(stdout), { isCurrent: true })
    assert.deepEqual((await pendingMigrations(connection)).pending, [])
  }
})
