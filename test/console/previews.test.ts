import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { assertAccessible, startConsole } from '../support/console.ts'
import { docx, escapeXml } from '../support/documents.ts'
import { create, upload } from '../support/files.ts'
import { picture } from '../screenshots/sample.ts'
import { until } from '../support/until.ts'

const { app, open, visit } = await startConsole()
const owner = await app.createOrg()
const { page, pageErrors } = await open(owner, '/files')

const add = async (name: string, type: string, bytes: string | Buffer): Promise<string> =>
  (await upload(app, owner, bytes, { name, type })).id as string

const show = async (id: string, name: string) => {
  await page.goto(`${app.url}/files?open=${id}`)
  const dialog = page.getByRole('dialog', { name })
  await dialog.waitFor()
  return dialog
}

/** A WAV file with one second of silence. */
const wav = (): Buffer => {
  const [rate, header] = [8_000, Buffer.alloc(44)]
  header.write('RIFF', 0)
  header.writeUInt32LE(36 + rate, 4)
  header.write('WAVEfmt ', 8)
  header.writeUInt32LE(16, 16)
  header.set([1, 0, 1, 0], 20)
  header.writeUInt32LE(rate, 24)
  header.writeUInt32LE(rate, 28)
  header.set([1, 0, 8, 0], 32)
  header.write('data', 36)
  header.writeUInt32LE(rate, 40)
  return Buffer.concat([header, Buffer.alloc(rate, 128)])
}

const isLoaded = (page: Page, selector: string, property: string): Promise<unknown> =>
  page.evaluate(`document.querySelector('[role=dialog] ${selector}')?.${property} > 0`)

test('a CSV preview is a grid that renders only its visible cells', async () => {
  const lines = Array.from({ length: 900 }, (_, row) => `row ${row},${row * 2}`)
  const dialog = await show(await add('numbers.csv', 'text/csv', ['Name,Value', ...lines].join('\n')), 'numbers.csv')
  await dialog.getByRole('cell', { name: 'row 3', exact: true }).waitFor()
  assert.equal(await dialog.getByRole('table').getAttribute('aria-rowcount'), '901')
  assert.ok((await dialog.getByRole('row').count()) < 60)
  await dialog.getByRole('table').focus()
  await page.keyboard.press('End')
  await dialog.getByRole('cell', { name: 'row 899', exact: true }).waitFor()
})

test('a document preview shows the text, and markup in it stays text', async () => {
  const body = `<w:p><w:r><w:t>${escapeXml('<script>window.hit = 1</script> Terms & conditions')}</w:t></w:r></w:p>`
  const type = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'
  const dialog = await show(await add('terms.docx', type, docx({ body })), 'terms.docx')
  await dialog.getByText('<script>window.hit = 1</script> Terms & conditions').waitFor()
  assert.equal(await page.evaluate('window.hit'), undefined)
})

test('an HTML file is shown as text and runs no script', async () => {
  const dialog = await show(await add('page.html', 'text/html', '<script>window.hit = 1</script>'), 'page.html')
  await dialog.getByText('<script>window.hit = 1</script>').waitFor()
  assert.equal(await page.evaluate('window.hit'), undefined)
})

test('a text and a document with a hundred thousand lines are laid out in parts, of which the visible ones suffice', async () => {
  const lines = 100_000
  for (const [name, type, text, element] of [
    ['lines.txt', 'text/plain', 'a\n'.repeat(lines), 'pre > span'],
    ['lines.rtf', 'application/rtf', String.raw`{\rtf1 ${String.raw`a\par `.repeat(lines)}}`, 'article'],
  ] as const) {
    const dialog = await show(await add(name, type, text), name)
    await dialog.locator(element).waitFor()
    const shown = await page.evaluate<{ characters: number; parts: string[] }>(`(() => {
      const { textContent, children } = document.querySelector('[role=dialog] ${element}')
      return {
        characters: textContent.replaceAll('\\n', '').length,
        parts: Array.from(children, (part) => getComputedStyle(part).contentVisibility),
      }
    })()`)
    assert.equal(shown.characters, lines, name)
    assert.ok(shown.parts.length > 20, `${name}: ${shown.parts.length}`)
    assert.deepEqual([...new Set(shown.parts)], ['auto'], name)
  }
})

test('images and audio are loaded from the server', async () => {
  await show(await add('waves.png', 'image/png', picture(80, 50)), 'waves.png')
  await until('the image is loaded', async () => (await isLoaded(page, 'img', 'naturalWidth')) === true)
  await show(await add('silence.wav', 'audio/wav', wav()), 'silence.wav')
  await until('the audio is loaded', async () => (await isLoaded(page, 'audio', 'duration')) === true)
})

test('a link shows the preview of its target, and a message when the target was deleted', async () => {
  const target = await add('target.txt', 'text/plain', 'what the link points at')
  const link = (await create(app, owner, { source: 'link', targetFileId: target, name: 'shortcut' })).file.id as string
  await (await show(link, 'shortcut')).getByText('what the link points at').waitFor()
  assert.deepEqual(pageErrors, [])
  await app.call('DELETE', `/api/v1/files/${target}`, { as: owner })
  await (await show(link, 'shortcut')).getByText('The target of this link was deleted.').waitFor()
  // The browser itself logs the expected 404.
  pageErrors.length = 0
})

test('a file without a preview can be downloaded under its name', async () => {
  const dialog = await show(await add('data.bin', 'application/octet-stream', Buffer.from([1, 2, 3])), 'data.bin')
  await dialog.getByText('No preview').waitFor()
  const downloading = page.waitForEvent('download')
  await dialog.getByRole('button', { name: 'Download' }).last().click()
  const download = await downloading
  assert.equal(download.suggestedFilename(), 'data.bin')
})

