import { Tooltip } from '@base-ui/react/tooltip'
import type { ReactElement } from 'react'
import { Kbd } from './kbd.tsx'
import styles from './tip.module.css'

/** A few words beside what the pointer or the focus is on. */
export const Tip = ({
  text,
  shortcut,
  children,
}: {
  text: string
  shortcut?: string | undefined
  children: ReactElement
}) => (
  <Tooltip.Root>
    <Tooltip.Trigger render={children as ReactElement<Record<string, unknown>>} />
    <Tooltip.Portal>
      <Tooltip.Positioner sideOffset={6} className={styles['positioner']}>
        <Tooltip.Popup className={styles['tip']}>
          {text}
          {shortcut !== undefined && <Kbd keys={shortcut} />}
        </Tooltip.Popup>
      </Tooltip.Positioner>
    </Tooltip.Portal>
  </Tooltip.Root>
)

export const TipProvider = Tooltip.Provider
