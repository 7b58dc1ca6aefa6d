import type { Revision } from './agent-card.ts'

type Json = Readonly<Record<string, unknown>>

/** A task of a remote agent, or its direct reply, which has no task. */
export interface RemoteTask {
  taskId: string | null
  contextId: string | null
  state: string
  /** Artifacts and the message of the status, for models. */
  content: unknown[]
  /** Pictures with their places in `content`. */
  pictures: { place: number; bytes: Buffer }[]
}

const maxIdLength = 1_024
const maxParts = 200

const objectOf = (value: unknown): Json => (typeof value === 'object' && value !== null ? (value as Json) : {})
const listOf = (value: unknown): Json[] => (Array.isArray(value) ? value.map(objectOf) : [])
const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

const idOf = (value: unknown): string | null => {
  const id = textOf(value)
  return id === undefined || id === '' || id.length > maxIdLength ? null : id
}

const states = new Set([
  'submitted',
  'working',
  'completed',
  'failed',
  'canceled',
  'input-required',
  'rejected',
  'auth-required',
])

/** `TASK_STATE_INPUT_REQUIRED` of 1.0 and `input-required` of 0.3 are the same. */
const stateOf = (value: unknown): string => {
  const state = (textOf(value) ?? '')
    .replace(/^TASK_STATE_/, '')
    .toLowerCase()
    .replaceAll('_', '-')
  return states.has(state) ? state : 'unknown'
}

/** The agent works on the task, and has not asked for anything. */
export const isWorking = ({ state }: RemoteTask): boolean => state === 'submitted' || state === 'working'

interface Picture {
  mimeType: string
  bytes: Buffer
}

/** One part as a model reads it. Bytes of a picture are returned beside it; other bytes are left out. */
const readPart = (part: Json): { content: object; picture?: Picture } | undefined => {
  const text = textOf(part['text'])
  if (text !== undefined) return { content: { type: 'text', text } }
  if (part['data'] !== undefined && part['data'] !== null) return { content: { type: 'data', data: part['data'] } }
  const file = objectOf(part['file'])
  const raw = textOf(part['raw']) ?? textOf(file['bytes'])
  const url = textOf(part['url']) ?? textOf(file['uri'])
  if (raw === undefined && url === undefined) return undefined
  const name = textOf(part['filename']) ?? textOf(file['name'])
  const mimeType = textOf(part['mediaType']) ?? textOf(file['mimeType'])
  if (raw !== undefined && mimeType?.startsWith('image/')) {
    const bytes = Buffer.from(raw, 'base64')
    return { content: { type: 'image', mimeType, omitted: true }, picture: { mimeType, bytes } }
  }
  return { content: { type: 'file', name, mimeType, ...(url === undefined ? { omitted: true } : { url }) } }
}

const readParts = (parts: readonly Json[]): Pick<RemoteTask, 'content' | 'pictures'> => {
  const read = parts.slice(0, maxParts).flatMap((part) => readPart(part) ?? [])
  return {
    content: read.map(({ content }) => content),
    pictures: read.flatMap(({ picture }, place) => (picture ? [{ place, bytes: picture.bytes }] : [])),
  }
}

const readTask = (task: Json): RemoteTask => {
  const status = objectOf(task['status'])
  const parts = [...listOf(task['artifacts']), objectOf(status['message'])].flatMap((one) => listOf(one['parts']))
  return {
    taskId: idOf(task['id']),
    contextId: idOf(task['contextId']),
    state: stateOf(status['state']),
    ...readParts(parts),
  }
}

const readMessage = (message: Json): RemoteTask => ({
  taskId: idOf(message['taskId']),
  contextId: idOf(message['contextId']),
  state: 'completed',
  ...readParts(listOf(message['parts'])),
})

/**
 * The result of a method. 1.0 names the kind of the result of a message by its field, 0.3 by `kind`; both return a task as
 * it is from the other methods. Undefined for anything else.
 */
export const readResult = (result: unknown): RemoteTask | undefined => {
  const answer = objectOf(result)
  if (answer['message'] !== undefined && answer['status'] === undefined) return readMessage(objectOf(answer['message']))
  if (answer['kind'] === 'message') return readMessage(answer)
  const task = readTask(objectOf(answer['task'] ?? answer))
  return task.taskId === null ? undefined : task
}

export interface OutgoingMessage {
  messageId: string
  text: string
  taskId?: string | undefined
  contextId?: string | undefined
}

const methods = {
  send: { '1.0': 'SendMessage', '0.3': 'message/send' },
  get: { '1.0': 'GetTask', '0.3': 'tasks/get' },
  cancel: { '1.0': 'CancelTask', '0.3': 'tasks/cancel' },
} as const

export type Method = keyof typeof methods

export const methodName = (method: Method, revision: Revision): string => methods[method][revision]

/** Parameters of a message that do not wait for the end of the task: connections do not last as long as agents work. */
export const messageParams = (
  { messageId, text, taskId, contextId }: OutgoingMessage,
  revision: Revision,
): Record<string, unknown> => {
  const ids = {
    messageId,
    ...(taskId === undefined ? {} : { taskId }),
    ...(contextId === undefined ? {} : { contextId }),
  }
  const acceptedOutputModes = ['text/plain', 'application/json', 'image/png', 'image/jpeg']
  return revision === '1.0'
    ? {
        message: { ...ids, role: 'ROLE_USER', parts: [{ text }] },
        configuration: { acceptedOutputModes, returnImmediately: true },
      }
    : {
        message: { kind: 'message', ...ids, role: 'user', parts: [{ kind: 'text', text }] },
        configuration: { acceptedOutputModes, blocking: false },
      }
}
