import type { Connector } from '../definition.ts'

export const connector: Connector = {
  slug: 'a2a',
  name: 'A2A agent',
  category: 'general',
  description: 'Any agent with the Agent2Agent protocol (A2A), by the URL of its agent card.',
  auth: {
    type: 'api_key',
    fields: [
      {
        key: 'url',
        label: 'URL',
        required: true,
        secret: false,
        help: 'URL of the agent card, or the base URL before /.well-known/agent-card.json',
      },
      { key: 'token', label: 'Bearer token', required: false, secret: true },
      {
        key: 'headerName',
        label: 'Header name',
        required: false,
        secret: false,
        help: 'For agents that want a key in another header, for example X-API-Key',
      },
      { key: 'headerValue', label: 'Header value', required: false, secret: true },
    ],
  },
  api: {
    baseUrlField: 'url',
    headers: { authorization: 'Bearer {token}', '{headerName}': '{headerValue}' },
    // A JSON-RPC response with an error has the status 200.
    failure: { path: 'error', is: 'present' },
    errorMessage: ['error.message'],
  },
  isA2a: true,
  tools: [],
}
