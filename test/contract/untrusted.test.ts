// The modules that may load parsers and compilers that must not process untrusted input in the server process.
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { Ajv } from 'ajv'
import addFormats from 'ajv-formats'
import { catalog } from '../../src/connectors/catalog/catalog.ts'
import { fileTools } from '../../src/sessions/tools/file-tools.ts'

const root = new URL('../../', import.meta.url).pathname
const sources = globSync('src/**/*.ts', { cwd: root }).filter((file) => !file.endsWith('.test.ts'))

/** The modules that import a name with this ending, except for type imports. */
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

test('only the sandbox program parses HTML', () => {
  assert.deepEqual(importersOf('htmlparser2'), ['src/platform/text/html-parser.ts'])
  assert.deepEqual(importersOf('/html-parser.ts'), [
    'src/platform/text/html-links.ts',
    'src/platform/text/html-text.ts',
  ])
  for (const name of ['/html-links.ts', '/html-text.ts']) {
    assert.deepEqual(importersOf(name), ['src/platform/sandbox/page-child.ts'])
  }
})

test('only the preview program parses XML, archives and PDF, except for the small XML of WebDAV requests', () => {
  for (const name of ['saxes', 'yauzl', 'pdfjs-dist']) {
    const others = importersOf(name).filter((file) => !file.startsWith('src/files/preview/'))
    assert.deepEqual(others, name === 'saxes' ? ['src/protocols/webdav/xml/read.ts'] : [])
  }
  assert.deepEqual(importersOf('/open-pdf.ts'), [
    'src/files/preview/formats/pdf.ts',
    'src/files/preview/pictures/pdf-page.ts',
  ])
  assert.deepEqual(importersOf('./extract.ts'), ['src/files/preview/child.ts'])
})

test('only the picture program loads the decoder of pictures, which is native code', () => {
  assert.deepEqual(importersOf('sharp'), ['src/files/preview/pictures/child.ts'])
  assert.deepEqual(importersOf('./child.ts'), [])
})

test('only the transform program loads the interpreter of transforms', () => {
  const resolvers = sources.filter((file) => /resolve\('jsonata'\)/.test(readFileSync(root + file, 'utf8')))
  assert.deepEqual(resolvers, ['src/events/endpoints/transform/child.ts'])
  assert.deepEqual(importersOf('jsonata'), [])
  assert.deepEqual(importersOf('transform/child.ts'), [])
})

test('only schemas of routes, built-in tools and the catalog are compiled', () => {
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

test('the patterns and formats of built-in tools need linear time for hostile text', () => {
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
