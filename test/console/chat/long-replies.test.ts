import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { ask, createAgent, openSession } from '../../support/chat.ts'
import { startConsole } from '../../support/console.ts'
import { callTools, reply, startFakeModel } from '../../fakes/model.ts'
import type { Script } from '../../fakes/model.ts'

const model = await startFakeModel()
const { app, open } = await startConsole(model.env)

const article = (page: Page) => page.getByRole('article', { name: 'Response from Writer' })

/** A conversation whose reply is the text. */
const conversationWith = async (text: string) => {
  const owner = await app.createOrg()
  await createAgent(app, owner, { name: 'Writer', model: 'fake/m1' })
  const { id } = await openSession(app, owner, { agentId: 'writer' })
  model.play(reply([text]))
  const { turn } = await ask(app, owner, id, { text: 'Write' })
  assert.equal(turn.status, 'completed')
  return { owner, path: `/chat/${id}` }
}

const lines = (count: number, line: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => line(index)).join('\n')

/** Texts that marked cannot read at all, or only in minutes or hours. Each begins with a word to look for. */
const slowTexts: Record<string, string> = {
  'nested quotes': `first\n\n${'>'.repeat(60_000)}x`,
  'nested lists on one line': `first\n\n${'- '.repeat(40_000)}x`,
  'nested lists of asterisks': `first\n\n${'* '.repeat(45_000)}x`,
  'dots before an at sign': `first${'a.'.repeat(40_000)}@b`,
  'words with underscores': `first${'a_b'.repeat(150_000)}`,
  'words after underscores': `first${'__a'.repeat(100_000)}`,
  'a list of 600 levels': `- first\n${lines(600, (level) => `${' '.repeat(level)}- x`)}`,
  'a list item with 50,000 more lines': `- first\n${'  y\n'.repeat(50_000)}`,
  'a code block of 200,000 lines': `\`\`\`\nfirst\n${'x\n'.repeat(200_000)}\`\`\``,
  'a table with rows much shorter than its header': `|first${'|a'.repeat(9_000)}|\n|-${'|-'.repeat(9_000)}|\n${'x|\n'.repeat(20_000)}`,
}

for (const [name, text] of Object.entries(slowTexts)) {
  test(`a reply of ${name} can be read, and the page answers meanwhile`, async () => {
    const { owner, path } = await conversationWith(text)
    const { page, pageErrors } = await open(owner, path)
    await article(page).getByText('first').first().waitFor()
    const box = page.getByRole('textbox', { name: 'Message Writer' })
    await box.pressSequentially('Thank you')
    assert.equal(await box.inputValue(), 'Thank you')
    await page.getByRole('link', { name: 'New conversation' }).click()
    await page.waitForURL('**/chat/new')
    await page
      .getByRole('complementary', { name: 'Conversations' })
      .getByRole('link', { name: /Writer/ })
      .click()
    await article(page).getByText('first').first().waitFor()
    if (text.length > 50_000) {
      await article(page).getByRole('button', { name: 'Show all' }).last().click()
      await box.pressSequentially('.')
      await article(page).getByText('first').first().waitFor()
    }
    assert.deepEqual(pageErrors, [])
  })
}

const section = (index: number): string =>
  [
    `## Section ${index}`,
    `Some **important** words and \`code\` with a [link](https://example.com/${index}).`,
    lines(4, (item) => `- item ${item}\n  - inner item`),
    `| name | value |\n| --- | ---: |\n| size | ${index} |`,
    `\`\`\`ts\n${lines(20, (line) => `const value${line} = ${index}`)}\n\`\`\``,
  ].join('\n\n')

/** About 30 KB with headings, lists, tables and code. */
const ordinary = Array.from({ length: 48 }, (_, index) => section(index)).join('\n\n')

