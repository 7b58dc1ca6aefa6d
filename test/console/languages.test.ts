import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startConsole } from '../support/console.ts'
import { create } from '../support/files.ts'

const { app, open } = await startConsole()

test('a language chosen in the profile applies at once, after a reload and in another browser', async () => {
  const owner = await app.createOrg()
  const { page, pageErrors } = await open(owner, '/settings/profile')
  await page.getByRole('combobox', { name: 'Language' }).selectOption('de')
  await page.locator('html[lang=de]').waitFor()
  await page.reload()
  await page.locator('html[lang=de]').waitFor()
  assert.deepEqual(pageErrors, [])
  const other = await open(owner, '/settings/profile')
  await other.page.locator('html[lang=de]').waitFor()
})

test('pages with dates are shown in a browser whose language tag is not a valid one', async () => {
  const owner = await app.createOrg()
  await create(app, owner, { source: 'folder', name: 'Reports' })
  const { page, context, pageErrors } = await open(owner, '/settings/profile')
  await context.addInitScript(`Object.defineProperty(navigator, 'languages', { value: ['de-DE@posix', 'xx'] })`)
  await page.goto(`${app.url}/files`)
  await page.locator('html[lang=de]').waitFor()
  await page.getByText('Reports').first().waitFor()
  await page.getByText('gerade eben').first().waitFor()
  assert.deepEqual(pageErrors, [])
})
