import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { StreamResponse } from '@a2a-js/sdk'
import { asTask, collect, connectClient, get, messageOf, text, textOf } from '../../../test/fakes/a2a-client.ts'
import { addMcp } from '../../../test/fakes/mcp.ts'
import { callTools, reply, startFakeModel } from '../../../test/fakes/model.ts'
import { startProvider } from '../../../test/fakes/provider.ts'
import { startReceiver } from '../../../test/fakes/receiver.ts'
import { startTestApp } from '../../../test/harness.ts'
import type { TestActor } from '../../../test/harness.ts'
import { trustAgent } from '../../../test/support/authority.ts'
import { createAgent, untilStatus, until } from '../../../test/support/chat.ts'
import { openLoopback } from '../../../test/support/webhooks.ts'
import { sql } from '../../platform/database/database.ts'

const model = await startFakeModel()
const provider = await startProvider()
const mcp = addMcp(provider, '/mcp')
const app = await startTestApp({ ...model.env, ...openLoopback, WEBHOOK_RETRY_SCHEDULE_SECONDS: '86400' })

const approve = async (as: TestActor, turnId: string): Promise<void> => {
  const turn = await app.call('GET', `/api/v1/turns/${turnId}`, { as })
  const [{ approvalId }] = turn.body.data.approvals
  const json = { approvalId, approved: true }
  const decided = await app.call('POST', `/api/v1/turns/${turnId}/approvals`, { as, json })
  assert.ok(decided.status < 300, decided.text)
}

const write = (name: string) =>
  callTools({ id: name, name: 'files_write', args: JSON.stringify({ name: `${name}.txt`, text: 'a' }) })

const lastStatus = (updates: StreamResponse[]) => {
  const last = updates.at(-1)?.payload
  assert.ok(last?.$case === 'statusUpdate')
  return last.value.status
}

/** A person with an agent whose calls of a tool a person must approve. */
const newPerson = async (): Promise<TestActor> => {
  const owner = await app.createOrg()
  const settings = { approvals: ['files.write'] }
  await createAgent(app, owner, { name: 'Helper', model: 'fake/m1', allowedTools: ['files.write'], settings })
  return owner
}

test('each pause of a task has its own time, which streams, GetTask, ListTasks and notifications agree on', async () => {
  const owner = await newPerson()
  const receiver = await startReceiver()
  model.play(write('w1'), write('w2'), reply(['Done.']))
  const client = await connectClient(owner, { url: app.url })
  const taskPushNotificationConfig = { tenant: '', id: '', taskId: '', url: receiver.url, token: '' }
  const updates = await collect(
    client.sendMessageStream({
      ...messageOf([text('Write')]),
      configuration: {
        acceptedOutputModes: [],
        returnImmediately: true,
        taskPushNotificationConfig: { ...taskPushNotificationConfig, authentication: undefined },
      },
    }),
  )
  const begun = updates[0]?.payload
  assert.ok(begun?.$case === 'task')
  const { id, contextId } = begun.value
  const shownTimes = async () => {
    const list = await client.listTasks({ tenant: '', contextId, status: 0, pageToken: '', statusTimestampAfter: '' })
    return [(await client.getTask(get(id))).status?.timestamp, list.tasks[0]?.status?.timestamp]
  }
  // Each state is sent at least once.
  const notified = () => [
    ...new Set(receiver.arrivals.map(({ body }) => JSON.parse(body.toString()).task.status.timestamp as string)),
  ]
  const first = lastStatus(updates)?.timestamp
  assert.deepEqual(await shownTimes(), [first, first])
  await until('the first pause was notified', () => notified().length === 1)
  await approve(owner, id)
  const second = lastStatus(await collect(client.resubscribeTask({ tenant: '', id })))?.timestamp
  assert.deepEqual(await shownTimes(), [second, second])
  await until('the second pause was notified', () => notified().length === 2)
  await approve(owner, id)
  await until('the end was notified', () => notified().length === 3)
  const [end] = await shownTimes()
  assert.deepEqual(notified(), [first, second, end])
  assert.ok(first! < second! && second! < end!, notified().join())
})

