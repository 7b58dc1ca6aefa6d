import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { newId } from '../ids.ts'
import { startTestApp } from '../../../test/harness.ts'

const app = await startTestApp()
const owner = await app.createOrg()

describe('a time', () => {
  const since = (time: string) => app.call('GET', `/api/v1/audit-log?since=${encodeURIComponent(time)}`, { as: owner })

  for (const time of [
    '0001-01-01T00:00:00Z',
    '9999-12-31T23:59:59.999Z',
    '2026-02-28T23:59:59+14:00',
    '2026-02-28T23:59:59.123456789-12:00',
  ]) {
    test(`the time ${time} is accepted`, async () => assert.equal((await since(time)).status, 200))
  }

  for (const [time, what] of [
    ['2026-12-31T23:59:60Z', 'the 60th second'],
    ['2026-02-30T00:00:00Z', 'a day that does not exist'],
    ['2027-01-01T00:00:00+16:00', 'an offset of no place'],
    ['0000-12-31T23:59:59Z', 'before the year 1'],
    ['0001-01-01T00:00:00+01:00', 'before the year 1 of UTC'],
    ['9999-12-31T23:59:59-00:01', 'after the year 9999 of UTC'],
    ['2026-12-31', 'a day'],
    ['2026-12-31T23:59:59', 'of no zone'],
  ] as const) {
    test(`the time ${time} (${what}) is BAD_REQUEST`, async () => {
      const { status, body } = await since(time)
      assert.equal(status, 400)
      assert.equal(body.error.message, 'since must be an ISO 8601 time')
    })
  }
})

describe('an id', () => {
  test('a UUID with the prefix urn:uuid: is rejected in a body, a query and a public path', async () => {
    const id = `urn:uuid:${newId()}`
    const folder = await app.call('POST', '/api/v1/files', {
      as: owner,
      json: { source: 'folder', name: 'F', parentId: id },
    })
    assert.equal(folder.status, 400)
    assert.equal((await app.call('GET', `/api/v1/files?parentId=${id}`, { as: owner })).status, 400)
    assert.equal((await app.call('POST', `/api/v1/webhooks/receive/${id}`, { json: {} })).status, 404)
  })
})

describe('a change of nothing', () => {
  for (const json of [{}, { unknown: 1 }]) {
    test(`a PATCH with ${JSON.stringify(json)} changes nothing and is BAD_REQUEST`, async () => {
      const made = await app.call('POST', '/api/v1/agents', { as: owner, json: { name: 'Helper' } })
      const answer = await app.call('PATCH', `/api/v1/agents/${made.body.data.id}`, { as: owner, json })
      assert.equal(answer.status, 400)
      assert.equal(answer.body.error.message, 'The body must name at least one field to change')
    })
  }
})

describe('a body that cannot be read', () => {
  for (const [method, path, allow] of [
    ['POST', '/api/v1/nowhere', null],
    ['PUT', '/api/v1/workspaces', 'GET, HEAD, POST'],
    ['POST', '/healthz', 'GET, HEAD'],
  ] as const) {
    test(`${method} ${path} checks the caller before an unreadable body`, async () => {
      const headers = { 'content-type': 'application/json' }
      for (const body of ['{', `"${'x'.repeat(1_100_000)}"`]) {
        const answer = await app.call(method, path, { as: owner, body, headers })
        assert.equal(answer.status, 404, answer.text)
        assert.equal(answer.body.error.code, 'NOT_FOUND')
        assert.equal(answer.headers.get('allow'), allow)
      }
    })
  }
})
