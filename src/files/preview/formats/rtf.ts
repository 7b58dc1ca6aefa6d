import { createDocumentWriter } from './document-writer.ts'
import type { DocumentWriter } from './document-writer.ts'
import { damaged } from '../payload.ts'
import type { PreviewPayload } from '../payload.ts'

interface State {
  bold: boolean
  italic: boolean
  hidden: boolean
  /** Inside a group without body text, such as fonts, colours or pictures. */
  skipped: boolean
  /** Number of fallback characters after `\u`, for readers without Unicode support. */
  unicodeSkip: number
}

// Destinations that contain no body text although they are not marked as optional with `\*`.
const nonText = new Set(
  'fonttbl colortbl stylesheet info pict object header footer headerl headerr headerf footerl footerr footerf footnote nonshppict themedata datastore latentstyles listtable listoverridetable rsidtbl generator xmlnstbl fldinst filetbl revtbl'.split(
    ' ',
  ),
)

const symbols: Record<string, string> = {
  tab: '\t',
  cell: '\t',
  nestcell: '\t',
  emdash: '—',
  endash: '–',
  bullet: '•',
  lquote: '‘',
  rquote: '’',
  ldblquote: '“',
  rdblquote: '”',
  emspace: ' ',
  enspace: ' ',
  '~': '\u00a0',
  _: '-',
}

const breaks = new Set(['par', 'row', 'nestrow', 'sect', 'page'])

const decoderFor = (codePage: number): TextDecoder => {
  const labels: Record<number, string> = { 932: 'shift_jis', 936: 'gbk', 949: 'euc-kr', 950: 'big5', 65_001: 'utf-8' }
  try {
    return new TextDecoder(labels[codePage] ?? `windows-${codePage}`)
  } catch {
    return new TextDecoder('windows-1252')
  }
}

// One token: a control word with its number, a control symbol, a hex byte, a brace, or text without any of these.
const token = /\\([a-zA-Z]{1,32})(-?\d{1,10})? ?|\\'([0-9a-fA-F]{2})|\\([^a-zA-Z])|([{}])|([^\\{}\r\n]+)|[\r\n]+/gy

interface Reader {
  word: (name: string, value: number | undefined) => void
  byte: (value: number) => void
  text: (latin1: string) => void
  symbol: (character: string) => void
  openGroup: () => void
  closeGroup: () => void
}

const styleWords: Record<string, (state: State, value: number | undefined) => void> = {
  uc: (state, value) => {
    state.unicodeSkip = Math.min(Math.max(value ?? 1, 0), 16)
  },
  b: (state, value) => {
    state.bold = value !== 0
  },
  i: (state, value) => {
    state.italic = value !== 0
  },
  v: (state, value) => {
    state.hidden = value !== 0
  },
  plain: (state) => {
    Object.assign(state, { bold: false, italic: false, hidden: false })
  },
}

const deepest = 1_000

/** Reads plain and formatted text of RTF 1.9.1. Ignores pictures, fonts and styles. */
const createReader = (writer: DocumentWriter): Reader => {
  let state: State = { bold: false, italic: false, hidden: false, skipped: false, unicodeSkip: 1 }
  const outer: State[] = []
  let decoder = decoderFor(1252)
  let bytes: number[] = []
  let toSkip = 0
  let startsGroup = false

  const write = (text: string): void => {
    if (!state.skipped && !state.hidden) writer.write(text, { bold: state.bold, italic: state.italic })
  }
  // Collected before decoding, because the two bytes of an East Asian character are two tokens.
  const flush = (): void => {
    if (bytes.length > 0) write(decoder.decode(Uint8Array.from(bytes)))
    bytes = []
  }
  return {
    openGroup: () => {
      flush()
      if (outer.push({ ...state }) > deepest) throw damaged('nested too deeply')
      startsGroup = true
      toSkip = 0
    },
    closeGroup: () => {
      flush()
      state = outer.pop() ?? state
      startsGroup = false
      toSkip = 0
    },
    word: (name, value) => {
      flush()
      if (startsGroup && nonText.has(name)) state.skipped = true
      startsGroup = false
      if (state.skipped) return
      if (breaks.has(name)) writer.closeBlock()
      else if (name === 'line') writer.lineBreak()
      else if (name === 'ansicpg') decoder = decoderFor(value ?? 1252)
      else if (name === 'u') {
        write(String.fromCharCode((value ?? 0) & 0xffff))
        toSkip = state.unicodeSkip
      } else if (Object.hasOwn(symbols, name)) write(symbols[name] ?? '')
      else if (Object.hasOwn(styleWords, name)) styleWords[name]?.(state, value)
    },
    symbol: (character) => {
      flush()
      if (character === '*') state.skipped = true
      else if (character === '\n' || character === '\r') writer.closeBlock()
      else write(symbols[character] ?? ('\\{}'.includes(character) ? character : ''))
    },
    byte: (value) => {
      startsGroup = false
      if (toSkip > 0) toSkip -= 1
      else bytes.push(value)
    },
    text: (latin1) => {
      startsGroup = false
      const skipped = Math.min(toSkip, latin1.length)
      toSkip -= skipped
      if (state.skipped) return
      for (let at = skipped; at < latin1.length; at += 1) bytes.push(latin1.charCodeAt(at))
      if (bytes.length > 65_536) flush()
    },
  }
}

/** Returns the text of an RTF file with bold and italic. Throws a PreviewError if the file is not RTF. */
export const previewRtf = (source: Buffer, isLate: () => boolean): PreviewPayload => {
  const rtf = source.toString('latin1')
  if (!rtf.startsWith('{\\rtf')) throw damaged('no RTF header')
  const writer = createDocumentWriter()
  const reader = createReader(writer)
  let tokens = 0
  let late = false
  token.lastIndex = 0
  for (;;) {
    const match = token.exec(rtf)
    if (!match || writer.isFull() || late) break
    const [, word, value, hex, symbol, brace, text] = match
    if (word !== undefined) {
      reader.word(word, value === undefined ? undefined : Number(value))
      // `\bin` is followed by this number of binary bytes.
      if (word === 'bin') token.lastIndex += Math.max(0, Number(value ?? 0))
    } else if (hex !== undefined) reader.byte(Number.parseInt(hex, 16))
    else if (text !== undefined) reader.text(text)
    else if (brace === '{') reader.openGroup()
    else if (brace === '}') reader.closeGroup()
    else if (symbol !== undefined) reader.symbol(symbol)
    tokens += 1
    if (tokens % 65_536 === 0) late = isLate()
  }
  return writer.finish({ truncated: late })
}
