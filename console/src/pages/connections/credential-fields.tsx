import { t } from '@lingui/core/macro'
import type { ConnectorEntry } from '@atrium/client'
import { apiText } from '../../i18n/language.ts'
import { api } from '../../api.ts'
import { TextField } from '../../ui/forms/field.tsx'

export type Credentials = Record<string, string>

export const missingField = (
  { credentialFields = [] }: ConnectorEntry,
  credentials: Credentials,
): string | undefined => {
  const missing = credentialFields.find(({ key, required }) => required && (credentials[key] ?? '').trim() === '')
  return missing && t`${apiText(missing.label)} is required.`
}

/** The request body, without empty fields. */
const credentialsOf = (credentials: Credentials): Credentials =>
  Object.fromEntries(
    Object.entries(credentials).flatMap(([key, value]) => (value.trim() === '' ? [] : [[key, value.trim()]])),
  )

/** Returns the page of an MCP server that asks for sign-in. */
export const submitCredentials = async (id: string, credentials: Credentials): Promise<string | undefined> => {
  const body = { credentials: credentialsOf(credentials) }
  const { oauthUrl } = await api.call('POST /connections/:id/credentials', { params: { id }, body })
  return oauthUrl ?? undefined
}

export const CredentialFields = ({
  connector,
  credentials,
  onChange,
}: {
  connector: ConnectorEntry
  credentials: Credentials
  onChange: (credentials: Credentials) => void
}) =>
  (connector.credentialFields ?? []).map(({ key, label, required, secret, help }) => (
    <TextField
      key={key}
      label={apiText(label)}
      optional={!required}
      type={secret ? 'password' : 'text'}
      autoComplete="off"
      spellCheck={false}
      hint={help && apiText(help)}
      value={credentials[key] ?? ''}
      onChange={({ target }) => onChange({ ...credentials, [key]: target.value })}
    />
  ))
