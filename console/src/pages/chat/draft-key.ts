import { useIdentity } from '../../session.tsx'

/** The key of the draft in a conversation, or of a new conversation in this workspace. */
export const useDraftKey = (sessionId: string | undefined): string => {
  const { session, me } = useIdentity()
  return [session.user.id, me.org.id, sessionId ?? `new-${me.workspace?.id ?? ''}`].join('.')
}

/** The key of the draft in another conversation of the same person and org. */
export const draftKeyOf = (key: string, sessionId: string): string => [...key.split('.', 2), sessionId].join('.')
