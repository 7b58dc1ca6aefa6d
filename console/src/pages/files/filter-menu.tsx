import { t } from '@lingui/core/macro'
import { Filter as FilterIcon } from 'lucide-react'
import { useState } from 'react'
import { textOf } from '../../i18n/text.ts'
import { IconButton } from '../../ui/forms/button.tsx'
import { TextField } from '../../ui/forms/field.tsx'
import { FormDialog } from '../../ui/forms/form-dialog.tsx'
import { Menu } from '../../ui/forms/menu.tsx'
import type { MenuEntries } from '../../ui/forms/menu.tsx'
import { isFiltered, noFilter, periodNames, typeGroupNames } from './filtering.ts'
import type { Filter, PeriodName, TypeGroup } from './filtering.ts'

const tagLabel = (tag: string): string => t`Tag: ${tag}`

const mostTags = 6

const entriesFor = (
  filter: Filter,
  onFilter: (filter: Filter) => void,
  { tags, onOtherTag }: { tags: readonly string[]; onOtherTag: () => void },
): MenuEntries => [
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
  'separator',
  ...[...new Set([...(filter.tag === undefined ? [] : [filter.tag]), ...tags])].slice(0, mostTags).map((tag) => ({
    label: tagLabel(tag),
    checked: filter.tag === tag,
    onSelect: () => onFilter({ ...filter, tag: filter.tag === tag ? undefined : tag }),
  })),
  { label: t`Another tag…`, checked: false, onSelect: onOtherTag },
  'separator',
  {
    label: t`Clear filters`,
    disabledReason: !isFiltered(filter) && t`No filter is set.`,
    onSelect: () => onFilter(noFilter),
  },
]

interface FilterMenuProps {
  filter: Filter
  onFilter: (filter: Filter) => void
  /** Tags of the listed files, which the menu offers. */
  tags: readonly string[]
}

const TagDialog = ({ onTag, onClose }: { onTag: (tag: string) => void; onClose: () => void }) => {
  const [tag, setTag] = useState('')
  const submit = (): void => {
    onTag(tag.trim())
    onClose()
  }
  return (
    <FormDialog
      onClose={onClose}
      title={t`Filter by tag`}
      form={{ submit }}
      action={t`Apply filter`}
      disabledReason={tag.trim() === '' && t`Enter a tag.`}
    >
      <TextField
        label={t`Tag`}
        hint={t`Letter case matters.`}
        maxLength={64}
        value={tag}
        onChange={({ target }) => setTag(target.value)}
      />
    </FormDialog>
  )
}

/** Filters of the list. They include the folders below, like the search. */
export const FilterMenu = ({ filter, onFilter, tags }: FilterMenuProps) => {
  const [isAsking, setAsking] = useState(false)
  return (
    <>
      <Menu
        trigger={
          <IconButton
            variant={isFiltered(filter) ? 'primary' : 'secondary'}
            label={isFiltered(filter) ? t`Filter files (active)` : t`Filter files`}
            icon={<FilterIcon />}
          />
        }
        entries={entriesFor(filter, onFilter, { tags, onOtherTag: () => setAsking(true) })}
      />
      {isAsking && <TagDialog onClose={() => setAsking(false)} onTag={(tag) => onFilter({ ...filter, tag })} />}
    </>
  )
}
