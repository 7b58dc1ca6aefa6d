import { textOf } from '../../i18n/text.ts'
import type { Text } from '../../i18n/text.ts'
import { msg, t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { useInfiniteQuery } from '@tanstack/react-query'
import type { Agent, Session } from '@atrium/client'
import { MessageSquareText } from 'lucide-react'
import { Link, useNavigate, useOutletContext } from 'react-router'
import { api, keyOf } from '../../api.ts'
import { formatNumber } from '../../format.ts'
import { Badge } from '../../ui/data/badge.tsx'
import { Status } from '../../ui/data/status.tsx'
import { RelativeTime } from '../../ui/data/relative-time.tsx'
import { Button, ButtonLink } from '../../ui/forms/button.tsx'
import { QueryBoundary } from '../../ui/query-boundary.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { Table } from '../../ui/data/table.tsx'

const useSessionsOf = (agentId: string) =>
  useInfiniteQuery({
    queryKey: [...keyOf('GET /agents/:id/sessions'), agentId],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ signal, pageParam }) => {
      const query = { limit: 50, ...(pageParam !== undefined && { cursor: pageParam }) }
      return api.call('GET /agents/:id/sessions', { params: { id: agentId }, query, signal })
    },
    getNextPageParam: ({ nextCursor }) => nextCursor,
    select: ({ pages }) => pages.flatMap(({ items }) => items),
  })

const states = { idle: undefined, running: 'info', requires_action: 'warn' } as const
const words = { idle: msg`Idle`, running: msg`Running`, requires_action: msg`Needs action` }

const kinds: Record<string, Text> = { peer: msg`Agent to agent`, connector: msg`Connection` }

const withOf = ({ participants }: Session, agent: Agent): string =>
  participants
    .filter(({ id }) => id !== agent.id)
    .map(({ name }) => name)
    .join(', ')

export const Conversations = () => {
  const agent = useOutletContext<Agent>()
  const navigate = useNavigate()
  const sessions = useSessionsOf(agent.id)
  return (
    <QueryBoundary query={sessions}>
      {(items) =>
        items.length === 0 ? (
          <EmptyState
            compact
            icon={<MessageSquareText />}
            title={t`No conversations yet`}
            action={
              <ButtonLink to={`/chat/new?agent=${agent.slug}`}>
                <Trans>Start conversation</Trans>
              </ButtonLink>
            }
          >
            <Trans>Conversations of people and other agents with {agent.name} appear here.</Trans>
          </EmptyState>
        ) : (
          <>
            <Table
              label={t`Conversations`}
              rows={items}
              keyOf={({ id }) => id}
              onOpen={({ id }) => void navigate(`/chat/${id}`)}
              columns={[
                {
                  title: t`Conversation`,
                  cell: (session) => {
                    const kind = kinds[String(session.metadata['relationship'])]
                    return (
                      <Link to={`/chat/${session.id}`}>
                        {session.title ?? t`New conversation`} {kind !== undefined && <Badge>{textOf(kind)}</Badge>}
                        {session.source === 'test' && (
                          <Badge>
                            <Trans>Test</Trans>
                          </Badge>
                        )}
                      </Link>
                    )
                  },
                },
                { title: t`With`, optional: true, cell: (session) => withOf(session, agent) },
                {
                  title: t`State`,
                  optional: true,
                  tight: true,
                  cell: ({ status }) => <Status tone={states[status] ?? 'neutral'}>{textOf(words[status])}</Status>,
                },
                { title: t`Messages`, align: 'end', optional: true, cell: (one) => formatNumber(one.messageCount) },
                {
                  title: t`Last message`,
                  tight: true,
                  cell: ({ lastMessageAt, createdAt }) => <RelativeTime at={lastMessageAt ?? createdAt} />,
                },
              ]}
            />
            {sessions.hasNextPage && (
              <p>
                <Button busy={sessions.isFetchingNextPage} onClick={() => void sessions.fetchNextPage()}>
                  <Trans>Load more</Trans>
                </Button>
              </p>
            )}
          </>
        )
      }
    </QueryBoundary>
  )
}
