import { findLiveAgent } from '../../agents/agents.ts'
import type { AgentRow, ModelCatalog } from '../../agents/agents.ts'
import { findAuthorityChange, listConsents } from '../../agents/consents/consents.ts'
import type { AuthorityChange, ConsentRow } from '../../agents/consents/consents.ts'
import type { Actor } from '../../identity/actor.ts'
import { actorOfUser, isKeyLive } from '../../identity/sign-in/user-authority.ts'
import type { Database } from '../../platform/database/database.ts'
import type { Tool, Toolbox } from '../tools/tools.ts'
import { keyRevoked, memberLeft } from '../turns/authority.ts'
import { withCallerTools } from '../turns/caller-tools/caller-tools.ts'
import type { ErrorDetail } from '../turns/queries.ts'
import type { ClaimedTurn } from '../turns/claim-queries.ts'
import type { HandedTurn } from './handed-turn.ts'

/** What the agent may do on behalf of the person. A snapshot of when it was loaded. */
export interface AgentAuthority {
  readonly agent: AgentRow
  /** The person for whom the turn runs, with their current permissions. */
  readonly actor: Actor
  readonly tools: readonly Tool[]
  /** The person's consents for the agent to use connectors without asking. */
  readonly consents: readonly ConsentRow[]
}

/** The turn must end because its key, person or agent lost the authority. `detail` is the turn's error. */
export class AuthorityLost extends Error {
  readonly detail: ErrorDetail

  constructor(detail: ErrorDetail) {
    super(detail.message)
    this.name = 'AuthorityLost'
    this.detail = detail
  }
}

/** The authority of one turn. It is reloaded after every model call and tool call, because it may have changed. */
export interface TurnAuthority {
  load(): Promise<AgentAuthority | AuthorityLost>
  /** The last change of the agent, for questions about consent. */
  latestChange(agentId: string): Promise<AuthorityChange | undefined>
}

export interface AuthorityDeps {
  db: Database
  models: ModelCatalog
  toolbox: Toolbox
}

const agentUnavailable: ErrorDetail = {
  code: 'agent_unavailable',
  message: 'The agent was deleted or deactivated.',
}

/** The first `load` returns `handed`, the authority that the creator of the turn has just checked. */
export const createTurnAuthority = (
  { db, models, toolbox }: AuthorityDeps,
  orgId: string,
  turn: ClaimedTurn,
  handed?: HandedTurn['authority'],
): TurnAuthority => {
  let known = handed

  const read = async (): Promise<{ agent: AgentRow; actor: Actor } | AuthorityLost> => {
    const { userId, workspaceId, scopes, apiKeyId } = turn
    const [agent, actor, isAllowed] = await Promise.all([
      findLiveAgent(db.hot, orgId, turn.agentId),
      actorOfUser(db.hot, { orgId, userId, workspaceId, scopes }),
      apiKeyId === null || isKeyLive(db.hot, orgId, apiKeyId),
    ])
    if (!isAllowed) return new AuthorityLost(keyRevoked)
    if (!agent?.isActive) return new AuthorityLost(agentUnavailable)
    return actor ? { agent, actor } : new AuthorityLost(memberLeft)
  }

  const load = async (): Promise<AgentAuthority | AuthorityLost> => {
    const found = known ?? (await read())
    known = undefined
    if (found instanceof AuthorityLost) return found
    const { agent, actor } = found
    if (models.find(turn.model)?.capabilities.tools !== true) return { agent, actor, tools: [], consents: [] }
    const usesConnections = agent.allowedConnectors.length > 0
    const [tools, consents] = await Promise.all([
      toolbox.offered({ db, actor, agent }),
      usesConnections ? listConsents(db.hot, orgId, agent.id, actor.userId) : [],
    ])
    return { agent, actor, tools: withCallerTools(tools, turn.clientTools), consents }
  }

  return { load, latestChange: (agentId) => findAuthorityChange(db.hot, orgId, agentId) }
}
