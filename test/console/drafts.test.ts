import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { createAgent, openSession } from '../support/chat.ts'
import { givePassword, password, startConsole } from '../support/console.ts'
import { until } from '../support/until.ts'

const { app, open } = await startConsole()

/** The keys of localStorage that hold drafts. */
const storedDrafts = (page: Page): Promise<string[]> =>
  page.evaluate(`Object.keys(localStorage).filter((key) => key.startsWith('atrium.message-draft.'))`)

const untilStored = (page: Page, count: number) =>
  until(`${count} drafts are stored`, async () => (await storedDrafts(page)).length === count)

test('drafts are kept for each conversation and for a new one, over navigation and a reload, until they are sent', async () => {
  const owner = await app.createOrg()
  await createAgent(app, owner, { name: 'Ann' })
  const first = await openSession(app, owner, { agentId: 'ann', title: 'First' })
  const second = await openSession(app, owner, { agentId: 'ann', title: 'Second' })
  const { page, pageErrors } = await open(owner, `/chat/${first.id}`)
  const box = page.getByRole('textbox', { name: /^Message / })
  await box.fill('In the first')
  await page.locator('input[type=file]').setInputFiles({
    name: 'figures.txt',
    mimeType: 'text/plain',
    buffer: Buffer.from('Revenue rose by 8 %.'),
  })
  const attachments = page.getByRole('list', { name: 'Attachments' })
  await attachments.getByText('figures.txt').waitFor()
  await page.locator(`a[href="/chat/${second.id}"]`).click()
  await page.getByRole('heading', { name: 'Second' }).waitFor()
  assert.equal(await box.inputValue(), '')
  assert.equal(await attachments.count(), 0)
  await page.getByRole('link', { name: 'New conversation' }).click()
  await page.getByText('Press Enter to send').waitFor()
  await box.fill('In a new one')
  await page.getByRole('link', { name: 'Files', exact: true }).click()
  await page.getByText('figures.txt').waitFor()
  await untilStored(page, 2)

  await page.goto(`${app.url}/chat`)
  await page.locator(`a[href="/chat/${first.id}"]`).waitFor()
  assert.equal(await box.inputValue(), 'In a new one')
  await page.locator(`a[href="/chat/${first.id}"]`).click()
  await attachments.getByText('figures.txt').waitFor()
  assert.equal(await box.inputValue(), 'In the first')
  await page.getByRole('button', { name: 'Send' }).click()
  await page.getByRole('article').waitFor()
  await page.getByRole('log').getByRole('link', { name: 'figures.txt' }).waitFor()
  await untilStored(page, 1)
  await page.reload()
  await page.getByRole('article').waitFor()
  assert.equal(await box.inputValue(), '')
  assert.deepEqual(pageErrors, [])
})

test('what is written while the first message is being sent becomes the draft of the conversation', async () => {
  const owner = await app.createOrg()
  await createAgent(app, owner, { name: 'Ann' })
  const { page } = await open(owner, '/chat?agent=ann')
  const { promise: written, resolve: go } = Promise.withResolvers<void>()
  await page.route('**/api/v1/sessions', async (route) => {
    if (route.request().method() === 'POST') await written
    return route.fallback()
  })
  const box = page.getByRole('textbox', { name: /^Message / })
  await box.fill('Hello')
  await box.press('Enter')
  await box.pressSequentially(' and a second thought')
  go()
  await page.waitForURL(/\/chat\/[0-9a-f-]{36}$/)
  await page.getByRole('article').waitFor()
  assert.equal(await box.inputValue(), 'and a second thought')
  await page.getByRole('link', { name: 'New conversation' }).click()
  await page.getByText('Press Enter to send').waitFor()
  assert.equal(await box.inputValue(), '')
})

