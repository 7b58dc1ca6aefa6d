// `npm run screenshots`: takes a screenshot of every page of the console. Desktop pages (1280 × 800 px) are written to
// docs/screenshots/light and dark, phone pages (390 × 844 px, both themes) to docs/screenshots/phone. An argument limits
// the run to names that contain it: `npm run screenshots -- files`.
import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { collectPageErrors } from '../support/browser.ts'
import { settle, startConsole } from '../support/console.ts'
import { makeSample } from './sample.ts'
import { shots } from './shots.ts'
import type { Shot } from './shots.ts'

const root = fileURLToPath(new URL('../../docs/screenshots/', import.meta.url))
const [filter = ''] = process.argv.slice(2)

const pathOf = ({ name, phone }: Shot, theme: string): string =>
  phone === true ? `phone/${name.replace(/-phone$/, '')}-${theme}.png` : `${theme}/${name}.png`

const { app, open, visit } = await startConsole()
const sample = await makeSample(app)

for (const theme of ['light', 'dark']) {
  const dark = theme === 'dark'
  const signedIn = await open(sample.owner, '/', { dark })
  const signedOut = await visit('/sign-in', { dark })
  for (const shot of shots.filter(({ name, isTestOnly }) => isTestOnly !== true && name.includes(filter))) {
    const path = pathOf(shot, theme)
    test(`takes the screenshot ${path} without errors in the page`, async () => {
      const { context } = shot.signedOut === true ? signedOut : signedIn
      const page = await context.newPage()
      const pageErrors = collectPageErrors(page)
      await page.setViewportSize(shot.phone === true ? { width: 390, height: 844 } : { width: 1280, height: 800 })
      await page.goto(app.url + (typeof shot.path === 'string' ? shot.path : shot.path(sample)))
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
