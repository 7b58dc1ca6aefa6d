import assert from 'node:assert/strict'
import { readFile, readdir } from 'node:fs/promises'
import { test } from 'node:test'
import { waitForIdleNetwork } from '../support/browser.ts'
import { assertAccessible, settle, startConsole } from '../support/console.ts'
import { makeSample } from '../screenshots/sample.ts'
import { shots } from '../screenshots/shots.ts'

const { app, open, visit } = await startConsole()
const sample = await makeSample(app)
const dist = new URL('../../console/dist/', import.meta.url)

const desktop = { width: 1280, height: 800 }
const phone = { width: 360, height: 740 }
const signedIn = await open(sample.owner, '/', { size: desktop })
const signedOut = await visit('/sign-in', { size: desktop })

/** The controls of tables and grids that are outside of the screen. Tabs may scroll, because the open one is visible. */
const offScreen = `[...document.querySelectorAll('table, [role=grid]')]
  .flatMap((table) => [...table.querySelectorAll('a, button, input, select')])
  .filter((control) => {
    const { left, right, width } = control.getBoundingClientRect()
    return width > 1 && (left < 0 || right > innerWidth)
  })
  .map((control) => control.getAttribute('aria-label') ?? control.textContent)`

/** Cells of tables whose text has a letter or two on each line. */
const squeezed = `[...document.querySelectorAll('td, [role=gridcell]')]
  .filter((cell) => cell.innerText.length > 4 && cell.clientWidth > 0 && cell.clientWidth < 40)
  .map((cell) => cell.innerText)`

// One load of a page serves all three checks: loading is what takes the time.
for (const shot of shots.filter((one) => one.phone !== true)) {
  test(`the console page "${shot.name}" is accessible in light and dark, logs no error and fits a phone`, async () => {
    const { page, pageErrors } = shot.signedOut === true ? signedOut : signedIn
    await page.goto(app.url + (typeof shot.path === 'string' ? shot.path : shot.path(sample)))
    if (shot.prepare) {
      await waitForIdleNetwork(page)
      await shot.prepare(page, sample)
    }
    await assertAccessible(page)
    await page.emulateMedia({ colorScheme: 'dark' })
    // Only the colors differ.
    await assertAccessible(page, ['color-contrast'])
    await page.emulateMedia({ colorScheme: 'light' })
    if (shot.signedOut !== true && shot.prepare === undefined) {
      await page.setViewportSize(phone)
      await settle(page)
      const overflow = Number(await page.evaluate('document.documentElement.scrollWidth - innerWidth'))
      assert.ok(overflow <= 0, `${shot.name} is ${overflow} pixels wider than ${phone.width}`)
      assert.deepEqual(await page.evaluate(offScreen), [], `controls of ${shot.name} are off the screen`)
      assert.deepEqual(await page.evaluate(squeezed), [], `cells of ${shot.name} are too narrow for their text`)
      await page.setViewportSize(desktop)
    }
    assert.deepEqual(pageErrors.splice(0), [])
  })
}

test('the accessibility check reports an image without alternative text', async () => {
  const { page } = await visit('/sign-in')
  await page.evaluate(`document.body.append(new Image(20, 20))`)
  await assert.rejects(assertAccessible(page), /image-alt/)
})

test('the first load of Home is at most 130 KB of compressed script', async () => {
  const { page } = await open(sample.owner, '/')
  await waitForIdleNetwork(page)
  const scripts = (await page.evaluate(
    `performance.getEntriesByType('resource').filter((one) => one.name.includes('/assets/') && one.name.endsWith('.js')).map((one) => one.encodedBodySize)`,
  )) as number[]
  assert.ok(scripts.length > 1)
  const kilobytes = scripts.reduce((sum, size) => sum + size, 0) / 1_024
  assert.ok(kilobytes <= 130, `${kilobytes.toFixed(0)} KB`)
})

test('every script and style is served compressed, and for good under its name', async () => {
  for (const name of (await readdir(new URL('assets/', dist))).filter((one) => /-[\w-]{8}\.(?:js|css)$/.test(one))) {
    const answer = await fetch(`${app.url}/assets/${name}`, { headers: { 'accept-encoding': 'br' } })
    assert.equal(answer.headers.get('content-encoding'), 'br', name)
    assert.match(answer.headers.get('cache-control') ?? '', /immutable/)
    await answer.arrayBuffer()
  }
  const { status, headers, body } = await app.call('GET', '/assets/none-12345678.js')
  assert.equal(status, 404)
  assert.equal(body.error.code, 'NOT_FOUND')
  assert.equal(headers.get('cache-control'), 'no-store')
  assert.match(await readFile(new URL('index.html', dist), 'utf8'), /type="module"/)
})

test('nothing but the built files is served', async () => {
  for (const path of [
    '/assets/../index.html.br',
    '/assets/%2e%2e/%2e%2e/package.json',
    '/assets/..%2f.built-from',
    '/.built-from',
  ]) {
    const { status, text } = await app.call('GET', path)
    assert.ok(status === 404 || status === 400, path)
    assert.doesNotMatch(text, /atrium-console/)
  }
})
