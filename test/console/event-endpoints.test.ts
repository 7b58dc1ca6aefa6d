import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { Webhook } from 'standardwebhooks'
import { sql } from '../../src/platform/database/database.ts'
import { startReceiver } from '../fakes/receiver.ts'
import type { Receiver } from '../fakes/receiver.ts'
import { waitForIdleNetwork } from '../support/browser.ts'
import { assertAccessible, startConsole } from '../support/console.ts'
import {
  createAgent,
  createEndpoint,
  endpointDeliveries,
  endpointsPath,
  patchEndpoint,
  readEndpoint,
} from '../support/event-endpoints.ts'
import type { MadeEndpoint } from '../support/event-endpoints.ts'
import { until } from '../support/until.ts'
import { openLoopback } from '../support/webhooks.ts'
import type { TestActor } from '../harness.ts'

// Two attempts.
const { app, open } = await startConsole({ ...openLoopback, WEBHOOK_RETRY_SCHEDULE_SECONDS: '0' })

const respond = (receiver: Receiver, status: number, text: string): void => {
  receiver.answer = (response) => response.writeHead(status).end(text)
}

const deliveriesEnd = (as: TestActor, endpoint: MadeEndpoint, statuses: string[]) =>
  until(
    () => endpointDeliveries(app, as, endpoint),
    (items) => JSON.stringify(items.map(({ status }) => status)) === JSON.stringify(statuses),
  )

/** The people of an org have all permissions for webhooks, so this leaves some out of the response of `GET /me`. */
const withoutPermissions = (page: Page, missing: string[]) =>
  page.route('**/api/v1/me', async (route) => {
    const response = await route.fetch()
    const body = await response.json()
    body.data.permissions = body.data.permissions.filter((one: string) => !missing.includes(one))
    await route.fulfill({ response, json: body })
  })

test('a new endpoint shows its secret once, and its test event arrives with a valid signature', async () => {
  const receiver = await startReceiver()
  const owner = await app.createOrg()
  const { page, pageErrors } = await open(owner, '/events')
  await page.getByRole('link', { name: 'Endpoints', exact: true }).click()
  await page.getByText('No event endpoints yet').waitFor()
  await page.getByRole('button', { name: 'Create endpoint' }).click()
  const form = page.getByRole('dialog', { name: 'Create event endpoint' })
  await form.getByLabel('Name').fill('Data warehouse')
  await form.getByRole('textbox', { name: 'URL' }).fill(receiver.url)
  await form.getByLabel('All events').uncheck()
  const create = form.getByRole('button', { name: 'Create endpoint' })
  assert.equal(await create.getAttribute('aria-disabled'), 'true', 'an endpoint needs a type')
  await form.locator('summary', { hasText: 'Agents' }).press('Enter')
  await form.getByLabel(/^agent\.\*/).check()
  // The others remain.
  await form.getByLabel('agent.deleted').uncheck()
  await assertAccessible(page)
  await create.click()
  const dialog = page.getByRole('dialog', { name: 'Endpoint “Data warehouse” created' })
  const secret = await dialog.locator('output').innerText()
  await dialog.getByRole('button', { name: 'I have saved the secret' }).click()
  await page.getByText('No deliveries yet').waitFor()
  assert.equal((await page.content()).includes(secret), false, 'the secret is shown once')

  await page.getByRole('button', { name: 'Send test event' }).click()
  await page.getByLabel('Event type').selectOption('agent.updated')
  await page.getByRole('dialog').getByRole('button', { name: 'Send test event' }).click()
  const delivery = page.getByRole('dialog', { name: 'Delivery of agent.updated' })
  await delivery.getByText('Succeeded').waitFor()
  await delivery.getByText('A test event with example data.').waitFor()
  assert.equal(await delivery.getByRole('link', { name: 'Open event in log' }).count(), 0)
  const [{ body, headers }] = receiver.arrivals as [(typeof receiver.arrivals)[0]]
  const event = new Webhook(secret).verify(body, headers as Record<string, string>) as { type: string }
  assert.equal(event.type, 'agent.updated')
  const { items } = (await app.call('GET', endpointsPath, { as: owner })).body.data
  assert.ok(!items[0].types.includes('agent.deleted'))
  assert.deepEqual(items[0].types.slice(0, 2), ['agent.created', 'agent.updated'])
  assert.deepEqual(pageErrors, [])
})

