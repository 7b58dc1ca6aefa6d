import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ask, createAgent, streamEventsOf, openSession, say, textOf } from '../../../../test/support/chat.ts'
import { upload } from '../../../../test/support/files.ts'
import { callTools, reply, startFakeModel } from '../../../../test/fakes/model.ts'
import { startTestApp } from '../../../../test/harness.ts'
import type { TestActor } from '../../../../test/harness.ts'
import { sql } from '../../../platform/database/database.ts'
import { createLog } from '../../../platform/process/log.ts'
import { newId } from '../../../platform/ids.ts'
import { runTool } from '../../tools/tools.ts'
import type { Tool, ToolContext, ToolOutcome } from '../../tools/tools.ts'

const fake = await startFakeModel()
const app = await startTestApp(fake.env)

/** The longest prompt of a model without a configured window: three quarters of 32,000 tokens. */
const maxBytes = 24_000 * 3.5

const open = async (as: TestActor, json: object = {}): Promise<string> => {
  await createAgent(app, as, { name: 'Reader', model: 'fake/m1', allowedTools: ['files.read'], ...json })
  return (await openSession(app, as, { agentId: 'reader' })).id
}

// The messages of a month have ids of that month.
const newIdSql = sql`(left(uuid_at(now())::text, 14) || right(gen_random_uuid()::text, 22))::uuid`

/** Inserts messages into a session without running turns. */
const fill = (owner: TestActor, sessionId: string, exchanges: number, words: string): Promise<void> =>
  app.db.transaction('all orgs', async (db) => {
    await db.execute(sql`
      insert into messages (org_id, session_id, position, id, turn_id, turn_number, role, author, parts)
      select ${owner.orgId}, ${sessionId}, n, ${newIdSql}, gen_random_uuid(), (n + 1) / 2,
        case n % 2 when 1 then 'user' else 'assistant' end,
        jsonb_build_object('type', case n % 2 when 1 then 'user' else 'agent' end, 'id', ${owner.userId}::text, 'name', 'x'),
        jsonb_build_array(jsonb_build_object('type', 'text', 'text', n || ' ' || ${words}::text))
      from generate_series(1, ${exchanges * 2}) as n`)
    await db.execute(sql`
      update sessions set turn_count = ${exchanges}, message_count = ${exchanges * 2}
      where org_id = ${owner.orgId} and id = ${sessionId}`)
  })

const bytesOf = (messages: unknown): number => Buffer.byteLength(JSON.stringify(messages))

describe('a conversation that no longer fits', () => {
  test('the model is shown the newest of 10,000 messages, and the model and the person are told how many are left out', async () => {
    const owner = await app.createOrg()
    const sessionId = await open(owner)
    await fill(owner, sessionId, 5_000, 'lorem ipsum '.repeat(40))
    fake.play(reply(['Yes.']))
    const { turn } = await ask(app, owner, sessionId, { text: 'Do you remember?' })
    const [request] = fake.requests
    assert.ok(bytesOf(request?.messages) < maxBytes)
    const [system, first, ...rest] = request?.messages ?? []
    assert.ok(rest.length > 50)
    assert.equal(rest.at(-1)?.content, 'Do you remember?')
    const shownFrom = Number(/^\d+/.exec(String(first?.content))?.[0])
    assert.equal(first?.role, 'user', 'exchanges go whole')
    assert.equal(turn.leftOutExchanges, (shownFrom - 1) / 2)
    assert.match(String(system?.content), new RegExp(`first ${turn.leftOutExchanges} exchanges .* no longer fit`))
    const { events } = streamEventsOf((await app.call('GET', `/api/v1/turns/${turn.id}/stream`, { as: owner })).text)
    const told = events.find(({ data }) => data.type === 'message-metadata')
    assert.equal(told?.data.messageMetadata.leftOutExchanges, turn.leftOutExchanges)
  })

  test('no more than 4 MB of a conversation with huge messages is read from the database', async () => {
    const owner = await app.createOrg()
    const sessionId = await open(owner)
    // 100 MB, of which at most 4 MB may be read from the database.
    await fill(owner, sessionId, 50, 'x'.repeat(1_000_000))
    fake.play(reply(['Yes.']))
    const before = process.memoryUsage().arrayBuffers + process.memoryUsage().heapUsed
    let peak = 0
    const watch = setInterval(() => {
      const { arrayBuffers, heapUsed } = process.memoryUsage()
      peak = Math.max(peak, arrayBuffers + heapUsed - before)
    }, 5)
    const { turn } = await ask(app, owner, sessionId, { text: 'And now?' })
    clearInterval(watch)
    assert.equal(turn.leftOutExchanges, 50)
    assert.ok(peak < 60_000_000, `${Math.round(peak / 1e6)} MB`)
  })

  test('a conversation that fits is shown whole, without a note about omissions', async () => {
    const owner = await app.createOrg()
    const sessionId = await open(owner)
    await fill(owner, sessionId, 3, 'short')
    fake.play(reply(['Yes.']))
    const { turn } = await ask(app, owner, sessionId, { text: 'Hm?' })
    assert.equal(turn.leftOutExchanges, 0)
    assert.equal(fake.requests[0]?.messages.length, 8)
    assert.doesNotMatch(String(fake.requests[0]?.messages[0]?.content), /no longer fit/)
  })
})

