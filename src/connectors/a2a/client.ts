import { setTimeout as delay } from 'node:timers/promises'
import { chainHeadersOf, currentChain, maxDepth } from '../../outbox/chain.ts'
import type { ChainHeaders } from '../../outbox/chain.ts'
import { validationError } from '../../platform/http/errors.ts'
import { newId } from '../../platform/ids.ts'
import type { Access, ConnectionRef } from '../connections/access.ts'
import { callConnection } from '../connections/calls.ts'
import { ProviderError } from '../connections/provider-error.ts'
import { callProvider } from '../connections/provider.ts'
import type { AccessDeps, ProviderDeps } from '../deps.ts'
import { cardUrlOf, readAgentCard } from './agent-card.ts'
import type { RemoteAgent } from './agent-card.ts'
import { isWorking, messageParams, methodName, readResult } from './messages.ts'
import type { Method, OutgoingMessage, RemoteTask } from './messages.ts'

export interface A2aDeps extends AccessDeps {
  chains: ChainHeaders
}

/** A remote agent, and the connection whose credentials it gets. */
export interface Target {
  ref: ConnectionRef
  agent: RemoteAgent
}

/** Some agents reply before they return, although they were asked not to. */
const sendTimeoutMs = 45_000
const requestTimeoutMs = 10_000
/** How long a message waits for the end of its task. With the last request it is below the limit of a tool, 60 s. */
const longestWaitMs = 45_000
/** What a turn keeps of its own time, so that the agent can still reply. */
const reserveMs = 5_000
const firstPauseMs = 250
const longestPauseMs = 3_000
const cancelTimeoutMs = 5_000

/** Reads the agent card with credentials that are not stored yet. */
export const inspectAgent = async (deps: ProviderDeps, access: Access): Promise<RemoteAgent> => {
  const url = cardUrlOf(access.secrets['url'] ?? '')
  const { body } = await callProvider(deps, access, { method: 'GET', endpoint: url.href })
  return readAgentCard(body, url)
}

/**
 * The header by which a server of Atrium recognizes that agents message each other in a circle. VALIDATION_ERROR when
 * this message would be the sixth of its chain.
 */
const chainHeaders = (chains: ChainHeaders, orgId: string): Record<string, string> => {
  const chain = currentChain()
  const depth = (chain?.depth ?? 0) + 1
  if (depth > maxDepth) throw validationError(`Messages between A2A agents go at most ${maxDepth} agents deep.`)
  return chainHeadersOf(chains, orgId, { id: chain?.id ?? newId(), depth })
}

interface Call {
  params: Record<string, unknown>
  signal: AbortSignal
  timeoutMs?: number
}

const call = async (
  deps: A2aDeps,
  { ref, agent }: Target,
  method: Method,
  { params, signal, timeoutMs = requestTimeoutMs }: Call,
): Promise<RemoteTask> => {
  const { endpoint, revision, tenant } = agent
  const { body, truncated } = await callConnection(
    { requestTimeoutMs: timeoutMs, ...deps },
    ref,
    {
      method: 'POST',
      endpoint,
      json: {
        jsonrpc: '2.0',
        id: newId(),
        method: methodName(method, revision),
        params: tenant === undefined ? params : { ...params, tenant },
      },
      headers: { ...(revision === '1.0' ? { 'a2a-version': revision } : {}), ...chainHeaders(deps.chains, ref.orgId) },
    },
    { signal },
  )
  if (truncated) throw new ProviderError('unavailable', 'The A2A agent sent a response of more than 1 MB.')
  const task = readResult((body as { result?: unknown } | null)?.result)
  if (!task) throw new ProviderError('unavailable', 'The A2A agent sent a response without a task or message.')
  return task
}

/** Asks for the task until the agent no longer works on it or the time is over. Returns the last state. */
const waitForTask = async (
  deps: A2aDeps,
  target: Target,
  first: RemoteTask,
  { signal, deadlineMs }: { signal: AbortSignal; deadlineMs: number },
): Promise<RemoteTask> => {
  let task = first
  for (let pauseMs = firstPauseMs; isWorking(task); pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
    if (performance.now() + pauseMs > deadlineMs) break
    await delay(pauseMs, undefined, { signal })
    try {
      task = await call(deps, target, 'get', { params: { id: first.taskId }, signal })
    } catch (error) {
      // The task goes on without us; only its state is unknown for a moment.
      if (!(error instanceof ProviderError) || error.failure !== 'unavailable') throw error
    }
  }
  return task
}

/** Tells the agent that nobody waits any more, once and without an effect on the end of the turn. */
const cancelAbandoned = async (deps: A2aDeps, target: Target, task: RemoteTask): Promise<void> => {
  try {
    const signal = AbortSignal.timeout(cancelTimeoutMs)
    await call(deps, target, 'cancel', { params: { id: task.taskId }, signal, timeoutMs: cancelTimeoutMs })
  } catch (error) {
    deps.log.info({ err: error, connectionId: target.ref.id }, 'task of an A2A agent was not cancelled')
  }
}

/**
 * Sends a message and waits up to 45 s for the end of its task, which may continue. When the turn ends before, the task is
 * cancelled. `leftMs` is the remaining time of the turn.
 */
export const sendMessage = async (
  deps: A2aDeps,
  target: Target,
  message: OutgoingMessage,
  { signal, leftMs }: { signal: AbortSignal; leftMs: number },
): Promise<RemoteTask> => {
  const deadlineMs = performance.now() + Math.min(longestWaitMs, leftMs - reserveMs)
  const params = messageParams(message, target.agent.revision)
  const first = await call(deps, target, 'send', { params, signal, timeoutMs: sendTimeoutMs })
  try {
    return await waitForTask(deps, target, first, { signal, deadlineMs })
  } catch (error) {
    if (signal.aborted && first.taskId !== null) await cancelAbandoned(deps, target, first)
    throw error
  }
}

export const getTask = (deps: A2aDeps, target: Target, taskId: string, signal: AbortSignal): Promise<RemoteTask> =>
  call(deps, target, 'get', { params: { id: taskId }, signal })

export const cancelTask = (deps: A2aDeps, target: Target, taskId: string, signal: AbortSignal): Promise<RemoteTask> =>
  call(deps, target, 'cancel', { params: { id: taskId }, signal })
