import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { deposit, openPaid, spend } from '../support/billing.ts'
import { ask, createAgent, openSession } from '../support/chat.ts'
import { assertAccessible, startConsole } from '../support/console.ts'
import { upload } from '../support/files.ts'
import { sql } from '../../src/platform/database/database.ts'
import { accept, createWebhook, deliver } from '../support/webhooks.ts'

const { app, open } = await startConsole()

test('an owner adds funds, sets automatic top-up, sees spending by day and by agent, and exports it', async () => {
  const owner = await app.createOrg()
  await createAgent(app, owner, { name: 'Paid', model: 'atrium/demo-paid' })
  const { page, pageErrors } = await open(owner, '/billing')
  await page.getByRole('button', { name: 'Add funds' }).click()
  await page.getByRole('button', { name: '$100', exact: true }).click()
  await page.getByRole('button', { name: 'Add $100.00' }).click()
  await page.getByText('$100.00 added to the balance').waitFor()
  await page.getByRole('table', { name: 'Transactions' }).getByText('+$100.00').waitFor()

  const topUp = page.locator('section', { hasText: 'Automatic top-up' }).last()
  await topUp.getByRole('switch').check()
  await topUp.getByLabel('When the balance falls below').fill('0.50')
  await topUp.getByText('Enter an amount from $1.00').waitFor()
  await topUp.getByLabel('When the balance falls below').fill('12.50')
  await topUp.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Saved', { exact: true }).waitFor()
  const { body } = await app.call('GET', '/api/v1/billing', { as: owner })
  assert.equal(body.data.balance.autoTopupThresholdCents, 1_250)
  assert.equal(body.data.balance.autoTopupEnabled, true)

  await app.call('PATCH', '/api/v1/billing', { as: owner, json: { monthlyCapCents: 500 } })
  const { id } = await openSession(app, owner, { agentId: 'paid' })
  await ask(app, owner, id, { text: '/tokens 1000000 500000 0 0' })
  await page.getByRole('link', { name: 'Spending', exact: true }).click()
  await page.getByRole('button', { name: 'Agent', exact: true }).click()
  await page.getByRole('table', { name: 'Spending by agent' }).getByText('Paid').waitFor()
  assert.match(page.url(), /by=agent/)
  await page.getByRole('slider', { name: 'Daily spending' }).focus()
  await page.keyboard.press('ArrowRight')
  await page.getByRole('list', { name: 'Legend' }).getByText('Atrium Demo (paid) $3.00').waitFor()
  await page.getByText(/, previous period \$0\.00$/).waitFor()
  await page.getByRole('combobox', { name: 'Period' }).selectOption('month')
  await page.getByRole('button', { name: 'Cumulative' }).click()
  await page.getByRole('list', { name: 'Legend' }).getByText('Monthly limit $5.00').waitFor()
  await assertAccessible(page)
  await page.getByRole('button', { name: 'Table' }).click()
  const chartTable = page.getByRole('table', { name: 'Daily spending' })
  await chartTable.getByRole('row').nth(1).getByRole('cell', { name: '$3.00' }).first().waitFor()
  await assertAccessible(page)
  await page.getByRole('combobox', { name: 'Period' }).selectOption('30d')
  const downloading = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Export CSV' }).first().click()
  await page.getByRole('menuitem', { name: 'By day', exact: true }).click()
  const csv = await readFile(await (await downloading).path(), 'utf8')
  const lines = csv.trim().split('\r\n')
  assert.match(lines[0] ?? '', /date,requests,input_tokens/)
  assert.match(lines.at(-1) ?? '', /^\d{4}-\d\d-\d\d,1,1000000,500000,/)
  assert.equal(lines.length, 31)

  await page.getByRole('link', { name: 'Transactions' }).click()
  await page.getByRole('combobox').selectOption('usage')
  await page.getByRole('table', { name: 'Transactions' }).getByText('Usage').waitFor()
  assert.equal(await page.getByRole('table').getByText('Deposit').count(), 0)

  await page.getByRole('link', { name: 'Statements and receipts' }).click()
  const statements = page.getByRole('table', { name: 'Statements' })
  await statements.getByText('Provisional').waitFor()
  const receipts = page.getByRole('table', { name: 'Receipts' })
  await receipts.getByRole('row', { name: /Deposit without a payment \$100\.00/ }).waitFor()
  await page.getByLabel('Company name').fill('Northwind Ltd.')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Saved', { exact: true }).waitFor()
  await page.setViewportSize({ width: 390, height: 844 })
  await assertAccessible(page)
  const saving = page.waitForEvent('download')
  await statements.getByRole('link', { name: /^Download statement for .* as PDF$/ }).click()
  const file = await readFile(await (await saving).path(), 'latin1')
  assert.match(file, /^%PDF-/)
  const opening = page.waitForEvent('popup')
  await statements.getByRole('link', { name: /^View statement for / }).click()
  const statement = await opening
  await statement.getByText('Northwind Ltd.').waitFor()
  await statement.getByText('Closing balance: $97.00').waitFor()
  assert.deepEqual(pageErrors, [])
})

