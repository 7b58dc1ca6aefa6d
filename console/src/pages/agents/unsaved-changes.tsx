import { useEffect, useRef } from 'react'
import type { ReactNode } from 'react'
import { useBlocker } from 'react-router'
import { ConfirmDialog } from '../../ui/forms/form-dialog.tsx'

/** Asks before changes are lost by leaving the page. `release` lets the next step go, after they were saved. */
export const useUnsavedChangesGuard = (isDirty: boolean): { question: ReactNode; release: () => void } => {
  const released = useRef(false)
  const blocker = useBlocker(
    ({ currentLocation, nextLocation }) =>
      isDirty && !released.current && currentLocation.pathname !== nextLocation.pathname,
  )
  useEffect(() => {
    if (!isDirty) return undefined
    const warn = (event: BeforeUnloadEvent): void => event.preventDefault()
    window.addEventListener('beforeunload', warn)
    return () => window.removeEventListener('beforeunload', warn)
  }, [isDirty])
  const question = (
    <ConfirmDialog
      open={blocker.state === 'blocked'}
      onClose={() => blocker.reset?.()}
      title="Leave without saving?"
      description="What you changed here is lost then."
      action="Leave without saving"
      form={{ submit: () => blocker.proceed?.() }}
    />
  )
  return {
    question,
    release: () => {
      released.current = true
    },
  }
}
