import type { Config } from './config/config.ts'
import type { Previewer } from './files/files.ts'
import type { Actor } from './identity/actor.ts'
import type { Permission } from './identity/permissions.ts'
import type { Database } from './platform/database/database.ts'
import type { Jobs } from './platform/jobs/jobs.ts'
import type { Log } from './platform/process/log.ts'
import type { ObjectStore } from './platform/object-store/object-store.ts'
import type { Quotas } from './quotas/quotas.ts'
import type { GivenAnswer } from './tool-form.ts'

/** The context of a tool call. The actor is the person of the turn, so a tool has the permissions of that person. */
export interface ToolContext {
  db: Database
  log: Log
  objects: ObjectStore
  quotas: Quotas
  previewer: Previewer
  jobs: Pick<Jobs, 'enqueue'>
  config: Pick<Config, 'retention'>
  actor: Actor
  /** The project of the session. */
  projectId: string | null
  /** Aborted when the turn ends or the tool takes too long. */
  signal: AbortSignal
  /** An idempotency key: the same for every execution of one call, also after a crash, and unique to that call. */
  callKey: string
  /** The turn of the call. Null outside of a turn. */
  turn: CallingTurn | null
}

export interface CallingTurn {
  id: string
  sessionId: string
  /** The remaining time of the turn in milliseconds. */
  leftMs: number
  /** The source of the first untrusted content that the turn has read; null for none. */
  untrustedFrom: string | null
  /** Answers of a person to forms of earlier runs of this call. A tool asks by throwing `InputRequired`. */
  answers: readonly GivenAnswer[]
  /** Marks the result of this call as untrusted, for tools that return untrusted content only in some results. */
  noteUntrusted(): void
  /**
   * Keeps a picture that the tool returns until the turn ends, for models that can see. Returns its id, for `pictureId` in
   * the output. Throws BAD_REQUEST when it cannot be read.
   */
  keepPicture(bytes: Buffer): Promise<string>
}

/** The tools and connectors that settings may name, whether or not they are available to an agent. */
export interface KnownTools {
  /** The built-in tools and the tools of every connector, but not those of MCP servers (`mcp__…`) and A2A agents (`a2a__…`). */
  names: readonly string[]
  /** The slugs of all connectors. */
  connectors: readonly string[]
}

/** A tool that an agent can call. */
export interface Tool {
  /** Letters, digits, dots, dashes and underscores. Unique even when dots count as underscores. */
  name: string
  description: string
  /** The JSON schema of the arguments, for the model. Arguments are validated against it unless it is foreign. */
  inputSchema: object
  /**
   * The schema comes from another server. It is passed on as data and never compiled, because a pattern can run forever
   * and a keyword can change the meaning of validation. That server validates its own input.
   */
  hasForeignSchema?: boolean
  /** The caller of the turn runs it: a call of it is never run by the server. */
  isOfCaller?: boolean
  /** Changes nothing, so calls can run in parallel and be repeated after a crash. */
  isReadOnly: boolean
  /** Idempotent by `callKey`: repeated executions have one effect. */
  isRepeatable?: boolean
  /** Requires the approval of a person for each call. `settings.approvals` of an agent adds further tools. */
  needsApproval?: boolean
  /** The permission that the person needs to use the tool and to approve its calls. */
  permission: Permission
  /** The slug of the connector of the tool, which runs only with the consent of the person. */
  connector?: string
  /** The ID of the connection that a call with this input uses. A call runs only with the one that it was planned for. */
  connectionOf?(input: never): string | undefined
  /** Changes data at a provider: requires approval after the turn has read untrusted content. */
  isOutbound?: boolean
  /** Its results and errors can contain text of strangers, such as pages, mail and issues. */
  readsUntrusted?: boolean
  /** Returns JSON. The model gets the message of an ApiError; other errors are logged and reported as a failure. */
  run(context: ToolContext, input: never): Promise<unknown>
}

/** The user of tools: an agent on behalf of a person or, with `agent: null`, the person directly. */
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
 * A source of tools. It is called when a turn starts or resumes and before each batch of calls, so that a removed tool is
 * not run and the model is informed. The source applies the agent's lists; the toolbox removes tools that the person has
 * no permission for. When it rejects, the turn continues without its tools.
 */
export interface ToolSource {
  offered(scope: ToolScope): Promise<Tool[]>
}
