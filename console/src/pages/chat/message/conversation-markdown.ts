import { t } from '@lingui/core/macro'
import type { Message } from '@atrium/client'
import { apiText } from '../../../i18n/language.ts'
import { api } from '../../../api.ts'
import { formatDateTime } from '../../../format.ts'
import { storedParts, textOf } from '../parts.ts'

/** A message as Markdown: its text, and the names of its files and of the tools that were called. */
export const messageMarkdown = (message: Message): string => {
  const parts = storedParts(message)
  const files = parts.flatMap((part) => (part.kind === 'file' ? [`- ${part.name}`] : []))
  const tools = new Set(parts.flatMap((part) => (part.kind === 'tool' ? [`\`${part.name}\``] : [])))
  const errors = parts.flatMap((part) => (part.kind === 'error' ? [`> ${apiText(part.message)}`] : []))
  const used = tools.size === 0 ? '' : `_${t`Tools: ${[...tools].join(', ')}`}_`
  return [used, textOf(parts), files.join('\n'), ...errors].filter((text) => text !== '').join('\n\n')
}

/** The newest messages that are copied. */
const maxMessages = 2_000
const pageSize = 100

const allMessages = async (sessionId: string): Promise<Message[]> => {
  const messages: Message[] = []
  let cursor: string | null = null
  do {
    const query: { limit: number; cursor?: string } = { limit: pageSize, ...(cursor !== null && { cursor }) }
    const page: { items: Message[]; nextCursor: string | null } = await api.call('GET /sessions/:id/messages', {
      params: { id: sessionId },
      query,
    })
    messages.push(...page.items)
    cursor = page.nextCursor
  } while (cursor !== null && messages.length < maxMessages)
  return messages.toReversed()
}

/** The shown versions of all messages of a conversation as a Markdown document. */
export const conversationMarkdown = async (sessionId: string, title: string): Promise<string> => {
  const messages = await allMessages(sessionId)
  const sections = messages.map(
    (message) => `## ${message.author.name} · ${formatDateTime(message.createdAt)}\n\n${messageMarkdown(message)}`,
  )
  return `${[`# ${title}`, ...sections].join('\n\n')}\n`
}
