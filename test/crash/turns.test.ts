// Kills real worker processes with SIGKILL at the points of a turn at which a crash would do the most harm.
import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { readUIMessageStream } from 'ai'
import type { UIMessageChunk } from 'ai'
import { sql } from '../../src/platform/database/database.ts'
import { createAgent, streamEventsOf, getTurn, openSession, say, textOf, until, untilStatus } from '../support/chat.ts'
import { startTestApp } from '../harness.ts'
import type { TestActor } from '../harness.ts'
import { eventsOf as recordedEvents } from '../support/events.ts'
import { startStopwatch } from '../support/stopwatch.ts'
import type { Options } from './turns-process.ts'

const children = new Set<ChildProcess>()
after(() => {
  for (const child of children) child.kill('SIGKILL')
})

const app = await startTestApp({}, { work: false })
const { db, connection, config } = app
await db.execute(sql`create table effects (user_id uuid not null, tool text not null)`)
const callsFile = join(config.dataDir, 'model-calls')

interface Worker {
  child: ChildProcess
  /** The origin of its server, if it serves. */
  url: string
}

const startWorker = async (plan: Pick<Options, 'dieAt' | 'nth' | 'serves'> = {}): Promise<Worker> => {
  const options = { connection, dataDir: config.dataDir, callsFile, ...plan }
  const child = fork(new URL('turns-process.ts', import.meta.url), [JSON.stringify(options)])
  children.add(child)
  child.once('exit', () => children.delete(child))
  const [url] = (await once(child, 'message')) as [string]
  return { child, url }
}

interface Case {
  what: string
  plan: Pick<Options, 'dieAt' | 'nth' | 'serves'>
  text: string
  /** What the person decides when they are asked; undefined when nobody may be asked. */
  decision?: boolean
  /** Whether the reply must be JSON, which the demo model never sends. */
  isJson?: boolean
  /** Whether the turn has a tool of the caller, `ask_caller`, and waits for its output. */
  asksCaller?: boolean
  /** How often each tool has run at the end. */
  effects: Record<string, number>
}

const change = '/tool test.change {}'
const look = '/tool test.look {}'
const write = '/peer friend Hello'
const both = `${change}\n/tool ask_caller {}`

const cases: Case[] = [
  { what: 'before the model call', plan: { dieAt: 'before-model-call' }, text: 'Hello', effects: {} },
  {
    what: 'in the middle of the answer',
    plan: { dieAt: 'mid-stream', nth: 5 },
    text: '/slow 3000\nHello',
    effects: {},
  },
  {
    what: 'after the answer, before it is written',
    plan: { dieAt: 'after-stream' },
    text: change,
    effects: { 'test.change': 1 },
  },
  {
    what: 'between the tools and the next model call',
    plan: { dieAt: 'before-model-call', nth: 2 },
    text: `${change}\n${look}`,
    effects: { 'test.change': 1, 'test.look': 1 },
  },
  {
    what: 'after the second answer, before it is written',
    plan: { dieAt: 'after-stream', nth: 2 },
    text: change,
    effects: { 'test.change': 1 },
  },
  { what: 'before a tool that only reads', plan: { dieAt: 'before-tool' }, text: look, effects: { 'test.look': 1 } },
  { what: 'inside a tool that only reads', plan: { dieAt: 'in-tool' }, text: look, effects: { 'test.look': 2 } },
  {
    what: 'before a tool that changes something; the person approves it',
    plan: { dieAt: 'before-tool' },
    text: change,
    decision: true,
    effects: { 'test.change': 1 },
  },
  {
    what: 'inside a tool that changes something; the person denies a second run',
    plan: { dieAt: 'in-tool' },
    text: change,
    decision: false,
    effects: { 'test.change': 1 },
  },
  {
    what: 'after a tool that changes something, before the result is written; the person denies a second run',
    plan: { dieAt: 'after-tool' },
    text: change,
    decision: false,
    effects: { 'test.change': 1 },
  },
  {
    what: 'inside the second of two tools; the first is not asked about',
    plan: { dieAt: 'in-tool', nth: 2 },
    text: `${change}\n${change}`,
    decision: false,
    effects: { 'test.change': 2 },
  },
  { what: 'before a message to another agent', plan: { dieAt: 'before-tool' }, text: write, effects: {} },
  {
    what: 'while the other agent is about to answer',
    plan: { dieAt: 'before-model-call', nth: 2 },
    text: write,
    effects: {},
  },
  {
    what: 'after the other agent answered, before the result is written',
    plan: { dieAt: 'after-tool' },
    text: write,
    effects: {},
  },
  {
    what: 'before the model call, in the process that created the turn',
    plan: { dieAt: 'before-model-call', serves: true },
    text: 'Hello',
    effects: {},
  },
  {
    what: 'in the middle of the answer, in the process that created the turn',
    plan: { dieAt: 'mid-stream', nth: 5, serves: true },
    text: '/slow 3000\nHello',
    effects: {},
  },
  {
    what: 'inside a tool that only reads, in the process that created the turn',
    plan: { dieAt: 'in-tool', serves: true },
    text: look,
    effects: { 'test.look': 2 },
  },
  {
    what: 'before the reply is written, in the process that created the turn',
    plan: { dieAt: 'before-end', serves: true },
    text: 'Hello',
    effects: {},
  },
  {
    what: 'before the call of a tool of the caller is handed out',
    plan: { dieAt: 'before-hand-out' },
    text: both,
    asksCaller: true,
    effects: { 'test.change': 1 },
  },
  {
    what: 'after its own tool, before the call of a tool of the caller is handed out; the person denies a second run',
    plan: { dieAt: 'after-tool' },
    text: both,
    decision: false,
    asksCaller: true,
    effects: { 'test.change': 1 },
  },
  { what: 'before the reply is written', plan: { dieAt: 'before-end' }, text: 'Hello', effects: {} },
  { what: 'after the reply is written', plan: { dieAt: 'after-end' }, text: 'Hello', effects: {} },
]

