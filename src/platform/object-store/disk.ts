import { randomUUID } from 'node:crypto'
import { mkdir, open, opendir, readFile, readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { coalesce } from '../database/batching/coalesce.ts'
import { diskFull, isDiskFull } from '../process/disk-space.ts'
import type { DiskSpace } from '../process/disk-space.ts'
import { notFound } from '../http/errors.ts'
import { assertKey, storeUnavailable, unfinishedAgeMs, untilAborted } from './object-store.ts'
import type { ObjectStore, PutOptions, StoredObject } from './object-store.ts'

// A request's chunks are at most 64 KiB. A writev of 512 KiB keeps the disk busy while the next chunks are hashed, and 32
// concurrent uploads use at most 32 MiB.
const batchBytes = 524_288

// A download that its client does not read holds two reads: 400 of them 110 MB of buffers with reads of 256 KiB and 59 MB
// with these, which cost 9 % more CPU time than those; reads of 64 KiB cost 38 % more.
const readBytes = 131_072

// Written data is synced to disk in steps of this size while more arrives, so that an upload of 100 MB waits at its end
// for the last step only.
const syncStepBytes = 8_388_608

// The length of the prefix of the names, which are UUIDs.
const timeDigits = 6

const diskError = (error: unknown): Error => (isDiskFull(error) ? diskFull(error) : storeUnavailable(error))

const onDisk = async <T>(work: Promise<T>): Promise<T> => {
  try {
    return await work
  } catch (error) {
    throw diskError(error)
  }
}

const isMissing = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT'

const unlessMissing = async <T>(work: Promise<T>): Promise<T | undefined> => {
  try {
    return await work
  } catch (error) {
    if (isMissing(error)) return undefined
    throw diskError(error)
  }
}

// A rename is durable when its directory is synced. Windows cannot open directories and does not need it.
const syncDirectory = async (path: string): Promise<void> => {
  if (process.platform === 'win32') return
  const directory = await open(path, 'r')
  try {
    await directory.sync()
  } finally {
    await directory.close()
  }
}

/** Syncs directories. One sync serves all calls that were made before it started. */
const createDirectorySync = (): ((path: string) => Promise<void>) => {
  const syncs = new Map<string, { waiting: number; sync: () => Promise<void> }>()
  return async (path) => {
    const entry = syncs.get(path) ?? { waiting: 0, sync: coalesce(() => syncDirectory(path)) }
    syncs.set(path, entry)
    entry.waiting += 1
    try {
      await entry.sync()
    } finally {
      entry.waiting -= 1
      if (entry.waiting === 0) syncs.delete(path)
    }
  }
}

const writeAll = async (file: FileHandle, batch: Buffer[], position: number): Promise<void> => {
  let buffers: Uint8Array[] = batch
  let at = position
  for (;;) {
    let { bytesWritten } = await file.writev(buffers, at)
    at += bytesWritten
    const rest = buffers.findIndex((buffer) => {
      if (buffer.length > bytesWritten) return true
      bytesWritten -= buffer.length
      return false
    })
    if (rest === -1) return
    // A nearly full disk accepts a part; the next write then fails.
    buffers = [buffers[rest]?.subarray(bytesWritten) ?? Buffer.alloc(0), ...buffers.slice(rest + 1)]
  }
}

/** Syncs written data one step at a time; `done` rejects when a step failed. */
const syncInSteps = (file: FileHandle) => {
  let syncedBytes = 0
  let syncing: Promise<void> | undefined
  let failure: unknown
  return {
    step: (writtenBytes: number): void => {
      if (syncing !== undefined || writtenBytes - syncedBytes < syncStepBytes) return
      syncedBytes = writtenBytes
      syncing = file
        .datasync()
        // The kernel reports a failed write to one sync only, so an error of an earlier step must be kept.
        .catch((error: unknown) => {
          failure ??= error
        })
        .finally(() => {
          syncing = undefined
        })
    },
    settled: async (): Promise<void> => syncing,
    done: async (): Promise<void> => {
      await syncing
      if (failure !== undefined) throw failure
      await file.sync()
    },
  }
}

/** Writes a body to a file and syncs it. While one batch is written, the next is read. */
const writeBody = async (
  file: FileHandle,
  body: AsyncIterable<Buffer>,
  { signal, space }: PutOptions & { space: DiskSpace | undefined },
): Promise<void> => {
  let batch: Buffer[] = []
  let size = 0
  let written = 0
  let writing: Promise<void> = Promise.resolve()
  const sync = syncInSteps(file)
  const flush = async (): Promise<void> => {
    await onDisk(writing)
    sync.step(written)
    // After the write, so that its bytes are no longer counted as free.
    await space?.require(size)
    writing = writeAll(file, batch, written)
    // Awaited at the next flush. Until then, an error must not be an unhandled rejection.
    writing.catch(() => undefined)
    written += size
    batch = []
    size = 0
  }
  try {
    for await (const chunk of signal ? untilAborted(body, signal) : body) {
      if (chunk.length === 0) continue
      batch.push(chunk)
      size += chunk.length
      if (size >= batchBytes) await flush()
    }
    signal?.throwIfAborted()
    if (size > 0) await flush()
    await onDisk(writing)
    await onDisk(sync.done())
  } finally {
    // The file must not be closed during a write.
    await writing.catch(() => undefined)
    await sync.settled()
  }
}

const entriesOf = async function* (path: string): AsyncGenerator<string> {
  const directory = await unlessMissing(opendir(path))
  if (directory) for await (const entry of directory) yield entry.name
}

// One directory at a time, so that listing millions of objects uses little memory.
const listFiles = async function* (root: string, prefix: string): AsyncGenerator<StoredObject & { key: string }> {
  const [wantedFolder = '', wantedName] = prefix.split('/')
  for await (const folder of entriesOf(root)) {
    if (folder.startsWith('.')) continue
    if (wantedName === undefined ? !folder.startsWith(wantedFolder) : folder !== wantedFolder) continue
    for await (const period of entriesOf(join(root, folder))) {
      for await (const name of entriesOf(join(root, folder, period))) {
        const key = `${folder}/${name}`
        if (!key.startsWith(prefix)) continue
        const found = await unlessMissing(stat(join(root, folder, period, name)))
        if (found) yield { key, sizeBytes: found.size, modifiedAt: found.mtime }
      }
    }
  }
}

const checkDisk = async (incoming: string): Promise<void> => {
  const temporary = join(incoming, randomUUID())
  const probe = randomUUID()
  try {
    await writeFile(temporary, probe, { flag: 'wx', mode: 0o600, flush: true })
    if ((await readFile(temporary, 'latin1')) !== probe)
      throw new Error('the disk returned other data than was written')
  } finally {
    await rm(temporary, { force: true }).catch(() => undefined)
  }
}

const removeOlder = async (directory: string, ageMs: number): Promise<number> => {
  let removed = 0
  for (const name of await readdir(directory)) {
    const path = join(directory, name)
    const found = await unlessMissing(stat(path))
    if (!found || Date.now() - found.mtimeMs < ageMs) continue
    await rm(path, { force: true })
    removed += 1
  }
  return removed
}

/** Moves finished files to their final paths so that they survive a power failure. */
const createPublisher = (
  root: string,
  sync: (directory: string) => Promise<void>,
): ((temporary: string, path: string) => Promise<void>) => {
  // Directories whose entries this process has synced. Those that another process created may not be synced.
  const durable = new Set<string>()
  const makeDurable = async (directory: string): Promise<void> => {
    if (directory === root || durable.has(directory)) return
    const parent = dirname(directory)
    await makeDurable(parent)
    await mkdir(directory, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error
    })
    await sync(parent)
    if (durable.size >= 65_536) durable.clear()
    durable.add(directory)
  }
  return async (temporary, path) => {
    const directory = dirname(path)
    const move = async (): Promise<void> => {
      await makeDurable(directory)
      await rename(temporary, path)
    }
    try {
      await move()
    } catch (error) {
      if (!isMissing(error)) throw error
      // The empty directory was deleted.
      durable.clear()
      await move()
    }
    try {
      await sync(directory)
    } catch (error) {
      await rm(path, { force: true })
      throw error
    }
  }
}

