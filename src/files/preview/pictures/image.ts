import type sharpModule from 'sharp'
import type { OutputInfo, Sharp } from 'sharp'
import type { ImageFormat, ImageSpec } from './image-spec.ts'
import { limits } from './limits.ts'

const encodeAs = (image: Sharp, format: Exclude<ImageFormat, 'plain'>): Sharp => {
  switch (format) {
    case 'avif':
      // More effort saves a few percent and takes several times as long.
      return image.avif({ quality: 55, effort: 1 })
    case 'webp':
      return image.webp({ quality: 78, effort: 3 })
    case 'png':
      return image.png()
    case 'jpeg':
      return image.flatten({ background: '#ffffff' }).jpeg({ quality: 80 })
    default:
      return format satisfies never
  }
}

/** The first frame of a picture, upright, in the size and format of the specification, without metadata. */
export const makeImage = async (
  sharp: typeof sharpModule,
  bytes: Buffer,
  { width, height, fit, format }: ImageSpec,
): Promise<{ mimeType: string; data: Buffer; info: OutputInfo }> => {
  const options = { pages: 1, limitInputPixels: limits.inputPixels }
  const hasAlpha = format === 'plain' && (await sharp(bytes, options).metadata()).hasAlpha
  const encoded = format === 'plain' ? (hasAlpha ? 'png' : 'jpeg') : format
  const size = { ...(width === undefined ? {} : { width }), ...(height === undefined ? {} : { height }) }
  const image = sharp(bytes, { ...options, failOn: 'error', sequentialRead: true })
    .autoOrient()
    .resize({ ...size, fit, withoutEnlargement: true })
  const { data, info } = await encodeAs(image, encoded).toBuffer({ resolveWithObject: true })
  return { mimeType: `image/${encoded}`, data, info }
}
