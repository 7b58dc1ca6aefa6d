import { badRequest } from '../../../platform/http/errors.ts'
import { fromJson } from '../definition.ts'
import type { Connector, Values } from '../definition.ts'

const messageId = { type: 'string', pattern: '^[A-Za-z0-9]{5,40}$', description: 'ID of the message' }

const addressed = {
  to: { type: 'string', minLength: 3, maxLength: 2_000, description: 'Addresses, separated by commas' },
  cc: { type: 'string', maxLength: 2_000, description: 'Addresses, separated by commas' },
  subject: { type: 'string', maxLength: 900 },
  text: { type: 'string', minLength: 1, description: 'Plain text' },
}

/** Rejects line breaks, which would start another header, such as Bcc. */
const header = (name: string, value: unknown): string => {
  const text = String(value)
  if (/[\r\n\0]/.test(text)) throw badRequest(`${name} must be one line.`)
  return text
}

const isAscii = (text: string): boolean => /^[\x20-\x7e]*$/.test(text)

/** RFC 2047 encoded words, each at most 75 characters. */
const encodedWords = (text: string): string => {
  if (isAscii(text)) return text
  const words: string[] = []
  let piece = ''
  for (const character of text) {
    if (Buffer.byteLength(piece + character) > 42) {
      words.push(piece)
      piece = ''
    }
    piece += character
  }
  return [...words, piece].map((word) => `=?UTF-8?B?${Buffer.from(word).toString('base64')}?=`).join('\r\n ')
}

const address = (name: string, value: unknown): string => {
  const text = header(name, value)
  if (!isAscii(text)) throw badRequest(`${name} must be a list of email addresses without display names.`)
  return text
}

/** An RFC 5322 message in base64url, the `raw` field of Gmail's API. */
const rawMessage = ({ to, cc, subject = '', text }: Values): string => {
  const lines = [
    `To: ${address('to', to)}`,
    ...(cc === undefined ? [] : [`Cc: ${address('cc', cc)}`]),
    `Subject: ${encodedWords(header('subject', subject))}`,
    'MIME-Version: 1.0',
    'Content-Type: text/plain; charset=utf-8',
    'Content-Transfer-Encoding: base64',
    '',
    Buffer.from(String(text))
      .toString('base64')
      .replaceAll(/(.{76})/g, '$1\r\n'),
  ]
  return Buffer.from(lines.join('\r\n')).toString('base64url')
}

interface Part {
  mimeType?: string
  filename?: string
  headers?: { name: string; value: string }[]
  body?: { data?: string; size?: number }
  parts?: Part[]
}

const partsOf = (part: Part): Part[] => [part, ...(part.parts ?? []).flatMap(partsOf)]

/** The main headers, the text and the names of attachments. */
const readable = (body: unknown): unknown => {
  const {
    id,
    threadId,
    labelIds,
    snippet,
    payload = {},
  } = body as {
    id: string
    threadId: string
    labelIds?: string[]
    snippet?: string
    payload?: Part
  }
  const headerOf = (name: string): string | null =>
    payload.headers?.find((one) => one.name.toLowerCase() === name)?.value ?? null
  const parts = partsOf(payload)
  const plain = parts.find((part) => part.mimeType === 'text/plain' && part.body?.data !== undefined)
  return {
    id,
    threadId,
    labelIds,
    from: headerOf('from'),
    to: headerOf('to'),
    cc: headerOf('cc'),
    date: headerOf('date'),
    subject: headerOf('subject'),
    text: plain?.body?.data === undefined ? snippet : Buffer.from(plain.body.data, 'base64url').toString('utf8'),
    attachments: parts.filter((part) => part.filename).map((part) => part.filename),
  }
}

export const connector: Connector = {
  slug: 'gmail',
  name: 'Gmail',
  category: 'communication',
  description: 'Search, read, draft and send mail.',
  auth: {
    type: 'oauth',
    registrationUrl: 'https://console.cloud.google.com/apis/credentials',
    authorizeUrl: 'https://accounts.google.com/o/oauth2/v2/auth',
    tokenUrl: 'https://oauth2.googleapis.com/token',
    scopes: ['https://www.googleapis.com/auth/gmail.readonly', 'https://www.googleapis.com/auth/gmail.compose'],
    // Google issues a refresh token only when both parameters are set.
    authorizeParams: { access_type: 'offline', prompt: 'consent' },
    account: {
      from: { method: 'GET', path: '/gmail/v1/users/me/profile' },
      id: 'emailAddress',
      name: 'emailAddress',
    },
    revoke: { method: 'POST', url: 'https://oauth2.googleapis.com/revoke', form: { token: '{token}' } },
  },
  api: { baseUrl: 'https://gmail.googleapis.com', errorMessage: ['error.message'] },
  tools: [
    {
      name: 'search_messages',
      description:
        "Finds messages with Gmail's search syntax, such as `from:ann newer_than:7d invoice`. Returns IDs; use get_message to read a message.",
      input: {
        q: { type: 'string', maxLength: 500 },
        max_results: { type: 'integer', minimum: 1, maximum: 100 },
        page_token: { type: 'string', description: 'nextPageToken of the previous page' },
      },
      isReadOnly: true,
      request: {
        method: 'GET',
        path: '/gmail/v1/users/me/messages',
        query: { q: '{q}', maxResults: '{max_results}', pageToken: '{page_token}' },
      },
    },
    {
      name: 'get_message',
      description: 'Reads one message: sender, recipients, date, subject, text and names of attachments.',
      input: { message_id: messageId },
      required: ['message_id'],
      isReadOnly: true,
      request: { method: 'GET', path: '/gmail/v1/users/me/messages/{message_id}', query: { format: 'full' } },
      output: fromJson(readable),
    },
    {
      name: 'list_labels',
      description: 'Lists the labels of the mailbox with their IDs.',
      input: {},
      isReadOnly: true,
      request: { method: 'GET', path: '/gmail/v1/users/me/labels' },
      output: ['labels.id', 'labels.name', 'labels.type'],
    },
    {
      name: 'create_draft',
      description: 'Creates a draft that the user can review and send.',
      input: addressed,
      required: ['to', 'text'],
      isReadOnly: false,
      request: (input) => ({
        method: 'POST',
        segments: ['gmail', 'v1', 'users', 'me', 'drafts'],
        json: { message: { raw: rawMessage(input) } },
      }),
      output: ['id', 'message.id'],
    },
    {
      name: 'send_message',
      description: "Sends a message from the user's address.",
      input: addressed,
      required: ['to', 'subject', 'text'],
      isReadOnly: false,
      request: (input) => ({
        method: 'POST',
        segments: ['gmail', 'v1', 'users', 'me', 'messages', 'send'],
        json: { raw: rawMessage(input) },
      }),
      output: ['id', 'threadId'],
    },
  ],
}
