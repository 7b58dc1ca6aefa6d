import type { Connector } from '../definition.ts'

const id = (what: string) => ({ type: 'string', pattern: '^[0-9]{15,22}$', description: `ID of the ${what}` })

export const connector: Connector = {
  slug: 'discord',
  name: 'Discord',
  category: 'communication',
  description: 'Channels and messages of the servers that a bot is in.',
  auth: {
    type: 'api_key',
    fields: [
      {
        key: 'botToken',
        label: 'Bot token',
        required: true,
        secret: true,
        help: 'From the Bot page of the application at discord.com/developers',
      },
    ],
    check: { from: { method: 'GET', path: '/users/@me' }, id: 'id', name: 'username' },
  },
  api: {
    baseUrl: 'https://discord.com',
    pathPrefix: '/api/v10',
    headers: { authorization: 'Bot {botToken}' },
    errorMessage: ['message'],
  },
  tools: [
    {
      name: 'list_servers',
      description: 'Lists the servers that the bot is in.',
      input: {},
      isReadOnly: true,
      request: { method: 'GET', path: '/users/@me/guilds' },
      output: ['id', 'name'],
    },
    {
      name: 'list_channels',
      description: 'Lists the channels of a server. Text channels have type 0.',
      input: { server_id: id('server') },
      required: ['server_id'],
      isReadOnly: true,
      request: { method: 'GET', path: '/guilds/{server_id}/channels' },
      output: ['id', 'name', 'type', 'topic', 'parent_id'],
    },
    {
      name: 'read_messages',
      description: 'Reads the latest messages of a channel, newest first.',
      input: {
        channel_id: id('channel'),
        limit: { type: 'integer', minimum: 1, maximum: 100 },
        before: id('message before which to look'),
      },
      required: ['channel_id'],
      isReadOnly: true,
      request: {
        method: 'GET',
        path: '/channels/{channel_id}/messages',
        query: { limit: '{limit}', before: '{before}' },
      },
      output: ['id', 'content', 'author.id', 'author.username', 'author.bot', 'timestamp', 'attachments.filename'],
    },
    {
      name: 'send_message',
      description: 'Posts a message to a channel. Mentions do not notify anyone.',
      input: {
        channel_id: id('channel'),
        content: { type: 'string', minLength: 1, maxLength: 2_000, description: 'Markdown' },
      },
      required: ['channel_id', 'content'],
      isReadOnly: false,
      request: {
        method: 'POST',
        path: '/channels/{channel_id}/messages',
        json: { content: '{content}', allowed_mentions: { parse: [] } },
      },
      output: ['id', 'channel_id'],
    },
  ],
}
