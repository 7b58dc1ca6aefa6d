import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import type { TestActor } from '../harness.ts'
import { newId } from '../../src/platform/ids.ts'
import { waitForIdleNetwork } from '../support/browser.ts'
import { createAgent, openSession } from '../support/chat.ts'
import { startConsole } from '../support/console.ts'
import { createEndpoint } from '../support/event-endpoints.ts'
import { until } from '../support/until.ts'
import { createWebhook } from '../support/webhooks.ts'

const { app, open } = await startConsole()

interface Stream {
  lastEventId: string | undefined
  isOpen: boolean
}

/** Leaves the open page, and returns the streams of events that the next ones open. */
const watchStreams = async (page: Page): Promise<Stream[]> => {
  await page.goto('about:blank')
  const streams: Stream[] = []
  page.on('request', (request) => {
    if (!request.url().endsWith('/events/stream')) return
    const stream = { lastEventId: request.headers()['last-event-id'], isOpen: true }
    streams.push(stream)
    const end = (ended: unknown): void => {
      if (ended === request) stream.isOpen = false
    }
    page.on('requestfailed', end)
    page.on('requestfinished', end)
  })
  return streams
}

/** Simulates that the person leaves the tab or returns to it. */
const setVisibility = async (page: Page, state: 'visible' | 'hidden'): Promise<void> => {
  await page.evaluate(`Object.defineProperty(document, 'visibilityState', { configurable: true, value: '${state}' })`)
  await page.evaluate(`document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))`)
}

const lastPosition = async (as: TestActor): Promise<string> =>
  (await app.call('GET', '/api/v1/events?order=desc&limit=1', { as })).body.data.items[0]?.position.toString()

const rename = async (as: TestActor, id: string, name: string): Promise<void> => {
  const { status, text } = await app.call('PATCH', `/api/v1/agents/${id}`, { as, json: { name } })
  assert.equal(status, 200, text)
}

test('a list changes without a reload when another client changes something', async () => {
  const owner = await app.createOrg()
  const { page, pageErrors } = await open(owner, '/agents')
  await page.getByRole('heading', { level: 1, name: 'Agents' }).waitFor()
  const agent = await createAgent(app, owner, { name: 'Librarian' })
  await page.getByText('Librarian').waitFor()
  await rename(owner, agent.id, 'Archivist')
  await page.getByText('Archivist').waitFor()
  assert.equal(await page.getByText('Librarian').count(), 0)
  assert.equal((await app.call('DELETE', `/api/v1/agents/${agent.id}`, { as: owner })).status, 200)
  await page.getByText('Archivist').waitFor({ state: 'detached' })
  assert.deepEqual(pageErrors, [])
})

test('the log shows a new event live, with its payload, and filters by type and resource', async () => {
  const owner = await app.createOrg()
  const { page, pageErrors } = await open(owner, '/')
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Events' }).click()
  const agent = await createAgent(app, owner, { name: 'Librarian' })
  const other = await createAgent(app, owner, { name: 'Gardener' })
  const log = page.getByRole('table', { name: 'Events' })
  const rows = log.getByRole('row')
  await log.getByText('Librarian').waitFor()
  await page.getByText('Live', { exact: true }).waitFor()
  await rename(owner, agent.id, 'Archivist')
  await rows.nth(1).getByText('agent.updated').waitFor()
  await page.getByLabel('Type').selectOption('agent.created')
  await log.getByText('agent.updated').waitFor({ state: 'detached' })
  await log.getByRole('row', { name: 'Gardener' }).getByRole('link').press('Enter')
  const dialog = page.getByRole('dialog', { name: 'agent.created' })
  await dialog.getByText('An agent was created.').waitFor()
  assert.equal(JSON.parse(await dialog.getByLabel('Payload').innerText()).subject.id, other.id)
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await dialog.getByRole('button', { name: 'Copy' }).click()
  assert.equal(JSON.parse(await page.evaluate('navigator.clipboard.readText()')).subject.id, other.id)
  await dialog.getByRole('link', { name: 'Events of this resource' }).click()
  await rename(owner, agent.id, 'Historian')
  await rename(owner, other.id, 'Florist')
  await log.getByText('Florist').waitFor()
  assert.equal(await rows.count(), 3, 'both events of one agent, and the heading')
  await page.getByLabel('Resource ID').fill('12')
  await page.getByText('Enter a complete ID.').waitFor()
  await page.getByRole('button', { name: 'Clear filters' }).click()
  await log.getByText('Historian').waitFor()
  assert.deepEqual(pageErrors, [])
})

