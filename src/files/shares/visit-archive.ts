import { Type } from 'typebox'
import { ApiError, notFound } from '../../platform/http/errors.ts'
import type { App } from '../../platform/http/http.ts'
import { archiveNameOf } from '../archive/archive.ts'
import type { ArchiveSender } from '../archive/send-archive.ts'
import * as queries from './queries.ts'
import { Rejection, texts } from './texts.ts'
import { watchDownload } from './running.ts'
import type { VisitContext } from './running.ts'
import { checkDownload, getSharedItem, isAdmitted, openVisit, takeDownload } from './visits.ts'
import type { VisitDeps } from './visits.ts'

/** The same error with a message for visitors. */
const forVisitors = (error: ApiError): ApiError => {
  const reason = { BAD_REQUEST: 'archiveSize', TOO_MANY_REQUESTS: 'archives' } as const
  if (error.code !== 'BAD_REQUEST' && error.code !== 'TOO_MANY_REQUESTS') return error
  const of = reason[error.code]
  const { headers } = error
  return new ApiError(error.code, texts.en.rejections[of], { cause: new Rejection(of), ...(headers && { headers }) })
}

/** The archive of a shared folder, or of one that is in it. It is one download of the share. */
export const registerVisitArchive = (
  app: App,
  deps: VisitDeps,
  { archives, running }: VisitContext & { archives: ArchiveSender },
): void => {
  const { db } = deps
  app.get(
    '/s/:token/archive',
    {
      config: { access: 'public', rateLimit: 'reads', what: 'File' },
      schema: {
        hide: true,
        summary: 'The files of a shared folder as a ZIP archive',
        params: Type.Object({ token: Type.String({ maxLength: 64 }) }),
        querystring: Type.Object({
          access: Type.Optional(Type.String({ maxLength: 64 })),
          item: Type.Optional(Type.String({ format: 'uuid' })),
        }),
        response: { 200: Type.Unknown() },
      },
    },
    async (request, reply) => {
      const { params, query } = request
      const { token } = params
      const visit = await openVisit(db, token)
      const { share } = visit
      if (!isAdmitted(deps, share, query.access)) return reply.redirect(`/s/${token}`, 302)
      const item = await getSharedItem(db, visit, query.item ?? share.fileId)
      if (item.source !== 'folder') throw notFound('File')
      // Also for HEAD, which is no download.
      checkDownload(share)
      try {
        return await archives.send(request, reply, {
          of: {
            reader: visit.creator,
            sharedGuards: share.guards ?? [],
            rootIds: [item.id],
            includesLinks: false,
            // A folder may be moved out of the shared one while the archive is sent.
            mayRead: async (folderId) => (await queries.findSharedItem(db, visit, folderId)) !== undefined,
          },
          name: archiveNameOf([item]),
          receiver: { orgId: share.orgId, shareId: share.id },
          begin: async () => {
            await takeDownload(db, share)
            watchDownload(running, db, { token, share, item, isDisplayed: false, reply })
          },
        })
      } catch (error) {
        throw error instanceof ApiError ? forVisitors(error) : error
      }
    },
  )
}
