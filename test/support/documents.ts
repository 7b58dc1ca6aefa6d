import { deflateRawSync } from 'node:zlib'
import { strToU8, zipSync } from 'fflate'
import type { Zippable } from 'fflate'

// Minimal files of every format with a preview, and variants with common defects.

const xmlHeader = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
const officeRelations = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
const packageRelations = 'http://schemas.openxmlformats.org/package/2006/relationships'
const word = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
const sheetMain = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
const relation = `xmlns:r="${officeRelations}"`

export const escapeXml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')

/** A ZIP archive of text and bytes. */
export const zip = (parts: Record<string, string | Uint8Array>): Buffer => {
  const files: Zippable = {}
  for (const [name, part] of Object.entries(parts)) files[name] = typeof part === 'string' ? strToU8(part) : part
  return Buffer.from(zipSync(files))
}

const relations = (entries: [id: string, type: string, target: string, external?: boolean][]): string =>
  `${xmlHeader}<Relationships xmlns="${packageRelations}">${entries
    .map(
      ([id, type, target, external]) =>
        `<Relationship Id="${id}" Type="${officeRelations}/${type}" Target="${escapeXml(target)}"${external ? ' TargetMode="External"' : ''}/>`,
    )
    .join('')}</Relationships>`

export interface DocxParts {
  /** Inside `w:body`. */
  body: string
  styles?: string
  numbering?: string
  /** Link targets by relation id. */
  links?: Record<string, string>
  /** Before the root element. */
  prolog?: string
}

/** The parts of a Word document, which a test can change before zipping them. */
export const docxParts = ({ body, styles, numbering, links = {}, prolog = '' }: DocxParts): Record<string, string> => ({
  '[Content_Types].xml': `${xmlHeader}<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="xml" ContentType="application/xml"/></Types>`,
  '_rels/.rels': relations([['rId1', 'officeDocument', 'word/document.xml']]),
  'word/_rels/document.xml.rels': relations([
    ...(styles === undefined ? [] : [['rIdS', 'styles', 'styles.xml'] as [string, string, string]]),
    ...(numbering === undefined ? [] : [['rIdN', 'numbering', 'numbering.xml'] as [string, string, string]]),
    ...Object.entries(links).map(([id, target]): [string, string, string, boolean] => [id, 'hyperlink', target, true]),
  ]),
  'word/document.xml': `${xmlHeader}${prolog}<w:document ${word} ${relation}><w:body>${body}</w:body></w:document>`,
  ...(styles === undefined ? {} : { 'word/styles.xml': `${xmlHeader}<w:styles ${word}>${styles}</w:styles>` }),
  ...(numbering === undefined
    ? {}
    : { 'word/numbering.xml': `${xmlHeader}<w:numbering ${word}>${numbering}</w:numbering>` }),
})

export const docx = (parts: DocxParts): Buffer => zip(docxParts(parts))

export const paragraph = (text: string, properties = ''): string =>
  `<w:p>${properties === '' ? '' : `<w:pPr>${properties}</w:pPr>`}<w:r><w:t xml:space="preserve">${escapeXml(text)}</w:t></w:r></w:p>`

export type CellValue =
  | string
  | number
  | boolean
  | { style: number; value: number }
  | { formula: string; value: string }

export interface XlsxSheet {
  name: string
  /** Rows of cells; null for a missing cell. */
  rows?: (CellValue | null)[][]
  /** Inside `sheetData` instead of rows. */
  xml?: string
  state?: 'hidden'
}

export interface XlsxOptions {
  /** Format codes; style 1 is the first. */
  formats?: string[]
  date1904?: boolean
}

export const columnName = (index: number): string =>
  (index >= 26 ? columnName(Math.floor(index / 26) - 1) : '') + String.fromCharCode(65 + (index % 26))

