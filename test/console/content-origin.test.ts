import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { buildConsole } from '../../scripts/build-console.mjs'
import { createSignInLink } from '../../src/identity/sign-in/links.ts'
import { startBrowser } from '../support/browser.ts'
import { upload } from '../support/files.ts'
import { startTestApp } from '../harness.ts'
import { picture } from '../screenshots/sample.ts'
import { until } from '../support/until.ts'

const base = 'http://atrium.test'
const content = 'http://files.test'
await buildConsole(fileURLToPath(new URL('../..', import.meta.url)), process.execPath)
const app = await startTestApp({ BASE_URL: base, CONTENT_BASE_URL: content })
// Both names lead to the one server, as two names of a proxy do.
const { host } = new URL(app.url)
const browser = await startBrowser([`--host-resolver-rules=MAP atrium.test ${host}, MAP files.test ${host}`])
const owner = await app.createOrg()

test('the console shows pictures from the content origin, to which the browser sends no cookie', async () => {
  const { path } = await app.db.transaction('all orgs', (db) => createSignInLink(db, owner.userId, null))
  const signedIn = await app.call('POST', '/api/v1/auth/sign-in/link', {
    json: { token: path.split('#link=')[1] },
    headers: { origin: base },
  })
  const { page, context, faults } = await browser.open()
  const cookies = signedIn.headers.getSetCookie().map((cookie) => {
    const [name = '', value = ''] = (cookie.split(';')[0] ?? '').split(/=(.*)/s)
    return { name, value, url: base }
  })
  await context.addCookies(cookies)

  const asked: { url: string; cookie: string | undefined }[] = []
  page.on('request', (request) => {
    if (!request.url().startsWith(content)) return
    void request.allHeaders().then((headers) => asked.push({ url: request.url(), cookie: headers['cookie'] }))
  })
  const { id } = await upload(app, owner, picture(80, 50), { name: 'waves.png', type: 'image/png' })
  await page.goto(`${base}/files?open=${id}`)
  const width = `document.querySelector('[role=dialog] img')?.naturalWidth > 0`
  await until('the picture is there', async () => (await page.evaluate(width)) === true)
  await until('the request was seen', () => asked.length > 0)
  assert.ok(asked.every(({ url }) => url.startsWith(`${content}/api/v1/files/${id}/content?token=`)))
  assert.ok(asked.every(({ cookie }) => cookie === undefined))
  // Requests to a name other than that of the loopback are counted as faults; here they are meant.
  assert.deepEqual(
    faults.filter((fault) => !fault.startsWith(`a request to ${base}`) && !fault.startsWith(`a request to ${content}`)),
    [],
  )
})
