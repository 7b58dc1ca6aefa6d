import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import type { ApiKey } from '@atrium/client'
import { KeyRound, Plus } from 'lucide-react'
import { useState } from 'react'
import { api, refresh, usePages } from '../../api.ts'
import { useIdentity } from '../../session.tsx'
import { useTitle } from '../../title.ts'
import { Status } from '../../ui/data/status.tsx'
import { RelativeTime } from '../../ui/data/relative-time.tsx'
import { Button } from '../../ui/forms/button.tsx'
import { ConfirmDialog } from '../../ui/forms/form-dialog.tsx'
import { LoadMore } from '../../ui/data/load-more.tsx'
import { QueryBoundary } from '../../ui/query-boundary.tsx'
import { classNames } from '../../ui/class-names.ts'
import { EmptyState } from '../../ui/empty-state.tsx'
import { ListHeader } from '../../ui/page.tsx'
import { Table } from '../../ui/data/table.tsx'
import { toast } from '../../ui/toast.tsx'
import { useSubmit } from '../../ui/forms/use-submit.ts'
import keyStyles from './api-keys.module.css'
import { CreateKeyDialog } from './create-key-dialog.tsx'
import { ScopeSummary } from './scope-fields.tsx'
import styles from './settings.module.css'

const Revoke = ({ apiKey, onClose }: { apiKey: ApiKey; onClose: () => void }) => {
  const form = useSubmit(async () => {
    await api.call('DELETE /api-keys/:id', { params: { id: apiKey.id } })
    await refresh('GET /api-keys')
    toast.done(t`API key “${apiKey.name}” revoked`)
    onClose()
  })
  return (
    <ConfirmDialog
      onClose={onClose}
      title={t`Revoke “${apiKey.name}”?`}
      description={t`Requests with this key are rejected immediately. This cannot be undone.`}
      form={form}
      action={t`Revoke key`}
    />
  )
}

const stateOf = ({ revokedAt, expiresAt }: ApiKey) => {
  if (revokedAt !== null)
    return (
      <Status tone="bad">
        <Trans>Revoked</Trans>
      </Status>
    )
  if (expiresAt !== null && Date.parse(expiresAt) < Date.now())
    return (
      <Status tone="warn">
        <Trans>Expired</Trans>
      </Status>
    )
  return (
    <Status tone="good">
      <Trans>Active</Trans>
    </Status>
  )
}

export const ApiKeys = () => {
  useTitle(t`API keys`)
  const { can } = useIdentity()
  const reason = !can('keys:write') && t`You do not have permission to manage API keys.`
  const keys = usePages('GET /api-keys')
  const [creating, setCreating] = useState(false)
  const [revoking, setRevoking] = useState<ApiKey>()
  const createButton = (
    <Button variant="primary" icon={<Plus />} onClick={() => setCreating(true)} disabledReason={reason}>
      <Trans>Create key</Trans>
    </Button>
  )
  return (
    <>
      <QueryBoundary query={keys.query}>
        {(rows) =>
          rows.length === 0 ? (
            <EmptyState icon={<KeyRound />} title={t`No API keys yet`} action={createButton}>
              <Trans>API keys give programs your permissions in this organization, or a part of them.</Trans>
            </EmptyState>
          ) : (
            <>
              <ListHeader actions={createButton}>
                <Trans>
                  API keys give programs the permissions of the person who created them, or a part of them. See the{' '}
                  <a className="link" href="/docs">
                    API reference
                  </a>
                  .
                </Trans>
              </ListHeader>
              <Table
                label={t`API keys`}
                rows={rows}
                keyOf={({ id }) => id}
                columns={[
                  {
                    title: t`Name`,
                    cell: ({ name, scopes }) => (
                      <span className={keyStyles['name']}>
                        {name}
                        <span className={classNames(keyStyles['inName'], 'phone-only')}>
                          <ScopeSummary scopes={scopes} />
                        </span>
                      </span>
                    ),
                  },
                  {
                    title: t`Key`,
                    optional: true,
                    tight: true,
                    cell: ({ prefix, last4 }) => <span className={styles['key']}>{`${prefix}…${last4}`}</span>,
                  },
                  { title: t`Scopes`, optional: true, cell: ({ scopes }) => <ScopeSummary scopes={scopes} /> },
                  {
                    title: t`Last used`,
                    optional: true,
                    tight: true,
                    cell: ({ lastUsedAt }) =>
                      lastUsedAt === null ? (
                        <span className={styles['muted']}>
                          <Trans>Never</Trans>
                        </span>
                      ) : (
                        <RelativeTime at={lastUsedAt} />
                      ),
                  },
                  { title: t`Status`, tight: true, cell: stateOf },
                  {
                    title: t`Actions`,
                    hideTitle: true,
                    tight: true,
                    cell: (apiKey) =>
                      apiKey.revokedAt === null && (
                        <Button
                          small
                          variant="quiet"
                          aria-label={t`Revoke ${apiKey.name}`}
                          onClick={() => setRevoking(apiKey)}
                          disabledReason={reason}
                        >
                          <Trans>Revoke</Trans>
                        </Button>
                      ),
                  },
                ]}
              />
            </>
          )
        }
      </QueryBoundary>
      <LoadMore {...keys} />
      {creating && <CreateKeyDialog onClose={() => setCreating(false)} />}
      {revoking && <Revoke apiKey={revoking} onClose={() => setRevoking(undefined)} />}
    </>
  )
}
