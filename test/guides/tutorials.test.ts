// The tutorials, as a reader follows them. Ollama, Slack and Stripe are fakes on loopback; people are replaced by the test.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { globSync } from 'node:fs'

import { homedir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { promisify } from 'node:util'
import { cloneDatabase, sharedServer, urlOf } from '../database.ts'
import { reply, startFakeModel } from '../fakes/model.ts'
import { freePort } from '../fakes/programs.ts'
import { addOAuth, startProvider } from '../fakes/provider.ts'
import { hasProxy } from '../fakes/proxy.ts'
import { signedEvent } from '../fakes/stripe.ts'
import { startBrowser, violationsOf } from '../support/browser.ts'
import { senders } from '../support/endpoints.ts'
import { available } from '../support/require.ts'
import { until } from '../support/until.ts'
import { blocksOf, makeCheckout, root, runBlocks } from './shell.ts'
import type { ShellOptions } from './shell.ts'

/** What npm needs on this machine to reach its registry. */
const registry = Object.fromEntries(
  Object.entries(process.env).flatMap(([name, value]) =>
    /^(?:npm_config_\w+|NODE_EXTRA_CA_CERTS|https?_proxy|no_proxy)$/i.test(name) && value !== undefined
      ? [[name, value]]
      : [],
  ),
)

const ping = (): Promise<boolean> =>
  promisify(execFile)('npm', ['ping', '--fetch-retries=0'], { timeout: 20_000 }).then(
    () => true,
    () => false,
  )

const hasRegistry = await available('npm-registry', ping, 'allow access to the npm registry')
const hasNginx = await hasProxy('nginx')
const server = await sharedServer()
after(() => server.stop())

const documentOf = (name: string): string => `docs/tutorials/${name}.md`
const done = new Set<string>()
/** Is replaced by the URL of the tutorial's database. */
const databaseUrl = 'the database'

/** Follows a tutorial from the start, with an empty database. Returns everything that was printed. */
const follow = async (name: string, { env = {}, ...options }: Partial<ShellOptions> = {}): Promise<string> => {
  const document = documentOf(name)
  done.add(document)
  const database = await cloneDatabase(server.connection)
  try {
    const blocks = await blocksOf(document)
    const notRun = blocks.flatMap((block) => block.notRun ?? [])
    assert.deepEqual(notRun, name === 'ollama' ? ['needs Ollama'] : [])
    const url = urlOf(database.connection)
    const replace = Object.entries(options.replace ?? {}).map(([from, to]) => [from, to === databaseUrl ? url : to])
    return await runBlocks(
      blocks.filter((block) => block.notRun === undefined),
      {
        folder: await makeCheckout(),
        ...options,
        replace: Object.fromEntries(replace),
        env: { DATABASE_URL: url, ...env },
      },
    )
  } finally {
    await database.drop()
  }
}

test('an agent answers with a model of Ollama', async () => {
  const ollama = await startFakeModel()
  ollama.play(reply(['The office ', 'closes at 17.']))
  const output = await follow('ollama', {
    replace: { 'http://localhost:11434/v1': ollama.baseUrl },
  })
  assert.match(output, /The office closes at 17\./)
  assert.equal(ollama.requests.length, 1)
  assert.match(JSON.stringify(ollama.requests), /qwen3/)
  assert.match(JSON.stringify(ollama.requests), /hours\.txt/)
})

test('an agent answers a mention in Slack once, in the channel, by the app that was connected', async () => {
  const slack = await startProvider()
  const oauth = addOAuth(slack, {
    clientId: '1234567890.1234567890',
    clientSecret: '0123456789abcdef0123456789abcdef',
    authorizePath: '/oauth/v2/authorize',
    tokenPath: '/api/oauth.v2.access',
    pkce: false,
    scope: 'app_mentions:read,chat:write',
    more: { ok: true, team: { id: 'T1', name: 'Planets' }, bot_user_id: 'UBOT' },
  })
  slack.on('POST', '/api/auth.test', { body: { ok: true, team_id: 'T1', team: 'Planets' } })
  const sent: unknown[] = []
  slack.on('POST', '/api/chat.postMessage', (seen) => {
    if (!oauth.isGood(seen)) return { body: { ok: false, error: 'invalid_auth' } }
    sent.push(seen.body)
    return { body: { ok: true, ts: '1.000001' } }
  })
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const output = await follow('slack', {
    env: { CONNECTOR_SLACK_BASE_URL: slack.url, PORT: String(port), SERVER_URL: url },
    byHand: {
      approve: async (connection, oauthUrl, key) => {
        const { code, state, redirectUri } = oauth.consent(oauthUrl ?? '')
        assert.equal(redirectUri, 'https://atrium.example.com/api/v1/connections/oauth/callback')
        const response = await fetch(`${url}/api/v1/connections/${connection}/oauth`, {
          method: 'POST',
          headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
          body: JSON.stringify({ code, state }),
        })
        assert.equal(response.status, 200, await response.text())
      },
      mention: async (endpointUrl = '') => {
        assert.ok(endpointUrl.startsWith('https://atrium.example.com/'), endpointUrl)
        const post = async (body: object): Promise<string> => {
          const signed = senders['slack']?.sign(JSON.stringify(body), endpointUrl)
          assert.ok(signed)
          const response = await fetch(url + new URL(endpointUrl).pathname, { method: 'POST', ...signed })
          assert.equal(response.status, 200)
          return response.text()
        }
        assert.match(await post({ type: 'url_verification', challenge: 'prove it' }), /prove it/)
        const event = { type: 'app_mention', channel: 'C1', user: 'U1', text: '<@UBOT> Hello', ts: '1700000000.000001' }
        const mention = { type: 'event_callback', event_id: 'Ev1', authorizations: [{ user_id: 'UBOT' }], event }
        await post(mention)
        await post(mention)
        await until('the reply is in Slack', () => sent.length > 0)
      },
    },
  })
  assert.match(output, /"status":"answered"/)
  assert.equal(sent.length, 1)
  assert.match(JSON.stringify(sent), /"channel":"C1"/)
})

test('events of Stripe reach the program once, signed, and a replayed one is not handled twice', async () => {
  const [port, program] = [await freePort(), await freePort()]
  const output = await follow('stripe', {
    env: { PORT: String(port) },
    replace: { 4242: String(program) },
    byHand: {
      pay: async (receiveUrl = '', secret = '') => {
        const at = `http://127.0.0.1:${port}${new URL(receiveUrl).pathname}`
        const { body, headers } = signedEvent('invoice.paid', { id: 'in_1', object: 'invoice' }, { secret })
        for (let time = 0; time < 2; time++) {
          const response = await fetch(at, { method: 'POST', body, headers })
          assert.equal(response.status, 200, await response.text())
        }
        const forged = signedEvent('invoice.paid', { id: 'in_2', object: 'invoice' }, { secret: 'whsec_of_somebody' })
        assert.equal((await fetch(at, { method: 'POST', ...forged })).status, 401)
      },
    },
  })
  // Once by grep and once by cat.
  assert.equal(output.match(/(?:^|\})invoice\.paid$/gm)?.length, 2, output)
})

