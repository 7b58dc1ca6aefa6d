import { textOf } from '../../i18n/text.ts'
import type { Text } from '../../i18n/text.ts'
import { msg, t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import type { Data, File as FileRecord } from '@atrium/client'
import { Trash2 } from 'lucide-react'
import { useState } from 'react'
import { api, refresh, usePages } from '../../api.ts'
import { formatDateTime } from '../../format.ts'
import { Badge } from '../../ui/data/badge.tsx'
import { LoadMore } from '../../ui/data/load-more.tsx'
import { IconButton } from '../../ui/forms/button.tsx'
import { SelectField, TextField } from '../../ui/forms/field.tsx'
import { FormDialog } from '../../ui/forms/form-dialog.tsx'
import { SecretField } from '../../ui/forms/secret-field.tsx'
import { useSubmit } from '../../ui/forms/use-submit.ts'
import { QueryBoundary } from '../../ui/query-boundary.tsx'
import { toast } from '../../ui/toast.tsx'
import styles from './share-dialog.module.css'

type Share = Data<'GET /files/:id/shares'>['items'][number]
type Permission = Share['permission']

export const permissionNames: Record<Permission, Text> = {
  download: msg`View and download`,
  view: msg`View only`,
  upload: msg`Upload only`,
}

/** Days until the link expires; 0: never. */
const expiries: [days: number, name: Text][] = [
  [0, msg`Never`],
  [1, msg`In 1 day`],
  [7, msg`In 7 days`],
  [30, msg`In 30 days`],
]

const afterDays = (days: number): string | null =>
  days === 0 ? null : new Date(Date.now() + days * 86_400_000).toISOString()

export const revokeShare = async ({ id, fileId }: Pick<Share, 'id' | 'fileId'>): Promise<void> => {
  await api.call('DELETE /files/:id/shares/:shareId', { params: { id: fileId, shareId: id } })
  await refresh('GET /files/:id/shares', 'GET /files/shares')
  toast.done(t`Share link revoked`)
}

const ShareRow = ({ share }: { share: Share }) => {
  const { permission, hasPassword, ended, expiresAt, createdAt, downloads, maxDownloads, uploads } = share
  const used =
    permission === 'upload'
      ? t`Uploads: ${uploads}`
      : maxDownloads === null
        ? t`Downloads: ${downloads}`
        : t`Downloads: ${downloads} of ${maxDownloads}`
  return (
    <li className={styles['item']}>
      <div className={styles['text']}>
        <p className={styles['name']}>
          {textOf(permissionNames[permission])}
          {hasPassword && (
            <Badge>
              <Trans>Password</Trans>
            </Badge>
          )}
          {ended && (
            <Badge tone="warn">
              <Trans>Ended</Trans>
            </Badge>
          )}
        </p>
        <p className={styles['details']}>
          {permission === 'view' ? '' : `${used} · `}
          {expiresAt === null ? t`Created ${formatDateTime(createdAt)}` : t`Expires ${formatDateTime(expiresAt)}`}
        </p>
      </div>
      <IconButton
        small
        label={t`Revoke link`}
        icon={<Trash2 />}
        onClick={() => {
          revokeShare(share).catch((error: unknown) => toast.failed(t`The link could not be revoked`, error))
        }}
      />
    </li>
  )
}

const Shares = ({ fileId }: { fileId: string }) => {
  const pages = usePages('GET /files/:id/shares', { params: { id: fileId }, query: { limit: 20 } })
  return (
    <QueryBoundary query={pages.query}>
      {(shares) =>
        shares.length === 0 ? null : (
          <section className={styles['shares']} aria-label={t`Share links`}>
            <h3>
              <Trans>Share links</Trans>
            </h3>
            <ul className={styles['list']}>
              {shares.map((share) => (
                <ShareRow key={share.id} share={share} />
              ))}
            </ul>
            <LoadMore more={pages.more} isLoadingMore={pages.isLoadingMore} />
          </section>
        )
      }
    </QueryBoundary>
  )
}

const passwordProblem = (password: string): string | false =>
  password !== '' && password.length < 8 && t`The password must have at least 8 characters.`

/** Creates links to a file or folder for people without an account, and revokes them. */
export const ShareDialog = ({ file, onClose }: { file: FileRecord; onClose: () => void }) => {
  const [permission, setPermission] = useState<Permission>('download')
  const [days, setDays] = useState(7)
  const [password, setPassword] = useState('')
  const [url, setUrl] = useState<string>()
  const form = useSubmit(async () => {
    const expiresAt = afterDays(days)
    const body = { permission, ...(password !== '' && { password }), ...(expiresAt !== null && { expiresAt }) }
    const created = await api.call('POST /files/:id/shares', { params: { id: file.id }, body })
    setUrl(created.url)
    setPassword('')
    await refresh('GET /files/:id/shares', 'GET /files/shares')
  })
  const permissions: Permission[] = file.source === 'folder' ? ['download', 'view', 'upload'] : ['download', 'view']
  return (
    <FormDialog
      onClose={onClose}
      title={t`Share “${file.name}”`}
      description={t`Anyone with the link can open it without an account.`}
      form={form}
      action={t`Create share link`}
      cancel={t`Close`}
      disabledReason={passwordProblem(password)}
    >
      <SelectField
        label={t`Visitors can`}
        field="permission"
        value={permission}
        onChange={({ target }) => setPermission(target.value as Permission)}
      >
        {permissions.map((one) => (
          <option key={one} value={one}>
            {textOf(permissionNames[one])}
          </option>
        ))}
      </SelectField>
      <SelectField
        label={t`Expires`}
        field="expiresAt"
        value={days}
        onChange={({ target }) => setDays(Number(target.value))}
      >
        {expiries.map(([value, name]) => (
          <option key={value} value={value}>
            {textOf(name)}
          </option>
        ))}
      </SelectField>
      <TextField
        label={t`Password`}
        optional
        field="password"
        type="password"
        autoComplete="new-password"
        maxLength={128}
        hint={t`Send it separately from the link.`}
        value={password}
        onChange={({ target }) => setPassword(target.value)}
      />
      {url !== undefined && (
        <SecretField label={t`Share link`} value={url} note={t`Copy it now. It is not shown again.`} />
      )}
      <Shares fileId={file.id} />
    </FormDialog>
  )
}
