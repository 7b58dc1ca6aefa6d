// Kills workers and servers with SIGKILL at each fault point of a chat: from the message to the sent reply.
import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { after, describe, test } from 'node:test'
import { sql } from '../../src/platform/database/database.ts'
import { createAgent, until } from '../support/chat.ts'
import { startChatProviders } from '../fakes/chat-providers.ts'
import { startTestApp } from '../harness.ts'
import type { TestActor } from '../harness.ts'
import { addEndpoint, deliver, senders } from '../support/endpoints.ts'
import type { TestEndpoint } from '../support/endpoints.ts'
import type { FaultPoint, Options } from './chats-process.ts'

const children = new Set<ChildProcess>()
after(() => {
  for (const child of children) child.kill('SIGKILL')
})

const providers = await startChatProviders()
const app = await startTestApp(providers.env, { work: false })
const { db, connection, config } = app
const env = { ...providers.env, DATA_DIR: config.dataDir }

const start = async (
  plan: Pick<Options, 'dieAt' | 'orgId' | 'api'> = {},
): Promise<{ child: ChildProcess; said: unknown }> => {
  const options = { connection, env, ...plan }
  const child = fork(new URL('chats-process.ts', import.meta.url), [JSON.stringify(options)])
  children.add(child)
  child.once('exit', () => children.delete(child))
  const [said] = await once(child, 'message')
  return { child, said }
}

interface Case {
  provider: 'telegram' | 'discord'
  dieAt: FaultPoint
  /** The states that the event may end in. */
  ends: string[]
}

// Telegram cannot tell whether a message arrived, so a reply is not sent again. Discord replaces the first part.
const cases: Case[] = [
  { provider: 'telegram', dieAt: 'before-begin', ends: ['answered'] },
  { provider: 'telegram', dieAt: 'in-begin', ends: ['answered'] },
  { provider: 'telegram', dieAt: 'after-begin', ends: ['answered'] },
  { provider: 'telegram', dieAt: 'before-send', ends: ['unknown'] },
  { provider: 'telegram', dieAt: 'after-send', ends: ['unknown'] },
  { provider: 'discord', dieAt: 'before-send', ends: ['answered'] },
  { provider: 'discord', dieAt: 'after-send', ends: ['answered'] },
]

const bodyOf = (provider: Case['provider'], n: number, chat: number): object =>
  provider === 'telegram'
    ? {
        update_id: n,
        message: {
          message_id: n,
          from: { id: chat, is_bot: false, first_name: 'Ada' },
          chat: { id: chat, type: 'private' },
          text: `Number ${n}`,
        },
      }
    : {
        type: 2,
        id: String(n),
        application_id: '11',
        token: `chat${chat}`,
        channel_id: String(chat),
        user: { id: '33', username: 'ada' },
        data: { name: 'ask', options: [{ name: 'question', type: 3, value: `Number ${n}` }] },
      }

interface Crashed {
  owner: TestActor
  endpoint: TestEndpoint
  chat: number
}

const crash = async ({ provider, dieAt }: Case, chat: number): Promise<Crashed> => {
  const owner = await app.createOrg()
  const agent = await createAgent(app, owner, { name: 'Helper' })
  const endpoint = await addEndpoint(app, owner, provider, { agentId: agent.id })
  const { child } = await start({ dieAt, orgId: owner.orgId })
  const exited = once(child, 'exit', { signal: AbortSignal.timeout(120_000) })
  assert.equal((await deliver(app, endpoint, bodyOf(provider, 1, chat))).status, 200)
  const [, signal] = (await exited) as [unknown, string]
  assert.equal(signal, 'SIGKILL')
  return { owner, endpoint, chat }
}

// All workers are killed first, one after another; a last one resumes what they left.
const crashed = new Map<Case, Crashed>()
for (const [index, one] of cases.entries()) crashed.set(one, await crash(one, 1_000 + index))
const heir = await start()

const statesOf = async ({ id }: TestEndpoint): Promise<string[]> =>
  (
    await db.rows<{ state: string }>(sql`select state from connector_events where endpoint_id = ${id} order by seq`)
  ).map(({ state }) => state)

