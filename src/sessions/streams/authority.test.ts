import assert from 'node:assert/strict'
import { request as httpRequest } from 'node:http'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { upload } from '../../../test/support/files.ts'
import { createAgent, getTurn, openSession, say, until, untilStatus } from '../../../test/support/chat.ts'
import { startFakeModel } from '../../../test/fakes/model.ts'
import type { Script } from '../../../test/fakes/model.ts'
import { startTestApp } from '../../../test/harness.ts'
import type { TestActor, TestApp } from '../../../test/harness.ts'
import { hashPassword, setPassword } from '../../identity/sign-in/passwords.ts'
import { sql } from '../../platform/database/database.ts'
import { newId } from '../../platform/ids.ts'

const fake = await startFakeModel()
const model = {
  MODEL_PROVIDERS: 'fake',
  MODEL_FAKE_BASE_URL: fake.baseUrl,
  MODEL_FAKE_MODELS: 'm1',
  MODEL_FAKE_FREE: '1',
  RATE_LIMIT_SIGN_IN: '0',
}
const app = await startTestApp(model)
/** Does not work on turns: they run in the process of `app`. */
const frontOnly = await app.secondServer(model, { work: false })

const events = { accept: 'text/event-stream' }

/**
 * The guarantee is one second. The tests allow more, because other programs share the machine. The model writes for a
 * minute, so a stream that is not ended would last that long.
 */
const allowedMs = 5_000

let hangUps = 0

/** Writes the time every 50 ms for a minute, or until the connection closes. */
const clock: Script = async (response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.once('close', () => {
    hangUps += 1
  })
  const endsAt = Date.now() + 60_000
  while (!response.destroyed && Date.now() < endsAt) {
    const choice = { index: 0, delta: { content: `<${Date.now()}>` }, finish_reason: null }
    response.write(`data: ${JSON.stringify({ id: 'c1', object: 'chat.completion.chunk', choices: [choice] })}\n\n`)
    await sleep(50)
  }
}
fake.play(clock)

interface Open {
  status: number
  text(): string
  isEnded(): boolean
}

/** Sends a request and reads its response as it arrives. */
const open = async (server: TestApp, path: string, headers: Record<string, string>, json?: object): Promise<Open> => {
  const method = json === undefined ? 'GET' : 'POST'
  const body = json === undefined ? null : JSON.stringify(json)
  const type = json === undefined ? {} : { 'content-type': 'application/json' }
  const response = await fetch(server.url + path, { method, headers: { ...type, ...headers }, body })
  let text = ''
  let isEnded = false
  void (async () => {
    const decoder = new TextDecoder()
    try {
      for await (const chunk of response.body ?? []) text += decoder.decode(chunk as Uint8Array, { stream: true })
    } catch {
      // The server closed the connection.
    }
    isEnded = true
  })()
  return { status: response.status, text: () => text, isEnded: () => isEnded }
}

const bearerOf = (as: TestActor): Record<string, string> => ({ authorization: `Bearer ${as.key}` })

const timesIn = (text: string): number[] => [...text.matchAll(/<(\d{13})>/g)].map(([, ms]) => Number(ms))

const flows = (stream: Open): Promise<unknown> =>
  until(
    () => Promise.resolve(timesIn(stream.text()).length),
    (count) => count > 2,
  )

/** Fails unless the stream ends soon after the loss and contains nothing that was written later. */
const endsAfter = async (stream: Open, what: () => Promise<unknown>): Promise<string> => {
  await what()
  const since = Date.now()
  await until(
    () => Promise.resolve(stream.isEnded()),
    (isEnded) => isEnded,
    allowedMs,
  )
  const last = timesIn(stream.text()).at(-1) ?? 0
  assert.ok(last < since + allowedMs, `the stream contains text that was written ${last - since} ms after the loss`)
  return stream.text()
}

const begin = async (): Promise<{ owner: TestActor; sessionId: string; turnId: string }> => {
  const owner = await app.createOrg()
  await createAgent(app, owner, { name: 'clock', model: 'fake/m1' })
  const { id: sessionId } = await openSession(app, owner, { agentId: 'clock' })
  const { body } = await say(app, owner, sessionId, { text: 'Go', background: true })
  await untilStatus(app, owner, body.data.turn.id, 'running')
  return { owner, sessionId, turnId: body.data.turn.id }
}

const stop = (as: TestActor, turnId: string) => app.call('POST', `/api/v1/turns/${turnId}/cancel`, { as })

const memberIdOf = async ({ orgId, userId }: TestActor): Promise<string> => {
  const row = await app.db.row<{ id: string }>(
    sql`select id from members where org_id = ${orgId} and user_id = ${userId}`,
  )
  return row?.id ?? ''
}

