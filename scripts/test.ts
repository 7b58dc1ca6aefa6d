// `npm test`: format, lint, types, generated files, then every test, with one summary at the end.
// `npm test -- files` runs only the test files whose path contains "files", without the checks before them.
import { spawn } from 'node:child_process'
import { availableParallelism, tmpdir } from 'node:os'
import {
  chmodSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from 'node:fs'
import { join, relative } from 'node:path'
import { run } from 'node:test'
import { inspect } from 'node:util'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { startTestServer } from '../test/database.ts'

interface Outcome {
  passed: number
  failed: number
  /** The full output of the failures, for the summary. */
  failures: string[]
}

const root = fileURLToPath(new URL('..', import.meta.url))
const bin = (name: string): string => `${root}node_modules/.bin/${name}`
const seconds = (sinceMs: number): string => `${((performance.now() - sinceMs) / 1000).toFixed(1)} s`
const say = (line: string): void => void process.stdout.write(`${line}\n`)

type Check = [name: string, command: string, args: string[]]

const buildConsole: Check = ['the console builds', process.execPath, ['scripts/build-console.mjs']]

const checks: Check[] = [
  ['format', bin('oxfmt'), ['--check', '.']],
  ['lint', bin('oxlint'), ['--type-aware', '--deny-warnings']],
  ['types', bin('tsc'), []],
  ['types of the SDK', bin('tsc'), ['-p', 'sdk']],
  ['types of the console', bin('tsc'), ['-p', 'console']],
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
  const child = spawn(command, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] })
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
  return { passed: 0, failed: 1, failures: [`${name}\n${output.trim()}`] }
}

interface TestEvent {
  name: string
  nesting: number
  file?: string
  details: { type?: string; duration_ms: number; error?: Error & { cause?: unknown; failureType?: string } }
}

const slowFolders = [
  'test/console/pages',
  'test/start',
  'src/cli/',
  'test/crash/',
  'test/console/',
  'test/',
  'scripts/',
]
const rank = (file: string): number => {
  const found = slowFolders.findIndex((folder) => file.startsWith(folder))
  return found === -1 ? slowFolders.length : found
}

