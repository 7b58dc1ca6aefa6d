/**
 * Removes secrets from a log line: values of fields with the name of a secret, at every depth and in JSON inside of text,
 * and keys, tokens and URLs with credentials in free text. Takes time proportional to the length of the line.
 */
export const withoutSecrets = (line: string): string => withoutSecretText(withoutSecretFields(line))

const mark = '[redacted]'

const patterns: [RegExp, string][] = [
  [/\b(?:atr_(?:live|dev|test)_[0-9A-Za-z]{20,}|whsec_[A-Za-z0-9+/_=-]{16,})/g, mark],
  // Keys of Stripe, GitHub, Slack and OpenAI, and similar ones.
  [/\b(?:[sr]k_(?:live|test)_|gh[a-z]_|github_pat_|xox[a-z]-|sk-)[0-9A-Za-z_-]{8,}/g, mark],
  [/\b(Bearer|Basic)\s+[^\s"\\,]+/gi, `$1 ${mark}`],
  [/:\/\/[^\s/@"\\]+@/g, `://${mark}@`],
  [
    /([?&](?:\w+_token|token|code|state|client_secret|secret|password|api_?key|key|sig|signature|X-Amz-Signature|X-Amz-Security-Token)=)[^&\s"\\#]+/gi,
    `$1${mark}`,
  ],
  [/(session_token=)[^;\s"\\]+/g, `$1${mark}`],
]

const withoutSecretText = (line: string): string => {
  let text = line
  for (const [pattern, replacement] of patterns) text = text.replaceAll(pattern, replacement)
  return text
}

const secretName =
  /(?:^|[-_.]|[a-z](?=[A-Z]))(?:password|passphrase|secret|token|cookie|authorization|credentials?|totp_?code|(?:api|private|secret|encryption|signing|access)[-_]?key)$|^key$/i

const quote = 34
const backslash = 92

const backslashesBefore = (text: string, index: number): number => {
  let count = 0
  while (text.charCodeAt(index - 1 - count) === backslash) count++
  return count
}

/**
 * The end of a string whose opening quote has `level` backslashes: the next unescaped quote of the same level of nested
 * JSON, or the quote that ends the surrounding text.
 */
const endOfString = (text: string, from: number, level: number): number => {
  for (let at = text.indexOf('"', from); at !== -1; at = text.indexOf('"', at + 1)) {
    const before = backslashesBefore(text, at) + 1
    const isOuter = before % (level + 1) !== 0
    if (isOuter || (before / (level + 1)) % 2 === 1) return isOuter ? at : at - level
  }
  return text.length
}

const opening = '[{'
const closing = ']}'

/** The end of the list or object whose first bracket is at `from`. */
const endOfBrackets = (text: string, from: number, level: number): number => {
  let depth = 0
  for (let at = from; at < text.length; at++) {
    const char = text.charAt(at)
    if (char === '"') at = endOfString(text, at + 1, level) + level
    else if (opening.includes(char)) depth++
    else if (closing.includes(char) && --depth === 0) return at + 1
  }
  return text.length
}

const nameFormat = /[\w.-]{1,100}/y
const colonFormat = /\s*:\s*/y
const numberFormat = /-?\d[\d.eE+-]*/y

const matchAt = (format: RegExp, text: string, at: number): string => {
  format.lastIndex = at
  return format.exec(text)?.[0] ?? ''
}

/** The start of the value when the quote opens the name of a secret field. */
const valueAfter = (text: string, nameAt: number, level: number): number | undefined => {
  const name = matchAt(nameFormat, text, nameAt)
  if (name === '' || !secretName.test(name)) return undefined
  const end = nameAt + name.length + level
  if (text.charCodeAt(end) !== quote || backslashesBefore(text, end) !== level) return undefined
  const colon = matchAt(colonFormat, text, end + 1)
  return colon === '' ? undefined : end + 1 + colon.length
}

/** The range of the value and its replacement; quotes of a string stay. */
const spanOf = (text: string, at: number, level: number): [number, number, string] | undefined => {
  const string = at + level
  if (text.charCodeAt(string) === quote) return [string + 1, endOfString(text, string + 1, level), mark]
  const quoted = `${'\\'.repeat(level)}"`
  if (opening.includes(text.charAt(at))) return [at, endOfBrackets(text, at, level), quoted + mark + quoted]
  const number = matchAt(numberFormat, text, at)
  return number === '' ? undefined : [at, at + number.length, quoted + mark + quoted]
}

const withoutSecretFields = (line: string): string => {
  let clean = ''
  let done = 0
  for (let at = line.indexOf('"'); at !== -1; at = line.indexOf('"', at + 1)) {
    const level = backslashesBefore(line, at)
    const value = valueAfter(line, at + 1, level)
    const span = value === undefined ? undefined : spanOf(line, value, level)
    if (span === undefined) continue
    const [from, to, replacement] = span
    clean += line.slice(done, from) + replacement
    done = to
    at = Math.max(at, to)
  }
  return clean + line.slice(done)
}
