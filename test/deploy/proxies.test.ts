// The example configurations of the proxies, in front of two API processes.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http'
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { after, describe, test } from 'node:test'
import { sql } from '../../src/platform/database/database.ts'
import { held, reply, startFakeModel } from '../fakes/model.ts'
import { hasProxy, startProxy } from '../fakes/proxy.ts'
import type { ProxyName } from '../fakes/proxy.ts'
import { startTestApp } from '../harness.ts'
import type { TestActor } from '../harness.ts'
import { createAgent, openSession } from '../support/chat.ts'
import { formBody, formType } from '../support/files.ts'

const proxies: ProxyName[] = []
for (const name of ['nginx', 'haproxy'] as const) if (await hasProxy(name)) proxies.push(name)

const fake = await startFakeModel()
const env = { ...fake.env, TRUST_PROXY: '1' }
const first = await startTestApp(env)
const second = await first.secondServer(env, { work: false })

/** Connections of the proxies to both servers so far. */
let connections = 0
for (const { app } of [first, second]) app.server.on('connection', () => (connections += 1))

const hostOf = ({ url }: { url: string }): string => new URL(url).host

interface Sent {
  method?: string
  path: string
  as?: TestActor
  headers?: OutgoingHttpHeaders
  body?: Buffer
  /** The address of the client, in 127.0.0.0/8. */
  from?: string
}

interface Received {
  status: number
  // oxlint-disable-next-line typescript/no-explicit-any -- tests read fields of responses of any shape
  body: any
}

/** Sends requests to a proxy over kept connections. */
const clientOf = (port: number) => {
  const agent = new Agent({ keepAlive: true, maxSockets: 8 })
  const open = async ({ method = 'GET', path, as, headers, body, from }: Sent): Promise<IncomingMessage> => {
    const authorization = as === undefined ? {} : { authorization: `Bearer ${as.key}` }
    const sent = request({
      agent: from === undefined ? agent : new Agent(),
      host: '127.0.0.1',
      port,
      method,
      path,
      headers: { ...authorization, ...headers },
      ...(from === undefined ? {} : { localAddress: from }),
    })
    sent.end(body)
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    return response
  }
  const call = async (options: Sent): Promise<Received> => {
    const response = await open(options)
    const chunks: Buffer[] = []
    for await (const chunk of response) chunks.push(chunk as Buffer)
    const text = Buffer.concat(chunks).toString()
    const isJson = response.headers['content-type']?.startsWith('application/json') === true
    return { status: response.statusCode ?? 0, body: isJson ? JSON.parse(text) : text }
  }
  return { open, call, close: () => agent.destroy() }
}

const untilText = async (socket: Socket, expected: string): Promise<string> => {
  let text = ''
  for await (const chunk of socket) {
    text += String(chunk)
    if (text.includes(expected)) return text
  }
  return text
}

