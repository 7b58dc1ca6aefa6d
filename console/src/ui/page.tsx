import type { ComponentProps, ReactNode } from 'react'
import { classNames } from './class-names.ts'
import styles from './page.module.css'

/** The heading of a page with its actions. */
export const PageHeader = ({
  title,
  description,
  actions,
}: {
  title: ReactNode
  description?: ReactNode
  actions?: ReactNode
}) => (
  <header className={styles['pageHeader']}>
    <div className={styles['pageTitle']}>
      <h1>{title}</h1>
      {description !== undefined && <p>{description}</p>}
    </div>
    {actions !== undefined && <div className={styles['pageActions']}>{actions}</div>}
  </header>
)

/** What a list is about, with the button that adds to it: the head of a page that is one of several tabs. */
export const ListHeader = ({ actions, children }: { actions?: ReactNode; children: ReactNode }) => (
  <div className={styles['listHeader']}>
    <p>{children}</p>
    {actions}
  </div>
)

/** A centered column at reading width; `wide` is for tables. */
export const Page = ({
  wide = false,
  children,
  ...rest
}: { wide?: boolean; children: ReactNode } & ComponentProps<'div'>) => (
  <div {...rest} className={classNames(styles['page'], wide && styles['pageWide'])}>
    {children}
  </div>
)

/** A heading with a card below it; `plain` leaves out the card. */
export const Section = ({
  title,
  description,
  actions,
  children,
  plain = false,
}: {
  title?: ReactNode
  description?: ReactNode
  actions?: ReactNode
  children: ReactNode
  plain?: boolean
}) => (
  <section className={styles['section']}>
    {title !== undefined && (
      <div className={styles['sectionHeader']}>
        <div>
          <h2>{title}</h2>
          {description !== undefined && <p>{description}</p>}
        </div>
        {actions}
      </div>
    )}
    {plain ? children : <div className={styles['card']}>{children}</div>}
  </section>
)
