import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { parseEnv, promisify } from 'node:util'
import { parse } from 'yaml'
import { parseConfig, variables } from '../../src/config/config.ts'
import { exampleFolder, root } from './project.ts'

const run = promisify(execFile)
const reset = { tag: '!reset', collection: 'seq', resolve: () => 'reset' } as const
// oxlint-disable-next-line typescript/no-explicit-any -- YAML of any shape
const read = async (file: string): Promise<any> =>
  parse(await readFile(file, 'utf8'), { merge: true, customTags: [reset] })

const base = await read(join(root, 'compose.yaml'))
const caddyFile = join(exampleFolder('docker-compose'), 'caddy.yaml')
const caddy = await read(caddyFile)
const temporary = await mkdtemp(join(tmpdir(), 'atrium-env-'))
after(() => rm(temporary, { recursive: true }))
const envFile = join(temporary, '.env')
const script = join(exampleFolder('docker-compose'), 'create-env.sh')
await run('sh', [script, 'atrium.example.com', 'owner@example.com', envFile])
const env = parseEnv(await readFile(envFile, 'utf8'))

test('the Compose file with Caddy changes services that exist and adds only the proxy', () => {
  const added = Object.keys(caddy.services).filter((name) => base.services[name] === undefined)
  assert.deepEqual(added, ['caddy'])
})

test('Caddy is the only service of the example whose ports are published', () => {
  const published = Object.keys({ ...base.services, ...caddy.services }).filter(
    (name) => (caddy.services[name]?.ports ?? base.services[name]?.ports ?? 'reset') !== 'reset',
  )
  assert.deepEqual(published, ['caddy'])
  assert.deepEqual(caddy.services.caddy.ports, ['80:80', '443:443'])
})

test('Caddy forwards to services and ports that exist, and only reads from the object store', async () => {
  const [from = ''] = caddy.services.caddy.volumes[0].split(':')
  const text = await readFile(join(root, from), 'utf8')
  const targets = [...text.matchAll(/reverse_proxy (\w+):(\d+)/g)].map(([, name = '', port]) => {
    assert.ok(base.services[name], name)
    return [name, port]
  })
  assert.deepEqual(targets, [
    ['api', '3000'],
    ['objects', '7070'],
  ])
  // Caddy sorts directives: respond runs before reverse_proxy, so it needs a matcher.
  const [, files = ''] = text.split('files.{$DOMAIN} {')
  assert.match(files, /@changes not method GET HEAD\n\s+respond @changes 405\n/)
})

test('create-env.sh sets every variable that the Compose files require, readable by its owner only', async () => {
  const text = (await readFile(join(root, 'compose.yaml'), 'utf8')) + (await readFile(caddyFile, 'utf8'))
  const required = [...new Set([...text.matchAll(/\$\{(\w+):\?/g)].map(([, name]) => name ?? ''))]
  assert.ok(required.length >= 5)
  assert.deepEqual(
    required.filter((name) => !env[name]),
    [],
  )
  assert.equal((await stat(envFile)).mode & 0o777, 0o600)
})

test('create-env.sh never replaces a file with secrets', async () => {
  const before = await readFile(envFile, 'utf8')
  await assert.rejects(run('sh', [script, 'atrium.example.com', 'owner@example.com', envFile]), /its secrets are kept/)
  assert.equal(await readFile(envFile, 'utf8'), before)
})

test('the API accepts the environment that the Compose files and create-env.sh give it', () => {
  const merged = { ...base.services.api.environment, ...caddy.services.api.environment } as Record<string, string>
  const filled = Object.fromEntries(
    Object.entries(merged).map(([name, value]) => [
      name,
      value.replaceAll(/\$\{(\w+)(?::[?-]([^}]*))?\}/g, (_, key: string, other = '') => env[key] ?? other),
    ]),
  )
  const known = Object.keys(merged).filter((name) => !name.startsWith('AWS_'))
  assert.deepEqual(
    known.filter((name) => !Object.hasOwn(variables, name)),
    [],
  )
  const config = parseConfig({ ...env, ...filled, NODE_ENV: 'production' })
  assert.equal(config.baseUrl, 'https://atrium.example.com')
  assert.equal(config.trustProxy, true)
})
