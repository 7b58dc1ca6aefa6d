import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startConsole } from '../support/console.ts'

const { app, open } = await startConsole()

// The types of the browser are not those of the tests.
interface Styled {
  parentElement: Styled
  computedStyleMap(): Map<string, unknown>
}
const displayOfParent = (one: unknown): string =>
  String((one as Styled).parentElement.computedStyleMap().get('display'))

/** The scripts and style sheets of the files page. */
const filesPage = /\/assets\/files-[\w-]+\.(?:js|css)$/

for (const kind of ['js', 'css']) {
  test(`a page whose ${kind === 'js' ? 'script' : 'style sheet'} fails to load once is loaded by another attempt or a reload`, async () => {
    const owner = await app.createOrg()
    const { page } = await open(owner, '/')
    await page.getByRole('heading', { level: 1 }).waitFor()
    let failures = 0
    await page.route(filesPage, (route) => {
      if (failures > 0 || !route.request().url().endsWith(kind)) return route.continue()
      failures += 1
      return route.abort()
    })
    await page.getByRole('link', { name: 'Files', exact: true }).click()
    await page.getByText('No files yet').waitFor()
    assert.equal(failures, 1)
    assert.equal(new URL(page.url()).pathname, '/files')
    const columns = await page.getByRole('complementary', { name: 'Folders' }).evaluate(displayOfParent)
    assert.equal(columns, 'grid', 'the page has its style sheet')
  })
}

test('a page that cannot be loaded is reloaded once, then shows the error, and opens when the connection is back', async () => {
  const owner = await app.createOrg()
  const { page } = await open(owner, '/')
  await page.getByRole('heading', { level: 1 }).waitFor()
  let loads = 0
  page.on('load', () => (loads += 1))
  await page.route(filesPage, (route) => route.abort())
  await page.getByRole('link', { name: 'Files', exact: true }).click()
  await page.getByRole('heading', { name: 'This page could not be loaded' }).waitFor()
  assert.equal(loads, 1)
  assert.equal(new URL(page.url()).pathname, '/files')
  await page.getByRole('link', { name: 'Agents', exact: true }).click()
  await page.getByRole('heading', { name: 'Agents', level: 1 }).waitFor()
  await page.unroute(filesPage)
  await page.goBack()
  await page.getByRole('button', { name: 'Reload page' }).or(page.getByText('No files yet')).first().waitFor()
  if ((await page.getByText('No files yet').count()) === 0)
    await page.getByRole('button', { name: 'Reload page' }).click()
  await page.getByText('No files yet').waitFor()
  assert.equal(await page.getByText('Atrium was updated').count(), 0)
})

test('a tab with an older build opens the page with the new build and announces the update', async () => {
  const owner = await app.createOrg()
  const { page } = await open(owner, '/')
  await page.getByRole('heading', { level: 1 }).waitFor()
  // The server has another build: its entry script is another one, and the pages of the old one are gone.
  await page.evaluate(`document.querySelector('script[type=module]').remove()`)
  let isOld = true
  await page.route(filesPage, (route) => (isOld ? route.fulfill({ status: 404 }) : route.continue()))
  page.on('framenavigated', (frame) => (isOld &&= frame !== page.mainFrame() || frame.url() === `${app.url}/`))
  await page.getByRole('link', { name: 'Files', exact: true }).click()
  await page.getByText('No files yet').waitFor()
  await page.getByText('Atrium was updated to a new version').waitFor()
})

test('while the script of a page loads, a progress bar is shown and the previous page stays', async () => {
  const owner = await app.createOrg()
  const { page, pageErrors } = await open(owner, '/')
  await page.getByRole('heading', { level: 1 }).waitFor()
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  await page.route(filesPage, async (route) => {
    await released
    await route.continue()
  })
  await page.getByRole('link', { name: 'Files', exact: true }).click()
  const bar = page.getByRole('progressbar', { name: 'Loading page' })
  await bar.waitFor()
  await page.getByRole('heading', { level: 1, name: /^Good/ }).waitFor()
  release()
  await page.getByText('No files yet').waitFor()
  await bar.waitFor({ state: 'detached' })
  assert.deepEqual(pageErrors, [])
})

test('while the session or the permissions load, a page shows placeholders instead of nothing', async () => {
  const owner = await app.createOrg()
  const { page } = await open(owner, '/')
  await page.getByRole('heading', { level: 1 }).waitFor()
  for (const path of ['**/api/v1/auth/session', '**/api/v1/me']) {
    const { promise: released, resolve: release } = Promise.withResolvers<void>()
    await page.route(path, async (route) => {
      await released
      await route.continue()
    })
    await page.reload({ waitUntil: 'commit' })
    const loading = page.getByRole('status', { name: 'Loading Atrium' })
    await loading.waitFor()
    const delay = `getComputedStyle(document.querySelector('[aria-label="Loading Atrium"]')).animationDelay`
    assert.equal(await page.evaluate(delay), '0.08s')
    release()
    await page.getByRole('heading', { level: 1, name: /^Good/ }).waitFor()
    await page.unroute(path)
  }
})
