import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, describe, test } from 'node:test'
import { promisify } from 'node:util'
import {
  claudeCalls,
  claudeSays,
  encrypted,
  fieldsNamed,
  geminiCalls,
  geminiSays,
  geminiSaysUncounted,
  gptCalls,
  gptSays,
  redacted,
  signature,
  sse,
  startFakeAnthropic,
  startFakeGoogle,
  startFakeOpenAi,
  thought,
} from '../../../test/fakes/native-models.ts'
import { sql } from '../../platform/database/database.ts'
import { assistantMessages } from '../runtime/prompt/prompt.ts'
import { startTestApp } from '../../../test/harness.ts'
import type { TestActor } from '../../../test/harness.ts'
import { ask, createAgent, getTurn, openSession, say, textOf, untilStatus } from '../../../test/support/chat.ts'

// What the providers' clients would read by themselves. Nothing may be sent there, or with these keys.
Object.assign(process.env, {
  OPENAI_API_KEY: 'sk-from-the-environment',
  OPENAI_BASE_URL: 'http://127.0.0.1:9/v1',
  ANTHROPIC_API_KEY: 'sk-from-the-environment',
  ANTHROPIC_BASE_URL: 'http://127.0.0.1:9/v1',
  GOOGLE_GENERATIVE_AI_API_KEY: 'sk-from-the-environment',
})

const [anthropic, openai, google] = await Promise.all([startFakeAnthropic(), startFakeOpenAi(), startFakeGoogle()])
const limits = { contextWindow: 200_000, maxOutputTokens: 10_000, reasoning: true }
const prices = {
  'claude/claude-sonnet-4-5': {
    input: 3_000_000,
    output: 15_000_000,
    cacheRead: 300_000,
    cacheWrite: 3_750_000,
    ...limits,
  },
  'claude/claude-sonnet-5': { input: 1, output: 1, ...limits },
  'claude/no-thoughts': { input: 1, output: 1, ...limits, reasoning: false },
  'gpt/gpt-5.4': { input: 2_000_000, output: 8_000_000, cacheRead: 500_000, ...limits },
  'gemini/gemini-3-flash-preview': { input: 1_250_000, output: 10_000_000, cacheRead: 125_000, ...limits },
}
const pricesFile = join(await mkdtemp(join(tmpdir(), 'atrium-prices-')), 'prices.json')
await writeFile(pricesFile, JSON.stringify(prices))
after(() => rm(dirname(pricesFile), { recursive: true }))

const app = await startTestApp({
  MODEL_PROVIDERS: 'claude,gpt,gemini',
  MODEL_PRICES_FILE: pricesFile,
  MODEL_CLAUDE_PROTOCOL: 'anthropic',
  MODEL_CLAUDE_BASE_URL: anthropic.baseUrl,
  MODEL_CLAUDE_API_KEY: 'sk-claude',
  MODEL_CLAUDE_MODELS: 'claude-sonnet-4-5,claude-sonnet-5,no-thoughts',
  MODEL_GPT_PROTOCOL: 'openai',
  MODEL_GPT_BASE_URL: openai.baseUrl,
  MODEL_GPT_API_KEY: 'sk-gpt',
  MODEL_GPT_MODELS: 'gpt-5.4',
  MODEL_GEMINI_PROTOCOL: 'google',
  MODEL_GEMINI_BASE_URL: google.baseUrl,
  MODEL_GEMINI_API_KEY: 'sk-gemini',
  MODEL_GEMINI_MODELS: 'gemini-3-flash-preview',
})

const openWith = async (as: TestActor, json: object) => {
  await createAgent(app, as, { name: 'Helper', allowedTools: ['files.search'], ...json })
  return openSession(app, as, { agentId: 'helper' })
}

const native = [
  {
    name: 'Anthropic',
    fake: anthropic,
    model: 'claude/claude-sonnet-4-5',
    key: ['x-api-key', 'sk-claude'],
    says: claudeSays,
    calls: claudeCalls,
    thinks: 'The person wants a file.',
    usage: { inputTokens: 3_209, outputTokens: 57, cacheReadTokens: 3_000, cacheWriteTokens: 188, totalTokens: 3_266 },
    costMicrocents: 21 * 3 + 300 * 3 + 705 + 57 * 15,
    secrets: [signature, redacted],
  },
  {
    name: 'OpenAI',
    fake: openai,
    model: 'gpt/gpt-5.4',
    key: ['authorization', 'Bearer sk-gpt'],
    says: gptSays,
    calls: gptCalls,
    thinks: 'Looking for it.',
    usage: { inputTokens: 2_000, outputTokens: 120, cacheReadTokens: 1_536, cacheWriteTokens: 0, totalTokens: 2_120 },
    costMicrocents: 464 * 2 + 768 + 120 * 8,
    secrets: [encrypted],
  },
  {
    name: 'Google',
    fake: google,
    model: 'gemini/gemini-3-flash-preview',
    key: ['x-goog-api-key', 'sk-gemini'],
    says: geminiSays,
    calls: geminiCalls,
    thinks: 'I should look.',
    usage: { inputTokens: 1_000, outputTokens: 100, cacheReadTokens: 700, cacheWriteTokens: 0, totalTokens: 1_100 },
    // 1,462.5, rounded up.
    costMicrocents: 1_463,
    secrets: [thought],
  },
] as const

