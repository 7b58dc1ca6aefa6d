import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { after, test } from 'node:test'
import { childrenWith } from '../../../test/support/child-processes.ts'
import * as documents from '../../../test/support/documents.ts'
import { until } from '../../../test/support/until.ts'
import { ApiError } from '../../platform/http/errors.ts'
import { limits } from './payload.ts'
import { createPreviewer } from './previewer.ts'
import type { PreviewInput, PreviewerOptions } from './previewer.ts'

const ooxml = 'application/vnd.openxmlformats-officedocument.'
const types = {
  docx: `${ooxml}wordprocessingml.document`,
  xlsx: `${ooxml}spreadsheetml.sheet`,
  pptx: `${ooxml}presentationml.presentation`,
  odt: 'application/vnd.oasis.opendocument.text',
  ods: 'application/vnd.oasis.opendocument.spreadsheet',
  pdf: 'application/pdf',
  rtf: 'application/rtf',
  csv: 'text/csv',
}

const piecesOf = function* (bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += 65_536) yield bytes.subarray(at, at + 65_536)
}

const input = (mimeType: string, content: Buffer | string, name = 'file'): PreviewInput => {
  const bytes = Buffer.from(content)
  return { mimeType, name, sizeBytes: bytes.length, open: async () => Readable.from(piecesOf(bytes)) }
}

const dot = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==',
  'base64',
)

const unopened = async (): Promise<Readable> => assert.fail('it was opened')

/** A file whose bytes never arrive. `opened` resolves when the stream is opened, `left` when it is closed. */
const endless = (mimeType = types.csv) => {
  const source = new Readable({ read: () => undefined })
  const opened = Promise.withResolvers<void>()
  const open = async (): Promise<Readable> => {
    opened.resolve()
    return source
  }
  return {
    input: { mimeType, name: 'x', sizeBytes: 10, open },
    opened: opened.promise,
    left: new Promise<void>((resolve) => source.once('close', resolve)),
    source,
  }
}

const cutOffAfterOneLine = async (): Promise<Readable> => {
  const source = new Readable({ read: () => undefined })
  source.push('a,b\n')
  setImmediate(() => source.destroy())
  return source
}

const previewers: { close(): Promise<void> }[] = []
/** On a machine that does other work at the same time, a child that lets others go first would not come to its end. */
const newPreviewer = (options?: PreviewerOptions) => {
  const previewer = createPreviewer({ timeoutMs: 120_000, niceness: 0, ...options })
  previewers.push(previewer)
  return previewer
}
after(() => Promise.all(previewers.map((previewer) => previewer.close())))

const rejectedWith = (code: string, message: RegExp) => (error: unknown) =>
  error instanceof ApiError && error.code === code && message.test(error.message)

const children = (): Promise<number[]> => childrenWith('preview/child.ts')

const childrenBecome = (count: number): Promise<void> =>
  until(`there are ${count} children`, async () => (await children()).length === count)

test('a file of every format is previewed, and no process is left afterwards', async () => {
  const previewer = newPreviewer()
  const long = 'a'.repeat(3 * 1_048_576)
  for (const [mimeType, content, kind, expected] of [
    ['text/plain', 'hello', 'text', 'hello'],
    ['text/markdown', '# Title', 'text', '# Title'],
    ['text/html', '<script>alert(1)</script>', 'text', '<script>alert(1)</script>'],
    ['application/json', '{"a":1}', 'text', '{"a":1}'],
    ['image/svg+xml', '<svg/>', 'text', '<svg/>'],
    ['text/x-python', 'print(1)', 'text', 'print(1)'],
    ['text/plain', long, 'text', long.slice(0, limits.textBytes)],
    [types.docx, documents.docx({ body: documents.paragraph('word') }), 'document', 'word'],
    [types.pptx, documents.pptx([]), 'document', ''],
    [types.odt, documents.odt('<text:p>open</text:p>'), 'document', 'open'],
    [types.pdf, documents.pdf([['portable']]), 'document', 'Page 1\nportable'],
    [types.rtf, String.raw`{\rtf1 rich}`, 'document', 'rich'],
    [types.csv, 'a,b\n1,2\n', 'spreadsheet', 'a\tb\n1\t2'],
    ['text/tab-separated-values', 'a\tb\n', 'spreadsheet', 'a\tb'],
    [
      types.xlsx,
      documents.xlsx([
        { name: 'One', rows: [['x', 1]] },
        { name: 'Two', rows: [['y\nz']] },
      ]),
      'spreadsheet',
      '# One\nx\t1\n\n# Two\ny z',
    ],
    [types.ods, documents.ods('<table:table/>'), 'spreadsheet', ''],
  ] as const) {
    const file = input(mimeType, content)
    const preview = await previewer.preview(file)
    assert.equal(preview.kind, kind, mimeType)
    assert.deepEqual(await previewer.text(file), { text: expected, truncated: content === long }, mimeType)
  }
  await childrenBecome(0)
})

