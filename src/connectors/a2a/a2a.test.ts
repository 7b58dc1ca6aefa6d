import assert from 'node:assert/strict'
import { beforeEach, describe, test } from 'node:test'
import sharp from 'sharp'
import { startA2aAgent, states, textPart } from '../../../test/fakes/a2a-agent.ts'
import { callTools, reply, startFakeModel } from '../../../test/fakes/model.ts'
import { startTestApp } from '../../../test/harness.ts'
import type { TestActor } from '../../../test/harness.ts'
import { trustAgent } from '../../../test/support/authority.ts'
import { ask, createAgent, openSession, say, until, untilStatus } from '../../../test/support/chat.ts'

const remote = await startA2aAgent()
const second = await startA2aAgent()
const token = 'planted-a2a-token'
const model = await startFakeModel()
const app = await startTestApp({ OUTBOUND_ALLOW_CIDRS: '127.0.0.0/8', ...model.env })
const guarded = await app.secondServer({}, { work: false })
const api = '/api/v1'

beforeEach(() => {
  remote.token = token
  remote.card = {}
  remote.seen.length = 0
  remote.onMessage = (work) => work.reply(`Sunny, says ${work.text}.`)
  remote.intercept = () => false
})

const begin = async (as: TestActor, label?: string): Promise<string> => {
  const json = { connectorSlug: 'a2a', ...(label === undefined ? {} : { label }) }
  return (await app.call('POST', `${api}/connections`, { as, json })).body.data.connection.id
}

const submit = (as: TestActor, id: string, credentials: object, server = app) =>
  server.call('POST', `${api}/connections/${id}/credentials`, { as, json: { credentials } })

const connect = async (as: TestActor, credentials: object = { url: remote.url, token }, label?: string) => {
  const id = await begin(as, label)
  const { status, body, text } = await submit(as, id, credentials)
  assert.equal(status, 200, text)
  assert.equal(body.data.status, 'active')
  return id
}

const agentFor = async (as: TestActor, json: object = {}): Promise<string> => {
  await createAgent(app, as, { name: 'Helper', allowedConnectors: ['a2a'], ...json })
  await trustAgent(app, as, 'helper', 'a2a')
  return (await openSession(app, as, { agentId: 'helper' })).id
}

/** Runs one tool in a turn of its own, by the demo model. */
const run = async (as: TestActor, sessionId: string, name: string, input: object) => {
  const { turn } = await ask(app, as, sessionId, { text: `/tool ${name} ${JSON.stringify(input)}` })
  return turn.toolCalls[0]
}

const newPerson = async (credentials?: object): Promise<{ owner: TestActor; session: string }> => {
  const owner = await app.createOrg()
  await connect(owner, credentials)
  return { owner, session: await agentFor(owner) }
}

const only = (revision: string) => ({
  supportedInterfaces: [
    { url: `${remote.url}/rpc`, protocolBinding: 'GRPC', protocolVersion: revision },
    { url: `${remote.url}/rpc`, protocolBinding: 'JSONRPC', protocolVersion: revision },
  ],
})

