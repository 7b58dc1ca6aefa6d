import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, describe, test } from 'node:test'
import { sql } from '../../platform/database/database.ts'
import { ask, createAgent, getTurn, openSession, say, textOf, until, untilStatus } from '../../../test/support/chat.ts'
import {
  callTools,
  cutAfter,
  endAfter,
  garbage,
  hangAfter,
  rejectWith,
  reply,
  startFakeModel,
  stopInCall,
} from '../../../test/fakes/model.ts'
import type { Script } from '../../../test/fakes/model.ts'
import { startTestApp } from '../../../test/harness.ts'
import type { TestActor } from '../../../test/harness.ts'
import { timed } from '../../../test/support/stopwatch.ts'

const fake = await startFakeModel()
const pricesFile = join(await mkdtemp(join(tmpdir(), 'atrium-prices-')), 'prices.json')
const small = {
  input: 10_000_000,
  output: 20_000_000,
  cacheRead: 1_000_000,
  contextWindow: 20_000,
  maxOutputTokens: 1_000,
}
await writeFile(pricesFile, JSON.stringify({ 'listed/small': small }))
after(() => rm(dirname(pricesFile), { recursive: true }))
const env = {
  MODEL_PROVIDERS: 'fake,listed,nowhere',
  MODEL_FAKE_BASE_URL: fake.baseUrl,
  MODEL_FAKE_API_KEY: 'sk-of-the-operator',
  MODEL_FAKE_MODELS: 'vendor/large,unpriced',
  MODEL_FAKE_PRICES: 'vendor/large=3000000:15000000:300000:3750000',
  MODEL_LISTED_BASE_URL: fake.baseUrl,
  MODEL_LISTED_MODELS: 'small',
  MODEL_PRICES_FILE: pricesFile,
  MODEL_NOWHERE_BASE_URL: 'http://127.0.0.1:9/v1',
  MODEL_NOWHERE_MODELS: 'm',
  MODEL_NOWHERE_FREE: '1',
}
const app = await startTestApp(env)
/** A server whose models may be silent for one second only. Tests of other behaviour need more time. */
const impatient = await startTestApp({ ...env, MODEL_SILENCE_SECONDS: '1' })

const openWith = async (as: TestActor, json: object = {}, on = app) => {
  await createAgent(on, as, { name: 'Helper', model: 'fake/vendor/large', allowedTools: ['files.search'], ...json })
  return openSession(on, as, { agentId: 'helper' })
}

const webPage: Script = (response) => {
  response.writeHead(200, { 'content-type': 'text/html' })
  response.end('<html><body>Please sign in</body></html>')
}

const stepsOf = (turn: { steps: { attempt: number; status: string }[] }): [number, string][] =>
  turn.steps.map(({ attempt, status }) => [attempt, status])

