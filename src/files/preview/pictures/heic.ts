import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type sharpModule from 'sharp'
import { PreviewError } from '../payload.ts'
import { edges } from './image-spec.ts'
import { limits } from './limits.ts'

const largestEdge = Math.max(...edges)

/** The part of libheif (https://github.com/strukturag/libheif) that is used. Handles are opaque; errors have a `code`. */
interface LibHeif {
  heif_context_alloc(): object
  heif_context_read_from_memory(context: object, bytes: Uint8Array): { message: string }
  heif_js_context_get_primary_image_handle(context: object): object & { code?: unknown; message?: string }
  heif_image_handle_get_width(handle: object): number
  heif_image_handle_get_height(handle: object): number
  heif_image_handle_has_alpha_channel(handle: object): number
  heif_js_decode_image2(
    handle: object,
    colorspace: unknown,
    chroma: unknown,
  ): {
    code?: unknown
    message?: string
    channels?: { width: number; height: number; stride: number; data: Uint8Array }[]
  }
  heif_colorspace: { heif_colorspace_RGB: unknown }
  heif_chroma: { heif_chroma_interleaved_RGB: unknown; heif_chroma_interleaved_RGBA: unknown }
}

/** Whether a file is HEIF but not AVIF, which sharp decodes. */
export const isHeic = (bytes: Buffer): boolean => {
  if (bytes.toString('latin1', 4, 8) !== 'ftyp') return false
  const brands = bytes.toString('latin1', 8, Math.min(bytes.readUInt32BE(0), 256))
  return !/avi[fs]/.test(brands) && /he[iv][a-z]|mif[12]|msf1/.test(brands)
}

const load = (): LibHeif => {
  const require = createRequire(import.meta.url)
  const wasmBinary = readFileSync(require.resolve('libheif-js/libheif-wasm/libheif.wasm'))
  return (require('libheif-js/libheif-wasm/libheif.js') as (options: object) => LibHeif)({ wasmBinary })
}

/** Rows without the padding at their ends. */
const packed = (data: Uint8Array, stride: number, row: number, height: number): Buffer => {
  for (let y = 1; stride > row && y < height; y += 1) data.copyWithin(y * row, y * stride, y * stride + row)
  return Buffer.from(data.buffer, data.byteOffset, row * height)
}

/**
 * The primary image of a HEIC file, turned and mirrored as the file says, as an uncompressed PNG that is not smaller than
 * the largest size that is asked for. HEVC is decoded in WebAssembly, because sharp has no decoder for it.
 */
export const decodeHeic = async (sharp: typeof sharpModule, bytes: Buffer): Promise<Buffer> => {
  const heif = load()
  const context = heif.heif_context_alloc()
  heif.heif_context_read_from_memory(context, bytes)
  const handle = heif.heif_js_context_get_primary_image_handle(context)
  if (handle.code !== undefined) throw new Error(handle.message)
  const [width, height] = [heif.heif_image_handle_get_width(handle), heif.heif_image_handle_get_height(handle)]
  if (width * height > limits.inputPixels) {
    throw new PreviewError(`it has more than ${limits.inputPixels / 1_000_000} million pixels`)
  }
  const channels = heif.heif_image_handle_has_alpha_channel(handle) ? 4 : 3
  const { heif_chroma_interleaved_RGB: rgb, heif_chroma_interleaved_RGBA: rgba } = heif.heif_chroma
  const decoded = heif.heif_js_decode_image2(
    handle,
    heif.heif_colorspace.heif_colorspace_RGB,
    channels === 4 ? rgba : rgb,
  )
  const plane = decoded.channels?.[0]
  if (plane === undefined) throw new Error(decoded.message)
  const raw = { width: plane.width, height: plane.height, channels } as const
  return sharp(packed(plane.data, plane.stride, plane.width * channels, plane.height), { raw })
    .resize({ width: largestEdge, height: largestEdge, fit: 'outside', withoutEnlargement: true })
    .png({ compressionLevel: 0 })
    .toBuffer()
}
