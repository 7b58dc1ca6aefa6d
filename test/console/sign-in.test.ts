import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertAccessible, givePassword, password, startConsole } from '../support/console.ts'

const { app, visit, open, signInLink } = await startConsole()

test('a one-time link signs in once, and the person can set a password and sign in with it', async () => {
  const owner = await app.createOrg('Acme')
  const link = await signInLink(owner)
  const { page, pageErrors } = await visit(link.slice(app.url.length))
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.getByLabel('New password').fill(password)
  assert.equal(new URL(page.url()).hash, '', 'the token is removed from the URL')
  await page.getByRole('button', { name: 'Set password' }).click()
  await page.getByRole('heading', { level: 1 }).waitFor()
  await page.getByText('Acme').first().waitFor()

  await page.getByRole('button', { name: /^Account of/ }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await page.getByLabel('Email').fill(owner.email)
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByText('Acme').first().waitFor()
  assert.deepEqual(pageErrors, [])

  const second = await visit(link.slice(app.url.length))
  await second.page.getByRole('heading', { name: 'This sign-in link does not work' }).waitFor()
  assert.equal(await second.page.getByText('Acme').isVisible(), false)
})

test('a sign-in link that was replaced says how to get a new one and offers only a button that works', async () => {
  const owner = await app.createOrg()
  await givePassword(app, owner)
  const replaced = await signInLink(owner)
  await signInLink(owner)
  const { page, pageErrors } = await visit(replaced.slice(app.url.length))
  await page.getByText('was replaced by a newer link').waitFor()
  await page.getByText('npm run -s atrium -- user sign-in-link EMAIL').waitFor()
  await assertAccessible(page)
  assert.deepEqual(await page.getByRole('button').allInnerTexts(), ['Sign in with a password'])
  await page.getByRole('button', { name: 'Sign in with a password' }).click()
  await page.getByLabel('Email').fill(owner.email)
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { level: 1, name: /^Good/ }).waitFor()
  // The browser logs the rejected request by itself.
  assert.equal(pageErrors.filter((error) => !error.includes('401')).length, 0)
})

test('a person without a session signs in and returns to the page that they opened', async () => {
  const owner = await app.createOrg()
  await givePassword(app, owner)
  const { page } = await visit('/settings/profile')
  await page.getByLabel('Email').fill(owner.email)
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.waitForURL(`${app.url}/settings/profile`)
})

test('a wrong password shows the API message without a request ID, and the form stays usable', async () => {
  const { page } = await visit('/')
  await page.getByLabel('Email').fill('nobody@example.com')
  await page.getByLabel('Password').fill('wrong password')
  await page.getByRole('button', { name: 'Sign in' }).click()
  const alert = page.getByRole('alert')
  await alert.getByText('The email address or the password is wrong.').waitFor()
  assert.doesNotMatch(await alert.innerText(), /Request ID/)
  assert.equal(await page.getByRole('button', { name: 'Sign in' }).isEnabled(), true)
})

test('sign-in does not redirect to another origin', async () => {
  const owner = await app.createOrg()
  const elsewhere = ['https://example.com/', '//example.com', '/\\example.com', '/\t/example.com', '/.//example.com']
  for (const next of elsewhere) {
    const { page, pageErrors } = await open(owner, `/sign-in?next=${encodeURIComponent(next)}`)
    await page.waitForURL(`${app.url}/`)
    assert.deepEqual(pageErrors, [])
  }
})

test('the content security policy of the console allows no inline scripts, no eval and no other hosts', async () => {
  const { status, headers, text } = await app.call('GET', '/')
  assert.equal(status, 200)
  const policy = headers.get('content-security-policy') ?? ''
  assert.match(policy, /default-src 'none'/)
  assert.match(policy, /script-src 'self';/)
  assert.doesNotMatch(policy, /unsafe|https?:|\*/)
  assert.doesNotMatch(text, /<script(?![^>]* src=)|<style| style=| on\w+=/)
})

for (const dark of [false, true]) {
  test(`the sign-in page has no serious accessibility violation (${dark ? 'dark' : 'light'})`, async () => {
    const { page, pageErrors } = await visit('/', { dark })
    await page.getByLabel('Email').waitFor()
    await assertAccessible(page)
    assert.deepEqual(pageErrors, [])
  })
}
