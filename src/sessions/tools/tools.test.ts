import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { newId } from '../../platform/ids.ts'
import type { Actor } from '../../identity/actor.ts'
import { createLog } from '../../platform/process/log.ts'
import type { Tool } from '../../tool.ts'
import { builtIn, createToolbox } from './tools.ts'
import { ask, createAgent, openSession, say, textOf, untilStatus } from '../../../test/support/chat.ts'
import { callTools, held, reply, startFakeModel } from '../../../test/fakes/model.ts'
import { startTestApp } from '../../../test/harness.ts'
import type { TestActor } from '../../../test/harness.ts'

const fake = await startFakeModel()
const app = await startTestApp(fake.env)

interface Call {
  toolName: string
  status: string
  input: unknown
  // oxlint-disable-next-line typescript/no-explicit-any -- tests read into outputs of every shape
  output: any
}

const upload = async (as: TestActor, name: string, text: string): Promise<string> => {
  const form = new FormData()
  form.set('file', new File([text], name, { type: 'text/plain' }))
  return (await app.call('POST', '/api/v1/files', { as, body: form })).body.data.file.id
}

/** Sends a message whose commands the demo model turns into tool calls, and returns the calls. */
const callIn = async (as: TestActor, sessionId: string, text: string): Promise<Call[]> =>
  (await ask(app, as, sessionId, { text })).turn.toolCalls

const call = async (as: TestActor, text: string, agent?: object): Promise<Call> => {
  if (agent) await createAgent(app, as, { name: 'Helper', ...agent })
  const session = await openSession(app, as, agent ? { agentId: 'helper' } : {})
  const [first] = await callIn(as, session.id, text)
  assert.ok(first)
  return first
}

const offer = (...names: string[]): Tool[] =>
  names.map((name) => ({
    name,
    description: name,
    inputSchema: { type: 'object' },
    isReadOnly: true,
    permission: 'files:read',
    run: () => Promise.resolve(null),
  }))

describe('a toolbox', () => {
  const log = createLog('error', { write: () => undefined })
  const scope = { db: app.db, actor: { permissions: new Set(['files:read']) } as unknown as Actor, agent: null }

  test('the toolbox returns the tools of all sources, and only the first of two tools with the same wire name', async () => {
    const other = { offered: () => Promise.resolve(offer('files_read', 'crm__find')) }
    const found = await createToolbox([builtIn(offer('files.read')), other], log).offered(scope)
    assert.deepEqual(
      found.map(({ name }) => name),
      ['files.read', 'crm__find'],
    )
  })

  test('the toolbox leaves out a failing source and tools for which the person lacks the permission', async () => {
    const broken = { offered: () => Promise.reject(new Error('the other side is down')) }
    const mighty = offer('files.delete').map((tool) => ({ ...tool, permission: 'files:write' as const }))
    const found = await createToolbox([broken, builtIn([...offer('files.read'), ...mighty])], log).offered(scope)
    assert.deepEqual(
      found.map(({ name }) => name),
      ['files.read'],
    )
  })

  test('a built-in tool whose schema does not compile is not run, and foreign schemas are not compiled', () => {
    const [tool] = offer('odd')
    const odd = { ...tool, inputSchema: { type: 'nonsense', $ref: '#/nowhere' } } as Tool
    const toolbox = createToolbox([], log)
    assert.match(toolbox.inputError(odd, { any: 'thing' }) ?? '', /schema is not valid/)
    const foreign = { ...odd, hasForeignSchema: true }
    assert.equal(toolbox.inputError(foreign, { any: 'thing' }), undefined)
    assert.match(toolbox.inputError(foreign, ['thing']) ?? '', /must be an object/)
  })
})

