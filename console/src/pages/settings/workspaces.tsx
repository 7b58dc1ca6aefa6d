import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import type { Workspace } from '@atrium/client'
import { PenLine, Plus, Trash2, Users } from 'lucide-react'
import { useState } from 'react'
import { api, refresh, usePages } from '../../api.ts'
import { scope, setScope } from '../../scope.ts'
import { useIdentity } from '../../session.tsx'
import { useStepUp } from '../../step-up.tsx'
import { useTitle } from '../../title.ts'
import { Badge } from '../../ui/data/badge.tsx'
import { RelativeTime } from '../../ui/data/relative-time.tsx'
import { Button, IconButton } from '../../ui/forms/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { SelectField } from '../../ui/forms/field.tsx'
import { ConfirmDialog } from '../../ui/forms/form-dialog.tsx'
import { Form } from '../../ui/forms/form.tsx'
import { LoadMore } from '../../ui/data/load-more.tsx'
import { QueryBoundary } from '../../ui/query-boundary.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { ListHeader } from '../../ui/page.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Table } from '../../ui/data/table.tsx'
import { toast } from '../../ui/toast.tsx'
import { useSubmit } from '../../ui/forms/use-submit.ts'
import { Person } from './members.tsx'
import { NameDialog } from './name-dialog.tsx'
import styles from './settings.module.css'

const Delete = ({ workspace, onClose }: { workspace: Workspace; onClose: () => void }) => {
  const withStepUp = useStepUp()
  const { id, name } = workspace
  const form = useSubmit(async () => {
    await withStepUp((stepUpToken) => api.call('DELETE /workspaces/:id', { params: { id }, stepUpToken }))
    if (scope().workspaceId === id) setScope({ orgId: scope().orgId, workspaceId: undefined })
    await refresh('GET /workspaces', 'GET /me')
    toast.done(t`${name} deleted`)
    onClose()
  })
  return (
    <ConfirmDialog
      onClose={onClose}
      title={t`Delete ${name}?`}
      description={t`Its agents and their conversations are deleted. Files belong to the organization and are kept. This cannot be undone.`}
      form={form}
      action={t`Delete workspace`}
    />
  )
}

const AddWorkspaceMember = ({ workspaceId, memberIds }: { workspaceId: string; memberIds: ReadonlySet<string> }) => {
  const members = usePages('GET /members', { query: { limit: 100 } })
  const [userId, setUserId] = useState('')
  const { busy, error, submit } = useSubmit(async () => {
    if (userId === '') return
    await api.call('POST /workspaces/:id/members', { params: { id: workspaceId }, body: { userId } })
    setUserId('')
    await refresh('GET /workspaces/:id/members')
  })
  const others = (members.query.data ?? []).filter((member) => !memberIds.has(member.userId))
  return (
    <Form className={styles['filters']} onSubmit={submit}>
      <Notice error={error} />
      <SelectField
        label={t`Add a member of the organization`}
        value={userId}
        onChange={({ target }) => setUserId(target.value)}
      >
        <option value="">
          <Trans>Select a member</Trans>
        </option>
        {others.map((member) => (
          <option key={member.userId} value={member.userId}>
            {member.name}
          </option>
        ))}
      </SelectField>
      <Button type="submit" busy={busy} disabledReason={userId === '' && t`Select a member.`}>
        <Trans>Add</Trans>
      </Button>
      <LoadMore {...members} />
    </Form>
  )
}

const People = ({ workspace, mayWrite, onClose }: { workspace: Workspace; mayWrite: boolean; onClose: () => void }) => {
  const { id } = workspace
  const people = usePages('GET /workspaces/:id/members', { params: { id } })
  const remove = (userId: string): void => {
    api.call('DELETE /workspaces/:id/members/:userId', { params: { id, userId } }).then(
      () => refresh('GET /workspaces/:id/members'),
      (error: unknown) => toast.failed(t`Member could not be removed`, error),
    )
  }
  return (
    <Dialog
      open
      wide
      onClose={onClose}
      title={t`Members of ${workspace.name}`}
      description={t`Owners and admins can access every workspace without being added.`}
    >
      {mayWrite && (
        <AddWorkspaceMember
          workspaceId={id}
          memberIds={new Set((people.query.data ?? []).map(({ userId }) => userId))}
        />
      )}
      <QueryBoundary query={people.query} compact>
        {(rows) =>
          rows.length === 0 ? (
            <EmptyState compact title={t`No members added yet`} />
          ) : (
            <Table
              label={t`Members of ${workspace.name}`}
              rows={rows}
              keyOf={({ userId }) => userId}
              columns={[
                { title: t`Member`, cell: ({ name, email }) => <Person name={name} email={email} /> },
                {
                  title: t`Actions`,
                  hideTitle: true,
                  tight: true,
                  cell: ({ userId, name }) => (
                    <IconButton
                      small
                      label={t`Remove ${name}`}
                      icon={<Trash2 />}
                      disabledReason={!mayWrite && t`Only owners and admins can change members.`}
                      onClick={() => remove(userId)}
                    />
                  ),
                },
              ]}
            />
          )
        }
      </QueryBoundary>
      <LoadMore {...people} />
    </Dialog>
  )
}

