import type { MessagePart } from '../schemas.ts'
import type { CallRow, StepRow } from '../turns/queries.ts'

/** What a turn has done so far, as its rows tell. */
export interface Progress {
  steps: StepRow[]
  calls: CallRow[]
}

const outcomes: Partial<Record<CallRow['status'], string>> = {
  waiting: 'The tool was not run: the turn ended before.',
  cancelled: 'The tool was not run: the turn ended before.',
  started: 'The turn ended while the tool was running; nobody knows what came of it.',
  unknown: 'The server stopped while the tool was running; nobody knows what came of it.',
  denied: 'A person decided that the tool is not run again. Nobody knows what came of its first run.',
}

/** The result of a call as the model reads it. A call without an outcome has one that says so. */
const resultOf = ({ callId, toolName, status, output, attempts }: CallRow): MessagePart => {
  const text = status === 'denied' && attempts === 0 ? 'A person decided that the tool is not run.' : outcomes[status]
  return {
    type: 'tool-result',
    toolCallId: callId,
    toolName,
    output: text === undefined ? output : { error: text },
    isError: status !== 'done',
  }
}

/** Whether everything that was called has a result that the model can go on with. */
export const isSettled = ({ status }: CallRow): boolean => ['done', 'failed', 'denied'].includes(status)

/** What the agent said and did, in order. Of each step the attempt counts that came to something; the last, if none did. */
export const partsOf = ({ steps, calls }: Progress): MessagePart[] => {
  const numbers = [...new Set(steps.map(({ step }) => step))]
  return numbers.flatMap((number) => {
    const attempts = steps.filter(({ step }) => step === number)
    const counted = attempts.find(({ status }) => status === 'completed') ?? attempts.at(-1)
    return [...(counted?.parts ?? []), ...calls.filter(({ step }) => step === number).map(resultOf)]
  })
}
