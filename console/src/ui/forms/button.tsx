import { LoaderCircle } from 'lucide-react'
import type { ComponentProps, ReactNode, Ref } from 'react'
import { Link } from 'react-router'
import styles from './button.module.css'
import { classNames } from '../class-names.ts'
import { Tooltip } from '../tooltip.tsx'

type Variant = 'primary' | 'secondary' | 'quiet' | 'danger'

interface Look {
  variant?: Variant
  small?: boolean
  icon?: ReactNode
}

export interface ButtonProps extends Look, Omit<ComponentProps<'button'>, 'disabled' | 'ref'> {
  /** Why it cannot be pressed now; a button that is off always says so. */
  disabledReason?: string | false | undefined
  /** Working on it: it keeps its width and takes no second press. */
  busy?: boolean | undefined
  ref?: Ref<HTMLButtonElement>
}

const look = ({ variant = 'secondary', small = false }: Look, iconOnly = false): string =>
  classNames(styles['button'], styles[variant], small && styles['small'], iconOnly && styles['iconOnly'])

const Content = ({ icon, busy, children }: { icon?: ReactNode; busy?: boolean | undefined; children?: ReactNode }) => (
  <>
    {busy === true ? <LoaderCircle className={styles['spinner']} aria-hidden="true" /> : icon}
    {children !== undefined && <span className={styles['label']}>{children}</span>}
  </>
)

export const Button = ({ variant, small, icon, disabledReason, busy, children, onClick, ...rest }: ButtonProps) => {
  const off = typeof disabledReason === 'string' || busy === true
  const button = (
    <button
      type="button"
      {...rest}
      className={classNames(look({ ...(variant && { variant }), ...(small && { small }) }), rest.className)}
      // Stays in reach of the keyboard and of the pointer, so that the reason can be read.
      aria-disabled={off || undefined}
      aria-busy={busy || undefined}
      onClick={off ? (event) => event.preventDefault() : onClick}
    >
      <Content icon={icon} busy={busy}>
        {children}
      </Content>
    </button>
  )
  return typeof disabledReason === 'string' ? <Tooltip text={disabledReason}>{button}</Tooltip> : button
}

export interface IconButtonProps extends Omit<ButtonProps, 'children' | 'icon'> {
  label: string
  icon: ReactNode
  /** Shown beside the label in its tip. */
  shortcut?: string
}

/** A button that is a picture: its label is its name and its tip. */
export const IconButton = ({
  label,
  icon,
  shortcut,
  variant = 'quiet',
  small,
  disabledReason,
  busy,
  onClick,
  ...rest
}: IconButtonProps) => {
  const off = typeof disabledReason === 'string' || busy === true
  return (
    <Tooltip text={typeof disabledReason === 'string' ? disabledReason : label} shortcut={shortcut}>
      <button
        type="button"
        {...rest}
        className={classNames(look({ variant, ...(small && { small }) }, true), rest.className)}
        aria-label={label}
        aria-disabled={off || undefined}
        onClick={off ? (event) => event.preventDefault() : onClick}
      >
        <Content icon={icon} busy={busy} />
      </button>
    </Tooltip>
  )
}

/** A link that looks like a button; to another page it is a real link, so it opens in new tabs as well. */
export const ButtonLink = ({
  variant,
  small,
  icon,
  to,
  children,
  ...rest
}: Look & { to: string; children: ReactNode } & Omit<ComponentProps<'a'>, 'href'>) => (
  <Link
    {...rest}
    to={to}
    className={classNames(look({ ...(variant && { variant }), ...(small && { small }) }), rest.className)}
  >
    <Content icon={icon}>{children}</Content>
  </Link>
)