/**
 * Objects as files: `<root>/<folder>/<first six characters of the name>/<name>`. The first six characters of a UUIDv7 are
 * the same for about four and a half hours: objects that arrive together share a directory and its sync, and no directory
 * grows for longer. With `space`, objects are not stored in its reserve.
 */
export const openDiskStore = async (root: string, space?: DiskSpace): Promise<ObjectStore> => {
  const incoming = join(root, '.incoming')
  const sync = createDirectorySync()
  const publish = createPublisher(root, sync)
  const pathOf = (key: string): string => {
    assertKey(key)
    const [folder = '', name = ''] = key.split('/')
    return join(root, folder, name.slice(0, timeDigits), name)
  }

  const put = async (
    key: string,
    body: AsyncIterable<Buffer>,
    { signal, sizeBytes }: PutOptions = {},
  ): Promise<void> => {
    const path = pathOf(key)
    const temporary = join(incoming, randomUUID())
    signal?.throwIfAborted()
    await space?.require(sizeBytes ?? 0)
    const file = await onDisk(open(temporary, 'wx', 0o600))
    try {
      try {
        await writeBody(file, body, { ...(signal ? { signal } : {}), space })
      } finally {
        await file.close()
      }
      await onDisk(publish(temporary, path))
    } catch (error) {
      await rm(temporary, { force: true }).catch(() => undefined)
      throw error
    }
  }

  await onDisk(mkdir(incoming, { recursive: true, mode: 0o700 }))
  await onDisk(syncDirectory(root))
  return {
    kind: 'disk',
    put,
    get: async (key, range) => {
      const file = await unlessMissing(open(pathOf(key), 'r'))
      if (!file) throw notFound('File')
      return file.createReadStream({ highWaterMark: readBytes, ...range })
    },
    head: async (key) => {
      const found = await unlessMissing(stat(pathOf(key)))
      return found && { sizeBytes: found.size, modifiedAt: found.mtime }
    },
    delete: async (key) => {
      const path = pathOf(key)
      if ((await unlessMissing(rm(path).then(() => true))) === true) await onDisk(sync(dirname(path)))
    },
    list: (prefix) => listFiles(root, prefix),
    check: () => onDisk(checkDisk(incoming)),
    unfinished: async () => (await onDisk(readdir(incoming))).length,
    removeUnfinished: ({ soleProcess }) => onDisk(removeOlder(incoming, soleProcess ? 0 : unfinishedAgeMs)),
  }
}
