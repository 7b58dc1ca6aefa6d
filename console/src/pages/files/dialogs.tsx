import { plural, t } from '@lingui/core/macro'
import type { File as FileRecord } from '@atrium/client'
import { X } from 'lucide-react'
import { useRef, useState } from 'react'
import { isComposing } from '../../ui/forms/composing.ts'
import { TextField } from '../../ui/forms/field.tsx'
import { ConfirmDialog, FormDialog } from '../../ui/forms/form-dialog.tsx'
import { toast } from '../../ui/toast.tsx'
import { useSubmit } from '../../ui/forms/use-submit.ts'
import { AccessDialog } from './access/access-dialog.tsx'
import { countOf, createFolder, deleteFiles, linkFile, moveFiles, renameFile, tagFile } from './changes.ts'
import styles from './dialogs.module.css'
import { FolderTree } from './folders/folder-tree.tsx'
import { useFolderPath } from './rows.ts'
import { ShareDialog } from './share-dialog.tsx'

export type FileDialogRequest =
  | { kind: 'folder' }
  | { kind: 'rename' | 'tags' | 'link' | 'share' | 'access'; file: FileRecord }
  | { kind: 'move' | 'delete'; files: readonly FileRecord[] }

interface Props {
  onClose: () => void
}

const nameProblem = (name: string): string | false => {
  if (name.trim() === '') return t`Enter a name.`
  return [...name].length > 255 && t`The name must be at most 255 characters.`
}

const NameDialog = ({
  title,
  action,
  initial,
  work,
  onClose,
}: Props & { title: string; action: string; initial: string; work: (name: string) => Promise<unknown> }) => {
  const [name, setName] = useState(initial)
  const field = useRef<HTMLInputElement>(null)
  const problem = nameProblem(name)
  const form = useSubmit(async () => {
    await work(name.trim())
    onClose()
  })
  return (
    <FormDialog
      onClose={onClose}
      title={title}
      initialFocus={field}
      form={form}
      action={action}
      disabledReason={problem}
    >
      <TextField
        ref={field}
        label={t`Name`}
        field="name"
        value={name}
        onChange={({ target }) => setName(target.value)}
        // Selects the name without its extension, which usually stays.
        onFocus={({ target }) =>
          target.setSelectionRange(0, name.lastIndexOf('.') > 0 ? name.lastIndexOf('.') : name.length)
        }
      />
    </FormDialog>
  )
}

const PickFolder = ({
  title,
  action,
  start,
  excluded,
  work,
  onClose,
}: Props & {
  title: string
  action: string
  start: string | null
  excluded: ReadonlySet<string>
  work: (folderId: string | null) => Promise<unknown>
}) => {
  const [chosen, setChosen] = useState(start)
  const path = useFolderPath(start ?? undefined)
  const form = useSubmit(async () => {
    await work(chosen)
    onClose()
  })
  return (
    <FormDialog onClose={onClose} title={title} form={form} action={action}>
      <div className={styles['tree']}>
        <FolderTree
          label={t`Folders`}
          current={chosen}
          path={(path.data ?? []).map(({ id }) => id)}
          onOpen={setChosen}
          excluded={excluded}
        />
      </div>
    </FormDialog>
  )
}

const maxTags = 50

/** Removable tags and a field to add more. */
export const TagEditor = ({ tags, onChange }: { tags: readonly string[]; onChange: (tags: string[]) => void }) => {
  const [text, setText] = useState('')
  const add = (): void => {
    const added = text
      .split(',')
      .map((tag) => tag.trim())
      .filter((tag) => tag !== '')
    if (added.length > 0) onChange([...new Set([...tags, ...added])].slice(0, maxTags))
    setText('')
  }
  return (
    <div className={styles['tags']}>
      {tags.map((tag) => (
        <span key={tag} className={styles['tag']}>
          {tag}
          <button
            type="button"
            aria-label={t`Remove tag ${tag}`}
            onClick={() => onChange(tags.filter((one) => one !== tag))}
          >
            <X aria-hidden="true" />
          </button>
        </span>
      ))}
      <input
        className={styles['tagInput']}
        aria-label={t`Add a tag`}
        placeholder={tags.length === 0 ? t`Add a tag` : t`Add`}
        maxLength={64}
        value={text}
        onChange={({ target }) => setText(target.value)}
        onBlur={add}
        onKeyDown={(event) => {
          if (isComposing(event)) return
          if (event.key === 'Enter' || event.key === ',') {
            event.preventDefault()
            add()
          } else if (event.key === 'Backspace' && text === '' && tags.length > 0) onChange(tags.slice(0, -1))
        }}
      />
    </div>
  )
}

