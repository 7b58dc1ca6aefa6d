// Writes ZIP archives as a stream (APPNOTE.TXT 6.3.10). yazl searches all entries for each new one, which takes 50 s of CPU
// time for 100,000; client-zip cannot compress; archiver and zip.js keep an object of about 1 kB for each entry. Here an
// entry is kept as the record of the central directory that it becomes.
import { buffer } from 'node:stream/consumers'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { crc32, createDeflateRaw, deflateRaw } from 'node:zlib'

/** A file or folder of an archive. */
export interface ZipEntry {
  /** The path in the archive with `/` between folders, at most 65,535 bytes. A folder has no `/` at its end. */
  path: string
  modifiedAt: Date
  /** Undefined for a folder. */
  content?: ZipContent
}

export interface ZipContent {
  sizeBytes: number
  /** Whether to deflate it; otherwise it is stored as it is. */
  isDeflated: boolean
  open(): Promise<Readable>
}

/** The size or the CRC of an entry whose header says that they follow its bytes. */
interface Sums {
  crc: number
  packed: number
  size: number
}

interface Header {
  path: Buffer
  modifiedAt: Date
  method: 0 | 8
  isFolder: boolean
  /** Whether crc and sizes follow the bytes in a data descriptor. */
  isStreamed: boolean
  /** Whether the descriptor has 8 bytes for each size. */
  isLarge: boolean
}

const most32 = 0xffff_ffff
/** A smaller file is packed in memory, so that its header has its sizes. */
const wholeBytes = 65_536
/** A compressor uses 256 KB of memory and saves nothing for a few bytes. */
const deflatedBytes = 256
/** Small parts are joined, so that an archive of small files does not become several writes for each. */
const joinedBytes = 65_536

const compress = promisify(deflateRaw)

const dosTimeOf = (date: Date): [time: number, day: number] => {
  const year = Math.min(Math.max(date.getUTCFullYear(), 1980), 2107)
  return [
    (date.getUTCHours() << 11) | (date.getUTCMinutes() << 5) | (date.getUTCSeconds() >> 1),
    ((year - 1980) << 9) | ((date.getUTCMonth() + 1) << 5) | date.getUTCDate(),
  ]
}

/** The extended timestamp, in UTC: the time of DOS is understood as local time. */
const timestampOf = (date: Date): Buffer => {
  const field = Buffer.alloc(9)
  field.writeUInt16LE(0x5455, 0)
  field.writeUInt16LE(5, 2)
  field.writeUInt8(1, 4)
  field.writeInt32LE(Math.min(Math.max(Math.floor(date.getTime() / 1_000), 0), 0x7fff_ffff), 5)
  return field
}

/** The ZIP64 field with these values. */
const largeFieldOf = (values: number[]): Buffer => {
  const field = Buffer.alloc(4 + values.length * 8)
  field.writeUInt16LE(1, 0)
  field.writeUInt16LE(values.length * 8, 2)
  for (const [at, value] of values.entries()) field.writeBigUInt64LE(BigInt(value), 4 + at * 8)
  return field
}

// Bit 11: the name is in UTF-8. Bit 3: crc and sizes follow the bytes.
const flagsOf = ({ isStreamed }: Header): number => 0x800 | (isStreamed ? 8 : 0)
const neededVersion = (isLarge: boolean): number => (isLarge ? 45 : 20)

const localHeaderOf = (header: Header, { crc, packed, size }: Sums): Buffer => {
  const { path, modifiedAt, method, isLarge } = header
  const [time, day] = dosTimeOf(modifiedAt)
  const extra = Buffer.concat([timestampOf(modifiedAt), ...(isLarge ? [largeFieldOf([0, 0])] : [])])
  const fixed = Buffer.alloc(30)
  fixed.writeUInt32LE(0x0403_4b50, 0)
  fixed.writeUInt16LE(neededVersion(isLarge), 4)
  fixed.writeUInt16LE(flagsOf(header), 6)
  fixed.writeUInt16LE(method, 8)
  fixed.writeUInt16LE(time, 10)
  fixed.writeUInt16LE(day, 12)
  fixed.writeUInt32LE(crc, 14)
  fixed.writeUInt32LE(isLarge ? most32 : packed, 18)
  fixed.writeUInt32LE(isLarge ? most32 : size, 22)
  fixed.writeUInt16LE(path.length, 26)
  fixed.writeUInt16LE(extra.length, 28)
  return Buffer.concat([fixed, path, extra])
}

