import { badRequest, notFound } from '../../platform/http/errors.ts'
import { onceClosed } from '../../platform/http/closed.ts'
import { isNotModified } from '../../platform/http/etag.ts'
import type { App } from '../../platform/http/http.ts'
import { addressGroup } from '../../platform/http/limits/network.ts'
import { readImage } from '../content.ts'
import { formatFor, imageTag, sendImage } from '../preview/pictures/send-image.ts'
import { FileParams, hidden, VisitQuery } from './visit-schemas.ts'
import { displaysImage, getSharedItem, isAdmitted, openVisit } from './visits.ts'
import type { VisitDeps } from './visits.ts'

const imageWidth = 2_048

/** Images of files on the page. They have no metadata, and are no download. */
export const registerVisitImage = (app: App, deps: VisitDeps): void => {
  const { db } = deps
  app.get(
    '/s/:token/files/:id/image',
    {
      config: { access: 'public', rateLimit: 'reads', what: 'File' },
      schema: { ...hidden('An image of a shared picture'), params: FileParams, querystring: VisitQuery },
    },
    async (request, reply) => {
      const { headers, params, query } = request
      const visit = await openVisit(db, params.token)
      const { share } = visit
      if (!isAdmitted(deps, share, query.access)) return reply.redirect(`/s/${params.token}`, 302)
      const item = await getSharedItem(db, visit, params.id)
      if (!displaysImage(share, item)) throw notFound('File')
      const spec = { width: imageWidth, fit: 'inside', format: formatFor(headers.accept) } as const
      const disconnect = new AbortController()
      onceClosed(reply.raw, () => disconnect.abort(badRequest('The request was aborted.')))
      const { content, image } = await readImage(deps, visit.creator, item.id, {
        spec,
        signal: disconnect.signal,
        visitor: addressGroup(request.ip),
        isKnown: (contentHash) => isNotModified(headers['if-none-match'], imageTag(contentHash, spec)),
      })
      return sendImage(reply.header('vary', 'accept'), { content, image, spec })
    },
  )
}
