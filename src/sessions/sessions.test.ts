import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sql } from '../platform/database/database.ts'
import { newId } from '../platform/ids.ts'
import { ask, createAgent, openSession, say, untilStatus } from '../../test/support/chat.ts'
import { startTestApp } from '../../test/harness.ts'
import type { Answer, TestActor } from '../../test/harness.ts'

const app = await startTestApp()

const assertError = async (status: number, code: string, call: Promise<Answer>): Promise<void> => {
  const answer = await call
  assert.equal(answer.status, status, JSON.stringify(answer.body))
  assert.equal(answer.body.error.code, code)
}
const addWorkspace = async (owner: TestActor): Promise<string> => {
  const id = newId()
  await app.db.execute(sql`
    insert into workspaces (org_id, id, name, slug) values (${owner.orgId}, ${id}, 'Other', ${`other-${id}`})`)
  return id
}
const createProject = async (as: TestActor): Promise<string> => {
  const { body } = await app.call('POST', '/api/v1/projects', { as, json: { name: 'Apollo' } })
  return body.data.id
}

describe('POST /sessions', () => {
  test('POST /sessions returns the whole session with the agent and the caller as participants', async () => {
    const owner = await app.createOrg()
    const agent = await createAgent(app, owner, { name: 'Helper', avatar: 'owl' })
    const projectId = await createProject(owner)
    const { status, body, headers } = await app.call('POST', '/api/v1/sessions', {
      as: owner,
      json: { agentId: 'helper', title: 'Plans', projectId, metadata: { ticket: 7, relationship: 'peer' } },
    })
    assert.equal(status, 201)
    assert.match(headers.get('etag') ?? '', /^"1\.[\w-]+"$/)
    const { id, createdAt, updatedAt, ...rest } = body.data
    assert.match(id, /^[0-9a-f-]{36}$/)
    assert.equal(createdAt, updatedAt)
    assert.deepEqual(rest, {
      workspaceId: owner.workspaceId,
      projectId,
      title: 'Plans',
      source: 'api',
      status: 'idle',
      activeTurnId: null,
      participants: [
        { type: 'agent', id: agent.id, slug: 'helper', name: 'Helper', avatar: 'owl' },
        { type: 'user', id: owner.userId, name: 'User' },
      ],
      metadata: { ticket: 7, relationship: 'user' },
      messageCount: 0,
      lastMessageAt: null,
    })
  })

  test('POST /sessions accepts the id of an agent instead of its slug, and creates the default agent of a new org', async () => {
    const owner = await app.createOrg()
    const agent = await createAgent(app, owner, { name: 'Helper' })
    assert.equal((await openSession(app, owner, { agentId: agent.id })).participants[0].slug, 'helper')
    const fresh = await app.createOrg()
    assert.equal((await openSession(app, fresh)).participants[0].slug, 'assistant')
  })

  const bad: [string, object][] = [
    ['no agent', {}],
    ['an agent that is a number', { agentId: 1 }],
    ['an empty title', { agentId: 'assistant', title: '' }],
    ['a title of 256 characters', { agentId: 'assistant', title: 'x'.repeat(256) }],
    ['a malformed project', { agentId: 'assistant', projectId: 'x' }],
    ['metadata that is a list', { agentId: 'assistant', metadata: [] }],
    ['metadata over 16 KB', { agentId: 'assistant', metadata: { note: 'x'.repeat(16_384) } }],
  ]
  for (const [what, json] of bad) {
    test(`POST /sessions rejects ${what} with BAD_REQUEST`, async () => {
      const owner = await app.createOrg()
      await assertError(400, 'BAD_REQUEST', app.call('POST', '/api/v1/sessions', { as: owner, json }))
    })
  }

  test('POST /sessions returns NOT_FOUND for an unknown agent or project and for one of another org', async () => {
    const owner = await app.createOrg()
    const stranger = await app.createOrg()
    const agent = await createAgent(app, stranger, { name: 'Foreign' })
    const projectId = await createProject(stranger)
    for (const json of [
      { agentId: 'nobody' },
      { agentId: agent.id },
      { agentId: 'assistant', projectId },
      { agentId: 'assistant', projectId: newId() },
    ]) {
      await assertError(404, 'NOT_FOUND', app.call('POST', '/api/v1/sessions', { as: owner, json }))
    }
  })

  test('a key without sessions:write can read sessions but not create or use them', async () => {
    const owner = await app.createOrg()
    const { id } = await openSession(app, owner)
    const reader = await app.createUser(owner, 'member', { scopes: ['sessions:read'] })
    assert.equal((await app.call('GET', `/api/v1/sessions/${id}`, { as: reader })).status, 200)
    await assertError(
      403,
      'FORBIDDEN',
      app.call('POST', '/api/v1/sessions', { as: reader, json: { agentId: 'assistant' } }),
    )
    await assertError(403, 'FORBIDDEN', say(app, reader, id, { text: 'Hello' }))
    await assertError(403, 'FORBIDDEN', app.call('POST', `/api/v1/sessions/${id}/cancel`, { as: reader }))
  })
})

