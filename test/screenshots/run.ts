// `npm run screenshots`: takes a screenshot of every page of the console, in both themes: desktop pages with 1280 × 800 px,
// phone pages with 390 × 844 px. They are written to docs/screenshots, in a folder for each area. An argument limits the
// run to names that contain it: `npm run screenshots -- files`.
import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { collectPageErrors } from '../support/browser.ts'
import { settle, startConsole } from '../support/console.ts'
import { makeSample } from './sample.ts'
import { shots } from './shots.ts'

const root = fileURLToPath(new URL('../../docs/screenshots/', import.meta.url))
const [filter = ''] = process.argv.slice(2)

const { app, open, visit } = await startConsole()
const sample = await makeSample(app)

for (const theme of ['light', 'dark']) {
  const dark = theme === 'dark'
  const signedIn = await open(sample.owner, '/', { dark })
  const signedOut = await visit('/sign-in', { dark })
  for (const shot of shots.filter(({ name, isTestOnly }) => isTestOnly !== true && name.includes(filter))) {
    const url = typeof shot.path === 'string' ? shot.path : shot.path(sample)
    // The area is the first part of the URL.
    const path = `${url.split(/[/?]/)[1] || 'home'}/${shot.name}-${theme}.png`
    test(`takes the screenshot ${path} without errors in the page`, async () => {
      const { context } = shot.signedOut === true ? signedOut : signedIn
      const page = await context.newPage()
      const pageErrors = collectPageErrors(page)
      await page.setViewportSize(shot.phone === true ? { width: 390, height: 844 } : { width: 1280, height: 800 })
      await page.goto(app.url + url)
      await settle(page)
      await shot.prepare?.(page, sample)
      await settle(page)
      const file = join(root, path)
      await mkdir(dirname(file), { recursive: true })
      await writeFile(file, await page.screenshot())
      await page.close()
      assert.deepEqual(pageErrors, [])
    })
  }
}
