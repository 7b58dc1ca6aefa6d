export type Parse<T> = (text: string) => T | Mistake

/** An invalid value. The text follows the variable's name in the error message. */
export class Mistake {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

/** One environment variable. `fallback` is the default, as text; empty for none. */
export interface Variable<T = unknown> {
  description: string
  fallback: string
  parse: Parse<T>
  secret?: boolean
}

type Value<One extends Variable> = Exclude<ReturnType<One['parse']>, Mistake>

/** The parsed values of variables. A value without a default may be undefined. */
export type ParsedOf<Variables extends Record<string, Variable>> = {
  [Name in keyof Variables]: Variables[Name]['fallback'] extends ''
    ? Value<Variables[Name]> | undefined
    : Value<Variables[Name]>
}

export const text: Parse<string> = (value) => value

export const choice =
  <T extends string>(...allowed: T[]): Parse<T> =>
  (value) =>
    allowed.find((one) => one === value) ?? new Mistake(`must be one of ${allowed.join(', ')}`)

export const integer =
  (min: number, max: number): Parse<number> =>
  (value) => {
    const number = /^\d+$/.test(value) ? Number(value) : Number.NaN
    return number >= min && number <= max ? number : new Mistake(`must be a whole number from ${min} to ${max}`)
  }

export const boolean: Parse<boolean> = (value) => {
  const lower = value.toLowerCase()
  if (['1', 'true', 'yes', 'on'].includes(lower)) return true
  if (['0', 'false', 'no', 'off'].includes(lower)) return false
  return new Mistake('must be 1 or 0, true or false, yes or no, on or off')
}

export const url =
  (protocols: string[], example: string): Parse<string> =>
  (value) => {
    if (!URL.canParse(value) || !protocols.includes(new URL(value).protocol)) {
      return new Mistake(`must be a URL such as ${example}`)
    }
    return value
  }

/** A URL to which paths can be appended, without trailing slashes. */
export const origin: Parse<string> = (value) => {
  if (!/^https?:\/\//.test(value) || !URL.canParse(value))
    return new Mistake('must be a URL such as https://atrium.example.com')
  const parsed = new URL(value)
  if (parsed.username || parsed.search || parsed.hash)
    return new Mistake('must be a plain URL, without user, query or fragment')
  return value.replace(/\/+$/, '')
}

/** A URL without a path, in the form of an origin in browsers. */
export const bareOrigin: Parse<string> = (value) => {
  const plain = origin(value)
  if (plain instanceof Mistake) return plain
  return new URL(plain).pathname === '/' ? new URL(plain).origin : new Mistake('must be a URL without a path')
}

const maxOrigins = 100

/** Origins in the form in which browsers send them, separated by commas. */
export const origins: Parse<string[]> = (value) => {
  const named = value.split(',').map((one) => one.trim())
  const parsed = named.map((one) => bareOrigin(one))
  const valid = parsed.filter((one): one is string => typeof one === 'string' && !one.includes('*'))
  if (valid.length === named.length && named.length <= maxOrigins) return [...new Set(valid)]
  return new Mistake(
    `must be at most ${maxOrigins} origins such as https://app.example.com, separated by commas, without paths and wildcards`,
  )
}
