import { t } from '@lingui/core/macro'
import { useEffect, useRef } from 'react'
import type { ReactNode } from 'react'
import { useBlocker } from 'react-router'
import { ConfirmDialog } from '../../ui/forms/form-dialog.tsx'

/** Asks for confirmation before unsaved changes are lost by navigation. After saving, `release` allows the next one. */
export const useUnsavedChangesGuard = (isDirty: boolean): { dialog: ReactNode; release: () => void } => {
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
  const dialog = (
    <ConfirmDialog
      open={blocker.state === 'blocked'}
      onClose={() => blocker.reset?.()}
      title={t`Discard changes?`}
      description={t`You have unsaved changes. They will be lost if you leave this page.`}
      action={t`Discard changes`}
      form={{ submit: () => blocker.proceed?.() }}
    />
  )
  return {
    dialog,
    release: () => {
      released.current = true
    },
  }
}
