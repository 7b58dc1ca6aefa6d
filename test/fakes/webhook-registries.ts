// The webhook registration APIs of Telegram, GitHub, Linear, Stripe and Twilio, which reject what the real ones reject.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { after } from 'node:test'

// oxlint-disable-next-line typescript/no-explicit-any -- tests read fields of responses of any shape
type Json = any

export interface Hook {
  id: string
  url: string
  secret?: string
}

export interface Registries {
  env: Record<string, string>
  /** The registered webhooks by provider. Telegram and Twilio have at most one. */
  hooks: Record<'telegram' | 'github' | 'linear' | 'stripe' | 'twilio', Hook[]>
  /** `POST /repos/a/b/hooks` and so on, since the last reset. */
  calls: string[]
  /** Fails all requests whose method and path match. With `happens`, their effect happens before the failure. */
  failAt(pattern: RegExp | undefined, options?: { status?: number; happens?: boolean }): void
  reset(): void
}

interface Received {
  body: Json
  path: string
  method: string
  headers: IncomingMessage['headers']
  query: URLSearchParams
}
type Reply = [number, Json] | undefined

const githubOf = (hooks: Hook[], { method, path, body, headers }: Received): Reply => {
  if (headers.authorization !== 'Bearer gho_planted-github-token') return [401, { message: 'Bad credentials' }]
  if (method === 'GET' && path === '/user') return [200, { id: 1, login: 'helper-bot' }]
  const [, id] = /^\/repos\/acme\/site\/hooks(?:\/(\d+)(?:\/pings)?)?$/.exec(path) ?? [undefined, undefined]
  if (!path.startsWith('/repos/acme/site/hooks')) return [404, { message: 'Not Found' }]
  if (method === 'GET') return [200, hooks.map((hook) => ({ id: Number(hook.id), config: { url: hook.url } }))]
  if (method === 'POST' && id === undefined) {
    const { url, secret, content_type: type } = body.config ?? {}
    if (!url || !secret || type !== 'json' || !Array.isArray(body.events))
      return [422, { message: 'Validation Failed' }]
    const hook = { id: String(100 + hooks.length), url, secret }
    hooks.push(hook)
    return [201, { id: Number(hook.id) }]
  }
  const index = hooks.findIndex((hook) => hook.id === id)
  if (index === -1) return [404, { message: 'Not Found' }]
  if (method === 'DELETE') hooks.splice(index, 1)
  return [204, undefined]
}

const linearOf = (hooks: Hook[], { body, headers }: Received): Reply => {
  if (headers.authorization !== 'Bearer planted-linear-token') return [401, { errors: [{ message: 'no' }] }]
  const { query, variables } = body
  if (query.includes('webhooks('))
    return [200, { data: { viewer: { id: 'u1' }, webhooks: { nodes: hooks.map(({ id, url }) => ({ id, url })) } } }]
  if (query.includes('webhookCreate')) {
    const { url, secret, resourceTypes } = variables.input
    if (!url || !secret || resourceTypes.length === 0)
      return [400, { errors: [{ message: 'Argument Validation Error' }] }]
    hooks.push({ id: `lw${hooks.length}`, url, secret })
    return [200, { data: { webhookCreate: { success: true, webhook: { id: hooks.at(-1)?.id } } } }]
  }
  const index = hooks.findIndex(({ id }) => id === variables.id)
  if (index === -1) return [200, { errors: [{ message: 'Entity not found' }] }]
  hooks.splice(index, 1)
  return [200, { data: { webhookDelete: { success: true } } }]
}

const stripeOf = (hooks: Hook[], { method, path, body, headers }: Received): Reply => {
  if (headers.authorization !== 'Bearer sk_test_planted') return [401, { error: { message: 'Invalid API Key' } }]
  if (method === 'GET') return [200, { data: hooks.map(({ id, url }) => ({ id, url })) }]
  if (method === 'POST') {
    if (!body.url || body['enabled_events[]'] !== '*') return [400, { error: { message: 'Missing required param.' } }]
    hooks.push({ id: `we_${hooks.length}`, url: body.url, secret: `whsec_of_stripe_${hooks.length}` })
    return [200, hooks.at(-1)]
  }
  const index = hooks.findIndex(({ id }) => path.endsWith(`/${id}`))
  if (index !== -1) hooks.splice(index, 1)
  return index === -1 ? [404, { error: { message: 'No such webhook endpoint' } }] : [200, { deleted: true }]
}

