import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { insertGrant, setTokens } from '../../src/identity/apps/queries.ts'
import { insertKey } from '../../src/billing/provider-keys/queries.ts'
import { providerKeyColumn } from '../../src/billing/provider-keys/provider-keys.ts'
import { sql } from '../../src/platform/database/database.ts'
import { newId } from '../../src/platform/ids.ts'
import type { TestActor, TestApp } from '../harness.ts'
import { until } from '../support/until.ts'
import { addEndpoint, bindLinear } from '../support/endpoints.ts'

/** An existing resource, and a check that it still exists. */
export interface Resource {
  params: Record<string, string>
  exists(): Promise<boolean>
  /** The secret that was returned only at creation. */
  secrets?: string[]
}

/** Creates one resource of a kind for its owner. */
type Factory = (app: TestApp, owner: TestActor) => Promise<Resource>

const api = '/api/v1'

const post = async (app: TestApp, as: TestActor, path: string, json: object) => {
  const answer = await app.call('POST', api + path, { as, json, headers: await app.stepUp(as) })
  assert.ok(answer.status < 300, `${path}: ${answer.text}`)
  return answer.body.data
}

const readable = (app: TestApp, as: TestActor, path: string) => async (): Promise<boolean> =>
  (await app.call('GET', api + path, { as })).status === 200

const listed =
  (app: TestApp, as: TestActor, path: string, isIt: (item: Record<string, unknown>) => boolean) =>
  async (): Promise<boolean> =>
    (await app.call('GET', `${api}${path}?limit=100`, { as })).body.data.items.some(isIt)

const createSession = (app: TestApp, owner: TestActor) => post(app, owner, '/sessions', { agentId: 'assistant' })

const createNamedAgent = (app: TestApp, owner: TestActor) =>
  post(app, owner, '/agents', { name: `Somebody ${crypto.randomUUID()}` })

/** Without deliveries of events that other requests of the tests record. */
const createEventEndpoint = (app: TestApp, owner: TestActor) =>
  post(app, owner, '/event-endpoints', {
    name: 'An endpoint',
    url: 'https://hooks.example.com/',
    types: ['event_endpoint.disabled'],
  })

/** An event of a paused webhook, so that it is not forwarded to an unreachable URL. */
const recordEvent = async (app: TestApp, owner: TestActor): Promise<{ id: string; eventId: string }> => {
  const { id } = await post(app, owner, '/webhooks', { name: 'A webhook', url: 'https://hooks.example.com/' })
  await app.call('PATCH', `${api}/webhooks/${id}`, { as: owner, json: { status: 'paused' } })
  const { id: eventId } = await post(app, owner, '/webhooks/test', { webhookId: id })
  return { id, eventId }
}

const createFile: Factory = async (app, owner) => {
  const body = new FormData()
  body.set('file', new File(['hello'], 'hello.txt', { type: 'text/plain' }))
  const answer = await app.call('POST', `${api}/files`, { as: owner, body })
  assert.equal(answer.status, 201, answer.text)
  const { id } = answer.body.data.file
  return { params: { id }, exists: readable(app, owner, `/files/${id}`) }
}

/**
 * Factories of the resources in the paths of routes. The key is a path up to its last parameter and applies to every path
 * below it. A route with a parameter and without a factory fails the tests of all routes.
 */
