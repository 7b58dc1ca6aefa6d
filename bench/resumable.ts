// Resumable uploads of 100 MB, in one request and in chunks, against a plain PUT of the same bytes.
import { randomBytes } from 'node:crypto'
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { median, printMachine, printTable, startInstallation } from './harness.ts'

const rounds = Number(process.env['BENCH_ROUNDS'] ?? 5)
const mib = 1_048_576
const source = randomBytes(100 * mib)

/** Bytes that the server does not have yet. */
const fresh = (): Buffer => {
  randomBytes(16).copy(source)
  return source
}

const request = async (method: string, url: string, init: RequestInit): Promise<Response> => {
  const response = await fetch(url, { ...init, method })
  if (!response.ok) throw new Error(`${method} ${url} returned ${response.status}: ${await response.text()}`)
  return response
}

const plainPut = async (url: string, key: string): Promise<void> => {
  const body = JSON.stringify({ name: 'f', mimeType: 'application/octet-stream', size: source.length })
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const created = await request('POST', `${url}/api/v1/files`, { headers, body })
  const { data } = (await created.json()) as { data: { uploadUrl: string } }
  await (await request('PUT', data.uploadUrl, { body: fresh() as Uint8Array<ArrayBuffer> })).text()
}

const byTus = async (url: string, key: string, chunkBytes: number): Promise<void> => {
  const bytes = fresh()
  const headers = { authorization: `Bearer ${key}`, 'tus-resumable': '1.0.0' }
  const begun = await request('POST', `${url}/api/v1/uploads`, {
    headers: { ...headers, 'upload-length': String(bytes.length), 'upload-metadata': 'name Zg==' },
  })
  await begun.text()
  for (let at = 0; at < bytes.length; at += chunkBytes) {
    const body = bytes.subarray(at, at + chunkBytes) as Uint8Array<ArrayBuffer>
    const more = { 'content-type': 'application/offset+octet-stream', 'upload-offset': String(at) }
    await request('PATCH', begun.headers.get('location') ?? '', { headers: { ...headers, ...more }, body })
  }
}

export const benchResumable = async (): Promise<void> => {
  const { folder, key, server, stop } = await startInstallation()
  const ways: [string, () => Promise<void>][] = [
    ['plain PUT', () => plainPut(server.url, key)],
    ['tus, one PATCH', () => byTus(server.url, key, 100 * mib)],
    ['tus, chunks of 64 MB', () => byTus(server.url, key, 64 * mib)],
    ['tus, chunks of 8 MB', () => byTus(server.url, key, 8 * mib)],
  ]
  const figures = ways.map((): number[] => [])
  // The first round warms up. In turns, so that a slow moment of the machine meets all of them.
  for (let round = -1; round < rounds; round += 1) {
    for (const [index, [, run]] of ways.entries()) {
      const began = performance.now()
      await run()
      if (round >= 0) figures[index]?.push(performance.now() - began)
      const objects = join(folder, 'objects')
      for (const name of await readdir(objects)) {
        if (!name.startsWith('.')) await rm(join(objects, name), { recursive: true, force: true })
      }
    }
  }
  const medians = figures.map((times) => median(times))
  printMachine('Resumable uploads of 100 MB')
  printTable(
    ['what', 'MB/s', 'of plain PUT', 'target'],
    ways.map(([name], index) => {
      const ms = medians[index] ?? Number.NaN
      const ratio = ((medians[0] ?? Number.NaN) / ms).toFixed(2)
      return [name, (100_000 / ms).toFixed(0), ratio, index === 1 ? '≥ 0.80' : '']
    }),
  )
  await stop()
}

if (import.meta.main) await benchResumable()
