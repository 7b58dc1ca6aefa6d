import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sql } from '../platform/database/database.ts'
import { newId } from '../platform/ids.ts'
import { startTestApp } from '../../test/harness.ts'
import type { Answer, TestActor } from '../../test/harness.ts'
import { ensureDefaultAgent } from './default-agent.ts'

const app = await startTestApp()
const second = await app.secondServer()

const create = async (as: TestActor, json: object, headers: Record<string, string> = {}) => {
  const { status, body } = await app.call('POST', '/api/v1/agents', { as, json, headers })
  assert.equal(status, 201, JSON.stringify(body))
  return body.data
}
const assertError = async (status: number, code: string, call: Promise<Answer>) => {
  const response = await call
  assert.equal(response.status, status, JSON.stringify(response.body))
  assert.equal(response.body.error.code, code)
  return response.body.error.message as string
}
const addWorkspace = async (owner: TestActor): Promise<string> => {
  const id = newId()
  await app.db.execute(sql`
    insert into workspaces (org_id, id, name, slug) values (${owner.orgId}, ${id}, 'Other', ${`other-${id}`})`)
  return id
}

describe('the default agent', () => {
  test('creates one default agent when 200 first calls arrive at once on two servers', async () => {
    const owner = await app.createOrg()
    const responses = await Promise.all(
      Array.from({ length: 200 }, (_, i) => {
        const path = i % 3 === 0 ? '/api/v1/agents' : '/api/v1/agents/assistant'
        return (i % 2 === 0 ? app : second).call('GET', path, { as: owner })
      }),
    )
    const agents = responses.map(({ status, body }) => {
      assert.equal(status, 200)
      return body.data.items ? body.data.items : [body.data]
    })
    assert.deepEqual(new Set(agents.map((items) => items.length)), new Set([1]))
    assert.equal(new Set(agents.map(([agent]) => agent.id)).size, 1)
    const count = await app.db.row<{ n: number }>(sql`
      select count(*)::int as n from agents where org_id = ${owner.orgId}`)
    assert.equal(count?.n, 1)
    const [agent] = agents[0]
    assert.deepEqual(
      [agent.name, agent.slug, agent.model, agent.workspaceId, agent.isDefault, agent.isActive, agent.orgId],
      ['Atrium Assistant', 'assistant', 'atrium/demo', null, true, true, owner.orgId],
    )
    assert.deepEqual(agent.allowedTools, ['files.search', 'files.read', 'files.write'])
    assert.deepEqual([agent.allowedPeers, agent.allowedConnectors], [[], []])
  })

  test('creates the default agent without an error in 100 orgs in which four processes do so at once', async () => {
    for (let n = 0; n < 100; n += 1) {
      const { orgId } = await app.createOrg()
      await Promise.all(Array.from({ length: 4 }, () => ensureDefaultAgent(app.db, orgId, 'atrium/demo')))
    }
  })

  for (const [what, method, path, json] of [
    ['POST /agents', 'POST', '', { name: 'First' }],
    ['PATCH /agents/assistant', 'PATCH', '/assistant', { description: 'Ours' }],
    ['GET /agents/assistant/peers', 'GET', '/assistant/peers', undefined],
  ] as const) {
    test(`creates the default agent when the first call of an org is ${what}`, async () => {
      const owner = await app.createOrg()
      const { status } = await app.call(method, `/api/v1/agents${path}`, json ? { as: owner, json } : { as: owner })
      assert.ok(status < 300)
      const { body } = await app.call('GET', '/api/v1/agents', { as: owner })
      assert.ok(body.data.items.some((agent: { slug: string }) => agent.slug === 'assistant'))
    })
  }

  test('rejects deactivating or deleting the default agent or changing its model, and ignores a new slug', async () => {
    const owner = await app.createOrg()
    const patch = (json: object) => app.call('PATCH', '/api/v1/agents/assistant', { as: owner, json })
    await assertError(403, 'FORBIDDEN', patch({ isActive: false }))
    await assertError(403, 'FORBIDDEN', patch({ model: 'atrium/demo-paid' }))
    await assertError(400, 'BAD_REQUEST', patch({ model: 'atrium/no-such-model' }))
    await assertError(403, 'FORBIDDEN', app.call('DELETE', '/api/v1/agents/assistant', { as: owner }))
    for (const slug of ['helper', 'Not a slug!', 'assistant']) {
      const { status, body, headers } = await patch({ slug })
      assert.deepEqual([status, body.data.slug, headers.get('etag')], [200, 'assistant', '"1"'])
    }
    const { status, body } = await patch({ slug: 'helper', model: 'atrium/demo', isActive: true, description: 'Ours' })
    assert.equal(status, 200)
    assert.deepEqual([body.data.slug, body.data.description, body.data.isActive], ['assistant', 'Ours', true])
  })

  test('shows the default agent in every workspace of its org and in no other org', async () => {
    const owner = await app.createOrg()
    const stranger = await app.createOrg()
    const other = await addWorkspace(owner)
    const idIn = async (as: TestActor, headers = {}) =>
      (await app.call('GET', '/api/v1/agents/assistant', { as, headers })).body.data.id
    const id = await idIn(owner)
    assert.equal(await idIn(owner, { 'x-workspace-id': other }), id)
    assert.notEqual(await idIn(stranger), id)
    await assertError(404, 'NOT_FOUND', app.call('GET', `/api/v1/agents/${id}`, { as: stranger }))
  })

  test('updates the model of the default agent when the configured model changes', async () => {
    const owner = await app.createOrg()
    await app.call('GET', '/api/v1/agents', { as: owner })
    const reconfigured = await app.secondServer({ DEFAULT_AGENT_MODEL: 'atrium/demo-paid' })
    const { body } = await reconfigured.call('GET', '/api/v1/agents/assistant', { as: owner })
    assert.equal(body.data.model, 'atrium/demo-paid')
  })
})

