import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import type { AuthorizedApp } from '@atrium/client'
import { AppWindow } from 'lucide-react'
import { useState } from 'react'
import { api, refresh, usePages } from '../../api.ts'
import { useIdentity } from '../../session.tsx'
import { useTitle } from '../../title.ts'
import { LoadMore } from '../../ui/data/load-more.tsx'
import { RelativeTime } from '../../ui/data/relative-time.tsx'
import { Table } from '../../ui/data/table.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { ListHeader } from '../../ui/page.tsx'
import { Button } from '../../ui/forms/button.tsx'
import { ConfirmDialog } from '../../ui/forms/form-dialog.tsx'
import { useSubmit } from '../../ui/forms/use-submit.ts'
import { QueryBoundary } from '../../ui/query-boundary.tsx'
import { toast } from '../../ui/toast.tsx'
import { ScopeSummary } from './scope-fields.tsx'
import styles from './settings.module.css'

const Revoke = ({ app, onClose }: { app: AuthorizedApp; onClose: () => void }) => {
  const form = useSubmit(async () => {
    await api.call('DELETE /apps/:id', { params: { id: app.id } })
    await refresh('GET /apps')
    toast.done(t`Access of “${app.name}” revoked`)
    onClose()
  })
  return (
    <ConfirmDialog
      onClose={onClose}
      title={t`Revoke access of “${app.name}”?`}
      description={t`The app loses access immediately. It can ask for authorization again.`}
      form={form}
      action={t`Revoke access`}
    />
  )
}

export const AuthorizedApps = () => {
  useTitle(t`Authorized apps`)
  const { me, can } = useIdentity()
  const reason = !can('keys:write') && t`You do not have permission to manage authorized apps.`
  const apps = usePages('GET /apps')
  const [revoking, setRevoking] = useState<AuthorizedApp>()
  return (
    <>
      <QueryBoundary query={apps.query}>
        {(rows) =>
          rows.length === 0 ? (
            <EmptyState icon={<AppWindow />} title={t`No authorized apps`}>
              <Trans>
                Apps that support MCP connect with the URL <code>{`${location.origin}/mcp`}</code> and ask for your
                authorization.
              </Trans>
            </EmptyState>
          ) : (
            <>
              <ListHeader>
                <Trans>
                  These apps use {me.org.name} through MCP with the permissions of the person who authorized them, or a
                  part of them.
                </Trans>
              </ListHeader>
              <Table
                label={t`Authorized apps`}
                rows={rows}
                keyOf={({ id }) => id}
                columns={[
                  { title: t`Name`, cell: ({ name }) => name },
                  { title: t`Redirects to`, optional: true, cell: ({ redirectHost }) => <code>{redirectHost}</code> },
                  {
                    title: t`Permissions`,
                    optional: true,
                    cell: ({ scopes }) => <ScopeSummary scopes={scopes} />,
                  },
                  {
                    title: t`Person`,
                    optional: true,
                    tight: true,
                    cell: ({ userId }) => (userId === me.user.id ? t`You` : t`Another member`),
                  },
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
                  {
                    title: t`Actions`,
                    hideTitle: true,
                    tight: true,
                    cell: (app) => (
                      <Button
                        small
                        variant="quiet"
                        aria-label={t`Revoke access of ${app.name}`}
                        onClick={() => setRevoking(app)}
                        disabledReason={reason}
                      >
                        <Trans>Revoke</Trans>
                      </Button>
                    ),
                  },
                ]}
              />
              <LoadMore {...apps} />
            </>
          )
        }
      </QueryBoundary>
      {revoking && <Revoke app={revoking} onClose={() => setRevoking(undefined)} />}
    </>
  )
}
