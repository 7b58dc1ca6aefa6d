import { classNames } from '../class-names.ts'
import styles from './avatar.module.css'

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

/** The initials of a person, org or agent, in a color derived from the name. */
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
    className={classNames(styles['avatar'], styles[`avatar-${size}`], square && styles['square'])}
    data-hue={hueOf(name)}
    // Rendered by CSS: as text the initials would become part of the accessible name of a surrounding button.
    data-initials={initialsOf(name)}
    aria-hidden="true"
  />
)
