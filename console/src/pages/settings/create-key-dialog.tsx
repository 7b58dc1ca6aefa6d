import { msg, t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import type { ApiKeyCreated } from '@atrium/client'
import { useState } from 'react'
import { api, readAll, refresh } from '../../api.ts'
import { textOf } from '../../i18n/text.ts'
import { useIdentity } from '../../session.tsx'
import { useStepUp } from '../../step-up.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Button } from '../../ui/forms/button.tsx'
import { CodeBlock } from '../../ui/forms/code-block.tsx'
import { SelectField, TextField } from '../../ui/forms/field.tsx'
import { FormDialog } from '../../ui/forms/form-dialog.tsx'
import { SecretField } from '../../ui/forms/secret-field.tsx'
import { useSubmit } from '../../ui/forms/use-submit.ts'
import { ScopeFields } from './scope-fields.tsx'
import type { Access } from './scope-fields.tsx'
import { scopesOf } from './scopes.ts'
import type { Levels } from './scopes.ts'

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

export const CreateKeyDialog = ({ onClose }: { onClose: () => void }) => {
  const { me } = useIdentity()
  const withStepUp = useStepUp()
  const workspaces = useQuery(readAll('GET /workspaces'))
  const [name, setName] = useState('')
  const [expires, setExpires] = useState('')
  const [workspaceId, setWorkspaceId] = useState('')
  const [access, setAccess] = useState<Access>()
  const [levels, setLevels] = useState<Levels>({})
  const scopes = access === 'selected' ? scopesOf(levels) : []
  const [created, setCreated] = useState<ApiKeyCreated>()
  const form = useSubmit(async () => {
    const body = {
      name: name.trim(),
      scopes,
      workspaceId: workspaceId === '' ? null : workspaceId,
      expiresAt: expires === '' ? null : new Date(Date.now() + Number(expires) * 86_400_000).toISOString(),
    }
    setCreated(await withStepUp((stepUpToken) => api.call('POST /api-keys', { body, stepUpToken })))
    await refresh('GET /api-keys')
  })
  if (created) return <CreatedKeyDialog created={created} onClose={onClose} />
  const problem =
    (name.trim() === '' && t`Enter a name.`) ||
    (access === undefined && t`Choose the access of the key.`) ||
    // The API gives a key without scopes all permissions.
    (access === 'selected' && scopes.length === 0 && t`Select at least one scope.`)
  return (
    <FormDialog
      wide
      onClose={onClose}
      title={t`Create API key`}
      description={t`The key acts on your behalf in this organization.`}
      form={form}
      action={t`Create key`}
      disabledReason={problem}
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
        {(workspaces.data ?? []).map((workspace) => (
          <option key={workspace.id} value={workspace.id}>
            {workspace.name}
          </option>
        ))}
      </SelectField>
      <ScopeFields
        access={access}
        levels={levels}
        permissions={me.permissions}
        onAccess={setAccess}
        onLevels={setLevels}
      />
    </FormDialog>
  )
}