describe('POST /agents', () => {
  test('creates an agent in the call’s workspace and returns the whole record', async () => {
    const owner = await app.createOrg()
    const agent = await create(owner, { name: '  Sales \n  helper ', settings: { theme: 'dark' }, isActive: false })
    const { id, createdAt, updatedAt, authorityChangedBy, authorityVersion, ...rest } = agent
    assert.deepEqual([authorityChangedBy, authorityVersion], [owner.userId, 1])
    assert.match(id, /^[0-9a-f-]{36}$/)
    assert.equal(createdAt, updatedAt)
    assert.deepEqual(rest, {
      orgId: owner.orgId,
      workspaceId: owner.workspaceId,
      name: 'Sales helper',
      slug: 'sales-helper',
      description: null,
      avatar: 'default',
      model: 'atrium/demo',
      systemPrompt: null,
      allowedTools: [],
      allowedPeers: [],
      allowedConnectors: [],
      isActive: true,
      isDefault: false,
      settings: {
        theme: 'dark',
        voice: { enabled: false, voiceId: 'default', language: 'en-US', speed: 1, pitch: 0, style: null },
      },
      deletedAt: null,
    })
  })

  test('accepts every field at its maximum length in code points', async () => {
    const owner = await app.createOrg()
    const agent = await create(owner, {
      name: '😀'.repeat(255),
      description: 'ü'.repeat(5_000),
      systemPrompt: '😀'.repeat(20_000),
      model: 'atrium/demo-paid',
      avatar: 'owl',
      allowedTools: Array.from({ length: 100 }, (_, i) => `tool-${i}`),
    })
    assert.deepEqual([agent.slug, agent.avatar, agent.model], ['agent', 'owl', 'atrium/demo-paid'])
    const { body } = await app.call('GET', `/api/v1/agents/${agent.id}`, { as: owner })
    assert.equal(body.data.systemPrompt, '😀'.repeat(20_000))
  })

  const bad: [string, unknown][] = [
    ['no body', undefined],
    ['a list', []],
    ['no name', {}],
    ['an empty name', { name: '' }],
    ['a name of white space', { name: ' \t ' }],
    ['a name of 256 characters', { name: 'x'.repeat(256) }],
    ['a name that is a number', { name: 1 }],
    ['the reserved name', { name: 'Atrium Assistant' }],
    ['the reserved name in another case and spacing', { name: ' atrium   ASSISTANT ' }],
    ['a description of 5,001 characters', { name: 'x', description: 'x'.repeat(5_001) }],
    ['a system prompt of 20,001 characters', { name: 'x', systemPrompt: 'x'.repeat(20_001) }],
    ['an unknown model', { name: 'x', model: 'atrium/none' }],
    ['a model that is null', { name: 'x', model: null }],
    ['101 tools', { name: 'x', allowedTools: Array.from({ length: 101 }, (_, i) => `t${i}`) }],
    ['a tool that is a number', { name: 'x', allowedTools: [1] }],
    ['peers that are no list', { name: 'x', allowedPeers: 'a' }],
    ['settings that are a list', { name: 'x', settings: [] }],
    ['settings over 32 KB', { name: 'x', settings: { note: 'x'.repeat(32_768) } }],
    ['approvals that are no list', { name: 'x', settings: { approvals: 'files.write' } }],
    ['an avatar that is null', { name: 'x', avatar: null }],
  ]
  for (const [what, json] of bad) {
    test(`rejects creating an agent with ${what} with BAD_REQUEST`, async () => {
      const owner = await app.createOrg()
      await assertError(400, 'BAD_REQUEST', app.call('POST', '/api/v1/agents', { as: owner, json }))
    })
  }

  test('accepts settings of exactly 32 KB and rejects one byte more', async () => {
    const owner = await app.createOrg()
    const { settings } = await create(owner, { name: 'x', settings: { note: '' } })
    const room = 32_768 - Buffer.byteLength(JSON.stringify(settings))
    await create(owner, { name: 'x', settings: { note: 'x'.repeat(room) } })
    const json = { name: 'x', settings: { note: 'x'.repeat(room + 1) } }
    await assertError(400, 'BAD_REQUEST', app.call('POST', '/api/v1/agents', { as: owner, json }))
  })

  test('stores lists trimmed, without duplicates, in order, and keeps unknown slugs', async () => {
    const owner = await app.createOrg()
    const agent = await create(owner, { name: 'x', allowedTools: [' b ', 'a', 'b', '', ' '], allowedPeers: ['nobody'] })
    assert.deepEqual([agent.allowedTools, agent.allowedPeers], [['b', 'a'], ['nobody']])
  })

  const slugs: [name: string, slug: string][] = [
    ['Élodie & Müller', 'elodie-muller'],
    ['Привет мир', 'privet-mir'],
    ['你好', 'agent'],
    ['Assistant', 'assistant-2'],
    ['--- 1 ---', '1'],
    ['018f6d3e-7c1a-7b3c-9d2e-000000000001', 'agent-018f6d3e-7c1a-7b3c-9d2e-000000000001'],
    ['x'.repeat(255), 'x'.repeat(63)],
  ]
  for (const [name, slug] of slugs) {
    test(`derives the slug ${slug.slice(0, 50)} from the name ${name.slice(0, 40)}`, async () => {
      const owner = await app.createOrg()
      assert.equal((await create(owner, { name })).slug, slug)
    })
  }

  test('numbers the slugs of 40 agents that are created at once with the same name without gaps', async () => {
    const owner = await app.createOrg()
    const made = await Promise.all(
      Array.from({ length: 40 }, (_, i) =>
        (i % 2 === 0 ? app : second).call('POST', '/api/v1/agents', { as: owner, json: { name: 'Helper' } }),
      ),
    )
    assert.deepEqual(new Set(made.map(({ status }) => status)), new Set([201]))
    const expected = ['helper', ...Array.from({ length: 39 }, (_, i) => `helper-${i + 2}`)]
    assert.deepEqual(new Set(made.map(({ body }) => body.data.slug)), new Set(expected))
  })

  test('shortens a slug of maximum length to append a number', async () => {
    const owner = await app.createOrg()
    await create(owner, { name: 'x'.repeat(63) })
    assert.equal((await create(owner, { name: 'x'.repeat(64) })).slug, `${'x'.repeat(61)}-2`)
  })

  test('reuses the slug of a deleted agent', async () => {
    const owner = await app.createOrg()
    const agent = await create(owner, { name: 'Helper' })
    await app.call('DELETE', `/api/v1/agents/${agent.slug}`, { as: owner })
    assert.equal((await create(owner, { name: 'Helper' })).slug, 'helper')
  })

  test('rejects creating an agent as a member without a workspace with FORBIDDEN', async () => {
    const owner = await app.createOrg()
    const member = await app.createUser(owner, 'member', { inWorkspace: false })
    await assertError(403, 'FORBIDDEN', app.call('POST', '/api/v1/agents', { as: member, json: { name: 'x' } }))
    await assertError(403, 'FORBIDDEN', app.call('GET', '/api/v1/agents', { as: member }))
    await assertError(403, 'FORBIDDEN', app.call('GET', '/api/v1/agents/assistant', { as: member }))
  })

  test('lets a key without agents:write read agents but not change them', async () => {
    const owner = await app.createOrg()
    const reader = await app.createUser(owner, 'admin', { scopes: ['agents:read'] })
    assert.equal((await app.call('GET', '/api/v1/agents', { as: reader })).status, 200)
    await assertError(403, 'FORBIDDEN', app.call('POST', '/api/v1/agents', { as: reader, json: { name: 'x' } }))
    await assertError(
      403,
      'FORBIDDEN',
      app.call('PATCH', '/api/v1/agents/assistant', { as: reader, json: { name: 'x' } }),
    )
    await assertError(403, 'FORBIDDEN', app.call('DELETE', '/api/v1/agents/assistant', { as: reader }))
  })

  test('completes the voice profile and clamps its values', async () => {
    const owner = await app.createOrg()
    const voiceOf = async (voice: unknown) => (await create(owner, { name: 'x', settings: { voice } })).settings.voice
    const usual = { enabled: false, voiceId: 'default', language: 'en-US', speed: 1, pitch: 0, style: null }
    assert.deepEqual(await voiceOf('loud'), usual)
    assert.deepEqual(await voiceOf({ speed: 99, pitch: -99, volume: 11, enabled: 'yes', voiceId: 7 }), {
      ...usual,
      speed: 4,
      pitch: -20,
    })
    const full = { enabled: true, voiceId: 'nova', language: 'de-DE', speed: 0.25, pitch: 20, style: 'calm' }
    assert.deepEqual(await voiceOf(full), full)
    assert.deepEqual(await voiceOf({ speed: 0 }), { ...usual, speed: 0.25 })
  })

  test('creates one agent for two requests with the same Idempotency-Key', async () => {
    const owner = await app.createOrg()
    const headers = { 'idempotency-key': newId() }
    const first = await create(owner, { name: 'Once' }, headers)
    const again = await create(owner, { name: 'Once' }, headers)
    assert.deepEqual(again, first)
  })
})

