// Files: uploads against a bare stream to the disk, and lists, searches and deletions among a million files.
import { randomBytes } from 'node:crypto'
import { mkdir, readdir, rm } from 'node:fs/promises'
import { Agent, request } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { median, printMachine, printTable, quantile, residentBytes, startServer, startInstallation } from './harness.ts'
import type { Server } from './harness.ts'
import { benchPreviews } from './previews.ts'

const rounds = Number(process.env['BENCH_ROUNDS'] ?? 5)
const mib = 1_048_576
const million = 1_000_000

const megabytes = (bytes: number): string => `${(bytes / mib).toFixed(0)} MB`

const boundary = 'atrium-bench'
const source = randomBytes(100 * mib)
const agent = new Agent({ keepAlive: true, maxSockets: 64 })
let salt = 0

/** Uploads this many random bytes, as a form to Atrium or as a bare body to the baseline. Returns milliseconds. */
const send = (server: Server, sizeBytes: number, key?: string): Promise<number> => {
  const own = Buffer.alloc(16)
  own.writeUInt32LE((salt += 1))
  const head = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="f"\r\nContent-Type: application/octet-stream\r\n\r\n`
  const bytes = [source.subarray(0, sizeBytes - own.length), own]
  const parts = key === undefined ? bytes : [Buffer.from(head), ...bytes, Buffer.from(`\r\n--${boundary}--\r\n`)]
  const began = performance.now()
  return new Promise((resolve, reject) => {
    const sent = request(`${server.url}/api/v1/files`, {
      method: 'POST',
      agent,
      headers: {
        'content-length': parts.reduce((total, part) => total + part.length, 0),
        ...(key === undefined
          ? {}
          : { authorization: `Bearer ${key}`, 'content-type': `multipart/form-data; boundary=${boundary}` }),
      },
    })
    sent.on('error', reject)
    sent.on('response', (response) => {
      response.resume()
      response.on('end', () => {
        if ((response.statusCode ?? 500) < 300) resolve(performance.now() - began)
        else reject(new Error(`an upload returned ${response.statusCode}`))
      })
    })
    const chunks = parts.flatMap((part) =>
      Array.from({ length: Math.ceil(part.length / 65_536) }, (_, i) => part.subarray(i * 65_536, (i + 1) * 65_536)),
    )
    const write = (): void => {
      for (let chunk = chunks.shift(); chunk; chunk = chunks.shift()) {
        if (!sent.write(chunk)) {
          sent.once('drain', write)
          return
        }
      }
      sent.end()
    }
    write()
  })
}

/** Uploads per second with this concurrency. */
const rate = async (count: number, atOnce: number, upload: () => Promise<number>): Promise<number> => {
  const began = performance.now()
  let left = count
  const worker = async (): Promise<void> => {
    while (left-- > 0) await upload()
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
  return count / ((performance.now() - began) / 1_000)
}

/** Peak growth of a server's resident memory, in bytes, during `work`. */
const growth = async (server: Server, work: () => Promise<unknown>): Promise<number> => {
  const before = await residentBytes(server.pid)
  let most = before
  const done = new AbortController()
  const watch = (async () => {
    while (!done.signal.aborted) {
      most = Math.max(most, await residentBytes(server.pid))
      await sleep(20)
    }
  })()
  await work()
  done.abort()
  await watch
  return most - before
}

/**
 * Removes the files that both servers stored. Otherwise the page cache grows into memory that a virtual machine must
 * first get from its host, where writes are ten times slower, and the server that writes there first loses.
 */
const removeStored = async (folder: string): Promise<void> => {
  for (const store of [join(folder, 'baseline'), join(folder, 'objects')]) {
    for (const name of await readdir(store)) {
      if (!name.startsWith('.')) await rm(join(store, name), { recursive: true })
    }
  }
}

const benchUploads = async (atrium: Server, baseline: Server, key: string, folder: string): Promise<void> => {
  const inTurn = async (warmUps: number, measure: (server: Server, key?: string) => Promise<number>) => {
    const figures: { baseline: number[]; own: number[] } = { baseline: [], own: [] }
    for (let round = -warmUps; round < rounds; round += 1) {
      const [theirs, ours] = [await measure(baseline), await measure(atrium, key)]
      await removeStored(folder)
      if (round < 0) continue
      figures.baseline.push(theirs)
      figures.own.push(ours)
    }
    return { baseline: median(figures.baseline), own: median(figures.own) }
  }
  await send(atrium, mib, key)
  const large = await inTurn(1, (server, key) => send(server, 100 * mib, key))
  const one = await growth(atrium, () => send(atrium, 100 * mib, key))
  const ten = await growth(atrium, () => Promise.all(Array.from({ length: 10 }, () => send(atrium, 100 * mib, key))))
  await removeStored(folder)
  const small = await inTurn(2, (server, key) => rate(400, 32, () => send(server, mib, key)))
  printMachine('Uploads')
  printTable(
    ['what', 'bare stream', 'Atrium', 'of baseline', 'target'],
    [
      [
        '100 MB, MB/s',
        (100_000 / large.baseline).toFixed(0),
        (100_000 / large.own).toFixed(0),
        (large.baseline / large.own).toFixed(2),
        '≥ 0.80',
      ],
      [
        '1 MB, concurrency 32, files/s',
        small.baseline.toFixed(0),
        small.own.toFixed(0),
        (small.own / small.baseline).toFixed(2),
        '≥ 0.60',
      ],
      ['memory growth for one upload of 100 MB', '', megabytes(one), '', '≤ 60 MB'],
      ['memory growth for ten concurrent uploads of 100 MB', '', megabytes(ten), '', '≤ 150 MB'],
    ],
  )
}

const idOf = (number: number): string => `01900000-0000-7000-8000-${number.toString(16).padStart(12, '0')}`
const folders = { million: 1, thousand: 2, tree: 3 }

/** A folder of a million files, one of a thousand, and one with 100 folders of 1,000 files each. */
const seed = async (client: pg.Client): Promise<void> => {
  const { rows } = await client.query<{ orgId: string; userId: string }>(
    'select org_id as "orgId", user_id as "userId" from members',
  )
  const { orgId, userId } = rows[0] ?? { orgId: '', userId: '' }
  const insert = (source: string, parent: string, names: string) =>
    client.query(`
      insert into files (org_id, id, source, parent_id, name, name_key, mime_type, size_bytes, blob_id, sha256, created_by)
      select '${orgId}', id, '${source}', ${parent}, name, name,
        ${source === 'folder' ? 'null, 0, null, null' : `'text/plain', 5, blob_id, sha256(blob_id::text::bytea)`}, '${userId}'
      from (${names}) as wanted`)
  const named = (first: number, count: number, name: string, blob = `'${idOf(0)}'::uuid`): string =>
    `select bench_id(${first} + n) as id, n, ${name} as name, ${blob} as blob_id from generate_series(1, ${count}) n`
  await client.query(`
    create function bench_id(n bigint) returns uuid language sql immutable as
      $$ select ('01900000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid $$`)
  await client.query(`
    insert into blobs (org_id, id, state, sha256, size_bytes)
    select '${orgId}', bench_id(n), 'live', sha256(bench_id(n)::text::bytea), 5
    from (select 0 as n union all select 4000000 + generate_series(1, 100000)) n`)
  await insert('folder', 'null', named(0, 3, `'folder ' || n`))
  await insert('upload', `'${idOf(folders.million)}'`, named(1_000_000, million, `md5(n::text) || ' report.txt'`))
  await insert('upload', `'${idOf(folders.thousand)}'`, named(3_000_000, 1_000, `'file ' || n`))
  await insert('folder', `'${idOf(folders.tree)}'`, named(5_000_000, 100, `'sub ' || n`))
  await insert(
    'upload',
    'bench_id(5000001 + n % 100)',
    named(4_000_000, 100_000, `'leaf ' || n`, 'bench_id(4000000 + n)'),
  )
  await client.query(`
    insert into folder_counts (org_id, folder_id, slot, children)
    select org_id, container_id, 0, count(*) from files where deleted_at is null group by 1, 2
    on conflict (org_id, folder_id, slot) do update set children = excluded.children`)
  await client.query('vacuum analyze files')
  await client.query('vacuum analyze blobs')
}

const benchLists = async (atrium: Server, key: string): Promise<void> => {
  const headers = { authorization: `Bearer ${key}` }
  const call = async (method: string, path: string, json?: object): Promise<{ ms: number; data: never }> => {
    const began = performance.now()
    const response = await fetch(`${atrium.url}/api/v1${path}`, {
      method,
      headers: json ? { ...headers, 'content-type': 'application/json' } : headers,
      ...(json ? { body: JSON.stringify(json) } : {}),
    })
    const body = (await response.json()) as { data: never }
    if (!response.ok) throw new Error(`${method} ${path}: ${JSON.stringify(body)}`)
    return { ms: performance.now() - began, data: body.data }
  }
  const time = async (path: () => string, times = 60): Promise<number> => {
    const all: number[] = []
    for (let i = 0; i < times; i += 1) all.push((await call('GET', path())).ms)
    return median(all)
  }
  /** Median milliseconds of 1,000 samples of each path, measured in turns, so that noise affects all of them. */
  const timeInTurns = async (paths: string[]): Promise<number[]> => {
    const all: number[][] = paths.map(() => [])
    for (let turn = 0; turn < 1_000; turn += 1) {
      for (const [index, path] of paths.entries()) all[index]?.push((await call('GET', path)).ms)
    }
    return all.map(median)
  }
  const folder = (number: number, more = ''): string => `/files?parentId=${idOf(number)}${more}`
  const digits = (): string => randomBytes(3).toString('hex')

  await time(() => folder(folders.thousand), 200)
  const deep = await call('GET', folder(folders.million, '&page=10000'))
  const { nextCursor } = deep.data as { nextCursor: string }
  const [small = 0, large = 0, byCursor = 0] = await timeInTurns([
    folder(folders.thousand),
    folder(folders.million),
    folder(folders.million, `&cursor=${nextCursor}`),
  ])
  const search = await time(() => `/files?recursive=true&search=${digits()}`)
  const below = await time(() => `/files?recursive=true&search=leaf%201234&parentId=${idOf(folders.tree)}`)
  const common = await time(() => '/files?recursive=true&search=report', 3)

  const others: number[] = []
  let deleting = true
  const pathOf = (): string => `/files/${idOf(1_000_000 + Math.ceil(Math.random() * million))}`
  const busy = [
    () => call('GET', pathOf()),
    () => call('GET', folder(folders.thousand)),
    () => call('POST', '/files', { source: 'folder', name: 'f', parentId: idOf(folders.thousand) }),
    () => call('POST', '/files', { name: 'f', mimeType: 'text/plain', size: 1, parentId: idOf(folders.thousand) }),
  ].map(async (work) => {
    while (deleting) {
      others.push((await work()).ms)
      await sleep(5)
    }
  })
  const deletion = await call('DELETE', `/files/${idOf(folders.tree)}`)
  deleting = false
  await Promise.all(busy)

  printMachine('A million files')
  printTable(
    ['what', 'figure', 'target'],
    [
      ['first page of a folder of 1,000, ms', small.toFixed(2), ''],
      ['first page of a folder of 1,000,000, ms', large.toFixed(2), ''],
      ['ratio of the two', (large / small).toFixed(2), '≤ 1.5'],
      ['page 10,001 by cursor, ratio to the first page', (byCursor / large).toFixed(2), '≤ 1.5'],
      ['page 10,000 by number, ms', deep.ms.toFixed(0), ''],
      ['search in the whole org, about 60 hits, p50 ms', search.toFixed(1), '≤ 50'],
      ['search below a folder of 100,000, 11 hits, p50 ms', below.toFixed(1), '≤ 50'],
      ['search that matches every name, with exact total, ms', common.toFixed(0), ''],
      ['deletion of a folder with 100,100 descendants, s', (deletion.ms / 1_000).toFixed(1), '≤ 10'],
      ['other requests meanwhile, p99 ms', quantile(others, 0.99).toFixed(0), '≤ 100'],
    ],
  )
}

export const benchFiles = async (): Promise<void> => {
  const { folder, connection, key, server: atrium, stop } = await startInstallation()
  const baselineFolder = join(folder, 'baseline')
  await mkdir(baselineFolder)
  const baseline = await startServer('bench/upload-server.ts', { BASELINE_FOLDER: baselineFolder })
  await benchUploads(atrium, baseline, key, folder)
  await baseline.stop()
  await benchPreviews(atrium, key)
  const client = new pg.Client(connection)
  await client.connect()
  await seed(client)
  await client.end()
  await benchLists(atrium, key)
  agent.destroy()
  await stop()
}

if (import.meta.main) await benchFiles()
