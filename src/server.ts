import { Readable } from 'node:stream'
import type { Deps } from './deps.ts'
import { registerAgentRoutes } from './agents/routes.ts'
import { registerConnectorRoutes } from './connectors/routes.ts'
import { registerBillingRoutes } from './billing/routes.ts'
import { registerEndpointRoutes } from './connectors/endpoints/routes.ts'
import { findOrgOfLinear, revokeConnectionsOf } from './connectors/connectors.ts'
import { createInbox } from './connectors/endpoints/inbox.ts'
import { createChatAdapters } from './providers/providers.ts'
import { createKeyFetch } from './connectors/endpoints/signing-keys.ts'
import { registerConsole } from './console/routes.ts'
import { registerContentOrigin } from './files/downloads/content-origin.ts'
import { registerEventChain } from './events/chain-hook.ts'
import { registerEventStreamRoutes } from './events/stream/routes.ts'
import { registerEventEndpointRoutes } from './events/endpoints/routes.ts'
import { registerEventRoutes } from './events/routes.ts'
import { registerFileRoutes } from './files/routes.ts'
import { registerAuthentication } from './identity/authentication.ts'
import { createIdentity } from './identity/identity.ts'
import { registerIdentityRoutes } from './identity/routes.ts'
import { registerOperations } from './operations.ts'
import { registerCors } from './platform/http/cors.ts'
import { createHttp, rejectUnknownEarly } from './platform/http/http.ts'
import type { App } from './platform/http/http.ts'
import { registerIdempotency } from './platform/http/idempotency/idempotency.ts'
import { openRateLimiter } from './platform/http/limits/rate-limit.ts'
import { registerLargeLists } from './platform/http/limits/large-lists.ts'
import { registerRouteLimits } from './platform/http/limits/route-limits.ts'
import { registerA2aRoutes } from './protocols/a2a/routes.ts'
import { registerMcpRoutes } from './protocols/mcp/routes.ts'
import { registerOpenAiEmbeddingRoutes } from './protocols/openai/embedding-routes.ts'
import { registerOpenAiRoutes } from './protocols/openai/routes.ts'
import { registerDavRoutes } from './protocols/webdav/routes.ts'
import { registerQuotaRoutes } from './quotas/routes.ts'
import { registerGuides } from './reference/guides.ts'
import { registerReference } from './reference/routes.ts'
import { createEmbeddingClient } from './sessions/embeddings/embedding-client.ts'
import { createEmbedder } from './sessions/embeddings/embeddings.ts'
import { registerEmbeddingRoutes } from './sessions/embeddings/routes.ts'
import { registerSessionRoutes } from './sessions/routes.ts'
import { createTurnStreams } from './sessions/streams/turn-streams.ts'
import { registerWebhookRoutes } from './webhooks/routes.ts'

const openHttp = (deps: Deps): App => {
  const { config, disk, log } = deps
  const app = createHttp({
    log,
    production: config.environment === 'production',
    trustProxy: config.trustProxy,
    baseUrl: config.baseUrl,
    connectionLimits: config.connectionLimits,
    isDiskFull: config.databaseUrl === undefined ? disk?.isFull : undefined,
  })
  registerOperations(app, deps)
  registerCors(app, config.corsOrigins)
  rejectUnknownEarly(app)
  return app
}

/** The HTTP server of a worker: health, readiness and metrics only. */
export const buildOperations = async (deps: Deps): Promise<App> => {
  const app = openHttp(deps)
  await app.ready()
  return app
}

/** The HTTP server with every route, not yet listening. */
export const buildServer = async (deps: Deps): Promise<App> => {
  const { config, db, log } = deps
  const app = openHttp(deps)
  const identity = createIdentity(deps)
  const { rateLimits, redisUrl } = config
  const limiter = await openRateLimiter({ rateLimits, redisUrl, log, ...deps.limiterOptions })
  app.addHook('onClose', () => limiter.close())
  registerContentOrigin(app, config.contentBaseUrl)
  // Each puts its hook first, so authentication, which is registered later, runs before the limits that need the caller.
  registerRouteLimits(app, { limiter, callerOf: ({ actor }) => actor?.apiKey?.id ?? actor?.userId })
  registerAuthentication(app, identity)
  registerIdempotency(app, { db, log, callerOf: ({ actor }) => actor })
  registerLargeLists(app, { readerOf: ({ actor }) => actor })
  registerEventChain(app, deps.chains)
  registerIdentityRoutes(app, {
    ...deps,
    signIn: identity.signIn,
    endConnections: (transaction, by, userId) => revokeConnectionsOf(transaction, deps.jobs, by, userId),
    makeLogo: (bytes, orgId, signal) =>
      deps.previewer.logo({ orgId, open: async () => Readable.from([bytes]) }, signal),
    isModel: (id) => deps.models.find(id)?.capabilities.embeddings === false,
  })
  registerQuotaRoutes(app, deps)
  registerFileRoutes(app, { ...deps, signingKeys: deps.secrets.deriveKeys('signed URLs') })
  registerAgentRoutes(app, deps)
  const sessionDeps = { ...deps, streams: createTurnStreams(deps) }
  registerSessionRoutes(app, sessionDeps)
  registerOpenAiRoutes(app, sessionDeps)
  const client = createEmbeddingClient({ ...deps, providers: config.modelProviders })
  app.addHook('onClose', () => client.close())
  const embedder = createEmbedder({ ...deps, client })
  registerEmbeddingRoutes(app, embedder)
  registerOpenAiEmbeddingRoutes(app, embedder)
  registerMcpRoutes(app, sessionDeps)
  registerA2aRoutes(app, sessionDeps)
  registerDavRoutes(app, deps)
  registerConnectorRoutes(app, { ...deps, sessions: identity.sessions })
  registerBillingRoutes(app, deps)
  const adapters = createChatAdapters({ fetchDocument: createKeyFetch(deps) })
  registerEndpointRoutes(app, { ...deps, adapters, inbox: createInbox(db, deps.jobs) })
  registerWebhookRoutes(app, {
    ...deps,
    orgOfLinear: async (...asked) => (await findOrgOfLinear(...asked))?.orgId,
  })
  registerEventRoutes(app, deps)
  registerEventStreamRoutes(app, deps)
  registerEventEndpointRoutes(app, deps)
  registerReference(app)
  registerGuides(app)
  await registerConsole(app, {
    contentOrigin: config.contentBaseUrl,
    uploadOrigin: config.directUploads ? await deps.objects.direct?.origin() : undefined,
  })
  await app.ready()
  return app
}
