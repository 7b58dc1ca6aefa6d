import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startTestApp } from '../../test/harness.ts'
import { AtriumError, createClient } from './client.ts'

const app = await startTestApp()
const owner = await app.createOrg('Acme')
const client = createClient({ baseUrl: app.url, apiKey: owner.key })

/** A fetch whose first answers never arrive, after the server has carried the request out. */
const losing = (answers: number): typeof fetch => {
  let left = answers
  return async (...args) => {
    const response = await fetch(...args)
    left -= 1
    if (left >= 0) throw new TypeError('fetch failed')
    return response
  }
}

test('a call sends params, query and body of its route and resolves with the data', async () => {
  const me = await client.call('GET /me')
  assert.equal(me.org.name, 'Acme')
  const { file } = await client.call('POST /files', { body: { source: 'folder', name: 'Reports' } })
  const read = await client.call('GET /files/:id', { params: { id: file.id } })
  assert.equal(read.name, 'Reports')
  const { items, total } = await client.call('GET /files', { query: { search: 'rep', limit: 10 } })
  assert.deepEqual([items.map(({ id }) => id), total], [[file.id], 1])
})

test('a FormData body is sent unchanged', async () => {
  const body = new FormData()
  body.append('file', new Blob(['hello'], { type: 'text/plain' }), 'hello.txt')
  const { file } = await client.call('POST /files', { body })
  assert.equal(file.size, 5)
})

test('an error response rejects with an AtriumError with code, status, message and request ID', async () => {
  const id = '01900000-0000-7000-8000-000000000000'
  await assert.rejects(client.call('GET /files/:id', { params: { id } }), (error) => {
    assert.ok(error instanceof AtriumError)
    assert.deepEqual([error.code, error.status, error.message], ['NOT_FOUND', 404, 'File not found'])
    assert.match(error.requestId ?? '', /^[0-9a-f-]{36}$/)
    return true
  })
})

test('an ID with slashes is encoded and cannot reach another route', async () => {
  await assert.rejects(client.call('GET /files/:id', { params: { id: '../me' } }), { code: 'NOT_FOUND' })
})

test('a POST with an idempotency key is retried when its response is lost, and executed once', async () => {
  const flaky = createClient({ baseUrl: app.url, apiKey: owner.key, fetch: losing(2) })
  const made = await flaky.call('POST /projects', { body: { name: 'Launch' }, idempotencyKey: true })
  const { items } = await client.call('GET /projects')
  assert.deepEqual(
    items.map(({ id }) => id),
    [made.id],
  )
})

test('a POST without an idempotency key is not retried, because it may have been executed', async () => {
  const flaky = createClient({ baseUrl: app.url, apiKey: owner.key, fetch: losing(1) })
  const body = { name: 'Once' }
  await assert.rejects(flaky.call('POST /workspaces', { body }), { code: 'NETWORK', status: 0 })
  const { items } = await client.call('GET /workspaces')
  assert.equal(items.filter(({ name }) => name === 'Once').length, 1)
})

test('an error page of a proxy rejects with an AtriumError that has its status', async () => {
  const proxied = createClient({
    baseUrl: app.url,
    apiKey: owner.key,
    retries: 0,
    fetch: async () => new Response('<h1>Bad gateway</h1>', { status: 502 }),
  })
  await assert.rejects(proxied.call('GET /me'), { code: 'INTERNAL_ERROR', status: 502 })
})

test('an aborted call rejects with the abort reason and is not retried', async () => {
  let calls = 0
  const slow = createClient({
    baseUrl: app.url,
    apiKey: owner.key,
    fetch: async (input, init) => {
      calls += 1
      return fetch(input, init)
    },
  })
  const signal = AbortSignal.abort(new Error('left the page'))
  await assert.rejects(slow.call('GET /me', { signal }), /left the page/)
  assert.equal(calls, 1)
})
