import type { Client } from './client.ts'
import { reconnecting } from './reconnect.ts'
import type { StreamOptions } from './reconnect.ts'
import type { Event } from './types.ts'

export interface EventStreamOptions extends StreamOptions {
  /** Event types such as `agent.*`, at most 50. Default: all. */
  types?: readonly string[] | undefined
  /** Continue after this position, such as that of the last event that you processed. 0: the first event that is kept. Default: now. */
  after?: number | string | undefined
  /**
   * Called when a connection is open, with the position at which it begins. `isGap` is true when that is not where the
   * last one ended: the log has been restored from a backup.
   */
  onOpen?: ((begin: { position: number; isGap: boolean }) => void) | undefined
}

/**
 * The events of the org as they happen, for `for await`. Reconnects without a gap and without a repetition. Store
 * `position` after you have processed an event, and pass it as `after` when your program starts again: so it processes
 * every event. Ends with an AtriumError when the caller loses access.
 */
export async function* streamEvents(
  client: Client,
  { types = [], after, onOpen, ...options }: EventStreamOptions = {},
): AsyncGenerator<Event, void, undefined> {
  let position = after === undefined ? undefined : String(after)
  const query = { types: types.length === 0 ? undefined : types.join(',') }
  const connect = async (signal: AbortSignal) => {
    const headers = position === undefined ? {} : { 'last-event-id': position }
    const { body } = await client.send('GET /events/stream', { query, headers, signal })
    return body ?? undefined
  }
  for await (const { id, name, data } of reconnecting(connect, options)) {
    // `end`: the server stops. `error`: the caller lost access, and the next connection fails with the reason.
    if (id === undefined) continue
    const isGap = position !== undefined && position !== id
    position = id
    if (name === 'open') onOpen?.({ position: Number(id), isGap })
    else if (name === 'message') yield JSON.parse(data) as Event
  }
}
