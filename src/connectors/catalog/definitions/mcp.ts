import type { Connector } from '../definition.ts'

export const connector: Connector = {
  slug: 'mcp',
  name: 'MCP server',
  category: 'general',
  description: 'Any MCP server by its URL (Streamable HTTP). The connection has the tools of the server.',
  auth: {
    type: 'api_key',
    fields: [
      { key: 'url', label: 'URL', required: true, secret: false, help: 'For example https://mcp.example.com/mcp' },
      {
        key: 'token',
        label: 'Bearer token',
        required: false,
        secret: true,
        help: 'Leave it empty for servers with sign-in (OAuth) and for servers without authentication',
      },
      {
        key: 'clientId',
        label: 'OAuth client ID',
        required: false,
        secret: false,
        help: 'Only if the server asks for sign-in and does not register clients itself',
      },
      { key: 'clientSecret', label: 'OAuth client secret', required: false, secret: true },
    ],
  },
  api: { baseUrlField: 'url' },
  isMcp: true,
  tools: [],
}
