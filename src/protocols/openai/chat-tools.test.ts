// Tools of the client in chat completions, with the official client and the provider of the AI SDK.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { generateText, isStepCount, jsonSchema, streamText, tool } from 'ai'
import OpenAI from 'openai'
import { createAgent, getTurn, textOf, untilStatus } from '../../../test/support/chat.ts'
import { callTools, reply, startFakeModel } from '../../../test/fakes/model.ts'
import type { Script } from '../../../test/fakes/model.ts'
import { upload } from '../../../test/support/files.ts'
import { startTestApp } from '../../../test/harness.ts'
import type { TestActor } from '../../../test/harness.ts'
import { openAiPrefix } from './errors.ts'

// oxlint-disable-next-line typescript/no-explicit-any -- tests read fields of responses of any shape
type Json = any

const fake = await startFakeModel()
const app = await startTestApp(fake.env)
const model = 'agent/helper'

type Message = OpenAI.Chat.ChatCompletionMessageParam

const user = (content: string): Message => ({ role: 'user', content })
const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
const weather = {
  type: 'function',
  function: { name: 'get_weather', description: 'Weather', parameters: schema },
} as const
const tools = [weather]
const calling = (...cities: string[]): Script =>
  callTools(...cities.map((city, at) => ({ id: `c${at}`, name: 'get_weather', args: JSON.stringify({ city }) })))

const open = async (json: object = {}): Promise<{ owner: TestActor; client: OpenAI }> => {
  const owner = await app.createOrg()
  await createAgent(app, owner, { name: 'Helper', model: 'fake/m1', ...json })
  return { owner, client: new OpenAI({ apiKey: owner.key, baseURL: `${app.url}${openAiPrefix}` }) }
}

const create = async (client: OpenAI, messages: Message[], more: object = {}) => {
  const { data, response } = await client.chat.completions.create({ model, messages, tools, ...more }).withResponse()
  const [choice] = data.choices
  assert.ok(choice)
  const header = (name: string): string => response.headers.get(name) ?? ''
  return { data, choice, message: choice.message, turnId: header('x-turn-id'), sessionId: header('x-session-id') }
}

const outputs = (message: OpenAI.Chat.ChatCompletionMessage, content: (city: string) => string): Message[] =>
  (message.tool_calls ?? []).map((call) => {
    assert.equal(call.type, 'function')
    const { city } = JSON.parse(call.function.arguments) as { city: string }
    return { role: 'tool', tool_call_id: call.id, content: content(city) }
  })

const sessionCount = async (as: TestActor): Promise<number> =>
  (await app.call('GET', '/api/v1/sessions?limit=100', { as })).body.data.items.length

