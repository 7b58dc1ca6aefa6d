import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { promisify } from 'node:util'
import type { TestActor } from '../harness.ts'
import { startTestApp } from '../harness.ts'
import { installSdk } from '../sdk/installed.ts'
import { createAgent, createEndpoint, endpointDeliveries, renameAgent } from '../support/event-endpoints.ts'
import { available } from '../support/require.ts'
import { until } from '../support/until.ts'
import { openLoopback, signed } from '../support/webhooks.ts'
import { copyExample, linkPackages, root, start } from './project.ts'

const run = promisify(execFile)
const app = await startTestApp(openLoopback)
const owner = await app.createOrg('Acme')

test('every example has a README of at most 60 lines that the overview links to', async () => {
  const overview = await readFile(join(root, 'examples/README.md'), 'utf8')
  const folders = (await readdir(join(root, 'examples'), { withFileTypes: true })).filter((one) => one.isDirectory())
  assert.ok(folders.length >= 5)
  for (const { name } of folders) {
    assert.ok(overview.includes(`(${name}/README.md)`), name)
    const readme = await readFile(join(root, 'examples', name, 'README.md'), 'utf8')
    assert.ok(readme.split('\n').length <= 61, name)
  }
})

test('every package.json of an example has exact versions', async () => {
  for (const name of ['express-webhooks', 'mcp-client', 'nextjs-chat']) {
    const text = await readFile(join(root, 'examples', name, 'package.json'), 'utf8')
    const { dependencies, devDependencies } = JSON.parse(text) as Record<string, Record<string, string> | undefined>
    for (const [dependency, version] of Object.entries({ ...dependencies, ...devDependencies })) {
      assert.match(version, /^\d+\.\d+\.\d+$|^file:/, dependency)
    }
  }
})

describe('the example express-webhooks', async () => {
  const sdk = await installSdk()
  const folder = await copyExample('express-webhooks')
  await linkPackages(folder, join(sdk.folder, 'node_modules/@atrium/client'))
  const serve = (secret: string) =>
    start(folder, [process.execPath, 'server.js'], { PORT: '0', DATABASE: 'events.db', WEBHOOK_SECRET: secret })

  test('processes the events of an endpoint, and a repeated delivery once, also after a restart', async () => {
    // The port is known when the server runs, and the secret when the endpoint exists.
    const endpoint = await createEndpoint(app, owner, { url: 'https://example.com/events' })
    const server = serve(endpoint.secret)
    const url = await server.printed(/listening on (\S+)/)
    const moved = await app.call('PATCH', `/api/v1/event-endpoints/${endpoint.id}`, { as: owner, json: { url } })
    assert.equal(moved.status, 200, moved.text)
    const agentId = await createAgent(app, owner, 'Support')
    await renameAgent(app, owner, agentId, 'Support team')
    await server.printed(/processed agent\.updated (\S+)/)
    assert.match(server.output(), /processed agent\.created/)
    const deliveries = await until(
      () => endpointDeliveries(app, owner, endpoint),
      (found) => found.length === 2 && found.every(({ status }) => status === 'succeeded'),
    )

    const event = { id: randomUUID(), type: 'agent.created', subject: { type: 'agent', id: 'x' }, data: { name: 'X' } }
    const body = JSON.stringify(event)
    const deliver = (to: string) =>
      fetch(to, { method: 'POST', body, headers: signed(endpoint.secret, body, event.id) })
    assert.equal((await deliver(url)).status, 204)
    assert.equal((await deliver(url)).status, 204)
    await server.printed(new RegExp(`repeated agent\\.created (${event.id})`))
    await server.stop()
    const again = serve(`whsec_${Buffer.alloc(32, 1).toString('base64')},${endpoint.secret}`)
    assert.equal((await deliver(await again.printed(/listening on (\S+)/))).status, 204)
    await again.printed(new RegExp(`repeated agent\\.created (${event.id})`))
    assert.equal(deliveries.length, 2)
  })

  test('rejects requests without a valid signature', async () => {
    const secret = `whsec_${Buffer.alloc(32, 2).toString('base64')}`
    const server = serve(secret)
    const url = await server.printed(/listening on (\S+)/)
    const body = '{"id":"1","type":"agent.created"}'
    const headers = signed(secret, body)
    const statuses = [
      await fetch(url, { method: 'POST' }),
      await fetch(url, { method: 'POST', body }),
      await fetch(url, { method: 'POST', body: `${body} `, headers }),
      await fetch(url, { method: 'POST', headers }),
    ].map(({ status }) => status)
    assert.deepEqual(statuses, [401, 401, 401, 401])
    assert.doesNotMatch(server.output(), /processed/)
  })
})

describe('the example mcp-client', async () => {
  const folder = await copyExample('mcp-client')
  await linkPackages(folder)

  test('lists the tools and prints the reply of an agent', async () => {
    const env = { ATRIUM_URL: app.url, ATRIUM_API_KEY: owner.key }
    const { stdout } = await run(process.execPath, ['client.js', 'Good morning'], { cwd: folder, env })
    assert.match(stdout, /^files_search: .+\n/m)
    assert.match(stdout, /You wrote: “Good morning”/)
  })

  test('has configurations that parse and name the MCP server', async () => {
    const files = await readdir(join(folder, 'config'))
    assert.equal(files.length, 4)
    for (const file of files) {
      const text = await readFile(join(folder, 'config', file), 'utf8')
      assert.match(text, /https:\/\/atrium\.example\.com\/mcp"/, file)
      if (file.endsWith('.json')) JSON.parse(text)
    }
  })
})

const hasPython = (): Promise<boolean> =>
  run('python3', ['-c', 'import sys; assert sys.version_info >= (3, 11)']).then(
    () => true,
    () => false,
  )

if (await available('python3', hasPython, 'apt-get install python3')) {
  test('the example python-script uploads new files only, and prints the reply of the agent', async () => {
    const folder = await copyExample('python-script')
    await mkdir(join(folder, 'reports'))
    await writeFile(join(folder, 'reports', 'q3.txt'), 'Revenue rose.')
    await writeFile(join(folder, 'reports', 'q4.txt'), 'Revenue fell.')
    const upload = async (actor: TestActor, ...args: string[]): Promise<string> => {
      const env = {
        PATH: process.env['PATH'] ?? '',
        PYTHONPATH: join(root, 'sdk-python'),
        PYTHONDONTWRITEBYTECODE: '1',
        PYTHONUTF8: '1',
        ATRIUM_URL: app.url,
        ATRIUM_API_KEY: actor.key,
      }
      const { stdout } = await run('python3', ['upload_folder.py', 'reports', ...args], { cwd: folder, env })
      return stdout
    }
    const actor = await app.createUser(owner, 'member', {
      scopes: ['files:read', 'files:write', 'sessions:read', 'sessions:write', 'agents:read'],
    })
    assert.equal(await upload(actor), 'uploaded q3.txt\nuploaded q4.txt\n2 uploaded, 0 unchanged\n')
    await writeFile(join(folder, 'reports', 'q5.txt'), 'Revenue is flat.')
    const second = await upload(actor, 'What is new?')
    assert.match(second, /^uploaded q5\.txt\n1 uploaded, 2 unchanged\nYou wrote: “What is new\?”/)
  })
}
