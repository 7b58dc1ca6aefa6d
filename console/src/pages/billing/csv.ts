type Cell = string | number | null

/** Spreadsheet programs evaluate such text as a formula (CSV injection), so it gets a leading apostrophe. */
const formulaStart = /^[=+\-@\t\r]/

const quote = (cell: Cell): string => {
  if (cell === null) return ''
  if (typeof cell === 'number') return String(cell)
  const text = formulaStart.test(cell) ? `'${cell}` : cell
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

export const toCsv = (rows: readonly (readonly Cell[])[]): string =>
  rows.map((row) => `${row.map(quote).join(',')}\r\n`).join('')

/** Saves text as a file through the browser's downloads. */
export const download = (name: string, text: string): void => {
  const url = URL.createObjectURL(new Blob(['\uFEFF', text], { type: 'text/csv;charset=utf-8' }))
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  // The browser reads the blob after this function has returned.
  setTimeout(() => URL.revokeObjectURL(url), 10_000)
}
