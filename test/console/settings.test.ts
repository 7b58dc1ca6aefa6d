import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { systemActor } from '../../src/identity/actor.ts'
import { addMember } from '../../src/identity/members/members.ts'
import { permissions } from '../../src/identity/permissions.ts'
import sharp from 'sharp'
import { sql } from '../../src/platform/database/database.ts'
import { assertAccessible, chooseModel, givePassword, password, startConsole } from '../support/console.ts'
import { upload } from '../support/files.ts'
import type { TestActor } from '../harness.ts'

const { app, open, signInLink, visit } = await startConsole()

const ownerWithPassword = async (name?: string): Promise<TestActor> => {
  const owner = await app.createOrg(name)
  await givePassword(app, owner)
  return owner
}

/** Adds a member like the operator does, without an invitation. */
const addDirectly = ({ orgId }: TestActor, { email }: TestActor) =>
  app.db.transaction('all orgs', (db) => addMember(db, systemActor(orgId, 'test'), { email, role: 'admin' }))

const confirm = async (page: Page): Promise<void> => {
  const dialog = page.getByRole('dialog', { name: 'Confirm access' })
  await dialog.getByLabel('Password').fill(password)
  await dialog.getByRole('button', { name: 'Confirm' }).click()
}

const decodeBase32 = (text: string): Buffer => {
  const bits = [...text]
    .map((char) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(char).toString(2).padStart(5, '0'))
    .join('')
  return Buffer.from(bits.match(/.{8}/g)?.map((byte) => Number.parseInt(byte, 2)) ?? [])
}

/** The TOTP code (RFC 6238), `ahead` time steps from now. */
const codeOf = (secret: string, ahead = 0): string => {
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(Math.floor(Date.now() / 30_000) + ahead))
  const mac = createHmac('sha1', decodeBase32(secret)).update(counter).digest()
  return String((mac.readUInt32BE(mac.readUInt8(19) & 15) & 0x7f_ff_ff_ff) % 1_000_000).padStart(6, '0')
}

test('an API key is created after step-up, shown once, works, and stops working when it is revoked', async () => {
  const owner = await ownerWithPassword()
  const { page, pageErrors } = await open(owner, '/settings/api-keys')
  await page.getByRole('button', { name: 'Create key' }).click()
  await page.getByLabel('Name', { exact: true }).fill('Scanner')
  const create = page.getByRole('dialog').getByRole('button', { name: 'Create key' })
  assert.equal(await create.getAttribute('aria-disabled'), 'true', 'the access must be chosen')
  await page.getByLabel('Selected scopes').check()
  assert.equal(await create.getAttribute('aria-disabled'), 'true', 'no scopes would mean full access')
  await page.getByRole('radiogroup', { name: 'Files' }).getByLabel('Read').check()
  await create.click()
  await confirm(page)
  const key = await page.getByRole('status', { name: 'API key' }).innerText()
  assert.equal((await app.call('GET', '/api/v1/files', { as: key })).status, 200)
  assert.equal(
    (await app.call('GET', '/api/v1/members', { as: key })).status,
    403,
    'the key has only the selected scopes',
  )
  await page.getByRole('button', { name: 'I have saved the key' }).click()
  await page.getByRole('row').filter({ hasText: 'Scanner' }).getByText('Read: Files').last().waitFor()
  assert.ok(!(await page.content()).includes(key), 'the key is shown once')

  await page.getByRole('button', { name: 'Revoke Scanner' }).click()
  await page.getByRole('button', { name: 'Revoke key' }).click()
  await page.getByRole('row').filter({ hasText: 'Scanner' }).getByText('Revoked').waitFor()
  assert.equal((await app.call('GET', '/api/v1/files', { as: key })).status, 401)
  assert.deepEqual(pageErrors, [])
})

test('the levels of the areas cover every permission, and those that the role lacks are disabled with the reason', async () => {
  const owner = await ownerWithPassword()
  const { page, pageErrors } = await open(owner, '/settings/api-keys')
  await page.getByRole('button', { name: 'Create key' }).click()
  await page.getByLabel('Name', { exact: true }).fill('Everything')
  await page.getByLabel('Selected scopes').check()
  for (const area of await page.getByRole('radiogroup').all()) await area.getByRole('radio').last().check()
  await assertAccessible(page)
  await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click()
  await confirm(page)
  const key = await page.getByRole('status', { name: 'API key' }).innerText()
  const { apiKey } = (await app.call('GET', '/api/v1/me', { as: key })).body.data
  assert.deepEqual(apiKey.scopes.toSorted(), [...permissions].toSorted())
  assert.deepEqual(pageErrors, [])

  const asMember = await open(await app.createUser(owner, 'member'), '/settings/api-keys')
  await asMember.page.getByRole('button', { name: 'Create key' }).click()
  await asMember.page.getByLabel('Selected scopes').check()
  const billing = asMember.page.getByRole('radiogroup', { name: 'Billing' })
  await billing.getByText('Your role does not have billing:manage.').waitFor()
  assert.equal(await billing.getByLabel('Manage').isDisabled(), true)
  assert.equal(await billing.getByLabel('Read').isDisabled(), false)
})

