import { wantsApproval } from '../../../agents/approvals.ts'
import { newId } from '../../../platform/ids.ts'
import type { AskingOutcome, Tool, ToolOutcome } from '../../tools/tools.ts'
import { AuthorityLost } from '../authority.ts'
import { callChange, isSettled, isUndecided, newCall, waitingCall } from './call-rows.ts'
import type { RequestedCall } from './model-response.ts'
import type { CallChange, EndedStep, NewCall } from '../checkpoint-queries.ts'
import { consentLost, inputQuestion, renewQuestion, questionFor, withLatestChange } from './questions.ts'
import type { Form } from '../../../tool-form.ts'
import { isOfCaller } from '../../turns/caller-tools/caller-tools.ts'
import { renewAuthority } from '../turn-context.ts'
import type { TurnContext } from '../turn-context.ts'
import type { TurnCall } from '../turn-state.ts'

const maxCallsInStep = 32
const maxParallelCalls = 4

/** After this many rounds of the same calls with the same results, the next round is not run. */
const maxSameRounds = 3

const toolOf = ({ tools }: TurnContext, name: string): Tool | undefined => tools.find((tool) => tool.name === name)

/** Whether the caller runs the tool of a call. */
const isCallers = ({ turn }: TurnContext, call: Pick<TurnCall, 'toolName'>): boolean =>
  isOfCaller(turn.clientTools, call)

const canRunAgain = (tool: Tool | undefined): boolean => tool?.isReadOnly === true || tool?.isRepeatable === true

/** The error that tells the model why a call is not run; undefined when the call can run. */
const rejectionOf = (context: TurnContext, call: RequestedCall, place: number): string | undefined => {
  if (call.inputError !== undefined) return call.inputError
  if (place >= maxCallsInStep) return `Not run: at most ${maxCallsInStep} tools can be called in one step.`
  const tool = toolOf(context, call.toolName)
  if (!tool) return `There is no tool ${call.toolName} that this agent may use.`
  return context.services.toolRunner.inputError(tool, call.input)
}

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other)

/** Whether the model requests the same calls again although their results did not change. */
const isRepeating = (context: TurnContext, requested: RequestedCall[]): boolean => {
  const { state } = context
  // The caller sees each round and can stop.
  if (requested.every((call) => isCallers(context, call))) return false
  const rounds = [...Map.groupBy(state.calls, ({ step }) => step).values()].slice(-maxSameRounds)
  const inputs = (calls: readonly Pick<TurnCall, 'toolName' | 'input'>[]) =>
    calls.map(({ toolName, input }) => [toolName, input])
  const outputs = (calls: readonly TurnCall[]) => calls.map(({ output }) => output)
  const [first = []] = rounds
  return (
    rounds.length === maxSameRounds &&
    rounds.every((calls) => isSame(inputs(calls), inputs(requested)) && isSame(outputs(calls), outputs(first)))
  )
}

const repeatError = `Not run: the same calls had the same results ${maxSameRounds} times in a row. Do something else, or reply.`

const emitOutcome = ({ services }: TurnContext, { callId: toolCallId, status, output }: TurnCall): void => {
  if (status === 'done') {
    services.writer.emit({ type: 'tool-output-available', toolCallId, output, dynamic: true })
    return
  }
  const { error } = output as { error: string }
  services.writer.emit({ type: 'tool-output-error', toolCallId, errorText: error, dynamic: true })
}

/**
 * Splits the calls of a step into groups that run one after another, in the order in which the model requested them.
 * Adjacent read-only calls form one group and run in parallel; every other call is a group of its own.
 */
const groupsOf = (context: TurnContext, calls: readonly TurnCall[]): TurnCall[][] => {
  const groups: TurnCall[][] = []
  let isOpen = false
  for (const call of calls) {
    const isRead = toolOf(context, call.toolName)?.isReadOnly === true
    const last = groups.at(-1)
    if (isRead && isOpen && last && last.length < maxParallelCalls) last.push(call)
    else groups.push([call])
    isOpen = isRead
  }
  return groups
}

