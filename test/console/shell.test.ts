import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startConsole } from '../support/console.ts'
import { create, upload } from '../support/files.ts'

const { app, open } = await startConsole()

test('the palette finds pages, commands and files, by keyboard alone', async () => {
  const owner = await app.createOrg()
  const folder = (await create(app, owner, { source: 'folder', name: 'Reports' })).file
  await upload(app, owner, 'text', { name: 'quarterly figures.txt', parentId: folder.id })
  const { page, faults } = await open(owner, '/')
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
  await page.getByRole('option', { name: 'Use dark colours' }).waitFor()
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
  assert.deepEqual(faults, [])
})

test('G and a letter go to an area, but not while one types', async () => {
  const owner = await app.createOrg()
  const { page } = await open(owner, '/')
  await page.getByRole('heading', { level: 1 }).waitFor()
  // Both at once: the letter must come within a second.
  await page.evaluate(
    `for (const key of ['g', 'f']) document.body.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }))`,
  )
  await page.waitForURL('**/files')
  await page.getByRole('searchbox').fill('')
  await page.getByRole('searchbox').pressSequentially('gh')
  await page.waitForURL('**/files?search=gh')
})

test('the colours that were chosen are there before the next page is drawn', async () => {
  const owner = await app.createOrg()
  const { page } = await open(owner, '/')
  await page.getByRole('button', { name: /^Account of/ }).click()
  await page.getByRole('menuitem', { name: 'Dark' }).click()
  await page.reload({ waitUntil: 'commit' })
  await page.locator('#root').waitFor({ state: 'attached' })
  assert.equal(await page.locator('html').getAttribute('data-theme'), 'dark')
})

test('while the server is away that is said, what was loaded stays, and it goes on by itself', async () => {
  const owner = await app.createOrg('Acme')
  await upload(app, owner, 'text', { name: 'loaded before.txt' })
  const { page } = await open(owner, '/files')
  await page.getByText('loaded before.txt').waitFor()
  await page.route('**/api/**', (route) => route.abort())
  await page.getByRole('link', { name: 'Settings' }).click()
  await page.getByRole('link', { name: 'Projects' }).click()
  await page.getByText('The server cannot be reached. What you see may be old.').waitFor()
  await page.getByRole('heading', { name: 'The server cannot be reached' }).waitFor()
  await page.unroute('**/api/**')
  await page.getByRole('button', { name: 'Try now' }).click()
  await page.getByText('No projects yet').waitFor()
  await page.getByText('What you see may be old').waitFor({ state: 'detached' })
})

test('a failure is shown in the words of the API with its request id, and another try helps', async () => {
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

test('a session that ended elsewhere leads to sign-in, and back to the page', async () => {
  const owner = await app.createOrg()
  const { page, context } = await open(owner, '/settings/projects')
  await page.getByText('No projects yet').waitFor()
  await context.clearCookies()
  await page.getByRole('link', { name: 'Workspaces' }).click()
  await page.waitForURL((url) => url.pathname === '/sign-in' && url.searchParams.get('next') === '/settings/workspaces')
})

test('a page that does not exist says so, and what is no page of the console is answered as JSON', async () => {
  const owner = await app.createOrg()
  const { page } = await open(owner, '/settings/nothing')
  await page.getByText('There is no such page').waitFor()
  const { status, body } = await app.call('GET', '/nothing')
  assert.equal(status, 404)
  assert.equal(body.error.code, 'NOT_FOUND')
})

test('a new org is told its first steps, which go when they are hidden', async () => {
  const owner = await app.createOrg()
  const { page } = await open(owner, '/')
  await page.getByText('You have no password yet').waitFor()
  await page.getByRole('link', { name: /Add files/ }).waitFor()
  await upload(app, owner, 'text', { name: 'first.txt' })
  await page.reload()
  await page.getByRole('link', { name: /Done.*Add files/ }).waitFor()
  await page.getByRole('button', { name: 'Hide' }).click()
  await page.getByText('First steps').waitFor({ state: 'detached' })
  await page.reload()
  await page.getByRole('heading', { name: 'Activity' }).waitFor()
  assert.equal(await page.getByText('First steps').count(), 0)
})
