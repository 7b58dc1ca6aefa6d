// Turns that outlast many approvals, days of waiting, dead workers and lost jobs. The death of a worker is simulated by the
// rows that it leaves; test/crash/turns.test.ts proves with real processes that workers leave such rows.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  createAgent,
  streamEventsOf,
  getTurn,
  openSession,
  say,
  until,
  untilStatus,
} from '../../../test/support/chat.ts'
import { callTools, held, startFakeModel } from '../../../test/fakes/model.ts'
import { startTestApp } from '../../../test/harness.ts'
import type { TestActor } from '../../../test/harness.ts'
import { sql } from '../../platform/database/database.ts'
import { newId } from '../../platform/ids.ts'
import type { Tool } from '../../tool.ts'
import { releaseTurn } from './queries.ts'
import { activateTurn } from '../turns/queries.ts'
import { requeueOrphanedTurns } from './orphaned-turns.ts'
import { turnJob } from './jobs.ts'

const fake = await startFakeModel()
const app = await startTestApp(fake.env, { work: false })

/** By org: the promise that the calls of test.wait wait for. */
const waits = new Map<string, PromiseWithResolvers<void>>()
const effects: string[] = []
const tool = (name: string, run: Tool['run']): Tool => ({
  name,
  description: name,
  inputSchema: { type: 'object' },
  isReadOnly: false,
  permission: 'files:read',
  run,
})
const testTools = [
  tool('test.wait', async ({ actor }) => {
    await waits.get(actor.orgId)?.promise
    return 'done'
  }),
  tool('test.effect', ({ actor }) => Promise.resolve(effects.push(actor.orgId))),
]
const { toolbox } = app.deps
await app.secondServer(fake.env, {
  replace: {
    toolbox: { ...toolbox, offered: async (scope) => [...(await toolbox.offered(scope)), ...testTools] },
  },
})

const write = (name: string): string => `/tool files.write {"name":"${name}.txt","text":"x"}`
const decide = (as: TestActor, turnId: string, approvalId: string, approved = true) =>
  app.call('POST', `/api/v1/turns/${turnId}/approvals`, { as, json: { approvalId, approved } })
const filesOf = async (as: TestActor): Promise<string[]> =>
  (await app.call('GET', '/api/v1/files', { as })).body.data.items.map((file: { name: string }) => file.name)

/** Sends a message to an agent that asks before it writes, and returns the turn when it waits for approval. */
const askedBy = async (as: TestActor, text: string) => {
  const settings = { approvals: ['files.write'] }
  await createAgent(app, as, { name: 'Careful', allowedTools: ['files.write', 'files.search'], settings })
  const { id: sessionId } = await openSession(app, as, { agentId: 'careful' })
  const { body } = await say(app, as, sessionId, { text })
  assert.equal(body.data.turn.status, 'requires_action')
  return { sessionId, turn: body.data.turn }
}

