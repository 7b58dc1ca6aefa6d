import type { Readable } from 'node:stream'
import type { Db } from '../../platform/database/database.ts'
import { ApiError, badRequest, notFound } from '../../platform/http/errors.ts'
import type { ObjectStore } from '../../platform/object-store/object-store.ts'
import { storageKeyOf } from '../blobs/blobs.ts'
import { createNames, safeNameOf } from './entry-names.ts'
import * as queries from './queries.ts'
import type { ArchivedRow, ArchiveReader } from './queries.ts'
import { zip } from './zip.ts'
import type { ZipEntry } from './zip.ts'

/** Limits of an archive. */
export const limits = {
  /** Files, folders and links together. */
  entries: 100_000,
  bytes: 107_374_182_400,
  /** The paths of all entries, in UTF-8. They stay in memory until the end, for the directory of the archive. */
  pathBytes: 33_554_432,
} as const

/** What an archive contains. */
export interface ArchiveOf extends ArchiveReader {
  rootIds: readonly string[]
  /** Whether links have the bytes of their target. Otherwise they are left out. */
  includesLinks: boolean
  /** Whether what is in a folder may still be read. It is asked before each page of it. */
  mayRead?: (folderId: string) => Promise<boolean>
}

export interface ArchiveDeps {
  db: Db
  objects: Pick<ObjectStore, 'get'>
}

const pageSize = 200
/** A row that is older is read again before its bytes are, so that nothing that was deleted in the meantime is sent. */
const freshMs = 1_000

/**
 * A file of at most this size is read by a range, for which the store allocates as many bytes. Otherwise it allocates 256
 * KB for each, and collecting them takes longer than everything else when the files are small.
 */
const smallBytes = 131_072

/**
 * Types whose bytes are compressed already. Deflating them takes CPU time and saves nothing. All office files except those
 * of 1997 to 2003 are ZIP archives.
 */
const isCompressed = (mimeType: string): boolean =>
  /^(?:image\/(?!svg|bmp|x-ms-bmp|tiff)|video\/|audio\/(?!wav|x-wav|wave|vnd\.wave))/.test(mimeType) ||
  /^application\/(?:pdf|zip|x-zip|epub|gzip|x-gzip|x-7z|vnd\.(?:openxmlformats|oasis|apache\.parquet)|x-parquet)/.test(
    mimeType,
  )

const tooLarge = (): ApiError => badRequest('This is too large for an archive: at most 100 GB are possible.')

/** Throws NOT_FOUND when none of the files exists, and BAD_REQUEST when an archive of them would exceed a limit. */
export const checkArchive = async (db: Db, of: ArchiveOf): Promise<void> => {
  const size = await queries.measureTrees(db, of, of.rootIds, limits.entries + 1)
  if (size === undefined || size.entries === 0) throw notFound('File')
  if (size.entries > limits.entries) {
    throw badRequest('This is too large for an archive: at most 100,000 files and folders are possible.')
  }
  if (size.bytes > BigInt(limits.bytes)) throw tooLarge()
  if (size.pathBytes > BigInt(limits.pathBytes)) {
    throw badRequest('This is too large for an archive: the names of folders and files are too long.')
  }
}

const isMissing = (error: unknown): boolean => error instanceof ApiError && error.code === 'NOT_FOUND'

/** The newest state of a row; undefined when it was deleted or moved out of its folder. */
const readAgain = async (db: Db, of: ArchiveOf, row: ArchivedRow): Promise<ArchivedRow | undefined> => {
  const [found] = await queries.listArchived(db, of, [row.id])
  return found?.containerId === row.containerId ? found : undefined
}

/** Opens the bytes of a row. Undefined when there are none any more. */
const openRow = async (
  { db, objects }: ArchiveDeps,
  of: ArchiveOf,
  { row: given, readAt }: { row: ArchivedRow; readAt: number },
): Promise<{ row: ArchivedRow; source: Readable | undefined } | undefined> => {
  let row: ArchivedRow | undefined = performance.now() - readAt > freshMs ? await readAgain(db, of, given) : given
  for (let attempt = 1; row !== undefined && row.blobId !== null; attempt += 1) {
    if (row.size === 0) return { row, source: undefined }
    try {
      const range = row.size > smallBytes ? undefined : { start: 0, end: row.size - 1 }
      return { row, source: await objects.get(storageKeyOf(of.reader.orgId, row.blobId), range) }
    } catch (error) {
      if (!isMissing(error)) throw error
      const before: string = row.blobId
      row = await readAgain(db, of, row)
      // The record of the file is there and its bytes are not: the archive must not end as if it were whole.
      if (row?.blobId === before || attempt === 5) throw new Error('the bytes of a file are missing', { cause: error })
    }
  }
  return undefined
}

