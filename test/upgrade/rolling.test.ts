// A rolling upgrade: a process of the previous version serves requests and runs jobs while a process of this version starts,
// migrates the database and serves next to it.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { randomBytes, randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import type pg from 'pg'
import { generateKey } from '../../src/platform/key-format.ts'
import { createEmptyDatabase, sharedServer } from '../database.ts'
import { startReceiver } from '../fakes/receiver.ts'
import { streamEventsOf } from '../support/chat.ts'
import { childEnv } from '../support/child-processes.ts'
import { formBody, formType } from '../support/files.ts'
import { available } from '../support/require.ts'
import { startServerProcess } from '../support/processes/server-process.ts'
import type { ServerProcess } from '../support/processes/server-process.ts'
import { until } from '../support/until.ts'
import { signed } from '../support/webhooks.ts'
import { checkOut, findPreviousCommit, historyHint } from './previous-version.ts'

// oxlint-disable-next-line typescript/no-explicit-any -- tests read fields of responses of any shape
type Json = any

interface Sent {
  url: string
  method: string
  path: string
  body?: object | Buffer
  key?: string
  idempotencyKey?: string
  stepUp?: string
}

const bootstrapKey = generateKey('dev')
const password = randomBytes(12).toString('hex')

const send = async ({
  url,
  method,
  path,
  body,
  key = bootstrapKey,
  idempotencyKey,
  stepUp,
}: Sent): Promise<Response> => {
  const headers: Record<string, string> = { authorization: `Bearer ${key}` }
  if (idempotencyKey !== undefined) headers['idempotency-key'] = idempotencyKey
  if (stepUp !== undefined) headers['x-step-up-token'] = stepUp
  if (body) headers['content-type'] = Buffer.isBuffer(body) ? formType : 'application/json'
  const payload = body && (Buffer.isBuffer(body) ? new Uint8Array(body) : JSON.stringify(body))
  return fetch(url + path, { method, headers, body: payload ?? null })
}

const ask = async (sent: Sent): Promise<Json> => {
  const response = await send(sent)
  const text = await response.text()
  assert.ok(response.ok, `${sent.method} ${sent.path}: ${response.status} ${text}`)
  return JSON.parse(text).data
}

const lists =
  'agents api-keys connections connectors files members projects sessions webhooks workspaces billing/transactions billing/byok-keys audit-log'.split(
    ' ',
  )

/** Writes through the process `a` and reads through `b`. */
const exchange = async (a: string, b: string, receiver: Awaited<ReturnType<typeof startReceiver>>): Promise<void> => {
  const viaA = (method: string, path: string, body?: object | Buffer) =>
    ask({ url: a, method, path: `/api/v1/${path}`, ...(body ? { body } : {}) })
  const viaB = (method: string, path: string, body?: object | Buffer) =>
    ask({ url: b, method, path: `/api/v1/${path}`, ...(body ? { body } : {}) })
  const agent = await viaA('POST', 'agents', { name: 'Rolling', model: 'atrium/demo-paid' })
  assert.equal((await viaB('PATCH', `agents/${agent.id}`, { description: 'by b' })).description, 'by b')
  assert.equal((await viaA('GET', `agents/${agent.id}`)).description, 'by b')

  const bytes = randomBytes(20_000)
  const part = { name: 'file', filename: `${randomUUID()}.bin`, type: 'application/octet-stream', value: bytes }
  const { file } = await viaA('POST', 'files', formBody([part]))
  const stored = await send({ url: b, method: 'GET', path: `/api/v1/files/${file.id}?download=true` })
  assert.ok(Buffer.from(await stored.arrayBuffer()).equals(bytes), 'the same bytes')
  await viaB('PATCH', `files/${file.id}`, { name: `${randomUUID()}.bin` })

  const session = await viaA('POST', 'sessions', { agentId: agent.id })
  for (const via of [viaA, viaB]) {
    const { turn } = await via('POST', `sessions/${session.id}/messages`, {
      text: '/tokens 7 13 0 0',
      background: true,
    })
    const stream = await send({ url: b, method: 'GET', path: `/api/v1/turns/${turn.id}/stream` })
    assert.equal(streamEventsOf(await stream.text()).isDone, true)
    assert.equal((await viaA('GET', `turns/${turn.id}`)).status, 'completed')
  }
  assert.equal((await viaB('GET', `sessions/${session.id}/messages`)).items.length, 4)

  const webhook = await viaA('POST', 'webhooks', { name: 'Rolling', url: receiver.url })
  const event = JSON.stringify({ type: 'rolling', id: randomUUID() })
  for (const url of [a, b]) {
    const path = `${url}/api/v1/webhooks/receive/${webhook.id}`
    const id = randomUUID()
    const headers = signed(webhook.secret, event, id)
    assert.equal((await fetch(path, { method: 'POST', headers, body: event })).status, 200)
  }
  await until(
    'both events arrived',
    () => receiver.arrivals.filter(({ body }) => body.toString() === event).length === 2,
  )

  const { token: stepUp } = await viaB('POST', 'auth/step-up', { password })
  const minting = { url: a, method: 'POST', path: '/api/v1/api-keys', body: { name: 'Rolling' }, stepUp }
  const { key, id } = await ask(minting)
  const me = (url: string): Promise<Response> => send({ url, method: 'GET', path: '/api/v1/me', key })
  assert.deepEqual([(await me(a)).status, (await me(b)).status], [200, 200])
  await ask({ url: b, method: 'DELETE', path: `/api/v1/api-keys/${id}`, stepUp })
  assert.deepEqual([(await me(a)).status, (await me(b)).status], [401, 401], 'a revoked key ends in both versions')

  const once = { method: 'POST', path: '/api/v1/agents', body: { name: 'Once' }, idempotencyKey: randomUUID() }
  assert.equal(
    (await ask({ url: a, ...once })).id,
    (await ask({ url: b, ...once })).id,
    'a request is carried out once',
  )
  for (const path of lists) await Promise.all([viaA('GET', path), viaB('GET', path)])
}

