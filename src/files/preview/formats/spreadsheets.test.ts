import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import * as documents from '../../../../test/support/documents.ts'
import { createCsvReader } from './csv.ts'
import { extract } from '../extract.ts'
import { PreviewError, limits } from '../payload.ts'
import type { PreviewSheet } from '../payload.ts'
import { createWorkbookWriter } from './sheet-writer.ts'

const bytesOf = async function* (file: Buffer, chunkBytes: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < file.length; at += chunkBytes) yield file.subarray(at, at + chunkBytes)
}

const read = (format: 'csv' | 'tsv' | 'xlsx' | 'ods', file: Buffer | string, chunkBytes = 65_536) =>
  extract(format, bytesOf(Buffer.from(file), chunkBytes), () => false)

const firstSheet = async (...given: Parameters<typeof read>): Promise<PreviewSheet> => {
  const { sheets } = await read(...given)
  assert.ok(sheets?.[0])
  return sheets[0]
}

const textBytesOf = (sheets: PreviewSheet[] | undefined): number =>
  Buffer.byteLength((sheets ?? []).flatMap(({ rows }) => rows.flat()).join(''))

const odsCell = (text: string, attributes = ''): string =>
  `<table:table-cell ${attributes}><text:p>${text}</text:p></table:table-cell>`

const odsTable = (rows: string, name = 'T'): string => `<table:table table:name="${name}">${rows}</table:table>`

const odsRow = (cells: string, attributes = ''): string => `<table:table-row ${attributes}>${cells}</table:table-row>`