describe('GET /agents/:id', () => {
  test('finds an agent by UUID in any case and by slug', async () => {
    const owner = await app.createOrg()
    const agent = await create(owner, { name: 'Helper' })
    for (const id of [agent.id, agent.id.toUpperCase(), 'helper']) {
      assert.deepEqual((await app.call('GET', `/api/v1/agents/${id}`, { as: owner })).body.data, agent)
    }
  })

  test('returns the same bytes for missing, deleted, malformed and inaccessible agent ids', async () => {
    const owner = await app.createOrg()
    const stranger = await app.createOrg()
    const other = await addWorkspace(owner)
    const foreign = await create(stranger, { name: 'Foreign' })
    const elsewhere = await create(owner, { name: 'Elsewhere' }, { 'x-workspace-id': other })
    const deleted = await create(owner, { name: 'Deleted' })
    await app.call('DELETE', `/api/v1/agents/${deleted.id}`, { as: owner })
    const ids = [
      newId(),
      'no-such-slug',
      'No%20slug',
      foreign.id,
      foreign.slug,
      elsewhere.id,
      elsewhere.slug,
      deleted.id,
    ]
    for (const [method, rest] of [
      ['GET', ''],
      ['GET', '/peers'],
      ['PATCH', ''],
      ['DELETE', ''],
    ] as const) {
      const responses = await Promise.all(
        ids.map((id) =>
          app.call(method, `/api/v1/agents/${id}${rest}`, {
            as: owner,
            ...(method === 'PATCH' ? { json: { name: 'x' } } : {}),
          }),
        ),
      )
      assert.deepEqual(new Set(responses.map(({ status }) => status)), new Set([404]))
      assert.equal(new Set(responses.map(({ text }) => text)).size, 1)
    }
    const named = await app.call('GET', `/api/v1/agents/${elsewhere.id}`, {
      as: owner,
      headers: { 'x-workspace-id': other },
    })
    assert.equal(named.status, 200)
  })

  test('returns an ETag for an agent, and 304 for a matching If-None-Match', async () => {
    const owner = await app.createOrg()
    const agent = await create(owner, { name: 'Helper' })
    const first = await app.call('GET', `/api/v1/agents/${agent.id}`, { as: owner })
    const etag = first.headers.get('etag') as string
    const second = await app.call('GET', `/api/v1/agents/${agent.id}`, {
      as: owner,
      headers: { 'if-none-match': etag },
    })
    assert.deepEqual([second.status, second.text], [304, ''])
  })
})

