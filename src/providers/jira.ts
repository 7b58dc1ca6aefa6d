import { verifyHubSignature } from '../platform/signatures/hub-signature.ts'
import type { SignedRequest, SignatureVerdict } from '../platform/signatures/signed-request.ts'
import { readJson, textAt } from './payload.ts'
import { bySecret, describeEvent, idHeader } from './provider.ts'
import type { ChatAdapter, InboundMessage, InboundRequest } from './provider.ts'

const maxQuoted = 4_000

/** https://developer.atlassian.com/cloud/jira/platform/webhooks/#secure-admin-webhooks */
export const verifyJira = (request: SignedRequest, secret: string): SignatureVerdict =>
  verifyHubSignature('X-Hub-Signature', request, secret)

const eventType = (payload: unknown): string =>
  textAt(payload, 'webhookEvent')
    ?.replace(/^jira:/, '')
    .toLowerCase() ?? 'unknown'

const toMessage = (
  payload: unknown,
  _request: InboundRequest,
  ownIds: readonly string[],
): InboundMessage | undefined => {
  const key = textAt(payload, 'issue', 'key')
  const actorId = textAt(payload, 'user', 'accountId') ?? textAt(payload, 'comment', 'author', 'accountId')
  if (key === undefined || (actorId !== undefined && ownIds.includes(actorId))) return undefined
  const sender = textAt(payload, 'user', 'displayName') ?? textAt(payload, 'comment', 'author', 'displayName') ?? 'Jira'
  return {
    chat: key,
    title: `Jira: ${key}`,
    sender,
    text: describeEvent(
      `Jira event ${eventType(payload)} on ${key} by ${sender}`,
      textAt(payload, 'issue', 'fields', 'summary'),
      textAt(payload, 'comment', 'body')?.slice(0, maxQuoted),
    ),
    replyTo: {},
  }
}

/** Jira: https://developer.atlassian.com/cloud/jira/platform/webhooks. */
export const jira: ChatAdapter = {
  verify: bySecret(verifyJira),
  parse: ({ body }) => readJson(body),
  eventId: idHeader('X-Atlassian-Webhook-Identifier'),
  sameBody: 'always',
  eventType,
  toMessage,
}
