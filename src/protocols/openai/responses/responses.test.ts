import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createOpenAI } from '@ai-sdk/openai'
import { generateText, jsonSchema, stepCountIs, streamText, tool } from 'ai'
import { Agent, OpenAIProvider, Runner, tool as agentTool } from '@openai/agents'
import OpenAI from 'openai'
import type { Response, ResponseStreamEvent } from 'openai/resources/responses/responses'
import { callTools, hangAfter, reply, startFakeModel } from '../../../../test/fakes/model.ts'
import { startTestApp } from '../../../../test/harness.ts'
import type { TestActor } from '../../../../test/harness.ts'
import { createAgent } from '../../../../test/support/chat.ts'
import { sql } from '../../../platform/database/database.ts'

const model = await startFakeModel()
const app = await startTestApp(model.env)
const usage = { prompt_tokens: 100, completion_tokens: 10 }

const clientFor = ({ key }: TestActor): OpenAI =>
  new OpenAI({ baseURL: `${app.url}/api/openai/v1`, apiKey: key, maxRetries: 0 })

const newPerson = async (): Promise<{ owner: TestActor; client: OpenAI }> => {
  const owner = await app.createOrg()
  await createAgent(app, owner, { name: 'Helper', model: 'fake/m1' })
  return { owner, client: clientFor(owner) }
}
const agent = 'agent/helper'

const weather = {
  type: 'function',
  name: 'get_weather',
  description: 'Returns the weather of a city.',
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  strict: false,
} as const
const asksForWeather = callTools({ id: 'x1', name: 'get_weather', args: '{"city":"Basel"}' })

const collect = async (stream: AsyncIterable<ResponseStreamEvent>): Promise<ResponseStreamEvent[]> => {
  const events: ResponseStreamEvent[] = []
  for await (const event of stream) events.push(event)
  return events
}
const callsOf = ({ output }: Response) => output.filter((item) => item.type === 'function_call')
const sessionOf = async (owner: TestActor, response: Response): Promise<string> =>
  (await app.call('GET', `/api/v1/turns/${response.id.slice(5, 41)}`, { as: owner })).body.data.sessionId