/** Marks calls as started. The caller must store the changes before it runs the calls. */
const startCalls = ({ state }: TurnContext, calls: readonly TurnCall[]): CallChange[] => {
  state.updateCalls(calls.map((call) => ({ ...call, status: 'started' })))
  return calls.map((call) => callChange(call, 'started'))
}

const connectionOf = (tool: Tool | undefined, input: unknown): string | undefined =>
  tool?.connectionOf?.(input as never)

/** Why a call that was valid when it was planned cannot run; undefined when it can. A person may have decided days later. */
const staleness = (context: TurnContext, tool: Tool, { input, connectionId }: TurnCall): string | undefined => {
  // Labels of connections are reused, and a person with one connection does not name it.
  if (connectionId !== null && connectionOf(tool, input) !== connectionId) {
    return 'Not run: the connection that this call was made for is not available any more, or has another name.'
  }
  return context.services.toolRunner.inputError(tool, input)
}

/**
 * All outputs of a turn are in its reply, and in memory while it runs: 16 steps with 32 outputs of 64 KB would be 32 MB.
 * Those of the caller have a limit of their own.
 */
const maxOutputBytes = 4_194_304
const outputSizes = new WeakMap<object, number>()

const sizeOf = ({ output }: TurnCall): number => {
  if (typeof output !== 'object' || output === null) return String(output).length
  const size = outputSizes.get(output) ?? Buffer.byteLength(JSON.stringify(output))
  outputSizes.set(output, size)
  return size
}

const hasTooMuchOutput = (context: TurnContext): boolean =>
  context.state.calls.reduce((sum, call) => sum + (isCallers(context, call) ? 0 : sizeOf(call)), 0) >= maxOutputBytes

const tooMuchOutput =
  'Not run: the tools of this turn have returned 4 MB, which is the limit. Reply with what you know.'

/** Why a call that needed no approval when it was planned needs one now; undefined when it does not. */
const approvalMissing = ({ agent }: TurnContext, tool: Tool, { approved }: TurnCall): string | undefined =>
  approved !== true && (tool.needsApproval === true || wantsApproval(agent.settings, tool))
    ? `Not run: ${tool.name} needs a person’s approval by now. Call it again to ask for it.`
    : undefined

/** Runs the tool of a call if the agent still has the tool and what it needs of the person to use it. */
const outcomeOf = async (context: TurnContext, call: TurnCall): Promise<ToolOutcome | AskingOutcome> => {
  const { actor, limits, services, signal } = context
  const tool = toolOf(context, call.toolName)
  if (!tool) return { status: 'failed', output: { error: `This agent may no longer use ${call.toolName}.` } }
  const error = consentLost(context, tool) ?? approvalMissing(context, tool, call) ?? staleness(context, tool, call)
  if (error !== undefined) return { status: 'failed', output: { error } }
  if (hasTooMuchOutput(context)) return { status: 'failed', output: { error: tooMuchOutput } }
  return services.toolRunner.run(tool, call, { actor, leftMs: limits.leftMs(), signal })
}

/** Lets a call wait for the answer to a question of its tool. */
const awaitAnswer = async (context: TurnContext, call: TurnCall, form: Form): Promise<CallChange | ToolOutcome> => {
  const question = inputQuestion(context, toolOf(context, call.toolName), call, form)
  if (!question) return { status: 'failed', output: { error: 'The tool asked the person for input too often.' } }
  const waiting: TurnCall = { ...call, status: 'waiting', approvalId: newId(), approved: null, question }
  context.state.updateCalls(await ask(context, [waiting]))
  return { ...callChange(call, 'waiting'), approvalId: waiting.approvalId, question }
}

const runCall = async (context: TurnContext, call: TurnCall): Promise<CallChange> => {
  const outcome = await outcomeOf(context, call)
  const settled = outcome.status === 'asks' ? await awaitAnswer(context, call, outcome.form) : outcome
  if ('place' in settled) return settled
  const { status, output } = settled
  const ended: TurnCall = { ...call, status, output }
  context.state.updateCalls([ended])
  emitOutcome(context, ended)
  return callChange(call, status, output)
}

