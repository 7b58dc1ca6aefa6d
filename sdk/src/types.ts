// Made from docs/openapi.json by `npm run generate`.

export interface Agent {
  /** UUIDv7 */
  id: string
  /** UUIDv7 */
  orgId: string
  /** UUIDv7 */
  workspaceId: string | null
  name: string
  slug: string
  description: string | null
  avatar: string
  model: string
  systemPrompt: string | null
  allowedTools: string[]
  allowedPeers: string[]
  allowedConnectors: string[]
  isActive: boolean
  /** The org's default agent: every workspace sees it */
  isDefault: boolean
  /** `voice` and `approvals` are normalised, other keys are kept as sent; 32 KB at most. `approvals`: names of tools (in any case, a dot and an underscore are the same), `*` for every tool that is not read-only, `prefix*` such as `http__*`; unknown names are BAD_REQUEST */
  settings: Record<string, unknown>
  /** The user who made the latest change of the system prompt, model, tools, connectors, peers or approvals (of the name or description, too, when there is no system prompt). The agent uses the connections of this user without asking. Null when that is not known. */
  authorityChangedBy: string | null
  /** Goes up with each of these changes. A consent is valid for one version */
  authorityVersion: number
  /** ISO 8601, UTC, milliseconds */
  createdAt: string
  /** ISO 8601, UTC, milliseconds */
  updatedAt: string
  /** ISO 8601, UTC, milliseconds */
  deletedAt: string | null
}

export interface AgentCreate {
  /** 1 to 255 characters once runs of white space are one space */
  name: string
  description?: string | null
  /** An id of `GET /models` */
  model?: string
  systemPrompt?: string | null
  avatar?: string
  /** Tools that the agent may use; unknown ones are kept and grant nothing, an empty list grants nothing */
  allowedTools?: string[]
  /** Slugs of agents that it may message; unknown ones are kept and grant nothing, an empty list grants nothing */
  allowedPeers?: string[]
  /** Slugs of connectors that it may use; unknown ones are kept and grant nothing, an empty list grants nothing */
  allowedConnectors?: string[]
  /** `voice` and `approvals` are normalised, other keys are kept as sent; 32 KB at most. `approvals`: names of tools (in any case, a dot and an underscore are the same), `*` for every tool that is not read-only, `prefix*` such as `http__*`; unknown names are BAD_REQUEST */
  settings?: Record<string, unknown>
}

export interface AgentPatch {
  /** 1 to 255 characters once runs of white space are one space */
  name?: string
  description?: string | null
  /** An id of `GET /models` */
  model?: string
  systemPrompt?: string | null
  avatar?: string
  /** Tools that the agent may use; unknown ones are kept and grant nothing, an empty list grants nothing */
  allowedTools?: string[]
  /** Slugs of agents that it may message; unknown ones are kept and grant nothing, an empty list grants nothing */
  allowedPeers?: string[]
  /** Slugs of connectors that it may use; unknown ones are kept and grant nothing, an empty list grants nothing */
  allowedConnectors?: string[]
  /** Replaces the keys that it names; null removes one */
  settings?: Record<string, unknown>
  /** Dropped without a word for the default agent, whose slug stays */
  slug?: string
  isActive?: boolean
}

export interface ApiKey {
  /** UUIDv7 */
  id: string
  name: string
  prefix: string
  last4: string
  /** UUIDv7 */
  userId: string
  /** UUIDv7 */
  workspaceId: string | null
  scopes: string[]
  /** ISO 8601, UTC, milliseconds */
  expiresAt: string | null
  /** ISO 8601, UTC, milliseconds */
  lastUsedAt: string | null
  /** ISO 8601, UTC, milliseconds */
  revokedAt: string | null
  /** ISO 8601, UTC, milliseconds */
  createdAt: string
}

export interface ApiKeyCreate {
  name: string
  /** UUIDv7 */
  workspaceId?: string | null
  /** none: all that its user may do */
  scopes?: string[]
  /** ISO 8601, UTC, milliseconds */
  expiresAt?: string | null
}

export interface ApiKeyCreated {
  /** UUIDv7 */
  id: string
  name: string
  prefix: string
  last4: string
  /** UUIDv7 */
  userId: string
  /** UUIDv7 */
  workspaceId: string | null
  scopes: string[]
  /** ISO 8601, UTC, milliseconds */
  expiresAt: string | null
  /** ISO 8601, UTC, milliseconds */
  lastUsedAt: string | null
  /** ISO 8601, UTC, milliseconds */
  revokedAt: string | null
  /** ISO 8601, UTC, milliseconds */
  createdAt: string
  /** shown only here */
  key: string
}

export interface ApprovalDecision {
  /** UUIDv7 */
  approvalId: string
  approved: boolean
}

export interface AuditEntry {
  /** UUIDv7 */
  id: string
  /** ISO 8601, UTC, milliseconds */
  at: string
  actor: {
    /** UUIDv7 */
    id: string | null
    name: string
    /** UUIDv7 */
    apiKeyId: string | null
  }
  action: string
  resource: {
    type: string
    id: string | null
  }
  details: Record<string, unknown>
  ip: string | null
  requestId: string | null
  /** Place in the hash chain of the org; null for the first seconds */
  seq: number | null
  /** SHA-256 over the hash before it and this entry, in hexadecimal digits */
  hash: string | null
}

export interface BillingPatch {
  autoTopupEnabled?: boolean
  autoTopupThresholdCents?: number
  /** No card payment is larger than 99,999,999 */
  autoTopupAmountCents?: number
  /** No more than this by itself in a month */
  autoTopupMonthlyCapCents?: number | null
  /** Paid turns are refused beyond it */
  monthlyCapCents?: number | null
}

export interface BillingSnapshot {
  balance: {
    balanceCents: number
    cumulativeDepositsCents: number
    autoTopupEnabled: boolean
    autoTopupThresholdCents: number
    autoTopupAmountCents: number
    /** Charged, and less than a cent yet */
    remainderMicrocents: number
    /** What turns that run may still cost */
    reservedMicrocents: number
  }
  waiver: {
    active: boolean
    remainingCents: number
  }
  payment: {
    paymentProviderConfigured: boolean
    webhookConfigured: boolean
    publishableKeyConfigured: boolean
    directDepositAvailable: boolean
    billingEnforced: boolean
  }
  usage: {
    currentMonth: {
      /** Calls of models, free ones included */
      requestCount: number
      /** Those on the org's own provider key */
      byokRequestCount: number
      /** Cached ones included */
      inputTokens: number
      outputTokens: number
      cacheReadTokens: number
      cacheWriteTokens: number
      totalTokens: number
      /** 10,000 microcents are a cent */
      providerCostMicrocents: number
      /** 10,000 microcents are a cent */
      platformFeeMicrocents: number
      /** 10,000 microcents are a cent */
      totalChargedMicrocents: number
      /** Whole cents of it */
      totalChargedCents: number
      /** ISO 8601, UTC, milliseconds */
      monthStart: string
      operationBreakdown: Array<{
        operation: string
        requestCount: number
        /** 10,000 microcents are a cent */
        totalChargedMicrocents: number
        totalChargedCents: number
      }>
    }
  }
  transactions: Array<{
    /** UUIDv7 */
    id: string
    type: "deposit" | "usage" | "refund" | "adjustment" | "platform_fee"
    /** Signed: what it does to the balance */
    amountCents: number
    balanceAfterCents: number
    paymentIntentId?: string
    notes: string | null
    /** ISO 8601, UTC, milliseconds */
    createdAt: string
  }>
  promotions: Promotion[]
  subscription: {
    planId: string
    planName: string
    /** active, past_due, canceled, … */
    status: string
    cancelAtPeriodEnd: boolean
    /** ISO 8601, UTC, milliseconds */
    currentPeriodEnd: string | null
    /** ISO 8601, UTC, milliseconds */
    createdAt: string
  } | null
  autoTopup: {
    state: "off" | "no_payment_method" | "balance_suffices" | "backing_off" | "monthly_cap" | "due" | "under_way"
    /** Why the account is, or is not, filled up right now */
    reason: string
    /** ISO 8601, UTC, milliseconds */
    retryAt: string | null
    hasPaymentMethod: boolean
    monthlyCapCents: number | null
    chargedThisMonthCents: number
    recent: Array<{
      /** UUIDv7 */
      id: string
      state: "due" | "processing" | "succeeded" | "declined" | "failed"
      amountCents: number
      failureCode: string | null
      failureMessage: string | null
      /** ISO 8601, UTC, milliseconds */
      createdAt: string
      /** ISO 8601, UTC, milliseconds */
      endedAt: string | null
    }>
  }
  limits: {
    org: {
      monthlyCapCents: number | null
      /** 10,000 microcents are a cent */
      chargedThisMonthMicrocents: number
      chargedThisMonthCents: number
      /** near: 80 % of the cap are used up */
      state: "free" | "near" | "reached"
    }
    /** Agents with a cap of their own; empty for those who do not manage billing */
    agents: Array<{
      /** UUIDv7 */
      id: string
      name: string
      slug: string
      monthlyCapCents: number | null
      /** 10,000 microcents are a cent */
      chargedThisMonthMicrocents: number
      chargedThisMonthCents: number
      /** near: 80 % of the cap are used up */
      state: "free" | "near" | "reached"
    }>
  }
}

