import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { systemActor } from '../../src/identity/actor.ts'
import { addMember } from '../../src/identity/members/members.ts'
import { assertAccessible, givePassword, password, startConsole } from '../support/console.ts'
import type { TestActor } from '../harness.ts'

const { app, open, visit } = await startConsole()

const ownerWithPassword = async (name?: string): Promise<TestActor> => {
  const owner = await app.createOrg(name)
  await givePassword(app, owner)
  return owner
}

/** As the operator does, who asks nobody. */
const addDirectly = ({ orgId }: TestActor, { email }: TestActor) =>
  app.db.transaction('all orgs', (db) => addMember(db, systemActor(orgId, 'test'), { email, role: 'admin' }))

const confirm = async (page: Page): Promise<void> => {
  const dialog = page.getByRole('dialog', { name: 'Confirm that it is you' })
  await dialog.getByLabel('Password').fill(password)
  await dialog.getByRole('button', { name: 'Confirm' }).click()
}

const decodeBase32 = (text: string): Buffer => {
  const bits = [...text]
    .map((char) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(char).toString(2).padStart(5, '0'))
    .join('')
  return Buffer.from(bits.match(/.{8}/g)?.map((byte) => Number.parseInt(byte, 2)) ?? [])
}

/** What an authenticator shows (RFC 6238), `ahead` time steps from now. */
const codeOf = (secret: string, ahead = 0): string => {
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(Math.floor(Date.now() / 30_000) + ahead))
  const mac = createHmac('sha1', decodeBase32(secret)).update(counter).digest()
  return String((mac.readUInt32BE(mac.readUInt8(19) & 15) & 0x7f_ff_ff_ff) % 1_000_000).padStart(6, '0')
}

test('a key is minted after a proof, shown once, works, and stops working when it is revoked', async () => {
  const owner = await ownerWithPassword()
  const { page, faults } = await open(owner, '/settings/api-keys')
  await page.getByRole('button', { name: 'New key' }).click()
  await page.getByLabel('Name', { exact: true }).fill('Scanner')
  await page.getByLabel('files:read').check()
  await page.getByRole('button', { name: 'Create the key' }).click()
  await confirm(page)
  const key = await page.getByRole('status', { name: 'API key' }).innerText()
  assert.equal((await app.call('GET', '/api/v1/files', { as: key })).status, 200)
  assert.equal((await app.call('GET', '/api/v1/members', { as: key })).status, 403, 'narrowed to what was ticked')
  await page.getByRole('button', { name: 'I have kept it' }).click()
  await page.getByRole('row').filter({ hasText: 'Scanner' }).waitFor()
  assert.ok(!(await page.content()).includes(key), 'shown once')

  await page.getByRole('button', { name: 'Revoke Scanner' }).click()
  await page.getByRole('button', { name: 'Revoke the key' }).click()
  await page.getByRole('row').filter({ hasText: 'Scanner' }).getByText('Revoked').waitFor()
  assert.equal((await app.call('GET', '/api/v1/files', { as: key })).status, 401)
  assert.deepEqual(faults, [])
})

test('a wrong password mints nothing, is told with the request id, and closing the question makes no key', async () => {
  const owner = await ownerWithPassword()
  const { page } = await open(owner, '/settings/api-keys')
  await page.getByRole('button', { name: 'New key' }).click()
  await page.getByLabel('Name', { exact: true }).fill('Scanner')
  await page.getByRole('button', { name: 'Create the key' }).click()
  const dialog = page.getByRole('dialog', { name: 'Confirm that it is you' })
  await dialog.getByLabel('Password').fill('wrong password')
  await dialog.getByRole('button', { name: 'Confirm' }).click()
  await dialog.getByText(/Request [0-9a-f-]{36}/).waitFor()
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('dialog', { name: 'New API key' }).waitFor()
  const { body } = await app.call('GET', '/api/v1/api-keys', { as: owner })
  assert.equal(body.data.items.length, 1, "the test's own")
})

