import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import sharp from 'sharp'
import { addMcp } from '../../../../test/fakes/mcp.ts'
import { callTools, reply, startFakeModel } from '../../../../test/fakes/model.ts'
import type { FakeModel } from '../../../../test/fakes/model.ts'
import {
  claudeCalls,
  claudeSays,
  fieldsNamed,
  geminiCalls,
  geminiSays,
  gptCalls,
  gptSays,
  startFakeAnthropic,
  startFakeGoogle,
  startFakeOpenAi,
} from '../../../../test/fakes/native-models.ts'
import type { FakeNative, NativeScript } from '../../../../test/fakes/native-models.ts'
import { startProvider } from '../../../../test/fakes/provider.ts'
import { startTestApp } from '../../../../test/harness.ts'
import type { TestActor } from '../../../../test/harness.ts'
import { trustAgent } from '../../../../test/support/authority.ts'
import { ask, createAgent, openSession } from '../../../../test/support/chat.ts'
import { upload } from '../../../../test/support/files.ts'

const provider = await startProvider()
const mcp = addMcp(provider, '/mcp')
const [compatible, anthropic, openai, google] = await Promise.all([
  startFakeModel(),
  startFakeAnthropic(),
  startFakeOpenAi(),
  startFakeGoogle(),
])
const app = await startTestApp({
  OUTBOUND_ALLOW_CIDRS: '127.0.0.0/8',
  MODEL_PROVIDERS: 'fake,claude,gpt,gemini',
  MODEL_FAKE_BASE_URL: compatible.baseUrl,
  MODEL_FAKE_MODELS: 'seeing,blind',
  MODEL_FAKE_IMAGES: 'seeing',
  MODEL_FAKE_FREE: '1',
  MODEL_CLAUDE_PROTOCOL: 'anthropic',
  MODEL_CLAUDE_BASE_URL: anthropic.baseUrl,
  MODEL_CLAUDE_MODELS: 'claude-sonnet-4-5',
  MODEL_CLAUDE_IMAGES: 'claude-sonnet-4-5',
  MODEL_CLAUDE_FREE: '1',
  MODEL_GPT_PROTOCOL: 'openai',
  MODEL_GPT_BASE_URL: openai.baseUrl,
  MODEL_GPT_MODELS: 'gpt-5.4',
  MODEL_GPT_IMAGES: 'gpt-5.4',
  MODEL_GPT_FREE: '1',
  MODEL_GEMINI_PROTOCOL: 'google',
  MODEL_GEMINI_BASE_URL: google.baseUrl,
  MODEL_GEMINI_MODELS: 'gemini-3-flash-preview',
  MODEL_GEMINI_IMAGES: 'gemini-3-flash-preview',
  MODEL_GEMINI_FREE: '1',
})

const picture = await sharp({ create: { width: 40, height: 30, channels: 3, background: '#00aa55' } })
  .png()
  .toBuffer()

const openWith = async (as: TestActor, model: string, more: object = {}): Promise<string> => {
  await createAgent(app, as, { name: 'Viewer', model, allowedTools: ['files.read'], ...more })
  return (await openSession(app, as, { agentId: 'viewer' })).id
}

const sizeOf = async (data: string) => {
  const { width, height } = await sharp(Buffer.from(data.slice(data.indexOf(',') + 1), 'base64')).metadata()
  return [width, height]
}

// oxlint-disable-next-line typescript/no-explicit-any -- bodies of four protocols
type Body = any

const natives: {
  name: string
  model: string
  fake: FakeNative
  calls: (name: string, input: object) => NativeScript
  says: (text: string) => NativeScript
  data: (body: Body) => string
}[] = [
  {
    name: 'Anthropic',
    model: 'claude/claude-sonnet-4-5',
    fake: anthropic,
    calls: claudeCalls,
    says: claudeSays,
    data: (body) => {
      const [result] = body.messages.at(-1).content
      assert.deepEqual([result.type, result.content.map((part: Body) => part.type)], ['tool_result', ['text', 'image']])
      return result.content[1].source.data
    },
  },
  {
    name: 'OpenAI Responses',
    model: 'gpt/gpt-5.4',
    fake: openai,
    calls: gptCalls,
    says: gptSays,
    data: (body) => {
      const { type, output } = body.input.at(-1)
      assert.deepEqual(
        [type, output.map((part: Body) => part.type)],
        ['function_call_output', ['input_text', 'input_image']],
      )
      return output[1].image_url
    },
  },
  {
    name: 'Google',
    model: 'gemini/gemini-3-flash-preview',
    fake: google,
    calls: geminiCalls,
    says: geminiSays,
    data: (body) => {
      const [inline, ...others] = fieldsNamed(body.contents.at(-1), 'inlineData')
      assert.deepEqual(others, [])
      return inline.data
    },
  },
]

