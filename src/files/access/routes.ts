import { apiPrefix } from '../../platform/http/http.ts'
import type { App } from '../../platform/http/http.ts'
import { IdParams, Success, ok } from '../../platform/http/schemas.ts'
import type { FilesDeps } from '../deps.ts'
import { getAccess, setAccess } from './access.ts'
import { FolderAccess, FolderAccessPut } from './schemas.ts'

export const registerAccessRoutes = (app: App, { db }: FilesDeps): void => {
  app.get(
    `${apiPrefix}/files/:id/access`,
    {
      config: { access: 'files:read', what: 'File' },
      schema: {
        tags: ['Files'],
        summary: 'Retrieve who may see a file',
        description:
          'Returns whether a folder is restricted and whom it is open to, and the restricted folders that contain it. Owners of the org have access to all files and are not listed.',
        params: IdParams,
        response: { 200: Success(FolderAccess) },
      },
    },
    async ({ actor, params }) => ok(await getAccess(db, actor, params.id)),
  )

  app.put(
    `${apiPrefix}/files/:id/access`,
    {
      config: { access: 'files:write', what: 'File', errors: ['CONFLICT'], events: ['folder.access_changed'] },
      schema: {
        tags: ['Files'],
        summary: 'Change who may see a folder',
        description:
          'Sets who sees a folder with everything in it: everyone who sees its parent, or only the people, workspaces and roles that are named, and owners of the org. A folder inside of a restricted folder can only be restricted further. For owners, admins and the person who created the folder, with write access to it: FORBIDDEN for others. BAD_REQUEST when the caller would lose their own write access, for a file or link, and for more than 100 grants or 1,000 restricted folders of the org. Links by which the folder or something in it was shared before stop working while it is restricted.',
        params: IdParams,
        body: FolderAccessPut,
        response: { 200: Success(FolderAccess) },
      },
    },
    async ({ actor, body, headers, params }) => {
      const { restricted, grants = [] } = body
      return ok(await setAccess(db, actor, params.id, { restricted, grants, ifMatch: headers['if-match'] }))
    },
  )
}
