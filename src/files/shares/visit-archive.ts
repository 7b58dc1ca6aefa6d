import { Type } from 'typebox'
import { ApiError, notFound } from '../../platform/http/errors.ts'
import type { App } from '../../platform/http/http.ts'
import { archiveNameOf } from '../archive/archive.ts'
import { ArchiveLimit } from '../archive/limits.ts'
import type { ArchiveSender } from '../archive/send-archive.ts'
import * as queries from './queries.ts'
import { Rejection, texts } from './texts.ts'
import { watchDownload } from './running.ts'
import type { VisitContext } from './running.ts'
import { checkDownload, getSharedItem, isAdmitted, openVisit, takeDownload } from './visits.ts'
import type { VisitDeps } from './visits.ts'

const reasonOf = ({ cause, code }: ApiError): Rejection['reason'] | undefined => {
  if (!(cause instanceof ArchiveLimit)) return code === 'BAD_REQUEST' ? 'archiveSize' : undefined
  if (cause.limit === 'address') return 'archivesOfAddress'
  return cause.limit === 'share' ? 'archivesOfShare' : 'archivesOfOrg'
}

/** The same error with a message for visitors. */
const forVisitors = (error: ApiError): ApiError => {
  const { code, headers } = error
  const reason = reasonOf(error)
  if (reason === undefined) return error
  return new ApiError(code, texts.en.rejections[reason], { cause: new Rejection(reason), ...(headers && { headers }) })
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
