import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { createAgent, until } from '../../../test/support/chat.ts'
import { upload } from '../../../test/support/files.ts'
import { startFakeModel } from '../../../test/fakes/model.ts'
import { startTestApp } from '../../../test/harness.ts'
import type { TestActor, TestApp } from '../../../test/harness.ts'

const fake = await startFakeModel()
const app = await startTestApp(fake.env)
const other = await app.secondServer({}, { work: false })
const version = '2026-07-28'
const ended: (() => unknown)[] = []
after(() => Promise.all(ended.map((end) => end())))

interface Message {
  id?: number
  method?: string
  params?: { uri?: string; notifications?: object; _meta: Record<string, unknown> }
  result?: { resultType: string; _meta: Record<string, unknown> }
  error?: { code: number; message: string }
}

interface Listening {
  status: number
  messages: Message[]
  isEnded: () => boolean
  close: () => void
}

const listen = async (as: TestActor, notifications: unknown, at: TestApp = app): Promise<Listening> => {
  const abort = new AbortController()
  ended.push(() => abort.abort())
  const meta = {
    'io.modelcontextprotocol/protocolVersion': version,
    'io.modelcontextprotocol/clientCapabilities': {},
  }
  const response = await fetch(`${at.url}/mcp`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${as.key}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': version,
      'mcp-method': 'subscriptions/listen',
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 7,
      method: 'subscriptions/listen',
      params: { notifications, _meta: meta },
    }),
    signal: abort.signal,
  })
  const messages: Message[] = []
  let isEnded = false
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true
  if (!isStream) messages.push((await response.json()) as Message)
  const read = async (): Promise<void> => {
    let text = ''
    const decoder = new TextDecoder()
    try {
      for await (const chunk of response.body ?? []) {
        text += decoder.decode(chunk as Uint8Array, { stream: true })
        const frames = text.split('\n\n')
        text = frames.pop() ?? ''
        for (const frame of frames) {
          const data = frame.split('\ndata: ')[1]
          if (data !== undefined) messages.push(JSON.parse(data))
        }
      }
    } catch {
      // The test closed the stream.
    }
    isEnded = true
  }
  if (isStream) void read()
  const stream = { status: response.status, messages, isEnded: () => isEnded, close: () => abort.abort() }
  await seen(stream, () => messages.length > 0)
  return stream
}

const seen = (stream: Pick<Listening, 'messages'>, isThere: () => boolean): Promise<unknown> =>
  until(
    () => Promise.resolve(isThere()),
    (found) => found,
  ).catch((error: unknown) => assert.fail(`${String(error)}: ${JSON.stringify(stream.messages)}`))

const has = ({ messages }: Listening, method: string, uri?: string): boolean =>
  messages.some((one) => one.method === method && one.params?.uri === uri)

const updated = 'notifications/resources/updated'
const rename = (as: TestActor, id: string, name: string) =>
  app.call('PATCH', `/api/v1/files/${id}`, { as, json: { name } })

for (const [where, server] of [
  ['the process of the change', app],
  ['another process', other],
] as const) {
  test(`notifies of changed files, folders and agents from ${where}, and of nothing else`, async () => {
    const owner = await app.createOrg()
    const { file } = (
      await app.call('POST', '/api/v1/files', { as: owner, json: { source: 'folder', name: 'Reports' } })
    ).body.data
    const [one, unwatched] = [await upload(app, owner, 'a'), await upload(app, owner, 'b')]
    const numbers = await createAgent(app, owner, { name: 'Numbers' })
    const uris = [`atrium://files/${one.id}`, `atrium://files/${file.id}`, 'atrium://agents/numbers']
    const stream = await listen(owner, { resourceSubscriptions: [...uris, 'file:///etc/passwd'] }, server)
    assert.deepEqual(stream.messages[0]?.params?.notifications, { resourceSubscriptions: uris })
    await rename(owner, unwatched.id, 'other.txt')
    await rename(owner, one.id, 'renamed.txt')
    await upload(app, owner, 'c', { parentId: file.id })
    await app.call('PATCH', `/api/v1/agents/${numbers.id}`, { as: owner, json: { description: 'New' } })
    await seen(stream, () => uris.every((uri) => has(stream, updated, uri)))
    assert.ok(stream.messages.slice(1).every(({ method, params }) => method === updated && uris.includes(params!.uri!)))
    assert.ok(stream.messages.every(({ params }) => params?._meta['io.modelcontextprotocol/subscriptionId'] === 7))
  })
}

test('notifies of a file by the URI that the client sent, also when the letters of its ID are upper case', async () => {
  const owner = await app.createOrg()
  const { id } = await upload(app, owner, 'a')
  const uri = `atrium://files/${id.toUpperCase()}`
  const stream = await listen(owner, { resourceSubscriptions: [uri] })
  assert.deepEqual(stream.messages[0]?.params?.notifications, { resourceSubscriptions: [uri] })
  await rename(owner, id, 'renamed.txt')
  await seen(stream, () => has(stream, updated, uri))
})

