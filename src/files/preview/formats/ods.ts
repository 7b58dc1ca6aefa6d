import { rejectEncrypted } from './opendocument.ts'
import type { PreviewPayload } from '../payload.ts'
import { limits } from '../payload.ts'
import { createWorkbookWriter, cutCell } from './sheet-writer.ts'
import type { SheetWriter } from './sheet-writer.ts'
import { readXml } from './xml.ts'
import type { XmlHandlers } from './xml.ts'
import type { Archive } from './zip.ts'

type Attribute = (name: string) => string | undefined

/** Formats an XML Schema duration: `PT12H30M00S` becomes 12:30:00. */
const showTime = (duration: string): string => {
  const [, hours = '0', minutes = '0', seconds = '0'] =
    /^PT(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)(?:[.,]\d+)?S)?$/.exec(duration) ?? []
  return [hours, minutes, seconds].map((part) => part.padStart(2, '0')).join(':')
}

/** The stored value of a cell, for cells without text. */
const storedValue = (attribute: Attribute): string => {
  const type = attribute('value-type')
  if (type === 'date') return (attribute('date-value') ?? '').replace('T', ' ')
  if (type === 'time') return showTime(attribute('time-value') ?? '')
  if (type === 'boolean') return (attribute('boolean-value') ?? '').toUpperCase()
  if (type === 'string') return attribute('string-value') ?? ''
  return attribute('value') ?? ''
}

const repeatsOf = (attribute: Attribute, name: string, most: number): number =>
  Math.min(Math.max(Number(attribute(name) ?? 1) || 1, 1), most)

interface Cells {
  column: number
  text: string
  repeats: number
}

// The empty rows below the last one are stored as one row that is repeated a million times.
const mostRows = 1_048_576
const mostColumns = 16_384

/** Handlers for content.xml: OpenDocument 1.3, part 3, chapter 9. */
const createHandlers = (addSheet: (name: string) => SheetWriter | undefined): XmlHandlers => {
  let sheet: SheetWriter | undefined
  let row = 0
  let rowRepeats = 1
  let cells: Cells[] = []
  let column = 0
  let paragraphs = 0
  let stored = ''
  let text = ''
  let columnRepeats = 1
  let isParagraph = 0

  const endRow = (): void => {
    if (cells.length > 0) {
      for (let repeat = 0; repeat < Math.min(rowRepeats, limits.rows + 1) && !sheet?.isFull(); repeat += 1) {
        sheet?.startRow(row + repeat)
        for (const cell of cells) {
          for (let at = 0; at < cell.repeats; at += 1) sheet?.write(cell.column + at, cell.text)
        }
      }
      sheet?.countRow(row + rowRepeats - 1)
    }
    row += rowRepeats
  }
  const open: Record<string, (attribute: Attribute) => void> = {
    table: (attribute) => {
      sheet = addSheet(attribute('name') ?? '')
      row = 0
    },
    'table-row': (attribute) => {
      rowRepeats = repeatsOf(attribute, 'number-rows-repeated', mostRows)
      cells = []
      column = 0
    },
    'table-cell': (attribute) => {
      columnRepeats = repeatsOf(attribute, 'number-columns-repeated', mostColumns)
      stored = storedValue(attribute)
      text = ''
      paragraphs = 0
    },
    'covered-table-cell': (attribute) => {
      columnRepeats = repeatsOf(attribute, 'number-columns-repeated', mostColumns)
      stored = ''
      text = ''
    },
    p: () => {
      isParagraph += 1
      if (paragraphs > 0) text = cutCell(`${text}\n`)
      paragraphs += 1
    },
    s: (attribute) => {
      text = cutCell(text + ' '.repeat(Math.min(Number(attribute('c') ?? 1) || 1, limits.cellCharacters)))
    },
  }
  const closeCell = (): void => {
    // One column beyond the limit is enough to mark the sheet as truncated.
    const repeats = Math.min(columnRepeats, Math.max(1, limits.columns + 1 - column))
    const shown = text === '' ? stored : text
    // In a row that is only counted, one cell is enough to mark the row as not empty.
    if (shown !== '' && !(sheet?.isFull() && cells.length > 0)) cells.push({ column, text: shown, repeats })
    column += columnRepeats
  }
  const close: Record<string, () => void> = {
    table: () => {
      sheet = undefined
    },
    'table-row': endRow,
    'table-cell': closeCell,
    'covered-table-cell': closeCell,
    p: () => {
      isParagraph -= 1
    },
  }
  return {
    open: (name, attribute) => (Object.hasOwn(open, name) ? open[name]?.(attribute) : undefined),
    close: (name) => {
      if (Object.hasOwn(close, name)) close[name]?.()
    },
    text: (piece) => {
      if (isParagraph > 0 && sheet) text = cutCell(text + piece.replaceAll(/[ \t\r\n]+/g, ' '))
    },
  }
}

// Comments and tracked changes are not part of a cell's displayed text.
const ignored = new Set(['annotation', 'tracked-changes', 'forms', 'shapes', 'scripts', 'font-face-decls'])

/** Returns the displayed contents of the sheets of an OpenDocument spreadsheet. */
export const previewOds = async (archive: Archive, isLate: () => boolean): Promise<PreviewPayload> => {
  await rejectEncrypted(archive)
  const writer = createWorkbookWriter()
  await readXml(
    archive.read('content.xml'),
    createHandlers((name) => writer.addSheet(name)),
    { ignore: ignored, isEnough: isLate },
  )
  return writer.finish({ truncated: isLate() })
}
