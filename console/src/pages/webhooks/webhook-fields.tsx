import { textOf } from '../../i18n/text.ts'
import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { FieldRow, SelectField, TextField } from '../../ui/forms/field.tsx'
import { sources } from './sources.ts'

export interface WebhookDraft {
  name: string
  source: string
  description: string
  url: string
  events: string
}

export const emptyWebhook: WebhookDraft = { name: '', source: 'custom', description: '', url: '', events: '' }

export const bodyOf = ({ name, source, description, url, events }: WebhookDraft) => ({
  name: name.trim(),
  source,
  description: description.trim() === '' ? null : description.trim(),
  url: url.trim() === '' ? null : url.trim(),
  events: events
    .split(/[\s,]+/)
    .map((type) => type.trim())
    .filter((type) => type !== ''),
})

export const problemOf = ({ name, url }: WebhookDraft): string | false => {
  if (name.trim() === '') return t`Enter a name.`
  if ([...name.trim()].length > 120) return t`The name must be at most 120 characters.`
  return (
    url.trim() !== '' &&
    !/^https?:\/\//i.test(url.trim()) &&
    t`The destination URL must start with https:// or http://.`
  )
}

export const WebhookFields = ({
  draft,
  change,
}: {
  draft: WebhookDraft
  change: (patch: Partial<WebhookDraft>) => void
}) => {
  const isKnown = sources.some(({ slug }) => slug === draft.source)
  return (
    <>
      <FieldRow>
        <TextField
          label={t`Name`}
          field="name"
          required
          value={draft.name}
          placeholder={t`Payments`}
          onChange={({ target }) => change({ name: target.value })}
        />
        <SelectField
          label={t`Source`}
          field="source"
          hint={t`Determines how signatures are verified.`}
          value={draft.source}
          onChange={({ target }) => change({ source: target.value })}
        >
          {sources.map(({ slug, name }) => (
            <option key={slug} value={slug}>
              {textOf(name)}
            </option>
          ))}
          {!isKnown && (
            <option value={draft.source}>
              <Trans>{draft.source} (Standard Webhooks)</Trans>
            </option>
          )}
        </SelectField>
      </FieldRow>
      <TextField
        label={t`Destination URL`}
        field="url"
        optional
        type="url"
        value={draft.url}
        placeholder="https://example.com/hooks"
        hint={t`Events are forwarded to this public URL, signed, with retries. Leave empty to only record events.`}
        onChange={({ target }) => change({ url: target.value })}
      />
      <TextField
        label={t`Event types`}
        field="events"
        optional
        value={draft.events}
        placeholder="invoice.paid, customer.*"
        hint={t`Only these types are forwarded; others are recorded as filtered. Leave empty for all types.`}
        onChange={({ target }) => change({ events: target.value })}
      />
      <TextField
        label={t`Description`}
        field="description"
        optional
        maxLength={2_000}
        value={draft.description}
        onChange={({ target }) => change({ description: target.value })}
      />
    </>
  )
}
