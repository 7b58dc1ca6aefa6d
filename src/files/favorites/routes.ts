import { rejectTags } from '../../platform/http/etag.ts'
import { apiPrefix, originOf } from '../../platform/http/http.ts'
import type { App } from '../../platform/http/http.ts'
import { Deleted, IdParams, Success, ok } from '../../platform/http/schemas.ts'
import type { FilesDeps } from '../deps.ts'
import { fileRecord } from '../record.ts'
import { noteOpened } from '../recent/recent.ts'
import { File } from '../schemas.ts'
import { addFavorite, removeFavorite } from './favorites.ts'

/** What a person notes about files for themselves. It changes nothing for others, so permission to read is enough. */
export const registerFavoriteRoutes = (app: App, { config, db }: FilesDeps): void => {
  app.put(
    `${apiPrefix}/files/:id/favorite`,
    {
      config: { access: 'files:read', what: 'File' },
      schema: {
        tags: ['Files'],
        summary: 'Add a file to the favorites',
        description:
          'Marks a file, folder or link as a favorite of the caller; of an API key, of the person who created it. Nobody else sees it. A favorite stays one when it is renamed, moved or restored from the trash. BAD_REQUEST for more than 1,000 favorites.',
        params: IdParams,
        response: { 200: Success(File) },
      },
    },
    async (request) => {
      const { actor, params } = request
      const row = await addFavorite(db, actor, params.id)
      return ok({ ...fileRecord(row, actor.orgId, originOf(request, config.baseUrl)), favorite: true })
    },
  )

  app.delete(
    `${apiPrefix}/files/:id/favorite`,
    {
      preHandler: rejectTags,
      config: { access: 'files:read', what: 'File' },
      schema: {
        tags: ['Files'],
        summary: 'Remove a file from the favorites',
        description: 'Removes a file from the favorites of the caller. A file that is none of them stays as it is.',
        params: IdParams,
        response: { 200: Success(Deleted) },
      },
    },
    async ({ actor, params }) => {
      await removeFavorite(db, actor, params.id)
      return ok({ deleted: true as const })
    },
  )

  app.put(
    `${apiPrefix}/files/:id/recent`,
    {
      config: { access: 'files:read', what: 'File' },
      schema: {
        tags: ['Files'],
        summary: 'Add a file to the recent files',
        description:
          'Puts a file among the recent files of the caller, as when they have opened it in the console. Uploads and changes do so by themselves, and downloads do not. Again within 5 minutes it changes nothing. Of each person the latest 200 files are kept. BAD_REQUEST for a folder.',
        params: IdParams,
        response: { 200: Success(File) },
      },
    },
    async (request) => {
      const { actor, params } = request
      const row = await noteOpened(db, actor, params.id)
      return ok(fileRecord(row, actor.orgId, originOf(request, config.baseUrl)))
    },
  )
}
