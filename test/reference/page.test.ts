import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { createHttp } from '../../src/platform/http/http.ts'
import { createLog } from '../../src/platform/process/log.ts'
import { registerReference } from '../../src/reference/routes.ts'
import { startBrowser, violationsOf, waitForAnimations, waitForIdleNetwork } from '../support/browser.ts'

const app = createHttp({ log: createLog('silent'), production: true, trustProxy: false })
registerReference(app)
const url = await app.listen({ host: '127.0.0.1', port: 0 })
after(() => app.close())
const { open } = await startBrowser()

const sizes = [
  { width: 1440, height: 900 },
  { width: 390, height: 844 },
]

describe('the API reference in a browser', () => {
  for (const [path, heading] of [
    ['/docs', 'Atrium'],
    ['/docs#tag/files/POST/api/v1/files', 'Upload a file or create a folder or link'],
  ] as const) {
    for (const size of sizes) {
      test(`${path} has no accessibility violation at ${size.width} pixels in light and dark colours`, async () => {
        const { page, pageErrors } = await open({ size })
        await page.goto(url + path)
        await page.getByRole('heading', { name: heading, exact: true }).first().waitFor()
        await waitForIdleNetwork(page)
        await page.locator('body.light-mode').waitFor()
        assert.deepEqual(await violationsOf(page), [])
        // Loading takes the time, and only the colours differ.
        await page.emulateMedia({ colorScheme: 'dark' })
        await page.locator('body.dark-mode').waitFor()
        await waitForAnimations(page)
        assert.deepEqual(await violationsOf(page, ['color-contrast']), [])
        assert.deepEqual(pageErrors, [])
      })
    }
  }

  test('the search finds a route and opens it', async () => {
    const { page, pageErrors } = await open()
    await page.goto(`${url}/docs`)
    await page
      .getByRole('button', { name: /Search/ })
      .first()
      .click()
    await page.getByRole('combobox', { name: /search/i }).fill('folder or link')
    await page
      .getByRole('option', { name: /Upload a file or create a folder or link/ })
      .first()
      .click()
    await page.waitForURL(/#.*POST\/api\/v1\/files$/)
    assert.deepEqual(pageErrors, [])
  })
})
