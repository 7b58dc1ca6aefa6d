import type { Actor } from '../../../identity/actor.ts'
import { eventTypes } from '../../../outbox/catalog.ts'
import type { EventType } from '../../../outbox/catalog.ts'
import { badRequest } from '../../../platform/http/errors.ts'
import { newId } from '../../../platform/ids.ts'
import { requireReadableType } from '../../visibility.ts'
import { exampleBody } from '../example.ts'
import type { TransformPreviewRequest } from '../schemas.ts'
import { TransformError } from './transformer.ts'
import type { Transformer } from './transformer.ts'

const inputOf = (actor: Actor, { type, event }: TransformPreviewRequest): string => {
  if ((type === undefined) === (event === undefined)) throw badRequest('Send either type or event')
  if (event !== undefined) return JSON.stringify(event)
  const known = (Object.keys(eventTypes) as EventType[]).find((one) => one === type)
  if (known === undefined) throw badRequest('type must be one of GET /event-types')
  requireReadableType(actor, known)
  return exampleBody(actor, known, newId()).toString()
}

/** The result of a transform for an example. BAD_REQUEST with the whole message of its error: the caller knows the event. */
export const previewTransform = async (actor: Actor, transformer: Transformer, asked: TransformPreviewRequest) => {
  const input = inputOf(actor, asked)
  const { transform } = asked
  try {
    const body = await transformer.apply({ orgId: actor.orgId, userId: actor.userId, key: 'preview', transform }, input)
    return { event: JSON.parse(input) as Record<string, unknown>, result: JSON.parse(body) as Record<string, unknown> }
  } catch (error) {
    throw error instanceof TransformError ? badRequest(`transform: ${error.message}`, { cause: error }) : error
  }
}
