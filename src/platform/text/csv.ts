export type CsvCell = string | number | null

/** Spreadsheet programs evaluate such text as a formula (CSV injection), so it gets a leading apostrophe. */
const formulaStart = /^[=+\-@\t\r]/

const quote = (cell: CsvCell): string => {
  if (cell === null) return ''
  if (typeof cell === 'number') return String(cell)
  const text = formulaStart.test(cell) ? `'${cell}` : cell
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** One line of CSV (RFC 4180), with its line break. */
export const csvLine = (cells: readonly CsvCell[]): string => `${cells.map(quote).join(',')}\r\n`
