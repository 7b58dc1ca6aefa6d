import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { assertAccessible, startConsole } from '../support/console.ts'
import { addOAuth, startProvider } from '../fakes/provider.ts'
import { addMcpOAuth } from '../fakes/mcp-oauth.ts'
import { addMcp } from '../fakes/mcp.ts'
import { addConnection } from '../support/endpoints.ts'

const provider = await startProvider()
const oauth = addOAuth(provider, {
  clientId: 'client',
  clientSecret: 'planted-client-secret',
  authorizePath: '/login/oauth/authorize',
  tokenPath: '/login/oauth/access_token',
  scope: 'repo',
})
provider.on('GET', '/user', { body: { id: 1, login: 'octocat' } })
// The provider's page grants consent immediately.
provider.on('GET', '/login/oauth/authorize', ({ path, query }) => {
  const { code, state, redirectUri } = oauth.consent(`${provider.url}${path}?${query.toString()}`)
  const back = new URL(redirectUri)
  back.search = new URLSearchParams({ code, state }).toString()
  return { status: 302, body: '', headers: { location: back.href } }
})
const goodToken = '123456:planted-bot-token-AAAA'
provider.on('GET', '/bot*/getMe', ({ path }) =>
  path === `/bot${goodToken}/getMe`
    ? { body: { ok: true, result: { id: 42, username: 'planted_bot' } } }
    : { status: 401, body: { ok: false, error_code: 401, description: 'Unauthorized' } },
)

const mcp = addMcp(provider, '/mcp')
const mcpOAuth = addMcpOAuth(provider, mcp, '/mcp')
// Its authorization server names itself, and the callback carries that name.
mcpOAuth.server = { authorization_response_iss_parameter_supported: true }
mcp.tools = [{ name: 'search', description: 'Searches.', inputSchema: { type: 'object' } }]

const { app, open } = await startConsole({
  OUTBOUND_ALLOW_CIDRS: '127.0.0.0/8',
  CONNECTOR_GITHUB_CLIENT_ID: 'client',
  CONNECTOR_GITHUB_CLIENT_SECRET: 'planted-client-secret',
  CONNECTOR_GITHUB_BASE_URL: provider.url,
  CONNECTOR_TELEGRAM_BASE_URL: provider.url,
  CONNECTOR_LINEAR_CLIENT_ID: 'client',
  CONNECTOR_LINEAR_CLIENT_SECRET: 'planted-client-secret',
  CONNECTOR_LINEAR_BASE_URL: provider.url,
})

/** Resolves when the list is filtered: until then its buttons move. */
const searchFor = async (page: Page, text: string): Promise<void> => {
  await page.getByRole('button', { name: 'Connect Telegram' }).waitFor()
  await page.getByRole('searchbox').fill(text)
  await page.getByRole('button', { name: 'Connect Telegram' }).waitFor({ state: 'detached' })
}

test('a person connects an account in the provider window, reconnects it and revokes it', async () => {
  const owner = await app.createOrg()
  const { page, context, pageErrors } = await open(owner, '/connections')
  await searchFor(page, 'github')
  await page.getByRole('button', { name: 'Connect GitHub' }).click()
  const opening = context.waitForEvent('page')
  await page.getByRole('button', { name: 'Continue to GitHub' }).click()
  // This browser carries the session of the connection's own user, so the window completes it and closes itself.
  await opening
  const row = page.getByRole('table', { name: 'Your connections' }).getByRole('row', { name: /GitHub/ })
  await row.getByText('Connected').waitFor()
  await row.getByText('octocat').waitFor()
  await page.getByRole('link', { name: 'GitHub' }).click()
  await page.getByRole('dialog').getByText('Tools for agents').waitFor()
  const again = context.waitForEvent('page')
  await page.getByRole('button', { name: 'Reconnect' }).click()
  await (await again).waitForEvent('close')
  await page.goto(`${app.url}/connections`)
  await page.getByRole('link', { name: 'GitHub' }).click()
  // The event of the revocation arrives before its response, which also waits for the provider.
  const elsewhere = await open(owner, '/connections')
  await elsewhere.page.getByRole('link', { name: 'GitHub' }).waitFor()
  await page.route('**/api/v1/connections/*', async (route) => {
    if (route.request().method() !== 'DELETE') return route.fallback()
    const response = await route.fetch()
    await elsewhere.page.getByRole('table', { name: 'Your connections' }).waitFor({ state: 'detached' })
    await route.fulfill({ response })
  })
  await page.getByRole('button', { name: 'Revoke' }).click()
  await page.getByRole('button', { name: 'Revoke connection' }).click()
  // An open dialog hides the page behind it from role selectors, so both must be closed first. The toast is a dialog, too.
  await page.getByRole('dialog', { name: 'Revoke GitHub?' }).waitFor({ state: 'detached' })
  await page.getByRole('dialog', { name: 'GitHub', exact: true }).waitFor({ state: 'detached' })
  await page.getByRole('table', { name: 'Your connections' }).waitFor({ state: 'detached' })
  const { body } = await app.call('GET', '/api/v1/connections', { as: owner })
  assert.deepEqual(body.data.items, [])
  assert.deepEqual(pageErrors, [])
})