describe('a completion that calls a function of the client', () => {
  test('ends with tool_calls, and the outputs resume its turn', async () => {
    const { owner, client } = await open()
    fake.play(calling('Basel', 'Bern'), reply(['Warm in both.']))
    const first = await create(client, [user('How is it?')])
    assert.deepEqual([first.choice.finish_reason, first.message.content], ['tool_calls', null])
    assert.deepEqual(
      first.message.tool_calls?.map((call) => call.type === 'function' && call.function),
      ['Basel', 'Bern'].map((city) => ({ name: 'get_weather', arguments: JSON.stringify({ city }) })),
    )
    assert.equal((await getTurn(app, owner, first.turnId)).status, 'requires_action')

    const history = [user('How is it?'), first.message, ...outputs(first.message, (city) => `{"in":"${city}"}`)]
    const second = await create(client, history)
    assert.deepEqual([second.choice.finish_reason, second.message.content], ['stop', 'Warm in both.'])
    assert.deepEqual([second.turnId, second.sessionId], [first.turnId, first.sessionId])
    assert.notEqual(second.data.id, first.data.id)
    assert.deepEqual([first.data.usage?.total_tokens, second.data.usage?.total_tokens], [120, 120])
    const results = fake.requests
      .at(-1)
      ?.messages.filter(({ role }) => role === 'tool')
      .map(({ content }) => content)
    assert.deepEqual(results, ['{"in":"Basel"}', '{"in":"Bern"}'])

    fake.play(reply(['You are welcome.']))
    const third = await create(client, [...history, second.message, user('Thanks')])
    assert.equal(third.sessionId, first.sessionId, 'the conversation continues in its session')
    assert.notEqual(third.turnId, first.turnId)
    assert.equal(await sessionCount(owner), 1)
  })

  test('continues over several rounds, each with only its own text', async () => {
    const { client } = await open()
    const talk =
      (text: string, city: string): Script =>
      (response) => {
        const chunk = (delta: object, finish: string | null = null) =>
          response.write(
            `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`,
          )
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        chunk({ content: text })
        const args = JSON.stringify({ city })
        chunk({
          tool_calls: [{ index: 0, id: 'c1', type: 'function', function: { name: 'get_weather', arguments: args } }],
        })
        chunk({}, 'tool_calls')
        response.end('data: [DONE]\n\n')
      }
    fake.play(talk('First Basel.', 'Basel'), talk('Now Bern.', 'Bern'), reply(['Both warm.']))
    let messages: Message[] = [user('How is it?')]
    const texts: (string | null)[] = []
    let turnIds = new Set<string>()
    for (let round = 0; round < 3; round++) {
      const { message, turnId } = await create(client, messages)
      texts.push(message.content)
      turnIds = turnIds.add(turnId)
      messages = [...messages, message, ...outputs(message, () => 'sun')]
    }
    assert.deepEqual(texts, ['First Basel.', 'Now Bern.', 'Both warm.'])
    assert.equal(turnIds.size, 1)
    fake.play(reply(['Bye.']))
    const { turnId } = await create(client, [...messages, user('Thanks')])
    assert.equal(turnIds.has(turnId), false)
  })

  test('creates a new session with calls and outputs when the client changed the history', async () => {
    const { owner, client } = await open()
    fake.play(calling('Basel'), reply(['Warm.']), reply(['Cold.']))
    const first = await create(client, [user('How is it?')])
    const changed = await create(client, [user('How warm?'), first.message, ...outputs(first.message, () => 'snow')])
    assert.notEqual(changed.sessionId, first.sessionId)
    const shown = fake.requests.at(-1)?.messages ?? []
    assert.deepEqual(
      shown.map(({ role }) => role),
      ['system', 'user', 'assistant', 'tool', 'user'],
    )
    assert.equal(shown[3]?.content, 'snow')
    assert.equal(shown[2]?.tool_calls?.[0]?.function.name, 'get_weather')
    assert.equal((await getTurn(app, owner, changed.turnId)).untrustedFrom, 'get_weather')
    assert.equal((await getTurn(app, owner, first.turnId)).status, 'requires_action', 'the first turn still waits')
  })

  test('gives the outputs of another person’s turn to no turn', async () => {
    const { owner, client } = await open()
    const member = await app.createUser(owner)
    fake.play(calling('Basel'), reply(['Warm.']))
    const first = await create(client, [user('How is it?')])
    const other = new OpenAI({ apiKey: member.key, baseURL: `${app.url}${openAiPrefix}` })
    const second = await create(other, [user('How is it?'), first.message, ...outputs(first.message, () => 'snow')])
    assert.notEqual(second.turnId, first.turnId)
    const turn = await getTurn(app, owner, first.turnId)
    assert.deepEqual([turn.status, turn.requiredToolOutputs.length], ['requires_action', 1])
  })

  test('returns the same completion for the same outputs again, without another model call', async () => {
    const { client } = await open()
    fake.play(calling('Basel'), reply(['Warm.']))
    const first = await create(client, [user('How is it?')])
    const messages = [user('How is it?'), first.message, ...outputs(first.message, () => 'sun')]
    const key = { headers: { 'idempotency-key': randomUUID() } }
    const seen: unknown[] = []
    for (const options of [undefined, undefined, key, key]) {
      const { choices } = await client.chat.completions.create({ model, messages, tools }, options)
      seen.push(choices[0]?.message.content)
      const stream = client.chat.completions.stream(
        { model, messages, tools },
        options && { headers: { 'idempotency-key': randomUUID() } },
      )
      seen.push(await stream.finalContent())
    }
    assert.deepEqual(
      seen,
      Array.from({ length: 8 }, () => 'Warm.'),
    )
    assert.equal(fake.requests.length, 2)
  })

  test('a cancelled turn rejects the outputs of its calls', async () => {
    const { owner, client } = await open()
    fake.play(calling('Basel'), reply(['Warm.']))
    const first = await create(client, [user('How is it?')])
    await app.call('POST', `/api/v1/turns/${first.turnId}/cancel`, { as: owner })
    const messages = [user('How is it?'), first.message, ...outputs(first.message, () => 'sun')]
    await assert.rejects(client.chat.completions.create({ model, messages, tools }), {
      status: 409,
      code: 'turn_cancelled',
    })
    assert.equal(await sessionCount(owner), 1)
  })

  test('tools of the agent run on the server beside those of the client, and have other names', async () => {
    const { owner, client } = await open({ allowedTools: ['files.write'] })
    const write = { id: 'c2', name: 'files_write', args: '{"name":"a.txt","text":"x"}' }
    fake.play(callTools({ id: 'c1', name: 'get_weather', args: '{"city":"Basel"}' }, write), reply(['Done.']))
    const { message } = await create(client, [user('Both')])
    assert.equal(message.tool_calls?.length, 1, 'the client sees only its own call')
    assert.equal((await app.call('GET', '/api/v1/files', { as: owner })).body.data.items.length, 1)
    const taken = { type: 'function', function: { name: 'files_write', parameters: {} } } as const
    await assert.rejects(create(client, [user('Hi')], { tools: [taken] }), { status: 400, param: 'tools' })
  })

  test('tool_choice applies to the next model call, none to all of the request, and parallel_tool_calls limits the calls', async () => {
    const { client } = await open()
    const choices = () => fake.requests.map((request) => (request as Json).tool_choice)
    fake.play(calling('Basel', 'Bern'), reply(['Warm.']))
    const named = { type: 'function', function: { name: 'get_weather' } }
    const first = await create(client, [user('How?')], { tool_choice: named, parallel_tool_calls: false })
    assert.equal(first.message.tool_calls?.length, 1)
    const messages = [user('How?'), first.message, ...outputs(first.message, () => 'sun')]
    await create(client, messages, { tool_choice: 'none' })
    assert.deepEqual(choices(), [named, 'none'])
  })
})

