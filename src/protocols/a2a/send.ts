import { createHash } from 'node:crypto'
import type { Message, Part, SendMessageRequest } from '@a2a-js/sdk'
import type { AgentRow } from '../../agents/agents.ts'
import { storeInlineFile } from '../../files/files.ts'
import type { InlineFile } from '../../files/files.ts'
import type { Actor } from '../../identity/actor.ts'
import { workspaceOf } from '../../identity/actor.ts'
import type { Transaction } from '../../platform/database/database.ts'
import { ApiError } from '../../platform/http/errors.ts'
import { isUuid, newId } from '../../platform/ids.ts'
import type { SessionDeps } from '../../sessions/deps.ts'
import { insertSession, requireSession } from '../../sessions/sessions.ts'
import { beginTurn, toMessageParts } from '../../sessions/turns/begin-turn.ts'
import { maxText } from '../../sessions/turns/schemas.ts'
import { checkConfig, setConfig } from './push/configs.ts'
import type { CheckedConfig, PushDeps } from './push/configs.ts'
import type { PushRevision } from './push/queries.ts'
import * as queries from './queries.ts'
import { malformed } from './sdk.ts'
import type { Sdk } from './sdk.ts'
import { findOwnTurn, isUser } from './tasks.ts'

const maxFiles = 20
const maxIdLength = 255
const textModes = new Set(['text', 'text/plain', 'text/markdown', 'text/*', '*/*'])

interface Content {
  text: string
  files: InlineFile[]
}

/** The text and the files of a message. The server fetches nothing for a client, so files must be in the request. */
const readContent = (sdk: Sdk, parts: Part[]): Content => {
  const texts: string[] = []
  const files: InlineFile[] = []
  for (const [at, { content, filename, mediaType }] of parts.entries()) {
    if (content?.$case === 'text') texts.push(content.value)
    else if (content?.$case === 'data') texts.push(`\`\`\`json\n${JSON.stringify(content.value)}\n\`\`\``)
    else if (content?.$case === 'raw') {
      files.push({
        bytes: Buffer.from(content.value),
        mimeType: mediaType || 'application/octet-stream',
        name: filename || 'file',
      })
    } else {
      const what = content?.$case === 'url' ? 'URLs are not supported: send the bytes' : 'the part has no content'
      throw new sdk.errors.ContentTypeNotSupportedError({ message: `message.parts[${at}]: ${what}` })
    }
  }
  const text = texts.join('\n\n')
  if (text.trim() === '' && files.length === 0) throw malformed(sdk, 'message.parts must not be empty')
  if ([...text].length > maxText) throw malformed(sdk, `message.parts must have at most ${maxText} characters of text`)
  if (files.length > maxFiles) throw malformed(sdk, `message.parts must have at most ${maxFiles} files`)
  return { text, files }
}

const requireSupported = (sdk: Sdk, { configuration }: SendMessageRequest): void => {
  const modes = configuration?.acceptedOutputModes ?? []
  if (modes.length > 0 && !modes.some((mode) => textModes.has(mode))) {
    throw new sdk.errors.ContentTypeNotSupportedError({ message: 'Agents reply with text/plain.' })
  }
}

const readMessage = (sdk: Sdk, { message }: SendMessageRequest): Message => {
  if (!message) throw malformed(sdk, 'message is required')
  const { messageId, contextId, taskId, role } = message
  if (messageId === '' || messageId.length > maxIdLength) {
    throw malformed(sdk, `message.messageId must be 1–${maxIdLength} characters`)
  }
  if (contextId.length > maxIdLength || taskId.length > maxIdLength) {
    throw malformed(sdk, `message.contextId and message.taskId must have at most ${maxIdLength} characters`)
  }
  if (!isUser(role)) throw malformed(sdk, 'message.role must be the user')
  return message
}

const digestOf = (actor: Actor, agentId: string, { messageId }: Message): Buffer =>
  createHash('sha256')
    .update(JSON.stringify(['a2a', actor.userId, workspaceOf(actor), agentId, messageId]))
    .digest()

