import type { ComponentProps, ReactNode } from 'react'
import { formatAgo, formatDateTime } from '../format.ts'
import styles from './bits.module.css'
import { classes } from './classes.ts'

export type Tone = 'neutral' | 'good' | 'warn' | 'bad' | 'info'

/** One word about a state. */
export const Badge = ({ tone = 'neutral', children }: { tone?: Tone; children: ReactNode }) => (
  <span className={classes(styles['badge'], styles[tone])}>{children}</span>
)

/** The state of something as a dot with a word. */
export const Status = ({ tone = 'neutral', children }: { tone?: Tone; children: ReactNode }) => (
  <span className={styles['status']}>
    <span className={classes(styles['dot'], styles[`dot-${tone}`])} aria-hidden="true" />
    {children}
  </span>
)

/** When something was: short to read, exact under the pointer. */
export const Time = ({ at }: { at: string }) => (
  <time dateTime={at} title={formatDateTime(at)} className={styles['time']}>
    {formatAgo(at)}
  </time>
)

const hues = 12
const hueOf = (text: string): number => {
  let sum = 0
  for (const char of text) sum = (sum * 31 + (char.codePointAt(0) ?? 0)) % 9_973
  return sum % hues
}

const initialsOf = (name: string): string => {
  const words = name.trim().split(/\s+/)
  const letters = [words[0], words.length > 1 ? words.at(-1) : undefined].map((word) => [...(word ?? '')][0] ?? '')
  return letters.join('').toUpperCase() || '?'
}

/** A person, an org or an agent by the first letters, in a colour that stays theirs. */
export const Avatar = ({
  name,
  size = 'm',
  square = false,
}: {
  name: string
  size?: 's' | 'm' | 'l'
  square?: boolean
}) => (
  <span
    className={classes(styles['avatar'], styles[`avatar-${size}`], square && styles['square'])}
    data-hue={hueOf(name)}
    // Drawn, not written: as text they would belong to the words of the button around them.
    data-initials={initialsOf(name)}
    aria-hidden="true"
  />
)

/** How far something is, 0 to 1. */
export const Progress = ({ value, label, tone = 'neutral' }: { value: number; label: string; tone?: Tone }) => (
  <progress
    className={classes(styles['progress'], styles[`progress-${tone}`])}
    value={value}
    max={1}
    aria-label={label}
  />
)

/** A page's heading with what can be done on it. */
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

/** A page of text and forms: as wide as one reads. `Page` with `full` fills the window. */
export const Page = ({
  wide = false,
  children,
  ...rest
}: { wide?: boolean; children: ReactNode } & ComponentProps<'div'>) => (
  <div {...rest} className={classes(styles['page'], wide && styles['pageWide'])}>
    {children}
  </div>
)

/** A group of things with a heading, on a card. */
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