test('an owner renames the organization, which the page and the switcher show, and a member cannot', async () => {
  const owner = await app.createOrg('Northwind')
  const { page, pageErrors } = await open(owner, '/settings/organization')
  const field = page.getByLabel('Name', { exact: true })
  assert.equal(await field.inputValue(), 'Northwind')
  await field.fill('Northwind Traders')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByText('Organization renamed').waitFor()
  await page.getByRole('button', { name: /^Northwind Traders, Main/ }).waitFor()
  assert.equal((await app.call('GET', '/api/v1/org', { as: owner })).body.data.name, 'Northwind Traders')
  await assertAccessible(page)
  assert.deepEqual(pageErrors, [])

  const asMember = await open(await app.createUser(owner, 'member'), '/settings/organization')
  const save = asMember.page.getByRole('button', { name: 'Save', exact: true })
  await save.waitFor()
  assert.equal(await save.getAttribute('aria-disabled'), 'true')
})

test('an admin sets the logo and the defaults of the organization, which the switcher, sign-in links and new agents show', async () => {
  const owner = await app.createOrg('Northwind')
  const { page, pageErrors } = await open(owner, '/settings/organization')
  const buffer = await sharp({ create: { width: 90, height: 90, channels: 3, background: '#0f766e' } })
    .png()
    .toBuffer()
  const choose = (name: string, bytes: Buffer) =>
    page.getByLabel('Logo', { exact: true }).setInputFiles({ name, mimeType: 'image/png', buffer: bytes })
  await choose('damaged.png', buffer.subarray(0, 60))
  await page.getByText('The picture could not be read').waitFor()
  await choose('logo.png', buffer)
  await page.getByText('Logo saved').waitFor()
  const logo = page.getByRole('button', { name: /^Northwind, Main/ }).locator('img')
  await logo.waitFor()
  assert.equal(await page.evaluate('document.querySelector("nav img, aside img, button img").naturalWidth'), 64)

  await chooseModel(page, 'Model of new agents', 'paid')
  await page.getByLabel('Time zone').selectOption('Europe/Berlin')
  await page.getByLabel('Language of new members').selectOption('de')
  await page.getByRole('button', { name: 'Save defaults' }).click()
  await page.getByText('Defaults saved').waitFor()
  await assertAccessible(page)
  const org = (await app.call('GET', '/api/v1/org', { as: owner })).body.data
  const { defaultModel, defaultTimeZone, defaultLanguage } = org
  assert.deepEqual([defaultModel, defaultTimeZone, defaultLanguage], ['atrium/demo-paid', 'Europe/Berlin', 'de'])
  await page.goto(`${app.url}/agents/new`)
  await page.getByText('Organization default: Atrium Demo (paid)').waitFor()
  assert.deepEqual(pageErrors.splice(0), [
    'Failed to load resource: the server responded with a status of 400 (Bad Request)',
  ])

  const invited = await visit(`/sign-in#${(await signInLink(owner)).split('#')[1]}`)
  await invited.page.getByRole('heading', { name: 'Welcome to Northwind' }).waitFor()
  assert.equal(await invited.page.locator('form img').count(), 1)
  await assertAccessible(invited.page)
})

