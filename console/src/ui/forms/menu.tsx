import { t } from '@lingui/core/macro'
import { cloneElement, lazy, Suspense, useEffect, useEffectEvent, useState } from 'react'
import type { KeyboardEvent, MouseEvent, ReactElement, ReactNode } from 'react'
import { importWithRetry, PageLoadError } from '../../load-page.ts'
import { toast } from '../toast.tsx'

export interface MenuEntry {
  label: string
  icon?: ReactNode
  onSelect?: () => void
  /** Opens this page instead of calling `onSelect`. */
  to?: string
  danger?: boolean
  shortcut?: string
  /** Why the entry is disabled; shown below its label. */
  disabledReason?: string | false | undefined
  checked?: boolean
}

export type MenuEntries = (MenuEntry | 'separator')[]

/** Where a menu without trigger opens: at an element or at pointer coordinates. */
export type MenuAnchor = Element | { x: number; y: number }

export interface MenuPlacement {
  /** Shown above the entries. */
  header?: ReactNode
  align?: 'start' | 'end'
  side?: 'top' | 'bottom' | 'right'
}

/** The component of open menus, which is 40 KB of script that no page needs at its start. */
export const loadMenus = () => import('./menu-popup.tsx')

const Popup = lazy(async () => ({ default: (await loadMenus()).MenuPopup }))

/** One controlled menu for many rows: a menu component in every row would make long lists slow. */
export const FloatingMenu = ({
  anchor,
  onClose,
  ...props
}: MenuPlacement & {
  anchor: MenuAnchor | undefined
  entries: MenuEntries
  byKeyboard?: boolean
  modal?: boolean
  onClose: () => void
}) => {
  const isOpen = anchor !== undefined
  const [isLoaded, setLoaded] = useState(false)
  const onFailed = useEffectEvent((error: unknown) => {
    onClose()
    toast.failed(t`The menu could not be loaded`, new PageLoadError(error))
  })
  useEffect(() => {
    // Not by `lazy` alone: a menu that cannot be loaded would break its page.
    if (isOpen && !isLoaded) importWithRetry(loadMenus).then(() => setLoaded(true), onFailed)
  }, [isOpen, isLoaded])
  return (
    isLoaded && (
      <Suspense>
        <Popup anchor={anchor} onClose={onClose} {...props} />
      </Suspense>
    )
  )
}

interface TriggerProps {
  onClick: (event: MouseEvent<HTMLElement>) => void
  onKeyDown: (event: KeyboardEvent<HTMLElement>) => void
}

export interface MenuProps extends MenuPlacement {
  trigger: ReactElement
  entries: MenuEntries
}

/** A button that opens a menu. */
export const Menu = ({ trigger, align = 'end', ...props }: MenuProps) => {
  const [anchor, setAnchor] = useState<Element>()
  const [byKeyboard, setByKeyboard] = useState(false)
  // A click by the keyboard has no count of clicks.
  const toggle = ({ currentTarget, detail }: { currentTarget: Element; detail: number }): void => {
    setByKeyboard(detail === 0)
    setAnchor(anchor === undefined ? currentTarget : undefined)
  }
  return (
    <>
      {cloneElement(
        trigger as ReactElement<TriggerProps>,
        {
          'aria-haspopup': 'menu',
          'aria-expanded': anchor !== undefined,
          'data-popup-open': anchor === undefined ? undefined : '',
          onClick: toggle,
          onKeyDown: (event: KeyboardEvent<HTMLElement>) => {
            if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return
            event.preventDefault()
            toggle(event)
          },
        } as TriggerProps,
      )}
      <FloatingMenu
        modal
        anchor={anchor}
        align={align}
        byKeyboard={byKeyboard}
        onClose={() => setAnchor(undefined)}
        {...props}
      />
    </>
  )
}
