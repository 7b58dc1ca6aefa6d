// Requests that succeed, for the sweep of the events that routes record.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import sharp from 'sharp'
import { createPromotion } from '../../src/billing/promotions.ts'
import { createSignInLink } from '../../src/identity/sign-in/links.ts'
import { sql } from '../../src/platform/database/database.ts'
import { newId } from '../../src/platform/ids.ts'
import type { CallOptions, TestActor, TestApp } from '../harness.ts'
import { create, createFolder, formBody, formType, pathOf as pathOfUrl, upload } from '../support/files.ts'
import { ask, openSession } from '../support/chat.ts'
import { bodies, factories, factoryOf, freeParams } from './resources.ts'
import { bodySchemaOf, pathOf, sampleOf } from './route-list.ts'
import type { Route } from './route-list.ts'
import { webdavSamples } from './webdav-samples.ts'

export interface Sample {
  path: string
  options: CallOptions
}

/** Prepares a request that succeeds once. */
type MakeSample = (app: TestApp, owner: TestActor) => Promise<Sample>

const api = '/api/v1'

const textForm = (name: string) => formBody([{ name: 'file', filename: name, type: 'text/plain', value: 'hello' }])

const onFile =
  (
    make: (app: TestApp, owner: TestActor) => Promise<{ id: string }>,
    json?: (app: TestApp, owner: TestActor) => object | Promise<object>,
  ): MakeSample =>
  async (app, owner) => {
    const { id } = await make(app, owner)
    const options: CallOptions = { as: owner }
    if (json) options.json = await json(app, owner)
    return { path: `${api}/files/${id}`, options }
  }

const anyFile = (app: TestApp, owner: TestActor) => upload(app, owner, 'hello')
const anyFolder = (app: TestApp, owner: TestActor) => createFolder(app, owner, 'A folder')
const intoFolder = async (app: TestApp, owner: TestActor) => ({
  parentId: (await createFolder(app, owner, 'Another folder')).id,
})

const chunkType = 'application/offset+octet-stream'

/** Sends all bytes of a resumable upload. */
const receivingBytes =
  (more: Record<string, string>): MakeSample =>
  async (app, owner) => {
    const begun = { 'upload-length': '3', 'upload-metadata': 'name YS50eHQ=' }
    const made = await app.call('POST', `${api}/uploads`, { as: owner, headers: begun })
    const headers = { 'content-type': chunkType, 'upload-offset': '0', ...more }
    return { path: `${api}/uploads/${made.body.data.id}`, options: { as: owner, body: 'abc', headers } }
  }

/** Restores a file from the trash. */
const restoreOf = async (app: TestApp, owner: TestActor, { id }: { id: string }) => {
  await app.call('DELETE', `${api}/files/${id}`, { as: owner })
  return { path: `${api}/files/${id}/restore`, options: { as: owner } }
}

/** A person of another org with an open invitation of the owner's org, as a browser that has signed in. */
const invited =
  (answer: 'accept' | 'decline'): MakeSample =>
  async (app, owner) => {
    const person = await app.createOrg('Elsewhere')
    const json = { email: person.email, role: 'member' }
    const invitation = await app.call('POST', `${api}/members`, { as: owner, json })
    assert.equal(invitation.status, 201, invitation.text)
    const { path } = await app.db.transaction('all orgs', (db) => createSignInLink(db, person.userId, null))
    const signedIn = await app.call('POST', `${api}/auth/sign-in/link`, { json: { token: path.split('=')[1] } })
    const cookie = signedIn.headers.getSetCookie()[0]?.split(';')[0] ?? ''
    const headers = { cookie, origin: app.url }
    return { path: `${api}/me/invitations/${invitation.body.data.id}/${answer}`, options: { headers } }
  }

const redirectUri = 'https://app.example.com/callback'

