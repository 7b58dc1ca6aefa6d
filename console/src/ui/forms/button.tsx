import { LoaderCircle } from 'lucide-react'
import type { ComponentProps, ReactNode, Ref } from 'react'
import { Link } from 'react-router'
import styles from './button.module.css'
import { classNames } from '../class-names.ts'
import { reasonTooltip, tooltip } from '../tooltip.tsx'

type Variant = 'primary' | 'secondary' | 'quiet' | 'danger'

interface ButtonStyle {
  variant?: Variant
  small?: boolean
  icon?: ReactNode
}

export interface ButtonProps extends ButtonStyle, Omit<ComponentProps<'button'>, 'disabled' | 'ref'> {
  /** Why the button is disabled; shown as tooltip. A disabled button always has a reason. */
  disabledReason?: string | false | undefined
  /** Shows a spinner and ignores clicks. */
  busy?: boolean | undefined
  ref?: Ref<HTMLButtonElement>
}

const classNameOf = ({ variant = 'secondary', small = false }: ButtonStyle, iconOnly = false): string =>
  classNames(styles['button'], styles[variant], small && styles['small'], iconOnly && styles['iconOnly'])

const Content = ({ icon, busy, children }: { icon?: ReactNode; busy?: boolean | undefined; children?: ReactNode }) => (
  <>
    {busy === true ? <LoaderCircle className={styles['spinner']} aria-hidden="true" /> : icon}
    {children !== undefined && <span className={styles['label']}>{children}</span>}
  </>
)

export const Button = ({ variant, small, icon, disabledReason, busy, children, onClick, ...rest }: ButtonProps) => {
  const isDisabled = typeof disabledReason === 'string' || busy === true
  return (
    <button
      type="button"
      {...(typeof disabledReason === 'string' && reasonTooltip(disabledReason))}
      {...rest}
      className={classNames(classNameOf({ ...(variant && { variant }), ...(small && { small }) }), rest.className)}
      // Not `disabled`: the button must stay focusable, so that keyboard users can read the reason.
      aria-disabled={isDisabled || undefined}
      aria-busy={busy || undefined}
      onClick={isDisabled ? (event) => event.preventDefault() : onClick}
    >
      <Content icon={icon} busy={busy}>
        {children}
      </Content>
    </button>
  )
}

export interface IconButtonProps extends Omit<ButtonProps, 'children' | 'icon'> {
  label: string
  icon: ReactNode
  /** Shown in the tooltip. */
  shortcut?: string
}

/** A button without text; the label is its accessible name and tooltip. */
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
  const isDisabled = typeof disabledReason === 'string' || busy === true
  return (
    <button
      type="button"
      {...(typeof disabledReason === 'string' ? reasonTooltip(disabledReason) : tooltip(label, shortcut))}
      {...rest}
      className={classNames(classNameOf({ variant, ...(small && { small }) }, true), rest.className)}
      aria-label={label}
      aria-disabled={isDisabled || undefined}
      onClick={isDisabled ? (event) => event.preventDefault() : onClick}
    >
      <Content icon={icon} busy={busy} />
    </button>
  )
}

/** A real link with the style of a button, so that it can be opened in a new tab. */
export const ButtonLink = ({
  variant,
  small,
  icon,
  to,
  children,
  ...rest
}: ButtonStyle & { to: string; children: ReactNode } & Omit<ComponentProps<'a'>, 'href'>) => (
  <Link
    {...rest}
    to={to}
    className={classNames(classNameOf({ ...(variant && { variant }), ...(small && { small }) }), rest.className)}
  >
    <Content icon={icon}>{children}</Content>
  </Link>
)
