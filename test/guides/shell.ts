// Runs the shell blocks of a document as a reader does: one after another, in one shell, in a checkout of the project.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after } from 'node:test'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('../..', import.meta.url))

export interface Block {
  document: string
  /** The line of its first command. */
  line: number
  code: string
  /** The reason of `<!-- not run: … -->` in the line above the block. */
  notRun?: string
  /** The status of `<!-- fails: … -->` in the line above the block, with which its last request fails. */
  fails?: string
  /** `<!-- runs until stopped -->` in the line above the block: its command is stopped after its first output. */
  isEndless: boolean
}

const shells = new Set(['sh', 'bash', 'console', 'shell'])

/** The shell blocks of a document, in order. */
export const blocksOf = async (document: string): Promise<Block[]> => {
  const lines = (await readFile(join(root, document), 'utf8')).split('\n')
  const blocks: Block[] = []
  for (const [start, line] of lines.entries()) {
    const [, indent = '', language = ''] = /^( *)```(\w+)/.exec(line) ?? []
    if (!shells.has(language)) continue
    const end = lines.findIndex((one, at) => at > start && one === `${indent}\`\`\``)
    const code = lines.slice(start + 1, end).map((one) => one.slice(indent.length))
    const above = lines[start - 1]?.trim() ?? ''
    const [, notRun] = /^<!-- not run: (.+) -->$/.exec(above) ?? []
    const [, fails] = /^<!-- fails: (\d{3}) -->$/.exec(above) ?? []
    blocks.push({
      document,
      line: start + 2,
      code: code.join('\n'),
      ...(notRun !== undefined && { notRun }),
      ...(fails !== undefined && { fails }),
      isEndless: above === '<!-- runs until stopped -->',
    })
  }
  return blocks
}

/** What a reader's shell does not have: it stops at the first command that fails, and finds the servers of the test. */
const prelude = `
set -euo pipefail
# A server that a block starts goes on until the next one starts, or until the end.
pid=
stop() {
  if [ -n "$pid" ]; then kill "$pid" 2>/dev/null || true; wait "$pid" 2>/dev/null || true; pid=; fi
}
trap stop EXIT
serve() {
  stop
  "$@" >server.log 2>&1 &
  pid=$!
  until grep -q 'is ready after' server.log; do
    kill -0 "$pid" 2>/dev/null || { cat server.log >&2; return 1; }
    sleep 0.1
  done
  grep -o 'http://[^ ]*' server.log | head -n 1 >server.url || true
}
npm() {
  case " $* " in
    ' start ' | *' atrium -- serve '*) serve command npm "$@" ;;
    *) command npm "$@" ;;
  esac
}
# The documents name the default port. The request goes to the port of the test, and its URL and headers stay the same.
curl() {
  local to=\${SERVER_URL:-$(cat server.url)}
  command curl -sS --fail-with-body --connect-to "127.0.0.1:3000:\${to#http://}" "$@"
}
`

const scriptOf = ({ document, line, code, fails, isEndless }: Block): string => {
  const place = `echo '### ${document}:${line}' >&2`
  if (fails !== undefined) {
    return `${place}
if OUTPUT=$(set -e
${code}
); then echo 'the request did not fail' >&2; exit 1; fi
grep -q '"success":false' <<<"$OUTPUT" || { echo "$OUTPUT" >&2; exit 1; }`
  }
  if (!isEndless) return `${place}\n${code}`
  return `${place}
( ${code} ) >endless.log 2>&1 &
endless=$!
until [ -s endless.log ]; do kill -0 "$endless" || { cat endless.log >&2; exit 1; }; sleep 0.05; done
kill "$endless"; wait "$endless" || true`
}

const left: string[] = []
after(async () => {
  for (const folder of left) await rm(folder, { recursive: true, force: true })
})

/** A checkout of the project: an empty folder with links to the files of this one. */
export const makeCheckout = async (): Promise<string> => {
  const parent = await mkdtemp(join(tmpdir(), 'atrium-guide-'))
  left.push(parent)
  const folder = join(parent, 'atrium')
  await mkdir(folder)
  for (const name of await readdir(root)) {
    if (!name.startsWith('.')) await symlink(join(root, name), join(folder, name))
  }
  return folder
}

export interface ShellOptions {
  folder: string
  env?: Record<string, string>
  /** Texts of the commands that name a place which only exists outside of the tests, and what replaces them. */
  replace?: Record<string, string>
}

/** Runs blocks in one shell. Rejects with the place of the block that failed and all output. */
export const runBlocks = async (blocks: Block[], { folder, env = {}, replace = {} }: ShellOptions): Promise<string> => {
  let script = blocks.map(scriptOf).join('\n')
  for (const [from, to] of Object.entries(replace)) {
    if (!script.includes(from)) throw new Error(`no command contains ${from}`)
    script = script.replaceAll(from, to)
  }
  const file = join(dirname(folder), 'blocks.sh')
  await writeFile(file, `${prelude}${script}\necho '### end' >&2\n`)
  const child = spawn('bash', [file], {
    cwd: folder,
    env: {
      PATH: `${join(root, 'node_modules/.bin')}:${process.env['PATH'] ?? ''}`,
      HOME: folder,
      PORT: '0',
      NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/atrium'),
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const [code] = (await once(child, 'close')) as [number | null]
  if (code !== 0) throw new Error(`exit code ${code}\n${output.slice(-6_000)}`)
  return output
}