/** The headers of a browser in which the owner has signed in. */
const signedIn = async (app: TestApp, owner: TestActor): Promise<Record<string, string>> => {
  const { path } = await app.db.transaction('all orgs', (db) => createSignInLink(db, owner.userId, null))
  const answer = await app.call('POST', `${api}/auth/sign-in/link`, { json: { token: path.split('=')[1] } })
  return { cookie: answer.headers.getSetCookie()[0]?.split(';')[0] ?? '', origin: app.url }
}

/** The owner's consent to the request of an app, whose PKCE verifier is 43 times the letter a. */
const consent = async (app: TestApp, owner: TestActor): Promise<Sample & { clientId: string }> => {
  const registered = await app.call('POST', '/oauth/register', { json: { redirect_uris: [redirectUri] } })
  const clientId = registered.body.client_id as string
  const request = new URLSearchParams({
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri,
    code_challenge: createHash('sha256').update('a'.repeat(43)).digest('base64url'),
    code_challenge_method: 'S256',
  }).toString()
  const options = {
    json: { request, approved: true },
    headers: { ...(await signedIn(app, owner)), ...(await app.stepUp(owner)) },
  }
  return { clientId, path: `${api}/apps/authorization`, options }
}

const form = (fields: Record<string, string>): CallOptions => ({
  body: new URLSearchParams(fields).toString(),
  headers: { 'content-type': 'application/x-www-form-urlencoded' },
})

const codeExchange: MakeSample = async (app, owner) => {
  const { clientId, path, options } = await consent(app, owner)
  const { body } = await app.call('POST', path, options)
  const fields = {
    grant_type: 'authorization_code',
    code: new URL(body.data.redirectTo as string).searchParams.get('code') ?? '',
    client_id: clientId,
    redirect_uri: redirectUri,
    code_verifier: 'a'.repeat(43),
  }
  return { path: '/oauth/token', options: form(fields) }
}

const setLogo = async (): Promise<Sample> => {
  const body = await sharp({ create: { width: 8, height: 8, channels: 3, background: '#123456' } })
    .png()
    .toBuffer()
  return { path: `${api}/org/logo`, options: { body, headers: { 'content-type': 'image/png' } } }
}

/** A webhook with a destination that nothing is sent to. */
const pausedWebhook = async (app: TestApp, as: TestActor): Promise<string> => {
  const json = { name: 'A webhook', url: 'https://hooks.example.com/' }
  const { body, text } = await app.call('POST', `${api}/webhooks`, { as, json })
  assert.ok(body.success, text)
  await app.call('PATCH', `${api}/webhooks/${body.data.id}`, { as, json: { status: 'paused' } })
  return body.data.id
}

const depositOf = async (app: TestApp, as: TestActor, amountCents: number): Promise<void> => {
  const { status, text } = await app.call('POST', `${api}/billing/deposit`, { as, json: { amountCents } })
  assert.equal(status, 200, text)
}

