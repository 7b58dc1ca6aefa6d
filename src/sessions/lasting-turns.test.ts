// Turns that last: through many approvals, days of waiting, workers that die and jobs that are lost. A worker that died is
// told of by the rows that it leaves; that real ones leave them so is for test/crash/turns.test.ts to show.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createAgent, getTurn, openSession, say, until, untilStatus } from '../../test/chat.ts'
import { startTestApp } from '../../test/harness.ts'
import type { TestActor } from '../../test/harness.ts'

const app = await startTestApp()

const write = (name: string): string => `/tool files.write {"name":"${name}.txt","text":"x"}`
const decide = (as: TestActor, turnId: string, approvalId: string, approved = true) =>
  app.call('POST', `/api/v1/turns/${turnId}/approvals`, { as, json: { approvalId, approved } })
const filesOf = async (as: TestActor): Promise<string[]> =>
  (await app.call('GET', '/api/v1/files', { as })).body.data.items.map((file: { name: string }) => file.name)

/** Has an agent that asks before it writes say something, and answers the turn when it waits. */
const askedBy = async (as: TestActor, text: string) => {
  const settings = { approvals: ['files.write'] }
  await createAgent(app, as, { name: 'Careful', allowedTools: ['files.write', 'files.search'], settings })
  const { id: sessionId } = await openSession(app, as, { agentId: 'careful' })
  const { body } = await say(app, as, sessionId, { text })
  assert.equal(body.data.turn.status, 'requires_action')
  return { sessionId, turn: body.data.turn }
}

describe('a turn that waits for a person', () => {
  test('does so as often as its steps allow: being taken up after an approval is no crash', async () => {
    const as = await app.createOrg()
    const names = Array.from({ length: 12 }, (_, n) => `note-${String(n).padStart(2, '0')}`)
    const { turn } = await askedBy(as, names.map(write).join('\n\n'))
    const seen = new Set<string>()
    for (const _ of names) {
      const { approvals } = await until(
        () => getTurn(app, as, turn.id),
        ({ status, approvals }) =>
          status === 'failed' || (status === 'requires_action' && !seen.has(approvals[0].approvalId)),
      )
      seen.add(approvals[0]?.approvalId)
      await decide(as, turn.id, approvals[0]?.approvalId)
    }
    const done = await untilStatus(app, as, turn.id, 'completed', 'failed')
    assert.deepEqual([done.status, done.error, done.attempts], ['completed', null, 13])
    assert.deepEqual(
      (await filesOf(as)).toSorted(),
      names.map((name) => `${name}.txt`),
    )
  })
})
