// Finds texts in the source of the console that people read and that are not in the message catalogues. It looks at the
// syntax tree, not at types, so it knows texts by where they stand and by what they look like.
import { readFile, readdir } from 'node:fs/promises'
import { join, sep } from 'node:path'
import { parseSync } from 'vite'

export interface HardCodedText {
  /** From 1. */
  line: number
  text: string
}

interface SyntaxNode {
  type: string
  start: number
  [field: string]: unknown
}

/** Attributes and properties that people read. */
const readable =
  /^(?:label|title|hint|description|placeholder|alt|header|heading|caption|summary|message|text|unit|empty|action|confirm|aria-(?:label|description|roledescription|valuetext))$|(?:Label|Title|Hint|Description|Reason|Text|Message)$/

/** The same in every language. */
const properNames = new Set(
  (
    'Android Atrium Chrome Deutsch Discord Edge English Firefox Jira Linear Linux Opera Safari Shopify Slack Stripe ' +
    'Telegram Twilio Windows'
  ).split(' '),
)

/** Attributes and properties that hold names of keys. */
const keyFields = new Set(['key', 'keys', 'shortcut'])
/** Functions whose arguments are values to compare with. */
const comparisons = new Set(['closest', 'get', 'has', 'includes', 'querySelector'])

/** Elements whose content is code. */
const codeElements = new Set(['code', 'kbd', 'pre', 'samp'])
const macroElements = new Set(['Trans', 'Plural', 'Select', 'SelectOrdinal'])
const macroTags = new Set(['t', 'msg'])
const macroCalls = new Set(['t', 'msg', 'plural', 'select', 'selectOrdinal', 'defineMessage', 'Error', 'TypeError'])

