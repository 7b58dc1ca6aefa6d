import type { Actor } from '../../identity/actor.ts'
import { badRequest, notFound } from '../../platform/http/errors.ts'
import { apiPrefix } from '../../platform/http/http.ts'
import type { App } from '../../platform/http/http.ts'
import { Bytes, IdParams } from '../../platform/http/schemas.ts'
import type { FilesDeps } from '../deps.ts'
import { archiveNameOf } from './archive.ts'
import { listArchived } from './queries.ts'
import { ArchiveQuery } from './schemas.ts'
import type { ArchiveSender } from './send-archive.ts'

const maxIds = 100
const isId = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

const idsOf = (text: string): string[] => {
  const ids = [...new Set(text.toLowerCase().split(','))]
  if (ids.length > maxIds || !ids.every((id) => isId.test(id))) {
    throw badRequest(`ids must be 1–${maxIds} ids of files, separated by commas`)
  }
  return ids
}

export const registerArchiveRoutes = (app: App, { db }: FilesDeps, archives: ArchiveSender): void => {
  const find = async (reader: Actor, ids: string[]) => {
    const roots = await listArchived(db, { reader }, ids)
    const readable = roots.filter(({ source, blobId }) => source === 'folder' || blobId !== null)
    if (readable.length < ids.length) throw notFound('File')
    return {
      of: { reader, rootIds: ids, includesLinks: true },
      name: archiveNameOf(roots),
      receiver: { orgId: reader.orgId, userId: reader.userId },
    }
  }
  const about =
    'The archive is made while it is sent. Names are in UTF-8; characters that Windows does not allow are replaced by `_`, and duplicates are numbered. Links have the bytes of their targets. Files that are deleted before their bytes are read, and pending ones, are left out. When bytes cannot be read, the connection is closed before the archive is complete, and it cannot be opened. At most 100,000 files and folders and 100 GB; TOO_MANY_REQUESTS, with the limit that is reached, for more than 4 archives of an org, or 2 of one person, at the same time, SERVICE_UNAVAILABLE with `Retry-After` when too many of these requests and searches wait.'

  app.get(
    `${apiPrefix}/files/:id/archive`,
    {
      config: { access: 'files:read', what: 'File', errors: ['BAD_REQUEST'] },
      schema: {
        tags: ['Files'],
        summary: 'Download a folder as a ZIP archive',
        description: `Returns a folder with everything in it, or a single file, as a ZIP archive. ${about}`,
        params: IdParams,
        response: { 200: Bytes('The archive.', 'application/zip') },
      },
    },
    async (request, reply) => archives.send(request, reply, await find(request.actor, [request.params.id])),
  )

  app.get(
    `${apiPrefix}/files/archive`,
    {
      config: { access: 'files:read', what: 'File', errors: ['BAD_REQUEST', 'NOT_FOUND'] },
      schema: {
        tags: ['Files'],
        summary: 'Download several files as a ZIP archive',
        description: `Returns files and folders, with everything in them, as one ZIP archive. NOT_FOUND when one of them does not exist. ${about}`,
        querystring: ArchiveQuery,
        response: { 200: Bytes('The archive.', 'application/zip') },
      },
    },
    async (request, reply) => archives.send(request, reply, await find(request.actor, idsOf(request.query.ids))),
  )
}
