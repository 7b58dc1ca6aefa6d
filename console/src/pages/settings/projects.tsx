import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import type { Project } from '@atrium/client'
import { PenLine, Plus, SquareKanban, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { Link } from 'react-router'
import { api, refresh, usePages } from '../../api.ts'
import { changesOf, isEmpty } from '../../draft.ts'
import { useIdentity } from '../../session.tsx'
import { useTitle } from '../../title.ts'
import { RelativeTime } from '../../ui/data/relative-time.tsx'
import { Button, IconButton } from '../../ui/forms/button.tsx'
import { TextArea, TextField } from '../../ui/forms/field.tsx'
import { ConfirmDialog, FormDialog } from '../../ui/forms/form-dialog.tsx'
import { LoadMore } from '../../ui/data/load-more.tsx'
import { QueryBoundary } from '../../ui/query-boundary.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { ListHeader } from '../../ui/page.tsx'
import { Table } from '../../ui/data/table.tsx'
import { toast } from '../../ui/toast.tsx'
import { useSubmit } from '../../ui/forms/use-submit.ts'
import styles from './settings.module.css'

const orNull = (text: string): string | null => (text.trim() === '' ? null : text)

const Edit = ({ project, onClose }: { project: Project | undefined; onClose: () => void }) => {
  const [name, setName] = useState(project?.name ?? '')
  const [description, setDescription] = useState(project?.description ?? '')
  const [instructions, setInstructions] = useState(project?.instructions ?? '')
  const form = useSubmit(async () => {
    const body = { name: name.trim(), description: orNull(description), instructions: orNull(instructions) }
    if (project) {
      const changes = changesOf<typeof body>(body, project)
      if (!isEmpty(changes)) await api.call('PATCH /projects/:id', { params: { id: project.id }, body: changes })
    } else await api.call('POST /projects', { body })
    await refresh('GET /projects', 'GET /files')
    onClose()
  })
  return (
    <FormDialog
      wide
      onClose={onClose}
      title={project ? t`Edit ${project.name}` : t`Create project`}
      {...(!project && { description: t`Each project gets its own folder.` })}
      form={form}
      action={project ? t`Save changes` : t`Create project`}
      disabledReason={name.trim() === '' && t`Enter a name.`}
    >
      <TextField
        label={t`Name`}
        field="name"
        maxLength={255}
        autoComplete="off"
        value={name}
        onChange={({ target }) => setName(target.value)}
      />
      <TextArea
        label={t`Description`}
        field="description"
        optional
        maxLength={5_000}
        value={description}
        onChange={({ target }) => setDescription(target.value)}
      />
      <TextArea
        label={t`Instructions for agents`}
        field="instructions"
        optional
        maxLength={20_000}
        value={instructions}
        onChange={({ target }) => setInstructions(target.value)}
      />
    </FormDialog>
  )
}

const Delete = ({ project, onClose }: { project: Project; onClose: () => void }) => {
  const form = useSubmit(async () => {
    await api.call('DELETE /projects/:id', { params: { id: project.id } })
    await refresh('GET /projects', 'GET /files')
    toast.done(t`${project.name} deleted`)
    onClose()
  })
  return (
    <ConfirmDialog
      onClose={onClose}
      title={t`Delete ${project.name}?`}
      description={t`The project folder and everything in it are deleted. They can be restored from the trash, as an ordinary folder, for as long as the server keeps them.`}
      form={form}
      action={t`Delete project`}
    />
  )
}

export const Projects = () => {
  useTitle(t`Projects`)
  const { can } = useIdentity()
  const reason = !can('projects:write') && t`You do not have permission to change projects.`
  const projects = usePages('GET /projects')
  const [asking, setAsking] = useState<{ about: 'edit'; project?: Project } | { about: 'delete'; project: Project }>()
  const close = (): void => setAsking(undefined)
  const create = (
    <Button variant="primary" icon={<Plus />} onClick={() => setAsking({ about: 'edit' })} disabledReason={reason}>
      <Trans>Create project</Trans>
    </Button>
  )
  return (
    <>
      <QueryBoundary query={projects.query}>
        {(rows) =>
          rows.length === 0 ? (
            <EmptyState icon={<SquareKanban />} title={t`No projects yet`} action={create}>
              <Trans>A project has its own folder and instructions for agents.</Trans>
            </EmptyState>
          ) : (
            <>
              <ListHeader actions={create}>
                <Trans>A project has its own folder and instructions for agents.</Trans>
              </ListHeader>
              <Table
                label={t`Projects`}
                rows={rows}
                keyOf={({ id }) => id}
                columns={[
                  {
                    title: t`Name`,
                    cell: ({ name, folderId }) => (
                      <Link to={`/files/${folderId}`} className="link">
                        {name}
                      </Link>
                    ),
                  },
                  {
                    title: t`Description`,
                    optional: true,
                    cell: ({ description }) => <span className={styles['muted']}>{description}</span>,
                  },
                  {
                    title: t`Updated`,
                    optional: true,
                    tight: true,
                    cell: ({ updatedAt }) => <RelativeTime at={updatedAt} />,
                  },
                  {
                    title: t`Actions`,
                    hideTitle: true,
                    tight: true,
                    cell: (project) => (
                      <span className={styles['actions']}>
                        <IconButton
                          small
                          label={t`Edit ${project.name}`}
                          icon={<PenLine />}
                          disabledReason={reason}
                          onClick={() => setAsking({ about: 'edit', project })}
                        />
                        <IconButton
                          small
                          label={t`Delete ${project.name}`}
                          icon={<Trash2 />}
                          disabledReason={reason}
                          onClick={() => setAsking({ about: 'delete', project })}
                        />
                      </span>
                    ),
                  },
                ]}
              />
            </>
          )
        }
      </QueryBoundary>
      <LoadMore {...projects} />
      {asking?.about === 'edit' && <Edit project={asking.project} onClose={close} />}
      {asking?.about === 'delete' && <Delete project={asking.project} onClose={close} />}
    </>
  )
}
