import type { Actor } from '../../identity/actor.ts'
import { eventTypes } from '../../outbox/catalog.ts'
import type { EventType } from '../../outbox/catalog.ts'
import { exampleId } from '../../outbox/types/fields.ts'
import { bodyOf } from './prepare.ts'

/** The body of an event that the caller could have caused now, with the example data of its type and `isTest: true`. */
export const exampleBody = (actor: Actor, type: EventType, id: string): Buffer => {
  const { subject, version, example } = eventTypes[type]
  const { orgId, userId, userName, apiKey } = actor
  const event = {
    id,
    orgId,
    type,
    version,
    workspaceId: null,
    actor: { type: 'user' as const, id: userId, name: userName, apiKeyId: apiKey?.id ?? null },
    subject: { type: subject, id: exampleId },
    ownerId: null,
    position: 0,
    sequence: 0,
    occurredAt: new Date().toISOString(),
    chainId: id,
    depth: 0,
    data: example,
  }
  return bodyOf(event, { isTest: true })
}
