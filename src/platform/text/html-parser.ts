import { createRequire } from 'node:module'
import type { Parser } from 'htmlparser2'

export interface HtmlHandler {
  open(name: string, attributes: Record<string, string>): void
  text(words: string): void
  close(name: string): void
}

/** The parser's time grows with the square of it. No page is deeper, but 1 MB of `<div>` would take half a minute. */
const maxDepth = 2_000
/** Characters that are parsed before it is looked whether to go on. */
const pieceLength = 16_384

let library: { Parser: typeof Parser } | undefined

// At the first page: it takes 2 MB, of a server that may never read one.
const loadParser = (): typeof Parser => {
  library ??= createRequire(import.meta.url)('htmlparser2') as { Parser: typeof Parser }
  return library.Parser
}

/** Goes through HTML, up to where it is nested deeper than any page is. False when it was left there. */
export const parseHtml = (html: string, handler: HtmlHandler): boolean => {
  let depth = 0
  let isCut = false
  const parser = new (loadParser())({
    onopentag: (name, attributes) => {
      depth += 1
      isCut ||= depth > maxDepth
      if (!isCut) handler.open(name, attributes)
    },
    ontext: (words) => {
      if (!isCut) handler.text(words)
    },
    onclosetag: (name) => {
      depth -= 1
      if (!isCut) handler.close(name)
    },
  })
  for (let at = 0; at < html.length && !isCut; at += pieceLength) parser.write(html.slice(at, at + pieceLength))
  if (!isCut) parser.end()
  return !isCut
}