if (hasRegistry) {
  test('the chat page shows the replies of the agent and does not have the key', async () => {
    const [port, pagePort] = [await freePort(), await freePort()]
    const { open } = await startBrowser()
    await follow('chat-page', {
      env: { ...registry, npm_config_cache: join(homedir(), '.npm'), PORT: String(port) },
      replace: { 5173: String(pagePort), 'http://127.0.0.1:3000': `http://127.0.0.1:${port}` },
      byHand: {
        chat: async () => {
          const { page, pageErrors } = await open()
          const seen: string[] = []
          page.on('request', (request) => seen.push(JSON.stringify(request.headers()), request.url()))
          const at = `http://127.0.0.1:${pagePort}`
          await until('the page is served', () =>
            fetch(at).then(
              ({ ok }) => ok,
              () => false,
            ),
          )
          await page.goto(at)
          for (const text of ['Hello', 'And again']) {
            await page.getByLabel('Message').fill(text)
            await page.getByRole('button', { name: 'Send', disabled: false }).click()
            await page.getByText(`You wrote: “${text}”`).waitFor()
          }
          assert.deepEqual(await violationsOf(page), [])
          assert.deepEqual(pageErrors, [])
          assert.ok(!/atr_|authorization/i.test(seen.join('\n')), 'the page does not have the key')
          const other = await fetch(`${at}/api/v1/agents`)
          assert.doesNotMatch(await other.text(), /"success":true/, 'other routes are not forwarded')
        },
      },
    })
  })
}

if (hasNginx) {
  test('two API processes behind nginx answer every request while one of them restarts', async () => {
    const [first, second, proxy] = [await freePort(), await freePort(), await freePort()]
    const output = await follow('nginx', {
      hasJobs: true,
      env: { SERVER_URL: 'http://127.0.0.1:1' },
      replace: {
        'postgres://atrium:secret@127.0.0.1:5432/atrium': databaseUrl,
        3001: String(first),
        3002: String(second),
        8080: String(proxy),
      },
    })
    assert.match(output, /data: \[DONE\]/)
  })
}

test('every tutorial is followed by a test', () => {
  const followed = [
    ...done,
    ...(hasRegistry ? [] : [documentOf('chat-page')]),
    ...(hasNginx ? [] : [documentOf('nginx')]),
  ]
  assert.deepEqual(followed.toSorted(), globSync('docs/tutorials/*.md', { cwd: root }).toSorted())
})
