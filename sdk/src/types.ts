// Made from docs/openapi.json by `npm run generate`.

export interface Agent {
  /** Unique ID, a UUID version 7. */
  id: string
  /** ID of the org that owns the agent. */
  orgId: string
  /** ID of the workspace of the agent. Null for the default agent of the org. */
  workspaceId: string | null
  /** Name of the agent. */
  name: string
  /** Short name, unique within the org. Made from the name. */
  slug: string
  /** What the agent is for, at most 5,000 characters. */
  description: string | null
  /** Avatar identifier. */
  avatar: string
  /** ID of the model that the agent runs on. */
  model: string
  /** System prompt of the model, at most 20,000 characters. */
  systemPrompt: string | null
  /** Names of the tools that the agent may use. */
  allowedTools: string[]
  /** Slugs of the agents that the agent may message. */
  allowedPeers: string[]
  /** Slugs of the connectors that the agent may use. */
  allowedConnectors: string[]
  /** Whether the agent responds. Inactive agents stay listed. */
  isActive: boolean
  /** Whether this is the default agent of the org, which every workspace sees. */
  isDefault: boolean
  /** Settings of the agent, at most 32 KB as JSON. `voice` and `approvals` are normalised; other keys are stored as sent. `approvals` lists tools that need approval: a tool name (letter case ignored, `.` and `_` are the same), `*` for every tool that is not read-only, or a prefix such as `http__*`. Unknown tool names are rejected with BAD_REQUEST. `monthlyCapCents` is the most that the agent may be charged in a month. `reasoningEffort` is how much the model reasons before it responds: `none`, `low`, `medium` or `high`, by default as the provider decides; BAD_REQUEST for a model without the capability `reasoning`, except `none`. `fallbackModels` is a list of up to three models that are called, in this order, when a model is overloaded, fails or is silent before its first text. Default: empty. */
  settings: Record<string, unknown>
  /** ID of the user who last changed the system prompt, model, tools, connectors, peers or approvals (without a system prompt, also the name or description). The agent uses the connections of this user without asking for consent. Null when unknown. */
  authorityChangedBy: string | null
  /** Incremented by each of these changes. A consent is valid for one version. */
  authorityVersion: number
  /** Time of creation. */
  createdAt: string
  /** Time of the last change. */
  updatedAt: string
  /** Time of deletion. */
  deletedAt: string | null
}

export interface AgentConsentGivenEvent {
  /** ID of the event, also in the header `webhook-id`. */
  id: string
  /** Type of the event. */
  type: "agent.consent_given"
  /** Version of the schema of `data`. */
  version: 1
  /** Time of the change. */
  timestamp: string
  /** True for a test event, which is not in the log. */
  isTest?: boolean
  /** ID of the org. */
  orgId: string
  /** ID of the workspace. Null for an event of the whole org. */
  workspaceId: string | null
  actor: EventActor
  /** What the event is about. */
  subject: {
    /** Type of resource. */
    type: string
    /** ID of the resource. */
    id: string
  }
  /** Number of the event among those of its subject, from 1. */
  sequence: number
  /** Position in the log of the org, from 1. Increases in the order in which events became visible. */
  position: number
  /** The events that led to this one; see the loop guard in the guide on events. */
  chain: {
    /** ID of the first event of the chain. */
    id: string
    /** Number of events before this one. */
    depth: number
  }
  /** What happened. */
  data: {
    /** ID of the agent. */
    agentId: string
    /** Slug of the connector. */
    connector: string
    /** Whether the agent asks before it changes something after it has read untrusted content. */
    askAfterUntrustedContent: boolean
  }
}

export interface AgentConsentWithdrawnEvent {
  /** ID of the event, also in the header `webhook-id`. */
  id: string
  /** Type of the event. */
  type: "agent.consent_withdrawn"
  /** Version of the schema of `data`. */
  version: 1
  /** Time of the change. */
  timestamp: string
  /** True for a test event, which is not in the log. */
  isTest?: boolean
  /** ID of the org. */
  orgId: string
  /** ID of the workspace. Null for an event of the whole org. */
  workspaceId: string | null
  actor: EventActor
  /** What the event is about. */
  subject: {
    /** Type of resource. */
    type: string
    /** ID of the resource. */
    id: string
  }
  /** Number of the event among those of its subject, from 1. */
  sequence: number
  /** Position in the log of the org, from 1. Increases in the order in which events became visible. */
  position: number
  /** The events that led to this one; see the loop guard in the guide on events. */
  chain: {
    /** ID of the first event of the chain. */
    id: string
    /** Number of events before this one. */
    depth: number
  }
  /** What happened. */
  data: {
    /** ID of the agent. */
    agentId: string
    /** Slug of the connector. */
    connector: string
  }
}

export interface AgentCreate {
  /** Name, 1–255 characters after runs of white space are collapsed. */
  name: string
  /** What the agent is for, at most 5,000 characters. Default: none. */
  description?: string | null
  /** ID of a model from `GET /models`. Default: the default model of the server. */
  model?: string
  /** System prompt of the model, at most 20,000 characters. Default: none. */
  systemPrompt?: string | null
  /** Avatar identifier, 1–255 characters. The server does not interpret it. Default `default`. */
  avatar?: string
  /** Names of the tools that the agent may use. At most 100. Unknown names are stored but grant nothing. Default: an empty list, which grants nothing. */
  allowedTools?: string[]
  /** Slugs of the agents that the agent may message. At most 100. Unknown names are stored but grant nothing. Default: an empty list, which grants nothing. */
  allowedPeers?: string[]
  /** Slugs of the connectors that the agent may use. At most 100. Unknown names are stored but grant nothing. Default: an empty list, which grants nothing. */
  allowedConnectors?: string[]
  /** Settings of the agent, at most 32 KB as JSON. `voice` and `approvals` are normalised; other keys are stored as sent. `approvals` lists tools that need approval: a tool name (letter case ignored, `.` and `_` are the same), `*` for every tool that is not read-only, or a prefix such as `http__*`. Unknown tool names are rejected with BAD_REQUEST. `monthlyCapCents` is the most that the agent may be charged in a month. `reasoningEffort` is how much the model reasons before it responds: `none`, `low`, `medium` or `high`, by default as the provider decides; BAD_REQUEST for a model without the capability `reasoning`, except `none`. `fallbackModels` is a list of up to three models that are called, in this order, when a model is overloaded, fails or is silent before its first text. Default: empty. */
  settings?: Record<string, unknown>
}

export interface AgentCreatedEvent {
  /** ID of the event, also in the header `webhook-id`. */
  id: string
  /** Type of the event. */
  type: "agent.created"
  /** Version of the schema of `data`. */
  version: 1
  /** Time of the change. */
  timestamp: string
  /** True for a test event, which is not in the log. */
  isTest?: boolean
  /** ID of the org. */
  orgId: string
  /** ID of the workspace. Null for an event of the whole org. */
  workspaceId: string | null
  actor: EventActor
  /** What the event is about. */
  subject: {
    /** Type of resource. */
    type: string
    /** ID of the resource. */
    id: string
  }
  /** Number of the event among those of its subject, from 1. */
  sequence: number
  /** Position in the log of the org, from 1. Increases in the order in which events became visible. */
  position: number
  /** The events that led to this one; see the loop guard in the guide on events. */
  chain: {
    /** ID of the first event of the chain. */
    id: string
    /** Number of events before this one. */
    depth: number
  }
  /** What happened. */
  data: {
    /** ID of the agent. */
    agentId: string
    /** Name of the agent. */
    name: string
    /** Slug of the agent. */
    slug: string
    /** ID of its model. */
    model: string
  }
}

export interface AgentDeletedEvent {
  /** ID of the event, also in the header `webhook-id`. */
  id: string
  /** Type of the event. */
  type: "agent.deleted"
  /** Version of the schema of `data`. */
  version: 1
  /** Time of the change. */
  timestamp: string
  /** True for a test event, which is not in the log. */
  isTest?: boolean
  /** ID of the org. */
  orgId: string
  /** ID of the workspace. Null for an event of the whole org. */
  workspaceId: string | null
  actor: EventActor
  /** What the event is about. */
  subject: {
    /** Type of resource. */
    type: string
    /** ID of the resource. */
    id: string
  }
  /** Number of the event among those of its subject, from 1. */
  sequence: number
  /** Position in the log of the org, from 1. Increases in the order in which events became visible. */
  position: number
  /** The events that led to this one; see the loop guard in the guide on events. */
  chain: {
    /** ID of the first event of the chain. */
    id: string
    /** Number of events before this one. */
    depth: number
  }
  /** What happened. */
  data: {
    /** ID of the agent. */
    agentId: string
    /** Name of the agent. */
    name: string
    /** Slug of the agent. */
    slug: string
  }
}

export interface AgentPatch {
  /** Name, 1–255 characters after runs of white space are collapsed. */
  name?: string
  /** What the agent is for, at most 5,000 characters. Default: none. */
  description?: string | null
  /** ID of a model from `GET /models`. Default: the default model of the server. */
  model?: string
  /** System prompt of the model, at most 20,000 characters. Default: none. */
  systemPrompt?: string | null
  /** Avatar identifier, 1–255 characters. The server does not interpret it. Default `default`. */
  avatar?: string
  /** Names of the tools that the agent may use. At most 100. Unknown names are stored but grant nothing. Default: an empty list, which grants nothing. */
  allowedTools?: string[]
  /** Slugs of the agents that the agent may message. At most 100. Unknown names are stored but grant nothing. Default: an empty list, which grants nothing. */
  allowedPeers?: string[]
  /** Slugs of the connectors that the agent may use. At most 100. Unknown names are stored but grant nothing. Default: an empty list, which grants nothing. */
  allowedConnectors?: string[]
  /** Settings to change. Keys that are not sent stay as they are; null removes a key. */
  settings?: Record<string, unknown>
  /** Short name, 1–63 characters of `a-z`, `0-9` and single hyphens, unique within the org. Ignored for the default agent. */
  slug?: string
  /** Whether the agent responds. FORBIDDEN for the default agent. */
  isActive?: boolean
}

export interface AgentUpdatedEvent {
  /** ID of the event, also in the header `webhook-id`. */
  id: string
  /** Type of the event. */
  type: "agent.updated"
  /** Version of the schema of `data`. */
  version: 1
  /** Time of the change. */
  timestamp: string
  /** True for a test event, which is not in the log. */
  isTest?: boolean
  /** ID of the org. */
  orgId: string
  /** ID of the workspace. Null for an event of the whole org. */
  workspaceId: string | null
  actor: EventActor
  /** What the event is about. */
  subject: {
    /** Type of resource. */
    type: string
    /** ID of the resource. */
    id: string
  }
  /** Number of the event among those of its subject, from 1. */
  sequence: number
  /** Position in the log of the org, from 1. Increases in the order in which events became visible. */
  position: number
  /** The events that led to this one; see the loop guard in the guide on events. */
  chain: {
    /** ID of the first event of the chain. */
    id: string
    /** Number of events before this one. */
    depth: number
  }
  /** What happened. */
  data: {
    /** ID of the agent. */
    agentId: string
    /** Name of the agent. */
    name: string
    /** Slug of the agent. */
    slug: string
    /** Names of the fields that were sent to be changed. */
    changed: string[]
  }
}

export interface ApiKey {
  /** Unique ID, a UUID version 7. */
  id: string
  /** Name of the key, 1–120 characters. */
  name: string
  /** Beginning of the key, with its environment. */
  prefix: string
  /** Last four characters of the key. */
  last4: string
  /** ID of the user that the key stands for. */
  userId: string
  /** ID of the workspace of its calls. Null: the default workspace of the org. */
  workspaceId: string | null
  /** Permissions that the key is limited to. Empty: everything that its user may do. */
  scopes: string[]
  /** Time of expiry. Null: never. */
  expiresAt: string | null
  /** Time of the last use, accurate to ten minutes. Null before the first. */
  lastUsedAt: string | null
  /** Time of revocation. Null for a valid key. */
  revokedAt: string | null
  /** Time of creation. */
  createdAt: string
}

export interface ApiKeyCreate {
  /** Name of the key, 1–120 characters. */
  name: string
  /** ID of the workspace of its calls. Default, also for null: the default workspace of the org. */
  workspaceId?: string | null
  /** Permissions to limit the key to, such as `files:read`, or `files:*` for all of an area. At most 50. Default: everything that its user may do. */
  scopes?: string[]
  /** Time of expiry, in the future. Default, also for null: never. */
  expiresAt?: string | null
}

export interface ApiKeyCreated {
  /** Unique ID, a UUID version 7. */
  id: string
  /** Name of the key, 1–120 characters. */
  name: string
  /** Beginning of the key, with its environment. */
  prefix: string
  /** Last four characters of the key. */
  last4: string
  /** ID of the user that the key stands for. */
  userId: string
  /** ID of the workspace of its calls. Null: the default workspace of the org. */
  workspaceId: string | null
  /** Permissions that the key is limited to. Empty: everything that its user may do. */
  scopes: string[]
  /** Time of expiry. Null: never. */
  expiresAt: string | null
  /** Time of the last use, accurate to ten minutes. Null before the first. */
  lastUsedAt: string | null
  /** Time of revocation. Null for a valid key. */
  revokedAt: string | null
  /** Time of creation. */
  createdAt: string
  /** The API key. Returned only here; store it in a safe place. */
  key: string
}

export interface ApiKeyCreatedEvent {
  /** ID of the event, also in the header `webhook-id`. */
  id: string
  /** Type of the event. */
  type: "api_key.created"
  /** Version of the schema of `data`. */
  version: 1
  /** Time of the change. */
  timestamp: string
  /** True for a test event, which is not in the log. */
  isTest?: boolean
  /** ID of the org. */
  orgId: string
  /** ID of the workspace. Null for an event of the whole org. */
  workspaceId: string | null
  actor: EventActor
  /** What the event is about. */
  subject: {
    /** Type of resource. */
    type: string
    /** ID of the resource. */
    id: string
  }
  /** Number of the event among those of its subject, from 1. */
  sequence: number
  /** Position in the log of the org, from 1. Increases in the order in which events became visible. */
  position: number
  /** The events that led to this one; see the loop guard in the guide on events. */
  chain: {
    /** ID of the first event of the chain. */
    id: string
    /** Number of events before this one. */
    depth: number
  }
  /** What happened. */
  data: {
    /** ID of the API key. */
    apiKeyId: string
    /** Name of the key. */
    name: string
    /** Last four characters of the key. */
    last4: string
    /** ID of the person whose key it is. */
    userId: string
  }
}

export interface ApiKeyRevokedEvent {
  /** ID of the event, also in the header `webhook-id`. */
  id: string
  /** Type of the event. */
  type: "api_key.revoked"
  /** Version of the schema of `data`. */
  version: 1
  /** Time of the change. */
  timestamp: string
  /** True for a test event, which is not in the log. */
  isTest?: boolean
  /** ID of the org. */
  orgId: string
  /** ID of the workspace. Null for an event of the whole org. */
  workspaceId: string | null
  actor: EventActor
  /** What the event is about. */
  subject: {
    /** Type of resource. */
    type: string
    /** ID of the resource. */
    id: string
  }
  /** Number of the event among those of its subject, from 1. */
  sequence: number
  /** Position in the log of the org, from 1. Increases in the order in which events became visible. */
  position: number
  /** The events that led to this one; see the loop guard in the guide on events. */
  chain: {
    /** ID of the first event of the chain. */
    id: string
    /** Number of events before this one. */
    depth: number
  }
  /** What happened. */
  data: {
    /** ID of the API key. */
    apiKeyId: string
    /** Name of the key. */
    name: string
    /** Last four characters of the key. */
    last4: string
    /** ID of the person whose key it is. */
    userId: string
  }
}

export interface Approval {
  /** ID of the approval. */
  approvalId: string
  /** ID of the tool call. */
  toolCallId: string
  /** Name of the tool. */
  toolName: string
  /** Arguments of the call. */
  input: unknown
  /** Whether the call may have run before: the server process ended while it was running. */
  isRepeated: boolean
  /** `consent`: allow the agent to use your connections to the connector, until another person changes the agent. `approval`: run this call. `repeat`: run it again, although it may have run before. `input`: answer the question of the tool in `form`; the call then runs again with the answer. */
  kind: "consent" | "approval" | "repeat" | "input"
  /** Why a decision is needed, for people. */
  reason: string
  /** The agent that makes the call. */
  agent: {
    /** ID of the agent. */
    id: string
    /** Slug of the agent. */
    slug: string
    /** Name of the agent. */
    name: string
  }
  /** Slug of the connector whose connection the tool uses. Null without one. */
  connector: string | null
  /** The `authorityVersion` of the agent that a consent is given for. Null otherwise. */
  authorityVersion: number | null
  /** For a consent: the user who last changed the agent. Null when unknown. */
  changedBy: {
    /** ID of the user. */
    id: string
    /** Name of the user. */
    name: string
  } | null
  /** For a consent: time of that change. */
  changedAt: string | null
  /** Source of the untrusted content that makes an approval necessary: the name of a tool, or `chat`, `person`, `peer` or `project`. Null without one. */
  untrustedFrom: string | null
  /** For `input`: what the tool asks. Null otherwise. */
  form: {
    /** Name of the server that asks and gets the answer. */
    server: string
    /** Question of the server. Untrusted text. */
    message: string
    /** Fields of the answer. */
    fields: Array<{
      /** Name of the field in `answer`. */
      key: string
      /** Type of the value. `choice`: one of `options`. `choices`: a list of them. */
      kind: "text" | "number" | "integer" | "boolean" | "choice" | "choices"
      /** Label of the field. */
      label: string
      /** Explanation of the field. Null without one. */
      description: string | null
      /** Whether a value is required. */
      required: boolean
      format: "email" | "uri" | "date" | "date-time" | null
      /** Smallest number, or fewest characters or options. Null without a limit. */
      min: number | null
      /** Largest number, or most characters or options. Null without a limit. */
      max: number | null
      /** Options of `choice` and `choices`. Empty for other kinds. */
      options: Array<{
        /** Value of the option. */
        value: string
        /** Label of the option. */
        label: string
      }>
      /** Value of a field that `answer` leaves out. Null without one. */
      default: unknown
    }>
  } | null
  /** Whether the caller may decide. */
  canDecide: boolean
  /** Why the caller may not decide. Null when they may. */
  cannotDecideReason: string | null
}

export interface ApprovalDecision {
  /** ID of the approval, from `approvals` of the turn. */
  approvalId: string
  /** True runs the tool; false tells the model that a person denied it. */
  approved: boolean
  /** For an approved `input`: values for the fields of its `form`. Default: the defaults of the fields. */
  answer?: Record<string, unknown>
}

export interface AuditEntry {
  /** Unique ID, a UUID version 7. */
  id: string
  /** Time of the action. */
  at: string
  /** Who acted. */
  actor: {
    /** ID of the user. Null for the server and its operator. */
    id: string | null
    /** Name of the user at that time. */
    name: string
    /** ID of the API key. Null without one. */
    apiKeyId: string | null
  }
  /** What happened, as `<resource>.<verb>`. */
  action: string
  /** What was changed. */
  resource: {
    /** Type of the resource. */
    type: string
    /** ID of the resource. Null without one. */
    id: string | null
  }
  /** Details of the action. The keys depend on `action`. */
  details: Record<string, unknown>
  /** IP address of the caller. Null when unknown. */
  ip: string | null
  /** `X-Request-Id` of the response. Null for actions outside of a request. */
  requestId: string | null
  /** Position in the hash chain of the org, from 1. Null for the first seconds. */
  seq: number | null
  /** SHA-256 of the previous hash and this entry, in hexadecimal. Null for the first seconds. */
  hash: string | null
}

export interface Authorization {
  /** Name that the app gives itself. Nobody has verified it. */
  name: string
  /** Host that publishes the metadata of the app. Null: the app registered itself, so that nothing about it is verified. */
  publisher: string | null
  /** Host, or scheme of an installed program, to which the browser is sent with the result. */
  redirectHost: string
  /** Whether the result is sent to a program on the computer of the person. */
  isLocal: boolean
  /** Permissions that the app asks for, at most 50. */
  scopes: string[]
}

export interface AuthorizationDecision {
  /** Query of the URL of the authorization endpoint, without `?`. 1–8,000 characters. */
  request: string
  /** Whether the person authorizes the app. */
  approved: boolean
  /** ID of the workspace that the app works in. Default: the workspace of the request. */
  workspaceId?: string
  /** Permissions that the app gets, at most 50 of those that it asks for. Default: all of them. */
  scopes?: string[]
}

export interface AuthorizationResult {
  /** URL that the browser opens next. It contains a code, valid for 60 s, or the error `access_denied`. */
  redirectTo: string
}

export interface AuthorizedApp {
  /** Unique ID, a UUID version 7. */
  id: string
  /** Name that the app gives itself. Nobody has verified it. */
  name: string
  /** OAuth client ID: the URL of the metadata document of the app, or what its registration returned. */
  clientId: string
  /** Host, or scheme of an installed program, to which the browser is sent with the result. */
  redirectHost: string
  /** ID of the person who authorized the app. */
  userId: string
  /** ID of the workspace that the app works in. */
  workspaceId: string
  /** Permissions that the app has, at most 50, as far as its person has them. */
  scopes: string[]
  /** Time of the last request, precise to ten minutes. Null: never used. */
  lastUsedAt: string | null
  /** Time of creation. */
  createdAt: string
}

export interface BalanceDepositedEvent {
  /** ID of the event, also in the header `webhook-id`. */
  id: string
  /** Type of the event. */
  type: "balance.deposited"
  /** Version of the schema of `data`. */
  version: 1
  /** Time of the change. */
  timestamp: string
  /** True for a test event, which is not in the log. */
  isTest?: boolean
  /** ID of the org. */
  orgId: string
  /** ID of the workspace. Null for an event of the whole org. */
  workspaceId: string | null
  actor: EventActor
  /** What the event is about. */
  subject: {
    /** Type of resource. */
    type: string
    /** ID of the resource. */
    id: string
  }
  /** Number of the event among those of its subject, from 1. */
  sequence: number
  /** Position in the log of the org, from 1. Increases in the order in which events became visible. */
  position: number
  /** The events that led to this one; see the loop guard in the guide on events. */
  chain: {
    /** ID of the first event of the chain. */
    id: string
    /** Number of events before this one. */
    depth: number
  }
  /** What happened. */
  data: {
    /** ID of the transaction in the ledger. */
    transactionId: string
    /** Amount in cents. */
    amountCents: number
    /** Balance after it, in cents. */
    balanceCents: number
  }
}

export interface BalanceExhaustedEvent {
  /** ID of the event, also in the header `webhook-id`. */
  id: string
  /** Type of the event. */
  type: "balance.exhausted"
  /** Version of the schema of `data`. */
  version: 1
  /** Time of the change. */
  timestamp: string
  /** True for a test event, which is not in the log. */
  isTest?: boolean
  /** ID of the org. */
  orgId: string
  /** ID of the workspace. Null for an event of the whole org. */
  workspaceId: string | null
  actor: EventActor
  /** What the event is about. */
  subject: {
    /** Type of resource. */
    type: string
    /** ID of the resource. */
    id: string
  }
  /** Number of the event among those of its subject, from 1. */
  sequence: number
  /** Position in the log of the org, from 1. Increases in the order in which events became visible. */
  position: number
  /** The events that led to this one; see the loop guard in the guide on events. */
  chain: {
    /** ID of the first event of the chain. */
    id: string
    /** Number of events before this one. */
    depth: number
  }
  /** What happened. */
  data: {
    /** Balance after it, in cents. */
    balanceCents: number
  }
}

export interface BalanceLowEvent {
  /** ID of the event, also in the header `webhook-id`. */
  id: string
  /** Type of the event. */
  type: "balance.low"
  /** Version of the schema of `data`. */
  version: 1
  /** Time of the change. */
  timestamp: string
  /** True for a test event, which is not in the log. */
  isTest?: boolean
  /** ID of the org. */
  orgId: string
  /** ID of the workspace. Null for an event of the whole org. */
  workspaceId: string | null
  actor: EventActor
  /** What the event is about. */
  subject: {
    /** Type of resource. */
    type: string
    /** ID of the resource. */
    id: string
  }
  /** Number of the event among those of its subject, from 1. */
  sequence: number
  /** Position in the log of the org, from 1. Increases in the order in which events became visible. */
  position: number
  /** The events that led to this one; see the loop guard in the guide on events. */
  chain: {
    /** ID of the first event of the chain. */
    id: string
    /** Number of events before this one. */
    depth: number
  }
  /** What happened. */
  data: {
    /** Balance after it, in cents. */
    balanceCents: number
    /** The threshold in cents. */
    thresholdCents: number
  }
}

export interface BalanceTopupFailedEvent {
  /** ID of the event, also in the header `webhook-id`. */
  id: string
  /** Type of the event. */
  type: "balance.topup.failed"
  /** Version of the schema of `data`. */
  version: 1
  /** Time of the change. */
  timestamp: string
  /** True for a test event, which is not in the log. */
  isTest?: boolean
  /** ID of the org. */
  orgId: string
  /** ID of the workspace. Null for an event of the whole org. */
  workspaceId: string | null
  actor: EventActor
  /** What the event is about. */
  subject: {
    /** Type of resource. */
    type: string
    /** ID of the resource. */
    id: string
  }
  /** Number of the event among those of its subject, from 1. */
  sequence: number
  /** Position in the log of the org, from 1. Increases in the order in which events became visible. */
  position: number
  /** The events that led to this one; see the loop guard in the guide on events. */
  chain: {
    /** ID of the first event of the chain. */
    id: string
    /** Number of events before this one. */
    depth: number
  }
  /** What happened. */
  data: {
    /** ID of the top-up. */
    topupId: string
    /** Amount in cents. */
    amountCents: number
    /** Code of the payment provider, or of Atrium. */
    failureCode: string | null
    /** Reason in words, up to 500 characters. */
    failureMessage: string | null
  }
}

export interface BillingDetails {
  /** Name on receipts and statements, at most 200 characters. Null: the name of the org. */
  name: string | null
  /** Postal address, at most 500 characters and 6 lines. Null: none. */
  address: string | null
  /** Tax number, at most 50 characters. Null: none. */
  taxId: string | null
  /** Email address of the accounting, at most 254 characters. Null: none. */
  email: string | null
}

export interface BillingPatch {
  /** Whether automatic top-up is on. */
  autoTopupEnabled?: boolean
  /** Balance below which automatic top-up charges the saved card and the event `balance.low` occurs, in cents, 100–10,000,000,000. */
  autoTopupThresholdCents?: number
  /** Amount of an automatic top-up, in cents, 100–99,999,999. */
  autoTopupAmountCents?: number
  /** Maximum amount of automatic top-ups in a calendar month (UTC), in cents, 100–10,000,000,000. Null: no limit. */
  autoTopupMonthlyCapCents?: number | null
  /** Maximum amount that the org may be charged in a calendar month (UTC), in cents, 0–10,000,000,000. Paid turns beyond it are PAYMENT_REQUIRED. Null: no limit. */
  monthlyCapCents?: number | null
  /** Billing details to change. Fields that are not sent stay as they are. Null removes all. */
  billingDetails?: {
    /** Name on receipts and statements, at most 200 characters. Null: the name of the org. */
    name?: string | null
    /** Postal address, at most 500 characters and 6 lines. Null: none. */
    address?: string | null
    /** Tax number, at most 50 characters. Null: none. */
    taxId?: string | null
    /** Email address of the accounting, at most 254 characters. Null: none. */
    email?: string | null
  } | null
}

export interface BillingSnapshot {
  /** Balance and settings of automatic top-up. */
  balance: {
    /** Balance, in cents. */
    balanceCents: number
    /** Sum of all deposits, in cents. */
    cumulativeDepositsCents: number
    /** Whether automatic top-up is on. Default false. */
    autoTopupEnabled: boolean
    /** Balance below which automatic top-up charges the saved card. Default 500, in cents. */
    autoTopupThresholdCents: number
    /** Amount of an automatic top-up. Default 2,500, in cents. */
    autoTopupAmountCents: number
    /** Charged, but less than a cent and not in the balance yet, in microcents (10,000 are one cent). */
    remainderMicrocents: number
    /** Reserved for running turns, in microcents (10,000 are one cent). */
    reservedMicrocents: number
  }
  /** Waiver of the platform fee. */
  waiver: {
    /** Whether the platform fee is waived for the org. */
    active: boolean
    /** Deposits that the org can still make before the fee applies, in cents. */
    remainingCents: number
  }
  /** Payment settings of the server. */
  payment: {
    /** Whether payments by Stripe are set up. */
    paymentProviderConfigured: boolean
    /** Whether Stripe's webhook is set up. */
    webhookConfigured: boolean
    /** Whether Stripe's publishable key is set. */
    publishableKeyConfigured: boolean
    /** Whether deposits without a payment are possible. Never in production. */
    directDepositAvailable: boolean
    /** Whether paid turns need a sufficient balance. */
    billingEnforced: boolean
  }
  /** Usage of models. */
  usage: {
    /** Usage of the current calendar month (UTC). */
    currentMonth: {
      /** Number of model calls, including free ones. */
      requestCount: number
      /** Number of model calls with the org's own provider key. */
      byokRequestCount: number
      /** Input tokens, including cached ones. */
      inputTokens: number
      /** Output tokens. */
      outputTokens: number
      /** Tokens read from the cache. */
      cacheReadTokens: number
      /** Tokens written to the cache. */
      cacheWriteTokens: number
      /** Input and output tokens together. */
      totalTokens: number
      /** Cost of the model calls at the provider, in microcents (10,000 are one cent). */
      providerCostMicrocents: number
      /** Platform fee, in microcents (10,000 are one cent). */
      platformFeeMicrocents: number
      /** Total charged to the org, in microcents (10,000 are one cent). */
      totalChargedMicrocents: number
      /** Total charged to the org, rounded down, in cents. */
      totalChargedCents: number
      /** Start of the calendar month (UTC). */
      monthStart: string
      /** Usage by operation. */
      operationBreakdown: Array<{
        /** `chat`: a person talks with an agent. `peer`: agents talk with each other. `connector`: an agent responds in a chat of a provider. `embedding`: an embedding model, without an agent. */
        operation: string
        /** Number of model calls. */
        requestCount: number
        /** Charged, in microcents (10,000 are one cent). */
        totalChargedMicrocents: number
        /** Charged, rounded down, in cents. */
        totalChargedCents: number
      }>
    }
  }
  /** Latest transactions, newest first. */
  transactions: Array<{
    /** Unique ID, a UUID version 7. */
    id: string
    /** Why the balance changed. */
    type: "deposit" | "usage" | "refund" | "adjustment" | "platform_fee"
    /** Change of the balance, negative for a charge, in cents. */
    amountCents: number
    /** Balance after the transaction, in cents. */
    balanceAfterCents: number
    /** ID of the payment at Stripe. Absent without a payment. */
    paymentIntentId?: string
    /** ID of the receipt, for `GET /billing/receipts/:id`. Present for deposits only. */
    receiptId?: string
    /** Explanation of the transaction. */
    notes: string | null
    /** Time of creation. */
    createdAt: string
  }>
  /** Promotions that the org redeemed. */
  promotions: Promotion[]
  /** The monthly plan. Null without one. */
  subscription: {
    /** ID of the plan. */
    planId: string
    /** Name of the plan. */
    planName: string
    /** Status of the subscription at Stripe, such as `active`, `past_due` or `canceled`. */
    status: string
    /** Whether the plan ends with the paid month. */
    cancelAtPeriodEnd: boolean
    /** End of the paid month. Null before the first payment. */
    currentPeriodEnd: string | null
    /** Time of creation. */
    createdAt: string
  } | null
  /** Subscriptions that another purchase replaced and that Stripe has not canceled or refunded yet, the oldest first. */
  replacedPlans: Array<{
    /** ID of the plan. */
    planId: string
    /** Name of the plan. */
    planName: string
    /** `canceling` or `refunding`: Stripe has not confirmed it yet. `failed`: Stripe has rejected it for three days, so that a person must act in the Stripe dashboard. */
    state: "canceling" | "refunding" | "failed"
    /** Time when the plan was replaced. */
    since: string
  }>
  billingDetails: BillingDetails
  /** Automatic top-up. */
  autoTopup: {
    /** State of automatic top-up. `backing_off`: a payment was declined and is attempted again at `retryAt`. `monthly_cap`: another top-up would exceed the monthly limit. `due`: a payment starts within a minute. `under_way`: a payment is being made. */
    state: "off" | "no_payment_method" | "balance_suffices" | "backing_off" | "monthly_cap" | "due" | "under_way"
    /** Explanation of the state. */
    reason: string
    /** Time of the next attempt. Null when none is planned. */
    retryAt: string | null
    /** Whether a card is saved. A deposit by card saves one. */
    hasPaymentMethod: boolean
    /** Maximum amount of automatic top-ups in a calendar month (UTC), in cents. Null: no limit. */
    monthlyCapCents: number | null
    /** Sum of the automatic top-ups of this calendar month (UTC), in cents. */
    chargedThisMonthCents: number
    /** Latest automatic top-ups, newest first. */
    recent: Array<{
      /** Unique ID, a UUID version 7. */
      id: string
      /** State of the payment. */
      state: "due" | "processing" | "succeeded" | "declined" | "failed"
      /** Amount, in cents. */
      amountCents: number
      /** Error code of the payment provider. Null without an error. */
      failureCode: string | null
      /** Why the payment failed. Null when it did not. */
      failureMessage: string | null
      /** Time of creation. */
      createdAt: string
      /** Time when the payment succeeded or failed. Null before that. */
      endedAt: string | null
    }>
  }
  /** Spending limits. */
  limits: {
    /** Spending limit of the org. */
    org: {
      /** Maximum amount charged in a calendar month (UTC), in cents. Null: no limit. */
      monthlyCapCents: number | null
      /** Charged in this calendar month (UTC), in microcents (10,000 are one cent). */
      chargedThisMonthMicrocents: number
      /** Charged in this calendar month (UTC), rounded down, in cents. */
      chargedThisMonthCents: number
      /** `free`: below 80 % of the limit. `near`: 80 % or more. `reached`: paid turns are rejected. */
      state: "free" | "near" | "reached"
    }
    /** Agents with a spending limit. Empty for callers without the permission `billing:manage`. */
    agents: Array<{
      /** Unique ID, a UUID version 7. */
      id: string
      /** Name of the agent. */
      name: string
      /** Slug of the agent. */
      slug: string
      /** Maximum amount charged in a calendar month (UTC), in cents. Null: no limit. */
      monthlyCapCents: number | null
      /** Charged in this calendar month (UTC), in microcents (10,000 are one cent). */
      chargedThisMonthMicrocents: number
      /** Charged in this calendar month (UTC), rounded down, in cents. */
      chargedThisMonthCents: number
      /** `free`: below 80 % of the limit. `near`: 80 % or more. `reached`: paid turns are rejected. */
      state: "free" | "near" | "reached"
    }>
  }
}

export interface BranchSwitch {
  /** ID of a message of this session that started a turn, such as an item of `versions`. */
  messageId: string
}

export interface Breakdown {
  /** Period that the figures are for. */
  period: string
  /** Start of the period, inclusive. */
  from: string
  /** End of the period: the time of the request. */
  to: string
  /** Usage by agent, model or project, highest charge first. */
  items: Array<{
    /** ID of the agent, model or project. Null for usage that cannot be attributed. */
    id: string | null
    /** Name of the agent, model or project. */
    name: string
    /** Number of model calls, including free ones. */
    requestCount: number
    /** Number of model calls with the org's own provider key. */
    byokRequestCount: number
    /** Input tokens, including cached ones. */
    inputTokens: number
    /** Output tokens. */
    outputTokens: number
    /** Tokens read from the cache. */
    cacheReadTokens: number
    /** Tokens written to the cache. */
    cacheWriteTokens: number
    /** Input and output tokens together. */
    totalTokens: number
    /** Cost of the model calls at the provider, in microcents (10,000 are one cent). */
    providerCostMicrocents: number
    /** Platform fee, in microcents (10,000 are one cent). */
    platformFeeMicrocents: number
    /** Total charged to the org, in microcents (10,000 are one cent). */
    totalChargedMicrocents: number
    /** Total charged to the org, rounded down, in cents. */
    totalChargedCents: number
    /** Share of the total charged, 0–1. */
    share: number
  }>
}

export interface BuyerParty {
  /** Name. */
  name: string
  /** Postal address, with line breaks. Null: none. */
  address: string | null
  /** Tax number. Null: none. */
  taxId: string | null
  /** Email address. Null: none. */
  email: string | null
}

export interface CallerTool {
  /** Name of the tool: 1–64 letters, digits, `_` and `-`. Different from the names of the tools of the agent. */
  name: string
  /** What the tool does, for the model, at most 10,000 characters. Default: the name. */
  description?: string
  /** JSON Schema of the arguments, of the type `object`. The server does not validate calls against it. */
  inputSchema: Record<string, unknown>
}

export interface Cancelled {
  /** Whether the turn is cancelled, now or before. False when it had ended or nothing was running. */
  cancelled: boolean
}