for (const revision of ['1.0', '0.3']) {
  describe(`a remote agent with the revision ${revision}`, () => {
    beforeEach(() => {
      remote.card = only(revision)
    })

    test('replies to a message of an agent directly', async () => {
      const { owner, session } = await newPerson()
      const { status, output } = await run(owner, session, 'a2a__send_message', { text: 'Bern' })
      assert.equal(status, 'done')
      assert.deepEqual([output.state, output.content], ['completed', [{ type: 'text', text: 'Sunny, says Bern.' }]])
      assert.deepEqual(
        [remote.seen[0]?.method, remote.seen[0]?.headers['a2a-version']],
        revision === '1.0' ? ['SendMessage', '1.0'] : ['message/send', undefined],
      )
    })

    test('works on a task while the agent waits, and returns its artifacts with data and pictures', async () => {
      const { owner, session } = await newPerson()
      const png = await sharp({ create: { width: 20, height: 10, channels: 3, background: '#f00' } })
        .png()
        .toBuffer()
      const { promise: mayEnd, resolve: end } = Promise.withResolvers<void>()
      remote.onMessage = async (work) => {
        work.publish(states.working)
        await mayEnd
        const part = (content: object, mediaType: string) => ({ ...textPart(''), content, mediaType }) as never
        work.artifact([
          textPart('12 degrees'),
          part({ $case: 'data', value: { degrees: 12 } }, 'application/json'),
          part({ $case: 'raw', value: png }, 'image/png'),
        ])
        work.publish(states.completed)
      }
      const running = run(owner, session, 'a2a__send_message', { text: 'Basel' })
      await until('the agent asks for the task', () => remote.seen.length > 1)
      end()
      const { status, output } = await running
      assert.deepEqual([status, output.state], ['done', 'completed'])
      const [words, data, picture] = output.content
      assert.deepEqual(
        [words, data],
        [
          { type: 'text', text: '12 degrees' },
          { type: 'data', data: { degrees: 12 } },
        ],
      )
      assert.deepEqual([picture.type, picture.mimeType, typeof picture.pictureId], ['image', 'image/png', 'string'])
      assert.match(remote.seen[1]?.method ?? '', /GetTask|tasks\/get/)
    })

    test('asks a question, and gets the reply in the same task', async () => {
      const { owner, session } = await newPerson()
      remote.onMessage = (work) => {
        if (work.text === 'Weather') work.publish(states.inputRequired, 'Where?')
        else work.publish(states.completed, `In ${work.text}: rain.`)
      }
      const first = (await run(owner, session, 'a2a__send_message', { text: 'Weather' })).output
      assert.deepEqual([first.state, first.content], ['input-required', [{ type: 'text', text: 'Where?' }]])
      assert.match(first.note, /asks a question/)
      const { taskId, contextId } = first
      const next = await openSession(app, owner, { agentId: 'helper' })
      const second = (await run(owner, next.id, 'a2a__send_message', { text: 'Chur', taskId, contextId })).output
      assert.deepEqual(
        [second.taskId, second.state, second.content],
        [taskId, 'completed', [{ type: 'text', text: 'In Chur: rain.' }]],
      )
    })

    test('has its task cancelled when the turn is cancelled', async () => {
      const { owner, session } = await newPerson()
      const { promise: abandoned } = Promise.withResolvers<void>()
      let taskId = ''
      remote.onMessage = async (work) => {
        taskId = work.taskId
        work.publish(states.working)
        await abandoned
      }
      const { body } = await say(app, owner, session, {
        text: '/tool a2a__send_message {"text":"Slow"}',
        background: true,
      })
      await until('the agent asks for the task', () => remote.seen.length > 1)
      await app.call('POST', `${api}/turns/${body.data.turn.id}/cancel`, { as: owner })
      await until('the remote task is cancelled', () => remote.cancelled.includes(taskId))
    })
  })
}

describe('connections of A2A agents', () => {
  test('list tools with the name, description and skills of the card', async () => {
    const owner = await app.createOrg()
    const id = await connect(owner)
    const { items } = (await app.call('GET', `${api}/connections/${id}/tools`, { as: owner })).body.data
    assert.deepEqual(
      items.map(({ name }: { name: string }) => name),
      ['a2a__send_message', 'a2a__get_task', 'a2a__cancel_task'],
    )
    assert.equal(
      items[0].description,
      'Sends a message to the remote agent Weather and returns its reply or its task. Knows the weather. Skills: Forecast: Says what comes.',
    )
  })

  test('accept the URL of the card itself and a key in another header', async () => {
    remote.token = undefined
    const keys: unknown[] = []
    remote.intercept = ({ headers }) => {
      keys.push([headers['x-api-key'], headers.authorization])
      return false
    }
    const { owner, session } = await newPerson({
      url: `${remote.url}/.well-known/agent-card.json`,
      headerName: 'X-API-Key',
      headerValue: 'planted-key',
    })
    assert.equal((await run(owner, session, 'a2a__send_message', { text: 'x' })).status, 'done')
    assert.deepEqual(keys, [
      ['planted-key', undefined],
      ['planted-key', undefined],
    ])
  })

  test('prefix the tools of several agents with the labels of their connections', async () => {
    second.card = { name: 'Trains' }
    const owner = await app.createOrg()
    await connect(owner, { url: remote.url, token }, 'Weather')
    await connect(owner, { url: second.url }, 'SBB trains')
    const session = await agentFor(owner)
    second.onMessage = (work) => work.reply('On time.')
    const { output } = await run(owner, session, 'a2a__sbb_trains__send_message', { text: 'Bern' })
    assert.deepEqual(output.content, [{ type: 'text', text: 'On time.' }])
    assert.equal(remote.seen.length, 0)
  })

  const rejected: [string, Record<string, unknown>, RegExp][] = [
    [
      'whose interface is at another origin, which would get the credentials',
      { supportedInterfaces: [{ url: second.url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }] },
      /another origin/,
    ],
    [
      'with gRPC only',
      { supportedInterfaces: [{ url: remote.url, protocolBinding: 'GRPC', protocolVersion: '1.0' }] },
      /no JSON-RPC interface/,
    ],
    [
      'with an unknown revision',
      { supportedInterfaces: [{ url: remote.url, protocolBinding: 'JSONRPC', protocolVersion: '2.0' }] },
      /no JSON-RPC interface/,
    ],
    ['without a name', { name: 7 }, /no agent card/],
  ]
  for (const [what, card, message] of rejected) {
    test(`reject a card ${what}, and store nothing`, async () => {
      remote.card = card
      const owner = await app.createOrg()
      const id = await begin(owner)
      const { status, body, text } = await submit(owner, id, { url: remote.url, token })
      assert.equal(status, 400, text)
      assert.match(body.error.message, message)
      assert.equal((await app.call('GET', `${api}/connections/${id}`, { as: owner })).body.data.status, 'pending')
    })
  }

  test('reject a wrong token, an address that is not public, and a URL without a card', async () => {
    const owner = await app.createOrg()
    const id = await begin(owner)
    assert.equal((await submit(owner, id, { url: remote.url, token: 'planted-wrong' })).status, 400)
    assert.equal((await submit(owner, id, { url: remote.url, token }, guarded)).status, 400)
    assert.equal((await submit(owner, id, { url: `${remote.url}/nothing`, token })).status, 400)
  })
})

