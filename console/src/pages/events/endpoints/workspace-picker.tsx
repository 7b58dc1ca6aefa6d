import { t } from '@lingui/core/macro'
import { usePages } from '../../../api.ts'
import { LoadMore } from '../../../ui/data/load-more.tsx'
import { CheckField, FieldGroup, RadioField } from '../../../ui/forms/field.tsx'
import { QueryBoundary } from '../../../ui/query-boundary.tsx'
import styles from './endpoints.module.css'

const Selection = ({ value, onChange }: { value: readonly string[]; onChange: (ids: string[]) => void }) => {
  const workspaces = usePages('GET /workspaces')
  const toggle = (id: string): void => onChange(value.includes(id) ? value.filter((one) => one !== id) : [...value, id])
  return (
    <div className={styles['workspaces']}>
      <QueryBoundary query={workspaces.query} compact>
        {(items) =>
          [
            ...items,
            // Deleted ones, those of a later page, and those that this person cannot see.
            ...value.filter((id) => items.every((item) => item.id !== id)).map((id) => ({ id, name: id })),
          ].map(({ id, name }) => (
            <CheckField key={id} label={name} checked={value.includes(id)} onChange={() => toggle(id)} />
          ))
        }
      </QueryBoundary>
      <LoadMore {...workspaces} />
    </div>
  )
}

/** `null`: all workspaces. */
export const WorkspacePicker = ({
  value,
  onChange,
  error,
}: {
  value: readonly string[] | null
  onChange: (ids: string[] | null) => void
  error: string | undefined
}) => (
  <FieldGroup
    label={t`Workspaces`}
    error={error}
    hint={t`Events of the whole organization, such as new members, are sent in both cases.`}
  >
    <RadioField name="workspaces" label={t`All workspaces`} checked={value === null} onChange={() => onChange(null)} />
    <RadioField
      name="workspaces"
      label={t`Selected workspaces`}
      checked={value !== null}
      onChange={() => onChange(value === null ? [] : [...value])}
    />
    {value !== null && <Selection value={value} onChange={onChange} />}
  </FieldGroup>
)
