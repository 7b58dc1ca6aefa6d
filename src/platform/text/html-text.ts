import { parseHtml } from './html-parser.ts'

export interface PageText {
  title: string | null
  text: string
  /** It goes on: it is nested too deeply, or too long. */
  isCut: boolean
}

/** What no reader sees, or what is no text. */
const unread = new Set(
  'script style noscript template svg math iframe object canvas audio video map datalist select dialog title'.split(
    ' ',
  ),
)
const paragraphs = new Set(
  'p div section article main header footer nav aside form fieldset figure table ul ol dl blockquote pre hr address details'.split(
    ' ',
  ),
)
const lines = new Set('br li dt dd tr figcaption caption summary legend option'.split(' '))

const isHidden = (attributes: Record<string, string>): boolean =>
  'hidden' in attributes ||
  attributes['aria-hidden'] === 'true' ||
  /display\s*:\s*none|visibility\s*:\s*hidden/i.test(attributes['style'] ?? '')

const addressOf = (href: string | undefined, base: string): string | undefined => {
  if (href === undefined || href.startsWith('#')) return undefined
  const url = URL.parse(href, base)
  return url && (url.protocol === 'https:' || url.protocol === 'http:') ? url.href : undefined
}

/** A link is written with its whole address, so a page of 2 MB could otherwise become a text of 250 MB. */
const maxTextLength = 4_194_304

/** A text that grows by pieces, with white space as a browser would show it. */
const createSheet = () => {
  const pieces: string[] = []
  // The text itself is never looked at before its end: joining it for each of a million pieces takes minutes.
  let tail = ''
  let length = 0
  let isFull = false
  /** The place of the last piece that is not white space only. */
  let lastWords = -1
  const put = (piece: string): void => {
    if (piece === '' || isFull) return
    length += piece.length
    isFull = length > maxTextLength
    if (isFull) return
    if (piece.trim() !== '') lastWords = pieces.length
    pieces.push(piece)
    tail = (tail + piece).slice(-2)
  }
  return {
    /** Words as they stand in the source: runs of white space are one space. */
    flow: (words: string): void => {
      const shown = words.replaceAll(/\s+/g, ' ')
      put(tail === '' || /\s$/.test(tail) ? shown.trimStart() : shown)
    },
    raw: put,
    line: (): void => {
      if (tail !== '' && !tail.endsWith('\n')) put('\n')
    },
    paragraph: (): void => {
      if (tail !== '' && tail !== '\n\n') put(tail.endsWith('\n') ? '\n' : '\n\n')
    },
    /** How many pieces there are so far. */
    size: (): number => pieces.length,
    /** Asked at the end of each link: a look at all pieces since its start takes 16 s for 900 links in one another. */
    hasWords: (from: number): boolean => lastWords >= from,
    isFull: (): boolean => isFull,
    text: (from = 0, to = pieces.length): string =>
      pieces
        .slice(from, to)
        .join('')
        // By lines: an expression that looks for spaces before a line's end takes minutes over two megabytes of spaces.
        .split('\n')
        .map((line) => line.trimEnd())
        .join('\n')
        .replaceAll(/\n{3,}/g, '\n\n')
        .trim(),
  }
}

/** The part of the page that is its content, if the page says so and it is worth the name. */
const leastContent = 200

/**
 * What a page says, as text: headings with `#`, list items with `-`, links with their addresses, tables by line. Without
 * what is hidden from people, and without what stands around the page's `main`, when it has one.
 */
export const htmlToText = (html: string, base: string): PageText => {
  const sheet = createSheet()
  let title = ''
  let unreadDepth = 0
  let preDepth = 0
  let isTitle = false
  let main: { from: number; to: number } | undefined
  /** Open elements whose end matters, innermost last. */
  const links: { href: string; at: number }[] = []

  const open = (name: string, attributes: Record<string, string>): void => {
    if (paragraphs.has(name) || /^h[1-6]$/.test(name)) sheet.paragraph()
    else if (lines.has(name)) sheet.line()
    if (/^h[1-6]$/.test(name)) sheet.raw(`${'#'.repeat(Number(name[1]))} `)
    else if (name === 'li') sheet.raw('- ')
    else if (name === 'td' || name === 'th') sheet.flow(' | ')
    else if (name === 'img') sheet.flow(attributes['alt'] ?? '')
    else if (name === 'pre') preDepth += 1
    else if (name === 'main') main ??= { from: sheet.size(), to: -1 }
    else if (name === 'a') links.push({ href: addressOf(attributes['href'], base) ?? '', at: sheet.size() })
  }
  const close = (name: string): void => {
    if (name === 'a') {
      const link = links.pop()
      if (link && link.href !== '' && sheet.hasWords(link.at)) sheet.raw(` (${link.href})`)
    } else if (name === 'pre') preDepth -= 1
    else if (name === 'main' && main?.to === -1) main.to = sheet.size()
    if (paragraphs.has(name) || /^h[1-6]$/.test(name)) sheet.paragraph()
    else if (lines.has(name) && name !== 'br') sheet.line()
  }

  const isWhole = parseHtml(html, {
    open: (name, attributes) => {
      if (name === 'title' && unreadDepth === 0) isTitle = true
      if (unreadDepth > 0 || unread.has(name) || isHidden(attributes)) unreadDepth += 1
      else open(name, attributes)
    },
    text: (words) => {
      if (isTitle) title += words
      if (unreadDepth > 0) return
      if (preDepth > 0) sheet.raw(words)
      else sheet.flow(words)
    },
    close: (name) => {
      if (name === 'title') isTitle = false
      if (unreadDepth > 0) unreadDepth -= 1
      else close(name)
    },
  })
  const content = main ? sheet.text(main.from, main.to === -1 ? undefined : main.to) : ''
  const shownTitle = title.replaceAll(/\s+/g, ' ').trim()
  return {
    title: shownTitle === '' ? null : shownTitle,
    text: content.length >= leastContent ? content : sheet.text(),
    isCut: !isWhole || sheet.isFull(),
  }
}
