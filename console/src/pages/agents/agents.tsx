import { msg, t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import type { Agent } from '@atrium/client'
import { Bot, MessageSquareText, Plus } from 'lucide-react'
import { Link, useNavigate, useSearchParams } from 'react-router'
import { read } from '../../api.ts'
import { useIdentity } from '../../session.tsx'
import { useTitle } from '../../title.ts'
import { Avatar } from '../../ui/data/avatar.tsx'
import { Badge } from '../../ui/data/badge.tsx'
import { Page, PageHeader } from '../../ui/page.tsx'
import { Status } from '../../ui/data/status.tsx'
import { RelativeTime } from '../../ui/data/relative-time.tsx'
import { Button, ButtonLink } from '../../ui/forms/button.tsx'
import { SearchField } from '../../ui/forms/search-field.tsx'
import { QueryBoundary } from '../../ui/query-boundary.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { Table } from '../../ui/data/table.tsx'
import styles from './agents.module.css'

const Name = ({ agent }: { agent: Agent }) => (
  <Link to={`/agents/${agent.slug}`} className={styles['name']}>
    <Avatar name={agent.name} square />
    <span>
      <strong>{agent.name}</strong>{' '}
      {agent.isDefault && (
        <Badge>
          <Trans>Default</Trans>
        </Badge>
      )}
      <span className={styles['about']}>{agent.description ?? t`No description`}</span>
    </span>
  </Link>
)

const columns = [
  { title: msg`Agent`, cell: (agent: Agent) => <Name agent={agent} /> },
  { title: msg`Model`, optional: true, tight: true, cell: ({ model }: Agent) => <code>{model}</code> },
  {
    title: msg`State`,
    optional: true,
    tight: true,
    cell: ({ isActive }: Agent) =>
      isActive ? (
        <Status tone="good">
          <Trans>Active</Trans>
        </Status>
      ) : (
        <Status>
          <Trans>Inactive</Trans>
        </Status>
      ),
  },
  { title: msg`Updated`, optional: true, tight: true, cell: ({ updatedAt }: Agent) => <RelativeTime at={updatedAt} /> },
  {
    title: msg`Actions`,
    hideTitle: true,
    tight: true,
    cell: ({ slug, name }: Agent) => (
      <ButtonLink small to={`/chat/new?agent=${slug}`} icon={<MessageSquareText />} aria-label={t`Chat with ${name}`}>
        <Trans>Chat</Trans>
      </ButtonLink>
    ),
  },
]

const matches = ({ name, slug, description, model }: Agent, search: string): boolean =>
  `${name} ${slug} ${description ?? ''} ${model}`.toLowerCase().includes(search.trim().toLowerCase())

/** The search field is shown for this many agents or more. */
const searchFrom = 6

export const CreateAgent = () => {
  const { can } = useIdentity()
  const navigate = useNavigate()
  return (
    <Button
      variant="primary"
      icon={<Plus />}
      disabledReason={!can('agents:write') && t`You do not have permission to create agents.`}
      onClick={() => void navigate('/agents/new')}
    >
      <Trans>Create agent</Trans>
    </Button>
  )
}

export const Agents = () => {
  useTitle(t`Agents`)
  const navigate = useNavigate()
  const [params, setParams] = useSearchParams()
  const search = params.get('search') ?? ''
  const agents = useQuery(read('GET /agents'))
  const isLong = (agents.data?.items.length ?? 0) >= searchFrom
  return (
    <Page wide>
      <PageHeader
        title={t`Agents`}
        description={t`An agent combines a model with a system prompt, tools and the peers it can message.`}
        actions={<CreateAgent />}
      />
      {(isLong || search !== '') && (
        <div className={styles['search']}>
          <SearchField
            label={t`Search agents`}
            placeholder={t`Search by name, description or model`}
            value={search}
            onSearch={(text) => setParams(text === '' ? {} : { search: text }, { replace: search !== '' })}
          />
        </div>
      )}
      <QueryBoundary query={agents}>
        {({ items }) => {
          const found = items.filter((agent) => matches(agent, search))
          if (found.length === 0)
            return (
              <EmptyState icon={<Bot />} title={t`No agents match “${search}”`}>
                <Trans>Search covers names, descriptions and models.</Trans>
              </EmptyState>
            )
          return (
            <Table
              label={t`Agents`}
              columns={columns}
              rows={found}
              keyOf={({ id }) => id}
              onOpen={({ slug }) => void navigate(`/agents/${slug}`)}
            />
          )
        }}
      </QueryBoundary>
    </Page>
  )
}
