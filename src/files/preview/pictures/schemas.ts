import { Type } from 'typebox'
import type { Edge } from './image-spec.ts'
import { edges, fits, imageFormats } from './image-spec.ts'

// TypeBox infers no values from a union that is made of an array.
const OneOf = <T>(type: 'integer' | 'string', values: readonly T[], description: string) =>
  Type.Optional(Type.Unsafe<T>({ type, enum: values, description }))

const EdgeOf = (description: string) => OneOf<Edge>('integer', edges, description)

export const ImageQuery = Type.Object({
  width: EdgeOf('Width in pixels: 64, 128, 256, 512, 1024 or 2048. Default without `height`: 512.'),
  height: EdgeOf('Height in pixels: 64, 128, 256, 512, 1024 or 2048. Default: by the width.'),
  fit: OneOf(
    'string',
    fits,
    'With `width` and `height`: `inside` keeps the whole picture within them, `cover` cuts it to fill them. Default `inside`.',
  ),
  format: OneOf(
    'string',
    imageFormats,
    'Format of the image. Default: AVIF or WebP if `Accept` names it, else PNG for pictures with transparency and JPEG for others.',
  ),
})