test('arrow keys open the next file, Escape closes the preview, and the URL follows', async () => {
  const mine = await app.createOrg()
  const own = await open(mine, '/files')
  for (const name of ['a.txt', 'b.txt']) await upload(app, mine, name, { name })
  await own.page.reload()
  await own.page.getByRole('link', { name: 'a.txt' }).click()
  await own.page.getByRole('dialog', { name: 'a.txt' }).waitFor()
  await own.page.keyboard.press('ArrowRight')
  await own.page.getByRole('dialog', { name: 'b.txt' }).waitFor()
  await own.page.keyboard.press('Escape')
  await own.page.getByRole('dialog').waitFor({ state: 'detached' })
  assert.equal(own.page.url(), `${app.url}/files`)
  assert.deepEqual(own.pageErrors, [])
})

test('a new version is uploaded, labelled and deleted in the preview, and an older one is restored', async () => {
  const mine = await app.createOrg()
  const { id } = await upload(app, mine, 'the first text', { name: 'notes.txt' })
  const own = await open(mine, `/files?open=${id}`)
  const dialog = own.page.getByRole('dialog', { name: 'notes.txt' })
  await dialog.getByText('the first text').waitFor()
  await dialog.getByLabel('New version of notes.txt').setInputFiles({
    name: 'other.txt',
    mimeType: 'text/plain',
    buffer: Buffer.from('the second text'),
  })
  await dialog.getByText('the second text').waitFor()
  const versions = dialog.getByRole('region', { name: 'Versions' })
  await versions.getByText('Version 2').waitFor()
  const choose = async (version: number, action: string): Promise<void> => {
    await versions.getByRole('button', { name: `Actions for version ${version}` }).click()
    await own.page.getByRole('menuitem', { name: action }).click()
  }
  await choose(1, 'Add label')
  await own.page.getByLabel('Label', { exact: true }).fill('Sent to the customer')
  await own.page.getByRole('button', { name: 'Save label' }).click()
  await versions.getByText('Sent to the customer').waitFor()
  await assertAccessible(own.page)
  await choose(1, 'Restore')
  await dialog.getByText('the first text').waitFor()
  await versions.getByText('Version 3').waitFor()
  await choose(2, 'Delete')
  await own.page.getByRole('button', { name: 'Delete version' }).click()
  await versions.getByText('Version 2').waitFor({ state: 'detached' })
  const downloading = own.page.waitForEvent('download')
  await choose(1, 'Download')
  assert.equal((await downloading).suggestedFilename(), 'notes.txt')
  const listed = await app.call('GET', `/api/v1/files/${id}/versions`, { as: mine })
  assert.deepEqual(
    listed.body.data.items.map(({ version }: { version: number }) => version),
    [3, 1],
  )
  assert.deepEqual(own.pageErrors, [])
})

test('a HEIC photo, which browsers do not display, is shown in the preview and to visitors of a share link', async () => {
  const bytes = await readFile(new URL('../fixtures/pictures/turned.heic', import.meta.url))
  const id = await add('IMG_0042.HEIC', 'image/heic', bytes)
  const before = pageErrors.length
  await show(id, 'IMG_0042.HEIC')
  await until(
    'the photo is shown',
    async () => (await isLoaded(page, 'img[alt="IMG_0042.HEIC"]', 'naturalWidth')) === true,
  )
  const created = await app.call('POST', `/api/v1/files/${id}/shares`, { as: owner, json: { permission: 'view' } })
  const visitor = await visit(new URL(created.body.data.url).pathname)
  await until(
    'the visitor sees the photo',
    async () => (await visitor.page.evaluate("document.querySelector('img.shown')?.naturalWidth > 0")) === true,
  )
  assert.deepEqual([...pageErrors.slice(before), ...visitor.pageErrors], [])
})

test('a file is shared by a link that a visitor without an account opens with its password, until it is revoked', async () => {
  const mine = await app.createOrg()
  const { id } = await upload(app, mine, 'the shared text', { name: 'offer.txt' })
  const own = await open(mine, `/files?open=${id}`)
  await own.page
    .getByRole('dialog', { name: 'offer.txt' })
    .getByRole('button', { name: 'Actions', exact: true })
    .click()
  await own.page.getByRole('menuitem', { name: 'Share…' }).click()
  await own.page.getByLabel('Password').fill('correct horse')
  await own.page.getByRole('button', { name: 'Create share link' }).click()
  const url = (await own.page.getByRole('status', { name: 'Share link' }).textContent()) ?? ''
  await own.page.getByRole('listitem').filter({ hasText: 'View and download' }).waitFor()
  await assertAccessible(own.page)
  const visitor = await visit(new URL(url).pathname)
  assert.doesNotMatch(await visitor.page.content(), /offer|shared text/)
  await assertAccessible(visitor.page)
  await visitor.page.getByLabel('Password').fill('correct horse')
  await visitor.page.getByRole('button', { name: 'Continue' }).click()
  await visitor.page.getByText('the shared text').waitFor()
  await assertAccessible(visitor.page)
  const downloading = visitor.page.waitForEvent('download')
  await visitor.page.getByRole('link', { name: 'Download' }).click()
  assert.equal((await downloading).suggestedFilename(), 'offer.txt')
  await own.page.getByRole('button', { name: 'Revoke link' }).click()
  await own.page.getByText('Share link revoked').waitFor()
  await visitor.page.reload()
  await visitor.page.getByRole('heading', { name: 'This link does not work' }).waitFor()
  assert.deepEqual(own.pageErrors, [])
})
