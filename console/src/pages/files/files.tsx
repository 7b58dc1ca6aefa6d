import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import type { File as FileRecord } from '@atrium/client'
import { useState } from 'react'
import type { KeyboardEvent } from 'react'
import { useNavigate, useParams, useSearchParams } from 'react-router'
import { queryClient, read } from '../../api.ts'
import { currentParams, withParams } from '../../search-params.ts'
import { useIdentity } from '../../session.tsx'
import { useTitle } from '../../title.ts'
import type { MenuAnchor } from '../../ui/forms/menu.tsx'
import { FloatingMenu } from '../../ui/forms/menu.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { toast } from '../../ui/toast.tsx'
import { countOf } from './changes.ts'
import { FileDialogs } from './dialogs.tsx'
import type { FileDialogRequest } from './dialogs.tsx'
import { useDropTarget } from './drop-target.ts'
import { fileMenuFor, writeReason } from './file-menu.tsx'
import { FileList } from './list/file-list.tsx'
import styles from './files.module.css'
import { FolderPane } from './folders/folder-pane.tsx'
import { Preview } from './preview/preview.tsx'
import { pageOf, pageOfRow, pageSize, useFileRows, useFolderPath } from './rows.ts'
import type { FileRows, Listing } from './rows.ts'
import { folderPath, readSorting, sortingParams } from './sorting.ts'
import type { Sorting } from './sorting.ts'
import { filterParams, readFilter } from './filtering.ts'
import type { Filter } from './filtering.ts'
import { useMarks, useSelection } from './selection.ts'
import type { Selection } from './selection.ts'
import { ToolBar } from './tool-bar.tsx'
import { FileGrid } from './list/file-grid.tsx'
import { useFileLayout } from './list/layout-choice.ts'
import { Nothing } from './views/nothing.tsx'
import type { View } from './views/views.ts'

/** Actions on a selection make one request per file, so its size is limited. */
const maxSelection = 1_000

const selectAllOf = async (listing: Listing, selection: Selection): Promise<void> => {
  const files: FileRecord[] = []
  let total = 0
  do {
    const page = await queryClient.fetchQuery(pageOf(listing, pageOfRow(files.length)))
    if (page.items.length === 0) break
    files.push(...page.items)
    total = page.total
  } while (files.length < Math.min(total, maxSelection))
  selection.all(files)
  if (total > files.length) toast.done(t`Selected the first ${files.length} items, the maximum at once`)
}

const useSelectAll = (listing: Listing, selection: Selection) => (): void => {
  selectAllOf(listing, selection).catch((error: unknown) => toast.failed(t`Some files could not be selected`, error))
}

/** How many rows are searched for the previous and next file of the preview. */
const maxStepSearch = 10_000

/** The file before or after the opened one in the list, without folders. */
const neighbourOf = (rows: FileRows, openId: string | null, by: -1 | 1): FileRecord | undefined => {
  const length = Math.min(maxStepSearch, rows.total ?? 0)
  const at = Array.from({ length }, (_, index) => index).find((index) => rows.rowAt(index)?.id === openId)
  let next = at === undefined ? undefined : rows.rowAt(at + by)
  for (let index = (at ?? 0) + by; next?.source === 'folder'; index += by) next = rows.rowAt(index)
  return next
}

/** The state of the page that its URL holds. */
const useUrlState = () => {
  const { folderId } = useParams()
  const [params, setParams] = useSearchParams()
  const navigate = useNavigate()
  const search = params.get('search') ?? ''
  const openId = params.get('open')
  const sorting = readSorting(params)
  const filter = readFilter(params)
  const withOpen = (id: string): string => `?${withParams(params, { open: id })}`
  const openFolder = (id: string | null): void => void navigate(folderPath(id, sorting))
  const hrefOf = (file: FileRecord): string =>
    file.source === 'folder' ? folderPath(file.id, sorting) : withOpen(file.id)
  return {
    folderId,
    search,
    openId,
    sorting,
    filter,
    setFilter: (next: Filter) => setParams(withParams(currentParams(), filterParams(next)), { replace: true }),
    sort: (by: Sorting) => setParams(withParams(currentParams(), sortingParams(by)), { replace: true }),
    hrefOf,
    openFolder,
    showInFolder: ({ parentId }: FileRecord) => openFolder(parentId),
    open: (file: FileRecord, options: { replace?: boolean } = {}) => void navigate(hrefOf(file), options),
    close: () => setParams(withParams(currentParams(), { open: undefined }), { replace: true }),
    // Only the first letter adds a history entry, so that Back leaves the search.
    setSearch: (text: string) => setParams(withParams(currentParams(), { search: text }), { replace: search !== '' }),
  }
}

/** The file of the preview. */
const useOpened = (openId: string | null) =>
  useQuery({ ...read('GET /files/:id', { params: { id: openId ?? '' } }), enabled: openId !== null })

/** The most frequent tags of the first rows. */
const tagsOf = (rows: FileRows): string[] => {
  const counts = new Map<string, number>()
  for (let index = 0; index < Math.min(rows.total ?? 0, pageSize); index += 1)
    for (const tag of rows.rowAt(index)?.tags ?? []) counts.set(tag, (counts.get(tag) ?? 0) + 1)
  return [...counts].toSorted(([, a], [, b]) => b - a).map(([tag]) => tag)
}

