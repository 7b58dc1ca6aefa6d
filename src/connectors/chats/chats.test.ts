import assert from 'node:assert/strict'
import { beforeEach, describe, test } from 'node:test'
import { sql } from '../../platform/database/database.ts'
import { conflict } from '../../platform/http/errors.ts'
import { createAgent, until } from '../../../test/support/chat.ts'
import { hangUpAfterArrival, respondWith, startChatProviders } from '../../../test/fakes/chat-providers.ts'
import { held, reply, startFakeModel } from '../../../test/fakes/model.ts'
import { startTestApp } from '../../../test/harness.ts'
import { addEndpoint, deliver } from '../../../test/support/endpoints.ts'
import type { TestEndpoint } from '../../../test/support/endpoints.ts'
import { startTurns } from './chats.ts'
import type { ChatRuntime } from './runtime.ts'

// oxlint-disable-next-line typescript/no-explicit-any -- tests read into records of every shape
type Json = any

const providers = await startChatProviders()
const model = await startFakeModel()
const app = await startTestApp({
  ...providers.env,
  MODEL_PROVIDERS: 'fake',
  MODEL_FAKE_BASE_URL: model.baseUrl,
  MODEL_FAKE_MODELS: 'm',
  MODEL_FAKE_FREE: '1',
})
const { db } = app
const owner = await app.createOrg()
const agent = await createAgent(app, owner, { name: 'Helper' })

let number = 0
const next = (): number => (number += 1)

const telegram = (text: string, { chat = 7, update = next(), message = update, ...more }: Json = {}) => ({
  update_id: update,
  message: {
    message_id: message,
    from: { id: chat, is_bot: false, first_name: 'Ada', last_name: 'Lovelace' },
    chat: { id: chat, type: 'private' },
    date: 1,
    text,
    ...more,
  },
})

const slack = (text: string, event: object = {}, more: object = {}) => {
  const n = next()
  return {
    type: 'event_callback',
    event_id: `Ev${n}`,
    authorizations: [{ user_id: 'UBOT' }],
    event: {
      type: 'message',
      channel: 'C1',
      user: 'U1',
      text,
      ts: `1700000000.${String(n).padStart(6, '0')}`,
      ...event,
    },
    ...more,
  }
}

const discord = (text: string, token: string, more: object = {}) => ({
  type: 2,
  id: `${next()}`,
  application_id: '11',
  token,
  channel_id: '22',
  member: { user: { id: '33', username: 'ada', global_name: 'Ada' } },
  data: { name: 'ask', options: [{ name: 'question', type: 3, value: text }] },
  ...more,
})

const twilio = (text: string, more: object = {}) =>
  new URLSearchParams({
    MessageSid: `SM${next()}`,
    AccountSid: 'AC0000',
    From: '+15550001',
    To: '+15550002',
    Body: text,
    SmsStatus: 'received',
    ...more,
  }).toString()

const eventsOf = ({ id }: TestEndpoint): Promise<Json[]> =>
  db.rows(sql`
    select external_id, state, error, message, reply_to, parts_sent from connector_events
    where endpoint_id = ${id} order by seq`)

const settled = (endpoint: TestEndpoint, count: number): Promise<Json[]> =>
  until(
    () => eventsOf(endpoint),
    (events) => events.length === count && events.every(({ state }) => !['waiting', 'running'].includes(state)),
  )

const sessionsOf = async (): Promise<Json[]> =>
  (await app.call('GET', '/api/v1/sessions?limit=100', { as: owner })).body.data.items.filter(
    (session: Json) => session.metadata.relationship === 'connector',
  )

const messagesOf = async (id: string): Promise<Json[]> =>
  (await app.call('GET', `/api/v1/sessions/${id}/messages?limit=100`, { as: owner })).body.data.items.toReversed()

const open = (provider: string, settings = {}) => addEndpoint(app, owner, provider, { agentId: agent.id, settings })

beforeEach(async () => {
  providers.play()
  await db.execute(sql`update sessions set deleted_at = now() where org_id = ${owner.orgId}`)
})