for (const { name, fake, model, key, says, calls, thinks, usage, costMicrocents, secrets } of native) {
  describe(`the native API of ${name}`, () => {
    test(`${name} gets only fields of its API, with the configured key, and its reasoning is a part of the reply`, async () => {
      const owner = await app.createOrg()
      const session = await openWith(owner, { model, systemPrompt: 'Speak like a pirate.' })
      fake.play(says('Aye.'))
      const { message } = await ask(app, owner, session.id, { text: 'Hello' })
      assert.deepEqual(fake.violations, [])
      assert.equal(fake.headers[0]?.[key[0]], key[1])
      assert.ok(!JSON.stringify(fake.headers).includes('sk-from-the-environment'))
      assert.match(JSON.stringify(fake.requests[0]), /Speak like a pirate/)
      assert.equal(textOf(message), 'Aye.')
      assert.deepEqual(message.parts, [
        { type: 'reasoning', text: thinks },
        { type: 'text', text: 'Aye.' },
      ])
    })

    test(`the tokens that ${name} reports are charged once each, at their own prices`, async () => {
      const owner = await app.createOrg()
      const session = await openWith(owner, { model })
      fake.play(says('Aye.'))
      const { turn } = await ask(app, owner, session.id, { text: 'Hello' })
      assert.deepEqual(turn.usage, { ...usage, isEstimate: false })
      assert.equal(turn.costMicrocents, costMicrocents)
    })

    test(`${name} gets its reasoning back unchanged after a tool call that waited for a person, and nobody else sees it`, async () => {
      const owner = await app.createOrg()
      const session = await openWith(owner, { model, settings: { approvals: ['files.search'] } })
      fake.play(calls('files_search', { query: 'a' }), says('Nothing.'))
      const { body } = await say(app, owner, session.id, { text: 'Look', background: true })
      const waiting = await untilStatus(app, owner, body.data.turn.id, 'requires_action')
      const { approvalId } = waiting.toolCalls[0]
      const url = `/api/v1/turns/${waiting.id}/approvals`
      assert.equal((await app.call('POST', url, { as: owner, json: { approvalId, approved: true } })).status, 200)
      const turn = await untilStatus(app, owner, waiting.id, 'completed', 'failed')
      assert.deepEqual([turn.status, fake.violations, fake.requests.length], ['completed', [], 2])
      const returned = JSON.stringify(fake.requests[1])
      for (const secret of secrets) assert.equal(returned.split(secret).length, 2, `${secret} once`)
      assert.ok(name === 'Google' || returned.includes(thinks))
      const seen = JSON.stringify([
        await getTurn(app, owner, turn.id),
        (await app.call('GET', `/api/v1/sessions/${session.id}/messages`, { as: owner })).body,
        (await app.call('GET', `/api/v1/turns/${turn.id}/stream`, { as: owner })).text,
      ])
      const rows = await app.db.rows(sql`select parts from messages where org_id = ${owner.orgId}`)
      for (const secret of secrets) assert.ok(!`${seen}${JSON.stringify(rows)}`.includes(secret), secret)
      assert.ok(seen.includes(thinks))
    })

    test(`another model does not get the reasoning of ${name}`, async () => {
      const owner = await app.createOrg()
      const session = await openWith(owner, { model })
      fake.play(calls('files_search', { query: 'a' }), says('Nothing.'))
      await ask(app, owner, session.id, { text: 'Look' })
      const other = native.find((one) => one.fake !== fake)!
      await app.call('PATCH', '/api/v1/agents/helper', { as: owner, json: { model: other.model } })
      other.fake.play(other.says('Yes.'))
      const { turn } = await ask(app, owner, session.id, { text: 'And now?' })
      assert.deepEqual([turn.status, other.fake.violations], ['completed', []])
      const sent = JSON.stringify(other.fake.requests)
      assert.match(sent, /Nothing\./)
      for (const secret of [...secrets, thinks]) assert.ok(!sent.includes(secret), secret)
    })
  })
}

