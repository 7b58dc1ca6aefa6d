import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { createAgent } from '../support/chat.ts'
import { startConsole } from '../support/console.ts'

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
  const model = field('Model')
  await page.locator('option[value="fake/thinker"]').first().waitFor({ state: 'attached' })

  assert.equal(await page.locator('option[value="fake/vectors"]').count(), 0, 'no agent can use an embedding model')
  assert.equal(await field('Reasoning effort').count(), 0, 'the model does not reason')
  await model.selectOption('fake/thinker')
  await field('Reasoning effort').selectOption('high')
  await field('First fallback model').selectOption('fake/third')
  await field('Second fallback model').selectOption('fake/second')
  const offered = await field('Third fallback model').locator('option').allTextContents()
  assert.ok(!offered.some((name) => /third|second|thinker/.test(name)), offered.join())
  await save()
  const stored = await settings()
  assert.deepEqual([stored.reasoningEffort, stored.fallbackModels], ['high', ['fake/third', 'fake/second']])

  await page.reload()
  assert.equal(await field('Reasoning effort').inputValue(), 'high')
  await field('Reasoning effort').selectOption('')
  await field('First fallback model').selectOption('')
  assert.equal(await field('First fallback model').inputValue(), 'fake/second', 'the next one moves up')
  await field('First fallback model').selectOption('')
  await save()
  const removed = await settings()
  assert.deepEqual([removed.reasoningEffort, removed.fallbackModels], [undefined, undefined])
  assert.deepEqual(pageErrors, [])
})