/** Samples of routes that need more than a resource and a body by their schemas. Together they record every type. */
export const samples: Record<string, MakeSample[]> = {
  'POST /api/v1/apps/authorization': [consent],
  'POST /oauth/register': [
    async () => ({ path: '/oauth/register', options: { json: { redirect_uris: [redirectUri] } } }),
  ],
  'POST /oauth/revoke': [async () => ({ path: '/oauth/revoke', options: form({ token: 'unknown' }) })],
  'POST /oauth/token': [codeExchange],
  [`POST ${api}/files`]: [
    async (_app, owner) => ({
      path: `${api}/files`,
      options: { as: owner, body: textForm('a.txt'), headers: { 'content-type': formType } },
    }),
    async (_app, owner) => ({
      path: `${api}/files`,
      options: { as: owner, json: { source: 'folder', name: 'A folder' } },
    }),
    async (app, owner) => {
      const { id: targetFileId } = await anyFile(app, owner)
      return { path: `${api}/files`, options: { as: owner, json: { source: 'link', targetFileId } } }
    },
    async (_app, owner) => ({
      path: `${api}/files`,
      options: { as: owner, json: { name: 'a.txt', mimeType: 'text/plain', size: 5 } },
    }),
  ],
  [`PUT ${api}/files/:id/content`]: [
    async (app, owner) => {
      const { uploadUrl } = await create(app, owner, { name: 'a.txt', mimeType: 'text/plain', size: 5 })
      return { path: pathOfUrl(app, uploadUrl), options: { body: 'hello', headers: { 'content-type': 'text/plain' } } }
    },
    async (app, owner) => {
      const { id } = await anyFile(app, owner)
      return { path: `${api}/files/${id}/content`, options: { as: owner, body: 'another text' } }
    },
  ],
  'POST /s/:token/uploads': [
    async (app, owner) => {
      const { id } = await anyFolder(app, owner)
      const made = await app.call('POST', `${api}/files/${id}/shares`, { as: owner, json: { permission: 'upload' } })
      const options = { body: textForm('a.txt'), headers: { 'content-type': formType } }
      return { path: `${pathOfUrl(app, made.body.data.url)}/uploads`, options }
    },
  ],
  'POST /s/:token/password': [
    async (app, owner) => {
      const { id } = await anyFile(app, owner)
      const made = await app.call('POST', `${api}/files/${id}/shares`, { as: owner, json: { password: 'password' } })
      const options = {
        body: 'password=password',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      }
      return { path: `${pathOfUrl(app, made.body.data.url)}/password`, options }
    },
  ],
  [`POST ${api}/uploads`]: [
    async (_app, owner) => {
      const headers = { 'content-type': chunkType, 'upload-length': '3', 'upload-metadata': 'name YS50eHQ=' }
      return { path: `${api}/uploads`, options: { as: owner, body: 'abc', headers } }
    },
  ],
  [`DELETE ${api}/files/:id/upload`]: [
    // The row of a direct upload, because this server has no bucket.
    async (app, owner) => {
      const { file } = await create(app, owner, { name: 'a.txt', mimeType: 'text/plain', size: 3 })
      const blobId = newId()
      await app.db.execute(sql`insert into blobs (org_id, id, state) values (${owner.orgId}, ${blobId}, 'part')`)
      await app.db.execute(sql`
        insert into direct_uploads (org_id, file_id, created_by, blob_id, store_id, size_bytes, part_bytes, expires_at, ends_at)
        values (${owner.orgId}, ${file.id}, ${owner.userId}, ${blobId}, 'none', 3, 3, now() + interval '1 hour', now())`)
      return { path: `${api}/files/${file.id}/upload`, options: { as: owner } }
    },
  ],
  [`PATCH ${api}/uploads/:id`]: [receivingBytes({})],
  [`POST ${api}/uploads/:id`]: [receivingBytes({ 'x-http-method-override': 'PATCH' })],
  [`PATCH ${api}/files/:id`]: [
    onFile(anyFile, () => ({ name: 'b.txt', tags: ['a'] })),
    onFile(anyFile, intoFolder),
    onFile(anyFile, async (app, owner) => ({ name: 'b.txt', ...(await intoFolder(app, owner)) })),
    onFile(anyFolder, () => ({ name: 'Renamed' })),
    onFile(anyFolder, intoFolder),
  ],
  [`DELETE ${api}/files/:id`]: [
    onFile(anyFile),
    onFile(async (app, owner) => {
      const folder = await anyFolder(app, owner)
      await upload(app, owner, 'hello', { parentId: folder.id })
      return folder
    }),
  ],
  [`POST ${api}/files/:id/restore`]: [
    async (app, owner) => restoreOf(app, owner, await anyFile(app, owner)),
    async (app, owner) => {
      const folder = await anyFolder(app, owner)
      await upload(app, owner, 'hello', { parentId: folder.id })
      return restoreOf(app, owner, folder)
    },
  ],
  [`POST ${api}/members`]: [
    async (app, owner) => ({
      path: `${api}/members`,
      options: {
        as: owner,
        json: { email: `new-${crypto.randomUUID()}@example.com`, role: 'member' },
        headers: await app.stepUp(owner),
      },
    }),
    async (app, owner) => {
      const { email } = await app.createOrg('Elsewhere')
      return { path: `${api}/members`, options: { as: owner, json: { email, role: 'member' } } }
    },
  ],
  [`POST ${api}/members/:id/sign-in-link`]: [
    async (app, owner) => {
      const { params } = await factories[`${api}/members/:id`]!(app, owner)
      const headers = await app.stepUp(owner)
      return { path: `${api}/members/${params['id']}/sign-in-link`, options: { as: owner, headers } }
    },
  ],
  [`DELETE ${api}/members/:id`]: [
    async (app, owner) => {
      const { params } = await factories[`${api}/members/:id`]!(app, owner)
      return { path: `${api}/members/${params['id']}`, options: { as: owner } }
    },
    async (app, owner) => {
      const { email } = await app.createOrg('Elsewhere')
      const { body } = await app.call('POST', `${api}/members`, { as: owner, json: { email, role: 'member' } })
      return { path: `${api}/members/${body.data.id}`, options: { as: owner } }
    },
    async (app, owner) => {
      const member = await app.createUser(owner)
      await app.call('POST', `${api}/connections`, { as: member, json: { connectorSlug: 'telegram' } })
      const { body } = await app.call('GET', `${api}/members?userId=${member.userId}`, { as: owner })
      return { path: `${api}/members/${body.data.items[0].id}`, options: { as: owner } }
    },
  ],
  [`PATCH ${api}/members/:id`]: [
    async (app, owner) => {
      const admin = await app.createUser(owner, 'admin')
      const { email } = await app.createOrg('Elsewhere')
      await app.call('POST', `${api}/members`, { as: admin, json: { email, role: 'member' } })
      const { body } = await app.call('GET', `${api}/members?userId=${admin.userId}`, { as: owner })
      const options = { as: owner, json: { role: 'member' }, headers: await app.stepUp(owner) }
      return { path: `${api}/members/${body.data.items[0].id}`, options }
    },
  ],
  [`PATCH ${api}/me`]: [
    async (app, owner) => ({
      path: `${api}/me`,
      options: { json: { name: 'Another name' }, headers: await signedIn(app, owner) },
    }),
  ],
  [`PATCH ${api}/org`]: [
    async (_app, owner) => ({
      path: `${api}/org`,
      options: { as: owner, json: { name: 'Another name', defaultTimeZone: 'Europe/Berlin' } },
    }),
    async (_app, owner) => ({ path: `${api}/org`, options: { as: owner, json: { defaultLanguage: 'de' } } }),
  ],
  [`PUT ${api}/org/logo`]: [
    async (_app, owner) => {
      const { path, options } = await setLogo()
      return { path, options: { ...options, as: owner } }
    },
  ],
  [`DELETE ${api}/org/logo`]: [
    async (app, owner) => {
      const { path, options } = await setLogo()
      const { status, text } = await app.call('PUT', path, { ...options, as: owner })
      assert.equal(status, 200, text)
      return { path, options: { as: owner } }
    },
  ],
  [`POST ${api}/auth/sign-in/link/check`]: [
    async (app, owner) => {
      const { path } = await app.db.transaction('all orgs', (db) => createSignInLink(db, owner.userId, null))
      return { path: `${api}/auth/sign-in/link/check`, options: { json: { token: path.split('=')[1] } } }
    },
  ],
  [`DELETE ${api}/auth/sessions`]: [
    async (app, owner) => ({ path: `${api}/auth/sessions`, options: { headers: await signedIn(app, owner) } }),
  ],
  [`DELETE ${api}/auth/sessions/:id`]: [
    async (app, owner) => {
      await signedIn(app, owner)
      const headers = await signedIn(app, owner)
      const { body } = await app.call('GET', `${api}/auth/sessions`, { headers })
      return { path: `${api}/auth/sessions/${body.data.items[1].id}`, options: { headers } }
    },
  ],
  [`POST ${api}/me/invitations/:id/accept`]: [invited('accept')],
  [`POST ${api}/me/invitations/:id/decline`]: [invited('decline')],
  [`POST ${api}/workspaces/:id/members`]: [
    async (app, owner) => {
      const { userId } = await app.createUser(owner, 'member', { inWorkspace: false })
      return { path: `${api}/workspaces/${owner.workspaceId}/members`, options: { as: owner, json: { userId } } }
    },
  ],
  [`PATCH ${api}/billing`]: [
    async (app, owner) => {
      await depositOf(app, owner, 700)
      return { path: `${api}/billing`, options: { as: owner, json: { autoTopupThresholdCents: 1_000 } } }
    },
  ],
  [`POST ${api}/billing/promotions/redeem`]: [
    async (app, owner) => {
      const code = `P-${crypto.randomUUID().slice(0, 8).toUpperCase()}`
      await createPromotion(app.db, { code, amountCents: 500, description: null, expiresAt: null })
      return { path: `${api}/billing/promotions/redeem`, options: { as: owner, json: { code } } }
    },
  ],
  [`POST ${api}/sessions`]: [
    async (_app, owner) => ({ path: `${api}/sessions`, options: { as: owner, json: { agentId: 'assistant' } } }),
  ],
  [`POST ${api}/sessions/:id/branch`]: [
    async (app, owner) => {
      const { id } = await openSession(app, owner)
      await ask(app, owner, id, { text: 'Hello' })
      const { body } = await app.call('GET', `${api}/sessions/${id}/messages`, { as: owner })
      const { id: messageId } = body.data.items.find(({ role }: { role: string }) => role === 'user')
      await ask(app, owner, id, { text: 'Hello again', replaces: messageId })
      return { path: `${api}/sessions/${id}/branch`, options: { as: owner, json: { messageId } } }
    },
  ],
  'POST /api/openai/v1/files': [
    async (_app, owner) => ({
      path: '/api/openai/v1/files',
      options: {
        as: owner,
        headers: { 'content-type': formType },
        body: formBody([
          { name: 'purpose', value: 'user_data' },
          { name: 'file', filename: 'a.txt', type: 'text/plain', value: 'hello' },
        ]),
      },
    }),
  ],
  'DELETE /api/openai/v1/files/:id': [
    async (app, owner) => {
      const { id } = await anyFile(app, owner)
      return { path: `/api/openai/v1/files/${id}`, options: { as: owner } }
    },
  ],
  'POST /api/openai/v1/chat/completions': [
    async (_app, owner) => {
      const file = { filename: 'note.txt', file_data: 'data:text/plain;base64,SGVsbG8=' }
      const messages = [{ role: 'user', content: [{ type: 'file', file }] }]
      return {
        path: '/api/openai/v1/chat/completions',
        options: { as: owner, json: { model: 'agent/assistant', messages } },
      }
    },
  ],
  'POST /api/openai/v1/responses': [
    async (_app, owner) => {
      const file = { type: 'input_file', filename: 'note.txt', file_data: 'data:text/plain;base64,SGVsbG8=' }
      const input = [{ role: 'user', content: [file] }]
      return { path: '/api/openai/v1/responses', options: { as: owner, json: { model: 'agent/assistant', input } } }
    },
  ],
  'POST /a2a/:agent': [
    async (app, owner) => {
      // Another org has no agent of this name.
      const created = await app.call('POST', `${api}/agents`, { as: owner, json: { name: `Helper ${newId()}` } })
      const options = {
        as: owner,
        json: {
          jsonrpc: '2.0',
          id: 1,
          method: 'SendMessage',
          params: {
            message: {
              messageId: 'm-1',
              role: 'ROLE_USER',
              parts: [{ text: 'Hello' }, { raw: 'SGVsbG8=', filename: 'a.txt', mediaType: 'text/plain' }],
            },
          },
        },
        headers: { 'a2a-version': '1.0' },
      }
      return { path: `/a2a/${created.body.data.slug}`, options }
    },
  ],
  'POST /mcp': [
    async (_app, owner) => ({
      path: '/mcp',
      options: {
        as: owner,
        json: {
          jsonrpc: '2.0',
          id: 1,
          method: 'tools/call',
          params: { name: 'agents_ask', arguments: { agent: 'assistant', text: 'Hello' } },
        },
        headers: { accept: 'application/json, text/event-stream' },
      },
    }),
    async (_app, owner) => ({
      path: '/mcp',
      options: {
        as: owner,
        json: {
          jsonrpc: '2.0',
          id: 1,
          method: 'tools/call',
          params: { name: 'files_write', arguments: { name: 'a.txt', text: 'a' } },
        },
        headers: { accept: 'application/json, text/event-stream' },
      },
    }),
    async (app, owner) => {
      const { id } = await anyFile(app, owner)
      const written = { name: 'files_write', arguments: { name: 'a.txt', text: 'another text', fileId: id } }
      return {
        path: '/mcp',
        options: {
          as: owner,
          json: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: written },
          headers: { accept: 'application/json, text/event-stream' },
        },
      }
    },
  ],
  [`POST ${api}/connections`]: ['telegram', 'web'].map((connectorSlug) => async (_app, owner) => ({
    path: `${api}/connections`,
    options: { as: owner, json: { connectorSlug } },
  })),
  [`PATCH ${api}/webhooks/:id`]: [
    async (app, owner) => ({
      path: `${api}/webhooks/${await pausedWebhook(app, owner)}`,
      options: { as: owner, json: { status: 'disabled' } },
    }),
    async (app, owner) => {
      const path = `${api}/webhooks/${await pausedWebhook(app, owner)}`
      await app.call('PATCH', path, { as: owner, json: { status: 'disabled' } })
      return { path, options: { as: owner, json: { status: 'active' } } }
    },
  ],
  [`POST ${api}/event-endpoints`]: [
    async (_app, owner) => ({
      path: `${api}/event-endpoints`,
      options: { as: owner, json: { name: 'An endpoint', url: 'https://93.184.215.14/', types: ['agent.*'] } },
    }),
  ],
  [`POST ${api}/event-endpoints/transform-preview`]: [
    async (_app, owner) => ({
      path: `${api}/event-endpoints/transform-preview`,
      options: { as: owner, json: { transform: '{ "id": id }', type: 'agent.created' } },
    }),
  ],
  [`POST ${api}/connections/:id/credentials`]: [
    async (app, owner) => {
      const json = { connectorSlug: 'http', label: 'A label' }
      const { body } = await app.call('POST', `${api}/connections`, { as: owner, json })
      const credentials = { baseUrl: 'https://93.184.215.14/v1', headerValue: 'planted' }
      const path = `${api}/connections/${body.data.connection.id}/credentials`
      return { path, options: { as: owner, json: { credentials } } }
    },
  ],
  [`POST ${api}/webhooks/test`]: [
    async (app, owner) => ({
      path: `${api}/webhooks/test`,
      options: { as: owner, json: { webhookId: await pausedWebhook(app, owner) } },
    }),
  ],
  [`POST ${api}/webhooks/verify`]: [
    async (app, owner) => ({
      path: `${api}/webhooks/verify`,
      options: { as: owner, json: { webhookId: await pausedWebhook(app, owner), payload: '{}', headers: {} } },
    }),
  ],
  [`POST ${api}/webhooks/:id/recover`]: [
    async (app, owner) => ({
      path: `${api}/webhooks/${await pausedWebhook(app, owner)}/recover`,
      options: { as: owner, json: { since: '2026-01-01T00:00:00.000Z' } },
    }),
  ],
}