interface Crashed {
  owner: TestActor
  sessionId: string
  turnId: string
  killedAtMs: number
}

/** Sends a message to a server that may die before it answers. */
const sendTo = async ({ url }: Worker, { key }: TestActor, sessionId: string, json: object): Promise<void> => {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const body = JSON.stringify(json)
  const sent = fetch(`${url}/api/v1/sessions/${sessionId}/messages`, { method: 'POST', headers, body })
  await sent.catch(() => undefined)
}

const callerTool = { name: 'ask_caller', inputSchema: { type: 'object' } }

/** Begins the turn of a case, during which its worker dies. */
const crash = async ({ plan, text, asksCaller, isJson }: Case): Promise<Crashed> => {
  const owner = await app.createOrg()
  await createAgent(app, owner, { name: 'Friend' })
  const allowedTools = ['test.change', 'test.look']
  await createAgent(app, owner, { name: 'Helper', allowedTools, allowedPeers: ['friend'] })
  const session = await openSession(app, owner, { agentId: 'helper' })
  const worker = await startWorker(plan)
  const tools = asksCaller === true ? { tools: [callerTool] } : {}
  const format = isJson === true ? { responseFormat: { type: 'json_schema', schema: { type: 'object' } } } : {}
  const json = { text, background: true, ...tools, ...format }
  const exited = once(worker.child, 'exit', { signal: AbortSignal.timeout(120_000) })
  if (plan.serves === true) await sendTo(worker, owner, session.id, json)
  else assert.equal((await say(app, owner, session.id, json)).status, 202)
  const [, signal] = (await exited) as [unknown, string]
  assert.equal(signal, 'SIGKILL')
  const turn = await db.row<{ id: string }>(sql`select id from turns where org_id = ${owner.orgId} and hop = 0`)
  assert.ok(turn)
  const jobs = await db.rows(sql`select id from pgboss.job where data ->> 'turnId' = ${turn.id}`)
  if (plan.serves === true) assert.equal(jobs.length, 0, 'it started without a job')
  return { owner, sessionId: session.id, turnId: turn.id, killedAtMs: performance.now() }
}

const effectsOf = async ({ userId }: TestActor): Promise<Record<string, number>> => {
  const rows = await db.rows<{ tool: string; times: number }>(sql`
    select tool, count(*)::int as times from effects where user_id = ${userId} group by tool order by tool`)
  return Object.fromEntries(rows.map(({ tool, times }) => [tool, times]))
}

