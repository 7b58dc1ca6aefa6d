import { textOf } from '../../../i18n/text.ts'
import type { Text } from '../../../i18n/text.ts'
import { msg, t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { useEffect, useRef } from 'react'
import { Button } from '../../../ui/forms/button.tsx'
import { CheckField, FieldGroup, FieldRow, RadioField, TextArea, TextField } from '../../../ui/forms/field.tsx'
import { fieldErrorsOf, filterProblem } from './draft.ts'
import type { EndpointDraft } from './draft.ts'
import styles from './endpoints.module.css'
import { TransformField } from './transform-field.tsx'
import { TypePicker } from './type-picker.tsx'
import { WorkspacePicker } from './workspace-picker.tsx'

export const orderings: Record<EndpointDraft['ordering'], { label: Text; hint: Text }> = {
  none: {
    label: msg`Send at once`,
    hint: msg`Events are sent as they happen, several at the same time, and a retry can arrive after later events.`,
  },
  subject: {
    label: msg`Keep the order of each resource`,
    hint: msg`An event is sent after the earlier events of its resource, which therefore lag behind while one of them is retried.`,
  },
}

const exampleFilter = JSON.stringify(
  {
    any: [{ path: 'actor.type', equals: 'user' }, { not: { path: 'data.name', prefix: 'test-' } }],
  },
  undefined,
  2,
)

const FilterField = ({
  value,
  onChange,
  error,
}: {
  value: string
  onChange: (filter: string) => void
  error: string | undefined
}) => (
  <div className={styles['filter']}>
    <TextArea
      label={t`Filter`}
      optional
      className={styles['json']}
      spellCheck={false}
      value={value}
      error={error ?? filterProblem(value)}
      hint={t`A condition in JSON over data, type, subject and actor of an event. Only events that pass it are sent.`}
      onChange={({ target }) => onChange(target.value)}
    />
    {value.trim() === '' && (
      <Button small onClick={() => onChange(exampleFilter)}>
        <Trans>Insert example</Trans>
      </Button>
    )}
  </div>
)

/** `error`: that of the last request, shown at the field that it is about. */
export const EndpointFields = ({
  draft,
  change,
  error,
}: {
  draft: EndpointDraft
  change: (patch: Partial<EndpointDraft>) => void
  error: unknown
}) => {
  const errors = fieldErrorsOf(error)
  const form = useRef<HTMLDivElement>(null)
  // The field can be outside the visible part of the form.
  useEffect(() => {
    if (error !== undefined) form.current?.querySelector('[role=alert]')?.scrollIntoView({ block: 'center' })
  }, [error])
  return (
    <div ref={form} className={styles['fields']}>
      <FieldRow>
        <TextField
          label={t`Name`}
          required
          value={draft.name}
          placeholder={t`Data warehouse`}
          error={errors.name}
          onChange={({ target }) => change({ name: target.value })}
        />
        <TextField
          label="URL"
          required
          type="url"
          value={draft.url}
          placeholder="https://example.com/events"
          error={errors.url}
          onChange={({ target }) => change({ url: target.value })}
        />
      </FieldRow>
      <TypePicker value={draft.types} error={errors.types} onChange={(types) => change({ types })} />
      <WorkspacePicker
        value={draft.workspaceIds}
        error={errors.workspaceIds}
        onChange={(workspaceIds) => change({ workspaceIds })}
      />
      <FilterField value={draft.filter} error={errors.filter} onChange={(filter) => change({ filter })} />
      <FieldGroup label={t`Order`} error={errors.ordering}>
        {(Object.keys(orderings) as EndpointDraft['ordering'][]).map((ordering) => (
          <RadioField
            key={ordering}
            name="ordering"
            label={textOf(orderings[ordering].label)}
            hint={textOf(orderings[ordering].hint)}
            checked={draft.ordering === ordering}
            onChange={() => change({ ordering })}
          />
        ))}
      </FieldGroup>
      <CheckField
        label={t`Include contents`}
        hint={t`Whole messages, and the events that webhooks received, as the field expanded.`}
        checked={draft.expand}
        onChange={({ target }) => change({ expand: target.checked })}
      />
      <TransformField
        value={draft.transform}
        types={draft.types}
        error={errors.transform}
        onChange={(transform) => change({ transform })}
      />
    </div>
  )
}
