import { t } from '@lingui/core/macro'
import { ContextMenu as BaseContext } from '@base-ui/react/context-menu'
import { Menu as Base } from '@base-ui/react/menu'
import type { ReactElement, ReactNode } from 'react'
import { useNavigate } from 'react-router'
import { classNames } from '../class-names.ts'
import { KeyboardShortcut } from '../keyboard-shortcut.tsx'
import styles from './menu.module.css'

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

export interface MenuProps {
  trigger: ReactElement
  entries: MenuEntries
  /** Shown above the entries. */
  header?: ReactNode
  align?: 'start' | 'end'
  side?: 'top' | 'bottom' | 'right'
}

export const Menu = ({ trigger, entries, header, align = 'end', side = 'bottom' }: MenuProps) => (
  <Base.Root>
    <Base.Trigger render={trigger as ReactElement<Record<string, unknown>>} />
    <Base.Portal {...landmark()}>
      <Base.Positioner className={styles['positioner']} sideOffset={5} align={align} side={side}>
        <Base.Popup className={styles['popup']}>
          {header !== undefined && <div className={styles['header']}>{header}</div>}
          <Entries entries={entries} />
        </Base.Popup>
      </Base.Positioner>
    </Base.Portal>
  </Base.Root>
)

/** A menu that opens on right click or long press on `children`. */
export const ContextMenu = ({ entries, children }: { entries: MenuEntries; children: ReactElement }) => (
  <BaseContext.Root>
    <BaseContext.Trigger render={children as ReactElement<Record<string, unknown>>} />
    <BaseContext.Portal {...landmark()}>
      <BaseContext.Positioner className={styles['positioner']}>
        <BaseContext.Popup className={styles['popup']}>
          <Entries entries={entries} />
        </BaseContext.Popup>
      </BaseContext.Positioner>
    </BaseContext.Portal>
  </BaseContext.Root>
)

/** Where a menu without trigger opens: at an element or at pointer coordinates. */
export type MenuAnchor = Element | { x: number; y: number }

const virtualAnchor = ({ x, y }: { x: number; y: number }) => ({ getBoundingClientRect: () => new DOMRect(x, y, 0, 0) })

/** One controlled menu for many rows: a menu component in every row would make long lists slow. */
export const FloatingMenu = ({
  anchor,
  entries,
  onClose,
}: {
  anchor: MenuAnchor | undefined
  entries: MenuEntries
  onClose: () => void
}) => (
  <Base.Root open={anchor !== undefined} onOpenChange={(open) => !open && onClose()} modal={false}>
    <Base.Portal {...landmark()}>
      <Base.Positioner
        className={styles['positioner']}
        anchor={anchor === undefined || anchor instanceof Element ? anchor : virtualAnchor(anchor)}
        align={anchor instanceof Element ? 'end' : 'start'}
        sideOffset={anchor instanceof Element ? 5 : 2}
      >
        <Base.Popup className={styles['popup']}>
          <Entries entries={entries} />
        </Base.Popup>
      </Base.Positioner>
    </Base.Portal>
  </Base.Root>
)
