// Start-up times, and the memory of the Node.js processes of an idle `npm start`: npm itself and the server.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, readlink, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, delimiter, join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { printMachine, printTable, residentBytes } from './harness.ts'

const idleMs = 15_000

const parents = async (): Promise<Map<number, number>> => {
  const found = new Map<number, number>()
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue
    const stat = await readFile(`/proc/${name}/stat`, 'utf8').catch(() => '')
    const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
    if (stat !== '') found.set(Number(name), parent)
  }
  return found
}

const descendants = async (root: number): Promise<number[]> => {
  const parentOf = await parents()
  const isBelow = (pid: number): boolean => {
    for (let at: number | undefined = pid; at !== undefined && at > 1; at = parentOf.get(at))
      if (at === root) return true
    return false
  }
  return [...parentOf.keys()].filter(isBelow)
}

const nodeProcesses = async (root: number): Promise<{ name: string; bytes: number }[]> => {
  const list: { name: string; bytes: number }[] = []
  for (const pid of await descendants(root)) {
    const program = await readlink(`/proc/${pid}/exe`).catch(() => '')
    if (basename(program) !== 'node') continue
    const command = (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).split('\0')
    list.push({
      name: command
        .slice(0, 3)
        .map((part) => basename(part))
        .join(' ')
        .trim(),
      bytes: await residentBytes(pid),
    })
  }
  return list
}

/** The PATH of a user's shell: npm put the pinned Node.js of this run first. */
const shellEnv = (): NodeJS.ProcessEnv => {
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith('npm_'))
  const path = (process.env['PATH'] ?? '').split(delimiter).filter((folder) => !folder.includes('node_modules'))
  return { ...Object.fromEntries(own), PATH: path.join(delimiter) }
}

export const benchMemory = async (): Promise<void> => {
  const folder = await mkdtemp(join(tmpdir(), 'atrium-bench-'))
  const start = async (): Promise<number> => {
    const began = performance.now()
    const child = spawn('npm', ['start'], {
      env: { ...shellEnv(), DATA_DIR: folder, PORT: '0' },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    for await (const line of createInterface({ input: child.stdout })) if (line.includes('is ready')) break
    const readyMs = performance.now() - began
    measured = child
    return readyMs
  }
  let measured: ReturnType<typeof spawn> | undefined
  const stop = async (): Promise<void> => {
    if (!measured) return
    measured.kill('SIGTERM')
    await once(measured, 'exit')
  }
  const coldMs = await start()
  await stop()
  const warmMs = await start()
  await sleep(idleMs)
  const processes = await nodeProcesses(measured?.pid ?? 0)
  await stop()
  await rm(folder, { recursive: true, force: true })

  printMachine('Start and memory of `npm start`')
  printTable(
    ['what', 'figure', 'target'],
    [
      ['first start on an empty data directory, dependencies installed', `${(coldMs / 1000).toFixed(1)} s`, '≤ 20 s'],
      ['warm start', `${(warmMs / 1000).toFixed(1)} s`, '≤ 4 s'],
      ...processes.map(({ name, bytes }) => [`idle: ${name}`, `${Math.round(bytes / 1e6)} MB`, '']),
      [
        'idle: all Node.js processes',
        `${Math.round(processes.reduce((sum, one) => sum + one.bytes, 0) / 1e6)} MB`,
        '≤ 250 MB',
      ],
    ],
  )
}

if (import.meta.main) await benchMemory()
