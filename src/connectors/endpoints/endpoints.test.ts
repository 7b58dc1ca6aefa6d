import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sql } from '../../platform/database/database.ts'
import { expireEndpoints } from './jobs.ts'
import { newId } from '../../platform/ids.ts'
import { createAgent } from '../../../test/support/chat.ts'
import { startTestApp } from '../../../test/harness.ts'
import { onOneServer } from '../../../test/support/database/distributed.ts'
import { sendRaw } from '../../../test/support/raw-http.ts'
import { addEndpoint, deliver, hashOf, senders } from '../../../test/support/endpoints.ts'
import type { TestEndpoint } from '../../../test/support/endpoints.ts'
import { until } from '../../../test/support/until.ts'

// Without a worker, so that enqueued jobs can be counted.
const app = await startTestApp({}, { work: false })
const { db } = app
const owner = await app.createOrg()
const agent = await createAgent(app, owner, { name: 'Helper' })

interface Stored {
  externalId: string
  type: string
  state: string
}

const eventsOf = ({ id }: TestEndpoint): Promise<Stored[]> =>
  db.rows<Stored>(sql`select external_id, type, state from connector_events where endpoint_id = ${id} order by seq`)

const jobsOf = async ({ id }: TestEndpoint): Promise<number> =>
  (
    await db.row<{ n: number }>(sql`
      select count(*)::int as n from pgboss.job where name = 'connector.event' and data ->> 'endpointId' = ${id}`)
  )?.n ?? 0

/** An event of each provider from its documentation, with its expected id and type. */
const samples: Record<string, { body: (n: number) => string; type: string; id?: (n: number) => string }> = {
  telegram: {
    body: (n) =>
      JSON.stringify({
        update_id: n,
        message: {
          message_id: n,
          from: { id: 7, is_bot: false, first_name: 'Ada' },
          chat: { id: 7, first_name: 'Ada', type: 'private' },
          date: 1,
          text: 'Hello',
        },
      }),
    type: 'message',
    id: (n) => `${n}`,
  },
  slack: {
    body: (n) =>
      JSON.stringify({
        type: 'event_callback',
        team_id: 'T1',
        event_id: `Ev${n}`,
        event: {
          type: 'message',
          channel: 'C1',
          user: 'U1',
          text: 'Hello',
          ts: `1700000000.${String(n).padStart(6, '0')}`,
        },
      }),
    type: 'message',
    id: (n) => `Ev${n}`,
  },
  discord: {
    body: (n) =>
      JSON.stringify({
        type: 2,
        id: `${n}`,
        application_id: '11',
        token: 'interaction-token',
        channel_id: '22',
        member: { user: { id: '33', username: 'ada' } },
        data: { name: 'ask', options: [{ name: 'question', type: 3, value: 'Hello' }] },
      }),
    type: 'application_command',
    id: (n) => `${n}`,
  },
  twilio: {
    body: (n) =>
      new URLSearchParams({
        MessageSid: `SM${n}`,
        AccountSid: 'AC0000',
        From: '+15550001',
        To: '+15550002',
        Body: 'Hello',
        SmsStatus: 'received',
      }).toString(),
    type: 'message.received',
    id: (n) => `SM${n}:received`,
  },
  github: {
    body: (n) =>
      JSON.stringify({
        action: 'opened',
        issue: { number: n, title: 'A bug', body: 'It breaks.', html_url: 'https://github.com/a/b/issues/1' },
        repository: { full_name: 'a/b' },
        sender: { login: 'ada' },
      }),
    type: 'issues.opened',
  },
  linear: {
    body: (n) =>
      JSON.stringify({ action: 'create', type: 'Issue', data: { id: `i${n}`, title: 'A bug' }, organizationId: 'o' }),
    type: 'issue.create',
  },
  jira: {
    body: (n) =>
      JSON.stringify({ webhookEvent: 'jira:issue_created', issue: { key: `A-${n}`, fields: { summary: 'A bug' } } }),
    type: 'issue_created',
  },
  stripe: {
    body: (n) =>
      JSON.stringify({ id: `evt_${n}`, type: 'invoice.paid', data: { object: { id: 'in_1', object: 'invoice' } } }),
    type: 'invoice.paid',
    id: (n) => `evt_${n}`,
  },
}

