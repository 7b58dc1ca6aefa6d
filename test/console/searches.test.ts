import assert from 'node:assert/strict'
import { test } from 'node:test'
import { settle, startConsole } from '../support/console.ts'
import { createAgent } from '../support/chat.ts'
import { createEndpoint } from '../support/event-endpoints.ts'
import { createWebhook } from '../support/webhooks.ts'

const { app, open } = await startConsole()

test('letters that are typed faster than a page is rendered are kept in every field that filters a list', async () => {
  const owner = await app.createOrg()
  for (const name of ['Ann', 'Bob', 'Cleo', 'Dan', 'Eve', 'Finn']) await createAgent(app, owner, { name })
  await createEndpoint(app, owner, { name: 'Warehouse' })
  const webhook = await createWebhook(app, owner)
  const fields = [
    { path: '/agents', label: 'Search agents', parameter: 'search' },
    { path: '/chat/new', label: 'Search conversations', parameter: 'q' },
    { path: '/connections', label: 'Search catalog', parameter: 'search' },
    { path: '/events', label: 'Resource ID', parameter: 'resource' },
    { path: '/events/endpoints', label: 'Search endpoints', parameter: 'search' },
    { path: '/events/types', label: 'Search event types', parameter: 'search' },
    { path: '/files', label: 'Search by name', parameter: 'search' },
    { path: `/webhooks/${webhook.id}/deliveries?status=failed`, label: 'Event type', parameter: 'type' },
  ]
  const { page, pageErrors } = await open(owner, '/')
  for (const { path, label, parameter } of fields) {
    await page.goto(app.url + path)
    const field = page.getByLabel(label, { exact: true })
    await field.waitFor()
    // Chat moves the focus to its composer first.
    await settle(page)
    await field.focus()
    // In one task, so that React renders the page with a new URL after the last letter only.
    await page.evaluate(`for (const letter of 'quarterly') document.execCommand('insertText', false, letter)`)
    await page.waitForURL((url) => url.searchParams.get(parameter) === 'quarterly')
    assert.equal(await field.inputValue(), 'quarterly', path)
  }
  assert.deepEqual(pageErrors, [])
})