describe('chat messages', () => {
  const cases: Record<string, { send: (endpoint: TestEndpoint) => Promise<Json>; to: string; sender: string }> = {
    telegram: {
      send: (endpoint) => deliver(app, endpoint, telegram('Hello')),
      to: '7',
      sender: 'Ada Lovelace',
    },
    slack: { send: (endpoint) => deliver(app, endpoint, slack('Hello')), to: 'C1', sender: 'U1' },
    discord: {
      send: (endpoint) => deliver(app, endpoint, discord('Hello', 'tok-1')),
      to: 'tok-1',
      sender: 'Ada',
    },
    twilio: {
      send: (endpoint) => deliver(app, endpoint, twilio('Hello')),
      to: '+15550001',
      sender: '+15550001',
    },
  }
  for (const [provider, { send, to, sender }] of Object.entries(cases)) {
    test(`a ${provider} message becomes one turn in the chat's session, and the reply is sent once`, async () => {
      const endpoint = await open(provider)
      assert.equal((await send(endpoint)).status, 200)
      const [event] = await settled(endpoint, 1)
      assert.deepEqual([event.state, event.error, event.message, event.replyTo], ['answered', null, null, null])
      const [session, ...others] = await sessionsOf()
      assert.equal(others.length, 0)
      assert.equal(session.title.toLowerCase().startsWith(provider), true)
      const [sent, replied] = await messagesOf(session.id)
      assert.deepEqual([sent.role, sent.author.name, sent.parts], ['user', sender, [{ type: 'text', text: 'Hello' }]])
      assert.equal(replied.author.slug, agent.slug)
      assert.deepEqual(
        providers.messages.map(({ text, ...message }) => [message.provider, message.to, text]),
        [[provider, to, replied.parts[0].text]],
      )
    })
  }

  test('a message that is delivered five times at once gets one reply', async () => {
    const endpoint = await open('telegram')
    const body = telegram('Hello')
    await Promise.all(Array.from({ length: 5 }, () => deliver(app, endpoint, body)))
    await settled(endpoint, 1)
    assert.equal(providers.messages.length, 1)
    assert.equal(providers.attempts(), 1)
  })

  test('replies are sent in the order of their messages in the session', async () => {
    const endpoint = await open('telegram')
    const first = next()
    const bodies = Array.from({ length: 8 }, (_, i) =>
      telegram(`${i === 0 ? '/slow 300\n' : ''}Number ${i}`, { update: first + i }),
    )
    number += 8
    await Promise.all(
      [bodies[0], ...bodies.slice(1).toReversed()].map((body) => deliver(app, endpoint, body as object)),
    )
    await settled(endpoint, 8)
    assert.equal((await sessionsOf()).length, 1)
    const numbers = providers.messages.map(({ text }) => /Number (\d)/.exec(text)?.[1])
    assert.equal(numbers.length, 8)
    assert.deepEqual(new Set(numbers).size, 8)
    const [session] = await sessionsOf()
    const messages = (await messagesOf(session.id)).filter(({ role }) => role === 'user')
    assert.deepEqual(
      numbers,
      messages.map(({ parts }) => /Number (\d)/.exec(parts[0].text)?.[1]),
      'the replies have the order of the session',
    )
  })

  test('each chat has its own session', async () => {
    const endpoint = await open('telegram')
    await deliver(app, endpoint, telegram('One'))
    await settled(endpoint, 1)
    await deliver(app, endpoint, telegram('Two'))
    await settled(endpoint, 2)
    await deliver(app, endpoint, telegram('Three', { chat: -100, is_topic_message: true, message_thread_id: 5 }))
    await settled(endpoint, 3)
    const counts = (await sessionsOf()).map((session) => session.messageCount)
    assert.deepEqual(new Set(counts), new Set([2, 4]))
    assert.deepEqual(
      providers.messages.map(({ to }) => to),
      ['7', '7', '-100/5'],
    )
  })

  test('a chat continues its session when a new endpoint replaces the closed one', async () => {
    const endpoint = await open('telegram')
    await deliver(app, endpoint, telegram('One'))
    await settled(endpoint, 1)
    const successor = await open('telegram')
    await db.execute(sql`update connector_endpoints set status = 'closed' where id = ${endpoint.id}`)
    await db.execute(sql`
      update connector_endpoints set connection_id = ${endpoint.connectionId} where id = ${successor.id}`)
    assert.equal((await deliver(app, endpoint, telegram('Two'))).status, 404)
    await deliver(app, successor, telegram('Two'))
    await settled(successor, 1)
    assert.deepEqual(
      (await sessionsOf()).map((session) => session.messageCount),
      [4],
    )
  })

  test('a chat gets a new session after its session was deleted', async () => {
    const endpoint = await open('telegram')
    await deliver(app, endpoint, telegram('One'))
    await settled(endpoint, 1)
    const [session] = await sessionsOf()
    assert.equal((await app.call('DELETE', `/api/v1/sessions/${session.id}`, { as: owner })).status, 200)
    await deliver(app, endpoint, telegram('Two'))
    await settled(endpoint, 2)
    assert.equal(providers.messages.length, 2)
    assert.notEqual((await sessionsOf())[0].id, session.id)
  })
})