/** The turns that sent a message to the other agent, and the roles of the messages between the two. */
const peerMessages = async ({ orgId }: TestActor): Promise<string[]> => {
  const rows = await db.rows<{ who: string }>(sql`
    select who from (
      select t.parent_turn_id::text as who from turns t where t.org_id = ${orgId} and t.hop = 1
      union all
      select m.role from sessions s join messages m on m.org_id = s.org_id and m.session_id = s.id
      where s.org_id = ${orgId} and s.relationship = 'peer'
    ) messages
    order by who`)
  return rows.map(({ who }) => who)
}

/** Gives the output of the caller's tool, once the turn waits for it. */
const giveOutput = async (as: TestActor, turnId: string): Promise<void> => {
  const turn = await until(
    () => getTurn(app, as, turnId),
    ({ requiredToolOutputs }) => requiredToolOutputs.length > 0,
  )
  assert.equal(turn.requiredToolOutputs.length, 1)
  const outputs = [{ callId: turn.requiredToolOutputs[0].callId, output: 'done' }]
  const { status } = await app.call('POST', `/api/v1/turns/${turnId}/tool-outputs`, { as, json: { outputs } })
  assert.equal(status, 200)
}

const readAsClient = async (events: { data: UIMessageChunk }[]): Promise<string> => {
  const stream = ReadableStream.from(events.map(({ data }) => data))
  let text = ''
  for await (const message of readUIMessageStream({ stream })) {
    text = message.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('')
  }
  return text
}

const never = '2100-01-01T00:00:00Z'

/** Extends the leases of all turns and the heartbeats of their jobs, so that no worker takes them over. */
const holdLeases = async (): Promise<void> => {
  await db.execute(sql`update turns set lease_until = ${never}::timestamptz where lease_until is not null`)
  await db.execute(sql`
    update pgboss.job set heartbeat_on = ${never}::timestamptz where state = 'active' and heartbeat_on is not null`)
}

/** Ends what `holdLeases` has extended: the workers have been dead for a minute. */
const releaseLeases = async (): Promise<void> => {
  const past = new Date(Date.now() - 60_000).toISOString()
  await db.execute(sql`update turns set lease_until = ${past}::timestamptz where lease_until = ${never}::timestamptz`)
  await db.execute(sql`
    update pgboss.job set heartbeat_on = ${past}::timestamptz
    where state = 'active' and heartbeat_on = ${never}::timestamptz`)
}

// A worker that is about to die must not take over the turn of another one, which would have two dead workers then. So
// all cases crash first, one after another, and the last worker takes over all turns.
const crashed = new Map<string, Crashed>()
for (const one of cases) {
  crashed.set(one.what, await crash(one))
  await holdLeases()
}
const abandoned = await crash({
  what: '',
  plan: { dieAt: 'mid-stream', nth: 3 },
  text: '/slow 2000\nHello',
  effects: {},
})
await holdLeases()
const repairing = await crash({
  what: '',
  plan: { dieAt: 'before-model-call', nth: 2 },
  text: 'Hello',
  isJson: true,
  effects: {},
})
const cancelling = await app.call('POST', `/api/v1/turns/${abandoned.turnId}/cancel`, { as: abandoned.owner })
await releaseLeases()
await startWorker()
const sinceTakeover = startStopwatch(db)
after(() => sinceTakeover.stop())

