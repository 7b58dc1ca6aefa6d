import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startConsole } from '../support/console.ts'
import { docx } from '../support/documents.ts'
import { upload } from '../support/files.ts'

const { app, open, visit } = await startConsole()
const owner = await app.createOrg()

const docxType = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'

/** Evaluates to `allowed`, or to the name of the error that the statement throws. */
const attempt = (statement: string): string =>
  `(() => { try { ${statement}; return 'allowed' } catch (error) { return error.name } })()`

const sinks: [string, string][] = [
  ['innerHTML', `document.createElement('div').innerHTML = '<img src=x onerror=alert(1)>'`],
  ['outerHTML', `document.querySelector('#root, body > *').outerHTML = '<p></p>'`],
  ['insertAdjacentHTML', `document.body.insertAdjacentHTML('beforeend', '<p></p>')`],
  ['document.write', `document.write('<p></p>')`],
  ['DOMParser', `new DOMParser().parseFromString('<p></p>', 'text/html')`],
  ['srcdoc', `document.createElement('iframe').srcdoc = '<p></p>'`],
  ['the URL of a script', `document.createElement('script').src = '/assets/x.js'`],
  ['the text of a script', `document.createElement('script').textContent = 'alert(1)'`],
  ['a policy with another name', `trustedTypes.createPolicy('other', { createHTML: (text) => text })`],
  ['a second policy with the same name', `trustedTypes.createPolicy('atrium-preview', { createHTML: (text) => text })`],
  ['a default policy', `trustedTypes.createPolicy('default', { createHTML: (text) => text })`],
]

test('text that is assigned to an HTML or script sink in the console throws a TypeError', async () => {
  const { page } = await open(owner, '/files')
  await page.getByRole('heading', { name: 'Files' }).first().waitFor()
  // The module that shows previews creates the policy.
  const { id } = await upload(app, owner, docx({ body: '' }), { name: 'empty.docx', type: docxType })
  await page.goto(`${app.url}/files?open=${id}`)
  await page.getByRole('region', { name: /Content of/ }).waitFor()
  for (const [name, statement] of sinks) assert.equal(await page.evaluate(attempt(statement)), 'TypeError', name)
  assert.equal(await page.evaluate(`document.querySelectorAll('img[src=x]').length`), 0)
})

test('a document preview is shown as elements under Trusted Types', async () => {
  const { page, pageErrors } = await open(owner, '/files')
  const body =
    '<w:p><w:pPr><w:pStyle w:val="Heading1"/></w:pPr><w:r><w:t>Terms</w:t></w:r></w:p>' +
    '<w:p><w:r><w:rPr><w:b/></w:rPr><w:t>bold &amp; &lt;img src=x onerror=alert(1)&gt;</w:t></w:r></w:p>' +
    '<w:tbl><w:tr><w:tc><w:p><w:r><w:t>cell</w:t></w:r></w:p></w:tc></w:tr></w:tbl>'
  const { id } = await upload(app, owner, docx({ body }), { name: 'terms.docx', type: docxType })
  await page.goto(`${app.url}/files?open=${id}`)
  await page.locator('article strong', { hasText: 'bold & <img src=x onerror=alert(1)>' }).waitFor()
  await page.locator('article td', { hasText: 'cell' }).waitFor()
  assert.equal(await page.locator('article img').count(), 0)
  assert.deepEqual(pageErrors, [])
})

test('a preview with markup that the server does not write is shown as text', async () => {
  const { page, pageErrors } = await open(owner, '/files')
  const { id } = await upload(app, owner, docx({ body: '' }), { name: 'hostile.docx', type: docxType })
  const preview = { kind: 'document', name: 'hostile.docx', text: 'the text', html: '<p onclick="x()">the HTML</p>' }
  await page.route(`**/files/${id}/preview`, (route) =>
    route.fulfill({ json: { success: true, data: { ...preview, mimeType: docxType, truncated: false } } }),
  )
  await page.goto(`${app.url}/files?open=${id}`)
  await page.locator('pre', { hasText: 'the text' }).waitFor()
  assert.equal(await page.getByText('the HTML').count(), 0)
  assert.deepEqual(pageErrors, [])
})

test('the API reference shows its operations under Trusted Types', async () => {
  const { page, pageErrors } = await visit('/docs')
  await page.getByText('Retrieve the card of an agent').first().waitFor()
  assert.deepEqual(pageErrors, [])
  assert.equal(await page.evaluate(attempt(sinks[0]![1])), 'TypeError')
  assert.equal(await page.evaluate(attempt(`document.createElement('div').innerHTML = '&amp;<b>'`)), 'TypeError')
})
