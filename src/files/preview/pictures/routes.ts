import { onceClosed } from '../../../platform/http/closed.ts'
import { badRequest } from '../../../platform/http/errors.ts'
import { isNotModified } from '../../../platform/http/etag.ts'
import { apiPrefix } from '../../../platform/http/http.ts'
import type { App } from '../../../platform/http/http.ts'
import { Bytes, IdParams } from '../../../platform/http/schemas.ts'
import { readImage } from '../../content.ts'
import type { FilesDeps } from '../../deps.ts'
import { ImageQuery } from './schemas.ts'
import { formatFor, imageTag, sendImage } from './send-image.ts'

export const registerImageRoutes = (app: App, deps: FilesDeps): void => {
  app.get(
    `${apiPrefix}/files/:id/image`,
    {
      config: { access: 'files:read', what: 'File', errors: ['BAD_REQUEST'] },
      schema: {
        tags: ['Files'],
        summary: 'Retrieve a picture in another size, or a page',
        description:
          'Returns a picture (PNG, JPEG, WebP, AVIF, HEIC or GIF, of which the first frame) upright, never larger than it is, and without its metadata; or the first page of a PDF on white, in the size that is asked for. BAD_REQUEST with the reason for a file that is neither, over 25 MB, over 60 million pixels, damaged or protected by a password, or that needs too much time or memory. CONFLICT while the file is pending. SERVICE_UNAVAILABLE with `Retry-After` when too many images are requested at once. Supports `If-None-Match`.',
        params: IdParams,
        querystring: ImageQuery,
        response: { 200: Bytes('The image.', 'image/webp') },
      },
    },
    async (request, reply) => {
      const { width, height, fit = 'inside', format } = request.query
      const spec = {
        width: width ?? (height === undefined ? (512 as const) : undefined),
        height,
        fit,
        format: format ?? formatFor(request.headers.accept),
      }
      const disconnect = new AbortController()
      onceClosed(reply.raw, () => disconnect.abort(badRequest('The request was aborted.')))
      const isKnown = (contentHash: string): boolean =>
        isNotModified(request.headers['if-none-match'], imageTag(contentHash, spec))
      const { content, image } = await readImage(deps, request.actor, request.params.id, {
        spec,
        signal: disconnect.signal,
        isKnown,
      })
      if (format === undefined) reply.header('vary', 'accept')
      return sendImage(reply, { content, image, spec })
    },
  )
}
