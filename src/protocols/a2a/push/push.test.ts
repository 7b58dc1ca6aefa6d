import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { SendMessageRequest, TaskPushNotificationConfig } from '@a2a-js/sdk'
import { callTools, hangAfter, held, rejectWith, reply, startFakeModel } from '../../../../test/fakes/model.ts'
import { startReceiver } from '../../../../test/fakes/receiver.ts'
import type { Arrival, Receiver } from '../../../../test/fakes/receiver.ts'
import { startTestApp } from '../../../../test/harness.ts'
import type { TestActor } from '../../../../test/harness.ts'
import { asTask, cancel, connectClient, messageOf, text } from '../../../../test/fakes/a2a-client.ts'
import { createAgent, until } from '../../../../test/support/chat.ts'
import { openLoopback } from '../../../../test/support/webhooks.ts'
import { sql } from '../../../platform/database/database.ts'
import { expireConfigs } from './expiry.ts'
import { pushSecretColumn } from './secrets.ts'

const model = await startFakeModel()
const env = { ...model.env, ...openLoopback, WEBHOOK_RETRY_SCHEDULE_SECONDS: '0,86400' }
const app = await startTestApp(env)
const other = await app.secondServer(env)
const closed = await app.secondServer(model.env)
/** Delivers to public addresses only, but `strictOpen` on the same database accepts others. */
const strict = await startTestApp(model.env)
const strictOpen = await strict.secondServer(env, { work: false })

const token = 'planted-token-4711'
const credentials = 'planted-credentials-4712'

const configOf = (url: string, more: Partial<TaskPushNotificationConfig> = {}): TaskPushNotificationConfig => ({
  tenant: '',
  id: '',
  taskId: '',
  url,
  token,
  authentication: { scheme: 'Bearer', credentials },
  ...more,
})

/** A message whose task notifies a URL. The request returns at once, as that of a client that is not connected later. */
const messageTo = (url: string, more: Partial<TaskPushNotificationConfig> = {}): SendMessageRequest => ({
  ...messageOf([text('Hi')]),
  configuration: {
    acceptedOutputModes: [],
    returnImmediately: true,
    taskPushNotificationConfig: configOf(url, more),
  },
})

const newPerson = async (json: object = {}): Promise<TestActor> => {
  const owner = await app.createOrg()
  await createAgent(app, owner, { name: 'Helper', model: 'fake/m1', ...json })
  return owner
}

/** A receiver that accepts nothing but authenticated notifications in JSON, as one of a careful client. */
const startStrictReceiver = async (): Promise<Receiver> => {
  const receiver = await startReceiver()
  receiver.answer = (response, { headers, body }) => {
    const isGenuine =
      headers['x-a2a-notification-token'] === token &&
      headers.authorization === `Bearer ${credentials}` &&
      /^application\/(a2a\+)?json/.test(headers['content-type'] ?? '') &&
      Number(headers['content-length']) === body.length
    response.writeHead(isGenuine ? 204 : 401).end()
  }
  return receiver
}

const untilArrivals = (receiver: Receiver, count: number): Promise<void> =>
  until(`${count} notifications have arrived`, () => receiver.arrivals.length >= count)

interface SeenTask {
  id: string
  contextId: string
  status: { state: string; timestamp: string; message?: object }
  artifacts?: { parts: { text?: string }[] }[]
}

/** The task of a notification: the body itself in 0.3, a field of it in 1.0. */
const taskOf = ({ body }: Arrival): SeenTask => {
  const parsed = JSON.parse(body.toString()) as SeenTask & { task?: SeenTask }
  return parsed.task ?? parsed
}
const statesOf = (receiver: Receiver): string[] =>
  receiver.arrivals.map((arrival) => taskOf(arrival).status.state.replace('TASK_STATE_', '').toLowerCase())

/** Approves the tool call for which a turn waits. */
const approve = async (as: TestActor, turnId: string): Promise<void> => {
  const turn = await app.call('GET', `/api/v1/turns/${turnId}`, { as })
  const [{ approvalId }] = turn.body.data.approvals
  const json = { approvalId, approved: true }
  const decided = await app.call('POST', `/api/v1/turns/${turnId}/approvals`, { as, json })
  assert.ok(decided.status < 300, decided.text)
}

const queued = (orgId: string) =>
  app.db.rows<{ attemptCount: number }>(sql`select attempt_count from webhook_queue where org_id = ${orgId}`)

