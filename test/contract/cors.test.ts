import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { parseConfig } from '../../src/config/config.ts'
import { createSignInLink } from '../../src/identity/sign-in/links.ts'
import { startTestApp } from '../harness.ts'

const listed = 'https://app.example.com'
const other = 'https://evil.example.com'
const app = await startTestApp({ CORS_ORIGINS: `${listed}, http://localhost:5173`, RATE_LIMIT_WRITES: '3' })
const owner = await app.createOrg()

const preflight = (path: string, origin: string, headers: Record<string, string> = {}) =>
  app.call('OPTIONS', path, { headers: { origin, 'access-control-request-method': 'GET', ...headers } })

const corsHeadersOf = (headers: Headers): string[] =>
  [...headers.keys()].filter((name) => name.startsWith('access-control-'))

describe('preflights', () => {
  test('a preflight of a listed origin is answered without authentication and without credentials', async () => {
    const { status, headers, text } = await preflight('/api/v1/files', listed)
    assert.equal(status, 204)
    assert.equal(text, '')
    assert.equal(headers.get('access-control-allow-origin'), listed)
    assert.equal(headers.get('access-control-allow-methods'), 'GET, HEAD, POST')
    assert.match(headers.get('access-control-allow-headers') ?? '', /Authorization.*Idempotency-Key.*If-Match/)
    assert.equal(headers.get('access-control-max-age'), '600')
    assert.equal(headers.get('vary'), 'Origin')
    assert.equal(headers.get('access-control-allow-credentials'), null)
  })

  test('a preflight of any other origin is an unknown route without CORS headers', async () => {
    for (const origin of [other, 'null', `${listed}.evil.com`, `${listed}:8443`, 'http://app.example.com', '*']) {
      const { status, headers } = await preflight('/api/v1/files', origin)
      assert.equal(status, 404, origin)
      assert.deepEqual(corsHeadersOf(headers), [], origin)
    }
  })

  test('an OPTIONS request that is no preflight is an unknown route', async () => {
    const { status, headers } = await app.call('OPTIONS', '/api/v1/files', { headers: { origin: listed } })
    assert.equal(status, 404)
    assert.deepEqual(corsHeadersOf(headers), [])
    const withBody = await app.call('OPTIONS', '/api/v1/files', {
      headers: { origin: listed, 'access-control-request-method': 'GET' },
      json: {},
    })
    assert.equal(withBody.status, 404)
  })

  test('routes are available to other origins exactly if they accept an API key or a signed URL', async () => {
    const open: string[] = []
    for (const { url, method, config } of app.app.routeTable) {
      const path = url.replaceAll(/:\w+/g, 'x').replaceAll('*', 'x')
      const { status, headers } = await preflight(path, listed)
      const methods = (headers.get('access-control-allow-methods') ?? '').split(', ')
      const isOpen = status === 204 && [method].flat().every((one) => methods.includes(one))
      const access = (config as { access?: string }).access
      // A path such as /auth/x can be that of another route too, so only the routes that are closed everywhere count.
      if (access !== 'public' && url.startsWith('/api/v1/')) assert.ok(isOpen, `${String(method)} ${url}`)
      else if (isOpen) open.push(`${[method].flat().join(' ')} ${url}`)
    }
    assert.deepEqual(open.toSorted(), [
      'GET HEAD /api/v1/files/:id/content',
      'OPTIONS /api/v1/uploads',
      'PUT /api/v1/files/:id/content',
    ])
  })
})

