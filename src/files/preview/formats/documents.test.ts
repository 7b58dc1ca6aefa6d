import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import * as documents from '../../../../test/support/documents.ts'
import { paragraph } from '../../../../test/support/documents.ts'
import { extract } from '../extract.ts'
import type { Format } from './formats.ts'
import { PreviewError, limits } from '../payload.ts'

const bytesOf = async function* (file: Buffer, chunkBytes = 65_536): AsyncGenerator<Buffer> {
  for (let at = 0; at < file.length; at += chunkBytes) yield file.subarray(at, at + chunkBytes)
}

const read = (format: Exclude<Format, 'text'>, file: Buffer, isLate = () => false) =>
  extract(format, bytesOf(file), isLate)

const run = (text: string, properties = ''): string =>
  `<w:r><w:rPr>${properties}</w:rPr><w:t xml:space="preserve">${text}</w:t></w:r>`

const odpPage = (name: string, text: string): string =>
  `<draw:page draw:name="${name}"><draw:frame><draw:text-box><text:p>${text}</text:p></draw:text-box></draw:frame><presentation:notes><text:p>private</text:p></presentation:notes></draw:page>`

const shape = (text: string, extra = ''): string =>
  `<p:sp>${extra}<p:txBody><a:p><a:r><a:rPr b="1"/><a:t>${text}</a:t></a:r></a:p></p:txBody></p:sp>`

const rtf = (body: string): Buffer =>
  Buffer.from(`{\\rtf1\\ansi\\ansicpg1252\\deff0{\\fonttbl{\\f0 Arial;}}${body}}`, 'latin1')

const listItem = (text: string, list: number, level: number): string =>
  paragraph(text, `<w:numPr><w:ilvl w:val="${level}"/><w:numId w:val="${list}"/></w:numPr>`)

const docxCell = (content: string): string => `<w:tc>${content}</w:tc>`

const hyperlink = (id: string, text: string): string => `<w:hyperlink r:id="${id}">${run(text)}</w:hyperlink>`

