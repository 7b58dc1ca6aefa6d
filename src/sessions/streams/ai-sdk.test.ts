// Streams as `useChat` of the AI SDK reads them, with its current and its previous major version.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as version7 from 'ai'
import type { UIMessage, UIMessageChunk } from 'ai'
import * as version6 from 'ai-v6'
import { callTools, cutAfter, held, reply, startFakeModel } from '../../../test/fakes/model.ts'
import { startTestApp } from '../../../test/harness.ts'
import type { TestActor, TestApp } from '../../../test/harness.ts'
import { createAgent, openSession, say, sayWithHeaders, streamEventsOf, textOf } from '../../../test/support/chat.ts'
import { newId } from '../../platform/ids.ts'

const fake = await startFakeModel()
const app = await startTestApp(fake.env)
/** Does not work on turns: they run in the process of `app`. */
const frontOnly = await app.secondServer(fake.env, { work: false })

const announces7 = { 'x-ai-sdk-version': '7' }
const clients = [
  // The test needs only what both versions have in common.
  { name: 'version 6', sdk: version6 as unknown as typeof version7, headers: {}, resets: false },
  { name: 'version 7 without a version header', sdk: version7, headers: {}, resets: false },
  { name: 'version 7 with its version header', sdk: version7, headers: announces7, resets: true },
]

const writing = () => callTools({ id: newId(), name: 'files_write', args: '{"name":"a.txt","text":"x"}' })
const userMessage = (text: string): UIMessage => ({ id: newId(), role: 'user', parts: [{ type: 'text', text }] })
const wordsOf = ({ parts }: UIMessage): string =>
  parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('')
const toolsOf = ({ parts }: UIMessage) => parts.filter((part) => part.type === 'dynamic-tool')

