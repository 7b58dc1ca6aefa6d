import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { getCatalogs } from '@lingui/cli/api'
import { getConfig } from '@lingui/conf'
import { compileMessage } from '@lingui/message-utils/compileMessage'
import { catalog as connectors } from '../../src/connectors/catalog/catalog.ts'
import { compileMessage as compileInBrowser } from '../../console/src/i18n/compile-message.ts'
import { findHardCodedTexts, findInFolder } from '../../scripts/console-texts/hard-coded.ts'

const consoleFolder = fileURLToPath(new URL('../../console', import.meta.url))

test('every text of the console is in the message catalogues', async () => {
  assert.deepEqual(await findInFolder(join(consoleFolder, 'src')), [])
})

test('texts outside of the catalogues are found in elements, attributes, properties and strings, and nowhere else', () => {
  const texts = (source: string) => findHardCodedTexts('example.tsx', source).map(({ text }) => text)
  assert.deepEqual(texts('export const A = () => <p>Nothing {x} here</p>'), ['Nothing', 'here'])
  assert.deepEqual(texts("const a = <B label={on ? 'Switch off' : 'Save'} shortcut='Enter' kind='primary' />"), [
    'Switch off',
    'Save',
  ])
  assert.deepEqual(texts("const a = { title: 'Files', to: '/Files' }; const b = ['Today', 'now']"), ['Files', 'Today'])
  assert.deepEqual(texts("const a = event.key === 'Enter' || types.includes('Files')"), [])
  assert.deepEqual(texts("toast('Link copied'); call('GET /me'); const c = 'flex row'"), ['Link copied'])
  assert.deepEqual(texts('const a = `Deleted ${n} files`'), ['Deleted 0 files'])
  assert.deepEqual(texts('const a = t`Deleted ${n} files`; const b = <Trans>Delete <b>{n}</b>?</Trans>'), [])
  assert.deepEqual(texts("type A = 'Some text here'; throw new Error('A bug of the console')"), [])
  assert.deepEqual(texts('const a = <code>npm start</code>'), [])
})

/** The placeholders and tags of a message: a translation without one of them loses a value or a link. */
const partsOf = (message: string): string[] => {
  const names = new Set<string>()
  const visit = (tokens: unknown): void => {
    if (typeof tokens === 'string') for (const [tag] of tokens.matchAll(/<\/?\w+\/?>/g)) names.add(tag)
    if (!Array.isArray(tokens)) return
    for (const token of tokens) {
      if (!Array.isArray(token)) {
        visit(token)
        continue
      }
      names.add(String(token[0]))
      if (typeof token[2] === 'object' && token[2] !== null) for (const rule of Object.values(token[2])) visit(rule)
    }
  }
  visit(compileMessage(message))
  return [...names].toSorted()
}

test('every message of the console has a German translation with the same placeholders, and none is left over', async () => {
  const problems: string[] = []
  let count = 0
  const known = new Map<string, string>()
  for (const catalog of await getCatalogs(getConfig({ cwd: consoleFolder }))) {
    const area = catalog.path.split('/').at(-1)
    const [messages, translations] = [(await catalog.collect()) ?? {}, (await catalog.read('de')) ?? {}]
    for (const [id, { message = id }] of Object.entries(messages)) {
      assert.deepEqual(compileInBrowser(message), compileMessage(message), 'the compiler of the console knows its form')
      count += 1
      const translation = translations[id]?.translation ?? ''
      if (translation === '') problems.push(`${area}: no translation of: ${message}`)
      else if (partsOf(translation).join() !== partsOf(message).join())
        problems.push(`${area}: other placeholders: ${message} → ${translation}`)
      // The catalogues are merged, so the last one would win.
      const other = known.get(id) ?? translation
      if (other !== translation) problems.push(`${area}: two translations of ${message}: ${other}, ${translation}`)
      known.set(id, translation)
    }
    for (const [id, { message }] of Object.entries(translations))
      if (messages[id] === undefined) problems.push(`${area}: not in the source: ${message ?? id}`)
  }
  assert.ok(count > 1_000)
  assert.deepEqual(problems, [], 'Run `npm run messages` and translate what console/locales lacks.')
})

test('the descriptions and the fields of all connectors, which the API has in English, are in the message catalogues', async () => {
  const known = new Set<string | undefined>()
  for (const catalog of await getCatalogs(getConfig({ cwd: consoleFolder })))
    for (const { message } of Object.values((await catalog.collect()) ?? {})) known.add(message)
  const texts = [...connectors.values()].flatMap(({ description, auth }) => [
    description,
    ...(auth.type === 'api_key' ? auth.fields.flatMap(({ label, help }) => [label, help ?? label]) : []),
  ])
  assert.deepEqual(
    texts.filter((text) => !known.has(text)),
    [],
  )
})

test('every German error message translates one that the server or the SDK has, with the same values', async () => {
  const read = async (folder: string): Promise<string> => {
    const root = fileURLToPath(new URL(`../../${folder}`, import.meta.url))
    const names = (await readdir(root, { recursive: true })).filter((name) => /(?<!\.test)\.ts$/.test(name))
    return (await Promise.all(names.map((name) => readFile(join(root, name), 'utf8')))).join('\n')
  }
  const source = (await read('src')) + (await read('sdk/src'))
  const text = await readFile(join(consoleFolder, 'locales/de/api-errors.json'), 'utf8')
  const problems = Object.entries(JSON.parse(text) as Record<string, string>).flatMap(([template, translation]) => {
    const unknown = template.split(/\{\d\}/).filter((part) => part.trim().length > 15 && !source.includes(part.trim()))
    const values = (one: string): string[] => one.match(/\{\d\}/g) ?? []
    const extra = values(translation).filter((value) => !values(template).includes(value))
    return [...unknown, ...extra].map((part) => `${template}: ${part}`)
  })
  assert.deepEqual(problems, [])
})
