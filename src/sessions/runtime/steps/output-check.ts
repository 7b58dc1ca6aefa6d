import type { PromptMessage } from '../../models/model-client.ts'
import { repairRequest } from '../../output/response-format.ts'
import { heapMegabytes, validationMs } from '../../output/protocol.ts'
import { outputText } from '../../turns/step-parts.ts'
import { AuthorityLost } from '../authority.ts'
import { isOverBudget } from '../costs/costs.ts'
import type { EndedStep } from '../checkpoint-queries.ts'
import { TimeIsUp } from '../turn-context.ts'
import type { TurnContext } from '../turn-context.ts'
import { OutputInvalid } from './step-outcome.ts'
import type { StepOutcome } from './step-outcome.ts'

const exceeded = new OutputInvalid(
  `The reply cannot be validated: its schema takes more than ${validationMs} ms or ${heapMegabytes} MB.`,
  false,
)

const findMistakes = async (
  { lease, turn, services, signal }: TurnContext,
  text: string,
): Promise<OutputInvalid | undefined> => {
  const { schema } = turn.responseFormat ?? {}
  if (schema === undefined) return undefined
  const mistakes = await services.output.validate(lease.orgId, { schema, text }, signal)
  if (mistakes === 'exceeded') return exceeded
  return mistakes.length === 0 ? undefined : new OutputInvalid(mistakes.join(' '), true)
}

/** Validates the reply of a step that would end the turn. The outcome of a reply that does not match is an OutputInvalid. */
export const checkOutput = async <Outcome extends StepOutcome>(
  context: TurnContext,
  outcome: Outcome,
): Promise<StepOutcome> => {
  const { ended, calls, finish } = outcome
  // Some providers report `tool-calls` without a call.
  const isEnd = finish === 'stop' || finish === 'other' || finish === 'tool-calls'
  const isReply = ended?.status === 'completed' && calls.length === 0 && isEnd
  if (!isReply) return outcome
  try {
    const text = outputText(ended.parts)
    const invalid = await findMistakes(context, text)
    if (!invalid) return outcome
    context.state.rejectedOutput = text
    return { ended: { ...ended, status: 'failed', finishReason: null, error: invalid.detail }, calls, finish: invalid }
  } catch (error) {
    if (error instanceof TimeIsUp) return { ended, calls, finish: 'time' }
    if (error instanceof AuthorityLost) return { ended, calls, finish: error }
    if (context.signal.aborted) throw error
    context.services.log.error({ err: error, turnId: context.turn.id }, 'a reply could not be validated')
    return { ended, calls, finish: new OutputInvalid('The server could not validate the reply.', false) }
  }
}

const wasRepaired = ({ state }: TurnContext): boolean =>
  state.steps.some(({ error }) => error?.code === 'output_invalid')

/** Whether the model is asked for another reply: once in a turn, within its limits of time and cost. */
export const mayRepair = (context: TurnContext, { isRepairable }: OutputInvalid, ended: EndedStep): boolean =>
  isRepairable &&
  !wasRepaired(context) &&
  !isOverBudget(context.turn, [...context.state.steps, ended]) &&
  context.limits.leftMs() > 0

/** The messages that ask for another reply when the last attempt of the step did not match the format. */
export const repairMessages = ({ rejectedOutput, steps }: TurnContext['state'], step: number): PromptMessage[] => {
  const rejected = steps.findLast((one) => one.step === step && one.error?.code === 'output_invalid')
  if (!rejected?.error) return []
  const said: PromptMessage[] = rejectedOutput
    ? [{ role: 'assistant', parts: [{ type: 'text', text: rejectedOutput }] }]
    : []
  return [...said, { role: 'user', text: repairRequest(rejected.error.message) }]
}
