import { Type } from 'typebox'
import { defineEvent } from '../define.ts'
import { ChangedFields, exampleId, IdOf } from './fields.ts'

const sessionId = IdOf('ID of the session.')
const turnId = IdOf('ID of the turn.')
const agentId = IdOf('ID of the agent.')

/** The most UTF-8 bytes of a message in an event. */
export const maxMessageBytes = 1_024

const turnExample = { turnId: exampleId, sessionId: exampleId, agentId: exampleId }
const common = { area: 'sessions', subject: 'session' } as const
const stopReason = Type.String({
  description: 'Why the turn stopped, as in `stopReason` of the turn.',
  examples: ['stop'],
})

export const sessionEvents = {
  'session.created': defineEvent({
    ...common,
    description: 'A session was created by a person, by a chat of a connection, or by an agent that wrote to another.',
    data: Type.Object({
      sessionId,
      agentId: IdOf('ID of the agent that replies.'),
      title: Type.Union([Type.String(), Type.Null()], {
        description: 'Title. Null until the first message provides one.',
      }),
      relationship: Type.Enum(['user', 'peer', 'connector'], {
        description: '`user`: with a person. `peer`: between agents. `connector`: in a chat of a provider.',
      }),
    }),
    example: { sessionId: exampleId, agentId: exampleId, title: 'Quarterly report', relationship: 'user' },
  }),
  'session.updated': defineEvent({
    ...common,
    description: 'Fields of a session were changed by a request. Messages and turns have events of their own.',
    data: Type.Object({ sessionId, changed: ChangedFields }),
    example: { sessionId: exampleId, changed: ['title'] },
  }),
  'session.deleted': defineEvent({
    ...common,
    description: 'A session was deleted with its messages, after its unfinished turns were cancelled.',
    data: Type.Object({ sessionId }),
    example: { sessionId: exampleId },
  }),
  'message.created': defineEvent({
    ...common,
    description:
      'A message was added to a session: a request of a person or another agent, or the reply of the agent. The reply precedes the event with which its turn ends.',
    data: Type.Object({
      messageId: IdOf('ID of the message.'),
      sessionId,
      turnId,
      role: Type.Enum(['user', 'assistant'], { description: '`user`: the request. `assistant`: the reply.' }),
      text: Type.String({ description: 'Text of the message, up to 1,024 bytes of UTF-8.' }),
      isTruncated: Type.Boolean({ description: 'Whether the text of the message is longer.' }),
    }),
    example: {
      messageId: exampleId,
      sessionId: exampleId,
      turnId: exampleId,
      role: 'user',
      text: 'Summarize the attached report.',
      isTruncated: false,
    },
  }),
  'turn.started': defineEvent({
    ...common,
    description:
      'An agent started to work on a turn. Recorded once for each turn, also when another worker continues it after a crash. A turn that is cancelled while it is queued never starts.',
    data: Type.Object({ turnId, sessionId, agentId }),
    example: turnExample,
  }),
  'turn.requires_action': defineEvent({
    ...common,
    description:
      'A turn waits for the decision of a person, or for outputs of tools of its caller. A turn can wait several times.',
    data: Type.Object({ turnId, sessionId, agentId }),
    example: turnExample,
  }),
  'turn.approval_decided': defineEvent({
    ...common,
    description: 'A person decided whether an agent may make a tool call. The turn continues after the last decision.',
    data: Type.Object({
      turnId,
      sessionId,
      agentId,
      approvalId: Type.String({ description: 'ID of the approval, as in the tool call.' }),
      approved: Type.Boolean({ description: 'Whether the agent may make the call.' }),
      tool: Type.String({ description: 'Name of the tool.' }),
    }),
    example: { ...turnExample, approvalId: exampleId, approved: true, tool: 'files.write' },
  }),
  'turn.completed': defineEvent({
    ...common,
    description: 'A turn ended with a complete reply.',
    data: Type.Object({ turnId, sessionId, agentId, stopReason }),
    example: { ...turnExample, stopReason: 'stop' },
  }),
  'turn.incomplete': defineEvent({
    ...common,
    description: 'A turn was ended by a limit before its reply was complete.',
    data: Type.Object({ turnId, sessionId, agentId, stopReason }),
    example: { ...turnExample, stopReason: 'max_steps' },
  }),
  'turn.failed': defineEvent({
    ...common,
    description: 'A turn ended with an error.',
    data: Type.Object({
      turnId,
      sessionId,
      agentId,
      errorCode: Type.String({ description: 'Code of the error, as in `error.code` of the turn.' }),
    }),
    example: { ...turnExample, errorCode: 'model_error' },
  }),
  'turn.cancelled': defineEvent({
    ...common,
    description: 'A queued, running or waiting turn was cancelled. The text so far is its reply.',
    data: Type.Object({ turnId, sessionId, agentId }),
    example: turnExample,
  }),
}
