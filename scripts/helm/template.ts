// The part of Go's templates and of Helm's functions that the chart in deploy/helm uses, because Helm is no npm package.
// Everything else is an error, so that no template means something different here than in Helm.
import { stringify } from 'yaml'

type Value = unknown

interface Block {
  kind: 'block'
  keyword: 'if' | 'with' | 'range'
  pipeline: string
  body: Node[]
  otherwise: Node[]
}

interface Definition {
  kind: 'define'
  name: string
  body: Node[]
}

type Node = { kind: 'text'; text: string } | { kind: 'print'; pipeline: string } | Block | Definition

interface Scope {
  dot: Value
  variables: ReadonlyMap<string, Value>
}

type Templates = Map<string, Node[]>

const actions = /\{\{(-)?\s*([\s\S]*?)\s*(-)?\}\}/g

/** Text and actions in turn: every second item is an action. */
const split = (source: string): string[] => {
  const parts: string[] = []
  let end = 0
  let trims = false
  for (const { 0: all, 1: before, 2: action = '', 3: after, index } of source.matchAll(actions)) {
    let text = source.slice(end, index)
    if (trims) text = text.trimStart()
    if (before !== undefined) text = text.trimEnd()
    parts.push(text, action)
    trims = after !== undefined
    end = index + all.length
  }
  const rest = source.slice(end)
  return [...parts, trims ? rest.trimStart() : rest]
}

const parse = (source: string): Node[] => {
  const root: Node[] = []
  const open: { node: Block | Definition; target: Node[] }[] = []
  const add = (node: Node): void => void (open.at(-1)?.target ?? root).push(node)
  for (const [place, part] of split(source).entries()) {
    const [keyword = '', ...words] = part.split(/\s+/)
    const pipeline = words.join(' ')
    if (place % 2 === 0) add({ kind: 'text', text: part })
    else if (keyword === 'end') {
      if (open.pop() === undefined) throw new Error('`end` without a block')
    } else if (keyword === 'else') {
      const block = open.at(-1)
      if (block?.node.kind !== 'block' || pipeline !== '') throw new Error(`not supported: ${part}`)
      block.target = block.node.otherwise
    } else if (keyword === 'if' || keyword === 'with' || keyword === 'range') {
      const node: Block = { kind: 'block', keyword, pipeline, body: [], otherwise: [] }
      add(node)
      open.push({ node, target: node.body })
    } else if (keyword === 'define') {
      const node: Definition = { kind: 'define', name: JSON.parse(pipeline) as string, body: [] }
      add(node)
      open.push({ node, target: node.body })
    } else if (!part.startsWith('/*')) add({ kind: 'print', pipeline: part })
  }
  if (open.length > 0) throw new Error('a block has no `end`')
  return root
}

const isTrue = (value: Value): boolean =>
  typeof value === 'object' && value !== null ? Object.keys(value).length > 0 : Boolean(value)

const asText = (value: Value): string => {
  if (typeof value === 'string' || typeof value === 'boolean' || Number.isSafeInteger(value)) return String(value)
  throw new Error(`${JSON.stringify(value)} cannot be printed`)
}

// Kubernetes reads YAML 1.1, where `off` is a boolean unless it is quoted.
const toYaml = (value: Value): string =>
  stringify(value, { version: '1.1', sortMapEntries: true, lineWidth: 0 }).trimEnd()

const valueOf = (word: string, { dot, variables }: Scope): Value => {
  if (word.startsWith('"')) return JSON.parse(word)
  if (/^\d+$/.test(word)) return Number(word)
  const [, variable, path] = /^(\$\w*)?((?:\.\w+)*|\.)$/.exec(word) ?? []
  if (path === undefined) throw new Error(`not supported: ${word}`)
  let value = variable === undefined ? dot : variables.get(variable)
  for (const name of path.split('.').filter((one) => one !== '')) {
    if (typeof value !== 'object' || value === null) throw new Error(`${word}: nothing has the field ${name}`)
    value = (value as Record<string, Value>)[name]
  }
  return value
}