const failureOf = async (work: Promise<unknown>): Promise<{ envelopeCode?: number; message: string } | undefined> =>
  work.then(
    () => undefined,
    (error: unknown) => error as { envelopeCode?: number; message: string },
  )

for (const isOld of [false, true]) {
  describe(`push notifications of the revision ${isOld ? '0.3' : '1.0'}`, () => {
    test('have the completed task with its reply, and the token and the credentials of the message that started it', async () => {
      const owner = await newPerson()
      const receiver = await startStrictReceiver()
      model.play(reply(['Hello', ' there.']))
      const client = await connectClient(owner, { url: app.url, isOld })
      const { id } = asTask(await client.sendMessage(messageTo(receiver.url)))
      await untilArrivals(receiver, 1)
      await app.settled()
      assert.equal(receiver.arrivals.length, 1)
      const [arrival] = receiver.arrivals as [Arrival]
      const body = JSON.parse(arrival.body.toString())
      const task = taskOf(arrival)
      assert.deepEqual(
        [task.id, task.artifacts?.map(({ parts }) => parts.map((part) => part.text).join(''))],
        [id, ['Hello there.']],
      )
      if (isOld) assert.deepEqual([body.kind, body.status.state, 'task' in body], ['task', 'completed', false])
      else assert.deepEqual([Object.keys(body), body.task.status.state], [['task'], 'TASK_STATE_COMPLETED'])
      assert.equal(arrival.headers['content-type'], isOld ? 'application/json' : 'application/a2a+json')
      assert.equal(arrival.headers['x-a2a-notification-token'], token)
      assert.equal(arrival.headers.authorization, `Bearer ${credentials}`)
    })

    test('report failed and cancelled tasks, and a pause before the end that follows it', async () => {
      const owner = await newPerson({ allowedTools: ['files.write'], settings: { approvals: ['files.write'] } })
      const client = await connectClient(owner, { url: app.url, isOld })
      const [failing, cancelled, paused] = [
        await startStrictReceiver(),
        await startStrictReceiver(),
        await startStrictReceiver(),
      ]
      model.play(rejectWith(400))
      await client.sendMessage(messageTo(failing.url))
      await untilArrivals(failing, 1)
      model.play(hangAfter(['Beginning']))
      const running = asTask(await client.sendMessage(messageTo(cancelled.url)))
      await client.cancelTask(cancel(running.id))
      await untilArrivals(cancelled, 1)
      model.play(callTools({ id: 'w1', name: 'files_write', args: '{"name":"a.txt","text":"a"}' }), reply(['Done.']))
      const waiting = asTask(await client.sendMessage(messageTo(paused.url)))
      await untilArrivals(paused, 1)
      await approve(owner, waiting.id)
      await untilArrivals(paused, 2)
      await app.settled()
      assert.deepEqual(
        [statesOf(failing), statesOf(cancelled), statesOf(paused)],
        [['failed'], ['canceled'], isOld ? ['auth-required', 'completed'] : ['auth_required', 'completed']],
      )
    })

    test('are configured, read, listed and deleted by the official client, without the secrets', async () => {
      const owner = await newPerson()
      const receiver = await startStrictReceiver()
      const waiting = held(reply(['Later.']))
      model.play(waiting.script)
      const client = await connectClient(owner, { url: app.url, isOld })
      const configuration = { acceptedOutputModes: [], returnImmediately: true, taskPushNotificationConfig: undefined }
      const { id: taskId } = asTask(await client.sendMessage({ ...messageOf([text('Hi')]), configuration }))
      const set = (id: string) => client.createTaskPushNotificationConfig(configOf(receiver.url, { taskId, id }))
      const [first, second] = [await set(''), await set('second')]
      assert.deepEqual([first.id, first.taskId, first.url], [taskId, taskId, receiver.url])
      assert.equal(second.authentication?.scheme, 'Bearer')
      const read = await client.getTaskPushNotificationConfig({ tenant: '', taskId, id: 'second' })
      const list = () => client.listTaskPushNotificationConfig({ tenant: '', taskId, pageSize: 0, pageToken: '' })
      const { configs } = await list()
      assert.deepEqual([read.id, configs.map(({ id }) => id)], ['second', [taskId, 'second']])
      for (const shown of [first, second, read, configs]) assert.ok(!JSON.stringify(shown).includes('planted'))
      await client.deleteTaskPushNotificationConfig({ tenant: '', taskId, id: taskId })
      await client.deleteTaskPushNotificationConfig({ tenant: '', taskId, id: taskId })
      assert.deepEqual(
        (await list()).configs.map(({ id }) => id),
        ['second'],
      )
      const gone = await failureOf(client.getTaskPushNotificationConfig({ tenant: '', taskId, id: taskId }))
      assert.equal(gone?.envelopeCode, -32_001)
      waiting.release()
      await untilArrivals(receiver, 1)
      await app.settled()
      assert.deepEqual(statesOf(receiver), ['completed'])
    })
  })
}

