import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import type { Turn } from '@atrium/client'
import { CheckField, FieldGroup, SelectField, TextField } from '../../ui/forms/field.tsx'

type Form = NonNullable<Turn['approvals'][number]['form']>
type FormField = Form['fields'][number]
type Value = string | number | boolean | string[]

/** What the person has entered, by field. Empty texts count as no value. */
export type Entered = Readonly<Record<string, Value | undefined>>

/** What the person has entered, with the defaults of the server before that. */
const valueOf = ({ key, default: initial }: FormField, entered: Entered): Value | undefined =>
  Object.hasOwn(entered, key) ? entered[key] : ((initial ?? undefined) as Value | undefined)

/** The answer to send, and the first field without a required value. */
export const answerOf = (
  { fields }: Form,
  entered: Entered,
): { answer: Record<string, Value>; problem: string | false } => {
  const values = fields.map((field) => [field, valueOf(field, entered)] as const)
  const given = values.filter(([{ kind }, value]) => kind === 'boolean' || (value !== undefined && value !== ''))
  const answer = Object.fromEntries(given.map(([{ key }, value]) => [key, value ?? false]))
  const missing = fields.find(({ key, required }) => required && !Object.hasOwn(answer, key))
  return { answer, problem: missing === undefined ? false : t`${missing.label} is required.` }
}

const inputTypes = { email: 'email', uri: 'url', date: 'date', 'date-time': 'text' } as const

const Field = ({
  field,
  value,
  onChange,
}: {
  field: FormField
  value: Value | undefined
  onChange: (value: Value) => void
}) => {
  const { kind, label, description, required, format, min, max, options } = field
  const common = { label, optional: !required, hint: description ?? undefined }
  if (kind === 'boolean') {
    return (
      <CheckField
        label={label}
        hint={description ?? undefined}
        checked={value === true}
        onChange={({ target }) => onChange(target.checked)}
      />
    )
  }
  if (kind === 'choice') {
    return (
      <SelectField {...common} value={String(value ?? '')} onChange={({ target }) => onChange(target.value)}>
        <option value="">
          <Trans>Select…</Trans>
        </option>
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.label}
          </option>
        ))}
      </SelectField>
    )
  }
  if (kind === 'choices') {
    const chosen = Array.isArray(value) ? value : []
    return (
      <FieldGroup label={label} hint={description ?? undefined}>
        {options.map((option) => (
          <CheckField
            key={option.value}
            label={option.label}
            checked={chosen.includes(option.value)}
            onChange={({ target }) =>
              onChange(target.checked ? [...chosen, option.value] : chosen.filter((one) => one !== option.value))
            }
          />
        ))}
      </FieldGroup>
    )
  }
  if (kind === 'text') {
    return (
      <TextField
        {...common}
        type={format === null ? 'text' : inputTypes[format]}
        maxLength={max ?? 10_000}
        value={String(value ?? '')}
        onChange={({ target }) => onChange(target.value)}
      />
    )
  }
  return (
    <TextField
      {...common}
      type="number"
      step={kind === 'integer' ? 1 : 'any'}
      min={min ?? undefined}
      max={max ?? undefined}
      value={value === undefined ? '' : String(value)}
      onChange={({ target }) => onChange(target.value === '' ? '' : target.valueAsNumber)}
    />
  )
}

/** The question of a tool during its call, and a field for each value that it asks for. */
export const QuestionForm = ({
  form,
  entered,
  onChange,
}: {
  form: Form
  entered: Entered
  onChange: (entered: Entered) => void
}) => (
  <>
    <p>
      <strong>
        <Trans>
          <bdi>{form.server}</bdi> asks:
        </Trans>
      </strong>{' '}
      <bdi>{form.message}</bdi>
    </p>
    {form.fields.map((field) => (
      <Field
        key={field.key}
        field={field}
        value={valueOf(field, entered)}
        onChange={(value) => onChange({ ...entered, [field.key]: value })}
      />
    ))}
    <p>
      <Trans>
        Your answer is sent to <bdi>{form.server}</bdi>. Never enter passwords or other secrets here.
      </Trans>
    </p>
  </>
)
