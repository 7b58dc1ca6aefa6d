import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import type { ListedMember, Member, MemberSignInLink } from '@atrium/client'
import { useState } from 'react'
import { api } from '../../api.ts'
import { formatNumber } from '../../format.ts'
import { useStepUp } from '../../step-up.tsx'
import { Badge } from '../../ui/data/badge.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Button } from '../../ui/forms/button.tsx'
import { FormDialog } from '../../ui/forms/form-dialog.tsx'
import { SecretField } from '../../ui/forms/secret-field.tsx'
import { useSubmit } from '../../ui/forms/use-submit.ts'
import styles from './settings.module.css'

/** A new sign-in link for a person who has not used theirs. */
export const RenewSignInLink = ({ member, onClose }: { member: Member; onClose: () => void }) => {
  const withStepUp = useStepUp()
  const [created, setCreated] = useState<MemberSignInLink>()
  const form = useSubmit(async () => {
    const params = { id: member.id }
    setCreated(await withStepUp((stepUpToken) => api.call('POST /members/:id/sign-in-link', { params, stepUpToken })))
  })
  if (created)
    return (
      <Dialog
        open
        onClose={onClose}
        title={t`New sign-in link for ${member.name}`}
        description={t`Atrium sends no email. Share this link with them yourself.`}
        footer={
          <Button variant="primary" onClick={onClose}>
            <Trans>Done</Trans>
          </Button>
        }
      >
        <SecretField
          label={t`Sign-in link`}
          value={created.signInLink}
          note={t`Copy the link now. It is not shown again, works once and expires after 24 hours.`}
        />
      </Dialog>
    )
  return (
    <FormDialog
      onClose={onClose}
      title={t`Create a new sign-in link for ${member.name}?`}
      description={t`The link that they received before stops working.`}
      form={form}
      action={t`Create sign-in link`}
    >
      {null}
    </FormDialog>
  )
}

const maxShownWorkspaces = 3

/** The workspaces of a member; the tooltip has up to 20 names. */
export const MemberWorkspaces = ({ role, workspaces, workspaceCount }: ListedMember) => {
  if (role === 'owner' || role === 'admin')
    return (
      <span className={styles['muted']}>
        <Trans>All workspaces</Trans>
      </span>
    )
  if (workspaceCount === 0)
    return (
      <span className={styles['muted']}>
        <Trans>No workspace</Trans>
      </span>
    )
  const hidden = workspaceCount - Math.min(maxShownWorkspaces, workspaces.length)
  return (
    <span className={styles['wrap']} title={workspaces.map(({ name }) => name).join(', ')}>
      {workspaces.slice(0, maxShownWorkspaces).map(({ id, name }) => (
        <Badge key={id}>{name}</Badge>
      ))}
      {hidden > 0 && <span className={styles['muted']}>+{formatNumber(hidden)}</span>}
    </span>
  )
}