test('a message that cannot be answered fails once, and the next message of its chat is answered', async () => {
  const endpoint = await open('telegram')
  for (const text of ['bad', 'good']) {
    await db.execute(sql`
      insert into connector_chats (org_id, endpoint_id, chat) values (${owner.orgId}, ${endpoint.id}, 'c')
      on conflict do nothing`)
    await db.execute(sql`
      insert into connector_events (org_id, endpoint_id, external_id, type, chat, state, message)
      values (${owner.orgId}, ${endpoint.id}, ${text}, 'message', 'c', 'waiting', ${text})`)
  }
  let failures = 0
  const both = Promise.withResolvers<void>()
  const runtime: ChatRuntime = {
    beginTurn: async (_agent, nextMessage) => {
      try {
        return await db.transaction({ orgId: owner.orgId }, async (db) => {
          const next = await nextMessage(db)
          if (next?.text === 'bad') throw conflict('This message cannot be answered.')
          return next !== undefined
        })
      } catch (error) {
        // Both jobs have tried the first message before one of them stores that it failed.
        failures += 1
        if (failures === 2) both.resolve()
        await both.promise
        throw error
      }
    },
    findReply: () => Promise.resolve(undefined),
  }
  const start = (externalId: string) =>
    startTurns({ db, jobs: app.deps.jobs, runtime }, { orgId: owner.orgId, endpointId: endpoint.id, externalId })
  await Promise.all([start('bad'), start('good')])
  const rows = await db.rows<{ externalId: string; error: string | null }>(sql`
    select external_id, error from connector_events where endpoint_id = ${endpoint.id} order by seq`)
  assert.deepEqual(rows, [
    { externalId: 'bad', error: 'This message cannot be answered.' },
    { externalId: 'good', error: null },
  ])
})

describe('events without a turn', () => {
  const silent = async (provider: string, bodies: (object | string)[], settings = {}, headers = {}) => {
    const endpoint = await open(provider, settings)
    for (const body of bodies) assert.ok([200, 204].includes((await deliver(app, endpoint, body, { headers })).status))
    const events = await settled(endpoint, bodies.length)
    assert.deepEqual(new Set(events.map(({ state }) => state)), new Set(['recorded']))
    assert.deepEqual([await sessionsOf(), providers.attempts()], [[], 0])
  }

  test('messages of Telegram bots and updates that are not messages start no turn', () =>
    silent('telegram', [
      telegram('Hello', { from: { id: 1, is_bot: true, first_name: 'Bot' } }),
      telegram('Hello', { via_bot: { id: 1, is_bot: true } }),
      telegram('', { text: undefined, sticker: {} }),
      { update_id: next(), edited_message: telegram('Hello').message },
      { update_id: next(), callback_query: {} },
    ]))

  test('messages of Slack bots and message changes start no turn', () =>
    silent(
      'slack',
      [
        slack('Hello', { bot_id: 'B1' }),
        slack('Hello', { user: 'UBOT' }),
        slack('Hello', { user: 'UOWN' }),
        slack('Hello', { subtype: 'bot_message' }),
        slack('Hello', { subtype: 'message_changed' }),
        slack('Hello', { subtype: 'channel_join' }),
        slack('Hello', { type: 'reaction_added' }),
      ],
      { ownIds: ['UOWN'] },
    ))

  test('Discord interactions without text and webhook events start no turn', () =>
    silent('discord', [
      discord('Hello', 't', { member: { user: { id: '1', username: 'b', bot: true } } }),
      discord('Hello', 't', { type: 3 }),
      discord('Hello', 't', { type: 4 }),
      { version: 1, application_id: '11', type: 1, event: { type: 'APPLICATION_AUTHORIZED', data: {} } },
    ]))

  test('Twilio status callbacks and outbound messages start no turn', () =>
    silent(
      'twilio',
      [
        twilio('Hello', { SmsStatus: 'delivered', MessageStatus: 'delivered' }),
        twilio('Hello', { From: '+15550002', To: '+15550001' }),
        twilio('', {}),
        new URLSearchParams({ CallSid: 'CA1', From: '+15550001', To: '+15550002', CallStatus: 'ringing' }).toString(),
      ],
      { ownIds: ['+15550002'] },
    ))

  test('a Slack mention that was also delivered as a message starts one turn', async () => {
    const endpoint = await open('slack')
    const body = slack('<@UBOT> Hello')
    await deliver(app, endpoint, body)
    await deliver(app, endpoint, {
      ...body,
      event_id: 'EvMention',
      event: { ...body.event, type: 'app_mention' },
    })
    await settled(endpoint, 1)
    assert.equal(providers.messages.length, 1)
    const [session] = await sessionsOf()
    assert.equal((await messagesOf(session.id))[0].parts[0].text, 'Hello')
  })

  test('a message to an endpoint without an agent starts no turn', async () => {
    const endpoint = await addEndpoint(app, owner, 'telegram')
    await deliver(app, endpoint, telegram('Hello'))
    const [event] = await settled(endpoint, 1)
    assert.deepEqual([event.state, event.message, event.replyTo], ['recorded', null, null])
  })
})