describe('an error in the stream of a native API', () => {
  const overloaded = sse([{ type: 'error', error: { type: 'overloaded_error', message: 'sk-planted' } }], true)
  const failed = sse([
    { type: 'response.created', sequence_number: 0, response: { id: 'r', created_at: 1, model: 'gpt-5.4' } },
    {
      type: 'response.failed',
      sequence_number: 1,
      response: { id: 'r', error: { code: 'server_error', message: 'sk-planted' }, usage: null },
    },
  ])
  const blocked = sse([{ promptFeedback: { blockReason: 'SAFETY' }, usageMetadata: { promptTokenCount: 9 } }])
  for (const [name, fake, model, script, says] of [
    ['Anthropic', anthropic, 'claude/claude-sonnet-4-5', overloaded, claudeSays],
    ['OpenAI', openai, 'gpt/gpt-5.4', failed, gptSays],
  ] as const) {
    test(`a response of ${name} that fails after its head is retried, costs nothing and does not disclose the provider's message`, async () => {
      const owner = await app.createOrg()
      const session = await openWith(owner, { model })
      fake.play(script, says('Yes.'))
      const { turn, message } = await ask(app, owner, session.id, { text: 'Hello' })
      assert.deepEqual([turn.status, textOf(message), turn.steps.length], ['completed', 'Yes.', 2])
      assert.deepEqual([turn.steps[0].error.code, turn.steps[0].costMicrocents], ['unavailable', 0])
      assert.ok(!JSON.stringify(turn).includes('sk-planted'))
    })
  }

  test('a prompt that Google blocks ends the turn as content_filter, and its prompt is charged', async () => {
    const owner = await app.createOrg()
    const session = await openWith(owner, { model: 'gemini/gemini-3-flash-preview' })
    google.play(blocked)
    const { turn } = await ask(app, owner, session.id, { text: 'Hello' })
    assert.deepEqual([turn.status, turn.stopReason, turn.usage.inputTokens], ['incomplete', 'content_filter', 9])
  })

  for (const [name, fake, model, events] of [
    ['Anthropic', anthropic, 'claude/claude-sonnet-4-5', sse([], true)],
    ['OpenAI', openai, 'gpt/gpt-5.4', sse([])],
    ['Google', google, 'gemini/gemini-3-flash-preview', sse([])],
  ] as const) {
    test(`an empty response of ${name} is a failed call, not an empty reply`, async () => {
      const owner = await app.createOrg()
      const session = await openWith(owner, { model })
      fake.play(events)
      const { turn } = await ask(app, owner, session.id, { text: 'Hello' })
      assert.deepEqual([turn.status, turn.steps.length], ['failed', 3])
    })
  }
})

describe('usage that a native API does not report', () => {
  for (const [name, fake, model, script] of [
    ['OpenAI', openai, 'gpt/gpt-5.4', gptSays('Yes.', null)],
    ['Google', google, 'gemini/gemini-3-flash-preview', geminiSaysUncounted('Yes.')],
  ] as const) {
    test(`a response of ${name} without token counts is estimated and marked as an estimate`, async () => {
      const owner = await app.createOrg()
      const session = await openWith(owner, { model })
      fake.play(script)
      const { turn } = await ask(app, owner, session.id, { text: 'Hello' })
      assert.equal(turn.usage.isEstimate, true)
      assert.ok(turn.usage.inputTokens > 10 && turn.usage.outputTokens > 0 && turn.costMicrocents > 0)
    })
  }

  test('tokens that Anthropic wrote to its cache for an hour are counted once', async () => {
    const owner = await app.createOrg()
    const session = await openWith(owner, { model: 'claude/claude-sonnet-4-5' })
    const cache_creation = { ephemeral_5m_input_tokens: 40, ephemeral_1h_input_tokens: 60 }
    anthropic.play(claudeSays('Yes.', { input_tokens: 5, cache_creation_input_tokens: 100, cache_creation }))
    const { turn } = await ask(app, owner, session.id, { text: 'Hello' })
    assert.deepEqual([turn.usage.inputTokens, turn.usage.cacheWriteTokens, turn.usage.cacheReadTokens], [105, 100, 0])
    assert.equal(turn.costMicrocents, 5 * 3 + 375 + 57 * 15)
  })
})