/** Runs calls in parallel. When the turn ends in the meantime, stores the results so far and then rejects. */
const runGroup = async (context: TurnContext, group: TurnCall[]): Promise<CallChange[]> => {
  const results = await Promise.allSettled(group.map((call) => runCall(context, call)))
  const changes = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
  const interrupted = results.find((result) => result.status === 'rejected')
  if (!interrupted) return changes
  if (changes.length > 0) await context.services.writer.save({ callChanges: changes })
  throw interrupted.reason
}

/**
 * Runs groups of calls. The caller has stored the first group as started; the checkpoint with the results of a group
 * starts the next one. Authority is checked between groups. Returns the context with the newest authority.
 */
const runGroups = async (context: TurnContext, groups: TurnCall[][]): Promise<TurnContext> => {
  const { services } = context
  let current = context
  for (const [index, group] of groups.entries()) {
    services.faultPoint('before-tool')
    const changes = await runGroup(current, group)
    services.faultPoint('after-tool')
    const next = groups[index + 1]
    const renewed = next ? await renewAuthority(current) : current
    const isLost = renewed instanceof AuthorityLost
    await services.writer.save({
      callChanges: next && !isLost ? [...changes, ...startCalls(context, next)] : changes,
    })
    if (isLost) throw renewed
    current = renewed
  }
  return current
}

/** For a caller that runs one call at a time. */
const parallelError = (context: TurnContext, requested: RequestedCall[], place: number): string | undefined => {
  const isNext = (call: RequestedCall | undefined): boolean => call !== undefined && isCallers(context, call)
  if (context.turn.clientTools?.isParallel !== false || !isNext(requested[place])) return undefined
  return requested.slice(0, place).some(isNext) ? 'Not run: call one of these tools at a time.' : undefined
}

/** The rows of the requested calls. Calls that cannot run are marked as failed, and the stream reports their errors. */
export const planCalls = (context: TurnContext, step: number, requested: RequestedCall[]): TurnCall[] => {
  const repeatedError = isRepeating(context, requested) ? repeatError : undefined
  return requested.map((request, place) => {
    const { toolName } = request
    const tool = toolOf(context, toolName)
    const planned = waitingCall(step, place, request)
    const error = rejectionOf(context, request, place) ?? repeatedError ?? parallelError(context, requested, place)
    if (error === undefined) {
      const call = { ...planned, connectionId: connectionOf(tool, request.input) ?? null }
      if (isCallers(context, request)) return call
      const question = questionFor(context, tool, { toolName, isRepeat: false })
      return question ? { ...call, approvalId: newId(), question } : call
    }
    const failed: TurnCall = { ...planned, status: 'failed', output: { error } }
    emitOutcome(context, failed)
    return failed
  })
}

/** The rows of calls that are cancelled because the turn ends. Every call in the reply needs a result. */
export const cancelCalls = ({ state }: TurnContext, step: number, requested: RequestedCall[]): NewCall[] => {
  const calls = requested.map((call, place): TurnCall => ({ ...waitingCall(step, place, call), status: 'cancelled' }))
  state.addCalls(calls)
  return calls.map(newCall)
}

/** Sends approval requests for calls to the stream. Returns the calls with the questions as they were sent. */
const ask = async ({ services }: TurnContext, calls: readonly TurnCall[]): Promise<TurnCall[]> => {
  const consent = calls.find(({ question }) => question?.kind === 'consent')?.question
  const change = consent ? await services.authority.latestChange(consent.agent.id) : undefined
  return calls.map((call) => {
    const { approvalId, callId: toolCallId } = call
    const question = call.question && withLatestChange(call.question, change)
    if (approvalId === null || question === null) return call
    const { permission: _permission, needsApproval: _needsApproval, answers: _answers, ...shown } = question
    services.writer.emit({ type: 'tool-approval-request', approvalId, toolCallId, ...shown })
    return { ...call, question }
  })
}