describe('streams', () => {
  test('the streaming helper of the official client assembles the calls and the final text', async () => {
    const { client } = await open()
    fake.play(calling('Basel', 'Bern'), reply(['Warm ', 'in both.']))
    const options = { model, tools, stream_options: { include_usage: true } }
    const first = client.chat.completions.stream({ ...options, messages: [user('How is it?')] })
    const { choices, usage } = await first.finalChatCompletion()
    const message = choices[0]!.message
    assert.equal(choices[0]?.finish_reason, 'tool_calls')
    assert.deepEqual(
      message.tool_calls?.map((call) => (call as Json).function.arguments),
      ['{"city":"Basel"}', '{"city":"Bern"}'],
    )
    assert.equal(usage?.total_tokens, 120)
    const messages = [user('How is it?'), message as Message, ...outputs(message, () => 'sun')]
    const second = client.chat.completions.stream({ ...options, messages })
    const pieces: string[] = []
    second.on('content', (piece) => pieces.push(piece))
    assert.equal(await second.finalContent(), 'Warm in both.')
    assert.equal(pieces.join(''), 'Warm in both.')
  })

  test('runTools of the official client runs the functions until the reply, streamed or not', async () => {
    for (const stream of [false, true]) {
      const { owner, client } = await open()
      fake.play(calling('Basel'), calling('Bern'), reply(['Both warm.']))
      const asked: string[] = []
      const run = (args: { city: string }) => {
        asked.push(args.city)
        return { celsius: 21 }
      }
      const fn = { name: 'get_weather', description: 'Weather', parameters: schema, function: run, parse: JSON.parse }
      const body = { model, messages: [user('How is it?')], tools: [{ type: 'function', function: fn }], stream }
      const runner = client.chat.completions.runTools(body as never)
      assert.equal(await runner.finalContent(), 'Both warm.')
      assert.deepEqual(asked, ['Basel', 'Bern'])
      assert.equal(await sessionCount(owner), 1)
    }
  })
})

