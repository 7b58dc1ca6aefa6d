import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import type { Agent, ConsentList } from '@atrium/client'
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

const writeReason = (): string => t`You do not have permission to change connections.`

/** The caller's consent for one connector of the agent. */
const ConnectorConsent = ({
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
      // CONFLICT: the agent was changed in the meantime. Reload, to show who changed it.
      if (isCode(error, 'CONFLICT')) await refresh('GET /agents/:id/consents')
      throw error
    }
  })
  const ask = useSubmit(() => put(!asks))
  const revoke = useSubmit(async () => {
    await api.call('DELETE /agents/:id/consents/:connectorSlug', { params })
    await refresh('GET /agents/:id/consents')
    toast.done(t`${agent.name} now asks before using your ${name} connection`)
  })
  const off = !can('connections:write') && writeReason()
  return (
    <Section
      title={name}
      actions={
        isAllowed ? (
          !isOwn && (
            <Button busy={revoke.busy} disabledReason={off} onClick={revoke.submit}>
              <Trans>Revoke</Trans>
            </Button>
          )
        ) : (
          <Button variant="primary" busy={allow.busy} disabledReason={off} onClick={allow.submit}>
            <Trans>
              Allow {agent.name} to use your {name}
            </Trans>
          </Button>
        )
      }
    >
      <div className={styles['consent']}>
        <Status tone={isAllowed ? 'good' : 'warn'}>{isAllowed ? t`Allowed` : t`Asks first`}</Status>
        <p>
          {isOwn && t`You made the latest change to this agent, so it can use your connection without asking.`}
          {!isOwn && isAllowed && t`Valid until someone else changes the agent.`}
          {!isAllowed && consent && t`Your consent ended because someone else changed the agent.`}
          {!isAllowed && !consent && t`The agent asks before it first uses your connection.`}
        </p>
      </div>
      <SwitchField
        label={t`Ask after untrusted content`}
        hint={t`Ask before a tool makes changes when the conversation contains web pages, email, chats, files or messages from others.`}
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
      <>
        <Trans>The last change to {agent.name} has no recorded author.</Trans>
      </>
    ) : (
      <>
        <Trans>
          Last changed by {authority.changedBy.name}, <RelativeTime at={authority.changedAt} />
        </Trans>
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
  if (!mayRead)
    return (
      <Notice tone="info">
        <Trans>You do not have permission to view connections.</Trans>
      </Notice>
    )
  if (agent.allowedConnectors.length === 0) {
    return (
      <EmptyState
        compact
        icon={<Plug />}
        title={t`No connectors`}
        action={
          <ButtonLink to={`/agents/${agent.slug}/settings`}>
            <Trans>Open settings</Trans>
          </ButtonLink>
        }
      >
        <Trans>This agent uses no connectors. Choose connectors in its settings.</Trans>
      </EmptyState>
    )
  }
  return (
    <QueryBoundary query={consents}>
      {(data) => (
        <div className={styles['form']}>
          <LastChange agent={agent} authority={data.authority} />
          {agent.allowedConnectors.map((slug) => (
            <ConnectorConsent
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
