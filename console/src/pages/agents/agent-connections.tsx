import { useQuery } from '@tanstack/react-query'
import type { Agent, ConsentList } from 'atrium-sdk'
import { Plug } from 'lucide-react'
import { useOutletContext } from 'react-router'
import { api, isCode, read, refresh } from '../../api.ts'
import { useIdentity } from '../../session.tsx'
import { Section } from '../../ui/page.tsx'
import { Status } from '../../ui/data/status.tsx'
import { RelativeTime } from '../../ui/data/relative-time.tsx'
import { Button, ButtonLink } from '../../ui/forms/button.tsx'
import { SwitchField } from '../../ui/forms/field.tsx'
import { QueryBoundary } from '../../ui/query-boundary.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { Notice } from '../../ui/notice.tsx'
import { toast } from '../../ui/toast.tsx'
import { useSubmit } from '../../ui/forms/use-submit.ts'
import styles from './agents.module.css'

const writeReason = 'Your role or key cannot change connections.'

/** What one connector of the agent may do with the caller's connection. */
const OneConnector = ({
  agent,
  slug,
  name,
  consents,
}: {
  agent: Agent
  slug: string
  name: string
  consents: ConsentList
}) => {
  const { can, me } = useIdentity()
  const { items, authority } = consents
  const consent = items.find(({ connectorSlug }) => connectorSlug === slug)
  const isOwn = authority.changedBy?.id === me.user.id
  const isAllowed = isOwn || consent?.isValid === true
  const asks = consent?.isValid === true ? consent.askAfterUntrustedContent : true
  const params = { id: agent.id, connectorSlug: slug }
  const route = 'PUT /agents/:id/consents/:connectorSlug'
  const put = async (askAfterUntrustedContent: boolean): Promise<void> => {
    await api.call(route, { params, body: { askAfterUntrustedContent, authorityVersion: authority.version } })
    await refresh('GET /agents/:id/consents')
  }
  const allow = useSubmit(async () => {
    try {
      await put(true)
    } catch (error) {
      // When the agent has changed since, show the change.
      if (isCode(error, 'CONFLICT')) await refresh('GET /agents/:id/consents')
      throw error
    }
  })
  const ask = useSubmit(() => put(!asks))
  const revoke = useSubmit(async () => {
    await api.call('DELETE /agents/:id/consents/:connectorSlug', { params })
    await refresh('GET /agents/:id/consents')
    toast.done(`${agent.name} asks before it uses your ${name} connection`)
  })
  const off = !can('connections:write') && writeReason
  return (
    <Section
      title={name}
      actions={
        isAllowed ? (
          !isOwn && (
            <Button busy={revoke.busy} disabledReason={off} onClick={revoke.submit}>
              Revoke
            </Button>
          )
        ) : (
          <Button variant="primary" busy={allow.busy} disabledReason={off} onClick={allow.submit}>
            Allow {agent.name} to use your {name}
          </Button>
        )
      }
    >
      <div className={styles['consent']}>
        <Status tone={isAllowed ? 'good' : 'warn'}>{isAllowed ? 'Allowed' : 'Asks first'}</Status>
        <p>
          {isOwn && 'You made the latest change to this agent, so it uses your connection without asking.'}
          {!isOwn && isAllowed && 'Valid until somebody else changes the agent.'}
          {!isAllowed && consent && 'Your consent ended because somebody else changed the agent.'}
          {!isAllowed && !consent && 'The agent asks you before its first use of your connection.'}
        </p>
      </div>
      <SwitchField
        label="Ask after untrusted content"
        hint="Before a tool changes something, when the conversation contains web pages, mail, chats, files or messages of others."
        checked={asks}
        disabled={!isAllowed || off !== false || ask.busy}
        onChange={ask.submit}
      />
      <Notice error={allow.error ?? ask.error ?? revoke.error} />
    </Section>
  )
}

const LastChange = ({ agent, authority }: { agent: Agent; authority: ConsentList['authority'] }) => (
  <p className={styles['empty']}>
    {authority.changedBy === null ? (
      <>It is not known who last changed {agent.name}.</>
    ) : (
      <>
        Last changed by {authority.changedBy.name}, <RelativeTime at={authority.changedAt} />
      </>
    )}
  </p>
)

/** The caller's own consents: which of their connections the agent may use without asking. */
export const AgentConnections = () => {
  const agent = useOutletContext<Agent>()
  const { can } = useIdentity()
  const mayRead = can('connections:read')
  const consents = useQuery({ ...read('GET /agents/:id/consents', { params: { id: agent.id } }), enabled: mayRead })
  const connectors = useQuery({ ...read('GET /connectors'), enabled: mayRead })
  if (!mayRead) return <Notice tone="info">Your role cannot see connections.</Notice>
  if (agent.allowedConnectors.length === 0) {
    return (
      <EmptyState
        icon={<Plug />}
        title="No connectors"
        action={<ButtonLink to={`/agents/${agent.slug}/settings`}>Open settings</ButtonLink>}
      >
        This agent uses no connections. Connectors are chosen in its settings.
      </EmptyState>
    )
  }
  return (
    <QueryBoundary query={consents}>
      {(data) => (
        <div className={styles['form']}>
          <LastChange agent={agent} authority={data.authority} />
          {agent.allowedConnectors.map((slug) => (
            <OneConnector
              key={slug}
              agent={agent}
              slug={slug}
              name={connectors.data?.items.find((one) => one.slug === slug)?.name ?? slug}
              consents={data}
            />
          ))}
        </div>
      )}
    </QueryBoundary>
  )
}
