import { msg, t } from '@lingui/core/macro'
import { textOf } from '../../i18n/text.ts'
import { FieldGroup, RadioField } from '../../ui/forms/field.tsx'
import { Segmented } from '../../ui/forms/segmented.tsx'
import type { Segment } from '../../ui/forms/segmented.tsx'
import styles from './api-keys.module.css'
import { scopeAreas, summaryOf } from './scopes.ts'
import type { Level, Levels, ScopeArea } from './scopes.ts'

/** Undefined: not chosen yet. */
export type Access = 'full' | 'selected' | undefined

const AreaField = ({
  area: { name, about, read, write, writeName = msg`Write` },
  level,
  permissions,
  onChange,
}: {
  area: ScopeArea
  level: Level
  permissions: readonly string[]
  onChange: (level: Level) => void
}) => {
  const missing = [read, write].filter((scope) => scope !== undefined && !permissions.includes(scope))
  const segments: Segment<Level>[] = [
    { value: 'none', label: t`None` },
    ...(read === undefined ? [] : [{ value: 'read' as const, label: t`Read`, disabled: missing.includes(read) }]),
    // Write includes Read, so it needs both.
    ...(write === undefined
      ? []
      : [{ value: 'write' as const, label: textOf(writeName), disabled: missing.length > 0 }]),
  ]
  const scopes = missing.join(', ')
  return (
    <Segmented
      label={textOf(name)}
      hint={missing.length === 0 ? textOf(about) : t`Your role does not have ${scopes}.`}
      segments={segments}
      value={level}
      onChange={onChange}
    />
  )
}

/** Full access, or a level for each area. Levels that need a permission which the person lacks are disabled. */
export const ScopeFields = ({
  access,
  levels,
  permissions,
  onAccess,
  onLevels,
}: {
  access: Access
  levels: Levels
  permissions: readonly string[]
  onAccess: (access: Access) => void
  onLevels: (levels: Levels) => void
}) => (
  <>
    <FieldGroup label={t`Access`}>
      <RadioField
        name="access"
        label={t`Full access`}
        hint={t`Everything that your role permits, now and later.`}
        checked={access === 'full'}
        onChange={() => onAccess('full')}
      />
      <RadioField
        name="access"
        label={t`Selected scopes`}
        hint={t`Only what you select below, and never more than your role permits.`}
        checked={access === 'selected'}
        onChange={() => onAccess('selected')}
      />
    </FieldGroup>
    {access === 'selected' && (
      <div role="group" aria-label={t`Scopes`} className={styles['areas']}>
        {scopeAreas.map((area) => (
          <AreaField
            key={area.area}
            area={area}
            level={levels[area.area] ?? 'none'}
            permissions={permissions}
            onChange={(level) => onLevels({ ...levels, [area.area]: level })}
          />
        ))}
      </div>
    )}
  </>
)

const accessNames = {
  both: msg`Read and write`,
  write: msg`Write`,
  read: msg`Read`,
  unknown: msg`Other scopes`,
}

/** What the scopes of a key allow, in words. */
export const ScopeSummary = ({ scopes }: { scopes: readonly string[] }) =>
  scopes.length === 0 ? (
    <strong className={styles['full']}>{t`Full access`}</strong>
  ) : (
    <ul className={styles['summary']}>
      {summaryOf(scopes).map(({ access, names }) => (
        <li key={access}>
          <span>{textOf(accessNames[access])}:</span> {names.map((name) => textOf(name)).join(', ')}
        </li>
      ))}
    </ul>
  )
