import { badRequest } from '../../platform/http/errors.ts'
import { accepted, missing, rejected } from '../../platform/signatures/signed-request.ts'
import type { Verdict } from '../../platform/signatures/signed-request.ts'
import { readJson } from './body.ts'
import type { FetchDocument, ReadToken } from './google-token.ts'
import { headerOf, textAt } from './receiver.ts'
import type { Credential, Inbound, Message, Receiver } from './receiver.ts'

const leewaySeconds = 60

const bearerOf = (inbound: Inbound): string | undefined =>
  /^bearer ([\w-]+\.[\w-]+\.[\w-]+)$/i.exec(headerOf(inbound, 'authorization') ?? '')?.[1]

const verify = async (readToken: ReadToken, inbound: Inbound, { url, settings }: Credential): Promise<Verdict> => {
  const token = bearerOf(inbound)
  const { serviceAccount } = settings
  if (serviceAccount === undefined) return rejected('The endpoint names no service account.')
  if (token === undefined) return missing('Authorization')
  const claims = await readToken(token, url, inbound.nowMs)
  if (claims === undefined) return rejected('The token is not one of Google for this endpoint, or it is stale.')
  // A token from a future that the leeway does not reach was not made by Google just now.
  if ((claims.iat ?? 0) > inbound.nowMs / 1_000 + leewaySeconds) return rejected('The token is from the future.')
  const isSender = claims['email'] === serviceAccount && claims['email_verified'] === true
  return isSender ? accepted : rejected('The token is that of another account.')
}

interface Push {
  messageId: string | undefined
  emailAddress: string | undefined
  historyId: string | undefined
}

const parse = ({ body }: Inbound): Push => {
  const push = readJson(body)
  const data = textAt(push, 'message', 'data')
  const messageId = textAt(push, 'message', 'messageId') ?? textAt(push, 'message', 'message_id')
  if (messageId === undefined) throw badRequest('The body is not a push of Pub/Sub.')
  if (data === undefined) return { messageId, emailAddress: undefined, historyId: undefined }
  const notice = readJson(Buffer.from(data, 'base64'))
  return { messageId, emailAddress: textAt(notice, 'emailAddress'), historyId: textAt(notice, 'historyId') }
}

// The token says who sent it, not what: a push is a hint to look, and nothing in it is told as fact.
const normalise = (push: unknown): Message | undefined => {
  const { emailAddress, historyId } = push as Push
  if (emailAddress === undefined || historyId === undefined) return undefined
  return {
    chat: emailAddress,
    title: `Gmail: ${emailAddress}`,
    sender: 'Gmail',
    text: `Something changed in the mailbox ${emailAddress} (history id ${historyId}). Look there for what is new.`,
    replyTo: {},
  }
}

/** Gmail by Cloud Pub/Sub: https://developers.google.com/workspace/gmail/api/guides/push. */
export const createGmail = (fetchDocument: FetchDocument): Receiver => {
  // At the first push: what reads tokens is 46 modules, for a server that may never get one.
  let reader: Promise<ReadToken> | undefined
  const loadReader = (): Promise<ReadToken> =>
    (reader ??= import('./google-token.ts').then(({ createTokenReader }) =>
      createTokenReader(fetchDocument, leewaySeconds),
    ))
  return {
    provider: 'gmail',
    verify: async (inbound, { url, ...credential }) =>
      verify(await loadReader(), inbound, { ...credential, url: url.split('?', 1)[0] ?? url }),
    parse,
    eventId: (push) => (push as Push).messageId,
    eventType: () => 'mailbox.changed',
    normalise,
  }
}
