import assert from 'node:assert/strict'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { ConfigError, parseConfig } from '../config/config.ts'
import { createModelCatalog } from './model-catalog.ts'
import type { Model } from './model-catalog.ts'
import { readConfig } from '../read-config.ts'
import { modelList } from '../config/model-list.ts'
import { startTestApp } from '../../test/harness.ts'

const providers = {
  MODEL_PROVIDERS: 'ollama,my-gateway',
  MODEL_OLLAMA_BASE_URL: 'http://127.0.0.1:11434/v1/',
  MODEL_OLLAMA_MODELS: 'llama3.2:3b, qwen3',
  MODEL_OLLAMA_FREE: 'yes',
  MODEL_MY_GATEWAY_BASE_URL: 'https://gateway.example.com/v1',
  MODEL_MY_GATEWAY_API_KEY: 'secret-of-the-gateway',
  MODEL_MY_GATEWAY_MODELS: 'vendor/large,vendor/small,vendor/new',
  MODEL_MY_GATEWAY_PRICES: 'vendor/large=3000000:15000000:300000:3750000, vendor/small=150000:600000',
}
const app = await startTestApp(providers)

interface ListedModel {
  id: string
  available: boolean
  free: boolean
  unavailableReason: string | null
  pricing: object | null
}

describe('GET /models', () => {
  test('lists the built-in models and those of the configured providers with their prices', async () => {
    const owner = await app.createOrg()
    const { status, body, text } = await app.call('GET', '/api/v1/models', { as: owner })
    assert.equal(status, 200)
    const items = body.data.items as ListedModel[]
    assert.deepEqual(
      items.map(({ id, available, free }) => [id, available, free]),
      [
        ['atrium/demo', true, true],
        ['atrium/demo-paid', true, false],
        ['atrium/demo-embedding', true, true],
        ['ollama/llama3.2:3b', true, true],
        ['ollama/qwen3', true, true],
        ['my-gateway/vendor/large', true, false],
        ['my-gateway/vendor/small', true, false],
        ['my-gateway/vendor/new', false, false],
      ],
    )
    const byId = new Map(items.map((model) => [model.id, model]))
    assert.deepEqual(byId.get('atrium/demo-paid')?.pricing, {
      input: 1_000_000,
      output: 4_000_000,
      cacheRead: 100_000,
      cacheWrite: 1_250_000,
    })
    assert.deepEqual(byId.get('my-gateway/vendor/small')?.pricing, {
      input: 150_000,
      output: 600_000,
      cacheRead: 150_000,
      cacheWrite: 150_000,
    })
    const unpriced = byId.get('my-gateway/vendor/new')
    assert.equal(unpriced?.pricing, null)
    assert.match(unpriced?.unavailableReason ?? '', /no price/)
    assert.ok(!text.includes('secret-of-the-gateway'))
    assert.ok(!text.includes('gateway.example.com'))
  })

  test('rejects GET /models without an API key', async () => {
    assert.equal((await app.call('GET', '/api/v1/models')).status, 401)
  })

  test('accepts the ids of GET /models as the model of an agent', async () => {
    const owner = await app.createOrg()
    const json = { name: 'x', model: 'ollama/llama3.2:3b' }
    const { status, body } = await app.call('POST', '/api/v1/agents', { as: owner, json })
    assert.deepEqual([status, body.data.model], [201, 'ollama/llama3.2:3b'])
  })
})

const mistakesOf = (env: Record<string, string>): string[] => {
  try {
    readConfig({ NODE_ENV: 'test', ...env })
    return []
  } catch (error) {
    assert.ok(error instanceof ConfigError)
    return error.mistakes
  }
}

