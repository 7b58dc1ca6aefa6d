import type { Message } from '@atrium/client'
import { jsonText } from '../../ui/text/json-text.ts'
import { visibleText } from '../../ui/text/visible-text.ts'

export type ToolState = 'preparing' | 'running' | 'needs-approval' | 'done' | 'failed' | 'denied'

/** A part of a message for display, from a stored message or from a stream. */
export type ViewPart =
  | { kind: 'text' | 'reasoning'; id: string; text: string; isOpen: boolean }
  | {
      kind: 'tool'
      id: string
      name: string
      input: unknown
      state: ToolState
      output: unknown
      approvalId?: string | undefined
      reason?: string | undefined
    }
  | { kind: 'file'; id: string; fileId: string; name: string; mimeType: string; sizeBytes: number }
  | { kind: 'error'; id: string; message: string }

export type FilePart = Extract<ViewPart, { kind: 'file' }>
export type ToolPart = Extract<ViewPart, { kind: 'tool' }>

const cache = new WeakMap<Message, readonly ViewPart[]>()

/** The parts of a stored message, with tool results merged into their calls. Cached, so that memoized components match. */
export const storedParts = (message: Message): readonly ViewPart[] => {
  const parts = cache.get(message) ?? toView(message)
  cache.set(message, parts)
  return parts
}

const toView = ({ parts }: Message): ViewPart[] => {
  const results = new Map(parts.flatMap((part) => (part.type === 'tool-result' ? [[part.toolCallId, part]] : [])))
  return parts.flatMap((part, index): ViewPart[] => {
    const id = String(index)
    switch (part.type) {
      case 'text':
      case 'reasoning':
        return [{ kind: part.type, id, text: part.text, isOpen: false }]
      case 'file':
        return [{ kind: 'file', id, ...part }]
      case 'error':
        return [{ kind: 'error', id, message: part.message }]
      case 'tool-call': {
        const result = results.get(part.toolCallId)
        const { toolCallId, toolName: name, input } = part
        if (!result) return [{ kind: 'tool', id: toolCallId, name, input, state: 'running', output: undefined }]
        const state = result.isError ? 'failed' : 'done'
        return [{ kind: 'tool', id: toolCallId, name, input, state, output: result.output }]
      }
      default:
        return []
    }
  })
}

/** The text parts, without tool calls. */
export const textOf = (parts: readonly ViewPart[]): string =>
  parts.flatMap((part) => (part.kind === 'text' ? [part.text] : [])).join('\n\n')

/** Tools that change nothing. Tools of connections may. */
const readingTools = new Set(['files.search', 'files.read', 'web.fetch'])

/** Whether tools were called that may have changed something. */
export const hasEffects = (parts: readonly ViewPart[]): boolean =>
  parts.some((part) => part.kind === 'tool' && part.state !== 'denied' && !readingTools.has(part.name))

export const asText = (value: unknown): string => visibleText(typeof value === 'string' ? value : jsonText(value))

const maxSummary = 120

/** The text and number arguments of a tool call as one line. */
export const summaryOf = (input: unknown): string => {
  if (typeof input !== 'object' || input === null) return ''
  const texts = Object.values(input).filter((value) => typeof value === 'string' || typeof value === 'number')
  // Each text is cut first, because the whole arguments can be long, and are rendered again with every change.
  const starts = texts.slice(0, maxSummary).map((value) => String(value).slice(0, 2 * maxSummary))
  return visibleText(starts.join(' · ').replaceAll(/\s+/g, ' ').slice(0, maxSummary))
}
