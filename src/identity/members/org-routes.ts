import type { Database } from '../../platform/database/database.ts'
import { rejectTags } from '../../platform/http/etag.ts'
import { apiPrefix } from '../../platform/http/http.ts'
import type { App } from '../../platform/http/http.ts'
import { ok, Patch, Success } from '../../platform/http/schemas.ts'
import { OrgChange, OrgSettings } from '../schemas.ts'
import { getOrg, renameOrg } from './orgs.ts'

const tags = ['Org']

export const registerOrgRoutes = (app: App, db: Database): void => {
  app.get(
    `${apiPrefix}/org`,
    {
      config: { access: 'member' },
      schema: {
        tags,
        summary: 'Retrieve the org',
        description: 'Returns the org of the call.',
        response: { 200: Success(OrgSettings) },
      },
    },
    async ({ actor }) => ok(await getOrg(db, actor.orgId)),
  )

  app.patch(
    `${apiPrefix}/org`,
    {
      config: { access: 'org:write', events: ['org.updated'] },
      preHandler: rejectTags,
      schema: {
        tags,
        summary: 'Rename the org',
        description: 'Changes the name of the org of the call.',
        body: Patch(OrgChange),
        response: { 200: Success(OrgSettings) },
      },
    },
    async ({ actor, body: { name } }) =>
      ok(
        name === undefined
          ? await getOrg(db, actor.orgId)
          : await db.transaction(actor, (db) => renameOrg(db, actor, name)),
      ),
  )
}