test('a page that was opened before somebody else turned off automatic top-up does not turn it on again', async () => {
  const owner = await app.createOrg()
  const change = (json: object) => app.call('PATCH', '/api/v1/billing', { as: owner, json })
  await change({ autoTopupEnabled: true, autoTopupThresholdCents: 1_000, autoTopupAmountCents: 2_000 })
  const { page } = await open(owner, '/billing')
  const topUp = page.locator('section', { hasText: 'Automatic top-up' }).last()
  const threshold = topUp.getByLabel('When the balance falls below')
  await threshold.waitFor()
  // The page does not learn of the change before it is saved.
  await page.route('**/api/v1/billing', (route) =>
    route.request().method() === 'GET' ? route.abort() : route.fallback(),
  )
  await change({ autoTopupEnabled: false, autoTopupMonthlyCapCents: 5_000 })
  await threshold.fill('12.50')
  const saved = page.waitForResponse((response) => response.request().method() === 'PATCH')
  await topUp.getByRole('button', { name: 'Save' }).click()
  assert.equal((await saved).status(), 200)
  const { body } = await app.call('GET', '/api/v1/billing', { as: owner })
  const { autoTopupEnabled, autoTopupThresholdCents } = body.data.balance
  assert.deepEqual(
    { autoTopupEnabled, autoTopupThresholdCents, cap: body.data.autoTopup.monthlyCapCents },
    { autoTopupEnabled: false, autoTopupThresholdCents: 1_250, cap: 5_000 },
  )
  await page.unroute('**/api/v1/billing')
  await page.reload()
  await topUp.getByRole('switch').waitFor()
  assert.equal(await topUp.getByRole('switch').isChecked(), false)
})

test('what was charged this month is the same amount on every page', async () => {
  const owner = await app.createOrg()
  const { id } = await openPaid(app, owner)
  // $4.626: rounded it is $4.63, in whole cents it would be $4.62.
  await spend(app, owner, id, 4_626_000)
  const { page, pageErrors } = await open(owner, '/billing')
  await page.getByText('Charged this month', { exact: true }).locator('..').getByText('$4.63').waitFor()
  await page.getByText('$4.63 charged this month.').waitFor()
  assert.doesNotMatch(await page.locator('main').innerText(), /\$4\.62 charged/)
  await page.goto(`${app.url}/billing/spending?period=month`)
  await page.getByRole('table', { name: 'Spending by model' }).getByText('$4.63').waitFor()
  await page.getByText('Charged', { exact: true }).first().locator('..').getByText('$4.63').waitFor()
  assert.deepEqual(pageErrors, [])
})

test('a model has the same price, with the platform fee, in its agent and on the page of the plans', async () => {
  const owner = await app.createOrg()
  await openPaid(app, owner)
  const { page } = await open(owner, '/agents/paid/settings')
  await page.getByText('$1.00 input and $4.00 output per million tokens, without platform fee (waived).').waitFor()
  // More than the deposits for which the fee is waived.
  for (let n = 0; n < 3; n += 1) await deposit(app, owner, 5_000)
  await page.reload()
  await page.getByText('$1.05 input and $4.20 output per million tokens, including the platform fee of 5 %.').waitFor()
  await page.goto(`${app.url}/billing/plans`)
  await page.getByText('Price per million tokens, including the platform fee of 5 %.').waitFor()
  const row = page.getByRole('table', { name: 'Model prices' }).getByRole('row').filter({ hasText: '(paid)' })
  await row.getByText('$1.05').waitFor()
  await row.getByText('$4.20').waitFor()
})

