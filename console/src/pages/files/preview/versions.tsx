import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import type { Data, File as FileRecord } from '@atrium/client'
import { Download, Ellipsis, RotateCcw, Tag, Trash2, Upload } from 'lucide-react'
import { useRef, useState } from 'react'
import type { ChangeEvent } from 'react'
import { usePages } from '../../../api.ts'
import { formatBytes, formatDateTime } from '../../../format.ts'
import { PersonName } from '../../../person-name.tsx'
import { uploadVersion } from '../../../uploads.ts'
import { Badge } from '../../../ui/data/badge.tsx'
import { LoadMore } from '../../../ui/data/load-more.tsx'
import { Button, IconButton } from '../../../ui/forms/button.tsx'
import { TextField } from '../../../ui/forms/field.tsx'
import { ConfirmDialog, FormDialog } from '../../../ui/forms/form-dialog.tsx'
import { Menu } from '../../../ui/forms/menu.tsx'
import type { MenuEntries } from '../../../ui/forms/menu.tsx'
import { useSubmit } from '../../../ui/forms/use-submit.ts'
import { QueryBoundary } from '../../../ui/query-boundary.tsx'
import { toast } from '../../../ui/toast.tsx'
import { deleteVersion, downloadVersion, labelVersion, restoreVersion } from '../changes.ts'
import { writeReason } from '../file-menu.tsx'
import styles from './versions.module.css'

type Version = Data<'GET /files/:id/versions'>['items'][number]

interface VersionOf {
  file: FileRecord
  version: Version
  onClose: () => void
}

const LabelDialog = ({ file, version, onClose }: VersionOf) => {
  const [label, setLabel] = useState(version.label ?? '')
  const field = useRef<HTMLInputElement>(null)
  const form = useSubmit(async () => {
    await labelVersion(file, version.version, label.trim() === '' ? null : label.trim())
    onClose()
  })
  return (
    <FormDialog
      onClose={onClose}
      title={t`Label version ${version.version}`}
      description={t`A version with a label is kept until somebody deletes it.`}
      initialFocus={field}
      form={form}
      action={t`Save label`}
    >
      <TextField
        ref={field}
        label={t`Label`}
        field="label"
        maxLength={255}
        value={label}
        onChange={({ target }) => setLabel(target.value)}
      />
    </FormDialog>
  )
}

const DeleteDialog = ({ file, version, onClose }: VersionOf) => {
  const form = useSubmit(async () => {
    await deleteVersion(file, version.version)
    onClose()
  })
  return (
    <ConfirmDialog
      onClose={onClose}
      title={t`Delete version ${version.version}?`}
      description={t`This cannot be undone. The file and its other versions stay.`}
      form={form}
      action={t`Delete version`}
    />
  )
}

const UploadVersionButton = ({ file, reason }: { file: FileRecord; reason: string | false }) => {
  const input = useRef<HTMLInputElement>(null)
  const onChange = ({ target }: ChangeEvent<HTMLInputElement>): void => {
    const [chosen] = target.files ?? []
    if (chosen) uploadVersion(chosen, file.id)
    // Without the reset, selecting the same file again would not fire a change event.
    target.value = ''
  }
  return (
    <>
      <Button small icon={<Upload />} disabledReason={reason} onClick={() => input.current?.click()}>
        <Trans>Upload new version</Trans>
      </Button>
      <input ref={input} type="file" hidden aria-label={t`New version of ${file.name}`} onChange={onChange} />
    </>
  )
}

/** The versions of a file, with what can be done with each. */
export const Versions = ({ file, mayWrite }: { file: FileRecord; mayWrite: boolean }) => {
  const pages = usePages('GET /files/:id/versions', { params: { id: file.id }, query: { limit: 20 } })
  const [dialog, setDialog] = useState<{ kind: 'label' | 'delete'; version: Version }>()
  const reason = writeReason(mayWrite)
  const entriesFor = (version: Version): MenuEntries => [
    { label: t`Download`, icon: <Download />, onSelect: () => downloadVersion(file, version.version) },
    ...(version.isCurrent
      ? []
      : [
          {
            label: t`Restore`,
            icon: <RotateCcw />,
            disabledReason: reason,
            onSelect: () => {
              restoreVersion(file, version.version).catch((error: unknown) =>
                toast.failed(t`The version could not be restored`, error),
              )
            },
          },
        ]),
    {
      label: version.label === null ? t`Add label` : t`Edit label`,
      icon: <Tag />,
      disabledReason: reason,
      onSelect: () => setDialog({ kind: 'label', version }),
    },
    ...(version.isCurrent
      ? []
      : ([
          'separator',
          {
            label: t`Delete`,
            icon: <Trash2 />,
            danger: true,
            disabledReason: reason,
            onSelect: () => setDialog({ kind: 'delete', version }),
          },
        ] satisfies MenuEntries)),
  ]
  return (
    <section aria-label={t`Versions`}>
      <h2>
        <Trans>Versions</Trans>
      </h2>
      <UploadVersionButton file={file} reason={reason} />
      <QueryBoundary query={pages.query}>
        {(versions) => (
          <ol className={styles['list']}>
            {versions.map((version) => (
              <li key={version.version} className={styles['item']}>
                <div className={styles['text']}>
                  <p className={styles['name']}>
                    <Trans>Version {version.version}</Trans>
                    {version.isCurrent && (
                      <Badge tone="good">
                        <Trans>Current</Trans>
                      </Badge>
                    )}
                  </p>
                  {version.label !== null && <p className={styles['label']}>{version.label}</p>}
                  <p className={styles['details']}>
                    {formatDateTime(version.createdAt)} · {formatBytes(version.size)} ·{' '}
                    <PersonName userId={version.createdBy} />
                  </p>
                </div>
                <Menu
                  trigger={<IconButton small label={t`Actions for version ${version.version}`} icon={<Ellipsis />} />}
                  entries={entriesFor(version)}
                />
              </li>
            ))}
          </ol>
        )}
      </QueryBoundary>
      <LoadMore more={pages.more} isLoadingMore={pages.isLoadingMore} />
      {dialog?.kind === 'label' && (
        <LabelDialog file={file} version={dialog.version} onClose={() => setDialog(undefined)} />
      )}
      {dialog?.kind === 'delete' && (
        <DeleteDialog file={file} version={dialog.version} onClose={() => setDialog(undefined)} />
      )}
    </section>
  )
}