const cellXml = (reference: string, cell: CellValue, strings: Map<string, number>): string => {
  if (typeof cell === 'number') return `<c r="${reference}"><v>${cell}</v></c>`
  if (typeof cell === 'boolean') return `<c r="${reference}" t="b"><v>${cell ? 1 : 0}</v></c>`
  if (typeof cell === 'string') {
    if (!strings.has(cell)) strings.set(cell, strings.size)
    return `<c r="${reference}" t="s"><v>${strings.get(cell)}</v></c>`
  }
  if ('style' in cell) return `<c r="${reference}" s="${cell.style}"><v>${cell.value}</v></c>`
  return `<c r="${reference}" t="str"><f>${escapeXml(cell.formula)}</f><v>${escapeXml(cell.value)}</v></c>`
}

const sheetXml = ({ rows = [], xml }: XlsxSheet, strings: Map<string, number>): string => {
  const data =
    xml ??
    rows
      .map((row, r) => {
        const cells = row.map((cell, c) => (cell === null ? '' : cellXml(`${columnName(c)}${r + 1}`, cell, strings)))
        return `<row r="${r + 1}">${cells.join('')}</row>`
      })
      .join('')
  return `${xmlHeader}<worksheet ${sheetMain}><sheetData>${data}</sheetData></worksheet>`
}