test('an admin limits the versions of files, and revokes a share link from the list of all links', async () => {
  const owner = await app.createOrg()
  const file = await upload(app, owner, 'hello', { name: 'offer.txt' })
  const shared = await app.call('POST', `/api/v1/files/${file.id}/shares`, { as: owner, json: {} })
  const { page, pageErrors } = await open(owner, '/settings/files')
  const save = page.getByRole('button', { name: 'Save' })
  await page.getByLabel('Versions per file').fill('1001')
  await page.getByText('Enter a whole number from 0 to 1,000.').waitFor()
  assert.equal(await save.getAttribute('aria-disabled'), 'true')
  await page.getByLabel('Versions per file').fill('7')
  await save.click()
  await page.getByText('Retention saved').waitFor()
  const retention = (await app.call('GET', '/api/v1/files/retention', { as: owner })).body.data
  assert.deepEqual([retention.versionsKept, retention.versionsDays], [7, retention.defaults.versionsDays])
  await assertAccessible(page)
  await page.getByRole('button', { name: 'Revoke the link to offer.txt' }).click()
  await page.getByRole('button', { name: 'Revoke link' }).click()
  await page.getByText('No share links').waitFor()
  assert.equal((await app.call('GET', new URL(shared.body.data.url).pathname)).status, 404)
  assert.deepEqual(pageErrors, [])
})

