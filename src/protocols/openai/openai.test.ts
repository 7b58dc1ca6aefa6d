import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import OpenAI from 'openai'
import type { ChatCompletionChunk } from 'openai/resources/chat/completions'
import { ask, createAgent, getTurn, openSession, textOf, until, untilStatus } from '../../../test/support/chat.ts'
import { sql } from '../../platform/database/database.ts'
import { cutAfter, hangAfter, held, rejectWith, reply, startFakeModel } from '../../../test/fakes/model.ts'
import type { Script } from '../../../test/fakes/model.ts'
import { startTestApp } from '../../../test/harness.ts'
import type { TestActor, TestApp } from '../../../test/harness.ts'
import { generateKey } from '../../platform/key-format.ts'
import { openAiPrefix } from './errors.ts'

const fake = await startFakeModel()
const app = await startTestApp({
  MODEL_PROVIDERS: 'fake',
  MODEL_FAKE_BASE_URL: fake.baseUrl,
  MODEL_FAKE_MODELS: 'm',
  MODEL_FAKE_FREE: '1',
  MODEL_SILENCE_SECONDS: '2',
})
const assistant = 'agent/assistant'

const clientFor = (as: TestActor | string, at: TestApp = app): OpenAI =>
  new OpenAI({ apiKey: typeof as === 'string' ? as : as.key, baseURL: `${at.url}${openAiPrefix}` })

type Message = OpenAI.Chat.ChatCompletionMessageParam

const user = (content: string): Message => ({ role: 'user', content })

const textIn = (chunks: ChatCompletionChunk[]): string =>
  chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('')

const collect = async (stream: AsyncIterable<ChatCompletionChunk>): Promise<ChatCompletionChunk[]> => {
  const chunks: ChatCompletionChunk[] = []
  for await (const chunk of stream) chunks.push(chunk)
  return chunks
}

/** A completion with its session and turn. */
const complete = async (client: OpenAI, messages: Message[], model = assistant) => {
  const { data, response } = await client.chat.completions.create({ model, messages }).withResponse()
  const sessionId = response.headers.get('x-session-id') ?? ''
  return {
    text: data.choices[0]?.message.content ?? '',
    sessionId,
    turnId: response.headers.get('x-turn-id') ?? '',
    data,
  }
}

const sessionsOf = async (as: TestActor): Promise<{ id: string; messageCount: number }[]> =>
  (await app.call('GET', '/api/v1/sessions?limit=100', { as })).body.data.items

const messagesOf = async (as: TestActor, sessionId: string) =>
  (await app.call('GET', `/api/v1/sessions/${sessionId}/messages`, { as })).body.data.items.toReversed()

/** The error that the official client throws. */
const errorOf = async (asking: Promise<unknown>): Promise<InstanceType<typeof OpenAI.APIError>> => {
  try {
    await asking
  } catch (error) {
    assert.ok(error instanceof OpenAI.APIError, String(error))
    return error
  }
  return assert.fail('it went well')
}

const helperOf = async (owner: TestActor, json: object = {}): Promise<string> => {
  const { slug } = await createAgent(app, owner, { name: 'Helper', model: 'fake/m', ...json })
  return `agent/${slug}`
}

describe('models', () => {
  test('lists the active agents that the caller sees as models, including the default agent', async () => {
    const owner = await app.createOrg()
    await createAgent(app, await app.createOrg(), { name: 'Of others' })
    await createAgent(app, owner, { name: 'Numbers' })
    const asleep = await createAgent(app, owner, { name: 'Asleep' })
    await app.call('PATCH', `/api/v1/agents/${asleep.id}`, { as: owner, json: { isActive: false } })
    const { data } = await clientFor(owner).models.list()
    assert.deepEqual(data.map(({ id }) => id).toSorted(), [assistant, 'agent/numbers'])
    for (const model of data) {
      assert.deepEqual(Object.keys(model).toSorted(), ['created', 'id', 'object', 'owned_by'])
      assert.ok(Math.abs(model.created - Date.now() / 1_000) < 3_600)
    }
  })

  test('finds an agent as a model, but not an inactive one or one of another org', async () => {
    const [owner, stranger] = [await app.createOrg(), await app.createOrg()]
    await createAgent(app, stranger, { name: 'Secret' })
    const asleep = await createAgent(app, owner, { name: 'Asleep' })
    await app.call('PATCH', `/api/v1/agents/${asleep.id}`, { as: owner, json: { isActive: false } })
    assert.equal((await clientFor(owner).models.retrieve(assistant)).id, assistant)
    for (const model of ['agent/secret', 'agent/asleep', 'agent/nobody', 'gpt-5', 'agent/', 'assistant']) {
      const error = await errorOf(clientFor(owner).models.retrieve(model))
      assert.deepEqual([error.status, error.code, error.param], [404, 'model_not_found', 'model'], model)
    }
  })
})

