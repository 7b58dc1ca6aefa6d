// Signed requests of each provider, and endpoints to send them to.
import { createHash, createHmac, generateKeyPairSync, sign } from 'node:crypto'
import { endpointSecretColumn } from '../../src/connectors/endpoints/secrets.ts'
import { sealSecrets } from '../../src/connectors/connections/secrets.ts'
import type { EndpointSettings } from '../../src/connectors/endpoints/queries.ts'
import { sql } from '../../src/platform/database/database.ts'
import { claimKey } from '../../src/platform/database/directory.ts'
import { newId } from '../../src/platform/ids.ts'
import type { TestActor, TestApp } from '../harness.ts'

export interface Signed {
  headers: Record<string, string>
  body: string
  /** Appended to the URL. */
  query?: string
}

export interface Sender {
  secret: string
  settings: EndpointSettings
  /** A request as the provider would send it at `stampMs`, signed with `key` instead of the secret if given. */
  sign(
    body: string,
    url: string,
    options?: { stampMs?: number; key?: string; headers?: Record<string, string> },
  ): Signed
}

const json = { 'content-type': 'application/json' }
const hex = (key: string, ...parts: string[]): string => createHmac('sha256', key).update(parts.join('')).digest('hex')
const secondsOf = (ms: number): string => String(Math.floor(ms / 1_000))

const pair = generateKeyPairSync('ed25519')
const otherPair = generateKeyPairSync('ed25519')
const publicKey = Buffer.from(pair.publicKey.export({ format: 'jwk' }).x ?? '', 'base64url').toString('hex')

const hub = (header: string, id: string): Sender => ({
  secret: 'a secret of ours',
  settings: {},
  sign: (body, _url, { key = 'a secret of ours', headers = {} } = {}) => ({
    headers: { ...json, [header]: `sha256=${hex(key, body)}`, [id]: newId(), ...headers },
    body,
  }),
})

/** As documented by Twilio: the URL and all fields sorted by name. */
const twilioSignature = (url: string, fields: [string, string][], key: string): string => {
  const sorted = fields.toSorted(([a], [b]) => (a < b ? -1 : 1))
  return createHmac('sha1', key)
    .update(url + sorted.map(([name, value]) => name + value).join(''))
    .digest('base64')
}

export const senders: Record<string, Sender> = {
  telegram: {
    secret: 'telegram-secret_token',
    settings: {},
    sign: (body, _url, { key = 'telegram-secret_token' } = {}) => ({
      headers: { ...json, 'x-telegram-bot-api-secret-token': key },
      body,
    }),
  },
  slack: {
    secret: '8f742231b10e8888abcd99yyyzzz85a5',
    settings: {},
    sign: (body, _url, { stampMs = Date.now(), key = '8f742231b10e8888abcd99yyyzzz85a5', headers = {} } = {}) => {
      const stamp = secondsOf(stampMs)
      return {
        headers: {
          ...json,
          'x-slack-request-timestamp': stamp,
          'x-slack-signature': `v0=${hex(key, `v0:${stamp}:`, body)}`,
          ...headers,
        },
        body,
      }
    },
  },
  discord: {
    secret: '',
    settings: { publicKey },
    sign: (body, _url, { stampMs = Date.now(), key } = {}) => {
      const stamp = secondsOf(stampMs)
      const { privateKey } = key === undefined ? pair : otherPair
      const signature = sign(null, Buffer.from(stamp + body), privateKey).toString('hex')
      return { headers: { ...json, 'x-signature-timestamp': stamp, 'x-signature-ed25519': signature }, body }
    },
  },
  twilio: {
    secret: '12345',
    settings: {},
    sign: (body, url, { key = '12345' } = {}) => ({
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        'x-twilio-signature': twilioSignature(url, [...new URLSearchParams(body)], key),
      },
      body,
    }),
  },
  github: hub('x-hub-signature-256', 'x-github-delivery'),
  jira: hub('x-hub-signature', 'x-atlassian-webhook-identifier'),
  linear: {
    secret: 'lin_wh_secret',
    settings: {},
    sign: (body, _url, { stampMs = Date.now(), key = 'lin_wh_secret', headers = {} } = {}) => {
      const stamped = JSON.stringify({ ...(JSON.parse(body) as object), webhookTimestamp: stampMs })
      return {
        headers: { ...json, 'linear-signature': hex(key, stamped), 'linear-delivery': newId(), ...headers },
        body: stamped,
      }
    },
  },
  stripe: {
    secret: 'whsec_aSecret',
    settings: {},
    sign: (body, _url, { stampMs = Date.now(), key = 'whsec_aSecret' } = {}) => {
      const stamp = secondsOf(stampMs)
      return { headers: { ...json, 'stripe-signature': `t=${stamp},v1=${hex(key, `${stamp}.`, body)}` }, body }
    },
  },
}

