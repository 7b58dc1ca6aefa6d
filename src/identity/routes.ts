import { apiPrefix } from '../platform/http/http.ts'
import type { App } from '../platform/http/http.ts'
import { ok, Success } from '../platform/http/schemas.ts'
import { registerApiKeyRoutes } from './api-keys/routes.ts'
import { registerAppRoutes } from './apps/routes.ts'
import { registerOAuthRoutes } from './apps/oauth-routes.ts'
import type { AppDeps } from './apps/deps.ts'
import { registerAuditRoutes } from './audit/routes.ts'
import { registerAuthRoutes } from './sign-in/routes.ts'
import { registerInvitationRoutes } from './members/invitation-routes.ts'
import { registerMemberRoutes } from './members/routes.ts'
import * as queries from './queries.ts'
import { Me } from './schemas.ts'
import type { SignInContext } from './sign-in/context.ts'
import { registerWorkspaceMemberRoutes } from './members/workspace-member-routes.ts'
import { registerWorkspaceRoutes } from './members/workspace-routes.ts'

export interface IdentityRouteDeps extends AppDeps {
  signIn: SignInContext
}

export const registerIdentityRoutes = (app: App, deps: IdentityRouteDeps): void => {
  const { db } = deps
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
    async (request) => {
      const { actor } = request
      const workspace =
        actor.workspaceId === null ? undefined : await queries.findWorkspaceName(db, actor, actor.workspaceId)
      return ok({
        user: { id: actor.userId, email: actor.email, name: actor.userName },
        org: { id: actor.orgId, name: actor.orgName },
        workspace: workspace ?? null,
        role: actor.role,
        permissions: [...actor.permissions],
        apiKey: actor.apiKey && { ...actor.apiKey, scopes: [...actor.apiKey.scopes] },
      })
    },
  )
}