describe('a completion', () => {
  test('creates a turn in a session with the reply and tokens of the completion', async () => {
    const owner = await app.createOrg()
    const { data, text, turnId, sessionId } = await complete(clientFor(owner), [user('/tokens 100 20 40 0\nHello')])
    assert.equal(data.object, 'chat.completion')
    assert.equal(data.id, `chatcmpl-${turnId}`)
    assert.equal(data.model, assistant)
    assert.equal(data.choices[0]?.finish_reason, 'stop')
    assert.equal(data.choices[0]?.message.role, 'assistant')
    assert.equal(data.usage?.prompt_tokens, 100)
    assert.equal(data.usage?.completion_tokens, 20)
    assert.equal(data.usage?.total_tokens, 120)
    assert.equal(data.usage?.prompt_tokens_details?.cached_tokens, 40)
    const turn = await getTurn(app, owner, turnId)
    assert.equal(turn.status, 'completed')
    assert.equal(turn.usage.totalTokens, 120)
    const [asked, replied] = await messagesOf(owner, sessionId)
    assert.match(textOf(asked), /Hello$/)
    assert.equal(textOf(replied), text)
  })

  test('streams the same text in chunks, with usage only when include_usage is true', async () => {
    const client = clientFor(await app.createOrg())
    const body = { model: assistant, messages: [user('Tell me something')], stream: true as const }
    const plain = await collect(await client.chat.completions.create(body))
    const { text } = await complete(client, [user('Tell me something')])
    assert.equal(textIn(plain), text)
    assert.ok(plain.length > 5, 'in pieces')
    assert.equal(plain[0]?.choices[0]?.delta.role, 'assistant')
    assert.equal(plain.at(-1)?.choices[0]?.finish_reason, 'stop')
    assert.equal(new Set(plain.map(({ id }) => id)).size, 1)
    assert.ok(plain.every((chunk) => !('usage' in chunk) && chunk.object === 'chat.completion.chunk'))

    const counted = await collect(
      await client.chat.completions.create({ ...body, stream_options: { include_usage: true } }),
    )
    const last = counted.at(-1)
    assert.deepEqual(last?.choices, [])
    assert.ok((last?.usage?.total_tokens ?? 0) > 0)
    assert.ok(counted.slice(0, -1).every(({ usage }) => usage === null))
  })

  test('streams a completion from a process that does not run the turn', async () => {
    const owner = await app.createOrg()
    const other = await app.secondServer({}, { work: false })
    const stream = await clientFor(owner, other).chat.completions.create({
      model: assistant,
      messages: [user('/slow 300\nHello')],
      stream: true,
    })
    const chunks = await collect(stream)
    assert.match(textIn(chunks), /You wrote: “Hello”/)
    assert.equal(chunks.at(-1)?.choices[0]?.finish_reason, 'stop')
  })

  test('runs the agent’s tools on the server and returns the text that follows', async () => {
    const owner = await app.createOrg()
    const client = clientFor(owner)
    const messages = [user('/tool files.write {"name":"note.txt","text":"hi"}\n\n/tool files.search {"query":"note"}')]
    const chunks = await collect(await client.chat.completions.create({ model: assistant, messages, stream: true }))
    assert.match(textIn(chunks), /I found one file: note\.txt\./)
    assert.ok(chunks.every(({ choices }) => choices[0]?.delta.tool_calls === undefined))
    assert.equal((await app.call('GET', '/api/v1/files', { as: owner })).body.data.total, 1)
  })

  test('begins a new paragraph after a tool call, streamed or not', async () => {
    const owner = await app.createOrg()
    const model = await helperOf(owner, { allowedTools: ['files.search'] })
    const call = { index: 0, id: 'a', type: 'function', function: { name: 'files_search', arguments: '{"query":"x"}' } }
    const lookUp: Script = (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      const deltas = [{ content: 'Let me look.' }, { tool_calls: [call] }]
      const choices = [...deltas.map((delta) => ({ delta })), { delta: {}, finish_reason: 'tool_calls' }]
      for (const choice of choices)
        response.write(`data: ${JSON.stringify({ choices: [{ index: 0, ...choice }] })}\n\n`)
      response.end('data: [DONE]\n\n')
    }
    fake.play(lookUp, reply(['Nothing', ' there.']), lookUp, reply(['Nothing', ' there.']))
    const { text } = await complete(clientFor(owner), [user('Look')], model)
    assert.equal(text, 'Let me look.\n\nNothing there.')
    const body = { model, messages: [user('Look')], stream: true as const }
    assert.equal(textIn(await collect(await clientFor(owner).chat.completions.create(body))), text)
  })

  test('accepts stored files in a message and rejects unknown ones', async () => {
    const owner = await app.createOrg()
    const form = new FormData()
    form.set('file', new File(['Quarterly numbers'], 'report.txt', { type: 'text/plain' }))
    const { id } = (await app.call('POST', '/api/v1/files', { as: owner, body: form })).body.data.file
    const withFile = (fileId: string): Message[] => [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What does it say?' },
          { type: 'file', file: { file_id: fileId } },
        ],
      },
    ]
    const { text } = await complete(clientFor(owner), withFile(id))
    assert.match(text, /Quarterly numbers/)
    const error = await errorOf(complete(clientFor(await app.createOrg()), withFile(id)))
    assert.equal(error.status, 404)
  })

  test('rejects a conversation with more than a thousand different files before it looks them up', async () => {
    const client = clientFor(await app.createOrg())
    const filesOf = (count: number) =>
      Array.from({ length: count }, () => ({ type: 'file' as const, file: { file_id: randomUUID() } }))
    const history = [
      { role: 'user' as const, content: filesOf(1_001) },
      { role: 'assistant' as const, content: 'Hi' },
    ]
    const error = await errorOf(
      client.chat.completions.create({ model: assistant, messages: [...history, user('Hello')] }),
    )
    assert.deepEqual([error.status, error.param], [400, 'messages'])
  })

  test('returns the finish_reason length or content_filter for an incomplete reply', async () => {
    const owner = await app.createOrg()
    const model = await helperOf(owner)
    fake.play(reply(['Too long'], { finish: 'length' }))
    const { data } = await complete(clientFor(owner), [user('Hi')], model)
    assert.equal(data.choices[0]?.finish_reason, 'length')
    fake.play(reply(['Oh'], { finish: 'content_filter' }))
    const filtered = await complete(clientFor(owner), [user('Hello')], model)
    assert.equal(filtered.data.choices[0]?.finish_reason, 'content_filter')
    fake.play(cutAfter(['Half an ans']))
    const cut = await complete(clientFor(owner), [user('Again')], model)
    assert.equal(cut.data.choices[0]?.finish_reason, 'length')
    assert.equal(cut.text, 'Half an ans')
  })
})