describe('DOCX', () => {
  test('DOCX headings, paragraphs, bold, italic and line breaks become text and HTML', async () => {
    const file = documents.docx({
      styles: `<w:style w:styleId="berschrift1"><w:name w:val="heading 1"/></w:style>
        <w:style w:styleId="Sub"><w:name w:val="My own"/><w:basedOn w:val="berschrift1"/></w:style>`,
      body: `${paragraph('Title', '<w:pStyle w:val="berschrift1"/>')}
        ${paragraph('Derived', '<w:pStyle w:val="Sub"/>')}
        ${paragraph('Outlined', '<w:outlineLvl w:val="2"/>')}
        <w:p>${run('Hel', '<w:b/>')}${run('lo', '<w:b/>')}${run(' plain ', '<w:b w:val="0"/>')}${run('slanted', '<w:i/>')}<w:r><w:br/><w:t>next line</w:t><w:tab/><w:t>tabbed</w:t></w:r></w:p>`,
    })
    const { kind, truncated, text, html } = await read('docx', file)
    assert.equal(kind, 'document')
    assert.equal(truncated, false)
    assert.equal(text, 'Title\nDerived\nOutlined\nHello plain slanted\nnext line\ttabbed')
    assert.equal(
      html,
      '<h1>Title</h1><h1>Derived</h1><h3>Outlined</h3><p><strong>Hello</strong> plain <em>slanted<br></em>next line\ttabbed</p>',
    )
  })

  test('DOCX lists keep their nesting and their numbers', async () => {
    const file = documents.docx({
      numbering: `<w:abstractNum w:abstractNumId="7"><w:lvl w:ilvl="0"><w:numFmt w:val="decimal"/></w:lvl><w:lvl w:ilvl="1"><w:numFmt w:val="bullet"/></w:lvl></w:abstractNum>
        <w:num w:numId="1"><w:abstractNumId w:val="7"/></w:num>`,
      body: `${listItem('one', 1, 0)}${listItem('inner', 1, 1)}${listItem('inner too', 1, 1)}${listItem('two', 1, 0)}${paragraph('after')}${listItem('none', 0, 0)}`,
    })
    const { text, html } = await read('docx', file)
    assert.equal(text, '1. one\n  - inner\n  - inner too\n2. two\nafter\nnone')
    assert.equal(
      html,
      '<ol><li>one<ul><li>inner</li><li>inner too</li></ul></li><li>two</li></ol><p>after</p><p>none</p>',
    )
  })

  test('DOCX tables become HTML tables and tab-separated lines of text', async () => {
    const file = documents.docx({
      body: `<w:tbl><w:tr>${docxCell(paragraph('a'))}${docxCell(paragraph('b') + paragraph('c'))}</w:tr><w:tr>${docxCell(
        `<w:tbl><w:tr>${docxCell(paragraph('in'))}${docxCell(paragraph('ner'))}</w:tr></w:tbl>`,
      )}${docxCell('<w:p/>')}</w:tr></w:tbl>${paragraph('end')}`,
    })
    const { text, html } = await read('docx', file)
    assert.deepEqual(
      text!.split('\n').map((line) => line.split('\t').map((one) => one.trim().replaceAll(/ +/g, ' '))),
      [['a', 'b c'], ['in ner', ''], ['end']],
    )
    assert.equal(
      html,
      '<table><tbody><tr><td><p>a</p></td><td><p>b</p><p>c</p></td></tr><tr><td><table><tbody><tr><td><p>in</p></td><td><p>ner</p></td></tr></tbody></table></td><td><p></p></td></tr></tbody></table><p>end</p>',
    )
  })

  test('deleted, hidden and moved DOCX text, field codes and fallbacks are left out', async () => {
    const file = documents.docx({
      body: `<w:p>${run('kept')}<w:del><w:r><w:delText>deleted</w:delText></w:r></w:del><w:moveFrom>${run('moved')}</w:moveFrom>
        ${run('secret', '<w:vanish/>')}<w:r><w:instrText>PAGE</w:instrText></w:r>
        <mc:AlternateContent><mc:Choice>${run(' chosen')}</mc:Choice><mc:Fallback>${run('fallback')}</mc:Fallback></mc:AlternateContent></w:p>`,
    })
    assert.equal((await read('docx', file)).text, 'kept chosen')
  })

  test('the HTML of a DOCX contains no markup of the document: text is escaped, and only web and mail links become links', async () => {
    const file = documents.docx({
      links: {
        web: 'https://example.com/?a=1&b="><script>alert(1)</script>',
        mail: 'mailto:a@example.com',
        script: 'javascript:alert(1)',
        data: 'data:text/html,<script>alert(1)</script>',
        file: 'file:///etc/passwd',
      },
      body: `<w:p>${run('&lt;script&gt;alert(1)&lt;/script&gt; &amp; "quotes"')}</w:p><w:p>${[
        'web',
        'mail',
        'script',
        'data',
        'file',
        'missing',
      ]
        .map((id) => hyperlink(id, id))
        .join(' ')}</w:p>`,
    })
    const { html, text } = await read('docx', file)
    assert.ok(text!.startsWith('<script>alert(1)</script> & "quotes"'))
    const tags = [...html!.matchAll(/<[^>]*>/g)].map(([tag]) => tag)
    assert.deepEqual(tags, [
      '<p>',
      '</p>',
      '<p>',
      '<a href="https://example.com/?a=1&amp;b=&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;" rel="noopener noreferrer nofollow">',
      '</a>',
      '<a href="mailto:a@example.com" rel="noopener noreferrer nofollow">',
      '</a>',
      '</p>',
    ])
    for (const absent of ['javascript:', 'data:text', 'file:', '<script']) assert.ok(!html!.includes(absent), absent)
  })

  test('a long DOCX is cut at 512 KB of text, and every HTML tag is closed', async () => {
    const line = '🚀 A line of text that is not very long. '.repeat(4)
    const file = documents.docx({ body: `<w:tbl><w:tr><w:tc>${paragraph(line).repeat(6_000)}</w:tc></w:tr></w:tbl>` })
    const { truncated, text, html } = await read('docx', file)
    assert.equal(truncated, true)
    assert.ok(Buffer.byteLength(text!) <= limits.textBytes)
    assert.ok(Buffer.byteLength(text!) > limits.textBytes - 200)
    assert.ok(text!.isWellFormed())
    const open: string[] = []
    for (const [, close, tag = ''] of html!.matchAll(/<(\/?)([a-z0-9]+)[^>]*>/g)) {
      if (close === '') open.push(tag)
      else assert.equal(open.pop(), tag)
    }
    assert.deepEqual(open, [])
  })

  test('the HTML of a DOCX is cut when its markup exceeds the limit', async () => {
    const file = documents.docx({ body: `<w:p>${(run('a', '<w:b/>') + run('b', '<w:i/>')).repeat(40_000)}</w:p>` })
    const { truncated, html } = await read('docx', file)
    assert.equal(truncated, true)
    assert.ok(Buffer.byteLength(html!) < limits.htmlBytes + 1_000)
  })

  test('a DOCX whose main part has an unusual name is previewed', async () => {
    const parts = documents.docxParts({ body: paragraph('found') })
    const { 'word/document.xml': main = '', '_rels/.rels': relations = '', ...rest } = parts
    const file = documents.zip({
      ...rest,
      '_rels/.rels': relations.replace('word/document.xml', '/word/document2.xml'),
      'word/document2.xml': main,
    })
    assert.equal((await read('docx', file)).text, 'found')
  })

  test('a DOCX that exceeds the soft time limit is previewed up to that point and marked as truncated', async () => {
    const file = documents.docx({
      body: Array.from({ length: 5_000 }, (_, index) => paragraph(`line ${index}`)).join(''),
    })
    let asked = 0
    const { truncated, text } = await read('docx', file, () => (asked += 1) > 3)
    assert.equal(truncated, true)
    assert.ok(text!.startsWith('line 0\nline 1\n'))
  })
})