export interface ChatCompletion {
  /** `chatcmpl-` and the ID of the turn. */
  id: string
  /** Type of the object. */
  object: "chat.completion"
  /** Time of creation, in Unix seconds. */
  created: number
  /** `agent/` and the slug or ID of an agent. */
  model: string
  /** Always one choice. */
  choices: Array<{
    /** Always 0. */
    index: number
    /** The reply. */
    message: {
      /** Role of the author. */
      role: "assistant"
      /** Reply of the agent. Null when there is none beside tool calls. */
      content: string | null
      /** Calls of functions of the client. Absent without any. */
      tool_calls?: Array<{
        /** ID of the call, at most 200 characters. */
        id: string
        /** Kind of the call. */
        type: "function"
        /** The function and its arguments. */
        function: {
          /** Name of the function. */
          name: string
          /** Arguments as JSON text. */
          arguments: string
        }
      }>
      /** Always null. */
      refusal: null
    }
    /** Always null. */
    logprobs: null
    /** Why the reply ended. `length`: a limit ended the turn. `tool_calls`: the turn waits for the outputs of `tool_calls`. */
    finish_reason: "stop" | "length" | "content_filter" | "tool_calls"
  }>
  /** Tokens of the turn. */
  usage: {
    /** Input tokens of the model calls for this completion. */
    prompt_tokens: number
    /** Output tokens of the model calls for this completion. */
    completion_tokens: number
    /** Input and output tokens together. */
    total_tokens: number
    /** Details of the input tokens. */
    prompt_tokens_details: {
      /** Tokens read from the cache. */
      cached_tokens: number
    }
  }
}

export interface ChatCompletionCreate {
  /** `agent/` and the slug or ID of an agent. At most 300 characters. */
  model: string
  /** Messages of the conversation, 1–2,000. The last one must be a `user` message, or the last ones the `tool` messages of all calls before them. */
  messages: Array<{
    /** Role of the author. `system` and `developer` messages are added to the instructions of the agent. `tool` is the output of a tool call. `function` is rejected. */
    role: "system" | "developer" | "user" | "assistant" | "tool" | "function"
    /** Text, or an array of parts. Default: empty. */
    content?: string | Array<{
      /** `text`, `image_url` or `file`. */
      type: string
      /** Text of a `text` part. */
      text?: string
      /** File of a `file` part. */
      file?: {
        /** ID of a file of the org. */
        file_id?: string
        /** The file as a `data:` URL in base64, in place of `file_id`. */
        file_data?: string
        /** Name for `file_data`, 1–255 characters. Default `file`. */
        filename?: string
      }
      /** Picture of an `image_url` part. */
      image_url?: {
        /** The picture as a `data:` URL in base64. Other URLs are rejected. */
        url: string
      }
    }> | null
    /** Tool calls of an `assistant` message, at most 128. Default: none. */
    tool_calls?: Array<{
      /** ID of the call, at most 200 characters. */
      id: string
      /** Only `function` is supported. */
      type: string
      /** The function and its arguments. */
      function?: {
        /** Name of the function. */
        name: string
        /** Arguments as JSON text. */
        arguments: string
      }
    }> | null
    /** ID of the call of which a `tool` message is the output. */
    tool_call_id?: string
  }>
  /** Whether to stream the response as server-sent events. Default false. */
  stream?: boolean | null
  /** Options of the stream. Default: none. */
  stream_options?: {
    /** Whether the stream ends with a chunk that carries `usage`. Default false. */
    include_usage?: boolean
  } | null
  /** Maximum number of output tokens of each model call, 1–100,000,000. Default: the limit of the model. */
  max_completion_tokens?: number | null
  /** Older name of `max_completion_tokens`, 1–100,000,000. Default: the limit of the model. */
  max_tokens?: number | null
  /** Number of choices. Only 1 is supported. Default 1. */
  n?: number | null
  /** Functions that the client runs, beside the tools of the agent, at most 128 and together 64 KB as JSON. Default: none. */
  tools?: Array<{
    /** Only `function` is supported. */
    type: string
    /** The function. */
    function?: {
      /** Name: 1–64 letters, digits, `_` and `-`. Not that of a tool of the agent. */
      name: string
      /** What the function does, for the model, at most 10,000 characters. Default: the name. */
      description?: string | null
      /** JSON Schema of the arguments. Default: an object without properties. */
      parameters?: Record<string, unknown> | null
    }
  }> | null
  /** `auto`, `none`, `required`, or `{ "type": "function", "function": { "name": … } }`. Default `auto`. */
  tool_choice?: unknown
  /** Whether a completion may contain several calls. Default true. */
  parallel_tool_calls?: boolean | null
  /** Rejected with `unsupported_parameter`: use `tools`. */
  functions?: unknown[] | null
  /** Rejected with `unsupported_parameter`: use `tool_choice`. */
  function_call?: unknown
  /** A string of 1–100 characters, or up to four of them. Each response of the model ends before the first one. Default: none. */
  stop?: unknown
  /** Format of the response: `text`, `json_object`, or `json_schema` with `{ name, schema, description, strict }`. The response is validated, see `responseFormat` of turns; with `stream` it is sent when it was validated. Default: text. */
  response_format?: Record<string, unknown> | null
  /** Log probabilities. Only false is supported. Default false. */
  logprobs?: boolean | null
  /** Output types. Only `["text"]` is supported. Default: text. */
  modalities?: unknown[] | null
  /** Rejected with `unsupported_parameter`: audio is not supported. */
  audio?: Record<string, unknown> | null
}

export interface ChatFailure {
  /** The error. */
  error: {
    /** Explanation for people. */
    message: string
    /** Kind of the error. */
    type: string
    /** Parameter that is wrong. Null when it is none. */
    param: string | null
    /** Stable error code, such as `model_not_found`. Null without one. */
    code: string | null
  }
}

export interface ChatModel {
  /** `agent/` and the slug or ID of an agent. */
  id: string
  /** Type of the object. */
  object: "model"
  /** Time of creation, in Unix seconds. */
  created: number
  /** Always `atrium`. */
  owned_by: string
}

export interface ChatModelList {
  /** Type of the object. */
  object: "list"
  /** Active agents of the workspace. */
  data: ChatModel[]
}

export interface Connection {
  /** Unique ID, a UUID version 7. */
  id: string
  /** Slug of the connector. */
  connectorSlug: string
  /** Label that distinguishes several connections to one connector. */
  label: string | null
  /** `pending`: waits up to an hour for credentials or consent. `active`: in use. `error`: the provider rejects the credentials, see `lastError`. `expired`: not completed in an hour. `revoked`: deleted. */
  status: "pending" | "active" | "error" | "expired" | "revoked"
  /** Name of the account at the provider. Null while pending. */
  accountName: string | null
  /** ID of the account at the provider. Null while pending. */
  accountId: string | null
  /** Scopes that the provider granted. Empty for connectors without scopes. */
  scopes: string[]
  /** Time of the last use. Null before the first. */
  lastUsedAt: string | null
  /** Last error of the provider. Null without one. */
  lastError: string | null
  /** Time of creation. */
  createdAt: string
  /** Time of the last change. */
  updatedAt: string
  /** Time of deletion. Null before that. */
  deletedAt: string | null
}

export interface ConnectionBrokenEvent {
  /** ID of the event, also in the header `webhook-id`. */
  id: string
  /** Type of the event. */
  type: "connection.broken"
  /** Version of the schema of `data`. */
  version: 1
  /** Time of the change. */
  timestamp: string
  /** True for a test event, which is not in the log. */
  isTest?: boolean
  /** ID of the org. */
  orgId: string
  /** ID of the workspace. Null for an event of the whole org. */
  workspaceId: string | null
  actor: EventActor
  /** What the event is about. */
  subject: {
    /** Type of resource. */
    type: string
    /** ID of the resource. */
    id: string
  }
  /** Number of the event among those of its subject, from 1. */
  sequence: number
  /** Position in the log of the org, from 1. Increases in the order in which events became visible. */
  position: number
  /** The events that led to this one; see the loop guard in the guide on events. */
  chain: {
    /** ID of the first event of the chain. */
    id: string
    /** Number of events before this one. */
    depth: number
  }
  /** What happened. */
  data: {
    /** ID of the connection. */
    connectionId: string
    /** Slug of the connector. */
    connector: string
    /** What a person has to renew. */
    reason: "credentials" | "tools"
  }
}

export interface ConnectionConnectedEvent {
  /** ID of the event, also in the header `webhook-id`. */
  id: string
  /** Type of the event. */
  type: "connection.connected"
  /** Version of the schema of `data`. */
  version: 1
  /** Time of the change. */
  timestamp: string
  /** True for a test event, which is not in the log. */
  isTest?: boolean
  /** ID of the org. */
  orgId: string
  /** ID of the workspace. Null for an event of the whole org. */
  workspaceId: string | null
  actor: EventActor
  /** What the event is about. */
  subject: {
    /** Type of resource. */
    type: string
    /** ID of the resource. */
    id: string
  }
  /** Number of the event among those of its subject, from 1. */
  sequence: number
  /** Position in the log of the org, from 1. Increases in the order in which events became visible. */
  position: number
  /** The events that led to this one; see the loop guard in the guide on events. */
  chain: {
    /** ID of the first event of the chain. */
    id: string
    /** Number of events before this one. */
    depth: number
  }
  /** What happened. */
  data: {
    /** ID of the connection. */
    connectionId: string
    /** Slug of the connector. */
    connector: string
  }
}

export interface ConnectionCreate {
  /** Slug of a connector from `GET /connectors`, 1–100 characters. */
  connectorSlug: string
  /** Label that distinguishes several connections to one connector, at most 120 characters. Default: none. */
  label?: string
}

export interface ConnectionCreatedEvent {
  /** ID of the event, also in the header `webhook-id`. */
  id: string
  /** Type of the event. */
  type: "connection.created"
  /** Version of the schema of `data`. */
  version: 1
  /** Time of the change. */
  timestamp: string
  /** True for a test event, which is not in the log. */
  isTest?: boolean
  /** ID of the org. */
  orgId: string
  /** ID of the workspace. Null for an event of the whole org. */
  workspaceId: string | null
  actor: EventActor
  /** What the event is about. */
  subject: {
    /** Type of resource. */
    type: string
    /** ID of the resource. */
    id: string
  }
  /** Number of the event among those of its subject, from 1. */
  sequence: number
  /** Position in the log of the org, from 1. Increases in the order in which events became visible. */
  position: number
  /** The events that led to this one; see the loop guard in the guide on events. */
  chain: {
    /** ID of the first event of the chain. */
    id: string
    /** Number of events before this one. */
    depth: number
  }
  /** What happened. */
  data: {
    /** ID of the connection. */
    connectionId: string
    /** Slug of the connector. */
    connector: string
  }
}

export interface ConnectionRevokedEvent {
  /** ID of the event, also in the header `webhook-id`. */
  id: string
  /** Type of the event. */
  type: "connection.revoked"
  /** Version of the schema of `data`. */
  version: 1
  /** Time of the change. */
  timestamp: string
  /** True for a test event, which is not in the log. */
  isTest?: boolean
  /** ID of the org. */
  orgId: string
  /** ID of the workspace. Null for an event of the whole org. */
  workspaceId: string | null
  actor: EventActor
  /** What the event is about. */
  subject: {
    /** Type of resource. */
    type: string
    /** ID of the resource. */
    id: string
  }
  /** Number of the event among those of its subject, from 1. */
  sequence: number
  /** Position in the log of the org, from 1. Increases in the order in which events became visible. */
  position: number
  /** The events that led to this one; see the loop guard in the guide on events. */
  chain: {
    /** ID of the first event of the chain. */
    id: string
    /** Number of events before this one. */
    depth: number
  }
  /** What happened. */
  data: {
    /** ID of the connection. */
    connectionId: string
    /** Slug of the connector. */
    connector: string
  }
}

export interface ConnectionTools {
  /** Hash of the accepted tools. Null for connectors whose tools never change. */
  hash: string | null
  /** Tools that agents can use. */
  items: Array<{
    /** Name by which agents call the tool. */
    name: string
    /** What the tool does. */
    description: string
    /** JSON Schema of the arguments. */
    inputSchema: unknown
  }>
  /** Tools of an MCP server that differ from the accepted ones. Null when they are the same. */
  offered: {
    /** Hash of the offered tools. Send it to accept them. */
    hash: string
    /** Tools that the MCP server offers now. */
    items: Array<{
      /** Name of the tool at the MCP server. */
      name: string
      /** What the tool does. */
      description: string
      /** JSON Schema of the arguments. */
      inputSchema: unknown
    }>
  } | null
}

export interface ConnectorEntry {
  /** Stable identifier of the connector. */
  slug: string
  /** Display name. */
  name: string
  /** What agents can do with the connector. */
  description: string
  /** What the connector is for. `general` connects any service. */
  category: "communication" | "development" | "documents" | "business" | "general"
  /** How a connection is authorized. */
  authType: "oauth" | "api_key" | "none"
  /** Whether the server has the OAuth client that the connector needs, or it needs none. */
  configured: boolean
  /** Whether the connector can be used on this server. */
  availability: "available" | "not_configured" | "coming_soon"
  /** Why the connector is not available. Absent when it is. */
  availabilityReason?: string
  /** What is missing. Present for `not_configured` connectors only. */
  setup?: {
    /** Variables that the operator sets. */
    variables: string[]
    /** Page of the provider where the operator registers the OAuth client. */
    registrationUrl: string
  }
  /** Tools of the connector. Empty for `mcp`, where each server has its own. */
  tools: Array<{
    /** Name of the tool. */
    name: string
    /** What the tool does. */
    description: string
  }>
  /** Credentials to ask for. Present for `api_key` connectors only. */
  credentialFields?: Array<{
    /** Key of the field in `credentials`. */
    key: string
    /** Label of the form field. */
    label: string
    /** Whether a value is required. */
    required: boolean
    /** Whether the form should hide the value. */
    secret: boolean
    /** Where to find the value. */
    help?: string
  }>
}

export interface ConnectorEventReceivedEvent {
  /** ID of the event, also in the header `webhook-id`. */
  id: string
  /** Type of the event. */
  type: "connector.event.received"
  /** Version of the schema of `data`. */
  version: 1
  /** Time of the change. */
  timestamp: string
  /** True for a test event, which is not in the log. */
  isTest?: boolean
  /** ID of the org. */
  orgId: string
  /** ID of the workspace. Null for an event of the whole org. */
  workspaceId: string | null
  actor: EventActor
  /** What the event is about. */
  subject: {
    /** Type of resource. */
    type: string
    /** ID of the resource. */
    id: string
  }
  /** Number of the event among those of its subject, from 1. */
  sequence: number
  /** Position in the log of the org, from 1. Increases in the order in which events became visible. */
  position: number
  /** The events that led to this one; see the loop guard in the guide on events. */
  chain: {
    /** ID of the first event of the chain. */
    id: string
    /** Number of events before this one. */
    depth: number
  }
  /** What happened. */
  data: {
    /** ID of the endpoint. */
    endpointId: string
    /** Type of the event, as the provider calls it. */
    eventType: string
    /** ID of the event at the provider, hashed when it is long. */
    externalId: string
  }
}

export interface Consent {
  /** Slug of the connector. */
  connectorSlug: string
  /** The `authorityVersion` of the agent that the consent was given for. */
  authorityVersion: number
  /** Whether the consent still applies. False after another person has changed how the agent acts. */
  isValid: boolean
  /** Whether tools that change something ask for approval after the agent has read untrusted content. */
  askAfterUntrustedContent: boolean
  /** Time of creation. */
  createdAt: string
  /** Time of the last change. */
  updatedAt: string
}

export interface ConsentList {
  /** Your consents for the agent. */
  items: Consent[]
  /** Always null: the list has one page. */
  nextCursor: string | null
  /** The last change of how the agent acts. */
  authority: {
    /** The `authorityVersion` of the agent now. */
    version: number
    /** The user who last changed how the agent acts. Null when unknown. */
    changedBy: {
      /** Unique ID, a UUID version 7. */
      id: string
      /** Name of the user. */
      name: string
    } | null
    /** Time of that change. */
    changedAt: string
  }
}

export interface ConsentPut {
  /** Whether tools that change something ask for approval after the agent has read untrusted content. Default: the value of the existing consent; true for a new consent. */
  askAfterUntrustedContent?: boolean
  /** The `authorityVersion` of the agent that you read. CONFLICT when the agent has changed since. Default: the current version. */
  authorityVersion?: number
}

export interface Credentials {
  /** A value for each field of `credentialFields` that is required, at most 8,192 characters each. Unknown fields are rejected. */
  credentials: Record<string, string>
}

export interface Deleted {
  /** Always true. */
  deleted: true
}

export interface DeletedResponse {
  /** ID of the response. */
  id: string
  /** Type of the object. */
  object: "response"
  /** Always true. */
  deleted: true
}

export interface Delivery {
  /** Unique ID, a UUID version 7. */
  id: string
  /** ID of the webhook. */
  webhookId: string
  /** ID of the event. */
  eventId: string
  /** Type of the event. */
  eventType: string
  /** URL that the event is sent to. Null when the webhook forwards nowhere. */
  url: string | null
  /** `pending`: waits for an attempt. `sending`: an attempt is running. `failed`: no attempts are left. `held`: the webhook is paused or disabled; sent when it is active again. */
  status: "pending" | "sending" | "succeeded" | "failed" | "held"
  /** Explanation of the status. Null when there is nothing to add. */
  statusReason: string | null
  /** Number of attempts after the first. */
  retryCount: number
  /** Time of the next attempt. Null when none is planned. */
  nextAttemptAt: string | null
  /** Response of the endpoint to the last attempt. Null without one. */
  response: {
    /** HTTP status code. */
    status: number
    /** Headers of the response, with names in lower case. */
    headers: Record<string, string>
    /** First 4 KB of the body, as text. */
    body: string
    /** Whether the body is longer. */
    truncated: boolean
    /** Duration of the request, in milliseconds. */
    durationMs: number
  } | null
  /** Why the last attempt failed. Null when it succeeded. */
  error: string | null
  /** Attempts, oldest first. */
  attempts: Array<{
    /** Number of the attempt, from 1. */
    number: number
    /** Whether a person requested the attempt. */
    trigger: "automatic" | "manual"
    /** Time of the attempt. */
    at: string
    /** Duration of the attempt, in milliseconds. */
    durationMs: number
    /** URL that the event was sent to. */
    url: string
    /** HTTP status code of the response. Null without one. */
    responseStatus: number | null
    /** Why the attempt failed. Null when it succeeded. */
    error: string | null
  }>
  /** Time of creation. */
  createdAt: string
  /** Time of the last change. */
  updatedAt: string
}

export interface DepositCreate {
  /** Amount in cents, 100–100,000. */
  amountCents: number
  /** Deposit without a payment. Works only outside production, without Stripe or with `ALLOW_DIRECT_DEPOSITS=1`. Default: a payment page, if Stripe is set up. */
  method?: "direct"
}

export interface DepositStarted {
  /** URL of the payment page. Open it in a browser. */
  checkoutUrl?: string
  /** ID of the checkout session at Stripe. */
  sessionId?: string
  /** Amount of a direct deposit, in cents. Absent with a payment page. */
  deposited?: number
  /** Present for a direct deposit only. */
  method?: "direct"
  /** Explanation of a direct deposit. */
  message?: string
}

export interface DirectParts {
  /** The parts in the order of the request, each once. */
  parts: Array<{
    /** Number of the part, at most 10,000. */
    number: number
    /** Place of its first byte in the file, from 0. */
    startByte: number
    /** Size in bytes, which the request must have exactly. */
    sizeBytes: number
    /** Signed URL that accepts the bytes of the part by PUT, for one hour. It needs no other credentials. */
    url: string
  }>
  /** When the upload is deleted unless URLs are requested again. */
  expiresAt: string
}

export interface DirectPartsRequest {
  /** Numbers of 1–100 parts. A part can be sent again until the upload is completed. */
  numbers: number[]
}

export interface DirectUpload {
  /** `open`: bytes are missing. `verifying`: all have arrived and are being checked. `ready`: the file has them. `failed`: they are not those that were declared, and are deleted with the file. */
  state: "open" | "verifying" | "ready" | "failed"
  /** Size of every part except the last one in bytes. A file of at most 100 MB is one part. */
  partBytes: number
  /** Number of parts, at most 10,000. */
  partCount: number
  /** Numbers of the parts that have arrived, in ascending order. Only when an open upload is retrieved. */
  receivedParts?: number[]
  /** Why the upload has failed. Null in other states. */
  error: string | null
  /** When an open upload is deleted with its file: 24 hours after the last request for URLs of parts, and at most 7 days after its creation. Failed and ready uploads are forgotten then. */
  expiresAt: string
}

export interface EmbeddingCreate {
  /** ID of a model from `GET /models` with the capability `embeddings`, `<provider>/<model>`, at most 255 characters. */
  model: string
  /** A text of 1–100,000 characters, or 1–1,024 of them. A model may have lower limits (Gemini: 100 texts): VALIDATION_ERROR then. */
  input: string | string[]
  /** Length of the vectors, 1–8,192. Models that cannot shorten their vectors reject it with VALIDATION_ERROR. Default: as the model decides. */
  dimensions?: number
}

export interface EmbeddingList {
  /** ID of the model. */
  model: string
  /** Length of each vector. */
  dimensions: number
  /** One vector for each text of `input`, in the same order. */
  embeddings: number[][]
  /** Usage of the model. */
  usage: {
    /** Number of tokens of the texts. */
    inputTokens: number
    /** Whether the tokens were counted from the size of the texts, because the provider reported no plausible number. */
    isEstimate: boolean
    /** What was charged, with the platform fee, in microcents (10,000 microcents are one cent). With a provider key of the org, only the fee. */
    chargedMicrocents: number
  }
}

export interface Endpoint {
  /** Unique ID, a UUID version 7. */
  id: string
  /** ID of the connection. */
  connectionId: string
  /** Provider that sends the events. */
  provider: string
  /** URL that the provider sends events to. */
  url: string
  /** `pending`: being set up. `active`: receives events. `closed`: replaced by another endpoint. */
  status: "pending" | "active" | "closed"
  /** ID of the agent that handles the events. Null: events are only recorded. */
  agentId: string | null
  /** What the endpoint is for at the provider, such as a repository or a phone number. */
  target: string | null
  /** Time of creation. */
  createdAt: string
}

export interface Event {
  /** Unique ID, a UUID version 7. */
  id: string
  /** Type, one of `GET /event-types`. */
  type: string
  /** Version of the schema of `data`. */
  version: number
  /** ID of the org. */
  orgId: string
  /** ID of the workspace. Null for an event of the whole org. */
  workspaceId: string | null
  actor: EventActor
  /** What the event is about. */
  subject: {
    /** Type of resource. */
    type: string
    /** ID of the resource. */
    id: string
  }
  /** Position in the log of the org, from 1. Increases in the order in which events became visible. */
  position: number
  /** Number of the event among those of its subject, from 1. */
  sequence: number
  /** Time of the change. */
  occurredAt: string
  /** The events that led to this one; see the loop guard in the guide on events. */
  chain: {
    /** ID of the first event of the chain. */
    id: string
    /** Number of events before this one. */
    depth: number
  }
  /** False when the loop guard stopped the event: it is recorded and not delivered. */
  isDelivered: boolean
  /** Fields of the type; `GET /event-types` has their schema. */
  data: Record<string, unknown>
}

export interface EventActor {
  /** `system`: the server itself or a command of the operator. */
  type: "user" | "system"
  /** ID of the user. Null for `system`. */
  id: string | null
  /** Name at the time of the event. */
  name: string
  /** ID of the API key. Null without one. */
  apiKeyId: string | null
}

export interface EventDelivery {
  /** Unique ID, a UUID version 7. */
  id: string
  /** ID of the event. */
  eventId: string
  /** Type of the event. */
  eventType: string
  /** URL that the event is sent to. Null when the webhook forwards nowhere. */
  url: string | null
  /** `pending`: waits for an attempt. `sending`: an attempt is running. `failed`: no attempts are left. `held`: the webhook is paused or disabled; sent when it is active again. */
  status: "pending" | "sending" | "succeeded" | "failed" | "held"
  /** Explanation of the status. Null when there is nothing to add. */
  statusReason: string | null
  /** Number of attempts after the first. */
  retryCount: number
  /** Time of the next attempt. Null when none is planned. */
  nextAttemptAt: string | null
  /** Response of the endpoint to the last attempt. Null without one. */
  response: {
    /** HTTP status code. */
    status: number
    /** Headers of the response, with names in lower case. */
    headers: Record<string, string>
    /** First 4 KB of the body, as text. */
    body: string
    /** Whether the body is longer. */
    truncated: boolean
    /** Duration of the request, in milliseconds. */
    durationMs: number
  } | null
  /** Why the last attempt failed. Null when it succeeded. */
  error: string | null
  /** Attempts, oldest first. */
  attempts: Array<{
    /** Number of the attempt, from 1. */
    number: number
    /** Whether a person requested the attempt. */
    trigger: "automatic" | "manual"
    /** Time of the attempt. */
    at: string
    /** Duration of the attempt, in milliseconds. */
    durationMs: number
    /** URL that the event was sent to. */
    url: string
    /** HTTP status code of the response. Null without one. */
    responseStatus: number | null
    /** Why the attempt failed. Null when it succeeded. */
    error: string | null
  }>
  /** Time of creation. */
  createdAt: string
  /** Time of the last change. */
  updatedAt: string
  /** ID of the event endpoint. */
  endpointId: string
  /** Whether the event was sent by `test`, so that it is not in the log. */
  isTest: boolean
}

export interface EventEndpoint {
  /** Unique ID, a UUID version 7. */
  id: string
  /** Name, 1–120 characters. */
  name: string
  /** URL that events are sent to. */
  url: string
  /** Event types that are sent, such as `agent.created`, `agent.*` or `*`. */
  types: string[]
  /** Only events of these workspaces, 1–50, and of the whole org. Null, the default: all workspaces. */
  workspaceIds: string[] | null
  /** Only events that pass this condition: `{ "path": "data.name", "equals": … }` with one of `equals`, `in`, `exists`, `gt`, `gte`, `lt`, `lte` and `prefix`, or `all`, `any` and `not` of conditions. At most 4 KB, 50 conditions and 5 levels. */
  filter: Record<string, unknown> | null
  /** `none`, the default: events are sent at once. `subject`: an event is sent after the earlier events of its subject were delivered or have failed for good. */
  ordering: "none" | "subject"
  /** Whether deliveries have the field `expanded`: the whole text of messages, and received webhook events. Default: false. */
  expand: boolean
  /** JSONata expression whose result, an object of at most 1.5 MB as JSON, is sent instead of the event, 1–8,192 characters. Null, the default: the event is sent. */
  transform: string | null
  /** `active` receives events. `paused` keeps the deliveries of events until it is active again. `disabled` receives no events. */
  status: "active" | "paused" | "disabled"
  /** Why nothing is delivered: the server disabled the endpoint, or the owner lost their rights. */
  statusReason: string | null
  /** Who set the URL. Only events that they may read are delivered. */
  owner: {
    /** ID of the person. */
    userId: string
    /** ID of the API key. Null when the URL was set in the console. */
    apiKeyId: string | null
  }
  /** Number of deliveries that were attempted. */
  deliveryCount: number
  /** Time of the last attempt. Null before the first. */
  lastDeliveryAt: string | null
  /** Time of the first failed attempt since the last successful one or change of `status`. Null without one. */
  failingSince: string | null
  /** How the latest deliveries ended, newest first: up to 20 of those created in the last 7 days. Deliveries that wait for an attempt are not included. */
  recentResults: Array<"succeeded" | "failed">
  /** Time of creation. */
  createdAt: string
  /** Time of the last change. */
  updatedAt: string
}

export interface EventEndpointCreate {
  /** Name, 1–120 characters. */
  name: string
  /** Public HTTP or HTTPS URL to send events to, at most 2,048 characters. */
  url: string
  /** Event types to send, such as `agent.created`, `agent.*` or `*`, 1–50 of at most 255 characters. */
  types: string[]
  /** Only events of these workspaces, 1–50, and of the whole org. Null, the default: all workspaces. */
  workspaceIds?: string[] | null
  /** Only events that pass this condition: `{ "path": "data.name", "equals": … }` with one of `equals`, `in`, `exists`, `gt`, `gte`, `lt`, `lte` and `prefix`, or `all`, `any` and `not` of conditions. At most 4 KB, 50 conditions and 5 levels. */
  filter?: Record<string, unknown> | null
  /** `none`, the default: events are sent at once. `subject`: an event is sent after the earlier events of its subject were delivered or have failed for good. */
  ordering?: "none" | "subject"
  /** Whether deliveries have the field `expanded`: the whole text of messages, and received webhook events. Default: false. */
  expand?: boolean
  /** JSONata expression whose result, an object of at most 1.5 MB as JSON, is sent instead of the event, 1–8,192 characters. Null, the default: the event is sent. */
  transform?: string | null
}

export interface EventEndpointCreatedEvent {
  /** ID of the event, also in the header `webhook-id`. */
  id: string
  /** Type of the event. */
  type: "event_endpoint.created"
  /** Version of the schema of `data`. */
  version: 1
  /** Time of the change. */
  timestamp: string
  /** True for a test event, which is not in the log. */
  isTest?: boolean
  /** ID of the org. */
  orgId: string
  /** ID of the workspace. Null for an event of the whole org. */
  workspaceId: string | null
  actor: EventActor
  /** What the event is about. */
  subject: {
    /** Type of resource. */
    type: string
    /** ID of the resource. */
    id: string
  }
  /** Number of the event among those of its subject, from 1. */
  sequence: number
  /** Position in the log of the org, from 1. Increases in the order in which events became visible. */
  position: number
  /** The events that led to this one; see the loop guard in the guide on events. */
  chain: {
    /** ID of the first event of the chain. */
    id: string
    /** Number of events before this one. */
    depth: number
  }
  /** What happened. */
  data: {
    /** ID of the event endpoint. */
    endpointId: string
    /** Name of the event endpoint. */
    name: string
    /** Event types that it receives. */
    types: string[]
  }
}

export interface EventEndpointDeletedEvent {
  /** ID of the event, also in the header `webhook-id`. */
  id: string
  /** Type of the event. */
  type: "event_endpoint.deleted"
  /** Version of the schema of `data`. */
  version: 1
  /** Time of the change. */
  timestamp: string
  /** True for a test event, which is not in the log. */
  isTest?: boolean
  /** ID of the org. */
  orgId: string
  /** ID of the workspace. Null for an event of the whole org. */
  workspaceId: string | null
  actor: EventActor
  /** What the event is about. */
  subject: {
    /** Type of resource. */
    type: string
    /** ID of the resource. */
    id: string
  }
  /** Number of the event among those of its subject, from 1. */
  sequence: number
  /** Position in the log of the org, from 1. Increases in the order in which events became visible. */
  position: number
  /** The events that led to this one; see the loop guard in the guide on events. */
  chain: {
    /** ID of the first event of the chain. */
    id: string
    /** Number of events before this one. */
    depth: number
  }
  /** What happened. */
  data: {
    /** ID of the event endpoint. */
    endpointId: string
    /** Name of the event endpoint. */
    name: string
  }
}

export interface EventEndpointDisabledEvent {
  /** ID of the event, also in the header `webhook-id`. */
  id: string
  /** Type of the event. */
  type: "event_endpoint.disabled"
  /** Version of the schema of `data`. */
  version: 1
  /** Time of the change. */
  timestamp: string
  /** True for a test event, which is not in the log. */
  isTest?: boolean
  /** ID of the org. */
  orgId: string
  /** ID of the workspace. Null for an event of the whole org. */
  workspaceId: string | null
  actor: EventActor
  /** What the event is about. */
  subject: {
    /** Type of resource. */
    type: string
    /** ID of the resource. */
    id: string
  }
  /** Number of the event among those of its subject, from 1. */
  sequence: number
  /** Position in the log of the org, from 1. Increases in the order in which events became visible. */
  position: number
  /** The events that led to this one; see the loop guard in the guide on events. */
  chain: {
    /** ID of the first event of the chain. */
    id: string
    /** Number of events before this one. */
    depth: number
  }
  /** What happened. */
  data: {
    /** ID of the event endpoint. */
    endpointId: string
    /** Name of the event endpoint. */
    name: string
    /** Why it was disabled. */
    reason: string
  }
}

export interface EventEndpointTest {
  /** Event type, one of `GET /event-types`, at most 255 characters. Default: the first one that the endpoint receives. */
  type?: string
}

export interface EventEndpointUpdatedEvent {
  /** ID of the event, also in the header `webhook-id`. */
  id: string
  /** Type of the event. */
  type: "event_endpoint.updated"
  /** Version of the schema of `data`. */
  version: 1
  /** Time of the change. */
  timestamp: string
  /** True for a test event, which is not in the log. */
  isTest?: boolean
  /** ID of the org. */
  orgId: string
  /** ID of the workspace. Null for an event of the whole org. */
  workspaceId: string | null
  actor: EventActor
  /** What the event is about. */
  subject: {
    /** Type of resource. */
    type: string
    /** ID of the resource. */
    id: string
  }
  /** Number of the event among those of its subject, from 1. */
  sequence: number
  /** Position in the log of the org, from 1. Increases in the order in which events became visible. */
  position: number
  /** The events that led to this one; see the loop guard in the guide on events. */
  chain: {
    /** ID of the first event of the chain. */
    id: string
    /** Number of events before this one. */
    depth: number
  }
  /** What happened. */
  data: {
    /** ID of the event endpoint. */
    endpointId: string
    /** Name of the event endpoint. */
    name: string
    /** Names of the fields that were sent to be changed. */
    changed: string[]
  }
}

export interface EventEndpointWithSecret {
  /** Unique ID, a UUID version 7. */
  id: string
  /** Name, 1–120 characters. */
  name: string
  /** URL that events are sent to. */
  url: string
  /** Event types that are sent, such as `agent.created`, `agent.*` or `*`. */
  types: string[]
  /** Only events of these workspaces, 1–50, and of the whole org. Null, the default: all workspaces. */
  workspaceIds: string[] | null
  /** Only events that pass this condition: `{ "path": "data.name", "equals": … }` with one of `equals`, `in`, `exists`, `gt`, `gte`, `lt`, `lte` and `prefix`, or `all`, `any` and `not` of conditions. At most 4 KB, 50 conditions and 5 levels. */
  filter: Record<string, unknown> | null
  /** `none`, the default: events are sent at once. `subject`: an event is sent after the earlier events of its subject were delivered or have failed for good. */
  ordering: "none" | "subject"
  /** Whether deliveries have the field `expanded`: the whole text of messages, and received webhook events. Default: false. */
  expand: boolean
  /** JSONata expression whose result, an object of at most 1.5 MB as JSON, is sent instead of the event, 1–8,192 characters. Null, the default: the event is sent. */
  transform: string | null
  /** `active` receives events. `paused` keeps the deliveries of events until it is active again. `disabled` receives no events. */
  status: "active" | "paused" | "disabled"
  /** Why nothing is delivered: the server disabled the endpoint, or the owner lost their rights. */
  statusReason: string | null
  /** Who set the URL. Only events that they may read are delivered. */
  owner: {
    /** ID of the person. */
    userId: string
    /** ID of the API key. Null when the URL was set in the console. */
    apiKeyId: string | null
  }
  /** Number of deliveries that were attempted. */
  deliveryCount: number
  /** Time of the last attempt. Null before the first. */
  lastDeliveryAt: string | null
  /** Time of the first failed attempt since the last successful one or change of `status`. Null without one. */
  failingSince: string | null
  /** How the latest deliveries ended, newest first: up to 20 of those created in the last 7 days. Deliveries that wait for an attempt are not included. */
  recentResults: Array<"succeeded" | "failed">
  /** Time of creation. */
  createdAt: string
  /** Time of the last change. */
  updatedAt: string
  /** Signing secret. Returned only here; store it in a safe place. */
  secret: string
}

export interface EventList {
  /** Events of this page. */
  items: Event[]
  /** Send it as `after` to continue. Also set on the last page: events that happen later follow it. Null before the first event of the org. */
  nextCursor: string | null
  /** Whether more events follow now. A page can be empty although they do. */
  hasMore: boolean
}

export interface EventTypeRecord {
  /** Name of the type. */
  type: string
  /** Version of `dataSchema`. */
  version: number
  /** When the event occurs. */
  description: string
  /** Permission that a reader needs. */
  permission: string
  /** Permission with which the person to whom the subject belongs, such as an API key or a connection, may read its events. Null: the subject belongs to nobody. */
  ownerPermission: string | null
  /** Whether only that person may read the event. */
  isOwnerOnly: boolean
  /** Type of resource that the event is about. */
  subject: string
  /** JSON Schema (2020-12) of `data`. */
  dataSchema: Record<string, unknown>
  /** Example of `data`. */
  exampleData: Record<string, unknown>
}

