import type { Database } from '../platform/database.ts'
import { notFound } from '../platform/errors.ts'
import type { Received } from './sources.ts'
import type { NewEvent } from './event-queries.ts'
import { fieldOf, parsePayload } from './payload.ts'
import { eventOf } from './receive.ts'
import { ensureBuiltin } from './webhooks.ts'
import type { WebhookRules } from './webhooks.ts'

export const linear = { builtin: 'linear', name: 'Linear' } as const

export interface LinearDeps extends Pick<WebhookRules, 'secrets'> {
  db: Database
  orgsOfAccount: (db: Database, provider: string, accountId: string) => Promise<string[]>
}

/**
 * The events that a verified request of Linear is: one in each org that has a connection to the organization it came
 * from. NOT_FOUND when there is none, or when none of them listens.
 */
export const eventsOfLinear = async (deps: LinearDeps, request: Received): Promise<NewEvent[]> => {
  const { db, orgsOfAccount } = deps
  const payload = parsePayload(request.body, 'application/json')
  const organizationId = fieldOf(payload, 'organizationId')
  const orgs = organizationId === undefined ? [] : await orgsOfAccount(db, linear.builtin, organizationId)
  const events: NewEvent[] = []
  for (const orgId of orgs) {
    const receiver = await ensureBuiltin(db, deps, orgId, linear)
    // However the org has named its source by now: it is Linear that sends here.
    const source = linear.builtin
    if (receiver.status !== 'disabled') events.push(eventOf({ ...receiver, source }, request, payload))
  }
  if (events.length === 0) throw notFound('Webhook')
  return events
}
