import { findLiveAgent } from '../../agents/agents.ts'
import { listConsents } from '../../agents/consents/consents.ts'
import type { ConsentRow } from '../../agents/consents/consents.ts'
import type { AgentRow, Model } from '../../agents/agents.ts'
import { getProject } from '../../files/files.ts'
import type { Actor } from '../../identity/actor.ts'
import { actorOfUser, isKeyLive } from '../../identity/sign-in/user-authority.ts'
import type { ErrorDetail } from '../turns/queries.ts'
import { exchangesOf } from './prompt.ts'
import type { UntrustedSource } from './questions.ts'
import type { Exchange } from './prompt.ts'
import * as queries from '../queries.ts'
import type { Tool } from '../tools/tools.ts'
import { keyRevoked, memberLeft } from '../turns/authority.ts'
import type { Hold } from './turn-run.ts'

const maxHistory = 200
/** For models of which nobody told how much they can read. */
const usualContextTokens = 32_000
/** More of a conversation than any model's window takes; what is beyond it is not even read. */
const maxHistoryBytes = 4_194_304

const instructionsFor = (
  agent: AgentRow,
  actor: Actor,
  project: { instructions: string | null } | undefined,
  more: (string | null)[],
): string =>
  [
    agent.systemPrompt ??
      `You are ${agent.name}, an assistant in the workspace of ${actor.orgName}. ${agent.description ?? ''}`.trim(),
    // Without its name, which any member may change.
    project?.instructions ? `Instructions of the project:\n${project.instructions}` : '',
    `Today is ${new Date().toISOString().slice(0, 10)}.`,
    ...more,
  ]
    .filter((text) => text !== null && text !== '')
    .join('\n\n')

export interface Authority {
  agent: AgentRow
  /** The person whose turn it is, with what they may do now. */
  actor: Actor
  tools: Tool[]
  /** What the person lets the agent use without being asked. */
  consents: ConsentRow[]
}

/** Who answers whom, with what. */
export interface Cast extends Authority {
  model: Model
  instructions: string
  /** The conversation, newest first: what began the turn, and what was said before. */
  exchanges: Exchange[]
  /** How much of everything the model is shown, at most. */
  maxPromptTokens: number
}

/** What the agent may do in the person's name at this moment; or why nobody can go on with the turn. */
export const loadAuthority = async ({ deps, turn, held }: Hold): Promise<Authority | ErrorDetail> => {
  const { db, models, toolbox } = deps
  const { orgId } = held
  const [agent, actor, isAllowed] = await Promise.all([
    findLiveAgent(db.hot, orgId, turn.agentId),
    actorOfUser(db.hot, { orgId, userId: turn.userId, workspaceId: turn.workspaceId, scopes: turn.scopes }),
    turn.apiKeyId === null || isKeyLive(db.hot, orgId, turn.apiKeyId),
  ])
  if (!isAllowed) return keyRevoked
  if (!agent?.isActive) return { code: 'agent_unavailable', message: 'The agent was deleted or deactivated.' }
  if (!actor) return memberLeft
  const canCall = models.find(turn.model)?.capabilities.tools === true
  if (!canCall) return { agent, actor, tools: [], consents: [] }
  const usesConnections = agent.allowedConnectors.length > 0
  const [tools, consents] = await Promise.all([
    toolbox.offered({ db, actor, agent }),
    usesConnections ? listConsents(db.hot, orgId, agent.id, actor.userId) : [],
  ])
  return { agent, actor, tools, consents }
}

/** Nobody may go on with a turn; the detail says why. */
export class AuthorityLost extends Error {
  readonly detail: ErrorDetail

  constructor(detail: ErrorDetail) {
    super(detail.message)
    this.name = 'AuthorityLost'
    this.detail = detail
  }
}

/** Has the turn go on with what may be done now. Answers what there is to throw when that is nothing any more. */
export const renewAuthority = async (run: Hold & Cast): Promise<AuthorityLost | undefined> => {
  const authority = await loadAuthority(run)
  if ('code' in authority) return new AuthorityLost(authority)
  Object.assign(run, authority)
  return undefined
}

/** Tells an agent that it is another one who speaks. */
const aboutPeer = (history: queries.MessageRow[], { turn }: Hold): string | null => {
  const asked = history.find(({ turnNumber, role }) => turnNumber === turn.number && role === 'user')
  if (asked?.author.type !== 'agent') return null
  const { name, slug } = asked.author
  return `You are talking with ${name} (${slug}), another agent of this workspace. What you answer goes back to it.`
}

/** Untrusted content that is shown to the model before any tool has run. */
const untrustedInPrompt = (
  { turn }: Hold,
  history: queries.MessageRow[],
  project: { instructions: string | null; instructionsBy: string | null } | undefined,
): UntrustedSource | null => {
  if (history.some(({ author }) => author.type === 'user' && author.id !== turn.userId)) return 'person'
  return project?.instructions && project.instructionsBy !== turn.userId ? 'project' : null
}

/** Everything that a turn needs, as of now; or why nobody can take it any more. */
export const loadCast = async (hold: Hold): Promise<Cast | ErrorDetail> => {
  const { deps, turn, held } = hold
  const { db, models } = deps
  const [authority, history] = await Promise.all([
    loadAuthority(hold),
    queries.listHistory(db, held.orgId, turn.sessionId, turn.number, { limit: maxHistory, maxBytes: maxHistoryBytes }),
  ])
  const model = models.find(turn.model)
  if ('code' in authority) return authority
  const { agent, actor, tools, consents } = authority
  if (!model) return { code: 'model_rejected', message: `The model ${turn.model} is not configured on this server.` }
  const project =
    turn.projectId === null ? undefined : await getProject(db, actor, turn.projectId).catch(() => undefined)
  turn.untrustedFrom ??= untrustedInPrompt(hold, history, project)
  return {
    agent,
    actor,
    model,
    instructions: instructionsFor(agent, actor, project, [turn.instructions, aboutPeer(history, hold)]),
    exchanges: exchangesOf(history, turn.relationship === 'peer' ? agent.id : undefined),
    maxPromptTokens: ((model.contextWindow ?? usualContextTokens) * 3) / 4,
    tools,
    consents,
  }
}