describe('a picture that files.read reads', () => {
  for (const { name, model, fake, calls, says, data } of natives) {
    test(`reaches a model of ${name} with the result, and the transcript has only its reference`, async () => {
      const owner = await app.createOrg()
      const session = await openWith(owner, model)
      const { id } = await upload(app, owner, picture, { name: 'a.png', type: 'image/png' })
      fake.play(calls('files_read', { fileId: id }), says('Green.'))
      const { turn } = await ask(app, owner, session, { text: 'Look at it.' })
      assert.equal(turn.status, 'completed')
      assert.deepEqual(fake.violations, [])
      assert.deepEqual(await sizeOf(data(fake.requests[1])), [40, 30])
      const expected = { fileId: id, name: 'a.png', mimeType: 'image/png', sizeBytes: picture.length, picture: true }
      assert.deepEqual(turn.toolCalls[0].output, expected)
      const messages = await app.call('GET', `/api/v1/sessions/${session}/messages`, { as: owner })
      assert.ok(!messages.text.includes(picture.toString('base64').slice(0, 40)))
      assert.ok(messages.text.length < 4_000)
    })
  }

  test('follows the results as a message for a model of chat completions, which has only text in results', async () => {
    const owner = await app.createOrg()
    const session = await openWith(owner, 'fake/seeing')
    const { id } = await upload(app, owner, picture, { name: 'a.png', type: 'image/png' })
    compatible.play(
      callTools({ id: 'c1', name: 'files_read', args: JSON.stringify({ fileId: id }) }),
      reply(['Green.']),
    )
    await ask(app, owner, session, { text: 'Look at it.' })
    const [result, shown] = (compatible.requests[1]?.messages.slice(-2) ?? []) as Body[]
    assert.deepEqual([result.role, typeof result.content, shown.role], ['tool', 'string', 'user'])
    assert.deepEqual(
      shown.content.map(({ type }: Body) => type),
      ['text', 'image_url'],
    )
    assert.deepEqual(await sizeOf(shown.content[1].image_url.url), [40, 30])
  })

  test('is not shown to a model that cannot see, which is told so', async () => {
    const owner = await app.createOrg()
    const session = await openWith(owner, 'fake/blind')
    const { id } = await upload(app, owner, picture, { name: 'a.png', type: 'image/png' })
    compatible.play(callTools({ id: 'c1', name: 'files_read', args: JSON.stringify({ fileId: id }) }), reply(['No.']))
    await ask(app, owner, session, { text: 'Look at it.' })
    const sent = JSON.stringify(compatible.requests[1])
    assert.ok(!sent.includes('image_url'))
    assert.match(sent, /This model cannot see pictures/)
  })
})

describe('pictures in the results of an MCP server', () => {
  const url = `${provider.url}/mcp`

  const openMcp = async (as: TestActor, model = 'fake/seeing'): Promise<string> => {
    mcp.token = 'mcp-token'
    mcp.tools = [{ name: 'look', description: 'Looks.', inputSchema: { type: 'object', properties: {} } }]
    const begun = await app.call('POST', '/api/v1/connections', { as, json: { connectorSlug: 'mcp' } })
    const path = `/api/v1/connections/${begun.body.data.connection.id}/credentials`
    const { status, text } = await app.call('POST', path, { as, json: { credentials: { url, token: mcp.token } } })
    assert.equal(status, 200, text)
    const session = await openWith(as, model, { allowedConnectors: ['mcp'] })
    await trustAgent(app, as, 'viewer', 'mcp')
    return session
  }

  const look = callTools({ id: 'c1', name: 'mcp__look', args: '{}' })

  /** The pictures in a request. */
  const shownIn = (request: FakeModel['requests'][number] | undefined): string[] =>
    fieldsNamed(request, 'image_url').map(({ url: shown }: Body) => shown)

  test('are shown in this turn and are not stored; a later turn and a broken picture are told as text', async () => {
    const owner = await app.createOrg()
    const session = await openMcp(owner)
    mcp.onCall = () => ({
      content: [
        { type: 'text', text: 'Two pictures' },
        { type: 'image', data: picture.toString('base64'), mimeType: 'image/png' },
        { type: 'image', data: 'AAAA', mimeType: 'image/png' },
      ],
    })
    compatible.play(look, reply(['Green.']))
    const { turn } = await ask(app, owner, session, { text: 'Look.' })
    assert.equal(turn.status, 'completed')
    const [shown, ...others] = shownIn(compatible.requests[1])
    assert.deepEqual([await sizeOf(shown ?? ''), others], [[40, 30], []])
    const [text, kept, broken] = turn.toolCalls[0].output.content
    assert.equal(text.text, 'Two pictures')
    assert.deepEqual(Object.keys(kept), ['type', 'mimeType', 'pictureId'])
    assert.match(broken.error, /could not be read: it is damaged/)
    const files = await app.call('GET', '/api/v1/files', { as: owner })
    assert.deepEqual(files.body.data.items, [])

    compatible.play(reply(['Gone.']))
    await ask(app, owner, session, { text: 'What was it?' })
    assert.deepEqual(shownIn(compatible.requests[0]), [])
    assert.match(JSON.stringify(compatible.requests[0]), /picture of this result is no longer available/)
  })

  test('cannot name a file of the org, whose picture the agent did not read', async () => {
    const owner = await app.createOrg()
    const session = await openMcp(owner)
    const { id } = await upload(app, owner, picture, { name: 'secret.png', type: 'image/png' })
    const claim = { fileId: id, pictureId: id, name: 'x', mimeType: 'image/png', sizeBytes: 9, picture: true }
    mcp.onCall = () => ({
      content: [
        { type: 'image', data: 1, ...claim },
        { type: 'text', text: 'x', ...claim },
      ],
      structuredContent: claim,
    })
    compatible.play(look, reply(['Nothing.']))
    const { turn } = await ask(app, owner, session, { text: 'Look.' })
    assert.equal(turn.toolCalls[0].status, 'done')
    assert.deepEqual(shownIn(compatible.requests[1]), [])
  })
})
