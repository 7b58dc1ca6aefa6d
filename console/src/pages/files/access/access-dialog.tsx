import { textOf } from '../../../i18n/text.ts'
import type { Text } from '../../../i18n/text.ts'
import { msg, t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import type { Data, File as FileRecord } from '@atrium/client'
import { Lock, X } from 'lucide-react'
import { useState } from 'react'
import { api, read, readAll, refresh, usePages } from '../../../api.ts'
import { useIdentity } from '../../../session.tsx'
import { useConstant } from '../../../stable-values.ts'
import { LoadMore } from '../../../ui/data/load-more.tsx'
import { IconButton } from '../../../ui/forms/button.tsx'
import { FieldGroup, RadioField, SelectField } from '../../../ui/forms/field.tsx'
import { FormDialog } from '../../../ui/forms/form-dialog.tsx'
import { useSubmit } from '../../../ui/forms/use-submit.ts'
import { QueryBoundary } from '../../../ui/query-boundary.tsx'
import { toast } from '../../../ui/toast.tsx'
import styles from './access-dialog.module.css'

type Access = Data<'GET /files/:id/access'>
type Grant = Access['grants'][number]

/** By role: all members of the org who have it. */
const roles: Record<string, Text> = {
  member: msg`All members`,
  admin: msg`All admins`,
  billing_manager: msg`All billing managers`,
}

const kinds: Record<Grant['kind'], Text> = { user: msg`Person`, workspace: msg`Workspace`, role: msg`Role` }

const nameOf = ({ kind, subject, name }: Grant): string => {
  const role = roles[subject]
  if (kind === 'role' && role) return textOf(role)
  return name ?? t`A workspace that you cannot see`
}

const keyOf = ({ kind, subject }: Pick<Grant, 'kind' | 'subject'>): string => `${kind} ${subject}`

const accessName = (access: Grant['access']): string => (access === 'write' ? t`Can edit` : t`Can view`)

const GrantRow = ({
  grant,
  onChange,
}: {
  grant: Grant
  /** With undefined, the grant is removed. Missing: it cannot be changed. */
  onChange?: (grant: Grant | undefined) => void
}) => {
  const name = nameOf(grant)
  return (
    <li className={styles['row']}>
      <span className={styles['subject']}>
        {name}
        <span className={styles['kind']}>{textOf(kinds[grant.kind])}</span>
      </span>
      {onChange ? (
        <>
          <SelectField
            label={t`Access of ${name}`}
            hideLabel
            value={grant.access}
            onChange={({ target }) => onChange({ ...grant, access: target.value as Grant['access'] })}
          >
            <option value="read">{accessName('read')}</option>
            <option value="write">{accessName('write')}</option>
          </SelectField>
          <IconButton small label={t`Remove ${name}`} icon={<X />} onClick={() => onChange(undefined)} />
        </>
      ) : (
        <span className={styles['fixed']}>{accessName(grant.access)}</span>
      )}
    </li>
  )
}

/** Owners are not listed by the API, because they always have access. */
const OwnersRow = () => (
  <li className={styles['row']}>
    <span className={styles['subject']}>
      <Trans>All owners</Trans>
      <span className={styles['kind']}>{textOf(kinds.role)}</span>
    </span>
    <span className={styles['fixed']}>{accessName('write')}</span>
  </li>
)

/** Adds a role, a workspace or a person that is not listed yet. */
const AddGrant = ({ grants, onAdd }: { grants: readonly Grant[]; onAdd: (grant: Grant) => void }) => {
  const members = usePages('GET /members', { query: { limit: 100 } })
  const workspaces = useQuery(readAll('GET /workspaces'))
  const taken = new Set(grants.map(keyOf))
  const optionsOf = (kind: Grant['kind'], all: { subject: string; name: string }[]): Grant[] =>
    all.map((one) => ({ kind, ...one, access: 'read' as const })).filter((one) => !taken.has(keyOf(one)))
  const groups: [label: string, options: Grant[]][] = [
    [
      t`Roles`,
      optionsOf(
        'role',
        Object.entries(roles).map(([subject, name]) => ({ subject, name: textOf(name) })),
      ),
    ],
    [
      t`Workspaces`,
      optionsOf(
        'workspace',
        (workspaces.data ?? []).map(({ id, name }) => ({ subject: id, name })),
      ),
    ],
    [
      t`People`,
      optionsOf(
        'user',
        (members.query.data ?? [])
          .filter(({ role }) => role !== 'owner')
          .map(({ userId, name }) => ({ subject: userId, name })),
      ),
    ],
  ]
  const add = (key: string): void => {
    const grant = groups.flatMap(([, options]) => options).find((one) => keyOf(one) === key)
    if (grant) onAdd(grant)
  }
  return (
    <>
      <SelectField label={t`Add access`} field="grants" value="" onChange={({ target }) => add(target.value)}>
        <option value="">{t`Select people, a workspace or a role`}</option>
        {groups.map(
          ([label, options]) =>
            options.length > 0 && (
              <optgroup key={label} label={label}>
                {options.map((grant) => (
                  <option key={keyOf(grant)} value={keyOf(grant)}>
                    {nameOf(grant)}
                  </option>
                ))}
              </optgroup>
            ),
        )}
      </SelectField>
      <LoadMore more={members.more} isLoadingMore={members.isLoadingMore} />
    </>
  )
}

const Inherited = ({ folders }: { folders: Access['inherited'] }) => (
  <section className={styles['inherited']} aria-label={t`Inherited restrictions`}>
    <h3>
      <Trans>Inherited restrictions</Trans>
    </h3>
    <p className={styles['note']}>
      <Trans>It is in restricted folders. Only people who can see all of them see this folder.</Trans>
    </p>
    {folders.map(({ folderId, name, grants }) => (
      <div key={folderId}>
        <p className={styles['folder']}>
          <Lock aria-hidden="true" />
          {name}
        </p>
        <ul className={styles['list']}>
          <OwnersRow />
          {grants.map((grant) => (
            <GrantRow key={keyOf(grant)} grant={grant} />
          ))}
        </ul>
      </div>
    ))}
  </section>
)

/** The access as it is now with the changes of this person, so that saving them does not revert those of others. */
const merge = (before: Access, wanted: Pick<Access, 'restricted' | 'grants'>, now: Access) => {
  const restricted = wanted.restricted === before.restricted ? now.restricted : wanted.restricted
  const [known, mine, theirs] = [before.grants, wanted.grants, now.grants].map(
    (grants) => new Map(grants.map((grant) => [keyOf(grant), grant])),
  ) as [Map<string, Grant>, Map<string, Grant>, Map<string, Grant>]
  const kept = now.grants.filter((grant) => mine.has(keyOf(grant)) || !known.has(keyOf(grant)))
  const changed = kept.map((grant) => {
    const own = mine.get(keyOf(grant))
    return own && own.access !== known.get(keyOf(grant))?.access ? own : grant
  })
  const added = wanted.grants.filter((grant) => !known.has(keyOf(grant)) && !theirs.has(keyOf(grant)))
  const grants = [...changed, ...added].map(({ kind, subject, access }) => ({ kind, subject, access }))
  return { restricted, grants: restricted ? grants : [] }
}

const AccessForm = ({ file, access, onClose }: { file: FileRecord; access: Access; onClose: () => void }) => {
  const { me } = useIdentity()
  const loaded = useConstant(access)
  const [restricted, setRestricted] = useState(access.restricted)
  const [grants, setGrants] = useState<readonly Grant[]>(access.grants)
  const form = useSubmit(async () => {
    const params = { id: file.id }
    const now = await api.call('GET /files/:id/access', { params })
    const body = merge(loaded, { restricted, grants: [...grants] }, now)
    await api.call('PUT /files/:id/access', { params, body })
    await refresh('GET /files', 'GET /files/:id', 'GET /files/:id/access')
    toast.done(restricted ? t`Access to “${file.name}” restricted` : t`Access to “${file.name}” changed`)
    onClose()
  })
  const choose = (isRestricted: boolean): void => {
    setRestricted(isRestricted)
    // Whoever restricts a folder keeps access to it.
    if (isRestricted && grants.length === 0 && me.role !== 'owner')
      setGrants([{ kind: 'user', subject: me.user.id, name: me.user.name, access: 'write' }])
  }
  const change = (index: number, grant: Grant | undefined): void =>
    setGrants(grants.flatMap((one, at) => (at === index ? (grant ?? []) : [one])))
  const { canManage } = access
  return (
    <FormDialog
      onClose={onClose}
      title={t`Access to “${file.name}”`}
      description={t`It applies to everything in the folder.`}
      form={form}
      action={t`Save`}
      cancel={canManage ? t`Cancel` : t`Close`}
      disabledReason={!canManage && t`Owners, admins and the creator of the folder can change its access.`}
    >
      <FieldGroup label={t`Who can see this folder`}>
        <RadioField
          name="restricted"
          label={access.inherited.length === 0 ? t`All members` : t`Everyone who can see the folder above`}
          checked={!restricted}
          disabled={!canManage}
          onChange={() => choose(false)}
        />
        <RadioField
          name="restricted"
          label={t`Selected people, workspaces and roles`}
          hint={t`Links by which it was shared before stop working.`}
          checked={restricted}
          disabled={!canManage}
          onChange={() => choose(true)}
        />
      </FieldGroup>
      {restricted && (
        <>
          <ul className={styles['list']} aria-label={t`People with access`}>
            <OwnersRow />
            {grants.map((grant, index) => (
              <GrantRow
                key={keyOf(grant)}
                grant={grant}
                {...(canManage && { onChange: (changed: Grant | undefined) => change(index, changed) })}
              />
            ))}
          </ul>
          {canManage && <AddGrant grants={grants} onAdd={(grant) => setGrants([...grants, grant])} />}
        </>
      )}
      {access.inherited.length > 0 && <Inherited folders={access.inherited} />}
    </FormDialog>
  )
}

/** Who may see a folder: everyone, or the people, workspaces and roles that it is open to. */
export const AccessDialog = ({ file, onClose }: { file: FileRecord; onClose: () => void }) => {
  const query = useQuery({ ...read('GET /files/:id/access', { params: { id: file.id } }), staleTime: 0, gcTime: 0 })
  return (
    <QueryBoundary query={query} compact>
      {(access) => <AccessForm file={file} access={access} onClose={onClose} />}
    </QueryBoundary>
  )
}
