import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createAgent } from '../../support/chat.ts'
import { startConsole } from '../../support/console.ts'
import { upload } from '../../support/files.ts'

const { app, open } = await startConsole()

test('a call to approve shows the characters that would change how its arguments look', async () => {
  const owner = await app.createOrg()
  const settings = { approvals: ['files.write'] }
  await createAgent(app, owner, { name: 'Careful', allowedTools: ['files.write'], settings })
  const { page } = await open(owner, '/chat?agent=careful')
  const args = { name: 'invoice\u202Efdp.exe', text: 'pay \u202E00001\u202C EUR\u200B' }
  await page.getByRole('textbox', { name: 'Message Careful' }).fill(`/tool files.write ${JSON.stringify(args)}`)
  await page.keyboard.press('Enter')
  await page.getByText('This needs a person’s approval.').waitFor()
  const shown = await page.locator('pre:visible').filter({ hasText: 'invoice' }).innerText()
  assert.deepEqual(JSON.parse(shown), args)
  assert.ok(shown.includes(String.raw`invoice\u202efdp.exe`), shown)
  assert.ok(shown.includes(String.raw`pay \u202e00001\u202c EUR\u200b`), shown)
})

test('names show characters that would change the direction of the text', async () => {
  const owner = await app.createOrg()
  await upload(app, owner, 'MZ', { name: '\u202Egpj.exe.txt' })
  const { page, pageErrors } = await open(owner, '/files')
  await page.getByText('\uFFFDgpj.exe.txt').first().waitFor()
  assert.doesNotMatch(await page.locator('body').innerText(), /\u202E/)
  assert.deepEqual(pageErrors, [])
})

test('a conversation shows responses that a client of the API sent with its messages', async () => {
  const owner = await app.createOrg()
  await createAgent(app, owner, { name: 'Helper' })
  const messages = [
    { role: 'user', content: 'First question' },
    { role: 'assistant', content: 'A response that no model wrote' },
    { role: 'user', content: 'Second question' },
  ]
  const json = { model: 'agent/helper', messages }
  const completion = await app.call('POST', '/api/openai/v1/chat/completions', { as: owner, json })
  assert.equal(completion.status, 200, completion.text)
  const { body } = await app.call('GET', '/api/v1/sessions', { as: owner })
  const { page } = await open(owner, `/chat/${body.data.items[0].id}`)
  await page.getByText('Second question', { exact: true }).first().waitFor()
  const text = await page.getByRole('main').innerText()
  const places = messages.map(({ content }) => text.lastIndexOf(content))
  assert.deepEqual(
    places.toSorted((a, b) => a - b),
    places,
  )
  assert.ok(
    places.every((place) => place >= 0),
    text,
  )
})
