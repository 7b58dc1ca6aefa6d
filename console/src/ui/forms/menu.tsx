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
  /** A page, instead of something to do. */
  to?: string
  danger?: boolean
  shortcut?: string
  /** Why it cannot be chosen now. */
  disabledReason?: string | false | undefined
  checked?: boolean
}
/** A line between groups. */
export type MenuEntries = (MenuEntry | 'separator')[]

const Entry = ({ entry }: { entry: MenuEntry }) => {
  const navigate = useNavigate()
  const { label, icon, onSelect, to, danger, shortcut, disabledReason, checked } = entry
  const off = typeof disabledReason === 'string'
  const select = (): void => {
    if (to !== undefined) void navigate(to)
    onSelect?.()
  }
  return (
    <Base.Item
      className={classNames(styles['item'], danger === true && styles['danger'])}
      disabled={off}
      onClick={select}
    >
      <span className={styles['icon']}>{checked === true ? '✓' : icon}</span>
      <span className={styles['label']}>
        {label}
        {off && <span className={styles['reason']}>{disabledReason}</span>}
      </span>
      {shortcut !== undefined && <KeyboardShortcut keys={shortcut} />}
    </Base.Item>
  )
}

const Entries = ({ entries }: { entries: MenuEntries }) =>
  entries.map((entry, index) =>
    entry === 'separator' ? (
      // oxlint-disable-next-line react/no-array-index-key -- a line has no other name than its place
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
    <Base.Portal>
      <Base.Positioner className={styles['positioner']} sideOffset={5} align={align} side={side}>
        <Base.Popup className={styles['popup']}>
          {header !== undefined && <div className={styles['header']}>{header}</div>}
          <Entries entries={entries} />
        </Base.Popup>
      </Base.Positioner>
    </Base.Portal>
  </Base.Root>
)

/** The menu of the right mouse button and of a long press, over `children`. */
export const ContextMenu = ({ entries, children }: { entries: MenuEntries; children: ReactElement }) => (
  <BaseContext.Root>
    <BaseContext.Trigger render={children as ReactElement<Record<string, unknown>>} />
    <BaseContext.Portal>
      <BaseContext.Positioner className={styles['positioner']}>
        <BaseContext.Popup className={styles['popup']}>
          <Entries entries={entries} />
        </BaseContext.Popup>
      </BaseContext.Positioner>
    </BaseContext.Portal>
  </BaseContext.Root>
)

/** Where a menu opens that no trigger belongs to: beside an element, or where the pointer was. */
export type MenuAnchor = Element | { x: number; y: number }

const virtualAnchor = ({ x, y }: { x: number; y: number }) => ({ getBoundingClientRect: () => new DOMRect(x, y, 0, 0) })

/** One menu for many rows, opened by whoever says so: a menu of its own for every row would make long lists slow. */
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
    <Base.Portal>
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
