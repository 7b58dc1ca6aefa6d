import type { Previewer } from './files/files.ts'
import type { Actor } from './identity/actor.ts'
import type { Permission } from './identity/permissions.ts'
import type { Database } from './platform/database/database.ts'
import type { Log } from './platform/process/log.ts'
import type { ObjectStore } from './platform/object-store/object-store.ts'
import type { Quotas } from './quotas/quotas.ts'

/** What a tool works with. The actor is the person whose turn it is: a tool reaches what they reach, and no more. */
export interface ToolContext {
  db: Database
  log: Log
  objects: ObjectStore
  quotas: Quotas
  previewer: Previewer
  actor: Actor
  /** The project of the session. */
  projectId: string | null
  /** Aborted when the turn ends or the tool takes too long. */
  signal: AbortSignal
  /** The same for every run of one call, also after a crash, and no other's: an idempotency key for whoever is called. */
  callKey: string
  /** The turn in which it is called. Null outside of one. */
  turn: CallingTurn | null
}

export interface CallingTurn {
  id: string
  sessionId: string
  /** What is left of its time, in milliseconds. */
  leftMs: number
  /** Where the first untrusted content came from that the turn has read; null when it has read none. */
  untrustedFrom: string | null
  /** Notes that the answer of this very call holds untrusted content. For tools of which only some answers do. */
  noteUntrusted(): void
}

/** What settings may name, whether or not an agent is offered it at the moment. */
export interface KnownTools {
  /** The built-in tools and those of every connector. MCP servers bring their own, `mcp__…`. */
  names: readonly string[]
  /** The slugs of all connectors. */
  connectors: readonly string[]
}

/** Something that an agent can do. */
export interface Tool {
  /** Letters, digits, dots, dashes, underscores; unlike every other one, dots and underscores taken for the same. */
  name: string
  description: string
  /** JSON schema of an object: what the model is told and, unless it is foreign, what its arguments are checked against. */
  inputSchema: object
  /**
   * The schema comes from somebody else's server. It is passed on as data and never compiled: a pattern in it can run for
   * ever, and a keyword can change what validation means. That server validates its own input.
   */
  hasForeignSchema?: boolean
  /** Changes nothing, so it may run beside others, and again when nobody knows whether it ran. */
  isReadOnly: boolean
  /** Does under one `callKey` what it does only once, however often it is run. */
  isRepeatable?: boolean
  /** A person approves each call before it runs. Agents can ask for that of further tools in `settings.approvals`. */
  needsApproval?: boolean
  /** What the person must be allowed for the agent to be offered it, and what a decision about its calls needs. */
  permission: Permission
  /** The slug of the connector whose connection it uses: it runs only with that person's consent. */
  connector?: string
  /** Changes something at a provider: a person approves it once the turn has read untrusted content. */
  isOutbound?: boolean
  /** What it answers, or fails with, is text that strangers can write: a page, mail, an issue. */
  readsUntrusted?: boolean
  /** Answers JSON. An ApiError is told to the model; anything else is logged and told as a failure. */
  run(context: ToolContext, input: never): Promise<unknown>
}

/** Who would use tools: an agent in a person's name or, with `agent: null`, the person directly. */
export interface ToolScope {
  db: Database
  actor: Actor
  agent: ToolAgent | null
}

export interface ToolAgent {
  id: string
  slug: string
  allowedTools: readonly string[]
  allowedPeers: readonly string[]
  allowedConnectors: readonly string[]
}

/**
 * Where tools come from. It is asked whenever a turn begins or is taken up again, and before each batch of calls is run:
 * a tool that it does not offer any more is not run, and the model is told. It judges the agent's lists itself; what the
 * person may not do is left out for it. When it rejects, the turn goes on without its tools.
 */
export interface ToolSource {
  offered(scope: ToolScope): Promise<Tool[]>
}
