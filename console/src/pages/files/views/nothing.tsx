import { isFiltered, noFilter } from '../filtering.ts'
import type { Filter } from '../filtering.ts'
import { EmptyFolder, NoFilterResults, NoSearchResults } from '../empty-states.tsx'
import { NoFavorites, NoRecentFiles } from './empty-views.tsx'
import type { View } from './views.ts'

interface Props {
  view: View
  search: string
  filter: Filter
  onFilter: (filter: Filter) => void
  parentId: string | null
  writeReason: string | false
}

/** What is shown in place of a list without files. */
export const Nothing = ({ view, search, filter, onFilter, parentId, writeReason }: Props) => {
  if (view === 'recent') return <NoRecentFiles />
  if (isFiltered(filter)) return <NoFilterResults onClear={() => onFilter(noFilter)} />
  if (search !== '') return <NoSearchResults search={search} />
  return view === 'favorites' ? <NoFavorites /> : <EmptyFolder parentId={parentId} reason={writeReason} />
}
