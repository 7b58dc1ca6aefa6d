import type { FastifyRequest } from 'fastify'
import { apiPrefix } from '../platform/http/http.ts'
import type { App } from '../platform/http/http.ts'
import { ok, Patch, Success } from '../platform/http/schemas.ts'
import { rejectTags } from '../platform/http/etag.ts'
import type { Actor } from './actor.ts'
import { registerApiKeyRoutes } from './api-keys/routes.ts'
import { registerAppRoutes } from './apps/routes.ts'
import { registerOAuthRoutes } from './apps/oauth-routes.ts'
import type { AppDeps } from './apps/deps.ts'
import { registerAuditRoutes } from './audit/routes.ts'
import { requireSession } from './sign-in/session-authority.ts'
import { registerAuthRoutes } from './sign-in/routes.ts'
import { registerInvitationRoutes } from './members/invitation-routes.ts'
import { logoUrlOf } from './members/logo-routes.ts'
import { registerOrgRoutes } from './members/org-routes.ts'
import type { MemberRouteDeps, OrgRouteDeps } from './members/deps.ts'
import { renameSelf, setLanguage } from './members/profile.ts'
import { registerMemberRoutes } from './members/routes.ts'
import * as queries from './queries.ts'
import { Me, MeChange } from './schemas.ts'
import type { SignInContext } from './sign-in/context.ts'
import { registerWorkspaceMemberRoutes } from './members/workspace-member-routes.ts'
import { registerWorkspaceRoutes } from './members/workspace-routes.ts'

export interface IdentityRouteDeps extends AppDeps, OrgRouteDeps, MemberRouteDeps {
  signIn: SignInContext
}

export const registerIdentityRoutes = (app: App, deps: IdentityRouteDeps): void => {
  const { config, db } = deps
  const callerOf = async (request: FastifyRequest, actor: Actor) => {
    const { apiKey } = actor
    const { language = null, logoVersion = null, workspace = null } = (await queries.findCaller(db, actor)) ?? {}
    return {
      user: { id: actor.userId, email: actor.email, name: actor.userName, language },
      org: {
        id: actor.orgId,
        name: actor.orgName,
        logoUrl: logoUrlOf(request, config.baseUrl, { id: actor.orgId, logoVersion }),
      },
      workspace,
      role: actor.role,
      permissions: [...actor.permissions],
      apiKey: apiKey && { ...apiKey, scopes: [...apiKey.scopes] },
    }
  }
  registerOrgRoutes(app, deps)
  registerWorkspaceRoutes(app, db)
  registerWorkspaceMemberRoutes(app, db)
  registerMemberRoutes(app, deps)
  registerInvitationRoutes(app, deps)
  registerApiKeyRoutes(app, deps)
  registerAppRoutes(app, deps)
  registerOAuthRoutes(app, deps)
  registerAuthRoutes(app, deps)
  registerAuditRoutes(app, db)

  app.get(
    `${apiPrefix}/me`,
    {
      config: { access: 'member' },
      schema: {
        tags: ['Identity'],
        summary: 'Retrieve the caller',
        description: 'Returns the user, org, workspace and permissions of the credential.',
        response: { 200: Success(Me) },
      },
    },
    async (request) => ok(await callerOf(request, request.actor)),
  )

  app.patch(
    `${apiPrefix}/me`,
    {
      config: { access: 'member', events: ['member.updated'] },
      preHandler: rejectTags,
      schema: {
        tags: ['Identity'],
        summary: 'Change your name and language',
        description:
          'Changes the name and the language of a person who is signed in, in the org of the call; API keys get FORBIDDEN. Other orgs keep the values that they have.',
        body: Patch(MeChange),
        response: { 200: Success(Me) },
      },
    },
    async (request) => {
      const {
        actor,
        body: { name, language },
      } = request
      requireSession(actor)
      if (language !== undefined) await setLanguage(db, actor, language)
      const userName = name === undefined ? actor.userName : await renameSelf(db, actor, name)
      return ok(await callerOf(request, { ...actor, userName }))
    },
  )
}
