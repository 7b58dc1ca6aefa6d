import { registerBillingJobs } from './billing/jobs.ts'
import type { ChatRuntime } from './connectors/connectors.ts'
import { registerEndpointJobs } from './connectors/endpoints/jobs.ts'
import { createChatAdapters } from './providers/providers.ts'
import { createKeyFetch } from './connectors/endpoints/signing-keys.ts'
import type { Deps } from './deps.ts'
import { registerConnectionJobs } from './connectors/connections/jobs.ts'
import { createDispatcher } from './events/endpoints/dispatch.ts'
import { createPrepareEvent } from './events/endpoints/prepare.ts'
import { registerEventJobs } from './events/jobs.ts'
import { registerSubscriptions } from './outbox/subscriptions/subscriptions.ts'
import type { EventSubscription } from './outbox/subscriptions/subscriptions.ts'
import { registerFileJobs } from './files/blobs/reconciliation.ts'
import { registerAccessJobs } from './files/access/access.ts'
import { registerViewJobs } from './files/recent/recent.ts'
import { registerShareJobs } from './files/shares/shares.ts'
import { registerTrashJobs } from './files/trash/purge.ts'
import { registerVersionJobs } from './files/versions/retention.ts'
import { registerAuditRetention } from './identity/audit/retention.ts'
import { registerAuditSealer } from './identity/audit/sealer.ts'
import { registerSignInExpiry } from './identity/sign-in/expiry.ts'
import { registerKeyExpiry } from './platform/http/idempotency/idempotency.ts'
import { createPushDispatcher } from './protocols/a2a/push/dispatch.ts'
import { registerPushExpiry } from './protocols/a2a/push/expiry.ts'
import { createPrepareTask } from './protocols/a2a/push/prepare.ts'
import { registerDavExpiry } from './protocols/webdav/expiry.ts'
import { registerQuotaJobs } from './quotas/verify.ts'
import { beginConnectorTurn, findConnectorReply } from './sessions/connector-turns.ts'
import { registerSessionJobs } from './sessions/jobs.ts'
import { registerWebhookJobs } from './webhooks/jobs.ts'

/** The part of the agent runtime that chats of providers use. */
const chatRuntime = (deps: Deps): ChatRuntime => ({
  beginTurn: (...asked) => beginConnectorTurn(deps, ...asked),
  findReply: (orgId, turnId) => findConnectorReply(deps.db, orgId, turnId),
})

/** The subscriptions of every area to events, listed by hand. */
export const eventSubscriptions: readonly EventSubscription<Deps>[] = []

/** Every job handler, every schedule and what follows published events, listed by hand. Call it before `deps.jobs.start`. */
export const registerJobs = (deps: Deps, subscriptions = eventSubscriptions): void => {
  const { db, jobs } = deps
  registerKeyExpiry(jobs, db)
  registerSignInExpiry(jobs, db)
  registerAuditSealer(jobs, deps)
  registerAuditRetention(jobs, deps)
  registerFileJobs(jobs, deps)
  registerTrashJobs(jobs, deps)
  registerVersionJobs(jobs, deps)
  registerShareJobs(jobs, deps)
  registerAccessJobs(jobs, deps)
  registerViewJobs(jobs, deps)
  registerQuotaJobs(jobs, deps)
  registerSessionJobs(deps)
  registerWebhookJobs({ ...deps, prepareEvent: createPrepareEvent(deps), prepareTask: createPrepareTask(deps) })
  deps.publisher.onPublish(createDispatcher(deps))
  deps.publisher.onPublish(createPushDispatcher(deps))
  registerPushExpiry(jobs, db)
  registerDavExpiry(jobs, db)
  registerSubscriptions(deps, subscriptions)
  registerEventJobs(deps)
  registerConnectionJobs(jobs, deps)
  registerBillingJobs({ ...deps, payments: deps.billing.payments })
  const adapters = createChatAdapters({ fetchDocument: createKeyFetch(deps) })
  registerEndpointJobs(jobs, { ...deps, adapters, runtime: chatRuntime(deps) })
}