describe('a turn that waits for approval', () => {
  test('a turn can wait for approval as often as its steps allow, because resuming after an approval is not counted as a crash', async () => {
    const as = await app.createOrg()
    const names = Array.from({ length: 12 }, (_, n) => `note-${String(n).padStart(2, '0')}`)
    const { turn } = await askedBy(as, names.map(write).join('\n\n'))
    const seen = new Set<string>()
    for (const _ of names) {
      const { approvals } = await until(
        () => getTurn(app, as, turn.id),
        ({ status, approvals }) =>
          status === 'failed' || (status === 'requires_action' && !seen.has(approvals[0].approvalId)),
      )
      seen.add(approvals[0]?.approvalId)
      await decide(as, turn.id, approvals[0]?.approvalId)
    }
    const done = await untilStatus(app, as, turn.id, 'completed', 'failed')
    assert.deepEqual([done.status, done.error, done.attempts], ['completed', null, 13])
    assert.deepEqual(
      (await filesOf(as)).toSorted(),
      names.map((name) => `${name}.txt`),
    )
  })

  /** Whether each step of the turn's stream has one start and one end. */
  const areStepsWhole = async (as: TestActor, turnId: string): Promise<boolean[]> => {
    const { events } = streamEventsOf((await app.call('GET', `/api/v1/turns/${turnId}/stream`, { as })).text)
    const marks = events.map(({ data }) => data.type as string).filter((type) => /^(start|finish)-step$/.test(type))
    return marks.flatMap((type, i) => (i % 2 === 0 ? [type === 'start-step' && marks[i + 1] === 'finish-step'] : []))
  }

  test('a turn that waited for approval ends each step of its stream once, whether the call was approved or denied', async () => {
    const as = await app.createOrg()
    const { turn } = await askedBy(as, `${write('a')}\n\n${write('b')}`)
    await decide(as, turn.id, turn.approvals[0].approvalId)
    const next = await until(
      () => getTurn(app, as, turn.id),
      ({ status, toolCalls }) => status === 'requires_action' && toolCalls.length === 2,
    )
    await decide(as, turn.id, next.approvals[0].approvalId, false)
    await untilStatus(app, as, turn.id, 'completed')
    assert.deepEqual(await areStepsWhole(as, turn.id), [true, true, true])
  })

  test('a turn that a limit ends between two steps ends each step of its stream once', async () => {
    const as = await app.createOrg()
    const { id } = await openSession(app, as)
    const { body } = await say(app, as, id, { text: '/tool files.search {"query":"x"}', maxSteps: 1 })
    assert.equal(body.data.turn.stopReason, 'max_steps')
    assert.deepEqual(await areStepsWhole(as, body.data.turn.id), [true])
  })

  test('a turn that waited for more than a day continues the numbers of its frames after the old frames were deleted', async () => {
    const as = await app.createOrg()
    const { turn, sessionId } = await askedBy(as, `${write('a')}\n${write('b')}`)
    const stream = async (after: number) =>
      streamEventsOf((await app.call('GET', `/api/v1/turns/${turn.id}/stream?after=${after}`, { as })).text)
    const seen = (await stream(0)).events.length
    const expire = () => app.db.execute(sql`delete from turn_events where org_id = ${as.orgId}`)
    await expire()
    await decide(as, turn.id, turn.approvals[0].approvalId)
    const { events: told } = await stream(seen)
    assert.deepEqual([told[0]?.id, told[0]?.data.type], [seen + 1, 'tool-approval-response'])
    await expire()
    await decide(as, turn.id, turn.approvals[1].approvalId)
    await untilStatus(app, as, turn.id, 'completed')
    const { events, isDone } = await stream(seen + told.length)
    assert.ok(isDone)
    assert.deepEqual(
      events.map(({ id }) => id),
      events.map((_, n) => seen + told.length + 1 + n),
    )
    assert.deepEqual([events[0]?.data.type, events.at(-1)?.data.type], ['tool-approval-response', 'finish'])
    assert.deepEqual(
      await stream(0),
      { events, isDone },
      'a reader without a position gets all remaining frames with the same numbers',
    )
    assert.equal((await say(app, as, sessionId, { text: 'Hello' })).status, 200)
  })

  test('a turn that is cancelled after more than a day ends its stream after the last frame that a reader has seen', async () => {
    const as = await app.createOrg()
    const { turn } = await askedBy(as, write('a'))
    const read = async (after: number) =>
      streamEventsOf((await app.call('GET', `/api/v1/turns/${turn.id}/stream?after=${after}`, { as })).text).events
    const seen = (await read(0)).length
    await app.db.execute(sql`delete from turn_events where org_id = ${as.orgId}`)
    await app.call('POST', `/api/v1/turns/${turn.id}/cancel`, { as })
    assert.deepEqual(await read(seen), [{ id: seen + 1, data: { type: 'abort', reason: 'cancelled' } }])
  })
})

describe('the time of a turn', () => {
  /** A turn that a worker has run for 400 s and then left in the given way. */
  const leave = async (leaving: (orgId: string, turnId: string, token: string) => Promise<unknown>) => {
    const as = await app.createOrg()
    const { id } = await openSession(app, as)
    const { body } = await say(app, as, id, { text: '/slow 60000', background: true })
    const turnId = body.data.turn.id as string
    await until(
      () => getTurn(app, as, turnId),
      ({ steps }) => steps.length === 1,
    )
    const row = await app.db.row<{ leaseToken: string }>(sql`
      update turns set claimed_at = (claimed_at at time zone 'UTC' - interval '400 seconds') at time zone 'UTC'
      where org_id = ${as.orgId} and id = ${turnId} returning lease_token`)
    await leaving(as.orgId, turnId, row?.leaseToken ?? '')
    const turn = await untilStatus(app, as, turnId, 'incomplete', 'completed')
    assert.deepEqual([turn.status, turn.stopReason, turn.attempts], ['incomplete', 'max_time', 2])
    assert.equal(turn.steps.length, 1, 'no model was called for it again')
  }

  test('the time that a turn used before its worker died counts towards its limit', () =>
    leave((orgId, turnId) =>
      app.db.execute(sql`
        update turns set lease_token = ${newId()}, lease_until = ${new Date(Date.now() + 1_000)}
        where org_id = ${orgId} and id = ${turnId}`),
    ))

  test('the time that a turn used before its worker released it counts towards its limit', () =>
    leave((orgId, turnId, token) => releaseTurn(app.db, { orgId, turnId, token })))
})