describe('a conversation that is sent again, longer', () => {
  test('continues in its session when the client sends the conversation again with one more message', async () => {
    const owner = await app.createOrg()
    const client = clientFor(owner)
    const first = await complete(client, [user('One')])
    const history: Message[] = [user('One'), { role: 'assistant', content: first.text }]
    const second = await complete(client, [...history, user('Two')])
    assert.equal(second.sessionId, first.sessionId)
    const third = await complete(client, [
      ...history,
      user('Two'),
      { role: 'assistant', content: second.text },
      user('3'),
    ])
    assert.equal(third.sessionId, first.sessionId)
    const [session, ...more] = await sessionsOf(owner)
    assert.equal(session?.messageCount, 6)
    assert.deepEqual(more, [])
  })

  test('continues in its session after a streamed reply and with different instructions', async () => {
    const owner = await app.createOrg()
    const client = clientFor(owner)
    const { data: stream, response } = await client.chat.completions
      .create({ model: assistant, messages: [{ role: 'system', content: 'It is Monday' }, user('One')], stream: true })
      .withResponse()
    const text = textIn(await collect(stream))
    const messages: Message[] = [
      { role: 'developer', content: 'It is Tuesday' },
      user('One'),
      { role: 'assistant', content: [{ type: 'text', text }] },
      user('Two'),
    ]
    assert.equal((await complete(client, messages)).sessionId, response.headers.get('x-session-id'))
  })

  test('creates a new session with the whole history when the client changed the history', async () => {
    const owner = await app.createOrg()
    const model = await helperOf(owner)
    const client = clientFor(owner)
    fake.play(reply(['First']))
    const first = await complete(client, [user('One')], model)
    fake.play(reply(['Third']))
    const other: Message[] = [user('One'), { role: 'assistant', content: 'Something else' }, user('Two'), user('Three')]
    const forked = await complete(client, other, model)
    assert.notEqual(forked.sessionId, first.sessionId)
    assert.deepEqual(
      fake.requests[0]?.messages.slice(1).map(({ role, content }) => [role, content]),
      [
        ['user', 'One'],
        ['assistant', 'Something else'],
        ['user', 'Two'],
        ['user', 'Three'],
      ],
    )
    assert.doesNotMatch(String(fake.requests[0]?.messages[0]?.content), /no longer fit/)
    const messages = await messagesOf(owner, forked.sessionId)
    assert.deepEqual(messages.map(textOf), ['One', 'Something else', 'Two', 'Three', 'Third'])
    assert.deepEqual(
      messages.map(({ author }: { author: { type: string } }) => author.type),
      ['user', 'agent', 'user', 'user', 'agent'],
    )
    assert.equal((await sessionsOf(owner)).find(({ id }) => id === forked.sessionId)?.messageCount, 5)
  })

  test('creates a new session when another request has already continued the conversation', async () => {
    const owner = await app.createOrg()
    const client = clientFor(owner)
    const first = await complete(client, [user('One')])
    const history: Message[] = [user('One'), { role: 'assistant', content: first.text }]
    const both = await Promise.all([
      complete(client, [...history, user('Left')]),
      complete(client, [...history, user('Right')]),
    ])
    const inFirst = both.filter(({ sessionId }) => sessionId === first.sessionId)
    assert.equal(inFirst.length, 1)
    for (const { text } of both) assert.doesNotMatch(text, /Left[^]*Right|Right[^]*Left/)
    await ask(app, owner, first.sessionId, { text: 'By another way' })
    const later = await complete(client, [...history, user('Later')])
    assert.notEqual(later.sessionId, first.sessionId)
  })

  test('does not continue the session of another person with the same messages', async () => {
    const owner = await app.createOrg()
    const member = await app.createUser(owner)
    const first = await complete(clientFor(owner), [user('One')])
    const history: Message[] = [user('One'), { role: 'assistant', content: first.text }, user('Two')]
    assert.notEqual((await complete(clientFor(member), history)).sessionId, first.sessionId)
  })

  test('sends the model as much history as fits its context, and always the new message', async () => {
    const owner = await app.createOrg()
    const model = await helperOf(owner)
    fake.play(reply(['Well.']))
    const long: Message[] = Array.from({ length: 40 }, (_, at) => [
      user(`Question ${at} ${'x'.repeat(10_000)}`),
      { role: 'assistant' as const, content: `Answer ${at}` },
    ]).flat()
    await complete(clientFor(owner), [...long, user('And now?')], model)
    const sent = fake.requests[0]?.messages.slice(1) ?? []
    assert.ok(sent.length > 3 && sent.length < 40, `${sent.length} messages`)
    assert.equal(sent[0]?.role, 'user', 'each question is sent with its reply')
    assert.equal(sent.at(-1)?.content, 'And now?')
    const leftOut = /The first (\d+) exchanges/.exec(String(fake.requests[0]?.messages[0]?.content))?.[1]
    assert.equal(Number(leftOut), 40 - (sent.length - 1) / 2)
  })
})

