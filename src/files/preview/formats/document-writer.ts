import type { PreviewPayload } from '../payload.ts'
import { limits } from '../payload.ts'
import { cutToBytes } from './text.ts'

export interface RunStyle {
  bold?: boolean
  italic?: boolean
  href?: string | undefined
}

export interface ListItem {
  /** 0 is the outermost. */
  level: number
  ordered: boolean
}

export interface Block {
  /** 1 to 6. */
  heading?: number | undefined
  item?: ListItem | undefined
}

/**
 * Builds the text and the HTML of a document. The HTML is safe by construction: all text is escaped, only the tags of
 * this file are written and all are closed, and only links have attributes.
 */
export interface DocumentWriter {
  /** A size limit is reached. Further content is dropped. */
  isFull(): boolean
  /** Starts a paragraph, a heading or a list item, and ends the previous one. */
  openBlock(block?: Block): void
  write(text: string, style?: RunStyle): void
  lineBreak(): void
  closeBlock(): void
  openTable(): void
  openRow(): void
  openCell(): void
  closeCell(): void
  closeRow(): void
  closeTable(): void
  finish(options?: { truncated: boolean }): PreviewPayload
}

const escapes: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
const escapeHtml = (text: string): string => text.replaceAll(/[&<>"']/g, (character) => escapes[character] ?? '')

// Links with other schemes, such as javascript:, file: or data:, become plain text.
const isSafeLink = (href: string): boolean =>
  URL.canParse(href) && ['https:', 'http:', 'mailto:'].includes(new URL(href).protocol)

interface Html {
  size(): number
  open(tag: string, attributes?: string): void
  write(text: string): void
  /** Closes the innermost open `tag` and all open tags inside it. */
  close(tag: string): void
  /** Closes all open tags and returns the HTML. */
  finish(): string
}

const createHtml = (): Html => {
  const pieces: string[] = []
  const stack: string[] = []
  let size = 0
  const add = (piece: string): void => {
    pieces.push(piece)
    size += Buffer.byteLength(piece)
  }
  const closeFrom = (at: number): void => {
    for (const tag of stack.splice(at).toReversed()) add(`</${tag}>`)
  }
  return {
    size: () => size,
    open: (tag, attributes = '') => {
      stack.push(tag)
      add(`<${tag}${attributes}>`)
    },
    write: (text) => add(escapeHtml(text).replaceAll('\n', '<br>')),
    close: (tag) => {
      const at = stack.lastIndexOf(tag)
      if (at !== -1) closeFrom(at)
    },
    finish: () => {
      closeFrom(0)
      return pieces.join('')
    },
  }
}

interface OpenList {
  tag: 'ol' | 'ul'
  items: number
}

const maxListDepth = 8

interface Lists {
  /**
   * Writes the list tags before the next item, or ends all lists. Returns the text prefix of the item, such as `1. `.
   */
  alignTo(item: ListItem | undefined): string
}

const createLists = (html: Html): Lists => {
  const lists: OpenList[] = []
  return {
    alignTo: (item) => {
      const depth = item ? Math.min(Math.max(item.level, 0) + 1, maxListDepth) : 0
      const tag = item?.ordered ? 'ol' : 'ul'
      const same = lists[depth - 1]
      const kept = item && same && same.tag !== tag ? depth - 1 : depth
      for (const list of lists.splice(kept).toReversed()) html.close(list.tag)
      if (lists.length === depth && depth > 0) {
        html.close('li')
        html.open('li')
      }
      while (lists.length < depth) {
        lists.push({ tag, items: 0 })
        html.open(tag)
        html.open('li')
      }
      const list = lists.at(-1)
      if (!list) return ''
      list.items += 1
      return `${'  '.repeat(depth - 1)}${list.tag === 'ol' ? `${list.items}.` : '-'} `
    },
  }
}

const tagsOf = ({ bold, italic, href }: RunStyle): [tag: string, attributes: string][] => {
  const tags: [string, string][] = []
  if (href !== undefined && isSafeLink(href)) {
    tags.push(['a', ` href="${escapeHtml(href)}" rel="noopener noreferrer nofollow"`])
  }
  if (bold) tags.push(['strong', ''])
  if (italic) tags.push(['em', ''])
  return tags
}

interface TableContext {
  html: Html
  places: Lists[]
  addText: (text: string) => void
  closeBlock: () => void
  unlessFull: (work: () => void) => () => void
}

type Tables = Pick<DocumentWriter, 'openTable' | 'openRow' | 'openCell' | 'closeCell' | 'closeRow' | 'closeTable'>

const createTables = ({ html, places, addText, closeBlock, unlessFull }: TableContext): Tables => {
  const cellsOfRow: number[] = []
  return {
    openTable: unlessFull(() => {
      closeBlock()
      places.at(-1)?.alignTo(undefined)
      cellsOfRow.push(0)
      html.open('table')
      html.open('tbody')
    }),
    openRow: unlessFull(() => {
      cellsOfRow.splice(-1, 1, 0)
      html.open('tr')
    }),
    openCell: unlessFull(() => {
      const before = cellsOfRow.pop() ?? 0
      cellsOfRow.push(before + 1)
      // The rows of a nested table stay on the line of their outer cell.
      if (before > 0) addText(places.length > 1 ? ' ' : '\t')
      html.open('td')
      places.push(createLists(html))
    }),
    closeCell: () => {
      closeBlock()
      if (places.length > 1) places.pop()?.alignTo(undefined)
      html.close('td')
    },
    closeRow: () => {
      html.close('tr')
      addText(places.length > 1 ? ' ' : '\n')
    },
    closeTable: () => {
      cellsOfRow.pop()
      html.close('table')
    },
  }
}

export const createDocumentWriter = (): DocumentWriter => {
  const html = createHtml()
  const text: string[] = []
  let textBytes = 0
  let full = false
  /** The lists of the document, then those of each open table cell, from the outside in. */
  const places = [createLists(html)]
  let block: string | undefined
  /** Consecutive runs of the same style share their tags, because Word splits sentences into many runs. */
  let openTags: [string, string][] = []

  const addText = (piece: string): void => {
    const fitting = cutToBytes(piece, limits.textBytes - textBytes)
    if (fitting.length < piece.length) full = true
    text.push(fitting)
    textBytes += Buffer.byteLength(fitting)
  }
  const styleAs = (tags: [string, string][]): void => {
    if (String(tags) === String(openTags)) return
    if (openTags[0]) html.close(openTags[0][0])
    for (const [tag, attributes] of tags) html.open(tag, attributes)
    openTags = tags
  }
  const closeBlock = (): void => {
    if (block === undefined) return
    styleAs([])
    if (block !== 'li') html.close(block)
    block = undefined
    // The text of a cell stays on the line of its row.
    addText(places.length > 1 ? ' ' : '\n')
  }
  /** Drops content of a full document. Open tags are still closed. */
  const unlessFull =
    <Arguments extends unknown[]>(work: (...given: Arguments) => void) =>
    (...given: Arguments): void => {
      if (html.size() > limits.htmlBytes) full = true
      if (!full) work(...given)
    }
  const openBlock = unlessFull(({ heading, item }: Block = {}) => {
    closeBlock()
    const isItem = item !== undefined && heading === undefined
    addText(places.at(-1)?.alignTo(isItem ? item : undefined) ?? '')
    block = heading === undefined ? 'p' : `h${Math.min(Math.max(Math.trunc(heading), 1), 6)}`
    if (isItem) block = 'li'
    else html.open(block)
  })

  return {
    isFull: () => full,
    openBlock,
    write: unlessFull((written: string, style: RunStyle = {}) => {
      if (written === '') return
      const piece = written.replaceAll('\0', '\ufffd')
      if (block === undefined) openBlock()
      styleAs(tagsOf(style))
      addText(piece)
      html.write(piece)
    }),
    lineBreak: unlessFull(() => {
      if (block === undefined) return
      addText(places.length > 1 ? ' ' : '\n')
      html.write('\n')
    }),
    closeBlock,
    ...createTables({ html, places, addText, closeBlock, unlessFull }),
    finish: ({ truncated } = { truncated: false }) => {
      closeBlock()
      // At the end, because the two halves of a surrogate pair can be written separately.
      const [wholeText, wholeHtml] = [text.join('').trimEnd().toWellFormed(), html.finish().toWellFormed()]
      return { kind: 'document', truncated: truncated || full, text: wholeText, html: wholeHtml }
    },
  }
}
