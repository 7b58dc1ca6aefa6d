import type { PreviewPayload, PreviewSheet } from '../payload.ts'
import { limits } from '../payload.ts'
import { cutToBytes } from './text.ts'

/** The displayed text of a cell, or the index of a shared string that is read later. */
export type Cell = string | { shared: number }

/** Receives the cells of one sheet in the order of the file, row by row. */
export interface SheetWriter {
  /** No more rows or cells are stored, but they are still counted. */
  isFull(): boolean
  /** Ends the previous row. `index` starts at 0; skipped rows are empty. */
  startRow(index: number): void
  /** `column` starts at 0 and increases within a row. */
  write(column: number, cell: Cell): void
  /** Counts the row at this index as not empty, whether or not it is shown. */
  countRow(index: number): void
}

export interface WorkbookWriter {
  /** Undefined when the preview already has the maximum number of sheets. */
  addSheet(name: string): SheetWriter | undefined
  /** The shared strings that cells refer to, by index. The reader of shared strings sets their values. */
  wanted(): Map<number, string>
  finish(options?: { truncated: boolean }): PreviewPayload
}

interface Draft {
  name: string
  rows: Cell[][]
  rowCount: number
  columnCount: number
  truncated: boolean
}

/** Cuts the text of a cell to the limit, without splitting a surrogate pair. */
export const cutCell = (text: string): string => {
  if (text.length <= limits.cellCharacters) return text
  const last = text.charCodeAt(limits.cellCharacters - 1)
  return `${text.slice(0, limits.cellCharacters - (last >= 0xd800 && last < 0xdc00 ? 1 : 0))}…`
}

const trimRow = (row: string[]): string[] => {
  const last = row.findLastIndex((cell) => cell !== '')
  return last === row.length - 1 ? row : row.slice(0, last + 1)
}

/** Cuts a sheet to its share of the text limit of a preview. */
const finishSheet = (
  { name, rows: cells, rowCount, columnCount, truncated }: Draft,
  strings: Map<number, string>,
  maxBytes: number,
): { sheet: PreviewSheet; bytes: number } => {
  const rows: string[][] = []
  let bytes = 0
  for (const row of cells) {
    const texts = trimRow(row.map((cell) => (typeof cell === 'string' ? cell : (strings.get(cell.shared) ?? ''))))
    const rowBytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0)
    if (bytes + rowBytes > maxBytes) break
    bytes += rowBytes
    rows.push(texts)
  }
  const cut = rows.length < cells.length
  while (rows.at(-1)?.length === 0) rows.pop()
  const shown = { name: cutToBytes(name, 1_000), rows, rowCount: Math.max(rowCount, rows.length), columnCount }
  return { sheet: { ...shown, truncated: truncated || cut }, bytes }
}

export const createWorkbookWriter = (): WorkbookWriter => {
  const drafts: Draft[] = []
  const strings = new Map<number, string>()
  let cells = 0
  let leftOut = false

  const createSheet = (draft: Draft): SheetWriter => {
    let row: Cell[] | undefined
    let full = false
    return {
      isFull: () => full,
      startRow: (index) => {
        row = undefined
        full ||= index >= limits.rows || cells >= limits.cells
        if (full) return
        while (draft.rows.length <= index) draft.rows.push([])
        row = draft.rows[index]
      },
      write: (column, cell) => {
        if (cell === '') return
        draft.columnCount = Math.max(draft.columnCount, column + 1)
        if (!row || column >= limits.columns || cells >= limits.cells) {
          draft.truncated = true
          return
        }
        cells += Math.max(column + 1 - row.length, 0)
        while (row.length < column) row.push('')
        row[column] = typeof cell === 'string' ? cutCell(cell) : cell
        if (typeof cell !== 'string') strings.set(cell.shared, '')
      },
      countRow: (index) => {
        draft.rowCount = Math.max(draft.rowCount, index + 1)
        if (full || index >= limits.rows) draft.truncated = true
      },
    }
  }
  return {
    addSheet: (name) => {
      if (drafts.length >= limits.sheets) {
        leftOut = true
        return undefined
      }
      const draft: Draft = { name, rows: [], rowCount: 0, columnCount: 0, truncated: false }
      drafts.push(draft)
      return createSheet(draft)
    },
    wanted: () => strings,
    finish: ({ truncated } = { truncated: false }) => {
      let left: number = limits.textBytes
      const sheets = drafts.map((draft, index) => {
        // The share that a small sheet does not use is divided among the sheets after it.
        const { sheet, bytes } = finishSheet(draft, strings, Math.floor(left / (drafts.length - index)))
        left -= bytes
        return sheet
      })
      const isCut = truncated || leftOut || sheets.some((sheet) => sheet.truncated)
      return { kind: 'spreadsheet', truncated: isCut, sheets }
    },
  }
}
