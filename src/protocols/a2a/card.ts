import type { AgentRow } from '../../agents/agents.ts'

/** Of the agents: the protocol has no other use for it, and clients cache cards by it. */
const version = '1.0.0'

const transport = 'JSONRPC'

const skillOf = ({ slug, name, description }: AgentRow) => ({
  id: slug,
  name,
  description: description ?? `Answers messages as ${name}.`,
  tags: [],
  inputModes: ['text/plain'],
  outputModes: ['text/plain'],
})

/**
 * The card of an agent for clients of the revisions 1.0 and 0.3: each reads its own fields and ignores those of the other
 * (a2a-protocol.org/v1.0.0/specification, section AgentCard; v0.3.0, section 5.5). `url` is that of the agent.
 */
export const toAgentCard = (agent: AgentRow, url: string): object => ({
  name: agent.name,
  description: agent.description ?? `The agent ${agent.name}.`,
  version,
  capabilities: { streaming: true, pushNotifications: true, extendedAgentCard: false },
  defaultInputModes: ['text/plain', 'application/json', 'image/png', 'image/jpeg', 'application/pdf'],
  defaultOutputModes: ['text/plain'],
  skills: [skillOf(agent)],
  // Of 1.0:
  supportedInterfaces: [
    { url, protocolBinding: transport, protocolVersion: '1.0', tenant: '' },
    { url, protocolBinding: transport, protocolVersion: '0.3', tenant: '' },
  ],
  securityRequirements: [{ schemes: { apiKey: { list: [] } } }],
  // The fields of both revisions:
  securitySchemes: {
    apiKey: {
      type: 'http',
      scheme: 'bearer',
      description: 'An API key of the workspace.',
      httpAuthSecurityScheme: { scheme: 'Bearer', description: 'An API key of the workspace.', bearerFormat: '' },
    },
  },
  // Of 0.3:
  url,
  preferredTransport: transport,
  protocolVersion: '0.3.0',
  security: [{ apiKey: [] }],
  supportsAuthenticatedExtendedCard: false,
})
