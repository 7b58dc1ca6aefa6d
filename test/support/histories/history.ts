import assert from 'node:assert/strict'
import type { Answer, TestApp } from '../../harness.ts'
import type { Item, Model, Person } from './model.ts'

const given = process.env['ATRIUM_TEST_HISTORIES_SEED']

/** ATRIUM_TEST_HISTORIES sets how many histories are tried, ATRIUM_TEST_HISTORIES_SEED the seed that a failure printed. */
export const asked = {
  numRuns: Number(process.env['ATRIUM_TEST_HISTORIES'] ?? 3),
  seed: given === undefined ? Math.trunc(Math.random() * 2_147_483_647) : Number(given),
}

/** One step: what is done by whom, and numbers that choose what it is done to. */
export interface Step {
  kind: string
  who: number
  on: number
  to: number
  n: number
  /** Where the process is killed, if it is. */
  killedAt: 'never' | 'before' | 'after'
}

export interface History {
  app: TestApp
  model: Model
  orgId: string
}

export type StepKinds = Record<string, (history: History, step: Step, person: Person) => Promise<void>>

export const names = ['a.txt', 'b.txt', 'docs', 'work']

export const pick = <T>(list: readonly T[], n: number): T | undefined =>
  list.length === 0 ? undefined : list[n % list.length]

/** Mostly what is live, sometimes what is in the trash or deleted. */
export const pickItem = ({ model: { items } }: History, n: number): Item | undefined => {
  const live = items.filter(({ state }) => state === 'live')
  return n % 4 === 3 ? pick(items, n >> 2) : (pick(live, n >> 2) ?? pick(items, n))
}

/** A folder, or null for the root. */
export const pickPlace = ({ model: { items } }: History, n: number): string | null => {
  const folders = items.filter(({ source, state }) => source === 'folder' && state === 'live')
  if (n % 8 === 7) return pick(items, n >> 3)?.id ?? null
  return n % 4 === 0 ? null : (pick(folders, n >> 2)?.id ?? null)
}

export const call = (
  { app }: History,
  { actor }: Person,
  method: string,
  given: { path: string; json?: object; body?: string },
): Promise<Answer> => {
  const { path, ...options } = given
  return app.call(method, `/api/v1/files${path}`, { as: actor, ...options })
}

/** Asserts the status of an answer. Returns whether the request succeeded. */
export const answers = (answer: Answer, expected: number, what: string): boolean => {
  assert.equal(answer.status, expected, `${what}: ${answer.text}`)
  return expected < 400
}
