import { renewAuthority } from './cast.ts'
import { newId } from '../../platform/ids.ts'
import type { CallChange, NewCall } from './checkpoint-queries.ts'
import type { RequestedCall } from './model-step.ts'
import { isSettled } from './progress.ts'
import { askAgain, consentLost, nameChangers, questionFor } from './questions.ts'
import { runTool } from '../tools/tools.ts'
import type { Tool, ToolContext, ToolOutcome } from '../tools/tools.ts'
import { leftMsOf, reach, save, say } from './turn-run.ts'
import type { Run } from './turn-run.ts'
import type { CallRow } from '../turns/queries.ts'

const maxCallsInStep = 32
const maxAtOnce = 4

const toolOf = (run: Run, name: string): Tool | undefined => run.tools.find((tool) => tool.name === name)

const mayRunAgain = (tool: Tool | undefined): boolean => tool?.isReadOnly === true || tool?.isRepeatable === true

/** Why a call is not run at all, for the model. */
const faultOf = (run: Run, call: RequestedCall, place: number): string | undefined => {
  if (call.fault !== undefined) return call.fault
  if (place >= maxCallsInStep) return `No more than ${maxCallsInStep} tools can be called at once.`
  const tool = toolOf(run, call.toolName)
  if (!tool) return `There is no tool ${call.toolName} that this agent may use.`
  return run.deps.toolbox.fault(tool, call.input)
}

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other)

/** So many rounds of the very same calls with the very same results, and the next one is not run. */
const maxSameRounds = 3

/** Whether the model goes round in circles. */
const isStuck = ({ progress }: Run, requested: RequestedCall[]): boolean => {
  const rounds = [...Map.groupBy(progress.calls, ({ step }) => step).values()].slice(-maxSameRounds)
  const asked = (calls: Pick<CallRow, 'toolName' | 'input'>[]) => calls.map(({ toolName, input }) => [toolName, input])
  const heard = (calls: CallRow[]) => calls.map(({ output }) => output)
  return (
    rounds.length === maxSameRounds &&
    rounds.every((calls) => isSame(asked(calls), asked(requested)) && isSame(heard(calls), heard(rounds[0] ?? [])))
  )
}

const stuckFault = `Not run: the same calls had the same results ${maxSameRounds} times in a row. Do something else, or answer.`

const showOutcome = (run: Run, { callId, status, output }: Pick<CallRow, 'callId' | 'status' | 'output'>): void => {
  if (status === 'done') say(run, { type: 'tool-output-available', toolCallId: callId, output, dynamic: true })
  else {
    const { error } = output as { error: string }
    say(run, { type: 'tool-output-error', toolCallId: callId, errorText: error, dynamic: true })
  }
}

/**
 * The calls of a step, cut into groups that run one after another. What only reads runs beside its neighbours; what
 * changes something runs alone, in the order in which the model asked for it.
 */
const groupsOf = (run: Run, calls: CallRow[]): CallRow[][] => {
  const groups: CallRow[][] = []
  let isOpen = false
  for (const call of calls) {
    const reads = toolOf(run, call.toolName)?.isReadOnly === true
    const last = groups.at(-1)
    if (reads && isOpen && last && last.length < maxAtOnce) last.push(call)
    else groups.push([call])
    isOpen = reads
  }
  return groups
}

const change = ({ step, place }: CallRow, status: CallRow['status'], output?: unknown): CallChange => ({
  step,
  place,
  status,
  ...(output === undefined ? {} : { output }),
})

const start = (calls: CallRow[]): CallChange[] =>
  calls.map((call) => {
    call.status = 'started'
    return change(call, 'started')
  })

/** Runs the tool of a call, if the agent has it still and the person still lets the agent use it. */
const outcomeOf = async (run: Run, call: CallRow, context: ToolContext): Promise<ToolOutcome> => {
  const tool = toolOf(run, call.toolName)
  if (!tool) return { status: 'failed', output: { error: `This agent may not use ${call.toolName} any more.` } }
  const lost = consentLost(run, tool)
  if (lost !== undefined) return { status: 'failed', output: { error: lost } }
  const outcome = await runTool(tool, context, call.input)
  // What a provider says of a failure is its text, too.
  if (tool.readsUntrusted) context.turn?.noteUntrusted()
  return outcome
}

const runOne = async (run: Run, call: CallRow): Promise<CallChange> => {
  const { deps, actor, turn, signal } = run
  const context = {
    ...deps,
    actor,
    signal,
    projectId: turn.projectId,
    callKey: `${turn.id}:${call.step}:${call.place}`,
    turn: {
      id: turn.id,
      sessionId: turn.sessionId,
      leftMs: leftMsOf(run),
      untrustedFrom: turn.untrustedFrom,
      noteUntrusted: () => {
        turn.untrustedFrom ??= call.toolName
      },
    },
  }
  const outcome = await outcomeOf(run, call, context)
  Object.assign(call, outcome)
  showOutcome(run, call)
  return change(call, outcome.status, outcome.output)
}

