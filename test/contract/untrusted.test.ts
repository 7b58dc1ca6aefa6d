// Which modules may load the parsers and compilers that must not see what strangers write in the server's own process.
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { Ajv } from 'ajv'
import addFormats from 'ajv-formats'
import { catalog } from '../../src/connectors/catalog/catalog.ts'
import { fileTools } from '../../src/sessions/tools/file-tools.ts'

const root = new URL('../../', import.meta.url).pathname
const sources = globSync('src/**/*.ts', { cwd: root }).filter((file) => !file.endsWith('.test.ts'))

/** The modules that import, other than for types alone, something whose name ends so. */
const importersOf = (name: string): string[] =>
  sources
    .filter((file) => {
      const text = readFileSync(root + file, 'utf8')
      return text
        .split('\n')
        .some(
          (line) =>
            /^import (?!type)|^export (?!type).* from|import\(|createRequire/.test(line) && line.includes(`${name}'`),
        )
    })
    .toSorted()

test('HTML is parsed by the program of the sandbox only', () => {
  assert.deepEqual(importersOf('htmlparser2'), ['src/platform/text/html-parser.ts'])
  assert.deepEqual(importersOf('/html-parser.ts'), [
    'src/platform/text/html-links.ts',
    'src/platform/text/html-text.ts',
  ])
  for (const name of ['/html-links.ts', '/html-text.ts']) {
    assert.deepEqual(importersOf(name), ['src/platform/sandbox/page-child.ts'])
  }
})

test('XML, archives and PDF are parsed by the program that makes previews only', () => {
  for (const name of ['saxes', 'yauzl', 'unpdf']) {
    for (const file of importersOf(name)) assert.match(file, /^src\/files\/preview\//)
  }
  assert.deepEqual(importersOf('./extract.ts'), ['src/files/preview/child.ts'])
})

test('schemas are compiled for routes, for our own tools and for the catalog only', () => {
  assert.deepEqual(importersOf('ajv'), [
    'src/connectors/catalog/check-connector.ts',
    'src/platform/http/validation.ts',
    'src/sessions/tools/tools.ts',
  ])
})

type Schema = Record<string, unknown>

const schemasIn = (schema: unknown): Schema[] =>
  typeof schema === 'object' && schema !== null
    ? [schema as Schema, ...Object.values(schema).flatMap((inner: unknown) => schemasIn(inner))]
    : []

test('the patterns and formats of our own tools take linear time on hostile text', () => {
  const ajv = new Ajv({ strict: false })
  addFormats.default(ajv)
  const ours = [
    ...fileTools.map(({ inputSchema }) => inputSchema),
    ...[...catalog.values()].flatMap(({ tools }) => tools.map(({ input }) => input)),
  ]
  const checked = new Map<string, Schema>()
  for (const { pattern, format } of ours.flatMap(schemasIn)) {
    if (typeof pattern !== 'string' && typeof format !== 'string') continue
    const schema = { type: 'string', ...(pattern ? { pattern } : {}), ...(format ? { format } : {}) }
    checked.set(JSON.stringify(schema), schema)
  }
  assert.ok(checked.size > 10)
  const length = 200_000
  const prefixes = ['', 'https://', 'https://a', 'a@', 'a@a.', 'A', 'a-', 'app', '+1', 'whatsapp:+1', 'ch_']
  const pieces = ['a', 'A', '1', '-', '.', 'a.', 'a-', '/', '%41', ':', '@', ' ', '_', '[', 'a@']
  for (const schema of checked.values()) {
    const check = ajv.compile(schema)
    for (const prefix of prefixes) {
      for (const piece of pieces) {
        const text = `${prefix}${piece.repeat(length / piece.length)}\n`
        const before = process.threadCpuUsage().user
        check(text)
        const ms = (process.threadCpuUsage().user - before) / 1_000
        assert.ok(ms < 200, `${JSON.stringify(schema)} took ${ms} ms on ${prefix}${piece}…`)
      }
    }
  }
})
