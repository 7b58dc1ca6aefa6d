/** One sheet as text: the displayed values, not the formulas. A row ends with its last non-empty cell. */
export interface PreviewSheet {
  name: string
  rows: string[][]
  /** Rows up to the last non-empty one, including those beyond the limit. */
  rowCount: number
  /** Columns of the widest row that was read. */
  columnCount: number
  truncated: boolean
}

/** The content of a preview. `truncated` when the file has more. */
export interface PreviewPayload {
  kind: 'text' | 'document' | 'spreadsheet'
  truncated: boolean
  text?: string
  /** Of a document: headings, paragraphs, lists, tables, bold, italic and links only. */
  html?: string
  sheets?: PreviewSheet[]
}

/** Limits of a preview. Sizes are in bytes unless the name says otherwise. */
export const limits = {
  sourceBytes: 26_214_400,
  /** All text of a preview together, in UTF-8. */
  textBytes: 524_288,
  htmlBytes: 1_048_576,
  sheets: 20,
  rows: 1_000,
  columns: 100,
  /** All cells of a workbook, including empty ones, which also use memory. */
  cells: 200_000,
  cellCharacters: 2_000,
  /** The unpacked size of all parts that are read. The bytes are counted, because headers may be wrong. */
  inflatedBytes: 536_870_912,
  /** The compression ratio: office files reach 30, runs of one byte 1,000. Applies above `ratioFloorBytes`, 16 MB. */
  ratio: 100,
  ratioFloorBytes: 16_777_216,
  archiveEntries: 10_000,
  /** The length of one attribute or text node. */
  xmlPieceCharacters: 4_194_304,
  xmlDepth: 256,
} as const

/** The file cannot be previewed. The message completes "This file cannot be previewed: …". */
export class PreviewError extends Error {
  constructor(reason: string, options?: ErrorOptions) {
    super(reason, options)
    this.name = 'PreviewError'
  }
}

export const damaged = (cause?: unknown): PreviewError => new PreviewError('it is damaged', { cause })
export const encrypted = (): PreviewError => new PreviewError('it is protected by a password')
export const oversized = (): PreviewError => new PreviewError('its unpacked size exceeds the limit')