const isOver = (states: string[], count: number): boolean =>
  states.length === count && !states.some((state) => ['waiting', 'running'].includes(state))

describe('killed workers', { concurrency: true }, () => {
  for (const one of cases) {
    test(`a worker that is killed ${one.dieAt} (${one.provider}) leaves one turn and at most one message, and the chat continues`, async () => {
      const { owner, endpoint, chat } = crashed.get(one)!
      const [state] = await until(
        () => statesOf(endpoint),
        (states) => isOver(states, 1),
        180_000,
      )
      assert.ok(state !== undefined && one.ends.includes(state), `it is ${state}`)
      await deliver(app, endpoint, bodyOf(one.provider, 2, chat))
      const states = await until(
        () => statesOf(endpoint),
        (found) => isOver(found, 2),
        180_000,
      )
      assert.equal(states[1], 'answered')
      const turns = await db.row<{ n: number; sessions: number }>(sql`
        select count(*)::int as n, count(distinct session_id)::int as sessions from turns where org_id = ${owner.orgId}`)
      assert.deepEqual(turns, { n: 2, sessions: 1 })

      const sent = providers.messages.filter(({ to }) => to === `${chat}` || to === `chat${chat}`)
      const first = sent.filter(({ text }) => text.includes('Number 1'))
      const second = sent.filter(({ text }) => text.includes('Number 2'))
      assert.equal(second.length, 1)
      if (one.provider === 'telegram') {
        const mustArrive = state === 'answered' || one.dieAt === 'after-send'
        assert.equal(first.length, mustArrive ? 1 : 0)
      } else {
        assert.ok(first.length >= 1 && first.every(({ isEdit }) => isEdit), 'one message, however often it is written')
      }
      assert.ok(
        sent.lastIndexOf(first.at(-1) ?? second[0]!) <= sent.indexOf(second[0]!),
        'what was answered first came first',
      )
    })
  }
})

test('a server that is killed while it receives events loses no acknowledged one, and stores no duplicate', async () => {
  const owner = await app.createOrg()
  const agent = await createAgent(app, owner, { name: 'Helper' })
  const endpoint = await addEndpoint(app, owner, 'telegram', { agentId: agent.id })
  const count = 100
  const acknowledged = new Set<number>()
  const send = async (port: unknown, n: number): Promise<void> => {
    const signed = senders['telegram']!.sign(JSON.stringify(bodyOf('telegram', n, 5_000)), endpoint.url)
    const url = `http://127.0.0.1:${Number(port)}${endpoint.path}`
    const response = await fetch(url, { method: 'POST', headers: signed.headers, body: signed.body }).catch(
      () => undefined,
    )
    if (response?.status === 200) acknowledged.add(n)
  }
  const numbers = Array.from({ length: count }, (_, n) => n + 1)
  const doomed = await start({ api: true })
  const exited = once(doomed.child, 'exit')
  const sending = Promise.all(numbers.map((n) => send(doomed.said, n)))
  await until(
    async () => acknowledged.size,
    (size) => size > 0,
  )
  doomed.child.kill('SIGKILL')
  await exited
  await sending
  const before = new Set(acknowledged)
  const stored = await db.rows<{ externalId: string }>(sql`
    select external_id from connector_events where endpoint_id = ${endpoint.id}`)
  const ids = new Set(stored.map(({ externalId }) => Number(externalId)))
  assert.ok(
    [...before].every((n) => ids.has(n)),
    'what was acknowledged is there',
  )

  // The provider retries unacknowledged events, and repeats some of the others.
  const second = await start({ api: true })
  await Promise.all(numbers.map((n) => send(second.said, n)))
  assert.equal(acknowledged.size, count)
  await until(
    () => statesOf(endpoint),
    (states) => isOver(states, count),
    240_000,
  )
  const answered = providers.messages
    .filter(({ to }) => to === '5000')
    .map(({ text }) => /Number (\d+)/.exec(text)?.[1])
  assert.equal(answered.length, count)
  assert.equal(new Set(answered).size, count)
  second.child.kill('SIGKILL')
  heir.child.kill('SIGKILL')
})