// The names are those of the cases of the Open Responses compliance suite.
describe('Open Responses', () => {
  test('Basic Text Response: a text returns a completed response with a message', async () => {
    const { client } = await newPerson()
    model.play(reply(['Hello', ' there.'], { usage }))
    const response = await client.responses.create({ model: agent, input: 'Say hello.', metadata: { purpose: 'test' } })
    assert.deepEqual(
      [response.object, response.status, response.output_text],
      ['response', 'completed', 'Hello there.'],
    )
    assert.deepEqual(
      response.output.map(({ type }) => type),
      ['message'],
    )
    assert.deepEqual([response.metadata, response.model, response.error], [{ purpose: 'test' }, agent, null])
    assert.deepEqual(
      [response.usage?.input_tokens, response.usage?.output_tokens, response.usage?.total_tokens],
      [100, 10, 110],
    )
    assert.ok(response.completed_at! >= response.created_at)
  })

  test('Streaming Response: the events of a response are complete, numbered and in order', async () => {
    const { client } = await newPerson()
    model.play(reply(['Hello', ' there.'], { usage }))
    const events = await collect(await client.responses.create({ model: agent, input: 'Hi', stream: true }))
    assert.deepEqual(
      events.map(({ type }) => type),
      [
        'response.created',
        'response.in_progress',
        'response.output_item.added',
        'response.content_part.added',
        'response.output_text.delta',
        'response.output_text.delta',
        'response.output_text.done',
        'response.content_part.done',
        'response.output_item.done',
        'response.completed',
      ],
    )
    assert.deepEqual(
      events.map(({ sequence_number: number }) => number),
      events.map((_, at) => at),
    )
    const last = events.at(-1) as Extract<ResponseStreamEvent, { type: 'response.completed' }>
    const stored = await client.responses.retrieve(last.response.id)
    assert.deepEqual(stored.output, last.response.output)
    assert.equal(stored.output_text, 'Hello there.')
  })

  test('System Prompt: a system message and instructions reach the model', async () => {
    const { client } = await newPerson()
    model.play(reply(['Arr.'], { usage }))
    const response = await client.responses.create({
      model: agent,
      instructions: 'Answer shortly.',
      input: [
        { type: 'message', role: 'system', content: 'You are a pirate.' },
        { role: 'user', content: 'Who are you?' },
      ],
    })
    const [system] = model.requests[0]?.messages ?? []
    assert.match(String(system?.content), /Answer shortly\.[^]*You are a pirate\./)
    assert.match(JSON.stringify(response.instructions), /pirate/)
  })

  test('Tool Calling: a function call is returned, and its output continues the same turn', async () => {
    const { client, owner } = await newPerson()
    model.play(asksForWeather, reply(['It is 21 degrees.'], { usage }))
    const first = await client.responses.create({ model: agent, input: 'How warm is it?', tools: [weather] })
    assert.deepEqual([first.status, first.output_text], ['completed', ''])
    const [call] = callsOf(first)
    assert.deepEqual(
      [call?.name, JSON.parse(call?.arguments ?? ''), call?.status],
      ['get_weather', { city: 'Basel' }, 'completed'],
    )
    const second = await client.responses.create({
      model: agent,
      previous_response_id: first.id,
      input: [{ type: 'function_call_output', call_id: call?.call_id ?? '', output: '{"celsius":21}' }],
      tools: [weather],
    })
    assert.deepEqual([second.status, second.output_text], ['completed', 'It is 21 degrees.'])
    assert.notEqual(second.id, first.id)
    assert.equal(second.previous_response_id, first.id)
    assert.equal(await sessionOf(owner, second), await sessionOf(owner, first))
    assert.equal(second.id.slice(5, 41), first.id.slice(5, 41))
    // Both responses stay as they were.
    assert.deepEqual(callsOf(await client.responses.retrieve(first.id)), callsOf(first))
    assert.equal((await client.responses.retrieve(second.id)).output_text, 'It is 21 degrees.')
    const items = await client.responses.inputItems.list(second.id)
    assert.deepEqual(
      items.data.map((item) => [item.type, (item as { output?: unknown }).output]),
      [['function_call_output', '{"celsius":21}']],
    )
  })

  test('Image Input: a picture in the request is stored as a file of the person', async () => {
    const { client, owner } = await newPerson()
    model.play(reply(['A dot.'], { usage }))
    const dot = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
    const response = await client.responses.create({
      model: agent,
      input: [
        {
          role: 'user',
          content: [
            { type: 'input_text', text: 'What is this?' },
            { type: 'input_image', image_url: `data:image/png;base64,${dot}`, detail: 'auto' },
          ],
        },
      ],
    })
    assert.equal(response.output_text, 'A dot.')
    const stored = await app.db.rows(sql`
      select id from files where org_id = ${owner.orgId} and mime_type = 'image/png' and created_by = ${owner.userId}`)
    assert.equal(stored.length, 1)
  })

  test('Multi-turn Conversation: a whole conversation in the input continues its session', async () => {
    const { client, owner } = await newPerson()
    model.play(reply(['Hello Alice.'], { usage }))
    const first = await client.responses.create({ model: agent, input: [{ role: 'user', content: 'I am Alice.' }] })
    model.play(reply(['Alice.'], { usage }))
    const second = await client.responses.create({
      model: agent,
      input: [
        { role: 'user', content: 'I am Alice.' },
        ...(first.output as OpenAI.Responses.ResponseInputItem[]),
        { role: 'user', content: 'Who am I?' },
      ],
    })
    assert.equal(second.output_text, 'Alice.')
    assert.equal(await sessionOf(owner, second), await sessionOf(owner, first))
    assert.match(JSON.stringify(model.requests[0]?.messages), /I am Alice.*Hello Alice.*Who am I/)
  })
})

