import { Type } from 'typebox'
import type { Static } from 'typebox'

const JsonSchemaFormat = Type.Object(
  {
    type: Type.Literal('json_schema', { description: 'The reply is JSON that matches `schema`.' }),
    schema: Type.Record(Type.String(), Type.Unknown(), {
      description:
        'JSON Schema of the reply, at most 32 KB as JSON. References must begin with `#`. `format` is checked as well.',
      examples: [{ type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }],
    }),
    name: Type.Optional(
      Type.String({
        pattern: '^[A-Za-z0-9_-]{1,64}$',
        description: 'Name of the format for the model: 1–64 letters, digits, `_` and `-`. Default `response`.',
        examples: ['place'],
      }),
    ),
    description: Type.Optional(
      Type.String({ maxLength: 2_000, description: 'What the reply is, for the model, at most 2,000 characters.' }),
    ),
    strict: Type.Optional(
      Type.Boolean({
        description:
          "Whether OpenAI's models follow the schema exactly, for which it must be in their subset of JSON Schema. Default false. The reply is validated in any case.",
      }),
    ),
  },
  { description: 'JSON that matches a schema.' },
)

export const ResponseFormat = Type.Union(
  [Type.Object({ type: Type.Literal('text', { description: 'The reply is text.' }) }), JsonSchemaFormat],
  {
    description:
      'Format of the reply. With `json_schema` the reply is validated. A reply that does not match is repeated once, with the errors; then the turn fails with `output_invalid`. Default: text.',
    examples: [{ type: 'text' }],
  },
)
export type ResponseFormat = Static<typeof ResponseFormat>

/** The format that is stored with a turn; text is stored as null. */
export type OutputFormat = Static<typeof JsonSchemaFormat>
