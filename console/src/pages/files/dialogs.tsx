import type { File as FileRecord } from 'atrium-sdk'
import { X } from 'lucide-react'
import { useRef, useState } from 'react'
import { TextField } from '../../ui/forms/field.tsx'
import { ConfirmDialog, FormDialog } from '../../ui/forms/form-dialog.tsx'
import { toast } from '../../ui/toast.tsx'
import { useSubmit } from '../../ui/forms/use-submit.ts'
import { countOf, createFolder, deleteFiles, linkFile, moveFiles, renameFile, tagFile } from './changes.ts'
import styles from './dialogs.module.css'
import { FolderTree } from './folder-tree.tsx'
import { useFolderPath } from './rows.ts'

export type Asking =
  | { about: 'folder' }
  | { about: 'rename' | 'tags' | 'link'; file: FileRecord }
  | { about: 'move' | 'delete'; files: readonly FileRecord[] }

interface Props {
  onClose: () => void
}

const nameProblem = (name: string): string | false => {
  if (name.trim() === '') return 'Type a name first.'
  return [...name].length > 255 && 'A name has up to 255 characters.'
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
        label="Name"
        value={name}
        onChange={({ target }) => setName(target.value)}
        // The ending usually stays.
        onFocus={({ target }) =>
          target.setSelectionRange(0, name.lastIndexOf('.') > 0 ? name.lastIndexOf('.') : name.length)
        }
      />
    </FormDialog>
  )
}

/** The folders that are shown, and the one that is chosen. */
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
          label="Folders"
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

/** Tags as words that can be taken away, and a field for more. */
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
            aria-label={`Remove the tag ${tag}`}
            onClick={() => onChange(tags.filter((one) => one !== tag))}
          >
            <X aria-hidden="true" />
          </button>
        </span>
      ))}
      <input
        className={styles['tagInput']}
        aria-label="Add a tag"
        placeholder={tags.length === 0 ? 'Add a tag' : 'Add'}
        maxLength={64}
        value={text}
        onChange={({ target }) => setText(target.value)}
        onBlur={add}
        onKeyDown={(event) => {
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
      title={`Tags of “${file.name}”`}
      description="Enter or a comma ends a tag."
      form={form}
      action="Save tags"
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
  return (
    <ConfirmDialog
      onClose={onClose}
      title={`Delete ${countOf(files)}?`}
      description={
        folders === 0
          ? 'This cannot be undone here.'
          : `${folders === files.length && files.length === 1 ? 'The folder goes' : 'Folders go'} with all that is in ${folders === 1 ? 'it' : 'them'}. This cannot be undone here.`
      }
      form={form}
      action="Delete"
    />
  )
}

/** The one question about files that is open now. */
export const FileDialogs = ({
  asking,
  folderId,
  onClose,
  onDeleted,
}: Props & { asking: Asking | undefined; folderId: string | null; onDeleted: () => void }) => {
  if (asking === undefined) return null
  switch (asking.about) {
    case 'folder':
      return (
        <NameDialog
          title="New folder"
          action="Create"
          initial=""
          work={(name) => createFolder(name, folderId)}
          onClose={onClose}
        />
      )
    case 'rename':
      return (
        <NameDialog
          title="Rename"
          action="Rename"
          initial={asking.file.name}
          work={(name) => renameFile(asking.file, name)}
          onClose={onClose}
        />
      )
    case 'tags':
      return <TagsDialog file={asking.file} onClose={onClose} />
    case 'delete':
      return <DeleteDialog files={asking.files} onClose={onClose} onDeleted={onDeleted} />
    case 'move':
      return (
        <PickFolder
          title={`Move ${countOf(asking.files)}`}
          action="Move here"
          start={folderId}
          excluded={new Set(asking.files.map(({ id }) => id))}
          work={(to) => moveFiles(asking.files, to)}
          onClose={onClose}
        />
      )
    case 'link':
      return (
        <PickFolder
          title={`Link to ${countOf([asking.file])} in`}
          action="Create the link"
          start={folderId}
          excluded={new Set()}
          work={async (to) => {
            await linkFile(asking.file, asking.file.name, to)
            toast.done('The link is there')
          }}
          onClose={onClose}
        />
      )
    default:
      return null
  }
}
