import { verifyLinear } from '../../platform/signatures/linear.ts'
import { readJson } from './body.ts'
import { bySecret, describe, headerOf, textAt } from './receiver.ts'
import type { Credential, Inbound, Message, Receiver } from './receiver.ts'

// Linear allows a minute, but repeats after a minute, too, and does not say that it stamps anew.
const toleranceSeconds = 300

const eventType = (payload: unknown): string =>
  [textAt(payload, 'type') ?? 'unknown', textAt(payload, 'action')]
    .filter((part) => part !== undefined)
    .join('.')
    .toLowerCase()

const fallbackId = (payload: unknown): string | undefined => {
  const id = textAt(payload, 'data', 'id')
  const version = textAt(payload, 'data', 'updatedAt')
  return id === undefined || version === undefined ? undefined : `${eventType(payload)}:${id}:${version}`
}

const normalise = (payload: unknown, _inbound: Inbound, { settings }: Credential): Message | undefined => {
  const actorId = textAt(payload, 'actor', 'id')
  const subject =
    textAt(payload, 'data', 'issue', 'id') ?? textAt(payload, 'data', 'issueId') ?? textAt(payload, 'data', 'id')
  if (subject === undefined || (actorId !== undefined && settings.ownIds?.includes(actorId))) return undefined
  const name = textAt(payload, 'data', 'issue', 'identifier') ?? textAt(payload, 'data', 'identifier')
  const sender = textAt(payload, 'actor', 'name') ?? 'Linear'
  return {
    chat: subject,
    title: `Linear: ${name ?? textAt(payload, 'data', 'title') ?? textAt(payload, 'data', 'name') ?? subject}`,
    sender,
    text: describe(
      `Linear event ${eventType(payload)} by ${sender}`,
      [name, textAt(payload, 'data', 'title') ?? textAt(payload, 'data', 'issue', 'title')]
        .filter((part) => part !== undefined)
        .join(' '),
      (textAt(payload, 'data', 'body') ?? textAt(payload, 'data', 'description'))?.slice(0, 4_000),
      textAt(payload, 'url'),
    ),
    replyTo: {},
  }
}

/** Linear: https://linear.app/developers/webhooks. */
export const linear: Receiver = {
  provider: 'linear',
  verify: bySecret((inbound, secret) => verifyLinear(inbound, secret, toleranceSeconds)),
  parse: ({ body }) => readJson(body),
  eventId: (payload, inbound) => headerOf(inbound, 'linear-delivery') ?? fallbackId(payload),
  isIdUnsigned: true,
  eventType,
  normalise,
}
