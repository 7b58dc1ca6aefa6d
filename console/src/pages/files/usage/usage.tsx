import { plural, t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import type { Data } from '@atrium/client'
import { ChartNoAxesColumn, FileText, Folder } from 'lucide-react'
import type { ReactNode } from 'react'
import { Link, useSearchParams } from 'react-router'
import { read } from '../../../api.ts'
import { formatBytes, formatNumber } from '../../../format.ts'
import { useTitle } from '../../../title.ts'
import { ProgressBar } from '../../../ui/data/progress-bar.tsx'
import { EmptyState } from '../../../ui/empty-state.tsx'
import { QueryBoundary } from '../../../ui/query-boundary.tsx'
import { useFolderPath } from '../rows.ts'
import { folderPath } from '../sorting.ts'
import { FilesPage } from '../views/files-page.tsx'
import styles from './usage.module.css'

type Usage = Data<'GET /files/usage'>

const usagePath = (id: string | null): string => (id === null ? '/files/usage' : `/files/usage?folder=${id}`)

const filesOf = (files: number): string => plural(files, { one: '# file', other: '# files' })

const Figure = ({ term, value }: { term: string; value: string }) => (
  <div className={styles['figure']}>
    <dt>{term}</dt>
    <dd>{value}</dd>
  </div>
)

const Summary = ({ below, trash }: Pick<Usage, 'below' | 'trash'>) => {
  const quotas = useQuery(read('GET /quotas'))
  const limit = quotas.data?.items.find(({ name }) => name === 'storedBytes')?.limit
  return (
    <dl className={styles['summary']}>
      <Figure term={t`Files`} value={formatNumber(below.files)} />
      <Figure term={t`Size`} value={formatBytes(below.bytes)} />
      <Figure term={t`Former versions`} value={formatBytes(below.versionBytes)} />
      {trash !== null && <Figure term={t`Trash`} value={formatBytes(trash.bytes)} />}
      {trash !== null && limit != null && <Figure term={t`Storage limit`} value={formatBytes(limit)} />}
    </dl>
  )
}

interface BarProps {
  to: string
  icon: ReactNode
  name: string
  files: number
  stored: number
  total: number
}

const Bar = ({ to, icon, name, files, stored, total }: BarProps) => (
  <li>
    <Link to={to} className={styles['item']}>
      <span className={styles['name']}>
        {icon}
        <span>{name}</span>
        <small>{filesOf(files)}</small>
      </span>
      <span className={styles['bytes']}>{formatBytes(stored)}</span>
      <ProgressBar value={total === 0 ? 0 : stored / total} label={t`Share of ${name}`} />
    </Link>
  </li>
)

const storedIn = ({ bytes, versionBytes }: { bytes: number; versionBytes: number }): number => bytes + versionBytes

const Bars = ({ usage: { below, direct, folderId, items } }: { usage: Usage }) => {
  const total = storedIn(below)
  if (below.files + below.folders === 0) {
    return (
      <EmptyState icon={<ChartNoAxesColumn />} title={t`Nothing is stored here`}>
        <Trans>The folders of your files appear here with the storage that each of them uses.</Trans>
      </EmptyState>
    )
  }
  return (
    <ul className={styles['list']}>
      {items.map((folder) => (
        <Bar
          key={folder.id}
          to={usagePath(folder.id)}
          icon={<Folder aria-hidden="true" />}
          name={folder.name}
          files={folder.files}
          stored={storedIn(folder)}
          total={total}
        />
      ))}
      {direct.files > 0 && (
        <Bar
          to={folderPath(folderId, { field: 'size', order: 'desc' })}
          icon={<FileText aria-hidden="true" />}
          name={folderId === null ? t`Files outside of folders` : t`Files in this folder`}
          files={direct.files}
          stored={storedIn(direct)}
          total={total}
        />
      )}
    </ul>
  )
}

/** What each folder stores. `?folder=` is the folder whose subfolders are listed. */
export const Storage = () => {
  useTitle(t`Storage`)
  const [params] = useSearchParams()
  const folderId = params.get('folder') ?? undefined
  const path = useFolderPath(folderId)
  const query = folderId === undefined ? {} : { parentId: folderId }
  const usage = useQuery(read('GET /files/usage', { query: { limit: 100, ...query } }))
  return (
    <FilesPage
      path={[
        { to: usagePath(null), name: t`Storage` },
        ...(path.data ?? []).map(({ id, name }) => ({ to: usagePath(id), name })),
      ]}
    >
      <QueryBoundary query={usage}>
        {(data) => (
          <>
            <Summary {...data} />
            {!data.isComplete && (
              <p>
                <Trans>There are more than 100,000 folders: the figures are too low. Open a folder for its own.</Trans>
              </p>
            )}
            <Bars usage={data} />
            {data.hasMore && (
              <p>
                <Trans>The 100 largest of {formatNumber(data.total)} folders are shown.</Trans>
              </p>
            )}
          </>
        )}
      </QueryBoundary>
    </FilesPage>
  )
}