const extra = (provider: string): Record<string, string> =>
  provider === 'github' ? { 'x-github-event': 'issues' } : {}

describe('events of each provider', () => {
  for (const [provider, { body, type, id }] of Object.entries(samples)) {
    describe(provider, () => {
      test(`stores a signed event of ${provider} once, however often it arrives`, async () => {
        const endpoint = await addEndpoint(app, owner, provider)
        const headers = {
          ...extra(provider),
          'x-github-delivery': 'd1',
          'linear-delivery': 'd1',
          'x-atlassian-webhook-identifier': 'd1',
        }
        const stampMs = Date.now()
        const responses = await Promise.all(
          Array.from({ length: 5 }, () => deliver(app, endpoint, body(1), { headers, stampMs })),
        )
        assert.deepEqual(new Set(responses.map(({ status }) => status)), new Set([200]))
        const stored = await eventsOf(endpoint)
        assert.deepEqual(
          stored.map((event) => [event.externalId, event.type, event.state]),
          [[id?.(1) ?? 'd1', type, 'recorded']],
        )
      })

      test(`rejects an event of ${provider} with a missing, malformed, foreign or stale signature or an altered body, and stores nothing`, async () => {
        const endpoint = await addEndpoint(app, owner, provider)
        const sender = senders[provider]!
        const right = sender.sign(body(1), endpoint.url, { headers: extra(provider) })
        const proof = Object.keys(right.headers).find((name) => /sign|secret/.test(name) && !/timestamp/.test(name))!
        const value = right.headers[proof]!
        const send = (headers: Record<string, string>, text = right.body) =>
          app.call('POST', endpoint.path, { headers: { ...right.headers, ...headers }, body: text })
        const { [proof]: _, ...without } = right.headers
        const rejected = [
          await app.call('POST', endpoint.path, { headers: without, body: right.body }),
          await send({ [proof]: '' }),
          await send({ [proof]: 'nonsense' }),
          await send({ [proof]: value.slice(0, -2) }),
          await send({ [proof]: `${value}00` }),
          await send({ [proof]: 'ü'.repeat(20).normalize('NFC') }),
          await deliver(app, endpoint, body(1), { key: 'another key' }),
          ...(provider === 'telegram' ? [] : [await send({}, `${right.body} `)]),
        ]
        if (['slack', 'discord', 'stripe', 'linear'].includes(provider)) {
          for (const offset of [-360_000, 360_000]) {
            rejected.push(await deliver(app, endpoint, body(1), { stampMs: Date.now() + offset }))
          }
        }
        assert.deepEqual(new Set(rejected.map(({ status }) => status)), new Set([401]))
        assert.deepEqual(new Set(rejected.map((response) => response.body.error.code)), new Set(['UNAUTHORIZED']))
        assert.deepEqual(await eventsOf(endpoint), [])
      })

      test(`rejects a signed body that ${provider} would not send`, async () => {
        if (provider === 'twilio' || provider === 'linear') return
        const endpoint = await addEndpoint(app, owner, provider)
        for (const nonsense of ['', 'not json', '[]', 'null', '"text"', '{"a":"\\u0000"}', '{"a":{"__proto__":1}}']) {
          const { status, body } = await deliver(app, endpoint, nonsense, { headers: extra(provider) })
          assert.deepEqual([status, nonsense, body.error?.code], [400, nonsense, 'BAD_REQUEST'])
        }
        assert.deepEqual(await eventsOf(endpoint), [])
      })
    })
  }
})