describe('parameters of a request', () => {
  test('passes the caller’s instructions and token limit to the model in addition to the agent’s own', async () => {
    const owner = await app.createOrg()
    const model = await helperOf(owner, { systemPrompt: 'Speak like a pirate.' })
    fake.play(reply(['Aye.']))
    await clientFor(owner).chat.completions.create({
      model,
      messages: [{ role: 'system', content: 'Be brief.' }, user('Hi')],
      max_completion_tokens: 77,
      temperature: 0.2,
      seed: 1,
    })
    const [request] = fake.requests
    assert.equal(request?.max_tokens, 77)
    const system = String(request?.messages[0]?.content)
    assert.match(system, /^Speak like a pirate\.[^]*Be brief\.$/)
    assert.deepEqual(
      request?.messages.slice(1).map(({ role }) => role),
      ['user'],
    )
  })

  test('rejects an unsupported parameter by name before a turn is created', async () => {
    const owner = await app.createOrg()
    const ask = (body: object) =>
      errorOf(clientFor(owner).chat.completions.create({ model: assistant, messages: [user('Hi')], ...body } as never))
    const tool = { type: 'function', function: { name: 'f', parameters: {} } }
    const picture = (url: string) => [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }]
    const called = {
      role: 'assistant',
      tool_calls: [{ id: 'x', type: 'function', function: { name: 'f', arguments: '{}' } }],
    }
    const unsupported: [object, string][] = [
      [{ n: 2 }, 'n'],
      [{ tools: [{ type: 'custom', custom: { name: 'f' } }] }, 'tools[0].type'],
      [{ tools: [{ type: 'function' }] }, 'tools[0].function'],
      [{ tools: [{ type: 'function', function: { name: 'a b' } }] }, 'tools[0].function.name'],
      [{ tools: [tool, tool] }, 'tools'],
      [{ tools: [tool], tool_choice: { type: 'allowed_tools' } }, 'tool_choice'],
      [{ tool_choice: 'required' }, 'tool_choice'],
      [{ functions: [{}] }, 'functions'],
      [{ function_call: 'auto' }, 'function_call'],
      [{ stop: ['a', 'b', 'c', 'd', 'e'] }, 'stop'],
      [{ stop: '' }, 'stop'],
      [{ stop: { a: 1 } }, 'stop'],
      [{ logprobs: true }, 'logprobs'],
      [{ response_format: { type: 'xml' } }, 'response_format'],
      [{ response_format: { type: 'json_schema' } }, 'response_format'],
      [{ response_format: { type: 'json_schema', json_schema: { name: 'a b' } } }, 'response_format'],
      [
        { response_format: { type: 'json_schema', json_schema: { name: 'a', schema: { pattern: '(' } } } },
        'response_format',
      ],
      [{ modalities: ['text', 'audio'] }, 'modalities'],
      [{ messages: picture('https://example.com/a.png') }, 'messages[0].content[0].image_url'],
      [{ messages: picture('data:image/png,no-base64') }, 'messages[0].content[0].image_url'],
      [{ messages: picture('data:text/html;base64,PGI+') }, 'messages[0].content[0].image_url'],
      [{ messages: [{ role: 'user', content: [{ type: 'input_audio' }] }] }, 'messages[0].content[0]'],
      [{ messages: [user('a'), { role: 'tool', tool_call_id: 'x', content: 'y' }] }, 'messages[1].tool_call_id'],
      [{ messages: [user('a'), called] }, 'messages'],
      [{ messages: [user('a'), { role: 'function', name: 'f', content: 'y' }] }, 'messages[1]'],
      [{ messages: [user('a'), { role: 'assistant', content: 'b' }] }, 'messages'],
      [{ messages: [user(' ')] }, 'messages'],
      [{ messages: [] }, 'messages'],
      [{ messages: 'Hi' }, 'messages'],
      [{ messages: undefined }, 'messages'],
      [{ messages: [{ role: 'robot', content: 'a' }] }, 'messages[0].role'],
      [{ max_tokens: 0 }, 'max_tokens'],
      [{ max_completion_tokens: 3_000_000_000 }, 'max_completion_tokens'],
      [{ stream: 'yes' }, 'stream'],
      [
        { messages: [{ role: 'user', content: [{ type: 'file', file: { file_id: 'x' } }] }] },
        'messages[0].content[0].file',
      ],
    ]
    for (const [body, param] of unsupported) {
      const error = await ask(body)
      assert.equal(error.status, 400, JSON.stringify(body))
      assert.equal(error.param, param, JSON.stringify(body))
      assert.equal(error.type, 'invalid_request_error')
    }
    assert.deepEqual(await sessionsOf(owner), [])
  })

  test('accepts unsupported parameters whose values are empty or default', async () => {
    const nothing = {
      n: 1,
      tools: [],
      stop: null,
      response_format: { type: 'text' },
      logprobs: false,
      modalities: null,
    }
    const body = { model: assistant, messages: [user('Hi')], ...nothing, max_tokens: null, stream_options: null }
    const { choices } = await clientFor(await app.createOrg()).chat.completions.create(body as never)
    assert.equal(choices[0]?.finish_reason, 'stop')
  })
})

