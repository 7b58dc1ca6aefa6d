import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { globSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { startTestApp } from '../harness.ts'
import { startBrowser, violationsOf } from '../support/browser.ts'
import { foreignEnv } from '../support/child-processes.ts'
import { available } from '../support/require.ts'
import { copyExample, start } from './project.ts'

const run = promisify(execFile)
const path = `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`
const env = { ...foreignEnv, PATH: path, NEXT_TELEMETRY_DISABLED: '1' }

const ping = (): Promise<boolean> =>
  run('npm', ['ping', '--fetch-retries=0'], { timeout: 20_000 }).then(
    () => true,
    () => false,
  )

// 400 MB of packages: 8 s to install and 14 s to build on two cores.
if (await available('npm-registry', ping, 'allow access to the npm registry')) {
  const app = await startTestApp()
  const owner = await app.createOrg('Acme')
  const folder = await copyExample('nextjs-chat')
  const execute = (program: string, args: string[]): Promise<unknown> =>
    run(program, args, { cwd: folder, env, timeout: 1_200_000, maxBuffer: 10_000_000 }).catch(
      (error: Error & { stdout: string; stderr: string }) =>
        assert.fail(`${error.message}\n${error.stdout}${error.stderr}`),
    )
  await execute('npm', ['ci', '--no-audit', '--no-fund', '--prefer-offline'])
  const next = join(folder, 'node_modules/next/dist/bin/next')
  await execute(process.execPath, [next, 'build'])

  test('a visitor of the example nextjs-chat gets replies, keeps the conversation, and never gets the key', async () => {
    const visitor = await app.createUser(owner, 'member', { scopes: ['sessions:read', 'sessions:write'] })
    const server = start(folder, [process.execPath, next, 'start', '--port', '0', '--hostname', '127.0.0.1'], {
      NEXT_TELEMETRY_DISABLED: '1',
      NODE_ENV: 'production',
      ATRIUM_URL: app.url,
      ATRIUM_API_KEY: visitor.key,
    })
    const url = await server.printed(/(http:\/\/127\.0\.0\.1:[1-9]\d*)/)
    const { open } = await startBrowser()
    const { page, context, pageErrors } = await open()
    const seen: string[] = []
    page.on('request', (request) => seen.push(request.url()))
    await page.goto(url)
    const send = async (text: string): Promise<void> => {
      await page.getByLabel('Message').fill(text)
      await page.getByRole('button', { name: 'Send' }).click()
      await page.getByText(`You wrote: “${text}”`).waitFor()
      await page.getByRole('button', { name: 'Send', disabled: false }).waitFor()
    }
    await send('Hello')
    await send('And again')
    assert.deepEqual(await violationsOf(page), [])
    await page.reload()
    await page.getByText('You wrote: “Hello”').waitFor()
    await page.getByText('You wrote: “And again”').waitFor()
    const texts = await page.getByRole('listitem').allInnerTexts()
    assert.deepEqual(
      texts.map((text) => text.split('\n').filter((line) => line !== '')[1]),
      ['Hello', 'You wrote: “Hello”', 'And again', 'You wrote: “And again”'],
    )
    assert.deepEqual(pageErrors, [])
    assert.ok(
      seen.every((one) => one.startsWith(url)),
      seen.join('\n'),
    )

    const [cookie] = await context.cookies()
    assert.deepEqual([cookie?.httpOnly, cookie?.sameSite], [true, 'Strict'])
    const { body } = await app.call('GET', '/api/v1/sessions', { as: visitor })
    assert.equal(body.data.items.length, 1, 'both messages belong to one session')
    const deleted = await app.call('DELETE', `/api/v1/sessions/${body.data.items[0].id}`, { as: owner })
    assert.equal(deleted.status, 200, deleted.text)
    await page.reload()
    await send('After the session was deleted')
    const stranger = await open()
    await stranger.page.goto(url)
    await stranger.page.getByLabel('Message').waitFor()
    assert.equal(await stranger.page.getByText('You wrote').count(), 0)

    const built = globSync('.next/static/**/*.js', { cwd: folder })
    assert.ok(built.length > 0)
    for (const file of built) {
      assert.doesNotMatch(await readFile(join(folder, file), 'utf8'), /ATRIUM_API_KEY|atr_test_/, file)
    }
    const simple = await fetch(`${url}/api/chat`, {
      method: 'POST',
      body: '{}',
      headers: { 'content-type': 'text/plain' },
    })
    assert.equal(simple.status, 415)
  })
}
