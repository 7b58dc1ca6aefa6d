import type { CallStatus } from '../../turns/call-queries.ts'
import type { RequestedCall } from './model-response.ts'
import type { CallChange, NewCall } from '../checkpoint-queries.ts'
import type { TurnCall } from '../turn-state.ts'

/** The initial row of a call that the model requested. */
export const waitingCall = (step: number, place: number, { callId, toolName, input }: RequestedCall): TurnCall => ({
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
  connectionId: null,
})

/** A call as it is stored with the model call that requested it. */
export const newCall = (call: TurnCall): NewCall => {
  const { step, place, callId, toolName, input, status, output, approvalId, question, connectionId } = call
  const stored = { step, place, callId, toolName, input, status, approvalId, question, connectionId }
  return output === null ? stored : { ...stored, output }
}

export const callChange = ({ step, place }: TurnCall, status: CallStatus, output?: unknown): CallChange => ({
  step,
  place,
  status,
  ...(output === undefined ? {} : { output }),
})

/** Whether a call has a result that the model can continue with. */
export const isSettled = ({ status }: TurnCall): boolean => ['done', 'failed', 'denied'].includes(status)

/** Whether a call waits for a person's decision. */
export const isUndecided = ({ approvalId, approved, status }: TurnCall): boolean =>
  approvalId !== null && approved === null && status === 'waiting'

/** Closes the open calls of a turn that ends: running calls get an unknown outcome, the others are cancelled. */
export const closeCalls = (calls: readonly Pick<TurnCall, 'step' | 'place' | 'status'>[]): CallChange[] =>
  calls.flatMap(({ step, place, status }): CallChange[] => {
    if (status === 'waiting') return [{ step, place, status: 'cancelled' }]
    return status === 'started' ? [{ step, place, status: 'unknown' }] : []
  })
