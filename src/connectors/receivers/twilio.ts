import { verifyTwilio } from '../../platform/signatures/twilio.ts'
import { readForm, readJson } from './body.ts'
import { bySecret, isForm, textAt } from './receiver.ts'
import type { Credential, Inbound, Message, Receiver, ReplyRequest } from './receiver.ts'

const parse = (inbound: Inbound): unknown =>
  isForm(inbound) ? readForm(inbound.body) : inbound.body.length === 0 ? {} : readJson(inbound.body)

const statusOf = (fields: unknown): string | undefined =>
  textAt(fields, 'MessageStatus') ?? textAt(fields, 'SmsStatus') ?? textAt(fields, 'CallStatus')

/** One message or call has many events: each of its states is one. */
const eventId = (fields: unknown): string | undefined => {
  const sid = textAt(fields, 'MessageSid') ?? textAt(fields, 'SmsSid') ?? textAt(fields, 'CallSid')
  if (sid === undefined) return textAt(fields, 'id') ?? textAt(fields, 'Sid')
  const status = statusOf(fields)
  return status === undefined ? sid : `${sid}:${status}`
}

const normalise = (fields: unknown, _inbound: Inbound, { settings }: Credential): Message | undefined => {
  const [from, to, account] = ['From', 'To', 'AccountSid'].map((key) => textAt(fields, key))
  const text = textAt(fields, 'Body')
  const status = textAt(fields, 'MessageStatus') ?? textAt(fields, 'SmsStatus') ?? 'received'
  if (from === undefined || to === undefined || account === undefined || text === undefined) return undefined
  if (textAt(fields, 'MessageSid') === undefined && textAt(fields, 'SmsSid') === undefined) return undefined
  // The other states are those of messages that were sent from here.
  if ((status !== 'received' && status !== 'receiving') || settings.ownIds?.includes(from)) return undefined
  return {
    chat: `${from}/${to}`,
    title: `Twilio: ${textAt(fields, 'ProfileName') ?? from}`,
    sender: textAt(fields, 'ProfileName') ?? from,
    text,
    replyTo: { to: from, from: to, account },
  }
}

const request = (): ReplyRequest => ({
  method: 'POST',
  path: '/Messages.json',
  form: { To: '{to}', From: '{from}', Body: '{text}' },
})

/** Twilio messages and calls: https://www.twilio.com/docs/usage/webhooks. */
export const twilio: Receiver = {
  provider: 'twilio',
  verify: bySecret(verifyTwilio),
  parse,
  eventId,
  eventType: (fields) => {
    const kind = textAt(fields, 'CallSid') === undefined ? 'message' : 'call'
    return `${kind}.${statusOf(fields) ?? 'received'}`
  },
  normalise,
  // TwiML that does nothing: the answer comes later, as a message of its own.
  acknowledge: () => ({ status: 200, contentType: 'text/xml; charset=utf-8', body: '<Response/>' }),
  reply: { maxLength: 1_600, isRepeatable: () => false, request },
}
