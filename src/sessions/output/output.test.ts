import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import OpenAI from 'openai'
import { callTools, reply, startFakeModel } from '../../../test/fakes/model.ts'
import { claudeSays, geminiSays, gptSays, startFakeAnthropic } from '../../../test/fakes/native-models.ts'
import { startFakeGoogle, startFakeOpenAi } from '../../../test/fakes/native-models.ts'
import { startTestApp } from '../../../test/harness.ts'
import type { TestActor } from '../../../test/harness.ts'
import { ask, createAgent, openSession, say, sayWithHeaders, textOf, untilStatus } from '../../../test/support/chat.ts'

const [plain, listed, gpt, claude, gemini] = await Promise.all([
  startFakeModel(),
  startFakeModel(),
  startFakeOpenAi(),
  startFakeAnthropic(),
  startFakeGoogle(),
])
const app = await startTestApp({
  MODEL_PROVIDERS: 'plain,listed,gpt,claude,gemini',
  MODEL_PLAIN_BASE_URL: plain.baseUrl,
  MODEL_PLAIN_MODELS: 'm',
  MODEL_PLAIN_PRICES: 'm=1000000:1000000',
  MODEL_LISTED_BASE_URL: listed.baseUrl,
  MODEL_LISTED_MODELS: 'm,other',
  MODEL_LISTED_PRICES: 'm=1000000:1000000,other=1000000:1000000',
  MODEL_LISTED_JSON_SCHEMA: 'm',
  MODEL_GPT_PROTOCOL: 'openai',
  MODEL_GPT_BASE_URL: gpt.baseUrl,
  MODEL_GPT_MODELS: 'gpt-5',
  MODEL_GPT_PRICES: 'gpt-5=1000000:1000000',
  MODEL_CLAUDE_PROTOCOL: 'anthropic',
  MODEL_CLAUDE_BASE_URL: claude.baseUrl,
  MODEL_CLAUDE_MODELS: 'claude-sonnet-4-5',
  MODEL_CLAUDE_PRICES: 'claude-sonnet-4-5=1000000:1000000',
  MODEL_GEMINI_PROTOCOL: 'google',
  MODEL_GEMINI_BASE_URL: gemini.baseUrl,
  MODEL_GEMINI_MODELS: 'gemini-3-pro',
  MODEL_GEMINI_PRICES: 'gemini-3-pro=1000000:1000000',
})

const schema = {
  type: 'object',
  properties: { city: { type: 'string' }, people: { type: 'integer', minimum: 0 } },
  required: ['city', 'people'],
  additionalProperties: false,
}
const responseFormat = { type: 'json_schema', name: 'place', schema }
const basel = '{"city":"Basel","people":180000}'
const usage = { prompt_tokens: 100, completion_tokens: 10 }

const open = async (as: TestActor, model: string, json: object = {}): Promise<string> => {
  await createAgent(app, as, { name: 'Helper', model, ...json })
  return (await openSession(app, as, { agentId: 'helper' })).id
}
const askFor = async (as: TestActor, model: string, json: object = {}) =>
  ask(app, as, await open(as, model), { text: 'Which city?', responseFormat, ...json })
const stepsOf = (turn: { steps: { status: string; error: { code: string } | null }[] }) =>
  turn.steps.map(({ status, error }) => [status, error?.code ?? null])
const systemText = (request: unknown): string => JSON.stringify(request)

