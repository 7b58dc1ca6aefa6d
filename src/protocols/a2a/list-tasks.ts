import type { ListTasksRequest, ListTasksResponse } from '@a2a-js/sdk'
import type { AgentRow } from '../../agents/agents.ts'
import type { Actor } from '../../identity/actor.ts'
import { workspaceOf } from '../../identity/actor.ts'
import type { Db } from '../../platform/database/database.ts'
import { isUuid } from '../../platform/ids.ts'
import { isStorable } from '../../platform/text/moments.ts'
import { findTurnMessage } from '../../sessions/turns/details-queries.ts'
import * as queries from './queries.ts'
import type { ListedTurn, TurnPosition } from './queries.ts'
import { malformed } from './sdk.ts'
import type { Sdk } from './sdk.ts'
import { states, taskOfRow } from './tasks.ts'

const pageSizes = { default: 50, max: 100 }
/** Of tasks with replies or messages, which can be megabytes each. A page may be smaller than the client asked for. */
const maxWhole = 10

type Status = keyof typeof states

const statusesOf = (sdk: Sdk, state: number): Status[] | null => {
  if (state === 0) return null
  if (state < 0) throw malformed(sdk, 'status must be a state of a task')
  return (Object.keys(states) as Status[]).filter((status) => states[status] === state)
}

const pageSizeOf = (sdk: Sdk, given: number | undefined): number => {
  const size = given ?? pageSizes.default
  if (!Number.isInteger(size) || size < 1 || size > pageSizes.max) {
    throw malformed(sdk, `pageSize must be 1–${pageSizes.max}`)
  }
  return size
}

const timeOf = (sdk: Sdk, text: string | undefined): string | null => {
  if (text === undefined || text === '') return null
  const ms = Date.parse(text)
  if (!isStorable(ms)) throw malformed(sdk, 'statusTimestampAfter must be an ISO 8601 time in the years 1–9999')
  return new Date(ms).toISOString()
}

const tokenOf = ({ changedAt, id }: TurnPosition): string => Buffer.from(`${changedAt} ${id}`).toString('base64url')

/** The position of the last task of the page before. */
const positionOf = (sdk: Sdk, token: string): TurnPosition | null => {
  if (token === '') return null
  const [changedAt = '', id = '', ...rest] = Buffer.from(token, 'base64url').toString().split(' ')
  // 18 digits always fit into a bigint, and reach the year 33658.
  if (!/^\d{1,18}$/.test(changedAt) || !isUuid(id) || rest.length > 0) {
    throw malformed(sdk, 'pageToken must be the nextPageToken of another page')
  }
  return { changedAt, id }
}

/**
 * The tasks of the caller with an agent in one context, the latest change first. Without a context the tasks of all
 * sessions would have to be read and sorted for each page. A context that the caller may not see has no tasks.
 */
export const listTasks = async (
  { db, sdk }: { db: { hot: Db }; sdk: Sdk },
  actor: Actor,
  agent: AgentRow,
  params: ListTasksRequest,
): Promise<ListTasksResponse> => {
  const { contextId, includeArtifacts = false, historyLength = 0 } = params
  if (contextId === '') throw new sdk.errors.UnsupportedOperationError({ message: 'contextId is required' })
  const pageSize = pageSizeOf(sdk, params.pageSize)
  const filter = {
    workspaceId: workspaceOf(actor),
    sessionId: contextId,
    userId: actor.userId,
    agentId: agent.id,
    statuses: statusesOf(sdk, params.status),
    after: timeOf(sdk, params.statusTimestampAfter),
  }
  const position = positionOf(sdk, params.pageToken)
  if (!isUuid(contextId)) return { tasks: [], nextPageToken: '', pageSize, totalSize: 0 }
  const withMessage = historyLength > 0
  const limit = includeArtifacts || withMessage ? Math.min(pageSize, maxWhole) : pageSize
  const page = { position, limit: limit + 1, withReply: includeArtifacts }
  const totalSize = await queries.countTasks(db.hot, actor.orgId, filter)
  const found = await queries.listTasks(db.hot, actor.orgId, filter, page)
  const turns = found.slice(0, limit)
  const toTask = async (turn: ListedTurn) =>
    taskOfRow(turn, turn.reply, withMessage ? await findTurnMessage(db.hot, actor.orgId, turn) : undefined)
  const last = found.length > limit ? turns.at(-1) : undefined
  return {
    tasks: await Promise.all(turns.map(toTask)),
    nextPageToken: last ? tokenOf(last) : '',
    pageSize,
    totalSize,
  }
}
