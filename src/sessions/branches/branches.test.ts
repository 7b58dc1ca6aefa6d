import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { newId } from '../../platform/ids.ts'
import { deposit, getBilling } from '../../../test/support/billing.ts'
import { ask, createAgent, getTurn, openSession, say, textOf, untilStatus } from '../../../test/support/chat.ts'
import { held, rejectWith, reply, startFakeModel } from '../../../test/fakes/model.ts'
import { startTestApp } from '../../../test/harness.ts'
import type { TestActor } from '../../../test/harness.ts'
import { countSkipped, isSkipped, skipFrom } from './skipped.ts'

const model = await startFakeModel()
const app = await startTestApp({
  ...model.env,
  BILLING_ENFORCED: 'true',
  MODEL_FAKE_FREE: '0',
  MODEL_FAKE_PRICES: 'm1=1000000:4000000',
})

interface Item {
  id: string
  turnId: string
  role: string
  parts: { type: string; text?: string }[]
  versions?: string[]
}

const start = async () => {
  const owner = await app.createOrg()
  await deposit(app, owner, 10_000)
  const agent = await createAgent(app, owner, { name: 'Ann', model: 'fake/m1' })
  const { id } = await openSession(app, owner, { agentId: agent.id })
  return { owner, id: id as string }
}
const messages = async (as: TestActor, id: string, query = ''): Promise<Item[]> => {
  const { status, body } = await app.call('GET', `/api/v1/sessions/${id}/messages?limit=100${query}`, { as })
  assert.equal(status, 200, JSON.stringify(body))
  return body.data.items.toReversed()
}
const texts = async (as: TestActor, id: string, query = ''): Promise<string[]> =>
  (await messages(as, id, query)).map((message) => textOf(message))
const asked = async (as: TestActor, id: string, text: string): Promise<Item> => {
  const found = (await messages(as, id, '&branch=all')).findLast((one) => one.role === 'user' && textOf(one) === text)
  assert.ok(found, text)
  return found
}
/** What the model of the last turn was shown, without instructions. */
const shown = (): unknown[] =>
  (model.requests.at(-1)?.messages ?? []).filter(({ role }) => role !== 'system').map(({ content }) => content)
const switchTo = (as: TestActor, id: string, messageId: string) =>
  app.call('POST', `/api/v1/sessions/${id}/branch`, { as, json: { messageId } })

describe('an edited message', () => {
  test('an edited message begins a branch that the model sees alone, and each version stays reachable', async () => {
    const { owner, id } = await start()
    for (const text of ['one', 'two', 'three']) {
      model.play(reply([`re ${text}`]))
      await ask(app, owner, id, { text })
    }
    assert.ok((await messages(owner, id)).every((message) => !('versions' in message)))
    const two = await asked(owner, id, 'two')
    model.play(reply(['re TWO']))
    await ask(app, owner, id, { text: 'TWO', replaces: two.id })
    assert.deepEqual(shown(), ['one', 're one', 'TWO'])
    assert.deepEqual(await texts(owner, id), ['one', 're one', 'TWO', 're TWO'])
    assert.equal((await texts(owner, id, '&branch=all')).length, 8)
    const edited = await asked(owner, id, 'TWO')
    assert.deepEqual(
      (await messages(owner, id)).map(({ versions }) => versions),
      [undefined, undefined, [two.id, edited.id], undefined],
    )

    model.play(reply(['re four']))
    await ask(app, owner, id, { text: 'four' })
    assert.deepEqual(shown(), ['one', 're one', 'TWO', 're TWO', 'four'])

    assert.equal((await switchTo(owner, id, two.id)).status, 200)
    assert.deepEqual(await texts(owner, id), ['one', 're one', 'two', 're two', 'three', 're three'])
    model.play(reply(['re five']))
    const { turn } = await ask(app, owner, id, { text: 'five' })
    assert.deepEqual(shown(), ['one', 're one', 'two', 're two', 'three', 're three', 'five'])
    assert.equal(turn.leftOutExchanges, 0)

    assert.equal((await switchTo(owner, id, edited.id)).status, 200)
    assert.deepEqual(await texts(owner, id), ['one', 're one', 'TWO', 're TWO', 'four', 're four'])
    const first = await asked(owner, id, 'one')
    model.play(reply(['re ONE']))
    await ask(app, owner, id, { text: 'ONE', replaces: first.id })
    assert.deepEqual(shown(), ['ONE'])
    const system = JSON.stringify(model.requests.at(-1)?.messages.filter(({ role }) => role === 'system'))
    assert.doesNotMatch(system, /no longer fit/)
    assert.equal((await switchTo(owner, id, first.id)).status, 200)
    assert.deepEqual((await texts(owner, id)).slice(-2), ['five', 're five'], 'the newest branch with that message')
    const { body } = await app.call('GET', `/api/v1/sessions/${id}`, { as: owner })
    assert.equal(body.data.messageCount, 14)
  })

  test('only the author of a message can replace it, only in its session, and only a message that started a turn', async () => {
    const { owner, id } = await start()
    model.play(reply(['re mine']))
    const { message } = await ask(app, owner, id, { text: 'mine' })
    const mine = await asked(owner, id, 'mine')
    const colleague = await app.createUser(owner, 'admin')
    const other = await openSession(app, owner)
    const outcomes = await Promise.all([
      say(app, colleague, id, { text: 'x', replaces: mine.id }),
      say(app, owner, id, { text: 'x', replaces: message.id }),
      say(app, owner, id, { text: 'x', replaces: newId() }),
      say(app, owner, other.id, { text: 'x', replaces: mine.id }),
      say(app, owner, id, { continue: true, replaces: mine.id }),
      say(app, owner, id, { text: 'x', replaces: 'nonsense' }),
      switchTo(owner, id, message.id),
      switchTo(owner, other.id, mine.id),
    ])
    assert.deepEqual(
      outcomes.map(({ body }) => body.error.code),
      [
        'FORBIDDEN',
        ...Array.from({ length: 3 }, () => 'VALIDATION_ERROR'),
        'BAD_REQUEST',
        'BAD_REQUEST',
        'VALIDATION_ERROR',
        'VALIDATION_ERROR',
      ],
    )
    assert.deepEqual(await texts(owner, id), ['mine', 're mine'])
    assert.equal((await switchTo(colleague, id, mine.id)).status, 200, 'a switch to the active branch changes nothing')
  })

  test('a message is replaced while a turn runs only if that turn is interrupted', async () => {
    const { owner, id } = await start()
    const { script, asked: begun, release } = held(reply(['too late']))
    model.play(script)
    const { body } = await say(app, owner, id, { text: 'slow', background: true })
    await begun
    const slow = await asked(owner, id, 'slow')
    for (const onBusy of ['enqueue', 'reject']) {
      const refused = await say(app, owner, id, { text: 'fast', replaces: slow.id, onBusy })
      assert.equal(refused.body.error.code, 'CONFLICT')
    }
    assert.equal((await switchTo(owner, id, slow.id)).body.error.code, 'CONFLICT')
    model.play(reply(['re fast']))
    await ask(app, owner, id, { text: 'fast', replaces: slow.id, onBusy: 'interrupt' })
    release()
    assert.equal((await untilStatus(app, owner, body.data.turn.id, 'cancelled')).status, 'cancelled')
    assert.deepEqual(await texts(owner, id), ['fast', 're fast'])
  })
})

