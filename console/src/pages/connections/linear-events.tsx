import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import type { Connection, LinearBinding } from '@atrium/client'
import { useState } from 'react'
import { Link } from 'react-router'
import { api, read, refresh } from '../../api.ts'
import { useIdentity } from '../../session.tsx'
import { Button } from '../../ui/forms/button.tsx'
import { ConfirmDialog } from '../../ui/forms/form-dialog.tsx'
import { QueryBoundary } from '../../ui/query-boundary.tsx'
import { Notice } from '../../ui/notice.tsx'
import { toast } from '../../ui/toast.tsx'
import { useSubmit } from '../../ui/forms/use-submit.ts'
import styles from './connections.module.css'
import { writeReason } from './reconnect.tsx'

const list = 'GET /webhooks/linear/bindings'

const Unbind = ({
  binding,
  disabledReason,
}: {
  binding: LinearBinding
  disabledReason: string | false | undefined
}) => {
  const [asking, setAsking] = useState(false)
  const form = useSubmit(async () => {
    await api.call('DELETE /webhooks/linear/bindings/:id', { params: { id: binding.id } })
    setAsking(false)
    await refresh(list)
    toast.done(t`Stopped receiving events of ${binding.organizationName}`)
  })
  return (
    <>
      <Button small disabledReason={disabledReason} onClick={() => setAsking(true)}>
        <Trans>Stop receiving events</Trans>
      </Button>
      <ConfirmDialog
        open={asking}
        onClose={() => setAsking(false)}
        title={t`Stop receiving events of ${binding.organizationName}?`}
        description={t`New Linear events are no longer recorded here, and another org on this server can receive them.`}
        form={form}
        action={t`Stop receiving events`}
      />
    </>
  )
}

/** Starts and stops receiving the events of a Linear organization. */
export const LinearEvents = ({ connection }: { connection: Connection }) => {
  const { me, can } = useIdentity()
  const bindings = useQuery(read(list))
  const { busy, error, submit } = useSubmit(async () => {
    const body = { connectionId: connection.id }
    const { organizationName } = await api.call('POST /webhooks/linear/bindings', { body })
    await refresh(list)
    toast.done(t`Receiving events of ${organizationName}`)
  })
  const isAdministrator = me.role === 'owner' || me.role === 'admin'
  const disabledReason = isAdministrator
    ? writeReason(can('webhooks:write'))
    : t`Only owners and admins can change which org receives Linear events.`
  return (
    <section className={styles['part']}>
      <h3>
        <Trans>Linear events</Trans>
      </h3>
      <QueryBoundary query={bindings} compact>
        {({ items }) => {
          const binding = items.find(
            ({ connectionId, organizationId }) =>
              connectionId === connection.id || organizationId === connection.accountId,
          )
          return binding ? (
            <>
              <p>
                <Trans>
                  This org receives the events of {binding.organizationName} in the{' '}
                  <Link className="link" to="/webhooks">
                    Linear webhook
                  </Link>
                  .
                </Trans>
              </p>
              <div>
                <Unbind binding={binding} disabledReason={disabledReason} />
              </div>
            </>
          ) : (
            <>
              <p className={styles['faint']}>
                <Trans>
                  Only one org can receive the events of a Linear organization. The Linear account of this connection
                  must be an administrator.
                </Trans>
              </p>
              <Notice error={error} />
              <div>
                <Button busy={busy} disabledReason={disabledReason} onClick={submit}>
                  <Trans>Receive Linear events</Trans>
                </Button>
              </div>
            </>
          )
        }}
      </QueryBoundary>
    </section>
  )
}
