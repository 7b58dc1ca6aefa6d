import type { AgentRow, ModelCatalog } from '../../agents/agents.ts'
import { getProject } from '../../files/files.ts'
import type { Actor } from '../../identity/actor.ts'
import type { Database } from '../../platform/database/database.ts'
import { listHistory } from '../message-queries.ts'
import type { MessageRow } from '../message-queries.ts'
import type { ErrorDetail } from '../turns/queries.ts'
import { AuthorityLost } from './authority.ts'
import { historyLimits } from './handed-turn.ts'
import type { HandedTurn } from './handed-turn.ts'
import { exchangesOf } from './prompt/prompt.ts'
import type { UntrustedSource } from './steps/questions.ts'
import type { LeasedTurn, TurnContext } from './turn-context.ts'

interface ProjectText {
  instructions: string | null
  instructionsBy: string | null
}

const maxDateFormats = 100
const dateFormats = new Map<string, Intl.DateTimeFormat>()

/** A new format takes about as long as a statement, so those of the time zones in use are kept. */
const dateFormatOf = (timeZone: string): Intl.DateTimeFormat => {
  const known = dateFormats.get(timeZone)
  if (known) return known
  if (dateFormats.size >= maxDateFormats) dateFormats.clear()
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone })
  dateFormats.set(timeZone, format)
  return format
}

/** The date in a time zone, as `2030-03-04`. */
const dateIn = (timeZone: string | null): string => dateFormatOf(timeZone ?? 'UTC').format(new Date())

const instructionsFor = (
  agent: AgentRow,
  actor: Actor,
  project: ProjectText | undefined,
  more: (string | null)[],
): string =>
  [
    agent.systemPrompt ??
      `You are ${agent.name}, an assistant in the workspace of ${actor.orgName}. ${agent.description ?? ''}`.trim(),
    // The project's name is left out, because every member can change it.
    project?.instructions ? `Instructions of the project:\n${project.instructions}` : '',
    `Today is ${dateIn(actor.timeZone)}.`,
    ...more,
  ]
    .filter((text) => text !== null && text !== '')
    .join('\n\n')

/** Tells the model that another agent wrote the message. */
const peerNote = (history: MessageRow[], turnNumber: number): string | null => {
  const asked = history.find((message) => message.turnNumber === turnNumber && message.role === 'user')
  if (asked?.author.type !== 'agent') return null
  const { name, slug } = asked.author
  return `You are talking with ${name} (${slug}), another agent of this workspace. Your reply goes back to it.`
}

/** The source of untrusted content in the prompt before any tool has run. */
const untrustedInPrompt = (
  userId: string,
  history: MessageRow[],
  project: ProjectText | undefined,
): UntrustedSource | undefined => {
  if (history.some(({ author }) => author.type === 'user' && author.id !== userId)) return 'person'
  return project?.instructions && project.instructionsBy !== userId ? 'project' : undefined
}

/** Loads the current data that the turn needs. Returns the turn's error when it must not or cannot run. */
export const prepareTurn = async (
  { db, models }: { db: Database; models: ModelCatalog },
  leased: LeasedTurn,
  handed?: HandedTurn,
): Promise<TurnContext | ErrorDetail> => {
  const { turn, lease, state, services } = leased
  const { sessionId, number: turnNumber, skipped } = turn
  const [authority, history] = await Promise.all([
    services.authority.load(),
    handed?.history ?? listHistory(db, { orgId: lease.orgId, sessionId, turnNumber, skipped, ...historyLimits }),
  ])
  if (authority instanceof AuthorityLost) return authority.detail
  const model = models.find(turn.model)
  if (!model) return { code: 'model_rejected', message: `The model ${turn.model} is not configured on this server.` }
  const { agent, actor } = authority
  const project =
    turn.projectId === null ? undefined : await getProject(db, actor, turn.projectId).catch(() => undefined)
  const untrusted = untrustedInPrompt(turn.userId, history, project)
  if (untrusted !== undefined) state.noteUntrusted(untrusted)
  return {
    ...leased,
    ...authority,
    model,
    instructions: instructionsFor(agent, actor, project, [turn.instructions, peerNote(history, turn.number)]),
    exchanges: exchangesOf(history, { peer: turn.relationship === 'peer' ? agent.id : undefined, skipped }),
  }
}
