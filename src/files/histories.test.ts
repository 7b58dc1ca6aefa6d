// Random histories of everything that people, strangers and programs do with the files of an org, beside a model of maps
// that knows the result of each step.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { startTestApp } from '../../test/harness.ts'
import { bytesAreExact, countsAreRight, storeIsExact, viewIsExact } from '../../test/support/histories/checks.ts'
import { davSteps } from '../../test/support/histories/dav-steps.ts'
import type { History, Step } from '../../test/support/histories/history.ts'
import { createModel } from '../../test/support/histories/model.ts'
import type { Person } from '../../test/support/histories/model.ts'
import { sharingSteps } from '../../test/support/histories/sharing-steps.ts'
import { treeSteps } from '../../test/support/histories/tree-steps.ts'
import { tusSteps } from '../../test/support/histories/tus-steps.ts'
import { purgeDue } from './trash/purge.ts'

/** HISTORIES sets how many histories are tried, HISTORIES_SEED the seed that a failure printed. */
const runs = Number(process.env['HISTORIES'] ?? 3)
const given = process.env['HISTORIES_SEED']
const seed = given === undefined ? Math.trunc(Math.random() * 2_147_483_647) : Number(given)

// Without a worker, so that the test decides when jobs run.
const app = await startTestApp({}, { work: false })

const kinds = { ...treeSteps, ...sharingSteps, ...tusSteps, ...davSteps }
const often =
  'upload,upload,upload,upload,folder,folder,folder,folder,dav put,dav put,dav mkcol,overwrite,overwrite,move,move,restrict,restrict,dav move,dav copy,tus patch,share'

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
    { actor: owner, role: 'owner', isInWorkspace: true },
    { actor: admin, role: 'admin', isInWorkspace: true },
    { actor: member, role: 'member', isInWorkspace: true },
    { actor: outsider, role: 'member', isInWorkspace: false },
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

test('what people see, stored bytes, counts and quotas are exact after every step of random histories of files', async (t) => {
  t.diagnostic(`HISTORIES_SEED=${seed}`)
  // Without a bias, which would prefer short histories of the first items.
  const steps = fc.noBias(fc.array(step, { minLength: 1, maxLength: 60, size: 'max' }))
  const histories = fc.asyncProperty(steps, async (steps) => {
    const history = await begin()
    await run(history, steps)
    await end(history)
  })
  const result = await fc.check(histories, { numRuns: runs, seed })
  assert.ok(
    !result.failed,
    `HISTORIES_SEED=${seed}\n${fc.defaultReportMessage(result) ?? ''}\n${String((result.errorInstance as Error | null)?.stack)}`,
  )
})
