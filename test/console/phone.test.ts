import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { fillFolder, settle, startConsole } from '../support/console.ts'
import { createAgent, openSession } from '../support/chat.ts'
import { create, upload } from '../support/files.ts'

const { app, open } = await startConsole()
const phone = { width: 390, height: 844 }

const heightOf = async (page: Page, selector: string): Promise<number> =>
  (await page.locator(selector).boundingBox())?.height ?? 0

test('on a phone, Chat shows the list of conversations first, and New opens the composer on a screen of its own', async () => {
  const owner = await app.createOrg()
  await createAgent(app, owner, { name: 'Ann' })
  for (let n = 1; n <= 30; n += 1) await openSession(app, owner, { agentId: 'ann', title: `Conversation ${n}` })
  const { page, pageErrors } = await open(owner, '/chat', { size: phone })
  const list = page.getByRole('complementary', { name: 'Conversations' })
  const composer = page.getByRole('textbox', { name: /^Message / })
  await list.getByText('Conversation 30').waitFor()
  assert.equal(await composer.isVisible(), false)
  assert.ok((await heightOf(page, 'aside[aria-label=Conversations]')) > 600)

  await list.getByRole('link', { name: 'New conversation' }).click()
  await composer.waitFor()
  assert.equal(await list.isVisible(), false)
  assert.ok((await heightOf(page, 'section[aria-label=Chat]')) > 600)
  await page.getByRole('link', { name: 'Back to conversations' }).click()
  await list.getByText('Conversation 30').waitFor()

  await list.getByRole('link', { name: 'New conversation' }).click()
  await composer.fill('Hello')
  await page.getByRole('button', { name: 'Send' }).click()
  await page.waitForURL(/\/chat\/[0-9a-f-]{36}$/)
  await page.getByRole('article').waitFor()
  await page.getByRole('link', { name: 'Back to conversations' }).click()
  await list.getByText('Conversation 30').waitFor()
  assert.deepEqual(pageErrors, [])
})

test('on a phone, Chat with an agent opens the composer with this agent', async () => {
  const owner = await app.createOrg()
  await createAgent(app, owner, { name: 'Ann' })
  const { page } = await open(owner, '/agents/ann', { size: phone })
  await page.getByRole('button', { name: 'Chat', exact: true }).click()
  await page.getByRole('textbox', { name: 'Message Ann' }).waitFor()
})

test('on a phone, a member is removed and gets another role', async () => {
  const owner = await app.createOrg()
  const member = await app.createUser(owner, 'member')
  const { page } = await open(owner, '/settings/members', { size: phone })
  const row = page.getByRole('table', { name: 'Members' }).getByRole('row').filter({ hasText: member.email })
  const remove = row.getByRole('button', { name: /^Remove/ })
  await remove.waitFor()
  await settle(page)
  for (const control of [remove, row.getByRole('combobox')]) {
    const box = await control.boundingBox()
    assert.ok(box && box.x >= 0 && box.x + box.width <= phone.width, 'the control is within the screen')
  }
  await remove.click()
  await page.getByRole('button', { name: 'Remove member' }).click()
  await row.waitFor({ state: 'detached' })
})

test('the location of a file that does not fit its line ends with an ellipsis', async () => {
  const owner = await app.createOrg()
  const folder = (
    await create(app, owner, { source: 'folder', name: 'Photos of the terrace for the autumn catalogue' })
  ).file
  await upload(app, owner, 'text', { name: 'note.txt', parentId: folder.id })
  const { page } = await open(owner, '/files/recent', { size: phone })
  const location = page.getByRole('link', { name: /^Location: Photos of the terrace/ })
  await location.waitFor()
  // The ellipsis of an element does not apply to the texts in a flex container.
  const shown = await page.evaluate(`(() => {
    const text = [...document.querySelectorAll('[role=grid] a span')].find((one) => one.textContent.startsWith('Photos'))
    return [text.scrollWidth > text.clientWidth, getComputedStyle(text).textOverflow]
  })()`)
  assert.deepEqual(shown, [true, 'ellipsis'])
})

test('on a phone, the path of a page about files is whole, and of a deep folder its name', async () => {
  const owner = await app.createOrg()
  let parentId: string | undefined
  for (const name of ['Photos of the terrace for the autumn catalogue', 'Lisbon', 'Showroom and terrace', 'Chairs'])
    parentId = (await create(app, owner, { source: 'folder', name, ...(parentId && { parentId }) })).file.id
  const { page, context } = await open(owner, '/files/trash', { size: phone })
  const languages = { data: { language: 'de' }, headers: { origin: app.url } }
  assert.equal((await context.request.patch(`${app.url}/api/v1/me`, languages)).status(), 200)
  await page.reload()
  const cut = `[...document.querySelectorAll('nav ol :is(a, h1)')]
    .filter((one) => one.checkVisibility() && one.scrollWidth > one.clientWidth).map((one) => one.textContent)`
  await page.getByRole('heading', { name: 'Papierkorb' }).waitFor()
  await settle(page)
  assert.deepEqual(await page.evaluate(cut), [])
  await page.goto(`${app.url}/files/${parentId}`)
  await page.getByRole('heading', { name: 'Chairs' }).waitFor()
  await settle(page)
  assert.deepEqual(await page.evaluate(cut), [])
})

for (const size of [phone, { width: 1440, height: 900 }]) {
  test(`uploads leave every row of the file list within reach (${size.width} px)`, async () => {
    const owner = await app.createOrg()
    const folder = (await create(app, owner, { source: 'folder', name: 'Many' })).file
    await fillFolder(app, owner, folder.id, 60)
    const { page } = await open(owner, `/files/${folder.id}`, { size })
    await page.getByText('file 000001.txt').waitFor()
    const files = Array.from({ length: 5 }, (_, n) => ({
      name: `a${n}.txt`,
      mimeType: 'text/plain',
      buffer: Buffer.from('text'),
    }))
    await page.getByLabel('Files to upload').first().setInputFiles(files)
    const tray = page.getByRole('region', { name: 'Uploads' })
    await tray.getByRole('heading', { name: '5 uploaded' }).waitFor()
    await page.getByText('65', { exact: true }).waitFor()
    await page.getByRole('grid').focus()
    await page.keyboard.press('End')
    const last = page.getByRole('row').filter({ hasText: 'file 000060.txt' })
    await last.waitFor()
    await settle(page)
    const [row, top] = [await last.boundingBox(), (await tray.boundingBox())?.y ?? 0]
    assert.ok(row && row.y + row.height <= top, 'the active row is above the tray')
    await page.getByRole('button', { name: 'Actions for file 000060.txt' }).click()
    await page.getByRole('menuitem', { name: 'Rename' }).waitFor()
  })
}

test('uploads do not cover the composer of a conversation', async () => {
  const owner = await app.createOrg()
  await createAgent(app, owner, { name: 'Ann' })
  const { id } = await openSession(app, owner, { agentId: 'ann' })
  const { page } = await open(owner, '/files', { size: { width: 1440, height: 900 } })
  const file = { name: 'a.txt', mimeType: 'text/plain', buffer: Buffer.from('text') }
  await page.getByLabel('Files to upload').first().setInputFiles(file)
  await page.getByRole('heading', { name: '1 uploaded' }).waitFor()
  await page.getByRole('link', { name: 'Chat' }).click()
  await page.locator(`a[href="/chat/${id}"]`).click()
  await page.getByRole('textbox', { name: 'Message Ann' }).fill('Hello')
  await page.getByRole('button', { name: 'Send' }).click()
  await page.getByRole('article').waitFor()
})
