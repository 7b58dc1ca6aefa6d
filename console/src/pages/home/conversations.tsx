import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { MessagesSquare } from 'lucide-react'
import { Link } from 'react-router'
import { read } from '../../api.ts'
import { useIdentity } from '../../session.tsx'
import { Avatar } from '../../ui/data/avatar.tsx'
import { Section } from '../../ui/page.tsx'
import { Status } from '../../ui/data/status.tsx'
import { RelativeTime } from '../../ui/data/relative-time.tsx'
import { ButtonLink } from '../../ui/forms/button.tsx'
import { QueryBoundary } from '../../ui/query-boundary.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import styles from './home.module.css'

/** The latest conversations of the workspace. */
export const Conversations = () => {
  const { me } = useIdentity()
  const sessions = useQuery({
    ...read('GET /sessions', { query: { limit: 6, includeTests: false } }),
    enabled: me.workspace !== null,
  })
  if (me.workspace === null) {
    return (
      <Section title={t`Conversations`}>
        <EmptyState compact title={t`No workspace`}>
          <Trans>Agents belong to workspaces. Ask an owner or admin to add you to one.</Trans>
        </EmptyState>
      </Section>
    )
  }
  return (
    <Section plain title={t`Conversations`}>
      <div className={styles['list']}>
        <QueryBoundary query={sessions} compact>
          {({ items }) =>
            items.length === 0 ? (
              <EmptyState
                compact
                icon={<MessagesSquare />}
                title={t`No conversations yet`}
                action={
                  <ButtonLink to="/chat/new">
                    <Trans>Start conversation</Trans>
                  </ButtonLink>
                }
              />
            ) : (
              items.map(({ id, title, status, participants, lastMessageAt, createdAt }) => {
                const agent = participants.find(({ type }) => type === 'agent')?.name ?? t`Agent`
                return (
                  <Link key={id} to={`/chat/${id}`} className={styles['item']}>
                    <Avatar name={agent} square />
                    <span className={styles['text']}>
                      <span className={styles['title']}>{title ?? t`New conversation`}</span>
                      <small>{agent}</small>
                    </span>
                    {status === 'running' && (
                      <Status tone="info">
                        <Trans>Running</Trans>
                      </Status>
                    )}
                    {status === 'requires_action' && (
                      <Status tone="warn">
                        <Trans>Needs action</Trans>
                      </Status>
                    )}
                    <RelativeTime at={lastMessageAt ?? createdAt} />
                  </Link>
                )
              })
            )
          }
        </QueryBoundary>
      </div>
    </Section>
  )
}
