// Lists the tools of Atrium's MCP server, and asks an agent.
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'

const { ATRIUM_URL = 'http://127.0.0.1:3000', ATRIUM_API_KEY = '' } = process.env
const [question = 'Hello'] = process.argv.slice(2)

const client = new Client({ name: 'atrium-example', version: '1.0.0' })
await client.connect(
  new StreamableHTTPClientTransport(new URL('/mcp', ATRIUM_URL), {
    requestInit: { headers: { Authorization: `Bearer ${ATRIUM_API_KEY}` } },
  }),
)

const { tools } = await client.listTools()
for (const { name, title } of tools) console.log(`${name}: ${title}`)

const { content, isError } = await client.callTool({
  name: 'agents_ask',
  arguments: { agent: 'assistant', text: question },
})
for (const part of content) if (part.type === 'text') console.log(part.text)
await client.close()
if (isError) process.exitCode = 1