test('a file without a specific type is read by its name, and one without a preview is rejected unopened', async () => {
  const previewer = newPreviewer()
  const untyped = await previewer.preview(input('application/octet-stream', 'a;b', 'Table.CSV'))
  assert.deepEqual(untyped.sheets?.[0]?.rows, [['a', 'b']])
  for (const [mimeType, name, sizeBytes] of [
    ['image/png', 'a.txt', 10],
    ['application/msword', 'a.docx', 10],
    ['application/zip', 'a.docx', 10],
    ['application/octet-stream', 'a.bin', 10],
    ['application/octet-stream', 'txt', 10],
    ['application/octet-stream', 'a.constructor', 10],
    ['text/plain', 'a.txt', limits.sourceBytes + 1],
    [types.pdf, 'a.pdf', limits.sourceBytes + 1],
  ] as const) {
    const rejection =
      sizeBytes === 10 ? /^Files of type \S+ cannot be previewed\.$/ : /^Files over 25 MB cannot be previewed\.$/
    await assert.rejects(
      previewer.preview({ mimeType, name, sizeBytes, open: unopened }),
      rejectedWith('BAD_REQUEST', rejection),
    )
  }
})

test('a damaged file, a decompression bomb and an encrypted file are rejected with the reason', async () => {
  const previewer = newPreviewer()
  const bomb = documents.bomb(documents.docxParts({ body: '' }), 'word/document.xml', {
    fill: 'a',
    unpackedBytes: 40e6,
  })
  for (const [mimeType, content, reason] of [
    [types.docx, 'not a zip', 'it is damaged'],
    [types.docx, bomb, 'its unpacked size exceeds the limit'],
    [
      types.xlsx,
      Buffer.concat([Buffer.from('d0cf11e0a1b11ae1', 'hex'), Buffer.alloc(512)]),
      'it is protected by a password',
    ],
  ] as const) {
    const message = new RegExp(`^This file cannot be previewed: ${reason}\\.$`)
    await assert.rejects(previewer.preview(input(mimeType, content)), rejectedWith('BAD_REQUEST', message))
  }
})

test('a process that exceeds its memory limit is ended, and the next file is read', async () => {
  const previewer = newPreviewer({ maxRssBytes: 160 * 1_048_576 })
  const file = input(types.pdf, documents.pdfBomb(200_000_000))
  await assert.rejects(previewer.preview(file), rejectedWith('BAD_REQUEST', /needs too much memory\.$/))
  assert.equal((await previewer.text(input(types.rtf, String.raw`{\rtf1 fine}`))).text, 'fine')
  await childrenBecome(0)
})

test('a process that exceeds its time limit is ended: BAD_REQUEST when the file had arrived, otherwise SERVICE_UNAVAILABLE', async () => {
  const previewer = newPreviewer({ timeoutMs: 1_000 })
  const { input: stalled, left } = endless()
  await assert.rejects(previewer.preview(stalled), rejectedWith('SERVICE_UNAVAILABLE', /store is too slow/))
  await left
  const slow = documents.pdf(Array.from({ length: 4_000 }, () => Array.from({ length: 40 }, () => '')))
  await assert.rejects(previewer.preview(input(types.pdf, slow)), rejectedWith('BAD_REQUEST', /takes too long\.$/))
  await childrenBecome(0)
})