test('a long reply is shown with its headings, lists, tables and code', async () => {
  assert.ok(ordinary.length > 25_000 && ordinary.length < 50_000)
  const { owner, path } = await conversationWith(ordinary)
  const { page, pageErrors } = await open(owner, path)
  const shown = article(page)
  await shown.getByRole('heading', { name: 'Section 47' }).waitFor()
  assert.equal(await shown.getByRole('heading').count(), 48)
  assert.equal(await shown.getByRole('table').count(), 48)
  assert.equal(await shown.locator('li li').count(), 192)
  assert.equal(await shown.getByRole('link', { name: 'link' }).count(), 48)
  assert.equal(await shown.locator('pre').count(), 48)
  assert.equal(await shown.locator('strong').count(), 48)
  assert.deepEqual(pageErrors, [])
})

test('a long reply is shown with its formatting before it is complete', async () => {
  const owner = await app.createOrg()
  await createAgent(app, owner, { name: 'Writer', model: 'fake/m1' })
  const rest = Promise.withResolvers<void>()
  const chunk = (content: string, finish: string | null): string =>
    `data: ${JSON.stringify({ id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'm1', choices: [{ index: 0, delta: { content }, finish_reason: finish }] })}\n\n`
  const script: Script = async (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const part of ordinary.match(/[^]{1,2000}/g) ?? []) response.write(chunk(part, null))
    await rest.promise
    response.write(chunk('\n\n## The end', null))
    response.end(`${chunk('', 'stop')}data: [DONE]\n\n`)
  }
  model.play(script)
  const { page, pageErrors } = await open(owner, '/chat?agent=writer')
  await page.getByRole('textbox', { name: 'Message Writer' }).fill('Write')
  await page.keyboard.press('Enter')
  await article(page).getByRole('heading', { name: 'Section 47' }).waitFor()
  await page.getByRole('button', { name: 'Stop' }).waitFor()
  rest.resolve()
  await article(page).getByRole('heading', { name: 'The end' }).waitFor()
  assert.equal(await article(page).getByRole('heading').count(), 49)
  assert.deepEqual(pageErrors, [])
})

test('a long reply is shown as plain text when the script that reads it cannot be loaded', async () => {
  const { owner, path } = await conversationWith(ordinary)
  const { page } = await open(owner, '/')
  await page.route('**/assets/lex-worker-*', (route) => route.abort())
  await page.goto(app.url + path)
  await article(page).getByText('## Section 47').waitFor()
  assert.equal(await article(page).getByRole('heading').count(), 0)
})

test('the arguments of a tool call that are nested 3,000 levels deep are shown on one line', async () => {
  const owner = await app.createOrg()
  await createAgent(app, owner, { name: 'Writer', model: 'fake/m1', allowedTools: ['files.search'] })
  const { id } = await openSession(app, owner, { agentId: 'writer' })
  const args = `{"query":${'['.repeat(3_000)}"inner"${']'.repeat(3_000)}}`
  model.play(callTools({ id: 'c1', name: 'files.search', args }), reply(['first']))
  await ask(app, owner, id, { text: 'Search' })
  const { page, pageErrors } = await open(owner, `/chat/${id}`)
  await article(page).getByText('first').waitFor()
  await article(page).locator('summary', { hasText: 'files.search' }).click()
  await article(page).locator('pre').getByText('["inner"]').first().waitFor()
  assert.deepEqual(pageErrors, [])
})

test('a message that cannot be rendered is shown as its text, beside the other messages', async () => {
  const { owner, path } = await conversationWith('The answer')
  const { page } = await open(owner, '/')
  await page.route('**/sessions/*/messages?*', async (route) => {
    const response = await route.fetch()
    const json = await response.json()
    const answer = json.data.items.find((message: { role: string }) => message.role === 'assistant')
    answer.parts.push({ type: 'tool-call', toolCallId: 'c1', toolName: { not: 'a name' }, input: {} })
    await route.fulfill({ response, json })
  })
  await page.goto(app.url + path)
  await article(page).getByText('The answer').waitFor()
  await page.getByRole('log').getByText('Write', { exact: true }).waitFor()
  await page.getByRole('textbox', { name: 'Message Writer' }).pressSequentially('Thank you')
})
