import type { PreviewPayload } from '../payload.ts'
import { createWorkbookWriter } from './sheet-writer.ts'
import type { SheetWriter } from './sheet-writer.ts'
import { createDecoder } from './text.ts'

const delimiters = [',', ';', '\t', '|']

/** The most frequent delimiter outside quotes in the first 20 lines. A comma if there is none. */
export const detectDelimiter = (sample: string): string => {
  const counts = new Map(delimiters.map((delimiter) => [delimiter, 0]))
  let quoted = false
  let lines = 0
  for (const character of sample) {
    if (character === '"') quoted = !quoted
    else if (quoted) continue
    else if (character === '\n') lines += 1
    else if (counts.has(character)) counts.set(character, (counts.get(character) ?? 0) + 1)
    if (lines === 20) break
  }
  const [best = ','] = delimiters.toSorted((a, b) => (counts.get(b) ?? 0) - (counts.get(a) ?? 0))
  return best
}

/**
 * Reads delimited text: RFC 4180, and also any line ending, rows of unequal length and literal quotes in the middle of
 * a field.
 */
export const createCsvReader = (sheet: SheetWriter, delimiter: string): { push(text: string): void; end(): void } => {
  let row = 0
  let column = 0
  let field = ''
  let quoted = false
  /**
   * The previous character was a quote in a quoted field: a second quote escapes it, any other character ends the
   * field.
   */
  let wasQuote = false
  let wasReturn = false
  let isEmptyRow = true

  const endField = (): void => {
    if (column === 0) sheet.startRow(row)
    sheet.write(column, field)
    if (field !== '') isEmptyRow = false
    column += 1
    field = ''
    wasQuote = false
  }
  const endRow = (): void => {
    endField()
    if (!isEmptyRow) sheet.countRow(row)
    row += 1
    column = 0
    isEmptyRow = true
  }
  const isSpecial = new RegExp(`["\\r\\n${delimiter === '\t' ? '\\t' : `\\${delimiter}`}]`, 'g')
  /** The next quote, delimiter or line break. Uses native search, which is faster than a loop over characters. */
  const runEnd = (text: string, from: number): number => {
    if (quoted) {
      const quote = text.indexOf('"', from)
      return quote === -1 ? text.length : quote
    }
    isSpecial.lastIndex = from
    return isSpecial.exec(text)?.index ?? text.length
  }

  return {
    push: (text) => {
      for (let at = 0; at < text.length;) {
        if (wasQuote && quoted) {
          wasQuote = false
          if (text[at] === '"') {
            field += '"'
            at += 1
            continue
          }
          quoted = false
        }
        const end = runEnd(text, at)
        if (end > at) {
          field += text.slice(at, end)
          wasReturn = false
        }
        const character = text[end]
        at = end + 1
        if (character === undefined) break
        if (character === '"') {
          if (quoted) wasQuote = true
          else if (field === '') quoted = true
          else field += '"'
        } else if (character === delimiter) endField()
        else if (character === '\r' || !wasReturn) endRow()
        wasReturn = character === '\r'
      }
    },
    end: () => {
      if (field !== '' || column > 0) endRow()
    },
  }
}

const sampleBytes = 65_536

/** Returns the preview of delimited text as one sheet. */
export const previewCsv = async (
  source: AsyncIterable<Buffer>,
  format: 'csv' | 'tsv',
  isLate: () => boolean,
): Promise<PreviewPayload> => {
  const writer = createWorkbookWriter()
  const sheet = writer.addSheet('')
  let head: Buffer[] | undefined = []
  let headBytes = 0
  let read: ((chunk: Buffer, isLast: boolean) => void) | undefined
  let reader: ReturnType<typeof createCsvReader> | undefined
  const start = (isWhole: boolean): void => {
    const sample = Buffer.concat(head ?? [])
    head = undefined
    const decode = createDecoder(sample, isWhole)
    read = (chunk, isLast) => {
      const text = decode(chunk, isLast)
      if (!sheet) return
      reader ??= createCsvReader(sheet, format === 'tsv' ? '\t' : detectDelimiter(text))
      reader.push(text)
    }
    read(sample, isWhole)
  }
  let late = false
  for await (const chunk of source) {
    late ||= isLate()
    if (late) continue
    if (read) read(chunk, false)
    else {
      head?.push(chunk)
      headBytes += chunk.length
      if (headBytes >= sampleBytes) start(false)
    }
  }
  if (!read) start(true)
  else if (!late) read(Buffer.alloc(0), true)
  reader?.end()
  return writer.finish({ truncated: late })
}
