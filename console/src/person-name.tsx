import { t } from '@lingui/core/macro'
import { useQuery } from '@tanstack/react-query'
import { read } from './api.ts'

// Names change rarely, and an event of a member invalidates them.
const staleTime = 10 * 60_000

/** The name of a member by the user ID. Undefined while it loads. */
export const usePersonName = (userId: string): string | undefined => {
  const first = useQuery({ ...read('GET /members', { query: { limit: 100 } }), staleTime })
  const known = first.data?.items.find((member) => member.userId === userId)
  const isElsewhere = first.data !== undefined && !known && first.data.nextCursor !== null
  const one = useQuery({ ...read('GET /members', { query: { userId } }), staleTime, enabled: isElsewhere })
  if (known) return known.name
  if (first.data === undefined || (isElsewhere && one.data === undefined)) return undefined
  return one.data?.items[0]?.name ?? t`Former member`
}

export const PersonName = ({ userId }: { userId: string }) => usePersonName(userId) ?? null
