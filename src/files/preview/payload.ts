/** One sheet as text: what a cell shows, never its formula. Rows are as long as their last cell that is not empty. */
export interface PreviewSheet {
  name: string
  rows: string[][]
  /** Rows up to the last one that holds something, shown or not. */
  rowCount: number
  /** Columns of the widest row that was read. */
  columnCount: number
  truncated: boolean
}

/** What a preview shows. `truncated` when there is more in the file than in here. */
export interface PreviewPayload {
  kind: 'text' | 'document' | 'spreadsheet'
  truncated: boolean
  text?: string
  /** Of a document: headings, paragraphs, lists, tables, bold, italic and links, and nothing else. */
  html?: string
  sheets?: PreviewSheet[]
}

/** What a preview may cost. Sizes are bytes unless the name says otherwise. */
export const limits = {
  sourceBytes: 26_214_400,
  /** All text of a preview together, in UTF-8. */
  textBytes: 524_288,
  htmlBytes: 1_048_576,
  sheets: 20,
  rows: 1_000,
  columns: 100,
  /** All cells of a workbook together: empty ones cost something, too. */
  cells: 200_000,
  cellCharacters: 2_000,
  /** What all parts of an archive that are read may unpack to. Bytes are counted as they come, headers may lie. */
  inflatedBytes: 536_870_912,
  /** Office files reach 30 to 1, runs of one byte 1,000 to 1. Only what unpacks to more than 16 MB is held to it. */
  ratio: 100,
  ratioFloorBytes: 16_777_216,
  archiveEntries: 10_000,
  /** One attribute or one run of text without a tag in between. */
  xmlPieceCharacters: 4_194_304,
  xmlDepth: 256,
  /** What was read by then is shown, marked as truncated. */
  softTimeoutMs: 7_000,
} as const

/** A file that has no preview, with the reason in words for the end of "This file cannot be previewed: …". */
export class Refusal extends Error {
  constructor(reason: string, options?: ErrorOptions) {
    super(reason, options)
    this.name = 'Refusal'
  }
}

export const damaged = (cause?: unknown): Refusal => new Refusal('it is damaged', { cause })
export const encrypted = (): Refusal => new Refusal('it is protected by a password')
export const oversized = (): Refusal => new Refusal('it unpacks to more than a preview may read')
