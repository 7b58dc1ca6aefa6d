import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { permissions } from '../../src/identity/permissions.ts'
import { compileEverySchema } from '../../src/platform/http/validation.ts'
import { startTestApp } from '../harness.ts'
import { factories, factoryOf, freeParams } from './resources.ts'
import { routesOf } from './route-list.ts'

const { app } = await startTestApp()
const routes = routesOf(app)
const names = routes.map(({ name }) => name)

/** Every route that works without an API key. Before you add one, check what it reveals. */
const publicRoutes = [
  'GET /',
  'GET /docs',
  'GET /docs/guides',
  'GET /docs/guides/*',
  'GET /docs/page.js',
  'GET /docs/scalar.js',
  'GET /events',
  'GET /events/*',
  'GET /healthz',
  'GET /metrics',
  'GET /openapi.json',
  'GET /readyz',
  'GET /agents',
  'GET /agents/*',
  'GET /assets/*',
  'GET /billing',
  'GET /billing/*',
  'GET /chat',
  'GET /chat/*',
  'GET /connections',
  'GET /connections/*',
  'GET /files',
  'GET /files/*',
  // Shown on pages without a session; the version is a hash of the picture.
  'GET /logos/:orgId/:version',
  // The token in the path is the only credential.
  'GET /s/:token',
  'GET /s/:token/archive',
  'GET /s/:token/files/:id',
  'GET /s/:token/files/:id/image',
  'POST /s/:token/password',
  'POST /s/:token/uploads',
  'GET /settings',
  'GET /settings/*',
  'GET /sign-in',
  'GET /authorize',
  // OAuth for MCP clients. They have no credentials yet; what they send is the credential.
  'GET /.well-known/oauth-authorization-server',
  'GET /.well-known/oauth-protected-resource',
  'GET /.well-known/oauth-protected-resource/mcp',
  'GET /oauth/client.json',
  'GET /oauth/clients/:server',
  // Redirect URIs of MCP servers; the state is the credential.
  'GET /oauth/callback/:server',
  'POST /oauth/callback/:server',
  'POST /oauth/register',
  'POST /oauth/revoke',
  'POST /oauth/token',
  'GET /webhooks',
  'GET /webhooks/*',
  'GET /api/v1/auth/session',
  // Authenticated by the session alone; the handlers check it.
  'GET /api/v1/auth/sessions',
  'DELETE /api/v1/auth/sessions',
  'DELETE /api/v1/auth/sessions/:id',
  // For people who have signed in and are in no org yet; the handlers check the session.
  'GET /api/v1/me/invitations',
  'POST /api/v1/me/invitations/:id/accept',
  'POST /api/v1/me/invitations/:id/decline',
  'POST /api/v1/auth/sign-in',
  'POST /api/v1/billing/webhooks/stripe',
  'GET /api/v1/connections/oauth/callback',
  'POST /api/v1/connections/oauth/callback',
  'POST /api/v1/connectors/webhooks/:provider/:endpointId',
  'POST /api/v1/auth/sign-in/link',
  'POST /api/v1/auth/sign-in/link/check',
  'POST /api/v1/auth/sign-in/totp',
  'POST /api/v1/auth/sign-out',
  'POST /api/v1/webhooks/linear',
  'POST /api/v1/webhooks/receive/:webhookId',
  'GET /api/v1/files/:id/content',
  'PUT /api/v1/files/:id/content',
  // The version and limits of the protocol, which are the same for everybody.
  'OPTIONS /api/v1/uploads',
]

/** GET routes that change something, because browsers open them as links. */
const beginning = ['GET /api/v1/connections/oauth/start', 'GET /api/v1/connections/:id/oauth']

