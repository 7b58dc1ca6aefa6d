import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createOpenAI } from '@ai-sdk/openai'
import { embedMany } from 'ai'
import OpenAI from 'openai'
import { startTestApp } from '../../../test/harness.ts'
import { openAiPrefix } from './errors.ts'

const app = await startTestApp()
const model = 'atrium/demo-embedding'

const clientOf = async () => {
  const owner = await app.createOrg()
  const baseURL = `${app.url}${openAiPrefix}`
  return { owner, baseURL, client: new OpenAI({ baseURL, apiKey: owner.key, maxRetries: 0 }) }
}

describe('the embeddings of the OpenAI protocol', () => {
  test('give the official client the same numbers in both formats, in the order of the texts', async () => {
    const { client } = await clientOf()
    const input = ['A red bicycle', 'A blue car']
    // The client requests base64 unless it is told the format.
    const [decoded, floats] = [
      await client.embeddings.create({ model, input, dimensions: 12 }),
      await client.embeddings.create({ model, input, dimensions: 12, encoding_format: 'float' }),
    ]
    assert.deepEqual(
      decoded.data.map(({ index, embedding }) => [index, embedding.length]),
      [
        [0, 12],
        [1, 12],
      ],
    )
    for (const [place, { embedding }] of floats.data.entries()) {
      assert.deepEqual(decoded.data[place]?.embedding.map(Math.fround), embedding.map(Math.fround))
    }
    assert.notDeepEqual(floats.data[0]?.embedding, floats.data[1]?.embedding)
    assert.equal(floats.model, model)
    assert.ok(floats.usage.prompt_tokens > 0 && floats.usage.prompt_tokens === floats.usage.total_tokens)
  })

  test('work with the AI SDK', async () => {
    const { owner, baseURL } = await clientOf()
    const provider = createOpenAI({ baseURL, apiKey: owner.key })
    const { embeddings } = await embedMany({ model: provider.embeddingModel(model), values: ['a', 'b', 'c'] })
    assert.deepEqual(
      embeddings.map(({ length }) => length),
      [256, 256, 256],
    )
  })

  test('reject tokens by the name of the parameter, and models that are not embedding models', async () => {
    const { client } = await clientOf()
    for (const input of [
      [1, 2, 3],
      [[1, 2], [3]],
    ]) {
      const error = await client.embeddings.create({ model, input }).catch((error: unknown) => error)
      assert.ok(error instanceof OpenAI.BadRequestError, String(error))
      assert.deepEqual([error.code, error.param], ['unsupported_parameter', 'input'])
    }
    const error = await client.embeddings
      .create({ model: 'agent/assistant', input: 'a' })
      .catch((error: unknown) => error)
    assert.ok(error instanceof OpenAI.BadRequestError)
    assert.equal(error.param, 'model')
  })
})