/** The result of a pipeline such as `.Values.image.tag | default .Chart.AppVersion | quote`. */
const evaluate = (pipeline: string, scope: Scope, templates: Templates): Value => {
  let result: Value
  for (const [place, command] of pipeline.split(/\s*\|\s*/).entries()) {
    const words = command.match(/"[^"]*"|\S+/g) ?? []
    const [name = ''] = words
    if (words.length === 1 && /^["$.\d]/.test(name)) {
      if (place > 0) throw new Error(`not supported: ${pipeline}`)
      result = valueOf(name, scope)
      continue
    }
    const given = words.slice(1).map((word) => valueOf(word, scope))
    result = call(name, place > 0 ? [...given, result] : given, templates)
  }
  return result
}

const call = (name: string, given: Value[], templates: Templates): Value => {
  const [first, second] = given
  if (name === 'quote' && given.length === 1) return JSON.stringify(asText(first))
  if (name === 'toYaml' && given.length === 1) return toYaml(first)
  if (name === 'not' && given.length === 1) return !isTrue(first)
  if (name === 'default' && given.length === 2) return isTrue(second) ? second : first
  if (name === 'nindent' && given.length === 2) {
    const margin = ' '.repeat(Number(first))
    return `\n${asText(second).replaceAll(/^/gm, margin)}`
  }
  if (name === 'include' && given.length === 2) {
    const body = templates.get(String(first))
    if (body === undefined) throw new Error(`there is no template ${String(first)}`)
    return run(body, { dot: second, variables: new Map([['$', second]]) }, templates)
  }
  throw new Error(`not supported: ${name} with ${given.length} arguments`)
}

const entriesOf = (value: Value): [Value, Value][] =>
  Array.isArray(value)
    ? [...value.entries()]
    : Object.entries((value ?? {}) as Record<string, Value>).toSorted(([a], [b]) => (a < b ? -1 : 1))

const runBlock = (node: Block, scope: Scope, templates: Templates): string => {
  const [, key, item, pipeline = node.pipeline] =
    /^(?:(\$\w+), )?(\$\w+) := (.*)$/.exec(node.pipeline) ?? ([] as (string | undefined)[])
  const value = evaluate(pipeline, scope, templates)
  if (!isTrue(value)) return run(node.otherwise, scope, templates)
  if (node.keyword === 'if') return run(node.body, scope, templates)
  if (node.keyword === 'with') return run(node.body, { ...scope, dot: value }, templates)
  return entriesOf(value)
    .map(([name, one]) => {
      const variables = new Map(scope.variables)
      if (key !== undefined) variables.set(key, name)
      if (item !== undefined) variables.set(item, one)
      return run(node.body, { dot: one, variables }, templates)
    })
    .join('')
}

const run = (nodes: Node[], scope: Scope, templates: Templates): string =>
  nodes
    .map((node) => {
      if (node.kind === 'text') return node.text
      if (node.kind === 'print') return asText(evaluate(node.pipeline, scope, templates))
      return node.kind === 'block' ? runBlock(node, scope, templates) : ''
    })
    .join('')

/**
 * Renders the templates of a chart, by file name, in their order. Templates that start with `_` only define others.
 * Throws for whatever is not in the supported part of the language.
 */
export const renderTemplates = (sources: ReadonlyMap<string, string>, values: object): Map<string, string> => {
  const templates: Templates = new Map()
  const parsed = [...sources].map(([file, source]) => [file, parse(source)] as const)
  for (const node of parsed.flatMap(([, nodes]) => nodes)) {
    if (node.kind === 'define') templates.set(node.name, node.body)
  }
  const scope = { dot: values, variables: new Map<string, Value>([['$', values]]) }
  return new Map(
    parsed.filter(([file]) => !file.startsWith('_')).map(([file, nodes]) => [file, run(nodes, scope, templates)]),
  )
}