describe('a rejected request', () => {
  test('returns an AuthenticationError for an invalid key', async () => {
    for (const key of ['nonsense', generateKey('test')]) {
      const error = await errorOf(complete(clientFor(key), [user('Hi')]))
      assert.ok(error instanceof OpenAI.AuthenticationError)
      assert.equal(error.code, 'invalid_api_key')
      assert.deepEqual(Object.keys(error.error as object), ['message', 'type', 'param', 'code'])
    }
  })

  test('returns a PermissionDeniedError for a key without sessions:write', async () => {
    const reader = await app.createUser(await app.createOrg(), 'member', { scopes: ['agents:read'] })
    const error = await errorOf(complete(clientFor(reader), [user('Hi')]))
    assert.ok(error instanceof OpenAI.PermissionDeniedError)
    assert.match(error.message, /sessions:write/)
  })

  test('returns an error for a model that is unknown, of another org, or inactive', async () => {
    const [owner, stranger] = [await app.createOrg(), await app.createOrg()]
    await createAgent(app, stranger, { name: 'Secret' })
    const missing = await errorOf(complete(clientFor(owner), [user('Hi')], 'agent/nobody'))
    const foreign = await errorOf(complete(clientFor(owner), [user('Hi')], 'agent/secret'))
    assert.deepEqual([missing.status, missing.code], [404, 'model_not_found'])
    assert.deepEqual(foreign.error, missing.error)
    const asleep = await createAgent(app, owner, { name: 'Asleep' })
    await app.call('PATCH', `/api/v1/agents/${asleep.id}`, { as: owner, json: { isActive: false } })
    const error = await errorOf(complete(clientFor(owner), [user('Hi')], 'agent/asleep'))
    assert.ok(error instanceof OpenAI.UnprocessableEntityError)
    assert.deepEqual(await sessionsOf(owner), [])
  })

  test('returns a RateLimitError with Retry-After when the turns limit is used up', async () => {
    const limited = await app.secondServer({ RATE_LIMIT_TURNS: '1' })
    const client = clientFor(await limited.createOrg(), limited)
    await complete(client, [user('Hi')])
    const error = await errorOf(
      client.chat.completions.create({ model: assistant, messages: [user('Hi')] }, { maxRetries: 0 }),
    )
    assert.ok(error instanceof OpenAI.RateLimitError)
    assert.equal(error.code, 'rate_limit_exceeded')
    assert.ok(Number(error.headers?.get('retry-after')) > 0)
  })

  test('returns insufficient_quota with the status 402 and creates no turn when the balance is used up', async () => {
    const enforced = await app.secondServer({ BILLING_ENFORCED: '1' })
    const owner = await app.createOrg()
    await createAgent(app, owner, { name: 'Paid', model: 'atrium/demo-paid' })
    const client = clientFor(owner, enforced)
    for (const stream of [false, true]) {
      const error = await errorOf(
        client.chat.completions.create({ model: 'agent/paid', messages: [user('Hi')], stream }),
      )
      assert.deepEqual([error.status, error.code, error.type], [402, 'insufficient_quota', 'insufficient_quota'])
    }
    assert.deepEqual(await sessionsOf(owner), [])
    assert.equal((await complete(client, [user('Hi')])).data.choices[0]?.finish_reason, 'stop')
  })

  test('returns errors in OpenAI’s format for unknown paths, wrong methods and malformed bodies', async () => {
    const owner = await app.createOrg()
    const json = { 'content-type': 'application/json' }
    const answers = [
      [await app.call('POST', `${openAiPrefix}/audio/speech`, { as: owner, json: {} }), 404],
      [await app.call('GET', `${openAiPrefix}/chat/completions`, { as: owner }), 404],
      [await app.call('GET', openAiPrefix, { as: owner }), 404],
      [await app.call('POST', `${openAiPrefix}/chat/completions`, { as: owner, body: '{"model', headers: json }), 400],
      [await app.call('POST', `${openAiPrefix}/chat/completions`, { as: owner, body: 'a=b' }), 400],
    ] as const
    for (const [{ status, body, text }, expected] of answers) {
      assert.equal(status, expected, text)
      assert.deepEqual(Object.keys(body), ['error'])
      assert.deepEqual(Object.keys(body.error), ['message', 'type', 'param', 'code'])
    }
    const neighbour = await app.call('GET', `${openAiPrefix}x`, { as: owner })
    assert.equal(neighbour.body.success, false)
  })
})

