import type { Readable } from 'node:stream'
import { promisify } from 'node:util'
import { crc32 } from 'node:zlib'
import yauzl from 'yauzl'
import { PreviewError, damaged, encrypted, limits, oversized } from '../payload.ts'

/** An open office file, which is a ZIP archive of parts. */
export interface Archive {
  has(name: string): boolean
  /**
   * Decompresses a part while it is read. Throws a PreviewError when the part does not match its entry or exceeds the
   * size limits. Read it to its end, because the checksum is verified there.
   */
  read(name: string): AsyncGenerator<Buffer>
}

const openZip = promisify<Buffer, yauzl.Options, yauzl.ZipFile>(yauzl.fromBuffer)

// A password-protected OOXML file is an OLE container with the encrypted archive.
const oleSignature = Buffer.from('d0cf11e0a1b11ae1', 'hex')

const listEntries = async (zip: yauzl.ZipFile): Promise<Map<string, yauzl.Entry>> => {
  if (zip.entryCount > limits.archiveEntries) throw oversized()
  const entries = new Map<string, yauzl.Entry>()
  await new Promise<void>((resolve, reject) => {
    zip.on('entry', (entry) => {
      // Rejected, because readers disagree which of two entries with the same name is valid.
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

/** Opens a ZIP archive in memory. Throws a PreviewError if it is damaged, encrypted or not a ZIP archive. */
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
