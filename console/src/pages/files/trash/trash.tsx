import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import type { File as FileRecord } from '@atrium/client'
import { RotateCcw, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { usePages } from '../../../api.ts'
import { formatBytes } from '../../../format.ts'
import { useIdentity } from '../../../session.tsx'
import { useTitle } from '../../../title.ts'
import { LoadMore } from '../../../ui/data/load-more.tsx'
import { RelativeTime } from '../../../ui/data/relative-time.tsx'
import { Table } from '../../../ui/data/table.tsx'
import { EmptyState } from '../../../ui/empty-state.tsx'
import { Button, IconButton } from '../../../ui/forms/button.tsx'
import { ConfirmDialog } from '../../../ui/forms/form-dialog.tsx'
import { useSubmit } from '../../../ui/forms/use-submit.ts'
import { QueryBoundary } from '../../../ui/query-boundary.tsx'
import { countOf } from '../changes.ts'
import { KindIcon } from '../file-kind.tsx'
import { writeReason } from '../file-menu.tsx'
import { FilesPage } from '../views/files-page.tsx'
import { deletePermanently, emptyTrash, restore } from './changes.ts'
import styles from './trash.module.css'

const DeleteDialog = ({ file, onClose }: { file: FileRecord; onClose: () => void }) => {
  const form = useSubmit(async () => {
    await deletePermanently(file)
    onClose()
  })
  return (
    <ConfirmDialog
      onClose={onClose}
      title={t`Delete ${countOf([file])} permanently?`}
      description={
        file.source === 'folder'
          ? t`Everything that was deleted with the folder is deleted as well. This cannot be undone.`
          : t`This cannot be undone.`
      }
      form={form}
      action={t`Delete permanently`}
    />
  )
}

const EmptyDialog = ({ onClose }: { onClose: () => void }) => {
  const form = useSubmit(async () => {
    await emptyTrash()
    onClose()
  })
  return (
    <ConfirmDialog
      onClose={onClose}
      title={t`Empty trash?`}
      description={t`Everything in the trash of the organization is deleted permanently. This cannot be undone.`}
      form={form}
      action={t`Empty trash`}
    />
  )
}

/** The size of a folder is not known. */
const sizeOf = ({ source, size }: FileRecord): string => (source === 'upload' ? formatBytes(size) : '–')

const Name = ({ file }: { file: FileRecord }) => (
  <span className={styles['name']}>
    <KindIcon file={file} />
    <span>
      {file.name}
      <span className={styles['narrow']}>
        {file.source === 'upload' && `${formatBytes(file.size)} · `}
        {file.purgeAt !== undefined && (
          <Trans>
            Permanent deletion: <RelativeTime at={file.purgeAt} />
          </Trans>
        )}
      </span>
    </span>
  </span>
)

interface ActionsProps {
  file: FileRecord
  reason: string | false
  onDelete: (file: FileRecord) => void
}

const Actions = ({ file, reason, onDelete }: ActionsProps) => {
  const restoring = useSubmit(() => restore(file))
  return (
    <span className={styles['actions']}>
      <IconButton
        small
        label={t`Restore ${file.name}`}
        icon={<RotateCcw />}
        disabledReason={reason}
        busy={restoring.busy}
        onClick={restoring.submit}
      />
      <IconButton
        small
        label={t`Delete ${file.name} permanently`}
        icon={<Trash2 />}
        disabledReason={reason}
        onClick={() => onDelete(file)}
      />
    </span>
  )
}

const List = ({ files, ...actions }: { files: readonly FileRecord[] } & Omit<ActionsProps, 'file'>) => (
  <Table
    label={t`Trash`}
    rows={files}
    keyOf={({ id }) => id}
    columns={[
      { title: t`Name`, cell: (file) => <Name file={file} /> },
      { title: t`Size`, optional: true, tight: true, align: 'end', cell: sizeOf },
      {
        title: t`Deleted`,
        optional: true,
        tight: true,
        cell: ({ deletedAt }) => deletedAt !== undefined && <RelativeTime at={deletedAt} />,
      },
      {
        title: t`Permanent deletion`,
        optional: true,
        tight: true,
        cell: ({ purgeAt }) => purgeAt !== undefined && <RelativeTime at={purgeAt} />,
      },
      {
        title: t`Actions`,
        hideTitle: true,
        tight: true,
        cell: (file) => <Actions file={file} {...actions} />,
      },
    ]}
  />
)

/** What was deleted and can still be restored. */
export const Trash = () => {
  useTitle(t`Trash`)
  const reason = writeReason(useIdentity().can('files:write'))
  const trash = usePages('GET /files', { query: { trashed: true } })
  const [asking, setAsking] = useState<FileRecord | 'empty'>()
  const close = (): void => setAsking(undefined)
  return (
    <FilesPage
      path={[{ to: '/files/trash', name: t`Trash` }]}
      actions={
        <Button
          icon={<Trash2 />}
          disabledReason={reason || (trash.query.data?.length === 0 && t`The trash is empty.`)}
          onClick={() => setAsking('empty')}
        >
          <Trans>Empty trash</Trans>
        </Button>
      }
    >
      <QueryBoundary query={trash.query}>
        {(files) =>
          files.length === 0 ? (
            <EmptyState icon={<Trash2 />} title={t`The trash is empty`}>
              <Trans>Deleted files and folders can be restored from here until they are deleted permanently.</Trans>
            </EmptyState>
          ) : (
            <>
              <p>
                <Trans>
                  Files return to the folder from which they were deleted. Until they are deleted permanently, they
                  count toward the storage limit.
                </Trans>
              </p>
              <List files={files} reason={reason} onDelete={setAsking} />
            </>
          )
        }
      </QueryBoundary>
      <LoadMore {...trash} />
      {asking === 'empty' && <EmptyDialog onClose={close} />}
      {asking !== undefined && asking !== 'empty' && <DeleteDialog file={asking} onClose={close} />}
    </FilesPage>
  )
}