for (const name of proxies) {
  describe(`deploy/${name}`, async () => {
    const port = await startProxy(name, [hostOf(first), hostOf(second)])
    const client = clientOf(port)
    after(() => client.close())

    test('passes each event of a stream on while the response is unfinished', async () => {
      const owner = await first.createOrg()
      await createAgent(first, owner, { name: 'Slow', model: 'fake/m1' })
      const session = await openSession(first, owner, { agentId: 'slow' })
      const { script, asked, release } = held(reply(['Hello ', 'yourself.']))
      fake.play(script)
      const response = await client.open({
        method: 'POST',
        path: `/api/v1/sessions/${session.id}/messages`,
        as: owner,
        headers: { accept: 'text/event-stream', 'content-type': 'application/json' },
        body: Buffer.from(JSON.stringify({ text: 'Hello' })),
      })
      let text = ''
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
      const ended = once(response, 'end')
      while (!text.includes('"type":"start"')) await once(response, 'data')
      await asked
      assert.ok(!text.includes('[DONE]'), 'the model has not responded yet')
      release()
      await ended
      assert.match(text, /data: \[DONE\]\n\n$/)
    })

    test('stores and returns a file of 20 MB unchanged', async () => {
      const owner = await first.createOrg()
      const bytes = randomBytes(20_000_000)
      const uploaded = await client.call({
        method: 'POST',
        path: '/api/v1/files',
        as: owner,
        headers: { 'content-type': formType },
        body: formBody([{ name: 'file', filename: 'large.bin', type: 'application/octet-stream', value: bytes }]),
      })
      assert.equal(uploaded.status, 201, JSON.stringify(uploaded.body))
      const file = `http://127.0.0.1:${port}/api/v1/files/${uploaded.body.data.file.id}`
      const download = await fetch(`${file}?download=true`, {
        headers: { authorization: `Bearer ${owner.key}` },
      })
      assert.equal(download.status, 200)
      assert.ok(download.url.startsWith(`${file}/content?`), 'the redirect leads to the proxy')
      assert.ok(bytes.equals(Buffer.from(await download.arrayBuffer())))
    })

    test('lets Atrium reject an upload by its key before the body has arrived', async () => {
      const socket = connect(port, '127.0.0.1')
      socket.write(
        `POST /api/v1/files HTTP/1.1\r\nHost: atrium.example\r\nAuthorization: Bearer nonsense\r\nContent-Type: ${formType}\r\nContent-Length: 50000000\r\n\r\n--`,
      )
      assert.match(await untilText(socket, 'UNAUTHORIZED'), /^HTTP\/1\.1 401 /)
      socket.destroy()
    })

    test('tells Atrium the address of the client, whatever the client sends', async () => {
      const owner = await first.createOrg()
      const created = await client.call({
        method: 'POST',
        path: '/api/v1/workspaces',
        as: owner,
        headers: { 'content-type': 'application/json', 'x-forwarded-for': '203.0.113.9' },
        body: Buffer.from(JSON.stringify({ name: 'Second' })),
        from: '127.0.0.2',
      })
      assert.equal(created.status, 201, JSON.stringify(created.body))
      const entry = await first.db.row<{ ip: string }>(sql`
        select ip from audit_log where org_id = ${owner.orgId} and action = 'workspace.created'`)
      assert.equal(entry?.ip, '127.0.0.2')
    })

    test('keeps the host name and does not expose the metrics', async () => {
      const owner = await first.createOrg()
      const pending = await client.call({
        method: 'POST',
        path: '/api/v1/files',
        as: owner,
        headers: { 'content-type': 'application/json', host: 'atrium.example:8443' },
        body: Buffer.from(JSON.stringify({ name: 'a.txt', mimeType: 'text/plain', size: 1 })),
      })
      assert.equal(pending.status, 201, JSON.stringify(pending.body))
      assert.equal(new URL(pending.body.data.uploadUrl).origin, 'http://atrium.example:8443')
      assert.equal((await client.call({ path: '/metrics' })).status, 404)
    })

    test('reuses its connections to both servers', async () => {
      const owner = await first.createOrg()
      const before = connections
      for (let sent = 0; sent < 200; sent++) {
        assert.equal((await client.call({ path: '/api/v1/me', as: owner })).status, 200)
      }
      assert.ok(connections - before < 50, `${connections - before} connections for 200 requests`)
    })

    test('loses no request while one of the two servers stops', async () => {
      const owner = await first.createOrg()
      const leaving = await first.secondServer(env, { work: false })
      const own = clientOf(await startProxy(name, [hostOf(first), hostOf(leaving)]))
      let requests = 0
      leaving.app.server.on('request', () => (requests += 1))
      const statuses = new Set<number>()
      let stopped = false
      const callers = Array.from({ length: 6 }, async () => {
        while (!stopped) statuses.add((await own.call({ path: '/api/v1/me', as: owner })).status)
      })
      while (requests < 20) await once(leaving.app.server, 'request')
      await leaving.app.close()
      for (let sent = 0; sent < 20; sent++) {
        statuses.add((await own.call({ path: '/api/v1/me', as: owner })).status)
      }
      stopped = true
      await Promise.all(callers)
      own.close()
      assert.deepEqual([...statuses], [200])
    })
  })
}