export interface Breakdown {
  period: string
  /** ISO 8601, UTC, milliseconds */
  from: string
  /** ISO 8601, UTC, milliseconds */
  to: string
  items: Array<{
    id: string | null
    name: string
    /** Calls of models, free ones included */
    requestCount: number
    /** Those on the org's own provider key */
    byokRequestCount: number
    /** Cached ones included */
    inputTokens: number
    outputTokens: number
    cacheReadTokens: number
    cacheWriteTokens: number
    totalTokens: number
    /** 10,000 microcents are a cent */
    providerCostMicrocents: number
    /** 10,000 microcents are a cent */
    platformFeeMicrocents: number
    /** 10,000 microcents are a cent */
    totalChargedMicrocents: number
    /** Whole cents of it */
    totalChargedCents: number
    /** Of what was charged in all, from 0 to 1 */
    share: number
  }>
}

export interface Cancelled {
  cancelled: boolean
}

export interface ChatCompletion {
  /** `chatcmpl-` and the id of the turn */
  id: string
  object: "chat.completion"
  /** Unix seconds */
  created: number
  model: string
  choices: Array<{
    index: number
    message: {
      role: "assistant"
      content: string
      refusal: null
    }
    logprobs: null
    finish_reason: "stop" | "length" | "content_filter"
  }>
  usage: {
    /** Of all calls of the model that the turn took */
    prompt_tokens: number
    completion_tokens: number
    total_tokens: number
    prompt_tokens_details: {
      cached_tokens: number
    }
  }
}

export interface ChatCompletionCreate {
  /** `agent/<slug>` */
  model: string
  /** The last one is the user’s */
  messages: Array<{
    role: "system" | "developer" | "user" | "assistant" | "tool" | "function"
    content?: string | Array<{
      /** `text`, or `file` for a stored file */
      type: string
      text?: string
      file?: {
        /** The id of a file of the org */
        file_id?: string
      }
    }> | null
    tool_calls?: unknown
  }>
  stream?: boolean | null
  stream_options?: {
    include_usage?: boolean
  } | null
  /** The most that each call of the model may say */
  max_completion_tokens?: number | null
  /** The older name of the same */
  max_tokens?: number | null
  n?: number | null
  tools?: unknown[] | null
  functions?: unknown[] | null
  stop?: unknown
  response_format?: Record<string, unknown> | null
  logprobs?: boolean | null
  modalities?: unknown[] | null
  audio?: Record<string, unknown> | null
}

export interface ChatFailure {
  error: {
    message: string
    type: string
    param: string | null
    code: string | null
  }
}

export interface ChatModel {
  /** `agent/<slug>` */
  id: string
  object: "model"
  /** Unix seconds */
  created: number
  owned_by: string
}

export interface ChatModelList {
  object: "list"
  data: ChatModel[]
}

export interface Connection {
  /** UUIDv7 */
  id: string
  connectorSlug: string
  label: string | null
  status: "pending" | "active" | "error" | "expired" | "revoked"
  accountName: string | null
  accountId: string | null
  scopes: string[]
  /** ISO 8601, UTC, milliseconds */
  lastUsedAt: string | null
  lastError: string | null
  /** ISO 8601, UTC, milliseconds */
  createdAt: string
  /** ISO 8601, UTC, milliseconds */
  updatedAt: string
  /** ISO 8601, UTC, milliseconds */
  deletedAt: string | null
}

export interface ConnectionCreate {
  connectorSlug: string
  /** Tells several connections to one connector apart */
  label?: string
}

export interface ConnectionTools {
  /** Of the tools that were agreed to; null where they never change */
  hash: string | null
  items: Array<{
    /** As agents call it */
    name: string
    description: string
    inputSchema: unknown
  }>
  offered: {
    hash: string
    items: Array<{
      name: string
      description: string
      inputSchema: unknown
    }>
  } | null
}

export interface ConnectorEntry {
  slug: string
  name: string
  description: string
  authType: "oauth" | "api_key" | "none"
  /** Its OAuth client is set on this server, or it needs none */
  configured: boolean
  availability: "available" | "not_configured" | "coming_soon"
  /** Only when it is not available */
  availabilityReason?: string
  /** Empty where each connection brings its own (MCP) */
  tools: Array<{
    name: string
    description: string
  }>
  /** Only for `api_key` */
  credentialFields?: Array<{
    key: string
    label: string
    required: boolean
    /** To be hidden while it is typed */
    secret: boolean
    help?: string
  }>
}

export interface Consent {
  connectorSlug: string
  /** The `authorityVersion` of the agent that it was given for */
  authorityVersion: number
  /** False once somebody else has changed how the agent acts */
  isValid: boolean
  /** Whether tools that change something ask for approval once the agent has read untrusted content */
  askAfterUntrustedContent: boolean
  /** ISO 8601, UTC, milliseconds */
  createdAt: string
  /** ISO 8601, UTC, milliseconds */
  updatedAt: string
}

export interface ConsentList {
  items: Consent[]
  nextCursor: string | null
  authority: {
    /** The `authorityVersion` of the agent now */
    version: number
    changedBy: {
      /** UUIDv7 */
      id: string
      name: string
    } | null
    /** ISO 8601, UTC, milliseconds */
    changedAt: string
  }
}

export interface ConsentPut {
  /** Whether tools that change something ask for approval once the agent has read untrusted content. As before when left out; true for a new consent */
  askAfterUntrustedContent?: boolean
  /** The `authorityVersion` of the agent that you looked at; CONFLICT when the agent has changed since */
  authorityVersion?: number
}

export interface Credentials {
  /** A value for each of the connector's credentialFields that is required, and for no others */
  credentials: Record<string, string>
}

export interface Deleted {
  deleted: true
}

export interface Delivery {
  /** UUIDv7 */
  id: string
  /** UUIDv7 */
  webhookId: string
  /** UUIDv7 */
  eventId: string
  eventType: string
  url: string | null
  /** held: the webhook is paused or disabled */
  status: "pending" | "sending" | "succeeded" | "failed" | "held"
  /** What it waits for, or why it was given up */
  statusReason: string | null
  /** Attempts after the first */
  retryCount: number
  /** ISO 8601, UTC, milliseconds */
  nextAttemptAt: string | null
  response: {
    status: number
    headers: Record<string, string>
    /** Its first 4 KB as text */
    body: string
    truncated: boolean
    durationMs: number
  } | null
  /** Why the last attempt failed */
  error: string | null
  attempts: Array<{
    number: number
    trigger: "automatic" | "manual"
    /** ISO 8601, UTC, milliseconds */
    at: string
    durationMs: number
    url: string
    responseStatus: number | null
    error: string | null
  }>
  /** ISO 8601, UTC, milliseconds */
  createdAt: string
  /** ISO 8601, UTC, milliseconds */
  updatedAt: string
}

export interface DepositCreate {
  amountCents: number
  method?: "direct"
}

export interface DepositStarted {
  checkoutUrl?: string
  sessionId?: string
  deposited?: number
  method?: "direct"
  message?: string
}

export interface Endpoint {
  /** UUIDv7 */
  id: string
  /** UUIDv7 */
  connectionId: string
  provider: string
  /** Where the provider sends its events */
  url: string
  /** pending while it is being set up, closed when another one has taken its place */
  status: "pending" | "active" | "closed"
  /** UUIDv7 */
  agentId: string | null
  /** What it is for at the provider: a repository, a number */
  target: string | null
  /** ISO 8601, UTC, milliseconds */
  createdAt: string
}

export interface ExistingConnection {
  /** UUIDv7 */
  id: string
  connectorSlug: string
  label: string | null
  status: "pending" | "active" | "error" | "expired" | "revoked"
  accountName: string | null
  accountId: string | null
  scopes: string[]
  /** ISO 8601, UTC, milliseconds */
  lastUsedAt: string | null
  lastError: string | null
  /** ISO 8601, UTC, milliseconds */
  createdAt: string
  /** ISO 8601, UTC, milliseconds */
  updatedAt: string
  /** ISO 8601, UTC, milliseconds */
  deletedAt: string | null
  connection: Connection
  /** To be opened in a browser */
  oauthUrl: string | null
  /** Where to POST the credentials */
  credentialSubmitUrl: string | null
}

export interface Failure {
  success: false
  error: {
    code: "BAD_REQUEST" | "UNAUTHORIZED" | "PAYMENT_REQUIRED" | "FORBIDDEN" | "NOT_FOUND" | "CONFLICT" | "VALIDATION_ERROR" | "TOO_MANY_REQUESTS" | "INTERNAL_ERROR" | "SERVICE_UNAVAILABLE"
    message: string
  }
}

