import { t } from '@lingui/core/macro'
import { apiText } from '../../../i18n/language.ts'
import { useIdentity } from '../../../session.tsx'
import { CheckField, FieldGroup } from '../../../ui/forms/field.tsx'
import { QueryBoundary } from '../../../ui/query-boundary.tsx'
import { areasOf, isReadable, useEventTypes } from '../areas.ts'
import type { Area } from '../areas.ts'
import { TypeName } from '../../../ui/text/type-name.tsx'
import styles from './endpoints.module.css'
import { groupOf, isSelected, toggleGroup, toggleType, unlisted } from './type-patterns.ts'

type Change = (types: string[]) => void

const countOf = ({ types }: Area, value: readonly string[]): string => {
  const count = types.filter(({ type }) => isSelected(value, type)).length
  if (count === 0) return ''
  return count === types.length ? t`All selected` : t`${count} of ${types.length} selected`
}

/** The types of an area by the resource that they are about, each with `resource.*` before them. */
const AreaTypes = ({ area, value, onChange }: { area: Area; value: readonly string[]; onChange: Change }) => {
  const all = area.types.map(({ type }) => type)
  return (
    <details className={styles['area']}>
      <summary>
        {area.name} <span className={styles['faint']}>{countOf(area, value)}</span>
      </summary>
      {[...Map.groupBy(area.types, ({ type }) => groupOf(type))].map(([group, own]) => (
        <div key={group} className={styles['types']}>
          <CheckField
            label={<code>{group}</code>}
            hint={t`All of these, also types that are added later`}
            checked={value.includes(group)}
            onChange={() => onChange(toggleGroup(value, group))}
          />
          {own.map(({ type, description }) => (
            <CheckField
              key={type}
              className={styles['single']}
              label={
                <code>
                  <TypeName type={type} />
                </code>
              }
              hint={apiText(description)}
              checked={isSelected(value, type)}
              onChange={() => onChange(toggleType(value, type, all))}
            />
          ))}
        </div>
      ))}
    </details>
  )
}

/** Selects types of events: all, `agent.*` for those of a resource, or single ones. */
export const TypePicker = ({
  value,
  onChange,
  error,
}: {
  value: readonly string[]
  onChange: Change
  error: string | undefined
}) => {
  const { can } = useIdentity()
  const types = useEventTypes()
  const isAll = value.includes('*')
  return (
    <FieldGroup label={t`Event types`} error={error}>
      <CheckField
        label={t`All events`}
        hint={t`Also types that are added later`}
        checked={isAll}
        onChange={() => onChange(isAll ? [] : ['*'])}
      />
      {!isAll && (
        <QueryBoundary query={types} compact>
          {({ items }) => {
            const readable = items.filter((one) => isReadable(one, can))
            const others = unlisted(
              value,
              readable.map(({ type }) => type),
            )
            return (
              <div className={styles['areas']}>
                {areasOf(readable).map((area) => (
                  <AreaTypes key={area.name} area={area} value={value} onChange={onChange} />
                ))}
                {others.map((pattern) => (
                  <CheckField
                    key={pattern}
                    className={styles['other']}
                    label={<code>{pattern}</code>}
                    checked
                    onChange={() => onChange(value.filter((one) => one !== pattern))}
                  />
                ))}
              </div>
            )
          }}
        </QueryBoundary>
      )}
    </FieldGroup>
  )
}
