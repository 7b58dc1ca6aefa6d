import assert from 'node:assert/strict'
import { request as httpRequest } from 'node:http'
import { describe, test } from 'node:test'
import { create, pathOf, upload } from '../../../test/support/files.ts'
import { startTestApp } from '../../../test/harness.ts'
import { createSignInLink } from '../../identity/sign-in/links.ts'
import { parseConfig } from '../../config/config.ts'

const base = 'http://atrium.test'
const content = 'http://files.test'
const app = await startTestApp({ BASE_URL: base, CONTENT_BASE_URL: content })
const owner = await app.createOrg()

interface Seen {
  status: number
  headers: Record<string, string | string[] | undefined>
  text: string
}

/** A request to a host of the server, as a browser or proxy sends it. */
const ask = (
  url: string,
  { method = 'GET', headers = {} }: { method?: string; headers?: Record<string, string> } = {},
) =>
  new Promise<Seen>((resolve, reject) => {
    const { host, pathname, search } = new URL(url)
    const sent = httpRequest(app.url + pathname + search, { method, headers: { host, ...headers } }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          text: Buffer.concat(chunks).toString(),
        }),
      )
    })
    sent.on('error', reject)
    sent.end()
  })

const bearer = { authorization: `Bearer ${owner.key}` }

/** The session cookie of the owner, as in the console. */
const signIn = async (): Promise<string> => {
  const { path } = await app.db.transaction('all orgs', (db) => createSignInLink(db, owner.userId, null))
  const response = await app.call('POST', '/api/v1/auth/sign-in/link', {
    json: { token: path.split('#link=')[1] },
    headers: { origin: base },
  })
  assert.equal(response.status, 200, response.text)
  return response.headers
    .getSetCookie()
    .map((cookie) => cookie.split(';')[0])
    .join('; ')
}
const cookie = await signIn()

const inline = (id: string): string => `${base}/api/v1/files/${id}?download=true&inline=true`
const locationOf = ({ status, headers }: Seen): string => {
  assert.equal(status, 302)
  return String(headers['location'])
}

describe('with a content origin', () => {
  test('a download redirects to the content origin, which needs no key', async () => {
    const file = await upload(app, owner, 'hello', { name: 'a.txt', type: 'text/plain' })
    const url = locationOf(await ask(`${base}/api/v1/files/${file.id}?download=true`, { headers: bearer }))
    assert.ok(url.startsWith(`${content}/api/v1/files/${file.id}/content?token=`), url)
    const response = await ask(url)
    assert.deepEqual([response.status, response.text], [200, 'hello'])
    assert.match(String(response.headers['content-disposition']), /^attachment;/)
    assert.match(String(response.headers['content-security-policy']), /sandbox/)
    assert.equal(response.headers['set-cookie'], undefined)
    assert.equal((await ask(url, { method: 'HEAD' })).headers['content-length'], '5')
  })

  test('a signed URL on the API origin redirects to the content origin and returns no bytes', async () => {
    const file = await upload(app, owner, 'hello')
    const url = locationOf(await ask(`${base}/api/v1/files/${file.id}?download=true`, { headers: bearer }))
    const moved = await ask(url.replace(content, base))
    assert.equal(locationOf(moved), url)
    assert.equal(moved.text, '')
    assert.equal((await ask(`${base}/api/v1/files/${file.id}/content?token=nonsense`)).status, 403)
    assert.equal((await ask(`${content}/api/v1/files/${file.id}/content?token=nonsense`)).status, 403)
    assert.equal((await ask(`${content}/api/v1/files/${file.id}/content`)).status, 403)
  })

  test('a signed-in browser displays files from the content origin, sandboxed and framed by the console only', async () => {
    for (const [type, bytes, sentAs] of [
      ['text/html', '<script>alert(1)</script>', 'text/html'],
      ['image/svg+xml', '<svg xmlns="http://www.w3.org/2000/svg"/>', 'image/svg+xml'],
      ['text/javascript', 'alert(1)', 'text/plain; charset=utf-8'],
      ['text/css', 'a{}', 'text/plain; charset=utf-8'],
      ['text/plain', 'hello', 'text/plain; charset=utf-8'],
    ] as const) {
      const file = await upload(app, owner, bytes, { name: 'a', type })
      const moved = await ask(inline(file.id), { headers: { cookie } })
      assert.equal(moved.headers['cache-control'], 'no-store')
      const response = await ask(locationOf(moved))
      assert.deepEqual([response.status, response.text, response.headers['content-type']], [200, bytes, sentAs])
      assert.equal(response.headers['x-content-type-options'], 'nosniff')
      assert.equal(response.headers['cross-origin-resource-policy'], 'cross-origin')
      assert.equal(
        response.headers['content-security-policy'],
        `default-src 'none'; style-src 'unsafe-inline'; img-src 'self' data:; media-src 'self'; frame-ancestors ${base}; sandbox`,
      )
    }
  })

  test('an API key gets inline bytes from the API origin, with safe types', async () => {
    const file = await upload(app, owner, '<script>alert(1)</script>', { name: 'a.html', type: 'text/html' })
    const response = await ask(inline(file.id), { headers: bearer })
    assert.deepEqual([response.status, response.text], [200, '<script>alert(1)</script>'])
    assert.equal(response.headers['content-type'], 'text/plain; charset=utf-8')
    assert.equal(response.headers['cross-origin-resource-policy'], 'same-origin')
  })

  test('the content origin serves signed content only: no API, console or sign-in, with any credentials', async () => {
    const file = await upload(app, owner, 'hello')
    const headers = { ...bearer, cookie, origin: content }
    for (const path of [
      '/',
      '/sign-in',
      '/files',
      '/docs',
      '/openapi.json',
      '/healthz',
      '/readyz',
      '/metrics',
      '/assets/x.js',
      '/api/v1/me',
      `/api/v1/files/${file.id}`,
      `/api/v1/files/${file.id}?download=true&inline=true`,
      '/api/v1/auth/get-session',
      '/api/openai/v1/models',
      '/no/such/path',
    ]) {
      for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
        const response = await ask(content + path, { method, headers })
        assert.equal(response.status, 404, `${method} ${path}`)
        assert.equal(response.headers['set-cookie'], undefined)
        if (method !== 'HEAD') assert.match(response.text, /Route not found/, `${method} ${path}`)
      }
    }
    assert.equal((await ask(`${base}/api/v1/me`, { headers: bearer })).status, 200)
    assert.equal((await ask(`${base}/healthz`)).status, 200)
    assert.equal((await app.call('GET', '/healthz')).status, 200, 'a probe by address')
  })

  test('uploads go to the API origin, and the content origin rejects them', async () => {
    const { file, uploadUrl } = await create(app, owner, { name: 'a', mimeType: 'text/plain', size: 1 })
    assert.ok(uploadUrl.startsWith(`${base}/`))
    assert.equal((await ask(uploadUrl.replace(base, content), { method: 'PUT' })).status, 404)
    assert.equal((await app.call('PUT', pathOf(app, uploadUrl.replace(base, app.url)), { body: 'x' })).status, 200)
    assert.equal(file.status, 'pending')
  })

  test('the console may display images, media and PDFs of the content origin, and not run scripts from it or connect to it', async () => {
    const policy = String((await ask(`${base}/`)).headers['content-security-policy'])
    for (const source of ['img-src', 'media-src', 'frame-src']) {
      assert.match(policy, new RegExp(`${source} 'self' ${content}`))
    }
    assert.match(policy, /script-src 'self';/)
    assert.match(policy, /connect-src 'self';/)
    assert.match(policy, /style-src 'self';/)
  })
})

