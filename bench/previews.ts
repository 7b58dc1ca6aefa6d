// Previews: time and memory for a large workbook and a zip bomb, and the latency of other requests meanwhile.
import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { bomb, largeXlsx, xlsxParts } from '../test/support/documents.ts'
import { printMachine, printTable, residentBytes } from './harness.ts'
import type { Server } from './harness.ts'

const mib = 1_048_576
const xlsxType = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'

/** Resident memory of the server and its child processes that parse files. */
const familyBytes = async (pid: number): Promise<number> => {
  const children = (await readFile(`/proc/${pid}/task/${pid}/children`, 'latin1').catch(() => '')).trim()
  const pids = children === '' ? [] : children.split(' ').map(Number)
  const sizes = await Promise.all([pid, ...pids].map((one) => residentBytes(one).catch(() => 0)))
  return sizes.reduce((sum, size) => sum + size, 0)
}

interface Measured {
  ms: number
  growthBytes: number
  othersP99Ms: number
}

const whilePreviewing = async (
  server: Server,
  read: (path: string) => Promise<Response>,
  fileId: string,
  expectedStatus: number,
): Promise<Measured> => {
  const before = await familyBytes(server.pid)
  let most = before
  let busy = true
  const others: number[] = []
  const watching = (async () => {
    while (busy) {
      most = Math.max(most, await familyBytes(server.pid))
      await sleep(10)
    }
  })()
  const asking = Array.from({ length: 4 }, async () => {
    while (busy) {
      const began = performance.now()
      await (await read(`/files/${fileId}`)).arrayBuffer()
      others.push(performance.now() - began)
      await sleep(5)
    }
  })
  const began = performance.now()
  const answer = await read(`/files/${fileId}/preview`)
  const said = await answer.text()
  const ms = performance.now() - began
  if (answer.status !== expectedStatus) throw new Error(`the preview returned ${answer.status}: ${said.slice(0, 200)}`)
  busy = false
  await Promise.all([watching, ...asking])
  const sorted = others.toSorted((a, b) => a - b)
  return { ms, growthBytes: most - before, othersP99Ms: sorted[Math.floor(sorted.length * 0.99)] ?? 0 }
}

export const benchPreviews = async (server: Server, key: string): Promise<void> => {
  const read = (path: string, init: RequestInit = {}): Promise<Response> =>
    fetch(`${server.url}/api/v1${path}`, { ...init, headers: { authorization: `Bearer ${key}` } })
  const upload = async (name: string, bytes: Buffer): Promise<string> => {
    const form = new FormData()
    form.set('file', new File([new Uint8Array(bytes)], name, { type: xlsxType }))
    const answer = await read('/files', { method: 'POST', body: form })
    const body = (await answer.json()) as { data: { file: { id: string } } }
    if (!answer.ok) throw new Error(`${name}: ${JSON.stringify(body)}`)
    return body.data.file.id
  }
  const noise = randomBytes(4 * mib)
  const cell = (row: number, column: number): number => noise.readUInt32LE((row * 400 + column * 4) % (4 * mib - 8))
  // Just below the limit of a preview, 25 MB.
  const sample = 2_000
  const workbook = largeXlsx(Math.floor((sample * 24.5 * mib) / largeXlsx(sample, 100, cell).length), 100, cell)
  const sheet = { name: 'Sheet', rows: [['one']] }
  const parts = xlsxParts([sheet])
  const inside = Object.keys(parts).find((name) => name.includes('sheet1.xml')) as string
  const files: [string, Buffer, number][] = [
    [`a workbook of ${(workbook.length / mib).toFixed(1)} MB`, workbook, 200],
    ['a zip bomb of 400 MB', bomb(parts, inside, { fill: ' ', unpackedBytes: 400 * mib }), 400],
  ]
  const measured: [string, Measured][] = []
  for (const [name, bytes, status] of files) {
    if (bytes.length > 25 * mib) throw new Error(`${name} exceeds the limit of a preview: ${bytes.length}`)
    const id = await upload('book.xlsx', bytes)
    measured.push([name, await whilePreviewing(server, read, id, status)])
  }
  printMachine('Previews')
  printTable(
    ['what', 'duration, s', 'memory of server and children', 'target', 'other requests meanwhile, p99 ms', 'target'],
    measured.map(([name, { ms, growthBytes, othersP99Ms }]) => [
      name,
      (ms / 1_000).toFixed(1),
      `${(growthBytes / mib).toFixed(0)} MB`,
      '≤ 300 MB',
      othersP99Ms.toFixed(0),
      '≤ 100',
    ]),
  )
}
