import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { MessageSquareText } from 'lucide-react'
import { Outlet, useNavigate, useParams } from 'react-router'
import { read } from '../../api.ts'
import { useTitle } from '../../title.ts'
import { Avatar } from '../../ui/data/avatar.tsx'
import { Badge } from '../../ui/data/badge.tsx'
import { Page, PageHeader } from '../../ui/page.tsx'
import { Button } from '../../ui/forms/button.tsx'
import { QueryBoundary } from '../../ui/query-boundary.tsx'
import { Tabs } from '../../ui/forms/tabs.tsx'
import styles from './agents.module.css'

/** One agent: conversations, peer messages, consents and settings. */
export const AgentPage = () => {
  const { agentId = '' } = useParams()
  const navigate = useNavigate()
  const agent = useQuery(read('GET /agents/:id', { params: { id: agentId } }))
  useTitle(agent.data?.name ?? t`Agent`)
  return (
    <Page wide>
      <QueryBoundary query={agent}>
        {(data) => (
          <>
            <PageHeader
              title={
                <span className={styles['heading']}>
                  <Avatar name={data.name} square />
                  {data.name}
                  {data.isDefault && (
                    <Badge>
                      <Trans>Default</Trans>
                    </Badge>
                  )}
                  {!data.isActive && (
                    <Badge tone="warn">
                      <Trans>Inactive</Trans>
                    </Badge>
                  )}
                </span>
              }
              description={data.description ?? undefined}
              actions={
                <Button
                  variant="primary"
                  icon={<MessageSquareText />}
                  disabledReason={!data.isActive && t`This agent is inactive. Activate it in its settings.`}
                  onClick={() => void navigate(`/chat/new?agent=${data.slug}`)}
                >
                  <Trans>Chat</Trans>
                </Button>
              }
            />
            <Tabs
              label={t`Agent`}
              tabs={[
                { to: `/agents/${agentId}`, label: t`Conversations`, end: true },
                { to: `/agents/${agentId}/messages`, label: t`Peer messages` },
                { to: `/agents/${agentId}/connections`, label: t`Your connections` },
                { to: `/agents/${agentId}/settings`, label: t`Settings` },
              ]}
            />
            <Outlet key={data.id} context={data} />
          </>
        )}
      </QueryBoundary>
    </Page>
  )
}