test('a filter with a mistake shows the message of the API at the field, and the form keeps its contents', async () => {
  const owner = await app.createOrg()
  const { page } = await open(owner, '/events/endpoints?new')
  const form = page.getByRole('dialog')
  await form.getByLabel('Name').fill('Warehouse')
  await form.getByRole('textbox', { name: 'URL' }).fill('http://10.0.0.1/')
  const filter = form.getByLabel('Filter')
  const create = form.getByRole('button', { name: 'Create endpoint' })
  await form.getByRole('button', { name: 'Insert example' }).click()
  assert.ok(JSON.parse(await filter.inputValue()).any, 'the example is JSON')
  await filter.fill('{ "path": ')
  await form.getByText('The filter is not valid JSON').waitFor()
  assert.equal(await create.getAttribute('aria-disabled'), 'true')
  await filter.fill('{ "path": "data.name", "like": 1 }')
  await create.click()
  const describedBy = async (field: typeof filter): Promise<string> =>
    page.locator(`[id="${await field.getAttribute('aria-describedby')}"]`).innerText()
  const url = form.getByRole('textbox', { name: 'URL' })
  await form.getByText('not on the public Internet').waitFor()
  assert.match(await describedBy(url), /not on the public Internet/)
  await url.fill('https://hooks.example.com/')
  await create.click()
  await form.getByText('filter must have path and exactly one of').waitFor()
  assert.match(await describedBy(filter), /filter must have path and exactly one of/)
  assert.equal(await filter.getAttribute('aria-invalid'), 'true')
  assert.equal(await form.getByLabel('Name').inputValue(), 'Warehouse')
  assert.deepEqual((await app.call('GET', endpointsPath, { as: owner })).body.data.items, [])
})

test('a transform is previewed with the example of a type, and a mistake is shown with its place', async () => {
  const owner = await app.createOrg()
  const endpoint = await createEndpoint(app, owner, { types: ['agent.*'] })
  const { page, pageErrors } = await open(owner, `/events/endpoints/${endpoint.id}/settings`)
  const transform = page.getByLabel('Transform', { exact: false }).and(page.getByRole('textbox'))
  await page.getByRole('button', { name: 'Start from an example' }).click()
  assert.match(await transform.inputValue(), /actor\.name/)
  await transform.fill('{ "text": data.name & " / " & type }')
  const result = page.getByLabel('Result of the transform')
  const preview = page.getByRole('button', { name: 'Preview' })
  await preview.click()
  await result.getByText(/ \/ agent\.created/).waitFor()
  const types = page.getByLabel('Preview with the example of')
  const offered = await types.locator('option').allInnerTexts()
  assert.deepEqual(offered.slice(0, 3), ['agent.created', 'agent.updated', 'agent.deleted'])
  assert.ok(offered.every((type) => type.startsWith('agent.')))
  await types.selectOption('agent.updated')
  await result.waitFor({ state: 'detached' })
  await preview.click()
  await result.getByText(/ \/ agent\.updated/).waitFor()
  await assertAccessible(page)
  assert.deepEqual(pageErrors, [])
  await transform.fill('{ "text": }')
  await preview.click()
  await page.getByText(/cannot be used as a unary operator \(character \d+\)/).waitFor()
  assert.equal(await result.count(), 0)
  await page.getByRole('button', { name: 'Save changes' }).click()
  await until('the field is marked', async () => (await transform.getAttribute('aria-invalid')) === 'true')
  assert.equal((await readEndpoint(app, owner, endpoint)).transform, null)
  await transform.fill('{ "text": type }')
  const saving = page.waitForRequest((request) => request.method() === 'PATCH')
  await page.getByRole('button', { name: 'Save changes' }).click()
  assert.deepEqual((await saving).postDataJSON(), { transform: '{ "text": type }' })
  await page.getByText('Saved', { exact: true }).waitFor()
})