describe('previous_response_id', () => {
  test('continues the session, and an older response begins a new session with the history until then', async () => {
    const { client, owner } = await newPerson()
    model.play(reply(['One.'], { usage }))
    const first = await client.responses.create({ model: agent, input: 'First' })
    model.play(reply(['Two.'], { usage }))
    const second = await client.responses.create({ model: agent, input: 'Second', previous_response_id: first.id })
    assert.equal(await sessionOf(owner, second), await sessionOf(owner, first))
    assert.match(JSON.stringify(model.requests[0]?.messages), /First.*One\..*Second/)
    model.play(reply(['Other.'], { usage }))
    const branch = await client.responses.create({ model: agent, input: 'Third', previous_response_id: first.id })
    assert.notEqual(await sessionOf(owner, branch), await sessionOf(owner, first))
    const messages = JSON.stringify(model.requests[0]?.messages)
    assert.match(messages, /First.*One\..*Third/)
    assert.doesNotMatch(messages, /Second/)
  })

  test('of another person, of a deleted response or of a turn of another API is not found', async () => {
    const { client, owner } = await newPerson()
    model.play(reply(['One.'], { usage }))
    const response = await client.responses.create({ model: agent, input: 'First' })
    const chat = await client.chat.completions.create({ model: agent, messages: [{ role: 'user', content: 'Hi' }] })
    const other = clientFor(await app.createUser(owner))
    const stranger = await newPerson()
    for (const [who, id] of [
      [other, response.id],
      [stranger.client, response.id],
      [client, chat.id.replace('chatcmpl', 'resp')],
      [client, `${response.id}-7`],
      [client, 'resp_nonsense'],
    ] as const) {
      await assert.rejects(who.responses.retrieve(id), { status: 404 }, id)
      await assert.rejects(who.responses.cancel(id), { status: 404 }, id)
      await assert.rejects(who.responses.inputItems.list(id), { status: 404 }, id)
      await assert.rejects(who.responses.create({ model: agent, input: 'x', previous_response_id: id }), {
        status: 400,
        param: 'previous_response_id',
      })
    }
    await client.responses.delete(response.id)
    await assert.rejects(client.responses.retrieve(response.id), { status: 404 })
    model.play(reply(['Hidden.'], { usage }))
    const hidden = await client.responses.create({ model: agent, input: 'x', store: false })
    assert.equal(hidden.output_text, 'Hidden.')
    await assert.rejects(client.responses.retrieve(hidden.id), { status: 404 })
  })

  test('needs the output of every function call, once', async () => {
    const { client } = await newPerson()
    model.play(asksForWeather, reply(['Warm.'], { usage }))
    const first = await client.responses.create({ model: agent, input: 'Weather?', tools: [weather] })
    const [call] = callsOf(first)
    const send = (input: OpenAI.Responses.ResponseInput) =>
      client.responses.create({ model: agent, previous_response_id: first.id, input, tools: [weather] })
    const output = (text: string, id = call?.call_id ?? '') =>
      ({ type: 'function_call_output', call_id: id, output: text }) as const
    await assert.rejects(send([{ role: 'user', content: 'Hello?' }]), { status: 400, param: 'input' })
    await assert.rejects(send([output('21', 'call_unknown')]), { status: 400, param: 'input' })
    const second = await send([output('21')])
    assert.equal(second.output_text, 'Warm.')
    // The same output again is the same response, without another call of the model.
    const calls = model.requests.length
    assert.equal((await send([output('21')])).id, second.id)
    assert.equal(model.requests.length, calls)
    await assert.rejects(send([output('22')]), { status: 409 })
  })
})

