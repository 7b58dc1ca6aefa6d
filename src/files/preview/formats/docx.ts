import { createDocumentWriter } from './document-writer.ts'
import type { DocumentWriter, ListItem } from './document-writer.ts'
import { mainPartOf, readRelations } from './office-package.ts'
import type { Relations } from './office-package.ts'
import type { PreviewPayload } from '../payload.ts'
import { readXml } from './xml.ts'
import type { Archive } from './zip.ts'

interface ParagraphStyle {
  heading?: number
  /** The list definition. The paragraph contains the level. */
  numberingId?: string
  basedOn?: string
}

type Attribute = (name: string) => string | undefined

const isOn = (attribute: Attribute): boolean => !['0', 'false', 'off', 'none'].includes(attribute('val') ?? '1')

const headingOfName = (name: string): number | undefined => {
  if (/^title$/i.test(name)) return 1
  const [, level] = /^heading ([1-9])$/i.exec(name) ?? []
  return level === undefined ? undefined : Number(level)
}

/** The styles that make a paragraph a heading or a list item, by their id. */
const readStyles = async (archive: Archive, part: string | undefined): Promise<Map<string, ParagraphStyle>> => {
  const styles = new Map<string, ParagraphStyle>()
  if (part === undefined || !archive.has(part)) return styles
  let style: ParagraphStyle = {}
  await readXml(archive.read(part), {
    open: (name, attribute) => {
      const value = attribute('val') ?? ''
      if (name === 'style') {
        style = {}
        styles.set(attribute('styleId') ?? '', style)
      } else if (name === 'name') {
        // The names of Word's built-in styles are English in every language, while their ids are translated.
        const heading = headingOfName(value)
        if (heading !== undefined) style.heading = heading
      } else if (name === 'outlineLvl' && Number(value) < 9) style.heading ??= Number(value) + 1
      else if (name === 'numId') style.numberingId = value
      else if (name === 'basedOn') style.basedOn = value
    },
  })
  return styles
}

/** Whether each list level is ordered, by numbering id. */
const readNumbering = async (archive: Archive, part: string | undefined): Promise<Map<string, boolean[]>> => {
  const abstract = new Map<string, boolean[]>()
  const numberings = new Map<string, boolean[]>()
  if (part === undefined || !archive.has(part)) return numberings
  let levels: boolean[] = []
  let level = 0
  let numbering = ''
  await readXml(archive.read(part), {
    open: (name, attribute, parent) => {
      const value = attribute('val') ?? ''
      if (name === 'abstractNum') {
        levels = []
        abstract.set(attribute('abstractNumId') ?? '', levels)
      } else if (name === 'lvl') level = Math.min(Number(attribute('ilvl') ?? 0), 8)
      else if (name === 'numFmt' && parent === 'lvl') levels[level] = value !== 'bullet' && value !== 'none'
      else if (name === 'num') numbering = attribute('numId') ?? ''
      else if (name === 'abstractNumId') numberings.set(numbering, abstract.get(value) ?? [])
    },
  })
  return numberings
}

interface Paragraph {
  styleId?: string
  heading?: number
  numberingId?: string
  level?: number
  isOpen: boolean
}

interface Context {
  writer: DocumentWriter
  styles: Map<string, ParagraphStyle>
  numberings: Map<string, boolean[]>
  relations: Relations
}

const styleOf = (styles: Map<string, ParagraphStyle>, id: string | undefined): ParagraphStyle => {
  const merged: ParagraphStyle = {}
  let next = id
  // A style can be based on another one. The limit ends cycles.
  for (let depth = 0; depth < 10 && next !== undefined; depth += 1) {
    const style = styles.get(next)
    if (style?.heading !== undefined) merged.heading ??= style.heading
    if (style?.numberingId !== undefined) merged.numberingId ??= style.numberingId
    next = style?.basedOn
  }
  return merged
}

const openParagraph = ({ writer, styles, numberings }: Context, paragraph: Paragraph): void => {
  const style = styleOf(styles, paragraph.styleId)
  const numberingId = paragraph.numberingId ?? style.numberingId ?? '0'
  const level = paragraph.level ?? 0
  const item: ListItem | undefined =
    numberingId === '0' ? undefined : { level, ordered: numberings.get(numberingId)?.[level] ?? false }
  writer.openBlock({ heading: paragraph.heading ?? style.heading, item })
  paragraph.isOpen = true
}

