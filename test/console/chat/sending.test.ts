import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ask, createAgent, openSession } from '../../support/chat.ts'
import { settle, startConsole } from '../../support/console.ts'

const { app, open } = await startConsole()

test('a message whose response was lost starts one turn when it is sent again, also the first of a conversation', async () => {
  const owner = await app.createOrg()
  await createAgent(app, owner, { name: 'Bob' })
  const { page } = await open(owner, '/chat?agent=bob')
  const box = page.getByRole('textbox', { name: 'Message Bob' })
  const sendTwice = async (text: string): Promise<void> => {
    await page.route('**/api/v1/sessions/*/messages', async (route) => {
      if (route.request().method() !== 'POST') return route.fallback()
      await route.fetch()
      return route.abort()
    })
    await box.fill(text)
    await box.press('Enter')
    await page.getByText('The server cannot be reached.').first().waitFor()
    assert.equal(await box.inputValue(), text)
    await page.unroute('**/api/v1/sessions/*/messages')
    await box.press('Enter')
    await page.getByRole('article').getByText(`You wrote: “${text}”`).waitFor()
  }
  await sendTwice('Hello')
  await sendTwice('Again')
  const sessions = await app.call('GET', '/api/v1/sessions', { as: owner })
  assert.deepEqual(
    sessions.body.data.items.map(({ messageCount }: { messageCount: number }) => messageCount),
    [4],
  )
})

test('Enter that accepts the suggestion of an input method sends nothing, also in Safari', async () => {
  const owner = await app.createOrg()
  await createAgent(app, owner, { name: 'Bob' })
  const { page } = await open(owner, '/chat?agent=bob')
  const box = page.getByRole('textbox', { name: 'Message Bob' })
  await box.fill('日本')
  await page.evaluate(
    "document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', keyCode: 229, bubbles: true }))",
  )
  await settle(page)
  assert.equal(await box.inputValue(), '日本')
  assert.equal(new URL(page.url()).pathname, '/chat')
  await box.press('Enter')
  await page.waitForURL(/\/chat\/[0-9a-f-]{36}$/)
})

test('the time of a message keeps up while the page stays open', async () => {
  const owner = await app.createOrg()
  await createAgent(app, owner, { name: 'Bob' })
  const { id } = await openSession(app, owner, { agentId: 'bob' })
  await ask(app, owner, id, { text: 'Hello' })
  const { page } = await open(owner, '/chat')
  await page.clock.install()
  await page.goto(`${app.url}/chat/${id}`)
  const reply = page.getByRole('article')
  await reply.getByText('just now').waitFor()
  await page.clock.fastForward('05:00')
  await reply.getByText('5 min. ago').waitFor()
})

test('more files than a message can have are not attached, and a notification says so', async () => {
  const owner = await app.createOrg()
  await createAgent(app, owner, { name: 'Bob' })
  const { page } = await open(owner, '/chat?agent=bob')
  await page.getByRole('textbox', { name: 'Message Bob' }).waitFor()
  const files = Array.from({ length: 21 }, (_, n) => ({
    name: `${n}.txt`,
    mimeType: 'text/plain',
    buffer: Buffer.from(String(n)),
  }))
  await page.locator('input[type=file]').setInputFiles(files)
  await page.getByText('A message can have at most 20 files.').first().waitFor()
  assert.equal(await page.getByRole('list', { name: 'Attachments' }).getByRole('listitem').count(), 20)
})
