import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startBrowser } from '../../../test/support/browser.ts'
import { addOAuth, startProvider } from '../../../test/fakes/provider.ts'
import { startTestApp } from '../../../test/harness.ts'

const provider = await startProvider()
const oauth = addOAuth(provider, {
  clientId: 'client',
  clientSecret: 'planted-client-secret',
  authorizePath: '/login/oauth/authorize',
  tokenPath: '/login/oauth/access_token',
  scope: 'repo',
})
provider.on('GET', '/user', { body: { id: 1, login: 'octocat' } })
// Consents without a page.
provider.on('GET', '/login/oauth/authorize', ({ path, query }) => {
  const { code, state, redirectUri } = oauth.consent(`${provider.url}${path}?${query.toString()}`)
  const back = new URL(redirectUri)
  back.search = new URLSearchParams({ code, state }).toString()
  return { status: 302, body: '', headers: { location: back.href } }
})

const app = await startTestApp({
  CONNECTOR_GITHUB_CLIENT_ID: 'client',
  CONNECTOR_GITHUB_CLIENT_SECRET: 'planted-client-secret',
  CONNECTOR_GITHUB_BASE_URL: provider.url,
})
const { open } = await startBrowser()

test('the callback page in a popup asks for confirmation, completes the connection, notifies its opener and closes', async () => {
  const owner = await app.createOrg('Planets')
  const started = await app.call('POST', '/api/v1/connections', { as: owner, json: { connectorSlug: 'github' } })
  const { connection, oauthUrl } = started.body.data
  const { page, context, pageErrors } = await open()
  await page.goto(`${app.url}/docs`)
  const opening = context.waitForEvent('page')
  await page.evaluate(`
    window.received = []
    window.addEventListener('message', ({ origin, data }) => origin === location.origin && received.push(data))
    new BroadcastChannel('atrium.connections').addEventListener('message', ({ data }) => received.push(data))
    void window.open(${JSON.stringify(oauthUrl)})
  `)
  const popup = await opening
  const wrong: string[] = []
  popup.on('console', (message) => wrong.push(message.text()))
  popup.on('pageerror', (error) => wrong.push(error.message))
  const button = popup.getByRole('button', { name: 'Connect GitHub' })
  await button.waitFor()
  assert.match(await popup.locator('main').innerText(), new RegExp(`${owner.email}.*Planets`, 's'))
  // Set by the inline style, so the content security policy allows it.
  const colour = await popup.evaluate(`getComputedStyle(document.querySelector('button')).backgroundColor`)
  assert.equal(colour, 'rgb(47, 91, 208)')
  const closed = popup.waitForEvent('close')
  await button.click()
  await closed
  await page.waitForFunction('received.length >= 2')
  const message = { type: 'atrium.connection', connectionId: connection.id, status: 'active' }
  assert.deepEqual(await page.evaluate('received'), [message, message])
  assert.deepEqual([wrong, pageErrors], [[], []])
  const { body } = await app.call('GET', `/api/v1/connections/${connection.id}`, { as: owner })
  assert.deepEqual([body.data.status, body.data.accountName], ['active', 'octocat'])
})
