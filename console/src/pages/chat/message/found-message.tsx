import { useEffect, useRef } from 'react'
import type { ReactNode } from 'react'
import { useSearchParams } from 'react-router'
import styles from '../conversation.module.css'
import type { useConversation } from '../use-conversation.ts'

/** Where a message is, for links to it. */
export const Place = ({
  id,
  foundId,
  children,
}: {
  id: string | undefined
  foundId: string | undefined
  children: ReactNode
}) => (
  <div
    data-message={id}
    className={styles['place']}
    // As the current item of a set, which is how screen readers name it.
    aria-current={(id !== undefined && id === foundId) || undefined}
  >
    {children}
  </div>
)

/** The most pages of earlier messages that are loaded to show one of them. */
const maxPages = 40

/** Scrolls to the message `?message=`, which a search has found, once it is loaded. Returns its id. */
export const useFoundMessage = (
  { messages }: Pick<ReturnType<typeof useConversation>, 'messages'>,
  show: (selector: string) => boolean,
): string | undefined => {
  const [params] = useSearchParams()
  const wanted = params.get('message') ?? undefined
  const shown = useRef<string>(undefined)
  const { data = [], hasNextPage, isFetchingNextPage, fetchNextPage } = messages
  const isLoaded = data.some(({ id }) => id === wanted)
  useEffect(() => {
    if (wanted === undefined || wanted === shown.current || isFetchingNextPage) return
    if (isLoaded) {
      if (show(`[data-message="${CSS.escape(wanted)}"]`)) shown.current = wanted
    } else if (hasNextPage && data.length < maxPages * 50) void fetchNextPage()
  }, [wanted, isLoaded, isFetchingNextPage, hasNextPage, fetchNextPage, data.length, show])
  return wanted
}