const titleOf = (view: View): string => (view === 'recent' ? t`Recent` : view === 'favorites' ? t`Favorites` : t`Files`)

const labelOf = ({ view, search }: Listing, folder: FileRecord | undefined): string => {
  if (search !== '') return t`Search results for “${search}”`
  return view === 'folder' ? t`Files in ${folder?.name ?? t`All files`}` : titleOf(view)
}

const SelectionStatus = ({ files }: { files: readonly FileRecord[] }) => (
  <span className="visually-hidden" role="status">
    {files.length > 0 ? t`${countOf(files)} selected` : ''}
  </span>
)

const DropHint = ({ folder }: { folder: string }) => (
  <div className={styles['drop']}>
    <Trans>Drop to upload to {folder}</Trans>
  </div>
)

const FilesOf = ({ view }: { view: View }) => {
  const { can, me } = useIdentity()
  const urlState = useUrlState()
  const { folderId, search, sorting, filter } = urlState
  const isFolder = view === 'folder'
  const layout = useFileLayout()
  const listing = { view, folderId, search, sorting, filter, userId: me.user.id }
  const parentId = folderId ?? null
  const path = useFolderPath(folderId)
  const folder = path.data?.at(-1)
  useTitle(folder?.name ?? titleOf(view))
  const [marks, mark] = useMarks(JSON.stringify([view, folderId, search, sorting, filter]))
  const rows = useFileRows(listing, marks.pages.values())
  const selection = useSelection(marks, mark, rows)
  const selectAll = useSelectAll(listing, selection)
  const [dialog, setDialog] = useState<FileDialogRequest>()
  const [menu, setMenu] = useState<MenuAnchor>()
  const drop = useDropTarget(parentId)
  const opened = useOpened(urlState.openId)
  const mayWrite = can('files:write')
  const chosen = [...selection.files.values()]
  const { open, showInFolder } = urlState
  const entries = fileMenuFor(chosen, { mayWrite, openDialog: setDialog, open, showInFolder })

  const onKey = (event: KeyboardEvent): void => {
    const { key } = event
    const isProtected = chosen.some((file) => file.isProtected)
    if (key === 'Backspace' && folderId !== undefined) urlState.openFolder(folder?.parentId ?? null)
    else if (!mayWrite || chosen.length === 0 || isProtected) return
    else if (key === 'F2' && chosen[0]) setDialog({ kind: 'rename', file: chosen[0] })
    else if (key === 'Delete') setDialog({ kind: 'delete', files: chosen })
    else return
    event.preventDefault()
  }

  const step = (by: -1 | 1): void => {
    const next = neighbourOf(rows, urlState.openId, by)
    if (next) urlState.open(next, { replace: true })
  }

  const error = path.error ?? rows.error
  const content = () => {
    if (error) return <ErrorState error={error} onRetry={rows.retry} />
    if (rows.total === undefined) return <Skeleton rows={9} />
    if (rows.total === 0) {
      return (
        <Nothing
          {...{ view, search, filter, parentId }}
          onFilter={urlState.setFilter}
          writeReason={writeReason(mayWrite)}
        />
      )
    }
    const Layout = layout === 'grid' ? FileGrid : FileList
    return (
      <Layout
        label={labelOf(listing, folder)}
        rows={rows}
        total={rows.total}
        selection={selection}
        hrefOf={urlState.hrefOf}
        onOpen={urlState.open}
        onMenu={(_file, anchor) => setMenu(anchor)}
        onKey={onKey}
        sorting={sorting}
        onSort={view === 'recent' ? undefined : urlState.sort}
        onSelectAll={selectAll}
      />
    )
  }
  return (
    <div className={styles['page']}>
      <FolderPane
        current={isFolder ? parentId : undefined}
        path={(path.data ?? []).map(({ id }) => id)}
        onOpen={urlState.openFolder}
      />
      <div className={styles['main']} {...(mayWrite && isFolder && drop.props)}>
        <ToolBar
          view={view}
          path={path.data ?? []}
          search={search}
          onSearch={urlState.setSearch}
          filter={filter}
          onFilter={urlState.setFilter}
          tags={tagsOf(rows)}
          total={rows.total}
          parentId={parentId}
          sorting={sorting}
          writeReason={writeReason(mayWrite)}
          chosen={chosen}
          entries={entries}
          onClear={selection.clear}
          onNewFolder={() => setDialog({ kind: 'folder' })}
        />
        <div className={styles['content']}>{content()}</div>
        {drop.over && <DropHint folder={folder?.name ?? t`All files`} />}
      </div>
      <FloatingMenu anchor={menu} entries={entries} onClose={() => setMenu(undefined)} />
      <FileDialogs
        request={dialog}
        folderId={parentId}
        onClose={() => setDialog(undefined)}
        onDeleted={selection.clear}
      />
      {urlState.openId !== null && (
        <Preview
          key={urlState.openId}
          file={opened.data}
          error={opened.error}
          onClose={urlState.close}
          onStep={step}
          openDialog={setDialog}
          mayWrite={mayWrite}
        />
      )}
      <SelectionStatus files={chosen} />
    </div>
  )
}

export const Files = () => <FilesOf view="folder" />
export const Favorites = () => <FilesOf view="favorites" />
export const RecentFiles = () => <FilesOf view="recent" />
