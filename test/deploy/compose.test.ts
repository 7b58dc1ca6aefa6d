import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { test } from 'node:test'
import { parse } from 'yaml'

const root = fileURLToPath(new URL('../..', import.meta.url))
const reset = { tag: '!reset', collection: 'seq', resolve: () => 'reset' } as const
// oxlint-disable-next-line typescript/no-explicit-any -- YAML of any shape
const read = async (file: string): Promise<any> =>
  parse(await readFile(root + file, 'utf8'), { merge: true, customTags: [reset] })

const base = await read('compose.yaml')
const scale = await read('deploy/compose.scale.yaml')

test('the Compose file for two API processes and two workers changes services that exist and adds only the proxy', () => {
  const added = Object.keys(scale.services).filter((name) => base.services[name] === undefined)
  assert.deepEqual(added, ['proxy'])
  assert.equal(scale.services.api.scale, 2)
  assert.equal(scale.services.worker.scale, 2)
})

test('the proxy of the Compose file is the only service with the public port, and its API processes trust it', () => {
  const { api, proxy } = scale.services
  assert.equal(api.ports, 'reset', 'two containers cannot publish the same port')
  assert.equal(api.environment.TRUST_PROXY, '1')
  const [published] = base.services.api.ports
  assert.deepEqual(proxy.ports, [published.replace(/:3000$/, ':80')])
})

test('the proxy of the Compose file reads the tested configuration with the names of the containers', async () => {
  const { volumes, command } = scale.services.proxy
  const [file] = volumes[0].split(':')
  assert.ok(existsSync(root + file), `${file} exists`)
  const [, from = '', to = ''] = /sed 's\/(.+?)\/(.+?)\/'/.exec(command[2]) ?? []
  // The basic regular expression of sed in the syntax of JavaScript.
  const pattern = new RegExp(from.replaceAll('\\(', '(').replaceAll('\\)', ')'), 'g')
  const config = (await readFile(root + file, 'utf8')).replaceAll(pattern, to.replaceAll('\\1', '$1'))
  const names = [...config.matchAll(/^ *server (\S+):3000/gm)].map(([, name]) => name)
  assert.deepEqual(names, [`${base.name}-api-1`, `${base.name}-api-2`])
})

test('an update that recreates the API containers restarts the proxy, which would otherwise keep their former addresses', () => {
  assert.equal(scale.services.proxy.depends_on.api.restart, true)
})

test('the services of the Compose file start Atrium as the image does, each with its role', async () => {
  const [, list = ''] = /^CMD (\[.*\])$/m.exec(await readFile(`${root}Dockerfile`, 'utf8')) ?? []
  const image = JSON.parse(list) as string[]
  for (const role of ['api', 'worker']) assert.deepEqual(base.services[role].command, [...image, '--role', role])
})
