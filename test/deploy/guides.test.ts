// The website of the documents, built as the image builds it: by the commands of the Dockerfile, from the files that it
// copies. Docker itself is not needed.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { cp, readFile } from 'node:fs/promises'
import { globSync } from 'node:fs'
import { dirname, join, matchesGlob } from 'node:path'
import { after, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { createHttp } from '../../src/platform/http/http.ts'
import { createLog } from '../../src/platform/process/log.ts'
import { registerGuides } from '../../src/reference/guides.ts'
import { startBrowser, violationsOf, waitForIdleNetwork } from '../support/browser.ts'
import { foreignEnv } from '../support/child-processes.ts'
import { makeDiskFolder } from '../examples/disk-folder.ts'
import { available } from '../support/require.ts'

const run = promisify(execFile)
const root = fileURLToPath(new URL('../..', import.meta.url))
const dockerfile = await readFile(join(root, 'Dockerfile'), 'utf8')
const ignored = (await readFile(join(root, '.dockerignore'), 'utf8')).split('\n')
const allowed = ignored.filter((line) => line.startsWith('!')).map((line) => line.slice(1))

/** The instructions of a stage, each on one line. */
const stage = (name: string): string[] => {
  const text = dockerfile.replaceAll('\\\n', ' ')
  const [, body = ''] = new RegExp(`^FROM \\S+ AS ${name}\\n([\\s\\S]*?)(?=^FROM |\\Z)`, 'm').exec(text) ?? []
  return body.split('\n').filter((line) => /^[A-Z]+ /.test(line))
}
const instructions = stage('guides')

/** The files that an instruction copies, by their path in the image. */
const copies = instructions
  .filter((line) => line.startsWith('COPY '))
  .flatMap((line) => {
    const [, ...paths] = line.split(/ +/)
    const to = paths.pop() ?? ''
    return paths.flatMap((path) => globSync(path, { cwd: root })).map((from) => ({ from, to }))
  })

const isSent = (path: string): boolean =>
  allowed.some((pattern) => matchesGlob(path, pattern) || path.startsWith(`${pattern}/`))

test('the image has the website of the documents, and its stage copies only files that are sent to Docker', () => {
  assert.match(dockerfile, /^COPY --from=guides \/app\/docs\/site\/dist docs\/site\/dist$/m)
  assert.ok(copies.length > 10)
  assert.deepEqual(
    copies.filter(({ from }) => !isSent(from)),
    [],
  )
})

const ping = (): Promise<boolean> =>
  run('npm', ['ping', '--fetch-retries=0'], { timeout: 20_000 }).then(
    () => true,
    () => false,
  )

if (await available('npm-registry', ping, 'allow access to the npm registry')) {
  const folder = await makeDiskFolder('site')
  for (const { from, to } of copies) {
    const isInto = to.endsWith('/')
    const name = from.split('/').at(-1) ?? ''
    await cp(join(root, from), join(folder, isInto ? join(to, name) : to), {
      recursive: true,
      filter: (source) => !/\/docs\/site\/(?:node_modules|pages|dist|\.cache)(?:\/|$)/.test(source),
    })
  }
  const path = `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`
  for (const line of instructions.filter((one) => one.startsWith('RUN '))) {
    await run('sh', ['-c', line.slice('RUN '.length)], {
      cwd: folder,
      env: { ...foreignEnv, PATH: path },
      timeout: 1_200_000,
      maxBuffer: 10_000_000,
    }).catch((error: Error & { stdout: string; stderr: string }) =>
      assert.fail(`${error.message}\n${error.stdout}${error.stderr}`),
    )
  }

  const app = createHttp({ log: createLog('silent'), production: true, trustProxy: false })
  registerGuides(app, join(folder, 'docs/site/dist'))
  after(() => app.close())
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  const { open } = await startBrowser()

  describe('the website of the documents', () => {
    for (const [path, title] of [
      ['/docs/guides/', 'Atrium'],
      ['/docs/guides/agents', 'Agents'],
    ] as const) {
      for (const dark of [false, true]) {
        for (const size of [
          { width: 1440, height: 900 },
          { width: 390, height: 844 },
        ]) {
          test(`${path} is accessible at ${size.width} pixels in ${dark ? 'dark' : 'light'} colours`, async () => {
            const { page, pageErrors } = await open({ dark, size })
            await page.goto(url + path)
            await waitForIdleNetwork(page)
            const heading = await page.locator('h1').first().innerText()
            assert.ok(heading.startsWith(title), heading)
            assert.deepEqual(await violationsOf(page), [])
            assert.deepEqual(pageErrors, [])
          })
        }
      }
    }

    test('the search finds a section of a guide and opens it', async () => {
      const { page, pageErrors } = await open()
      await page.goto(`${url}/docs/guides/`)
      await page.getByRole('button', { name: 'Search' }).click()
      await page.getByRole('searchbox').fill('idempotency keys')
      const result = page.getByRole('option').filter({ hasText: 'Idempotency keys' }).first()
      await result.click()
      await page.waitForURL('**/docs/guides/conventions#idempotency-keys')
      await page.getByRole('heading', { name: 'Idempotency keys' }).waitFor()
      assert.deepEqual(pageErrors, [])
    })
  })
}
