import type { IncomingMessage, ServerResponse } from 'node:http'

/**
 * Calls `listener` when a request or a response has closed: after `close`, or soon if it has closed already. A client can
 * disconnect while a handler waits, for example for a query, and a listener that is added after that is never called.
 * Returns a function that removes the listener.
 */
export const onceClosed = (raw: IncomingMessage | ServerResponse, listener: () => void): (() => void) => {
  if (!raw.closed) {
    raw.once('close', listener)
    return () => void raw.off('close', listener)
  }
  let isRemoved = false
  // As for an event, the caller has set up everything when the listener runs.
  process.nextTick(() => {
    if (!isRemoved) listener()
  })
  return () => {
    isRemoved = true
  }
}

/** Cuts off a request. It is handled like a closed connection, so that the stored part of an upload is removed. */
export const cutOff = (raw: IncomingMessage, why: string): void => {
  raw.destroy(Object.assign(new Error(why), { code: 'ECONNRESET' }))
}
