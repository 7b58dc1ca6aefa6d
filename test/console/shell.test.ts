import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertAccessible, startConsole } from '../support/console.ts'
import { create, upload } from '../support/files.ts'

const { app, open, visit } = await startConsole()

test('the command palette finds pages, commands and files by keyboard alone', async () => {
  const owner = await app.createOrg()
  const folder = (await create(app, owner, { source: 'folder', name: 'Reports' })).file
  await upload(app, owner, 'text', { name: 'quarterly figures.txt', parentId: folder.id })
  const { page, pageErrors } = await open(owner, '/')
  await page.getByRole('heading', { level: 1 }).waitFor()
  const palette = page.getByRole('combobox', { name: 'Search and commands' })
  await page.keyboard.press('Control+k')
  await palette.waitFor()
  await page.keyboard.type('audit')
  await page.getByRole('option', { name: /audit/i }).first().waitFor()
  await page.keyboard.press('Enter')
  await page.waitForURL('**/settings/audit-log')
  await page.keyboard.press('Control+k')
  await palette.waitFor()
  await page.keyboard.type('dark')
  await page.getByRole('option', { name: 'Use dark theme' }).waitFor()
  await page.keyboard.press('Enter')
  assert.equal(await page.locator('html').getAttribute('data-theme'), 'dark')
  await palette.waitFor({ state: 'detached' })
  await page.keyboard.press('Control+k')
  await palette.waitFor()
  await page.keyboard.type('quarterly')
  await page.getByRole('option', { name: 'quarterly figures.txt' }).waitFor()
  await page.keyboard.press('Enter')
  await page.getByRole('dialog', { name: 'quarterly figures.txt' }).waitFor()
  assert.match(page.url(), new RegExp(`/files/${folder.id}\\?open=`))
  assert.deepEqual(pageErrors, [])
})

test('G followed by a letter opens an area, except in a text field', async () => {
  const owner = await app.createOrg()
  const { page } = await open(owner, '/')
  await page.getByRole('heading', { level: 1 }).waitFor()
  // Both events at once, because the letter must follow within a second.
  await page.evaluate(
    `for (const key of ['g', 'f']) document.body.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }))`,
  )
  await page.waitForURL('**/files')
  await page.getByRole('searchbox').fill('')
  await page.getByRole('searchbox').pressSequentially('gh')
  await page.waitForURL('**/files?search=gh')
})

test('? opens the list of keyboard shortcuts, except in a text field or a dialog', async () => {
  const owner = await app.createOrg()
  const { page, pageErrors } = await open(owner, '/files')
  await page.getByText('No files yet').waitFor()
  const sheet = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
  await page.getByRole('searchbox').pressSequentially('a?')
  await page.waitForURL('**/files?search=a%3F')
  assert.equal(await sheet.count(), 0)
  await page.getByRole('heading', { level: 1 }).click()
  await page.keyboard.press('?')
  await sheet.getByText('Search and commands').waitFor()
  await assertAccessible(page)
  await page.keyboard.press('Escape')
  await sheet.waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Create folder' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Close' }).focus()
  await page.keyboard.press('?')
  assert.equal(await sheet.count(), 0)
  await page.keyboard.press('Escape')
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox').fill('shortcuts')
  await page.keyboard.press('Enter')
  await sheet.waitFor()
  assert.deepEqual(pageErrors, [])
})

test('the chosen theme is applied before the next page is painted', async () => {
  const owner = await app.createOrg()
  const { page } = await open(owner, '/')
  await page.getByRole('button', { name: /^Account of/ }).click()
  await page.getByRole('menuitem', { name: 'Dark' }).click()
  await page.reload({ waitUntil: 'commit' })
  await page.locator('#root').waitFor({ state: 'attached' })
  assert.equal(await page.locator('html').getAttribute('data-theme'), 'dark')
})

