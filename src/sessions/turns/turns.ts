import { isOwnName } from '../../files/files.ts'
import type { Actor } from '../../identity/actor.ts'
import { workspaceOf } from '../../identity/actor.ts'
import type { Database, Db } from '../../platform/database/database.ts'
import { notFound, validationError } from '../../platform/http/errors.ts'
import { getRegenerated, getReplaced } from '../branches/branches.ts'
import type { Replaced } from '../branches/branches.ts'
import * as queries from '../queries.ts'
import { requireSession } from '../sessions.ts'
import { readResponseFormat } from '../output/response-format.ts'
import { beginTurn, toMessageParts } from './begin-turn.ts'
import { checkCallerTools, readCallerTools } from './caller-tools/caller-tools.ts'
import { cancelLockedTurn, cancelUnfinishedTurns } from './cancel.ts'
import type { TurnDeps } from './deps.ts'
import type { UserMessage } from './input.ts'
import type { Toolbox } from '../tools/tools.ts'
import type { TurnCreate } from './schemas.ts'
import * as turnQueries from './queries.ts'
import type { TurnRow } from './queries.ts'

export const getTurnRow = async (db: Db, actor: Actor, id: string): Promise<TurnRow> => {
  const turn = await turnQueries.findTurn(db, actor, workspaceOf(actor), id)
  if (!turn) throw notFound('Turn')
  return turn
}

/** The turn that a session works on or waits for. Undefined when the session is idle. */
export const findActiveTurn = async (db: Db, actor: Actor, sessionId: string): Promise<TurnRow | undefined> => {
  const { activeTurnId } = await requireSession(db, actor, sessionId)
  return activeTurnId === null ? undefined : getTurnRow(db, actor, activeTurnId)
}

/** The agent of the turn that `continue` resumes. VALIDATION_ERROR unless the last turn of the session is incomplete. */
const agentToContinue = async (db: Database, actor: Actor, sessionId: string): Promise<string> => {
  await requireSession(db.hot, actor, sessionId)
  const last = await turnQueries.findLastTurn(db, actor.orgId, sessionId)
  if (last?.status !== 'incomplete') {
    throw validationError('continue requires that the last turn of the session is incomplete.')
  }
  return last.agentId
}

const findReplaced = async (
  db: Database,
  actor: Actor,
  sessionId: string,
  { replaces, regenerates, text, fileIds }: UserMessage,
): Promise<Replaced | undefined> => {
  if (regenerates !== undefined) {
    await requireSession(db.hot, actor, sessionId)
    return getRegenerated(db, actor, { sessionId, replyId: regenerates, text })
  }
  if (replaces === undefined) return undefined
  return getReplaced(db, actor, { sessionId, messageId: replaces, isRetry: text === '' && fileIds.length === 0 })
}

type CallerOptions = Pick<
  TurnCreate,
  'agentId' | 'maxSteps' | 'maxCostCents' | 'onBusy' | 'tools' | 'toolChoice' | 'responseFormat'
>

/** Creates a turn from a user's message, in a transaction of its own. Returns the turn's id; throws like `beginTurn`. */
export const createTurn = async (
  deps: TurnDeps & { toolbox: Toolbox },
  actor: Actor,
  { sessionId, ...message }: UserMessage & { sessionId: string },
  { agentId, maxSteps, maxCostCents, onBusy, tools, toolChoice, responseFormat: asked }: CallerOptions,
): Promise<string> => {
  const continued = message.isContinued === true ? await agentToContinue(deps.db, actor, sessionId) : undefined
  const replaced = await findReplaced(deps.db, actor, sessionId, message)
  const callerTools = readCallerTools(tools, toolChoice)
  const responseFormat = readResponseFormat(asked)
  if (callerTools) {
    const answering =
      agentId ?? continued ?? replaced?.agentId ?? (await requireSession(deps.db.hot, actor, sessionId)).agentId
    await checkCallerTools(deps, actor, answering, callerTools)
  }
  // The files of a message that is sent again are checked when the model is shown them, as in any later turn.
  const parts = replaced?.isRetry === true ? replaced.parts : await toMessageParts(deps.db, actor, message)
  const fileIds = parts.flatMap((part) => (part.type === 'file' ? [part.fileId] : []))
  const areOwn = await Promise.all(fileIds.map((id) => isOwnName(deps.db, actor, id)))
  const untrustedFrom = areOwn.includes(false) ? ('file' as const) : null
  // The options are listed one by one: the request body may contain other fields of TurnRequest, such as `author`.
  const turn = {
    sessionId,
    parts,
    agentId: agentId ?? continued ?? replaced?.agentId,
    replaced,
    maxSteps,
    maxCostCents,
    onBusy,
    untrustedFrom,
    callerTools,
    responseFormat,
  }
  return deps.db.transaction(actor, (db) => beginTurn(db, deps, actor, turn))
}

/** Cancels a turn. Returns false when the turn had already ended in another way. */
export const cancelTurn = async (deps: TurnDeps, actor: Actor, turnId: string): Promise<boolean> => {
  const { db } = deps
  const turn = await getTurnRow(db.hot, actor, turnId)
  return db.transaction(actor, async (db) => {
    const session = await queries.lockSession(db, actor.orgId, turn.sessionId)
    if (!session) throw notFound('Turn')
    return cancelLockedTurn(db, deps, { author: actor, workspaceId: session.workspaceId }, turnId)
  })
}

/** Cancels the active turn of a session and the queued turns behind it. Returns false when there is none. */
export const cancelSession = async (deps: TurnDeps, actor: Actor, sessionId: string): Promise<boolean> => {
  const { db } = deps
  await requireSession(db.hot, actor, sessionId)
  return db.transaction(actor, async (db) => {
    const session = await queries.lockSession(db, actor.orgId, sessionId)
    if (!session) throw notFound('Session')
    const scope = { author: actor, workspaceId: session.workspaceId }
    return (await cancelUnfinishedTurns(db, deps, scope, sessionId)) > 0
  })
}
