import { isInStepAfter } from '../streams/stream-parts.ts'
import type { StreamPart } from '../streams/stream-parts.ts'
import type { CallRow, StepRow } from '../turns/call-queries.ts'

/** The row of a model call without its times, which the database sets. */
export type TurnStep = Readonly<Omit<StepRow, 'startedAt' | 'endedAt'>>

/** The row of a tool call without its times, which the database sets. */
export type TurnCall = Readonly<Omit<CallRow, 'startedAt' | 'endedAt'>>

/**
 * The mutable state of a running turn. Checkpoints store its rows, so another worker can continue with the same state.
 */
export interface TurnState {
  readonly steps: readonly TurnStep[]
  readonly calls: readonly TurnCall[]
  /** Whether the stream is between a `start-step` and its `finish-step`. */
  readonly isInStep: boolean
  /** The source of the first untrusted content that the turn has read. It never changes once it is set. */
  readonly untrustedFrom: string | null
  /** The number of oldest exchanges that the model was not shown. */
  readonly leftOutExchanges: number
  /** A reply that did not match the format of the turn, until the next attempt. Lost with the process. */
  rejectedOutput: string | undefined
  addStep(step: TurnStep): void
  addCalls(calls: readonly TurnCall[]): void
  /** Replaces the calls of the same step and place. */
  updateCalls(calls: readonly TurnCall[]): void
  notePart(part: StreamPart): void
  noteUntrusted(source: string): void
  noteLeftOut(exchanges: number): void
}

export interface InitialState {
  steps: readonly TurnStep[]
  calls: readonly TurnCall[]
  isInStep: boolean
  untrustedFrom: string | null
  leftOutExchanges: number
}

export const createTurnState = (initial: InitialState): TurnState => {
  const steps = [...initial.steps]
  const calls = [...initial.calls]
  let { isInStep, untrustedFrom, leftOutExchanges } = initial
  return {
    steps,
    calls,
    rejectedOutput: undefined,
    get isInStep() {
      return isInStep
    },
    get untrustedFrom() {
      return untrustedFrom
    },
    get leftOutExchanges() {
      return leftOutExchanges
    },
    addStep: (step) => {
      steps.push(step)
    },
    addCalls: (added) => {
      calls.push(...added)
    },
    updateCalls: (updated) => {
      for (const call of updated) {
        const at = calls.findIndex(({ step, place }) => step === call.step && place === call.place)
        if (at === -1) throw new Error(`the turn has no call ${call.step}.${call.place}`)
        calls[at] = call
      }
    },
    notePart: (part) => {
      isInStep = isInStepAfter(part) ?? isInStep
    },
    noteUntrusted: (source) => {
      untrustedFrom ??= source
    },
    noteLeftOut: (exchanges) => {
      leftOutExchanges = exchanges
    },
  }
}