describe('XLSX', () => {
  test('XLSX cells have their stored values, and formulas their results', async () => {
    const file = documents.xlsx([
      {
        name: 'Säles & <Co>',
        rows: [
          ['name', 1, 1.5, true, false],
          [null, 'same', 'same', { formula: 'HYPERLINK("https://example.com")', value: 'shown' }],
          [],
          [0.1 + 0.2, -3, 1e21, 'last'],
          [null, null],
        ],
      },
    ])
    const { kind, truncated, sheets } = await read('xlsx', file)
    assert.equal(kind, 'spreadsheet')
    assert.equal(truncated, false)
    assert.deepEqual(sheets, [
      {
        name: 'Säles & <Co>',
        rows: [
          ['name', '1', '1.5', 'TRUE', 'FALSE'],
          ['', 'same', 'same', 'shown'],
          [],
          ['0.3', '-3', '1e+21', 'last'],
        ],
        rowCount: 4,
        columnCount: 5,
        truncated: false,
      },
    ])
  })

  test('XLSX dates, times, durations and percentages are formatted in both calendars', async () => {
    const formats = [
      'yyyy\\-mm\\-dd',
      'dd/mm/yyyy hh:mm',
      'h:mm AM/PM',
      '[h]:mm:ss',
      '0.0%',
      '#,##0.00 "days"',
      '[Red]General',
      'mmm',
      '"d"0',
    ]
    const values = [45_000, 45_000.75, 0.520_833_333_333_333_4, 1.5, 0.256, 12.5, 7, 45_000, 3]
    const row = [
      ...values.map((value, index) => ({ style: index + 1, value })),
      { style: 10, value: 59 },
      { style: 1, value: 60.5 },
    ]
    const shown = ['2023-03-15', '2023-03-15 18:00:00', '12:30:00', '36:00:00', '25.6%', '12.5', '7', '2023-03-15', '3']
    assert.deepEqual((await firstSheet('xlsx', documents.xlsx([{ name: 'S', rows: [row] }], { formats }))).rows, [
      [...shown, '1900-02-28', '1900-02-28 12:00:00'],
    ])
    const macs = documents.xlsx(
      [
        {
          name: 'S',
          rows: [
            [
              { style: 1, value: 0 },
              { style: 1, value: 43_538 },
            ],
          ],
        },
      ],
      { formats, date1904: true },
    )
    assert.deepEqual((await firstSheet('xlsx', macs)).rows, [['1904-01-01', '2023-03-15']])
  })

  test('XLSX inline strings, rich text, errors and cells without references are read, and phonetic text is ignored', async () => {
    const xml = `<row><c t="inlineStr"><is><r><t>in</t></r><r><t>line</t></r><rPh><t>not this</t></rPh></is></c><c t="e"><v>#DIV/0!</v></c><c t="str"><v>text</v></c><c t="d"><v>2026-11-21T10:00:00</v></c></row><row><c><v>2</v></c></row>`
    const { rows, rowCount } = await firstSheet('xlsx', documents.xlsx([{ name: 'S', xml }]))
    assert.deepEqual(rows, [['inline', '#DIV/0!', 'text', '2026-11-21 10:00:00'], ['2']])
    assert.equal(rowCount, 2)
  })

  test('hidden XLSX sheets are left out, and the others keep their order', async () => {
    const sheets = [
      { name: 'A' },
      { name: 'B', state: 'hidden' as const, rows: [['secret']] },
      { name: 'C', rows: [['c']] },
    ]
    const preview = await read('xlsx', documents.xlsx(sheets))
    assert.deepEqual(
      preview.sheets!.map(({ name }) => name),
      ['A', 'C'],
    )
    assert.ok(!JSON.stringify(preview).includes('secret'))
  })

  test('XLSX rows, columns and sheets beyond the limits are counted, and the sheet is marked as truncated', async () => {
    const tall = documents.largeXlsx(30_000, 3, (row, column) => row * 10 + column)
    const sheet = await firstSheet('xlsx', tall)
    assert.equal(sheet.rows.length, limits.rows)
    assert.deepEqual(sheet.rows.at(-1), ['10000', '10001', '10002'])
    assert.deepEqual([sheet.rowCount, sheet.columnCount, sheet.truncated], [30_000, 3, true])

    const exact = await firstSheet(
      'xlsx',
      documents.largeXlsx(limits.rows, limits.columns, () => 1),
    )
    assert.deepEqual([exact.rows.length, exact.rows[0]?.length, exact.truncated], [limits.rows, limits.columns, false])

    const wide = await firstSheet(
      'xlsx',
      documents.xlsx([{ name: 'W', rows: [Array.from({ length: 130 }, (_, index) => index)] }]),
    )
    assert.deepEqual([wide.rows[0]?.length, wide.columnCount, wide.truncated], [limits.columns, 130, true])

    const sparse = documents.xlsx([
      {
        name: 'S',
        xml: '<row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c r="XFD1048576"><v>2</v></c></row>',
      },
    ])
    const { rows, rowCount, columnCount, truncated } = await firstSheet('xlsx', sparse)
    assert.deepEqual([rows, rowCount, columnCount, truncated], [[['1']], 1_048_576, 16_384, true])

    const many = await read(
      'xlsx',
      documents.xlsx(Array.from({ length: 25 }, (_, index) => ({ name: `S${index}`, rows: [[index]] }))),
    )
    assert.deepEqual([many.sheets!.length, many.truncated], [limits.sheets, true])
  })

  test('a workbook preview has at most 512 KB of text, shared fairly among its sheets', async () => {
    const long = 'x'.repeat(1_500)
    const big = Array.from({ length: 400 }, () => [long, long])
    const sheets = [
      { name: 'big', rows: big },
      { name: 'small', rows: [['here']] },
      { name: 'big too', rows: big },
    ]
    const preview = await read('xlsx', documents.xlsx(sheets))
    assert.ok(textBytesOf(preview.sheets) <= limits.textBytes)
    assert.ok(textBytesOf(preview.sheets) > limits.textBytes * 0.9)
    assert.deepEqual(
      preview.sheets!.map(({ truncated }) => truncated),
      [true, false, true],
    )
    assert.deepEqual(preview.sheets![1]!.rows, [['here']])
    assert.equal(preview.sheets![0]!.rowCount, 400)
  })

  test('a long XLSX cell is cut between two characters', async () => {
    const { rows } = await firstSheet('xlsx', documents.xlsx([{ name: 'S', rows: [[`a${'🚀'.repeat(5_000)}`]] }]))
    const cell = rows[0]![0]!
    assert.ok(cell.endsWith('🚀…') && cell.isWellFormed() && cell.length <= limits.cellCharacters + 1, cell.slice(-4))
  })

  test('a workbook without a sheet that its list names is rejected', async () => {
    const { 'xl/worksheets/sheet1.xml': _sheet, ...parts } = documents.xlsxParts([{ name: 'S' }])
    await assert.rejects(read('xlsx', documents.zip(parts)), PreviewError)
  })
})