const filesPerProcess = 8
/** The test of a group that ends when its files are loaded. It is not counted. */
const loading = 'the files are loaded'
const minFilesToGroup = 12
/** What a test file does to its whole process: hooks of every test, the environment, signals, classes of libraries. */
const changesItsProcess =
  /^(?:before|after)Each\(|^\s*(?:delete )?process\.(?:env\[[^\]]+\] =|env\[[^\]]+\]$|on\(|chdir\()|\.prototype\b|mock\.timers/m

/** Tests that start processes and browsers wait for them most of the time, and gain nothing from sharing a process. */
const sharesAProcess = (file: string): boolean =>
  (rank(file) === slowFolders.length || file.startsWith('test/contract/')) &&
  !changesItsProcess.test(readFileSync(root + file, 'utf8'))

/**
 * A module that runs several test files. Tests run one after another, so that the first one holds the others back until
 * all files are loaded: otherwise the run would end when the tests of the first file have ended. A file that cannot be
 * loaded fails as a test of its name, and the others run.
 */
const groupText = (files: string[]): string => `import { test } from 'node:test'
const { promise, resolve } = Promise.withResolvers()
test('${loading}', () => promise)
for (const file of ${JSON.stringify(files)}) {
  await import('${pathToFileURL(root).href}' + file).catch((error) => test(file + ' loads', () => { throw error }))
}
resolve()
`

/**
 * Groups test files into processes. Most of the CPU time of a file is loading the server and compiling its code, which is
 * done once for each process. The others have a process of their own. Both kinds alternate, so that some processes wait
 * while others compute.
 */
const processesFor = (files: string[], folder: string): { paths: string[]; groups: Map<string, string[]> } => {
  const groups = new Map<string, string[]>()
  if (files.length < minFilesToGroup) return { paths: files.map((file) => root + file), groups }
  const shared = files.filter(sharesAProcess)
  const alone = files.filter((file) => !shared.includes(file)).map((file) => root + file)
  const count = Math.ceil(shared.length / filesPerProcess)
  for (let n = 0; n < count; n += 1) {
    // Neighbours, which are often of the same size, are in different groups.
    const members = shared.filter((_file, place) => place % count === n)
    const path = join(folder, `group-${n + 1}.mjs`)
    writeFileSync(path, groupText(members))
    groups.set(path, members)
  }
  const rest = [...groups.keys()]
  const ratio = count / Math.max(1, alone.length)
  const paths = alone.flatMap((file, n) => [
    file,
    ...rest.splice(0, Math.floor((n + 1) * ratio) - Math.floor(n * ratio)),
  ])
  return { paths: [...paths, ...rest], groups }
}

/** Whether the tests of a file are inside of a condition, such as that a program is installed. */
const mayLeaveOutItsTests = (file: string): boolean => /^if \(.*\bawait\b/m.test(readFileSync(root + file, 'utf8'))

const percent = (value: number): string => `${value.toFixed(1)} %`
// Measuring takes a quarter more time. `.ci/run` asks for it.
const wantsCoverage = process.env['ATRIUM_TEST_COVERAGE'] === '1'

const testFiles = (filters: string[]): string[] =>
  globSync(['src/**/*.test.ts', 'test/**/*.test.ts', 'scripts/**/*.test.ts', 'sdk/**/*.test.ts'], { cwd: root })
    .filter((file) => filters.length === 0 || filters.some((filter) => file.includes(filter)))
    // Tests of whole processes and of pages take longest: started last, each would run alone at the end.
    .toSorted((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1))

const describeFailure = (event: TestEvent): string => {
  const { error } = event.details
  const cause = error?.cause ?? error
  const text = cause instanceof Error ? (cause.stack ?? cause.message) : inspect(cause)
  return `${relative(root, event.file ?? '')} › ${event.name}\n${text}`
}

const runTests = async (files: string[]): Promise<Outcome> => {
  const server = await startTestServer()
  process.env['ATRIUM_TEST_POSTGRES'] = JSON.stringify(server.connection)
  process.env['NODE_ENV'] = 'test'
  const outcome: Outcome = { passed: 0, failed: 0, failures: [] }
  const leftOut = new Set<string>()
  const output = new Map<string, string>()
  const failedFiles = new Set<string>()
  const folder = mkdtempSync(join(tmpdir(), 'atrium-test-groups-'))
  const { paths, groups } = processesFor(files, folder)
  /** Tests and milliseconds of each file in a group. */
  const ofFile = new Map<string, { tests: number; ms: number }>()
  try {
    const events = run({
      cwd: root,
      files: paths,
      // Many tests wait for a lease, a child process or a browser, so that three times as many files as cores keep them busy.
      concurrency: Math.max(4, 3 * availableParallelism()),
      isolation: 'process',
      // For test files that hang, or that a leaked handle keeps open. The files of the console take two minutes, and ten
      // on a busy machine.
      timeout: 900_000,
      coverage: wantsCoverage,
      coverageIncludeGlobs: ['src/**/*.ts', 'sdk/src/**/*.ts', 'scripts/*.ts'],
      coverageExcludeGlobs: ['**/*.test.ts'],
    })
    events.on('test:coverage', ({ summary }) => {
      const { totals, files: covered } = summary
      say(
        `coverage: ${percent(totals.coveredLinePercent)} of lines, ${percent(totals.coveredBranchPercent)} of branches`,
      )
      const worst = covered.toSorted(
        (a, b) => a.coveredLineCount - a.totalLineCount - (b.coveredLineCount - b.totalLineCount),
      )
      for (const { path, totalLineCount, coveredLineCount, coveredBranchPercent } of worst.slice(0, 10)) {
        const missed = totalLineCount - coveredLineCount
        say(
          `  ${relative(root, path)}: ${missed} of ${totalLineCount} lines not covered, branches ${percent(coveredBranchPercent)}`,
        )
      }
    })
    const count = (event: TestEvent, ok: boolean): void => {
      const { type, error } = event.details
      const name = relative(root, event.file ?? '')
      const sum = ofFile.get(name) ?? { tests: 0, ms: 0 }
      sum.tests += type === 'suite' ? 0 : 1
      sum.ms += event.nesting === 0 ? event.details.duration_ms : 0
      ofFile.set(name, sum)
      // Suites, and files as such, pass or fail with what is in them.
      if (ok) {
        if (type !== 'suite') outcome.passed += 1
        return
      }
      failedFiles.add(relative(root, event.file ?? event.name))
      if (error?.failureType === 'subtestsFailed') return
      outcome.failed += 1
      outcome.failures.push(describeFailure(event))
    }
    events.on('test:summary', ({ file, success, counts, duration_ms: milliseconds }) => {
      if (file === undefined) return
      const members = groups.get(file)
      for (const member of members ?? []) {
        const { tests, ms } = ofFile.get(member) ?? { tests: 0, ms: 0 }
        // A file whose tests were not run at all must not pass unnoticed.
        const isLeftOut = mayLeaveOutItsTests(member) && output.get(file)?.includes('left out: ') === true
        if (tests === 0 && !failedFiles.has(member) && !isLeftOut) {
          outcome.failed += 1
          outcome.failures.push(`${member}\nNone of its tests was run.`)
          failedFiles.add(member)
        }
        say(`${failedFiles.has(member) ? '✗' : '✓'} ${member}: ${tests} (${(ms / 1000).toFixed(1)} s)`)
      }
      if (!members)
        say(`${success ? '✓' : '✗'} ${relative(root, file)}: ${counts.tests} (${(milliseconds / 1000).toFixed(1)} s)`)
    })
    events.on('test:pass', (event) => {
      if (event.name !== loading) count(event, true)
    })
    events.on('test:fail', (event) => count(event as TestEvent, false))
    events.on('test:diagnostic', ({ message }) => {
      if (message.startsWith('left out: ')) leftOut.add(message)
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
  for (const [file, text] of output) {
    const name = relative(root, file)
    if ([name, ...(groups.get(file) ?? [])].some((one) => failedFiles.has(one)))
      outcome.failures.push(`output of ${name}\n${text.trim().slice(-8_000)}`)
  }
  for (const line of leftOut) say(line)
  return outcome
}

const memoryFolder = '/dev/shm'
const memoryNeededBytes = 8 * 2 ** 30

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
    if (bavail * bsize < memoryNeededBytes) return
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
  outcomes.push(tested)
  const passed = outcomes.reduce((sum, one) => sum + one.passed, 0)
  const failed = outcomes.reduce((sum, one) => sum + one.failed, 0)
  for (const failure of outcomes.flatMap((one) => one.failures)) say(`\n✗ ${failure}`)
  say(`\n${files.length} test files in ${seconds(began)}`)
  say(`${passed} passed, ${failed} failed`)
  process.exitCode = failed === 0 ? 0 : 1
}

await main()