/** The routes of the published contract by area. */
const promised = [
  'GET /api/v1/files',
  'POST /api/v1/files',
  'GET /api/v1/files/:id',
  'PATCH /api/v1/files/:id',
  'DELETE /api/v1/files/:id',
  'GET /api/v1/files/:id/preview',
  'GET /api/v1/agents',
  'POST /api/v1/agents',
  'GET /api/v1/agents/:id',
  'PATCH /api/v1/agents/:id',
  'DELETE /api/v1/agents/:id',
  'GET /api/v1/agents/:id/sessions',
  'GET /api/v1/agents/:id/messages',
  'GET /api/v1/agents/:id/peers',
  'GET /api/v1/connectors',
  'GET /api/v1/connections',
  'POST /api/v1/connections',
  'GET /api/v1/connections/:id',
  'DELETE /api/v1/connections/:id',
  'POST /api/v1/connections/:id/credentials',
  'GET /api/v1/connections/:id/oauth',
  'POST /api/v1/connections/:id/oauth',
  'GET /api/v1/connections/oauth/start',
  'GET /api/v1/connections/oauth/callback',
  'GET /api/v1/webhooks',
  'POST /api/v1/webhooks',
  'GET /api/v1/webhooks/health',
  'GET /api/v1/webhooks/:id',
  'PATCH /api/v1/webhooks/:id',
  'DELETE /api/v1/webhooks/:id',
  'POST /api/v1/webhooks/:id/rotate',
  'GET /api/v1/webhooks/:id/events',
  'GET /api/v1/webhooks/:id/deliveries',
  'GET /api/v1/webhooks/events',
  'POST /api/v1/webhooks/test',
  'POST /api/v1/webhooks/verify',
  'POST /api/v1/webhooks/receive/:webhookId',
  'POST /api/v1/webhooks/linear',
  'GET /api/v1/billing',
  'PATCH /api/v1/billing',
  'POST /api/v1/billing/deposit',
  'POST /api/v1/billing/subscriptions/checkout',
  'GET /api/v1/billing/transactions',
  'GET /api/v1/billing/pricing',
  'GET /api/v1/billing/spending',
  'GET /api/v1/billing/spending/by-model',
  'GET /api/v1/billing/spending/by-agent',
  'GET /api/v1/billing/spending/by-project',
  'GET /api/v1/billing/byok-keys',
  'POST /api/v1/billing/byok-keys',
  'DELETE /api/v1/billing/byok-keys/:id',
  'POST /api/v1/billing/webhooks/stripe',
]

test('every schema of every route compiles, which a server does only at the first request', () => {
  let compiled = 0
  for (const { url, schema } of app.routeTable) {
    if (schema === undefined) continue
    assert.doesNotThrow(() => compileEverySchema(schema as Record<string, unknown>), `the schemas of ${url}`)
    compiled++
  }
  assert.ok(compiled > 100)
})

describe('every route', () => {
  test('the server has more than 60 routes, including all routes of the published contract', () => {
    assert.ok(routes.length > 60, `${routes.length}`)
    assert.deepEqual(
      promised.filter((name) => !names.includes(name)),
      [],
    )
  })

  test('every route is registered once', () => {
    assert.deepEqual(
      names.filter((name, index) => names.indexOf(name) !== index),
      [],
    )
  })

  test('every route that works without an API key is on the list of public routes', () => {
    const open = routes.filter(({ access }) => access === 'public').map(({ name }) => name)
    assert.deepEqual(open.toSorted(), publicRoutes.toSorted())
  })

  for (const { name, access, options, params, method, url } of routes) {
    test(`${name} declares its access, summary and responses`, () => {
      assert.ok(['public', 'member', ...permissions].includes(access), access)
      const { summary, tags, hide, response } = options.schema ?? {}
      assert.ok((summary?.length ?? 0) > 5, 'a summary')
      assert.ok(!summary?.endsWith('.'), 'a summary is a title')
      if (hide !== true) assert.equal(tags?.length, 1, 'one tag')
      const statuses = Object.keys(response ?? {})
      assert.ok(
        statuses.some((status) => /^(?:2\d\d|302)$/.test(status)),
        'a response schema for its success',
      )
      const known = params.filter((param) => freeParams[param] === undefined)
      if (known.length > 0) assert.ok(options.config?.what, 'what a malformed id is called')
      if (method === 'GET' && access !== 'public' && !beginning.includes(name))
        assert.doesNotMatch(access, /:(write|manage)$/, 'reading needs no right to write')
      if (url.startsWith('/api/') && known.length > 0 && access !== 'public')
        assert.ok(factoryOf(url), 'a factory in resources.ts')
    })
  }

  test('every route with an id has a factory, and every factory has a route', () => {
    for (const path of Object.keys(factories))
      assert.ok(
        routes.some(({ url }) => factoryOf(url) === path),
        path,
      )
  })
})