describe('PATCH /agents/:id', () => {
  test('changes only the fields in the PATCH body', async () => {
    const owner = await app.createOrg()
    const agent = await create(owner, { name: 'Helper', description: 'a', allowedTools: ['files.read'] })
    const { status, body, headers } = await app.call('PATCH', '/api/v1/agents/helper', {
      as: owner,
      json: { description: null, isActive: false, name: ' New   name ' },
    })
    assert.equal(status, 200)
    assert.equal(headers.get('etag'), '"2"')
    assert.ok(body.data.updatedAt >= agent.updatedAt)
    const { updatedAt } = body.data
    const changes = { name: 'New name', description: null, isActive: false, authorityVersion: 2, updatedAt }
    assert.deepEqual(body.data, { ...agent, ...changes })
  })

  const bad: [string, unknown][] = [
    ['an empty body', {}],
    ['no field that it knows', { colour: 'red' }],
    ['a null name', { name: null }],
    ['a null model', { model: null }],
    ['an unknown model', { model: 'x/y' }],
    ['the reserved name', { name: 'ATRIUM assistant' }],
    ['a slug with capitals', { slug: 'Helper' }],
    ['a slug with space around it', { slug: ' helper ' }],
    ['an empty slug', { slug: '' }],
    ['a slug of 64 characters', { slug: 'x'.repeat(64) }],
    ['a slug that looks like a UUID', { slug: '018f6d3e-7c1a-7b3c-9d2e-000000000001' }],
    ['a null slug', { slug: null }],
    ['settings that are null', { settings: null }],
    ['isActive as text', { isActive: 'false' }],
  ]
  for (const [what, json] of bad) {
    test(`rejects changing an agent with ${what} with BAD_REQUEST`, async () => {
      const owner = await app.createOrg()
      const agent = await create(owner, { name: 'Helper' })
      await assertError(400, 'BAD_REQUEST', app.call('PATCH', `/api/v1/agents/${agent.id}`, { as: owner, json }))
    })
  }

  test('rejects a taken slug and the reserved slug with CONFLICT', async () => {
    const owner = await app.createOrg()
    const agent = await create(owner, { name: 'Helper' })
    await create(owner, { name: 'Taken' })
    for (const slug of ['taken', 'assistant']) {
      await assertError(409, 'CONFLICT', app.call('PATCH', `/api/v1/agents/${agent.id}`, { as: owner, json: { slug } }))
    }
    const own = await app.call('PATCH', `/api/v1/agents/${agent.id}`, { as: owner, json: { slug: 'helper' } })
    assert.equal(own.status, 200)
  })

  test('gives a slug to one of two concurrent renames and rejects the other with CONFLICT', async () => {
    const owner = await app.createOrg()
    const agents = await Promise.all(['a', 'b', 'c', 'd'].map((name) => create(owner, { name })))
    const responses = await Promise.all(
      agents.map(({ id }) => app.call('PATCH', `/api/v1/agents/${id}`, { as: owner, json: { slug: 'wanted' } })),
    )
    assert.deepEqual(
      responses.map(({ status }) => status).toSorted((a, b) => a - b),
      [200, 409, 409, 409],
    )
  })

  test('replaces a renamed slug in all peer lists of the org and in no other org', async () => {
    const owner = await app.createOrg()
    const stranger = await app.createOrg()
    const other = await addWorkspace(owner)
    const target = await create(owner, { name: 'Old', allowedPeers: ['old', 'a'] })
    const near = await create(owner, { name: 'Near', allowedPeers: ['x', 'old', 'y'] })
    const far = await create(owner, { name: 'Far', allowedPeers: ['old'] }, { 'x-workspace-id': other })
    const both = await create(owner, { name: 'Both', allowedPeers: ['new', 'old'] })
    const foreign = await create(stranger, { name: 'Foreign', allowedPeers: ['old'] })
    const renamed = await app.call('PATCH', `/api/v1/agents/${target.id}`, { as: owner, json: { slug: 'new' } })
    assert.deepEqual([renamed.status, renamed.body.data.allowedPeers], [200, ['new', 'a']])
    const peersOf = async (as: TestActor, id: string, headers = {}) => {
      const { body, headers: sent } = await app.call('GET', `/api/v1/agents/${id}`, { as, headers })
      return [body.data.allowedPeers, sent.get('etag')]
    }
    assert.deepEqual(await peersOf(owner, near.id), [['x', 'new', 'y'], '"2"'])
    assert.deepEqual(await peersOf(owner, far.id, { 'x-workspace-id': other }), [['new'], '"2"'])
    assert.deepEqual(await peersOf(owner, both.id), [['new'], '"2"'])
    assert.deepEqual(await peersOf(stranger, foreign.id), [['old'], '"1"'])
  })

  test('renames agents that list each other concurrently without a deadlock', async () => {
    const owner = await app.createOrg()
    const [a, b] = await Promise.all([
      create(owner, { name: 'a', allowedPeers: ['b'] }),
      create(owner, { name: 'b', allowedPeers: ['a'] }),
    ])
    for (let round = 0; round < 10; round++) {
      const responses = await Promise.all(
        [a, b].map(({ id, name }) =>
          app.call('PATCH', `/api/v1/agents/${id}`, { as: owner, json: { slug: `${name}-${round}` } }),
        ),
      )
      assert.deepEqual(
        responses.map(({ status }) => status),
        [200, 200],
      )
    }
    const { body } = await app.call('GET', `/api/v1/agents/${a.id}`, { as: owner })
    assert.deepEqual(body.data.allowedPeers, ['b-9'])
  })

  test('replaces the settings keys of a PATCH, removes keys that are null and keeps voice complete', async () => {
    const owner = await app.createOrg()
    const agent = await create(owner, {
      name: 'x',
      settings: { a: 1, b: { c: 2 }, voice: { speed: 2, style: 'calm' } },
    })
    const patch = async (settings: object) =>
      (await app.call('PATCH', `/api/v1/agents/${agent.id}`, { as: owner, json: { settings } })).body.data.settings
    const usual = { enabled: false, voiceId: 'default', language: 'en-US', speed: 1, pitch: 0, style: null }
    assert.deepEqual(await patch({ a: null, b: { d: 3 } }), {
      b: { d: 3 },
      voice: { ...usual, speed: 2, style: 'calm' },
    })
    assert.deepEqual(await patch({ voice: { pitch: 3 } }), { b: { d: 3 }, voice: { ...usual, pitch: 3 } })
    assert.deepEqual(await patch({ voice: null }), { b: { d: 3 }, voice: usual })
  })

  test('rejects an agent PATCH with an outdated If-Match with CONFLICT and changes nothing', async () => {
    const owner = await app.createOrg()
    const agent = await create(owner, { name: 'Helper' })
    const path = `/api/v1/agents/${agent.id}`
    const patch = (name: string, tag: string) =>
      app.call('PATCH', path, { as: owner, json: { name }, headers: { 'if-match': tag } })
    assert.equal((await patch('Second', '"1"')).status, 200)
    await assertError(409, 'CONFLICT', patch('Third', '"1"'))
    await assertError(409, 'CONFLICT', app.call('DELETE', path, { as: owner, headers: { 'if-match': '"1"' } }))
    assert.equal((await app.call('GET', path, { as: owner })).body.data.name, 'Second')
  })
})