export interface ExistingConnection {
  /** Unique ID, a UUID version 7. */
  id: string
  /** Slug of the connector. */
  connectorSlug: string
  /** Label that distinguishes several connections to one connector. */
  label: string | null
  /** `pending`: waits up to an hour for credentials or consent. `active`: in use. `error`: the provider rejects the credentials, see `lastError`. `expired`: not completed in an hour. `revoked`: deleted. */
  status: "pending" | "active" | "error" | "expired" | "revoked"
  /** Name of the account at the provider. Null while pending. */
  accountName: string | null
  /** ID of the account at the provider. Null while pending. */
  accountId: string | null
  /** Scopes that the provider granted. Empty for connectors without scopes. */
  scopes: string[]
  /** Time of the last use. Null before the first. */
  lastUsedAt: string | null
  /** Last error of the provider. Null without one. */
  lastError: string | null
  /** Time of creation. */
  createdAt: string
  /** Time of the last change. */
  updatedAt: string
  /** Time of deletion. Null before that. */
  deletedAt: string | null
  connection: Connection
  /** URL of the provider's consent page. Open it in a browser. Valid once, for 10 minutes. Null for other connectors. */
  oauthUrl: string | null
  /** URL to POST the credentials to. Null for OAuth connectors. */
  credentialSubmitUrl: string | null
}

export interface ExpandedEvent {
  /** Unique ID, a UUID version 7. */
  id: string
  /** Type, one of `GET /event-types`. */
  type: string
  /** Version of the schema of `data`. */
  version: number
  /** ID of the org. */
  orgId: string
  /** ID of the workspace. Null for an event of the whole org. */
  workspaceId: string | null
  actor: EventActor
  /** What the event is about. */
  subject: {
    /** Type of resource. */
    type: string
    /** ID of the resource. */
    id: string
  }
  /** Position in the log of the org, from 1. Increases in the order in which events became visible. */
  position: number
  /** Number of the event among those of its subject, from 1. */
  sequence: number
  /** Time of the change. */
  occurredAt: string
  /** The events that led to this one; see the loop guard in the guide on events. */
  chain: {
    /** ID of the first event of the chain. */
    id: string
    /** Number of events before this one. */
    depth: number
  }
  /** False when the loop guard stopped the event: it is recorded and not delivered. */
  isDelivered: boolean
  /** Fields of the type; `GET /event-types` has their schema. */
  data: Record<string, unknown>
  /** Contents that the event refers to: `text` of a `message.created`; `externalId`, `headers`, `contentType` and `payload` of a `webhook.event.received`. Null when they were deleted or have more than 1.5 MB. Not in events of other types. */
  expanded?: Record<string, unknown> | null
}

export interface Failure {
  /** Always false. */
  success: false
  /** The error. */
  error: {
    /** Stable error code. */
    code: "BAD_REQUEST" | "UNAUTHORIZED" | "PAYMENT_REQUIRED" | "FORBIDDEN" | "NOT_FOUND" | "CONFLICT" | "VALIDATION_ERROR" | "TOO_MANY_REQUESTS" | "INTERNAL_ERROR" | "SERVICE_UNAVAILABLE"
    /** Explanation for people. It may change. */
    message: string
  }
}

export interface File {
  /** Unique ID, a UUID version 7. */
  id: string
  /** Name, 1–255 characters without NUL, CR or LF. */
  name: string
  /** Media type. Null for folders and links. */
  mimeType: string | null
  /** Size in bytes. 0 for folders and links. */
  size: number
  /** ID of the folder that contains the file. Null: the root of the org. */
  parentId: string | null
  /** ID of the project whose folder contains the file. Null without one. */
  projectId: string | null
  /** Kind of the record: a file, a folder or a link to a file. */
  source: "upload" | "folder" | "link"
  /** ID of the file that a link points to. Null for files and folders, and when the caller may not see that file. */
  targetFileId: string | null
  /** Tags, at most 50 of 1–64 characters each. */
  tags: string[]
  /** Whether it is the folder of a project, which cannot be renamed, moved or deleted by itself. */
  isProtected: boolean
  /** Whether the folder is restricted itself: only its grants and owners of the org see it. Only for folders. */
  restricted?: boolean
  /** `pending` until the bytes are stored. Pending files are removed after 24 hours. */
  status: "pending" | "ready"
  /** Key of the stored object. Files with the same bytes share it. Null while pending. */
  storageKey: string | null
  /** URL that downloads the file with an API key. Null for folders and in the trash. */
  storageUrl: string | null
  /** SHA-256 of the bytes in hexadecimal. Null while pending, and for folders and links. */
  contentHash: string | null
  /** True for favorites of the caller, in lists, except for the trash, and when it is retrieved or marked by itself. Otherwise absent. */
  favorite?: boolean
  /** Time when the caller last uploaded, changed or opened the file. Only in the list of recent files. */
  recentAt?: string
  /** Names of the folders that contain the file, outermost first, without the root of the org; the innermost 20 of more. Only in lists with `search` or a filter, and in that of recent files. */
  path?: string[]
  /** Number of the current version. 1 until the content is replaced for the first time. */
  version: number
  /** ID of the user who created the file. */
  createdBy: string
  /** Time of creation. */
  createdAt: string
  /** Time of the last change. */
  updatedAt: string
  /** Time of the deletion. Only in the trash. */
  deletedAt?: string
  /** ID of the user who deleted the file. Only in the trash. */
  deletedBy?: string
  /** Time from which the file cannot be restored. Only in the trash. */
  purgeAt?: string
}

export interface FileCreate {
  /** Kind of the record. Default `upload`. */
  source?: "upload" | "folder" | "link"
  /** Name, 1–255 characters without NUL, CR or LF. Required for files and folders. Default for a link: the name of its target. */
  name?: string
  /** Media type in lower case, without parameters. Must be one of the types that can be stored. At most 255 characters. Required for files. */
  mimeType?: string
  /** Size in bytes, 0–104,857,600, with direct uploads up to `UPLOAD_MAX_BYTES` (at most 5,497,558,138,880). Required for files. */
  size?: number
  /** ID of the containing folder. Default, also for null: the root of the org. */
  parentId?: string | null
  /** ID of the project to put the file into. With `parentId`, that folder must be in the project. Default, also for null: none. */
  projectId?: string | null
  /** ID of the file that a link points to. Required for links; not a folder. */
  targetFileId?: string
}

export interface FileCreated {
  file: File
  /** Signed URL that accepts the bytes by PUT, within an hour. Present for pending files only. When `upload` is present, it belongs to the object store, the upload must be completed afterwards, and it is missing for files of several parts. */
  uploadUrl?: string
  upload?: DirectUpload
}

export interface FileCreatedEvent {
  /** ID of the event, also in the header `webhook-id`. */
  id: string
  /** Type of the event. */
  type: "file.created"
  /** Version of the schema of `data`. */
  version: 1
  /** Time of the change. */
  timestamp: string
  /** True for a test event, which is not in the log. */
  isTest?: boolean
  /** ID of the org. */
  orgId: string
  /** ID of the workspace. Null for an event of the whole org. */
  workspaceId: string | null
  actor: EventActor
  /** What the event is about. */
  subject: {
    /** Type of resource. */
    type: string
    /** ID of the resource. */
    id: string
  }
  /** Number of the event among those of its subject, from 1. */
  sequence: number
  /** Position in the log of the org, from 1. Increases in the order in which events became visible. */
  position: number
  /** The events that led to this one; see the loop guard in the guide on events. */
  chain: {
    /** ID of the first event of the chain. */
    id: string
    /** Number of events before this one. */
    depth: number
  }
  /** What happened. */
  data: {
    /** ID of the file. */
    fileId: string
    /** Name of the file. */
    name: string
    /** Media type of its bytes. Null for a link. */
    mimeType: string | null
    /** Size in bytes, the declared one while the upload is pending. 0 for a link. */
    sizeBytes: number
    /** ID of its folder. Null: the root folder of the org. */
    parentId: string | null
    /** ID of the project whose folder it is in. Null without one. */
    projectId: string | null
    /** `link`: it shows the bytes of another file. */
    source: "upload" | "link"
    /** `pending`: without bytes until a `file.updated` whose `changed` has `content`. */
    status: "pending" | "ready"
  }
}

export interface FileDeletedEvent {
  /** ID of the event, also in the header `webhook-id`. */
  id: string
  /** Type of the event. */
  type: "file.deleted"
  /** Version of the schema of `data`. */
  version: 1
  /** Time of the change. */
  timestamp: string
  /** True for a test event, which is not in the log. */
  isTest?: boolean
  /** ID of the org. */
  orgId: string
  /** ID of the workspace. Null for an event of the whole org. */
  workspaceId: string | null
  actor: EventActor
  /** What the event is about. */
  subject: {
    /** Type of resource. */
    type: string
    /** ID of the resource. */
    id: string
  }
  /** Number of the event among those of its subject, from 1. */
  sequence: number
  /** Position in the log of the org, from 1. Increases in the order in which events became visible. */
  position: number
  /** The events that led to this one; see the loop guard in the guide on events. */
  chain: {
    /** ID of the first event of the chain. */
    id: string
    /** Number of events before this one. */
    depth: number
  }
  /** What happened. */
  data: {
    /** ID of the file. */
    fileId: string
    /** Name of the file. */
    name: string
    /** Media type of its bytes. Null for a link. */
    mimeType: string | null
    /** Size in bytes, the declared one while the upload is pending. 0 for a link. */
    sizeBytes: number
    /** ID of its folder. Null: the root folder of the org. */
    parentId: string | null
    /** ID of the project whose folder it is in. Null without one. */
    projectId: string | null
  }
}

export interface FileMovedEvent {
  /** ID of the event, also in the header `webhook-id`. */
  id: string
  /** Type of the event. */
  type: "file.moved"
  /** Version of the schema of `data`. */
  version: 1
  /** Time of the change. */
  timestamp: string
  /** True for a test event, which is not in the log. */
  isTest?: boolean
  /** ID of the org. */
  orgId: string
  /** ID of the workspace. Null for an event of the whole org. */
  workspaceId: string | null
  actor: EventActor
  /** What the event is about. */
  subject: {
    /** Type of resource. */
    type: string
    /** ID of the resource. */
    id: string
  }
  /** Number of the event among those of its subject, from 1. */
  sequence: number
  /** Position in the log of the org, from 1. Increases in the order in which events became visible. */
  position: number
  /** The events that led to this one; see the loop guard in the guide on events. */
  chain: {
    /** ID of the first event of the chain. */
    id: string
    /** Number of events before this one. */
    depth: number
  }
  /** What happened. */
  data: {
    /** ID of the file. */
    fileId: string
    /** Name of the file. */
    name: string
    /** Media type of its bytes. Null for a link. */
    mimeType: string | null
    /** Size in bytes, the declared one while the upload is pending. 0 for a link. */
    sizeBytes: number
    /** ID of its folder. Null: the root folder of the org. */
    parentId: string | null
    /** ID of the project whose folder it is in. Null without one. */
    projectId: string | null
    /** ID of the folder before. Null: the root folder of the org. */
    previousParentId: string | null
  }
}

export interface FilePatch {
  /** Name, 1–255 characters without NUL, CR or LF. */
  name?: string
  /** ID of the folder to move the file to. Null: the root of the org. */
  parentId?: string | null
  /** Tags, at most 50 of 1–64 characters each. Replaces all tags. */
  tags?: string[]
}

export interface FileRestoredEvent {
  /** ID of the event, also in the header `webhook-id`. */
  id: string
  /** Type of the event. */
  type: "file.restored"
  /** Version of the schema of `data`. */
  version: 1
  /** Time of the change. */
  timestamp: string
  /** True for a test event, which is not in the log. */
  isTest?: boolean
  /** ID of the org. */
  orgId: string
  /** ID of the workspace. Null for an event of the whole org. */
  workspaceId: string | null
  actor: EventActor
  /** What the event is about. */
  subject: {
    /** Type of resource. */
    type: string
    /** ID of the resource. */
    id: string
  }
  /** Number of the event among those of its subject, from 1. */
  sequence: number
  /** Position in the log of the org, from 1. Increases in the order in which events became visible. */
  position: number
  /** The events that led to this one; see the loop guard in the guide on events. */
  chain: {
    /** ID of the first event of the chain. */
    id: string
    /** Number of events before this one. */
    depth: number
  }
  /** What happened. */
  data: {
    /** ID of the file. */
    fileId: string
    /** Name of the file. */
    name: string
    /** Media type of its bytes. Null for a link. */
    mimeType: string | null
    /** Size in bytes, the declared one while the upload is pending. 0 for a link. */
    sizeBytes: number
    /** ID of its folder. Null: the root folder of the org. */
    parentId: string | null
    /** ID of the project whose folder it is in. Null without one. */
    projectId: string | null
  }
}

export interface FileShareCreatedEvent {
  /** ID of the event, also in the header `webhook-id`. */
  id: string
  /** Type of the event. */
  type: "file.share_created"
  /** Version of the schema of `data`. */
  version: 1
  /** Time of the change. */
  timestamp: string
  /** True for a test event, which is not in the log. */
  isTest?: boolean
  /** ID of the org. */
  orgId: string
  /** ID of the workspace. Null for an event of the whole org. */
  workspaceId: string | null
  actor: EventActor
  /** What the event is about. */
  subject: {
    /** Type of resource. */
    type: string
    /** ID of the resource. */
    id: string
  }
  /** Number of the event among those of its subject, from 1. */
  sequence: number
  /** Position in the log of the org, from 1. Increases in the order in which events became visible. */
  position: number
  /** The events that led to this one; see the loop guard in the guide on events. */
  chain: {
    /** ID of the first event of the chain. */
    id: string
    /** Number of events before this one. */
    depth: number
  }
  /** What happened. */
  data: {
    /** ID of the shared file or folder. */
    fileId: string
    /** Name of the file or folder. */
    name: string
    /** ID of the share. */
    shareId: string
    /** What visitors may do. */
    permission: "view" | "download" | "upload"
    /** Whether visitors must enter a password. */
    hasPassword: boolean
    /** Time at which the link stops working. Null: never. */
    expiresAt: string | null
  }
}

export interface FileShareRevokedEvent {
  /** ID of the event, also in the header `webhook-id`. */
  id: string
  /** Type of the event. */
  type: "file.share_revoked"
  /** Version of the schema of `data`. */
  version: 1
  /** Time of the change. */
  timestamp: string
  /** True for a test event, which is not in the log. */
  isTest?: boolean
  /** ID of the org. */
  orgId: string
  /** ID of the workspace. Null for an event of the whole org. */
  workspaceId: string | null
  actor: EventActor
  /** What the event is about. */
  subject: {
    /** Type of resource. */
    type: string
    /** ID of the resource. */
    id: string
  }
  /** Number of the event among those of its subject, from 1. */
  sequence: number
  /** Position in the log of the org, from 1. Increases in the order in which events became visible. */
  position: number
  /** The events that led to this one; see the loop guard in the guide on events. */
  chain: {
    /** ID of the first event of the chain. */
    id: string
    /** Number of events before this one. */
    depth: number
  }
  /** What happened. */
  data: {
    /** ID of the shared file or folder. */
    fileId: string
    /** Name of the file or folder. */
    name: string
    /** ID of the share. */
    shareId: string
    /** What visitors may do. */
    permission: "view" | "download" | "upload"
    /** Whether visitors must enter a password. */
    hasPassword: boolean
    /** Time at which the link stops working. Null: never. */
    expiresAt: string | null
  }
}

export interface FileShareUpdatedEvent {
  /** ID of the event, also in the header `webhook-id`. */
  id: string
  /** Type of the event. */
  type: "file.share_updated"
  /** Version of the schema of `data`. */
  version: 1
  /** Time of the change. */
  timestamp: string
  /** True for a test event, which is not in the log. */
  isTest?: boolean
  /** ID of the org. */
  orgId: string
  /** ID of the workspace. Null for an event of the whole org. */
  workspaceId: string | null
  actor: EventActor
  /** What the event is about. */
  subject: {
    /** Type of resource. */
    type: string
    /** ID of the resource. */
    id: string
  }
  /** Number of the event among those of its subject, from 1. */
  sequence: number
  /** Position in the log of the org, from 1. Increases in the order in which events became visible. */
  position: number
  /** The events that led to this one; see the loop guard in the guide on events. */
  chain: {
    /** ID of the first event of the chain. */
    id: string
    /** Number of events before this one. */
    depth: number
  }
  /** What happened. */
  data: {
    /** ID of the shared file or folder. */
    fileId: string
    /** Name of the file or folder. */
    name: string
    /** ID of the share. */
    shareId: string
    /** What visitors may do. */
    permission: "view" | "download" | "upload"
    /** Whether visitors must enter a password. */
    hasPassword: boolean
    /** Time at which the link stops working. Null: never. */
    expiresAt: string | null
  }
}

export interface FileUpdatedEvent {
  /** ID of the event, also in the header `webhook-id`. */
  id: string
  /** Type of the event. */
  type: "file.updated"
  /** Version of the schema of `data`. */
  version: 1
  /** Time of the change. */
  timestamp: string
  /** True for a test event, which is not in the log. */
  isTest?: boolean
  /** ID of the org. */
  orgId: string
  /** ID of the workspace. Null for an event of the whole org. */
  workspaceId: string | null
  actor: EventActor
  /** What the event is about. */
  subject: {
    /** Type of resource. */
    type: string
    /** ID of the resource. */
    id: string
  }
  /** Number of the event among those of its subject, from 1. */
  sequence: number
  /** Position in the log of the org, from 1. Increases in the order in which events became visible. */
  position: number
  /** The events that led to this one; see the loop guard in the guide on events. */
  chain: {
    /** ID of the first event of the chain. */
    id: string
    /** Number of events before this one. */
    depth: number
  }
  /** What happened. */
  data: {
    /** ID of the file. */
    fileId: string
    /** Name of the file. */
    name: string
    /** Media type of its bytes. Null for a link. */
    mimeType: string | null
    /** Size in bytes, the declared one while the upload is pending. 0 for a link. */
    sizeBytes: number
    /** ID of its folder. Null: the root folder of the org. */
    parentId: string | null
    /** ID of the project whose folder it is in. Null without one. */
    projectId: string | null
    /** The fields that were sent to be changed, or `content` for uploaded or restored bytes. */
    changed: Array<"name" | "tags" | "content">
  }
}

export interface FileUpload {
  /** The bytes, at most 100 MB, with their media type. */
  file: Blob
  /** ID of the containing folder. Default: the root of the org. */
  parentId?: string
  /** ID of the project to put the file into. Default: none. */
  projectId?: string
}

export interface FileVersionCreatedEvent {
  /** ID of the event, also in the header `webhook-id`. */
  id: string
  /** Type of the event. */
  type: "file.version_created"
  /** Version of the schema of `data`. */
  version: 1
  /** Time of the change. */
  timestamp: string
  /** True for a test event, which is not in the log. */
  isTest?: boolean
  /** ID of the org. */
  orgId: string
  /** ID of the workspace. Null for an event of the whole org. */
  workspaceId: string | null
  actor: EventActor
  /** What the event is about. */
  subject: {
    /** Type of resource. */
    type: string
    /** ID of the resource. */
    id: string
  }
  /** Number of the event among those of its subject, from 1. */
  sequence: number
  /** Position in the log of the org, from 1. Increases in the order in which events became visible. */
  position: number
  /** The events that led to this one; see the loop guard in the guide on events. */
  chain: {
    /** ID of the first event of the chain. */
    id: string
    /** Number of events before this one. */
    depth: number
  }
  /** What happened. */
  data: {
    /** ID of the file. */
    fileId: string
    /** Name of the file. */
    name: string
    /** Media type of its bytes. Null for a link. */
    mimeType: string | null
    /** Size in bytes, the declared one while the upload is pending. 0 for a link. */
    sizeBytes: number
    /** ID of its folder. Null: the root folder of the org. */
    parentId: string | null
    /** ID of the project whose folder it is in. Null without one. */
    projectId: string | null
    /** Number of the version, from 1. */
    version: number
    /** Number of the version whose bytes were restored. Null for new bytes. */
    restoredFrom: number | null
  }
}

export interface FileVersionDeletedEvent {
  /** ID of the event, also in the header `webhook-id`. */
  id: string
  /** Type of the event. */
  type: "file.version_deleted"
  /** Version of the schema of `data`. */
  version: 1
  /** Time of the change. */
  timestamp: string
  /** True for a test event, which is not in the log. */
  isTest?: boolean
  /** ID of the org. */
  orgId: string
  /** ID of the workspace. Null for an event of the whole org. */
  workspaceId: string | null
  actor: EventActor
  /** What the event is about. */
  subject: {
    /** Type of resource. */
    type: string
    /** ID of the resource. */
    id: string
  }
  /** Number of the event among those of its subject, from 1. */
  sequence: number
  /** Position in the log of the org, from 1. Increases in the order in which events became visible. */
  position: number
  /** The events that led to this one; see the loop guard in the guide on events. */
  chain: {
    /** ID of the first event of the chain. */
    id: string
    /** Number of events before this one. */
    depth: number
  }
  /** What happened. */
  data: {
    /** ID of the file. */
    fileId: string
    /** Name of the file. */
    name: string
    /** Media type of its bytes. Null for a link. */
    mimeType: string | null
    /** Size in bytes, the declared one while the upload is pending. 0 for a link. */
    sizeBytes: number
    /** ID of its folder. Null: the root folder of the org. */
    parentId: string | null
    /** ID of the project whose folder it is in. Null without one. */
    projectId: string | null
    /** Number of the version, from 1. */
    version: number
  }
}

export interface FileVersionUpdatedEvent {
  /** ID of the event, also in the header `webhook-id`. */
  id: string
  /** Type of the event. */
  type: "file.version_updated"
  /** Version of the schema of `data`. */
  version: 1
  /** Time of the change. */
  timestamp: string
  /** True for a test event, which is not in the log. */
  isTest?: boolean
  /** ID of the org. */
  orgId: string
  /** ID of the workspace. Null for an event of the whole org. */
  workspaceId: string | null
  actor: EventActor
  /** What the event is about. */
  subject: {
    /** Type of resource. */
    type: string
    /** ID of the resource. */
    id: string
  }
  /** Number of the event among those of its subject, from 1. */
  sequence: number
  /** Position in the log of the org, from 1. Increases in the order in which events became visible. */
  position: number
  /** The events that led to this one; see the loop guard in the guide on events. */
  chain: {
    /** ID of the first event of the chain. */
    id: string
    /** Number of events before this one. */
    depth: number
  }
  /** What happened. */
  data: {
    /** ID of the file. */
    fileId: string
    /** Name of the file. */
    name: string
    /** Media type of its bytes. Null for a link. */
    mimeType: string | null
    /** Size in bytes, the declared one while the upload is pending. 0 for a link. */
    sizeBytes: number
    /** ID of its folder. Null: the root folder of the org. */
    parentId: string | null
    /** ID of the project whose folder it is in. Null without one. */
    projectId: string | null
    /** Number of the version, from 1. */
    version: number
    /** Label of the version. Null without one. */
    label: string | null
  }
}

export interface FolderAccess {
  /** Whether the folder is restricted itself. */
  restricted: boolean
  /** Whom the folder is open to, besides owners of the org. Empty when it is not restricted. */
  grants: Array<{
    /** Whom it names: a person, the members of a workspace, or all members of the org with a role. */
    kind: "user" | "workspace" | "role"
    /** The ID of the user or workspace, or the role: `admin`, `billing_manager` or `member`. At most 64 characters. */
    subject: string
    /** Name of the person, workspace or role. Null for a workspace that the caller cannot see. */
    name: string | null
    /** `read`: see and download. `write`: also change, share and delete. */
    access: "read" | "write"
  }>
  /** The restricted folders that contain it, outermost first. Whoever sees it has access to all of them. */
  inherited: Array<{
    /** ID of the restricted folder. */
    folderId: string
    /** Name of the restricted folder. */
    name: string
    /** Whom it is open to, besides owners of the org. */
    grants: Array<{
      /** Whom it names: a person, the members of a workspace, or all members of the org with a role. */
      kind: "user" | "workspace" | "role"
      /** The ID of the user or workspace, or the role: `admin`, `billing_manager` or `member`. At most 64 characters. */
      subject: string
      /** Name of the person, workspace or role. Null for a workspace that the caller cannot see. */
      name: string | null
      /** `read`: see and download. `write`: also change, share and delete. */
      access: "read" | "write"
    }>
  }>
  /** What the caller may do with it. */
  access: "read" | "write"
  /** Whether the caller may change who sees it. False for files and links. */
  canManage: boolean
}

export interface FolderAccessChangedEvent {
  /** ID of the event, also in the header `webhook-id`. */
  id: string
  /** Type of the event. */
  type: "folder.access_changed"
  /** Version of the schema of `data`. */
  version: 1
  /** Time of the change. */
  timestamp: string
  /** True for a test event, which is not in the log. */
  isTest?: boolean
  /** ID of the org. */
  orgId: string
  /** ID of the workspace. Null for an event of the whole org. */
  workspaceId: string | null
  actor: EventActor
  /** What the event is about. */
  subject: {
    /** Type of resource. */
    type: string
    /** ID of the resource. */
    id: string
  }
  /** Number of the event among those of its subject, from 1. */
  sequence: number
  /** Position in the log of the org, from 1. Increases in the order in which events became visible. */
  position: number
  /** The events that led to this one; see the loop guard in the guide on events. */
  chain: {
    /** ID of the first event of the chain. */
    id: string
    /** Number of events before this one. */
    depth: number
  }
  /** What happened. */
  data: {
    /** ID of the folder. */
    folderId: string
    /** Name of the folder. */
    name: string
    /** ID of its folder. Null: the root folder of the org. */
    parentId: string | null
    /** ID of the project whose folder it is in. Null without one. */
    projectId: string | null
    /** Whether only its grants and owners of the org may see it. */
    restricted: boolean
  }
}

export interface FolderAccessPut {
  /** True: only the grants and owners of the org see the folder. False: everyone who sees its parent. */
  restricted: boolean
  /** Whom to open the folder to, at most 100; replaces all. Only with `restricted`. Default: nobody. */
  grants?: Array<{
    /** Whom it names: a person, the members of a workspace, or all members of the org with a role. */
    kind: "user" | "workspace" | "role"
    /** The ID of the user or workspace, or the role: `admin`, `billing_manager` or `member`. At most 64 characters. */
    subject: string
    /** `read`: see and download. `write`: also change, share and delete. */
    access: "read" | "write"
  }>
}

export interface FolderCreatedEvent {
  /** ID of the event, also in the header `webhook-id`. */
  id: string
  /** Type of the event. */
  type: "folder.created"
  /** Version of the schema of `data`. */
  version: 1
  /** Time of the change. */
  timestamp: string
  /** True for a test event, which is not in the log. */
  isTest?: boolean
  /** ID of the org. */
  orgId: string
  /** ID of the workspace. Null for an event of the whole org. */
  workspaceId: string | null
  actor: EventActor
  /** What the event is about. */
  subject: {
    /** Type of resource. */
    type: string
    /** ID of the resource. */
    id: string
  }
  /** Number of the event among those of its subject, from 1. */
  sequence: number
  /** Position in the log of the org, from 1. Increases in the order in which events became visible. */
  position: number
  /** The events that led to this one; see the loop guard in the guide on events. */
  chain: {
    /** ID of the first event of the chain. */
    id: string
    /** Number of events before this one. */
    depth: number
  }
  /** What happened. */
  data: {
    /** ID of the folder. */
    folderId: string
    /** Name of the folder. */
    name: string
    /** ID of its folder. Null: the root folder of the org. */
    parentId: string | null
    /** ID of the project whose folder it is in. Null without one. */
    projectId: string | null
  }
}

export interface FolderDeletedEvent {
  /** ID of the event, also in the header `webhook-id`. */
  id: string
  /** Type of the event. */
  type: "folder.deleted"
  /** Version of the schema of `data`. */
  version: 1
  /** Time of the change. */
  timestamp: string
  /** True for a test event, which is not in the log. */
  isTest?: boolean
  /** ID of the org. */
  orgId: string
  /** ID of the workspace. Null for an event of the whole org. */
  workspaceId: string | null
  actor: EventActor
  /** What the event is about. */
  subject: {
    /** Type of resource. */
    type: string
    /** ID of the resource. */
    id: string
  }
  /** Number of the event among those of its subject, from 1. */
  sequence: number
  /** Position in the log of the org, from 1. Increases in the order in which events became visible. */
  position: number
  /** The events that led to this one; see the loop guard in the guide on events. */
  chain: {
    /** ID of the first event of the chain. */
    id: string
    /** Number of events before this one. */
    depth: number
  }
  /** What happened. */
  data: {
    /** ID of the folder. */
    folderId: string
    /** Name of the folder. */
    name: string
    /** ID of its folder. Null: the root folder of the org. */
    parentId: string | null
    /** ID of the project whose folder it is in. Null without one. */
    projectId: string | null
    /** Number of files, links and folders in it that were deleted with it. */
    deleted: number
  }
}

export interface FolderMovedEvent {
  /** ID of the event, also in the header `webhook-id`. */
  id: string
  /** Type of the event. */
  type: "folder.moved"
  /** Version of the schema of `data`. */
  version: 1
  /** Time of the change. */
  timestamp: string
  /** True for a test event, which is not in the log. */
  isTest?: boolean
  /** ID of the org. */
  orgId: string
  /** ID of the workspace. Null for an event of the whole org. */
  workspaceId: string | null
  actor: EventActor
  /** What the event is about. */
  subject: {
    /** Type of resource. */
    type: string
    /** ID of the resource. */
    id: string
  }
  /** Number of the event among those of its subject, from 1. */
  sequence: number
  /** Position in the log of the org, from 1. Increases in the order in which events became visible. */
  position: number
  /** The events that led to this one; see the loop guard in the guide on events. */
  chain: {
    /** ID of the first event of the chain. */
    id: string
    /** Number of events before this one. */
    depth: number
  }
  /** What happened. */
  data: {
    /** ID of the folder. */
    folderId: string
    /** Name of the folder. */
    name: string
    /** ID of its folder. Null: the root folder of the org. */
    parentId: string | null
    /** ID of the project whose folder it is in. Null without one. */
    projectId: string | null
    /** ID of the folder before. Null: the root folder of the org. */
    previousParentId: string | null
  }
}

export interface FolderRestoredEvent {
  /** ID of the event, also in the header `webhook-id`. */
  id: string
  /** Type of the event. */
  type: "folder.restored"
  /** Version of the schema of `data`. */
  version: 1
  /** Time of the change. */
  timestamp: string
  /** True for a test event, which is not in the log. */
  isTest?: boolean
  /** ID of the org. */
  orgId: string
  /** ID of the workspace. Null for an event of the whole org. */
  workspaceId: string | null
  actor: EventActor
  /** What the event is about. */
  subject: {
    /** Type of resource. */
    type: string
    /** ID of the resource. */
    id: string
  }
  /** Number of the event among those of its subject, from 1. */
  sequence: number
  /** Position in the log of the org, from 1. Increases in the order in which events became visible. */
  position: number
  /** The events that led to this one; see the loop guard in the guide on events. */
  chain: {
    /** ID of the first event of the chain. */
    id: string
    /** Number of events before this one. */
    depth: number
  }
  /** What happened. */
  data: {
    /** ID of the folder. */
    folderId: string
    /** Name of the folder. */
    name: string
    /** ID of its folder. Null: the root folder of the org. */
    parentId: string | null
    /** ID of the project whose folder it is in. Null without one. */
    projectId: string | null
    /** Number of files, links and folders in it that were restored with it. */
    restored: number
  }
}

export interface FolderUpdatedEvent {
  /** ID of the event, also in the header `webhook-id`. */
  id: string
  /** Type of the event. */
  type: "folder.updated"
  /** Version of the schema of `data`. */
  version: 1
  /** Time of the change. */
  timestamp: string
  /** True for a test event, which is not in the log. */
  isTest?: boolean
  /** ID of the org. */
  orgId: string
  /** ID of the workspace. Null for an event of the whole org. */
  workspaceId: string | null
  actor: EventActor
  /** What the event is about. */
  subject: {
    /** Type of resource. */
    type: string
    /** ID of the resource. */
    id: string
  }
  /** Number of the event among those of its subject, from 1. */
  sequence: number
  /** Position in the log of the org, from 1. Increases in the order in which events became visible. */
  position: number
  /** The events that led to this one; see the loop guard in the guide on events. */
  chain: {
    /** ID of the first event of the chain. */
    id: string
    /** Number of events before this one. */
    depth: number
  }
  /** What happened. */
  data: {
    /** ID of the folder. */
    folderId: string
    /** Name of the folder. */
    name: string
    /** ID of its folder. Null: the root folder of the org. */
    parentId: string | null
    /** ID of the project whose folder it is in. Null without one. */
    projectId: string | null
    /** Names of the fields that were sent to be changed. */
    changed: string[]
  }
}

export interface InboundEvent {
  /** The provider's ID of the event, or the hash of its body. */
  id: string
  /** Type of the event. */
  type: string
  /** `recorded`: nothing to do. `waiting`, `running`: a turn is queued or running. `answered`: the response was sent. `silent`: the turn ended without a response. `failed`: see `error`. `unknown`: the response may or may not have arrived. */
  status: "recorded" | "waiting" | "running" | "answered" | "silent" | "failed" | "unknown"
  /** Name of the sender. */
  sender: string | null
  /** ID of the turn that handles the event. Null without one. */
  turnId: string | null
  /** Why handling the event failed. Null when it did not. */
  error: string | null
  /** Time when the event was received. */
  receivedAt: string
}

export interface InputItemList {
  /** Type of the object. */
  object: "list"
  /** The message of the turn, or the outputs that continued it. */
  data: Array<Record<string, unknown>>
  /** ID of the first item. Null without one. */
  first_id: string | null
  /** ID of the last item. Null without one. */
  last_id: string | null
  /** Always false. */
  has_more: boolean
}

export interface Invitation {
  /** Unique ID, a UUID version 7. */
  id: string
  /** The org. */
  org: {
    /** ID of the org. */
    id: string
    /** Name of the org. */
    name: string
  }
  /** Role in the org: `owner`, `admin`, `billing_manager` or `member`. */
  role: "owner" | "admin" | "billing_manager" | "member"
  /** Name of the member who sent the invitation. */
  invitedBy: string
  /** Time of creation. */
  createdAt: string
  /** Time at which the invitation expires, after 30 days. */
  expiresAt: string
}

export interface InvitationAccepted {
  /** ID of the new membership. */
  memberId: string
  /** ID of the org. */
  orgId: string
}

export interface InvitationDeclined {
  /** Always true. */
  declined: true
}

export interface InvitationList {
  /** Your open invitations, oldest first, at most 100. */
  items: Invitation[]
}

export interface LinearBinding {
  /** Unique ID, a UUID version 7. */
  id: string
  /** Linear's ID of the organization whose events are received. */
  organizationId: string
  /** Name of the organization when it was bound. */
  organizationName: string
  /** ID of the connection whose token proved administration. */
  connectionId: string
  /** ID of the user who bound the organization. */
  boundBy: string
  /** Time of creation. */
  createdAt: string
}

export interface LinearBindingCreate {
  /** ID of your own Linear connection, made with the account of an administrator of the Linear organization. */
  connectionId: string
}

export interface ListedMember {
  /** ID of the membership. It differs from the ID of the user. */
  id: string
  /** ID of the user. */
  userId: string
  /** E-mail address. */
  email: string
  /** Name of the person. */
  name: string
  /** Role in the org: `owner`, `admin`, `billing_manager` or `member`. */
  role: "owner" | "admin" | "billing_manager" | "member"
  /** Time of creation. */
  createdAt: string
  /** `active`: a member. `invited`: has not accepted the invitation and has no access to the org. New people are active at once; people who signed in before or belong to another org are invited. */
  status: "active" | "invited"
  /** Time at which the invitation expires, after 30 days. Null for members. */
  expiresAt: string | null
  /** Time of the latest request of the member in this org, in the console or with an API key, accurate to an hour. Null before the first, for invited people, and for callers who are neither owner nor admin. */
  lastActiveAt: string | null
  /** Workspaces that the member was added to, or will be when they accept, by name, at most 20. Owners and admins can access every workspace. Callers who are neither see only workspaces of their own. */
  workspaces: Array<{
    /** ID of the workspace. */
    id: string
    /** Name of the workspace. */
    name: string
  }>
  /** Number of these workspaces, also when there are more than 20. */
  workspaceCount: number
}

export interface ListedSession {
  /** Unique ID, a UUID version 7. */
  id: string
  /** ID of the workspace. */
  workspaceId: string
  /** ID of the project that the agent works in. Null without one. */
  projectId: string | null
  /** Title, 1–255 characters. Null until the first message, whose first line becomes the title. */
  title: string | null
  /** How the session was created: `console`, `api`, `test`, `openai`, `mcp`, `a2a`, `chat` or `agent`. Null for sessions of people that were created before this was recorded. */
  source: "console" | "api" | "test" | "openai" | "mcp" | "a2a" | "chat" | "agent" | null
  /** `idle`: no turn is running. `running`: a turn is running. `requires_action`: the running turn waits for a decision or for outputs of tools of the caller. */
  status: "idle" | "running" | "requires_action"
  /** ID of the running turn. Null without one. */
  activeTurnId: string | null
  /** Agents and users that take part. */
  participants: Array<{
    /** Whether the participant is an agent or a user. */
    type: "agent" | "user"
    /** ID of the agent or user. */
    id: string
    /** Slug of the agent. Absent for users. */
    slug?: string
    /** Name of the participant. */
    name: string
    /** Avatar identifier of the agent. Absent for users. */
    avatar?: string
  }>
  /** Your own data, at most 16 KB as JSON. The server sets `relationship`; a value that you send is ignored. */
  metadata: Record<string, unknown>
  /** Number of messages. */
  messageCount: number
  /** Time of the last message. Null before the first. */
  lastMessageAt: string | null
  /** Time of creation. */
  createdAt: string
  /** Time of the last change. */
  updatedAt: string
  /** Only with `search`: the newest message that matches. Null when only the title does. */
  match?: {
    /** ID of the message. */
    messageId: string
    /** Who wrote it: `user` or `assistant`. */
    role: "user" | "assistant"
    /** The part of its text around a word of the search, on one line, at most 162 characters. */
    excerpt: string
  } | null
}

