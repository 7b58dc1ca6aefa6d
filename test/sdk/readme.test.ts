import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { describe, test } from 'node:test'
import { startTestApp } from '../harness.ts'
import { openLoopback } from '../support/webhooks.ts'
import { installSdk } from './installed.ts'
import { examplesIn } from './readme-examples.ts'

const app = await startTestApp(openLoopback)
const project = await installSdk()

const examples = examplesIn('sdk/README.md', 'ts')

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

test('the README of the SDK has at least ten examples, each with its output', () => {
  assert.ok(examples.length >= 10, `${examples.length} examples`)
  for (const { title, code, output } of examples) assert.ok(code !== '' && output !== '', title)
})

describe('the examples in the README of the SDK', () => {
  test('compile strictly', async () => {
    const names = examples.map((_, i) => `example-${i + 1}.ts`)
    for (const [i, { code }] of examples.entries()) await project.write(names[i] ?? '', code)
    await project.compile(names, { lib: ['es2023'], types: ['node'], noPropertyAccessFromIndexSignature: false })
  })

  for (const [i, { title, code, output }] of examples.entries()) {
    test(`print what the README says: ${title}`, async () => {
      const name = `run-${i + 1}.ts`
      await project.write(name, code)
      const owner = await app.createOrg('Acme')
      const env = { ATRIUM_URL: app.url, ATRIUM_API_KEY: owner.key, PORT: String(await freePort()) }
      assert.equal(await project.run(process.execPath, [name], env), output)
    })
  }
})
