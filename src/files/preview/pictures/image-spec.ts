/** Widths and heights of images. Few of them, so that one picture cannot fill the space for stored images. */
export const edges = [64, 128, 256, 512, 1_024, 2_048] as const
export type Edge = (typeof edges)[number]

export const fits = ['inside', 'cover'] as const
export type Fit = (typeof fits)[number]

export const imageFormats = ['avif', 'webp', 'jpeg', 'png'] as const
/** `plain`: PNG when parts are transparent, else JPEG. */
export type ImageFormat = (typeof imageFormats)[number] | 'plain'

/** A size and format of a picture. At least one of `width` and `height` is set. */
export interface ImageSpec {
  width?: Edge | undefined
  height?: Edge | undefined
  fit: Fit
  format: ImageFormat
}

/** The name under which an image is stored, and a part of its ETag. */
export const specKey = ({ width, height, fit, format }: ImageSpec): string =>
  `${width ?? ''}x${height ?? ''}-${fit}-${format}`
