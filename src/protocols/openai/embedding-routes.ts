import { Type } from 'typebox'
import type { App } from '../../platform/http/http.ts'
import { sendWritten } from '../../sessions/embeddings/response.ts'
import { maxStoredBytes } from '../../sessions/embeddings/embeddings.ts'
import type { Embedder } from '../../sessions/embeddings/embeddings.ts'
import { maxDimensions, maxInputs, maxTextLength } from '../../sessions/embeddings/schemas.ts'
import { failures, openAiPrefix, unsupported } from './errors.ts'

// Names and shapes are those of OpenAI's API: https://platform.openai.com/docs/api-reference/embeddings

const EmbeddingRequest = Type.Object(
  {
    model: Type.String({
      minLength: 1,
      maxLength: 255,
      description: 'ID of an embedding model of `GET /api/v1/models`, `<provider>/<model>`, at most 255 characters.',
      examples: ['atrium/demo-embedding'],
    }),
    input: Type.Unsafe<string | (string | number | number[])[]>({
      anyOf: [
        { type: 'string', minLength: 1, maxLength: maxTextLength },
        {
          type: 'array',
          minItems: 1,
          maxItems: maxInputs,
          items: { type: 'string', minLength: 1, maxLength: maxTextLength },
        },
        {
          type: 'array',
          minItems: 1,
          items: { anyOf: [{ type: 'integer' }, { type: 'array', items: { type: 'integer' } }] },
        },
      ],
      description:
        'A text of 1–100,000 characters, or 1–1,024 of them. Arrays of tokens are rejected with `unsupported_parameter`.',
      examples: [['A red bicycle', 'A blue car']],
    }),
    dimensions: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: maxDimensions,
        description: 'Length of the vectors, 1–8,192. Default: as the model decides.',
        examples: [256],
      }),
    ),
    encoding_format: Type.Optional(
      Type.Enum(['float', 'base64'], {
        description:
          'Format of the vectors: arrays of numbers, or the base64 of their 32-bit floating point numbers (little-endian). Default `float`.',
        examples: ['base64'],
      }),
    ),
  },
  { examples: [{ model: 'atrium/demo-embedding', input: ['A red bicycle', 'A blue car'] }] },
)

const EmbeddingResponse = Type.Object(
  {
    object: Type.Literal('list', { description: 'Type of the object.' }),
    data: Type.Array(
      Type.Object({
        object: Type.Literal('embedding', { description: 'Type of the object.' }),
        index: Type.Integer({ description: 'Place of the text in `input`, from 0.', examples: [0] }),
        embedding: Type.Union([Type.Array(Type.Number()), Type.String()], {
          description: 'The vector in the format of the request.',
          examples: [[0.12, -0.56, 0.82]],
        }),
      }),
      { description: 'One vector for each text.' },
    ),
    model: Type.String({ description: 'ID of the model.', examples: ['atrium/demo-embedding'] }),
    usage: Type.Object(
      {
        prompt_tokens: Type.Integer({ description: 'Number of tokens of the texts.', examples: [8] }),
        total_tokens: Type.Integer({ description: 'The same number.', examples: [8] }),
      },
      { description: 'Usage of the model.' },
    ),
  },
  { description: "Vectors in the shape of OpenAI's embeddings." },
)

const isTexts = (input: (string | number | number[])[]): input is string[] =>
  input.every((text) => typeof text === 'string')

const readInput = (input: string | (string | number | number[])[]): string | string[] => {
  if (typeof input === 'string' || isTexts(input)) return input
  throw unsupported('input', 'input must be a text or an array of texts. Arrays of tokens are not supported.')
}

export const registerOpenAiEmbeddingRoutes = (app: App, embedder: Embedder): void => {
  app.post(
    `${openAiPrefix}/embeddings`,
    {
      config: { access: 'sessions:write', rateLimit: 'turns', idempotency: { maxStoredBytes } },
      schema: {
        tags: ['OpenAI'],
        summary: 'Create vectors of texts',
        description:
          'Converts texts to vectors as `POST /api/v1/embeddings`, with the same limits and charges, in the shape of OpenAI. `user` and all other fields are ignored. Counts against the rate limit `turns`.',
        body: EmbeddingRequest,
        response: { 200: EmbeddingResponse, ...failures },
      },
    },
    async (request, reply) => {
      const { model, input, dimensions, encoding_format: format } = request.body
      const texts = { model, input: readInput(input), ...(dimensions === undefined ? {} : { dimensions }) }
      const { json, inputTokens } = await embedder.embed(
        request,
        texts,
        format === 'base64' ? 'openai-base64' : 'openai-floats',
      )
      const rest = JSON.stringify({ model, usage: { prompt_tokens: inputTokens, total_tokens: inputTokens } })
      return sendWritten(reply, ['{"object":"list","data":', json, `,${rest.slice(1)}`]) as never
    },
  )
}