/**
 * Requests approval for the calls of a step that need it. Returns the rows of all calls of the step, none of which may
 * run before the decision; undefined when no call needs approval.
 */
export const askAboutCalls = async (context: TurnContext, calls: TurnCall[]): Promise<NewCall[] | undefined> => {
  const undecided = calls.filter(isUndecided)
  if (undecided.length === 0) return undefined
  const asked = await ask(context, undecided)
  return calls.map((call) => newCall(asked.find(({ place }) => place === call.place) ?? call))
}

/** Whether a tool has asked the person for input, so that the turn must wait. */
export const awaitsAnswer = ({ state }: TurnContext): boolean => state.calls.some(isUndecided)

/** Stores calls with the model call that requested them and runs those of the server. Throws AuthorityLost when authority is lost. */
export const runCalls = async (
  context: TurnContext,
  ended: EndedStep | undefined,
  calls: TurnCall[],
): Promise<void> => {
  const { services, state } = context
  const waiting = calls.filter((call) => call.status === 'waiting' && !isCallers(context, call))
  const groups = groupsOf(context, waiting)
  const first = new Set(groups[0])
  const started = calls.map((call): TurnCall => (first.has(call) ? { ...call, status: 'started' } : call))
  await services.writer.save({ ended, newCalls: started.map(newCall) })
  state.addCalls(started)
  await runGroups(context, groups)
}

/**
 * Continues the unfinished calls of an earlier worker. Calls that have a result stay unchanged. Read-only and repeatable
 * calls run again. Any other started call may already have taken effect, so a person decides whether to run it again.
 * Returns the changes to store with those questions, and the context with the newest authority.
 */
export const resumeCalls = async (context: TurnContext): Promise<{ context: TurnContext; questions: CallChange[] }> => {
  const { services, state } = context
  const open = state.calls.filter((call) => !isSettled(call) && !isCallers(context, call))
  const isUncertain = (call: TurnCall): boolean =>
    call.status === 'unknown' ||
    isUndecided(call) ||
    (call.status === 'started' && !canRunAgain(toolOf(context, call.toolName)))
  const uncertain = open.filter(isUncertain)
  // Approval of undecided calls is requested again, and no call of their step runs before the decision.
  const runnable = open.some(isUndecided) ? [] : open.filter((call) => !uncertain.includes(call))
  const groups = groupsOf(context, runnable)
  const [first] = groups
  let current = context
  if (first) {
    await services.writer.save({ callChanges: startCalls(context, first) })
    current = await runGroups(context, groups)
  }
  const reopened = uncertain.map((left): TurnCall => {
    const call: TurnCall = { ...left, status: left.status === 'waiting' ? 'waiting' : 'unknown' }
    const question = renewQuestion(current, toolOf(current, call.toolName), call)
    // Each question has a new id, so a decision about an earlier run cannot apply to this one.
    return { ...call, approvalId: newId(), approved: null, question }
  })
  const asked = await ask(current, reopened)
  state.updateCalls(asked)
  return {
    context: current,
    questions: asked.map((call) => ({
      ...callChange(call, call.status),
      approvalId: call.approvalId,
      question: call.question,
    })),
  }
}

/**
 * Lets the turn wait for the outputs of the caller's tools. They are handed out last, so that nothing else of the step is
 * open while the caller runs them. False when no call is theirs.
 */
export const handToCaller = async (context: TurnContext): Promise<boolean> => {
  const { services, state } = context
  const calls = state.calls.filter((call) => !isSettled(call) && isCallers(context, call))
  if (calls.length === 0) return false
  const toolCallIds = calls.map(({ callId }) => callId)
  services.writer.emit({ type: 'data-tool-outputs-required', data: { toolCallIds }, transient: true })
  services.faultPoint('before-hand-out')
  await services.writer.pause({ callChanges: calls.map((call) => callChange(call, 'started')) })
  return true
}
