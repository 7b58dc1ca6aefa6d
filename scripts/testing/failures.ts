// What the test runner prints about failures. Bounded, because often only the end of the output of a run is kept.
import { inspect } from 'node:util'

export interface Failure {
  /** One line. */
  title: string
  text: string
}

const maxTextCharacters = 20_000
const maxOutputCharacters = 8_000
const maxTitles = 40
const maxTitleCharacters = 200

/** The start and the end of a long text: the message is at the start, the place often at the end. */
export const bounded = (text: string, maxCharacters = maxTextCharacters): string => {
  if (text.length <= maxCharacters) return text
  const head = Math.floor(maxCharacters * 0.7)
  const tail = maxCharacters - head
  return `${text.slice(0, head)}\n… ${text.length - maxCharacters} characters left out …\n${text.slice(-tail)}`
}

export const failureOf = (title: string, error: (Error & { cause?: unknown }) | undefined): Failure => {
  const cause = error?.cause ?? error
  return { title, text: cause instanceof Error ? (cause.stack ?? cause.message) : inspect(cause) }
}

export const formatFailure = ({ title, text }: Failure): string => `✗ ${title}\n${bounded(text)}`

/** The end of what the processes of failed tests printed. */
export const formatOutput = (name: string, text: string): string =>
  `output of ${name}\n${text.trim().slice(-maxOutputCharacters)}`

/** One short line for each failure. */
export const titlesOf = (failures: readonly Failure[]): string[] => {
  const lines = failures.slice(0, maxTitles).map(({ title }) => {
    const line = title.replaceAll(/\s+/g, ' ')
    return `✗ ${line.length > maxTitleCharacters ? `${line.slice(0, maxTitleCharacters - 1)}…` : line}`
  })
  return failures.length > maxTitles ? [...lines, `✗ and ${failures.length - maxTitles} more`] : lines
}
