import { plural, t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import type { ListedShare, Retention } from '@atrium/client'
import { Link2 } from 'lucide-react'
import { useState } from 'react'
import { Link } from 'react-router'
import { api, read, refresh, usePages } from '../../api.ts'
import { changesOf, isEmpty, useDraft } from '../../draft.ts'
import { formatDateTime } from '../../format.ts'
import { textOf } from '../../i18n/text.ts'
import { useIdentity } from '../../session.tsx'
import { useTitle } from '../../title.ts'
import { Badge } from '../../ui/data/badge.tsx'
import { LoadMore } from '../../ui/data/load-more.tsx'
import { RelativeTime } from '../../ui/data/relative-time.tsx'
import { Table } from '../../ui/data/table.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { Button } from '../../ui/forms/button.tsx'
import { FieldRow, TextField } from '../../ui/forms/field.tsx'
import { FormError } from '../../ui/forms/field-errors.tsx'
import { Form } from '../../ui/forms/form.tsx'
import { ConfirmDialog } from '../../ui/forms/form-dialog.tsx'
import { useSubmit } from '../../ui/forms/use-submit.ts'
import { Section } from '../../ui/page.tsx'
import { QueryBoundary } from '../../ui/query-boundary.tsx'
import { toast } from '../../ui/toast.tsx'
import { permissionNames, revokeShare } from '../files/share-dialog.tsx'
import styles from './settings.module.css'

/** Empty: as the server is configured. */
const numberOf = (text: string): number | null => (text.trim() === '' ? null : Number(text))

const isOutside = (text: string, most: number): boolean => {
  const value = numberOf(text)
  return value !== null && !(Number.isInteger(value) && value >= 0 && value <= most)
}

const own = (value: number, standard: number): string => (value === standard ? '' : String(value))

const retentionOf = ({ versionsKept, versionsDays, defaults }: Retention) => ({
  kept: own(versionsKept, defaults.versionsKept),
  days: own(versionsDays, defaults.versionsDays),
})

const bodyOf = ({ kept, days }: ReturnType<typeof retentionOf>) => ({
  versionsKept: numberOf(kept),
  versionsDays: numberOf(days),
})

const RetentionForm = ({ saved }: { saved: Retention }) => {
  const { can } = useIdentity()
  const { defaults } = saved
  const { draft, change } = useDraft(saved, retentionOf)
  const { kept, days } = draft
  const body = changesOf(bodyOf(draft), bodyOf(retentionOf(saved)))
  const form = useSubmit(async () => {
    await api.call('PATCH /files/retention', { body })
    await refresh('GET /files/retention')
    toast.done(t`Retention saved`)
  })
  const keptError = isOutside(kept, 1_000) ? t`Enter a whole number from 0 to 1,000.` : undefined
  const daysError = isOutside(days, 3_650) ? t`Enter a whole number from 0 to 3,650.` : undefined
  const mayWrite = can('org:write')
  const problem =
    (!mayWrite && t`Only owners and admins can change the retention.`) ||
    (keptError ?? daysError ?? (isEmpty(body) && t`Nothing has changed.`))
  return (
    <Form
      className={styles['form']}
      error={form.error}
      onSubmit={() => {
        if (problem === false) form.submit()
      }}
    >
      <FormError />
      <FieldRow>
        <TextField
          label={t`Versions per file`}
          field="versionsKept"
          inputMode="numeric"
          readOnly={!mayWrite}
          placeholder={String(defaults.versionsKept)}
          hint={t`Former versions to keep. Empty: ${defaults.versionsKept}, the default of the server.`}
          error={keptError}
          value={kept}
          onChange={({ target }) => change({ kept: target.value })}
        />
        <TextField
          label={t`Days`}
          field="versionsDays"
          inputMode="numeric"
          readOnly={!mayWrite}
          placeholder={String(defaults.versionsDays)}
          hint={
            defaults.versionsDays === 0
              ? t`Days to keep a version after it was replaced. 0 or empty: no limit.`
              : t`Days to keep a version after it was replaced. 0: no limit. Empty: ${defaults.versionsDays}, the default of the server.`
          }
          error={daysError}
          value={days}
          onChange={({ target }) => change({ days: target.value })}
        />
      </FieldRow>
      <div>
        <Button variant="primary" type="submit" busy={form.busy} disabledReason={problem}>
          <Trans>Save</Trans>
        </Button>
      </div>
    </Form>
  )
}

const isExpired = ({ expiresAt }: ListedShare): boolean => expiresAt !== null && Date.parse(expiresAt) <= Date.now()

const usesOf = ({ permission, downloads, maxDownloads, uploads, maxUploads }: ListedShare): string => {
  if (permission === 'upload') {
    return maxUploads === null
      ? plural(uploads, { one: '# upload', other: '# uploads' })
      : t`${uploads} of ${maxUploads} uploads`
  }
  if (permission === 'view') return '–'
  return maxDownloads === null
    ? plural(downloads, { one: '# download', other: '# downloads' })
    : t`${downloads} of ${maxDownloads} downloads`
}

const Revoke = ({ share, onClose }: { share: ListedShare; onClose: () => void }) => {
  const form = useSubmit(async () => {
    await revokeShare(share)
    onClose()
  })
  return (
    <ConfirmDialog
      onClose={onClose}
      title={t`Revoke the link to “${share.fileName}”?`}
      description={t`The link stops working at once. The file stays.`}
      form={form}
      action={t`Revoke link`}
    />
  )
}

const pathOf = ({ fileId, fileSource }: ListedShare): string =>
  fileSource === 'folder' ? `/files/${fileId}` : `/files?open=${fileId}`

const Shares = () => {
  const { can } = useIdentity()
  const shares = usePages('GET /files/shares')
  const [asking, setAsking] = useState<ListedShare>()
  const reason = !can('files:write') && t`You do not have permission to change files.`
  return (
    <Section
      plain
      title={t`Share links`}
      description={t`All links by which people without an account open files of this organization.`}
    >
      <QueryBoundary query={shares.query}>
        {(rows) =>
          rows.length === 0 ? (
            <EmptyState icon={<Link2 />} title={t`No share links`}>
              <Trans>Share a file or folder with its “Share…” action.</Trans>
            </EmptyState>
          ) : (
            <Table
              stacked="actions"
              label={t`Share links`}
              rows={rows}
              keyOf={({ id }) => id}
              columns={[
                {
                  title: t`File`,
                  cell: (share) => (
                    <Link to={pathOf(share)} className="link">
                      {share.fileName}
                    </Link>
                  ),
                },
                {
                  title: t`Access`,
                  cell: (share) => (
                    <span className={styles['wrap']}>
                      {textOf(permissionNames[share.permission])}
                      {share.hasPassword && (
                        <Badge>
                          <Trans>Password</Trans>
                        </Badge>
                      )}
                      {share.ended && (
                        <Badge tone="warn">{isExpired(share) ? <Trans>Expired</Trans> : <Trans>Ended</Trans>}</Badge>
                      )}
                    </span>
                  ),
                },
                { title: t`Used`, optional: true, tight: true, cell: usesOf },
                {
                  title: t`Expires`,
                  tight: true,
                  cell: ({ expiresAt }) => (expiresAt === null ? t`No expiry` : t`Until ${formatDateTime(expiresAt)}`),
                },
                {
                  title: t`Created`,
                  optional: true,
                  tight: true,
                  cell: ({ createdAt }) => <RelativeTime at={createdAt} />,
                },
                {
                  title: t`Actions`,
                  hideTitle: true,
                  tight: true,
                  cell: (share) => (
                    <Button
                      small
                      disabledReason={reason}
                      aria-label={t`Revoke the link to ${share.fileName}`}
                      onClick={() => setAsking(share)}
                    >
                      <Trans>Revoke</Trans>
                    </Button>
                  ),
                },
              ]}
            />
          )
        }
      </QueryBoundary>
      <LoadMore {...shares} />
      {asking && <Revoke share={asking} onClose={() => setAsking(undefined)} />}
    </Section>
  )
}

/** How long former versions of files are kept, and who can open files without an account. */
export const FileSettings = () => {
  useTitle(t`Files`)
  const retention = useQuery(read('GET /files/retention'))
  return (
    <>
      <div className={styles['narrow']}>
        <Section
          title={t`Versions of files`}
          description={t`Versions with a label are kept until somebody deletes them.`}
        >
          <QueryBoundary query={retention}>{(saved) => <RetentionForm saved={saved} />}</QueryBoundary>
        </Section>
      </div>
      <Shares />
    </>
  )
}