describe('a failed turn', () => {
  test('returns a failure before the first text with an HTTP status, and the official client does not retry it', async () => {
    const owner = await app.createOrg()
    const client = clientFor(owner)
    for (const stream of [false, true]) {
      const error = await errorOf(
        client.chat.completions.create({ model: assistant, messages: [user('/fail 429\nHi')], stream }),
      )
      assert.ok(error instanceof OpenAI.RateLimitError)
      assert.equal(error.code, 'model_rate_limited')
    }
    const broken = await errorOf(complete(client, [user('/fail 500\nHi')]))
    assert.deepEqual([broken.status, broken.code], [503, 'model_unavailable'])
    assert.equal((await sessionsOf(owner)).length, 3)
  })

  test('hides the provider’s error message, which may describe the operator’s account', async () => {
    const owner = await app.createOrg()
    const model = await helperOf(owner)
    fake.play(rejectWith(401))
    const error = await errorOf(complete(clientFor(owner), [user('Hi')], model))
    assert.deepEqual([error.status, error.code], [422, 'model_rejected'])
    assert.doesNotMatch(JSON.stringify(error.error), /sk-planted/)
  })

  test('ends the stream with an error that the official client throws when a turn fails after its first text', async () => {
    const owner = await app.createOrg()
    const model = await helperOf(owner)
    fake.play(hangAfter(['Well, ']))
    const chunks: ChatCompletionChunk[] = []
    const error = await errorOf(
      (async () => {
        const stream = await clientFor(owner).chat.completions.create({ model, messages: [user('Hi')], stream: true })
        for await (const chunk of stream) {
          chunks.push(chunk)
          const turnId = chunk.id.replace('chatcmpl-', '')
          if (textIn(chunks) !== '') await app.call('POST', `/api/v1/turns/${turnId}/cancel`, { as: owner })
        }
      })(),
    )
    assert.equal(textIn(chunks), 'Well, ')
    assert.equal(error.code, 'turn_cancelled')
  })

  test('returns a ConflictError that is not retried when a person cancels the turn', async () => {
    const owner = await app.createOrg()
    const asking = errorOf(complete(clientFor(owner), [user('/slow 60000\nHi')]))
    const [session] = await until(
      () => sessionsOf(owner),
      ({ length }) => length > 0,
    )
    await app.call('POST', `/api/v1/sessions/${session?.id}/cancel`, { as: owner })
    const error = await asking
    assert.deepEqual([error.status, error.code], [409, 'turn_cancelled'])
    assert.equal((await sessionsOf(owner)).length, 1)
  })

  test('returns a ConflictError while a tool call waits for approval, and the reply after it when repeated', async () => {
    const owner = await app.createOrg()
    const { slug } = await createAgent(app, owner, {
      name: 'Careful',
      allowedTools: ['files.write'],
      settings: { approvals: ['files.write'] },
    })
    const messages = [user('/tool files.write {"name":"note.txt","text":"hi"}')]
    const client = clientFor(owner)
    const model = `agent/${slug}`
    const key = () => ({ headers: { 'idempotency-key': randomUUID() } })
    const asWhole = async (options: object) =>
      (await client.chat.completions.create({ model, messages }, options)).choices[0]?.message.content ?? ''
    const inPieces = async (options: object) =>
      textIn(await collect(await client.chat.completions.create({ model, messages, stream: true }, options)))
    for (const ask of [asWhole, inPieces]) {
      const options = key()
      const error = await errorOf(ask(options))
      assert.equal(error.code, 'turn_requires_action')
      const [, turnId = ''] = /turns\/(\S+)\/approvals/.exec(error.message) ?? []
      const [approval] = (await getTurn(app, owner, turnId)).approvals
      const json = { approvalId: approval.approvalId, approved: true }
      await app.call('POST', `/api/v1/turns/${turnId}/approvals`, { as: owner, json })
      await untilStatus(app, owner, turnId, 'completed')
      assert.match(await ask(options), /note\.txt/)
    }
    assert.equal((await app.call('GET', '/api/v1/files', { as: owner })).body.data.total, 2)
  })
})

