import { badRequest } from '../platform/http/errors.ts'
import { accepted, headerOf, missing, rejected } from '../platform/signatures/signed-request.ts'
import type { SignatureVerdict } from '../platform/signatures/signed-request.ts'
import type { FetchDocument, ReadToken } from './google-token.ts'
import { readJson, textAt } from './payload.ts'
import type { ChatAdapter, Credentials, InboundMessage, InboundRequest } from './provider.ts'

const leewaySeconds = 60

const bearerOf = (request: InboundRequest): string | undefined =>
  /^bearer ([\w-]+\.[\w-]+\.[\w-]+)$/i.exec(headerOf(request, 'authorization') ?? '')?.[1]

const verify = async (
  readToken: ReadToken,
  request: InboundRequest,
  { serviceAccount }: Credentials,
): Promise<SignatureVerdict> => {
  const token = bearerOf(request)
  if (serviceAccount === undefined) return rejected('No service account is configured.')
  if (token === undefined) return missing('Authorization')
  const { url, nowMs } = request
  const audience = url.split('?', 1)[0] ?? url
  const claims = await readToken(token, audience, nowMs)
  if (claims === undefined) return rejected('The token was not issued by Google for this endpoint, or it is stale.')
  // jose checks only that the token has not expired.
  if ((claims.iat ?? 0) > nowMs / 1_000 + leewaySeconds) return rejected('The token was issued in the future.')
  const isSender = claims['email'] === serviceAccount && claims['email_verified'] === true
  return isSender ? accepted : rejected('The token belongs to another service account.')
}

interface Push {
  messageId: string | undefined
  emailAddress: string | undefined
  historyId: string | undefined
}

const parse = ({ body }: InboundRequest): Push => {
  const push = readJson(body)
  const data = textAt(push, 'message', 'data')
  const messageId = textAt(push, 'message', 'messageId') ?? textAt(push, 'message', 'message_id')
  if (messageId === undefined) throw badRequest('The body is not a Pub/Sub push message.')
  if (data === undefined) return { messageId, emailAddress: undefined, historyId: undefined }
  const notice = readJson(Buffer.from(data, 'base64'))
  return { messageId, emailAddress: textAt(notice, 'emailAddress'), historyId: textAt(notice, 'historyId') }
}

// The token proves the sender of the push but not its content, so the message repeats only the mailbox from it.
const toMessage = (push: unknown): InboundMessage | undefined => {
  const { emailAddress, historyId } = push as Push
  if (emailAddress === undefined || historyId === undefined) return undefined
  return {
    chat: emailAddress,
    title: `Gmail: ${emailAddress}`,
    sender: 'Gmail',
    text: `The mailbox ${emailAddress} has changed (history id ${historyId}). Check it for new messages.`,
    replyTo: {},
  }
}

/** Gmail by Cloud Pub/Sub: https://developers.google.com/workspace/gmail/api/guides/push. */
export const createGmail = (fetchDocument: FetchDocument): ChatAdapter => {
  // Loaded with the first push: verifying tokens needs 46 modules, which a server without Gmail does not use.
  let reader: Promise<ReadToken> | undefined
  const loadReader = (): Promise<ReadToken> =>
    (reader ??= import('./google-token.ts').then(({ createTokenReader }) =>
      createTokenReader(fetchDocument, leewaySeconds),
    ))
  return {
    verify: async (request, credentials) => verify(await loadReader(), request, credentials),
    parse,
    eventId: (push) => textAt(push, 'messageId'),
    // A topic of Pub/Sub can have the notices of several mailboxes.
    isOf: (push, accountId) => {
      const { emailAddress = accountId } = push as Push
      return emailAddress.toLowerCase() === accountId.toLowerCase()
    },
    eventType: () => 'mailbox.changed',
    toMessage,
  }
}
