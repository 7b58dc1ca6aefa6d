import { rejectTags } from '../../platform/http/etag.ts'
import { apiPrefix } from '../../platform/http/http.ts'
import type { App } from '../../platform/http/http.ts'
import { ok, Patch, Success } from '../../platform/http/schemas.ts'
import { OrgChange, OrgSettings } from '../schemas.ts'
import type { OrgRecordOf, OrgRouteDeps } from './deps.ts'
import { logoUrlOf, registerLogoRoutes } from './logo-routes.ts'
import { getOrg, updateOrg } from './orgs.ts'

const tags = ['Org']

export const registerOrgRoutes = (app: App, deps: OrgRouteDeps): void => {
  const { config, db, isModel } = deps
  const recordOf: OrgRecordOf = (request, org) => ({
    ...org,
    logoUrl: logoUrlOf(request, config.baseUrl, org),
  })
  registerLogoRoutes(app, deps, recordOf)

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
    async (request) => ok(recordOf(request, await getOrg(db, request.actor.orgId))),
  )

  app.patch(
    `${apiPrefix}/org`,
    {
      config: { access: 'org:write', events: ['org.updated'] },
      preHandler: rejectTags,
      schema: {
        tags,
        summary: 'Update the org',
        description:
          'Changes the name of the org of the call, and the defaults of what is created in it: the model of agents, the language of members, and the time zone. What exists keeps its model and language.',
        body: Patch(OrgChange),
        response: { 200: Success(OrgSettings) },
      },
    },
    async (request) => {
      const { actor, body } = request
      return ok(recordOf(request, await db.transaction(actor, (db) => updateOrg(db, actor, body, isModel))))
    },
  )
}
