import { textOf } from '../../i18n/text.ts'
import { msg, t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import type { ApiKey, ApiKeyCreated } from '@atrium/client'
import { KeyRound, Plus } from 'lucide-react'
import { useState } from 'react'
import { api, read, refresh, usePages } from '../../api.ts'
import { useIdentity } from '../../session.tsx'
import { useStepUp } from '../../step-up.tsx'
import { useTitle } from '../../title.ts'
import { Badge } from '../../ui/data/badge.tsx'
import { Status } from '../../ui/data/status.tsx'
import { RelativeTime } from '../../ui/data/relative-time.tsx'
import { Button } from '../../ui/forms/button.tsx'
import { CodeBlock } from '../../ui/forms/code-block.tsx'
import { SecretField } from '../../ui/forms/secret-field.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { CheckField, SelectField, TextField } from '../../ui/forms/field.tsx'
import { ConfirmDialog, FormDialog } from '../../ui/forms/form-dialog.tsx'
import { LoadMore } from '../../ui/data/load-more.tsx'
import { QueryBoundary } from '../../ui/query-boundary.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { Table } from '../../ui/data/table.tsx'
import { toast } from '../../ui/toast.tsx'
import { useSubmit } from '../../ui/forms/use-submit.ts'
import styles from './settings.module.css'

const expiryOptions = [
  ['', msg`Never`],
  ['30', msg`In 30 days`],
  ['90', msg`In 90 days`],
  ['365', msg`In 1 year`],
] as const

const exampleCall = (key: string): string => `curl -H "Authorization: Bearer ${key}" ${location.origin}/api/v1/me`

const CreatedKeyDialog = ({ created, onClose }: { created: ApiKeyCreated; onClose: () => void }) => (
  <Dialog
    open
    wide
    onClose={onClose}
    title={t`API key “${created.name}” created`}
    footer={
      <Button variant="primary" onClick={onClose}>
        <Trans>I have saved the key</Trans>
      </Button>
    }
  >
    <SecretField
      label={t`API key`}
      value={created.key}
      note={t`Copy the key now. You will not be able to see it again.`}
    />
    <CodeBlock text={exampleCall(created.key)} label={t`Copy command`} />
  </Dialog>
)

const CreateKeyDialog = ({ onClose }: { onClose: () => void }) => {
  const { me } = useIdentity()
  const withStepUp = useStepUp()
  const workspaces = useQuery(read('GET /workspaces'))
  const [name, setName] = useState('')
  const [expires, setExpires] = useState('')
  const [workspaceId, setWorkspaceId] = useState('')
  const [scopes, setScopes] = useState<readonly string[]>([])
  const [created, setCreated] = useState<ApiKeyCreated>()
  const form = useSubmit(async () => {
    const body = {
      name: name.trim(),
      scopes: [...scopes],
      workspaceId: workspaceId === '' ? null : workspaceId,
      expiresAt: expires === '' ? null : new Date(Date.now() + Number(expires) * 86_400_000).toISOString(),
    }
    setCreated(await withStepUp((stepUpToken) => api.call('POST /api-keys', { body, stepUpToken })))
    await refresh('GET /api-keys')
  })
  if (created) return <CreatedKeyDialog created={created} onClose={onClose} />
  const toggle = (scope: string): void =>
    setScopes(scopes.includes(scope) ? scopes.filter((one) => one !== scope) : [...scopes, scope])
  return (
    <FormDialog
      wide
      onClose={onClose}
      title={t`Create API key`}
      description={t`The key acts on your behalf in this organization.`}
      form={form}
      action={t`Create key`}
      disabledReason={name.trim() === '' && t`Enter a name.`}
    >
      <TextField
        label={t`Name`}
        field="name"
        hint={t`For example, where the key is used.`}
        maxLength={120}
        autoComplete="off"
        value={name}
        onChange={({ target }) => setName(target.value)}
      />
      <SelectField label={t`Expiration`} value={expires} onChange={({ target }) => setExpires(target.value)}>
        {expiryOptions.map(([value, label]) => (
          <option key={value} value={value}>
            {textOf(label)}
          </option>
        ))}
      </SelectField>
      <SelectField label={t`Workspace`} value={workspaceId} onChange={({ target }) => setWorkspaceId(target.value)}>
        <option value="">
          <Trans>Default workspace</Trans>
        </option>
        {(workspaces.data?.items ?? []).map((workspace) => (
          <option key={workspace.id} value={workspace.id}>
            {workspace.name}
          </option>
        ))}
      </SelectField>
      <fieldset className={styles['scopes']}>
        <legend>
          <Trans>Scopes</Trans>
        </legend>
        <p className={styles['muted']}>
          {scopes.length === 0
            ? t`No scopes selected: the key has all your permissions.`
            : t`The key has only the selected permissions.`}
        </p>
        <div className={styles['checks']}>
          {me.permissions.map((permission) => (
            <CheckField
              key={permission}
              label={<code>{permission}</code>}
              checked={scopes.includes(permission)}
              onChange={() => toggle(permission)}
            />
          ))}
        </div>
      </fieldset>
    </FormDialog>
  )
}

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

const Scopes = ({ scopes }: { scopes: readonly string[] }) => (
  <span className={styles['wrap']}>
    {scopes.length === 0 ? (
      <span className={styles['muted']}>
        <Trans>Full access</Trans>
      </span>
    ) : (
      scopes.slice(0, 4).map((scope) => <Badge key={scope}>{scope}</Badge>)
    )}
    {scopes.length > 4 && <Badge>+{scopes.length - 4}</Badge>}
  </span>
)

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
              <div className={styles['intro']}>
                <p>
                  <Trans>
                    API keys give programs the permissions of the person who created them, or a part of them. See the{' '}
                    <a className="link" href="/docs">
                      API reference
                    </a>
                    .
                  </Trans>
                </p>
                {createButton}
              </div>
              <Table
                label={t`API keys`}
                rows={rows}
                keyOf={({ id }) => id}
                columns={[
                  { title: t`Name`, cell: ({ name }) => name },
                  {
                    title: t`Key`,
                    optional: true,
                    tight: true,
                    cell: ({ prefix, last4 }) => <span className={styles['key']}>{`${prefix}…${last4}`}</span>,
                  },
                  { title: t`Scopes`, optional: true, cell: ({ scopes }) => <Scopes scopes={scopes} /> },
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