describe('a turn that is tried again', () => {
  test('a turn that is tried again takes the place of the failed one, which is neither shown, sent nor charged again', async () => {
    const { owner, id } = await start()
    model.play(reply(['re one']))
    await ask(app, owner, id, { text: 'one' })
    model.play(rejectWith(400))
    const failed = await ask(app, owner, id, { text: 'two' })
    assert.equal(failed.turn.status, 'failed')
    await app.settled()
    const before = (await getBilling(app, owner)).balance
    const two = await asked(owner, id, 'two')
    model.play(reply(['re two']))
    const again = await ask(app, owner, id, { replaces: two.id })
    assert.equal(again.turn.status, 'completed')
    assert.notEqual(again.turn.id, failed.turn.id)
    assert.deepEqual(shown(), ['one', 're one', 'two'])
    assert.deepEqual(await texts(owner, id), ['one', 're one', 'two', 're two'])
    assert.ok(
      (await messages(owner, id)).every((message) => !('versions' in message)),
      'a failed attempt is no version',
    )
    assert.equal((await messages(owner, id, '&branch=all')).length, 6)
    await app.settled()
    assert.equal(failed.turn.chargedMicrocents, 0)
    assert.ok(again.turn.chargedMicrocents > 0)
    const after = (await getBilling(app, owner)).balance
    const spent = (before.balanceCents - after.balanceCents) * 10_000 + after.remainderMicrocents
    assert.equal(spent - before.remainderMicrocents, again.turn.chargedMicrocents)
    assert.equal((await getTurn(app, owner, failed.turn.id)).status, 'failed', 'its record stays')
  })

  test('two requests at once to try a turn again start one turn', async () => {
    const { owner, id } = await start()
    model.play(rejectWith(400))
    await ask(app, owner, id, { text: 'two' })
    const two = await asked(owner, id, 'two')
    const { script, release } = held(reply(['done']))
    model.play(script)
    const both = await Promise.all([1, 2].map(() => say(app, owner, id, { replaces: two.id, background: true })))
    assert.deepEqual(new Set(both.map(({ status }) => status)), new Set([202, 409]))
    release()
  })
})

test('skipped turns are ranges that begin at a turn and replace what was skipped after it', () => {
  assert.equal(skipFrom(null, 2, 4), '{[2,4)}')
  assert.equal(skipFrom('{[2,4)}', 4, 5), '{[2,5)}')
  assert.equal(skipFrom('{[2,4)}', 6, 8), '{[2,4),[6,8)}')
  assert.equal(skipFrom(null, 3, 3), null)
  assert.deepEqual(
    [1, 2, 3, 4].map((number) => isSkipped('{[2,4)}', number)),
    [false, true, true, false],
  )
  assert.deepEqual(
    [1, 3, 4, 9].map((number) => countSkipped('{[2,4),[6,8)}', number)),
    [0, 1, 2, 4],
  )
})