describe('ODS', () => {
  test('ODS cells have their text, or their stored value when they have none', async () => {
    const rows =
      odsRow(
        odsCell('a') +
          odsCell('1.234,50 €', 'office:value-type="currency" office:value="1234.5"') +
          odsCell('one</text:p><text:p>two<text:s text:c="2"/>x'),
      ) +
      odsRow(
        '<table:table-cell office:value-type="date" office:date-value="2026-11-21"/><table:table-cell office:value-type="time" office:time-value="PT12H5M7S"/><table:table-cell office:value-type="boolean" office:boolean-value="true"/><table:table-cell office:value-type="float" office:value="7"><office:annotation><text:p>comment</text:p></office:annotation></table:table-cell>',
      )
    const { sheets } = await read('ods', documents.ods(odsTable(rows, 'First') + odsTable('', 'Empty')))
    assert.deepEqual(sheets, [
      {
        name: 'First',
        rows: [
          ['a', '1.234,50 €', 'one\ntwo  x'],
          ['2026-11-21', '12:05:07', 'TRUE', '7'],
        ],
        rowCount: 2,
        columnCount: 4,
        truncated: false,
      },
      { name: 'Empty', rows: [], rowCount: 0, columnCount: 0, truncated: false },
    ])
  })

  test('repeated ODS cells and rows are expanded, except a million empty rows', async () => {
    const rows =
      odsRow(
        odsCell('x', 'table:number-columns-repeated="3"') +
          '<table:covered-table-cell table:number-columns-repeated="2"/>' +
          odsCell('y'),
      ) +
      odsRow('<table:table-cell/>', 'table:number-rows-repeated="2"') +
      odsRow(odsCell('z'), 'table:number-rows-repeated="2"') +
      odsRow('<table:table-cell table:number-columns-repeated="16384"/>', 'table:number-rows-repeated="1048000"')
    const sheet = await firstSheet('ods', documents.ods(odsTable(rows)))
    assert.deepEqual(sheet, {
      name: 'T',
      rows: [['x', 'x', 'x', '', '', 'y'], [], [], ['z'], ['z']],
      rowCount: 5,
      columnCount: 6,
      truncated: false,
    })
  })

  test('an ODS cell that is repeated over a whole sheet is limited like other cells', async () => {
    const rows = odsRow(odsCell('x', 'table:number-columns-repeated="16384"'), 'table:number-rows-repeated="1048576"')
    const sheet = await firstSheet('ods', documents.ods(odsTable(rows) + odsTable(odsRow(odsCell('next')), 'N')))
    assert.equal(sheet.rows.length, limits.rows)
    assert.equal(sheet.rows[0]!.length, limits.columns)
    assert.deepEqual([sheet.rowCount, sheet.truncated], [1_048_576, true])
  })

  test('ODS rows beyond the limit are counted, and the next sheet is still read', async () => {
    const rows = Array.from({ length: 3_000 }, (_, index) => odsRow(odsCell(String(index)))).join('')
    const { sheets } = await read('ods', documents.ods(odsTable(rows) + odsTable(odsRow(odsCell('next')), 'N')))
    assert.deepEqual([sheets![0]!.rows.length, sheets![0]!.rowCount, sheets![0]!.truncated], [1_000, 3_000, true])
    assert.deepEqual(sheets![1]!.rows, [['next']])
  })
})