/**
 * Runs groups whose first is `started` in the journal already; each next one is started as the one before is done, if
 * that may still be by then.
 */
const runGroups = async (run: Run, groups: CallRow[][]): Promise<void> => {
  for (const [place, group] of groups.entries()) {
    reach(run, 'before-tool')
    const done = await Promise.all(group.map((call) => runOne(run, call)))
    reach(run, 'after-tool')
    const next = groups[place + 1]
    const lost = next && (await renewAuthority(run))
    await save(run, { callChanges: lost || !next ? done : [...done, ...start(next)] })
    if (lost) throw lost
  }
}

const entryOf = (step: number, place: number, { callId, toolName, input }: RequestedCall): CallRow => ({
  step,
  place,
  callId,
  toolName,
  input,
  status: 'waiting',
  output: null,
  attempts: 0,
  approvalId: null,
  approved: null,
  question: null,
  startedAt: null,
  endedAt: null,
})

/** The journal's entries for what the model asked for. What cannot be run has failed already, and is told. */
export const journal = (run: Run, step: number, requested: RequestedCall[]): CallRow[] => {
  const stuck = isStuck(run, requested) ? stuckFault : undefined
  return requested.map((call, place) => {
    const entry = entryOf(step, place, call)
    const fault = faultOf(run, call, place) ?? stuck
    if (fault === undefined) {
      const question = questionFor(run, toolOf(run, call.toolName), { toolName: call.toolName, isRepeat: false })
      return question ? { ...entry, approvalId: newId(), question } : entry
    }
    Object.assign(entry, { status: 'failed', output: { error: fault } })
    showOutcome(run, entry)
    return entry
  })
}

const newCall = ({ step, place, callId, toolName, input, status, output, approvalId, question }: CallRow): NewCall => ({
  step,
  place,
  callId,
  toolName,
  input,
  status,
  approvalId,
  question,
  ...(output === null ? {} : { output }),
})

/** The entries for what the model asked for when the turn ends instead: no call is without its outcome. */
export const leaveOut = (run: Run, step: number, requested: RequestedCall[]): NewCall[] => {
  const calls = requested.map((call, place): CallRow => ({ ...entryOf(step, place, call), status: 'cancelled' }))
  run.progress.calls.push(...calls)
  return calls.map(newCall)
}

const isUndecided = ({ approvalId, approved, status }: CallRow): boolean =>
  approvalId !== null && approved === null && status === 'waiting'

/** Says in the stream what is asked. */
const askFor = async (run: Run, calls: CallRow[]): Promise<void> => {
  await nameChangers(
    run.deps.db.hot,
    run.held.orgId,
    calls.map(({ question }) => question),
  )
  for (const { approvalId, callId: toolCallId, question } of calls) {
    if (approvalId === null || question === null) continue
    const { permission: _permission, needsApproval: _needsApproval, ...shown } = question
    say(run, { type: 'tool-approval-request', approvalId, toolCallId, ...shown })
  }
}

/** The entries to be written while the turn waits, when a person has to approve one of them: then none is run before. */
export const questionsOf = async (run: Run, calls: CallRow[]): Promise<NewCall[] | undefined> => {
  const questions = calls.filter(isUndecided)
  if (questions.length === 0) return undefined
  await askFor(run, questions)
  return calls.map(newCall)
}

/** The entries to be written with the step that asked for them, and what is left to do once they are. */
export const beginCalls = (run: Run, calls: CallRow[]): { newCalls: NewCall[]; finish: () => Promise<void> } => {
  const groups = groupsOf(
    run,
    calls.filter(({ status }) => status === 'waiting'),
  )
  start(groups[0] ?? [])
  return { newCalls: calls.map(newCall), finish: () => runGroups(run, groups) }
}

/**
 * Goes on with the calls that an earlier worker left. What had ended is as it was; what only reads is run again; of what
 * may have changed something nobody knows whether it did, so a person is asked. Answers what has to be asked.
 */
export const resumeCalls = async (run: Run): Promise<CallChange[]> => {
  const open = run.progress.calls.filter((call) => !isSettled(call))
  const isDoubtful = (call: CallRow): boolean =>
    call.status === 'unknown' ||
    isUndecided(call) ||
    (call.status === 'started' && !mayRunAgain(toolOf(run, call.toolName)))
  // What was undecided is asked about anew, and nothing beside it runs before.
  const isWaiting = open.some(isUndecided)
  const groups = groupsOf(run, isWaiting ? [] : open.filter((call) => !isDoubtful(call)))
  const [first] = groups
  if (first) {
    await save(run, { callChanges: start(first) })
    await runGroups(run, groups)
  }
  const asked = open.filter(isDoubtful)
  for (const call of asked) {
    if (call.status !== 'waiting') call.status = 'unknown'
    // A new question each time: what was decided about an earlier run says nothing of this one.
    call.approvalId = newId()
    call.question = askAgain(run, toolOf(run, call.toolName), call)
  }
  await askFor(run, asked)
  return asked.map((call) => ({
    ...change(call, call.status),
    approvalId: call.approvalId ?? '',
    question: call.question,
  }))
}
