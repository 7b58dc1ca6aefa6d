# Made from docs/openapi.json by `npm run generate`.
from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Generic, Literal, NotRequired, TypeAlias, TypedDict, TypeVar, overload


T = TypeVar("T")


# A body that is not JSON: bytes and their media type.
RawBody: TypeAlias = tuple[bytes, str]


ErrorCode: TypeAlias = Literal["BAD_REQUEST", "UNAUTHORIZED", "PAYMENT_REQUIRED", "FORBIDDEN", "NOT_FOUND", "CONFLICT", "VALIDATION_ERROR", "TOO_MANY_REQUESTS", "INTERNAL_ERROR", "SERVICE_UNAVAILABLE", "NETWORK", "TIMEOUT", "INVALID_RESPONSE"]


# Routes that execute requests with the same Idempotency-Key once.
IDEMPOTENT_ROUTES: Final = frozenset(
    {
        "POST /agents",
        "POST /api-keys",
        "POST /billing/byok-keys",
        "POST /billing/deposit",
        "POST /billing/promotions/redeem",
        "POST /billing/subscriptions/cancel",
        "POST /billing/subscriptions/checkout",
        "POST /connections",
        "POST /connections/:id/credentials",
        "POST /connections/:id/oauth",
        "POST /connections/:id/tools",
        "POST /embeddings",
        "POST /event-endpoints",
        "POST /event-endpoints/transform-preview",
        "POST /event-endpoints/:id/deliveries/:deliveryId/retry",
        "POST /event-endpoints/:id/recover",
        "POST /event-endpoints/:id/rotate",
        "POST /event-endpoints/:id/test",
        "POST /files",
        "POST /files/:id/restore",
        "POST /files/:id/shares",
        "POST /files/:id/upload/complete",
        "POST /files/:id/versions/:version/restore",
        "POST /members",
        "POST /members/:id/sign-in-link",
        "POST /projects",
        "POST /sessions",
        "POST /sessions/:id/branch",
        "POST /sessions/:id/cancel",
        "POST /sessions/:id/messages",
        "POST /turns/:id/approvals",
        "POST /turns/:id/cancel",
        "POST /turns/:id/tool-outputs",
        "POST /webhooks",
        "POST /webhooks/linear/bindings",
        "POST /webhooks/test",
        "POST /webhooks/verify",
        "POST /webhooks/:id/deliveries/:deliveryId/retry",
        "POST /webhooks/:id/events/:eventId/replay",
        "POST /webhooks/:id/recover",
        "POST /webhooks/:id/rotate",
        "POST /workspaces",
        "POST /workspaces/:id/members",
    }
)


class Agent(TypedDict):
    # Unique ID, a UUID version 7.
    id: str
    # ID of the org that owns the agent.
    orgId: str
    # ID of the workspace of the agent. Null for the default agent of the org.
    workspaceId: str | None
    # Name of the agent.
    name: str
    # Short name, unique within the org. Made from the name.
    slug: str
    # What the agent is for, at most 5,000 characters.
    description: str | None
    # Avatar identifier.
    avatar: str
    # ID of the model that the agent runs on.
    model: str
    # System prompt of the model, at most 20,000 characters.
    systemPrompt: str | None
    # Names of the tools that the agent may use.
    allowedTools: list[str]
    # Slugs of the agents that the agent may message.
    allowedPeers: list[str]
    # Slugs of the connectors that the agent may use.
    allowedConnectors: list[str]
    # Whether the agent responds. Inactive agents stay listed.
    isActive: bool
    # Whether this is the default agent of the org, which every workspace sees.
    isDefault: bool
    # Settings of the agent, at most 32 KB as JSON. `voice` and `approvals` are normalised; other keys are stored as sent. `approvals` lists tools that need approval: a tool name (letter case ignored, `.` and `_` are the same), `*` for every tool that is not read-only, or a prefix such as `http__*`. Unknown tool names are rejected with BAD_REQUEST. `monthlyCapCents` is the most that the agent may be charged in a month. `reasoningEffort` is how much the model reasons before it responds: `none`, `low`, `medium` or `high`, by default as the provider decides; BAD_REQUEST for a model without the capability `reasoning`, except `none`. `fallbackModels` is a list of up to three models that are called, in this order, when a model is overloaded, fails or is silent before its first text. Default: empty.
    settings: dict[str, Any]
    # ID of the user who last changed the system prompt, model, tools, connectors, peers or approvals (without a system prompt, also the name or description). The agent uses the connections of this user without asking for consent. Null when unknown.
    authorityChangedBy: str | None
    # Incremented by each of these changes. A consent is valid for one version.
    authorityVersion: int
    # Time of creation.
    createdAt: str
    # Time of the last change.
    updatedAt: str
    # Time of deletion.
    deletedAt: str | None


class AgentConsentGivenEventSubject(TypedDict):
    # Type of resource.
    type: str
    # ID of the resource.
    id: str


class AgentConsentGivenEventChain(TypedDict):
    # ID of the first event of the chain.
    id: str
    # Number of events before this one.
    depth: int


class AgentConsentGivenEventData(TypedDict):
    # ID of the agent.
    agentId: str
    # Slug of the connector.
    connector: str
    # Whether the agent asks before it changes something after it has read untrusted content.
    askAfterUntrustedContent: bool


class AgentConsentGivenEvent(TypedDict):
    # ID of the event, also in the header `webhook-id`.
    id: str
    # Type of the event.
    type: Literal["agent.consent_given"]
    # Version of the schema of `data`.
    version: Literal[1]
    # Time of the change.
    timestamp: str
    # True for a test event, which is not in the log.
    isTest: NotRequired[bool]
    # ID of the org.
    orgId: str
    # ID of the workspace. Null for an event of the whole org.
    workspaceId: str | None
    actor: EventActor
    # What the event is about.
    subject: AgentConsentGivenEventSubject
    # Number of the event among those of its subject, from 1.
    sequence: int
    # Position in the log of the org, from 1. Increases in the order in which events became visible.
    position: int
    # The events that led to this one; see the loop guard in the guide on events.
    chain: AgentConsentGivenEventChain
    # What happened.
    data: AgentConsentGivenEventData


class AgentConsentWithdrawnEventSubject(TypedDict):
    # Type of resource.
    type: str
    # ID of the resource.
    id: str


class AgentConsentWithdrawnEventChain(TypedDict):
    # ID of the first event of the chain.
    id: str
    # Number of events before this one.
    depth: int


class AgentConsentWithdrawnEventData(TypedDict):
    # ID of the agent.
    agentId: str
    # Slug of the connector.
    connector: str


class AgentConsentWithdrawnEvent(TypedDict):
    # ID of the event, also in the header `webhook-id`.
    id: str
    # Type of the event.
    type: Literal["agent.consent_withdrawn"]
    # Version of the schema of `data`.
    version: Literal[1]
    # Time of the change.
    timestamp: str
    # True for a test event, which is not in the log.
    isTest: NotRequired[bool]
    # ID of the org.
    orgId: str
    # ID of the workspace. Null for an event of the whole org.
    workspaceId: str | None
    actor: EventActor
    # What the event is about.
    subject: AgentConsentWithdrawnEventSubject
    # Number of the event among those of its subject, from 1.
    sequence: int
    # Position in the log of the org, from 1. Increases in the order in which events became visible.
    position: int
    # The events that led to this one; see the loop guard in the guide on events.
    chain: AgentConsentWithdrawnEventChain
    # What happened.
    data: AgentConsentWithdrawnEventData


class AgentCreate(TypedDict):
    # Name, 1–255 characters after runs of white space are collapsed.
    name: str
    # What the agent is for, at most 5,000 characters. Default: none.
    description: NotRequired[str | None]
    # ID of a model from `GET /models`. Default: the default model of the server.
    model: NotRequired[str]
    # System prompt of the model, at most 20,000 characters. Default: none.
    systemPrompt: NotRequired[str | None]
    # Avatar identifier, 1–255 characters. The server does not interpret it. Default `default`.
    avatar: NotRequired[str]
    # Names of the tools that the agent may use. At most 100. Unknown names are stored but grant nothing. Default: an empty list, which grants nothing.
    allowedTools: NotRequired[list[str]]
    # Slugs of the agents that the agent may message. At most 100. Unknown names are stored but grant nothing. Default: an empty list, which grants nothing.
    allowedPeers: NotRequired[list[str]]
    # Slugs of the connectors that the agent may use. At most 100. Unknown names are stored but grant nothing. Default: an empty list, which grants nothing.
    allowedConnectors: NotRequired[list[str]]
    # Settings of the agent, at most 32 KB as JSON. `voice` and `approvals` are normalised; other keys are stored as sent. `approvals` lists tools that need approval: a tool name (letter case ignored, `.` and `_` are the same), `*` for every tool that is not read-only, or a prefix such as `http__*`. Unknown tool names are rejected with BAD_REQUEST. `monthlyCapCents` is the most that the agent may be charged in a month. `reasoningEffort` is how much the model reasons before it responds: `none`, `low`, `medium` or `high`, by default as the provider decides; BAD_REQUEST for a model without the capability `reasoning`, except `none`. `fallbackModels` is a list of up to three models that are called, in this order, when a model is overloaded, fails or is silent before its first text. Default: empty.
    settings: NotRequired[dict[str, Any]]


class AgentCreatedEventSubject(TypedDict):
    # Type of resource.
    type: str
    # ID of the resource.
    id: str


class AgentCreatedEventChain(TypedDict):
    # ID of the first event of the chain.
    id: str
    # Number of events before this one.
    depth: int


class AgentCreatedEventData(TypedDict):
    # ID of the agent.
    agentId: str
    # Name of the agent.
    name: str
    # Slug of the agent.
    slug: str
    # ID of its model.
    model: str


class AgentCreatedEvent(TypedDict):
    # ID of the event, also in the header `webhook-id`.
    id: str
    # Type of the event.
    type: Literal["agent.created"]
    # Version of the schema of `data`.
    version: Literal[1]
    # Time of the change.
    timestamp: str
    # True for a test event, which is not in the log.
    isTest: NotRequired[bool]
    # ID of the org.
    orgId: str
    # ID of the workspace. Null for an event of the whole org.
    workspaceId: str | None
    actor: EventActor
    # What the event is about.
    subject: AgentCreatedEventSubject
    # Number of the event among those of its subject, from 1.
    sequence: int
    # Position in the log of the org, from 1. Increases in the order in which events became visible.
    position: int
    # The events that led to this one; see the loop guard in the guide on events.
    chain: AgentCreatedEventChain
    # What happened.
    data: AgentCreatedEventData


class AgentDeletedEventSubject(TypedDict):
    # Type of resource.
    type: str
    # ID of the resource.
    id: str


class AgentDeletedEventChain(TypedDict):
    # ID of the first event of the chain.
    id: str
    # Number of events before this one.
    depth: int


class AgentDeletedEventData(TypedDict):
    # ID of the agent.
    agentId: str
    # Name of the agent.
    name: str
    # Slug of the agent.
    slug: str


class AgentDeletedEvent(TypedDict):
    # ID of the event, also in the header `webhook-id`.
    id: str
    # Type of the event.
    type: Literal["agent.deleted"]
    # Version of the schema of `data`.
    version: Literal[1]
    # Time of the change.
    timestamp: str
    # True for a test event, which is not in the log.
    isTest: NotRequired[bool]
    # ID of the org.
    orgId: str
    # ID of the workspace. Null for an event of the whole org.
    workspaceId: str | None
    actor: EventActor
    # What the event is about.
    subject: AgentDeletedEventSubject
    # Number of the event among those of its subject, from 1.
    sequence: int
    # Position in the log of the org, from 1. Increases in the order in which events became visible.
    position: int
    # The events that led to this one; see the loop guard in the guide on events.
    chain: AgentDeletedEventChain
    # What happened.
    data: AgentDeletedEventData


class AgentPatch(TypedDict):
    # Name, 1–255 characters after runs of white space are collapsed.
    name: NotRequired[str]
    # What the agent is for, at most 5,000 characters. Default: none.
    description: NotRequired[str | None]
    # ID of a model from `GET /models`. Default: the default model of the server.
    model: NotRequired[str]
    # System prompt of the model, at most 20,000 characters. Default: none.
    systemPrompt: NotRequired[str | None]
    # Avatar identifier, 1–255 characters. The server does not interpret it. Default `default`.
    avatar: NotRequired[str]
    # Names of the tools that the agent may use. At most 100. Unknown names are stored but grant nothing. Default: an empty list, which grants nothing.
    allowedTools: NotRequired[list[str]]
    # Slugs of the agents that the agent may message. At most 100. Unknown names are stored but grant nothing. Default: an empty list, which grants nothing.
    allowedPeers: NotRequired[list[str]]
    # Slugs of the connectors that the agent may use. At most 100. Unknown names are stored but grant nothing. Default: an empty list, which grants nothing.
    allowedConnectors: NotRequired[list[str]]
    # Settings to change. Keys that are not sent stay as they are; null removes a key.
    settings: NotRequired[dict[str, Any]]
    # Short name, 1–63 characters of `a-z`, `0-9` and single hyphens, unique within the org. Ignored for the default agent.
    slug: NotRequired[str]
    # Whether the agent responds. FORBIDDEN for the default agent.
    isActive: NotRequired[bool]


class AgentUpdatedEventSubject(TypedDict):
    # Type of resource.
    type: str
    # ID of the resource.
    id: str


class AgentUpdatedEventChain(TypedDict):
    # ID of the first event of the chain.
    id: str
    # Number of events before this one.
    depth: int


class AgentUpdatedEventData(TypedDict):
    # ID of the agent.
    agentId: str
    # Name of the agent.
    name: str
    # Slug of the agent.
    slug: str
    # Names of the fields that were sent to be changed.
    changed: list[str]


class AgentUpdatedEvent(TypedDict):
    # ID of the event, also in the header `webhook-id`.
    id: str
    # Type of the event.
    type: Literal["agent.updated"]
    # Version of the schema of `data`.
    version: Literal[1]
    # Time of the change.
    timestamp: str
    # True for a test event, which is not in the log.
    isTest: NotRequired[bool]
    # ID of the org.
    orgId: str
    # ID of the workspace. Null for an event of the whole org.
    workspaceId: str | None
    actor: EventActor
    # What the event is about.
    subject: AgentUpdatedEventSubject
    # Number of the event among those of its subject, from 1.
    sequence: int
    # Position in the log of the org, from 1. Increases in the order in which events became visible.
    position: int
    # The events that led to this one; see the loop guard in the guide on events.
    chain: AgentUpdatedEventChain
    # What happened.
    data: AgentUpdatedEventData


class ApiKey(TypedDict):
    # Unique ID, a UUID version 7.
    id: str
    # Name of the key, 1–120 characters.
    name: str
    # Beginning of the key, with its environment.
    prefix: str
    # Last four characters of the key.
    last4: str
    # ID of the user that the key stands for.
    userId: str
    # ID of the workspace of its calls. Null: the default workspace of the org.
    workspaceId: str | None
    # Permissions that the key is limited to. Empty: everything that its user may do.
    scopes: list[str]
    # Time of expiry. Null: never.
    expiresAt: str | None
    # Time of the last use, accurate to ten minutes. Null before the first.
    lastUsedAt: str | None
    # Time of revocation. Null for a valid key.
    revokedAt: str | None
    # Time of creation.
    createdAt: str


class ApiKeyCreate(TypedDict):
    # Name of the key, 1–120 characters.
    name: str
    # ID of the workspace of its calls. Default, also for null: the default workspace of the org.
    workspaceId: NotRequired[str | None]
    # Permissions to limit the key to, such as `files:read`, or `files:*` for all of an area. At most 50. Default: everything that its user may do.
    scopes: NotRequired[list[str]]
    # Time of expiry, in the future. Default, also for null: never.
    expiresAt: NotRequired[str | None]


class ApiKeyCreated(TypedDict):
    # Unique ID, a UUID version 7.
    id: str
    # Name of the key, 1–120 characters.
    name: str
    # Beginning of the key, with its environment.
    prefix: str
    # Last four characters of the key.
    last4: str
    # ID of the user that the key stands for.
    userId: str
    # ID of the workspace of its calls. Null: the default workspace of the org.
    workspaceId: str | None
    # Permissions that the key is limited to. Empty: everything that its user may do.
    scopes: list[str]
    # Time of expiry. Null: never.
    expiresAt: str | None
    # Time of the last use, accurate to ten minutes. Null before the first.
    lastUsedAt: str | None
    # Time of revocation. Null for a valid key.
    revokedAt: str | None
    # Time of creation.
    createdAt: str
    # The API key. Returned only here; store it in a safe place.
    key: str


class ApiKeyCreatedEventSubject(TypedDict):
    # Type of resource.
    type: str
    # ID of the resource.
    id: str


class ApiKeyCreatedEventChain(TypedDict):
    # ID of the first event of the chain.
    id: str
    # Number of events before this one.
    depth: int


class ApiKeyCreatedEventData(TypedDict):
    # ID of the API key.
    apiKeyId: str
    # Name of the key.
    name: str
    # Last four characters of the key.
    last4: str
    # ID of the person whose key it is.
    userId: str


class ApiKeyCreatedEvent(TypedDict):
    # ID of the event, also in the header `webhook-id`.
    id: str
    # Type of the event.
    type: Literal["api_key.created"]
    # Version of the schema of `data`.
    version: Literal[1]
    # Time of the change.
    timestamp: str
    # True for a test event, which is not in the log.
    isTest: NotRequired[bool]
    # ID of the org.
    orgId: str
    # ID of the workspace. Null for an event of the whole org.
    workspaceId: str | None
    actor: EventActor
    # What the event is about.
    subject: ApiKeyCreatedEventSubject
    # Number of the event among those of its subject, from 1.
    sequence: int
    # Position in the log of the org, from 1. Increases in the order in which events became visible.
    position: int
    # The events that led to this one; see the loop guard in the guide on events.
    chain: ApiKeyCreatedEventChain
    # What happened.
    data: ApiKeyCreatedEventData


class ApiKeyRevokedEventSubject(TypedDict):
    # Type of resource.
    type: str
    # ID of the resource.
    id: str


class ApiKeyRevokedEventChain(TypedDict):
    # ID of the first event of the chain.
    id: str
    # Number of events before this one.
    depth: int


class ApiKeyRevokedEventData(TypedDict):
    # ID of the API key.
    apiKeyId: str
    # Name of the key.
    name: str
    # Last four characters of the key.
    last4: str
    # ID of the person whose key it is.
    userId: str


class ApiKeyRevokedEvent(TypedDict):
    # ID of the event, also in the header `webhook-id`.
    id: str
    # Type of the event.
    type: Literal["api_key.revoked"]
    # Version of the schema of `data`.
    version: Literal[1]
    # Time of the change.
    timestamp: str
    # True for a test event, which is not in the log.
    isTest: NotRequired[bool]
    # ID of the org.
    orgId: str
    # ID of the workspace. Null for an event of the whole org.
    workspaceId: str | None
    actor: EventActor
    # What the event is about.
    subject: ApiKeyRevokedEventSubject
    # Number of the event among those of its subject, from 1.
    sequence: int
    # Position in the log of the org, from 1. Increases in the order in which events became visible.
    position: int
    # The events that led to this one; see the loop guard in the guide on events.
    chain: ApiKeyRevokedEventChain
    # What happened.
    data: ApiKeyRevokedEventData


class ApprovalAgent(TypedDict):
    # ID of the agent.
    id: str
    # Slug of the agent.
    slug: str
    # Name of the agent.
    name: str


class ApprovalChangedBy(TypedDict):
    # ID of the user.
    id: str
    # Name of the user.
    name: str


class ApprovalFormFieldsItemOptionsItem(TypedDict):
    # Value of the option.
    value: str
    # Label of the option.
    label: str


class ApprovalFormFieldsItem(TypedDict):
    # Name of the field in `answer`.
    key: str
    # Type of the value. `choice`: one of `options`. `choices`: a list of them.
    kind: Literal["text", "number", "integer", "boolean", "choice", "choices"]
    # Label of the field.
    label: str
    # Explanation of the field. Null without one.
    description: str | None
    # Whether a value is required.
    required: bool
    format: Literal["email", "uri", "date", "date-time"] | None
    # Smallest number, or fewest characters or options. Null without a limit.
    min: float | None
    # Largest number, or most characters or options. Null without a limit.
    max: float | None
    # Options of `choice` and `choices`. Empty for other kinds.
    options: list[ApprovalFormFieldsItemOptionsItem]
    # Value of a field that `answer` leaves out. Null without one.
    default: Any


class ApprovalForm(TypedDict):
    # Name of the server that asks and gets the answer.
    server: str
    # Question of the server. Untrusted text.
    message: str
    # Fields of the answer.
    fields: list[ApprovalFormFieldsItem]


class Approval(TypedDict):
    # ID of the approval.
    approvalId: str
    # ID of the tool call.
    toolCallId: str
    # Name of the tool.
    toolName: str
    # Arguments of the call.
    input: Any
    # Whether the call may have run before: the server process ended while it was running.
    isRepeated: bool
    # `consent`: allow the agent to use your connections to the connector, until another person changes the agent. `approval`: run this call. `repeat`: run it again, although it may have run before. `input`: answer the question of the tool in `form`; the call then runs again with the answer.
    kind: Literal["consent", "approval", "repeat", "input"]
    # Why a decision is needed, for people.
    reason: str
    # The agent that makes the call.
    agent: ApprovalAgent
    # Slug of the connector whose connection the tool uses. Null without one.
    connector: str | None
    # The `authorityVersion` of the agent that a consent is given for. Null otherwise.
    authorityVersion: int | None
    # For a consent: the user who last changed the agent. Null when unknown.
    changedBy: ApprovalChangedBy | None
    # For a consent: time of that change.
    changedAt: str | None
    # Source of the untrusted content that makes an approval necessary: the name of a tool, or `chat`, `person`, `peer` or `project`. Null without one.
    untrustedFrom: str | None
    # For `input`: what the tool asks. Null otherwise.
    form: ApprovalForm | None
    # Whether the caller may decide.
    canDecide: bool
    # Why the caller may not decide. Null when they may.
    cannotDecideReason: str | None


class ApprovalDecision(TypedDict):
    # ID of the approval, from `approvals` of the turn.
    approvalId: str
    # True runs the tool; false tells the model that a person denied it.
    approved: bool
    # For an approved `input`: values for the fields of its `form`. Default: the defaults of the fields.
    answer: NotRequired[dict[str, Any]]


class AuditEntryActor(TypedDict):
    # ID of the user. Null for the server and its operator.
    id: str | None
    # Name of the user at that time.
    name: str
    # ID of the API key. Null without one.
    apiKeyId: str | None


class AuditEntryResource(TypedDict):
    # Type of the resource.
    type: str
    # ID of the resource. Null without one.
    id: str | None


class AuditEntry(TypedDict):
    # Unique ID, a UUID version 7.
    id: str
    # Time of the action.
    at: str
    # Who acted.
    actor: AuditEntryActor
    # What happened, as `<resource>.<verb>`.
    action: str
    # What was changed.
    resource: AuditEntryResource
    # Details of the action. The keys depend on `action`.
    details: dict[str, Any]
    # IP address of the caller. Null when unknown.
    ip: str | None
    # `X-Request-Id` of the response. Null for actions outside of a request.
    requestId: str | None
    # Position in the hash chain of the org, from 1. Null for the first seconds.
    seq: int | None
    # SHA-256 of the previous hash and this entry, in hexadecimal. Null for the first seconds.
    hash: str | None


class Authorization(TypedDict):
    # Name that the app gives itself. Nobody has verified it.
    name: str
    # Host that publishes the metadata of the app. Null: the app registered itself, so that nothing about it is verified.
    publisher: str | None
    # Host, or scheme of an installed program, to which the browser is sent with the result.
    redirectHost: str
    # Whether the result is sent to a program on the computer of the person.
    isLocal: bool
    # Permissions that the app asks for, at most 50.
    scopes: list[str]


class AuthorizationDecision(TypedDict):
    # Query of the URL of the authorization endpoint, without `?`. 1–8,000 characters.
    request: str
    # Whether the person authorizes the app.
    approved: bool
    # ID of the workspace that the app works in. Default: the workspace of the request.
    workspaceId: NotRequired[str]
    # Permissions that the app gets, at most 50 of those that it asks for. Default: all of them.
    scopes: NotRequired[list[str]]


class AuthorizationResult(TypedDict):
    # URL that the browser opens next. It contains a code, valid for 60 s, or the error `access_denied`.
    redirectTo: str


class AuthorizedApp(TypedDict):
    # Unique ID, a UUID version 7.
    id: str
    # Name that the app gives itself. Nobody has verified it.
    name: str
    # OAuth client ID: the URL of the metadata document of the app, or what its registration returned.
    clientId: str
    # Host, or scheme of an installed program, to which the browser is sent with the result.
    redirectHost: str
    # ID of the person who authorized the app.
    userId: str
    # ID of the workspace that the app works in.
    workspaceId: str
    # Permissions that the app has, at most 50, as far as its person has them.
    scopes: list[str]
    # Time of the last request, precise to ten minutes. Null: never used.
    lastUsedAt: str | None
    # Time of creation.
    createdAt: str


class BalanceDepositedEventSubject(TypedDict):
    # Type of resource.
    type: str
    # ID of the resource.
    id: str


class BalanceDepositedEventChain(TypedDict):
    # ID of the first event of the chain.
    id: str
    # Number of events before this one.
    depth: int


class BalanceDepositedEventData(TypedDict):
    # ID of the transaction in the ledger.
    transactionId: str
    # Amount in cents.
    amountCents: int
    # Balance after it, in cents.
    balanceCents: int


class BalanceDepositedEvent(TypedDict):
    # ID of the event, also in the header `webhook-id`.
    id: str
    # Type of the event.
    type: Literal["balance.deposited"]
    # Version of the schema of `data`.
    version: Literal[1]
    # Time of the change.
    timestamp: str
    # True for a test event, which is not in the log.
    isTest: NotRequired[bool]
    # ID of the org.
    orgId: str
    # ID of the workspace. Null for an event of the whole org.
    workspaceId: str | None
    actor: EventActor
    # What the event is about.
    subject: BalanceDepositedEventSubject
    # Number of the event among those of its subject, from 1.
    sequence: int
    # Position in the log of the org, from 1. Increases in the order in which events became visible.
    position: int
    # The events that led to this one; see the loop guard in the guide on events.
    chain: BalanceDepositedEventChain
    # What happened.
    data: BalanceDepositedEventData


class BalanceExhaustedEventSubject(TypedDict):
    # Type of resource.
    type: str
    # ID of the resource.
    id: str


class BalanceExhaustedEventChain(TypedDict):
    # ID of the first event of the chain.
    id: str
    # Number of events before this one.
    depth: int


class BalanceExhaustedEventData(TypedDict):
    # Balance after it, in cents.
    balanceCents: int


class BalanceExhaustedEvent(TypedDict):
    # ID of the event, also in the header `webhook-id`.
    id: str
    # Type of the event.
    type: Literal["balance.exhausted"]
    # Version of the schema of `data`.
    version: Literal[1]
    # Time of the change.
    timestamp: str
    # True for a test event, which is not in the log.
    isTest: NotRequired[bool]
    # ID of the org.
    orgId: str
    # ID of the workspace. Null for an event of the whole org.
    workspaceId: str | None
    actor: EventActor
    # What the event is about.
    subject: BalanceExhaustedEventSubject
    # Number of the event among those of its subject, from 1.
    sequence: int
    # Position in the log of the org, from 1. Increases in the order in which events became visible.
    position: int
    # The events that led to this one; see the loop guard in the guide on events.
    chain: BalanceExhaustedEventChain
    # What happened.
    data: BalanceExhaustedEventData


class BalanceLowEventSubject(TypedDict):
    # Type of resource.
    type: str
    # ID of the resource.
    id: str


class BalanceLowEventChain(TypedDict):
    # ID of the first event of the chain.
    id: str
    # Number of events before this one.
    depth: int


class BalanceLowEventData(TypedDict):
    # Balance after it, in cents.
    balanceCents: int
    # The threshold in cents.
    thresholdCents: int


class BalanceLowEvent(TypedDict):
    # ID of the event, also in the header `webhook-id`.
    id: str
    # Type of the event.
    type: Literal["balance.low"]
    # Version of the schema of `data`.
    version: Literal[1]
    # Time of the change.
    timestamp: str
    # True for a test event, which is not in the log.
    isTest: NotRequired[bool]
    # ID of the org.
    orgId: str
    # ID of the workspace. Null for an event of the whole org.
    workspaceId: str | None
    actor: EventActor
    # What the event is about.
    subject: BalanceLowEventSubject
    # Number of the event among those of its subject, from 1.
    sequence: int
    # Position in the log of the org, from 1. Increases in the order in which events became visible.
    position: int
    # The events that led to this one; see the loop guard in the guide on events.
    chain: BalanceLowEventChain
    # What happened.
    data: BalanceLowEventData


class BalanceTopupFailedEventSubject(TypedDict):
    # Type of resource.
    type: str
    # ID of the resource.
    id: str


class BalanceTopupFailedEventChain(TypedDict):
    # ID of the first event of the chain.
    id: str
    # Number of events before this one.
    depth: int


class BalanceTopupFailedEventData(TypedDict):
    # ID of the top-up.
    topupId: str
    # Amount in cents.
    amountCents: int
    # Code of the payment provider, or of Atrium.
    failureCode: str | None
    # Reason in words, up to 500 characters.
    failureMessage: str | None


class BalanceTopupFailedEvent(TypedDict):
    # ID of the event, also in the header `webhook-id`.
    id: str
    # Type of the event.
    type: Literal["balance.topup.failed"]
    # Version of the schema of `data`.
    version: Literal[1]
    # Time of the change.
    timestamp: str
    # True for a test event, which is not in the log.
    isTest: NotRequired[bool]
    # ID of the org.
    orgId: str
    # ID of the workspace. Null for an event of the whole org.
    workspaceId: str | None
    actor: EventActor
    # What the event is about.
    subject: BalanceTopupFailedEventSubject
    # Number of the event among those of its subject, from 1.
    sequence: int
    # Position in the log of the org, from 1. Increases in the order in which events became visible.
    position: int
    # The events that led to this one; see the loop guard in the guide on events.
    chain: BalanceTopupFailedEventChain
    # What happened.
    data: BalanceTopupFailedEventData


class BillingDetails(TypedDict):
    # Name on receipts and statements, at most 200 characters. Null: the name of the org.
    name: str | None
    # Postal address, at most 500 characters and 6 lines. Null: none.
    address: str | None
    # Tax number, at most 50 characters. Null: none.
    taxId: str | None
    # Email address of the accounting, at most 254 characters. Null: none.
    email: str | None


class BillingPatchBillingDetails(TypedDict):
    # Name on receipts and statements, at most 200 characters. Null: the name of the org.
    name: NotRequired[str | None]
    # Postal address, at most 500 characters and 6 lines. Null: none.
    address: NotRequired[str | None]
    # Tax number, at most 50 characters. Null: none.
    taxId: NotRequired[str | None]
    # Email address of the accounting, at most 254 characters. Null: none.
    email: NotRequired[str | None]


class BillingPatch(TypedDict):
    # Whether automatic top-up is on.
    autoTopupEnabled: NotRequired[bool]
    # Balance below which automatic top-up charges the saved card and the event `balance.low` occurs, in cents, 100–10,000,000,000.
    autoTopupThresholdCents: NotRequired[int]
    # Amount of an automatic top-up, in cents, 100–99,999,999.
    autoTopupAmountCents: NotRequired[int]
    # Maximum amount of automatic top-ups in a calendar month (UTC), in cents, 100–10,000,000,000. Null: no limit.
    autoTopupMonthlyCapCents: NotRequired[int | None]
    # Maximum amount that the org may be charged in a calendar month (UTC), in cents, 0–10,000,000,000. Paid turns beyond it are PAYMENT_REQUIRED. Null: no limit.
    monthlyCapCents: NotRequired[int | None]
    # Billing details to change. Fields that are not sent stay as they are. Null removes all.
    billingDetails: NotRequired[BillingPatchBillingDetails | None]


class BillingSnapshotBalance(TypedDict):
    # Balance, in cents.
    balanceCents: int
    # Sum of all deposits, in cents.
    cumulativeDepositsCents: int
    # Whether automatic top-up is on. Default false.
    autoTopupEnabled: bool
    # Balance below which automatic top-up charges the saved card. Default 500, in cents.
    autoTopupThresholdCents: int
    # Amount of an automatic top-up. Default 2,500, in cents.
    autoTopupAmountCents: int
    # Charged, but less than a cent and not in the balance yet, in microcents (10,000 are one cent).
    remainderMicrocents: int
    # Reserved for running turns, in microcents (10,000 are one cent).
    reservedMicrocents: int


class BillingSnapshotWaiver(TypedDict):
    # Whether the platform fee is waived for the org.
    active: bool
    # Deposits that the org can still make before the fee applies, in cents.
    remainingCents: int


class BillingSnapshotPayment(TypedDict):
    # Whether payments by Stripe are set up.
    paymentProviderConfigured: bool
    # Whether Stripe's webhook is set up.
    webhookConfigured: bool
    # Whether Stripe's publishable key is set.
    publishableKeyConfigured: bool
    # Whether deposits without a payment are possible. Never in production.
    directDepositAvailable: bool
    # Whether paid turns need a sufficient balance.
    billingEnforced: bool


class BillingSnapshotUsageCurrentMonthOperationBreakdownItem(TypedDict):
    # `chat`: a person talks with an agent. `peer`: agents talk with each other. `connector`: an agent responds in a chat of a provider. `embedding`: an embedding model, without an agent.
    operation: str
    # Number of model calls.
    requestCount: int
    # Charged, in microcents (10,000 are one cent).
    totalChargedMicrocents: int
    # Charged, rounded down, in cents.
    totalChargedCents: int


class BillingSnapshotUsageCurrentMonth(TypedDict):
    # Number of model calls, including free ones.
    requestCount: int
    # Number of model calls with the org's own provider key.
    byokRequestCount: int
    # Input tokens, including cached ones.
    inputTokens: int
    # Output tokens.
    outputTokens: int
    # Tokens read from the cache.
    cacheReadTokens: int
    # Tokens written to the cache.
    cacheWriteTokens: int
    # Input and output tokens together.
    totalTokens: int
    # Cost of the model calls at the provider, in microcents (10,000 are one cent).
    providerCostMicrocents: int
    # Platform fee, in microcents (10,000 are one cent).
    platformFeeMicrocents: int
    # Total charged to the org, in microcents (10,000 are one cent).
    totalChargedMicrocents: int
    # Total charged to the org, rounded down, in cents.
    totalChargedCents: int
    # Start of the calendar month (UTC).
    monthStart: str
    # Usage by operation.
    operationBreakdown: list[BillingSnapshotUsageCurrentMonthOperationBreakdownItem]


class BillingSnapshotUsage(TypedDict):
    # Usage of the current calendar month (UTC).
    currentMonth: BillingSnapshotUsageCurrentMonth


class BillingSnapshotTransactionsItem(TypedDict):
    # Unique ID, a UUID version 7.
    id: str
    # Why the balance changed.
    type: Literal["deposit", "usage", "refund", "adjustment", "platform_fee"]
    # Change of the balance, negative for a charge, in cents.
    amountCents: int
    # Balance after the transaction, in cents.
    balanceAfterCents: int
    # ID of the payment at Stripe. Absent without a payment.
    paymentIntentId: NotRequired[str]
    # ID of the receipt, for `GET /billing/receipts/:id`. Present for deposits only.
    receiptId: NotRequired[str]
    # Explanation of the transaction.
    notes: str | None
    # Time of creation.
    createdAt: str


class BillingSnapshotSubscription(TypedDict):
    # ID of the plan.
    planId: str
    # Name of the plan.
    planName: str
    # Status of the subscription at Stripe, such as `active`, `past_due` or `canceled`.
    status: str
    # Whether the plan ends with the paid month.
    cancelAtPeriodEnd: bool
    # End of the paid month. Null before the first payment.
    currentPeriodEnd: str | None
    # Time of creation.
    createdAt: str


class BillingSnapshotReplacedPlansItem(TypedDict):
    # ID of the plan.
    planId: str
    # Name of the plan.
    planName: str
    # `canceling` or `refunding`: Stripe has not confirmed it yet. `failed`: Stripe has rejected it for three days, so that a person must act in the Stripe dashboard.
    state: Literal["canceling", "refunding", "failed"]
    # Time when the plan was replaced.
    since: str


class BillingSnapshotAutoTopupRecentItem(TypedDict):
    # Unique ID, a UUID version 7.
    id: str
    # State of the payment.
    state: Literal["due", "processing", "succeeded", "declined", "failed"]
    # Amount, in cents.
    amountCents: int
    # Error code of the payment provider. Null without an error.
    failureCode: str | None
    # Why the payment failed. Null when it did not.
    failureMessage: str | None
    # Time of creation.
    createdAt: str
    # Time when the payment succeeded or failed. Null before that.
    endedAt: str | None


class BillingSnapshotAutoTopup(TypedDict):
    # State of automatic top-up. `backing_off`: a payment was declined and is attempted again at `retryAt`. `monthly_cap`: another top-up would exceed the monthly limit. `due`: a payment starts within a minute. `under_way`: a payment is being made.
    state: Literal["off", "no_payment_method", "balance_suffices", "backing_off", "monthly_cap", "due", "under_way"]
    # Explanation of the state.
    reason: str
    # Time of the next attempt. Null when none is planned.
    retryAt: str | None
    # Whether a card is saved. A deposit by card saves one.
    hasPaymentMethod: bool
    # Maximum amount of automatic top-ups in a calendar month (UTC), in cents. Null: no limit.
    monthlyCapCents: int | None
    # Sum of the automatic top-ups of this calendar month (UTC), in cents.
    chargedThisMonthCents: int
    # Latest automatic top-ups, newest first.
    recent: list[BillingSnapshotAutoTopupRecentItem]


class BillingSnapshotLimitsOrg(TypedDict):
    # Maximum amount charged in a calendar month (UTC), in cents. Null: no limit.
    monthlyCapCents: int | None
    # Charged in this calendar month (UTC), in microcents (10,000 are one cent).
    chargedThisMonthMicrocents: int
    # Charged in this calendar month (UTC), rounded down, in cents.
    chargedThisMonthCents: int
    # `free`: below 80 % of the limit. `near`: 80 % or more. `reached`: paid turns are rejected.
    state: Literal["free", "near", "reached"]


class BillingSnapshotLimitsAgentsItem(TypedDict):
    # Unique ID, a UUID version 7.
    id: str
    # Name of the agent.
    name: str
    # Slug of the agent.
    slug: str
    # Maximum amount charged in a calendar month (UTC), in cents. Null: no limit.
    monthlyCapCents: int | None
    # Charged in this calendar month (UTC), in microcents (10,000 are one cent).
    chargedThisMonthMicrocents: int
    # Charged in this calendar month (UTC), rounded down, in cents.
    chargedThisMonthCents: int
    # `free`: below 80 % of the limit. `near`: 80 % or more. `reached`: paid turns are rejected.
    state: Literal["free", "near", "reached"]


class BillingSnapshotLimits(TypedDict):
    # Spending limit of the org.
    org: BillingSnapshotLimitsOrg
    # Agents with a spending limit. Empty for callers without the permission `billing:manage`.
    agents: list[BillingSnapshotLimitsAgentsItem]


class BillingSnapshot(TypedDict):
    # Balance and settings of automatic top-up.
    balance: BillingSnapshotBalance
    # Waiver of the platform fee.
    waiver: BillingSnapshotWaiver
    # Payment settings of the server.
    payment: BillingSnapshotPayment
    # Usage of models.
    usage: BillingSnapshotUsage
    # Latest transactions, newest first.
    transactions: list[BillingSnapshotTransactionsItem]
    # Promotions that the org redeemed.
    promotions: list[Promotion]
    # The monthly plan. Null without one.
    subscription: BillingSnapshotSubscription | None
    # Subscriptions that another purchase replaced and that Stripe has not canceled or refunded yet, the oldest first.
    replacedPlans: list[BillingSnapshotReplacedPlansItem]
    billingDetails: BillingDetails
    # Automatic top-up.
    autoTopup: BillingSnapshotAutoTopup
    # Spending limits.
    limits: BillingSnapshotLimits


class BranchSwitch(TypedDict):
    # ID of a message of this session that started a turn, such as an item of `versions`.
    messageId: str


class BreakdownItemsItem(TypedDict):
    # ID of the agent, model or project. Null for usage that cannot be attributed.
    id: str | None
    # Name of the agent, model or project.
    name: str
    # Number of model calls, including free ones.
    requestCount: int
    # Number of model calls with the org's own provider key.
    byokRequestCount: int
    # Input tokens, including cached ones.
    inputTokens: int
    # Output tokens.
    outputTokens: int
    # Tokens read from the cache.
    cacheReadTokens: int
    # Tokens written to the cache.
    cacheWriteTokens: int
    # Input and output tokens together.
    totalTokens: int
    # Cost of the model calls at the provider, in microcents (10,000 are one cent).
    providerCostMicrocents: int
    # Platform fee, in microcents (10,000 are one cent).
    platformFeeMicrocents: int
    # Total charged to the org, in microcents (10,000 are one cent).
    totalChargedMicrocents: int
    # Total charged to the org, rounded down, in cents.
    totalChargedCents: int
    # Share of the total charged, 0–1.
    share: float


Breakdown = TypedDict(
    "Breakdown",
    {
        # Period that the figures are for.
        "period": "str",
        # Start of the period, inclusive.
        "from": "str",
        # End of the period: the time of the request.
        "to": "str",
        # Usage by agent, model or project, highest charge first.
        "items": "list[BreakdownItemsItem]",
    },
)


class BuyerParty(TypedDict):
    # Name.
    name: str
    # Postal address, with line breaks. Null: none.
    address: str | None
    # Tax number. Null: none.
    taxId: str | None
    # Email address. Null: none.
    email: str | None


class CallerTool(TypedDict):
    # Name of the tool: 1–64 letters, digits, `_` and `-`. Different from the names of the tools of the agent.
    name: str
    # What the tool does, for the model, at most 10,000 characters. Default: the name.
    description: NotRequired[str]
    # JSON Schema of the arguments, of the type `object`. The server does not validate calls against it.
    inputSchema: dict[str, Any]


class Cancelled(TypedDict):
    # Whether the turn is cancelled, now or before. False when it had ended or nothing was running.
    cancelled: bool


class ChatCompletionChoicesItemMessageToolCallsItemFunction(TypedDict):
    # Name of the function.
    name: str
    # Arguments as JSON text.
    arguments: str


class ChatCompletionChoicesItemMessageToolCallsItem(TypedDict):
    # ID of the call, at most 200 characters.
    id: str
    # Kind of the call.
    type: Literal["function"]
    # The function and its arguments.
    function: ChatCompletionChoicesItemMessageToolCallsItemFunction


class ChatCompletionChoicesItemMessage(TypedDict):
    # Role of the author.
    role: Literal["assistant"]
    # Reply of the agent. Null when there is none beside tool calls.
    content: str | None
    # Calls of functions of the client. Absent without any.
    tool_calls: NotRequired[list[ChatCompletionChoicesItemMessageToolCallsItem]]
    # Always null.
    refusal: None


class ChatCompletionChoicesItem(TypedDict):
    # Always 0.
    index: int
    # The reply.
    message: ChatCompletionChoicesItemMessage
    # Always null.
    logprobs: None
    # Why the reply ended. `length`: a limit ended the turn. `tool_calls`: the turn waits for the outputs of `tool_calls`.
    finish_reason: Literal["stop", "length", "content_filter", "tool_calls"]


class ChatCompletionUsagePromptTokensDetails(TypedDict):
    # Tokens read from the cache.
    cached_tokens: int


class ChatCompletionUsage(TypedDict):
    # Input tokens of the model calls for this completion.
    prompt_tokens: int
    # Output tokens of the model calls for this completion.
    completion_tokens: int
    # Input and output tokens together.
    total_tokens: int
    # Details of the input tokens.
    prompt_tokens_details: ChatCompletionUsagePromptTokensDetails


class ChatCompletion(TypedDict):
    # `chatcmpl-` and the ID of the turn.
    id: str
    # Type of the object.
    object: Literal["chat.completion"]
    # Time of creation, in Unix seconds.
    created: int
    # `agent/` and the slug or ID of an agent.
    model: str
    # Always one choice.
    choices: list[ChatCompletionChoicesItem]
    # Tokens of the turn.
    usage: ChatCompletionUsage


class ChatCompletionCreateMessagesItemContent2ItemFile(TypedDict):
    # ID of a file of the org.
    file_id: NotRequired[str]
    # The file as a `data:` URL in base64, in place of `file_id`.
    file_data: NotRequired[str]
    # Name for `file_data`, 1–255 characters. Default `file`.
    filename: NotRequired[str]


class ChatCompletionCreateMessagesItemContent2ItemImageUrl(TypedDict):
    # The picture as a `data:` URL in base64. Other URLs are rejected.
    url: str


class ChatCompletionCreateMessagesItemContent2Item(TypedDict):
    # `text`, `image_url` or `file`.
    type: str
    # Text of a `text` part.
    text: NotRequired[str]
    # File of a `file` part.
    file: NotRequired[ChatCompletionCreateMessagesItemContent2ItemFile]
    # Picture of an `image_url` part.
    image_url: NotRequired[ChatCompletionCreateMessagesItemContent2ItemImageUrl]


class ChatCompletionCreateMessagesItemToolCallsItemFunction(TypedDict):
    # Name of the function.
    name: str
    # Arguments as JSON text.
    arguments: str


class ChatCompletionCreateMessagesItemToolCallsItem(TypedDict):
    # ID of the call, at most 200 characters.
    id: str
    # Only `function` is supported.
    type: str
    # The function and its arguments.
    function: NotRequired[ChatCompletionCreateMessagesItemToolCallsItemFunction]


class ChatCompletionCreateMessagesItem(TypedDict):
    # Role of the author. `system` and `developer` messages are added to the instructions of the agent. `tool` is the output of a tool call. `function` is rejected.
    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    # Text, or an array of parts. Default: empty.
    content: NotRequired[str | list[ChatCompletionCreateMessagesItemContent2Item] | None]
    # Tool calls of an `assistant` message, at most 128. Default: none.
    tool_calls: NotRequired[list[ChatCompletionCreateMessagesItemToolCallsItem] | None]
    # ID of the call of which a `tool` message is the output.
    tool_call_id: NotRequired[str]


class ChatCompletionCreateStreamOptions(TypedDict):
    # Whether the stream ends with a chunk that carries `usage`. Default false.
    include_usage: NotRequired[bool]


class ChatCompletionCreateToolsItemFunction(TypedDict):
    # Name: 1–64 letters, digits, `_` and `-`. Not that of a tool of the agent.
    name: str
    # What the function does, for the model, at most 10,000 characters. Default: the name.
    description: NotRequired[str | None]
    # JSON Schema of the arguments. Default: an object without properties.
    parameters: NotRequired[dict[str, Any] | None]


class ChatCompletionCreateToolsItem(TypedDict):
    # Only `function` is supported.
    type: str
    # The function.
    function: NotRequired[ChatCompletionCreateToolsItemFunction]


class ChatCompletionCreate(TypedDict):
    # `agent/` and the slug or ID of an agent. At most 300 characters.
    model: str
    # Messages of the conversation, 1–2,000. The last one must be a `user` message, or the last ones the `tool` messages of all calls before them.
    messages: list[ChatCompletionCreateMessagesItem]
    # Whether to stream the response as server-sent events. Default false.
    stream: NotRequired[bool | None]
    # Options of the stream. Default: none.
    stream_options: NotRequired[ChatCompletionCreateStreamOptions | None]
    # Maximum number of output tokens of each model call, 1–100,000,000. Default: the limit of the model.
    max_completion_tokens: NotRequired[int | None]
    # Older name of `max_completion_tokens`, 1–100,000,000. Default: the limit of the model.
    max_tokens: NotRequired[int | None]
    # Number of choices. Only 1 is supported. Default 1.
    n: NotRequired[int | None]
    # Functions that the client runs, beside the tools of the agent, at most 128 and together 64 KB as JSON. Default: none.
    tools: NotRequired[list[ChatCompletionCreateToolsItem] | None]
    # `auto`, `none`, `required`, or `{ "type": "function", "function": { "name": … } }`. Default `auto`.
    tool_choice: NotRequired[Any]
    # Whether a completion may contain several calls. Default true.
    parallel_tool_calls: NotRequired[bool | None]
    # Rejected with `unsupported_parameter`: use `tools`.
    functions: NotRequired[list[Any] | None]
    # Rejected with `unsupported_parameter`: use `tool_choice`.
    function_call: NotRequired[Any]
    # A string of 1–100 characters, or up to four of them. Each response of the model ends before the first one. Default: none.
    stop: NotRequired[Any]
    # Format of the response: `text`, `json_object`, or `json_schema` with `{ name, schema, description, strict }`. The response is validated, see `responseFormat` of turns; with `stream` it is sent when it was validated. Default: text.
    response_format: NotRequired[dict[str, Any] | None]
    # Log probabilities. Only false is supported. Default false.
    logprobs: NotRequired[bool | None]
    # Output types. Only `["text"]` is supported. Default: text.
    modalities: NotRequired[list[Any] | None]
    # Rejected with `unsupported_parameter`: audio is not supported.
    audio: NotRequired[dict[str, Any] | None]


class ChatFailureError(TypedDict):
    # Explanation for people.
    message: str
    # Kind of the error.
    type: str
    # Parameter that is wrong. Null when it is none.
    param: str | None
    # Stable error code, such as `model_not_found`. Null without one.
    code: str | None


class ChatFailure(TypedDict):
    # The error.
    error: ChatFailureError


class ChatModel(TypedDict):
    # `agent/` and the slug or ID of an agent.
    id: str
    # Type of the object.
    object: Literal["model"]
    # Time of creation, in Unix seconds.
    created: int
    # Always `atrium`.
    owned_by: str


class ChatModelList(TypedDict):
    # Type of the object.
    object: Literal["list"]
    # Active agents of the workspace.
    data: list[ChatModel]


class Connection(TypedDict):
    # Unique ID, a UUID version 7.
    id: str
    # Slug of the connector.
    connectorSlug: str
    # Label that distinguishes several connections to one connector.
    label: str | None
    # `pending`: waits up to an hour for credentials or consent. `active`: in use. `error`: the provider rejects the credentials, see `lastError`. `expired`: not completed in an hour. `revoked`: deleted.
    status: Literal["pending", "active", "error", "expired", "revoked"]
    # Name of the account at the provider. Null while pending.
    accountName: str | None
    # ID of the account at the provider. Null while pending.
    accountId: str | None
    # Scopes that the provider granted. Empty for connectors without scopes.
    scopes: list[str]
    # Time of the last use. Null before the first.
    lastUsedAt: str | None
    # Last error of the provider. Null without one.
    lastError: str | None
    # Time of creation.
    createdAt: str
    # Time of the last change.
    updatedAt: str
    # Time of deletion. Null before that.
    deletedAt: str | None


class ConnectionBrokenEventSubject(TypedDict):
    # Type of resource.
    type: str
    # ID of the resource.
    id: str


class ConnectionBrokenEventChain(TypedDict):
    # ID of the first event of the chain.
    id: str
    # Number of events before this one.
    depth: int


class ConnectionBrokenEventData(TypedDict):
    # ID of the connection.
    connectionId: str
    # Slug of the connector.
    connector: str
    # What a person has to renew.
    reason: Literal["credentials", "tools"]


class ConnectionBrokenEvent(TypedDict):
    # ID of the event, also in the header `webhook-id`.
    id: str
    # Type of the event.
    type: Literal["connection.broken"]
    # Version of the schema of `data`.
    version: Literal[1]
    # Time of the change.
    timestamp: str
    # True for a test event, which is not in the log.
    isTest: NotRequired[bool]
    # ID of the org.
    orgId: str
    # ID of the workspace. Null for an event of the whole org.
    workspaceId: str | None
    actor: EventActor
    # What the event is about.
    subject: ConnectionBrokenEventSubject
    # Number of the event among those of its subject, from 1.
    sequence: int
    # Position in the log of the org, from 1. Increases in the order in which events became visible.
    position: int
    # The events that led to this one; see the loop guard in the guide on events.
    chain: ConnectionBrokenEventChain
    # What happened.
    data: ConnectionBrokenEventData


class ConnectionConnectedEventSubject(TypedDict):
    # Type of resource.
    type: str
    # ID of the resource.
    id: str


class ConnectionConnectedEventChain(TypedDict):
    # ID of the first event of the chain.
    id: str
    # Number of events before this one.
    depth: int


class ConnectionConnectedEventData(TypedDict):
    # ID of the connection.
    connectionId: str
    # Slug of the connector.
    connector: str


class ConnectionConnectedEvent(TypedDict):
    # ID of the event, also in the header `webhook-id`.
    id: str
    # Type of the event.
    type: Literal["connection.connected"]
    # Version of the schema of `data`.
    version: Literal[1]
    # Time of the change.
    timestamp: str
    # True for a test event, which is not in the log.
    isTest: NotRequired[bool]
    # ID of the org.
    orgId: str
    # ID of the workspace. Null for an event of the whole org.
    workspaceId: str | None
    actor: EventActor
    # What the event is about.
    subject: ConnectionConnectedEventSubject
    # Number of the event among those of its subject, from 1.
    sequence: int
    # Position in the log of the org, from 1. Increases in the order in which events became visible.
    position: int
    # The events that led to this one; see the loop guard in the guide on events.
    chain: ConnectionConnectedEventChain
    # What happened.
    data: ConnectionConnectedEventData


class ConnectionCreate(TypedDict):
    # Slug of a connector from `GET /connectors`, 1–100 characters.
    connectorSlug: str
    # Label that distinguishes several connections to one connector, at most 120 characters. Default: none.
    label: NotRequired[str]


class ConnectionCreatedEventSubject(TypedDict):
    # Type of resource.
    type: str
    # ID of the resource.
    id: str


class ConnectionCreatedEventChain(TypedDict):
    # ID of the first event of the chain.
    id: str
    # Number of events before this one.
    depth: int


class ConnectionCreatedEventData(TypedDict):
    # ID of the connection.
    connectionId: str
    # Slug of the connector.
    connector: str


class ConnectionCreatedEvent(TypedDict):
    # ID of the event, also in the header `webhook-id`.
    id: str
    # Type of the event.
    type: Literal["connection.created"]
    # Version of the schema of `data`.
    version: Literal[1]
    # Time of the change.
    timestamp: str
    # True for a test event, which is not in the log.
    isTest: NotRequired[bool]
    # ID of the org.
    orgId: str
    # ID of the workspace. Null for an event of the whole org.
    workspaceId: str | None
    actor: EventActor
    # What the event is about.
    subject: ConnectionCreatedEventSubject
    # Number of the event among those of its subject, from 1.
    sequence: int
    # Position in the log of the org, from 1. Increases in the order in which events became visible.
    position: int
    # The events that led to this one; see the loop guard in the guide on events.
    chain: ConnectionCreatedEventChain
    # What happened.
    data: ConnectionCreatedEventData


class ConnectionRevokedEventSubject(TypedDict):
    # Type of resource.
    type: str
    # ID of the resource.
    id: str


class ConnectionRevokedEventChain(TypedDict):
    # ID of the first event of the chain.
    id: str
    # Number of events before this one.
    depth: int


class ConnectionRevokedEventData(TypedDict):
    # ID of the connection.
    connectionId: str
    # Slug of the connector.
    connector: str


class ConnectionRevokedEvent(TypedDict):
    # ID of the event, also in the header `webhook-id`.
    id: str
    # Type of the event.
    type: Literal["connection.revoked"]
    # Version of the schema of `data`.
    version: Literal[1]
    # Time of the change.
    timestamp: str
    # True for a test event, which is not in the log.
    isTest: NotRequired[bool]
    # ID of the org.
    orgId: str
    # ID of the workspace. Null for an event of the whole org.
    workspaceId: str | None
    actor: EventActor
    # What the event is about.
    subject: ConnectionRevokedEventSubject
    # Number of the event among those of its subject, from 1.
    sequence: int
    # Position in the log of the org, from 1. Increases in the order in which events became visible.
    position: int
    # The events that led to this one; see the loop guard in the guide on events.
    chain: ConnectionRevokedEventChain
    # What happened.
    data: ConnectionRevokedEventData


class ConnectionToolsItemsItem(TypedDict):
    # Name by which agents call the tool.
    name: str
    # What the tool does.
    description: str
    # JSON Schema of the arguments.
    inputSchema: Any


class ConnectionToolsOfferedItemsItem(TypedDict):
    # Name of the tool at the MCP server.
    name: str
    # What the tool does.
    description: str
    # JSON Schema of the arguments.
    inputSchema: Any


class ConnectionToolsOffered(TypedDict):
    # Hash of the offered tools. Send it to accept them.
    hash: str
    # Tools that the MCP server offers now.
    items: list[ConnectionToolsOfferedItemsItem]


class ConnectionTools(TypedDict):
    # Hash of the accepted tools. Null for connectors whose tools never change.
    hash: str | None
    # Tools that agents can use.
    items: list[ConnectionToolsItemsItem]
    # Tools of an MCP server that differ from the accepted ones. Null when they are the same.
    offered: ConnectionToolsOffered | None


class ConnectorEntrySetup(TypedDict):
    # Variables that the operator sets.
    variables: list[str]
    # Page of the provider where the operator registers the OAuth client.
    registrationUrl: str


class ConnectorEntryToolsItem(TypedDict):
    # Name of the tool.
    name: str
    # What the tool does.
    description: str


class ConnectorEntryCredentialFieldsItem(TypedDict):
    # Key of the field in `credentials`.
    key: str
    # Label of the form field.
    label: str
    # Whether a value is required.
    required: bool
    # Whether the form should hide the value.
    secret: bool
    # Where to find the value.
    help: NotRequired[str]


class ConnectorEntry(TypedDict):
    # Stable identifier of the connector.
    slug: str
    # Display name.
    name: str
    # What agents can do with the connector.
    description: str
    # What the connector is for. `general` connects any service.
    category: Literal["communication", "development", "documents", "business", "general"]
    # How a connection is authorized.
    authType: Literal["oauth", "api_key", "none"]
    # Whether the server has the OAuth client that the connector needs, or it needs none.
    configured: bool
    # Whether the connector can be used on this server.
    availability: Literal["available", "not_configured", "coming_soon"]
    # Why the connector is not available. Absent when it is.
    availabilityReason: NotRequired[str]
    # What is missing. Present for `not_configured` connectors only.
    setup: NotRequired[ConnectorEntrySetup]
    # Tools of the connector. Empty for `mcp`, where each server has its own.
    tools: list[ConnectorEntryToolsItem]
    # Credentials to ask for. Present for `api_key` connectors only.
    credentialFields: NotRequired[list[ConnectorEntryCredentialFieldsItem]]


class ConnectorEventReceivedEventSubject(TypedDict):
    # Type of resource.
    type: str
    # ID of the resource.
    id: str


class ConnectorEventReceivedEventChain(TypedDict):
    # ID of the first event of the chain.
    id: str
    # Number of events before this one.
    depth: int


class ConnectorEventReceivedEventData(TypedDict):
    # ID of the endpoint.
    endpointId: str
    # Type of the event, as the provider calls it.
    eventType: str
    # ID of the event at the provider, hashed when it is long.
    externalId: str


class ConnectorEventReceivedEvent(TypedDict):
    # ID of the event, also in the header `webhook-id`.
    id: str
    # Type of the event.
    type: Literal["connector.event.received"]
    # Version of the schema of `data`.
    version: Literal[1]
    # Time of the change.
    timestamp: str
    # True for a test event, which is not in the log.
    isTest: NotRequired[bool]
    # ID of the org.
    orgId: str
    # ID of the workspace. Null for an event of the whole org.
    workspaceId: str | None
    actor: EventActor
    # What the event is about.
    subject: ConnectorEventReceivedEventSubject
    # Number of the event among those of its subject, from 1.
    sequence: int
    # Position in the log of the org, from 1. Increases in the order in which events became visible.
    position: int
    # The events that led to this one; see the loop guard in the guide on events.
    chain: ConnectorEventReceivedEventChain
    # What happened.
    data: ConnectorEventReceivedEventData


class Consent(TypedDict):
    # Slug of the connector.
    connectorSlug: str
    # The `authorityVersion` of the agent that the consent was given for.
    authorityVersion: int
    # Whether the consent still applies. False after another person has changed how the agent acts.
    isValid: bool
    # Whether tools that change something ask for approval after the agent has read untrusted content.
    askAfterUntrustedContent: bool
    # Time of creation.
    createdAt: str
    # Time of the last change.
    updatedAt: str


class ConsentListAuthorityChangedBy(TypedDict):
    # Unique ID, a UUID version 7.
    id: str
    # Name of the user.
    name: str


class ConsentListAuthority(TypedDict):
    # The `authorityVersion` of the agent now.
    version: int
    # The user who last changed how the agent acts. Null when unknown.
    changedBy: ConsentListAuthorityChangedBy | None
    # Time of that change.
    changedAt: str


class ConsentList(TypedDict):
    # Your consents for the agent.
    items: list[Consent]
    # Always null: the list has one page.
    nextCursor: str | None
    # The last change of how the agent acts.
    authority: ConsentListAuthority


class ConsentPut(TypedDict):
    # Whether tools that change something ask for approval after the agent has read untrusted content. Default: the value of the existing consent; true for a new consent.
    askAfterUntrustedContent: NotRequired[bool]
    # The `authorityVersion` of the agent that you read. CONFLICT when the agent has changed since. Default: the current version.
    authorityVersion: NotRequired[int]


class Credentials(TypedDict):
    # A value for each field of `credentialFields` that is required, at most 8,192 characters each. Unknown fields are rejected.
    credentials: dict[str, str]


class Deleted(TypedDict):
    # Always true.
    deleted: Literal[True]


class DeletedResponse(TypedDict):
    # ID of the response.
    id: str
    # Type of the object.
    object: Literal["response"]
    # Always true.
    deleted: Literal[True]


class DeliveryResponse(TypedDict):
    # HTTP status code.
    status: int
    # Headers of the response, with names in lower case.
    headers: dict[str, str]
    # First 4 KB of the body, as text.
    body: str
    # Whether the body is longer.
    truncated: bool
    # Duration of the request, in milliseconds.
    durationMs: int


class DeliveryAttemptsItem(TypedDict):
    # Number of the attempt, from 1.
    number: int
    # Whether a person requested the attempt.
    trigger: Literal["automatic", "manual"]
    # Time of the attempt.
    at: str
    # Duration of the attempt, in milliseconds.
    durationMs: int
    # URL that the event was sent to.
    url: str
    # HTTP status code of the response. Null without one.
    responseStatus: int | None
    # Why the attempt failed. Null when it succeeded.
    error: str | None


class Delivery(TypedDict):
    # Unique ID, a UUID version 7.
    id: str
    # ID of the webhook.
    webhookId: str
    # ID of the event.
    eventId: str
    # Type of the event.
    eventType: str
    # URL that the event is sent to. Null when the webhook forwards nowhere.
    url: str | None
    # `pending`: waits for an attempt. `sending`: an attempt is running. `failed`: no attempts are left. `held`: the webhook is paused or disabled; sent when it is active again.
    status: Literal["pending", "sending", "succeeded", "failed", "held"]
    # Explanation of the status. Null when there is nothing to add.
    statusReason: str | None
    # Number of attempts after the first.
    retryCount: int
    # Time of the next attempt. Null when none is planned.
    nextAttemptAt: str | None
    # Response of the endpoint to the last attempt. Null without one.
    response: DeliveryResponse | None
    # Why the last attempt failed. Null when it succeeded.
    error: str | None
    # Attempts, oldest first.
    attempts: list[DeliveryAttemptsItem]
    # Time of creation.
    createdAt: str
    # Time of the last change.
    updatedAt: str


class DepositCreate(TypedDict):
    # Amount in cents, 100–100,000.
    amountCents: int
    # Deposit without a payment. Works only outside production, without Stripe or with `ALLOW_DIRECT_DEPOSITS=1`. Default: a payment page, if Stripe is set up.
    method: NotRequired[Literal["direct"]]


class DepositStarted(TypedDict):
    # URL of the payment page. Open it in a browser.
    checkoutUrl: NotRequired[str]
    # ID of the checkout session at Stripe.
    sessionId: NotRequired[str]
    # Amount of a direct deposit, in cents. Absent with a payment page.
    deposited: NotRequired[int]
    # Present for a direct deposit only.
    method: NotRequired[Literal["direct"]]
    # Explanation of a direct deposit.
    message: NotRequired[str]


class DirectPartsPartsItem(TypedDict):
    # Number of the part, at most 10,000.
    number: int
    # Place of its first byte in the file, from 0.
    startByte: int
    # Size in bytes, which the request must have exactly.
    sizeBytes: int
    # Signed URL that accepts the bytes of the part by PUT, for one hour. It needs no other credentials.
    url: str


class DirectParts(TypedDict):
    # The parts in the order of the request, each once.
    parts: list[DirectPartsPartsItem]
    # When the upload is deleted unless URLs are requested again.
    expiresAt: str


class DirectPartsRequest(TypedDict):
    # Numbers of 1–100 parts. A part can be sent again until the upload is completed.
    numbers: list[int]


class DirectUpload(TypedDict):
    # `open`: bytes are missing. `verifying`: all have arrived and are being checked. `ready`: the file has them. `failed`: they are not those that were declared, and are deleted with the file.
    state: Literal["open", "verifying", "ready", "failed"]
    # Size of every part except the last one in bytes. A file of at most 100 MB is one part.
    partBytes: int
    # Number of parts, at most 10,000.
    partCount: int
    # Numbers of the parts that have arrived, in ascending order. Only when an open upload is retrieved.
    receivedParts: NotRequired[list[int]]
    # Why the upload has failed. Null in other states.
    error: str | None
    # When an open upload is deleted with its file: 24 hours after the last request for URLs of parts, and at most 7 days after its creation. Failed and ready uploads are forgotten then.
    expiresAt: str


class EmbeddingCreate(TypedDict):
    # ID of a model from `GET /models` with the capability `embeddings`, `<provider>/<model>`, at most 255 characters.
    model: str
    # A text of 1–100,000 characters, or 1–1,024 of them. A model may have lower limits (Gemini: 100 texts): VALIDATION_ERROR then.
    input: str | list[str]
    # Length of the vectors, 1–8,192. Models that cannot shorten their vectors reject it with VALIDATION_ERROR. Default: as the model decides.
    dimensions: NotRequired[int]


class EmbeddingListUsage(TypedDict):
    # Number of tokens of the texts.
    inputTokens: int
    # Whether the tokens were counted from the size of the texts, because the provider reported no plausible number.
    isEstimate: bool
    # What was charged, with the platform fee, in microcents (10,000 microcents are one cent). With a provider key of the org, only the fee.
    chargedMicrocents: int


class EmbeddingList(TypedDict):
    # ID of the model.
    model: str
    # Length of each vector.
    dimensions: int
    # One vector for each text of `input`, in the same order.
    embeddings: list[list[float]]
    # Usage of the model.
    usage: EmbeddingListUsage


class Endpoint(TypedDict):
    # Unique ID, a UUID version 7.
    id: str
    # ID of the connection.
    connectionId: str
    # Provider that sends the events.
    provider: str
    # URL that the provider sends events to.
    url: str
    # `pending`: being set up. `active`: receives events. `closed`: replaced by another endpoint.
    status: Literal["pending", "active", "closed"]
    # ID of the agent that handles the events. Null: events are only recorded.
    agentId: str | None
    # What the endpoint is for at the provider, such as a repository or a phone number.
    target: str | None
    # Time of creation.
    createdAt: str


class EventSubject(TypedDict):
    # Type of resource.
    type: str
    # ID of the resource.
    id: str


class EventChain(TypedDict):
    # ID of the first event of the chain.
    id: str
    # Number of events before this one.
    depth: int


class Event(TypedDict):
    # Unique ID, a UUID version 7.
    id: str
    # Type, one of `GET /event-types`.
    type: str
    # Version of the schema of `data`.
    version: int
    # ID of the org.
    orgId: str
    # ID of the workspace. Null for an event of the whole org.
    workspaceId: str | None
    actor: EventActor
    # What the event is about.
    subject: EventSubject
    # Position in the log of the org, from 1. Increases in the order in which events became visible.
    position: int
    # Number of the event among those of its subject, from 1.
    sequence: int
    # Time of the change.
    occurredAt: str
    # The events that led to this one; see the loop guard in the guide on events.
    chain: EventChain
    # False when the loop guard stopped the event: it is recorded and not delivered.
    isDelivered: bool
    # Fields of the type; `GET /event-types` has their schema.
    data: dict[str, Any]


class EventActor(TypedDict):
    # `system`: the server itself or a command of the operator.
    type: Literal["user", "system"]
    # ID of the user. Null for `system`.
    id: str | None
    # Name at the time of the event.
    name: str
    # ID of the API key. Null without one.
    apiKeyId: str | None


class EventDeliveryResponse(TypedDict):
    # HTTP status code.
    status: int
    # Headers of the response, with names in lower case.
    headers: dict[str, str]
    # First 4 KB of the body, as text.
    body: str
    # Whether the body is longer.
    truncated: bool
    # Duration of the request, in milliseconds.
    durationMs: int


class EventDeliveryAttemptsItem(TypedDict):
    # Number of the attempt, from 1.
    number: int
    # Whether a person requested the attempt.
    trigger: Literal["automatic", "manual"]
    # Time of the attempt.
    at: str
    # Duration of the attempt, in milliseconds.
    durationMs: int
    # URL that the event was sent to.
    url: str
    # HTTP status code of the response. Null without one.
    responseStatus: int | None
    # Why the attempt failed. Null when it succeeded.
    error: str | None


class EventDelivery(TypedDict):
    # Unique ID, a UUID version 7.
    id: str
    # ID of the event.
    eventId: str
    # Type of the event.
    eventType: str
    # URL that the event is sent to. Null when the webhook forwards nowhere.
    url: str | None
    # `pending`: waits for an attempt. `sending`: an attempt is running. `failed`: no attempts are left. `held`: the webhook is paused or disabled; sent when it is active again.
    status: Literal["pending", "sending", "succeeded", "failed", "held"]
    # Explanation of the status. Null when there is nothing to add.
    statusReason: str | None
    # Number of attempts after the first.
    retryCount: int
    # Time of the next attempt. Null when none is planned.
    nextAttemptAt: str | None
    # Response of the endpoint to the last attempt. Null without one.
    response: EventDeliveryResponse | None
    # Why the last attempt failed. Null when it succeeded.
    error: str | None
    # Attempts, oldest first.
    attempts: list[EventDeliveryAttemptsItem]
    # Time of creation.
    createdAt: str
    # Time of the last change.
    updatedAt: str
    # ID of the event endpoint.
    endpointId: str
    # Whether the event was sent by `test`, so that it is not in the log.
    isTest: bool


class EventEndpointOwner(TypedDict):
    # ID of the person.
    userId: str
    # ID of the API key. Null when the URL was set in the console.
    apiKeyId: str | None


class EventEndpoint(TypedDict):
    # Unique ID, a UUID version 7.
    id: str
    # Name, 1–120 characters.
    name: str
    # URL that events are sent to.
    url: str
    # Event types that are sent, such as `agent.created`, `agent.*` or `*`.
    types: list[str]
    # Only events of these workspaces, 1–50, and of the whole org. Null, the default: all workspaces.
    workspaceIds: list[str] | None
    # Only events that pass this condition: `{ "path": "data.name", "equals": … }` with one of `equals`, `in`, `exists`, `gt`, `gte`, `lt`, `lte` and `prefix`, or `all`, `any` and `not` of conditions. At most 4 KB, 50 conditions and 5 levels.
    filter: dict[str, Any] | None
    # `none`, the default: events are sent at once. `subject`: an event is sent after the earlier events of its subject were delivered or have failed for good.
    ordering: Literal["none", "subject"]
    # Whether deliveries have the field `expanded`: the whole text of messages, and received webhook events. Default: false.
    expand: bool
    # JSONata expression whose result, an object of at most 1.5 MB as JSON, is sent instead of the event, 1–8,192 characters. Null, the default: the event is sent.
    transform: str | None
    # `active` receives events. `paused` keeps the deliveries of events until it is active again. `disabled` receives no events.
    status: Literal["active", "paused", "disabled"]
    # Why nothing is delivered: the server disabled the endpoint, or the owner lost their rights.
    statusReason: str | None
    # Who set the URL. Only events that they may read are delivered.
    owner: EventEndpointOwner
    # Number of deliveries that were attempted.
    deliveryCount: int
    # Time of the last attempt. Null before the first.
    lastDeliveryAt: str | None
    # Time of the first failed attempt since the last successful one or change of `status`. Null without one.
    failingSince: str | None
    # How the latest deliveries ended, newest first: up to 20 of those created in the last 7 days. Deliveries that wait for an attempt are not included.
    recentResults: list[Literal["succeeded", "failed"]]
    # Time of creation.
    createdAt: str
    # Time of the last change.
    updatedAt: str


class EventEndpointCreate(TypedDict):
    # Name, 1–120 characters.
    name: str
    # Public HTTP or HTTPS URL to send events to, at most 2,048 characters.
    url: str
    # Event types to send, such as `agent.created`, `agent.*` or `*`, 1–50 of at most 255 characters.
    types: list[str]
    # Only events of these workspaces, 1–50, and of the whole org. Null, the default: all workspaces.
    workspaceIds: NotRequired[list[str] | None]
    # Only events that pass this condition: `{ "path": "data.name", "equals": … }` with one of `equals`, `in`, `exists`, `gt`, `gte`, `lt`, `lte` and `prefix`, or `all`, `any` and `not` of conditions. At most 4 KB, 50 conditions and 5 levels.
    filter: NotRequired[dict[str, Any] | None]
    # `none`, the default: events are sent at once. `subject`: an event is sent after the earlier events of its subject were delivered or have failed for good.
    ordering: NotRequired[Literal["none", "subject"]]
    # Whether deliveries have the field `expanded`: the whole text of messages, and received webhook events. Default: false.
    expand: NotRequired[bool]
    # JSONata expression whose result, an object of at most 1.5 MB as JSON, is sent instead of the event, 1–8,192 characters. Null, the default: the event is sent.
    transform: NotRequired[str | None]


class EventEndpointCreatedEventSubject(TypedDict):
    # Type of resource.
    type: str
    # ID of the resource.
    id: str


class EventEndpointCreatedEventChain(TypedDict):
    # ID of the first event of the chain.
    id: str
    # Number of events before this one.
    depth: int


class EventEndpointCreatedEventData(TypedDict):
    # ID of the event endpoint.
    endpointId: str
    # Name of the event endpoint.
    name: str
    # Event types that it receives.
    types: list[str]


class EventEndpointCreatedEvent(TypedDict):
    # ID of the event, also in the header `webhook-id`.
    id: str
    # Type of the event.
    type: Literal["event_endpoint.created"]
    # Version of the schema of `data`.
    version: Literal[1]
    # Time of the change.
    timestamp: str
    # True for a test event, which is not in the log.
    isTest: NotRequired[bool]
    # ID of the org.
    orgId: str
    # ID of the workspace. Null for an event of the whole org.
    workspaceId: str | None
    actor: EventActor
    # What the event is about.
    subject: EventEndpointCreatedEventSubject
    # Number of the event among those of its subject, from 1.
    sequence: int
    # Position in the log of the org, from 1. Increases in the order in which events became visible.
    position: int
    # The events that led to this one; see the loop guard in the guide on events.
    chain: EventEndpointCreatedEventChain
    # What happened.
    data: EventEndpointCreatedEventData


class EventEndpointDeletedEventSubject(TypedDict):
    # Type of resource.
    type: str
    # ID of the resource.
    id: str


class EventEndpointDeletedEventChain(TypedDict):
    # ID of the first event of the chain.
    id: str
    # Number of events before this one.
    depth: int


class EventEndpointDeletedEventData(TypedDict):
    # ID of the event endpoint.
    endpointId: str
    # Name of the event endpoint.
    name: str


class EventEndpointDeletedEvent(TypedDict):
    # ID of the event, also in the header `webhook-id`.
    id: str
    # Type of the event.
    type: Literal["event_endpoint.deleted"]
    # Version of the schema of `data`.
    version: Literal[1]
    # Time of the change.
    timestamp: str
    # True for a test event, which is not in the log.
    isTest: NotRequired[bool]
    # ID of the org.
    orgId: str
    # ID of the workspace. Null for an event of the whole org.
    workspaceId: str | None
    actor: EventActor
    # What the event is about.
    subject: EventEndpointDeletedEventSubject
    # Number of the event among those of its subject, from 1.
    sequence: int
    # Position in the log of the org, from 1. Increases in the order in which events became visible.
    position: int
    # The events that led to this one; see the loop guard in the guide on events.
    chain: EventEndpointDeletedEventChain
    # What happened.
    data: EventEndpointDeletedEventData


class EventEndpointDisabledEventSubject(TypedDict):
    # Type of resource.
    type: str
    # ID of the resource.
    id: str


class EventEndpointDisabledEventChain(TypedDict):
    # ID of the first event of the chain.
    id: str
    # Number of events before this one.
    depth: int


class EventEndpointDisabledEventData(TypedDict):
    # ID of the event endpoint.
    endpointId: str
    # Name of the event endpoint.
    name: str
    # Why it was disabled.
    reason: str


class EventEndpointDisabledEvent(TypedDict):
    # ID of the event, also in the header `webhook-id`.
    id: str
    # Type of the event.
    type: Literal["event_endpoint.disabled"]
    # Version of the schema of `data`.
    version: Literal[1]
    # Time of the change.
    timestamp: str
    # True for a test event, which is not in the log.
    isTest: NotRequired[bool]
    # ID of the org.
    orgId: str
    # ID of the workspace. Null for an event of the whole org.
    workspaceId: str | None
    actor: EventActor
    # What the event is about.
    subject: EventEndpointDisabledEventSubject
    # Number of the event among those of its subject, from 1.
    sequence: int
    # Position in the log of the org, from 1. Increases in the order in which events became visible.
    position: int
    # The events that led to this one; see the loop guard in the guide on events.
    chain: EventEndpointDisabledEventChain
    # What happened.
    data: EventEndpointDisabledEventData


class EventEndpointTest(TypedDict):
    # Event type, one of `GET /event-types`, at most 255 characters. Default: the first one that the endpoint receives.
    type: NotRequired[str]


class EventEndpointUpdatedEventSubject(TypedDict):
    # Type of resource.
    type: str
    # ID of the resource.
    id: str


class EventEndpointUpdatedEventChain(TypedDict):
    # ID of the first event of the chain.
    id: str
    # Number of events before this one.
    depth: int


class EventEndpointUpdatedEventData(TypedDict):
    # ID of the event endpoint.
    endpointId: str
    # Name of the event endpoint.
    name: str
    # Names of the fields that were sent to be changed.
    changed: list[str]


class EventEndpointUpdatedEvent(TypedDict):
    # ID of the event, also in the header `webhook-id`.
    id: str
    # Type of the event.
    type: Literal["event_endpoint.updated"]
    # Version of the schema of `data`.
    version: Literal[1]
    # Time of the change.
    timestamp: str
    # True for a test event, which is not in the log.
    isTest: NotRequired[bool]
    # ID of the org.
    orgId: str
    # ID of the workspace. Null for an event of the whole org.
    workspaceId: str | None
    actor: EventActor
    # What the event is about.
    subject: EventEndpointUpdatedEventSubject
    # Number of the event among those of its subject, from 1.
    sequence: int
    # Position in the log of the org, from 1. Increases in the order in which events became visible.
    position: int
    # The events that led to this one; see the loop guard in the guide on events.
    chain: EventEndpointUpdatedEventChain
    # What happened.
    data: EventEndpointUpdatedEventData


class EventEndpointWithSecretOwner(TypedDict):
    # ID of the person.
    userId: str
    # ID of the API key. Null when the URL was set in the console.
    apiKeyId: str | None


class EventEndpointWithSecret(TypedDict):
    # Unique ID, a UUID version 7.
    id: str
    # Name, 1–120 characters.
    name: str
    # URL that events are sent to.
    url: str
    # Event types that are sent, such as `agent.created`, `agent.*` or `*`.
    types: list[str]
    # Only events of these workspaces, 1–50, and of the whole org. Null, the default: all workspaces.
    workspaceIds: list[str] | None
    # Only events that pass this condition: `{ "path": "data.name", "equals": … }` with one of `equals`, `in`, `exists`, `gt`, `gte`, `lt`, `lte` and `prefix`, or `all`, `any` and `not` of conditions. At most 4 KB, 50 conditions and 5 levels.
    filter: dict[str, Any] | None
    # `none`, the default: events are sent at once. `subject`: an event is sent after the earlier events of its subject were delivered or have failed for good.
    ordering: Literal["none", "subject"]
    # Whether deliveries have the field `expanded`: the whole text of messages, and received webhook events. Default: false.
    expand: bool
    # JSONata expression whose result, an object of at most 1.5 MB as JSON, is sent instead of the event, 1–8,192 characters. Null, the default: the event is sent.
    transform: str | None
    # `active` receives events. `paused` keeps the deliveries of events until it is active again. `disabled` receives no events.
    status: Literal["active", "paused", "disabled"]
    # Why nothing is delivered: the server disabled the endpoint, or the owner lost their rights.
    statusReason: str | None
    # Who set the URL. Only events that they may read are delivered.
    owner: EventEndpointWithSecretOwner
    # Number of deliveries that were attempted.
    deliveryCount: int
    # Time of the last attempt. Null before the first.
    lastDeliveryAt: str | None
    # Time of the first failed attempt since the last successful one or change of `status`. Null without one.
    failingSince: str | None
    # How the latest deliveries ended, newest first: up to 20 of those created in the last 7 days. Deliveries that wait for an attempt are not included.
    recentResults: list[Literal["succeeded", "failed"]]
    # Time of creation.
    createdAt: str
    # Time of the last change.
    updatedAt: str
    # Signing secret. Returned only here; store it in a safe place.
    secret: str


class EventList(TypedDict):
    # Events of this page.
    items: list[Event]
    # Send it as `after` to continue. Also set on the last page: events that happen later follow it. Null before the first event of the org.
    nextCursor: str | None
    # Whether more events follow now. A page can be empty although they do.
    hasMore: bool


class EventTypeRecord(TypedDict):
    # Name of the type.
    type: str
    # Version of `dataSchema`.
    version: int
    # When the event occurs.
    description: str
    # Permission that a reader needs.
    permission: str
    # Permission with which the person to whom the subject belongs, such as an API key or a connection, may read its events. Null: the subject belongs to nobody.
    ownerPermission: str | None
    # Whether only that person may read the event.
    isOwnerOnly: bool
    # Type of resource that the event is about.
    subject: str
    # JSON Schema (2020-12) of `data`.
    dataSchema: dict[str, Any]
    # Example of `data`.
    exampleData: dict[str, Any]


class ExistingConnection(TypedDict):
    # Unique ID, a UUID version 7.
    id: str
    # Slug of the connector.
    connectorSlug: str
    # Label that distinguishes several connections to one connector.
    label: str | None
    # `pending`: waits up to an hour for credentials or consent. `active`: in use. `error`: the provider rejects the credentials, see `lastError`. `expired`: not completed in an hour. `revoked`: deleted.
    status: Literal["pending", "active", "error", "expired", "revoked"]
    # Name of the account at the provider. Null while pending.
    accountName: str | None
    # ID of the account at the provider. Null while pending.
    accountId: str | None
    # Scopes that the provider granted. Empty for connectors without scopes.
    scopes: list[str]
    # Time of the last use. Null before the first.
    lastUsedAt: str | None
    # Last error of the provider. Null without one.
    lastError: str | None
    # Time of creation.
    createdAt: str
    # Time of the last change.
    updatedAt: str
    # Time of deletion. Null before that.
    deletedAt: str | None
    connection: Connection
    # URL of the provider's consent page. Open it in a browser. Valid once, for 10 minutes. Null for other connectors.
    oauthUrl: str | None
    # URL to POST the credentials to. Null for OAuth connectors.
    credentialSubmitUrl: str | None


class ExpandedEventSubject(TypedDict):
    # Type of resource.
    type: str
    # ID of the resource.
    id: str


class ExpandedEventChain(TypedDict):
    # ID of the first event of the chain.
    id: str
    # Number of events before this one.
    depth: int


class ExpandedEvent(TypedDict):
    # Unique ID, a UUID version 7.
    id: str
    # Type, one of `GET /event-types`.
    type: str
    # Version of the schema of `data`.
    version: int
    # ID of the org.
    orgId: str
    # ID of the workspace. Null for an event of the whole org.
    workspaceId: str | None
    actor: EventActor
    # What the event is about.
    subject: ExpandedEventSubject
    # Position in the log of the org, from 1. Increases in the order in which events became visible.
    position: int
    # Number of the event among those of its subject, from 1.
    sequence: int
    # Time of the change.
    occurredAt: str
    # The events that led to this one; see the loop guard in the guide on events.
    chain: ExpandedEventChain
    # False when the loop guard stopped the event: it is recorded and not delivered.
    isDelivered: bool
    # Fields of the type; `GET /event-types` has their schema.
    data: dict[str, Any]
    # Contents that the event refers to: `text` of a `message.created`; `externalId`, `headers`, `contentType` and `payload` of a `webhook.event.received`. Null when they were deleted or have more than 1.5 MB. Not in events of other types.
    expanded: NotRequired[dict[str, Any] | None]


class FailureError(TypedDict):
    # Stable error code.
    code: Literal["BAD_REQUEST", "UNAUTHORIZED", "PAYMENT_REQUIRED", "FORBIDDEN", "NOT_FOUND", "CONFLICT", "VALIDATION_ERROR", "TOO_MANY_REQUESTS", "INTERNAL_ERROR", "SERVICE_UNAVAILABLE"]
    # Explanation for people. It may change.
    message: str


class Failure(TypedDict):
    # Always false.
    success: Literal[False]
    # The error.
    error: FailureError


class File(TypedDict):
    # Unique ID, a UUID version 7.
    id: str
    # Name, 1–255 characters without NUL, CR or LF.
    name: str
    # Media type. Null for folders and links.
    mimeType: str | None
    # Size in bytes. 0 for folders and links.
    size: int
    # ID of the folder that contains the file. Null: the root of the org.
    parentId: str | None
    # ID of the project whose folder contains the file. Null without one.
    projectId: str | None
    # Kind of the record: a file, a folder or a link to a file.
    source: Literal["upload", "folder", "link"]
    # ID of the file that a link points to. Null for files and folders, and when the caller may not see that file.
    targetFileId: str | None
    # Tags, at most 50 of 1–64 characters each.
    tags: list[str]
    # Whether it is the folder of a project, which cannot be renamed, moved or deleted by itself.
    isProtected: bool
    # Whether the folder is restricted itself: only its grants and owners of the org see it. Only for folders.
    restricted: NotRequired[bool]
    # `pending` until the bytes are stored. Pending files are removed after 24 hours.
    status: Literal["pending", "ready"]
    # Key of the stored object. Files with the same bytes share it. Null while pending.
    storageKey: str | None
    # URL that downloads the file with an API key. Null for folders and in the trash.
    storageUrl: str | None
    # SHA-256 of the bytes in hexadecimal. Null while pending, and for folders and links.
    contentHash: str | None
    # True for favorites of the caller, in lists, except for the trash, and when it is retrieved or marked by itself. Otherwise absent.
    favorite: NotRequired[bool]
    # Time when the caller last uploaded, changed or opened the file. Only in the list of recent files.
    recentAt: NotRequired[str]
    # Names of the folders that contain the file, outermost first, without the root of the org; the innermost 20 of more. Only in lists with `search` or a filter, and in that of recent files.
    path: NotRequired[list[str]]
    # Number of the current version. 1 until the content is replaced for the first time.
    version: int
    # ID of the user who created the file.
    createdBy: str
    # Time of creation.
    createdAt: str
    # Time of the last change.
    updatedAt: str
    # Time of the deletion. Only in the trash.
    deletedAt: NotRequired[str]
    # ID of the user who deleted the file. Only in the trash.
    deletedBy: NotRequired[str]
    # Time from which the file cannot be restored. Only in the trash.
    purgeAt: NotRequired[str]


class FileCreate(TypedDict):
    # Kind of the record. Default `upload`.
    source: NotRequired[Literal["upload", "folder", "link"]]
    # Name, 1–255 characters without NUL, CR or LF. Required for files and folders. Default for a link: the name of its target.
    name: NotRequired[str]
    # Media type in lower case, without parameters. Must be one of the types that can be stored. At most 255 characters. Required for files.
    mimeType: NotRequired[str]
    # Size in bytes, 0–104,857,600, with direct uploads up to `UPLOAD_MAX_BYTES` (at most 5,497,558,138,880). Required for files.
    size: NotRequired[int]
    # ID of the containing folder. Default, also for null: the root of the org.
    parentId: NotRequired[str | None]
    # ID of the project to put the file into. With `parentId`, that folder must be in the project. Default, also for null: none.
    projectId: NotRequired[str | None]
    # ID of the file that a link points to. Required for links; not a folder.
    targetFileId: NotRequired[str]


class FileCreated(TypedDict):
    file: File
    # Signed URL that accepts the bytes by PUT, within an hour. Present for pending files only. When `upload` is present, it belongs to the object store, the upload must be completed afterwards, and it is missing for files of several parts.
    uploadUrl: NotRequired[str]
    upload: NotRequired[DirectUpload]


class FileCreatedEventSubject(TypedDict):
    # Type of resource.
    type: str
    # ID of the resource.
    id: str


class FileCreatedEventChain(TypedDict):
    # ID of the first event of the chain.
    id: str
    # Number of events before this one.
    depth: int


class FileCreatedEventData(TypedDict):
    # ID of the file.
    fileId: str
    # Name of the file.
    name: str
    # Media type of its bytes. Null for a link.
    mimeType: str | None
    # Size in bytes, the declared one while the upload is pending. 0 for a link.
    sizeBytes: int
    # ID of its folder. Null: the root folder of the org.
    parentId: str | None
    # ID of the project whose folder it is in. Null without one.
    projectId: str | None
    # `link`: it shows the bytes of another file.
    source: Literal["upload", "link"]
    # `pending`: without bytes until a `file.updated` whose `changed` has `content`.
    status: Literal["pending", "ready"]


class FileCreatedEvent(TypedDict):
    # ID of the event, also in the header `webhook-id`.
    id: str
    # Type of the event.
    type: Literal["file.created"]
    # Version of the schema of `data`.
    version: Literal[1]
    # Time of the change.
    timestamp: str
    # True for a test event, which is not in the log.
    isTest: NotRequired[bool]
    # ID of the org.
    orgId: str
    # ID of the workspace. Null for an event of the whole org.
    workspaceId: str | None
    actor: EventActor
    # What the event is about.
    subject: FileCreatedEventSubject
    # Number of the event among those of its subject, from 1.
    sequence: int
    # Position in the log of the org, from 1. Increases in the order in which events became visible.
    position: int
    # The events that led to this one; see the loop guard in the guide on events.
    chain: FileCreatedEventChain
    # What happened.
    data: FileCreatedEventData


class FileDeletedEventSubject(TypedDict):
    # Type of resource.
    type: str
    # ID of the resource.
    id: str


class FileDeletedEventChain(TypedDict):
    # ID of the first event of the chain.
    id: str
    # Number of events before this one.
    depth: int


class FileDeletedEventData(TypedDict):
    # ID of the file.
    fileId: str
    # Name of the file.
    name: str
    # Media type of its bytes. Null for a link.
    mimeType: str | None
    # Size in bytes, the declared one while the upload is pending. 0 for a link.
    sizeBytes: int
    # ID of its folder. Null: the root folder of the org.
    parentId: str | None
    # ID of the project whose folder it is in. Null without one.
    projectId: str | None


class FileDeletedEvent(TypedDict):
    # ID of the event, also in the header `webhook-id`.
    id: str
    # Type of the event.
    type: Literal["file.deleted"]
    # Version of the schema of `data`.
    version: Literal[1]
    # Time of the change.
    timestamp: str
    # True for a test event, which is not in the log.
    isTest: NotRequired[bool]
    # ID of the org.
    orgId: str
    # ID of the workspace. Null for an event of the whole org.
    workspaceId: str | None
    actor: EventActor
    # What the event is about.
    subject: FileDeletedEventSubject
    # Number of the event among those of its subject, from 1.
    sequence: int
    # Position in the log of the org, from 1. Increases in the order in which events became visible.
    position: int
    # The events that led to this one; see the loop guard in the guide on events.
    chain: FileDeletedEventChain
    # What happened.
    data: FileDeletedEventData


class FileMovedEventSubject(TypedDict):
    # Type of resource.
    type: str
    # ID of the resource.
    id: str


class FileMovedEventChain(TypedDict):
    # ID of the first event of the chain.
    id: str
    # Number of events before this one.
    depth: int


class FileMovedEventData(TypedDict):
    # ID of the file.
    fileId: str
    # Name of the file.
    name: str
    # Media type of its bytes. Null for a link.
    mimeType: str | None
    # Size in bytes, the declared one while the upload is pending. 0 for a link.
    sizeBytes: int
    # ID of its folder. Null: the root folder of the org.
    parentId: str | None
    # ID of the project whose folder it is in. Null without one.
    projectId: str | None
    # ID of the folder before. Null: the root folder of the org.
    previousParentId: str | None


class FileMovedEvent(TypedDict):
    # ID of the event, also in the header `webhook-id`.
    id: str
    # Type of the event.
    type: Literal["file.moved"]
    # Version of the schema of `data`.
    version: Literal[1]
    # Time of the change.
    timestamp: str
    # True for a test event, which is not in the log.
    isTest: NotRequired[bool]
    # ID of the org.
    orgId: str
    # ID of the workspace. Null for an event of the whole org.
    workspaceId: str | None
    actor: EventActor
    # What the event is about.
    subject: FileMovedEventSubject
    # Number of the event among those of its subject, from 1.
    sequence: int
    # Position in the log of the org, from 1. Increases in the order in which events became visible.
    position: int
    # The events that led to this one; see the loop guard in the guide on events.
    chain: FileMovedEventChain
    # What happened.
    data: FileMovedEventData


class FilePatch(TypedDict):
    # Name, 1–255 characters without NUL, CR or LF.
    name: NotRequired[str]
    # ID of the folder to move the file to. Null: the root of the org.
    parentId: NotRequired[str | None]
    # Tags, at most 50 of 1–64 characters each. Replaces all tags.
    tags: NotRequired[list[str]]


class FileRestoredEventSubject(TypedDict):
    # Type of resource.
    type: str
    # ID of the resource.
    id: str


class FileRestoredEventChain(TypedDict):
    # ID of the first event of the chain.
    id: str
    # Number of events before this one.
    depth: int


class FileRestoredEventData(TypedDict):
    # ID of the file.
    fileId: str
    # Name of the file.
    name: str
    # Media type of its bytes. Null for a link.
    mimeType: str | None
    # Size in bytes, the declared one while the upload is pending. 0 for a link.
    sizeBytes: int
    # ID of its folder. Null: the root folder of the org.
    parentId: str | None
    # ID of the project whose folder it is in. Null without one.
    projectId: str | None


class FileRestoredEvent(TypedDict):
    # ID of the event, also in the header `webhook-id`.
    id: str
    # Type of the event.
    type: Literal["file.restored"]
    # Version of the schema of `data`.
    version: Literal[1]
    # Time of the change.
    timestamp: str
    # True for a test event, which is not in the log.
    isTest: NotRequired[bool]
    # ID of the org.
    orgId: str
    # ID of the workspace. Null for an event of the whole org.
    workspaceId: str | None
    actor: EventActor
    # What the event is about.
    subject: FileRestoredEventSubject
    # Number of the event among those of its subject, from 1.
    sequence: int
    # Position in the log of the org, from 1. Increases in the order in which events became visible.
    position: int
    # The events that led to this one; see the loop guard in the guide on events.
    chain: FileRestoredEventChain
    # What happened.
    data: FileRestoredEventData


class FileShareCreatedEventSubject(TypedDict):
    # Type of resource.
    type: str
    # ID of the resource.
    id: str


class FileShareCreatedEventChain(TypedDict):
    # ID of the first event of the chain.
    id: str
    # Number of events before this one.
    depth: int


class FileShareCreatedEventData(TypedDict):
    # ID of the shared file or folder.
    fileId: str
    # Name of the file or folder.
    name: str
    # ID of the share.
    shareId: str
    # What visitors may do.
    permission: Literal["view", "download", "upload"]
    # Whether visitors must enter a password.
    hasPassword: bool
    # Time at which the link stops working. Null: never.
    expiresAt: str | None


class FileShareCreatedEvent(TypedDict):
    # ID of the event, also in the header `webhook-id`.
    id: str
    # Type of the event.
    type: Literal["file.share_created"]
    # Version of the schema of `data`.
    version: Literal[1]
    # Time of the change.
    timestamp: str
    # True for a test event, which is not in the log.
    isTest: NotRequired[bool]
    # ID of the org.
    orgId: str
    # ID of the workspace. Null for an event of the whole org.
    workspaceId: str | None
    actor: EventActor
    # What the event is about.
    subject: FileShareCreatedEventSubject
    # Number of the event among those of its subject, from 1.
    sequence: int
    # Position in the log of the org, from 1. Increases in the order in which events became visible.
    position: int
    # The events that led to this one; see the loop guard in the guide on events.
    chain: FileShareCreatedEventChain
    # What happened.
    data: FileShareCreatedEventData


class FileShareRevokedEventSubject(TypedDict):
    # Type of resource.
    type: str
    # ID of the resource.
    id: str


class FileShareRevokedEventChain(TypedDict):
    # ID of the first event of the chain.
    id: str
    # Number of events before this one.
    depth: int


class FileShareRevokedEventData(TypedDict):
    # ID of the shared file or folder.
    fileId: str
    # Name of the file or folder.
    name: str
    # ID of the share.
    shareId: str
    # What visitors may do.
    permission: Literal["view", "download", "upload"]
    # Whether visitors must enter a password.
    hasPassword: bool
    # Time at which the link stops working. Null: never.
    expiresAt: str | None


class FileShareRevokedEvent(TypedDict):
    # ID of the event, also in the header `webhook-id`.
    id: str
    # Type of the event.
    type: Literal["file.share_revoked"]
    # Version of the schema of `data`.
    version: Literal[1]
    # Time of the change.
    timestamp: str
    # True for a test event, which is not in the log.
    isTest: NotRequired[bool]
    # ID of the org.
    orgId: str
    # ID of the workspace. Null for an event of the whole org.
    workspaceId: str | None
    actor: EventActor
    # What the event is about.
    subject: FileShareRevokedEventSubject
    # Number of the event among those of its subject, from 1.
    sequence: int
    # Position in the log of the org, from 1. Increases in the order in which events became visible.
    position: int
    # The events that led to this one; see the loop guard in the guide on events.
    chain: FileShareRevokedEventChain
    # What happened.
    data: FileShareRevokedEventData


class FileShareUpdatedEventSubject(TypedDict):
    # Type of resource.
    type: str
    # ID of the resource.
    id: str


class FileShareUpdatedEventChain(TypedDict):
    # ID of the first event of the chain.
    id: str
    # Number of events before this one.
    depth: int


class FileShareUpdatedEventData(TypedDict):
    # ID of the shared file or folder.
    fileId: str
    # Name of the file or folder.
    name: str
    # ID of the share.
    shareId: str
    # What visitors may do.
    permission: Literal["view", "download", "upload"]
    # Whether visitors must enter a password.
    hasPassword: bool
    # Time at which the link stops working. Null: never.
    expiresAt: str | None


class FileShareUpdatedEvent(TypedDict):
    # ID of the event, also in the header `webhook-id`.
    id: str
    # Type of the event.
    type: Literal["file.share_updated"]
    # Version of the schema of `data`.
    version: Literal[1]
    # Time of the change.
    timestamp: str
    # True for a test event, which is not in the log.
    isTest: NotRequired[bool]
    # ID of the org.
    orgId: str
    # ID of the workspace. Null for an event of the whole org.
    workspaceId: str | None
    actor: EventActor
    # What the event is about.
    subject: FileShareUpdatedEventSubject
    # Number of the event among those of its subject, from 1.
    sequence: int
    # Position in the log of the org, from 1. Increases in the order in which events became visible.
    position: int
    # The events that led to this one; see the loop guard in the guide on events.
    chain: FileShareUpdatedEventChain
    # What happened.
    data: FileShareUpdatedEventData


class FileUpdatedEventSubject(TypedDict):
    # Type of resource.
    type: str
    # ID of the resource.
    id: str


class FileUpdatedEventChain(TypedDict):
    # ID of the first event of the chain.
    id: str
    # Number of events before this one.
    depth: int


class FileUpdatedEventData(TypedDict):
    # ID of the file.
    fileId: str
    # Name of the file.
    name: str
    # Media type of its bytes. Null for a link.
    mimeType: str | None
    # Size in bytes, the declared one while the upload is pending. 0 for a link.
    sizeBytes: int
    # ID of its folder. Null: the root folder of the org.
    parentId: str | None
    # ID of the project whose folder it is in. Null without one.
    projectId: str | None
    # The fields that were sent to be changed, or `content` for uploaded or restored bytes.
    changed: list[Literal["name", "tags", "content"]]


class FileUpdatedEvent(TypedDict):
    # ID of the event, also in the header `webhook-id`.
    id: str
    # Type of the event.
    type: Literal["file.updated"]
    # Version of the schema of `data`.
    version: Literal[1]
    # Time of the change.
    timestamp: str
    # True for a test event, which is not in the log.
    isTest: NotRequired[bool]
    # ID of the org.
    orgId: str
    # ID of the workspace. Null for an event of the whole org.
    workspaceId: str | None
    actor: EventActor
    # What the event is about.
    subject: FileUpdatedEventSubject
    # Number of the event among those of its subject, from 1.
    sequence: int
    # Position in the log of the org, from 1. Increases in the order in which events became visible.
    position: int
    # The events that led to this one; see the loop guard in the guide on events.
    chain: FileUpdatedEventChain
    # What happened.
    data: FileUpdatedEventData


class FileUpload(TypedDict):
    # The bytes, at most 100 MB, with their media type.
    file: bytes
    # ID of the containing folder. Default: the root of the org.
    parentId: NotRequired[str]
    # ID of the project to put the file into. Default: none.
    projectId: NotRequired[str]


class FileVersionCreatedEventSubject(TypedDict):
    # Type of resource.
    type: str
    # ID of the resource.
    id: str


class FileVersionCreatedEventChain(TypedDict):
    # ID of the first event of the chain.
    id: str
    # Number of events before this one.
    depth: int


class FileVersionCreatedEventData(TypedDict):
    # ID of the file.
    fileId: str
    # Name of the file.
    name: str
    # Media type of its bytes. Null for a link.
    mimeType: str | None
    # Size in bytes, the declared one while the upload is pending. 0 for a link.
    sizeBytes: int
    # ID of its folder. Null: the root folder of the org.
    parentId: str | None
    # ID of the project whose folder it is in. Null without one.
    projectId: str | None
    # Number of the version, from 1.
    version: int
    # Number of the version whose bytes were restored. Null for new bytes.
    restoredFrom: int | None


class FileVersionCreatedEvent(TypedDict):
    # ID of the event, also in the header `webhook-id`.
    id: str
    # Type of the event.
    type: Literal["file.version_created"]
    # Version of the schema of `data`.
    version: Literal[1]
    # Time of the change.
    timestamp: str
    # True for a test event, which is not in the log.
    isTest: NotRequired[bool]
    # ID of the org.
    orgId: str
    # ID of the workspace. Null for an event of the whole org.
    workspaceId: str | None
    actor: EventActor
    # What the event is about.
    subject: FileVersionCreatedEventSubject
    # Number of the event among those of its subject, from 1.
    sequence: int
    # Position in the log of the org, from 1. Increases in the order in which events became visible.
    position: int
    # The events that led to this one; see the loop guard in the guide on events.
    chain: FileVersionCreatedEventChain
    # What happened.
    data: FileVersionCreatedEventData


class FileVersionDeletedEventSubject(TypedDict):
    # Type of resource.
    type: str
    # ID of the resource.
    id: str


class FileVersionDeletedEventChain(TypedDict):
    # ID of the first event of the chain.
    id: str
    # Number of events before this one.
    depth: int


class FileVersionDeletedEventData(TypedDict):
    # ID of the file.
    fileId: str
    # Name of the file.
    name: str
    # Media type of its bytes. Null for a link.
    mimeType: str | None
    # Size in bytes, the declared one while the upload is pending. 0 for a link.
    sizeBytes: int
    # ID of its folder. Null: the root folder of the org.
    parentId: str | None
    # ID of the project whose folder it is in. Null without one.
    projectId: str | None
    # Number of the version, from 1.
    version: int


class FileVersionDeletedEvent(TypedDict):
    # ID of the event, also in the header `webhook-id`.
    id: str
    # Type of the event.
    type: Literal["file.version_deleted"]
    # Version of the schema of `data`.
    version: Literal[1]
    # Time of the change.
    timestamp: str
    # True for a test event, which is not in the log.
    isTest: NotRequired[bool]
    # ID of the org.
    orgId: str
    # ID of the workspace. Null for an event of the whole org.
    workspaceId: str | None
    actor: EventActor
    # What the event is about.
    subject: FileVersionDeletedEventSubject
    # Number of the event among those of its subject, from 1.
    sequence: int
    # Position in the log of the org, from 1. Increases in the order in which events became visible.
    position: int
    # The events that led to this one; see the loop guard in the guide on events.
    chain: FileVersionDeletedEventChain
    # What happened.
    data: FileVersionDeletedEventData


class FileVersionUpdatedEventSubject(TypedDict):
    # Type of resource.
    type: str
    # ID of the resource.
    id: str


class FileVersionUpdatedEventChain(TypedDict):
    # ID of the first event of the chain.
    id: str
    # Number of events before this one.
    depth: int


class FileVersionUpdatedEventData(TypedDict):
    # ID of the file.
    fileId: str
    # Name of the file.
    name: str
    # Media type of its bytes. Null for a link.
    mimeType: str | None
    # Size in bytes, the declared one while the upload is pending. 0 for a link.
    sizeBytes: int
    # ID of its folder. Null: the root folder of the org.
    parentId: str | None
    # ID of the project whose folder it is in. Null without one.
    projectId: str | None
    # Number of the version, from 1.
    version: int
    # Label of the version. Null without one.
    label: str | None


class FileVersionUpdatedEvent(TypedDict):
    # ID of the event, also in the header `webhook-id`.
    id: str
    # Type of the event.
    type: Literal["file.version_updated"]
    # Version of the schema of `data`.
    version: Literal[1]
    # Time of the change.
    timestamp: str
    # True for a test event, which is not in the log.
    isTest: NotRequired[bool]
    # ID of the org.
    orgId: str
    # ID of the workspace. Null for an event of the whole org.
    workspaceId: str | None
    actor: EventActor
    # What the event is about.
    subject: FileVersionUpdatedEventSubject
    # Number of the event among those of its subject, from 1.
    sequence: int
    # Position in the log of the org, from 1. Increases in the order in which events became visible.
    position: int
    # The events that led to this one; see the loop guard in the guide on events.
    chain: FileVersionUpdatedEventChain
    # What happened.
    data: FileVersionUpdatedEventData


class FolderAccessGrantsItem(TypedDict):
    # Whom it names: a person, the members of a workspace, or all members of the org with a role.
    kind: Literal["user", "workspace", "role"]
    # The ID of the user or workspace, or the role: `admin`, `billing_manager` or `member`. At most 64 characters.
    subject: str
    # Name of the person, workspace or role. Null for a workspace that the caller cannot see.
    name: str | None
    # `read`: see and download. `write`: also change, share and delete.
    access: Literal["read", "write"]


class FolderAccessInheritedItemGrantsItem(TypedDict):
    # Whom it names: a person, the members of a workspace, or all members of the org with a role.
    kind: Literal["user", "workspace", "role"]
    # The ID of the user or workspace, or the role: `admin`, `billing_manager` or `member`. At most 64 characters.
    subject: str
    # Name of the person, workspace or role. Null for a workspace that the caller cannot see.
    name: str | None
    # `read`: see and download. `write`: also change, share and delete.
    access: Literal["read", "write"]


class FolderAccessInheritedItem(TypedDict):
    # ID of the restricted folder.
    folderId: str
    # Name of the restricted folder.
    name: str
    # Whom it is open to, besides owners of the org.
    grants: list[FolderAccessInheritedItemGrantsItem]


class FolderAccess(TypedDict):
    # Whether the folder is restricted itself.
    restricted: bool
    # Whom the folder is open to, besides owners of the org. Empty when it is not restricted.
    grants: list[FolderAccessGrantsItem]
    # The restricted folders that contain it, outermost first. Whoever sees it has access to all of them.
    inherited: list[FolderAccessInheritedItem]
    # What the caller may do with it.
    access: Literal["read", "write"]
    # Whether the caller may change who sees it. False for files and links.
    canManage: bool


class FolderAccessChangedEventSubject(TypedDict):
    # Type of resource.
    type: str
    # ID of the resource.
    id: str


class FolderAccessChangedEventChain(TypedDict):
    # ID of the first event of the chain.
    id: str
    # Number of events before this one.
    depth: int


class FolderAccessChangedEventData(TypedDict):
    # ID of the folder.
    folderId: str
    # Name of the folder.
    name: str
    # ID of its folder. Null: the root folder of the org.
    parentId: str | None
    # ID of the project whose folder it is in. Null without one.
    projectId: str | None
    # Whether only its grants and owners of the org may see it.
    restricted: bool


class FolderAccessChangedEvent(TypedDict):
    # ID of the event, also in the header `webhook-id`.
    id: str
    # Type of the event.
    type: Literal["folder.access_changed"]
    # Version of the schema of `data`.
    version: Literal[1]
    # Time of the change.
    timestamp: str
    # True for a test event, which is not in the log.
    isTest: NotRequired[bool]
    # ID of the org.
    orgId: str
    # ID of the workspace. Null for an event of the whole org.
    workspaceId: str | None
    actor: EventActor
    # What the event is about.
    subject: FolderAccessChangedEventSubject
    # Number of the event among those of its subject, from 1.
    sequence: int
    # Position in the log of the org, from 1. Increases in the order in which events became visible.
    position: int
    # The events that led to this one; see the loop guard in the guide on events.
    chain: FolderAccessChangedEventChain
    # What happened.
    data: FolderAccessChangedEventData


class FolderAccessPutGrantsItem(TypedDict):
    # Whom it names: a person, the members of a workspace, or all members of the org with a role.
    kind: Literal["user", "workspace", "role"]
    # The ID of the user or workspace, or the role: `admin`, `billing_manager` or `member`. At most 64 characters.
    subject: str
    # `read`: see and download. `write`: also change, share and delete.
    access: Literal["read", "write"]


class FolderAccessPut(TypedDict):
    # True: only the grants and owners of the org see the folder. False: everyone who sees its parent.
    restricted: bool
    # Whom to open the folder to, at most 100; replaces all. Only with `restricted`. Default: nobody.
    grants: NotRequired[list[FolderAccessPutGrantsItem]]


class FolderCreatedEventSubject(TypedDict):
    # Type of resource.
    type: str
    # ID of the resource.
    id: str


class FolderCreatedEventChain(TypedDict):
    # ID of the first event of the chain.
    id: str
    # Number of events before this one.
    depth: int


class FolderCreatedEventData(TypedDict):
    # ID of the folder.
    folderId: str
    # Name of the folder.
    name: str
    # ID of its folder. Null: the root folder of the org.
    parentId: str | None
    # ID of the project whose folder it is in. Null without one.
    projectId: str | None


class FolderCreatedEvent(TypedDict):
    # ID of the event, also in the header `webhook-id`.
    id: str
    # Type of the event.
    type: Literal["folder.created"]
    # Version of the schema of `data`.
    version: Literal[1]
    # Time of the change.
    timestamp: str
    # True for a test event, which is not in the log.
    isTest: NotRequired[bool]
    # ID of the org.
    orgId: str
    # ID of the workspace. Null for an event of the whole org.
    workspaceId: str | None
    actor: EventActor
    # What the event is about.
    subject: FolderCreatedEventSubject
    # Number of the event among those of its subject, from 1.
    sequence: int
    # Position in the log of the org, from 1. Increases in the order in which events became visible.
    position: int
    # The events that led to this one; see the loop guard in the guide on events.
    chain: FolderCreatedEventChain
    # What happened.
    data: FolderCreatedEventData


class FolderDeletedEventSubject(TypedDict):
    # Type of resource.
    type: str
    # ID of the resource.
    id: str


class FolderDeletedEventChain(TypedDict):
    # ID of the first event of the chain.
    id: str
    # Number of events before this one.
    depth: int


class FolderDeletedEventData(TypedDict):
    # ID of the folder.
    folderId: str
    # Name of the folder.
    name: str
    # ID of its folder. Null: the root folder of the org.
    parentId: str | None
    # ID of the project whose folder it is in. Null without one.
    projectId: str | None
    # Number of files, links and folders in it that were deleted with it.
    deleted: int


class FolderDeletedEvent(TypedDict):
    # ID of the event, also in the header `webhook-id`.
    id: str
    # Type of the event.
    type: Literal["folder.deleted"]
    # Version of the schema of `data`.
    version: Literal[1]
    # Time of the change.
    timestamp: str
    # True for a test event, which is not in the log.
    isTest: NotRequired[bool]
    # ID of the org.
    orgId: str
    # ID of the workspace. Null for an event of the whole org.
    workspaceId: str | None
    actor: EventActor
    # What the event is about.
    subject: FolderDeletedEventSubject
    # Number of the event among those of its subject, from 1.
    sequence: int
    # Position in the log of the org, from 1. Increases in the order in which events became visible.
    position: int
    # The events that led to this one; see the loop guard in the guide on events.
    chain: FolderDeletedEventChain
    # What happened.
    data: FolderDeletedEventData


class FolderMovedEventSubject(TypedDict):
    # Type of resource.
    type: str
    # ID of the resource.
    id: str


class FolderMovedEventChain(TypedDict):
    # ID of the first event of the chain.
    id: str
    # Number of events before this one.
    depth: int


class FolderMovedEventData(TypedDict):
    # ID of the folder.
    folderId: str
    # Name of the folder.
    name: str
    # ID of its folder. Null: the root folder of the org.
    parentId: str | None
    # ID of the project whose folder it is in. Null without one.
    projectId: str | None
    # ID of the folder before. Null: the root folder of the org.
    previousParentId: str | None


class FolderMovedEvent(TypedDict):
    # ID of the event, also in the header `webhook-id`.
    id: str
    # Type of the event.
    type: Literal["folder.moved"]
    # Version of the schema of `data`.
    version: Literal[1]
    # Time of the change.
    timestamp: str
    # True for a test event, which is not in the log.
    isTest: NotRequired[bool]
    # ID of the org.
    orgId: str
    # ID of the workspace. Null for an event of the whole org.
    workspaceId: str | None
    actor: EventActor
    # What the event is about.
    subject: FolderMovedEventSubject
    # Number of the event among those of its subject, from 1.
    sequence: int
    # Position in the log of the org, from 1. Increases in the order in which events became visible.
    position: int
    # The events that led to this one; see the loop guard in the guide on events.
    chain: FolderMovedEventChain
    # What happened.
    data: FolderMovedEventData


class FolderRestoredEventSubject(TypedDict):
    # Type of resource.
    type: str
    # ID of the resource.
    id: str


class FolderRestoredEventChain(TypedDict):
    # ID of the first event of the chain.
    id: str
    # Number of events before this one.
    depth: int


class FolderRestoredEventData(TypedDict):
    # ID of the folder.
    folderId: str
    # Name of the folder.
    name: str
    # ID of its folder. Null: the root folder of the org.
    parentId: str | None
    # ID of the project whose folder it is in. Null without one.
    projectId: str | None
    # Number of files, links and folders in it that were restored with it.
    restored: int


class FolderRestoredEvent(TypedDict):
    # ID of the event, also in the header `webhook-id`.
    id: str
    # Type of the event.
    type: Literal["folder.restored"]
    # Version of the schema of `data`.
    version: Literal[1]
    # Time of the change.
    timestamp: str
    # True for a test event, which is not in the log.
    isTest: NotRequired[bool]
    # ID of the org.
    orgId: str
    # ID of the workspace. Null for an event of the whole org.
    workspaceId: str | None
    actor: EventActor
    # What the event is about.
    subject: FolderRestoredEventSubject
    # Number of the event among those of its subject, from 1.
    sequence: int
    # Position in the log of the org, from 1. Increases in the order in which events became visible.
    position: int
    # The events that led to this one; see the loop guard in the guide on events.
    chain: FolderRestoredEventChain
    # What happened.
    data: FolderRestoredEventData


class FolderUpdatedEventSubject(TypedDict):
    # Type of resource.
    type: str
    # ID of the resource.
    id: str


class FolderUpdatedEventChain(TypedDict):
    # ID of the first event of the chain.
    id: str
    # Number of events before this one.
    depth: int


class FolderUpdatedEventData(TypedDict):
    # ID of the folder.
    folderId: str
    # Name of the folder.
    name: str
    # ID of its folder. Null: the root folder of the org.
    parentId: str | None
    # ID of the project whose folder it is in. Null without one.
    projectId: str | None
    # Names of the fields that were sent to be changed.
    changed: list[str]


class FolderUpdatedEvent(TypedDict):
    # ID of the event, also in the header `webhook-id`.
    id: str
    # Type of the event.
    type: Literal["folder.updated"]
    # Version of the schema of `data`.
    version: Literal[1]
    # Time of the change.
    timestamp: str
    # True for a test event, which is not in the log.
    isTest: NotRequired[bool]
    # ID of the org.
    orgId: str
    # ID of the workspace. Null for an event of the whole org.
    workspaceId: str | None
    actor: EventActor
    # What the event is about.
    subject: FolderUpdatedEventSubject
    # Number of the event among those of its subject, from 1.
    sequence: int
    # Position in the log of the org, from 1. Increases in the order in which events became visible.
    position: int
    # The events that led to this one; see the loop guard in the guide on events.
    chain: FolderUpdatedEventChain
    # What happened.
    data: FolderUpdatedEventData


class InboundEvent(TypedDict):
    # The provider's ID of the event, or the hash of its body.
    id: str
    # Type of the event.
    type: str
    # `recorded`: nothing to do. `waiting`, `running`: a turn is queued or running. `answered`: the response was sent. `silent`: the turn ended without a response. `failed`: see `error`. `unknown`: the response may or may not have arrived.
    status: Literal["recorded", "waiting", "running", "answered", "silent", "failed", "unknown"]
    # Name of the sender.
    sender: str | None
    # ID of the turn that handles the event. Null without one.
    turnId: str | None
    # Why handling the event failed. Null when it did not.
    error: str | None
    # Time when the event was received.
    receivedAt: str


class InputItemList(TypedDict):
    # Type of the object.
    object: Literal["list"]
    # The message of the turn, or the outputs that continued it.
    data: list[dict[str, Any]]
    # ID of the first item. Null without one.
    first_id: str | None
    # ID of the last item. Null without one.
    last_id: str | None
    # Always false.
    has_more: bool


class InvitationOrg(TypedDict):
    # ID of the org.
    id: str
    # Name of the org.
    name: str


class Invitation(TypedDict):
    # Unique ID, a UUID version 7.
    id: str
    # The org.
    org: InvitationOrg
    # Role in the org: `owner`, `admin`, `billing_manager` or `member`.
    role: Literal["owner", "admin", "billing_manager", "member"]
    # Name of the member who sent the invitation.
    invitedBy: str
    # Time of creation.
    createdAt: str
    # Time at which the invitation expires, after 30 days.
    expiresAt: str


class InvitationAccepted(TypedDict):
    # ID of the new membership.
    memberId: str
    # ID of the org.
    orgId: str


class InvitationDeclined(TypedDict):
    # Always true.
    declined: Literal[True]


class InvitationList(TypedDict):
    # Your open invitations, oldest first, at most 100.
    items: list[Invitation]


class LinearBinding(TypedDict):
    # Unique ID, a UUID version 7.
    id: str
    # Linear's ID of the organization whose events are received.
    organizationId: str
    # Name of the organization when it was bound.
    organizationName: str
    # ID of the connection whose token proved administration.
    connectionId: str
    # ID of the user who bound the organization.
    boundBy: str
    # Time of creation.
    createdAt: str


class LinearBindingCreate(TypedDict):
    # ID of your own Linear connection, made with the account of an administrator of the Linear organization.
    connectionId: str


class ListedMemberWorkspacesItem(TypedDict):
    # ID of the workspace.
    id: str
    # Name of the workspace.
    name: str


class ListedMember(TypedDict):
    # ID of the membership. It differs from the ID of the user.
    id: str
    # ID of the user.
    userId: str
    # E-mail address.
    email: str
    # Name of the person.
    name: str
    # Role in the org: `owner`, `admin`, `billing_manager` or `member`.
    role: Literal["owner", "admin", "billing_manager", "member"]
    # Time of creation.
    createdAt: str
    # `active`: a member. `invited`: has not accepted the invitation and has no access to the org. New people are active at once; people who signed in before or belong to another org are invited.
    status: Literal["active", "invited"]
    # Time at which the invitation expires, after 30 days. Null for members.
    expiresAt: str | None
    # Time of the latest request of the member in this org, in the console or with an API key, accurate to an hour. Null before the first, for invited people, and for callers who are neither owner nor admin.
    lastActiveAt: str | None
    # Workspaces that the member was added to, or will be when they accept, by name, at most 20. Owners and admins can access every workspace. Callers who are neither see only workspaces of their own.
    workspaces: list[ListedMemberWorkspacesItem]
    # Number of these workspaces, also when there are more than 20.
    workspaceCount: int


class ListedSessionParticipantsItem(TypedDict):
    # Whether the participant is an agent or a user.
    type: Literal["agent", "user"]
    # ID of the agent or user.
    id: str
    # Slug of the agent. Absent for users.
    slug: NotRequired[str]
    # Name of the participant.
    name: str
    # Avatar identifier of the agent. Absent for users.
    avatar: NotRequired[str]


class ListedSessionMatch(TypedDict):
    # ID of the message.
    messageId: str
    # Who wrote it: `user` or `assistant`.
    role: Literal["user", "assistant"]
    # The part of its text around a word of the search, on one line, at most 162 characters.
    excerpt: str


class ListedSession(TypedDict):
    # Unique ID, a UUID version 7.
    id: str
    # ID of the workspace.
    workspaceId: str
    # ID of the project that the agent works in. Null without one.
    projectId: str | None
    # Title, 1–255 characters. Null until the first message, whose first line becomes the title.
    title: str | None
    # How the session was created: `console`, `api`, `test`, `openai`, `mcp`, `a2a`, `chat` or `agent`. Null for sessions of people that were created before this was recorded.
    source: Literal["console", "api", "test", "openai", "mcp", "a2a", "chat", "agent"] | None
    # `idle`: no turn is running. `running`: a turn is running. `requires_action`: the running turn waits for a decision or for outputs of tools of the caller.
    status: Literal["idle", "running", "requires_action"]
    # ID of the running turn. Null without one.
    activeTurnId: str | None
    # Agents and users that take part.
    participants: list[ListedSessionParticipantsItem]
    # Your own data, at most 16 KB as JSON. The server sets `relationship`; a value that you send is ignored.
    metadata: dict[str, Any]
    # Number of messages.
    messageCount: int
    # Time of the last message. Null before the first.
    lastMessageAt: str | None
    # Time of creation.
    createdAt: str
    # Time of the last change.
    updatedAt: str
    # Only with `search`: the newest message that matches. Null when only the title does.
    match: NotRequired[ListedSessionMatch | None]


class ListedShare(TypedDict):
    # Unique ID, a UUID version 7.
    id: str
    # ID of the shared file or folder.
    fileId: str
    # `view`: previews, and pictures, PDF, audio and video as the browser displays them. `download`: previews and downloads. `upload`: uploads into a folder, without seeing what is in it.
    permission: Literal["view", "download", "upload"]
    # Whether visitors must enter a password.
    hasPassword: bool
    # Time at which the link stops working. Null: never.
    expiresAt: str | None
    # How often something can be downloaded, at most 1,000,000. Null: no limit.
    maxDownloads: int | None
    # How often something was downloaded.
    downloads: int
    # How many files can be uploaded, at most 10,000. Null: no limit but the quotas.
    maxUploads: int | None
    # How many files were uploaded.
    uploads: int
    # Size of an uploaded file in bytes. Null: 104,857,600.
    maxFileBytes: int | None
    # Media types that can be uploaded. Null: all that can be stored.
    allowedTypes: list[str] | None
    # ID of the user who created the share. The link works as long as this person may use files, and ends for good when they leave the org.
    createdBy: str
    # Whether the link has ended: it expired, its creator left the org, or the API key by which it was created was revoked or expired.
    ended: bool
    # Time of creation.
    createdAt: str
    # Time of the last change.
    updatedAt: str
    # Time of the last download or upload. Null: never used.
    lastUsedAt: str | None
    # Name of the shared file or folder.
    fileName: str
    # `upload`: a file. `folder`: a folder.
    fileSource: Literal["upload", "folder"]


class MeUser(TypedDict):
    # ID of the user.
    id: str
    # E-mail address.
    email: str
    # Name of the person.
    name: str
    # Language of the console in this org. Null: that of the browser.
    language: Literal["en", "de"] | None


class MeOrg(TypedDict):
    # ID of the org.
    id: str
    # Name of the org.
    name: str
    # Public URL of the logo, a WebP picture of 256 × 256 pixels, or of 64 × 64 with `?size=64`. Another logo has another URL. Null: no logo.
    logoUrl: str | None


class MeWorkspace(TypedDict):
    # ID of the workspace.
    id: str
    # Name of the workspace.
    name: str


class MeApiKey(TypedDict):
    # ID of the API key.
    id: str
    # Name of the API key.
    name: str
    # Scopes of the key. Empty: everything that its user may do.
    scopes: list[str]


class Me(TypedDict):
    # The user that the credential stands for.
    user: MeUser
    # The org.
    org: MeOrg
    # The workspace of the call. Null for a member who is in no workspace.
    workspace: MeWorkspace | None
    # Role of the user in the org.
    role: str
    # What the call may do: the permissions of the role, limited to the scopes of the key.
    permissions: list[str]
    # The API key of the call. Null for a session of the console.
    apiKey: MeApiKey | None


class Member(TypedDict):
    # ID of the membership. It differs from the ID of the user.
    id: str
    # ID of the user.
    userId: str
    # E-mail address.
    email: str
    # Name of the person.
    name: str
    # Role in the org: `owner`, `admin`, `billing_manager` or `member`.
    role: Literal["owner", "admin", "billing_manager", "member"]
    # Time of creation.
    createdAt: str
    # `active`: a member. `invited`: has not accepted the invitation and has no access to the org. New people are active at once; people who signed in before or belong to another org are invited.
    status: Literal["active", "invited"]
    # Time at which the invitation expires, after 30 days. Null for members.
    expiresAt: str | None


class MemberAcceptedEventSubject(TypedDict):
    # Type of resource.
    type: str
    # ID of the resource.
    id: str


class MemberAcceptedEventChain(TypedDict):
    # ID of the first event of the chain.
    id: str
    # Number of events before this one.
    depth: int


class MemberAcceptedEventData(TypedDict):
    # ID of the membership, also of its invitation before.
    memberId: str
    # ID of the person.
    userId: str
    # Role in the org.
    role: Literal["owner", "admin", "billing_manager", "member"]
    # The workspaces of the member. They have no `workspace.member_added` of their own.
    workspaceIds: list[str]


class MemberAcceptedEvent(TypedDict):
    # ID of the event, also in the header `webhook-id`.
    id: str
    # Type of the event.
    type: Literal["member.accepted"]
    # Version of the schema of `data`.
    version: Literal[1]
    # Time of the change.
    timestamp: str
    # True for a test event, which is not in the log.
    isTest: NotRequired[bool]
    # ID of the org.
    orgId: str
    # ID of the workspace. Null for an event of the whole org.
    workspaceId: str | None
    actor: EventActor
    # What the event is about.
    subject: MemberAcceptedEventSubject
    # Number of the event among those of its subject, from 1.
    sequence: int
    # Position in the log of the org, from 1. Increases in the order in which events became visible.
    position: int
    # The events that led to this one; see the loop guard in the guide on events.
    chain: MemberAcceptedEventChain
    # What happened.
    data: MemberAcceptedEventData


class MemberAddedEventSubject(TypedDict):
    # Type of resource.
    type: str
    # ID of the resource.
    id: str


class MemberAddedEventChain(TypedDict):
    # ID of the first event of the chain.
    id: str
    # Number of events before this one.
    depth: int


class MemberAddedEventData(TypedDict):
    # ID of the membership, also of its invitation before.
    memberId: str
    # ID of the person.
    userId: str
    # Role in the org.
    role: Literal["owner", "admin", "billing_manager", "member"]
    # The workspaces of the member. They have no `workspace.member_added` of their own.
    workspaceIds: list[str]


class MemberAddedEvent(TypedDict):
    # ID of the event, also in the header `webhook-id`.
    id: str
    # Type of the event.
    type: Literal["member.added"]
    # Version of the schema of `data`.
    version: Literal[1]
    # Time of the change.
    timestamp: str
    # True for a test event, which is not in the log.
    isTest: NotRequired[bool]
    # ID of the org.
    orgId: str
    # ID of the workspace. Null for an event of the whole org.
    workspaceId: str | None
    actor: EventActor
    # What the event is about.
    subject: MemberAddedEventSubject
    # Number of the event among those of its subject, from 1.
    sequence: int
    # Position in the log of the org, from 1. Increases in the order in which events became visible.
    position: int
    # The events that led to this one; see the loop guard in the guide on events.
    chain: MemberAddedEventChain
    # What happened.
    data: MemberAddedEventData


class MemberCreate(TypedDict):
    # E-mail address, 3–254 characters.
    email: str
    # Name of the person in this org, 1–120 characters. Default: the part of the e-mail address before the `@`.
    name: NotRequired[str]
    # Role in the org: `owner`, `admin`, `billing_manager` or `member`.
    role: Literal["owner", "admin", "billing_manager", "member"]
    # Workspaces to add the person to, at most 100. Default: the default workspace of the org.
    workspaceIds: NotRequired[list[str]]


class MemberCreated(TypedDict):
    # ID of the membership. It differs from the ID of the user.
    id: str
    # ID of the user.
    userId: str
    # E-mail address.
    email: str
    # Name of the person.
    name: str
    # Role in the org: `owner`, `admin`, `billing_manager` or `member`.
    role: Literal["owner", "admin", "billing_manager", "member"]
    # Time of creation.
    createdAt: str
    # `active`: a member. `invited`: has not accepted the invitation and has no access to the org. New people are active at once; people who signed in before or belong to another org are invited.
    status: Literal["active", "invited"]
    # Time at which the invitation expires, after 30 days. Null for members.
    expiresAt: str | None
    # One-time sign-in link for this org, valid for 24 hours and returned only here. Null without step-up, and for a person who has a password that opens this org.
    signInLink: str | None


class MemberDeclinedEventSubject(TypedDict):
    # Type of resource.
    type: str
    # ID of the resource.
    id: str


class MemberDeclinedEventChain(TypedDict):
    # ID of the first event of the chain.
    id: str
    # Number of events before this one.
    depth: int


class MemberDeclinedEventData(TypedDict):
    # ID of the membership, also of its invitation before.
    memberId: str
    # ID of the person.
    userId: str


class MemberDeclinedEvent(TypedDict):
    # ID of the event, also in the header `webhook-id`.
    id: str
    # Type of the event.
    type: Literal["member.declined"]
    # Version of the schema of `data`.
    version: Literal[1]
    # Time of the change.
    timestamp: str
    # True for a test event, which is not in the log.
    isTest: NotRequired[bool]
    # ID of the org.
    orgId: str
    # ID of the workspace. Null for an event of the whole org.
    workspaceId: str | None
    actor: EventActor
    # What the event is about.
    subject: MemberDeclinedEventSubject
    # Number of the event among those of its subject, from 1.
    sequence: int
    # Position in the log of the org, from 1. Increases in the order in which events became visible.
    position: int
    # The events that led to this one; see the loop guard in the guide on events.
    chain: MemberDeclinedEventChain
    # What happened.
    data: MemberDeclinedEventData


class MemberInvitedEventSubject(TypedDict):
    # Type of resource.
    type: str
    # ID of the resource.
    id: str


class MemberInvitedEventChain(TypedDict):
    # ID of the first event of the chain.
    id: str
    # Number of events before this one.
    depth: int


class MemberInvitedEventData(TypedDict):
    # ID of the membership, also of its invitation before.
    memberId: str
    # ID of the person.
    userId: str
    # Role in the org.
    role: Literal["owner", "admin", "billing_manager", "member"]
    # The workspaces of the member. They have no `workspace.member_added` of their own.
    workspaceIds: list[str]


class MemberInvitedEvent(TypedDict):
    # ID of the event, also in the header `webhook-id`.
    id: str
    # Type of the event.
    type: Literal["member.invited"]
    # Version of the schema of `data`.
    version: Literal[1]
    # Time of the change.
    timestamp: str
    # True for a test event, which is not in the log.
    isTest: NotRequired[bool]
    # ID of the org.
    orgId: str
    # ID of the workspace. Null for an event of the whole org.
    workspaceId: str | None
    actor: EventActor
    # What the event is about.
    subject: MemberInvitedEventSubject
    # Number of the event among those of its subject, from 1.
    sequence: int
    # Position in the log of the org, from 1. Increases in the order in which events became visible.
    position: int
    # The events that led to this one; see the loop guard in the guide on events.
    chain: MemberInvitedEventChain
    # What happened.
    data: MemberInvitedEventData


class MemberPatch(TypedDict):
    # Role in the org: `owner`, `admin`, `billing_manager` or `member`.
    role: Literal["owner", "admin", "billing_manager", "member"]


class MemberRemovedEventSubject(TypedDict):
    # Type of resource.
    type: str
    # ID of the resource.
    id: str


class MemberRemovedEventChain(TypedDict):
    # ID of the first event of the chain.
    id: str
    # Number of events before this one.
    depth: int


class MemberRemovedEventData(TypedDict):
    # ID of the membership, also of its invitation before.
    memberId: str
    # ID of the person.
    userId: str
    # Role in the org.
    role: Literal["owner", "admin", "billing_manager", "member"]
    # `invited`: the invitation was withdrawn.
    status: Literal["active", "invited"]


class MemberRemovedEvent(TypedDict):
    # ID of the event, also in the header `webhook-id`.
    id: str
    # Type of the event.
    type: Literal["member.removed"]
    # Version of the schema of `data`.
    version: Literal[1]
    # Time of the change.
    timestamp: str
    # True for a test event, which is not in the log.
    isTest: NotRequired[bool]
    # ID of the org.
    orgId: str
    # ID of the workspace. Null for an event of the whole org.
    workspaceId: str | None
    actor: EventActor
    # What the event is about.
    subject: MemberRemovedEventSubject
    # Number of the event among those of its subject, from 1.
    sequence: int
    # Position in the log of the org, from 1. Increases in the order in which events became visible.
    position: int
    # The events that led to this one; see the loop guard in the guide on events.
    chain: MemberRemovedEventChain
    # What happened.
    data: MemberRemovedEventData


class MemberRoleChangedEventSubject(TypedDict):
    # Type of resource.
    type: str
    # ID of the resource.
    id: str


class MemberRoleChangedEventChain(TypedDict):
    # ID of the first event of the chain.
    id: str
    # Number of events before this one.
    depth: int


class MemberRoleChangedEventData(TypedDict):
    # ID of the membership, also of its invitation before.
    memberId: str
    # ID of the person.
    userId: str
    # Role in the org.
    role: Literal["owner", "admin", "billing_manager", "member"]
    # The role before.
    previousRole: Literal["owner", "admin", "billing_manager", "member"]


class MemberRoleChangedEvent(TypedDict):
    # ID of the event, also in the header `webhook-id`.
    id: str
    # Type of the event.
    type: Literal["member.role_changed"]
    # Version of the schema of `data`.
    version: Literal[1]
    # Time of the change.
    timestamp: str
    # True for a test event, which is not in the log.
    isTest: NotRequired[bool]
    # ID of the org.
    orgId: str
    # ID of the workspace. Null for an event of the whole org.
    workspaceId: str | None
    actor: EventActor
    # What the event is about.
    subject: MemberRoleChangedEventSubject
    # Number of the event among those of its subject, from 1.
    sequence: int
    # Position in the log of the org, from 1. Increases in the order in which events became visible.
    position: int
    # The events that led to this one; see the loop guard in the guide on events.
    chain: MemberRoleChangedEventChain
    # What happened.
    data: MemberRoleChangedEventData


class MemberSignInLink(TypedDict):
    # Sign-in link that works once. It is not shown again.
    signInLink: str
    # Time from which the link does not work any more, 24 hours after its creation.
    expiresAt: str


class MemberUpdatedEventSubject(TypedDict):
    # Type of resource.
    type: str
    # ID of the resource.
    id: str


class MemberUpdatedEventChain(TypedDict):
    # ID of the first event of the chain.
    id: str
    # Number of events before this one.
    depth: int


class MemberUpdatedEventData(TypedDict):
    # ID of the membership, also of its invitation before.
    memberId: str
    # ID of the person.
    userId: str
    # Name of the member.
    name: str
    # Names of the fields that were sent to be changed.
    changed: list[str]


class MemberUpdatedEvent(TypedDict):
    # ID of the event, also in the header `webhook-id`.
    id: str
    # Type of the event.
    type: Literal["member.updated"]
    # Version of the schema of `data`.
    version: Literal[1]
    # Time of the change.
    timestamp: str
    # True for a test event, which is not in the log.
    isTest: NotRequired[bool]
    # ID of the org.
    orgId: str
    # ID of the workspace. Null for an event of the whole org.
    workspaceId: str | None
    actor: EventActor
    # What the event is about.
    subject: MemberUpdatedEventSubject
    # Number of the event among those of its subject, from 1.
    sequence: int
    # Position in the log of the org, from 1. Increases in the order in which events became visible.
    position: int
    # The events that led to this one; see the loop guard in the guide on events.
    chain: MemberUpdatedEventChain
    # What happened.
    data: MemberUpdatedEventData


class MessageAuthor(TypedDict):
    # Whether the author is an agent or a user.
    type: Literal["agent", "user"]
    # ID of the agent or user.
    id: str
    # Slug of the agent. Absent for users.
    slug: NotRequired[str]
    # Name of the author.
    name: str
    # Avatar identifier of the agent. Absent for users.
    avatar: NotRequired[str]


class Message(TypedDict):
    # Unique ID, a UUID version 7.
    id: str
    # ID of the session.
    sessionId: str
    # ID of the turn.
    turnId: str
    # `user`: the request. `assistant`: the reply of the agent.
    role: Literal["user", "assistant"]
    # The author of the message.
    author: MessageAuthor
    # Parts of the message, in order.
    parts: list[MessagePart]
    # IDs of all versions of the message, oldest first, with its own. Only in lists of the messages of a session, and only for a message with several versions; see `replaces`.
    versions: NotRequired[list[str]]
    # Time of creation.
    createdAt: str


class MessageCreatedEventSubject(TypedDict):
    # Type of resource.
    type: str
    # ID of the resource.
    id: str


class MessageCreatedEventChain(TypedDict):
    # ID of the first event of the chain.
    id: str
    # Number of events before this one.
    depth: int


class MessageCreatedEventData(TypedDict):
    # ID of the message.
    messageId: str
    # ID of the session.
    sessionId: str
    # ID of the turn.
    turnId: str
    # `user`: the request. `assistant`: the reply.
    role: Literal["user", "assistant"]
    # Text of the message, up to 1,024 bytes of UTF-8.
    text: str
    # Whether the text of the message is longer.
    isTruncated: bool


class MessageCreatedEvent(TypedDict):
    # ID of the event, also in the header `webhook-id`.
    id: str
    # Type of the event.
    type: Literal["message.created"]
    # Version of the schema of `data`.
    version: Literal[1]
    # Time of the change.
    timestamp: str
    # True for a test event, which is not in the log.
    isTest: NotRequired[bool]
    # ID of the org.
    orgId: str
    # ID of the workspace. Null for an event of the whole org.
    workspaceId: str | None
    actor: EventActor
    # What the event is about.
    subject: MessageCreatedEventSubject
    # Number of the event among those of its subject, from 1.
    sequence: int
    # Position in the log of the org, from 1. Increases in the order in which events became visible.
    position: int
    # The events that led to this one; see the loop guard in the guide on events.
    chain: MessageCreatedEventChain
    # What happened.
    data: MessageCreatedEventData
    # Contents that the event refers to: `text` of a `message.created`; `externalId`, `headers`, `contentType` and `payload` of a `webhook.event.received`. Null when they were deleted or have more than 1.5 MB. Not in events of other types.
    expanded: NotRequired[dict[str, Any] | None]


class MessagePart1(TypedDict):
    # Type of the part.
    type: Literal["text"]
    # The text.
    text: str


class MessagePart2(TypedDict):
    # Type of the part.
    type: Literal["reasoning"]
    # The reasoning.
    text: str


class MessagePart3(TypedDict):
    # Type of the part.
    type: Literal["tool-call"]
    # ID of the tool call, unique within the turn.
    toolCallId: str
    # Name of the tool.
    toolName: str
    # Arguments of the call.
    input: Any


class MessagePart4(TypedDict):
    # Type of the part.
    type: Literal["tool-result"]
    # ID of the tool call, unique within the turn.
    toolCallId: str
    # Name of the tool.
    toolName: str
    # Result of the call.
    output: Any
    # Whether the call failed.
    isError: bool


class MessagePart5(TypedDict):
    # Type of the part.
    type: Literal["file"]
    # ID of the file.
    fileId: str
    # Name of the file.
    name: str
    # Media type of the file.
    mimeType: str
    # Size in bytes.
    sizeBytes: int


class MessagePart6(TypedDict):
    # Type of the part.
    type: Literal["error"]
    # Error code.
    code: str
    # Explanation for people.
    message: str


class ModelCapabilities(TypedDict):
    # Whether the model can call tools.
    tools: bool
    # Whether the model reads images.
    vision: bool
    # Whether the model reasons before it responds.
    reasoning: bool
    # Whether the provider makes the model follow a JSON schema. Other models are told to, and their replies are validated as well.
    jsonSchema: bool
    # Whether it is an embedding model: `POST /embeddings` calls it, and agents cannot use it.
    embeddings: bool


class ModelInput(TypedDict):
    # Whether the model is shown attached pictures. False when unknown.
    images: bool
    # Whether the model is shown attached PDF files. Other models get their text.
    pdf: bool


class ModelPricing(TypedDict):
    # Price of input tokens, in microcents for a million tokens. 10,000 microcents are one cent.
    input: int
    # Price of output tokens, in microcents for a million tokens. 10,000 microcents are one cent.
    output: int
    # Price of tokens read from the cache, in microcents for a million tokens. 10,000 microcents are one cent.
    cacheRead: int
    # Price of tokens written to the cache, in microcents for a million tokens. 10,000 microcents are one cent.
    cacheWrite: int


class Model(TypedDict):
    # ID of the model: `provider/model`.
    id: str
    # Display name.
    name: str
    # Name of the provider.
    provider: str
    # Whether agents can run on the model.
    available: bool
    # Why the model is not available. Null when it is.
    unavailableReason: str | None
    # Whether the model costs nothing.
    free: bool
    # Maximum number of tokens of prompt and response together. Null when unknown.
    contextWindow: int | None
    # Maximum number of tokens of a response. Null when unknown.
    maxOutputTokens: int | None
    # Features of the model.
    capabilities: ModelCapabilities
    # What the model takes besides text.
    input: ModelInput
    # Prices. Null when unknown.
    pricing: ModelPricing | None


class OAuthCompletion(TypedDict):
    # Authorization code from the redirect of the provider, at most 4,096 characters.
    code: str
    # State from the redirect of the provider, at most 512 characters. Valid once, for 10 minutes.
    state: str
    # Issuer from the redirect of the provider (RFC 9207), at most 2,048 characters. Required when the authorization server sends one.
    iss: NotRequired[str]


class OAuthUrl(TypedDict):
    # URL of the provider's consent page. Open it in a browser. Valid once, for 10 minutes.
    oauthUrl: str


class OpenAiFile(TypedDict):
    # ID of the file.
    id: str
    # Type of the object.
    object: Literal["file"]
    # Size in bytes.
    bytes: int
    # Time of creation, in Unix seconds.
    created_at: int
    # Name of the file.
    filename: str
    # Always `user_data`: the purpose is not stored.
    purpose: Literal["user_data"]
    # Always `processed`.
    status: Literal["processed"]


class OpenAiFileDeleted(TypedDict):
    # ID of the file.
    id: str
    # Type of the object.
    object: Literal["file"]
    # Always true.
    deleted: Literal[True]


class OpenAiFileList(TypedDict):
    # Type of the object.
    object: Literal["list"]
    # Files of the org.
    data: list[OpenAiFile]
    # ID of the first file of the page. Null when it is empty.
    first_id: str | None
    # ID of the last file of the page. Null when it is empty.
    last_id: str | None
    # Whether more files follow.
    has_more: bool


class OpenAiFileUpload(TypedDict):
    # The bytes, at most 100 MB, with their media type.
    file: bytes
    # `user_data`, `assistants` or `vision`; others are rejected.
    purpose: str


class OrgSettings(TypedDict):
    # ID of the org.
    id: str
    # Name, 1–120 characters.
    name: str
    # Public URL of the logo, a WebP picture of 256 × 256 pixels, or of 64 × 64 with `?size=64`. Another logo has another URL. Null: no logo.
    logoUrl: str | None
    # ID of the model of new agents that name none, at most 120 characters. Null: that of the server.
    defaultModel: str | None
    # Name of the time zone in the IANA database, at most 64 characters. It decides which date agents have. Null: UTC.
    defaultTimeZone: str | None
    # Language of the console for new members. Null: that of their browser.
    defaultLanguage: Literal["en", "de"] | None
    # Time of creation.
    createdAt: str
    # Time of the last change.
    updatedAt: str


class OrgUpdatedEventSubject(TypedDict):
    # Type of resource.
    type: str
    # ID of the resource.
    id: str


class OrgUpdatedEventChain(TypedDict):
    # ID of the first event of the chain.
    id: str
    # Number of events before this one.
    depth: int


class OrgUpdatedEventData(TypedDict):
    # ID of the org.
    orgId: str
    # Name of the org.
    name: str
    # Names of the fields that were sent to be changed.
    changed: list[str]


class OrgUpdatedEvent(TypedDict):
    # ID of the event, also in the header `webhook-id`.
    id: str
    # Type of the event.
    type: Literal["org.updated"]
    # Version of the schema of `data`.
    version: Literal[1]
    # Time of the change.
    timestamp: str
    # True for a test event, which is not in the log.
    isTest: NotRequired[bool]
    # ID of the org.
    orgId: str
    # ID of the workspace. Null for an event of the whole org.
    workspaceId: str | None
    actor: EventActor
    # What the event is about.
    subject: OrgUpdatedEventSubject
    # Number of the event among those of its subject, from 1.
    sequence: int
    # Position in the log of the org, from 1. Increases in the order in which events became visible.
    position: int
    # The events that led to this one; see the loop guard in the guide on events.
    chain: OrgUpdatedEventChain
    # What happened.
    data: OrgUpdatedEventData


class OwnSession(TypedDict):
    # ID of the session.
    id: str
    # Whether the request was made with this session.
    isCurrent: bool
    # IP address at the sign-in. Null when unknown.
    ipAddress: str | None
    # `User-Agent` of the browser at the sign-in. Null when unknown.
    userAgent: str | None
    # Time of the sign-in.
    createdAt: str
    # Time of the last use, accurate to a day.
    lastUsedAt: str
    # Time of expiry, unless the session is used before.
    expiresAt: str


class OwnSessionList(TypedDict):
    # Your sessions, at most 100: the current one first, then those that were used last.
    items: list[OwnSession]


class PasswordChange(TypedDict):
    # Current password, 1–128 characters. Required, except for the first password of the session.
    currentPassword: NotRequired[str]
    # New password, 8–128 characters.
    newPassword: str
    # Code of the authenticator app: 6 digits. Required with the current password of another org that has two-factor authentication.
    totpCode: NotRequired[str]


class PasswordChanged(TypedDict):
    # Always true.
    changed: Literal[True]


class PaymentEventReceived(TypedDict):
    # Always true.
    received: Literal[True]


class PaymentReceiptSeller(TypedDict):
    # Name.
    name: str
    # Postal address, with line breaks. Null: none.
    address: str | None
    # Tax number. Null: none.
    taxId: str | None
    # Email address. Null: none.
    email: str | None


class PaymentReceipt(TypedDict):
    # ID of the payment at Stripe. `checkout:…` or `direct:…` for a deposit without a payment at Stripe; it identifies the receipt as well.
    paymentIntentId: str
    # Number of the receipt: the last 8 digits of the ID of the org, and the number of the payment in the org, counted from 1 without gaps.
    number: str
    # `deposit`: a person added to the balance. `topup`: automatic top-up. `plan`: a month of a plan. `direct`: a deposit without a payment.
    kind: Literal["deposit", "topup", "plan", "direct"]
    # ID of the plan. Null for a deposit, and for a plan that was paid before the server kept it.
    planId: str | None
    # Amount that was paid; 0 for a deposit without a payment, in cents.
    paidCents: int
    # Amount that was added to the balance; 0 for a plan without credit, in cents.
    creditedCents: int
    # Always `usd`.
    currency: Literal["usd"]
    # Who receives the payments. Null when the server names nobody.
    seller: PaymentReceiptSeller | None
    buyer: BuyerParty
    # Time of creation.
    createdAt: str


class PaymentReceiptList(TypedDict):
    # Items of this page.
    items: list[PaymentReceipt]
    # Send it as `cursor` to get the next page. Null on the last page.
    nextCursor: str | None


class Peer(TypedDict):
    # Unique ID, a UUID version 7.
    id: str
    # Short name, unique within the org.
    slug: str
    # Name of the agent.
    name: str
    # What the agent is for, at most 5,000 characters.
    description: str | None
    # Avatar identifier.
    avatar: str
    # Whether the agent responds.
    isActive: bool
    # Whether it lists this agent among its own peers.
    canReply: bool


class PeerMessage(TypedDict):
    # Unique ID, a UUID version 7.
    id: str
    # ID of the session.
    sessionId: str
    # ID of the turn.
    turnId: str
    # ID of the agent that wrote the message.
    fromAgentId: str
    # Slug of that agent.
    fromAgentSlug: str
    # Name of that agent when the message was written.
    fromAgentName: str
    # Avatar identifier of that agent.
    fromAgentAvatar: str
    # Whether the agent in the path wrote the message.
    isSelf: bool
    # Text of the message.
    text: str
    # Parts of the message, in order.
    parts: list[MessagePart]
    # Time of creation.
    createdAt: str


class PreviewSheetsItem(TypedDict):
    # Name of the sheet.
    name: str
    # Cells as displayed, at most 1,000 rows of 100 columns.
    rows: list[list[str]]
    # Number of rows in the file.
    rowCount: int
    # Number of columns in the file.
    columnCount: int
    # Whether the sheet has more rows or columns.
    truncated: bool


class Preview(TypedDict):
    # ID of the file. For a link, of its target.
    fileId: str
    # Name of the file.
    name: str
    # Media type of the file.
    mimeType: str
    # `text` has `text`. `document` has `text` and mostly `html`. `spreadsheet` has `sheets`.
    kind: Literal["text", "document", "spreadsheet"]
    # Whether the file has more content than the preview.
    truncated: bool
    # Text of the file, at most 512 KB.
    text: NotRequired[str]
    # Sanitised HTML of a document. Absent for PDF.
    html: NotRequired[str]
    # Sheets of a spreadsheet, at most 20.
    sheets: NotRequired[list[PreviewSheetsItem]]


class PricingPlansItemQuotas(TypedDict):
    # Maximum size of all files together, in bytes. Null: unlimited.
    storedBytes: int | None
    # Maximum number of files, folders and links. Null: unlimited.
    files: int | None
    # Maximum number of stored webhook events. Null: unlimited.
    eventsKept: int | None
    # Maximum number of webhooks. Null: unlimited.
    webhooks: int | None
    # Maximum number of agents. Null: unlimited.
    agents: int | None
    # Maximum number of connections. Null: unlimited.
    connections: int | None


class PricingPlansItem(TypedDict):
    # ID of the plan.
    id: str
    # Name of the plan.
    name: str
    # Who the plan is for.
    description: str
    # Price of a month, in cents. Null: on request.
    priceCents: int | None
    # Billing interval.
    interval: Literal["month"]
    # Credit that each paid month grants, in cents.
    includedCreditCents: int
    # Whether the plan is sold on request only.
    custom: bool
    # Quotas of an org on the plan.
    quotas: PricingPlansItemQuotas


class PricingPlatformFee(TypedDict):
    # Rate in basis points: 100 are 1 %.
    bps: int
    # Whether the fee is waived for the org now.
    waived: bool


class PricingModelsItemWithFee(TypedDict):
    # Price of input tokens, in microcents for a million tokens.
    inputMicrocents: int
    # Price of output tokens, in microcents for a million tokens.
    outputMicrocents: int
    # Price of tokens read from the cache, in microcents for a million tokens.
    cacheReadMicrocents: int
    # Price of tokens written to the cache, in microcents for a million tokens.
    cacheWriteMicrocents: int


class PricingModelsItem(TypedDict):
    # ID of the model.
    id: str
    # Display name.
    name: str
    # Name of the provider.
    provider: str
    # Whether the model costs nothing.
    free: bool
    # Price of input tokens, in microcents for a million tokens.
    inputMicrocents: int
    # Price of output tokens, in microcents for a million tokens.
    outputMicrocents: int
    # Price of tokens read from the cache, in microcents for a million tokens.
    cacheReadMicrocents: int
    # Price of tokens written to the cache, in microcents for a million tokens.
    cacheWriteMicrocents: int
    # Prices that the org pays now, including the platform fee.
    withFee: PricingModelsItemWithFee


class PricingServicesItem(TypedDict):
    # ID of the service.
    id: str
    # Unit that is billed.
    unit: str
    # Price of a unit, in microcents (10,000 are one cent).
    priceMicrocents: int


class Pricing(TypedDict):
    # Plans that the server offers.
    plans: list[PricingPlansItem]
    # Fee on the cost of model calls.
    platformFee: PricingPlatformFee
    # Prices of the models.
    models: list[PricingModelsItem]
    # Prices of other services.
    services: list[PricingServicesItem]


class Project(TypedDict):
    # Unique ID, a UUID version 7.
    id: str
    # Name, 1–255 characters without NUL, CR or LF.
    name: str
    # Short name, made from the first name, with a number or random characters if needed. It never changes.
    slug: str
    # Description, at most 5,000 characters.
    description: str | None
    # Instructions for agents that work in the project, at most 20,000 characters.
    instructions: str | None
    # ID of the protected folder of the project.
    folderId: str
    # Time of creation.
    createdAt: str
    # Time of the last change.
    updatedAt: str


class ProjectCreate(TypedDict):
    # Name, 1–255 characters without NUL, CR or LF.
    name: str
    # Description, at most 5,000 characters. Default: none.
    description: NotRequired[str | None]
    # Instructions for agents that work in the project, at most 20,000 characters. Default: none.
    instructions: NotRequired[str | None]


class ProjectCreatedEventSubject(TypedDict):
    # Type of resource.
    type: str
    # ID of the resource.
    id: str


class ProjectCreatedEventChain(TypedDict):
    # ID of the first event of the chain.
    id: str
    # Number of events before this one.
    depth: int


class ProjectCreatedEventData(TypedDict):
    # ID of the project.
    projectId: str
    # Name of the project.
    name: str
    # Slug of the project.
    slug: str
    # ID of its folder.
    folderId: str


class ProjectCreatedEvent(TypedDict):
    # ID of the event, also in the header `webhook-id`.
    id: str
    # Type of the event.
    type: Literal["project.created"]
    # Version of the schema of `data`.
    version: Literal[1]
    # Time of the change.
    timestamp: str
    # True for a test event, which is not in the log.
    isTest: NotRequired[bool]
    # ID of the org.
    orgId: str
    # ID of the workspace. Null for an event of the whole org.
    workspaceId: str | None
    actor: EventActor
    # What the event is about.
    subject: ProjectCreatedEventSubject
    # Number of the event among those of its subject, from 1.
    sequence: int
    # Position in the log of the org, from 1. Increases in the order in which events became visible.
    position: int
    # The events that led to this one; see the loop guard in the guide on events.
    chain: ProjectCreatedEventChain
    # What happened.
    data: ProjectCreatedEventData


class ProjectDeletedEventSubject(TypedDict):
    # Type of resource.
    type: str
    # ID of the resource.
    id: str


class ProjectDeletedEventChain(TypedDict):
    # ID of the first event of the chain.
    id: str
    # Number of events before this one.
    depth: int


class ProjectDeletedEventData(TypedDict):
    # ID of the project.
    projectId: str
    # Name of the project.
    name: str
    # Slug of the project.
    slug: str
    # ID of its folder.
    folderId: str


class ProjectDeletedEvent(TypedDict):
    # ID of the event, also in the header `webhook-id`.
    id: str
    # Type of the event.
    type: Literal["project.deleted"]
    # Version of the schema of `data`.
    version: Literal[1]
    # Time of the change.
    timestamp: str
    # True for a test event, which is not in the log.
    isTest: NotRequired[bool]
    # ID of the org.
    orgId: str
    # ID of the workspace. Null for an event of the whole org.
    workspaceId: str | None
    actor: EventActor
    # What the event is about.
    subject: ProjectDeletedEventSubject
    # Number of the event among those of its subject, from 1.
    sequence: int
    # Position in the log of the org, from 1. Increases in the order in which events became visible.
    position: int
    # The events that led to this one; see the loop guard in the guide on events.
    chain: ProjectDeletedEventChain
    # What happened.
    data: ProjectDeletedEventData


class ProjectPatch(TypedDict):
    # Name, 1–255 characters without NUL, CR or LF.
    name: NotRequired[str]
    # Description, at most 5,000 characters. Default: none.
    description: NotRequired[str | None]
    # Instructions for agents that work in the project, at most 20,000 characters. Default: none.
    instructions: NotRequired[str | None]


class ProjectUpdatedEventSubject(TypedDict):
    # Type of resource.
    type: str
    # ID of the resource.
    id: str


class ProjectUpdatedEventChain(TypedDict):
    # ID of the first event of the chain.
    id: str
    # Number of events before this one.
    depth: int


class ProjectUpdatedEventData(TypedDict):
    # ID of the project.
    projectId: str
    # Name of the project.
    name: str
    # Slug of the project.
    slug: str
    # ID of its folder.
    folderId: str
    # Names of the fields that were sent to be changed.
    changed: list[str]


class ProjectUpdatedEvent(TypedDict):
    # ID of the event, also in the header `webhook-id`.
    id: str
    # Type of the event.
    type: Literal["project.updated"]
    # Version of the schema of `data`.
    version: Literal[1]
    # Time of the change.
    timestamp: str
    # True for a test event, which is not in the log.
    isTest: NotRequired[bool]
    # ID of the org.
    orgId: str
    # ID of the workspace. Null for an event of the whole org.
    workspaceId: str | None
    actor: EventActor
    # What the event is about.
    subject: ProjectUpdatedEventSubject
    # Number of the event among those of its subject, from 1.
    sequence: int
    # Position in the log of the org, from 1. Increases in the order in which events became visible.
    position: int
    # The events that led to this one; see the loop guard in the guide on events.
    chain: ProjectUpdatedEventChain
    # What happened.
    data: ProjectUpdatedEventData


class Promotion(TypedDict):
    # Unique ID, a UUID version 7.
    id: str
    # Code that was redeemed.
    code: str
    # Purpose of the promotion.
    description: str | None
    # Credit that was granted, in cents.
    amountCents: int
    # Credit that is not used up, in cents.
    remainingCents: int
    # Time when the remaining credit expires. Null: never.
    expiresAt: str | None


class ProviderKey(TypedDict):
    # Unique ID, a UUID version 7.
    id: str
    # Name of the model provider.
    provider: str
    # Label of the key, at most 200 characters.
    label: str | None
    # Beginning of the SHA-256 of the key in hexadecimal, to tell keys apart.
    fingerprint: str
    # Time of creation.
    createdAt: str


class ProviderKeyCreate(TypedDict):
    # Model provider that issued the key.
    provider: Literal["openai", "anthropic", "google", "openrouter", "mistral", "groq", "xai", "deepseek"]
    # The key: 16–500 printable ASCII characters without spaces. Stored encrypted.
    key: str
    # Label of the key, at most 200 characters. Default: none.
    label: NotRequired[str | None]


class Quota(TypedDict):
    # What is limited. `files` also counts folders and links.
    name: Literal["storedBytes", "files", "eventsKept", "webhooks", "agents", "connections"]
    # Maximum for the org, in `unit`. Null: unlimited.
    limit: int | None
    # Current usage of the org, in `unit`. It exceeds the limit when the limit was lowered.
    used: int
    # Part of `used` that is in the trash, in `unit`. Null for quotas without a trash.
    trashed: int | None
    # Unit of `limit` and `used`.
    unit: Literal["bytes", "count"]
    # ID of the org's plan. Null on a server without plans.
    plan: str | None
    # Where the limit comes from: the plan, or a limit that the operator of the server set for the org.
    source: Literal["plan", "operator"]
    # Time of the last request that was rejected because of this quota.
    lastRefusedAt: str | None


class QuotaList(TypedDict):
    # All quotas of the org.
    items: list[Quota]


class Receipt(TypedDict):
    # Always true.
    received: Literal[True]
    # ID of the stored event. For a duplicate, of the first one.
    eventId: str
    # Whether the event was received before.
    duplicate: bool


class ReceivedData(TypedDict):
    # Always true.
    received: Literal[True]
    # Whether the event was received before. Duplicates are ignored.
    duplicate: bool


class Received(TypedDict):
    # Always true.
    success: Literal[True]
    # Confirmation that the event is stored.
    data: ReceivedData


class Recover(TypedDict):
    # Retry failed deliveries that were created at this time or later.
    since: str


class Recovered(TypedDict):
    # Number of deliveries that are retried.
    queued: int


class Redeem(TypedDict):
    # Promotion code, 1–100 characters.
    code: str


class RequiredToolOutput(TypedDict):
    # ID of the tool call, at most 64 characters.
    callId: str
    # Name of the tool.
    toolName: str
    # Arguments of the call.
    input: Any


class ResponseCreate(TypedDict):
    # `agent/` and the slug or ID of an agent. At most 300 characters.
    model: str
    # Text, or up to 2,000 items: messages (`input_text`, `input_image`, `input_file`), `function_call`, `function_call_output`, `item_reference` to an item of an earlier response, and `reasoning`, which is ignored.
    input: str | list[dict[str, Any]]
    # Added to the agent's system prompt for this response, at most 100,000 characters. Default: none.
    instructions: NotRequired[str | None]
    # ID of the response that this one continues, at most 100 characters. Default: none.
    previous_response_id: NotRequired[str | None]
    # Whether to send server-sent events. Default false.
    stream: NotRequired[bool | None]
    # Whether to respond at once, with the status `queued` or `in_progress`. Default false.
    background: NotRequired[bool | None]
    # Whether `GET /responses/:id` returns the response. The session keeps the conversation in any case. Default true.
    store: NotRequired[bool | None]
    # Up to 16 texts of at most 512 characters, by names of at most 64.
    metadata: NotRequired[dict[str, str] | None]
    # Maximum number of output tokens of each model call, 1–100,000,000. Default: the limit of the model.
    max_output_tokens: NotRequired[int | None]
    # `format`: `text`, `json_object` or `json_schema`. The response is validated. Default: text.
    text: NotRequired[dict[str, Any] | None]
    # Functions that the client runs, at most 128. Hosted tools are rejected. Default: none.
    tools: NotRequired[list[dict[str, Any]] | None]
    # `auto`, `none`, `required`, or a function by name. Default `auto`.
    tool_choice: NotRequired[Any]
    # Whether a response may have several function calls. Default true.
    parallel_tool_calls: NotRequired[bool | None]
    # `reasoning.encrypted_content` is accepted and has no effect, because the server keeps the reasoning. Others are rejected. Default: none.
    include: NotRequired[list[str] | None]


class ResponseFormat1(TypedDict):
    # The reply is text.
    type: Literal["text"]


class ResponseFormat2(TypedDict):
    # The reply is JSON that matches `schema`.
    type: Literal["json_schema"]
    # JSON Schema of the reply, at most 32 KB as JSON. References must begin with `#`. `format` is checked as well.
    schema: dict[str, Any]
    # Name of the format for the model: 1–64 letters, digits, `_` and `-`. Default `response`.
    name: NotRequired[str]
    # What the reply is, for the model, at most 2,000 characters.
    description: NotRequired[str]
    # Whether OpenAI's models follow the schema exactly, for which it must be in their subset of JSON Schema. Default false. The reply is validated in any case.
    strict: NotRequired[bool]


class ResponseObject(TypedDict):
    # `resp_` and the ID of the turn.
    id: str
    # Type of the object.
    object: Literal["response"]
    # Time of creation, in Unix seconds.
    created_at: int
    # `in_progress` includes turns that wait for a person to approve a tool call.
    status: Literal["queued", "in_progress", "completed", "incomplete", "failed", "cancelled"]
    # The agent, as the request named it.
    model: str
    # Reasoning, the message, and function calls.
    output: list[dict[str, Any]]


class RetentionDefaults(TypedDict):
    # `versionsKept` of orgs that have not set it.
    versionsKept: int
    # `versionsDays` of orgs that have not set it.
    versionsDays: int


class Retention(TypedDict):
    # Former versions without a label kept of each file.
    versionsKept: int
    # Days for which a version without a label is kept after a newer one has replaced it. 0: no limit.
    versionsDays: int
    # The configuration of the server.
    defaults: RetentionDefaults


class RetentionPatch(TypedDict):
    # Former versions without a label to keep of each file, 0–1,000. Null: as the server is configured.
    versionsKept: NotRequired[int | None]
    # Days to keep a version without a label after a newer one has replaced it, 0–3,650; 0: no limit. Null: as the server is configured.
    versionsDays: NotRequired[int | None]


class RevokedConnection(TypedDict):
    # Always true.
    deleted: Literal[True]
    # `revoked`: the provider revoked access. `pending`: the provider did not respond; retried for about an hour. `failed`: the provider did not revoke access; remove Atrium in its settings. `unsupported`: the provider has no revocation.
    providerRevocation: Literal["revoked", "pending", "failed", "unsupported"]


class RpcFailureError(TypedDict):
    # Error code of JSON-RPC, or the negative HTTP status code.
    code: int
    # Explanation for people.
    message: str
    # Details of the error.
    data: NotRequired[Any]


class RpcFailure(TypedDict):
    # Version of JSON-RPC.
    jsonrpc: Literal["2.0"]
    # ID of the request. Null when it could not be read.
    id: str | int | None
    # The error.
    error: RpcFailureError


class SecretRotate(TypedDict):
    # Signing secret that the provider issued, 8–256 characters. Default: a new secret is generated.
    secret: NotRequired[str]
    # Public key of the application in hexadecimal, at most 128 characters. Required to create a webhook for `discord`.
    publicKey: NotRequired[str]


class SessionParticipantsItem(TypedDict):
    # Whether the participant is an agent or a user.
    type: Literal["agent", "user"]
    # ID of the agent or user.
    id: str
    # Slug of the agent. Absent for users.
    slug: NotRequired[str]
    # Name of the participant.
    name: str
    # Avatar identifier of the agent. Absent for users.
    avatar: NotRequired[str]


class Session(TypedDict):
    # Unique ID, a UUID version 7.
    id: str
    # ID of the workspace.
    workspaceId: str
    # ID of the project that the agent works in. Null without one.
    projectId: str | None
    # Title, 1–255 characters. Null until the first message, whose first line becomes the title.
    title: str | None
    # How the session was created: `console`, `api`, `test`, `openai`, `mcp`, `a2a`, `chat` or `agent`. Null for sessions of people that were created before this was recorded.
    source: Literal["console", "api", "test", "openai", "mcp", "a2a", "chat", "agent"] | None
    # `idle`: no turn is running. `running`: a turn is running. `requires_action`: the running turn waits for a decision or for outputs of tools of the caller.
    status: Literal["idle", "running", "requires_action"]
    # ID of the running turn. Null without one.
    activeTurnId: str | None
    # Agents and users that take part.
    participants: list[SessionParticipantsItem]
    # Your own data, at most 16 KB as JSON. The server sets `relationship`; a value that you send is ignored.
    metadata: dict[str, Any]
    # Number of messages.
    messageCount: int
    # Time of the last message. Null before the first.
    lastMessageAt: str | None
    # Time of creation.
    createdAt: str
    # Time of the last change.
    updatedAt: str


class SessionCreate(TypedDict):
    # The agent's UUID or its slug, at most 255 characters.
    agentId: str
    # Title, 1–255 characters. Default, also for null: the first line of the first message.
    title: NotRequired[str | None]
    # ID of a project. The agent reads its instructions and works in its folder. Default, also for null: none.
    projectId: NotRequired[str | None]
    # Your own data, at most 16 KB as JSON. The server sets `relationship`; a value that you send is ignored.
    metadata: NotRequired[dict[str, Any]]
    # Whether the session is a test of the agent: its `source` is `test`. Default false.
    isTest: NotRequired[bool]


class SessionCreatedEventSubject(TypedDict):
    # Type of resource.
    type: str
    # ID of the resource.
    id: str


class SessionCreatedEventChain(TypedDict):
    # ID of the first event of the chain.
    id: str
    # Number of events before this one.
    depth: int


class SessionCreatedEventData(TypedDict):
    # ID of the session.
    sessionId: str
    # ID of the agent that replies.
    agentId: str
    # Title. Null until the first message provides one.
    title: str | None
    # `user`: with a person. `peer`: between agents. `connector`: in a chat of a provider.
    relationship: Literal["user", "peer", "connector"]


class SessionCreatedEvent(TypedDict):
    # ID of the event, also in the header `webhook-id`.
    id: str
    # Type of the event.
    type: Literal["session.created"]
    # Version of the schema of `data`.
    version: Literal[1]
    # Time of the change.
    timestamp: str
    # True for a test event, which is not in the log.
    isTest: NotRequired[bool]
    # ID of the org.
    orgId: str
    # ID of the workspace. Null for an event of the whole org.
    workspaceId: str | None
    actor: EventActor
    # What the event is about.
    subject: SessionCreatedEventSubject
    # Number of the event among those of its subject, from 1.
    sequence: int
    # Position in the log of the org, from 1. Increases in the order in which events became visible.
    position: int
    # The events that led to this one; see the loop guard in the guide on events.
    chain: SessionCreatedEventChain
    # What happened.
    data: SessionCreatedEventData


class SessionDeletedEventSubject(TypedDict):
    # Type of resource.
    type: str
    # ID of the resource.
    id: str


class SessionDeletedEventChain(TypedDict):
    # ID of the first event of the chain.
    id: str
    # Number of events before this one.
    depth: int


class SessionDeletedEventData(TypedDict):
    # ID of the session.
    sessionId: str


class SessionDeletedEvent(TypedDict):
    # ID of the event, also in the header `webhook-id`.
    id: str
    # Type of the event.
    type: Literal["session.deleted"]
    # Version of the schema of `data`.
    version: Literal[1]
    # Time of the change.
    timestamp: str
    # True for a test event, which is not in the log.
    isTest: NotRequired[bool]
    # ID of the org.
    orgId: str
    # ID of the workspace. Null for an event of the whole org.
    workspaceId: str | None
    actor: EventActor
    # What the event is about.
    subject: SessionDeletedEventSubject
    # Number of the event among those of its subject, from 1.
    sequence: int
    # Position in the log of the org, from 1. Increases in the order in which events became visible.
    position: int
    # The events that led to this one; see the loop guard in the guide on events.
    chain: SessionDeletedEventChain
    # What happened.
    data: SessionDeletedEventData


class SessionPatch(TypedDict):
    # Title, 1–255 characters. Default, also for null: the first line of the first message.
    title: NotRequired[str | None]
    # ID of a project. Null removes the session from its project.
    projectId: NotRequired[str | None]
    # Metadata to change. Keys that are not sent stay as they are; null removes a key.
    metadata: NotRequired[dict[str, Any]]


class SessionUpdatedEventSubject(TypedDict):
    # Type of resource.
    type: str
    # ID of the resource.
    id: str


class SessionUpdatedEventChain(TypedDict):
    # ID of the first event of the chain.
    id: str
    # Number of events before this one.
    depth: int


class SessionUpdatedEventData(TypedDict):
    # ID of the session.
    sessionId: str
    # Names of the fields that were sent to be changed.
    changed: list[str]


class SessionUpdatedEvent(TypedDict):
    # ID of the event, also in the header `webhook-id`.
    id: str
    # Type of the event.
    type: Literal["session.updated"]
    # Version of the schema of `data`.
    version: Literal[1]
    # Time of the change.
    timestamp: str
    # True for a test event, which is not in the log.
    isTest: NotRequired[bool]
    # ID of the org.
    orgId: str
    # ID of the workspace. Null for an event of the whole org.
    workspaceId: str | None
    actor: EventActor
    # What the event is about.
    subject: SessionUpdatedEventSubject
    # Number of the event among those of its subject, from 1.
    sequence: int
    # Position in the log of the org, from 1. Increases in the order in which events became visible.
    position: int
    # The events that led to this one; see the loop guard in the guide on events.
    chain: SessionUpdatedEventChain
    # What happened.
    data: SessionUpdatedEventData


class SessionsEnded(TypedDict):
    # Number of sessions that ended.
    ended: int


class Share(TypedDict):
    # Unique ID, a UUID version 7.
    id: str
    # ID of the shared file or folder.
    fileId: str
    # `view`: previews, and pictures, PDF, audio and video as the browser displays them. `download`: previews and downloads. `upload`: uploads into a folder, without seeing what is in it.
    permission: Literal["view", "download", "upload"]
    # Whether visitors must enter a password.
    hasPassword: bool
    # Time at which the link stops working. Null: never.
    expiresAt: str | None
    # How often something can be downloaded, at most 1,000,000. Null: no limit.
    maxDownloads: int | None
    # How often something was downloaded.
    downloads: int
    # How many files can be uploaded, at most 10,000. Null: no limit but the quotas.
    maxUploads: int | None
    # How many files were uploaded.
    uploads: int
    # Size of an uploaded file in bytes. Null: 104,857,600.
    maxFileBytes: int | None
    # Media types that can be uploaded. Null: all that can be stored.
    allowedTypes: list[str] | None
    # ID of the user who created the share. The link works as long as this person may use files, and ends for good when they leave the org.
    createdBy: str
    # Whether the link has ended: it expired, its creator left the org, or the API key by which it was created was revoked or expired.
    ended: bool
    # Time of creation.
    createdAt: str
    # Time of the last change.
    updatedAt: str
    # Time of the last download or upload. Null: never used.
    lastUsedAt: str | None


class ShareCreate(TypedDict):
    # `view`: previews, and pictures, PDF, audio and video as the browser displays them. `download`: previews and downloads. `upload`: uploads into a folder, without seeing what is in it.
    permission: NotRequired[Literal["view", "download", "upload"]]
    # Password that visitors must enter, 8–128 characters. It is never returned. Null: none.
    password: NotRequired[str | None]
    # Time at which the link stops working. Null: never.
    expiresAt: NotRequired[str | None]
    # How often something can be downloaded, 1–1,000,000; with `download` only. Nothing is previewed then. Null: no limit.
    maxDownloads: NotRequired[int | None]
    # How many files can be uploaded, 1–10,000; with `upload` only. Default 100. Null: no limit but the quotas.
    maxUploads: NotRequired[int | None]
    # Size of an uploaded file in bytes, 1–104,857,600; with `upload` only. Null: 104,857,600.
    maxFileBytes: NotRequired[int | None]
    # Media types that can be uploaded, 1–50, or kinds of types that can be stored, such as `image/*`; with `upload` only. Null: all that can be stored.
    allowedTypes: NotRequired[list[str] | None]


class ShareCreated(TypedDict):
    # Unique ID, a UUID version 7.
    id: str
    # ID of the shared file or folder.
    fileId: str
    # `view`: previews, and pictures, PDF, audio and video as the browser displays them. `download`: previews and downloads. `upload`: uploads into a folder, without seeing what is in it.
    permission: Literal["view", "download", "upload"]
    # Whether visitors must enter a password.
    hasPassword: bool
    # Time at which the link stops working. Null: never.
    expiresAt: str | None
    # How often something can be downloaded, at most 1,000,000. Null: no limit.
    maxDownloads: int | None
    # How often something was downloaded.
    downloads: int
    # How many files can be uploaded, at most 10,000. Null: no limit but the quotas.
    maxUploads: int | None
    # How many files were uploaded.
    uploads: int
    # Size of an uploaded file in bytes. Null: 104,857,600.
    maxFileBytes: int | None
    # Media types that can be uploaded. Null: all that can be stored.
    allowedTypes: list[str] | None
    # ID of the user who created the share. The link works as long as this person may use files, and ends for good when they leave the org.
    createdBy: str
    # Whether the link has ended: it expired, its creator left the org, or the API key by which it was created was revoked or expired.
    ended: bool
    # Time of creation.
    createdAt: str
    # Time of the last change.
    updatedAt: str
    # Time of the last download or upload. Null: never used.
    lastUsedAt: str | None
    # The link. It is returned only once, because only a hash of it is stored.
    url: str


class SharePatch(TypedDict):
    # Password that visitors must enter, 8–128 characters. It is never returned. Null: none.
    password: NotRequired[str | None]
    # Time at which the link stops working. Null: never.
    expiresAt: NotRequired[str | None]
    # How often something can be downloaded, 1–1,000,000; with `download` only. Nothing is previewed then. Null: no limit.
    maxDownloads: NotRequired[int | None]
    # How many files can be uploaded, 1–10,000; with `upload` only. Default 100. Null: no limit but the quotas.
    maxUploads: NotRequired[int | None]
    # Size of an uploaded file in bytes, 1–104,857,600; with `upload` only. Null: 104,857,600.
    maxFileBytes: NotRequired[int | None]
    # Media types that can be uploaded, 1–50, or kinds of types that can be stored, such as `image/*`; with `upload` only. Null: all that can be stored.
    allowedTypes: NotRequired[list[str] | None]


class SignIn(TypedDict):
    # E-mail address, 3–254 characters.
    email: str
    # Password, 1–128 characters.
    password: str


class SignInCode(TypedDict):
    # Code of the authenticator app: 6 digits.
    code: NotRequired[str]
    # A backup code, at most 32 characters, in place of `code`. Each works once.
    backupCode: NotRequired[str]


class SignInLink(TypedDict):
    # Token of the sign-in link: what follows `#link=`, at most 200 characters.
    token: str


class SignInLinkOrgOrg(TypedDict):
    # Name of the org.
    name: str
    # Public URL of the logo, a WebP picture of 256 × 256 pixels, or of 64 × 64 with `?size=64`. Another logo has another URL. Null: no logo.
    logoUrl: str | None


class SignInLinkOrg(TypedDict):
    # The org that the link opens. Null when it opens several or none.
    org: SignInLinkOrgOrg | None


class SignedIn(TypedDict):
    # Whether a second factor is required: send a code to `POST /auth/sign-in/totp` to get a session.
    twoFactorRequired: bool


class SignedOut(TypedDict):
    # Always true.
    signedOut: Literal[True]


class SpendingSummary(TypedDict):
    # Number of model calls, including free ones.
    requestCount: int
    # Number of model calls with the org's own provider key.
    byokRequestCount: int
    # Input tokens, including cached ones.
    inputTokens: int
    # Output tokens.
    outputTokens: int
    # Tokens read from the cache.
    cacheReadTokens: int
    # Tokens written to the cache.
    cacheWriteTokens: int
    # Input and output tokens together.
    totalTokens: int
    # Cost of the model calls at the provider, in microcents (10,000 are one cent).
    providerCostMicrocents: int
    # Platform fee, in microcents (10,000 are one cent).
    platformFeeMicrocents: int
    # Total charged to the org, in microcents (10,000 are one cent).
    totalChargedMicrocents: int
    # Total charged to the org, rounded down, in cents.
    totalChargedCents: int


class SpendingDailyItem(TypedDict):
    # Day in UTC.
    date: str
    # Number of model calls, including free ones.
    requestCount: int
    # Number of model calls with the org's own provider key.
    byokRequestCount: int
    # Input tokens, including cached ones.
    inputTokens: int
    # Output tokens.
    outputTokens: int
    # Tokens read from the cache.
    cacheReadTokens: int
    # Tokens written to the cache.
    cacheWriteTokens: int
    # Input and output tokens together.
    totalTokens: int
    # Cost of the model calls at the provider, in microcents (10,000 are one cent).
    providerCostMicrocents: int
    # Platform fee, in microcents (10,000 are one cent).
    platformFeeMicrocents: int
    # Total charged to the org, in microcents (10,000 are one cent).
    totalChargedMicrocents: int
    # Total charged to the org, rounded down, in cents.
    totalChargedCents: int


class SpendingTopAgentsItem(TypedDict):
    # ID of the agent. Null for usage that cannot be attributed.
    id: str | None
    # Name of the agent.
    name: str
    # Number of model calls, including free ones.
    requestCount: int
    # Number of model calls with the org's own provider key.
    byokRequestCount: int
    # Input tokens, including cached ones.
    inputTokens: int
    # Output tokens.
    outputTokens: int
    # Tokens read from the cache.
    cacheReadTokens: int
    # Tokens written to the cache.
    cacheWriteTokens: int
    # Input and output tokens together.
    totalTokens: int
    # Cost of the model calls at the provider, in microcents (10,000 are one cent).
    providerCostMicrocents: int
    # Platform fee, in microcents (10,000 are one cent).
    platformFeeMicrocents: int
    # Total charged to the org, in microcents (10,000 are one cent).
    totalChargedMicrocents: int
    # Total charged to the org, rounded down, in cents.
    totalChargedCents: int
    # Share of the total charged, 0–1.
    share: float


class SpendingTopModelsItem(TypedDict):
    # ID of the model. Null for usage that cannot be attributed.
    id: str | None
    # Name of the model.
    name: str
    # Number of model calls, including free ones.
    requestCount: int
    # Number of model calls with the org's own provider key.
    byokRequestCount: int
    # Input tokens, including cached ones.
    inputTokens: int
    # Output tokens.
    outputTokens: int
    # Tokens read from the cache.
    cacheReadTokens: int
    # Tokens written to the cache.
    cacheWriteTokens: int
    # Input and output tokens together.
    totalTokens: int
    # Cost of the model calls at the provider, in microcents (10,000 are one cent).
    providerCostMicrocents: int
    # Platform fee, in microcents (10,000 are one cent).
    platformFeeMicrocents: int
    # Total charged to the org, in microcents (10,000 are one cent).
    totalChargedMicrocents: int
    # Total charged to the org, rounded down, in cents.
    totalChargedCents: int
    # Share of the total charged, 0–1.
    share: float


class SpendingChartModelsItem(TypedDict):
    # ID of the model. Null for all other models.
    id: str | None
    # Name of the model.
    name: str
    # Charged in each interval of `dates`, in microcents (10,000 are one cent).
    chargedMicrocents: list[int]


SpendingChartPrevious = TypedDict(
    "SpendingChartPrevious",
    {
        # First day in UTC.
        "from": "str",
        # Last day in UTC.
        "to": "str",
        # Charged in total, in microcents (10,000 are one cent).
        "totalChargedMicrocents": "int",
        # Charged in each interval. Can be shorter than `dates`, when the month before is shorter, in microcents (10,000 are one cent).
        "chargedMicrocents": "list[int]",
    },
)


class SpendingChart(TypedDict):
    # Length of the intervals: `month` for the periods `year` and `all`, else `day`.
    grain: Literal["day", "month"]
    # First day of each interval in UTC, oldest first.
    dates: list[str]
    # The six models with the highest charges, highest first, and all others as one item. Models without charges are not included.
    models: list[SpendingChartModelsItem]
    # The period before, up to the same point: on March 10, `month` is compared with February 1 to 10. Null for `all`.
    previous: SpendingChartPrevious | None


Spending = TypedDict(
    "Spending",
    {
        # Period that the figures are for.
        "period": "str",
        # Start of the period, inclusive.
        "from": "str",
        # End of the period: the time of the request.
        "to": "str",
        # Usage of the whole period.
        "summary": "SpendingSummary",
        # Usage by day, oldest first.
        "daily": "list[SpendingDailyItem]",
        # Agents with the highest charges.
        "topAgents": "list[SpendingTopAgentsItem]",
        # Models with the highest charges.
        "topModels": "list[SpendingTopModelsItem]",
        # Charges over time by model, compared with the period before.
        "chart": "SpendingChart",
    },
)


class StartedConnection(TypedDict):
    connection: Connection
    # URL of the provider's consent page. Open it in a browser. Valid once, for 10 minutes. Null for other connectors.
    oauthUrl: str | None
    # URL to POST the credentials to. Null for OAuth connectors.
    credentialSubmitUrl: str | None


class StatementSeller(TypedDict):
    # Name.
    name: str
    # Postal address, with line breaks. Null: none.
    address: str | None
    # Tax number. Null: none.
    taxId: str | None
    # Email address. Null: none.
    email: str | None


class StatementEntriesItem(TypedDict):
    # Unique ID, a UUID version 7.
    id: str
    # Why the balance changed.
    type: Literal["deposit", "refund", "adjustment"]
    # Change of the balance, in cents.
    amountCents: int
    # Explanation.
    notes: str | None
    # ID of the payment at Stripe. Null without a payment.
    paymentIntentId: str | None
    # Time of creation.
    createdAt: str


class StatementUsageModelsItem(TypedDict):
    # ID of the model. Null for all other models.
    id: str | None
    # Name of the model.
    name: str
    # Number of model calls, including free ones.
    requestCount: int
    # Input tokens.
    inputTokens: int
    # Output tokens.
    outputTokens: int
    # Charged, without the platform fee, in microcents (10,000 are one cent).
    amountMicrocents: int


class StatementUsage(TypedDict):
    # The 200 models with the highest charges, highest first, and all others as one.
    models: list[StatementUsageModelsItem]
    # Platform fee, in microcents (10,000 are one cent).
    platformFeeMicrocents: int
    # Charged before the month and posted in it, in microcents (10,000 are one cent).
    carriedInMicrocents: int
    # Charged in the month and not posted in it: a rest below a cent, in microcents (10,000 are one cent).
    carriedOutMicrocents: int
    # Posted in the month, a whole number of cents: models, platform fee and `carriedInMicrocents`, without `carriedOutMicrocents`, in microcents (10,000 are one cent).
    totalMicrocents: int


class StatementPlanPaymentsItem(TypedDict):
    # ID of the payment at Stripe.
    paymentIntentId: str
    # Number of the receipt: the last 8 digits of the ID of the org, and the number of the payment in the org, counted from 1 without gaps.
    receiptNumber: str
    # ID of the plan. Null when it is unknown.
    planId: str | None
    # Amount that was paid, in cents.
    paidCents: int
    # Time of creation.
    createdAt: str


Statement = TypedDict(
    "Statement",
    {
        # Calendar month in UTC.
        "month": "str",
        # Whether the figures can still change. A month is final an hour after its end.
        "provisional": "bool",
        # Balance before the first transaction of the month, in cents.
        "openingBalanceCents": "int",
        # Sum of the deposits, in cents.
        "depositsCents": "int",
        # Sum of refunds and disputes, 0 or negative, in cents.
        "refundsCents": "int",
        # Sum of the adjustments: credits of plans and promotions, reversed refunds and corrections, in cents.
        "adjustmentsCents": "int",
        # Sum of the charges for usage and of the platform fee, 0 or negative, in cents.
        "usageCents": "int",
        # Balance after the last transaction of the month: the sum of the opening balance, deposits, refunds, adjustments and usage, in cents.
        "closingBalanceCents": "int",
        # Start of the month, inclusive.
        "from": "str",
        # End of the month, exclusive.
        "to": "str",
        # Always `usd`.
        "currency": "Literal['usd']",
        # Who receives the payments. Null when the server names nobody.
        "seller": "StatementSeller | None",
        "buyer": "BuyerParty",
        # Deposits, refunds and adjustments, oldest first, at most 500. `omittedCount` has the number of others.
        "entries": "list[StatementEntriesItem]",
        # Number of deposits, refunds and adjustments that are not in `entries`.
        "omittedCount": "int",
        # Sum of those that are not in `entries`, in cents.
        "omittedCents": "int",
        # The usage of the month, and how it became whole cents.
        "usage": "StatementUsage",
        # Payments for plans that include credit, at most 50. They do not change the balance.
        "planPayments": "list[StatementPlanPaymentsItem]",
    },
)


class StatementListItemsItem(TypedDict):
    # Calendar month in UTC.
    month: str
    # Whether the figures can still change. A month is final an hour after its end.
    provisional: bool
    # Balance before the first transaction of the month, in cents.
    openingBalanceCents: int
    # Sum of the deposits, in cents.
    depositsCents: int
    # Sum of refunds and disputes, 0 or negative, in cents.
    refundsCents: int
    # Sum of the adjustments: credits of plans and promotions, reversed refunds and corrections, in cents.
    adjustmentsCents: int
    # Sum of the charges for usage and of the platform fee, 0 or negative, in cents.
    usageCents: int
    # Balance after the last transaction of the month: the sum of the opening balance, deposits, refunds, adjustments and usage, in cents.
    closingBalanceCents: int


class StatementList(TypedDict):
    # Items of this page.
    items: list[StatementListItemsItem]
    # Send it as `cursor` to get the next page. Null on the last page.
    nextCursor: str | None


class StepUp(TypedDict):
    # Password, 1–128 characters. Send either this or `totpCode`.
    password: NotRequired[str]
    # Code of the authenticator app: 6 digits. Send either this or `password`.
    totpCode: NotRequired[str]


class StepUpToken(TypedDict):
    # Token for the header `X-Step-Up-Token`.
    token: str
    # Time of expiry, 10 minutes from now.
    expiresAt: str


class SubmittedConnection(TypedDict):
    # Unique ID, a UUID version 7.
    id: str
    # Slug of the connector.
    connectorSlug: str
    # Label that distinguishes several connections to one connector.
    label: str | None
    # `pending`: waits up to an hour for credentials or consent. `active`: in use. `error`: the provider rejects the credentials, see `lastError`. `expired`: not completed in an hour. `revoked`: deleted.
    status: Literal["pending", "active", "error", "expired", "revoked"]
    # Name of the account at the provider. Null while pending.
    accountName: str | None
    # ID of the account at the provider. Null while pending.
    accountId: str | None
    # Scopes that the provider granted. Empty for connectors without scopes.
    scopes: list[str]
    # Time of the last use. Null before the first.
    lastUsedAt: str | None
    # Last error of the provider. Null without one.
    lastError: str | None
    # Time of creation.
    createdAt: str
    # Time of the last change.
    updatedAt: str
    # Time of deletion. Null before that.
    deletedAt: str | None
    # Only for MCP servers that ask for sign-in: URL of the consent page. Open it in a browser. Valid once, for 10 minutes. Nothing is stored before the sign-in is complete.
    oauthUrl: NotRequired[str | None]


class SubscriptionCreate(TypedDict):
    # ID of a monthly plan from `GET /billing/pricing`. At most 63 characters.
    planId: str


class SubscriptionEnded(TypedDict):
    # ID of a monthly plan from `GET /billing/pricing`.
    planId: str
    # Always true: the plan ends with the paid month.
    cancelAtPeriodEnd: Literal[True]
    # End of the paid month.
    currentPeriodEnd: str | None


class SubscriptionStarted(TypedDict):
    # URL of the payment page. Open it in a browser.
    checkoutUrl: str
    # ID of the checkout session at Stripe.
    sessionId: str
    # ID of a monthly plan from `GET /billing/pricing`.
    planId: str


class SubscriptionUpdatedEventSubject(TypedDict):
    # Type of resource.
    type: str
    # ID of the resource.
    id: str


class SubscriptionUpdatedEventChain(TypedDict):
    # ID of the first event of the chain.
    id: str
    # Number of events before this one.
    depth: int


class SubscriptionUpdatedEventData(TypedDict):
    # ID of the plan.
    planId: str
    # Status at the payment provider.
    status: str
    # Whether it ends with the paid period.
    cancelAtPeriodEnd: bool
    # End of the paid period. Null until the payment provider reports it.
    currentPeriodEnd: str | None


class SubscriptionUpdatedEvent(TypedDict):
    # ID of the event, also in the header `webhook-id`.
    id: str
    # Type of the event.
    type: Literal["subscription.updated"]
    # Version of the schema of `data`.
    version: Literal[1]
    # Time of the change.
    timestamp: str
    # True for a test event, which is not in the log.
    isTest: NotRequired[bool]
    # ID of the org.
    orgId: str
    # ID of the workspace. Null for an event of the whole org.
    workspaceId: str | None
    actor: EventActor
    # What the event is about.
    subject: SubscriptionUpdatedEventSubject
    # Number of the event among those of its subject, from 1.
    sequence: int
    # Position in the log of the org, from 1. Increases in the order in which events became visible.
    position: int
    # The events that led to this one; see the loop guard in the guide on events.
    chain: SubscriptionUpdatedEventChain
    # What happened.
    data: SubscriptionUpdatedEventData


class ToolAgreement(TypedDict):
    # `offered.hash` of the tools to accept, 1–128 characters.
    hash: str


class ToolChoice2(TypedDict):
    # Name of the tool of the caller that the model must call.
    name: str


class ToolOutputsOutputsItem(TypedDict):
    # ID of the tool call, at most 64 characters.
    callId: str
    # Result of the call: any JSON value of at most 256 KB.
    output: Any
    # Whether the call failed. `output` is then the error. Default false.
    isError: NotRequired[bool]


class ToolOutputs(TypedDict):
    # Outputs of calls, 1–128.
    outputs: list[ToolOutputsOutputsItem]


class TransactionPageItemsItem(TypedDict):
    # Unique ID, a UUID version 7.
    id: str
    # Why the balance changed.
    type: Literal["deposit", "usage", "refund", "adjustment", "platform_fee"]
    # Change of the balance, negative for a charge, in cents.
    amountCents: int
    # Balance after the transaction, in cents.
    balanceAfterCents: int
    # ID of the payment at Stripe. Absent without a payment.
    paymentIntentId: NotRequired[str]
    # ID of the receipt, for `GET /billing/receipts/:id`. Present for deposits only.
    receiptId: NotRequired[str]
    # Explanation of the transaction.
    notes: str | None
    # Time of creation.
    createdAt: str


class TransactionPage(TypedDict):
    # Items of this page.
    items: list[TransactionPageItemsItem]
    # Page number, from 1.
    page: int
    # Maximum number of items in a page.
    limit: int
    # Number of items on all pages.
    total: int
    # Whether there is another page.
    hasMore: bool
    # Send it as `cursor` to get the next page. Null on the last page.
    nextCursor: str | None


class TransformPreview(TypedDict):
    # Event that was transformed.
    event: dict[str, Any]
    # Body that would be sent.
    result: dict[str, Any]


class TransformPreviewRequest(TypedDict):
    # JSONata expression whose result, an object of at most 1.5 MB as JSON, is sent instead of the event, 1–8,192 characters. Null, the default: the event is sent.
    transform: str
    # Event type, one of `GET /event-types`, whose example is transformed, at most 255 characters. No default: `type` or `event` is required.
    type: NotRequired[str]
    # Event to transform instead of an example, such as one with `expanded`. No default.
    event: NotRequired[dict[str, Any]]


class TurnError(TypedDict):
    # Error code, such as `model_unavailable`.
    code: str
    # Explanation for people.
    message: str


class TurnUsage(TypedDict):
    # Input tokens, including those read from or written to a cache.
    inputTokens: int
    # Output tokens.
    outputTokens: int
    # Tokens read from the cache.
    cacheReadTokens: int
    # Tokens written to the cache.
    cacheWriteTokens: int
    # Input and output tokens together.
    totalTokens: int
    # Whether some of the tokens are counted from the text.
    isEstimate: bool


class TurnPricing(TypedDict):
    # Price of input tokens, in microcents for a million tokens.
    input: int
    # Price of output tokens, in microcents for a million tokens.
    output: int
    # Price of tokens read from the cache, in microcents for a million tokens.
    cacheRead: int
    # Price of tokens written to the cache, in microcents for a million tokens.
    cacheWrite: int


class TurnStepsItemError(TypedDict):
    # Error code, such as `model_unavailable`.
    code: str
    # Explanation for people.
    message: str


class TurnStepsItem(TypedDict):
    # Number of the step, from 1.
    step: int
    # Number of the attempt of this step, from 1.
    attempt: int
    # ID of the model that was called.
    model: str
    # Status of the call. `lost`: the server process ended during the call.
    status: Literal["running", "completed", "failed", "lost", "cancelled"]
    # Why the model stopped, such as `stop` or `tool-calls`. Null before that.
    finishReason: str | None
    # Input tokens, including those read from or written to a cache.
    inputTokens: int
    # Output tokens.
    outputTokens: int
    # Tokens read from the cache.
    cacheReadTokens: int
    # Tokens written to the cache.
    cacheWriteTokens: int
    # Whether tokens are counted from the text, because the provider reported none or an impossible number.
    isEstimate: bool
    # Cost of the call, in microcents (10,000 are one cent).
    costMicrocents: int
    # Why the call failed. Null when it did not.
    error: TurnStepsItemError | None
    # Time when the call started.
    startedAt: str
    # Time when the call ended. Null before that.
    endedAt: str | None


class TurnToolCallsItem(TypedDict):
    # ID of the call, unique within the turn.
    id: str
    # Number of the step that made the call.
    step: int
    # Name of the tool.
    toolName: str
    # Arguments of the call.
    input: Any
    # `waiting`: not started, or waits for a decision. `started`: runs, or waits for the output of a tool of the caller. `denied`: a person decided against it. `unknown`: the server process ended during the call, so its outcome is unknown.
    status: Literal["waiting", "started", "done", "failed", "unknown", "denied", "cancelled"]
    # Result of the call. Null before it ends.
    output: Any
    # Number of times the call was started.
    attempts: int
    # ID of the approval. Null when none is needed.
    approvalId: str | None
    # Time when the call started. Null before that.
    startedAt: str | None
    # Time when the call ended. Null before that.
    endedAt: str | None


class Turn(TypedDict):
    # Unique ID, a UUID version 7.
    id: str
    # ID of the session.
    sessionId: str
    # ID of the agent.
    agentId: str
    # ID of the user for whom the turn runs.
    userId: str
    # ID of the agent's model when the turn was created.
    model: str
    # ID of the model that responded last: `model`, or a fallback model of the agent. Null before the first response.
    answerModel: str | None
    # ID of the first turn, when agents message each other. Otherwise the ID of this turn.
    chainId: str
    # Number of messages between agents from the first turn to this one. 0 for the first.
    hop: int
    # Number of the oldest exchanges that do not fit into the context window of the model.
    leftOutExchanges: int
    # Source of the first untrusted content that the turn has read: the name of a tool, or `chat`, `person`, `peer` or `project`. Null when it has read none.
    untrustedFrom: str | None
    # `queued`: waits for a worker or for the turn before it. `requires_action`: waits for a decision, see `approvals`, or for outputs of tools of the caller, see `requiredToolOutputs`. `incomplete`: a limit ended the turn, see `stopReason`. `failed`: see `error`.
    status: Literal["queued", "running", "requires_action", "completed", "failed", "cancelled", "incomplete"]
    # Why the turn ended. Null before that.
    stopReason: Literal["stop", "cancelled", "max_steps", "max_time", "max_tokens", "max_cost", "content_filter", "stream_truncated", "error"] | None
    # Why the turn failed. Null when it did not.
    error: TurnError | None
    # ID of the message with the reply.
    replyId: str
    # Parsed reply of a completed turn with a `responseFormat` of the type `json_schema`. Null for other turns, and before the end.
    output: Any
    # Maximum number of model calls, counted again after each output of a tool of the caller.
    maxSteps: int
    # Cost after which the turn ends, in cents. Null: no limit.
    maxCostCents: int | None
    # Number of times a worker started the turn. More than 1 after a crash or an approval.
    attempts: int
    # Tokens of all model calls.
    usage: TurnUsage
    # Prices of the model when the turn was created.
    pricing: TurnPricing
    # Cost of the model calls at the provider, in microcents (10,000 are one cent).
    costMicrocents: int
    # Platform fee, in microcents.
    platformFeeMicrocents: int
    # Amount charged to the org, in microcents: cost and fee, or only the fee with the org's own provider key.
    chargedMicrocents: int
    # Model calls, in order.
    steps: list[TurnStepsItem]
    # Tool calls, in order.
    toolCalls: list[TurnToolCallsItem]
    # Decisions that the turn waits for.
    approvals: list[Approval]
    # Calls of the caller's tools whose outputs the turn waits for.
    requiredToolOutputs: list[RequiredToolOutput]
    # Time of creation.
    createdAt: str
    # Time when a worker started the turn. Null before that.
    startedAt: str | None
    # Time when the turn ended. Null before that.
    endedAt: str | None


class TurnAnswerMessageAuthor(TypedDict):
    # Whether the author is an agent or a user.
    type: Literal["agent", "user"]
    # ID of the agent or user.
    id: str
    # Slug of the agent. Absent for users.
    slug: NotRequired[str]
    # Name of the author.
    name: str
    # Avatar identifier of the agent. Absent for users.
    avatar: NotRequired[str]


class TurnAnswerMessage(TypedDict):
    # Unique ID, a UUID version 7.
    id: str
    # ID of the session.
    sessionId: str
    # ID of the turn.
    turnId: str
    # `user`: the request. `assistant`: the reply of the agent.
    role: Literal["user", "assistant"]
    # The author of the message.
    author: TurnAnswerMessageAuthor
    # Parts of the message, in order.
    parts: list[MessagePart]
    # IDs of all versions of the message, oldest first, with its own. Only in lists of the messages of a session, and only for a message with several versions; see `replaces`.
    versions: NotRequired[list[str]]
    # Time of creation.
    createdAt: str


class TurnAnswer(TypedDict):
    turn: Turn
    # The reply. Null when there is none; absent while the turn is running.
    message: NotRequired[TurnAnswerMessage | None]


class TurnApprovalDecidedEventSubject(TypedDict):
    # Type of resource.
    type: str
    # ID of the resource.
    id: str


class TurnApprovalDecidedEventChain(TypedDict):
    # ID of the first event of the chain.
    id: str
    # Number of events before this one.
    depth: int


class TurnApprovalDecidedEventData(TypedDict):
    # ID of the turn.
    turnId: str
    # ID of the session.
    sessionId: str
    # ID of the agent.
    agentId: str
    # ID of the approval, as in the tool call.
    approvalId: str
    # Whether the agent may make the call.
    approved: bool
    # Name of the tool.
    tool: str


class TurnApprovalDecidedEvent(TypedDict):
    # ID of the event, also in the header `webhook-id`.
    id: str
    # Type of the event.
    type: Literal["turn.approval_decided"]
    # Version of the schema of `data`.
    version: Literal[1]
    # Time of the change.
    timestamp: str
    # True for a test event, which is not in the log.
    isTest: NotRequired[bool]
    # ID of the org.
    orgId: str
    # ID of the workspace. Null for an event of the whole org.
    workspaceId: str | None
    actor: EventActor
    # What the event is about.
    subject: TurnApprovalDecidedEventSubject
    # Number of the event among those of its subject, from 1.
    sequence: int
    # Position in the log of the org, from 1. Increases in the order in which events became visible.
    position: int
    # The events that led to this one; see the loop guard in the guide on events.
    chain: TurnApprovalDecidedEventChain
    # What happened.
    data: TurnApprovalDecidedEventData


class TurnCancelledEventSubject(TypedDict):
    # Type of resource.
    type: str
    # ID of the resource.
    id: str


class TurnCancelledEventChain(TypedDict):
    # ID of the first event of the chain.
    id: str
    # Number of events before this one.
    depth: int


class TurnCancelledEventData(TypedDict):
    # ID of the turn.
    turnId: str
    # ID of the session.
    sessionId: str
    # ID of the agent.
    agentId: str


class TurnCancelledEvent(TypedDict):
    # ID of the event, also in the header `webhook-id`.
    id: str
    # Type of the event.
    type: Literal["turn.cancelled"]
    # Version of the schema of `data`.
    version: Literal[1]
    # Time of the change.
    timestamp: str
    # True for a test event, which is not in the log.
    isTest: NotRequired[bool]
    # ID of the org.
    orgId: str
    # ID of the workspace. Null for an event of the whole org.
    workspaceId: str | None
    actor: EventActor
    # What the event is about.
    subject: TurnCancelledEventSubject
    # Number of the event among those of its subject, from 1.
    sequence: int
    # Position in the log of the org, from 1. Increases in the order in which events became visible.
    position: int
    # The events that led to this one; see the loop guard in the guide on events.
    chain: TurnCancelledEventChain
    # What happened.
    data: TurnCancelledEventData


class TurnCompletedEventSubject(TypedDict):
    # Type of resource.
    type: str
    # ID of the resource.
    id: str


class TurnCompletedEventChain(TypedDict):
    # ID of the first event of the chain.
    id: str
    # Number of events before this one.
    depth: int


class TurnCompletedEventData(TypedDict):
    # ID of the turn.
    turnId: str
    # ID of the session.
    sessionId: str
    # ID of the agent.
    agentId: str
    # Why the turn stopped, as in `stopReason` of the turn.
    stopReason: str


class TurnCompletedEvent(TypedDict):
    # ID of the event, also in the header `webhook-id`.
    id: str
    # Type of the event.
    type: Literal["turn.completed"]
    # Version of the schema of `data`.
    version: Literal[1]
    # Time of the change.
    timestamp: str
    # True for a test event, which is not in the log.
    isTest: NotRequired[bool]
    # ID of the org.
    orgId: str
    # ID of the workspace. Null for an event of the whole org.
    workspaceId: str | None
    actor: EventActor
    # What the event is about.
    subject: TurnCompletedEventSubject
    # Number of the event among those of its subject, from 1.
    sequence: int
    # Position in the log of the org, from 1. Increases in the order in which events became visible.
    position: int
    # The events that led to this one; see the loop guard in the guide on events.
    chain: TurnCompletedEventChain
    # What happened.
    data: TurnCompletedEventData


TurnCreate = TypedDict(
    "TurnCreate",
    {
        # Text of the message, at most 100,000 characters. Required without `fileIds`.
        "text": "NotRequired[str]",
        # IDs of uploaded files to attach, at most 20. Default: none.
        "fileIds": "NotRequired[list[str]]",
        # Agent that replies: UUID or slug, at most 255 characters. Default: the agent of the session.
        "agentId": "NotRequired[str]",
        # Maximum number of model calls, 1–16, counted again after each output of a tool of the caller. Default 16.
        "maxSteps": "NotRequired[int]",
        # Cost after which the turn ends, in cents, 1–1,000,000. Default: no limit.
        "maxCostCents": "NotRequired[int]",
        # What to do while another turn of the session is running. `enqueue`: wait for it. `reject`: return CONFLICT. `interrupt`: cancel it and all queued turns. Default `enqueue`.
        "onBusy": "NotRequired[Literal['enqueue', 'reject', 'interrupt']]",
        # Tools that the caller runs, at most 128 and together 64 KB as JSON. When the model calls one, the turn waits for its output as `requires_action`. Default: none.
        "tools": "NotRequired[list[CallerTool]]",
        "toolChoice": "NotRequired[ToolChoice]",
        "responseFormat": "NotRequired[ResponseFormat]",
        # Continue the last turn, which a limit ended, in place of `text`. Default false.
        "continue": "NotRequired[bool]",
        # ID of one of your own messages of this session that started a turn. The new message becomes another version of it: from then on the agent sees neither that message nor what follows it. Without `text` and `fileIds`, the same message is sent again. CONFLICT while a turn of the session is running, unless `onBusy` is `interrupt`. Default: none.
        "replaces": "NotRequired[str]",
        # Return 202 at once instead of waiting for the reply. Default false.
        "background": "NotRequired[bool]",
        # Messages of `useChat` of the AI SDK, in place of `text`. Only the last one is used. Default: none.
        "messages": "NotRequired[list[UiMessage]]",
        # Trigger of `useChat` of the AI SDK. `regenerate-message`: the last item of `messages` is sent again in place of the message whose reply is `messageId`, as with `replaces`. All others send a new message. Default: none.
        "trigger": "NotRequired[str]",
        # With `regenerate-message`: ID of the reply to replace. Default, also for null: the last one of the session.
        "messageId": "NotRequired[str | None]",
    },
)


class TurnFailedEventSubject(TypedDict):
    # Type of resource.
    type: str
    # ID of the resource.
    id: str


class TurnFailedEventChain(TypedDict):
    # ID of the first event of the chain.
    id: str
    # Number of events before this one.
    depth: int


class TurnFailedEventData(TypedDict):
    # ID of the turn.
    turnId: str
    # ID of the session.
    sessionId: str
    # ID of the agent.
    agentId: str
    # Code of the error, as in `error.code` of the turn.
    errorCode: str


class TurnFailedEvent(TypedDict):
    # ID of the event, also in the header `webhook-id`.
    id: str
    # Type of the event.
    type: Literal["turn.failed"]
    # Version of the schema of `data`.
    version: Literal[1]
    # Time of the change.
    timestamp: str
    # True for a test event, which is not in the log.
    isTest: NotRequired[bool]
    # ID of the org.
    orgId: str
    # ID of the workspace. Null for an event of the whole org.
    workspaceId: str | None
    actor: EventActor
    # What the event is about.
    subject: TurnFailedEventSubject
    # Number of the event among those of its subject, from 1.
    sequence: int
    # Position in the log of the org, from 1. Increases in the order in which events became visible.
    position: int
    # The events that led to this one; see the loop guard in the guide on events.
    chain: TurnFailedEventChain
    # What happened.
    data: TurnFailedEventData


class TurnIncompleteEventSubject(TypedDict):
    # Type of resource.
    type: str
    # ID of the resource.
    id: str


class TurnIncompleteEventChain(TypedDict):
    # ID of the first event of the chain.
    id: str
    # Number of events before this one.
    depth: int


class TurnIncompleteEventData(TypedDict):
    # ID of the turn.
    turnId: str
    # ID of the session.
    sessionId: str
    # ID of the agent.
    agentId: str
    # Why the turn stopped, as in `stopReason` of the turn.
    stopReason: str


class TurnIncompleteEvent(TypedDict):
    # ID of the event, also in the header `webhook-id`.
    id: str
    # Type of the event.
    type: Literal["turn.incomplete"]
    # Version of the schema of `data`.
    version: Literal[1]
    # Time of the change.
    timestamp: str
    # True for a test event, which is not in the log.
    isTest: NotRequired[bool]
    # ID of the org.
    orgId: str
    # ID of the workspace. Null for an event of the whole org.
    workspaceId: str | None
    actor: EventActor
    # What the event is about.
    subject: TurnIncompleteEventSubject
    # Number of the event among those of its subject, from 1.
    sequence: int
    # Position in the log of the org, from 1. Increases in the order in which events became visible.
    position: int
    # The events that led to this one; see the loop guard in the guide on events.
    chain: TurnIncompleteEventChain
    # What happened.
    data: TurnIncompleteEventData


class TurnRequiresActionEventSubject(TypedDict):
    # Type of resource.
    type: str
    # ID of the resource.
    id: str


class TurnRequiresActionEventChain(TypedDict):
    # ID of the first event of the chain.
    id: str
    # Number of events before this one.
    depth: int


class TurnRequiresActionEventData(TypedDict):
    # ID of the turn.
    turnId: str
    # ID of the session.
    sessionId: str
    # ID of the agent.
    agentId: str


class TurnRequiresActionEvent(TypedDict):
    # ID of the event, also in the header `webhook-id`.
    id: str
    # Type of the event.
    type: Literal["turn.requires_action"]
    # Version of the schema of `data`.
    version: Literal[1]
    # Time of the change.
    timestamp: str
    # True for a test event, which is not in the log.
    isTest: NotRequired[bool]
    # ID of the org.
    orgId: str
    # ID of the workspace. Null for an event of the whole org.
    workspaceId: str | None
    actor: EventActor
    # What the event is about.
    subject: TurnRequiresActionEventSubject
    # Number of the event among those of its subject, from 1.
    sequence: int
    # Position in the log of the org, from 1. Increases in the order in which events became visible.
    position: int
    # The events that led to this one; see the loop guard in the guide on events.
    chain: TurnRequiresActionEventChain
    # What happened.
    data: TurnRequiresActionEventData


class TurnStartedEventSubject(TypedDict):
    # Type of resource.
    type: str
    # ID of the resource.
    id: str


class TurnStartedEventChain(TypedDict):
    # ID of the first event of the chain.
    id: str
    # Number of events before this one.
    depth: int


class TurnStartedEventData(TypedDict):
    # ID of the turn.
    turnId: str
    # ID of the session.
    sessionId: str
    # ID of the agent.
    agentId: str


class TurnStartedEvent(TypedDict):
    # ID of the event, also in the header `webhook-id`.
    id: str
    # Type of the event.
    type: Literal["turn.started"]
    # Version of the schema of `data`.
    version: Literal[1]
    # Time of the change.
    timestamp: str
    # True for a test event, which is not in the log.
    isTest: NotRequired[bool]
    # ID of the org.
    orgId: str
    # ID of the workspace. Null for an event of the whole org.
    workspaceId: str | None
    actor: EventActor
    # What the event is about.
    subject: TurnStartedEventSubject
    # Number of the event among those of its subject, from 1.
    sequence: int
    # Position in the log of the org, from 1. Increases in the order in which events became visible.
    position: int
    # The events that led to this one; see the loop guard in the guide on events.
    chain: TurnStartedEventChain
    # What happened.
    data: TurnStartedEventData


class TwoFactorBegin(TypedDict):
    # Password, 1–128 characters.
    password: str


class TwoFactorConfirm(TypedDict):
    # Code of the authenticator app: 6 digits.
    code: str


class TwoFactorEnabled(TypedDict):
    # Always true.
    enabled: Literal[True]


class TwoFactorSecret(TypedDict):
    # Secret in base32, for typing.
    secret: str
    # URI of the secret, for a QR code.
    otpauthUri: str
    # Backup codes. Each works once in place of a code.
    backupCodes: list[str]


class UiMessagePartsItemApproval(TypedDict):
    # ID of the approval.
    id: str
    # The decision. Absent while it is open.
    approved: NotRequired[bool]


class UiMessagePartsItem(TypedDict):
    # Type of the part, such as `text` or `file`.
    type: str
    # Text of a `text` part.
    text: NotRequired[str]
    # URL of a `file` part.
    url: NotRequired[str]
    # State of a tool part.
    state: NotRequired[str]
    # Approval of a tool part.
    approval: NotRequired[UiMessagePartsItemApproval]


class UiMessage(TypedDict):
    # Role of the author, such as `user`.
    role: str
    # Parts of the message.
    parts: list[UiMessagePartsItem]


class Updated(TypedDict):
    # Always true.
    updated: Literal[True]


class Upload(TypedDict):
    # Unique ID, a UUID version 7.
    id: str
    # Number of bytes that have arrived.
    offset: int
    # Size of the upload in bytes.
    length: int
    # Time after which an upload that is not complete is deleted.
    expiresAt: str
    # ID of the file. Null until all bytes have arrived, and for partial uploads.
    fileId: str | None


class UsageBelow(TypedDict):
    # Number of files and links.
    files: int
    # Number of folders.
    folders: int
    # Size of the files in bytes, without their former versions.
    bytes: int
    # Size of the former versions of the files in bytes.
    versionBytes: int


class UsageDirect(TypedDict):
    # Number of files and links.
    files: int
    # Size of the files in bytes, without their former versions.
    bytes: int
    # Size of the former versions of the files in bytes.
    versionBytes: int


class UsageTrash(TypedDict):
    # Number of files, folders and links.
    files: int
    # Size in bytes, with former versions.
    bytes: int


class UsageItemsItem(TypedDict):
    # Unique ID, a UUID version 7.
    id: str
    # Name of the folder.
    name: str
    # Whether the folder is restricted itself.
    restricted: bool
    # Number of files and links in the folder and the folders below it.
    files: int
    # Number of folders below the folder.
    folders: int
    # Size of the files in bytes, without their former versions.
    bytes: int
    # Size of the former versions of the files in bytes.
    versionBytes: int


class Usage(TypedDict):
    # ID of the folder. Null: the root of the org.
    folderId: str | None
    # Everything in the folder and in the folders below it.
    below: UsageBelow
    # What is in the folder itself, without the folders below it.
    direct: UsageDirect
    # The trash of the org, which counts towards the quotas. Null for a folder.
    trash: UsageTrash | None
    # Whether everything was counted. False when there are more than 100,000 folders: figures are too low.
    isComplete: bool
    # Items of this page.
    items: list[UsageItemsItem]
    # Page number, from 1.
    page: int
    # Maximum number of items in a page.
    limit: int
    # Number of items on all pages.
    total: int
    # Whether there is another page.
    hasMore: bool
    # Send it as `cursor` to get the next page. Null on the last page.
    nextCursor: str | None


class Verified(TypedDict):
    # Whether the signature is valid.
    valid: bool
    # Why the signature is not valid. Null when it is.
    reason: str | None


class Version(TypedDict):
    # Number of the version, from 1. It is never used again.
    version: int
    # Whether it is the content of the file.
    isCurrent: bool
    # Label. A version with a label is kept until somebody deletes it. Null without one.
    label: str | None
    # Media type of the bytes.
    mimeType: str
    # Size in bytes.
    size: int
    # SHA-256 of the bytes in hexadecimal.
    contentHash: str
    # ID of the user who uploaded or restored the version.
    createdBy: str
    # Time of creation.
    createdAt: str


class VersionPatch(TypedDict):
    # Label, 1–255 characters. Null removes it.
    label: str | None


class Webhook(TypedDict):
    # Unique ID, a UUID version 7.
    id: str
    # Name, 1–120 characters.
    name: str
    # URL that events are forwarded to. The same as `receiveUrl` when they are only recorded.
    url: str
    # Provider of the events, which decides how requests are verified.
    source: str
    # Description, at most 2,000 characters.
    description: str | None
    # Event types that are forwarded, such as `invoice.paid` or `invoice.*`. Empty: all of them.
    events: list[str]
    # `active` receives and forwards events. `paused` receives events and holds their deliveries. `disabled` rejects events with NOT_FOUND.
    status: Literal["active", "paused", "disabled"]
    # Why the server disabled the webhook. Null when it did not.
    statusReason: str | None
    # Whether `status` is `active`.
    enabled: bool
    # Number of deliveries that were attempted.
    deliveryCount: int
    # Time of the last delivery. Null before the first.
    lastDeliveryAt: str | None
    # Time of creation.
    createdAt: str
    # Time of the last change.
    updatedAt: str
    # URL that the provider sends events to. It needs no API key.
    receiveUrl: str


class WebhookCreate(TypedDict):
    # Name, 1–120 characters.
    name: str
    # Public HTTP or HTTPS URL to forward events to, at most 2,048 characters. Default, also for null and empty: events are only recorded.
    url: NotRequired[str | None]
    # Provider of the events, at most 100 characters. `github`, `gitlab`, `jira`, `stripe`, `slack`, `linear`, `shopify`, `telegram`, `twilio`, `discord`, `hmac` and `token` are verified by their own scheme, any other value by Standard Webhooks. Default `custom`.
    source: NotRequired[str]
    # Description, at most 2,000 characters. Default: none.
    description: NotRequired[str | None]
    # Event types to forward, such as `invoice.paid` or `invoice.*`, at most 100 of 255 characters. Default: all of them.
    events: NotRequired[list[str]]
    # Signing secret that the provider issued, 8–256 characters. Default: a new secret is generated.
    secret: NotRequired[str]
    # Public key of the application in hexadecimal, at most 128 characters. Required to create a webhook for `discord`.
    publicKey: NotRequired[str]


class WebhookCreatedEventSubject(TypedDict):
    # Type of resource.
    type: str
    # ID of the resource.
    id: str


class WebhookCreatedEventChain(TypedDict):
    # ID of the first event of the chain.
    id: str
    # Number of events before this one.
    depth: int


class WebhookCreatedEventData(TypedDict):
    # ID of the webhook.
    webhookId: str
    # Name of the webhook.
    name: str
    # Source of its events.
    source: str


class WebhookCreatedEvent(TypedDict):
    # ID of the event, also in the header `webhook-id`.
    id: str
    # Type of the event.
    type: Literal["webhook.created"]
    # Version of the schema of `data`.
    version: Literal[1]
    # Time of the change.
    timestamp: str
    # True for a test event, which is not in the log.
    isTest: NotRequired[bool]
    # ID of the org.
    orgId: str
    # ID of the workspace. Null for an event of the whole org.
    workspaceId: str | None
    actor: EventActor
    # What the event is about.
    subject: WebhookCreatedEventSubject
    # Number of the event among those of its subject, from 1.
    sequence: int
    # Position in the log of the org, from 1. Increases in the order in which events became visible.
    position: int
    # The events that led to this one; see the loop guard in the guide on events.
    chain: WebhookCreatedEventChain
    # What happened.
    data: WebhookCreatedEventData


class WebhookDeletedEventSubject(TypedDict):
    # Type of resource.
    type: str
    # ID of the resource.
    id: str


class WebhookDeletedEventChain(TypedDict):
    # ID of the first event of the chain.
    id: str
    # Number of events before this one.
    depth: int


class WebhookDeletedEventData(TypedDict):
    # ID of the webhook.
    webhookId: str
    # Name of the webhook.
    name: str


class WebhookDeletedEvent(TypedDict):
    # ID of the event, also in the header `webhook-id`.
    id: str
    # Type of the event.
    type: Literal["webhook.deleted"]
    # Version of the schema of `data`.
    version: Literal[1]
    # Time of the change.
    timestamp: str
    # True for a test event, which is not in the log.
    isTest: NotRequired[bool]
    # ID of the org.
    orgId: str
    # ID of the workspace. Null for an event of the whole org.
    workspaceId: str | None
    actor: EventActor
    # What the event is about.
    subject: WebhookDeletedEventSubject
    # Number of the event among those of its subject, from 1.
    sequence: int
    # Position in the log of the org, from 1. Increases in the order in which events became visible.
    position: int
    # The events that led to this one; see the loop guard in the guide on events.
    chain: WebhookDeletedEventChain
    # What happened.
    data: WebhookDeletedEventData


class WebhookDeliveryFailedEventSubject(TypedDict):
    # Type of resource.
    type: str
    # ID of the resource.
    id: str


class WebhookDeliveryFailedEventChain(TypedDict):
    # ID of the first event of the chain.
    id: str
    # Number of events before this one.
    depth: int


class WebhookDeliveryFailedEventData(TypedDict):
    # ID of the webhook.
    webhookId: str
    # ID of the delivery.
    deliveryId: str
    # ID of the received event.
    eventId: str
    # Type of the received event, as the sender calls it.
    eventType: str
    # Why the last attempt failed, or why none was made.
    reason: str


class WebhookDeliveryFailedEvent(TypedDict):
    # ID of the event, also in the header `webhook-id`.
    id: str
    # Type of the event.
    type: Literal["webhook.delivery.failed"]
    # Version of the schema of `data`.
    version: Literal[1]
    # Time of the change.
    timestamp: str
    # True for a test event, which is not in the log.
    isTest: NotRequired[bool]
    # ID of the org.
    orgId: str
    # ID of the workspace. Null for an event of the whole org.
    workspaceId: str | None
    actor: EventActor
    # What the event is about.
    subject: WebhookDeliveryFailedEventSubject
    # Number of the event among those of its subject, from 1.
    sequence: int
    # Position in the log of the org, from 1. Increases in the order in which events became visible.
    position: int
    # The events that led to this one; see the loop guard in the guide on events.
    chain: WebhookDeliveryFailedEventChain
    # What happened.
    data: WebhookDeliveryFailedEventData


class WebhookDisabledEventSubject(TypedDict):
    # Type of resource.
    type: str
    # ID of the resource.
    id: str


class WebhookDisabledEventChain(TypedDict):
    # ID of the first event of the chain.
    id: str
    # Number of events before this one.
    depth: int


class WebhookDisabledEventData(TypedDict):
    # ID of the webhook.
    webhookId: str
    # Name of the webhook.
    name: str
    # Why the server disabled it. Null when a request did.
    reason: str | None


class WebhookDisabledEvent(TypedDict):
    # ID of the event, also in the header `webhook-id`.
    id: str
    # Type of the event.
    type: Literal["webhook.disabled"]
    # Version of the schema of `data`.
    version: Literal[1]
    # Time of the change.
    timestamp: str
    # True for a test event, which is not in the log.
    isTest: NotRequired[bool]
    # ID of the org.
    orgId: str
    # ID of the workspace. Null for an event of the whole org.
    workspaceId: str | None
    actor: EventActor
    # What the event is about.
    subject: WebhookDisabledEventSubject
    # Number of the event among those of its subject, from 1.
    sequence: int
    # Position in the log of the org, from 1. Increases in the order in which events became visible.
    position: int
    # The events that led to this one; see the loop guard in the guide on events.
    chain: WebhookDisabledEventChain
    # What happened.
    data: WebhookDisabledEventData


class WebhookEvent(TypedDict):
    # Unique ID, a UUID version 7.
    id: str
    # ID of the webhook.
    webhookId: str
    # Name of the webhook.
    webhookName: str
    # Type of the event.
    type: str
    # Sender's event ID. Null without one.
    externalId: str | None
    # Body of the request: JSON, the fields of a form, or text. Null in lists when larger than 64 KB.
    payload: Any
    # Size of the body in bytes.
    sizeBytes: int
    # Headers of the request that describe the event, with names in lower case.
    headers: dict[str, str]
    # `filtered`: the type is not in `events` of the webhook, so the event is not forwarded.
    status: Literal["recorded", "filtered"]
    # Time when the event was received.
    receivedAt: str


class WebhookEventReceivedEventSubject(TypedDict):
    # Type of resource.
    type: str
    # ID of the resource.
    id: str


class WebhookEventReceivedEventChain(TypedDict):
    # ID of the first event of the chain.
    id: str
    # Number of events before this one.
    depth: int


class WebhookEventReceivedEventData(TypedDict):
    # ID of the webhook.
    webhookId: str
    # ID of the received event.
    eventId: str
    # Type of the received event, as the sender calls it.
    eventType: str
    # Size of the payload in bytes.
    sizeBytes: int


class WebhookEventReceivedEvent(TypedDict):
    # ID of the event, also in the header `webhook-id`.
    id: str
    # Type of the event.
    type: Literal["webhook.event.received"]
    # Version of the schema of `data`.
    version: Literal[1]
    # Time of the change.
    timestamp: str
    # True for a test event, which is not in the log.
    isTest: NotRequired[bool]
    # ID of the org.
    orgId: str
    # ID of the workspace. Null for an event of the whole org.
    workspaceId: str | None
    actor: EventActor
    # What the event is about.
    subject: WebhookEventReceivedEventSubject
    # Number of the event among those of its subject, from 1.
    sequence: int
    # Position in the log of the org, from 1. Increases in the order in which events became visible.
    position: int
    # The events that led to this one; see the loop guard in the guide on events.
    chain: WebhookEventReceivedEventChain
    # What happened.
    data: WebhookEventReceivedEventData
    # Contents that the event refers to: `text` of a `message.created`; `externalId`, `headers`, `contentType` and `payload` of a `webhook.event.received`. Null when they were deleted or have more than 1.5 MB. Not in events of other types.
    expanded: NotRequired[dict[str, Any] | None]


class WebhookHealth(TypedDict):
    # ID of the webhook.
    id: str
    # Time of the first failed attempt since the last successful one or change of `status`. Null without one.
    failingSince: str | None
    # How the latest deliveries ended, newest first: up to 20 of those created in the last 7 days. Deliveries that wait for an attempt are not included.
    recentResults: list[Literal["succeeded", "failed"]]
    lastResult: Literal["succeeded", "failed"] | None
    # Time when the newest of `recentResults` ended. Null without one.
    lastResultAt: str | None
    # Share of `recentResults` that succeeded, 0–1. Null without one.
    successRate: float | None


class WebhookRecoveredEventSubject(TypedDict):
    # Type of resource.
    type: str
    # ID of the resource.
    id: str


class WebhookRecoveredEventChain(TypedDict):
    # ID of the first event of the chain.
    id: str
    # Number of events before this one.
    depth: int


WebhookRecoveredEventData = TypedDict(
    "WebhookRecoveredEventData",
    {
        # ID of the webhook.
        "webhookId": "str",
        # What it recovered from.
        "from": "Literal['disabled', 'failing']",
    },
)


class WebhookRecoveredEvent(TypedDict):
    # ID of the event, also in the header `webhook-id`.
    id: str
    # Type of the event.
    type: Literal["webhook.recovered"]
    # Version of the schema of `data`.
    version: Literal[1]
    # Time of the change.
    timestamp: str
    # True for a test event, which is not in the log.
    isTest: NotRequired[bool]
    # ID of the org.
    orgId: str
    # ID of the workspace. Null for an event of the whole org.
    workspaceId: str | None
    actor: EventActor
    # What the event is about.
    subject: WebhookRecoveredEventSubject
    # Number of the event among those of its subject, from 1.
    sequence: int
    # Position in the log of the org, from 1. Increases in the order in which events became visible.
    position: int
    # The events that led to this one; see the loop guard in the guide on events.
    chain: WebhookRecoveredEventChain
    # What happened.
    data: WebhookRecoveredEventData


class WebhookTest(TypedDict):
    # ID of the webhook.
    webhookId: str
    # Type of the event, 1–255 characters. Default `webhook.test`.
    type: NotRequired[str]
    # Payload of the event: any JSON value. Default: an object with a test message.
    payload: NotRequired[Any]


class WebhookUpdatedEventSubject(TypedDict):
    # Type of resource.
    type: str
    # ID of the resource.
    id: str


class WebhookUpdatedEventChain(TypedDict):
    # ID of the first event of the chain.
    id: str
    # Number of events before this one.
    depth: int


class WebhookUpdatedEventData(TypedDict):
    # ID of the webhook.
    webhookId: str
    # Name of the webhook.
    name: str
    # Names of the fields that were sent to be changed.
    changed: list[str]


class WebhookUpdatedEvent(TypedDict):
    # ID of the event, also in the header `webhook-id`.
    id: str
    # Type of the event.
    type: Literal["webhook.updated"]
    # Version of the schema of `data`.
    version: Literal[1]
    # Time of the change.
    timestamp: str
    # True for a test event, which is not in the log.
    isTest: NotRequired[bool]
    # ID of the org.
    orgId: str
    # ID of the workspace. Null for an event of the whole org.
    workspaceId: str | None
    actor: EventActor
    # What the event is about.
    subject: WebhookUpdatedEventSubject
    # Number of the event among those of its subject, from 1.
    sequence: int
    # Position in the log of the org, from 1. Increases in the order in which events became visible.
    position: int
    # The events that led to this one; see the loop guard in the guide on events.
    chain: WebhookUpdatedEventChain
    # What happened.
    data: WebhookUpdatedEventData


class WebhookVerify(TypedDict):
    # ID of the webhook.
    webhookId: str
    # Body of the request, byte for byte.
    payload: str
    # Headers of the request. Letter case of the names is ignored.
    headers: dict[str, str]
    # For `twilio`: the URL that was called, at most 4,096 characters. Default: the `receiveUrl` of the webhook.
    url: NotRequired[str]


class WebhookWithSecret(TypedDict):
    # Unique ID, a UUID version 7.
    id: str
    # Name, 1–120 characters.
    name: str
    # URL that events are forwarded to. The same as `receiveUrl` when they are only recorded.
    url: str
    # Provider of the events, which decides how requests are verified.
    source: str
    # Description, at most 2,000 characters.
    description: str | None
    # Event types that are forwarded, such as `invoice.paid` or `invoice.*`. Empty: all of them.
    events: list[str]
    # `active` receives and forwards events. `paused` receives events and holds their deliveries. `disabled` rejects events with NOT_FOUND.
    status: Literal["active", "paused", "disabled"]
    # Why the server disabled the webhook. Null when it did not.
    statusReason: str | None
    # Whether `status` is `active`.
    enabled: bool
    # Number of deliveries that were attempted.
    deliveryCount: int
    # Time of the last delivery. Null before the first.
    lastDeliveryAt: str | None
    # Time of creation.
    createdAt: str
    # Time of the last change.
    updatedAt: str
    # URL that the provider sends events to. It needs no API key.
    receiveUrl: str
    # Signing secret. Returned only here; store it in a safe place.
    secret: str


class Workspace(TypedDict):
    # Unique ID, a UUID version 7.
    id: str
    # Name, 1–120 characters.
    name: str
    # Short name, made from the first name. It never changes.
    slug: str
    # Whether this is the default workspace of the org.
    isDefault: bool
    # Time of creation.
    createdAt: str
    # Time of the last change.
    updatedAt: str


class WorkspaceCreate(TypedDict):
    # Name, 1–120 characters.
    name: str


class WorkspaceCreatedEventSubject(TypedDict):
    # Type of resource.
    type: str
    # ID of the resource.
    id: str


class WorkspaceCreatedEventChain(TypedDict):
    # ID of the first event of the chain.
    id: str
    # Number of events before this one.
    depth: int


class WorkspaceCreatedEventData(TypedDict):
    # ID of the workspace.
    workspaceId: str
    # Name of the workspace.
    name: str
    # Slug of the workspace.
    slug: str


class WorkspaceCreatedEvent(TypedDict):
    # ID of the event, also in the header `webhook-id`.
    id: str
    # Type of the event.
    type: Literal["workspace.created"]
    # Version of the schema of `data`.
    version: Literal[1]
    # Time of the change.
    timestamp: str
    # True for a test event, which is not in the log.
    isTest: NotRequired[bool]
    # ID of the org.
    orgId: str
    # ID of the workspace. Null for an event of the whole org.
    workspaceId: str | None
    actor: EventActor
    # What the event is about.
    subject: WorkspaceCreatedEventSubject
    # Number of the event among those of its subject, from 1.
    sequence: int
    # Position in the log of the org, from 1. Increases in the order in which events became visible.
    position: int
    # The events that led to this one; see the loop guard in the guide on events.
    chain: WorkspaceCreatedEventChain
    # What happened.
    data: WorkspaceCreatedEventData


class WorkspaceDeletedEventSubject(TypedDict):
    # Type of resource.
    type: str
    # ID of the resource.
    id: str


class WorkspaceDeletedEventChain(TypedDict):
    # ID of the first event of the chain.
    id: str
    # Number of events before this one.
    depth: int


class WorkspaceDeletedEventData(TypedDict):
    # ID of the workspace.
    workspaceId: str
    # Name of the workspace.
    name: str
    # Slug of the workspace.
    slug: str


class WorkspaceDeletedEvent(TypedDict):
    # ID of the event, also in the header `webhook-id`.
    id: str
    # Type of the event.
    type: Literal["workspace.deleted"]
    # Version of the schema of `data`.
    version: Literal[1]
    # Time of the change.
    timestamp: str
    # True for a test event, which is not in the log.
    isTest: NotRequired[bool]
    # ID of the org.
    orgId: str
    # ID of the workspace. Null for an event of the whole org.
    workspaceId: str | None
    actor: EventActor
    # What the event is about.
    subject: WorkspaceDeletedEventSubject
    # Number of the event among those of its subject, from 1.
    sequence: int
    # Position in the log of the org, from 1. Increases in the order in which events became visible.
    position: int
    # The events that led to this one; see the loop guard in the guide on events.
    chain: WorkspaceDeletedEventChain
    # What happened.
    data: WorkspaceDeletedEventData


class WorkspaceMember(TypedDict):
    # ID of the user.
    userId: str
    # E-mail address.
    email: str
    # Name of the person.
    name: str
    # Role in the org: `owner`, `admin`, `billing_manager` or `member`.
    role: Literal["owner", "admin", "billing_manager", "member"]
    # Time when the member was added to the workspace.
    createdAt: str


class WorkspaceMemberAdd(TypedDict):
    # ID of a user who is a member of the org.
    userId: str


class WorkspaceMemberAddedEventSubject(TypedDict):
    # Type of resource.
    type: str
    # ID of the resource.
    id: str


class WorkspaceMemberAddedEventChain(TypedDict):
    # ID of the first event of the chain.
    id: str
    # Number of events before this one.
    depth: int


class WorkspaceMemberAddedEventData(TypedDict):
    # ID of the workspace.
    workspaceId: str
    # ID of the person.
    userId: str


class WorkspaceMemberAddedEvent(TypedDict):
    # ID of the event, also in the header `webhook-id`.
    id: str
    # Type of the event.
    type: Literal["workspace.member_added"]
    # Version of the schema of `data`.
    version: Literal[1]
    # Time of the change.
    timestamp: str
    # True for a test event, which is not in the log.
    isTest: NotRequired[bool]
    # ID of the org.
    orgId: str
    # ID of the workspace. Null for an event of the whole org.
    workspaceId: str | None
    actor: EventActor
    # What the event is about.
    subject: WorkspaceMemberAddedEventSubject
    # Number of the event among those of its subject, from 1.
    sequence: int
    # Position in the log of the org, from 1. Increases in the order in which events became visible.
    position: int
    # The events that led to this one; see the loop guard in the guide on events.
    chain: WorkspaceMemberAddedEventChain
    # What happened.
    data: WorkspaceMemberAddedEventData


class WorkspaceMemberRemovedEventSubject(TypedDict):
    # Type of resource.
    type: str
    # ID of the resource.
    id: str


class WorkspaceMemberRemovedEventChain(TypedDict):
    # ID of the first event of the chain.
    id: str
    # Number of events before this one.
    depth: int


class WorkspaceMemberRemovedEventData(TypedDict):
    # ID of the workspace.
    workspaceId: str
    # ID of the person.
    userId: str


class WorkspaceMemberRemovedEvent(TypedDict):
    # ID of the event, also in the header `webhook-id`.
    id: str
    # Type of the event.
    type: Literal["workspace.member_removed"]
    # Version of the schema of `data`.
    version: Literal[1]
    # Time of the change.
    timestamp: str
    # True for a test event, which is not in the log.
    isTest: NotRequired[bool]
    # ID of the org.
    orgId: str
    # ID of the workspace. Null for an event of the whole org.
    workspaceId: str | None
    actor: EventActor
    # What the event is about.
    subject: WorkspaceMemberRemovedEventSubject
    # Number of the event among those of its subject, from 1.
    sequence: int
    # Position in the log of the org, from 1. Increases in the order in which events became visible.
    position: int
    # The events that led to this one; see the loop guard in the guide on events.
    chain: WorkspaceMemberRemovedEventChain
    # What happened.
    data: WorkspaceMemberRemovedEventData


class WorkspaceUpdatedEventSubject(TypedDict):
    # Type of resource.
    type: str
    # ID of the resource.
    id: str


class WorkspaceUpdatedEventChain(TypedDict):
    # ID of the first event of the chain.
    id: str
    # Number of events before this one.
    depth: int


class WorkspaceUpdatedEventData(TypedDict):
    # ID of the workspace.
    workspaceId: str
    # Name of the workspace.
    name: str
    # Slug of the workspace.
    slug: str
    # Names of the fields that were sent to be changed.
    changed: list[str]


class WorkspaceUpdatedEvent(TypedDict):
    # ID of the event, also in the header `webhook-id`.
    id: str
    # Type of the event.
    type: Literal["workspace.updated"]
    # Version of the schema of `data`.
    version: Literal[1]
    # Time of the change.
    timestamp: str
    # True for a test event, which is not in the log.
    isTest: NotRequired[bool]
    # ID of the org.
    orgId: str
    # ID of the workspace. Null for an event of the whole org.
    workspaceId: str | None
    actor: EventActor
    # What the event is about.
    subject: WorkspaceUpdatedEventSubject
    # Number of the event among those of its subject, from 1.
    sequence: int
    # Position in the log of the org, from 1. Increases in the order in which events became visible.
    position: int
    # The events that led to this one; see the loop guard in the guide on events.
    chain: WorkspaceUpdatedEventChain
    # What happened.
    data: WorkspaceUpdatedEventData


class GetAgentsQuery(TypedDict):
    # Maximum number of items to return, 1–100. Default: all items, up to 1,000.
    limit: NotRequired[int]
    # `nextCursor` of the previous page, at most 1,024 characters. Omit it for the first page.
    cursor: NotRequired[str]


class GetAgentsData(TypedDict):
    # Items of this page.
    items: list[Agent]
    # Send it as `cursor` to get the next page. Null on the last page.
    nextCursor: str | None


class IdParams(TypedDict):
    id: str


class IdConnectorSlugParams(TypedDict):
    id: str
    connectorSlug: str


class GetAgentsByIdMessagesQuery(TypedDict):
    # Maximum number of items to return, 1–100. Default 50.
    limit: NotRequired[int]
    # `nextCursor` of the previous page, at most 1,024 characters. Omit it for the first page.
    cursor: NotRequired[str]


class GetAgentsByIdMessagesData(TypedDict):
    # Items of this page.
    items: list[PeerMessage]
    # Send it as `cursor` to get the next page. Null on the last page.
    nextCursor: str | None


class GetAgentsByIdPeersData(TypedDict):
    # Items of this page.
    items: list[Peer]
    # Send it as `cursor` to get the next page. Null on the last page.
    nextCursor: str | None


class GetAgentsByIdSessionsQuery(TypedDict):
    # Maximum number of items to return, 1–100. Default: all items, up to 1,000.
    limit: NotRequired[int]
    # `nextCursor` of the previous page, at most 1,024 characters. Omit it for the first page.
    cursor: NotRequired[str]


class GetAgentsByIdSessionsData(TypedDict):
    # Items of this page.
    items: list[Session]
    # Send it as `cursor` to get the next page. Null on the last page.
    nextCursor: str | None


class GetApiKeysQuery(TypedDict):
    # Maximum number of items to return, 1–100. Default 50.
    limit: NotRequired[int]
    # `nextCursor` of the previous page, at most 1,024 characters. Omit it for the first page.
    cursor: NotRequired[str]


class GetApiKeysData(TypedDict):
    # Items of this page.
    items: list[ApiKey]
    # Send it as `cursor` to get the next page. Null on the last page.
    nextCursor: str | None


class GetAppsQuery(TypedDict):
    # Maximum number of items to return, 1–100. Default 50.
    limit: NotRequired[int]
    # `nextCursor` of the previous page, at most 1,024 characters. Omit it for the first page.
    cursor: NotRequired[str]


class GetAppsData(TypedDict):
    # Items of this page.
    items: list[AuthorizedApp]
    # Send it as `cursor` to get the next page. Null on the last page.
    nextCursor: str | None


class GetAppsAuthorizationQuery(TypedDict):
    # Query of the URL of the authorization endpoint, without `?`. 1–8,000 characters.
    request: str


class GetAuditLogQuery(TypedDict):
    # Maximum number of items to return, 1–100. Default 50.
    limit: NotRequired[int]
    # `nextCursor` of the previous page, at most 1,024 characters. Omit it for the first page.
    cursor: NotRequired[str]
    # Return only entries with this action, such as `member.added`. At most 100 characters.
    action: NotRequired[str]
    # Return only actions of the user with this ID.
    actorId: NotRequired[str]
    # Return only entries from this time on, inclusive.
    since: NotRequired[str]
    # Return only entries before this time, exclusive.
    until: NotRequired[str]
    # Return only entries about resources of this type, such as `agent`. At most 100 characters.
    resourceType: NotRequired[str]
    # Return only entries about the resource with this ID. At most 255 characters.
    resourceId: NotRequired[str]


class GetAuditLogData(TypedDict):
    # Items of this page.
    items: list[AuditEntry]
    # Send it as `cursor` to get the next page. Null on the last page.
    nextCursor: str | None


class GetAuditLogExportQuery(TypedDict):
    # Return only entries with this action, such as `member.added`. At most 100 characters.
    action: NotRequired[str]
    # Return only actions of the user with this ID.
    actorId: NotRequired[str]
    # Return only entries from this time on, inclusive.
    since: NotRequired[str]
    # Return only entries before this time, exclusive.
    until: NotRequired[str]
    # Return only entries about resources of this type, such as `agent`. At most 100 characters.
    resourceType: NotRequired[str]
    # Return only entries about the resource with this ID. At most 255 characters.
    resourceId: NotRequired[str]
    # `csv`, or `jsonl`: JSON with one entry per line. Default `csv`.
    format: NotRequired[Literal["csv", "jsonl"]]


class GetAuthSessionDataUser(TypedDict):
    # ID of the user.
    id: str
    # E-mail address.
    email: str
    # Name of the person.
    name: str
    # Whether the person has a password.
    hasPassword: bool
    # Whether two-factor authentication is on.
    twoFactorEnabled: bool


class GetAuthSessionDataOrgsItem(TypedDict):
    # ID of the org.
    id: str
    # Name of the org.
    name: str
    # Role in the org: `owner`, `admin`, `billing_manager` or `member`.
    role: Literal["owner", "admin", "billing_manager", "member"]
    # Public URL of the logo, a WebP picture of 256 × 256 pixels, or of 64 × 64 with `?size=64`. Another logo has another URL. Null: no logo.
    logoUrl: str | None


class GetAuthSessionDataFailedSignIns(TypedDict):
    # Number of failed attempts.
    count: int
    # Time of the last failed attempt.
    lastAt: str
    # IP addresses of the latest attempts.
    addresses: list[str]


class GetAuthSessionData(TypedDict):
    # The person who is signed in.
    user: GetAuthSessionDataUser
    # Orgs that the session opens.
    orgs: list[GetAuthSessionDataOrgsItem]
    # Time when the session ends: 7 days after this request.
    expiresAt: str
    # Failed attempts to sign in as this person between the previous sign-in and this one. Null without any.
    failedSignIns: GetAuthSessionDataFailedSignIns | None


class GetBillingByokKeysQuery(TypedDict):
    # Maximum number of items to return, 1–100. Default 50.
    limit: NotRequired[int]
    # `nextCursor` of the previous page, at most 1,024 characters. Omit it for the first page.
    cursor: NotRequired[str]


class GetBillingByokKeysData(TypedDict):
    # Items of this page.
    items: list[ProviderKey]
    # Send it as `cursor` to get the next page. Null on the last page.
    nextCursor: str | None


class GetBillingReceiptsQuery(TypedDict):
    # Maximum number of items to return, 1–100. Default 50.
    limit: NotRequired[int]
    # `nextCursor` of the previous page, at most 1,024 characters. Omit it for the first page.
    cursor: NotRequired[str]


class GetBillingReceiptsByIdDocumentQuery(TypedDict):
    # `pdf`: a file of A4 pages. `html`: a page for a browser, without scripts. Default `pdf`.
    format: NotRequired[Literal["pdf", "html"]]
    # Language of the document, `en` or `de`. Default: the language of the caller in this org, or `en`.
    language: NotRequired[Literal["en", "de"]]


class GetBillingSpendingQuery(TypedDict):
    # Period in UTC: `today`, `week` (from Monday), `month`, `year`, `all`, `7d`, `30d` or `90d`. Default, also for any other value: `month`.
    period: NotRequired[str]


class GetBillingSpendingByAgentQuery(TypedDict):
    # Period in UTC: `today`, `week` (from Monday), `month`, `year`, `all`, `7d`, `30d` or `90d`. Default, also for any other value: `month`.
    period: NotRequired[str]


class GetBillingSpendingByModelQuery(TypedDict):
    # Period in UTC: `today`, `week` (from Monday), `month`, `year`, `all`, `7d`, `30d` or `90d`. Default, also for any other value: `month`.
    period: NotRequired[str]


class GetBillingSpendingByProjectQuery(TypedDict):
    # Period in UTC: `today`, `week` (from Monday), `month`, `year`, `all`, `7d`, `30d` or `90d`. Default, also for any other value: `month`.
    period: NotRequired[str]


class GetBillingStatementsQuery(TypedDict):
    # Maximum number of items to return, 1–100. Default 50.
    limit: NotRequired[int]
    # `nextCursor` of the previous page, at most 1,024 characters. Omit it for the first page.
    cursor: NotRequired[str]


class MonthParams(TypedDict):
    month: str


class GetBillingStatementsByMonthDocumentQuery(TypedDict):
    # `pdf`: a file of A4 pages. `html`: a page for a browser, without scripts. Default `pdf`.
    format: NotRequired[Literal["pdf", "html"]]
    # Language of the document, `en` or `de`. Default: the language of the caller in this org, or `en`.
    language: NotRequired[Literal["en", "de"]]


class GetBillingTransactionsQuery(TypedDict):
    # Maximum number of items to return, 1–100. Default 50.
    limit: NotRequired[int]
    # Page number, 1–1,000,000,000. Default 1. Ignored when `cursor` is sent.
    page: NotRequired[int]
    # `nextCursor` of the previous page, at most 1,024 characters. Omit it for the first page.
    cursor: NotRequired[str]
    # Return only transactions of this type: `deposit`, `usage`, `refund`, `adjustment` or `platform_fee`. Any other value is ignored.
    type: NotRequired[str]


class GetConnectionsQuery(TypedDict):
    # Maximum number of items to return, 1–100. Default: all items, up to 1,000.
    limit: NotRequired[int]
    # `nextCursor` of the previous page, at most 1,024 characters. Omit it for the first page.
    cursor: NotRequired[str]


class GetConnectionsData(TypedDict):
    # Items of this page.
    items: list[Connection]
    # Send it as `cursor` to get the next page. Null on the last page.
    nextCursor: str | None


class GetConnectionsOauthCallbackQuery(TypedDict):
    # Authorization code from the redirect of the provider, at most 4,096 characters.
    code: NotRequired[str]
    # State from the redirect of the provider, at most 512 characters. Valid once, for 10 minutes.
    state: NotRequired[str]
    # Issuer from the redirect of the provider (RFC 9207), at most 2,048 characters. Required when the authorization server sends one.
    iss: NotRequired[str]
    # Error code of the provider, such as `access_denied`. At most 4,096 characters.
    error: NotRequired[str]


class GetConnectionsOauthStartQuery(TypedDict):
    # Slug of an OAuth connector, 1–100 characters.
    connector: str
    # Label that distinguishes several connections to one connector, at most 120 characters. Default: none.
    label: NotRequired[str]


class GetConnectionsByIdEndpointsData(TypedDict):
    # Items of this page.
    items: list[Endpoint]
    # Send it as `cursor` to get the next page. Null on the last page.
    nextCursor: str | None


class IdEndpointIdParams(TypedDict):
    id: str
    endpointId: str


class GetConnectionsByIdEndpointsByEndpointIdEventsQuery(TypedDict):
    # Maximum number of items to return, 1–100. Default 50.
    limit: NotRequired[int]
    # `nextCursor` of the previous page, at most 1,024 characters. Omit it for the first page.
    cursor: NotRequired[str]


class GetConnectionsByIdEndpointsByEndpointIdEventsData(TypedDict):
    # Items of this page.
    items: list[InboundEvent]
    # Send it as `cursor` to get the next page. Null on the last page.
    nextCursor: str | None


class GetConnectorsData(TypedDict):
    # Items of this page.
    items: list[ConnectorEntry]
    # Send it as `cursor` to get the next page. Null on the last page.
    nextCursor: str | None


class ProviderEndpointIdParams(TypedDict):
    provider: str
    endpointId: str


class GetEventEndpointsQuery(TypedDict):
    # Maximum number of items to return, 1–100. Default: all items, up to 1,000.
    limit: NotRequired[int]
    # `nextCursor` of the previous page, at most 1,024 characters. Omit it for the first page.
    cursor: NotRequired[str]


class GetEventEndpointsData(TypedDict):
    # Items of this page.
    items: list[EventEndpoint]
    # Send it as `cursor` to get the next page. Null on the last page.
    nextCursor: str | None


class PatchEventEndpointsByIdBody(TypedDict):
    # Name, 1–120 characters.
    name: NotRequired[str]
    # Public HTTP or HTTPS URL to send events to, at most 2,048 characters. The endpoint then delivers with the rights of the caller, also when the URL is the same.
    url: NotRequired[str]
    # Event types to send, such as `agent.created`, `agent.*` or `*`, 1–50 of at most 255 characters.
    types: NotRequired[list[str]]
    # Only events of these workspaces, 1–50, and of the whole org. Null, the default: all workspaces.
    workspaceIds: NotRequired[list[str] | None]
    # Only events that pass this condition: `{ "path": "data.name", "equals": … }` with one of `equals`, `in`, `exists`, `gt`, `gte`, `lt`, `lte` and `prefix`, or `all`, `any` and `not` of conditions. At most 4 KB, 50 conditions and 5 levels.
    filter: NotRequired[dict[str, Any] | None]
    # `none`, the default: events are sent at once. `subject`: an event is sent after the earlier events of its subject were delivered or have failed for good.
    ordering: NotRequired[Literal["none", "subject"]]
    # Whether deliveries have the field `expanded`: the whole text of messages, and received webhook events. Default: false.
    expand: NotRequired[bool]
    # JSONata expression whose result, an object of at most 1.5 MB as JSON, is sent instead of the event, 1–8,192 characters. Null, the default: the event is sent.
    transform: NotRequired[str | None]
    # `active` receives events. `paused` keeps the deliveries of events until it is active again. `disabled` receives no events.
    status: NotRequired[Literal["active", "paused", "disabled"]]


class GetEventEndpointsByIdDeliveriesQuery(TypedDict):
    # Maximum number of items to return, 1–100. Default 50.
    limit: NotRequired[int]
    # `nextCursor` of the previous page, at most 1,024 characters. Omit it for the first page.
    cursor: NotRequired[str]
    # `unfinished`: only deliveries that are pending, sending or held. `succeeded` and `failed`: only those that ended so. With `succeeded` a page can have fewer items than `limit`, or none, because failed deliveries between them count; `nextCursor` is null on the last page only. Default: all.
    status: NotRequired[Literal["unfinished", "succeeded", "failed"]]
    # Return only events of this type, such as `order.created` or `order.*`, 1–255 characters. Letter case is ignored. With a filter a page can have fewer items than `limit`, or none: each response covers up to 2,000. `nextCursor` is null on the last page only. Default: all.
    type: NotRequired[str]
    # Return only deliveries of this event, oldest first. With a filter a page can have fewer items than `limit`, or none: each response covers up to 2,000. `nextCursor` is null on the last page only. Default: all.
    eventId: NotRequired[str]
    # Return only deliveries that were created at this time or later. Default: all.
    since: NotRequired[str]
    # Return only deliveries that were created at this time or earlier. Default: all.
    until: NotRequired[str]


class GetEventEndpointsByIdDeliveriesData(TypedDict):
    # Items of this page.
    items: list[EventDelivery]
    # Send it as `cursor` to get the next page. Null on the last page.
    nextCursor: str | None


class IdDeliveryIdParams(TypedDict):
    id: str
    deliveryId: str


class GetEventTypesData(TypedDict):
    # All types.
    items: list[EventTypeRecord]


class GetEventsQuery(TypedDict):
    # `nextCursor` of the previous page, or the `position` of an event. BAD_REQUEST beyond the last event. Default: the first event that is kept, or with `order=desc` the last one is returned first.
    after: NotRequired[str]
    # Oldest or newest first. Default `asc`.
    order: NotRequired[Literal["asc", "desc"]]
    # Maximum number of items to return, 1–100. Default 50.
    limit: NotRequired[int]
    # Event types separated by commas, such as `file.*,agent.created`, at most 50 types and 2,000 characters. Default: all.
    types: NotRequired[str]
    # Only events of this workspace, and of the whole org.
    workspaceId: NotRequired[str]
    # Only events about this resource.
    subjectId: NotRequired[str]


class GetEventsStreamQuery(TypedDict):
    # `nextCursor` of the previous page, or the `position` of an event. BAD_REQUEST beyond the last event. Default: the first event that is kept, or with `order=desc` the last one is returned first.
    after: NotRequired[str]
    # Event types separated by commas, such as `file.*,agent.created`, at most 50 types and 2,000 characters. Default: all.
    types: NotRequired[str]


class GetEventsByIdQuery(TypedDict):
    # Whether to return `expanded`. Default: false.
    expand: NotRequired[bool]


class GetFilesQuery(TypedDict):
    # Maximum number of items to return, 1–100. Default 50.
    limit: NotRequired[int]
    # Page number, 1–1,000,000,000. Default 1. Ignored when `cursor` is sent.
    page: NotRequired[int]
    # `nextCursor` of the previous page, at most 4,096 characters. Omit it for the first page.
    cursor: NotRequired[str]
    # Return only files whose name contains this text, at most 255 characters. Letter case is ignored.
    search: NotRequired[str]
    # With `search` or a filter: also search the folders below. Default false.
    recursive: NotRequired[bool]
    # Return only favorites of the caller, those of all folders with `recursive`. Default false.
    favorite: NotRequired[bool]
    # Return only folders, or only files whose media type is in this group. `document` has PDF, text documents and presentations, `text` source code and data as well, `other` what is in no other group. Links have no type. Default: all.
    type: NotRequired[Literal["folder", "image", "video", "audio", "document", "spreadsheet", "text", "archive", "other"]]
    # Return only files with this tag, 1–64 characters. Letter case matters. Default: all.
    tag: NotRequired[str]
    # Return only files that this user created. Default: all.
    createdBy: NotRequired[str]
    # Return only files that were created at this time or later. Default: all.
    createdSince: NotRequired[str]
    # Return only files that were created before this time. Default: all.
    createdUntil: NotRequired[str]
    # Return only files whose last change was at this time or later. Default: all.
    updatedSince: NotRequired[str]
    # Return only files whose last change was before this time. Default: all.
    updatedUntil: NotRequired[str]
    # Field to sort by. Folders come first; they are sorted by name when the field is `size` or `mimeType`, and links come last when it is `mimeType`. A cursor is valid for the same `sort` and `order`. Default `name`, ignoring letter case.
    sort: NotRequired[Literal["name", "size", "mimeType", "updatedAt"]]
    # Ascending or descending order of the field. Default `asc`.
    order: NotRequired[Literal["asc", "desc"]]
    # ID of the folder to list. Default: the root of the org.
    parentId: NotRequired[str]
    # ID of the project whose folder to list.
    projectId: NotRequired[str]
    # List the files of all folders that the caller uploaded, changed or opened last instead of a folder, the latest first, at most 100. Not with `sort`, `order`, `trashed`, a folder, `search` or a filter. Default false.
    recent: NotRequired[bool]
    # List the trash instead of a folder: what was deleted by itself, the latest deletion first. Not with `sort`, `order` or other filters. Default false.
    trashed: NotRequired[bool]


class GetFilesData(TypedDict):
    # Items of this page.
    items: list[File]
    # Page number, from 1.
    page: int
    # Maximum number of items in a page.
    limit: int
    # Number of items on all pages.
    total: int
    # Whether there is another page.
    hasMore: bool
    # Send it as `cursor` to get the next page. Null on the last page.
    nextCursor: str | None


class GetFilesArchiveQuery(TypedDict):
    # IDs of 1–100 files and folders of 36 characters, separated by commas: 36–3,699 characters.
    ids: str


class GetFilesSharesQuery(TypedDict):
    # Maximum number of items to return, 1–100. Default 50.
    limit: NotRequired[int]
    # `nextCursor` of the previous page, at most 1,024 characters. Omit it for the first page.
    cursor: NotRequired[str]


class GetFilesSharesData(TypedDict):
    # Items of this page.
    items: list[ListedShare]
    # Send it as `cursor` to get the next page. Null on the last page.
    nextCursor: str | None


class GetFilesUsageQuery(TypedDict):
    # Maximum number of items to return, 1–100. Default 50.
    limit: NotRequired[int]
    # Page number, 1–1,000,000,000. Default 1. Ignored when `cursor` is sent.
    page: NotRequired[int]
    # `nextCursor` of the previous page, at most 1,024 characters. Omit it for the first page.
    cursor: NotRequired[str]
    # ID of the folder. Default: the root of the org.
    parentId: NotRequired[str]


class GetFilesByIdQuery(TypedDict):
    # Redirect to a signed download URL that is valid for 5 minutes. Default false.
    download: NotRequired[bool]
    # With `download`: return the bytes for display instead of a redirect. Default false.
    inline: NotRequired[bool]


class DeleteFilesByIdQuery(TypedDict):
    # Delete at once instead of into the trash, or out of the trash. Default false.
    permanent: NotRequired[bool]
    # Delete only if it is in the trash, so that a file that somebody has restored meanwhile stays. Requires `permanent`. Default false.
    trashed: NotRequired[bool]


class GetFilesByIdContentQuery(TypedDict):
    # Token of the signed URL.
    token: NotRequired[str]


class PutFilesByIdContentQuery(TypedDict):
    # Token of the signed URL.
    token: NotRequired[str]


class PutFilesByIdContentData(TypedDict):
    file: File


class GetFilesByIdImageQuery(TypedDict):
    # Width in pixels: 64, 128, 256, 512, 1024 or 2048. Default without `height`: 512.
    width: NotRequired[Literal[64, 128, 256, 512, 1024, 2048]]
    # Height in pixels: 64, 128, 256, 512, 1024 or 2048. Default: by the width.
    height: NotRequired[Literal[64, 128, 256, 512, 1024, 2048]]
    # With `width` and `height`: `inside` keeps the whole picture within them, `cover` cuts it to fill them. Default `inside`.
    fit: NotRequired[Literal["inside", "cover"]]
    # Format of the image. Default: AVIF or WebP if `Accept` names it, else PNG for pictures with transparency and JPEG for others.
    format: NotRequired[Literal["avif", "webp", "jpeg", "png"]]


class GetFilesByIdSharesQuery(TypedDict):
    # Maximum number of items to return, 1–100. Default 50.
    limit: NotRequired[int]
    # `nextCursor` of the previous page, at most 1,024 characters. Omit it for the first page.
    cursor: NotRequired[str]


class GetFilesByIdSharesData(TypedDict):
    # Items of this page.
    items: list[Share]
    # Send it as `cursor` to get the next page. Null on the last page.
    nextCursor: str | None


class IdShareIdParams(TypedDict):
    id: str
    shareId: str


class GetFilesByIdUploadQuery(TypedDict):
    # How many seconds to wait for the verification to end, 0–25. By default the state is returned at once, as it is when the upload is not `verifying`, or when the caller has 50 requests that wait.
    waitSeconds: NotRequired[int]


class GetFilesByIdVersionsQuery(TypedDict):
    # Maximum number of items to return, 1–100. Default 50.
    limit: NotRequired[int]
    # `nextCursor` of the previous page, at most 1,024 characters. Omit it for the first page.
    cursor: NotRequired[str]


class GetFilesByIdVersionsData(TypedDict):
    # Items of this page.
    items: list[Version]
    # Send it as `cursor` to get the next page. Null on the last page.
    nextCursor: str | None


class IdVersionParams(TypedDict):
    id: str
    version: str


class PatchMeBody(TypedDict):
    # Your name in this org, 1–120 characters.
    name: NotRequired[str]
    # Your language of the console in this org. Null: that of the browser.
    language: NotRequired[Literal["en", "de"] | None]


class GetMembersQuery(TypedDict):
    # Maximum number of items to return, 1–100. Default 50.
    limit: NotRequired[int]
    # `nextCursor` of the previous page, at most 1,024 characters. Omit it for the first page.
    cursor: NotRequired[str]
    # Return members (`active`) or people who have not accepted yet (`invited`). Default `active`.
    status: NotRequired[Literal["active", "invited"]]
    # Return only the member with this user ID. Default: all.
    userId: NotRequired[str]


class GetMembersData(TypedDict):
    # Items of this page.
    items: list[ListedMember]
    # Send it as `cursor` to get the next page. Null on the last page.
    nextCursor: str | None


class GetModelsData(TypedDict):
    # Items of this page.
    items: list[Model]
    # Send it as `cursor` to get the next page. Null on the last page.
    nextCursor: str | None


class PatchOrgBody(TypedDict):
    # Name, 1–120 characters.
    name: NotRequired[str]
    # ID of the model of new agents that name none, at most 120 characters. Null: that of the server.
    defaultModel: NotRequired[str | None]
    # Name of the time zone in the IANA database, at most 64 characters. It decides which date agents have. Null: UTC.
    defaultTimeZone: NotRequired[str | None]
    # Language of the console for new members. Null: that of their browser.
    defaultLanguage: NotRequired[Literal["en", "de"] | None]


class GetOrgLogoQuery(TypedDict):
    # Width and height in pixels: 64 or 256. Default 256.
    size: NotRequired[Literal[64, 256]]


class GetProjectsQuery(TypedDict):
    # Maximum number of items to return, 1–100. Default 50.
    limit: NotRequired[int]
    # `nextCursor` of the previous page, at most 1,024 characters. Omit it for the first page.
    cursor: NotRequired[str]


class GetProjectsData(TypedDict):
    # Items of this page.
    items: list[Project]
    # Send it as `cursor` to get the next page. Null on the last page.
    nextCursor: str | None


class GetSessionsQuery(TypedDict):
    # Maximum number of items to return, 1–100. Default 50.
    limit: NotRequired[int]
    # `nextCursor` of the previous page, at most 1,024 characters. Omit it for the first page.
    cursor: NotRequired[str]
    # Return only sessions in which this agent takes part: UUID or slug, at most 255 characters.
    agentId: NotRequired[str]
    # Return only sessions of this project.
    projectId: NotRequired[str]
    # Return only sessions that were created in this way, see `source` of a session.
    source: NotRequired[Literal["console", "api", "test", "openai", "mcp", "a2a", "chat", "agent"]]
    # Whether to return sessions whose `source` is `test`. Default true.
    includeTests: NotRequired[bool]
    # Return only sessions with a title or a message that contains words with these beginnings, 1–200 characters. All of the first 8 words must be in the title or in one message, of which the first 500 different words are searched. Returns one page without `nextCursor`, and `match` for each session.
    search: NotRequired[str]


class GetSessionsData(TypedDict):
    # Items of this page.
    items: list[ListedSession]
    # Send it as `cursor` to get the next page. Null on the last page.
    nextCursor: str | None


class GetSessionsByIdMessagesQuery(TypedDict):
    # Maximum number of items to return, 1–100. Default 50.
    limit: NotRequired[int]
    # `nextCursor` of the previous page, at most 1,024 characters. Omit it for the first page.
    cursor: NotRequired[str]
    # `active`: the conversation as the agent sees it. `all`: also messages that were replaced, and what follows them. Default `active`.
    branch: NotRequired[Literal["active", "all"]]


class GetSessionsByIdMessagesData(TypedDict):
    # Items of this page.
    items: list[Message]
    # Send it as `cursor` to get the next page. Null on the last page.
    nextCursor: str | None


class IdChatIdParams(TypedDict):
    id: str
    chatId: str


class GetSessionsByIdMessagesByChatIdStreamQuery(TypedDict):
    # The last `id:` that you received, 0–2,147,483,647; the stream continues after it. Default: from the first frame.
    after: NotRequired[int]


class GetSessionsByIdStreamQuery(TypedDict):
    # The last `id:` that you received, 0–2,147,483,647; the stream continues after it. Default: from the first frame.
    after: NotRequired[int]


class GetTurnsByIdStreamQuery(TypedDict):
    # The last `id:` that you received, 0–2,147,483,647; the stream continues after it. Default: from the first frame.
    after: NotRequired[int]


class GetWebhooksQuery(TypedDict):
    # Maximum number of items to return, 1–100. Default: all items, up to 1,000.
    limit: NotRequired[int]
    # `nextCursor` of the previous page, at most 1,024 characters. Omit it for the first page.
    cursor: NotRequired[str]


class GetWebhooksData(TypedDict):
    # Items of this page.
    items: list[Webhook]
    # Send it as `cursor` to get the next page. Null on the last page.
    nextCursor: str | None


class GetWebhooksEventsQuery(TypedDict):
    # Maximum number of items to return, 1–100. Default 100.
    limit: NotRequired[int]
    # `nextCursor` of the previous page, at most 1,024 characters. Omit it for the first page.
    cursor: NotRequired[str]
    # Return only events of this type, such as `order.created` or `order.*`, 1–255 characters. Letter case is ignored. With a filter a page can have fewer items than `limit`, or none: each response covers up to 2,000. `nextCursor` is null on the last page only. Default: all.
    type: NotRequired[str]
    # Return only events with this status. With a filter a page can have fewer items than `limit`, or none: each response covers up to 2,000. `nextCursor` is null on the last page only. Default: all.
    status: NotRequired[Literal["recorded", "filtered"]]
    # Return only events that were received at this time or later. Default: all.
    since: NotRequired[str]
    # Return only events that were received at this time or earlier. Default: all.
    until: NotRequired[str]


class GetWebhooksEventsData(TypedDict):
    # Items of this page.
    items: list[WebhookEvent]
    # Send it as `cursor` to get the next page. Null on the last page.
    nextCursor: str | None


class GetWebhooksHealthQuery(TypedDict):
    # Maximum number of items to return, 1–100. Default: all items, up to 1,000.
    limit: NotRequired[int]
    # `nextCursor` of the previous page, at most 1,024 characters. Omit it for the first page.
    cursor: NotRequired[str]


class GetWebhooksHealthData(TypedDict):
    # Items of this page.
    items: list[WebhookHealth]
    # Send it as `cursor` to get the next page. Null on the last page.
    nextCursor: str | None


class GetWebhooksLinearBindingsData(TypedDict):
    # Items of this page.
    items: list[LinearBinding]
    # Send it as `cursor` to get the next page. Null on the last page.
    nextCursor: str | None


class WebhookIdParams(TypedDict):
    webhookId: str


class PatchWebhooksByIdBody(TypedDict):
    # Name, 1–120 characters.
    name: NotRequired[str]
    # Public HTTP or HTTPS URL to forward events to, at most 2,048 characters. Default, also for null and empty: events are only recorded.
    url: NotRequired[str | None]
    # Provider of the events, at most 100 characters. `github`, `gitlab`, `jira`, `stripe`, `slack`, `linear`, `shopify`, `telegram`, `twilio`, `discord`, `hmac` and `token` are verified by their own scheme, any other value by Standard Webhooks. Default `custom`.
    source: NotRequired[str]
    # Description, at most 2,000 characters. Default: none.
    description: NotRequired[str | None]
    # Event types to forward, such as `invoice.paid` or `invoice.*`, at most 100 of 255 characters. Default: all of them.
    events: NotRequired[list[str]]
    # True sets `status` to `active`, false to `paused`. Ignored when `status` is sent.
    enabled: NotRequired[bool]
    # `active` receives and forwards events. `paused` receives events and holds their deliveries. `disabled` rejects events with NOT_FOUND.
    status: NotRequired[Literal["active", "paused", "disabled"]]


class GetWebhooksByIdDeliveriesQuery(TypedDict):
    # Maximum number of items to return, 1–100. Default 50.
    limit: NotRequired[int]
    # `nextCursor` of the previous page, at most 1,024 characters. Omit it for the first page.
    cursor: NotRequired[str]
    # `unfinished`: only deliveries that are pending, sending or held. `succeeded` and `failed`: only those that ended so. With `succeeded` a page can have fewer items than `limit`, or none, because failed deliveries between them count; `nextCursor` is null on the last page only. Default: all.
    status: NotRequired[Literal["unfinished", "succeeded", "failed"]]
    # Return only events of this type, such as `order.created` or `order.*`, 1–255 characters. Letter case is ignored. With a filter a page can have fewer items than `limit`, or none: each response covers up to 2,000. `nextCursor` is null on the last page only. Default: all.
    type: NotRequired[str]
    # Return only deliveries of this event, oldest first. With a filter a page can have fewer items than `limit`, or none: each response covers up to 2,000. `nextCursor` is null on the last page only. Default: all.
    eventId: NotRequired[str]
    # Return only deliveries that were created at this time or later. Default: all.
    since: NotRequired[str]
    # Return only deliveries that were created at this time or earlier. Default: all.
    until: NotRequired[str]


class GetWebhooksByIdDeliveriesData(TypedDict):
    # Items of this page.
    items: list[Delivery]
    # Send it as `cursor` to get the next page. Null on the last page.
    nextCursor: str | None


class GetWebhooksByIdEventsQuery(TypedDict):
    # Maximum number of items to return, 1–100. Default 50.
    limit: NotRequired[int]
    # `nextCursor` of the previous page, at most 1,024 characters. Omit it for the first page.
    cursor: NotRequired[str]
    # Return only events of this type, such as `order.created` or `order.*`, 1–255 characters. Letter case is ignored. With a filter a page can have fewer items than `limit`, or none: each response covers up to 2,000. `nextCursor` is null on the last page only. Default: all.
    type: NotRequired[str]
    # Return only events with this status. With a filter a page can have fewer items than `limit`, or none: each response covers up to 2,000. `nextCursor` is null on the last page only. Default: all.
    status: NotRequired[Literal["recorded", "filtered"]]
    # Return only events that were received at this time or later. Default: all.
    since: NotRequired[str]
    # Return only events that were received at this time or earlier. Default: all.
    until: NotRequired[str]


class GetWebhooksByIdEventsData(TypedDict):
    # Items of this page.
    items: list[WebhookEvent]
    # Send it as `cursor` to get the next page. Null on the last page.
    nextCursor: str | None


class IdEventIdParams(TypedDict):
    id: str
    eventId: str


class GetWorkspacesQuery(TypedDict):
    # Maximum number of items to return, 1–100. Default 50.
    limit: NotRequired[int]
    # `nextCursor` of the previous page, at most 1,024 characters. Omit it for the first page.
    cursor: NotRequired[str]


class GetWorkspacesData(TypedDict):
    # Items of this page.
    items: list[Workspace]
    # Send it as `cursor` to get the next page. Null on the last page.
    nextCursor: str | None


class PatchWorkspacesByIdBody(TypedDict):
    # Name, 1–120 characters.
    name: NotRequired[str]


class GetWorkspacesByIdMembersQuery(TypedDict):
    # Maximum number of items to return, 1–100. Default 50.
    limit: NotRequired[int]
    # `nextCursor` of the previous page, at most 1,024 characters. Omit it for the first page.
    cursor: NotRequired[str]


class GetWorkspacesByIdMembersData(TypedDict):
    # Items of this page.
    items: list[WorkspaceMember]
    # Send it as `cursor` to get the next page. Null on the last page.
    nextCursor: str | None


class IdUserIdParams(TypedDict):
    id: str
    userId: str


MessagePart: TypeAlias = "MessagePart1 | MessagePart2 | MessagePart3 | MessagePart4 | MessagePart5 | MessagePart6"


ResponseFormat: TypeAlias = "ResponseFormat1 | ResponseFormat2"


ToolChoice: TypeAlias = "Literal['auto', 'none', 'required'] | ToolChoice2"


# The body of any delivery to an event endpoint; `type` tells which.
AtriumEvent: TypeAlias = "AgentConsentGivenEvent | AgentConsentWithdrawnEvent | AgentCreatedEvent | AgentDeletedEvent | AgentUpdatedEvent | ApiKeyCreatedEvent | ApiKeyRevokedEvent | BalanceDepositedEvent | BalanceExhaustedEvent | BalanceLowEvent | BalanceTopupFailedEvent | ConnectionBrokenEvent | ConnectionConnectedEvent | ConnectionCreatedEvent | ConnectionRevokedEvent | ConnectorEventReceivedEvent | EventEndpointCreatedEvent | EventEndpointDeletedEvent | EventEndpointDisabledEvent | EventEndpointUpdatedEvent | FileCreatedEvent | FileDeletedEvent | FileMovedEvent | FileRestoredEvent | FileShareCreatedEvent | FileShareRevokedEvent | FileShareUpdatedEvent | FileUpdatedEvent | FileVersionCreatedEvent | FileVersionDeletedEvent | FileVersionUpdatedEvent | FolderAccessChangedEvent | FolderCreatedEvent | FolderDeletedEvent | FolderMovedEvent | FolderRestoredEvent | FolderUpdatedEvent | MemberAcceptedEvent | MemberAddedEvent | MemberDeclinedEvent | MemberInvitedEvent | MemberRemovedEvent | MemberRoleChangedEvent | MemberUpdatedEvent | MessageCreatedEvent | OrgUpdatedEvent | ProjectCreatedEvent | ProjectDeletedEvent | ProjectUpdatedEvent | SessionCreatedEvent | SessionDeletedEvent | SessionUpdatedEvent | SubscriptionUpdatedEvent | TurnApprovalDecidedEvent | TurnCancelledEvent | TurnCompletedEvent | TurnFailedEvent | TurnIncompleteEvent | TurnRequiresActionEvent | TurnStartedEvent | WebhookCreatedEvent | WebhookDeletedEvent | WebhookDeliveryFailedEvent | WebhookDisabledEvent | WebhookEventReceivedEvent | WebhookRecoveredEvent | WebhookUpdatedEvent | WorkspaceCreatedEvent | WorkspaceDeletedEvent | WorkspaceMemberAddedEvent | WorkspaceMemberRemovedEvent | WorkspaceUpdatedEvent"


class Result(Generic[T]):
    """A successful response with its data."""

    data: T
    # Version of the resource, for if_match.
    etag: str | None
    # Whether the request with this idempotency key was executed before. Then data contains no secrets.
    is_replayed: bool
    status: int
    # By lower-case names.
    headers: dict[str, str]

    def __init__(self, data: T, status: int, headers: dict[str, str]) -> None:
        self.data = data
        self.status = status
        self.headers = headers
        self.etag = headers.get("etag")
        self.is_replayed = headers.get("idempotency-replayed") == "true"


class Calls:
    """The signatures of all routes. Client implements them."""

    @overload
    def call(
        self,
        route: Literal["GET /agents"],
        *,
        query: GetAgentsQuery | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> GetAgentsData: ...

    @overload
    def call(
        self,
        route: Literal["POST /agents"],
        *,
        body: AgentCreate,
        idempotency_key: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Agent: ...

    @overload
    def call(
        self,
        route: Literal["GET /agents/:id"],
        *,
        params: IdParams,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Agent: ...

    @overload
    def call(
        self,
        route: Literal["PATCH /agents/:id"],
        *,
        params: IdParams,
        body: AgentPatch,
        if_match: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Agent: ...

    @overload
    def call(
        self,
        route: Literal["DELETE /agents/:id"],
        *,
        params: IdParams,
        if_match: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Deleted: ...

    @overload
    def call(
        self,
        route: Literal["GET /agents/:id/consents"],
        *,
        params: IdParams,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> ConsentList: ...

    @overload
    def call(
        self,
        route: Literal["PUT /agents/:id/consents/:connectorSlug"],
        *,
        params: IdConnectorSlugParams,
        body: ConsentPut,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Consent: ...

    @overload
    def call(
        self,
        route: Literal["DELETE /agents/:id/consents/:connectorSlug"],
        *,
        params: IdConnectorSlugParams,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Deleted: ...

    @overload
    def call(
        self,
        route: Literal["GET /agents/:id/messages"],
        *,
        params: IdParams,
        query: GetAgentsByIdMessagesQuery | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> GetAgentsByIdMessagesData: ...

    @overload
    def call(
        self,
        route: Literal["GET /agents/:id/peers"],
        *,
        params: IdParams,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> GetAgentsByIdPeersData: ...

    @overload
    def call(
        self,
        route: Literal["GET /agents/:id/sessions"],
        *,
        params: IdParams,
        query: GetAgentsByIdSessionsQuery | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> GetAgentsByIdSessionsData: ...

    @overload
    def call(
        self,
        route: Literal["GET /api-keys"],
        *,
        query: GetApiKeysQuery | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> GetApiKeysData: ...

    @overload
    def call(
        self,
        route: Literal["POST /api-keys"],
        *,
        body: ApiKeyCreate,
        idempotency_key: str | None = ...,
        step_up_token: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> ApiKeyCreated: ...

    @overload
    def call(
        self,
        route: Literal["DELETE /api-keys/:id"],
        *,
        params: IdParams,
        if_match: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Deleted: ...

    @overload
    def call(
        self,
        route: Literal["GET /apps"],
        *,
        query: GetAppsQuery | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> GetAppsData: ...

    @overload
    def call(
        self,
        route: Literal["GET /apps/authorization"],
        *,
        query: GetAppsAuthorizationQuery,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Authorization: ...

    @overload
    def call(
        self,
        route: Literal["POST /apps/authorization"],
        *,
        body: AuthorizationDecision,
        step_up_token: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> AuthorizationResult: ...

    @overload
    def call(
        self,
        route: Literal["DELETE /apps/:id"],
        *,
        params: IdParams,
        if_match: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Deleted: ...

    @overload
    def call(
        self,
        route: Literal["GET /audit-log"],
        *,
        query: GetAuditLogQuery | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> GetAuditLogData: ...

    @overload
    def call(
        self,
        route: Literal["GET /audit-log/export"],
        *,
        query: GetAuditLogExportQuery | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> None: ...

    @overload
    def call(
        self,
        route: Literal["POST /auth/password"],
        *,
        body: PasswordChange,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> PasswordChanged: ...

    @overload
    def call(
        self,
        route: Literal["GET /auth/session"],
        *,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> GetAuthSessionData | None: ...

    @overload
    def call(
        self,
        route: Literal["GET /auth/sessions"],
        *,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> OwnSessionList: ...

    @overload
    def call(
        self,
        route: Literal["DELETE /auth/sessions"],
        *,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> SessionsEnded: ...

    @overload
    def call(
        self,
        route: Literal["DELETE /auth/sessions/:id"],
        *,
        params: IdParams,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Deleted: ...

    @overload
    def call(
        self,
        route: Literal["POST /auth/sign-in"],
        *,
        body: SignIn,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> SignedIn: ...

    @overload
    def call(
        self,
        route: Literal["POST /auth/sign-in/link"],
        *,
        body: SignInLink,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> SignedIn: ...

    @overload
    def call(
        self,
        route: Literal["POST /auth/sign-in/link/check"],
        *,
        body: SignInLink,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> SignInLinkOrg: ...

    @overload
    def call(
        self,
        route: Literal["POST /auth/sign-in/totp"],
        *,
        body: SignInCode,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> SignedIn: ...

    @overload
    def call(
        self,
        route: Literal["POST /auth/sign-out"],
        *,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> SignedOut: ...

    @overload
    def call(
        self,
        route: Literal["POST /auth/step-up"],
        *,
        body: StepUp,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> StepUpToken: ...

    @overload
    def call(
        self,
        route: Literal["POST /auth/two-factor"],
        *,
        body: TwoFactorBegin,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> TwoFactorSecret: ...

    @overload
    def call(
        self,
        route: Literal["DELETE /auth/two-factor"],
        *,
        step_up_token: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Deleted: ...

    @overload
    def call(
        self,
        route: Literal["POST /auth/two-factor/confirm"],
        *,
        body: TwoFactorConfirm,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> TwoFactorEnabled: ...

    @overload
    def call(
        self,
        route: Literal["GET /billing"],
        *,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> BillingSnapshot: ...

    @overload
    def call(
        self,
        route: Literal["PATCH /billing"],
        *,
        body: BillingPatch,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Updated: ...

    @overload
    def call(
        self,
        route: Literal["GET /billing/byok-keys"],
        *,
        query: GetBillingByokKeysQuery | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> GetBillingByokKeysData: ...

    @overload
    def call(
        self,
        route: Literal["POST /billing/byok-keys"],
        *,
        body: ProviderKeyCreate,
        idempotency_key: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> ProviderKey: ...

    @overload
    def call(
        self,
        route: Literal["DELETE /billing/byok-keys/:id"],
        *,
        params: IdParams,
        if_match: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Deleted: ...

    @overload
    def call(
        self,
        route: Literal["POST /billing/deposit"],
        *,
        body: DepositCreate,
        idempotency_key: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> DepositStarted: ...

    @overload
    def call(
        self,
        route: Literal["GET /billing/pricing"],
        *,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Pricing: ...

    @overload
    def call(
        self,
        route: Literal["POST /billing/promotions/redeem"],
        *,
        body: Redeem,
        idempotency_key: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Promotion: ...

    @overload
    def call(
        self,
        route: Literal["GET /billing/receipts"],
        *,
        query: GetBillingReceiptsQuery | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> PaymentReceiptList: ...

    @overload
    def call(
        self,
        route: Literal["GET /billing/receipts/:id"],
        *,
        params: IdParams,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> PaymentReceipt: ...

    @overload
    def call(
        self,
        route: Literal["GET /billing/receipts/:id/document"],
        *,
        params: IdParams,
        query: GetBillingReceiptsByIdDocumentQuery | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> None: ...

    @overload
    def call(
        self,
        route: Literal["GET /billing/spending"],
        *,
        query: GetBillingSpendingQuery | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Spending: ...

    @overload
    def call(
        self,
        route: Literal["GET /billing/spending/by-agent"],
        *,
        query: GetBillingSpendingByAgentQuery | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Breakdown: ...

    @overload
    def call(
        self,
        route: Literal["GET /billing/spending/by-model"],
        *,
        query: GetBillingSpendingByModelQuery | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Breakdown: ...

    @overload
    def call(
        self,
        route: Literal["GET /billing/spending/by-project"],
        *,
        query: GetBillingSpendingByProjectQuery | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Breakdown: ...

    @overload
    def call(
        self,
        route: Literal["GET /billing/statements"],
        *,
        query: GetBillingStatementsQuery | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> StatementList: ...

    @overload
    def call(
        self,
        route: Literal["GET /billing/statements/:month"],
        *,
        params: MonthParams,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Statement: ...

    @overload
    def call(
        self,
        route: Literal["GET /billing/statements/:month/document"],
        *,
        params: MonthParams,
        query: GetBillingStatementsByMonthDocumentQuery | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> None: ...

    @overload
    def call(
        self,
        route: Literal["POST /billing/subscriptions/cancel"],
        *,
        idempotency_key: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> SubscriptionEnded: ...

    @overload
    def call(
        self,
        route: Literal["POST /billing/subscriptions/checkout"],
        *,
        body: SubscriptionCreate,
        idempotency_key: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> SubscriptionStarted: ...

    @overload
    def call(
        self,
        route: Literal["GET /billing/transactions"],
        *,
        query: GetBillingTransactionsQuery | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> TransactionPage: ...

    @overload
    def call(
        self,
        route: Literal["POST /billing/webhooks/stripe"],
        *,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> PaymentEventReceived: ...

    @overload
    def call(
        self,
        route: Literal["GET /connections"],
        *,
        query: GetConnectionsQuery | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> GetConnectionsData: ...

    @overload
    def call(
        self,
        route: Literal["POST /connections"],
        *,
        body: ConnectionCreate,
        idempotency_key: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> ExistingConnection | StartedConnection: ...

    @overload
    def call(
        self,
        route: Literal["GET /connections/oauth/callback"],
        *,
        query: GetConnectionsOauthCallbackQuery | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> None: ...

    @overload
    def call(
        self,
        route: Literal["POST /connections/oauth/callback"],
        *,
        body: OAuthCompletion,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> None: ...

    @overload
    def call(
        self,
        route: Literal["GET /connections/oauth/start"],
        *,
        query: GetConnectionsOauthStartQuery,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> None: ...

    @overload
    def call(
        self,
        route: Literal["GET /connections/:id"],
        *,
        params: IdParams,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Connection: ...

    @overload
    def call(
        self,
        route: Literal["DELETE /connections/:id"],
        *,
        params: IdParams,
        if_match: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> RevokedConnection: ...

    @overload
    def call(
        self,
        route: Literal["POST /connections/:id/credentials"],
        *,
        params: IdParams,
        body: Credentials,
        idempotency_key: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> SubmittedConnection: ...

    @overload
    def call(
        self,
        route: Literal["GET /connections/:id/endpoints"],
        *,
        params: IdParams,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> GetConnectionsByIdEndpointsData: ...

    @overload
    def call(
        self,
        route: Literal["GET /connections/:id/endpoints/:endpointId/events"],
        *,
        params: IdEndpointIdParams,
        query: GetConnectionsByIdEndpointsByEndpointIdEventsQuery | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> GetConnectionsByIdEndpointsByEndpointIdEventsData: ...

    @overload
    def call(
        self,
        route: Literal["GET /connections/:id/oauth"],
        *,
        params: IdParams,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> OAuthUrl: ...

    @overload
    def call(
        self,
        route: Literal["POST /connections/:id/oauth"],
        *,
        params: IdParams,
        body: OAuthCompletion,
        idempotency_key: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Connection: ...

    @overload
    def call(
        self,
        route: Literal["GET /connections/:id/tools"],
        *,
        params: IdParams,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> ConnectionTools: ...

    @overload
    def call(
        self,
        route: Literal["POST /connections/:id/tools"],
        *,
        params: IdParams,
        body: ToolAgreement,
        idempotency_key: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> ConnectionTools: ...

    @overload
    def call(
        self,
        route: Literal["GET /connectors"],
        *,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> GetConnectorsData: ...

    @overload
    def call(
        self,
        route: Literal["POST /connectors/webhooks/:provider/:endpointId"],
        *,
        params: ProviderEndpointIdParams,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> None: ...

    @overload
    def call(
        self,
        route: Literal["POST /embeddings"],
        *,
        body: EmbeddingCreate,
        idempotency_key: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> EmbeddingList: ...

    @overload
    def call(
        self,
        route: Literal["GET /event-endpoints"],
        *,
        query: GetEventEndpointsQuery | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> GetEventEndpointsData: ...

    @overload
    def call(
        self,
        route: Literal["POST /event-endpoints"],
        *,
        body: EventEndpointCreate,
        idempotency_key: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> EventEndpointWithSecret: ...

    @overload
    def call(
        self,
        route: Literal["POST /event-endpoints/transform-preview"],
        *,
        body: TransformPreviewRequest,
        idempotency_key: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> TransformPreview: ...

    @overload
    def call(
        self,
        route: Literal["GET /event-endpoints/:id"],
        *,
        params: IdParams,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> EventEndpoint: ...

    @overload
    def call(
        self,
        route: Literal["PATCH /event-endpoints/:id"],
        *,
        params: IdParams,
        body: PatchEventEndpointsByIdBody,
        if_match: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> EventEndpoint: ...

    @overload
    def call(
        self,
        route: Literal["DELETE /event-endpoints/:id"],
        *,
        params: IdParams,
        if_match: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Deleted: ...

    @overload
    def call(
        self,
        route: Literal["GET /event-endpoints/:id/deliveries"],
        *,
        params: IdParams,
        query: GetEventEndpointsByIdDeliveriesQuery | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> GetEventEndpointsByIdDeliveriesData: ...

    @overload
    def call(
        self,
        route: Literal["GET /event-endpoints/:id/deliveries/:deliveryId"],
        *,
        params: IdDeliveryIdParams,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> EventDelivery: ...

    @overload
    def call(
        self,
        route: Literal["POST /event-endpoints/:id/deliveries/:deliveryId/retry"],
        *,
        params: IdDeliveryIdParams,
        idempotency_key: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> EventDelivery: ...

    @overload
    def call(
        self,
        route: Literal["POST /event-endpoints/:id/recover"],
        *,
        params: IdParams,
        body: Recover,
        idempotency_key: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Recovered: ...

    @overload
    def call(
        self,
        route: Literal["POST /event-endpoints/:id/rotate"],
        *,
        params: IdParams,
        idempotency_key: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> EventEndpointWithSecret: ...

    @overload
    def call(
        self,
        route: Literal["POST /event-endpoints/:id/test"],
        *,
        params: IdParams,
        body: EventEndpointTest,
        idempotency_key: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> EventDelivery: ...

    @overload
    def call(
        self,
        route: Literal["GET /event-types"],
        *,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> GetEventTypesData: ...

    @overload
    def call(
        self,
        route: Literal["GET /events"],
        *,
        query: GetEventsQuery | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> EventList: ...

    @overload
    def call(
        self,
        route: Literal["GET /events/stream"],
        *,
        query: GetEventsStreamQuery | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> None: ...

    @overload
    def call(
        self,
        route: Literal["GET /events/:id"],
        *,
        params: IdParams,
        query: GetEventsByIdQuery | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> ExpandedEvent: ...

    @overload
    def call(
        self,
        route: Literal["GET /files"],
        *,
        query: GetFilesQuery | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> GetFilesData: ...

    @overload
    def call(
        self,
        route: Literal["POST /files"],
        *,
        body: FileCreate | RawBody,
        idempotency_key: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> FileCreated: ...

    @overload
    def call(
        self,
        route: Literal["GET /files/archive"],
        *,
        query: GetFilesArchiveQuery,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> None: ...

    @overload
    def call(
        self,
        route: Literal["GET /files/retention"],
        *,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Retention: ...

    @overload
    def call(
        self,
        route: Literal["PATCH /files/retention"],
        *,
        body: RetentionPatch,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Retention: ...

    @overload
    def call(
        self,
        route: Literal["GET /files/shares"],
        *,
        query: GetFilesSharesQuery | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> GetFilesSharesData: ...

    @overload
    def call(
        self,
        route: Literal["DELETE /files/trash"],
        *,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Deleted: ...

    @overload
    def call(
        self,
        route: Literal["GET /files/usage"],
        *,
        query: GetFilesUsageQuery | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Usage: ...

    @overload
    def call(
        self,
        route: Literal["GET /files/:id"],
        *,
        params: IdParams,
        query: GetFilesByIdQuery | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> File: ...

    @overload
    def call(
        self,
        route: Literal["PATCH /files/:id"],
        *,
        params: IdParams,
        body: FilePatch,
        if_match: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> File: ...

    @overload
    def call(
        self,
        route: Literal["DELETE /files/:id"],
        *,
        params: IdParams,
        query: DeleteFilesByIdQuery | None = ...,
        if_match: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Deleted: ...

    @overload
    def call(
        self,
        route: Literal["GET /files/:id/access"],
        *,
        params: IdParams,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> FolderAccess: ...

    @overload
    def call(
        self,
        route: Literal["PUT /files/:id/access"],
        *,
        params: IdParams,
        body: FolderAccessPut,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> FolderAccess: ...

    @overload
    def call(
        self,
        route: Literal["GET /files/:id/archive"],
        *,
        params: IdParams,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> None: ...

    @overload
    def call(
        self,
        route: Literal["GET /files/:id/content"],
        *,
        params: IdParams,
        query: GetFilesByIdContentQuery | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> None: ...

    @overload
    def call(
        self,
        route: Literal["PUT /files/:id/content"],
        *,
        params: IdParams,
        query: PutFilesByIdContentQuery | None = ...,
        if_match: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> PutFilesByIdContentData: ...

    @overload
    def call(
        self,
        route: Literal["PUT /files/:id/favorite"],
        *,
        params: IdParams,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> File: ...

    @overload
    def call(
        self,
        route: Literal["DELETE /files/:id/favorite"],
        *,
        params: IdParams,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Deleted: ...

    @overload
    def call(
        self,
        route: Literal["GET /files/:id/image"],
        *,
        params: IdParams,
        query: GetFilesByIdImageQuery | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> None: ...

    @overload
    def call(
        self,
        route: Literal["GET /files/:id/preview"],
        *,
        params: IdParams,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Preview: ...

    @overload
    def call(
        self,
        route: Literal["PUT /files/:id/recent"],
        *,
        params: IdParams,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> File: ...

    @overload
    def call(
        self,
        route: Literal["POST /files/:id/restore"],
        *,
        params: IdParams,
        idempotency_key: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> File: ...

    @overload
    def call(
        self,
        route: Literal["GET /files/:id/shares"],
        *,
        params: IdParams,
        query: GetFilesByIdSharesQuery | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> GetFilesByIdSharesData: ...

    @overload
    def call(
        self,
        route: Literal["POST /files/:id/shares"],
        *,
        params: IdParams,
        body: ShareCreate,
        idempotency_key: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> ShareCreated: ...

    @overload
    def call(
        self,
        route: Literal["PATCH /files/:id/shares/:shareId"],
        *,
        params: IdShareIdParams,
        body: SharePatch,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Share: ...

    @overload
    def call(
        self,
        route: Literal["DELETE /files/:id/shares/:shareId"],
        *,
        params: IdShareIdParams,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Deleted: ...

    @overload
    def call(
        self,
        route: Literal["GET /files/:id/upload"],
        *,
        params: IdParams,
        query: GetFilesByIdUploadQuery | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> DirectUpload: ...

    @overload
    def call(
        self,
        route: Literal["DELETE /files/:id/upload"],
        *,
        params: IdParams,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Deleted: ...

    @overload
    def call(
        self,
        route: Literal["POST /files/:id/upload/complete"],
        *,
        params: IdParams,
        idempotency_key: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> DirectUpload: ...

    @overload
    def call(
        self,
        route: Literal["POST /files/:id/upload/parts"],
        *,
        params: IdParams,
        body: DirectPartsRequest,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> DirectParts: ...

    @overload
    def call(
        self,
        route: Literal["GET /files/:id/versions"],
        *,
        params: IdParams,
        query: GetFilesByIdVersionsQuery | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> GetFilesByIdVersionsData: ...

    @overload
    def call(
        self,
        route: Literal["PATCH /files/:id/versions/:version"],
        *,
        params: IdVersionParams,
        body: VersionPatch,
        if_match: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Version: ...

    @overload
    def call(
        self,
        route: Literal["DELETE /files/:id/versions/:version"],
        *,
        params: IdVersionParams,
        if_match: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Deleted: ...

    @overload
    def call(
        self,
        route: Literal["GET /files/:id/versions/:version/content"],
        *,
        params: IdVersionParams,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> None: ...

    @overload
    def call(
        self,
        route: Literal["POST /files/:id/versions/:version/restore"],
        *,
        params: IdVersionParams,
        idempotency_key: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> File: ...

    @overload
    def call(
        self,
        route: Literal["GET /me"],
        *,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Me: ...

    @overload
    def call(
        self,
        route: Literal["PATCH /me"],
        *,
        body: PatchMeBody,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Me: ...

    @overload
    def call(
        self,
        route: Literal["GET /me/invitations"],
        *,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> InvitationList: ...

    @overload
    def call(
        self,
        route: Literal["POST /me/invitations/:id/accept"],
        *,
        params: IdParams,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> InvitationAccepted: ...

    @overload
    def call(
        self,
        route: Literal["POST /me/invitations/:id/decline"],
        *,
        params: IdParams,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> InvitationDeclined: ...

    @overload
    def call(
        self,
        route: Literal["GET /members"],
        *,
        query: GetMembersQuery | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> GetMembersData: ...

    @overload
    def call(
        self,
        route: Literal["POST /members"],
        *,
        body: MemberCreate,
        idempotency_key: str | None = ...,
        step_up_token: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> MemberCreated: ...

    @overload
    def call(
        self,
        route: Literal["GET /members/:id"],
        *,
        params: IdParams,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Member: ...

    @overload
    def call(
        self,
        route: Literal["PATCH /members/:id"],
        *,
        params: IdParams,
        body: MemberPatch,
        if_match: str | None = ...,
        step_up_token: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Member: ...

    @overload
    def call(
        self,
        route: Literal["DELETE /members/:id"],
        *,
        params: IdParams,
        if_match: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Deleted: ...

    @overload
    def call(
        self,
        route: Literal["POST /members/:id/sign-in-link"],
        *,
        params: IdParams,
        idempotency_key: str | None = ...,
        step_up_token: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> MemberSignInLink: ...

    @overload
    def call(
        self,
        route: Literal["GET /models"],
        *,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> GetModelsData: ...

    @overload
    def call(
        self,
        route: Literal["GET /org"],
        *,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> OrgSettings: ...

    @overload
    def call(
        self,
        route: Literal["PATCH /org"],
        *,
        body: PatchOrgBody,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> OrgSettings: ...

    @overload
    def call(
        self,
        route: Literal["GET /org/logo"],
        *,
        query: GetOrgLogoQuery | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> None: ...

    @overload
    def call(
        self,
        route: Literal["PUT /org/logo"],
        *,
        body: RawBody,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> OrgSettings: ...

    @overload
    def call(
        self,
        route: Literal["DELETE /org/logo"],
        *,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Deleted: ...

    @overload
    def call(
        self,
        route: Literal["GET /projects"],
        *,
        query: GetProjectsQuery | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> GetProjectsData: ...

    @overload
    def call(
        self,
        route: Literal["POST /projects"],
        *,
        body: ProjectCreate,
        idempotency_key: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Project: ...

    @overload
    def call(
        self,
        route: Literal["GET /projects/:id"],
        *,
        params: IdParams,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Project: ...

    @overload
    def call(
        self,
        route: Literal["PATCH /projects/:id"],
        *,
        params: IdParams,
        body: ProjectPatch,
        if_match: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Project: ...

    @overload
    def call(
        self,
        route: Literal["DELETE /projects/:id"],
        *,
        params: IdParams,
        if_match: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Deleted: ...

    @overload
    def call(
        self,
        route: Literal["GET /quotas"],
        *,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> QuotaList: ...

    @overload
    def call(
        self,
        route: Literal["GET /sessions"],
        *,
        query: GetSessionsQuery | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> GetSessionsData: ...

    @overload
    def call(
        self,
        route: Literal["POST /sessions"],
        *,
        body: SessionCreate,
        idempotency_key: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Session: ...

    @overload
    def call(
        self,
        route: Literal["GET /sessions/:id"],
        *,
        params: IdParams,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Session: ...

    @overload
    def call(
        self,
        route: Literal["PATCH /sessions/:id"],
        *,
        params: IdParams,
        body: SessionPatch,
        if_match: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Session: ...

    @overload
    def call(
        self,
        route: Literal["DELETE /sessions/:id"],
        *,
        params: IdParams,
        if_match: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Deleted: ...

    @overload
    def call(
        self,
        route: Literal["POST /sessions/:id/branch"],
        *,
        params: IdParams,
        body: BranchSwitch,
        idempotency_key: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Session: ...

    @overload
    def call(
        self,
        route: Literal["POST /sessions/:id/cancel"],
        *,
        params: IdParams,
        idempotency_key: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Cancelled: ...

    @overload
    def call(
        self,
        route: Literal["GET /sessions/:id/messages"],
        *,
        params: IdParams,
        query: GetSessionsByIdMessagesQuery | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> GetSessionsByIdMessagesData: ...

    @overload
    def call(
        self,
        route: Literal["POST /sessions/:id/messages"],
        *,
        params: IdParams,
        body: TurnCreate,
        idempotency_key: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> TurnAnswer: ...

    @overload
    def call(
        self,
        route: Literal["GET /sessions/:id/messages/:chatId/stream"],
        *,
        params: IdChatIdParams,
        query: GetSessionsByIdMessagesByChatIdStreamQuery | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> None: ...

    @overload
    def call(
        self,
        route: Literal["GET /sessions/:id/stream"],
        *,
        params: IdParams,
        query: GetSessionsByIdStreamQuery | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> None: ...

    @overload
    def call(
        self,
        route: Literal["GET /turns/:id"],
        *,
        params: IdParams,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Turn: ...

    @overload
    def call(
        self,
        route: Literal["POST /turns/:id/approvals"],
        *,
        params: IdParams,
        body: ApprovalDecision,
        idempotency_key: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> TurnAnswer: ...

    @overload
    def call(
        self,
        route: Literal["POST /turns/:id/cancel"],
        *,
        params: IdParams,
        idempotency_key: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Cancelled: ...

    @overload
    def call(
        self,
        route: Literal["GET /turns/:id/stream"],
        *,
        params: IdParams,
        query: GetTurnsByIdStreamQuery | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> None: ...

    @overload
    def call(
        self,
        route: Literal["POST /turns/:id/tool-outputs"],
        *,
        params: IdParams,
        body: ToolOutputs,
        idempotency_key: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> TurnAnswer: ...

    @overload
    def call(
        self,
        route: Literal["POST /uploads"],
        *,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Upload: ...

    @overload
    def call(
        self,
        route: Literal["POST /uploads/:id"],
        *,
        params: IdParams,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> None: ...

    @overload
    def call(
        self,
        route: Literal["PATCH /uploads/:id"],
        *,
        params: IdParams,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> None: ...

    @overload
    def call(
        self,
        route: Literal["DELETE /uploads/:id"],
        *,
        params: IdParams,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> None: ...

    @overload
    def call(
        self,
        route: Literal["GET /webhooks"],
        *,
        query: GetWebhooksQuery | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> GetWebhooksData: ...

    @overload
    def call(
        self,
        route: Literal["POST /webhooks"],
        *,
        body: WebhookCreate,
        idempotency_key: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> WebhookWithSecret: ...

    @overload
    def call(
        self,
        route: Literal["GET /webhooks/events"],
        *,
        query: GetWebhooksEventsQuery | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> GetWebhooksEventsData: ...

    @overload
    def call(
        self,
        route: Literal["GET /webhooks/health"],
        *,
        query: GetWebhooksHealthQuery | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> GetWebhooksHealthData: ...

    @overload
    def call(
        self,
        route: Literal["POST /webhooks/linear"],
        *,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Receipt: ...

    @overload
    def call(
        self,
        route: Literal["GET /webhooks/linear/bindings"],
        *,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> GetWebhooksLinearBindingsData: ...

    @overload
    def call(
        self,
        route: Literal["POST /webhooks/linear/bindings"],
        *,
        body: LinearBindingCreate,
        idempotency_key: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> LinearBinding: ...

    @overload
    def call(
        self,
        route: Literal["DELETE /webhooks/linear/bindings/:id"],
        *,
        params: IdParams,
        if_match: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Deleted: ...

    @overload
    def call(
        self,
        route: Literal["POST /webhooks/receive/:webhookId"],
        *,
        params: WebhookIdParams,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Receipt: ...

    @overload
    def call(
        self,
        route: Literal["POST /webhooks/test"],
        *,
        body: WebhookTest,
        idempotency_key: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> WebhookEvent: ...

    @overload
    def call(
        self,
        route: Literal["POST /webhooks/verify"],
        *,
        body: WebhookVerify,
        idempotency_key: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Verified: ...

    @overload
    def call(
        self,
        route: Literal["GET /webhooks/:id"],
        *,
        params: IdParams,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Webhook: ...

    @overload
    def call(
        self,
        route: Literal["PATCH /webhooks/:id"],
        *,
        params: IdParams,
        body: PatchWebhooksByIdBody,
        if_match: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Webhook: ...

    @overload
    def call(
        self,
        route: Literal["DELETE /webhooks/:id"],
        *,
        params: IdParams,
        if_match: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Deleted: ...

    @overload
    def call(
        self,
        route: Literal["GET /webhooks/:id/deliveries"],
        *,
        params: IdParams,
        query: GetWebhooksByIdDeliveriesQuery | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> GetWebhooksByIdDeliveriesData: ...

    @overload
    def call(
        self,
        route: Literal["GET /webhooks/:id/deliveries/:deliveryId"],
        *,
        params: IdDeliveryIdParams,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Delivery: ...

    @overload
    def call(
        self,
        route: Literal["POST /webhooks/:id/deliveries/:deliveryId/retry"],
        *,
        params: IdDeliveryIdParams,
        idempotency_key: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Delivery: ...

    @overload
    def call(
        self,
        route: Literal["GET /webhooks/:id/events"],
        *,
        params: IdParams,
        query: GetWebhooksByIdEventsQuery | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> GetWebhooksByIdEventsData: ...

    @overload
    def call(
        self,
        route: Literal["GET /webhooks/:id/events/:eventId"],
        *,
        params: IdEventIdParams,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> WebhookEvent: ...

    @overload
    def call(
        self,
        route: Literal["POST /webhooks/:id/events/:eventId/replay"],
        *,
        params: IdEventIdParams,
        idempotency_key: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Delivery: ...

    @overload
    def call(
        self,
        route: Literal["POST /webhooks/:id/recover"],
        *,
        params: IdParams,
        body: Recover,
        idempotency_key: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Recovered: ...

    @overload
    def call(
        self,
        route: Literal["POST /webhooks/:id/rotate"],
        *,
        params: IdParams,
        body: SecretRotate,
        idempotency_key: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> WebhookWithSecret: ...

    @overload
    def call(
        self,
        route: Literal["GET /workspaces"],
        *,
        query: GetWorkspacesQuery | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> GetWorkspacesData: ...

    @overload
    def call(
        self,
        route: Literal["POST /workspaces"],
        *,
        body: WorkspaceCreate,
        idempotency_key: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Workspace: ...

    @overload
    def call(
        self,
        route: Literal["GET /workspaces/:id"],
        *,
        params: IdParams,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Workspace: ...

    @overload
    def call(
        self,
        route: Literal["PATCH /workspaces/:id"],
        *,
        params: IdParams,
        body: PatchWorkspacesByIdBody,
        if_match: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Workspace: ...

    @overload
    def call(
        self,
        route: Literal["DELETE /workspaces/:id"],
        *,
        params: IdParams,
        if_match: str | None = ...,
        step_up_token: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Deleted: ...

    @overload
    def call(
        self,
        route: Literal["GET /workspaces/:id/members"],
        *,
        params: IdParams,
        query: GetWorkspacesByIdMembersQuery | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> GetWorkspacesByIdMembersData: ...

    @overload
    def call(
        self,
        route: Literal["POST /workspaces/:id/members"],
        *,
        params: IdParams,
        body: WorkspaceMemberAdd,
        idempotency_key: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> WorkspaceMember: ...

    @overload
    def call(
        self,
        route: Literal["DELETE /workspaces/:id/members/:userId"],
        *,
        params: IdUserIdParams,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Deleted: ...

    def call(self, route: str, **sent: Any) -> Any:
        """Calls a route and returns its data. Raises an AtriumError."""
        return self._request(route, sent).data

    @overload
    def call_with_response(
        self,
        route: Literal["GET /agents"],
        *,
        query: GetAgentsQuery | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[GetAgentsData]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["POST /agents"],
        *,
        body: AgentCreate,
        idempotency_key: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[Agent]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["GET /agents/:id"],
        *,
        params: IdParams,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[Agent]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["PATCH /agents/:id"],
        *,
        params: IdParams,
        body: AgentPatch,
        if_match: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[Agent]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["DELETE /agents/:id"],
        *,
        params: IdParams,
        if_match: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[Deleted]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["GET /agents/:id/consents"],
        *,
        params: IdParams,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[ConsentList]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["PUT /agents/:id/consents/:connectorSlug"],
        *,
        params: IdConnectorSlugParams,
        body: ConsentPut,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[Consent]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["DELETE /agents/:id/consents/:connectorSlug"],
        *,
        params: IdConnectorSlugParams,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[Deleted]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["GET /agents/:id/messages"],
        *,
        params: IdParams,
        query: GetAgentsByIdMessagesQuery | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[GetAgentsByIdMessagesData]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["GET /agents/:id/peers"],
        *,
        params: IdParams,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[GetAgentsByIdPeersData]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["GET /agents/:id/sessions"],
        *,
        params: IdParams,
        query: GetAgentsByIdSessionsQuery | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[GetAgentsByIdSessionsData]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["GET /api-keys"],
        *,
        query: GetApiKeysQuery | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[GetApiKeysData]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["POST /api-keys"],
        *,
        body: ApiKeyCreate,
        idempotency_key: str | None = ...,
        step_up_token: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[ApiKeyCreated]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["DELETE /api-keys/:id"],
        *,
        params: IdParams,
        if_match: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[Deleted]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["GET /apps"],
        *,
        query: GetAppsQuery | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[GetAppsData]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["GET /apps/authorization"],
        *,
        query: GetAppsAuthorizationQuery,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[Authorization]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["POST /apps/authorization"],
        *,
        body: AuthorizationDecision,
        step_up_token: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[AuthorizationResult]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["DELETE /apps/:id"],
        *,
        params: IdParams,
        if_match: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[Deleted]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["GET /audit-log"],
        *,
        query: GetAuditLogQuery | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[GetAuditLogData]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["GET /audit-log/export"],
        *,
        query: GetAuditLogExportQuery | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[None]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["POST /auth/password"],
        *,
        body: PasswordChange,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[PasswordChanged]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["GET /auth/session"],
        *,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[GetAuthSessionData | None]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["GET /auth/sessions"],
        *,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[OwnSessionList]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["DELETE /auth/sessions"],
        *,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[SessionsEnded]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["DELETE /auth/sessions/:id"],
        *,
        params: IdParams,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[Deleted]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["POST /auth/sign-in"],
        *,
        body: SignIn,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[SignedIn]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["POST /auth/sign-in/link"],
        *,
        body: SignInLink,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[SignedIn]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["POST /auth/sign-in/link/check"],
        *,
        body: SignInLink,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[SignInLinkOrg]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["POST /auth/sign-in/totp"],
        *,
        body: SignInCode,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[SignedIn]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["POST /auth/sign-out"],
        *,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[SignedOut]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["POST /auth/step-up"],
        *,
        body: StepUp,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[StepUpToken]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["POST /auth/two-factor"],
        *,
        body: TwoFactorBegin,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[TwoFactorSecret]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["DELETE /auth/two-factor"],
        *,
        step_up_token: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[Deleted]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["POST /auth/two-factor/confirm"],
        *,
        body: TwoFactorConfirm,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[TwoFactorEnabled]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["GET /billing"],
        *,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[BillingSnapshot]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["PATCH /billing"],
        *,
        body: BillingPatch,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[Updated]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["GET /billing/byok-keys"],
        *,
        query: GetBillingByokKeysQuery | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[GetBillingByokKeysData]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["POST /billing/byok-keys"],
        *,
        body: ProviderKeyCreate,
        idempotency_key: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[ProviderKey]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["DELETE /billing/byok-keys/:id"],
        *,
        params: IdParams,
        if_match: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[Deleted]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["POST /billing/deposit"],
        *,
        body: DepositCreate,
        idempotency_key: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[DepositStarted]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["GET /billing/pricing"],
        *,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[Pricing]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["POST /billing/promotions/redeem"],
        *,
        body: Redeem,
        idempotency_key: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[Promotion]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["GET /billing/receipts"],
        *,
        query: GetBillingReceiptsQuery | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[PaymentReceiptList]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["GET /billing/receipts/:id"],
        *,
        params: IdParams,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[PaymentReceipt]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["GET /billing/receipts/:id/document"],
        *,
        params: IdParams,
        query: GetBillingReceiptsByIdDocumentQuery | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[None]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["GET /billing/spending"],
        *,
        query: GetBillingSpendingQuery | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[Spending]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["GET /billing/spending/by-agent"],
        *,
        query: GetBillingSpendingByAgentQuery | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[Breakdown]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["GET /billing/spending/by-model"],
        *,
        query: GetBillingSpendingByModelQuery | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[Breakdown]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["GET /billing/spending/by-project"],
        *,
        query: GetBillingSpendingByProjectQuery | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[Breakdown]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["GET /billing/statements"],
        *,
        query: GetBillingStatementsQuery | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[StatementList]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["GET /billing/statements/:month"],
        *,
        params: MonthParams,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[Statement]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["GET /billing/statements/:month/document"],
        *,
        params: MonthParams,
        query: GetBillingStatementsByMonthDocumentQuery | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[None]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["POST /billing/subscriptions/cancel"],
        *,
        idempotency_key: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[SubscriptionEnded]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["POST /billing/subscriptions/checkout"],
        *,
        body: SubscriptionCreate,
        idempotency_key: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[SubscriptionStarted]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["GET /billing/transactions"],
        *,
        query: GetBillingTransactionsQuery | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[TransactionPage]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["POST /billing/webhooks/stripe"],
        *,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[PaymentEventReceived]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["GET /connections"],
        *,
        query: GetConnectionsQuery | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[GetConnectionsData]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["POST /connections"],
        *,
        body: ConnectionCreate,
        idempotency_key: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[ExistingConnection | StartedConnection]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["GET /connections/oauth/callback"],
        *,
        query: GetConnectionsOauthCallbackQuery | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[None]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["POST /connections/oauth/callback"],
        *,
        body: OAuthCompletion,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[None]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["GET /connections/oauth/start"],
        *,
        query: GetConnectionsOauthStartQuery,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[None]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["GET /connections/:id"],
        *,
        params: IdParams,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[Connection]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["DELETE /connections/:id"],
        *,
        params: IdParams,
        if_match: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[RevokedConnection]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["POST /connections/:id/credentials"],
        *,
        params: IdParams,
        body: Credentials,
        idempotency_key: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[SubmittedConnection]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["GET /connections/:id/endpoints"],
        *,
        params: IdParams,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[GetConnectionsByIdEndpointsData]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["GET /connections/:id/endpoints/:endpointId/events"],
        *,
        params: IdEndpointIdParams,
        query: GetConnectionsByIdEndpointsByEndpointIdEventsQuery | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[GetConnectionsByIdEndpointsByEndpointIdEventsData]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["GET /connections/:id/oauth"],
        *,
        params: IdParams,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[OAuthUrl]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["POST /connections/:id/oauth"],
        *,
        params: IdParams,
        body: OAuthCompletion,
        idempotency_key: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[Connection]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["GET /connections/:id/tools"],
        *,
        params: IdParams,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[ConnectionTools]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["POST /connections/:id/tools"],
        *,
        params: IdParams,
        body: ToolAgreement,
        idempotency_key: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[ConnectionTools]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["GET /connectors"],
        *,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[GetConnectorsData]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["POST /connectors/webhooks/:provider/:endpointId"],
        *,
        params: ProviderEndpointIdParams,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[None]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["POST /embeddings"],
        *,
        body: EmbeddingCreate,
        idempotency_key: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[EmbeddingList]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["GET /event-endpoints"],
        *,
        query: GetEventEndpointsQuery | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[GetEventEndpointsData]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["POST /event-endpoints"],
        *,
        body: EventEndpointCreate,
        idempotency_key: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[EventEndpointWithSecret]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["POST /event-endpoints/transform-preview"],
        *,
        body: TransformPreviewRequest,
        idempotency_key: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[TransformPreview]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["GET /event-endpoints/:id"],
        *,
        params: IdParams,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[EventEndpoint]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["PATCH /event-endpoints/:id"],
        *,
        params: IdParams,
        body: PatchEventEndpointsByIdBody,
        if_match: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[EventEndpoint]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["DELETE /event-endpoints/:id"],
        *,
        params: IdParams,
        if_match: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[Deleted]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["GET /event-endpoints/:id/deliveries"],
        *,
        params: IdParams,
        query: GetEventEndpointsByIdDeliveriesQuery | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[GetEventEndpointsByIdDeliveriesData]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["GET /event-endpoints/:id/deliveries/:deliveryId"],
        *,
        params: IdDeliveryIdParams,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[EventDelivery]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["POST /event-endpoints/:id/deliveries/:deliveryId/retry"],
        *,
        params: IdDeliveryIdParams,
        idempotency_key: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[EventDelivery]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["POST /event-endpoints/:id/recover"],
        *,
        params: IdParams,
        body: Recover,
        idempotency_key: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[Recovered]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["POST /event-endpoints/:id/rotate"],
        *,
        params: IdParams,
        idempotency_key: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[EventEndpointWithSecret]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["POST /event-endpoints/:id/test"],
        *,
        params: IdParams,
        body: EventEndpointTest,
        idempotency_key: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[EventDelivery]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["GET /event-types"],
        *,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[GetEventTypesData]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["GET /events"],
        *,
        query: GetEventsQuery | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[EventList]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["GET /events/stream"],
        *,
        query: GetEventsStreamQuery | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[None]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["GET /events/:id"],
        *,
        params: IdParams,
        query: GetEventsByIdQuery | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[ExpandedEvent]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["GET /files"],
        *,
        query: GetFilesQuery | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[GetFilesData]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["POST /files"],
        *,
        body: FileCreate | RawBody,
        idempotency_key: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[FileCreated]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["GET /files/archive"],
        *,
        query: GetFilesArchiveQuery,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[None]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["GET /files/retention"],
        *,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[Retention]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["PATCH /files/retention"],
        *,
        body: RetentionPatch,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[Retention]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["GET /files/shares"],
        *,
        query: GetFilesSharesQuery | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[GetFilesSharesData]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["DELETE /files/trash"],
        *,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[Deleted]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["GET /files/usage"],
        *,
        query: GetFilesUsageQuery | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[Usage]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["GET /files/:id"],
        *,
        params: IdParams,
        query: GetFilesByIdQuery | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[File]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["PATCH /files/:id"],
        *,
        params: IdParams,
        body: FilePatch,
        if_match: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[File]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["DELETE /files/:id"],
        *,
        params: IdParams,
        query: DeleteFilesByIdQuery | None = ...,
        if_match: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[Deleted]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["GET /files/:id/access"],
        *,
        params: IdParams,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[FolderAccess]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["PUT /files/:id/access"],
        *,
        params: IdParams,
        body: FolderAccessPut,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[FolderAccess]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["GET /files/:id/archive"],
        *,
        params: IdParams,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[None]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["GET /files/:id/content"],
        *,
        params: IdParams,
        query: GetFilesByIdContentQuery | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[None]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["PUT /files/:id/content"],
        *,
        params: IdParams,
        query: PutFilesByIdContentQuery | None = ...,
        if_match: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[PutFilesByIdContentData]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["PUT /files/:id/favorite"],
        *,
        params: IdParams,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[File]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["DELETE /files/:id/favorite"],
        *,
        params: IdParams,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[Deleted]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["GET /files/:id/image"],
        *,
        params: IdParams,
        query: GetFilesByIdImageQuery | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[None]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["GET /files/:id/preview"],
        *,
        params: IdParams,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[Preview]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["PUT /files/:id/recent"],
        *,
        params: IdParams,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[File]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["POST /files/:id/restore"],
        *,
        params: IdParams,
        idempotency_key: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[File]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["GET /files/:id/shares"],
        *,
        params: IdParams,
        query: GetFilesByIdSharesQuery | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[GetFilesByIdSharesData]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["POST /files/:id/shares"],
        *,
        params: IdParams,
        body: ShareCreate,
        idempotency_key: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[ShareCreated]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["PATCH /files/:id/shares/:shareId"],
        *,
        params: IdShareIdParams,
        body: SharePatch,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[Share]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["DELETE /files/:id/shares/:shareId"],
        *,
        params: IdShareIdParams,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[Deleted]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["GET /files/:id/upload"],
        *,
        params: IdParams,
        query: GetFilesByIdUploadQuery | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[DirectUpload]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["DELETE /files/:id/upload"],
        *,
        params: IdParams,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[Deleted]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["POST /files/:id/upload/complete"],
        *,
        params: IdParams,
        idempotency_key: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[DirectUpload]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["POST /files/:id/upload/parts"],
        *,
        params: IdParams,
        body: DirectPartsRequest,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[DirectParts]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["GET /files/:id/versions"],
        *,
        params: IdParams,
        query: GetFilesByIdVersionsQuery | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[GetFilesByIdVersionsData]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["PATCH /files/:id/versions/:version"],
        *,
        params: IdVersionParams,
        body: VersionPatch,
        if_match: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[Version]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["DELETE /files/:id/versions/:version"],
        *,
        params: IdVersionParams,
        if_match: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[Deleted]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["GET /files/:id/versions/:version/content"],
        *,
        params: IdVersionParams,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[None]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["POST /files/:id/versions/:version/restore"],
        *,
        params: IdVersionParams,
        idempotency_key: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[File]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["GET /me"],
        *,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[Me]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["PATCH /me"],
        *,
        body: PatchMeBody,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[Me]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["GET /me/invitations"],
        *,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[InvitationList]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["POST /me/invitations/:id/accept"],
        *,
        params: IdParams,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[InvitationAccepted]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["POST /me/invitations/:id/decline"],
        *,
        params: IdParams,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[InvitationDeclined]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["GET /members"],
        *,
        query: GetMembersQuery | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[GetMembersData]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["POST /members"],
        *,
        body: MemberCreate,
        idempotency_key: str | None = ...,
        step_up_token: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[MemberCreated]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["GET /members/:id"],
        *,
        params: IdParams,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[Member]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["PATCH /members/:id"],
        *,
        params: IdParams,
        body: MemberPatch,
        if_match: str | None = ...,
        step_up_token: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[Member]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["DELETE /members/:id"],
        *,
        params: IdParams,
        if_match: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[Deleted]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["POST /members/:id/sign-in-link"],
        *,
        params: IdParams,
        idempotency_key: str | None = ...,
        step_up_token: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[MemberSignInLink]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["GET /models"],
        *,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[GetModelsData]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["GET /org"],
        *,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[OrgSettings]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["PATCH /org"],
        *,
        body: PatchOrgBody,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[OrgSettings]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["GET /org/logo"],
        *,
        query: GetOrgLogoQuery | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[None]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["PUT /org/logo"],
        *,
        body: RawBody,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[OrgSettings]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["DELETE /org/logo"],
        *,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[Deleted]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["GET /projects"],
        *,
        query: GetProjectsQuery | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[GetProjectsData]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["POST /projects"],
        *,
        body: ProjectCreate,
        idempotency_key: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[Project]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["GET /projects/:id"],
        *,
        params: IdParams,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[Project]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["PATCH /projects/:id"],
        *,
        params: IdParams,
        body: ProjectPatch,
        if_match: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[Project]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["DELETE /projects/:id"],
        *,
        params: IdParams,
        if_match: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[Deleted]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["GET /quotas"],
        *,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[QuotaList]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["GET /sessions"],
        *,
        query: GetSessionsQuery | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[GetSessionsData]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["POST /sessions"],
        *,
        body: SessionCreate,
        idempotency_key: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[Session]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["GET /sessions/:id"],
        *,
        params: IdParams,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[Session]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["PATCH /sessions/:id"],
        *,
        params: IdParams,
        body: SessionPatch,
        if_match: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[Session]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["DELETE /sessions/:id"],
        *,
        params: IdParams,
        if_match: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[Deleted]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["POST /sessions/:id/branch"],
        *,
        params: IdParams,
        body: BranchSwitch,
        idempotency_key: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[Session]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["POST /sessions/:id/cancel"],
        *,
        params: IdParams,
        idempotency_key: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[Cancelled]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["GET /sessions/:id/messages"],
        *,
        params: IdParams,
        query: GetSessionsByIdMessagesQuery | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[GetSessionsByIdMessagesData]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["POST /sessions/:id/messages"],
        *,
        params: IdParams,
        body: TurnCreate,
        idempotency_key: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[TurnAnswer]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["GET /sessions/:id/messages/:chatId/stream"],
        *,
        params: IdChatIdParams,
        query: GetSessionsByIdMessagesByChatIdStreamQuery | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[None]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["GET /sessions/:id/stream"],
        *,
        params: IdParams,
        query: GetSessionsByIdStreamQuery | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[None]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["GET /turns/:id"],
        *,
        params: IdParams,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[Turn]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["POST /turns/:id/approvals"],
        *,
        params: IdParams,
        body: ApprovalDecision,
        idempotency_key: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[TurnAnswer]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["POST /turns/:id/cancel"],
        *,
        params: IdParams,
        idempotency_key: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[Cancelled]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["GET /turns/:id/stream"],
        *,
        params: IdParams,
        query: GetTurnsByIdStreamQuery | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[None]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["POST /turns/:id/tool-outputs"],
        *,
        params: IdParams,
        body: ToolOutputs,
        idempotency_key: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[TurnAnswer]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["POST /uploads"],
        *,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[Upload]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["POST /uploads/:id"],
        *,
        params: IdParams,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[None]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["PATCH /uploads/:id"],
        *,
        params: IdParams,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[None]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["DELETE /uploads/:id"],
        *,
        params: IdParams,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[None]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["GET /webhooks"],
        *,
        query: GetWebhooksQuery | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[GetWebhooksData]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["POST /webhooks"],
        *,
        body: WebhookCreate,
        idempotency_key: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[WebhookWithSecret]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["GET /webhooks/events"],
        *,
        query: GetWebhooksEventsQuery | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[GetWebhooksEventsData]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["GET /webhooks/health"],
        *,
        query: GetWebhooksHealthQuery | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[GetWebhooksHealthData]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["POST /webhooks/linear"],
        *,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[Receipt]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["GET /webhooks/linear/bindings"],
        *,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[GetWebhooksLinearBindingsData]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["POST /webhooks/linear/bindings"],
        *,
        body: LinearBindingCreate,
        idempotency_key: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[LinearBinding]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["DELETE /webhooks/linear/bindings/:id"],
        *,
        params: IdParams,
        if_match: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[Deleted]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["POST /webhooks/receive/:webhookId"],
        *,
        params: WebhookIdParams,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[Receipt]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["POST /webhooks/test"],
        *,
        body: WebhookTest,
        idempotency_key: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[WebhookEvent]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["POST /webhooks/verify"],
        *,
        body: WebhookVerify,
        idempotency_key: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[Verified]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["GET /webhooks/:id"],
        *,
        params: IdParams,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[Webhook]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["PATCH /webhooks/:id"],
        *,
        params: IdParams,
        body: PatchWebhooksByIdBody,
        if_match: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[Webhook]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["DELETE /webhooks/:id"],
        *,
        params: IdParams,
        if_match: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[Deleted]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["GET /webhooks/:id/deliveries"],
        *,
        params: IdParams,
        query: GetWebhooksByIdDeliveriesQuery | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[GetWebhooksByIdDeliveriesData]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["GET /webhooks/:id/deliveries/:deliveryId"],
        *,
        params: IdDeliveryIdParams,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[Delivery]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["POST /webhooks/:id/deliveries/:deliveryId/retry"],
        *,
        params: IdDeliveryIdParams,
        idempotency_key: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[Delivery]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["GET /webhooks/:id/events"],
        *,
        params: IdParams,
        query: GetWebhooksByIdEventsQuery | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[GetWebhooksByIdEventsData]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["GET /webhooks/:id/events/:eventId"],
        *,
        params: IdEventIdParams,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[WebhookEvent]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["POST /webhooks/:id/events/:eventId/replay"],
        *,
        params: IdEventIdParams,
        idempotency_key: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[Delivery]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["POST /webhooks/:id/recover"],
        *,
        params: IdParams,
        body: Recover,
        idempotency_key: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[Recovered]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["POST /webhooks/:id/rotate"],
        *,
        params: IdParams,
        body: SecretRotate,
        idempotency_key: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[WebhookWithSecret]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["GET /workspaces"],
        *,
        query: GetWorkspacesQuery | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[GetWorkspacesData]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["POST /workspaces"],
        *,
        body: WorkspaceCreate,
        idempotency_key: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[Workspace]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["GET /workspaces/:id"],
        *,
        params: IdParams,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[Workspace]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["PATCH /workspaces/:id"],
        *,
        params: IdParams,
        body: PatchWorkspacesByIdBody,
        if_match: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[Workspace]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["DELETE /workspaces/:id"],
        *,
        params: IdParams,
        if_match: str | None = ...,
        step_up_token: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[Deleted]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["GET /workspaces/:id/members"],
        *,
        params: IdParams,
        query: GetWorkspacesByIdMembersQuery | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[GetWorkspacesByIdMembersData]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["POST /workspaces/:id/members"],
        *,
        params: IdParams,
        body: WorkspaceMemberAdd,
        idempotency_key: str | None = ...,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[WorkspaceMember]: ...

    @overload
    def call_with_response(
        self,
        route: Literal["DELETE /workspaces/:id/members/:userId"],
        *,
        params: IdUserIdParams,
        headers: Mapping[str, str] | None = ...,
        timeout: float | None = ...,
    ) -> Result[Deleted]: ...

    def call_with_response(self, route: str, **sent: Any) -> Any:
        """Calls a route and returns its data, ETag, status and headers. Raises an AtriumError."""
        return self._request(route, sent)

    def _request(self, route: str, sent: dict[str, Any]) -> Result[Any]:
        raise NotImplementedError