describe('a session', () => {
  test('a session that is deleted, of another workspace or of another org returns the same NOT_FOUND as an unknown one', async () => {
    const owner = await app.createOrg()
    const stranger = await app.createOrg()
    const other = await addWorkspace(owner)
    const foreign = await openSession(app, stranger)
    const deleted = await openSession(app, owner)
    const { body } = await app.call('POST', '/api/v1/sessions', {
      as: owner,
      json: { agentId: 'assistant' },
      headers: { 'x-workspace-id': other },
    })
    assert.equal((await app.call('DELETE', `/api/v1/sessions/${deleted.id}`, { as: owner })).status, 200)
    const ids = [foreign.id, deleted.id, body.data.id, newId(), 'nonsense']
    for (const [method, rest, json] of [
      ['GET', '', undefined],
      ['PATCH', '', { title: 'x' }],
      ['DELETE', '', undefined],
      ['GET', '/messages', undefined],
      ['POST', '/messages', { text: 'Hello' }],
      ['GET', '/stream', undefined],
      ['POST', '/cancel', undefined],
    ] as const) {
      const answers = await Promise.all(
        ids.map((id) => app.call(method, `/api/v1/sessions/${id}${rest}`, { as: owner, ...(json ? { json } : {}) })),
      )
      assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([404]), `${method} ${rest}`)
      assert.equal(new Set(answers.map(({ text }) => text)).size, 1, `${method} ${rest}`)
    }
  })

  test('PATCH /sessions/:id changes title, project and metadata, but not the relationship', async () => {
    const owner = await app.createOrg()
    const session = await openSession(app, owner, { metadata: { a: 1, b: 2 } })
    const projectId = await createProject(owner)
    const path = `/api/v1/sessions/${session.id}`
    const json = { title: 'New', projectId, metadata: { a: null, c: 3, relationship: 'connector' } }
    const { status, body, headers } = await app.call('PATCH', path, { as: owner, json })
    assert.equal(status, 200)
    assert.match(headers.get('etag') ?? '', /^"2\.[\w-]+"$/)
    assert.deepEqual(
      [body.data.title, body.data.projectId, body.data.metadata],
      ['New', projectId, { b: 2, c: 3, relationship: 'user' }],
    )
    const cleared = await app.call('PATCH', path, { as: owner, json: { title: null, projectId: null } })
    assert.deepEqual([cleared.body.data.title, cleared.body.data.projectId], [null, null])
    await assertError(400, 'BAD_REQUEST', app.call('PATCH', path, { as: owner, json: {} }))
    await assertError(400, 'BAD_REQUEST', app.call('PATCH', path, { as: owner, json: { colour: 'red' } }))
    await assertError(404, 'NOT_FOUND', app.call('PATCH', path, { as: owner, json: { projectId: newId() } }))
    const stale = { as: owner, json: { title: 'x' }, headers: { 'if-match': '"1"' } }
    await assertError(409, 'CONFLICT', app.call('PATCH', path, stale))
    await assertError(409, 'CONFLICT', app.call('DELETE', path, { as: owner, headers: { 'if-match': '"1"' } }))
  })

  test('renaming an agent changes the ETag of its sessions but not their revision', async () => {
    const owner = await app.createOrg()
    const agent = await createAgent(app, owner, { name: 'Before' })
    const session = await openSession(app, owner, { agentId: agent.id })
    const path = `/api/v1/sessions/${session.id}`
    const tag = (await app.call('GET', path, { as: owner })).headers.get('etag') ?? ''
    const readAgain = () => app.call('GET', path, { as: owner, headers: { 'if-none-match': tag } })
    assert.equal((await readAgain()).status, 304)
    await app.call('PATCH', `/api/v1/agents/${agent.id}`, { as: owner, json: { name: 'After' } })
    const { status, text } = await readAgain()
    assert.equal(status, 200)
    assert.match(text, /"name":"After"/)
    const renamed = { as: owner, json: { title: 'x' }, headers: { 'if-match': tag } }
    assert.equal((await app.call('PATCH', path, renamed)).status, 200)
  })

  test('a session without a title gets one from its first message', async () => {
    const owner = await app.createOrg()
    const titleOf = async (id: string) =>
      (await app.call('GET', `/api/v1/sessions/${id}`, { as: owner })).body.data.title
    const untitled = await openSession(app, owner)
    await ask(app, owner, untitled.id, { text: `  ${'long '.repeat(40)}\nsecond line` })
    await ask(app, owner, untitled.id, { text: 'Something else' })
    assert.equal(await titleOf(untitled.id), `${'long '.repeat(40).slice(0, 79)}…`)
    const titled = await openSession(app, owner, { title: 'Mine' })
    await ask(app, owner, titled.id, { text: 'Hello' })
    assert.equal(await titleOf(titled.id), 'Mine')
  })

  test('deleting a session cancels its running turn', async () => {
    const owner = await app.createOrg()
    const { id } = await openSession(app, owner)
    const { body } = await say(app, owner, id, { text: '/slow 60000', background: true })
    await say(app, owner, id, { text: 'Next', background: true })
    await untilStatus(app, owner, body.data.turn.id, 'running')
    assert.equal((await app.call('DELETE', `/api/v1/sessions/${id}`, { as: owner })).status, 200)
    const rows = await app.db.rows<{ status: string }>(sql`
      select status from turns where org_id = ${owner.orgId} and session_id = ${id}`)
    assert.deepEqual(
      rows.map(({ status }) => status),
      ['cancelled', 'cancelled'],
    )
    await assertError(404, 'NOT_FOUND', app.call('GET', `/api/v1/turns/${body.data.turn.id}`, { as: owner }))
  })
})

