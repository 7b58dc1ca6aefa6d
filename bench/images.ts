// Images: the latency of other requests while thumbnails of pictures of 12 megapixels are made.
import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import sharp from 'sharp'
import { printMachine, printTable, quantile, startInstallation } from './harness.ts'

const count = Number(process.env['BENCH_IMAGES'] ?? 1_000)
const concurrency = 16

/** Photos of 4,000 x 3,000 pixels: noise, smoothed until a JPEG of it has the size of a photo, about 3 MB. */
const photos = (): Promise<Buffer[]> =>
  Promise.all(
    [20, 40, 60, 80].map((sigma) =>
      sharp({
        create: {
          width: 4_000,
          height: 3_000,
          channels: 3,
          background: '#000',
          noise: { type: 'gaussian', mean: 128, sigma },
        },
      })
        .blur(1.2)
        .jpeg({ quality: 88 })
        .toBuffer(),
    ),
  )

/** Requests of a record and of a list, until `busy` ends. Returns their durations. */
const others = async (
  read: (path: string) => Promise<Response>,
  id: string,
  busy: () => boolean,
): Promise<number[]> => {
  const taken: number[] = []
  const ask = async (path: string): Promise<void> => {
    while (busy()) {
      const began = performance.now()
      await (await read(path)).arrayBuffer()
      taken.push(performance.now() - began)
      await sleep(5)
    }
  }
  await Promise.all([ask(`/files/${id}`), ask('/files?limit=50'), ask(`/files/${id}`), ask('/files?limit=50')])
  return taken
}

export const benchImages = async (): Promise<void> => {
  const { key, server, stop } = await startInstallation()
  const read = (path: string, init: RequestInit = {}): Promise<Response> =>
    fetch(`${server.url}/api/v1${path}`, { ...init, headers: { authorization: `Bearer ${key}`, accept: 'image/webp' } })
  const sources = await photos()
  const ids: string[] = []
  for (let number = 0; number < count; number += 1) {
    const form = new FormData()
    // Bytes after the end of a JPEG change its hash and not its pixels.
    const bytes = Buffer.concat([sources[number % sources.length] as Buffer, randomBytes(16)])
    form.set('file', new File([new Uint8Array(bytes)], `${number}.jpg`, { type: 'image/jpeg' }))
    const { data } = (await (await read('/files', { method: 'POST', body: form })).json()) as {
      data: { file: { id: string } }
    }
    ids.push(data.file.id)
  }
  const [first = ''] = ids
  const restEnd = performance.now() + 10_000
  const atRest = await others(read, first, () => performance.now() < restEnd)

  const left = ids.values()
  let done = 0
  const began = performance.now()
  const making = Array.from({ length: concurrency }, async () => {
    for (const id of left) {
      const answer = await read(`/files/${id}/image?width=256`)
      if (!answer.ok) throw new Error(`an image returned ${answer.status}: ${await answer.text()}`)
      await answer.arrayBuffer()
      done += 1
    }
  })
  const meanwhile = await others(read, first, () => done < ids.length)
  await Promise.all(making)
  const seconds = (performance.now() - began) / 1_000
  const stored = performance.now()
  for (const id of ids.slice(0, 100)) await (await read(`/files/${id}/image?width=256`)).arrayBuffer()
  const storedMs = (performance.now() - stored) / Math.min(100, ids.length)

  printMachine('Images')
  const ratio = (of: number): string => (quantile(meanwhile, of) / quantile(atRest, of)).toFixed(1)
  printTable(
    ['what', 'figure', 'target'],
    [
      [`thumbnails of ${count} JPEG files of 12 megapixels, s`, seconds.toFixed(0), ''],
      ['thumbnails per second', (count / seconds).toFixed(1), ''],
      ['a stored thumbnail, ms', storedMs.toFixed(1), ''],
      [
        'other requests at rest, p50 and p99 ms',
        `${quantile(atRest, 0.5).toFixed(1)}, ${quantile(atRest, 0.99).toFixed(0)}`,
        '',
      ],
      [
        'other requests meanwhile, p50 and p99 ms',
        `${quantile(meanwhile, 0.5).toFixed(1)}, ${quantile(meanwhile, 0.99).toFixed(0)}`,
        'p99 ≤ 100',
      ],
      ['ratio of p50 and p99', `${ratio(0.5)}, ${ratio(0.99)}`, ''],
    ],
  )
  await stop()
}

if (import.meta.main) await benchImages()