describe('a turn whose worker is killed', { concurrency: true }, () => {
  for (const { what, text, decision, asksCaller, effects } of cases) {
    test(`a turn whose worker is killed ${what} has one reply, each effect once, and every model call on its receipt`, async (t) => {
      const { owner, sessionId, turnId } = crashed.get(what)!
      const status = what.startsWith('after the reply') ? 'completed' : 'requires_action'
      const rested = await untilStatus(app, owner, turnId, decision === undefined && !asksCaller ? 'completed' : status)
      const seconds = sinceTakeover.ms() / 1_000
      t.diagnostic(`taken over ${seconds.toFixed(1)} s after the next worker started`)
      assert.ok(seconds < 30, `${seconds} s`)

      if (decision !== undefined) {
        assert.equal(rested.approvals.length, 1)
        const [{ approvalId }] = rested.approvals
        const path = `/api/v1/turns/${turnId}/approvals`
        const answer = await app.call('POST', path, { as: owner, json: { approvalId, approved: decision } })
        assert.equal(answer.status, 200)
      }
      if (asksCaller) await giveOutput(owner, turnId)
      const turn = await untilStatus(app, owner, turnId, 'completed')
      assert.deepEqual([turn.stopReason, turn.approvals], ['stop', []])
      assert.deepEqual(await effectsOf(owner), effects)

      const { body } = await app.call('GET', `/api/v1/sessions/${sessionId}/messages`, { as: owner })
      assert.deepEqual(
        body.data.items.map((message: { role: string; turnId: string }) => [message.role, message.turnId]),
        [
          ['assistant', turnId],
          ['user', turnId],
        ],
      )
      const made = (await readFile(callsFile, 'utf8')).split('\n').filter((line) => line === turnId).length
      assert.equal(turn.steps.length, made, 'a row for each call of the model')
      assert.ok(turn.steps.every((step: { status: string }) => ['completed', 'lost'].includes(step.status)))
      const completed = turn.steps.filter((step: { status: string }) => step.status === 'completed')
      assert.equal(completed.length, /^\/(tool|peer)/.test(text) ? 2 : 1)
      if (text === write) assert.deepEqual(await peerMessages(owner), [turnId, 'assistant', 'user'])

      // As a server does every second, for processes that died before they published.
      await app.deps.publisher.sweep()
      const recorded = await recordedEvents(app, owner, sessionId, (all) =>
        all.some(({ type, data }) => type === 'turn.completed' && data.turnId === turnId),
      )
      assert.deepEqual(
        recorded.filter(({ data }) => data.turnId === turnId).map(({ type }) => type),
        [
          'message.created',
          'turn.started',
          ...(decision === undefined ? [] : ['turn.requires_action', 'turn.approval_decided']),
          ...(asksCaller ? ['turn.requires_action'] : []),
          'message.created',
          'turn.completed',
        ],
      )

      const { events, isDone } = streamEventsOf(
        (await app.call('GET', `/api/v1/turns/${turnId}/stream`, { as: owner })).text,
      )
      assert.ok(isDone)
      assert.deepEqual(
        events.map(({ id }) => id),
        events.map((_, i) => i + 1),
      )
      assert.equal(await readAsClient(events), textOf(body.data.items[0]))
    })
  }
})

test('a session whose worker was killed runs its next turn', async () => {
  const { owner, sessionId, turnId } = crashed.get('before the model call')!
  await untilStatus(app, owner, turnId, 'completed')
  const { body } = await say(app, owner, sessionId, { text: 'Still there?' })
  assert.equal(body.data.turn.status, 'completed')
})

test('a turn that is cancelled while its worker is dead ends at once, and no worker runs it again', async () => {
  const { owner, turnId, sessionId } = abandoned
  assert.deepEqual(cancelling.body.data, { cancelled: true })
  const { body } = await app.call('GET', `/api/v1/sessions/${sessionId}`, { as: owner })
  const session = body.data
  assert.deepEqual([session.status, session.messageCount], ['idle', 2])
  await until(
    () => db.row<{ n: number }>(sql`select count(*)::int as n from pgboss.job where name = 'turn.run'`),
    (row) => row?.n === 0,
  )
  const turn = await getTurn(app, owner, turnId)
  assert.deepEqual([turn.status, turn.attempts, turn.steps.length], ['cancelled', 1, 1])
})

test('a reply in a schema is asked for again once, also when the worker is killed before that call', async () => {
  const { owner, turnId } = repairing
  const turn = await untilStatus(app, owner, turnId, 'failed')
  assert.equal(turn.error.code, 'output_invalid')
  assert.deepEqual(
    turn.steps.map(({ step, status, error }: { step: number; status: string; error: { code: string } | null }) => [
      step,
      status,
      error?.code ?? null,
    ]),
    [
      [1, 'failed', 'output_invalid'],
      [1, 'lost', turn.steps[1].error?.code ?? null],
      [1, 'failed', 'output_invalid'],
    ],
  )
  const made = (await readFile(callsFile, 'utf8')).split('\n').filter((line) => line === turnId).length
  assert.equal(made, turn.steps.length, 'a row for each call of the model')
})
