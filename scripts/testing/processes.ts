// How the test runner distributes test files over processes.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

interface Kind {
  /** How the paths of its files start. */
  starts: string[]
  filesPerProcess: number
  /** Whether its processes start last: the end of a run has little to do beside them. */
  isShort?: boolean
  /**
   * Whether its processes measure coverage, by default. It takes a quarter of their time. Tests of the whole installation
   * run code that the tests beside it run too.
   */
  measuresCoverage?: boolean
}

/**
 * Loading the server and running its code for the first time takes two seconds of CPU time in each process. So files share
 * processes, fewer of them when they take long. The files that take minutes are the first: started last, a long
 * process would run alone at the end.
 */
const kinds: Kind[] = [
  {
    starts: [
      'test/guides/',
      'test/console/pages',
      'test/console/settings',
      'test/console/files',
      'test/reference/',
      'test/scale/',
      'test/examples/nextjs-chat',
      'test/deploy/proxies',
    ],
    filesPerProcess: 1,
    measuresCoverage: false,
  },
  { starts: ['test/deploy/guides', 'test/start', 'src/platform/object-store/conformance'], filesPerProcess: 1 },
  { starts: ['test/console/'], filesPerProcess: 5, measuresCoverage: false },
  { starts: ['test/crash/'], filesPerProcess: 5 },
  { starts: ['test/contract/'], filesPerProcess: 12, measuresCoverage: false },
  { starts: ['test/', 'scripts/'], filesPerProcess: 4, isShort: true },
  { starts: [''], filesPerProcess: 18 },
]
const minFilesToGroup = 12

/** What a test file does to its whole process: the environment, signals, clocks, classes of libraries. */
const changesItsProcess =
  /^\s*(?:delete )?process\.(?:env\[[^\]]+\] =|env\[[^\]]+\]$|on\(|chdir\()|(?<!Object)\.prototype(?:\.\w+ =| as )|mock\.timers/m

/** Whether the tests of a file are inside of a condition, such as that a program is installed. */
export const mayLeaveOutItsTests = (path: string): boolean => /^if \(.*\bawait\b/m.test(readFileSync(path, 'utf8'))

const rank = (file: string): number => kinds.findIndex(({ starts }) => starts.some((start) => file.startsWith(start)))

/** The place of a file in all kinds, in which those of one start are equal. */
const placeOf = (file: string): number =>
  kinds.flatMap(({ starts }) => starts).findIndex((start) => file.startsWith(start))

export const byExpectedTime = (a: string, b: string): number =>
  rank(a) - rank(b) || placeOf(a) - placeOf(b) || (a < b ? -1 : 1)

/**
 * A module that runs test files one after another. Each is a test that loads the file, so that its hooks are those of the
 * file, its servers are closed before the next file starts, and a file that cannot be loaded fails by its name.
 */
const groupText = (root: string, files: string[], measuresCoverage: boolean): string => {
  const { href } = pathToFileURL(root)
  const stop = `import { stopCoverage } from 'node:v8'
stopCoverage()
delete process.env['NODE_V8_COVERAGE']
`
  return `${measuresCoverage ? '' : stop}import { after, test } from 'node:test'
import { allFilesEnded, shareProcess } from '${href}test/open-handles.ts'
shareProcess()
after(allFilesEnded)
for (const file of ${JSON.stringify(files)}) test(file, async () => void (await import('${href}' + file)))
`
}

export interface Processes {
  /** What to run, in order. */
  paths: string[]
  /** The test files of each path that runs several. */
  groups: Map<string, string[]>
}

/** Groups test files, sorted by expected time, into processes. The modules of groups are written to `folder`. */
export const processesFor = (files: string[], root: string, folder: string): Processes => {
  const groups = new Map<string, string[]>()
  if (files.length < minFilesToGroup) return { paths: files.map((file) => root + file), groups }
  const short: string[] = []
  const paths: string[][] = kinds.map(({ filesPerProcess, isShort = false, measuresCoverage = true }, place) => {
    const ofKind = files.filter((file) => rank(file) === place)
    const alone = ofKind.filter(
      (file) => filesPerProcess === 1 || changesItsProcess.test(readFileSync(root + file, 'utf8')),
    )
    const shared = ofKind.filter((file) => !alone.includes(file))
    const writeGroup = (name: string, members: string[]): string => {
      const path = join(folder, `group-${place + 1}-${name}.mjs`)
      writeFileSync(path, groupText(root, members, measuresCoverage))
      groups.set(path, members)
      return path
    }
    const count = Math.ceil(shared.length / filesPerProcess)
    const made = Array.from({ length: count }, (_, n) =>
      // Neighbours, which are often of the same size, are in different groups.
      writeGroup(
        String(n + 1),
        shared.filter((_file, at) => at % count === n),
      ),
    )
    const single = alone.map((file, n) => (measuresCoverage ? root + file : writeGroup(`alone-${n + 1}`, [file])))
    if (!isShort && filesPerProcess === 1) return single
    // One file of those that otherwise share a process is short, too.
    short.push(...single)
    return made
  })
  return { paths: [...alternate(paths.slice(0, -1).flat(), paths.at(-1) ?? []), ...short], groups }
}

/** Files that start processes and browsers wait often, so that files which only compute run beside them. */
const alternate = (waiting: string[], computing: string[]): string[] => {
  const ratio = computing.length / Math.max(1, waiting.length)
  const mixed = waiting.flatMap((path, n) => [
    path,
    ...computing.slice(Math.floor(n * ratio), Math.floor((n + 1) * ratio)),
  ])
  return waiting.length === 0 ? computing : mixed
}
