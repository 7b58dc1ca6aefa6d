import type { Connector } from '../definition.ts'

const channel = { type: 'string', pattern: '^[A-Z0-9]{5,20}$', description: 'Id of the channel, such as C0123456789' }
const limit = { type: 'integer', minimum: 1, maximum: 200, description: 'How many at most' }
const cursor = { type: 'string', description: 'next_cursor of the page before' }
const message = ['ts', 'user', 'bot_id', 'text', 'thread_ts', 'reply_count']

export const connector: Connector = {
  slug: 'slack',
  name: 'Slack',
  description: 'Channels, threads and messages of a Slack workspace.',
  auth: {
    type: 'oauth',
    authorizeUrl: 'https://slack.com/oauth/v2/authorize',
    tokenUrl: 'https://slack.com/api/oauth.v2.access',
    scopes: [
      'app_mentions:read',
      'channels:history',
      'channels:read',
      'chat:write',
      'groups:history',
      'groups:read',
      'im:history',
      'reactions:write',
      'users:read',
    ],
    scopeSeparator: ',',
    // The v2 flow of apps with a secret refuses a code_verifier.
    pkce: false,
    account: { from: { method: 'POST', path: '/api/auth.test' }, id: 'team_id', name: 'team' },
    revoke: { method: 'POST', url: 'https://slack.com/api/auth.revoke', auth: 'bearer' },
  },
  api: {
    baseUrl: 'https://slack.com',
    failure: { path: 'ok', is: 'false' },
    errorMessage: ['error'],
    rejections: ['invalid_auth', 'not_authed', 'token_revoked', 'token_expired', 'account_inactive'],
  },
  receiver: 'slack',
  tools: [
    {
      name: 'list_channels',
      description: 'Lists the channels of the workspace with their ids.',
      input: { limit, cursor },
      isReadOnly: true,
      request: {
        method: 'GET',
        path: '/api/conversations.list',
        query: {
          types: 'public_channel,private_channel',
          exclude_archived: true,
          limit: '{limit}',
          cursor: '{cursor}',
        },
      },
      answer: ['channels.id', 'channels.name', 'channels.is_member', 'channels.topic.value', 'response_metadata'],
    },
    {
      name: 'read_channel',
      description: 'Reads the last messages of a channel, newest first.',
      input: { channel, limit, cursor, oldest: { type: 'string', description: 'Only after this ts' } },
      required: ['channel'],
      isReadOnly: true,
      request: {
        method: 'GET',
        path: '/api/conversations.history',
        query: { channel: '{channel}', limit: '{limit}', cursor: '{cursor}', oldest: '{oldest}' },
      },
      answer: [...message.map((path) => `messages.${path}`), 'has_more', 'response_metadata'],
    },
    {
      name: 'read_thread',
      description: 'Reads a message and the replies to it.',
      input: { channel, ts: { type: 'string', description: 'ts of the first message of the thread' }, limit, cursor },
      required: ['channel', 'ts'],
      isReadOnly: true,
      request: {
        method: 'GET',
        path: '/api/conversations.replies',
        query: { channel: '{channel}', ts: '{ts}', limit: '{limit}', cursor: '{cursor}' },
      },
      answer: [...message.map((path) => `messages.${path}`), 'has_more', 'response_metadata'],
    },
    {
      name: 'post_message',
      description: 'Writes a message into a channel, or into a thread of it.',
      input: {
        channel,
        text: { type: 'string', minLength: 1, maxLength: 40_000, description: "Slack's mrkdwn" },
        thread_ts: { type: 'string', description: 'ts of the message to reply to' },
      },
      required: ['channel', 'text'],
      isReadOnly: false,
      request: {
        method: 'POST',
        path: '/api/chat.postMessage',
        json: { channel: '{channel}', text: '{text}', thread_ts: '{thread_ts}' },
      },
      answer: ['channel', 'ts'],
    },
    {
      name: 'add_reaction',
      description: 'Adds an emoji to a message.',
      input: {
        channel,
        timestamp: { type: 'string', description: 'ts of the message' },
        name: { type: 'string', description: 'Name of the emoji without colons' },
      },
      required: ['channel', 'timestamp', 'name'],
      isReadOnly: false,
      request: {
        method: 'POST',
        path: '/api/reactions.add',
        json: { channel: '{channel}', timestamp: '{timestamp}', name: '{name}' },
      },
    },
    {
      name: 'list_users',
      description: 'Lists the people of the workspace with their ids.',
      input: { limit, cursor },
      isReadOnly: true,
      request: { method: 'GET', path: '/api/users.list', query: { limit: '{limit}', cursor: '{cursor}' } },
      answer: [
        'members.id',
        'members.name',
        'members.real_name',
        'members.deleted',
        'members.is_bot',
        'response_metadata',
      ],
    },
  ],
}
