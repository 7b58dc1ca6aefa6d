import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ConfigError, parseConfig } from '../config.ts'
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
  test('lists the built-in models with their prices, and those of the configured providers', async () => {
    const owner = await app.createOrg()
    const { status, body, text } = await app.call('GET', '/api/v1/models', { as: owner })
    assert.equal(status, 200)
    const items = body.data.items as ListedModel[]
    assert.deepEqual(
      items.map(({ id, available, free }) => [id, available, free]),
      [
        ['atrium/demo', true, true],
        ['atrium/demo-paid', true, false],
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

  test('needs a key', async () => {
    assert.equal((await app.call('GET', '/api/v1/models')).status, 401)
  })

  test('its ids are what an agent takes', async () => {
    const owner = await app.createOrg()
    const json = { name: 'x', model: 'ollama/llama3.2:3b' }
    const { status, body } = await app.call('POST', '/api/v1/agents', { as: owner, json })
    assert.deepEqual([status, body.data.model], [201, 'ollama/llama3.2:3b'])
  })
})

const mistakesOf = (env: Record<string, string>): string[] => {
  try {
    parseConfig({ NODE_ENV: 'test', ...env })
    return []
  } catch (error) {
    assert.ok(error instanceof ConfigError)
    return error.mistakes
  }
}

describe('providers from the environment', () => {
  test('every mistake is told at once, by the name of its variable', () => {
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

  for (const names of ['atrium', 'A', 'a,a', 'a,,b', '-a']) {
    test(`MODEL_PROVIDERS=${names} is refused`, () => {
      assert.match(mistakesOf({ MODEL_PROVIDERS: names }).join('\n'), /MODEL_PROVIDERS/)
    })
  }

  test('a default model that is unknown or has no price stops the start', () => {
    assert.match(mistakesOf({ DEFAULT_AGENT_MODEL: 'atrium/none' }).join('\n'), /DEFAULT_AGENT_MODEL/)
    assert.match(
      mistakesOf({ ...providers, DEFAULT_AGENT_MODEL: 'my-gateway/vendor/new' }).join('\n'),
      /DEFAULT_AGENT_MODEL.*no price/,
    )
    assert.deepEqual(mistakesOf({ ...providers, DEFAULT_AGENT_MODEL: 'ollama/qwen3' }), [])
  })
})
