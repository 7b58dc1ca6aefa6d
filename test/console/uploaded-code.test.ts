import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startConsole } from '../support/console.ts'
import { pathOf, upload } from '../support/files.ts'

const { app, open } = await startConsole()
const owner = await app.createOrg()

const urlsOf = async (id: string): Promise<string[]> => {
  const { headers } = await app.call('GET', `/api/v1/files/${id}?download=true`, { as: owner })
  return [`/api/v1/files/${id}?download=true&inline=true`, pathOf(app, headers.get('location') ?? '')]
}

test('an uploaded script does not run in the console, whichever of its URLs is loaded', async () => {
  const { page } = await open(owner, '/files')
  const script = await upload(app, owner, 'globalThis.hit = 1', { name: 'hit.js', type: 'text/javascript' })
  for (const url of await urlsOf(script.id)) {
    const outcome = await page.evaluate(`import(${JSON.stringify(url)}).then(() => 'ran', (error) => error.name)`)
    assert.equal(outcome, 'TypeError', url)
  }
  assert.equal(await page.evaluate('globalThis.hit'), undefined)
})

test('an uploaded style sheet does not change the console, whichever of its URLs is loaded', async () => {
  const { page } = await open(owner, '/files')
  const sheet = await upload(app, owner, 'body { outline: 7px solid red }', { name: 'hit.css', type: 'text/css' })
  for (const url of await urlsOf(sheet.id)) {
    const outcome = await page.evaluate(`new Promise((resolve) => {
      const link = document.createElement('link')
      link.rel = 'stylesheet'
      link.onload = () => resolve('applied')
      link.onerror = () => resolve('rejected')
      link.href = ${JSON.stringify(url)}
      document.head.append(link)
    })`)
    assert.equal(outcome, 'rejected', url)
  }
  assert.notEqual(await page.evaluate('getComputedStyle(document.body).outlineWidth'), '7px')
})
