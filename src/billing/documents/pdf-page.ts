import { buffer } from 'node:stream/consumers'
import Pdf from 'pdfkit'
import type { PrintedColumn, PrintedDocument, PrintedParty, PrintedRow, PrintedTable } from './document.ts'
import { readFont, runsOf } from './pdf-fonts.ts'
import type { Weight } from './pdf-fonts.ts'

// Points (1/72 inch) of an A4 page.
const width = 595.28
const height = 841.89
const margin = 50
const inner = width - 2 * margin
/** The last line of a page is above the footer. */
const bottom = height - 72

const black = '#1b1b1f'
const gray = '#5c5c66'
const line = '#dcdcd8'

interface Font {
  size: number
  weight?: Weight
  color?: string
}

interface Box {
  x: number
  y: number
  width: number
  align?: 'start' | 'end'
}

/** Draws text and lines on pages, from top to bottom. */
class Canvas {
  y = margin
  readonly #doc: PDFKit.PDFDocument
  readonly #loaded = new Set<string>()

  constructor(doc: PDFKit.PDFDocument) {
    this.#doc = doc
  }

  #use(font: string, size: number): void {
    if (!this.#loaded.has(font)) {
      this.#doc.registerFont(font, readFont(font))
      this.#loaded.add(font)
    }
    this.#doc.font(font).fontSize(size)
  }

  widthOf(text: string, { size, weight = 400 }: Font): number {
    let sum = 0
    for (const run of runsOf(text, weight)) {
      this.#use(run.font, size)
      sum += this.#doc.widthOfString(run.text)
    }
    return sum
  }

  /** The longest prefix that fits, at least one character. */
  #fitting(text: string, font: Font, available: number): string {
    const characters = [...text]
    let low = 1
    let high = characters.length
    while (low < high) {
      const middle = Math.ceil((low + high) / 2)
      if (this.widthOf(characters.slice(0, middle).join(''), font) <= available) low = middle
      else high = middle - 1
    }
    return characters.slice(0, low).join('')
  }

  /** Breaks a text at spaces, and words that are too long anywhere. The last of `maxLines` ends with an ellipsis. */
  wrap(text: string, font: Font, available: number, maxLines: number): string[] {
    const lines: string[] = []
    let rest = text
    while (rest !== '') {
      if (this.widthOf(rest, font) <= available) {
        lines.push(rest)
        break
      }
      if (lines.length + 1 === maxLines) {
        lines.push(`${this.#fitting(rest, font, available - this.widthOf('…', font))}…`)
        break
      }
      const fitting = this.#fitting(rest, font, available)
      const space = fitting.lastIndexOf(' ')
      const head = space > 0 && rest[fitting.length] !== ' ' ? fitting.slice(0, space) : fitting
      lines.push(head)
      rest = rest.slice(head.length).trimStart()
    }
    return lines
  }

  /** One line of text, which `y` is the top of. */
  text(text: string, font: Font, { x, y, width: available, align = 'start' }: Box): void {
    const { size, weight = 400, color = black } = font
    let at = align === 'end' ? x + available - this.widthOf(text, font) : x
    for (const run of runsOf(text, weight)) {
      this.#use(run.font, size)
      const runWidth = this.#doc.widthOfString(run.text)
      this.#doc.fillColor(color).text(run.text, at, y, { lineBreak: false })
      at += runWidth
    }
  }

  /** A paragraph over the whole width; moves down by its height. */
  paragraph(text: string, font: Font, maxLines = 6): void {
    for (const one of this.wrap(text, font, inner, maxLines)) {
      this.text(one, font, { x: margin, y: this.y, width: inner })
      this.y += font.size * 1.45
    }
  }

  rule(y: number, color: string): void {
    this.#doc
      .moveTo(margin, y)
      .lineTo(width - margin, y)
      .lineWidth(0.6)
      .strokeColor(color)
      .stroke()
  }

  band(box: { y: number; height: number }, color: string): void {
    this.#doc.rect(margin, box.y, inner, box.height).fill(color)
  }

  /** Whether this height does not fit on the page. */
  isFull(needed: number): boolean {
    return this.y + needed > bottom
  }

  nextPage(): void {
    this.#doc.addPage()
    this.y = margin
  }
}

const body: Font = { size: 9 }
const strong: Font = { size: 9, weight: 600 }
const small: Font = { size: 7.5, color: gray }
const lineHeight = 13

const drawHead = (canvas: Canvas, { title, issuer, notice, facts }: PrintedDocument): void => {
  canvas.text(title, { size: 20, weight: 600 }, { x: margin, y: canvas.y, width: inner })
  const issuerFont: Font = { size: 12, weight: 600, color: gray }
  const [name = ''] = canvas.wrap(issuer, issuerFont, inner / 2, 1)
  canvas.text(name, issuerFont, { x: margin + inner / 2, y: canvas.y + 7, width: inner / 2, align: 'end' })
  canvas.y += 42
  if (notice !== null) {
    const lines = canvas.wrap(notice, body, inner - 20, 4)
    canvas.band({ y: canvas.y, height: lines.length * lineHeight + 12 }, '#fdf6e3')
    for (const [index, text] of lines.entries()) {
      const y = canvas.y + 6 + index * lineHeight
      canvas.text(text, { ...body, color: '#75510a' }, { x: margin + 10, y, width: inner - 20 })
    }
    canvas.y += lines.length * lineHeight + 28
  }
  const labelWidth = Math.max(...facts.map(([label]) => canvas.widthOf(label, strong))) + 18
  for (const [label, value] of facts) {
    canvas.text(label, strong, { x: margin, y: canvas.y, width: labelWidth })
    for (const text of canvas.wrap(value, body, inner - labelWidth, 2)) {
      canvas.text(text, body, { x: margin + labelWidth, y: canvas.y, width: inner - labelWidth })
      canvas.y += lineHeight + 1
    }
  }
  canvas.y += 16
}

