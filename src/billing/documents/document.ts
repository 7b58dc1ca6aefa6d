import type { Language } from '../../platform/text/languages.ts'

/** What a statement or receipt shows, in words. All text is for one line: without control and format characters. */
export interface PrintedDocument {
  language: Language
  title: string
  /** Of the seller, beside the title. Empty without one. */
  issuer: string
  /** A restriction that readers must notice. */
  notice: string | null
  facts: [label: string, value: string][]
  parties: PrintedParty[]
  headline: string
  tables: PrintedTable[]
  notes: string[]
  footer: string
  /** `Page {page} of {pages}` in the language of the document. */
  pageLabel: string
  /** ISO 8601; the time of creation in the metadata of a PDF, so that it does not change. */
  createdAt: string
}

export interface PrintedParty {
  label: string
  lines: string[]
}

export interface PrintedTable {
  title: string
  columns: PrintedColumn[]
  rows: PrintedRow[]
}

export interface PrintedColumn {
  title: string
  /** Figures are at the end of their column. */
  align: 'start' | 'end'
  /** The share of the width that it has in a PDF. */
  width: number
}

export interface PrintedRow {
  cells: string[]
  isTotal?: true
}