const losses: Record<string, { lose: (owner: TestActor, reader: TestActor) => Promise<unknown>; status: number }> = {
  'its API key is revoked': {
    lose: async (owner, reader) =>
      app.call('DELETE', `/api/v1/api-keys/${reader.apiKeyId}`, { as: owner, headers: await app.stepUp(owner) }),
    status: 401,
  },
  'its API key expires': {
    lose: (_owner, reader) =>
      app.db.execute(sql`
        update api_keys set expires_at = now() + interval '1 second'
        where org_id = ${reader.orgId} and id = ${reader.apiKeyId}`),
    status: 401,
  },
  'the member is removed from the org': {
    lose: async (owner, reader) =>
      app.call('DELETE', `/api/v1/members/${await memberIdOf(reader)}`, {
        as: owner,
        headers: await app.stepUp(owner),
      }),
    status: 401,
  },
  'the member is removed from the workspace': {
    lose: (owner, reader) =>
      app.call('DELETE', `/api/v1/workspaces/${owner.workspaceId}/members/${reader.userId}`, { as: owner }),
    status: 403,
  },
  'the API key loses sessions:read': {
    lose: (_owner, reader) =>
      app.db.execute(sql`
        update api_keys set scopes = '{files:read}' where org_id = ${reader.orgId} and id = ${reader.apiKeyId}`),
    status: 403,
  },
}

