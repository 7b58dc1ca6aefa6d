import type { Connector } from '../definition.ts'

const channel = {
  type: 'string',
  pattern: '^[A-Z0-9]{5,20}$',
  description: 'ID of the channel, for example C0123456789',
}
const limit = { type: 'integer', minimum: 1, maximum: 200, description: 'Maximum number of results' }
const cursor = { type: 'string', description: 'next_cursor of the previous page' }
const message = ['ts', 'user', 'bot_id', 'text', 'thread_ts', 'reply_count']

export const connector: Connector = {
  slug: 'slack',
  name: 'Slack',
  category: 'communication',
  description: 'Channels, threads and messages of a Slack workspace.',
  auth: {
    type: 'oauth',
    registrationUrl: 'https://api.slack.com/apps',
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
    // oauth.v2.access rejects a code_verifier from apps that have a client secret.
    pkce: false,
    account: { from: { method: 'POST', path: '/api/auth.test' }, id: 'team_id', name: 'team' },
    revoke: { method: 'POST', url: 'https://slack.com/api/auth.revoke', auth: 'bearer' },
  },
  api: {
    baseUrl: 'https://slack.com',
    failure: { path: 'ok', is: 'false' },
    errorMessage: ['error'],
    credentialErrors: ['invalid_auth', 'not_authed', 'token_revoked', 'token_expired', 'account_inactive'],
  },
  tools: [
    {
      name: 'list_channels',
      description: 'Lists the channels of the workspace with their IDs.',
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
      output: ['channels.id', 'channels.name', 'channels.is_member', 'channels.topic.value', 'response_metadata'],
    },
    {
      name: 'read_channel',
      description: 'Reads the latest messages of a channel, newest first.',
      input: { channel, limit, cursor, oldest: { type: 'string', description: 'Only after this ts' } },
      required: ['channel'],
      isReadOnly: true,
      request: {
        method: 'GET',
        path: '/api/conversations.history',
        query: { channel: '{channel}', limit: '{limit}', cursor: '{cursor}', oldest: '{oldest}' },
      },
      output: [...message.map((path) => `messages.${path}`), 'has_more', 'response_metadata'],
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
      output: [...message.map((path) => `messages.${path}`), 'has_more', 'response_metadata'],
    },
    {
      name: 'post_message',
      description: 'Posts a message to a channel or a thread.',
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
      output: ['channel', 'ts'],
    },
    {
      name: 'add_reaction',
      description: 'Adds an emoji reaction to a message.',
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
      description: 'Lists the members of the workspace with their IDs.',
      input: { limit, cursor },
      isReadOnly: true,
      request: { method: 'GET', path: '/api/users.list', query: { limit: '{limit}', cursor: '{cursor}' } },
      output: [
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