describe('a client that disconnects', () => {
  test('continues the turn when the client disconnects during a stream', async () => {
    const owner = await app.createOrg()
    const stop = new AbortController()
    const stream = await clientFor(owner).chat.completions.create(
      { model: assistant, messages: [user('/slow 400\nHello')], stream: true },
      { signal: stop.signal },
    )
    let id = ''
    for await (const chunk of stream) {
      ;({ id } = chunk)
      stop.abort()
    }
    const turn = await untilStatus(app, owner, id.replace('chatcmpl-', ''), 'completed')
    const [, answer] = await messagesOf(owner, turn.sessionId)
    assert.match(textOf(answer), /You wrote: “Hello”/)
  })

  test('continues the turn when the client disconnects while it waits for a completion', async () => {
    const owner = await app.createOrg()
    const stop = new AbortController()
    const { script, asked, release } = held(reply(['Hello yourself.']))
    fake.play(script)
    const asking = clientFor(owner).chat.completions.create(
      { model: await helperOf(owner), messages: [user('Hello')] },
      { signal: stop.signal },
    )
    await asked
    const [session] = await sessionsOf(owner)
    stop.abort()
    await assert.rejects(asking, OpenAI.APIUserAbortError)
    release()
    const messages = await until(
      () => messagesOf(owner, session?.id ?? ''),
      ({ length }) => length === 2,
    )
    assert.equal(textOf(messages[1]), 'Hello yourself.')
  })

  test('returns turn_goes_on when the server stops, and the same turn for the same Idempotency-Key', async () => {
    const owner = await app.createOrg()
    const other = await app.secondServer({}, { work: false })
    const body = { model: assistant, messages: [user('/slow 1500\nHello')], stream: true as const }
    const key = { headers: { 'idempotency-key': randomUUID() } }
    const stream = await clientFor(owner, other).chat.completions.create(body, key)
    let stopping: Promise<void> | undefined
    const error = await errorOf(
      (async () => {
        for await (const _ of stream) stopping ??= other.app.close()
      })(),
    )
    assert.equal(error.code, 'turn_goes_on')
    await stopping
    const again = await collect(await clientFor(owner).chat.completions.create(body, key))
    assert.match(textIn(again), /You wrote: “Hello”/)
    assert.equal((await sessionsOf(owner)).length, 1)
  })
})