export interface ListedShare {
  /** Unique ID, a UUID version 7. */
  id: string
  /** ID of the shared file or folder. */
  fileId: string
  /** `view`: previews, and pictures, PDF, audio and video as the browser displays them. `download`: previews and downloads. `upload`: uploads into a folder, without seeing what is in it. */
  permission: "view" | "download" | "upload"
  /** Whether visitors must enter a password. */
  hasPassword: boolean
  /** Time at which the link stops working. Null: never. */
  expiresAt: string | null
  /** How often something can be downloaded, at most 1,000,000. Null: no limit. */
  maxDownloads: number | null
  /** How often something was downloaded. */
  downloads: number
  /** How many files can be uploaded, at most 10,000. Null: no limit but the quotas. */
  maxUploads: number | null
  /** How many files were uploaded. */
  uploads: number
  /** Size of an uploaded file in bytes. Null: 104,857,600. */
  maxFileBytes: number | null
  /** Media types that can be uploaded. Null: all that can be stored. */
  allowedTypes: string[] | null
  /** ID of the user who created the share. The link works as long as this person may use files, and ends for good when they leave the org. */
  createdBy: string
  /** Whether the link has ended: it expired, its creator left the org, or the API key by which it was created was revoked or expired. */
  ended: boolean
  /** Time of creation. */
  createdAt: string
  /** Time of the last change. */
  updatedAt: string
  /** Time of the last download or upload. Null: never used. */
  lastUsedAt: string | null
  /** Name of the shared file or folder. */
  fileName: string
  /** `upload`: a file. `folder`: a folder. */
  fileSource: "upload" | "folder"
}

export interface Me {
  /** The user that the credential stands for. */
  user: {
    /** ID of the user. */
    id: string
    /** E-mail address. */
    email: string
    /** Name of the person. */
    name: string
    /** Language of the console in this org. Null: that of the browser. */
    language: "en" | "de" | null
  }
  /** The org. */
  org: {
    /** ID of the org. */
    id: string
    /** Name of the org. */
    name: string
    /** Public URL of the logo, a WebP picture of 256 × 256 pixels, or of 64 × 64 with `?size=64`. Another logo has another URL. Null: no logo. */
    logoUrl: string | null
  }
  /** The workspace of the call. Null for a member who is in no workspace. */
  workspace: {
    /** ID of the workspace. */
    id: string
    /** Name of the workspace. */
    name: string
  } | null
  /** Role of the user in the org. */
  role: string
  /** What the call may do: the permissions of the role, limited to the scopes of the key. */
  permissions: string[]
  /** The API key of the call. Null for a session of the console. */
  apiKey: {
    /** ID of the API key. */
    id: string
    /** Name of the API key. */
    name: string
    /** Scopes of the key. Empty: everything that its user may do. */
    scopes: string[]
  } | null
}

export interface Member {
  /** ID of the membership. It differs from the ID of the user. */
  id: string
  /** ID of the user. */
  userId: string
  /** E-mail address. */
  email: string
  /** Name of the person. */
  name: string
  /** Role in the org: `owner`, `admin`, `billing_manager` or `member`. */
  role: "owner" | "admin" | "billing_manager" | "member"
  /** Time of creation. */
  createdAt: string
  /** `active`: a member. `invited`: has not accepted the invitation and has no access to the org. New people are active at once; people who signed in before or belong to another org are invited. */
  status: "active" | "invited"
  /** Time at which the invitation expires, after 30 days. Null for members. */
  expiresAt: string | null
}

export interface MemberAcceptedEvent {
  /** ID of the event, also in the header `webhook-id`. */
  id: string
  /** Type of the event. */
  type: "member.accepted"
  /** Version of the schema of `data`. */
  version: 1
  /** Time of the change. */
  timestamp: string
  /** True for a test event, which is not in the log. */
  isTest?: boolean
  /** ID of the org. */
  orgId: string
  /** ID of the workspace. Null for an event of the whole org. */
  workspaceId: string | null
  actor: EventActor
  /** What the event is about. */
  subject: {
    /** Type of resource. */
    type: string
    /** ID of the resource. */
    id: string
  }
  /** Number of the event among those of its subject, from 1. */
  sequence: number
  /** Position in the log of the org, from 1. Increases in the order in which events became visible. */
  position: number
  /** The events that led to this one; see the loop guard in the guide on events. */
  chain: {
    /** ID of the first event of the chain. */
    id: string
    /** Number of events before this one. */
    depth: number
  }
  /** What happened. */
  data: {
    /** ID of the membership, also of its invitation before. */
    memberId: string
    /** ID of the person. */
    userId: string
    /** Role in the org. */
    role: "owner" | "admin" | "billing_manager" | "member"
    /** The workspaces of the member. They have no `workspace.member_added` of their own. */
    workspaceIds: string[]
  }
}

export interface MemberAddedEvent {
  /** ID of the event, also in the header `webhook-id`. */
  id: string
  /** Type of the event. */
  type: "member.added"
  /** Version of the schema of `data`. */
  version: 1
  /** Time of the change. */
  timestamp: string
  /** True for a test event, which is not in the log. */
  isTest?: boolean
  /** ID of the org. */
  orgId: string
  /** ID of the workspace. Null for an event of the whole org. */
  workspaceId: string | null
  actor: EventActor
  /** What the event is about. */
  subject: {
    /** Type of resource. */
    type: string
    /** ID of the resource. */
    id: string
  }
  /** Number of the event among those of its subject, from 1. */
  sequence: number
  /** Position in the log of the org, from 1. Increases in the order in which events became visible. */
  position: number
  /** The events that led to this one; see the loop guard in the guide on events. */
  chain: {
    /** ID of the first event of the chain. */
    id: string
    /** Number of events before this one. */
    depth: number
  }
  /** What happened. */
  data: {
    /** ID of the membership, also of its invitation before. */
    memberId: string
    /** ID of the person. */
    userId: string
    /** Role in the org. */
    role: "owner" | "admin" | "billing_manager" | "member"
    /** The workspaces of the member. They have no `workspace.member_added` of their own. */
    workspaceIds: string[]
  }
}

export interface MemberCreate {
  /** E-mail address, 3–254 characters. */
  email: string
  /** Name of the person in this org, 1–120 characters. Default: the part of the e-mail address before the `@`. */
  name?: string
  /** Role in the org: `owner`, `admin`, `billing_manager` or `member`. */
  role: "owner" | "admin" | "billing_manager" | "member"
  /** Workspaces to add the person to, at most 100. Default: the default workspace of the org. */
  workspaceIds?: string[]
}

export interface MemberCreated {
  /** ID of the membership. It differs from the ID of the user. */
  id: string
  /** ID of the user. */
  userId: string
  /** E-mail address. */
  email: string
  /** Name of the person. */
  name: string
  /** Role in the org: `owner`, `admin`, `billing_manager` or `member`. */
  role: "owner" | "admin" | "billing_manager" | "member"
  /** Time of creation. */
  createdAt: string
  /** `active`: a member. `invited`: has not accepted the invitation and has no access to the org. New people are active at once; people who signed in before or belong to another org are invited. */
  status: "active" | "invited"
  /** Time at which the invitation expires, after 30 days. Null for members. */
  expiresAt: string | null
  /** One-time sign-in link for this org, valid for 24 hours and returned only here. Null without step-up, and for a person who has a password that opens this org. */
  signInLink: string | null
}

export interface MemberDeclinedEvent {
  /** ID of the event, also in the header `webhook-id`. */
  id: string
  /** Type of the event. */
  type: "member.declined"
  /** Version of the schema of `data`. */
  version: 1
  /** Time of the change. */
  timestamp: string
  /** True for a test event, which is not in the log. */
  isTest?: boolean
  /** ID of the org. */
  orgId: string
  /** ID of the workspace. Null for an event of the whole org. */
  workspaceId: string | null
  actor: EventActor
  /** What the event is about. */
  subject: {
    /** Type of resource. */
    type: string
    /** ID of the resource. */
    id: string
  }
  /** Number of the event among those of its subject, from 1. */
  sequence: number
  /** Position in the log of the org, from 1. Increases in the order in which events became visible. */
  position: number
  /** The events that led to this one; see the loop guard in the guide on events. */
  chain: {
    /** ID of the first event of the chain. */
    id: string
    /** Number of events before this one. */
    depth: number
  }
  /** What happened. */
  data: {
    /** ID of the membership, also of its invitation before. */
    memberId: string
    /** ID of the person. */
    userId: string
  }
}

export interface MemberInvitedEvent {
  /** ID of the event, also in the header `webhook-id`. */
  id: string
  /** Type of the event. */
  type: "member.invited"
  /** Version of the schema of `data`. */
  version: 1
  /** Time of the change. */
  timestamp: string
  /** True for a test event, which is not in the log. */
  isTest?: boolean
  /** ID of the org. */
  orgId: string
  /** ID of the workspace. Null for an event of the whole org. */
  workspaceId: string | null
  actor: EventActor
  /** What the event is about. */
  subject: {
    /** Type of resource. */
    type: string
    /** ID of the resource. */
    id: string
  }
  /** Number of the event among those of its subject, from 1. */
  sequence: number
  /** Position in the log of the org, from 1. Increases in the order in which events became visible. */
  position: number
  /** The events that led to this one; see the loop guard in the guide on events. */
  chain: {
    /** ID of the first event of the chain. */
    id: string
    /** Number of events before this one. */
    depth: number
  }
  /** What happened. */
  data: {
    /** ID of the membership, also of its invitation before. */
    memberId: string
    /** ID of the person. */
    userId: string
    /** Role in the org. */
    role: "owner" | "admin" | "billing_manager" | "member"
    /** The workspaces of the member. They have no `workspace.member_added` of their own. */
    workspaceIds: string[]
  }
}

export interface MemberPatch {
  /** Role in the org: `owner`, `admin`, `billing_manager` or `member`. */
  role: "owner" | "admin" | "billing_manager" | "member"
}

export interface MemberRemovedEvent {
  /** ID of the event, also in the header `webhook-id`. */
  id: string
  /** Type of the event. */
  type: "member.removed"
  /** Version of the schema of `data`. */
  version: 1
  /** Time of the change. */
  timestamp: string
  /** True for a test event, which is not in the log. */
  isTest?: boolean
  /** ID of the org. */
  orgId: string
  /** ID of the workspace. Null for an event of the whole org. */
  workspaceId: string | null
  actor: EventActor
  /** What the event is about. */
  subject: {
    /** Type of resource. */
    type: string
    /** ID of the resource. */
    id: string
  }
  /** Number of the event among those of its subject, from 1. */
  sequence: number
  /** Position in the log of the org, from 1. Increases in the order in which events became visible. */
  position: number
  /** The events that led to this one; see the loop guard in the guide on events. */
  chain: {
    /** ID of the first event of the chain. */
    id: string
    /** Number of events before this one. */
    depth: number
  }
  /** What happened. */
  data: {
    /** ID of the membership, also of its invitation before. */
    memberId: string
    /** ID of the person. */
    userId: string
    /** Role in the org. */
    role: "owner" | "admin" | "billing_manager" | "member"
    /** `invited`: the invitation was withdrawn. */
    status: "active" | "invited"
  }
}

export interface MemberRoleChangedEvent {
  /** ID of the event, also in the header `webhook-id`. */
  id: string
  /** Type of the event. */
  type: "member.role_changed"
  /** Version of the schema of `data`. */
  version: 1
  /** Time of the change. */
  timestamp: string
  /** True for a test event, which is not in the log. */
  isTest?: boolean
  /** ID of the org. */
  orgId: string
  /** ID of the workspace. Null for an event of the whole org. */
  workspaceId: string | null
  actor: EventActor
  /** What the event is about. */
  subject: {
    /** Type of resource. */
    type: string
    /** ID of the resource. */
    id: string
  }
  /** Number of the event among those of its subject, from 1. */
  sequence: number
  /** Position in the log of the org, from 1. Increases in the order in which events became visible. */
  position: number
  /** The events that led to this one; see the loop guard in the guide on events. */
  chain: {
    /** ID of the first event of the chain. */
    id: string
    /** Number of events before this one. */
    depth: number
  }
  /** What happened. */
  data: {
    /** ID of the membership, also of its invitation before. */
    memberId: string
    /** ID of the person. */
    userId: string
    /** Role in the org. */
    role: "owner" | "admin" | "billing_manager" | "member"
    /** The role before. */
    previousRole: "owner" | "admin" | "billing_manager" | "member"
  }
}

export interface MemberSignInLink {
  /** Sign-in link that works once. It is not shown again. */
  signInLink: string
  /** Time from which the link does not work any more, 24 hours after its creation. */
  expiresAt: string
}

export interface MemberUpdatedEvent {
  /** ID of the event, also in the header `webhook-id`. */
  id: string
  /** Type of the event. */
  type: "member.updated"
  /** Version of the schema of `data`. */
  version: 1
  /** Time of the change. */
  timestamp: string
  /** True for a test event, which is not in the log. */
  isTest?: boolean
  /** ID of the org. */
  orgId: string
  /** ID of the workspace. Null for an event of the whole org. */
  workspaceId: string | null
  actor: EventActor
  /** What the event is about. */
  subject: {
    /** Type of resource. */
    type: string
    /** ID of the resource. */
    id: string
  }
  /** Number of the event among those of its subject, from 1. */
  sequence: number
  /** Position in the log of the org, from 1. Increases in the order in which events became visible. */
  position: number
  /** The events that led to this one; see the loop guard in the guide on events. */
  chain: {
    /** ID of the first event of the chain. */
    id: string
    /** Number of events before this one. */
    depth: number
  }
  /** What happened. */
  data: {
    /** ID of the membership, also of its invitation before. */
    memberId: string
    /** ID of the person. */
    userId: string
    /** Name of the member. */
    name: string
    /** Names of the fields that were sent to be changed. */
    changed: string[]
  }
}

export interface Message {
  /** Unique ID, a UUID version 7. */
  id: string
  /** ID of the session. */
  sessionId: string
  /** ID of the turn. */
  turnId: string
  /** `user`: the request. `assistant`: the reply of the agent. */
  role: "user" | "assistant"
  /** The author of the message. */
  author: {
    /** Whether the author is an agent or a user. */
    type: "agent" | "user"
    /** ID of the agent or user. */
    id: string
    /** Slug of the agent. Absent for users. */
    slug?: string
    /** Name of the author. */
    name: string
    /** Avatar identifier of the agent. Absent for users. */
    avatar?: string
  }
  /** Parts of the message, in order. */
  parts: MessagePart[]
  /** IDs of all versions of the message, oldest first, with its own. Only in lists of the messages of a session, and only for a message with several versions; see `replaces`. */
  versions?: string[]
  /** Time of creation. */
  createdAt: string
}

export interface MessageCreatedEvent {
  /** ID of the event, also in the header `webhook-id`. */
  id: string
  /** Type of the event. */
  type: "message.created"
  /** Version of the schema of `data`. */
  version: 1
  /** Time of the change. */
  timestamp: string
  /** True for a test event, which is not in the log. */
  isTest?: boolean
  /** ID of the org. */
  orgId: string
  /** ID of the workspace. Null for an event of the whole org. */
  workspaceId: string | null
  actor: EventActor
  /** What the event is about. */
  subject: {
    /** Type of resource. */
    type: string
    /** ID of the resource. */
    id: string
  }
  /** Number of the event among those of its subject, from 1. */
  sequence: number
  /** Position in the log of the org, from 1. Increases in the order in which events became visible. */
  position: number
  /** The events that led to this one; see the loop guard in the guide on events. */
  chain: {
    /** ID of the first event of the chain. */
    id: string
    /** Number of events before this one. */
    depth: number
  }
  /** What happened. */
  data: {
    /** ID of the message. */
    messageId: string
    /** ID of the session. */
    sessionId: string
    /** ID of the turn. */
    turnId: string
    /** `user`: the request. `assistant`: the reply. */
    role: "user" | "assistant"
    /** Text of the message, up to 1,024 bytes of UTF-8. */
    text: string
    /** Whether the text of the message is longer. */
    isTruncated: boolean
  }
  /** Contents that the event refers to: `text` of a `message.created`; `externalId`, `headers`, `contentType` and `payload` of a `webhook.event.received`. Null when they were deleted or have more than 1.5 MB. Not in events of other types. */
  expanded?: Record<string, unknown> | null
}

export type MessagePart = {
  /** Type of the part. */
  type: "text"
  /** The text. */
  text: string
} | {
  /** Type of the part. */
  type: "reasoning"
  /** The reasoning. */
  text: string
} | {
  /** Type of the part. */
  type: "tool-call"
  /** ID of the tool call, unique within the turn. */
  toolCallId: string
  /** Name of the tool. */
  toolName: string
  /** Arguments of the call. */
  input: unknown
} | {
  /** Type of the part. */
  type: "tool-result"
  /** ID of the tool call, unique within the turn. */
  toolCallId: string
  /** Name of the tool. */
  toolName: string
  /** Result of the call. */
  output: unknown
  /** Whether the call failed. */
  isError: boolean
} | {
  /** Type of the part. */
  type: "file"
  /** ID of the file. */
  fileId: string
  /** Name of the file. */
  name: string
  /** Media type of the file. */
  mimeType: string
  /** Size in bytes. */
  sizeBytes: number
} | {
  /** Type of the part. */
  type: "error"
  /** Error code. */
  code: string
  /** Explanation for people. */
  message: string
}

export interface Model {
  /** ID of the model: `provider/model`. */
  id: string
  /** Display name. */
  name: string
  /** Name of the provider. */
  provider: string
  /** Whether agents can run on the model. */
  available: boolean
  /** Why the model is not available. Null when it is. */
  unavailableReason: string | null
  /** Whether the model costs nothing. */
  free: boolean
  /** Maximum number of tokens of prompt and response together. Null when unknown. */
  contextWindow: number | null
  /** Maximum number of tokens of a response. Null when unknown. */
  maxOutputTokens: number | null
  /** Features of the model. */
  capabilities: {
    /** Whether the model can call tools. */
    tools: boolean
    /** Whether the model reads images. */
    vision: boolean
    /** Whether the model reasons before it responds. */
    reasoning: boolean
    /** Whether the provider makes the model follow a JSON schema. Other models are told to, and their replies are validated as well. */
    jsonSchema: boolean
    /** Whether it is an embedding model: `POST /embeddings` calls it, and agents cannot use it. */
    embeddings: boolean
  }
  /** What the model takes besides text. */
  input: {
    /** Whether the model is shown attached pictures. False when unknown. */
    images: boolean
    /** Whether the model is shown attached PDF files. Other models get their text. */
    pdf: boolean
  }
  /** Prices. Null when unknown. */
  pricing: {
    /** Price of input tokens, in microcents for a million tokens. 10,000 microcents are one cent. */
    input: number
    /** Price of output tokens, in microcents for a million tokens. 10,000 microcents are one cent. */
    output: number
    /** Price of tokens read from the cache, in microcents for a million tokens. 10,000 microcents are one cent. */
    cacheRead: number
    /** Price of tokens written to the cache, in microcents for a million tokens. 10,000 microcents are one cent. */
    cacheWrite: number
  } | null
}

export interface OAuthCompletion {
  /** Authorization code from the redirect of the provider, at most 4,096 characters. */
  code: string
  /** State from the redirect of the provider, at most 512 characters. Valid once, for 10 minutes. */
  state: string
  /** Issuer from the redirect of the provider (RFC 9207), at most 2,048 characters. Required when the authorization server sends one. */
  iss?: string
}

export interface OAuthUrl {
  /** URL of the provider's consent page. Open it in a browser. Valid once, for 10 minutes. */
  oauthUrl: string
}

export interface OpenAiFile {
  /** ID of the file. */
  id: string
  /** Type of the object. */
  object: "file"
  /** Size in bytes. */
  bytes: number
  /** Time of creation, in Unix seconds. */
  created_at: number
  /** Name of the file. */
  filename: string
  /** Always `user_data`: the purpose is not stored. */
  purpose: "user_data"
  /** Always `processed`. */
  status: "processed"
}

export interface OpenAiFileDeleted {
  /** ID of the file. */
  id: string
  /** Type of the object. */
  object: "file"
  /** Always true. */
  deleted: true
}

export interface OpenAiFileList {
  /** Type of the object. */
  object: "list"
  /** Files of the org. */
  data: OpenAiFile[]
  /** ID of the first file of the page. Null when it is empty. */
  first_id: string | null
  /** ID of the last file of the page. Null when it is empty. */
  last_id: string | null
  /** Whether more files follow. */
  has_more: boolean
}

export interface OpenAiFileUpload {
  /** The bytes, at most 100 MB, with their media type. */
  file: Blob
  /** `user_data`, `assistants` or `vision`; others are rejected. */
  purpose: string
}

export interface OrgSettings {
  /** ID of the org. */
  id: string
  /** Name, 1–120 characters. */
  name: string
  /** Public URL of the logo, a WebP picture of 256 × 256 pixels, or of 64 × 64 with `?size=64`. Another logo has another URL. Null: no logo. */
  logoUrl: string | null
  /** ID of the model of new agents that name none, at most 120 characters. Null: that of the server. */
  defaultModel: string | null
  /** Name of the time zone in the IANA database, at most 64 characters. It decides which date agents have. Null: UTC. */
  defaultTimeZone: string | null
  /** Language of the console for new members. Null: that of their browser. */
  defaultLanguage: "en" | "de" | null
  /** Time of creation. */
  createdAt: string
  /** Time of the last change. */
  updatedAt: string
}

export interface OrgUpdatedEvent {
  /** ID of the event, also in the header `webhook-id`. */
  id: string
  /** Type of the event. */
  type: "org.updated"
  /** Version of the schema of `data`. */
  version: 1
  /** Time of the change. */
  timestamp: string
  /** True for a test event, which is not in the log. */
  isTest?: boolean
  /** ID of the org. */
  orgId: string
  /** ID of the workspace. Null for an event of the whole org. */
  workspaceId: string | null
  actor: EventActor
  /** What the event is about. */
  subject: {
    /** Type of resource. */
    type: string
    /** ID of the resource. */
    id: string
  }
  /** Number of the event among those of its subject, from 1. */
  sequence: number
  /** Position in the log of the org, from 1. Increases in the order in which events became visible. */
  position: number
  /** The events that led to this one; see the loop guard in the guide on events. */
  chain: {
    /** ID of the first event of the chain. */
    id: string
    /** Number of events before this one. */
    depth: number
  }
  /** What happened. */
  data: {
    /** ID of the org. */
    orgId: string
    /** Name of the org. */
    name: string
    /** Names of the fields that were sent to be changed. */
    changed: string[]
  }
}

export interface OwnSession {
  /** ID of the session. */
  id: string
  /** Whether the request was made with this session. */
  isCurrent: boolean
  /** IP address at the sign-in. Null when unknown. */
  ipAddress: string | null
  /** `User-Agent` of the browser at the sign-in. Null when unknown. */
  userAgent: string | null
  /** Time of the sign-in. */
  createdAt: string
  /** Time of the last use, accurate to a day. */
  lastUsedAt: string
  /** Time of expiry, unless the session is used before. */
  expiresAt: string
}

export interface OwnSessionList {
  /** Your sessions, at most 100: the current one first, then those that were used last. */
  items: OwnSession[]
}

export interface PasswordChange {
  /** Current password, 1–128 characters. Required, except for the first password of the session. */
  currentPassword?: string
  /** New password, 8–128 characters. */
  newPassword: string
  /** Code of the authenticator app: 6 digits. Required with the current password of another org that has two-factor authentication. */
  totpCode?: string
}

export interface PasswordChanged {
  /** Always true. */
  changed: true
}

export interface PaymentEventReceived {
  /** Always true. */
  received: true
}

export interface PaymentReceipt {
  /** ID of the payment at Stripe. `checkout:…` or `direct:…` for a deposit without a payment at Stripe; it identifies the receipt as well. */
  paymentIntentId: string
  /** Number of the receipt: the last 8 digits of the ID of the org, and the number of the payment in the org, counted from 1 without gaps. */
  number: string
  /** `deposit`: a person added to the balance. `topup`: automatic top-up. `plan`: a month of a plan. `direct`: a deposit without a payment. */
  kind: "deposit" | "topup" | "plan" | "direct"
  /** ID of the plan. Null for a deposit, and for a plan that was paid before the server kept it. */
  planId: string | null
  /** Amount that was paid; 0 for a deposit without a payment, in cents. */
  paidCents: number
  /** Amount that was added to the balance; 0 for a plan without credit, in cents. */
  creditedCents: number
  /** Always `usd`. */
  currency: "usd"
  /** Who receives the payments. Null when the server names nobody. */
  seller: {
    /** Name. */
    name: string
    /** Postal address, with line breaks. Null: none. */
    address: string | null
    /** Tax number. Null: none. */
    taxId: string | null
    /** Email address. Null: none. */
    email: string | null
  } | null
  buyer: BuyerParty
  /** Time of creation. */
  createdAt: string
}

export interface PaymentReceiptList {
  /** Items of this page. */
  items: PaymentReceipt[]
  /** Send it as `cursor` to get the next page. Null on the last page. */
  nextCursor: string | null
}

export interface Peer {
  /** Unique ID, a UUID version 7. */
  id: string
  /** Short name, unique within the org. */
  slug: string
  /** Name of the agent. */
  name: string
  /** What the agent is for, at most 5,000 characters. */
  description: string | null
  /** Avatar identifier. */
  avatar: string
  /** Whether the agent responds. */
  isActive: boolean
  /** Whether it lists this agent among its own peers. */
  canReply: boolean
}

export interface PeerMessage {
  /** Unique ID, a UUID version 7. */
  id: string
  /** ID of the session. */
  sessionId: string
  /** ID of the turn. */
  turnId: string
  /** ID of the agent that wrote the message. */
  fromAgentId: string
  /** Slug of that agent. */
  fromAgentSlug: string
  /** Name of that agent when the message was written. */
  fromAgentName: string
  /** Avatar identifier of that agent. */
  fromAgentAvatar: string
  /** Whether the agent in the path wrote the message. */
  isSelf: boolean
  /** Text of the message. */
  text: string
  /** Parts of the message, in order. */
  parts: MessagePart[]
  /** Time of creation. */
  createdAt: string
}

export interface Preview {
  /** ID of the file. For a link, of its target. */
  fileId: string
  /** Name of the file. */
  name: string
  /** Media type of the file. */
  mimeType: string
  /** `text` has `text`. `document` has `text` and mostly `html`. `spreadsheet` has `sheets`. */
  kind: "text" | "document" | "spreadsheet"
  /** Whether the file has more content than the preview. */
  truncated: boolean
  /** Text of the file, at most 512 KB. */
  text?: string
  /** Sanitised HTML of a document. Absent for PDF. */
  html?: string
  /** Sheets of a spreadsheet, at most 20. */
  sheets?: Array<{
    /** Name of the sheet. */
    name: string
    /** Cells as displayed, at most 1,000 rows of 100 columns. */
    rows: string[][]
    /** Number of rows in the file. */
    rowCount: number
    /** Number of columns in the file. */
    columnCount: number
    /** Whether the sheet has more rows or columns. */
    truncated: boolean
  }>
}

export interface Pricing {
  /** Plans that the server offers. */
  plans: Array<{
    /** ID of the plan. */
    id: string
    /** Name of the plan. */
    name: string
    /** Who the plan is for. */
    description: string
    /** Price of a month, in cents. Null: on request. */
    priceCents: number | null
    /** Billing interval. */
    interval: "month"
    /** Credit that each paid month grants, in cents. */
    includedCreditCents: number
    /** Whether the plan is sold on request only. */
    custom: boolean
    /** Quotas of an org on the plan. */
    quotas: {
      /** Maximum size of all files together, in bytes. Null: unlimited. */
      storedBytes: number | null
      /** Maximum number of files, folders and links. Null: unlimited. */
      files: number | null
      /** Maximum number of stored webhook events. Null: unlimited. */
      eventsKept: number | null
      /** Maximum number of webhooks. Null: unlimited. */
      webhooks: number | null
      /** Maximum number of agents. Null: unlimited. */
      agents: number | null
      /** Maximum number of connections. Null: unlimited. */
      connections: number | null
    }
  }>
  /** Fee on the cost of model calls. */
  platformFee: {
    /** Rate in basis points: 100 are 1 %. */
    bps: number
    /** Whether the fee is waived for the org now. */
    waived: boolean
  }
  /** Prices of the models. */
  models: Array<{
    /** ID of the model. */
    id: string
    /** Display name. */
    name: string
    /** Name of the provider. */
    provider: string
    /** Whether the model costs nothing. */
    free: boolean
    /** Price of input tokens, in microcents for a million tokens. */
    inputMicrocents: number
    /** Price of output tokens, in microcents for a million tokens. */
    outputMicrocents: number
    /** Price of tokens read from the cache, in microcents for a million tokens. */
    cacheReadMicrocents: number
    /** Price of tokens written to the cache, in microcents for a million tokens. */
    cacheWriteMicrocents: number
    /** Prices that the org pays now, including the platform fee. */
    withFee: {
      /** Price of input tokens, in microcents for a million tokens. */
      inputMicrocents: number
      /** Price of output tokens, in microcents for a million tokens. */
      outputMicrocents: number
      /** Price of tokens read from the cache, in microcents for a million tokens. */
      cacheReadMicrocents: number
      /** Price of tokens written to the cache, in microcents for a million tokens. */
      cacheWriteMicrocents: number
    }
  }>
  /** Prices of other services. */
  services: Array<{
    /** ID of the service. */
    id: string
    /** Unit that is billed. */
    unit: string
    /** Price of a unit, in microcents (10,000 are one cent). */
    priceMicrocents: number
  }>
}

export interface Project {
  /** Unique ID, a UUID version 7. */
  id: string
  /** Name, 1–255 characters without NUL, CR or LF. */
  name: string
  /** Short name, made from the first name, with a number or random characters if needed. It never changes. */
  slug: string
  /** Description, at most 5,000 characters. */
  description: string | null
  /** Instructions for agents that work in the project, at most 20,000 characters. */
  instructions: string | null
  /** ID of the protected folder of the project. */
  folderId: string
  /** Time of creation. */
  createdAt: string
  /** Time of the last change. */
  updatedAt: string
}

export interface ProjectCreate {
  /** Name, 1–255 characters without NUL, CR or LF. */
  name: string
  /** Description, at most 5,000 characters. Default: none. */
  description?: string | null
  /** Instructions for agents that work in the project, at most 20,000 characters. Default: none. */
  instructions?: string | null
}

export interface ProjectCreatedEvent {
  /** ID of the event, also in the header `webhook-id`. */
  id: string
  /** Type of the event. */
  type: "project.created"
  /** Version of the schema of `data`. */
  version: 1
  /** Time of the change. */
  timestamp: string
  /** True for a test event, which is not in the log. */
  isTest?: boolean
  /** ID of the org. */
  orgId: string
  /** ID of the workspace. Null for an event of the whole org. */
  workspaceId: string | null
  actor: EventActor
  /** What the event is about. */
  subject: {
    /** Type of resource. */
    type: string
    /** ID of the resource. */
    id: string
  }
  /** Number of the event among those of its subject, from 1. */
  sequence: number
  /** Position in the log of the org, from 1. Increases in the order in which events became visible. */
  position: number
  /** The events that led to this one; see the loop guard in the guide on events. */
  chain: {
    /** ID of the first event of the chain. */
    id: string
    /** Number of events before this one. */
    depth: number
  }
  /** What happened. */
  data: {
    /** ID of the project. */
    projectId: string
    /** Name of the project. */
    name: string
    /** Slug of the project. */
    slug: string
    /** ID of its folder. */
    folderId: string
  }
}

export interface ProjectDeletedEvent {
  /** ID of the event, also in the header `webhook-id`. */
  id: string
  /** Type of the event. */
  type: "project.deleted"
  /** Version of the schema of `data`. */
  version: 1
  /** Time of the change. */
  timestamp: string
  /** True for a test event, which is not in the log. */
  isTest?: boolean
  /** ID of the org. */
  orgId: string
  /** ID of the workspace. Null for an event of the whole org. */
  workspaceId: string | null
  actor: EventActor
  /** What the event is about. */
  subject: {
    /** Type of resource. */
    type: string
    /** ID of the resource. */
    id: string
  }
  /** Number of the event among those of its subject, from 1. */
  sequence: number
  /** Position in the log of the org, from 1. Increases in the order in which events became visible. */
  position: number
  /** The events that led to this one; see the loop guard in the guide on events. */
  chain: {
    /** ID of the first event of the chain. */
    id: string
    /** Number of events before this one. */
    depth: number
  }
  /** What happened. */
  data: {
    /** ID of the project. */
    projectId: string
    /** Name of the project. */
    name: string
    /** Slug of the project. */
    slug: string
    /** ID of its folder. */
    folderId: string
  }
}

export interface ProjectPatch {
  /** Name, 1–255 characters without NUL, CR or LF. */
  name?: string
  /** Description, at most 5,000 characters. Default: none. */
  description?: string | null
  /** Instructions for agents that work in the project, at most 20,000 characters. Default: none. */
  instructions?: string | null
}

export interface ProjectUpdatedEvent {
  /** ID of the event, also in the header `webhook-id`. */
  id: string
  /** Type of the event. */
  type: "project.updated"
  /** Version of the schema of `data`. */
  version: 1
  /** Time of the change. */
  timestamp: string
  /** True for a test event, which is not in the log. */
  isTest?: boolean
  /** ID of the org. */
  orgId: string
  /** ID of the workspace. Null for an event of the whole org. */
  workspaceId: string | null
  actor: EventActor
  /** What the event is about. */
  subject: {
    /** Type of resource. */
    type: string
    /** ID of the resource. */
    id: string
  }
  /** Number of the event among those of its subject, from 1. */
  sequence: number
  /** Position in the log of the org, from 1. Increases in the order in which events became visible. */
  position: number
  /** The events that led to this one; see the loop guard in the guide on events. */
  chain: {
    /** ID of the first event of the chain. */
    id: string
    /** Number of events before this one. */
    depth: number
  }
  /** What happened. */
  data: {
    /** ID of the project. */
    projectId: string
    /** Name of the project. */
    name: string
    /** Slug of the project. */
    slug: string
    /** ID of its folder. */
    folderId: string
    /** Names of the fields that were sent to be changed. */
    changed: string[]
  }
}

export interface Promotion {
  /** Unique ID, a UUID version 7. */
  id: string
  /** Code that was redeemed. */
  code: string
  /** Purpose of the promotion. */
  description: string | null
  /** Credit that was granted, in cents. */
  amountCents: number
  /** Credit that is not used up, in cents. */
  remainingCents: number
  /** Time when the remaining credit expires. Null: never. */
  expiresAt: string | null
}

export interface ProviderKey {
  /** Unique ID, a UUID version 7. */
  id: string
  /** Name of the model provider. */
  provider: string
  /** Label of the key, at most 200 characters. */
  label: string | null
  /** Beginning of the SHA-256 of the key in hexadecimal, to tell keys apart. */
  fingerprint: string
  /** Time of creation. */
  createdAt: string
}

export interface ProviderKeyCreate {
  /** Model provider that issued the key. */
  provider: "openai" | "anthropic" | "google" | "openrouter" | "mistral" | "groq" | "xai" | "deepseek"
  /** The key: 16–500 printable ASCII characters without spaces. Stored encrypted. */
  key: string
  /** Label of the key, at most 200 characters. Default: none. */
  label?: string | null
}

export interface Quota {
  /** What is limited. `files` also counts folders and links. */
  name: "storedBytes" | "files" | "eventsKept" | "webhooks" | "agents" | "connections"
  /** Maximum for the org, in `unit`. Null: unlimited. */
  limit: number | null
  /** Current usage of the org, in `unit`. It exceeds the limit when the limit was lowered. */
  used: number
  /** Part of `used` that is in the trash, in `unit`. Null for quotas without a trash. */
  trashed: number | null
  /** Unit of `limit` and `used`. */
  unit: "bytes" | "count"
  /** ID of the org's plan. Null on a server without plans. */
  plan: string | null
  /** Where the limit comes from: the plan, or a limit that the operator of the server set for the org. */
  source: "plan" | "operator"
  /** Time of the last request that was rejected because of this quota. */
  lastRefusedAt: string | null
}

export interface QuotaList {
  /** All quotas of the org. */
  items: Quota[]
}

