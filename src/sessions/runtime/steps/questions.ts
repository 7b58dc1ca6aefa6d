import { wantsApproval } from '../../../agents/approvals.ts'
import { asksAfterUntrusted, changerOf, isConsented } from '../../../agents/consents/consents.ts'
import type { AuthorityChange, ConsentRow } from '../../../agents/consents/consents.ts'
import type { AgentRow } from '../../../agents/agents.ts'
import { may } from '../../../identity/actor.ts'
import type { Actor } from '../../../identity/actor.ts'
import type { Permission } from '../../../identity/permissions.ts'
import type { Tool } from '../../../tool.ts'
import type { Form, GivenAnswer } from '../../../tool-form.ts'

/**
 * `consent`: whether the agent may use the person's connection. `repeat`: whether to run a call again after a crash that
 * left its effect unknown. `approval`: whether to run the call at all. `input`: what the tool asks the person during the
 * call.
 */
export type QuestionKind = 'consent' | 'approval' | 'repeat' | 'input'

/** A question to a person about a call. It is stored with the call. */
export interface Question {
  kind: QuestionKind
  reason: string
  /** The tool's permission. The person who decides needs it too. */
  permission: Permission
  agent: { id: string; slug: string; name: string }
  /** The connector whose connection the tool uses. */
  connector: string | null
  /** For a consent: the version of the agent, who made it and when. */
  authorityVersion: number
  changedBy: { id: string; name: string } | null
  changedAt: string | null
  /** Source of the untrusted content, when that is the reason for the question. */
  untrustedFrom: string | null
  /** Whether the call would need approval even with consent. */
  needsApproval: boolean
  /** For `input`: the question of the tool, and the answers to its earlier ones. */
  form?: Form
  answers?: readonly GivenAnswer[]
}

/** Sources of untrusted content that are not tools. */
export type UntrustedSource = 'chat' | 'file' | 'person' | 'peer' | 'project'

const sources: Record<UntrustedSource, string> = {
  chat: 'a message of a connected chat',
  file: 'a file that another person named',
  person: 'a message of another person',
  peer: 'a message of another agent',
  project: 'project instructions of another person',
}

const sourceName = (from: string): string => sources[from as UntrustedSource] ?? `the tool ${from}`

/** The part of a turn's context that determines which questions are asked. */
interface QuestionContext {
  readonly agent: AgentRow
  readonly actor: Actor
  readonly consents: readonly ConsentRow[]
  readonly state: { readonly untrustedFrom: string | null }
}

const reasonOf = (kind: QuestionKind, { name }: AgentRow, connector: string | null, from: string | null): string => {
  if (kind === 'consent') {
    return `You did not make the latest change to ${name}. Allow it to use your ${connector ?? ''} connection?`
  }
  if (kind === 'repeat') {
    return 'The server stopped while this tool was running. It is not known whether the tool took effect. Run it again?'
  }
  const why = from === null ? '' : ` The conversation contains untrusted content from ${sourceName(from)}.`
  return `This needs a person’s approval.${why} Run it?`
}

/** For tools that are not available now, and for questions that earlier versions stored without a permission. */
const permissionByName = (toolName: string): Permission => {
  if (toolName.includes('__')) return 'connections:write'
  return toolName === 'files.write' ? 'files:write' : 'sessions:write'
}

/** The question to ask before a call runs. Undefined when the call can run immediately. */
export const questionFor = (
  { agent, actor, consents, state }: QuestionContext,
  tool: Tool | undefined,
  { toolName, isRepeat }: { toolName: string; isRepeat: boolean },
): Question | undefined => {
  const connector = tool?.connector ?? null
  const needsConsent = connector !== null && !isConsented(agent, actor.userId, consents, connector)
  const isGuarded = tool !== undefined && (tool.needsApproval === true || wantsApproval(agent.settings, tool))
  const needsUntrustedApproval =
    tool?.isOutbound === true && state.untrustedFrom !== null && asksAfterUntrusted(agent, consents, connector ?? '')
  if (!needsConsent && !isGuarded && !needsUntrustedApproval && !isRepeat) return undefined
  const kind = needsConsent ? 'consent' : isRepeat ? 'repeat' : 'approval'
  const untrustedFrom = needsUntrustedApproval ? state.untrustedFrom : null
  return {
    kind,
    reason: reasonOf(kind, agent, connector, untrustedFrom),
    permission: tool?.permission ?? permissionByName(toolName),
    agent: { id: agent.id, slug: agent.slug, name: agent.name },
    connector,
    authorityVersion: agent.authorityVersion,
    changedBy: null,
    changedAt: null,
    untrustedFrom,
    needsApproval: isGuarded || needsUntrustedApproval || isRepeat,
  }
}