for (const { name, sdk, headers, resets } of clients) {
  const transportFor = (server: TestApp, as: TestActor, sessionId: string) =>
    new sdk.DefaultChatTransport<UIMessage>({
      api: `${server.url}/api/v1/sessions/${sessionId}/messages`,
      headers: { authorization: `Bearer ${as.key}`, ...headers },
    })
  const send = (as: TestActor, sessionId: string, messages: UIMessage[]) =>
    transportFor(app, as, sessionId).sendMessages({
      chatId: sessionId,
      messages,
      trigger: 'submit-message',
      messageId: undefined,
      abortSignal: undefined,
    })
  /** The message at the end of a stream. Rejects when the client cannot read a part. */
  const read = async (stream: ReadableStream<UIMessageChunk>, message?: UIMessage): Promise<UIMessage> => {
    let last: UIMessage | undefined
    const states = sdk.readUIMessageStream({ stream, terminateOnError: true, ...(message ? { message } : {}) })
    for await (const state of states) last = state
    assert.ok(last)
    return last
  }

  describe(`useChat of the AI SDK, ${name}`, () => {
    test(`${name} reads a streamed reply with its own body and without an Accept header for events`, async () => {
      const owner = await app.createOrg()
      const session = await openSession(app, owner)
      const first = userMessage('One')
      const answer = await read(await send(owner, session.id, [first]))
      const next = await read(await send(owner, session.id, [first, answer, userMessage('Two')]))
      const { body } = await app.call('GET', `/api/v1/sessions/${session.id}/messages`, { as: owner })
      assert.equal(body.data.items.length, 4, 'only the last user message counts')
      const [message] = body.data.items
      assert.equal(next.id, message.id)
      assert.equal(wordsOf(next), textOf(message))
      assert.deepEqual(next.metadata, {
        turnId: message.turnId,
        sessionId: session.id,
        status: 'completed',
        stopReason: 'stop',
      })
    })

    test(`${name} replaces the last reply, or the one that it names, when it regenerates`, async () => {
      const owner = await app.createOrg()
      await createAgent(app, owner, { name: 'Again', model: 'fake/m1' })
      const session = await openSession(app, owner, { agentId: 'again' })
      const [first, second] = [userMessage('One'), userMessage('Two')]
      const words = async () => {
        const { body } = await app.call('GET', `/api/v1/sessions/${session.id}/messages`, { as: owner })
        return body.data.items.map(textOf).toReversed()
      }
      const regenerate = async (messages: UIMessage[], messageId?: string) => {
        const options = { chatId: session.id, messages, messageId, abortSignal: undefined }
        const transport = transportFor(app, owner, session.id)
        return read(await transport.sendMessages({ ...options, trigger: 'regenerate-message' }))
      }
      fake.play(reply(['a']), reply(['b']), reply(['c']), reply(['d']), reply(['e']))
      const a = await read(await send(owner, session.id, [first]))
      await read(await send(owner, session.id, [first, a, second]))
      await regenerate([first, a, second])
      assert.deepEqual(await words(), ['One', 'a', 'Two', 'c'])
      assert.ok(!JSON.stringify(fake.requests.at(-1)).includes('"b"'), 'the model does not see the former reply')
      const d = await regenerate([first], a.id)
      assert.deepEqual(await words(), ['One', 'd'])
      const edited = { ...first, parts: [{ type: 'text' as const, text: 'Uno' }] }
      await regenerate([edited], d.id)
      assert.deepEqual(await words(), ['Uno', 'e'])
      await assert.rejects(regenerate([userMessage('Three')], 'made-by-the-client'))
      assert.deepEqual(await words(), ['Uno', 'e'])
    })

    test(`${name} reads tool calls and their results`, async () => {
      const owner = await app.createOrg()
      const session = await openSession(app, owner)
      const asked = userMessage('/tool files.search {"query":"x"}\n/tool files.read {"fileId":"nonsense"}')
      assert.deepEqual(
        toolsOf(await read(await send(owner, session.id, [asked]))).map(({ toolName, state }) => [toolName, state]),
        [
          ['files.search', 'output-available'],
          ['files.read', 'output-error'],
        ],
      )
    })

    test(`${name} resumes the active turn by the path that it derives, and gets null when there is none`, async () => {
      const owner = await app.createOrg()
      const idle = await openSession(app, owner)
      assert.equal(await transportFor(frontOnly, owner, idle.id).reconnectToStream({ chatId: idle.id }), null)
      await createAgent(app, owner, { name: 'Slow', model: 'fake/m1' })
      const session = await openSession(app, owner, { agentId: 'slow' })
      const { script, asked, release } = held(reply(['Hello ', 'yourself.']))
      fake.play(script)
      await say(app, owner, session.id, { text: 'Hello', background: true })
      await asked
      const chunks = await transportFor(frontOnly, owner, session.id).reconnectToStream({ chatId: session.id })
      assert.ok(chunks)
      release()
      const { id } = await read(chunks)
      const { body } = await app.call('GET', `/api/v1/sessions/${session.id}/messages`, { as: owner })
      assert.equal(id, body.data.items[0].id)
    })

    test(`${name} reads a repeated model call to its end`, async () => {
      const owner = await app.createOrg()
      await createAgent(app, owner, { name: 'Cut', model: 'fake/m1' })
      const session = await openSession(app, owner, { agentId: 'cut' })
      fake.play(cutAfter(['One and']), reply(['One and two.']))
      const answer = await read(await send(owner, session.id, [userMessage('Count.')]))
      assert.equal((answer.metadata as { status: string }).status, 'completed')
      assert.equal(wordsOf(answer), resets ? 'One and two.' : 'One andOne and two.')
      assert.equal(answer.parts.filter(({ type }) => type === 'step-start').length, resets ? 1 : 2)
    })

    test(`${name} reads a turn that another client approved`, async () => {
      const owner = await app.createOrg()
      const settings = { approvals: ['files.write'] }
      await createAgent(app, owner, { name: 'Careful', model: 'fake/m1', allowedTools: ['files.write'], settings })
      const session = await openSession(app, owner, { agentId: 'careful' })
      fake.play(writing())
      const waiting = await read(await send(owner, session.id, [userMessage('Write it.')]))
      const [call] = toolsOf(waiting)
      assert.equal(call?.state, 'approval-requested')
      const { script, asked, release } = held(reply(['Written.']))
      fake.play(script)
      const { turnId } = waiting.metadata as { turnId: string }
      const decision = { approvalId: call.approval.id, approved: true }
      await app.call('POST', `/api/v1/turns/${turnId}/approvals`, { as: owner, json: decision })
      await asked
      const chunks = await transportFor(app, owner, session.id).reconnectToStream({ chatId: session.id })
      release()
      const done = await read(chunks!)
      assert.deepEqual([toolsOf(done)[0]?.state, wordsOf(done)], ['output-available', 'Written.'])
    })

    test(`${name} sends its approval and reads the rest of the turn`, async () => {
      const owner = await app.createOrg()
      const settings = { approvals: ['files.write'] }
      await createAgent(app, owner, { name: 'Careful', model: 'fake/m1', allowedTools: ['files.write'], settings })
      const session = await openSession(app, owner, { agentId: 'careful' })
      fake.play(writing(), reply(['Written.']))
      const waiting = await read(await send(owner, session.id, [userMessage('Write it.')]))
      const [call] = toolsOf(waiting)
      assert.equal(call?.state, 'approval-requested')
      Object.assign(call, { state: 'approval-responded', approval: { ...call.approval, approved: true } })
      const done = await read(await send(owner, session.id, [waiting]), waiting)
      assert.deepEqual([toolsOf(done)[0]?.state, wordsOf(done)], ['output-available', 'Written.'])
    })

    test(`${name} throws an error with the JSON envelope when a request is rejected`, async () => {
      const owner = await app.createOrg()
      const session = await openSession(app, owner)
      await assert.rejects(send(owner, session.id, [userMessage(' ')]), /BAD_REQUEST/)
    })

    test(`${name} sends files by their storageUrl`, async () => {
      const owner = await app.createOrg()
      const session = await openSession(app, owner)
      const form = new FormData()
      form.set('file', new File(['By URL.'], 'a.txt', { type: 'text/plain' }))
      const { body } = await app.call('POST', '/api/v1/files', { as: owner, body: form })
      const message: UIMessage = {
        id: newId(),
        role: 'user',
        parts: [{ type: 'file', url: body.data.file.storageUrl, mediaType: 'text/plain' }],
      }
      assert.match(wordsOf(await read(await send(owner, session.id, [message]))), /By URL\./)
    })
  })
}

describe('the parts of a stream', () => {
  test('are all sent to a request that does not come from useChat', async () => {
    const owner = await app.createOrg()
    const session = await openSession(app, owner)
    const typesOf = (text: string): string[] => streamEventsOf(text).events.map(({ data }) => data.type)
    const asked = { json: { text: '/fail cut' }, headers: { accept: 'text/event-stream' } }
    assert.ok(typesOf((await sayWithHeaders(app, owner, session.id, asked)).text).includes('reset-step'))
  })

  test('keep their numbers when version 6 gets other parts', async () => {
    const owner = await app.createOrg()
    const session = await openSession(app, owner)
    const json = { messages: [userMessage('/fail cut')] }
    const { text } = await sayWithHeaders(app, owner, session.id, { json, headers: {} })
    const { events } = streamEventsOf(text)
    const { turnId } = events[0]!.data.messageMetadata
    const whole = await app.call('GET', `/api/v1/turns/${turnId}/stream`, { as: owner })
    const all = streamEventsOf(whole.text).events
    assert.deepEqual(
      events.map(({ id, data }) => [id, data]),
      all.map(({ id, data }) => [id, data.type === 'reset-step' ? { type: 'start-step' } : data]),
    )
  })
})