describe('tool results that are too long', () => {
  const read = (fileId: string) => callTools({ id: 'c1', name: 'files_read', args: JSON.stringify({ fileId }) })

  test('a turn leaves out its oldest tool results first, keeps a result for each call, and completes', async () => {
    const owner = await app.createOrg()
    const sessionId = await open(owner)
    const file = await upload(app, owner, 'words '.repeat(9_000), { name: 'long.txt' })
    fake.play(read(file.id), read(file.id), read(file.id), reply(['Read.']))
    const { turn, message } = await ask(app, owner, sessionId, { text: 'Read it thrice.' })
    assert.deepEqual([turn.status, textOf(message)], ['completed', 'Read.'])
    const { messages } = fake.requests.at(-1)!
    assert.ok(bytesOf(messages) < maxBytes)
    const results = messages.filter(({ role }) => role === 'tool').map(({ content }) => String(content))
    assert.equal(results.length, 3)
    assert.match(results[0]!, /left out now/)
    assert.match(results[2]!, /words words/)
    assert.equal(messages.flatMap(({ tool_calls: calls }) => calls ?? []).length, 3)
  })

  test('tool results of earlier turns are left out before the text of those turns', async () => {
    const owner = await app.createOrg()
    const sessionId = await open(owner)
    const file = await upload(app, owner, 'words '.repeat(9_000), { name: 'long.txt' })
    for (const text of ['First question', 'Second question']) {
      fake.play(read(file.id), reply([`The answer to the ${text}.`]))
      await ask(app, owner, sessionId, { text })
    }
    fake.play(reply(['Well.']))
    const { turn } = await ask(app, owner, sessionId, { text: 'Third question' })
    const shown = JSON.stringify(fake.requests[0]?.messages)
    assert.equal(turn.leftOutExchanges, 0)
    assert.match(shown, /The answer to the First question/)
    assert.match(shown, /left out now/)
  })

  test('a tool result of 10 MB is truncated to 64 KB and marked as truncated', async () => {
    const context = {
      actor: { orgId: newId() },
      turn: null,
      callKey: 'call',
      log: createLog('error', { write: () => undefined }),
      signal: new AbortController().signal,
    } as unknown as ToolContext
    const tool = { name: 'big', run: () => Promise.resolve({ text: 'é'.repeat(5_000_000) }) } as unknown as Tool
    const { status, output } = (await runTool(tool, context, {})) as ToolOutcome
    assert.equal(status, 'done')
    assert.ok(Buffer.byteLength(JSON.stringify(output)) <= 65_536 + 1_024)
    assert.equal((output as { truncated: boolean }).truncated, true)
  })
})

test('an attached file of 100 MB is named in the prompt but not read, and the model is told that it cannot be read', async () => {
  const owner = await app.createOrg()
  const file = await upload(app, owner, Buffer.alloc(104_857_600, 'a line of text\n'), { name: 'huge.txt' })
  const session = await openSession(app, owner)
  global.gc?.()
  const before = process.memoryUsage().rss
  const { body } = await say(app, owner, session.id, { text: 'What does it say?', fileIds: [file.id] })
  assert.equal(body.data.turn.status, 'completed')
  const [call] = body.data.turn.toolCalls
  assert.equal(call.toolName, 'files.read')
  assert.equal(call.status, 'failed')
  assert.match(call.output.error, /25 MB/)
  const grown = process.memoryUsage().rss - before
  assert.ok(grown < 60_000_000, `${Math.round(grown / 1e6)} MB`)
})
