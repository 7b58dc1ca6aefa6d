import { AtriumError } from '@atrium/client'
import { api, refresh } from '../../api.ts'
import { changeMessageDraft, emptyDraft, messageDraft } from '../../message-drafts.ts'
import { readyIds } from './attachments.ts'
import { sendMessage } from './use-conversation.ts'

/** Creates a session with the message of a draft, empties the draft, and returns the ID of the session. */
export const startConversation = async ({
  agentId,
  draftKey,
  isTest = false,
}: {
  agentId: string
  draftKey: string
  /** A test of the agent, which Chat does not list among other conversations. */
  isTest?: boolean
}): Promise<string> => {
  const { text, attachments } = messageDraft(draftKey)
  const session = await api.call('POST /sessions', { body: { agentId, isTest } })
  try {
    const fileIds = readyIds(attachments)
    await sendMessage(session.id, { text: text.trim(), ...(fileIds.length > 0 && { fileIds }) })
  } catch (failure) {
    // Without its first message the session would stay as an empty conversation. When the response was lost, the server may
    // have the message, and its turn may be running and charged.
    const isLost = failure instanceof AtriumError && failure.status === 0
    if (!isLost) await api.call('DELETE /sessions/:id', { params: { id: session.id } }).catch(() => undefined)
    throw failure
  }
  changeMessageDraft(draftKey, () => emptyDraft)
  void refresh('GET /sessions', 'GET /agents/:id/sessions')
  return session.id
}