describe('OpenDocument', () => {
  test('OpenDocument text documents become text and HTML', async () => {
    const file = documents.odt(
      `<text:tracked-changes><text:p>gone</text:p></text:tracked-changes>
      <text:h text:outline-level="2">Head</text:h>
      <text:p>Some  <text:span text:style-name="T1">bold</text:span><text:s text:c="2"/>and<text:tab/>more<text:line-break/><text:a xlink:href="https://example.com/">link</text:a><text:note><text:note-body><text:p>note</text:p></text:note-body></text:note></text:p>
      <text:list text:style-name="L1"><text:list-item><text:p>one</text:p><text:list><text:list-item><text:p>inner</text:p></text:list-item></text:list></text:list-item><text:list-item><text:p>two</text:p></text:list-item></text:list>
      <table:table><table:table-row><table:table-cell><text:p>a</text:p></table:table-cell><table:table-cell><text:p>b</text:p></table:table-cell></table:table-row></table:table>`,
      {
        styles: `<style:style style:name="T1" style:family="text"><style:text-properties fo:font-weight="bold"/></style:style>
        <text:list-style style:name="L1"><text:list-level-style-number text:level="1"/><text:list-level-style-bullet text:level="2"/></text:list-style>`,
      },
    )
    const { text, html, truncated } = await read('odt', file)
    assert.equal(truncated, false)
    assert.equal(text, 'Head\nSome bold  and\tmore\nlink\n1. one\n  - inner\n2. two\na \tb')
    assert.equal(
      html,
      '<h2>Head</h2><p>Some <strong>bold</strong>  and\tmore<br><a href="https://example.com/" rel="noopener noreferrer nofollow">link</a></p><ol><li>one<ul><li>inner</li></ul></li><li>two</li></ol><table><tbody><tr><td><p>a</p></td><td><p>b</p></td></tr></tbody></table>',
    )
  })

  test('OpenDocument presentations are read page by page without notes', async () => {
    const { text } = await read('odp', documents.odp(odpPage('First', 'one') + odpPage('Second', 'two')))
    assert.equal(text, 'First\none\nSecond\ntwo')
  })

  test('an encrypted OpenDocument file is rejected with the reason', async () => {
    const manifest = '<manifest><file-entry><encryption-data checksum="x"/></file-entry></manifest>'
    await assert.rejects(read('odt', documents.odt('', { manifest })), /protected by a password/)
    await assert.rejects(read('ods', documents.ods('', { manifest })), /protected by a password/)
  })
})