const descriptorOf = ({ isLarge }: Header, { crc, packed, size }: Sums): Buffer => {
  const descriptor = Buffer.alloc(isLarge ? 24 : 16)
  descriptor.writeUInt32LE(0x0807_4b50, 0)
  descriptor.writeUInt32LE(crc, 4)
  if (isLarge) {
    descriptor.writeBigUInt64LE(BigInt(packed), 8)
    descriptor.writeBigUInt64LE(BigInt(size), 16)
  } else {
    descriptor.writeUInt32LE(packed, 8)
    descriptor.writeUInt32LE(size, 12)
  }
  return descriptor
}

const directoryRecordOf = (header: Header, { crc, packed, size }: Sums, offset: number): Buffer => {
  const { path, modifiedAt, method, isFolder } = header
  const [time, day] = dosTimeOf(modifiedAt)
  // Each value that does not fit into 32 bits, in this order.
  const large = [size, packed, offset].filter((value) => value >= most32)
  const isLarge = header.isLarge || large.length > 0
  const extra = Buffer.concat([timestampOf(modifiedAt), ...(large.length > 0 ? [largeFieldOf(large)] : [])])
  const fixed = Buffer.alloc(46)
  fixed.writeUInt32LE(0x0201_4b50, 0)
  // Made on Unix, so that the attributes are a mode.
  fixed.writeUInt16LE((3 << 8) | 63, 4)
  fixed.writeUInt16LE(neededVersion(isLarge), 6)
  fixed.writeUInt16LE(flagsOf(header), 8)
  fixed.writeUInt16LE(method, 10)
  fixed.writeUInt16LE(time, 12)
  fixed.writeUInt16LE(day, 14)
  fixed.writeUInt32LE(crc, 16)
  fixed.writeUInt32LE(Math.min(packed, most32), 20)
  fixed.writeUInt32LE(Math.min(size, most32), 24)
  fixed.writeUInt16LE(path.length, 28)
  fixed.writeUInt16LE(extra.length, 30)
  fixed.writeUInt32LE(((isFolder ? 0o40755 : 0o100644) * 65_536 + (isFolder ? 16 : 0)) >>> 0, 38)
  fixed.writeUInt32LE(Math.min(offset, most32), 42)
  return Buffer.concat([fixed, path, extra])
}

const endOf = (entries: number, directory: { offset: number; bytes: number }): Buffer => {
  const { offset, bytes } = directory
  const end = Buffer.alloc(22)
  end.writeUInt32LE(0x0605_4b50, 0)
  end.writeUInt16LE(Math.min(entries, 0xffff), 8)
  end.writeUInt16LE(Math.min(entries, 0xffff), 10)
  end.writeUInt32LE(Math.min(bytes, most32), 12)
  end.writeUInt32LE(Math.min(offset, most32), 16)
  if (entries < 0xffff && bytes < most32 && offset < most32) return end
  const large = Buffer.alloc(76)
  large.writeUInt32LE(0x0606_4b50, 0)
  large.writeBigUInt64LE(44n, 4)
  large.writeUInt16LE((3 << 8) | 63, 12)
  large.writeUInt16LE(45, 14)
  large.writeBigUInt64LE(BigInt(entries), 24)
  large.writeBigUInt64LE(BigInt(entries), 32)
  large.writeBigUInt64LE(BigInt(bytes), 40)
  large.writeBigUInt64LE(BigInt(offset), 48)
  // Where this record is.
  large.writeUInt32LE(0x0706_4b50, 56)
  large.writeBigUInt64LE(BigInt(offset + bytes), 64)
  large.writeUInt32LE(1, 72)
  return Buffer.concat([large, end])
}

/** Joins small buffers: each uses 100 bytes of memory besides its own, and a write each when it is sent. */
const joined = async function* (parts: AsyncIterable<Buffer> | Iterable<Buffer>): AsyncGenerator<Buffer> {
  let waiting: Buffer[] = []
  let bytes = 0
  for await (const part of parts) {
    waiting.push(part)
    bytes += part.length
    if (bytes < joinedBytes) continue
    yield Buffer.concat(waiting)
    waiting = []
    bytes = 0
  }
  if (bytes > 0) yield Buffer.concat(waiting)
}

