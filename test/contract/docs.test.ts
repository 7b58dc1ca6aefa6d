import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { connectorVariables } from '../../src/config/connectors.ts'
import { providerVariables } from '../../src/config/providers.ts'
import { variables } from '../../src/config/config.ts'
import { effectivePermissions, permissions, roles } from '../../src/identity/permissions.ts'
import type { Permission } from '../../src/identity/permissions.ts'
import { statusOfCode } from '../../src/platform/http/errors.ts'
import { isWellFormedKey } from '../../src/platform/key-format.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const read = (path: string): string => readFileSync(join(root, path), 'utf8')
const list = (pattern: string): string[] => globSync(pattern, { cwd: root }).toSorted()

// docs/site has copies of the documents and packages.
const documents = [...list('*.md'), ...list('docs/**/*.md')].filter((path) => !path.startsWith('docs/site/'))
const guides = list('docs/guides/*.md')

const fence = /^```(\w*)[^\n]*\n([\s\S]*?)^```$/gm
const blocksOf = (text: string, language: string): string[] =>
  [...text.matchAll(fence)].filter(([, found]) => found === language).map(([, , body]) => body ?? '')
const withoutBlocks = (text: string): string => text.replaceAll(fence, '')

/** The anchor that GitHub generates for a heading. */
const anchorOf = (heading: string): string =>
  heading
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')