test('two-factor authentication is turned on with an authenticator and asked for from then on', async () => {
  const owner = await ownerWithPassword()
  const { page, faults } = await open(owner, '/settings/profile')
  await page.getByRole('button', { name: 'Turn on' }).click()
  await page.getByRole('dialog').getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('img', { name: 'QR code' }).waitFor()
  const [secret = ''] = /[A-Z2-7]{16,}/.exec(await page.getByRole('dialog').innerText()) ?? []
  await page.getByLabel('The code that the app shows').fill(codeOf(secret))
  await page.getByRole('button', { name: 'Turn it on' }).click()
  await page.getByText('Two-factor authentication is on').waitFor()
  assert.deepEqual(faults, [])

  const other = await visit('/')
  await other.page.getByLabel('E-mail').fill(owner.email)
  await other.page.getByLabel('Password').fill(password)
  await other.page.getByRole('button', { name: 'Sign in' }).click()
  // A code works once, so it is the next one.
  await other.page.getByLabel('Code').fill(codeOf(secret, 1))
  await other.page.getByRole('button', { name: 'Continue' }).click()
  await other.page.getByRole('heading', { level: 1, name: /Good/ }).waitFor()
})

test('somebody who is invited signs in by the link that was shown, and sees what their role may do', async () => {
  const owner = await ownerWithPassword('Acme')
  const { page, faults } = await open(owner, '/settings/members')
  await page.getByRole('button', { name: 'Add a member' }).click()
  const dialog = page.getByRole('dialog')
  const email = `ann-${owner.userId.slice(-6)}@example.com`
  await dialog.getByLabel('E-mail').fill(email)
  await dialog.getByLabel('Name').fill('Ann Berg')
  await dialog.getByRole('button', { name: 'Add', exact: true }).click()
  await confirm(page)
  const link = await page.getByRole('status', { name: 'Sign-in link' }).innerText()
  await page.getByRole('button', { name: 'Done' }).click()
  await page.getByRole('row').filter({ hasText: 'Ann Berg' }).waitFor()
  assert.deepEqual(faults, [])

  const ann = await visit(link.slice(app.url.length))
  await ann.page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await ann.page.getByRole('button', { name: 'Later' }).click()
  await ann.page.getByText('Acme').first().waitFor()
  await ann.page.goto(`${app.url}/settings/members`)
  const add = ann.page.getByRole('button', { name: 'Add a member' })
  assert.equal(await add.getAttribute('aria-disabled'), 'true')
  await add.hover()
  await ann.page.getByText('Owners and admins add members.').waitFor()
  await ann.page.goto(`${app.url}/settings/audit-log`)
  await ann.page.getByText('This is not open to you').waitFor()
})

test('a role is changed after a proof, and a member is removed', async () => {
  const owner = await ownerWithPassword()
  const member = await app.createUser(owner, 'member')
  const { page } = await open(owner, '/settings/members')
  const row = page.getByRole('row').filter({ hasText: member.email })
  await row.getByRole('combobox').selectOption('admin')
  await confirm(page)
  await page.getByText(/is now admin/).waitFor()
  assert.equal((await app.call('GET', '/api/v1/me', { as: member })).body.data.role, 'admin')
  await row.getByRole('button', { name: /^Remove/ }).click()
  await page.getByRole('button', { name: 'Remove', exact: true }).click()
  await page.getByText('is no longer a member').waitFor()
  assert.equal((await app.call('GET', '/api/v1/me', { as: member })).status, 401)
})

test('a workspace is made, entered, and left for good', async () => {
  const owner = await ownerWithPassword('Acme')
  const { page } = await open(owner, '/settings/workspaces')
  await page.getByRole('button', { name: 'New workspace' }).click()
  await page.getByLabel('Name', { exact: true }).fill('Research')
  await page.getByRole('button', { name: 'Create' }).click()
  await page.getByRole('row').filter({ hasText: 'Research' }).waitFor()
  await page.getByRole('button', { name: 'Acme, Main: switch' }).click()
  await page.getByRole('menuitem', { name: 'Research' }).click()
  await page.getByRole('button', { name: 'Acme, Research: switch' }).waitFor()
  await page.reload()
  await page.getByRole('button', { name: 'Acme, Research: switch' }).waitFor()
  await page.getByRole('button', { name: 'Delete Research' }).click()
  await page.getByRole('button', { name: 'Delete the workspace' }).click()
  await confirm(page)
  await page.getByRole('button', { name: 'Acme, Main: switch' }).waitFor()
})

