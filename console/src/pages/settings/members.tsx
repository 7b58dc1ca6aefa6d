import type { Member, MemberCreate, MemberCreated } from '@atrium/client'
import { Trash2, UserPlus } from 'lucide-react'
import { useState } from 'react'
import { api, refresh, usePages } from '../../api.ts'
import { formatWord } from '../../words.ts'
import { useIdentity } from '../../session.tsx'
import { useStepUp } from '../../step-up.tsx'
import { useTitle } from '../../title.ts'
import { Avatar } from '../../ui/data/avatar.tsx'
import { Section } from '../../ui/page.tsx'
import { RelativeTime } from '../../ui/data/relative-time.tsx'
import { Button, IconButton } from '../../ui/forms/button.tsx'
import { SecretField } from '../../ui/forms/secret-field.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { SelectField, TextField } from '../../ui/forms/field.tsx'
import { ConfirmDialog, FormDialog } from '../../ui/forms/form-dialog.tsx'
import { LoadMore } from '../../ui/data/load-more.tsx'
import { QueryBoundary } from '../../ui/query-boundary.tsx'
import { Table } from '../../ui/data/table.tsx'
import { toast } from '../../ui/toast.tsx'
import { useSubmit } from '../../ui/forms/use-submit.ts'
import styles from './settings.module.css'

type Role = Member['role']

const roles: Record<Role, string> = {
  owner: 'Full access, including managing owners',
  admin: 'Full access, except managing owners',
  billing_manager: 'Member access and billing management',
  member: 'Access to files, agents, webhooks and connections',
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
  const consent = status === 'invited' ? 'They become a member when they accept the invitation. ' : ''
  return signInLink === null
    ? `${consent}There is no sign-in link to share, because they can already sign in or you did not confirm access.`
    : `${consent}Atrium sends no email. Share this link with them yourself.`
}

const Invited = ({ member, onClose }: { member: MemberCreated; onClose: () => void }) => (
  <Dialog
    open
    onClose={onClose}
    title={member.status === 'invited' ? `${member.name} invited` : `${member.name} added`}
    description={describe(member)}
    footer={
      <Button variant="primary" onClick={onClose}>
        Done
      </Button>
    }
  >
    {member.signInLink !== null && (
      <SecretField
        label="Sign-in link"
        value={member.signInLink}
        note="Copy the link now. It is not shown again, works once and expires after 24 hours."
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
      title="Add member"
      form={form}
      action="Add member"
      disabledReason={email === '' && 'Enter an email address.'}
    >
      <TextField
        label="Email"
        field="email"
        type="email"
        autoComplete="off"
        value={email}
        onChange={({ target }) => setEmail(target.value)}
      />
      <TextField
        label="Name"
        field="name"
        optional
        autoComplete="off"
        maxLength={120}
        value={name}
        onChange={({ target }) => setName(target.value)}
      />
      <SelectField
        label="Role"
        field="role"
        hint={roles[role]}
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
    toast.done(invited ? 'Invitation cancelled' : `${member.name} removed`)
    onClose()
  })
  return (
    <ConfirmDialog
      onClose={onClose}
      title={invited ? `Cancel the invitation of ${member.name}?` : `Remove ${member.name}?`}
      description={
        invited
          ? 'The sign-in link stops working immediately.'
          : 'Their API keys and sessions stop working immediately. Their files and other content are kept.'
      }
      form={form}
      action={invited ? 'Cancel invitation' : 'Remove member'}
    />
  )
}

const RoleField = ({ member, mayWrite }: { member: Member; mayWrite: boolean }) => {
  const withStepUp = useStepUp()
  const { busy, submit } = useSubmitRole(member, withStepUp)
  if (!mayWrite) return formatWord(member.role)
  return (
    <SelectField
      label={`Role of ${member.name}`}
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
        () => toast.done(`Role of ${name} changed to ${formatWord(role).toLowerCase()}`),
        (error: unknown) => toast.failed('Role could not be changed', error),
      )
      .then(() => refresh('GET /members', 'GET /me'))
      .finally(() => setBusy(false))
  }
  return { busy, submit }
}

/** Pending invitations. Invited people have no access to the org before they accept. */
const Invitations = ({ mayWrite, onRemove }: { mayWrite: boolean; onRemove: (member: Member) => void }) => {
  const invited = usePages('GET /members', { query: { status: 'invited' } })
  const rows = invited.query.data ?? []
  if (rows.length === 0) return null
  return (
    <Section title="Invitations" description="Pending invitations.">
      <Table
        stacked
        label="Invitations"
        rows={rows}
        keyOf={({ id }) => id}
        columns={[
          { title: 'Member', cell: ({ name, email }) => <Person name={name} email={email} /> },
          { title: 'Role', tight: true, cell: ({ role }) => formatWord(role) },
          { title: 'Sent', optional: true, tight: true, cell: ({ createdAt }) => <RelativeTime at={createdAt} /> },
          {
            title: 'Actions',
            hideTitle: true,
            tight: true,
            cell: (member) => (
              <IconButton
                small
                label={`Cancel the invitation of ${member.name}`}
                icon={<Trash2 />}
                disabledReason={!mayWrite && 'Only owners and admins can remove members.'}
                onClick={() => onRemove(member)}
              />
            ),
          },
        ]}
      />
      <LoadMore {...invited} />
    </Section>
  )
}

export const Members = () => {
  useTitle('Members')
  const { me, can } = useIdentity()
  const mayWrite = can('members:write')
  const members = usePages('GET /members')
  const [inviting, setInviting] = useState(false)
  const [removing, setRemoving] = useState<Member>()
  return (
    <>
      <div className={styles['intro']}>
        <p>
          Members of {me.org.name}. Owners and admins can access every workspace, others only those they were added to.
        </p>
        <Button
          variant="primary"
          icon={<UserPlus />}
          onClick={() => setInviting(true)}
          disabledReason={!mayWrite && 'Only owners and admins can add members.'}
        >
          Add member
        </Button>
      </div>
      <QueryBoundary query={members.query}>
        {(rows) => (
          <Table
            stacked
            label="Members"
            rows={rows}
            keyOf={({ id }) => id}
            columns={[
              { title: 'Member', cell: ({ name, email }) => <Person name={name} email={email} /> },
              { title: 'Role', tight: true, cell: (member) => <RoleField member={member} mayWrite={mayWrite} /> },
              {
                title: 'Joined',
                optional: true,
                tight: true,
                cell: ({ createdAt }) => <RelativeTime at={createdAt} />,
              },
              {
                title: 'Actions',
                hideTitle: true,
                tight: true,
                cell: (member) => (
                  <IconButton
                    small
                    label={`Remove ${member.name}`}
                    icon={<Trash2 />}
                    disabledReason={!mayWrite && 'Only owners and admins can remove members.'}
                    onClick={() => setRemoving(member)}
                  />
                ),
              },
            ]}
          />
        )}
      </QueryBoundary>
      <LoadMore {...members} />
      <Invitations mayWrite={mayWrite} onRemove={setRemoving} />
      {inviting && <Invite onClose={() => setInviting(false)} />}
      {removing && <Remove member={removing} onClose={() => setRemoving(undefined)} />}
    </>
  )
}
