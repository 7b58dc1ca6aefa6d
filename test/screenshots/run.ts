// `npm run screenshots`: every page of the console, light and dark, into docs/screenshots. A name or part of one takes
// those only: `npm run screenshots -- files`.
import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { faultsOf } from '../support/browser.ts'
import { settle, startConsole } from '../support/console.ts'
import { makeSample } from './sample.ts'
import { shots } from './shots.ts'

const folder = fileURLToPath(new URL('../../docs/screenshots/', import.meta.url))
const [filter = ''] = process.argv.slice(2)

const { app, open, visit } = await startConsole()
const sample = await makeSample(app)
await mkdir(folder, { recursive: true })

for (const dark of [false, true]) {
  const signedIn = await open(sample.owner, '/', { dark })
  const signedOut = await visit('/sign-in', { dark })
  for (const shot of shots.filter(({ name }) => name.includes(filter))) {
    const name = `${shot.name}-${dark ? 'dark' : 'light'}.png`
    test(name, async () => {
      const { context } = shot.signedOut === true ? signedOut : signedIn
      const page = await context.newPage()
      const faults = faultsOf(page)
      await page.setViewportSize(shot.phone === true ? { width: 390, height: 844 } : { width: 1280, height: 800 })
      await page.goto(app.url + (typeof shot.path === 'string' ? shot.path : shot.path(sample)))
      await settle(page)
      await shot.prepare?.(page, sample)
      await settle(page)
      await writeFile(folder + name, await page.screenshot())
      await page.close()
      assert.deepEqual(faults, [])
    })
  }
}
