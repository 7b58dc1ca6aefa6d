import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { rejectWith, reply, startFakeModel } from '../../../test/fakes/model.ts'
import { failWith, gptSays, startFakeOpenAi } from '../../../test/fakes/native-models.ts'
import { startTestApp } from '../../../test/harness.ts'
import { ask, createAgent, openSession } from '../../../test/support/chat.ts'
import { createCircuits } from './circuits.ts'
import { ModelFailure } from './model-client.ts'
import { retryAfterOf } from './retry-after.ts'

const failure = (statusCode: number): Error => Object.assign(new Error(`${statusCode}`), { statusCode })
const silent = { warn: () => undefined, info: () => undefined }

const start = () => {
  const clock = { ms: 0 }
  const circuits = createCircuits([{ name: 'a' }, { name: 'b' }], silent, () => clock.ms)
  let sent = 0
  /** Sends a request that fails with this error, or succeeds. Returns whether it was sent. */
  const send = async (thrown?: Error, provider = 'a', orgId = 'one'): Promise<boolean> => {
    const before = sent
    const request = async (): Promise<void> => {
      sent += 1
      if (thrown) throw thrown
    }
    await Promise.allSettled([circuits.guard({ provider, orgId }, request)])
    return sent > before
  }
  const failTimes = async (times: number): Promise<void> => {
    for (let i = 0; i < times; i++) await send(failure(503))
  }
  return { clock, circuits, send, failTimes }
}

describe('a circuit', () => {
  test('opens after five consecutive failures of one provider, and only for that provider', async () => {
    const { circuits, send, failTimes } = start()
    await failTimes(4)
    await send()
    await failTimes(4)
    assert.deepEqual([circuits.states().get('a'), await send(failure(500))], [0, true])
    assert.deepEqual(
      [...circuits.states()],
      [
        ['a', 1],
        ['b', 0],
      ],
    )
    assert.deepEqual([await send(), await send(undefined, 'b')], [false, true])
  })

  test('opens for the org whose requests fail, and for all orgs after failures of two', async () => {
    const { send, failTimes } = start()
    await failTimes(20)
    assert.deepEqual([await send(), await send(undefined, 'a', 'two')], [false, true])
    await failTimes(4)
    for (let n = 0; n < 4; n += 1) await send(failure(503), 'a', n % 2 ? 'two' : 'three')
    assert.equal(await send(undefined, 'a', 'four'), true, 'four failures in succession')
    for (let n = 0; n < 5; n += 1) await send(failure(503), 'a', n % 2 ? 'two' : 'three')
    assert.equal(await send(undefined, 'a', 'four'), false)
  })

  test('rejects requests with a transient failure that says how long to wait', async () => {
    const { circuits, clock, failTimes } = start()
    await failTimes(5)
    clock.ms += 4_000
    const rejected = circuits.guard({ provider: 'a', orgId: 'one' }, () => Promise.resolve())
    await assert.rejects(rejected, (error: unknown) => {
      assert.ok(error instanceof ModelFailure)
      assert.deepEqual([error.code, error.isTransient, error.retryAfterMs], ['unavailable', true, 6_000])
      return true
    })
  })

  test('sends one request after the pause, and closes when it succeeds', async () => {
    const { circuits, clock, send, failTimes } = start()
    await failTimes(5)
    clock.ms += 10_000
    assert.equal(circuits.states().get('a'), 0.5)
    const probe = Promise.withResolvers<void>()
    const probing = circuits.guard({ provider: 'a', orgId: 'one' }, () => probe.promise)
    assert.equal(await send(), false, 'a second request waits for the first one')
    probe.resolve()
    await probing
    assert.deepEqual([circuits.states().get('a'), await send()], [0, true])
  })

  test('opens again when the request after the pause fails', async () => {
    const { circuits, clock, send, failTimes } = start()
    await failTimes(5)
    clock.ms += 10_000
    assert.equal(await send(failure(503)), true)
    assert.deepEqual([circuits.states().get('a'), await send()], [1, false])
  })

  test('lets another request try when the first one after the pause was cancelled', async () => {
    const { circuits, clock, send, failTimes } = start()
    await failTimes(5)
    clock.ms += 10_000
    assert.equal(await send(new Error('the turn was cancelled')), true)
    assert.deepEqual([circuits.states().get('a'), await send(), circuits.states().get('a')], [0.5, true, 0])
  })

  for (const status of [400, 401, 404, 413, 429]) {
    test(`a response with ${status} never opens it`, async () => {
      const { circuits, send } = start()
      for (let i = 0; i < 20; i++) await send(failure(status))
      assert.equal(circuits.states().get('a'), 0)
    })
  }

  test('an error of the client itself, such as a prompt that it cannot convert, never opens it', async () => {
    const { circuits, send } = start()
    for (let i = 0; i < 20; i++) await send(new TypeError('unsupported'))
    assert.equal(circuits.states().get('a'), 0)
  })
})

