import { Type } from 'typebox'
import { Nullable } from '../../platform/http/schemas.ts'

/** The public form of `Form` in src/tool-form.ts. */
export const ToolForm = Type.Object({
  server: Type.String({ description: 'Name of the server that asks and gets the answer.', examples: ['Calendar'] }),
  message: Type.String({
    description: 'Question of the server. Untrusted text.',
    examples: ['For how many people should the table be?'],
  }),
  fields: Type.Array(
    Type.Object({
      key: Type.String({ description: 'Name of the field in `answer`.', examples: ['people'] }),
      kind: Type.Enum(['text', 'number', 'integer', 'boolean', 'choice', 'choices'], {
        description: 'Type of the value. `choice`: one of `options`. `choices`: a list of them.',
        examples: ['integer'],
      }),
      label: Type.String({ description: 'Label of the field.', examples: ['People'] }),
      description: Nullable(Type.String({ description: 'Explanation of the field. Null without one.' })),
      required: Type.Boolean({ description: 'Whether a value is required.', examples: [true] }),
      format: Nullable(
        Type.Enum(['email', 'uri', 'date', 'date-time'], { description: 'Format of a text. Null for any text.' }),
      ),
      min: Nullable(
        Type.Number({ description: 'Smallest number, or fewest characters or options. Null without a limit.' }),
      ),
      max: Nullable(
        Type.Number({ description: 'Largest number, or most characters or options. Null without a limit.' }),
      ),
      options: Type.Array(
        Type.Object({
          value: Type.String({ description: 'Value of the option.' }),
          label: Type.String({ description: 'Label of the option.' }),
        }),
        { description: 'Options of `choice` and `choices`. Empty for other kinds.' },
      ),
      default: Type.Unknown({ description: 'Value of a field that `answer` leaves out. Null without one.' }),
    }),
    { description: 'Fields of the answer.' },
  ),
})