// Fallback duplicates its sibling Choice. Moved text, deleted text and field codes are not displayed.
const ignored = new Set(['Fallback', 'moveFrom', 'del', 'instrText', 'delText', 'rPrChange', 'pPrChange', 'sectPr'])

/** Handlers for the body: the elements of WordprocessingML (ECMA-376 part 1, section 17) that contain text. */
const bodyHandlers = (context: Context): NonNullable<Parameters<typeof readXml>[1]> => {
  const { writer, relations } = context
  // A stack, because a text box contains paragraphs inside a run of another paragraph.
  const paragraphs: Paragraph[] = []
  let run = { bold: false, italic: false, hidden: false }
  let href: string | undefined
  let isText = false
  const write = (text: string): void => {
    const paragraph = paragraphs.at(-1)
    if (!paragraph || run.hidden) return
    if (!paragraph.isOpen) openParagraph(context, paragraph)
    writer.write(text, { bold: run.bold, italic: run.italic, href })
  }
  const open: Record<string, (attribute: Attribute, parent: string) => void> = {
    p: () => paragraphs.push({ isOpen: false }),
    pStyle: (attribute) => Object.assign(paragraphs.at(-1) ?? {}, { styleId: attribute('val') }),
    outlineLvl: (attribute) => {
      const level = Number(attribute('val'))
      if (level < 9) Object.assign(paragraphs.at(-1) ?? {}, { heading: level + 1 })
    },
    numId: (attribute) => Object.assign(paragraphs.at(-1) ?? {}, { numberingId: attribute('val') }),
    ilvl: (attribute) => Object.assign(paragraphs.at(-1) ?? {}, { level: Math.min(Number(attribute('val')) || 0, 8) }),
    r: () => {
      run = { bold: false, italic: false, hidden: false }
    },
    b: (attribute, parent) => {
      if (parent === 'rPr') run.bold = isOn(attribute)
    },
    i: (attribute, parent) => {
      if (parent === 'rPr') run.italic = isOn(attribute)
    },
    vanish: (attribute) => {
      run.hidden = isOn(attribute)
    },
    t: () => {
      isText = true
    },
    tab: (_attribute, parent) => {
      if (parent === 'r') write('\t')
    },
    noBreakHyphen: () => write('-'),
    br: () => writer.lineBreak(),
    cr: () => writer.lineBreak(),
    hyperlink: (attribute) => {
      href = relations.get(attribute(':id') ?? '')?.target
    },
    tbl: () => writer.openTable(),
    tr: () => writer.openRow(),
    tc: () => writer.openCell(),
  }
  const close: Record<string, () => void> = {
    p: () => {
      const paragraph = paragraphs.pop()
      if (paragraph && !paragraph.isOpen && paragraphs.length === 0) openParagraph(context, paragraph)
      writer.closeBlock()
    },
    t: () => {
      isText = false
    },
    hyperlink: () => {
      href = undefined
    },
    tbl: () => writer.closeTable(),
    tr: () => writer.closeRow(),
    tc: () => writer.closeCell(),
  }
  return {
    open: (name, attribute, parent) => (Object.hasOwn(open, name) ? open[name]?.(attribute, parent) : undefined),
    close: (name) => (Object.hasOwn(close, name) ? close[name]?.() : undefined),
    text: (text) => {
      if (isText) write(text)
    },
  }
}

/** Returns the text and structure of a Word document: paragraphs, headings, lists, tables, bold, italic and links. */
export const previewDocx = async (archive: Archive, isLate: () => boolean): Promise<PreviewPayload> => {
  const part = await mainPartOf(archive, 'word/document.xml')
  const relations = await readRelations(archive, part)
  const partOf = (type: string): string | undefined =>
    [...relations.values()].find((relation) => relation.type === type)?.target
  const writer = createDocumentWriter()
  const styles = await readStyles(archive, partOf('styles'))
  const numberings = await readNumbering(archive, partOf('numbering'))
  const isEnough = (): boolean => writer.isFull() || isLate()
  await readXml(archive.read(part), bodyHandlers({ writer, styles, numberings, relations }), {
    ignore: ignored,
    isEnough,
  })
  return writer.finish({ truncated: isLate() })
}
