import { Type } from 'typebox'
import type { Static } from 'typebox'

/** A batch of the clients that split long lists is at most this long. */
export const maxInputs = 1_024
export const maxDimensions = 8_192
export const maxTextLength = 100_000

const Text = Type.String({ minLength: 1, maxLength: maxTextLength })

export const EmbeddingCreate = Type.Object(
  {
    model: Type.String({
      minLength: 1,
      maxLength: 255,
      description:
        'ID of a model from `GET /models` with the capability `embeddings`, `<provider>/<model>`, at most 255 characters.',
      examples: ['atrium/demo-embedding'],
    }),
    input: Type.Union([Text, Type.Array(Text, { minItems: 1, maxItems: maxInputs })], {
      description:
        'A text of 1–100,000 characters, or 1–1,024 of them. A model may have lower limits (Gemini: 100 texts): VALIDATION_ERROR then.',
      examples: [['A red bicycle', 'A blue car']],
    }),
    dimensions: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: maxDimensions,
        description:
          'Length of the vectors, 1–8,192. Models that cannot shorten their vectors reject it with VALIDATION_ERROR. Default: as the model decides.',
        examples: [256],
      }),
    ),
  },
  { examples: [{ model: 'atrium/demo-embedding', input: ['A red bicycle', 'A blue car'] }] },
)
export type EmbeddingCreate = Static<typeof EmbeddingCreate>

export const EmbeddingList = Type.Object({
  model: Type.String({ description: 'ID of the model.', examples: ['atrium/demo-embedding'] }),
  dimensions: Type.Integer({ description: 'Length of each vector.', examples: [256] }),
  embeddings: Type.Array(Type.Array(Type.Number()), {
    description: 'One vector for each text of `input`, in the same order.',
    examples: [
      [
        [0.12, -0.56, 0.82],
        [0.4, 0.1, -0.91],
      ],
    ],
  }),
  usage: Type.Object(
    {
      inputTokens: Type.Integer({ description: 'Number of tokens of the texts.', examples: [8] }),
      isEstimate: Type.Boolean({
        description:
          'Whether the tokens were counted from the size of the texts, because the provider reported no plausible number.',
        examples: [false],
      }),
      chargedMicrocents: Type.Integer({
        description:
          'What was charged, with the platform fee, in microcents (10,000 microcents are one cent). With a provider key of the org, only the fee.',
        examples: [0],
      }),
    },
    { description: 'Usage of the model.' },
  ),
})
