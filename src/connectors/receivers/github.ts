import { verifyGithub } from '../../platform/signatures/github.ts'
import { readJsonOrPayload } from './body.ts'
import { bySecret, describe, headerOf, textAt } from './receiver.ts'
import type { Inbound, Message, Receiver } from './receiver.ts'

const eventType = (payload: unknown, inbound: Inbound): string => {
  const event = headerOf(inbound, 'x-github-event') ?? 'unknown'
  const action = textAt(payload, 'action')
  return action === undefined ? event : `${event}.${action}`
}

/** What an event is about: an issue, a pull request, a commit's branch, the repository. */
const subjectOf = (
  payload: unknown,
): { key: string; title: string | undefined; body: string | undefined; url: string | undefined } => {
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

const maxQuoted = 4_000

const normalise = (payload: unknown, inbound: Inbound, ownIds: string[]): Message | undefined => {
  const type = eventType(payload, inbound)
  const sender = textAt(payload, 'sender', 'login') ?? 'GitHub'
  const repository = textAt(payload, 'repository', 'full_name') ?? textAt(payload, 'organization', 'login')
  if (type.startsWith('ping') || repository === undefined || ownIds.includes(sender)) return undefined
  const { key, title, body, url } = subjectOf(payload)
  const comment = textAt(payload, 'comment', 'body') ?? textAt(payload, 'review', 'body')
  return {
    chat: `${repository}${key}`,
    title: `GitHub: ${repository}${key}`,
    sender,
    text: describe(
      `GitHub event ${type} in ${repository}${key} by ${sender}`,
      title,
      (comment ?? body)?.slice(0, maxQuoted),
      url,
    ),
    replyTo: {},
  }
}

/** GitHub repositories and organisations: https://docs.github.com/webhooks. */
export const github: Receiver = {
  provider: 'github',
  verify: bySecret(verifyGithub),
  parse: readJsonOrPayload,
  handshake: (_payload, inbound) =>
    headerOf(inbound, 'x-github-event') === 'ping' ? { status: 200, body: '' } : undefined,
  eventId: (_payload, inbound) => headerOf(inbound, 'x-github-delivery'),
  isIdUnsigned: true,
  eventType,
  normalise: (payload, inbound, { settings }) => normalise(payload, inbound, settings.ownIds ?? []),
}