describe('a turn whose job was lost', () => {
  /** A turn that was approved and whose job was lost. */
  const forsake = async (minutes = 10) => {
    const as = await app.createOrg()
    const { turn } = await askedBy(as, write('a'))
    await app.db.execute(sql`
      update tool_calls set approved = true where org_id = ${as.orgId} and turn_id = ${turn.id}`)
    await app.db.execute(sql`
      update turns set status = 'queued', claimed_at = now() - ${minutes} * interval '1 minute'
      where org_id = ${as.orgId} and id = ${turn.id}`)
    await activateTurn(app.db, as.orgId, turn.sessionId, turn.id)
    return { as, turnId: turn.id as string }
  }

  test('a turn whose job was lost gets a new job and continues from its stored state', async () => {
    const { as, turnId } = await forsake()
    assert.equal(await requeueOrphanedTurns(app.deps), 1)
    const { toolCalls } = await untilStatus(app, as, turnId, 'completed')
    assert.equal(toolCalls[0].status, 'done')
    assert.equal(await requeueOrphanedTurns(app.deps), 0)
  })

  /** Changes the row as the death of a worker does. */
  const leaveDead = (as: TestActor, turnId: string, deaths: number, attempts = deaths + 1) =>
    app.db.execute(sql`
      update turns set status = 'running', attempts = rested_attempts + ${attempts}, worker_deaths = ${deaths},
        lease_token = ${newId()}, lease_until = (claimed_at at time zone 'UTC' + interval '20 seconds') at time zone 'UTC'
      where org_id = ${as.orgId} and id = ${turnId}`)

  test('a turn without a job is retried after the first death of its worker', async () => {
    const { as, turnId } = await forsake()
    await leaveDead(as, turnId, 0)
    assert.equal(await requeueOrphanedTurns(app.deps), 1)
    await untilStatus(app, as, turnId, 'completed')
  })

  test('a turn fails with worker_died after the second death of its worker, and runs none of its tools', async () => {
    const { as, turnId } = await forsake()
    await leaveDead(as, turnId, 1)
    assert.equal(await requeueOrphanedTurns(app.deps), 1)
    const turn = await untilStatus(app, as, turnId, 'failed', 'completed')
    assert.deepEqual([turn.status, turn.error.code], ['failed', 'worker_died'])
    assert.match(turn.error.message, /died 2 times.*new message/)
    assert.deepEqual(await filesOf(as), [])
    const { body } = await say(app, as, turn.sessionId, { text: 'Still there?' })
    assert.equal(body.data.turn.status, 'completed')
  })

  test('a turn fails after its workers released it eight times without a death', async () => {
    const { as, turnId } = await forsake()
    await app.db.execute(sql`
      update turns set attempts = rested_attempts + 8 where org_id = ${as.orgId} and id = ${turnId}`)
    assert.equal(await requeueOrphanedTurns(app.deps), 1)
    const turn = await untilStatus(app, as, turnId, 'failed', 'completed')
    assert.deepEqual([turn.status, turn.error.code], ['failed', 'internal'])
    assert.deepEqual(await filesOf(as), [])
  })

  test('turns that were claimed recently, have a waiting job, or wait for a person are not orphaned', async () => {
    const lately = await forsake(1)
    const waits = await forsake()
    const payload = { orgId: waits.as.orgId, turnId: waits.turnId }
    await app.db.transaction('all orgs', (db) =>
      app.deps.jobs.enqueue(db, turnJob(0), payload, { startAfterSeconds: 3_600 }),
    )
    const as = await app.createOrg()
    const { turn } = await askedBy(as, write('a'))
    await app.db.execute(sql`
      update turns set claimed_at = now() - interval '1 hour' where org_id = ${as.orgId} and id = ${turn.id}`)
    assert.equal(await requeueOrphanedTurns(app.deps), 0)
    assert.equal((await getTurn(app, waits.as, waits.turnId)).status, 'queued')
    assert.equal((await getTurn(app, lately.as, lately.turnId)).status, 'queued')
  })
})

