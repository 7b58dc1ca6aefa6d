import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import type { TransformPreview } from '@atrium/client'
import { useState } from 'react'
import { api } from '../../../api.ts'
import { useIdentity } from '../../../session.tsx'
import { JsonView } from '../../../ui/data/json-view.tsx'
import { Button } from '../../../ui/forms/button.tsx'
import { SelectField, TextArea } from '../../../ui/forms/field.tsx'
import { useSubmit } from '../../../ui/forms/use-submit.ts'
import { Notice } from '../../../ui/notice.tsx'
import { useEventTypes } from '../areas.ts'
import styles from './endpoints.module.css'
import { isSelected } from './type-patterns.ts'

const example = `{
  "text": actor.name & " caused " & type,
  "time": timestamp,
  "data": data
}`

/** Evaluates the transform for the example of an event type. */
const Preview = ({ transform, types }: { transform: string; types: readonly string[] }) => {
  const { can } = useIdentity()
  const known = (useEventTypes().data?.items ?? []).filter(
    ({ permission, type }) => can(permission) && isSelected([...types], type),
  )
  const [chosen, setChosen] = useState<string>()
  const type = known.find((one) => one.type === chosen)?.type ?? known[0]?.type
  const [shown, setShown] = useState<TransformPreview>()
  const [asked, setAsked] = useState<string>()
  const question = JSON.stringify([transform, type])
  const { busy, error, submit } = useSubmit(async () => {
    if (type === undefined) return
    setShown(undefined)
    setAsked(question)
    setShown(await api.call('POST /event-endpoints/transform-preview', { body: { transform, type } }))
  })
  return (
    <div className={styles['stack']}>
      <div className={styles['preview']}>
        <SelectField
          label={t`Preview with the example of`}
          value={type ?? ''}
          onChange={({ target }) => setChosen(target.value)}
        >
          {known.map((one) => (
            <option key={one.type} value={one.type}>
              {one.type}
            </option>
          ))}
        </SelectField>
        <Button small busy={busy} disabledReason={type === undefined && t`Select an event type.`} onClick={submit}>
          <Trans>Preview</Trans>
        </Button>
      </div>
      {asked === question && <Notice error={error} />}
      {asked === question && shown && <JsonView value={shown.result} label={t`Result of the transform`} />}
    </div>
  )
}

export const TransformField = ({
  value,
  types,
  onChange,
  error,
}: {
  value: string
  types: readonly string[]
  onChange: (transform: string) => void
  error: string | undefined
}) => (
  <div className={styles['filter']}>
    <TextArea
      label={t`Transform`}
      optional
      className={styles['json']}
      spellCheck={false}
      value={value}
      error={error}
      hint={t`A JSONata expression. Its result, an object, is sent instead of the event.`}
      onChange={({ target }) => onChange(target.value)}
    />
    {value.trim() === '' ? (
      <Button small onClick={() => onChange(example)}>
        <Trans>Start from an example</Trans>
      </Button>
    ) : (
      <Preview transform={value} types={types} />
    )}
  </div>
)