export const Workspaces = () => {
  useTitle(t`Workspaces`)
  const { me, can } = useIdentity()
  const mayWrite = can('workspaces:write')
  const workspaces = usePages('GET /workspaces')
  const [asking, setAsking] = useState<
    { about: 'new' } | { about: 'rename' | 'delete' | 'people'; workspace: Workspace }
  >()
  const close = (): void => setAsking(undefined)
  const reason = !mayWrite && t`Only owners and admins can change workspaces.`
  const changed = (): Promise<unknown> => refresh('GET /workspaces', 'GET /me')
  return (
    <>
      <ListHeader
        actions={
          <Button variant="primary" icon={<Plus />} onClick={() => setAsking({ about: 'new' })} disabledReason={reason}>
            <Trans>Create workspace</Trans>
          </Button>
        }
      >
        <Trans>Agents and their conversations belong to a workspace. Files are shared by the whole organization.</Trans>
      </ListHeader>
      <QueryBoundary query={workspaces.query}>
        {(rows) => (
          <Table
            label={t`Workspaces`}
            rows={rows}
            keyOf={({ id }) => id}
            columns={[
              {
                title: t`Name`,
                cell: ({ id, name, isDefault }) => (
                  <span className={styles['wrap']}>
                    {name}{' '}
                    {isDefault && (
                      <Badge>
                        <Trans>Default</Trans>
                      </Badge>
                    )}{' '}
                    {id === me.workspace?.id && (
                      <Badge tone="info">
                        <Trans>Current</Trans>
                      </Badge>
                    )}
                  </span>
                ),
              },
              { title: t`Slug`, optional: true, cell: ({ slug }) => <code>{slug}</code> },
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
                cell: (workspace) => (
                  <span className={styles['actions']}>
                    <IconButton
                      small
                      label={t`Members of ${workspace.name}`}
                      icon={<Users />}
                      onClick={() => setAsking({ about: 'people', workspace })}
                    />
                    <IconButton
                      small
                      label={t`Rename ${workspace.name}`}
                      icon={<PenLine />}
                      disabledReason={reason}
                      onClick={() => setAsking({ about: 'rename', workspace })}
                    />
                    <IconButton
                      small
                      label={t`Delete ${workspace.name}`}
                      icon={<Trash2 />}
                      disabledReason={reason || (workspace.isDefault && t`The default workspace cannot be deleted.`)}
                      onClick={() => setAsking({ about: 'delete', workspace })}
                    />
                  </span>
                ),
              },
            ]}
          />
        )}
      </QueryBoundary>
      <LoadMore {...workspaces} />
      {asking?.about === 'new' && (
        <NameDialog
          title={t`Create workspace`}
          action={t`Create workspace`}
          onClose={close}
          work={async (name) => {
            await api.call('POST /workspaces', { body: { name } })
            await changed()
          }}
        />
      )}
      {asking?.about === 'rename' && (
        <NameDialog
          title={t`Rename workspace`}
          action={t`Rename`}
          initial={asking.workspace.name}
          onClose={close}
          work={async (name) => {
            await api.call('PATCH /workspaces/:id', { params: { id: asking.workspace.id }, body: { name } })
            await changed()
          }}
        />
      )}
      {asking?.about === 'delete' && <Delete workspace={asking.workspace} onClose={close} />}
      {asking?.about === 'people' && <People workspace={asking.workspace} mayWrite={mayWrite} onClose={close} />}
    </>
  )
}
