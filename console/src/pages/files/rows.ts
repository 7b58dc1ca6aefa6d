import { keepPreviousData, useQueries, useQuery, useQueryClient } from '@tanstack/react-query'
import type { Data, File as FileRecord } from '@atrium/client'
import { useCallback, useEffect, useRef, useState } from 'react'
import { read } from '../../api.ts'

export const pageSize = 100

export interface Listing {
  /** Undefined for the root. */
  folderId: string | undefined
  /** Empty: the folder's own content. Otherwise: matching names in the folder and below. */
  search: string
}

export const pageOf = ({ folderId, search }: Listing, page: number) =>
  read('GET /files', {
    query: {
      limit: pageSize,
      page,
      ...(folderId !== undefined && { parentId: folderId }),
      ...(search !== '' && { search, recursive: true }),
    },
  })

export interface FileRows {
  /** The number of rows; undefined while it loads. */
  total: number | undefined
  error: Error | null
  /** Undefined while its page loads. */
  rowAt: (index: number) => FileRecord | undefined
  /** Must be called with the visible rows. */
  onRange: (start: number, end: number) => void
  retry: () => void
}

// Dragging the scroll bar through 100,000 rows passes 1,000 pages; only those visible for 70 ms are loaded.
const settleMs = 70

/** A folder of any size as rows by index; its pages load when they become visible. */
export const useFileRows = (listing: Listing): FileRows => {
  const client = useQueryClient()
  const [range, setRange] = useState({ first: 1, last: 1 })
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])
  const onRange = useCallback((start: number, end: number) => {
    clearTimeout(timer.current)
    timer.current = setTimeout(() => {
      const next = {
        first: Math.floor(start / pageSize) + 1,
        last: Math.floor(Math.max(start, end - 1) / pageSize) + 1,
      }
      setRange((now) => (now.first === next.first && now.last === next.last ? now : next))
    }, settleMs)
  }, [])

  const head = useQuery({
    ...pageOf(listing, 1),
    ...(listing.search !== '' && { placeholderData: keepPreviousData }),
  })
  const total = head.data?.total
  const last = Math.min(range.last, Math.max(1, Math.ceil((total ?? 0) / pageSize)))
  const numbers = Array.from({ length: Math.max(0, last - range.first + 1) }, (_, index) => range.first + index)
  useQueries({ queries: numbers.filter((page) => page > 1).map((page) => pageOf(listing, page)) })

  const rowAt = (index: number): FileRecord | undefined => {
    const page = Math.floor(index / pageSize) + 1
    // Pages that were visible before are still in the cache.
    const data: Data<'GET /files'> | undefined =
      page === 1 ? head.data : client.getQueryData(pageOf(listing, page).queryKey)
    return data?.items[index % pageSize]
  }
  return { total, error: head.error, rowAt, onRange, retry: () => void head.refetch() }
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
