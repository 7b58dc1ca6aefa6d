import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertAccessible, givePassword, password, startConsole } from '../support/console.ts'

const { app, visit, open, signInLink } = await startConsole()

test('a one-time link signs in, once, and the person can set a first password and sign in with it', async () => {
  const owner = await app.createOrg('Acme')
  const link = await signInLink(owner)
  const { page, faults } = await visit(link.slice(app.url.length))
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.getByLabel('New password').fill(password)
  assert.equal(new URL(page.url()).hash, '', 'the token is gone from the address')
  await page.getByRole('button', { name: 'Set the password' }).click()
  await page.getByRole('heading', { level: 1 }).waitFor()
  await page.getByText('Acme').first().waitFor()

  await page.getByRole('button', { name: /^Account of/ }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await page.getByLabel('E-mail').fill(owner.email)
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByText('Acme').first().waitFor()
  assert.deepEqual(faults, [])

  const second = await visit(link.slice(app.url.length))
  await second.page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await second.page.getByText('The sign-in link is invalid').waitFor()
  assert.equal(await second.page.getByText('Acme').isVisible(), false)
})

test('whoever opens a page without a session signs in and lands on that page', async () => {
  const owner = await app.createOrg()
  await givePassword(app, owner)
  const { page } = await visit('/settings/profile')
  await page.getByLabel('E-mail').fill(owner.email)
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.waitForURL(`${app.url}/settings/profile`)
})

test('a wrong password is told in the words of the API, with the request id, and the form stays usable', async () => {
  const { page } = await visit('/')
  await page.getByLabel('E-mail').fill('nobody@example.com')
  await page.getByLabel('Password').fill('wrong password')
  await page.getByRole('button', { name: 'Sign in' }).click()
  const alert = page.getByRole('alert')
  await alert.getByText('The email address or the password is wrong.').waitFor()
  assert.match(await alert.innerText(), /Request [0-9a-f-]{36}/)
  assert.equal(await page.getByRole('button', { name: 'Sign in' }).isEnabled(), true)
})

test('an address of somewhere else is not followed after signing in', async () => {
  const owner = await app.createOrg()
  for (const next of ['https://example.com/', '//example.com', '/\\example.com']) {
    const { page, faults } = await open(owner, `/sign-in?next=${encodeURIComponent(next)}`)
    await page.waitForURL(`${app.url}/`)
    assert.deepEqual(faults, [])
  }
})

test('the console runs under a policy without inline or evaluated scripts and without other hosts', async () => {
  const { status, headers, text } = await app.call('GET', '/')
  assert.equal(status, 200)
  const policy = headers.get('content-security-policy') ?? ''
  assert.match(policy, /default-src 'none'/)
  assert.match(policy, /script-src 'self';/)
  assert.doesNotMatch(policy, /unsafe|https?:|\*/)
  assert.doesNotMatch(text, /<script(?![^>]* src=)|<style| style=| on\w+=/)
})

for (const dark of [false, true]) {
  test(`signing in has no serious accessibility fault (${dark ? 'dark' : 'light'})`, async () => {
    const { page, faults } = await visit('/', { dark })
    await page.getByLabel('E-mail').waitFor()
    await assertAccessible(page)
    assert.deepEqual(faults, [])
  })
}
