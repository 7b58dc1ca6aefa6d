import type { MessagePart } from '../../schemas.ts'
import type { StepPart } from '../../turns/step-parts.ts'
import type { CallStatus } from '../../turns/call-queries.ts'
import type { TurnCall, TurnStep } from '../turn-state.ts'

const outcomes: Partial<Record<CallStatus, string>> = {
  waiting: 'The tool was not run: the turn ended before.',
  cancelled: 'The tool was not run: the turn ended before.',
  started: 'The turn ended while the tool was running. It is not known whether the tool took effect.',
  unknown: 'The server stopped while the tool was running. It is not known whether the tool took effect.',
  denied: 'A person denied a second run of the tool. It is not known whether its first run took effect.',
}

/** The result of a call for the model. A call without an outcome gets a text that explains this. */
const resultOf = ({ callId, toolName, status, output, attempts }: TurnCall): MessagePart => {
  const text = status === 'denied' && attempts === 0 ? 'A person denied this call. It was not run.' : outcomes[status]
  return {
    type: 'tool-result',
    toolCallId: callId,
    toolName,
    output: text === undefined ? output : { error: text },
    isError: status !== 'done',
  }
}

/**
 * The text, reasoning, tool calls and results of the agent, in order. Each step contributes its completed attempt or, when
 * none completed, its last one.
 */
export const replyPartsOf = ({
  steps,
  calls,
}: {
  steps: readonly Pick<TurnStep, 'step' | 'status' | 'parts'>[]
  calls: readonly TurnCall[]
}): StepPart[] => {
  const numbers = [...new Set(steps.map(({ step }) => step))]
  return numbers.flatMap((number) => {
    const attempts = steps.filter(({ step }) => step === number)
    const counted = attempts.find(({ status }) => status === 'completed') ?? attempts.at(-1)
    return [...(counted?.parts ?? []), ...calls.filter(({ step }) => step === number).map(resultOf)]
  })
}
