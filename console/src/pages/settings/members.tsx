import { textOf } from '../../i18n/text.ts'
import type { Text } from '../../i18n/text.ts'
import { msg, t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import type { ListedMember, Member, MemberCreate, MemberCreated } from '@atrium/client'
import { Link as LinkIcon, Trash2, UserPlus } from 'lucide-react'
import { useState } from 'react'
import { api, refresh, usePages } from '../../api.ts'
import { formatDateTime } from '../../format.ts'
import { formatWord, formatWordInText } from '../../words.ts'
import { useIdentity } from '../../session.tsx'
import { useStepUp } from '../../step-up.tsx'
import { useTitle } from '../../title.ts'
import { Avatar } from '../../ui/data/avatar.tsx'
import { RelativeTime } from '../../ui/data/relative-time.tsx'
import { Button, IconButton } from '../../ui/forms/button.tsx'
import { SecretField } from '../../ui/forms/secret-field.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { SelectField, TextField } from '../../ui/forms/field.tsx'
import { ConfirmDialog, FormDialog } from '../../ui/forms/form-dialog.tsx'
import { LoadMore } from '../../ui/data/load-more.tsx'
import { ListHeader } from '../../ui/page.tsx'
import { QueryBoundary } from '../../ui/query-boundary.tsx'
import { Table } from '../../ui/data/table.tsx'
import { toast } from '../../ui/toast.tsx'
import { useSubmit } from '../../ui/forms/use-submit.ts'
import { MemberWorkspaces, RenewSignInLink } from './member-details.tsx'
import styles from './settings.module.css'

type Role = Member['role']

const roles: Record<Role, Text> = {
  owner: msg`Full access, including managing owners`,
  admin: msg`Full access, except managing owners`,
  billing_manager: msg`Member access and billing management`,
  member: msg`Access to files, agents, webhooks and connections`,
}
const roleNames = Object.keys(roles) as Role[]

export const Person = ({ name, email }: { name: string; email: string }) => (
  <span className={styles['who']}>
    <Avatar name={name} />
    <span>
      <strong>{name}</strong>
      <small>{email}</small>
    </span>
  </span>
)

const RoleOptions = () =>
  roleNames.map((role) => (
    <option key={role} value={role}>
      {formatWord(role)}
    </option>
  ))

const describe = ({ status, signInLink }: MemberCreated): string => {
  const consent = status === 'invited' ? `${t`They become a member when they accept the invitation.`} ` : ''
  return signInLink === null
    ? consent + t`There is no sign-in link to share, because they can already sign in or you did not confirm access.`
    : consent + t`Atrium sends no email. Share this link with them yourself.`
}

const Invited = ({ member, onClose }: { member: MemberCreated; onClose: () => void }) => (
  <Dialog
    open
    onClose={onClose}
    title={member.status === 'invited' ? t`${member.name} invited` : t`${member.name} added`}
    description={describe(member)}
    footer={
      <Button variant="primary" onClick={onClose}>
        <Trans>Done</Trans>
      </Button>
    }
  >
    {member.signInLink !== null && (
      <SecretField
        label={t`Sign-in link`}
        value={member.signInLink}
        note={t`Copy the link now. It is not shown again, works once and expires after 24 hours.`}
      />
    )}
  </Dialog>
)

const Invite = ({ onClose }: { onClose: () => void }) => {
  const withStepUp = useStepUp()
  const [email, setEmail] = useState('')
  const [name, setName] = useState('')
  const [role, setRole] = useState<Role>('member')
  const [added, setAdded] = useState<MemberCreated>()
  const form = useSubmit(async () => {
    const body: MemberCreate = { email, role, ...(name.trim() !== '' && { name: name.trim() }) }
    // Without step-up the response contains no sign-in link.
    setAdded(await withStepUp((stepUpToken) => api.call('POST /members', { body, stepUpToken })))
    await refresh('GET /members')
  })
  if (added) return <Invited member={added} onClose={onClose} />
  return (
    <FormDialog
      onClose={onClose}
      title={t`Add member`}
      form={form}
      action={t`Add member`}
      disabledReason={email === '' && t`Enter an email address.`}
    >
      <TextField
        label={t`Email`}
        field="email"
        type="email"
        autoComplete="off"
        value={email}
        onChange={({ target }) => setEmail(target.value)}
      />
      <TextField
        label={t`Name`}
        field="name"
        optional
        autoComplete="off"
        maxLength={120}
        value={name}
        onChange={({ target }) => setName(target.value)}
      />
      <SelectField
        label={t`Role`}
        field="role"
        hint={textOf(roles[role])}
        value={role}
        onChange={({ target }) => setRole(target.value as Role)}
      >
        <RoleOptions />
      </SelectField>
    </FormDialog>
  )
}

const Remove = ({ member, onClose }: { member: Member; onClose: () => void }) => {
  const invited = member.status === 'invited'
  const form = useSubmit(async () => {
    await api.call('DELETE /members/:id', { params: { id: member.id } })
    await refresh('GET /members')
    toast.done(invited ? t`Invitation cancelled` : t`${member.name} removed`)
    onClose()
  })
  return (
    <ConfirmDialog
      onClose={onClose}
      title={invited ? t`Cancel the invitation of ${member.name}?` : t`Remove ${member.name}?`}
      description={
        invited
          ? t`The sign-in link stops working immediately.`
          : t`Their API keys and sessions stop working immediately. Their files and other content are kept.`
      }
      form={form}
      action={invited ? t`Cancel invitation` : t`Remove member`}
    />
  )
}

const RoleField = ({ member, mayWrite }: { member: Member; mayWrite: boolean }) => {
  const withStepUp = useStepUp()
  const { busy, submit } = useSubmitRole(member, withStepUp)
  if (!mayWrite) return formatWord(member.role)
  return (
    <SelectField
      label={t`Role of ${member.name}`}
      hideLabel
      value={member.role}
      disabled={busy}
      onChange={({ target }) => submit(target.value as Role)}
    >
      <RoleOptions />
    </SelectField>
  )
}

const useSubmitRole = ({ id, name }: Member, withStepUp: ReturnType<typeof useStepUp>) => {
  const [busy, setBusy] = useState(false)
  const submit = (role: Role): void => {
    setBusy(true)
    void withStepUp((stepUpToken) => api.call('PATCH /members/:id', { params: { id }, body: { role }, stepUpToken }))
      .then(
        () => toast.done(t`Role of ${name} changed to ${formatWordInText(role)}`),
        (error: unknown) => toast.failed(t`Role could not be changed`, error),
      )
      .then(() => refresh('GET /members', 'GET /me'))
      .finally(() => setBusy(false))
  }
  return { busy, submit }
}

interface Handlers {
  mayWrite: boolean
  onRemove: (member: Member) => void
  onRenew: (member: Member) => void
}

const Actions = ({ member, mayWrite, onRemove, onRenew }: Handlers & { member: ListedMember }) => {
  const isInvited = member.status === 'invited'
  return (
    <span className={styles['actions']}>
      {/* Who has been active can sign in. */}
      {mayWrite && (isInvited || member.lastActiveAt === null) && (
        <IconButton
          small
          label={t`New sign-in link for ${member.name}`}
          icon={<LinkIcon />}
          onClick={() => onRenew(member)}
        />
      )}
      <IconButton
        small
        label={isInvited ? t`Cancel the invitation of ${member.name}` : t`Remove ${member.name}`}
        icon={<Trash2 />}
        disabledReason={!mayWrite && t`Only owners and admins can remove members.`}
        onClick={() => onRemove(member)}
      />
    </span>
  )
}

/** Pending invitations. Invited people have no access to the org before they accept. */
const Invitations = (handlers: Handlers) => {
  const invited = usePages('GET /members', { query: { status: 'invited' } })
  const rows = invited.query.data ?? []
  if (rows.length === 0) return null
  return (
    <section className={styles['below']} aria-labelledby="pending-invitations">
      <h2 id="pending-invitations">
        <Trans>Pending invitations</Trans>
      </h2>
      <p className={styles['muted']}>
        <Trans>These people have no access until they accept.</Trans>
      </p>
      <Table
        stacked="actions"
        label={t`Pending invitations`}
        rows={rows}
        keyOf={({ id }) => id}
        columns={[
          { title: t`Person`, cell: ({ name, email }) => <Person name={name} email={email} /> },
          { title: t`Role`, tight: true, cell: ({ role }) => formatWord(role) },
          { title: t`Workspaces`, cell: (member) => <MemberWorkspaces {...member} /> },
          {
            title: t`Invited`,
            tight: true,
            cell: ({ createdAt }) => (
              <span className={styles['muted']}>
                <Trans>
                  Invited <RelativeTime at={createdAt} />
                </Trans>
              </span>
            ),
          },
          {
            title: t`Expires`,
            tight: true,
            cell: ({ expiresAt }) =>
              expiresAt === null ? null : <span className={styles['muted']}>{formatDateTime(expiresAt)}</span>,
          },
          {
            title: t`Actions`,
            hideTitle: true,
            tight: true,
            cell: (member) => <Actions member={member} {...handlers} />,
          },
        ]}
      />
      <LoadMore {...invited} />
    </section>
  )
}

const LastActive = ({ at }: { at: string | null }) => (
  <span className={styles['muted']}>
    {at === null ? (
      <Trans>Not active yet</Trans>
    ) : (
      <Trans>
        Active <RelativeTime at={at} />
      </Trans>
    )}
  </span>
)

export const Members = () => {
  useTitle(t`Members`)
  const { me, can } = useIdentity()
  const mayWrite = can('members:write')
  const members = usePages('GET /members')
  const [inviting, setInviting] = useState(false)
  const [removing, setRemoving] = useState<Member>()
  const [renewing, setRenewing] = useState<Member>()
  const handlers = { mayWrite, onRemove: setRemoving, onRenew: setRenewing }
  return (
    <>
      <ListHeader
        actions={
          <Button
            variant="primary"
            icon={<UserPlus />}
            onClick={() => setInviting(true)}
            disabledReason={!mayWrite && t`Only owners and admins can add members.`}
          >
            <Trans>Add member</Trans>
          </Button>
        }
      >
        <Trans>
          Members of {me.org.name}. Owners and admins can access every workspace, others only those they were added to.
        </Trans>
      </ListHeader>
      <QueryBoundary query={members.query}>
        {(rows) => (
          <Table
            stacked="actions"
            label={t`Members`}
            rows={rows}
            keyOf={({ id }) => id}
            columns={[
              { title: t`Member`, cell: ({ name, email }) => <Person name={name} email={email} /> },
              { title: t`Role`, tight: true, cell: (member) => <RoleField member={member} mayWrite={mayWrite} /> },
              { title: t`Workspaces`, cell: (member) => <MemberWorkspaces {...member} /> },
              // Only they receive it from the API.
              ...(mayWrite
                ? [
                    {
                      title: t`Last active`,
                      tight: true,
                      cell: ({ lastActiveAt }: ListedMember) => <LastActive at={lastActiveAt} />,
                    },
                  ]
                : []),
              {
                title: t`Joined`,
                optional: true,
                tight: true,
                cell: ({ createdAt }) => <RelativeTime at={createdAt} />,
              },
              {
                title: t`Actions`,
                hideTitle: true,
                tight: true,
                cell: (member) => <Actions member={member} {...handlers} />,
              },
            ]}
          />
        )}
      </QueryBoundary>
      <LoadMore {...members} />
      <Invitations {...handlers} />
      {inviting && <Invite onClose={() => setInviting(false)} />}
      {renewing && <RenewSignInLink member={renewing} onClose={() => setRenewing(undefined)} />}
      {removing && <Remove member={removing} onClose={() => setRemoving(undefined)} />}
    </>
  )
}