describe('GET /sessions', () => {
  test("GET /sessions lists the workspace's sessions, last changed first, page by page", async () => {
    const owner = await app.createOrg()
    const member = await app.createUser(owner)
    const other = await addWorkspace(owner)
    const made: string[] = []
    for (let i = 0; i < 5; i++) made.push((await openSession(app, owner)).id)
    const headers = { 'x-workspace-id': other }
    await app.call('POST', '/api/v1/sessions', { as: owner, json: { agentId: 'assistant' }, headers })
    await app.call('PATCH', `/api/v1/sessions/${made[1]}`, { as: owner, json: { title: 'Last' } })
    const expected = [made[1], made[4], made[3], made[2], made[0]]
    for (const limit of [1, 2, 5, 100]) {
      const seen: string[] = []
      let cursor: string | null = ''
      while (cursor !== null) {
        const query: string = cursor === '' ? '' : `&cursor=${cursor}`
        const { body } = await app.call('GET', `/api/v1/sessions?limit=${limit}${query}`, { as: member })
        seen.push(...body.data.items.map((session: { id: string }) => session.id))
        cursor = body.data.nextCursor
      }
      assert.deepEqual(seen, expected)
    }
  })

  test('GET /sessions and GET /sessions/:id keep the names of participants who have left the org', async () => {
    const owner = await app.createOrg()
    const member = await app.createUser(owner)
    const { id, participants } = await openSession(app, member)
    assert.equal(participants.length, 2)
    const found = await app.db.row<{ id: string }>(sql`
      select id from members where org_id = ${owner.orgId} and user_id = ${member.userId}`)
    const headers = await app.stepUp(owner)
    const removed = await app.call('DELETE', `/api/v1/members/${found?.id}`, { as: owner, headers })
    assert.equal(removed.status, 200, removed.text)
    const { body: one } = await app.call('GET', `/api/v1/sessions/${id}`, { as: owner })
    assert.deepEqual(one.data.participants, participants)
    const { body: list } = await app.call('GET', '/api/v1/sessions', { as: owner })
    assert.deepEqual(list.data.items[0].participants, participants)
  })

  test('GET /sessions filters by agent and by project', async () => {
    const owner = await app.createOrg()
    const projectId = await createProject(owner)
    const helper = await createAgent(app, owner, { name: 'Helper' })
    const [, second, third] = [
      await openSession(app, owner),
      await openSession(app, owner, { agentId: 'helper' }),
      await openSession(app, owner, { agentId: 'helper', projectId }),
    ]
    const idsOf = async (query: string) =>
      (await app.call('GET', `/api/v1/sessions?${query}`, { as: owner })).body.data.items.map(
        (one: { id: string }) => one.id,
      )
    assert.deepEqual(await idsOf('agentId=helper'), [third.id, second.id])
    assert.deepEqual(await idsOf(`projectId=${projectId}`), [third.id])
    assert.deepEqual(await idsOf(`agentId=${helper.id}&projectId=${projectId}`), [third.id])
    await assertError(404, 'NOT_FOUND', app.call('GET', '/api/v1/sessions?agentId=missing', { as: owner }))
    await assertError(400, 'BAD_REQUEST', app.call('GET', '/api/v1/sessions?limit=101', { as: owner }))
    await assertError(400, 'BAD_REQUEST', app.call('GET', '/api/v1/sessions?cursor=x', { as: owner }))
  })
})

