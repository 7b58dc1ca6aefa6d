import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { startTestApp } from '../harness.ts'
import { available } from '../support/require.ts'
import { openLoopback } from '../support/webhooks.ts'
import { root } from './installed.ts'
import { examplesIn } from './readme-examples.ts'

const run = promisify(execFile)
const unlimited = { RATE_LIMIT_READS: '0', RATE_LIMIT_WRITES: '0', RATE_LIMIT_UPLOADS: '0', RATE_LIMIT_TURNS: '0' }

const hasPython = (): Promise<boolean> =>
  run('python3', ['-c', 'import sys; assert sys.version_info >= (3, 11)']).then(
    () => true,
    () => false,
  )

if (await available('python3', hasPython, 'apt-get install python3')) {
  const app = await startTestApp({ ...openLoopback, ...unlimited })
  const folder = await mkdtemp(join(tmpdir(), 'atrium-python-'))
  after(() => rm(folder, { recursive: true, force: true }))
  const python = async (args: string[]): Promise<{ stdout: string; stderr: string }> => {
    const { key } = await app.createOrg('Acme')
    const env = {
      PATH: process.env['PATH'] ?? '',
      PYTHONPATH: join(root, 'sdk-python'),
      PYTHONDONTWRITEBYTECODE: '1',
      PYTHONUTF8: '1',
      ATRIUM_URL: app.url,
      ATRIUM_API_KEY: key,
    }
    return run('python3', args, { cwd: folder, env, timeout: 300_000 }).catch(
      (error: { stdout: string; stderr: string }) => assert.fail(`${error.stdout}${error.stderr}`),
    )
  }

  test('the tests of the Python client pass', async () => {
    const { stderr } = await python(['-W', 'error', '-m', 'unittest', 'discover', join(root, 'sdk-python/tests')])
    const [, count] = /^Ran (\d+) tests/m.exec(stderr) ?? []
    assert.ok(Number(count) >= 20, stderr)
  })

  const examples = examplesIn('sdk-python/README.md', 'python')

  test('the README of the Python client has examples with their output', () => {
    assert.ok(examples.length >= 8)
    for (const { title, code, output } of examples) assert.ok(code !== '' && output !== '', title)
  })

  describe('the examples in the README of the Python client', () => {
    for (const [i, { title, code, output }] of examples.entries()) {
      test(`print what the README says: ${title}`, async () => {
        await writeFile(join(folder, `example-${i + 1}.py`), code)
        const { stdout } = await python([`example-${i + 1}.py`])
        assert.equal(stdout, output)
      })
    }
  })
}