const telegramOf = (hooks: Hook[], { path, body }: Received): Reply => {
  const name = path.slice('/bot123456:planted-telegram-token/'.length)
  const ok = (result: Json): Reply => [200, { ok: true, result }]
  if (name === 'getMe') return ok({ id: 123_456, is_bot: true, username: 'helper_bot' })
  if (name === 'getWebhookInfo') return ok({ url: hooks[0]?.url ?? '', pending_update_count: 0 })
  if (name === 'deleteWebhook') {
    hooks.length = 0
    return ok(true)
  }
  if (name !== 'setWebhook') return [404, { ok: false, description: 'Not Found' }]
  const { url, secret_token: secret } = body
  if (!/^[A-Za-z0-9_-]{1,256}$/.test(secret)) return [400, { ok: false, description: 'Bad Request: secret token' }]
  hooks.splice(0, 1, { id: 'bot', url, secret })
  return ok(true)
}

const twilioOf = (hooks: Hook[], { method, path, body, headers, query }: Received): Reply => {
  if (headers.authorization !== `Basic ${Buffer.from('AC0000:12345').toString('base64')}`)
    return [401, { message: 'Authenticate' }]
  const root = '/2010-04-01/Accounts/AC0000/IncomingPhoneNumbers'
  if (method === 'GET' && path === `${root}.json`) {
    const found = query.get('PhoneNumber') === '+15550002' ? [{ sid: 'PN1', sms_url: hooks[0]?.url ?? '' }] : []
    return [200, { incoming_phone_numbers: found }]
  }
  if (method !== 'POST' || path !== `${root}/PN1.json`) return [404, { message: 'not found' }]
  hooks.length = 0
  if (body.SmsUrl) hooks.push({ id: 'PN1', url: body.SmsUrl })
  return [200, { sid: 'PN1' }]
}

const responseOf = (hooks: Registries['hooks'], received: Received): Reply => {
  if (received.path.startsWith('/bot')) return telegramOf(hooks.telegram, received)
  if (received.path === '/ex/jira/cloud-1/rest/api/3/myself') return [200, { accountId: 'jira-helper' }]
  if (received.path === '/graphql') return linearOf(hooks.linear, received)
  if (received.path.startsWith('/v1/webhook_endpoints')) return stripeOf(hooks.stripe, received)
  if (received.path.startsWith('/2010-04-01/')) return twilioOf(hooks.twilio, received)
  return githubOf(hooks.github, received)
}

const readAll = async (request: IncomingMessage): Promise<Json> => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const text = Buffer.concat(chunks).toString()
  if (text === '') return {}
  const isForm = request.headers['content-type']?.startsWith('application/x-www-form-urlencoded')
  return isForm ? Object.fromEntries(new URLSearchParams(text)) : JSON.parse(text)
}

/** Starts all of them on one port, which closes after the last test of the file. */
export const startRegistries = async (): Promise<Registries> => {
  const hooks: Registries['hooks'] = { telegram: [], github: [], linear: [], stripe: [], twilio: [] }
  const calls: string[] = []
  let failing: { pattern: RegExp; status: number; happens: boolean } | undefined
  const server = createServer((request, response) => {
    void (async () => {
      const body = await readAll(request)
      const url = new URL(request.url ?? '/', 'http://localhost')
      const received = {
        body,
        path: decodeURIComponent(url.pathname),
        method: request.method ?? '',
        headers: request.headers,
        query: url.searchParams,
      }
      const call = `${received.method} ${received.path}`
      calls.push(call)
      const fails = failing?.pattern.test(call) === true
      const [status, payload] =
        fails && !failing?.happens ? [500, undefined] : (responseOf(hooks, received) ?? [404, {}])
      response.writeHead(fails ? (failing?.status ?? 500) : status, { 'content-type': 'application/json' })
      response.end(fails ? '<html>Something broke</html>' : payload === undefined ? '' : JSON.stringify(payload))
    })()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  assert.ok(address !== null && typeof address === 'object')
  after(() => {
    server.closeAllConnections()
    server.close()
  })
  const base = `http://127.0.0.1:${address.port}`
  return {
    env: Object.fromEntries(
      ['TELEGRAM', 'GITHUB', 'JIRA', 'LINEAR', 'STRIPE', 'TWILIO'].map((slug) => [`CONNECTOR_${slug}_BASE_URL`, base]),
    ),
    hooks,
    calls,
    failAt: (pattern, { status = 500, happens = false } = {}) => {
      failing = pattern && { pattern, status, happens }
    },
    reset: () => {
      for (const list of Object.values(hooks)) list.length = 0
      calls.length = 0
      failing = undefined
    },
  }
}