describe('a model behind an OpenAI-compatible URL', () => {
  test('a provider is sent the conversation, the instructions and the tools with the operator’s key', async () => {
    const owner = await app.createOrg('Acme')
    fake.play(reply(['Hel', 'lo', '.']))
    const session = await openWith(owner, { systemPrompt: 'Speak like a pirate.' })
    await ask(app, owner, session.id, { text: 'One' })
    fake.play(reply(['Aye.']))
    const { message } = await ask(app, owner, session.id, { text: 'Two' })
    assert.equal(textOf(message), 'Aye.')
    const [request] = fake.requests
    assert.equal(request?.model, 'vendor/large')
    assert.deepEqual(fake.authorizations, ['Bearer sk-of-the-operator'])
    assert.equal(request?.stream_options?.include_usage, true)
    const [system, ...rest] = request?.messages ?? []
    assert.equal(system?.role, 'system')
    assert.match(String(system?.content), /^Speak like a pirate\./)
    assert.deepEqual(
      rest.map(({ role, content }) => [role, content]),
      [
        ['user', 'One'],
        ['assistant', 'Hello.'],
        ['user', 'Two'],
      ],
    )
    assert.deepEqual(
      request?.tools?.map((tool) => tool.function.name),
      ['files_search'],
      'no dots toward providers',
    )
  })

  test('the tokens that a provider reports are charged, with a separate price for cached tokens', async () => {
    const owner = await app.createOrg()
    const session = await openWith(owner)
    fake.play(
      reply(['Yes.'], {
        usage: { prompt_tokens: 1_000, completion_tokens: 10, prompt_tokens_details: { cached_tokens: 800 } },
      }),
    )
    const { turn } = await ask(app, owner, session.id, { text: 'Hello' })
    assert.deepEqual(turn.usage, {
      inputTokens: 1_000,
      outputTokens: 10,
      cacheReadTokens: 800,
      cacheWriteTokens: 0,
      totalTokens: 1_010,
      isEstimate: false,
    })
    assert.equal(turn.costMicrocents, 200 * 3 + 240 + 10 * 15)
  })

  test('tokens that a provider does not report are estimated and marked as estimates; reported zeros are kept', async () => {
    const owner = await app.createOrg()
    const session = await openWith(owner)
    fake.play(reply(['Yes.'], { usage: null }))
    const { turn } = await ask(app, owner, session.id, { text: 'Hello' })
    assert.equal(turn.usage.isEstimate, true)
    assert.ok(turn.usage.inputTokens > 10 && turn.usage.outputTokens > 0 && turn.costMicrocents > 0)
    fake.play(reply(['Yes.'], { usage: { prompt_tokens: 0, completion_tokens: 0 } }))
    const { turn: free } = await ask(app, owner, session.id, { text: 'Hello' })
    assert.deepEqual([free.usage.isEstimate, free.usage.totalTokens, free.costMicrocents], [false, 0, 0])
  })

  test('reported tokens beyond the model’s window, its prompt or its output limit are not charged', async () => {
    const owner = await app.createOrg()
    const session = await openWith(owner, { model: 'listed/small' })
    const told = async (usage: object) => {
      fake.play(reply(['Yes.'], { usage }))
      return (await ask(app, owner, session.id, { text: 'Hello' })).turn
    }
    const cached = { prompt_tokens: 1_000, completion_tokens: 10, prompt_tokens_details: { cached_tokens: 1_000_000 } }
    const { usage, costMicrocents } = await told(cached)
    assert.deepEqual([usage.inputTokens, usage.cacheReadTokens, usage.cacheWriteTokens], [1_000, 1_000, 0])
    assert.deepEqual([costMicrocents, usage.isEstimate], [1_000 * 1 + 10 * 20, false])
    const { usage: read } = await told({ prompt_tokens: 1_500_000_000, completion_tokens: 10 })
    assert.ok(read.inputTokens > 10 && read.inputTokens < 1_000, `${read.inputTokens} tokens, counted from the text`)
    assert.deepEqual([read.outputTokens, read.isEstimate], [10, true])
    const { usage: said } = await told({ prompt_tokens: 100, completion_tokens: 1_500_000_000 })
    assert.deepEqual([said.inputTokens, said.outputTokens, said.isEstimate], [100, 1_000, true])
  })

  test('negative numbers of tokens are estimates from the text, and not free of charge', async () => {
    const owner = await app.createOrg()
    const session = await openWith(owner)
    for (const usage of [
      { prompt_tokens: -1_000, completion_tokens: 10 },
      { prompt_tokens: 10, completion_tokens: -1_000 },
    ]) {
      fake.play(reply(['Yes.'], { usage }))
      const { turn } = await ask(app, owner, session.id, { text: 'Hello' })
      assert.ok(turn.usage.isEstimate && turn.usage.inputTokens > 10 && turn.usage.outputTokens > 0)
    }
  })

  test('a call that is cancelled or cut in the arguments of a tool is charged for what they have so far', async () => {
    const owner = await app.createOrg()
    const session = await openWith(owner)
    const args = `{"query":"${'A long story. '.repeat(500)}`
    fake.play(stopInCall('files_search', args, 'hang'))
    const begun = (await say(app, owner, session.id, { text: 'Write', background: true })).body.data.turn
    await until(
      () =>
        app.db.row(sql`
        select from turn_events where org_id = ${owner.orgId} and turn_id = ${begun.id} and frames like '%tool-input-delta%'`),
      (row) => row !== undefined,
    )
    await app.call('POST', `/api/v1/turns/${begun.id}/cancel`, { as: owner })
    const cancelled = await getTurn(app, owner, begun.id)
    assert.deepEqual([cancelled.status, cancelled.steps[0].isEstimate], ['cancelled', true])
    assert.ok(cancelled.steps[0].outputTokens > 1_500, `${cancelled.steps[0].outputTokens} tokens`)
    fake.play(stopInCall('files_search', args, 'close'))
    const { turn } = await ask(app, owner, session.id, { text: 'Write' })
    assert.equal(turn.status, 'failed')
    for (const step of turn.steps) assert.ok(step.outputTokens > 1_500, `${step.outputTokens} tokens`)
  })

  test('reported tokens of a model without a configured window are limited', async () => {
    const owner = await app.createOrg()
    const session = await openWith(owner)
    fake.play(reply(['Yes.'], { usage: { prompt_tokens: 2_000_000_000, completion_tokens: 2_000_000_000 } }))
    const { turn } = await ask(app, owner, session.id, { text: 'Hello' })
    assert.ok(turn.usage.totalTokens < 20_000_000 && turn.usage.isEstimate)
  })

  test('a call of a tool whose name cannot be stored fails with an error, and the model is called again', async () => {
    const owner = await app.createOrg()
    const session = await openWith(owner)
    fake.play(
      callTools({ id: 'a', name: 'files\0search', args: '{}' }, { id: 'b', name: 'files\ud800', args: '{}' }),
      reply(['I see.']),
    )
    const { turn, message } = await ask(app, owner, session.id, { text: 'Look' })
    assert.deepEqual(
      turn.toolCalls.map(({ toolName, status }: Record<string, string>) => [toolName, status]),
      [
        ['filessearch', 'failed'],
        ['files\ufffd', 'failed'],
      ],
    )
    assert.deepEqual([turn.attempts, fake.requests.length, textOf(message)], [1, 2, 'I see.'])
  })

  test('a response with thousands of tool calls ends like one that is too long', async () => {
    const owner = await app.createOrg()
    const session = await openWith(owner)
    const calls = Array.from({ length: 8_000 }, (_, n) => ({ id: `c${n}`, name: 'files_search', args: '{}' }))
    fake.play(callTools(...calls))
    const { turn } = await ask(app, owner, session.id, { text: 'Look' })
    assert.deepEqual([turn.status, turn.stopReason, turn.steps.length], ['incomplete', 'max_tokens', 1])
    assert.ok(turn.toolCalls.length < 5_000, `${turn.toolCalls.length} calls`)
  })

  test('a provider sees tool names that it accepts and gets each result under the id of its call', async () => {
    const owner = await app.createOrg()
    const session = await openWith(owner)
    fake.play(
      callTools(
        { id: 'same', name: 'files_search', args: '{"query":"a"}' },
        { id: 'same', name: 'files_search', args: '{"query":"b"}' },
      ),
      reply(['Nothing.']),
    )
    const { turn, message } = await ask(app, owner, session.id, { text: 'Look' })
    assert.deepEqual(
      turn.toolCalls.map((call: { toolName: string; input: object; status: string }) => [
        call.toolName,
        call.input,
        call.status,
      ]),
      [
        ['files.search', { query: 'a' }, 'done'],
        ['files.search', { query: 'b' }, 'done'],
      ],
    )
    assert.equal(textOf(message), 'Nothing.')
    const [, second] = fake.requests
    const asked = second?.messages.flatMap(({ tool_calls: calls = [] }) => calls.map(({ id }) => id))
    const results = second?.messages.flatMap(({ tool_call_id: id }) => (id === undefined ? [] : [id]))
    assert.equal(new Set(asked).size, 2)
    assert.deepEqual(results, asked)
  })

  test('arguments that are not JSON or do not match the schema cause an error that the model reads, and no tool runs', async () => {
    const owner = await app.createOrg()
    const session = await openWith(owner)
    fake.play(
      callTools(
        { id: 'a', name: 'files_search', args: '{"query":' },
        { id: 'b', name: 'files_search', args: '{"query":7}' },
        { id: 'c', name: 'files_search', args: '[]' },
        { id: 'd', name: 'files_read', args: '{}' },
      ),
      reply(['Sorry.']),
    )
    const { turn } = await ask(app, owner, session.id, { text: 'Look' })
    assert.deepEqual(new Set(turn.toolCalls.map((call: { status: string }) => call.status)), new Set(['failed']))
    const errors = turn.toolCalls.map((call: { output: { error: string } }) => call.output.error)
    assert.match(errors[0], /not valid JSON/)
    assert.match(errors[1], /query must be text/)
    assert.match(errors[2], /must be an object/)
    assert.match(errors[3], /no tool files_read/)
    assert.equal(turn.status, 'completed')
  })

  test('characters that cannot be stored are removed from a model’s text, and a character that is split between two deltas is kept', async () => {
    const owner = await app.createOrg()
    const session = await openWith(owner)
    const [high, low] = ['😀'.slice(0, 1), '😀'.slice(1)]
    fake.play(reply(['a\0b ', high, low, ` ${low} end`]))
    const { message } = await ask(app, owner, session.id, { text: 'Hello' })
    assert.equal(textOf(message), 'ab 😀 \uFFFD end')
  })

  test('a turn whose response reached its output limit is incomplete', async () => {
    const owner = await app.createOrg()
    const session = await openWith(owner)
    fake.play(reply(['Once upon a'], { finish: 'length' }))
    const { turn, message } = await ask(app, owner, session.id, { text: 'Tell' })
    assert.deepEqual([turn.status, turn.stopReason, textOf(message)], ['incomplete', 'max_tokens', 'Once upon a'])
  })

  test('a turn on a model without a price is rejected before anything runs', async () => {
    const owner = await app.createOrg()
    const session = await openWith(owner, { model: 'fake/unpriced' })
    const { status, body } = await say(app, owner, session.id, { text: 'Hello' })
    assert.deepEqual([status, body.error.code], [422, 'VALIDATION_ERROR'])
    assert.match(body.error.message, /no price/)
  })
})

