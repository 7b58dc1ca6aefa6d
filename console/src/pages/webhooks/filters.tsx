import { msg, t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Search } from 'lucide-react'
import { useSearchParams } from 'react-router'
import { textOf } from '../../i18n/text.ts'
import type { Text } from '../../i18n/text.ts'
import { currentParams, useSearchText, withParams } from '../../search-params.ts'
import { EmptyState } from '../../ui/empty-state.tsx'
import { FilterBar } from '../../ui/forms/filter-bar.tsx'
import { Button } from '../../ui/forms/button.tsx'
import { SelectField, TextField } from '../../ui/forms/field.tsx'

const hour = 3_600_000
const times: Record<string, { ms: number; word: Text }> = {
  '1h': { ms: hour, word: msg`Last hour` },
  '24h': { ms: 24 * hour, word: msg`Last 24 hours` },
  '7d': { ms: 7 * 24 * hour, word: msg`Last 7 days` },
}

/** The filters of a list in the URL; `statuses` are those that the list knows. */
export const useFilters = <Status extends string>(statuses: Record<Status, Text>) => {
  const [params] = useSearchParams()
  const given = params.get('status') ?? ''
  const status = Object.hasOwn(statuses, given) ? (given as Status) : undefined
  const type = params.get('type')?.trim() ?? ''
  const time = Object.hasOwn(times, params.get('time') ?? '') ? (params.get('time') ?? '') : ''
  return {
    /** Identifies the list in the cache. */
    key: { type, status, time },
    isFiltered: type !== '' || status !== undefined || time !== '',
    /** The parameters of a request that is made now. What is typed is the beginning of a type. */
    query: () => ({
      ...(type !== '' && { type: `${type.replace(/\*+$/, '')}*` }),
      ...(status !== undefined && { status }),
      ...(times[time] && { since: new Date(Date.now() - times[time].ms).toISOString() }),
    }),
  }
}

export const FilterFields = ({ statuses }: { statuses: Record<string, Text> }) => {
  const [params, setParams] = useSearchParams()
  const names = ['type', 'status', 'time']
  const isFiltered = names.some((name) => (params.get(name) ?? '') !== '')
  const change = (name: string, value: string): void =>
    setParams(withParams(currentParams(), { [name]: value }), { replace: true })
  const [type, setType] = useSearchText(params.get('type') ?? '', (text) => change('type', text))
  return (
    <FilterBar>
      <TextField
        label={t`Event type`}
        hideLabel
        placeholder={t`Event type, such as order.`}
        autoComplete="off"
        spellCheck={false}
        maxLength={250}
        value={type}
        onChange={({ target }) => setType(target.value)}
      />
      <SelectField
        label={t`Status`}
        hideLabel
        value={params.get('status') ?? ''}
        onChange={({ target }) => change('status', target.value)}
      >
        <option value="">
          <Trans>Any status</Trans>
        </option>
        {Object.entries(statuses).map(([value, word]) => (
          <option key={value} value={value}>
            {textOf(word)}
          </option>
        ))}
      </SelectField>
      <SelectField
        label={t`Time`}
        hideLabel
        value={params.get('time') ?? ''}
        onChange={({ target }) => change('time', target.value)}
      >
        <option value="">
          <Trans>Any time</Trans>
        </option>
        {Object.entries(times).map(([value, { word }]) => (
          <option key={value} value={value}>
            {textOf(word)}
          </option>
        ))}
      </SelectField>
      {isFiltered && (
        <Button
          variant="quiet"
          onClick={() => setParams(withParams(currentParams(), { type: '', status: '', time: '' }), { replace: true })}
        >
          <Trans>Clear filters</Trans>
        </Button>
      )}
    </FilterBar>
  )
}

/** In place of a list in which nothing matches. A response covers up to 2,000 items, so older ones can. */
export const NoMatches = ({
  list: { hasNextPage, fetchNextPage, isFetchingNextPage },
}: {
  list: { hasNextPage: boolean; fetchNextPage: () => unknown; isFetchingNextPage: boolean }
}) => (
  <EmptyState
    compact
    icon={<Search />}
    title={hasNextPage ? t`Nothing recent matches the filters` : t`Nothing matches the filters`}
    action={
      hasNextPage && (
        <Button busy={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          <Trans>Search older ones</Trans>
        </Button>
      )
    }
  />
)