export const factories: Record<string, Factory> = {
  [`${api}/events/:id`]: async (app, owner) => {
    const agent = await createNamedAgent(app, owner)
    const { id } = await until(
      async () => (await app.call('GET', `${api}/events?subjectId=${agent.id}`, { as: owner })).body.data.items[0],
      (event) => event !== undefined,
    )
    return { params: { id }, exists: readable(app, owner, `/events/${id}`) }
  },
  '/a2a/:agent': async (app, owner) => {
    const { id, slug } = await createNamedAgent(app, owner)
    return { params: { agent: slug }, exists: readable(app, owner, `/agents/${id}`) }
  },
  '/api/openai/v1/models/:model': async (app, owner) => {
    const { id, slug } = await createNamedAgent(app, owner)
    return { params: { model: `agent/${slug}` }, exists: readable(app, owner, `/agents/${id}`) }
  },
  [`${api}/agents/:id/consents/:connectorSlug`]: async (app, owner) => {
    const { id } = await createNamedAgent(app, owner)
    const path = `/agents/${id}/consents`
    const put = await app.call('PUT', `${api}${path}/web`, { as: owner, json: {} })
    assert.equal(put.status, 200, put.text)
    const exists = listed(app, owner, path, ({ connectorSlug }) => connectorSlug === 'web')
    return { params: { id, connectorSlug: 'web' }, exists }
  },
  [`${api}/agents/:id`]: async (app, owner) => {
    const { id } = await post(app, owner, '/agents', { name: 'Somebody' })
    return { params: { id }, exists: readable(app, owner, `/agents/${id}`) }
  },
  [`${api}/api-keys/:id`]: async (app, owner) => {
    const { id, key } = await post(app, owner, '/api-keys', { name: 'Another key' })
    const isLive = (item: Record<string, unknown>): boolean => item['id'] === id && item['revokedAt'] === null
    return { params: { id }, secrets: [key], exists: listed(app, owner, '/api-keys', isLive) }
  },
  [`${api}/billing/receipts/:id`]: async (app, owner) => {
    const id = `pi_${newId()}`
    await app.db.execute(
      sql`insert into payments (org_id, payment_intent_id, amount_cents) values (${owner.orgId}, ${id}, 900)`,
    )
    return { params: { id }, exists: readable(app, owner, `/billing/receipts/${id}`) }
  },
  [`${api}/apps/:id`]: async (app, owner) => {
    // Inserted directly, because a person authorizes apps in a browser.
    const id = newId()
    const { userId, workspaceId } = owner
    await insertGrant(app.db, owner.orgId, {
      id,
      userId,
      workspaceId,
      name: 'Planted',
      scopes: ['files:read'],
      clientId: 'planted',
      redirectUri: 'https://app.example.com/callback',
      prefix: 'ata_test_',
      hash: randomBytes(32),
      codeHash: randomBytes(32),
      codeChallenge: 'planted',
      codeSeconds: 60,
    })
    await setTokens(app.db, owner.orgId, id, {
      hash: randomBytes(32),
      last4: 'aaaa',
      familyHash: randomBytes(32),
      refreshHash: randomBytes(32),
      accessSeconds: 60,
      refreshSeconds: 600,
      isRetry: false,
    })
    return { params: { id }, exists: listed(app, owner, '/apps', (item) => item['id'] === id) }
  },
  [`${api}/billing/byok-keys/:id`]: async (app, owner) => {
    // Inserted directly, because the API accepts provider keys only when they are enabled.
    const [id, key] = [newId(), `sk-planted-${crypto.randomUUID()}`]
    const sealedKey = app.deps.secrets.seal(key, providerKeyColumn.at(owner.orgId, id))
    const row = { id, provider: 'openai', label: 'Planted', fingerprint: 'f', sealedKey, createdBy: owner.userId }
    await insertKey(app.db, owner.orgId, row)
    return {
      params: { id },
      secrets: [key],
      exists: listed(app, owner, '/billing/byok-keys', (item) => item['id'] === id),
    }
  },
  [`${api}/webhooks/linear/bindings/:id`]: async (app, owner) => {
    const id = await bindLinear(app, owner, newId())
    return {
      params: { id },
      exists: listed(app, owner, '/webhooks/linear/bindings', (item) => item['id'] === id),
    }
  },
  [`${api}/connections/:id`]: async (app, owner) => {
    const label = crypto.randomUUID()
    const { connection } = await post(app, owner, '/connections', { connectorSlug: 'http', label })
    const headerValue = `planted-${crypto.randomUUID()}`
    // No request is sent, because no test path is configured.
    const credentials = { baseUrl: 'https://93.184.215.14/v1', headerValue }
    await post(app, owner, `/connections/${connection.id}/credentials`, { credentials })
    const path = `/connections/${connection.id}`
    return { params: { id: connection.id }, secrets: [headerValue], exists: readable(app, owner, path) }
  },
  [`${api}/connections/:id/endpoints`]: async (app, owner) => {
    const { connectionId } = await addEndpoint(app, owner, 'telegram')
    return { params: { id: connectionId }, exists: readable(app, owner, `/connections/${connectionId}/endpoints`) }
  },
  [`${api}/connections/:id/endpoints/:endpointId`]: async (app, owner) => {
    const { connectionId, id } = await addEndpoint(app, owner, 'telegram')
    const events = `/connections/${connectionId}/endpoints/${id}/events`
    return { params: { id: connectionId, endpointId: id }, exists: readable(app, owner, events) }
  },
  [`${api}/files/:id`]: createFile,
  [`${api}/files/:id/access`]: async (app, owner) => {
    const { file } = await post(app, owner, '/files', { source: 'folder', name: 'A folder' })
    return { params: { id: file.id }, exists: readable(app, owner, `/files/${file.id}`) }
  },
  [`${api}/files/:id/versions/:version`]: async (app, owner) => {
    const { params } = await createFile(app, owner)
    const id = params['id'] ?? ''
    const put = await app.call('PUT', `${api}/files/${id}/content`, { as: owner, body: 'another text' })
    assert.equal(put.status, 200, put.text)
    return {
      params: { id },
      exists: listed(app, owner, `/files/${id}/versions`, ({ version }) => version === 1),
    }
  },
  [`${api}/files/:id/shares/:shareId`]: async (app, owner) => {
    const { params } = await createFile(app, owner)
    const id = params['id'] ?? ''
    const share = await post(app, owner, `/files/${id}/shares`, {})
    return {
      params: { id, shareId: share.id },
      secrets: [share.url],
      exists: listed(app, owner, `/files/${id}/shares`, (item) => item['id'] === share.id),
    }
  },
  [`${api}/uploads/:id`]: async (app, owner) => {
    const headers = { 'upload-length': '3', 'upload-metadata': 'name YS50eHQ=' }
    const { status, text, body } = await app.call('POST', `${api}/uploads`, { as: owner, headers })
    assert.equal(status, 201, text)
    const path = `${api}/uploads/${body.data.id}`
    const exists = async () => (await app.call('HEAD', path, { as: owner })).status === 200
    return { params: { id: body.data.id }, exists }
  },
  '/api/openai/v1/files/:id': createFile,
  '/api/openai/v1/responses/:id': async (app, owner) => {
    const path = '/api/openai/v1/responses'
    const json = { model: 'agent/assistant', input: 'Hello' }
    const { body, status, text } = await app.call('POST', path, { as: owner, json })
    assert.equal(status, 200, text)
    const exists = async () => (await app.call('GET', `${path}/${body.id}`, { as: owner })).status === 200
    return { params: { id: body.id }, exists }
  },
  [`${api}/members/:id`]: async (app, owner) => {
    const email = `member-${crypto.randomUUID()}@example.com`
    const { id, signInLink } = await post(app, owner, '/members', { email, role: 'member' })
    const secrets = typeof signInLink === 'string' ? [signInLink] : []
    return { params: { id }, secrets, exists: readable(app, owner, `/members/${id}`) }
  },
  [`${api}/projects/:id`]: async (app, owner) => {
    const { id } = await post(app, owner, '/projects', { name: 'A project' })
    return { params: { id }, exists: readable(app, owner, `/projects/${id}`) }
  },
  [`${api}/sessions/:id`]: async (app, owner) => {
    const { id } = await createSession(app, owner)
    return { params: { id }, exists: readable(app, owner, `/sessions/${id}`) }
  },
  [`${api}/turns/:id`]: async (app, owner) => {
    const session = await createSession(app, owner)
    const { turn } = await post(app, owner, `/sessions/${session.id}/messages`, { text: 'Hello' })
    return { params: { id: turn.id }, exists: readable(app, owner, `/turns/${turn.id}`) }
  },
  [`${api}/webhooks/:id`]: async (app, owner) => {
    const { id, secret } = await post(app, owner, '/webhooks', { name: 'A webhook' })
    return { params: { id }, secrets: [secret], exists: readable(app, owner, `/webhooks/${id}`) }
  },
  [`${api}/event-endpoints/:id`]: async (app, owner) => {
    const { id, secret } = await createEventEndpoint(app, owner)
    return { params: { id }, secrets: [secret], exists: readable(app, owner, `/event-endpoints/${id}`) }
  },
  [`${api}/event-endpoints/:id/deliveries/:deliveryId`]: async (app, owner) => {
    const { id } = await createEventEndpoint(app, owner)
    // Paused, so that nothing is sent to an unreachable URL.
    await app.call('PATCH', `${api}/event-endpoints/${id}`, { as: owner, json: { status: 'paused' } })
    const { id: deliveryId } = await post(app, owner, `/event-endpoints/${id}/test`, {})
    return {
      params: { id, deliveryId },
      exists: readable(app, owner, `/event-endpoints/${id}/deliveries/${deliveryId}`),
    }
  },
  [`${api}/webhooks/:id/events/:eventId`]: async (app, owner) => {
    const { id, eventId } = await recordEvent(app, owner)
    return { params: { id, eventId }, exists: readable(app, owner, `/webhooks/${id}/events/${eventId}`) }
  },
  [`${api}/webhooks/:id/deliveries/:deliveryId`]: async (app, owner) => {
    const { id, eventId } = await recordEvent(app, owner)
    const { id: deliveryId } = await post(app, owner, `/webhooks/${id}/events/${eventId}/replay`, {})
    return { params: { id, deliveryId }, exists: readable(app, owner, `/webhooks/${id}/deliveries/${deliveryId}`) }
  },
  [`${api}/workspaces/:id`]: async (app, owner) => {
    const { id } = await post(app, owner, '/workspaces', { name: 'A workspace' })
    return { params: { id }, exists: readable(app, owner, `/workspaces/${id}`) }
  },
  [`${api}/workspaces/:id/members/:userId`]: async (app, owner) => {
    const { id } = await post(app, owner, '/workspaces', { name: 'A workspace with somebody' })
    const { userId } = await app.createUser(owner, 'member', { inWorkspace: false })
    await post(app, owner, `/workspaces/${id}/members`, { userId })
    const isIt = (item: Record<string, unknown>): boolean => item['userId'] === userId
    return { params: { id, userId }, exists: listed(app, owner, `/workspaces/${id}/members`, isIt) }
  },
}