describe('a turn whose key is revoked', () => {
  /** A turn that is running a tool. It was started with the key of a member, which the owner can revoke. */
  const startWaitingTool = async (text: string) => {
    const owner = await app.createOrg()
    await createAgent(app, owner, { name: 'Friend' })
    await createAgent(app, owner, { name: 'Helper', allowedPeers: ['friend'] })
    const member = await app.createUser(owner)
    const { id: sessionId } = await openSession(app, member, { agentId: 'helper' })
    const wait = Promise.withResolvers<void>()
    waits.set(owner.orgId, wait)
    const { body } = await say(app, member, sessionId, { text, background: true })
    const inTool = async (): Promise<{ turnId: string }[]> =>
      app.db.rows(sql`
        select turn_id from tool_calls
        where org_id = ${owner.orgId} and tool_name = 'test.wait' and status = 'started'`)
    const [blocked] = await until(inTool, (rows) => rows.length > 0)
    const revoke = () => app.call('DELETE', `/api/v1/api-keys/${member.apiKeyId}`, { as: owner })
    return {
      owner,
      turnId: body.data.turn.id as string,
      blockedId: blocked?.turnId as string,
      release: wait.resolve,
      revoke,
    }
  }
  const revoked = [
    'failed',
    { code: 'key_revoked', message: 'The API key that started this turn was revoked or has expired.' },
  ]

  test('a turn whose key is revoked runs no further tool of the same step and keeps the results of those that ran', async () => {
    const { owner, turnId, release, revoke } = await startWaitingTool('/tool test.wait {}\n/tool test.effect {}')
    assert.equal((await revoke()).status, 200)
    release()
    const turn = await untilStatus(app, owner, turnId, 'failed', 'completed')
    assert.deepEqual([turn.status, turn.error], revoked)
    assert.deepEqual(
      turn.toolCalls.map(({ status }: { status: string }) => status),
      ['done', 'cancelled'],
    )
    assert.ok(!effects.includes(owner.orgId))
  })

  test('a turn whose key is revoked makes no further model call', async () => {
    const { owner, turnId, release, revoke } = await startWaitingTool('/tool test.wait {}')
    await revoke()
    release()
    const turn = await untilStatus(app, owner, turnId, 'failed', 'completed')
    assert.deepEqual([turn.status, turn.error, turn.steps.length], [...revoked, 1])
  })

  test('a turn whose key is revoked during a model call runs none of the tools that the model asks for', async () => {
    const owner = await app.createOrg()
    const member = await app.createUser(owner)
    await createAgent(app, owner, { name: 'Helper', model: 'fake/m1' })
    const { id } = await openSession(app, member, { agentId: 'helper' })
    const { script, asked, release } = held(callTools({ id: 'c1', name: 'test_effect', args: '{}' }))
    fake.play(script)
    const { body } = await say(app, member, id, { text: 'Go', background: true })
    await asked
    await app.call('DELETE', `/api/v1/api-keys/${member.apiKeyId}`, { as: owner })
    release()
    const turn = await untilStatus(app, owner, body.data.turn.id, 'failed', 'completed')
    assert.deepEqual([turn.status, turn.error], revoked)
    // The model call is aborted, usually before the model has requested the tool.
    assert.ok(turn.toolCalls.every(({ status }: { status: string }) => status === 'cancelled'))
    assert.ok(!effects.includes(owner.orgId))
  })

  test('a turn whose key is revoked ends the turns that it started by messages to other agents', async () => {
    const { owner, turnId, blockedId, release, revoke } = await startWaitingTool('/peer friend /tool test.wait {}')
    assert.notEqual(blockedId, turnId)
    await revoke()
    release()
    for (const id of [blockedId, turnId]) {
      const turn = await untilStatus(app, owner, id, 'failed', 'completed')
      assert.deepEqual([turn.status, turn.error], revoked)
    }
  })

  test('a turn whose key is revoked or expires while it waits for approval ends, even if another person approves the call', async () => {
    const owner = await app.createOrg()
    const member = await app.createUser(owner, 'admin')
    const { turn } = await askedBy(member, write('a'))
    await app.db.execute(sql`
      update api_keys set expires_at = now() - interval '1 second'
      where org_id = ${owner.orgId} and id = ${member.apiKeyId}`)
    assert.equal((await decide(owner, turn.id, turn.approvals[0].approvalId)).status, 200)
    const ended = await untilStatus(app, owner, turn.id, 'failed', 'completed')
    assert.deepEqual([ended.status, ended.error], revoked)
    assert.deepEqual(await filesOf(owner), [])
  })

  test('revoking a key does not end turns of the same person under another key', async () => {
    const owner = await app.createOrg()
    const { id } = await openSession(app, owner)
    const headers = await app.stepUp(owner)
    const { body: other } = await app.call('POST', '/api/v1/api-keys', { as: owner, headers, json: { name: 'Other' } })
    const { body } = await say(app, owner, id, { text: '/tool test.effect {}', background: true })
    assert.equal((await app.call('DELETE', `/api/v1/api-keys/${other.data.id}`, { as: owner })).status, 200)
    const turn = await untilStatus(app, owner, body.data.turn.id, 'failed', 'completed')
    assert.deepEqual([turn.status, turn.toolCalls[0].status], ['completed', 'done'])
  })
})
