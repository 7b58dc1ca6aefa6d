import { Tooltip as Base } from '@base-ui/react/tooltip'
import type { ReactElement } from 'react'
import { KeyboardShortcut } from './keyboard-shortcut.tsx'
import styles from './tooltip.module.css'

export const Tooltip = ({
  text,
  shortcut,
  children,
}: {
  text: string
  shortcut?: string | undefined
  children: ReactElement
}) => (
  <Base.Root>
    <Base.Trigger render={children as ReactElement<Record<string, unknown>>} />
    <Base.Portal>
      <Base.Positioner sideOffset={6} className={styles['positioner']}>
        <Base.Popup className={styles['tooltip']}>
          {text}
          {shortcut !== undefined && <KeyboardShortcut keys={shortcut} />}
        </Base.Popup>
      </Base.Positioner>
    </Base.Portal>
  </Base.Root>
)

export const TooltipProvider = Base.Provider