test('deliveries appear live, are filtered by status, show their attempt and event, and are retried', async () => {
  const receiver = await startReceiver()
  respond(receiver, 500, 'not today')
  const owner = await app.createOrg()
  const endpoint = await createEndpoint(app, owner, { url: receiver.url, types: ['agent.created'] })
  const { page, pageErrors } = await open(owner, `/events/endpoints/${endpoint.id}`)
  await page.getByText('No deliveries yet').waitFor()
  await createAgent(app, owner, 'Librarian')
  await page.getByRole('table', { name: 'Deliveries' }).getByText('Failed').waitFor()
  await page.getByText('All attempts have failed since').waitFor()
  await page.getByLabel('Status').selectOption('succeeded')
  await page.getByText('No succeeded deliveries').waitFor()
  await page.getByLabel('Status').selectOption('failed')
  await page.getByRole('link', { name: 'agent.created' }).press('Enter')
  const dialog = page.getByRole('dialog', { name: 'Delivery of agent.created' })
  await dialog.getByText('not today').waitFor()
  await dialog.getByText('Attempt 1').waitFor()
  assert.equal(JSON.parse(await dialog.getByLabel('Event', { exact: true }).innerText()).data.name, 'Librarian')
  await assertAccessible(page)
  respond(receiver, 200, 'thanks')
  await dialog.getByRole('button', { name: 'Retry now' }).click()
  await dialog.getByText('Attempt 3').waitFor()
  await dialog.getByText('thanks').waitFor()
  await dialog.getByText('Succeeded').waitFor()
  await dialog.getByRole('link', { name: 'Open event in log' }).click()
  await page.getByRole('dialog', { name: 'agent.created' }).getByText('"isDelivered"').waitFor()
  assert.deepEqual(pageErrors, [])
})

test('a list of failed deliveries shows one that fails while it is open', async () => {
  const receiver = await startReceiver()
  respond(receiver, 500, '')
  const owner = await app.createOrg()
  const endpoint = await createEndpoint(app, owner, { url: receiver.url, types: ['agent.created'] })
  const { page } = await open(owner, `/events/endpoints/${endpoint.id}?status=failed`)
  await page.getByText('No failed deliveries').waitFor()
  await createAgent(app, owner, 'Librarian')
  await page.getByRole('link', { name: 'agent.created' }).waitFor()
})

test('a page polls deliveries only while one is unfinished, and nothing while it is hidden', async () => {
  const receiver = await startReceiver()
  const owner = await app.createOrg()
  const endpoint = await createEndpoint(app, owner, { url: receiver.url, types: ['agent.created'] })
  await createAgent(app, owner, 'Librarian')
  await deliveriesEnd(owner, endpoint, ['succeeded'])
  const { page } = await open(owner, '/settings/profile')
  await page.clock.install()
  await page.goto(`${app.url}/events/endpoints/${endpoint.id}`)
  await page.getByText('Live', { exact: true }).waitFor()
  await waitForIdleNetwork(page)
  const polled = { deliveries: 0, endpoint: 0 }
  page.on('request', (request) => {
    const path = request.url().split('/event-endpoints/')[1]
    if (path?.includes('/deliveries')) polled.deliveries += 1
    else if (path !== undefined) polled.endpoint += 1
  })
  await page.clock.fastForward(30_000)
  await until('the results of the endpoint are loaded', () => polled.endpoint > 0)
  assert.equal(polled.deliveries, 0)
  // The attempt has no response.
  receiver.answer = () => undefined
  await createAgent(app, owner, 'Archivist')
  await page.getByRole('table', { name: 'Deliveries' }).getByText('Sending').waitFor()
  await waitForIdleNetwork(page)
  polled.deliveries = 0
  await page.clock.fastForward(5_000)
  await until('the unfinished delivery is loaded', () => polled.deliveries > 0)
  await page.evaluate(`Object.defineProperty(document, 'visibilityState', { configurable: true, value: 'hidden' })`)
  await page.evaluate(`document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))`)
  await waitForIdleNetwork(page)
  Object.assign(polled, { deliveries: 0, endpoint: 0 })
  await page.clock.fastForward(60_000)
  await page.evaluate('document.title')
  assert.deepEqual(polled, { deliveries: 0, endpoint: 0 })
})