test('PPTX slides are read in presentation order, with titles, tables and links', async () => {
  const file = documents.pptx([
    shape('Welcome', '<p:nvSpPr><p:nvPr><p:ph type="ctrTitle"/></p:nvPr></p:nvSpPr>') + shape('first'),
    '<p:graphicFrame><a:tbl><a:tr><a:tc><a:txBody><a:p><a:r><a:t>x</a:t></a:r></a:p></a:txBody></a:tc><a:tc><a:txBody><a:p><a:r><a:t>y</a:t></a:r></a:p></a:txBody></a:tc></a:tr></a:tbl></p:graphicFrame>',
  ])
  const { text, html } = await read('pptx', file)
  assert.equal(text, 'Slide 1\nWelcome\nfirst\nSlide 2\nx \ty')
  assert.equal(
    html,
    '<h2>Slide 1</h2><h3><strong>Welcome</strong></h3><p><strong>first</strong></p><h2>Slide 2</h2><table><tbody><tr><td><p>x</p></td><td><p>y</p></td></tr></tbody></table>',
  )
})

describe('RTF', () => {
  test('RTF text, styles, code pages and Unicode are read, and pictures, fonts and fields are ignored', async () => {
    const file = rtf(
      String.raw`{\*\generator Word}{\info{\author Somebody}}Gr\'fc\'dfe {\b bold {\i both}} back\par {\pict\pngblip 89504e47}\u26481?\u20140? \uc2\u-10179??\u-8576??\uc1 \{x\}\tab end{\v hidden}\line {\field{\*\fldinst HYPERLINK "x"}{\fldrslt shown}}`,
    )
    const { text, html } = await read('rtf', file)
    assert.equal(text, 'Grüße bold both back\n東京 🚀{x}\tend\nshown')
    assert.equal(
      html,
      '<p>Grüße <strong>bold </strong><strong><em>both</em></strong> back</p><p>東京 🚀{x}\tend<br>shown</p>',
    )
  })

  test('RTF characters of East Asian code pages are decoded from byte pairs', async () => {
    const file = Buffer.from(String.raw`{\rtf1\ansi\ansicpg932 \'93\'8c\'8b\'9e}`)
    assert.equal((await read('rtf', file)).text, '東京')
  })

  test('RTF NUL and lone surrogates are replaced, and surrogate pairs in two tokens are combined', async () => {
    const file = rtf(String.raw`a\u0?b\'00c \u55357?d\u56832? \u55357?\u56832? \u55357?`)
    const expected = 'a\ufffdb\ufffdc \ufffdd\ufffd 😀 \ufffd'
    const { text, html } = await read('rtf', file)
    assert.deepEqual([text, html], [expected, `<p>${expected}</p>`])
  })

  test('an RTF file without an RTF header or with too many nested groups is rejected', async () => {
    await assert.rejects(read('rtf', Buffer.from('hello')), PreviewError)
    await assert.rejects(read('rtf', rtf('{'.repeat(100_000))), PreviewError)
  })
})