export interface Receipt {
  /** Always true. */
  received: true
  /** ID of the stored event. For a duplicate, of the first one. */
  eventId: string
  /** Whether the event was received before. */
  duplicate: boolean
}

export interface Received {
  /** Always true. */
  success: true
  /** Confirmation that the event is stored. */
  data: {
    /** Always true. */
    received: true
    /** Whether the event was received before. Duplicates are ignored. */
    duplicate: boolean
  }
}

export interface Recover {
  /** Retry failed deliveries that were created at this time or later. */
  since: string
}

export interface Recovered {
  /** Number of deliveries that are retried. */
  queued: number
}

export interface Redeem {
  /** Promotion code, 1–100 characters. */
  code: string
}

export interface RequiredToolOutput {
  /** ID of the tool call, at most 64 characters. */
  callId: string
  /** Name of the tool. */
  toolName: string
  /** Arguments of the call. */
  input: unknown
}

export interface ResponseCreate {
  /** `agent/` and the slug or ID of an agent. At most 300 characters. */
  model: string
  /** Text, or up to 2,000 items: messages (`input_text`, `input_image`, `input_file`), `function_call`, `function_call_output`, `item_reference` to an item of an earlier response, and `reasoning`, which is ignored. */
  input: string | Array<Record<string, unknown>>
  /** Added to the agent's system prompt for this response, at most 100,000 characters. Default: none. */
  instructions?: string | null
  /** ID of the response that this one continues, at most 100 characters. Default: none. */
  previous_response_id?: string | null
  /** Whether to send server-sent events. Default false. */
  stream?: boolean | null
  /** Whether to respond at once, with the status `queued` or `in_progress`. Default false. */
  background?: boolean | null
  /** Whether `GET /responses/:id` returns the response. The session keeps the conversation in any case. Default true. */
  store?: boolean | null
  /** Up to 16 texts of at most 512 characters, by names of at most 64. */
  metadata?: Record<string, string> | null
  /** Maximum number of output tokens of each model call, 1–100,000,000. Default: the limit of the model. */
  max_output_tokens?: number | null
  /** `format`: `text`, `json_object` or `json_schema`. The response is validated. Default: text. */
  text?: Record<string, unknown> | null
  /** Functions that the client runs, at most 128. Hosted tools are rejected. Default: none. */
  tools?: Array<Record<string, unknown>> | null
  /** `auto`, `none`, `required`, or a function by name. Default `auto`. */
  tool_choice?: unknown
  /** Whether a response may have several function calls. Default true. */
  parallel_tool_calls?: boolean | null
  /** `reasoning.encrypted_content` is accepted and has no effect, because the server keeps the reasoning. Others are rejected. Default: none. */
  include?: string[] | null
}

export type ResponseFormat = {
  /** The reply is text. */
  type: "text"
} | {
  /** The reply is JSON that matches `schema`. */
  type: "json_schema"
  /** JSON Schema of the reply, at most 32 KB as JSON. References must begin with `#`. `format` is checked as well. */
  schema: Record<string, unknown>
  /** Name of the format for the model: 1–64 letters, digits, `_` and `-`. Default `response`. */
  name?: string
  /** What the reply is, for the model, at most 2,000 characters. */
  description?: string
  /** Whether OpenAI's models follow the schema exactly, for which it must be in their subset of JSON Schema. Default false. The reply is validated in any case. */
  strict?: boolean
}

export interface ResponseObject {
  /** `resp_` and the ID of the turn. */
  id: string
  /** Type of the object. */
  object: "response"
  /** Time of creation, in Unix seconds. */
  created_at: number
  /** `in_progress` includes turns that wait for a person to approve a tool call. */
  status: "queued" | "in_progress" | "completed" | "incomplete" | "failed" | "cancelled"
  /** The agent, as the request named it. */
  model: string
  /** Reasoning, the message, and function calls. */
  output: Array<Record<string, unknown>>
  [key: string]: unknown
}

export interface Retention {
  /** Former versions without a label kept of each file. */
  versionsKept: number
  /** Days for which a version without a label is kept after a newer one has replaced it. 0: no limit. */
  versionsDays: number
  /** The configuration of the server. */
  defaults: {
    /** `versionsKept` of orgs that have not set it. */
    versionsKept: number
    /** `versionsDays` of orgs that have not set it. */
    versionsDays: number
  }
}

export interface RetentionPatch {
  /** Former versions without a label to keep of each file, 0–1,000. Null: as the server is configured. */
  versionsKept?: number | null
  /** Days to keep a version without a label after a newer one has replaced it, 0–3,650; 0: no limit. Null: as the server is configured. */
  versionsDays?: number | null
}

export interface RevokedConnection {
  /** Always true. */
  deleted: true
  /** `revoked`: the provider revoked access. `pending`: the provider did not respond; retried for about an hour. `failed`: the provider did not revoke access; remove Atrium in its settings. `unsupported`: the provider has no revocation. */
  providerRevocation: "revoked" | "pending" | "failed" | "unsupported"
}

export interface RpcFailure {
  /** Version of JSON-RPC. */
  jsonrpc: "2.0"
  /** ID of the request. Null when it could not be read. */
  id: string | number | null
  /** The error. */
  error: {
    /** Error code of JSON-RPC, or the negative HTTP status code. */
    code: number
    /** Explanation for people. */
    message: string
    /** Details of the error. */
    data?: unknown
  }
}

export interface SecretRotate {
  /** Signing secret that the provider issued, 8–256 characters. Default: a new secret is generated. */
  secret?: string
  /** Public key of the application in hexadecimal, at most 128 characters. Required to create a webhook for `discord`. */
  publicKey?: string
}

export interface Session {
  /** Unique ID, a UUID version 7. */
  id: string
  /** ID of the workspace. */
  workspaceId: string
  /** ID of the project that the agent works in. Null without one. */
  projectId: string | null
  /** Title, 1–255 characters. Null until the first message, whose first line becomes the title. */
  title: string | null
  /** How the session was created: `console`, `api`, `test`, `openai`, `mcp`, `a2a`, `chat` or `agent`. Null for sessions of people that were created before this was recorded. */
  source: "console" | "api" | "test" | "openai" | "mcp" | "a2a" | "chat" | "agent" | null
  /** `idle`: no turn is running. `running`: a turn is running. `requires_action`: the running turn waits for a decision or for outputs of tools of the caller. */
  status: "idle" | "running" | "requires_action"
  /** ID of the running turn. Null without one. */
  activeTurnId: string | null
  /** Agents and users that take part. */
  participants: Array<{
    /** Whether the participant is an agent or a user. */
    type: "agent" | "user"
    /** ID of the agent or user. */
    id: string
    /** Slug of the agent. Absent for users. */
    slug?: string
    /** Name of the participant. */
    name: string
    /** Avatar identifier of the agent. Absent for users. */
    avatar?: string
  }>
  /** Your own data, at most 16 KB as JSON. The server sets `relationship`; a value that you send is ignored. */
  metadata: Record<string, unknown>
  /** Number of messages. */
  messageCount: number
  /** Time of the last message. Null before the first. */
  lastMessageAt: string | null
  /** Time of creation. */
  createdAt: string
  /** Time of the last change. */
  updatedAt: string
}

export interface SessionCreate {
  /** The agent's UUID or its slug, at most 255 characters. */
  agentId: string
  /** Title, 1–255 characters. Default, also for null: the first line of the first message. */
  title?: string | null
  /** ID of a project. The agent reads its instructions and works in its folder. Default, also for null: none. */
  projectId?: string | null
  /** Your own data, at most 16 KB as JSON. The server sets `relationship`; a value that you send is ignored. */
  metadata?: Record<string, unknown>
  /** Whether the session is a test of the agent: its `source` is `test`. Default false. */
  isTest?: boolean
}

export interface SessionCreatedEvent {
  /** ID of the event, also in the header `webhook-id`. */
  id: string
  /** Type of the event. */
  type: "session.created"
  /** Version of the schema of `data`. */
  version: 1
  /** Time of the change. */
  timestamp: string
  /** True for a test event, which is not in the log. */
  isTest?: boolean
  /** ID of the org. */
  orgId: string
  /** ID of the workspace. Null for an event of the whole org. */
  workspaceId: string | null
  actor: EventActor
  /** What the event is about. */
  subject: {
    /** Type of resource. */
    type: string
    /** ID of the resource. */
    id: string
  }
  /** Number of the event among those of its subject, from 1. */
  sequence: number
  /** Position in the log of the org, from 1. Increases in the order in which events became visible. */
  position: number
  /** The events that led to this one; see the loop guard in the guide on events. */
  chain: {
    /** ID of the first event of the chain. */
    id: string
    /** Number of events before this one. */
    depth: number
  }
  /** What happened. */
  data: {
    /** ID of the session. */
    sessionId: string
    /** ID of the agent that replies. */
    agentId: string
    /** Title. Null until the first message provides one. */
    title: string | null
    /** `user`: with a person. `peer`: between agents. `connector`: in a chat of a provider. */
    relationship: "user" | "peer" | "connector"
  }
}

export interface SessionDeletedEvent {
  /** ID of the event, also in the header `webhook-id`. */
  id: string
  /** Type of the event. */
  type: "session.deleted"
  /** Version of the schema of `data`. */
  version: 1
  /** Time of the change. */
  timestamp: string
  /** True for a test event, which is not in the log. */
  isTest?: boolean
  /** ID of the org. */
  orgId: string
  /** ID of the workspace. Null for an event of the whole org. */
  workspaceId: string | null
  actor: EventActor
  /** What the event is about. */
  subject: {
    /** Type of resource. */
    type: string
    /** ID of the resource. */
    id: string
  }
  /** Number of the event among those of its subject, from 1. */
  sequence: number
  /** Position in the log of the org, from 1. Increases in the order in which events became visible. */
  position: number
  /** The events that led to this one; see the loop guard in the guide on events. */
  chain: {
    /** ID of the first event of the chain. */
    id: string
    /** Number of events before this one. */
    depth: number
  }
  /** What happened. */
  data: {
    /** ID of the session. */
    sessionId: string
  }
}

export interface SessionPatch {
  /** Title, 1–255 characters. Default, also for null: the first line of the first message. */
  title?: string | null
  /** ID of a project. Null removes the session from its project. */
  projectId?: string | null
  /** Metadata to change. Keys that are not sent stay as they are; null removes a key. */
  metadata?: Record<string, unknown>
}

export interface SessionUpdatedEvent {
  /** ID of the event, also in the header `webhook-id`. */
  id: string
  /** Type of the event. */
  type: "session.updated"
  /** Version of the schema of `data`. */
  version: 1
  /** Time of the change. */
  timestamp: string
  /** True for a test event, which is not in the log. */
  isTest?: boolean
  /** ID of the org. */
  orgId: string
  /** ID of the workspace. Null for an event of the whole org. */
  workspaceId: string | null
  actor: EventActor
  /** What the event is about. */
  subject: {
    /** Type of resource. */
    type: string
    /** ID of the resource. */
    id: string
  }
  /** Number of the event among those of its subject, from 1. */
  sequence: number
  /** Position in the log of the org, from 1. Increases in the order in which events became visible. */
  position: number
  /** The events that led to this one; see the loop guard in the guide on events. */
  chain: {
    /** ID of the first event of the chain. */
    id: string
    /** Number of events before this one. */
    depth: number
  }
  /** What happened. */
  data: {
    /** ID of the session. */
    sessionId: string
    /** Names of the fields that were sent to be changed. */
    changed: string[]
  }
}

export interface SessionsEnded {
  /** Number of sessions that ended. */
  ended: number
}

export interface Share {
  /** Unique ID, a UUID version 7. */
  id: string
  /** ID of the shared file or folder. */
  fileId: string
  /** `view`: previews, and pictures, PDF, audio and video as the browser displays them. `download`: previews and downloads. `upload`: uploads into a folder, without seeing what is in it. */
  permission: "view" | "download" | "upload"
  /** Whether visitors must enter a password. */
  hasPassword: boolean
  /** Time at which the link stops working. Null: never. */
  expiresAt: string | null
  /** How often something can be downloaded, at most 1,000,000. Null: no limit. */
  maxDownloads: number | null
  /** How often something was downloaded. */
  downloads: number
  /** How many files can be uploaded, at most 10,000. Null: no limit but the quotas. */
  maxUploads: number | null
  /** How many files were uploaded. */
  uploads: number
  /** Size of an uploaded file in bytes. Null: 104,857,600. */
  maxFileBytes: number | null
  /** Media types that can be uploaded. Null: all that can be stored. */
  allowedTypes: string[] | null
  /** ID of the user who created the share. The link works as long as this person may use files, and ends for good when they leave the org. */
  createdBy: string
  /** Whether the link has ended: it expired, its creator left the org, or the API key by which it was created was revoked or expired. */
  ended: boolean
  /** Time of creation. */
  createdAt: string
  /** Time of the last change. */
  updatedAt: string
  /** Time of the last download or upload. Null: never used. */
  lastUsedAt: string | null
}

export interface ShareCreate {
  /** `view`: previews, and pictures, PDF, audio and video as the browser displays them. `download`: previews and downloads. `upload`: uploads into a folder, without seeing what is in it. */
  permission?: "view" | "download" | "upload"
  /** Password that visitors must enter, 8–128 characters. It is never returned. Null: none. */
  password?: string | null
  /** Time at which the link stops working. Null: never. */
  expiresAt?: string | null
  /** How often something can be downloaded, 1–1,000,000; with `download` only. Nothing is previewed then. Null: no limit. */
  maxDownloads?: number | null
  /** How many files can be uploaded, 1–10,000; with `upload` only. Default 100. Null: no limit but the quotas. */
  maxUploads?: number | null
  /** Size of an uploaded file in bytes, 1–104,857,600; with `upload` only. Null: 104,857,600. */
  maxFileBytes?: number | null
  /** Media types that can be uploaded, 1–50, or kinds of types that can be stored, such as `image/*`; with `upload` only. Null: all that can be stored. */
  allowedTypes?: string[] | null
}

export interface ShareCreated {
  /** Unique ID, a UUID version 7. */
  id: string
  /** ID of the shared file or folder. */
  fileId: string
  /** `view`: previews, and pictures, PDF, audio and video as the browser displays them. `download`: previews and downloads. `upload`: uploads into a folder, without seeing what is in it. */
  permission: "view" | "download" | "upload"
  /** Whether visitors must enter a password. */
  hasPassword: boolean
  /** Time at which the link stops working. Null: never. */
  expiresAt: string | null
  /** How often something can be downloaded, at most 1,000,000. Null: no limit. */
  maxDownloads: number | null
  /** How often something was downloaded. */
  downloads: number
  /** How many files can be uploaded, at most 10,000. Null: no limit but the quotas. */
  maxUploads: number | null
  /** How many files were uploaded. */
  uploads: number
  /** Size of an uploaded file in bytes. Null: 104,857,600. */
  maxFileBytes: number | null
  /** Media types that can be uploaded. Null: all that can be stored. */
  allowedTypes: string[] | null
  /** ID of the user who created the share. The link works as long as this person may use files, and ends for good when they leave the org. */
  createdBy: string
  /** Whether the link has ended: it expired, its creator left the org, or the API key by which it was created was revoked or expired. */
  ended: boolean
  /** Time of creation. */
  createdAt: string
  /** Time of the last change. */
  updatedAt: string
  /** Time of the last download or upload. Null: never used. */
  lastUsedAt: string | null
  /** The link. It is returned only once, because only a hash of it is stored. */
  url: string
}

export interface SharePatch {
  /** Password that visitors must enter, 8–128 characters. It is never returned. Null: none. */
  password?: string | null
  /** Time at which the link stops working. Null: never. */
  expiresAt?: string | null
  /** How often something can be downloaded, 1–1,000,000; with `download` only. Nothing is previewed then. Null: no limit. */
  maxDownloads?: number | null
  /** How many files can be uploaded, 1–10,000; with `upload` only. Default 100. Null: no limit but the quotas. */
  maxUploads?: number | null
  /** Size of an uploaded file in bytes, 1–104,857,600; with `upload` only. Null: 104,857,600. */
  maxFileBytes?: number | null
  /** Media types that can be uploaded, 1–50, or kinds of types that can be stored, such as `image/*`; with `upload` only. Null: all that can be stored. */
  allowedTypes?: string[] | null
}

export interface SignIn {
  /** E-mail address, 3–254 characters. */
  email: string
  /** Password, 1–128 characters. */
  password: string
}

export interface SignInCode {
  /** Code of the authenticator app: 6 digits. */
  code?: string
  /** A backup code, at most 32 characters, in place of `code`. Each works once. */
  backupCode?: string
}

export interface SignInLink {
  /** Token of the sign-in link: what follows `#link=`, at most 200 characters. */
  token: string
}

export interface SignInLinkOrg {
  /** The org that the link opens. Null when it opens several or none. */
  org: {
    /** Name of the org. */
    name: string
    /** Public URL of the logo, a WebP picture of 256 × 256 pixels, or of 64 × 64 with `?size=64`. Another logo has another URL. Null: no logo. */
    logoUrl: string | null
  } | null
}

export interface SignedIn {
  /** Whether a second factor is required: send a code to `POST /auth/sign-in/totp` to get a session. */
  twoFactorRequired: boolean
}

export interface SignedOut {
  /** Always true. */
  signedOut: true
}

export interface Spending {
  /** Period that the figures are for. */
  period: string
  /** Start of the period, inclusive. */
  from: string
  /** End of the period: the time of the request. */
  to: string
  /** Usage of the whole period. */
  summary: {
    /** Number of model calls, including free ones. */
    requestCount: number
    /** Number of model calls with the org's own provider key. */
    byokRequestCount: number
    /** Input tokens, including cached ones. */
    inputTokens: number
    /** Output tokens. */
    outputTokens: number
    /** Tokens read from the cache. */
    cacheReadTokens: number
    /** Tokens written to the cache. */
    cacheWriteTokens: number
    /** Input and output tokens together. */
    totalTokens: number
    /** Cost of the model calls at the provider, in microcents (10,000 are one cent). */
    providerCostMicrocents: number
    /** Platform fee, in microcents (10,000 are one cent). */
    platformFeeMicrocents: number
    /** Total charged to the org, in microcents (10,000 are one cent). */
    totalChargedMicrocents: number
    /** Total charged to the org, rounded down, in cents. */
    totalChargedCents: number
  }
  /** Usage by day, oldest first. */
  daily: Array<{
    /** Day in UTC. */
    date: string
    /** Number of model calls, including free ones. */
    requestCount: number
    /** Number of model calls with the org's own provider key. */
    byokRequestCount: number
    /** Input tokens, including cached ones. */
    inputTokens: number
    /** Output tokens. */
    outputTokens: number
    /** Tokens read from the cache. */
    cacheReadTokens: number
    /** Tokens written to the cache. */
    cacheWriteTokens: number
    /** Input and output tokens together. */
    totalTokens: number
    /** Cost of the model calls at the provider, in microcents (10,000 are one cent). */
    providerCostMicrocents: number
    /** Platform fee, in microcents (10,000 are one cent). */
    platformFeeMicrocents: number
    /** Total charged to the org, in microcents (10,000 are one cent). */
    totalChargedMicrocents: number
    /** Total charged to the org, rounded down, in cents. */
    totalChargedCents: number
  }>
  /** Agents with the highest charges. */
  topAgents: Array<{
    /** ID of the agent. Null for usage that cannot be attributed. */
    id: string | null
    /** Name of the agent. */
    name: string
    /** Number of model calls, including free ones. */
    requestCount: number
    /** Number of model calls with the org's own provider key. */
    byokRequestCount: number
    /** Input tokens, including cached ones. */
    inputTokens: number
    /** Output tokens. */
    outputTokens: number
    /** Tokens read from the cache. */
    cacheReadTokens: number
    /** Tokens written to the cache. */
    cacheWriteTokens: number
    /** Input and output tokens together. */
    totalTokens: number
    /** Cost of the model calls at the provider, in microcents (10,000 are one cent). */
    providerCostMicrocents: number
    /** Platform fee, in microcents (10,000 are one cent). */
    platformFeeMicrocents: number
    /** Total charged to the org, in microcents (10,000 are one cent). */
    totalChargedMicrocents: number
    /** Total charged to the org, rounded down, in cents. */
    totalChargedCents: number
    /** Share of the total charged, 0–1. */
    share: number
  }>
  /** Models with the highest charges. */
  topModels: Array<{
    /** ID of the model. Null for usage that cannot be attributed. */
    id: string | null
    /** Name of the model. */
    name: string
    /** Number of model calls, including free ones. */
    requestCount: number
    /** Number of model calls with the org's own provider key. */
    byokRequestCount: number
    /** Input tokens, including cached ones. */
    inputTokens: number
    /** Output tokens. */
    outputTokens: number
    /** Tokens read from the cache. */
    cacheReadTokens: number
    /** Tokens written to the cache. */
    cacheWriteTokens: number
    /** Input and output tokens together. */
    totalTokens: number
    /** Cost of the model calls at the provider, in microcents (10,000 are one cent). */
    providerCostMicrocents: number
    /** Platform fee, in microcents (10,000 are one cent). */
    platformFeeMicrocents: number
    /** Total charged to the org, in microcents (10,000 are one cent). */
    totalChargedMicrocents: number
    /** Total charged to the org, rounded down, in cents. */
    totalChargedCents: number
    /** Share of the total charged, 0–1. */
    share: number
  }>
  /** Charges over time by model, compared with the period before. */
  chart: {
    /** Length of the intervals: `month` for the periods `year` and `all`, else `day`. */
    grain: "day" | "month"
    /** First day of each interval in UTC, oldest first. */
    dates: string[]
    /** The six models with the highest charges, highest first, and all others as one item. Models without charges are not included. */
    models: Array<{
      /** ID of the model. Null for all other models. */
      id: string | null
      /** Name of the model. */
      name: string
      /** Charged in each interval of `dates`, in microcents (10,000 are one cent). */
      chargedMicrocents: number[]
    }>
    /** The period before, up to the same point: on March 10, `month` is compared with February 1 to 10. Null for `all`. */
    previous: {
      /** First day in UTC. */
      from: string
      /** Last day in UTC. */
      to: string
      /** Charged in total, in microcents (10,000 are one cent). */
      totalChargedMicrocents: number
      /** Charged in each interval. Can be shorter than `dates`, when the month before is shorter, in microcents (10,000 are one cent). */
      chargedMicrocents: number[]
    } | null
  }
}

export interface StartedConnection {
  connection: Connection
  /** URL of the provider's consent page. Open it in a browser. Valid once, for 10 minutes. Null for other connectors. */
  oauthUrl: string | null
  /** URL to POST the credentials to. Null for OAuth connectors. */
  credentialSubmitUrl: string | null
}

export interface Statement {
  /** Calendar month in UTC. */
  month: string
  /** Whether the figures can still change. A month is final an hour after its end. */
  provisional: boolean
  /** Balance before the first transaction of the month, in cents. */
  openingBalanceCents: number
  /** Sum of the deposits, in cents. */
  depositsCents: number
  /** Sum of refunds and disputes, 0 or negative, in cents. */
  refundsCents: number
  /** Sum of the adjustments: credits of plans and promotions, reversed refunds and corrections, in cents. */
  adjustmentsCents: number
  /** Sum of the charges for usage and of the platform fee, 0 or negative, in cents. */
  usageCents: number
  /** Balance after the last transaction of the month: the sum of the opening balance, deposits, refunds, adjustments and usage, in cents. */
  closingBalanceCents: number
  /** Start of the month, inclusive. */
  from: string
  /** End of the month, exclusive. */
  to: string
  /** Always `usd`. */
  currency: "usd"
  /** Who receives the payments. Null when the server names nobody. */
  seller: {
    /** Name. */
    name: string
    /** Postal address, with line breaks. Null: none. */
    address: string | null
    /** Tax number. Null: none. */
    taxId: string | null
    /** Email address. Null: none. */
    email: string | null
  } | null
  buyer: BuyerParty
  /** Deposits, refunds and adjustments, oldest first, at most 500. `omittedCount` has the number of others. */
  entries: Array<{
    /** Unique ID, a UUID version 7. */
    id: string
    /** Why the balance changed. */
    type: "deposit" | "refund" | "adjustment"
    /** Change of the balance, in cents. */
    amountCents: number
    /** Explanation. */
    notes: string | null
    /** ID of the payment at Stripe. Null without a payment. */
    paymentIntentId: string | null
    /** Time of creation. */
    createdAt: string
  }>
  /** Number of deposits, refunds and adjustments that are not in `entries`. */
  omittedCount: number
  /** Sum of those that are not in `entries`, in cents. */
  omittedCents: number
  /** The usage of the month, and how it became whole cents. */
  usage: {
    /** The 200 models with the highest charges, highest first, and all others as one. */
    models: Array<{
      /** ID of the model. Null for all other models. */
      id: string | null
      /** Name of the model. */
      name: string
      /** Number of model calls, including free ones. */
      requestCount: number
      /** Input tokens. */
      inputTokens: number
      /** Output tokens. */
      outputTokens: number
      /** Charged, without the platform fee, in microcents (10,000 are one cent). */
      amountMicrocents: number
    }>
    /** Platform fee, in microcents (10,000 are one cent). */
    platformFeeMicrocents: number
    /** Charged before the month and posted in it, in microcents (10,000 are one cent). */
    carriedInMicrocents: number
    /** Charged in the month and not posted in it: a rest below a cent, in microcents (10,000 are one cent). */
    carriedOutMicrocents: number
    /** Posted in the month, a whole number of cents: models, platform fee and `carriedInMicrocents`, without `carriedOutMicrocents`, in microcents (10,000 are one cent). */
    totalMicrocents: number
  }
  /** Payments for plans that include credit, at most 50. They do not change the balance. */
  planPayments: Array<{
    /** ID of the payment at Stripe. */
    paymentIntentId: string
    /** Number of the receipt: the last 8 digits of the ID of the org, and the number of the payment in the org, counted from 1 without gaps. */
    receiptNumber: string
    /** ID of the plan. Null when it is unknown. */
    planId: string | null
    /** Amount that was paid, in cents. */
    paidCents: number
    /** Time of creation. */
    createdAt: string
  }>
}

export interface StatementList {
  /** Items of this page. */
  items: Array<{
    /** Calendar month in UTC. */
    month: string
    /** Whether the figures can still change. A month is final an hour after its end. */
    provisional: boolean
    /** Balance before the first transaction of the month, in cents. */
    openingBalanceCents: number
    /** Sum of the deposits, in cents. */
    depositsCents: number
    /** Sum of refunds and disputes, 0 or negative, in cents. */
    refundsCents: number
    /** Sum of the adjustments: credits of plans and promotions, reversed refunds and corrections, in cents. */
    adjustmentsCents: number
    /** Sum of the charges for usage and of the platform fee, 0 or negative, in cents. */
    usageCents: number
    /** Balance after the last transaction of the month: the sum of the opening balance, deposits, refunds, adjustments and usage, in cents. */
    closingBalanceCents: number
  }>
  /** Send it as `cursor` to get the next page. Null on the last page. */
  nextCursor: string | null
}

export interface StepUp {
  /** Password, 1–128 characters. Send either this or `totpCode`. */
  password?: string
  /** Code of the authenticator app: 6 digits. Send either this or `password`. */
  totpCode?: string
}

export interface StepUpToken {
  /** Token for the header `X-Step-Up-Token`. */
  token: string
  /** Time of expiry, 10 minutes from now. */
  expiresAt: string
}

export interface SubmittedConnection {
  /** Unique ID, a UUID version 7. */
  id: string
  /** Slug of the connector. */
  connectorSlug: string
  /** Label that distinguishes several connections to one connector. */
  label: string | null
  /** `pending`: waits up to an hour for credentials or consent. `active`: in use. `error`: the provider rejects the credentials, see `lastError`. `expired`: not completed in an hour. `revoked`: deleted. */
  status: "pending" | "active" | "error" | "expired" | "revoked"
  /** Name of the account at the provider. Null while pending. */
  accountName: string | null
  /** ID of the account at the provider. Null while pending. */
  accountId: string | null
  /** Scopes that the provider granted. Empty for connectors without scopes. */
  scopes: string[]
  /** Time of the last use. Null before the first. */
  lastUsedAt: string | null
  /** Last error of the provider. Null without one. */
  lastError: string | null
  /** Time of creation. */
  createdAt: string
  /** Time of the last change. */
  updatedAt: string
  /** Time of deletion. Null before that. */
  deletedAt: string | null
  /** Only for MCP servers that ask for sign-in: URL of the consent page. Open it in a browser. Valid once, for 10 minutes. Nothing is stored before the sign-in is complete. */
  oauthUrl?: string | null
}

export interface SubscriptionCreate {
  /** ID of a monthly plan from `GET /billing/pricing`. At most 63 characters. */
  planId: string
}

export interface SubscriptionEnded {
  /** ID of a monthly plan from `GET /billing/pricing`. */
  planId: string
  /** Always true: the plan ends with the paid month. */
  cancelAtPeriodEnd: true
  /** End of the paid month. */
  currentPeriodEnd: string | null
}

export interface SubscriptionStarted {
  /** URL of the payment page. Open it in a browser. */
  checkoutUrl: string
  /** ID of the checkout session at Stripe. */
  sessionId: string
  /** ID of a monthly plan from `GET /billing/pricing`. */
  planId: string
}

export interface SubscriptionUpdatedEvent {
  /** ID of the event, also in the header `webhook-id`. */
  id: string
  /** Type of the event. */
  type: "subscription.updated"
  /** Version of the schema of `data`. */
  version: 1
  /** Time of the change. */
  timestamp: string
  /** True for a test event, which is not in the log. */
  isTest?: boolean
  /** ID of the org. */
  orgId: string
  /** ID of the workspace. Null for an event of the whole org. */
  workspaceId: string | null
  actor: EventActor
  /** What the event is about. */
  subject: {
    /** Type of resource. */
    type: string
    /** ID of the resource. */
    id: string
  }
  /** Number of the event among those of its subject, from 1. */
  sequence: number
  /** Position in the log of the org, from 1. Increases in the order in which events became visible. */
  position: number
  /** The events that led to this one; see the loop guard in the guide on events. */
  chain: {
    /** ID of the first event of the chain. */
    id: string
    /** Number of events before this one. */
    depth: number
  }
  /** What happened. */
  data: {
    /** ID of the plan. */
    planId: string
    /** Status at the payment provider. */
    status: string
    /** Whether it ends with the paid period. */
    cancelAtPeriodEnd: boolean
    /** End of the paid period. Null until the payment provider reports it. */
    currentPeriodEnd: string | null
  }
}

export interface ToolAgreement {
  /** `offered.hash` of the tools to accept, 1–128 characters. */
  hash: string
}

export type ToolChoice = "auto" | "none" | "required" | {
  /** Name of the tool of the caller that the model must call. */
  name: string
}

export interface ToolOutputs {
  /** Outputs of calls, 1–128. */
  outputs: Array<{
    /** ID of the tool call, at most 64 characters. */
    callId: string
    /** Result of the call: any JSON value of at most 256 KB. */
    output: unknown
    /** Whether the call failed. `output` is then the error. Default false. */
    isError?: boolean
  }>
}

export interface TransactionPage {
  /** Items of this page. */
  items: Array<{
    /** Unique ID, a UUID version 7. */
    id: string
    /** Why the balance changed. */
    type: "deposit" | "usage" | "refund" | "adjustment" | "platform_fee"
    /** Change of the balance, negative for a charge, in cents. */
    amountCents: number
    /** Balance after the transaction, in cents. */
    balanceAfterCents: number
    /** ID of the payment at Stripe. Absent without a payment. */
    paymentIntentId?: string
    /** ID of the receipt, for `GET /billing/receipts/:id`. Present for deposits only. */
    receiptId?: string
    /** Explanation of the transaction. */
    notes: string | null
    /** Time of creation. */
    createdAt: string
  }>
  /** Page number, from 1. */
  page: number
  /** Maximum number of items in a page. */
  limit: number
  /** Number of items on all pages. */
  total: number
  /** Whether there is another page. */
  hasMore: boolean
  /** Send it as `cursor` to get the next page. Null on the last page. */
  nextCursor: string | null
}

export interface TransformPreview {
  /** Event that was transformed. */
  event: Record<string, unknown>
  /** Body that would be sent. */
  result: Record<string, unknown>
}

export interface TransformPreviewRequest {
  /** JSONata expression whose result, an object of at most 1.5 MB as JSON, is sent instead of the event, 1–8,192 characters. Null, the default: the event is sent. */
  transform: string
  /** Event type, one of `GET /event-types`, whose example is transformed, at most 255 characters. No default: `type` or `event` is required. */
  type?: string
  /** Event to transform instead of an example, such as one with `expanded`. No default. */
  event?: Record<string, unknown>
}

export interface Turn {
  /** Unique ID, a UUID version 7. */
  id: string
  /** ID of the session. */
  sessionId: string
  /** ID of the agent. */
  agentId: string
  /** ID of the user for whom the turn runs. */
  userId: string
  /** ID of the agent's model when the turn was created. */
  model: string
  /** ID of the model that responded last: `model`, or a fallback model of the agent. Null before the first response. */
  answerModel: string | null
  /** ID of the first turn, when agents message each other. Otherwise the ID of this turn. */
  chainId: string
  /** Number of messages between agents from the first turn to this one. 0 for the first. */
  hop: number
  /** Number of the oldest exchanges that do not fit into the context window of the model. */
  leftOutExchanges: number
  /** Source of the first untrusted content that the turn has read: the name of a tool, or `chat`, `person`, `peer` or `project`. Null when it has read none. */
  untrustedFrom: string | null
  /** `queued`: waits for a worker or for the turn before it. `requires_action`: waits for a decision, see `approvals`, or for outputs of tools of the caller, see `requiredToolOutputs`. `incomplete`: a limit ended the turn, see `stopReason`. `failed`: see `error`. */
  status: "queued" | "running" | "requires_action" | "completed" | "failed" | "cancelled" | "incomplete"
  /** Why the turn ended. Null before that. */
  stopReason: "stop" | "cancelled" | "max_steps" | "max_time" | "max_tokens" | "max_cost" | "content_filter" | "stream_truncated" | "error" | null
  /** Why the turn failed. Null when it did not. */
  error: {
    /** Error code, such as `model_unavailable`. */
    code: string
    /** Explanation for people. */
    message: string
  } | null
  /** ID of the message with the reply. */
  replyId: string
  /** Parsed reply of a completed turn with a `responseFormat` of the type `json_schema`. Null for other turns, and before the end. */
  output: unknown
  /** Maximum number of model calls, counted again after each output of a tool of the caller. */
  maxSteps: number
  /** Cost after which the turn ends, in cents. Null: no limit. */
  maxCostCents: number | null
  /** Number of times a worker started the turn. More than 1 after a crash or an approval. */
  attempts: number
  /** Tokens of all model calls. */
  usage: {
    /** Input tokens, including those read from or written to a cache. */
    inputTokens: number
    /** Output tokens. */
    outputTokens: number
    /** Tokens read from the cache. */
    cacheReadTokens: number
    /** Tokens written to the cache. */
    cacheWriteTokens: number
    /** Input and output tokens together. */
    totalTokens: number
    /** Whether some of the tokens are counted from the text. */
    isEstimate: boolean
  }
  /** Prices of the model when the turn was created. */
  pricing: {
    /** Price of input tokens, in microcents for a million tokens. */
    input: number
    /** Price of output tokens, in microcents for a million tokens. */
    output: number
    /** Price of tokens read from the cache, in microcents for a million tokens. */
    cacheRead: number
    /** Price of tokens written to the cache, in microcents for a million tokens. */
    cacheWrite: number
  }
  /** Cost of the model calls at the provider, in microcents (10,000 are one cent). */
  costMicrocents: number
  /** Platform fee, in microcents. */
  platformFeeMicrocents: number
  /** Amount charged to the org, in microcents: cost and fee, or only the fee with the org's own provider key. */
  chargedMicrocents: number
  /** Model calls, in order. */
  steps: Array<{
    /** Number of the step, from 1. */
    step: number
    /** Number of the attempt of this step, from 1. */
    attempt: number
    /** ID of the model that was called. */
    model: string
    /** Status of the call. `lost`: the server process ended during the call. */
    status: "running" | "completed" | "failed" | "lost" | "cancelled"
    /** Why the model stopped, such as `stop` or `tool-calls`. Null before that. */
    finishReason: string | null
    /** Input tokens, including those read from or written to a cache. */
    inputTokens: number
    /** Output tokens. */
    outputTokens: number
    /** Tokens read from the cache. */
    cacheReadTokens: number
    /** Tokens written to the cache. */
    cacheWriteTokens: number
    /** Whether tokens are counted from the text, because the provider reported none or an impossible number. */
    isEstimate: boolean
    /** Cost of the call, in microcents (10,000 are one cent). */
    costMicrocents: number
    /** Why the call failed. Null when it did not. */
    error: {
      /** Error code, such as `model_unavailable`. */
      code: string
      /** Explanation for people. */
      message: string
    } | null
    /** Time when the call started. */
    startedAt: string
    /** Time when the call ended. Null before that. */
    endedAt: string | null
  }>
  /** Tool calls, in order. */
  toolCalls: Array<{
    /** ID of the call, unique within the turn. */
    id: string
    /** Number of the step that made the call. */
    step: number
    /** Name of the tool. */
    toolName: string
    /** Arguments of the call. */
    input: unknown
    /** `waiting`: not started, or waits for a decision. `started`: runs, or waits for the output of a tool of the caller. `denied`: a person decided against it. `unknown`: the server process ended during the call, so its outcome is unknown. */
    status: "waiting" | "started" | "done" | "failed" | "unknown" | "denied" | "cancelled"
    /** Result of the call. Null before it ends. */
    output: unknown
    /** Number of times the call was started. */
    attempts: number
    /** ID of the approval. Null when none is needed. */
    approvalId: string | null
    /** Time when the call started. Null before that. */
    startedAt: string | null
    /** Time when the call ended. Null before that. */
    endedAt: string | null
  }>
  /** Decisions that the turn waits for. */
  approvals: Approval[]
  /** Calls of the caller's tools whose outputs the turn waits for. */
  requiredToolOutputs: RequiredToolOutput[]
  /** Time of creation. */
  createdAt: string
  /** Time when a worker started the turn. Null before that. */
  startedAt: string | null
  /** Time when the turn ended. Null before that. */
  endedAt: string | null
}

