const entities: Record<string, string> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  ndash: '–',
  mdash: '—',
  hellip: '…',
  copy: '©',
}

const decode = (text: string): string =>
  text.replaceAll(
    /&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]{2,8}));/gi,
    (whole, decimal, hex, name: string | undefined) => {
      if (name !== undefined) return entities[name.toLowerCase()] ?? whole
      const code = decimal === undefined ? Number.parseInt(String(hex), 16) : Number(decimal)
      return code > 0 && code <= 0x10_ff_ff && !(code >= 0xd8_00 && code <= 0xdf_ff)
        ? String.fromCodePoint(code)
        : whole
    },
  )

const hidden = /^(?:script|style|noscript|template|svg|head)$/
const block =
  /^(?:p|div|br|li|ul|ol|tr|table|h[1-6]|section|article|header|footer|main|nav|aside|blockquote|pre|dd|dt|figure|hr)$/

interface Tag {
  name: string
  isEnd: boolean
  text: string
}

/** Tags and the text between them, one after the other: in time proportional to the length, whatever is in it. */
const pieces = function* (html: string): Generator<Tag | string> {
  const lower = html.toLowerCase()
  let from = 0
  while (from < html.length) {
    const open = html.indexOf('<', from)
    if (open === -1) break
    if (open > from) yield html.slice(from, open)
    const isComment = html.startsWith('<!--', open)
    const close = html.indexOf(isComment ? '-->' : '>', open)
    if (close === -1) return
    const text = html.slice(open + 1, close)
    const [, slash = '', name = ''] = /^(\/?)([a-zA-Z][a-zA-Z0-9]*)/.exec(text) ?? []
    if (!isComment && name !== '') yield { name: name.toLowerCase(), isEnd: slash === '/', text }
    from = close + (isComment ? 3 : 1)
    // What is in them is no HTML: `a < b` opens nothing.
    if (slash === '' && /^(?:script|style)$/i.test(name)) {
      const end = lower.indexOf(`</${name.toLowerCase()}`, from)
      if (end === -1) return
      from = end
    }
  }
  if (from < html.length) yield html.slice(from)
}

/** What a person reads of a page: no scripts, no styles, a line for each block. */
export const textOfHtml = (html: string): string => {
  let text = ''
  let inside: string | undefined
  for (const piece of pieces(html)) {
    if (typeof piece === 'string') {
      if (inside === undefined) text += piece.replaceAll(/\s+/g, ' ')
    } else if (inside !== undefined) {
      if (piece.isEnd && piece.name === inside) inside = undefined
    } else if (!piece.isEnd && hidden.test(piece.name) && !piece.text.endsWith('/')) inside = piece.name
    else if (block.test(piece.name)) text += '\n'
  }
  return decode(text)
    .replaceAll(/[ \t\u00A0]+/g, ' ')
    .replaceAll(/ ?\n ?/g, '\n')
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim()
}

export const titleOf = (html: string): string | null => {
  let isTitle = false
  for (const piece of pieces(html)) {
    if (typeof piece === 'string') {
      if (isTitle) return decode(piece).trim()
    } else isTitle = piece.name === 'title' && !piece.isEnd
  }
  return null
}

const maxLinks = 200

/** The http and https links of a page with their texts, each target once. */
export const linksOf = (html: string, base: string): { url: string; text: string }[] => {
  const links = new Map<string, string>()
  let current: string | undefined
  for (const piece of pieces(html)) {
    if (typeof piece === 'string') {
      if (current !== undefined) links.set(current, (links.get(current) ?? '') + piece)
      continue
    }
    if (piece.name !== 'a') continue
    const [, double, single, bare] = /\shref\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>]+))/i.exec(piece.text) ?? []
    const target = piece.isEnd ? null : URL.parse(decode(double ?? single ?? bare ?? ''), base)
    current = target && /^https?:$/.test(target.protocol) ? target.href : undefined
    if (current !== undefined && !links.has(current) && links.size < maxLinks) links.set(current, '')
    if (current !== undefined && !links.has(current)) current = undefined
  }
  return [...links].map(([url, text]) => ({ url, text: decode(text).replaceAll(/\s+/g, ' ').trim() }))
}
