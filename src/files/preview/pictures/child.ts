// Entry point of the sandboxed process, which reads one picture and exits. It reads the bytes from standard input and
// writes one line of JSON. Its arguments are what to make, and for an image or a page its size and format.
import type sharpModule from 'sharp'
import type { OutputInfo, Sharp } from 'sharp'
import { decodeHeic, isHeic } from './heic.ts'
import { makeImage } from './image.ts'
import type { ImageSpec } from './image-spec.ts'
import { limits } from './limits.ts'
import { PreviewError } from '../payload.ts'

export type PictureFailure = { error: string; detail: string }

export type PictureResult =
  | { mimeType: 'image/jpeg' | 'image/png'; width: number; height: number; base64: string }
  | PictureFailure

/** A picture in a size and format of choice. */
export type ImageResult = { mimeType: string; width: number; height: number; base64: string } | PictureFailure

/** The sizes of a logo as base64. */
export type LogoResult = { small: string; large: string } | PictureFailure

type Decoder = typeof sharpModule

/** Throws when npm has installed no build for this platform. */
const loadDecoder = async (formats: readonly string[]): Promise<Decoder> => {
  const { default: sharp } = await import('sharp')
  // One thread: the limit of CPU time counts all threads, and a process reads one picture.
  sharp.concurrency(1)
  sharp.cache(false)
  // Only the decoders of the accepted types, so that no other one can be reached by a file that pretends to be a picture.
  sharp.block({ operation: ['VipsForeignLoad'] })
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

/** A square with the whole picture in its middle, on nothing, without the metadata of the file. */
const square = async (sharp: Decoder, bytes: Buffer, edge: number): Promise<string> => {
  for (const quality of limits.logo.qualities) {
    const webp = await sharp(bytes, { pages: 1, limitInputPixels: limits.inputPixels, failOn: 'error' })
      .autoOrient()
      .resize({ width: edge, height: edge, fit: 'contain', background: { r: 0, g: 0, b: 0, alpha: 0 } })
      .webp({ quality, alphaQuality: quality })
      .toBuffer()
    if (webp.length <= limits.logo.outputBytes) return webp.toString('base64')
  }
  throw new Error('the picture stays too large')
}

const givenSpec = (): ImageSpec => JSON.parse(process.argv[3] ?? '') as ImageSpec

const imageOf = async (sharp: Decoder, bytes: Buffer): Promise<ImageResult> => {
  const { mimeType, data, info } = await makeImage(sharp, bytes, givenSpec())
  return { mimeType, width: info.width, height: info.height, base64: data.toString('base64') }
}

const pictures = { formats: ['Png', 'Jpeg', 'Webp', 'Nsgif', 'Heif'], accepted: 'PNG, JPEG, WebP, GIF, AVIF or HEIC' }

/** The bytes of a picture that sharp can decode. */
const readable = async (sharp: Decoder, bytes: Buffer): Promise<Buffer> =>
  isHeic(bytes) ? decodeHeic(sharp, bytes) : bytes

const modes = {
  picture: {
    ...pictures,
    make: async (sharp: Decoder, bytes: Buffer): Promise<PictureResult> => {
      const { mimeType, data, info } = await encode(sharp, await readable(sharp, bytes))
      return { mimeType, width: info.width, height: info.height, base64: data.toString('base64') }
    },
  },
  image: {
    ...pictures,
    make: async (sharp: Decoder, bytes: Buffer): Promise<ImageResult> => imageOf(sharp, await readable(sharp, bytes)),
  },
  pdf: {
    formats: ['Png'],
    accepted: 'PDF',
    make: async (sharp: Decoder, bytes: Buffer): Promise<ImageResult> => {
      // Loaded on demand, because it takes longer than reading most pictures.
      const { renderFirstPage } = await import('./pdf-page.ts')
      return imageOf(sharp, await renderFirstPage(sharp, bytes, givenSpec()))
    },
  },
  logo: {
    formats: ['Png', 'Jpeg', 'Webp'],
    accepted: 'PNG, JPEG or WebP',
    make: async (sharp: Decoder, bytes: Buffer): Promise<LogoResult> => ({
      small: await square(sharp, bytes, limits.logo.small),
      large: await square(sharp, bytes, limits.logo.large),
    }),
  },
}

const reasonOf = (error: Error, accepted: string): string => {
  if (error instanceof PreviewError) return error.message
  if (/pixel limit/i.test(error.message)) return `it has more than ${limits.inputPixels / 1_000_000} million pixels`
  return `it is damaged or not a ${accepted} file`
}

const run = async (): Promise<PictureResult | ImageResult | LogoResult> => {
  const { formats, accepted, make } = modes[process.argv[2] as keyof typeof modes]
  const sharp = await loadDecoder(formats).catch((error: unknown) => error as Error)
  if (sharp instanceof Error) return { error: 'this server has no decoder for pictures', detail: sharp.message }
  try {
    return await make(sharp, await readAll())
  } catch (error) {
    const { message, cause } = error as Error
    const detail = cause instanceof Error ? cause.message : message
    return { error: reasonOf(error as Error, accepted), detail: detail.slice(0, 2_000) }
  }
}

process.stdout.end(JSON.stringify(await run()), () => process.exit(0))