describe('PDF', () => {
  test('PDF text is read page by page and line by line', async () => {
    const { kind, text, html, truncated } = await read(
      'pdf',
      documents.pdf([['Hello <b>', 'second (line)'], ['page two']]),
    )
    assert.equal(kind, 'document')
    assert.equal(truncated, false)
    assert.equal(text, 'Page 1\nHello <b>\nsecond (line)\nPage 2\npage two')
    assert.equal(html, '<h2>Page 1</h2><p>Hello &lt;b&gt;<br>second (line)</p><h2>Page 2</h2><p>page two</p>')
  })

  test('text in a font that is not embedded and uses a predefined character map of Japanese is read', async () => {
    assert.equal((await read('pdf', documents.japanesePdf())).text, 'Page 1\n日本語')
  })

  test('a PDF of many pages is cut and marked as truncated', async () => {
    const page = Array.from({ length: 50 }, () => 'A line of text that fills the page from left to right.')
    const { text, truncated } = await read('pdf', documents.pdf(Array.from({ length: 300 }, () => page)))
    assert.equal(truncated, true)
    assert.ok(Buffer.byteLength(text!) <= limits.textBytes)
  })

  test('a file that is not a PDF, or is encrypted, is rejected with the reason', async () => {
    await assert.rejects(read('pdf', Buffer.from('no PDF at all')), /it is damaged/)
    const locked = documents.pdf(
      [['secret']],
      `/Encrypt << /Filter /Standard /V 1 /R 2 /O <${'41'.repeat(32)}> /U <${'42'.repeat(32)}> /P -1 >> /ID [<00> <00>]`,
    )
    await assert.rejects(read('pdf', locked), /protected by a password/)
  })
})

