// The documents as a website: `npm run docs` shows it while they are edited, `npm run docs -- build` writes it to
// docs/site/dist, from where the server serves it at /docs/guides.
import { spawn } from 'node:child_process'
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, rmSync, watch, writeFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const site = join(root, 'docs/site')
const pages = join(site, 'pages')

/** The place of each document in the website. */
export const placeOf = (file: string): string | undefined => {
  const name = posix.basename(file)
  if (file === 'README.md') return 'index.md'
  if (file === 'sdk/README.md') return 'sdk.md'
  if (file === 'sdk-python/README.md') return 'sdk-python.md'
  if (/^[A-Z]+\.md$/.test(file)) return name.toLowerCase()
  if (file === 'docs/benchmarks.md') return name
  if (/^docs\/guides\/[^/]+\.md$/.test(file)) return name
  if (/^docs\/tutorials\/[^/]+\.md$/.test(file)) return file.slice('docs/'.length)
  return /^docs\/(?:decisions|screenshots)\//.test(file) ? file.slice('docs/'.length) : undefined
}

/**
 * A link between documents at the places that they have in the website. Links to source files, which are not part of it,
 * become code.
 */
const moveLink = (from: string, text: string, target: string): string => {
  const [path = '', hash] = target.split('#')
  if (path === '' || /^[a-z]+:|^\//.test(path)) return `[${text}](${target})`
  const file = posix.join(posix.dirname(from), path)
  const place = placeOf(file)
  if (place === undefined) return /^`.*`$/.test(text) ? text : `${text} (\`${file}\`)`
  const moved = posix.relative(posix.dirname(placeOf(from) ?? from), place)
  return `[${text}](./${moved}${hash === undefined ? '' : `#${hash}`})`
}

/** Code, which stays as it is, a link, or the beginning of a template of Vue, which is text here. */
const inline = /(?<code>`+[^`]*`+)|\[(?<text>(?:[^\][]|\[[^\]]*\])*)\]\((?<target>[^)\s]+)\)|\{\{/g

/** A document for its place in the website. */
export const toPage = (from: string, document: string): string => {
  let isCode = false
  return document
    .split('\n')
    .map((line) => {
      if (line.startsWith('```')) isCode = !isCode
      if (isCode || line.startsWith('```')) return line
      return line.replaceAll(inline, (_whole: string, ...groups: unknown[]) => {
        const { code, text, target } = groups.at(-1) as Record<string, string | undefined>
        if (code !== undefined) return code
        return text === undefined || target === undefined ? '&#123;&#123;' : moveLink(from, text, target)
      })
    })
    .join('\n')
}

const documents = (): string[] =>
  globSync(['*.md', 'sdk/README.md', 'sdk-python/README.md', 'docs/*.md', 'docs/{guides,tutorials,decisions}/*.md'], {
    cwd: root,
  }).filter((file) => placeOf(file) !== undefined)

/** Writes all pages. */
const stage = (): void => {
  for (const file of documents()) {
    const to = join(pages, placeOf(file) ?? '')
    const page = toPage(file, readFileSync(join(root, file), 'utf8'))
    if (existsSync(to) && readFileSync(to, 'utf8') === page) continue
    mkdirSync(dirname(to), { recursive: true })
    writeFileSync(to, page)
  }
  cpSync(join(root, 'docs/screenshots'), join(pages, 'screenshots'), { recursive: true })
}

const run = (program: string, args: string[]): Promise<void> =>
  new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd: site, stdio: 'inherit' })
    child.once('error', reject)
    child.once('exit', (code) => {
      if (code === 0) resolve()
      else reject(new Error(`${program} ${args.join(' ')} failed with exit code ${code}`))
    })
  })

/** Installs what the website needs, when it is not the version of the lockfile. It is not installed with the server. */
const install = async (): Promise<void> => {
  const installed = join(site, 'node_modules/.package-lock.json')
  const wanted = readFileSync(join(site, 'package-lock.json'), 'utf8')
  const marker = join(site, 'node_modules/.installed')
  if (existsSync(installed) && existsSync(marker) && readFileSync(marker, 'utf8') === wanted) return
  await run('npm', ['ci', '--no-audit', '--no-fund'])
  writeFileSync(marker, wanted)
}

if (import.meta.main) {
  const command = process.argv[2] === 'build' ? 'build' : 'dev'
  await install()
  rmSync(pages, { recursive: true, force: true })
  stage()
  if (command === 'dev')
    for (const folder of ['.', 'docs/guides', 'docs/tutorials', 'docs/decisions']) watch(join(root, folder), stage)
  await run(process.execPath, ['node_modules/vitepress/bin/vitepress.js', command, '.'])
}
