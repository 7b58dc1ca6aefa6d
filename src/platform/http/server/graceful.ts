import type { App } from '../http.ts'
import type { Log } from '../../process/log.ts'

export interface StopOptions {
  /** Undefined in a worker that does not listen. */
  app: App | undefined
  /** Starts no further jobs and waits for running ones until the deadline. */
  stopJobs: (options: { deadlineMs: number }) => Promise<void>
  /** Closes the resources of requests and jobs after both have ended. */
  close: () => Promise<void>
  deadlineMs: number
  log: Log
}

const sweepEveryMs = 50

/**
 * Closes connections when their responses are sent, and all others at the deadline. Closing the server closes only
 * connections that are idle at that moment; a connection whose stream ends later would stay open for its keep-alive time.
 */
const closeServer = async (app: App, deadlineMs: number, log: Log): Promise<void> => {
  const cutOff = setTimeout(() => {
    log.warn('stopping: requests that took too long are cut off')
    app.server.closeAllConnections()
  }, deadlineMs)
  const sweep = setInterval(() => app.server.closeIdleConnections(), sweepEveryMs)
  try {
    await app.close()
  } finally {
    clearInterval(sweep)
    clearTimeout(cutOff)
  }
}

/**
 * Graceful stop: accepts no new connections, completes running responses with `Connection: close`, ends streams by
 * `app.stopping` and waits for running jobs. Requests and jobs end at the same time, so that both have the whole
 * deadline. Then calls `close`. When one part fails, the others are stopped as well, and the first error is thrown.
 */
export const stopGracefully = async (options: StopOptions): Promise<void> => {
  const { app, stopJobs, close, deadlineMs, log } = options
  const results = await Promise.allSettled([
    app === undefined ? undefined : closeServer(app, deadlineMs, log),
    stopJobs({ deadlineMs }),
  ])
  const closed = await Promise.allSettled([close()])
  const failed = [...results, ...closed].find((one) => one.status === 'rejected')
  if (failed) throw failed.reason
}