test('all failed deliveries since a time are retried together', async () => {
  const receiver = await startReceiver()
  respond(receiver, 500, '')
  const owner = await app.createOrg()
  const endpoint = await createEndpoint(app, owner, { url: receiver.url, types: ['agent.created'] })
  for (const name of ['One', 'Two']) await createAgent(app, owner, name)
  await deliveriesEnd(owner, endpoint, ['failed', 'failed'])
  respond(receiver, 200, '')
  const { page } = await open(owner, `/events/endpoints/${endpoint.id}`)
  await page.getByRole('button', { name: 'Retry failed' }).click()
  await page.getByRole('button', { name: 'Retry deliveries' }).click()
  await page.getByText('Retrying 2 deliveries').waitFor()
  await deliveriesEnd(owner, endpoint, ['succeeded', 'succeeded'])
  await page.getByText('All of 2 succeeded').waitFor()
})

test('a disabled endpoint gives the reason and is activated, and one without an owner is taken over', async () => {
  const receiver = await startReceiver()
  respond(receiver, 410, '')
  const owner = await app.createOrg()
  const endpoint = await createEndpoint(app, owner, { url: receiver.url, types: ['agent.created'] })
  const { page } = await open(owner, '/events/endpoints')
  const row = page.getByRole('table', { name: 'Event endpoints' }).getByRole('row', { name: 'Warehouse' })
  await row.getByText('Active').waitFor()
  await createAgent(app, owner, 'Gone')
  await row.getByText('Disabled').waitFor()
  await row.getByRole('link').press('Enter')
  await page.getByRole('alert').getByText('The endpoint responded with 410 Gone.').waitFor()
  await page.getByRole('button', { name: 'Activate endpoint' }).click()
  await page.getByRole('alert').waitFor({ state: 'detached' })
  assert.equal((await readEndpoint(app, owner, endpoint)).status, 'active')

  const leaver = await app.createUser(owner, 'admin')
  const left = await createEndpoint(app, leaver, { name: 'Left behind', url: receiver.url })
  await app.db.execute(sql`
    update api_keys set revoked_at = now() where org_id = ${owner.orgId} and id = ${left.record.owner.apiKeyId}`)
  await page.goto(`${app.url}/events/endpoints/${left.id}`)
  await page.getByText('Not delivering').waitFor()
  await page.getByRole('button', { name: 'Deliver with my rights' }).click()
  await page.getByText('Not delivering').waitFor({ state: 'detached' })
  assert.deepEqual((await readEndpoint(app, owner, left)).owner, { userId: owner.userId, apiKeyId: null })
})

test('settings send only what was changed: a new name keeps the owner, other changes announce a new one', async () => {
  const owner = await app.createOrg()
  const other = await app.createUser(owner, 'admin')
  const endpoint = await createEndpoint(app, other, {
    types: ['webhook.event.*'],
    filter: { path: 'type', prefix: 'w' },
  })
  const { page } = await open(owner, `/events/endpoints/${endpoint.id}/settings`)
  await page.getByRole('textbox', { name: 'Name' }).fill('Renamed')
  const warning = page.getByText('With these changes you become the owner of the endpoint')
  assert.equal(await warning.count(), 0)
  const renaming = page.waitForRequest((request) => request.method() === 'PATCH')
  await page.getByRole('button', { name: 'Save changes' }).click()
  assert.deepEqual((await renaming).postDataJSON(), { name: 'Renamed' })
  await page.getByText('Saved', { exact: true }).waitFor()
  assert.equal((await readEndpoint(app, owner, endpoint)).owner.userId, other.userId)
  await page.getByLabel('Keep the order of each resource').check()
  await page.getByLabel('Selected workspaces').check()
  await page.getByRole('group', { name: 'Workspaces' }).getByRole('checkbox').first().check()
  await warning.waitFor()
  const saving = page.waitForRequest((request) => request.method() === 'PATCH')
  await page.getByRole('button', { name: 'Save changes' }).click()
  assert.deepEqual((await saving).postDataJSON(), {
    ordering: 'subject',
    workspaceIds: [owner.workspaceId],
  })
  const saved = await until(
    () => readEndpoint(app, owner, endpoint),
    ({ ordering }) => ordering === 'subject',
  )
  assert.deepEqual([saved.types, saved.owner.userId], [['webhook.event.*'], owner.userId])
})