const TagsDialog = ({ file, onClose }: Props & { file: FileRecord }) => {
  const [tags, setTags] = useState<readonly string[]>(file.tags)
  const form = useSubmit(async () => {
    await tagFile(file, [...tags])
    onClose()
  })
  return (
    <FormDialog
      onClose={onClose}
      title={t`Edit tags of “${file.name}”`}
      description={t`Press Enter or comma to add a tag.`}
      form={form}
      action={t`Save tags`}
    >
      <TagEditor tags={tags} onChange={setTags} />
    </FormDialog>
  )
}

const DeleteDialog = ({
  files,
  onClose,
  onDeleted,
}: Props & { files: readonly FileRecord[]; onDeleted: () => void }) => {
  const form = useSubmit(async () => {
    await deleteFiles(files)
    onDeleted()
    onClose()
  })
  const folders = files.filter(({ source }) => source === 'folder').length
  // The API does not tell whether the server has a trash, and for how long it keeps files there.
  const outlook = files.every(({ status }) => status === 'pending')
    ? t`This cannot be undone.`
    : t`Deleted files can be restored from the trash for as long as the server keeps them.`
  return (
    <ConfirmDialog
      onClose={onClose}
      title={t`Delete ${countOf(files)}?`}
      description={
        folders === 0
          ? outlook
          : plural(folders, {
              one: `Everything in the folder is deleted as well. ${outlook}`,
              other: `Everything in the folders is deleted as well. ${outlook}`,
            })
      }
      form={form}
      action={t`Delete`}
    />
  )
}

/** The dialog that is currently open on the files page. */
export const FileDialogs = ({
  request,
  folderId,
  onClose,
  onDeleted,
}: Props & { request: FileDialogRequest | undefined; folderId: string | null; onDeleted: () => void }) => {
  if (request === undefined) return null
  switch (request.kind) {
    case 'folder':
      return (
        <NameDialog
          title={t`Create folder`}
          action={t`Create`}
          initial=""
          work={(name) => createFolder(name, folderId)}
          onClose={onClose}
        />
      )
    case 'rename':
      return (
        <NameDialog
          title={t`Rename`}
          action={t`Rename`}
          initial={request.file.name}
          work={(name) => renameFile(request.file, name)}
          onClose={onClose}
        />
      )
    case 'access':
      return <AccessDialog file={request.file} onClose={onClose} />
    case 'share':
      return <ShareDialog file={request.file} onClose={onClose} />
    case 'tags':
      return <TagsDialog file={request.file} onClose={onClose} />
    case 'delete':
      return <DeleteDialog files={request.files} onClose={onClose} onDeleted={onDeleted} />
    case 'move':
      return (
        <PickFolder
          title={t`Move ${countOf(request.files)}`}
          action={t`Move here`}
          start={folderId}
          excluded={new Set(request.files.map(({ id }) => id))}
          work={(to) => moveFiles(request.files, to)}
          onClose={onClose}
        />
      )
    case 'link':
      return (
        <PickFolder
          title={t`Create link to ${countOf([request.file])}`}
          action={t`Create link`}
          start={folderId}
          excluded={new Set()}
          work={async (to) => {
            await linkFile(request.file, request.file.name, to)
            toast.done(t`Link created`)
          }}
          onClose={onClose}
        />
      )
    default:
      return null
  }
}
