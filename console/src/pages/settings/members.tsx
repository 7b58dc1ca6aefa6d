import type { Member, MemberCreate, MemberCreated } from 'atrium-sdk'
import { Trash2, UserPlus } from 'lucide-react'
import { useState } from 'react'
import { api, refresh, usePages } from '../../api.ts'
import { formatWord } from '../../format.ts'
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
  owner: 'Everything, and makes owners',
  admin: 'Everything but making owners',
  billing_manager: 'As a member, and manages billing',
  member: 'Works with files, agents, webhooks and connections',
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
  const consent = status === 'invited' ? 'They become a member when they accept. ' : ''
  return signInLink === null
    ? `${consent}They can sign in already, or you did not confirm who you are: there is no link to pass on.`
    : `${consent}Atrium sends no mail: pass this link on yourself.`
}

const Invited = ({ member, onClose }: { member: MemberCreated; onClose: () => void }) => (
  <Dialog
    open
    onClose={onClose}
    title={member.status === 'invited' ? `${member.name} is invited` : `${member.name} is a member`}
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
        note="It is shown only now, works once, and for 24 hours."
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
    // Without the proof the answer would carry no link.
    setAdded(await withStepUp((stepUpToken) => api.call('POST /members', { body, stepUpToken })))
    await refresh('GET /members')
  })
  if (added) return <Invited member={added} onClose={onClose} />
  return (
    <FormDialog
      onClose={onClose}
      title="Add a member"
      form={form}
      action="Add"
      disabledReason={email === '' && 'Type an e-mail address first.'}
    >
      <TextField
        label="E-mail"
        type="email"
        autoComplete="off"
        value={email}
        onChange={({ target }) => setEmail(target.value)}
      />
      <TextField
        label="Name"
        optional
        autoComplete="off"
        maxLength={120}
        value={name}
        onChange={({ target }) => setName(target.value)}
      />
      <SelectField
        label="Role"
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
    toast.done(invited ? 'Invitation withdrawn' : `${member.name} is no longer a member`)
    onClose()
  })
  return (
    <ConfirmDialog
      onClose={onClose}
      title={invited ? `Withdraw the invitation of ${member.name}?` : `Remove ${member.name}?`}
      description={
        invited
          ? 'Its sign-in link stops working at once.'
          : 'Their API keys and sessions stop working here at once. What they made stays.'
      }
      form={form}
      action={invited ? 'Withdraw' : 'Remove'}
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
        () => toast.done(`${name} is now ${formatWord(role).toLowerCase()}`),
        (error: unknown) => toast.failed('The role is as it was', error),
      )
      .then(() => refresh('GET /members', 'GET /me'))
      .finally(() => setBusy(false))
  }
  return { busy, submit }
}

/** People who have not accepted yet: they can do nothing in the org. */
const Invitations = ({ mayWrite, onRemove }: { mayWrite: boolean; onRemove: (member: Member) => void }) => {
  const invited = usePages('GET /members', { query: { status: 'invited' } })
  const rows = invited.query.data ?? []
  if (rows.length === 0) return null
  return (
    <Section title="Invitations" description="These people have not accepted yet.">
      <Table
        label="Invitations"
        rows={rows}
        keyOf={({ id }) => id}
        columns={[
          { title: 'Person', cell: ({ name, email }) => <Person name={name} email={email} /> },
          { title: 'Role', tight: true, cell: ({ role }) => formatWord(role) },
          { title: 'Sent', optional: true, tight: true, cell: ({ createdAt }) => <RelativeTime at={createdAt} /> },
          {
            title: 'Actions',
            hideTitle: true,
            tight: true,
            cell: (member) => (
              <IconButton
                small
                label={`Withdraw the invitation of ${member.name}`}
                icon={<Trash2 />}
                disabledReason={!mayWrite && 'Owners and admins remove members.'}
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
          Everybody who works in {me.org.name}. Owners and admins see every workspace, others those that they were added
          to.
        </p>
        <Button
          variant="primary"
          icon={<UserPlus />}
          onClick={() => setInviting(true)}
          disabledReason={!mayWrite && 'Owners and admins add members.'}
        >
          Add a member
        </Button>
      </div>
      <QueryBoundary query={members.query}>
        {(rows) => (
          <Table
            label="Members"
            rows={rows}
            keyOf={({ id }) => id}
            columns={[
              { title: 'Person', cell: ({ name, email }) => <Person name={name} email={email} /> },
              { title: 'Role', tight: true, cell: (member) => <RoleField member={member} mayWrite={mayWrite} /> },
              { title: 'Since', optional: true, tight: true, cell: ({ createdAt }) => <RelativeTime at={createdAt} /> },
              {
                title: 'Actions',
                hideTitle: true,
                tight: true,
                cell: (member) => (
                  <IconButton
                    small
                    label={`Remove ${member.name}`}
                    icon={<Trash2 />}
                    disabledReason={!mayWrite && 'Owners and admins remove members.'}
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