/** The entries of a folder and of the folders in it. Each folder is read by pages, and so is the way down to it. */
class Walk {
  readonly #deps: ArchiveDeps
  readonly #of: ArchiveOf
  readonly #signal: AbortSignal
  #entries = 0
  #bytes = 0
  #pathBytes = 0

  constructor(deps: ArchiveDeps, of: ArchiveOf, signal: AbortSignal) {
    this.#deps = deps
    this.#of = of
    this.#signal = signal
  }

  /** The tree may have grown since it was measured. */
  #count(path: string, bytes: number): void {
    this.#entries += 1
    this.#bytes += bytes
    this.#pathBytes += Buffer.byteLength(path)
    if (this.#entries > limits.entries || this.#bytes > limits.bytes || this.#pathBytes > limits.pathBytes * 2)
      throw tooLarge()
  }

  async *#file(row: ArchivedRow, readAt: number, path: string): AsyncGenerator<ZipEntry> {
    const opened = await openRow(this.#deps, this.#of, { row, readAt })
    if (opened === undefined) return
    const { source, row: found } = opened
    const abort = (): void => void source?.destroy(this.#signal.reason as Error)
    this.#signal.addEventListener('abort', abort)
    try {
      this.#signal.throwIfAborted()
      this.#count(path, found.size)
      const isDeflated = !isCompressed(found.mimeType ?? '')
      const open = () => Promise.resolve(source as Readable)
      yield { path, modifiedAt: new Date(found.updatedAt), content: { sizeBytes: found.size, isDeflated, open } }
    } finally {
      this.#signal.removeEventListener('abort', abort)
      source?.destroy()
    }
  }

  async *rows(rows: readonly ArchivedRow[], names: (name: string) => string, prefix: string): AsyncGenerator<ZipEntry> {
    const readAt = performance.now()
    for (const row of rows) {
      this.#signal.throwIfAborted()
      if (row.source === 'link' && !this.#of.includesLinks) continue
      if (row.source !== 'folder') {
        if (row.blobId !== null) yield* this.#file(row, readAt, prefix + names(row.name))
        continue
      }
      const path = prefix + names(row.name)
      this.#count(path, 0)
      yield { path, modifiedAt: new Date(row.updatedAt) }
      if (row.hasChildren) yield* this.#folder(row.id, `${path}/`)
    }
  }

  async *#folder(id: string, prefix: string): AsyncGenerator<ZipEntry> {
    const { db } = this.#deps
    const { mayRead } = this.#of
    const names = createNames()
    let after: ArchivedRow | undefined
    do {
      if (mayRead && !(await mayRead(id))) return
      const rows: ArchivedRow[] = await queries.listInFolder(db, this.#of, id, { after, limit: pageSize })
      yield* this.rows(rows, names, prefix)
      after = rows.length === pageSize ? rows.at(-1) : undefined
    } while (after !== undefined)
  }
}

/**
 * The bytes of an archive. A file that is deleted before its bytes are read is left out. It throws when bytes cannot be
 * read, when a limit is exceeded, and when the signal is aborted, also while it waits for the object store.
 */
export const archiveOf = (deps: ArchiveDeps, of: ArchiveOf, signal: AbortSignal): AsyncGenerator<Buffer> => {
  const walk = new Walk(deps, of, signal)
  const entries = async function* (): AsyncGenerator<ZipEntry> {
    const roots = await queries.listArchived(deps.db, of, of.rootIds)
    yield* walk.rows(roots, createNames(), '')
  }
  return zip(entries())
}

/** The name of an archive: that of its only file or folder, else `Files`. */
export const archiveNameOf = (roots: readonly { name: string }[]): string => {
  const [only, ...more] = roots
  return `${only !== undefined && more.length === 0 ? safeNameOf(only.name) : 'Files'}.zip`
}
