import assert from 'node:assert/strict'
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { bounded, failureOf, formatFailure, titlesOf } from './failures.ts'
import { byExpectedTime, processesFor } from './processes.ts'
import { createTally } from './tally.ts'
import type { TestEvent } from './tally.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

test('every test file is in exactly one process, and files that change their process are alone', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'atrium-groups-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const files = globSync(['src/**/*.test.ts', 'test/**/*.test.ts', 'sdk/**/*.test.ts'], { cwd: root })
  const { paths, groups } = processesFor(files.toSorted(byExpectedTime), root, folder)
  const run = paths.flatMap((path) => groups.get(path)?.map((file) => root + file) ?? [path])
  assert.deepEqual(run.toSorted(), files.map((file) => root + file).toSorted())
  for (const members of groups.values()) {
    if (members.length > 1)
      for (const file of members)
        assert.doesNotMatch(readFileSync(root + file, 'utf8'), /^\s*process\.env\[[^\]]+\] =/m)
  }
})

test('a long failure is printed with its start and its end, and every title in one short line', () => {
  const text = formatFailure(failureOf('it fails', new Error(`first ${'x'.repeat(100_000)} last`)))
  assert.ok(text.length < 21_000)
  assert.match(text, /^✗ it fails\nError: first x+\n… \d+ characters left out …\n/)
  assert.match(bounded(`${'x'.repeat(50)} last`, 20), / last$/)
  const titles = titlesOf(Array.from({ length: 50 }, () => ({ title: `a\n${'title '.repeat(100)}`, text })))
  assert.equal(titles.length, 41)
  assert.equal(titles.at(-1), '✗ and 10 more')
  assert.ok(titles.every((line) => line.length <= 202 && !line.includes('\n')))
})

test('files of a group are counted by their own tests, and a file that does not load or runs no test fails', () => {
  const group = '/folder/group-1.mjs'
  const tally = createTally('/root/', new Map([[group, ['a.test.ts', 'b.test.ts', 'c.test.ts']]]))
  const event = (name: string, file: string, more: Partial<TestEvent['details']> = {}, nesting = 0): TestEvent => ({
    name,
    file,
    nesting,
    details: { type: 'test', duration_ms: 1_500, ...more },
  })
  const failed = (failureType: string): Partial<TestEvent['details']> => ({
    error: Object.assign(new Error(failureType), { failureType }),
  })
  tally.add(event('one', '/root/a.test.ts', {}, 1), true)
  tally.add(event('two', '/root/a.test.ts', failed('testCodeFailure'), 1), false)
  tally.add(event('a.test.ts', group, failed('subtestsFailed')), false)
  tally.add(event('b.test.ts', group, failed('testCodeFailure')), false)
  assert.deepEqual(tally.linesOf(group), ['✗ a.test.ts: 2 (1.5 s)', '✗ b.test.ts: 0 (1.5 s)', '✗ c.test.ts: 0 (0.0 s)'])
  const { passed, failed: failures } = tally.outcome
  assert.deepEqual([passed, failures], [1, 3])
  assert.deepEqual(titlesOf(tally.outcome.failures), [
    '✗ a.test.ts › two',
    '✗ b.test.ts › the file',
    '✗ c.test.ts › the file',
  ])
  assert.ok(tally.hasFailed(group))
})
