import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { useInfiniteQuery } from '@tanstack/react-query'
import type { File as FileRecord } from '@atrium/client'
import { ChevronRight, Folder, FolderLock, HardDrive } from 'lucide-react'
import { useState } from 'react'
import type { ReactNode } from 'react'
import { api, keyOf } from '../../../api.ts'
import { classNames } from '../../../ui/class-names.ts'
import { useDropTarget } from '../drop-target.ts'
import styles from './folder-tree.module.css'

/** The subfolders of a folder. Listings sort folders first, so paging stops at the first page that ends with a file. */
const useFolders = (folderId: string | null, enabled: boolean) =>
  useInfiniteQuery({
    queryKey: [...keyOf('GET /files'), 'folders', folderId],
    enabled,
    initialPageParam: undefined as string | undefined,
    queryFn: ({ signal, pageParam }) => {
      const query = {
        limit: 100,
        ...(folderId !== null && { parentId: folderId }),
        ...(pageParam !== undefined && { cursor: pageParam }),
      }
      return api.call('GET /files', { query, signal })
    },
    getNextPageParam: ({ items, nextCursor }) => (items.at(-1)?.source === 'folder' ? nextCursor : null),
    select: ({ pages }) => pages.flatMap(({ items }) => items.filter(({ source }) => source === 'folder')),
  })

export interface TreeProps {
  /** The folder that is shown; `null` is the root, undefined another view. */
  current: string | null | undefined
  /** The ancestors of the current folder, which are expanded. */
  path: readonly string[]
  onOpen: (folderId: string | null) => void
  /** Folders that cannot be selected, with their subfolders. */
  excluded?: ReadonlySet<string>
  label: string
}

const Children = ({ of, level, ...tree }: TreeProps & { of: string | null; level: number }) => {
  const folders = useFolders(of, true)
  const shown = (folders.data ?? []).filter(({ id }) => tree.excluded?.has(id) !== true)
  if (shown.length === 0) return null
  return (
    <>
      {shown.map((folder) => (
        <Node key={folder.id} folder={folder} level={level} {...tree} />
      ))}
      {folders.hasNextPage && (
        <button type="button" className={styles['more']} onClick={() => void folders.fetchNextPage()}>
          <Trans>Load more folders</Trans>
        </button>
      )}
    </>
  )
}

const TreeItem = ({
  name,
  icon,
  level,
  isCurrent,
  isFocusable = isCurrent,
  isOpen,
  onToggle,
  onOpen,
  folderId,
}: {
  name: string
  icon: ReactNode
  level: number
  isCurrent: boolean
  /** By the Tab key, which is for one item of a tree. */
  isFocusable?: boolean
  isOpen: boolean | undefined
  onToggle: () => void
  onOpen: () => void
  folderId: string | null
}) => {
  const drop = useDropTarget(folderId)
  return (
    <div
      {...drop.props}
      role="treeitem"
      aria-level={level}
      aria-selected={isCurrent}
      aria-expanded={isOpen}
      tabIndex={isFocusable ? 0 : -1}
      className={classNames(styles['line'], isCurrent && styles['current'], drop.className)}
      data-level={Math.min(level, 8)}
      onClick={onOpen}
      onKeyDown={(event) => {
        if (event.key === 'Enter' || event.key === ' ') onOpen()
        else if ((event.key === 'ArrowRight' && isOpen === false) || (event.key === 'ArrowLeft' && isOpen === true))
          onToggle()
        else if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
          const lines = [
            ...(event.currentTarget.closest('[role=tree]')?.querySelectorAll<HTMLElement>('[role=treeitem]') ?? []),
          ]
          lines[lines.indexOf(event.currentTarget) + (event.key === 'ArrowDown' ? 1 : -1)]?.focus()
        } else return
        event.preventDefault()
      }}
    >
      <span
        className={classNames(styles['twist'], isOpen === true && styles['open'])}
        aria-hidden="true"
        onClick={(event) => {
          event.stopPropagation()
          onToggle()
        }}
      >
        {isOpen !== undefined && <ChevronRight />}
      </span>
      {icon}
      <span className={styles['name']}>{name}</span>
    </div>
  )
}

const Node = ({ folder, level, ...tree }: TreeProps & { folder: FileRecord; level: number }) => {
  const isOnPath = tree.path.includes(folder.id)
  // Ancestors of the current folder are expanded unless the person collapsed them.
  const [toggled, setToggled] = useState<boolean>()
  const isOpen = toggled ?? isOnPath
  return (
    <>
      <TreeItem
        name={folder.name}
        icon={folder.isProtected ? <FolderLock aria-hidden="true" /> : <Folder aria-hidden="true" />}
        level={level}
        folderId={folder.id}
        isCurrent={tree.current === folder.id}
        isOpen={isOpen}
        onToggle={() => setToggled(!isOpen)}
        onOpen={() => tree.onOpen(folder.id)}
      />
      {isOpen && <Children {...tree} of={folder.id} level={level + 1} />}
    </>
  )
}

/** The folder tree of the org; subfolders load when a folder is expanded. */
export const FolderTree = (tree: TreeProps) => (
  <div role="tree" aria-label={tree.label} className={styles['tree']}>
    <TreeItem
      name={t`All files`}
      icon={<HardDrive aria-hidden="true" />}
      level={1}
      folderId={null}
      isCurrent={tree.current === null}
      isFocusable={tree.current === null || tree.current === undefined}
      isOpen={undefined}
      onToggle={() => undefined}
      onOpen={() => tree.onOpen(null)}
    />
    <Children {...tree} of={null} level={1} />
  </div>
)
