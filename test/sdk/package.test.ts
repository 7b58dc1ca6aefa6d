import assert from 'node:assert/strict'
import { readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { startTestApp } from '../harness.ts'
import { startBrowser } from '../support/browser.ts'
import { installSdk, installedNodes, root } from './installed.ts'

const app = await startTestApp()
const owner = await app.createOrg('Acme')
const project = await installSdk()

/** Uses every part of the SDK that depends on the platform. Returns what the tests compare. */
const program = `
import { createClient, listItems, streamEvents, streamReply, uploadFile, verifyWebhook } from '@atrium/client'

export const tryEverything = async (options) => {
  const atrium = createClient(options)
  const { org } = await atrium.call('GET /me')
  const progress = []
  const file = await uploadFile(atrium, {
    content: new Blob(['x'.repeat(100_000)], { type: 'text/plain' }),
    name: 'x.txt',
    onProgress: ({ sentBytes }) => progress.push(sentBytes),
  })
  const names = []
  for await (const { name } of listItems(atrium, 'GET /files', { query: { search: 'x.txt', limit: 1 } })) names.push(name)
  const session = await atrium.call('POST /sessions', { body: { agentId: 'assistant' } })
  let text = ''
  for await (const { part } of streamReply(atrium, session.id, { text: 'Hello' })) {
    if (part.type === 'text-delta') text += part.delta
  }
  let types = ''
  for await (const { type } of streamEvents(atrium, { after: 0, types: ['session.*', 'turn.completed'] })) {
    types = type
    break
  }
  const headers = {
    'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  }
  // The example of the specification of Standard Webhooks.
  const verified = await verifyWebhook(
    { body: '{"test": 2432232314}', headers },
    'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    { nowMs: 1614265330000 },
  )
  const missing = await atrium.call('GET /files/:id', { params: { id: crypto.randomUUID() } }).catch((error) => error.code)
  const aborted = await atrium.call('GET /me', { signal: AbortSignal.abort() }).catch((error) => error.name)
  return {
    org: org.name,
    file: [file.status, file.size, progress.at(-1) === 100_000],
    isListed: names.includes('x.txt'),
    reply: text.split('\\n')[0],
    hasEvents: types !== '',
    verified: verified.id,
    errors: [missing, aborted],
  }
}
`
await project.write('program.js', program)

const expected = {
  org: 'Acme',
  file: ['ready', 100_000, true],
  isListed: true,
  reply: 'You wrote: “Hello”',
  hasEvents: true,
  verified: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
  errors: ['NOT_FOUND', 'AbortError'],
}

describe('the packed SDK', () => {
  test('contains compiled code with types, its sources, README and license, and nothing else', async () => {
    const { packed } = project
    for (const path of ['LICENSE', 'README.md', 'package.json', 'dist/index.js', 'dist/index.d.ts', 'src/index.ts']) {
      assert.ok(packed.includes(path), `${path} is missing`)
    }
    const others = packed.filter((path) => !/^(?:dist|src)\/[\w-]+(?:\.d)?\.(?:js|ts)(?:\.map)?$/.test(path))
    assert.deepEqual(others, ['LICENSE', 'README.md', 'package.json'])
    assert.deepEqual(
      packed.filter((path) => path.includes('.test.')),
      [],
    )
  })

  test('has no dependencies, and every file that its package.json and source maps name', async () => {
    const folder = join(project.folder, 'node_modules/@atrium/client')
    const manifest = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as {
      exports: Record<string, object>
      types: string
    }
    assert.deepEqual(
      Object.keys(manifest).filter((key) => key.toLowerCase().endsWith('dependencies')),
      [],
    )
    const named = [manifest.types, ...Object.values(manifest.exports['.'] ?? {})] as string[]
    const maps = (await readdir(join(folder, 'dist'))).filter((name) => name.endsWith('.map'))
    for (const map of maps) {
      const { sources } = JSON.parse(await readFile(join(folder, 'dist', map), 'utf8')) as { sources: string[] }
      named.push(...sources.map((source) => join('dist', source)))
    }
    assert.ok(named.length > 10)
    for (const path of named) await readFile(join(folder, path))
    assert.deepEqual(await readdir(join(project.folder, 'node_modules/@atrium')), ['client'])
  })
})

/** What the types of the SDK promise to a strict project. */
const consumer = `
import { createClient, isAtriumError, listItems, streamEvents, verifyEvent } from '@atrium/client'
import type { AtriumEvent, Client, Data, ErrorCodeOf, File as AtriumFile, Turn } from '@atrium/client'

const atrium: Client = createClient({ apiKey: undefined, fetch })
const search: string | undefined = undefined
export const { items }: { items: AtriumFile[] } = await atrium.call('GET /files', { query: { search } })
export const turn: Turn = await atrium.call('GET /turns/:id', { params: { id: 'x' }, signal: new AbortController().signal })
export const me: Data<'GET /me'> = await atrium.call('GET /me')
// @ts-expect-error -- params are missing
void atrium.call('GET /turns/:id')
// @ts-expect-error -- there is no such route
void atrium.call('GET /nothing')
// @ts-expect-error -- the limit is a number
void atrium.call('GET /files', { query: { limit: '10' } })
// @ts-expect-error -- a project has a name
void atrium.call('POST /projects', { body: {} })
for await (const agent of listItems(atrium, 'GET /agents')) agent.slug satisfies string
for await (const event of streamEvents(atrium)) event.position satisfies number
const event: AtriumEvent = await verifyEvent({ body: new Uint8Array(), headers: new Headers() }, ['a', 'b'])
if (event.type === 'agent.updated') event.data.changed satisfies string[]
try {
  await atrium.call('GET /me')
} catch (error) {
  if (isAtriumError(error, 'GET /me')) {
    const code: ErrorCodeOf<'GET /me'> = error.code
    // @ts-expect-error -- the route does not document this code
    if (code === 'PAYMENT_REQUIRED') throw error
  }
}
`

describe('the types of the installed SDK', () => {
  const platforms = { browsers: { lib: ['es2023', 'dom'], types: [] }, 'Node.js': { lib: ['es2023'], types: ['node'] } }
  for (const [platform, options] of Object.entries(platforms)) {
    for (const moduleResolution of ['nodenext', 'bundler']) {
      test(`compile strictly for ${platform} with the module resolution ${moduleResolution}`, async () => {
        await project.write('consumer.ts', consumer)
        const module = moduleResolution === 'bundler' ? 'esnext' : moduleResolution
        await project.compile(['consumer.ts'], { ...options, moduleResolution, module })
      })
    }
  }
})

const nodes = await installedNodes()
const supported = [20, 22, 24, 26]
const absent = supported.filter((major) => !nodes.has(major))
if (absent.length > 0) {
  console.log(`left out: the SDK on Node.js ${absent.join(', ')} (to run it: set ATRIUM_TEST_NODES to their paths)`)
}

describe('the installed SDK', () => {
  for (const major of supported.filter((one) => nodes.has(one))) {
    test(`works on Node.js ${major}`, async () => {
      const options = JSON.stringify({ baseUrl: app.url, apiKey: owner.key })
      const main = `import { tryEverything } from './program.js'
        console.log(JSON.stringify(await tryEverything(${options})))`
      await project.write(`node-${major}.js`, main)
      const output = await project.run(nodes.get(major) ?? '', [`node-${major}.js`])
      assert.deepEqual(JSON.parse(output), expected)
    })
  }

  test('works in a browser when it is bundled, and leaves unused parts out of the bundle', async () => {
    const build = async (name: string, text: string): Promise<string> => {
      await project.write(`${name}.js`, text)
      const config = `export default {
        logLevel: 'warn',
        build: { outDir: '${name}', lib: { entry: '${name}.js', formats: ['es'], fileName: 'bundle' } },
      }`
      await project.write(`${name}.config.js`, config)
      const vite = join(root, 'node_modules/vite/bin/vite.js')
      await project.run(process.execPath, [vite, 'build', '--config', `${name}.config.js`])
      return readFile(join(project.folder, name, 'bundle.js'), 'utf8')
    }
    const whole = await build('browser', `export { tryEverything } from './program.js'`)
    const { open } = await startBrowser()
    const { page, pageErrors } = await open()
    await page.route(`${app.url}/sdk/*`, (route) =>
      route.request().url().endsWith('.js')
        ? route.fulfill({ contentType: 'text/javascript', body: whole })
        : route.fulfill({ contentType: 'text/html', body: '<!doctype html><title>SDK</title>' }),
    )
    await page.goto(`${app.url}/sdk/page`)
    // Without a base URL: the client calls the origin of the page.
    const result = await page.evaluate(
      `import('/sdk/bundle.js').then(({ tryEverything }) => tryEverything({ apiKey: ${JSON.stringify(owner.key)} }))`,
    )
    assert.deepEqual(result, expected)
    assert.deepEqual(
      pageErrors.filter((text) => !text.includes('404')),
      [],
    )
    const verifier = await build('verifier', `export { verifyWebhook } from '@atrium/client'`)
    assert.ok(verifier.length * 4 < whole.length, `${verifier.length} of ${whole.length} bytes`)
    assert.doesNotMatch(verifier, /\/api\/v1|XMLHttpRequest/)
  })
})