describe('a turn with a JSON schema', () => {
  test('does not count what every object has as a property of the reply', async () => {
    const owner = await app.createOrg()
    const named = { type: 'object', properties: { city: { type: 'string' }, toString: { type: 'string' } } }
    plain.play(reply([basel], { usage }))
    const good = await askFor(owner, 'plain/m', { responseFormat: { ...responseFormat, schema: named } })
    assert.equal(good.turn.status, 'completed')
    const needed = { ...named, required: ['toString'] }
    plain.play(reply([basel], { usage }), reply([basel], { usage }))
    const bad = await askFor(await app.createOrg(), 'plain/m', {
      responseFormat: { ...responseFormat, schema: needed },
    })
    assert.equal(bad.turn.error.code, 'output_invalid')
  })

  test('has the parsed reply as its output, and the same JSON as its text', async () => {
    plain.play(reply([basel.slice(0, 10), basel.slice(10)], { usage }))
    const { turn, message } = await askFor(await app.createOrg(), 'plain/m')
    assert.deepEqual([turn.status, turn.stopReason], ['completed', 'stop'])
    assert.deepEqual(turn.output, JSON.parse(basel))
    assert.equal(textOf(message), basel)
    assert.equal(plain.requests.length, 1)
  })

  test('asks once more when the reply does not match, with the mistakes, and charges both calls', async () => {
    plain.play(reply(['{"city":7}'], { usage }), reply([basel], { usage }))
    const { turn, message } = await askFor(await app.createOrg(), 'plain/m')
    assert.deepEqual(stepsOf(turn), [
      ['failed', 'output_invalid'],
      ['completed', null],
    ])
    assert.deepEqual(
      turn.steps.map(({ step, attempt }: { step: number; attempt: number }) => [step, attempt]),
      [
        [1, 1],
        [1, 2],
      ],
    )
    assert.equal(textOf(message), basel)
    assert.equal(turn.costMicrocents, 2 * 110)
    const [, said, asked] = (plain.requests[1] as { messages: { role: string; content: unknown }[] }).messages.slice(-3)
    assert.equal(said?.role, 'assistant')
    assert.match(JSON.stringify(said?.content), /city.*7/)
    assert.match(JSON.stringify(asked?.content), /\/city must be string/)
    assert.match(JSON.stringify(asked?.content), /must have required properties people/)
  })

  test('fails with output_invalid, and the mistakes, when the second reply does not match either', async () => {
    for (const [text, mistake] of [
      ['{"city":"Basel"}', /must have required properties people/],
      ['Basel', /not JSON/],
      ['```json\n{}\n```', /not JSON/],
      ['['.repeat(100) + ']'.repeat(100), /deeper than 64/],
    ] as const) {
      plain.play(reply([text], { usage }))
      const { turn } = await askFor(await app.createOrg(), 'plain/m')
      assert.deepEqual([turn.status, turn.error.code, turn.output], ['failed', 'output_invalid', null])
      assert.match(turn.error.message, mistake)
      assert.equal(plain.requests.length, 2, text)
      assert.equal(turn.costMicrocents, 2 * 110)
    }
  })

  test('validates a reply whose provider reports tool calls and sends none', async () => {
    plain.play(reply(['Sure: Basel.'], { usage, finish: 'tool_calls' }), reply([basel], { usage }))
    const { turn } = await askFor(await app.createOrg(), 'plain/m')
    assert.deepEqual([turn.status, turn.output], ['completed', JSON.parse(basel)])
    assert.deepEqual(stepsOf(turn), [
      ['failed', 'output_invalid'],
      ['completed', null],
    ])
  })

  test('does not ask again beyond its limit of cost', async () => {
    plain.play(reply(['no'], { usage: { prompt_tokens: 100, completion_tokens: 40_000 } }))
    const { turn } = await askFor(await app.createOrg(), 'plain/m', { maxCostCents: 1 })
    assert.deepEqual([turn.status, turn.error.code], ['failed', 'output_invalid'])
    assert.equal(plain.requests.length, 1)
  })

  test('validates the reply after the last tool call only', async () => {
    const owner = await app.createOrg()
    const session = await open(owner, 'plain/m', { allowedTools: ['files.search'] })
    plain.play(callTools({ id: 'c1', name: 'files_search', args: '{"query":"x"}' }), reply([basel], { usage }))
    const { turn } = await ask(app, owner, session, { text: 'Which city?', responseFormat })
    assert.deepEqual([turn.status, turn.output], ['completed', JSON.parse(basel)])
    assert.equal(turn.toolCalls.length, 1)
  })

  test('has no output when a limit ends it, and the next turn of the session is text again', async () => {
    const owner = await app.createOrg()
    const session = await open(owner, 'plain/m')
    plain.play(reply([basel.slice(0, 9)], { usage, finish: 'length' }))
    const { turn } = await ask(app, owner, session, { text: 'Which city?', responseFormat })
    assert.deepEqual([turn.status, turn.stopReason, turn.output], ['incomplete', 'max_tokens', null])
    plain.play(reply(['Just text.'], { usage }))
    const next = await ask(app, owner, session, { text: 'Thanks' })
    assert.deepEqual([next.turn.status, next.turn.output], ['completed', null])
  })

  test('tells readers of its stream that the rejected text is replaced', async () => {
    const owner = await app.createOrg()
    plain.play(reply(['{}'], { usage }), reply([basel], { usage }))
    const session = await open(owner, 'plain/m')
    const { text } = await sayWithHeaders(app, owner, session, {
      json: { text: 'City?', responseFormat },
      headers: { accept: 'text/event-stream' },
    })
    const at = text.indexOf('"reset-step"')
    assert.ok(at > text.indexOf('text-delta'), text)
    assert.ok(text.indexOf('Basel') > at)
  })
})