describe('the public route of endpoints', async () => {
  const telegram = samples['telegram']!
  const unsigned = (path: string) => app.call('POST', path, { json: { update_id: 1 } })

  test('responds to handshakes after verification, and stores none of them', async () => {
    const slack = await addEndpoint(app, owner, 'slack')
    const challenge = { type: 'url_verification', challenge: '3eZbrw1aB' }
    const verified = await deliver(app, slack, challenge)
    assert.deepEqual([verified.status, verified.body], [200, { challenge: '3eZbrw1aB' }])
    assert.equal((await deliver(app, slack, challenge, { key: 'wrong' })).status, 401)
    assert.equal((await app.call('POST', slack.path, { json: challenge })).status, 401)

    const discord = await addEndpoint(app, owner, 'discord')
    const ping = await deliver(app, discord, { type: 1, id: '1', application_id: '2', token: 't' })
    assert.deepEqual([ping.status, ping.body], [200, { type: 1 }])
    const eventPing = await deliver(app, discord, { version: 1, application_id: '2', type: 0 })
    assert.deepEqual([eventPing.status, eventPing.text], [204, ''])
    assert.equal((await deliver(app, discord, { type: 1, id: '1', token: 't' }, { key: 'wrong' })).status, 401)

    const github = await addEndpoint(app, owner, 'github')
    const pinged = await deliver(app, github, { zen: 'Keep it.' }, { headers: { 'x-github-event': 'ping' } })
    assert.equal(pinged.status, 200)
    for (const endpoint of [slack, discord, github]) assert.deepEqual(await eventsOf(endpoint), [])
  })

  test('responds to each provider in its own format', async () => {
    const discord = await addEndpoint(app, owner, 'discord')
    assert.deepEqual((await deliver(app, discord, samples['discord']!.body(1))).body, { type: 5 })
    const twilio = await addEndpoint(app, owner, 'twilio')
    const response = await deliver(app, twilio, samples['twilio']!.body(1))
    assert.deepEqual([response.headers.get('content-type'), response.text], ['text/xml; charset=utf-8', '<Response/>'])
    const slack = await addEndpoint(app, owner, 'slack')
    const form = new URLSearchParams({
      command: '/ask',
      text: 'Hello',
      user_id: 'U1',
      channel_id: 'C1',
      trigger_id: 't1',
    })
    const command = await deliver(app, slack, form.toString(), {
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    })
    assert.deepEqual([command.status, command.text], [200, ''])
    const bot = await addEndpoint(app, owner, 'telegram')
    const first = await deliver(app, bot, telegram.body(1))
    const second = await deliver(app, bot, telegram.body(1))
    assert.deepEqual(first.body, { success: true, data: { received: true, duplicate: false } })
    assert.deepEqual(second.body, { success: true, data: { received: true, duplicate: true } })
  })

  test('starts no turn for what the account of a connection did that was signed in again with another account', async () => {
    const github = await addEndpoint(app, owner, 'github', { agentId: agent.id, settings: { ownIds: ['first'] } })
    await db.execute(sql`
      update connections set account_name = 'second' where org_id = ${owner.orgId} and id = ${github.connectionId}`)
    for (const [n, login] of ['first', 'second', 'ada'].entries()) {
      const body = { ...JSON.parse(samples['github']!.body(n)), sender: { login } }
      await deliver(app, github, body, { headers: { 'x-github-event': 'issues' } })
    }
    assert.deepEqual(
      (await eventsOf(github)).map(({ state }) => (state === 'recorded' ? state : 'turn')),
      ['recorded', 'recorded', 'turn'],
    )
  })

  test('acknowledges and drops what an app of Slack sends for the workspaces of others', async () => {
    const slack = await addEndpoint(app, owner, 'slack', { accountId: 'T1' })
    const send = async (id: string, teams: object) => {
      const body = { ...JSON.parse(samples['slack']!.body(Number(id))), team_id: undefined, ...teams }
      const { status, text } = await deliver(app, slack, body)
      return [status, text === '' ? 'dropped' : 'stored']
    }
    assert.deepEqual(await send('1', { team_id: 'T2' }), [200, 'dropped'])
    assert.deepEqual(await send('2', { team_id: 'T1', authorizations: [{ team_id: 'T2' }] }), [200, 'dropped'])
    const ofGrid = { enterprise_id: 'E1', is_enterprise_install: true }
    assert.deepEqual(await send('3', { authorizations: [{ team_id: 'T2', ...ofGrid }] }), [200, 'dropped'])
    assert.deepEqual(await send('4', { team_id: 'T1' }), [200, 'stored'])
    assert.deepEqual(await send('5', { team_id: 'T2', authorizations: [{ team_id: 'T1' }] }), [200, 'stored'])
    assert.deepEqual(
      (await eventsOf(slack)).map(({ externalId }) => externalId),
      ['Ev4', 'Ev5'],
    )
    const form = { command: '/ask', text: 'Hello', user_id: 'U1', channel_id: 'C1', trigger_id: 't1', team_id: 'T2' }
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const ofOthers = await deliver(app, slack, new URLSearchParams(form).toString(), { headers })
    const interaction = new URLSearchParams({ payload: JSON.stringify({ type: 'block_actions', team: { id: 'T2' } }) })
    const clicked = await deliver(app, slack, interaction.toString(), { headers })
    assert.deepEqual([ofOthers.status, clicked.status, (await eventsOf(slack)).length], [200, 200, 2])
  })

  test('verifies requests of Twilio against the configured URL with their query, and a JSON body by its hash in the query', async () => {
    const endpoint = await addEndpoint(app, owner, 'twilio')
    const signed = senders['twilio']!.sign(samples['twilio']!.body(1), `${endpoint.url}?a=1&b=2`)
    const send = (path: string, { headers, body } = signed) => app.call('POST', path, { headers, body })
    assert.equal((await send(`${endpoint.path}?a=1&b=3`)).status, 401)
    assert.equal((await send(endpoint.path)).status, 401)
    assert.equal((await send(`${endpoint.path}?a=1&b=2`)).status, 200)

    const body = '{"id":"CA1"}'
    const query = `?bodySHA256=${hashOf(body)}`
    const json = senders['twilio']!.sign('', endpoint.url + query)
    const headers = { ...json.headers, 'content-type': 'application/json' }
    assert.equal((await send(endpoint.path + query, { headers, body: '{"id":"CA2"}' })).status, 401)
    assert.equal((await send(endpoint.path + query, { headers, body })).status, 200)
    assert.deepEqual(
      (await eventsOf(endpoint)).map(({ externalId }) => externalId),
      ['SM1:received', 'CA1'],
    )
  })

  test('recognizes a signed body with another id as a duplicate for a day if the id is not signed', async () => {
    for (const [provider, header] of [
      ['github', 'x-github-delivery'],
      ['linear', 'linear-delivery'],
      ['jira', 'x-atlassian-webhook-identifier'],
    ] as const) {
      const endpoint = await addEndpoint(app, owner, provider)
      const stampMs = Date.now()
      const send = (id: string) =>
        deliver(app, endpoint, samples[provider]!.body(1), {
          stampMs,
          headers: { ...extra(provider), [header]: id },
        })
      assert.equal((await send('first')).body.data.duplicate, false)
      assert.equal((await send('second')).body.data.duplicate, true)
      await db.execute(sql`
        update connector_event_keys set seen_at = now() - interval '25 hours' where endpoint_id = ${endpoint.id}`)
      assert.equal((await send('third')).body.data.duplicate, false)
      assert.equal((await send('fourth')).body.data.duplicate, true)
      assert.deepEqual(
        (await eventsOf(endpoint)).map(({ externalId }) => externalId),
        ['first', 'third'],
      )
    }
  })

  if (await onOneServer(db, 'counters of rows read', 'the coordinator does not count those of shards')) {
    test('reads none of the keys that an endpoint has stored when it stores another event', async () => {
      const endpoint = await addEndpoint(app, owner, 'slack')
      const keys = 20_000
      await db.execute(sql`
        insert into connector_event_keys (org_id, endpoint_id, key, is_second)
        select org_id, id, 'message:' || n, true from connector_endpoints, generate_series(1, ${keys}::int) n
        where id = ${endpoint.id}`)
      const rowsRead = async () => {
        await db.execute(sql`select pg_stat_force_next_flush()`)
        return db.row<{ read: number; inserted: number }>(sql`
          select (seq_tup_read + coalesce(idx_tup_fetch, 0))::int as read, n_tup_ins::int as inserted
          from pg_stat_user_tables where relname = 'connector_event_keys'`)
      }
      const before = await until(rowsRead, (row) => (row?.inserted ?? 0) >= keys)
      // More than five executions on a connection, after which a plan for all parameters may be used.
      const events = 10
      for (let n = 1; n <= events; n++) {
        assert.equal((await deliver(app, endpoint, samples['slack']!.body(n))).body.data.duplicate, false)
      }
      // Other connections report their counters within a second.
      const after = await until(rowsRead, (row) => (row?.inserted ?? 0) >= (before?.inserted ?? 0) + 2 * events)
      assert.ok(after && before)
      assert.ok(after.read - before.read < keys, `${after.read - before.read} rows read`)
    })
  }

  if (await onOneServer(db, 'events of version 0.1', 'that version cannot use them')) {
    test('recognizes duplicates of events that a server of version 0.1 has stored, which writes no keys', async () => {
      const endpoint = await addEndpoint(app, owner, 'telegram')
      const byOldVersion = (externalId: string, secondId: string | null) =>
        db.rows(sql`
        insert into connector_events (org_id, endpoint_id, external_id, second_id, type, state)
        select org_id, id, ${externalId}, ${secondId}, 'message', 'recorded' from connector_endpoints where id = ${endpoint.id}
        on conflict do nothing
        returning external_id`)
      const stored = []
      const given = [
        ['1', 'second'],
        ['1', null],
        ['2', 'second'],
        ['3', null],
      ] as const
      for (const [id, secondId] of given) stored.push(...(await byOldVersion(id, secondId)))
      assert.deepEqual(stored, [{ externalId: '1' }, { externalId: '3' }])
      assert.equal((await deliver(app, endpoint, telegram.body(3))).body.data.duplicate, true)
      assert.equal((await deliver(app, endpoint, telegram.body(4))).body.data.duplicate, false)
      assert.deepEqual(await byOldVersion('4', null), [])
    })
  }

  test('recognizes a duplicate of an event of another month, and lists only events within the retention', async () => {
    const endpoint = await addEndpoint(app, owner, 'telegram')
    const list = async () => {
      const path = `/api/v1/connections/${endpoint.connectionId}/endpoints/${endpoint.id}/events`
      return (await app.call('GET', path, { as: owner })).body.data.items.length
    }
    for (const n of [1, 2]) assert.equal((await deliver(app, endpoint, telegram.body(n))).body.data.duplicate, false)
    await db.execute(sql`
      update connector_events set received_at = now() + interval '1 month' where endpoint_id = ${endpoint.id}`)
    assert.equal((await deliver(app, endpoint, telegram.body(1))).body.data.duplicate, true)
    assert.equal(await list(), 2)
    await db.execute(sql`
      update connector_events set received_at = now() - interval '9 days' where endpoint_id = ${endpoint.id}`)
    assert.equal(await list(), 0)
  })

  test('uses the hash of the body as the id of an event without an id, and accepts ids of any length', async () => {
    const endpoint = await addEndpoint(app, owner, 'slack')
    const nameless = { type: 'event_callback', event: { type: 'team_join' } }
    assert.equal((await deliver(app, endpoint, nameless)).body.data.duplicate, false)
    assert.equal((await deliver(app, endpoint, nameless)).body.data.duplicate, true)
    const long = { type: 'event_callback', event_id: 'x'.repeat(100_000), event: { type: 'team_join' } }
    assert.equal((await deliver(app, endpoint, long)).body.data.duplicate, false)
    assert.equal((await deliver(app, endpoint, long)).body.data.duplicate, true)
  })

  test('responds with the same bytes to every path that is not an active endpoint of the provider', async () => {
    const endpoint = await addEndpoint(app, owner, 'telegram')
    const revoked = await addEndpoint(app, owner, 'telegram')
    await db.execute(sql`
      update connections set status = 'revoked', deleted_at = now() where id = ${revoked.connectionId}`)
    const pending = await addEndpoint(app, owner, 'telegram')
    await db.execute(sql`update connector_endpoints set status = 'pending' where id = ${pending.id}`)
    const responses = [
      await deliver(app, revoked, telegram.body(1)),
      await deliver(app, pending, telegram.body(1)),
      await unsigned(endpoint.path.replace('telegram', 'slack')),
      await unsigned(endpoint.path.replace('telegram', 'nobody')),
      await unsigned(`/api/v1/connectors/webhooks/telegram/${owner.userId}`),
      await unsigned('/api/v1/connectors/webhooks/telegram/not-an-id'),
      await unsigned('/api/v1/connectors/webhooks/telegram/%00'),
    ]
    for (const { status, body } of responses) {
      assert.deepEqual(
        [status, body],
        [404, { success: false, error: { code: 'NOT_FOUND', message: 'Endpoint not found' } }],
      )
    }
  })

  test('accepts a body of up to 1 MB', async () => {
    const endpoint = await addEndpoint(app, owner, 'telegram')
    const body = (size: number) => JSON.stringify({ update_id: size, padding: 'x'.repeat(size) })
    assert.equal((await deliver(app, endpoint, body(1_000_000))).status, 200)
    const { status, body: rejection } = await deliver(app, endpoint, body(1_048_576))
    assert.deepEqual([status, rejection.error.code], [400, 'BAD_REQUEST'])
  })

  test('responds with 503 if an event cannot be stored, and accepts it when it is sent again', async () => {
    const endpoint = await addEndpoint(app, owner, 'telegram', { agentId: agent.id })
    await db.execute(
      sql`create function reject_insert() returns trigger language plpgsql as 'begin raise exception $$no$$; end'`,
    )
    await db.execute(
      sql`create trigger reject_insert before insert on pgboss.job_common for each row execute function reject_insert()`,
    )
    const rejected = await deliver(app, endpoint, telegram.body(1))
    await db.execute(sql`drop trigger reject_insert on pgboss.job_common`)
    assert.deepEqual([rejected.status, rejected.body.error.code], [503, 'SERVICE_UNAVAILABLE'])
    assert.deepEqual(await eventsOf(endpoint), [], 'no event without its job')
    const { status, body } = await deliver(app, endpoint, telegram.body(1))
    assert.deepEqual([status, body.data.duplicate], [200, false])
    assert.equal(await jobsOf(endpoint), 1)
  })

  test('enqueues one job for a message that arrives in many requests, and none for an event without a message', async () => {
    const endpoint = await addEndpoint(app, owner, 'telegram', { agentId: agent.id })
    const numbers = Array.from({ length: 300 }, (_, i) => (i % 10 === 9 ? i - 1 : i))
    const responses = await Promise.all(numbers.map((n) => deliver(app, endpoint, telegram.body(n))))
    assert.ok(responses.every(({ status }) => status === 200))
    assert.equal(responses.filter(({ body }) => body.data.duplicate).length, 30)
    assert.equal((await eventsOf(endpoint)).length, 270)
    assert.equal(await jobsOf(endpoint), 270)
    await deliver(app, endpoint, { update_id: 1_000, my_chat_member: {} })
    assert.equal(await jobsOf(endpoint), 270)
  })

  test('a flooded endpoint uses up its own rate limit only', async () => {
    const limited = await app.secondServer({ RATE_LIMIT_RECEIVE: '5' }, { work: false })
    const flooded = await addEndpoint(app, owner, 'telegram')
    const other = await addEndpoint(app, owner, 'telegram')
    const statuses = []
    for (let n = 0; n < 8; n++) statuses.push((await deliver(limited, flooded, telegram.body(n))).status)
    assert.deepEqual(statuses, [200, 200, 200, 200, 200, 429, 429, 429])
    assert.equal((await deliver(limited, other, telegram.body(1))).status, 200)
  })
})

