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

/** The picture on this server, whatever the name under which this browser knows the server. */
const localUrl = (url: string, size: number): string => `${new URL(url).pathname}?size=${size}`

/** The initials of a person, org or agent, in a color derived from the name, or the logo of an org. */
export const Avatar = ({
  name,
  logoUrl = null,
  size = 'm',
  square = false,
}: {
  name: string
  /** `logoUrl` of the API. */
  logoUrl?: string | null | undefined
  size?: 's' | 'm' | 'l'
  square?: boolean
}) => {
  const shape = classNames(styles['avatar'], styles[`avatar-${size}`], square && styles['square'])
  if (logoUrl !== null) {
    return <img src={localUrl(logoUrl, size === 'l' ? 256 : 64)} alt="" className={classNames(shape, styles['logo'])} />
  }
  return (
    <span
      className={shape}
      data-hue={hueOf(name)}
      // Rendered by CSS: as text the initials would become part of the accessible name of a surrounding button.
      data-initials={initialsOf(name)}
      aria-hidden="true"
    />
  )
}
