/** The server sends a comment every 15 s. */
const silentMs = 40_000

/** A connection that aborts with `signal`, and when `alive` was not called for 40 s: it is lost then. */
export const watchSilence = (signal: AbortSignal) => {
  const connection = new AbortController()
  let timer: ReturnType<typeof setTimeout> | undefined
  const close = (): void => connection.abort()
  const alive = (): void => {
    clearTimeout(timer)
    timer = setTimeout(close, silentMs)
  }
  connection.signal.addEventListener('abort', () => clearTimeout(timer))
  signal.addEventListener('abort', close, { signal: connection.signal })
  if (signal.aborted) close()
  else alive()
  return { signal: connection.signal, alive, close }
}