describe('a push notification', () => {
  test('is sent at once when the task had ended before it was configured, also at another process', async () => {
    const owner = await newPerson()
    const receiver = await startStrictReceiver()
    model.play(reply(['Hello.']))
    const task = asTask(await (await connectClient(owner, { url: app.url })).sendMessage(messageOf([text('Hi')])))
    const elsewhere = await connectClient(owner, { url: other.url })
    await elsewhere.createTaskPushNotificationConfig(configOf(receiver.url, { taskId: task.id }))
    await untilArrivals(receiver, 1)
    await app.settled()
    assert.deepEqual(statesOf(receiver), ['completed'])
  })

  test('is not lost when the task ends while it is configured', async () => {
    const owner = await newPerson()
    const client = await connectClient(owner, { url: app.url })
    for (let round = 0; round < 8; round += 1) {
      const receiver = await startStrictReceiver()
      const waiting = held(reply(['Hello.']))
      model.play(waiting.script)
      const message = messageTo(receiver.url)
      const configuration = { acceptedOutputModes: [], returnImmediately: true, taskPushNotificationConfig: undefined }
      const { id: taskId } = asTask(await client.sendMessage({ ...message, configuration }))
      await waiting.asked
      waiting.release()
      await client.createTaskPushNotificationConfig(configOf(receiver.url, { taskId }))
      await untilArrivals(receiver, 1)
      assert.deepEqual(new Set(statesOf(receiver)), new Set(['completed']))
    }
  })

  test('is sent again to a receiver that has failed, with the same body', async () => {
    const owner = await newPerson()
    const receiver = await startReceiver()
    receiver.answer = (response) => response.writeHead(receiver.arrivals.length < 2 ? 500 : 200).end()
    model.play(reply(['Hello.']))
    await (await connectClient(owner, { url: app.url })).sendMessage(messageTo(receiver.url))
    await untilArrivals(receiver, 2)
    await app.settled()
    const [first, second] = receiver.arrivals as [Arrival, Arrival]
    assert.equal(second.body.equals(first.body), true)
    assert.deepEqual([receiver.arrivals.length, await queued(owner.orgId)], [2, []])
  })

  test('of a pause that is over reports the pause with its own time, not the end', async () => {
    const owner = await newPerson({ allowedTools: ['files.write'], settings: { approvals: ['files.write'] } })
    const receiver = await startReceiver()
    // The pause cannot be delivered before the next attempt, which the test makes due.
    receiver.answer = (response) => response.writeHead(receiver.arrivals.length < 3 ? 500 : 200).end()
    model.play(callTools({ id: 'w1', name: 'files_write', args: '{"name":"a.txt","text":"a"}' }), reply(['Done.']))
    const client = await connectClient(owner, { url: app.url })
    const task = asTask(await client.sendMessage(messageTo(receiver.url)))
    const isWaiting = async () => (await queued(owner.orgId))[0]?.attemptCount === 2
    await until('the pause waits for its next attempt', isWaiting)
    await approve(owner, task.id)
    await untilArrivals(receiver, 3)
    await app.db.execute(sql`update webhook_queue set due_at = now() where org_id = ${owner.orgId}`)
    await untilArrivals(receiver, 4)
    assert.deepEqual(statesOf(receiver), ['auth_required', 'auth_required', 'completed', 'auth_required'])
    const times = receiver.arrivals.map((arrival) => Date.parse(taskOf(arrival).status.timestamp))
    assert.ok(times[3]! < times[2]!, times.join())
  })

  test('is sent once for a message that is sent again, to the URL of the last one', async () => {
    const owner = await newPerson()
    const [first, last] = [await startStrictReceiver(), await startStrictReceiver()]
    const waiting = held(reply(['Once.']))
    model.play(waiting.script)
    const client = await connectClient(owner, { url: app.url })
    const message = messageTo(first.url)
    const again = { ...messageTo(last.url), message: message.message }
    const one = asTask(await client.sendMessage(message))
    const two = asTask(await client.sendMessage(again))
    assert.equal(two.id, one.id)
    waiting.release()
    await untilArrivals(last, 1)
    await app.settled()
    assert.deepEqual([first.arrivals.length, last.arrivals.length], [0, 1])
  })

  test('of a task that is too large has its state without the reply', async () => {
    const owner = await newPerson()
    const receiver = await startStrictReceiver()
    model.play(reply(Array.from({ length: 9 }, () => '€'.repeat(100_000))))
    await (await connectClient(owner, { url: app.url })).sendMessage(messageTo(receiver.url))
    await untilArrivals(receiver, 1)
    const [arrival] = receiver.arrivals as [Arrival]
    const { status, artifacts } = taskOf(arrival)
    assert.deepEqual([status.state, artifacts], ['TASK_STATE_COMPLETED', undefined])
  })

  test('has the chain of its event, so that a receiver that calls back ends in the loop guard', async () => {
    const owner = await newPerson()
    const receiver = await startStrictReceiver()
    model.play(reply(['Hello.']))
    await (await connectClient(owner, { url: app.url })).sendMessage(messageTo(receiver.url))
    await untilArrivals(receiver, 1)
    const header = String(receiver.arrivals[0]?.headers['atrium-event-chain'])
    assert.equal(app.deps.chains.parse(owner.orgId, header)?.depth, 1)
  })
})

