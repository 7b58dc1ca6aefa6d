import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ask, openSession, textOf } from '../../../test/support/chat.ts'
import { startTestApp } from '../../../test/harness.ts'

const app = await startTestApp({ TURN_LIMIT_SECONDS: '4' })

test('ends a turn at its time limit as incomplete with the text so far, and the session continues', async () => {
  const owner = await app.createOrg()
  const session = await openSession(app, owner)
  const { turn, message } = await ask(app, owner, session.id, { text: '/slow 60000\nTell me' })
  assert.deepEqual([turn.status, turn.stopReason, turn.steps.length], ['incomplete', 'max_time', 1])
  assert.deepEqual([turn.steps[0].status, turn.steps[0].isEstimate], ['cancelled', true])
  assert.match(textOf(message), /^You wrote/)
  assert.equal((await ask(app, owner, session.id, { text: 'Go on' })).turn.status, 'completed')
})
