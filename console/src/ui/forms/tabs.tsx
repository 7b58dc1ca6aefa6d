import { useEffect, useRef } from 'react'
import { NavLink, useLocation } from 'react-router'
import { classNames } from '../class-names.ts'
import styles from './tabs.module.css'

export interface TabLink {
  to: string
  label: string
  /** A number beside it. */
  count?: number
  /** Only exactly this address. */
  end?: boolean
}

/** Parts of a page, each with an address of its own. */
export const Tabs = ({ label, tabs }: { label: string; tabs: TabLink[] }) => {
  const nav = useRef<HTMLElement>(null)
  const { pathname } = useLocation()
  // On a phone the one that is open may be out of sight.
  useEffect(() => {
    const links = [...(nav.current?.children ?? [])]
    const open = links.find((link) => link.getAttribute('href') === pathname)
    open?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
  }, [pathname])
  return (
    <nav ref={nav} aria-label={label} className={styles['tabs']}>
      {tabs.map(({ to, label: text, count, end }) => (
        <NavLink key={to} to={to} className={classNames(styles['tab'])} {...(end && { end })}>
          {text}
          {count !== undefined && <span className={styles['count']}>{count}</span>}
        </NavLink>
      ))}
    </nav>
  )
}