const anchorsOf = (text: string): Set<string> =>
  new Set([...withoutBlocks(text).matchAll(/^#{1,6} (.+)$/gm)].map(([, heading]) => anchorOf(heading ?? '')))

/** Reports all problems together, so that a rename can be fixed in one pass. */
const assertNone = (problems: string[]): void => assert.deepEqual([...new Set(problems)], [])

test('every relative link in a document points at a file and a heading that exist', () => {
  const problems: string[] = []
  let links = 0
  for (const document of documents) {
    for (const [, target = ''] of withoutBlocks(read(document)).matchAll(/\[[^\]]*\]\(([^)\s]+)\)/g)) {
      if (/^[a-z]+:/.test(target)) continue
      links += 1
      const [path = '', anchor] = target.split('#')
      const file = path === '' ? join(root, document) : resolve(dirname(join(root, document)), path)
      if (!existsSync(file)) problems.push(`${document}: ${target} is not there`)
      else if (anchor !== undefined && !anchorsOf(readFileSync(file, 'utf8')).has(anchor)) {
        problems.push(`${document}: ${target} names a heading that is not there`)
      }
    }
  }
  assert.ok(links > 20, `only ${links} links were found`)
  assertNone(problems)
})

/** The supported methods by path, with ids as `*`. */
const routes = (): Map<string, Set<string>> => {
  const { paths } = JSON.parse(read('docs/openapi.json')) as { paths: Record<string, Record<string, unknown>> }
  return new Map(
    Object.entries(paths).map(([path, methods]) => [path.replaceAll(/\{\w+\}/g, '*'), new Set(Object.keys(methods))]),
  )
}

const methods = 'GET|POST|PUT|PATCH|DELETE'

test('every route that a guide names is in the API document, with that method', () => {
  const known = routes()
  const problems: string[] = []
  let named = 0
  for (const guide of guides) {
    const text = read(guide)
    // In tables: `GET /api/v1/files/:id`, `GET`, `POST /api/v1/projects`; in examples: "$URL/api/v1/files/$ID?…".
    const pattern = new RegExp(
      String.raw`((?:\b(?:${methods})\b(?:\x60?(?:,| and) \x60?| ))*)(/api/v1/[^\s"\x60'?)]+)`,
      'g',
    )
    for (const [, verbs = '', raw = ''] of text.matchAll(pattern)) {
      const path = raw.replace(/[.,;:]+$/, '').replaceAll(/\/(?::\w+|\$\w+|[0-9a-f]{8}-[0-9a-f-]{27})/g, '/*')
      named += 1
      const takes = known.get(path)
      if (!takes) problems.push(`${guide}: ${path}`)
      for (const [verb] of verbs.matchAll(new RegExp(methods, 'g'))) {
        if (takes && !takes.has(verb.toLowerCase())) problems.push(`${guide}: ${verb} ${path}`)
      }
    }
  }
  assert.ok(named > 50, `only ${named} routes were found`)
  assertNone(problems)
})

test('every route of the API is named in a guide', () => {
  const text = guides.map(read).join('\n')
  const named = new Set(
    [...text.matchAll(/\/api\/v1\/[^\s"`'?)]+/g)].map(([path]) =>
      path.replace(/[.,;:]+$/, '').replaceAll(/\/(?::\w+|\$\w+)/g, '/*'),
    ),
  )
  assertNone([...routes().keys()].filter((path) => path.startsWith('/api/v1') && !named.has(path)))
})

/** Environment variables read by the AWS SDK, bootstrap, tests, benchmarks or Compose, and not by config.ts. */
const otherVariables = (): Set<string> => {
  const programs = [...list('scripts/*'), ...list('bench/*.ts'), ...list('test/**/*.ts')].filter(
    (path) => !path.endsWith('.test.ts') && statSync(join(root, path)).isFile(),
  )
  const sources = [...programs, ...list('test/crash/*.test.ts'), ...list('test/scale/*.test.ts')]
  const found = sources.flatMap((path) => [
    ...read(path).matchAll(/(?:process\.env(?:\.|\[')|\$\{)((?:ATRIUM|BENCH|CRASH|SCALE)_[A-Z_]+)/g),
  ])
  const compose = [...read('compose.yaml').matchAll(/\$\{([A-Z_0-9]+)/g)]
  return new Set([...found, ...compose].map(([, name]) => name ?? ''))
}

/** Values in messages of other protocols, and variables of other programs and of the programs in tutorials. */
const otherNames = new Set([
  'ROLE_USER',
  'OLLAMA_CONTEXT_LENGTH',
  'ATRIUM_KEY',
  'SECRET',
  'SIGNING_SECRET',
  'STRIPE_SECRET',
])

test('every environment variable in a document is read by the code', () => {
  const other = otherVariables()
  const isKnown = (name: string): boolean =>
    Object.hasOwn(variables, name) ||
    Object.hasOwn(statusOfCode, name) ||
    other.has(name) ||
    otherNames.has(name) ||
    Object.keys({ ...providerVariables, ...connectorVariables }).some((one) =>
      new RegExp(`^${one.replace(/<NAME>|<SLUG>/, '[A-Z0-9_]+')}$`).test(name),
    )
  const problems: string[] = []
  let named = 0
  for (const document of documents) {
    // Any name with an underscore; other names only when a command sets them: `PORT=3001 npm start`.
    const text = read(document).replaceAll(/<(NAME|SLUG)>/g, '$1')
    const names = [
      ...text.matchAll(/(?<![\w$/.-])([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)(?![\w-])/g),
      ...text.matchAll(/(?:^|`|&& )([A-Z]+)=\S+ (?:npm|node|atrium)\b/gm),
    ].map(([, name]) => name ?? '')
    named += names.length
    // What a command of the document reads from a response.
    const assigned = new Set([...text.matchAll(/^([A-Z_]+)=\$\(/gm)].map(([, name]) => name))
    const unknown = names.filter((name) => !isKnown(name) && !assigned.has(name))
    problems.push(...unknown.map((name) => `${document}: ${name}`))
  }
  assert.ok(named > 60, `only ${named} variables were found`)
  assertNone(problems)
})

test('no document contains a path on the machine of its author', () => {
  assertNone(
    [...documents, 'Dockerfile', 'compose.yaml'].flatMap((document) =>
      [...read(document).matchAll(/(?<![\w.:/$-])\/(?:work|root|home|Users|tmp)\b[^\s`"')]*/g)].map(
        ([path]) => `${document}: ${path}`,
      ),
    ),
  )
})

test('every JSON example in a guide parses and is an envelope', () => {
  let examples = 0
  for (const guide of guides) {
    for (const block of blocksOf(read(guide), 'json')) {
      examples += 1
      const parsed = JSON.parse(block) as { success: boolean; data?: unknown; error?: { code: string } }
      assert.ok(parsed.success ? 'data' in parsed : Object.hasOwn(statusOfCode, parsed.error?.code ?? ''), block)
    }
  }
  assert.ok(examples > 10, `only ${examples} examples were found`)
})

test('the documents list every error code with its status', () => {
  const rows = [...read('docs/guides/conventions.md').matchAll(/^\| `([A-Z_]+)` \| (\d{3}) \|/gm)]
  assert.deepEqual(Object.fromEntries(rows.map(([, code, status]) => [code, Number(status)])), statusOfCode)
})

test('the table of roles lists the permissions of each role', () => {
  const rows = [...read('docs/guides/identity.md').matchAll(/^\| ((?:`[a-z]+:[a-z]+` ?)+)\|([^\n]*)\|$/gm)]
  const told = new Map(roles.map((role) => [role, new Set<Permission>()]))
  for (const [, names = '', cells = ''] of rows) {
    for (const [index, cell] of cells.split('|').entries()) {
      const role = roles[index]
      if (role === undefined || !cell.includes('✓')) continue
      for (const [, name] of names.matchAll(/`([^`]+)`/g)) told.get(role)?.add(name as Permission)
    }
  }
  for (const role of roles) {
    assert.deepEqual([...(told.get(role) ?? [])].toSorted(), [...effectivePermissions(role, [])].toSorted(), role)
  }
  const named = new Set(
    rows.flatMap(([, names = '']) => [...names.matchAll(/`([^`]+)`/g)].map(([, name]) => String(name))),
  )
  assert.deepEqual([...named].toSorted(), [...permissions].toSorted())
})

test('the API key in the documents has a valid checksum', () => {
  const [, key = ''] = /^(atr_dev_\w+)\n└/m.exec(read('docs/guides/identity.md')) ?? []
  assert.ok(isWellFormedKey(key, 'dev'), key)
})

test('every message in the troubleshooting tables occurs in the code', () => {
  const [, section = ''] = read('docs/guides/operations.md').split('## When it does not start')
  const sources = [...list('src/**/*.ts'), 'scripts/bootstrap.mjs']
    .filter((path) => !path.endsWith('.test.ts'))
    .map(read)
    .join('\n')
    .replaceAll(/\$\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}/g, '…')
  const problems: string[] = []
  let messages = 0
  for (const [, message = ''] of section.matchAll(/^\| `([^`]+)`/gm)) {
    messages += 1
    for (const part of message.split(/…|[()]|\. /)) {
      const words = part.replaceAll(/^[\s:;,.]+|[\s:;,.]+$/g, '')
      // A path in a message is computed, so it does not occur in the code.
      if (words.length >= 8 && !words.startsWith('/') && !sources.includes(words))
        problems.push(`${message}: "${words}"`)
    }
  }
  assert.ok(messages > 30, `only ${messages} messages were found`)
  assertNone(problems)
})

test('the README links to every guide and tutorial', () => {
  const linked = read('README.md')
  assertNone(
    [...guides, ...list('docs/tutorials/*.md')].filter((guide) => !linked.includes(`](${relative('', guide)})`)),
  )
})

test('docs/benchmarks.md names every benchmark', () => {
  const told = read('docs/benchmarks.md')
  const files = list('bench/*.ts').filter((file) => !/\/(?:run|harness)\.ts$|-server\.ts$/.test(file))
  assert.ok(files.length > 1)
  assertNone(files.filter((file) => !told.includes(`\`${file}\``)))
})
