import { Type } from 'typebox'
import type { Static } from 'typebox'

const maxTools = 128

/** Of the description of a tool, in characters. */
export const maxDescription = 10_000

const ToolName = (description: string) =>
  Type.String({ pattern: '^[A-Za-z0-9_-]{1,64}$', description, examples: ['get_weather'] })

export const CallerTool = Type.Object(
  {
    name: ToolName(
      'Name of the tool: 1–64 letters, digits, `_` and `-`. Different from the names of the tools of the agent.',
    ),
    description: Type.Optional(
      Type.String({
        maxLength: maxDescription,
        description: 'What the tool does, for the model, at most 10,000 characters. Default: the name.',
        examples: ['Returns the current weather of a city.'],
      }),
    ),
    inputSchema: Type.Record(Type.String(), Type.Unknown(), {
      description: 'JSON Schema of the arguments, of the type `object`. The server does not validate calls against it.',
      examples: [{ type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }],
    }),
  },
  { description: 'A tool that the caller runs.' },
)
export type CallerTool = Static<typeof CallerTool>

export const ToolChoice = Type.Union(
  [
    Type.Enum(['auto', 'none', 'required']),
    Type.Object({ name: ToolName('Name of the tool of the caller that the model must call.') }),
  ],
  {
    description:
      '`auto`: the model decides. `none`: it calls no tool at all. `required`, or the name of one of `tools`: the first model call must call a tool; the model decides after that. Default `auto`.',
    examples: ['auto'],
  },
)
export type ToolChoice = Static<typeof ToolChoice>

/** The tools that the caller of a turn runs, as they are stored with the turn. */
export interface CallerTools {
  tools: CallerTool[]
  choice: ToolChoice
  /** False when a step may have one call of them only. Default true. */
  isParallel?: boolean
  /** The first step after the request that set `choice`. Only this step is forced to call a tool. */
  fromStep: number
}

export const toolFields = {
  tools: Type.Optional(
    Type.Array(CallerTool, {
      maxItems: maxTools,
      description:
        'Tools that the caller runs, at most 128 and together 64 KB as JSON. When the model calls one, the turn waits for its output as `requires_action`. Default: none.',
    }),
  ),
  toolChoice: Type.Optional(ToolChoice),
}

const CallId = Type.String({
  minLength: 1,
  maxLength: 64,
  description: 'ID of the tool call, at most 64 characters.',
  examples: ['a5pe2oxve'],
})

export const RequiredToolOutput = Type.Object(
  {
    callId: CallId,
    toolName: Type.String({ description: 'Name of the tool.', examples: ['get_weather'] }),
    input: Type.Unknown({ description: 'Arguments of the call.', examples: [{ city: 'Basel' }] }),
  },
  { description: 'A call of a tool of the caller.' },
)

export const ToolOutputs = Type.Object(
  {
    outputs: Type.Array(
      Type.Object({
        callId: CallId,
        output: Type.Unknown({
          description: 'Result of the call: any JSON value of at most 256 KB.',
          examples: [{ celsius: 21 }],
        }),
        isError: Type.Optional(
          Type.Boolean({ description: 'Whether the call failed. `output` is then the error. Default false.' }),
        ),
      }),
      { minItems: 1, maxItems: 128, description: 'Outputs of calls, 1–128.' },
    ),
  },
  { examples: [{ outputs: [{ callId: 'a5pe2oxve', output: { celsius: 21 } }] }] },
)
export type ToolOutput = Static<typeof ToolOutputs>['outputs'][number]
