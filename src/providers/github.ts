import { badRequest } from '../platform/http/errors.ts'
import { verifyHubSignature } from '../platform/signatures/hub-signature.ts'
import { headerOf } from '../platform/signatures/signed-request.ts'
import type { SignedRequest, SignatureVerdict } from '../platform/signatures/signed-request.ts'
import { isForm, readForm, readJson, textAt } from './payload.ts'
import { bySecret, describeEvent, idHeader } from './provider.ts'
import type { ChatAdapter, InboundMessage, InboundRequest } from './provider.ts'

const typeHeader = 'X-GitHub-Event'
const maxQuoted = 4_000

/** https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries */
export const verifyGithub = (request: SignedRequest, secret: string): SignatureVerdict =>
  verifyHubSignature('X-Hub-Signature-256', request, secret)

/** GitHub sends JSON, or JSON in the form field `payload`, as the webhook is configured. */
const parse = (request: InboundRequest): Record<string, unknown> => {
  if (!isForm(request)) return readJson(request.body)
  const { payload } = readForm(request.body)
  if (payload === undefined) throw badRequest('The form has no field payload.')
  return readJson(Buffer.from(payload))
}

const eventType = (payload: unknown, request: InboundRequest): string => {
  const event = headerOf(request, typeHeader) ?? 'unknown'
  const action = textAt(payload, 'action')
  return action === undefined ? event : `${event}.${action}`
}

interface Subject {
  key: string
  title: string | undefined
  body: string | undefined
  url: string | undefined
}

/** The issue, pull request, discussion, branch or repository that an event is about. */
const subjectOf = (payload: unknown): Subject => {
  for (const kind of ['pull_request', 'issue', 'discussion'] as const) {
    const number = textAt(payload, kind, 'number')
    if (number === undefined) continue
    return {
      key: `#${number}`,
      title: textAt(payload, kind, 'title'),
      body: textAt(payload, kind, 'body'),
      url: textAt(payload, kind, 'html_url'),
    }
  }
  const ref = textAt(payload, 'ref')
  return {
    key: ref === undefined ? '' : ` ${ref}`,
    title: textAt(payload, 'head_commit', 'message'),
    body: undefined,
    url: textAt(payload, 'compare') ?? textAt(payload, 'repository', 'html_url'),
  }
}

const toMessage = (
  payload: unknown,
  request: InboundRequest,
  ownIds: readonly string[],
): InboundMessage | undefined => {
  const type = eventType(payload, request)
  const sender = textAt(payload, 'sender', 'login') ?? 'GitHub'
  const repository = textAt(payload, 'repository', 'full_name') ?? textAt(payload, 'organization', 'login')
  if (type.startsWith('ping') || repository === undefined || ownIds.includes(sender)) return undefined
  const { key, title, body, url } = subjectOf(payload)
  const comment = textAt(payload, 'comment', 'body') ?? textAt(payload, 'review', 'body')
  return {
    chat: `${repository}${key}`,
    title: `GitHub: ${repository}${key}`,
    sender,
    text: describeEvent(
      `GitHub event ${type} in ${repository}${key} by ${sender}`,
      title,
      (comment ?? body)?.slice(0, maxQuoted),
      url,
    ),
    replyTo: {},
  }
}

/** GitHub repositories and organizations: https://docs.github.com/webhooks. */
export const github: ChatAdapter = {
  verify: bySecret(verifyGithub),
  parse,
  eventId: idHeader('X-GitHub-Delivery'),
  sameBody: 'always',
  typeHeader,
  eventType,
  isPing: (request) => headerOf(request, typeHeader) === 'ping',
  toMessage,
}
