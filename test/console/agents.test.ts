import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { createAgent } from '../support/chat.ts'
import { assertAccessible, chooseModel, startConsole } from '../support/console.ts'

const folder = mkdtempSync(join(tmpdir(), 'atrium-prices-'))
after(() => rmSync(folder, { recursive: true }))
const prices = join(folder, 'prices.json')
const free = { input: 0, output: 0 }
writeFileSync(
  prices,
  JSON.stringify({ 'fake/thinker': { ...free, reasoning: true }, 'fake/vectors': { ...free, embeddings: true } }),
)

const { app, open } = await startConsole({
  MODEL_PROVIDERS: 'fake',
  MODEL_FAKE_BASE_URL: 'http://127.0.0.1:9/v1',
  MODEL_FAKE_MODELS: 'thinker,second,third,vectors',
  MODEL_FAKE_FREE: '1',
  MODEL_PRICES_FILE: prices,
})

test('a person sets the reasoning effort and the fallback models of an agent, and removes them again', async () => {
  const owner = await app.createOrg()
  const agent = await createAgent(app, owner, { name: 'Librarian', model: 'fake/second' })
  const { page, pageErrors } = await open(owner, `/agents/${agent.slug}/settings`)
  const settings = async () => (await app.call('GET', `/api/v1/agents/${agent.id}`, { as: owner })).body.data.settings
  const save = async (): Promise<void> => {
    const stored = page.waitForResponse(
      (response) => response.request().method() === 'PATCH' && response.url().endsWith(`/agents/${agent.id}`),
    )
    await page.getByRole('button', { name: 'Save changes' }).click()
    assert.equal((await stored).status(), 200)
  }
  const field = (label: string) => page.getByLabel(label, { exact: true })
  await field('Model').getByText('second').waitFor()
  assert.equal(await field('Reasoning effort').count(), 0, 'the model does not reason')
  await field('Model').click()
  const options = page.getByRole('listbox').getByRole('option')
  await options.filter({ hasText: 'fake/thinker' }).getByText('Reasoning', { exact: true }).waitFor()
  const paid = options.filter({ hasText: 'atrium/demo-paid' })
  assert.match(await paid.innerText(), /\$1\.00 in, \$4\.00 out[^]*128,000 tokens of context[^]*Tools/)
  assert.equal(await options.filter({ hasText: 'fake/vectors' }).count(), 0, 'no agent can use an embedding model')
  await assertAccessible(page)
  await page.keyboard.press('Escape')

  await chooseModel(page, 'Model', 'fake reasoning')
  await field('Reasoning effort').selectOption('high')
  await chooseModel(page, 'First fallback model', 'third')
  await chooseModel(page, 'Second fallback model', 'fake/second')
  await field('Third fallback model').click()
  await options.filter({ hasText: 'atrium/demo-paid' }).waitFor()
  const offered = await options.allTextContents()
  assert.ok(!offered.some((name) => /third|second|thinker/.test(name)), offered.join())
  await page.keyboard.press('Escape')
  await save()
  const stored = await settings()
  assert.deepEqual([stored.reasoningEffort, stored.fallbackModels], ['high', ['fake/third', 'fake/second']])

  await page.reload()
  assert.equal(await field('Reasoning effort').inputValue(), 'high')
  await field('Reasoning effort').selectOption('')
  await chooseModel(page, 'First fallback model', 'none')
  await field('First fallback model').getByText('second').waitFor()
  await chooseModel(page, 'First fallback model', 'none')
  await save()
  const removed = await settings()
  assert.deepEqual([removed.reasoningEffort, removed.fallbackModels], [undefined, undefined])
  assert.deepEqual(pageErrors, [])
})

test('what is written while the settings of an agent are being saved stays, as an unsaved change', async () => {
  const owner = await app.createOrg()
  const agent = await createAgent(app, owner, { name: 'Librarian' })
  const { page } = await open(owner, `/agents/${agent.slug}/settings`)
  const { promise: written, resolve: go } = Promise.withResolvers<void>()
  await page.route(`**/api/v1/agents/${agent.id}`, async (route) => {
    if (route.request().method() === 'PATCH') await written
    return route.fallback()
  })
  const description = page.getByLabel('Description')
  await description.fill('Finds books')
  const saving = page.waitForRequest((request) => request.method() === 'PATCH')
  await page.getByRole('button', { name: 'Save changes' }).click()
  await saving
  await description.fill('Finds books and maps')
  go()
  await page.getByText('Saved', { exact: true }).waitFor()
  assert.equal(await description.inputValue(), 'Finds books and maps')
  await page.getByText('You have unsaved changes.').waitFor()
  await page.getByRole('button', { name: 'Save changes' }).click()
  await page.getByText('You have unsaved changes.').waitFor({ state: 'detached' })
  const { body } = await app.call('GET', `/api/v1/agents/${agent.id}`, { as: owner })
  assert.equal(body.data.description, 'Finds books and maps')
})

test('the test chat uses the saved agent, says that changes are not saved, and is listed as a test', async () => {
  const owner = await app.createOrg()
  const agent = await createAgent(app, owner, { name: 'Librarian', model: 'fake/second' })
  const { page, pageErrors } = await open(owner, `/agents/${agent.slug}/settings`)
  const chat = page.getByRole('region', { name: 'Test chat' })
  await chooseModel(page, 'Model', 'atrium/demo')
  await chat.getByText('The agent does not use your unsaved changes yet.').waitFor()
  await chat.getByRole('textbox', { name: 'Message Librarian' }).fill('Which books are new?')
  await chat.getByRole('button', { name: 'Save and test' }).click()
  await chat.getByRole('article').getByText('Receipt').waitFor()
  await chat.getByText('The agent does not use your unsaved changes yet.').waitFor({ state: 'detached' })
  const sessionId = new URL(page.url()).searchParams.get('test')
  const { body } = await app.call('GET', `/api/v1/agents/${agent.id}/sessions`, { as: owner })
  assert.deepEqual(
    body.data.items.map(({ id, title, source }: Record<string, string>) => [id, title, source]),
    [[sessionId, 'Which books are new?', 'test']],
  )
  await chat.getByRole('textbox', { name: 'Message Librarian' }).fill('And old?')
  await page.keyboard.press('Enter')
  await chat.getByRole('article').nth(1).getByText('Receipt').waitFor()
  await assertAccessible(page)

  await page.setViewportSize({ width: 390, height: 844 })
  await chat.waitFor({ state: 'hidden' })
  await page.getByRole('navigation', { name: 'View' }).getByRole('link', { name: 'Test chat' }).click()
  await chat.getByText('And old?', { exact: true }).waitFor()
  assert.equal(await page.getByLabel('Name', { exact: true }).isVisible(), false)
  await chat.getByRole('link', { name: 'Open in Chat' }).click()
  await page.getByRole('heading', { name: 'Which books are new?' }).waitFor()
  await page.setViewportSize({ width: 1440, height: 900 })
  const list = page.getByRole('complementary', { name: 'Conversations' })
  await list.getByText('No conversations yet').waitFor()
  await page.getByLabel('Source').selectOption('test')
  await list.getByRole('link', { name: /Which books are new\?.*Test/ }).waitFor()
  assert.deepEqual(pageErrors, [])
})