describe('a request under an Idempotency-Key', () => {
  test('creates one turn and returns the same completion for requests with the same Idempotency-Key', async () => {
    const owner = await app.createOrg()
    const client = clientFor(owner)
    const key = { headers: { 'idempotency-key': randomUUID() } }
    const body = { model: assistant, messages: [user('Hello')] }
    const first = await client.chat.completions.create(body, key)
    const { data: second, response } = await client.chat.completions.create(body, key).withResponse()
    assert.deepEqual(second, first)
    assert.equal(response.headers.get('idempotency-replayed'), 'true')
    assert.equal((await sessionsOf(owner)).length, 1)
    const other = await errorOf(
      client.chat.completions.create({ ...body, messages: [user('Other')] }, { ...key, maxRetries: 0 }),
    )
    assert.ok(other instanceof OpenAI.ConflictError)
  })

  test('streams a turn in progress from its beginning for a repeated Idempotency-Key', async () => {
    const owner = await app.createOrg()
    const client = clientFor(owner)
    const key = { headers: { 'idempotency-key': randomUUID() } }
    const body = { model: assistant, messages: [user('/slow 500\nHello')], stream: true as const }
    const first = await client.chat.completions.create(body, key)
    const second = await client.chat.completions.create(body, key)
    const [one, two] = await Promise.all([collect(first), collect(second)])
    assert.equal(textIn(two), textIn(one))
    assert.equal(two[0]?.id, one[0]?.id)
    const late = await collect(await client.chat.completions.create(body, key))
    assert.equal(textIn(late), textIn(one))
    assert.equal((await sessionsOf(owner)).length, 1)
  })

  test('streams the whole text for a repeated Idempotency-Key when the stream of the turn has expired', async () => {
    const owner = await app.createOrg()
    const client = clientFor(owner)
    const key = { headers: { 'idempotency-key': randomUUID() } }
    const body = { model: assistant, messages: [user('Hello')], stream: true as const }
    const first = textIn(await collect(await client.chat.completions.create(body, key)))
    await app.db.execute(sql`delete from turn_events where org_id = ${owner.orgId}`)
    assert.match(first, /You wrote: “Hello”/)
    assert.equal(textIn(await collect(await client.chat.completions.create(body, key))), first)
  })

  test('returns the same error again for a repeated Idempotency-Key after a rejected request', async () => {
    const owner = await app.createOrg()
    const asleep = await createAgent(app, owner, { name: 'Asleep' })
    await app.call('PATCH', `/api/v1/agents/${asleep.id}`, { as: owner, json: { isActive: false } })
    const ask = () =>
      errorOf(
        clientFor(owner).chat.completions.create(
          { model: 'agent/asleep', messages: [user('Hi')] },
          { headers: { 'idempotency-key': 'asleep' } },
        ),
      )
    const first = await ask()
    await app.call('PATCH', `/api/v1/agents/${asleep.id}`, { as: owner, json: { isActive: true } })
    assert.deepEqual((await ask()).error, first.error)
  })
})

test('ignores body fields that are not part of TurnCreate', async () => {
  const owner = await app.createOrg()
  const session = await openSession(app, owner)
  const { turn } = await ask(app, owner, session.id, {
    text: 'Hello',
    id: randomUUID(),
    instructions: 'Obey',
    maxOutputTokens: 1,
    callerDigest: 'x',
  })
  const [row] = await app.db.rows<{ instructions: string | null; callerDigest: Buffer | null }>({
    text: 'select instructions, caller_digest from turns where id = $1',
    values: [turn.id],
  })
  assert.deepEqual(row, { instructions: null, callerDigest: null })
})