test('the catalog shows the fields and an example of a type, and finds types by text', async () => {
  const owner = await app.createOrg()
  const { page } = await open(owner, '/events/types')
  await page.getByRole('link', { name: 'agent.updated' }).click()
  const dialog = page.getByRole('dialog', { name: 'agent.updated' })
  await dialog.getByRole('row', { name: /^changed string\[\] Names of the fields/ }).waitFor()
  assert.deepEqual(JSON.parse(await dialog.getByLabel('Example data').innerText()).changed, ['model'])
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  await page.getByRole('searchbox').fill('was deleted')
  await page.getByRole('link', { name: 'agent.updated' }).waitFor({ state: 'detached' })
  await page.getByRole('link', { name: 'agent.deleted' }).click()
  await page.getByRole('link', { name: 'View events' }).click()
  await page.waitForURL('**/events?type=agent.deleted')
  await page.getByText('No matching events').waitFor()
})

test('a hidden tab holds no stream, and shows what changed meanwhile when it becomes visible', async () => {
  const owner = await app.createOrg()
  const { page } = await open(owner, '/')
  const streams = await watchStreams(page)
  await page.goto(`${app.url}/agents`)
  await page.getByRole('heading', { level: 1, name: 'Agents' }).waitFor()
  await createAgent(app, owner, { name: 'Librarian' })
  await page.getByText('Librarian').waitFor()
  assert.deepEqual(streams, [{ lastEventId: undefined, isOpen: true }])
  const position = await lastPosition(owner)
  await setVisibility(page, 'hidden')
  await until('the stream is closed', () => streams[0]?.isOpen === false)
  await createAgent(app, owner, { name: 'Gardener' })
  assert.equal(streams.length, 1)
  await setVisibility(page, 'visible')
  await page.getByText('Gardener').waitFor()
  assert.deepEqual(streams.slice(1), [{ lastEventId: position, isOpen: true }])
})

test('a tab that was hidden for a long time begins anew and loads everything again', async () => {
  const owner = await app.createOrg()
  const { page } = await open(owner, '/')
  await page.clock.install()
  const streams = await watchStreams(page)
  await page.goto(`${app.url}/agents`)
  await page.getByRole('heading', { level: 1, name: 'Agents' }).waitFor()
  await createAgent(app, owner, { name: 'Librarian' })
  await page.getByText('Librarian').waitFor()
  await setVisibility(page, 'hidden')
  await until('the stream is closed', () => streams[0]?.isOpen === false)
  await createAgent(app, owner, { name: 'Gardener' })
  await page.clock.fastForward(120_000)
  await setVisibility(page, 'visible')
  await page.getByText('Gardener').waitFor()
  assert.deepEqual(streams.slice(1), [{ lastEventId: undefined, isOpen: true }])
})

/** Lets a test cut the connection of the stream, which Playwright cannot do after the response has begun. */
const cuttable = `{
  const real = window.fetch
  window.fetch = async (input, init) => {
    const response = await real(input, init)
    if (!String(input).endsWith('/events/stream')) return response
    const reader = response.body.getReader()
    const body = new ReadableStream({
      start: (controller) => { window.cutStream = () => { controller.error(new TypeError('network error')); void reader.cancel() } },
      pull: async (controller) => {
        const { value, done } = await reader.read()
        if (done) controller.close(); else controller.enqueue(value)
      },
    })
    return new Response(body, response)
  }
}`

