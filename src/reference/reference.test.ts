import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, describe, test } from 'node:test'
import { createHttp } from '../platform/http/http.ts'
import { createLog } from '../platform/process/log.ts'
import { registerReference } from './routes.ts'

const app = createHttp({ log: createLog('silent'), production: true, trustProxy: false })
registerReference(app)
const url = await app.listen({ host: '127.0.0.1', port: 0 })
after(() => app.close())

describe('GET /openapi.json', () => {
  test('GET /openapi.json serves the committed document, and 304 for a current ETag', async () => {
    const first = await fetch(`${url}/openapi.json`)
    assert.equal(first.status, 200)
    assert.equal(first.headers.get('content-type'), 'application/json; charset=utf-8')
    const text = await readFile(new URL('../../docs/openapi.json', import.meta.url), 'utf8')
    assert.equal(await first.text(), text)
    const etag = first.headers.get('etag') ?? ''
    const again = await fetch(`${url}/openapi.json`, { headers: { 'if-none-match': etag } })
    assert.equal(again.status, 304)
  })
})

describe('GET /docs', () => {
  test('GET /docs is a page that loads everything from this server', async () => {
    const response = await fetch(`${url}/docs`)
    assert.equal(response.status, 200)
    assert.equal(response.headers.get('content-type'), 'text/html; charset=utf-8')
    const policy = response.headers.get('content-security-policy') ?? ''
    assert.match(policy, /^default-src 'none'; script-src 'self';/)
    assert.doesNotMatch(policy, /unsafe-eval|https?:|\*/)
    const html = await response.text()
    const addresses = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, address]) => address ?? '')
    assert.ok(addresses.length >= 3)
    for (const address of addresses.filter((one) => one !== 'data:,')) {
      assert.match(address, /^\/(?!\/)/)
      assert.equal((await fetch(url + address)).status, 200, address)
    }
  })

  test('the viewer of GET /docs comes from the package, compressed or not, and can be cached permanently', async () => {
    const [packed, plain] = await Promise.all([
      fetch(`${url}/docs/scalar.js`),
      fetch(`${url}/docs/scalar.js`, { headers: { 'accept-encoding': 'identity' } }),
    ])
    assert.equal(packed.headers.get('content-encoding'), 'gzip')
    assert.equal(plain.headers.get('content-encoding'), null)
    assert.match(packed.headers.get('cache-control') ?? '', /immutable/)
    const script = await packed.text()
    assert.equal(await plain.text(), script)
    assert.ok(script.length > 1_000_000)
    assert.ok(script.includes('window.Scalar={createApiReference'))
    assert.match(await (await fetch(`${url}/docs`)).text(), /scalar\.js\?\d+\.\d+\.\d+"/)
  })

  test('GET /docs disables features that would request other hosts', async () => {
    const script = await (await fetch(`${url}/docs/page.js`)).text()
    for (const setting of [
      'withDefaultFonts: false',
      "proxyUrl: ''",
      'telemetry: false',
      'agent: { disabled: true }',
    ]) {
      assert.ok(script.includes(setting), setting)
    }
  })
})
