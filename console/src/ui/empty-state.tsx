import type { ReactNode } from 'react'
import { classNames } from './class-names.ts'
import styles from './empty-state.module.css'

export interface EmptyStateProps {
  icon?: ReactNode
  title: string
  children?: ReactNode
  /** The next step, usually a button. */
  action?: ReactNode
  /** For use inside a panel. */
  compact?: boolean
}

/** What is shown in place of content: title, explanation, next step. */
export const EmptyState = ({ icon, title, children, action, compact }: EmptyStateProps) => (
  <div className={classNames(styles['state'], compact === true && styles['compact'])}>
    {icon !== undefined && <div className={styles['icon']}>{icon}</div>}
    <h2 className={styles['title']}>{title}</h2>
    {children !== undefined && <div className={styles['text']}>{children}</div>}
    {action !== undefined && <div className={styles['action']}>{action}</div>}
  </div>
)