test('the displayed bytes of a share are sent from the content origin only', async () => {
  const file = await upload(app, owner, Buffer.from('\x89PNG\r\n\x1A\nrest', 'latin1'), {
    name: 'a.png',
    type: 'image/png',
  })
  const { body } = await app.call('POST', `/api/v1/files/${file.id}/shares`, {
    as: owner,
    json: { password: 'password' },
  })
  const shared = await app.call('POST', `/api/v1/files/${file.id}/shares`, { as: owner, json: {} })
  const path = `${new URL(shared.body.data.url).pathname}/files/${file.id}`
  const redirected = await ask(base + path)
  assert.deepEqual([redirected.status, locationOf(redirected)], [302, content + path])
  assert.doesNotMatch(redirected.text, /PNG/)
  const shown = await ask(content + path)
  assert.deepEqual([shown.status, shown.headers['content-type']], [200, 'image/png'])
  const closed = new URL(body.data.url).pathname
  const asked = await ask(`${content}${closed}/files/${file.id}`)
  assert.equal(locationOf(asked), base + closed, 'the page with the password is at the origin of the API')
})

test('CONTENT_BASE_URL is rejected at start unless it is another host without a path', () => {
  const parse =
    (CONTENT_BASE_URL: string, BASE_URL = 'https://atrium.example.com') =>
    () =>
      parseConfig({ NODE_ENV: 'test', BASE_URL, CONTENT_BASE_URL })
  assert.equal(parse('https://Files.example.net/')().contentBaseUrl, 'https://files.example.net')
  assert.throws(parse('https://files.example.net', ''), /CONTENT_BASE_URL is set but BASE_URL is not/)
  assert.throws(parse('https://atrium.example.com'), /different host name than BASE_URL/)
  assert.throws(parse('https://atrium.example.com:8443'), /different host name than BASE_URL/)
  assert.throws(parse('http://files.example.net'), /must be https/)
  assert.throws(parse('https://files.example.net/path'), /without a path/)
  assert.throws(parse('files.example.net'), /CONTENT_BASE_URL must be a URL/)
})
