// Kills a server while it receives a resumable upload, and before the file of its bytes is made.
import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { request } from 'node:http'
import { after, test } from 'node:test'
import { sql } from '../../src/platform/database/database.ts'
import { startTestApp } from '../harness.ts'
import { countsAreExact } from '../support/files.ts'
import { startServerProcess } from '../support/processes/server-process.ts'
import type { ServerProcess } from '../support/processes/server-process.ts'
import { until } from '../support/until.ts'
import { append, ask, begun } from '../support/uploads/tus.ts'

const app = await startTestApp()
const { db, connection, config } = app
const { host, port, user, database } = connection
const databaseUrl = `postgres://${user}@localhost:${port}/${database}?host=${encodeURIComponent(host ?? '')}`

const started = async (): Promise<ServerProcess> => {
  const env = { NODE_ENV: 'test', DATABASE_URL: databaseUrl, DATA_DIR: config.dataDir }
  const server = await startServerProcess(env, 'api')
  after(() => (server.child.exitCode === null && server.child.signalCode === null ? server.kill() : undefined))
  return server
}

test('an upload whose server is killed at any step is continued at another server and has the same bytes', async () => {
  const owner = await app.createOrg()
  const bytes = randomBytes(9_000_000)
  const path = await begun(app, owner, { size: bytes.length })
  const id = path.split('/').at(-1) ?? ''
  const send = (server: ServerProcess, from: number) => {
    const sent = request(server.url + path, {
      method: 'PATCH',
      headers: {
        authorization: `Bearer ${owner.key}`,
        'content-type': 'application/offset+octet-stream',
        'upload-offset': String(from),
        'content-length': String(bytes.length - from),
      },
    })
    sent.on('error', () => undefined)
    return sent
  }
  const isLeased = async (): Promise<boolean> =>
    (await db.row(sql`
      select 1 from uploads where org_id = ${owner.orgId} and id = ${id} and lease_token is not null`)) !== undefined
  const offset = async (): Promise<number> => Number((await ask(app, owner, path)).headers.get('upload-offset'))

  assert.equal((await append(app, owner, path, { offset: 0, body: bytes.subarray(0, 6_000_000) })).status, 204)
  const first = await started()
  const running = send(first, 6_000_000)
  running.write(bytes.subarray(6_000_000, 7_000_000))
  await until('the server receives bytes', isLeased)
  await first.kill()
  assert.equal(await offset(), 6_000_000, 'what was acknowledged is there')

  const second = await started()
  await db.transaction('all orgs', async (db) => {
    // The file cannot be inserted while the table is locked.
    await db.execute(sql`lock table files in exclusive mode`)
    send(second, 6_000_000).end(bytes.subarray(6_000_000))
    await until('all bytes are stored', async () => {
      const row = await db.row<{ received: number }>(sql`
        select received_bytes as received from uploads where org_id = ${owner.orgId} and id = ${id}`)
      return row?.received === bytes.length
    })
    await second.kill()
  })
  const { body } = await app.call('GET', '/api/v1/files', { as: owner })
  assert.deepEqual(body.data.items, [])
  await until('the transaction of the killed server is rolled back', async () => {
    const { headers } = await ask(app, owner, path)
    return headers.get('atrium-file-id') !== null
  })
  const done = await ask(app, owner, path)
  const file = await app.call('GET', `/api/v1/files/${done.headers.get('atrium-file-id')}`, { as: owner })
  assert.equal(file.body.data.contentHash, createHash('sha256').update(bytes).digest('hex'))
  const list = await app.call('GET', '/api/v1/files', { as: owner })
  assert.equal(list.body.data.items.length, 1)
  await countsAreExact(app, owner.orgId)
})