describe('a response', () => {
  test('has the time at which it was completed, whenever it is read', async () => {
    const { client, owner } = await newPerson()
    model.play(asksForWeather, reply(['21 degrees.'], { usage }))
    const asked = await client.responses.create({ model: agent, input: 'Weather?', tools: [weather] })
    const [call] = callsOf(asked)
    const told = await client.responses.create({
      model: agent,
      previous_response_id: asked.id,
      tools: [weather],
      input: [{ type: 'function_call_output', call_id: call?.call_id ?? '', output: '21' }],
    })
    const past = '2026-01-02T03:04:05Z'
    await app.db.execute(sql`update turns set ended_at = ${past} where org_id = ${owner.orgId}`)
    await app.db.execute(sql`update turn_steps set ended_at = ${past} where org_id = ${owner.orgId}`)
    for (const { id } of [asked, told]) {
      assert.equal((await client.responses.retrieve(id)).completed_at, Date.parse(past) / 1_000)
    }
  })

  test('in the background is polled until it has ended, and can be cancelled', async () => {
    const { client } = await newPerson()
    model.play(reply(['Done.'], { usage }))
    let response = await client.responses.create({ model: agent, input: 'Work', background: true })
    assert.ok(['queued', 'in_progress'].includes(response.status ?? ''))
    assert.equal(response.background, true)
    while (response.status === 'queued' || response.status === 'in_progress') {
      await new Promise((resolve) => setTimeout(resolve, 20))
      response = await client.responses.retrieve(response.id)
    }
    assert.deepEqual([response.status, response.output_text], ['completed', 'Done.'])
    model.play(hangAfter(['Some']))
    const long = await client.responses.create({ model: agent, input: 'Work', background: true })
    const cancelled = await client.responses.cancel(long.id)
    assert.equal(cancelled.status, 'cancelled')
    assert.equal((await client.responses.retrieve(long.id)).status, 'cancelled')
  })

  test('that reaches its limit of tokens is incomplete', async () => {
    const { client } = await newPerson()
    model.play(reply(['Cut'], { usage, finish: 'length' }))
    const response = await client.responses.create({ model: agent, input: 'x', max_output_tokens: 16 })
    assert.deepEqual([response.status, response.incomplete_details], ['incomplete', { reason: 'max_output_tokens' }])
    assert.equal(model.requests[0]?.max_tokens, 16)
    model.play(reply(['Cut'], { usage, finish: 'length' }))
    const events = await collect(await client.responses.create({ model: agent, input: 'x', stream: true }))
    assert.equal(events.at(-1)?.type, 'response.incomplete')
  })

  test('with text.format is validated JSON, streamed when it was validated', async () => {
    const { client } = await newPerson()
    const format = {
      type: 'json_schema',
      name: 'place',
      schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
    } as const
    model.play(reply(['{}'], { usage }), reply(['{"city":"Basel"}'], { usage }))
    const events = await collect(
      await client.responses.create({ model: agent, input: 'City?', text: { format }, stream: true }),
    )
    const deltas = events.flatMap((event) => (event.type === 'response.output_text.delta' ? [event.delta] : []))
    assert.deepEqual(deltas, ['{"city":"Basel"}'])
    model.play(reply(['{"city":"Bern"}'], { usage }))
    const parsed = await client.responses.parse({ model: agent, input: 'City?', text: { format } })
    assert.deepEqual(JSON.parse(parsed.output_text), { city: 'Bern' })
    assert.deepEqual(parsed.text?.format, { ...format, description: null, strict: false })
  })

  test('that fails is an error, or the last event of a stream that has begun', async () => {
    const { client } = await newPerson()
    const bad = { type: 'json_schema', name: 'a', schema: { type: 'object' } } as const
    model.play(reply(['no'], { usage }))
    await assert.rejects(client.responses.create({ model: agent, input: 'x', text: { format: bad } }), {
      status: 422,
      code: 'output_invalid',
    })
    await assert.rejects(client.responses.create({ model: 'agent/nobody', input: 'x' }), { status: 404 })
  })

  test('is the same one when its request is repeated with an Idempotency-Key', async () => {
    const { client } = await newPerson()
    model.play(reply(['Once.'], { usage }))
    const headers = { 'Idempotency-Key': 'k1' }
    const [first, again] = [
      await client.responses.create({ model: agent, input: 'x' }, { headers }),
      await client.responses.create({ model: agent, input: 'x' }, { headers }),
    ]
    assert.equal(again.id, first.id)
    assert.equal(again.output_text, 'Once.')
    assert.equal(model.requests.length, 1)
  })

  test('whose request has something that is not supported is rejected by its name', async () => {
    const { client } = await newPerson()
    for (const [body, param] of [
      [{ conversation: 'conv_1' }, 'conversation'],
      [{ prompt: { id: 'pmpt_1' } }, 'prompt'],
      [{ top_logprobs: 3 }, 'top_logprobs'],
      [{ max_tool_calls: 3 }, 'max_tool_calls'],
      [{ include: ['message.output_text.logprobs'] }, 'include'],
      [{ tools: [{ type: 'web_search' }] }, 'tools[0].type'],
      [{ tools: [{ type: 'function', name: 'a b', parameters: {} }] }, 'tools[0].function.name'],
      [{ tools: [{ type: 'function', parameters: {} }] }, 'tools[0].function.name'],
      [{ tools: [{ ...weather, description: 'x'.repeat(10_001) }] }, null],
      [{ text: { format: { type: 'json_schema', schema: {} } } }, 'text.format'],
      [{ tool_choice: { type: 'file_search' }, tools: [weather] }, 'tool_choice'],
      [{ text: { format: { type: 'json_schema', name: 'a', schema: { pattern: '(' } } } }, 'text.format'],
      [{ input: [{ type: 'item_reference', id: 'x' }] }, 'input[0].id'],
      [{ input: [{ role: 'robot', content: 'x' }] }, 'input[0].role'],
      [{ input: [{ role: 'user', content: [{ type: 'input_audio' }] }] }, 'input[0].content[0].type'],
      [
        { input: [{ role: 'user', content: [{ type: 'input_file', file_url: 'https://example.com' }] }] },
        'input[0].content[0].file_url',
      ],
      [
        { input: [{ role: 'user', content: [{ type: 'input_image', image_url: 'https://example.com/a.png' }] }] },
        'input',
      ],
      [{ input: [{ role: 'assistant', content: 'x' }] }, 'input'],
      [{ input: [] }, 'input'],
      [{ input: ' ' }, 'input'],
      [{ metadata: { a: 'x'.repeat(600) } }, 'metadata.a'],
    ] as const) {
      await assert.rejects(
        client.responses.create({ model: agent, input: 'x', ...body } as never),
        (error: { status: number; param: string }) => {
          assert.deepEqual([error.status, error.param], [400, param], JSON.stringify(body))
          return true
        },
      )
    }
    assert.deepEqual((await app.call('GET', '/api/v1/sessions', { as: (await newPerson()).owner })).body.data.items, [])
  })
})

