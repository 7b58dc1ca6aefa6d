// Runs the shell blocks of a document as a reader does: one after another, in one shell, in a checkout of the project.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
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
  /** What a person does, of `<!-- by hand: name $ARGUMENT … -->`. It has no code. */
  byHand?: { name: string; args: string[] }
}

const shells = new Set(['sh', 'bash', 'console', 'shell'])

/** The shell blocks of a document, in order. */
export const blocksOf = async (document: string): Promise<Block[]> => {
  const lines = (await readFile(join(root, document), 'utf8')).split('\n')
  const blocks: Block[] = []
  for (const [start, line] of lines.entries()) {
    const [, name, args = ''] = /^<!-- by hand: ([\w-]+)((?: \$\w+)*) -->$/.exec(line) ?? []
    if (name !== undefined) {
      blocks.push({
        document,
        line: start + 1,
        code: '',
        isEndless: false,
        byHand: { name, args: args.split(' ').slice(1) },
      })
    }
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
# Each job is a process group of its own, as in a terminal, and is stopped with everything that it has started.
set -m
# A server that a block starts goes on until the next one starts, or until the end.
pid=
stop() {
  if [ -n "$pid" ]; then kill "$pid" 2>/dev/null || true; wait "$pid" 2>/dev/null || true; pid=; fi
}
trap 'stop; jobs -p | while read -r job; do kill -- "-$job" 2>/dev/null || kill "$job" 2>/dev/null || true; done' EXIT
serve() {
  stop
  "$@" >"$HOME/server.log" 2>&1 &
  pid=$!
  until grep -q 'is ready after' "$HOME/server.log"; do
    kill -0 "$pid" 2>/dev/null || { cat "$HOME/server.log" >&2; return 1; }
    sleep 0.1
  done
  grep -o 'http://127[^ ]*' "$HOME/server.log" | head -n 1 >"$HOME/server.url" || true
}
[ -n "\${MANY-}" ] || npm() {
  case " $* " in
    ' start ' | *' atrium -- serve '*) serve command npm "$@" ;;
    *) command npm "$@" ;;
  esac
}
# The documents name the default port. The request goes to the port of the test, and its URL and headers stay the same.
curl() {
  local to=\${SERVER_URL:-$(cat "$HOME/server.url")} fail=--fail-with-body
  case " $* " in *' -sf '*) fail=-f ;; esac
  command curl -sS "$fail" --connect-to "127.0.0.1:3000:\${to#http://}" "$@"
}
`

const scriptOf = ({ document, line, code, fails, isEndless, byHand }: Block): string => {
  const place = `echo '### ${document}:${line}' >&2`
  if (byHand) {
    const data = byHand.args.map((one) => `--data-urlencode "argument=${one}"`)
    return `${place}\ncommand curl -sS --fail-with-body -X POST ${data.join(' ')} "$BY_HAND/${byHand.name}"`
  }
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
  /** What a person does between the commands, by name. */
  byHand?: Record<string, (...args: string[]) => Promise<void>>
  /** The commands put the servers that they start in the background themselves. */
  hasJobs?: boolean
}

/** Listens for the steps of a person. */
const listenForSteps = async (steps: Record<string, (...args: string[]) => Promise<void>>) => {
  const server = createServer((request, response) => {
    const step = async (): Promise<void> => {
      let text = ''
      for await (const chunk of request) text += String(chunk)
      const act = steps[request.url?.slice(1) ?? '']
      if (!act) throw new Error(`the test does not do ${request.url}`)
      await act(...new URLSearchParams(text).getAll('argument'))
    }
    step().then(
      () => response.end(),
      (error: Error) => response.writeHead(500).end(error.stack),
    )
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => server.close() }
}

/** Runs blocks in one shell. Rejects with the place of the block that failed and all output. */
export const runBlocks = async (
  blocks: Block[],
  { folder, env = {}, replace = {}, byHand = {}, hasJobs = false }: ShellOptions,
): Promise<string> => {
  let script = blocks.map(scriptOf).join('\n')
  for (const [from, to] of Object.entries(replace)) {
    if (!script.includes(from)) throw new Error(`no command contains ${from}`)
    script = script.replaceAll(from, to)
  }
  const file = join(dirname(folder), 'blocks.sh')
  await writeFile(file, `${hasJobs ? 'MANY=1' : ''}${prelude}${script}\necho '### end' >&2\n`)
  const steps = await listenForSteps(byHand)
  const child = spawn('bash', [file], {
    cwd: folder,
    env: {
      PATH: `${join(root, 'node_modules/.bin')}:${process.env['PATH'] ?? ''}`,
      HOME: folder,
      PORT: '0',
      BY_HAND: steps.url,
      NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/atrium'),
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const [code] = (await once(child, 'close')) as [number | null]
  steps.close()
  if (code !== 0) throw new Error(`exit code ${code}\n${output.slice(-6_000)}`)
  return output
}