test('a project is made with a folder of its own', async () => {
  const owner = await app.createOrg()
  const { page, faults } = await open(owner, '/settings/projects')
  await page.getByRole('button', { name: 'New project' }).click()
  await page.getByLabel('Name', { exact: true }).fill('Launch')
  await page.getByRole('button', { name: 'Create' }).click()
  await page.getByRole('link', { name: 'Launch' }).click()
  await page.getByText('This folder is empty').waitFor()
  await page.goBack()
  await page.getByRole('button', { name: 'Delete Launch' }).click()
  await page.getByRole('button', { name: 'Delete the project' }).click()
  await page.getByText('No projects yet').waitFor()
  assert.deepEqual(faults, [])
})

test('the audit log is filtered, and the address holds the filter', async () => {
  const owner = await app.createOrg()
  const member = await app.createUser(owner, 'admin')
  await app.call('POST', '/api/v1/workspaces', { as: owner, json: { name: 'By the owner' } })
  await app.call('POST', '/api/v1/workspaces', { as: member, json: { name: 'By the member' } })
  const { page } = await open(owner, '/settings/audit-log')
  await page.getByText('By the member', { exact: true }).waitFor()
  await page.getByLabel('Who').selectOption(owner.userId)
  await page.getByText('By the member', { exact: true }).waitFor({ state: 'detached' })
  await page.getByText('By the owner', { exact: true }).waitFor()
  await page.reload()
  await page.getByText('By the owner', { exact: true }).waitFor()
  assert.equal(await page.getByText('By the member', { exact: true }).count(), 0)
  await page.goBack()
  await page.getByText('By the member', { exact: true }).waitFor()
})

test('a person of two orgs goes from one to the other, and nothing of the first stays', async () => {
  const first = await ownerWithPassword('First')
  const second = await app.createOrg('Second')
  await addDirectly(second, first)
  await app.call('POST', '/api/v1/projects', { as: first, json: { name: 'Of the first' } })
  await app.call('POST', '/api/v1/projects', { as: second, json: { name: 'Of the second' } })
  const { page, context, faults } = await open(first, '/files')
  await page.getByRole('grid').getByText('Of the first').waitFor()
  await page.getByRole('button', { name: 'First, Main: switch' }).click()
  await page.getByRole('menuitem', { name: 'Second' }).click()
  await page.getByRole('button', { name: 'Second, Main: switch' }).waitFor()
  await page.getByRole('link', { name: 'Files', exact: true }).click()
  await page.getByRole('grid').getByText('Of the second').waitFor()
  assert.doesNotMatch(await page.content(), /Of the first/)
  // A picture or a link cannot send a header: it names the org in its address, and only to read.
  const nameOf = async (query: string) =>
    (await (await context.request.get(`${app.url}/api/v1/me${query}`)).json()).data?.org.name
  assert.equal(await nameOf(''), 'First')
  assert.equal(await nameOf(`?orgId=${second.orgId}`), 'Second')
  const stranger = await app.createOrg('Strangers')
  assert.equal(await nameOf(`?orgId=${stranger.orgId}`), undefined)
  const made = await context.request.post(`${app.url}/api/v1/projects?orgId=${second.orgId}`, {
    data: { name: 'Where it belongs' },
    headers: { origin: app.url },
  })
  assert.equal(made.status(), 201)
  const { body } = await app.call('GET', '/api/v1/projects', { as: second })
  assert.equal(body.data.items.length, 1, 'a change is made in the org of the header or the oldest one')
  assert.deepEqual(faults, [])
})

