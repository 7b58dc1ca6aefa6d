import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import sharp from 'sharp'
import { ask, createAgent, getTurn, openSession, until } from '../support/chat.ts'
import { assertAccessible, chooseModel, startConsole } from '../support/console.ts'
import { upload } from '../support/files.ts'
import { rejectWith, reply, startFakeModel } from '../fakes/model.ts'
import type { Script } from '../fakes/model.ts'

const model = await startFakeModel()
const { app, open } = await startConsole({
  MODEL_PROVIDERS: 'fake',
  MODEL_FAKE_BASE_URL: model.baseUrl,
  MODEL_FAKE_MODELS: 'slow',
  MODEL_FAKE_FREE: '1',
})

const chunk = (delta: object, finish: string | null = null): string =>
  `data: ${JSON.stringify({ id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'slow', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`

/** A model response whose second part is sent when `go` is called. */
const inTwoParts = (first: string, second: string): { script: Script; go: () => void } => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const script: Script = async (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(chunk({ content: first }))
    await promise
    response.write(chunk({ content: second }))
    response.write(chunk({}, 'stop'))
    response.end('data: [DONE]\n\n')
  }
  return { script, go: resolve }
}

test('a person creates an agent, sends it a message, and sees its tool calls and its receipt', async () => {
  const owner = await app.createOrg()
  await createAgent(app, owner, { name: 'Bob' })
  const { page, pageErrors } = await open(owner, '/agents')
  await page.getByRole('button', { name: 'Create agent' }).click()
  await page.getByLabel('Name', { exact: true }).fill('Ann')
  await chooseModel(page, 'Model', 'atrium/demo')
  await page.getByLabel('System prompt').fill('Answer in one sentence.')
  await page.getByLabel('Bob').check()
  await page.getByRole('switch', { name: 'Read responses aloud' }).check()
  await page.getByLabel('Speed').fill('1.5')
  await page.getByRole('button', { name: 'Create agent' }).click()
  await page.waitForURL('**/agents/ann')
  const { body } = await app.call('GET', '/api/v1/agents/ann', { as: owner })
  assert.deepEqual(body.data.allowedPeers, ['bob'])
  assert.deepEqual(body.data.allowedTools, ['files.search', 'files.read'])
  assert.deepEqual([body.data.settings.voice.enabled, body.data.settings.voice.speed], [true, 1.5])

  await page.getByRole('button', { name: 'Chat', exact: true }).click()
  const box = page.getByRole('textbox', { name: 'Message Ann' })
  await page.locator('input[type=file]').setInputFiles({
    name: 'figures.txt',
    mimeType: 'text/plain',
    buffer: Buffer.from('Revenue rose by 8 %.'),
  })
  await page.getByRole('list', { name: 'Attachments' }).getByText('figures.txt').waitFor()
  await box.fill('What does it say?\n/tool files.search {"query":"figures"}\n/peer bob Hello')
  await page.locator('[aria-label="Send"]:not([aria-disabled])').waitFor()
  await box.press('Enter')
  await page.waitForURL(/\/chat\/[0-9a-f-]{36}$/)
  const answer = page.getByRole('article', { name: 'Response from Ann' })
  await answer.getByText('Free').waitFor()
  await answer.locator('summary', { hasText: 'message_peer' }).waitFor()
  await answer.locator('summary', { hasText: 'files.search' }).click()
  await answer.getByText('"query": "figures"').waitFor()
  assert.match(await answer.innerText(), /bob answered/)
  await page.getByRole('link', { name: 'figures.txt' }).waitFor()
  await answer.getByRole('button', { name: 'Receipt' }).click()
  await page.getByRole('dialog').getByRole('table', { name: 'Tools' }).getByText('message_peer').waitFor()
  assert.match(page.url(), /receipt=/)

  await page.goto(`${app.url}/agents/ann/messages`)
  const messages = page.getByRole('log', { name: 'Messages with Bob' })
  await messages.getByText('Hello', { exact: true }).waitFor()
  assert.equal(await messages.getByRole('article').count(), 2)
  assert.deepEqual(pageErrors, [])
})

