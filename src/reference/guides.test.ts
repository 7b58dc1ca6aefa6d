import assert from 'node:assert/strict'
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, posix } from 'node:path'
import { after, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { placeOf, toPage } from '../../scripts/docs.ts'
import { createHttp } from '../platform/http/http.ts'
import { createLog } from '../platform/process/log.ts'
import { registerGuides } from './guides.ts'

const parent = mkdtempSync(join(tmpdir(), 'atrium-guides-'))
const root = join(parent, 'dist')
mkdirSync(join(root, 'assets'), { recursive: true })
writeFileSync(join(parent, 'secret.json'), '{}')
const script = 'document.title = 1'
writeFileSync(join(root, 'index.html'), `<!doctype html><script id="check">${script}</script><p>Start`)
writeFileSync(join(root, 'agents.html'), '<!doctype html><p>Agents')
writeFileSync(join(root, '404.html'), '<!doctype html><p>Nothing here')
writeFileSync(join(root, 'assets', 'app.12345678.js'), 'export {}')
writeFileSync(join(root, 'odd.exe'), 'x')
after(() => rmSync(parent, { recursive: true }))

const serve = async (folder: string): Promise<string> => {
  const app = createHttp({ log: createLog('silent'), production: true, trustProxy: false })
  registerGuides(app, folder)
  after(() => app.close())
  return app.listen({ host: '127.0.0.1', port: 0 })
}
const url = await serve(root)
const get = async (path: string) => {
  const response = await fetch(url + path, { redirect: 'manual' })
  return { status: response.status, headers: response.headers, text: await response.text() }
}

describe('GET /docs/guides', () => {
  test('serves pages without their extension, with a policy that allows only their own scripts', async () => {
    assert.deepEqual([(await get('/docs/guides')).status, (await get('/docs/guides/')).status], [302, 200])
    const { headers, text } = await get('/docs/guides/')
    assert.match(text, /Start/)
    assert.match(headers.get('content-security-policy') ?? '', /script-src 'self' 'sha256-[\w+/]{43}='/)
    assert.match((await get('/docs/guides/agents')).text, /Agents/)
    const asset = await get('/docs/guides/assets/app.12345678.js')
    assert.equal(asset.headers.get('content-type'), 'text/javascript; charset=utf-8')
    assert.match(asset.headers.get('cache-control') ?? '', /immutable/)
  })

  test('serves nothing outside of its folder and no unknown types', async () => {
    for (const path of [
      'nothing',
      '%2e%2e/secret.json',
      '..%2fsecret.json',
      'odd.exe',
      'assets',
      'a%00b',
      '%2e%2e%2f',
    ]) {
      const { status, text } = await get(`/docs/guides/${path}`)
      assert.equal(status, 404, path)
      assert.doesNotMatch(text, /\{\}/)
    }
  })

  test('says how to build the guides when they are not built', async () => {
    const missing = await serve(join(parent, 'nowhere'))
    const response = await fetch(`${missing}/docs/guides/agents`)
    assert.equal(response.status, 404)
    assert.match(await response.text(), /npm run docs -- build/)
  })
})

describe('the pages of the website', () => {
  const repository = fileURLToPath(new URL('../..', import.meta.url))
  const files = globSync(
    ['*.md', 'sdk/README.md', 'sdk-python/README.md', 'docs/*.md', 'docs/guides/*.md', 'docs/decisions/*.md'],
    {
      cwd: repository,
    },
  )

  test('link to each other at their new places', () => {
    const page = toPage(
      'docs/decisions/0001-x.md',
      '[a](../guides/agents.md#turns) [b](../../src/main.ts) `[c](d)` {{ x }}',
    )
    assert.equal(page, '[a](./../agents.md#turns) b (`src/main.ts`) `[c](d)` &#123;&#123; x }}')
  })

  test('contain no link to a page that does not exist', () => {
    const pages = new Map(files.map((file) => [file, toPage(file, readFileSync(join(repository, file), 'utf8'))]))
    const places = new Set(files.map((file) => placeOf(file)))
    assert.ok(places.size > 40)
    for (const [file, page] of pages) {
      const outside = page.replaceAll(/^```[\s\S]*?^```/gm, '').replaceAll(/`[^`]*`/g, '')
      for (const [, target = ''] of outside.matchAll(/\]\((\.\/[^)\s#]+)/g)) {
        assert.match(
          posix.normalize(target),
          /^(?:\.\.\/)*(?:decisions\/|screenshots\/)?[\w.-]+(?:\/[\w.-]+)?\.(?:md|png)$/,
          `${file}: ${target}`,
        )
      }
    }
  })
})
