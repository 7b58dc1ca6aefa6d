// `npm test`: format, lint, types, generated files, then every test, with one summary at the end.
// `npm test -- files` runs only the test files whose path contains "files", without the checks before them.
import { spawn } from 'node:child_process'
import { availableParallelism, tmpdir } from 'node:os'
import { chmodSync, globSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statfsSync } from 'node:fs'
import { join, relative } from 'node:path'
import { run } from 'node:test'
import type { EventData } from 'node:test'
import { fileURLToPath } from 'node:url'
import { startTestServer } from '../test/database.ts'
import { formatFailure, formatOutput, titlesOf } from './testing/failures.ts'
import { byExpectedTime, mayLeaveOutItsTests, processesFor } from './testing/processes.ts'
import { createTally } from './testing/tally.ts'
import type { Outcome, TestEvent } from './testing/tally.ts'

type CoverageSummary = EventData.TestCoverage['summary']

const root = fileURLToPath(new URL('..', import.meta.url))
const bin = (name: string): string => `${root}node_modules/.bin/${name}`
const seconds = (sinceMs: number): string => `${((performance.now() - sinceMs) / 1000).toFixed(1)} s`
const say = (line: string): void => void process.stdout.write(`${line}\n`)

type Check = [name: string, command: string, args: string[]]

const buildConsole: Check = ['the console builds', process.execPath, ['scripts/build-console.mjs']]

const checks: Check[] = [
  ['format', bin('oxfmt'), ['--check', '.']],
  ['lint', bin('oxlint'), ['--type-aware', '--deny-warnings']],
  // More checkers repeat each other's work: together they take twice the CPU time, which the tests beside them need.
  ['types', bin('tsc'), ['--checkers', '1']],
  ['types of the SDK', bin('tsc'), ['-p', 'sdk', '--checkers', '1']],
  ['types of the console', bin('tsc'), ['-p', 'console', '--checkers', '1']],
  ['generated files are fresh', process.execPath, ['scripts/generate.ts', '--check']],
  [
    'the API document passes Spectral',
    bin('spectral'),
    ['lint', 'docs/openapi.json', '--fail-severity', 'warn', '--quiet'],
  ],
  ['the API document passes Redocly', bin('redocly'), ['lint', 'docs/openapi.json']],
]

