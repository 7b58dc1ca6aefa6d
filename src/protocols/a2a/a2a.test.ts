import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Part, SendMessageRequest, StreamResponse } from '@a2a-js/sdk'
import { callTools, hangAfter, held, rejectWith, reply, startFakeModel } from '../../../test/fakes/model.ts'
import { startTestApp } from '../../../test/harness.ts'
import type { TestActor } from '../../../test/harness.ts'
import {
  asTask,
  cancel,
  collect,
  connectClient,
  ended,
  get,
  lastState,
  messageOf,
  replyOf,
  stateOf,
  streamedText,
  text,
  textOf,
} from '../../../test/fakes/a2a-client.ts'
import { createAgent, openSession, until } from '../../../test/support/chat.ts'
import { sql } from '../../platform/database/database.ts'
import { newId } from '../../platform/ids.ts'

const model = await startFakeModel()
const app = await startTestApp(model.env)
const other = await app.secondServer()

/** The official client, with the revision that it takes from the card. */
const clientFor = (as: TestActor, options: { slug?: string; isOld?: boolean; url?: string } = {}) => ({
  client: connectClient(as, { url: app.url, ...options }),
})

const newPerson = async (json: object = {}): Promise<TestActor> => {
  const owner = await app.createOrg()
  await createAgent(app, owner, { name: 'Helper', model: 'fake/m1', description: 'Helps.', ...json })
  return owner
}

/** One JSON-RPC request without the client. */
const rpc = (as: TestActor | undefined, body: unknown, headers: Record<string, string> = {}) =>
  app.call('POST', '/a2a/helper', { ...(as ? { as } : {}), json: body, headers: { 'a2a-version': '1.0', ...headers } })
const request = (method: string, params: object) => ({ jsonrpc: '2.0', id: 7, method, params })

for (const isOld of [false, true]) {
  describe(`the official client with the revision ${isOld ? '0.3' : '1.0'}`, () => {
    test('finds an agent by its card, sends a message and gets the reply as the artifact of a completed task', async () => {
      const owner = await newPerson()
      model.play(reply(['Hello', ' there.']))
      const client = await clientFor(owner, { isOld }).client
      assert.equal(client.protocolVersion.slice(0, 3), isOld ? '0.3' : '1.0')
      const task = asTask(await client.sendMessage(messageOf([text('Say hello.')])))
      assert.deepEqual([task.status?.state, replyOf(task)], [ended.completed, 'Hello there.'])
      assert.equal(textOf(task.history[0]?.parts), 'Say hello.')
      const turn = await app.call('GET', `/api/v1/turns/${task.id}`, { as: owner })
      assert.deepEqual([turn.body.data.status, turn.body.data.sessionId], ['completed', task.contextId])
    })

    test('continues a conversation by its context', async () => {
      const owner = await newPerson()
      model.play(reply(['One.']), reply(['Two.']))
      const client = await clientFor(owner, { isOld }).client
      const first = asTask(await client.sendMessage(messageOf([text('First')])))
      const second = asTask(await client.sendMessage(messageOf([text('Second')], { contextId: first.contextId })))
      assert.deepEqual([second.contextId, replyOf(second)], [first.contextId, 'Two.'])
      assert.notEqual(second.id, first.id)
      assert.deepEqual(
        model.requests[1]?.messages.filter(({ role }) => role !== 'system').map(({ role }) => role),
        ['user', 'assistant', 'user'],
      )
    })

    test('gets the reply in pieces while it is written', async () => {
      const owner = await newPerson()
      model.play(reply(['Hello', ' there.', ' How are you?']))
      const client = await clientFor(owner, { isOld }).client
      const updates = await collect(client.sendMessageStream(messageOf([text('Hi')])))
      assert.equal(updates[0]?.payload?.$case, 'task')
      assert.deepEqual([streamedText(updates), lastState(updates)], ['Hello there. How are you?', ended.completed])
      const pieces = updates.flatMap(({ payload }) => (payload?.$case === 'artifactUpdate' ? [payload.value] : []))
      assert.deepEqual(
        pieces.map(({ append, lastChunk }) => [append, lastChunk]),
        pieces.map((_, at) => [at > 0, at === pieces.length - 1]),
      )
    })

    test('reads a task, cancels it, and subscribes to it at another process', async () => {
      const owner = await newPerson()
      model.play(hangAfter(['Beginning']))
      const { client: opening } = clientFor(owner, { isOld })
      const client = await opening
      const sent = { ...messageOf([text('Hi')]) }
      const stream = client.sendMessageStream(sent)
      const first = (await stream.next()).value?.payload
      assert.ok(first?.$case === 'task')
      const { id } = first.value
      const elsewhere = await clientFor(owner, { isOld, url: other.url }).client
      const subscribed = elsewhere.resubscribeTask({ tenant: '', id })
      const seen: StreamResponse[] = []
      for await (const update of subscribed) {
        seen.push(update)
        if (streamedText(seen) === 'Beginning') break
      }
      assert.equal((await client.getTask(get(id, 0))).history.length, 0)
      const cancelled = await client.cancelTask(cancel(id))
      assert.equal(cancelled.status?.state, ended.canceled)
      assert.equal(lastState(await collect(stream)), ended.canceled)
      await assert.rejects(client.cancelTask(cancel(id)), /ended/)
      await assert.rejects(collect(client.resubscribeTask({ tenant: '', id })), /ended/)
    })

    test('gets the error of the model as the status of a failed task', async () => {
      const owner = await newPerson()
      model.play(rejectWith(400))
      const client = await clientFor(owner, { isOld }).client
      const task = asTask(await client.sendMessage(messageOf([text('Hi')])))
      assert.equal(task.status?.state, ended.failed)
      assert.match(textOf(task.status?.message?.parts), /rejected/)
      assert.ok(!JSON.stringify(task).includes('planted'))
    })
  })
}

