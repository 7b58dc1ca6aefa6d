import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { beforeEach, describe, test } from 'node:test'
import { createAgent } from '../../test/support/chat.ts'
import { commandUrlOf, runAlone, runHere } from '../../test/support/processes/command.ts'
import { startTestApp } from '../../test/harness.ts'
import { addConnection, senders } from '../../test/support/endpoints.ts'
import { startRegistries } from '../../test/fakes/webhook-registries.ts'
import type { Registries } from '../../test/fakes/webhook-registries.ts'
import { sql } from '../platform/database/database.ts'
import { checkBaseUrl, setUpWebhook } from '../connectors/endpoints/webhook-setup.ts'
import type { SetUp } from '../connectors/endpoints/webhook-setup.ts'

const registries = await startRegistries()
const keys = { ENCRYPTION_KEYS: `test:${randomBytes(32).toString('base64')}` }
const app = await startTestApp({ ...registries.env, ...keys })
const { db } = app
const owner = await app.createOrg()
const agent = await createAgent(app, owner, { name: 'Helper' })
const baseUrl = 'https://hooks.example.com'
const commandEnv = {
  NODE_ENV: 'test',
  DATABASE_URL: commandUrlOf(app.connection),
  DATA_DIR: app.config.dataDir,
  CONNECTOR_WEBHOOK_BASE_URL: baseUrl,
  ...registries.env,
  ...keys,
}

/** Runs the command. */
const setup = async (words: string[], env: Record<string, string> = {}, run = runHere) => {
  const { code, stdout, stderr } = await run(['setup-webhook', ...words, '--json'], { env: { ...commandEnv, ...env } })
  assert.match(stdout, /^\{.*\}\n$/, stderr)
  assert.doesNotMatch(stdout + stderr, /planted/)
  return { code, json: JSON.parse(stdout) }
}

const endpointsOf = (connectionId: string) =>
  db.rows<{ id: string; status: string; url: string }>(sql`
    select id, status, url from connector_endpoints where connection_id = ${connectionId} order by created_at, id`)

beforeEach(() => registries.reset())