export interface File {
  /** UUIDv7 */
  id: string
  name: string
  mimeType: string | null
  /** Bytes */
  size: number
  /** UUIDv7 */
  parentId: string | null
  /** UUIDv7 */
  projectId: string | null
  source: "upload" | "folder" | "link"
  /** UUIDv7 */
  targetFileId: string | null
  tags: string[]
  isProtected: boolean
  status: "pending" | "ready"
  /** Shared by files with the same bytes; null until they are here */
  storageKey: string | null
  /** Where an API key downloads it; null for a folder */
  storageUrl: string | null
  /** SHA-256 of the bytes, in hex */
  contentHash: string | null
  /** UUIDv7 */
  createdBy: string
  /** ISO 8601, UTC, milliseconds */
  createdAt: string
  /** ISO 8601, UTC, milliseconds */
  updatedAt: string
}

export interface FileCreate {
  source?: "upload" | "folder" | "link"
  /** Any text without NUL, CR or LF */
  name?: string
  mimeType?: string
  size?: number
  /** UUIDv7 */
  parentId?: string | null
  /** UUIDv7 */
  projectId?: string | null
  /** UUIDv7 */
  targetFileId?: string
}

export interface FileCreated {
  file: File
  /** Takes the bytes by PUT, once, within an hour */
  uploadUrl?: string
}

export interface FilePatch {
  /** Any text without NUL, CR or LF */
  name?: string
  /** UUIDv7 */
  parentId?: string | null
  tags?: string[]
}

export interface FileUpload {
  file: Blob
  /** UUIDv7 */
  parentId?: string
  /** UUIDv7 */
  projectId?: string
}

export interface InboundEvent {
  /** The provider's own id, or the hash of the body */
  id: string
  type: string
  /** recorded: nothing to do; waiting and running: a turn is on its way; answered: the answer was sent; silent: it ended without one; failed: see error; unknown: the answer may or may not have arrived */
  status: "recorded" | "waiting" | "running" | "answered" | "silent" | "failed" | "unknown"
  sender: string | null
  /** UUIDv7 */
  turnId: string | null
  error: string | null
  /** ISO 8601, UTC, milliseconds */
  receivedAt: string
}

export interface Invitation {
  /** UUIDv7 */
  id: string
  org: {
    /** UUIDv7 */
    id: string
    name: string
  }
  role: "owner" | "admin" | "billing_manager" | "member"
  /** the name of the member who sent it */
  invitedBy: string
  /** ISO 8601, UTC, milliseconds */
  createdAt: string
}

export interface InvitationAccepted {
  /** UUIDv7 */
  memberId: string
  /** UUIDv7 */
  orgId: string
}

export interface InvitationDeclined {
  declined: true
}

export interface InvitationList {
  items: Invitation[]
}

export interface LinearBinding {
  /** UUIDv7 */
  id: string
  /** Linear's id of the organization whose events are received */
  organizationId: string
  /** Its name when it was bound */
  organizationName: string
  /** The connection whose token proved administration */
  connectionId: string
  /** The id of the user who bound it */
  boundBy: string
  /** ISO 8601, UTC, milliseconds */
  createdAt: string
}

export interface LinearBindingCreate {
  /** Your own Linear connection, made with the account of an administrator of the Linear organization */
  connectionId: string
}

export interface Me {
  user: {
    /** UUIDv7 */
    id: string
    email: string
    name: string
  }
  org: {
    /** UUIDv7 */
    id: string
    name: string
  }
  workspace: {
    /** UUIDv7 */
    id: string
    name: string
  } | null
  role: string
  permissions: string[]
  apiKey: {
    /** UUIDv7 */
    id: string
    name: string
    scopes: string[]
  } | null
}

export interface Member {
  /** UUIDv7 */
  id: string
  /** UUIDv7 */
  userId: string
  email: string
  name: string
  role: "owner" | "admin" | "billing_manager" | "member"
  /** ISO 8601, UTC, milliseconds */
  createdAt: string
  /** `invited`: has not accepted yet, and may do nothing in this org; set for people who signed in before or are in another org */
  status: "active" | "invited"
}

export interface MemberCreate {
  email: string
  name?: string
  role: "owner" | "admin" | "billing_manager" | "member"
  /** default: the org's default workspace */
  workspaceIds?: string[]
}

export interface MemberCreated {
  /** UUIDv7 */
  id: string
  /** UUIDv7 */
  userId: string
  email: string
  name: string
  role: "owner" | "admin" | "billing_manager" | "member"
  /** ISO 8601, UTC, milliseconds */
  createdAt: string
  /** `invited`: has not accepted yet, and may do nothing in this org; set for people who signed in before or are in another org */
  status: "active" | "invited"
  /** one-time, for 24 hours, for this org alone; shown once, to a caller who stepped up, for a person who has no password that opens this org */
  signInLink: string | null
}

export interface MemberPatch {
  role: "owner" | "admin" | "billing_manager" | "member"
}

export interface Message {
  /** UUIDv7 */
  id: string
  /** UUIDv7 */
  sessionId: string
  /** UUIDv7 */
  turnId: string
  role: "user" | "assistant"
  author: {
    type: "agent" | "user"
    /** UUIDv7 */
    id: string
    slug?: string
    name: string
    avatar?: string
  }
  parts: MessagePart[]
  /** ISO 8601, UTC, milliseconds */
  createdAt: string
}

export type MessagePart = {
  type: "text"
  text: string
} | {
  type: "reasoning"
  text: string
} | {
  type: "tool-call"
  toolCallId: string
  toolName: string
  input: unknown
} | {
  type: "tool-result"
  toolCallId: string
  toolName: string
  output: unknown
  isError: boolean
} | {
  type: "file"
  /** UUIDv7 */
  fileId: string
  name: string
  mimeType: string
  sizeBytes: number
} | {
  type: "error"
  code: string
  message: string
}

export interface Model {
  /** provider/model */
  id: string
  name: string
  provider: string
  available: boolean
  unavailableReason: string | null
  free: boolean
  /** Tokens; null when the provider does not tell */
  contextWindow: number | null
  maxOutputTokens: number | null
  capabilities: {
    tools: boolean
    vision: boolean
    reasoning: boolean
  }
  pricing: {
    /** Microcents for a million tokens; 10,000 microcents are a cent */
    input: number
    /** Microcents for a million tokens; 10,000 microcents are a cent */
    output: number
    /** Microcents for a million tokens; 10,000 microcents are a cent */
    cacheRead: number
    /** Microcents for a million tokens; 10,000 microcents are a cent */
    cacheWrite: number
  } | null
}

export interface OAuthCompletion {
  code: string
  state: string
}

export interface OAuthUrl {
  oauthUrl: string
}

export interface PasswordChange {
  /** not needed for the first password of this session */
  currentPassword?: string
  newPassword: string
  /** a code of the authenticator; needed with the current password of another org, when that org asks for one */
  totpCode?: string
}

export interface PasswordChanged {
  changed: true
}

export interface PaymentEventReceived {
  received: true
}

export interface Peer {
  /** UUIDv7 */
  id: string
  slug: string
  name: string
  description: string | null
  avatar: string
  isActive: boolean
  /** It lists this agent among its own peers */
  canReply: boolean
}

export interface PeerMessage {
  /** UUIDv7 */
  id: string
  /** UUIDv7 */
  sessionId: string
  /** UUIDv7 */
  turnId: string
  /** UUIDv7 */
  fromAgentId: string
  fromAgentSlug: string
  /** As it was when the message was written */
  fromAgentName: string
  fromAgentAvatar: string
  /** Written by the agent that is asked about */
  isSelf: boolean
  text: string
  parts: MessagePart[]
  /** ISO 8601, UTC, milliseconds */
  createdAt: string
}

export interface Preview {
  /** UUIDv7 */
  fileId: string
  name: string
  mimeType: string
  kind: "text" | "document" | "spreadsheet"
  /** There is more in the file than in here */
  truncated: boolean
  /** Up to 512 KB */
  text?: string
  /** Of a document: safe to show */
  html?: string
  sheets?: Array<{
    name: string
    rows: string[][]
    rowCount: number
    columnCount: number
    truncated: boolean
  }>
}

export interface Pricing {
  plans: Array<{
    id: string
    name: string
    description: string
    /** A month; null: made to measure */
    priceCents: number | null
    interval: "month"
    /** Granted for each month that is paid */
    includedCreditCents: number
    custom: boolean
    quotas: {
      /** The most bytes in files; null: unlimited */
      storedBytes: number | null
      /** The most files, folders and links; null: unlimited */
      files: number | null
      /** The most webhook events kept; null: unlimited */
      eventsKept: number | null
      /** The most webhooks; null: unlimited */
      webhooks: number | null
      /** The most agents; null: unlimited */
      agents: number | null
      /** The most connections; null: unlimited */
      connections: number | null
    }
  }>
  platformFee: {
    /** Hundredths of a percent */
    bps: number
    /** For this org, as of now */
    waived: boolean
  }
  models: Array<{
    id: string
    name: string
    provider: string
    free: boolean
    /** Microcents for a million tokens */
    inputMicrocents: number
    /** Microcents for a million tokens */
    outputMicrocents: number
    /** Microcents for a million tokens */
    cacheReadMicrocents: number
    /** Microcents for a million tokens */
    cacheWriteMicrocents: number
    /** As this org pays it now */
    withFee: {
      /** Microcents for a million tokens */
      inputMicrocents: number
      /** Microcents for a million tokens */
      outputMicrocents: number
      /** Microcents for a million tokens */
      cacheReadMicrocents: number
      /** Microcents for a million tokens */
      cacheWriteMicrocents: number
    }
  }>
  services: Array<{
    id: string
    unit: string
    /** 10,000 microcents are a cent */
    priceMicrocents: number
  }>
}

