// The CPU time of the API process for an upload of 100 MB to the bucket, against a plain PUT through the API into the same
// bucket. Needs Ceph (CONTRIBUTING.md).
import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3'
import { startCeph } from '../test/fakes/ceph.ts'
import { cpuMicroseconds, median, printMachine, printTable, startDatabase, startServer } from './harness.ts'
import type { Server } from './harness.ts'

// Ceph keeps deleted objects for two hours, and 2 GB together.
const rounds = Number(process.env['BENCH_ROUNDS'] ?? 6)
const warmUps = 100
const source = randomBytes(104_857_600)
const bucket = 'bench'

const request = async (method: string, url: string, init: RequestInit): Promise<Response> => {
  const response = await fetch(url, { ...init, method })
  if (!response.ok) throw new Error(`${method} ${url} returned ${response.status}: ${await response.text()}`)
  return response
}

interface Created {
  data: { file: { id: string }; uploadUrl: string }
}

/** Uploads bytes that the server does not have yet. Returns the URL of the file. */
const upload = async (server: Server, key: string, isDirect: boolean, bytes = source): Promise<string> => {
  randomBytes(16).copy(bytes)
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const body = JSON.stringify({ name: 'f', mimeType: 'application/octet-stream', size: bytes.length })
  const created = (await (await request('POST', `${server.url}/api/v1/files`, { headers, body })).json()) as Created
  const { file, uploadUrl } = created.data
  await (await request('PUT', uploadUrl, { body: bytes as Uint8Array<ArrayBuffer> })).text()
  const url = `${server.url}/api/v1/files/${file.id}`
  if (isDirect) {
    await (await request('POST', `${url}/upload/complete`, { headers, body: '{}' })).text()
    let state = ''
    // Like the client of the SDK.
    for (let delayMs = 0; state !== 'ready'; delayMs = Math.min(delayMs * 2 || 200, 5_000)) {
      await sleep(delayMs)
      const answer = await (await request('GET', `${url}/upload?waitSeconds=20`, { headers })).json()
      state = (answer as { data: { state: string } }).data.state
    }
  }
  return url
}

const remove = async (url: string, key: string): Promise<void> => {
  const headers = { authorization: `Bearer ${key}` }
  await (await request('DELETE', `${url}?permanent=true`, { headers })).text()
}

interface Measured {
  cpuMs: number
  ms: number
}

/** `idle`: milliseconds of CPU time that the process uses per millisecond without requests. */
const measure = async (server: Server, key: string, isDirect: boolean, idle: number): Promise<Measured> => {
  const before = await cpuMicroseconds(server.pid)
  const times: number[] = []
  const urls: string[] = []
  const began = performance.now()
  for (let round = 0; round < rounds; round += 1) {
    const from = performance.now()
    urls.push(await upload(server, key, isDirect))
    times.push(performance.now() - from)
  }
  const cpuMs = ((await cpuMicroseconds(server.pid)) - before) / 1_000 - idle * (performance.now() - began)
  for (const url of urls) await remove(url, key)
  return { cpuMs: cpuMs / rounds, ms: median(times) }
}

const idleOf = async (server: Server): Promise<number> => {
  const before = await cpuMicroseconds(server.pid)
  await sleep(10_000)
  return ((await cpuMicroseconds(server.pid)) - before) / 1_000 / 10_000
}

export const benchDirectUploads = async (): Promise<void> => {
  const ceph = await startCeph()
  const database = await startDatabase()
  const credentials = { AWS_ACCESS_KEY_ID: ceph.accessKeyId, AWS_SECRET_ACCESS_KEY: ceph.secretAccessKey }
  Object.assign(process.env, credentials)
  const client = new S3Client({ endpoint: ceph.endpoint, forcePathStyle: true, region: 'us-east-1' })
  await client.send(new CreateBucketCommand({ Bucket: bucket }))
  client.destroy()
  const env = {
    ...database.env,
    ...credentials,
    S3_BUCKET: bucket,
    S3_ENDPOINT: ceph.endpoint,
    S3_FORCE_PATH_STYLE: '1',
    RATE_LIMIT_WRITES: '0',
    RATE_LIMIT_UPLOADS: '0',
    RATE_LIMIT_READS: '0',
  }
  const plain = await startServer('src/main.ts', env, ['--role', 'api'])
  const direct = await startServer('src/main.ts', { ...env, S3_DIRECT_UPLOADS: '1' }, ['--role', 'api'])
  const worker = await startServer('src/main.ts', { ...env, WORKER_PORT: '0' }, ['--role', 'worker'])
  try {
    for (const [server, isDirect] of [
      [plain, false],
      [direct, true],
    ] as const) {
      // The code that an upload runs once is compiled by then, as in a server that runs for longer.
      for (let round = 0; round < warmUps; round += 1) {
        await upload(server, database.key, isDirect, source.subarray(0, 1_000))
      }
      await remove(await upload(server, database.key, isDirect), database.key)
    }
    const idle = await idleOf(direct)
    const through = await measure(plain, database.key, false, idle)
    const beside = await measure(direct, database.key, true, idle)
    printMachine('Direct uploads of 100 MB')
    printTable(
      ['what', 'CPU time of the API in ms', 'of a plain PUT', 'MB/s', 'target'],
      [
        ['plain PUT through the API', through.cpuMs.toFixed(0), '', (100_000 / through.ms).toFixed(0), ''],
        [
          'direct upload, until it is verified',
          beside.cpuMs.toFixed(1),
          `${((100 * beside.cpuMs) / through.cpuMs).toFixed(1)} %`,
          (100_000 / beside.ms).toFixed(0),
          '≤ 2 %',
        ],
      ],
    )
  } finally {
    for (const server of [plain, direct, worker]) await server.stop()
    await database.stop()
    await ceph.stop()
  }
}

if (import.meta.main) await benchDirectUploads()
