// A program that uses the client of the connector `mcp`: opens a session with the server of its argument, and lists and
// calls everything that the server declares. The conformance suite starts it once per scenario.
import { createOutbound } from '../../src/platform/outbound/outbound.ts'
import { openSession } from '../../src/connectors/mcp/client.ts'

const [url = ''] = process.argv.slice(2)
const target = { url: new URL(url), token: undefined, scrub: (text: string) => text, trusted: true, orgId: 'suite' }
const session = await openSession(createOutbound(), target, AbortSignal.timeout(10_000))
const tools = await session.listTools()
for (const { name, inputSchema } of tools) {
  const { properties = {} } = inputSchema as { properties?: Record<string, { type?: unknown }> }
  const input = Object.entries(properties).map(([key, { type }]) => [
    key,
    // One scenario asks for the schema of its other tool as it was received.
    type === 'number' ? 5 : type === 'object' ? tools[0]?.inputSchema : 'text',
  ])
  await session.callTool(name, Object.fromEntries(input))
}
await session.close()
// Connections that are kept alive would delay the end.
process.exit(0)