/** Resources of a workspace, which are hidden from people of the org who are not in the workspace. */
export const inWorkspace = [`${api}/agents/:id`, `${api}/sessions/:id`, `${api}/turns/:id`]

/** Parameters that do not identify a resource, and their values. */
export const freeParams: Record<string, string> = {
  // The conversation id of the AI SDK; the session id comes before it.
  chatId: 'conversation',
  // Of the statements: every org has one of the current month.
  month: new Date().toISOString().slice(0, 7),
  // The number of a version; the id of the file comes before it.
  version: '1',
  // An entry of the catalog, which is the same for every org; the agent id comes before it.
  connectorSlug: 'web',
  // A hash of the issuer in the redirect URI of a sign-in at an MCP server.
  server: 'A'.repeat(22),
}

/** The factory whose path is the longest prefix of the route's path. */
export const factoryOf = (url: string): string | undefined =>
  Object.keys(factories)
    .filter((path) => url === path || url.startsWith(`${path}/`))
    .toSorted((a, b) => b.length - a.length)[0]

/** Bodies for routes that require more than their schemas. */
export const bodies: Record<string, object> = {
  [`PATCH ${api}/billing`]: { autoTopupEnabled: false },
  [`PATCH ${api}/agents/:id`]: { name: 'Another name' },
  [`POST ${api}/connections`]: { connectorSlug: 'telegram' },
  [`PATCH ${api}/files/:id`]: { name: 'another-name.txt' },
  [`PATCH ${api}/files/:id/shares/:shareId`]: { maxDownloads: 5 },
  [`PUT ${api}/files/:id/access`]: { restricted: true },
  [`PATCH ${api}/files/retention`]: { versionsKept: 5 },
  [`PATCH ${api}/sessions/:id`]: { title: 'Another title' },
  [`PATCH ${api}/webhooks/:id`]: { name: 'Another name' },
  [`PATCH ${api}/event-endpoints/:id`]: { name: 'Another name' },
  [`POST ${api}/sessions/:id/messages`]: { text: 'Hello' },
  [`POST ${api}/embeddings`]: { model: 'atrium/demo-embedding', input: 'Hello' },
  'POST /api/openai/v1/embeddings': { model: 'atrium/demo-embedding', input: 'Hello' },
}