describe('a provider that fails', () => {
  test('a model call that fails with 429 or 500 is retried, and the reply appears once', async () => {
    const owner = await app.createOrg()
    const session = await openWith(owner)
    fake.play(rejectWith(429, { 'retry-after': '0' }), rejectWith(500), reply(['At last.']))
    const { turn, message } = await ask(app, owner, session.id, { text: 'Hello' })
    assert.deepEqual([turn.status, textOf(message)], ['completed', 'At last.'])
    assert.deepEqual(stepsOf(turn), [
      [1, 'failed'],
      [2, 'failed'],
      [3, 'completed'],
    ])
    assert.equal(fake.requests.length, 3)
  })

  test('a turn fails after three failed model calls, and its error does not contain the provider’s message', async () => {
    const owner = await app.createOrg()
    const session = await openWith(owner)
    fake.play(rejectWith(503))
    const response = await say(app, owner, session.id, { text: 'Hello' })
    const { turn } = response.body.data
    assert.deepEqual([turn.status, turn.error.code, fake.requests.length], ['failed', 'model_unavailable', 3])
    assert.ok(!response.text.includes('sk-planted-secret'))
  })

  test('a model call that the provider rejects is not retried', async () => {
    const owner = await app.createOrg()
    const session = await openWith(owner)
    fake.play(rejectWith(401))
    const response = await say(app, owner, session.id, { text: 'Hello' })
    const { turn } = response.body.data
    assert.deepEqual([turn.status, turn.error.code, fake.requests.length], ['failed', 'model_rejected', 1])
    assert.ok(!response.text.includes('sk-planted-secret'))
  })

  test('a provider that cannot be reached fails the turn with model_unavailable', async () => {
    const owner = await app.createOrg()
    const session = await openWith(owner, { model: 'nowhere/m' })
    const { turn } = await ask(app, owner, session.id, { text: 'Hello' })
    assert.deepEqual([turn.status, turn.error.code], ['failed', 'model_unavailable'])
  })

  for (const [how, script] of [
    ['closes the connection', cutAfter(['Half a', ' sentence'])],
    ['ends without a finish', endAfter(['Half a', ' sentence'])],
  ] as const) {
    test(`a call whose provider ${how} is retried once; then the partial response is kept and the turn is incomplete`, async () => {
      const owner = await app.createOrg()
      const session = await openWith(owner)
      fake.play(script, reply(['A whole sentence.']))
      const first = await ask(app, owner, session.id, { text: 'Hello' })
      assert.deepEqual([first.turn.status, textOf(first.message)], ['completed', 'A whole sentence.'])
      fake.play(script)
      const { turn, message } = await ask(app, owner, session.id, { text: 'Hello' })
      assert.equal(textOf(message), 'Half a sentence')
      assert.deepEqual(stepsOf(turn), [
        [1, 'failed'],
        [2, 'failed'],
      ])
      assert.equal(turn.usage.isEstimate, true)
      assert.deepEqual([turn.status, turn.stopReason], ['incomplete', 'stream_truncated'])
    })
  }

  test('a model that sends nothing is aborted after the silence limit, and the turn ends', async () => {
    const owner = await impatient.createOrg()
    const session = await openWith(owner, {}, impatient)
    fake.play(hangAfter([]))
    const { turn } = await ask(impatient, owner, session.id, { text: 'Hello' })
    assert.deepEqual([turn.status, turn.error.code, turn.steps.length], ['failed', 'model_silent', 3])
  })

  test('a model that stops sending after its first words is aborted, and the words are kept', async () => {
    const owner = await impatient.createOrg()
    const session = await openWith(owner, {}, impatient)
    fake.play(hangAfter(['Well']))
    const { turn, message } = await ask(impatient, owner, session.id, { text: 'Hello' })
    assert.deepEqual([turn.status, turn.error.code, turn.steps.length], ['failed', 'model_silent', 2])
    assert.deepEqual(
      message.parts.map((part: { type: string }) => part.type),
      ['text', 'error'],
    )
  })

  for (const [what, script, code] of [
    ['events that are not JSON', garbage, 'model_unavailable'],
    ['a web page', webPage, 'model_cut'],
    ['nothing at all', endAfter([]), 'model_cut'],
  ] as const) {
    test(`a provider that sends ${what} instead of a response is called three times, then the turn fails`, async () => {
      const owner = await app.createOrg()
      const session = await openWith(owner)
      fake.play(script)
      const { turn, message } = await ask(app, owner, session.id, { text: 'Hello' })
      assert.deepEqual([turn.status, turn.error.code, turn.steps.length], ['failed', code, 3])
      assert.deepEqual(
        message.parts.map((part: { type: string }) => part.type),
        ['error'],
      )
    })
  }

  test('a turn whose model sends nothing is cancelled within two seconds', async () => {
    const owner = await app.createOrg()
    const session = await openWith(owner)
    fake.play(hangAfter([]))
    const { body } = await say(app, owner, session.id, { text: 'Hello', background: true })
    await untilStatus(app, owner, body.data.turn.id, 'running')
    const tookMs = await timed(app.db, async () => {
      const { body: cancelled } = await app.call('POST', `/api/v1/turns/${body.data.turn.id}/cancel`, { as: owner })
      assert.deepEqual(cancelled.data, { cancelled: true })
      assert.equal((await getTurn(app, owner, body.data.turn.id)).status, 'cancelled')
      fake.play(reply(['Next.']))
      const { turn } = await ask(app, owner, session.id, { text: 'Next' })
      assert.equal(turn.status, 'completed')
    })
    assert.ok(tookMs < 2_000, `${tookMs} ms`)
  })
})