describe('atrium setup-webhook', () => {
  test('setup-webhook registers at Telegram with a new secret that the endpoint then verifies', async () => {
    const connection = await addConnection(app, owner, 'telegram')
    const words = ['telegram', '--connection', connection, '--agent', 'helper']
    const { code, json } = await setup(words, {}, runAlone)
    assert.equal(code, 0, JSON.stringify(json))
    const { id, url } = json.endpoint
    assert.equal(url, `${baseUrl}/api/v1/connectors/webhooks/telegram/${id}`)
    assert.deepEqual(json, { endpoint: { id, url }, registered: true })
    const [hook] = registries.hooks.telegram
    assert.equal(hook?.url, url)
    assert.match(hook.secret ?? '', /^[\w-]{43}$/)
    const [row] = await db.rows<{ secret: string; agentId: string }>(sql`
      select secret, agent_id from connector_endpoints where id = ${id}`)
    assert.deepEqual([row?.agentId, row?.secret.includes(hook.secret ?? '-')], [agent.id, false])
    const update = { update_id: 1, my_chat_member: {} }
    const send = (secret: string) =>
      app.call('POST', new URL(url).pathname, { json: update, headers: { 'x-telegram-bot-api-secret-token': secret } })
    assert.equal((await send('guessed')).status, 401)
    assert.equal((await send(hook.secret ?? '')).status, 200)
    const { body } = await app.call('GET', '/api/v1/audit-log', { as: owner })
    assert.ok(body.data.items.some(({ action }: { action: string }) => action === 'endpoint.created'))
  })

  test('setup-webhook replaces an existing webhook only with --replace and names it otherwise', async () => {
    const connection = await addConnection(app, owner, 'telegram')
    registries.hooks.telegram.push({ id: 'bot', url: 'https://elsewhere.example.com/hook' })
    const words = ['telegram', '--connection', connection, '--agent', 'helper']
    const rejected = await setup(words, {}, runAlone)
    assert.deepEqual([rejected.code, rejected.json.error.code], [1, 'CONFLICT'])
    assert.match(rejected.json.error.message, /https:\/\/elsewhere\.example\.com\/hook.*--replace/)
    assert.ok(!registries.calls.some((call) => call.includes('setWebhook')))
    assert.deepEqual(await endpointsOf(connection), [])
    const first = await setup([...words, '--replace'])
    assert.equal(first.json.replaced, 'https://elsewhere.example.com/hook')
    const second = await setup([...words, '--replace'])
    assert.equal(second.json.replaced, first.json.endpoint.url)
    assert.deepEqual(
      (await endpointsOf(connection)).map(({ id, status }) => [id, status]),
      [
        [first.json.endpoint.id, 'closed'],
        [second.json.endpoint.id, 'active'],
      ],
    )
  })

  test('setup-webhook in production rejects base URLs that the provider cannot reach and changes nothing', async () => {
    const connection = await addConnection(app, owner, 'telegram')
    const words = ['telegram', '--connection', connection, '--agent', 'helper']
    const bad = [
      '',
      'http://hooks.example.com',
      'https://localhost',
      'https://10.0.0.7',
      'https://hooks.example.com:9000',
    ]
    for (const url of bad) {
      const { code, json } = await setup(words, { NODE_ENV: 'production', CONNECTOR_WEBHOOK_BASE_URL: url })
      assert.deepEqual([url, code, json.error.code], [url, 1, 'BAD_REQUEST'])
      assert.match(json.error.message, /CONNECTOR_WEBHOOK_BASE_URL/)
    }
    assert.deepEqual([registries.calls, await endpointsOf(connection)], [[], []])
  })

  test('setup-webhook creates the endpoint without registration for providers without an API', async () => {
    const cases: [string, string[], string[]][] = [
      ['slack', ['--agent', 'helper', '--secret', 'slack-signing-secret'], []],
      ['discord', ['--agent', 'helper', '--public-key', senders['discord']!.settings.publicKey ?? ''], []],
      ['jira', [], ['secret']],
      ['gmail', ['--service-account', 'push@project.iam.gserviceaccount.com'], []],
      ['github', [], ['secret']],
    ]
    for (const [provider, words, more] of cases) {
      const connection = await addConnection(app, owner, provider)
      const { code, json } = await setup([provider, '--connection', connection, ...words])
      assert.equal(code, 0, JSON.stringify(json))
      assert.deepEqual(Object.keys(json).toSorted(), ['endpoint', 'registered', ...more].toSorted())
      assert.equal(json.registered, false)
      assert.deepEqual(
        (await endpointsOf(connection)).map(({ status }) => status),
        ['active'],
      )
    }
    assert.deepEqual(registries.calls, [])
  })

  test('setup-webhook rejects missing and invalid arguments', async () => {
    const telegram = await addConnection(app, owner, 'telegram')
    const slack = await addConnection(app, owner, 'slack')
    const discord = await addConnection(app, owner, 'discord')
    const gmail = await addConnection(app, owner, 'gmail')
    const cases: [string[], string][] = [
      [['telegram', '--connection', owner.userId, '--agent', 'helper'], 'NOT_FOUND'],
      [['telegram', '--connection', 'nonsense', '--agent', 'helper'], 'NOT_FOUND'],
      [['telegram', '--connection', slack, '--agent', 'helper'], 'BAD_REQUEST'],
      [['telegram', '--connection', telegram, '--agent', 'nobody'], 'NOT_FOUND'],
      [['slack', '--connection', slack, '--agent', 'helper'], 'BAD_REQUEST'],
      [['discord', '--connection', discord, '--agent', 'helper', '--public-key', 'abc'], 'BAD_REQUEST'],
      [['gmail', '--connection', gmail], 'BAD_REQUEST'],
    ]
    for (const [words, code] of cases) {
      const answer = await setup(words)
      assert.deepEqual([words, answer.code, answer.json.error.code], [words, 1, code])
    }
    const unknown = await setup(['myspace', '--connection', telegram])
    assert.deepEqual([unknown.code, unknown.json.error.code], [1, 'USAGE'])
    const withoutAgent = await setup(['telegram', '--connection', telegram])
    assert.deepEqual([withoutAgent.code, withoutAgent.json.error.code], [1, 'USAGE'])
  })
})

type Provider = keyof Registries['hooks']

const asked = async (provider: Provider, more: Partial<SetUp> = {}): Promise<SetUp> => ({
  provider,
  connection: {
    orgId: owner.orgId,
    id: await addConnection(app, owner, provider),
    userId: owner.userId,
  },
  workspaceId: owner.workspaceId,
  agentId: agent.id,
  baseUrl,
  replace: false,
  ...more,
})

const targets: Record<Provider, Partial<SetUp>> = {
  telegram: {},
  github: { target: 'acme/site' },
  linear: {},
  stripe: {},
  twilio: { target: '+15550002' },
}

/** The last request of a registration at each provider. */
const lastCalls: Record<Provider, RegExp> = {
  telegram: /setWebhook/,
  github: /^POST .*hooks$/,
  linear: /graphql/,
  stripe: /^POST/,
  twilio: /^POST/,
}

