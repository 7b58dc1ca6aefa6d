import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { maxDepth } from '../../../outbox/chain.ts'
import { callTools, reply, startFakeModel } from '../../../../test/fakes/model.ts'
import { startReceiver } from '../../../../test/fakes/receiver.ts'
import type { Arrival } from '../../../../test/fakes/receiver.ts'
import { startTestApp } from '../../../../test/harness.ts'
import type { TestActor } from '../../../../test/harness.ts'
import { createAgent, until } from '../../../../test/support/chat.ts'
import { openLoopback } from '../../../../test/support/webhooks.ts'
import { sql } from '../../../platform/database/database.ts'

const model = await startFakeModel()
const app = await startTestApp({ ...model.env, ...openLoopback })

const newPerson = async (json: object = {}): Promise<TestActor> => {
  const owner = await app.createOrg()
  await createAgent(app, owner, { name: 'Helper', model: 'fake/m1', ...json })
  return owner
}

/** A request of the revision 1.0, which continues the chain of a notification. */
const rpc = async (as: TestActor, method: string, params: object, chain?: string) => {
  const headers = { 'a2a-version': '1.0', ...(chain === undefined ? {} : { 'atrium-event-chain': chain }) }
  const { body } = await app.call('POST', '/a2a/helper', {
    as,
    json: { jsonrpc: '2.0', id: 1, method, params },
    headers,
  })
  assert.equal(body.error, undefined, JSON.stringify(body))
  return body.result
}

let messages = 0
const send = async (as: TestActor, chain?: string): Promise<string> => {
  const message = { messageId: `loop-${(messages += 1)}`, role: 'ROLE_USER', parts: [{ text: 'Hi' }] }
  return (await rpc(as, 'SendMessage', { message }, chain)).task.id
}
const configure = (as: TestActor, taskId: string, url: string, chain?: string) =>
  rpc(as, 'CreateTaskPushNotificationConfig', { taskId, url }, chain)

/** A receiver that reacts to every notification with a chain. `untilQuiet`: no reaction or notification is left. */
const startReacting = async (owner: TestActor, react: (url: string, chain: string) => Promise<unknown>) => {
  const receiver = await startReceiver()
  let running = 0
  const failures: unknown[] = []
  const chainOf = ({ headers }: Arrival) => headers['atrium-event-chain'] as string | undefined
  receiver.answer = (response, arrival) => {
    const chain = chainOf(arrival)
    if (chain !== undefined) {
      running += 1
      void react(receiver.url, chain)
        .catch((error: unknown) => failures.push(error))
        .finally(() => (running -= 1))
    }
    response.end()
  }
  const untilQuiet = async (): Promise<void> => {
    await until('a notification has arrived', () => receiver.arrivals.length > 0)
    await until(
      'nothing is left to notify',
      async () => {
        const before = receiver.arrivals.length
        if (running > 0) return false
        const left = await app.db.rows(sql`
        select id from webhook_queue where org_id = ${owner.orgId}
        union all select id from event_outbox where org_id = ${owner.orgId}`)
        return left.length === 0 && running === 0 && receiver.arrivals.length === before
        // A notification whose first attempt failed, on a connection that was just closed, waits for its next attempt.
      },
      240_000,
    )
    assert.deepEqual(failures, [])
  }
  const depths = () => receiver.arrivals.map((one) => app.deps.chains.parse(owner.orgId, chainOf(one) ?? '')?.depth)
  return { url: receiver.url, untilQuiet, depths }
}

const allDepths = Array.from({ length: maxDepth + 1 }, (_, at) => at + 1)

describe('the loop guard of push notifications', () => {
  test('ends a loop of tasks whose configurations are set after their end', async () => {
    const owner = await newPerson()
    model.play(...Array.from({ length: 200 }, () => reply(['Hello.'])))
    const receiver = await startReacting(owner, async (url, chain) => {
      await configure(owner, await send(owner, chain), url, chain)
    })
    await configure(owner, await send(owner), receiver.url)
    await receiver.untilQuiet()
    assert.deepEqual([...new Set(receiver.depths())], allDepths)
  })

  test('ends a loop of configurations of the same task that has ended', async () => {
    const owner = await newPerson()
    model.play(reply(['Hello.']))
    const taskId = await send(owner)
    const receiver = await startReacting(owner, (url, chain) => configure(owner, taskId, url, chain))
    await configure(owner, taskId, receiver.url)
    await receiver.untilQuiet()
    assert.deepEqual([...new Set(receiver.depths())], allDepths)
  })

  test('ends a loop of configurations of a task that waits for a person', async () => {
    const owner = await newPerson({ allowedTools: ['files.write'], settings: { approvals: ['files.write'] } })
    model.play(callTools({ id: 'w1', name: 'files_write', args: '{"name":"a.txt","text":"a"}' }))
    const taskId = await send(owner)
    const receiver = await startReacting(owner, (url, chain) => configure(owner, taskId, url, chain))
    await configure(owner, taskId, receiver.url)
    await receiver.untilQuiet()
    assert.deepEqual([...new Set(receiver.depths())], allDepths)
  })
})
