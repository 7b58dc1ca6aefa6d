import { Tooltip as Base } from '@base-ui/react/tooltip'
import { KeyboardShortcut } from './keyboard-shortcut.tsx'
import type { TooltipTarget } from './tooltip.tsx'
import styles from './tooltip.module.css'

export const TooltipPopup = ({ target, onClose }: { target: TooltipTarget | undefined; onClose: () => void }) => (
  <Base.Root open={target !== undefined} onOpenChange={(open) => !open && onClose()}>
    {/* The element has the text as its name or description. */}
    <Base.Portal aria-hidden="true">
      <Base.Positioner anchor={target?.element ?? null} sideOffset={6} className={styles['positioner']}>
        <Base.Popup className={styles['tooltip']} data-tooltip-popup="">
          {target?.text}
          {target?.shortcut !== undefined && <KeyboardShortcut keys={target.shortcut} />}
        </Base.Popup>
      </Base.Positioner>
    </Base.Portal>
  </Base.Root>
)