test('the notification of a pause that is sent again during the next pause has the time of its own', async () => {
  const owner = await newPerson()
  const receiver = await startReceiver()
  receiver.answer = (response) => response.writeHead(receiver.arrivals.length === 1 ? 500 : 200).end()
  model.play(write('w1'), write('w2'))
  const client = await connectClient(owner, { url: app.url })
  const task = asTask(await client.sendMessage(messageOf([text('Write')])))
  // Otherwise the publisher of the event could find the configuration, and notify the pause a second time.
  await until('the event of the pause is published', async () => {
    const { body } = await app.call('GET', '/api/v1/events?limit=100', { as: owner })
    return body.data.items.some(({ type }: { type: string }) => type === 'turn.requires_action')
  })
  // Set during the pause, so that there is no event from which its time could be read.
  const config = { tenant: '', id: '', taskId: task.id, url: receiver.url, token: '', authentication: undefined }
  await client.createTaskPushNotificationConfig(config)
  const queued = () =>
    app.db.rows<{ attemptCount: number; webhookId: string }>(sql`
      select attempt_count, webhook_id from webhook_queue where org_id = ${owner.orgId}`)
  await until('the notification waits for its next attempt', async () => (await queued())[0]?.attemptCount === 1)
  const times = () => receiver.arrivals.map(({ body }) => JSON.parse(body.toString()).task.status.timestamp as string)
  const first = task.status?.timestamp ?? ''
  assert.ok(times().every((time) => time === first))
  await approve(owner, task.id)
  await until('the second pause was notified', () => times().some((time) => time > first))
  await until('only the first pause is left', async () => (await queued()).length === 1)
  const before = times().length
  await app.db.execute(sql`update webhook_queue set due_at = now() where org_id = ${owner.orgId}`)
  const [left] = await queued()
  app.deps.deliveryWake.notify([{ orgId: owner.orgId, webhookId: String(left?.webhookId) }])
  await until('the first pause was notified again', () => times().length > before)
  assert.equal(times().at(-1), first)
})

test('the status of a task that waits for input says that a person must answer, not decide', async () => {
  mcp.tools = [{ name: 'book', description: 'Books a table.', inputSchema: { type: 'object' } }]
  const requestedSchema = { type: 'object', properties: { people: { type: 'integer' } }, required: ['people'] }
  mcp.asks = { method: 'elicitation/create', params: { message: 'How many people?', requestedSchema } }
  const owner = await app.createOrg()
  const begun = await app.call('POST', '/api/v1/connections', { as: owner, json: { connectorSlug: 'mcp' } })
  const { status } = await app.call('POST', `/api/v1/connections/${begun.body.data.connection.id}/credentials`, {
    as: owner,
    json: { credentials: { url: `${provider.url}/mcp` } },
  })
  assert.equal(status, 200)
  await createAgent(app, owner, { name: 'Helper', allowedConnectors: ['mcp'] })
  await trustAgent(app, owner, 'helper', 'mcp')
  const receiver = await startReceiver()
  const client = await connectClient(owner, { url: app.url })
  const task = asTask(await client.sendMessage(messageOf([text('/tool mcp__book {}')])))
  await untilStatus(app, owner, task.id, 'requires_action')
  const config = { tenant: '', id: '', taskId: task.id, url: receiver.url, token: '', authentication: undefined }
  await client.createTaskPushNotificationConfig(config)
  await until('the pause was notified', () => receiver.arrivals.length === 1)
  const list = await client.listTasks({
    tenant: '',
    contextId: task.contextId,
    status: 0,
    pageToken: '',
    statusTimestampAfter: '',
  })
  const notified = JSON.parse(String(receiver.arrivals[0]?.body)).task.status.message.parts[0].text as string
  const shown = [task, list.tasks[0]].map((one) => textOf(one?.status?.message?.parts))
  for (const note of [...shown, notified]) {
    assert.equal(
      note,
      `A person must answer a question of a tool: POST /api/v1/turns/${task.id}/approvals, or in the console.`,
    )
  }
})