describe('a message of the A2A protocol', () => {
  test('that is sent again starts no second turn and returns the same task, also at the same time', async () => {
    const owner = await newPerson()
    model.play(reply(['Once.']))
    const client = await clientFor(owner).client
    const message = messageOf([text('Hi')])
    const tasks = await Promise.all([1, 2, 3].map(async () => asTask(await client.sendMessage(message))))
    assert.equal(new Set(tasks.map(({ id }) => id)).size, 1)
    assert.deepEqual(tasks.map(replyOf), ['Once.', 'Once.', 'Once.'])
    assert.equal(model.requests.length, 1)
    const sessions = await app.call('GET', '/api/v1/sessions', { as: owner })
    assert.equal(sessions.body.data.items.length, 1)
  })

  test('that is sent again after its session was deleted is rejected in the same way by all methods', async () => {
    const owner = await newPerson()
    model.play(reply(['Once.']))
    const message = { messageId: 'sent-again', role: 'ROLE_USER', parts: [{ text: 'Hi' }] }
    const { body } = await rpc(owner, request('SendMessage', { message }))
    const { contextId } = body.result.task
    assert.equal((await app.call('DELETE', `/api/v1/sessions/${contextId}`, { as: owner })).status, 200)
    const configuration = { taskPushNotificationConfig: { url: 'http://1.1.1.1/' } }
    for (const params of [{ message }, { message, configuration }]) {
      for (const method of ['SendMessage', 'SendStreamingMessage']) {
        const again = await rpc(owner, request(method, params))
        const { code, message: text } = again.body.error
        assert.deepEqual([again.status, code], [200, -32_001], again.text)
        assert.match(text, /deleted with its session/)
      }
    }
    const configs = await app.db.rows(sql`select id from task_push_configs where org_id = ${owner.orgId}`)
    assert.deepEqual([configs, model.requests.length], [[], 1])
  })

  test('is returned at once as a task in progress when the client does not wait', async () => {
    const owner = await newPerson()
    const waiting = held(reply(['Later.']))
    model.play(waiting.script)
    const client = await clientFor(owner).client
    const configuration = {
      acceptedOutputModes: ['text/plain'],
      taskPushNotificationConfig: undefined,
      returnImmediately: true,
    }
    const task = asTask(await client.sendMessage({ ...messageOf([text('Hi')]), configuration }))
    assert.ok([1, 2].includes(task.status?.state ?? 0))
    waiting.release()
    await until(
      () => client.getTask(get(task.id)),
      (read) => stateOf(read) === ended.completed && replyOf(read) === 'Later.',
    )
  })

  test('may have data and files, which are stored as files of the person', async () => {
    const owner = await newPerson()
    model.play(reply(['Read.']))
    const client = await clientFor(owner).client
    const file: Part = {
      content: { $case: 'raw', value: Buffer.from('The key is 42.') },
      metadata: undefined,
      filename: 'key.txt',
      mediaType: 'text/plain',
    }
    const data: Part = {
      content: { $case: 'data', value: { answer: 43 } },
      metadata: undefined,
      filename: '',
      mediaType: '',
    }
    await client.sendMessage(messageOf([text('Read these.'), data, file]))
    const sent = JSON.stringify(model.requests[0]?.messages)
    assert.match(sent, /```json/)
    assert.match(sent, /answer/)
    assert.match(sent, /key\.txt/)
    const root = await app.call('GET', '/api/v1/files', { as: owner })
    const [folder] = root.body.data.items
    assert.equal(folder.name, 'Chat attachments')
    const files = await app.call('GET', `/api/v1/files?parentId=${folder.id}`, { as: owner })
    assert.deepEqual(
      files.body.data.items.map(({ name, size }: { name: string; size: number }) => [name, size]),
      [['key.txt', 14]],
    )
  })

  test('is rejected with a URL, without content, for a task, for notifications to a private address and for other outputs', async () => {
    const owner = await newPerson()
    model.play(reply(['Hello.']))
    const client = await clientFor(owner).client
    const done = asTask(await client.sendMessage(messageOf([text('Hi')])))
    const stranger = await app.createOrg()
    const strange = await openSession(app, stranger)
    const url: Part = { ...text(''), content: { $case: 'url', value: 'http://169.254.169.254/' } }
    const configuration = { acceptedOutputModes: [], taskPushNotificationConfig: undefined, returnImmediately: false }
    const push = { tenant: '', id: '', taskId: '', url: 'http://127.0.0.1/', token: '', authentication: undefined }
    const rejected: [SendMessageRequest, number][] = [
      [messageOf([url]), -32_005],
      [messageOf([]), -32_602],
      [messageOf([text(' ')]), -32_602],
      [messageOf([text('Hi')], { role: 2 }), -32_602],
      [messageOf([text('Hi')], { messageId: '' }), -32_602],
      [messageOf([text('Hi')], { taskId: done.id }), -32_004],
      [messageOf([text('Hi')], { taskId: 'x' }), -32_001],
      [messageOf([text('Hi')], { contextId: 'x' }), -32_602],
      [messageOf([text('Hi')], { contextId: strange.id }), -32_602],
      [messageOf([text('Hi')], { taskId: '01a1fc7d-9b47-7384-a5f6-84444f80a265' }), -32_001],
      [{ ...messageOf([text('Hi')]), configuration: { ...configuration, taskPushNotificationConfig: push } }, -32_602],
      [
        { ...messageOf([text('Hi')]), configuration: { ...configuration, acceptedOutputModes: ['audio/wav'] } },
        -32_005,
      ],
    ]
    for (const [params, code] of rejected) {
      const error = await client.sendMessage(params).then(
        () => undefined,
        (thrown: unknown) => thrown as { envelopeCode?: number; message: string },
      )
      assert.equal(error?.envelopeCode, code, JSON.stringify([params, error?.message]))
    }
    assert.equal(model.requests.length, 1)
  })

  test('of a stranger, of another org or with too few permissions starts nothing', async () => {
    const owner = await newPerson()
    model.play(reply(['Hello.']))
    const send = request('SendMessage', { message: { messageId: 'x', role: 'ROLE_USER', parts: [{ text: 'Hi' }] } })
    const stranger = await app.createOrg()
    const reader = await app.createUser(owner, 'member', { scopes: ['sessions:read', 'agents:read'] })
    assert.equal((await rpc(undefined, send)).status, 401)
    assert.equal((await rpc(stranger, send)).status, 404)
    const forbidden = await rpc(reader, send)
    assert.deepEqual([forbidden.status, forbidden.body.error.code, forbidden.body.id], [403, -403, 7])
    const streamed = await rpc(reader, { ...send, method: 'SendStreamingMessage' })
    assert.deepEqual([streamed.status, streamed.body.error.code], [403, -403])
    assert.equal(model.requests.length, 0)
  })

  test('continues the count of messages between agents of several orgs, and is rejected after five', async () => {
    const owner = await newPerson()
    model.play(reply(['Hello.']))
    const sendAfter = async (hops: string) => {
      const message = { messageId: newId(), role: 'ROLE_USER', parts: [{ text: 'Hi' }] }
      return (await rpc(owner, request('SendMessage', { message }), { 'x-atrium-hops': hops })).body
    }
    assert.match((await sendAfter('6')).error.message, /at most 5 agents deep/)
    const { result } = await sendAfter('4')
    const turn = await app.db.row(sql`
      select event_depth from turns where org_id = ${owner.orgId} and id = ${result.task.id}`)
    assert.deepEqual(turn, { eventDepth: 4 })
  })

  test('does not reach an inactive agent', async () => {
    const owner = await app.createOrg()
    const agent = await createAgent(app, owner, { name: 'Helper' })
    await app.call('PATCH', `/api/v1/agents/${agent.id}`, { as: owner, json: { isActive: false } })
    const send = request('SendMessage', { message: { messageId: 'x', role: 'ROLE_USER', parts: [{ text: 'Hi' }] } })
    assert.equal((await rpc(owner, send)).status, 404)
    assert.equal((await app.call('GET', '/a2a/helper/.well-known/agent-card.json', { as: owner })).status, 404)
  })
})

describe('a task', () => {
  test('of another person, or of another agent, does not exist', async () => {
    const owner = await newPerson()
    model.play(reply(['Hello.']))
    const task = asTask(await (await clientFor(owner).client).sendMessage(messageOf([text('Hi')])))
    const colleague = await app.createUser(owner, 'admin')
    await createAgent(app, owner, { name: 'Second', model: 'fake/m1' })
    const other = await clientFor(owner, { slug: 'second' }).client
    const theirs = await clientFor(colleague).client
    for (const client of [theirs, other]) {
      await assert.rejects(client.getTask(get(task.id)), /not found/i)
      await assert.rejects(client.cancelTask(cancel(task.id)), /not found/i)
      await assert.rejects(collect(client.resubscribeTask({ tenant: '', id: task.id })), /not found/i)
    }
  })

  test('streams no further and ends with an error when the key of its person is revoked', async () => {
    const owner = await newPerson()
    const colleague = await app.createUser(owner, 'member')
    model.play(hangAfter(['Beginning']))
    const stream = (await clientFor(colleague).client).sendMessageStream(messageOf([text('Hi')]))
    const seen: StreamResponse[] = []
    while (streamedText(seen) !== 'Beginning') seen.push((await stream.next()).value as StreamResponse)
    const path = `/api/v1/api-keys/${colleague.apiKeyId}`
    const revoked = await app.call('DELETE', path, { as: owner, headers: await app.stepUp(owner) })
    assert.equal(revoked.status, 200, revoked.text)
    await assert.rejects(collect(stream), /revoked|API key/)
  })

  test('that waits for a person is not authorized, and the stream ends', async () => {
    const owner = await newPerson({ allowedTools: ['files.write'], settings: { approvals: ['files.write'] } })
    model.play(callTools({ id: 'w1', name: 'files_write', args: '{"name":"a.txt","text":"a"}' }), reply(['Done.']))
    const client = await clientFor(owner).client
    const updates = await collect(client.sendMessageStream(messageOf([text('Write')])))
    assert.equal(lastState(updates), ended.authRequired)
    assert.match(JSON.stringify(updates.at(-1)), /approvals/)
  })
})

describe('the endpoint', () => {
  test('shows the card only to callers who may read agents, with its own URL', async () => {
    const owner = await newPerson()
    const path = '/a2a/helper/.well-known/agent-card.json'
    const card = await app.call('GET', path, { as: owner })
    assert.deepEqual([card.status, card.body.name, card.body.description], [200, 'Helper', 'Helps.'])
    assert.equal(card.body.url, `${app.url}/a2a/helper`)
    assert.equal((await app.call('GET', path)).status, 401)
    assert.equal((await app.call('GET', path, { as: await app.createOrg() })).status, 404)
  })

  test('answers garbage with an error of JSON-RPC and never with a failure of the server', async () => {
    const owner = await newPerson()
    const nested = JSON.parse(`${'['.repeat(50)}${']'.repeat(50)}`) as unknown
    for (const version of ['1.0', '0.3']) {
      for (const body of [
        {},
        { jsonrpc: '2.0' },
        { jsonrpc: '2.0', id: {}, method: 'SendMessage' },
        request('Nothing', {}),
        request('SendMessage', {}),
        request('message/send', {}),
        request('message/send', { message: 5 }),
        request('message/send', { message: { parts: 'x' } }),
        request('message/send', { message: { messageId: 'x', role: 'user', kind: 'message', parts: [null, 5, {}] } }),
        request('message/send', {
          message: { messageId: 'x', role: 'user', kind: 'message', parts: [{ kind: 'file' }] },
        }),
        request('SendMessage', { message: { messageId: 'x', role: 'ROLE_USER', parts: [null] } }),
        request('SendMessage', { message: { messageId: 5, role: [], parts: [{ raw: 5 }] } }),
        request('SendStreamingMessage', { message: nested }),
        request('message/stream', { message: nested }),
        request('GetTask', { id: 5 }),
        request('GetTask', { id: '../..' }),
        request('tasks/get', { id: null }),
        request('tasks/get', {}),
        request('ListTasks', {}),
        request('ListTasks', { contextId: 'x', pageSize: 0 }),
        request('ListTasks', { contextId: 'x', pageSize: 'x' }),
        request('ListTasks', { contextId: 'x', pageToken: 'x' }),
        request('ListTasks', { contextId: 'x', status: 'x' }),
        request('ListTasks', { contextId: 'x', statusTimestampAfter: 'x' }),
        request('CreateTaskPushNotificationConfig', { url: 'http://127.0.0.1' }),
        request('tasks/pushNotificationConfig/set', {
          taskId: 'x',
          pushNotificationConfig: { url: 'http://127.0.0.1' },
        }),
        request('tasks/pushNotificationConfig/set', {}),
        request('tasks/pushNotificationConfig/set', {
          taskId: 'x',
          pushNotificationConfig: { url: 5, id: {}, token: [], authentication: { schemes: ['Basic', 'planted'] } },
        }),
        request('tasks/pushNotificationConfig/get', { id: 'x', pushNotificationConfigId: 5 }),
        request('tasks/pushNotificationConfig/list', {}),
        request('tasks/pushNotificationConfig/delete', { id: 'x' }),
        request('DeleteTaskPushNotificationConfig', { taskId: 'x', id: nested }),
        request('message/send', {
          message: { messageId: 'p', role: 'user', kind: 'message', parts: [{ kind: 'text', text: 'Hi' }] },
          configuration: { pushNotificationConfig: { url: { a: 1 }, authentication: { schemes: 'Bearer' } } },
        }),
        request('GetExtendedAgentCard', {}),
        request('agent/getAuthenticatedExtendedCard', {}),
        [],
        'x',
        5,
      ]) {
        const { status, body: answer, text } = await rpc(owner, body, { 'a2a-version': version })
        assert.ok(status === 200 || status === 400, `${status} ${JSON.stringify(body)} ${text}`)
        assert.equal(answer.jsonrpc, '2.0', text)
        assert.ok(Number.isInteger(answer.error?.code), `${JSON.stringify(body)} ${text}`)
        assert.notEqual(answer.error.code, -32_603, `${version} ${JSON.stringify(body)} ${text}`)
      }
    }
    assert.deepEqual(
      app.logLines.filter((line) => line.includes('"level":50')),
      [],
    )
  })

  test('rejects other revisions by name, and reads an empty one as 0.3', async () => {
    const owner = await newPerson()
    const { body } = await rpc(owner, request('GetTask', { id: 'x' }), { 'a2a-version': '2.0' })
    assert.equal(body.error.code, -32_009)
    const empty = await rpc(owner, request('tasks/get', { id: 'x' }), { 'a2a-version': '' })
    assert.equal(empty.body.error.code, -32_001)
  })
})
