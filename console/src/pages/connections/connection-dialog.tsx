import { apiText } from '../../i18n/language.ts'
import { textOf } from '../../i18n/text.ts'
import type { Text } from '../../i18n/text.ts'
import { msg, t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import type { Connection, ConnectionTools, ConnectorEntry } from '@atrium/client'
import { useState } from 'react'
import { api, read, refresh } from '../../api.ts'
import { formatDateTime } from '../../format.ts'
import { useIdentity } from '../../session.tsx'
import { Badge } from '../../ui/data/badge.tsx'
import { Button } from '../../ui/forms/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { DescriptionList } from '../../ui/data/description-list.tsx'
import type { Description } from '../../ui/data/description-list.tsx'
import { ConfirmDialog } from '../../ui/forms/form-dialog.tsx'
import { QueryBoundary } from '../../ui/query-boundary.tsx'
import { Notice } from '../../ui/notice.tsx'
import { toast } from '../../ui/toast.tsx'
import { useSubmit } from '../../ui/forms/use-submit.ts'
import { ConnectionState, titleOf } from './connection-state.tsx'
import styles from './connections.module.css'
import { Endpoints } from './endpoints.tsx'
import { LinearEvents } from './linear-events.tsx'
import { Reconnect, writeReason } from './reconnect.tsx'
import { ToolList } from './tool-list.tsx'

const About = ({ connection }: { connection: Connection }) => {
  const { status, accountName, accountId, createdAt, lastUsedAt } = connection
  const items: Description[] = [
    [t`Status`, <ConnectionState key="state" of={status} />],
    [t`Account`, accountName ?? accountId ?? t`Unknown`],
    [t`Created`, formatDateTime(createdAt)],
    [t`Last used`, lastUsedAt === null ? t`Never` : formatDateTime(lastUsedAt)],
  ]
  return (
    <>
      <DescriptionList items={items} />
      {connection.lastError !== null && (
        <Notice tone={status === 'active' ? 'warn' : 'bad'}>{apiText(connection.lastError)}</Notice>
      )}
      {connection.scopes.length > 0 && (
        <div className={styles['scopes']} role="group" aria-label={t`Granted scopes`}>
          {connection.scopes.map((scope) => (
            <Badge key={scope}>{scope}</Badge>
          ))}
        </div>
      )}
    </>
  )
}

/** Changed tool definitions of an MCP server. Agents do not use them before a person has approved them (rug pull). */
const ApproveTools = ({
  connectionId,
  offered,
}: {
  connectionId: string
  offered: NonNullable<ConnectionTools['offered']>
}) => {
  const { can } = useIdentity()
  const { busy, error, submit } = useSubmit(async () => {
    const body = { hash: offered.hash }
    await api.call('POST /connections/:id/tools', { params: { id: connectionId }, body })
    await refresh('GET /connections/:id/tools')
    toast.done(t`New tools approved`)
  })
  return (
    <div className={styles['agree']}>
      <p>
        <Trans>The server changed its tools. Agents can use the new definitions after you approve them.</Trans>
      </p>
      <ToolList tools={offered.items} />
      <Notice error={error} />
      <div>
        <Button variant="primary" busy={busy} disabledReason={writeReason(can('connections:write'))} onClick={submit}>
          <Trans>Approve tools</Trans>
        </Button>
      </div>
    </div>
  )
}

const Tools = ({ connection }: { connection: Connection }) => {
  const tools = useQuery(read('GET /connections/:id/tools', { params: { id: connection.id } }))
  return (
    <section className={styles['part']}>
      <h3>
        <Trans>Tools for agents</Trans>
      </h3>
      <QueryBoundary query={tools} compact>
        {({ items, offered }) => (
          <>
            {items.length === 0 ? (
              <p className={styles['faint']}>
                <Trans>No tools yet.</Trans>
              </p>
            ) : (
              <ToolList tools={items} />
            )}
            {offered && <ApproveTools connectionId={connection.id} offered={offered} />}
          </>
        )}
      </QueryBoundary>
      <p className={styles['faint']}>
        <Trans>Agents use this connection on your behalf when the connector is enabled in their settings.</Trans>
      </p>
    </section>
  )
}

const providerRevocations: Record<string, Text> = {
  revoked: msg`The provider revoked access.`,
  pending: msg`Revocation at the provider is being retried.`,
  failed: msg`The provider did not revoke access. Remove it in your account there.`,
  unsupported: msg`Remove the access in your account at the provider as well.`,
}

const Revoke = ({ connection, title, onDone }: { connection: Connection; title: string; onDone: () => void }) => {
  const { can } = useIdentity()
  const [asking, setAsking] = useState(false)
  const form = useSubmit(async () => {
    const { providerRevocation } = await api.call('DELETE /connections/:id', { params: { id: connection.id } })
    onDone()
    // Only the list: this dialog can still be mounted, and loading the deleted connection would fail.
    await refresh('GET /connections')
    toast.done(t`${title} disconnected. ${textOf(providerRevocations[providerRevocation] ?? '')}`)
  })
  return (
    <>
      <Button variant="danger" disabledReason={writeReason(can('connections:write'))} onClick={() => setAsking(true)}>
        <Trans>Revoke</Trans>
      </Button>
      <ConfirmDialog
        open={asking}
        onClose={() => setAsking(false)}
        title={t`Revoke ${title}?`}
        description={t`Agents can no longer use it, its stored credentials are deleted, and events of the provider are rejected.`}
        form={form}
        action={t`Revoke connection`}
      />
    </>
  )
}

/** One connection: status, last error, tools, endpoints and revocation. */
export const ConnectionDialog = ({
  id,
  connectors,
  onClose,
}: {
  id: string
  connectors: readonly ConnectorEntry[]
  onClose: () => void
}) => {
  const connection = useQuery(read('GET /connections/:id', { params: { id } }))
  const { data } = connection
  const connector = connectors.find(({ slug }) => slug === data?.connectorSlug)
  const title = data ? titleOf(data, connector?.name ?? data.connectorSlug) : t`Connection`
  return (
    <Dialog
      open
      wide
      onClose={onClose}
      title={title}
      footer={
        data && (
          <>
            <Revoke connection={data} title={title} onDone={onClose} />
            <Reconnect connection={data} connector={connector} />
          </>
        )
      }
    >
      <QueryBoundary query={connection} compact>
        {(one) => (
          <>
            <About connection={one} />
            {one.status === 'active' && <Tools connection={one} />}
            <Endpoints connectionId={one.id} />
            {one.connectorSlug === 'linear' && one.status === 'active' && <LinearEvents connection={one} />}
          </>
        )}
      </QueryBoundary>
    </Dialog>
  )
}
