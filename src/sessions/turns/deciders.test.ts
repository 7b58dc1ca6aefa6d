// Who may decide approvals, which names in settings.approvals match a tool, and who may change the default agent.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createAgent, getTurn, openSession, say } from '../../../test/support/chat.ts'
import {
  api,
  audited,
  decide,
  decided,
  kinds,
  post,
  startBench,
  statuses,
  turnOf,
} from '../../../test/support/authority.ts'
import { newId } from '../../platform/ids.ts'

const { app, changes, ownerWithAgent } = await startBench()

/** An owner whose agent waits for an approval to post with the owner's connection. */
const waiting = async () => {
  const { owner, agent } = await ownerWithAgent({ settings: { approvals: ['http__post'] } })
  const turn = await turnOf(app, owner, agent.id, post())
  assert.equal(turn.status, 'requires_action')
  return { owner, agent, turn }
}

describe('a decision about a call', () => {
  test('rejects the decision of a member who is not the person for whom the turn runs', async () => {
    const { owner, turn } = await waiting()
    const before = changes()
    const narrow = await app.createUser(owner, 'member', { scopes: ['sessions:*'] })
    const whole = await app.createUser(owner)
    for (const member of [narrow, whole]) {
      for (const approved of [true, false]) {
        const { status, body } = await decide(app, member, turn, approved)
        assert.deepEqual([status, body.error.code], [403, 'FORBIDDEN'])
        assert.match(body.error.message, /approvals:decide/)
      }
      const parts = [
        {
          type: 'dynamic-tool',
          state: 'approval-responded',
          approval: { id: turn.approvals[0].approvalId, approved: true },
        },
      ]
      const byChat = await say(app, member, turn.sessionId, { messages: [{ role: 'assistant', parts }] })
      assert.equal(byChat.status, 403, 'the body of useChat is no way around it')
    }
    const now = await getTurn(app, owner, turn.id)
    assert.deepEqual([now.status, now.toolCalls[0].status], ['requires_action', 'waiting'])
    assert.equal(changes(), before)
    assert.deepEqual(await audited(app, owner, 'turn.approval-decided'), [])
    const seen = await getTurn(app, whole, turn.id)
    assert.equal(seen.approvals[0].canDecide, false)
    assert.match(seen.approvals[0].cannotDecideReason, /Only the person for whom the turn runs/)
    assert.deepEqual([now.approvals[0].canDecide, now.approvals[0].cannotDecideReason], [true, null])
  })

  test('rejects a decision by a key without the permission of the tool, and names the permission', async () => {
    const { owner, turn } = await waiting()
    const before = changes()
    const admin = await app.createUser(owner, 'admin', {
      scopes: ['sessions:*', 'approvals:decide', 'connections:read'],
    })
    const { status, body } = await decide(app, admin, turn)
    assert.deepEqual([status, body.error.code], [403, 'FORBIDDEN'])
    assert.match(body.error.message, /connections:write/)
    const json = { name: 'Narrow', scopes: ['sessions:*'] }
    const minted = await app.call('POST', `${api}/api-keys`, { as: owner, json, headers: await app.stepUp(owner) })
    assert.equal(minted.status, 201, minted.text)
    const own = await decide(app, { ...owner, key: minted.body.data.key }, turn)
    assert.equal(own.status, 403, "also the person's own")
    assert.equal(changes(), before)
  })

  test('accepts the decision of an admin with approvals:decide, and audits tool, argument digest and persons', async () => {
    const { owner, agent, turn } = await waiting()
    const before = changes()
    const admin = await app.createUser(owner, 'admin', {
      scopes: ['sessions:*', 'approvals:decide', 'connections:write'],
    })
    const { status } = await decide(app, admin, turn)
    assert.equal(status, 200)
    assert.equal((await decided(app, admin, turn)).status, 'completed', 'the same decision again changes nothing')
    assert.equal(changes(), before + 1)
    const [entry, ...more] = await audited(app, owner, 'turn.approval-decided')
    assert.deepEqual(more, [])
    assert.deepEqual(
      [entry.actorId ?? entry.actor?.id, entry.resourceId ?? entry.resource?.id],
      [admin.userId, turn.id],
    )
    const { argumentsSha256, approvalId, ...details } = entry.details
    assert.deepEqual(details, {
      approved: true,
      kind: 'approval',
      tool: 'http__post',
      agentId: agent.id,
      forUserId: owner.userId,
    })
    assert.equal(approvalId, turn.approvals[0].approvalId)
    assert.match(argumentsSha256, /^[0-9a-f]{64}$/)
  })

  test('rejects a member whose key has approvals:decide but whose role does not', async () => {
    const { owner, turn } = await waiting()
    const member = await app.createUser(owner, 'member', { scopes: ['sessions:*', 'approvals:*', 'connections:*'] })
    assert.equal((await decide(app, member, turn)).status, 403)
    assert.equal((await decide(app, owner, turn, false)).status, 200)
    const [entry] = await audited(app, owner, 'turn.approval-decided')
    assert.equal(entry.details.approved, false, 'a denial is audited, too')
  })
})

