import { useQueries, useQuery, useQueryClient } from '@tanstack/react-query'
import type { Data, File as FileRecord } from '@atrium/client'
import { useCallback, useEffect, useRef, useState } from 'react'
import { read } from '../../api.ts'
import { filterQuery, isFiltered } from './filtering.ts'
import type { Filter } from './filtering.ts'
import type { Sorting } from './sorting.ts'
import type { View } from './views/views.ts'

export const pageSize = 100

/** The page of a row, from 1. */
export const pageOfRow = (index: number): number => Math.floor(index / pageSize) + 1

export interface Listing {
  view: View
  /** Undefined for the root. */
  folderId: string | undefined
  /** Empty: the folder's own content. Otherwise: matching names in the folder and below. */
  search: string
  sorting: Sorting
  filter: Filter
  /** Whose files `isOwn` means. */
  userId: string
}

export const pageOf = (listing: Listing, page: number) => {
  const {
    view,
    folderId,
    search,
    sorting: { field, order },
    filter,
    userId,
  } = listing
  // It has an order of its own.
  if (view === 'recent') return read('GET /files', { query: { limit: pageSize, page, recent: true } })
  return read('GET /files', {
    query: {
      limit: pageSize,
      page,
      sort: field,
      order,
      ...(folderId !== undefined && { parentId: folderId }),
      ...(search !== '' && { search }),
      ...filterQuery(filter, userId),
      ...(view === 'favorites' && { favorite: true }),
      ...((view === 'favorites' || search !== '' || isFiltered(filter)) && { recursive: true }),
    },
  })
}

export interface FileRows {
  /** The number of rows; undefined while it loads. */
  total: number | undefined
  error: Error | null
  /** Undefined while its page loads. */
  rowAt: (index: number) => FileRecord | undefined
  /** A file of the loaded pages, as it is now, and its row. */
  find: (id: string) => { file: FileRecord; index: number } | undefined
  /** Must be called with the visible rows. */
  onRange: (start: number, end: number) => void
  retry: () => void
}

/** Whether a request of a list was about the same folder and search, in any order. */
const isSamePlace = (request: unknown, { view, folderId, search, filter }: Listing): boolean => {
  const { query } = (request ?? {}) as {
    query?: { parentId?: string; search?: string; favorite?: boolean; recent?: boolean }
  }
  const before = query?.recent === true ? 'recent' : query?.favorite === true ? 'favorites' : 'folder'
  return (
    query !== undefined &&
    before === view &&
    query.parentId === folderId &&
    (query.search ?? '') === search &&
    !isFiltered(filter)
  )
}

// Dragging the scroll bar through 100,000 rows passes 1,000 pages; only those visible for 70 ms are loaded.
const settleMs = 70

/**
 * A folder of any size as rows by index. Its pages load when they become visible; `keptPages` stay loaded and are
 * refreshed by changes as well.
 */
export const useFileRows = (listing: Listing, keptPages: Iterable<number>): FileRows => {
  const client = useQueryClient()
  const [range, setRange] = useState({ first: 1, last: 1 })
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])
  const onRange = useCallback((start: number, end: number) => {
    clearTimeout(timer.current)
    timer.current = setTimeout(() => {
      const next = {
        first: pageOfRow(start),
        last: pageOfRow(Math.max(start, end - 1)),
      }
      setRange((now) => (now.first === next.first && now.last === next.last ? now : next))
    }, settleMs)
  }, [])

  const head = useQuery({
    ...pageOf(listing, 1),
    // While a folder loads in another order, its rows stay, and with them the heading that has the focus.
    placeholderData: (rows, before) =>
      (listing.view === 'folder' && (listing.search !== '' || isFiltered(listing.filter))) ||
      isSamePlace(before?.queryKey.at(-1), listing)
        ? rows
        : undefined,
  })
  const total = head.data?.total
  const end = Math.max(1, Math.ceil((total ?? 0) / pageSize))
  const last = Math.min(range.last, end)
  const visible = Array.from({ length: Math.max(0, last - range.first + 1) }, (_, index) => range.first + index)
  const numbers = [...new Set([...visible, ...keptPages])].filter((page) => page > 1 && page <= end)
  const pages = useQueries({ queries: numbers.map((page) => pageOf(listing, page)) })

  const places = new Map<string, { file: FileRecord; index: number }>()
  for (const [page, data] of [
    [1, head.data] as const,
    ...pages.map((one, at) => [numbers[at] ?? 1, one.data] as const),
  ])
    for (const [at, file] of (data?.items ?? []).entries())
      places.set(file.id, { file, index: (page - 1) * pageSize + at })

  const rowAt = (index: number): FileRecord | undefined => {
    const page = pageOfRow(index)
    // Pages that were visible before are still in the cache.
    const data: Data<'GET /files'> | undefined =
      page === 1 ? head.data : client.getQueryData(pageOf(listing, page).queryKey)
    return data?.items[index % pageSize]
  }
  return { total, error: head.error, rowAt, find: (id) => places.get(id), onRange, retry: () => void head.refetch() }
}

/** The ancestors of a folder from the root, and the folder itself. */
export const useFolderPath = (folderId: string | undefined) => {
  const client = useQueryClient()
  return useQuery({
    // Under the key of a single file, so that a rename invalidates it.
    queryKey: ['GET /files/:id', 'path', folderId],
    enabled: folderId !== undefined,
    queryFn: async (): Promise<FileRecord[]> => {
      const path: FileRecord[] = []
      for (let id: string | null | undefined = folderId; id != null; id = path[0]?.parentId) {
        path.unshift(await client.fetchQuery(read('GET /files/:id', { params: { id } })))
      }
      return path
    },
  })
}