describe('the tools of an agent', () => {
  /** A turn during its model call. The model requests files.write after `release`. */
  const writeHeld = async (as: TestActor): Promise<{ turnId: string; release: () => void }> => {
    await createAgent(app, as, { name: 'Helper', model: 'fake/m1', allowedTools: ['files.write'] })
    const { id } = await openSession(app, as, { agentId: 'helper' })
    const args = '{"name":"late.txt","text":"x"}'
    const { script, asked, release } = held(callTools({ id: 'c1', name: 'files_write', args }))
    fake.play(script, reply(['Done.']))
    const { body } = await say(app, as, id, { text: 'Write', background: true })
    await asked
    return { turnId: body.data.turn.id, release }
  }

  test('a tool that the agent loses during the model call is not run', async () => {
    const owner = await app.createOrg()
    const { turnId, release } = await writeHeld(owner)
    await app.call('PATCH', '/api/v1/agents/helper', { as: owner, json: { allowedTools: [] } })
    release()
    const turn = await untilStatus(app, owner, turnId, 'completed')
    assert.equal(turn.toolCalls[0].status, 'failed')
    assert.match(turn.toolCalls[0].output.error, /no tool files[._]write/)
    const files = await app.call('GET', '/api/v1/files', { as: owner })
    assert.deepEqual(files.body.data.items, [])
  })

  test('a turn whose agent is deactivated during the model call ends, and none of its tools run', async () => {
    const owner = await app.createOrg()
    const { turnId, release } = await writeHeld(owner)
    await app.call('PATCH', '/api/v1/agents/helper', { as: owner, json: { isActive: false } })
    release()
    const turn = await untilStatus(app, owner, turnId, 'failed')
    assert.equal(turn.error.code, 'agent_unavailable')
    assert.deepEqual(
      turn.toolCalls.map((one: Call) => one.status),
      ['cancelled'],
    )
    const files = await app.call('GET', '/api/v1/files', { as: owner })
    assert.deepEqual(files.body.data.items, [])
  })

  test('an agent has exactly the tools that its allowedTools names, and none when the list is empty', async () => {
    for (const [allowedTools, expected] of [
      [[], 'failed'],
      [['files.read'], 'failed'],
      [['unknown', 'files.search'], 'done'],
    ] as const) {
      const owner = await app.createOrg()
      const { status } = await call(owner, '/tool files.search {"query":""}', { allowedTools })
      assert.equal(status, expected)
    }
  })

  test('an agent has no tool that the person of the turn lacks the permission for', async () => {
    const owner = await app.createOrg()
    await upload(owner, 'secret.txt', 'Planted words.')
    const chatOnly = await app.createUser(owner, 'member', { scopes: ['sessions:*', 'agents:read'] })
    for (const tool of ['files.search {"query":"secret"}', 'files.write {"name":"a.txt","text":"x"}']) {
      const { status, output } = await call(chatOnly, `/tool ${tool}`)
      assert.equal(status, 'failed')
      assert.match(output.error, /no tool/)
    }
    const session = await openSession(app, chatOnly)
    const fileId = (await call(owner, '/tool files.search {"query":"secret"}')).output.files[0].id
    const { status } = await app.call('POST', `/api/v1/sessions/${session.id}/messages`, {
      as: chatOnly,
      json: { text: 'Read it', fileIds: [fileId] },
    })
    assert.equal(status, 404)
  })

  test('an agent loses a tool when the person loses the permission for it', async () => {
    const owner = await app.createOrg()
    const member = await app.createUser(owner)
    const session = await openSession(app, member)
    const [before] = await callIn(member, session.id, '/tool files.search {"query":""}')
    assert.equal(before?.status, 'done')
    await createAgent(app, owner, { name: 'Slow', model: 'fake/m1' })
    const { script, asked, release } = held(reply(['Done.']))
    fake.play(script)
    const { body } = await app.call('POST', `/api/v1/sessions/${session.id}/messages`, {
      as: member,
      json: { text: 'Hello', agentId: 'slow', background: true },
    })
    await asked
    const waiting = await app.call('POST', `/api/v1/sessions/${session.id}/messages`, {
      as: member,
      json: { text: '/tool files.search {"query":""}', background: true },
    })
    await app.call('DELETE', `/api/v1/workspaces/${owner.workspaceId}/members/${member.userId}`, { as: owner })
    const running = await untilStatus(app, owner, body.data.turn.id, 'failed')
    assert.equal(running.error.code, 'forbidden')
    release()
    const rejected = await untilStatus(app, owner, waiting.body.data.turn.id, 'failed')
    assert.deepEqual([rejected.error.code, rejected.toolCalls], ['forbidden', []])
  })
})

