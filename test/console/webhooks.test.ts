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

test('the test command of a new webhook sends a signed event, which appears, fails to deliver, and is retried', async () => {
  const owner = await app.createOrg()
  const { page, pageErrors } = await open(owner, '/webhooks')
  await page.getByRole('button', { name: 'Create webhook' }).first().click()
  await page.getByLabel('Name').fill('Payments')
  await page.getByLabel('Destination URL').fill(receiver.url)
  await page.getByRole('dialog').getByRole('button', { name: 'Create webhook' }).click()
  const dialog = page.getByRole('dialog', { name: 'Webhook “Payments” created' })
  const secret = await dialog.locator('output').innerText()
  assert.match(secret, /^whsec_/)
  const lines = await dialog.locator('pre', { hasText: 'curl' }).innerText()
  await page.getByRole('button', { name: 'I have saved the secret' }).click()
  await page.getByText('Waiting for the first event').waitFor()
  assert.equal((await page.content()).includes(secret), false, 'the secret is shown once')

  receiver.answer = (response) => response.writeHead(500).end('not today')
  const { stdout } = await run('bash', ['-c', lines])
  assert.equal(JSON.parse(stdout).data.duplicate, false)
  // The list updates without a reload.
  await page.getByRole('link', { name: 'test.ping' }).click()
  await page.getByRole('dialog').getByText('"world"').waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('link', { name: 'Deliveries' }).click()
  await page.getByRole('link', { name: 'test.ping' }).click()
  const delivery = page.getByRole('dialog', { name: 'Delivery of test.ping' })
  await delivery.getByText('Attempt 1').waitFor()
  await delivery.getByText('not today').waitFor()
  receiver.answer = (response) => response.end('thanks')
  await delivery.getByRole('button', { name: 'Retry now' }).click()
  await delivery.getByText('Attempt 2').waitFor()
  await delivery.getByText('thanks').waitFor()
  await delivery.getByText('Succeeded').waitFor()
  assert.deepEqual(pageErrors, [])
})

test('an event is replayed, a webhook is paused, its secret is rotated, and disabled buttons give the reason', async () => {
  const owner = await app.createOrg()
  const { id, secret } = await createWebhook(app, owner, { name: 'Orders' })
  const { page } = await open(owner, `/webhooks/${id}`)
  await page.getByRole('button', { name: 'Send test event' }).click()
  await page.getByRole('link', { name: 'test.ping' }).click()
  const again = page.getByRole('button', { name: 'Replay event' })
  assert.equal(await again.getAttribute('aria-disabled'), 'true')
  await page.keyboard.press('Escape')
  await page.getByRole('navigation', { name: 'Webhook', exact: true }).getByRole('link', { name: 'Settings' }).click()
  await page.getByLabel('Destination URL').fill(receiver.url)
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Saved', { exact: true }).waitFor()
  const before = receiver.arrivals.length
  await page.getByRole('link', { name: 'Events' }).click()
  await page.getByRole('link', { name: 'test.ping' }).click()
  await page.locator('button:not([aria-disabled])', { hasText: 'Replay event' }).click()
  await page.getByRole('button', { name: 'View delivery' }).click()
  await page.getByRole('dialog').getByText('Succeeded').waitFor()
  assert.equal(receiver.arrivals.length, before + 1)
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Pause' }).click()
  await page.getByText('Forwarding is paused').waitFor()
  await page.goto(`${app.url}/webhooks/${id}/settings`)
  await page.getByRole('button', { name: 'Rotate secret' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Rotate secret' }).click()
  const fresh = await page.getByRole('dialog', { name: 'New signing secret' }).locator('output').innerText()
  assert.notEqual(fresh, secret)
})

/** Simulates that the person leaves the tab or returns to it. */
const setVisibility = async (page: Page, state: 'visible' | 'hidden'): Promise<void> => {
  await page.evaluate(`Object.defineProperty(document, 'visibilityState', { configurable: true, value: '${state}' })`)
  await page.evaluate(`document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))`)
}

test('a hidden tab does not poll for events, and polls immediately when it becomes visible', async () => {
  const owner = await app.createOrg()
  const webhook = await createWebhook(app, owner)
  const { page } = await open(owner, '/')
  await page.clock.install()
  await page.goto(`${app.url}/webhooks/${webhook.id}`)
  await page.getByText('Waiting for the first event').waitFor()
  // From here on, only `runFor` advances the clock.
  await page.clock.pauseAt(Date.now() + 60_000)
  const requests: string[] = []
  page.on('request', (request) => {
    if (/\/webhooks\/[^/]+\/events/.test(request.url())) requests.push(request.url())
  })
  // Responses take real time, and the next poll is scheduled after the response.
  await until('the visible tab polls', async () => {
    await page.clock.runFor(500)
    return requests.length > 1
  })
  await setVisibility(page, 'hidden')
  requests.length = 0
  await page.clock.runFor(10_000)
  assert.deepEqual(requests, [])
  await accept(app, webhook, { type: 'order.paid' })
  await setVisibility(page, 'visible')
  await until('the visible tab has polled although the clock is paused', () => requests.length > 0)
  await page.clock.resume()
  await page.getByRole('link', { name: 'order.paid' }).waitFor()
})

test('live updates pause while older events are loaded, and resume with Show latest', async () => {
  const owner = await app.createOrg()
  const webhook = await createWebhook(app, owner)
  for (let number = 1; number <= 51; number += 1) await accept(app, webhook, { type: `order.${number}` })
  const { page } = await open(owner, `/webhooks/${webhook.id}`)
  const first = page.getByRole('link', { name: 'order.1', exact: true })
  await page.getByRole('link', { name: 'order.51' }).waitFor()
  assert.equal(await first.count(), 0)
  await page.getByRole('button', { name: 'Load more' }).click()
  await first.waitFor()
  await page.getByText('Live updates paused').waitFor()
  await accept(app, webhook, { type: 'order.new' })
  await page.getByRole('button', { name: 'Show latest' }).click()
  await page.getByRole('link', { name: 'order.new' }).waitFor()
  await page.getByText('Live', { exact: true }).waitFor()
  assert.equal(await first.count(), 0)
  await accept(app, webhook, { type: 'order.newer' })
  await page.getByRole('link', { name: 'order.newer' }).waitFor()
})
