import { SaxesParser } from 'saxes'
import { badRequest } from '../../../platform/http/errors.ts'
import { escapeXml } from './write.ts'

export interface XmlElement {
  namespace: string
  name: string
  attributes: { namespace: string; name: string; value: string }[]
  children: (XmlElement | string)[]
}

/** Bounds of a body, besides its size in bytes. Requests of clients have up to four levels and a few dozen elements. */
const limits = { depth: 32, elements: 1_000, attributes: 1_000, nameCharacters: 512 }

const malformed = (cause?: unknown) => badRequest('The body is not well-formed XML.', { cause })
const tooMuch = () => badRequest('The XML of the body has too many elements, levels or attributes, or too long names.')

const decode = (bytes: Buffer): string => {
  const isWide = (a: number, b: number): boolean => bytes[0] === a && bytes[1] === b
  const encoding = isWide(0xff, 0xfe) ? 'utf-16le' : isWide(0xfe, 0xff) ? 'utf-16be' : 'utf-8'
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes)
  } catch (error) {
    throw malformed(error)
  }
}

/**
 * Parses a body of at most 64 KB in one linear pass. A document type is rejected, so there are no entities but the five
 * of XML itself, and nothing is loaded. Throws BAD_REQUEST.
 */
export const readXml = (bytes: Buffer): XmlElement => {
  const parser = new SaxesParser({ xmlns: true, position: false })
  const open: XmlElement[] = []
  let root: XmlElement | undefined
  let elements = 0
  let attributes = 0
  const checkName = (name: string, namespace: string): void => {
    if (name.length > limits.nameCharacters || namespace.length > limits.nameCharacters) throw tooMuch()
  }
  const onText = (text: string): void => void open.at(-1)?.children.push(text)
  parser.on('error', (error) => {
    throw malformed(error)
  })
  parser.on('doctype', () => {
    throw badRequest('The XML of the body must not have a document type.')
  })
  parser.on('opentag', (tag) => {
    const element: XmlElement = { namespace: tag.uri, name: tag.local, attributes: [], children: [] }
    checkName(tag.local, tag.uri)
    for (const { uri, local, prefix, value } of Object.values(tag.attributes)) {
      if (prefix === 'xmlns' || (prefix === '' && local === 'xmlns')) continue
      checkName(local, uri)
      element.attributes.push({ namespace: uri, name: local, value })
    }
    elements += 1
    attributes += element.attributes.length
    if (open.length >= limits.depth || elements > limits.elements || attributes > limits.attributes) throw tooMuch()
    open.at(-1)?.children.push(element)
    root ??= element
    open.push(element)
  })
  parser.on('text', onText)
  parser.on('cdata', onText)
  parser.on('closetag', () => void open.pop())
  parser.write(decode(bytes)).close()
  if (!root) throw malformed()
  return root
}

export const elementsOf = ({ children }: XmlElement): XmlElement[] =>
  children.filter((child): child is XmlElement => typeof child !== 'string')

/** The first child of the protocol's namespace with this name. */
export const davChild = (element: XmlElement, name: string): XmlElement | undefined =>
  elementsOf(element).find((child) => child.namespace === 'DAV:' && child.name === name)

const xmlNamespace = 'http://www.w3.org/XML/1998/namespace'

const openingTag = ({ namespace, name, attributes }: XmlElement): [string, string] => {
  const [tag, declared] = namespace === '' ? [name, ' xmlns=""'] : [`n:${name}`, ` xmlns:n="${escapeXml(namespace)}"`]
  const written = attributes.map((attribute, index) => {
    const value = escapeXml(attribute.value).replaceAll('\n', '&#10;').replaceAll('\t', '&#9;')
    if (attribute.namespace === '') return ` ${attribute.name}="${value}"`
    if (attribute.namespace === xmlNamespace) return ` xml:${attribute.name}="${value}"`
    return ` xmlns:a${index}="${escapeXml(attribute.namespace)}" a${index}:${attribute.name}="${value}"`
  })
  return [tag, declared + written.join('')]
}

/**
 * Writes an element so that it can stand anywhere. Every element declares its namespace, which could make a small body very
 * large, so the length is limited: longer elements are undefined.
 */
export const writeElement = (element: XmlElement, maxCharacters: number): string | undefined => {
  const parts: string[] = []
  let left = maxCharacters
  const add = (text: string): boolean => {
    left -= text.length
    parts.push(text)
    return left >= 0
  }
  const write = (one: XmlElement): boolean => {
    const [tag, attributes] = openingTag(one)
    if (one.children.length === 0) return add(`<${tag}${attributes}/>`)
    return (
      add(`<${tag}${attributes}>`) &&
      one.children.every((child) => (typeof child === 'string' ? add(escapeXml(child)) : write(child))) &&
      add(`</${tag}>`)
    )
  }
  return write(element) ? parts.join('') : undefined
}