describe('Anthropic’s prompt cache', () => {
  test('the last tool, the system prompt and the ends of this prompt and of the previous one are cached', async () => {
    const owner = await app.createOrg()
    const session = await openWith(owner, {
      model: 'claude/claude-sonnet-4-5',
      allowedTools: ['files.search', 'files.read'],
    })
    anthropic.play(claudeCalls('files_search', { query: 'a' }), claudeSays('Nothing.'))
    await ask(app, owner, session.id, { text: 'Look' })
    assert.deepEqual(anthropic.violations, [])
    const [first, second] = anthropic.requests
    const marks = (value: object) => fieldsNamed(value, 'cache_control').length
    assert.deepEqual([marks(first), marks(second)], [3, 4])
    assert.deepEqual(first.tools.map(marks), [0, 1])
    assert.deepEqual(second.tools.map(marks), [0, 1])
    assert.deepEqual(second.system.map(marks), [1])
    assert.deepEqual(second.messages.map(marks), [1, 0, 1])
    for (const mark of fieldsNamed(second, 'cache_control')) assert.deepEqual(mark, { type: 'ephemeral' })
  })
})

describe('reasoning effort', () => {
  const runWith = async (model: string, settings: object, json: object = {}) => {
    const owner = await app.createOrg()
    const session = await openWith(owner, { model, settings })
    const { turn } = await ask(app, owner, session.id, { text: 'Hello', ...json })
    return turn
  }

  for (const [effort, expected] of [
    ['none', { thinking: { type: 'disabled' }, max_tokens: 10_000 }],
    ['low', { thinking: { type: 'enabled', budget_tokens: 2_000 }, max_tokens: 10_000 }],
    ['high', { thinking: { type: 'enabled', budget_tokens: 6_000 }, max_tokens: 10_000 }],
  ] as const) {
    test(`a Claude model with a thinking budget thinks with the effort ${effort} within the output limit of the call`, async () => {
      anthropic.play(claudeSays('Yes.'))
      const turn = await runWith('claude/claude-sonnet-4-5', { reasoningEffort: effort })
      assert.deepEqual([turn.status, anthropic.violations], ['completed', []])
      const { thinking, max_tokens } = anthropic.requests[0]
      assert.deepEqual({ thinking, max_tokens }, expected)
    })
  }

  test('a model that decides itself how long to think gets the effort, and its output limit stays as it is', async () => {
    anthropic.play(claudeSays('Yes.'))
    await runWith('claude/claude-sonnet-5', { reasoningEffort: 'medium' })
    assert.deepEqual(anthropic.violations, [])
    const { thinking, output_config, max_tokens } = anthropic.requests[0]
    assert.deepEqual([thinking.type, output_config, max_tokens], ['adaptive', { effort: 'medium' }, 10_000])
  })

  test('OpenAI and Google get the effort in the fields of their own APIs', async () => {
    openai.play(gptSays('Yes.'))
    await runWith('gpt/gpt-5.4', { reasoningEffort: 'low' })
    assert.equal(openai.requests[0].reasoning.effort, 'low')
    google.play(geminiSays('Yes.'))
    await runWith('gemini/gemini-3-flash-preview', { reasoningEffort: 'high' })
    assert.deepEqual(google.requests[0].generationConfig.thinkingConfig, {
      thinkingLevel: 'high',
      includeThoughts: true,
    })
    assert.deepEqual([openai.violations, google.violations], [[], []])
  })

  test('an agent without the setting leaves reasoning to the provider', async () => {
    for (const [fake, model, script] of [
      [anthropic, 'claude/claude-sonnet-4-5', claudeSays('Yes.')],
      [openai, 'gpt/gpt-5.4', gptSays('Yes.')],
      [google, 'gemini/gemini-3-flash-preview', geminiSays('Yes.')],
    ] as const) {
      fake.play(script)
      await runWith(model, {})
      const [{ thinking, reasoning, generationConfig }] = fake.requests as [Record<string, { thinkingConfig?: object }>]
      assert.deepEqual([thinking, reasoning, generationConfig?.thinkingConfig], [undefined, undefined, undefined])
    }
  })

  test('an unknown effort, or an effort on a model that does not reason, is BAD_REQUEST, and nothing is changed', async () => {
    const owner = await app.createOrg()
    const path = '/api/v1/agents'
    const create = (json: object) => app.call('POST', path, { as: owner, json: { name: 'Helper', ...json } })
    const unknown = await create({ model: 'claude/claude-sonnet-5', settings: { reasoningEffort: 'extreme' } })
    assert.deepEqual([unknown.status, unknown.body.error.code], [400, 'BAD_REQUEST'])
    assert.match(unknown.body.error.message, /reasoningEffort must be none, low, medium or high/)
    const mismatched = await create({ model: 'claude/no-thoughts', settings: { reasoningEffort: 'low' } })
    assert.match(
      mismatched.body.error.message,
      /reasoningEffort must be none or null, because the model claude\/no-thoughts/,
    )
    assert.equal((await create({ model: 'claude/no-thoughts', settings: { reasoningEffort: 'none' } })).status, 201)
    const patch = (json: object) => app.call('PATCH', `${path}/helper`, { as: owner, json })
    assert.equal((await patch({ settings: { reasoningEffort: 'high' } })).status, 400)
    assert.equal((await patch({ model: 'claude/claude-sonnet-5', settings: { reasoningEffort: 'high' } })).status, 200)
    assert.equal((await patch({ model: 'claude/no-thoughts' })).status, 400)
    const { body } = await app.call('GET', `${path}/helper`, { as: owner })
    assert.deepEqual([body.data.model, body.data.settings.reasoningEffort], ['claude/claude-sonnet-5', 'high'])
  })
})

