import { createRequire } from 'node:module'
import type { Parser } from 'htmlparser2'

export interface HtmlHandler {
  open(name: string, attributes: Record<string, string>): void
  text(words: string): void
  close(name: string): void
}

/** The parser's time is quadratic in the depth: 1 MB of nested `<div>` would take half a minute. */
const maxDepth = 2_000
/** Characters that are parsed between two checks of the depth. */
const pieceLength = 16_384

let library: { Parser: typeof Parser } | undefined

// Loaded for the first page, because the library uses 2 MB.
const loadParser = (): typeof Parser => {
  library ??= createRequire(import.meta.url)('htmlparser2') as { Parser: typeof Parser }
  return library.Parser
}

/** Parses HTML up to the maximum depth. Returns false when the page is nested deeper. */
export const parseHtml = (html: string, handler: HtmlHandler): boolean => {
  let depth = 0
  let isTooDeep = false
  const parser = new (loadParser())({
    onopentag: (name, attributes) => {
      depth += 1
      isTooDeep ||= depth > maxDepth
      if (!isTooDeep) handler.open(name, attributes)
    },
    ontext: (words) => {
      if (!isTooDeep) handler.text(words)
    },
    onclosetag: (name) => {
      depth -= 1
      if (!isTooDeep) handler.close(name)
    },
  })
  for (let at = 0; at < html.length && !isTooDeep; at += pieceLength) parser.write(html.slice(at, at + pieceLength))
  if (!isTooDeep) parser.end()
  return !isTooDeep
}
