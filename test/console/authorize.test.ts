import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { assertAccessible, givePassword, password, startConsole } from '../support/console.ts'

const { app, open, visit } = await startConsole()

/** The program of a person, which receives the result. */
const received: URL[] = []
const program = createServer(({ url = '' }, response) => {
  received.push(new URL(url, 'http://127.0.0.1'))
  response.end('Return to the app.')
})
await new Promise<void>((resolve) => program.listen(0, '127.0.0.1', resolve))
after(() => program.close())
const redirectUri = `http://127.0.0.1:${(program.address() as AddressInfo).port}/callback`
const verifier = 'a'.repeat(43)

const requestOf = async (name: string) => {
  const json = { client_name: name, redirect_uris: [redirectUri] }
  const clientId = (await app.call('POST', '/oauth/register', { json })).body.client_id as string
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    state: 'its state',
  })
  return { clientId, path: `/authorize?${query.toString()}` }
}

const lastResult = (): URLSearchParams => received.at(-1)?.searchParams ?? new URLSearchParams()

test('a person signs in, authorizes an app with fewer permissions, and revokes it in the settings', async () => {
  const owner = await app.createOrg()
  await givePassword(app, owner)
  const { clientId, path } = await requestOf('Code <b>editor</b>')
  const { page, pageErrors } = await visit(path)
  await page.getByLabel('Email').fill(owner.email)
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { name: 'Authorize “Code <b>editor</b>”?' }).waitFor()
  await page.getByText('The name of this app is not verified.').waitFor()
  await page.getByText(new URL(redirectUri).host).waitFor()
  await assertAccessible(page)
  await page.getByLabel('Create and change files').uncheck()
  await page.getByRole('button', { name: 'Authorize' }).click()
  const confirmation = page.getByRole('dialog', { name: 'Confirm access' })
  await confirmation.getByLabel('Password').fill(password)
  await confirmation.getByRole('button', { name: 'Confirm' }).click()
  await page.waitForURL(/\/callback/)
  assert.equal(lastResult().get('state'), 'its state')
  assert.equal(lastResult().get('iss'), app.url)
  const token = await app.call('POST', '/oauth/token', {
    body: new URLSearchParams({
      grant_type: 'authorization_code',
      code: lastResult().get('code') ?? '',
      client_id: clientId,
      redirect_uri: redirectUri,
      code_verifier: verifier,
    }).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  })
  assert.equal(token.status, 200, token.text)
  assert.ok(!token.body.scope.includes('files:write') && token.body.scope.includes('files:read'), token.text)

  await page.goto(`${app.url}/settings/authorized-apps`)
  await page.getByRole('cell', { name: 'Code <b>editor</b>', exact: true }).waitFor()
  await assertAccessible(page)
  await page.getByRole('button', { name: 'Revoke access of Code <b>editor</b>' }).click()
  await page.getByRole('button', { name: 'Revoke access', exact: true }).click()
  await page.getByText('No authorized apps').waitFor()
  const json = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
  assert.equal((await app.call('POST', '/mcp', { as: token.body.access_token, json })).status, 401)
  assert.deepEqual(pageErrors, [])
})

test('a person denies an app, which is told so and gets no code', async () => {
  const { path } = await requestOf('Denied')
  const { page } = await open(await app.createOrg(), path)
  await page.getByRole('button', { name: 'Deny' }).click()
  await page.waitForURL(/\/callback/)
  assert.equal(lastResult().get('error'), 'access_denied')
  assert.equal(lastResult().get('code'), null)
})

test('an invalid request shows an error, and sends the person nowhere', async () => {
  const { path } = await requestOf('Invalid')
  const before = received.length
  const { page } = await open(await app.createOrg(), path.replace('S256', 'plain'))
  await page.getByText('The app must use PKCE').waitFor()
  assert.equal(await page.getByRole('button', { name: 'Authorize' }).count(), 0)
  assert.equal(received.length, before)
})
