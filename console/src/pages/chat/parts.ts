import type { Message } from 'atrium-sdk'

export type ToolState = 'preparing' | 'running' | 'asking' | 'done' | 'failed' | 'denied'

/** What is shown of a message, whether it is stored already or still on its way. */
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

export type ToolPart = Extract<ViewPart, { kind: 'tool' }>

const known = new WeakMap<Message, readonly ViewPart[]>()

/** The parts of a stored message, each tool's result with its call; the same ones for the same message. */
export const storedParts = (message: Message): readonly ViewPart[] => {
  const parts = known.get(message) ?? toView(message)
  known.set(message, parts)
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

/** What was said, without what was done. */
export const textOf = (parts: readonly ViewPart[]): string =>
  parts.flatMap((part) => (part.kind === 'text' ? [part.text] : [])).join('\n\n')

export const asText = (value: unknown): string =>
  typeof value === 'string' ? value : (JSON.stringify(value, undefined, 2) ?? '')

/** One line about what a tool was asked: its most telling argument. */
export const briefOf = (input: unknown): string => {
  if (typeof input !== 'object' || input === null) return ''
  const texts = Object.values(input).filter((value) => typeof value === 'string' || typeof value === 'number')
  return texts.join(' · ').replaceAll(/\s+/g, ' ').slice(0, 120)
}
