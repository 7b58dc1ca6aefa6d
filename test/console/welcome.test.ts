import assert from 'node:assert/strict'
import { AxeBuilder } from '@axe-core/playwright'
import { test } from 'node:test'
import { createSignInLink } from '../../src/identity/sign-in-links.ts'
import { startBrowser } from '../browser.ts'
import { startTestApp } from '../harness.ts'

const app = await startTestApp()
const browser = await startBrowser()

const linkFor = async (userId: string): Promise<string> =>
  app.url + (await app.db.transaction((db) => createSignInLink(db, userId))).path

test('a one-time link signs in, once, and the person can set a first password and sign in with it', async () => {
  const owner = await app.createOrg('Acme')
  const link = await linkFor(owner.userId)
  const { page, faults } = await browser.open()
  await page.goto(link)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByText('Acme (owner)').waitFor()
  assert.equal(new URL(page.url()).hash, '', 'the token is gone from the address')

  await page.getByLabel('New password').fill('correct horse battery')
  await page.getByRole('button', { name: 'Set the password' }).click()
  await page.getByText('The password is set.').waitFor()

  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByLabel('E-mail').fill(owner.email)
  await page.getByLabel('Password', { exact: true }).fill('correct horse battery')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByText('Acme (owner)').waitFor()
  assert.deepEqual(faults, [])

  const second = await browser.open()
  await second.page.goto(link)
  await second.page.getByRole('button', { name: 'Sign in' }).click()
  await second.page.getByText(/link/i).first().waitFor()
  assert.equal(await second.page.getByText('Acme (owner)').isVisible(), false)
})

test('a wrong password is told, and the form stays usable', async () => {
  const { page } = await browser.open()
  await page.goto(app.url)
  await page.getByLabel('E-mail').fill('nobody@example.com')
  await page.getByLabel('Password', { exact: true }).fill('wrong password')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('status').filter({ hasNotText: 'Atrium is running' }).waitFor()
  assert.equal(await page.getByRole('button', { name: 'Sign in' }).isEnabled(), true)
})

for (const dark of [false, true]) {
  test(`the welcome page has no serious accessibility fault (${dark ? 'dark' : 'light'})`, async () => {
    const { page, faults } = await browser.open({ dark })
    await page.goto(app.url)
    await page.getByLabel('E-mail').waitFor()
    const { violations } = await new AxeBuilder({ page }).analyze()
    const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical')
    assert.deepEqual(
      serious.map(({ id }) => id),
      [],
    )
    assert.deepEqual(faults, [])
  })
}
