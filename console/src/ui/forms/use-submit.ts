import { useState } from 'react'

export interface Submit {
  busy: boolean
  /** What the last attempt failed with. */
  error: unknown
  submit: () => void
}

const isCancelled = (error: unknown): boolean => error instanceof DOMException && error.name === 'AbortError'

/** A form's one piece of work: busy meanwhile, with what went wrong afterwards, never twice at once. */
export const useSubmit = (work: () => Promise<unknown>): Submit => {
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>(undefined)
  const submit = (): void => {
    if (busy) return
    setBusy(true)
    setError(undefined)
    work()
      .catch((failure: unknown) => {
        // Somebody who closed the question knows that it was not done.
        if (!isCancelled(failure)) setError(failure)
      })
      .finally(() => setBusy(false))
  }
  return { busy, error, submit }
}