/** Whether a string at any place looks like a sentence or a label of several words. */
const looksWritten = (text: string): boolean =>
  /^\p{Lu}[\p{L}’'-]*,? [\p{L}\d(]/u.test(text.trim()) ||
  /^ \(\p{L}+\)$/u.test(text) ||
  /^(?:an?|another|no|the|this|your) \p{L}/u.test(text) ||
  /^\p{L}+(?: \p{L}[\p{L}’-]+){3,}$/u.test(text)
/** Whether a string at a place for texts is one: `Save`, but not `button` or `2xl`. */
const isWord = (text: string): boolean => /\p{Lu}\p{Ll}|\p{L} [\p{L}\d]/u.test(text)
/** Whether a string at any place looks like a label of one word. */
const isLabel = (text: string): boolean => /^\p{Lu}\p{Ll}+…?$/u.test(text)
const hasLetters = (text: string): boolean => /\p{L}{2}/u.test(text)

const isNode = (value: unknown): value is SyntaxNode =>
  typeof value === 'object' && value !== null && typeof (value as { type?: unknown }).type === 'string'

const nameOf = (node: unknown): string | undefined => {
  if (!isNode(node)) return undefined
  if (node.type === 'JSXNamespacedName') return undefined
  if (node.type === 'MemberExpression') return nameOf(node['property'])
  if (node.type === 'Literal') return typeof node['value'] === 'string' ? node['value'] : undefined
  return typeof node['name'] === 'string' ? node['name'] : undefined
}

const isSkipped = (node: SyntaxNode): boolean => {
  switch (node.type) {
    case 'ImportDeclaration':
    case 'ImportExpression':
    case 'ExportAllDeclaration':
    case 'TSTypeAnnotation':
    case 'TSTypeAliasDeclaration':
    case 'TSInterfaceDeclaration':
    case 'TSTypeParameterInstantiation':
      return true
    case 'JSXElement': {
      const name = nameOf((node['openingElement'] as SyntaxNode)['name']) ?? ''
      return macroElements.has(name) || codeElements.has(name)
    }
    case 'TaggedTemplateExpression':
      return macroTags.has(nameOf(node['tag']) ?? '')
    case 'CallExpression':
    case 'NewExpression':
      return macroCalls.has(nameOf(node['callee']) ?? '')
    default:
      return false
  }
}

type Place = 'any' | 'readable' | 'code'

const placeOf = (node: SyntaxNode, place: Place): Place => {
  const named = node.type === 'JSXAttribute' ? node['name'] : node.type === 'Property' ? node['key'] : undefined
  if (place === 'code' || keyFields.has(nameOf(named) ?? '')) return 'code'
  if (node.type === 'CallExpression' && comparisons.has(nameOf(node['callee']) ?? '')) return 'code'
  if (node.type === 'BinaryExpression') return 'code'
  if (node.type === 'JSXAttribute') return readable.test(nameOf(node['name']) ?? '') ? 'readable' : 'any'
  if (node.type === 'Property') return readable.test(nameOf(node['key']) ?? '') ? 'readable' : 'any'
  if (node.type === 'JSXElement' || node.type === 'JSXExpressionContainer') return place
  // The arguments of a call and the condition of a choice are not shown.
  if (node.type === 'CallExpression' || node.type === 'MemberExpression') return 'any'
  return place
}

const textOf = (node: SyntaxNode): string | undefined => {
  if (node.type === 'JSXText') return node['value'] as string
  if (node.type === 'Literal') return typeof node['value'] === 'string' ? node['value'] : undefined
  if (node.type === 'TemplateLiteral')
    return (node['quasis'] as { value: { cooked: string } }[]).map(({ value }) => value.cooked).join('0')
  return undefined
}

const isHardCoded = (node: SyntaxNode, text: string, place: Place): boolean => {
  if (node.type === 'JSXText') return hasLetters(text)
  if (place === 'code') return false
  return isLabel(text) || looksWritten(text) || (place === 'readable' && isWord(text))
}

/** The hard-coded texts of a TypeScript file, in order. Throws if it has syntax errors. */
export const findHardCodedTexts = (path: string, source: string): HardCodedText[] => {
  const { program, errors } = parseSync(path, source)
  if (errors.length > 0) throw new Error(`${path}: ${errors[0]?.message}`)
  const found: HardCodedText[] = []
  const visit = (node: SyntaxNode, outer: Place): void => {
    if (isSkipped(node)) return
    const place = placeOf(node, outer)
    const text = textOf(node)
    if (text !== undefined && isHardCoded(node, text, place))
      found.push({ line: source.slice(0, node.start).split('\n').length, text: text.trim().replaceAll(/\s+/g, ' ') })
    for (const [field, value] of Object.entries(node)) {
      if (field === 'key' && node.type === 'Property') continue
      for (const child of Array.isArray(value) ? value : [value]) if (isNode(child)) visit(child, place)
    }
  }
  visit(program as unknown as SyntaxNode, 'any')
  return found
}

/** The strings of a TypeScript file that are sentences, with 0 in place of their values. */
export const sentencesOf = (path: string, source: string): string[] => {
  const found: string[] = []
  const visit = (node: unknown): void => {
    if (Array.isArray(node)) for (const child of node) visit(child)
    if (!isNode(node)) return
    const text = textOf(node)
    if (text !== undefined && /^\p{Lu}.* .*[.?]$/su.test(text)) found.push(text)
    for (const value of Object.values(node)) visit(value)
  }
  visit(parseSync(path, source).program)
  return found
}

/** The hard-coded texts of all files whose path in the folder begins with `prefix`, as `path:line: text`. */
export const findInFolder = async (folder: string, prefix = ''): Promise<string[]> => {
  const paths = (await readdir(folder, { recursive: true }))
    .map((path) => path.replaceAll(sep, '/'))
    .filter((path) => /\.tsx?$/.test(path) && path.startsWith(prefix))
  if (paths.length === 0) throw new Error(`No source file in ${folder} begins with ${prefix}`)
  const found = await Promise.all(
    paths.toSorted().map(async (path) => {
      const texts = findHardCodedTexts(path, await readFile(join(folder, path), 'utf8'))
      return texts.filter(({ text }) => !properNames.has(text)).map(({ line, text }) => `${path}:${line}: ${text}`)
    }),
  )
  return found.flat()
}
