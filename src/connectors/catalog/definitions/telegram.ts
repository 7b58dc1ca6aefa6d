import type { Connector } from '../definition.ts'

const chat = { type: ['string', 'integer'], description: 'ID of the chat, or @name of a public channel' }

export const connector: Connector = {
  slug: 'telegram',
  name: 'Telegram',
  category: 'communication',
  description: 'A Telegram bot: messages to people, groups and channels.',
  auth: {
    type: 'api_key',
    fields: [{ key: 'botToken', label: 'Bot token', required: true, secret: true, help: 'From @BotFather' }],
    check: { from: { method: 'GET', path: '/getMe' }, id: 'result.id', name: 'result.username' },
  },
  api: {
    baseUrl: 'https://api.telegram.org',
    pathPrefix: '/bot{botToken}',
    failure: { path: 'ok', is: 'false' },
    errorMessage: ['description'],
  },
  tools: [
    {
      name: 'send_message',
      description: 'Sends a text message to a chat of the bot or to a user who has messaged the bot before.',
      input: {
        chat_id: chat,
        text: { type: 'string', minLength: 1, maxLength: 4_096 },
        reply_to: { type: 'integer', description: 'message_id of the message to reply to' },
      },
      required: ['chat_id', 'text'],
      isReadOnly: false,
      request: (input) => ({
        method: 'POST',
        segments: ['sendMessage'],
        json: {
          chat_id: input['chat_id'],
          text: input['text'],
          ...(input['reply_to'] === undefined ? {} : { reply_parameters: { message_id: input['reply_to'] } }),
        },
      }),
      output: ['result.message_id', 'result.date'],
    },
    {
      name: 'send_photo',
      description: 'Sends a photo by its public URL.',
      input: {
        chat_id: chat,
        photo: { type: 'string', format: 'uri', pattern: '^https?://' },
        caption: { type: 'string', maxLength: 1_024 },
      },
      required: ['chat_id', 'photo'],
      isReadOnly: false,
      request: {
        method: 'POST',
        path: '/sendPhoto',
        json: { chat_id: '{chat_id}', photo: '{photo}', caption: '{caption}' },
      },
      output: ['result.message_id', 'result.date'],
    },
    {
      name: 'edit_message',
      description: 'Edits the text of a message that the bot sent.',
      input: {
        chat_id: chat,
        message_id: { type: 'integer' },
        text: { type: 'string', minLength: 1, maxLength: 4_096 },
      },
      required: ['chat_id', 'message_id', 'text'],
      isReadOnly: false,
      request: {
        method: 'POST',
        path: '/editMessageText',
        json: { chat_id: '{chat_id}', message_id: '{message_id}', text: '{text}' },
      },
      output: ['result.message_id', 'result.edit_date'],
    },
    {
      name: 'get_chat',
      description: 'Gets the title, type and description of a chat.',
      input: { chat_id: chat },
      required: ['chat_id'],
      isReadOnly: true,
      request: { method: 'POST', path: '/getChat', json: { chat_id: '{chat_id}' } },
      output: [
        'result.id',
        'result.type',
        'result.title',
        'result.username',
        'result.first_name',
        'result.description',
      ],
    },
    {
      name: 'list_administrators',
      description: 'Lists the administrators of a group or channel.',
      input: { chat_id: chat },
      required: ['chat_id'],
      isReadOnly: true,
      request: { method: 'POST', path: '/getChatAdministrators', json: { chat_id: '{chat_id}' } },
      output: ['result.status', 'result.user.id', 'result.user.username', 'result.user.first_name'],
    },
  ],
}