describe('replies', () => {
  test('a Slack reply goes to its thread or to the response_url of a command', async () => {
    const endpoint = await open('slack')
    await deliver(app, endpoint, slack('Hello', { thread_ts: '1700000000.000001' }))
    await settled(endpoint, 1)
    const form = {
      command: '/ask',
      text: 'Hello',
      user_id: 'U1',
      user_name: 'ada',
      channel_id: 'C1',
      trigger_id: 't1',
      response_url: 'https://hooks.slack.com/commands/T1/planted-response-url',
    }
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const send = (fields: object) =>
      deliver(app, endpoint, new URLSearchParams({ ...form, ...fields }).toString(), { headers })
    await send({})
    await settled(endpoint, 2)
    await send({ trigger_id: 't2', response_url: 'https://hooks.slack.com.example.com/commands/T1/elsewhere' })
    await settled(endpoint, 3)
    assert.deepEqual(
      providers.messages.map(({ to }) => to),
      ['C1/1700000000.000001', 'response_url'],
    )
  })

  test('a reply that exceeds the message limit of the provider is sent in parts', async () => {
    const talker = await createAgent(app, owner, { name: 'Talker', model: 'fake/m' })
    const endpoint = await addEndpoint(app, owner, 'discord', { agentId: talker.id })
    const whole = Array.from({ length: 700 }, (_, i) => `word${i}`).join(' ')
    model.play(reply([whole]))
    await deliver(app, endpoint, discord('Hello', 'tok-long'))
    const [event] = await settled(endpoint, 1)
    assert.equal(event.state, 'answered')
    assert.ok(providers.messages.length >= 3)
    assert.deepEqual(
      providers.messages.map(({ isEdit }) => isEdit ?? false),
      [true, ...providers.messages.slice(1).map(() => false)],
    )
    assert.equal(providers.messages.map(({ text }) => text).join(' '), whole)
  })

  test('control sequences in a Slack reply are escaped', async () => {
    const endpoint = await open('slack')
    await deliver(app, endpoint, slack('&lt;!channel&gt; & <https://a.example|b>'))
    await settled(endpoint, 1)
    assert.doesNotMatch(providers.messages[0]!.text, /[<>]/)
  })

  test('a reply is retried after a rate limit or a 502, before later replies', async () => {
    const endpoint = await open('telegram')
    const busy = { ok: false, error_code: 429, description: 'Too Many Requests', parameters: { retry_after: 1 } }
    providers.play(respondWith(429, busy, { 'retry-after': '1' }), respondWith(502, '<html>Bad gateway</html>'))
    await deliver(app, endpoint, telegram('One'))
    await deliver(app, endpoint, telegram('Two'))
    const events = await settled(endpoint, 2)
    assert.deepEqual(
      events.map(({ state }) => state),
      ['answered', 'answered'],
    )
    assert.deepEqual(
      providers.messages.map(({ text }) => /One|Two/.exec(text)?.[0]),
      ['One', 'Two'],
    )
  })

  test('a reply that the provider rejects is stored as failed, and the next one is sent', async () => {
    const endpoint = await open('telegram')
    providers.play(
      respondWith(403, { ok: false, error_code: 403, description: 'Forbidden: bot was blocked by the user' }),
    )
    await deliver(app, endpoint, telegram('One'))
    await settled(endpoint, 1)
    await deliver(app, endpoint, telegram('Two'))
    const [first, second] = await settled(endpoint, 2)
    assert.deepEqual([first.state, second.state], ['failed', 'answered'])
    assert.match(first.error, /bot was blocked by the user/)
    assert.equal(providers.messages.length, 1)
  })

  test('a reply with an unknown outcome is sent again only if the provider deduplicates it', async () => {
    const endpoint = await open('telegram')
    providers.play(hangUpAfterArrival)
    await deliver(app, endpoint, telegram('Hello'))
    const [event] = await settled(endpoint, 1)
    assert.equal(event.state, 'unknown')
    assert.deepEqual([providers.messages.length, providers.attempts()], [1, 1])

    const repeatable = await open('discord')
    providers.play(hangUpAfterArrival)
    await deliver(app, repeatable, discord('Hello', 'tok-again'))
    const [edited] = await settled(repeatable, 1)
    assert.equal(edited.state, 'answered')
    assert.ok(providers.messages.every(({ isEdit, to }) => isEdit && to === 'tok-again'))
  })

  test('a failed turn is replied to with an apology, and the reason is stored for the owner', async () => {
    const other = await createAgent(app, owner, { name: 'Sleeper' })
    await app.call('PATCH', `/api/v1/agents/${other.id}`, { as: owner, json: { isActive: false } })
    const endpoint = await addEndpoint(app, owner, 'telegram', { agentId: other.id })
    await deliver(app, endpoint, telegram('Hello'))
    const [event] = await settled(endpoint, 1)
    assert.equal(event.state, 'failed')
    assert.match(event.error, /is inactive/)
    assert.deepEqual(
      providers.messages.map(({ text }) => text),
      ['Sorry, I cannot answer this right now.'],
    )
    const failing = await open('telegram')
    providers.play()
    await deliver(app, failing, telegram('/fail 500'))
    await settled(failing, 1)
    assert.equal(providers.messages.length, 1)
    assert.doesNotMatch(providers.messages[0]!.text, /500|model|Error/)
  })

  test('a cancelled turn does not block the chat', async () => {
    const endpoint = await open('telegram')
    await deliver(app, endpoint, telegram('/slow 20000\nHello'))
    await deliver(app, endpoint, telegram('Two'))
    const session = await until(
      async () => (await sessionsOf())[0],
      (one) => one?.activeTurnId != null,
    )
    await app.call('POST', `/api/v1/turns/${session.activeTurnId}/cancel`, { as: owner })
    await settled(endpoint, 2)
    assert.match(providers.messages.at(-1)?.text ?? '', /Two/)
  })

  test('a reply is not sent after its connection was revoked', async () => {
    const talker = await createAgent(app, owner, { name: 'Slow talker', model: 'fake/m' })
    const endpoint = await addEndpoint(app, owner, 'telegram', { agentId: talker.id })
    const { script, asked, release } = held(reply(['Too late.']))
    model.play(script)
    await deliver(app, endpoint, telegram('Hello'))
    await asked
    await db.execute(sql`
      update connections set status = 'revoked', deleted_at = now() where id = ${endpoint.connectionId}`)
    release()
    const [event] = await settled(endpoint, 1)
    assert.deepEqual([event.state, providers.attempts()], ['silent', 0])
  })
})

