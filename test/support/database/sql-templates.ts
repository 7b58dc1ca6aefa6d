import { globSync, readFileSync } from 'node:fs'

const root = new URL('../../../', import.meta.url)

/** The files of the server, without tests, relative to the repository. */
export const sourceFiles = globSync('src/**/*.ts', { cwd: root }).filter((file) => !file.endsWith('.test.ts'))

/** The tests and what they share, relative to the repository. */
export const testFiles = globSync(['src/**/*.test.ts', 'test/**/*.ts'], { cwd: root }).filter(
  // Parts of statements, not statements.
  (file) => !file.startsWith('test/support/database/'),
)

export interface FoundStatement {
  file: string
  /** The declaration that contains the template. */
  name: string
  /** The template with its fragments; each value is a question mark. Fragments that exclude one another are all there. */
  text: string
}

const contents = new Map<string, string>()
const contentOf = (file: string): string => {
  let content = contents.get(file)
  if (content === undefined) contents.set(file, (content = readFileSync(new URL(file, root), 'utf8')))
  return content
}

const declaration = /^(?:export )?(?:const|type|interface|class|function|import) ?/gm

/** Where the top-level declaration of a name begins and ends; undefined if the file does not have it. */
const declared = (source: string, name: string): { begin: number; end: number } | undefined => {
  const found = new RegExp(String.raw`^(?:export )?const ${name}\b`, 'm').exec(source)
  if (!found) return undefined
  declaration.lastIndex = found.index + found[0].length
  return { begin: found.index, end: declaration.exec(source)?.index ?? source.length }
}

/** The file that a name is imported from, relative to the repository. */
const importedFrom = (file: string, name: string): string | undefined => {
  const path = new RegExp(String.raw`import \{[^}]*\b${name}\b[^}]*\} from '(\.[^']+)'`).exec(contentOf(file))?.[1]
  return path === undefined ? undefined : new URL(path, new URL(file, 'file:///')).pathname.slice(1)
}

const maxDepth = 4

/** The texts of all templates of a declaration (`const ofKey = (…) => sql…`), in this file or an imported one. */
const fragmentNamed = (file: string, name: string, depth: number): string => {
  const range = declared(contentOf(file), name)
  if (range) return depth > maxDepth ? '' : templatesBetween(file, range, depth).join(' ')
  const other = importedFrom(file, name)
  return other !== undefined && sourceFiles.includes(other) ? fragmentNamed(other, name, depth) : ''
}

/**
 * The text of a template that begins at `from` (behind its backtick), nested templates and fragments included, and
 * where it ends.
 */
const readTemplate = (file: string, from: number, depth: number): { text: string; end: number } => {
  const source = contentOf(file)
  let text = ''
  for (let i = from; i < source.length; i++) {
    if (source[i] === '\\') {
      text += source.slice(i, i + 2)
      i++
    } else if (source[i] === '`') return { text, end: i }
    else if (source.startsWith('${', i)) {
      let open = 1
      i += 2
      const [, name] = /^(\w+)[({}]/.exec(source.slice(i, i + 60)) ?? []
      const fragment = name === undefined ? '' : fragmentNamed(file, name, depth + 1)
      let nested = ''
      for (; open > 0; i++) {
        if (source[i] === '`') {
          const inner = readTemplate(file, i + 1, depth)
          if (source.slice(i - 3, i) === 'sql') nested += ` ${inner.text} `
          i = inner.end
        } else if (source[i] === '{') open++
        else if (source[i] === '}') open--
      }
      i--
      text += fragment || nested ? `${fragment} ${nested}` : '?'
    } else text += source[i]
  }
  throw new Error(`a template of ${file} does not end`)
}

const templatesBetween = (file: string, { begin, end }: { begin: number; end: number }, depth: number): string[] => {
  const source = contentOf(file)
  const texts: string[] = []
  for (let at = source.indexOf('sql`', begin); at !== -1 && at < end; at = source.indexOf('sql`', at)) {
    const template = readTemplate(file, at + 4, depth)
    texts.push(template.text)
    at = template.end + 1
  }
  return texts
}

/** The parts of statements that claim a lease, which `platform/database/lease-queries.ts` puts together. */
const leaseParts: [property: RegExp, toStatement: (part: string) => string][] = [
  [/\bset: (?:(?=sql`)|(\w+))/g, (part) => `update turns set ${part} where org_id = ?`],
  [/\breturning: (?:(?=sql`)|(\w+))/g, (part) => `update turns set lease_token = ? where org_id = ? returning ${part}`],
  [
    /\balso: (?:(?=sql`)|(\w+))/g,
    (part) => `with claimed as (update turns set lease_token = ? where org_id = ? returning org_id), ${part} select`,
  ],
]

const nameAt = (source: string, index: number): string =>
  [...source.slice(0, index).matchAll(/^(?:export )?const (\w+)/gm)].at(-1)?.[1] ?? ''

/** The assignments, results and further CTEs of a file's lease claims, as statements. */
export const leaseClaimsOf = (file: string): FoundStatement[] => {
  const source = contentOf(file)
  return leaseParts.flatMap(([property, toStatement]) =>
    Array.from(source.matchAll(property), ({ 0: found, 1: fragment, index }) => ({
      file,
      name: nameAt(source, index),
      text: toStatement(
        fragment === undefined
          ? readTemplate(file, index + found.length + 4, 0).text
          : fragmentNamed(file, fragment, 0),
      ),
    })),
  )
}

/** The templates of a file, and the texts of its look-ups, which are no templates of `sql`. */
export const statementsOf = (file: string): FoundStatement[] => {
  const source = contentOf(file)
  const found: FoundStatement[] = []
  let at = 0
  for (;;) {
    const tagged = source.indexOf('sql`', at)
    const plain = source.indexOf('`\n  select', at)
    const begin = plain !== -1 && (tagged === -1 || plain < tagged) ? plain + 1 : tagged === -1 ? -1 : tagged + 4
    if (begin === -1) return found
    const { text, end } = readTemplate(file, begin, 0)
    found.push({ file, name: nameAt(source, begin), text })
    at = end + 1
  }
}
