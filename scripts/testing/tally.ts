// Counts the tests of a run by file, also of files that share a process.
import { relative } from 'node:path'
import { failureOf } from './failures.ts'
import type { Failure } from './failures.ts'

export interface TestEvent {
  name: string
  nesting: number
  file?: string
  details: { type?: string; duration_ms: number; error?: Error & { cause?: unknown; failureType?: string } }
}

export interface Outcome {
  passed: number
  failed: number
  failures: Failure[]
}

export interface Tally {
  outcome: Outcome
  /** Counts a test. */
  add(event: TestEvent, ok: boolean): void
  /** Whether the file, or one in its process, failed. */
  hasFailed(path: string): boolean
  /**
   * One line for each file of a process that has ended. A file whose tests were not run at all has failed, unless
   * `mayBeEmpty`.
   */
  linesOf(path: string, mayBeEmpty?: (file: string) => boolean): string[]
}

/** `groups`: the test files of each module that runs several. */
export const createTally = (root: string, groups: ReadonlyMap<string, string[]>): Tally => {
  const outcome: Outcome = { passed: 0, failed: 0, failures: [] }
  const failedFiles = new Set<string>()
  const ofFile = new Map<string, { tests: number; ms: number }>()

  const fail = (file: string, failure: Failure): void => {
    failedFiles.add(file)
    outcome.failed += 1
    outcome.failures.push(failure)
  }

  /** A file of a group is a test of the group's module, and passes or fails with its tests, or because it does not load. */
  const addFile = (file: string, { details: { error, duration_ms: ms } }: TestEvent, ok: boolean): void => {
    ofFile.set(file, { tests: ofFile.get(file)?.tests ?? 0, ms })
    if (ok) return
    failedFiles.add(file)
    if (error?.failureType !== 'subtestsFailed') fail(file, failureOf(`${file} › the file`, error))
  }

  const add = (event: TestEvent, ok: boolean): void => {
    const { type, error, duration_ms: ms } = event.details
    const path = event.file ?? event.name
    const members = groups.get(path)
    if (members?.includes(event.name)) return addFile(event.name, event, ok)
    const file = relative(root, path)
    const sum = ofFile.get(file) ?? { tests: 0, ms: 0 }
    if (type !== 'suite') sum.tests += 1
    if (event.nesting === 0) sum.ms += ms
    ofFile.set(file, sum)
    // Suites, and files as such, pass or fail with what is in them.
    if (ok) {
      if (type !== 'suite') outcome.passed += 1
    } else if (error?.failureType === 'subtestsFailed') failedFiles.add(file)
    else fail(file, failureOf(members ? `the process of ${members.join(', ')}` : `${file} › ${event.name}`, error))
    return undefined
  }

  const lineOf = (file: string): string => {
    const { tests, ms } = ofFile.get(file) ?? { tests: 0, ms: 0 }
    return `${failedFiles.has(file) ? '✗' : '✓'} ${file}: ${tests} (${(ms / 1000).toFixed(1)} s)`
  }

  return {
    outcome,
    add,
    hasFailed: (path) => [relative(root, path), ...(groups.get(path) ?? [])].some((file) => failedFiles.has(file)),
    linesOf: (path, mayBeEmpty = () => false) => {
      const members = groups.get(path)
      if (!members) return [lineOf(relative(root, path))]
      for (const member of members) {
        if (!ofFile.get(member)?.tests && !failedFiles.has(member) && !mayBeEmpty(member)) {
          fail(member, { title: `${member} › the file`, text: 'None of its tests was run.' })
        }
      }
      return members.map(lineOf)
    },
  }
}
