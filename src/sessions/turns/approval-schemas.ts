import { Type } from 'typebox'
import { IdOf, Nullable, TimestampOf } from '../../platform/http/schemas.ts'
import { ToolForm } from './form-schema.ts'

export const Approval = Type.Object({
  approvalId: IdOf('ID of the approval.'),
  toolCallId: Type.String({ description: 'ID of the tool call.' }),
  toolName: Type.String({ description: 'Name of the tool.' }),
  input: Type.Unknown({ description: 'Arguments of the call.' }),
  isRepeated: Type.Boolean({
    description: 'Whether the call may have run before: the server process ended while it was running.',
  }),
  kind: Type.Enum(['consent', 'approval', 'repeat', 'input'], {
    description:
      '`consent`: allow the agent to use your connections to the connector, until another person changes the agent. `approval`: run this call. `repeat`: run it again, although it may have run before. `input`: answer the question of the tool in `form`; the call then runs again with the answer.',
  }),
  reason: Type.String({ description: 'Why a decision is needed, for people.' }),
  agent: Type.Object(
    {
      id: IdOf('ID of the agent.'),
      slug: Type.String({ description: 'Slug of the agent.' }),
      name: Type.String({ description: 'Name of the agent.' }),
    },
    { description: 'The agent that makes the call.' },
  ),
  connector: Nullable(
    Type.String({ description: 'Slug of the connector whose connection the tool uses. Null without one.' }),
  ),
  authorityVersion: Nullable(
    Type.Integer({ description: 'The `authorityVersion` of the agent that a consent is given for. Null otherwise.' }),
  ),
  changedBy: Nullable(
    Type.Object({
      id: IdOf('ID of the user.'),
      name: Type.String({ description: 'Name of the user.' }),
    }),
    'For a consent: the user who last changed the agent. Null when unknown.',
  ),
  changedAt: Nullable(TimestampOf('For a consent: time of that change.')),
  untrustedFrom: Nullable(
    Type.String({
      description:
        'Source of the untrusted content that makes an approval necessary: the name of a tool, or `chat`, `person`, `peer` or `project`. Null without one.',
    }),
  ),
  form: Nullable(ToolForm, 'For `input`: what the tool asks. Null otherwise.'),
  canDecide: Type.Boolean({ description: 'Whether the caller may decide.' }),
  cannotDecideReason: Nullable(Type.String({ description: 'Why the caller may not decide. Null when they may.' })),
})

export const ApprovalDecision = Type.Object({
  approvalId: IdOf('ID of the approval, from `approvals` of the turn.'),
  approved: Type.Boolean({
    description: 'True runs the tool; false tells the model that a person denied it.',
    examples: [true],
  }),
  answer: Type.Optional(
    Type.Record(Type.String(), Type.Unknown(), {
      description: 'For an approved `input`: values for the fields of its `form`. Default: the defaults of the fields.',
      examples: [{ people: 4 }],
    }),
  ),
})
