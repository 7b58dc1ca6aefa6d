/**
 * How deep JSON from outside may be nested. Functions that walk a value recursively, JSON.stringify among them, exhaust
 * the stack at a few thousand levels, and so does PostgreSQL's parser. No document of this API is deeper than ten.
 */
export const maxJsonDepth = 64

const quote = 34
const backslash = 92

/** The nesting depth of a JSON text, in one pass and without recursion. Of a text that is not JSON, any number. */
export const jsonDepth = (text: string): number => {
  let depth = 0
  let deepest = 0
  let inString = false
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (inString) {
      if (code === backslash) i++
      else if (code === quote) inString = false
    } else if (code === quote) inString = true
    else if (code === 91 || code === 123) deepest = Math.max(deepest, ++depth)
    else if (code === 93 || code === 125) depth--
  }
  return deepest
}

/** Thrown for JSON that is nested deeper than `maxJsonDepth`. */
export class JsonTooDeep extends Error {
  constructor() {
    super(`JSON is nested deeper than ${maxJsonDepth} levels`)
    this.name = 'JsonTooDeep'
  }
}

/** Parses untrusted JSON. Throws a JsonTooDeep, or a SyntaxError like JSON.parse. */
export const parseForeignJson = (text: string): unknown => {
  if (jsonDepth(text) > maxJsonDepth) throw new JsonTooDeep()
  return JSON.parse(text) as unknown
}
