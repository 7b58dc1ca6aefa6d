// The other tests of this folder use the current major version of the official client. Many programs still use version 6.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import OpenAI, { toFile } from 'openai-v6'
import { startTestApp } from '../../../test/harness.ts'
import type { TestActor } from '../../../test/harness.ts'
import { openAiPrefix } from './errors.ts'

const app = await startTestApp()
const model = 'agent/assistant'
const clientFor = ({ key }: TestActor): OpenAI =>
  new OpenAI({ apiKey: key, baseURL: `${app.url}${openAiPrefix}`, maxRetries: 0 })

test('version 6 of the official client completes chats, whole and streamed', async () => {
  const client = clientFor(await app.createOrg())
  const messages: OpenAI.Chat.ChatCompletionMessageParam[] = [{ role: 'user', content: 'Hello' }]
  const whole = await client.chat.completions.create({ model, messages })
  const text = whole.choices[0]?.message.content ?? ''
  assert.match(text, /Hello/)
  const streamed = await client.chat.completions.stream({ model, messages }).finalContent()
  assert.equal(streamed, text)
  assert.ok((await client.models.list()).data.some(({ id }) => id === model))
})

test('version 6 of the official client runs functions with runTools', async () => {
  const client = clientFor(await app.createOrg())
  const asked: unknown[] = []
  const runner = client.chat.completions.runTools({
    model,
    messages: [{ role: 'user', content: '/tool get_weather {"city":"Basel"}' }],
    tools: [
      {
        type: 'function',
        function: {
          name: 'get_weather',
          description: 'Weather',
          parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
          parse: JSON.parse,
          function: (args: unknown) => {
            asked.push(args)
            return '21 degrees'
          },
        },
      },
    ],
  })
  assert.match((await runner.finalContent()) ?? '', /21 degrees/)
  assert.deepEqual(asked, [{ city: 'Basel' }])
})

test('version 6 of the official client creates responses, whole, streamed and continued', async () => {
  const client = clientFor(await app.createOrg())
  const first = await client.responses.create({ model, input: 'Hello' })
  assert.match(first.output_text, /Hello/)
  const stream = client.responses.stream({ model, input: 'Again', previous_response_id: first.id })
  const second = await stream.finalResponse()
  assert.equal(second.status, 'completed')
  const stored = await client.responses.retrieve(second.id)
  assert.match(stored.output_text, /Again/)
  // This version computes `output_text` for whole responses only.
  const parts = second.output.flatMap((item) => (item.type === 'message' ? item.content : []))
  assert.equal(parts.map((part) => (part.type === 'output_text' ? part.text : '')).join(''), stored.output_text)
})

test('version 6 of the official client gets embeddings and stores files', async () => {
  const client = clientFor(await app.createOrg())
  const { data } = await client.embeddings.create({ model: 'atrium/demo-embedding', input: ['A'], dimensions: 12 })
  assert.equal(data[0]?.embedding.length, 12)
  const file = await toFile(Buffer.from('Hello'), 'note.txt', { type: 'text/plain' })
  const stored = await client.files.create({ file, purpose: 'user_data' })
  assert.equal(await (await client.files.content(stored.id)).text(), 'Hello')
  assert.equal((await client.files.delete(stored.id)).deleted, true)
})

test('version 6 of the official client throws its own classes for errors', async () => {
  const client = clientFor(await app.createOrg())
  const messages: OpenAI.Chat.ChatCompletionMessageParam[] = [{ role: 'user', content: 'Hello' }]
  await assert.rejects(client.chat.completions.create({ model: 'agent/nobody', messages }), OpenAI.NotFoundError)
  const stranger = new OpenAI({ apiKey: 'none', baseURL: `${app.url}${openAiPrefix}`, maxRetries: 0 })
  await assert.rejects(stranger.models.list(), OpenAI.AuthenticationError)
})
