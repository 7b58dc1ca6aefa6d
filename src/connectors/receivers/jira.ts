import { verifyJira } from '../../platform/signatures/jira.ts'
import { readJson } from './body.ts'
import { bySecret, describe, headerOf, textAt } from './receiver.ts'
import type { Credential, Inbound, Message, Receiver } from './receiver.ts'

const eventType = (payload: unknown): string =>
  textAt(payload, 'webhookEvent')
    ?.replace(/^jira:/, '')
    .toLowerCase() ?? 'unknown'

const normalise = (payload: unknown, _inbound: Inbound, { settings }: Credential): Message | undefined => {
  const key = textAt(payload, 'issue', 'key')
  const actorId = textAt(payload, 'user', 'accountId') ?? textAt(payload, 'comment', 'author', 'accountId')
  if (key === undefined || (actorId !== undefined && settings.ownIds?.includes(actorId))) return undefined
  const sender = textAt(payload, 'user', 'displayName') ?? textAt(payload, 'comment', 'author', 'displayName') ?? 'Jira'
  return {
    chat: key,
    title: `Jira: ${key}`,
    sender,
    text: describe(
      `Jira event ${eventType(payload)} on ${key} by ${sender}`,
      textAt(payload, 'issue', 'fields', 'summary'),
      textAt(payload, 'comment', 'body')?.slice(0, 4_000),
    ),
    replyTo: {},
  }
}

/** Jira: https://developer.atlassian.com/cloud/jira/platform/webhooks. */
export const jira: Receiver = {
  provider: 'jira',
  verify: bySecret(verifyJira),
  parse: ({ body }) => readJson(body),
  eventId: (_payload, inbound) => headerOf(inbound, 'x-atlassian-webhook-identifier'),
  isIdUnsigned: true,
  eventType,
  normalise,
}