describe('events of providers without chats', () => {
  test('a GitHub event becomes a turn in the session of its issue and no reply is sent', async () => {
    const endpoint = await open('github', { ownIds: ['helper-bot'] })
    const issue = (n: number, login: string) => ({
      action: 'opened',
      issue: { number: n, title: `Bug ${n}`, body: 'It breaks.', html_url: `https://github.com/a/b/issues/${n}` },
      repository: { full_name: 'a/b' },
      sender: { login },
    })
    const headers = { 'x-github-event': 'issues' }
    await deliver(app, endpoint, issue(1, 'ada'), { headers })
    await deliver(app, endpoint, issue(2, 'ada'), { headers })
    await deliver(app, endpoint, issue(3, 'helper-bot'), { headers })
    const events = await settled(endpoint, 3)
    assert.deepEqual(
      events.map(({ state }) => state),
      ['silent', 'silent', 'recorded'],
    )
    const sessions = await sessionsOf()
    assert.deepEqual(new Set(sessions.map(({ title }) => title)), new Set(['GitHub: a/b#1', 'GitHub: a/b#2']))
    const first = sessions.find(({ title }) => title.endsWith('#1'))
    assert.match((await messagesOf(first.id))[0].parts[0].text, /issues\.opened in a\/b#1 by ada\nBug 1\nIt breaks\./)
    assert.equal(providers.attempts(), 0)
  })
})

test('events, endpoints, messages and logs contain no secrets', async () => {
  const rows = await db.rows<{ text: string }>(sql`
    select e::text as text from connector_events e
    union all select p::text from connector_endpoints p
    union all select m.parts::text from messages m`)
  const text = [...rows.map((row) => row.text), ...app.logLines].join('\n')
  assert.doesNotMatch(text, /planted|interaction-token|telegram-secret_token|tok-/)
})