/** The records of the central directory, which are written at the end. */
class Directory {
  readonly #full: Buffer[] = []
  #last: Buffer[] = []
  #lastBytes = 0
  bytes = 0
  entries = 0

  add(record: Buffer): void {
    this.#last.push(record)
    this.#lastBytes += record.length
    this.bytes += record.length
    this.entries += 1
    if (this.#lastBytes < joinedBytes) return
    this.#full.push(Buffer.concat(this.#last))
    this.#last = []
    this.#lastBytes = 0
  }

  records(): Buffer[] {
    return [...this.#full, ...this.#last]
  }
}

const wrongSize = (): Error => new Error('a file of the archive has another size than its record')

const packWhole = async (method: 0 | 8, content: ZipContent): Promise<{ sums: Sums; bytes: Buffer }> => {
  const whole = await buffer(await content.open())
  if (whole.length !== content.sizeBytes) throw wrongSize()
  const bytes = method === 8 ? await compress(whole) : whole
  return { sums: { crc: crc32(whole), packed: bytes.length, size: whole.length }, bytes }
}

const packStream = async function* (method: 0 | 8, content: ZipContent): AsyncGenerator<Buffer, Sums> {
  const source = await content.open()
  const sums = { crc: 0, packed: 0, size: 0 }
  const counted = async function* (): AsyncGenerator<Buffer> {
    for await (const chunk of source as AsyncIterable<Buffer>) {
      sums.crc = crc32(chunk, sums.crc)
      sums.size += chunk.length
      yield chunk
    }
    if (sums.size !== content.sizeBytes) throw wrongSize()
  }
  const deflate = method === 8 ? createDeflateRaw() : undefined
  // The loop below throws what the pipeline rejects with.
  if (deflate) pipeline(counted, deflate).catch(() => undefined)
  try {
    for await (const chunk of (deflate ?? counted()) as AsyncIterable<Buffer>) {
      sums.packed += chunk.length
      yield chunk
    }
  } finally {
    source.destroy()
    deflate?.destroy()
  }
  return sums
}

const none: Sums = { crc: 0, packed: 0, size: 0 }

/** The parts of an entry. Returns its record for the directory. */
const entryParts = async function* (
  { path, modifiedAt, content }: ZipEntry,
  offset: number,
): AsyncGenerator<Buffer, Buffer> {
  const size = content?.sizeBytes ?? 0
  const header: Header = {
    path: Buffer.from(content ? path : `${path}/`),
    modifiedAt,
    method: content?.isDeflated && size >= deflatedBytes ? 8 : 0,
    isFolder: content === undefined,
    isStreamed: size > wholeBytes,
    // Deflated bytes can be a little more than the bytes themselves.
    isLarge: size >= most32 - 0x100_0000,
  }
  if (header.isStreamed && content) {
    yield localHeaderOf(header, none)
    const sums = yield* packStream(header.method, content)
    yield descriptorOf(header, sums)
    return directoryRecordOf(header, sums, offset)
  }
  const { sums, bytes } =
    content && size > 0 ? await packWhole(header.method, content) : { sums: none, bytes: Buffer.alloc(0) }
  yield localHeaderOf(header, sums)
  yield bytes
  return directoryRecordOf(header, sums, offset)
}

const archiveParts = async function* (entries: AsyncIterable<ZipEntry>): AsyncGenerator<Buffer> {
  const directory = new Directory()
  let offset = 0
  for await (const entry of entries) {
    const parts = entryParts(entry, offset)
    try {
      for (let part = await parts.next(); ; part = await parts.next()) {
        if (part.done === true) {
          directory.add(part.value)
          break
        }
        offset += part.value.length
        yield part.value
      }
    } finally {
      // Ends the reads of an entry that the reader of the archive has left.
      await parts.return(Buffer.alloc(0))
    }
  }
  yield* directory.records()
  yield endOf(directory.entries, { offset, bytes: directory.bytes })
}

/**
 * The bytes of an archive. Entries and their contents are read as fast as the bytes are. It throws when a content cannot be
 * read. The archive is then incomplete: it has no directory, so that no program takes it for a whole one.
 */
export const zip = (entries: AsyncIterable<ZipEntry>): AsyncGenerator<Buffer> => joined(archiveParts(entries))
