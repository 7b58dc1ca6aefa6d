import { workspaceOf } from '../identity/actor.ts'
import { sendResource } from '../platform/http/etag.ts'
import { apiPrefix } from '../platform/http/http.ts'
import type { App } from '../platform/http/http.ts'
import { CursorList, Deleted, ok, Success } from '../platform/http/schemas.ts'
import * as agents from './agents.ts'
import { registerConsentRoutes } from './consents/routes.ts'
import { cachedEnsureDefaultAgent } from './default-agent.ts'
import type { AgentDeps } from './deps.ts'
import { Agent, AgentCreate, AgentListQuery, AgentParams, AgentPatch, Model, Peer } from './schemas.ts'

const tags = ['Agents']
const what = 'Agent'

export const registerAgentRoutes = (app: App, deps: AgentDeps): void => {
  const { config, db, models, quotas, knownTools } = deps
  const rules = { catalog: models, defaultModel: config.defaultAgentModel, quotas, knownTools }
  const ensureDefaultAgent = cachedEnsureDefaultAgent(db, config.defaultAgentModel)

  app.get(
    `${apiPrefix}/models`,
    {
      config: { access: 'agents:read' },
      schema: {
        tags,
        summary: 'List models',
        description:
          'Returns the models of the catalog with their prices. An agent on a model that is not available takes no turns. The list has one page.',
        response: { 200: Success(CursorList(Model)) },
      },
    },
    () => ok({ items: [...models.models], nextCursor: null }),
  )

  app.get(
    `${apiPrefix}/agents`,
    {
      config: { access: 'agents:read' },
      schema: {
        tags,
        summary: 'List agents',
        description:
          'Returns the agents of the workspace and the default agent of the org, last changed first. Without `limit`, returns all of them, up to 1,000. The default agent is created by the first call.',
        querystring: AgentListQuery,
        response: { 200: Success(CursorList(Agent)) },
      },
    },
    async ({ actor, query }) => {
      workspaceOf(actor)
      await ensureDefaultAgent(actor)
      return ok(await agents.listAgents(db.replica, actor, query))
    },
  )

  app.post(
    `${apiPrefix}/agents`,
    {
      config: { access: 'agents:write', errors: ['PAYMENT_REQUIRED'], events: ['agent.created'] },
      schema: {
        tags,
        summary: 'Create an agent',
        description:
          'Creates an agent in the workspace of the call, with a slug made from its name. BAD_REQUEST for an unknown model and for the name of the default agent. PAYMENT_REQUIRED or FORBIDDEN when the quota `agents` of the org is used up.',
        body: AgentCreate,
        response: { 201: Success(Agent) },
      },
    },
    async (request, reply) => {
      const { actor, body } = request
      await ensureDefaultAgent(actor)
      reply.code(201)
      return sendResource(request, reply, await agents.createAgent(request.db, actor, rules, body))
    },
  )

  app.get(
    `${apiPrefix}/agents/:id`,
    {
      config: { access: 'agents:read', what },
      schema: {
        tags,
        summary: 'Retrieve an agent',
        description:
          'Returns an agent by its UUID or slug. NOT_FOUND when it does not exist or belongs to a workspace that the caller has no access to.',
        params: AgentParams,
        response: { 200: Success(Agent) },
      },
    },
    async (request, reply) => {
      // Only awaited when there is something to wait for: this read is frequent, and each await costs a microtask.
      const pending = ensureDefaultAgent(request.actor)
      if (pending) await pending
      return sendResource(request, reply, await agents.getAgent(db.hot, request.actor, request.params.id))
    },
  )

  app.patch(
    `${apiPrefix}/agents/:id`,
    {
      config: { access: 'agents:write', what, events: ['agent.updated'] },
      schema: {
        tags,
        summary: 'Update an agent',
        description:
          'Changes the fields that are sent. A new slug is updated in `allowedPeers` of all agents; CONFLICT when it is taken. Only owners and admins may change the default agent, which cannot be deactivated or moved to another model (FORBIDDEN) and keeps its slug.',
        params: AgentParams,
        body: AgentPatch,
        response: { 200: Success(Agent) },
      },
    },
    async (request, reply) => {
      const { actor, params, body, headers } = request
      await ensureDefaultAgent(actor)
      const agent = await agents.updateAgent(db, actor, rules, {
        idOrSlug: params.id,
        patch: body,
        ifMatch: headers['if-match'],
      })
      return sendResource(request, reply, agent)
    },
  )

  app.delete(
    `${apiPrefix}/agents/:id`,
    {
      config: { access: 'agents:write', what, events: ['agent.deleted'] },
      schema: {
        tags,
        summary: 'Delete an agent',
        description:
          'Deletes an agent. It disappears from lists and takes no more turns. FORBIDDEN for the default agent.',
        params: AgentParams,
        response: { 200: Success(Deleted) },
      },
    },
    async ({ actor, params, headers }) => {
      await ensureDefaultAgent(actor)
      await agents.deleteAgent(db, actor, params.id, headers['if-match'])
      return ok({ deleted: true as const })
    },
  )

  app.get(
    `${apiPrefix}/agents/:id/peers`,
    {
      config: { access: 'agents:read', what },
      schema: {
        tags,
        summary: 'List peers of an agent',
        description:
          'Returns the agents that this agent may message: those in `allowedPeers` that exist and are visible to the caller. The list has one page of at most 100 items.',
        params: AgentParams,
        response: { 200: Success(CursorList(Peer)) },
      },
    },
    async ({ actor, params }) => {
      await ensureDefaultAgent(actor)
      const agent = await agents.getAgent(db, actor, params.id)
      // allowedPeers has at most 100 items, so there is one page.
      return ok({ items: await agents.listPeers(db, actor, agent), nextCursor: null })
    },
  )

  registerConsentRoutes(app, deps)
}
