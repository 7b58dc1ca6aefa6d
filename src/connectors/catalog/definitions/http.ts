import type { BuiltRequest, Connector, ConnectorTool, Values } from '../definition.ts'

const path = {
  type: 'string',
  maxLength: 2_000,
  description: 'Path relative to the base URL, without a query, for example /users/42',
}
const query = {
  type: 'object',
  additionalProperties: { type: ['string', 'number', 'boolean'] },
  description: 'Query parameters',
}
const body = { description: 'JSON', type: ['object', 'array'] }

/** Drops empty segments but keeps a trailing slash, which some servers require. */
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
  description: 'Sends a GET request to the API.',
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
  category: 'general',
  description: 'Any JSON API on the public Internet, by base URL and an authentication header.',
  auth: {
    type: 'api_key',
    fields: [
      {
        key: 'baseUrl',
        label: 'Base URL',
        required: true,
        secret: false,
        help: 'For example https://api.example.com/v1; agents can only access paths below it',
      },
      { key: 'headerName', label: 'Header name', required: false, secret: false, fallback: 'Authorization' },
      {
        key: 'headerValue',
        label: 'Header value',
        required: false,
        secret: true,
        help: 'For example Bearer abc123',
      },
      {
        key: 'checkPath',
        label: 'Test path',
        required: false,
        secret: false,
        help: 'Requested once with these credentials, which are stored if the status is 2xx',
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
    changing('post', 'POST', 'Sends a POST request with a JSON body to the API.'),
    changing('put', 'PUT', 'Sends a PUT request with a JSON body to the API.'),
    changing('patch', 'PATCH', 'Sends a PATCH request with a JSON body to the API.'),
    changing('delete', 'DELETE', 'Sends a DELETE request to the API.'),
  ],
}
