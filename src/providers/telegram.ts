import { verifySharedToken } from '../platform/signatures/shared-token.ts'
import { sha256 } from '../platform/signatures/signed-request.ts'
import type { SignedRequest, SignatureVerdict } from '../platform/signatures/signed-request.ts'
import { at, integerAt, readJson, textAt } from './payload.ts'
import { bySecret } from './provider.ts'
import type { ChatAdapter, InboundMessage, ReplyRequest } from './provider.ts'

/** `secret_token` of https://core.telegram.org/bots/api#setwebhook */
export const verifyTelegram = (request: SignedRequest, secret: string): SignatureVerdict =>
  verifySharedToken('X-Telegram-Bot-Api-Secret-Token', request, sha256(secret))

/** https://core.telegram.org/bots/api#update: the type of an update is the name of its field other than `update_id`. */
const eventType = (update: unknown): string =>
  Object.keys(update as object).find((key) => key !== 'update_id') ?? 'unknown'

const nameOf = (person: unknown): string =>
  [textAt(person, 'first_name'), textAt(person, 'last_name')].filter((name) => name !== undefined).join(' ') ||
  (textAt(person, 'username') ?? 'Somebody')

const toMessage = (update: unknown): InboundMessage | undefined => {
  const message = at(update, 'message')
  const chatId = at(message, 'chat', 'id')
  const text = textAt(message, 'text') ?? textAt(message, 'caption')
  const isBot = at(message, 'from', 'is_bot') === true || at(message, 'via_bot') !== undefined
  if (typeof chatId !== 'number' || text === undefined || isBot) return undefined
  // Each topic of a forum is a chat.
  const thread = at(message, 'is_topic_message') === true ? at(message, 'message_thread_id') : undefined
  const topic = typeof thread === 'number' ? thread : undefined
  const sender = nameOf(at(message, 'from'))
  const position = integerAt(message, 'message_id')
  return {
    chat: topic === undefined ? `${chatId}` : `${chatId}/${topic}`,
    title: `Telegram: ${textAt(message, 'chat', 'title') ?? sender}`,
    sender,
    text,
    ...(position === undefined ? {} : { position }),
    replyTo: { chat: chatId, ...(topic === undefined ? {} : { topic }) },
  }
}

const request = (): ReplyRequest => ({
  method: 'POST',
  path: '/sendMessage',
  json: {
    chat_id: '{chat}',
    text: '{text}',
    message_thread_id: '{topic}',
    link_preview_options: { is_disabled: true },
  },
})

/** Telegram bots: https://core.telegram.org/bots/api#setwebhook. */
export const telegram: ChatAdapter = {
  verify: bySecret(verifyTelegram),
  parse: ({ body }) => readJson(body),
  eventId: (update) => textAt(update, 'update_id'),
  eventType,
  toMessage,
  // sendMessage has no idempotency key.
  reply: { maxLength: 4_096, isRepeatable: () => false, request },
}
