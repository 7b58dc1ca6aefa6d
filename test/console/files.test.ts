import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdtemp, mkdir, open as openFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { fillFolder, startConsole } from '../support/console.ts'
import { create, upload } from '../support/files.ts'
import type { TestActor } from '../harness.ts'
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
  test('files and whole folders arrive with their folders, each with its progress', async () => {
    const owner = await app.createOrg()
    const { page, faults } = await open(owner, '/files')
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
    assert.deepEqual(faults, [])
  })

  test('a file of 100 MB arrives whole', async () => {
    const owner = await app.createOrg()
    const { page, faults } = await open(owner, '/files')
    const path = join(scratch, 'large.bin')
    const bytes = Buffer.alloc(104_857_600, 'atrium')
    await writeFile(path, bytes)
    await page.getByLabel('Files to upload').first().setInputFiles(path)
    await page.getByRole('progressbar', { name: 'Upload of large.bin' }).waitFor()
    await page.getByRole('heading', { name: '1 uploaded' }).waitFor({ timeout: 60_000 })
    await row(page, 'large.bin').getByText('100 MB').waitFor()
    const [file] = await listOf(owner)
    assert.equal(file?.contentHash, createHash('sha256').update(bytes).digest('hex'))
    assert.deepEqual(faults, [])
  })

  test('one that is too large is refused in the words of the API, and can be cleared', async () => {
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

  test('one that is cancelled leaves nothing behind', async () => {
    const owner = await app.createOrg()
    const { page } = await open(owner, '/files')
    // Never let through: it is on its way until it is cancelled.
    await page.route('**/api/v1/files', (route) => (route.request().method() === 'POST' ? undefined : route.fallback()))
    await page
      .getByLabel('Files to upload')
      .first()
      .setInputFiles({ name: 'slow.txt', mimeType: 'text/plain', buffer: Buffer.from('slow') })
    await page.getByRole('button', { name: 'Cancel slow.txt' }).click()
    await page.getByText('Cancelled').waitFor()
    assert.deepEqual(await listOf(owner), [])
  })

  test('files are dropped onto a folder from the desktop', async () => {
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
  test('is made, renamed, and deleted after a question', async () => {
    const owner = await app.createOrg()
    const { page, faults } = await open(owner, '/files')
    await page.getByText('No files yet').waitFor()
    await page.getByRole('button', { name: 'New folder' }).click()
    await page.getByLabel('Name', { exact: true }).fill('Drafts')
    await page.getByRole('button', { name: 'Create' }).click()
    await row(page, 'Drafts').click()
    await page.keyboard.press('F2')
    await page.getByLabel('Name', { exact: true }).fill('Texts')
    await page.keyboard.press('Enter')
    await row(page, 'Texts').click()
    await page.keyboard.press('Delete')
    await page.getByRole('dialog').getByText('The folder goes with all that is in it').waitFor()
    await page.getByRole('button', { name: 'Delete', exact: true }).click()
    await page.getByText('No files yet').waitFor()
    assert.deepEqual(await listOf(owner), [])
    assert.deepEqual(faults, [])
  })

  test('takes files that are dragged into it, and gives them back', async () => {
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

  test('can be chosen to move into by keyboard alone', async () => {
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

  test('is searched as one types, and Back undoes the search', async () => {
    const owner = await app.createOrg()
    const folder = (await create(app, owner, { source: 'folder', name: 'Deep' })).file
    await upload(app, owner, 'a', { name: 'needle.txt', parentId: folder.id })
    await upload(app, owner, 'b', { name: 'hay.txt' })
    const { page } = await open(owner, '/files')
    await row(page, 'hay.txt').waitFor()
    await page.getByRole('searchbox').fill('needle')
    await row(page, 'needle.txt').waitFor()
    await until('the hay is gone', async () => (await row(page, 'hay.txt').count()) === 0)
    assert.match(page.url(), /\?search=needle$/)
    await page.goBack()
    await row(page, 'hay.txt').waitFor()
    assert.equal(await page.getByRole('searchbox').inputValue(), '')
  })

  test('gets tags and links', async () => {
    const owner = await app.createOrg()
    const file = await upload(app, owner, 'text', { name: 'note.txt' })
    const { page } = await open(owner, '/files')
    await row(page, 'note.txt').click({ button: 'right' })
    await page.getByRole('menuitem', { name: 'Tags' }).click()
    await page.getByLabel('Add a tag').fill('urgent')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Save tags' }).click()
    await row(page, 'note.txt').getByText('urgent').waitFor()
    await page.getByRole('button', { name: 'Actions for note.txt' }).click()
    await page.getByRole('menuitem', { name: 'Create a link' }).click()
    await page.getByRole('button', { name: 'Create the link' }).click()
    await until('the link is listed', async () => (await row(page, 'note.txt').count()) === 2)
    const files = await listOf(owner)
    assert.deepEqual(files.find(({ id }) => id === file.id)?.tags, ['urgent'])
    assert.equal(files.filter(({ source }) => source === 'link').length, 1)
  })
})

test('100,000 files are one list that draws only what is in sight', async () => {
  const owner = await app.createOrg()
  const folder = (await create(app, owner, { source: 'folder', name: 'Many' })).file
  await fillFolder(app, owner, folder.id, 100_000)
  const { page, faults } = await open(owner, `/files/${folder.id}`)
  await page.getByText('100,000', { exact: true }).waitFor()
  const grid = page.getByRole('grid')
  assert.equal(await grid.getAttribute('aria-rowcount'), '100000')
  assert.ok((await page.getByRole('row').count()) < 80)
  await grid.focus()
  await page.keyboard.press('End')
  await row(page, 'file 100000.txt').waitFor()
  assert.ok((await page.getByRole('row').count()) < 80)
  assert.deepEqual(faults, [])
})

test("another org's files cannot be seen, by list, by address or by search", async () => {
  const [ours, theirs] = [await app.createOrg('Ours'), await app.createOrg('Theirs')]
  const folder = (await create(app, theirs, { source: 'folder', name: 'Their secret folder' })).file
  const file = await upload(app, theirs, 'classified', { name: 'secret plan.txt', parentId: folder.id })
  const { page } = await open(ours, '/files')
  await page.getByText('No files yet').waitFor()
  for (const path of [`/files/${folder.id}`, `/files?open=${file.id}`]) {
    await page.goto(app.url + path)
    await page.getByText('There is nothing here').first().waitFor()
    assert.doesNotMatch(await page.content(), /secret/i)
  }
  await page.goto(`${app.url}/?org=${theirs.orgId}`)
  await page.getByRole('button', { name: 'Stay in Ours' }).click()
  await page.getByText('Ours').first().waitFor()
  await page.getByRole('heading', { level: 1 }).waitFor()
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox').fill('secret')
  await page.getByText('Nothing is called').waitFor()
  assert.equal(await page.getByText('Theirs').count(), 0)
})