describe('GET /agents', () => {
  test('lists the agents of the call’s workspace and the default agent, last changed first', async () => {
    const owner = await app.createOrg()
    const other = await addWorkspace(owner)
    const [a, b] = [await create(owner, { name: 'a' }), await create(owner, { name: 'b' })]
    await create(owner, { name: 'c' }, { 'x-workspace-id': other })
    await app.call('PATCH', `/api/v1/agents/${a.id}`, { as: owner, json: { name: 'a2' } })
    const { status, body } = await app.call('GET', '/api/v1/agents', { as: owner })
    assert.equal(status, 200)
    assert.deepEqual(
      body.data.items.map((agent: { slug: string }) => agent.slug),
      ['a', 'b', 'assistant'],
    )
    assert.equal(body.data.nextCursor, null)
    assert.equal(body.data.items[1].id, b.id)
  })

  test('returns every agent exactly once for any page size, with the default agent on the first page', async () => {
    const owner = await app.createOrg()
    await app.call('GET', '/api/v1/agents', { as: owner })
    for (let i = 0; i < 7; i++) await create(owner, { name: `n${i}` })
    const whole = (await app.call('GET', '/api/v1/agents', { as: owner })).body.data.items.map(
      (agent: { slug: string }) => agent.slug,
    )
    assert.deepEqual(whole, ['n6', 'n5', 'n4', 'n3', 'n2', 'n1', 'n0', 'assistant'])
    for (const limit of [1, 2, 3, 4, 7, 8, 100]) {
      const seen: string[] = []
      let cursor: string | null = ''
      for (let page = 0; cursor !== null; page++) {
        const query: string = cursor === '' ? '' : `&cursor=${cursor}`
        const { body } = await app.call('GET', `/api/v1/agents?limit=${limit}${query}`, { as: owner })
        const slugs = body.data.items.map((agent: { slug: string }) => agent.slug)
        assert.ok(slugs.length <= limit)
        assert.equal(slugs.includes('assistant'), page === 0)
        seen.push(...slugs)
        cursor = body.data.nextCursor
      }
      assert.deepEqual(seen.toSorted(), whole.toSorted())
    }
  })

  for (const query of ['limit=0', 'limit=101', 'limit=x', 'limit=1.5', 'cursor=nonsense', 'cursor=']) {
    test(`rejects GET /agents?${query} with BAD_REQUEST`, async () => {
      const owner = await app.createOrg()
      await assertError(400, 'BAD_REQUEST', app.call('GET', `/api/v1/agents?${query}`, { as: owner }))
    })
  }
})