/** Questions of one call to a person, so that a server cannot ask without end. */
const maxForms = 5

/** The question of a tool to the person. Undefined when it has asked too often. */
export const inputQuestion = (
  { agent }: QuestionContext,
  tool: Tool | undefined,
  { toolName, question }: Pick<QuestionedCall, 'toolName' | 'question'>,
  form: Form,
): Question | undefined => {
  const answers = question?.answers ?? []
  if (answers.length >= maxForms) return undefined
  return {
    kind: 'input',
    reason: `${form.server} asks you for input. Your answer is sent to it.`,
    permission: tool?.permission ?? permissionByName(toolName),
    agent: { id: agent.id, slug: agent.slug, name: agent.name },
    connector: tool?.connector ?? null,
    authorityVersion: agent.authorityVersion,
    changedBy: null,
    changedAt: null,
    untrustedFrom: null,
    needsApproval: true,
    form,
    answers,
  }
}

/** Recomputes the question about a call, because the agent or the consents may have changed since it was asked. */
export const renewQuestion = (
  context: QuestionContext,
  tool: Tool | undefined,
  { toolName, status, question }: QuestionedCall,
): Question | null => {
  if (question?.kind === 'input' && status === 'waiting') return question
  const next = questionFor(context, tool, { toolName, isRepeat: status === 'unknown' })
  // What the person has answered before is not asked again.
  if (next && question?.answers) return { ...next, answers: question.answers }
  if (next || !question) return next ?? null
  // The person was already asked, so the call waits for the decision even if it could run without one now.
  const { agent } = context
  const kind = 'approval'
  return { ...question, kind, reason: reasonOf(kind, agent, null, null), authorityVersion: agent.authorityVersion }
}

/** Adds who changed the agent last, and when, to a question about consent. */
export const withLatestChange = (question: Question, change: AuthorityChange | undefined): Question =>
  question.kind === 'consent'
    ? { ...question, changedBy: changerOf(change), changedAt: change?.changedAt ?? null }
    : question

/** Why an allowed call cannot run now: the agent was changed or the consent was withdrawn. Undefined when it can. */
export const consentLost = ({ agent, actor, consents }: QuestionContext, tool: Tool): string | undefined =>
  tool.connector === undefined || isConsented(agent, actor.userId, consents, tool.connector)
    ? undefined
    : `Not run: ${agent.name} was changed meanwhile, or the consent to use ${tool.connector} was withdrawn. Call the tool again to ask the person.`

interface QuestionedCall {
  toolName: string
  status: string
  question: Question | null
}

export const kindOf = ({ question, status }: QuestionedCall): QuestionKind =>
  question?.kind ?? (status === 'unknown' ? 'repeat' : 'approval')

/** Why a person cannot decide about a call. Undefined when they can. */
export const decisionRejection = (actor: Actor, turn: { userId: string }, call: QuestionedCall): string | undefined => {
  const isOwn = actor.userId === turn.userId
  if (!isOwn && kindOf(call) === 'consent') {
    return 'Only the person for whom the turn runs can allow an agent to use their connections.'
  }
  if (!isOwn && kindOf(call) === 'input') return 'Only the person for whom the turn runs can answer this.'
  if (!isOwn && !may(actor, 'approvals:decide')) {
    return 'Only the person for whom the turn runs, or a member with the permission approvals:decide, can decide this.'
  }
  const permission = call.question?.permission ?? permissionByName(call.toolName)
  if (!may(actor, permission)) return `Deciding about ${call.toolName} needs the permission ${permission}.`
  return undefined
}
