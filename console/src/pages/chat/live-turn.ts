// The state of a running turn, built from the frames of its stream. After a reload the stream is read again from its
// first frame, so that a response in progress is restored completely.
import { AtriumError, readServerSentEvents } from '@atrium/client'
import { useEffect, useRef, useState } from 'react'
import { api } from '../../api.ts'
import { watchSilence } from '../../live/silence.ts'
import type { ToolPart, ViewPart } from './parts.ts'

interface Frame {
  type: string
  id?: string
  delta?: string
  toolCallId?: string
  toolName?: string
  input?: unknown
  output?: unknown
  errorText?: string
  approvalId?: string
  approved?: boolean
  reason?: string
  messageMetadata?: { leftOutExchanges?: number }
}

export interface LiveTurn {
  turnId: string
  parts: readonly ViewPart[]
  /** The stream has ended: the turn is complete or waits for an approval. */
  isIdle: boolean
  /** The connection was lost and is being re-established. */
  reconnecting: boolean
  leftOutExchanges: number
  error?: unknown
}

const initialState = (turnId: string): LiveTurn => ({
  turnId,
  parts: [],
  isIdle: false,
  reconnecting: false,
  leftOutExchanges: 0,
})

const toolDefaults = { kind: 'tool' as const, name: 'tool', input: undefined, output: undefined }

const withTool = (parts: readonly ViewPart[], id: string, patch: Partial<ToolPart>): ViewPart[] => {
  const isThis = (part: ViewPart): part is ToolPart => part.kind === 'tool' && part.id === id
  if (!parts.some(isThis)) return [...parts, { ...toolDefaults, id, state: 'running', ...patch }]
  return parts.map((part) => (isThis(part) ? { ...part, ...patch } : part))
}

const toolPatch = (frame: Frame): Partial<ToolPart> | undefined => {
  const { toolName: name = 'tool', input, output, errorText, approvalId, reason } = frame
  switch (frame.type) {
    case 'tool-input-start':
      return { name, state: 'preparing' }
    case 'tool-input-available':
      return { name, input, state: 'running' }
    case 'tool-input-error':
      return { name, input, state: 'failed', output: errorText }
    case 'tool-output-available':
      return { output, state: 'done', approvalId: undefined }
    case 'tool-output-error':
      return { output: errorText, state: 'failed', approvalId: undefined }
    case 'tool-output-denied':
      return { state: 'denied', approvalId: undefined }
    case 'tool-approval-request':
      return { approvalId, reason, state: 'needs-approval' }
    default:
      return undefined
  }
}

interface Building {
  parts: readonly ViewPart[]
  /** Index of the first part of the current step, which `reset-step` removes. */
  stepStart: number
  leftOutExchanges: number
}

const applyTextFrame = (parts: readonly ViewPart[], { type, id = '', delta = '' }: Frame): readonly ViewPart[] => {
  const [kind, event] = type.split('-') as ['text' | 'reasoning', string]
  if (event === 'start') return [...parts, { kind, id, text: '', isOpen: true }]
  return parts.map((part) => {
    if (part.kind !== kind || part.id !== id) return part
    return event === 'end' ? { ...part, isOpen: false } : { ...part, text: part.text + delta }
  })
}

export const applyFrame = (building: Building, frame: Frame): Building => {
  const { parts } = building
  if (/^(?:text|reasoning)-/.test(frame.type)) return { ...building, parts: applyTextFrame(parts, frame) }
  switch (frame.type) {
    case 'start-step':
      return { ...building, stepStart: parts.length }
    case 'reset-step':
      return { ...building, parts: parts.slice(0, building.stepStart) }
    case 'message-metadata':
      return { ...building, leftOutExchanges: frame.messageMetadata?.leftOutExchanges ?? building.leftOutExchanges }
    case 'error':
      return { ...building, parts: [...parts, { kind: 'error', id: 'error', message: frame.errorText ?? '' }] }
    case 'tool-approval-response': {
      const state = frame.approved === true ? 'running' : 'denied'
      const next = parts.map((part) =>
        part.kind === 'tool' && part.approvalId === frame.approvalId
          ? ({ ...part, state, approvalId: undefined } as const)
          : part,
      )
      return { ...building, parts: next }
    }
    default: {
      const patch = toolPatch(frame)
      if (patch === undefined || frame.toolCallId === undefined) return building
      return { ...building, parts: withTool(parts, frame.toolCallId, patch) }
    }
  }
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

const isRetryable = (error: unknown): boolean =>
  !(error instanceof AtriumError) || error.status === 0 || error.status === 429 || error.status >= 500

interface Following {
  lastSeq: number
  building: Building
}

const follow = async (
  turnId: string,
  state: Following,
  onChange: (patch: Partial<LiveTurn>) => void,
  signal: AbortSignal,
): Promise<void> => {
  for (let failures = 0; !signal.aborted; failures += 1) {
    const connection = watchSilence(signal)
    try {
      const request = { params: { id: turnId }, query: { after: state.lastSeq }, signal: connection.signal }
      const response = await api.send('GET /turns/:id/stream', request)
      onChange({ reconnecting: false })
      if (response.status === 204 || response.body === null) return onChange({ isIdle: true })
      for await (const { id, data } of readServerSentEvents(response.body, connection.alive)) {
        if (data === '[DONE]') return onChange({ isIdle: true })
        failures = 0
        // Without an ID: the person lost access, and the next connection fails with the reason. A number that is known
        // comes from a second connection, after two decisions at the same time.
        if (id === undefined || Number(id) <= state.lastSeq) continue
        state.lastSeq = Number(id)
        state.building = applyFrame(state.building, JSON.parse(data) as Frame)
        onChange({ parts: state.building.parts, leftOutExchanges: state.building.leftOutExchanges })
      }
    } catch (error) {
      if (signal.aborted) return
      if (!isRetryable(error)) return onChange({ error, isIdle: true })
    } finally {
      connection.close()
    }
    onChange({ reconnecting: true })
    await pause(Math.min(8_000, 250 * 2 ** failures))
  }
}

/** Follows a turn from its first frame. Call `resume` after an approval was decided. */
export const useLiveTurn = (turnId: string | undefined): { live: LiveTurn | undefined; resume: () => void } => {
  const [live, setLive] = useState<LiveTurn>()
  const start = useRef<() => void>(undefined)
  useEffect(() => {
    if (turnId === undefined) return undefined
    const abort = new AbortController()
    let shown = initialState(turnId)
    let scheduled = false
    const publish = (): void => {
      scheduled = false
      if (!abort.signal.aborted) setLive(shown)
    }
    const onChange = (patch: Partial<LiveTurn>): void => {
      shown = { ...shown, ...patch }
      if (scheduled) return
      scheduled = true
      // Tokens arrive faster than the screen is painted, and animation frames do not run in a hidden tab.
      if (document.hidden) setTimeout(publish, 50)
      else requestAnimationFrame(publish)
    }
    const state = { lastSeq: 0, building: { parts: [], stepStart: 0, leftOutExchanges: 0 } }
    start.current = () => {
      onChange({ isIdle: false })
      void follow(turnId, state, onChange, abort.signal)
    }
    start.current()
    return () => abort.abort()
  }, [turnId])
  return {
    live: live?.turnId === turnId ? live : undefined,
    resume: () => start.current?.(),
  }
}
