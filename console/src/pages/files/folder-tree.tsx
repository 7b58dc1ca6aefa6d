import { useInfiniteQuery } from '@tanstack/react-query'
import type { File as FileRecord } from 'atrium-sdk'
import { ChevronRight, Folder, FolderLock, HardDrive } from 'lucide-react'
import { useState } from 'react'
import type { ReactNode } from 'react'
import { api, keyOf } from '../../api.ts'
import { classNames } from '../../ui/class-names.ts'
import { useDropTarget } from './drop-target.ts'
import styles from './folder-tree.module.css'

/** The folders of a folder. Folders come first in a listing, so a page with a file in it is the last one to ask for. */
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
  /** The folder that is shown; `null` is the root. */
  current: string | null
  /** Folders above it, which are opened. */
  path: readonly string[]
  onOpen: (folderId: string | null) => void
  /** Folders that cannot be chosen, with what is below them. */
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
          More folders
        </button>
      )}
    </>
  )
}

const Line = ({
  name,
  icon,
  level,
  isCurrent,
  isOpen,
  onToggle,
  onOpen,
  folderId,
}: {
  name: string
  icon: ReactNode
  level: number
  isCurrent: boolean
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
      tabIndex={isCurrent ? 0 : -1}
      className={classNames(styles['line'], isCurrent && styles['current'], drop.over && styles['over'])}
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
  // Whoever goes into a folder sees where it is, unless they closed it themselves.
  const [toggled, setToggled] = useState<boolean>()
  const isOpen = toggled ?? isOnPath
  return (
    <>
      <Line
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

/** The folders of the org, opened as far as one asks. */
export const FolderTree = (tree: TreeProps) => (
  <div role="tree" aria-label={tree.label} className={styles['tree']}>
    <Line
      name="All files"
      icon={<HardDrive aria-hidden="true" />}
      level={1}
      folderId={null}
      isCurrent={tree.current === null}
      isOpen={undefined}
      onToggle={() => undefined}
      onOpen={() => tree.onOpen(null)}
    />
    <Children {...tree} of={null} level={1} />
  </div>
)