describe('the rights of the person who configured a push notification', () => {
  /** A task of `by` whose end was sent twice to a receiver that fails, and waits for its last attempt. */
  const failTwice = async (owner: TestActor, by: TestActor) => {
    const receiver = await startReceiver()
    receiver.answer = (response) => response.writeHead(500).end()
    model.play(reply(['Hello.']))
    const task = asTask(await (await connectClient(by, { url: app.url })).sendMessage(messageTo(receiver.url)))
    await untilArrivals(receiver, 2)
    await app.settled()
    assert.equal((await queued(owner.orgId)).length, 1)
    return { receiver, task }
  }

  /** Makes the last attempt due. */
  const untilGivenUp = async ({ orgId }: TestActor): Promise<void> => {
    await app.db.execute(sql`update webhook_queue set due_at = now() where org_id = ${orgId}`)
    await until('the notification was given up', async () => (await queued(orgId)).length === 0)
  }

  const revokeKey = async (owner: TestActor, of: TestActor): Promise<void> => {
    const path = `/api/v1/api-keys/${of.apiKeyId}`
    const revoked = await app.call('DELETE', path, { as: owner, headers: await app.stepUp(owner) })
    assert.equal(revoked.status, 200, revoked.text)
  }

  test('are checked at each delivery: after their key was revoked, nothing is sent', async () => {
    const owner = await newPerson()
    const colleague = await app.createUser(owner, 'member')
    const { receiver } = await failTwice(owner, colleague)
    await revokeKey(owner, colleague)
    await untilGivenUp(owner)
    assert.equal(receiver.arrivals.length, 2)
  })

  test('are those of their key at the end of the task, whoever of the org ended it', async () => {
    const owner = await newPerson()
    const colleague = await app.createUser(owner, 'member')
    const receiver = await startReceiver()
    model.play(hangAfter(['Beginning']))
    const { id } = asTask(await (await connectClient(colleague, { url: app.url })).sendMessage(messageTo(receiver.url)))
    await revokeKey(owner, colleague)
    await until(
      async () => (await app.call('GET', `/api/v1/turns/${id}`, { as: owner })).body.data.status,
      (status) => status === 'failed' || status === 'cancelled',
    )
    await until('the end was published', async () => {
      const rows = await app.db.rows(sql`
        select id from task_push_configs where org_id = ${owner.orgId} and ended_at is not null`)
      return rows.length === 1
    })
    await app.settled()
    assert.deepEqual(receiver.arrivals, [])
  })

  test('end with the session: nothing is sent about a task of a deleted session', async () => {
    const owner = await newPerson()
    const { receiver, task } = await failTwice(owner, owner)
    const deleted = await app.call('DELETE', `/api/v1/sessions/${task.contextId}`, { as: owner })
    assert.equal(deleted.status, 200, deleted.text)
    await untilGivenUp(owner)
    assert.equal(receiver.arrivals.length, 2)
  })

  test('end with their membership of the workspace', async () => {
    const owner = await newPerson()
    const colleague = await app.createUser(owner, 'member')
    const { receiver } = await failTwice(owner, colleague)
    await app.db.execute(sql`
      delete from workspace_members where org_id = ${owner.orgId} and user_id = ${colleague.userId}`)
    await untilGivenUp(owner)
    assert.equal(receiver.arrivals.length, 2)
  })
})

