// Random histories of everything that people, strangers and programs do with the files of an org, beside a model of maps
// that knows the result of each step.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import fc from 'fast-check'
import { startTestApp } from '../../test/harness.ts'
import { bytesAreExact, countsAreRight, storeIsExact, viewIsExact } from '../../test/support/histories/checks.ts'
import { davSteps } from '../../test/support/histories/dav-steps.ts'
import { asked } from '../../test/support/histories/history.ts'
import type { History, Step } from '../../test/support/histories/history.ts'
import { createModel } from '../../test/support/histories/model.ts'
import type { Person } from '../../test/support/histories/model.ts'
import { sharingSteps } from '../../test/support/histories/sharing-steps.ts'
import { stormWithKills } from '../../test/support/histories/kills.ts'
import type { KilledRound } from '../../test/support/histories/kills.ts'
import { leavingSteps } from '../../test/support/histories/leaving-steps.ts'
import { storm } from '../../test/support/histories/storm.ts'
import { treeSteps } from '../../test/support/histories/tree-steps.ts'
import { tusSteps } from '../../test/support/histories/tus-steps.ts'
import { commandUrlOf } from '../../test/support/processes/command.ts'
import { startServerProcess } from '../../test/support/processes/server-process.ts'
import { purgeDue } from './trash/purge.ts'

// Without a worker, so that the test decides when jobs run.
const app = await startTestApp({}, { work: false })

const kinds = { ...treeSteps, ...sharingSteps, ...tusSteps, ...davSteps, ...leavingSteps }
const often =
  'upload,upload,upload,upload,folder,folder,folder,folder,dav put,dav put,dav mkcol,overwrite,overwrite,move,move,restrict,restrict,dav move,dav copy,tus patch,share,mark,leave'

const step: fc.Arbitrary<Step> = fc.record({
  kind: fc.constantFrom(...Object.keys(kinds), ...often.split(',')),
  who: fc.constantFrom(0, 0, 1, 2, 2, 3),
  on: fc.nat(1_023),
  to: fc.nat(1_023),
  n: fc.nat(1_023),
  killedAt: fc.constantFrom('never', 'never', 'never', 'before', 'after'),
})

const begin = async (): Promise<History> => {
  const owner = await app.createOrg()
  const [admin, member, outsider] = [
    await app.createUser(owner, 'admin'),
    await app.createUser(owner),
    await app.createUser(owner, 'member', { inWorkspace: false }),
  ]
  const people: Person[] = [
    { actor: owner, role: 'owner', isInWorkspace: true, favorites: new Set() },
    { actor: admin, role: 'admin', isInWorkspace: true, favorites: new Set() },
    { actor: member, role: 'member', isInWorkspace: true, favorites: new Set() },
    { actor: outsider, role: 'member', isInWorkspace: false, favorites: new Set() },
  ]
  return { app, model: createModel(people), orgId: owner.orgId }
}

const run = async (history: History, steps: readonly Step[]): Promise<void> => {
  const { people } = history.model
  for (const [index, step] of steps.entries()) {
    const person = people[step.who] as Person
    await kinds[step.kind]?.(history, step, person)
    await countsAreRight(history)
    await viewIsExact(history, people[index % people.length] as Person)
  }
  for (const person of people) {
    await viewIsExact(history, person)
    await bytesAreExact(history, person)
  }
  await storeIsExact(history)
}

/** Deletes everything, after which nothing must be left. */
const end = async (history: History): Promise<void> => {
  const { model, orgId } = history
  const [owner] = model.people
  for (const { path, state } of model.uploads) {
    if (state === 'open') await app.call('DELETE', path, { as: owner!.actor, headers: { 'tus-resumable': '1.0.0' } })
  }
  await app.call('DELETE', '/api/v1/files/trash', { as: owner!.actor })
  for (const { id } of model.items) await app.call('DELETE', `/api/v1/files/${id}?permanent=true`, { as: owner!.actor })
  await purgeDue({ db: app.db, jobs: app.deps.jobs }, orgId)
  for (const item of model.items) item.state = 'purged'
  for (const upload of model.uploads) if (upload.owner === owner) upload.state = 'ended'
  await countsAreRight(history)
  await storeIsExact(history)
}

/** Tries random histories, and prints how to repeat those that fail. */
const tryAll = async <T>(
  t: TestContext,
  given: fc.Arbitrary<T>,
  run: (given: T) => Promise<void>,
  options: fc.Parameters<[T]> = {},
): Promise<void> => {
  t.diagnostic(`ATRIUM_TEST_HISTORIES_SEED=${asked.seed}`)
  // Without a bias, which would prefer short histories of the first items.
  const result = await fc.check(fc.asyncProperty(fc.noBias(given), run), { ...asked, ...options })
  const error = result.errorInstance as Error | null
  assert.ok(!result.failed, `${fc.defaultReportMessage(result) ?? ''}\n${error?.stack}`)
}

test('what people see, stored bytes, counts and quotas are exact after every step of random histories of files', (t) =>
  tryAll(t, fc.array(step, { minLength: 1, maxLength: 60, size: 'max' }), async (steps) => {
    const history = await begin()
    await run(history, steps)
    await end(history)
  }))

test('random changes at the same time fail only by documented errors and leave exact counts, quotas and access', (t) => {
  const rounds = fc.array(fc.array(step, { minLength: 6, maxLength: 8 }), { minLength: 1, maxLength: 15, size: 'max' })
  return tryAll(t, rounds, async (given) => storm(await begin(), given))
})

test('a server that is killed at random points of random changes leaves exact references, counts, quotas and bytes', (t) => {
  const round: fc.Arbitrary<KilledRound> = fc.record({
    clients: fc.array(fc.array(step, { minLength: 8, maxLength: 8 }), { minLength: 6, maxLength: 6 }),
    responses: fc.integer({ min: 1, max: 40 }),
  })
  const env = { NODE_ENV: 'test', DATABASE_URL: commandUrlOf(app.connection), DATA_DIR: app.config.dataDir }
  const start = () => startServerProcess(env, 'api')
  const rounds = fc.array(round, { minLength: 3, maxLength: 3 })
  // Each process takes two seconds of CPU time to start, so fewer histories are tried, and those that fail are not shrunk.
  const options = { numRuns: Math.ceil(asked.numRuns / 3), endOnFailure: true }
  return tryAll(t, rounds, async (given) => stormWithKills(await begin(), given, start), options)
})
