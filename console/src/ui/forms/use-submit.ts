import { useState } from 'react'

export interface Submit {
  busy: boolean
  /** The error of the last attempt. */
  error: unknown
  submit: () => void
}

const isCancelled = (error: unknown): boolean => error instanceof DOMException && error.name === 'AbortError'

/** Runs an async action with busy and error state; calls while it runs are ignored. */
export const useSubmit = (work: () => Promise<unknown>): Submit => {
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>(undefined)
  const submit = (): void => {
    if (busy) return
    setBusy(true)
    setError(undefined)
    work()
      .catch((failure: unknown) => {
        // Closing a confirmation is no error.
        if (!isCancelled(failure)) setError(failure)
      })
      .finally(() => setBusy(false))
  }
  return { busy, error, submit }
}