export interface Project {
  /** UUIDv7 */
  id: string
  name: string
  slug: string
  description: string | null
  instructions: string | null
  /** UUIDv7 */
  folderId: string
  /** ISO 8601, UTC, milliseconds */
  createdAt: string
  /** ISO 8601, UTC, milliseconds */
  updatedAt: string
}

export interface ProjectCreate {
  /** Any text without NUL, CR or LF */
  name: string
  description?: string | null
  instructions?: string | null
}

export interface ProjectPatch {
  /** Any text without NUL, CR or LF */
  name?: string
  description?: string | null
  instructions?: string | null
}

export interface Promotion {
  /** UUIDv7 */
  id: string
  code: string
  description: string | null
  amountCents: number
  /** Not used up yet */
  remainingCents: number
  /** ISO 8601, UTC, milliseconds */
  expiresAt: string | null
}

export interface ProviderKey {
  /** UUIDv7 */
  id: string
  provider: string
  label: string | null
  /** The beginning of a SHA-256, to tell keys apart */
  fingerprint: string
  /** ISO 8601, UTC, milliseconds */
  createdAt: string
}

export interface ProviderKeyCreate {
  provider: "openai" | "anthropic" | "google" | "openrouter" | "mistral" | "groq" | "xai" | "deepseek"
  /** Printable ASCII without blanks, as a header has to be */
  key: string
  label?: string | null
}

export interface Quota {
  /** What is limited. `files` counts folders and links, too */
  name: "storedBytes" | "files" | "eventsKept" | "webhooks" | "agents" | "connections"
  /** The most that the org may have; null: unlimited */
  limit: number | null
  /** What the org has now, in the same unit. It may be above a limit that was lowered */
  used: number
  unit: "bytes" | "count"
  /** The id of the org's plan; null on a server without plans */
  plan: string | null
  /** `operator`: the operator of the server set this limit for the org */
  source: "plan" | "operator"
  /** ISO 8601, UTC, milliseconds */
  lastRefusedAt: string | null
}

export interface QuotaList {
  items: Quota[]
}

export interface Receipt {
  received: true
  /** UUIDv7 */
  eventId: string
  /** It was here already; `eventId` is that of the first */
  duplicate: boolean
}

export interface Received {
  success: true
  data: {
    received: true
    /** It came before, and was dropped */
    duplicate: boolean
  }
}

export interface Recover {
  /** Failed deliveries that were created since then */
  since: string
}

export interface Recovered {
  queued: number
}

export interface Redeem {
  code: string
}

export interface RevokedConnection {
  deleted: true
  /** What came of giving the grant back to the provider; `pending` is tried again */
  providerRevocation: "revoked" | "pending" | "failed" | "unsupported"
}

export interface RpcFailure {
  jsonrpc: "2.0"
  id: string | number | null
  error: {
    code: number
    message: string
    data?: unknown
  }
}

export interface SecretRotate {
  /** For sources whose provider makes the secret; left out, one is made */
  secret?: string
  /** For discord: hexadecimal */
  publicKey?: string
}

export interface Session {
  /** UUIDv7 */
  id: string
  /** UUIDv7 */
  workspaceId: string
  /** UUIDv7 */
  projectId: string | null
  title: string | null
  status: "idle" | "running" | "requires_action"
  /** UUIDv7 */
  activeTurnId: string | null
  participants: Array<{
    type: "agent" | "user"
    /** UUIDv7 */
    id: string
    slug?: string
    name: string
    avatar?: string
  }>
  /** Yours, 16 KB at most; `relationship` in it is the server’s own */
  metadata: Record<string, unknown>
  messageCount: number
  /** ISO 8601, UTC, milliseconds */
  lastMessageAt: string | null
  /** ISO 8601, UTC, milliseconds */
  createdAt: string
  /** ISO 8601, UTC, milliseconds */
  updatedAt: string
}

export interface SessionCreate {
  /** The agent's UUID or its slug */
  agentId: string
  title?: string | null
  /** UUIDv7 */
  projectId?: string | null
  /** Yours, 16 KB at most; `relationship` in it is the server’s own */
  metadata?: Record<string, unknown>
}

export interface SessionPatch {
  title?: string | null
  /** UUIDv7 */
  projectId?: string | null
  /** Replaces the keys that it names; null removes one */
  metadata?: Record<string, unknown>
}

export interface SignIn {
  email: string
  password: string
}

export interface SignInCode {
  /** the authenticator's */
  code?: string
  backupCode?: string
}

export interface SignInLink {
  token: string
}

export interface SignedIn {
  /** true: send a code to /auth/sign-in/totp, there is no session yet */
  twoFactorRequired: boolean
}

export interface SignedOut {
  signedOut: true
}

export interface Spending {
  period: string
  /** ISO 8601, UTC, milliseconds */
  from: string
  /** ISO 8601, UTC, milliseconds */
  to: string
  summary: {
    /** Calls of models, free ones included */
    requestCount: number
    /** Those on the org's own provider key */
    byokRequestCount: number
    /** Cached ones included */
    inputTokens: number
    outputTokens: number
    cacheReadTokens: number
    cacheWriteTokens: number
    totalTokens: number
    /** 10,000 microcents are a cent */
    providerCostMicrocents: number
    /** 10,000 microcents are a cent */
    platformFeeMicrocents: number
    /** 10,000 microcents are a cent */
    totalChargedMicrocents: number
    /** Whole cents of it */
    totalChargedCents: number
  }
  daily: Array<{
    date: string
    /** Calls of models, free ones included */
    requestCount: number
    /** Those on the org's own provider key */
    byokRequestCount: number
    /** Cached ones included */
    inputTokens: number
    outputTokens: number
    cacheReadTokens: number
    cacheWriteTokens: number
    totalTokens: number
    /** 10,000 microcents are a cent */
    providerCostMicrocents: number
    /** 10,000 microcents are a cent */
    platformFeeMicrocents: number
    /** 10,000 microcents are a cent */
    totalChargedMicrocents: number
    /** Whole cents of it */
    totalChargedCents: number
  }>
  topAgents: Array<{
    id: string | null
    name: string
    /** Calls of models, free ones included */
    requestCount: number
    /** Those on the org's own provider key */
    byokRequestCount: number
    /** Cached ones included */
    inputTokens: number
    outputTokens: number
    cacheReadTokens: number
    cacheWriteTokens: number
    totalTokens: number
    /** 10,000 microcents are a cent */
    providerCostMicrocents: number
    /** 10,000 microcents are a cent */
    platformFeeMicrocents: number
    /** 10,000 microcents are a cent */
    totalChargedMicrocents: number
    /** Whole cents of it */
    totalChargedCents: number
    /** Of what was charged in all, from 0 to 1 */
    share: number
  }>
  topModels: Array<{
    id: string | null
    name: string
    /** Calls of models, free ones included */
    requestCount: number
    /** Those on the org's own provider key */
    byokRequestCount: number
    /** Cached ones included */
    inputTokens: number
    outputTokens: number
    cacheReadTokens: number
    cacheWriteTokens: number
    totalTokens: number
    /** 10,000 microcents are a cent */
    providerCostMicrocents: number
    /** 10,000 microcents are a cent */
    platformFeeMicrocents: number
    /** 10,000 microcents are a cent */
    totalChargedMicrocents: number
    /** Whole cents of it */
    totalChargedCents: number
    /** Of what was charged in all, from 0 to 1 */
    share: number
  }>
}

export interface StartedConnection {
  connection: Connection
  /** To be opened in a browser */
  oauthUrl: string | null
  /** Where to POST the credentials */
  credentialSubmitUrl: string | null
}

export interface StepUp {
  password?: string
  totpCode?: string
}

export interface StepUpToken {
  token: string
  /** ISO 8601, UTC, milliseconds */
  expiresAt: string
}

export interface SubscriptionCreate {
  planId: string
}

export interface SubscriptionEnded {
  planId: string
  cancelAtPeriodEnd: true
  /** ISO 8601, UTC, milliseconds */
  currentPeriodEnd: string | null
}

export interface SubscriptionStarted {
  checkoutUrl: string
  sessionId: string
  planId: string
}

export interface ToolAgreement {
  /** offered.hash of the tools that you agree to */
  hash: string
}

export interface TransactionPage {
  items: Array<{
    /** UUIDv7 */
    id: string
    type: "deposit" | "usage" | "refund" | "adjustment" | "platform_fee"
    /** Signed: what it does to the balance */
    amountCents: number
    balanceAfterCents: number
    paymentIntentId?: string
    notes: string | null
    /** ISO 8601, UTC, milliseconds */
    createdAt: string
  }>
  page: number
  limit: number
  /** all items, on all pages */
  total: number
  hasMore: boolean
  nextCursor: string | null
}

