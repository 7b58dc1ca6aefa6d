import type { ApiError } from '../../../platform/http/errors.ts'
import type { ReplyWriter } from '../chunk-stream.ts'
import type { Completion } from '../completions.ts'
import { ChatError, chatFailure } from '../errors.ts'
import type { Delta } from '../reply-deltas.ts'
import type { ChatToolCall } from '../schemas.ts'
import { callItem, messageItem, reasoningItem, withFailure, withResult } from './response.ts'
import type { ResponseFrame, ResponseRef } from './response.ts'

interface Output {
  ref: ResponseRef
  /** The items that have ended. */
  items: object[]
  /** Formats one event with the next number. */
  event(type: string, fields: object): string
}

/** An item that grows by text. */
interface TextItem {
  text(): string
  /** The events of a piece of text; the first one opens the item. */
  add(delta: string): string
  /** The events of the end. Nothing when it is not open. */
  close(status: string): string
}

interface TextItemKind {
  /** The item with this text and status. */
  item(text: string, status: string): object
  /** The item without content, when it is opened. */
  empty: object
  part(text: string): object
  /** Names of the events, and the field that says which part of the item they are about. */
  names: { partAdded: string; delta: string; done: string; partDone: string }
  place: object
  /** More fields of the events with text. */
  extra: object
}

const idOf = (item: object): string => (item as { id: string }).id

const createTextItem = ({ items, event }: Output, kind: TextItemKind): TextItem => {
  const { names, place, extra } = kind
  let text = ''
  let isOpen = false
  const at = () => ({ output_index: items.length })
  const inItem = () => ({ ...at(), item_id: idOf(kind.empty), ...place })
  return {
    text: () => text,
    add: (delta) => {
      const opened = isOpen
        ? ''
        : event('response.output_item.added', { ...at(), item: kind.empty }) +
          event(names.partAdded, { ...inItem(), part: kind.part('') })
      isOpen = true
      text += delta
      return opened + event(names.delta, { ...inItem(), delta, ...extra })
    },
    close: (status) => {
      if (!isOpen) return ''
      isOpen = false
      const item = kind.item(text, status)
      const events =
        event(names.done, { ...inItem(), text, ...extra }) +
        event(names.partDone, { ...inItem(), part: kind.part(text) }) +
        event('response.output_item.done', { ...at(), item })
      items.push(item)
      return events
    },
  }
}

const createReasoning = (output: Output): TextItem => {
  const { ref } = output
  return createTextItem(output, {
    item: (text) => reasoningItem(ref, text),
    empty: { ...reasoningItem(ref, ''), summary: [] },
    part: (text) => ({ type: 'summary_text', text }),
    names: {
      partAdded: 'response.reasoning_summary_part.added',
      delta: 'response.reasoning_summary_text.delta',
      done: 'response.reasoning_summary_text.done',
      partDone: 'response.reasoning_summary_part.done',
    },
    place: { summary_index: 0 },
    extra: {},
  })
}

const createMessage = (output: Output): TextItem => {
  const { ref } = output
  return createTextItem(output, {
    item: (text, status) => messageItem(ref, text, status),
    empty: { ...messageItem(ref, '', 'in_progress'), content: [] },
    part: (text) => ({ type: 'output_text', text, annotations: [], logprobs: [] }),
    names: {
      partAdded: 'response.content_part.added',
      delta: 'response.output_text.delta',
      done: 'response.output_text.done',
      partDone: 'response.content_part.done',
    },
    place: { content_index: 0 },
    extra: { logprobs: [] },
  })
}

const callEvents = ({ items, event }: Output, call: ChatToolCall): string => {
  const item = callItem(call)
  const { arguments: input, name } = call.function
  const at = { output_index: items.length }
  const inItem = { ...at, item_id: idOf(item) }
  items.push(item)
  return (
    event('response.output_item.added', { ...at, item: { ...callItem(call, 'in_progress'), arguments: '' } }) +
    event('response.function_call_arguments.delta', { ...inItem, delta: input }) +
    event('response.function_call_arguments.done', { ...inItem, name, arguments: input }) +
    event('response.output_item.done', { ...at, item })
  )
}

/** Formats the events of a streamed response: the reasoning that comes before the text, the text, and function calls. */
export const createResponseWriter = (ref: ResponseRef, frame: ResponseFrame): ReplyWriter => {
  let sequence = 0
  const event = (type: string, fields: object): string =>
    `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: sequence++, ...fields })}\n\n`
  const output: Output = { ref, items: [], event }
  const reasoning = createReasoning(output)
  const message = createMessage(output)

  const addText = (delta: string): string => reasoning.close('completed') + message.add(delta)
  return {
    open: () => event('response.created', { response: frame }) + event('response.in_progress', { response: frame }),
    delta: ({ content, reasoning_content: thought }: Delta) => {
      // Reasoning between steps is left out: an item that has ended cannot grow.
      const thinks = thought !== undefined && message.text() === ''
      return (thinks ? reasoning.add(thought) : '') + (content === undefined ? '' : addText(content))
    },
    end: (completion: Completion) => {
      const { text, toolCalls, finishReason } = completion
      // A validated text is sent at the end; an empty reply still has a message.
      const missing = message.text() === '' && (text !== '' || toolCalls.length === 0)
      const rest = missing ? addText(text) : reasoning.close('completed')
      const closed = message.close(finishReason === 'length' ? 'incomplete' : 'completed')
      const calls = toolCalls.map((call) => callEvents(output, call)).join('')
      const response = withResult(frame, completion, output.items)
      return rest + closed + calls + event(`response.${response.status}`, { response })
    },
    failure: (error: ApiError) => {
      const { code } = error instanceof ChatError ? error.fields : chatFailure(error).error
      const failed = withFailure({ ...frame, output: output.items }, { code, message: error.message })
      return event('response.failed', { response: { ...failed, status: 'failed' } })
    },
  }
}
