import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { Download } from 'lucide-react'
import { useId, useState } from 'react'
import { useSearchParams } from 'react-router'
import { api, readAll } from '../../api.ts'
import { PersonName } from '../../person-name.tsx'
import { currentParams, withParams } from '../../search-params.ts'
import { Button } from '../../ui/forms/button.tsx'
import { SelectField, TextField } from '../../ui/forms/field.tsx'
import { FilterBar } from '../../ui/forms/filter-bar.tsx'
import { Menu } from '../../ui/forms/menu.tsx'
import { formatWord } from '../../words.ts'
import { auditActions, auditResourceTypes } from './audit-actions.ts'

/** The start of a local calendar day as ISO 8601 in UTC, `after` days later. */
const dayStart = (day: string, after = 0): string | undefined => {
  const date = new Date(`${day}T00:00:00`)
  if (Number.isNaN(date.getTime())) return undefined
  date.setDate(date.getDate() + after)
  return date.toISOString()
}

const uuid = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i

/** The filters in the URL as a query of the API. Values that it would reject are left out. */
export const auditQueryOf = (params: URLSearchParams) => {
  const [actorId, action, resourceType, resourceId, from, to] = [
    'actor',
    'action',
    'type',
    'resource',
    'from',
    'to',
  ].map((name) => params.get(name) ?? '')
  const since = from && dayStart(from)
  const until = to && dayStart(to, 1)
  return {
    ...(actorId && uuid.test(actorId) && { actorId }),
    ...(action && { action: action.slice(0, 100) }),
    ...(resourceType && { resourceType: resourceType.slice(0, 100) }),
    ...(resourceId && { resourceId: resourceId.slice(0, 255) }),
    ...(since && { since }),
    ...(until && { until }),
  }
}

/** A field whose text applies when it is complete: with Enter, with a suggestion, or when the field loses the focus. */
const CommittedField = ({
  label,
  value,
  placeholder,
  suggestions = [],
  onCommit,
}: {
  label: string
  value: string
  placeholder?: string
  suggestions?: readonly string[]
  onCommit: (text: string) => void
}) => {
  const listId = useId()
  const [text, setText] = useState(value)
  const [known, setKnown] = useState(value)
  // Back, and links in the list, change the URL.
  if (known !== value) {
    setKnown(value)
    setText(value)
  }
  const commit = (next: string): void => {
    if (next.trim() !== value) onCommit(next.trim())
  }
  return (
    <>
      <TextField
        label={label}
        placeholder={placeholder}
        list={suggestions.length > 0 ? listId : undefined}
        autoComplete="off"
        maxLength={255}
        value={text}
        onChange={({ target }) => {
          setText(target.value)
          if (suggestions.includes(target.value)) commit(target.value)
        }}
        onBlur={() => commit(text)}
        onKeyDown={({ key }) => key === 'Enter' && commit(text)}
      />
      {suggestions.length > 0 && (
        <datalist id={listId}>
          {suggestions.map((one) => (
            <option key={one} value={one}>
              {one}
            </option>
          ))}
        </datalist>
      )}
    </>
  )
}

const ActorField = ({ value, onCommit }: { value: string; onCommit: (userId: string) => void }) => {
  const members = useQuery(readAll('GET /members'))
  const items = members.data ?? []
  return (
    <SelectField label={t`Actor`} value={value} onChange={({ target }) => onCommit(target.value)}>
      <option value="">
        <Trans>Everyone</Trans>
      </option>
      {value !== '' && !items.some(({ userId }) => userId === value) && (
        <option value={value}>
          <PersonName userId={value} />
        </option>
      )}
      {items.map(({ userId, name }) => (
        <option key={userId} value={userId}>
          {name}
        </option>
      ))}
    </SelectField>
  )
}

const Export = ({ params }: { params: URLSearchParams }) => {
  const save = (format: 'csv' | 'jsonl'): void => {
    const link = document.createElement('a')
    link.href = api.url('/audit-log/export', { ...auditQueryOf(params), format })
    link.download = `audit-log.${format}`
    link.click()
  }
  return (
    <Menu
      trigger={
        <Button icon={<Download />}>
          <Trans>Export</Trans>
        </Button>
      }
      entries={[
        { label: t`CSV`, onSelect: () => save('csv') },
        { label: t`JSON, one entry per line`, onSelect: () => save('jsonl') },
      ]}
    />
  )
}

/** Filters of the audit log, kept in the URL, and the export of what matches them. */
export const AuditFilters = () => {
  const [params, setParams] = useSearchParams()
  const field = (name: string) => ({
    value: params.get(name) ?? '',
    onCommit: (value: string) => setParams(withParams(currentParams(), { [name]: value })),
  })
  const native = (name: string) => {
    const { value, onCommit } = field(name)
    return { value, onChange: ({ target }: { target: { value: string } }) => onCommit(target.value) }
  }
  const type = params.get('type') ?? ''
  return (
    <FilterBar even actions={<Export params={params} />}>
      <ActorField {...field('actor')} />
      <CommittedField label={t`Action`} placeholder="api-key.created" suggestions={auditActions} {...field('action')} />
      <SelectField label={t`Resource type`} {...native('type')}>
        <option value="">
          <Trans>All types</Trans>
        </option>
        {(type === '' || auditResourceTypes.includes(type) ? auditResourceTypes : [type, ...auditResourceTypes]).map(
          (one) => (
            <option key={one} value={one}>
              {formatWord(one.replaceAll('-', '_'))}
            </option>
          ),
        )}
      </SelectField>
      <CommittedField label={t`Resource ID`} {...field('resource')} />
      <TextField label={t`From`} type="date" {...native('from')} />
      <TextField label={t`To`} type="date" {...native('to')} />
      {params.size > 0 && (
        <Button variant="quiet" onClick={() => setParams({})}>
          <Trans>Clear filters</Trans>
        </Button>
      )}
    </FilterBar>
  )
}
