import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { cutAfter, hangAfter, rejectWith, reply, startFakeModel, callTools } from '../../../../test/fakes/model.ts'
import type { FakeModel } from '../../../../test/fakes/model.ts'
import { claudeCalls, claudeSays, signature, startFakeAnthropic } from '../../../../test/fakes/native-models.ts'
import { startTestApp } from '../../../../test/harness.ts'
import type { TestActor } from '../../../../test/harness.ts'
import { ask, createAgent, getTurn, openSession, say, textOf, untilStatus } from '../../../../test/support/chat.ts'
import { sql } from '../../../platform/database/database.ts'

const [first, second, third] = await Promise.all([startFakeModel(), startFakeModel(), startFakeModel()])
const claude = await startFakeAnthropic()
const provider = (name: string, { baseUrl }: { baseUrl: string }, prices: string) => ({
  [`MODEL_${name}_BASE_URL`]: baseUrl,
  [`MODEL_${name}_MODELS`]: 'm',
  [`MODEL_${name}_PRICES`]: prices,
})
const app = await startTestApp({
  MODEL_PROVIDERS: 'one,two,three,claude,unpriced',
  MODEL_SILENCE_SECONDS: '1',
  ...provider('ONE', first, 'm=1000000:1000000'),
  ...provider('TWO', second, 'm=2000000:3000000'),
  ...provider('THREE', third, 'm=1000000:1000000'),
  ...provider('CLAUDE', claude, 'm=1000000:1000000'),
  MODEL_CLAUDE_PROTOCOL: 'anthropic',
  MODEL_UNPRICED_BASE_URL: third.baseUrl,
  MODEL_UNPRICED_MODELS: 'm',
})
const usage = { prompt_tokens: 100, completion_tokens: 10 }

const open = async (as: TestActor, fallbackModels: string[] | null, json: object = {}) => {
  await createAgent(app, as, {
    name: 'Helper',
    model: 'one/m',
    allowedTools: ['files.search'],
    settings: { fallbackModels },
    ...json,
  })
  return openSession(app, as, { agentId: 'helper' })
}

const callsOf = (turn: { steps: { step: number; model: string; status: string }[] }) =>
  turn.steps.map(({ step, model, status }) => [step, model, status])

const chargesOf = (as: TestActor) =>
  app.db.rows<{ model: string; cost: string }>(sql`
    select model, provider_cost_microcents::text as cost from usage_inbox where org_id = ${as.orgId}
    union all select model, provider_cost_microcents::text from usage_records where org_id = ${as.orgId} order by 1`)

const assertUnused = (...fakes: FakeModel[]) => {
  for (const fake of fakes) assert.equal(fake.requests.length, 0)
}