test('somebody who is invited by another org decides in the console, and is no member before', async () => {
  const [second, person] = [await ownerWithPassword('Second'), await app.createOrg('First')]
  // First: the operator's link by which they sign in here ends the links of orgs.
  const ann = await open(person, '/')
  const admin = await open(second, '/settings/members')
  await admin.page.getByRole('button', { name: 'Add a member' }).click()
  const dialog = admin.page.getByRole('dialog')
  await dialog.getByLabel('E-mail').fill(person.email)
  await dialog.getByLabel('Name').fill('Ann Berg')
  await dialog.getByRole('button', { name: 'Add', exact: true }).click()
  await confirm(admin.page)
  await admin.page.getByText('Ann Berg is invited').waitFor()
  const link = await admin.page.getByRole('status', { name: 'Sign-in link' }).innerText()
  await admin.page.getByRole('button', { name: 'Done' }).click()
  const invited = admin.page.getByRole('table', { name: 'Invitations' })
  await invited.getByText('Ann Berg').waitFor()
  assert.equal(await admin.page.getByRole('table', { name: 'Members' }).getByText('Ann Berg').count(), 0)

  await ann.page.reload()
  await ann.page.getByText('User invited you to join Second as member.').waitFor()
  await assertAccessible(ann.page)
  await ann.page.getByRole('button', { name: 'First, Main: switch' }).click()
  assert.equal(await ann.page.getByRole('menuitem', { name: 'Second' }).count(), 0)
  await ann.page.keyboard.press('Escape')

  // By the link of the org, there is nothing else that they could do.
  const byLink = await visit(link.slice(app.url.length))
  await byLink.page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await byLink.page.getByRole('heading', { name: 'You are invited' }).waitFor()
  await byLink.page.getByRole('button', { name: 'Accept' }).click()
  await byLink.page.getByRole('button', { name: 'Second, Main: switch' }).waitFor()
  await ann.page.reload()
  await ann.page.getByRole('button', { name: 'First, Main: switch' }).click()
  await ann.page.getByRole('menuitem', { name: 'Second' }).waitFor()
  assert.equal(await ann.page.getByText('invited you to join').count(), 0)
  assert.deepEqual([...admin.faults, ...ann.faults, ...byLink.faults], [])
})

test('a link that names another org switches to it only when the person says so', async () => {
  const [first, second] = [await ownerWithPassword('First'), await app.createOrg('Second')]
  await addDirectly(second, first)
  const { page, faults } = await open(first, '/')
  await page.getByRole('button', { name: 'First, Main: switch' }).waitFor()
  await page.goto(`${app.url}/files?org=${second.orgId}`)
  const dialog = page.getByRole('dialog', { name: 'Switch to Second?' })
  await dialog.waitFor()
  assert.equal(await page.getByText('Second, Main').count(), 0)
  await dialog.getByRole('button', { name: 'Stay in First' }).click()
  await page.getByRole('button', { name: 'First, Main: switch' }).waitFor()
  await page.reload()
  await page.getByRole('button', { name: 'First, Main: switch' }).waitFor()
  assert.equal(await page.getByRole('dialog').count(), 0)

  await page.goto(`${app.url}/files?org=${second.orgId}`)
  await dialog.getByRole('button', { name: 'Switch', exact: true }).click()
  await page.getByRole('button', { name: 'Second, Main: switch' }).waitFor()
  assert.equal(new URL(page.url()).pathname, '/files')
  assert.deepEqual(faults, [])
})

test('failed sign-ins are told at the next one, once they are dismissed no more', async () => {
  const owner = await ownerWithPassword('Acme')
  for (let i = 0; i < 3; i++) {
    const json = { email: owner.email, password: 'wrong password' }
    assert.equal((await app.call('POST', '/api/v1/auth/sign-in', { json })).status, 401)
  }
  const { page, faults } = await open(owner, '/')
  const notice = page.getByText('3 failed sign-in attempts since your last sign-in')
  await notice.waitFor()
  assert.match(await notice.innerText(), /from 127\.0\.0\.1/)
  await page.getByRole('button', { name: 'Dismiss' }).click()
  await notice.waitFor({ state: 'detached' })
  await page.reload()
  await page.getByRole('button', { name: 'Acme, Main: switch' }).waitFor()
  assert.equal(await notice.count(), 0)
  assert.deepEqual(faults, [])
})
