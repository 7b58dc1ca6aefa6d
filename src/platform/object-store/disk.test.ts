import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, rm, stat, utimes } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { after, test } from 'node:test'
import { promisify } from 'node:util'
import { available } from '../../../test/support/require.ts'
import { ApiError } from '../http/errors.ts'
import { openDiskStore } from './disk.ts'

const keep = async (): Promise<ReadonlySet<string>> => new Set()

const module = JSON.stringify(new URL('disk.ts', import.meta.url).href)
const dir = await mkdtemp(join(tmpdir(), 'atrium-disk-'))
after(() => rm(dir, { recursive: true, force: true }))

const newKey = (): string => `${randomUUID()}/${randomUUID()}`
const bodyOf = (content: string): Readable => Readable.from([Buffer.from(content)])
const isUnavailable = (error: unknown): boolean => error instanceof ApiError && error.code === 'SERVICE_UNAVAILABLE'

const filesUnder = async (root: string): Promise<string[]> =>
  (await readdir(root, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))

test('a put interrupted by kill -9 leaves one file, which the next start of the only process removes', async () => {
  const root = join(dir, 'killed')
  const script = `
    import { openDiskStore } from ${module}
    const store = await openDiskStore(process.argv[1])
    await store.put('${newKey()}', (async function* () {
      for (let chunk = 0; ; chunk += 1) {
        if (chunk === 100) process.stdout.write('under way')
        yield Buffer.alloc(65536)
      }
    })())`
  const child = spawn(process.execPath, ['--input-type=module', '-e', script, root], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await once(child.stdout, 'data')
  child.kill('SIGKILL')
  await once(child, 'exit')

  const store = await openDiskStore(root)
  assert.equal(await store.unfinished(), 1)
  assert.equal((await filesUnder(root)).length, 1)
  // Another process may share the directory, and be in the middle of it.
  assert.equal(await store.removeUnfinished({ soleProcess: false, keep }), 0)
  assert.equal(await store.removeUnfinished({ soleProcess: true, keep }), 1)
  assert.deepEqual(await filesUnder(root), [])
  for await (const { key } of store.list('')) assert.fail(key)
})

test('unfinished files older than two hours are removed also from a shared directory', async () => {
  const root = join(dir, 'old')
  const store = await openDiskStore(root)
  const body = async function* (): AsyncGenerator<Buffer> {
    yield Buffer.from('a')
    const [file = ''] = await filesUnder(root)
    const age = (ms: number): Promise<void> => utimes(file, new Date(), new Date(Date.now() - ms))
    await age(7_100_000)
    assert.equal(await store.removeUnfinished({ soleProcess: false, keep }), 0)
    await age(7_300_000)
    assert.equal(await store.removeUnfinished({ soleProcess: false, keep }), 1)
    yield Buffer.from('b')
  }
  await assert.rejects(store.put(newKey(), body()), isUnavailable)
  assert.deepEqual(await filesUnder(root), [])
})

test('objects survive reopening the store, and deleted empty directories are created again', async () => {
  const root = join(dir, 'again')
  const first = await openDiskStore(root)
  const key = newKey()
  await first.put(key, bodyOf('kept'))
  const second = await openDiskStore(root)
  assert.equal(await text(await second.get(key)), 'kept')
  await second.delete(key)
  await rm(join(root, key.slice(0, 36)), { recursive: true })
  const [folder] = key.split('/')
  const keys = Array.from({ length: 32 }, () => `${folder}/${randomUUID()}`)
  await Promise.all(keys.map((one) => first.put(one, bodyOf('back'))))
  for (const one of keys) assert.equal(await text(await second.get(one)), 'back')
})

test('files and directories are private to their owner', async () => {
  const root = join(dir, 'private')
  const store = await openDiskStore(root)
  await store.put(newKey(), bodyOf('secret'))
  for (const entry of await readdir(root, { recursive: true, withFileTypes: true })) {
    const { mode } = await stat(join(entry.parentPath, entry.name))
    assert.equal(mode & 0o077, 0, entry.name)
  }
})

test('a missing root directory is SERVICE_UNAVAILABLE for writes', async () => {
  const root = join(dir, 'gone')
  const store = await openDiskStore(root)
  await rm(root, { recursive: true })
  await assert.rejects(store.put(newKey(), bodyOf('a')), isUnavailable)
  await assert.rejects(store.check(), isUnavailable)
  await assert.rejects(store.unfinished(), isUnavailable)
})

// A file system of two megabytes of one's own.
const inSmallMount = async (script: string): Promise<string> => {
  const target = join(dir, randomUUID())
  await mkdir(target)
  const shell = 'mount -t tmpfs -o size=2m none "$1" && exec "$2" --input-type=module -e "$3" "$1"'
  const run = ['--user', '--map-root-user', '--mount', 'sh', '-c', shell, 'sh', target, process.execPath, script]
  return (await promisify(execFile)('unshare', run)).stdout
}

const canMount = (): Promise<boolean> =>
  inSmallMount('').then(
    () => true,
    () => false,
  )

if (await available('full-disk', canMount, 'allow user namespaces: unshare --user --map-root-user --mount')) {
  test('a full disk is SERVICE_UNAVAILABLE, leaves no object, and accepts the next one that fits', async () => {
    const output = await inSmallMount(`
      import { openDiskStore } from ${module}
      const store = await openDiskStore(process.argv[1])
      const put = (name, mib) => store.put('objects/' + name, (async function* () {
        for (let i = 0; i < mib * 16; i += 1) yield Buffer.alloc(65536, 1)
      })()).then(() => 'stored', (error) => error.code + ': ' + error.message)
      const results = [await put('first', 1), await put('large', 5), await store.unfinished()]
      await store.delete('objects/first')
      results.push(await put('second', 1.5))
      const keys = []
      for await (const { key } of store.list('')) keys.push(key)
      console.log(JSON.stringify([...results, keys]))`)
    assert.deepEqual(JSON.parse(output), [
      'stored',
      "SERVICE_UNAVAILABLE: The server's disk is full. Nothing was stored. The operator has to free space.",
      0,
      'stored',
      ['objects/second'],
    ])
  })

  test('a put that would use the reserve is rejected, and smaller ones are accepted', async () => {
    const output = await inSmallMount(`
      import { writeFileSync, rmSync } from 'node:fs'
      import { createDiskSpace } from ${JSON.stringify(new URL('../process/disk-space.ts', import.meta.url).href)}
      import { openDiskStore } from ${module}
      const root = process.argv[1]
      const space = createDiskSpace({ path: root, reserveBytes: 268435456, freshMs: 0 })
      const store = await openDiskStore(root, space)
      const put = (name, kib, options) => store.put('objects/' + name, (async function* () {
        for (let i = 0; i < kib; i += 64) yield Buffer.alloc(65536, 1)
      })(), options).then(() => 'stored', (error) => error.code + ': ' + error.message)
      const results = [
        await put('first', 64),
        await put('declared', 1984, { sizeBytes: 1984 * 1024 }),
        await put('grows', 1984),
        await store.unfinished(),
      ]
      writeFileSync(root + '/other', Buffer.alloc(1990000, 1))
      results.push(await put('late', 64))
      writeFileSync(root + '/database', Buffer.alloc(4096, 1))
      rmSync(root + '/other')
      results.push(await put('second', 64), (await space.read()).reserveBytes)
      console.log(JSON.stringify(results))`)
    const rejected =
      "SERVICE_UNAVAILABLE: The server's disk is full. Uploads are rejected until the operator frees space."
    assert.deepEqual(JSON.parse(output), ['stored', rejected, rejected, 0, rejected, 'stored', 41_943])
  })

  test('a read-only disk is SERVICE_UNAVAILABLE for writes and readable', async () => {
    const output = await inSmallMount(`
      import { execFileSync } from 'node:child_process'
      import { text } from 'node:stream/consumers'
      import { openDiskStore } from ${module}
      const root = process.argv[1]
      const store = await openDiskStore(root)
      const body = () => (async function* () { yield Buffer.from('kept') })()
      await store.put('objects/first', body())
      execFileSync('mount', ['-o', 'remount,ro', root])
      const code = (work) => work.then(() => 'done', (error) => error.code)
      console.log(JSON.stringify([
        await code(store.put('objects/second', body())),
        await code(store.delete('objects/first')),
        await code(store.check()),
        await text(await store.get('objects/first')),
      ]))`)
    assert.deepEqual(JSON.parse(output), ['SERVICE_UNAVAILABLE', 'SERVICE_UNAVAILABLE', 'SERVICE_UNAVAILABLE', 'kept'])
  })
}

test('a server with a local disk does not load the S3 client', async () => {
  const script = `
    import { createRequire } from 'node:module'
    import { openObjectStore } from ${JSON.stringify(new URL('open.ts', import.meta.url).href)}
    const open = (s3) => openObjectStore({ dataDir: process.argv[1], s3 }).then((store) => store.kind)
    const loaded = () => Object.keys(createRequire(import.meta.url).cache).some((path) => path.includes('client-s3'))
    const settings = { bucket: 'b', region: 'us-east-1', forcePathStyle: true }
    console.log(JSON.stringify([await open(undefined), loaded(), await open(settings), loaded()]))`
  const run = promisify(execFile)(process.execPath, ['--input-type=module', '-e', script, join(dir, 'lazy')])
  assert.deepEqual(JSON.parse((await run).stdout), ['disk', false, 's3', true])
})