describe('providers from the environment', () => {
  test('reports all invalid provider variables at once by name, without secrets', () => {
    const mistakes = mistakesOf({
      MODEL_PROVIDERS: 'a,b',
      MODEL_A_MODELS: 'x',
      MODEL_A_PRICES: 'x=cheap',
      MODEL_B_BASE_URL: 'http://127.0.0.1:1/v1',
      MODEL_B_MODELS: 'y',
      MODEL_B_PRICES: 'z=1:2',
      MODEL_B_FREE: 'maybe',
      MODEL_C_API_KEY: 'hush-hush',
    })
    for (const name of ['MODEL_A_BASE_URL', 'MODEL_A_PRICES', 'MODEL_B_PRICES', 'MODEL_B_FREE', 'MODEL_C_API_KEY']) {
      assert.ok(
        mistakes.some((line) => line.startsWith(name)),
        name,
      )
    }
    assert.ok(!mistakes.join('\n').includes('hush-hush'))
  })

  for (const [protocol, url] of [
    ['openai', 'https://api.openai.com/v1'],
    ['anthropic', 'https://api.anthropic.com/v1'],
    ['google', 'https://generativelanguage.googleapis.com/v1beta'],
  ] as const) {
    test(`MODEL_<NAME>_PROTOCOL=${protocol} uses the public API and the listed models of ${protocol} under any name`, () => {
      const env = { MODEL_PROVIDERS: 'mine', MODEL_MINE_PROTOCOL: protocol }
      const [provider] = parseConfig({ NODE_ENV: 'test', ...env }).modelProviders
      assert.deepEqual([provider?.protocol, provider?.baseUrl], [protocol, url])
      assert.deepEqual(
        provider?.models.map(({ name }) => name),
        Object.keys(modelList().providers[protocol]?.models ?? {}),
      )
    })
  }

  test('a provider without MODEL_<NAME>_PROTOCOL is called by chat completions, also when its name is that of a native API', () => {
    const { modelProviders } = parseConfig({ NODE_ENV: 'test', MODEL_PROVIDERS: 'openai,anthropic,google' })
    for (const { protocol, name, baseUrl } of modelProviders) {
      assert.deepEqual([protocol, baseUrl], ['openai-compatible', modelList().providers[name]?.baseUrl])
    }
  })

  test('rejects an unknown MODEL_<NAME>_PROTOCOL and an empty variable that a client of a native API cannot be loaded with', () => {
    const one = { MODEL_PROVIDERS: 'mine', MODEL_MINE_PROTOCOL: 'claude' }
    assert.match(mistakesOf(one).join('\n'), /MODEL_MINE_PROTOCOL must be one of openai-compatible, openai, anthropic/)
    const native = { MODEL_PROVIDERS: 'mine', MODEL_MINE_PROTOCOL: 'anthropic' }
    assert.match(mistakesOf({ ...native, ANTHROPIC_BASE_URL: '' }).join('\n'), /^ANTHROPIC_BASE_URL must not be empty/)
    assert.deepEqual(mistakesOf({ ...native, OPENAI_BASE_URL: '' }), [])
    assert.deepEqual(mistakesOf({ MODEL_PROVIDERS: 'anthropic', ANTHROPIC_BASE_URL: '' }), [])
  })

  test('knows which listed models take pictures and PDF files; chat completions of Anthropic and Google take no PDF files', () => {
    const inputOf = (env: Record<string, string>, id: string) => modelOf(env, id)?.input
    const native = (name: string) => ({ MODEL_PROVIDERS: name, [`MODEL_${name.toUpperCase()}_PROTOCOL`]: name })
    const both = { images: true, pdf: true }
    assert.deepEqual(inputOf(native('anthropic'), 'anthropic/claude-sonnet-4-5'), both)
    assert.deepEqual(inputOf(native('google'), 'google/gemini-2.5-pro'), both)
    const chat = { MODEL_PROVIDERS: 'openai,anthropic,google,deepseek' }
    assert.deepEqual(inputOf(chat, 'openai/gpt-5'), both)
    assert.deepEqual(inputOf(chat, 'openai/gpt-4'), { images: false, pdf: false })
    assert.deepEqual(inputOf(chat, 'anthropic/claude-sonnet-4-5'), { images: true, pdf: false })
    assert.deepEqual(inputOf(chat, 'google/gemini-2.5-pro'), { images: true, pdf: false })
    assert.deepEqual(inputOf(chat, 'deepseek/deepseek-chat'), { images: false, pdf: false })
  })

  test('takes pictures and PDF files for the models that the variables and MODEL_PRICES_FILE name, and for no others', () => {
    const price = { input: 1, output: 1 }
    const file = priceFile({
      'ollama/qwen3': { ...price, pdf: true },
      'my-gateway/vendor/new': { ...price, images: true },
    })
    const env = { ...providers, MODEL_PRICES_FILE: file, MODEL_OLLAMA_IMAGES: 'qwen3, llama3.2:3b' }
    assert.deepEqual(modelOf(env, 'ollama/qwen3')?.input, { images: true, pdf: true })
    assert.deepEqual(modelOf(env, 'ollama/llama3.2:3b')?.input, { images: true, pdf: false })
    assert.deepEqual(modelOf(env, 'my-gateway/vendor/new')?.input, { images: true, pdf: false })
    assert.deepEqual(modelOf(env, 'my-gateway/vendor/large')?.input, { images: false, pdf: false })
    assert.equal(modelOf(env, 'ollama/qwen3')?.capabilities.vision, true)
    const wrong = { ...providers, MODEL_OLLAMA_IMAGES: 'nobody', MODEL_OLLAMA_PDF: 'qwen3,none' }
    assert.deepEqual(mistakesOf(wrong), [
      'MODEL_OLLAMA_IMAGES names nobody, which MODEL_OLLAMA_MODELS does not',
      'MODEL_OLLAMA_PDF names none, which MODEL_OLLAMA_MODELS does not',
    ])
    assert.match(mistakesOf({ MODEL_PRICES_FILE: priceFile({ 'a/b': { ...price, images: 'yes' } }) }).join(), /a\/b/)
  })

  for (const names of ['atrium', 'A', 'a,a', 'a,,b', '-a']) {
    test(`rejects MODEL_PROVIDERS=${names}`, () => {
      assert.match(mistakesOf({ MODEL_PROVIDERS: names }).join('\n'), /MODEL_PROVIDERS/)
    })
  }

  test('rejects a DEFAULT_AGENT_MODEL that is unknown or has no price', () => {
    assert.match(mistakesOf({ DEFAULT_AGENT_MODEL: 'atrium/none' }).join('\n'), /DEFAULT_AGENT_MODEL/)
    assert.match(
      mistakesOf({ ...providers, DEFAULT_AGENT_MODEL: 'my-gateway/vendor/new' }).join('\n'),
      /DEFAULT_AGENT_MODEL.*no price/,
    )
    assert.deepEqual(mistakesOf({ ...providers, DEFAULT_AGENT_MODEL: 'ollama/qwen3' }), [])
  })
})