test('a message that could not be sent returns to its draft, also after the person opened another page', async () => {
  const owner = await app.createOrg()
  await createAgent(app, owner, { name: 'Ann' })
  const { id } = await openSession(app, owner, { agentId: 'ann', title: 'First' })
  const { page } = await open(owner, `/chat/${id}`)
  const { promise: gone, resolve: leave } = Promise.withResolvers<void>()
  await page.route('**/api/v1/sessions/*/messages', async (route) => {
    if (route.request().method() !== 'POST') return route.fallback()
    await gone
    return route.fulfill({
      status: 500,
      json: { success: false, error: { code: 'INTERNAL_ERROR', message: 'Internal server error' } },
    })
  })
  const box = page.getByRole('textbox', { name: 'Message Ann' })
  await box.fill('A long text')
  await page.getByRole('button', { name: 'Send' }).click()
  await page.getByRole('link', { name: 'Files', exact: true }).click()
  await page.getByText('No files yet').waitFor()
  leave()
  await page.getByRole('region', { name: 'Notifications' }).getByText('The message could not be sent').waitFor()
  await page.goBack()
  await until('the text is back', async () => (await box.inputValue()) === 'A long text')

  await page.getByRole('button', { name: 'Send' }).click()
  await page.getByText('Internal server error').first().waitFor()
  assert.equal(await box.inputValue(), 'A long text')
  await page.unroute('**/api/v1/sessions/*/messages')
  await page.getByRole('button', { name: 'Send' }).click()
  await page.getByRole('article').waitFor()
  assert.equal(await page.getByRole('log').getByText('A long text', { exact: true }).count(), 1)
})

test('a message that is being sent returns to its draft when the page is closed before the server has it', async () => {
  const owner = await app.createOrg()
  await createAgent(app, owner, { name: 'Ann' })
  const { id } = await openSession(app, owner, { agentId: 'ann', title: 'First' })
  const { page } = await open(owner, `/chat/${id}`)
  await page.route('**/api/v1/sessions/*/messages', (route) =>
    route.request().method() === 'POST' ? undefined : route.fallback(),
  )
  const box = page.getByRole('textbox', { name: 'Message Ann' })
  await box.waitFor()
  await page.clock.install()
  const sending = page.waitForRequest((request) => request.method() === 'POST' && request.url().endsWith('/messages'))
  await box.fill('A long text')
  await box.press('Enter')
  await sending
  // Longer than a draft waits until it is stored.
  await page.clock.fastForward(1_000)
  await page.reload()
  await until('the text is back', async () => (await box.inputValue()) === 'A long text')
})

test('a draft is deleted by signing out, and another person in the same browser never sees it', async () => {
  const owner = await app.createOrg()
  const other = await app.createUser(owner, 'owner')
  await givePassword(app, owner)
  await givePassword(app, other)
  await createAgent(app, owner, { name: 'Ann' })
  const { id } = await openSession(app, owner, { agentId: 'ann', title: 'First' })
  const { page, context } = await open(owner, `/chat/${id}`)
  const box = page.getByRole('textbox', { name: 'Message Ann' })
  const signIn = async (email: string): Promise<void> => {
    await page.getByLabel('Email').fill(email)
    await page.getByLabel('Password').fill(password)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.waitForURL((url) => url.pathname !== '/sign-in')
  }
  await box.fill('Private')
  await untilStored(page, 1)
  await page.getByRole('button', { name: /^Account of/ }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await page.getByLabel('Email').waitFor()
  assert.deepEqual(await storedDrafts(page), [])

  await signIn(owner.email)
  await page.goto(`${app.url}/chat/${id}`)
  await box.waitFor()
  assert.equal(await box.inputValue(), '')
  await box.fill('Private')
  await untilStored(page, 1)
  // The session ends without a sign-out.
  await context.clearCookies()
  await page.reload()
  await signIn(other.email)
  await page.goto(`${app.url}/chat/${id}`)
  await box.waitFor()
  assert.equal(await box.inputValue(), '')
  assert.deepEqual(await storedDrafts(page), [])
})

test('the browser stores at most 50 drafts and drops the oldest', async () => {
  const owner = await app.createOrg()
  await createAgent(app, owner, { name: 'Ann' })
  const { id } = await openSession(app, owner, { agentId: 'ann', title: 'First' })
  const { page } = await open(owner, `/chat/${id}`)
  const box = page.getByRole('textbox', { name: 'Message Ann' })
  await box.waitFor()
  await page.evaluate(`for (let n = 0; n < 60; n += 1)
    localStorage.setItem('atrium.message-draft.${owner.userId}.${owner.orgId}.old-' + n,
      JSON.stringify({ text: 'Old', files: [], changedAt: n }))`)
  await box.fill('New')
  await untilStored(page, 50)
  const keys = await storedDrafts(page)
  assert.ok(keys.some((key) => key.endsWith(id)))
  assert.ok(!keys.some((key) => key.endsWith('.old-10')))
  assert.ok(keys.some((key) => key.endsWith('.old-11')))
})