describe("Vercel's AI SDK with the Responses API", () => {
  const tools = {
    get_weather: tool({
      description: 'Returns the weather of a city.',
      inputSchema: jsonSchema<{ city: string }>({
        type: 'object',
        properties: { city: { type: 'string' } },
        required: ['city'],
        additionalProperties: false,
      }),
      execute: ({ city }) => Promise.resolve({ city, celsius: 21 }),
    }),
  }
  const providerFor = ({ key }: TestActor) => createOpenAI({ baseURL: `${app.url}/api/openai/v1`, apiKey: key })

  // The SDK refers to items of stored responses by their ids.
  for (const store of [true, false]) {
    const options = {
      prompt: 'How warm is it in Basel?',
      tools,
      stopWhen: stepCountIs(4),
      providerOptions: { openai: { store } },
    }

    test(`generates text with a tool with responses that are ${store ? '' : 'not '}stored`, async () => {
      const { owner } = await newPerson()
      model.play(asksForWeather, reply(['21 degrees in Basel.'], { usage }))
      const { text, steps } = await generateText({ model: providerFor(owner).responses(agent), ...options })
      assert.equal(text, '21 degrees in Basel.')
      assert.equal(steps.length, 2)
    })

    test(`streams text with a tool with responses that are ${store ? '' : 'not '}stored`, async () => {
      const { owner } = await newPerson()
      model.play(asksForWeather, reply(['21 ', 'degrees.'], { usage }))
      const result = streamText({ model: providerFor(owner).responses(agent), ...options })
      assert.equal(await result.text, '21 degrees.')
    })
  }

  test('continues a conversation whose replies it names by their ids', async () => {
    const { owner } = await newPerson()
    model.play(reply(['One.'], { usage }), reply(['Two.'], { usage }))
    const ai = providerFor(owner).responses(agent)
    const first = await generateText({ model: ai, prompt: 'First' })
    const second = await generateText({
      model: ai,
      messages: [{ role: 'user', content: 'First' }, ...first.response.messages, { role: 'user', content: 'Second' }],
    })
    assert.equal(second.text, 'Two.')
    assert.match(String(first.response.headers?.['x-session-id']), /^[0-9a-f-]{36}$/)
    assert.equal(second.response.headers?.['x-session-id'], first.response.headers?.['x-session-id'])
  })
})

