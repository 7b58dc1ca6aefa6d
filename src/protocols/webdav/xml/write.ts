/** The namespace of the protocol, which the elements here declare with the prefix `D`. */
export const davNamespace = 'DAV:'

const escapes: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', '\r': '&#13;' }

// What XML 1.0 cannot contain, not even escaped.
const notXml = /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu

/** Text for an element or a quoted attribute. Characters that XML cannot contain become U+FFFD. */
export const escapeXml = (text: string): string =>
  text.replaceAll(notXml, '\u{FFFD}').replaceAll(/[&<>"\r]/g, (character) => escapes[character] ?? character)

/** An element of the protocol. The content is XML. */
export const davElement = (name: string, content = ''): string =>
  content === '' ? `<D:${name}/>` : `<D:${name}>${content}</D:${name}>`

/** A whole document with one element, whose content is XML. */
export const davDocument = (name: string, content: string): string =>
  `<?xml version="1.0" encoding="utf-8"?>\n<D:${name} xmlns:D="${davNamespace}">${content}</D:${name}>`

export const xmlType = 'application/xml; charset=utf-8'
