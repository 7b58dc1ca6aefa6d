import type { ErrorCode } from '../../src/platform/http/errors.ts'

/** The introduction of the reference. */
export const introduction = `Every JSON response has one envelope: \`{ "success": true, "data": … }\` or \`{ "success": false, "error": { "code", "message" } }\`. \`error.code\` is stable; \`error.message\` is an explanation for people and may change.

**Authentication.** Send an API key as \`Authorization: Bearer <API key>\`. A call works in one workspace: that of the header \`X-Workspace-Id\`, else that of the key, else the default workspace of the org.

**Values.** IDs are UUIDs. Times are ISO 8601 in UTC with milliseconds. Money is in whole cents of US dollars (\`…Cents\`) or in microcents (\`…Microcents\`, 10,000 are one cent). Resources of other orgs and workspaces are NOT_FOUND. Unknown query parameters and body fields are ignored.

**Pagination.** Lists accept \`limit\` (1–100) and \`cursor\`, and return \`nextCursor\`, which is null on the last page.

**Idempotency.** A POST with an \`Idempotency-Key\` is carried out once. For 24 hours, the same request with the same key returns the same response. Single resources have an \`ETag\`; PATCH and DELETE accept it as \`If-Match\` and return CONFLICT when the resource has changed since.

**Rate limits** are token buckets, one for each API key and kind of request. Responses carry \`RateLimit-Policy\` (\`"reads";q=600;w=60\`: 600 requests in 60 seconds) and \`RateLimit\` (\`"reads";r=599;t=1\`: 599 requests left, all 600 again in 1 second). A rejected request has \`Retry-After\` in seconds. The limit of an operation is \`reads\` for GET and \`writes\` for other methods, unless its description names another one.

**Versions.** Within v1 the API only grows. An operation that will be removed returns \`Deprecation\` and \`Sunset\` headers for at least 12 months before. Every response has an \`X-Request-Id\`, by which the operator finds it in the log of the server.`

export const errorTexts: Record<ErrorCode, string> = {
  BAD_REQUEST: 'The body, the query or a header is malformed.',
  UNAUTHORIZED: 'The API key is missing, malformed, unknown, revoked or expired.',
  PAYMENT_REQUIRED: 'The balance, a spending limit or a quota of the org does not allow the request.',
  FORBIDDEN: 'The caller is not allowed to do this, or not in this workspace.',
  NOT_FOUND: 'The resource does not exist, or the caller has no access to it.',
  CONFLICT: 'The state of the resource does not allow the request, or it has changed since it was read.',
  VALIDATION_ERROR: 'The request is well-formed, but cannot be carried out with these values now.',
  TOO_MANY_REQUESTS: 'A rate limit is exceeded. `Retry-After` has the seconds to wait.',
  INTERNAL_ERROR: 'An internal error of the server, which logs it with the `X-Request-Id` of the response.',
  SERVICE_UNAVAILABLE: 'The server or a service that it depends on is not available. Retry later.',
}

/** Descriptions of the tags. Every tag of an operation must be here. */
export const tagTexts: Record<string, string> = {
  A2A: 'The Agent2Agent protocol, for agents of other servers.',
  'API keys': 'Keys for programs. A key stands for one user in one org, and can be limited by scopes.',
  Agents: 'Configured personas that run on a model with tools, peers and connectors, and the models they run on.',
  'Audit log': 'Who changed what in the org.',
  Billing: 'Balance, deposits, plans, spending and provider keys.',
  'Authorized apps': 'MCP clients that you allowed to act for you, and their consent page.',
  Connections: 'Your accounts at providers, which agents use for you, and the events that providers send.',
  Connectors: 'The catalog of integrations.',
  Files: 'Files, folders and links of the org.',
  Embeddings: 'Vectors of texts, by embedding models.',
  Events: 'What happened in the org, as a log and as deliveries.',
  Identity: 'The caller of the API.',
  Org: 'The org of the call.',
  MCP: 'The Model Context Protocol, for other programs.',
  Members: 'Members of the org and invitations.',
  OpenAI: "Agents in the shape of OpenAI's API, for programs that speak it.",
  Operations: 'Health checks and metrics for the operator.',
  Projects: 'Folders with instructions for agents.',
  Quotas: 'Quotas of the org and their usage.',
  Sessions: 'Conversations with agents.',
  'Sign-in': 'Sessions, passwords and two-factor authentication of people.',
  Turns: 'The work of an agent on one message.',
  Webhooks: 'URLs that receive events, the events, and their deliveries to other URLs.',
  Workspaces: 'Workspaces of the org and their members.',
}