export interface Turn {
  /** UUIDv7 */
  id: string
  /** UUIDv7 */
  sessionId: string
  /** UUIDv7 */
  agentId: string
  /** UUIDv7 */
  userId: string
  model: string
  /** The turn that began it all, when agents wrote to one another; else its own id */
  chainId: string
  /** How many messages between agents lead from that turn to this one */
  hop: number
  /** Exchanges at the beginning of the conversation that no longer fit what its model reads */
  leftOutExchanges: number
  /** Where the first untrusted content came from that it has read: the name of a tool, chat, person, peer or project. Null: it has read none */
  untrustedFrom: string | null
  status: "queued" | "running" | "requires_action" | "completed" | "failed" | "cancelled" | "incomplete"
  stopReason: "stop" | "cancelled" | "max_steps" | "max_time" | "max_tokens" | "max_cost" | "content_filter" | "stream_truncated" | "error" | null
  error: {
    code: string
    message: string
  } | null
  /** UUIDv7 */
  replyId: string
  maxSteps: number
  maxCostCents: number | null
  /** How often a worker took it up: more than once after a crash or an approval */
  attempts: number
  usage: {
    /** The whole prompt, with what came from or went to a cache */
    inputTokens: number
    outputTokens: number
    cacheReadTokens: number
    cacheWriteTokens: number
    totalTokens: number
    isEstimate: boolean
  }
  pricing: {
    /** Microcents for a million tokens */
    input: number
    /** Microcents for a million tokens */
    output: number
    /** Microcents for a million tokens */
    cacheRead: number
    /** Microcents for a million tokens */
    cacheWrite: number
  }
  /** What the model's provider is paid; 10,000 microcents are a cent */
  costMicrocents: number
  platformFeeMicrocents: number
  /** What the org is charged: cost and fee, or only the fee on its own provider key */
  chargedMicrocents: number
  steps: Array<{
    step: number
    /** Which call of the model for this step */
    attempt: number
    /** lost: the process that made the call was killed before its end */
    status: "running" | "completed" | "failed" | "lost" | "cancelled"
    finishReason: string | null
    /** The whole prompt, with what came from or went to a cache */
    inputTokens: number
    outputTokens: number
    cacheReadTokens: number
    cacheWriteTokens: number
    /** The provider told no tokens, or more than there can be; they are counted from the text */
    isEstimate: boolean
    costMicrocents: number
    error: {
      code: string
      message: string
    } | null
    /** ISO 8601, UTC, milliseconds */
    startedAt: string
    /** ISO 8601, UTC, milliseconds */
    endedAt: string | null
  }>
  toolCalls: Array<{
    id: string
    step: number
    toolName: string
    input: unknown
    /** unknown: it was running when its process was killed; nobody knows what came of it */
    status: "waiting" | "started" | "done" | "failed" | "unknown" | "denied" | "cancelled"
    output: unknown
    attempts: number
    /** UUIDv7 */
    approvalId: string | null
    /** ISO 8601, UTC, milliseconds */
    startedAt: string | null
    /** ISO 8601, UTC, milliseconds */
    endedAt: string | null
  }>
  /** What a person has to decide before it goes on */
  approvals: Array<{
    /** UUIDv7 */
    approvalId: string
    toolCallId: string
    toolName: string
    input: unknown
    /** It was running when its process was killed; else it has not run yet */
    isRepeated: boolean
    /** consent: may this agent use the person's connections to the connector; `true` allows it until somebody else changes the agent. approval: run this call. repeat: run it again; nobody knows whether it ran */
    kind: "consent" | "approval" | "repeat"
    /** Why it is asked, for the person */
    reason: string
    agent: {
      /** UUIDv7 */
      id: string
      slug: string
      name: string
    }
    /** The slug of the connector whose connection the tool uses */
    connector: string | null
    /** The version of the agent that a consent is given for */
    authorityVersion: number | null
    /** Of a consent: who changed the agent last. Null when that is not known */
    changedBy: {
      /** UUIDv7 */
      id: string
      name: string
    } | null
    /** ISO 8601, UTC, milliseconds */
    changedAt: string | null
    /** The source of untrusted content because of which it is asked: the name of a tool, chat, person, peer or project */
    untrustedFrom: string | null
    /** Whether the caller may decide this */
    canDecide: boolean
    cannotDecideReason: string | null
  }>
  /** ISO 8601, UTC, milliseconds */
  createdAt: string
  /** ISO 8601, UTC, milliseconds */
  startedAt: string | null
  /** ISO 8601, UTC, milliseconds */
  endedAt: string | null
}

export interface TurnAnswer {
  turn: Turn
  message?: {
    /** UUIDv7 */
    id: string
    /** UUIDv7 */
    sessionId: string
    /** UUIDv7 */
    turnId: string
    role: "user" | "assistant"
    author: {
      type: "agent" | "user"
      /** UUIDv7 */
      id: string
      slug?: string
      name: string
      avatar?: string
    }
    parts: MessagePart[]
    /** ISO 8601, UTC, milliseconds */
    createdAt: string
  } | null
}

export interface TurnCreate {
  text?: string
  fileIds?: string[]
  /** Another agent than the session's, by UUID or slug */
  agentId?: string
  /** Calls of the model; 16 */
  maxSteps?: number
  maxCostCents?: number
  /** When a turn of the session is under way: wait for it (the default), refuse, or cancel it */
  onBusy?: "enqueue" | "reject" | "interrupt"
  /** In place of text: go on with the last turn, which a limit ended before its time */
  continue?: boolean
  /** Answer 202 at once */
  background?: boolean
  /** In place of text: the messages of the AI SDK's useChat; the last one counts */
  messages?: UiMessage[]
  trigger?: string
}

export interface TwoFactorBegin {
  password: string
}

export interface TwoFactorConfirm {
  code: string
}

export interface TwoFactorEnabled {
  enabled: true
}

export interface TwoFactorSecret {
  /** base32, for typing */
  secret: string
  /** for a QR code */
  otpauthUri: string
  /** each signs in once in place of a code */
  backupCodes: string[]
}

export interface UiMessage {
  role: string
  parts: Array<{
    type: string
    text?: string
    url?: string
    state?: string
    approval?: {
      id: string
      approved?: boolean
    }
  }>
}

export interface Updated {
  updated: true
}

export interface Verified {
  valid: boolean
  /** What is wrong */
  reason: string | null
}

export interface Webhook {
  /** UUIDv7 */
  id: string
  name: string
  /** Where events are forwarded to; the receive URL when nowhere */
  url: string
  /** Decides how requests are verified */
  source: string
  description: string | null
  /** Types that are let through; empty: all of them */
  events: string[]
  status: "active" | "paused" | "disabled"
  /** Why the server itself disabled it */
  statusReason: string | null
  /** Whether the status is active */
  enabled: boolean
  /** Deliveries that were attempted */
  deliveryCount: number
  /** ISO 8601, UTC, milliseconds */
  lastDeliveryAt: string | null
  /** ISO 8601, UTC, milliseconds */
  createdAt: string
  /** ISO 8601, UTC, milliseconds */
  updatedAt: string
  /** Where providers send events to; needs no API key */
  receiveUrl: string
}

export interface WebhookCreate {
  name: string
  /** A public http(s) URL. Null or empty: events are only recorded */
  url?: string | null
  /** github, gitlab, jira, stripe, slack, linear, shopify, telegram, twilio, discord, hmac or token verify by that native scheme; custom and anything else by Standard Webhooks */
  source?: string
  description?: string | null
  /** Types to let through, such as `invoice.paid` or `invoice.*`; empty: all */
  events?: string[]
  /** For sources whose provider makes the secret; left out, one is made */
  secret?: string
  /** For discord: hexadecimal */
  publicKey?: string
}

export interface WebhookEvent {
  /** UUIDv7 */
  id: string
  /** UUIDv7 */
  webhookId: string
  webhookName: string
  type: string
  /** The provider's id of the event */
  externalId: string | null
  /** JSON, the fields of a form, or text; null in lists when larger than 64 KB */
  payload: unknown
  /** Length of the body */
  sizeBytes: number
  /** Those that say something of the event */
  headers: Record<string, string>
  /** filtered: its type is off the allowlist */
  status: "recorded" | "filtered"
  /** ISO 8601, UTC, milliseconds */
  receivedAt: string
}

export interface WebhookTest {
  /** UUIDv7 */
  webhookId: string
  type?: string
  /** Any JSON */
  payload?: unknown
}

export interface WebhookVerify {
  /** UUIDv7 */
  webhookId: string
  /** The raw body */
  payload: string
  /** By names in any case */
  headers: Record<string, string>
  /** For twilio: the URL that was called; the receive URL if left out */
  url?: string
}