describe('DELETE /agents/:id', () => {
  test('hides a deleted agent from every read', async () => {
    const owner = await app.createOrg()
    const agent = await create(owner, { name: 'Helper' })
    const { status, body } = await app.call('DELETE', '/api/v1/agents/helper', { as: owner })
    assert.deepEqual([status, body], [200, { success: true, data: { deleted: true } }])
    await assertError(404, 'NOT_FOUND', app.call('GET', `/api/v1/agents/${agent.id}`, { as: owner }))
    await assertError(404, 'NOT_FOUND', app.call('DELETE', `/api/v1/agents/${agent.id}`, { as: owner }))
    const list = await app.call('GET', '/api/v1/agents', { as: owner })
    assert.equal(list.body.data.items.length, 1)
  })
})

describe('GET /agents/:id/peers', () => {
  test('lists existing, visible peers in the order of allowedPeers, with canReply', async () => {
    const owner = await app.createOrg()
    const other = await addWorkspace(owner)
    const asking = await create(owner, {
      name: 'Asking',
      allowedPeers: ['c', 'far', 'assistant', 'nobody', 'gone', 'asking', 'b'],
    })
    await create(owner, { name: 'b', description: 'B', allowedPeers: ['asking'] })
    const c = await create(owner, { name: 'c' })
    await create(owner, { name: 'Far' }, { 'x-workspace-id': other })
    await create(owner, { name: 'Gone' })
    await app.call('DELETE', '/api/v1/agents/gone', { as: owner })
    await app.call('PATCH', '/api/v1/agents/c', { as: owner, json: { isActive: false } })
    const { status, body } = await app.call('GET', `/api/v1/agents/${asking.id}/peers`, { as: owner })
    assert.equal(status, 200)
    assert.deepEqual(
      body.data.items.map((peer: { slug: string; canReply: boolean }) => [peer.slug, peer.canReply]),
      [
        ['c', false],
        ['assistant', false],
        ['b', true],
      ],
    )
    assert.deepEqual(body.data.items[0], {
      id: c.id,
      slug: 'c',
      name: 'c',
      description: null,
      avatar: 'default',
      isActive: false,
      canReply: false,
    })
  })
})

describe('agents in the audit log', () => {
  test('writes creating, changing and deleting an agent to the audit log', async () => {
    const owner = await app.createOrg()
    const agent = await create(owner, { name: 'Helper' })
    await app.call('PATCH', `/api/v1/agents/${agent.id}`, { as: owner, json: { name: 'Other', isActive: false } })
    await app.call('DELETE', `/api/v1/agents/${agent.id}`, { as: owner })
    const rows = await app.db.rows<{ action: string; resourceId: string }>(sql`
      select action, resource_id from audit_log where org_id = ${owner.orgId} and resource_type = 'agent' order by id`)
    assert.deepEqual(
      rows.map((row) => [row.action, row.resourceId]),
      ['agent.created', 'agent.updated', 'agent.deleted'].map((action) => [action, agent.id]),
    )
  })
})