test('while the server is unreachable, a banner says so, loaded data stays visible, and a retry recovers', async () => {
  const owner = await app.createOrg('Acme')
  await upload(app, owner, 'text', { name: 'loaded before.txt' })
  const { page } = await open(owner, '/files')
  await page.getByText('loaded before.txt').waitFor()
  await page.route('**/api/**', (route) => route.abort())
  await page.getByRole('link', { name: 'Settings' }).click()
  await page.getByRole('link', { name: 'Projects' }).click()
  await page.getByText('Server unreachable. The data on this page may be out of date.').waitFor()
  await page.getByRole('heading', { name: 'Server unreachable' }).waitFor()
  await page.unroute('**/api/**')
  await page.getByRole('button', { name: 'Retry now' }).click()
  await page.getByText('No projects yet').waitFor()
  await page.getByText('The data on this page may be out of date').waitFor({ state: 'detached' })
})

test('a failed call shows the API message and the request ID, and can be retried', async () => {
  const owner = await app.createOrg()
  const { page } = await open(owner, '/settings/profile')
  const requestId = '0d9f7b3e-0000-4000-8000-000000000000'
  await page.route('**/api/v1/projects*', (route) =>
    route.fulfill({
      status: 500,
      headers: { 'x-request-id': requestId },
      json: { success: false, error: { code: 'INTERNAL_ERROR', message: 'Internal server error' } },
    }),
  )
  await page.getByRole('link', { name: 'Projects' }).click()
  const alert = page.getByRole('alert')
  await alert.getByText('Internal server error').waitFor()
  await alert.getByText(requestId).waitFor()
  await page.unroute('**/api/v1/projects*')
  await alert.getByRole('button', { name: 'Try again' }).click()
  await page.getByText('No projects yet').waitFor()
})

test('when the session has ended, a page redirects to sign-in with the way back', async () => {
  const owner = await app.createOrg()
  const { page, context } = await open(owner, '/settings/projects')
  await page.getByText('No projects yet').waitFor()
  await context.clearCookies()
  // The page may notice by itself before the click, when it opens its stream of events.
  const clicked = page.getByRole('link', { name: 'Workspaces' }).click()
  await Promise.any([clicked, page.waitForURL('**/sign-in?*')])
  clicked.catch(() => undefined)
  await page.waitForURL(
    (url) =>
      url.pathname === '/sign-in' && /^\/settings\/(?:workspaces|projects)$/.test(url.searchParams.get('next') ?? ''),
  )
})

test('an unknown page of the console shows Page not found, and other unknown paths return JSON', async () => {
  const owner = await app.createOrg()
  const { page } = await open(owner, '/settings/nothing')
  await page.getByText('Page not found').waitFor()
  const { status, body } = await app.call('GET', '/nothing')
  assert.equal(status, 404)
  assert.equal(body.error.code, 'NOT_FOUND')
})

test('a new org sees a checklist until it is hidden', async () => {
  const owner = await app.createOrg()
  const { page } = await open(owner, '/')
  await page.getByText('Set a password to sign in again').waitFor()
  await page.getByRole('link', { name: /Add files/ }).waitFor()
  await upload(app, owner, 'text', { name: 'first.txt' })
  await page.reload()
  await page.getByRole('link', { name: /Done.*Add files/ }).waitFor()
  await page.getByRole('button', { name: 'Hide' }).click()
  await page.getByText('Get started').waitFor({ state: 'detached' })
  await page.reload()
  await page.getByRole('heading', { name: 'Activity' }).waitFor()
  assert.equal(await page.getByText('Get started').count(), 0)
})

test('an unknown path is a page in light and dark mode, which leads to the console', async () => {
  for (const [dark, background] of [
    [false, 'rgb(247, 247, 246)'],
    [true, 'rgb(16, 16, 18)'],
  ] as const) {
    const { page } = await visit('/no/such/page', { dark, size: { width: 390, height: 844 } })
    await page.getByRole('heading', { level: 1, name: 'Page not found' }).waitFor()
    assert.equal(await page.evaluate('getComputedStyle(document.body).backgroundColor'), background)
    await assertAccessible(page)
    await page.getByRole('link', { name: 'Go to the home page' }).click()
    await page.waitForURL('**/sign-in**')
  }
})