const drawParty = (canvas: Canvas, { label, lines: [name = '', ...rest] }: PrintedParty, box: Box): number => {
  let { y } = box
  const draw = (text: string, font: Font, maxLines: number): void => {
    for (const one of canvas.wrap(text, font, box.width, maxLines)) {
      canvas.text(one, font, { ...box, y })
      y += lineHeight
    }
  }
  draw(label, { ...body, color: gray }, 1)
  draw(name, strong, 3)
  for (const text of rest) draw(text, body, 2)
  return y
}

const drawParties = (canvas: Canvas, parties: readonly PrintedParty[]): void => {
  const columnWidth = inner / 2
  const ends = parties.map((party, index) =>
    drawParty(canvas, party, { x: margin + index * columnWidth, y: canvas.y, width: columnWidth - 16 }),
  )
  canvas.y = Math.max(canvas.y, ...ends) + 18
}

interface PlacedColumn extends PrintedColumn {
  box: Omit<Box, 'y'>
}

const gap = 10

const placeColumns = (columns: readonly PrintedColumn[]): PlacedColumn[] => {
  const sum = columns.reduce((total, column) => total + column.width, 0)
  const available = inner - gap * (columns.length - 1)
  let x = margin
  return columns.map((column) => {
    const box = { x, width: (column.width / sum) * available, align: column.align }
    x += box.width + gap
    return { ...column, box }
  })
}

const drawTableHead = (canvas: Canvas, columns: readonly PlacedColumn[]): void => {
  for (const { title, box } of columns) {
    const [text = ''] = canvas.wrap(title, small, box.width, 1)
    canvas.text(text, small, { ...box, y: canvas.y })
  }
  canvas.y += 14
  canvas.rule(canvas.y, black)
  canvas.y += 6
}

const rowLines = (canvas: Canvas, columns: readonly PlacedColumn[], { cells, isTotal }: PrintedRow): string[][] =>
  // The name of a total may reach over the columns beside it, which are empty.
  columns.map(({ box, align }, index) => {
    const next = columns[index + 1]
    const isWide = isTotal === true && index === 0 && next !== undefined && cells[1] === ''
    const available = isWide ? box.width + gap + next.box.width : box.width
    return canvas.wrap(cells[index] ?? '', isTotal ? strong : body, available, align === 'end' ? 1 : 3)
  })

const drawTable = (canvas: Canvas, { title, columns, rows }: PrintedTable): void => {
  const placed = placeColumns(columns)
  // The title, the head and a row stay together.
  if (canvas.isFull(90)) canvas.nextPage()
  canvas.text(title, { size: 11, weight: 600 }, { x: margin, y: canvas.y, width: inner })
  canvas.y += 24
  drawTableHead(canvas, placed)
  for (const row of rows) {
    const cells = rowLines(canvas, placed, row)
    const rowHeight = Math.max(1, ...cells.map(({ length }) => length)) * lineHeight + 7
    if (canvas.isFull(rowHeight)) {
      canvas.nextPage()
      drawTableHead(canvas, placed)
    }
    for (const [index, lines] of cells.entries()) {
      const column = placed[index]
      if (!column) continue
      for (const [number, text] of lines.entries()) {
        const y = canvas.y + number * lineHeight
        canvas.text(text, row.isTotal ? strong : body, { ...column.box, y })
      }
    }
    canvas.y += rowHeight
    canvas.rule(canvas.y - 5, line)
    canvas.y += 1
  }
  canvas.y += 22
}

const drawFooters = (canvas: Canvas, doc: PDFKit.PDFDocument, { footer, pageLabel }: PrintedDocument): void => {
  const { start, count } = doc.bufferedPageRange()
  for (let index = 0; index < count; index += 1) {
    doc.switchToPage(start + index)
    const y = height - 48
    canvas.rule(y - 8, line)
    canvas.text(footer, small, { x: margin, y, width: inner })
    const page = pageLabel.replace('{page}', String(index + 1)).replace('{pages}', String(count))
    canvas.text(page, small, { x: margin, y, width: inner, align: 'end' })
  }
}

/** The document as a PDF file of A4 pages. */
export const drawDocument = async (document: PrintedDocument): Promise<Buffer> => {
  const doc = new Pdf({
    size: 'A4',
    // The footer is below the margin, where the library would begin another page.
    margin: 0,
    bufferPages: true,
    lang: document.language,
    displayTitle: true,
    info: {
      Title: document.footer,
      ...(document.issuer === '' ? {} : { Author: document.issuer }),
      CreationDate: new Date(document.createdAt),
    },
  })
  const file = buffer(doc)
  const canvas = new Canvas(doc)
  drawHead(canvas, document)
  drawParties(canvas, document.parties)
  canvas.paragraph(document.headline, { size: 14, weight: 600 }, 2)
  canvas.y += 18
  for (const table of document.tables) drawTable(canvas, table)
  const notesHeight = document.notes.length * 24
  if (canvas.isFull(notesHeight)) canvas.nextPage()
  for (const note of document.notes) {
    canvas.paragraph(note, { size: 8, color: gray })
    canvas.y += 3
  }
  drawFooters(canvas, doc, document)
  doc.end()
  return file
}
