import type { App } from '../http.ts'
import type { Log } from '../../process/log.ts'

export interface StopOptions {
  /** Undefined in a process that only works. */
  app: App | undefined
  /** Takes no more jobs and lets those that run finish, until the deadline. */
  stopJobs: (options: { deadlineMs: number }) => Promise<void>
  /** Closes what requests and jobs used; runs when both have come to their end. */
  close: () => Promise<void>
  deadlineMs: number
  log: Log
}

const sweepEveryMs = 50

/**
 * Ends the server's connections as their answers get out, and at the deadline those that are still open. Closing the
 * server closes only what is idle at that moment; a connection whose stream ends later would stay for the rest of its
 * keep-alive time, and the server with it.
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
 * Stops without losing anything: no new connections, answers that are on their way get out (each with
 * `Connection: close`), streams are told to end by `app.stopping`, running jobs finish; requests and jobs at the same
 * time, so that both have the whole deadline. Then `close`. Resolves shortly after the deadline at the latest, if
 * `close` does. When one part fails the others are stopped all the same, and the first failure is thrown at the end.
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
