import type { AgentCard, StreamResponse, Task } from '@a2a-js/sdk'
import type { A2ARequestHandler } from '@a2a-js/sdk/server'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { AgentRow } from '../../agents/agents.ts'
import { may } from '../../identity/actor.ts'
import { currentChain, hopsOf, inChain, maxDepth, withHops } from '../../outbox/chain.ts'
import { forbidden } from '../../platform/http/errors.ts'
import { isUuid } from '../../platform/ids.ts'
import { longestTurnMs, waitForTurn } from '../../sessions/streams/wait-for-turn.ts'
import { cancelTurn } from '../../sessions/turns/turns.ts'
import { listTasks } from './list-tasks.ts'
import { createPushMethods } from './push/methods.ts'
import type { PushRevision } from './push/queries.ts'
import { startTask } from './send.ts'
import type { SendDeps, StartedTask } from './send.ts'
import { findOwnTurn, states, toTask } from './tasks.ts'
import type { Details } from './tasks.ts'
import { taskUpdates } from './updates.ts'

interface Call {
  request: FastifyRequest
  reply: FastifyReply
  agent: AgentRow
  revision: PushRevision
}

const lastStates = new Set<number>([states.completed, states.failed, states.cancelled])

/** The methods of the protocol for one request. They keep no state: any process can answer any request. */
export const createHandler = (deps: SendDeps, { request, reply, agent, revision }: Call): A2ARequestHandler => {
  const { db, config, streams, sdk } = deps
  const { actor } = request
  const { errors } = sdk

  const allow = async (permission: 'sessions:read' | 'sessions:write', limit: 'reads' | 'writes' | 'turns') => {
    if (!may(actor, permission)) throw forbidden(`This needs the permission ${permission}.`)
    await request.takeRateLimit(limit)
  }
  const getOwn = async (id: string): Promise<Details> => {
    const details = isUuid(id) ? await findOwnTurn(db.hot, actor, agent.id, id) : undefined
    if (!details) throw new errors.TaskNotFoundError({ message: 'Task not found' })
    return details
  }
  const read = async (id: string, historyLength: number | undefined): Promise<Task> =>
    toTask(db.hot, actor, await getOwn(id), historyLength)
  const start = async (params: Parameters<A2ARequestHandler['sendMessage']>[0]): Promise<StartedTask> => {
    await allow('sessions:write', 'turns')
    // Agents of several orgs or servers can message each other in a circle, too.
    const hops = hopsOf(request.headers)
    if (hops > maxDepth) {
      throw new errors.UnsupportedOperationError({
        message: `Messages between agents go at most ${maxDepth} agents deep.`,
      })
    }
    return inChain(withHops(currentChain(), hops), () => startTask(deps, { actor, agent, revision }, params))
  }

  return {
    // The library reads the capabilities from it.
    getAgentCard: () => Promise.resolve({ capabilities: { streaming: true, pushNotifications: true } } as AgentCard),
    getAuthenticatedExtendedAgentCard: () =>
      Promise.reject(new errors.UnsupportedOperationError({ message: 'The agent card is the only one.' })),
    sendMessage: async (params) => {
      const { turnId, isNew } = await start(params)
      const { configuration } = params
      if (configuration?.returnImmediately !== true) {
        const timeoutMs = longestTurnMs(config.turnLimitMs)
        await waitForTurn(request, reply, streams, { turnId, timeoutMs, isFresh: isNew })
      }
      return read(turnId, configuration?.historyLength)
    },
    sendMessageStream: async function* send(params): AsyncGenerator<StreamResponse, void, undefined> {
      const { turnId } = await start(params)
      const historyLength = params.configuration?.historyLength
      yield* taskUpdates(deps, request, reply, { turnId, historyLength, read: () => getOwn(turnId) })
    },
    resubscribe: async function* subscribe({ id }): AsyncGenerator<StreamResponse, void, undefined> {
      await allow('sessions:read', 'reads')
      const { turn } = await getOwn(id)
      if (lastStates.has(states[turn.status])) {
        throw new errors.UnsupportedOperationError({ message: 'The task has ended. GetTask returns it.' })
      }
      yield* taskUpdates(deps, request, reply, {
        turnId: id,
        historyLength: undefined,
        read: () => getOwn(id),
      })
    },
    getTask: async ({ id, historyLength }) => {
      await allow('sessions:read', 'reads')
      return read(id, historyLength)
    },
    cancelTask: async ({ id }) => {
      await allow('sessions:write', 'writes')
      const { turn } = await getOwn(id)
      if (lastStates.has(states[turn.status]) || !(await cancelTurn(deps, actor, id))) {
        throw new errors.TaskNotCancelableError({ message: 'The task has ended.' })
      }
      return read(id, undefined)
    },
    listTasks: async (params) => {
      await allow('sessions:read', 'reads')
      return listTasks(deps, actor, agent, params)
    },
    ...createPushMethods(deps, { actor, revision, allow, requireOwn: getOwn }),
  }
}