test('the openai-compatible provider of the AI SDK runs its tools, streamed or not', async () => {
  for (const stream of [false, true]) {
    const { owner } = await open()
    fake.play(calling('Basel'), calling('Bern'), reply(['Both warm.']))
    const provider = createOpenAICompatible({ name: 'atrium', apiKey: owner.key, baseURL: `${app.url}${openAiPrefix}` })
    const asked: string[] = []
    const execute = ({ city }: { city: string }) => {
      asked.push(city)
      return Promise.resolve({ celsius: 21 })
    }
    const options = {
      model: provider(model),
      prompt: 'How is it?',
      tools: {
        get_weather: tool({
          description: 'Weather',
          inputSchema: jsonSchema<{ city: string }>(schema as never),
          execute,
        }),
      },
      stopWhen: isStepCount(5),
    }
    const text = stream ? await streamText(options).text : (await generateText(options)).text
    assert.equal(text, 'Both warm.')
    assert.deepEqual(asked, ['Basel', 'Bern'])
    assert.equal(await sessionCount(owner), 1)
  }
})

test('pictures and files in a message are stored once and attached to the message', async () => {
  const { owner, client } = await open()
  const png = Buffer.from('\x89PNG\r\n\x1a\n and more', 'latin1').toString('base64')
  const content = [
    { type: 'text', text: 'What is it?' },
    { type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } },
    {
      type: 'file',
      file: { filename: 'note.txt', file_data: `data:text/plain;base64,${Buffer.from('hi').toString('base64')}` },
    },
  ]
  const messages = [{ role: 'user', content } as Message]
  fake.play(reply(['A cat.']))
  const first = await create(client, messages, { tools: undefined })
  const { body } = await app.call('GET', `/api/v1/sessions/${first.sessionId}/messages`, { as: owner })
  const asked = body.data.items.at(-1)
  assert.deepEqual(
    asked.parts.map(({ type, mimeType }: Json) => [type, mimeType]),
    [
      ['text', undefined],
      ['file', 'image/png'],
      ['file', 'text/plain'],
    ],
  )
  const second = await create(client, [...messages, first.message, user('Sure?')], { tools: undefined })
  assert.equal(second.sessionId, first.sessionId, 'the same bytes are the same file')
  const narrow = await app.createUser(owner, 'member', { scopes: ['sessions:*', 'agents:*'] })
  const other = new OpenAI({ apiKey: narrow.key, baseURL: `${app.url}${openAiPrefix}` })
  await assert.rejects(create(other, messages), { status: 403 })
  assert.equal(textOf(body.data.items[0]), 'A cat.')
  await untilStatus(app, owner, second.turnId, 'completed')
})

test('a reply ends before the first stop sequence, streamed or not, also when the provider ignores it', async () => {
  const { client } = await open()
  for (const stream of [false, true]) {
    fake.play(reply(['One, tw', 'o, EN', 'D, three']))
    const body = { model, messages: [user('Count')], stop: ['END', 'FINIS'] }
    const text = stream
      ? await client.chat.completions.stream(body).finalContent()
      : (await client.chat.completions.create(body)).choices[0]?.message.content
    assert.equal(text, 'One, two, ')
    assert.deepEqual((fake.requests.at(-1) as Json).stop, ['END', 'FINIS'])
  }
})

test('a file of another person in a message is untrusted content', async () => {
  const { owner, client } = await open()
  const member = await app.createUser(owner)
  fake.play(reply(['Seen.']))
  for (const [as, source] of [
    [owner, null],
    [member, 'file'],
  ] as const) {
    const file = await upload(app, as, 'hello', { name: `of-${as.userId}.txt` })
    const content = [{ type: 'file', file: { file_id: file.id } }]
    const { turnId } = await create(client, [{ role: 'user', content } as Message], { tools: undefined })
    assert.equal((await getTurn(app, owner, turnId)).untrustedFrom, source)
  }
})
