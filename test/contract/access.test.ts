import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { effectivePermissions, permissions, roles } from '../../src/identity/permissions.ts'
import type { Permission } from '../../src/identity/permissions.ts'
import { newId } from '../../src/platform/ids.ts'
import { generateKey } from '../../src/platform/key-format.ts'
import { startTestApp } from '../harness.ts'
import type { CallOptions } from '../harness.ts'
import { failureIn } from './dialects.ts'
import { pathOf, routesOf } from './route-list.ts'
import type { Route } from './route-list.ts'

const app = await startTestApp()
const owner = await app.createOrg()
const routes = routesOf(app.app).filter(({ access }) => access !== 'public')

/** An otherwise invalid request: authentication and permissions are checked before validation. */
const callWrongly = (route: Route, options: CallOptions) => {
  const path = pathOf(route.url, Object.fromEntries(route.params.map((name) => [name, 'malformed'])))
  const body =
    route.method === 'GET'
      ? {}
      : { body: '{"broken', headers: { 'content-type': 'application/json', ...options.headers } }
  return app.call(route.method, `${path}?limit=nonsense`, { ...options, ...body })
}

describe('requests without a valid API key', () => {
  const revoked = generateKey('test')
  const headers: [string, Record<string, string>][] = [
    ['no Authorization', {}],
    ['another scheme', { authorization: `Basic ${owner.key}` }],
    ['nothing after Bearer', { authorization: 'Bearer' }],
    ['two keys', { authorization: `Bearer ${owner.key} ${owner.key}` }],
    ['a key without its scheme', { authorization: owner.key }],
    ['a key that nobody has', { authorization: `Bearer ${revoked}` }],
    ['a key of another environment', { authorization: `Bearer ${generateKey('live')}` }],
    ['half a key', { authorization: `Bearer ${owner.key.slice(0, 30)}` }],
    ['a very long key', { authorization: `Bearer ${'a'.repeat(8_000)}` }],
    ['bytes beyond ASCII', { authorization: 'Bearer \u00e9\u00ff' }],
    ['a cookie that nobody was given', { cookie: 'atrium.session_token=abc.def' }],
  ]

  test('there are more than 40 routes that need an API key', () => assert.ok(routes.length > 40))

  for (const route of routes) {
    test(`${route.name} is UNAUTHORIZED without a valid API key`, async () => {
      for (const [what, given] of route.method === 'GET' ? headers : headers.slice(0, 6)) {
        const answer = await callWrongly(route, { headers: given })
        assert.equal(answer.status, 401, `${what}: ${answer.text}`)
        assert.equal(failureIn(route.url, answer).code, 'UNAUTHORIZED')
        assert.ok(!answer.text.includes(owner.key))
      }
    })
  }
})

describe('requests without the permission of the route', () => {
  const guarded = routes.filter(({ access }) => (permissions as readonly string[]).includes(access))

  test('more than 35 routes need a permission', () => assert.ok(guarded.length > 35))

  for (const route of guarded) {
    test(`${route.name} is FORBIDDEN for a key whose scopes lack its permission`, async () => {
      const other = route.access === 'audit:read' ? 'files:read' : 'audit:read'
      const narrowed = await app.createUser(owner, 'owner', { scopes: [other] })
      const answer = await callWrongly(route, { as: narrowed, headers: await app.stepUp(narrowed) })
      assert.equal(answer.status, 403)
      const { code, message } = failureIn(route.url, answer)
      assert.equal(code, 'FORBIDDEN')
      assert.ok(message.includes(route.access))
    })

    const refused = roles.filter((role) => !effectivePermissions(role, []).has(route.access as Permission))
    for (const role of refused) {
      test(`${route.name} is FORBIDDEN for the role ${role}`, async () => {
        const member = await app.createUser(owner, role)
        assert.equal((await callWrongly(route, { as: member })).status, 403)
      })
    }
  }
})

describe('requests in a workspace that the caller is not in', () => {
  for (const route of routes) {
    test(`${route.name} is FORBIDDEN in a workspace that the caller is not in, and in one that does not exist`, async () => {
      const stranger = await app.createOrg()
      const texts = new Set<string>()
      for (const id of [stranger.workspaceId, newId(), 'malformed']) {
        const { status, text } = await callWrongly(route, { as: owner, headers: { 'x-workspace-id': id } })
        assert.equal(status, 403)
        texts.add(text)
      }
      assert.equal(texts.size, 1)
    })
  }
})
