import type { Connector } from '../definition.ts'

const phone = { type: 'string', pattern: '^(whatsapp:)?\\+[1-9][0-9]{6,14}$', description: 'For example +14155550100' }
const pageSize = { type: 'integer', minimum: 1, maximum: 100, description: 'Maximum number of results' }
const message = ['sid', 'from', 'to', 'body', 'status', 'direction', 'date_sent', 'error_code', 'error_message']

export const connector: Connector = {
  slug: 'twilio',
  name: 'Twilio',
  category: 'communication',
  description: 'Text messages and the phone numbers of a Twilio account.',
  auth: {
    type: 'api_key',
    fields: [
      { key: 'accountSid', label: 'Account SID', required: true, secret: false, help: 'AC…' },
      {
        key: 'authToken',
        label: 'Auth token',
        required: true,
        secret: true,
        help: 'Also verifies the signatures of Twilio webhooks',
      },
    ],
    check: {
      from: { method: 'GET', path: '/2010-04-01/Accounts/{accountSid}.json', outsidePrefix: true },
      id: 'sid',
      name: 'friendly_name',
    },
  },
  api: {
    baseUrl: 'https://api.twilio.com',
    pathPrefix: '/2010-04-01/Accounts/{accountSid}',
    basic: ['{accountSid}', '{authToken}'],
    errorMessage: ['message'],
  },
  tools: [
    {
      name: 'send_message',
      description: 'Sends a text message from one of the numbers of the account.',
      input: { from: phone, to: phone, body: { type: 'string', minLength: 1, maxLength: 1_600 } },
      required: ['from', 'to', 'body'],
      isReadOnly: false,
      request: { method: 'POST', path: '/Messages.json', form: { From: '{from}', To: '{to}', Body: '{body}' } },
      output: ['sid', 'status'],
    },
    {
      name: 'list_messages',
      description: 'Lists sent and received messages, newest first.',
      input: { from: phone, to: phone, page_size: pageSize },
      isReadOnly: true,
      request: {
        method: 'GET',
        path: '/Messages.json',
        query: { From: '{from}', To: '{to}', PageSize: '{page_size}' },
      },
      output: message.map((path) => `messages.${path}`),
    },
    {
      name: 'get_message',
      description: 'Gets one message with its delivery status.',
      input: { sid: { type: 'string', pattern: '^(SM|MM)[0-9a-f]{32}$' } },
      required: ['sid'],
      isReadOnly: true,
      request: { method: 'GET', path: '/Messages/{sid}.json' },
      output: message,
    },
    {
      name: 'list_numbers',
      description: 'Lists the phone numbers of the account.',
      input: { page_size: pageSize },
      isReadOnly: true,
      request: { method: 'GET', path: '/IncomingPhoneNumbers.json', query: { PageSize: '{page_size}' } },
      output: ['sid', 'phone_number', 'friendly_name', 'capabilities'].map((path) => `incoming_phone_numbers.${path}`),
    },
  ],
}