test('an endpoint is paused and activated, its secret is rotated, and it is deleted after a confirmation', async () => {
  const owner = await app.createOrg()
  const endpoint = await createEndpoint(app, owner, {})
  const { page } = await open(owner, `/events/endpoints/${endpoint.id}`)
  await page.getByRole('button', { name: 'Pause' }).click()
  await page.getByText('Deliveries are paused.').waitFor()
  // Somebody else activates it.
  await patchEndpoint(app, owner, endpoint, { status: 'active' })
  await page.getByText('Deliveries are paused.').waitFor({ state: 'detached' })
  await page.getByRole('link', { name: 'Settings' }).last().click()
  await page.getByRole('button', { name: 'Rotate secret' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Rotate secret' }).click()
  const rotated = await page.getByRole('dialog', { name: 'New signing secret' }).locator('output').innerText()
  assert.notEqual(rotated, endpoint.secret)
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Delete endpoint' }).click()
  const deletion = page.getByRole('dialog', { name: 'Delete “Warehouse”?' })
  await deletion.getByRole('button', { name: 'Cancel' }).click()
  await deletion.waitFor({ state: 'detached' })
  assert.equal((await app.call('GET', `${endpointsPath}/${endpoint.id}`, { as: owner })).status, 200)
  await page.getByRole('button', { name: 'Delete endpoint' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete endpoint' }).click()
  await page.getByText('No event endpoints yet').waitFor()
  assert.equal((await app.call('GET', `${endpointsPath}/${endpoint.id}`, { as: owner })).status, 404)
})

test('people without webhooks:write see endpoints without actions, and without webhooks:read no tab', async () => {
  const owner = await app.createOrg()
  const endpoint = await createEndpoint(app, owner, { filter: { path: 'data.name', prefix: 'A' } })
  const { page } = await open(owner, '/settings/profile')
  await withoutPermissions(page, ['webhooks:write'])
  const buttons = async (): Promise<string[]> =>
    (await page.getByRole('main').getByRole('button').allInnerTexts()).filter((text) => text !== '')
  await page.goto(`${app.url}/events/endpoints?new`)
  await page.getByRole('link', { name: 'Warehouse' }).waitFor()
  await waitForIdleNetwork(page)
  assert.equal(await page.getByRole('dialog').count(), 0)
  assert.deepEqual(await buttons(), [])
  await page.goto(`${app.url}/events/endpoints/${endpoint.id}`)
  await page.getByText('No deliveries yet').waitFor()
  assert.deepEqual(await buttons(), [])
  await page.getByRole('main').getByRole('link', { name: 'Settings' }).click()
  await page.getByLabel('Filter').getByText('data.name').waitFor()
  assert.deepEqual(await buttons(), [])
  await page.unroute('**/api/v1/me')
  await withoutPermissions(page, ['webhooks:write', 'webhooks:read'])
  await page.goto(`${app.url}/events`)
  const tabs = page.getByRole('navigation', { name: 'Events', exact: true })
  await tabs.getByRole('link', { name: 'Event types' }).waitFor()
  assert.deepEqual(await tabs.getByRole('link').allInnerTexts(), ['Log', 'Event types'])
})

test('endpoints are found by name, URL and type, and the search is part of the link', async () => {
  const owner = await app.createOrg()
  await createEndpoint(app, owner, { name: 'Warehouse', types: ['agent.*'] })
  await createEndpoint(app, owner, { name: 'Accounting', types: ['balance.low'] })
  const { page } = await open(owner, '/events/endpoints?search=balance')
  const names = page.getByRole('table', { name: 'Event endpoints' }).locator('strong')
  await names.first().waitFor()
  assert.deepEqual(await names.allInnerTexts(), ['Accounting'])
  await page.getByRole('searchbox').fill('warehouse')
  await page.getByText('Accounting').waitFor({ state: 'detached' })
  assert.ok(page.url().endsWith('/events/endpoints?search=warehouse'))
  assert.deepEqual(await names.allInnerTexts(), ['Warehouse'])
  await page.getByRole('searchbox').fill('none of them')
  await page.getByText('No endpoints match “none of them”').waitFor()
})
