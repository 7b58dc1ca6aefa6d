import { notFound } from '../../platform/http/errors.ts'
import { cleanText } from '../../platform/text/text.ts'
import { textAt } from '../../providers/payload.ts'
import type { InboundRequest } from '../../providers/provider.ts'
import type { WebhookDeps } from '../deps.ts'
import { ensureBuiltin } from '../webhooks.ts'
import { parsePayload } from './payload.ts'
import type { NewWebhookEvent } from './queries.ts'
import { eventOf } from './receive.ts'

const linear = { builtin: 'linear', name: 'Linear' } as const

/**
 * The event of a verified request of a Linear application, for the org that has bound the Linear organization.
 * NOT_FOUND if none has, or if that org has disabled its webhook: Linear then retries for some hours.
 */
export const eventOfLinear = async (deps: WebhookDeps, request: InboundRequest): Promise<NewWebhookEvent> => {
  const { db, orgOfLinear } = deps
  const payload = parsePayload(request.body, 'application/json')
  const organizationId = cleanText(textAt(payload, 'organizationId') ?? '')
  const orgId = organizationId === '' ? undefined : await orgOfLinear(db, organizationId)
  if (orgId === undefined) throw notFound('Webhook')
  const webhook = await ensureBuiltin(db, deps, orgId, linear)
  if (webhook.status === 'disabled') throw notFound('Webhook')
  // The org may have changed the source of its webhook, but the sender is always Linear.
  return eventOf({ ...webhook, source: linear.builtin }, request, payload)
}