describe('the schema reaches', () => {
  test('a model without a field for it in the instructions', async () => {
    plain.play(reply([basel], { usage }))
    await askFor(await app.createOrg(), 'plain/m')
    const [request] = plain.requests
    assert.match(systemText(request), /JSON Schema/)
    assert.match(systemText(request), /additionalProperties/)
    assert.equal((request as unknown as Record<string, unknown>)['response_format'], undefined)
  })

  test('a model that the operator listed as response_format, without strict unless it is asked for', async () => {
    for (const strict of [undefined, true]) {
      listed.play(reply([basel], { usage }))
      await askFor(await app.createOrg(), 'listed/m', { responseFormat: { ...responseFormat, strict } })
      assert.deepEqual((listed.requests[0] as unknown as Record<string, unknown>)['response_format'], {
        type: 'json_schema',
        json_schema: { name: 'place', schema, strict: strict ?? false },
      })
      assert.doesNotMatch(
        systemText((listed.requests[0] as unknown as Record<string, unknown>)['messages']),
        /JSON Schema/,
      )
    }
  })

  test('OpenAI, Anthropic and Google in their own fields', async () => {
    gpt.play(gptSays(basel))
    const first = await askFor(await app.createOrg(), 'gpt/gpt-5')
    assert.deepEqual(gpt.violations, [])
    assert.deepEqual(gpt.requests[0].text.format, { type: 'json_schema', name: 'place', schema, strict: false })
    assert.deepEqual(first.turn.output, JSON.parse(basel))

    claude.play(claudeSays(basel))
    const second = await askFor(await app.createOrg(), 'claude/claude-sonnet-4-5')
    assert.deepEqual(claude.violations, [])
    assert.equal(claude.requests[0].output_config.format.type, 'json_schema')
    assert.deepEqual(second.turn.output, JSON.parse(basel))

    gemini.play(geminiSays(basel))
    const third = await askFor(await app.createOrg(), 'gemini/gemini-3-pro')
    assert.deepEqual(gemini.violations, [])
    assert.equal(gemini.requests[0].generationConfig.responseMimeType, 'application/json')
    assert.deepEqual(third.turn.output, JSON.parse(basel))
  })

  test('nobody when it cannot be used: the request is rejected with the place', async () => {
    const owner = await app.createOrg()
    const session = await open(owner, 'plain/m')
    for (const [bad, message] of [
      [{ type: 'object', properties: { a: { pattern: '(' } } }, /the pattern at #\/properties\/a\/pattern/],
      [{ patternProperties: { '(': {} } }, /the pattern at #\/patternProperties/],
      [{ $ref: 'https://example.com/schema.json' }, /the reference at #\/\$ref must begin with #/],
      [{ description: 'x'.repeat(33_000) }, /at most 32768 bytes/],
    ] as const) {
      const answer = await say(app, owner, session, { text: 'x', responseFormat: { type: 'json_schema', schema: bad } })
      assert.equal(answer.status, 400)
      assert.match(answer.body.error.message, message)
    }
    // Data within a schema may look like a keyword.
    plain.play(reply(['{"pattern":"("}'], { usage }))
    const fine = { type: 'object', properties: { pattern: { const: '(' } }, default: { pattern: '(' } }
    const { turn } = await ask(app, owner, session, {
      text: 'x',
      responseFormat: { type: 'json_schema', schema: fine },
    })
    assert.deepEqual(turn.output, { pattern: '(' })
  })
})

describe('a hostile schema', () => {
  const hostile = { type: 'object', properties: { a: { type: 'string', pattern: '^(a+)+$' } } }
  const slow = JSON.stringify({ a: `${'a'.repeat(40)}!` })

  test('ends its own turn without another call, and does not delay other orgs', async () => {
    const [bad, good] = [await app.createOrg(), await app.createOrg()]
    const [badSession, goodSession] = [await open(bad, 'listed/m'), await open(good, 'plain/m')]
    listed.play(reply([slow], { usage }))
    plain.play(reply([basel], { usage }))
    const format = { type: 'json_schema', schema: hostile }
    const attacks = Array.from({ length: 4 }, () =>
      say(app, bad, badSession, { text: 'x', responseFormat: format, background: true }),
    )
    const attackTurns = (await Promise.all(attacks)).map(({ body }) => body.data.turn.id as string)
    const { turn } = await ask(app, good, goodSession, { text: 'City?', responseFormat })
    assert.deepEqual(turn.output, JSON.parse(basel))
    // Each ends a process of low priority, and the next one starts slowly on a busy machine.
    for (const id of attackTurns) await untilStatus(app, bad, id, 'failed')
    const { turn: ended } = await ask(app, bad, badSession, { text: 'x', responseFormat: format })
    assert.deepEqual([ended.status, ended.error.code], ['failed', 'output_invalid'])
    assert.match(ended.error.message, /more than 200 ms or 64 MB/)
    assert.equal(ended.steps.length, 1)
  })

  test('that refers to itself without end is a mistake of the schema', async () => {
    plain.play(reply(['{}'], { usage }))
    const { turn } = await askFor(await app.createOrg(), 'plain/m', {
      responseFormat: { type: 'json_schema', schema: { allOf: [{ $ref: '#' }] } },
    })
    assert.match(turn.error.message, /refers to itself/)
  })

  test('whose references lead to nothing or back to themselves is rejected before a model is called', async () => {
    const owner = await app.createOrg()
    const session = await open(owner, 'plain/m')
    const loop = { $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } }, $ref: '#/$defs/a' }
    const schemas = [{ $ref: '#' }, { properties: { a: { $ref: '#/nope' } } }, { $ref: '#/%E0' }, loop]
    for (const one of schemas) {
      const json = { text: 'x', responseFormat: { type: 'json_schema', schema: { type: 'object', ...one } } }
      const { status, body } = await say(app, owner, session, json)
      assert.equal(status, 400, JSON.stringify(one))
      assert.match(body.error.message, /leads to (no schema|itself)/)
    }
    const tree = { $defs: { 'a/b': { properties: { next: { $ref: '#/$defs/a~1b' } } } }, $ref: '#/$defs/a~1b' }
    plain.play(reply(['{"next":{}}'], { usage }))
    const { turn } = await ask(app, owner, session, {
      text: 'x',
      responseFormat: { type: 'json_schema', schema: { type: 'object', ...tree } },
    })
    assert.deepEqual(turn.output, { next: {} })
  })
})

describe("OpenAI's response_format", () => {
  const clientFor = ({ key }: TestActor): OpenAI =>
    new OpenAI({ baseURL: `${app.url}/api/openai/v1`, apiKey: key, maxRetries: 0 })
  const format = { type: 'json_schema', json_schema: { name: 'place', schema, strict: true } } as const
  const messages = [{ role: 'user', content: 'City?' }] as const

  test('returns validated JSON, parsed by the official client', async () => {
    const owner = await app.createOrg()
    await open(owner, 'plain/m')
    plain.play(reply(['{}'], { usage }), reply([basel], { usage }))
    const completion = await clientFor(owner).chat.completions.parse({
      model: 'agent/helper',
      messages: [...messages],
      response_format: format,
    })
    assert.deepEqual(JSON.parse(completion.choices[0]?.message.content ?? ''), JSON.parse(basel))
  })

  test('streams the text only when it was validated', async () => {
    const owner = await app.createOrg()
    await open(owner, 'plain/m')
    plain.play(reply(['{"city":', '1}'], { usage }), reply([basel], { usage }))
    const stream = await clientFor(owner).chat.completions.create({
      model: 'agent/helper',
      messages: [...messages],
      response_format: format,
      stream: true,
    })
    let text = ''
    for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? ''
    assert.equal(text, basel)
  })

  test('of the type json_object accepts any object', async () => {
    const owner = await app.createOrg()
    await open(owner, 'plain/m')
    plain.play(reply(['{"any":1}'], { usage }))
    const completion = await clientFor(owner).chat.completions.create({
      model: 'agent/helper',
      messages: [...messages],
      response_format: { type: 'json_object' },
    })
    assert.equal(completion.choices[0]?.message.content, '{"any":1}')
  })

  test('fails with output_invalid', async () => {
    const owner = await app.createOrg()
    await open(owner, 'plain/m')
    plain.play(reply(['no'], { usage }))
    await assert.rejects(
      clientFor(owner).chat.completions.create({
        model: 'agent/helper',
        messages: [...messages],
        response_format: format,
      }),
      { code: 'output_invalid' },
    )
  })
})