export interface TurnAnswer {
  turn: Turn
  /** The reply. Null when there is none; absent while the turn is running. */
  message?: {
    /** Unique ID, a UUID version 7. */
    id: string
    /** ID of the session. */
    sessionId: string
    /** ID of the turn. */
    turnId: string
    /** `user`: the request. `assistant`: the reply of the agent. */
    role: "user" | "assistant"
    /** The author of the message. */
    author: {
      /** Whether the author is an agent or a user. */
      type: "agent" | "user"
      /** ID of the agent or user. */
      id: string
      /** Slug of the agent. Absent for users. */
      slug?: string
      /** Name of the author. */
      name: string
      /** Avatar identifier of the agent. Absent for users. */
      avatar?: string
    }
    /** Parts of the message, in order. */
    parts: MessagePart[]
    /** IDs of all versions of the message, oldest first, with its own. Only in lists of the messages of a session, and only for a message with several versions; see `replaces`. */
    versions?: string[]
    /** Time of creation. */
    createdAt: string
  } | null
}

export interface TurnApprovalDecidedEvent {
  /** ID of the event, also in the header `webhook-id`. */
  id: string
  /** Type of the event. */
  type: "turn.approval_decided"
  /** Version of the schema of `data`. */
  version: 1
  /** Time of the change. */
  timestamp: string
  /** True for a test event, which is not in the log. */
  isTest?: boolean
  /** ID of the org. */
  orgId: string
  /** ID of the workspace. Null for an event of the whole org. */
  workspaceId: string | null
  actor: EventActor
  /** What the event is about. */
  subject: {
    /** Type of resource. */
    type: string
    /** ID of the resource. */
    id: string
  }
  /** Number of the event among those of its subject, from 1. */
  sequence: number
  /** Position in the log of the org, from 1. Increases in the order in which events became visible. */
  position: number
  /** The events that led to this one; see the loop guard in the guide on events. */
  chain: {
    /** ID of the first event of the chain. */
    id: string
    /** Number of events before this one. */
    depth: number
  }
  /** What happened. */
  data: {
    /** ID of the turn. */
    turnId: string
    /** ID of the session. */
    sessionId: string
    /** ID of the agent. */
    agentId: string
    /** ID of the approval, as in the tool call. */
    approvalId: string
    /** Whether the agent may make the call. */
    approved: boolean
    /** Name of the tool. */
    tool: string
  }
}

export interface TurnCancelledEvent {
  /** ID of the event, also in the header `webhook-id`. */
  id: string
  /** Type of the event. */
  type: "turn.cancelled"
  /** Version of the schema of `data`. */
  version: 1
  /** Time of the change. */
  timestamp: string
  /** True for a test event, which is not in the log. */
  isTest?: boolean
  /** ID of the org. */
  orgId: string
  /** ID of the workspace. Null for an event of the whole org. */
  workspaceId: string | null
  actor: EventActor
  /** What the event is about. */
  subject: {
    /** Type of resource. */
    type: string
    /** ID of the resource. */
    id: string
  }
  /** Number of the event among those of its subject, from 1. */
  sequence: number
  /** Position in the log of the org, from 1. Increases in the order in which events became visible. */
  position: number
  /** The events that led to this one; see the loop guard in the guide on events. */
  chain: {
    /** ID of the first event of the chain. */
    id: string
    /** Number of events before this one. */
    depth: number
  }
  /** What happened. */
  data: {
    /** ID of the turn. */
    turnId: string
    /** ID of the session. */
    sessionId: string
    /** ID of the agent. */
    agentId: string
  }
}

export interface TurnCompletedEvent {
  /** ID of the event, also in the header `webhook-id`. */
  id: string
  /** Type of the event. */
  type: "turn.completed"
  /** Version of the schema of `data`. */
  version: 1
  /** Time of the change. */
  timestamp: string
  /** True for a test event, which is not in the log. */
  isTest?: boolean
  /** ID of the org. */
  orgId: string
  /** ID of the workspace. Null for an event of the whole org. */
  workspaceId: string | null
  actor: EventActor
  /** What the event is about. */
  subject: {
    /** Type of resource. */
    type: string
    /** ID of the resource. */
    id: string
  }
  /** Number of the event among those of its subject, from 1. */
  sequence: number
  /** Position in the log of the org, from 1. Increases in the order in which events became visible. */
  position: number
  /** The events that led to this one; see the loop guard in the guide on events. */
  chain: {
    /** ID of the first event of the chain. */
    id: string
    /** Number of events before this one. */
    depth: number
  }
  /** What happened. */
  data: {
    /** ID of the turn. */
    turnId: string
    /** ID of the session. */
    sessionId: string
    /** ID of the agent. */
    agentId: string
    /** Why the turn stopped, as in `stopReason` of the turn. */
    stopReason: string
  }
}

export interface TurnCreate {
  /** Text of the message, at most 100,000 characters. Required without `fileIds`. */
  text?: string
  /** IDs of uploaded files to attach, at most 20. Default: none. */
  fileIds?: string[]
  /** Agent that replies: UUID or slug, at most 255 characters. Default: the agent of the session. */
  agentId?: string
  /** Maximum number of model calls, 1–16, counted again after each output of a tool of the caller. Default 16. */
  maxSteps?: number
  /** Cost after which the turn ends, in cents, 1–1,000,000. Default: no limit. */
  maxCostCents?: number
  /** What to do while another turn of the session is running. `enqueue`: wait for it. `reject`: return CONFLICT. `interrupt`: cancel it and all queued turns. Default `enqueue`. */
  onBusy?: "enqueue" | "reject" | "interrupt"
  /** Tools that the caller runs, at most 128 and together 64 KB as JSON. When the model calls one, the turn waits for its output as `requires_action`. Default: none. */
  tools?: CallerTool[]
  toolChoice?: ToolChoice
  responseFormat?: ResponseFormat
  /** Continue the last turn, which a limit ended, in place of `text`. Default false. */
  continue?: boolean
  /** ID of one of your own messages of this session that started a turn. The new message becomes another version of it: from then on the agent sees neither that message nor what follows it. Without `text` and `fileIds`, the same message is sent again. CONFLICT while a turn of the session is running, unless `onBusy` is `interrupt`. Default: none. */
  replaces?: string
  /** Return 202 at once instead of waiting for the reply. Default false. */
  background?: boolean
  /** Messages of `useChat` of the AI SDK, in place of `text`. Only the last one is used. Default: none. */
  messages?: UiMessage[]
  /** Trigger of `useChat` of the AI SDK. `regenerate-message`: the last item of `messages` is sent again in place of the message whose reply is `messageId`, as with `replaces`. All others send a new message. Default: none. */
  trigger?: string
  /** With `regenerate-message`: ID of the reply to replace. Default, also for null: the last one of the session. */
  messageId?: string | null
}

export interface TurnFailedEvent {
  /** ID of the event, also in the header `webhook-id`. */
  id: string
  /** Type of the event. */
  type: "turn.failed"
  /** Version of the schema of `data`. */
  version: 1
  /** Time of the change. */
  timestamp: string
  /** True for a test event, which is not in the log. */
  isTest?: boolean
  /** ID of the org. */
  orgId: string
  /** ID of the workspace. Null for an event of the whole org. */
  workspaceId: string | null
  actor: EventActor
  /** What the event is about. */
  subject: {
    /** Type of resource. */
    type: string
    /** ID of the resource. */
    id: string
  }
  /** Number of the event among those of its subject, from 1. */
  sequence: number
  /** Position in the log of the org, from 1. Increases in the order in which events became visible. */
  position: number
  /** The events that led to this one; see the loop guard in the guide on events. */
  chain: {
    /** ID of the first event of the chain. */
    id: string
    /** Number of events before this one. */
    depth: number
  }
  /** What happened. */
  data: {
    /** ID of the turn. */
    turnId: string
    /** ID of the session. */
    sessionId: string
    /** ID of the agent. */
    agentId: string
    /** Code of the error, as in `error.code` of the turn. */
    errorCode: string
  }
}

export interface TurnIncompleteEvent {
  /** ID of the event, also in the header `webhook-id`. */
  id: string
  /** Type of the event. */
  type: "turn.incomplete"
  /** Version of the schema of `data`. */
  version: 1
  /** Time of the change. */
  timestamp: string
  /** True for a test event, which is not in the log. */
  isTest?: boolean
  /** ID of the org. */
  orgId: string
  /** ID of the workspace. Null for an event of the whole org. */
  workspaceId: string | null
  actor: EventActor
  /** What the event is about. */
  subject: {
    /** Type of resource. */
    type: string
    /** ID of the resource. */
    id: string
  }
  /** Number of the event among those of its subject, from 1. */
  sequence: number
  /** Position in the log of the org, from 1. Increases in the order in which events became visible. */
  position: number
  /** The events that led to this one; see the loop guard in the guide on events. */
  chain: {
    /** ID of the first event of the chain. */
    id: string
    /** Number of events before this one. */
    depth: number
  }
  /** What happened. */
  data: {
    /** ID of the turn. */
    turnId: string
    /** ID of the session. */
    sessionId: string
    /** ID of the agent. */
    agentId: string
    /** Why the turn stopped, as in `stopReason` of the turn. */
    stopReason: string
  }
}

export interface TurnRequiresActionEvent {
  /** ID of the event, also in the header `webhook-id`. */
  id: string
  /** Type of the event. */
  type: "turn.requires_action"
  /** Version of the schema of `data`. */
  version: 1
  /** Time of the change. */
  timestamp: string
  /** True for a test event, which is not in the log. */
  isTest?: boolean
  /** ID of the org. */
  orgId: string
  /** ID of the workspace. Null for an event of the whole org. */
  workspaceId: string | null
  actor: EventActor
  /** What the event is about. */
  subject: {
    /** Type of resource. */
    type: string
    /** ID of the resource. */
    id: string
  }
  /** Number of the event among those of its subject, from 1. */
  sequence: number
  /** Position in the log of the org, from 1. Increases in the order in which events became visible. */
  position: number
  /** The events that led to this one; see the loop guard in the guide on events. */
  chain: {
    /** ID of the first event of the chain. */
    id: string
    /** Number of events before this one. */
    depth: number
  }
  /** What happened. */
  data: {
    /** ID of the turn. */
    turnId: string
    /** ID of the session. */
    sessionId: string
    /** ID of the agent. */
    agentId: string
  }
}

export interface TurnStartedEvent {
  /** ID of the event, also in the header `webhook-id`. */
  id: string
  /** Type of the event. */
  type: "turn.started"
  /** Version of the schema of `data`. */
  version: 1
  /** Time of the change. */
  timestamp: string
  /** True for a test event, which is not in the log. */
  isTest?: boolean
  /** ID of the org. */
  orgId: string
  /** ID of the workspace. Null for an event of the whole org. */
  workspaceId: string | null
  actor: EventActor
  /** What the event is about. */
  subject: {
    /** Type of resource. */
    type: string
    /** ID of the resource. */
    id: string
  }
  /** Number of the event among those of its subject, from 1. */
  sequence: number
  /** Position in the log of the org, from 1. Increases in the order in which events became visible. */
  position: number
  /** The events that led to this one; see the loop guard in the guide on events. */
  chain: {
    /** ID of the first event of the chain. */
    id: string
    /** Number of events before this one. */
    depth: number
  }
  /** What happened. */
  data: {
    /** ID of the turn. */
    turnId: string
    /** ID of the session. */
    sessionId: string
    /** ID of the agent. */
    agentId: string
  }
}

export interface TwoFactorBegin {
  /** Password, 1–128 characters. */
  password: string
}

export interface TwoFactorConfirm {
  /** Code of the authenticator app: 6 digits. */
  code: string
}

export interface TwoFactorEnabled {
  /** Always true. */
  enabled: true
}

export interface TwoFactorSecret {
  /** Secret in base32, for typing. */
  secret: string
  /** URI of the secret, for a QR code. */
  otpauthUri: string
  /** Backup codes. Each works once in place of a code. */
  backupCodes: string[]
}

export interface UiMessage {
  /** Role of the author, such as `user`. */
  role: string
  /** Parts of the message. */
  parts: Array<{
    /** Type of the part, such as `text` or `file`. */
    type: string
    /** Text of a `text` part. */
    text?: string
    /** URL of a `file` part. */
    url?: string
    /** State of a tool part. */
    state?: string
    /** Approval of a tool part. */
    approval?: {
      /** ID of the approval. */
      id: string
      /** The decision. Absent while it is open. */
      approved?: boolean
    }
  }>
}

export interface Updated {
  /** Always true. */
  updated: true
}

export interface Upload {
  /** Unique ID, a UUID version 7. */
  id: string
  /** Number of bytes that have arrived. */
  offset: number
  /** Size of the upload in bytes. */
  length: number
  /** Time after which an upload that is not complete is deleted. */
  expiresAt: string
  /** ID of the file. Null until all bytes have arrived, and for partial uploads. */
  fileId: string | null
}

export interface Usage {
  /** ID of the folder. Null: the root of the org. */
  folderId: string | null
  /** Everything in the folder and in the folders below it. */
  below: {
    /** Number of files and links. */
    files: number
    /** Number of folders. */
    folders: number
    /** Size of the files in bytes, without their former versions. */
    bytes: number
    /** Size of the former versions of the files in bytes. */
    versionBytes: number
  }
  /** What is in the folder itself, without the folders below it. */
  direct: {
    /** Number of files and links. */
    files: number
    /** Size of the files in bytes, without their former versions. */
    bytes: number
    /** Size of the former versions of the files in bytes. */
    versionBytes: number
  }
  /** The trash of the org, which counts towards the quotas. Null for a folder. */
  trash: {
    /** Number of files, folders and links. */
    files: number
    /** Size in bytes, with former versions. */
    bytes: number
  } | null
  /** Whether everything was counted. False when there are more than 100,000 folders: figures are too low. */
  isComplete: boolean
  /** Items of this page. */
  items: Array<{
    /** Unique ID, a UUID version 7. */
    id: string
    /** Name of the folder. */
    name: string
    /** Whether the folder is restricted itself. */
    restricted: boolean
    /** Number of files and links in the folder and the folders below it. */
    files: number
    /** Number of folders below the folder. */
    folders: number
    /** Size of the files in bytes, without their former versions. */
    bytes: number
    /** Size of the former versions of the files in bytes. */
    versionBytes: number
  }>
  /** Page number, from 1. */
  page: number
  /** Maximum number of items in a page. */
  limit: number
  /** Number of items on all pages. */
  total: number
  /** Whether there is another page. */
  hasMore: boolean
  /** Send it as `cursor` to get the next page. Null on the last page. */
  nextCursor: string | null
}

export interface Verified {
  /** Whether the signature is valid. */
  valid: boolean
  /** Why the signature is not valid. Null when it is. */
  reason: string | null
}

export interface Version {
  /** Number of the version, from 1. It is never used again. */
  version: number
  /** Whether it is the content of the file. */
  isCurrent: boolean
  /** Label. A version with a label is kept until somebody deletes it. Null without one. */
  label: string | null
  /** Media type of the bytes. */
  mimeType: string
  /** Size in bytes. */
  size: number
  /** SHA-256 of the bytes in hexadecimal. */
  contentHash: string
  /** ID of the user who uploaded or restored the version. */
  createdBy: string
  /** Time of creation. */
  createdAt: string
}

export interface VersionPatch {
  /** Label, 1–255 characters. Null removes it. */
  label: string | null
}

export interface Webhook {
  /** Unique ID, a UUID version 7. */
  id: string
  /** Name, 1–120 characters. */
  name: string
  /** URL that events are forwarded to. The same as `receiveUrl` when they are only recorded. */
  url: string
  /** Provider of the events, which decides how requests are verified. */
  source: string
  /** Description, at most 2,000 characters. */
  description: string | null
  /** Event types that are forwarded, such as `invoice.paid` or `invoice.*`. Empty: all of them. */
  events: string[]
  /** `active` receives and forwards events. `paused` receives events and holds their deliveries. `disabled` rejects events with NOT_FOUND. */
  status: "active" | "paused" | "disabled"
  /** Why the server disabled the webhook. Null when it did not. */
  statusReason: string | null
  /** Whether `status` is `active`. */
  enabled: boolean
  /** Number of deliveries that were attempted. */
  deliveryCount: number
  /** Time of the last delivery. Null before the first. */
  lastDeliveryAt: string | null
  /** Time of creation. */
  createdAt: string
  /** Time of the last change. */
  updatedAt: string
  /** URL that the provider sends events to. It needs no API key. */
  receiveUrl: string
}

export interface WebhookCreate {
  /** Name, 1–120 characters. */
  name: string
  /** Public HTTP or HTTPS URL to forward events to, at most 2,048 characters. Default, also for null and empty: events are only recorded. */
  url?: string | null
  /** Provider of the events, at most 100 characters. `github`, `gitlab`, `jira`, `stripe`, `slack`, `linear`, `shopify`, `telegram`, `twilio`, `discord`, `hmac` and `token` are verified by their own scheme, any other value by Standard Webhooks. Default `custom`. */
  source?: string
  /** Description, at most 2,000 characters. Default: none. */
  description?: string | null
  /** Event types to forward, such as `invoice.paid` or `invoice.*`, at most 100 of 255 characters. Default: all of them. */
  events?: string[]
  /** Signing secret that the provider issued, 8–256 characters. Default: a new secret is generated. */
  secret?: string
  /** Public key of the application in hexadecimal, at most 128 characters. Required to create a webhook for `discord`. */
  publicKey?: string
}

export interface WebhookCreatedEvent {
  /** ID of the event, also in the header `webhook-id`. */
  id: string
  /** Type of the event. */
  type: "webhook.created"
  /** Version of the schema of `data`. */
  version: 1
  /** Time of the change. */
  timestamp: string
  /** True for a test event, which is not in the log. */
  isTest?: boolean
  /** ID of the org. */
  orgId: string
  /** ID of the workspace. Null for an event of the whole org. */
  workspaceId: string | null
  actor: EventActor
  /** What the event is about. */
  subject: {
    /** Type of resource. */
    type: string
    /** ID of the resource. */
    id: string
  }
  /** Number of the event among those of its subject, from 1. */
  sequence: number
  /** Position in the log of the org, from 1. Increases in the order in which events became visible. */
  position: number
  /** The events that led to this one; see the loop guard in the guide on events. */
  chain: {
    /** ID of the first event of the chain. */
    id: string
    /** Number of events before this one. */
    depth: number
  }
  /** What happened. */
  data: {
    /** ID of the webhook. */
    webhookId: string
    /** Name of the webhook. */
    name: string
    /** Source of its events. */
    source: string
  }
}

export interface WebhookDeletedEvent {
  /** ID of the event, also in the header `webhook-id`. */
  id: string
  /** Type of the event. */
  type: "webhook.deleted"
  /** Version of the schema of `data`. */
  version: 1
  /** Time of the change. */
  timestamp: string
  /** True for a test event, which is not in the log. */
  isTest?: boolean
  /** ID of the org. */
  orgId: string
  /** ID of the workspace. Null for an event of the whole org. */
  workspaceId: string | null
  actor: EventActor
  /** What the event is about. */
  subject: {
    /** Type of resource. */
    type: string
    /** ID of the resource. */
    id: string
  }
  /** Number of the event among those of its subject, from 1. */
  sequence: number
  /** Position in the log of the org, from 1. Increases in the order in which events became visible. */
  position: number
  /** The events that led to this one; see the loop guard in the guide on events. */
  chain: {
    /** ID of the first event of the chain. */
    id: string
    /** Number of events before this one. */
    depth: number
  }
  /** What happened. */
  data: {
    /** ID of the webhook. */
    webhookId: string
    /** Name of the webhook. */
    name: string
  }
}

export interface WebhookDeliveryFailedEvent {
  /** ID of the event, also in the header `webhook-id`. */
  id: string
  /** Type of the event. */
  type: "webhook.delivery.failed"
  /** Version of the schema of `data`. */
  version: 1
  /** Time of the change. */
  timestamp: string
  /** True for a test event, which is not in the log. */
  isTest?: boolean
  /** ID of the org. */
  orgId: string
  /** ID of the workspace. Null for an event of the whole org. */
  workspaceId: string | null
  actor: EventActor
  /** What the event is about. */
  subject: {
    /** Type of resource. */
    type: string
    /** ID of the resource. */
    id: string
  }
  /** Number of the event among those of its subject, from 1. */
  sequence: number
  /** Position in the log of the org, from 1. Increases in the order in which events became visible. */
  position: number
  /** The events that led to this one; see the loop guard in the guide on events. */
  chain: {
    /** ID of the first event of the chain. */
    id: string
    /** Number of events before this one. */
    depth: number
  }
  /** What happened. */
  data: {
    /** ID of the webhook. */
    webhookId: string
    /** ID of the delivery. */
    deliveryId: string
    /** ID of the received event. */
    eventId: string
    /** Type of the received event, as the sender calls it. */
    eventType: string
    /** Why the last attempt failed, or why none was made. */
    reason: string
  }
}

export interface WebhookDisabledEvent {
  /** ID of the event, also in the header `webhook-id`. */
  id: string
  /** Type of the event. */
  type: "webhook.disabled"
  /** Version of the schema of `data`. */
  version: 1
  /** Time of the change. */
  timestamp: string
  /** True for a test event, which is not in the log. */
  isTest?: boolean
  /** ID of the org. */
  orgId: string
  /** ID of the workspace. Null for an event of the whole org. */
  workspaceId: string | null
  actor: EventActor
  /** What the event is about. */
  subject: {
    /** Type of resource. */
    type: string
    /** ID of the resource. */
    id: string
  }
  /** Number of the event among those of its subject, from 1. */
  sequence: number
  /** Position in the log of the org, from 1. Increases in the order in which events became visible. */
  position: number
  /** The events that led to this one; see the loop guard in the guide on events. */
  chain: {
    /** ID of the first event of the chain. */
    id: string
    /** Number of events before this one. */
    depth: number
  }
  /** What happened. */
  data: {
    /** ID of the webhook. */
    webhookId: string
    /** Name of the webhook. */
    name: string
    /** Why the server disabled it. Null when a request did. */
    reason: string | null
  }
}

export interface WebhookEvent {
  /** Unique ID, a UUID version 7. */
  id: string
  /** ID of the webhook. */
  webhookId: string
  /** Name of the webhook. */
  webhookName: string
  /** Type of the event. */
  type: string
  /** Sender's event ID. Null without one. */
  externalId: string | null
  /** Body of the request: JSON, the fields of a form, or text. Null in lists when larger than 64 KB. */
  payload: unknown
  /** Size of the body in bytes. */
  sizeBytes: number
  /** Headers of the request that describe the event, with names in lower case. */
  headers: Record<string, string>
  /** `filtered`: the type is not in `events` of the webhook, so the event is not forwarded. */
  status: "recorded" | "filtered"
  /** Time when the event was received. */
  receivedAt: string
}

export interface WebhookEventReceivedEvent {
  /** ID of the event, also in the header `webhook-id`. */
  id: string
  /** Type of the event. */
  type: "webhook.event.received"
  /** Version of the schema of `data`. */
  version: 1
  /** Time of the change. */
  timestamp: string
  /** True for a test event, which is not in the log. */
  isTest?: boolean
  /** ID of the org. */
  orgId: string
  /** ID of the workspace. Null for an event of the whole org. */
  workspaceId: string | null
  actor: EventActor
  /** What the event is about. */
  subject: {
    /** Type of resource. */
    type: string
    /** ID of the resource. */
    id: string
  }
  /** Number of the event among those of its subject, from 1. */
  sequence: number
  /** Position in the log of the org, from 1. Increases in the order in which events became visible. */
  position: number
  /** The events that led to this one; see the loop guard in the guide on events. */
  chain: {
    /** ID of the first event of the chain. */
    id: string
    /** Number of events before this one. */
    depth: number
  }
  /** What happened. */
  data: {
    /** ID of the webhook. */
    webhookId: string
    /** ID of the received event. */
    eventId: string
    /** Type of the received event, as the sender calls it. */
    eventType: string
    /** Size of the payload in bytes. */
    sizeBytes: number
  }
  /** Contents that the event refers to: `text` of a `message.created`; `externalId`, `headers`, `contentType` and `payload` of a `webhook.event.received`. Null when they were deleted or have more than 1.5 MB. Not in events of other types. */
  expanded?: Record<string, unknown> | null
}

export interface WebhookHealth {
  /** ID of the webhook. */
  id: string
  /** Time of the first failed attempt since the last successful one or change of `status`. Null without one. */
  failingSince: string | null
  /** How the latest deliveries ended, newest first: up to 20 of those created in the last 7 days. Deliveries that wait for an attempt are not included. */
  recentResults: Array<"succeeded" | "failed">
  lastResult: "succeeded" | "failed" | null
  /** Time when the newest of `recentResults` ended. Null without one. */
  lastResultAt: string | null
  /** Share of `recentResults` that succeeded, 0–1. Null without one. */
  successRate: number | null
}

export interface WebhookRecoveredEvent {
  /** ID of the event, also in the header `webhook-id`. */
  id: string
  /** Type of the event. */
  type: "webhook.recovered"
  /** Version of the schema of `data`. */
  version: 1
  /** Time of the change. */
  timestamp: string
  /** True for a test event, which is not in the log. */
  isTest?: boolean
  /** ID of the org. */
  orgId: string
  /** ID of the workspace. Null for an event of the whole org. */
  workspaceId: string | null
  actor: EventActor
  /** What the event is about. */
  subject: {
    /** Type of resource. */
    type: string
    /** ID of the resource. */
    id: string
  }
  /** Number of the event among those of its subject, from 1. */
  sequence: number
  /** Position in the log of the org, from 1. Increases in the order in which events became visible. */
  position: number
  /** The events that led to this one; see the loop guard in the guide on events. */
  chain: {
    /** ID of the first event of the chain. */
    id: string
    /** Number of events before this one. */
    depth: number
  }
  /** What happened. */
  data: {
    /** ID of the webhook. */
    webhookId: string
    /** What it recovered from. */
    from: "disabled" | "failing"
  }
}

export interface WebhookTest {
  /** ID of the webhook. */
  webhookId: string
  /** Type of the event, 1–255 characters. Default `webhook.test`. */
  type?: string
  /** Payload of the event: any JSON value. Default: an object with a test message. */
  payload?: unknown
}

export interface WebhookUpdatedEvent {
  /** ID of the event, also in the header `webhook-id`. */
  id: string
  /** Type of the event. */
  type: "webhook.updated"
  /** Version of the schema of `data`. */
  version: 1
  /** Time of the change. */
  timestamp: string
  /** True for a test event, which is not in the log. */
  isTest?: boolean
  /** ID of the org. */
  orgId: string
  /** ID of the workspace. Null for an event of the whole org. */
  workspaceId: string | null
  actor: EventActor
  /** What the event is about. */
  subject: {
    /** Type of resource. */
    type: string
    /** ID of the resource. */
    id: string
  }
  /** Number of the event among those of its subject, from 1. */
  sequence: number
  /** Position in the log of the org, from 1. Increases in the order in which events became visible. */
  position: number
  /** The events that led to this one; see the loop guard in the guide on events. */
  chain: {
    /** ID of the first event of the chain. */
    id: string
    /** Number of events before this one. */
    depth: number
  }
  /** What happened. */
  data: {
    /** ID of the webhook. */
    webhookId: string
    /** Name of the webhook. */
    name: string
    /** Names of the fields that were sent to be changed. */
    changed: string[]
  }
}

export interface WebhookVerify {
  /** ID of the webhook. */
  webhookId: string
  /** Body of the request, byte for byte. */
  payload: string
  /** Headers of the request. Letter case of the names is ignored. */
  headers: Record<string, string>
  /** For `twilio`: the URL that was called, at most 4,096 characters. Default: the `receiveUrl` of the webhook. */
  url?: string
}

export interface WebhookWithSecret {
  /** Unique ID, a UUID version 7. */
  id: string
  /** Name, 1–120 characters. */
  name: string
  /** URL that events are forwarded to. The same as `receiveUrl` when they are only recorded. */
  url: string
  /** Provider of the events, which decides how requests are verified. */
  source: string
  /** Description, at most 2,000 characters. */
  description: string | null
  /** Event types that are forwarded, such as `invoice.paid` or `invoice.*`. Empty: all of them. */
  events: string[]
  /** `active` receives and forwards events. `paused` receives events and holds their deliveries. `disabled` rejects events with NOT_FOUND. */
  status: "active" | "paused" | "disabled"
  /** Why the server disabled the webhook. Null when it did not. */
  statusReason: string | null
  /** Whether `status` is `active`. */
  enabled: boolean
  /** Number of deliveries that were attempted. */
  deliveryCount: number
  /** Time of the last delivery. Null before the first. */
  lastDeliveryAt: string | null
  /** Time of creation. */
  createdAt: string
  /** Time of the last change. */
  updatedAt: string
  /** URL that the provider sends events to. It needs no API key. */
  receiveUrl: string
  /** Signing secret. Returned only here; store it in a safe place. */
  secret: string
}

export interface Workspace {
  /** Unique ID, a UUID version 7. */
  id: string
  /** Name, 1–120 characters. */
  name: string
  /** Short name, made from the first name. It never changes. */
  slug: string
  /** Whether this is the default workspace of the org. */
  isDefault: boolean
  /** Time of creation. */
  createdAt: string
  /** Time of the last change. */
  updatedAt: string
}

export interface WorkspaceCreate {
  /** Name, 1–120 characters. */
  name: string
}

export interface WorkspaceCreatedEvent {
  /** ID of the event, also in the header `webhook-id`. */
  id: string
  /** Type of the event. */
  type: "workspace.created"
  /** Version of the schema of `data`. */
  version: 1
  /** Time of the change. */
  timestamp: string
  /** True for a test event, which is not in the log. */
  isTest?: boolean
  /** ID of the org. */
  orgId: string
  /** ID of the workspace. Null for an event of the whole org. */
  workspaceId: string | null
  actor: EventActor
  /** What the event is about. */
  subject: {
    /** Type of resource. */
    type: string
    /** ID of the resource. */
    id: string
  }
  /** Number of the event among those of its subject, from 1. */
  sequence: number
  /** Position in the log of the org, from 1. Increases in the order in which events became visible. */
  position: number
  /** The events that led to this one; see the loop guard in the guide on events. */
  chain: {
    /** ID of the first event of the chain. */
    id: string
    /** Number of events before this one. */
    depth: number
  }
  /** What happened. */
  data: {
    /** ID of the workspace. */
    workspaceId: string
    /** Name of the workspace. */
    name: string
    /** Slug of the workspace. */
    slug: string
  }
}

export interface WorkspaceDeletedEvent {
  /** ID of the event, also in the header `webhook-id`. */
  id: string
  /** Type of the event. */
  type: "workspace.deleted"
  /** Version of the schema of `data`. */
  version: 1
  /** Time of the change. */
  timestamp: string
  /** True for a test event, which is not in the log. */
  isTest?: boolean
  /** ID of the org. */
  orgId: string
  /** ID of the workspace. Null for an event of the whole org. */
  workspaceId: string | null
  actor: EventActor
  /** What the event is about. */
  subject: {
    /** Type of resource. */
    type: string
    /** ID of the resource. */
    id: string
  }
  /** Number of the event among those of its subject, from 1. */
  sequence: number
  /** Position in the log of the org, from 1. Increases in the order in which events became visible. */
  position: number
  /** The events that led to this one; see the loop guard in the guide on events. */
  chain: {
    /** ID of the first event of the chain. */
    id: string
    /** Number of events before this one. */
    depth: number
  }
  /** What happened. */
  data: {
    /** ID of the workspace. */
    workspaceId: string
    /** Name of the workspace. */
    name: string
    /** Slug of the workspace. */
    slug: string
  }
}

export interface WorkspaceMember {
  /** ID of the user. */
  userId: string
  /** E-mail address. */
  email: string
  /** Name of the person. */
  name: string
  /** Role in the org: `owner`, `admin`, `billing_manager` or `member`. */
  role: "owner" | "admin" | "billing_manager" | "member"
  /** Time when the member was added to the workspace. */
  createdAt: string
}

export interface WorkspaceMemberAdd {
  /** ID of a user who is a member of the org. */
  userId: string
}

export interface WorkspaceMemberAddedEvent {
  /** ID of the event, also in the header `webhook-id`. */
  id: string
  /** Type of the event. */
  type: "workspace.member_added"
  /** Version of the schema of `data`. */
  version: 1
  /** Time of the change. */
  timestamp: string
  /** True for a test event, which is not in the log. */
  isTest?: boolean
  /** ID of the org. */
  orgId: string
  /** ID of the workspace. Null for an event of the whole org. */
  workspaceId: string | null
  actor: EventActor
  /** What the event is about. */
  subject: {
    /** Type of resource. */
    type: string
    /** ID of the resource. */
    id: string
  }
  /** Number of the event among those of its subject, from 1. */
  sequence: number
  /** Position in the log of the org, from 1. Increases in the order in which events became visible. */
  position: number
  /** The events that led to this one; see the loop guard in the guide on events. */
  chain: {
    /** ID of the first event of the chain. */
    id: string
    /** Number of events before this one. */
    depth: number
  }
  /** What happened. */
  data: {
    /** ID of the workspace. */
    workspaceId: string
    /** ID of the person. */
    userId: string
  }
}

export interface WorkspaceMemberRemovedEvent {
  /** ID of the event, also in the header `webhook-id`. */
  id: string
  /** Type of the event. */
  type: "workspace.member_removed"
  /** Version of the schema of `data`. */
  version: 1
  /** Time of the change. */
  timestamp: string
  /** True for a test event, which is not in the log. */
  isTest?: boolean
  /** ID of the org. */
  orgId: string
  /** ID of the workspace. Null for an event of the whole org. */
  workspaceId: string | null
  actor: EventActor
  /** What the event is about. */
  subject: {
    /** Type of resource. */
    type: string
    /** ID of the resource. */
    id: string
  }
  /** Number of the event among those of its subject, from 1. */
  sequence: number
  /** Position in the log of the org, from 1. Increases in the order in which events became visible. */
  position: number
  /** The events that led to this one; see the loop guard in the guide on events. */
  chain: {
    /** ID of the first event of the chain. */
    id: string
    /** Number of events before this one. */
    depth: number
  }
  /** What happened. */
  data: {
    /** ID of the workspace. */
    workspaceId: string
    /** ID of the person. */
    userId: string
  }
}

export interface WorkspaceUpdatedEvent {
  /** ID of the event, also in the header `webhook-id`. */
  id: string
  /** Type of the event. */
  type: "workspace.updated"
  /** Version of the schema of `data`. */
  version: 1
  /** Time of the change. */
  timestamp: string
  /** True for a test event, which is not in the log. */
  isTest?: boolean
  /** ID of the org. */
  orgId: string
  /** ID of the workspace. Null for an event of the whole org. */
  workspaceId: string | null
  actor: EventActor
  /** What the event is about. */
  subject: {
    /** Type of resource. */
    type: string
    /** ID of the resource. */
    id: string
  }
  /** Number of the event among those of its subject, from 1. */
  sequence: number
  /** Position in the log of the org, from 1. Increases in the order in which events became visible. */
  position: number
  /** The events that led to this one; see the loop guard in the guide on events. */
  chain: {
    /** ID of the first event of the chain. */
    id: string
    /** Number of events before this one. */
    depth: number
  }
  /** What happened. */
  data: {
    /** ID of the workspace. */
    workspaceId: string
    /** Name of the workspace. */
    name: string
    /** Slug of the workspace. */
    slug: string
    /** Names of the fields that were sent to be changed. */
    changed: string[]
  }
}

/**
 * Every route below /api/v1 with its request, the `data` of its response, the codes of its errors, and the options
 * of the client whose headers it accepts.
 */
