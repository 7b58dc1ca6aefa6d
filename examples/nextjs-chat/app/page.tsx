import type { UIMessage } from 'ai'
import { callAtrium, findSessionId } from './atrium'
import { Chat } from './chat'

/** The messages of the visitor's session, so that a reload shows the conversation again. */
const loadHistory = async (): Promise<UIMessage[]> => {
  const id = await findSessionId()
  if (id === undefined) return []
  const response = await callAtrium(`/sessions/${id}/messages?limit=100`)
  if (!response.ok) return []
  const { data } = (await response.json()) as { data: { items: UIMessage[] } }
  // Atrium lists the newest message first.
  return data.items.toReversed()
}

const Page = async () => <Chat history={await loadHistory()} />
export default Page
