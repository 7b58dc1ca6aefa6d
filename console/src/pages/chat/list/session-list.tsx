import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query'
import type { Agent, ItemOf, Session } from '@atrium/client'
import { MessageSquareText, SquarePen } from 'lucide-react'
import { NavLink } from 'react-router'
import { api, keyOf } from '../../../api.ts'
import { textOf } from '../../../i18n/text.ts'
import { useFallbackPolling } from '../../../live/connection.ts'
import { Avatar } from '../../../ui/data/avatar.tsx'
import { Badge } from '../../../ui/data/badge.tsx'
import { Status } from '../../../ui/data/status.tsx'
import { RelativeTime } from '../../../ui/data/relative-time.tsx'
import { Button, ButtonLink } from '../../../ui/forms/button.tsx'
import { classNames } from '../../../ui/class-names.ts'
import { QueryBoundary } from '../../../ui/query-boundary.tsx'
import { EmptyState } from '../../../ui/empty-state.tsx'
import styles from '../chat.module.css'
import { Marked, queryOf, SessionFilters, sourceNames } from './session-search.tsx'
import type { SessionFilter } from './session-search.tsx'
import { useListKeys } from './use-list-keys.ts'

const useSessions = ({ agent, source, q }: SessionFilter) =>
  useInfiniteQuery({
    queryKey: [...keyOf('GET /sessions'), agent, source, q],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ signal, pageParam }) => {
      const query = {
        limit: 40,
        ...(agent !== undefined && { agentId: agent }),
        // Tests are found by their source.
        ...(source === undefined ? { includeTests: false } : { source }),
        ...(q !== undefined && { search: q }),
        ...(pageParam !== undefined && { cursor: pageParam }),
      }
      return api.call('GET /sessions', { query, signal })
    },
    getNextPageParam: ({ nextCursor }) => nextCursor,
    select: ({ pages }) => pages.flatMap(({ items }) => items),
    // The list stays while the results of the next letters are on their way.
    placeholderData: keepPreviousData,
    refetchInterval: useFallbackPolling(),
  })

type Listed = ItemOf<'GET /sessions'>

export const agentOf = ({ participants }: Session) => participants.find(({ type }) => type === 'agent')

export const titleOf = (session: Session): string => session.title ?? t`New conversation`

const State = ({ status, at }: { status: Session['status']; at: string }) => {
  if (status === 'running')
    return (
      <Status tone="info">
        <Trans>Running</Trans>
      </Status>
    )
  if (status === 'requires_action')
    return (
      <Status tone="warn">
        <Trans>Needs action</Trans>
      </Status>
    )
  return <RelativeTime at={at} />
}

const Row = ({ session, filter }: { session: Listed; filter: SessionFilter }) => {
  const agents = session.participants.filter(({ type }) => type === 'agent').map(({ name }) => name)
  const { source, match } = session
  // Most conversations begin in the console.
  const isTest = source === 'test'
  const from = source === null || source === 'console' || isTest ? undefined : textOf(sourceNames[source])
  return (
    <li>
      <NavLink
        to={`/chat/${session.id}${queryOf({ ...filter, message: match?.messageId })}`}
        className={classNames(styles['row'])}
      >
        <Avatar name={agents[0] ?? '?'} size="s" square />
        <span className={styles['rowText']}>
          <span className={styles['rowTitle']}>
            <Marked text={titleOf(session)} search={filter.q ?? ''} />
          </span>
          {match && (
            <span className={styles['rowMatch']}>
              <Marked text={match.excerpt} search={filter.q ?? ''} />
            </span>
          )}
          <span className={styles['rowInfo']}>
            <span>{[agents.join(', '), from].filter(Boolean).join(' · ')}</span>
            {isTest && (
              <Badge>
                <Trans>Test</Trans>
              </Badge>
            )}
            <State status={session.status} at={session.lastMessageAt ?? session.createdAt} />
          </span>
        </span>
      </NavLink>
    </li>
  )
}

const Empty = ({ filter, onClear }: { filter: SessionFilter; onClear: () => void }) =>
  queryOf(filter) === '' ? (
    <EmptyState compact icon={<MessageSquareText />} title={t`No conversations yet`}>
      <Trans>Conversations with agents appear here.</Trans>
    </EmptyState>
  ) : (
    <EmptyState
      compact
      icon={<MessageSquareText />}
      title={t`No matching conversations`}
      action={
        <Button small onClick={onClear}>
          <Trans>Clear filters</Trans>
        </Button>
      }
    >
      {filter.q !== undefined && <Trans>Search finds whole words and their beginnings.</Trans>}
    </EmptyState>
  )

/** The conversations of the workspace: all, those that a search finds, or those of an agent or a source. */
export const SessionList = ({
  agents,
  filter,
  onFilter,
}: {
  agents: readonly Agent[]
  filter: SessionFilter
  onFilter: (change: SessionFilter) => void
}) => {
  const sessions = useSessions(filter)
  const { list, field, onKeyDown, focusFirst } = useListKeys()
  return (
    <aside className={styles['list']} aria-label={t`Conversations`}>
      <div className={styles['listHead']}>
        <SessionFilters agents={agents} filter={filter} onFilter={onFilter} onDown={focusFirst} field={field} />
        <ButtonLink to={`/chat/new${queryOf(filter)}`} icon={<SquarePen />} aria-label={t`New conversation`}>
          <Trans>New</Trans>
        </ButtonLink>
      </div>
      <div className={styles['rows']} aria-busy={sessions.isPlaceholderData || undefined} onKeyDown={onKeyDown}>
        <QueryBoundary query={sessions} compact>
          {(items) =>
            items.length === 0 ? (
              <Empty filter={filter} onClear={() => onFilter({ agent: undefined, source: undefined, q: undefined })} />
            ) : (
              <ul ref={list}>
                {items.map((session) => (
                  <Row key={session.id} session={session} filter={filter} />
                ))}
              </ul>
            )
          }
        </QueryBoundary>
        {sessions.hasNextPage && (
          <Button small busy={sessions.isFetchingNextPage} onClick={() => void sessions.fetchNextPage()}>
            <Trans>Load more</Trans>
          </Button>
        )}
      </div>
    </aside>
  )
}