describe('a hostile remote agent', () => {
  const misbehave = (body: string, status = 200): void => {
    remote.intercept = (request, response) => {
      if (request.method !== 'POST') return false
      response.writeHead(status, { 'content-type': 'application/json' }).end(body)
      return true
    }
  }
  const cases: [string, string, number, RegExp][] = [
    ['that repeats the token', JSON.stringify({ error: { code: 1, message: `no: ${token}` } }), 200, /\[redacted\]/],
    ['that sends more than 1 MB', `{"result":"${'x'.repeat(1_100_000)}"}`, 200, /more than 1 MB/],
    ['that sends no JSON', '<html>', 200, /without a task or message/],
    ['that sends JSON with 1,000 levels', '['.repeat(1_000) + ']'.repeat(1_000), 200, /without a task or message/],
    ['that sends a task without an ID', '{"result":{"task":{"status":{"state":7}}}}', 200, /without a task or message/],
    ['that redirects', '', 307, /redirect/],
    ['that fails', '', 503, /status 503/],
    ['that no longer accepts the token', '', 401, /status 401/],
  ]
  for (const [what, body, status, message] of cases) {
    test(`${what} fails the call and nothing else`, async () => {
      const { owner, session } = await newPerson()
      misbehave(body, status)
      const call = await run(owner, session, 'a2a__send_message', { text: 'x' })
      assert.equal(call.status, 'failed')
      assert.match(call.output.error, message)
      assert.ok(!JSON.stringify(call).includes(token))
    })
  }
})

describe('agents of the same server', () => {
  test('message each other by A2A, and a circle of them ends after five messages', async () => {
    const owner = await app.createOrg()
    await agentFor(owner, { model: 'fake/m1' })
    await connect(owner, { url: `${app.url}/a2a/helper`, token: owner.key })
    const session = (await openSession(app, owner, { agentId: 'helper' })).id
    const messageItself = callTools({ id: 'c', name: 'a2a__send_message', args: '{"text":"Again"}' })
    const rounds = Array.from({ length: 6 }, () => messageItself)
    model.play(...rounds, ...Array.from({ length: 6 }, (_, n) => reply([`Reply ${n}`])))
    const { turn, message } = await ask(app, owner, session, { text: 'Begin' })
    assert.deepEqual([turn.status, message.parts.at(-1).text], ['completed', 'Reply 5'])
    assert.match(JSON.stringify(model.requests[6]?.messages.at(-1)), /at most 5 agents deep/)
    assert.deepEqual(turn.toolCalls[0].output.content, [{ type: 'text', text: 'Reply 4' }])
  })
})

describe('a remote agent', () => {
  test('that never ends its task is left at the end of the time of the turn, with its task ID', async () => {
    const hurried = await app.secondServer(
      { TURN_LIMIT_SECONDS: '7', OUTBOUND_ALLOW_CIDRS: '127.0.0.0/8' },
      { work: true },
    )
    await app.deps.jobs.stop({ deadlineMs: 50 })
    const { promise: never } = Promise.withResolvers<void>()
    remote.onMessage = async (work) => {
      work.publish(states.working)
      await never
    }
    const { owner, session } = await newPerson()
    const { body } = await say(hurried, owner, session, {
      text: '/tool a2a__send_message {"text":"x"}',
      background: true,
    })
    const turn = await untilStatus(hurried, owner, body.data.turn.id, 'completed', 'failed', 'incomplete')
    assert.equal(turn.toolCalls[0].output.state, 'working', JSON.stringify(turn))
    assert.match(turn.toolCalls[0].output.note, /get_task/)
  })
})