describe('GET /sessions/:id/messages', () => {
  test('GET /sessions/:id/messages accepts a cursor with a position beyond the integers of the database', async () => {
    const owner = await app.createOrg()
    const session = await openSession(app, owner, { agentId: 'assistant' })
    const cursor = Buffer.from(JSON.stringify([Number.MAX_SAFE_INTEGER])).toString('base64url')
    const { status, text } = await app.call('GET', `/api/v1/sessions/${session.id}/messages?cursor=${cursor}`, {
      as: owner,
    })
    assert.equal(status, 200, text)
  })

  test('GET /sessions/:id/messages lists messages newest first, with the names that their authors had at the time', async () => {
    const owner = await app.createOrg()
    const agent = await createAgent(app, owner, { name: 'Helper', avatar: 'owl' })
    const session = await openSession(app, owner, { agentId: 'helper' })
    const first = await ask(app, owner, session.id, { text: 'One' })
    await app.call('PATCH', `/api/v1/agents/${agent.id}`, { as: owner, json: { name: 'Renamed' } })
    await ask(app, owner, session.id, { text: 'Two' })
    const { body } = await app.call('GET', `/api/v1/sessions/${session.id}/messages`, { as: owner })
    const { items, nextCursor } = body.data
    assert.equal(nextCursor, null)
    assert.deepEqual(
      items.map((message: { role: string; author: { name: string } }) => [message.role, message.author.name]),
      [
        ['assistant', 'Renamed'],
        ['user', 'User'],
        ['assistant', 'Helper'],
        ['user', 'User'],
      ],
    )
    const said = items[3]
    assert.deepEqual(said, {
      id: said.id,
      sessionId: session.id,
      turnId: first.turn.id,
      role: 'user',
      author: { type: 'user', id: owner.userId, name: 'User' },
      parts: [{ type: 'text', text: 'One' }],
      createdAt: said.createdAt,
    })
    assert.deepEqual(items[2], first.message)
    const after = (await app.call('GET', `/api/v1/sessions/${session.id}`, { as: owner })).body.data
    assert.deepEqual([after.messageCount, after.status, after.activeTurnId], [4, 'idle', null])
    assert.ok(after.lastMessageAt >= said.createdAt)
  })

  test('GET /sessions/:id/messages lists older messages page by page', async () => {
    const owner = await app.createOrg()
    const session = await openSession(app, owner)
    for (const text of ['One', 'Two', 'Three']) await ask(app, owner, session.id, { text })
    const seen: string[] = []
    let cursor: string | null = ''
    while (cursor !== null) {
      const query: string = cursor === '' ? '' : `&cursor=${cursor}`
      const { body } = await app.call('GET', `/api/v1/sessions/${session.id}/messages?limit=4${query}`, { as: owner })
      seen.push(...body.data.items.map((message: { id: string }) => message.id))
      cursor = body.data.nextCursor
    }
    const whole = await app.call('GET', `/api/v1/sessions/${session.id}/messages`, { as: owner })
    assert.equal(new Set(seen).size, 6)
    assert.deepEqual(
      seen,
      whole.body.data.items.map((message: { id: string }) => message.id),
    )
  })

  test('messages of more than 512 KB together are several pages, also those without a stored size', async () => {
    const owner = await app.createOrg()
    const session = await openSession(app, owner)
    for (let n = 0; n < 8; n += 1) await ask(app, owner, session.id, { text: String(n).repeat(100_000) })
    const sizes = await app.db.rows<{ isUnknown: boolean }>(sql`
      update messages set parts_bytes = case when turn_number % 2 = 0 then parts_bytes end
      where org_id = ${owner.orgId} and session_id = ${session.id}
      returning parts_bytes is null as is_unknown`)
    assert.deepEqual([sizes.length, sizes.filter(({ isUnknown }) => isUnknown).length], [16, 8])
    const pages: string[][] = []
    for (let cursor = ''; ;) {
      const { body } = await app.call('GET', `/api/v1/sessions/${session.id}/messages?limit=100${cursor}`, {
        as: owner,
      })
      assert.ok(JSON.stringify(body).length < 650_000, `${JSON.stringify(body).length}`)
      pages.push(body.data.items.map(({ id }: { id: string }) => id))
      if (body.data.nextCursor === null) break
      cursor = `&cursor=${body.data.nextCursor}`
    }
    assert.ok(pages.length > 1 && pages.length < 4, `${pages.length}`)
    assert.equal(new Set(pages.flat()).size, 16)
  })
})

