import { lazy, Suspense, useEffect, useState } from 'react'
import { importWithRetry } from '../load-page.ts'

export interface TooltipTarget {
  element: HTMLElement
  text: string
  shortcut?: string | undefined
}

/** The attributes of an element with a tooltip, which `Tooltips` shows. */
export const tooltip = (text: string, shortcut?: string) => ({
  'data-tooltip': text,
  'data-tooltip-shortcut': shortcut,
})

/** The attributes of a disabled element whose tooltip says why. */
export const reasonTooltip = (reason: string) => ({ ...tooltip(reason), 'aria-description': reason })

/** The component of open tooltips, which no page needs at its start. */
export const loadTooltips = () => import('./tooltip-popup.tsx')

const Popup = lazy(async () => ({ default: (await loadTooltips()).TooltipPopup }))

const delayMs = 350
/** After a tooltip was hidden, the next one is shown at once for this time. */
const groupMs = 400

const targetOf = (element: Element | null): TooltipTarget | undefined => {
  const found = element?.closest<HTMLElement>('[data-tooltip]')
  const { tooltip: text, tooltipShortcut: shortcut } = found?.dataset ?? {}
  return found && text !== undefined ? { element: found, text, shortcut } : undefined
}

const elementOf = ({ target }: Event): Element | null => (target instanceof Element ? target : null)

/** Calls `show` with the element whose tooltip the pointer or the keyboard asks for, or with undefined to hide it. */
const watch = (show: (target: TooltipTarget | undefined) => void, signal: AbortSignal): void => {
  let timer: number | undefined
  let shown: Element | undefined
  let hiddenAt = -Infinity
  const change = (target: TooltipTarget | undefined, delay: number): void => {
    clearTimeout(timer)
    if (target === undefined && shown !== undefined) hiddenAt = performance.now()
    shown = undefined
    const open = (): void => {
      shown = target?.element
      show(target)
    }
    if (target === undefined || delay === 0) open()
    else timer = window.setTimeout(open, delay)
  }
  const on = <K extends keyof DocumentEventMap>(type: K, listener: (event: DocumentEventMap[K]) => void): void =>
    document.addEventListener(type, listener, { signal, passive: true, capture: true })
  on('pointerover', (event) => {
    if (event.pointerType === 'touch') return
    const element = elementOf(event)
    // The text of a tooltip can be reached by the pointer (WCAG 1.4.13).
    if (element?.closest('[data-tooltip-popup]')) return
    const target = targetOf(element)
    if (target && target.element === shown) return
    change(target, performance.now() - hiddenAt < groupMs ? 0 : delayMs)
  })
  on('focusin', (event) => {
    const target = targetOf(elementOf(event))
    change(target?.element.matches(':focus-visible') ? target : undefined, 0)
  })
  on('focusout', () => change(undefined, 0))
  on('pointerdown', () => change(undefined, 0))
  on('keydown', ({ key }) => key === 'Escape' && change(undefined, 0))
}

/** Shows the tooltips of all elements with the attributes of `tooltip`: a component in each would make long lists slow. */
export const Tooltips = () => {
  const [target, setTarget] = useState<TooltipTarget>()
  const [isLoaded, setLoaded] = useState(false)
  useEffect(() => {
    const abort = new AbortController()
    watch(setTarget, abort.signal)
    return () => abort.abort()
  }, [])
  const isWanted = target !== undefined
  useEffect(() => {
    // Without it, buttons have no tooltips, but still their labels.
    if (isWanted && !isLoaded)
      importWithRetry(loadTooltips).then(
        () => setLoaded(true),
        () => undefined,
      )
  }, [isWanted, isLoaded])
  return (
    isLoaded && (
      <Suspense>
        <Popup target={target} onClose={() => setTarget(undefined)} />
      </Suspense>
    )
  )
}
