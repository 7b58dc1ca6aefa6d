import type { Readable } from 'node:stream'
import { promisify } from 'node:util'
import { crc32 } from 'node:zlib'
import yauzl from 'yauzl'
import { PreviewError, damaged, encrypted, limits, oversized } from '../payload.ts'

/** The parts of an office file. */
export interface Archive {
  has(name: string): boolean
  /**
   * The bytes of a part, unpacked as they are read. Throws a PreviewError when they are not what the archive says, or more
   * than a preview may read. A part is read to its end: only then is it known to be whole.
   */
  read(name: string): AsyncGenerator<Buffer>
}

const openZip = promisify<Buffer, yauzl.Options, yauzl.ZipFile>(yauzl.fromBuffer)

// What a password-protected OOXML file is: an OLE container around the encrypted archive.
const oleSignature = Buffer.from('d0cf11e0a1b11ae1', 'hex')

const listEntries = async (zip: yauzl.ZipFile): Promise<Map<string, yauzl.Entry>> => {
  if (zip.entryCount > limits.archiveEntries) throw oversized()
  const entries = new Map<string, yauzl.Entry>()
  await new Promise<void>((resolve, reject) => {
    zip.on('entry', (entry) => {
      // Readers disagree on which of two entries of one name counts; honest writers make none.
      if (entries.has(entry.fileName)) reject(damaged(`two entries named ${entry.fileName}`))
      entries.set(entry.fileName, entry)
      zip.readEntry()
    })
    zip.on('end', resolve)
    zip.on('error', reject)
    zip.readEntry()
  })
  return entries
}

const isBomb = (inflatedBytes: number, compressedBytes: number): boolean =>
  inflatedBytes > limits.ratioFloorBytes && inflatedBytes > limits.ratio * compressedBytes

/** Opens a ZIP archive that is wholly in memory. Throws a PreviewError for one that is none, damaged or encrypted. */
export const openArchive = async (bytes: Buffer): Promise<Archive> => {
  if (bytes.subarray(0, oleSignature.length).equals(oleSignature)) throw encrypted()
  let zip: yauzl.ZipFile
  let entries: Map<string, yauzl.Entry>
  try {
    zip = await openZip(bytes, { lazyEntries: true, autoClose: false, validateEntrySizes: true })
    entries = await listEntries(zip)
  } catch (error) {
    throw error instanceof PreviewError ? error : damaged(error)
  }
  const openStream = promisify<yauzl.Entry, Readable>(zip.openReadStream.bind(zip))
  let total = 0

  const read = async function* (name: string): AsyncGenerator<Buffer> {
    const entry = entries.get(name)
    if (!entry) throw damaged(`no entry ${name}`)
    if (entry.isEncrypted()) throw encrypted()
    if (isBomb(entry.uncompressedSize, entry.compressedSize)) throw oversized()
    let size = 0
    let checksum = 0
    try {
      for await (const chunk of await openStream(entry)) {
        const piece = chunk as Buffer
        size += piece.length
        total += piece.length
        if (total > limits.inflatedBytes || isBomb(size, entry.compressedSize)) throw oversized()
        checksum = crc32(piece, checksum)
        yield piece
      }
    } catch (error) {
      throw error instanceof PreviewError ? error : damaged(error)
    }
    if (checksum !== entry.crc32) throw damaged(`checksum of ${name}`)
  }
  return { has: (name) => entries.has(name), read }
}
