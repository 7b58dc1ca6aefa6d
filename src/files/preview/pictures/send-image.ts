import type { FastifyReply } from 'fastify'
import type { Content } from '../../content.ts'
import { inlineHeaders } from '../../downloads/content-headers.ts'
import { specKey } from './image-spec.ts'
import type { ImageFormat, ImageSpec } from './image-spec.ts'
import { imageVersion } from './pictures.ts'
import type { Image } from './run-picture.ts'

/** The best format that the client names. A range such as `image/*` says nothing about AVIF and WebP. */
export const formatFor = (accept: string | undefined): ImageFormat => {
  const accepted = (accept ?? '')
    .toLowerCase()
    .split(',')
    .map((one) => one.split(';').map((part) => part.trim()))
    .filter(([, ...parameters]) => !parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter)))
    .map(([type]) => type)
  if (accepted.includes('image/avif')) return 'avif'
  return accepted.includes('image/webp') ? 'webp' : 'plain'
}

/** The entity tag of an image. */
export const imageTag = (contentHash: string, spec: ImageSpec): string =>
  `"${contentHash.slice(0, 32)}-${specKey(spec)}-${imageVersion}"`

/** Sends an image; without one, that the client has it. */
export const sendImage = (
  reply: FastifyReply,
  { content, image, spec }: { content: Content; image: Image | undefined; spec: ImageSpec },
): FastifyReply => {
  const headers = inlineHeaders(content.name, image?.mimeType ?? 'image/webp')
  const etag = imageTag(content.contentHash, spec)
  reply.headers({ ...headers.protection, etag, 'cache-control': 'private, no-cache' })
  return image ? reply.headers(headers.content).send(image.bytes) : reply.code(304).send()
}