test('deletes the secrets of the endpoints with their connection, and the endpoints with the key of their last event', async () => {
  const kept = await addEndpoint(app, owner, 'telegram')
  const revoked = await addEndpoint(app, owner, 'telegram')
  const abandoned = await addEndpoint(app, owner, 'telegram')
  await deliver(app, revoked, samples['telegram']!.body(1))
  await db.execute(
    sql`update connections set status = 'revoked', deleted_at = now() where id = ${revoked.connectionId}`,
  )
  await db.execute(sql`
    update connector_endpoints set status = 'pending', created_at = now() - interval '2 hours' where id = ${abandoned.id}`)
  const left = async () => {
    const rows = await db.rows<{ id: string; hasSecret: boolean }>(sql`
      select id, secret is not null as has_secret from connector_endpoints
      where id in (${kept.id}, ${revoked.id}, ${abandoned.id}) order by id`)
    return rows.map(({ id, hasSecret }) => [id, hasSecret])
  }
  await expireEndpoints(db, 8)
  assert.deepEqual(await left(), [
    [kept.id, true],
    [revoked.id, false],
  ])
  await db.execute(
    sql`update connector_event_keys set seen_at = now() - interval '9 days' where endpoint_id = ${revoked.id}`,
  )
  await expireEndpoints(db, 8)
  assert.deepEqual(await left(), [[kept.id, true]])
})

