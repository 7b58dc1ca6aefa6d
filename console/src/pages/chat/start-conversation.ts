import { api, refresh } from '../../api.ts'
import { changeMessageDraft, emptyDraft, messageDraft } from '../../message-drafts.ts'
import type { MessageDraft } from '../../message-drafts.ts'
import { readyIds } from './attachments.ts'
import { draftKeyOf } from './draft-key.ts'
import { mayBeDone, sendOnce } from './once.ts'
import { sendMessage } from './use-conversation.ts'

/** What was written and attached while `sent` was on its way. */
const restOf = (now: MessageDraft, sent: MessageDraft): MessageDraft => ({
  text: now.text.startsWith(sent.text) ? now.text.slice(sent.text.length).trimStart() : now.text,
  attachments: now.attachments.filter(({ key }) => sent.attachments.every((one) => one.key !== key)),
})

/** Creates a session with the message of a draft, and returns its ID. What is written meanwhile becomes its draft. */
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
  const sent = messageDraft(draftKey)
  const fileIds = readyIds(sent.attachments)
  const message = { text: sent.text.trim(), ...(fileIds.length > 0 && { fileIds }) }
  const sessionId = await sendOnce([agentId, isTest, message], async (idempotencyKey) => {
    const { id } = await api.call('POST /sessions', { body: { agentId, isTest }, idempotencyKey })
    try {
      await sendMessage(id, message)
    } catch (failure) {
      // Without its first message the session would stay as an empty conversation. When the response was lost, the server
      // may have the message, and its turn may be running and charged.
      if (!mayBeDone(failure)) await api.call('DELETE /sessions/:id', { params: { id } }).catch(() => undefined)
      throw failure
    }
    return id
  })
  const rest = restOf(messageDraft(draftKey), sent)
  // A file that is being uploaded is noted in the draft to which it was added.
  const isMoved = rest.attachments.every(({ state }) => state !== 'sending')
  changeMessageDraft(draftKey, () => (isMoved ? emptyDraft : rest))
  if (isMoved && (rest.text !== '' || rest.attachments.length > 0))
    changeMessageDraft(draftKeyOf(draftKey, sessionId), () => rest)
  void refresh('GET /sessions', 'GET /agents/:id/sessions')
  return sessionId
}
