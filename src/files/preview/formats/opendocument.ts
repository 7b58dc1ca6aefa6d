import { createDocumentWriter } from './document-writer.ts'
import type { DocumentWriter, ListItem, RunStyle } from './document-writer.ts'
import { encrypted } from '../payload.ts'
import type { PreviewPayload } from '../payload.ts'
import { readXml } from './xml.ts'
import type { XmlHandlers } from './xml.ts'
import type { Archive } from './zip.ts'

type Attribute = (name: string) => string | undefined

/** Throws a PreviewError for an OpenDocument file whose parts are encrypted. */
export const rejectEncrypted = async (archive: Archive): Promise<void> => {
  const manifest = 'META-INF/manifest.xml'
  if (!archive.has(manifest)) return
  await readXml(archive.read(manifest), {
    open: (name) => {
      if (name === 'encryption-data') throw encrypted()
    },
  })
}

/** The automatic styles that a preview shows. They precede the text in the file. */
interface Styles {
  runs: Map<string, RunStyle>
  /** Whether each list level is ordered, by list style. */
  lists: Map<string, boolean[]>
}

const styleHandlers = (styles: Styles): Record<string, (attribute: Attribute) => void> => {
  let run: RunStyle = {}
  let levels: boolean[] = []
  const onLevel =
    (ordered: boolean) =>
    (attribute: Attribute): void => {
      const level = Number(attribute('level'))
      if (level >= 1 && level <= 10) levels[level - 1] = ordered
    }
  return {
    style: (attribute) => {
      run = {}
      styles.runs.set(attribute('name') ?? '', run)
    },
    'text-properties': (attribute) => {
      run.bold = attribute('font-weight') === 'bold' || Number(attribute('font-weight')) >= 600
      run.italic = attribute('font-style') === 'italic' || attribute('font-style') === 'oblique'
    },
    'list-style': (attribute) => {
      levels = []
      styles.lists.set(attribute('name') ?? '', levels)
    },
    'list-level-style-number': onLevel(true),
    'list-level-style-bullet': onLevel(false),
  }
}

// Comments, notes and deleted text are not part of the page; forms and declarations are not text.
const ignored = new Set([
  'annotation',
  'tracked-changes',
  'note',
  'notes',
  'forms',
  'scripts',
  'font-face-decls',
  'sequence-decls',
  'covered-table-cell',
])

const mostSpaces = 1_000

/** Handlers for content.xml: the elements of OpenDocument 1.3, part 3, chapters 5, 6 and 9 that contain text. */
const contentHandlers = (writer: DocumentWriter): XmlHandlers => {
  const styles: Styles = { runs: new Map(), lists: new Map() }
  const lists: (string | undefined)[] = []
  const spans: RunStyle[] = []
  const hrefs: (string | undefined)[] = []
  let startsItem = false
  let paragraphs = 0
  let pages = 0

  const itemHere = (): ListItem | undefined => {
    if (!startsItem || lists.length === 0) return undefined
    startsItem = false
    const level = lists.length - 1
    // A nested list without a style has the style of its parent list.
    const style = lists.findLast((name) => name !== undefined)
    return { level, ordered: styles.lists.get(style ?? '')?.[level] ?? false }
  }
  const write = (text: string): void => {
    if (paragraphs > 0) writer.write(text, { ...spans.at(-1), href: hrefs.at(-1) })
  }
  const open: Record<string, (attribute: Attribute) => void> = {
    ...styleHandlers(styles),
    page: (attribute) => {
      pages += 1
      writer.openBlock({ heading: 2 })
      writer.write(attribute('name') ?? `Slide ${pages}`)
      writer.closeBlock()
    },
    h: (attribute) => {
      paragraphs += 1
      writer.openBlock({ heading: Number(attribute('outline-level')) || 1 })
    },
    p: () => {
      paragraphs += 1
      writer.openBlock({ item: itemHere() })
    },
    list: (attribute) => lists.push(attribute('style-name')),
    'list-item': () => {
      startsItem = true
    },
    span: (attribute) => {
      const { bold = false, italic = false } = styles.runs.get(attribute('style-name') ?? '') ?? {}
      const around = spans.at(-1)
      spans.push({ bold: bold || around?.bold === true, italic: italic || around?.italic === true })
    },
    a: (attribute) => hrefs.push(attribute('href')),
    s: (attribute) => write(' '.repeat(Math.min(Number(attribute('c') ?? 1) || 1, mostSpaces))),
    tab: () => write('\t'),
    'line-break': () => writer.lineBreak(),
    table: () => writer.openTable(),
    'table-row': () => writer.openRow(),
    'table-cell': () => writer.openCell(),
  }
  const closeParagraph = (): void => {
    paragraphs -= 1
    writer.closeBlock()
  }
  const close: Record<string, () => unknown> = {
    h: closeParagraph,
    p: closeParagraph,
    list: () => lists.pop(),
    span: () => spans.pop(),
    a: () => hrefs.pop(),
    table: () => writer.closeTable(),
    'table-row': () => writer.closeRow(),
    'table-cell': () => writer.closeCell(),
  }
  return {
    open: (name, attribute) => (Object.hasOwn(open, name) ? open[name]?.(attribute) : undefined),
    close: (name) => {
      if (Object.hasOwn(close, name)) close[name]?.()
    },
    text: (text) => write(text.replaceAll(/[ \t\r\n]+/g, ' ')),
  }
}

/** Returns the text and structure of a text document or presentation. */
export const previewOpenDocument = async (archive: Archive, isLate: () => boolean): Promise<PreviewPayload> => {
  await rejectEncrypted(archive)
  const writer = createDocumentWriter()
  const isEnough = (): boolean => writer.isFull() || isLate()
  await readXml(archive.read('content.xml'), contentHandlers(writer), { ignore: ignored, isEnough })
  return writer.finish({ truncated: isLate() })
}