describe('malformed and malicious archives', () => {
  const parts = documents.docxParts({ body: paragraph('fine') })
  const head = '<w:document><w:body><w:p><w:r><w:t>'
  const tail = '</w:t></w:r></w:p></w:body></w:document>'

  test('a truncated or overwritten archive is rejected', async () => {
    const file = documents.zip(parts)
    for (const broken of [
      Buffer.alloc(0),
      Buffer.from('PK'),
      file.subarray(0, file.length / 2),
      file.subarray(0, -10),
      Buffer.concat([file.subarray(0, 40), Buffer.alloc(200), file.subarray(240)]),
    ]) {
      await assert.rejects(read('docx', broken), PreviewError)
    }
  })

  test('a part whose bytes do not match its checksum is rejected', async () => {
    const file = documents.zip(parts)
    const at = file.indexOf(Buffer.from('PK\u0001\u0002'))
    for (let entry = at; entry !== -1; entry = file.indexOf('PK\u0001\u0002', entry + 4)) file[entry + 16]! ^= 1
    await assert.rejects(read('docx', file), /it is damaged/)
  })

  test('an archive without its main part, or with two parts of the same name, is rejected', async () => {
    const { 'word/document.xml': _main, ...rest } = parts
    await assert.rejects(read('docx', documents.zip(rest)), /it is damaged/)
    const twice = documents.zip({ ...parts, 'word/documenu.xml': 'x' })
    const renamed = Buffer.from(twice.toString('latin1').replaceAll('documenu', 'document'), 'latin1')
    await assert.rejects(read('docx', renamed), /it is damaged/)
  })

  test('an encrypted office file, which is an OLE container, is rejected with the reason', async () => {
    const ole = Buffer.concat([Buffer.from('d0cf11e0a1b11ae1', 'hex'), Buffer.alloc(4_096)])
    for (const format of ['docx', 'xlsx', 'pptx'] as const) {
      await assert.rejects(read(format, ole), /protected by a password/)
    }
  })

  test('XML with a document type declaration is rejected', async () => {
    const entities = Array.from(
      { length: 9 },
      (_, index) => `<!ENTITY e${index + 1} "${`&e${index};`.repeat(10)}">`,
    ).join('')
    for (const prolog of [
      '<!DOCTYPE w:document>',
      `<!DOCTYPE x [<!ENTITY e0 "lol">${entities}]>`,
      '<!DOCTYPE x [<!ENTITY e9 SYSTEM "file:///etc/passwd">]>',
    ]) {
      await assert.rejects(read('docx', documents.docx({ prolog, body: paragraph('a') })), /document type/)
    }
    const undeclared = documents.docx({ body: '<w:p><w:r><w:t>&e9;</w:t></w:r></w:p>' })
    await assert.rejects(read('docx', undeclared), /it is damaged/)
  })

  test('XML that is not well-formed, or nests too deeply, is rejected', async () => {
    await assert.rejects(read('docx', documents.docx({ body: '<w:p><w:r></w:p>' })), /it is damaged/)
    await assert.rejects(read('docx', documents.docx({ body: '<w:p>'.repeat(10_000) })), /nested too deeply/)
  })

  test('a part that unpacks to a thousand times its size is rejected before it is unpacked', async () => {
    const file = documents.bomb(parts, 'word/document.xml', { head, fill: 'a', tail, unpackedBytes: 40 * 1_048_576 })
    assert.ok(file.length < 100_000)
    await assert.rejects(read('docx', file), /unpacked size exceeds/)
  })

  test('a part whose header states a false size is rejected by the counted bytes', async () => {
    const name = 'word/document.xml'
    const honest = documents.bomb(parts, name, { head, fill: '</w:t><w:t>', tail, unpackedBytes: 20 * 1_048_576 })
    for (const declaredBytes of [0, 100, 1_000_000, 2 ** 32 - 1]) {
      await assert.rejects(read('docx', documents.lieAboutSize(honest, name, declaredBytes)), PreviewError)
    }
    const options = { head, fill: 'a', tail, unpackedBytes: 8 * 1_048_576, declaredBytes: 1_000_000 }
    await assert.rejects(read('docx', documents.bomb(parts, 'word/document.xml', options)), PreviewError)
  })

  test('an oversized text node is rejected before it fills the memory', async () => {
    const options = { head, fill: 'a', tail, unpackedBytes: 12 * 1_048_576 }
    await assert.rejects(read('docx', documents.bomb(parts, 'word/document.xml', options)), /larger than a preview/)
  })

  test('a decompression bomb in a part that the preview does not read has no effect', async () => {
    const file = documents.bomb(parts, 'word/media/inner.zip', { fill: '\0', unpackedBytes: 40 * 1_048_576 })
    assert.equal((await read('docx', file)).text, 'fine')
  })

  test('an archive with too many parts is rejected', async () => {
    const many = Object.fromEntries(Array.from({ length: 10_001 }, (_, index) => [`part${index}`, '']))
    await assert.rejects(read('docx', documents.zip({ ...parts, ...many })), PreviewError)
  })

  test('a file with any byte changed is either previewed or rejected', async () => {
    const originals: [Exclude<Format, 'text'>, Buffer][] = [
      ['docx', documents.docx({ body: paragraph('text') })],
      ['xlsx', documents.xlsx([{ name: 'S', rows: [['a', 1]] }])],
      ['odt', documents.odt('<text:p>text</text:p>')],
      ['rtf', Buffer.from(String.raw`{\rtf1\ansi{\b text}\u26481?\par}`)],
      ['pdf', documents.pdf([['text']])],
    ]
    const changes = fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 8 })
    const change = fc.tuple(fc.constantFrom(...originals), changes)
    await fc.assert(
      fc.asyncProperty(change, async ([[format, original], edits]) => {
        const file = Buffer.from(original)
        for (const [at, value] of edits) file[at % file.length] = value
        const outcome = await read(format, file).catch((error: unknown) => error)
        assert.ok(outcome instanceof PreviewError || 'kind' in (outcome as object), String(outcome))
      }),
      { numRuns: 300 },
    )
  })
})