test('a reload during a response resumes it without showing any message twice', async () => {
  const owner = await app.createOrg()
  const { script, go } = inTwoParts('The first half, ', 'and the second.')
  model.play(script)
  await createAgent(app, owner, { name: 'Slow', model: 'fake/slow' })
  const { page, pageErrors } = await open(owner, '/chat?agent=slow')
  await page.getByRole('textbox', { name: 'Message Slow' }).fill('Go on')
  await page.keyboard.press('Enter')
  await page.getByText('The first half,').waitFor()
  await page.waitForURL(/\/chat\/[0-9a-f-]{36}$/)
  await page.reload()
  await page.getByText('The first half,').waitFor()
  await page.getByRole('button', { name: 'Stop' }).waitFor()
  go()
  await page.getByText('The first half, and the second.').waitFor()
  await page.getByRole('button', { name: 'Receipt' }).waitFor()
  assert.equal(await page.getByRole('article').count(), 1)
  assert.equal(await page.getByRole('log').getByText('Go on', { exact: true }).count(), 1)
  assert.deepEqual(pageErrors, [])
})

test('a stopped response keeps its text and can be continued', async () => {
  const owner = await app.createOrg()
  const { script, go } = inTwoParts('As far as here', ' and no further')
  const rest = inTwoParts('More of it', '.')
  rest.go()
  model.play(script, rest.script)
  await createAgent(app, owner, { name: 'Slow', model: 'fake/slow' })
  const { page } = await open(owner, '/chat?agent=slow')
  await page.getByRole('textbox', { name: 'Message Slow' }).fill('Begin')
  await page.keyboard.press('Enter')
  await page.getByText('As far as here').waitFor()
  await page.getByRole('button', { name: 'Stop' }).click()
  await page.getByText('Stopped by a user.').waitFor()
  go()
  await page.getByText('As far as here').waitFor()
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByText('More of it.').waitFor()
  assert.equal(await page.getByText('and no further').count(), 0)
})

test('two clicks on Continue send one message, so that one turn is charged', async () => {
  const owner = await app.createOrg()
  const { script, go } = inTwoParts('As far as here', ' and no further')
  const rest = inTwoParts('More of it', '.')
  rest.go()
  model.play(script, rest.script)
  await createAgent(app, owner, { name: 'Slow', model: 'fake/slow' })
  const { page } = await open(owner, '/chat?agent=slow')
  await page.getByRole('textbox', { name: 'Message Slow' }).fill('Begin')
  await page.keyboard.press('Enter')
  await page.getByText('As far as here').waitFor()
  await page.getByRole('button', { name: 'Stop' }).click()
  await page.getByText('Stopped by a user.').waitFor()
  go()
  const { promise: clicked, resolve: release } = Promise.withResolvers<void>()
  let sent = 0
  await page.route('**/api/v1/sessions/*/messages', async (route) => {
    if (route.request().method() === 'POST') {
      sent += 1
      await clicked
    }
    return route.fallback()
  })
  await page.getByRole('button', { name: 'Continue' }).dblclick()
  release()
  await page.getByText('More of it.').waitFor()
  assert.equal(sent, 1)
})

test('a conversation is kept when the response to its first message is lost', async () => {
  const owner = await app.createOrg()
  await createAgent(app, owner, { name: 'Bob' })
  const { page } = await open(owner, '/chat?agent=bob')
  await page.route('**/api/v1/sessions/*/messages', async (route) => {
    await route.fetch()
    await route.abort()
  })
  const deleted: string[] = []
  page.on('request', (request) => {
    if (request.method() === 'DELETE') deleted.push(request.url())
  })
  await page.getByRole('textbox', { name: 'Message Bob' }).fill('Hello')
  await page.keyboard.press('Enter')
  await page.getByRole('alert').first().waitFor()
  assert.deepEqual(deleted, [])
  const { body } = await app.call('GET', '/api/v1/sessions', { as: owner })
  assert.equal(body.data.items.length, 1)
})

