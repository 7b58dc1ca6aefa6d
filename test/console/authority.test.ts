import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createAgent } from '../support/chat.ts'
import { assertAccessible, startConsole } from '../support/console.ts'
import { startProvider } from '../fakes/provider.ts'
import type { TestActor } from '../harness.ts'

const provider = await startProvider()
provider.on('POST', '/items', { body: { id: 1 } })
provider.on('GET', '/items', { body: { items: [] } })
const { app, open } = await startConsole({ OUTBOUND_ALLOW_CIDRS: '127.0.0.0/8' })
const api = '/api/v1'
const post = '/tool http__post {"path":"/items","body":{"n":1}}'

const connect = async (as: TestActor): Promise<void> => {
  const started = await app.call('POST', `${api}/connections`, { as, json: { connectorSlug: 'http' } })
  const { id } = started.body.data.connection
  const json = { credentials: { baseUrl: provider.url } }
  const done = await app.call('POST', `${api}/connections/${id}/credentials`, { as, json })
  assert.equal(done.status, 200, done.text)
}

test('a person consents to a changed agent using a connection in the chat and revokes the consent on the agent page', async () => {
  const owner = await app.createOrg()
  const member = await app.createUser(owner)
  await connect(owner)
  await createAgent(app, member, { name: 'Helper', allowedConnectors: ['http'] })
  const { page, pageErrors } = await open(owner, '/chat?agent=helper')
  await page.getByRole('textbox', { name: 'Message Helper' }).fill(post)
  await page.keyboard.press('Enter')
  const card = page.getByRole('region', { name: 'Consent required' })
  await card.getByText('Allow Helper to use your HTTP API connection?').waitFor()
  await card.getByText('Helper was last changed by User').waitFor()
  assert.equal(provider.count('POST', '/items'), 0)
  await assertAccessible(page)
  await card.getByRole('button', { name: 'Allow Helper to use your HTTP API' }).click()
  await page.getByRole('article').getByText('Free').waitFor()
  assert.equal(provider.count('POST', '/items'), 1)

  await page.goto(`${app.url}/agents/helper/connections`)
  const section = page.locator('section').filter({ has: page.getByRole('heading', { name: 'HTTP API' }) })
  await section.getByText('Allowed', { exact: true }).waitFor()
  const ask = section.getByRole('switch', { name: 'Ask after untrusted content' })
  assert.equal(await ask.isChecked(), true)
  await ask.click()
  await section.locator('input[role=switch]:not(:checked)').waitFor()
  await assertAccessible(page)
  const consents = async () => (await app.call('GET', `${api}/agents/helper/consents`, { as: owner })).body.data.items
  assert.equal((await consents())[0].askAfterUntrustedContent, false)
  await section.getByRole('button', { name: 'Revoke' }).click()
  await section.getByText('Asks first').waitFor()
  assert.deepEqual(await consents(), [])
  await section.getByRole('button', { name: 'Allow Helper to use your HTTP API' }).click()
  await section.getByText('Allowed', { exact: true }).waitFor()
  assert.deepEqual(pageErrors, [])
})

test('another member sees why a call needs approval but cannot decide it', async () => {
  const owner = await app.createOrg()
  const member = await app.createUser(owner)
  await connect(owner)
  await createAgent(app, owner, { name: 'Helper', allowedConnectors: ['http'] })
  const session = await app.call('POST', `${api}/sessions`, { as: owner, json: { agentId: 'helper' } })
  const { id } = session.body.data
  const before = provider.count('POST', '/items')
  const text = `/tool http__get {"path":"/items"}\n\n${post}`
  const response = await app.call('POST', `${api}/sessions/${id}/messages`, { as: owner, json: { text } })
  assert.equal(response.body.data.turn.status, 'requires_action', response.text)
  const { page, pageErrors } = await open(member, `/chat/${id}`)
  const card = page.getByRole('region', { name: 'Approval required' })
  await card
    .getByText(/untrusted content from http__get/)
    .last()
    .waitFor()
  await card.getByText(/Only the person for whom the turn runs/).waitFor()
  assert.equal(await card.getByRole('button', { name: 'Approve', exact: true }).count(), 0)
  assert.equal(provider.count('POST', '/items'), before)
  assert.deepEqual(pageErrors, [])
})

test('a member sees the settings of the default agent read-only with the reason', async () => {
  const owner = await app.createOrg()
  const member = await app.createUser(owner)
  const { page } = await open(member, '/agents/assistant/settings')
  await page.getByText('Only owners and admins can edit the default agent').first().waitFor()
  assert.equal(await page.getByLabel('Name', { exact: true }).isDisabled(), true)
  const { page: own } = await open(owner, '/agents/assistant/settings')
  await own.getByLabel('Name', { exact: true }).waitFor()
  assert.equal(await own.getByLabel('Name', { exact: true }).isDisabled(), false)
})
