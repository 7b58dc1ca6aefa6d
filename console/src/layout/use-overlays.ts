import { t } from '@lingui/core/macro'
import { useEffect, useState } from 'react'
import { importWithRetry, PageLoadError } from '../load-page.ts'
import { loadStepUp } from '../step-up.tsx'
import { loadMenus } from '../ui/forms/menu.tsx'
import { loadToasts, toast } from '../ui/toast.tsx'
import { loadTooltips } from '../ui/tooltip.tsx'
import type { Overlay } from './overlays.tsx'

export const loadOverlays = () => import('./overlays.tsx')

const inputs = ['pointermove', 'pointerdown', 'keydown'] as const

// Before a person can ask for any of it. Failures are reported when it is needed.
const loadAhead = (): void => {
  for (const load of [loadMenus, loadTooltips, loadOverlays, loadStepUp, loadToasts]) void load().catch(() => undefined)
}

/** What is open above the page; loads it before it opens, and ahead with the first input of the person. */
export const useOverlays = () => {
  const [open, setOpen] = useState<Overlay>()
  const [isUsed, setUsed] = useState(false)
  useEffect(() => {
    const abort = new AbortController()
    const onInput = (): void => {
      abort.abort()
      loadAhead()
    }
    for (const input of inputs) window.addEventListener(input, onInput, { signal: abort.signal, passive: true })
    return () => abort.abort()
  }, [])
  const change = (update: (now: Overlay | undefined) => Overlay | undefined): void => {
    importWithRetry(loadOverlays).then(
      () => {
        setUsed(true)
        setOpen(update)
      },
      (error: unknown) => toast.failed(t`The dialog could not be loaded`, new PageLoadError(error)),
    )
  }
  return { open, isUsed, change }
}
