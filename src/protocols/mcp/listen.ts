import { may } from '../../identity/actor.ts'
import type { Actor } from '../../identity/actor.ts'
import { followEvents } from '../../events/stream/follow.ts'
import type { EventStreams } from '../../events/stream/follow.ts'
import type { EventRow } from '../../outbox/queries.ts'
import { tooManyRequests } from '../../platform/http/errors.ts'
import { endWithLastEvent } from '../../platform/http/server-sent-events.ts'
import type { SessionDeps } from '../../sessions/deps.ts'
import { acceptsEvents } from './ask-response.ts'
import { isRecord } from './params.ts'
import { agentSlugOf, agentUri, fileIdOf, fileUri } from './resources.ts'
import { toRevisionResult } from './rpc-context.ts'
import type { RpcContext } from './rpc-context.ts'
import { RpcError, rpcErrorResponse, rpcResult } from './rpc.ts'

export interface McpDeps extends SessionDeps {
  eventStreams: EventStreams
}

const maxUris = 100
/** Per caller and process: each stream reads every event of the org. */
const maxStreams = 10

const subscriptionId = 'io.modelcontextprotocol/subscriptionId'

interface Wanted {
  /** The URIs as the client wrote them, by their usual form: the letters of an ID may be upper case. */
  uris: Map<string, string>
  tools: boolean
  prompts: boolean
  resources: boolean
}

/** The notifications that the client asked for and may get. Whether a resource exists is not revealed. */
const readFilter = (actor: Actor, { notifications }: Record<string, unknown>): Wanted => {
  if (!isRecord(notifications)) throw new RpcError('invalidParams', 'params.notifications must be an object.')
  const { resourceSubscriptions: uris = [] } = notifications
  if (!Array.isArray(uris) || uris.length > maxUris || !uris.every((uri) => typeof uri === 'string')) {
    throw new RpcError('invalidParams', `resourceSubscriptions must be at most ${maxUris} strings.`)
  }
  const readable = new Map<string, string>()
  for (const uri of uris) {
    const id = fileIdOf(uri)
    if (id !== undefined && may(actor, 'files:read')) readable.set(fileUri(id.toLowerCase()), uri)
    else if (agentSlugOf(uri) !== undefined && may(actor, 'agents:read')) readable.set(uri, uri)
  }
  return {
    uris: readable,
    tools: notifications['toolsListChanged'] === true && may(actor, 'connections:read'),
    prompts: notifications['promptsListChanged'] === true && may(actor, 'agents:read') && may(actor, 'sessions:write'),
    resources: notifications['resourcesListChanged'] === true && may(actor, 'files:read'),
  }
}

const honored = ({ uris, tools, prompts, resources }: Wanted): object => ({
  ...(tools ? { toolsListChanged: true } : {}),
  ...(prompts ? { promptsListChanged: true } : {}),
  ...(resources ? { resourcesListChanged: true } : {}),
  ...(uris.size > 0 ? { resourceSubscriptions: [...uris.values()] } : {}),
})

type Change = [method: string, uri?: string]

const isInWorkspace = ({ workspaceId }: EventRow, actor: Actor): boolean =>
  workspaceId === null || workspaceId === actor.workspaceId

/** A file changes itself and the entries of its folder; a moved one also those of the folder before. */
const fileChanges = ({ subjectId, data }: EventRow, { uris, resources }: Wanted): Change[] => {
  const folders = [data['parentId'], data['previousParentId']]
  const touched = [subjectId, ...folders.filter((id) => typeof id === 'string')].map(fileUri)
  const changes: Change[] = touched
    .map((uri) => uris.get(uri))
    .filter((uri) => uri !== undefined)
    .map((uri) => ['notifications/resources/updated', uri])
  if (resources && folders.includes(null)) changes.push(['notifications/resources/list_changed'])
  return changes
}

const agentChanges = (event: EventRow, { uris, prompts }: Wanted): Change[] => {
  const uri = agentUri(String(event.data['slug']))
  const changes: Change[] = uris.has(uri) ? [['notifications/resources/updated', uri]] : []
  if (prompts) changes.push(['notifications/prompts/list_changed'])
  return changes
}

/** The notifications that follow from an event. */
const changesOf = (event: EventRow, wanted: Wanted, actor: Actor): Change[] => {
  const { subjectType, type } = event
  if (subjectType === 'file' || subjectType === 'folder') return fileChanges(event, wanted)
  if (subjectType === 'agent' && isInWorkspace(event, actor)) return agentChanges(event, wanted)
  // The tools of connections are offered to their owners only; the server itself marks connections as broken.
  const isOwn = event.actor.id === actor.userId || event.actor.type === 'system'
  return wanted.tools && isOwn && type.startsWith('connection.') ? [['notifications/tools/list_changed']] : []
}

const frameOf = (message: object): string => `event: message\ndata: ${JSON.stringify(message)}\n\n`

/** Notifications that wait for one write. Several events of one batch cause one notification per resource. */
const createPending = (message: (method: string, params: object) => object) => {
  const frames = new Map<string, string>()
  return {
    add: (changes: Change[]): boolean => {
      for (const [method, uri] of changes) {
        frames.set(`${method} ${uri ?? ''}`, frameOf(message(method, uri === undefined ? {} : { uri })))
      }
      return changes.length > 0
    },
    take: (): string => {
      const text = [...frames.values()].join('')
      frames.clear()
      return text
    },
  }
}

const callerOf = ({ apiKey, userId }: Actor): string => apiKey?.id ?? userId

/** Handles subscriptions/listen of the modern revision: a response that lasts until one side ends it. */
export const createListen = (deps: McpDeps): ((context: RpcContext) => Promise<undefined>) => {
  const streams = new Map<string, number>()

  const reserve = (caller: string): (() => void) => {
    const open = streams.get(caller) ?? 0
    if (open >= maxStreams) {
      throw tooManyRequests(`At most ${maxStreams} subscriptions/listen may be open at the same time.`)
    }
    streams.set(caller, open + 1)
    return () => {
      const left = (streams.get(caller) ?? 1) - 1
      if (left === 0) streams.delete(caller)
      else streams.set(caller, left)
    }
  }

  return async ({ request, reply, era, message: { id, params } }) => {
    const { actor } = request
    const wanted = readFilter(actor, params)
    if (!acceptsEvents(request)) throw new RpcError('invalidRequest', 'Accept must include text/event-stream.')
    const tagged = { [subscriptionId]: id }
    const notification = (method: string, more: object): object => ({
      jsonrpc: '2.0',
      method,
      params: { ...more, _meta: tagged },
    })
    const pending = createPending(notification)
    const release = reserve(callerOf(actor))
    try {
      await followEvents(deps, request, reply, {
        begin: () =>
          frameOf(notification('notifications/subscriptions/acknowledged', { notifications: honored(wanted) })),
        accepts: (event) => pending.add(changesOf(event, wanted, actor)),
        format: pending.take,
        end: (raw) => {
          const { _meta, ...result } = toRevisionResult(era, {}) as { _meta?: object }
          endWithLastEvent(raw, frameOf(rpcResult(id, { ...result, _meta: { ..._meta, ...tagged } })))
        },
        lost: (raw, error) => endWithLastEvent(raw, frameOf(rpcErrorResponse(error, id))),
        closed: release,
      })
    } catch (error) {
      release()
      throw error
    }
    return undefined
  }
}
