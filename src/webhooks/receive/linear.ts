import type { Database } from '../../platform/database/database.ts'
import { notFound } from '../../platform/http/errors.ts'
import { cleanText } from '../../platform/text/text.ts'
import type { Received } from './sources.ts'
import type { NewEvent } from './queries.ts'
import { fieldOf, parsePayload } from './payload.ts'
import { eventOf } from './receive.ts'
import { ensureBuiltin } from '../webhooks.ts'
import type { WebhookRules } from '../webhooks.ts'

export const linear = { builtin: 'linear', name: 'Linear' } as const

export interface LinearDeps extends Pick<WebhookRules, 'secrets'> {
  db: Database
  orgOfLinear: (db: Database, organizationId: string) => Promise<string | undefined>
}

/**
 * The event that a verified request of Linear is, in the one org that has bound the organization it came from.
 * NOT_FOUND when no org has, or when that org has disabled the webhook: Linear then repeats the event for some hours.
 */
export const eventOfLinear = async (deps: LinearDeps, request: Received): Promise<NewEvent> => {
  const { db, orgOfLinear } = deps
  const payload = parsePayload(request.body, 'application/json')
  const organizationId = cleanText(fieldOf(payload, 'organizationId') ?? '')
  const orgId = organizationId === '' ? undefined : await orgOfLinear(db, organizationId)
  if (orgId === undefined) throw notFound('Webhook')
  const webhook = await ensureBuiltin(db, deps, orgId, linear)
  if (webhook.status === 'disabled') throw notFound('Webhook')
  // However the org has named its source by now: it is Linear that sends here.
  return eventOf({ ...webhook, source: linear.builtin }, request, payload)
}