describe('a stream of a turn in progress', () => {
  for (const [where, server] of [
    ['the process that runs the turn', app],
    ['another process', frontOnly],
  ] as const) {
    for (const [what, { lose, status }] of Object.entries(losses)) {
      test(`ends a stream of ${where} with an error when ${what}`, async () => {
        const { owner, turnId, sessionId } = await begin()
        const reader = await app.createUser(owner)
        const bystander = await app.createUser(owner)
        const headers = { ...bearerOf(reader), 'x-workspace-id': owner.workspaceId }
        const paths = [`/api/v1/turns/${turnId}/stream`, `/api/v1/sessions/${sessionId}/stream`]
        const streams = await Promise.all(paths.map((path) => open(server, path, headers)))
        const kept = await open(server, paths[0] ?? '', bearerOf(bystander))
        await Promise.all([...streams, kept].map(flows))
        const texts = await Promise.all([
          endsAfter(streams[0]!, () => lose(owner, reader)),
          endsAfter(streams[1]!, () => Promise.resolve()),
        ])
        for (const text of texts) {
          const last = text.trimEnd().split('\n\n').at(-1) ?? ''
          assert.match(last, /^data: \{"type":"error","errorText":"[^"]+"\}$/)
        }
        assert.equal((await server.call('GET', paths[0] ?? '', { headers })).status, status)
        // The turn and other readers are not affected.
        assert.equal((await getTurn(app, owner, turnId)).status, 'running')
        const count = timesIn(kept.text()).length
        await until(
          () => Promise.resolve(timesIn(kept.text()).length),
          (now) => now > count + 2,
        )
        assert.equal(kept.isEnded(), false)
        await stop(owner, turnId)
      })
    }
  }

  test('ends a stream of the console when the person signs out or loses the org', async () => {
    const password = 'correct horse battery'
    const hash = await hashPassword(password)
    for (const lose of [
      (cookie: string) => app.call('POST', '/api/v1/auth/sign-out', { headers: { cookie, origin: app.url }, json: {} }),
      (cookie: string) => {
        const token = /=([^.]+)\./.exec(cookie)?.[1] ?? ''
        return app.db.execute(sql`update sign_in_sessions set reach = ${[newId()]}::uuid[] where token = ${token}`)
      },
    ]) {
      const { owner, turnId } = await begin()
      const reader = await app.createUser(owner)
      await app.db.transaction('all orgs', (db) => setPassword(db, reader.userId, hash))
      const signedIn = await app.call('POST', '/api/v1/auth/sign-in', {
        headers: { origin: app.url },
        json: { email: reader.email, password },
      })
      const cookie = signedIn.headers.getSetCookie()[0]?.split(';')[0] ?? ''
      const path = `/api/v1/turns/${turnId}/stream`
      const stream = await open(frontOnly, path, { cookie })
      await flows(stream)
      const text = await endsAfter(stream, () => lose(cookie))
      assert.match(text, /"type":"error"/)
      const status = (await frontOnly.call('GET', path, { headers: { cookie, 'x-org-id': owner.orgId } })).status
      assert.ok(status === 401 || status === 403, `${status}`)
      await stop(owner, turnId)
    }
  })
})

describe('the response to the caller’s own turn', () => {
  const asking = async (): Promise<{ owner: TestActor; asker: TestActor; sessionId: string }> => {
    const owner = await app.createOrg()
    await createAgent(app, owner, { name: 'clock', model: 'fake/m1' })
    const asker = await app.createUser(owner)
    const { id: sessionId } = await openSession(app, asker, { agentId: 'clock' })
    return { owner, asker, sessionId }
  }
  const revoke = async (owner: TestActor, asker: TestActor): Promise<void> => {
    const response = await app.call('DELETE', `/api/v1/api-keys/${asker.apiKeyId}`, {
      as: owner,
      headers: await app.stepUp(owner),
    })
    assert.equal(response.status, 200, response.text)
  }

  const mcpCall = {
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: 'agents.ask', arguments: { agent: 'clock', text: 'Go' }, _meta: { progressToken: 'p' } },
  }
  const mcpHeaders = { accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-11-25' }

  const ways: Record<string, { path: (sessionId: string) => string; headers: Record<string, string>; json: object }> = {
    'as events of the API': {
      path: (sessionId) => `/api/v1/sessions/${sessionId}/messages`,
      headers: events,
      json: { text: 'Go' },
    },
    'as chunks of OpenAI’s protocol': {
      path: () => '/api/openai/v1/chat/completions',
      headers: {},
      json: { model: 'agent/clock', stream: true, messages: [{ role: 'user', content: 'Go' }] },
    },
    'as events of MCP': { path: () => '/mcp', headers: mcpHeaders, json: mcpCall },
  }
  for (const [what, { path, headers, json }] of Object.entries(ways)) {
    test(`ends a stream ${what} with an error when the key is revoked, and rejects the next request`, async () => {
      const { owner, asker, sessionId } = await asking()
      const stream = await open(frontOnly, path(sessionId), { ...bearerOf(asker), ...headers }, json)
      assert.equal(stream.status, 200)
      await until(
        () => app.db.rows<{ status: string }>(sql`select status from turns where org_id = ${owner.orgId}`),
        ([turn]) => turn?.status === 'running',
      )
      const text = await endsAfter(stream, () => revoke(owner, asker))
      assert.match(text, /error/i)
      const again = await frontOnly.call('POST', path(sessionId), { as: asker, headers, json })
      assert.equal(again.status, 401)
    })
  }

  const waits: Record<string, { path: (sessionId: string) => string; headers: Record<string, string>; json: object }> =
    {
      'for JSON of the API': {
        path: (sessionId) => `/api/v1/sessions/${sessionId}/messages`,
        headers: {},
        json: { text: 'Go' },
      },
      'for JSON of OpenAI’s protocol': {
        path: () => '/api/openai/v1/chat/completions',
        headers: {},
        json: { model: 'agent/clock', messages: [{ role: 'user', content: 'Go' }] },
      },
      'for JSON of MCP': {
        path: () => '/mcp',
        headers: { accept: 'application/json', 'mcp-protocol-version': '2025-11-25' },
        json: mcpCall,
      },
    }
  for (const [what, { path, headers, json }] of Object.entries(waits)) {
    test(`returns UNAUTHORIZED to a request that waits ${what} when its key is revoked, without text of the turn`, async () => {
      const { owner, asker, sessionId } = await asking()
      const responding = frontOnly.call('POST', path(sessionId), { as: asker, headers, json })
      await until(
        () => app.db.rows<{ status: string }>(sql`select status from turns where org_id = ${owner.orgId}`),
        ([turn]) => turn?.status === 'running',
      )
      await revoke(owner, asker)
      const response = await responding
      assert.equal(response.status, 401, response.text)
      assert.deepEqual(timesIn(response.text), [])
    })
  }

  test('aborts the model call and fails the turn when its key is revoked or its person leaves', async () => {
    for (const [what, code] of [
      ['its API key is revoked', 'key_revoked'],
      ['its API key expires', 'key_revoked'],
      ['the member is removed from the workspace', 'forbidden'],
    ] as const) {
      const { owner, asker, sessionId } = await asking()
      const { body } = await say(app, asker, sessionId, { text: 'Go', background: true })
      const { id } = body.data.turn
      const asked = fake.requests.length
      await until(
        () => Promise.resolve(fake.requests.length),
        (count) => count > asked - 1 && count > 0,
      )
      const stream = await open(app, `/api/v1/turns/${id}/stream`, bearerOf(owner))
      await flows(stream)
      const before = hangUps
      await endsAfter(stream, () => losses[what]!.lose(owner, asker))
      const turn = await untilStatus(app, owner, id, 'failed')
      assert.equal(turn.error.code, code)
      assert.equal(turn.steps.at(-1).status, 'cancelled')
      assert.match(stream.text(), /\[DONE\]/)
      await until(
        () => Promise.resolve(hangUps),
        (count) => count > before,
      )
    }
  })
})

test('aborts a download when its key is revoked', async () => {
  const owner = await app.createOrg()
  const reader = await app.createUser(owner)
  const sizeBytes = 64 * 1_048_576
  const file = await upload(app, owner, Buffer.alloc(sizeBytes), {
    name: 'large.bin',
    type: 'application/octet-stream',
  })
  const download = await fetch(`${frontOnly.url}/api/v1/files/${file.id}?download=true&inline=true`, {
    headers: bearerOf(reader),
  })
  assert.equal(download.status, 200)
  // Only one chunk is read, so the rest stays in the buffers of the server.
  const bytes = download.body!.getReader()
  let received = (await bytes.read()).value?.length ?? 0
  await app.call('DELETE', `/api/v1/api-keys/${reader.apiKeyId}`, { as: owner, headers: await app.stepUp(owner) })
  await until(
    async () => (await frontOnly.call('GET', '/api/v1/me', { as: reader })).status,
    (status) => status === 401,
  )
  await assert.rejects(async () => {
    for (;;) {
      // Slower than the check for revoked keys, or everything would have been sent before it.
      await until(
        () => app.db.rows(sql`select pg_sleep(0.05)`),
        () => true,
      )
      const { done, value } = await bytes.read()
      if (done) return
      received += value.length
    }
  })
  assert.ok(received < sizeBytes, `${received} bytes`)
})

test('cuts off the export of the audit log when the key is revoked', async () => {
  const owner = await app.createOrg()
  const admin = await app.createUser(owner, 'admin')
  await app.db.execute(sql`
    insert into audit_log (org_id, id, at, actor_name, action, resource_type)
    select ${owner.orgId}, id, now(), repeat('long name ', 100), 'member.added', 'member'
    from unnest(${Array.from({ length: 20_000 }, () => newId())}::uuid[]) id`)
  const exported = await fetch(`${frontOnly.url}/api/v1/audit-log/export?format=jsonl`, { headers: bearerOf(admin) })
  assert.equal(exported.status, 200)
  const bytes = exported.body!.getReader()
  await bytes.read()
  await app.call('DELETE', `/api/v1/api-keys/${admin.apiKeyId}`, { as: owner, headers: await app.stepUp(owner) })
  await until(
    async () => (await frontOnly.call('GET', '/api/v1/me', { as: admin })).status,
    (status) => status === 401,
  )
  await assert.rejects(async () => {
    for (;;) {
      // Slower than the check for revoked keys, or everything would have been sent before it.
      await sleep(20)
      if ((await bytes.read()).done) return
    }
  })
})

for (const [what, method, path] of [
  ['an upload', 'POST', '/files'],
  ['new bytes of a file', 'PUT', '/files/:id/content'],
] as const) {
  test(`cuts off ${what} when its key is revoked, and stores nothing of it`, async () => {
    const owner = await app.createOrg()
    const writer = await app.createUser(owner)
    const file = await upload(app, owner, 'before', { name: 'kept.txt' })
    const form =
      '--x\r\ncontent-disposition: form-data; name="file"; filename="new.txt"\r\ncontent-type: text/plain\r\n\r\n'
    const request = httpRequest(`${frontOnly.url}/api/v1${path.replace(':id', file.id)}`, {
      method,
      headers: {
        ...bearerOf(writer),
        'content-type': method === 'POST' ? 'multipart/form-data; boundary=x' : 'text/plain',
      },
    })
    const ended = new Promise<string>((resolve) => {
      request.on('error', ({ message }) => resolve(message))
      request.on('response', ({ statusCode }) => resolve(`status ${statusCode}`))
    })
    request.write(`${method === 'POST' ? form : ''}the first bytes`)
    const writing = () =>
      app.db.row<{ count: bigint }>(sql`
        select count(*) from blobs where org_id = ${owner.orgId} and state = 'writing'`)
    await until(writing, (row) => row?.count === 1n)
    await app.call('DELETE', `/api/v1/api-keys/${writer.apiKeyId}`, { as: owner, headers: await app.stepUp(owner) })
    assert.match(await ended, /socket hang up|ECONNRESET/)
    await until(writing, (row) => row?.count === 0n)
    const { body } = await app.call('GET', '/api/v1/files', { as: owner })
    assert.deepEqual(
      body.data.items.map(({ name, size }: { name: string; size: number }) => [name, size]),
      [['kept.txt', 6]],
    )
  })
}
