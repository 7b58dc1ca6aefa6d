import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { globSync } from 'node:fs'
import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** A file with one import, and the message of the rule that rejects it. */
const violations: [file: string, imported: string, message: RegExp][] = [
  ['src/platform/database.ts', '../config/config.ts', /platform may import no other area/],
  ['src/platform/http/limits/limits.ts', '../../../identity/actor.ts', /platform may import no other area/],
  ['src/config/models.ts', '../agents/agents.ts', /config may import platform/],
  ['src/outbox/a.ts', '../identity/actor.ts', /outbox may import platform/],
  ['src/events/a.ts', '../sessions/sessions.ts', /events may import/],
  ['src/agents/b.ts', '../events/events.ts', /agents may import/],
  ['src/identity/sign-in/factor/a.ts', '../../../quotas/quotas.ts', /identity may import platform, config/],
  ['src/quotas/quotas.ts', '../billing/billing.ts', /quotas may import/],
  ['src/providers/slack.ts', '../config/config.ts', /providers may import platform/],
  ['src/files/tree/deep/list.ts', '../../../agents/agents.ts', /files may import/],
  ['src/files/files.ts', '../identity/members/org-queries.ts', /import the rules of identity, not its SQL/],
  ['src/agents/consents/a.ts', '../../sessions/sessions.ts', /agents may import/],
  ['src/webhooks/deliver/a.ts', '../../connectors/connectors.ts', /webhooks may import/],
  ['src/billing/ledger/a.ts', '../../providers/stripe.ts', /billing may import/],
  ['src/billing/a.ts', '../quotas/queries.ts', /import quotas through its facade/],
  ['src/connectors/oauth/a.ts', '../../webhooks/webhooks.ts', /connectors may import/],
  ['src/sessions/a.ts', '../files/tree/names.ts', /import files through its facade/],
  ['src/sessions/tools/a.ts', '../../files/queries.ts', /import files through its facade/],
  ['src/sessions/tools/deep/er/a.ts', '../../../../files/tree/files.ts', /import files through its facade/],
  ['src/sessions/b.ts', '../agents/model-catalog.ts', /import agents through its facade/],
  ['src/sessions/c.ts', '../billing/ledger/ledger.ts', /import billing through its facade/],
  ['src/sessions/d.ts', '../protocols/mcp/routes.ts', /sessions may import/],
  ['src/protocols/mcp/a.ts', '../../sessions/turns/routes.ts', /import the rules of sessions, not its routes/],
  ['src/protocols/openai/a.ts', '../../billing/billing.ts', /protocols may import/],
  ['src/protocols/mcp/c.ts', '../../events/queries.ts', /import events through/],
  ['src/protocols/mcp/b.ts', '../../files/queries.ts', /import files through its facade/],
  ['src/console/a.ts', '../sessions/sessions.ts', /console may import platform/],
  ['src/reference/a.ts', '../config/config.ts', /reference may import platform/],
]

const allowed: [file: string, imported: string][] = [
  ['src/agents/b/ok.ts', '../../outbox/record.ts'],
  ['src/config/ok.ts', '../platform/database/database.ts'],
  ['src/identity/sign-in/ok.ts', '../../platform/http/routes.ts'],
  ['src/agents/consents/ok.ts', '../../quotas/quotas.ts'],
  ['src/webhooks/receive/ok.ts', '../../providers/slack.ts'],
  ['src/sessions/tools/deep/ok.ts', '../../../files/files.ts'],
  ['src/sessions/runtime/ok.ts', '../../agents/consents/consents.ts'],
  ['src/protocols/mcp/ok.ts', '../../sessions/turns/turns.ts'],
  ['src/protocols/mcp/fine.ts', '../../files/files.ts'],
  ['src/protocols/mcp/listens.ts', '../../events/stream/follow.ts'],
  ['src/files/uploads/ok.ts', '../tree/queries.ts'],
]

interface Report {
  diagnostics: { code: string; help?: string; message: string; filename: string }[]
}

const lint = (folder: string): Promise<Report> =>
  new Promise((resolve, reject) => {
    const command = join(root, 'node_modules/.bin/oxlint')
    // The exit code is 1 when something was found, which is expected here.
    execFile(command, ['--format', 'json'], { cwd: folder, maxBuffer: 16_777_216 }, (_error, stdout, stderr) => {
      try {
        resolve(JSON.parse(stdout) as Report)
      } catch {
        reject(new Error(`oxlint: ${stdout}${stderr}`))
      }
    })
  })

const folder = await mkdtemp(join(tmpdir(), 'atrium-lint-'))
after(() => rm(folder, { recursive: true, force: true }))

const write = async (file: string, text: string): Promise<void> => {
  const path = join(folder, file)
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, text)
}

await copyFile(join(root, '.oxlintrc.json'), join(folder, '.oxlintrc.json'))
for (const [file, imported] of [...violations, ...allowed]) {
  await write(file, `export type { A } from '${imported}'\nexport const load = () => import('${imported}')\n`)
}
await write('src/files/cycle/a.ts', `import type { B } from './b.ts'\nexport type A = B[]\n`)
await write('src/files/cycle/b.ts', `import type { A } from './a.ts'\nexport type B = A | null\n`)
await write('src/files/params.ts', 'export const sum = (a = 0, b = 0, c = 0, d = 0, e = 0) => a + b + c + d + e\n')
await write('src/files/four.ts', 'export const sum = (a = 0, b = 0, c = 0, d = 0) => a + b + c + d\n')
const { diagnostics } = await lint(folder)
const found = (file: string, rule: string) =>
  diagnostics.filter((one) => one.filename === file && one.code.includes(rule))

describe('the linter', () => {
  for (const [file, imported, message] of violations) {
    test(`the linter rejects the import of ${imported} in ${file}, static and dynamic`, () => {
      const reported = found(file, 'no-restricted-imports')
      assert.equal(reported.length, 2)
      for (const { help } of reported) assert.match(help ?? '', message)
    })
  }

  for (const [file, imported] of allowed) {
    test(`the linter accepts the import of ${imported} in ${file}`, () =>
      assert.deepEqual(found(file, 'no-restricted-imports'), []))
  }

  test('the linter rejects import cycles, also when they consist of types only', () => {
    assert.equal(found('src/files/cycle/a.ts', 'no-cycle').length + found('src/files/cycle/b.ts', 'no-cycle').length, 2)
  })

  test('the linter rejects functions with five parameters and accepts four', () => {
    assert.equal(found('src/files/params.ts', 'max-params').length, 1)
    assert.equal(found('src/files/four.ts', 'max-params').length, 0)
  })
})

// Migrations are a list that only grows, read by number.
test('no folder of the repository contains more than 25 files, except for migrations', () => {
  const files = globSync('{src,test,bench,scripts,docs,examples,console/src,sdk/src}/**/*.*', {
    cwd: root,
    exclude: (path) => path.includes('node_modules') || path.includes('dist'),
  })
  const counts = new Map<string, number>()
  for (const file of files) counts.set(dirname(file), (counts.get(dirname(file)) ?? 0) + 1)
  assert.ok(counts.size > 50)
  assert.deepEqual(
    [...counts].filter(([, count]) => count > 25),
    [],
  )
})
