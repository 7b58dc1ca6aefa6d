/** A provider may ask for minutes; a person who waits for a turn gets its error earlier. */
const maxRetryAfterMs = 10_000

/** The delay of an HTTP date, a number of seconds, or undefined. https://www.rfc-editor.org/rfc/rfc9110#field.retry-after */
const delayOf = (value: string, nowMs: number): number => {
  const text = value.trim()
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text) * 1_000
  // Date.parse accepts much more than the three formats of HTTP dates, all of which begin with the name of a day.
  return /^[A-Z][a-z]{2}/.test(text) ? Math.max(0, Date.parse(text) - nowMs) : Number.NaN
}

/**
 * How long a provider asks to wait, in milliseconds, at most 10 s: `retry-after-ms`, which OpenAI sends as well, or
 * `retry-after`. Undefined when it asks for nothing, or for something that cannot be read. Names are in lower case.
 */
export const retryAfterOf = (headers: Record<string, string>, nowMs: number): number | undefined => {
  const exact = headers['retry-after-ms']?.trim() ?? ''
  const delayMs = /^\d+(\.\d+)?$/.test(exact) ? Number(exact) : delayOf(headers['retry-after'] ?? '', nowMs)
  return Number.isNaN(delayMs) ? undefined : Math.min(delayMs, maxRetryAfterMs)
}