describe('CSV and TSV', () => {
  test('CSV quotes, delimiters and line breaks in quoted fields, empty fields and any line ending are read', async () => {
    const sheet = await firstSheet(
      'csv',
      'name,note\r\n"Smith, J.","said ""hi""\r\nand left"\n,x\r"",""\n\n5" pipe,"a"b\n"open',
    )
    assert.deepEqual(sheet.rows, [
      ['name', 'note'],
      ['Smith, J.', 'said "hi"\r\nand left'],
      ['', 'x'],
      [],
      [],
      ['5" pipe', 'ab'],
      ['open'],
    ])
    assert.deepEqual([sheet.rowCount, sheet.columnCount, sheet.truncated], [7, 2, false])
  })

  test('the CSV delimiter is detected outside quotes in the first lines, and the TSV delimiter is a tab', async () => {
    assert.deepEqual((await firstSheet('csv', 'a;b\n"1,5";"2,5,5"\n')).rows, [
      ['a', 'b'],
      ['1,5', '2,5,5'],
    ])
    assert.deepEqual((await firstSheet('csv', 'a\tb\n1\t2\n')).rows, [
      ['a', 'b'],
      ['1', '2'],
    ])
    assert.deepEqual((await firstSheet('csv', 'a|b\n1|2\n')).rows, [
      ['a', 'b'],
      ['1', '2'],
    ])
    assert.deepEqual((await firstSheet('csv', 'alone\n')).rows, [['alone']])
    assert.deepEqual((await firstSheet('tsv', 'a,b\tc\n')).rows, [['a,b', 'c']])
    assert.deepEqual((await firstSheet('csv', '')).rows, [])
  })

  test('the encoding of CSV is detected as for text files', async () => {
    assert.deepEqual((await firstSheet('csv', Buffer.from('ä,東\n', 'utf8'))).rows, [['ä', '東']])
    assert.deepEqual((await firstSheet('csv', Buffer.from('\ufeffä,東\n', 'utf16le'))).rows, [['ä', '東']])
    assert.deepEqual((await firstSheet('csv', Buffer.from('caf\xe9,na\xefve\n', 'latin1'))).rows, [['café', 'naïve']])
  })

  test('CSV rows beyond the limit are counted', async () => {
    const csv = Array.from({ length: 100_000 }, (_, index) => `${index},"a ""b"" ${index}"\r\n`).join('')
    const sheet = await firstSheet('csv', csv)
    assert.deepEqual([sheet.rows.length, sheet.rowCount, sheet.truncated], [1_000, 100_000, true])
    assert.deepEqual(sheet.rows.at(-1), ['999', 'a "b" 999'])
  })

  test('valid CSV is read correctly with chunks of any size', () => {
    const field = fc.string({ unit: fc.constantFrom('a', 'ü', '🚀', '"', ',', '\r', '\n', ' ') })
    const table = fc.array(fc.array(field, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 6 })
    fc.assert(
      fc.property(table, fc.integer({ min: 1, max: 9 }), fc.constantFrom('\n', '\r\n', '\r'), (rows, size, end) => {
        const csv = rows.map((row) => row.map((one) => `"${one.replaceAll('"', '""')}"`).join(',') + end).join('')
        const writer = createWorkbookWriter()
        const reader = createCsvReader(writer.addSheet('')!, ',')
        for (let at = 0; at < csv.length; at += size) reader.push(csv.slice(at, at + size))
        reader.end()
        const trimmed = rows.map((row) => row.slice(0, row.findLastIndex((one) => one !== '') + 1))
        while (trimmed.at(-1)?.length === 0) trimmed.pop()
        assert.deepEqual(writer.finish().sheets![0]!.rows, trimmed)
      }),
    )
  })
})
