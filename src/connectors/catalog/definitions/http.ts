import type { BuiltRequest, Connector, ConnectorTool, Values } from '../definition.ts'

const path = { type: 'string', maxLength: 2_000, description: 'Below the base URL, such as /users/42; no query in it' }
const query = {
  type: 'object',
  additionalProperties: { type: ['string', 'number', 'boolean'] },
  description: 'Parameters of the query',
}
const body = { description: 'JSON', type: ['object', 'array'] }

/** Empty segments fall away, but for the slash at the end, which some servers want. */
const segmentsOf = (text: string): string[] => {
  const segments = text.split('/').filter((segment) => segment !== '')
  return text.endsWith('/') && segments.length > 0 ? [...segments, ''] : segments
}

const build = (method: BuiltRequest['method'], input: Values): BuiltRequest => ({
  method,
  segments: segmentsOf(String(input['path'])),
  query: (input['query'] ?? {}) as Record<string, string | number | boolean>,
  ...(input['body'] === undefined ? {} : { json: input['body'] }),
})

const reading: ConnectorTool = {
  name: 'get',
  description: 'Asks the API for something (GET).',
  input: { path, query },
  required: ['path'],
  isReadOnly: true,
  request: (input) => build('GET', input),
}

const changing = (name: string, method: BuiltRequest['method'], description: string): ConnectorTool => ({
  name,
  description,
  input: method === 'DELETE' ? { path, query } : { path, query, body },
  required: method === 'DELETE' ? ['path'] : ['path', 'body'],
  isReadOnly: false,
  request: (input) => build(method, input),
})

export const connector: Connector = {
  slug: 'http',
  name: 'HTTP API',
  description: 'Any JSON API on the public Internet, by its base URL and a header that holds the key.',
  auth: {
    type: 'api_key',
    fields: [
      {
        key: 'baseUrl',
        label: 'Base URL',
        required: true,
        secret: false,
        help: 'Such as https://api.example.com/v1; agents reach what is below it and nothing else',
      },
      { key: 'headerName', label: 'Header', required: false, secret: false, fallback: 'Authorization' },
      {
        key: 'headerValue',
        label: 'Value of the header',
        required: false,
        secret: true,
        help: 'Such as Bearer abc123',
      },
      {
        key: 'checkPath',
        label: 'Path to try',
        required: false,
        secret: false,
        help: 'Asked once with these credentials; they are kept when it answers 2xx',
      },
    ],
    check: { from: { method: 'GET', path: '/{checkPath*}' }, when: 'checkPath' },
  },
  api: {
    baseUrlField: 'baseUrl',
    headers: { '{headerName}': '{headerValue}' },
    errorMessage: ['error.message', 'message', 'error'],
  },
  tools: [
    reading,
    changing('post', 'POST', 'Sends JSON to the API to create or start something (POST).'),
    changing('put', 'PUT', 'Replaces something at the API (PUT).'),
    changing('patch', 'PATCH', 'Changes a part of something at the API (PATCH).'),
    changing('delete', 'DELETE', 'Removes something at the API (DELETE).'),
  ],
}