export interface WebhookWithSecret {
  /** UUIDv7 */
  id: string
  name: string
  /** Where events are forwarded to; the receive URL when nowhere */
  url: string
  /** Decides how requests are verified */
  source: string
  description: string | null
  /** Types that are let through; empty: all of them */
  events: string[]
  status: "active" | "paused" | "disabled"
  /** Why the server itself disabled it */
  statusReason: string | null
  /** Whether the status is active */
  enabled: boolean
  /** Deliveries that were attempted */
  deliveryCount: number
  /** ISO 8601, UTC, milliseconds */
  lastDeliveryAt: string | null
  /** ISO 8601, UTC, milliseconds */
  createdAt: string
  /** ISO 8601, UTC, milliseconds */
  updatedAt: string
  /** Where providers send events to; needs no API key */
  receiveUrl: string
  /** Told this once */
  secret: string
}

export interface Workspace {
  /** UUIDv7 */
  id: string
  name: string
  slug: string
  isDefault: boolean
  /** ISO 8601, UTC, milliseconds */
  createdAt: string
  /** ISO 8601, UTC, milliseconds */
  updatedAt: string
}

export interface WorkspaceCreate {
  name: string
}

export interface WorkspaceMember {
  /** UUIDv7 */
  userId: string
  email: string
  name: string
  role: "owner" | "admin" | "billing_manager" | "member"
  /** ISO 8601, UTC, milliseconds */
  createdAt: string
}

export interface WorkspaceMemberAdd {
  /** UUIDv7 */
  userId: string
}