/** A resource by its factory, the parameters and a body by the schemas, and step-up. */
const byFactory =
  (route: Route): MakeSample =>
  async (app, owner) => {
    const factory = factories[factoryOf(route.url) ?? '']
    const { params } = factory ? await factory(app, owner) : { params: {} }
    const unknown = Object.fromEntries(route.params.map((name) => [name, newId()]))
    const schema = bodySchemaOf(route)
    const json = bodies[route.name] ?? (schema === undefined ? undefined : sampleOf(schema))
    const headers = await app.stepUp(owner)
    const options: CallOptions = { as: owner, headers, ...(json === undefined ? {} : { json }) }
    return { path: pathOf(route.url, { ...unknown, ...freeParams, ...params }), options }
  }

export const samplesOf = (route: Route): MakeSample[] =>
  samples[route.name] ?? webdavSamples[route.name] ?? [byFactory(route)]

const signIn = 'needs a session, a password or a second factor; signing in records no events'
const provider = 'needs a provider that the sweep does not have'

/** Routes whose samples are rejected, and why. They must record nothing then; other tests check their success. */
export const withoutSuccess: Record<string, string> = {
  [`POST ${api}/files/:id/upload/parts`]: 'needs a bucket',
  [`POST ${api}/files/:id/upload/complete`]: 'needs a bucket',
  [`POST ${api}/auth/sign-in`]: signIn,
  [`POST ${api}/auth/sign-in/link`]: signIn,
  [`POST ${api}/auth/sign-in/totp`]: signIn,
  [`POST ${api}/auth/sign-out`]: signIn,
  [`POST ${api}/auth/step-up`]: signIn,
  [`POST ${api}/auth/password`]: signIn,
  [`POST ${api}/auth/two-factor`]: signIn,
  [`POST ${api}/auth/two-factor/confirm`]: signIn,
  [`DELETE ${api}/auth/two-factor`]: signIn,
  [`POST ${api}/billing/byok-keys`]: provider,
  [`POST ${api}/billing/subscriptions/checkout`]: provider,
  [`POST ${api}/billing/subscriptions/cancel`]: provider,
  [`POST ${api}/billing/webhooks/stripe`]: `${provider}; src/billing/payments/balance-events.test.ts checks its events`,
  [`POST ${api}/connections/:id/tools`]: provider,
  [`POST ${api}/connections/:id/oauth`]: provider,
  [`POST ${api}/connections/oauth/callback`]: provider,
  'POST /oauth/callback/:server': provider,
  [`POST ${api}/connectors/webhooks/:provider/:endpointId`]: provider,
  [`POST ${api}/webhooks/linear`]: provider,
  [`POST ${api}/webhooks/linear/bindings`]: provider,
  [`POST ${api}/webhooks/receive/:webhookId`]: provider,
  [`POST ${api}/turns/:id/approvals`]: 'needs a turn that waits for a decision',
  [`POST ${api}/turns/:id/tool-outputs`]: 'needs a turn that waits for an output',
}

/** Types that a route records only for requests which need a turn that waits. Tests of their areas check them. */
export const ofDecisions: Readonly<Record<string, readonly string[]>> = {
  [`POST ${api}/sessions/:id/messages`]: ['turn.approval_decided', 'agent.consent_given'],
}

/** Types that work after a response can record, not only the request itself. Tests of their areas check them. */
export const inBackground: ReadonlySet<string> = new Set<string>([
  'message.created',
  'turn.started',
  'turn.requires_action',
  'turn.completed',
  'turn.incomplete',
  'turn.failed',
  'turn.cancelled',
  'webhook.delivery.failed',
  'event_endpoint.disabled',
  'connection.broken',
])
