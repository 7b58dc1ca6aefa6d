import { textOf } from '../../i18n/text.ts'
import type { Text } from '../../i18n/text.ts'
import { useEffect, useRef } from 'react'
import { NavLink, useLocation } from 'react-router'
import { classNames } from '../class-names.ts'
import styles from './tabs.module.css'

export interface TabLink {
  to: string
  label: Text
  count?: number
  /** Active on exactly this path only, not below it. */
  end?: boolean
}

/** Links to the parts of a page, shown as tabs. */
export const Tabs = ({ label, tabs }: { label: string; tabs: TabLink[] }) => {
  const nav = useRef<HTMLElement>(null)
  const { pathname } = useLocation()
  // On a phone the active tab can be outside the visible area.
  useEffect(() => {
    const links = [...(nav.current?.children ?? [])]
    const open = links.find((link) => link.getAttribute('href') === pathname)
    open?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
  }, [pathname])
  return (
    <nav ref={nav} aria-label={label} className={styles['tabs']}>
      {tabs.map(({ to, label: text, count, end }) => (
        <NavLink key={to} to={to} className={classNames(styles['tab'])} {...(end && { end })}>
          {textOf(text)}
          {count !== undefined && <span className={styles['count']}>{count}</span>}
        </NavLink>
      ))}
    </nav>
  )
}