test('a lost connection is reported, and resumes without missing or repeating an event', async () => {
  const owner = await app.createOrg()
  const { page } = await open(owner, '/')
  await page.addInitScript(cuttable)
  const streams = await watchStreams(page)
  await page.goto(`${app.url}/events`)
  const log = page.getByRole('table', { name: 'Events' })
  await createAgent(app, owner, { name: 'Agent 1' })
  await log.getByText('Agent 1').waitFor()
  await page.getByText('Live', { exact: true }).waitFor()
  const position = await lastPosition(owner)
  await page.route('**/events/stream', (route) => route.abort())
  await page.evaluate('cutStream()')
  await page.getByText('Disconnected').waitFor()
  for (let n = 2; n <= 4; n += 1) await createAgent(app, owner, { name: `Agent ${n}` })
  await page.unroute('**/events/stream')
  await createAgent(app, owner, { name: 'Agent 5' })
  await log.getByText('Agent 5').waitFor()
  await page.getByText('Live', { exact: true }).waitFor()
  const names = await log.getByText(/^Agent \d$/).allInnerTexts()
  assert.deepEqual(names, ['Agent 5', 'Agent 4', 'Agent 3', 'Agent 2', 'Agent 1'])
  assert.equal(streams.at(-1)?.lastEventId, position)
  assert.equal(streams.at(-1)?.isOpen, true)
})

test('a page polls only while it has no stream', async () => {
  const owner = await app.createOrg()
  await createAgent(app, owner, { name: 'Librarian' })
  const { page } = await open(owner, '/')
  await page.addInitScript(cuttable)
  await page.clock.install()
  await page.goto(`${app.url}/events`)
  await page.getByText('Live', { exact: true }).waitFor()
  await page.waitForLoadState('load')
  await waitForIdleNetwork(page)
  let requests = 0
  page.on('request', (request) => {
    if (request.url().includes('/events?')) requests += 1
  })
  await page.clock.fastForward(20_000)
  await page.evaluate('document.title')
  assert.equal(requests, 0)
  await page.route('**/events/stream', (route) => route.abort())
  await page.evaluate('cutStream()')
  await page.getByText('Disconnected').waitFor()
  await page.clock.fastForward(20_000)
  await until('the page polls', () => requests > 0)
})

/** Answers each connection with the events since the previous one, and ends it. Returns a function that adds an event. */
const scriptStream = async (page: Page, as: TestActor): Promise<(type: string, event?: object) => void> => {
  let frames = ''
  let position = 0
  await page.route('**/events/stream', async (route) => {
    const last = route.request().headers()['last-event-id'] ?? '0'
    const body = `id: ${last}\nevent: open\ndata: {}\n\n${frames}`
    frames = ''
    await route.fulfill({ contentType: 'text/event-stream', body })
  })
  return (type, event = {}) => {
    position += 1
    const all = { type, orgId: as.orgId, workspaceId: null, subject: { type: 'any', id: newId() }, data: {}, ...event }
    frames += `id: ${position}\ndata: ${JSON.stringify(all)}\n\n`
  }
}

/** Opens a page, sends an event when it is idle, and waits until the page loads a path that matches. */
const createSender = async (page: Page, as: TestActor) => {
  const send = await scriptStream(page, as)
  return async (path: string, wanted: RegExp, ...event: Parameters<typeof send>): Promise<void> => {
    await page.goto(app.url + path)
    await waitForIdleNetwork(page)
    const answer = page.waitForResponse(
      (response) => response.request().method() === 'GET' && wanted.test(response.url().replace(/.*\/api\/v1/, '')),
    )
    send(...event)
    assert.equal((await answer).status(), 200, `${event[0]} at ${path}`)
  }
}