test('a failing object store is SERVICE_UNAVAILABLE, not a damaged file', async () => {
  const previewer = newPreviewer()
  const broken = new Error('connection lost')
  const failing = async (): Promise<Readable> =>
    Readable.from(
      (async function* () {
        yield Buffer.from('a,b\n')
        throw broken
      })(),
    )
  const file = { mimeType: types.csv, name: 'x', sizeBytes: 1_000, open: failing }
  await assert.rejects(
    previewer.preview(file),
    rejectedWith('SERVICE_UNAVAILABLE', /cannot be read from the file store/),
  )
  const cutOff = previewer.preview({ ...file, open: cutOffAfterOneLine })
  await assert.rejects(cutOff, rejectedWith('SERVICE_UNAVAILABLE', /cannot be read from the file store/))
  const unavailable = { ...file, open: () => Promise.reject(broken) }
  await assert.rejects(previewer.preview(unavailable), broken)
  await childrenBecome(0)
})

test('two files are read at the same time, others wait in order, disconnected clients leave the queue, and too many are rejected', async () => {
  const previewer = newPreviewer({ concurrency: 2, maxWaiting: 2 })
  const [first, second, third, fourth] = [endless(), endless(), endless(), endless()]
  const disconnect = new AbortController()
  const running = [previewer.preview(first.input), previewer.preview(second.input)]
  await Promise.all([first.opened, second.opened])
  const leaving = previewer.preview(third.input, disconnect.signal)
  const patient = previewer.preview(fourth.input)
  await assert.rejects(
    previewer.preview(endless().input),
    (error) =>
      error instanceof ApiError && error.code === 'SERVICE_UNAVAILABLE' && error.headers?.['retry-after'] === '5',
  )
  await childrenBecome(2)

  disconnect.abort(new Error('the client went away'))
  await assert.rejects(leaving, /the client went away/)
  first.source.push('a,b\n')
  first.source.push(null)
  assert.deepEqual((await running[0])!.sheets![0]!.rows, [['a', 'b']])
  await fourth.opened
  assert.equal(third.source.listenerCount('data'), 0)

  // Text is decoded in this process and needs no slot.
  assert.equal((await previewer.preview(input('text/plain', 'quick'))).text, 'quick')
  second.source.push(null)
  fourth.source.push(null)
  await Promise.all([running[1], patient])
  await childrenBecome(0)
})

test("an org with many files that never arrive does not delay another org's files", async () => {
  const previewer = newPreviewer({ concurrency: 2, maxWaiting: 20 })
  const flood = Array.from({ length: 22 }, () => endless())
  const disconnect = new AbortController()
  const theirs = flood.map((one) => previewer.preview({ ...one.input, orgId: 'slow' }, disconnect.signal))
  const given = Promise.allSettled(theirs)
  await Promise.all([flood[0]!.opened, flood[1]!.opened])
  await assert.rejects(
    previewer.preview({ ...endless().input, orgId: 'slow' }, disconnect.signal),
    rejectedWith('SERVICE_UNAVAILABLE', /Try again/),
  )
  const own = [1, 2, 3].map(() => previewer.preview({ ...input(types.csv, 'a,b'), orgId: 'other' }))
  // One free slot is enough for all files of the other org.
  flood[0]!.source.push(null)
  for (const preview of await Promise.all(own)) assert.deepEqual(preview.sheets![0]!.rows, [['a', 'b']])
  disconnect.abort(new Error('the client went away'))
  await given
  await childrenBecome(0)
})

test('an org with files that never arrive leaves a place to the previews and pictures of other orgs', async () => {
  const previewer = newPreviewer()
  const disconnect = new AbortController()
  const [files, pictures] = ['text/csv', 'image/png'].map((type) => Array.from({ length: 4 }, () => endless(type)))
  const given = Promise.allSettled([
    ...files!.map((one) => previewer.preview({ ...one.input, orgId: 'slow' }, disconnect.signal)),
    ...pictures!.map((one) => previewer.picture({ ...one.input, orgId: 'slow' }, disconnect.signal)),
  ])
  await Promise.all([files![0]!.opened, files![1]!.opened, pictures![0]!.opened])
  const { sheets } = await previewer.preview({ ...input(types.csv, 'a,b'), orgId: 'other' })
  assert.deepEqual(sheets![0]!.rows, [['a', 'b']])
  const { width } = await previewer.picture({ ...input('image/png', dot), orgId: 'other' })
  assert.equal(width, 1)
  disconnect.abort(new Error('the client went away'))
  await given
  await childrenBecome(0)
})

