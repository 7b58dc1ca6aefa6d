import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { getCatalogs } from '@lingui/cli/api'
import { getConfig } from '@lingui/conf'
import { compileMessage } from '@lingui/message-utils/compileMessage'
import apiTexts from '../../console/locales/de/api-texts.json' with { type: 'json' }
import { parseConfig } from '../../src/config/config.ts'
import { catalog as connectors } from '../../src/connectors/catalog/catalog.ts'
import { roles } from '../../src/identity/permissions.ts'
import { eventTypes } from '../../src/outbox/catalog.ts'
import { auditResourceTypes } from '../../console/src/pages/settings/audit-actions.ts'
import { translateApiText } from '../../console/src/i18n/api-texts.ts'
import { compileMessage as compileInBrowser } from '../../console/src/i18n/compile-message.ts'
import { findHardCodedTexts, findInFolder, sentencesOf } from '../../scripts/console-texts/hard-coded.ts'

const rootFolder = fileURLToPath(new URL('../..', import.meta.url))
const consoleFolder = join(rootFolder, 'console')

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
  assert.deepEqual(texts('const a = <B hint="0–4, default 1" />; const b = on ? " (estimated)" : ""'), [
    '0–4, default 1',
    '(estimated)',
  ])
  assert.deepEqual(texts('const a = t`Deleted ${n} files`; const b = <Trans>Delete <b>{n}</b>?</Trans>'), [])
  assert.deepEqual(texts("type A = 'Some text here'; throw new Error('A bug of the console')"), [])
  assert.deepEqual(texts('const a = <code>npm start</code>'), [])
  assert.deepEqual(texts("const a = { peer: 'another agent’s message' }; const b = name ?? 'the agent'"), [
    'another agent’s message',
    'the agent',
  ])
  assert.deepEqual(texts("const a = { project: 'project instructions written by others' }; const b = 'Sending…'"), [
    'project instructions written by others',
    'Sending…',
  ])
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

/** The source of the server and of the SDK, without tests. */
const readSource = async (): Promise<string> => {
  const read = async (folder: string): Promise<string> => {
    const root = join(rootFolder, folder)
    const names = (await readdir(root, { recursive: true })).filter((name) => /(?<!\.test)\.ts$/.test(name))
    return (await Promise.all(names.map((name) => readFile(join(root, name), 'utf8')))).join('\n')
  }
  return (await read('src')) + (await read('sdk/src'))
}

/** The descriptions in a JSON schema. */
const descriptionsOf = (schema: unknown): string[] => {
  if (typeof schema !== 'object' || schema === null) return []
  const own = 'description' in schema && typeof schema.description === 'string' ? [schema.description] : []
  return [...own, ...Object.values(schema).flatMap(descriptionsOf)]
}

test('the connectors, their tools, the event types and the plans, which the API describes in English, have German texts', async () => {
  const described = [
    ...[...connectors.values()].flatMap(({ description, auth, tools }) => [
      description,
      ...tools.map((tool) => tool.description),
      ...(auth.type === 'api_key' ? auth.fields.flatMap(({ label, help }) => [label, help ?? label]) : []),
    ]),
    ...Object.values(eventTypes).flatMap(({ description, data }) => [description, ...descriptionsOf(data.properties)]),
    ...parseConfig({ NODE_ENV: 'test' }).billing.plans.map(({ description }) => description),
  ]
  assert.deepEqual(
    described.filter((text) => translateApiText(text) === undefined),
    [],
  )
  const source = await readSource()
  const isUsed = (text: string): boolean =>
    described.includes(text) || source.includes(text) || source.includes(text.replace(/^The /, ''))
  assert.deepEqual(
    Object.keys(apiTexts).filter((text) => !isUsed(text)),
    [],
    'no text is left over',
  )
})

/** Files whose sentences are shown as the reason of a failed turn, delivery, connection or payment. */
const filesWithReasons = [
  'agents/model-catalog',
  'billing/account',
  'billing/payments/topups',
  'connectors/catalog/availability',
  'connectors/oauth/client',
  'events/endpoints/prepare',
  'events/endpoints/rights',
  'platform/outbound/outbound',
  'sessions/embeddings/embedding-client',
  'sessions/models/circuits',
  'sessions/models/language-model',
  'sessions/models/models',
  'sessions/runtime/authority',
  'sessions/runtime/claim-turn',
  'sessions/runtime/costs/reservations',
  'sessions/runtime/steps/output-check',
  'sessions/runtime/steps/questions',
  'sessions/runtime/steps/turn-loop',
  'sessions/turns/authority',
  'sessions/turns/decisions',
  'sessions/turns/turn-details',
  'webhooks/deliver/attempt',
  'webhooks/deliver/deliveries',
  'webhooks/deliver/settle',
]

test('every reason of a failed turn, delivery, connection or payment has a German text', async () => {
  const missing: string[] = []
  let count = 0
  for (const file of filesWithReasons) {
    const path = join(rootFolder, 'src', `${file}.ts`)
    // Texts for models begin so.
    const sentences = sentencesOf(path, await readFile(path, 'utf8')).filter((text) => !text.startsWith('Not run:'))
    count += sentences.length
    for (const text of sentences) if (translateApiText(text) === undefined) missing.push(`${file}: ${text}`)
  }
  assert.deepEqual(missing, [])
  assert.ok(count > 50)
})

test('every role, and every kind of resource of the audit log, has a word in the message catalogues', async () => {
  const source = await readFile(join(consoleFolder, 'src/words.ts'), 'utf8')
  const words = new Set([...source.matchAll(/^ {2}(\w+): msg`/gm)].map(([, word]) => word))
  const shown = [...roles, ...auditResourceTypes.map((type) => type.replaceAll('-', '_'))]
  assert.deepEqual(
    shown.filter((word) => !words.has(word)),
    [],
  )
})

test('every German error message translates one that the server or the SDK has, with the same values', async () => {
  const source = await readSource()
  const text = await readFile(join(consoleFolder, 'locales/de/api-errors.json'), 'utf8')
  const problems = Object.entries(JSON.parse(text) as Record<string, string>).flatMap(([template, translation]) => {
    const unknown = template.split(/\{\d\}/).filter((part) => part.trim().length > 15 && !source.includes(part.trim()))
    const values = (one: string): string[] => one.match(/\{\d\}/g) ?? []
    const extra = values(translation).filter((value) => !values(template).includes(value))
    return [...unknown, ...extra].map((part) => `${template}: ${part}`)
  })
  assert.deepEqual(problems, [])
})

test('a text of the API with more than 1,000 characters is shown as it is, because matching could take seconds', () => {
  const known = 'name must be 1–100 characters'
  assert.notEqual(translateApiText(known), undefined)
  assert.equal(translateApiText(`${'n'.repeat(1_000)}${known}`), undefined)
})