test('a rejected API key shows the API message and can be corrected, and other members do not see the connection', async () => {
  const owner = await app.createOrg()
  const other = await app.createUser(owner)
  const { page } = await open(owner, '/connections?connect=telegram')
  const key = page.getByRole('dialog').locator('input[type=password]').first()
  await key.fill('123456:wrong-token')
  await page.getByRole('button', { name: 'Connect', exact: true }).click()
  const alert = page.getByRole('dialog').getByRole('alert')
  await alert.getByText(/\w/).first().waitFor()
  assert.doesNotMatch(await alert.innerText(), /Request ID/)
  await key.fill(goodToken)
  await page.getByRole('button', { name: 'Connect', exact: true }).click()
  await page.getByRole('table', { name: 'Your connections' }).getByText('Connected').waitFor()
  assert.equal((await page.content()).includes(goodToken), false)

  const { page: theirs } = await open(other, '/connections')
  await theirs.getByRole('button', { name: 'Connect Telegram' }).waitFor()
  assert.equal(await theirs.getByRole('table').count(), 0)
})

test('connectors that can be connected come first, and the others explain their setup', async () => {
  const { page, pageErrors } = await open(await app.createOrg(), '/connections')
  await page.getByRole('list', { name: 'Development' }).first().getByText('GitHub').waitFor()
  const headings = await page.getByRole('heading', { level: 2 }).allTextContents()
  assert.deepEqual(headings, ['Ready to connect', 'Needs setup on this server'])
  assert.equal(await page.getByRole('button', { name: 'Set up GitHub' }).count(), 0)
  assert.equal(await page.getByRole('button', { name: 'Connect Notion' }).count(), 0)
  await page.getByRole('searchbox').fill('notion')
  await page.getByText('No connector that is ready matches “notion”.').waitFor()
  await page.getByRole('button', { name: 'Set up Notion' }).click()
  const dialog = page.getByRole('dialog', { name: 'Set up Notion' })
  await dialog.getByText(/^CONNECTOR_NOTION_CLIENT_ID=\s+CONNECTOR_NOTION_CLIENT_SECRET=$/).waitFor()
  await dialog.getByText(`${app.url}/api/v1/connections/oauth/callback`).waitFor()
  await assertAccessible(page)
  assert.deepEqual(pageErrors, [])
})

test('an owner receives the events of a Linear organization unless another org already receives them', async () => {
  provider.on('POST', '/graphql', {
    body: { data: { viewer: { admin: true, active: true, organization: { id: 'acme', name: 'Acme' } } } },
  })
  const [first, second] = [await app.createOrg(), await app.createOrg()]
  for (const owner of [first, second]) await addConnection(app, owner, 'linear', 'acme')
  const { page, pageErrors } = await open(first, '/connections')
  await page.getByRole('link', { name: 'Linear' }).click()
  await page.getByRole('button', { name: 'Receive Linear events' }).click()
  await page.getByText('This org receives the events of Acme in the').waitFor()
  await assertAccessible(page)
  assert.deepEqual(pageErrors, [])

  const { page: other } = await open(second, '/connections')
  await other.getByRole('link', { name: 'Linear' }).click()
  await other.getByRole('button', { name: 'Receive Linear events' }).click()
  await other
    .getByRole('alert')
    .getByText(/Another org on this server already receives the events/)
    .waitFor()

  await page.getByRole('button', { name: 'Stop receiving events' }).click()
  await page.getByRole('button', { name: 'Stop receiving events' }).last().click()
  await page.getByRole('button', { name: 'Receive Linear events' }).waitFor()
  await other.getByRole('button', { name: 'Receive Linear events' }).click()
  await other.getByText('This org receives the events of Acme in the').waitFor()
})

test('a person connects an MCP server that asks for sign-in by its URL', async () => {
  const owner = await app.createOrg()
  const { page, context, pageErrors } = await open(owner, '/connections')
  await searchFor(page, 'mcp')
  await page.getByRole('button', { name: 'Connect MCP server' }).click()
  await page.getByLabel('URL', { exact: true }).fill(`${provider.url}/mcp`)
  await page.getByRole('button', { name: 'Connect', exact: true }).click()
  const { host } = new URL(provider.url)
  await page.getByText(`This server asks you to sign in at ${host}`).waitFor()
  await assertAccessible(page)
  const opening = context.waitForEvent('page')
  await page.getByRole('button', { name: `Continue to ${host}` }).click()
  await opening
  const row = page.getByRole('table', { name: 'Your connections' }).getByRole('row', { name: /MCP server/ })
  await row.getByText('Connected').waitFor()
  await row.getByText('Fake').waitFor()
  assert.deepEqual(pageErrors, [])
})

test('the page of a provider cannot open another page in place of the console', async () => {
  const owner = await app.createOrg()
  const { page, context } = await open(owner, '/connections')
  await searchFor(page, 'mcp')
  await page.getByRole('button', { name: 'Connect MCP server' }).click()
  await page.getByLabel('URL', { exact: true }).fill(`${provider.url}/mcp`)
  await page.getByRole('button', { name: 'Connect', exact: true }).click()
  const { host, origin } = new URL(provider.url)
  await context.route(
    (url) => url.origin === origin,
    (route) => route.fulfill({ contentType: 'text/html', body: '<!doctype html><title>Hostile</title>' }),
  )
  const opening = context.waitForEvent('page')
  await page.getByRole('button', { name: `Continue to ${host}` }).click()
  const opened = await opening
  await opened.waitForURL((url) => url.origin === origin)
  assert.equal(await opened.evaluate('window.opener'), null)
})