export const xlsxParts = (
  sheets: XlsxSheet[],
  { formats = [], date1904 }: XlsxOptions = {},
): Record<string, string> => {
  const strings = new Map<string, number>()
  const sheetParts = sheets.map((sheet, index) => [`xl/worksheets/sheet${index + 1}.xml`, sheetXml(sheet, strings)])
  const list = sheets.map(
    ({ name, state }, index) =>
      `<sheet name="${escapeXml(name)}" sheetId="${index + 1}"${state ? ` state="${state}"` : ''} r:id="rId${index + 1}"/>`,
  )
  return {
    '_rels/.rels': relations([['rId1', 'officeDocument', 'xl/workbook.xml']]),
    'xl/workbook.xml': `${xmlHeader}<workbook ${sheetMain} ${relation}><workbookPr${date1904 ? ' date1904="1"' : ''}/><sheets>${list.join('')}</sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': relations([
      ...sheets.map((_, index): [string, string, string] => [
        `rId${index + 1}`,
        'worksheet',
        `worksheets/sheet${index + 1}.xml`,
      ]),
      ['rIdStrings', 'sharedStrings', 'sharedStrings.xml'],
      ['rIdStyles', 'styles', '/xl/styles.xml'],
    ]),
    'xl/styles.xml': `${xmlHeader}<styleSheet ${sheetMain}><numFmts>${formats.map((code, index) => `<numFmt numFmtId="${164 + index}" formatCode="${escapeXml(code)}"/>`).join('')}</numFmts><cellStyleXfs><xf numFmtId="14"/></cellStyleXfs><cellXfs><xf numFmtId="0"/>${formats.map((_, index) => `<xf numFmtId="${164 + index}"/>`).join('')}<xf numFmtId="14"/></cellXfs></styleSheet>`,
    'xl/sharedStrings.xml': `${xmlHeader}<sst ${sheetMain}>${[...strings.keys()].map((text) => `<si><t>${escapeXml(text)}</t></si>`).join('')}</sst>`,
    ...Object.fromEntries(sheetParts),
  }
}

export const xlsx = (sheets: XlsxSheet[], options?: XlsxOptions): Buffer => zip(xlsxParts(sheets, options))

/** A workbook with many rows of numbers, streamed so that their text is never one string. */
export const largeXlsx = (rows: number, columns: number, cell: (row: number, column: number) => number): Buffer => {
  const names = Array.from({ length: columns }, (_, index) => columnName(index))
  const pieces: Buffer[] = []
  for (let from = 1; from <= rows; from += 10_000) {
    let text = ''
    for (let row = from; row < Math.min(from + 10_000, rows + 1); row += 1) {
      text += `<row r="${row}">`
      for (const [index, name] of names.entries()) text += `<c r="${name}${row}"><v>${cell(row, index)}</v></c>`
      text += '</row>'
    }
    pieces.push(Buffer.from(text))
  }
  const parts: Record<string, string | Uint8Array> = xlsxParts([{ name: 'Large', xml: '@' }])
  const [head = '', tail = ''] = String(parts['xl/worksheets/sheet1.xml']).split('@')
  parts['xl/worksheets/sheet1.xml'] = Buffer.concat([Buffer.from(head), ...pieces, Buffer.from(tail)])
  return zip(parts)
}

const openDocumentNames = [
  'office:urn:oasis:names:tc:opendocument:xmlns:office:1.0',
  'text:urn:oasis:names:tc:opendocument:xmlns:text:1.0',
  'table:urn:oasis:names:tc:opendocument:xmlns:table:1.0',
  'style:urn:oasis:names:tc:opendocument:xmlns:style:1.0',
  'draw:urn:oasis:names:tc:opendocument:xmlns:drawing:1.0',
  'presentation:urn:oasis:names:tc:opendocument:xmlns:presentation:1.0',
  'fo:urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0',
  'xlink:http://www.w3.org/1999/xlink',
]
  .map((name) => `xmlns:${name.replace(':', '="')}"`)
  .join(' ')

const openDocument = (type: string, body: string, { styles = '', manifest }: OpenDocumentOptions): Buffer =>
  zip({
    mimetype: `application/vnd.oasis.opendocument.${type}`,
    'content.xml': `${xmlHeader}<office:document-content ${openDocumentNames} office:version="1.3"><office:automatic-styles>${styles}</office:automatic-styles><office:body>${body}</office:body></office:document-content>`,
    ...(manifest === undefined ? {} : { 'META-INF/manifest.xml': manifest }),
  })

export interface OpenDocumentOptions {
  styles?: string
  manifest?: string
}

export const odt = (text: string, options: OpenDocumentOptions = {}): Buffer =>
  openDocument('text', `<office:text>${text}</office:text>`, options)
export const ods = (tables: string, options: OpenDocumentOptions = {}): Buffer =>
  openDocument('spreadsheet', `<office:spreadsheet>${tables}</office:spreadsheet>`, options)
export const odp = (pages: string, options: OpenDocumentOptions = {}): Buffer =>
  openDocument('presentation', `<office:presentation>${pages}</office:presentation>`, options)

/** A presentation; each slide is the XML inside its `p:spTree`. */
export const pptx = (slides: string[]): Buffer => {
  const names = `xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" ${relation}`
  // The list determines the order of the slides, not the file names.
  const file = (index: number): string => `slides/slide${slides.length - index}.xml`
  return zip({
    '_rels/.rels': relations([['rId1', 'officeDocument', 'ppt/presentation.xml']]),
    'ppt/presentation.xml': `${xmlHeader}<p:presentation ${names}><p:sldIdLst>${slides.map((_, index) => `<p:sldId id="${256 + index}" r:id="rId${index}"/>`).join('')}</p:sldIdLst></p:presentation>`,
    'ppt/_rels/presentation.xml.rels': relations(slides.map((_, index) => [`rId${index}`, 'slide', file(index)])),
    ...Object.fromEntries(
      slides.map((tree, index) => [
        `ppt/${file(index)}`,
        `${xmlHeader}<p:sld ${names}><p:cSld><p:spTree>${tree}</p:spTree></p:cSld></p:sld>`,
      ]),
    ),
  })
}

/** A PDF of these objects, of which the first is the catalog. */
export const pdfObjects = (objects: string[], trailer: string): Buffer => {
  let text = '%PDF-1.7\n%\xe2\xe3\xcf\xd3\n'
  const offsets = objects.map((object, index) => {
    const at = text.length
    text += `${index + 1} 0 obj\n${object}\nendobj\n`
    return at
  })
  const table = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('')
  const size = objects.length + 1
  text += `xref\n0 ${size}\n0000000000 65535 f \n${table}trailer\n<< /Size ${size} /Root 1 0 R ${trailer} >>\nstartxref\n${text.length}\n%%EOF\n`
  return Buffer.from(text, 'latin1')
}

/** A PDF of pages, each of lines. `trailer` goes into its trailer. */
export const pdf = (pages: string[][], trailer = ''): Buffer => {
  const font = 3 + pages.length * 2
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    `<< /Type /Pages /Count ${pages.length} /Kids [${pages.map((_, index) => `${3 + index * 2} 0 R`).join(' ')}] >>`,
    ...pages.flatMap((lines, index) => {
      const shown = lines.map((line) => `(${line.replaceAll(/[()\\]/g, String.raw`\$&`)}) Tj T*`).join('\n')
      const stream = `BT /F1 12 Tf 14 TL 72 720 Td\n${shown}\nET`
      return [
        `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents ${4 + index * 2} 0 R /Resources << /Font << /F1 ${font} 0 R >> >> >>`,
        `<< /Length ${stream.length} >>\nstream\n${stream}\nendstream`,
      ]
    }),
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
  ]
  return pdfObjects(objects, trailer)
}

/** A PDF with 日本語 in a font that it does not contain, in a predefined encoding. */
export const japanesePdf = (): Buffer => {
  const descendant =
    '<< /Type /Font /Subtype /CIDFontType0 /BaseFont /Ryumin-Light /CIDSystemInfo << /Registry (Adobe) /Ordering (Japan1) /Supplement 2 >> >>'
  const font = `/Type0 /BaseFont /Ryumin-Light /Encoding /90ms-RKSJ-H /DescendantFonts [${descendant}]`
  const latin = pdf([['\x93\xfa\x96\x7b\x8c\xea']]).toString('latin1')
  return Buffer.from(latin.replace('/Type1 /BaseFont /Helvetica', font), 'latin1')
}

/** A PDF with one page that decompresses to this many bytes of text operators. */
export const pdfBomb = (bytes: number): Buffer => {
  const operators = Buffer.alloc(bytes, '(aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa) Tj\n')
  const packed = deflateRawSync(Buffer.concat([Buffer.from('BT /F1 12 Tf\n'), operators, Buffer.from('\nET')]))
  const stream = Buffer.concat([Buffer.from([0x78, 0x9c]), packed, Buffer.alloc(4)]).toString('latin1')
  return pdfObjects(
    [
      '<< /Type /Catalog /Pages 2 0 R >>',
      '<< /Type /Pages /Count 1 /Kids [3 0 R] >>',
      '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>',
      `<< /Length ${stream.length} /Filter /FlateDecode >>\nstream\n${stream}\nendstream`,
      '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
    ],
    '',
  )
}

/**
 * An archive whose part `name` decompresses to `head`, `unpackedBytes` of `fill` and `tail`, which are compressed as a
 * stream. `declaredBytes` is the false size in the headers.
 */
export const bomb = (
  parts: Record<string, string>,
  name: string,
  { head = '', fill, tail = '', unpackedBytes, declaredBytes }: BombOptions,
): Buffer => {
  const block = Buffer.alloc(1_048_576, fill)
  const repeats = Math.ceil(unpackedBytes / block.length)
  const content = Buffer.concat([Buffer.from(head), ...Array.from({ length: repeats }, () => block), Buffer.from(tail)])
  const archive = zip({ ...parts, [name]: content })
  if (declaredBytes === undefined) return archive
  return lieAboutSize(archive, name, declaredBytes)
}

export interface BombOptions {
  head?: string
  fill: string
  tail?: string
  unpackedBytes: number
  declaredBytes?: number
}

/** Changes the unpacked size that both headers of a part declare. */
export const lieAboutSize = (archive: Buffer, name: string, declaredBytes: number): Buffer => {
  const lying = Buffer.from(archive)
  // APPNOTE 4.3.7 and 4.3.12: the size is at offset 22 of the local header and 24 of the central one; the names are at
  // offsets 30 and 46.
  for (const [signature, nameAt, sizeAt] of [
    ['PK\u0003\u0004', 30, 22],
    ['PK\u0001\u0002', 46, 24],
  ] as const) {
    for (let at = lying.indexOf(signature); at !== -1; at = lying.indexOf(signature, at + 4)) {
      if (lying.toString('latin1', at + nameAt, at + nameAt + name.length) === name) {
        lying.writeUInt32LE(declaredBytes, at + sizeAt)
      }
    }
  }
  return lying
}