test('a person with many files leaves waiting places to others of the org, who get the next turn', async () => {
  const previewer = newPreviewer({ concurrency: 1 })
  const flood = Array.from({ length: 11 }, () => endless())
  const disconnect = new AbortController()
  const busy = { orgId: 'org', userId: 'busy' }
  const theirs = flood.map((one) => previewer.preview({ ...one.input, ...busy }, disconnect.signal))
  const given = Promise.allSettled(theirs)
  await flood[0]!.opened
  await assert.rejects(
    previewer.preview({ ...endless().input, ...busy }, disconnect.signal),
    rejectedWith('SERVICE_UNAVAILABLE', /Try again/),
  )
  const own = previewer.preview({ ...input(types.csv, 'a,b'), orgId: 'org', userId: 'other' })
  flood[0]!.source.push(null)
  await flood[1]!.opened
  flood[1]!.source.push(null)
  assert.deepEqual((await own).sheets![0]!.rows, [['a', 'b']])
  disconnect.abort(new Error('the client went away'))
  await given
  await childrenBecome(0)
})

test('visitors of shares leave waiting places to the people of the org and to visitors with other addresses', async () => {
  const previewer = newPreviewer({ concurrency: 1 })
  const flood = Array.from({ length: 11 }, () => endless())
  const disconnect = new AbortController()
  const creator = { orgId: 'org', userId: 'creator' }
  const ask = (one: ReturnType<typeof endless>, visitor: string) =>
    previewer.preview({ ...one.input, ...creator, visitor }, disconnect.signal)
  const theirs = flood.map((one) => ask(one, '203.0.113.1'))
  await flood[0]!.opened
  await assert.rejects(ask(endless(), '203.0.113.1'), rejectedWith('SERVICE_UNAVAILABLE', /Try again/))
  const others = Array.from({ length: 10 }, () => ask(endless(), '203.0.113.2'))
  const given = Promise.allSettled([...theirs, ...others])
  await assert.rejects(ask(endless(), '203.0.113.3'), rejectedWith('SERVICE_UNAVAILABLE', /Try again/))
  const own = previewer.preview({ ...input(types.csv, 'a,b'), ...creator })
  flood[0]!.source.push(null)
  // The turn after a visitor's is that of the people, who are not behind twenty visitors.
  await flood[1]!.opened
  flood[1]!.source.push(null)
  assert.deepEqual((await own).sheets![0]!.rows, [['a', 'b']])
  disconnect.abort(new Error('the client went away'))
  await given
  await childrenBecome(0)
})

test('a client that disconnects ends its process at once', async () => {
  const previewer = newPreviewer()
  const { input: stalled, opened, left } = endless()
  const disconnect = new AbortController()
  const preview = previewer.preview(stalled, disconnect.signal)
  await opened
  disconnect.abort(new Error('the client went away'))
  await assert.rejects(preview, /the client went away/)
  await left
  await childrenBecome(0)
  await assert.rejects(previewer.preview(input(types.csv, 'a'), disconnect.signal), /the client went away/)
  await assert.rejects(previewer.preview(input('text/plain', 'a'), disconnect.signal), /the client went away/)
})

test('closing the previewer ends running previews and rejects waiting ones', async () => {
  const previewer = newPreviewer({ concurrency: 1 })
  const [first, second] = [endless(), endless()]
  const outcomes = Promise.allSettled([previewer.preview(first.input), previewer.preview(second.input)])
  await first.opened
  await previewer.close()
  for (const { status } of await outcomes) assert.equal(status, 'rejected')
  assert.deepEqual(await children(), [])
  await assert.rejects(previewer.preview(input(types.csv, 'a')), rejectedWith('SERVICE_UNAVAILABLE', /Try again/))
})

test('the process has no environment, no network and no files but the program', async () => {
  const previewer = newPreviewer()
  const { input: stalled, opened, source } = endless()
  const preview = previewer.preview(stalled)
  await opened
  let pids: number[] = []
  let command = ''
  await until('the child is itself', async () => {
    pids = await children()
    command = await readFile(`/proc/${pids[0]}/cmdline`, 'latin1').catch(() => '')
    return command.includes('--permission')
  })
  const environment = await readFile(`/proc/${pids[0]}/environ`, 'latin1')
  assert.ok(!environment.includes('PATH='), environment)
  assert.ok(
    !command.includes('--allow-fs-write') &&
      !command.includes('--allow-net') &&
      !command.includes('--allow-child-process'),
  )
  source.push(null)
  await preview
})