/** Runs in the page: the first stream of a turn opens, and nothing arrives, as when the network of a laptop has changed. */
const loseFirstStream = `
  const connect = window.fetch
  window.lostStreams = 0
  window.fetch = async (...args) => {
    const response = await connect(...args)
    if (window.lostStreams > 0 || !/\\/turns\\/[^/]+\\/stream/.test(args[0])) return response
    window.lostStreams = 1
    await response.body.cancel()
    const start = (body) => args[1].signal.addEventListener('abort', () => body.error(args[1].signal.reason))
    return new Response(new ReadableStream({ start }), response)
  }`

test('a response is shown as it arrives although its first connection was lost without an error', async () => {
  const owner = await app.createOrg()
  const { script, go } = inTwoParts('The first half, ', 'and the second.')
  model.play(script)
  await createAgent(app, owner, { name: 'Slow', model: 'fake/slow' })
  const { page } = await open(owner, '/chat?agent=slow')
  await page.addInitScript(loseFirstStream)
  await page.clock.install()
  await page.reload()
  await page.getByRole('textbox', { name: 'Message Slow' }).fill('Go on')
  await page.keyboard.press('Enter')
  await until('the page follows the turn', async () => (await page.evaluate('window.lostStreams')) === 1)
  await page.clock.fastForward(41_000)
  await page.getByText('The first half,').waitFor()
  go()
  await page.getByText('The first half, and the second.').waitFor()
})

test('a call that requires approval runs only after it is approved, here or elsewhere', async () => {
  const owner = await app.createOrg()
  const settings = { approvals: ['files.write'] }
  await createAgent(app, owner, { name: 'Careful', allowedTools: ['files.write'], settings })
  const { page } = await open(owner, '/chat?agent=careful')
  await page.getByRole('textbox', { name: 'Message Careful' }).fill('/tool files.write {"name":"a.txt","text":"x"}')
  await page.keyboard.press('Enter')
  await page.getByText('This needs a person’s approval.').waitFor()
  const files = async () => (await app.call('GET', '/api/v1/files', { as: owner })).body.data.items.length as number
  assert.equal(await files(), 0)
  await page.reload()
  await page.getByRole('button', { name: 'Approve', exact: true }).click()
  await page.getByRole('article').getByText('Free').waitFor()
  assert.equal(await files(), 1)

  // An approval through the API resumes the turn in the open page as well.
  await page.getByRole('textbox', { name: 'Message Careful' }).fill('/tool files.write {"name":"b.txt","text":"x"}')
  await page.keyboard.press('Enter')
  await page.getByText('This needs a person’s approval.').waitFor()
  const sessionId = page.url().split('/').at(-1)
  const session = await app.call('GET', `/api/v1/sessions/${sessionId}`, { as: owner })
  const turnId = session.body.data.activeTurnId as string
  const [{ approvalId }] = (await getTurn(app, owner, turnId)).approvals
  const json = { approvalId, approved: true }
  await app.call('POST', `/api/v1/turns/${turnId}/approvals`, { as: owner, json })
  await page.getByRole('article').last().getByText('Free').waitFor()
  assert.equal(await files(), 2)
})

