import { t } from '@lingui/core/macro'
import { Filter as FilterIcon } from 'lucide-react'
import { textOf } from '../../i18n/text.ts'
import { IconButton } from '../../ui/forms/button.tsx'
import { Menu } from '../../ui/forms/menu.tsx'
import type { MenuEntries } from '../../ui/forms/menu.tsx'
import { isFiltered, noFilter, periodNames, typeGroupNames } from './filtering.ts'
import type { Filter, PeriodName, TypeGroup } from './filtering.ts'

const tagLabel = (tag: string): string => t`Tag: ${tag}`

const entriesFor = (filter: Filter, onFilter: (filter: Filter) => void): MenuEntries => [
  ...(Object.keys(typeGroupNames) as TypeGroup[]).map((type) => ({
    label: textOf(typeGroupNames[type]),
    checked: filter.type === type,
    onSelect: () => onFilter({ ...filter, type: filter.type === type ? undefined : type }),
  })),
  'separator',
  {
    label: t`Created by me`,
    checked: filter.isOwn,
    onSelect: () => onFilter({ ...filter, isOwn: !filter.isOwn }),
  },
  ...(Object.keys(periodNames) as PeriodName[]).map((changed) => ({
    label: textOf(periodNames[changed]),
    checked: filter.changed === changed,
    onSelect: () => onFilter({ ...filter, changed: filter.changed === changed ? undefined : changed }),
  })),
  ...(filter.tag === undefined
    ? []
    : [
        {
          label: tagLabel(filter.tag),
          checked: true,
          onSelect: () => onFilter({ ...filter, tag: undefined }),
        },
      ]),
  'separator',
  {
    label: t`Clear filters`,
    disabledReason: !isFiltered(filter) && t`No filter is set.`,
    onSelect: () => onFilter(noFilter),
  },
]

/** Filters of the list. They include the folders below, like the search. */
export const FilterMenu = ({ filter, onFilter }: { filter: Filter; onFilter: (filter: Filter) => void }) => (
  <Menu
    trigger={
      <IconButton
        variant={isFiltered(filter) ? 'primary' : 'secondary'}
        label={isFiltered(filter) ? t`Filter files (active)` : t`Filter files`}
        icon={<FilterIcon />}
      />
    }
    entries={entriesFor(filter, onFilter)}
  />
)
