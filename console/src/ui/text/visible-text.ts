/** Characters without a width, those that change the direction of the text after them, and control characters. */
const hidden = /[\u007F-\u009F\u061C\u200B\u200E\u200F\u202A-\u202E\u2060-\u2069\uFEFF\u{E0000}-\u{E007F}]/gu

/**
 * A text whose characters can all be seen, as JSON escapes them: what a person approves must not look like something
 * else.
 */
export const visibleText = (text: string): string =>
  text.replaceAll(hidden, (character) =>
    Array.from({ length: character.length }, (_, at) => {
      const code = character.charCodeAt(at).toString(16).padStart(4, '0')
      return `\\u${code}`
    }).join(''),
  )

const directions = /[\u202A-\u202E\u2066-\u2069]/g
/** Texts in which people may write in both directions. Names are shorter. */
const texts = new Set(['text', 'content', 'body', 'instructions', 'payload', 'input', 'output', 'arguments', 'result'])
const maxNameLength = 1_000
const maxDepth = 20

const shown = (value: unknown, depth: number): unknown => {
  if (typeof value !== 'string') {
    showDirections(value, depth + 1)
    return value
  }
  return value.length <= maxNameLength ? value.replaceAll(directions, '\uFFFD') : value
}

/**
 * Replaces the characters that change the direction of text in all names of a response of the API, in place: with them, a
 * program could look like a picture, and a name could change the sentence around it.
 */
export const showDirections = (value: unknown, depth = 0): void => {
  if (depth > maxDepth) return
  if (Array.isArray(value)) {
    for (const [at, item] of value.entries()) value[at] = shown(item, depth)
  } else if (typeof value === 'object' && value !== null) {
    const record = value as Record<string, unknown>
    for (const [key, item] of Object.entries(record)) if (!texts.has(key)) record[key] = shown(item, depth)
  }
}