describe('files.search', () => {
  test('files.search finds files by a part of their name in any folder of the org, and in no other org', async () => {
    const owner = await app.createOrg()
    const stranger = await app.createOrg()
    await upload(stranger, 'Budget foreign.txt', 'x')
    const id = await upload(owner, 'Budget 2027.txt', 'x')
    await upload(owner, 'Other.txt', 'x')
    const { output } = await call(owner, '/tool files.search {"query":"budget"}')
    assert.equal(output.total, 1)
    assert.deepEqual([output.files[0].id, output.files[0].name, output.files[0].kind], [id, 'Budget 2027.txt', 'file'])
  })

  test('files.search lists the top level for an empty query', async () => {
    const owner = await app.createOrg()
    await upload(owner, 'a.txt', 'x')
    await app.call('POST', '/api/v1/files', { as: owner, json: { source: 'folder', name: 'Folder' } })
    const { output } = await call(owner, '/tool files.search {"query":""}')
    assert.deepEqual(
      output.files.map((file: { name: string; kind: string }) => [file.name, file.kind]),
      [
        ['Folder', 'folder'],
        ['a.txt', 'file'],
      ],
    )
  })
})

describe('files.read', () => {
  test('files.read returns the text of a file, and treats a file of another org as missing', async () => {
    const owner = await app.createOrg()
    const stranger = await app.createOrg()
    const fileId = await upload(owner, 'a.txt', 'Line one\nLine two')
    const { output } = await call(owner, `/tool files.read {"fileId":"${fileId}"}`)
    assert.deepEqual([output.name, output.text, output.truncated], ['a.txt', 'Line one\nLine two', false])
    const foreign = await call(stranger, `/tool files.read {"fileId":"${fileId}"}`)
    const missing = await call(stranger, `/tool files.read {"fileId":"${newId()}"}`)
    assert.deepEqual([foreign.status, foreign.output], ['failed', { error: 'File not found' }])
    assert.deepEqual(missing.output, foreign.output)
  })

  test('files.read returns a long file in parts that make up the whole text', async () => {
    const owner = await app.createOrg()
    const text = Array.from({ length: 9_000 }, (_, i) => `Zeile ${i} 😀`).join('\n')
    const fileId = await upload(owner, 'long.txt', text)
    const session = await openSession(app, owner)
    let whole = ''
    let offset: number | null = 0
    while (offset !== null) {
      const [part] = await callIn(owner, session.id, `/tool files.read {"fileId":"${fileId}","offset":${offset}}`)
      assert.ok(part && Buffer.byteLength(JSON.stringify(part.output)) <= 65_536)
      whole += part.output.text
      offset = part.output.nextOffset
    }
    assert.equal(whole, text)
  })
})

describe('tool outputs', () => {
  test('a lone surrogate in the output of a tool is replaced, so that the output can be stored', async () => {
    const owner = await app.createOrg()
    const fileId = await upload(owner, 'smile.txt', '😀 and more')
    const { status, output } = await call(owner, `/tool files.read {"fileId":"${fileId}","offset":1}`)
    assert.equal(status, 'done')
    assert.equal(output.text, '\ufffd and more')
  })
})

describe('tool arguments', () => {
  test('a call with null as its arguments has no arguments', async () => {
    const owner = await app.createOrg()
    const { status, input, output } = await call(owner, '/tool files.search null')
    assert.deepEqual([status, input], ['failed', {}])
    assert.match(output.error, /query/)
  })

  test('a number in the arguments that JSON cannot represent causes an error that the model reads, and the turn continues', async () => {
    const owner = await app.createOrg()
    const { status, input } = await call(owner, '/tool files.search 1e999')
    assert.deepEqual([status, input], ['failed', null])
  })
})

