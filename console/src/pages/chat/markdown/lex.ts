// Reads Markdown into blocks, on the page or in a worker. The size and the depth of what is shown are limited here.
import { lexer, Tokenizer } from 'marked'
import type { Token, Tokens } from 'marked'

export type MarkdownNode =
  | string
  | { type: 'p' | 'blockquote' | 'strong' | 'em' | 'del' | 'text'; nodes: MarkdownNode[] }
  | { type: 'heading'; level: number; nodes: MarkdownNode[] }
  | { type: 'link'; href: string; nodes: MarkdownNode[] }
  | { type: 'code' | 'codespan' | 'raw'; text: string }
  | { type: 'list'; start: number | undefined; items: MarkdownNode[][] }
  | { type: 'table'; align: (string | null)[]; rows: MarkdownNode[][][] }
  | { type: 'br' | 'hr' }

/** The blocks of a text, each as the JSON of its node, or `plain`: the text is shown as it is. */
export type Lexed = readonly string[] | 'plain'

/** Elements deeper than this are shown as their raw text. */
const maxDepth = 32
/** A text with more nodes is shown as it is: rendering them would block the page. */
const maxNodes = 10_000

const entities: Record<string, string> = { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'" }
const decode = (text: string): string =>
  text.replaceAll(/&(?:amp|lt|gt|quot|#39);/g, (entity) => entities[entity] ?? '')

class LimitedTokenizer extends Tokenizer {
  private depth = 0

  override blockquote(src: string): Tokens.Blockquote | undefined {
    return this.nested(() => super.blockquote(src))
  }

  override list(src: string): Tokens.List | undefined {
    return this.nested(() => super.list(src))
  }

  /** Quotes and lists deeper than the limit are paragraphs. Reading a thousand levels takes a second. */
  private nested<T>(read: () => T): T | undefined {
    if (this.depth >= maxDepth) return undefined
    this.depth += 1
    try {
      return read()
    } finally {
      this.depth -= 1
    }
  }

  /** Rows are filled up to the columns of the header: a text of 50,000 characters could have 100 million cells. */
  override table(src: string): Tokens.Table | undefined {
    const [whole, header = '', , rows = ''] = this.rules.block.table.exec(src) ?? []
    if (whole === undefined) return undefined
    const cells = header.split('|').length * rows.split('\n').length
    return cells > whole.length ? undefined : super.table(src)
  }
}

interface Counter {
  nodes: number
}

const innerOf = (token: Token): Token[] => ('tokens' in token ? (token.tokens ?? []) : [])

const nodesOf = (tokens: Token[], depth: number, counter: Counter): MarkdownNode[] =>
  tokens.flatMap((token) => nodeOf(token, depth, counter) ?? [])

const tableOf = ({ header, rows, align }: Tokens.Table, depth: number, counter: Counter): MarkdownNode => ({
  type: 'table',
  align,
  rows: [header, ...rows].map((row) => row.map(({ tokens }) => nodesOf(tokens, depth + 1, counter))),
})

const wrappers: Record<string, 'p' | 'blockquote' | 'strong' | 'em' | 'del'> = {
  paragraph: 'p',
  blockquote: 'blockquote',
  strong: 'strong',
  em: 'em',
  del: 'del',
}

const nodeOf = (token: Token, depth: number, counter: Counter): MarkdownNode | undefined => {
  counter.nodes += 1
  if (counter.nodes > maxNodes) throw new Error('The text has too many elements')
  if (depth > maxDepth) return { type: 'raw', text: token.raw }
  const inner = () => nodesOf(innerOf(token), depth + 1, counter)
  const wrapper = wrappers[token.type]
  if (wrapper !== undefined) return { type: wrapper, nodes: inner() }
  switch (token.type) {
    case 'space':
    case 'def':
      return undefined
    case 'heading':
      return { type: 'heading', level: (token as Tokens.Heading).depth, nodes: inner() }
    case 'code':
      return { type: 'code', text: (token as Tokens.Code).text }
    case 'list': {
      const { items, ordered, start } = token as Tokens.List
      return {
        type: 'list',
        start: ordered ? Number(start) || 1 : undefined,
        items: items.map(({ tokens }) => nodesOf(tokens, depth + 1, counter)),
      }
    }
    case 'table':
      return tableOf(token as Tokens.Table, depth, counter)
    case 'hr':
    case 'br':
      return { type: token.type }
    case 'codespan':
      return { type: 'codespan', text: decode((token as Tokens.Codespan).text) }
    case 'checkbox':
      return (token as Tokens.Checkbox).checked ? '☑ ' : '☐ '
    case 'link':
      return { type: 'link', href: (token as Tokens.Link).href, nodes: inner() }
    case 'image': {
      const { href, text } = token as Tokens.Image
      return { type: 'link', href, nodes: [text || href] }
    }
    case 'text':
      return innerOf(token).length > 0 ? { type: 'text', nodes: inner() } : decode((token as Tokens.Text).text)
    default:
      return decode(token.raw)
  }
}

/** The blocks of a Markdown text, also of an incomplete one. `plain` when it has too many or too deep elements. */
export const lex = (text: string): Lexed => {
  try {
    const counter = { nodes: 0 }
    const tokens = lexer(text, { gfm: true, breaks: true, tokenizer: new LimitedTokenizer() })
    return nodesOf(tokens, 1, counter).map((node) => JSON.stringify(node))
  } catch {
    return 'plain'
  }
}