for (const provider of Object.keys(targets) as Provider[]) {
  describe(`a webhook of ${provider}`, () => {
    test(`setup-webhook registers a webhook of ${provider} and verifies its signatures`, async () => {
      const made = await setUpWebhook(app.deps, await asked(provider, targets[provider]))
      assert.equal(made.registered, true)
      const [hook] = registries.hooks[provider]
      assert.equal(hook?.url, made.endpoint.url)
      const body = provider === 'twilio' ? 'MessageSid=SM1&SmsStatus=delivered' : '{"id":"evt_1","update_id":1}'
      const key = hook.secret ?? '12345'
      const signed = senders[provider]!.sign(body, made.endpoint.url, { key })
      const path = new URL(made.endpoint.url).pathname
      const send = (text: string) => app.call('POST', path, { headers: signed.headers, body: text })
      assert.equal((await send(signed.body)).status, 200)
    })

    test(`a failed registration at ${provider} leaves no endpoint and no webhook`, async () => {
      const wishes = await asked(provider, targets[provider])
      registries.failAt(lastCalls[provider])
      await assert.rejects(setUpWebhook(app.deps, wishes), /500/)
      assert.deepEqual(await endpointsOf(wishes.connection.id), [])
      assert.deepEqual(registries.hooks[provider], [])
    })

    test(`a webhook of ${provider} is deleted again when storing its endpoint fails`, async () => {
      const wishes = await asked(provider, targets[provider])
      await db.execute(
        sql`create function fail() returns trigger language plpgsql as 'begin raise exception $$no$$; end'`,
      )
      await db.execute(
        sql`create trigger fail before update on connector_endpoints for each row execute function fail()`,
      )
      try {
        await assert.rejects(setUpWebhook(app.deps, wishes))
      } finally {
        await db.execute(sql`drop trigger fail on connector_endpoints`)
        await db.execute(sql`drop function fail`)
      }
      assert.deepEqual([registries.hooks[provider], await endpointsOf(wishes.connection.id)], [[], []])
    })

    test(`an existing webhook of ${provider} is named, and replaced without a duplicate`, async () => {
      const first = await asked(provider, targets[provider])
      const made = await setUpWebhook(app.deps, first)
      await assert.rejects(setUpWebhook(app.deps, first), new RegExp(made.endpoint.id))
      const again = await setUpWebhook(app.deps, { ...first, replace: true })
      assert.equal(again.replaced, made.endpoint.url)
      assert.deepEqual(
        registries.hooks[provider].map(({ url }) => url),
        [again.endpoint.url],
      )
      assert.deepEqual(
        (await endpointsOf(first.connection.id)).map(({ id, status }) => [id, status]),
        [
          [made.endpoint.id, 'closed'],
          [again.endpoint.id, 'active'],
        ],
      )
    })
  })
}

test('the account of the agent is stored for providers that send its own messages back as events', async () => {
  const id = await addConnection(app, owner, 'jira', 'cloud-1')
  const wishes = { ...(await asked('telegram')), connection: { orgId: owner.orgId, id, userId: owner.userId } }
  const made = await setUpWebhook(app.deps, { ...wishes, provider: 'jira' })
  const row = await db.row<{ settings: { ownIds: string[] } }>(sql`
    select settings from connector_endpoints where id = ${made.endpoint.id}`)
  assert.deepEqual(row?.settings.ownIds, ['jira-helper'])
})

test('a webhook with a given secret is not registered at the provider', async () => {
  const made = await setUpWebhook(app.deps, await asked('linear', { secret: 'lin_wh_of_the_app' }))
  assert.deepEqual([made.registered, made.secret, registries.calls], [false, undefined, []])
  const signed = senders['linear']!.sign('{"type":"Issue"}', made.endpoint.url, { key: 'lin_wh_of_the_app' })
  const path = new URL(made.endpoint.url).pathname
  assert.equal((await app.call('POST', path, { headers: signed.headers, body: signed.body })).status, 200)
})

test('GitHub is asked to ping the webhook after the registration', async () => {
  await setUpWebhook(app.deps, await asked('github', targets.github))
  assert.match(registries.calls.at(-1) ?? '', /^POST \/repos\/acme\/site\/hooks\/100\/pings$/)
})

test('an error names the URL of a webhook that could not be deleted again', async () => {
  const wishes = await asked('telegram')
  registries.failAt(/getWebhookInfo|deleteWebhook/, { happens: true })
  await assert.rejects(setUpWebhook(app.deps, { ...wishes }), /500/)
  registries.failAt(/setWebhook|deleteWebhook/, { happens: true })
  await assert.rejects(setUpWebhook(app.deps, wishes), /could not be removed again.*hooks\.example\.com/)
  assert.deepEqual(await endpointsOf(wishes.connection.id), [])
})

test('a base URL in production must be https, public and use a port that the provider connects to', async () => {
  const ports = [443, 80, 88, 8443]
  const check = (url: string | undefined, isProduction = true) => checkBaseUrl(url, { isProduction, ports })
  assert.equal(await check('https://93.184.215.14:8443'), 'https://93.184.215.14:8443')
  assert.equal(await check('http://localhost:3000', false), 'http://localhost:3000')
  const bad = [
    undefined,
    'https://127.0.0.1',
    'https://[::1]',
    'https://192.168.1.1',
    'https://169.254.169.254',
    'https://server',
    'https://93.184.215.14:444',
  ]
  for (const url of bad) await assert.rejects(check(url), /CONNECTOR_WEBHOOK_BASE_URL/, url ?? 'unset')
})
