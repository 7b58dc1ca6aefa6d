import { SaxesParser } from 'saxes'
import type { SaxesTagPlain } from 'saxes'
import { PreviewError, damaged, limits } from '../payload.ts'

/**
 * Element and attribute names have no prefix: `w:p` is `p`. The attribute `:id` is the one with a prefix, for elements
 * that may also have an `id` without a prefix.
 */
export interface XmlHandlers {
  open?: (name: string, attribute: (name: string) => string | undefined, parent: string) => void
  text?: (text: string) => void
  close?: (name: string) => void
}

export interface XmlOptions {
  /** Elements that are skipped with their contents. */
  ignore?: ReadonlySet<string>
  /** Called for each chunk. True ends parsing, but the remaining bytes are still read. */
  isEnough?: () => boolean
  /** Receives the bytes that are read after parsing has ended. */
  rest?: (bytes: Buffer) => void
}

const localName = (name: string): string => name.slice(name.indexOf(':') + 1)

const attributeOf = (tag: SaxesTagPlain, wanted: string): string | undefined => {
  for (const name in tag.attributes) {
    if (wanted.startsWith(':') ? name.endsWith(wanted) : localName(name) === wanted) return tag.attributes[name]
  }
  return undefined
}

const decoderOf = (first: Buffer): TextDecoder => {
  const isWide = (a: number, b: number): boolean => first[0] === a && first[1] === b
  if (isWide(0xff, 0xfe) || isWide(0x3c, 0x00)) return new TextDecoder('utf-16le')
  if (isWide(0xfe, 0xff) || isWide(0x00, 0x3c)) return new TextDecoder('utf-16be')
  return new TextDecoder('utf-8')
}

type Parser = SaxesParser<{ xmlns: false; position: false }>

const createParser = (handlers: XmlHandlers, ignore: ReadonlySet<string>, onEvent: () => void): Parser => {
  const parser: Parser = new SaxesParser({ xmlns: false, position: false })
  const path: string[] = []
  let ignoredFrom = Infinity
  parser.on('error', (error) => {
    throw damaged(error)
  })
  // Custom entities can expand a kilobyte to a gigabyte, and office programs do not write them.
  parser.on('doctype', () => {
    throw new PreviewError('its XML declares a document type, which office files never do')
  })
  parser.on('opentag', (tag) => {
    onEvent()
    const name = localName(tag.name)
    const parent = path.at(-1) ?? ''
    if (path.push(name) > limits.xmlDepth) throw new PreviewError('it is nested too deeply')
    if (path.length > ignoredFrom) return
    if (ignore.has(name)) ignoredFrom = path.length
    else handlers.open?.(name, (wanted) => attributeOf(tag, wanted), parent)
  })
  const onText = (text: string): void => {
    onEvent()
    if (path.length < ignoredFrom) handlers.text?.(text)
  }
  parser.on('text', onText)
  parser.on('cdata', onText)
  parser.on('closetag', () => {
    onEvent()
    const name = path.at(-1) ?? ''
    if (path.length < ignoredFrom) handlers.close?.(name)
    if (path.length === ignoredFrom) ignoredFrom = Infinity
    path.pop()
  })
  return parser
}

/**
 * Parses XML as it arrives. Throws a PreviewError when it is not well-formed, declares a document type, is nested too
 * deeply or has a text node, attribute or tag beyond the size limit.
 */
export const readXml = async (
  source: AsyncIterable<Buffer>,
  handlers: XmlHandlers,
  { ignore = new Set(), isEnough = () => false, rest }: XmlOptions = {},
): Promise<void> => {
  let charactersSinceEvent = 0
  const parser = createParser(handlers, ignore, () => {
    charactersSinceEvent = 0
  })
  let decoder: TextDecoder | undefined
  let enough = false
  for await (const bytes of source) {
    enough ||= isEnough()
    if (enough) {
      rest?.(bytes)
      continue
    }
    decoder ??= decoderOf(bytes)
    const piece = decoder.decode(bytes, { stream: true })
    parser.write(piece)
    // The parser buffers a text node or attribute until its end, so one of 400 MB would need 400 MB of memory.
    charactersSinceEvent += piece.length
    if (charactersSinceEvent > limits.xmlPieceCharacters)
      throw new PreviewError('a single piece of it is larger than a preview may read')
  }
  if (!enough) {
    parser.write(decoder?.decode() ?? '')
    parser.close()
  }
}
