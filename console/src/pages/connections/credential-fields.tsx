import type { ConnectorEntry } from 'atrium-sdk'
import { TextField } from '../../ui/forms/field.tsx'

export type Credentials = Record<string, string>

export const missingField = ({ credentialFields = [] }: ConnectorEntry, given: Credentials): string | undefined => {
  const missing = credentialFields.find(({ key, required }) => required && (given[key] ?? '').trim() === '')
  return missing && `${missing.label} is needed.`
}

/** What is sent: nothing for what was left empty. */
export const givenOf = (given: Credentials): Credentials =>
  Object.fromEntries(
    Object.entries(given).flatMap(([key, value]) => (value.trim() === '' ? [] : [[key, value.trim()]])),
  )

export const CredentialFields = ({
  connector,
  given,
  onChange,
}: {
  connector: ConnectorEntry
  given: Credentials
  onChange: (given: Credentials) => void
}) =>
  (connector.credentialFields ?? []).map(({ key, label, required, secret, help }) => (
    <TextField
      key={key}
      label={label}
      optional={!required}
      type={secret ? 'password' : 'text'}
      autoComplete="off"
      spellCheck={false}
      hint={help}
      value={given[key] ?? ''}
      onChange={({ target }) => onChange({ ...given, [key]: target.value })}
    />
  ))