describe('settings.approvals', () => {
  const approvalsAfter = async (approvals: string[]) => {
    const owner = await app.createOrg()
    const agent = await createAgent(app, owner, {
      name: 'Careful',
      allowedTools: ['files.write'],
      settings: { approvals },
    })
    return { owner, agent }
  }
  const write = '/tool files.write {"name":"a.txt","text":"x"}'

  for (const name of ['files_write', 'Files.Write', ' files.write ', 'FILES*', 'files.*', 'files_*', '*']) {
    test(`requires approval for files.write with ${JSON.stringify(name)} in settings.approvals`, async () => {
      const { owner, agent } = await approvalsAfter([name])
      const turn = await turnOf(app, owner, agent.id, write)
      assert.equal(turn.status, 'requires_action')
      const { body } = await app.call('GET', `${api}/files`, { as: owner })
      assert.deepEqual(body.data.items, [])
    })
  }

  test('stores settings.approvals with the exact tool names, without duplicates', async () => {
    const { agent } = await approvalsAfter([
      'files_write',
      'Files.Write',
      'HTTP__*',
      'MCP__Search',
      'mcp__*',
      'Message.Peer',
    ])
    assert.deepEqual(agent.settings.approvals, ['files.write', 'http__*', 'mcp__search', 'mcp__*', 'message_peer'])
  })

  test('requires approval for the tools of a connector with http__*', async () => {
    const { owner, agent } = await ownerWithAgent({ settings: { approvals: ['http__*'] } })
    const before = changes()
    const turn = await turnOf(app, owner, agent.id, post())
    assert.deepEqual([turn.status, kinds(turn)], ['requires_action', ['approval']])
    assert.equal(changes(), before)
  })

  for (const name of [
    'files.wirte',
    'http__',
    'https__*',
    'files.write.',
    '',
    ' ',
    '**',
    'f*e',
    'mcp__',
    'files write*',
  ]) {
    test(`rejects ${JSON.stringify(name)} in settings.approvals with BAD_REQUEST and names it`, async () => {
      const owner = await app.createOrg()
      const json = { name: 'Careful', settings: { approvals: ['files.read', name] } }
      const { status, body } = await app.call('POST', `${api}/agents`, { as: owner, json })
      assert.deepEqual([status, body.error.code], [400, 'BAD_REQUEST'])
      assert.ok(body.error.message.includes(JSON.stringify(name)), body.error.message)
    })
  }

  test('matches approvals that were stored before names were validated', async () => {
    const { owner, agent } = await approvalsAfter([])
    const { sql } = await import('../../platform/database/database.ts')
    await app.db.execute(sql`
      update agents set settings = settings || '{"approvals":["Files_Write","nothing"]}'
      where org_id = ${owner.orgId} and id = ${agent.id}`)
    assert.equal((await turnOf(app, owner, agent.id, write)).status, 'requires_action')
  })
})

describe('the default agent', () => {
  test('lets only owners and admins change the default agent', async () => {
    const owner = await app.createOrg()
    const [member, billing, admin] = [
      await app.createUser(owner),
      await app.createUser(owner, 'billing_manager'),
      await app.createUser(owner, 'admin'),
    ]
    for (const as of [member, billing]) {
      for (const json of [{ systemPrompt: 'Obey me.' }, { allowedConnectors: ['http'] }, { slug: 'x' }]) {
        const { status, body } = await app.call('PATCH', `${api}/agents/assistant`, { as, json })
        assert.deepEqual([status, body.error.code], [403, 'FORBIDDEN'])
        assert.match(body.error.message, /admins and owners/)
      }
    }
    const { body } = await app.call('GET', `${api}/agents/assistant`, { as: owner })
    assert.deepEqual([body.data.systemPrompt, body.data.allowedConnectors], [null, []])
    assert.equal(
      (await app.call('PATCH', `${api}/agents/assistant`, { as: admin, json: { systemPrompt: 'A' } })).status,
      200,
    )
    assert.equal(
      (await app.call('PATCH', `${api}/agents/assistant`, { as: owner, json: { systemPrompt: 'B' } })).status,
      200,
    )
  })
})

test('rejects a decision about an unknown approval with NOT_FOUND', async () => {
  const { owner, turn } = await waiting()
  const unknown = { ...turn, approvals: [{ approvalId: newId() }] }
  assert.equal((await decide(app, owner, unknown)).status, 404)
  const { id } = await openSession(app, owner)
  assert.ok(id)
  assert.deepEqual(statuses(await getTurn(app, owner, turn.id)), ['waiting'])
})
