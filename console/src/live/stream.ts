// The stream of events of this tab. `EventSource` cannot send the headers that select the org and the workspace.
import { AtriumError, readServerSentEvents } from '@atrium/client'
import type { Event, ServerSentEvent } from '@atrium/client'
import { api } from '../api.ts'
import type { Scope } from '../scope.ts'
import { setConnection } from './connection.ts'
import { watchSilence } from './silence.ts'

export interface StreamHandlers {
  onEvent: (event: Event) => void
  /** The stream begins now: events before it were not received. */
  onGap: () => void
  /** The server does not accept the session, or the workspace, any more. */
  onRejected: () => void
}

/** After a longer interruption the stream begins anew: loading everything costs less than reading the missed events. */
const resumeWithinMs = 60_000
const retry = { firstMs: 500, longestMs: 30_000 }

const isVisible = (): boolean => document.visibilityState !== 'hidden'

/** Resolves after `ms`, and earlier when the tab is shown, hidden or online again, or `signal` aborts. */
const pause = (ms: number | undefined, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const ended = new AbortController()
    const end = (): void => {
      ended.abort()
      resolve()
    }
    const timer = ms === undefined ? undefined : setTimeout(end, ms)
    const { signal: once } = ended
    once.addEventListener('abort', () => clearTimeout(timer))
    document.addEventListener('visibilitychange', end, { signal: once })
    addEventListener('online', end, { signal: once })
    signal.addEventListener('abort', end, { signal: once })
    if (signal.aborted) end()
  })

/** Aborts with `signal`, when the tab is hidden, and when the server is silent: the connection is lost then. */
const openConnection = (signal: AbortSignal) => {
  const connection = watchSilence(signal)
  document.addEventListener('visibilitychange', () => isVisible() || connection.close(), { signal: connection.signal })
  return connection
}

interface Progress {
  /** Position of the last event that was received. */
  position: string
  /** When the connection was known to work, in milliseconds since 1970. */
  aliveAt: number
}

const isRejected = (error: unknown): boolean => error instanceof AtriumError && [401, 403, 404].includes(error.status)

/** Returns a function that receives events until the connection ends, and resolves with the pause before the next one. */
const createConnect = ({ orgId, workspaceId }: Scope, { onEvent, onGap, onRejected }: StreamHandlers) => {
  let progress: Progress | undefined
  let failures = 0

  const receive = ({ lastId, name, data }: ServerSentEvent, resumed: string | undefined): void => {
    if (name === 'error') return onRejected()
    // The server stops; the connection ends by itself, and the next one continues at another process.
    if (name === 'end') return
    progress = { position: lastId, aliveAt: Date.now() }
    if (name !== 'open') return onEvent(JSON.parse(data) as Event)
    failures = 0
    setConnection('connected')
    // The server begins elsewhere when it does not know the position, such as after a backup was restored.
    if (lastId !== resumed) onGap()
  }

  return async (signal: AbortSignal): Promise<number> => {
    const connection = openConnection(signal)
    const resumed = progress && Date.now() - progress.aliveAt < resumeWithinMs ? progress.position : undefined
    const onBytes = (): void => {
      connection.alive()
      if (progress) progress.aliveAt = Date.now()
    }
    let askedMs = 0
    try {
      const headers = {
        ...(orgId !== undefined && { 'x-org-id': orgId }),
        ...(workspaceId !== undefined && { 'x-workspace-id': workspaceId }),
        ...(resumed !== undefined && { 'last-event-id': resumed }),
      }
      const { body } = await api.send('GET /events/stream', { signal: connection.signal, headers })
      for await (const event of readServerSentEvents(body ?? new ReadableStream(), onBytes)) {
        if (connection.signal.aborted) break
        receive(event, resumed)
      }
    } catch (error) {
      if (isRejected(error) && !connection.signal.aborted) onRejected()
      if (error instanceof AtriumError) askedMs = (error.retryAfterSeconds ?? 0) * 1_000
    } finally {
      connection.close()
    }
    const pauseMs = Math.min(retry.firstMs * 2 ** failures, retry.longestMs)
    failures += 1
    return Math.max(askedMs, pauseMs * (0.5 + Math.random() / 2))
  }
}

const follow = async (connect: ReturnType<typeof createConnect>, signal: AbortSignal): Promise<void> => {
  while (!signal.aborted) {
    setConnection('connecting')
    if (isVisible()) {
      const pauseMs = await connect(signal)
      if (signal.aborted || !isVisible()) continue
      setConnection('disconnected')
      await pause(pauseMs, signal)
    } else await pause(undefined, signal)
  }
}

/** Receives the events of an org while the tab is visible. Returns a function that ends it. */
export const followEvents = (scope: Scope, handlers: StreamHandlers): (() => void) => {
  const stopped = new AbortController()
  void follow(createConnect(scope, handlers), stopped.signal)
  return () => stopped.abort()
}