test('notifies the official client of changed lists of resources and prompts', async () => {
  const owner = await app.createOrg()
  const changed = { resources: 0, prompts: 0 }
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'auto' } })
  const requestInit = { headers: { authorization: `Bearer ${owner.key}` } }
  await client.connect(new StreamableHTTPClientTransport(new URL(`${app.url}/mcp`), { requestInit }))
  ended.push(() => client.close())
  client.setNotificationHandler('notifications/resources/list_changed', () => void (changed.resources += 1))
  client.setNotificationHandler('notifications/prompts/list_changed', () => void (changed.prompts += 1))
  await client.listen({ resourcesListChanged: true, promptsListChanged: true })
  await upload(app, owner, 'a')
  await createAgent(app, owner, { name: 'Numbers' })
  await until(
    () => Promise.resolve(changed),
    ({ resources, prompts }) => resources > 0 && prompts > 0,
  )
})

test('notifies nobody of files of another org, although they subscribe to them', async () => {
  const [owner, stranger] = [await app.createOrg(), await app.createOrg()]
  const [theirs, own] = [await upload(app, owner, 'a'), await upload(app, stranger, 'a')]
  const stream = await listen(stranger, {
    resourceSubscriptions: [theirs, own].map(({ id }) => `atrium://files/${id}`),
  })
  const reference = await listen(owner, { resourceSubscriptions: [`atrium://files/${theirs.id}`] })
  await rename(owner, theirs.id, 'b.txt')
  await seen(reference, () => has(reference, updated, `atrium://files/${theirs.id}`))
  await rename(stranger, own.id, 'b.txt')
  await seen(stream, () => has(stream, updated, `atrium://files/${own.id}`))
  assert.ok(!has(stream, updated, `atrium://files/${theirs.id}`))
})

test('notifies the owner of a connection of changed tools, and no other member', async () => {
  const owner = await app.createOrg()
  const member = await app.createUser(owner, 'admin')
  const { id } = await upload(app, owner, 'a')
  const wanted = { toolsListChanged: true, resourceSubscriptions: [`atrium://files/${id}`] }
  const [own, others] = [await listen(owner, wanted), await listen(member, wanted)]
  const json = { connectorSlug: 'http' }
  assert.equal((await app.call('POST', '/api/v1/connections', { as: owner, json })).status, 201)
  await seen(own, () => has(own, 'notifications/tools/list_changed'))
  // A later event, so that the earlier one has been passed on or left out.
  await rename(owner, id, 'b.txt')
  await seen(others, () => has(others, updated, `atrium://files/${id}`))
  assert.ok(!has(others, 'notifications/tools/list_changed'))
})

test('acknowledges only what the key may read', async () => {
  const owner = await app.createOrg()
  const { id } = await upload(app, owner, 'a')
  const narrow = await app.createUser(owner, 'member', { scopes: ['agents:read'] })
  const all = { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true }
  const stream = await listen(narrow, { ...all, resourceSubscriptions: [`atrium://files/${id}`] })
  assert.deepEqual(stream.messages[0]?.params?.notifications, {})
})

test('ends with an error when the API key is revoked', async () => {
  const owner = await app.createOrg()
  const reader = await app.createUser(owner)
  const { id } = await upload(app, owner, 'a')
  const stream = await listen(reader, { resourceSubscriptions: [`atrium://files/${id}`] }, other)
  await app.call('DELETE', `/api/v1/api-keys/${reader.apiKeyId}`, { as: owner, headers: await app.stepUp(owner) })
  await seen(stream, stream.isEnded)
  assert.deepEqual([stream.messages.at(-1)?.id, stream.messages.at(-1)?.error?.code], [7, -401])
  const before = stream.messages.length
  await rename(owner, id, 'b.txt')
  assert.equal(stream.messages.length, before)
})

test('limits open streams per key and the number of URIs, and accepts another one after one has closed', async () => {
  const owner = await app.createOrg()
  const streams: Listening[] = []
  for (let n = 0; n < 10; n += 1) streams.push(await listen(owner, {}))
  assert.equal((await listen(owner, {})).status, 429)
  assert.equal((await listen(await app.createUser(owner), {})).status, 200)
  streams[0]?.close()
  await until(
    async () => (await listen(owner, {})).status,
    (status) => status === 200,
  )
  const uris = Array.from({ length: 101 }, (_, n) => `atrium://agents/a${n}`)
  const stranger = await app.createOrg()
  for (const wrong of [undefined, 7, { resourceSubscriptions: uris }, { resourceSubscriptions: [7] }]) {
    assert.equal((await listen(stranger, wrong)).messages[0]?.error?.code, -32_602)
  }
})

test('ends with a result when the server stops', async () => {
  const stopping = await app.secondServer({}, { work: false })
  const stream = await listen(await app.createOrg(), {}, stopping)
  await stopping.app.close()
  await seen(stream, stream.isEnded)
  const { id, result } = stream.messages.at(-1) ?? {}
  assert.equal(id, 7)
  assert.equal(result?.resultType, 'complete')
  assert.equal(result?._meta['io.modelcontextprotocol/subscriptionId'], 7)
})
