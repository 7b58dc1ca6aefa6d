import { parseHtml } from './html-parser.ts'

export interface PageText {
  title: string | null
  text: string
  /** The text is incomplete because the page is nested too deeply or too long. */
  isCut: boolean
}

/** Elements that are not visible or not text. */
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

/** Relative links become absolute, so that a page of 2 MB could become a text of 250 MB without a limit. */
const maxTextLength = 4_194_304

/** Collects text with white space as a browser shows it. */
const createSheet = () => {
  const pieces: string[] = []
  // Joining the text for each of a million pieces would take minutes, so only its last two characters are kept.
  let tail = ''
  let length = 0
  let isFull = false
  /** The index of the last piece that is not only white space. */
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
    /** Adds text of the source, with runs of white space as one space. */
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
    /** The number of pieces. */
    size: (): number => pieces.length,
    /** Called at the end of each link: searching all pieces since its start takes 16 s for 900 nested links. */
    hasWords: (from: number): boolean => lastWords >= from,
    isFull: (): boolean => isFull,
    text: (from = 0, to = pieces.length): string =>
      pieces
        .slice(from, to)
        .join('')
        // A regular expression for spaces at the end of lines takes minutes for 2 MB of spaces, so the text is split.
        .split('\n')
        .map((line) => line.trimEnd())
        .join('\n')
        .replaceAll(/\n{3,}/g, '\n\n')
        .trim(),
  }
}

/** The minimum length of `main`: pages with less have their content elsewhere. */
const minContentLength = 200

/**
 * Converts a page to text: headings with `#`, list items with `-`, links with their URLs, a line for each table row.
 * Without hidden elements, and only the `main` element when there is one.
 */
export const htmlToText = (html: string, base: string): PageText => {
  const sheet = createSheet()
  let title = ''
  let unreadDepth = 0
  let preDepth = 0
  let isTitle = false
  let main: { from: number; to: number } | undefined
  /** Open links, the innermost last. */
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
    text: content.length >= minContentLength ? content : sheet.text(),
    isCut: !isWhole || sheet.isFull(),
  }
}
