import { t } from '@lingui/core/macro'
import { Menu as Base } from '@base-ui/react/menu'
import { useNavigate } from 'react-router'
import { classNames } from '../class-names.ts'
import { KeyboardShortcut } from '../keyboard-shortcut.tsx'
import type { MenuAnchor, MenuEntries, MenuEntry, MenuPlacement } from './menu.tsx'
import styles from './menu.module.css'

/** An open menu is outside of the landmarks of the page, so it is one. */
const landmark = () => ({ role: 'region', 'aria-label': t`Menu` })

const Entry = ({ entry }: { entry: MenuEntry }) => {
  const navigate = useNavigate()
  const { label, icon, onSelect, to, danger, shortcut, disabledReason, checked } = entry
  const isDisabled = typeof disabledReason === 'string'
  const select = (): void => {
    if (to !== undefined) void navigate(to)
    onSelect?.()
  }
  return (
    <Base.Item
      className={classNames(styles['item'], danger === true && styles['danger'])}
      disabled={isDisabled}
      onClick={select}
    >
      <span className={styles['icon']}>{checked === true ? '✓' : icon}</span>
      <span className={styles['label']}>
        {label}
        {isDisabled && <span className={styles['reason']}>{disabledReason}</span>}
      </span>
      {shortcut !== undefined && <KeyboardShortcut keys={shortcut} />}
    </Base.Item>
  )
}

const Entries = ({ entries }: { entries: MenuEntries }) =>
  entries.map((entry, index) =>
    entry === 'separator' ? (
      // oxlint-disable-next-line react/no-array-index-key -- a separator has no other key than its index
      <Base.Separator key={`line-${index}`} className={styles['separator']} />
    ) : (
      <Entry key={entry.label} entry={entry} />
    ),
  )

const virtualAnchor = ({ x, y }: { x: number; y: number }) => ({ getBoundingClientRect: () => new DOMRect(x, y, 0, 0) })

export interface MenuPopupProps extends MenuPlacement {
  /** Undefined while the menu is closed. */
  anchor: MenuAnchor | undefined
  entries: MenuEntries
  /** Whether the keyboard opened the menu: then the first entry is chosen. */
  byKeyboard?: boolean
  /** Whether the page behind the menu is inert. */
  modal?: boolean
  onClose: () => void
}

/** Base UI chooses the first entry by itself only for a menu with a trigger of its own. */
const chooseFirst = (popup: HTMLElement | null): void => {
  requestAnimationFrame(() => popup?.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowDown', bubbles: true })))
}

/** The open part of a menu. A press on the anchor does not close it, because the anchor is a button that does. */
export const MenuPopup = ({
  anchor,
  entries,
  header,
  align,
  side,
  byKeyboard,
  modal = false,
  onClose,
}: MenuPopupProps) => {
  const element = anchor instanceof Element ? anchor : undefined
  return (
    <Base.Root
      open={anchor !== undefined}
      onOpenChange={(open, { event }) => {
        const isOnAnchor = event.target instanceof Node && element?.contains(event.target) === true
        if (!open && !(event.type !== 'keydown' && isOnAnchor)) onClose()
      }}
      modal={modal}
    >
      <Base.Portal {...landmark()}>
        <Base.Positioner
          className={styles['positioner']}
          anchor={anchor === undefined || anchor instanceof Element ? anchor : virtualAnchor(anchor)}
          align={align ?? (element ? 'end' : 'start')}
          side={side ?? 'bottom'}
          sideOffset={element ? 5 : 2}
        >
          <Base.Popup ref={byKeyboard === true ? chooseFirst : null} className={styles['popup']}>
            {header !== undefined && <div className={styles['header']}>{header}</div>}
            <Entries entries={entries} />
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  )
}