describe('a push notification configuration', () => {
  test('of a task of another person or org does not exist, and cannot be added to it', async () => {
    const owner = await newPerson()
    const receiver = await startStrictReceiver()
    const waiting = held(reply(['Hello.']))
    model.play(waiting.script)
    const task = asTask(await (await connectClient(owner, { url: app.url })).sendMessage(messageTo(receiver.url)))
    const theirs = await startReceiver()
    const colleague = await app.createUser(owner, 'admin')
    for (const stranger of [colleague, await newPerson()]) {
      const client = await connectClient(stranger, { url: app.url })
      const asked = { tenant: '', taskId: task.id, id: task.id }
      for (const work of [
        () => client.createTaskPushNotificationConfig(configOf(theirs.url, { taskId: task.id })),
        () => client.getTaskPushNotificationConfig(asked),
        () => client.listTaskPushNotificationConfig({ ...asked, pageSize: 0, pageToken: '' }),
        () => client.deleteTaskPushNotificationConfig(asked),
      ]) {
        assert.equal((await failureOf(work()))?.envelopeCode, -32_001)
      }
    }
    waiting.release()
    await untilArrivals(receiver, 1)
    await app.settled()
    assert.deepEqual([receiver.arrivals.length, theirs.arrivals.length], [1, 0])
  })

  test('with a private address is rejected, and starts no task, when the server does not allow it', async () => {
    const owner = await newPerson()
    const receiver = await startReceiver()
    model.play(reply(['Hello.']))
    for (const isOld of [false, true]) {
      const client = await connectClient(owner, { url: closed.url, isOld })
      for (const url of [
        receiver.url,
        'http://169.254.169.254/latest',
        'http://localhost/',
        'file:///etc/passwd',
        '',
      ]) {
        const error = await failureOf(client.sendMessage(messageTo(url)))
        assert.equal(error?.envelopeCode, -32_602, `${url} ${error?.message}`)
      }
    }
    assert.deepEqual([model.requests.length, receiver.arrivals.length], [0, 0])
  })

  test('that was accepted under another setting is not delivered to a private address', async () => {
    const owner = await strict.createOrg()
    await createAgent(strict, owner, { name: 'Helper', model: 'fake/m1' })
    const receiver = await startReceiver()
    model.play(reply(['Hello.']))
    await (await connectClient(owner, { url: strictOpen.url })).sendMessage(messageTo(receiver.url))
    const failed = () =>
      strict.db.rows<{ error: string }>(sql`select error from webhook_deliveries where org_id = ${owner.orgId}`)
    const [delivery] = await until(failed, (rows) => rows.length > 0)
    assert.match(String(delivery?.error), /not on the public Internet/)
    assert.deepEqual(receiver.arrivals, [])
  })

  test('is limited: five of a task, and values that are headers', async () => {
    const owner = await newPerson()
    const receiver = await startReceiver()
    const waiting = held(reply(['Hello.']))
    model.play(waiting.script)
    const client = await connectClient(owner, { url: app.url })
    const { id: taskId } = asTask(await client.sendMessage(messageTo(receiver.url)))
    const set = (more: Partial<TaskPushNotificationConfig>) =>
      client.createTaskPushNotificationConfig(configOf(receiver.url, { taskId, ...more }))
    for (const id of ['2', '3', '4', '5']) await set({ id })
    await set({ id: '5' })
    for (const rejected of [
      { id: '6' },
      { id: 'x'.repeat(256) },
      { id: '2', token: 'a\r\nx-injected: 1' },
      { id: '2', token: 'ä' },
      { id: '2', authentication: { scheme: 'Bearer', credentials: 'a\nb' } },
      { id: '2', authentication: { scheme: 'Bea rer', credentials: 'a' } },
      { id: '2', authentication: { scheme: 'Bearer', credentials: '' } },
      { id: '2', url: `${receiver.url}${'x'.repeat(2_048)}` },
    ]) {
      assert.equal((await failureOf(set(rejected)))?.envelopeCode, -32_602, JSON.stringify(rejected))
    }
    waiting.release()
    await untilArrivals(receiver, 5)
    await app.settled()
    assert.equal(receiver.arrivals.length, 5)
  })

  test('is rejected when 10,000 others of the org wait for the end of their tasks, and starts no task', async () => {
    const owner = await newPerson()
    const receiver = await startReceiver()
    model.play(reply(['Hello.']))
    await app.db.execute(sql`
      insert into task_push_configs (org_id, id, turn_id, name, workspace_id, url, secret, revision, user_id, scopes)
      select ${owner.orgId}, gen_random_uuid(), gen_random_uuid(), 'x', ${owner.workspaceId}, 'x', 'x', '1.0',
        ${owner.userId}, '{}' from generate_series(1, 10000)`)
    const client = await connectClient(owner, { url: app.url })
    assert.equal((await failureOf(client.sendMessage(messageTo(receiver.url))))?.envelopeCode, -32_602)
    await app.db.execute(sql`update task_push_configs set ended_at = now() where org_id = ${owner.orgId}`)
    await client.sendMessage(messageTo(receiver.url))
    await untilArrivals(receiver, 1)
    assert.deepEqual([model.requests.length, receiver.arrivals.length], [1, 1])
  })

  test('of the revision 0.3 has one authentication scheme, in a message too', async () => {
    const owner = await newPerson()
    const pushNotificationConfig = {
      url: 'https://example.com/',
      authentication: { schemes: ['Bearer', 'Basic'], credentials: 'x' },
    }
    const message = { messageId: 'm', role: 'user', kind: 'message', parts: [{ kind: 'text', text: 'Hi' }] }
    for (const [method, params] of [
      ['tasks/pushNotificationConfig/set', { taskId: 'x', pushNotificationConfig }],
      ['message/send', { message, configuration: { pushNotificationConfig } }],
    ] as const) {
      const { body } = await app.call('POST', '/a2a/helper', {
        as: owner,
        json: { jsonrpc: '2.0', id: 1, method, params },
      })
      assert.equal(body.error.code, -32_602)
      assert.match(body.error.message, /one scheme/)
    }
  })

  test('needs sessions:write to be changed and sessions:read to be read', async () => {
    const owner = await newPerson()
    const reader = await app.createUser(owner, 'member', { scopes: ['sessions:read'] })
    const none = await app.createUser(owner, 'member', { scopes: ['agents:read'] })
    const codeOf = async (as: TestActor, method: string): Promise<number> => {
      const params = { taskId: '01a1fc7d-9b47-7384-a5f6-84444f80a265', id: 'x', url: 'http://127.0.0.1/' }
      const json = { jsonrpc: '2.0', id: 1, method, params }
      const { status, body } = await app.call('POST', '/a2a/helper', { as, json, headers: { 'a2a-version': '1.0' } })
      assert.equal(status, body.error.code === -403 ? 403 : 200)
      return body.error.code
    }
    const writes = ['CreateTaskPushNotificationConfig', 'DeleteTaskPushNotificationConfig']
    const reads = ['GetTaskPushNotificationConfig', 'ListTaskPushNotificationConfigs']
    for (const method of [...writes, ...reads]) assert.equal(await codeOf(none, method), -403, method)
    for (const method of writes) assert.equal(await codeOf(reader, method), -403, method)
    for (const method of reads) assert.equal(await codeOf(reader, method), -32_001, method)
  })

  test('stores its secrets encrypted, and is deleted days after the end of its task', async () => {
    const owner = await newPerson()
    const receiver = await startStrictReceiver()
    model.play(reply(['Hello.']))
    await (await connectClient(owner, { url: app.url })).sendMessage(messageTo(receiver.url))
    await untilArrivals(receiver, 1)
    await app.settled()
    const rows = () =>
      app.db.rows<{ id: string; secret: string; all: string }>(sql`
        select id, secret, task_push_configs::text as "all" from task_push_configs where org_id = ${owner.orgId}`)
    const [row] = await rows()
    assert.ok(row && !row.all.includes('planted'))
    const opened = app.deps.secrets.open(row.secret, pushSecretColumn.at(owner.orgId, row.id))
    assert.deepEqual(JSON.parse(opened), { token, authorization: `Bearer ${credentials}` })
    assert.ok(!app.logLines.join('\n').includes('planted'))
    const expire = async (): Promise<void> => {
      await app.db.transaction('all orgs', (db) => app.deps.jobs.enqueue(db, expireConfigs, {}))
      await app.settled()
    }
    await expire()
    assert.equal((await rows()).length, 1)
    await app.db.execute(sql`
      update task_push_configs set ended_at = now() - interval '8 days' where org_id = ${owner.orgId}`)
    await expire()
    assert.deepEqual(await rows(), [])
  })
})