const priceFile = (content: unknown): string => {
  const path = join(mkdtempSync(join(tmpdir(), 'atrium-prices-')), 'prices.json')
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
  return path
}

const modelOf = (env: Record<string, string>, id: string): Model | undefined =>
  createModelCatalog(parseConfig({ NODE_ENV: 'test', ...env }).modelProviders).find(id)

describe('the price list', () => {
  test('ships a dated price list with integer microcents, context windows and output limits', () => {
    const { asOf, providers: listed } = modelList()
    assert.match(asOf, /^20\d\d-\d\d-\d\d$/)
    for (const { baseUrl, models } of Object.values(listed)) {
      assert.match(baseUrl, /^https:/)
      for (const [id, { pricing, contextWindow, maxOutputTokens, embeddings }] of Object.entries(models)) {
        // Embedding models have no output.
        const { output, ...others } = pricing
        const numbers = [...Object.values(others), contextWindow, ...(embeddings ? [] : [output, maxOutputTokens])]
        assert.ok(numbers.length === (embeddings ? 4 : 6), id)
        assert.ok(
          numbers.every((one) => Number.isSafeInteger(one) && (one ?? 0) > 0),
          id,
        )
        if (embeddings) assert.deepEqual([output, maxOutputTokens], [0, undefined], id)
      }
    }
  })

  test('configures a well-known provider with its URL, models and prices', () => {
    const env = { MODEL_PROVIDERS: 'anthropic', MODEL_ANTHROPIC_API_KEY: 'k' }
    const [provider] = parseConfig({ NODE_ENV: 'test', ...env }).modelProviders
    assert.equal(provider?.baseUrl, 'https://api.anthropic.com/v1')
    const model = modelOf(env, 'anthropic/claude-sonnet-4-5')
    assert.deepEqual([model?.available, model?.free, model?.name], [true, false, 'Claude Sonnet 4.5'])
    assert.deepEqual(model?.pricing, { input: 3e6, output: 15e6, cacheRead: 3e5, cacheWrite: 3_750_000 })
    assert.ok((model?.contextWindow ?? 0) >= 200_000)
  })

  test('does not apply the price list to another server with the name of a well-known provider', () => {
    const env = {
      MODEL_PROVIDERS: 'openai',
      MODEL_OPENAI_BASE_URL: 'http://127.0.0.1:1/v1',
      MODEL_OPENAI_MODELS: 'gpt-5',
    }
    assert.deepEqual([modelOf(env, 'openai/gpt-5')?.available, modelOf(env, 'openai/gpt-5')?.pricing], [false, null])
  })

  test('prefers MODEL_<NAME>_PRICES to MODEL_PRICES_FILE, and that to the shipped price list', () => {
    const file = priceFile({
      'openai/gpt-5': { input: 1, output: 2, contextWindow: 1_000 },
      'my-gateway/vendor/new': { input: 5, output: 6, cacheRead: 1, cacheWrite: 7 },
      'my-gateway/vendor/large': { input: 9, output: 9 },
    })
    const env = { ...providers, MODEL_PROVIDERS: 'ollama,my-gateway,openai', MODEL_PRICES_FILE: file }
    const own = modelOf(env, 'openai/gpt-5')
    assert.deepEqual(own?.pricing, { input: 1, output: 2, cacheRead: 1, cacheWrite: 1 })
    assert.equal(own?.contextWindow, 1_000)
    assert.deepEqual(modelOf(env, 'my-gateway/vendor/new')?.pricing, {
      input: 5,
      output: 6,
      cacheRead: 1,
      cacheWrite: 7,
    })
    assert.equal(modelOf(env, 'my-gateway/vendor/large')?.pricing?.input, 3_000_000)
  })

  for (const [what, content] of [
    ['that is not JSON', '{'],
    ['with a fraction', { 'a/b': { input: 0.5, output: 1 } }],
    ['without an output price', { 'a/b': { input: 1 } }],
    ['with a negative price', { 'a/b': { input: 1, output: -1 } }],
    ['that is a list', []],
  ] as const) {
    test(`rejects a MODEL_PRICES_FILE ${what}`, () => {
      assert.match(mistakesOf({ MODEL_PRICES_FILE: priceFile(content) }).join(), /^MODEL_PRICES_FILE/)
    })
  }

  test('rejects a MODEL_PRICES_FILE that does not exist', () => {
    assert.match(mistakesOf({ MODEL_PRICES_FILE: '/nowhere/prices.json' }).join(), /^MODEL_PRICES_FILE.*cannot be read/)
  })
})