test('an attached picture is shown as a thumbnail in the message, and as an icon after it was deleted', async () => {
  const owner = await app.createOrg()
  await createAgent(app, owner, { name: 'Viewer' })
  const { id } = await openSession(app, owner, { agentId: 'viewer' })
  const bytes = await sharp({ create: { width: 20, height: 10, channels: 3, background: '#f00' } })
    .png()
    .toBuffer()
  const file = await upload(app, owner, bytes, { name: 'a.png', type: 'image/png' })
  await ask(app, owner, id, { text: 'Look', fileIds: [file.id] })
  const { page, pageErrors } = await open(owner, `/chat/${id}`)
  const link = page.getByRole('link', { name: 'a.png' })
  const widthOf = (image: unknown): number => (image as { naturalWidth: number }).naturalWidth
  await until(
    () => link.locator('img').evaluate(widthOf),
    (width) => width === 20,
  )
  await link.click()
  const preview = page.getByRole('dialog', { name: 'a.png' })
  await preview.getByRole('img', { name: 'a.png' }).waitFor()
  await page.keyboard.press('Escape')
  await preview.waitFor({ state: 'detached' })
  assert.match(page.url(), /\/chat\//)
  assert.deepEqual(pageErrors, [])
  assert.equal((await app.call('DELETE', `/api/v1/files/${file.id}`, { as: owner })).status, 200)
  await page.reload()
  await link.locator('svg').waitFor()
  assert.equal(await link.locator('img').count(), 0)
})

test('a person edits a message, switches between its versions, tries a failed response again, and copies the conversation', async () => {
  const owner = await app.createOrg()
  await createAgent(app, owner, { name: 'Slow', model: 'fake/slow' })
  const { page, context, pageErrors } = await open(owner, '/chat/new?agent=slow')
  const box = page.getByRole('textbox', { name: 'Message Slow' })
  const editor = page.getByRole('textbox', { name: 'Edit message' })
  model.play(reply(['First answer']))
  await box.fill('Question')
  await box.press('Enter')
  await page.getByText('First answer').waitFor()
  await page.getByText('Free').waitFor()
  await box.press('ArrowUp')
  await editor.press('Escape')
  await editor.waitFor({ state: 'detached' })
  await box.press('ArrowUp')
  assert.equal(await editor.inputValue(), 'Question')
  model.play(reply(['Second answer']))
  await editor.fill('Better question')
  await assertAccessible(page)
  await editor.press('Enter')
  await page.getByText('Second answer').waitFor()
  await page.getByText('2 / 2').waitFor()
  assert.equal(await page.getByText('First answer').count(), 0)

  model.play(rejectWith(400))
  await box.fill('Now fail')
  await box.press('Enter')
  const again = page.getByRole('button', { name: 'Try again' })
  await again.waitFor()
  model.play(reply(['It works now']))
  await again.click()
  await page.getByText('It works now').waitFor()
  await again.waitFor({ state: 'detached' })
  assert.equal(await page.getByRole('log').getByText('Now fail', { exact: true }).count(), 1)

  await context.grantPermissions(['clipboard-read', 'clipboard-write'])
  await page.getByRole('button', { name: 'Conversation actions' }).click()
  await page.getByRole('menuitem', { name: 'Copy as Markdown' }).click()
  await page.getByText('Conversation copied').waitFor()
  const copied = (await page.evaluate('navigator.clipboard.readText()')) as string
  assert.match(
    copied,
    /^# Question\n\n## .+\n\nBetter question\n\n## Slow · .+\n\nSecond answer\n\n## .+\n\nNow fail\n/,
  )
  assert.doesNotMatch(copied, /First answer/)

  await page.getByRole('button', { name: 'Previous version' }).click()
  await page.getByText('First answer').waitFor()
  await page.getByText('1 / 2').waitFor()
  assert.equal(await page.getByText('It works now').count(), 0)
  await assertAccessible(page)
  assert.deepEqual(pageErrors, [])
})

test('a person finds a conversation by its text or its source, and opens it by keyboard', async () => {
  const owner = await app.createOrg()
  await createAgent(app, owner, { name: 'Ann' })
  const byKey = await openSession(app, owner, { agentId: 'ann', title: 'Quarterly report' })
  await ask(app, owner, byKey.id, { text: 'The revenue of the Zürich office rose.' })
  await ask(app, owner, byKey.id, { text: 'another line\n'.repeat(60) })
  const { page, pageErrors } = await open(owner, '/chat/new?agent=ann')
  await page.getByRole('textbox', { name: 'Message Ann' }).fill('What is for lunch?')
  await page.keyboard.press('Enter')
  await page.waitForURL(/\/chat\/[0-9a-f-]{36}/)
  const list = page.getByRole('complementary', { name: 'Conversations' })
  const rows = list.getByRole('link', { name: /Ann/ })
  await until(
    () => rows.count(),
    (count) => count === 2,
  )
  await page.getByRole('article').getByText('Free').waitFor()
  await page.getByRole('heading', { name: 'What is for lunch?' }).click()
  await page.keyboard.press('/')
  await page.keyboard.type('zürich reven')
  await list.locator('mark', { hasText: 'Zürich' }).first().waitFor()
  assert.equal(await rows.count(), 1)
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await page.waitForURL(`**/chat/${byKey.id}?*q=*`)
  const found = page.getByRole('log').locator('[aria-current]')
  await found.getByText('Zürich').first().waitFor()
  await page.getByRole('button', { name: 'Scroll to latest' }).waitFor()
  const box = await found.boundingBox()
  assert.ok(box && box.y > 0 && box.y < 900, 'the message that the search has found is in view')
  await assertAccessible(page)
  await list.getByRole('searchbox').fill('nowhere')
  await list.getByText('No matching conversations').waitFor()
  await list.getByRole('button', { name: 'Clear filters' }).click()
  await list.getByLabel('Source').selectOption('Console')
  await list.getByText('What is for lunch?').waitFor()
  await list.getByText('Quarterly report').waitFor({ state: 'detached' })
  await list.getByLabel('Source').selectOption('API')
  await list.getByText('Ann · API').waitFor()
  assert.equal(await list.getByText('What is for lunch?').count(), 0)
  assert.deepEqual(pageErrors, [])
})

/** Runs `script` in the page when its URL has changed, before it is rendered with the new URL. */
const beforeRendering = (page: Page, script: string): Promise<unknown> =>
  page.evaluate(`for (const name of ['pushState', 'replaceState']) {
    const change = history[name]
    let done = false
    history[name] = (...to) => {
      change.apply(history, to)
      if (done) return
      done = true
      queueMicrotask(() => {
        ${script}
      })
    }
  }`)

test('letters and filters that follow a search before the list is rendered with it are kept', async () => {
  const owner = await app.createOrg()
  await createAgent(app, owner, { name: 'Ann' })
  await openSession(app, owner, { agentId: 'ann', title: 'Quarterly report' })
  const { page, pageErrors } = await open(owner, '/chat/new')
  const list = page.getByRole('complementary', { name: 'Conversations' })
  await list.getByText('Quarterly report').waitFor()
  const search = list.getByRole('searchbox')
  await beforeRendering(page, `document.execCommand('insertText', false, 'erly')`)
  await search.fill('quart')
  await page.waitForURL('**/chat/new?q=quarterly')
  await list.locator('mark', { hasText: 'Quarterly' }).waitFor()
  assert.equal(await search.inputValue(), 'quarterly')

  await search.fill('nowhere')
  await list.getByText('No matching conversations').waitFor()
  await beforeRendering(
    page,
    `const source = document.querySelector('option[value=api]').parentElement
    source.value = 'api'
    source.dispatchEvent(new Event('change', { bubbles: true }))`,
  )
  await list.getByRole('button', { name: 'Clear filters' }).click()
  await page.waitForURL('**/chat/new?source=api')
  await list.getByText('Quarterly report').waitFor()
  assert.equal(await search.inputValue(), '')
  assert.deepEqual(pageErrors, [])
})

test('a member of another org sees neither the agents nor the conversations of an org', async () => {
  const [owner, stranger] = [await app.createOrg(), await app.createOrg()]
  await createAgent(app, owner, { name: 'Secret keeper' })
  const { id } = await openSession(app, owner, { agentId: 'secret-keeper', title: 'Secret plans' })
  const { page } = await open(stranger, `/chat/${id}`)
  await page.getByText('Not found', { exact: true }).waitFor()
  await page.goto(`${app.url}/agents`)
  await page.getByRole('table', { name: 'Agents' }).waitFor()
  assert.doesNotMatch(await page.innerText('body'), /Secret/)
})