describe('files.write', () => {
  test('files.write keeps all white space of the text', async () => {
    const owner = await app.createOrg()
    const { output } = await call(owner, '/tool files.write {"name":"a  b.txt","text":"a  b   c"}')
    const preview = await app.call('GET', `/api/v1/files/${output.fileId}/preview`, { as: owner })
    assert.deepEqual([output.name, preview.body.data.text], ['a  b.txt', 'a  b   c'])
  })

  test('files.write creates a text file on behalf of the person', async () => {
    const owner = await app.createOrg()
    const member = await app.createUser(owner)
    const { output } = await call(member, '/tool files.write {"name":"notes.md","text":"# Füße"}')
    const { body } = await app.call('GET', `/api/v1/files/${output.fileId}`, { as: owner })
    const { name, mimeType, size, status, createdBy } = body.data
    assert.deepEqual(
      [name, mimeType, size, status, createdBy],
      ['notes.md', 'text/markdown', 8, 'ready', member.userId],
    )
    const preview = await app.call('GET', `/api/v1/files/${output.fileId}/preview`, { as: owner })
    assert.equal(preview.body.data.text, '# Füße')
  })

  test("files.write creates the file in the project's folder when the session belongs to a project", async () => {
    const owner = await app.createOrg()
    const { body } = await app.call('POST', '/api/v1/projects', { as: owner, json: { name: 'Apollo' } })
    const session = await openSession(app, owner, { projectId: body.data.id })
    const [written] = await callIn(owner, session.id, '/tool files.write {"name":"a.txt","text":"x"}')
    const file = (await app.call('GET', `/api/v1/files/${written?.output.fileId}`, { as: owner })).body.data
    assert.deepEqual([file.projectId, file.parentId], [body.data.id, body.data.folderId])
  })

  test('files.write with an unknown folder returns an error that the model reads', async () => {
    const owner = await app.createOrg()
    const { status, output } = await call(
      owner,
      `/tool files.write {"name":"a.txt","text":"x","folderId":"${newId()}"}`,
    )
    assert.equal(status, 'failed')
    assert.match(output.error, /parentId|folder/i)
  })
})

describe('tool calls', () => {
  test('the tool calls of a step run in the order in which the model requested them, each with its own result', async () => {
    const owner = await app.createOrg()
    const session = await openSession(app, owner)
    const lines = Array.from({ length: 6 }, (_, i) => `/tool files.write {"name":"${i}.txt","text":"x"}`)
    const calls = await callIn(owner, session.id, lines.join('\n'))
    assert.deepEqual(
      calls.map(({ output }) => output.name),
      ['0.txt', '1.txt', '2.txt', '3.txt', '4.txt', '5.txt'],
    )
  })

  test('tool calls beyond 32 in one step are not run, and the model gets an error for each', async () => {
    const owner = await app.createOrg()
    const session = await openSession(app, owner)
    const calls = await callIn(owner, session.id, Array(35).fill('/tool files.search {"query":""}').join('\n'))
    assert.deepEqual(
      [calls.length, calls.filter(({ status }) => status === 'done').length, calls[32]?.status],
      [35, 32, 'failed'],
    )
  })

  test('the tool calls of a step see the effects of the step before', async () => {
    const owner = await app.createOrg()
    const session = await openSession(app, owner)
    const text = '/tool files.write {"name":"new.txt","text":"x"}\n\n/tool files.search {"query":"new"}'
    const { turn, message } = await ask(app, owner, session.id, { text })
    assert.deepEqual(
      turn.steps.map((step: { step: number }) => step.step),
      [1, 2, 3],
    )
    assert.match(textOf(message), /I found one file: new\.txt\./)
  })

  test('no more tools run in a turn whose tools have returned 4 MB', async () => {
    const owner = await app.createOrg()
    const fileId = await upload(owner, 'long.txt', 'x'.repeat(60_000))
    await createAgent(app, owner, { name: 'Helper', allowedTools: ['files.read'] })
    const { id } = await openSession(app, owner, { agentId: 'helper' })
    const round = (n: number): string =>
      Array.from({ length: 32 }, (_, i) => `/tool files.read {"fileId":"${fileId}","offset":${n * 32 + i}}`).join('\n')
    const calls = await callIn(owner, id, [0, 1, 2].map(round).join('\nand\n'))
    const done = calls.filter(({ status }) => status === 'done')
    assert.ok(done.length > 70 && done.length < 85, `${done.length} calls`)
    const failed = calls.filter(({ status }) => status === 'failed')
    assert.equal(done.length + failed.length, 96)
    for (const { output } of failed) assert.match(output.error, /^Not run: .* 4 MB/)
  })
})
