import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { useInfiniteQuery } from '@tanstack/react-query'
import type { Agent, Session } from '@atrium/client'
import { MessageSquareText, SquarePen } from 'lucide-react'
import { NavLink } from 'react-router'
import { api, keyOf } from '../../api.ts'
import { useFallbackPolling } from '../../live/connection.ts'
import { Avatar } from '../../ui/data/avatar.tsx'
import { Status } from '../../ui/data/status.tsx'
import { RelativeTime } from '../../ui/data/relative-time.tsx'
import { Button, ButtonLink } from '../../ui/forms/button.tsx'
import { classNames } from '../../ui/class-names.ts'
import { SelectField } from '../../ui/forms/field.tsx'
import { QueryBoundary } from '../../ui/query-boundary.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import styles from './chat.module.css'

export const useSessions = (agentId: string | undefined) =>
  useInfiniteQuery({
    queryKey: [...keyOf('GET /sessions'), agentId],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ signal, pageParam }) => {
      const query = {
        limit: 40,
        ...(agentId !== undefined && { agentId }),
        ...(pageParam !== undefined && { cursor: pageParam }),
      }
      return api.call('GET /sessions', { query, signal })
    },
    getNextPageParam: ({ nextCursor }) => nextCursor,
    select: ({ pages }) => pages.flatMap(({ items }) => items),
    refetchInterval: useFallbackPolling(),
  })

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

const Row = ({ session, search }: { session: Session; search: string }) => {
  const agents = session.participants.filter(({ type }) => type === 'agent').map(({ name }) => name)
  return (
    <li>
      <NavLink to={`/chat/${session.id}${search}`} className={classNames(styles['row'])}>
        <Avatar name={agents[0] ?? '?'} size="s" square />
        <span className={styles['rowText']}>
          <span className={styles['rowTitle']}>{titleOf(session)}</span>
          <span className={styles['rowInfo']}>
            <span>{agents.join(' and ')}</span>
            <State status={session.status} at={session.lastMessageAt ?? session.createdAt} />
          </span>
        </span>
      </NavLink>
    </li>
  )
}

/** The conversations of the workspace, optionally with one agent only. */
export const SessionList = ({
  agents,
  agentSlug,
  onAgent,
}: {
  agents: readonly Agent[]
  agentSlug: string | undefined
  onAgent: (slug: string | undefined) => void
}) => {
  const sessions = useSessions(agentSlug)
  const search = agentSlug === undefined ? '' : `?agent=${agentSlug}`
  return (
    <aside className={styles['list']} aria-label={t`Conversations`}>
      <div className={styles['listHead']}>
        <SelectField
          label={t`Agent`}
          hideLabel
          value={agentSlug ?? ''}
          onChange={({ target }) => onAgent(target.value === '' ? undefined : target.value)}
        >
          <option value="">
            <Trans>All conversations</Trans>
          </option>
          {agents.map(({ slug, name }) => (
            <option key={slug} value={slug}>
              {name}
            </option>
          ))}
        </SelectField>
        <ButtonLink to={`/chat/new${search}`} icon={<SquarePen />} aria-label={t`New conversation`}>
          <Trans>New</Trans>
        </ButtonLink>
      </div>
      <div className={styles['rows']}>
        <QueryBoundary query={sessions} compact>
          {(items) =>
            items.length === 0 ? (
              <EmptyState compact icon={<MessageSquareText />} title={t`No conversations yet`}>
                <Trans>Conversations with agents appear here.</Trans>
              </EmptyState>
            ) : (
              <ul>
                {items.map((session) => (
                  <Row key={session.id} session={session} search={search} />
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
