import { verifyTelegram } from '../../platform/signatures/telegram.ts'
import { readJson } from './body.ts'
import { at, bySecret, integerAt, textAt } from './receiver.ts'
import type { Message, Receiver, ReplyRequest } from './receiver.ts'

/** https://core.telegram.org/bots/api#update: the kind of an update is the name of its other field. */
const kindOf = (update: unknown): string =>
  Object.keys(update as object).find((key) => key !== 'update_id') ?? 'unknown'

const nameOf = (person: unknown): string =>
  [textAt(person, 'first_name'), textAt(person, 'last_name')].filter((name) => name !== undefined).join(' ') ||
  (textAt(person, 'username') ?? 'Somebody')

const normalise = (update: unknown): Message | undefined => {
  const message = at(update, 'message')
  const chatId = at(message, 'chat', 'id')
  const text = textAt(message, 'text') ?? textAt(message, 'caption')
  const isBot = at(message, 'from', 'is_bot') === true || at(message, 'via_bot') !== undefined
  if (typeof chatId !== 'number' || text === undefined || isBot) return undefined
  // Topics of a forum are conversations of their own.
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
  json: { chat_id: '{chat}', text: '{text}', message_thread_id: '{topic}' },
})

/** Telegram bots: https://core.telegram.org/bots/api#setwebhook. */
export const telegram: Receiver = {
  provider: 'telegram',
  verify: bySecret(verifyTelegram),
  parse: ({ body }) => readJson(body),
  eventId: (update) => textAt(update, 'update_id'),
  eventType: kindOf,
  normalise,
  // sendMessage takes no key by which a second one would be known.
  reply: { maxLength: 4_096, isRepeatable: () => false, request },
}