/** Every route below /api/v1 with what it takes and what its answer carries in `data`. */
export interface Routes {
  /** Agents of the call's workspace and the org's default agent, last changed first */
  'GET /agents': {
    query?: {
      /** Unset: everything, up to 1000 items */
      limit?: number
      /** nextCursor of the page before */
      cursor?: string
    }
    data: {
      items: Agent[]
      nextCursor: string | null
    }
  }
  /** Create an agent */
  'POST /agents': {
    body: AgentCreate
    data: Agent
  }
  /** One agent */
  'GET /agents/:id': {
    params: {
      /** The agent's UUID or its slug */
      id: string
    }
    data: Agent
  }
  /** Change an agent */
  'PATCH /agents/:id': {
    params: {
      /** The agent's UUID or its slug */
      id: string
    }
    body: AgentPatch
    data: Agent
  }
  /** Delete an agent */
  'DELETE /agents/:id': {
    params: {
      /** The agent's UUID or its slug */
      id: string
    }
    data: Deleted
  }
  /** List your consents for an agent */
  'GET /agents/:id/consents': {
    params: {
      /** The agent's UUID or its slug */
      id: string
    }
    data: ConsentList
  }
  /** Let an agent use your connections to a connector */
  'PUT /agents/:id/consents/:connectorSlug': {
    params: {
      /** The agent's UUID or its slug */
      id: string
      /** The slug of a connector, such as `github` */
      connectorSlug: string
    }
    body: ConsentPut
    data: Consent
  }
  /** Withdraw a consent */
  'DELETE /agents/:id/consents/:connectorSlug': {
    params: {
      /** The agent's UUID or its slug */
      id: string
      /** The slug of a connector, such as `github` */
      connectorSlug: string
    }
    data: Deleted
  }
  /** What agents wrote in an agent's sessions with its peers, newest first */
  'GET /agents/:id/messages': {
    params: {
      /** The agent's UUID or its slug */
      id: string
    }
    query?: {
      limit?: number
      /** nextCursor of the page before */
      cursor?: string
    }
    data: {
      items: PeerMessage[]
      nextCursor: string | null
    }
  }
  /** Agents that this agent may message */
  'GET /agents/:id/peers': {
    params: {
      /** The agent's UUID or its slug */
      id: string
    }
    data: {
      items: Peer[]
      nextCursor: string | null
    }
  }
  /** Sessions in which an agent takes part, last changed first */
  'GET /agents/:id/sessions': {
    params: {
      /** The agent's UUID or its slug */
      id: string
    }
    query?: {
      /** Unset: everything, up to 1,000 items */
      limit?: number
      /** nextCursor of the page before */
      cursor?: string
    }
    data: {
      items: Session[]
      nextCursor: string | null
    }
  }
  /** The caller's API keys; for owners and admins, all of the org */
  'GET /api-keys': {
    query?: {
      limit?: number
      /** nextCursor of the page before */
      cursor?: string
    }
    data: {
      items: ApiKey[]
      nextCursor: string | null
    }
  }
  /** Mint an API key for the caller */
  'POST /api-keys': {
    body: ApiKeyCreate
    data: ApiKeyCreated
  }
  /** Revoke an API key */
  'DELETE /api-keys/:id': {
    params: {
      /** UUIDv7 */
      id: string
    }
    data: Deleted
  }
  /** Who changed what, newest first */
  'GET /audit-log': {
    query?: {
      limit?: number
      /** nextCursor of the page before */
      cursor?: string
      action?: string
      /** UUIDv7 */
      actorId?: string
      /** ISO 8601, UTC, milliseconds */
      since?: string
      /** ISO 8601, UTC, milliseconds */
      until?: string
    }
    data: {
      items: AuditEntry[]
      nextCursor: string | null
    }
  }
  /** Change the password */
  'POST /auth/password': {
    body: PasswordChange
    data: PasswordChanged
  }
  /** Who this browser is signed in as */
  'GET /auth/session': {
    data: {
      user: {
        /** UUIDv7 */
        id: string
        email: string
        name: string
        hasPassword: boolean
        twoFactorEnabled: boolean
      }
      orgs: Array<{
        /** UUIDv7 */
        id: string
        name: string
        role: "owner" | "admin" | "billing_manager" | "member"
      }>
      /** ISO 8601, UTC, milliseconds */
      expiresAt: string
      /** attempts to sign in as this person that failed between the sign-in before this one and this one; null: none */
      failedSignIns: {
        /** failed attempts */
        count: number
        /** ISO 8601, UTC, milliseconds */
        lastAt: string
        /** the latest IP addresses that they came from */
        addresses: string[]
      } | null
    } | null
  }
  /** Sign in by password */
  'POST /auth/sign-in': {
    body: SignIn
    data: SignedIn
  }
  /** Sign in by a one-time link */
  'POST /auth/sign-in/link': {
    body: SignInLink
    data: SignedIn
  }
  /** Confirm a sign-in by a code */
  'POST /auth/sign-in/totp': {
    body: SignInCode
    data: SignedIn
  }
  /** End the session of this browser */
  'POST /auth/sign-out': {
    data: SignedOut
  }
  /** Prove that it is you */
  'POST /auth/step-up': {
    body: StepUp
    data: StepUpToken
  }
  /** Begin two-factor authentication */
  'POST /auth/two-factor': {
    body: TwoFactorBegin
    data: TwoFactorSecret
  }
  /** Remove two-factor authentication */
  'DELETE /auth/two-factor': {
    data: Deleted
  }
  /** Confirm two-factor authentication by a first code */
  'POST /auth/two-factor/confirm': {
    body: TwoFactorConfirm
    data: TwoFactorEnabled
  }
  /** Balance, usage of this month, last transactions, and what becomes of automatic top-up */
  'GET /billing': {
    data: BillingSnapshot
  }
  /** Change automatic top-up and spending limits */
  'PATCH /billing': {
    body: BillingPatch
    data: Updated
  }
  /** The org's own keys for model providers, newest first */
  'GET /billing/byok-keys': {
    query?: {
      limit?: number
      /** nextCursor of the page before */
      cursor?: string
    }
    data: {
      items: ProviderKey[]
      nextCursor: string | null
    }
  }
  /** Store a key for a model provider */
  'POST /billing/byok-keys': {
    body: ProviderKeyCreate
    data: ProviderKey
  }
  /** Remove a key */
  'DELETE /billing/byok-keys/:id': {
    params: {
      /** UUIDv7 */
      id: string
    }
    data: Deleted
  }
  /** Start a deposit: the address of a page to pay on or, outside production, the deposit itself */
  'POST /billing/deposit': {
    body: DepositCreate
    data: DepositStarted
  }
  /** Plans, platform fee and what models cost */
  'GET /billing/pricing': {
    data: Pricing
  }
  /** Redeem a promotion */
  'POST /billing/promotions/redeem': {
    body: Redeem
    data: Promotion
  }
  /** Spending of a period: in all, day by day, largest agents and models */
  'GET /billing/spending': {
    query?: {
      /** today, week, month, year, all, 7d, 30d or 90d; anything else means month. In UTC. */
      period?: string
    }
    data: Spending
  }
  /** Spending by agent */
  'GET /billing/spending/by-agent': {
    query?: {
      /** today, week, month, year, all, 7d, 30d or 90d; anything else means month. In UTC. */
      period?: string
    }
    data: Breakdown
  }
  /** Spending by model */
  'GET /billing/spending/by-model': {
    query?: {
      /** today, week, month, year, all, 7d, 30d or 90d; anything else means month. In UTC. */
      period?: string
    }
    data: Breakdown
  }
  /** Spending by project */
  'GET /billing/spending/by-project': {
    query?: {
      /** today, week, month, year, all, 7d, 30d or 90d; anything else means month. In UTC. */
      period?: string
    }
    data: Breakdown
  }
  /** Let the plan end with the month that is paid */
  'POST /billing/subscriptions/cancel': {
    data: SubscriptionEnded
  }
  /** Start the checkout of a monthly plan */
  'POST /billing/subscriptions/checkout': {
    body: SubscriptionCreate
    data: SubscriptionStarted
  }
  /** The ledger, newest first */
  'GET /billing/transactions': {
    query?: {
      limit?: number
      page?: number
      /** nextCursor of the page before */
      cursor?: string
      /** deposit, usage, refund, adjustment or platform_fee; anything else means no filter */
      type?: string
    }
    data: TransactionPage
  }
  /** For Stripe: its signed events */
  'POST /billing/webhooks/stripe': {
    data: PaymentEventReceived
  }
  /** Your connections, newest first */
  'GET /connections': {
    query?: {
      /** Unset: everything, up to 1,000 */
      limit?: number
      /** nextCursor of the page before */
      cursor?: string
    }
    data: {
      items: Connection[]
      nextCursor: string | null
    }
  }
  /** Start a connection */
  'POST /connections': {
    body: ConnectionCreate
    data: ExistingConnection | StartedConnection
  }
  /** Where an OAuth provider sends the browser back to */
  'GET /connections/oauth/callback': {
    query?: {
      code?: string
      state?: string
      error?: string
    }
    data: unknown
  }
  /** Confirm a connection on the page that the callback showed */
  'POST /connections/oauth/callback': {
    body: OAuthCompletion
    data: unknown
  }
  /** Start or repair a connection and go to the provider */
  'GET /connections/oauth/start': {
    query: {
      /** Slug of the connector */
      connector: string
      /** Tells several connections to one connector apart */
      label?: string
    }
    data: unknown
  }
  /** One of your connections */
  'GET /connections/:id': {
    params: {
      /** UUIDv7 */
      id: string
    }
    data: Connection
  }
  /** Revoke a connection, here and at the provider */
  'DELETE /connections/:id': {
    params: {
      /** UUIDv7 */
      id: string
    }
    data: RevokedConnection
  }
  /** Complete or repair a connection with credentials */
  'POST /connections/:id/credentials': {
    params: {
      /** UUIDv7 */
      id: string
    }
    body: Credentials
    data: Connection
  }
  /** Where the provider sends the events of a connection */
  'GET /connections/:id/endpoints': {
    params: {
      /** UUIDv7 */
      id: string
    }
    data: {
      items: Endpoint[]
      nextCursor: string | null
    }
  }
  /** What came to an endpoint within the last 8 days, newest first, and what became of it */
  'GET /connections/:id/endpoints/:endpointId/events': {
    params: {
      /** UUIDv7 */
      id: string
      /** UUIDv7 */
      endpointId: string
    }
    query?: {
      limit?: number
      /** nextCursor of the page before */
      cursor?: string
    }
    data: {
      items: InboundEvent[]
      nextCursor: string | null
    }
  }
  /** Where to go to complete or repair a connection */
  'GET /connections/:id/oauth': {
    params: {
      /** UUIDv7 */
      id: string
    }
    data: OAuthUrl
  }
  /** Complete a connection with the code that the provider sent back */
  'POST /connections/:id/oauth': {
    params: {
      /** UUIDv7 */
      id: string
    }
    body: OAuthCompletion
    data: Connection
  }
  /** What agents can do with a connection */
  'GET /connections/:id/tools': {
    params: {
      /** UUIDv7 */
      id: string
    }
    data: ConnectionTools
  }
  /** Agree to the tools that an MCP server has now */
  'POST /connections/:id/tools': {
    params: {
      /** UUIDv7 */
      id: string
    }
    body: ToolAgreement
    data: ConnectionTools
  }
  /** What can be connected on this server */
  'GET /connectors': {
    data: {
      items: ConnectorEntry[]
      nextCursor: string | null
    }
  }
  /** Receive a provider's event */
  'POST /connectors/webhooks/:provider/:endpointId': {
    params: {
      /** telegram, slack, discord, twilio, gmail, github, linear, jira or stripe */
      provider: string
      /** As `atrium setup-webhook` made it */
      endpointId: string
    }
    data: undefined
  }
  /** List or search a folder */
  'GET /files': {
    query?: {
      limit?: number
      page?: number
      /** nextCursor of the page before */
      cursor?: string
      /** Any part of the name, in any case */
      search?: string
      /** With search: everything below the folder, too */
      recursive?: boolean
      /** UUIDv7 */
      parentId?: string
      /** UUIDv7 */
      projectId?: string
    }
    data: {
      items: File[]
      page: number
      limit: number
      /** all items, on all pages */
      total: number
      hasMore: boolean
      nextCursor: string | null
    }
  }
  /** Upload a file, create a folder or create a link */
  'POST /files': {
    body: FileCreate | FormData
    data: FileCreated
  }
  /** The metadata of a file, a redirect to its bytes, or its bytes for display */
  'GET /files/:id': {
    params: {
      /** UUIDv7 */
      id: string
    }
    query?: {
      /** Redirect to a signed URL of the bytes */
      download?: boolean
      /** With download: answer the bytes themselves, for display */
      inline?: boolean
    }
    data: File
  }
  /** Rename, move or retag */
  'PATCH /files/:id': {
    params: {
      /** UUIDv7 */
      id: string
    }
    body: FilePatch
    data: File
  }
  /** Delete a file, or a folder with all that is in it */
  'DELETE /files/:id': {
    params: {
      /** UUIDv7 */
      id: string
    }
    data: Deleted
  }
  /** The bytes of a file, by a signed URL */
  'GET /files/:id/content': {
    params: {
      /** UUIDv7 */
      id: string
    }
    query?: {
      token?: string
    }
    data: unknown
  }
  /** Send the bytes of a pending file, by its signed URL */
  'PUT /files/:id/content': {
    params: {
      /** UUIDv7 */
      id: string
    }
    query?: {
      token?: string
    }
    data: {
      file: File
    }
  }
  /** What a person sees of a text, document or spreadsheet */
  'GET /files/:id/preview': {
    params: {
      /** UUIDv7 */
      id: string
    }
    data: Preview
  }
  /** Who is calling */
  'GET /me': {
    data: Me
  }
  /** List your invitations */
  'GET /me/invitations': {
    data: InvitationList
  }
  /** Accept an invitation */
  'POST /me/invitations/:id/accept': {
    params: {
      /** UUIDv7 */
      id: string
    }
    data: InvitationAccepted
  }
  /** Decline an invitation */
  'POST /me/invitations/:id/decline': {
    params: {
      /** UUIDv7 */
      id: string
    }
    data: InvitationDeclined
  }
  /** Members of the org */
  'GET /members': {
    query?: {
      limit?: number
      /** nextCursor of the page before */
      cursor?: string
      /** members (`active`, the default) or people who have not accepted yet (`invited`) */
      status?: "active" | "invited"
    }
    data: {
      items: Member[]
      nextCursor: string | null
    }
  }
  /** Add a member */
  'POST /members': {
    body: MemberCreate
    data: MemberCreated
  }
  /** One member */
  'GET /members/:id': {
    params: {
      /** UUIDv7 */
      id: string
    }
    data: Member
  }
  /** Change the role of a member */
  'PATCH /members/:id': {
    params: {
      /** UUIDv7 */
      id: string
    }
    body: MemberPatch
    data: Member
  }
  /** Remove a member */
  'DELETE /members/:id': {
    params: {
      /** UUIDv7 */
      id: string
    }
    data: Deleted
  }
  /** Models that agents may run on */
  'GET /models': {
    data: {
      items: Model[]
      nextCursor: string | null
    }
  }
  /** The projects of the organisation, oldest first */
  'GET /projects': {
    query?: {
      limit?: number
      /** nextCursor of the page before */
      cursor?: string
    }
    data: {
      items: Project[]
      nextCursor: string | null
    }
  }
  /** Create a project with its protected folder */
  'POST /projects': {
    body: ProjectCreate
    data: Project
  }
  /** One project */
  'GET /projects/:id': {
    params: {
      /** UUIDv7 */
      id: string
    }
    data: Project
  }
  /** Rename a project, with its folder, or change what it says */
  'PATCH /projects/:id': {
    params: {
      /** UUIDv7 */
      id: string
    }
    body: ProjectPatch
    data: Project
  }
  /** Delete a project with all its files */
  'DELETE /projects/:id': {
    params: {
      /** UUIDv7 */
      id: string
    }
    data: Deleted
  }
  /** List the org's quotas and what is used of each */
  'GET /quotas': {
    data: QuotaList
  }
  /** Sessions of the call's workspace, last changed first */
  'GET /sessions': {
    query?: {
      limit?: number
      /** nextCursor of the page before */
      cursor?: string
      /** Only those in which this agent takes part */
      agentId?: string
      /** UUIDv7 */
      projectId?: string
    }
    data: {
      items: Session[]
      nextCursor: string | null
    }
  }
  /** Begin a session */
  'POST /sessions': {
    body: SessionCreate
    data: Session
  }
  /** One session */
  'GET /sessions/:id': {
    params: {
      /** UUIDv7 */
      id: string
    }
    data: Session
  }
  /** Change a session */
  'PATCH /sessions/:id': {
    params: {
      /** UUIDv7 */
      id: string
    }
    body: SessionPatch
    data: Session
  }
  /** Delete a session */
  'DELETE /sessions/:id': {
    params: {
      /** UUIDv7 */
      id: string
    }
    data: Deleted
  }
  /** Cancel the turn that is under way, and those that wait behind it */
  'POST /sessions/:id/cancel': {
    params: {
      /** UUIDv7 */
      id: string
    }
    data: Cancelled
  }
  /** What was said in a session, newest first */
  'GET /sessions/:id/messages': {
    params: {
      /** UUIDv7 */
      id: string
    }
    query?: {
      limit?: number
      /** nextCursor of the page before */
      cursor?: string
    }
    data: {
      items: Message[]
      nextCursor: string | null
    }
  }
  /** Say something and have the agent answer: a chat turn */
  'POST /sessions/:id/messages': {
    params: {
      /** UUIDv7 */
      id: string
    }
    body: TurnCreate
    data: TurnAnswer
  }
  /** The stream of the turn that is under way in a session */
  'GET /sessions/:id/messages/:chatId/stream': {
    params: {
      /** UUIDv7 */
      id: string
      chatId: string
    }
    query?: {
      /** The last `id:` that was seen */
      after?: number
    }
    data: undefined
  }
  /** The stream of the turn that is under way in a session */
  'GET /sessions/:id/stream': {
    params: {
      /** UUIDv7 */
      id: string
    }
    query?: {
      /** The last `id:` that was seen */
      after?: number
    }
    data: undefined
  }
  /** A turn's receipt */
  'GET /turns/:id': {
    params: {
      /** UUIDv7 */
      id: string
    }
    data: Turn
  }
  /** Decide whether a tool is run */
  'POST /turns/:id/approvals': {
    params: {
      /** UUIDv7 */
      id: string
    }
    body: ApprovalDecision
    data: TurnAnswer
  }
  /** Cancel a turn */
  'POST /turns/:id/cancel': {
    params: {
      /** UUIDv7 */
      id: string
    }
    data: Cancelled
  }
  /** A turn's stream, from any frame on */
  'GET /turns/:id/stream': {
    params: {
      /** UUIDv7 */
      id: string
    }
    query?: {
      /** The last `id:` that was seen */
      after?: number
    }
    data: undefined
  }
  /** The org's webhooks, newest first */
  'GET /webhooks': {
    query?: {
      /** Unset: everything, up to 1000 items */
      limit?: number
      /** nextCursor of the page before */
      cursor?: string
    }
    data: {
      items: Webhook[]
      nextCursor: string | null
    }
  }
  /** Create a webhook; its secret is told this once */
  'POST /webhooks': {
    body: WebhookCreate
    data: WebhookWithSecret
  }
  /** The latest events of all the org's webhooks */
  'GET /webhooks/events': {
    query?: {
      limit?: number
      /** nextCursor of the page before */
      cursor?: string
    }
    data: {
      items: WebhookEvent[]
      nextCursor: string | null
    }
  }
  /** Receive the events of a Linear application's webhook */
  'POST /webhooks/linear': {
    data: Receipt
  }
  /** List the Linear organizations whose events this org receives */
  'GET /webhooks/linear/bindings': {
    data: {
      items: LinearBinding[]
      nextCursor: string | null
    }
  }
  /** Receive the events of a Linear organization in this org */
  'POST /webhooks/linear/bindings': {
    body: LinearBindingCreate
    data: LinearBinding
  }
  /** Stop receiving the events of a Linear organization */
  'DELETE /webhooks/linear/bindings/:id': {
    params: {
      /** UUIDv7 */
      id: string
    }
    data: Deleted
  }
  /** Where a provider sends events to; the signature is the proof */
  'POST /webhooks/receive/:webhookId': {
    params: {
      /** UUIDv7 */
      webhookId: string
    }
    data: Receipt | undefined
  }
  /** Record an event of your own, which goes the way of a received one */
  'POST /webhooks/test': {
    body: WebhookTest
    data: WebhookEvent
  }
  /** Check a signed payload, and hear what is wrong with it; nothing is recorded */
  'POST /webhooks/verify': {
    body: WebhookVerify
    data: Verified
  }
  /** One webhook */
  'GET /webhooks/:id': {
    params: {
      /** UUIDv7 */
      id: string
    }
    data: Webhook
  }
  /** Change a webhook */
  'PATCH /webhooks/:id': {
    params: {
      /** UUIDv7 */
      id: string
    }
    body: {
      name?: string
      /** A public http(s) URL. Null or empty: events are only recorded */
      url?: string | null
      /** github, gitlab, jira, stripe, slack, linear, shopify, telegram, twilio, discord, hmac or token verify by that native scheme; custom and anything else by Standard Webhooks */
      source?: string
      description?: string | null
      /** Types to let through, such as `invoice.paid` or `invoice.*`; empty: all */
      events?: string[]
      /** Counts only without `status` */
      enabled?: boolean
      status?: "active" | "paused" | "disabled"
    }
    data: Webhook
  }
  /** Delete a webhook for good, with its events and deliveries */
  'DELETE /webhooks/:id': {
    params: {
      /** UUIDv7 */
      id: string
    }
    data: Deleted
  }
  /** Deliveries of a webhook, newest first */
  'GET /webhooks/:id/deliveries': {
    params: {
      /** UUIDv7 */
      id: string
    }
    query?: {
      limit?: number
      /** nextCursor of the page before */
      cursor?: string
    }
    data: {
      items: Delivery[]
      nextCursor: string | null
    }
  }
  /** One delivery */
  'GET /webhooks/:id/deliveries/:deliveryId': {
    params: {
      /** UUIDv7 */
      id: string
      /** UUIDv7 */
      deliveryId: string
    }
    data: Delivery
  }
  /** Attempt a delivery once more, now */
  'POST /webhooks/:id/deliveries/:deliveryId/retry': {
    params: {
      /** UUIDv7 */
      id: string
      /** UUIDv7 */
      deliveryId: string
    }
    data: Delivery
  }
  /** Events that a webhook recorded, newest first */
  'GET /webhooks/:id/events': {
    params: {
      /** UUIDv7 */
      id: string
    }
    query?: {
      limit?: number
      /** nextCursor of the page before */
      cursor?: string
    }
    data: {
      items: WebhookEvent[]
      nextCursor: string | null
    }
  }
  /** One event */
  'GET /webhooks/:id/events/:eventId': {
    params: {
      /** UUIDv7 */
      id: string
      /** UUIDv7 */
      eventId: string
    }
    data: WebhookEvent
  }
  /** Forward an event once more */
  'POST /webhooks/:id/events/:eventId/replay': {
    params: {
      /** UUIDv7 */
      id: string
      /** UUIDv7 */
      eventId: string
    }
    data: Delivery
  }
  /** Attempt all deliveries once more that were created since a time and have failed */
  'POST /webhooks/:id/recover': {
    params: {
      /** UUIDv7 */
      id: string
    }
    body: Recover
    data: Recovered
  }
  /** Give a webhook a new secret; the old one stops verifying at once */
  'POST /webhooks/:id/rotate': {
    params: {
      /** UUIDv7 */
      id: string
    }
    body: SecretRotate
    data: WebhookWithSecret
  }
  /** Workspaces that the caller may see */
  'GET /workspaces': {
    query?: {
      limit?: number
      /** nextCursor of the page before */
      cursor?: string
    }
    data: {
      items: Workspace[]
      nextCursor: string | null
    }
  }
  /** Create a workspace */
  'POST /workspaces': {
    body: WorkspaceCreate
    data: Workspace
  }
  /** One workspace */
  'GET /workspaces/:id': {
    params: {
      /** UUIDv7 */
      id: string
    }
    data: Workspace
  }
  /** Rename a workspace */
  'PATCH /workspaces/:id': {
    params: {
      /** UUIDv7 */
      id: string
    }
    body: {
      name?: string
    }
    data: Workspace
  }
  /** Delete a workspace */
  'DELETE /workspaces/:id': {
    params: {
      /** UUIDv7 */
      id: string
    }
    data: Deleted
  }
  /** Who was added to a workspace */
  'GET /workspaces/:id/members': {
    params: {
      /** UUIDv7 */
      id: string
    }
    query?: {
      limit?: number
      /** nextCursor of the page before */
      cursor?: string
    }
    data: {
      items: WorkspaceMember[]
      nextCursor: string | null
    }
  }
  /** Add a member of the org to a workspace */
  'POST /workspaces/:id/members': {
    params: {
      /** UUIDv7 */
      id: string
    }
    body: WorkspaceMemberAdd
    data: WorkspaceMember
  }
  /** Take a member out of a workspace */
  'DELETE /workspaces/:id/members/:userId': {
    params: {
      /** UUIDv7 */
      id: string
      userId: string
    }
    data: Deleted
  }
}