describe('responses to pages of other origins', () => {
  test('a request with an API key gets its origin and the headers that it can read', async () => {
    const { status, headers } = await app.call('GET', '/api/v1/me', { as: owner, headers: { origin: listed } })
    assert.equal(status, 200)
    assert.equal(headers.get('access-control-allow-origin'), listed)
    const exposed = headers.get('access-control-expose-headers')?.split(', ') ?? []
    for (const name of ['ETag', 'X-Request-Id', 'Retry-After', 'RateLimit', 'RateLimit-Policy', 'Location']) {
      assert.ok(exposed.includes(name), name)
    }
    assert.equal(headers.get('access-control-allow-credentials'), null)
    assert.equal(headers.get('vary'), 'Origin')
  })

  test('every error can be read: an invalid key, an invalid body and a rate limit', async () => {
    const headers = { origin: listed }
    const asked = [
      await app.call('GET', '/api/v1/me', { as: 'atr_test_nonsense', headers }),
      await app.call('POST', '/api/v1/projects', { as: owner, headers, json: {} }),
      await app.call('GET', '/api/v1/files/nonsense', { as: owner, headers }),
    ]
    let limited = await app.call('POST', '/api/v1/projects', { as: owner, headers, json: {} })
    for (let i = 0; i < 3 && limited.status !== 429; i += 1) {
      limited = await app.call('POST', '/api/v1/projects', { as: owner, headers, json: {} })
    }
    assert.deepEqual(
      [...asked, limited].map(({ status }) => status),
      [401, 400, 404, 429],
    )
    for (const answer of [...asked, limited]) {
      assert.equal(answer.headers.get('access-control-allow-origin'), listed)
    }
  })

  test('a page of an unlisted origin reads nothing, with or without a key', async () => {
    for (const path of ['/api/v1/me', '/api/v1/files', '/api/v1/auth/session', '/openapi.json', '/']) {
      for (const as of [owner.key, undefined]) {
        const { headers } = await app.call('GET', path, { headers: { origin: other }, ...(as && { as }) })
        assert.deepEqual(corsHeadersOf(headers), [], path)
      }
    }
  })

  test('responses to a session cookie cannot be read by a listed origin, and its changes are rejected', async () => {
    const { path } = await app.db.transaction('all orgs', (db) => createSignInLink(db, owner.userId, null))
    const signedIn = await app.call('POST', '/api/v1/auth/sign-in/link', {
      json: { token: path.split('#link=')[1] },
      headers: { origin: app.url },
    })
    assert.equal(signedIn.status, 200, signedIn.text)
    const cookie = signedIn.headers
      .getSetCookie()
      .map((one) => one.split(';')[0])
      .join('; ')
    const read = await app.call('GET', '/api/v1/me', { headers: { origin: listed, cookie } })
    assert.equal(read.status, 200)
    assert.deepEqual(corsHeadersOf(read.headers), [])
    const changed = await app.call('POST', '/api/v1/agents', {
      headers: { origin: listed, cookie },
      json: { name: 'x' },
    })
    assert.equal(changed.status, 403)
    assert.deepEqual(corsHeadersOf(changed.headers), [])
  })

  test('sign-in cannot be read by a listed origin, also with a header that looks like a key', async () => {
    const { headers } = await app.call('POST', '/api/v1/auth/sign-in', {
      as: owner,
      headers: { origin: listed },
      json: { email: owner.email, password: 'wrong password' },
    })
    assert.deepEqual(corsHeadersOf(headers), [])
  })

  test('a response without an origin varies by origin, so that no cache serves it to a page', async () => {
    const { headers } = await app.call('GET', '/api/v1/me', { as: owner })
    assert.equal(headers.get('vary'), 'Origin')
    assert.deepEqual(corsHeadersOf(headers), [])
  })

  test('no origin is allowed by default', async () => {
    const plain = await app.secondServer()
    const asked = await plain.call('GET', '/api/v1/me', { as: owner, headers: { origin: listed } })
    assert.equal(asked.status, 200)
    assert.deepEqual(corsHeadersOf(asked.headers), [])
    const { status } = await plain.call('OPTIONS', '/api/v1/me', {
      headers: { origin: listed, 'access-control-request-method': 'GET' },
    })
    assert.equal(status, 404)
  })
})

test('CORS_ORIGINS accepts origins only, and not the origin of uploaded files', () => {
  const parse = (CORS_ORIGINS: string, env: Record<string, string> = {}) =>
    parseConfig({ NODE_ENV: 'test', CORS_ORIGINS, ...env }).corsOrigins
  assert.deepEqual(parse('https://A.example.com/, https://a.example.com,http://localhost:5173'), [
    'https://a.example.com',
    'http://localhost:5173',
  ])
  for (const value of [
    '*',
    'https://*.example.com',
    'null',
    'https://a.example.com/path',
    'a.example.com',
    'https://a.b,,',
  ]) {
    assert.throws(() => parse(value), /CORS_ORIGINS must be/, value)
  }
  const content = { BASE_URL: 'https://atrium.example.com', CONTENT_BASE_URL: 'https://files.example.net' }
  assert.throws(() => parse('https://files.example.net', content), /CORS_ORIGINS must not contain CONTENT_BASE_URL/)
})