describe('GET /agents/:id/sessions', () => {
  test('GET /agents/:id/sessions lists the sessions in which the agent takes part, last changed first', async () => {
    const owner = await app.createOrg()
    const other = await addWorkspace(owner)
    const helper = await createAgent(app, owner, { name: 'Helper' })
    const own = await openSession(app, owner, { agentId: 'helper' })
    const joined = await openSession(app, owner)
    const deleted = await openSession(app, owner, { agentId: 'helper' })
    await openSession(app, owner)
    await app.call('POST', '/api/v1/sessions', {
      as: owner,
      json: { agentId: 'assistant' },
      headers: { 'x-workspace-id': other },
    })
    await ask(app, owner, joined.id, { text: 'Hello', agentId: 'helper' })
    await app.call('DELETE', `/api/v1/sessions/${deleted.id}`, { as: owner })
    await ask(app, owner, own.id, { text: 'Hello' })
    for (const id of ['helper', helper.id]) {
      const { status, body } = await app.call('GET', `/api/v1/agents/${id}/sessions`, { as: owner })
      assert.equal(status, 200)
      assert.deepEqual(
        body.data.items.map((session: { id: string }) => session.id),
        [own.id, joined.id],
      )
    }
    const page = await app.call('GET', '/api/v1/agents/helper/sessions?limit=1', { as: owner })
    assert.equal(page.body.data.items[0].id, own.id)
    const next = await app.call('GET', `/api/v1/agents/helper/sessions?limit=1&cursor=${page.body.data.nextCursor}`, {
      as: owner,
    })
    assert.deepEqual([next.body.data.items[0].id, next.body.data.nextCursor], [joined.id, null])
    const mine = await app.call('GET', '/api/v1/agents/assistant/sessions', { as: owner })
    assert.equal(mine.body.data.items.length, 2)
    const elsewhere = await app.call('GET', '/api/v1/agents/assistant/sessions', {
      as: owner,
      headers: { 'x-workspace-id': other },
    })
    assert.equal(elsewhere.body.data.items.length, 1)
    await assertError(404, 'NOT_FOUND', app.call('GET', '/api/v1/agents/missing/sessions', { as: owner }))
  })
})

describe('GET /agents/:id/messages', () => {
  test('GET /agents/:id/messages lists only what agents wrote in sessions between peers, newest first', async () => {
    const owner = await app.createOrg()
    const [a, b] = [await createAgent(app, owner, { name: 'a' }), await createAgent(app, owner, { name: 'b' })]
    const session = await openSession(app, owner, { agentId: a.id })
    await ask(app, owner, session.id, { text: 'By a person' })
    await ask(app, owner, session.id, { text: 'And to b', agentId: b.id })
    const url = `/api/v1/agents/${a.id}/messages`
    assert.deepEqual((await app.call('GET', url, { as: owner })).body.data, { items: [], nextCursor: null })
    await app.db.execute(sql`
      update sessions set relationship = 'peer' where org_id = ${owner.orgId} and id = ${session.id}`)
    await app.call('PATCH', '/api/v1/agents/a', { as: owner, json: { name: 'Renamed', slug: 'renamed' } })
    const { status, body } = await app.call('GET', url, { as: owner })
    assert.equal(status, 200)
    const shown = body.data.items.map((one: Record<string, unknown>) => [
      one['fromAgentSlug'],
      one['fromAgentName'],
      one['isSelf'],
    ])
    assert.deepEqual(shown, [
      ['b', 'b', false],
      ['a', 'a', true],
    ])
    const [newest] = body.data.items
    assert.deepEqual(Object.keys(newest).toSorted(), [
      'createdAt',
      'fromAgentAvatar',
      'fromAgentId',
      'fromAgentName',
      'fromAgentSlug',
      'id',
      'isSelf',
      'parts',
      'sessionId',
      'text',
      'turnId',
    ])
    assert.match(newest.text, /And to b/)
    assert.equal((await app.call('GET', `${url}?limit=1`, { as: owner })).body.data.items.length, 1)
    for (const limit of [0, 101, 'x']) {
      await assertError(400, 'BAD_REQUEST', app.call('GET', `${url}?limit=${limit}`, { as: owner }))
    }
  })
})
