import { sendResource } from '../../platform/http/etag.ts'
import { apiPrefix, originOf } from '../../platform/http/http.ts'
import type { App } from '../../platform/http/http.ts'
import { Deleted, IdParams, Success, ok } from '../../platform/http/schemas.ts'
import type { FilesDeps } from '../deps.ts'
import { fileRecord } from '../record.ts'
import { File } from '../schemas.ts'
import { emptyTrash, restoreFile } from './trash.ts'

export const registerTrashRoutes = (app: App, deps: FilesDeps): void => {
  const { config } = deps

  app.post(
    `${apiPrefix}/files/:id/restore`,
    {
      config: { access: 'files:write', what: 'File', events: ['file.restored', 'folder.restored'] },
      schema: {
        tags: ['Files'],
        summary: 'Restore a file from the trash',
        description:
          'Restores a file or link, or a folder with everything that was deleted with it, to its old folder, or to the root when that is gone. The ID is one that the trash lists: NOT_FOUND for a file inside of a deleted folder. The trash counts towards the quotas, so a restore never exceeds one.',
        params: IdParams,
        response: { 200: Success(File) },
      },
    },
    async (request, reply) => {
      const { actor, params } = request
      const row = await restoreFile(request.db, actor, params.id)
      return sendResource(request, reply, fileRecord(row, actor.orgId, originOf(request, config.baseUrl)))
    },
  )

  app.delete(
    `${apiPrefix}/files/trash`,
    {
      config: { access: 'files:write' },
      schema: {
        tags: ['Files'],
        summary: 'Delete all files in the trash',
        description:
          'Deletes everything in the trash of the org permanently. It disappears from the trash at once; a large trash is removed from the quotas and the store in the background.',
        response: { 200: Success(Deleted) },
      },
    },
    async ({ actor }) => {
      await emptyTrash(deps, actor)
      return ok({ deleted: true as const })
    },
  )
}