test('a person changes their name, and ends the sessions of their other browsers', async () => {
  const owner = await app.createOrg()
  const [phone, laptop] = [await open(owner, '/files'), await open(owner, '/settings/profile')]
  const { page, pageErrors } = laptop
  await page.getByRole('button', { name: 'Change name' }).click()
  await page.getByLabel('Name', { exact: true }).fill('Ada Lovelace')
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
  await page.getByRole('main').getByText('Ada Lovelace').waitFor()
  assert.equal((await app.call('GET', '/api/v1/me', { as: owner })).body.data.user.name, 'Ada Lovelace')

  const sessions = page.getByRole('table', { name: 'Sessions' })
  await sessions.getByText('This browser').waitFor()
  assert.equal(await sessions.getByText('Chrome on Linux').count(), 2)
  assert.equal(await sessions.getByRole('button', { name: /^Sign out of/ }).count(), 1)
  await assertAccessible(page)
  await page.getByRole('button', { name: 'Sign out of all others' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Sign out of all others' }).click()
  await page.getByText('1 session ended').waitFor()
  await phone.page.goto(`${app.url}/files`)
  await phone.page.waitForURL('**/sign-in**')
  assert.deepEqual(pageErrors, [])
})

test('a wrong password shows the API message without a request ID, and cancelling the step-up creates no API key', async () => {
  const owner = await ownerWithPassword()
  const { page } = await open(owner, '/settings/api-keys')
  await page.getByRole('button', { name: 'Create key' }).click()
  await page.getByLabel('Name', { exact: true }).fill('Scanner')
  await page.getByLabel('Full access').check()
  await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click()
  const dialog = page.getByRole('dialog', { name: 'Confirm access' })
  await dialog.getByLabel('Password').fill('wrong password')
  await dialog.getByRole('button', { name: 'Confirm' }).click()
  assert.doesNotMatch(await dialog.getByRole('alert').innerText(), /Request ID/)
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('dialog', { name: 'Create API key' }).waitFor()
  const { body } = await app.call('GET', '/api/v1/api-keys', { as: owner })
  assert.equal(body.data.items.length, 1, 'only the key of the test itself exists')
})

test('a call that fails for another reason does not ask for the password again', async () => {
  const owner = await ownerWithPassword()
  const { page } = await open(owner, '/settings/api-keys')
  const create = async (): Promise<void> => {
    await page.getByRole('button', { name: 'Create key' }).click()
    await page.getByLabel('Name', { exact: true }).fill('Scanner')
    await page.getByLabel('Full access').check()
    await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click()
  }
  await page.route('**/api/v1/api-keys', (route) =>
    route.request().method() === 'POST'
      ? route.fulfill({
          status: 409,
          json: { success: false, error: { code: 'CONFLICT', message: 'The key could not be created.' } },
        })
      : route.fallback(),
  )
  await create()
  await confirm(page)
  await page.getByText('The key could not be created.').waitFor()
  await page.unroute('**/api/v1/api-keys')
  await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click()
  await page.getByRole('status', { name: 'API key' }).waitFor()
})

test('a confirmation that the server no longer accepts is asked for once more, and the call succeeds', async () => {
  const owner = await ownerWithPassword()
  const { page } = await open(owner, '/settings/api-keys')
  for (const name of ['First', 'Second']) {
    await page.getByRole('button', { name: 'Create key' }).click()
    await page.getByLabel('Name', { exact: true }).fill(name)
    await page.getByLabel('Full access').check()
    await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click()
    await confirm(page)
    await page.getByRole('status', { name: 'API key' }).waitFor()
    await page.getByRole('button', { name: 'I have saved the key' }).click()
    await page.getByRole('row').filter({ hasText: name }).waitFor()
    await app.db.execute(sql`delete from step_up_tokens where user_id = ${owner.userId}`)
  }
})

test('an error of a field is shown at its control with its label, and once', async () => {
  const owner = await ownerWithPassword()
  const { page } = await open(owner, '/settings/members')
  await page.getByRole('button', { name: 'Add member' }).click()
  const dialog = page.getByRole('dialog', { name: 'Add member' })
  await dialog.getByLabel('Email').fill('not an address')
  await dialog.getByRole('button', { name: 'Add member' }).click()
  await confirm(page)
  await dialog.getByText('Email must be an e').waitFor()
  assert.equal(await dialog.getByLabel('Email').getAttribute('aria-invalid'), 'true')
  assert.equal(await dialog.getByRole('alert').count(), 1)
  assert.equal(await page.getByText('Request ID').count(), 0)
})

test('two-factor authentication is turned on with an authenticator app and then required to sign in', async () => {
  const owner = await ownerWithPassword()
  const { page, pageErrors } = await open(owner, '/settings/profile')
  await page.getByRole('button', { name: 'Turn on' }).click()
  await page.getByRole('dialog').getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('img', { name: 'QR code' }).waitFor()
  const [secret = ''] = /[A-Z2-7]{16,}/.exec(await page.getByRole('dialog').innerText()) ?? []
  await page.getByLabel('Code from the app').fill(codeOf(secret))
  await page.getByRole('dialog').getByRole('button', { name: 'Turn on' }).click()
  await page.getByText('Two-factor authentication is on').waitFor()
  assert.deepEqual(pageErrors, [])

  const other = await visit('/')
  await other.page.getByLabel('Email').fill(owner.email)
  await other.page.getByLabel('Password').fill(password)
  await other.page.getByRole('button', { name: 'Sign in' }).click()
  // A code works once, so this uses the next one.
  await other.page.getByLabel('Authentication code').fill(codeOf(secret, 1))
  await other.page.getByRole('button', { name: 'Verify' }).click()
  await other.page.getByRole('heading', { level: 1, name: /Good/ }).waitFor()
})

test('a new member signs in with the link that was shown, and sees what their role does not permit', async () => {
  const owner = await ownerWithPassword('Acme')
  const { page, pageErrors } = await open(owner, '/settings/members')
  await page.getByRole('button', { name: 'Add member' }).click()
  const dialog = page.getByRole('dialog')
  const email = `ann-${owner.userId.slice(-6)}@example.com`
  await dialog.getByLabel('Email').fill(email)
  await dialog.getByLabel('Name').fill('Ann Berg')
  await dialog.getByRole('button', { name: 'Add member' }).click()
  await confirm(page)
  const link = await page.getByRole('status', { name: 'Sign-in link' }).innerText()
  await page.getByRole('button', { name: 'Done' }).click()
  await page.getByRole('row').filter({ hasText: 'Ann Berg' }).waitFor()
  assert.deepEqual(pageErrors, [])

  const ann = await visit(link.slice(app.url.length))
  await ann.page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await ann.page.getByRole('button', { name: 'Skip for now' }).click()
  await ann.page.getByText('Acme').first().waitFor()
  await ann.page.goto(`${app.url}/settings/members`)
  const add = ann.page.getByRole('button', { name: 'Add member' })
  assert.equal(await add.getAttribute('aria-disabled'), 'true')
  await add.hover()
  await ann.page.getByText('Only owners and admins can add members.').waitFor()
  await ann.page.goto(`${app.url}/settings/audit-log`)
  await ann.page.getByText('You do not have access').waitFor()
})

test('an owner changes the role of a member after step-up and removes the member', async () => {
  const owner = await ownerWithPassword()
  const member = await app.createUser(owner, 'member')
  const { page } = await open(owner, '/settings/members')
  const row = page.getByRole('row').filter({ hasText: member.email })
  await row.getByRole('combobox').selectOption('admin')
  await confirm(page)
  await page.getByText(/changed to admin/).waitFor()
  assert.equal((await app.call('GET', '/api/v1/me', { as: member })).body.data.role, 'admin')
  await row.getByRole('button', { name: /^Remove/ }).click()
  await page.getByRole('button', { name: 'Remove member' }).click()
  await page.getByText(/^User removed$/).waitFor()
  assert.equal((await app.call('GET', '/api/v1/me', { as: member })).status, 401)
})

test('a workspace is created, entered and deleted, which returns to the default workspace', async () => {
  const owner = await ownerWithPassword('Acme')
  const { page } = await open(owner, '/settings/workspaces')
  await page.getByRole('button', { name: 'Create workspace' }).click()
  await page.getByLabel('Name', { exact: true }).fill('Research')
  await page.getByRole('dialog').getByRole('button', { name: 'Create workspace' }).click()
  await page.getByRole('row').filter({ hasText: 'Research' }).waitFor()
  await page.getByRole('button', { name: 'Acme, Main: switch' }).click()
  await page.getByRole('menuitem', { name: 'Research' }).click()
  await page.getByRole('button', { name: 'Acme, Research: switch' }).waitFor()
  await page.reload()
  await page.getByRole('button', { name: 'Acme, Research: switch' }).waitFor()
  await page.getByRole('button', { name: 'Delete Research' }).click()
  await page.getByRole('button', { name: 'Delete workspace' }).click()
  await confirm(page)
  await page.getByRole('button', { name: 'Acme, Main: switch' }).waitFor()
})

test('every workspace can be entered, also those beyond the first page of the list', async () => {
  const owner = await ownerWithPassword('Acme')
  for (let n = 1; n <= 101; n += 1) {
    const { status } = await app.call('POST', '/api/v1/workspaces', { as: owner, json: { name: `Team ${n}` } })
    assert.equal(status, 201)
  }
  const { page } = await open(owner, '/settings/api-keys')
  await page.getByRole('button', { name: 'Acme, Main: switch' }).click()
  await page.getByRole('menuitem', { name: 'Team 101', exact: true }).click()
  await page.getByRole('button', { name: 'Acme, Team 101: switch' }).waitFor()
  await page.getByRole('button', { name: 'Create key' }).click()
  await page.getByLabel('Workspace').selectOption({ label: 'Team 101' })
})

test('a new project has its own folder', async () => {
  const owner = await app.createOrg()
  const { page, pageErrors } = await open(owner, '/settings/projects')
  await page.getByRole('button', { name: 'Create project' }).click()
  await page.getByLabel('Name', { exact: true }).fill('Launch')
  await page.getByRole('dialog').getByRole('button', { name: 'Create project' }).click()
  await page.getByRole('link', { name: 'Launch' }).click()
  await page.getByText('This folder is empty').waitFor()
  await page.goBack()
  await page.getByRole('button', { name: 'Delete Launch' }).click()
  await page.getByRole('button', { name: 'Delete project' }).click()
  await page.getByText('No projects yet').waitFor()
  assert.deepEqual(pageErrors, [])
})

test('the filter of the audit log is kept in the URL', async () => {
  const owner = await app.createOrg()
  const member = await app.createUser(owner, 'admin')
  await app.call('POST', '/api/v1/workspaces', { as: owner, json: { name: 'By the owner' } })
  await app.call('POST', '/api/v1/workspaces', { as: member, json: { name: 'By the member' } })
  const { page } = await open(owner, '/settings/audit-log')
  await page.getByText('By the member', { exact: true }).waitFor()
  await page.getByLabel('Actor').selectOption(owner.userId)
  await page.getByText('By the member', { exact: true }).waitFor({ state: 'detached' })
  await page.getByText('By the owner', { exact: true }).waitFor()
  await page.reload()
  await page.getByText('By the owner', { exact: true }).waitFor()
  assert.equal(await page.getByText('By the member', { exact: true }).count(), 0)
  await page.goBack()
  await page.getByText('By the member', { exact: true }).waitFor()
  // The name of a resource filters by it; what is shown can be exported.
  await page.getByRole('link', { name: 'By the member', exact: true }).click()
  await page.getByText('By the owner', { exact: true }).waitFor({ state: 'detached' })
  await page.getByLabel('Action', { exact: true }).fill('workspace.created')
  await page.keyboard.press('Enter')
  await page.waitForURL('**action=workspace.created**')
  await page.getByRole('button', { name: 'Export' }).click()
  const saved = page.waitForEvent('download')
  await page.getByRole('menuitem', { name: 'CSV' }).click()
  const lines = (await readFile(await (await saved).path(), 'utf8')).trim().split('\r\n')
  assert.equal(lines.length, 2)
  assert.match(lines[1] ?? '', /workspace\.created.*By the member/)
  await assertAccessible(page)
})

test('after switching the org, a person sees nothing of the previous org', async () => {
  const first = await ownerWithPassword('First')
  const second = await app.createOrg('Second')
  await addDirectly(second, first)
  await app.call('POST', '/api/v1/projects', { as: first, json: { name: 'Of the first' } })
  await app.call('POST', '/api/v1/projects', { as: second, json: { name: 'Of the second' } })
  const { page, context, pageErrors } = await open(first, '/files')
  await page.getByRole('grid').getByText('Of the first').waitFor()
  await page.getByRole('button', { name: 'First, Main: switch' }).click()
  await page.getByRole('menuitem', { name: 'Second' }).click()
  await page.getByRole('button', { name: 'Second, Main: switch' }).waitFor()
  await page.getByRole('link', { name: 'Files', exact: true }).click()
  await page.getByRole('grid').getByText('Of the second').waitFor()
  assert.doesNotMatch(await page.content(), /Of the first/)
  // Images and links cannot send a header, so `orgId` in the URL selects the org, for GET requests only.
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
  assert.equal(body.data.items.length, 1, 'a write ignores `orgId` in the URL')
  assert.deepEqual(pageErrors, [])
})

test('an invited person is not a member of the other org before they accept in the console', async () => {
  const [second, person] = [await ownerWithPassword('Second'), await app.createOrg('First')]
  // Signed in first, because the operator's link that this uses invalidates the sign-in links of orgs.
  const ann = await open(person, '/')
  const admin = await open(second, '/settings/members')
  await admin.page.getByRole('button', { name: 'Add member' }).click()
  const dialog = admin.page.getByRole('dialog')
  await dialog.getByLabel('Email').fill(person.email)
  await dialog.getByLabel('Name').fill('Ann Berg')
  await dialog.getByRole('button', { name: 'Add member' }).click()
  await confirm(admin.page)
  await admin.page.getByText('Ann Berg invited').waitFor()
  const link = await admin.page.getByRole('status', { name: 'Sign-in link' }).innerText()
  await admin.page.getByRole('button', { name: 'Done' }).click()
  const invited = admin.page.getByRole('table', { name: 'Invitations' })
  await invited.getByText('Ann Berg').waitFor()
  assert.equal(await invited.getByRole('columnheader', { name: 'Expires' }).count(), 1)
  assert.equal(await admin.page.getByRole('table', { name: 'Members' }).getByText('Ann Berg').count(), 0)

  await ann.page.reload()
  await ann.page.getByText('User invited you to join Second. Your role will be: Member.').waitFor()
  await assertAccessible(ann.page)
  await ann.page.getByRole('button', { name: 'First, Main: switch' }).click()
  assert.equal(await ann.page.getByRole('menuitem', { name: 'Second' }).count(), 0)
  await ann.page.keyboard.press('Escape')

  // Through the org's link, the person can only answer the invitation.
  const byLink = await visit(link.slice(app.url.length))
  await byLink.page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await byLink.page.getByRole('heading', { name: 'You have an invitation' }).waitFor()
  await byLink.page.getByRole('button', { name: 'Accept' }).click()
  await byLink.page.getByRole('button', { name: 'Second, Main: switch' }).waitFor()
  await ann.page.reload()
  await ann.page.getByRole('button', { name: 'First, Main: switch' }).click()
  await ann.page.getByRole('menuitem', { name: 'Second' }).waitFor()
  assert.equal(await ann.page.getByText('invited you to join').count(), 0)
  assert.deepEqual([...admin.pageErrors, ...ann.pageErrors, ...byLink.pageErrors], [])
})

test('a link that names another org switches to it only after confirmation', async () => {
  const [first, second] = [await ownerWithPassword('First'), await app.createOrg('Second')]
  await addDirectly(second, first)
  const { page, pageErrors } = await open(first, '/')
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
  assert.deepEqual(pageErrors, [])
})

test('failed sign-in attempts are shown after the next sign-in until they are dismissed', async () => {
  const owner = await ownerWithPassword('Acme')
  for (let i = 0; i < 3; i++) {
    const json = { email: owner.email, password: 'wrong password' }
    assert.equal((await app.call('POST', '/api/v1/auth/sign-in', { json })).status, 401)
  }
  const { page, pageErrors } = await open(owner, '/')
  const notice = page.getByText('3 failed sign-in attempts since your last sign-in')
  await notice.waitFor()
  assert.match(await notice.innerText(), /from 127\.0\.0\.1/)
  await page.getByRole('button', { name: 'Dismiss' }).click()
  await notice.waitFor({ state: 'detached' })
  await page.reload()
  await page.getByRole('button', { name: 'Acme, Main: switch' }).waitFor()
  assert.equal(await notice.count(), 0)
  assert.deepEqual(pageErrors, [])
})
