import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { promisify } from 'node:util'
import type { Page } from 'playwright-core'
import { startConsole } from '../support/console.ts'
import { startReceiver } from '../fakes/receiver.ts'
import { until } from '../support/until.ts'
import { accept, createWebhook, openLoopback } from '../support/webhooks.ts'

const run = promisify(execFile)
const receiver = await startReceiver()
const { app, open } = await startConsole(openLoopback)

test('a webhook is made, its lines for a shell send a signed event, which appears, fails, and is sent once more', async () => {
  const owner = await app.createOrg()
  const { page, faults } = await open(owner, '/webhooks')
  await page.getByRole('button', { name: 'New webhook' }).first().click()
  await page.getByLabel('Name').fill('Payments')
  await page.getByLabel('Forward to').fill(receiver.url)
  await page.getByRole('button', { name: 'Create webhook' }).click()
  const dialog = page.getByRole('dialog', { name: '“Payments” is ready' })
  const secret = await dialog.locator('output').innerText()
  assert.match(secret, /^whsec_/)
  const lines = await dialog.locator('pre', { hasText: 'curl' }).innerText()
  await page.getByRole('button', { name: 'I have stored the secret' }).click()
  await page.getByText('Waiting for the first event').waitFor()
  assert.equal((await page.content()).includes(secret), false, 'the secret is shown once')

  receiver.answer = (response) => response.writeHead(500).end('not today')
  const { stdout } = await run('bash', ['-c', lines])
  assert.equal(JSON.parse(stdout).data.duplicate, false)
  // It comes by itself.
  await page.getByRole('link', { name: 'test.ping' }).click()
  await page.getByRole('dialog').getByText('"world"').waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('link', { name: 'Deliveries' }).click()
  await page.getByRole('link', { name: 'test.ping' }).click()
  const delivery = page.getByRole('dialog', { name: 'Delivery of test.ping' })
  await delivery.getByText('Attempt 1').waitFor()
  await delivery.getByText('not today').waitFor()
  receiver.answer = (response) => response.end('thanks')
  await delivery.getByRole('button', { name: 'Attempt now' }).click()
  await delivery.getByText('Attempt 2').waitFor()
  await delivery.getByText('thanks').waitFor()
  await delivery.getByText('Succeeded').waitFor()
  assert.deepEqual(faults, [])
})

test('an event is forwarded once more, a webhook paused, its secret rotated, and what it may not do is said', async () => {
  const owner = await app.createOrg()
  const { id, secret } = await createWebhook(app, owner, { name: 'Orders' })
  const { page } = await open(owner, `/webhooks/${id}`)
  await page.getByRole('button', { name: 'Send a test' }).click()
  await page.getByRole('link', { name: 'test.ping' }).click()
  const again = page.getByRole('button', { name: 'Forward once more' })
  assert.equal(await again.getAttribute('aria-disabled'), 'true')
  await page.keyboard.press('Escape')
  await page.getByRole('navigation', { name: 'Parts of the webhook' }).getByRole('link', { name: 'Settings' }).click()
  await page.getByLabel('Forward to').fill(receiver.url)
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Saved', { exact: true }).waitFor()
  const before = receiver.arrivals.length
  await page.getByRole('link', { name: 'Events' }).click()
  await page.getByRole('link', { name: 'test.ping' }).click()
  await page.locator('button:not([aria-disabled])', { hasText: 'Forward once more' }).click()
  await page.getByRole('button', { name: 'See the delivery' }).click()
  await page.getByRole('dialog').getByText('Succeeded').waitFor()
  assert.equal(receiver.arrivals.length, before + 1)
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Pause' }).click()
  await page.getByText('It is paused').waitFor()
  await page.goto(`${app.url}/webhooks/${id}/settings`)
  await page.getByRole('button', { name: 'Rotate the secret' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Rotate the secret' }).click()
  const fresh = await page.getByRole('dialog', { name: 'The new secret' }).locator('output').innerText()
  assert.notEqual(fresh, secret)
})

/** As if the person went to another tab, or came back. */
const setSeen = async (page: Page, state: 'visible' | 'hidden'): Promise<void> => {
  await page.evaluate(`Object.defineProperty(document, 'visibilityState', { configurable: true, value: '${state}' })`)
  await page.evaluate(`document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))`)
}

test('a tab that nobody sees asks for no events, and asks at once when it is seen again', async () => {
  const owner = await app.createOrg()
  const webhook = await createWebhook(app, owner)
  const { page } = await open(owner, '/')
  await page.clock.install()
  await page.goto(`${app.url}/webhooks/${webhook.id}`)
  await page.getByText('Waiting for the first event').waitFor()
  // From here on time passes only when it is told to.
  await page.clock.pauseAt(Date.now() + 60_000)
  const asked: string[] = []
  page.on('request', (request) => {
    if (/\/webhooks\/[^/]+\/events/.test(request.url())) asked.push(request.url())
  })
  // An answer takes time of the real world, and the next question is asked so long after it.
  await until('it asks again and again while it is seen', async () => {
    await page.clock.runFor(500)
    return asked.length > 1
  })
  await setSeen(page, 'hidden')
  asked.length = 0
  await page.clock.runFor(10_000)
  assert.deepEqual(asked, [])
  await accept(app, webhook, { type: 'order.paid' })
  await setSeen(page, 'visible')
  await until('it has asked, without any time passing', () => asked.length > 0)
  await page.clock.resume()
  await page.getByRole('link', { name: 'order.paid' }).waitFor()
})

test('with older events shown the list stands still, and goes on from the newest when it is told to', async () => {
  const owner = await app.createOrg()
  const webhook = await createWebhook(app, owner)
  for (let number = 1; number <= 51; number += 1) await accept(app, webhook, { type: `order.${number}` })
  const { page } = await open(owner, `/webhooks/${webhook.id}`)
  const first = page.getByRole('link', { name: 'order.1', exact: true })
  await page.getByRole('link', { name: 'order.51' }).waitFor()
  assert.equal(await first.count(), 0)
  await page.getByRole('button', { name: 'Show older ones' }).click()
  await first.waitFor()
  await page.getByText('this list stands still').waitFor()
  await accept(app, webhook, { type: 'order.new' })
  await page.getByRole('button', { name: 'Back to the newest' }).click()
  await page.getByRole('link', { name: 'order.new' }).waitFor()
  await page.getByText('the newest appear by themselves').waitFor()
  assert.equal(await first.count(), 0)
  await accept(app, webhook, { type: 'order.newer' })
  await page.getByRole('link', { name: 'order.newer' }).waitFor()
})