test("unverified requests do not use up the provider's rate limit", async () => {
  const limited = await app.secondServer({ RATE_LIMIT_RECEIVE: '3' }, { work: false })
  const endpoint = await addEndpoint(limited, owner, 'github')
  const { pathname } = new URL(endpoint.url)
  const statuses: number[] = []
  for (let n = 0; n < 5; n++) {
    const response = await limited.call('POST', pathname, {
      body: '{}',
      headers: { 'content-type': 'application/json' },
    })
    statuses.push(response.status)
  }
  assert.deepEqual(statuses, [401, 401, 401, 429, 429], 'unverified requests have a limit of their own')
  const send = (n: number) => deliver(limited, endpoint, samples['github']!.body(n))
  for (let n = 0; n < 3; n++) assert.equal((await send(n)).status, 200)
  const over = await send(3)
  assert.equal(over.status, 429)
  assert.ok(Number(over.headers.get('retry-after')) > 0)
  assert.equal((await eventsOf(endpoint)).length, 3)
})

test('does not wait for the body of a request to an endpoint that does not exist', async () => {
  const { hostname, port } = new URL(app.url)
  const head = [
    `POST /api/v1/connectors/webhooks/github/${newId()} HTTP/1.1`,
    'Host: localhost',
    'Content-Length: 900000',
  ]
  const [response] = await sendRaw(`http://${hostname}:${port}`, `${head.join('\r\n')}\r\n\r\n{`)
  assert.equal(response?.status, 404)
  assert.match(response?.body ?? '', /Endpoint not found/)
})