describe('fallback models', () => {
  for (const [what, script] of [
    ['is rate limited', rejectWith(429)],
    ['fails with 500', rejectWith(500)],
    ['sends nothing', hangAfter([])],
  ] as const) {
    test(`a turn whose model ${what} is answered by the next model, shown and charged as that`, async () => {
      const owner = await app.createOrg()
      const session = await open(owner, ['two/m', 'three/m'])
      first.play(script)
      second.play(reply(['Hello from two.'], { usage }))
      third.play(reply(['Hello from three.']))
      const { turn, message } = await ask(app, owner, session.id, { text: 'Hello' })
      assert.deepEqual([turn.status, turn.model, turn.answerModel], ['completed', 'one/m', 'two/m'])
      assert.equal(textOf(message), 'Hello from two.')
      assert.deepEqual(callsOf(turn), [
        [1, 'one/m', 'failed'],
        [1, 'two/m', 'completed'],
      ])
      assert.equal(first.requests.length, 1)
      assertUnused(third)
      assert.equal(turn.steps[1].costMicrocents, 100 * 2 + 10 * 3)
      const charged = (await chargesOf(owner)).find(({ model }) => model === 'two/m')
      assert.equal(charged?.cost, '230')
    })
  }

  test('the models are called in their order, and the last one is retried', async () => {
    const owner = await app.createOrg()
    const session = await open(owner, ['three/m', 'two/m'])
    first.play(rejectWith(429))
    third.play(rejectWith(429))
    second.play(rejectWith(429, { 'retry-after': '0' }), reply(['At last.']))
    const { turn } = await ask(app, owner, session.id, { text: 'Hello' })
    assert.deepEqual(callsOf(turn), [
      [1, 'one/m', 'failed'],
      [1, 'three/m', 'failed'],
      [1, 'two/m', 'failed'],
      [1, 'two/m', 'completed'],
    ])
  })

  test('a request that the provider rejects, and a response that broke off or stopped after its first text, are not sent to another model', async () => {
    const owner = await app.createOrg()
    const session = await open(owner, ['two/m'])
    second.play(reply(['Never.']))
    first.play(rejectWith(400))
    const { turn: rejected } = await ask(app, owner, session.id, { text: 'Hello' })
    assert.deepEqual([rejected.error.code, rejected.answerModel], ['model_rejected', null])
    first.play(cutAfter(['Half a']))
    const { turn: cut } = await ask(app, owner, session.id, { text: 'Hello' })
    assert.equal(cut.stopReason, 'stream_truncated')
    first.play(hangAfter(['Well']))
    const { turn: silent, message } = await ask(app, owner, session.id, { text: 'Hello' })
    assert.deepEqual([silent.error.code, silent.answerModel, textOf(message)], ['model_silent', null, 'Well'])
    assertUnused(second)
  })

  test('an agent without fallback models fails as before, and models without a price are skipped', async () => {
    for (const fallbackModels of [null, ['unpriced/m']]) {
      const owner = await app.createOrg()
      const session = await open(owner, fallbackModels)
      first.play(rejectWith(429, { 'retry-after': '0' }))
      third.play(reply(['Never.']))
      const { turn } = await ask(app, owner, session.id, { text: 'Hello' })
      assert.deepEqual([turn.error.code, turn.steps.length, turn.answerModel], ['model_rate_limited', 3, null])
      assertUnused(third)
    }
  })

  test('a turn stays with the model that answered, also when it continues after a person’s decision', async () => {
    const owner = await app.createOrg()
    const session = await open(owner, ['two/m'], {
      settings: { fallbackModels: ['two/m'], approvals: ['files.search'] },
    })
    first.play(rejectWith(500))
    second.play(callTools({ id: 'a', name: 'files_search', args: '{"query":"a"}' }), reply(['Nothing.'], { usage }))
    const { body } = await say(app, owner, session.id, { text: 'Look', background: true })
    const { id, toolCalls } = await untilStatus(app, owner, body.data.turn.id, 'requires_action')
    const json = { approvalId: toolCalls[0].approvalId, approved: true }
    await app.call('POST', `/api/v1/turns/${id}/approvals`, { as: owner, json })
    await untilStatus(app, owner, id, 'completed')
    const turn = await getTurn(app, owner, id)
    assert.deepEqual(callsOf(turn), [
      [1, 'one/m', 'failed'],
      [1, 'two/m', 'completed'],
      [2, 'two/m', 'completed'],
    ])
    assert.equal(first.requests.length, 1)
    assert.equal(turn.steps[2].costMicrocents, 230)
    first.play(reply(['Back again.']))
    const { turn: next } = await ask(app, owner, session.id, { text: 'And now?' })
    assert.equal(next.answerModel, 'one/m', 'the next turn begins with the model of the agent')
  })

  test('a fallback model does not get the reasoning of the model that failed in the middle of a turn', async () => {
    const owner = await app.createOrg()
    const session = await open(owner, ['two/m'], { model: 'claude/m' })
    claude.play(claudeCalls('files_search', { query: 'a' }), rejectWith(529) as never)
    second.play(reply(['Nothing.']))
    const { turn } = await ask(app, owner, session.id, { text: 'Look' })
    assert.deepEqual([turn.status, turn.answerModel, claude.violations], ['completed', 'two/m', []])
    const sent = JSON.stringify(second.requests)
    assert.match(sent, /files_search/)
    assert.ok(!sent.includes(signature) && !sent.includes('wants a file'))
    claude.play(claudeSays('Yes.'))
  })

  test('a paid fallback of a free model is not called without money for it', async () => {
    const enforced = await startTestApp({
      BILLING_ENFORCED: '1',
      MODEL_PROVIDERS: 'one,two',
      ...provider('ONE', first, 'm=0:0'),
      ...provider('TWO', second, 'm=2000000:3000000'),
    })
    const owner = await enforced.createOrg()
    await createAgent(enforced, owner, { name: 'Helper', model: 'one/m', settings: { fallbackModels: ['two/m'] } })
    const session = await openSession(enforced, owner, { agentId: 'helper' })
    first.play(rejectWith(500))
    second.play(reply(['Never.']))
    const { turn } = await ask(enforced, owner, session.id, { text: 'Hello' })
    assert.deepEqual([turn.status, turn.stopReason, turn.costMicrocents], ['incomplete', 'max_cost', 0])
    assertUnused(second)
  })

  for (const fallbackModels of [
    'two/m',
    ['no/such'],
    ['two/m', 'two/m'],
    ['two/m', 'three/m', 'claude/m', 'one/m'],
    [1],
  ]) {
    test(`settings.fallbackModels ${JSON.stringify(fallbackModels)} is BAD_REQUEST`, async () => {
      const owner = await app.createOrg()
      const json = { name: 'Helper', settings: { fallbackModels } }
      const { status, body } = await app.call('POST', '/api/v1/agents', { as: owner, json })
      assert.deepEqual([status, body.error.code], [400, 'BAD_REQUEST'])
      assert.match(body.error.message, /settings\.fallbackModels must be up to 3 different ids/)
    })
  }

  test('a change of the fallback models is a change of the agent’s authority', async () => {
    const owner = await app.createOrg()
    const agent = await createAgent(app, owner, { name: 'Helper', model: 'one/m' })
    const json = { settings: { fallbackModels: ['two/m'] } }
    const { body } = await app.call('PATCH', '/api/v1/agents/helper', { as: owner, json })
    assert.equal(body.data.authorityVersion, agent.authorityVersion + 1)
  })
})