describe('the delay that a provider asks for', () => {
  const nowMs = Date.parse('2026-11-23T12:00:00Z')
  for (const [headers, expected] of [
    [{ 'retry-after': '2' }, 2_000],
    [{ 'retry-after': '0.5' }, 500],
    [{ 'retry-after': '3600' }, 10_000],
    [{ 'retry-after': '9'.repeat(400) }, 10_000],
    [{ 'retry-after': 'Mon, 23 Nov 2026 12:00:03 GMT' }, 3_000],
    [{ 'retry-after': 'Mon, 23 Nov 2026 11:00:00 GMT' }, 0],
    [{ 'retry-after': 'Mon, 23 Nov 2099 11:00:00 GMT' }, 10_000],
    [{ 'retry-after-ms': '250', 'retry-after': '5' }, 250],
    [{ 'retry-after-ms': 'soon', 'retry-after': '5' }, 5_000],
    [{ 'retry-after': '-1' }, undefined],
    [{ 'retry-after': 'soon' }, undefined],
    [{ 'retry-after': 'Never' }, undefined],
    [{ 'retry-after': '' }, undefined],
    [{}, undefined],
  ] as const) {
    test(`${JSON.stringify(headers).slice(0, 60)} is ${expected === undefined ? 'ignored' : `${expected} ms`}`, () => {
      assert.equal(retryAfterOf(headers, nowMs), expected)
    })
  }
})

describe('a provider that fails', async () => {
  const [native, compatible] = await Promise.all([startFakeOpenAi(), startFakeModel()])
  const app = await startTestApp({
    MODEL_PROVIDERS: 'gpt,fake,nowhere',
    MODEL_GPT_PROTOCOL: 'openai',
    MODEL_GPT_BASE_URL: native.baseUrl,
    MODEL_GPT_MODELS: 'gpt-5.4',
    MODEL_GPT_FREE: '1',
    MODEL_FAKE_BASE_URL: compatible.baseUrl,
    MODEL_FAKE_MODELS: 'm1',
    MODEL_FAKE_FREE: '1',
    MODEL_NOWHERE_PROTOCOL: 'anthropic',
    MODEL_NOWHERE_BASE_URL: 'http://127.0.0.1:9/v1',
    MODEL_NOWHERE_MODELS: 'm',
    MODEL_NOWHERE_FREE: '1',
  })
  const turnOn = async (model: string) => {
    const owner = await app.createOrg()
    await createAgent(app, owner, { name: 'Helper', model })
    const session = await openSession(app, owner, { agentId: 'helper' })
    return (await ask(app, owner, session.id, { text: 'Hello' })).turn
  }
  const circuitOf = async (provider: string): Promise<string | undefined> => {
    const { text } = await app.call('GET', '/metrics')
    return new RegExp(`^model_provider_circuit\\{provider="${provider}"\\} (.*)$`, 'm').exec(text)?.[1]
  }

  for (const [provider, model, fail, works, count] of [
    ['gpt', 'gpt/gpt-5.4', () => native.play(failWith(500)), () => native.play(gptSays('Yes.')), () => native.headers],
    [
      'fake',
      'fake/m1',
      () => compatible.play(rejectWith(503)),
      () => compatible.play(reply(['Yes.'])),
      () => compatible.requests,
    ],
  ] as const) {
    test(`requests that the provider ${provider} rejects do not stop those of others, but its failures do, and metrics show it`, async () => {
      if (provider === 'gpt') native.play(failWith(400))
      else compatible.play(rejectWith(400))
      for (let i = 0; i < 6; i++) assert.equal((await turnOn(model)).error.code, 'model_rejected')
      assert.equal(await circuitOf(provider), '0')
      works()
      assert.equal((await turnOn(model)).status, 'completed')
      fail()
      assert.equal((await turnOn(model)).error.code, 'model_unavailable')
      assert.equal(await circuitOf(provider), '0')
      const turn = await turnOn(model)
      assert.deepEqual([turn.error.code, turn.steps.length, count().length], ['model_unavailable', 3, 5])
      assert.equal(turn.costMicrocents, 0)
      assert.equal(await circuitOf(provider), '1')
    })
  }

  test('a native provider that cannot be reached opens its circuit', async () => {
    for (let i = 0; i < 2; i++) assert.equal((await turnOn('nowhere/m')).error.code, 'model_unavailable')
    assert.equal(await circuitOf('nowhere'), '1')
  })

  test('a native provider that asks for a delay is called again after it', async () => {
    const other = await startFakeOpenAi()
    const patient = await startTestApp({
      MODEL_PROVIDERS: 'gpt',
      MODEL_GPT_PROTOCOL: 'openai',
      MODEL_GPT_BASE_URL: other.baseUrl,
      MODEL_GPT_MODELS: 'gpt-5.4',
      MODEL_GPT_FREE: '1',
    })
    const owner = await patient.createOrg()
    await createAgent(patient, owner, { name: 'Helper', model: 'gpt/gpt-5.4' })
    const session = await openSession(patient, owner, { agentId: 'helper' })
    other.play(failWith(429, { 'retry-after-ms': '1' }), failWith(529, { 'retry-after': '0' }), gptSays('At last.'))
    const { turn } = await ask(patient, owner, session.id, { text: 'Hello' })
    assert.deepEqual([turn.status, turn.steps.length], ['completed', 3])
  })
})