/** Files in the trash of this version, whose bytes a process of the previous version tries to release several times. */
const trashBeside = async (previous: string, next: string) => {
  const stored = async (url: string, value: Buffer): Promise<string> => {
    const part = { name: 'file', filename: `${randomUUID()}.bin`, type: 'application/octet-stream', value }
    return (await ask({ url, method: 'POST', path: '/api/v1/files', body: formBody([part]) })).file.id
  }
  const contents = [randomBytes(100), randomBytes(100)]
  const ids: string[] = []
  for (const content of contents) ids.push(await stored(next, content))
  for (const id of ids) await ask({ url: next, method: 'DELETE', path: `/api/v1/files/${id}` })
  for (let round = 0; round < 10; round += 1) {
    const same = await stored(previous, contents[0] as Buffer)
    await ask({ url: previous, method: 'DELETE', path: `/api/v1/files/${same}` })
  }
  return {
    isRestored: async (): Promise<void> => {
      for (const [place, id] of ids.entries()) {
        await ask({ url: next, method: 'POST', path: `/api/v1/files/${id}/restore`, body: {} })
        const answer = await send({ url: next, method: 'GET', path: `/api/v1/files/${id}?download=true` })
        assert.ok(Buffer.from(await answer.arrayBuffer()).equals(contents[place] as Buffer), 'the bytes are kept')
      }
    },
  }
}

const urlOf = ({ host, port, user, database }: pg.ClientConfig): string =>
  `postgres://${user}@localhost:${port}/${database}?host=${encodeURIComponent(host ?? '')}`

const commit = await findPreviousCommit()
if (await available('previous-version', () => commit !== undefined, historyHint)) {
  const folder = await mkdtemp(join(tmpdir(), 'atrium-rolling-'))
  const server = await sharedServer()
  const database = await createEmptyDatabase(server.connection)
  const servers: ServerProcess[] = []
  after(async () => {
    for (const one of servers) if (one.child.exitCode === null) await one.kill()
    await database.drop()
    await server.stop()
    await rm(folder, { recursive: true, force: true })
  })
  const receiver = await startReceiver()
  const env = {
    DATABASE_URL: urlOf(database.connection),
    DATA_DIR: join(folder, 'data'),
    ENCRYPTION_KEYS: `rolling:${randomBytes(32).toString('base64')}`,
    BOOTSTRAP_API_KEY: bootstrapKey,
    BOOTSTRAP_EMAIL: 'owner@example.com',
    BOOTSTRAP_PASSWORD: password,
    OUTBOUND_ALLOW_CIDRS: '127.0.0.0/8',
    BILLING_ENFORCED: '1',
    ...Object.fromEntries(['READS', 'WRITES', 'UPLOADS', 'TURNS', 'RECEIVE'].map((one) => [`RATE_LIMIT_${one}`, '0'])),
    LOG_LEVEL: 'error',
  }
  const root = await checkOut(commit as string, join(folder, 'previous'))

  test('a process of the previous version works without errors while this version migrates and beside it', async (t) => {
    const previous = await startServerProcess(env, 'all', root)
    servers.push(previous)
    const { url } = previous
    await ask({ url, method: 'POST', path: '/api/v1/billing/deposit', body: { amountCents: 100_000 } })
    await exchange(url, url, receiver)

    let migrated = false
    let written = 0
    const writing = async (): Promise<void> => {
      const { id } = await ask({ url, method: 'POST', path: '/api/v1/sessions', body: { agentId: 'assistant' } })
      while (!migrated) {
        written += 1
        const body = { text: `message ${written}` }
        await ask({ url, method: 'POST', path: `/api/v1/sessions/${id}/messages`, body })
        await delay(10)
      }
      const { items } = await ask({ url, method: 'GET', path: `/api/v1/sessions/${id}/messages?limit=100` })
      assert.equal(items.length, Math.min(100, 2 * written))
    }
    const writer = writing()
    const next = await Promise.race([startServerProcess(env), writer.then(() => assert.fail('the writer ended'))])
    servers.push(next)
    migrated = true
    await writer
    t.diagnostic(`${written} turns during the start of this version`)

    await exchange(url, next.url, receiver)
    await exchange(next.url, url, receiver)
    const trashed = await trashBeside(url, next.url)
    assert.equal(await previous.stop(), 0)
    await trashed.isRestored()
    await exchange(next.url, next.url, receiver)
    const cli = new URL('../../src/cli/cli.ts', import.meta.url).pathname
    for (const words of [
      ['ledger', 'verify'],
      ['audit', 'verify'],
    ]) {
      const options = { env: { ...childEnv, ...env } }
      await promisify(execFile)(process.execPath, [cli, ...words, '--json'], options)
    }
    assert.equal(await next.stop(), 0)
    for (const one of [previous, next]) assert.doesNotMatch(one.output(), /"level":[56]0/, one.output())
  })
}
