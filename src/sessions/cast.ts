import { findLiveAgent } from '../agents/agents.ts'
import type { AgentRow, Model } from '../agents/agents.ts'
import { getProject } from '../files/projects.ts'
import type { Actor } from '../identity/actor.ts'
import { actorOfUser } from '../identity/user-authority.ts'
import type { ErrorDetail } from './turn-queries.ts'
import type { PromptMessage } from './models/model-port.ts'
import { promptOf } from './prompt.ts'
import * as queries from './queries.ts'
import type { Tool } from './tools.ts'
import type { Hold } from './turn-run.ts'

const maxHistory = 200
/** For models of which nobody told how much they can read. */
const usualContextTokens = 32_000

const instructionsFor = (
  agent: AgentRow,
  actor: Actor,
  project: { name: string; instructions: string | null } | undefined,
): string =>
  [
    agent.systemPrompt ??
      `You are ${agent.name}, an assistant in the workspace of ${actor.orgName}. ${agent.description ?? ''}`.trim(),
    project?.instructions ? `Instructions of the project ${project.name}:\n${project.instructions}` : '',
    `Today is ${new Date().toISOString().slice(0, 10)}.`,
  ]
    .filter((text) => text !== '')
    .join('\n\n')

/** Who answers whom, with what. */
export interface Cast {
  agent: AgentRow
  /** The person whose turn it is, with what they may do now. */
  actor: Actor
  model: Model
  instructions: string
  /** The conversation up to the turn, and what the person said to begin it. */
  history: PromptMessage[]
  tools: Tool[]
}

/** Everything that a turn needs, as of now; or why nobody can take it any more. */
export const loadCast = async ({ deps, turn, held }: Hold): Promise<Cast | ErrorDetail> => {
  const { db, models, toolbox } = deps
  const { orgId } = held
  const [agent, actor, history] = await Promise.all([
    findLiveAgent(db.hot, orgId, turn.agentId),
    actorOfUser(db.hot, { orgId, userId: turn.userId, workspaceId: turn.workspaceId, scopes: turn.scopes }),
    queries.listHistory(db, orgId, turn.sessionId, turn.number, maxHistory),
  ])
  const model = models.find(turn.model)
  if (!agent?.isActive) return { code: 'agent_unavailable', message: 'The agent was deleted or deactivated.' }
  if (!actor) return { code: 'forbidden', message: 'Whoever asked for this is no longer a member of the workspace.' }
  if (!model) return { code: 'model_rejected', message: `The model ${turn.model} is not configured on this server.` }
  const project =
    turn.projectId === null ? undefined : await getProject(db, actor, turn.projectId).catch(() => undefined)
  const maxTokens = ((model.contextWindow ?? usualContextTokens) * 3) / 4
  return {
    agent,
    actor,
    model,
    instructions: instructionsFor(agent, actor, project),
    history: promptOf(history, turn.number, maxTokens),
    tools: model.capabilities.tools ? toolbox.offered(agent.allowedTools, actor) : [],
  }
}