export interface Routes {
  /** List agents */
  'GET /agents': {
    query?: {
      /** Maximum number of items to return, 1–100. Default: all items, up to 1,000. */
      limit?: number | undefined
      /** `nextCursor` of the previous page, at most 1,024 characters. Omit it for the first page. */
      cursor?: string | undefined
    }
    data: {
      /** Items of this page. */
      items: Agent[]
      /** Send it as `cursor` to get the next page. Null on the last page. */
      nextCursor: string | null
    }
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
  }
  /** Create an agent */
  'POST /agents': {
    body: AgentCreate
    data: Agent
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'PAYMENT_REQUIRED' | 'FORBIDDEN' | 'CONFLICT' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
    options: 'idempotencyKey'
  }
  /** Retrieve an agent */
  'GET /agents/:id': {
    params: {
      /** The agent's UUID or its slug. */
      id: string
    }
    data: Agent
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'NOT_FOUND' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
  }
  /** Update an agent */
  'PATCH /agents/:id': {
    params: {
      /** The agent's UUID or its slug. */
      id: string
    }
    body: AgentPatch
    data: Agent
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'NOT_FOUND' | 'CONFLICT' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
    options: 'ifMatch'
  }
  /** Delete an agent */
  'DELETE /agents/:id': {
    params: {
      /** The agent's UUID or its slug. */
      id: string
    }
    data: Deleted
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'NOT_FOUND' | 'CONFLICT' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
    options: 'ifMatch'
  }
  /** List consents for an agent */
  'GET /agents/:id/consents': {
    params: {
      /** The agent's UUID or its slug. */
      id: string
    }
    data: ConsentList
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'NOT_FOUND' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
  }
  /** Give consent to an agent */
  'PUT /agents/:id/consents/:connectorSlug': {
    params: {
      /** The agent's UUID or its slug. */
      id: string
      /** The slug of a connector, such as `github`. At most 255 characters. */
      connectorSlug: string
    }
    body: ConsentPut
    data: Consent
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'NOT_FOUND' | 'CONFLICT' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
  }
  /** Withdraw consent from an agent */
  'DELETE /agents/:id/consents/:connectorSlug': {
    params: {
      /** The agent's UUID or its slug. */
      id: string
      /** The slug of a connector, such as `github`. At most 255 characters. */
      connectorSlug: string
    }
    data: Deleted
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'NOT_FOUND' | 'CONFLICT' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
  }
  /** List peer messages of an agent */
  'GET /agents/:id/messages': {
    params: {
      /** The agent's UUID or its slug. */
      id: string
    }
    query?: {
      /** Maximum number of items to return, 1–100. Default 50. */
      limit?: number | undefined
      /** `nextCursor` of the previous page, at most 1,024 characters. Omit it for the first page. */
      cursor?: string | undefined
    }
    data: {
      /** Items of this page. */
      items: PeerMessage[]
      /** Send it as `cursor` to get the next page. Null on the last page. */
      nextCursor: string | null
    }
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'NOT_FOUND' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
  }
  /** List peers of an agent */
  'GET /agents/:id/peers': {
    params: {
      /** The agent's UUID or its slug. */
      id: string
    }
    data: {
      /** Items of this page. */
      items: Peer[]
      /** Send it as `cursor` to get the next page. Null on the last page. */
      nextCursor: string | null
    }
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'NOT_FOUND' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
  }
  /** List sessions of an agent */
  'GET /agents/:id/sessions': {
    params: {
      /** The agent's UUID or its slug. */
      id: string
    }
    query?: {
      /** Maximum number of items to return, 1–100. Default: all items, up to 1,000. */
      limit?: number | undefined
      /** `nextCursor` of the previous page, at most 1,024 characters. Omit it for the first page. */
      cursor?: string | undefined
    }
    data: {
      /** Items of this page. */
      items: Session[]
      /** Send it as `cursor` to get the next page. Null on the last page. */
      nextCursor: string | null
    }
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'NOT_FOUND' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
  }
  /** List API keys */
  'GET /api-keys': {
    query?: {
      /** Maximum number of items to return, 1–100. Default 50. */
      limit?: number | undefined
      /** `nextCursor` of the previous page, at most 1,024 characters. Omit it for the first page. */
      cursor?: string | undefined
    }
    data: {
      /** Items of this page. */
      items: ApiKey[]
      /** Send it as `cursor` to get the next page. Null on the last page. */
      nextCursor: string | null
    }
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
  }
  /** Create an API key */
  'POST /api-keys': {
    body: ApiKeyCreate
    data: ApiKeyCreated
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'NOT_FOUND' | 'CONFLICT' | 'VALIDATION_ERROR' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
    options: 'idempotencyKey' | 'stepUpToken'
  }
  /** Revoke an API key */
  'DELETE /api-keys/:id': {
    params: {
      /** ID of the resource, a UUID. */
      id: string
    }
    data: Deleted
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'NOT_FOUND' | 'CONFLICT' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
    options: 'ifMatch'
  }
  /** List authorized apps */
  'GET /apps': {
    query?: {
      /** Maximum number of items to return, 1–100. Default 50. */
      limit?: number | undefined
      /** `nextCursor` of the previous page, at most 1,024 characters. Omit it for the first page. */
      cursor?: string | undefined
    }
    data: {
      /** Items of this page. */
      items: AuthorizedApp[]
      /** Send it as `cursor` to get the next page. Null on the last page. */
      nextCursor: string | null
    }
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
  }
  /** Retrieve an authorization request */
  'GET /apps/authorization': {
    query: {
      /** Query of the URL of the authorization endpoint, without `?`. 1–8,000 characters. */
      request: string
    }
    data: Authorization
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
  }
  /** Decide an authorization request */
  'POST /apps/authorization': {
    body: AuthorizationDecision
    data: AuthorizationResult
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
    options: 'stepUpToken'
  }
  /** Revoke an authorized app */
  'DELETE /apps/:id': {
    params: {
      /** ID of the resource, a UUID. */
      id: string
    }
    data: Deleted
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'NOT_FOUND' | 'CONFLICT' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
    options: 'ifMatch'
  }
  /** List audit log entries */
  'GET /audit-log': {
    query?: {
      /** Maximum number of items to return, 1–100. Default 50. */
      limit?: number | undefined
      /** `nextCursor` of the previous page, at most 1,024 characters. Omit it for the first page. */
      cursor?: string | undefined
      /** Return only entries with this action, such as `member.added`. At most 100 characters. */
      action?: string | undefined
      /** Return only actions of the user with this ID. */
      actorId?: string | undefined
      /** Return only entries from this time on, inclusive. */
      since?: string | undefined
      /** Return only entries before this time, exclusive. */
      until?: string | undefined
      /** Return only entries about resources of this type, such as `agent`. At most 100 characters. */
      resourceType?: string | undefined
      /** Return only entries about the resource with this ID. At most 255 characters. */
      resourceId?: string | undefined
    }
    data: {
      /** Items of this page. */
      items: AuditEntry[]
      /** Send it as `cursor` to get the next page. Null on the last page. */
      nextCursor: string | null
    }
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
  }
  /** List audit log entries as a file */
  'GET /audit-log/export': {
    query?: {
      /** Return only entries with this action, such as `member.added`. At most 100 characters. */
      action?: string | undefined
      /** Return only actions of the user with this ID. */
      actorId?: string | undefined
      /** Return only entries from this time on, inclusive. */
      since?: string | undefined
      /** Return only entries before this time, exclusive. */
      until?: string | undefined
      /** Return only entries about resources of this type, such as `agent`. At most 100 characters. */
      resourceType?: string | undefined
      /** Return only entries about the resource with this ID. At most 255 characters. */
      resourceId?: string | undefined
      /** `csv`, or `jsonl`: JSON with one entry per line. Default `csv`. */
      format?: "csv" | "jsonl" | undefined
    }
    data: unknown
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
  }
  /** Change the password */
  'POST /auth/password': {
    body: PasswordChange
    data: PasswordChanged
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
  }
  /** Retrieve the session */
  'GET /auth/session': {
    data: {
      /** The person who is signed in. */
      user: {
        /** ID of the user. */
        id: string
        /** E-mail address. */
        email: string
        /** Name of the person. */
        name: string
        /** Whether the person has a password. */
        hasPassword: boolean
        /** Whether two-factor authentication is on. */
        twoFactorEnabled: boolean
      }
      /** Orgs that the session opens. */
      orgs: Array<{
        /** ID of the org. */
        id: string
        /** Name of the org. */
        name: string
        /** Role in the org: `owner`, `admin`, `billing_manager` or `member`. */
        role: "owner" | "admin" | "billing_manager" | "member"
        /** Public URL of the logo, a WebP picture of 256 × 256 pixels, or of 64 × 64 with `?size=64`. Another logo has another URL. Null: no logo. */
        logoUrl: string | null
      }>
      /** Time when the session ends: 7 days after this request. */
      expiresAt: string
      /** Failed attempts to sign in as this person between the previous sign-in and this one. Null without any. */
      failedSignIns: {
        /** Number of failed attempts. */
        count: number
        /** Time of the last failed attempt. */
        lastAt: string
        /** IP addresses of the latest attempts. */
        addresses: string[]
      } | null
    } | null
    errors: 'BAD_REQUEST' | 'INTERNAL_ERROR'
  }
  /** List your sessions */
  'GET /auth/sessions': {
    data: OwnSessionList
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'INTERNAL_ERROR'
  }
  /** Sign out of other sessions */
  'DELETE /auth/sessions': {
    data: SessionsEnded
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR'
  }
  /** Sign out of a session */
  'DELETE /auth/sessions/:id': {
    params: {
      /** ID of the resource, a UUID. */
      id: string
    }
    data: Deleted
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'NOT_FOUND' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR'
  }
  /** Sign in with a password */
  'POST /auth/sign-in': {
    body: SignIn
    data: SignedIn
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
  }
  /** Sign in with a one-time link */
  'POST /auth/sign-in/link': {
    body: SignInLink
    data: SignedIn
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR'
  }
  /** Check a one-time link */
  'POST /auth/sign-in/link/check': {
    body: SignInLink
    data: SignInLinkOrg
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR'
  }
  /** Confirm a sign-in with a code */
  'POST /auth/sign-in/totp': {
    body: SignInCode
    data: SignedIn
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR'
  }
  /** Sign out */
  'POST /auth/sign-out': {
    data: SignedOut
    errors: 'BAD_REQUEST' | 'FORBIDDEN' | 'INTERNAL_ERROR'
  }
  /** Create a step-up token */
  'POST /auth/step-up': {
    body: StepUp
    data: StepUpToken
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
  }
  /** Set up two-factor authentication */
  'POST /auth/two-factor': {
    body: TwoFactorBegin
    data: TwoFactorSecret
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'CONFLICT' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
  }
  /** Turn off two-factor authentication */
  'DELETE /auth/two-factor': {
    data: Deleted
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'CONFLICT' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
    options: 'stepUpToken'
  }
  /** Confirm two-factor authentication */
  'POST /auth/two-factor/confirm': {
    body: TwoFactorConfirm
    data: TwoFactorEnabled
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'CONFLICT' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
  }
  /** Retrieve billing */
  'GET /billing': {
    data: BillingSnapshot
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
  }
  /** Update billing settings */
  'PATCH /billing': {
    body: BillingPatch
    data: Updated
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'CONFLICT' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
  }
  /** List provider keys */
  'GET /billing/byok-keys': {
    query?: {
      /** Maximum number of items to return, 1–100. Default 50. */
      limit?: number | undefined
      /** `nextCursor` of the previous page, at most 1,024 characters. Omit it for the first page. */
      cursor?: string | undefined
    }
    data: {
      /** Items of this page. */
      items: ProviderKey[]
      /** Send it as `cursor` to get the next page. Null on the last page. */
      nextCursor: string | null
    }
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
  }
  /** Add a provider key */
  'POST /billing/byok-keys': {
    body: ProviderKeyCreate
    data: ProviderKey
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'CONFLICT' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
    options: 'idempotencyKey'
  }
  /** Delete a provider key */
  'DELETE /billing/byok-keys/:id': {
    params: {
      /** ID of the resource, a UUID. */
      id: string
    }
    data: Deleted
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'NOT_FOUND' | 'CONFLICT' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
    options: 'ifMatch'
  }
  /** Start a deposit */
  'POST /billing/deposit': {
    body: DepositCreate
    data: DepositStarted
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'CONFLICT' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
    options: 'idempotencyKey'
  }
  /** List prices */
  'GET /billing/pricing': {
    data: Pricing
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
  }
  /** Redeem a promotion */
  'POST /billing/promotions/redeem': {
    body: Redeem
    data: Promotion
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'NOT_FOUND' | 'CONFLICT' | 'VALIDATION_ERROR' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
    options: 'idempotencyKey'
  }
  /** List receipts */
  'GET /billing/receipts': {
    query?: {
      /** Maximum number of items to return, 1–100. Default 50. */
      limit?: number | undefined
      /** `nextCursor` of the previous page, at most 1,024 characters. Omit it for the first page. */
      cursor?: string | undefined
    }
    data: PaymentReceiptList
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
  }
  /** Retrieve a receipt */
  'GET /billing/receipts/:id': {
    params: {
      /** ID of the payment at Stripe, or the `receiptId` of a deposit in `GET /billing/transactions`. At most 255 characters. */
      id: string
    }
    data: PaymentReceipt
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'NOT_FOUND' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
  }
  /** Download a receipt */
  'GET /billing/receipts/:id/document': {
    params: {
      /** ID of the payment at Stripe, or the `receiptId` of a deposit in `GET /billing/transactions`. At most 255 characters. */
      id: string
    }
    query?: {
      /** `pdf`: a file of A4 pages. `html`: a page for a browser, without scripts. Default `pdf`. */
      format?: "pdf" | "html" | undefined
      /** Language of the document, `en` or `de`. Default: the language of the caller in this org, or `en`. */
      language?: "en" | "de" | undefined
    }
    data: unknown
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'NOT_FOUND' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
  }
  /** Retrieve spending */
  'GET /billing/spending': {
    query?: {
      /** Period in UTC: `today`, `week` (from Monday), `month`, `year`, `all`, `7d`, `30d` or `90d`. Default, also for any other value: `month`. */
      period?: string | undefined
    }
    data: Spending
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
  }
  /** List spending by agent */
  'GET /billing/spending/by-agent': {
    query?: {
      /** Period in UTC: `today`, `week` (from Monday), `month`, `year`, `all`, `7d`, `30d` or `90d`. Default, also for any other value: `month`. */
      period?: string | undefined
    }
    data: Breakdown
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
  }
  /** List spending by model */
  'GET /billing/spending/by-model': {
    query?: {
      /** Period in UTC: `today`, `week` (from Monday), `month`, `year`, `all`, `7d`, `30d` or `90d`. Default, also for any other value: `month`. */
      period?: string | undefined
    }
    data: Breakdown
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
  }
  /** List spending by project */
  'GET /billing/spending/by-project': {
    query?: {
      /** Period in UTC: `today`, `week` (from Monday), `month`, `year`, `all`, `7d`, `30d` or `90d`. Default, also for any other value: `month`. */
      period?: string | undefined
    }
    data: Breakdown
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
  }
  /** List statements */
  'GET /billing/statements': {
    query?: {
      /** Maximum number of items to return, 1–100. Default 50. */
      limit?: number | undefined
      /** `nextCursor` of the previous page, at most 1,024 characters. Omit it for the first page. */
      cursor?: string | undefined
    }
    data: StatementList
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
  }
  /** Retrieve a statement */
  'GET /billing/statements/:month': {
    params: {
      /** Calendar month in UTC of 7 characters, such as `2026-11`. */
      month: string
    }
    data: Statement
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'NOT_FOUND' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
  }
  /** Download a statement */
  'GET /billing/statements/:month/document': {
    params: {
      /** Calendar month in UTC of 7 characters, such as `2026-11`. */
      month: string
    }
    query?: {
      /** `pdf`: a file of A4 pages. `html`: a page for a browser, without scripts. Default `pdf`. */
      format?: "pdf" | "html" | undefined
      /** Language of the document, `en` or `de`. Default: the language of the caller in this org, or `en`. */
      language?: "en" | "de" | undefined
    }
    data: unknown
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'NOT_FOUND' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
  }
  /** Cancel the plan */
  'POST /billing/subscriptions/cancel': {
    data: SubscriptionEnded
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'NOT_FOUND' | 'CONFLICT' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
    options: 'idempotencyKey'
  }
  /** Start a plan */
  'POST /billing/subscriptions/checkout': {
    body: SubscriptionCreate
    data: SubscriptionStarted
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'CONFLICT' | 'VALIDATION_ERROR' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
    options: 'idempotencyKey'
  }
  /** List transactions */
  'GET /billing/transactions': {
    query?: {
      /** Maximum number of items to return, 1–100. Default 50. */
      limit?: number | undefined
      /** Page number, 1–1,000,000,000. Default 1. Ignored when `cursor` is sent. */
      page?: number | undefined
      /** `nextCursor` of the previous page, at most 1,024 characters. Omit it for the first page. */
      cursor?: string | undefined
      /** Return only transactions of this type: `deposit`, `usage`, `refund`, `adjustment` or `platform_fee`. Any other value is ignored. */
      type?: string | undefined
    }
    data: TransactionPage
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
  }
  /** Receive a Stripe event */
  'POST /billing/webhooks/stripe': {
    data: PaymentEventReceived
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
  }
  /** List connections */
  'GET /connections': {
    query?: {
      /** Maximum number of items to return, 1–100. Default: all items, up to 1,000. */
      limit?: number | undefined
      /** `nextCursor` of the previous page, at most 1,024 characters. Omit it for the first page. */
      cursor?: string | undefined
    }
    data: {
      /** Items of this page. */
      items: Connection[]
      /** Send it as `cursor` to get the next page. Null on the last page. */
      nextCursor: string | null
    }
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
  }
  /** Start a connection */
  'POST /connections': {
    body: ConnectionCreate
    data: ExistingConnection | StartedConnection
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'PAYMENT_REQUIRED' | 'FORBIDDEN' | 'CONFLICT' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
    options: 'idempotencyKey'
  }
  /** Receive the OAuth redirect */
  'GET /connections/oauth/callback': {
    query?: {
      /** Authorization code from the redirect of the provider, at most 4,096 characters. */
      code?: string | undefined
      /** State from the redirect of the provider, at most 512 characters. Valid once, for 10 minutes. */
      state?: string | undefined
      /** Issuer from the redirect of the provider (RFC 9207), at most 2,048 characters. Required when the authorization server sends one. */
      iss?: string | undefined
      /** Error code of the provider, such as `access_denied`. At most 4,096 characters. */
      error?: string | undefined
    }
    data: unknown
    errors: 'BAD_REQUEST' | 'CONFLICT' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
  }
  /** Confirm an OAuth connection */
  'POST /connections/oauth/callback': {
    body: OAuthCompletion
    data: unknown
    errors: 'BAD_REQUEST' | 'CONFLICT' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
  }
  /** Start an OAuth connection in a browser */
  'GET /connections/oauth/start': {
    query: {
      /** Slug of an OAuth connector, 1–100 characters. */
      connector: string
      /** Label that distinguishes several connections to one connector, at most 120 characters. Default: none. */
      label?: string | undefined
    }
    data: unknown
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'PAYMENT_REQUIRED' | 'FORBIDDEN' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
  }
  /** Retrieve a connection */
  'GET /connections/:id': {
    params: {
      /** ID of the resource, a UUID. */
      id: string
    }
    data: Connection
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'NOT_FOUND' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
  }
  /** Delete a connection */
  'DELETE /connections/:id': {
    params: {
      /** ID of the resource, a UUID. */
      id: string
    }
    data: RevokedConnection
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'NOT_FOUND' | 'CONFLICT' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
    options: 'ifMatch'
  }
  /** Submit credentials */
  'POST /connections/:id/credentials': {
    params: {
      /** ID of the resource, a UUID. */
      id: string
    }
    body: Credentials
    data: SubmittedConnection
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'NOT_FOUND' | 'CONFLICT' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
    options: 'idempotencyKey'
  }
  /** List endpoints of a connection */
  'GET /connections/:id/endpoints': {
    params: {
      /** ID of the connection. */
      id: string
    }
    data: {
      /** Items of this page. */
      items: Endpoint[]
      /** Send it as `cursor` to get the next page. Null on the last page. */
      nextCursor: string | null
    }
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'NOT_FOUND' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
  }
  /** List events of an endpoint */
  'GET /connections/:id/endpoints/:endpointId/events': {
    params: {
      /** ID of the connection. */
      id: string
      /** ID of the endpoint. */
      endpointId: string
    }
    query?: {
      /** Maximum number of items to return, 1–100. Default 50. */
      limit?: number | undefined
      /** `nextCursor` of the previous page, at most 1,024 characters. Omit it for the first page. */
      cursor?: string | undefined
    }
    data: {
      /** Items of this page. */
      items: InboundEvent[]
      /** Send it as `cursor` to get the next page. Null on the last page. */
      nextCursor: string | null
    }
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'NOT_FOUND' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
  }
  /** Retrieve the OAuth URL of a connection */
  'GET /connections/:id/oauth': {
    params: {
      /** ID of the resource, a UUID. */
      id: string
    }
    data: OAuthUrl
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'NOT_FOUND' | 'CONFLICT' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
  }
  /** Complete an OAuth connection */
  'POST /connections/:id/oauth': {
    params: {
      /** ID of the resource, a UUID. */
      id: string
    }
    body: OAuthCompletion
    data: Connection
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'NOT_FOUND' | 'CONFLICT' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
    options: 'idempotencyKey'
  }
  /** List tools of a connection */
  'GET /connections/:id/tools': {
    params: {
      /** ID of the resource, a UUID. */
      id: string
    }
    data: ConnectionTools
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'NOT_FOUND' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
  }
  /** Accept the tools of an MCP server */
  'POST /connections/:id/tools': {
    params: {
      /** ID of the resource, a UUID. */
      id: string
    }
    body: ToolAgreement
    data: ConnectionTools
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'NOT_FOUND' | 'CONFLICT' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
    options: 'idempotencyKey'
  }
  /** List connectors */
  'GET /connectors': {
    data: {
      /** Items of this page. */
      items: ConnectorEntry[]
      /** Send it as `cursor` to get the next page. Null on the last page. */
      nextCursor: string | null
    }
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
  }
  /** Receive a provider event */
  'POST /connectors/webhooks/:provider/:endpointId': {
    params: {
      /** Provider that sends the event: `telegram`, `slack`, `discord`, `twilio`, `gmail`, `github`, `linear`, `jira` or `stripe`. */
      provider: string
      /** ID of the endpoint, as printed by `atrium setup-webhook`. */
      endpointId: string
    }
    data: undefined
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'NOT_FOUND' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
  }
  /** Create embeddings */
  'POST /embeddings': {
    body: EmbeddingCreate
    data: EmbeddingList
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'PAYMENT_REQUIRED' | 'FORBIDDEN' | 'CONFLICT' | 'VALIDATION_ERROR' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
    options: 'idempotencyKey'
  }
  /** List event endpoints */
  'GET /event-endpoints': {
    query?: {
      /** Maximum number of items to return, 1–100. Default: all items, up to 1,000. */
      limit?: number | undefined
      /** `nextCursor` of the previous page, at most 1,024 characters. Omit it for the first page. */
      cursor?: string | undefined
    }
    data: {
      /** Items of this page. */
      items: EventEndpoint[]
      /** Send it as `cursor` to get the next page. Null on the last page. */
      nextCursor: string | null
    }
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
  }
  /** Create an event endpoint */
  'POST /event-endpoints': {
    body: EventEndpointCreate
    data: EventEndpointWithSecret
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'PAYMENT_REQUIRED' | 'FORBIDDEN' | 'NOT_FOUND' | 'CONFLICT' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
    options: 'idempotencyKey'
  }
  /** Check a transform */
  'POST /event-endpoints/transform-preview': {
    body: TransformPreviewRequest
    data: TransformPreview
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'CONFLICT' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
    options: 'idempotencyKey'
  }
  /** Retrieve an event endpoint */
  'GET /event-endpoints/:id': {
    params: {
      /** ID of the resource, a UUID. */
      id: string
    }
    data: EventEndpoint
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'NOT_FOUND' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
  }
  /** Update an event endpoint */
  'PATCH /event-endpoints/:id': {
    params: {
      /** ID of the resource, a UUID. */
      id: string
    }
    body: {
      /** Name, 1–120 characters. */
      name?: string
      /** Public HTTP or HTTPS URL to send events to, at most 2,048 characters. The endpoint then delivers with the rights of the caller, also when the URL is the same. */
      url?: string
      /** Event types to send, such as `agent.created`, `agent.*` or `*`, 1–50 of at most 255 characters. */
      types?: string[]
      /** Only events of these workspaces, 1–50, and of the whole org. Null, the default: all workspaces. */
      workspaceIds?: string[] | null
      /** Only events that pass this condition: `{ "path": "data.name", "equals": … }` with one of `equals`, `in`, `exists`, `gt`, `gte`, `lt`, `lte` and `prefix`, or `all`, `any` and `not` of conditions. At most 4 KB, 50 conditions and 5 levels. */
      filter?: Record<string, unknown> | null
      /** `none`, the default: events are sent at once. `subject`: an event is sent after the earlier events of its subject were delivered or have failed for good. */
      ordering?: "none" | "subject"
      /** Whether deliveries have the field `expanded`: the whole text of messages, and received webhook events. Default: false. */
      expand?: boolean
      /** JSONata expression whose result, an object of at most 1.5 MB as JSON, is sent instead of the event, 1–8,192 characters. Null, the default: the event is sent. */
      transform?: string | null
      /** `active` receives events. `paused` keeps the deliveries of events until it is active again. `disabled` receives no events. */
      status?: "active" | "paused" | "disabled"
    }
    data: EventEndpoint
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'NOT_FOUND' | 'CONFLICT' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
    options: 'ifMatch'
  }
  /** Delete an event endpoint */
  'DELETE /event-endpoints/:id': {
    params: {
      /** ID of the resource, a UUID. */
      id: string
    }
    data: Deleted
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'NOT_FOUND' | 'CONFLICT' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
    options: 'ifMatch'
  }
  /** List deliveries of an event endpoint */
  'GET /event-endpoints/:id/deliveries': {
    params: {
      /** ID of the resource, a UUID. */
      id: string
    }
    query?: {
      /** Maximum number of items to return, 1–100. Default 50. */
      limit?: number | undefined
      /** `nextCursor` of the previous page, at most 1,024 characters. Omit it for the first page. */
      cursor?: string | undefined
      /** `unfinished`: only deliveries that are pending, sending or held. `succeeded` and `failed`: only those that ended so. With `succeeded` a page can have fewer items than `limit`, or none, because failed deliveries between them count; `nextCursor` is null on the last page only. Default: all. */
      status?: "unfinished" | "succeeded" | "failed" | undefined
      /** Return only events of this type, such as `order.created` or `order.*`, 1–255 characters. Letter case is ignored. With a filter a page can have fewer items than `limit`, or none: each response covers up to 2,000. `nextCursor` is null on the last page only. Default: all. */
      type?: string | undefined
      /** Return only deliveries of this event, oldest first. With a filter a page can have fewer items than `limit`, or none: each response covers up to 2,000. `nextCursor` is null on the last page only. Default: all. */
      eventId?: string | undefined
      /** Return only deliveries that were created at this time or later. Default: all. */
      since?: string | undefined
      /** Return only deliveries that were created at this time or earlier. Default: all. */
      until?: string | undefined
    }
    data: {
      /** Items of this page. */
      items: EventDelivery[]
      /** Send it as `cursor` to get the next page. Null on the last page. */
      nextCursor: string | null
    }
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'NOT_FOUND' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
  }
  /** Retrieve a delivery of an event endpoint */
  'GET /event-endpoints/:id/deliveries/:deliveryId': {
    params: {
      /** ID of the webhook. */
      id: string
      /** ID of the delivery. */
      deliveryId: string
    }
    data: EventDelivery
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'NOT_FOUND' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
  }
  /** Retry a delivery of an event endpoint */
  'POST /event-endpoints/:id/deliveries/:deliveryId/retry': {
    params: {
      /** ID of the webhook. */
      id: string
      /** ID of the delivery. */
      deliveryId: string
    }
    data: EventDelivery
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'NOT_FOUND' | 'CONFLICT' | 'VALIDATION_ERROR' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
    options: 'idempotencyKey'
  }
  /** Retry failed deliveries of an event endpoint */
  'POST /event-endpoints/:id/recover': {
    params: {
      /** ID of the resource, a UUID. */
      id: string
    }
    body: Recover
    data: Recovered
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'NOT_FOUND' | 'CONFLICT' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
    options: 'idempotencyKey'
  }
  /** Rotate the secret of an event endpoint */
  'POST /event-endpoints/:id/rotate': {
    params: {
      /** ID of the resource, a UUID. */
      id: string
    }
    data: EventEndpointWithSecret
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'NOT_FOUND' | 'CONFLICT' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
    options: 'idempotencyKey'
  }
  /** Send a test event to an event endpoint */
  'POST /event-endpoints/:id/test': {
    params: {
      /** ID of the resource, a UUID. */
      id: string
    }
    body: EventEndpointTest
    data: EventDelivery
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'PAYMENT_REQUIRED' | 'FORBIDDEN' | 'NOT_FOUND' | 'CONFLICT' | 'VALIDATION_ERROR' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
    options: 'idempotencyKey'
  }
  /** List event types */
  'GET /event-types': {
    data: {
      /** All types. */
      items: EventTypeRecord[]
    }
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
  }
  /** List events of the org */
  'GET /events': {
    query?: {
      /** `nextCursor` of the previous page, or the `position` of an event. BAD_REQUEST beyond the last event. Default: the first event that is kept, or with `order=desc` the last one is returned first. */
      after?: string | undefined
      /** Oldest or newest first. Default `asc`. */
      order?: "asc" | "desc" | undefined
      /** Maximum number of items to return, 1–100. Default 50. */
      limit?: number | undefined
      /** Event types separated by commas, such as `file.*,agent.created`, at most 50 types and 2,000 characters. Default: all. */
      types?: string | undefined
      /** Only events of this workspace, and of the whole org. */
      workspaceId?: string | undefined
      /** Only events about this resource. */
      subjectId?: string | undefined
    }
    data: EventList
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'NOT_FOUND' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
  }
  /** Stream events of the org */
  'GET /events/stream': {
    query?: {
      /** `nextCursor` of the previous page, or the `position` of an event. BAD_REQUEST beyond the last event. Default: the first event that is kept, or with `order=desc` the last one is returned first. */
      after?: string | undefined
      /** Event types separated by commas, such as `file.*,agent.created`, at most 50 types and 2,000 characters. Default: all. */
      types?: string | undefined
    }
    data: unknown
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
  }
  /** Retrieve an event of the org */
  'GET /events/:id': {
    params: {
      /** ID of the resource, a UUID. */
      id: string
    }
    query?: {
      /** Whether to return `expanded`. Default: false. */
      expand?: boolean | undefined
    }
    data: ExpandedEvent
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'NOT_FOUND' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
  }
  /** List files */
  'GET /files': {
    query?: {
      /** Maximum number of items to return, 1–100. Default 50. */
      limit?: number | undefined
      /** Page number, 1–1,000,000,000. Default 1. Ignored when `cursor` is sent. */
      page?: number | undefined
      /** `nextCursor` of the previous page, at most 4,096 characters. Omit it for the first page. */
      cursor?: string | undefined
      /** Return only files whose name contains this text, at most 255 characters. Letter case is ignored. */
      search?: string | undefined
      /** With `search` or a filter: also search the folders below. Default false. */
      recursive?: boolean | undefined
      /** Return only favorites of the caller, those of all folders with `recursive`. Default false. */
      favorite?: boolean | undefined
      /** Return only folders, or only files whose media type is in this group. `document` has PDF, text documents and presentations, `text` source code and data as well, `other` what is in no other group. Links have no type. Default: all. */
      type?: "folder" | "image" | "video" | "audio" | "document" | "spreadsheet" | "text" | "archive" | "other" | undefined
      /** Return only files with this tag, 1–64 characters. Letter case matters. Default: all. */
      tag?: string | undefined
      /** Return only files that this user created. Default: all. */
      createdBy?: string | undefined
      /** Return only files that were created at this time or later. Default: all. */
      createdSince?: string | undefined
      /** Return only files that were created before this time. Default: all. */
      createdUntil?: string | undefined
      /** Return only files whose last change was at this time or later. Default: all. */
      updatedSince?: string | undefined
      /** Return only files whose last change was before this time. Default: all. */
      updatedUntil?: string | undefined
      /** Field to sort by. Folders come first; they are sorted by name when the field is `size` or `mimeType`, and links come last when it is `mimeType`. A cursor is valid for the same `sort` and `order`. Default `name`, ignoring letter case. */
      sort?: "name" | "size" | "mimeType" | "updatedAt" | undefined
      /** Ascending or descending order of the field. Default `asc`. */
      order?: "asc" | "desc" | undefined
      /** ID of the folder to list. Default: the root of the org. */
      parentId?: string | undefined
      /** ID of the project whose folder to list. */
      projectId?: string | undefined
      /** List the files of all folders that the caller uploaded, changed or opened last instead of a folder, the latest first, at most 100. Not with `sort`, `order`, `trashed`, a folder, `search` or a filter. Default false. */
      recent?: boolean | undefined
      /** List the trash instead of a folder: what was deleted by itself, the latest deletion first. Not with `sort`, `order` or other filters. Default false. */
      trashed?: boolean | undefined
    }
    data: {
      /** Items of this page. */
      items: File[]
      /** Page number, from 1. */
      page: number
      /** Maximum number of items in a page. */
      limit: number
      /** Number of items on all pages. */
      total: number
      /** Whether there is another page. */
      hasMore: boolean
      /** Send it as `cursor` to get the next page. Null on the last page. */
      nextCursor: string | null
    }
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'NOT_FOUND' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
  }
  /** Upload a file or create a folder or link */
  'POST /files': {
    body: FileCreate | FormData
    data: FileCreated
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'PAYMENT_REQUIRED' | 'FORBIDDEN' | 'NOT_FOUND' | 'CONFLICT' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
    options: 'idempotencyKey'
  }
  /** Download several files as a ZIP archive */
  'GET /files/archive': {
    query: {
      /** IDs of 1–100 files and folders of 36 characters, separated by commas: 36–3,699 characters. */
      ids: string
    }
    data: unknown
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'NOT_FOUND' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
  }
  /** Retrieve how long versions are kept */
  'GET /files/retention': {
    data: Retention
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
  }
  /** Update how long versions are kept */
  'PATCH /files/retention': {
    body: RetentionPatch
    data: Retention
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'CONFLICT' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
  }
  /** List all shares */
  'GET /files/shares': {
    query?: {
      /** Maximum number of items to return, 1–100. Default 50. */
      limit?: number | undefined
      /** `nextCursor` of the previous page, at most 1,024 characters. Omit it for the first page. */
      cursor?: string | undefined
    }
    data: {
      /** Items of this page. */
      items: ListedShare[]
      /** Send it as `cursor` to get the next page. Null on the last page. */
      nextCursor: string | null
    }
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
  }
  /** Delete all files in the trash */
  'DELETE /files/trash': {
    data: Deleted
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'CONFLICT' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
  }
  /** Retrieve the storage of a folder */
  'GET /files/usage': {
    query?: {
      /** Maximum number of items to return, 1–100. Default 50. */
      limit?: number | undefined
      /** Page number, 1–1,000,000,000. Default 1. Ignored when `cursor` is sent. */
      page?: number | undefined
      /** `nextCursor` of the previous page, at most 1,024 characters. Omit it for the first page. */
      cursor?: string | undefined
      /** ID of the folder. Default: the root of the org. */
      parentId?: string | undefined
    }
    data: Usage
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
  }
  /** Retrieve or download a file */
  'GET /files/:id': {
    params: {
      /** ID of the resource, a UUID. */
      id: string
    }
    query?: {
      /** Redirect to a signed download URL that is valid for 5 minutes. Default false. */
      download?: boolean | undefined
      /** With `download`: return the bytes for display instead of a redirect. Default false. */
      inline?: boolean | undefined
    }
    data: File
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'NOT_FOUND' | 'CONFLICT' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
  }
  /** Update a file */
  'PATCH /files/:id': {
    params: {
      /** ID of the resource, a UUID. */
      id: string
    }
    body: FilePatch
    data: File
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'NOT_FOUND' | 'CONFLICT' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
    options: 'ifMatch'
  }
  /** Delete a file */
  'DELETE /files/:id': {
    params: {
      /** ID of the resource, a UUID. */
      id: string
    }
    query?: {
      /** Delete at once instead of into the trash, or out of the trash. Default false. */
      permanent?: boolean | undefined
      /** Delete only if it is in the trash, so that a file that somebody has restored meanwhile stays. Requires `permanent`. Default false. */
      trashed?: boolean | undefined
    }
    data: Deleted
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'NOT_FOUND' | 'CONFLICT' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
    options: 'ifMatch'
  }
  /** Retrieve who may see a file */
  'GET /files/:id/access': {
    params: {
      /** ID of the resource, a UUID. */
      id: string
    }
    data: FolderAccess
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'NOT_FOUND' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
  }
  /** Change who may see a folder */
  'PUT /files/:id/access': {
    params: {
      /** ID of the resource, a UUID. */
      id: string
    }
    body: FolderAccessPut
    data: FolderAccess
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'NOT_FOUND' | 'CONFLICT' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
  }
  /** Download a folder as a ZIP archive */
  'GET /files/:id/archive': {
    params: {
      /** ID of the resource, a UUID. */
      id: string
    }
    data: unknown
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'NOT_FOUND' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
  }
  /** Download bytes with a signed URL */
  'GET /files/:id/content': {
    params: {
      /** ID of the resource, a UUID. */
      id: string
    }
    query?: {
      /** Token of the signed URL. */
      token?: string | undefined
    }
    data: unknown
    errors: 'BAD_REQUEST' | 'FORBIDDEN' | 'NOT_FOUND' | 'INTERNAL_ERROR'
  }
  /** Upload the bytes of a file */
  'PUT /files/:id/content': {
    params: {
      /** ID of the resource, a UUID. */
      id: string
    }
    query?: {
      /** Token of the signed URL. */
      token?: string | undefined
    }
    data: {
      file: File
    }
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'PAYMENT_REQUIRED' | 'FORBIDDEN' | 'NOT_FOUND' | 'CONFLICT' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
    options: 'ifMatch'
  }
  /** Add a file to the favorites */
  'PUT /files/:id/favorite': {
    params: {
      /** ID of the resource, a UUID. */
      id: string
    }
    data: File
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'NOT_FOUND' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
  }
  /** Remove a file from the favorites */
  'DELETE /files/:id/favorite': {
    params: {
      /** ID of the resource, a UUID. */
      id: string
    }
    data: Deleted
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'NOT_FOUND' | 'CONFLICT' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
  }
  /** Retrieve a picture in another size, or a page */
  'GET /files/:id/image': {
    params: {
      /** ID of the resource, a UUID. */
      id: string
    }
    query?: {
      /** Width in pixels: 64, 128, 256, 512, 1024 or 2048. Default without `height`: 512. */
      width?: 64 | 128 | 256 | 512 | 1024 | 2048 | undefined
      /** Height in pixels: 64, 128, 256, 512, 1024 or 2048. Default: by the width. */
      height?: 64 | 128 | 256 | 512 | 1024 | 2048 | undefined
      /** With `width` and `height`: `inside` keeps the whole picture within them, `cover` cuts it to fill them. Default `inside`. */
      fit?: "inside" | "cover" | undefined
      /** Format of the image. Default: AVIF or WebP if `Accept` names it, else PNG for pictures with transparency and JPEG for others. */
      format?: "avif" | "webp" | "jpeg" | "png" | undefined
    }
    data: unknown
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'NOT_FOUND' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
  }
  /** Retrieve a preview of a file */
  'GET /files/:id/preview': {
    params: {
      /** ID of the resource, a UUID. */
      id: string
    }
    data: Preview
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'NOT_FOUND' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
  }
  /** Add a file to the recent files */
  'PUT /files/:id/recent': {
    params: {
      /** ID of the resource, a UUID. */
      id: string
    }
    data: File
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'NOT_FOUND' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
  }
  /** Restore a file from the trash */
  'POST /files/:id/restore': {
    params: {
      /** ID of the resource, a UUID. */
      id: string
    }
    data: File
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'NOT_FOUND' | 'CONFLICT' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
    options: 'idempotencyKey'
  }
  /** List the shares of a file */
  'GET /files/:id/shares': {
    params: {
      /** ID of the resource, a UUID. */
      id: string
    }
    query?: {
      /** Maximum number of items to return, 1–100. Default 50. */
      limit?: number | undefined
      /** `nextCursor` of the previous page, at most 1,024 characters. Omit it for the first page. */
      cursor?: string | undefined
    }
    data: {
      /** Items of this page. */
      items: Share[]
      /** Send it as `cursor` to get the next page. Null on the last page. */
      nextCursor: string | null
    }
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'NOT_FOUND' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
  }
  /** Share a file */
  'POST /files/:id/shares': {
    params: {
      /** ID of the resource, a UUID. */
      id: string
    }
    body: ShareCreate
    data: ShareCreated
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'NOT_FOUND' | 'CONFLICT' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
    options: 'idempotencyKey'
  }
  /** Update a share */
  'PATCH /files/:id/shares/:shareId': {
    params: {
      /** ID of the file. */
      id: string
      /** ID of the share. */
      shareId: string
    }
    body: SharePatch
    data: Share
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'NOT_FOUND' | 'CONFLICT' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
  }
  /** Revoke a share */
  'DELETE /files/:id/shares/:shareId': {
    params: {
      /** ID of the file. */
      id: string
      /** ID of the share. */
      shareId: string
    }
    data: Deleted
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'NOT_FOUND' | 'CONFLICT' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
  }
  /** Retrieve a direct upload */
  'GET /files/:id/upload': {
    params: {
      /** ID of the resource, a UUID. */
      id: string
    }
    query?: {
      /** How many seconds to wait for the verification to end, 0–25. By default the state is returned at once, as it is when the upload is not `verifying`, or when the caller has 50 requests that wait. */
      waitSeconds?: number | undefined
    }
    data: DirectUpload
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'NOT_FOUND' | 'CONFLICT' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
  }
  /** Delete a direct upload */
  'DELETE /files/:id/upload': {
    params: {
      /** ID of the resource, a UUID. */
      id: string
    }
    data: Deleted
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'NOT_FOUND' | 'CONFLICT' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
  }
  /** Complete a direct upload */
  'POST /files/:id/upload/complete': {
    params: {
      /** ID of the resource, a UUID. */
      id: string
    }
    data: DirectUpload
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'NOT_FOUND' | 'CONFLICT' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
    options: 'idempotencyKey'
  }
  /** Create URLs for parts of a direct upload */
  'POST /files/:id/upload/parts': {
    params: {
      /** ID of the resource, a UUID. */
      id: string
    }
    body: DirectPartsRequest
    data: DirectParts
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'NOT_FOUND' | 'CONFLICT' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
  }
  /** List the versions of a file */
  'GET /files/:id/versions': {
    params: {
      /** ID of the resource, a UUID. */
      id: string
    }
    query?: {
      /** Maximum number of items to return, 1–100. Default 50. */
      limit?: number | undefined
      /** `nextCursor` of the previous page, at most 1,024 characters. Omit it for the first page. */
      cursor?: string | undefined
    }
    data: {
      /** Items of this page. */
      items: Version[]
      /** Send it as `cursor` to get the next page. Null on the last page. */
      nextCursor: string | null
    }
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'NOT_FOUND' | 'CONFLICT' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
  }
  /** Label a version of a file */
  'PATCH /files/:id/versions/:version': {
    params: {
      /** ID of the file. */
      id: string
      /** Number of the version, from 1 to 2,147,483,647. */
      version: number
    }
    body: VersionPatch
    data: Version
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'NOT_FOUND' | 'CONFLICT' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
    options: 'ifMatch'
  }
  /** Delete a version of a file */
  'DELETE /files/:id/versions/:version': {
    params: {
      /** ID of the file. */
      id: string
      /** Number of the version, from 1 to 2,147,483,647. */
      version: number
    }
    data: Deleted
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'NOT_FOUND' | 'CONFLICT' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
    options: 'ifMatch'
  }
  /** Download a version of a file */
  'GET /files/:id/versions/:version/content': {
    params: {
      /** ID of the file. */
      id: string
      /** Number of the version, from 1 to 2,147,483,647. */
      version: number
    }
    data: unknown
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'NOT_FOUND' | 'CONFLICT' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
  }
  /** Restore a version of a file */
  'POST /files/:id/versions/:version/restore': {
    params: {
      /** ID of the file. */
      id: string
      /** Number of the version, from 1 to 2,147,483,647. */
      version: number
    }
    data: File
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'PAYMENT_REQUIRED' | 'FORBIDDEN' | 'NOT_FOUND' | 'CONFLICT' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
    options: 'idempotencyKey'
  }
  /** Retrieve the caller */
  'GET /me': {
    data: Me
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
  }
  /** Change your name and language */
  'PATCH /me': {
    body: {
      /** Your name in this org, 1–120 characters. */
      name?: string
      /** Your language of the console in this org. Null: that of the browser. */
      language?: "en" | "de" | null
    }
    data: Me
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'CONFLICT' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
  }
  /** List your invitations */
  'GET /me/invitations': {
    data: InvitationList
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'INTERNAL_ERROR'
  }
  /** Accept an invitation */
  'POST /me/invitations/:id/accept': {
    params: {
      /** ID of the resource, a UUID. */
      id: string
    }
    data: InvitationAccepted
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'NOT_FOUND' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR'
  }
  /** Decline an invitation */
  'POST /me/invitations/:id/decline': {
    params: {
      /** ID of the resource, a UUID. */
      id: string
    }
    data: InvitationDeclined
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'NOT_FOUND' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR'
  }
  /** List members */
  'GET /members': {
    query?: {
      /** Maximum number of items to return, 1–100. Default 50. */
      limit?: number | undefined
      /** `nextCursor` of the previous page, at most 1,024 characters. Omit it for the first page. */
      cursor?: string | undefined
      /** Return members (`active`) or people who have not accepted yet (`invited`). Default `active`. */
      status?: "active" | "invited" | undefined
      /** Return only the member with this user ID. Default: all. */
      userId?: string | undefined
    }
    data: {
      /** Items of this page. */
      items: ListedMember[]
      /** Send it as `cursor` to get the next page. Null on the last page. */
      nextCursor: string | null
    }
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
  }
  /** Add a member */
  'POST /members': {
    body: MemberCreate
    data: MemberCreated
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'NOT_FOUND' | 'CONFLICT' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
    options: 'idempotencyKey' | 'stepUpToken'
  }
  /** Retrieve a member */
  'GET /members/:id': {
    params: {
      /** ID of the resource, a UUID. */
      id: string
    }
    data: Member
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'NOT_FOUND' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
  }
  /** Change the role of a member */
  'PATCH /members/:id': {
    params: {
      /** ID of the resource, a UUID. */
      id: string
    }
    body: MemberPatch
    data: Member
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'NOT_FOUND' | 'CONFLICT' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
    options: 'ifMatch' | 'stepUpToken'
  }
  /** Remove a member */
  'DELETE /members/:id': {
    params: {
      /** ID of the resource, a UUID. */
      id: string
    }
    data: Deleted
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'NOT_FOUND' | 'CONFLICT' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
    options: 'ifMatch'
  }
  /** Create a sign-in link for an invited person */
  'POST /members/:id/sign-in-link': {
    params: {
      /** ID of the resource, a UUID. */
      id: string
    }
    data: MemberSignInLink
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'NOT_FOUND' | 'CONFLICT' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
    options: 'idempotencyKey' | 'stepUpToken'
  }
  /** List models */
  'GET /models': {
    data: {
      /** Items of this page. */
      items: Model[]
      /** Send it as `cursor` to get the next page. Null on the last page. */
      nextCursor: string | null
    }
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
  }
  /** Retrieve the org */
  'GET /org': {
    data: OrgSettings
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
  }
  /** Update the org */
  'PATCH /org': {
    body: {
      /** Name, 1–120 characters. */
      name?: string
      /** ID of the model of new agents that name none, at most 120 characters. Null: that of the server. */
      defaultModel?: string | null
      /** Name of the time zone in the IANA database, at most 64 characters. It decides which date agents have. Null: UTC. */
      defaultTimeZone?: string | null
      /** Language of the console for new members. Null: that of their browser. */
      defaultLanguage?: "en" | "de" | null
    }
    data: OrgSettings
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'CONFLICT' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
  }
  /** Retrieve the logo of the org */
  'GET /org/logo': {
    query?: {
      /** Width and height in pixels: 64 or 256. Default 256. */
      size?: 64 | 256 | undefined
    }
    data: unknown
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'NOT_FOUND' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
  }
  /** Set the logo of the org */
  'PUT /org/logo': {
    body: Blob
    data: OrgSettings
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
  }
  /** Remove the logo of the org */
  'DELETE /org/logo': {
    data: Deleted
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'NOT_FOUND' | 'CONFLICT' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
  }
  /** List projects */
  'GET /projects': {
    query?: {
      /** Maximum number of items to return, 1–100. Default 50. */
      limit?: number | undefined
      /** `nextCursor` of the previous page, at most 1,024 characters. Omit it for the first page. */
      cursor?: string | undefined
    }
    data: {
      /** Items of this page. */
      items: Project[]
      /** Send it as `cursor` to get the next page. Null on the last page. */
      nextCursor: string | null
    }
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
  }
  /** Create a project */
  'POST /projects': {
    body: ProjectCreate
    data: Project
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'PAYMENT_REQUIRED' | 'FORBIDDEN' | 'CONFLICT' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
    options: 'idempotencyKey'
  }
  /** Retrieve a project */
  'GET /projects/:id': {
    params: {
      /** ID of the resource, a UUID. */
      id: string
    }
    data: Project
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'NOT_FOUND' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
  }
  /** Update a project */
  'PATCH /projects/:id': {
    params: {
      /** ID of the resource, a UUID. */
      id: string
    }
    body: ProjectPatch
    data: Project
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'NOT_FOUND' | 'CONFLICT' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
    options: 'ifMatch'
  }
  /** Delete a project */
  'DELETE /projects/:id': {
    params: {
      /** ID of the resource, a UUID. */
      id: string
    }
    data: Deleted
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'NOT_FOUND' | 'CONFLICT' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
    options: 'ifMatch'
  }
  /** List quotas */
  'GET /quotas': {
    data: QuotaList
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
  }
  /** List sessions */
  'GET /sessions': {
    query?: {
      /** Maximum number of items to return, 1–100. Default 50. */
      limit?: number | undefined
      /** `nextCursor` of the previous page, at most 1,024 characters. Omit it for the first page. */
      cursor?: string | undefined
      /** Return only sessions in which this agent takes part: UUID or slug, at most 255 characters. */
      agentId?: string | undefined
      /** Return only sessions of this project. */
      projectId?: string | undefined
      /** Return only sessions that were created in this way, see `source` of a session. */
      source?: "console" | "api" | "test" | "openai" | "mcp" | "a2a" | "chat" | "agent" | undefined
      /** Whether to return sessions whose `source` is `test`. Default true. */
      includeTests?: boolean | undefined
      /** Return only sessions with a title or a message that contains words with these beginnings, 1–200 characters. All of the first 8 words must be in the title or in one message, of which the first 500 different words are searched. Returns one page without `nextCursor`, and `match` for each session. */
      search?: string | undefined
    }
    data: {
      /** Items of this page. */
      items: ListedSession[]
      /** Send it as `cursor` to get the next page. Null on the last page. */
      nextCursor: string | null
    }
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'NOT_FOUND' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
  }
  /** Create a session */
  'POST /sessions': {
    body: SessionCreate
    data: Session
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'NOT_FOUND' | 'CONFLICT' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
    options: 'idempotencyKey'
  }
  /** Retrieve a session */
  'GET /sessions/:id': {
    params: {
      /** ID of the resource, a UUID. */
      id: string
    }
    data: Session
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'NOT_FOUND' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
  }
  /** Update a session */
  'PATCH /sessions/:id': {
    params: {
      /** ID of the resource, a UUID. */
      id: string
    }
    body: SessionPatch
    data: Session
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'NOT_FOUND' | 'CONFLICT' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
    options: 'ifMatch'
  }
  /** Delete a session */
  'DELETE /sessions/:id': {
    params: {
      /** ID of the resource, a UUID. */
      id: string
    }
    data: Deleted
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'NOT_FOUND' | 'CONFLICT' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
    options: 'ifMatch'
  }
  /** Switch to another version of a message */
  'POST /sessions/:id/branch': {
    params: {
      /** ID of the resource, a UUID. */
      id: string
    }
    body: BranchSwitch
    data: Session
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'NOT_FOUND' | 'CONFLICT' | 'VALIDATION_ERROR' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
    options: 'idempotencyKey'
  }
  /** Cancel the turns of a session */
  'POST /sessions/:id/cancel': {
    params: {
      /** ID of the resource, a UUID. */
      id: string
    }
    data: Cancelled
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'NOT_FOUND' | 'CONFLICT' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
    options: 'idempotencyKey'
  }
  /** List messages of a session */
  'GET /sessions/:id/messages': {
    params: {
      /** ID of the resource, a UUID. */
      id: string
    }
    query?: {
      /** Maximum number of items to return, 1–100. Default 50. */
      limit?: number | undefined
      /** `nextCursor` of the previous page, at most 1,024 characters. Omit it for the first page. */
      cursor?: string | undefined
      /** `active`: the conversation as the agent sees it. `all`: also messages that were replaced, and what follows them. Default `active`. */
      branch?: "active" | "all" | undefined
    }
    data: {
      /** Items of this page. */
      items: Message[]
      /** Send it as `cursor` to get the next page. Null on the last page. */
      nextCursor: string | null
    }
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'NOT_FOUND' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
  }
  /** Send a message */
  'POST /sessions/:id/messages': {
    params: {
      /** ID of the resource, a UUID. */
      id: string
    }
    body: TurnCreate
    data: TurnAnswer
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'PAYMENT_REQUIRED' | 'FORBIDDEN' | 'NOT_FOUND' | 'CONFLICT' | 'VALIDATION_ERROR' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
    options: 'idempotencyKey'
  }
  /** Resume a stream of useChat */
  'GET /sessions/:id/messages/:chatId/stream': {
    params: {
      /** ID of the session. */
      id: string
      /** ID of the chat in `useChat`. The server does not interpret it. */
      chatId: string
    }
    query?: {
      /** The last `id:` that you received, 0–2,147,483,647; the stream continues after it. Default: from the first frame. */
      after?: number | undefined
    }
    data: undefined
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'NOT_FOUND' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
  }
  /** Stream the running turn of a session */
  'GET /sessions/:id/stream': {
    params: {
      /** ID of the resource, a UUID. */
      id: string
    }
    query?: {
      /** The last `id:` that you received, 0–2,147,483,647; the stream continues after it. Default: from the first frame. */
      after?: number | undefined
    }
    data: undefined
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'NOT_FOUND' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
  }
  /** Retrieve a turn */
  'GET /turns/:id': {
    params: {
      /** ID of the resource, a UUID. */
      id: string
    }
    data: Turn
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'NOT_FOUND' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
  }
  /** Decide an approval */
  'POST /turns/:id/approvals': {
    params: {
      /** ID of the resource, a UUID. */
      id: string
    }
    body: ApprovalDecision
    data: TurnAnswer
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'NOT_FOUND' | 'CONFLICT' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
    options: 'idempotencyKey'
  }
  /** Cancel a turn */
  'POST /turns/:id/cancel': {
    params: {
      /** ID of the resource, a UUID. */
      id: string
    }
    data: Cancelled
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'NOT_FOUND' | 'CONFLICT' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
    options: 'idempotencyKey'
  }
  /** Stream a turn */
  'GET /turns/:id/stream': {
    params: {
      /** ID of the resource, a UUID. */
      id: string
    }
    query?: {
      /** The last `id:` that you received, 0–2,147,483,647; the stream continues after it. Default: from the first frame. */
      after?: number | undefined
    }
    data: undefined
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'NOT_FOUND' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
  }
  /** Give tool outputs */
  'POST /turns/:id/tool-outputs': {
    params: {
      /** ID of the resource, a UUID. */
      id: string
    }
    body: ToolOutputs
    data: TurnAnswer
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'NOT_FOUND' | 'CONFLICT' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
    options: 'idempotencyKey'
  }
  /** Create a resumable upload */
  'POST /uploads': {
    data: Upload
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'PAYMENT_REQUIRED' | 'FORBIDDEN' | 'NOT_FOUND' | 'CONFLICT' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
  }
  /** Upload bytes or delete an upload by POST */
  'POST /uploads/:id': {
    params: {
      /** ID of the resource, a UUID. */
      id: string
    }
    data: undefined
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'NOT_FOUND' | 'CONFLICT' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
  }
  /** Upload bytes */
  'PATCH /uploads/:id': {
    params: {
      /** ID of the resource, a UUID. */
      id: string
    }
    data: undefined
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'NOT_FOUND' | 'CONFLICT' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
  }
  /** Delete an upload */
  'DELETE /uploads/:id': {
    params: {
      /** ID of the resource, a UUID. */
      id: string
    }
    data: undefined
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'NOT_FOUND' | 'CONFLICT' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
  }
  /** List webhooks */
  'GET /webhooks': {
    query?: {
      /** Maximum number of items to return, 1–100. Default: all items, up to 1,000. */
      limit?: number | undefined
      /** `nextCursor` of the previous page, at most 1,024 characters. Omit it for the first page. */
      cursor?: string | undefined
    }
    data: {
      /** Items of this page. */
      items: Webhook[]
      /** Send it as `cursor` to get the next page. Null on the last page. */
      nextCursor: string | null
    }
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
  }
  /** Create a webhook */
  'POST /webhooks': {
    body: WebhookCreate
    data: WebhookWithSecret
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'PAYMENT_REQUIRED' | 'FORBIDDEN' | 'CONFLICT' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
    options: 'idempotencyKey'
  }
  /** List recent events */
  'GET /webhooks/events': {
    query?: {
      /** Maximum number of items to return, 1–100. Default 100. */
      limit?: number | undefined
      /** `nextCursor` of the previous page, at most 1,024 characters. Omit it for the first page. */
      cursor?: string | undefined
      /** Return only events of this type, such as `order.created` or `order.*`, 1–255 characters. Letter case is ignored. With a filter a page can have fewer items than `limit`, or none: each response covers up to 2,000. `nextCursor` is null on the last page only. Default: all. */
      type?: string | undefined
      /** Return only events with this status. With a filter a page can have fewer items than `limit`, or none: each response covers up to 2,000. `nextCursor` is null on the last page only. Default: all. */
      status?: "recorded" | "filtered" | undefined
      /** Return only events that were received at this time or later. Default: all. */
      since?: string | undefined
      /** Return only events that were received at this time or earlier. Default: all. */
      until?: string | undefined
    }
    data: {
      /** Items of this page. */
      items: WebhookEvent[]
      /** Send it as `cursor` to get the next page. Null on the last page. */
      nextCursor: string | null
    }
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
  }
  /** List the health of webhooks */
  'GET /webhooks/health': {
    query?: {
      /** Maximum number of items to return, 1–100. Default: all items, up to 1,000. */
      limit?: number | undefined
      /** `nextCursor` of the previous page, at most 1,024 characters. Omit it for the first page. */
      cursor?: string | undefined
    }
    data: {
      /** Items of this page. */
      items: WebhookHealth[]
      /** Send it as `cursor` to get the next page. Null on the last page. */
      nextCursor: string | null
    }
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
  }
  /** Receive a Linear event */
  'POST /webhooks/linear': {
    data: Receipt
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'PAYMENT_REQUIRED' | 'FORBIDDEN' | 'NOT_FOUND' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
  }
  /** List Linear bindings */
  'GET /webhooks/linear/bindings': {
    data: {
      /** Items of this page. */
      items: LinearBinding[]
      /** Send it as `cursor` to get the next page. Null on the last page. */
      nextCursor: string | null
    }
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
  }
  /** Bind a Linear organization */
  'POST /webhooks/linear/bindings': {
    body: LinearBindingCreate
    data: LinearBinding
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'NOT_FOUND' | 'CONFLICT' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
    options: 'idempotencyKey'
  }
  /** Delete a Linear binding */
  'DELETE /webhooks/linear/bindings/:id': {
    params: {
      /** ID of the resource, a UUID. */
      id: string
    }
    data: Deleted
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'NOT_FOUND' | 'CONFLICT' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
    options: 'ifMatch'
  }
  /** Receive an event */
  'POST /webhooks/receive/:webhookId': {
    params: {
      /** ID of the webhook. */
      webhookId: string
    }
    data: Receipt | undefined
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'PAYMENT_REQUIRED' | 'FORBIDDEN' | 'NOT_FOUND' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR'
  }
  /** Send a test event */
  'POST /webhooks/test': {
    body: WebhookTest
    data: WebhookEvent
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'PAYMENT_REQUIRED' | 'FORBIDDEN' | 'NOT_FOUND' | 'CONFLICT' | 'VALIDATION_ERROR' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
    options: 'idempotencyKey'
  }
  /** Verify a signature */
  'POST /webhooks/verify': {
    body: WebhookVerify
    data: Verified
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'NOT_FOUND' | 'CONFLICT' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
    options: 'idempotencyKey'
  }
  /** Retrieve a webhook */
  'GET /webhooks/:id': {
    params: {
      /** ID of the resource, a UUID. */
      id: string
    }
    data: Webhook
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'NOT_FOUND' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
  }
  /** Update a webhook */
  'PATCH /webhooks/:id': {
    params: {
      /** ID of the resource, a UUID. */
      id: string
    }
    body: {
      /** Name, 1–120 characters. */
      name?: string
      /** Public HTTP or HTTPS URL to forward events to, at most 2,048 characters. Default, also for null and empty: events are only recorded. */
      url?: string | null
      /** Provider of the events, at most 100 characters. `github`, `gitlab`, `jira`, `stripe`, `slack`, `linear`, `shopify`, `telegram`, `twilio`, `discord`, `hmac` and `token` are verified by their own scheme, any other value by Standard Webhooks. Default `custom`. */
      source?: string
      /** Description, at most 2,000 characters. Default: none. */
      description?: string | null
      /** Event types to forward, such as `invoice.paid` or `invoice.*`, at most 100 of 255 characters. Default: all of them. */
      events?: string[]
      /** True sets `status` to `active`, false to `paused`. Ignored when `status` is sent. */
      enabled?: boolean
      /** `active` receives and forwards events. `paused` receives events and holds their deliveries. `disabled` rejects events with NOT_FOUND. */
      status?: "active" | "paused" | "disabled"
    }
    data: Webhook
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'NOT_FOUND' | 'CONFLICT' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
    options: 'ifMatch'
  }
  /** Delete a webhook */
  'DELETE /webhooks/:id': {
    params: {
      /** ID of the resource, a UUID. */
      id: string
    }
    data: Deleted
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'NOT_FOUND' | 'CONFLICT' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
    options: 'ifMatch'
  }
  /** List deliveries of a webhook */
  'GET /webhooks/:id/deliveries': {
    params: {
      /** ID of the resource, a UUID. */
      id: string
    }
    query?: {
      /** Maximum number of items to return, 1–100. Default 50. */
      limit?: number | undefined
      /** `nextCursor` of the previous page, at most 1,024 characters. Omit it for the first page. */
      cursor?: string | undefined
      /** `unfinished`: only deliveries that are pending, sending or held. `succeeded` and `failed`: only those that ended so. With `succeeded` a page can have fewer items than `limit`, or none, because failed deliveries between them count; `nextCursor` is null on the last page only. Default: all. */
      status?: "unfinished" | "succeeded" | "failed" | undefined
      /** Return only events of this type, such as `order.created` or `order.*`, 1–255 characters. Letter case is ignored. With a filter a page can have fewer items than `limit`, or none: each response covers up to 2,000. `nextCursor` is null on the last page only. Default: all. */
      type?: string | undefined
      /** Return only deliveries of this event, oldest first. With a filter a page can have fewer items than `limit`, or none: each response covers up to 2,000. `nextCursor` is null on the last page only. Default: all. */
      eventId?: string | undefined
      /** Return only deliveries that were created at this time or later. Default: all. */
      since?: string | undefined
      /** Return only deliveries that were created at this time or earlier. Default: all. */
      until?: string | undefined
    }
    data: {
      /** Items of this page. */
      items: Delivery[]
      /** Send it as `cursor` to get the next page. Null on the last page. */
      nextCursor: string | null
    }
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'NOT_FOUND' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
  }
  /** Retrieve a delivery */
  'GET /webhooks/:id/deliveries/:deliveryId': {
    params: {
      /** ID of the webhook. */
      id: string
      /** ID of the delivery. */
      deliveryId: string
    }
    data: Delivery
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'NOT_FOUND' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
  }
  /** Retry a delivery */
  'POST /webhooks/:id/deliveries/:deliveryId/retry': {
    params: {
      /** ID of the webhook. */
      id: string
      /** ID of the delivery. */
      deliveryId: string
    }
    data: Delivery
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'NOT_FOUND' | 'CONFLICT' | 'VALIDATION_ERROR' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
    options: 'idempotencyKey'
  }
  /** List events of a webhook */
  'GET /webhooks/:id/events': {
    params: {
      /** ID of the resource, a UUID. */
      id: string
    }
    query?: {
      /** Maximum number of items to return, 1–100. Default 50. */
      limit?: number | undefined
      /** `nextCursor` of the previous page, at most 1,024 characters. Omit it for the first page. */
      cursor?: string | undefined
      /** Return only events of this type, such as `order.created` or `order.*`, 1–255 characters. Letter case is ignored. With a filter a page can have fewer items than `limit`, or none: each response covers up to 2,000. `nextCursor` is null on the last page only. Default: all. */
      type?: string | undefined
      /** Return only events with this status. With a filter a page can have fewer items than `limit`, or none: each response covers up to 2,000. `nextCursor` is null on the last page only. Default: all. */
      status?: "recorded" | "filtered" | undefined
      /** Return only events that were received at this time or later. Default: all. */
      since?: string | undefined
      /** Return only events that were received at this time or earlier. Default: all. */
      until?: string | undefined
    }
    data: {
      /** Items of this page. */
      items: WebhookEvent[]
      /** Send it as `cursor` to get the next page. Null on the last page. */
      nextCursor: string | null
    }
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'NOT_FOUND' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
  }
  /** Retrieve an event */
  'GET /webhooks/:id/events/:eventId': {
    params: {
      /** ID of the webhook. */
      id: string
      /** ID of the event. */
      eventId: string
    }
    data: WebhookEvent
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'NOT_FOUND' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
  }
  /** Replay an event */
  'POST /webhooks/:id/events/:eventId/replay': {
    params: {
      /** ID of the webhook. */
      id: string
      /** ID of the event. */
      eventId: string
    }
    data: Delivery
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'NOT_FOUND' | 'CONFLICT' | 'VALIDATION_ERROR' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
    options: 'idempotencyKey'
  }
  /** Retry failed deliveries */
  'POST /webhooks/:id/recover': {
    params: {
      /** ID of the resource, a UUID. */
      id: string
    }
    body: Recover
    data: Recovered
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'NOT_FOUND' | 'CONFLICT' | 'VALIDATION_ERROR' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
    options: 'idempotencyKey'
  }
  /** Rotate the secret of a webhook */
  'POST /webhooks/:id/rotate': {
    params: {
      /** ID of the resource, a UUID. */
      id: string
    }
    body: SecretRotate
    data: WebhookWithSecret
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'NOT_FOUND' | 'CONFLICT' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
    options: 'idempotencyKey'
  }
  /** List workspaces */
  'GET /workspaces': {
    query?: {
      /** Maximum number of items to return, 1–100. Default 50. */
      limit?: number | undefined
      /** `nextCursor` of the previous page, at most 1,024 characters. Omit it for the first page. */
      cursor?: string | undefined
    }
    data: {
      /** Items of this page. */
      items: Workspace[]
      /** Send it as `cursor` to get the next page. Null on the last page. */
      nextCursor: string | null
    }
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
  }
  /** Create a workspace */
  'POST /workspaces': {
    body: WorkspaceCreate
    data: Workspace
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'CONFLICT' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
    options: 'idempotencyKey'
  }
  /** Retrieve a workspace */
  'GET /workspaces/:id': {
    params: {
      /** ID of the resource, a UUID. */
      id: string
    }
    data: Workspace
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'NOT_FOUND' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
  }
  /** Rename a workspace */
  'PATCH /workspaces/:id': {
    params: {
      /** ID of the resource, a UUID. */
      id: string
    }
    body: {
      /** Name, 1–120 characters. */
      name?: string
    }
    data: Workspace
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'NOT_FOUND' | 'CONFLICT' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
    options: 'ifMatch'
  }
  /** Delete a workspace */
  'DELETE /workspaces/:id': {
    params: {
      /** ID of the resource, a UUID. */
      id: string
    }
    data: Deleted
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'NOT_FOUND' | 'CONFLICT' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
    options: 'ifMatch' | 'stepUpToken'
  }
  /** List members of a workspace */
  'GET /workspaces/:id/members': {
    params: {
      /** ID of the resource, a UUID. */
      id: string
    }
    query?: {
      /** Maximum number of items to return, 1–100. Default 50. */
      limit?: number | undefined
      /** `nextCursor` of the previous page, at most 1,024 characters. Omit it for the first page. */
      cursor?: string | undefined
    }
    data: {
      /** Items of this page. */
      items: WorkspaceMember[]
      /** Send it as `cursor` to get the next page. Null on the last page. */
      nextCursor: string | null
    }
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'NOT_FOUND' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
  }
  /** Add a member to a workspace */
  'POST /workspaces/:id/members': {
    params: {
      /** ID of the resource, a UUID. */
      id: string
    }
    body: WorkspaceMemberAdd
    data: WorkspaceMember
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'NOT_FOUND' | 'CONFLICT' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
    options: 'idempotencyKey'
  }
  /** Remove a member from a workspace */
  'DELETE /workspaces/:id/members/:userId': {
    params: {
      /** ID of the workspace. */
      id: string
      /** ID of the user. */
      userId: string
    }
    data: Deleted
    errors: 'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'NOT_FOUND' | 'CONFLICT' | 'TOO_MANY_REQUESTS' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'
  }
}

