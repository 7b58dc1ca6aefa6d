import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { statusOfCode } from '../../src/platform/http/errors.ts'
import { newId } from '../../src/platform/ids.ts'
import { startTestApp } from '../harness.ts'
import type { Answer, CallOptions } from '../harness.ts'
import { freeParams } from './resources.ts'
import { bodySchemaOf, pathOf, querySchemaOf, routesOf, sampleOf } from './route-list.ts'
import type { Route } from './route-list.ts'

const app = await startTestApp()
const owner = await app.createOrg()
const stepUp = await app.stepUp(owner)
const routes = routesOf(app.app)
const api = routes.filter(({ url }) => url.startsWith('/api/v1/'))

const call = (route: Route, query: string, options: CallOptions = {}) => {
  const params = Object.fromEntries(route.params.map((name) => [name, newId()]))
  const path = pathOf(route.url, { ...params, ...freeParams })
  return app.call(route.method, path + query, { as: owner, ...options, headers: { ...stepUp, ...options.headers } })
}

const assertFailure = (answer: Answer, code: keyof typeof statusOfCode): void => {
  assert.equal(answer.status, statusOfCode[code], answer.text)
  assert.deepEqual(Object.keys(answer.body), ['success', 'error'])
  assert.equal(answer.body.success, false)
  assert.equal(answer.body.error.code, code)
  assert.equal(typeof answer.body.error.message, 'string')
  assert.match(answer.headers.get('x-request-id') ?? '', /^[0-9a-f-]{36}$/)
  assert.equal(answer.headers.get('cache-control'), 'no-store')
}

describe('validation of JSON bodies', () => {
  const withBody = api.filter((route) => bodySchemaOf(route) !== undefined)

  test('more than 15 routes have a JSON body', () => assert.ok(withBody.length > 15))

  for (const route of withBody) {
    test(`${route.name} rejects a body that is not a JSON object or is too large`, async () => {
      const type = 'application/json'
      const broken = ['{"name":', 'null', '[]', '"text"', '{"__proto__":{}}', '{"a":"\\u0000"}', '['.repeat(5_000)]
      if (route.options.config?.optionalBody !== true) broken.push('')
      for (const body of broken)
        assertFailure(await call(route, '', { body, headers: { 'content-type': type } }), 'BAD_REQUEST')
      for (const other of ['text/plain', 'application/x-www-form-urlencoded', 'application/xml']) {
        assertFailure(await call(route, '', { body: 'name=a', headers: { 'content-type': other } }), 'BAD_REQUEST')
      }
      const body = new Blob([new Uint8Array([0x7b, 0xff, 0x7d])])
      assertFailure(await call(route, '', { body, headers: { 'content-type': type } }), 'BAD_REQUEST')
      const large = JSON.stringify({ name: 'x'.repeat(1_100_000) })
      assertFailure(await call(route, '', { body: large, headers: { 'content-type': type } }), 'BAD_REQUEST')
    })

    const schema = bodySchemaOf(route)
    const names = schema?.required ?? []
    for (const name of names) {
      test(`${route.name} rejects a body without ${name}, and one with a ${name} of the wrong type`, async () => {
        const sample = sampleOf(schema ?? {}) as Record<string, unknown>
        const { [name]: _, ...without } = sample
        // Fields with a default are optional.
        if (schema?.properties?.[name]?.default === undefined)
          assertFailure(await call(route, '', { json: without }), 'BAD_REQUEST')
        assertFailure(await call(route, '', { json: { ...sample, [name]: { not: ['this'] } } }), 'BAD_REQUEST')
      })
    }
  }
})

describe('lists with pages and cursors', () => {
  const lists = api.filter((route) => querySchemaOf(route)?.properties?.['limit'] !== undefined)

  test('there are more than 8 lists', () => assert.ok(lists.length > 8))

  for (const route of lists) {
    test(`${route.name} rejects invalid limits, pages and cursors`, async () => {
      const known = querySchemaOf(route)?.properties ?? {}
      const refused = [
        'limit=0',
        'limit=101',
        'limit=-1',
        'limit=abc',
        'limit=1.5',
        'limit=',
        'limit=1&limit=2',
        'limit=1e9',
      ]
      if (known['page'] !== undefined) refused.push('page=0', 'page=-1', 'page=x', 'page=1e99', 'page=')
      // The cursor is not checked when the parent resource does not exist.
      if (known['cursor'] !== undefined && route.params.length === 0) {
        for (const value of [null, [], ['x'], ['2026-02-30T00:00:00Z', newId()], { a: 1 }, [1, 2, 3, 4]]) {
          refused.push(`cursor=${Buffer.from(JSON.stringify(value)).toString('base64url')}`)
        }
        refused.push('cursor=', 'cursor=nonsense', `cursor=${'x'.repeat(5_000)}`, 'cursor=a&cursor=b')
      }
      for (const query of refused) assertFailure(await call(route, `?${query}`), 'BAD_REQUEST')
    })
  }

  for (const route of lists.filter(({ params }) => params.length === 0)) {
    test(`${route.name} accepts limits from 1 to 100 and returns nextCursor`, async () => {
      for (const limit of [1, 100]) {
        const { status, body } = await call(route, `?limit=${limit}&unknown=1`)
        assert.equal(status, 200)
        assert.equal(body.success, true)
        assert.ok(Array.isArray(body.data.items) && body.data.items.length <= limit)
        assert.ok('nextCursor' in body.data, 'nextCursor')
        if (querySchemaOf(route)?.properties?.['page'] !== undefined) {
          assert.equal(typeof body.data.total, 'number')
          assert.equal(typeof body.data.hasMore, 'boolean')
          assert.equal(body.data.limit, limit)
          assert.equal(body.data.page, 1)
        }
      }
    })
  }
})

describe('every route of the API', () => {
  for (const route of api) {
    test(`${route.name} rejects NUL in its query`, async () => {
      const { status, text } = await call(route, '?anything=%00', route.method === 'GET' ? {} : { json: {} })
      assert.ok(status === 400 || status === 404, text)
    })
  }

  const posts = api.filter(
    ({ method, access, options }) => method === 'POST' && access !== 'public' && options.config?.idempotency !== false,
  )
  for (const route of posts) {
    test(`${route.name} rejects an Idempotency-Key of 256 characters`, async () => {
      const schema = bodySchemaOf(route)
      const json = schema === undefined ? undefined : sampleOf(schema)
      assertFailure(
        await call(route, '', { json: json ?? {}, headers: { 'idempotency-key': 'k'.repeat(256) } }),
        'BAD_REQUEST',
      )
    })
  }

  test('a method that a path does not support is NOT_FOUND with an Allow header of the supported methods', async () => {
    const byUrl = Map.groupBy(api, ({ url }) => url)
    for (const [url, those] of byUrl) {
      const path = pathOf(url, Object.fromEntries((those[0]?.params ?? []).map((name) => [name, newId()])))
      for (const method of ['PUT', 'PATCH', 'DELETE', 'OPTIONS'].filter((one) =>
        those.every((route) => route.method !== one),
      )) {
        const answer = await app.call(method, path, { as: owner })
        assertFailure(answer, 'NOT_FOUND')
        const allowed = answer.headers.get('allow')?.split(', ') ?? []
        for (const route of those) assert.ok(allowed.includes(route.method), `${url} ${route.method}`)
      }
    }
  })

  test('no request of this file caused a server error', () => {
    const failures = app.logLines
      .map((line) => JSON.parse(line))
      .filter(({ level }) => level === 'error' || level === 'fatal')
    assert.deepEqual(failures, [])
  })
})