test('plans are listed by price, the one without a price last, and none is alone in its line', async () => {
  const owner = await app.createOrg()
  const { page } = await open(owner, '/billing', { size: { width: 1100, height: 800 } })
  await page.route('**/api/v1/billing/pricing', async (route) => {
    const response = await route.fetch()
    const body = (await response.json()) as { data: { plans: unknown[] } }
    body.data.plans.reverse()
    return route.fulfill({ response, json: body })
  })
  await page.goto(`${app.url}/billing/plans`)
  const plans = page.getByRole('list', { name: 'Plans' }).locator('> li')
  await plans.first().waitFor()
  const names = (await plans.locator('h2').allTextContents()).map((name) => name.replace('Current', '').trim())
  assert.deepEqual(names, ['Free', 'Pro', 'Team', 'Enterprise'])
  const tops = await page.evaluate(
    "[...document.querySelectorAll('ul[aria-label=Plans] > li')].map((one) => one.getBoundingClientRect().top)",
  )
  const [first, second, third, fourth] = tops as number[]
  assert.deepEqual([first === second, second === third, third === fourth], [true, false, true])
})

test('a member sees the balance, and a disabled button states who can add funds', async () => {
  const owner = await app.createOrg()
  const { page } = await open(await app.createUser(owner), '/billing')
  const add = page.getByRole('button', { name: 'Add funds' })
  await add.hover()
  await page.getByText('Only owners, admins and billing managers can do this.').waitFor()
  await add.click({ force: true })
  assert.equal(await page.getByRole('dialog').count(), 0)
})

test('usage near a quota shows a warning on the usage page and on the page of the limited resource', async () => {
  const owner = await app.createOrg()
  await app.db.execute(sql`
    insert into org_quotas (org_id, name, value)
    values (${owner.orgId}, 'storedBytes', 10), (${owner.orgId}, 'eventsKept', 1), (${owner.orgId}, 'agents', null)`)
  await upload(app, owner, 'hello wor')
  const webhook = await createWebhook(app, owner)
  await accept(app, webhook, { type: 'a' })
  assert.equal((await deliver(app, webhook, { type: 'b' })).status, 403)
  const { page, pageErrors } = await open(owner, '/billing/usage')
  const quotas = page.getByRole('list', { name: 'Quotas' })
  const bytes = quotas.getByRole('listitem').filter({ hasText: 'Stored files' })
  await bytes.getByText('9 B of 10 B').waitFor()
  await assertAccessible(page)
  await bytes.getByText('Almost full').waitFor()
  await bytes.getByText('90 % used').waitFor()
  const events = quotas.getByRole('listitem').filter({ hasText: 'Webhook events kept' })
  await events.getByText('Full', { exact: true }).waitFor()
  await events.getByText('Last rejected').waitFor()
  const agents = quotas.getByRole('listitem').filter({ hasText: 'Agents' })
  await agents.getByText('0, unlimited').waitFor()
  assert.equal(await quotas.getByRole('listitem').filter({ hasText: 'Connections' }).getByText(/full/i).count(), 0)
  await page.getByRole('link', { name: 'Webhooks', exact: true }).click()
  await page.getByText('Webhook events kept: 1 of 1 used. New ones are rejected.').waitFor()
  await page.getByRole('link', { name: 'Usage and quotas' }).click()
  await bytes.waitFor()
  assert.deepEqual(pageErrors, [])
})

test('the upload tray shows the API message with the figures when a file exceeds the quota', async () => {
  const owner = await app.createOrg()
  await app.db.execute(sql`insert into org_quotas (org_id, name, value) values (${owner.orgId}, 'storedBytes', 10)`)
  const { page } = await open(owner, '/files')
  await page
    .locator('input[type=file]')
    .first()
    .setInputFiles({ name: 'large.txt', mimeType: 'text/plain', buffer: Buffer.from('hello world, hello') })
  const tray = page.getByRole('region', { name: 'Uploads' })
  const figures =
    /^The org's quota of 10 bytes of stored files would be exceeded: 0 bytes used, 18 bytes more requested/
  await tray.getByRole('paragraph').filter({ hasText: figures }).waitFor()
})