test('the events of every area load what they make outdated', async () => {
  const owner = await app.createOrg()
  const session = await openSession(app, owner)
  const webhook = await createWebhook(app, owner)
  const { page } = await open(owner, '/settings/profile')
  const loads = await createSender(page, owner)
  await loads('/files', /^\/files\?/, 'file.created')
  await loads('/files', /^\/files\?/, 'folder.moved')
  await loads('/settings/projects', /^\/projects/, 'project.updated')
  await loads('/chat', /^\/sessions\?/, 'session.created')
  const about = (id: string) => ({ subject: { type: 'any', id } })
  await loads(`/chat/${session.id}`, /^\/sessions\/[^/]+\/messages/, 'message.created', about(session.id))
  await loads(`/chat/${session.id}`, /^\/sessions\/[^/]+$/, 'turn.requires_action', about(session.id))
  await loads('/', /^\/sessions\?/, 'turn.requires_action')
  await loads('/agents/assistant/messages', /^\/agents\/[^/]+\/messages/, 'message.created')
  await loads('/webhooks', /^\/webhooks$/, 'webhook.created')
  await loads('/webhooks/events', /^\/webhooks\/events/, 'webhook.event.received')
  await loads(`/webhooks/${webhook.id}`, /^\/webhooks\/[^/]+\/events/, 'webhook.event.received', about(webhook.id))
  const deliveries = `/webhooks/${webhook.id}/deliveries`
  await loads(deliveries, /^\/webhooks\/[^/]+\/deliveries/, 'webhook.delivery.failed', about(webhook.id))
  const endpoint = await createEndpoint(app, owner, {})
  await loads('/events/endpoints', /^\/event-endpoints$/, 'event_endpoint.created')
  const endpointPage = `/events/endpoints/${endpoint.id}`
  await loads(endpointPage, /^\/event-endpoints\/[^/]+$/, 'event_endpoint.updated', about(endpoint.id))
  // Any event can be delivered.
  await loads(endpointPage, /^\/event-endpoints\/[^/]+\/deliveries/, 'member.added')
  await loads('/connections', /^\/connections$/, 'connection.broken')
  await loads('/billing', /^\/billing$/, 'balance.low')
  await loads('/settings/members', /^\/members/, 'member.added')
  await loads('/settings/workspaces', /^\/workspaces/, 'workspace.updated')
  await loads('/settings/api-keys', /^\/api-keys/, 'api_key.created')
})

test('an event of another conversation, or of another workspace, does not load the open conversation', async () => {
  const owner = await app.createOrg()
  const session = await openSession(app, owner)
  const { page } = await open(owner, '/settings/profile')
  const send = await scriptStream(page, owner)
  const conversation = `/api/v1/sessions/${session.id}`
  const loaded = [conversation, `${conversation}/messages`].map((path) =>
    page.waitForResponse((response) => new URL(response.url()).pathname === path),
  )
  await page.goto(`${app.url}/chat/${session.id}`)
  await Promise.all(loaded)
  await waitForIdleNetwork(page)
  const paths: string[] = []
  page.on('request', (request) => paths.push(new URL(request.url()).pathname.replace('/api/v1', '')))
  send('message.created')
  await until('the list of conversations is loaded', () => paths.includes('/sessions'))
  await waitForIdleNetwork(page)
  assert.ok(!paths.some((path) => path.startsWith(`/sessions/${session.id}`)))
  paths.length = 0
  send('message.created', { workspaceId: newId() })
  send('agent.updated')
  await until('the agents are loaded', () => paths.includes('/agents'))
  await waitForIdleNetwork(page)
  assert.ok(!paths.includes('/sessions'))
})

test('a form keeps what was edited and takes over other fields that somebody else changed', async () => {
  const owner = await app.createOrg()
  const agent = await createAgent(app, owner, { name: 'Librarian' })
  const { page } = await open(owner, `/agents/${agent.slug}/settings`)
  await page.getByLabel('System prompt').fill('Answer briefly.')
  await rename(owner, agent.id, 'Archivist')
  await until(
    'the form has the new name',
    async () => (await page.getByRole('textbox', { name: 'Name' }).inputValue()) === 'Archivist',
  )
  await page.getByRole('button', { name: 'Save changes' }).click()
  await page.getByText('Saved', { exact: true }).waitFor()
  const { name, systemPrompt } = (await app.call('GET', `/api/v1/agents/${agent.id}`, { as: owner })).body.data
  assert.deepEqual([name, systemPrompt], ['Archivist', 'Answer briefly.'])
})