/** A task takes no further messages: each message is a task of its own. */
const rejectTask = async ({ db, sdk }: SendDeps, actor: Actor, agent: AgentRow, { taskId }: Message): Promise<void> => {
  if (taskId === '') return
  if (!isUuid(taskId) || !(await findOwnTurn(db.hot, actor, agent.id, taskId))) {
    throw new sdk.errors.TaskNotFoundError({ message: 'Task not found' })
  }
  const message =
    'A task has one message. Send the contextId without the taskId to continue the conversation. A person decides about tool calls.'
  throw new sdk.errors.UnsupportedOperationError({ message })
}

const isSession = async ({ db }: SendDeps, actor: Actor, id: string): Promise<boolean> => {
  if (!isUuid(id)) return false
  try {
    await requireSession(db.hot, actor, id)
    return true
  } catch (error) {
    if (error instanceof ApiError && error.code === 'NOT_FOUND') return false
    throw error
  }
}

export type SendDeps = SessionDeps & PushDeps

/** The turn of a message, and whether this request created it. */
export interface StartedTask {
  turnId: string
  isNew: boolean
}

/** Who starts a task, by which revision of the protocol, and with which agent. */
export interface Sender {
  actor: Actor
  agent: AgentRow
  revision: PushRevision
}

const pushConfigOf = async (
  deps: SendDeps,
  { actor, revision }: Sender,
  { configuration }: SendMessageRequest,
): Promise<CheckedConfig | undefined> => {
  const given = configuration?.taskPushNotificationConfig
  return given && checkConfig(deps, actor, given, revision)
}

/** The task of a message that was sent before, with the configuration with which it was sent again. */
const configureExisting = async (
  deps: SendDeps,
  { actor, agent }: Sender,
  turnId: string,
  config: CheckedConfig | undefined,
): Promise<StartedTask> => {
  if (!(await findOwnTurn(deps.db.hot, actor, agent.id, turnId))) {
    const message = 'The task of this messageId was deleted with its session. Send the message with another messageId.'
    throw new deps.sdk.errors.TaskNotFoundError({ message })
  }
  if (config) await deps.db.transaction(actor, (db) => setConfig(db, deps, actor, { turnId, config }))
  return { turnId, isNew: false }
}

const sessionFor = async (db: Transaction, { actor, agent }: Sender, { contextId }: Message): Promise<string> => {
  if (contextId !== '') return contextId
  const session = { id: newId(), workspaceId: workspaceOf(actor), projectId: null, agentId: agent.id }
  await insertSession(db, actor, { ...session, title: null, metadata: {}, source: 'a2a' })
  return session.id
}

/**
 * Starts a turn with the message, in the session of its contextId or in a new one. A message with the same messageId of
 * the same person starts nothing: the turn of the first one is returned.
 */
export const startTask = async (deps: SendDeps, sender: Sender, request: SendMessageRequest): Promise<StartedTask> => {
  const { db, sdk } = deps
  const { actor, agent } = sender
  requireSupported(sdk, request)
  const message = readMessage(sdk, request)
  const content = readContent(sdk, message.parts)
  await rejectTask(deps, actor, agent, message)
  const config = await pushConfigOf(deps, sender, request)
  const digest = digestOf(actor, agent.id, message)
  const before = await queries.findTurnOfMessage(db.hot, actor, digest)
  if (before !== undefined) return configureExisting(deps, sender, before, config)
  const { contextId } = message
  if (contextId !== '' && !(await isSession(deps, actor, contextId))) {
    throw malformed(sdk, 'message.contextId must be the ID of a session')
  }
  const fileIds: string[] = []
  for (const file of content.files) fileIds.push((await storeInlineFile(deps, actor, file)).fileId)
  const parts = await toMessageParts(db, actor, { text: content.text, fileIds: [...new Set(fileIds)] })
  const started = await db.transaction(actor, async (db): Promise<StartedTask> => {
    await queries.lockMessage(db, digest)
    const existing = await queries.findTurnOfMessage(db, actor, digest)
    if (existing !== undefined) return { turnId: existing, isNew: false }
    const sessionId = await sessionFor(db, sender, message)
    const turnId = await beginTurn(db, deps, actor, { parts, agentId: agent.id, callerDigest: digest, sessionId })
    if (config) await setConfig(db, deps, actor, { turnId, config })
    return { turnId, isNew: true }
  })
  return started.isNew ? started : configureExisting(deps, sender, started.turnId, config)
}
