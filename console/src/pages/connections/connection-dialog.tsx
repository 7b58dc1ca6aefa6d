import { useQuery } from '@tanstack/react-query'
import type { Connection, ConnectionTools, ConnectorEntry } from 'atrium-sdk'
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
  const facts: Description[] = [
    ['State', <ConnectionState key="state" of={status} />],
    ['Account', accountName ?? accountId ?? 'not known'],
    ['Created', formatDateTime(createdAt)],
    ['Last used', lastUsedAt === null ? 'never' : formatDateTime(lastUsedAt)],
  ]
  return (
    <>
      <DescriptionList items={facts} />
      {connection.lastError !== null && (
        <Notice tone={status === 'active' ? 'warn' : 'bad'}>{connection.lastError}</Notice>
      )}
      {connection.scopes.length > 0 && (
        <div className={styles['scopes']} role="group" aria-label="What it may do there">
          {connection.scopes.map((scope) => (
            <Badge key={scope}>{scope}</Badge>
          ))}
        </div>
      )}
    </>
  )
}

/** A server of tools has changed them: nothing new is used before somebody has looked at it. */
const Agree = ({
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
    toast.done('Agents may use the new tools')
  })
  return (
    <div className={styles['agree']}>
      <p>
        The server offers other tools than those that were agreed to. Look at them: agents use them only after you
        agree.
      </p>
      <ToolList tools={offered.items} />
      <Notice error={error} />
      <div>
        <Button variant="primary" busy={busy} disabledReason={writeReason(can('connections:write'))} onClick={submit}>
          Agree to these tools
        </Button>
      </div>
    </div>
  )
}

const Tools = ({ connection }: { connection: Connection }) => {
  const tools = useQuery(read('GET /connections/:id/tools', { params: { id: connection.id } }))
  return (
    <section className={styles['part']}>
      <h3>What agents can do with it</h3>
      <QueryBoundary query={tools} compact>
        {({ items, offered }) => (
          <>
            {items.length === 0 ? <p className={styles['faint']}>Nothing so far.</p> : <ToolList tools={items} />}
            {offered && <Agree connectionId={connection.id} offered={offered} />}
          </>
        )}
      </QueryBoundary>
      <p className={styles['faint']}>Agents use it for you when their settings tick this connector.</p>
    </section>
  )
}

const eventSent: Record<string, string> = {
  revoked: 'The grant was given back to the provider, too.',
  pending: 'Giving the grant back to the provider is tried again.',
  failed: 'The provider did not take the grant back: remove it in your account there.',
  unsupported: 'Remove the access in your account at the provider, too.',
}

const Revoke = ({ connection, title, onDone }: { connection: Connection; title: string; onDone: () => void }) => {
  const { can } = useIdentity()
  const [asking, setAsking] = useState(false)
  const form = useSubmit(async () => {
    const { providerRevocation } = await api.call('DELETE /connections/:id', { params: { id: connection.id } })
    onDone()
    // Only the list: the connection itself is gone, and this dialog may be there for a moment more.
    await refresh('GET /connections')
    toast.done(`${title} is disconnected. ${eventSent[providerRevocation] ?? ''}`)
  })
  return (
    <>
      <Button variant="danger" disabledReason={writeReason(can('connections:write'))} onClick={() => setAsking(true)}>
        Revoke
      </Button>
      <ConfirmDialog
        open={asking}
        onClose={() => setAsking(false)}
        title={`Revoke ${title}?`}
        description="Agents can no longer use it, what is stored for it is erased, and events of the provider are no longer taken."
        form={form}
        action="Revoke the connection"
      />
    </>
  )
}

/** One connection: how it is, what went wrong, what it can do, and its end. */
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
  const title = data ? titleOf(data, connector?.name ?? data.connectorSlug) : 'Connection'
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
