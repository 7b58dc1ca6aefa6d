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
// Both names resolve to the one server, like two host names of a reverse proxy.
const { host } = new URL(app.url)
const browser = await startBrowser([`--host-resolver-rules=MAP atrium.test ${host}, MAP files.test ${host}`])
const owner = await app.createOrg()

test('the console loads images from the content origin, to which the browser sends no cookie', async () => {
  const { path } = await app.db.transaction('all orgs', (db) => createSignInLink(db, owner.userId, null))
  const signedIn = await app.call('POST', '/api/v1/auth/sign-in/link', {
    json: { token: path.split('#link=')[1] },
    headers: { origin: base },
  })
  const { page, context, pageErrors } = await browser.open()
  const cookies = signedIn.headers.getSetCookie().map((cookie) => {
    const [name = '', value = ''] = (cookie.split(';')[0] ?? '').split(/=(.*)/s)
    return { name, value, url: base }
  })
  await context.addCookies(cookies)

  const requests: { url: string; cookie: string | undefined }[] = []
  page.on('request', (request) => {
    if (!request.url().startsWith(content)) return
    void request.allHeaders().then((headers) => requests.push({ url: request.url(), cookie: headers['cookie'] }))
  })
  const { id } = await upload(app, owner, picture(80, 50), { name: 'waves.png', type: 'image/png' })
  await page.goto(`${base}/files?open=${id}`)
  const width = `document.querySelector('[role=dialog] img')?.naturalWidth > 0`
  await until('the image is loaded', async () => (await page.evaluate(width)) === true)
  await until('the request was seen', () => requests.length > 0)
  assert.ok(requests.every(({ url }) => url.startsWith(`${content}/api/v1/files/${id}/content?token=`)))
  assert.ok(requests.every(({ cookie }) => cookie === undefined))
  // Requests to other hosts than the loopback address are recorded as errors; these two hosts are expected.
  assert.deepEqual(
    pageErrors.filter(
      (error) => !error.startsWith(`a request to ${base}`) && !error.startsWith(`a request to ${content}`),
    ),
    [],
  )
})
