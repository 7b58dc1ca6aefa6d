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
      schema: { tags, summary: 'Models that agents may run on', response: { 200: Success(CursorList(Model)) } },
    },
    () => ok({ items: [...models.models], nextCursor: null }),
  )

  app.get(
    `${apiPrefix}/agents`,
    {
      config: { access: 'agents:read' },
      schema: {
        tags,
        summary: "Agents of the call's workspace and the org's default agent, last changed first",
        querystring: AgentListQuery,
        response: { 200: Success(CursorList(Agent)) },
      },
    },
    async ({ actor, query }) => {
      workspaceOf(actor)
      await ensureDefaultAgent(actor)
      return ok(await agents.listAgents(db, actor, query))
    },
  )

  app.post(
    `${apiPrefix}/agents`,
    {
      config: { access: 'agents:write', errors: ['PAYMENT_REQUIRED'] },
      schema: { tags, summary: 'Create an agent', body: AgentCreate, response: { 201: Success(Agent) } },
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
      schema: { tags, summary: 'One agent', params: AgentParams, response: { 200: Success(Agent) } },
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
      config: { access: 'agents:write', what },
      schema: {
        tags,
        summary: 'Change an agent',
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
      config: { access: 'agents:write', what },
      schema: { tags, summary: 'Delete an agent', params: AgentParams, response: { 200: Success(Deleted) } },
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
        summary: 'Agents that this agent may message',
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