describe('items that a request refers to by their ids', () => {
  test('are those of responses of the same person that were stored', async () => {
    const { client, owner } = await newPerson()
    model.play(reply(['Blue.'], { usage }), reply(['Hidden.'], { usage }))
    const first = await client.responses.create({ model: agent, input: 'Colour?' })
    const hidden = await client.responses.create({ model: agent, input: 'x', store: false })
    const other = await app.createUser(owner)
    const answers = async (as: TestActor, id: string | undefined) =>
      app.call('POST', '/api/openai/v1/responses', {
        as,
        json: {
          model: agent,
          input: [{ role: 'user', content: 'Colour?' }, { id }, { role: 'user', content: 'More' }],
        },
      })
    for (const [as, id] of [
      [other, first.output[0]?.id],
      [owner, hidden.output[0]?.id],
      [owner, `${first.output[0]?.id}-7`],
      [owner, `fc_${first.id.slice(5).replaceAll('-', '')}_nothing`],
    ] as const) {
      const { status, body } = await answers(as, id)
      assert.deepEqual([status, body.error['param' as never]], [400, 'input[1].id'], String(id))
    }
    model.play(reply(['Green.'], { usage }))
    assert.equal((await answers(owner, first.output[0]?.id)).status, 200)
    assert.match(JSON.stringify(model.requests.at(-1)?.messages), /Blue\..*More/)
  })

  test('have at most 4 MB together, however short their references are', async () => {
    const { client } = await newPerson()
    model.play(reply(['x'.repeat(99_000)], { usage }), reply(['Done.'], { usage }))
    const { output } = await client.responses.create({ model: agent, input: 'Long?' })
    const create = (times: number) =>
      client.responses.create({
        model: agent,
        input: [
          { role: 'user', content: 'Long?' },
          ...Array.from({ length: times }, () => ({ type: 'item_reference' as const, id: output[0]?.id ?? '' })),
          { role: 'user', content: 'More' },
        ],
      })
    await assert.rejects(create(50), { status: 400, param: 'input' })
    assert.equal((await create(2)).output_text, 'Done.')
  })

  test('are of responses of at most about 16 MB together, however short the items are', async () => {
    const { owner, client } = await newPerson()
    const calls: ReturnType<typeof callsOf> = []
    for (let n = 0; n < 18; n += 1) {
      model.play(asksForWeather, reply(['Warm.'], { usage }))
      const asked = await client.responses.create({ model: agent, input: 'Weather?', tools: [weather] })
      const [call] = callsOf(asked)
      const input = [{ type: 'function_call_output', call_id: call?.call_id ?? '', output: '21' } as const]
      await client.responses.create({ model: agent, previous_response_id: asked.id, input, tools: [weather] })
      calls.push(...(call ? [call] : []))
    }
    const text = 'x'.repeat(1_000_000)
    await app.db.execute(sql`
      update messages set parts = ${JSON.stringify([{ type: 'text', text }])}
      where org_id = ${owner.orgId} and role = 'assistant'`)
    const create = (named: typeof calls) =>
      client.responses.create({
        model: agent,
        tools: [weather],
        input: [
          { role: 'user', content: 'Weather?' },
          ...named.flatMap(({ id, call_id }) => [
            { type: 'item_reference' as const, id: id ?? '' },
            { type: 'function_call_output' as const, call_id, output: '21' },
          ]),
          { role: 'user', content: 'More' },
        ],
      })
    await assert.rejects(create(calls), { status: 400, param: 'input' })
    model.play(reply(['Done.'], { usage }))
    assert.equal((await create(calls.slice(0, 3))).output_text, 'Done.')
  })
})

describe('the Agents SDK of OpenAI', () => {
  const runnerFor = (client: OpenAI): Runner =>
    new Runner({
      modelProvider: new OpenAIProvider({ openAIClient: client as never, useResponses: true }),
      tracingDisabled: true,
    })

  test('runs a function tool', async () => {
    const { client } = await newPerson()
    let asked: unknown
    const lookUp = agentTool({
      name: 'get_weather',
      description: 'Returns the weather of a city.',
      strict: false,
      parameters: {
        type: 'object',
        properties: { city: { type: 'string' } },
        required: ['city'],
        additionalProperties: true,
      },
      execute: (input: unknown) => {
        asked = input
        return '21 degrees'
      },
    })
    model.play(asksForWeather, reply(['It is 21 degrees.'], { usage }))
    const result = await runnerFor(client).run(
      new Agent({ name: 'Weather', instructions: 'Help.', model: agent, tools: [lookUp] }),
      'How warm is it in Basel?',
    )
    assert.equal(result.finalOutput, 'It is 21 degrees.')
    assert.deepEqual(asked, { city: 'Basel' })
    assert.equal(model.requests.length, 2)
  })

  test('hands a conversation over to another agent', async () => {
    const { client, owner } = await newPerson()
    await createAgent(app, owner, { name: 'Expert', model: 'fake/m1' })
    const expert = new Agent({ name: 'Expert', instructions: 'You know everything.', model: 'agent/expert' })
    const front = new Agent({ name: 'Front', instructions: 'Hand over.', model: agent, handoffs: [expert] })
    model.play(callTools({ id: 'x1', name: 'transfer_to_Expert', args: '{}' }), reply(['I know.'], { usage }))
    const result = await runnerFor(client).run(front, 'A hard question')
    assert.equal(result.finalOutput, 'I know.')
    assert.equal(result.lastAgent?.name, 'Expert')
    assert.match(JSON.stringify(model.requests[1]?.messages), /You know everything.*A hard question/)
  })

  test('streams a run', async () => {
    const { client } = await newPerson()
    model.play(reply(['Hello', ' there.'], { usage }))
    const stream = await runnerFor(client).run(new Agent({ name: 'Hi', model: agent }), 'Hello', { stream: true })
    let text = ''
    for await (const piece of stream.toTextStream()) text += piece
    await stream.completed
    assert.equal(text, 'Hello there.')
  })
})
