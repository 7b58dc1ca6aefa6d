import { kindOfFormat, showNumber } from './number-format.ts'
import type { NumberKind } from './number-format.ts'
import { mainPartOf, readRelations } from './office-package.ts'
import { limits } from '../payload.ts'
import type { PreviewPayload } from '../payload.ts'
import { createWorkbookWriter, cutCell } from './sheet-writer.ts'
import type { SheetWriter, WorkbookWriter } from './sheet-writer.ts'
import { readXml } from './xml.ts'
import type { XmlHandlers } from './xml.ts'
import type { Archive } from './zip.ts'

interface Workbook {
  sheets: { name: string; relation: string }[]
  /** Dates are counted from 1904, as in Excel for the first Macs. */
  is1904: boolean
}

const readWorkbook = async (archive: Archive, part: string): Promise<Workbook> => {
  const workbook: Workbook = { sheets: [], is1904: false }
  await readXml(archive.read(part), {
    open: (name, attribute) => {
      if (name === 'workbookPr') workbook.is1904 = ['1', 'true'].includes(attribute('date1904') ?? '')
      if (name !== 'sheet' || (attribute('state') ?? 'visible') !== 'visible') return
      workbook.sheets.push({ name: attribute('name') ?? '', relation: attribute(':id') ?? '' })
    },
  })
  return workbook
}

/** The kind of a cell's number, by the index of the cell's style. */
const readKinds = async (archive: Archive, part: string | undefined): Promise<NumberKind[]> => {
  const kinds: NumberKind[] = []
  if (part === undefined || !archive.has(part)) return kinds
  const codes = new Map<number, string>()
  await readXml(archive.read(part), {
    open: (name, attribute, parent) => {
      const id = Number(attribute('numFmtId') ?? 0)
      if (name === 'numFmt') codes.set(id, attribute('formatCode') ?? '')
      else if (name === 'xf' && parent === 'cellXfs') kinds.push(kindOfFormat(id, codes.get(id)))
    },
  })
  return kinds
}

/** The zero-based column of a cell reference: `C12` is 2. Undefined for an invalid reference. */
export const columnOf = (reference: string): number | undefined => {
  let column = 0
  for (const letter of /^[A-Z]{1,3}/.exec(reference)?.[0] ?? '') column = column * 26 + letter.charCodeAt(0) - 64
  return column === 0 ? undefined : column - 1
}

interface SheetContext {
  sheet: SheetWriter
  kinds: NumberKind[]
  is1904: boolean
}

/** Handlers for a sheet: ECMA-376 part 1, 18.3.1. Formulas are not evaluated; their stored value is read. */
const sheetHandlers = ({ sheet, kinds, is1904 }: SheetContext): XmlHandlers => {
  let row = -1
  let column = -1
  let type = ''
  let style = 0
  let value: string | undefined
  let isValue = false
  const show = (text: string): void => {
    if (type === 's') sheet.write(column, { shared: Number(text) })
    else if (type === 'b') sheet.write(column, text === '1' ? 'TRUE' : 'FALSE')
    else if (type === 'd') sheet.write(column, text.replace('T', ' '))
    else if (type === 'n') sheet.write(column, showNumber(text, kinds[style] ?? 'number', is1904))
    else sheet.write(column, text)
  }
  return {
    open: (name, attribute) => {
      if (name === 'row') {
        row = Number(attribute('r') ?? row + 2) - 1
        column = -1
        sheet.startRow(row)
      } else if (name === 'c') {
        column = columnOf(attribute('r') ?? '') ?? column + 1
        type = attribute('t') ?? 'n'
        style = Number(attribute('s') ?? 0)
        value = undefined
      } else if (name === 'v' || name === 't') isValue = true
    },
    text: (text) => {
      if (isValue) value = cutCell((value ?? '') + text)
    },
    close: (name) => {
      if (name === 'v' || name === 't') isValue = false
      if (name !== 'c' || value === undefined) return
      sheet.countRow(row)
      show(value)
    },
  }
}

// A self-closing row has no cells and is not counted.
const rowTag = /<(?:\w+:)?row(?=[\s>])(?:[^<>]*? r="(\d{1,7})")?(?:[^<>]*[^<>/])?>/g

/** Counts the remaining rows of a sheet without parsing them, which is ten times as fast. */
const createRowCounter = (sheet: SheetWriter): ((bytes: Buffer) => void) => {
  let tail = ''
  let row: number = limits.rows
  return (bytes) => {
    const text = tail + bytes.toString('latin1')
    for (const [, reference] of text.matchAll(rowTag)) {
      row = reference === undefined ? row + 1 : Number(reference) - 1
      sheet.countRow(row)
    }
    // Keeps a tag that continues in the next chunk. Tags of rows are short, because they have few attributes.
    const open = text.lastIndexOf('<')
    tail = open > text.lastIndexOf('>') && text.length - open < 4_096 ? text.slice(open) : ''
  }
}

const readSharedStrings = async (
  archive: Archive,
  part: string | undefined,
  writer: WorkbookWriter,
  isLate: () => boolean,
): Promise<void> => {
  const wanted = writer.wanted()
  if (part === undefined || wanted.size === 0) return
  let index = -1
  let found = 0
  let isText = false
  let text = ''
  await readXml(
    archive.read(part),
    {
      open: (name) => {
        if (name === 'si') {
          index += 1
          text = ''
        } else if (name === 't') isText = true
      },
      text: (piece) => {
        if (isText && wanted.has(index)) text = cutCell(text + piece)
      },
      close: (name) => {
        if (name === 't') isText = false
        if (name !== 'si' || !wanted.has(index)) return
        wanted.set(index, text)
        found += 1
      },
    },
    // rPh is phonetic text.
    { ignore: new Set(['rPh']), isEnough: () => found === wanted.size || isLate() },
  )
}

/** Returns the displayed contents of the visible sheets of an Excel workbook. */
export const previewXlsx = async (archive: Archive, isLate: () => boolean): Promise<PreviewPayload> => {
  const main = await mainPartOf(archive, 'xl/workbook.xml')
  const { sheets, is1904 } = await readWorkbook(archive, main)
  const relations = await readRelations(archive, main)
  const partOf = (type: string): string | undefined =>
    [...relations.values()].find((relation) => relation.type === type)?.target
  const kinds = await readKinds(archive, partOf('styles'))
  const writer = createWorkbookWriter()
  for (const { name, relation } of sheets) {
    const target = relations.get(relation)
    // Chart sheets and dialog sheets have no cells.
    if (target?.type !== 'worksheet') continue
    const sheet = writer.addSheet(name)
    if (!sheet) break
    await readXml(archive.read(target.target), sheetHandlers({ sheet, kinds, is1904 }), {
      // rPh is phonetic text. extLst contains extensions of later versions, none of which are cells.
      ignore: new Set(['rPh', 'extLst']),
      isEnough: () => sheet.isFull() || isLate(),
      rest: createRowCounter(sheet),
    })
  }
  const truncated = isLate()
  await readSharedStrings(archive, partOf('sharedStrings'), writer, isLate)
  return writer.finish({ truncated })
}