test('only the model that sent a part gets what its provider wants back with it', () => {
  const options = { anthropic: { signature } }
  const part = { type: 'reasoning', text: 'Hm.', provider: { model: 'claude/a', options } } as const
  const call = { type: 'tool-call', toolCallId: 'c', toolName: 't', input: {}, provider: part.provider } as const
  const result = { type: 'tool-result', toolCallId: 'c', toolName: 't', output: 1, isError: false } as const
  const [own] = assistantMessages([part, call, result], 'claude/a')
  assert.deepEqual(fieldsNamed(own, 'options'), [options, options])
  for (const model of ['claude/b', 'gpt/a', undefined]) {
    const sent = JSON.stringify(assistantMessages([part, call, result], model))
    assert.ok(!sent.includes(signature) && !sent.includes('Hm.'), String(model))
  }
})

describe('the clients of native APIs', () => {
  /** The clients that a process has loaded after it has made a call, which may fail, of each of these models. */
  const loadedAfter = async (...models: string[]): Promise<string[]> => {
    const script = `
      import { registerHooks } from 'node:module'
      const loaded = new Set()
      registerHooks({ resolve: (name, context, next) => {
        if (/^@ai-sdk\\/(openai|anthropic|google)$/.test(name)) loaded.add(name)
        return next(name, context)
      } })
      const { parseConfig } = await import('./src/config/config.ts')
      const { createOutbound } = await import('./src/platform/outbound/outbound.ts')
      const { createModelClient } = await import('./src/sessions/models/models.ts')
      await import('./src/server.ts')
      await import('./src/worker.ts')
      const outbound = createOutbound()
      const { modelProviders: providers } = parseConfig(process.env)
      const { createCircuits } = await import('./src/sessions/models/circuits.ts')
      const client = createModelClient({ providers, allowsTestCommands: false, outbound, circuits: createCircuits([], console) })
      const call = { instructions: '', messages: [{ role: 'user', text: 'Hello' }], tools: [] }
      for (const modelId of ${JSON.stringify(models)}) {
        try { for await (const event of client.stream({ ...call, modelId }, AbortSignal.timeout(5000))); } catch {}
      }
      await outbound.close()
      process.stdout.write(JSON.stringify([...loaded]))
      process.exit()`
    const env = {
      PATH: process.env['PATH'],
      MODEL_PROVIDERS: 'claude,gpt,gemini',
      ...Object.fromEntries(
        ['CLAUDE anthropic', 'GPT openai', 'GEMINI google'].flatMap((one) => {
          const [name, protocol] = one.split(' ')
          const prefix = `MODEL_${name}`
          return Object.entries({
            [`${prefix}_PROTOCOL`]: protocol,
            [`${prefix}_BASE_URL`]: 'http://127.0.0.1:9/v1',
            [`${prefix}_MODELS`]: 'm',
            [`${prefix}_FREE`]: '1',
          })
        }),
      ),
    }
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], { env })
    return JSON.parse(stdout) as string[]
  }

  test('a server loads no client before the first call of its provider, and only that one then', async () => {
    assert.deepEqual(await loadedAfter('atrium/demo'), [])
    assert.deepEqual(await loadedAfter('atrium/demo', 'claude/m'), ['@ai-sdk/anthropic'])
    assert.deepEqual(await loadedAfter('gpt/m', 'gemini/m'), ['@ai-sdk/openai', '@ai-sdk/google'])
  })
})
