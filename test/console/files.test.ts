import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { mkdtemp, mkdir, open as openFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { assertAccessible, fillFolder, startConsole } from '../support/console.ts'
import { startDirectStore } from '../fakes/direct-store.ts'
import { create, upload } from '../support/files.ts'
import type { TestActor } from '../harness.ts'
import { systemActor } from '../../src/identity/actor.ts'
import { addMember } from '../../src/identity/members/members.ts'
import { sql } from '../../src/platform/database/database.ts'
import { until } from '../support/until.ts'

const { app, open } = await startConsole()
const scratch = await mkdtemp(join(tmpdir(), 'atrium-console-'))
after(() => rm(scratch, { recursive: true, force: true }))

const listOf = async (
  as: TestActor,
  query = '',
): Promise<
  { id: string; name: string; size: number; contentHash: string; tags: string[]; parentId: string; source: string }[]
> => (await app.call('GET', `/api/v1/files?limit=100${query}`, { as })).body.data.items

const row = (page: Page, name: string) => page.getByRole('row').filter({ hasText: name })

describe('uploading', () => {
  test('an uploaded folder keeps its subfolders and files', async () => {
    const owner = await app.createOrg()
    const { page, pageErrors } = await open(owner, '/files')
    await mkdir(join(scratch, 'photos', 'raw'), { recursive: true })
    await writeFile(join(scratch, 'photos', 'a.txt'), 'a')
    await writeFile(join(scratch, 'photos', 'raw', 'b.txt'), 'b')
    await page.getByLabel('Folder to upload').first().setInputFiles(join(scratch, 'photos'))
    await page.getByRole('heading', { name: '2 uploaded' }).waitFor()
    await row(page, 'photos').getByRole('link').click()
    await row(page, 'raw').getByRole('link').click()
    await row(page, 'b.txt').waitFor()
    assert.equal(await row(page, 'a.txt').count(), 0)
    await page.goBack()
    await row(page, 'a.txt').waitFor()
    assert.deepEqual(pageErrors, [])
  })

  test('a folder is uploaded to the org in which the upload began when the person switches to another one', async () => {
    const [first, second] = [await app.createOrg('First'), await app.createOrg('Second')]
    await app.db.transaction('all orgs', (db) =>
      addMember(db, systemActor(second.orgId, 'test'), { email: first.email, role: 'admin' }),
    )
    const { page } = await open(first, '/files')
    await page.getByRole('button', { name: 'First, Main: switch' }).waitFor()
    const { promise: switched, resolve: proceed } = Promise.withResolvers<void>()
    await page.route('**/api/v1/files', async (route) => {
      if ((route.request().postData() ?? '').includes('"source":"folder"')) await switched
      return route.fallback()
    })
    await mkdir(join(scratch, 'contracts', 'signed'), { recursive: true })
    await writeFile(join(scratch, 'contracts', 'a.txt'), 'a')
    await writeFile(join(scratch, 'contracts', 'signed', 'b.txt'), 'b')
    const creating = page.waitForRequest((request) => request.method() === 'POST' && request.url().endsWith('/files'))
    await page.getByLabel('Folder to upload').first().setInputFiles(join(scratch, 'contracts'))
    await creating
    await page.getByRole('button', { name: 'First, Main: switch' }).click()
    await page.getByRole('menuitem', { name: 'Second' }).click()
    await page.getByRole('button', { name: 'Second, Main: switch' }).waitFor()
    proceed()
    await page.getByRole('heading', { name: '2 uploaded' }).waitFor()
    const namesIn = async (as: TestActor, query = ''): Promise<string[]> =>
      (await listOf(as, query)).map(({ name }) => name).toSorted()
    assert.deepEqual(await namesIn(first, '&search=.txt&recursive=true'), ['a.txt', 'b.txt'])
    assert.deepEqual(await namesIn(second), [])
  })

  test('a large file is sent to the object store where the server offers it, and continues after a pause', async () => {
    const owner = await app.createOrg()
    const store = await startDirectStore(app.deps.objects)
    after(() => store.stop())
    // The worker of the first server verifies the bytes.
    const objects = Object.assign(app.deps.objects, { direct: store.direct })
    const env = { S3_BUCKET: 'bucket', S3_DIRECT_UPLOADS: '1' }
    const direct = await app.secondServer(env, { replace: { objects } })
    const { page, pageErrors } = await open(owner, '/files')
    await page.goto(`${direct.url}/files`)
    const path = join(scratch, 'direct.bin')
    // More than the buffers of a connection can have.
    const bytes = Buffer.alloc(40_000_000, 'direct')
    await writeFile(path, bytes)
    const release = store.hold()
    await page.getByLabel('Files to upload').first().setInputFiles(path)
    await until('the bucket has the request', () => store.held() > 0)
    await page.getByRole('button', { name: 'Pause direct.bin' }).click()
    await page.getByText(/^Paused at /).waitFor()
    release()
    await page.getByRole('button', { name: 'Resume direct.bin' }).click()
    await page.getByRole('heading', { name: '1 uploaded' }).waitFor()
    const files = await listOf(owner)
    assert.deepEqual(
      files.map(({ name, contentHash }) => [name, contentHash]),
      [['direct.bin', createHash('sha256').update(bytes).digest('hex')]],
      'the upload is continued and not begun twice',
    )
    assert.deepEqual(store.received, [bytes.length])
    assert.deepEqual(pageErrors, [])
    await page.close()
  })

  test('a file of 100 MB is uploaded completely', async () => {
    const owner = await app.createOrg()
    const { page, pageErrors } = await open(owner, '/files')
    const path = join(scratch, 'large.bin')
    const bytes = Buffer.alloc(104_857_600, 'atrium')
    await writeFile(path, bytes)
    await page.getByLabel('Files to upload').first().setInputFiles(path)
    await page.getByRole('progressbar', { name: 'Upload of large.bin' }).waitFor()
    await page.getByRole('heading', { name: '1 uploaded' }).waitFor({ timeout: 60_000 })
    await row(page, 'large.bin').getByRole('gridcell', { name: '100 MB' }).waitFor()
    const [file] = await listOf(owner)
    assert.equal(file?.contentHash, createHash('sha256').update(bytes).digest('hex'))
    assert.deepEqual(pageErrors, [])
  })

  test('a large upload is paused, and continues after a reload when the file is chosen again', async () => {
    const owner = await app.createOrg()
    const { page, pageErrors } = await open(owner, '/files')
    page.on('dialog', (dialog) => void dialog.accept())
    const path = join(scratch, 'film.bin')
    const bytes = randomBytes(12_000_000)
    await writeFile(path, bytes)
    const network = await page.context().newCDPSession(page)
    const limit = (uploadThroughput: number) =>
      network.send('Network.emulateNetworkConditions', {
        offline: false,
        latency: 0,
        downloadThroughput: -1,
        uploadThroughput,
      })
    await limit(2_000_000)
    await page.getByLabel('Files to upload').first().setInputFiles(path)
    await page.getByText(/^[1-9][\d.]* MB of 11 MB$/).waitFor()
    await page.getByRole('button', { name: 'Pause film.bin' }).click()
    await page.getByText(/^Paused at .* of 11 MB$/).waitFor()
    await assertAccessible(page)
    const received = async (): Promise<number> =>
      (await app.db.row<{ bytes: number }>(sql`
        select received_bytes as bytes from uploads where org_id = ${owner.orgId}`))!.bytes
    const kept = await until(received, (count) => count > 0)
    await limit(-1)
    await page.reload()
    const offsets: (string | undefined)[] = []
    page.on('request', (request) => {
      if (request.method() === 'PATCH') offsets.push(request.headers()['upload-offset'])
    })
    await page.getByLabel('Files to upload').first().setInputFiles(path)
    await page.getByRole('heading', { name: '1 uploaded' }).waitFor()
    assert.equal(offsets[0], String(kept))
    const [file, ...more] = await listOf(owner)
    assert.equal(file?.contentHash, createHash('sha256').update(bytes).digest('hex'))
    assert.deepEqual(more, [])
    assert.equal(
      await page.evaluate('Object.keys(localStorage).join()').then((keys) => String(keys).includes('atrium.upload.')),
      false,
    )
    assert.deepEqual(pageErrors, [])
  })

  test('a large upload goes on while each lost connection brings some of its bytes', async () => {
    const owner = await app.createOrg()
    const { page, pageErrors } = await open(owner, '/files')
    // The first eight requests with bytes send 1 MB and then lose their connection.
    await page.evaluate(`{
      const send = XMLHttpRequest.prototype.send
      let left = 8
      XMLHttpRequest.prototype.send = function (body) {
        if (!(body instanceof Blob) || left === 0) return send.call(this, body)
        left -= 1
        const lose = (event) => {
          event.stopImmediatePropagation()
          this.dispatchEvent(new ProgressEvent('error'))
        }
        this.addEventListener('load', lose, { capture: true })
        return send.call(this, body.slice(0, 1_000_000))
      }
    }`)
    const path = join(scratch, 'bad-line.bin')
    const bytes = randomBytes(12_000_000)
    await writeFile(path, bytes)
    await page.getByLabel('Files to upload').first().setInputFiles(path)
    await page.getByRole('heading', { name: '1 uploaded' }).waitFor()
    const [file] = await listOf(owner)
    assert.equal(file?.contentHash, createHash('sha256').update(bytes).digest('hex'))
    assert.deepEqual(pageErrors, [])
  })

  test('a file above 100 MB fails with the API message, and the upload can be cleared', async () => {
    const owner = await app.createOrg()
    const { page } = await open(owner, '/files')
    const path = join(scratch, 'too-large.bin')
    const handle = await openFile(path, 'w')
    await handle.truncate(104_857_601)
    await handle.close()
    await page.getByLabel('Files to upload').first().setInputFiles(path)
    await page.getByRole('heading', { name: '1 failed, 0 uploaded' }).waitFor({ timeout: 60_000 })
    await page
      .getByText(/100 MB|connection/)
      .first()
      .waitFor()
    await page.getByRole('button', { name: 'Clear' }).click()
    await page.getByRole('region', { name: 'Uploads' }).waitFor({ state: 'detached' })
    assert.deepEqual(await listOf(owner), [])
  })

  test('a cancelled upload stores no file', async () => {
    const owner = await app.createOrg()
    const { page } = await open(owner, '/files')
    // The request is never answered, so the upload runs until it is cancelled.
    await page.route('**/api/v1/files', (route) => (route.request().method() === 'POST' ? undefined : route.fallback()))
    await page
      .getByLabel('Files to upload')
      .first()
      .setInputFiles({ name: 'slow.txt', mimeType: 'text/plain', buffer: Buffer.from('slow') })
    await page.getByRole('button', { name: 'Cancel slow.txt' }).click()
    await page.getByText('Cancelled').waitFor()
    assert.deepEqual(await listOf(owner), [])
  })

  test('files dropped onto a folder are uploaded into it', async () => {
    const owner = await app.createOrg()
    const folder = (await create(app, owner, { source: 'folder', name: 'Inbox' })).file
    const { page } = await open(owner, '/files')
    const target = row(page, 'Inbox')
    await target.waitFor()
    const data = await page.evaluateHandle(`(() => {
      const data = new DataTransfer()
      for (const name of ['one.txt', 'two.txt']) data.items.add(new File([name], name, { type: 'text/plain' }))
      return data
    })()`)
    for (const type of ['dragenter', 'dragover', 'drop']) await target.dispatchEvent(type, { dataTransfer: data })
    await page.getByRole('heading', { name: '2 uploaded' }).waitFor()
    const names = (await listOf(owner, `&parentId=${folder.id}`)).map(({ name }) => name)
    assert.deepEqual(names, ['one.txt', 'two.txt'])
  })
})

describe('a folder', () => {
  test('a folder is created, renamed, and deleted after a confirmation', async () => {
    const owner = await app.createOrg()
    const { page, pageErrors } = await open(owner, '/files')
    await page.getByText('No files yet').waitFor()
    await page.getByRole('button', { name: 'Create folder' }).click()
    await page.getByLabel('Name', { exact: true }).fill('Drafts')
    await page.getByRole('button', { name: 'Create', exact: true }).click()
    await row(page, 'Drafts').click()
    await page.keyboard.press('F2')
    await page.getByLabel('Name', { exact: true }).fill('Texts')
    await page.keyboard.press('Enter')
    await row(page, 'Texts').click()
    await page.keyboard.press('Delete')
    await page.getByRole('dialog').getByText('Everything in the folder is deleted as well').waitFor()
    await page.getByRole('button', { name: 'Delete', exact: true }).click()
    await page.getByText('No files yet').waitFor()
    assert.deepEqual(await listOf(owner), [])
    assert.deepEqual(pageErrors, [])
  })

  test('a file dragged into a folder is moved, and Undo moves it back', async () => {
    const owner = await app.createOrg()
    const folder = (await create(app, owner, { source: 'folder', name: 'Archive' })).file
    const file = await upload(app, owner, 'text', { name: 'note.txt' })
    const { page } = await open(owner, '/files')
    await row(page, 'note.txt').dragTo(row(page, 'Archive'))
    await page.getByText('Moved “note.txt”').waitFor()
    assert.deepEqual(
      (await listOf(owner, `&parentId=${folder.id}`)).map(({ id }) => id),
      [file.id],
    )
    await page.getByRole('button', { name: 'Undo' }).click()
    await row(page, 'note.txt').waitFor()
    assert.deepEqual(await listOf(owner, `&parentId=${folder.id}`), [])
  })

  test('selected files are moved into a folder by keyboard alone', async () => {
    const owner = await app.createOrg()
    const folder = (await create(app, owner, { source: 'folder', name: 'Archive' })).file
    for (const name of ['one.txt', 'two.txt', 'three.txt']) await upload(app, owner, name, { name })
    const { page } = await open(owner, '/files')
    await row(page, 'two.txt').waitFor()
    await page.getByRole('grid').focus()
    await page.keyboard.press('End')
    await page.keyboard.press('Shift+ArrowUp')
    await page.getByText('2 selected').first().waitFor()
    await page.keyboard.press('Shift+F10')
    await page.getByRole('menuitem', { name: 'Move' }).press('Enter')
    const tree = page.getByRole('dialog').getByRole('tree')
    await tree.getByRole('treeitem', { name: 'Archive' }).waitFor()
    await tree.getByRole('treeitem', { name: 'All files' }).focus()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Move here' }).press('Enter')
    await page.getByText('Moved 2 items').waitFor()
    assert.deepEqual(
      (await listOf(owner, `&parentId=${folder.id}`)).map(({ name }) => name),
      ['three.txt', 'two.txt'],
    )
  })

  test('a file that was moved away is no longer selected, so that Delete has nothing to delete', async () => {
    const owner = await app.createOrg()
    const folder = (await create(app, owner, { source: 'folder', name: 'Archive' })).file
    for (const name of ['one.txt', 'two.txt']) await upload(app, owner, name, { name })
    const { page } = await open(owner, '/files')
    await row(page, 'one.txt').getByRole('checkbox').check({ force: true })
    await row(page, 'one.txt').dragTo(row(page, 'Archive'))
    await page.getByText('Moved “one.txt”').waitFor()
    await page.getByRole('button', { name: 'Clear selection' }).waitFor({ state: 'detached' })
    await page.getByRole('grid').focus()
    await page.keyboard.press('Delete')
    assert.equal(await page.getByRole('dialog', { name: /^Delete/ }).count(), 0)
    assert.equal((await listOf(owner, `&parentId=${folder.id}`)).length, 1)
  })

  test('a renamed file stays selected under its new name and keeps the keyboard focus', async () => {
    const owner = await app.createOrg()
    for (const name of ['a.txt', 'b.txt', 'c.txt']) await upload(app, owner, name, { name })
    const { page } = await open(owner, '/files')
    await row(page, 'a.txt').click({ position: { x: 200, y: 10 } })
    await page.keyboard.press('F2')
    await page.getByLabel('Name', { exact: true }).fill('z.txt')
    await page.keyboard.press('Enter')
    await row(page, 'z.txt').waitFor()
    await page.getByRole('banner').or(page.locator('header')).getByText('“z.txt”').first().waitFor()
    assert.equal(await page.getByText('“a.txt”').count(), 0)
    const grid = page.getByRole('grid')
    const activeId = (await grid.getAttribute('aria-activedescendant')) ?? ''
    assert.match(await page.locator(`#${activeId}`).innerText(), /^z\.txt/)
    // Repeated without another selection: the dialog names the file as it is called now.
    await page.keyboard.press('F2')
    assert.equal(await page.getByLabel('Name', { exact: true }).inputValue(), 'z.txt')
  })

  test('a selected file that another person deletes is no longer selected', async () => {
    const owner = await app.createOrg()
    const files = []
    for (const name of ['a.txt', 'b.txt', 'c.txt']) files.push(await upload(app, owner, name, { name }))
    const { page } = await open(owner, '/files')
    await row(page, 'a.txt').waitFor()
    await page.getByRole('grid').focus()
    await page.keyboard.press('Control+a')
    await page.getByText('3 selected').first().waitFor()
    await app.call('DELETE', `/api/v1/files/${files[1]?.id}`, { as: owner })
    await page.getByText('2 selected').first().waitFor()
  })

  test('search filters the list while typing, and Back undoes it', async () => {
    const owner = await app.createOrg()
    const folder = (await create(app, owner, { source: 'folder', name: 'Deep' })).file
    await upload(app, owner, 'a', { name: 'needle.txt', parentId: folder.id })
    await upload(app, owner, 'b', { name: 'hay.txt' })
    const { page } = await open(owner, '/files')
    await row(page, 'hay.txt').waitFor()
    await page.getByRole('searchbox').fill('needle')
    await row(page, 'needle.txt').waitFor()
    await until('the file that does not match is hidden', async () => (await row(page, 'hay.txt').count()) === 0)
    assert.match(page.url(), /\?search=needle$/)
    await page.goBack()
    await row(page, 'hay.txt').waitFor()
    assert.equal(await page.getByRole('searchbox').inputValue(), '')
  })

  test('a click on a heading sorts the list, the order stays in subfolders, and a search result leads to its folder', async () => {
    const owner = await app.createOrg()
    const outer = (await create(app, owner, { source: 'folder', name: 'Reports' })).file
    const inner = (await create(app, owner, { source: 'folder', name: '2026', parentId: outer.id })).file
    for (const [name, text] of [
      ['a.txt', 'longest'],
      ['b.csv', ''],
      ['c.txt', 'long'],
    ] as const)
      await upload(app, owner, text, {
        name,
        parentId: inner.id,
        type: name.endsWith('csv') ? 'text/csv' : 'text/plain',
      })
    const { page, pageErrors } = await open(owner, '/files')
    const order = async () => (await page.getByRole('row').getByRole('link').allInnerTexts()).join()
    const heading = (name: string) => page.getByRole('columnheader', { name })
    await row(page, 'Reports').waitFor()
    await heading('Size').getByRole('button').click()
    await until('the heading says so', async () => (await heading('Size').getAttribute('aria-sort')) === 'descending')
    assert.equal(await heading('Name').getAttribute('aria-sort'), 'none')
    await row(page, 'Reports').getByRole('link').click()
    await row(page, '2026').getByRole('link').click()
    await until('the largest file is first', async () => (await order()) === 'a.txt,c.txt,b.csv')
    assert.match(page.url(), /\?sort=size$/)
    await row(page, 'b.csv').getByText('CSV table').waitFor()
    // The key is for the heading, not for the selected row.
    await heading('Type').getByRole('button').press('Enter')
    await until('the types are in order', async () => (await order()) === 'b.csv,a.txt,c.txt')
    await page.goto(`${app.url}/files?search=b.csv`)
    await row(page, 'b.csv').getByRole('link', { name: 'Location: Reports / 2026' }).waitFor()
    await assertAccessible(page)
    await page.getByRole('grid').focus()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Shift+F10')
    await page.getByRole('menuitem', { name: 'Show in folder' }).press('Enter')
    await page.getByRole('heading', { name: '2026' }).waitFor()
    assert.equal(await order(), 'a.txt,b.csv,c.txt')
    assert.deepEqual(pageErrors, [])
  })

  test('two tags that are added one right after the other in the preview are both kept', async () => {
    const owner = await app.createOrg()
    const file = await upload(app, owner, 'text', { name: 'note.txt' })
    const { page } = await open(owner, `/files?open=${file.id}`)
    const field = page.getByLabel('Add a tag')
    const { promise: second, resolve: proceed } = Promise.withResolvers<void>()
    let changes = 0
    await page.route(`**/api/v1/files/${file.id}`, async (route) => {
      if (route.request().method() !== 'PATCH') return route.fallback()
      changes += 1
      if (changes === 1) await second
      return route.fallback()
    })
    await field.fill('urgent')
    await field.press('Enter')
    await until('the first tag is being saved', () => changes === 1)
    await field.fill('legal')
    await field.press('Enter')
    await until('the second tag is stored', async () => (await listOf(owner))[0]?.tags.includes('legal') === true)
    proceed()
    await until('both are stored', async () => (await listOf(owner))[0]?.tags.length === 2)
    await page.getByRole('button', { name: 'Remove tag urgent' }).waitFor()
    await page.getByRole('button', { name: 'Remove tag legal' }).waitFor()
  })

  test('a file gets tags and a link from its menu', async () => {
    const owner = await app.createOrg()
    const file = await upload(app, owner, 'text', { name: 'note.txt' })
    const { page } = await open(owner, '/files')
    await row(page, 'note.txt').click({ button: 'right' })
    await page.getByRole('menuitem', { name: 'Edit tags' }).click()
    await page.getByLabel('Add a tag').fill('urgent')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Save tags' }).click()
    await row(page, 'note.txt').getByText('urgent').waitFor()
    await page.getByRole('button', { name: 'Actions for note.txt' }).click()
    await page.getByRole('menuitem', { name: 'Create link' }).click()
    await page.getByRole('button', { name: 'Create link' }).click()
    await until('the link is listed', async () => (await row(page, 'note.txt').count()) === 2)
    const files = await listOf(owner)
    assert.deepEqual(files.find(({ id }) => id === file.id)?.tags, ['urgent'])
    assert.equal(files.filter(({ source }) => source === 'link').length, 1)
  })
})

test('at 1280 px, a long file name is shortened before its tags, of which two are shown and the rest in a tooltip', async () => {
  const owner = await app.createOrg()
  const name = `${'Minutes of the meeting about the autumn catalogue '.repeat(3)}.txt`
  const tags = ['approved', 'a tag of thirty characters ok!', 'q4', 'press']
  const file = await upload(app, owner, 'text', { name })
  await app.call('PATCH', `/api/v1/files/${file.id}`, { as: owner, json: { tags } })
  const other = await upload(app, owner, 'text', { name: `Other ${name}` })
  await app.call('PATCH', `/api/v1/files/${other.id}`, { as: owner, json: { tags: ['approved', 'autumn'] } })
  const { page, pageErrors } = await open(owner, '/files', { size: { width: 1280, height: 800 } })
  const two = row(page, `Other ${name}`)
  const [left, right] = await Promise.all(
    ['approved', 'autumn'].map((tag) => two.getByText(tag, { exact: true }).boundingBox()),
  )
  assert.equal(left?.y, right?.y, 'no tag wraps to a line that is not visible')
  const line = row(page, name).filter({ hasNotText: 'Other' })
  const isCut = (text: string): Promise<boolean> =>
    line.getByText(text, { exact: true }).evaluate((element) => element.scrollWidth > element.clientWidth)
  const [first = '', second = '', ...rest] = (await listOf(owner)).find(({ id }) => id === file.id)?.tags ?? []
  assert.deepEqual([first, second, ...rest].toSorted(), tags.toSorted())
  await line.getByText(first, { exact: true }).waitFor()
  assert.deepEqual([await isCut(name), await isCut('approved'), await isCut(second)], [true, false, true])
  await line.getByText('+2', { exact: true }).hover()
  await page.getByText([first, second, ...rest].join(', '), { exact: true }).waitFor()
  assert.deepEqual(pageErrors, [])
  await page.close()
})

test('a deleted file is restored with Undo or from the trash, or deleted from there permanently', async () => {
  const owner = await app.createOrg()
  const folder = (await create(app, owner, { source: 'folder', name: 'Drafts' })).file
  const file = await upload(app, owner, 'text', { name: 'note.txt', parentId: folder.id })
  const inTrash = async () => (await listOf(owner, '&trashed=true')).map(({ name }) => name)
  const { page, pageErrors } = await open(owner, `/files/${folder.id}`)
  const remove = async () => {
    await row(page, 'note.txt').click({ position: { x: 200, y: 10 } })
    await page.keyboard.press('Delete')
    await page.getByRole('dialog').getByText('can be restored from the trash').waitFor()
    await page.getByRole('button', { name: 'Delete', exact: true }).click()
    await page.getByText('This folder is empty').waitFor()
  }
  await remove()
  await page.getByText('Moved “note.txt” to trash').waitFor()
  assert.deepEqual(await inTrash(), ['note.txt'])
  await page.getByRole('button', { name: 'Undo' }).click()
  await row(page, 'note.txt').waitFor()
  assert.deepEqual(await inTrash(), [])

  await page.getByRole('button', { name: 'Network drive' }).click()
  await page.getByRole('dialog').getByText(`${app.url}/dav/`).waitFor()
  await assertAccessible(page)
  await page.getByRole('button', { name: 'Done' }).click()

  await remove()
  await page.getByRole('link', { name: 'Trash' }).click()
  await row(page, 'note.txt').getByText('just now').waitFor()
  await assertAccessible(page)
  await page.getByRole('button', { name: 'Restore note.txt' }).click()
  await page.getByText('The trash is empty', { exact: true }).waitFor()
  assert.deepEqual(
    (await listOf(owner, `&parentId=${folder.id}`)).map(({ id }) => id),
    [file.id],
  )

  // A deletion by others appears without a reload.
  for (const id of [file.id, folder.id]) await app.call('DELETE', `/api/v1/files/${id}`, { as: owner })
  await page.getByRole('button', { name: 'Delete Drafts permanently' }).click()
  await page.getByRole('button', { name: 'Delete permanently', exact: true }).click()
  await page.getByText('Deleted “Drafts” permanently').waitFor()
  assert.equal(await row(page, 'Drafts').count(), 0)
  assert.deepEqual(await inTrash(), ['note.txt'])
  await page.getByRole('button', { name: 'Empty trash' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Empty trash' }).click()
  await page.getByText('The trash is empty', { exact: true }).waitFor()
  assert.deepEqual(await inTrash(), [])
  assert.deepEqual(pageErrors, [])
})

test('Undo of a deletion says so when the file was deleted permanently', async () => {
  const owner = await app.createOrg()
  const file = await upload(app, owner, 'text', { name: 'note.txt' })
  const { page } = await open(owner, '/files')
  await row(page, 'note.txt').click({ position: { x: 200, y: 10 } })
  await page.keyboard.press('Delete')
  await page.getByRole('button', { name: 'Delete', exact: true }).click()
  const undo = page.getByRole('button', { name: 'Undo' })
  // Messages stay while they have the focus.
  await undo.focus()
  await app.call('DELETE', `/api/v1/files/${file.id}?permanent=true`, { as: owner })
  await undo.press('Enter')
  await page.getByText('It is no longer in the trash').waitFor()
})

test('a list of 100,000 files renders only its visible rows', async () => {
  const owner = await app.createOrg()
  const folder = (await create(app, owner, { source: 'folder', name: 'Many' })).file
  await fillFolder(app, owner, folder.id, 100_000)
  const { page, pageErrors } = await open(owner, `/files/${folder.id}`)
  await page.getByText('100,000', { exact: true }).waitFor()
  const grid = page.getByRole('grid')
  assert.equal(await grid.getAttribute('aria-rowcount'), '100001')
  assert.ok((await page.getByRole('row').count()) < 80)
  await grid.focus()
  await page.keyboard.press('End')
  await row(page, 'file 100000.txt').waitFor()
  assert.ok((await page.getByRole('row').count()) < 80)
  assert.deepEqual(pageErrors, [])
})

test('files of another org cannot be seen by list, by URL or by search', async () => {
  const [ours, theirs] = [await app.createOrg('Ours'), await app.createOrg('Theirs')]
  const folder = (await create(app, theirs, { source: 'folder', name: 'Their secret folder' })).file
  const file = await upload(app, theirs, 'classified', { name: 'secret plan.txt', parentId: folder.id })
  const { page } = await open(ours, '/files')
  await page.getByText('No files yet').waitFor()
  for (const path of [`/files/${folder.id}`, `/files?open=${file.id}`]) {
    await page.goto(app.url + path)
    await page.getByText('Not found', { exact: true }).first().waitFor()
    assert.doesNotMatch(await page.content(), /secret (?:plan|folder)|classified/i)
  }
  await page.goto(`${app.url}/?org=${theirs.orgId}`)
  await page.getByRole('button', { name: 'Stay in Ours' }).click()
  await page.getByText('Ours').first().waitFor()
  await page.getByRole('heading', { level: 1 }).waitFor()
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox').fill('secret')
  await page.getByText('No results for').waitFor()
  assert.equal(await page.getByText('Theirs').count(), 0)
})

test('a folder is restricted in its menu, has a lock in the list and the path, and disappears for others', async () => {
  const owner = await app.createOrg()
  const member = await app.createUser(owner)
  const made = async (name: string, parentId?: string): Promise<string> =>
    (await create(app, owner, { source: 'folder', name, parentId })).file.id
  const salaries = await made('Salaries')
  await made('Archive', salaries)
  const { page, pageErrors } = await open(owner, '/files')
  await row(page, 'Salaries').click({ button: 'right' })
  await page.getByRole('menuitem', { name: 'Manage access…' }).click()
  const dialog = page.getByRole('dialog', { name: 'Access to “Salaries”' })
  await dialog.getByRole('radio', { name: 'Selected people, workspaces and roles' }).check()
  await dialog.getByLabel('Add access').selectOption({ label: 'All billing managers' })
  await dialog.getByLabel('Add access').selectOption({ label: 'All members' })
  await dialog.getByLabel('Access of All billing managers').selectOption('write')
  await dialog.getByRole('button', { name: 'Remove All members' }).click()
  await assertAccessible(page)
  await dialog.getByRole('button', { name: 'Save' }).click()
  await row(page, 'Salaries').getByRole('img', { name: 'Restricted' }).waitFor()
  const { body } = await app.call('GET', `/api/v1/files/${salaries}/access`, { as: owner })
  assert.deepEqual(
    body.data.grants.map(({ subject, access }: { subject: string; access: string }) => [subject, access]),
    [['billing_manager', 'write']],
  )
  await row(page, 'Salaries').getByRole('link').click()
  await page.getByRole('navigation', { name: 'Path' }).getByRole('img', { name: 'Restricted' }).waitFor()
  await row(page, 'Archive').click({ button: 'right' })
  await page.getByRole('menuitem', { name: 'Manage access…' }).click()
  const inner = page.getByRole('dialog', { name: 'Access to “Archive”' })
  await inner.getByRole('region', { name: 'Inherited restrictions' }).getByText('All billing managers').waitFor()
  await assertAccessible(page)
  assert.deepEqual(pageErrors, [])
  const others = await open(member, '/files')
  await others.page.getByText('No files yet').waitFor()
  assert.equal(await row(others.page, 'Salaries').count(), 0)
})

test('saving the access of a folder does not give it back to a role that another person removed meanwhile', async () => {
  const owner = await app.createOrg()
  const { id } = (await create(app, owner, { source: 'folder', name: 'Salaries' })).file
  const path = `/api/v1/files/${id}/access`
  const role = (subject: string, access: string) => ({ kind: 'role', subject, access })
  const put = (grants: object[]) => app.call('PUT', path, { as: owner, json: { restricted: true, grants } })
  await put([role('billing_manager', 'read'), role('admin', 'read')])
  const { page } = await open(owner, '/files')
  await row(page, 'Salaries').click({ button: 'right' })
  await page.getByRole('menuitem', { name: 'Manage access…' }).click()
  const dialog = page.getByRole('dialog', { name: 'Access to “Salaries”' })
  await dialog.getByLabel('Access of All admins').selectOption('write')
  await put([role('admin', 'read'), role('member', 'read')])
  const saved = page.waitForResponse((response) => response.request().method() === 'PUT')
  await dialog.getByRole('button', { name: 'Save' }).click()
  assert.equal((await saved).status(), 200)
  const { body } = await app.call('GET', path, { as: owner })
  assert.deepEqual(
    body.data.grants
      .map(({ subject, access }: { subject: string; access: string }) => `${subject} ${access}`)
      .toSorted(),
    ['admin write', 'member read'],
  )
})

test('a starred file is under Favorites, an opened one under Recent and on Home, and Storage leads down to folders', async () => {
  const owner = await app.createOrg()
  const folder = (await create(app, owner, { source: 'folder', name: 'Reports' })).file
  const inner = (await create(app, owner, { source: 'folder', name: '2026', parentId: folder.id })).file
  const picture = Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    'base64',
  )
  await upload(app, owner, picture, { name: 'dot.png', type: 'image/png', parentId: folder.id })
  await upload(app, owner, 'x'.repeat(3_000), { name: 'large.txt', parentId: inner.id })
  const member = await app.createUser(owner)
  const { page, pageErrors } = await open(member, `/files/${folder.id}`)
  await row(page, 'dot.png').locator('img[data-shown="true"]').waitFor()
  await row(page, 'dot.png').hover()
  await row(page, 'dot.png').getByRole('button', { name: 'Favorite: dot.png' }).click()
  await row(page, 'dot.png').getByRole('button', { name: 'Favorite: dot.png', pressed: true }).waitFor()
  await row(page, '2026').click({ button: 'right' })
  await page.getByRole('menuitem', { name: 'Add to favorites' }).click()
  const views = page.getByRole('navigation', { name: 'Views' })
  await views.getByRole('link', { name: 'Favorites' }).click()
  await page.getByRole('heading', { name: 'Favorites' }).waitFor()
  await row(page, 'Reports').getByText('dot.png').waitFor()
  await row(page, '2026').waitFor()
  await assertAccessible(page)
  await page.getByRole('button', { name: 'Show as grid' }).click()
  const tiles = page.getByRole('grid', { name: 'Favorites' })
  await tiles.getByRole('gridcell').filter({ hasText: 'dot.png' }).locator('img[data-shown="true"]').waitFor()
  await tiles.focus()
  await page.keyboard.press('ArrowRight')
  await page.getByRole('gridcell', { name: 'dot.png', selected: true }).waitFor()
  await assertAccessible(page)
  await page.getByRole('button', { name: 'Show as list' }).click()
  await row(page, 'dot.png').getByRole('link', { name: 'dot.png' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Remove from favorites' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Add to favorites' }).waitFor()
  await until(
    async () => (await listOf(member, '&recent=true')).map(({ name }) => name),
    (names) => names.includes('dot.png'),
  )
  await page.keyboard.press('Escape')
  await until(
    () => row(page, 'dot.png').count(),
    (count) => count === 0,
  )
  await views.getByRole('link', { name: 'Recent' }).click()
  await row(page, 'dot.png').waitFor()
  assert.equal(await row(page, 'large.txt').count(), 0)
  await assertAccessible(page)
  await views.getByRole('link', { name: 'Storage' }).click()
  await page.getByRole('link', { name: /Reports.*2 files/ }).click()
  await page.getByRole('link', { name: /2026.*1 file/ }).waitFor()
  await assertAccessible(page)
  await page.getByRole('link', { name: /Files in this folder/ }).click()
  await row(page, 'dot.png').waitFor()
  await page.goto(`${app.url}/`)
  await page.getByRole('heading', { name: 'Recent files' }).waitFor()
  await page.getByRole('link', { name: /dot\.png/ }).click()
  await page.getByRole('dialog', { name: 'dot.png' }).waitFor()
  assert.deepEqual(pageErrors, [])
})