/** The bodies of deliveries to event endpoints, by event type. */
export interface EventTypes {
  'agent.consent_given': AgentConsentGivenEvent
  'agent.consent_withdrawn': AgentConsentWithdrawnEvent
  'agent.created': AgentCreatedEvent
  'agent.deleted': AgentDeletedEvent
  'agent.updated': AgentUpdatedEvent
  'api_key.created': ApiKeyCreatedEvent
  'api_key.revoked': ApiKeyRevokedEvent
  'balance.deposited': BalanceDepositedEvent
  'balance.exhausted': BalanceExhaustedEvent
  'balance.low': BalanceLowEvent
  'balance.topup.failed': BalanceTopupFailedEvent
  'connection.broken': ConnectionBrokenEvent
  'connection.connected': ConnectionConnectedEvent
  'connection.created': ConnectionCreatedEvent
  'connection.revoked': ConnectionRevokedEvent
  'connector.event.received': ConnectorEventReceivedEvent
  'event_endpoint.created': EventEndpointCreatedEvent
  'event_endpoint.deleted': EventEndpointDeletedEvent
  'event_endpoint.disabled': EventEndpointDisabledEvent
  'event_endpoint.updated': EventEndpointUpdatedEvent
  'file.created': FileCreatedEvent
  'file.deleted': FileDeletedEvent
  'file.moved': FileMovedEvent
  'file.restored': FileRestoredEvent
  'file.share_created': FileShareCreatedEvent
  'file.share_revoked': FileShareRevokedEvent
  'file.share_updated': FileShareUpdatedEvent
  'file.updated': FileUpdatedEvent
  'file.version_created': FileVersionCreatedEvent
  'file.version_deleted': FileVersionDeletedEvent
  'file.version_updated': FileVersionUpdatedEvent
  'folder.access_changed': FolderAccessChangedEvent
  'folder.created': FolderCreatedEvent
  'folder.deleted': FolderDeletedEvent
  'folder.moved': FolderMovedEvent
  'folder.restored': FolderRestoredEvent
  'folder.updated': FolderUpdatedEvent
  'member.accepted': MemberAcceptedEvent
  'member.added': MemberAddedEvent
  'member.declined': MemberDeclinedEvent
  'member.invited': MemberInvitedEvent
  'member.removed': MemberRemovedEvent
  'member.role_changed': MemberRoleChangedEvent
  'member.updated': MemberUpdatedEvent
  'message.created': MessageCreatedEvent
  'org.updated': OrgUpdatedEvent
  'project.created': ProjectCreatedEvent
  'project.deleted': ProjectDeletedEvent
  'project.updated': ProjectUpdatedEvent
  'session.created': SessionCreatedEvent
  'session.deleted': SessionDeletedEvent
  'session.updated': SessionUpdatedEvent
  'subscription.updated': SubscriptionUpdatedEvent
  'turn.approval_decided': TurnApprovalDecidedEvent
  'turn.cancelled': TurnCancelledEvent
  'turn.completed': TurnCompletedEvent
  'turn.failed': TurnFailedEvent
  'turn.incomplete': TurnIncompleteEvent
  'turn.requires_action': TurnRequiresActionEvent
  'turn.started': TurnStartedEvent
  'webhook.created': WebhookCreatedEvent
  'webhook.deleted': WebhookDeletedEvent
  'webhook.delivery.failed': WebhookDeliveryFailedEvent
  'webhook.disabled': WebhookDisabledEvent
  'webhook.event.received': WebhookEventReceivedEvent
  'webhook.recovered': WebhookRecoveredEvent
  'webhook.updated': WebhookUpdatedEvent
  'workspace.created': WorkspaceCreatedEvent
  'workspace.deleted': WorkspaceDeletedEvent
  'workspace.member_added': WorkspaceMemberAddedEvent
  'workspace.member_removed': WorkspaceMemberRemovedEvent
  'workspace.updated': WorkspaceUpdatedEvent
}

/** The body of any delivery to an event endpoint; `type` tells which. */
export type AtriumEvent = EventTypes[keyof EventTypes]