describe('the events of an endpoint', () => {
  const list = (path: string, as = owner) => app.call('GET', `/api/v1/connections/${path}`, { as })

  test('lists the events of an endpoint to the owner of the connection, newest first, without secrets', async () => {
    const endpoint = await addEndpoint(app, owner, 'telegram', { agentId: agent.id })
    for (let n = 0; n < 3; n++) await deliver(app, endpoint, samples['telegram']!.body(n))
    const endpoints = await list(`${endpoint.connectionId}/endpoints`)
    const { createdAt, ...shown } = endpoints.body.data.items[0]
    assert.ok(Date.parse(createdAt) > 0)
    const { id, connectionId, url } = endpoint
    const expected = { id, connectionId, url, provider: 'telegram', status: 'active', agentId: agent.id, target: null }
    assert.deepEqual(shown, expected)
    const path = `${connectionId}/endpoints/${id}/events`
    const first = await list(`${path}?limit=2`)
    const second = await list(`${path}?limit=2&cursor=${first.body.data.nextCursor}`)
    assert.deepEqual(
      [...first.body.data.items, ...second.body.data.items].map((event: { id: string }) => event.id),
      ['2', '1', '0'],
    )
    assert.equal(second.body.data.nextCursor, null)
    assert.doesNotMatch(endpoints.text + first.text, /planted|secret/)
  })

  test('lists the events of an endpoint only to the owner of the connection', async () => {
    const endpoint = await addEndpoint(app, owner, 'telegram')
    const colleague = await app.createUser(owner, 'admin')
    const outsider = await app.createOrg()
    for (const as of [colleague, outsider]) {
      assert.equal((await list(`${endpoint.connectionId}/endpoints`, as)).status, 404)
      assert.equal((await list(`${endpoint.connectionId}/endpoints/${endpoint.id}/events`, as)).status, 404)
    }
    const other = await addEndpoint(app, owner, 'telegram')
    assert.equal((await list(`${other.connectionId}/endpoints/${endpoint.id}/events`)).status, 404)
    assert.equal((await list('nonsense/endpoints')).status, 400)
  })
})
