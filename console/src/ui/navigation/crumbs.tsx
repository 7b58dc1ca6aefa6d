import { t } from '@lingui/core/macro'
import { ChevronRight } from 'lucide-react'
import type { ReactNode } from 'react'
import { Link } from 'react-router'
import styles from './crumbs.module.css'

export interface Crumb {
  to: string
  name: string
  icon?: ReactNode
}

/** The path of a page: its ancestors as links, and the page itself, the last one, as the heading. */
export const Crumbs = <C extends Crumb>({
  path,
  link = ({ to, name }) => <Link to={to}>{name}</Link>,
  children,
}: {
  path: readonly C[]
  /** Renders the link of an ancestor. */
  link?: (crumb: C) => ReactNode
  /** After the heading. */
  children?: ReactNode
}) => (
  <nav aria-label={t`Path`} className={styles['crumbs']}>
    <ol>
      {path.map((crumb, index) => (
        <li key={crumb.to}>
          {crumb.icon}
          {index === path.length - 1 ? (
            <h1 aria-current="page">{crumb.name}</h1>
          ) : (
            <>
              {link(crumb)}
              <ChevronRight aria-hidden="true" />
            </>
          )}
        </li>
      ))}
    </ol>
    {children}
  </nav>
)