/** The secrets of a connection of each provider. */
const credentials: Record<string, Record<string, string>> = {
  telegram: { botToken: '123456:planted-telegram-token' },
  slack: { accessToken: 'xoxb-planted-slack-token' },
  discord: { botToken: 'planted-discord-token' },
  twilio: { accountSid: 'AC0000', authToken: '12345' },
  github: { accessToken: 'gho_planted-github-token' },
  linear: { accessToken: 'planted-linear-token' },
  jira: { accessToken: 'planted-jira-token' },
  stripe: { secretKey: 'sk_test_planted' },
  gmail: { accessToken: 'planted-gmail-token' },
}

export interface TestEndpoint {
  id: string
  provider: string
  connectionId: string
  path: string
  /** The URL that the provider was given. */
  url: string
}

/** An active connection with its secrets. */
export const addConnection = async (
  { db, deps }: TestApp,
  owner: TestActor,
  provider: string,
  accountId: string | null = null,
): Promise<string> => {
  const id = newId()
  const sealed = sealSecrets(deps.secrets, { orgId: owner.orgId, id }, credentials[provider] ?? {})
  await db.execute(sql`
    insert into connections (org_id, id, user_id, connector_slug, label, status, secrets, secrets_version,
      account_id)
    values (${owner.orgId}, ${id}, ${owner.userId}, ${provider}, ${id}, 'active', ${sealed}, 1, ${accountId})`)
  return id
}

/** Binds a Linear organization to the org by a new connection; returns the id of the binding. */
export const bindLinear = async (app: TestApp, owner: TestActor, organizationId: string): Promise<string> => {
  const connectionId = await addConnection(app, owner, 'linear', organizationId)
  const id = newId()
  await app.db.execute(sql`
    insert into linear_bindings (org_id, id, organization_id, organization_name, connection_id, bound_by)
    values (${owner.orgId}, ${id}, ${organizationId}, 'Acme', ${connectionId}, ${owner.userId})`)
  await claimKey(app.db, 'linear', organizationId, owner.orgId)
  return id
}

/** An active endpoint like that of `atrium setup-webhook`. */
export const addEndpoint = async (
  app: TestApp,
  owner: TestActor,
  provider: string,
  {
    agentId = null,
    settings = {},
    accountId = null,
  }: { agentId?: string | null; settings?: EndpointSettings; accountId?: string | null } = {},
): Promise<TestEndpoint> => {
  const id = newId()
  const connectionId = await addConnection(app, owner, provider, accountId)
  const path = `/api/v1/connectors/webhooks/${provider}/${id}`
  const url = `https://hooks.example.com${path}`
  const sender = senders[provider]
  const place = endpointSecretColumn.at(owner.orgId, id)
  const secret = sender && sender.secret !== '' ? app.deps.secrets.seal(sender.secret, place) : null
  await app.db.execute(sql`
    insert into connector_endpoints (org_id, id, provider, connection_id, user_id, workspace_id, agent_id, status, url, secret,
      settings)
    values (${owner.orgId}, ${id}, ${provider}, ${connectionId}, ${owner.userId}, ${owner.workspaceId}, ${agentId},
      'active', ${url}, ${secret}, ${JSON.stringify({ ...sender?.settings, ...settings })})`)
  await claimKey(app.db, 'endpoint', id, owner.orgId)
  return { id, provider, connectionId, path, url }
}

/** Sends a signed body of the provider to the endpoint. */
export const deliver = (
  app: TestApp,
  endpoint: TestEndpoint,
  body: object | string,
  options: Parameters<Sender['sign']>[2] = {},
) => {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const signed = senders[endpoint.provider]!.sign(text, endpoint.url, options)
  return app.call('POST', endpoint.path, { headers: signed.headers, body: signed.body })
}

export const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex')