const runCheck = async ([name, command, args]: Check): Promise<Outcome> => {
  const began = performance.now()
  // The linter's type checker, too, repeats work when it has several threads.
  const env = { ...process.env, GOMAXPROCS: '1' }
  const child = spawn(command, args, { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const code = await new Promise<number | null>((resolve) => {
    child.on('close', resolve)
    child.on('error', (error) => {
      output += error.message
      resolve(null)
    })
  })
  say(`${code === 0 ? '✓' : '✗'} ${name} (${seconds(began)})`)
  if (code === 0) return { passed: 1, failed: 0, failures: [] }
  return { passed: 0, failed: 1, failures: [{ title: name, text: output.trim() }] }
}

const percent = (value: number): string => `${value.toFixed(1)} %`
// Measuring takes a quarter more time. `.ci/run` asks for it.
const wantsCoverage = process.env['ATRIUM_TEST_COVERAGE'] === '1'

const testFiles = (filters: string[]): string[] =>
  globSync(['src/**/*.test.ts', 'test/**/*.test.ts', 'scripts/**/*.test.ts', 'sdk/**/*.test.ts'], { cwd: root })
    .filter((file) => filters.length === 0 || filters.some((filter) => file.includes(filter)))
    .toSorted(byExpectedTime)

const sayCoverage = ({ totals, files }: CoverageSummary): void => {
  say(`coverage: ${percent(totals.coveredLinePercent)} of lines, ${percent(totals.coveredBranchPercent)} of branches`)
  const worst = files.toSorted(
    (a, b) => a.coveredLineCount - a.totalLineCount - (b.coveredLineCount - b.totalLineCount),
  )
  for (const { path, totalLineCount, coveredLineCount, coveredBranchPercent } of worst.slice(0, 10)) {
    const missed = totalLineCount - coveredLineCount
    say(
      `  ${relative(root, path)}: ${missed} of ${totalLineCount} lines not covered, branches ${percent(coveredBranchPercent)}`,
    )
  }
}

interface TestRun {
  outcome: Outcome
  /** What failed processes printed. */
  output: string[]
}

const runTests = async (files: string[]): Promise<TestRun> => {
  const server = await startTestServer()
  process.env['ATRIUM_TEST_POSTGRES'] = JSON.stringify(server.connection)
  process.env['NODE_ENV'] = 'test'
  const leftOut = new Set<string>()
  const output = new Map<string, string>()
  const folder = mkdtempSync(join(tmpdir(), 'atrium-test-groups-'))
  const { paths, groups } = processesFor(files, root, folder)
  const tally = createTally(root, groups)
  try {
    const events = run({
      cwd: root,
      files: paths,
      // Many tests wait for a lease, a child process or a browser, so that three times as many files as cores keep them busy.
      concurrency: Math.max(4, 3 * availableParallelism()),
      isolation: 'process',
      // For test files that hang, or that a leaked handle keeps open. Some processes take three minutes, and fifteen on a
      // busy machine.
      timeout: 1_500_000,
      coverage: wantsCoverage,
      coverageIncludeGlobs: ['src/**/*.ts', 'sdk/src/**/*.ts', 'scripts/*.ts'],
      coverageExcludeGlobs: ['**/*.test.ts'],
    })
    events.on('test:coverage', ({ summary }) => sayCoverage(summary))
    events.on('test:summary', ({ file }) => {
      if (file === undefined) return
      const hasLeftOut = output.get(file)?.includes('left out: ') === true
      for (const line of tally.linesOf(file, (one) => hasLeftOut && mayLeaveOutItsTests(root + one))) say(line)
    })
    events.on('test:pass', (event) => tally.add(event, true))
    events.on('test:fail', (event) => tally.add(event as TestEvent, false))
    events.on('test:diagnostic', ({ file, message }) => {
      if (message.startsWith('left out: ')) leftOut.add(message)
      // Of a file that could not be loaded, nothing else names the error.
      if (file !== undefined && message.startsWith('Error: ')) output.set(file, `${output.get(file) ?? ''}${message}\n`)
    })
    for (const name of ['test:stderr', 'test:stdout'] as const) {
      events.on(name, ({ file, message }) => {
        output.set(file, (output.get(file) ?? '') + message)
        for (const line of message.split('\n')) if (line.startsWith('left out: ')) leftOut.add(line)
      })
    }
    for await (const _ of events);
  } finally {
    await server.stop()
    rmSync(folder, { recursive: true, force: true })
  }
  for (const line of leftOut) say(line)
  const ofFailed = [...output].filter(([file]) => tally.hasFailed(file))
  return { outcome: tally.outcome, output: ofFailed.map(([file, text]) => formatOutput(relative(root, file), text)) }
}

const memoryFolder = '/dev/shm'
const folderBytes = 8 * 2 ** 30
/** Besides the files, for servers and browsers. Files in memory would take it from other programs. */
const freeBytes = 4 * 2 ** 30

const isRunning = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/**
 * Lets the tests write to memory when it has room: creating a database there takes 20 ms of CPU, and half a second on a
 * disk with a journal. Crash tests kill processes and not the machine, so that they need no disk.
 */
const useMemoryForFiles = (): void => {
  if (process.env['TMPDIR'] !== undefined || process.platform !== 'linux') return
  const prefix = 'atrium-tests-'
  try {
    // A run that was killed could not remove its folder.
    for (const name of readdirSync(memoryFolder)) {
      const pid = name.startsWith(prefix) ? Number(name.slice(prefix.length)) : Number.NaN
      if (pid > 0 && !isRunning(pid)) rmSync(join(memoryFolder, name), { recursive: true, force: true })
    }
    const { bavail, bsize } = statfsSync(memoryFolder)
    if (bavail * bsize < folderBytes || process.availableMemory() < freeBytes) return
    const folder = join(memoryFolder, `${prefix}${process.pid}`)
    mkdirSync(folder)
    // PostgreSQL, which does not run as root, must be able to enter it.
    chmodSync(folder, 0o755)
    process.env['TMPDIR'] = folder
    process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(130))
  } catch (error) {
    say(`the tests write to the disk: ${(error as Error).message}`)
  }
}

const main = async (): Promise<void> => {
  const filters = process.argv.slice(2)
  const began = performance.now()
  useMemoryForFiles()
  const outcomes: Outcome[] = []
  const files = testFiles(filters)
  if (files.length === 0) throw new Error(`no test file matches ${filters.join(' ')}`)
  const runChecks = async (): Promise<void> => {
    for (const check of checks) outcomes.push(await runCheck(check))
  }
  // Some tests read the built console. The other checks run beside the tests, many of which wait.
  if (filters.length === 0) outcomes.push(await runCheck(buildConsole))
  const [tested] = await Promise.all([runTests(files), filters.length === 0 ? runChecks() : undefined])
  outcomes.push(tested.outcome)
  const failures = outcomes.flatMap((one) => one.failures)
  const passed = outcomes.reduce((sum, one) => sum + one.passed, 0)
  const failed = outcomes.reduce((sum, one) => sum + one.failed, 0)
  for (const failure of failures) say(`\n${formatFailure(failure)}`)
  for (const text of tested.output) say(`\n${text}`)
  say(`\n${files.length} test files in ${seconds(began)}`)
  // Often only the end of the output is kept.
  for (const title of titlesOf(failures)) say(title)
  say(`${passed} passed, ${failed} failed`)
  process.exitCode = failed === 0 ? 0 : 1
}

await main()
