// Entry point of the sandboxed process, which reads one picture and exits. It reads the bytes from standard input and
// writes one line of JSON.
import type sharpModule from 'sharp'
import type { OutputInfo, Sharp } from 'sharp'
import { limits } from './limits.ts'

export type PictureResult =
  | { mimeType: 'image/jpeg' | 'image/png'; width: number; height: number; base64: string }
  | { error: string; detail: string }

type Decoder = typeof sharpModule

/** Throws when npm has installed no build for this platform. */
const loadDecoder = async (): Promise<Decoder> => {
  const { default: sharp } = await import('sharp')
  // One thread: the limit of CPU time counts all threads, and a process reads one picture.
  sharp.concurrency(1)
  sharp.cache(false)
  // Only the decoders of the accepted types, so that no other one can be reached by a file that pretends to be a picture.
  sharp.block({ operation: ['VipsForeignLoad'] })
  const formats = ['Png', 'Jpeg', 'Webp', 'Nsgif']
  sharp.unblock({ operation: formats.map((format) => `VipsForeignLoad${format}Buffer`) })
  return sharp
}

const readAll = async (): Promise<Buffer> => {
  const chunks: Buffer[] = []
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) chunks.push(chunk)
  return Buffer.concat(chunks)
}

/** The first frame, upright, within the largest size. */
const open = (sharp: Decoder, bytes: Buffer, edge: number): Sharp =>
  sharp(bytes, { pages: 1, limitInputPixels: limits.inputPixels, failOn: 'error', sequentialRead: true })
    .autoOrient()
    .resize({ width: edge, height: edge, fit: 'inside', withoutEnlargement: true })

type Encoded = { data: Buffer; info: OutputInfo }

/** As PNG if parts are transparent and the file is small enough, else as JPEG, which is smaller. */
const encode = async (sharp: Decoder, bytes: Buffer): Promise<{ mimeType: 'image/jpeg' | 'image/png' } & Encoded> => {
  const { hasAlpha } = await sharp(bytes, { pages: 1, limitInputPixels: limits.inputPixels }).metadata()
  if (hasAlpha) {
    const png = await open(sharp, bytes, limits.edge).png().toBuffer({ resolveWithObject: true })
    if (png.data.length <= limits.outputBytes) return { mimeType: 'image/png', ...png }
  }
  for (const [quality, edge] of limits.attempts) {
    const jpeg = await open(sharp, bytes, edge)
      .flatten({ background: '#ffffff' })
      .jpeg({ quality })
      .toBuffer({ resolveWithObject: true })
    if (jpeg.data.length <= limits.outputBytes) return { mimeType: 'image/jpeg', ...jpeg }
  }
  throw new Error('the picture stays too large')
}

const reasonOf = (message: string): string => {
  if (/pixel limit/i.test(message)) return `it has more than ${limits.inputPixels / 1_000_000} million pixels`
  return 'it is damaged or not a PNG, JPEG, WebP or GIF file'
}

const run = async (): Promise<PictureResult> => {
  const sharp = await loadDecoder().catch((error: unknown) => error as Error)
  if (sharp instanceof Error) return { error: 'this server has no decoder for pictures', detail: sharp.message }
  try {
    const { mimeType, data, info } = await encode(sharp, await readAll())
    return { mimeType, width: info.width, height: info.height, base64: data.toString('base64') }
  } catch (error) {
    const { message } = error as Error
    return { error: reasonOf(message), detail: message.slice(0, 2_000) }
  }
}

process.stdout.end(JSON.stringify(await run()), () => process.exit(0))
