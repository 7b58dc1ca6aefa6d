import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '../../src/platform/database/database.ts'
import { statusOfCode } from '../../src/platform/http/errors.ts'
import { startConsole } from '../support/console.ts'
import { create } from '../support/files.ts'

const { app, open } = await startConsole()

const headings = {
  '/files': 'Dateien',
  '/agents': 'Agenten',
  '/webhooks': 'Webhooks',
  '/events': 'Ereignisse',
  '/connections': 'Verbindungen',
  '/billing': 'Abrechnung',
  '/settings/members': 'Einstellungen',
}

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
  for (const [path, heading] of Object.entries(headings)) {
    await other.page.goto(app.url + path)
    await other.page.getByRole('heading', { name: heading, exact: true }).first().waitFor()
  }
  assert.deepEqual(other.pageErrors, [])
})

test('amounts of money are entered with the separators of the language, and an ambiguous one is rejected', async () => {
  const owner = await app.createOrg()
  const { page } = await open(owner, '/billing')
  const depositOf = async (amount: string, action: string, field: string): Promise<void> => {
    await page.getByRole('button', { name: action }).first().click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('textbox', { name: field }).fill(amount)
  }
  await depositOf('1,50', 'Add funds', 'Amount')
  await page.getByRole('dialog').getByText('Enter an amount in US dollars').waitFor()
  await page.goto(`${app.url}/settings/profile`)
  await page.getByRole('combobox', { name: 'Language' }).selectOption('de')
  await page.locator('html[lang=de]').waitFor()
  await page.goto(`${app.url}/billing`)
  await depositOf('1.000,00', 'Guthaben aufladen', 'Betrag')
  await page
    .getByRole('dialog')
    .getByRole('button', { name: /1\.000,00/ })
    .waitFor()
})

test('in German, notes of transactions are translated, and the longest role fits into the list of members', async () => {
  const owner = await app.createOrg()
  await app.createUser(owner, 'billing_manager')
  await app.call('POST', '/api/v1/billing/deposit', { as: owner, json: { amountCents: 2_500 } })
  const { page } = await open(owner, '/settings/profile')
  await page.getByRole('combobox', { name: 'Language' }).selectOption('de')
  await page.locator('html[lang=de]').waitFor()
  await page.goto(`${app.url}/billing/transactions`)
  await page.getByRole('table', { name: 'Transaktionen' }).getByText('Direkte Aufladung').waitFor()
  await page.goto(`${app.url}/settings/members`)
  await page
    .getByRole('combobox', { name: /^Rolle von/ })
    .first()
    .waitFor()
  const [width, needed] = (await page.evaluate(`(() => {
    const select = document.querySelector('td select')
    const copy = select.cloneNode(true)
    Object.assign(copy.style, { width: 'auto', position: 'absolute' })
    select.after(copy)
    return [select.offsetWidth, copy.offsetWidth]
  })()`)) as [number, number]
  assert.ok(width >= needed, `${width} of ${needed} px`)
})

test('in German, Home says in German why a webhook is disabled', async () => {
  const owner = await app.createOrg()
  const webhook = await app.call('POST', '/api/v1/webhooks', { as: owner, json: { name: 'Shop' } })
  const reason = 'All attempts have failed for five days.'
  await app.db.execute(sql`
    update webhooks set status = 'disabled', status_reason = ${reason}
    where org_id = ${owner.orgId} and id = ${webhook.body.data.id}`)
  const { page } = await open(owner, '/settings/profile')
  await page.getByRole('combobox', { name: 'Language' }).selectOption('de')
  await page.locator('html[lang=de]').waitFor()
  await page.goto(`${app.url}/`)
  await page.getByText('Seit fünf Tagen sind alle Versuche fehlgeschlagen.').waitFor()
})

test('pages with dates are shown in a browser whose language tag is not a valid one', async () => {
  const owner = await app.createOrg()
  await create(app, owner, { source: 'folder', name: 'Reports' })
  const { page, context, pageErrors } = await open(owner, '/settings/profile')
  await context.addInitScript(`Object.defineProperty(navigator, 'languages', { value: ['de-DE@posix', 'xx'] })`)
  await page.goto(`${app.url}/files`)
  await page.locator('html[lang=de]').waitFor()
  await page.getByText('Reports').first().waitFor()
  await page.getByText('gerade eben').filter({ visible: true }).first().waitFor()
  assert.deepEqual(pageErrors, [])
})

test('a person with the German console reads a German text for every error code, and the details of the server after it', async () => {
  const owner = await app.createOrg()
  const { page } = await open(owner, '/settings/profile')
  await page.getByRole('combobox', { name: 'Language' }).selectOption('de')
  await page.locator('html[lang=de]').waitFor()
  const textOf = async (code: string, status: number, message: string): Promise<string> => {
    await page.route('**/api/v1/webhooks', (route) =>
      route.fulfill({ status, json: { success: false, error: { code, message } } }),
    )
    await page.goto(`${app.url}/webhooks`)
    const text = await page.getByRole('alert').locator('p').first().innerText()
    await page.unroute('**/api/v1/webhooks')
    return text
  }
  for (const [code, status] of Object.entries(statusOfCode)) {
    // The session goes on, so the page is shown with its error.
    const text = await textOf(code, status, 'Quite unknown.')
    assert.notEqual(text.replace('Quite unknown.', '').trim(), '', `${code} has a German text`)
    if (['BAD_REQUEST', 'PAYMENT_REQUIRED', 'CONFLICT', 'VALIDATION_ERROR'].includes(code))
      assert.match(text, /Quite unknown\.$/, code)
  }
  assert.equal(await textOf('NEW_CODE', 418, 'Quite unknown.'), 'Quite unknown.')
  assert.equal(
    await textOf('CONFLICT', 409, 'The slug helper is taken by another agent.'),
    'Das Kürzel helper gehört schon einem anderen Agenten.',
  )
  assert.equal(await textOf('BAD_REQUEST', 400, 'name must be 1–120 characters'), 'name muss 1–120 Zeichen haben')
})
