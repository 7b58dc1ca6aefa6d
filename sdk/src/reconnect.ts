import { AtriumError, offline, timedOut } from './errors.ts'
import { backoffMs, pause } from './retry.ts'
import { readServerSentEvents } from './server-sent-events.ts'
import type { ServerSentEvent } from './server-sent-events.ts'

export interface StreamOptions {
  /** Ends the stream: the iteration rejects with the signal's reason. */
  signal?: AbortSignal | undefined
  /**
   * A connection that receives no bytes for this long, in milliseconds, is considered lost. Default 45,000; the server
   * sends a comment every 15 s. The time in which the caller handles an event does not count.
   */
  silenceMs?: number | undefined
  /** Called before the stream reconnects. `error` is undefined when the server closed the connection. */
  onReconnect?: ((delayMs: number, error: AtriumError | undefined) => void) | undefined
}

const firstDelayMs = 500
const longestDelayMs = 30_000
const defaultSilenceMs = 45_000

/** The signal of one connection, which aborts with that of the caller and after `silenceMs` without `alive`. */
const openConnection = (signal: AbortSignal | undefined, silenceMs: number) => {
  const connection = new AbortController()
  let timer: ReturnType<typeof setTimeout> | undefined
  const alive = (): void => {
    clearTimeout(timer)
    timer = setTimeout(() => connection.abort(timedOut(silenceMs)), silenceMs)
  }
  alive()
  return {
    signal: signal ? AbortSignal.any([signal, connection.signal]) : connection.signal,
    alive,
    /** Nothing is read until the next `alive`, so silence does not mean that the connection is lost. */
    pause: () => clearTimeout(timer),
    close: () => {
      clearTimeout(timer)
      connection.abort()
    },
  }
}

/** Whether a later connection may succeed. Other errors, such as a revoked key, end the stream. */
const isTemporary = ({ status }: AtriumError): boolean =>
  status === 0 || status >= 500 || status === 429 || status === 408

/**
 * The events of one connection after another. `connect` continues after the last event that the caller received, and
 * resolves with undefined when nothing follows. Fails when the first connection fails, and with errors that are not
 * temporary; otherwise it reconnects without a limit, with exponential backoff or after the delay that the server asks for.
 */
export async function* reconnecting(
  connect: (signal: AbortSignal) => Promise<ReadableStream<Uint8Array> | undefined>,
  { signal, silenceMs = defaultSilenceMs, onReconnect }: StreamOptions,
): AsyncGenerator<ServerSentEvent, void, undefined> {
  let isConnected = false
  let failures = 0
  for (;;) {
    const connection = openConnection(signal, silenceMs)
    let askedMs = 0
    let error: AtriumError | undefined
    try {
      const body = await connect(connection.signal)
      if (!body) return
      isConnected = true
      for await (const event of readServerSentEvents(body, connection.alive)) {
        failures = 0
        askedMs = event.retryMs ?? 0
        connection.pause()
        yield event
        connection.alive()
      }
    } catch (caught) {
      signal?.throwIfAborted()
      error = caught instanceof AtriumError ? caught : offline(caught)
      if (!isConnected || !isTemporary(error)) throw error
      askedMs = (error.retryAfterSeconds ?? 0) * 1_000
    } finally {
      connection.close()
    }
    const delayMs = Math.max(askedMs, backoffMs(failures, { firstMs: firstDelayMs, longestMs: longestDelayMs }))
    failures += 1
    onReconnect?.(delayMs, error)
    await pause(delayMs, signal)
  }
}
