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
  ['', 'Never'],
  ['30', 'In 30 days'],
  ['90', 'In 90 days'],
  ['365', 'In 1 year'],
] as const

const CreatedKeyDialog = ({ created, onClose }: { created: ApiKeyCreated; onClose: () => void }) => (
  <Dialog
    open
    wide
    onClose={onClose}
    title={`API key “${created.name}” created`}
    footer={
      <Button variant="primary" onClick={onClose}>
        I have saved the key
      </Button>
    }
  >
    <SecretField label="API key" value={created.key} note="Copy the key now. You will not be able to see it again." />
    <CodeBlock
      text={`curl -H "Authorization: Bearer ${created.key}" ${location.origin}/api/v1/me`}
      label="Copy command"
    />
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
      title="Create API key"
      description="The key acts on your behalf in this organization."
      form={form}
      action="Create key"
      disabledReason={name.trim() === '' && 'Enter a name.'}
    >
      <TextField
        label="Name"
        field="name"
        hint="For example, where the key is used."
        maxLength={120}
        autoComplete="off"
        value={name}
        onChange={({ target }) => setName(target.value)}
      />
      <SelectField label="Expiration" value={expires} onChange={({ target }) => setExpires(target.value)}>
        {expiryOptions.map(([value, label]) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </SelectField>
      <SelectField label="Workspace" value={workspaceId} onChange={({ target }) => setWorkspaceId(target.value)}>
        <option value="">Default workspace</option>
        {(workspaces.data?.items ?? []).map((workspace) => (
          <option key={workspace.id} value={workspace.id}>
            {workspace.name}
          </option>
        ))}
      </SelectField>
      <fieldset className={styles['scopes']}>
        <legend>Scopes</legend>
        <p className={styles['muted']}>
          {scopes.length === 0
            ? 'No scopes selected: the key has all your permissions.'
            : 'The key has only the selected permissions.'}
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
    toast.done(`API key “${apiKey.name}” revoked`)
    onClose()
  })
  return (
    <ConfirmDialog
      onClose={onClose}
      title={`Revoke “${apiKey.name}”?`}
      description="Requests with this key are rejected immediately. This cannot be undone."
      form={form}
      action="Revoke key"
    />
  )
}

const stateOf = ({ revokedAt, expiresAt }: ApiKey) => {
  if (revokedAt !== null) return <Status tone="bad">Revoked</Status>
  if (expiresAt !== null && Date.parse(expiresAt) < Date.now()) return <Status tone="warn">Expired</Status>
  return <Status tone="good">Active</Status>
}

const Scopes = ({ scopes }: { scopes: readonly string[] }) => (
  <span className={styles['wrap']}>
    {scopes.length === 0 ? (
      <span className={styles['muted']}>Full access</span>
    ) : (
      scopes.slice(0, 4).map((scope) => <Badge key={scope}>{scope}</Badge>)
    )}
    {scopes.length > 4 && <Badge>+{scopes.length - 4}</Badge>}
  </span>
)

export const ApiKeys = () => {
  useTitle('API keys')
  const { can } = useIdentity()
  const reason = !can('keys:write') && 'You do not have permission to manage API keys.'
  const keys = usePages('GET /api-keys')
  const [creating, setCreating] = useState(false)
  const [revoking, setRevoking] = useState<ApiKey>()
  const createButton = (
    <Button variant="primary" icon={<Plus />} onClick={() => setCreating(true)} disabledReason={reason}>
      Create key
    </Button>
  )
  return (
    <>
      <QueryBoundary query={keys.query}>
        {(rows) =>
          rows.length === 0 ? (
            <EmptyState icon={<KeyRound />} title="No API keys yet" action={createButton}>
              API keys give programs your permissions in this organization, or a part of them.
            </EmptyState>
          ) : (
            <>
              <div className={styles['intro']}>
                <p>
                  API keys give programs the permissions of the person who created them, or a part of them. See the{' '}
                  <a className="link" href="/docs">
                    API reference
                  </a>
                  .
                </p>
                {createButton}
              </div>
              <Table
                label="API keys"
                rows={rows}
                keyOf={({ id }) => id}
                columns={[
                  { title: 'Name', cell: ({ name }) => name },
                  {
                    title: 'Key',
                    optional: true,
                    tight: true,
                    cell: ({ prefix, last4 }) => <span className={styles['key']}>{`${prefix}…${last4}`}</span>,
                  },
                  { title: 'Scopes', optional: true, cell: ({ scopes }) => <Scopes scopes={scopes} /> },
                  {
                    title: 'Last used',
                    optional: true,
                    tight: true,
                    cell: ({ lastUsedAt }) =>
                      lastUsedAt === null ? (
                        <span className={styles['muted']}>Never</span>
                      ) : (
                        <RelativeTime at={lastUsedAt} />
                      ),
                  },
                  { title: 'Status', tight: true, cell: stateOf },
                  {
                    title: 'Actions',
                    hideTitle: true,
                    tight: true,
                    cell: (apiKey) =>
                      apiKey.revokedAt === null && (
                        <Button
                          small
                          variant="quiet"
                          aria-label={`Revoke ${apiKey.name}`}
                          onClick={() => setRevoking(apiKey)}
                          disabledReason={reason}
                        >
                          Revoke
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
