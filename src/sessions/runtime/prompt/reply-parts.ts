import type { MessagePart } from '../../schemas.ts'
import type { CallStatus } from '../../turns/queries.ts'
import type { TurnCall, TurnStep } from '../turn-state.ts'

const outcomes: Partial<Record<CallStatus, string>> = {
  waiting: 'The tool was not run: the turn ended before.',
  cancelled: 'The tool was not run: the turn ended before.',
  started: 'The turn ended while the tool was running. It is not known whether the tool took effect.',
  unknown: 'The server stopped while the tool was running. It is not known whether the tool took effect.',
  denied: 'A person denied a second run of the tool. It is not known whether its first run took effect.',
}

/** The result of a call as the model reads it. A call without an outcome gets a text that says so. */
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
 * What the agent said and did, in order. Of the attempts of a step the completed one counts; when none completed, the
 * last one.
 */
export const replyPartsOf = ({
  steps,
  calls,
}: {
  steps: readonly Pick<TurnStep, 'step' | 'status' | 'parts'>[]
  calls: readonly TurnCall[]
}): MessagePart[] => {
  const numbers = [...new Set(steps.map(({ step }) => step))]
  return numbers.flatMap((number) => {
    const attempts = steps.filter(({ step }) => step === number)
    const counted = attempts.find(({ status }) => status === 'completed') ?? attempts.at(-1)
    return [...(counted?.parts ?? []), ...calls.filter(({ step }) => step === number).map(resultOf)]
  })
}
